#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# check.sh BUILD CC CXX   installs BUILD into a scratch folder, moves that folder, and builds the consumer against it: by
# pkg-config and by find_package, as C11 and C++17, static and shared. Then the example that needs nothing but floe, in the way
# that it names, each public header alone, and the pages that the README leads to. CXX may be "none".
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 cc=$2 cxx=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
strict=(-Wall -Wextra -Werror -pedantic-errors)

cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/moved" # an installed tree can be moved
root=$scratch/moved
lib=$(dirname "$(find "$root" -name libfloe.a)")
fail() {
    echo "consumer: $1" >&2
    exit 1
}

runs() { # program
    [ "$(LD_LIBRARY_PATH=$lib "$1")" = "floe $(sed -n 's/^Version: //p' "$lib/pkgconfig/floe.pc")" ] || fail "$1 does not run"
}

languages=("$cc -std=c11 -x c $here/consumer.c")
[ "$cxx" = none ] || languages+=("$cxx -std=c++17 -x c++ $here/consumer.cpp")

if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$lib/pkgconfig
    for language in "${languages[@]}"; do
        # shellcheck disable=SC2046,SC2086 # words are wanted
        $language -x none "${strict[@]}" $(pkg-config --cflags floe) -o "$scratch/shared" $(pkg-config --libs floe) -lm
        runs "$scratch/shared"
        # shellcheck disable=SC2046,SC2086
        $language -x none "${strict[@]}" $(pkg-config --cflags floe) -o "$scratch/static" \
            $(pkg-config --static --libs floe | sed 's/-lfloe/-l:libfloe.a/')
        runs "$scratch/static"
    done
    # shellcheck disable=SC2046
    "$cc" -std=c11 "${strict[@]}" "$here/../../examples/snapshots/snapshots.c" $(pkg-config --cflags --libs floe) -o "$scratch/snapshots"
    LD_LIBRARY_PATH=$lib "$scratch/snapshots" "$scratch" >"$scratch/log" || { cat "$scratch/log" && fail "the example does not run"; }
else
    echo "consumer: no pkg-config here: only find_package is tried"
fi

if [ "$cxx" != none ]; then
    for shared in OFF ON; do
        cmake -S "$here" -B "$scratch/$shared" -DCMAKE_PREFIX_PATH="$root" -DBUILD_SHARED_LIBS=$shared \
            -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >"$scratch/log" || { cat "$scratch/log" && exit 1; }
        cmake --build "$scratch/$shared" >"$scratch/log" || { cat "$scratch/log" && exit 1; }
        runs "$scratch/$shared/consumer_c"
        runs "$scratch/$shared/consumer_cpp"
    done
fi

for header in "$root"/include/floe/*.h; do
    printf "#include <floe/%s>\nextern int alone;\n" "${header##*/}" >"$scratch/alone.c"
    "$cc" -std=c11 "${strict[@]}" -Wconversion -fsyntax-only -I"$root/include" "$scratch/alone.c"
    [ "$cxx" = none ] || "$cxx" -std=c++17 -x c++ "${strict[@]}" -Wconversion -Wold-style-cast -fsyntax-only -I"$root/include" "$scratch/alone.c"
done

doc=$root/share/doc/floe
[ -e "$doc/README.md" ] || fail "no README is installed"
while read -r page; do
    [ -e "$doc/$page" ] || fail "the installed README leads to $page, which is not there"
done < <(grep -oE '\]\([^):#]+' "$doc/README.md" | sed 's/](//')

if [ -x "$root/bin/floe" ]; then
    "$root/bin/floe" --version | grep -q floe || fail "the installed command does not run"
fi

# The GPU backend, where it is a library of its own: installed beside libfloe.so, and found from where the tree was moved to.
if [ -e "$build/libfloe_cuda.so" ]; then
    [ -e "$lib/libfloe_cuda.so" ] || fail "no GPU backend is installed"
    [ "$(sed -n 's/^cuda_library=//p' "$lib/pkgconfig/floe.pc")" = libfloe_cuda.so ] || fail "floe.pc names no GPU backend"
    [ ! -x "$root/bin/floe" ] || "$root/bin/floe" version --verbose | grep -q "^GPU backend: $root/.*/libfloe_cuda.so" ||
        fail "the installed command finds no GPU backend"
fi
echo "consumer: installed, moved, and used in ${#languages[@]} languages"
