# SPDX-License-Identifier: BSD-3-Clause
for dtype in f32 f64; do
    for shape in $(few 1 1000 31x33 9x17x33 3x5x7x9); do
        field a.$dtype $shape hostile $dtype
        for how in "rel=1e-3" "abs=1e-2" "pwrel=1e-2" "psnr=50" "lossless"; do
            for preset in fast balanced; do
                "$FLOE" compress a.$dtype -o a.floe --shape $shape --dtype $dtype --bound $how --preset $preset -q -f ||
                    echo "compress $dtype $shape $how $preset: $?"
                "$FLOE" verify a.floe --against a.$dtype -q || echo "verify $dtype $shape $how $preset: $?"
                "$FLOE" decompress a.floe -o b -q -f || echo "decompress $dtype $shape $how $preset: $?"
                [ "$how" != lossless ] || cmp a.$dtype b
                [ "$(size b)" = "$(size a.$dtype)" ] || echo "size $dtype $shape $how $preset"
            done
        done
    done
done
field t.f32 20x30x40
show compress t.f32 -o t.floe --shape 20x30x40 --dtype f32 --bound rel=1e-3 --attr name=u --attr units=m/s --verify
show info t.floe
show verify t.floe
show verify t.floe --against t.f32
show decompress t.floe -o d.f32
for bound in --abs=0.1 --rel=0.1 --pwrel=0.1 --psnr=40 --lossless; do
    show compress t.f32 -o x.floe -f --shape 20x30x40 --dtype f32 $bound --verify
done
# threads and vector instructions change nothing
for how in "--threads 1" "--threads 2" "--threads 5" "--isa plain"; do
    show compress t.f32 -o x.floe -f -q --shape 20x30x40 --dtype f32 --bound rel=1e-3 --attr name=u --attr units=m/s $how
    same t.floe x.floe
done
