/* SPDX-License-Identifier: BSD-3-Clause */
/* Small fields of every kind for tests of codec lorenzo's kernels, and what they are coded by. The includer is a cmocka
 * program. */
#ifndef FLOE_TESTS_GPU_LORENZO_SAMPLE_GPU_KIT_H
#define FLOE_TESTS_GPU_LORENZO_SAMPLE_GPU_KIT_H

#include <math.h>

#include "tests/gpu/gpu_kit.h"

#define KIT_FAIL(...) fail_msg(__VA_ARGS__)
#include "tests/codec_kit.h"

#include "synth/synth.h"

typedef struct sample {
    const char *kind;
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK], chunk[FLOE_MAX_RANK]; /* chunk all 0: one chunk */
    floe_bound_mode mode;
    double bound; /* ABS: relative to the range */
    floe_preset preset;
    int dirty;   /* every so many values is something that the quantizer does not keep; 0: none */
    int fill;    /* every other run of so many values is fill value; 0: none */
    bool nan;    /* NaN instead, which nobody has named */
    int layout;  /* 0 contiguous, 1 every other value along x, 2 all axes backwards, 3 to 5: not aligned */
    bool coarse; /* values that fall on few patterns: for tables */
    int spike;   /* every so many values is a quarter of the range higher; 0: none */
    double high; /* ABS: values are made whole numbers of steps, and so many steps are added; 0: neither */
} sample;

#define F32 .dtype = FLOE_F32
#define F64 .dtype = FLOE_F64
#define ABS .mode = FLOE_BOUND_ABS, .bound

static inline void sample_spoil(const sample *c, void *values, uint64_t n)
{
    const double strange[] = {(double)NAN, (double)INFINITY, -0.0, -(double)INFINITY, 1e30, -0.0};
    for (uint64_t i = 0; i < n; i++) {
        const int64_t at = (int64_t)i;
        if (c->coarse)
            hostile_put(
                c->dtype, values, at,
                hostile_bits(c->dtype, floor(8 * hostile_value(c->dtype, hostile_get(c->dtype, values, at))) / 4));
        if (c->fill && i / (uint64_t)c->fill % 2)
            hostile_put(c->dtype, values, at, hostile_bits(c->dtype, c->nan ? (double)NAN : -9999.0));
        if (c->dirty && i % (uint64_t)c->dirty == 3)
            hostile_put(c->dtype, values, at, hostile_bits(c->dtype, strange[i / (uint64_t)c->dirty % 6]));
    }
}

static inline void sample_spike(const sample *c, void *values, uint64_t n, double height)
{
    for (uint64_t i = (uint64_t)c->spike - 1; i < n; i += (uint64_t)c->spike) {
        const double x = hostile_value(c->dtype, hostile_get(c->dtype, values, (int64_t)i));
        hostile_put(c->dtype, values, (int64_t)i, hostile_bits(c->dtype, x + height));
    }
}

/* The bound becomes a power of two, so that nothing is rounded. */
static inline void sample_raise(const sample *c, void *values, uint64_t n, floe_codec_params *params)
{
    params->bound = ldexp(1, ilogb(params->bound));
    for (uint64_t i = 0; i < n; i++) {
        const double x = hostile_value(c->dtype, hostile_get(c->dtype, values, (int64_t)i)) / (2 * params->bound);
        const double high = (rint(x) + c->high) * 2 * params->bound;
        hostile_put(c->dtype, values, (int64_t)i, hostile_bits(c->dtype, high));
        params->max_abs = fmax(params->max_abs, fabs(high));
    }
}

/* The values, contiguous, which the caller frees, and the parameters, whose bound is absolute. */
static inline void *sample_make(const sample *c, uint64_t seed, floe_codec_params *params)
{
    const uint64_t n = kit_cells(c->rank, c->shape);
    void *values = malloc(n * floe_dtype_size(c->dtype));
    double lo = INFINITY, hi = -INFINITY;
    assert_non_null(values);
    assert_int_equal(synth_fill(c->kind, c->dtype, c->rank, c->shape, seed, 0, n, values), FLOE_OK);
    for (uint64_t i = 0; i < n; i++) {
        const double x = hostile_value(c->dtype, hostile_get(c->dtype, values, (int64_t)i));
        lo = isfinite(x) && x < lo ? x : lo;
        hi = isfinite(x) && x > hi ? x : hi;
    }
    if (c->spike)
        sample_spike(c, values, n, (hi - lo) / 4);
    sample_spoil(c, values, n);
    *params = (floe_codec_params){.dtype = c->dtype,
                                  .codec = FLOE_CODEC_LORENZO,
                                  .preset = c->preset,
                                  .mode = c->mode,
                                  .bound = c->mode == FLOE_BOUND_ABS && hi > lo ? c->bound * (hi - lo) : c->bound,
                                  .max_abs = fmax(fabs(lo), fabs(hi)),
                                  .has_fill = c->fill && !c->nan,
                                  .fill_bits = c->fill && !c->nan ? hostile_bits(c->dtype, -9999.0) : 0};
    if (c->high != 0)
        sample_raise(c, values, n, params);
    return values;
}

#endif
