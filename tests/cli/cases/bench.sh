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
only out.json t.f32
