#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""floe_decode.py IN.floe OUT.raw [LEVEL]: the reference decoder of the format, written from docs/format and from nothing else.

It shares no code with the library, checks all that the pages tell a decoder to check, and takes seconds for a megabyte.
OUT is in C order, little-endian; - is stdout. Exit code 3 and one line for a file that is not valid.
"""
import struct
import sys
from itertools import product
from math import prod

from base import Damaged, ceil_div, need
from container import read_container
from interp_decode import InterpChunk
from lorenzo_decode import LorenzoChunk
from wavelet_decode import WaveletChunk
from zfp_decode import ZfpChunk


def integer(header, pattern):
    """The pattern of the integer nearest to that of an f64."""
    value = struct.unpack("<d", pattern.to_bytes(8, "little"))[0]
    most = 2**(header.bits - 1) - 1
    whole = header.fill if value != value else max(-most - 1, min(most, round(max(-2.0**64, min(2.0**64, value)))))
    return whole % 2**header.bits


def patterns(header, payload, extent, level):
    """Of a chunk's values, or a level's."""
    if header.codec < 3:
        return {1: LorenzoChunk, 2: ZfpChunk}[header.codec](payload, header.bits, header.integer, extent).decode()
    coded = header.integer and payload[1:2] != b"\1"  # not raw
    chunk = {3: InterpChunk, 4: WaveletChunk}[header.codec](payload, 64 if coded else header.bits, extent)
    found = chunk.decode(*[level, header.range] if level else [])
    return [integer(header, p) for p in found] if coded else found


def decode(data, level=0):
    """Header, and the values of a .floe stream, or of a level, as bytes in C order."""
    header, payloads = read_container(data)
    size = header.bits // 8
    shape = [ceil_div(n, 1 << level) for n in header.shape]
    out = bytearray(prod(shape) * size)
    for number, payload in enumerate(payloads):
        low, extent = header.box(number)
        need(level == 0 or header.codec > 2 and not any(i % (1 << level) for i in low), "no such level")
        values = iter(patterns(header, payload, extent, level))
        for index in product(*(range(0, n, 1 << level) for n in extent)):
            at = 0
            for i, j, n in zip(low, index, shape):
                at = at * n + (i + j >> level)
            out[at * size:(at + 1) * size] = next(values).to_bytes(size, "little")
    return header, bytes(out)


def main(arguments):
    if len(arguments) not in (2, 3):
        print("usage: floe_decode.py IN.floe OUT.raw [LEVEL]", file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as file:
        data = file.read()
    try:
        _, values = decode(data, *map(int, arguments[2:]))
    except Damaged as what:
        print("floe_decode: %s: %s" % (arguments[0], what), file=sys.stderr)
        return 3
    if arguments[1] == "-":
        sys.stdout.buffer.write(values)
    else:
        with open(arguments[1], "wb") as file:
            file.write(values)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
