#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/golden/check.sh FLOE [BACKEND]   decodes every golden file of every format version, by cpu or cuda, and compares with SHA256SUMS.
set -uo pipefail
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: check.sh FLOE [BACKEND]" >&2 && exit 2; }
floe=$1 backend=${2:-cpu} failed=0 checked=0
cd "$(dirname "$0")" || exit
for file in v*/*.floe; do
    name=$(basename "$file" .floe)
    want=$(sed -n "s/  $name\.raw\$//p" "$(dirname "$file")/SHA256SUMS")
    got=$("$floe" decompress "$file" --backend "$backend" -o - --quiet | sha256sum | cut -d' ' -f1)
    checked=$((checked + 1))
    if [ -z "$want" ] || [ "$want" != "$got" ]; then
        echo "golden: $file decodes to $got, not to '$want'"
        failed=1
    fi
done
listed=$(cat v*/SHA256SUMS | wc -l)
[ "$checked" = "$listed" ] || { echo "golden: $checked files, $listed checksums" && failed=1; }
echo "golden: $checked files"
exit $failed
