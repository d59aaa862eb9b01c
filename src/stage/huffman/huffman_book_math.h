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

/* Depths in a Huffman tree of n >= 2 leaves of rising weight; they never rise with i. Leaves and finished nodes form two
 * queues; a leaf goes first on a tie. */
FLOE_HD void floe_huffman_depths(const uint64_t *weight, uint32_t n, uint32_t *depth)
{
    uint32_t leaf = 0, node = 0, node_depth[FLOE_HUFFMAN_SYMBOLS], parent[FLOE_HUFFMAN_SYMBOLS];
    uint64_t sum[FLOE_HUFFMAN_SYMBOLS]; /* of inner nodes, in order of weight; parent is theirs */
    for (uint32_t next = 0; next + 1 < n; next++) {
        sum[next] = 0;
        for (uint32_t child = 0; child < 2; child++) {
            if (leaf < n && (node >= next || weight[leaf] <= sum[node])) {
                depth[leaf] = next;
                sum[next] += weight[leaf++];
            } else {
                parent[node] = next;
                sum[next] += sum[node++];
            }
        }
    }
    node_depth[n - 2] = 0; /* the root */
    for (uint32_t i = n - 2; i-- > 0;)
        node_depth[i] = node_depth[parent[i]] + 1;
    for (uint32_t i = 0; i < n; i++)
        depth[i] = node_depth[depth[i]] + 1;
}

/* Brings codes down to limit bits: those too long are cut to it, and to make room for them the codes that lose least by the
 * room that they free become a bit longer. weight[0..n) rises; nof[d]: codes of length d, given out from the longest on.
 * Returns with Kraft's equality. */
FLOE_HD void floe_huffman_limit(const uint64_t *weight, uint32_t *nof, uint32_t limit)
{
    uint32_t full = 1u << limit, used = 0; /* in codes of limit bits */
    for (uint32_t d = 1; d <= limit; d++)
        used += nof[d] << (limit - d);
    while (used > full) {
        uint32_t rarest = nof[limit], best = 0;
        uint64_t least = ~(uint64_t)0;
        for (uint32_t d = limit - 1; d > 0; rarest += nof[d--])
            if (nof[d] && weight[rarest] << d < least) {
                least = weight[rarest] << d; /* bits lost by bits freed, 2^(limit - d - 1): the same order */
                best = d;
            }
        nof[best]--;
        nof[best + 1]++;
        used -= 1u << (limit - best - 1);
    }
    while (used < full) { /* the last of them may have freed too much. The longest code always fits */
        uint32_t end = 0, best = 0;
        uint64_t most = 0;
        for (uint32_t d = limit; d > 1 && used + (1u << (limit - d)) <= full; d--) {
            end += nof[d];
            if (nof[d] && weight[end - 1] << d > most) {
                most = weight[end - 1] << d;
                best = d;
            }
        }
        nof[best]--;
        nof[best - 1]++;
        used += 1u << (limit - best);
    }
}

/* Code lengths of at most limit bits, 0 for unused symbols. At least two symbols are used, at most 2^limit;
 * limit <= MAX_LENGTH. */
FLOE_HD void floe_huffman_lengths(const uint32_t *count, uint32_t nsymbols, uint32_t limit, uint8_t *length)
{
    uint64_t key[FLOE_HUFFMAN_SYMBOLS], weight[FLOE_HUFFMAN_SYMBOLS];
    uint32_t nof[FLOE_HUFFMAN_MAX_LENGTH + 1] = {0}, n = floe_huffman_rank(count, nsymbols, key), i = 0;
    uint32_t depth[FLOE_HUFFMAN_SYMBOLS];
    for (uint32_t k = 0; k < n; k++)
        weight[k] = key[k] >> 8;
    floe_huffman_depths(weight, n, depth);
    for (uint32_t k = 0; k < n; k++)
        nof[depth[k] < limit ? depth[k] : limit]++;
    floe_huffman_limit(weight, nof, limit);
    for (uint32_t s = 0; s < nsymbols; s++)
        length[s] = 0;
    for (uint32_t d = limit; d > 0; d--) /* the rarest symbols take the longest codes */
        for (uint32_t k = 0; k < nof[d]; k++)
            length[key[i++] & 0xff] = (uint8_t)d;
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
