/* SPDX-License-Identifier: BSD-3-Clause */
/* Points of the array that are NaN: means of what is known around them, level by level from coarse to fine, then smoothed. */
#include <math.h>
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"

typedef floe_wavelet_encoder encoder;

enum { SWEEPS = 4 };

/* A level: the array, or means of boxes of 2 points along each axis of the level before. holes: which were NaN. */
typedef struct level {
    uint64_t n[FLOE_INTERP_RANK];
    uint8_t *values, *holes;
    bool narrow;
} level;

static double value_at(const level *l, uint64_t i)
{
    return l->narrow ? (double)((const float *)(void *)l->values)[i] : ((const double *)(void *)l->values)[i];
}
static void set_value(const level *l, uint64_t i, double v)
{
    if (l->narrow)
        ((float *)(void *)l->values)[i] = (float)v;
    else
        ((double *)(void *)l->values)[i] = v;
}

static uint64_t mark_holes(const level *l)
{
    const uint64_t count = floe_interp_points(l->n);
    uint64_t nholes = 0;
    for (uint64_t i = 0; i < count; i++) {
        const double v = value_at(l, i);
        l->holes[i] = v != v;
        nholes += l->holes[i];
    }
    return nholes;
}

static uint64_t place_of(const uint64_t *n, const uint64_t *at)
{
    return ((at[0] * n[1] + at[1]) * n[2] + at[2]) * n[3] + at[3];
}

/* The mean of the children that are known; NaN without any. */
static double mean_of(const level *l, const uint64_t *at)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t child = 0; child < 16; child++) {
        uint64_t p[FLOE_INTERP_RANK];
        bool in = true;
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
            p[a] = 2 * at[a] + (child >> a & 1);
            in = in && p[a] < l->n[a];
        }
        const double v = in ? value_at(l, place_of(l->n, p)) : (double)NAN;
        if (v == v) {
            sum += v;
            count++;
        }
    }
    return count ? sum / count : (double)NAN;
}

typedef void point_fn(const level *l, const level *other, const uint64_t *at);
static void visit_points(const level *l, const level *other, const uint64_t *n, point_fn *visit)
{
    uint64_t at[FLOE_INTERP_RANK];
    for (at[0] = 0; at[0] < n[0]; at[0]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[2] = 0; at[2] < n[2]; at[2]++)
                for (at[3] = 0; at[3] < n[3]; at[3]++)
                    visit(l, other, at);
}

static void coarsen_point(const level *l, const level *coarse, const uint64_t *at)
{
    set_value(coarse, place_of(coarse->n, at), mean_of(l, at));
}

static void refine_point(const level *l, const level *coarse, const uint64_t *at)
{
    const uint64_t i = place_of(l->n, at), half[] = {at[0] / 2, at[1] / 2, at[2] / 2, at[3] / 2};
    if (l->holes[i])
        set_value(l, i, value_at(coarse, place_of(coarse->n, half)));
}

/* Holes of one colour become the mean of their neighbours, which have the other one: in no order. colour: NULL is the even one. */
static void relax(const level *l, const level *colour, const uint64_t *at)
{
    const uint64_t i = place_of(l->n, at);
    double sum = 0;
    uint32_t count = 0;
    uint64_t stride = 1;
    if (!l->holes[i] || ((at[0] + at[1] + at[2] + at[3]) % 2 == 0) != (colour == NULL))
        return;
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0; stride *= l->n[a]) {
        if (at[a] > 0)
            sum += value_at(l, i - stride), count++;
        if (at[a] + 1 < l->n[a])
            sum += value_at(l, i + stride), count++;
    }
    set_value(l, i, sum / count);
}
/* Coarse levels lie behind one another in `values` and `holes`. */
static void fill_level(const level *l, uint8_t *values, uint8_t *holes, size_t size)
{
    const uint64_t count = floe_interp_points(l->n), nholes = mark_holes(l);
    level coarse = {.values = values, .holes = holes, .narrow = l->narrow};
    if (nholes == 0)
        return;
    if (count == 1) {
        set_value(l, 0, 0);
        return;
    }
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        coarse.n[a] = (l->n[a] + 1) / 2;
    const uint64_t n = floe_interp_points(coarse.n);
    visit_points(l, &coarse, coarse.n, coarsen_point);
    fill_level(&coarse, values + n * size, holes + n, size);
    visit_points(l, &coarse, l->n, refine_point);
    for (int k = 0; k < 2 * SWEEPS; k++)
        visit_points(l, k % 2 ? l : NULL, l->n, relax);
}

void floe_wavelet_array_fill(encoder *e)
{
    level l = {.values = e->bands.array, .holes = e->records, .narrow = e->narrow};
    memcpy(l.n, e->chunk.plan.shape, sizeof l.n);
    fill_level(&l, e->kept, e->records + e->ncells, e->size);
}
