# SPDX-License-Identifier: BSD-3-Clause
"""The part of the reference decoder that reads chunks of codec lorenzo: written from docs/format/lorenzo_chunk.md, tile.md,
quantizer.md, lorenzo.md, pack.md and exception.md, and from nothing else; huffman.md has huffman_decode.py."""
import struct
from itertools import product
from math import prod

from base import Reader, Words, ceil_div, need, signed, u32, u64
from huffman_decode import huffman_tile, read_book

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

CODED_TILE, RAW, CONSTANT, SPECIAL = range(4)


class LorenzoChunk:
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
