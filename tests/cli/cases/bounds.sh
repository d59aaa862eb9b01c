# SPDX-License-Identifier: BSD-3-Clause
field t.f32 8x8
field c.f32 8x8 constant
c="compress t.f32 -o t.floe --shape 8x8 --dtype f32"
show $c
show $c --bound abs=0
show $c --bound abs=-1
show $c --bound rel=nan
show $c --bound rel=inf
show $c --bound abs=
show $c --bound abs=x
show $c --bound 0.1
show $c --bound max=1
show $c --bound lossless=1
show $c --bound pwrel=1
show $c --bound "abs=1 rel=1"
show $c --rel 0
show $c --psnr -3
show $c --bound abs=1 --fill 1e308
show $c --bound abs=1 --fill 1e-60
show check c.f32 t.f32 --shape 8x8 --dtype f32 --fill 1e308
only t.f32 c.f32
# a range of 0 leaves no room for an error: the values come back exactly
show compress c.f32 -o c.floe --shape 8x8 --dtype f32 --bound rel=1e-3
show decompress c.floe -o d.f32
same c.f32 d.f32
