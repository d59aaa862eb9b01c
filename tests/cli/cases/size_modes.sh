# SPDX-License-Identifier: BSD-3-Clause
# rate= and prec= say how much is stored: no error is promised, and everything says so
field t.f32 20x30x40 turbulence f32
c="compress t.f32 -o t.floe -f --shape 20x30x40 --dtype f32"
show $c --codec zfp --bound rate=8 --verify
show info t.floe
show verify t.floe --against t.f32
show verify t.floe
show check t.f32 t.floe --metrics max_error,outside,ratio
show decompress t.floe -o d.f32
show decompress t.floe -o r.f32 --region 3:5,7:20,11:39
show $c --codec zfp --prec 16
show info t.floe --json
show verify t.floe --against t.f32 --json
# bare streams take the short forms too
show compress t.f32 -o a.zfp -q --shape 20x30x40 --dtype f32 --raw-zfp --rate 8
show compress t.f32 -o b.zfp -q --shape 20x30x40 --dtype f32 --raw-zfp --bound rate=8
same a.zfp b.zfp
# half of the rate takes half of the bytes
for rate in 4 8 16; do
    "$FLOE" $c -q --codec zfp --rate $rate && echo "rate $rate: $(size t.floe)"
done
# what is not finite, and fill, come back bit for bit: verify checks that
for dtype in f32 f64 i32 i64; do
    field h.$dtype 31x33 hostile $dtype
    for how in rate=5 rate=0.01 prec=3 prec=64; do
        "$FLOE" compress h.$dtype -o h.floe --shape 31x33 --dtype $dtype --bound $how --codec zfp -q -f --verify ||
            echo "compress $dtype $how: $?"
        "$FLOE" decompress h.floe -o b -q -f || echo "decompress $dtype $how: $?"
    done
done
# only codec zfp has them, and not all numbers make sense
show $c --bound rate=8
show $c --bound prec=8 --codec lorenzo
show $c --codec zfp --bound rate=300
show $c --codec zfp --bound rate=-1
show $c --codec zfp --bound prec=65
show $c --codec zfp --bound prec=7.5
show $c --codec zfp --bound rate=8 --abs 1
# threads and vector instructions change nothing
show $c -q --codec zfp --bound prec=12
for how in "--threads 1" "--threads 5" "--isa plain"; do
    show compress t.f32 -o x.floe -f -q --shape 20x30x40 --dtype f32 --bound prec=12 --codec zfp $how
    same t.floe x.floe
done
