#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/demo.sh FLOE   the main job on real work: a turbulence field, compressed with all presets at several bounds, verified
# against the original, decompressed; then what it cost and what it saved.
set -euo pipefail
floe=$(realpath "$1")
shape=${DEMO_SHAPE:-256x256x256}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

value() { # file, key of a flat JSON text
    tr ',{}' '\n' <"$1" | sed -nE "s/^ *\"$2\" *: *\"?([^\"]*)\"?.*/\1/p" | head -n 1
}

echo "A turbulence field of $shape values (f32), made by: floe fields turbulence --shape $shape -o turbulence.npy"
"$floe" fields turbulence --shape "$shape" -o turbulence.npy --quiet
echo "Speeds below are of the whole command, files included."
printf '\n%-10s %-10s %9s %10s %12s %12s %13s  %s\n' bound preset ratio bits/value MB/s-in MB/s-out largest-error verified
for bound in rel=1e-2 rel=1e-3 rel=1e-4; do
    presets="fast balanced"
    [ $bound != rel=1e-3 ] || presets+=" best" # which takes seconds
    for preset in $presets; do
        "$floe" compress turbulence.npy -o t.floe --bound $bound --preset $preset --json --force >in.json
        "$floe" decompress t.floe -o back.npy --json --force >out.json
        verified=no
        "$floe" verify t.floe --against turbulence.npy --quiet && verified=yes
        printf '%-10s %-10s %9.2f %10.3f %12.0f %12.0f %13.3e  %s\n' $bound $preset "$(value in.json ratio)" \
            "$(value in.json bits_per_value)" "$(value in.json mb_per_s)" "$(value out.json mb_per_s)" \
            "$(value in.json max_error)" $verified
        [ $verified = yes ]
    done
done
echo
echo "What the last stream says about itself: floe info t.floe"
"$floe" info t.floe
echo
echo "The library alone, in memory, beside memcpy: floe bench --shape $shape --bound rel=1e-3"
"$floe" bench --shape "$shape" --bound rel=1e-3 --preset fast --threads "1,$(nproc)"
"$floe" bench --shape "$shape" --bound rel=1e-3 --preset balanced --threads "1,$(nproc)" | tail -n 2
