# SPDX-License-Identifier: BSD-3-Clause
"""The part of the reference decoder that reads the header, the records, the index and the footer: written from
docs/format/container.md, and from nothing else."""
import struct
from math import prod

from base import Reader, ceil_div, need, u32, u64
from xxh3 import checksum, xxh3

PWREL, LOSSLESS, RATE, PREC = 3, 5, 6, 7


def finite(x):
    return x - x == 0


def is_text(data, extra):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(c in extra or not (c < " " or "\x7f" <= c <= "\x9f") for c in text)


class Header:
    def __init__(self, data):
        r = Reader(data)
        need(r.take(8) == b"\xf1FLOE\r\n\x1a", "this is no floe file")
        self.version, oldest, self.nbytes = r.number(2), r.number(2), r.number(4)
        need(oldest <= 4, "the file needs a newer reader")
        need(1 <= oldest <= self.version and self.nbytes <= 2**20, "header: versions or size")
        need(80 <= self.nbytes <= len(data) and self.nbytes % 8 == 0, "header: size")
        need(u64(data, self.nbytes - 8) == xxh3(data[:self.nbytes - 8]), "header: checksum")
        r.data = data[:self.nbytes - 8]
        dtype, self.rank, codec, preset, mode, flags = (r.number(1) for _ in range(6))
        self.integer = dtype > 2
        self.codec = codec
        need(1 <= dtype <= 4 and 1 <= self.rank <= 4 and 1 <= codec <= 4 and flags <= 1 and
             preset <= (2 if self.version >= 4 else 1) and 1 <= mode <= (8 if self.version >= 4 else 7), "header: a field is out of range")
        need(not self.integer or (self.version >= 2 and mode != 3), "header: integers")
        need(mode not in (RATE, PREC) or (self.version >= 3 and codec == 2), "header: rate or prec")
        self.bits = 64 if dtype in (2, 4) else 32
        need(r.number(2) == 0, "header: reserved bytes")
        nitems = r.number(4)
        need(r.number(4) == 0 and nitems <= 1024, "header: items or reserved bytes")
        patterns, reals = [u64(data, r.at + 8 * i) for i in range(4)], [r.real() for _ in range(4)]
        self.check_reals(mode, patterns, reals)
        self.range = reals[2:]
        self.fill = fill = r.number(8)
        need(fill >> self.bits == 0 and (flags == 1 or fill == 0), "header: fill value")
        self.shape = [r.number(8) for _ in range(self.rank)]
        self.chunk = [r.number(8) for _ in range(self.rank)]
        need(prod(max(n, 1) for n in self.shape) * (self.bits // 8) < 2**63, "header: size of the field")
        need(all(1 <= c <= n or c == n == 0 for c, n in zip(self.chunk, self.shape)), "header: shape of a chunk")
        self.attributes = [self.read_item(r) for _ in range(nitems)]
        need(r.at == len(r.data), "header: bytes behind the items")
        self.grid = [ceil_div(n, c) if c else 0 for n, c in zip(self.shape, self.chunk)]
        need(prod(self.grid) <= 2**58, "header: number of chunks")

    @staticmethod
    def check_reals(mode, patterns, reals):
        bound, absolute, least, most = reals
        need(all(x == x or p == 0x7FF8 << 48 for x, p in zip(reals, patterns)), "header: NaN")
        need(bound == 0 if mode == LOSSLESS else bound > 0 and finite(bound), "header: bound")
        need(mode != PREC or bound in range(1, 65), "header: bit planes")
        not_absolute = mode in (PWREL, RATE, PREC)
        need(absolute != absolute if not_absolute else absolute >= 0 and finite(absolute), "header: absolute bound")
        need(mode != LOSSLESS or absolute == 0, "header: absolute bound")
        need(1 << 63 not in patterns[:2], "header: a bound of -0")
        known = finite(least) and finite(most) and least <= most
        need(known or (least != least and most != most), "header: range")

    @staticmethod
    def read_item(r):
        tag, key_nbytes, value_nbytes = r.number(2), r.number(2), r.number(4)
        key, value = r.take(key_nbytes), r.take(value_nbytes)
        need(not any(r.take(-(key_nbytes + value_nbytes) % 8)), "header: padding of an item")
        need(tag == 1 or tag >> 15, "header: unknown item")
        need(tag != 1 or (key and is_text(key, "") and is_text(value, "\t\n\r")), "header: attribute")
        return tag, key, value

    def box(self, number):
        """First element and extent of a chunk."""
        low = []
        for n, c in zip(reversed(self.grid), reversed(self.chunk)):
            low.insert(0, number % n * c)
            number //= n
        return low, [min(c, n - i) for i, c, n in zip(low, self.chunk, self.shape)]


def read_record(r, number):
    """Payload of the record at r, and its index entry."""
    start = r.at
    head = Reader(r.take(40))
    need(head.take(8) == b"\xf2CHUNK\r\n", "chunk %d: no record" % number)
    entry = (start, ) + struct.unpack("<QQ", head.data[16:32])
    need(head.number(8) == number and not any(head.data[32:36]), "chunk %d: record" % number)
    need(u32(head.data, 36) == xxh3(head.data[:36]) & 0xFFFFFFFF, "chunk %d: check of the record" % number)
    payload = r.take(entry[1])
    need(not any(r.take(-entry[1] % 8)), "chunk %d: padding" % number)
    need(checksum(payload) == entry[2], "chunk %d: checksum" % number)
    return payload, entry


def read_container(data):
    """Header and payloads of a whole stream."""
    header = Header(data)
    r = Reader(data)
    r.at = header.nbytes
    payloads, entries = [], b""
    for number in range(prod(header.grid)):
        payload, entry = read_record(r, number)
        payloads.append(payload)
        entries += struct.pack("<QQQ", *entry)
    index_at = r.at
    need(r.take(len(entries)) == entries and r.number(8) == checksum(entries), "index")
    footer = r.take(40)
    need(footer[:8] == b"\xf3INDEX\r\n" and u64(footer, 32) == xxh3(footer[:32]), "footer")
    need(struct.unpack("<QQQ", footer[8:32]) == (index_at, len(payloads), len(data)), "footer")
    need(r.at == len(data), "bytes behind the footer")
    return header, payloads
