# SPDX-License-Identifier: BSD-3-Clause
"""The part of the reference decoder that undoes encoder huffman: written from docs/format/huffman.md, and from nothing
else."""
from base import need

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
