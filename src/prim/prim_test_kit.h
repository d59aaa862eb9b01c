/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases for the tests of the primitives: hostile arrays, and every call of prim.h on them. A side is a place where calls run,
 * with its arrays; two sides must write the same bytes. Workspaces have just the size that was requested. */
#ifndef FLOE_PRIM_TEST_KIT_H
#define FLOE_PRIM_TEST_KIT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "prim/prim_math.h"

typedef enum kit_pattern {
    KIT_NUMBERS,
    KIT_BITS,
    KIT_EQUAL,
    KIT_SORTED,
    KIT_REVERSED,
    KIT_SPECIAL,
    KIT_PATTERNS
} kit_pattern;

typedef struct kit_side {
    floe_prim prim;
    bool host;      /* then each call has a workspace of its own */
    void *scratch;  /* else this one, long enough */
    void *in, *out; /* kit_nbytes each */
} kit_side;

/* n elements of at most 8 bytes each, and 64 bytes that stay as they are. */
static inline size_t kit_nbytes(uint64_t n) { return (size_t)n * 8 + 64; }

static inline uint64_t kit_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state ^ *state >> 29;
    return (x * 0x9E3779B97F4A7C15u) ^ x >> 32;
}

static inline uint64_t kit_number(floe_prim_type t, int64_t x, uint32_t scale) /* x, or x / 2^scale */
{
    double v = (double)x / (double)((uint64_t)1 << scale);
    return !floe_prim_is_float(t) ? (uint64_t)x : floe_prim_is_wide(t) ? floe_bits_f64(v) : floe_bits_f32((float)v);
}

static inline uint64_t kit_special(floe_prim_type t, uint64_t r)
{
    const bool wide = floe_prim_is_wide(t);
    const uint64_t inf = wide ? floe_bits_f64((double)INFINITY) : floe_bits_f32(INFINITY);
    const uint64_t nan = wide ? FLOE_NAN64_BITS : FLOE_NAN32_BITS, sign = (uint64_t)1 << (wide ? 63 : 31);
    const uint64_t of[] = {
        0,   sign,       1,       sign | 1, inf,      sign | inf,        inf - 1,  sign | (inf - 1),
        nan, sign | nan, nan | 5, inf + 1,  sign - 1, sign | (sign - 1), sign | 3, kit_number(t, 1, 0)};
    return of[r % 16];
}

static inline uint64_t kit_element(floe_prim_type t, kit_pattern pattern, uint64_t n, uint64_t i, uint64_t r)
{
    switch (pattern) {
    case KIT_NUMBERS: return kit_number(t, (int64_t)(r >> 20 & 0xFFFFF) - 0x80000, r % 40);
    case KIT_EQUAL: return kit_number(t, -7, 1);
    case KIT_SORTED: return kit_number(t, (int64_t)(i / 3), 0);
    case KIT_REVERSED: return kit_number(t, (int64_t)(n - i), 3);
    case KIT_SPECIAL: return kit_special(t, r);
    default: return r;
    }
}

static inline void kit_fill(void *in, floe_prim_type t, kit_pattern pattern, uint64_t n)
{
    uint64_t state = n + pattern;
    for (uint64_t i = 0; i < n; i++)
        floe_prim_set(floe_prim_is_wide(t), in, i, kit_element(t, pattern, n, i, kit_random(&state)));
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

enum kit_call {
    KIT_SORT,
    KIT_SORT_IN_PLACE, /* once more what SORT left */
    KIT_MAX,           /* from here on of integers alone */
    KIT_EXCLUSIVE,
    KIT_INCLUSIVE,
    KIT_IN_PLACE, /* once more what INCLUSIVE left */
    KIT_CALLS
};
static inline int kit_calls(floe_prim_type t) { return floe_prim_is_float(t) ? KIT_MAX : KIT_CALLS; }

static inline floe_status kit_workspace(kit_side *s, floe_prim_call call, floe_prim_type t, uint64_t n)
{
    uint64_t nbytes = 0;
    FLOE_TRY(floe_prim_workspace(&s->prim, call, t, n, &nbytes, NULL));
    if (s->host) {
        free(s->prim.workspace);
        s->prim.workspace = nbytes ? aligned_alloc(FLOE_ARENA_ALIGN, nbytes) : NULL;
        memset(s->prim.workspace ? s->prim.workspace : &nbytes, 0xA5, s->prim.workspace ? nbytes : 0);
    } else {
        s->prim.workspace = s->scratch;
    }
    s->prim.workspace_nbytes = nbytes;
    return FLOE_OK;
}

/* Call number `call` on a side, whose workspace is made for it. */
static inline floe_status kit_run(kit_side *s, int call, floe_prim_type t, uint64_t n, floe_error *err)
{
    const bool again = call == KIT_SORT_IN_PLACE || call == KIT_IN_PLACE;
    const floe_prim_array in = {call == KIT_IN_PLACE ? FLOE_PRIM_U64 : t, again ? s->out : s->in, n};
    const floe_prim_call kind = call < KIT_MAX ? FLOE_PRIM_SORT : call == KIT_MAX ? FLOE_PRIM_MAX : FLOE_PRIM_SCAN;
    FLOE_TRY(kit_workspace(s, kind, in.type, n));
    if (kind == FLOE_PRIM_SORT)
        return floe_prim_sort(&s->prim, in, s->out, err);
    if (kind == FLOE_PRIM_MAX)
        return floe_prim_max(&s->prim, in, s->out, err);
    return floe_prim_scan(&s->prim, call == KIT_EXCLUSIVE ? FLOE_PRIM_EXCLUSIVE : FLOE_PRIM_INCLUSIVE, in, s->out, err);
}

/* Whether what a call writes begins with what the one before it left. */
static inline bool kit_goes_on(int call) { return call == KIT_SORT_IN_PLACE || call == KIT_IN_PLACE; }

#endif
