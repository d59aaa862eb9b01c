/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of rANS, once for both compilers: whole numbers only. States are 32-bit and below 2^31; a stream is 16-bit words.
 * Encoding begins with small states, and lifts all of them before the first word leaves. docs/format/ans.md.
 */
#ifndef FLOE_STAGE_ANS_MATH_H
#define FLOE_STAGE_ANS_MATH_H

#include <stdbool.h>

#include "base/hd.h"

enum {
    FLOE_ANS_LANES = 32,    /* states side by side, at most */
    FLOE_ANS_BITS = 12,     /* of a probability, at most */
    FLOE_ANS_SYMBOLS = 128, /* of an alphabet, at most */
    FLOE_ANS_STATE_BITS = 15,
    FLOE_ANS_LEAST = 1 << FLOE_ANS_STATE_BITS, /* the least state while words are left; lifting a state adds as much */
    FLOE_ANS_MOST = 0x7FFFFFFF,                /* the largest state */
    FLOE_ANS_BEGIN = 1,     /* the state with which encoding begins, unless it must begin with FLOE_ANS_LEAST */
    FLOE_ANS_RAW_BITS = 15, /* of one raw number, at most: as many as a state has always */
    FLOE_ANS_REST = 15,     /* the code of the symbol that has what the others leave */
    /* Flags with which a chunk begins: words follow its states; the first of them is a pad; encoding began with FLOE_ANS_LEAST. */
    FLOE_ANS_FLAGS = 3,
    FLOE_ANS_WORDS = 1,
    FLOE_ANS_PAD = 2,
    FLOE_ANS_UNLIFTED = 4,
    FLOE_ANS_STATES_MOST =
        (FLOE_ANS_FLAGS + FLOE_ANS_LANES * (5 + 30) + 31) / 32 /* words of 32 bits for these and states */
};

/* ---- frequencies: three significant bits, so that six bits hold one ----------------------------------------------------- */

/* The frequency of code e | m << 4, with e up to FLOE_ANS_BITS. */
FLOE_HD uint32_t floe_ans_freq_of(uint32_t code) { return ((4 + (code >> 4)) << (code & 15)) >> 2; }

/* The code of the frequency next to f > 0, ties up. */
FLOE_HD uint32_t floe_ans_freq_code(uint32_t f)
{
    uint32_t e = floe_top_bit(f);
    uint32_t m = e > 2 ? (f + (1u << (e - 3))) >> (e - 2) : f << (2 - e); /* 4 to 8 */
    if (m == 8)
        e++, m = 4;
    return e | (m - 4) << 4;
}

/* The code of the next smaller frequency; that of 1 has none. */
FLOE_HD uint32_t floe_ans_freq_below(uint32_t code)
{
    const uint32_t e = code & 15, least = e == 0 ? 4 : e == 1 ? 2 : 1; /* the last bits of small ones are 0 */
    return code >> 4 ? code - (least << 4) : e - 1 == 0 ? 0 : (e - 1) | (e - 1 == 1 ? 2u : 3u) << 4;
}

/*
 * Counts of n symbols -> frequencies that add up to 2^bits, and their codes. All 0 where no symbol occurs. The commonest
 * symbol, the first of several, has the rest; the largest of the others give way until it has most of what it is due.
 */
FLOE_HD void floe_ans_normalise(const uint32_t *count, uint32_t n, uint32_t bits, uint16_t *freq, uint8_t *code)
{
    uint64_t total = 0;
    uint32_t rest = 0;
    int64_t left = (int64_t)1 << bits;
    for (uint32_t i = 0; i < n; i++) {
        total += count[i];
        rest = count[i] > count[rest] ? i : rest;
        freq[i] = 0;
    }
    if (total == 0)
        return;
    const int64_t due = (int64_t)((((uint64_t)count[rest] << bits) + total / 2) / total);
    for (uint32_t i = 0; i < n; i++) {
        if (count[i] == 0 || i == rest)
            continue;
        const uint64_t f = (((uint64_t)count[i] << bits) + total / 2) / total;
        code[i] = (uint8_t)floe_ans_freq_code(f ? (uint32_t)f : 1);
        freq[i] = (uint16_t)floe_ans_freq_of(code[i]);
        left -= freq[i];
    }
    while (left < due - due / 8 || left < 1) {
        uint32_t most = rest;
        for (uint32_t i = 0; i < n; i++)
            most = freq[i] > freq[most] ? i : most;
        if (freq[most] <= 1)
            break; /* no more than 128 symbols of 1: left is above 0 */
        code[most] = (uint8_t)floe_ans_freq_below(code[most]);
        left += freq[most];
        freq[most] = (uint16_t)floe_ans_freq_of(code[most]);
        left -= freq[most];
    }
    freq[rest] = (uint16_t)left;
    code[rest] = FLOE_ANS_REST;
}

/* ---- states in a chunk: widths of all, then bits below the highest one ---------------------------------------------------- */

/* How a chunk stores a state: if words follow, the state itself, which is at least FLOE_ANS_LEAST; else its distance from FLOE_ANS_BEGIN. */
typedef struct floe_ans_stored {
    uint32_t number, width; /* width: bits of number, of which the highest is 1 */
} floe_ans_stored;

FLOE_HD floe_ans_stored floe_ans_stored_of(uint32_t state, bool words)
{
    floe_ans_stored s = {words ? state : state - FLOE_ANS_BEGIN, 0};
    s.width = s.number ? floe_top_bit(s.number) + 1 : 0;
    return s;
}
FLOE_HD uint32_t floe_ans_flags_of(uint32_t nwords, uint32_t begin)
{
    return (nwords ? FLOE_ANS_WORDS : 0) | (nwords & 1 ? FLOE_ANS_PAD : 0) |
           (begin == FLOE_ANS_LEAST ? FLOE_ANS_UNLIFTED : 0);
}
FLOE_HD uint32_t floe_ans_width_bits(bool words) { return words ? 4 : 5; }
FLOE_HD uint32_t floe_ans_width_least(bool words) { return words ? FLOE_ANS_STATE_BITS + 1 : 0; }
FLOE_HD uint32_t floe_ans_low_bits(uint32_t width) { return width ? width - 1 : 0; }
FLOE_HD uint32_t floe_ans_low_of(floe_ans_stored s) { return s.width ? s.number ^ 1u << (s.width - 1) : 0; }
FLOE_HD uint32_t floe_ans_state_of(uint32_t width, uint32_t low, bool words)
{
    return (width ? low | 1u << (width - 1) : 0) + (words ? 0 : FLOE_ANS_BEGIN);
}

/* ---- checks ------------------------------------------------------------------------------------------------------------- */

/* What word number `index` adds to the sum of which a check is made. */
FLOE_HD uint32_t floe_ans_check_word(uint64_t index, uint32_t word)
{
    uint32_t h = word + (uint32_t)index * 0x9E3779B1u;
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}
/* The check, from the sum over all words. */
FLOE_HD uint16_t floe_ans_check_of(uint32_t sum) { return (uint16_t)(sum ^ sum >> 16); }
/* How many checks so many chunks have, if each is of 2^checked of them. */
FLOE_HD uint64_t floe_ans_nchecks(uint64_t nchunks, uint32_t checked)
{
    return floe_ceil_div(nchunks, (uint64_t)1 << checked);
}

/* ---- costs, to compare tables ------------------------------------------------------------------------------------------ */

/* log2(2^e (1 + m)) in 1/4096, of e << 16 | m in 1/65536: log2(1 + m) = m + 0.344 m (1 - m); off by at most 1/100. */
FLOE_HD uint32_t floe_ans_log2_of(uint32_t v)
{
    const uint32_t m = v & 0xFFFF;
    return (v + (((m << 16) - m * m) >> 16) * 22544 / 65536) >> 4;
}
/* log2(v), v > 0. */
FLOE_HD uint64_t floe_ans_log2(uint64_t v)
{
    const uint32_t e = floe_top_bit(v);
    return floe_ans_log2_of(e << 16 | ((uint32_t)(v << (63 - e) >> 47) & 0xFFFF));
}

/* Bits, in 1/4096, that symbols of an alphabet of n take with a table of their own, and that table. used: how many counts are not 0, at least
 * one; total, logs: the sums of count and of count * log2(count) over them. */
FLOE_HD uint64_t floe_ans_cost(uint32_t n, uint64_t used, uint64_t total, uint64_t logs)
{
    return total * floe_ans_log2(total) - logs + ((n + 6 * used + 8) << 12);
}

/* ---- symbols and states ------------------------------------------------------------------------------------------------ */

/* What encoding a symbol takes: a reciprocal that divides states exactly, and bias | freq << 13 | shift << 26. */
typedef struct floe_ans_symbol {
    uint32_t reciprocal, packed;
} floe_ans_symbol;

FLOE_HD floe_ans_symbol floe_ans_symbol_of(uint32_t freq, uint32_t start, uint32_t bits)
{
    floe_ans_symbol s = {0, 0};
    uint32_t bias = start, shift = 0;
    if (freq < 2) { /* x - 1 by a product with 2^32 - 1; the bias makes up for it */
        s.reciprocal = UINT32_MAX;
        bias = start + (1u << bits) - 1;
    } else {
        while (freq > 1u << shift)
            shift++;
        s.reciprocal = (uint32_t)((((uint64_t)1 << (shift + 31)) + freq - 1) / freq);
        shift--;
    }
    s.packed = bias | freq << 13 | shift << 26;
    return s;
}

/* Whether a word has to leave the state before this symbol, or this many raw bits, can enter. */
FLOE_HD bool floe_ans_is_full(uint32_t x, floe_ans_symbol s, uint32_t bits)
{
    return x >= (s.packed >> 13 & 8191) << (31 - bits);
}
FLOE_HD bool floe_ans_is_full_raw(uint32_t x, uint32_t nbits) { return x >= 1u << (31 - nbits); }

FLOE_HD uint32_t floe_ans_put(uint32_t x, floe_ans_symbol s, uint32_t bits)
{
    const uint32_t freq = s.packed >> 13 & 8191;
    const uint32_t quotient = (uint32_t)((uint64_t)x * s.reciprocal >> 32) >> (s.packed >> 26);
    return x + (s.packed & 8191) + quotient * ((1u << bits) - freq);
}

/* The state without a symbol of this frequency and start; slot: its low bits. */
FLOE_HD uint32_t floe_ans_take(uint32_t x, uint32_t freq, uint32_t start, uint32_t bits)
{
    return freq * (x >> bits) + (x & ((1u << bits) - 1)) - start;
}

#endif
