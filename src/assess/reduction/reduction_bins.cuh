/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block's bins in shared memory. Each count is there several times, next to one another, for lanes to take in turn, so that
 * few of a warp meet at one word. A warp that meets a value outside the frames remembers the step; some steps later the whole
 * block moves its counts to wider frames, and such steps are counted. That happens a few times at the beginning, if at all.
 */
#ifndef FLOE_ASSESS_REDUCTION_BINS_CUH
#define FLOE_ASSESS_REDUCTION_BINS_CUH

#include "assess/reduction/reduction_lane.cuh"

enum {
    FLOE_REDUCTION_FEW_NBYTES = 94 << 10 /* of bins, so that two blocks share a processor */
};

/* One frame of a block. */
template <typename T> struct floe_reduction_frame {
    floe_bins_frame bins;
    double low, high; /* of the values for which it was made */
    double per_width;
    uint32_t first; /* bins.first in the low word of a sum */
    T above, under; /* what fits: above < v < under. Of errors v is what T makes of it */
};

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

/* The T next to v that is not less (up), or not more; and strictly so. */
FLOE_DEV float floe_reduction_beside(double v, bool up, float)
{
    const float near = (float)v, infinity = floe_reduction_infinity<float>();
    return (up ? (double)near < v : (double)near > v) ? nextafterf(near, up ? infinity : -infinity) : near;
}
FLOE_DEV double floe_reduction_beside(double v, bool, double) { return v; }
FLOE_DEV float floe_reduction_before(float v) { return nextafterf(v, -floe_reduction_infinity<float>()); }
FLOE_DEV double floe_reduction_before(double v) { return nextafter(v, -floe_reduction_infinity<double>()); }

/* What T makes of a number lies strictly between two T only if the number does. exact: the numbers are T; all that is not
 * below the frame's first bin fits then. */
template <typename T> FLOE_DEV void floe_reduction_frame_limit(floe_reduction_frame<T> *f, bool exact)
{
    const double width = floe_bins_power(f->bins.exponent);
    f->above = floe_reduction_beside((double)f->bins.first * width, true, (T)0);
    f->under = floe_reduction_beside((double)(f->bins.first + f->bins.nbins) * width, false, (T)0);
    if (f->low == 0 && f->high == 0) /* of nothing but zeros */
        f->under = -floe_reduction_before((T)0), f->above = floe_reduction_before((T)0);
    else if (exact || sizeof(T) == 8)
        f->above = floe_reduction_before(f->above);
}

/* Room to both sides of the values from low to high. A frame of nothing but zeros takes nothing else. */
template <typename T>
FLOE_DEV void floe_reduction_frame_set(floe_reduction_frame<T> *f, double low, double high, uint32_t nbins, bool exact)
{
    floe_bins_frame b = floe_bins_frame_of(low, high, nbins);
    b.first -= (nbins - b.nbins) / 2;
    b.nbins = nbins;
    f->bins = b;
    f->low = low, f->high = high;
    f->per_width = floe_bins_power(-b.exponent);
    f->first = (uint32_t)b.first;
    floe_reduction_frame_limit(f, exact);
}

/* NaN: nothing is known yet. */
template <typename T>
FLOE_DEV void floe_reduction_frame_init(floe_reduction_frame<T> *f, double low, double high, uint32_t nbins, bool exact)
{
    const bool known = low <= high;
    f->bins.nbins = 0;
    f->low = 1, f->high = 0;
    f->above = f->under = 0;
    if (nbins && known)
        floe_reduction_frame_set(f, low, high, nbins, exact);
}

/* Low and high of a block from those of its lanes; by all threads. words: of shared memory, as many as warps. */
FLOE_DEV double floe_reduction_block_top(double v, double *words)
{
    for (int d = FLOE_WARP / 2; d > 0; d /= 2)
        v = max(v, __shfl_xor_sync(FLOE_ALL_LANES, v, d));
    __syncthreads();
    if (floe_lane() == 0)
        words[threadIdx.x / FLOE_WARP] = v;
    __syncthreads();
    v = words[0];
    for (int w = 1; w < FLOE_REDUCTION_WARPS; w++)
        v = max(v, words[w]);
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

/* Tables that have the same frame; of shared memory. */
typedef struct floe_reduction_stack {
    uint32_t *tables; /* nbins bins each, one after another */
    uint32_t ntables, nbins, copies;
    uint32_t *spare; /* nbins words of device memory */
} floe_reduction_stack;

/* Widens a frame, so that low and high of all lanes fit; by all threads. words: of shared memory, as many as warps. */
template <typename T>
FLOE_DEV_SELDOM void floe_reduction_frame_widen(floe_reduction_frame<T> *f, double low, double high, bool exact,
                                                floe_reduction_stack stack, double *words)
{
    const double block_high = floe_reduction_block_top(high, words), block_low = -floe_reduction_block_top(-low, words);
    const floe_reduction_frame<T> before = *f;
    floe_reduction_frame<T> next;
    const bool any = before.bins.nbins != 0;
    if (!(block_low <= block_high)) /* no value yet; the same for all threads */
        return;
    floe_reduction_frame_set(&next, any && before.low < block_low ? before.low : block_low,
                             any && before.high > block_high ? before.high : block_high, stack.nbins, exact);
    for (uint32_t t = 0; any && t < stack.ntables; t++)
        floe_reduction_table_move(stack.tables + t * stack.nbins * stack.copies, stack.copies, &before.bins, &next.bins,
                                  stack.spare);
    __syncthreads();
    if (threadIdx.x == 0)
        *f = next;
    __syncthreads();
}

/* ---- counting ------------------------------------------------------------------------------------------------------ */

/* The low word of v * per_width, rounded down. TINY: the product may be too small for a double. */
template <bool TINY> FLOE_DEV uint32_t floe_reduction_floor(double v, double per_width)
{
#ifdef FLOE_EMULATED
    const uint32_t low = (uint32_t)(int64_t)floor(v * per_width);
#else
    const uint32_t low = (uint32_t)__double2loint(__fma_rd(v, per_width, 0x1.8p52)); /* the product is exact */
#endif
    return TINY ? low - (v * per_width == 0 && v < 0) : low;
}

/* |e| / |x| as a T; e as T rounds it. */
FLOE_DEV uint32_t floe_reduction_ratio_bin(float e, float x, uint32_t nbits)
{
    return floe_log_bins_f32(__fdiv_rn(fabsf(e), fabsf(x)), nbits);
}
FLOE_DEV uint32_t floe_reduction_ratio_bin(double e, double x, uint32_t nbits)
{
    return floe_log_bins_f64(__ddiv_rn(fabs(e), fabs(x)), nbits);
}

/* The same of a tame x: a quotient that is right to a few last places will do, unless it lies close to the end of a bin. */
FLOE_DEV uint32_t floe_reduction_ratio_bin_tame(float e, float x, uint32_t nbits)
{
    enum { PLACES = 4 };
    const float near = fabsf(e * floe_reduction_reciprocal(x));
    const uint32_t rest = (1u << (23 - nbits)) - 1, bits = floe_bits_f32(near);
    if (((bits + PLACES) & rest) < 2 * PLACES && bits)
        return floe_reduction_ratio_bin(e, x, nbits);
    return floe_log_bins_f32(near, nbits);
}
FLOE_DEV uint32_t floe_reduction_ratio_bin_tame(double e, double x, uint32_t nbits)
{
    return floe_reduction_ratio_bin(e, x, nbits);
}

/* Of a block. */
template <typename T> struct floe_reduction_frames {
    floe_reduction_frame<T> errors, values;
    double words[FLOE_REDUCTION_WARPS];
};

/* Where a lane counts, and how. */
template <typename T> struct floe_reduction_counter {
    const floe_reduction_dev_bins *bins;
    const floe_reduction_frames<T> *frames;
    floe_reduction_tables at;
    uint32_t *tables; /* those of all */
};

/* Does all that a group spans fit the frames? */
template <typename T>
FLOE_DEV bool floe_reduction_fits(const floe_reduction_counter<T> *c, const floe_reduction_extent<T> *v)
{
    const floe_reduction_frames<T> *f = c->frames;
    bool fits = true;
    if (c->bins->nerrors)
        fits &= v->e_low > f->errors.above && v->e_high < f->errors.under;
    if (c->bins->nvalues)
        fits &= min(v->least[0], v->least[1]) > f->values.above && max(v->most[0], v->most[1]) < f->values.under;
    return fits || v->e_low > v->e_high;
}

/* What counting a pair takes, in registers: shared memory changes with every count. Tables begin where bin 0 of all bins would
 * lie for this lane, which may be far outside. */
typedef struct floe_reduction_aim {
    uint32_t *tables;
    double e_per_width, v_per_width;
    uint32_t errors, ratios, x, y, copies, ratio_nbits;
} floe_reduction_aim;

template <typename T> FLOE_DEV floe_reduction_aim floe_reduction_aim_of(const floe_reduction_counter<T> *c)
{
    const uint32_t copies = c->at.copies, mine = threadIdx.x % copies;
    const floe_reduction_frames<T> *f = c->frames;
    return floe_reduction_aim{c->tables,
                              f->errors.per_width,
                              f->values.per_width,
                              mine - f->errors.first * copies,
                              mine + c->at.ratios,
                              mine + c->at.x - f->values.first * copies,
                              mine + c->at.y - f->values.first * copies,
                              copies,
                              c->bins->ratio_nbits};
}

FLOE_DEV void floe_reduction_count_add(const floe_reduction_aim *a, uint32_t table, uint32_t bin)
{
    atomicAdd(&a->tables[table + bin * a->copies], 1u);
}

/* One pair that counts; divides: and its x is not 0. */
template <bool TAME, typename T>
FLOE_DEV void floe_reduction_error_count(const floe_reduction_aim *a, T x, T y, bool divides)
{
    enum { TINY = sizeof(T) == 8 };
    const double e = (double)y - (double)x;
    floe_reduction_count_add(a, a->errors, floe_reduction_floor<TINY>(e, a->e_per_width));
    if (TAME)
        floe_reduction_count_add(a, a->ratios, floe_reduction_ratio_bin_tame(y - x, x, a->ratio_nbits));
    else if (divides)
        floe_reduction_count_add(a, a->ratios, floe_reduction_ratio_bin(y - x, x, a->ratio_nbits));
}
template <typename T> FLOE_DEV void floe_reduction_value_count(const floe_reduction_aim *a, T x, T y)
{
    enum { TINY = sizeof(T) == 8 };
    floe_reduction_count_add(a, a->x, floe_reduction_floor<TINY>((double)x, a->v_per_width));
    floe_reduction_count_add(a, a->y, floe_reduction_floor<TINY>((double)y, a->v_per_width));
}

/* A tame group that fits. */
template <bool ERRORS, bool VALUES, typename T>
FLOE_DEV void floe_reduction_tame_count(const floe_reduction_aim *a, const floe_reduction_group<T> *g)
{
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        if (ERRORS)
            floe_reduction_error_count<true>(a, g->x[j], g->y[j], true);
        if (VALUES)
            floe_reduction_value_count(a, g->x[j], g->y[j]);
    }
}

/* Of a group that fits. */
template <typename T>
FLOE_DEV void floe_reduction_group_count(const floe_reduction_counter<T> *c, const floe_reduction_group<T> *g,
                                         const floe_reduction_marks *marks)
{
    const floe_reduction_aim aim = floe_reduction_aim_of(c);
    const bool errors = c->bins->nerrors, values = c->bins->nvalues;
    if (marks->tame) {
        if (errors && values)
            floe_reduction_tame_count<true, true>(&aim, g);
        else if (errors)
            floe_reduction_tame_count<true, false>(&aim, g);
        else
            floe_reduction_tame_count<false, true>(&aim, g);
        return;
    }
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
        if (marks->counts >> j & 1) {
            if (errors)
                floe_reduction_error_count<false>(&aim, g->x[j], g->y[j], marks->divides >> j & 1);
            if (values)
                floe_reduction_value_count(&aim, g->x[j], g->y[j]);
        }
}

/* Makes room for all that the block has met; by all threads, behind a barrier. */
template <typename T>
FLOE_DEV_SELDOM void floe_reduction_widen(floe_reduction_counter<T> c, floe_reduction_frames<T> *f, T least, T most,
                                          const floe_reduction_records *r)
{
    const floe_reduction_dev_bins *b = c.bins;
    floe_reduction_stack stack = {c.tables, 1, b->nerrors, c.at.copies, NULL};
    stack.spare = b->spare + (uint64_t)blockIdx.x * (b->nerrors + b->nratios + 2 * b->nvalues);
    if (b->nerrors)
        floe_reduction_frame_widen(&f->errors, -floe_reduction_of_key(r->key[1]), floe_reduction_of_key(r->key[0]),
                                   false, stack, f->words);
    stack.tables += c.at.x, stack.ntables = 2, stack.nbins = b->nvalues;
    if (b->nvalues)
        floe_reduction_frame_widen(&f->values, (double)least, (double)most, true, stack, f->words);
}

/* The block's counts and frames to device memory; by all threads. */
template <typename T> FLOE_DEV void floe_reduction_bins_write(const floe_reduction_counter<T> *c)
{
    const floe_reduction_dev_bins *b = c->bins;
    const floe_reduction_tables *t = &c->at;
    const uint32_t *tables = c->tables;
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
        b->frames[2 * blockIdx.x] = c->frames->errors.bins;
        b->frames[2 * blockIdx.x + 1] = c->frames->values.bins;
    }
}

#endif
