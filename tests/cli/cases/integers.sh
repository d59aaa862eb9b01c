# SPDX-License-Identifier: BSD-3-Clause
for dtype in i32 i64; do
    for shape in $(few 1 1000 31x33 9x17x33 3x5x7x9); do
        for kind in hostile terrain; do
            field a.$dtype $shape $kind $dtype
            for how in "rel=1e-3" "abs=7.5" "abs=0.5" "psnr=50" "lossless"; do
                for preset in fast balanced; do
                    "$FLOE" compress a.$dtype -o a.floe --shape $shape --dtype $dtype --bound $how --preset $preset \
                        -q -f --verify || echo "compress $dtype $shape $how $preset: $?"
                    "$FLOE" decompress a.floe -o b -q -f || echo "decompress $dtype $shape $how $preset: $?"
                    case "$how" in lossless | abs=0.5) cmp a.$dtype b ;; esac
                    [ "$(size b)" = "$(size a.$dtype)" ] || echo "size $dtype $shape $how $preset"
                done
            done
        done
    done
done
rm b
show_sh "floe fields terrain --shape 20x30x40 --dtype int64 -o t.npy"
show compress t.npy -o t.floe --bound abs=1000 --verify
show info t.floe
show info t.floe --json
show decompress t.floe -o d.npy
show verify t.floe --against t.npy
show verify t.floe --against d.npy
show decompress t.floe -o d.i64
show_sh "tail -c +129 d.npy | cmp - d.i64"
show compress t.npy -o x.floe --bound pwrel=1e-3
show compress t.npy -o x.floe --bound abs=1 --fill 2.000000000001
show compress d.i64 -o x.floe --bound abs=1 --shape 20x30x40 --dtype i32
# threads and vector instructions change nothing
for how in "--threads 1" "--threads 5" "--isa plain"; do
    show compress t.npy -o x.floe -f -q --bound abs=1000 $how
    same t.floe x.floe
done
