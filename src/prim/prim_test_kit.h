/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases for the tests of the primitives: hostile arrays, and every call of prim.h on them. A side is a place where calls run,
 * with its arrays; two sides must write the same bytes. Workspaces have just the size that was asked for. */
#ifndef FLOE_PRIM_TEST_KIT_H
#define FLOE_PRIM_TEST_KIT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "prim/prim_math.h"

enum { KIT_BINS = 1000, KIT_MANY_BINS = 9000, KIT_LIMIT = 500 };

typedef enum kit_pattern {
    KIT_NUMBERS,
    KIT_BITS,
    KIT_EQUAL,
    KIT_SORTED,
    KIT_REVERSED,
    KIT_SPECIAL,
    KIT_PATTERNS
} kit_pattern;

typedef struct kit_arrays { /* n elements of at most 8 bytes each, and 64 bytes that stay as they are */
    void *in;
    uint32_t *keys;    /* for the histogram: mostly below KIT_BINS */
    uint32_t *index32; /* mostly below n, each once */
    uint64_t *index64;
    uint8_t *flags;
    void *threshold; /* of the type, in the first place of 8 */
    void *out, *out2;
    uint64_t *count;
} kit_arrays;
enum { KIT_NARRAYS = 9, KIT_NINPUTS = 6, KIT_EXTRA = 64 };

typedef struct kit_side {
    floe_prim prim;
    bool host;     /* then each call has a workspace of its own */
    void *scratch; /* else this one, long enough */
    kit_arrays a;
} kit_side;

static inline void **kit_array(kit_arrays *a, int i)
{
    void **all[KIT_NARRAYS] = {
        &a->in,  (void **)&a->keys, (void **)&a->index32, (void **)&a->index64, (void **)&a->flags, &a->threshold,
        &a->out, &a->out2,          (void **)&a->count};
    return all[i];
}
/* out has room for bins, too */
static inline size_t kit_array_nbytes(int i, uint64_t n)
{
    return (size_t)n * 8 + KIT_EXTRA + (i == KIT_NINPUTS ? KIT_MANY_BINS * 8 : 0);
}

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
    bool wide = floe_prim_is_wide(t);
    uint64_t inf = floe_bits_f64((double)INFINITY), sign = floe_prim_sign(wide), nan = floe_prim_nan(wide);
    if (!wide)
        inf = floe_bits_f32(INFINITY);
    const uint64_t of[] = {
        0,   sign,       1,       sign | 1, inf,      sign | inf,           inf - 1,  sign | (inf - 1),
        nan, sign | nan, nan | 5, inf + 1,  sign - 1, floe_prim_ones(wide), sign | 3, kit_number(t, 1, 0)};
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

static inline void kit_fill(const kit_arrays *a, floe_prim_type t, kit_pattern pattern, uint64_t n)
{
    uint64_t state = n + pattern, stride = n % 7 ? 7 : 1; /* stride and n have no common factor */
    for (uint64_t i = 0; i < n; i++) {
        uint64_t r = kit_random(&state), key = kit_random(&state);
        floe_prim_set(floe_prim_is_wide(t), a->in, i, kit_element(t, pattern, n, i, r));
        a->keys[i] = (uint32_t)(pattern == KIT_EQUAL ? 77 : key % 50 == 0 ? key >> 32 : (key >> 32) % KIT_BINS);
        a->index64[i] = i % 100 == 99 ? ~(uint64_t)i : i * stride % n;
        a->index32[i] = (uint32_t)a->index64[i];
        a->flags[i] = (uint8_t)(key >> 8 & key >> 16);
    }
    uint64_t middle = n ? floe_prim_get(floe_prim_is_wide(t), a->in, n / 2) : 0;
    floe_prim_set(floe_prim_is_wide(t), a->threshold, 0, middle);
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static inline floe_status kit_workspace(kit_side *s, floe_prim_call call, floe_prim_type t, uint64_t n, uint64_t extra)
{
    uint64_t nbytes = 0;
    FLOE_TRY(floe_prim_workspace(&s->prim, call, t, n, extra, &nbytes, NULL));
    if (s->host) {
        free(s->prim.workspace);
        s->prim.workspace = nbytes ? aligned_alloc(FLOE_ARENA_ALIGN, nbytes) : NULL;
        memset(s->prim.workspace ? s->prim.workspace : &nbytes, 0xA5, s->prim.workspace ? nbytes : 0);
    } else
        s->prim.workspace = s->scratch;
    s->prim.workspace_nbytes = nbytes;
    return FLOE_OK;
}

enum {
    KIT_REDUCE,                      /* 3 operations */
    KIT_SCAN = KIT_REDUCE + 3,       /* kind, width; the last two in place */
    KIT_HISTOGRAM = KIT_SCAN + 6,    /* bins of 32 or 64 bits; few, many, one, none */
    KIT_COMPACT = KIT_HISTOGRAM + 8, /* 4 ways to choose; then index only, values only */
    KIT_FLAG = KIT_COMPACT + 6,      /* 4 ways to choose */
    KIT_SELECT = KIT_FLAG + 4,       /* first, middle, last; also by magnitude */
    KIT_SORT = KIT_SELECT + 6,       /* values of 0, 4, 8 bytes; in place */
    KIT_MOVE = KIT_SORT + 4,         /* gather, scatter; indexes of 32 and 64 bits */
    KIT_CALLS = KIT_MOVE + 4
};

static inline floe_status kit_scan(kit_side *s, int v, floe_prim_type t, uint64_t n, floe_error *err)
{
    const floe_prim_scan_kind kind = v % 2 ? FLOE_PRIM_INCLUSIVE : FLOE_PRIM_EXCLUSIVE;
    FLOE_TRY(kit_workspace(s, FLOE_PRIM_SCAN, t, n, 0));
    if (v < 4)
        return floe_prim_scan(&s->prim, kind, (floe_prim_array){t, s->a.in, n}, v < 2 ? t : floe_prim_widened(t),
                              s->a.out, err);
    floe_prim_type index = floe_prim_is_wide(t) ? FLOE_PRIM_U64 : FLOE_PRIM_U32; /* first a copy, then in place */
    const floe_prim_array all = {index, index == FLOE_PRIM_U64 ? (void *)s->a.index64 : s->a.index32, n};
    FLOE_TRY(floe_prim_gather(&s->prim, (floe_prim_array){t, s->a.in, n}, all, s->a.out, err));
    return floe_prim_scan(&s->prim, kind, (floe_prim_array){t, s->a.out, n}, t, s->a.out, err);
}

static inline floe_status kit_histogram(kit_side *s, int v, uint64_t n, floe_error *err)
{
    static const uint32_t nbins[4] = {KIT_BINS, KIT_MANY_BINS, 1, 0};
    FLOE_TRY(kit_workspace(s, FLOE_PRIM_HISTOGRAM, FLOE_PRIM_U32, n, nbins[v / 2]));
    return floe_prim_histogram(
        &s->prim, s->a.keys, n,
        (floe_prim_bins){v % 2 ? FLOE_PRIM_U64 : FLOE_PRIM_U32, nbins[v / 2], s->a.out, s->a.count}, err);
}

static inline floe_prim_keep kit_keep(const kit_arrays *a, int v)
{
    return (floe_prim_keep){(floe_prim_keep_kind)v, v < 2 ? (const void *)a->flags : a->threshold};
}

static inline floe_status kit_sort(kit_side *s, int v, floe_prim_type t, uint64_t n, floe_error *err)
{
    const uint32_t nbytes = v == 2 ? 8 : v == 0 ? 0 : 4;
    FLOE_TRY(kit_workspace(s, FLOE_PRIM_SORT, t, n, nbytes));
    const floe_prim_values values = {nbytes, v == 2 ? (void *)s->a.index64 : s->a.index32, s->a.out2};
    const floe_prim_values again = {4, s->a.out2, s->a.out2};
    FLOE_TRY(floe_prim_sort(&s->prim, (floe_prim_array){t, s->a.in, n}, s->a.out, nbytes ? &values : NULL, err));
    return v < 3 ? FLOE_OK : floe_prim_sort(&s->prim, (floe_prim_array){t, s->a.out, n}, s->a.out, &again, err);
}

static inline floe_status kit_select(kit_side *s, int v, floe_prim_type t, uint64_t n, floe_error *err)
{
    if (n == 0)
        return FLOE_OK;
    FLOE_TRY(kit_workspace(s, FLOE_PRIM_SELECT, t, n, 0));
    return floe_prim_select(&s->prim, (floe_prim_array){t, s->a.in, n}, v / 2 * (n - 1) / 2, v % 2, s->a.out, err);
}

static inline floe_status kit_move(kit_side *s, int v, floe_prim_type t, uint64_t n, floe_error *err)
{
    const floe_prim_type index_type = v % 2 ? FLOE_PRIM_U64 : FLOE_PRIM_U32;
    const floe_prim_array index = {index_type, v % 2 ? (void *)s->a.index64 : s->a.index32, n};
    const uint64_t limit = n > KIT_LIMIT ? n - KIT_LIMIT : n;
    return v < 2 ? floe_prim_gather(&s->prim, (floe_prim_array){t, s->a.in, limit}, index, s->a.out, err)
                 : floe_prim_scatter(&s->prim, (floe_prim_array){t, s->a.in, n}, index, s->a.out, limit, err);
}

/* Call number `call` on a side, whose workspace is made for it. */
static inline floe_status kit_run(kit_side *s, int call, floe_prim_type t, uint64_t n, floe_error *err)
{
    if (call < KIT_SCAN) {
        FLOE_TRY(kit_workspace(s, FLOE_PRIM_REDUCE, t, n, 0));
        return floe_prim_reduce(&s->prim, (floe_prim_op)(call - KIT_REDUCE), (floe_prim_array){t, s->a.in, n}, s->a.out,
                                err);
    }
    if (call < KIT_HISTOGRAM)
        return kit_scan(s, call - KIT_SCAN, t, n, err);
    if (call < KIT_COMPACT)
        return kit_histogram(s, call - KIT_HISTOGRAM, n, err);
    if (call < KIT_FLAG) {
        int v = call - KIT_COMPACT;
        FLOE_TRY(kit_workspace(s, FLOE_PRIM_COMPACT, t, n, 0));
        const floe_prim_kept kept = {v == 4 ? NULL : s->a.out, v == 5 ? NULL : (uint64_t *)s->a.out2, s->a.count};
        const floe_prim_array in = {t, v == 4 ? NULL : s->a.in, n};
        return floe_prim_compact(&s->prim, in, kit_keep(&s->a, v % 4), kept, err);
    }
    if (call < KIT_SELECT)
        return floe_prim_flag(&s->prim, (floe_prim_array){t, s->a.in, n}, kit_keep(&s->a, call - KIT_FLAG),
                              (uint8_t *)s->a.out, err);
    if (call < KIT_SORT)
        return kit_select(s, call - KIT_SELECT, t, n, err);
    return call < KIT_MOVE ? kit_sort(s, call - KIT_SORT, t, n, err) : kit_move(s, call - KIT_MOVE, t, n, err);
}

#endif
