/* SPDX-License-Identifier: BSD-3-Clause */
/* How a histogram becomes a codebook and a codebook becomes bits: integers only, fixed work arrays, for every device. */
#ifndef FLOE_STAGE_HUFFMAN_BOOK_MATH_H
#define FLOE_STAGE_HUFFMAN_BOOK_MATH_H

#include <stdbool.h>

#include "stage/huffman/huffman_math.h"

/* ---- code lengths ---- */

/* Shell sort; the keys are distinct, so any sort gives the same. Gaps: Ciura's. */
FLOE_HD void floe_huffman_sort(uint64_t *key, uint32_t n)
{
    const uint8_t gaps[] = {132, 57, 23, 10, 4, 1};
    for (uint32_t g = 0; g < sizeof gaps; g++) {
        uint32_t gap = gaps[g];
        for (uint32_t i = gap; i < n; i++) {
            uint64_t k = key[i];
            uint32_t j = i;
            for (; j >= gap && key[j - gap] > k; j -= gap)
                key[j] = key[j - gap];
            key[j] = k;
        }
    }
}

/* The used symbols in order of rising count, then symbol number, as count << 8 | symbol. Returns how many. */
FLOE_HD uint32_t floe_huffman_rank(const uint32_t *count, uint32_t nsymbols, uint64_t *key)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < nsymbols; s++)
        if (count[s])
            key[n++] = (uint64_t)count[s] << 8 | s;
    floe_huffman_sort(key, n);
    return n;
}

/* One round of package-merge: merges the leaves with the pairs of the list of the round before, leaf first on a tie.
 * Keeps keep items; leaf[i]: item i is a leaf. Returns the length of the list. */
FLOE_HD uint32_t floe_huffman_merge(const uint64_t *key, uint32_t n, const uint64_t *before, uint32_t nbefore,
                                    uint32_t keep, uint64_t *list, uint8_t *leaf)
{
    uint32_t a = 0, p = 0, i = 0;
    for (; i < keep && (a < n || 2 * p + 1 < nbefore); i++) {
        bool pair_left = 2 * p + 1 < nbefore;
        uint64_t pair = pair_left ? before[2 * p] + before[2 * p + 1] : 0;
        leaf[i] = a < n && (!pair_left || key[a] >> 8 <= pair);
        list[i] = leaf[i] ? key[a++] >> 8 : pair;
        p += !leaf[i];
    }
    return i;
}

/* Optimal code lengths of at most limit bits (package-merge), 0 for unused symbols. At least two symbols are used,
 * at most 2^limit; limit <= MAX_LENGTH. */
FLOE_HD void floe_huffman_lengths(const uint32_t *count, uint32_t nsymbols, uint32_t limit, uint8_t *length)
{
    uint64_t key[FLOE_HUFFMAN_SYMBOLS], list[2][2 * FLOE_HUFFMAN_SYMBOLS];
    uint8_t leaf[FLOE_HUFFMAN_MAX_LENGTH][2 * FLOE_HUFFMAN_SYMBOLS];
    uint32_t n = floe_huffman_rank(count, nsymbols, key), keep = 2 * n - 2, nlist = 0;
    for (uint32_t s = 0; s < nsymbols; s++)
        length[s] = 0;
    for (uint32_t r = 0; r < limit; r++)
        nlist = floe_huffman_merge(key, n, list[(r + 1) & 1], nlist, keep, list[r & 1], leaf[r]);
    /* Of the last list the first 2n - 2 items count; each of their packages counts two items of the list before, and a
     * leaf is as long as the number of lists in which it counts. */
    uint32_t items = keep;
    for (uint32_t r = limit; r-- > 0;) {
        uint32_t nleaves = 0;
        for (uint32_t i = 0; i < items; i++)
            nleaves += leaf[r][i];
        for (uint32_t i = 0; i < nleaves; i++)
            length[key[i] & 0xff]++;
        items = 2 * (items - nleaves);
    }
}

/* Canonical codes, first bit lowest, | length << 11. Returns false unless the lengths (0: no code) are complete. */
FLOE_HD bool floe_huffman_codes(const uint8_t *length, uint32_t nsymbols, uint16_t *code)
{
    uint32_t of_length[FLOE_HUFFMAN_MAX_LENGTH + 1] = {0}, next[FLOE_HUFFMAN_MAX_LENGTH + 1], first = 0;
    for (uint32_t s = 0; s < nsymbols; s++)
        of_length[length[s]]++;
    next[0] = of_length[0] = 0;
    for (uint32_t n = 1; n <= FLOE_HUFFMAN_MAX_LENGTH; n++) {
        first = (first + of_length[n - 1]) << 1;
        next[n] = first;
    }
    if (first + of_length[FLOE_HUFFMAN_MAX_LENGTH] != 1u << FLOE_HUFFMAN_MAX_LENGTH)
        return false;
    for (uint32_t s = 0; s < nsymbols; s++) {
        uint32_t n = length[s], c = n ? next[n]++ : 0, reversed = 0;
        for (uint32_t i = 0; i < n; i++)
            reversed |= (c >> i & 1) << (n - 1 - i);
        code[s] = (uint16_t)(reversed | n << FLOE_HUFFMAN_MAX_LENGTH);
    }
    return true;
}

/* ---- the book's own coding of lengths: the difference to a prediction from symbols before, modulo 12 ---- */

enum {
    FLOE_HUFFMAN_ABSENT = FLOE_HUFFMAN_MAX_LENGTH + 1, /* a symbol without a code counts as this long */
    FLOE_HUFFMAN_SHORT_RUN = 12,                       /* 3..6 symbols as predicted: 2 more bits */
    FLOE_HUFFMAN_LONG_RUN = 13,                        /* 7..38: 5 more bits */
    FLOE_HUFFMAN_TOKENS = 14,
    FLOE_HUFFMAN_TOKEN_LIMIT = 7, /* longest code of a token; its length takes 3 bits */
    FLOE_HUFFMAN_FIRST_LENGTH = 3 /* predicted for symbol 0 */
};

/* The bits of a symbol that belong to its first value; those of value i are i higher. All bits where a symbol is one. */
FLOE_HD uint32_t floe_huffman_digit(uint32_t table)
{
    uint32_t width = table < FLOE_HUFFMAN_VALUE ? 0 : table - FLOE_HUFFMAN_VALUE + 1;
    if (table < FLOE_HUFFMAN_HEADER)
        return 0x01;
    return width == 1 ? 0x01 : width == 2 ? 0x11 : width == 3 ? 0x15 : width == 4 ? 0x55 : 0xff;
}

/* Predicts the length (1..12) of symbol s from the lengths v[0..s). A symbol of several values is as improbable as its
 * values together; a value as in the place before; else like its neighbour. */
FLOE_HD uint32_t floe_huffman_predict(uint32_t table, const uint8_t *v, uint32_t s)
{
    uint32_t digit = floe_huffman_digit(table), place = 0;
    if (s == 0)
        return FLOE_HUFFMAN_FIRST_LENGTH;
    while (!(s & digit << place))
        place++;
    uint32_t low = s & digit << place, rest = s ^ low;
    if (rest) {
        int32_t sum = (int32_t)v[low] + v[rest] - v[0];
        return sum < 1 ? 1 : sum > FLOE_HUFFMAN_ABSENT ? FLOE_HUFFMAN_ABSENT : (uint32_t)sum;
    }
    if (place)
        return v[s >> 1];
    bool header = table >= FLOE_HUFFMAN_HEADER && table < FLOE_HUFFMAN_VALUE;
    return header && s >= 2 ? v[s - 2] : v[(s - 1) & digit];
}

/* The token for symbol s of a table; *extra: its more bits; *advance: the symbols that it stands for. */
FLOE_HD uint32_t floe_huffman_token(uint32_t table, const uint8_t *v, uint32_t s, uint32_t *extra, uint32_t *advance)
{
    uint32_t nsymbols = floe_huffman_alphabet(table), run = 0;
    while (run < 38 && s + run < nsymbols && v[s + run] == floe_huffman_predict(table, v, s + run))
        run++;
    *extra = run < 3 ? 0 : run < 7 ? run - 3 : run - 7;
    *advance = run < 3 ? 1 : run;
    if (run >= 3)
        return run < 7 ? FLOE_HUFFMAN_SHORT_RUN : FLOE_HUFFMAN_LONG_RUN;
    return (v[s] + FLOE_HUFFMAN_ABSENT - floe_huffman_predict(table, v, s)) % FLOE_HUFFMAN_ABSENT;
}
FLOE_HD uint32_t floe_huffman_token_extra(uint32_t token)
{
    return token == FLOE_HUFFMAN_SHORT_RUN ? 2 : token == FLOE_HUFFMAN_LONG_RUN ? 5 : 0;
}

#endif
