/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block's bins in shared memory. Each count is there several times, next to one another, for lanes to take in turn, so that
 * few of a warp meet at one word. A warp that meets a value outside the frames remembers the step; many steps later, as barriers
 * are dear, the whole block moves its counts to wider frames, and such steps are counted. That happens a few times at the
 * beginning, if at all.
 */
#ifndef FLOE_ASSESS_REDUCTION_BINS_CUH
#define FLOE_ASSESS_REDUCTION_BINS_CUH

#include "assess/reduction/reduction_fold.cuh"

enum {
    FLOE_REDUCTION_MOST_COPIES = 8,
    FLOE_REDUCTION_NARROW = 1 << 22 /* widths of a bin that 1.5 * 2^23 leaves room for in an f32 */
};

/* One frame of a block. */
template <typename T> struct floe_reduction_frame {
    floe_bins_frame bins;
    double low, high; /* of the values for which it was made */
    double per_width;
    T above, under;  /* what fits: above < v < under. Of errors v is what T makes of it */
    uint32_t narrow; /* f32 can separate the bins: floe_reduction_floor_narrow */
};

/* Places of the tables in shared memory, and how many times each count is there, and that of a byte. */
typedef struct floe_reduction_tables {
    uint32_t copies, byte_copies;
    uint32_t ratios, x, y, bytes, end; /* in words; errors are at 0 */
} floe_reduction_tables;

FLOE_HD floe_reduction_tables floe_reduction_tables_of(const floe_reduction_dev_bins *b)
{
    const uint32_t room = b->room, nbytes = 2 * b->nbytes, others = b->all - nbytes;
    floe_reduction_tables t = {1, 1, 0, 0, 0, 0, 0};
    while (t.byte_copies < FLOE_WARP && others + 2 * t.byte_copies * nbytes <= room)
        t.byte_copies *= 2;
    while (t.copies < FLOE_REDUCTION_MOST_COPIES && 2 * t.copies * others + t.byte_copies * nbytes <= room)
        t.copies *= 2;
    t.ratios = b->nerrors * t.copies;
    t.x = t.ratios + b->nratios * t.copies;
    t.y = t.x + b->nvalues * t.copies;
    t.bytes = t.y + b->nvalues * t.copies;
    t.end = t.bytes + nbytes * t.byte_copies;
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
    f->narrow = sizeof(T) == 4 && b.exponent >= -126 && b.exponent <= 126 && b.first >= -FLOE_REDUCTION_NARROW &&
                b.first + b.nbins < FLOE_REDUCTION_NARROW;
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
    f->per_width = 0, f->narrow = 0;
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
FLOE_DEV_COLD void floe_reduction_frame_widen(floe_reduction_frame<T> *f, double low, double high, bool exact,
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

/* The low word of v * per_width, rounded down; 0 of what is infinite. The product is not rounded, however small it is. */
FLOE_DEV uint32_t floe_reduction_floor(double v, double per_width)
{
    return (uint32_t)__double2loint(__fma_rd(v, per_width, 0x1.8p52));
}

/* v * per_width, rounded down, and the bits of 1.5 * 2^23; of less than FLOE_REDUCTION_NARROW. */
FLOE_DEV uint32_t floe_reduction_floor_narrow(float v, float per_width)
{
    return floe_bits_f32(__fmaf_rd(v, per_width, 0x1.8p23f)); /* the product is not rounded */
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

/* What counting in narrow frames takes, in shared memory, so that it costs registers only where it is wanted. Tables begin where
 * bin 0 of all bins would lie, which may be far outside; in bytes of shared memory. */
typedef struct __align__(16) floe_reduction_aim
{
    float e_above, e_under, v_above, v_under; /* what fits: see floe_reduction_frame */
    uint32_t errors, ratios, x, y;
    float e_per_width, v_per_width;
    uint32_t stride;
    uint32_t narrow; /* all that is to be counted has narrow frames; else nothing fits */
}
floe_reduction_aim;

/* Where a lane counts bytes: of x, of y. In bytes of shared memory. */
struct floe_reduction_byte_aim {
    uint32_t x, y, stride;
};

/* Of a block. */
template <typename T> struct floe_reduction_frames {
    floe_reduction_aim aim;
    floe_reduction_byte_aim bytes; /* of lane 0 */
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
    const floe_reduction_span<T> *s = &v->values;
    bool fits = true;
    if (c->bins->nerrors)
        fits &= v->e_low > f->errors.above && v->e_high < f->errors.under;
    if (c->bins->nvalues)
        fits &= min(s->least[0], s->least[1]) > f->values.above && max(s->most[0], s->most[1]) < f->values.under;
    return fits || v->e_low > v->e_high;
}

/* ---- of groups that are tame --------------------------------------------------------------------------------------- */

/* Where a word lies in shared memory, in bytes; and one more in it. */
FLOE_DEV uint32_t floe_reduction_shared_at(const uint32_t *word)
{
#ifdef FLOE_EMULATED
    return (uint32_t)((const uint8_t *)word - (const uint8_t *)floe_emulated_shared());
#else
    return (uint32_t)__cvta_generic_to_shared(word);
#endif
}
FLOE_DEV void floe_reduction_shared_count(uint32_t at)
{
#ifdef FLOE_EMULATED
    atomicAdd((uint32_t *)((uint8_t *)floe_emulated_shared() + at), 1u);
#else
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(at) : "memory");
#endif
}

/* By one thread, after its frames have changed and before a barrier. */
FLOE_DEV void floe_reduction_aim_set(const floe_reduction_counter<float> *c, floe_reduction_frames<float> *f)
{
    const float infinity = floe_reduction_infinity<float>();
    const uint32_t stride = 4 * c->at.copies, bits = floe_bits_f32(0x1.8p23f),
                   first = floe_reduction_shared_at(c->tables);
    const floe_reduction_frame<float> *e = &f->errors, *v = &f->values;
    const uint32_t errors = c->bins->nerrors > 0, values = c->bins->nvalues > 0;
    floe_reduction_aim *a = &f->aim;
    a->e_per_width = (float)e->per_width, a->v_per_width = (float)v->per_width;
    a->e_above = errors ? e->above : -infinity, a->e_under = errors ? e->under : infinity;
    a->v_above = values ? v->above : -infinity, a->v_under = values ? v->under : infinity;
    a->errors = first - ((uint32_t)e->bins.first + bits) * stride;
    a->ratios = first + 4 * c->at.ratios - ((uint32_t)(FLOE_LOG_BINS_LEAST + 127) << c->bins->ratio_nbits) * stride;
    a->x = first + 4 * c->at.x - ((uint32_t)v->bins.first + bits) * stride;
    a->y = first + 4 * c->at.y - ((uint32_t)v->bins.first + bits) * stride;
    a->stride = stride;
    a->narrow = (!errors || e->narrow) && (!values || v->narrow);
}
FLOE_DEV void floe_reduction_aim_set(const floe_reduction_counter<double> *, floe_reduction_frames<double> *)
{
    /* f64 has no narrow frames */
}

/* By one thread, before a barrier. */
template <typename T>
FLOE_DEV void floe_reduction_byte_aim_set(const floe_reduction_counter<T> *c, floe_reduction_frames<T> *f)
{
    const uint32_t stride = 4 * c->at.byte_copies, x = floe_reduction_shared_at(c->tables + c->at.bytes);
    f->bytes = floe_reduction_byte_aim{x, x + c->bins->nbytes * stride, stride};
}

FLOE_DEV void floe_reduction_word_bytes(uint32_t word, uint32_t at, uint32_t stride)
{
#pragma unroll
    for (uint32_t b = 0; b < 4; b++)
        floe_reduction_shared_count(at + __byte_perm(word, 0, 0x4440 + b) * stride);
}
FLOE_DEV void floe_reduction_value_bytes(float v, uint32_t at, uint32_t stride)
{
    floe_reduction_word_bytes(floe_bits_f32(v), at, stride);
}
FLOE_DEV void floe_reduction_value_bytes(double v, uint32_t at, uint32_t stride)
{
    const uint64_t bits = floe_bits_f64(v);
    floe_reduction_word_bytes((uint32_t)bits, at, stride);
    floe_reduction_word_bytes((uint32_t)(bits >> 32), at, stride);
}

/* A group of which a part is there. */
template <typename T> FLOE_DEV_COLD void floe_reduction_some_bytes(floe_reduction_group<T> g, floe_reduction_byte_aim a)
{
    for (uint32_t j = 0; j < FLOE_REDUCTION_GROUP; j++)
        if (g.there >> j & 1) {
            floe_reduction_value_bytes(g.x[j], a.x, a.stride);
            floe_reduction_value_bytes(g.y[j], a.y, a.stride);
        }
}

/* Counts the bytes of a group, whatever its values are. */
template <typename T>
FLOE_DEV void floe_reduction_group_bytes(const floe_reduction_frames<T> *f, const floe_reduction_group<T> *g)
{
    floe_reduction_byte_aim a = f->bytes;
    const uint32_t mine = 4 * threadIdx.x & (a.stride - 1);
    a.x += mine, a.y += mine;
    if (g->there != 255) {
        floe_reduction_some_bytes(*g, a);
        return;
    }
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        floe_reduction_value_bytes(g->x[j], a.x, a.stride);
        floe_reduction_value_bytes(g->y[j], a.y, a.stride);
    }
}

/* What is counted of ratios that are right to a few last places: bits, but that what belongs into the first bin is brought to
 * its middle. False: one is so close to the end of a bin that it must be divided again, or beyond the last one. */
FLOE_DEV bool floe_reduction_ratios_near(const float *ratio, uint32_t nbits, uint32_t *bits)
{
    enum { PLACES = 4 };
    const uint32_t scale = 1u << (9 + nbits); /* brings what does not decide the bin to the top */
    const float least = floe_f32_of((uint32_t)(FLOE_LOG_BINS_LEAST + 127) << 23 | 1u << (22 - nbits));
    uint32_t closest = UINT32_MAX, highest = 0;
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        bits[j] = floe_bits_f32(max(ratio[j], least));
        closest = min(closest, bits[j] * scale + PLACES * scale);
        highest = max(highest, bits[j]);
    }
    return (closest >= 2 * PLACES * scale) &
           (highest < (uint32_t)(FLOE_LOG_BINS_LEAST + FLOE_LOG_BINS_OCTAVES + 127) << 23);
}

template <bool ERRORS, bool VALUES>
FLOE_DEV void floe_reduction_narrow_count(floe_reduction_aim a, const floe_reduction_group<float> *g,
                                          const uint32_t *ratio_bits, uint32_t ratio_nbits)
{
    const uint32_t mine = 4 * (threadIdx.x & (a.stride / 4 - 1));
    a.errors += mine, a.ratios += mine, a.x += mine, a.y += mine;
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        const float x = g->x[j], y = g->y[j];
        if (VALUES) {
            floe_reduction_shared_count(a.x + floe_reduction_floor_narrow(x, a.v_per_width) * a.stride);
            floe_reduction_shared_count(a.y + floe_reduction_floor_narrow(y, a.v_per_width) * a.stride);
        }
        if (ERRORS) {
            const float e = __fsub_rd(y, x); /* where bins begin is an f32, and never between the two */
            floe_reduction_shared_count(a.errors + floe_reduction_floor_narrow(e, a.e_per_width) * a.stride);
            floe_reduction_shared_count(a.ratios + (ratio_bits[j] >> (23 - ratio_nbits)) * a.stride);
        }
    }
}

/* Does a tame group fit narrow frames? */
FLOE_DEV bool floe_reduction_aim_fits(const floe_reduction_aim *a, const floe_reduction_extent<float> *v)
{
    const floe_reduction_span<float> *s = &v->values;
    return (v->e_low > a->e_above) & (v->e_high < a->e_under) & (min(s->least[0], s->least[1]) > a->v_above) &
           (max(s->most[0], s->most[1]) < a->v_under) & (a->narrow != 0);
}

/* Counts a tame group of each lane of a warp, if all fit and no ratio wants a division. ratio: of floe_reduction_ratios_of. */
FLOE_DEV bool floe_reduction_tame_count(const floe_reduction_counter<float> *c, const floe_reduction_group<float> *g,
                                        bool fits, const float *ratio)
{
    const uint32_t nbits = c->bins->ratio_nbits;
    uint32_t ratio_bits[FLOE_REDUCTION_GROUP];
    if (c->bins->nerrors)
        fits &= floe_reduction_ratios_near(ratio, nbits, ratio_bits);
    if (!__all_sync(FLOE_ALL_LANES, fits))
        return false;
    if (c->bins->nerrors && c->bins->nvalues)
        floe_reduction_narrow_count<true, true>(c->frames->aim, g, ratio_bits, nbits);
    else if (c->bins->nerrors)
        floe_reduction_narrow_count<true, false>(c->frames->aim, g, ratio_bits, nbits);
    else if (c->bins->nvalues)
        floe_reduction_narrow_count<false, true>(c->frames->aim, g, ratio_bits, nbits);
    return true;
}

/* ---- of any group -------------------------------------------------------------------------------------------------- */

FLOE_DEV void floe_reduction_bin_count(uint32_t *table, uint32_t copies, uint32_t bin)
{
    atomicAdd(&table[bin * copies + (threadIdx.x & (copies - 1))], 1u);
}

/* One that fits. */
template <typename T>
FLOE_DEV void floe_reduction_group_count(const floe_reduction_counter<T> &c, const floe_reduction_group<T> &g,
                                         floe_reduction_marks marks)
{
    const floe_reduction_frame<T> errors = c.frames->errors, values = c.frames->values;
    const uint32_t e_first = (uint32_t)errors.bins.first, v_first = (uint32_t)values.bins.first, copies = c.at.copies;
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        const double x = (double)g.x[j], y = (double)g.y[j];
        if (!(marks.counts >> j & 1))
            continue;
        if (c.bins->nerrors) {
            floe_reduction_bin_count(c.tables, copies, floe_reduction_floor(y - x, errors.per_width) - e_first);
            if (marks.divides >> j & 1)
                floe_reduction_bin_count(c.tables + c.at.ratios, copies,
                                         floe_reduction_ratio_bin(g.y[j] - g.x[j], g.x[j], c.bins->ratio_nbits));
        }
        if (c.bins->nvalues) {
            floe_reduction_bin_count(c.tables + c.at.x, copies, floe_reduction_floor(x, values.per_width) - v_first);
            floe_reduction_bin_count(c.tables + c.at.y, copies, floe_reduction_floor(y, values.per_width) - v_first);
        }
    }
}

/* ---- of all -------------------------------------------------------------------------------------------------------- */

/* Makes room for all that the block has seen; by all threads, behind a barrier. values: of the lane. */
template <typename T>
FLOE_DEV_COLD void floe_reduction_widen(floe_reduction_counter<T> c, floe_reduction_frames<T> *f,
                                        floe_reduction_span<T> values, const floe_reduction_records *r)
{
    const floe_reduction_dev_bins *b = c.bins;
    floe_reduction_stack stack = {c.tables, 1, b->nerrors, c.at.copies, NULL};
    stack.spare = b->spare + (uint64_t)blockIdx.x * b->all;
    if (b->nerrors)
        floe_reduction_frame_widen(&f->errors, -floe_reduction_of_key(r->key[FLOE_TOP_E_LOW]),
                                   floe_reduction_of_key(r->key[FLOE_TOP_E]), false, stack, f->words);
    const double low =
        -max(floe_reduction_of_key(r->key[FLOE_TOP_X_LOW]), floe_reduction_of_key(r->key[FLOE_TOP_Y_LOW]));
    const double high = max(floe_reduction_of_key(r->key[FLOE_TOP_X]), floe_reduction_of_key(r->key[FLOE_TOP_Y]));
    stack.tables += c.at.x, stack.ntables = 2, stack.nbins = b->nvalues;
    if (b->nvalues)
        floe_reduction_frame_widen(&f->values, min((double)min(values.least[0], values.least[1]), low),
                                   max((double)max(values.most[0], values.most[1]), high), true, stack, f->words);
    if (threadIdx.x == 0)
        floe_reduction_aim_set(&c, f);
    __syncthreads();
}

/* The block's counts and frames to device memory; by all threads. */
template <typename T> FLOE_DEV void floe_reduction_bins_write(const floe_reduction_counter<T> *c)
{
    const floe_reduction_dev_bins *b = c->bins;
    const floe_reduction_tables *t = &c->at;
    const uint32_t *tables = c->tables;
    const uint32_t others = b->all - 2 * b->nbytes;
    uint32_t *counts = b->counts + (uint64_t)blockIdx.x * b->all;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < b->all; i += FLOE_REDUCTION_THREADS) {
        const uint32_t copies = i < others ? t->copies : t->byte_copies;
        const uint32_t *copy = i < others ? tables + i * copies : tables + t->bytes + (i - others) * copies;
        uint32_t n = 0;
        for (uint32_t c = 0; c < copies; c++)
            n += copy[c];
        counts[i] = n;
    }
    if (threadIdx.x == 0) {
        b->frames[2 * blockIdx.x] = c->frames->errors.bins;
        b->frames[2 * blockIdx.x + 1] = c->frames->values.bins;
    }
}

#endif
