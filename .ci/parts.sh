# SPDX-License-Identifier: BSD-3-Clause
# What .ci/run and .ci/nightly share: parts, each with its output in a log, and the sum of them.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
logs=${CI_LOGS:-build-ci}
mkdir -p "$logs"
passed=0 failed=0
started=$SECONDS

# part NAME COMMAND...: runs it with its output in a log; a part that runs ctest counts by its tests, any other as one.
part() {
    local begin=$SECONDS rc
    set +e # a condition around the part would switch its own set -e off
    (set -e && "${@:2}") >"$logs/$1.log" 2>&1
    rc=$?
    set -e
    count "$1" $rc $begin
}

# beside NAME COMMAND...: a part that keeps one processor busy, beside those that follow; join NAME waits for it.
declare -A beside begun
beside() {
    begun[$1]=$SECONDS
    (set -e && "${@:2}") >"$logs/$1.log" 2>&1 &
    beside[$1]=$!
}
join() {
    local rc=0
    wait "${beside[$1]}" || rc=$?
    count "$1" $rc "${begun[$1]}"
}

count() { # NAME EXIT-CODE BEGIN
    local name=$1 log=$logs/$1.log rc=$2 begin=$3 line ok=0 bad=0
    # "98% tests passed, 1 tests failed out of 50"
    while read -r line; do
        bad=$((bad + $(echo "$line" | sed -E 's/.*, ([0-9]+) tests failed.*/\1/')))
        ok=$((ok + $(echo "$line" | sed -E 's/.* out of ([0-9]+).*/\1/') - $(echo "$line" | sed -E 's/.*, ([0-9]+) tests failed.*/\1/')))
    done < <(grep -E '^[0-9]+% tests passed' "$log" || true)
    if [ $rc = 0 ] && [ $((ok + bad)) = 0 ]; then ok=1; fi
    if [ $rc != 0 ] && [ $bad = 0 ]; then bad=1; fi
    passed=$((passed + ok)) failed=$((failed + bad))
    if [ $bad = 0 ]; then
        printf 'ok     %-14s %4d passed             %4d s\n' "$name" $ok $((SECONDS - begin))
    else
        printf 'FAILED %-14s %4d passed, %4d failed %4d s   the end of %s:\n' "$name" $ok $bad $((SECONDS - begin)) "$log"
        tail -n 60 "$log" | sed 's/^/    /'
    fi
}

sum_up() {
    echo "all parts took $(((SECONDS - started) / 60)) min $(((SECONDS - started) % 60)) s"
    echo "$passed passed, $failed failed"
    [ $failed = 0 ]
}

# build PRESET TARGET...: configures with warnings as errors, and builds. Of what .ci/nightly says (tests) nothing stays.
build() {
    local preset=$1
    shift
    cmake --preset "$preset" -DFLOE_WERROR=ON '-UFLOE_TEST_*' "${tests[@]}"
    cmake --build --preset "$preset" --target "$@"
}

# check PRESET CTEST-OPTION...
check() {
    local preset=$1
    shift
    ctest --preset "$preset" -j "$(nproc)" "$@"
}

# Kernels are compiled here and run elsewhere: how fast they are does not matter. In a folder of their own: what is tested is
# the library that is built without a GPU.
kernels() { # TARGET...
    local quick=
    case $(nvcc --help 2>/dev/null || true) in *--Ofast-compile*) quick="-DCMAKE_CUDA_FLAGS=--Ofast-compile=max --compress-mode=none" ;; esac
    cmake --preset release -B build-cuda -DFLOE_CUDA=ON -DFLOE_WERROR=ON ${quick:+"$quick"}
    cmake --build build-cuda --target "$@"
}

command -v make >/dev/null || {
    [ "$(id -u)" = 0 ] && apt-get -qq update && apt-get -qq install -y --no-install-recommends make >/dev/null
}
