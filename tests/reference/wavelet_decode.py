# SPDX-License-Identifier: BSD-3-Clause
"""The part of the reference decoder that reads chunks of codec wavelet: written from docs/format/wavelet.md and what it refers to, and
from nothing else."""
from fractions import Fraction
from itertools import product
from math import isfinite, prod
from struct import unpack

from base import Reader, ceil_div, need, turned, unturn
from interp_decode import Chunk, Grid, Real, Spec, keep, mixed, read_tables
from lorenzo_decode import exp2


def over(n, *weights):
    return [Fraction(w, n) for w in weights]


A, B, C, D = (Fraction(v) for v in (-1.586134342059924, -0.052980118572961, 0.882911075530934, 0.443506852043971))
UPDATE4, PREDICT6 = (0, -2, over(32, -1, 9, 9, -1)), (1, -2, over(256, -3, 25, -150, -150, 25, -3))
# 1/s; liftings: parity, first, weights
BANKS = [
    (1.230174104914001, [(1, 0, [A, A]), (0, -1, [B, B]), (1, 0, [C, C]), (0, -1, [D, D])]),
    (2 / 3, [(0, -1, [Fraction(-1 / 3)]), (1, 0, over(8, -9, -3)),
             (0, -1, [Fraction(1 / 12), Fraction(4 / 9), Fraction(-1 / 12)])]),
    (1, [(1, 0, over(2, -1, -1)), (0, -1, over(4, 1, 1))]),
    (1, [(1, 0, [Fraction(-1)]), (0, 0, over(2, 1))]),
    (1, [(1, -1, over(16, 1, -9, -9, 1)), UPDATE4]),
    (1, [PREDICT6, UPDATE4]),
    (1, [PREDICT6, (0, -3, over(512, 3, -25, 150, 150, -25, 3))]),
    (1, [(1, -3, over(2048, 5, -49, 245, -1225, -1225, 245, -49, 5)), UPDATE4]),
]


def signed(byte):
    return byte - 256 if byte > 127 else byte


class Bits:
    """From the lowest of a byte on."""

    def __init__(self, r):
        self.r, self.held, self.left = r, 0, 0

    def bit(self):
        if self.left == 0:
            self.held, self.left = self.r.number(1), 8
        self.left -= 1
        b, self.held = self.held & 1, self.held >> 1
        return b

    def number(self, n):
        return sum(self.bit() << i for i in range(n))

    def unary(self):
        n = 0
        while not self.bit():
            n += 1
        return n


def grid_of(version, shorter, planes, rows, columns):
    need(shorter <= (0, 3, 3, 4)[min(version, 4) - 1], "wavelet: entropy chunks that cannot be")
    most, side = 1024 >> shorter, 1
    while side * side < most:
        side *= 2
    if version < 4:
        return Grid.laid(planes, rows, columns, most, 64)
    pieces = max(1, planes // side)
    each = [most // min(most, ceil_div(planes, k)) for k in (pieces, pieces + 1)]
    grids = [Grid(planes, rows, columns, most, u) for u in each]
    return Grid.laid(planes, rows, columns, most, each[grids[1].count() < grids[0].count()])


class Step:
    """A step, from its bytes; fine is its fine lattice."""

    def __init__(self, r, version, fine):
        axes, how = r.number(1), r.number(1)
        width, shorter = how & 3, how >> 2
        self.fine, self.axes = fine, [axes >> 2 + 2 * i & 3 for i in range(axes & 3)]
        need(self.axes and axes >> 2 + 2 * len(self.axes) == 0 and len(set(self.axes)) == len(self.axes) and
             all(fine[a] > 1 for a in self.axes) and width in (1, 2), "wavelet: a step that cannot be")
        self.exponents = [0] + [signed(r.number(1)) for _ in range((1 << len(self.axes)) - 1)]
        self.shifts = [signed(r.number(1)) for _ in range(3)]
        self.spec = Spec(width, 1, 1, version > 4)
        self.coarse = [ceil_div(n, 2) if a in self.axes else n for a, n in enumerate(fine)]
        c, self.row = self.coarse, ceil_div(self.coarse[3] << len(self.axes), 8)
        self.grid = grid_of(version, shorter, c[0] * c[1], c[2], self.row)


class Records:
    """Lists of 8 codes: a list, or chunks, which may come one group after the other; and the tables that there are now."""

    def __init__(self, r, spec, grid, tables):
        self.r, self.spec, self.grid, self.tables, self.chunks = r, spec, grid, tables, []
        self.records = [[0] * 8 for _ in range(grid.records())]
        flags = r.number(1)
        need(flags < 5, "wavelet: records of no kind")
        if flags == 4:
            self.read_list()
            return
        if flags & 2:
            inner = Reader(r.take(r.number(2)))
            self.tables = read_tables(inner, spec)
            need(inner.at == len(inner.data), "wavelet: tables of another size")
        sizes = [4 * r.number(4 if flags & 1 else 2) for _ in grid.chunks()]
        need(not any(r.take(-r.at % 4)), "wavelet: padding")
        self.chunks = list(zip(grid.chunks(), sizes))

    def read_list(self):
        r, records = self.r, self.records
        count, low, at = r.number(4), r.number(1), 0
        bits = Bits(r)
        need(low < 32, "wavelet: a list of too many bits")
        for _ in range(count):
            at += bits.number(low)
            at += bits.unary() << low
            negative, size = bits.bit(), 1
            size += bits.unary()
            need(at % 8 < 7 and at // 8 < len(records) and size < 1 << 8 * self.spec.width - 1, "wavelet: a list")
            records[at // 8][at % 8] = -size if negative else size
            at += 1

    def read(self, first=None):
        """All chunks that are left; or those of the pieces up to the last one that has any of so many records, the first ones."""
        axis = 0 if self.grid.size[0] > 1 else 1
        piece = prod(self.grid.size[axis + 1:]) * self.grid.pieces[axis]
        while self.chunks and (first is None or self.chunks[0][0][0][0][0] // piece <= (first - 1) // piece):
            (rows, each), nbytes = self.chunks.pop(0)
            if nbytes:
                need(self.tables, "wavelet: chunks without tables")
                Chunk(self.spec, self.tables, self.r.take(nbytes), rows, each, self.records)


class WaveletChunk:
    def __init__(self, payload, bits, extent):
        self.extent, self.axes = extent, turned(extent, payload[11] if len(payload) > 11 else 0)
        axes = [extent[a] for a in self.axes]
        self.payload, self.real, self.size, self.n = payload, Real(bits), bits // 8, prod(extent)
        self.shape = [1] * (4 - len(axes)) + axes
        self.slowest = min(4 - len(axes), 3)
        self.limit = 2.0 ** (100 if bits == 32 else 1000)
        need(len(payload) >= 20 + self.n // 4096, "wavelet: too few bytes")

    def decode(self, level=0, value_range=(float("nan"), float("nan"))):
        """Patterns of a level's values, in C order. The range is that of the header."""
        self.range = value_range
        return unturn(self.decode_turned(level), self.extent, self.axes, level)

    def decode_turned(self, level):
        """With any patterns for values that are not of the level."""
        self.r = r = Reader(self.payload)
        h = r.take(12)
        self.version, self.bank, self.one_sided, self.packet, self.log = h[0], h[4], h[5] & 15, h[5] >> 4, h[3]
        need(h[0] in (1, 2, 3, 4, 5, 7) and h[1] < 3 and h[2] <= 64 and h[3] < 2 and h[4] < 8 and h[5] < 128 and h[6] < 8 and h[6] >> 1 != 2 and
             h[7] < 4 and h[8] <= 56 and h[10] < (1, 16, 16, 256)[min(h[0], 4) - 1] and (h[1] == 0 or not any(h[2:6] + h[8:11]) and not h[6] & 1) and
             (h[1] != 1 or not any(h[6:8])) and (not (self.packet or h[6] & 4) or self.slowest < 3) and
             (not self.one_sided or self.bank in (2, 4, 5, 6, 7)), "wavelet: its header")
        if h[1] == 1:
            return [r.number(self.size) for _ in range(self.n)]
        base = r.number(8) if h[1] == 2 else 0
        palette = [r.number(8) for _ in range(h[7])]
        mask = (1 << 8 * self.size) - 1
        if h[1] == 0:
            halved = self.array(h[2], h[8], signed(h[9]), level)
            if level:
                values = [0] * self.n
                for point in product(*(range(0, k, 1 << level) for k in self.shape)):
                    mean = self.a[self.at([x >> k for x, k in zip(point, halved)])]
                    values[self.at(point)] = self.real.pattern(self.within(self.leave(mean, 0)))
                return values
        nbits = 4 if h[0] > 3 else 2
        corrections = self.marks(h[10] & (1 << nbits) - 1) if h[6] & 1 else [0] * self.n
        kinds = self.marks(h[10] >> nbits) if h[6] & 2 else [0] * self.n
        apart = prod(self.shape[self.slowest + 1:])
        for i in range(apart, self.n if h[6] & 4 else 0):
            kinds[i] = (kinds[i] + kinds[i - apart] + 128) % 256 - 128
        values = []
        for i, kind in enumerate(kinds):
            if kind == 5:
                values.append(r.number(self.size))
            elif kind > 1:
                need(kind - 2 < len(palette), "wavelet: no such pattern")
                values.append(palette[kind - 2] & mask)
            else:
                need(kind == 0 or kind == 1 and self.log, "wavelet: no such kind")
                values.append(base & mask if h[1] else self.real.pattern(self.leave(self.a[i], corrections[i])) | kind << 8 * self.size - 1)
        return values

    # ---- numbers

    def cut(self, v):
        v = v if v < self.limit else self.limit
        return v if v > -self.limit else -self.limit

    def step_of(self, exponent, row=None):
        """As f64. row: cell along the slowest axis, of a packet."""
        if self.packet and row is not None:
            exponent += self.bands[self.band(row)]
        root = (1, 1.0905077326652577, 1.189207115002721, 1.2968395546510096, 1.4142135623730951, 1.5422108254079407,
                1.681792830507429, 1.8340080864093424)[exponent % 8]
        return self.base * root * 2.0 ** (exponent // 8)

    def band(self, at):
        n = self.shape[self.slowest]
        for level in range(self.packet):
            n = ceil_div(n, 2)
            if at >= n:
                return self.packet - level
        return 0

    def leave(self, v, k):
        real = self.real
        if k:
            size = abs(k) - 0.25
            v = real.fma(size if k > 0 else -size, self.unit, v)
        v = real.fma(1.0, self.cut(v), self.center)
        if self.log:
            v = real.round(min(exp2(max(min(v, 1100.0), -1100.0)), real.most))
        return v

    def within(self, v):
        """What a mean of the level becomes."""
        least, most = self.range
        if least != least:
            return v
        if self.log:
            sizes = sorted(map(abs, self.range))
            least, most = sizes[0] if least > 0 or most < 0 else 0.0, sizes[1]
        return min(max(v, self.real.round(least)), self.real.round(most))

    # ---- records

    def marks(self, shorter):
        """A code for each value."""
        s = self.shape
        row = ceil_div(s[3], 7)
        marks = Records(self.r, Spec(1, 1, 1, self.version > 4), grid_of(self.version, shorter, s[0] * s[1], s[2], row), None)
        marks.read()
        records = marks.records
        return [records[i * row + x // 7][x % 7] for i in range(prod(s[:3])) for x in range(s[3])]

    # ---- the array

    def at(self, point):
        s = self.shape
        return ((point[0] * s[1] + point[1]) * s[2] + point[2]) * s[3] + point[3]

    def array(self, nsteps, nbits, exponent, level):
        """Returns how often the axes of what it makes are halved."""
        r, real, steps, n = self.r, self.real, [], self.shape
        self.base, self.center, self.unit = (real.of(r.take(self.size)) for _ in range(3))
        need(self.base > 0 and self.unit > 0 and all(map(isfinite, (self.base, self.center, self.unit))),
             "wavelet: its numbers")
        self.bands = [signed(r.number(1)) for _ in range(self.packet + 1)]
        least = int.from_bytes(r.take(8), "little", signed=True)
        for _ in range(nsteps):
            steps.append(Step(r, self.version, n))
            need(not self.packet or self.slowest not in steps[-1].axes, "wavelet: a step along the packet")
            n = steps[-1].coarse
        packed = int.from_bytes(r.take(ceil_div(prod(n) * nbits, 8)), "little")
        self.checked = 0
        self.check()
        self.a = [0.0] * self.n
        for i, point in enumerate(product(*map(range, n))):
            q = least + (packed >> i * nbits & (1 << nbits) - 1)
            v = self.cut(float(q) * self.step_of(exponent, point[self.slowest]))
            self.a[self.at(point)] = real.round(v)
        passes = min(level, self.packet)
        all_steps, (steps, halved) = steps, self.taken(steps, level)
        read = []
        for step in reversed(steps):
            level_of = max(k for k in range(self.packet + 1) if step in self.taken(all_steps, k)[0])
            for before in read:
                self.read_group(*before, level_of)
            read.append((step, Records(r, step.spec, step.grid, read[-1][1].tables if read else None)))
            self.read_group(*read[-1], level_of)
            self.check()
        for step, records in read:
            self.details(step, records.records)
            for axis in step.axes:
                self.undo(step.fine, axis)
        n = list(steps[0].fine if steps else n)
        for number in reversed(range(passes, self.packet)):
            n[self.slowest] = ceil_div(self.shape[self.slowest], 1 << number)
            self.undo(n, self.slowest)
        return halved

    def taken(self, steps, level):
        """The steps that a level takes, and how often it halves each axis."""
        steps, halved = list(steps), [0] * 4
        halved[self.slowest] = min(level, self.packet)
        keep(steps, level, halved)
        return steps, halved

    def read_group(self, step, records, level):
        """Of a step what comes with those that this level takes."""
        n, points = step.coarse, ceil_div(self.shape[self.slowest], 1 << level)
        apart = self.packet and self.version > 5
        records.read(points * prod(n[self.slowest + 1:3]) * step.row if apart else None)

    def check(self):
        """That of the words since the last one."""
        r = self.r
        if self.version < 3:
            return
        need(not any(r.take(-r.at % 4)), "wavelet: padding")
        words = unpack("<%dI" % ((r.at - self.checked) // 4), self.payload[self.checked:r.at])
        found = sum(mixed(self.checked // 4 + i, word) for i, word in enumerate(words)) & 0xFFFFFFFF
        need(found == r.number(4), "wavelet: a check")
        self.checked = r.at

    def details(self, step, records):
        k, m = len(step.axes), step.coarse
        for c in range(1, 1 << k):
            odd = [a for i, a in enumerate(step.axes) if c >> i & 1]
            for cell in product(*(range(step.fine[a] - m[a] if a in odd else m[a]) for a in range(4))):
                code = (cell[3] << k) + c - 1
                q = records[((cell[0] * m[1] + cell[1]) * m[2] + cell[2]) * step.row + code // 8][code % 8]
                v = 0.0
                if q:
                    width = self.real.round(self.step_of(step.exponents[c], cell[self.slowest]))
                    size = abs(q) + step.shifts[min(abs(q), 3) - 1] / 64
                    v = self.cut(self.real.fma(size if q > 0 else -size, width, -0.0))
                self.a[self.at([m[a] + x if a in odd else x for a, x in enumerate(cell)])] = v

    def undo(self, n, axis):
        """A pass along an axis of the first points."""
        if n[axis] < 2:
            return
        for first in product(*(range(1 if a == axis else k) for a, k in enumerate(n))):
            places = [self.at([x if a == axis else y for a, y in enumerate(first)]) for x in range(n[axis])]
            line = [self.a[p] for p in places]
            for p, v in zip(places, self.line(line, self.one_sided >> axis & 1)):
                self.a[p] = v

    def line(self, values, one_sided):
        real, n, (scale, liftings) = self.real, len(values), BANKS[self.bank]
        m = ceil_div(n, 2)
        x = [0.0] * n
        x[::2], x[1::2] = values[:m], values[m:]
        if scale != 1:
            x[::2] = [real.fma(v, real.round(scale), -0.0) for v in x[::2]]
        for number, (odd, first, weights) in reversed(list(enumerate(liftings))):
            weights = [-real.round(w) for w in weights]
            for p in range(odd, n, 2):
                from_ = 2 * (p // 2 + first) + 1 - odd
                if one_sided and number == 0 and (from_ < 0 or from_ + 2 * (len(weights) - 1) >= n):
                    x[p] = self.predict_end(x, p, m)
                    continue
                for t, w in enumerate(weights):
                    x[p] = real.fma(w, x[self.reflect(from_ + 2 * t, n)], x[p])
        return [self.cut(v) for v in x]

    @staticmethod
    def reflect(p, n):
        while not 0 <= p < n:
            p = -p if p < 0 else 2 * (n - 1) - p
        return p

    def predict_end(self, x, p, m):
        i, v = p // 2, x[p]
        most = 2 if i + 1 == m else 4
        k = min(m, most)
        begin = min(max(i + 1 - most // 2, 0), m - k)
        for t in range(k):
            w = Fraction(1)
            for j in range(k):
                if j != t:
                    w *= Fraction(p - 2 * (begin + j), 2 * (t - j))
            v = self.real.fma(self.real.round(w), x[2 * (begin + t)], v)
        return v
