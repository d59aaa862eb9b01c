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

/* What a book holds for a symbol whose canonical code is c, of n bits: first bit lowest, | n << 11. */
enum { FLOE_HUFFMAN_CODE_MASK = (1 << FLOE_HUFFMAN_MAX_LENGTH) - 1 };
FLOE_HD uint16_t floe_huffman_code(uint32_t c, uint32_t n)
{
#ifdef __CUDA_ARCH__
    uint32_t reversed = n ? __brev(c) >> (32 - n) : 0;
#else
    uint32_t reversed = 0;
    for (uint32_t i = 0; i < n; i++)
        reversed |= (c >> i & 1) << (n - 1 - i);
#endif
    return (uint16_t)(reversed | n << FLOE_HUFFMAN_MAX_LENGTH);
}

/* Canonical codes. Returns false unless the lengths (0: no code) are complete. */
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
        uint32_t n = length[s], c = n ? next[n]++ : 0;
        code[s] = floe_huffman_code(c, n);
    }
    return true;
}

/* ---- what codes stand for ---- */

/* Bits behind the code of a symbol. */
FLOE_HD uint32_t floe_huffman_raw(uint32_t table, uint32_t symbol)
{
    return table < FLOE_HUFFMAN_VALUE + FLOE_HUFFMAN_NARROW ? 0 : floe_huffman_wide_raw(symbol);
}

/* What a decoder finds behind the bits of a symbol's code of n bits. */
FLOE_HD uint16_t floe_huffman_entry(uint32_t table, uint32_t symbol, uint32_t n)
{
    return (uint16_t)((n + floe_huffman_raw(table, symbol)) | symbol << 8);
}

/* ---- the bits of a book ---- */

enum {
    FLOE_HUFFMAN_MODE_BITS = 2,
    FLOE_HUFFMAN_SINGLE_BITS = 8,
    FLOE_HUFFMAN_TOKEN_LENGTH_BITS = 3,
    FLOE_HUFFMAN_ALL_SYMBOLS = 2496 /* of all tables: the sum of floe_huffman_alphabet */
};

/* ---- the book's own coding of lengths: the difference to a prediction from symbols before, modulo 12 ---- */

enum {
    FLOE_HUFFMAN_ABSENT = FLOE_HUFFMAN_MAX_LENGTH + 1, /* a symbol without a code counts as this long */
    FLOE_HUFFMAN_SHORT_RUN = 12,                       /* 3..6 symbols as predicted: 2 more bits */
    FLOE_HUFFMAN_LONG_RUN = 13,                        /* 7..38: 5 more bits */
    FLOE_HUFFMAN_TOKENS = 14,
    FLOE_HUFFMAN_SHORT_RUN_LEAST = 3,
    FLOE_HUFFMAN_SHORT_RUN_BITS = 2,
    FLOE_HUFFMAN_LONG_RUN_LEAST = 7,
    FLOE_HUFFMAN_LONG_RUN_BITS = 5,
    FLOE_HUFFMAN_LONGEST_RUN = 38,
    FLOE_HUFFMAN_TOKEN_LIMIT = 7,        /* longest code of a token; its length takes 3 bits */
    FLOE_HUFFMAN_TYPICAL_TOKEN_BITS = 3, /* when it is chosen whether a table is worth a code */
    FLOE_HUFFMAN_FIRST_LENGTH = 3,       /* predicted for symbol 0 */
    /* No valid book takes more bits: a symbol's length costs at most a token without more bits, a run of 3 or more costs at
     * most 12; a table that is SINGLE costs less. */
    FLOE_HUFFMAN_BOOK_MOST_BITS = FLOE_HUFFMAN_TABLES * FLOE_HUFFMAN_MODE_BITS +
                                  FLOE_HUFFMAN_TOKENS * FLOE_HUFFMAN_TOKEN_LENGTH_BITS +
                                  FLOE_HUFFMAN_ALL_SYMBOLS * FLOE_HUFFMAN_TOKEN_LIMIT
};

/* A length as the prediction counts it: 12 for a symbol without a code, 0; and back. */
FLOE_HD uint32_t floe_huffman_predicted_as(uint32_t length) { return length ? length : FLOE_HUFFMAN_ABSENT; }
FLOE_HD uint32_t floe_huffman_length_of(uint32_t v) { return v == FLOE_HUFFMAN_ABSENT ? 0 : v; }

/* Tokens 0 to 11 and the length v that they stand for. */
FLOE_HD uint32_t floe_huffman_step_of(uint32_t v, uint32_t predicted)
{
    uint32_t step = v + FLOE_HUFFMAN_ABSENT - predicted;
    return step >= FLOE_HUFFMAN_ABSENT ? step - FLOE_HUFFMAN_ABSENT : step;
}
FLOE_HD uint32_t floe_huffman_stepped(uint32_t predicted, uint32_t step)
{
    uint32_t v = predicted + step;
    return v > FLOE_HUFFMAN_ABSENT ? v - FLOE_HUFFMAN_ABSENT : v;
}

/* The bits of a symbol that belong to its first value; those of value i are i higher. All bits where a symbol is one. */
FLOE_HD uint32_t floe_huffman_digit(uint32_t table)
{
    uint32_t width = table < FLOE_HUFFMAN_VALUE ? 0 : table - FLOE_HUFFMAN_VALUE + 1;
    if (table < FLOE_HUFFMAN_HEADER)
        return 0x01;
    return width == 1 ? 0x01 : width == 2 ? 0x11 : width == 3 ? 0x15 : width == 4 ? 0x55 : 0xff;
}

/* Values in a symbol, by the same table. */
FLOE_HD uint32_t floe_huffman_places(uint32_t table)
{
    uint32_t digit = floe_huffman_digit(table);
    if (table < FLOE_HUFFMAN_HEADER)
        return FLOE_HUFFMAN_QUAD_GROUPS;
    return digit == 0x01 ? 8 : digit == 0x11 ? 4 : digit == 0xff ? 1 : 2;
}

/* The symbol by which symbol s > 0 is predicted. A symbol of several values (*rest > 0) is as improbable as its first one,
 * which is returned, and the rest together; a value as in the place before; else like its neighbour. */
FLOE_HD uint32_t floe_huffman_parent(uint32_t table, uint32_t s, uint32_t *rest)
{
    uint32_t digit = floe_huffman_digit(table), place = 0;
    while (!(s & digit << place))
        place++;
    uint32_t low = s & digit << place;
    *rest = s ^ low;
    if (*rest)
        return low;
    if (place)
        return s >> 1;
    bool header = table >= FLOE_HUFFMAN_HEADER && table < FLOE_HUFFMAN_VALUE;
    return header && s >= 2 ? s - 2 : (s - 1) & digit;
}

/* The prediction for two symbols in one: 1..12. */
FLOE_HD uint32_t floe_huffman_predict_both(uint32_t low, uint32_t rest, uint32_t zero)
{
    int32_t sum = (int32_t)low + (int32_t)rest - (int32_t)zero;
    return sum < 1 ? 1 : sum > FLOE_HUFFMAN_ABSENT ? FLOE_HUFFMAN_ABSENT : (uint32_t)sum;
}

/* Predicts the length (1..12) of symbol s from the lengths v[0..s). */
FLOE_HD uint32_t floe_huffman_predict(uint32_t table, const uint8_t *v, uint32_t s)
{
    uint32_t rest;
    if (s == 0)
        return FLOE_HUFFMAN_FIRST_LENGTH;
    uint32_t parent = floe_huffman_parent(table, s, &rest);
    return rest ? floe_huffman_predict_both(v[parent], v[rest], v[0]) : v[parent];
}

/* The token at a symbol of length v from which on so many (at most LONGEST_RUN) are as predicted. *extra: its more bits;
 * *advance: the symbols that it stands for. */
FLOE_HD uint32_t floe_huffman_token_of(uint32_t run, uint32_t v, uint32_t predicted, uint32_t *extra, uint32_t *advance)
{
    bool is_short = run < FLOE_HUFFMAN_LONG_RUN_LEAST;
    *extra = 0;
    *advance = 1;
    if (run < FLOE_HUFFMAN_SHORT_RUN_LEAST)
        return floe_huffman_step_of(v, predicted);
    *extra = run - (is_short ? FLOE_HUFFMAN_SHORT_RUN_LEAST : FLOE_HUFFMAN_LONG_RUN_LEAST);
    *advance = run;
    return is_short ? FLOE_HUFFMAN_SHORT_RUN : FLOE_HUFFMAN_LONG_RUN;
}

/* The token for symbol s of a table. */
FLOE_HD uint32_t floe_huffman_token(uint32_t table, const uint8_t *v, uint32_t s, uint32_t *extra, uint32_t *advance)
{
    uint32_t nsymbols = floe_huffman_alphabet(table), run = 0;
    while (run < FLOE_HUFFMAN_LONGEST_RUN && s + run < nsymbols &&
           v[s + run] == floe_huffman_predict(table, v, s + run))
        run++;
    return floe_huffman_token_of(run, v[s], floe_huffman_predict(table, v, s), extra, advance);
}

/* Bits that follow a token's code, and the symbols for which it stands when they are 0. */
FLOE_HD uint32_t floe_huffman_token_extra(uint32_t token)
{
    return token == FLOE_HUFFMAN_SHORT_RUN  ? FLOE_HUFFMAN_SHORT_RUN_BITS
           : token == FLOE_HUFFMAN_LONG_RUN ? FLOE_HUFFMAN_LONG_RUN_BITS
                                            : 0;
}
FLOE_HD uint32_t floe_huffman_token_least(uint32_t token)
{
    return token == FLOE_HUFFMAN_SHORT_RUN  ? FLOE_HUFFMAN_SHORT_RUN_LEAST
           : token == FLOE_HUFFMAN_LONG_RUN ? FLOE_HUFFMAN_LONG_RUN_LEAST
                                            : 1;
}

/* A complete code has two symbols at least: counts the first tokens until two are. */
FLOE_HD void floe_huffman_tokens_two(uint32_t *count)
{
    uint32_t nused = 0;
    for (uint32_t k = 0; k < FLOE_HUFFMAN_TOKENS; k++)
        nused += count[k] > 0;
    for (uint32_t k = 0; nused < 2; k++) {
        nused += count[k] == 0;
        count[k]++;
    }
}

#endif
