# SPDX-License-Identifier: BSD-3-Clause
# On a terminal: no binary data, neither way. Needs script(1).
command -v script >/dev/null || exit 77
field t.f32 8x8
"$FLOE" compress t.f32 -o t.floe --shape 8x8 --dtype f32 --bound lossless -q
on_terminal() { script -qec "$FLOE $1" /dev/null </dev/null | tr -d '\r'; }
on_terminal "decompress t.floe -o -"
on_terminal "compress - -o x --bound abs=1"
on_terminal "version | cut -c1-4"
only t.f32 t.floe
