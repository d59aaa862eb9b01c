# SPDX-License-Identifier: BSD-3-Clause
# What cases use. Everything that a case prints is compared.

# What depends on the machine or on the release becomes letters; sizes, ratios and errors are the same everywhere.
filter() {
    sed -E -e 's/[0-9]+ MB\/s/N MB\/s/g' \
        -e 's/("(seconds|mb_per_s|min|median|max)": )[-+0-9.e]+/\1N/' \
        -e 's/("processor": ).*/\1"P",/' \
        -e 's/^floe [0-9]+\.[0-9]+\.[0-9]+/floe V/' \
        -e 's/ +$//' \
        -e 's/("version": ).*/\1"V",/'
}

# few WORD...: all of them; with FLOE_TESTS=few, as under sanitizers, every third, and the last one always.
few() {
    local i step=1
    [ "${FLOE_TESTS:-}" != few ] || step=3
    for ((i = 1 + ($# - 1) % step; i <= $#; i += step)); do printf '%s ' "${!i}"; done
}

# show NAME...: runs floe and prints the command, what it said (standard error marked with !), and an exit code that is not 0.
show() {
    echo "\$ floe${*:+ $*}" | sed 's/ *$//'
    "$FLOE" "$@" >.out 2>.err </dev/null
    said $?
}

# The same for a command line of the shell; floe stands for the program.
show_sh() {
    echo "\$ $1"
    (
        floe() { "$FLOE" "$@"; }
        eval "$1"
    ) >.out 2>.err
    said $?
}

said() {
    filter <.out
    filter <.err | sed 's/^/! /'
    [ "$1" = 0 ] || echo "exit $1"
    rm -f .out .err
}

# Is the folder as it was? Lists all files but those named.
only() {
    for file in $(ls -A . | grep -v '^tmp$') $(ls -A tmp); do
        case " $* " in *" $file "*) ;; *) echo "left over: $file" ;; esac
    done
}

same() { cmp "$1" "$2" && echo "same: $1 $2"; }

# field NAME SHAPE [KIND] [DTYPE]: a test field
field() { "$FLOE" fields "${3:-turbulence}" --shape "$2" --dtype "${4:-f32}" -o "$1" -q -f || echo "cannot make $1"; }

# poke FILE OFFSET OCTAL: overwrites one byte
poke() { printf "\\$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }

# flip FILE OFFSET: inverts one byte
flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
    poke "$1" "$2" "$(printf '%03o' $((255 - byte)))"
}

size() { wc -c <"$1" | tr -d ' '; }
