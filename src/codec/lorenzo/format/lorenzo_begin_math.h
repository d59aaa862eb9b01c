/* SPDX-License-Identifier: BSD-3-Clause */
/* What is decided of a chunk before (and after a first attempt at) coding it, once, for both compilers. */
#ifndef FLOE_CODEC_LORENZO_FORMAT_LORENZO_BEGIN_MATH_H
#define FLOE_CODEC_LORENZO_FORMAT_LORENZO_BEGIN_MATH_H

#include "base/hd.h"
#include "codec/codec.h"
#include "stage/quantizer/quantizer_init_math.h"
#include "stage/tile/view.h"

/* ---- quantizer ------------------------------------------------------------------------------------------------------- */

FLOE_HD floe_quantizer_kind floe_lorenzo_kind_of(floe_bound_mode mode)
{
    return mode == FLOE_BOUND_PWREL      ? FLOE_QUANTIZER_LOG
           : mode == FLOE_BOUND_LOSSLESS ? FLOE_QUANTIZER_BITS
                                         : FLOE_QUANTIZER_LINEAR;
}

/* With more than a quarter of the cells stored as literals a chunk is coded bit for bit instead, which then costs less. */
FLOE_HD bool floe_lorenzo_too_many_literals(uint64_t nliterals, uint64_t ncells) { return nliterals > ncells / 4; }
/* Only of these kinds a chunk has literals to speak of. */
FLOE_HD bool floe_lorenzo_may_retry(floe_quantizer_kind kind)
{
    return kind == FLOE_QUANTIZER_LINEAR || kind == FLOE_QUANTIZER_LOG;
}

FLOE_HD bool floe_lorenzo_may_have_table(const floe_codec_params *p)
{
    return p->mode == FLOE_BOUND_LOSSLESS || p->tables;
}
/* The most values that a chunk's table may have: each of them comes back often enough. */
FLOE_HD uint32_t floe_lorenzo_table_most(const floe_codec_params *p, uint64_t ncells)
{
    enum { REPEATS = 8, REPEATS_IN_BOUND = 128 };
    if (p->mode == FLOE_BOUND_LOSSLESS)
        return (uint32_t)floe_min64(FLOE_TABLE_MAX, ncells / REPEATS);
    return (uint32_t)floe_min64(floe_min64(p->tables + p->tables / 3, FLOE_TABLE_MAX), ncells / REPEATS_IN_BOUND);
}
FLOE_HD bool floe_lorenzo_are_apart(const floe_codec_params *p, uint64_t key, uint64_t next)
{
    return p->mode == FLOE_BOUND_LOSSLESS ||
           floe_table_value(p->dtype, next) - floe_table_value(p->dtype, key) >= 2 * p->bound;
}

/* Within a bound a table is looked for where values come back in a sample: a cell of each of so many parts of the chunk, by their views. */
enum { FLOE_TABLE_SAMPLE = 4096, FLOE_TABLE_SAMPLE_SLOTS = 2 * FLOE_TABLE_SAMPLE };
FLOE_HD uint32_t floe_lorenzo_sample_size(uint64_t ncells) { return (uint32_t)floe_min64(ncells, FLOE_TABLE_SAMPLE); }
/* next: how far its neighbour in the row is, the one behind it if there is one. */
FLOE_HD int64_t floe_lorenzo_sample_at(const floe_view *view, const int64_t *stride, uint64_t ncells, uint32_t k,
                                       int64_t *next)
{
    const uint64_t part = ncells / floe_lorenzo_sample_size(ncells);
    uint64_t cell = k * part + floe_table_slot_of(k + 1) % part;
    const uint64_t row = view->extent[FLOE_VIEW_X], x = cell % row;
    int64_t at = 0;
    *next = x + 1 < row ? stride[FLOE_VIEW_X] : x > 0 ? -stride[FLOE_VIEW_X] : 0;
    for (int a = FLOE_VIEW_AXES; a-- > 0; cell /= view->extent[a])
        at += (int64_t)(cell % view->extent[a]) * stride[a];
    return at;
}
/* By what values are compared: 0 for none. fill: bits of a value that no table has, as those that are not finite. */
FLOE_HD uint32_t floe_lorenzo_sample_id(floe_dtype dtype, uint64_t bits, uint64_t fill)
{
    const bool narrow = floe_dtype_is_narrow(dtype);
    const uint64_t exponent = narrow ? 0x7F800000u : 0x7FF0000000000000u;
    if (!floe_dtype_is_integer(dtype) && ((bits & exponent) == exponent || bits == fill))
        return 0;
    return (uint32_t)((floe_table_key(narrow, bits) * 0x9E3779B97F4A7C15u) >> 32) | 1;
}
FLOE_HD bool floe_lorenzo_sample_repeats(uint32_t nvalues, uint32_t ndifferent)
{
    return ndifferent <= nvalues / 64 * 63 + nvalues % 64;
}
/* A table within a bound spares a bit or more where a value is not its neighbour's, nchanged times in the sample, if most of its values are a
 * quantizer's step apart: napart neighbours in it. */
FLOE_HD bool floe_lorenzo_table_pays(const floe_codec_params *p, uint64_t ncells, uint32_t nchanged, uint32_t nvalues,
                                     uint32_t napart)
{
    const uint64_t bits = (uint64_t)nvalues * (floe_dtype_is_narrow(p->dtype) ? 32 : 64);
    return p->mode == FLOE_BOUND_LOSSLESS ||
           (napart >= (nvalues - 1) / 4 * 3 && bits <= ncells / floe_lorenzo_sample_size(ncells) * nchanged);
}

/* ---- view ------------------------------------------------------------------------------------------------------------ */

/* Strides by view axis from those by the chunk's axes. */
FLOE_HD void floe_lorenzo_strides(const floe_view *view, const int64_t *chunk_stride, int64_t stride[FLOE_VIEW_AXES])
{
    for (int a = 0; a < FLOE_VIEW_AXES; a++)
        stride[a] = view->axis[a] < 0 ? (a == FLOE_VIEW_X) : chunk_stride[view->axis[a]];
}

/* Four axes: which is the slow one of the tiles? A sample votes: along which of the two axes are neighbours closer? The
 * cells of the sample come from a linear congruential generator, an axis a step. */
enum { FLOE_SAMPLE_CELLS = 4096, FLOE_SAMPLE_AXES = 4 };
#define FLOE_SAMPLE_FACTOR  6364136223846793005u
#define FLOE_SAMPLE_SUMMAND 1442695040888963407u
#define FLOE_SAMPLE_SEED    1u

typedef struct floe_sample {
    uint64_t last[FLOE_SAMPLE_AXES]; /* choices along each axis of the chunk: cells that have both neighbours */
    int64_t stride[FLOE_SAMPLE_AXES];
    int64_t along_batch, along_slow; /* to the neighbours */
} floe_sample;

/* view: the one without swap. */
FLOE_HD void floe_sample_of(const floe_view *view, const uint64_t *chunk_shape, const int64_t *chunk_stride,
                            floe_sample *sample)
{
    const int batch = view->axis[FLOE_VIEW_BATCH], slow = view->axis[FLOE_VIEW_Z];
    for (int a = 0; a < FLOE_SAMPLE_AXES; a++) {
        sample->last[a] = chunk_shape[a] - (a == batch || a == slow);
        sample->stride[a] = chunk_stride[a];
    }
    sample->along_batch = chunk_stride[batch];
    sample->along_slow = chunk_stride[slow];
}

/* v % n for v below 2^31: division of 32 bits is much cheaper. */
FLOE_HD uint32_t floe_sample_choice(uint32_t v, uint64_t n) { return n > UINT32_MAX ? v : v % (uint32_t)n; }

/* The cell that follows in the sample, as an offset in elements. */
FLOE_HD int64_t floe_sample_next(const floe_sample *sample, uint64_t *state)
{
    int64_t offset = 0;
    for (int a = 0; a < FLOE_SAMPLE_AXES; a++) {
        *state = *state * FLOE_SAMPLE_FACTOR + FLOE_SAMPLE_SUMMAND;
        offset += (int64_t)floe_sample_choice((uint32_t)(*state >> 33), sample->last[a]) * sample->stride[a];
    }
    return offset;
}

/* The state that ncells cells later is there. */
FLOE_HD uint64_t floe_sample_skip(uint64_t state, uint32_t ncells)
{
    uint64_t factor = FLOE_SAMPLE_FACTOR, summand = FLOE_SAMPLE_SUMMAND;
    for (uint32_t n = ncells * FLOE_SAMPLE_AXES; n != 0; n /= 2) {
        if (n % 2)
            state = state * factor + summand;
        summand = summand * factor + summand; /* twice the step */
        factor = factor * factor;
    }
    return state;
}

/* 1: closer along batch, -1: closer along slow. */
FLOE_HD int floe_sample_vote(double here, double next_batch, double next_slow)
{
    double along_batch = next_batch - here, along_slow = next_slow - here;
    along_batch = along_batch < 0 ? -along_batch : along_batch;
    along_slow = along_slow < 0 ? -along_slow : along_slow;
    return (along_batch < along_slow) - (along_slow < along_batch);
}

#endif
