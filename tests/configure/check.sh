#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# check.sh   what configuring chooses: the default build is library and command, the GPU backend has a reason where it is missing,
# a project that includes floe gets no tests, and a missing oracle fails where oracles are required.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() {
    echo "configure: $1"
    failed=1
}
configure() { # OPTION...: its output is in $scratch/log
    cmake -S "$root" -B "$scratch/build" -G Ninja "$@" >"$scratch/log" 2>&1
}
compiles() { ninja -C "$scratch/build" -t commands "$1" | grep -E "$2" >/dev/null; }

configure -DFLOE_CUDA=AUTO || { cat "$scratch/log" && exit 1; }
grep -qE 'GPU backend \(CUDA\): (yes|no: [a-z].*)' "$scratch/log" || fail "the summary does not say why there is no GPU backend"
compiles all 'cli/main\.c' || fail "the default build has no command"
! compiles all '_(test|fuzz)\.c|bench/[a-z_]*\.c' || fail "the default build compiles tests or benches"
compiles check_programs '_test\.c' || fail "check_programs compiles no tests"
compiles benches '_bench\.c' || fail "benches compiles no benches"
rm -rf "$scratch/build"
! CUDACXX=/nowhere/nvcc configure -DFLOE_CUDA=ON || fail "FLOE_CUDA=ON goes on without nvcc"
grep -q 'FLOE_CUDA is ON, but there is no nvcc' "$scratch/log" || fail "what FLOE_CUDA=ON lacks is not named"
rm -rf "$scratch/build"
! configure -DFLOE_CUDA=OFF -DFLOE_REQUIRE_ORACLES=ON -DFLOE_SCRIPT= || fail "a missing oracle is let pass"
grep -q 'script' "$scratch/log" || fail "the missing oracle is not named"

mkdir "$scratch/project"
cat >"$scratch/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(stranger LANGUAGES C)
add_subdirectory($root floe)
if(NOT TARGET floe::floe)
  message(FATAL_ERROR "no library")
elseif(TARGET check_programs OR TARGET metrics_page)
  message(FATAL_ERROR "tests in a project that includes floe")
endif()
END
cmake -S "$scratch/project" -B "$scratch/sub" -G Ninja -DFLOE_CUDA=OFF >"$scratch/log" 2>&1 || fail "$(tail -n 9 "$scratch/log")"
[ $failed = 0 ] && echo "configure: every choice is as documented"
exit $failed
