# SPDX-License-Identifier: BSD-3-Clause
ulimit -c 0
# A run that waits for its input in the middle of its work: whatever ends it, there is no OUT.
head -c 262144 /dev/zero >t.f32
set -m # else the shell starts background jobs with SIGINT ignored
ended_by() { # signal
    mkfifo pipe
    "$FLOE" compress - -o out.floe --shape 1024x1024 --dtype f32 --bound abs=1 --fill none -q --chunk 8x1024 <pipe 2>/dev/null &
    local pid=$!
    exec 9>pipe
    cat t.f32 >&9
    for _ in $(seq 100); do
        ls .floe-*.part >/dev/null 2>&1 && break
        sleep 0.05
    done
    kill -"$1" $pid
    wait $pid 2>/dev/null
    echo "$1: exit $?"
    exec 9>&-
    rm pipe
    [ ! -e out.floe ] || echo "out.floe is there"
}
for signal in TERM INT HUP QUIT USR1 USR2 ALRM XCPU VTALRM; do
    ended_by $signal
    only t.f32
done
ended_by KILL # cannot be caught: the temporary file stays, under a name that nobody takes for the output
ls -A | grep -c '^\.floe-[0-9]*-0\.part$'
rm -f .floe-*.part

# an input that is cut short between its opening and its reading, while standard input is waited for
mkfifo pipe
"$FLOE" check t.f32 - --shape 256x256 --dtype f32 --metrics max_error <pipe 2>err &
exec 9>pipe
head -c 200000 t.f32 >&9 # more than a pipe holds: it is being read, and t.f32 is open
: >t.f32
head -c 62144 /dev/zero >&9
exec 9>&-
wait $!
echo "cut short: exit $?, $(cat err)"
