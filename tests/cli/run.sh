#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/cli/run.sh FLOE [CASE...]            runs the cases and compares what they say with cases/CASE.expected
# tests/cli/run.sh --update FLOE [CASE...]   writes what they say instead: read the diff before you commit it
# A case is cases/CASE.sh: run in an empty folder, with the functions of lib.sh. It exits with 77 where a program that it needs is
# missing; so does this script where every case does.
set -u
here=$(cd "$(dirname "$0")" && pwd)
update=no
if [ "${1:-}" = --update ]; then
    update=yes
    shift
fi
if [ $# -lt 1 ] || [ ! -x "$1" ]; then
    echo "usage: tests/cli/run.sh [--update] FLOE [CASE...]" >&2
    exit 2
fi
FLOE=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
export FLOE LC_ALL=C
shift
# shellcheck disable=SC2046 # names without blanks
[ $# -gt 0 ] || set -- $(cd "$here/cases" && ls ./*.sh | sed 's|^\./||; s|\.sh$||')

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0 skipped=0
for name in "$@"; do
    mkdir -p "$scratch/$name/tmp"
    said=$scratch/$name.said
    (
        cd "$scratch/$name" || exit 1
        export TMPDIR=$scratch/$name/tmp
        . "$here/lib.sh"
        # shellcheck disable=SC1090
        . "$here/cases/$name.sh"
    ) >"$said" 2>&1
    if [ $? = 77 ]; then
        skipped=$((skipped + 1))
        echo "SKIPPED $name"
    elif [ "$update" = yes ]; then
        cp "$said" "$here/cases/$name.expected"
    elif ! diff -u --label "$name.expected" --label "$name" "$here/cases/$name.expected" "$said"; then
        failed=$((failed + 1))
        echo "FAILED $name"
    fi
    rm -rf "${scratch:?}/$name"
done
[ $skipped != $# ] || exit 77
[ $failed = 0 ] && echo "cli: $(($# - skipped)) cases passed" || echo "cli: $failed of $# cases failed"
[ $failed = 0 ]
