/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/pair_integers.h"

#include <math.h>
#include <string.h>

#include "assess/pair_read.h"
#include "assess/reduction/distribution.h"
#include "field/dtype_math.h"

enum { MAX_PARTS = 64 };

#define EXACT 0x1p53 /* whole numbers below are doubles */

struct floe_integers_part {
    uint64_t byte_count[2][256];
    uint64_t largest; /* |y - x| */
};

/* ---- memory -------------------------------------------------------------------------------------------------------- */

void floe_integers_init(floe_integers *n, const floe_cpu *cpu, const floe_pair *given)
{
    *n = (floe_integers){.cpu = cpu, .given = *given, .nelems = floe_pair_nelems(given)};
    n->nparts = floe_min64(MAX_PARTS, floe_ceil_div(n->nelems, FLOE_PAIR_BLOCK));
}

void floe_integers_take(floe_integers *n, floe_arena *arena)
{
    for (int side = 0; side < (n->given.decoded ? 2 : 1); side++)
        n->values[side] = floe_arena_take(arena, n->nelems, sizeof(double));
    n->parts = floe_arena_take(arena, n->nparts, sizeof *n->parts);
}

floe_pair floe_integers_pair(const floe_integers *n)
{
    floe_pair p = n->given;
    int64_t step = 1;
    p.dtype = FLOE_F64;
    for (uint32_t a = FLOE_MAX_RANK; a-- > 0; step *= (int64_t)p.shape[a])
        p.original_stride[a] = p.decoded_stride[a] = step;
    if (n->values[0])
        p.original = n->values[0], p.decoded = n->given.decoded ? n->values[1] : NULL;
    return p;
}

/* ---- reading -------------------------------------------------------------------------------------------------------- */

typedef struct reading {
    const floe_integers *n;
    bool is_dense, has_fill;
    int64_t fill;
} reading;

static int64_t integer_at(floe_dtype dtype, const void *values, uint32_t i)
{
    return dtype == FLOE_I32 ? ((const int32_t *)values)[i] : ((const int64_t *)values)[i];
}

/* Hands each block of a part to what is to be done with it. */
typedef void (*block_fn)(const reading *r, uint64_t at, uint32_t m, const void *x, const void *y,
                         floe_integers_part *part);

static void part_visit(const reading *r, uint64_t k, block_fn visit)
{
    const floe_integers *n = r->n;
    const uint64_t nblocks = floe_ceil_div(n->nelems, FLOE_PAIR_BLOCK);
    const uint64_t from = nblocks * k / n->nparts, to = nblocks * (k + 1) / n->nparts;
    floe_pair_buffer buffer;
    for (uint64_t at = from * FLOE_PAIR_BLOCK; at < floe_min64(to * FLOE_PAIR_BLOCK, n->nelems);
         at += FLOE_PAIR_BLOCK) {
        const uint32_t m = (uint32_t)floe_min64(FLOE_PAIR_BLOCK, n->nelems - at);
        const void *x, *y;
        floe_pair_read(&n->given, r->is_dense, at, m, &buffer, &x, &y);
        visit(r, at, m, x, y, &n->parts[k]);
    }
}

static void block_convert(const reading *r, uint64_t at, uint32_t m, const void *x, const void *y,
                          floe_integers_part *part)
{
    const floe_dtype dtype = r->n->given.dtype;
    for (int side = 0; side < (r->n->given.decoded ? 2 : 1); side++) {
        const void *from = side ? y : x;
        double *to = r->n->values[side] + at;
        for (uint32_t i = 0; i < m; i++)
            to[i] = (double)integer_at(dtype, from, i);
        for (uint64_t i = 0; i < m * floe_dtype_size(dtype); i++)
            part->byte_count[side][((const uint8_t *)from)[i]]++;
    }
}

static void block_compare(const reading *r, uint64_t at, uint32_t m, const void *x, const void *y,
                          floe_integers_part *part)
{
    const floe_dtype dtype = r->n->given.dtype;
    (void)at;
    for (uint32_t i = 0; i < m; i++) {
        const int64_t a = integer_at(dtype, x, i), b = integer_at(dtype, y, i);
        const bool counts = !r->has_fill || (a != r->fill && b != r->fill);
        part->largest = counts ? floe_max64(part->largest, floe_integer_distance(a, b)) : part->largest;
    }
}

static void convert_task(void *arg, uint64_t k, uint32_t worker)
{
    const reading *r = arg;
    (void)worker;
    memset(&r->n->parts[k], 0, sizeof r->n->parts[k]);
    part_visit(r, k, block_convert);
}

static void compare_task(void *arg, uint64_t k, uint32_t worker)
{
    (void)worker;
    part_visit(arg, k, block_compare);
}

void floe_integers_read(floe_integers *n)
{
    reading r = {.n = n, .is_dense = floe_pair_is_dense(&n->given)};
    floe_cpu_parallel(n->cpu, n->nparts, convert_task, &r);
}

/* ---- the report ------------------------------------------------------------------------------------------------------ */

static double bytes_entropy(const floe_integers *n, int side)
{
    uint64_t count[256] = {0};
    for (uint64_t k = 0; k < n->nparts; k++)
        for (int b = 0; b < 256; b++)
            count[b] += n->parts[k].byte_count[side][b];
    return floe_distribution_entropy(count, 256);
}

static bool is_exact(const floe_values *v) { return v->min > -EXACT && v->max < EXACT; }

static void largest_find(floe_integers *n, floe_assess_report *report)
{
    reading r = {.n = n, .is_dense = floe_pair_is_dense(&n->given), .has_fill = report->has_fill};
    floe_error_stats *e = &report->error;
    uint64_t largest = 0;
    r.fill = floe_integer_of(n->given.dtype, floe_integer_bits(n->given.dtype, report->fill_value));
    floe_cpu_parallel(n->cpu, n->nparts, compare_task, &r);
    for (uint64_t k = 0; k < n->nparts; k++)
        largest = floe_max64(largest, n->parts[k].largest);
    e->abs_max = e->linf = (double)largest;
    e->rel_max = largest ? e->abs_max / report->original.range : 0;
    e->error_range = fmax(e->abs_max - e->abs_min, 0);
}

void floe_integers_finish(floe_integers *n, bool bytes, floe_assess_report *report)
{
    if (bytes)
        report->original.entropy_bytes = bytes_entropy(n, 0);
    if (bytes && n->given.decoded)
        report->decoded.entropy_bytes = bytes_entropy(n, 1);
    if (n->given.decoded && !(is_exact(&report->original) && is_exact(&report->decoded)))
        largest_find(n, report);
}
