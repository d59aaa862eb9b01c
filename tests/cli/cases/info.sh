# SPDX-License-Identifier: BSD-3-Clause
# attributes are UTF-8 texts; control characters among them stay away from the terminal
field t.f32 16x24 fill
show compress t.f32 -o t.floe --shape 16x24 --dtype f32 --bound rel=1e-3 --attr units=degC --attr "note=über alles" -q
show compress t.f32 -o x.floe --shape 16x24 --dtype f32 --bound rel=1e-3 --attr "note=$(printf 'a\tb')" -q
show_sh "floe info x.floe | tail -n 1"
show compress t.f32 -o x.floe -f --shape 16x24 --dtype f32 --bound rel=1e-3 --attr "note=$(printf 'a\377b')"
show info t.floe
show info t.floe --json
show compress t.f32 -o u.floe --shape 16x24 --dtype f32 --bound lossless --fill none --chunk 8x8 -q
show info u.floe
head -c $(($(size t.floe) / 2)) t.floe >cut.floe
show info cut.floe
show info cut.floe --json
