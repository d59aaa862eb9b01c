#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/golden/make.sh FLOE FOLDER   writes the golden files and SHA256SUMS, the checksums of what they decode to, into a
# folder named v1, v2, v3 or v4: those that it lacks. Files that are there are never written anew (README.md).
set -euo pipefail
[ $# = 2 ] || { echo "usage: make.sh FLOE FOLDER" >&2 && exit 2; }
floe=$1 folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

words() { # count, one value as bytes for printf
    # shellcheck disable=SC2046,SC2059 # words and a format are meant
    printf "$2%.0s" $(seq "$1")
}

# Whole tiles of NaN, of -0, of 0 with one NaN and of -NaN or 0, then a few values.
patterns() { # bound
    words 8192 '\0\0\300\177'
    words 8192 '\0\0\0\200'
    words 5000 '\0\0\0\0'
    words 1 '\0\0\300\177'
    words 3191 '\0\0\0\0'
    case "$1" in
    abs*) words 8192 '\0\0\300\377' ;;
    *) words 8192 '\0\0\0\0' ;;
    esac
    "$floe" fields turbulence --shape 900 --dtype f32 -o - --quiet
}

# The example of docs/format/lorenzo_chunk.md: a ramp of 40 values, the fourth replaced by NaN.
ramp_nan() {
    "$floe" fields ramp --shape 40 --dtype f32 -o "$scratch/ramp" --force --quiet
    head -c 12 "$scratch/ramp"
    words 1 '\0\0\300\177'
    tail -c +17 "$scratch/ramp"
}

# An empty field as .npy: raw files cannot say that.
empty() {
    printf '\223NUMPY\1\0\166\0'
    printf "%-117s\n" "{'descr': '$1', 'fortran_order': False, 'shape': (3, 0, 5), }"
}

# Integers around the ends of their type, then some between.
ends() {
    words 20 '\377\377\377\177'
    words 20 '\376\377\377\177'
    words 20 '\0\0\0\200'
    words 20 '\1\0\0\200'
    "$floe" fields noise --shape 50 --dtype i32 -o - --quiet
}

# Name, kind of field, shape, element type, bound, preset, more options. Each is decoded, and verified against its field.
cases_v1='
example-f32         ramp-nan    40         f32 abs=0.0078125 fast
abs-1d-f32          turbulence  3000       f32 abs=1e-2   balanced
abs-1d-f32-fast     turbulence  3000       f32 abs=1e-2   fast
abs-1d-f64          spikes      1500       f64 abs=1e-2   balanced
abs-1d-f64-fast     spikes      1500       f64 abs=1e-2   fast
rel-2d-f32          turbulence  70x150     f32 rel=1e-2   balanced
rel-2d-f32-fast     turbulence  37x130     f32 rel=1e-2   fast
rel-2d-f64          ramp        65x129     f64 rel=1e-3   balanced
rel-2d-f64-fast     ramp        65x129     f64 rel=1e-3   fast
rel-3d-f32          turbulence  18x20x40   f32 rel=1e-2   balanced
rel-3d-f32-fast     turbulence  17x18x33   f32 rel=1e-2   fast
rel-3d-f64          weather     5x18x35    f64 rel=1e-4   balanced
rel-3d-f64-fast     weather     5x20x40    f64 rel=1e-3   fast
rel-4d-f32          turbulence  3x4x17x33  f32 rel=1e-2   balanced
rel-4d-f64-fast     weather     4x5x9x12   f64 rel=1e-2   fast
swap-4d-f32         weather     3x4x17x33  f32 rel=1e-2   balanced
components-f32      turbulence  19x21x3    f32 rel=1e-3   balanced
components-f64-fast particles   300x3      f64 rel=1e-3   fast
chunks-f32          mixing      12x14x20   f32 rel=1e-2   balanced --chunk 5x9x20 --attr units=kg/m3 --attr long_name=Dichte
chunks-f64-fast     seismic     8x11x16    f64 rel=1e-2   fast     --chunk 5x11x6
pwrel-3d-f32        orbitals    7x18x20    f32 pwrel=1e-1 balanced
pwrel-3d-f32-fast   orbitals    7x18x20    f32 pwrel=1e-1 fast
patterns-abs-f32    patterns    33668      f32 abs=1e-2   balanced
patterns-pwrel-f32  patterns    33668      f32 pwrel=1e-1 fast
pwrel-2d-f64        orbitals    30x40      f64 pwrel=1e-2 balanced
pwrel-fill-f64-fast fill        9x10x20    f64 pwrel=1e-2 fast
psnr-3d-f32         turbulence  12x20x40   f32 psnr=50    balanced
psnr-2d-f64-fast    turbulence  30x60      f64 psnr=50    fast
fill-3d-f32         fill        9x20x40    f32 rel=1e-2   balanced
fill-3d-f64-fast    fill        9x20x40    f64 rel=1e-2   fast
hostile-abs-f32     hostile     25x30      f32 abs=1e-2   balanced
hostile-abs-f64     hostile     300        f64 abs=1e10   fast
hostile-pwrel-f32   hostile     7x10x10    f32 pwrel=1e-1 balanced
hostile-pwrel-f64   hostile     450        f64 pwrel=1e-1 fast
hostile-exact-f32   hostile     8x90       f32 lossless   balanced
hostile-exact-f64   hostile     400        f64 lossless   fast
exact-bits-f32      orbitals    17x20      f32 lossless   balanced
exact-bits-f64      turbulence  10x40      f64 lossless   balanced
exact-table-f32     terrain     30x40      f32 lossless   balanced
exact-table-f64     steps       40x50      f64 lossless   fast
raw-f32             noise       500        f32 abs=1e-12  balanced
raw-f64             noise       15x20      f64 lossless   fast
narrow-f32          noise       40x50      f32 rel=1e-1   balanced
wide-f32            noise       600        f32 abs=1e-5   balanced
wide-f64            noise       400        f64 abs=1e-12  balanced
steps-f32           steps       20x20x40   f32 rel=1e-2   balanced
steps-f64-fast      steps       64x256     f64 rel=1e-2   fast
constant-f32        constant    7x9        f32 rel=1e-3   balanced
constant-f64        constant    30x40x50   f64 abs=1e-3   fast
one-f32             turbulence  1x1        f32 abs=1e-3   balanced
one-f64             turbulence  1          f64 abs=1e-3   fast
'
# Codec zfp, files of version 1: fixed accuracy, reversible, and as they are.
cases_v1+='
zfp-abs-1d-f32      turbulence  700        f32 abs=1e-2   balanced --codec zfp
zfp-abs-1d-f64      ramp        300        f64 abs=1e-6   balanced --codec zfp
zfp-rel-2d-f32      weather     37x50      f32 rel=1e-3   balanced --codec zfp
zfp-rel-2d-f64      turbulence  22x31      f64 rel=1e-4   balanced --codec zfp
zfp-rel-3d-f32      turbulence  10x13x22   f32 rel=1e-3   balanced --codec zfp
zfp-rel-3d-f64      weather     5x9x17     f64 rel=1e-3   balanced --codec zfp
zfp-rel-4d-f32      turbulence  5x4x6x9    f32 rel=1e-3   balanced --codec zfp
zfp-rel-4d-f64      weather     3x5x6x7    f64 rel=1e-2   balanced --codec zfp
zfp-psnr-3d-f32     turbulence  8x9x10     f32 psnr=50    balanced --codec zfp
zfp-hostile-f32     hostile     20x25      f32 abs=1e-2   balanced --codec zfp
zfp-hostile-f64     hostile     7x8x9      f64 abs=1e10   balanced --codec zfp
zfp-patterns-f32    patterns    33668      f32 abs=1e-2   balanced --codec zfp --fill none
zfp-fill-3d-f32     fill        9x10x20    f32 rel=1e-2   balanced --codec zfp
zfp-exact-1d-f32    turbulence  300        f32 lossless   balanced --codec zfp
zfp-exact-2d-f64    turbulence  17x18      f64 lossless   balanced --codec zfp
zfp-exact-3d-f32    hostile     6x7x9      f32 lossless   balanced --codec zfp
zfp-exact-3d-f64    steps       9x9x9      f64 lossless   balanced --codec zfp
zfp-exact-4d-f32    weather     3x4x5x6    f32 lossless   balanced --codec zfp
zfp-exact-zeros-f32 terrain     20x30      f32 lossless   balanced --codec zfp
zfp-chunks-f32      mixing      12x14x20   f32 rel=1e-2   balanced --codec zfp --chunk 5x9x20
zfp-raw-f64         noise       201        f64 lossless   balanced --codec zfp
zfp-one-f32         turbulence  1x1        f32 abs=1e-3   balanced --codec zfp
'
# Version 2 has integers.
cases_v2='
bits-i32            hostile     25x30      i32 lossless   balanced
bits-i64            hostile     300        i64 lossless   fast
table-i32           steps       40x50      i32 lossless   balanced
table-i64           steps       40x50      i64 lossless   fast
whole-i32           turbulence  18x20x40   i32 abs=20     balanced
whole-i64-fast      turbulence  3x4x17x33  i64 abs=30000  fast
ends-i32            ends        130        i32 abs=3      balanced --fill none
wide-step-i64       hostile     15x20      i64 abs=1e17   fast
rel-i64             lognormal   17x40      i64 rel=1e-2   balanced
psnr-i32-fast       weather     5x18x35    i32 psnr=50    fast
fill-i32            fill        9x20x40    i32 rel=1e-2   balanced
exact-abs-i32       noise       500        i32 abs=0.5    fast
chunks-i64          mixing      12x14x20   i64 rel=1e-2   balanced --chunk 5x9x20 --attr units=1
constant-i32        constant    7x9        i32 rel=1e-3   fast
one-i64             turbulence  1          i64 abs=1      balanced
interp-exact-i32       weather     9x25x30    i32 lossless   balanced --codec interp
interp-abs-i64         turbulence  16x18x31   i64 abs=30000  balanced --codec interp
interp-fill-i32        fill        9x20x40    i32 rel=1e-2   balanced --codec interp
interp-raw-i32         hostile     9x20       i32 lossless   balanced --codec interp
interp-raw-i64         noise       9x20       i64 abs=3      balanced --codec interp
interp-ends-i32        ends        130        i32 abs=3      balanced --codec interp --fill none
wavelet-exact-i32      weather     9x25x30    i32 lossless   balanced --codec wavelet
wavelet-abs-i64        turbulence  16x18x31   i64 abs=30000  balanced --codec wavelet
wavelet-fill-i32       fill        9x20x40    i32 rel=1e-2   balanced --codec wavelet
wavelet-raw-i64        hostile     9x20       i64 abs=3      balanced --codec wavelet
zfp-exact-1d-i32    turbulence  300        i32 lossless   balanced --codec zfp
zfp-exact-2d-i64    weather     17x18      i64 lossless   balanced --codec zfp
zfp-exact-3d-i32    hostile     7x8x9      i32 lossless   balanced --codec zfp
zfp-exact-4d-i64    hostile     3x4x5x6    i64 lossless   balanced --codec zfp
zfp-abs-2d-i32      ends        10x13      i32 abs=300    balanced --codec zfp --fill none
zfp-rel-3d-i32      turbulence  10x13x22   i32 rel=1e-2   balanced --codec zfp
zfp-rel-4d-i64      weather     3x5x6x7    i64 rel=1e-2   balanced --codec zfp
zfp-fill-i32        fill        9x10x20    i32 rel=1e-2   balanced --codec zfp
'
# Version 3 has rate and prec.
cases_v3='
rate-1d-f32         turbulence  701        f32 rate=7     balanced --codec zfp
rate-2d-f64         weather     22x31      f64 rate=9.3   balanced --codec zfp
rate-3d-f32         turbulence  10x13x22   f32 rate=4     balanced --codec zfp
rate-4d-f64         turbulence  3x5x6x7    f64 rate=6     balanced --codec zfp
rate-1d-i64         turbulence  300        i64 rate=12    balanced --codec zfp
rate-2d-i32         weather     22x31      i32 rate=8     balanced --codec zfp
rate-3d-i64         turbulence  7x8x9      i64 rate=20    balanced --codec zfp
rate-4d-i32         turbulence  3x5x6x7    i32 rate=5     balanced --codec zfp
rate-least-f32      turbulence  6x7x9      f32 rate=1e-3  balanced --codec zfp
rate-least-f64      turbulence  10x10      f64 rate=1e-3  balanced --codec zfp
rate-exact-f32      turbulence  30x31      f32 rate=60    balanced --codec zfp
rate-hostile-f32    hostile     20x25      f32 rate=8     balanced --codec zfp
rate-hostile-f64    hostile     7x8x9      f64 rate=16    balanced --codec zfp
rate-fill-f32       fill        9x10x20    f32 rate=6     balanced --codec zfp
rate-fill-i32       fill        9x10x20    i32 rate=6     balanced --codec zfp
rate-chunks-f32     mixing      12x14x20   f32 rate=3     balanced --codec zfp --chunk 5x9x20
prec-1d-f64         turbulence  300        f64 prec=20    balanced --codec zfp
prec-2d-f32         weather     37x50      f32 prec=12    balanced --codec zfp
prec-3d-f64         turbulence  7x8x9      f64 prec=30    balanced --codec zfp
prec-4d-f32         turbulence  5x4x6x9    f32 prec=14    balanced --codec zfp
prec-1d-i32         turbulence  300        i32 prec=26    balanced --codec zfp
prec-2d-i64         weather     17x18      i64 prec=55    balanced --codec zfp
prec-3d-i32         turbulence  7x8x9      i32 prec=24    balanced --codec zfp
prec-4d-i64         hostile     3x4x5x6    i64 prec=40    balanced --codec zfp
prec-least-f32      turbulence  10x10      f32 prec=1     balanced --codec zfp
prec-all-f32        turbulence  10x10      f32 prec=64    balanced --codec zfp
prec-hostile-f32    hostile     6x7x9      f32 prec=32    balanced --codec zfp
interp-1d-f32       turbulence  3000       f32 rel=1e-4   balanced --codec interp
interp-1d-f64       spikes      700        f64 abs=1e-2   balanced --codec interp
interp-2d-f32       weather     41x70      f32 rel=1e-3   balanced --codec interp
interp-2d-f64       weather     30x33      f64 rel=1e-2   fast     --codec interp
interp-3d-f32       turbulence  20x24x31   f32 rel=1e-2   balanced --codec interp
interp-3d-f64       turbulence  9x17x18    f64 abs=1e-4   balanced --codec interp
interp-4d-f32       turbulence  6x7x9x10   f32 rel=1e-2   balanced --codec interp
interp-stack-f32    weather     6x40x50    f32 rel=1e-3   balanced --codec interp
interp-smooth-f32   mixing      33x34x35   f32 rel=1e-1   balanced --codec interp
interp-fill-f32     fill        9x30x40    f32 rel=1e-2   balanced --codec interp
interp-hostile-f32  hostile     9x10x20    f32 abs=1e-2   balanced --codec interp
interp-hostile-f64  hostile     30x31      f64 abs=1e-2   balanced --codec interp
interp-pwrel-f32    turbulence  12x13x14   f32 pwrel=1e-2 balanced --codec interp
interp-pwrel-f64    spikes      20x25      f64 pwrel=1e-3 balanced --codec interp
interp-psnr-f32     turbulence  10x20x30   f32 psnr=60    balanced --codec interp
interp-exact-f32    constant    12x40      f32 lossless   balanced --codec interp
interp-raw-f64      noise       6x7        f64 lossless   balanced --codec interp
interp-one-f32      turbulence  1          f32 abs=1e-2   balanced --codec interp
interp-chunks-f32   mixing      12x14x20   f32 rel=1e-3   balanced --codec interp --chunk 5x9x20
interp-checks-f32   turbulence  13x22x41   f32 rel=1e-3   balanced --codec interp
interp-checks-f64   mixing      20x31      f64 rel=1e-4   best     --codec interp
wavelet-1d-f32      turbulence  3000       f32 rel=1e-4   balanced --codec wavelet
wavelet-1d-f64      spikes      700        f64 abs=1e-2   balanced --codec wavelet
wavelet-2d-f32      weather     41x70      f32 rel=1e-3   balanced --codec wavelet
wavelet-2d-f64      weather     30x33      f64 rel=1e-2   fast     --codec wavelet
wavelet-3d-f32      turbulence  12x13x17   f32 rel=1e-2   balanced --codec wavelet
wavelet-3d-f64      turbulence  9x17x18    f64 abs=1e-4   balanced --codec wavelet
wavelet-4d-f32      turbulence  5x6x7x8    f32 rel=1e-2   balanced --codec wavelet
wavelet-stack-f32   weather     6x20x25    f32 rel=1e-3   balanced --codec wavelet
wavelet-fine-f32    mixing      12x13x14   f32 rel=1e-6   balanced --codec wavelet
wavelet-fill-f32    fill        5x15x25    f32 rel=1e-2   balanced --codec wavelet
wavelet-mask-f32    fill        8x14x20    f32 rel=1e-2   balanced --codec wavelet
wavelet-hostile-f32 hostile     9x10x20    f32 abs=1e-2   balanced --codec wavelet
wavelet-hostile-f64 hostile     30x31      f64 abs=1e-2   balanced --codec wavelet
wavelet-pwrel-f32   turbulence  12x13x14   f32 pwrel=1e-2 balanced --codec wavelet
wavelet-pwrel-f64   spikes      20x25      f64 pwrel=1e-3 balanced --codec wavelet
wavelet-psnr-f32    turbulence  9x10x15    f32 psnr=60    balanced --codec wavelet
wavelet-exact-f32   constant    12x40      f32 rel=1e-3   balanced --codec wavelet
wavelet-raw-f64     noise       6x7        f64 abs=1e-30  balanced --codec wavelet
wavelet-one-f32     turbulence  1          f32 abs=1e-2   balanced --codec wavelet
wavelet-chunks-f32  mixing      12x14x20   f32 rel=1e-3   balanced --codec wavelet --chunk 5x9x20
wavelet-short-f32   mixing      16x36x40   f32 rel=1e-2   balanced --codec wavelet
wavelet-checks-f32  turbulence  13x22x41   f32 rel=1e-3   balanced --codec wavelet
wavelet-checks-f64  weather     6x20x25    f64 rel=1e-3   fast     --codec wavelet
wavelet-even-f32    turbulence  40x41x42   f32 rel=1e-3   balanced --codec wavelet
wavelet-even-f64    weather     40x45x37   f64 rel=1e-4   balanced --codec wavelet
interp-lifted-f32   lognormal   24x30x41   f32 rel=1e-2   balanced --codec interp
interp-lifted-f64   turbulence  14x22x41   f64 rel=1e-5   best     --codec interp
wavelet-lifted-f32  orbitals    18x30x40   f32 rel=1e-3   balanced --codec wavelet
wavelet-lifted-f64  mixing      60x50      f64 rel=1e-5   best     --codec wavelet
interp-narrow-f32   mixing      41x37x12   f32 rel=1e-3   balanced --codec interp
wavelet-narrow-f32  turbulence  50x43x6    f32 rel=1e-3   balanced --codec wavelet
interp-turned-f32   mixing      41x37x12   f32 rel=1e-3   balanced --codec interp
interp-turned-f64   turbulence  20x61x5x3  f64 rel=1e-4   best     --codec interp --chunk 20x23x5x3
wavelet-turned-f32  turbulence  50x43x6    f32 rel=1e-3   balanced --codec wavelet
wavelet-turned-f64  weather     300x7      f64 rel=1e-4   best     --codec wavelet --chunk 120x7
wavelet-turned-4d   mixing      4x9x14x3   f32 rel=1e-2   balanced --codec wavelet
interp-turned-flat  constant    40x9       f32 rel=1e-3   balanced --codec interp
wavelet-turned-raw  noise       40x3       f64 abs=1e-30  balanced --codec wavelet
wavelet-97-f32      orbitals    16x17x20   f32 rel=1e-2   best     --codec wavelet
wavelet-97-f64      spikes      70x60      f64 rel=1e-6   best     --codec wavelet
wavelet-dd44-f32    terrain     70x60      f32 rel=1e-2   best     --codec wavelet
wavelet-dd44-f64    spikes      12x20x25   f64 rel=1e-2   best     --codec wavelet
wavelet-dd84-f32    weather     70x60      f32 rel=1e-3   best     --codec wavelet
wavelet-dd84-f64    turbulence  70x60      f64 rel=1e-2   best     --codec wavelet
wavelet-53-f64      ramp        12x20x25   f64 rel=1e-6   best     --codec wavelet
wavelet-whole-f32   turbulence  120x24x24  f32 rel=1e-2   balanced --codec wavelet
wavelet-bands-f32   turbulence  120x24x24  f32 rel=1e-2   balanced --codec wavelet
wavelet-bands-f64   terrain     50x11x11x11 f64 rel=3e-2  balanced --codec wavelet
'
# Version 4 has ratio, and preset best.
cases_v4='
ratio-3d-f32        turbulence  18x20x40   f32 ratio=6    balanced
ratio-2d-f64-fast   weather     40x50      f64 ratio=5    fast
ratio-3d-i32        turbulence  12x13x14   i32 ratio=2    balanced --codec zfp
ratio-exact-f32     constant    12x40      f32 ratio=3    balanced
best-auto-f32       mixing      20x31x32   f32 rel=1e-2   best
best-planes-f64     turbulence  9x30x33    f64 rel=1e-3   best     --codec interp
best-ratio-f32      turbulence  20x24x31   f32 ratio=8    best     --codec interp
best-lorenzo-f32    steps       3000       f32 abs=1e-3   best
'
case "$(basename "$folder")" in
v1) cases=$cases_v1 empty='empty-f32 <f4 rel=1e-3' ;;
v2) cases=$cases_v2 empty='empty-i64 <i8 rel=1e-3' ;;
v3) cases=$cases_v3 empty='rate-empty-f64 <f8 rate=8 --codec zfp' ;;
v4) cases=$cases_v4 empty='ratio-empty-f32 <f4 ratio=3' ;;
*) echo "make.sh: there is no format version ${folder##*/v}" >&2 && exit 2 ;;
esac
mkdir -p "$folder"
while read -r name kind shape dtype bound preset more; do
    { [ -n "$name" ] && [ ! -e "$folder/$name.floe" ]; } || continue
    # shellcheck disable=SC2086 # more is words
    {
        case "$kind" in
        ramp-nan) ramp_nan >"$scratch/field" ;;
        patterns) patterns "$bound" >"$scratch/field" ;;
        ends) ends >"$scratch/field" ;;
        *) "$floe" fields "$kind" --shape "$shape" --dtype "$dtype" -o "$scratch/field" --force --quiet ;;
        esac
        "$floe" compress "$scratch/field" -o "$folder/$name.floe" --shape "$shape" --dtype "$dtype" --bound "$bound" \
            --preset "$preset" $more --quiet
        "$floe" verify "$folder/$name.floe" --against "$scratch/field" --quiet
        "$floe" decompress "$folder/$name.floe" -o "$scratch/$name.raw" --quiet
    }
    (cd "$scratch" && sha256sum "$name.raw") >>"$folder/SHA256SUMS"
done <<<"$cases"
read -r name dtype bound more <<<"$empty"
[ ! -e "$folder/$name.floe" ] || exit 0
empty "$dtype" >"$scratch/empty.npy"
# shellcheck disable=SC2086 # more is words
"$floe" compress "$scratch/empty.npy" -o "$folder/$name.floe" --bound "$bound" $more --quiet
(cd "$scratch" && : >"$name.raw" && sha256sum "$name.raw") >>"$folder/SHA256SUMS"
