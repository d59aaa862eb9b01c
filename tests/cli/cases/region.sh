# SPDX-License-Identifier: BSD-3-Clause
field t.f32 20x30x40
show compress t.f32 -o t.floe --shape 20x30x40 --dtype f32 --bound rel=1e-3 --chunk 8x16x16 -q
d="decompress t.floe -o x.f32"
for bad in "" 0:1 0:1,0:1,0:1,0:1 0:1,0:1,0:41 0:1,0:1,5:5 0:1,0:1,6:5 0:1,0:1,40 0:1,0:1,-1 0:1,0:1,a 0-1,0:1,0:1 "0:1,0:1,0:1,"; do
    show $d --region "$bad"
done
only t.f32 t.floe
show $d --region 0:20,0:30,0:40
show decompress t.floe -o all.f32 -q
same x.f32 all.f32
show decompress t.floe -o x.f32 -f --region 7:9,15:17,15:17
# row by row from the whole
for z in 7 8; do for y in 15 16; do
    dd if=all.f32 bs=4 skip=$((z * 1200 + y * 40 + 15)) count=2 2>/dev/null
done; done >y.f32
same x.f32 y.f32
show decompress t.floe -o x.f32 -f --region 19,:,39: --json
