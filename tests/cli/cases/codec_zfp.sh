# SPDX-License-Identifier: BSD-3-Clause
for dtype in f32 f64 i32 i64; do
    for shape in $(few 1 1000 31x33 9x17x33 3x5x7x9); do
        for kind in $(few turbulence fill hostile); do
            field a.$dtype $shape $kind $dtype
            case "$dtype" in i*) bounds="rel=1e-3 abs=20 abs=1 psnr=50 lossless" ;; *) bounds="rel=1e-3 abs=1e-2 abs=1e-30 psnr=50 lossless" ;; esac
            for how in $bounds; do
                "$FLOE" compress a.$dtype -o a.floe --shape $shape --dtype $dtype --bound $how --codec zfp -q -f --verify ||
                    echo "compress $dtype $shape $how: $?"
                "$FLOE" decompress a.floe -o b -q -f || echo "decompress $dtype $shape $how: $?"
                [ "$how" != lossless ] || cmp a.$dtype b
                [ "$(size b)" = "$(size a.$dtype)" ] || echo "size $dtype $shape $how"
            done
        done
    done
done
field t.f32 20x30x40 turbulence f32
show compress t.f32 -o t.floe --shape 20x30x40 --dtype f32 --bound rel=1e-3 --codec zfp --chunk 16x16x16 --verify
show info t.floe
show verify t.floe --against t.f32
show decompress t.floe -o d.f32
show decompress t.floe -o r.f32 --region 3:5,7:20,11:39
show compress t.f32 -o x.floe --shape 20x30x40 --dtype f32 --bound pwrel=1e-3 --codec zfp
field t.i32 20x30x40 turbulence i32
show compress t.i32 -o i.floe --shape 20x30x40 --dtype i32 --bound abs=20 --codec zfp --verify
show verify i.floe --against t.i32
# threads and vector instructions change nothing
for how in "--threads 1" "--threads 5" "--isa plain"; do
    show compress t.f32 -o x.floe -f -q --shape 20x30x40 --dtype f32 --bound rel=1e-3 --codec zfp --chunk 16x16x16 $how
    same t.floe x.floe
done
