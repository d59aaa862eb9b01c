/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/exception/exception.h"

static uint32_t kind_of(floe_uint bits, const uint64_t *palette)
{
    for (uint32_t i = 0; i < FLOE_PALETTE_SIZE; i++)
        if (bits == (floe_uint)palette[i])
            return i + 1;
    return 0;
}

void FLOE_V(floe_exceptions_add)(FLOE_R(floe_exceptions) * e, const uint64_t *palette, uint32_t step, uint32_t group,
                                 uint32_t places, const floe_uint *bits)
{
    uint32_t low = 0, high = 0;
    for (uint32_t rest = places; rest; rest &= rest - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(rest), kind = kind_of(bits[k], palette);
        low |= (kind & 1) << k;
        high |= (kind >> 1) << k;
        if (kind == 0)
            e->literal[e->nliterals++] = bits[k];
        e->count++;
    }
    e->place[step][group] = places;
    e->kind_low[step][group] = low;
    e->kind_high[step][group] = high;
}

/* All or none of the places have the bit: 1 or 0; mixed: -1. */
static int uniform(const floe_mask kind, uint32_t count, uint32_t nsteps)
{
    uint32_t n = floe_mask_count(kind, nsteps);
    return n == 0 ? 0 : n == count ? 1 : -1;
}

uint32_t FLOE_V(floe_exceptions_encode)(const FLOE_R(floe_exceptions) * e, const floe_mask valid, uint32_t nsteps,
                                        uint32_t *words)
{
    int low = uniform(e->kind_low, e->count, nsteps), high = uniform(e->kind_high, e->count, nsteps);
    uint32_t n = 1 + floe_mask_encode(e->place, valid, nsteps, words + 1);
    const bool one_kind = low >= 0 && high >= 0;
    words[0] = floe_exceptions_head(e->count, one_kind, one_kind ? (uint32_t)(low + 2 * high) : 0);
    if (!one_kind) {
        n += floe_mask_encode(e->kind_low, e->place, nsteps, words + n);
        n += floe_mask_encode(e->kind_high, e->place, nsteps, words + n);
    }
    for (uint32_t i = 0; i < e->nliterals; i++) {
        words[n++] = (uint32_t)e->literal[i];
#if FLOE_REAL_BITS == 64
        words[n++] = (uint32_t)(e->literal[i] >> 32);
#endif
    }
    return n;
}

static bool decode_kinds(const uint32_t *words, uint64_t nwords, uint32_t head, uint32_t nsteps,
                         FLOE_R(floe_exceptions) * e, uint32_t *used)
{
    uint32_t kind = head >> FLOE_EXCEPTIONS_KIND_SHIFT, n, m;
    if (head >> FLOE_EXCEPTIONS_ONE_KIND_BIT & 1) {
        for (uint32_t s = 0; s < nsteps; s++)
            for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
                e->kind_low[s][g] = kind & 1 ? e->place[s][g] : 0;
                e->kind_high[s][g] = kind >> 1 ? e->place[s][g] : 0;
            }
        *used = 0;
        return true;
    }
    if (kind != 0 || !floe_mask_decode(words, nwords, e->place, nsteps, e->kind_low, &n) ||
        !floe_mask_decode(words + n, nwords - n, e->place, nsteps, e->kind_high, &m))
        return false;
    *used = n + m;
    return true;
}

static uint32_t count_literals(const FLOE_R(floe_exceptions) * e, uint32_t nsteps)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < nsteps; s++)
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
            n += (uint32_t)__builtin_popcount(e->place[s][g] & ~(e->kind_low[s][g] | e->kind_high[s][g]));
    return n;
}

bool FLOE_V(floe_exceptions_decode)(const uint32_t *words, uint64_t nwords, const floe_mask valid, uint32_t nsteps,
                                    FLOE_R(floe_exceptions) * e, uint32_t *used)
{
    uint32_t n, m;
    if (nwords < 1 || words[0] >> FLOE_EXCEPTIONS_USED_BITS ||
        !floe_mask_decode(words + 1, nwords - 1, valid, nsteps, e->place, &n))
        return false;
    n += 1;
    e->count = floe_mask_count(e->place, nsteps);
    if (e->count != (words[0] & 0xFFFF) || !decode_kinds(words + n, nwords - n, words[0], nsteps, e, &m))
        return false;
    n += m;
    e->nliterals = count_literals(e, nsteps);
    if (nwords - n < (uint64_t)e->nliterals * FLOE_EXCEPTION_LITERAL_WORDS)
        return false;
    for (uint32_t i = 0; i < e->nliterals; i++) {
        e->literal[i] = words[n++];
#if FLOE_REAL_BITS == 64
        e->literal[i] |= (floe_uint)words[n++] << 32;
#endif
    }
    *used = n;
    return true;
}

void FLOE_V(floe_exceptions_get)(const FLOE_R(floe_exceptions) * e, const uint64_t *palette, uint32_t step,
                                 uint32_t group, uint32_t *next, floe_uint *bits)
{
    uint32_t low = e->kind_low[step][group], high = e->kind_high[step][group];
    for (uint32_t rest = e->place[step][group]; rest; rest &= rest - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(rest), kind = (low >> k & 1) | (high >> k & 1) << 1;
        bits[k] = kind ? (floe_uint)palette[kind - 1] : e->literal[(*next)++];
    }
}
