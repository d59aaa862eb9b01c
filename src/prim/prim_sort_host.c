/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sort on threads: by digits of 8 bits from the lowest on, each pass stable. In a pass every thread counts the digits of a
 * stretch of the elements; a scan of the counts, digits first and stretches second, says where each stretch puts its
 * elements of each digit. Passes where all elements have the same digit are left out.
 */
#include "prim/prim_job.h"

enum { DIGITS = FLOE_PRIM_SORT_DIGITS, LEAST_STRETCH = 1 << 14 };

typedef struct sorting sorting;
typedef void (*sort_task)(const sorting *s, uint64_t begin, uint64_t end, uint64_t *places);

struct sorting {
    floe_prim_order order;
    const void *keys, *values; /* from */
    void *keys_to, *values_to;
    uint64_t n, length; /* elements, and of a stretch */
    uint32_t shift;
    uint64_t *places; /* DIGITS for each stretch: counts, then the place of the next element */
    sort_task task;
};

FLOE_HD void stretch_count(bool wide, const sorting *from, uint64_t begin, uint64_t end, uint64_t *counts)
{
    const sorting s = *from;
    memset(counts, 0, DIGITS * sizeof *counts);
    for (uint64_t i = begin; i < end; i++)
        counts[floe_prim_sort_digit(wide, s.order, floe_prim_get(wide, s.keys, i), s.shift)]++;
}

FLOE_HD void stretch_move(bool wide, uint32_t value_nbytes, const sorting *from, uint64_t begin, uint64_t end,
                          uint64_t *places)
{
    const sorting s = *from;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t key = floe_prim_get(wide, s.keys, i);
        uint64_t at = places[floe_prim_sort_digit(wide, s.order, key, s.shift)]++;
        floe_prim_set(wide, s.keys_to, at, key);
        if (value_nbytes)
            floe_prim_set(value_nbytes == 8, s.values_to, at, floe_prim_get(value_nbytes == 8, s.values, i));
    }
}

#define STRETCH_COUNT(BITS)                                                                    \
    static void count_##BITS(const sorting *s, uint64_t begin, uint64_t end, uint64_t *counts) \
    {                                                                                          \
        stretch_count((BITS) == 64, s, begin, end, counts);                                    \
    }
#define STRETCH_MOVE(BITS, VALUE)                                                                       \
    static void move_##BITS##_##VALUE(const sorting *s, uint64_t begin, uint64_t end, uint64_t *places) \
    {                                                                                                   \
        stretch_move((BITS) == 64, VALUE, s, begin, end, places);                                       \
    }
STRETCH_COUNT(32)
STRETCH_COUNT(64)
STRETCH_MOVE(32, 0)
STRETCH_MOVE(32, 4)
STRETCH_MOVE(32, 8)
STRETCH_MOVE(64, 0)
STRETCH_MOVE(64, 4)
STRETCH_MOVE(64, 8)
static const sort_task counts[2] = {count_32, count_64};
static const sort_task moves[2][3] = {{move_32_0, move_32_4, move_32_8}, {move_64_0, move_64_4, move_64_8}};

static void stretch_task(void *arg, uint64_t stretch, uint32_t worker)
{
    const sorting *s = arg;
    uint64_t begin = stretch * s->length;
    (void)worker;
    s->task(s, begin, floe_min64(begin + s->length, s->n), s->places + stretch * DIGITS);
}

/* Counts to places; false when one digit has all elements. */
static bool places_scan(uint64_t *places, uint64_t nstretches, uint64_t n)
{
    uint64_t at = 0;
    for (uint32_t d = 0; d < DIGITS; d++) {
        uint64_t before = at;
        for (uint64_t i = 0; i < nstretches; i++) {
            uint64_t here = places[i * DIGITS + d];
            places[i * DIGITS + d] = at;
            at += here;
        }
        if (at - before == n)
            return false;
    }
    return true;
}

void floe_prim_sort_host(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena)
{
    const bool wide = floe_prim_is_wide(job->type);
    const uint64_t n = job->n, key_nbytes = floe_prim_nbytes(job->type);
    const uint64_t nstretches = floe_max64(1, floe_min64(cpu->threads, n / LEAST_STRETCH));
    void *keys = floe_arena_take(arena, n, key_nbytes), *values = floe_arena_take(arena, n, job->value_nbytes);
    sorting s = {.order = floe_prim_order_of(job->type),
                 .keys = job->in,
                 .values = job->values,
                 .keys_to = keys,
                 .values_to = values,
                 .n = n,
                 .length = floe_ceil_div(n, nstretches),
                 .places = floe_arena_take(arena, nstretches * DIGITS, sizeof(uint64_t))};
    if (job->sizing || n == 0)
        return;
    for (s.shift = 0; s.shift < 8 * key_nbytes; s.shift += FLOE_PRIM_SORT_BITS) {
        s.task = counts[wide];
        floe_cpu_parallel(cpu, nstretches, stretch_task, &s);
        if (!places_scan(s.places, nstretches, n))
            continue;
        s.task = moves[wide][job->value_nbytes / 4];
        floe_cpu_parallel(cpu, nstretches, stretch_task, &s);
        s.keys = s.keys_to, s.values = s.values_to;
        s.keys_to = s.keys == keys ? job->out : keys;
        s.values_to = s.keys == keys ? job->out_values : values;
    }
    if (s.keys != job->out)
        memcpy(job->out, s.keys, n * key_nbytes);
    if (job->value_nbytes && s.values != job->out_values)
        memcpy(job->out_values, s.values, n * job->value_nbytes);
}
