# SPDX-License-Identifier: BSD-3-Clause
field t.f32 8x8x8
field a.npy 8x8x8
field b.npy 8x4x16
field c.npy 8x8x8 turbulence f64
layout="--shape 8x8x8 --dtype f32"
# requests
show check a.npy
show check
show check a.npy a.npy a.npy
show stat
show check - -
show check a.npy a.npy --metrics psnrr
show check a.npy a.npy --metrics psnr,foo
show check a.npy a.npy --metrics PSNR
show check a.npy a.npy --metrics n,ratio
show check a.npy a.npy --metrics ,
show check a.npy a.npy --metrics outside
show check a.npy a.npy --metrics autocorr_axis3
show check a.npy a.npy --metrics ssim --window 9
show check a.npy a.npy --window 1
show check a.npy a.npy --window x
show check a.npy a.npy --step 0
show check a.npy a.npy --lags 65
show check a.npy a.npy --bins 63
show check a.npy a.npy --value-bins 16385
show check a.npy a.npy --worst 65
show check a.npy a.npy --bound psnr=60
show check a.npy a.npy --bound abs
show check a.npy a.npy --bound abs=-1
show check a.npy a.npy --fill much
show check a.npy a.npy --memory lots
show check a.npy a.npy --backend gpu
show check a.npy a.npy --threads many
show check a.npy a.npy --json --csv
for gate in psnr 'psnr<' 'psnr<x' 'psnr!=1' '<60' 'psnr<60dB' 'psnrr<60' 'autocorr>0' 'window<1' 'ratio<3' 'outside>0'; do
    show check a.npy a.npy --fail-if "$gate"
done
# what groups hold and this field has no room for
field thin.npy 6x20x30
show check thin.npy thin.npy --metrics n,window
show check thin.npy thin.npy --metrics n,window --quiet --csv
show_sh "floe check thin.npy thin.npy --metrics window --json 2>.notes | sed -n '/left_out/,/}/p'" && rm .notes
show check thin.npy thin.npy --window 7
show check thin.npy thin.npy --window 6 --step 2 --metrics window
show check thin.npy thin.npy --window 7 --metrics n
# options of metrics that nobody asks for
show check a.npy a.npy --metrics psnr --bound abs=1e-3
show check a.npy a.npy --metrics psnr --lags 5 --bins 64 --value-bins 64 --worst 3 --periodic --exact --step 2
show check a.npy a.npy --metrics ks,worst_errors --value-bins 64 --worst 1 --exact --csv
show check a.npy a.npy --metrics psnr --exact --quiet
show stat a.npy --metrics n --lags 3 --value-bins 64 --csv
field row.npy 7
show check row.npy row.npy --metrics n,window
show check row.npy row.npy --metrics n,window --window 7
show stat a.npy --metrics psnr
show stat a.npy --window 8
show stat a.npy --fail-if 'nan>0' --metrics n
# inputs
show check t.f32 t.f32
show check t.f32 t.f32 --shape 8x8x8
show check t.f32 t.f32 --shape 8x8x9 --dtype f32
show check a.npy b.npy
show check a.npy c.npy
show check a.npy a.npy --shape 8x8x9
show check a.npy a.npy --dtype f64
show check t.f32 b.npy --metrics n
show check a.npy none.npy
: >empty.f32
show check empty.f32 empty.f32 $layout
# printf of a shell has no \x in POSIX: a .npy header with an axis of 0
{ printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5), }"; } >zero.npy
show check zero.npy zero.npy
show stat zero.npy
# all NaN
awk 'BEGIN { for (i = 0; i < 512; i++) printf "\377\377\377\377" }' | head -c 2048 >nan.f32
show stat nan.f32 $layout
show check t.f32 nan.f32 $layout
show check nan.f32 nan.f32 $layout --fail-if 'psnr<60' --fail-if 'special_mismatch>0' --metrics psnr,nan,special_same
show check nan.f32 nan.f32 $layout --fail-if 'range<60' --fail-if 'nan>500' -q
show check nan.f32 nan.f32 $layout --json --metrics psnr,nan
# a damaged stream
"$FLOE" compress t.f32 -o t.floe $layout --bound rel=1e-3 -q
cp t.floe bad.floe
flip bad.floe $(($(size bad.floe) / 2))
show_sh "floe check t.f32 bad.floe 2>&1 | sed 's/:.*//'; echo code \${PIPESTATUS[0]}"
head -c 40 t.floe >short.floe
show_sh "floe check t.f32 short.floe 2>&1 | sed 's/:.*//'; echo code \${PIPESTATUS[0]}"
show check t.f32 t.floe --shape 4x4
only thin.npy row.npy t.f32 a.npy b.npy c.npy empty.f32 zero.npy nan.f32 t.floe bad.floe short.floe
