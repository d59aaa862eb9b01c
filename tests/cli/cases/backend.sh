# SPDX-License-Identifier: BSD-3-Clause
# Where there is no GPU, or none that may be seen: auto falls back and says so, cuda does not. The reason depends on the build.
export CUDA_VISIBLE_DEVICES= FLOE_EMULATED_DEVICES=0
why() { sed -E -e 's/^floe: working on the CPU: .*/floe: working on the CPU: WHY/' -e 's/^floe: .*(GPU|CUDA).*/floe: WHY/'; }
options="--shape 16x16 --dtype f32 --bound rel=1e-3"
field t.f32 16x16
show_sh "floe compress t.f32 -o cpu.floe $options -q --backend cpu"
show_sh "floe compress t.f32 -o auto.floe $options --backend auto 2>&1 | why | grep WHY"
same cpu.floe auto.floe
show_sh "floe compress t.f32 -o quiet.floe $options -q --backend auto"
same cpu.floe quiet.floe
show_sh "floe decompress cpu.floe -o a.f32 --backend auto 2>&1 | why | grep WHY"
show_sh "floe decompress cpu.floe -o - --backend auto --json 2>&1 >a.f32 | head -2"
show_sh "floe compress t.f32 -o cuda.floe $options --backend cuda 2>err; echo code \$?; why <err"
show_sh "floe decompress cpu.floe -o b.f32 --backend cuda 2>err; echo code \$?; why <err"
show_sh "floe check t.f32 cpu.floe --metrics n --backend cuda 2>err; echo code \$?; why <err"
show_sh "floe check t.f32 cpu.floe --metrics n --backend auto --csv 2>&1 | why | grep -c WHY"
show_sh "floe stat t.f32 --shape 16x16 --dtype f32 --metrics n --backend cuda 2>err; echo code \$?; why <err"
zfp="--shape 16x16 --dtype f32 --raw-zfp --bound abs=1e-2"
show_sh "floe compress t.f32 -o cpu.zfp $zfp -q --index cpu.zfpx"
show_sh "floe compress t.f32 -o auto.zfp $zfp --backend auto 2>&1 | why | grep WHY"
same cpu.zfp auto.zfp
show_sh "floe compress t.f32 -o cuda.zfp $zfp --backend cuda 2>err; echo code \$?; why <err"
show_sh "floe decompress cpu.zfp -o b.f32 --raw-zfp --backend cuda 2>err; echo code \$?; why <err"
show_sh "floe index cpu.zfp -o b.zfpx --backend cuda 2>err; echo code \$?; why <err"
# metrics where there is a GPU, if there is one, and where there is one with too little memory; else on the CPU
unset CUDA_VISIBLE_DEVICES FLOE_EMULATED_DEVICES
metrics=n,psnr,max_error,gradient_rmse,autocorr,ssim,laplacian_ssim
"$FLOE" check t.f32 cpu.floe --metrics $metrics | grep -v decompress_ >on_cpu
"$FLOE" check t.f32 cpu.floe --metrics $metrics --backend auto -q --json | grep -c backend
"$FLOE" check t.f32 cpu.floe --metrics $metrics --backend auto 2>err | grep -v decompress_ >anywhere
same on_cpu anywhere
# so, too, bare streams of zfp
"$FLOE" decompress cpu.zfp -o cpu.f32 --raw-zfp -q
"$FLOE" compress t.f32 -o any.zfp $zfp -q --index any.zfpx --backend auto
same cpu.zfp any.zfp
same cpu.zfpx any.zfpx
"$FLOE" index cpu.zfp -o any.zfpx -q -f --backend auto
same cpu.zfpx any.zfpx
for how in "" "--index cpu.zfpx"; do
    "$FLOE" decompress cpu.zfp -o any.f32 --raw-zfp $how -q -f --backend auto
    same cpu.f32 any.f32
done
# .floe files likewise, by either codec: the same bytes and values
field i.i32 9x10x11 turbulence i32
field z.f32 9x10x11 turbulence f32
for codec in lorenzo zfp; do
    for one in "z.f32 rel=1e-3" "z.f32 lossless" "i.i32 lossless" "i.i32 abs=3"; do
        set -- $one
        "$FLOE" compress $1 -o on_cpu --shape 9x10x11 --dtype ${1#*.} --bound $2 --codec $codec -q -f --backend cpu
        "$FLOE" compress $1 -o anywhere --shape 9x10x11 --dtype ${1#*.} --bound $2 --codec $codec -q -f --backend auto 2>err
        cmp on_cpu anywhere || echo "compress $codec $one"
        "$FLOE" decompress on_cpu -o back_cpu -q -f --backend cpu
        "$FLOE" decompress on_cpu -o back -q -f --backend auto 2>err
        cmp back_cpu back || echo "decompress $codec $one"
    done
done
rm i.i32 z.f32 back_cpu back
export FLOE_EMULATED_MEMORY=100000 CUDA_VISIBLE_DEVICES=
field large.f32 300x300
"$FLOE" compress large.f32 -o cpu.zfp --shape 300x300 --dtype f32 --raw-zfp --bound abs=1e-2 -q -f
"$FLOE" compress large.f32 -o any.zfp --shape 300x300 --dtype f32 --raw-zfp --bound abs=1e-2 -f --backend auto 2>&1 | why | grep WHY
same cpu.zfp any.zfp
"$FLOE" decompress cpu.zfp -o cpu.f32 --raw-zfp -q -f
"$FLOE" decompress cpu.zfp -o any.f32 --raw-zfp -f --backend auto 2>&1 | why | grep WHY
same cpu.f32 any.f32
# .floe files, from and to files and pipes: nothing is written before the CPU takes over
large="--shape 300x300 --dtype f32 --bound abs=1e-3 --fill none"
floe() { "$FLOE" "$@"; }
floe compress large.f32 -o on_cpu $large -q -f
floe compress large.f32 -o anywhere $large --verify -f --backend auto 2>&1 | why | grep WHY
same on_cpu anywhere
floe compress - -o - $large -f --backend auto 2>err <large.f32 >anywhere
same on_cpu anywhere
cat large.f32 | floe compress - -o anywhere $large -q -f --backend auto
same on_cpu anywhere
FLOE_EMULATED_MEMORY=1000 floe compress large.f32 -o anywhere $large -f --backend auto 2>&1 | why | grep WHY
same on_cpu anywhere
floe decompress on_cpu -o cpu.f32 -q -f
floe decompress on_cpu -o any.f32 -f --backend auto 2>&1 | why | grep WHY
same cpu.f32 any.f32
cat on_cpu | floe decompress - -o - --backend auto 2>err >any.f32
why <err | grep WHY
same cpu.f32 any.f32
floe decompress on_cpu -o any.f32 -q -f --region 100:200,50 --backend auto && size any.f32
floe verify on_cpu --backend auto 2>&1 | why
floe verify on_cpu --against large.f32 --backend auto 2>&1 | why | filter
floe check large.f32 on_cpu --metrics outside --fail-if 'outside>0' --csv --backend auto 2>&1 | why | grep -E 'WHY|outside'
floe check large.f32 on_cpu --metrics n --json -q --backend auto | grep backend
for call in "compress large.f32 -o never $large" "decompress on_cpu -o never" "verify on_cpu" "check large.f32 on_cpu"; do
    floe $call --backend cuda 2>err
    echo code $?
done
"$FLOE" check t.f32 t.f32 --shape 16x16 --dtype f32 --metrics $metrics >on_cpu
"$FLOE" check t.f32 t.f32 --shape 16x16 --dtype f32 --metrics $metrics --backend auto 2>err >anywhere
same on_cpu anywhere
why <err
"$FLOE" check t.f32 cpu.floe --metrics $metrics | grep -v decompress_ >on_cpu
"$FLOE" check t.f32 cpu.floe --metrics $metrics --backend auto 2>err | grep -v decompress_ >anywhere
same on_cpu anywhere
why <err
show_sh "floe check t.f32 t.f32 --shape 16x16 --dtype f32 --metrics ssim --backend cuda 2>err; echo code \$?"
only t.f32 large.f32 cpu.zfp cpu.zfpx auto.zfp any.zfp any.zfpx cpu.f32 any.f32 on_cpu anywhere cpu.floe auto.floe quiet.floe a.f32 err
