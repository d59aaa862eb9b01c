/* SPDX-License-Identifier: BSD-3-Clause */
/* Values are taken in blocks. A block has LANES running minima, maxima and counts, which fill vector registers; what a
 * block learnt is added to the range in double. */
#include "field/range_cpu.h"

#include <float.h>
#include <math.h>

#include "base/bytes.h"
#include "base/hd.h"
#include "base/real.h"

#if FLOE_REAL_BITS == 32
#define REAL_MAX FLT_MAX
#define BITS_OF  floe_bits_f32
#else
#define REAL_MAX DBL_MAX
#define BITS_OF  floe_bits_f64
#endif

enum {
    BLOCK = 1024,    /* values */
    LOOK_EVERY = 16, /* blocks: how often low and high of a block are looked at */
    LANES = (FLOE_AVX2 ? 128 : 64) / (int)sizeof(floe_real)
};

typedef struct block_range {
    floe_real min[LANES], max[LANES];
    floe_uint nvalid[LANES], nfill[LANES];
} block_range;

/* has_fill is a constant wherever this is inlined. */
static inline void lanes_add(block_range *b, const floe_real *x, size_t n, bool has_fill, floe_uint fill)
{
    for (size_t j = 0; j < n; j++) {
        floe_real v = x[j];
        bool is_fill = has_fill & (BITS_OF(v) == fill);
        bool valid = (v <= REAL_MAX) & (v >= -REAL_MAX) & !is_fill;
        floe_real low = valid ? v : (floe_real)INFINITY, high = valid ? v : -(floe_real)INFINITY;
        b->min[j] = low < b->min[j] ? low : b->min[j];
        b->max[j] = high > b->max[j] ? high : b->max[j];
        b->nvalid[j] += valid;
        b->nfill[j] += is_fill;
    }
}

static inline void block_add(block_range *b, const floe_real *x, size_t n, bool has_fill, floe_uint fill)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        lanes_add(b, x + i, LANES, has_fill, fill);
    lanes_add(b, x + i, n - i, has_fill, fill);
}

/* The least value above min and the greatest below max that the lanes still show. */
static void witnesses(const block_range *b, double min, double max, floe_range *part)
{
    for (size_t j = 0; j < LANES; j++) {
        double up = (double)b->min[j] > min ? (double)b->min[j] : (double)b->max[j];
        double down = (double)b->max[j] < max ? (double)b->max[j] : (double)b->min[j];
        part->low = up > min && up < part->low ? up : part->low;
        part->high = down < max && down > part->high ? down : part->high;
    }
}

static void block_merge(const block_range *b, size_t n, bool look, floe_range *range)
{
    floe_range part;
    floe_range_init(&part);
    part.min = INFINITY, part.max = -INFINITY;
    for (size_t j = 0; j < LANES; j++) {
        part.min = (double)b->min[j] < part.min ? (double)b->min[j] : part.min;
        part.max = (double)b->max[j] > part.max ? (double)b->max[j] : part.max;
        part.nfinite += b->nvalid[j];
        part.nfill += b->nfill[j];
    }
    part.nnonfinite = n - part.nfinite - part.nfill;
    if (look)
        witnesses(b, part.min, part.max, &part);
    floe_range_merge(range, &part);
}

void FLOE_V(floe_range_run)(const void *x, uint64_t n, bool has_fill, uint64_t fill_bits, floe_range *range)
{
    const floe_real *v = x;
    for (uint64_t i = 0; i < n; i += BLOCK) {
        size_t m = (size_t)floe_min64(BLOCK, n - i);
        block_range b = {.nvalid = {0}};
        for (size_t j = 0; j < LANES; j++)
            b.min[j] = (floe_real)INFINITY, b.max[j] = -(floe_real)INFINITY;
        if (has_fill)
            block_add(&b, v + i, m, true, (floe_uint)fill_bits);
        else
            block_add(&b, v + i, m, false, 0);
        block_merge(&b, m, i % ((uint64_t)BLOCK * LOOK_EVERY) == 0, range);
    }
}
