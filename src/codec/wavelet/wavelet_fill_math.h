/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling, point by point, for both compilers: means of what is known around a point, in no order of points. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_FILL_MATH_H
#define FLOE_CODEC_WAVELET_WAVELET_FILL_MATH_H

#include <math.h>

#include "codec/wavelet/wavelet_records_math.h"
#include "stage/lattice/lattice_math.h"

enum { FLOE_WAVELET_FILL_PASSES = 8 /* over each level, of one colour and the other in turn */ };

/* A level: the array, or means of boxes of 2 points along each axis that is not rough of the level before. holes: which were NaN. */
typedef struct floe_wavelet_fill_level {
    uint64_t n[FLOE_LATTICE_RANK];
    uint32_t rough; /* bit a: nothing is filled along axis a */
    uint8_t *values, *holes;
    bool narrow;
} floe_wavelet_fill_level;

typedef enum floe_wavelet_fill_what {
    FLOE_WAVELET_FILL_MARK, /* values -> holes */
    FLOE_WAVELET_FILL_COARSEN,
    FLOE_WAVELET_FILL_REFINE, /* holes become the point of the coarse level; this and what follows leave other points alone */
    FLOE_WAVELET_FILL_ZERO, /* holes become 0 */
    FLOE_WAVELET_FILL_EVEN, /* those of a colour are relaxed */
    FLOE_WAVELET_FILL_ODD
} floe_wavelet_fill_what;
/* What is done to each point of a level, or, COARSEN, of the coarse one. */
typedef struct floe_wavelet_fill_job {
    floe_wavelet_fill_what what;
    floe_wavelet_fill_level level, coarse;
    const uint32_t *status; /* of kernels */
} floe_wavelet_fill_job;

FLOE_HD double floe_wavelet_fill_value(const floe_wavelet_fill_level *l, uint64_t i)
{
    return floe_wavelet_real_at(l->values, l->narrow, i);
}
/* 1 for an axis along which two points become one of the next coarser level. */
FLOE_HD uint32_t floe_wavelet_fill_halved(const floe_wavelet_fill_level *l, uint32_t a) { return ~l->rough >> a & 1; }
FLOE_HD void floe_wavelet_fill_set(const floe_wavelet_fill_level *l, uint64_t i, double v)
{
    floe_wavelet_real_set(l->values, l->narrow, i, v);
}

/* The mean of the children of point at[] of the coarse level that are known; NaN without any. */
FLOE_HD double floe_wavelet_fill_mean(const floe_wavelet_fill_level *l, const uint64_t *at)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t child = 0; child < 16; child++) {
        uint64_t p[FLOE_LATTICE_RANK];
        bool in = true;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
            const uint32_t halved = floe_wavelet_fill_halved(l, a), nth = child >> a & 1;
            p[a] = (at[a] << halved) + nth;
            in = in && nth <= halved && p[a] < l->n[a];
        }
        const double v = in ? floe_wavelet_fill_value(l, floe_lattice_index(l->n, p)) : (double)NAN;
        if (v == v) {
            sum += v;
            count++;
        }
    }
    return count ? sum / count : (double)NAN;
}

/* A hole of the colour becomes the mean of its neighbours, which have the other one. All are loaded before any is added. */
FLOE_HD void floe_wavelet_fill_relax(const floe_wavelet_fill_level *l, uint32_t colour, uint64_t i, const uint64_t *at)
{
    double near[2 * FLOE_LATTICE_RANK], sum = 0;
    bool there[2 * FLOE_LATTICE_RANK];
    uint32_t count = 0;
    uint64_t stride = 1;
    if (!l->holes[i] || (at[0] + at[1] + at[2] + at[3]) % 2 != colour)
        return;
    for (uint32_t k = 0; k < FLOE_LATTICE_RANK; k++) {
        const uint32_t a = FLOE_LATTICE_RANK - 1 - k;
        there[2 * k] = at[a] > 0 && floe_wavelet_fill_halved(l, a);
        there[2 * k + 1] = at[a] + 1 < l->n[a] && floe_wavelet_fill_halved(l, a);
        near[2 * k] = floe_wavelet_fill_value(l, there[2 * k] ? i - stride : i);
        near[2 * k + 1] = floe_wavelet_fill_value(l, there[2 * k + 1] ? i + stride : i);
        stride *= l->n[a];
    }
    for (uint32_t k = 0; k < 2 * FLOE_LATTICE_RANK; k++) {
        sum = there[k] ? sum + near[k] : sum;
        count += there[k];
    }
    floe_wavelet_fill_set(l, i, sum / count);
}

/* The value of the coarse level in whose box point at[] lies. */
FLOE_HD double floe_wavelet_fill_coarse(const floe_wavelet_fill_job *j, const uint64_t *at)
{
    uint64_t box[FLOE_LATTICE_RANK];
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        box[a] = at[a] >> floe_wavelet_fill_halved(&j->level, a);
    return floe_wavelet_fill_value(&j->coarse, floe_lattice_index(j->coarse.n, box));
}

/* Point number i, at[], of those that the job does. what: the job's. */
FLOE_HD void floe_wavelet_fill_point(const floe_wavelet_fill_job *j, floe_wavelet_fill_what what, uint64_t i,
                                     const uint64_t *at)
{
    const floe_wavelet_fill_level *l = &j->level;
    const double v = what == FLOE_WAVELET_FILL_MARK ? floe_wavelet_fill_value(l, i) : 0;
    switch (what) {
    case FLOE_WAVELET_FILL_MARK: l->holes[i] = v != v; break;
    case FLOE_WAVELET_FILL_COARSEN:
        floe_wavelet_fill_set(&j->coarse, floe_lattice_index(j->coarse.n, at), floe_wavelet_fill_mean(l, at));
        break;
    case FLOE_WAVELET_FILL_REFINE:
        if (l->holes[i])
            floe_wavelet_fill_set(l, i, floe_wavelet_fill_coarse(j, at));
        break;
    case FLOE_WAVELET_FILL_ZERO:
        if (l->holes[i])
            floe_wavelet_fill_set(l, i, 0);
        break;
    case FLOE_WAVELET_FILL_EVEN: floe_wavelet_fill_relax(l, 0, i, at); break;
    case FLOE_WAVELET_FILL_ODD: floe_wavelet_fill_relax(l, 1, i, at); break;
    }
}

#endif
