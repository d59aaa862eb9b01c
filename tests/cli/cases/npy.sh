# SPDX-License-Identifier: BSD-3-Clause
# npy VERSION HEADER DATA...: a .npy file on standard output
npy() {
    local header=$2 low high
    low=$(printf '%03o' $((${#header} % 256))) high=$(printf '%03o' $((${#header} / 256)))
    printf '\223NUMPY'
    case $1 in 1) printf "\\001\\000\\$low\\$high" ;; *) printf "\\00$1\\000\\$low\\$high\\000\\000" ;; esac
    printf '%s' "$header"
    shift 2
    cat "$@"
}
field raw.f32 3x4x5
field a.npy 3x4x5
s="--bound lossless -q -f"
show compress a.npy -o a.floe --bound lossless
show compress raw.f32 -o b.floe --shape 3x4x5 --dtype f32 --attr name=a $s
same a.floe b.floe
show decompress a.floe -o b.npy
same a.npy b.npy
show decompress a.floe -o B.NPY -q
same a.npy B.NPY
cp raw.f32 RAW.NPY
show compress RAW.NPY -o x --shape 3x4x5 --dtype f32 $s
show decompress a.floe -o c.npy --region 1:3,:,2
head -c 128 c.npy | tail -c 118 | sed 's/ *$//'
show verify a.floe --against a.npy
show verify a.floe --against raw.f32
show compress a.npy -o x --shape 3x4x5 --dtype f32 $s
show compress a.npy -o x --shape 5x4x3 $s
show compress a.npy -o x --dtype f64 $s
show compress raw.f32 -o x --shape 3x4x6 --dtype f32 $s
show_sh "cat a.npy | floe compress - -o - --bound lossless -q | floe decompress - -o - -q | cmp - raw.f32"
for version in 1 2 3; do
    npy $version "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4, 5), }" raw.f32 >v.npy
    show compress v.npy -o v.floe $s
    show_sh "floe decompress v.floe -o - -q | cmp - raw.f32"
done
npy 1 '{"shape":(60,),"fortran_order":True,"descr":"<f4"}' raw.f32 >v.npy # other quotes and order; one axis has no order
show compress v.npy -o v.floe $s --json
npy 1 "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 5), }" >v.npy # nothing in it
show compress v.npy -o v.floe -f --bound rel=1e-3
show decompress v.floe -o w.npy
show verify v.floe --against v.npy
bad() {
    npy "$@" >x.npy
    show compress x.npy -o x.floe $s
}
bad 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4, 6), }" raw.f32
bad 1 "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4, 5), }" raw.f32
bad 1 "{'descr': '>f4', 'fortran_order': False, 'shape': (3, 4, 5), }" raw.f32
bad 1 "{'descr': '>i8', 'fortran_order': False, 'shape': (3, 4, 5), }" raw.f32
bad 1 "{'descr': '<u4', 'fortran_order': False, 'shape': (3, 4, 5), }" raw.f32
bad 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (), }" raw.f32
bad 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1, 4, 1, 5), }" raw.f32
bad 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }" raw.f32
bad 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4, 5), }" raw.f32
bad 1 "{'descr': '<f4', 'fortran_order': False, }" raw.f32
bad 1 "{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (60,)}" raw.f32
bad 1 "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (60,)}" raw.f32
bad 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (60,)" raw.f32
bad 1 "" raw.f32
bad 4 "{'descr': '<f4', 'fortran_order': False, 'shape': (60,)}" raw.f32
for n in 5 8 11 60; do
    head -c $n a.npy >x.npy
    show compress x.npy -o x.floe $s
done
show decompress a.npy -o x.f32
show info a.npy
# a file may have a name that no attribute can have
field a.npy 8x8
for name in "$(printf '\377')" "$(printf 'a\nb')" "$(printf '\302\205')" 'größe'; do
    mv a.npy "$name.npy"
    "$FLOE" compress "$name.npy" -o name.floe --bound rel=1e-3 -q
    echo "exit $?, $("$FLOE" info name.floe | grep attribute)"
    mv "$name.npy" a.npy
    rm name.floe
done
rm a.npy B.NPY RAW.NPY
only raw.f32 a.npy a.floe b.floe b.npy c.npy x v.npy v.floe w.npy x.npy
