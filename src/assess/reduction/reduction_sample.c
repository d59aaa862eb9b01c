/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "assess/reduction/reduction.h"
#include "base/sort.h"
#include "field/field.h"

/* ---- before the reading --------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_number(const floe_pair *pair, double v)
{
    return v - v == 0 && !(pair->has_fill && floe_value_bits(pair->dtype, v) == pair->fill_bits);
}

void floe_reduction_pivots(const floe_pair *pair, floe_reduction_result *result)
{
    const uint64_t nelems = floe_pair_nelems(pair);
    double decoded[FLOE_REDUCTION_SAMPLES];
    floe_pair_buffer buffer;
    uint32_t n = 0;
    for (uint32_t i = 0; i < floe_min64(nelems, FLOE_REDUCTION_SAMPLES); i++) {
        const void *x, *y;
        floe_pair_read(pair, false, floe_reduction_sample_place(nelems, i), 1, &buffer, &x, &y);
        result->sample[n] = floe_pair_value(pair, x, 0);
        decoded[n] = floe_pair_value(pair, y, 0);
        n += is_number(pair, result->sample[n]) && is_number(pair, decoded[n]);
    }
    floe_sort64(result->sample, n, by_size);
    floe_sort64(decoded, n, by_size);
    result->nsamples = n;
    result->pivot[0] = n ? result->sample[n / 2] : 0;
    result->pivot[1] = n ? decoded[n / 2] : 0;
}

/* ---- after it ------------------------------------------------------------------------------------------------------- */

/* No farther than two deviations: there sums of squares are five times what is left of them, those of fourth powers some forty
 * times. A median is within one, and whatever has a fifth of all values on either side is within two. */
static bool is_near(double d, double d2)
{
    const double variance = d2 - d * d; /* of large numbers it may be anything, but small beside them */
    return d * d <= 4 * variance && variance < INFINITY;
}

/* The mean, as far as sums give it. */
static double mean_of(double pivot, double d, double low, double high)
{
    const double mean = pivot + d;
    return mean - mean == 0 ? fmin(fmax(mean, low), high) : low / 2 + high / 2;
}

bool floe_reduction_pivots_mend(const floe_reduction_part *total, double *pivot)
{
    const double n = (double)total->count[FLOE_COUNT_PAIRS];
    bool mended = false;
    for (int side = 0; n > 0 && side < 2; side++) {
        const double *sum = &total->sum[side ? FLOE_SUM_Y : FLOE_SUM_X];
        const double *top = &total->top[side ? FLOE_TOP_Y : FLOE_TOP_X];
        const double d = sum[0] / n, old = pivot[side];
        if (!is_near(d, sum[1] / n))
            pivot[side] = mean_of(old, d, -top[1], top[0]);
        mended |= pivot[side] != old;
    }
    return mended;
}
