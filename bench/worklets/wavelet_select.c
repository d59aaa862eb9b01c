/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/worklets/wavelet_select.h"

#include <string.h>

#define FLOE_PRIM_MAP_PIECE (1 << 16)
#include "prim/prim_map.h"
#include "bench/worklets/wavelet_select_math.h"

FLOE_PRIM_MAP(floe_select_digit_map, floe_select, floe_select_digit)
FLOE_PRIM_MAP(floe_select_keep_map, floe_select, floe_select_keep)
FLOE_PRIM_MAP(floe_select_start_map, floe_select, floe_select_start)
FLOE_PRIM_MAP(floe_select_copy_map, floe_select_box, floe_select_copy)

/* Returns how much more a scan takes. */
static uint64_t take(const floe_prim *p, floe_select *s, floe_arena *a)
{
    uint64_t nbytes = 0;
    s->counts = floe_arena_take(a, FLOE_SELECT_DIGITS, sizeof *s->counts);
    s->sums = floe_arena_take(a, FLOE_SELECT_DIGITS, sizeof *s->sums);
    s->from = floe_arena_take(a, FLOE_SELECT_ROUNDS + 1, sizeof *s->from);
    s->room = p->cpu ? 0 : s->n / FLOE_SELECT_KEPT / FLOE_SELECT_BLOCKS;
    s->kept = floe_arena_take(a, FLOE_SELECT_BLOCKS * s->room, s->wide ? sizeof(uint64_t) : sizeof(uint32_t));
    s->nkept = floe_arena_take(a, FLOE_SELECT_BLOCKS, sizeof *s->nkept);
    (void)floe_prim_workspace(p, FLOE_PRIM_SCAN, FLOE_PRIM_U32, FLOE_SELECT_DIGITS, &nbytes, NULL);
    return nbytes;
}

uint64_t floe_select_workspace(const floe_prim *p, floe_prim_type type, uint64_t n)
{
    floe_select s = {.wide = floe_prim_is_wide(type), .n = n};
    floe_arena a = floe_arena_plan();
    floe_arena_take(&a, take(p, &s, &a), 1);
    return a.used;
}

static void count_piece(void *arg, uint64_t piece, uint32_t worker)
{
    const floe_select *s = (const floe_select *)arg;
    const uint64_t prefix = s->from->prefix, end = floe_min64((piece + 1) * FLOE_SELECT_CORE, s->n);
    uint32_t counts[FLOE_SELECT_DIGITS + 1];
    (void)worker;
    memset(counts, 0, sizeof counts);
    for (uint64_t i = piece * FLOE_SELECT_CORE; i < end; i++)
        counts[floe_select_digit_of(s, prefix, i)]++;
    for (uint32_t d = 0; d < FLOE_SELECT_DIGITS; d++)
        if (counts[d])
            __atomic_fetch_add(&s->counts[d], counts[d], __ATOMIC_RELAXED);
}

FLOE_PRIM_MAP_DEVICE(floe_select_count, floe_select)

static floe_status count(const floe_prim *p, floe_select *s, floe_error *err)
{
    if (!p->cpu)
        return FLOE_PRIM_MAP_LAUNCH(floe_select_count, p, s, s->n, err);
    floe_cpu_parallel(p->cpu, floe_ceil_div(s->n, FLOE_SELECT_CORE), count_piece, s);
    return FLOE_OK;
}

floe_status floe_select_largest(const floe_prim *p, floe_prim_array in, uint64_t k, uint64_t *found, floe_error *err)
{
    floe_select s = {.wide = floe_prim_is_wide(in.type), .values = (void *)in.data, .n = in.n};
    floe_arena a = floe_arena_of(p->workspace, p->workspace_nbytes);
    floe_prim scan = *p;
    scan.workspace_nbytes = take(p, &s, &a);
    scan.workspace = floe_arena_take(&a, scan.workspace_nbytes, 1);
    FLOE_CHECK(err, !a.overflow, FLOE_ERR_MEMORY, "the workspace is too small to select");
    s.to = s.from;
    s.first = k;
    s.found = found;
    s.before = s.wide ? 63 : 31;
    FLOE_TRY(floe_select_start_map(p, &s, FLOE_SELECT_DIGITS, err));
    for (; s.before > 0; s.before = s.shift, s.from = s.to, s.round++) {
        s.shift = s.before > FLOE_SELECT_BITS ? s.before - FLOE_SELECT_BITS : 0;
        s.to = s.from + 1;
        FLOE_TRY(count(p, &s, err));
        FLOE_TRY(floe_prim_scan(&scan, FLOE_PRIM_INCLUSIVE,
                                (floe_prim_array){FLOE_PRIM_U32, s.counts, FLOE_SELECT_DIGITS}, s.sums, err));
        s.ends = s.shift == 0;
        FLOE_TRY(floe_select_digit_map(p, &s, FLOE_SELECT_DIGITS, err));
    }
    return FLOE_OK;
}

floe_status floe_select_keep_largest(const floe_prim *p, floe_prim_type type, void *values, uint64_t n,
                                     const uint64_t *found, floe_error *err)
{
    const floe_select s = {.wide = floe_prim_is_wide(type), .values = values, .n = n, .found = (uint64_t *)found};
    return floe_select_keep_map(p, &s, n, err);
}

floe_status floe_select_copy_box(const floe_prim *p, void *const array[2], uint32_t at, const uint64_t shape[4],
                                 const uint64_t fine[4], floe_error *err)
{
    floe_select_box box = {.from = array[at], .to = array[!at]};
    uint64_t n = 1;
    for (int a = 0; a < 4; a++) {
        box.fine[a] = (uint32_t)fine[a];
        box.shape[a] = (uint32_t)shape[a];
        n *= fine[a];
    }
    return floe_select_copy_map(p, &box, n, err);
}
