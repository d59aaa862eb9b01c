#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""floe_decode.py IN.floe OUT.raw: the reference decoder of the format, written from docs/format and from nothing else.

It shares no code with the library, checks all that the pages tell a decoder to check, and takes seconds for a megabyte.
OUT is in C order, little-endian; - is stdout. Exit code 3 and one line for a file that is not valid.
"""
import struct
import sys
from itertools import product
from math import prod

from base import Damaged, Reader, ceil_div, need, signed
from zfp_decode import ZfpChunk


# ---- checksums: container.md, "Checksums"; XXH3-64 with seed 0 as its specification has it -----------------------------

M64 = 2**64 - 1
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee035"
    "90e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04b"
    "cdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad0"
    "31ce45cb3a8f95160428afd7fbcabb4b407e")
P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def secret(at):
    return u64(SECRET, at)


def fold(a, b):
    p = a * b
    return (p ^ p >> 64) & M64


def rotate(v, n):
    return (v << n | v >> (64 - n)) & M64


def avalanche(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & M64
    return h ^ h >> 32


def avalanche_short(h):
    h = (h ^ h >> 33) * P64[1] & M64
    h = (h ^ h >> 29) * P64[2] & M64
    return h ^ h >> 32


def mix16(d, at, s):
    return fold(u64(d, at) ^ secret(s), u64(d, at + 8) ^ secret(s + 8))


def xxh3_short(d):
    n = len(d)
    if n == 0:
        return avalanche_short(secret(56) ^ secret(64))
    if n <= 3:
        v = d[0] << 16 | d[n >> 1] << 24 | d[n - 1] | n << 8
        return avalanche_short(v ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    if n <= 8:
        h = (u32(d, n - 4) + (u32(d, 0) << 32)) ^ secret(8) ^ secret(16)
        h = (h ^ rotate(h, 49) ^ rotate(h, 24)) * 0x9FB21C651E98DF25 & M64
        h = (h ^ (h >> 35) + n) * 0x9FB21C651E98DF25 & M64
        return h ^ h >> 28
    low = u64(d, 0) ^ secret(24) ^ secret(32)
    high = u64(d, n - 8) ^ secret(40) ^ secret(48)
    return avalanche(n + int.from_bytes(low.to_bytes(8, "little"), "big") + high + fold(low, high) & M64)


def xxh3_long(d):
    n = len(d)
    acc = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]

    def stripe(at, s):
        for i, v in enumerate(struct.unpack_from("<8Q", d, at)):
            k = v ^ secret(s + 8 * i)
            acc[i ^ 1] = acc[i ^ 1] + v & M64
            acc[i] = acc[i] + (k & 0xFFFFFFFF) * (k >> 32) & M64

    for s in range((n - 1) // 64):
        stripe(64 * s, 8 * (s % 16))
        if s % 16 == 15:
            for i in range(8):
                acc[i] = (acc[i] ^ acc[i] >> 47 ^ secret(128 + 8 * i)) * P32[0] & M64
    stripe(n - 64, 121)
    h = n * P64[0]
    for i in range(0, 8, 2):
        h += fold(acc[i] ^ secret(11 + 8 * i), acc[i + 1] ^ secret(19 + 8 * i))
    return avalanche(h & M64)


def xxh3(d):
    n = len(d)
    if n <= 16:
        return xxh3_short(d)
    if n > 240:
        return xxh3_long(d)
    h = n * P64[0]
    if n <= 128:
        for i in range((n - 1) // 32 + 1):
            h += mix16(d, 16 * i, 32 * i) + mix16(d, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(h & M64)
    for i in range(8):
        h += mix16(d, 16 * i, 16 * i)
    h = avalanche(h & M64)
    for i in range(8, n // 16):
        h += mix16(d, 16 * i, 16 * (i - 8) + 3)
    return avalanche(h + mix16(d, n - 16, 119) & M64)


def checksum(d):
    pieces = [d[i:i + 16384] for i in range(0, len(d), 16384)] or [b""]
    terms = (avalanche(xxh3(p) + (i + 1) * P64[0] & M64) for i, p in enumerate(pieces))
    return avalanche(len(d) * P64[1] + sum(terms) & M64)


# ---- container.md ----------------------------------------------------------------------------------------------------

def finite(x):
    return x - x == 0


def is_text(data, extra):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(c in extra or not (c < " " or "\x7f" <= c <= "\x9f") for c in text)


PWREL, LOSSLESS, RATE, PREC = 3, 5, 6, 7


class Header:
    def __init__(self, data):
        r = Reader(data)
        need(r.take(8) == b"\xf1FLOE\r\n\x1a", "this is no floe file")
        self.version, oldest, self.nbytes = r.number(2), r.number(2), r.number(4)
        need(oldest <= 3, "the file needs a newer reader")
        need(1 <= oldest <= self.version and self.nbytes <= 2**20, "header: versions or size")
        need(80 <= self.nbytes <= len(data) and self.nbytes % 8 == 0, "header: size")
        need(u64(data, self.nbytes - 8) == xxh3(data[:self.nbytes - 8]), "header: checksum")
        r.data = data[:self.nbytes - 8]
        dtype, self.rank, codec, preset, mode, flags = (r.number(1) for _ in range(6))
        self.integer = dtype > 2
        self.zfp = codec == 2
        need(1 <= dtype <= 4 and 1 <= self.rank <= 4 and 1 <= codec <= 2 and preset <= 1 and flags <= 1 and
             1 <= mode <= 7, "header: a field is out of range")
        need(not self.integer or (self.version >= 2 and mode != 3), "header: integers")
        need(mode not in (RATE, PREC) or (self.version >= 3 and self.zfp), "header: rate or prec")
        self.bits = 64 if dtype in (2, 4) else 32
        need(r.number(2) == 0, "header: reserved bytes")
        nitems = r.number(4)
        need(r.number(4) == 0 and nitems <= 1024, "header: items or reserved bytes")
        self.check_reals(mode, [u64(data, r.at + 8 * i) for i in range(4)], [r.real() for _ in range(4)])
        fill = r.number(8)
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


# ---- tile.md ---------------------------------------------------------------------------------------------------------

STEP = {1: (1, 1, 1024), 2: (8, 1, 128), 3: (2, 16, 32)}  # z, y, x by rank
GROUP = {1: (1, 1, 32), 2: (8, 1, 4), 3: (2, 4, 4)}


class View:
    def __init__(self, extent, swap):
        axes = [a for a, n in enumerate(extent) if n != 1]
        batch = axes.pop() if len(axes) > 1 and extent[axes[-1]] <= 8 else None
        need(not swap or len(axes) == 4, "swap without four axes")
        if len(axes) == 4:
            batch = axes.pop(swap)
        self.rank = max(len(axes), 1)
        z = axes[0] if len(axes) >= 2 else None
        y = axes[1] if len(axes) == 3 else None
        x = axes[-1] if axes else None
        self.axes = (batch, z, y, x)
        self.extent = [1 if a is None else extent[a] for a in self.axes]
        stride = [prod(extent[a + 1:]) for a in range(len(extent))]
        self.stride = [0 if a is None else stride[a] for a in self.axes]
        step = STEP[self.rank]
        self.size = (1, 1, 1, 8192) if self.rank == 1 else (1, 8 * step[0], step[1], step[2])
        self.tiles = [ceil_div(n, t) for n, t in zip(self.extent, self.size)]

    def tile(self, number):
        low = []
        for n, t in zip(reversed(self.tiles), reversed(self.size)):
            low.insert(0, number % n * t)
            number //= n
        return Tile(self, low, [min(t, n - i) for i, t, n in zip(low, self.size, self.extent)])


class Tile:
    """Where a tile lies. Cells are (z, y, x) inside it; rank 1 is folded into rows of 1024."""

    def __init__(self, view, low, extent):
        self.view, self.low, self.rank = view, low, view.rank
        self.ncells = prod(extent)
        self.nz, self.ny, self.nx = extent[1:]
        if self.rank == 1:
            self.nz, self.nx = ceil_div(self.nx, 1024), 1024
        self.steps = ceil_div(self.nz, STEP[self.rank][0])
        self.valid = [[sum(1 << k for k in range(32) if self.inside(*self.cell(s, g, k))) for g in range(32)]
                      for s in range(self.steps)]
        self.present = [sum(1 << g for g in range(32) if v[g]) for v in self.valid]

    def inside(self, z, y, x):
        if self.rank == 1:
            return 1024 * z + x < self.ncells
        return z < self.nz and y < self.ny and x < self.nx

    def cell(self, step, group, k):
        _, gy, gx = GROUP[self.rank]
        across = STEP[self.rank][2] // gx
        return (STEP[self.rank][0] * step + k // (gx * gy), gy * (group // across) + k // gx % gy,
                gx * (group % across) + k % gx)

    def place(self, z, y, x):
        """Element of the chunk."""
        at = [0, 0, 0, 1024 * z + x] if self.rank == 1 else [0, z, y, x]
        return sum((i + j) * n for i, j, n in zip(self.low, at, self.view.stride))

    def cells(self):
        """All cells inside, in C order."""
        return (c for c in product(range(self.nz), range(self.ny), range(self.nx)) if self.inside(*c))


# ---- quantizer.md ----------------------------------------------------------------------------------------------------

def ordered(v, bits):
    """A pattern as a signed integer that grows with the value, and back (mod 2^bits)."""
    return signed(v if v >> (bits - 1) == 0 else v ^ (1 << (bits - 1)) - 1, bits)


def pattern(y, bits):
    if bits == 64:
        return u64(struct.pack("<d", y), 0)
    try:
        return u32(struct.pack("<f", y), 0)
    except OverflowError:  # rounds to infinity
        return 0x7F800000 if y > 0 else 0xFF800000


def round_f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


FACTORIALS = [prod(range(1, k + 1)) for k in range(14)]


def exp2(v):
    v = min(max(v, -1100.0), 1100.0)
    w = (v + 1.5 * 2.0**52) - 1.5 * 2.0**52
    z = (v - w) * float.fromhex("0x1.62e42fefa39efp-1")
    p = 1.0 / FACTORIALS[13]
    for k in range(12, -1, -1):
        p = p * z + 1.0 / FACTORIALS[k]
    h = int(w / 2)
    return p * 2.0**h * 2.0**(int(w) - h)


class Quantizer:
    LINEAR, LOG, BITS, TABLE = range(4)

    def __init__(self, kind, step, bits, table, integer):
        self.kind, self.bits, self.table, self.integer = kind, bits, table, integer
        self.step = round_f32(step) if kind == self.LINEAR and bits == 32 and not integer else step

    def value(self, q):
        """The pattern that q (signed) stands for."""
        mask = (1 << self.bits) - 1
        if self.kind == self.LINEAR and self.integer:
            most = mask >> 1
            return min(max(q * int(self.step), -most - 1), most) & mask
        if self.kind == self.LINEAR:
            return pattern(q * self.step, self.bits)
        if self.kind == self.LOG:
            y = exp2(q * self.step)
            return pattern(min(y, float.fromhex("0x1.fffffep+127")) if self.bits == 32 else y, self.bits)
        if self.kind == self.TABLE:
            need(0 <= q < len(self.table), "a value outside the table")
            q = self.table[q]
        return q & mask if self.integer else ordered(q & mask, self.bits) & mask


# ---- lorenzo.md ------------------------------------------------------------------------------------------------------

XY, X, Y, NONE = range(4)


def predict(tile, mode, base, steps, bits):
    """From (flat, residuals of 32 groups) of each step to {cell: q}."""
    mask = (1 << bits) - 1
    ny, nx = STEP[tile.rank][1:]
    residual, flat = {}, set()
    for s, (flat_word, groups) in enumerate(steps):
        for g, k in product(range(32), range(32)):
            u = groups[g][k]
            cell = tile.cell(s, g, k)
            residual[cell] = -(u + 1 >> 1) if u & 1 else u >> 1
            if flat_word >> g & 1:
                flat.add(cell)
    before, corner, q = {}, base, {}
    for z in range(tile.nz):
        p = {}
        for y, x in product(range(ny), range(nx)):
            p[y, x] = residual[z, y, x]
            if (z, y, x) not in flat and (y or x):
                p[y, x] += before.get((y, x), 0)
            if not (y or x):
                by = corner
            elif mode == NONE:
                by = base
            elif y == 0 or (mode == X and x):
                by = q[z, y, x - 1]
            elif x == 0 or mode == Y:
                by = q[z, y - 1, x]
            else:
                by = q[z, y, x - 1] + q[z, y - 1, x] - q[z, y - 1, x - 1]
            q[z, y, x] = p[y, x] + by & mask
        before, corner = p, q[z, 0, nx - 1 if tile.rank == 1 else 0]
    return q


# ---- pack.md ---------------------------------------------------------------------------------------------------------

def pack_step(descriptor, words, present, bits):
    least, planes, flat_is = descriptor & 127, descriptor >> 7 & 7, descriptor >> 10
    need(flat_is <= 2, "pack: descriptor")
    flat = words.take() if flat_is == 2 else present if flat_is == 1 else 0
    width_planes = [words.take() for _ in range(planes)]
    need(not any(w & ~present for w in [flat] + width_planes), "pack: a group that is not present")
    widths = [least + sum((w >> g & 1) << b for b, w in enumerate(width_planes)) if present >> g & 1 else 0
              for g in range(32)]
    need(max(widths) <= bits, "pack: width")
    groups = [[0] * 32 for _ in range(32)]
    for b in range(max(widths)):
        for g in range(32):
            if widths[g] > b:
                plane = words.take()
                groups[g] = [u | (plane >> i & 1) << b for i, u in enumerate(groups[g])]
    return flat, groups


def pack_tile(words, tile, bits):
    halves = [h for _ in range(ceil_div(tile.steps, 2)) for w in [words.take()] for h in (w & 0xFFFF, w >> 16)]
    need(not any(halves[tile.steps:]), "pack: unused descriptor")
    steps = [pack_step(halves[s], words, tile.present[s], bits) for s in range(tile.steps)]
    need(words.left() == 0, "pack: words are left over")
    return steps


# ---- huffman.md ------------------------------------------------------------------------------------------------------

ALPHABET = [16, 16, 130, 130, 130, 130, 256, 256, 64, 256, 32, 64, 128, 256, 40, 48, 64, 96, 128, 256]
ALPHABET_BITS = [4, 4, 8, 8, 8, 8, 8, 8, 6, 8, 5, 6, 7, 8, 6, 6, 6, 7, 7, 8]
SYMBOL_VALUES = {1: 8, 2: 4, 3: 2, 4: 2}
UNUSED, SINGLE, FIXED, CODED = range(4)


class Bits:
    def __init__(self, words):
        self.value = sum(w << 32 * i for i, w in enumerate(words))
        self.at, self.end = 0, 32 * len(words)

    def take(self, n):
        need(n <= self.end - self.at, "huffman: bits are missing")
        self.at += n
        return self.value >> self.at - n & (1 << n) - 1

    def symbol(self, code):
        """code: {(length, code with its first bit highest): symbol}, complete."""
        n = c = 0
        while (n, c) not in code:
            n, c = n + 1, c << 1 | self.take(1)
        return code[n, c]

    def close(self):
        need(self.end - self.at < 32 and self.take(self.end - self.at) == 0, "huffman: bits behind the end")


def canonical(lengths):
    need(sum(2**-n for n in lengths if n) == 1, "huffman: a code is not complete")
    code, c, before = {}, 0, 0
    for n, s in sorted((n, s) for s, n in enumerate(lengths) if n):
        c <<= n - before
        code[n, c] = s
        c, before = c + 1, n
    return code


def predicted_length(table, v, s):
    """v: lengths of the symbols before s."""
    width = table - 5 if table >= 6 else 0
    n = 4 if table < 2 else SYMBOL_VALUES.get(width, 1)
    if s == 0:
        return 3
    lowest = 0  # the bits of s that belong to its lowest value other than 0
    for i in range(n):
        lowest = s & sum(1 << j for j in range(i, 8, n))
        if lowest:
            break
    if s != lowest:
        return min(max(v[lowest] + v[s - lowest] - v[0], 1), 12)
    if i:
        return v[s >> 1]
    if 2 <= table < 6:
        return v[s - 2] if s >= 2 else v[s - 1]
    return v[max(t for t in range(s) if all(not (t >> j & 1) or j % n == 0 for j in range(8)))]


def read_lengths(b, table, tokens):
    v = []
    while len(v) < ALPHABET[table]:
        token = b.symbol(tokens)
        if token < 12:
            v.append((predicted_length(table, v, len(v)) - 1 + token) % 12 + 1)
        else:
            run = 3 + b.take(2) if token == 12 else 7 + b.take(5)
            need(run <= ALPHABET[table] - len(v), "huffman: lengths overrun")
            for _ in range(run):
                v.append(predicted_length(table, v, len(v)))
    return [0 if n == 12 else n for n in v]


def read_book(words):
    """A code for each table; None: unused."""
    b = Bits(words)
    modes = [b.take(2) for _ in ALPHABET]
    tokens = canonical([b.take(3) for _ in range(14)]) if CODED in modes else None
    book = []
    for table, mode in enumerate(modes):
        if mode == SINGLE:
            symbol = b.take(8)
            need(symbol < ALPHABET[table], "huffman: symbol out of range")
            book.append({(0, 0): symbol})
        elif mode == FIXED:
            n = ALPHABET_BITS[table]
            book.append({(n, int(f"{s:0{n}b}"[::-1], 2)): s for s in range(1 << n)})
        else:
            book.append(canonical(read_lengths(b, table, tokens)) if mode == CODED else None)
    b.close()
    return book


def read_symbol(b, book, table):
    need(book[table] is not None, "huffman: unused table")
    return b.symbol(book[table])


def read_group(b, book, width):
    if width == 0:
        return [0] * 32
    table = 5 + width if width <= 8 else 14 + sum(width > w for w in (10, 12, 16, 24, 32))
    values = []
    n = SYMBOL_VALUES.get(width, 1)
    while len(values) < 32:
        symbol = read_symbol(b, book, table)
        if width <= 8:
            values += [sum((symbol >> j * n + i & 1) << j for j in range(8)) for i in range(n)]
        elif symbol < 16:
            values.append(symbol)
        else:
            raw = 2 + (symbol - 16) // 4
            values.append((4 | symbol & 3) << raw | b.take(raw))
    need(max(values) >> width == 0, "huffman: a value is wider than its group")
    return values


def huffman_lane(b, book, tile, quads, bits, steps):
    quad_before = width_before = None
    for quad in quads:
        s, first = quad // 8, quad % 8 * 4
        present = tile.present[s] >> first & 15
        if not present:
            continue
        live = quad_before = read_symbol(b, book, 1 if quad_before == 0 else 0)
        need(not live & ~present, "huffman: a group outside the field")
        for g in (first + i for i in range(4) if live >> i & 1):
            context = 0 if width_before is None else 1 if width_before <= 2 else 2 if width_before <= 4 else 3
            header = read_symbol(b, book, 2 + context)
            need(1 <= header <= 2 * bits + 1, "huffman: header of a group")
            width_before = header >> 1
            steps[s][0] |= (header & 1) << g
            steps[s][1][g] = read_group(b, book, width_before)


def huffman_tile(words, tile, bits, book):
    steps = [[0, [[0] * 32 for _ in range(32)]] for _ in range(tile.steps)]
    b = Bits(words.rest())
    if b.end == 0:
        return steps
    log, field = b.take(3), b.take(5)
    lanes = 1 << log
    need(log <= 5 and lanes <= 8 * tile.steps and (log or not field), "huffman: header of a tile")
    lengths = [b.take(field) for _ in range(lanes - 1)]
    for i in range(lanes):
        first, last = (8 * tile.steps * j >> log for j in (i, i + 1))
        start = b.at
        huffman_lane(b, book, tile, range(first, last), bits, steps)
        need(i + 1 == lanes or b.at == start + lengths[i], "huffman: length of a lane")
    b.close()
    return steps


# ---- exception.md ----------------------------------------------------------------------------------------------------

def read_mask(words, parent):
    marks = [(words.take(), words.take()) for _ in parent]
    mask = [[0] * 32 for _ in parent]
    for s, (some, all_) in enumerate(marks):
        need(not all_ & ~some, "mask: all without any")
        for g in range(32):
            if some >> g & 1:
                whole = all_ >> g & 1
                mask[s][g] = m = parent[s][g] if whole else words.take()
                need(m and not m & ~parent[s][g] and (m == parent[s][g]) == bool(whole), "mask: word")
    return mask


def members(mask):
    return ((s, g, k) for s, groups in enumerate(mask) for g, m in enumerate(groups) for k in range(32) if m >> k & 1)


def read_exceptions(words, valid, palette, bits):
    """Places as a mask, and {(step, group, k): pattern}."""
    head = words.take()
    one_kind, kind = head >> 16 & 1, head >> 17
    need(kind <= (3 if one_kind else 0), "exceptions: head")
    places = read_mask(words, valid)
    where = list(members(places))
    need(len(where) == head & 0xFFFF, "exceptions: number")
    kinds = dict.fromkeys(where, kind)
    if not one_kind:
        for weight in (1, 2):
            for at in members(read_mask(words, places)):
                kinds[at] += weight
    return places, {at: palette[kinds[at] - 1] if kinds[at] else words.number(bits) for at in where}


# ---- lorenzo_chunk.md ------------------------------------------------------------------------------------------------

class Words:
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


CODED_TILE, RAW, CONSTANT, SPECIAL = range(4)


class Chunk:
    """decode() gives the patterns of all values, in C order."""

    def __init__(self, payload, bits, integer, extent):
        self.bits, self.size = bits, prod(extent)
        r = Reader(payload)
        encoder, kind, swap, zero = (r.number(1) for _ in range(4))
        nvalues, nbook, zero2 = (r.number(4) for _ in range(3))
        step = r.real()
        self.palette = [r.number(8) for _ in range(3)]
        ntiles, nwords = r.number(8), r.number(8)
        need(encoder <= 1 and kind <= 3 and swap <= 1 and zero == zero2 == 0, "chunk: header")
        need(not any(p >> bits for p in self.palette), "chunk: palette")
        most = float.fromhex("0x1.fffffep+127" if bits == 32 and kind == Quantizer.LINEAR else "0x1.fffffffffffffp+1023")
        need(0 <= step <= (most if kind in (Quantizer.LINEAR, Quantizer.LOG) else 0), "chunk: step")
        if integer and kind == Quantizer.LINEAR:
            need(1 <= step <= (2**31 - 1 if bits == 32 else 2**53) and step == int(step), "chunk: step of integers")
        need(not integer or kind != Quantizer.LOG, "chunk: log of integers")
        need((nvalues > 0) == (kind == Quantizer.TABLE) and nvalues <= 65536, "chunk: table")
        need((nbook > 0) == (encoder == 1) and nbook <= 2048, "chunk: codebook")
        self.view = View(extent, swap)
        need(ntiles == prod(self.view.tiles), "chunk: number of tiles")
        need(len(payload) == 64 + nvalues * bits // 8 + 4 * (nbook + ntiles + nwords), "chunk: size")
        table = [signed(r.number(bits // 8), bits) for _ in range(nvalues)]
        need(all(a < b for a, b in zip(table, table[1:])), "chunk: table is not in order")
        self.quantizer = Quantizer(kind, step, bits, table, integer)
        self.book = read_book(Words(r.take(4 * nbook)).rest()) if encoder else None
        self.entries = Words(r.take(4 * ntiles)).rest()
        need(sum(e & 0xFFFF for e in self.entries) == nwords, "chunk: sizes of the tiles")
        self.tiles = r

    def decode(self):
        values = [0] * self.size
        for number, entry in enumerate(self.entries):
            tile = self.view.tile(number)
            words = Words(self.tiles.take(4 * (entry & 0xFFFF)))
            for cell, value in self.tile_values(tile, entry, words):
                values[tile.place(*cell)] = value
        return values

    def tile_values(self, tile, entry, words):
        kind, mode = entry >> 16 & 3, entry >> 20 & 3
        has_exceptions, has_signs = entry >> 18 & 1, entry >> 19 & 1
        raw = tile.ncells * self.bits // 32
        need(entry >> 22 == 0, "tile: entry")
        if kind in (RAW, SPECIAL):
            need(not (has_exceptions or has_signs) and mode <= (0 if kind == RAW else 2), "tile: entry")
            need(words.left() == (raw if kind == RAW else 0), "tile: size")
            return [(c, words.number(self.bits) if kind == RAW else self.palette[mode]) for c in tile.cells()]
        need(words.left() < raw, "tile: size")
        need(not has_signs or self.quantizer.kind == Quantizer.LOG, "tile: signs")
        base = words.number(self.bits)
        places, exceptions, signs = [[0] * 32] * tile.steps, {}, []
        if has_exceptions:
            places, exceptions = read_exceptions(words, tile.valid, self.palette, self.bits)
        if has_signs:
            parent = [[v & ~p for v, p in zip(*row)] for row in zip(tile.valid, places)]
            signs = members(read_mask(words, parent))
        if kind == CONSTANT:
            need(words.left() == 0, "tile: a constant one with a body")
            q = dict.fromkeys(tile.cells(), base)
        else:
            need(tile.rank == 3 or mode in (X, NONE), "tile: mode")
            steps = huffman_tile(words, tile, self.bits, self.book) if self.book else pack_tile(words, tile, self.bits)
            q = predict(tile, mode, base, steps, self.bits)
        exceptions = {tile.cell(*at): value for at, value in exceptions.items()}
        signs = {tile.cell(*at): 1 << self.bits - 1 for at in signs}
        return [(c, exceptions[c] if c in exceptions else
                 self.quantizer.value(signed(q[c], self.bits)) | signs.get(c, 0)) for c in tile.cells()]


# ---- a whole field ---------------------------------------------------------------------------------------------------

def decode(data):
    """Header, and the values of a .floe stream as bytes in C order."""
    header, payloads = read_container(data)
    size = header.bits // 8
    out = bytearray(prod(header.shape) * size)
    for number, payload in enumerate(payloads):
        low, extent = header.box(number)
        chunk = ZfpChunk if header.zfp else Chunk
        values = iter(chunk(payload, header.bits, header.integer, extent).decode())
        for index in product(*(range(n) for n in extent)):
            at = 0
            for i, j, n in zip(low, index, header.shape):
                at = at * n + i + j
            out[at * size:(at + 1) * size] = next(values).to_bytes(size, "little")
    return header, bytes(out)


def main(arguments):
    if len(arguments) != 2:
        print("usage: floe_decode.py IN.floe OUT.raw", file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as file:
        data = file.read()
    try:
        _, values = decode(data)
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
