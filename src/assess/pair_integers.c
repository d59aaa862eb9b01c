/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/pair_integers.h"

#include <math.h>
#include <string.h>

#include "assess/pair_read.h"
#include "assess/reduction/distribution.h"
#include "assess/reduction/reduction_search.h"
#include "field/dtype_math.h"

enum { MAX_PARTS = 64 };

#define EXACT 0x1p52 /* whole numbers below are doubles, and so are their differences */

struct floe_integers_part {
    uint64_t byte_count[2][256];
    int64_t least, most;        /* of the original; of errors, of the pairs that count */
    floe_reduction_part errors; /* what a part has of them */
    uint64_t noutside;
    floe_spot outside; /* the first */
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
    bool is_dense;
    floe_reduction *reduction;
    double pivot, allowed;
    floe_ranking worst;
} reading;

static int64_t integer_at(floe_dtype dtype, const void *values, uint32_t i)
{
    return dtype == FLOE_I32 ? ((const int32_t *)values)[i] : ((const int64_t *)values)[i];
}

/* Hands each block of a part to what is to be done with it. */
typedef void (*block_fn)(reading *r, uint64_t at, uint32_t m, const void *x, const void *y, floe_integers_part *part);

static void part_visit(reading *r, uint64_t k, block_fn visit)
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

/* The nearest double, or that beside it where this is the fill value's and the integer another one. */
static double double_of(const floe_integers *n, int64_t v)
{
    const double d = (double)v;
    const bool is_taken = n->has_fill && v != n->fill && d == (double)n->fill;
    return is_taken ? nextafter(d, v > n->fill ? INFINITY : -INFINITY) : d;
}

static void part_span(floe_integers_part *part, int64_t x)
{
    part->least = x < part->least ? x : part->least;
    part->most = x > part->most ? x : part->most;
}

static void block_convert(reading *r, uint64_t at, uint32_t m, const void *x, const void *y, floe_integers_part *part)
{
    const floe_dtype dtype = r->n->given.dtype;
    for (uint32_t i = 0; i < m; i++)
        part_span(part, integer_at(dtype, x, i));
    for (int side = 0; side < (r->n->given.decoded ? 2 : 1); side++) {
        const void *from = side ? y : x;
        double *to = r->n->values[side] + at;
        for (uint32_t i = 0; i < m; i++)
            to[i] = double_of(r->n, integer_at(dtype, from, i));
        for (uint64_t i = 0; i < m * floe_dtype_size(dtype); i++)
            part->byte_count[side][((const uint8_t *)from)[i]]++;
    }
}

static bool counts(const floe_integers *n, int64_t x, int64_t y)
{
    return !n->has_fill || (x != n->fill && y != n->fill);
}

/* As the reduction adds them up; an error is rounded once. */
static void error_add(floe_reduction_part *p, int64_t x, int64_t y, double pivot)
{
    const double size = (double)floe_integer_distance(x, y), e = x > y ? -size : size;
    p->sum[FLOE_SUM_E] += e, p->sum[FLOE_SUM_E_ABS] += size, p->sum[FLOE_SUM_E2] += e * e;
    p->sum[FLOE_SUM_XE] += ((double)x - pivot) * e;
    p->top[FLOE_TOP_E] = fmax(p->top[FLOE_TOP_E], e), p->top[FLOE_TOP_E_LOW] = fmax(p->top[FLOE_TOP_E_LOW], -e);
    p->top[FLOE_TOP_E_ABS_LOW] = fmax(p->top[FLOE_TOP_E_ABS_LOW], -size);
    if (x) {
        const double ratio = size / fabs((double)x);
        p->sum[FLOE_SUM_PW] += ratio;
        p->top[FLOE_TOP_PW] = fmax(p->top[FLOE_TOP_PW], ratio);
        p->top[FLOE_TOP_PW_LOW] = fmax(p->top[FLOE_TOP_PW_LOW], -ratio);
    }
}

static void block_compare(reading *r, uint64_t at, uint32_t m, const void *x, const void *y, floe_integers_part *part)
{
    const floe_dtype dtype = r->n->given.dtype;
    (void)at;
    for (uint32_t i = 0; i < m; i++) {
        const int64_t a = integer_at(dtype, x, i), b = integer_at(dtype, y, i);
        if (counts(r->n, a, b)) {
            part_span(part, a);
            error_add(&part->errors, a, b, r->pivot);
        }
    }
}

static floe_found found_of(const reading *r, uint64_t at, int64_t x, int64_t y)
{
    return (floe_found){at, double_of(r->n, x), double_of(r->n, y), FLOE_PAIR_COUNTS};
}

static void block_outside(reading *r, uint64_t at, uint32_t m, const void *x, const void *y, floe_integers_part *part)
{
    const floe_dtype dtype = r->n->given.dtype;
    const bool of_value = r->reduction->options->mode == FLOE_BOUND_PWREL;
    for (uint32_t i = 0; i < m; i++) {
        const int64_t a = integer_at(dtype, x, i), b = integer_at(dtype, y, i);
        const double allowed = of_value ? r->allowed * fabs((double)a) : r->allowed;
        const bool is_outside = allowed < 0x1p64 && floe_integer_distance(a, b) > (uint64_t)allowed;
        const floe_found found = found_of(r, at + i, a, b);
        if (is_outside && counts(r->n, a, b) && part->noutside++ == 0)
            part->outside = floe_reduction_place(r->reduction, &found);
    }
}

static void block_worst(reading *r, uint64_t at, uint32_t m, const void *x, const void *y, floe_integers_part *part)
{
    const floe_dtype dtype = r->n->given.dtype;
    (void)part;
    for (uint32_t i = 0; i < m; i++) {
        const int64_t a = integer_at(dtype, x, i), b = integer_at(dtype, y, i);
        const floe_found found = found_of(r, at + i, a, b);
        if (counts(r->n, a, b))
            floe_ranking_add(&r->worst, (double)floe_integer_distance(a, b), &found);
    }
}

static void convert_task(void *arg, uint64_t k, uint32_t worker)
{
    reading *r = arg;
    (void)worker;
    r->n->parts[k] = (floe_integers_part){.least = INT64_MAX, .most = INT64_MIN};
    part_visit(r, k, block_convert);
}

static void compare_task(void *arg, uint64_t k, uint32_t worker)
{
    reading *r = arg;
    floe_integers_part *part = &r->n->parts[k];
    (void)worker;
    part->least = INT64_MAX, part->most = INT64_MIN, part->noutside = 0;
    floe_reduction_part_init(&part->errors);
    part_visit(r, k, block_compare);
}

static void outside_task(void *arg, uint64_t k, uint32_t worker)
{
    (void)worker;
    part_visit(arg, k, block_outside);
}

void floe_integers_read(floe_integers *n, bool has_fill)
{
    reading r = {.n = n, .is_dense = floe_pair_is_dense(&n->given)};
    n->has_fill = has_fill;
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

void floe_integers_finish(floe_integers *n, bool bytes, floe_assess_report *report)
{
    if (bytes)
        report->original.entropy_bytes = bytes_entropy(n, 0);
    if (bytes && n->given.decoded)
        report->decoded.entropy_bytes = bytes_entropy(n, 1);
}

/* ---- errors ---------------------------------------------------------------------------------------------------------- */

static bool is_exact(const double *top)
{
    return fmax(fmax(top[FLOE_TOP_X], top[FLOE_TOP_X_LOW]), fmax(top[FLOE_TOP_Y], top[FLOE_TOP_Y_LOW])) < EXACT;
}

static void errors_find(reading *r, floe_reduction_result *result)
{
    const floe_integers *n = r->n;
    int64_t least = INT64_MAX, most = INT64_MIN;
    floe_reduction_part *total = &result->total, none;
    floe_cpu_parallel(n->cpu, n->nparts, compare_task, r);
    floe_reduction_part_init(&none);
    memcpy(&total->sum[FLOE_SUM_E], &none.sum[FLOE_SUM_E], (FLOE_SUM_XE - FLOE_SUM_E + 1) * sizeof(double));
    total->sum[FLOE_SUM_PW] = 0;
    memcpy(&total->top[FLOE_TOP_E], &none.top[FLOE_TOP_E], (FLOE_TOPS - FLOE_TOP_E) * sizeof(double));
    for (uint64_t k = 0; k < n->nparts; k++) {
        const floe_integers_part *p = &n->parts[k];
        floe_reduction_part_join(total, &p->errors);
        least = p->least < least ? p->least : least, most = p->most > most ? p->most : most;
    }
    result->range = (double)floe_integer_distance(least, most);
}

static void outside_find(reading *r, floe_reduction_result *result)
{
    const floe_integers *n = r->n;
    const floe_reduction_options *o = r->reduction->options;
    r->allowed = o->mode == FLOE_BOUND_REL ? o->bound * result->range : o->bound;
    result->noutside = 0;
    floe_cpu_parallel(n->cpu, n->nparts, outside_task, r);
    for (uint64_t k = n->nparts; k-- > 0;) {
        result->noutside += n->parts[k].noutside;
        *r->reduction->outside = n->parts[k].noutside ? n->parts[k].outside : *r->reduction->outside;
    }
    result->outside = (floe_spots){result->noutside > 0, r->reduction->outside};
}

static void worst_find(reading *r, floe_reduction_result *result)
{
    floe_ranking *w = &r->worst;
    w->most = r->reduction->options->worst;
    for (uint64_t k = 0; k < r->n->nparts; k++)
        if (w->n < w->most || floe_reduction_worst(&r->n->parts[k].errors) > w->entry[w->n - 1].size)
            part_visit(r, k, block_worst);
    for (uint32_t i = 0; i < w->n; i++)
        r->reduction->worst[i] = floe_reduction_place(r->reduction, &w->entry[i].pair);
    result->worst = (floe_spots){w->n, r->reduction->worst};
}

void floe_integers_errors(floe_integers *n, floe_reduction *reduction, floe_reduction_result *result)
{
    const uint32_t parts = reduction->options->parts;
    reading r = {.n = n, .is_dense = floe_pair_is_dense(&n->given), .reduction = reduction, .pivot = result->pivot[0]};
    if (is_exact(result->total.top))
        return;
    errors_find(&r, result);
    if (parts & FLOE_REDUCTION_OUTSIDE)
        outside_find(&r, result);
    if (parts & FLOE_REDUCTION_WORST && reduction->options->worst)
        worst_find(&r, result);
}
