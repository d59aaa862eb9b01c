/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "assess/reduction/reduction.h"
#include "field/field.h"

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool floe_reduction_sample_counts(const floe_pair *pair, double v)
{
    return v - v == 0 && !(pair->has_fill && floe_value_bits(pair->dtype, v) == pair->fill_bits);
}

void floe_reduction_sample(const floe_pair *pair, floe_reduction_samples *samples)
{
    const uint64_t nelems = floe_pair_nelems(pair);
    floe_pair_buffer buffer;
    samples->n = (uint32_t)floe_min64(nelems, FLOE_REDUCTION_SAMPLES);
    for (uint32_t i = 0; i < samples->n; i++) {
        const void *x, *y;
        floe_pair_read(pair, false, floe_reduction_sample_place(nelems, i), 1, &buffer, &x, &y);
        samples->value[0][i] = floe_pair_value(pair, x, 0);
        samples->value[1][i] = floe_pair_value(pair, y, 0);
    }
}

uint32_t floe_reduction_pivots(const floe_pair *pair, const floe_reduction_samples *samples,
                               floe_reduction_result *result)
{
    uint32_t without = 0;
    for (int side = 1; side >= 0; side--) { /* the original's stay */
        uint32_t n = 0;
        for (uint32_t i = 0; i < samples->n; i++)
            if (floe_reduction_sample_counts(pair, samples->value[side][i]))
                result->sample[n++] = samples->value[side][i];
        qsort(result->sample, n, sizeof *result->sample, by_size);
        result->nsamples = n;
        result->pivot[side] = n ? result->sample[n / 2] : 0;
        without |= (uint32_t)(n == 0) << side;
    }
    return without;
}

double floe_reduction_middle(const floe_range *range) { return range->nfinite ? range->min / 2 + range->max / 2 : 0; }
