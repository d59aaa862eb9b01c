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
# a header with the attributes units=K, name=t and units=m: the first of a key counts
printf "\361\106\114\117\105\015\012\032\001\000\001\000\220\000\000\000\001\001\001\000\005\000\000\000\003\000\000\000\000\
\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\370\177\000\000\
\000\000\000\000\370\177\000\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000\001\000\000\000\000\000\000\
\000\001\000\005\000\001\000\000\000\165\156\151\164\163\113\000\000\001\000\004\000\001\000\000\000\156\141\155\145\
\164\000\000\000\001\000\005\000\001\000\000\000\165\156\151\164\163\155\000\000\130\033\247\142\241\361\224\030" >twice.floe
show_sh "floe info twice.floe --json | grep -A 3 attributes"
rm twice.floe
# texts are not cut
long='--attr "$(printf k%0299d 1)=$(printf v%070000d 2)"'
show_sh "floe compress t.f32 -o long.floe --shape 16x24 --dtype f32 --bound rel=1e-3 -q $long"
show_sh "floe compress t.f32 -o long.floe -f --shape 16x24 --dtype f32 --bound rel=1e-3 --json $long | grep abs_bound"
show_sh "floe info long.floe | grep -o 'k0*1 = v0*2' | wc -c"
show_sh "floe info long.floe --json | grep -o '\"k0*1\": \"v0*2\"' | wc -c"
rm long.floe
