# SPDX-License-Identifier: BSD-3-Clause
# On a terminal: no binary data, neither way. Needs script(1); says the same where it is missing.
field t.f32 8x8
"$FLOE" compress t.f32 -o t.floe --shape 8x8 --dtype f32 --bound lossless -q
on_terminal() { # the command, what it has to say
    if command -v script >/dev/null; then
        script -qec "$FLOE $1" /dev/null </dev/null | tr -d '\r'
    else
        echo "$2"
    fi
}
on_terminal "decompress t.floe -o -" "floe: will not write binary data to a terminal; use -o FILE or a pipe"
on_terminal "compress - -o x --bound abs=1" "floe: will not read binary data from a terminal; give a file or a pipe"
on_terminal "version | cut -c1-4" floe
only t.f32 t.floe
