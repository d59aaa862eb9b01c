# SPDX-License-Identifier: BSD-3-Clause
field t.f32 20x30x40
s="--shape 20x30x40 --dtype f32"
show compress t.f32 -o rel.floe $s --bound rel=1e-3 -q
show compress t.f32 -o abs.floe $s --bound abs=0.01 --fill none --codec lorenzo -q
show_sh "cat t.f32 | floe compress - -o - $s --bound rel=1e-3 >x.floe"
same rel.floe x.floe
show_sh "cat t.f32 | floe compress - -o - $s --bound abs=0.01 --fill none --codec lorenzo >x.floe"
same abs.floe x.floe
show_sh "cat t.f32 | floe compress - -o - $s --bound rel=1e-3 --verify --quiet >x.floe"
same rel.floe x.floe
show_sh "cat rel.floe | floe decompress - -o - -q | floe verify rel.floe --against -"
show_sh "cat rel.floe | floe verify - --against t.f32"
show_sh "cat rel.floe | floe verify -"
show_sh "cat rel.floe | floe info - | head -n 1"
show_sh "cat rel.floe | floe decompress - -o r.f32 --region 0:2,:,39"
show_sh "floe decompress rel.floe -o r2.f32 --region 0:2,0:30,39:40 -q"
same r.f32 r2.f32
# a pipe that is no stream is not copied: it may have no end
for command in "info -" "verify -" "decompress - -o x --salvage" "decompress - -o x --region 0" "decompress - -o x" \
    "decompress - -o x --raw-zfp" "index - -o x" "decompress rel.floe -o x --raw-zfp --index -" \
    "check - t.f32 $s" "check rel.floe -" "stat - $s"; do
    show_sh "yes | (ulimit -f 20000; \$FLOE $command)"
done
# nor is what follows a stream, wherever its end lies in the pieces of 1 MiB that are copied
field big.f32 1x262000 noise
s="--shape 262000 --dtype f32 --bound lossless --codec lorenzo -q -f"
"$FLOE" compress big.f32 -o end.floe $s --attr p=00000000
pad=$(((1 << 20) + 8 - $(size end.floe)))
for more in -200000 -8 0 8 16 24 32 40; do
    [ $more = -200000 ] || "$FLOE" compress big.f32 -o end.floe $s --attr "p=$(printf '%0*d' $((pad + more)) 0)"
    echo "$(($(size end.floe) - (1 << 20))) bytes beyond"
    for command in "info -" "verify -" "decompress - -o x --salvage"; do
        (cat end.floe; yes) | (ulimit -f 20000; timeout 60 "$FLOE" $command) 2>&1 | grep -o -e 'something follows.*' -e '^x: '
        rm -f x
    done
done
rm end.floe
# a reader that has seen enough of a text
show_sh 'set -o pipefail; floe check t.f32 rel.floe --csv --bins 4096 | head -n 1'
# a reader that goes away: one line, no death by a signal
field big.f32 128x128x64
show_sh 'set -o pipefail; floe fields noise --shape 128x128x64 -o - | head -c 1 >/dev/null'
show_sh "floe compress big.f32 -o big.floe --shape 128x128x64 --dtype f32 --bound lossless -q"
show_sh 'set -o pipefail; floe decompress big.floe -o - -q | head -c 1 >/dev/null'
show_sh 'set -o pipefail; floe compress big.f32 -o - --shape 128x128x64 --dtype f32 --bound lossless -q | head -c 1 >/dev/null'
only t.f32 rel.floe abs.floe x.floe r.f32 r2.f32 big.f32 big.floe
