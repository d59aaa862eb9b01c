# SPDX-License-Identifier: BSD-3-Clause
field t.f32 16x16
show compress t.f32 -o t.floe --shape 16x16 --dtype f32 --bound rel=1e-3 --json
show compress t.f32 -o p.floe --shape 16x16 --dtype f32 --bound pwrel=1e-3 --verify --json
show decompress t.floe -o d.f32 --json
show fields steps --shape 4x4 -o 'odd"name' --json
show_sh 'floe compress t.f32 -o - --shape 16x16 --dtype f32 --bound rel=1e-3 --json | cmp - t.floe'
show_sh 'floe compress t.f32 -o /dev/stdout --shape 16x16 --dtype f32 --bound rel=1e-3 --json 2>/dev/null | cmp - t.floe'
show_sh 'floe decompress t.floe -o - --json | cmp - d.f32'
show compress t.f32 -o t.floe --shape 16x16 --dtype f32 --bound rel=1e-3 --json
