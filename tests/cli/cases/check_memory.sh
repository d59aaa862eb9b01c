# SPDX-License-Identifier: BSD-3-Clause
# Fields larger than the private memory that the process can have (ulimit -d, in kB): read through, to the same result.
field t.npy 160x160x160
"$FLOE" compress t.npy -o t.floe --bound rel=1e-3 --codec lorenzo --chunk 8x160x160 -q
"$FLOE" decompress t.floe -o back.npy -q
metrics=reduction,stencil,window
rest() { grep -v '^time\|^size\|^spatial_error:[cpf]'; }
bounded() { (ulimit -d 15000 && "$FLOE" "$@" --threads 1); }
"$FLOE" check t.npy back.npy --metrics $metrics --csv >all
bounded check t.npy back.npy --metrics $metrics --memory 4 --csv >less
same all less
bounded check - back.npy --metrics $metrics --memory 4 --csv <t.npy >less
same all less
bounded check t.npy t.floe --metrics $metrics --memory 4 --csv | rest >less
rest <all >some
same some less
"$FLOE" stat t.npy --metrics reduction,stencil --csv >all
bounded stat t.npy --metrics reduction,stencil --memory 4 --csv >less
same all less
# what needs copies says so
show_sh "floe check t.npy back.npy --memory 4 --threads 1 --metrics n,laplacian_ssim 2>&1 | sed 's/[0-9]* bytes/N bytes/'"
show_sh "floe check t.npy back.npy --memory 4 --threads 1 --metrics ks --exact 2>&1 | sed 's/[0-9]* bytes/N bytes/'"
show_sh "floe check t.npy back.npy --memory 4 --threads 1 --metrics n,spectrum --json 2>&1 | grep '^floe: left out' | sed 's/(.*)/(WHY)/'"
# spectra, where this build has them
few() { "$FLOE" check t.npy back.npy --threads 1 --metrics "$1" --json "${@:2}" 2>&1; }
if few spectrum_ratio -q >/dev/null; then
    few n,spectrum --memory 4 | grep -q '"spectrum": ".* the limit is 4000000"' || echo "the JSON does not say what was left out"
    few n,spectrum_ratio --memory 4 | grep -q 'copies are needed by: spectrum_ratio' || echo "the message does not name it"
    few spectrum --memory 4 | grep -q 'copies are needed by: spectrum$' || echo "the message does not name the group"
    few spectrum --memory 4 | sed 's/^floe: \([0-9]*\) .*/\1/' >all
    few spectrum_ratio --memory 4 | sed 's/^floe: \([0-9]*\) .*/\1/' >some
    cmp -s all some || echo "the message of the group is another one than that of its metric"
fi
# decoding is within the limit, or says so
field u.npy 4096000 terrain f32
"$FLOE" compress u.npy -o u.floe --bound rel=1e-3 --codec zfp --chunk 4096000 -q
show_sh "floe check u.npy u.floe --memory 10 --threads 1 --metrics n 2>&1 | sed 's/[0-9]* bytes/N bytes/'"
"$FLOE" compress t.npy -o half.floe --bound rel=1e-3 --codec lorenzo --chunk 60x160x160 -q
for memory in 10 60; do
    show_sh "floe check t.npy half.floe --memory $memory --threads 1 --metrics n,psnr --csv | grep '^error_stat'"
done
(ulimit -d 34000 && "$FLOE" check t.npy half.floe --memory 30 --threads 1 --metrics n --csv | grep -c '^error_stat')
field i.npy 160x160x160 terrain i32
show_sh "floe stat i.npy --memory 4 --threads 1 --metrics n 2>&1 | sed 's/[0-9]* bytes/N bytes/'"
only t.npy t.floe half.floe u.npy u.floe back.npy all less some i.npy
# too little memory to look for damage is none
"$FLOE" compress t.npy -o whole.floe --bound rel=1e-3 --codec interp --chunk 160x160x160 -q
(ulimit -d 8000 && "$FLOE" info whole.floe --json | grep -A 1 damaged | sed 's/[0-9][0-9]* bytes/N bytes/')
(ulimit -d 8000 && "$FLOE" info whole.floe | grep ^stream | sed 's/[0-9][0-9]* bytes of/N bytes of/')
