/* SPDX-License-Identifier: BSD-3-Clause */
/* Points of the array that are NaN: means of what is known around them, level by level from coarse to fine, then smoothed. */
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"
#include "codec/wavelet/wavelet_fill_math.h"

typedef floe_wavelet_encoder encoder;
typedef floe_wavelet_fill_level level;

static uint64_t mark_holes(const level *l)
{
    const uint64_t count = floe_interp_points(l->n);
    uint64_t nholes = 0;
    for (uint64_t i = 0; i < count; i++) {
        const double v = floe_wavelet_fill_value(l, i);
        l->holes[i] = v != v;
        nholes += l->holes[i];
    }
    return nholes;
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

static void relax_even(const level *l, const level *unused, const uint64_t *at)
{
    (void)unused;
    floe_wavelet_fill_relax(l, 0, at);
}
static void relax_odd(const level *l, const level *unused, const uint64_t *at)
{
    (void)unused;
    floe_wavelet_fill_relax(l, 1, at);
}

/* Coarse levels lie behind one another in `values` and `holes`. */
static void fill_level(const level *l, uint8_t *values, uint8_t *holes, size_t size)
{
    const uint64_t count = floe_interp_points(l->n), nholes = mark_holes(l);
    level coarse = {.values = values, .holes = holes, .narrow = l->narrow};
    if (nholes == 0)
        return;
    if (count == 1) {
        floe_wavelet_fill_set(l, 0, 0);
        return;
    }
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        coarse.n[a] = (l->n[a] + 1) / 2;
    const uint64_t n = floe_interp_points(coarse.n);
    visit_points(l, &coarse, coarse.n, floe_wavelet_fill_coarsen);
    fill_level(&coarse, values + n * size, holes + n, size);
    visit_points(l, &coarse, l->n, floe_wavelet_fill_refine);
    for (int k = 0; k < FLOE_WAVELET_FILL_PASSES; k++)
        visit_points(l, NULL, l->n, k % 2 ? relax_odd : relax_even);
}

void floe_wavelet_array_fill(encoder *e)
{
    level l = {.values = e->bands.array, .holes = e->records, .narrow = e->narrow};
    memcpy(l.n, e->chunk.plan.shape, sizeof l.n);
    fill_level(&l, e->kept, e->records + e->ncells, e->size);
}
