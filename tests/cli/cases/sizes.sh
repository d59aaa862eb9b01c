# SPDX-License-Identifier: BSD-3-Clause
field t.f32 10x10
c="compress - -o x.floe --shape 10x10 --dtype f32 --codec lorenzo"
show compress t.f32 -o x.floe --shape 10x11 --dtype f32 --bound abs=1
# from a pipe, streaming and spooled, too little and too much
for how in "--bound abs=1 --fill none" "--bound rel=1e-3"; do
    show_sh "head -c 396 t.f32 | floe $c $how"
    show_sh "cat t.f32 t.f32 | floe $c $how"
    show_sh "head -c 0 t.f32 | floe $c $how"
done
# a file as standard input is a file
show_sh "floe $c --bound rel=1e-3 <t.f32"
rm x.floe
show_sh "(head -c 4 >/dev/null; floe $c --bound rel=1e-3) <t.f32"
only t.f32
