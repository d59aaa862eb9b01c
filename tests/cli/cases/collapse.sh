# SPDX-License-Identifier: BSD-3-Clause
# A bound that makes nearly all values one is said, and with --strict an error that leaves no output.
field t.f32 32x32x32
a="--shape 32x32x32 --dtype f32"
show compress t.f32 -o x.floe -f $a --bound rel=5
show compress t.f32 -o x.floe -f $a --bound abs=100 --json
show compress t.f32 -o x.floe -f $a --bound abs=100 -q
show compress t.f32 -o x.floe -f $a --bound psnr=1
show compress t.f32 -o x.floe -f $a --bound rel=1e-2 --strict -q
show_sh "cat t.f32 | floe compress - -o x.floe -f $a --bound abs=100 --fill none --codec lorenzo"
cp t.f32 outlier.f32 # one value of 1e30
poke outlier.f32 40000 312
poke outlier.f32 40001 362
poke outlier.f32 40002 111
poke outlier.f32 40003 161
show compress outlier.f32 -o x.floe -f $a --bound rel=1e-3
show compress outlier.f32 -o x.floe -f $a --bound rel=1e-3 --codec zfp --json
show compress outlier.f32 -o y.floe $a --bound rel=1e-3 --strict
cp x.floe old.floe
show compress outlier.f32 -o x.floe -f $a --bound rel=1e-3 --strict --quiet
same x.floe old.floe
show compress outlier.f32 -o x.floe -f $a --bound rel=1e-3 --fill 1e30 --strict -q
show compress outlier.f32 -o x.floe -f $a --bound pwrel=1e-3 --strict -q
show compress t.f32 -o x.zfp $a --bound abs=100000 --raw-zfp
show compress t.f32 -o y.zfp $a --bound abs=100000 --raw-zfp --strict
show compress t.f32 -o y.zfp $a --bound abs=0.01 --raw-zfp --strict -q
rm y.zfp

# values that are one already, or nearly all of them, lose nothing
head -c 131072 /dev/zero >zeros.f32
cp zeros.f32 sparse.f32 # one value of 12
poke sparse.f32 4002 100
poke sparse.f32 4003 101
field fill.f32 32x32x32 fill
for f in zeros sparse fill; do
    show compress $f.f32 -o x.floe -f $a --bound abs=1e-3 --strict -q
    show compress $f.f32 -o x.floe -f $a --bound rel=1e-3 --strict -q
done
show compress sparse.f32 -o x.floe -f $a --bound abs=100
# what a codec cannot code it stores as it is
for how in "interp --bound lossless" "interp --bound abs=1e-12 --json" "wavelet --bound abs=1e-12" "lorenzo --bound lossless"; do
    show_sh "floe compress t.f32 -o x.floe -f $a --codec $how 2>&1 | grep warning"
done
show compress t.f32 -o x.floe -f $a --codec interp --bound lossless -q
only t.f32 outlier.f32 zeros.f32 sparse.f32 fill.f32 x.floe old.floe x.zfp
