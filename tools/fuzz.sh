#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/fuzz.sh SECONDS [BUILD]   fuzzes every target of BUILD, by default of the fuzz preset, SECONDS in all, on all processors. What it
# learns stays in BUILD/corpus/; a finding is left in BUILD/findings/ and its path printed. Seeds: tests/fuzz/seeds/TARGET/ where there are
# any, and small streams made by the command.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
build=${2:-build-fuzz}
[ -f "$build/build.ninja" ] || cmake --preset fuzz -B "$build" >/dev/null
cmake --build "$build" --target fuzzers floe_command
mapfile -t targets < <(find "$build/fuzz" -maxdepth 1 -type f -perm -u+x -name '*_fuzz' | sort)
[ ${#targets[@]} -gt 0 ] || { echo "fuzz: no targets were built" >&2 && exit 1; }

# Seeds: a byte that says how (repair checksums, and what else the targets make of it), then a small stream.
seeds=$build/seeds
mkdir -p "$seeds" "$build/findings"
if [ -z "$(ls "$seeds")" ]; then
    n=0
    for shape in 300 20x30 9x17x33 2x5x17x20; do
        for field in turbulence hostile steps; do
            for dtype in f32 f64; do
                "$build/floe" fields $field --shape $shape --dtype $dtype -o "$seeds/raw" --force --quiet
                for how in "rel=1e-3 --preset fast" rel=1e-3 pwrel=1e-2 lossless "rel=1e-3 --codec interp" \
                    "pwrel=1e-2 --codec interp --preset best" "rel=1e-3 --codec wavelet --preset best"; do
                    # shellcheck disable=SC2086 # how is words
                    "$build/floe" compress "$seeds/raw" -o "$seeds/floe" --shape $shape --dtype $dtype --bound $how --quiet --force
                    n=$((n + 1))
                    { printf '%b' "\\x0$(printf %x $((n % 8 * 2 + 1)))" && cat "$seeds/floe"; } >"$seeds/$n"
                done
            done
        done
    done
    # Codec zfp in all its modes, and index files of bare streams.
    for shape in 300 20x30 9x11x13 2x5x7x9; do
        for dtype in f32 f64 i32 i64; do
            "$build/floe" fields fill --shape $shape --dtype $dtype -o "$seeds/raw" --force --quiet
            for bound in rel=1e-2 lossless rate=5 prec=9; do
                "$build/floe" compress "$seeds/raw" -o "$seeds/floe" --shape $shape --dtype $dtype \
                    --bound $bound --codec zfp --quiet --force
                n=$((n + 1))
                { printf '%b' "\\x0$(printf %x $((n % 8 * 2 + 1)))" && cat "$seeds/floe"; } >"$seeds/$n"
            done
            for form in offsets lengths hybrid packed; do
                "$build/floe" compress "$seeds/raw" -o "$seeds/floe" --shape $shape --dtype $dtype --bound prec=9 \
                    --raw-zfp --index "$seeds/zfpx" --form $form --quiet --force
                n=$((n + 1))
                { printf '\001' && cat "$seeds/zfpx"; } >"$seeds/$n"
            done
        done
    done
    rm -f "$seeds/raw" "$seeds/floe" "$seeds/zfpx"
fi

each=$(((seconds + ${#targets[@]} - 1) / ${#targets[@]}))
export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=allocator_may_return_null=1
export build seeds each
one() { # target
    local name=${1##*/} corpus inputs
    corpus=$build/corpus/$name
    mkdir -p "$corpus"
    inputs=("$corpus")
    [ ! -d "tests/fuzz/seeds/$name" ] || inputs+=("tests/fuzz/seeds/$name")
    inputs+=("$seeds")
    if "$1" -max_total_time="$each" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
        -verbosity=1 -artifact_prefix="$build/findings/$name-" "${inputs[@]}" >"$build/$name.log" 2>&1; then
        echo "fuzz: $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log") inputs in ${each} s, no finding"
    else
        tail -n 40 "$build/$name.log"
        echo "fuzz: $name: FAILED, see $build/findings/"
        return 1
    fi
}
export -f one
printf '%s\0' "${targets[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'one "$1"' one

# Random fields and assessments, from number FUZZ_FIRST on; where there is time for it, damaged streams by every way through a GPU.
cmake --build "$build" --target differential_test assess_random_test
export FLOE_FIRST=${FUZZ_FIRST:-1000000} FLOE_FUZZ_SEED=${FUZZ_FIRST:-1000000}
FLOE_FIELDS=$((seconds * 10)) "$build/tests/differential_test" &
fields=$!
FLOE_FUZZ_CASES=$((seconds * 2)) "$build/tests/assess_random_test" || { wait $fields; exit 1; }
wait $fields
if [ "$seconds" -ge 600 ]; then
    cmake --preset emulated
    cmake --build --preset emulated --target differential_gpu_test assess_random_gpu_test
    FLOE_MUTATIONS=$((seconds * 10)) FLOE_FIELDS=$seconds build-emulated/tests/differential_gpu_test
    FLOE_FUZZ_CASES=$seconds build-emulated/tests/assess_random_gpu_test
fi
