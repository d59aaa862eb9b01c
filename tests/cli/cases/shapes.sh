# SPDX-License-Identifier: BSD-3-Clause
field t.f32 4x6x10
c="compress t.f32 -o t.floe --bound rel=1e-3"
show $c
show $c --shape 4x6x10
show $c --dtype f32
show $c --dtype f32 --shape 0x6x10
show $c --dtype f32 --shape 4x6x
show $c --dtype f32 --shape -4x6
show $c --dtype f32 --shape 4x6x10x1x1
show $c --dtype f32 --shape ""
show $c --dtype f32 --shape 18446744073709551616
show $c --dtype f32 --shape 9223372036854775807
show $c --dtype f64 --shape 4294967296x4294967296
show $c --dtype f32 --shape 4x6x10 --dims 10x6x4
show $c --dtype f16 --shape 4x6x10
show $c --dtype f32 --shape 4x6x11
show $c --dtype f64 --shape 4x6x10
only t.f32
show $c --dtype f32 --shape 4,6,10
show compress t.f32 -o d.floe --bound rel=1e-3 --dims 10x6x4 --dtype f32
same t.floe d.floe
