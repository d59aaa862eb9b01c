/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block's bins in shared memory. Each count is there several times, next to one another, for lanes to take in turn, so that
 * few of a warp meet at one word. When a value lies outside a frame the whole block moves its counts to a wider one; that
 * happens a few times at the beginning, if at all.
 */
#ifndef FLOE_ASSESS_REDUCTION_BINS_CUH
#define FLOE_ASSESS_REDUCTION_BINS_CUH

#include "assess/reduction/reduction_lane.cuh"

enum {
    FLOE_REDUCTION_FEW_NBYTES = 94 << 10 /* of bins, so that two blocks share a processor */
};

/* One frame and its tables, of a block. */
typedef struct floe_reduction_frame {
    floe_bins_frame bins;
    double low, high;   /* of the values that were met in the pieces before */
    double from, below; /* what fits without moving: from <= v < below */
    double per_width;
    uint32_t first; /* bins.first in the low word of a sum */
} floe_reduction_frame;

/* Places of the tables in shared memory, and how many times each count is there. */
typedef struct floe_reduction_tables {
    uint32_t copies, ratios, x, y, end; /* in words; errors are at 0 */
} floe_reduction_tables;

FLOE_HD floe_reduction_tables floe_reduction_tables_of(const floe_reduction_dev_bins *b)
{
    floe_reduction_tables t;
    const uint32_t all = b->nerrors + b->nratios + 2 * b->nvalues;
    for (t.copies = 8; t.copies > 1 && 4 * all * t.copies > FLOE_REDUCTION_FEW_NBYTES;)
        t.copies /= 2;
    t.ratios = b->nerrors * t.copies;
    t.x = t.ratios + b->nratios * t.copies;
    t.y = t.x + b->nvalues * t.copies;
    t.end = all * t.copies;
    return t;
}

/* ---- frames -------------------------------------------------------------------------------------------------------- */

/* Room to both sides of the values from low to high. A frame of nothing but zeros takes nothing else. */
FLOE_DEV void floe_reduction_frame_set(floe_reduction_frame *f, double low, double high, uint32_t nbins)
{
    floe_bins_frame b = floe_bins_frame_of(low, high, nbins);
    const double width = floe_bins_power(b.exponent);
    b.first -= (nbins - b.nbins) / 2;
    b.nbins = nbins;
    f->bins = b;
    f->low = low, f->high = high;
    f->per_width = floe_bins_power(-b.exponent);
    f->first = (uint32_t)b.first;
    f->from = (double)b.first * width, f->below = (double)(b.first + nbins) * width;
    if (low == 0 && high == 0)
        f->from = 0, f->below = 0x1p-1074;
}

/* NaN: nothing is known yet. */
FLOE_DEV void floe_reduction_frame_init(floe_reduction_frame *f, double low, double high, uint32_t nbins)
{
    const bool known = low <= high;
    f->bins.nbins = 0;
    f->low = 1, f->high = f->from = f->below = 0;
    if (nbins && known)
        floe_reduction_frame_set(f, low, high, nbins);
}

/* Low and high of a block from those of its lanes; by all threads. words: of shared memory, as many as warps. */
FLOE_DEV double floe_reduction_block_top(double v, double *words)
{
    for (int d = FLOE_WARP / 2; d > 0; d /= 2)
        floe_reduction_top_add(&v, __shfl_xor_sync(FLOE_ALL_LANES, v, d));
    __syncthreads();
    if (floe_lane() == 0)
        words[threadIdx.x / FLOE_WARP] = v;
    __syncthreads();
    v = words[0];
    for (int w = 1; w < FLOE_REDUCTION_WARPS; w++)
        floe_reduction_top_add(&v, words[w]);
    return v;
}

/* Brings the counts of a table to the frame `to`; by all threads. spare: nbins words of device memory. */
FLOE_DEV void floe_reduction_table_move(uint32_t *table, uint32_t copies, const floe_bins_frame *from,
                                        const floe_bins_frame *to, uint32_t *spare)
{
    const uint32_t nbins = to->nbins;
    for (uint32_t i = threadIdx.x; i < nbins; i += FLOE_REDUCTION_THREADS) {
        uint32_t n = 0;
        for (uint32_t c = 0; c < copies; c++) {
            n += table[i * copies + c];
            table[i * copies + c] = 0;
        }
        spare[i] = n;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < nbins; i += FLOE_REDUCTION_THREADS) /* each its own words of spare */
        if (spare[i])
            atomicAdd(&table[(uint32_t)floe_bins_move(from, i, to) * copies], spare[i]);
    __syncthreads();
}

/* Widens a frame, so that low and high of all lanes fit. tables: ntables of nbins bins each, one after another. */
FLOE_DEV_SELDOM void floe_reduction_frame_widen(floe_reduction_frame *f, double low, double high, uint32_t *tables,
                                                uint32_t ntables, uint32_t nbins, uint32_t copies, uint32_t *spare,
                                                double *words)
{
    const double block_high = floe_reduction_block_top(high, words), block_low = -floe_reduction_block_top(-low, words);
    const floe_reduction_frame before = *f;
    floe_reduction_frame next;
    const bool any = before.bins.nbins != 0;
    if (!(block_low <= block_high)) /* no value yet; the same for all threads */
        return;
    floe_reduction_frame_set(&next, any && before.low < block_low ? before.low : block_low,
                             any && before.high > block_high ? before.high : block_high, nbins);
    for (uint32_t t = 0; any && t < ntables; t++)
        floe_reduction_table_move(tables + t * nbins * copies, copies, &before.bins, &next.bins, spare);
    __syncthreads();
    if (threadIdx.x == 0)
        *f = next;
    __syncthreads();
}

/* ---- counting ------------------------------------------------------------------------------------------------------ */

/* The low word of v * per_width, rounded down. TINY: the product may be too small for a double. */
template <bool TINY> FLOE_DEV uint32_t floe_reduction_floor(double v, double per_width)
{
    const double widths = v * per_width;
#ifdef FLOE_EMULATED
    const uint32_t low = (uint32_t)(int64_t)floor(widths);
#else
    const uint32_t low = (uint32_t)__double2loint(__dadd_rd(widths, 0x1.8p52));
#endif
    return TINY ? low - (widths == 0 && v < 0) : low;
}

FLOE_DEV uint32_t floe_reduction_ratio_bin(float x, double e, uint32_t nbits)
{
    return floe_log_bins_f32(__fdiv_rn((float)fabs(e), fabsf(x)), nbits);
}
FLOE_DEV uint32_t floe_reduction_ratio_bin(double x, double e, uint32_t nbits)
{
    return floe_log_bins_f64(__ddiv_rn(fabs(e), fabs(x)), nbits);
}

/* Of a block. */
typedef struct floe_reduction_frames {
    floe_reduction_frame errors, values;
    double words[FLOE_REDUCTION_WARPS];
} floe_reduction_frames;

/* By a whole block, for a group of each thread; lanes know the extremes of all that they have met. */
template <typename T>
FLOE_DEV void floe_reduction_bins_add(const floe_reduction_dev_job *job, const floe_reduction_group<T> *g,
                                      const floe_reduction_marks *marks, const floe_reduction_lane *l,
                                      const floe_reduction_tables *t, uint32_t *tables, floe_reduction_frames *f)
{
    enum { TINY = sizeof(T) == 8 };
    const floe_reduction_dev_bins *b = &job->bins;
    uint32_t *spare = b->spare + (uint64_t)blockIdx.x * (b->nerrors + b->nratios + 2 * b->nvalues);
    const double low_e = -l->top[FLOE_TOP_E_LOW], high_e = l->top[FLOE_TOP_E];
    const double low_v = min(-l->top[FLOE_TOP_X_LOW], -l->top[FLOE_TOP_Y_LOW]);
    const double high_v = max(l->top[FLOE_TOP_X], l->top[FLOE_TOP_Y]);
    const uint32_t lane = threadIdx.x % t->copies;
    const bool met = low_e <= high_e;
    const bool errors_out = met && b->nerrors && !(low_e >= f->errors.from && high_e < f->errors.below);
    const bool values_out = met && b->nvalues && !(low_v >= f->values.from && high_v < f->values.below);
    if (__syncthreads_or(errors_out || values_out)) {
        if (b->nerrors)
            floe_reduction_frame_widen(&f->errors, low_e, high_e, tables, 1, b->nerrors, t->copies, spare, f->words);
        if (b->nvalues)
            floe_reduction_frame_widen(&f->values, low_v, high_v, tables + t->x, 2, b->nvalues, t->copies, spare,
                                       f->words);
    }
    if (b->nerrors) {
        const double per_width = f->errors.per_width;
        const uint32_t first = f->errors.first;
#pragma unroll
        for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
            const double e = (double)g->y[j] - (double)g->x[j];
            if (marks->counts >> j & 1)
                atomicAdd(&tables[(floe_reduction_floor<TINY>(e, per_width) - first) * t->copies + lane], 1u);
            if (marks->divides >> j & 1)
                atomicAdd(&tables[t->ratios + floe_reduction_ratio_bin(g->x[j], e, b->ratio_nbits) * t->copies + lane],
                          1u);
        }
    }
    if (b->nvalues) {
        const double per_width = f->values.per_width;
        const uint32_t first = f->values.first;
#pragma unroll
        for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
            if (marks->counts >> j & 1) {
                const uint32_t x = floe_reduction_floor<TINY>((double)g->x[j], per_width) - first;
                const uint32_t y = floe_reduction_floor<TINY>((double)g->y[j], per_width) - first;
                atomicAdd(&tables[t->x + x * t->copies + lane], 1u);
                atomicAdd(&tables[t->y + y * t->copies + lane], 1u);
            }
    }
}

/* A piece is done: what was met in it. By one thread. */
FLOE_DEV void floe_reduction_frame_met(floe_reduction_frame *f, double low, double high)
{
    if (f->bins.nbins && low <= high) {
        f->low = min(f->low, low);
        f->high = max(f->high, high);
    }
}
FLOE_DEV void floe_reduction_frames_met(floe_reduction_frames *f, const floe_reduction_part *p)
{
    const double *top = p->top;
    floe_reduction_frame_met(&f->errors, -top[FLOE_TOP_E_LOW], top[FLOE_TOP_E]);
    floe_reduction_frame_met(&f->values, min(-top[FLOE_TOP_X_LOW], -top[FLOE_TOP_Y_LOW]),
                             max(top[FLOE_TOP_X], top[FLOE_TOP_Y]));
}

/* The block's counts and frames to device memory; by all threads. */
FLOE_DEV void floe_reduction_bins_write(const floe_reduction_dev_bins *b, const floe_reduction_tables *t,
                                        const uint32_t *tables, const floe_reduction_frames *f)
{
    const uint32_t all = b->nerrors + b->nratios + 2 * b->nvalues;
    uint32_t *counts = b->counts + (uint64_t)blockIdx.x * all;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < all; i += FLOE_REDUCTION_THREADS) {
        uint32_t n = 0;
        for (uint32_t c = 0; c < t->copies; c++)
            n += tables[i * t->copies + c];
        counts[i] = n;
    }
    if (threadIdx.x == 0) {
        b->frames[2 * blockIdx.x] = f->errors.bins;
        b->frames[2 * blockIdx.x + 1] = f->values.bins;
    }
}

#endif
