# SPDX-License-Identifier: BSD-3-Clause
# there and back, with and without header and index; all ways give the same values
for dtype in f32 f64 i32 i64; do
    for shape in $(few 1000 31x33 9x17x33 3x5x7x9); do
        field a.$dtype $shape turbulence $dtype
        for how in rate=7.5 prec=14 lossless abs=1e-3 rel=1e-4 expert=5:900:20:-30; do
            case "$dtype/$how" in i*/abs* | i*/rel*) continue ;; esac
            array="--shape $shape --dtype $dtype"
            "$FLOE" compress a.$dtype -o a.zfp $array --raw-zfp --bound $how --index a.zfpx -q -f || echo "a $dtype $shape $how"
            "$FLOE" compress a.$dtype -o b.zfp $array --raw-zfp --bound $how --no-header -q -f || echo "b $dtype $shape $how"
            "$FLOE" decompress a.zfp -o a --raw-zfp -q -f || echo "decompress $dtype $shape $how"
            "$FLOE" decompress a.zfp -o b --raw-zfp --index a.zfpx -q -f || echo "with index $dtype $shape $how"
            cmp a b
            case "$how" in
            rel=*) ;;
            *)
                "$FLOE" decompress b.zfp -o b --raw-zfp $array --bound $how -q -f || echo "differs $dtype $shape $how"
                cmp a b
                "$FLOE" index b.zfp -o b.zfpx $array --bound $how --form packed -q -f || echo "index $dtype $shape $how"
                "$FLOE" decompress b.zfp -o b --raw-zfp --index b.zfpx -q -f || echo "by index $dtype $shape $how"
                cmp a b
                ;;
            esac
            "$FLOE" index a.zfp -o c.zfpx -q -f || echo "index a $dtype $shape $how"
            cmp a.zfpx c.zfpx
            [ $how != lossless ] || cmp a.$dtype a
        done
    done
done
rm -f a a.f32 a.f64 a.i32 a.i64 a.zfp b b.zfp a.zfpx b.zfpx c.zfpx
show_sh "floe fields turbulence --shape 20x30x40 --dtype f32 -o t.npy"
show compress t.npy -o t.zfp --raw-zfp --bound abs=1e-2
show compress t.npy -o u.zfp --raw-zfp --abs 1e-2 --index u.zfpx --form hybrid
same t.zfp u.zfp
show compress t.npy -o r.zfp --raw-zfp --bound rate=8 --no-header
show index t.zfp -o t.zfpx
show index t.zfp -o q.zfpx --json -q
show_sh "floe index t.zfp -o - --json 2>&1 >p.zfpx | head -2"
same t.zfpx p.zfpx
rm p.zfpx
rm q.zfpx
cp t.zfpx in.zfpx # an index that is read is an input, too
show decompress t.zfp -o in.zfpx --raw-zfp --index in.zfpx -f
same in.zfpx t.zfpx
rm in.zfpx
same t.zfpx u.zfpx
for form in offsets lengths packed; do
    show index t.zfp -o $form.zfpx --form $form --blocks 3 --partition 16
done
show index t.zfp -o x.zfpx --json
show decompress t.zfp -o d.npy --raw-zfp
show decompress t.zfp -o e.npy --raw-zfp --index packed.zfpx --threads 3
same d.npy e.npy
show decompress r.zfp -o r.f32 --raw-zfp --shape 20x30x40 --dtype f32 --bound rate=8
show_sh "floe decompress - -o - --raw-zfp -q <t.zfp | cmp - <(tail -c +129 d.npy)"
# reversible blocks of zeros stay one bit, whatever minbits: one thread
show compress t.npy -o v.zfp --raw-zfp --bound expert=900:900:64:-1075
show decompress v.zfp -o e.npy -f --raw-zfp
# what cannot be
show decompress r.zfp -o x --raw-zfp
show decompress r.zfp -o x --raw-zfp --shape 20x30x40
for command in decompress index; do
    opt=$([ $command = index ] || echo --raw-zfp)
    show $command r.zfp -o x $opt --shape 999999x9999999 --dtype f32 --bound prec=8
done
show decompress r.zfp -o x --raw-zfp --index t.zfpx
show decompress t.zfp -o x --raw-zfp --index t.zfp
show decompress t.zfp -o x
show decompress t.zfp -o x --index t.zfpx
show decompress t.zfp -o x --shape 20x30x40
show decompress t.zfp -o x --raw-zfp --region 0:1,:,:
show decompress t.zfp -o x --raw-zfp --level 1
show decompress t.zfp -o x --raw-zfp --shape 20x30x40 --dtype f32 --bound abs=1e-2
show index t.zfp -o x --shape 20x30x40 --dtype f32 --bound abs=1e-2
# stream and index are two files, and what is there already is found before anything is written
show compress t.npy -o x --raw-zfp --bound abs=1e-2 --index t.zfpx
show compress t.npy -o x --raw-zfp --bound abs=1e-2 --index x
show compress t.npy -o - --raw-zfp --bound abs=1e-2 --index -
show compress t.npy -o y --raw-zfp --bound abs=1e-2 --index ./y -f
[ ! -e y ] || echo "y is there"
cp t.zfp y
show compress t.npy -o y --raw-zfp --bound abs=1e-2 --index ./y -f
show compress t.npy -o y --raw-zfp --bound abs=1e-2 --index t.npy -f
show decompress t.zfp -o t.npy --raw-zfp
show index t.zfp -o t.zfpx
show compress t.npy -o x --raw-zfp
show compress t.npy -o x --raw-zfp --psnr 50
show compress t.npy -o x --raw-zfp --bound prec=99
show compress t.npy -o x --raw-zfp --bound abs=0
show compress t.npy -o x --raw-zfp --bound rate=1e30
show compress t.npy -o x --raw-zfp --bound rate=8 --form packed
show compress t.npy -o x --raw-zfp --bound rate=8 --preset fast
show compress t.npy -o x --no-header --bound abs=1
show index t.zfp -o x --form none
show index t.zfp -o x --blocks 0
show index r.zfp -o x
show index t.zfp
head -c 900 t.zfp >cut.zfp
show decompress cut.zfp -o x --raw-zfp
show index cut.zfp -o x
cp t.zfp bad.zfp
flip bad.zfp 800
show decompress bad.zfp -o x --raw-zfp --index t.zfpx
cp t.zfpx bad.zfpx
flip bad.zfpx 300
show decompress t.zfp -o x --raw-zfp --index bad.zfpx
[ ! -e x ] || echo "an output was left"
