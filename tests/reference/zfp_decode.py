# SPDX-License-Identifier: BSD-3-Clause
"""The part of the reference decoder that reads chunks of codec zfp, bare zfp streams and side indexes: written from
docs/format/zfp_chunk.md, zfp.md and index.md, and from nothing else."""
import math
import struct
from itertools import product
from math import prod

from base import Reader, ceil_div, need, signed

# ---- zfp.md ----------------------------------------------------------------------------------------------------------

ORDER = {1: bytes(range(4)), 2: bytes.fromhex("""
00 01 04 05 02 08 06 09 03 0c 0a 07 0d 0b 0e 0f"""), 3: bytes.fromhex("""
00 01 04 10 14 11 05 02 08 20 15 06 12 18 09 21 24 03 0c 30 16 19 25 28 22 0a 07 13 1c 0d 31 34
29 26 1a 17 1d 35 0b 23 2c 0e 32 38 2a 1b 27 2d 1e 36 39 3c 33 0f 2b 2e 3a 3d 37 1f 3e 3b 2f 3f"""), 4: bytes.fromhex("""
00 01 04 10 40 05 50 11 44 41 14 02 08 20 80 54 51 45 15 06 12 42 18 48 09 60 21 24 81 84 90 03
0c 30 c0 55 52 46 16 49 19 58 25 64 61 94 91 85 0a a0 22 88 82 28 07 13 43 1c 4c 0d 70 31 34 c1
c4 d0 56 59 65 95 a1 89 29 86 26 a4 1a 98 92 68 62 4a 53 47 17 4d 1d 5c 35 74 71 d4 d1 c5 0b 23
83 2c 8c 0e b0 32 38 c2 c8 e0 5a a5 66 99 96 69 a8 a2 8a 2a 57 5d 75 d5 1b 4b 63 27 87 93 6c 2d
8d 9c 1e 4e b1 b4 36 72 78 39 c6 d2 d8 c9 e1 e4 0f f0 33 cc c3 3c a9 a6 9a 6a 5b 67 97 6d 9d 5e
b5 76 79 d6 d9 e5 a3 8b 2b 8e 2e ac 3a b8 b2 e8 e2 ca f1 cd 3d c7 37 f4 1f dc d3 7c 73 4f aa a7
9b 6b 9e 6e ad 7a b9 b6 e9 e6 da 5f f5 77 dd d7 7d f2 ce 3e cb 3b f8 2f ec e3 bc b3 8f ab ae ba
ea f6 de 7e db 7b f9 6f ed e7 bd b7 9f fc f3 cf 3f af fa bb ee eb be fd f7 df 7f fe fb ef bf ff""")}


class Bits:
    """A stream, and how many bits its block may still take."""

    def __init__(self, data):
        self.value, self.end, self.at, self.left = int.from_bytes(data, "little"), 8 * len(data), 0, 0

    def take(self, n):
        need(n <= self.end - self.at, "zfp: bits are missing")
        self.at += n
        self.left -= n
        return self.value >> self.at - n & (1 << n) - 1


class Kind:
    """Type of the values: W bits, and, of numbers with a point, bits and bias of the exponent."""

    def __init__(self, bits, integer):
        self.bits, self.integer = bits, integer
        self.exponent, self.bias = (0, 0) if integer else (8, 127) if bits == 32 else (11, 1023)

    def pattern(self, x):
        """Of a whole number, or of a real."""
        if self.integer:
            return x & (1 << self.bits) - 1
        if self.bits == 64:
            return struct.unpack("<Q", struct.pack("<d", x))[0]
        try:
            return struct.unpack("<I", struct.pack("<f", x))[0]
        except OverflowError:  # rounds to infinity
            return 0x7F800000 | (x < 0) << 31

    def rounded(self, x):
        """A whole number as the nearest number of the type."""
        return float(x) if self.bits == 64 else struct.unpack("<f", struct.pack("<f", float(x)))[0]

    def power(self, e):
        """2^e as a number of the type: at its small end subnormal, or 0."""
        return math.ldexp(1.0, e) if e >= (-149 if self.bits == 32 else -1074) else 0.0


class Params:
    def __init__(self, data):
        self.minbits, self.maxbits, self.maxprec, self.minexp = struct.unpack("<IIIi", data)
        self.reversible = self.minexp < -1074

    def check(self, kind):
        head = 0 if kind.integer else 1 + kind.exponent
        if self.reversible:
            head += (not kind.integer) + (5 if kind.bits == 32 else 6)
        need(1 <= self.maxprec <= 64 and self.minbits <= self.maxbits, "zfp: parameters")
        need(max(head, 1) <= self.maxbits <= 32768 and -16495 <= self.minexp <= 16272, "zfp: parameters")


def read_planes(b, size, bits, planes):
    """The coefficients of a block in the order of the stream, as numbers of base -2."""
    c = [0] * size
    n = 0
    for plane in range(bits - 1, bits - planes - 1, -1):
        if b.left == 0:
            break
        known = min(n, b.left)
        column = b.take(known)
        while b.left and n < size:
            if not b.take(1):
                break
            while b.left and n < size - 1 and not b.take(1):
                n += 1
            column |= 1 << n
            n += 1
        for i in range(n):
            c[i] |= (column >> i & 1) << plane
    return c


def lift(v, at, stride, bits):
    x, y, z, w = (v[at + i * stride] for i in range(4))

    def s(a):
        return signed(a, bits)

    y = s(y + (w >> 1))
    w = s(w - (y >> 1))
    y = s(y + w)
    w = s((w << 1) - y)
    z = s(z + x)
    x = s((x << 1) - z)
    y = s(y + z)
    z = s((z << 1) - y)
    w = s(w + x)
    x = s((x << 1) - w)
    v[at:at + 4 * stride:stride] = x, y, z, w


def sum_up(v, at, stride, bits):
    """Lines of differences back."""
    x, y, z, w = (v[at + i * stride] for i in range(4))
    w += z
    z += y
    w += z
    y += x
    z += y
    w += z
    v[at:at + 4 * stride:stride] = (signed(a, bits) for a in (x, y, z, w))


def read_integers(b, params, kind, rank, planes):
    size, bits = 4**rank, kind.bits
    if params.reversible:
        planes = min(1 + b.take(5 if bits == 32 else 6), params.maxprec)
    mask = 0xAAAAAAAAAAAAAAAA & (1 << bits) - 1
    v = [0] * size
    for i, c in enumerate(read_planes(b, size, bits, min(planes, bits))):
        v[ORDER[rank][i]] = signed((c ^ mask) - mask, bits)
    for axis in reversed(range(rank)):
        for at in range(size):
            if at >> 2 * axis & 3 == 0:
                (sum_up if params.reversible else lift)(v, at, 4**axis, bits)
    return v


def read_reals(b, params, kind, rank):
    """Patterns."""
    if not b.take(1):
        return [0] * 4**rank
    if params.reversible and b.take(1):
        low = (1 << kind.bits - 1) - 1
        return [(x ^ low if x < 0 else x) & (1 << kind.bits) - 1
                for x in read_integers(b, params, kind, rank, None)]
    e = b.take(kind.exponent) - kind.bias
    planes = min(params.maxprec, max(0, e - params.minexp + 2 * (rank + 1)))
    scale = kind.power(e - kind.bits + 2)
    return [kind.pattern(kind.rounded(x) * scale) for x in read_integers(b, params, kind, rank, planes)]


def read_block(b, params, kind, rank):
    """Patterns of 4^rank values, x fastest."""
    start = b.at
    b.left = params.maxbits
    if kind.integer:
        values = [kind.pattern(x) for x in read_integers(b, params, kind, rank, params.maxprec)]
    else:
        values = read_reals(b, params, kind, rank)
        if params.reversible and b.at == start + 1:
            return values
    b.take(max(0, params.minbits - (b.at - start)))
    return values


def read_stream(b, params, kind, shape, places):
    """Patterns of all values in C order; places: where blocks must begin, by their number."""
    rank = len(shape)
    blocks = [ceil_div(n, 4) for n in shape]
    stride = [prod(shape[a + 1:]) for a in range(rank)]
    out = [0] * prod(shape)
    for number, block in enumerate(product(*(range(n) for n in blocks))):
        need(places.get(number, b.at) == b.at, "zfp: a block is not where the index says")
        values = read_block(b, params, kind, rank)
        for cell, inside in enumerate(product(range(4), repeat=rank)):
            index = [4 * i + j for i, j in zip(block, inside)]
            if all(i < n for i, n in zip(index, shape)):
                out[sum(i * s for i, s in zip(index, stride))] = values[cell]
    need(places.get(prod(blocks), b.at) == b.at, "zfp: the stream does not end where the index says")
    return out


# ---- index.md --------------------------------------------------------------------------------------------------------

OFFSETS, LENGTHS, HYBRID, PACKED = range(4)


def bits_of(words, nbits, first):
    return words >> first & (1 << nbits) - 1


def read_index(data, stream_end):
    """{number of a block: its place}, the end of the last one too, and the bytes that were read."""
    r = Reader(data)
    form, width, nbits, zero = r.number(1), r.number(1), [r.number(1) for _ in range(4)], r.number(2)
    each, partition, nblocks = r.number(4), r.number(4), r.number(8)
    begin, end, nwords = r.number(8), r.number(8), r.number(8)
    need(form <= PACKED and zero == 0 and each >= 1 and nblocks <= 2**48, "index: header")
    need(1 <= partition <= 65536 if form in (HYBRID, PACKED) else partition == 0, "index: partition")
    need(width in (16, 32, 64) if form in (LENGTHS, HYBRID) else width == 0, "index: width")
    need(all(n <= m for n, m in zip(nbits, (62, 56, 62, 7))) if form == PACKED else not any(nbits), "index: widths")
    need(begin <= end <= stream_end and end < 2**62 and (nblocks or begin == end), "index: places")
    need(4 * nwords <= len(data) - r.at, "index: body")
    body = int.from_bytes(r.take(4 * nwords), "little")
    n = ceil_div(nblocks, each)
    if form == PACKED:
        places = packed_places(body, nwords, nbits, n, partition, begin, end)
    else:
        places = plain_places(body, nwords, form, width, n, partition, begin, end)
    need(len(places) == n + 1 and places[-1] == end and (n == 0 or places[0] == begin), "index: places")
    need(all(a <= b for a, b in zip(places, places[1:])), "index: places go back")
    return {min(i * each, nblocks): place for i, place in enumerate(places)}, r.at


def plain_places(body, nwords, form, width, n, partition, begin, end):
    """Offsets, lengths and hybrid: heads of 64 bits, then lengths of `width` bits."""
    heads = n if form == OFFSETS else 0 if form == LENGTHS else ceil_div(n, partition)
    used = 64 * heads + width * (n - heads)
    need(nwords == ceil_div(used, 32) and body >> used == 0, "index: size of the body")
    head = [bits_of(body, 64, 64 * i) for i in range(heads)] + [end]
    length = [bits_of(body, width, 64 * heads + width * i) for i in range(n - heads)]
    if form == OFFSETS:
        return head
    places, at = [], begin
    for i in range(n):
        if form == HYBRID and i % partition == 0:
            need(at <= head[i // partition], "index: a partition overlaps the next one")
            at = head[i // partition]
            places.append(at)
            continue
        if form == LENGTHS:
            places.append(at)
            at += length[i]
        else:
            at += length[i - i // partition - 1]
            places.append(at)
    need(form != LENGTHS or at == end, "index: lengths do not add up")
    return places + [end]


def packed_places(body, nwords, nbits, n, partition, begin, end):
    m, h = ceil_div(n, partition), sum(nbits)
    first_word = ceil_div(h * m, 32)
    need(bits_of(body, 32 * first_word - h * m, h * m) == 0, "index: bits behind the heads")
    places, words_at = [], 0
    for p in range(m):
        fields, at = [], h * p
        for k in nbits:
            fields.append(bits_of(body, k, at))
            at += k
        offset, word, least, width = fields
        count = min(partition, n - p * partition)
        nlengths = ceil_div(width * count, 32)
        need(width <= 64 and word == words_at and first_word + word + nlengths <= nwords, "index: a partition's words")
        need(p == 0 or places.pop() == begin + offset, "index: lengths of a partition do not add up")
        at = begin + offset
        for i in range(count):
            places.append(at)
            at += least + bits_of(body, width, 32 * (first_word + word) + width * i)
        places.append(at)
        need(bits_of(body, 32 * nlengths - width * count, 32 * (first_word + word) + width * count) == 0,
             "index: bits behind the lengths")
        words_at += nlengths
    need(first_word + words_at == nwords, "index: size of the body")
    return places if m else [end]


# ---- zfp_chunk.md ----------------------------------------------------------------------------------------------------

class ZfpChunk:
    """decode() gives the patterns of all values, in C order."""

    def __init__(self, payload, bits, integer, extent):
        self.kind, self.extent, self.ncells = Kind(bits, integer), extent, prod(extent)
        r = self.r = Reader(payload)
        self.params = Params(r.take(16))
        self.nbits, self.index_nbytes = r.number(8), r.number(8)
        self.sets, self.raw = r.number(4), r.number(4)
        self.palette = [r.number(8) & (1 << bits) - 1 for _ in range(3)]
        need(self.sets < 16 and self.raw <= 1, "zfp chunk: header")
        if not self.raw:
            self.params.check(self.kind)
            need(self.index_nbytes % 8 == 0, "zfp chunk: size of the index")

    def patterns(self, n):
        size = self.kind.bits // 8
        data = self.r.take(ceil_div(n * size, 8) * 8)
        return [int.from_bytes(data[i * size:(i + 1) * size], "little") for i in range(n)]

    def read_set(self):
        """Numbers of the cells."""
        nwords = ceil_div(self.ncells, 64)
        tops = [self.r.number(8) for _ in range(ceil_div(nwords, 64))]
        need(nwords % 64 == 0 or tops[-1] >> nwords % 64 == 0, "zfp chunk: a set of words that are not there")
        cells = []
        for word in (64 * i + j for i, top in enumerate(tops) for j in range(64) if top >> j & 1):
            bits = self.r.number(8)
            cells += [64 * word + i for i in range(64) if bits >> i & 1]
        need(not cells or cells[-1] < self.ncells, "zfp chunk: a set of cells that are not there")
        return cells

    def read_places(self):
        p, index = self.params, self.r.take(self.index_nbytes)
        nblocks = prod(ceil_div(n, 4) for n in self.extent)
        if p.minbits == p.maxbits and not p.reversible:
            need(not index and self.nbits == nblocks * p.maxbits, "zfp chunk: size of a stream of fixed rate")
            return {}
        places, _ = read_index(index, self.nbits)
        need(0 in places and places[0] == 0 and places.get(nblocks) == self.nbits == max(places.values()),
             "zfp chunk: an index of another stream")
        return places

    def decode(self):
        if self.raw:
            values = self.patterns(self.ncells)
        else:
            places = self.read_places()
            sets = [self.read_set() if self.sets >> s & 1 else [] for s in range(4)]
            literals = self.patterns(len(sets[3]))
            stream = self.r.take(ceil_div(self.nbits, 64) * 8)
            bits = Bits(stream[:ceil_div(self.nbits, 8)])
            values = read_stream(bits, self.params, self.kind, self.extent, places)
            for cells, what in zip(sets, [[p] * len(cells) for p, cells in zip(self.palette, sets)] + [literals]):
                for cell, value in zip(cells, what):
                    values[cell] = value
        need(self.r.at == len(self.r.data), "zfp chunk: bytes are left over")
        return values
