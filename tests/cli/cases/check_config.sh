# SPDX-License-Identifier: BSD-3-Clause
# Configurations of Z-checker.
head -c 1024 /dev/zero >o.f32
poke o.f32 42 200 && poke o.f32 43 077
cp o.f32 d.f32
poke d.f32 83 077
layout="--shape 16x16 --dtype f32"
cat >zc.config <<'END'
#what a study asks for
[ENV]
dataEndianType = LITTLE_ENDIAN_DATA
checkingStatus = PROBE_COMPRESSOR
RscriptPath = /opt/script.R
[DATA]
minValue = 1
maxValue = 0
valueRange = 1 ; a remark
[COMPARE]
compressTime = 1
decompressTime = 1
maxAbsErr = 1
PSNR = 1
ssim=1
rmse = 0
pearsonicity = 1
[PLOT]
plotAbsErrPDF = 1
[REPORT]
generateReport = 1
reportTemplateDir = ../template
[PLOT]
compressors = sz:../../SZ zfp:../../zfp
END
show check o.f32 d.f32 $layout --config zc.config
show_sh "floe check o.f32 d.f32 $layout --config zc.config --metrics l1 --csv -q | cut -d, -f2"
show check o.f32 d.f32 $layout --config zc.config --fail-if 'mse>0' -q
show stat o.f32 $layout --config zc.config -q --csv
show check o.f32 d.f32 $layout --config none.config
wrong() { # a configuration, and what is said of it
    printf "$1" >wrong.config
    show check o.f32 d.f32 $layout --config wrong.config
}
printf '\357\273\277[COMPARE]\r\nmse = 0\r\nrmse = "1"\r\n' >mark.config
show check o.f32 d.f32 $layout --config mark.config --csv -q
wrong '[ENV]\ndataEndianType = BIG_ENDIAN_DATA\n'
wrong '[COMPARE\npsnr = 1\n'
wrong '[COMPARE]\npsnr\n'
wrong '[COMPARE]\npsnr = yes\n'
wrong '[COMPARE]\npsnr = 0\n'
wrong ''
# all that it may switch on is there
keys="minAbsErr avgAbsErr maxAbsErr autoCorrAbsErr errAutoCorr errAutoCorr3D absErrPDF pwrErrPDF minRelErr avgRelErr maxRelErr \
rmse nrmse snr psnr valErrCorr pearsonCorr KS_test ssim ssimImage2D derivativeOrder1_sep_maxDiff derivativeOrder1_sep_psnr \
derivativeOrder1_sep_ssim derivativeOrder1_psnr derivativeOrder2_psnr derivativeOrder1_ssim derivativeOrder2_ssim \
derivativeOrder1_sobolev"
for key in $keys; do
    printf '[COMPARE]\n%s = 1\n' $key >all.config
    echo "$key: $("$FLOE" check o.f32 d.f32 $layout --config all.config --csv 2>&1 | sed 1d | cut -d, -f2 | uniq | tr '\n' ' ')"
done | sed 's/ $//'
for key in minValue maxValue valueRange avgValue entropy entropyFloatpoint autocorr autocorr3D lap; do
    printf '[DATA]\n%s = 1\n' $key >all.config
    echo "$key: $("$FLOE" stat o.f32 $layout --config all.config --csv 2>&1 | sed 1d | cut -d, -f2 | uniq | tr '\n' ' ')"
done | sed 's/ $//'
# what a field does not have is left out, whatever else asks for it
for layout in "--shape 256" "--shape 64x4"; do
    printf '[COMPARE]\nrmse = 1\nssim = 1\nssimImage2D = 1\nderivativeOrder1_ssim = 1\n' >all.config
    show check o.f32 d.f32 $layout --dtype f32 --config all.config --metrics mse
done
show check o.f32 d.f32 $layout --dtype f32 --config all.config --metrics ssim
show check o.f32 d.f32 $layout --dtype f32 --config all.config --fail-if 'ssim_image<1'
printf '[COMPARE]\nssimImage2D = 1\n' >all.config
show check o.f32 d.f32 $layout --dtype f32 --config all.config
show_sh "floe check o.f32 d.f32 $layout --dtype f32 --config all.config -m window -q --json | sed -n '/left_out/,/}/p'"
# what is no text may have no end
show_sh "head -c 8192 /dev/zero | timeout 60 \$FLOE check o.f32 d.f32 $layout --dtype f32 --config /dev/stdin"
printf '[COMPARE]\nrmse = 1' >all.config # no newline at the end
show_sh "floe check o.f32 d.f32 $layout --dtype f32 --config all.config | tail -n 1"
only o.f32 d.f32 zc.config wrong.config mark.config all.config
