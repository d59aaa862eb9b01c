# SPDX-License-Identifier: BSD-3-Clause
# 256 values: one is 1, one is infinite, one NaN, the others 0.
head -c 1024 /dev/zero >o.f32
poke o.f32 42 200 && poke o.f32 43 077
poke o.f32 82 200 && poke o.f32 83 177
poke o.f32 122 300 && poke o.f32 123 177
layout="--shape 16x16 --dtype f32"
show stat o.f32 $layout --metrics n,min,max,range,zeros,nan,inf,fill,derivative_points,derivative_skipped,gradient_max
show stat o.f32 $layout --metrics n,max,value_histogram --value-bins 64 --json
show stat o.f32 $layout --metrics n,max --csv
show stat o.f32 $layout --fill 0 --metrics n,fill,min
show stat o.f32 $layout --metrics n --fail-if 'nan>0' --fail-if 'inf>1'
show stat o.f32 $layout --fail-if 'nan==0' -q
show_sh "floe stat o.f32 $layout --metrics reduction,stencil --csv --lags 2 | cut -d, -f2 | uniq"
# a stream, decoded
"$FLOE" compress o.f32 -o o.floe $layout --bound lossless -q
show stat o.floe --metrics n,max
show_sh "floe stat - --metrics n,nan --csv <o.floe"
only o.f32 o.floe
