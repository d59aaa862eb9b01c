/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "assess/reduction/reduction.h"
#include "field/field.h"

uint64_t floe_reduction_sample_place(uint64_t nelems, uint32_t i)
{
    if (nelems <= FLOE_REDUCTION_SAMPLES)
        return i;
    const uint64_t share = nelems / FLOE_REDUCTION_SAMPLES, rest = nelems % FLOE_REDUCTION_SAMPLES;
    return i * share + floe_min64(i, rest) + share / 2;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

uint32_t floe_reduction_sample_sift(const floe_pair *pair, uint32_t n, double sample[FLOE_REDUCTION_SAMPLES])
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        const bool finite = sample[i] - sample[i] == 0;
        if (finite && !(pair->has_fill && floe_value_bits(pair->dtype, sample[i]) == pair->fill_bits))
            sample[kept++] = sample[i];
    }
    qsort(sample, kept, sizeof *sample, by_size);
    return kept;
}

uint32_t floe_reduction_sample(const floe_pair *pair, int side, double sample[FLOE_REDUCTION_SAMPLES])
{
    const uint64_t nelems = floe_pair_nelems(pair);
    const uint32_t n = (uint32_t)floe_min64(nelems, FLOE_REDUCTION_SAMPLES);
    floe_pair_buffer buffer;
    for (uint32_t i = 0; i < n; i++) {
        const void *from[2];
        floe_pair_read(pair, false, floe_reduction_sample_place(nelems, i), 1, &buffer, &from[0], &from[1]);
        sample[i] = floe_pair_value(pair, from[side], 0);
    }
    return floe_reduction_sample_sift(pair, n, sample);
}
