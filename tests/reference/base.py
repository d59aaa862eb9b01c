# SPDX-License-Identifier: BSD-3-Clause
"""What the pages' decoders share: the error, and readers of bytes and of 32-bit words."""
import struct
from itertools import product
from operator import mul


class Damaged(Exception):
    pass


def need(holds, what):
    if not holds:
        raise Damaged(what)


def ceil_div(a, b):
    return -(-a // b)


def turned(extent, turns):
    """The axes of a chunk that have more than one point, of which so many last ones come before those that are last then."""
    axes = [a for a, n in enumerate(extent) if n != 1]
    known = 0
    for a, before in zip(reversed(axes), reversed(axes[:-1])):
        n = extent[a]
        if not (2 * n <= max(extent) if n <= 8 else n <= 48 and 3 * n <= extent[before]):
            break
        known += 1
    need(turns in (0, known), "how its axes are turned")
    end = len(axes) - turns
    first = max(end - 2, 0)
    return axes[:first] + axes[end:] + axes[first:end]


def unturn(values, extent, axes, level):
    """Values in C order of a chunk with these axes, to that of the chunk itself: those at multiples of 2^level."""
    step, strides = 1, [0] * len(extent)
    for a in reversed(axes):
        strides[a] = step
        step *= extent[a]
    return [values[sum(map(mul, at, strides))] for at in product(*(range(0, n, 1 << level) for n in extent))]


def signed(v, bits):
    """The number that these low bits are in two's complement."""
    v &= (1 << bits) - 1
    return v - (v >> bits - 1 << bits)


def u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


class Reader:
    """Takes numbers off the front of bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, nbytes):
        need(nbytes <= len(self.data) - self.at, "bytes are missing")
        self.at += nbytes
        return self.data[self.at - nbytes:self.at]

    def number(self, nbytes):
        return int.from_bytes(self.take(nbytes), "little")

    def real(self):
        return struct.unpack("<d", self.take(8))[0]


class Words:
    """Takes 32-bit words off the front of bytes."""

    def __init__(self, data):
        self.words, self.at = struct.unpack("<%dI" % (len(data) // 4), data), 0

    def take(self):
        need(self.at < len(self.words), "words are missing")
        self.at += 1
        return self.words[self.at - 1]

    def number(self, bits):
        return self.take() if bits == 32 else self.take() | self.take() << 32

    def left(self):
        return len(self.words) - self.at

    def rest(self):
        self.at, rest = len(self.words), self.words[self.at:]
        return rest
