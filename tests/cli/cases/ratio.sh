# SPDX-License-Identifier: BSD-3-Clause
# ratio= looks for the bound that makes a stream so much smaller; preset best chooses the codec
field m 24x40x50 mixing
s="--shape 24x40x50 --dtype f32"
show compress m -o m.floe $s --ratio 20 --verify
show info m.floe
show verify m.floe --against m
show compress m -o p.floe $s --bound ratio=20 --preset best --quiet
show info p.floe
show compress m -o far.floe $s --ratio 1e6 --codec zfp
show compress m -o far.floe -f $s --ratio 1e6 --codec zfp --json
show compress m -o wide.floe $s --ratio 200 --codec lorenzo --preset fast
show compress m -o less.floe $s --ratio 0.5
show_sh "cat m | floe compress - -o piped.floe $s --abs 0.01 --fill none --preset best"
show_sh "cat m | floe compress - -o piped.floe -f $s --ratio 20 --preset best --quiet"
same p.floe piped.floe
