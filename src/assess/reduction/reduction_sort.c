/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/reduction/reduction_sort.h"

#include <math.h>

#include "base/try.h"
#include "prim/prim.h"

static floe_prim_type type_of(const floe_reduction *r)
{
    return r->pair->dtype == FLOE_F32 ? FLOE_PRIM_F32 : FLOE_PRIM_F64;
}

floe_status floe_reduction_sort_nbytes(const floe_reduction *r, uint64_t *nbytes, floe_error *err)
{
    const floe_prim p = {.cpu = r->cpu};
    return floe_prim_workspace(&p, FLOE_PRIM_SORT, type_of(r), r->nelems, nbytes, err);
}

static double value_at(const floe_reduction *r, int side, uint64_t i)
{
    return r->pair->dtype == FLOE_F32 ? (double)((const float *)r->sorted[side])[i]
                                      : ((const double *)r->sorted[side])[i];
}

static void value_set(const floe_reduction *r, int side, uint64_t i, double v)
{
    if (r->pair->dtype == FLOE_F32)
        ((float *)r->sorted[side])[i] = (float)v;
    else
        ((double *)r->sorted[side])[i] = v;
}

/* Copies a piece; pairs that do not count become NaN, which are sorted behind all others. */
static void piece_gather(void *arg, uint64_t k, uint32_t worker)
{
    const floe_reduction *r = arg;
    const uint64_t end = floe_min64((k + 1) * r->piece, r->nelems);
    floe_pair_buffer buffer;
    (void)worker;
    for (uint64_t at = k * r->piece; at < end; at += FLOE_PAIR_BLOCK) {
        const uint32_t n = (uint32_t)floe_min64(FLOE_PAIR_BLOCK, end - at);
        const void *x, *y;
        floe_pair_read(r->pair, r->dense, at, n, &buffer, &x, &y);
        for (uint32_t i = 0; i < n; i++) {
            const bool counts = floe_pair_class_at(r->pair, x, y, i) == FLOE_PAIR_COUNTS;
            value_set(r, 0, at + i, counts ? floe_pair_value(r->pair, x, i) : floe_f64_of(FLOE_NAN64_BITS));
            value_set(r, 1, at + i, counts ? floe_pair_value(r->pair, y, i) : floe_f64_of(FLOE_NAN64_BITS));
        }
    }
}

/* The largest distance of the two staircases, just behind each value that either has. */
static double ks_of(const floe_reduction *r, uint64_t n)
{
    uint64_t i = 0, j = 0, largest = 0;
    while (i < n && j < n) {
        const double x = value_at(r, 0, i), y = value_at(r, 1, j), v = x < y ? x : y;
        while (i < n && value_at(r, 0, i) == v)
            i++;
        while (j < n && value_at(r, 1, j) == v)
            j++;
        largest = floe_max64(largest, i > j ? i - j : j - i);
    }
    return (double)largest / (double)n;
}

/* Sorted values face each other; summed in stretches, so that rounding does not grow with n. */
static double wasserstein_of(const floe_reduction *r, uint64_t n)
{
    double sum = 0;
    for (uint64_t at = 0; at < n; at += FLOE_REDUCTION_PIECE) {
        double part = 0;
        for (uint64_t i = at; i < n && i < at + FLOE_REDUCTION_PIECE; i++)
            part += fabs(value_at(r, 0, i) - value_at(r, 1, i));
        sum += part;
    }
    return sum / (double)n;
}

void floe_reduction_sort_compare(const floe_reduction *r, floe_reduction_result *result)
{
    const uint64_t n = result->total.count[FLOE_COUNT_PAIRS];
    result->ks = ks_of(r, n);
    result->wasserstein = wasserstein_of(r, n);
}

floe_status floe_reduction_sort(floe_reduction *r, floe_reduction_result *result, floe_error *err)
{
    const floe_prim p = {.cpu = r->cpu, .workspace = r->sort_workspace, .workspace_nbytes = r->sort_nbytes};
    if (result->total.count[FLOE_COUNT_PAIRS] == 0)
        return FLOE_OK;
    floe_cpu_parallel(r->cpu, r->npieces, piece_gather, r);
    for (int side = 0; side < 2; side++)
        FLOE_TRY(floe_prim_sort(&p, (floe_prim_array){type_of(r), r->sorted[side], r->nelems}, r->sorted[side], err));
    floe_reduction_sort_compare(r, result);
    return FLOE_OK;
}
