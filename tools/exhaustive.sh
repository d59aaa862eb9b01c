#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tools/exhaustive.sh BUILD   every test that can go through all 2^32 f32 patterns does (ctest runs a sample of them).
set -euo pipefail
mapfile -t programs < <(find "$1" -type f -perm -u+x -name 'exhaustive*_test' | sort)
[ ${#programs[@]} -gt 0 ] || { echo "exhaustive: no such test was built" >&2 && exit 1; }
for program in "${programs[@]}"; do
    FLOE_EXHAUSTIVE=1 "$program"
done
