# SPDX-License-Identifier: BSD-3-Clause
# Where the system has room for few threads (their stacks count for ulimit -d, in kB), the work is done by those that there are.
field t.npy 96x96x96
bounded() { (ulimit -s 8192 -d 60000 && OMP_NUM_THREADS=16 "$FLOE" "$@" -q) || echo "floe $1: exit code $?"; }
"$FLOE" compress t.npy -o one.floe --bound rel=1e-3 --codec lorenzo --threads 1 -q
bounded compress t.npy -o t.floe --bound rel=1e-3 --codec lorenzo
same one.floe t.floe
"$FLOE" decompress one.floe -o one.npy --threads 1 -q
bounded decompress t.floe -o back.npy
same one.npy back.npy
bounded fields turbulence --shape 96x96x96 --dtype f32 -o again.npy
same t.npy again.npy
