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
show_sh "floe compress t.f32 -o cuda.floe $options --backend cuda 2>err; echo code \$?; why <err"
show_sh "floe decompress cpu.floe -o b.f32 --backend cuda 2>err; echo code \$?; why <err"
show_sh "floe check t.f32 cpu.floe --metrics n --backend cuda 2>err; echo code \$?; why <err"
show_sh "floe check t.f32 cpu.floe --metrics n --backend auto --csv 2>&1 | why | grep -c WHY"
show_sh "floe stat t.f32 --shape 16x16 --dtype f32 --metrics n --backend cuda 2>err; echo code \$?; why <err"
# metrics where there is a GPU, if there is one, and where there is one with too little memory; else on the CPU
unset CUDA_VISIBLE_DEVICES FLOE_EMULATED_DEVICES
metrics=n,psnr,max_error,gradient_rmse,autocorr,ssim,laplacian_ssim
"$FLOE" check t.f32 cpu.floe --metrics $metrics | grep -v decompress_ >on_cpu
"$FLOE" check t.f32 cpu.floe --metrics $metrics --backend auto -q --json | grep -c backend
"$FLOE" check t.f32 cpu.floe --metrics $metrics --backend auto 2>err | grep -v decompress_ >anywhere
same on_cpu anywhere
export FLOE_EMULATED_MEMORY=100000 CUDA_VISIBLE_DEVICES=
"$FLOE" check t.f32 t.f32 --shape 16x16 --dtype f32 --metrics $metrics >on_cpu
"$FLOE" check t.f32 t.f32 --shape 16x16 --dtype f32 --metrics $metrics --backend auto 2>err >anywhere
same on_cpu anywhere
why <err
show_sh "floe check t.f32 t.f32 --shape 16x16 --dtype f32 --metrics n --backend cuda 2>err; echo code \$?"
only t.f32 on_cpu anywhere cpu.floe auto.floe quiet.floe a.f32 err
