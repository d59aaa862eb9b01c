# SPDX-License-Identifier: BSD-3-Clause
: >empty
mkdir folder
for f in missing empty folder /proc/self/mem; do
    show compress $f -o x --bound abs=1 --shape 4 --dtype f32
    show decompress $f -o x
    show info $f
    show verify $f
done
field t.f32 4
show verify t.f32 --against t.f32
show compress t.f32 -o t.floe --bound abs=1 --shape 4 --dtype f32 -q
show verify t.floe --against missing
show verify t.floe --against empty
show decompress t.f32 -o x
show_sh 'floe compress - -o x --bound abs=1 --shape 4 --dtype f32 --codec lorenzo </dev/null'
only empty folder t.f32 t.floe
