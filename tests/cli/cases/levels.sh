# SPDX-License-Identifier: BSD-3-Clause
field t.f32 20x32x48
show compress t.f32 -o t.floe --shape 20x32x48 --dtype f32 --bound rel=1e-3 --codec interp -q
show decompress t.floe -o all.f32 -q
show_sh "floe info t.floe | grep level"
show_sh "floe info t.floe --verbose | sed -nE 's/^  (sizes|step 0: .* along|anchors).*/\1/p'"
show_sh "floe info t.floe --verbose --json | grep -c -e step.0: -e level_nbytes"
# every so-manieth value
show decompress t.floe -o x.f32 --level 3
for z in 0 8 16; do for y in 0 8 16 24; do for x in 0 8 16 24 32 40; do
    dd if=all.f32 bs=4 skip=$((z * 1536 + y * 48 + x)) count=1 2>/dev/null
done; done; done >y.f32
same x.f32 y.f32
show decompress t.floe -o x.f32 -f --level 3 --region 3:17,9:,:1 --json
for z in 8 16; do for y in 16 24; do
    dd if=all.f32 bs=4 skip=$((z * 1536 + y * 48)) count=1 2>/dev/null
done; done >y.f32
same x.f32 y.f32
for region in 1:8,:,: 1:9,:,: :,:,41: 40:41,:,:; do
    show decompress t.floe -o z.f32 -f -q --level 3 --region $region
done
rm z.f32
for bad in 6 63 -1 a ""; do
    show decompress t.floe -o z.f32 --level "$bad"
done
# the first bytes are enough, and damage behind them does not matter
show decompress t.floe -o y.f32 -f -q --level 2
head -c 7000 t.floe >cut.floe
show decompress cut.floe -o z.f32 -f --level 2
show decompress cut.floe -o z.f32 -f --level 2 --salvage
same z.f32 y.f32
show decompress cut.floe -o z.f32 -f --salvage
head -c 2000 t.floe >less.floe
show_sh "floe info less.floe | grep level"
show_sh "floe info less.floe --json | grep -A 3 level"
show_sh "cat cut.floe | floe decompress - -o z.f32 -f"
cp t.floe bad.floe
flip bad.floe $(($(size t.floe) * 9 / 10))
show decompress bad.floe -o z.f32 -f -q --level 2
same z.f32 y.f32
# a part is lost
show_sh "floe decompress bad.floe -o z.f32 -f --salvage 2>&1 | grep lost"
# chunks begin at 12: two levels
show compress t.f32 -o t.floe -f --shape 20x32x48 --dtype f32 --bound rel=1e-3 --codec interp --chunk 12x32x20 -q
show decompress t.floe -o z.f32 -f -q --level 2
show decompress t.floe -o z.f32 -f -q --level 3
# codec wavelet: means, of a stream that was cut short, too
show compress t.f32 -o t.floe -f --shape 20x32x48 --dtype f32 --bound rel=1e-3 --codec wavelet -q
show_sh "floe info t.floe | grep level"
show decompress t.floe -o x.f32 -f -q --level 1
show decompress t.floe -o y.f32 -f -q --level 2
head -c 3000 t.floe >cut.floe
show decompress cut.floe -o z.f32 -f -q --level 2 --salvage
same z.f32 y.f32
show decompress cut.floe -o z.f32 -f -q --level 1 --salvage
show decompress t.floe -o z.f32 -f -q --level 2 --region :,:,5:9
dd if=y.f32 bs=4 skip=2 count=1 of=x.f32 2>/dev/null
head -c 4 z.f32 >y.f32
same x.f32 y.f32
# logarithms have no signs
show compress t.f32 -o t.floe -f --shape 20x32x48 --dtype f32 --bound pwrel=1e-2 --codec wavelet -q
show_sh "floe decompress t.floe -o z.f32 -f --level 1 2>&1 | grep note"
show decompress t.floe -o z.f32 -f -q --level 1
show compress t.f32 -o t.floe -f --shape 20x32x48 --dtype f32 --bound rel=1e-3 -q --codec lorenzo
show decompress t.floe -o z.f32 -f -q --level 1
# of a file a level reads its own bytes; the system counts what is read, by the shell and to start the program, too
field t.f32 64x96x96
show compress t.f32 -o t.floe -f --shape 64x96x96 --dtype f32 --bound rel=1e-5 -q --codec wavelet
read_nbytes() {
    # shellcheck disable=SC2016 # of the shell that the program is a child of
    sh -c '"$FLOE" decompress t.floe -o z.f32 -f -q --level 3; cat /proc/$$/io 2>/dev/null' | sed -n 's/^rchar: //p'
}
n=$(read_nbytes)
[ "${n:-0}" -lt 300000 ] || echo "$n bytes were read"
