# SPDX-License-Identifier: BSD-3-Clause
"""What the pages' decoders share: the error, and a reader of bytes."""
import struct


class Damaged(Exception):
    pass


def need(holds, what):
    if not holds:
        raise Damaged(what)


def ceil_div(a, b):
    return -(-a // b)


def signed(v, bits):
    """The number that these low bits are in two's complement."""
    v &= (1 << bits) - 1
    return v - (v >> bits - 1 << bits)


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
