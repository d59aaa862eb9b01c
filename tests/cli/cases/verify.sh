# SPDX-License-Identifier: BSD-3-Clause
field t.f32 16x16x16
field n.f32 16x16x16 noise
field a.npy 16x16x16
field w.npy 8x32x16
show compress t.f32 -o t.floe --shape 16x16x16 --dtype f32 --bound abs=0.01 -q
show verify t.floe --against t.f32
show verify t.floe --against a.npy
show verify t.floe --against w.npy
show verify t.floe --against n.f32
show verify t.floe --against t.f32 --quiet
show verify t.floe --against t.f32 --json
show verify t.floe --json
head -c 16380 t.f32 >short.f32
show verify t.floe --against short.f32
only t.f32 n.f32 a.npy w.npy t.floe short.f32
