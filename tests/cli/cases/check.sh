# SPDX-License-Identifier: BSD-3-Clause
# Two fields whose metrics can be worked out without a computer: 256 values of which one is 1, and a decoded 0.5 where a 0 was.
head -c 1024 /dev/zero >o.f32
poke o.f32 42 200 && poke o.f32 43 077
cp o.f32 d.f32
poke d.f32 83 077
layout="--shape 16x16 --dtype f32"
numbers=n,range,mean,min_error,max_error,bias,mse,rmse,psnr,psnr_half,l1,l2,worst_errors,zeros,decoded_zeros
show check o.f32 d.f32 $layout --metrics $numbers
show check o.f32 o.f32 $layout --metrics $numbers
show check o.f32 d.f32 $layout --metrics outside,outside_percent,first_outside --bound abs=0.4
show check o.f32 d.f32 $layout --metrics outside --bound abs=0.5
show check o.f32 d.f32 $layout --metrics outside --bound abs=0
show check o.f32 o.f32 $layout --bound abs=0.0 --fail-if 'outside>0' --quiet
show check o.f32 d.f32 $layout --metrics "ssim ssim_windows" --window 16
show check o.f32 d.f32 $layout --metrics error_stat:mse,spatial_error:worst,diff_pdf:histogram,n --worst 1 --bins 64 --json
show check o.f32 d.f32 $layout --metrics mse,worst_errors,error_pdf,n,first_max_error,nan --worst 1 --bins 64 --csv
show check o.f32 d.f32 $layout --metrics n,psnr,ssim --explain
show check o.f32 d.f32 $layout --metrics n,psnr --explain --json
show check o.f32 d.f32 $layout --metrics n,psnr --explain --csv
show check o.f32 d.f32 $layout --metrics n --quiet
# what is lost of slopes, seen on both sides
show check o.f32 d.f32 $layout --metrics gradient_max,laplacian_min,decoded_gradient_max,decoded_laplacian_min
show check o.f32 d.f32 $layout --metrics decoded_laplacian_rms,decoded_sobolev_s1 --csv
# names are alike, groups hold what belongs to them, threads change nothing
show_sh "floe check o.f32 d.f32 $layout --metrics psnr --csv | grep -c psnr"
for group in reduction stencil window properties; do
    show_sh "floe check o.f32 d.f32 $layout --metrics $group --csv | cut -d, -f2 | uniq | sed 1d | head -n 3"
done
"$FLOE" check o.f32 d.f32 $layout --metrics reduction,stencil,window --csv --threads 1 >one
"$FLOE" check o.f32 d.f32 $layout --metrics reduction,stencil,window --csv --threads 3 >three
same one three
# .npy has the shape, of the raw one too; a .floe file brings figures, its bound and its fill value along
"$FLOE" compress o.f32 -o o.floe $layout --bound abs=0.25 -q
"$FLOE" decompress o.floe -o o.npy -q
show check o.npy d.f32 --metrics max_error
hide() { sed -E -e 's/^(  decompress_[a-z_]+ +)[0-9][0-9.e+-]*/\1N/' -e 's/^(time:[^,]*,[^,]*,,)[^,]*/\1N/'; }
show_sh "floe check d.f32 o.floe --metrics max_error,outside | hide"
show_sh "floe check d.f32 o.floe --metrics max_error --csv | hide"
show check d.f32 o.floe --metrics error_stat:l1,spatial_error:count --json
show_sh "floe check o.floe d.f32 --metrics max_error"
show_sh "floe check - o.floe --metrics max_error --csv <d.f32 | hide"
show_sh "floe check d.f32 - --metrics max_error --csv <o.floe | hide"
# gates
show check o.f32 d.f32 $layout --metrics psnr --fail-if 'psnr<30' --fail-if 'max_error > 0.5' --fail-if n==255
show check o.f32 d.f32 $layout --metrics psnr --fail-if 'rmse<=60' --fail-if 'error_stat:max_error>=0.5' --fail-if 'n == 256'
show check o.f32 d.f32 $layout --fail-if 'mse>0' -q
show check o.f32 d.f32 $layout --fail-if 'l2<60' --fail-if 'psnr<30' -q
show check o.f32 d.f32 $layout --metrics l1 --fail-if 'max_error>0.25' --json
show check o.f32 o.floe --metrics l1 --fail-if 'ratio<1' --fail-if 'size:bit_rate>32' -q
show check o.f32 o.floe --metrics ratio --fail-if 'stream_nbytes>10' -q
head -c 1024 /dev/zero >z.f32
show check z.f32 z.f32 $layout --fail-if 'skewness<60' -q
# a value that became NaN is in no error, and is reported all the same
cp o.f32 n.f32
poke n.f32 82 300 && poke n.f32 83 177
show check o.f32 n.f32 $layout --metrics max_error --fail-if 'psnr<60'
show check o.f32 n.f32 $layout --metrics max_error --json
show check o.f32 n.f32 $layout --fail-if 'psnr<60' --quiet
show check o.f32 n.f32 $layout --fail-if 'psnr<60' --fail-if 'special_mismatch>0' --quiet
# larger than the memory that may be taken: decoded to a file, and what needs copies is left out
"$FLOE" fields turbulence --shape 64x64x64 --dtype f64 -o big.npy -q
"$FLOE" compress big.npy -o big.floe --bound abs=1e-3 -q
show_sh "floe check big.npy big.floe --memory 1 --threads 1 --metrics n,outside,spectrum --csv 2>&1 | sed 's/(.*)/(WHY)/; /^size\|^time/ d'"
rest() { grep -v '^spectrum\|^time\|^size'; }
for metrics in all properties properties,mse; do
    "$FLOE" check big.npy big.floe --metrics $metrics --threads 1 --csv 2>.all | rest >one
    "$FLOE" check big.npy big.floe --metrics $metrics --threads 1 --memory 2 --csv 2>.less | rest >three
    same one three
    [ $metrics != all ] || sed 's/(.*)/(WHY)/' .less
done
"$FLOE" stat big.npy --threads 1 --csv -q | rest >one
"$FLOE" stat big.npy --threads 1 --memory 1 --csv -q | rest >three
same one three && rm .all .less
show_sh "floe check big.npy big.floe --memory 1 --threads 1 --metrics ks --exact 2>&1 | sed 's/[0-9]* bytes/N bytes/'; echo code \${PIPESTATUS[0]}"
show_sh "TMPDIR=/nonexistent floe check big.npy big.floe --memory 1 --metrics n"
only o.f32 d.f32 n.f32 one three o.floe o.npy z.f32 big.npy big.floe
