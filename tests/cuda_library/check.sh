#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# check.sh BUILD CC FLOE   the GPU backend as a library of its own: where it is found, what is said where it is not there or does not fit,
# and that work on the CPU does without. The command has libfloe.a, so what holds for it holds for all programs that do.
set -euo pipefail
build=$(cd "$1" && pwd) cc=$2 floe=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset FLOE_CUDA_LIBRARY LD_LIBRARY_PATH
failed=0
fail() {
    echo "cuda_library: $1"
    failed=1
}
says() { # title, pattern, command...: what the command says of the GPU backend
    local title=$1 pattern=$2
    shift 2
    "$@" version --verbose | grep -E '^GPU backend: ' >said || fail "$title: no such line"
    grep -qE "^GPU backend: $pattern\$" said || fail "$title: $(cat said)"
}

mkdir -p alone beside tree/bin tree/lib
for folder in alone beside tree/bin; do cp "$floe" $folder/floe; done
cp "$build/libfloe_cuda.so" beside/
cp "$build/libfloe_cuda.so" tree/lib/
says "no library" 'there is no GPU backend: libfloe_cuda\.so: .*' alone/floe
says "beside the program" "$scratch/beside/libfloe_cuda\.so" beside/floe
says "by another name of the program" "$scratch/beside/libfloe_cuda\.so" bash -c 'exec -a /nowhere/floe beside/floe "$@"' -
if [ "$(sed -n 's/^CMAKE_INSTALL_LIBDIR:PATH=//p' "$build/CMakeCache.txt")" = lib ]; then
    says "in the folder for libraries" "$scratch/tree/bin/\.\./lib/libfloe_cuda\.so" tree/bin/floe
fi
says "where the environment says" "$scratch/beside/libfloe_cuda\.so" env FLOE_CUDA_LIBRARY="$scratch/beside/libfloe_cuda.so" tree/bin/floe
says "not where the environment says" 'there is no GPU backend: /nowhere/.*' env FLOE_CUDA_LIBRARY=/nowhere/libfloe_cuda.so beside/floe
says "where the loader looks" "$scratch/beside/libfloe_cuda\.so" env LD_LIBRARY_PATH="$scratch/beside" alone/floe

# What is there and does not fit is named, and nothing else is looked for.
echo 'const char floe_cuda_library_id[] = "0.0.1 00000000"; const int floe_cuda_library_entries[9];' >other.c
"$cc" -shared -fPIC other.c -o alone/libfloe_cuda.so
says "another version" 'the GPU backend is of another version of floe: .* is 0\.0\.1 00000000, libfloe is [0-9.]+ [0-9a-f]{8}' alone/floe
echo 'int nothing;' >other.c
"$cc" -shared -fPIC other.c -o alone/libfloe_cuda.so
says "no version" 'the GPU backend is of another version of floe: .* is none, libfloe is .*' alone/floe
echo broken >alone/libfloe_cuda.so
says "no library at all" 'there is no GPU backend: .*alone/libfloe_cuda\.so: .*' alone/floe

# Calls for the CPU load nothing; calls for a GPU say why there is none.
"$floe" fields turbulence --shape 20x30x40 --dtype f32 -o t.npy -q
for backend in "" "--backend cpu"; do
    # shellcheck disable=SC2086 # words are wanted
    LD_DEBUG=files beside/floe compress t.npy -o cpu.floe --bound rel=1e-3 $backend -f -q 2>loaded
    ! grep -q libfloe_cuda loaded || fail "compress $backend loads the GPU backend"
done
LD_DEBUG=files beside/floe compress t.npy -o auto.floe --bound rel=1e-3 --backend auto -q 2>loaded
grep -q libfloe_cuda loaded || fail "--backend auto does not look for the GPU backend"
cmp cpu.floe auto.floe || fail "other bytes"
code=0
alone/floe compress t.npy -o no.floe --bound rel=1e-3 --backend cuda 2>said || code=$?
[ $code = 6 ] && grep -q 'there is no GPU backend' said || fail "exit code $code: $(cat said)"
alone/floe compress t.npy -o alone.floe --bound rel=1e-3 --backend auto -q
cmp cpu.floe alone.floe || fail "other bytes without the GPU backend"

# Where there is a GPU, or one is emulated, the same bytes come through the library.
if beside/floe version --verbose | grep '^GPU: ' | grep -qv 'none:'; then
    beside/floe compress t.npy -o cuda.floe --bound rel=1e-3 --backend cuda -q
    cmp cpu.floe cuda.floe || fail "other bytes from a GPU"
    beside/floe decompress cuda.floe -o cuda.npy --backend cuda -q
    beside/floe decompress cpu.floe -o cpu.npy --backend cpu -q
    cmp cpu.npy cuda.npy || fail "other values from a GPU"
    beside/floe check t.npy cuda.floe --backend cuda -q --fail-if 'outside>0' || fail "the bound does not hold"
fi
[ $failed = 0 ] && echo "cuda_library: found, refused and done without, as documented"
exit $failed
