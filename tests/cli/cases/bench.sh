# SPDX-License-Identifier: BSD-3-Clause
show bench --shape 16x16x16 --field noise --field steps --threads 1,2 --json out.json --quiet
grep -c '"coder"' out.json
show bench --shape 16x16x16 --preset fast --json - --bound lossless
field t.f32 8x8
show_sh "floe bench --in t.f32 --shape 8x8 --dtype f32 --preset fast | tail -n 1 | cut -c1-24"
show bench --in t.f32
show bench --field nothing
show bench --shape 16x16x16 --json out.json --quiet
show bench --bound psnr=60 --shape 16x16 --quiet
show bench --bound pwrel=0.1 --shape 16x16 --quiet
for speed in 1 1GB 0GB/s -1GB/s infGB/s 1Gb/s; do show bench --shape 16x16x16 --link "$speed" --quiet; done
show_sh "floe bench --shape 16x16x16 --preset fast --chunk 4x16x16 --link 100Gbit/s --threads 1,2 | tail -n 4 | sed -E 's/ +[0-9]+\.?[0-9]*/ N/4g'"
show_sh "floe bench --shape 16x16x16 --preset fast --chunk 4x16x16 --link 2MB/s --json - | sed -nE '/\"link\":/,/}/p;/\"(chunks|link_speed)\":/p' | sed -E 's/((serial|overlapped)_[a-z_]+\": )[0-9.e+-]+/\\1N/'"
only out.json t.f32
