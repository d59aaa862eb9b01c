# SPDX-License-Identifier: BSD-3-Clause
# the note about mixed-up axes: there when they are, not there when they are not
field t.f32 30x200x150
show compress t.f32 -o a.floe --bound abs=0.1 --dtype f32 --shape 30x200x150
show compress t.f32 -o b.floe --bound abs=0.1 --dtype f32 --shape 150x200x30
show compress t.f32 -o c.floe --bound abs=0.1 --dtype f32 --dims 30x200x150
show compress t.f32 -o d.floe --bound abs=0.1 --dtype f32 --dims 30x200x150 --quiet
# what is measured along mixed-up axes is as wrong
show stat t.f32 --dtype f32 --shape 30x200x150 --metrics n
show stat t.f32 --dtype f32 --shape 150x200x30 --metrics n,gradient_rms
show stat t.f32 --dtype f32 --shape 150x200x30 --metrics n --quiet
show check t.f32 b.floe --metrics n --csv --fail-if 'ratio<1' 2>&1 | grep -v '^size\|^time'
show_sh "floe stat t.f32 --dtype f32 --shape 150x200x30 --metrics n --json 2>.notes | grep '\"note\"'" && rm .notes
