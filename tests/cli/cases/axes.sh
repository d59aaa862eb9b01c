# SPDX-License-Identifier: BSD-3-Clause
# the note about mixed-up axes: there when they are, not there when they are not
field t.f32 30x200x150
show compress t.f32 -o a.floe --bound abs=0.1 --dtype f32 --shape 30x200x150
show compress t.f32 -o b.floe --bound abs=0.1 --dtype f32 --shape 150x200x30
show compress t.f32 -o c.floe --bound abs=0.1 --dtype f32 --dims 30x200x150
show compress t.f32 -o d.floe --bound abs=0.1 --dtype f32 --dims 30x200x150 --quiet
