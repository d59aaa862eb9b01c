# SPDX-License-Identifier: BSD-3-Clause
field t.f32 8x8
field a.npy 8x8
ln -s t.f32 link.f32
ln t.f32 hard.f32
c="compress t.f32 --shape 8x8 --dtype f32 --bound rel=1e-3"
show $c -o t.floe
show $c -o t.floe
show $c -o t.floe --force
show $c -o t.f32 --force
show $c -o link.f32 --force
show $c -o hard.f32 -f
show_sh "floe compress - -o t.f32 -f --shape 8x8 --dtype f32 --bound rel=1e-3 <t.f32"
show $c -o no/such/folder/x
show $c -o .
show $c -o ""
ln t.floe hard.raw
show decompress t.floe -o hard.raw -f
show decompress t.floe -o t.floe -f
show decompress t.floe -o t2.FLOE
rm hard.raw
show decompress t.floe -o a.npy
show fields steps --shape 4 -o a.npy
show $c -o /dev/null
show $c -o /dev/full
show $c -o /dev/full --verify
show_sh "floe $c -o - >/dev/full"
show decompress t.floe -o /dev/full
show_sh "floe info t.floe >/dev/full"
show_sh "floe help >/dev/full"
field big.f32 64x64x64 noise
# a disk that is full, by a limit on the size of files
show_sh "ulimit -f 8; floe compress big.f32 -o big.floe --shape 64x64x64 --dtype f32 --bound rel=1e-3"
show_sh "ulimit -f 8; cat big.f32 | floe compress - -o big.floe --shape 64x64x64 --dtype f32 --bound rel=1e-3"
show_sh "ulimit -f 8; floe compress big.f32 -o - --shape 64x64x64 --dtype f32 --bound rel=1e-3 -q --verify | wc -c"
chmod 640 t.floe
show $c -o t.floe -f -q
ls -l t.floe | cut -c1-10
# a replaced link keeps pointing to the file
ln -s t.floe link.floe
show $c -o link.floe -f -q
[ -L link.floe ] && echo "still a link"
# a link that leads nowhere, and a name that no folder takes, are found before the work
ln -s nowhere lost.floe
show $c -o lost.floe
show $c -o lost.floe -f
show_sh "floe $c -o \$(printf 'x%.0s' \$(seq 300)) 2>&1 | tr -s x"
rm lost.floe
# standard streams that are closed do not become the output
show $c -o good.floe -q
for closed in '1>&- 2>&-' '0<&- 2>&-' '0<&- 1>&- 2>&-'; do
    show_sh "(floe $c -o bad.floe -f $closed)"
    same good.floe bad.floe
    show_sh "(floe decompress bad.floe -o bad.f32 -f $closed)"
    size bad.f32
done
show_sh "floe info good.floe >&-"
show_sh "floe decompress good.floe -o - -q >&-"
show_sh "floe $c -o - -q >&-"
show_sh "floe compress - -o x.floe --shape 8x8 --dtype f32 --bound abs=1 -q <&-"
rm good.floe bad.floe bad.f32
only t.f32 a.npy link.f32 hard.f32 t.floe big.f32 link.floe
