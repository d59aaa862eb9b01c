# SPDX-License-Identifier: BSD-3-Clause
field t.f32 16x16
show compress t.f32 -o t.floe --shape 16x16 --dtype f32 --bound rel=1e-3 -q
show_sh "cat t.f32 | floe compress - -o u.floe --shape 16x16 --dtype f32 --bound rel=1e-3 -q"
show decompress t.floe -o d.f32 -q
show verify t.floe --against t.f32 -q
show verify t.floe -q
show decompress t.floe -o d.f32 -q
