# SPDX-License-Identifier: BSD-3-Clause
"""The part of the reference decoder that reads chunks of codec interp: written from docs/format/interp.md and what it refers to, and
from nothing else."""
import struct
from fractions import Fraction
from itertools import product
from math import isfinite, ldexp, prod

from base import Reader, ceil_div, need, turned, unturn
from lorenzo_decode import exp2

# ---- reals -----------------------------------------------------------------------------------------------------------


class Real:
    """Arithmetic of a type with p bits, rounded once an operation."""

    def __init__(self, bits):
        self.bits, self.form = bits, "<f" if bits == 32 else "<d"
        self.precision, self.lowest = (24, -149) if bits == 32 else (53, -1074)
        self.most = float.fromhex("0x1.fffffep127" if bits == 32 else "0x1.fffffffffffffp1023")

    def of(self, data):
        return struct.unpack(self.form, data)[0]

    def pattern(self, x):
        return int.from_bytes(struct.pack(self.form, x), "little")

    def round(self, exact):
        """A float or a fraction to the nearest number of the type, as `nearest` does."""
        return self.nearest(*exact.as_integer_ratio())

    def nearest(self, n, d):
        """n / d to the nearest number of the type, ties to even; beyond its range infinite."""
        if n == 0:
            return 0.0
        size = abs(n)
        top = size.bit_length() - d.bit_length()
        top -= size < d << top if top > 0 else size << -top < d  # 2^top <= size / d
        unit = max(top - self.precision + 1, self.lowest)
        if unit > 0:
            d <<= unit
        else:
            size <<= -unit
        count, rest = divmod(size, d)
        count += 2 * rest > d or 2 * rest == d and count & 1
        if unit > 0 and count << unit > self.most:
            return float("inf") if n > 0 else float("-inf")
        return ldexp(count if n > 0 else -count, unit)

    def fma(self, a, b, c):
        if not (isfinite(a) and isfinite(b) and isfinite(c)):
            return a * b + c
        (na, da), (nb, db), (nc, dc) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
        n = na * nb * dc + nc * da * db
        return self.nearest(n, da * db * dc) if n else a * b + c  # signs of 0

    def finite(self, r):
        r = r if r < self.most else self.most
        return r if r > -self.most else -self.most


# ---- ans.md ----------------------------------------------------------------------------------------------------------


def read_table(r, n, bits):
    """Frequencies of n symbols."""
    used = int.from_bytes(r.take(ceil_div(n, 8)), "little")
    need(used >> n == 0, "interp: a table names symbols beyond its own")
    present = [i for i in range(n) if used >> i & 1]
    codes = int.from_bytes(r.take(ceil_div(6 * len(present), 8)), "little")
    freq, rest = [0] * n, None
    for place, symbol in enumerate(present):
        code = codes >> 6 * place & 63
        if code == 15:
            need(rest is None, "interp: two symbols have the rest")
            rest = symbol
            continue
        need(code & 15 <= bits and ((4 + (code >> 4)) << (code & 15)) % 4 == 0, "interp: no frequency")
        freq[symbol] = ((4 + (code >> 4)) << (code & 15)) >> 2
    if present:
        need(rest is not None and sum(freq) < 1 << bits, "interp: frequencies that do not add up")
        freq[rest] = (1 << bits) - sum(freq)
    return freq


class Lanes:
    """States of a chunk, and the words that they take."""

    def __init__(self, data, lanes, lifted):
        need(len(data) % 4 == 0, "interp: a part of a word")
        bits, nbits = int.from_bytes(data, "little"), 8 * len(data)
        self.at, self.words, self.begin, self.least = 0, [], 1 if lifted else 1 << 15, 1 << 15
        if lifted:
            words, self.at, self.begin = bits & 1, bits >> 1 & 1, 1 << 15 if bits >> 2 & 1 else 1
            self.words = self.states(bits >> 3, lanes, words, nbits - 3)
            self.least = words << 15
            need(len(self.words) > self.at if words else not self.words and not bits & 7, "interp: words and flags differ")
        elif len(data) < 4 * lanes:
            need(not self.states(bits, lanes, 0, nbits), "interp: words in a short chunk")
            self.state = [x + (1 << 15) - 1 for x in self.state]
        else:
            self.state = list(struct.unpack("<%dI" % lanes, data[:4 * lanes]))
            self.words = list(struct.unpack("<%dH" % (len(data) // 2 - 2 * lanes), data[4 * lanes:]))
            self.at = self.state[0] >> 31
            self.state[0] &= (1 << 31) - 1

    def states(self, bits, lanes, words, nbits):
        """Widths and low bits of states, whose end is that of a word of 32 bits. Returns the words behind it."""
        each = 4 if words else 5
        widths = [(bits >> each * i & (1 << each) - 1) + 16 * words for i in range(lanes)]
        low = [max(w - 1, 0) for w in widths]
        used = each * lanes + sum(low)
        behind = (nbits - used) // 32 * 32
        need(used <= nbits and bits >> used & (1 << nbits - used - behind) - 1 == 0, "interp: bits behind states")
        bits >>= each * lanes
        self.state = []
        for w, n in zip(widths, low):
            self.state.append((bits & (1 << n) - 1 | 1 << n if w else 0) + 1 - words)
            bits >>= n
        bits >>= nbits - used - behind
        return [bits >> 16 * i & 0xFFFF for i in range(behind // 16)]

    def fill(self, lane, x):
        if x < self.least:
            need(self.at < len(self.words), "interp: words are missing")
            x = x << 16 | self.words[self.at]
            self.at += 1
        self.state[lane] = x

    def symbol(self, lane, freq, bits):
        x, start, s = self.state[lane], 0, 0
        slot = x & (1 << bits) - 1
        need(sum(freq), "interp: a symbol from an empty table")
        while slot >= start + freq[s]:
            start += freq[s]
            s += 1
        self.fill(lane, freq[s] * (x >> bits) + slot - start)
        return s

    def raw(self, lane, bits):
        x = self.state[lane]
        self.fill(lane, x >> bits)
        return x & (1 << bits) - 1

    def step(self):
        """Behind what the lanes do beside one another."""
        if self.at == len(self.words) and self.begin == 1 and self.least:
            self.least, self.state = 0, [x - (1 << 15) for x in self.state]

    def end(self):
        need(self.at == len(self.words) and all(x == self.begin for x in self.state), "interp: a chunk ends wrongly")


# ---- context.md ------------------------------------------------------------------------------------------------------


def half_octave(v):
    e = v.bit_length() - 1
    return v if v < 2 else 2 * e + (v >> e - 1 & 1)


class Spec:
    def __init__(self, width, window, planes, lifted):
        self.width, self.window, self.planes, self.lifted = width, window, planes, lifted
        self.masks, self.values = (14 if planes else 10), (0 if width == 0 else 126 if planes else 42)


def read_tables(r, spec):
    """For each context of masks, then of values, its table."""
    nmasks, nvalues = r.number(1), r.number(1)
    need(nmasks <= 16 and nvalues <= 16, "interp: too many tables")
    n = spec.masks + spec.values
    pairs = int.from_bytes(r.take(ceil_div(n, 2)), "little")
    need(pairs >> 4 * n == 0, "interp: a context too many")
    which = [pairs >> 4 * c & 15 for c in range(n)]
    masks = [read_table(r, 128, 12) for _ in range(nmasks)] or [[0] * 128]
    values = [read_table(r, 41, 10) for _ in range(nvalues)] or [[0] * 41]
    need(all(t < len(masks) for t in which[:spec.masks]) and all(t < len(values) for t in which[spec.masks:]),
         "interp: a context without table")
    return [masks[t] for t in which[:spec.masks]], [values[t] for t in which[spec.masks:]]


class Grid:
    """Records, and how they are cut."""

    def __init__(self, planes, rows, columns, most, of_plane):
        self.size = planes, rows, columns
        pieces = [0, self.piece(rows, min(most, of_plane)), self.piece(columns, 32)]
        pieces[0] = self.piece(planes, most // pieces[1])
        self.pieces = pieces

    @staticmethod
    def piece(n, most):
        return ceil_div(n, ceil_div(n, most))

    @classmethod
    def laid(cls, planes, rows, columns, most, of_plane):
        if planes * rows >= 64 or columns == 1:
            return cls(planes, rows, columns, most, of_plane)
        n = planes * rows * columns
        wide = min(32, ceil_div(n, 64))
        return cls(1, ceil_div(n, wide), wide, most, most)

    def chunks(self):
        """Numbers of records: rows of each chunk, as lists of lanes."""
        for low in product(*(range(0, n, p) for n, p in zip(self.size, self.pieces))):
            plane, row, column = (range(a, min(a + p, n)) for a, p, n in zip(low, self.pieces, self.size))
            yield [[(k * self.size[1] + j) * self.size[2] + i for i in column] for k in plane for j in row], len(row)

    def count(self):
        return prod(ceil_div(n, p) for n, p in zip(self.size, self.pieces))

    def records(self):
        return prod(self.size)


class Chunk:
    """One entropy chunk: fills records, which are lists of 8 codes, or masks."""

    def __init__(self, spec, tables, data, rows, each, records):
        self.spec, self.tables, self.rows, self.each, self.records = spec, tables, rows, each, records
        self.n, self.lanes = len(rows), len(rows[0])
        self.coder = Lanes(data, self.lanes, spec.lifted)
        self.count = {}
        t1 = self.n
        while t1 > 0:
            below = max(t1 - spec.window, 0)
            window = {t: self.masks(t) for t in range(t1 - 1, below - 1, -1)}
            if spec.width:
                self.values(window, t1, below)
            t1 = below
        self.coder.end()

    def counts(self, t, lane):
        """Of a row that is decoded, or 0; beyond the ends those of the ends."""
        return self.count[t][min(max(lane, 0), self.lanes - 1)] if t in self.count else 0

    def row_sum(self, t, lane, weight):
        return weight * self.counts(t, lane) + self.counts(t, lane - 1) + self.counts(t, lane + 1)

    def masks(self, t):
        contexts = []
        for lane in range(self.lanes):
            v = self.row_sum(t + 1, lane, 2)
            if self.spec.planes:
                v, q = 2 * v, t + self.each
                if q < self.n:
                    v += self.row_sum(q, lane, 4)
                    v += self.counts(q + 1 if t % self.each + 1 < self.each else q, lane)
                    v += self.counts(q - 1 if t % self.each else q, lane)
                else:
                    v *= 2
            contexts.append(half_octave(v))
        masks = [self.coder.symbol(lane, self.tables[0][c], 12) for lane, c in enumerate(contexts)]
        self.coder.step()
        self.count[t] = [bin(m).count("1") for m in masks]
        for lane, mask in enumerate(masks):
            self.records[self.rows[t][lane]] = [0] * 8 if self.spec.width else mask
        return masks

    def context(self, t, lane, place, t1, below):
        before = self.counts(t + 1, lane)
        after = self.counts(t - 1, lane) if t > below else before
        m = 2 * self.counts(t, lane) + before + after + (self.counts(t, lane - 1) + self.counts(t, lane + 1)) // 2
        above = self.records[self.rows[t1][lane]][place] if t1 < self.n else 0
        a, flip, group = abs(above), False, 0
        if self.spec.planes:
            q, other = t + self.each, 0
            if t1 <= q < self.n:
                other = self.records[self.rows[q][lane]][place]
                m = 5 * (m + self.counts(q, lane)) // 6
                a = (a + abs(other) + 1) // 2
            signs = (above > 0) - (above < 0) + (other > 0) - (other < 0)
            flip, group = signs < 0, abs(signs)
        return 7 * min(5, m // 6) + min(6, half_octave(a)) + 42 * group, flip

    def values(self, window, t1, below):
        due = [(t, lane, place) for lane in range(self.lanes) for t in range(t1 - 1, below - 1, -1) for place in range(8)
               if window[t][lane] >> place & 1]
        for first in range(0, len(due), self.lanes):
            step = due[first:first + self.lanes]
            contexts = [self.context(t, lane, place, t1, below) for t, lane, place in step]
            symbols = [self.coder.symbol(i, self.tables[1][c], 10) for i, (c, _) in enumerate(contexts)]
            self.coder.step()
            for i, ((t, lane, place), s) in enumerate(zip(step, symbols)):
                if s >= 30:
                    raw = self.coder.raw(i, s - 25)
                    size, negative = 1 << s - 26 | raw >> 1, raw & 1
                else:
                    size, negative = s // 2 + 1, (s & 1) ^ contexts[i][1]
                size = min(size, 127) if self.spec.width == 1 else size
                self.records[self.rows[t][lane]][place] = -size if negative else size
            self.coder.step()


def read_chunks(r, spec, grid, tables, sizes, records):
    for (rows, each), size in zip(grid.chunks(), sizes):
        Chunk(spec, tables, r.take(size), rows, each, records)


def mixed(i, word):
    """What word i adds to a check."""
    h = word + i * 0x9E3779B1 & 0xFFFFFFFF
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


# ---- interp.md -------------------------------------------------------------------------------------------------------

WEIGHTS = {0: (-0.075, 0.575, 0.575, -0.075), 1: (-1 / 16, 9 / 16, 9 / 16, -1 / 16)}


class Step:
    """A step, from its bytes; fine is its fine lattice."""

    def __init__(self, r, real, fine, lifted):
        axes, how, rows = r.number(1), r.number(1), r.number(1)
        self.checked, rows = 1 << (rows >> 4), rows & 15
        self.real, self.fine = real, fine
        self.step = real.of(r.take(real.bits // 8))
        self.axes = [axes >> 2 + 2 * i & 3 for i in range(axes & 3)]
        self.predictor, self.mean, self.tables = how & 3, how >> 2 & 1, how >> 5 & 1
        self.spec = Spec(1 + (how >> 3 & 1), 1 << (how >> 6), how >> 4 & 1, lifted)
        need(self.axes and axes >> 2 + 2 * len(self.axes) == 0 and len(set(self.axes)) == len(self.axes) and
             all(fine[a] > 1 for a in self.axes) and self.predictor < 3 and 5 <= rows <= 10 and self.step > 0 and
             isfinite(self.step), "interp: a step that cannot be")
        self.coarse = [ceil_div(n, 2) if a in self.axes else n for a, n in enumerate(fine)]
        c, self.row = self.coarse, ceil_div(self.coarse[3] << len(self.axes), 8)
        self.grid = Grid.laid(c[0] * c[1], c[2], self.row, 1 << rows, 64 if self.spec.planes else 1 << rows)

    def weights(self, g, n):
        if g + 1 >= n:
            w = (-0.5, 1.5, 0, 0) if g else (0, 1, 0, 0)
        elif self.predictor == 2 or (g == 0 and g + 2 >= n):
            w = 0, 0.5, 0.5, 0
        elif g == 0:
            w = 0, 0.375, 0.75, -0.125
        elif g + 2 >= n:
            w = -0.125, 0.75, 0.375, 0
        else:
            w = WEIGHTS[self.predictor]
        return [self.real.round(v) for v in w]

    def along(self, points, point, axis):
        """From the even points around it."""
        g, here = point[axis] // 2, list(point)
        w, e = self.weights(g, self.coarse[axis]), []
        for k, weight in zip((-1, 0, 1, 2), w):
            here[axis] = 2 * (g + k if weight else g)
            e.append(points[tuple(here)])
        fma = self.real.fma
        return fma(w[0], e[0], fma(w[3], e[3], fma(w[1], e[1], fma(w[2], e[2], -0.0))))

    def predict(self, points, point, odd):
        last, real = odd[-1], self.real
        p = self.along(points, point, last)
        if not self.mean or len(odd) == 1:
            return p
        for axis in odd[:-1]:
            p = real.fma(1.0, p, self.along(points, point, axis))
        return real.fma(p, real.round(Fraction(1, len(odd))), -0.0)

    def refine(self, lattice, records):
        """The fine lattice, of the coarse one and the codes: dictionaries by point."""
        k, fine = len(self.axes), {}
        for cell, v in lattice.items():
            fine[tuple(2 * g if a in self.axes else g for a, g in enumerate(cell))] = v
        for c in (1, 2, 4, 3, 5, 6, 7):
            if c >> k:
                continue
            odd = [axis for i, axis in enumerate(self.axes) if c >> i & 1]
            for cell in product(*(range(n) for n in self.coarse)):
                point = tuple(2 * g + (a in odd) if a in self.axes else g for a, g in enumerate(cell))
                if any(x >= n for x, n in zip(point, self.fine)):
                    continue
                m = self.coarse
                code = (cell[3] << k) + c - 1
                q = records[((cell[0] * m[1] + cell[1]) * m[2] + cell[2]) * self.row + code // 8][code % 8]
                p = self.predict(fine, point, odd)
                fine[point] = self.real.finite(self.real.fma(float(q), self.step, p))
        return fine


def keep(steps, level, halved):
    """Takes away the first steps that a level does not undo, and counts how often they halve each axis."""
    while steps and all(halved[a] < level for a in steps[0].axes):
        for a in steps.pop(0).axes:
            halved[a] += 1


class InterpChunk:
    def __init__(self, payload, bits, extent):
        self.extent, self.axes = extent, turned(extent, payload[9] if len(payload) > 9 else 0)
        axes = [extent[a] for a in self.axes]
        self.payload, self.real, self.size, self.n = payload, Real(bits), bits // 8, prod(extent)
        self.shape = [1] * (4 - len(axes)) + axes
        need(len(payload) >= 28 + self.n // 4096, "interp: too few bytes")

    def decode(self, level=0, _=None):
        """Patterns of a level's values, in C order."""
        return unturn(self.decode_turned(level), self.extent, self.axes, level)

    def decode_turned(self, level):
        """With any patterns for values that are not of the level."""
        self.r = r = Reader(self.payload)
        head = r.take(20)
        kind, nsteps, flags, sets = head[1], head[2], head[3], head[4:9]
        need(head[0] in (2, 3, 4) and kind < 3 and nsteps <= 64 and flags < 4 and not any(head[10:12]) and
             (kind == 0 or (nsteps == 0 and flags & 1 == 0)) and (kind != 1 or not any(sets + head[12:16])) and
             all(s & 15 < 3 and (s >> 4 == 0 or s & 15 == 2) for s in sets), "interp: its header")
        self.lifted = head[0] > 3
        if kind == 1:
            return [r.number(self.size) for _ in range(self.n)]
        base = r.number(8) if kind == 2 else 0
        patterns = [r.number(8) if s else 0 for s in sets[1:4]]
        nbytes = 4 * int.from_bytes(head[12:16], "little")
        if kind == 2:
            apart, values = r.take(nbytes), [base & (1 << 8 * self.size) - 1] * self.n
        else:
            apart, values = self.coded(nsteps, flags, nbytes, head[0] > 2, level)
        self.r = Reader(apart)
        self.place(values, sets, patterns)
        return values

    def pad(self):
        need(not any(self.r.take(-self.r.at % 4)), "interp: padding")

    def coded(self, nsteps, flags, nbytes, checked, level):
        r, real, steps, n = self.r, self.real, [], self.shape
        for _ in range(nsteps):
            steps.append(Step(r, real, n, self.lifted))
            n = steps[-1].coarse
        self.pad()
        lattice = {point: real.of(r.take(self.size)) for point in product(*(range(k) for k in n))}
        apart = r.take(nbytes)
        tables, sizes, all_tables = None, [], []
        for step in reversed(steps):
            need(step.tables or (all_tables and step.spec.planes == planes), "interp: a step without tables")
            if step.tables:
                inner = Reader(r.take(r.number(2)))
                tables, planes = read_tables(inner, step.spec), step.spec.planes
                need(inner.at == len(inner.data), "interp: tables of another size")
            all_tables.append(tables)
        for step in reversed(steps):
            sizes.append([4 * r.number(4 if flags & 2 else 2) for _ in step.grid.chunks()])
        groups = [[each[i:i + step.checked] for i in range(0, len(each), step.checked)]
                  for step, each in zip(reversed(steps), sizes)] if checked else []
        groups = [group for step in groups for group in step]
        need(all(step.checked <= (256 if checked else 1) for step in steps), "interp: chunks of a check")
        checks = [r.number(2) for _ in groups]
        self.pad()
        begin = r.at
        for check, group in zip(checks, groups):
            found = 0
            for k, size in enumerate(group):
                words = Reader(r.take(size))
                found += mixed(k, sum(mixed(i, words.number(4)) for i in range(size // 4)) & 0xFFFFFFFF)
            found &= 0xFFFFFFFF
            need((found ^ found >> 16) & 0xFFFF == check, "interp: the check of an entropy chunk")
        r.at = begin
        halved = [0] * 4
        keep(steps, level, halved)
        for step, tables, each in zip(reversed(steps), all_tables, sizes):
            records = [None] * step.grid.records()
            read_chunks(r, step.spec, step.grid, tables, each, records)
            lattice = step.refine(lattice, records)
        values = [0] * self.n
        for i, point in enumerate(product(*map(range, self.shape))):
            if not any(x % (1 << level) for x in point):
                v = lattice[tuple(x >> h for x, h in zip(point, halved))]
                values[i] = real.pattern(self.leave(v) if flags & 1 else v)
        return apart, values

    def leave(self, v):
        y = exp2(max(min(v, 1100.0), -1100.0))
        return self.real.round(min(y, self.real.most))

    # ---- sets

    def place(self, values, sets, patterns):
        for number, what in enumerate(sets):
            if what == 0:
                continue
            members = self.mask(what >> 4) if what & 15 == 2 else self.list()
            for at in members:
                if number == 0:
                    values[at] |= 1 << 8 * self.size - 1
                elif number == 4:
                    values[at] = self.r.number(self.size)
                else:
                    values[at] = patterns[number - 1] & (1 << 8 * self.size) - 1

    def list(self):
        members = [self.r.number(4) for _ in range(self.r.number(4))]
        need(all(a < b for a, b in zip(members, members[1:])) and all(m < self.n for m in members), "interp: a list")
        return members

    def mask(self, axes):
        r, s, spec = self.r, self.shape, Spec(0, 1, 0, self.lifted)
        row = ceil_div(s[3], 7)
        grid = Grid.laid(s[0] * s[1], s[2], row, 1024, 1024)
        inner = Reader(r.take(r.number(2)))
        tables = read_tables(inner, spec)
        need(inner.at == len(inner.data), "interp: tables of another size")
        sizes = [4 * r.number(2) for _ in grid.chunks()]
        self.pad()
        records = [None] * grid.records()
        read_chunks(r, spec, grid, tables, sizes, records)
        bits = []
        for i in range(prod(s[:3])):
            line = [records[i * row + x // 7] >> x % 7 & 1 for x in range(7 * row)]
            need(not any(line[s[3]:]), "interp: a mask beyond its row")
            bits += line[:s[3]]
        for axis in (3, 2, 1, 0):
            far = prod(s[axis + 1:])
            for i in range(self.n if axes >> axis & 1 else 0):
                if i // far % s[axis]:
                    bits[i] ^= bits[i - far]
        return [i for i, bit in enumerate(bits) if bit]
