# SPDX-License-Identifier: BSD-3-Clause
show fields
show fields --shape 3x4 -o a.f32
show fields steps --shape 3x4 -o a.f32
show fields steps --shape 3x4 --dtype f64 -o a.f64
show fields steps --dims 4x3 -o b.f32
same a.f32 b.f32
show fields noise --shape 1500x1000 -o big.npy
show fields noise --shape 1500x1000 -o big.f32 --seed 0
show fields noise --shape 1500x1000 -o other.f32 --seed 1
show_sh "tail -c 6000000 big.npy | cmp - big.f32"
cmp -s big.f32 other.f32 || echo "another seed, another field"
show_sh "floe fields noise --shape 1500x1000 -o - | cmp - big.f32"
show fields noise --shape 0 -o c
only a.f32 a.f64 b.f32 big.npy big.f32 other.f32
