/* SPDX-License-Identifier: BSD-3-Clause */
/* The scan of integers, of the width of FLOE_REAL_BITS: every value is finite. Extremes are exact until a block's are added
 * to the range, in double, to nearest: that keeps their order. */
#include "field/range_cpu.h"

#include "base/bytes.h"
#include "base/real.h"

enum { BLOCK = 1024 }; /* values */

#define INTEGER_MAX ((floe_int)(((floe_uint)1 << (FLOE_REAL_BITS - 1)) - 1))

/* Of values that are not fill. low: the least above min, high: the greatest below max, where there are any. */
typedef struct block_range {
    floe_int min, max, low, high;
    uint64_t nvalid;
} block_range;

static block_range block_of(const floe_int *v, size_t n, bool has_fill, floe_int fill)
{
    block_range b = {INTEGER_MAX, -INTEGER_MAX - 1, INTEGER_MAX, -INTEGER_MAX - 1, 0};
    for (size_t i = 0; i < n; i++) {
        const bool valid = !has_fill || v[i] != fill;
        const floe_int up = valid ? v[i] : INTEGER_MAX, down = valid ? v[i] : -INTEGER_MAX - 1;
        b.min = up < b.min ? up : b.min;
        b.max = down > b.max ? down : b.max;
        b.nvalid += valid;
    }
    for (size_t i = 0; i < n; i++) {
        const bool valid = !has_fill || v[i] != fill;
        const floe_int up = valid && v[i] > b.min ? v[i] : INTEGER_MAX;
        const floe_int down = valid && v[i] < b.max ? v[i] : -INTEGER_MAX - 1;
        b.low = up < b.low ? up : b.low;
        b.high = down > b.high ? down : b.high;
    }
    return b;
}

void FLOE_V(floe_range_integer_run)(const void *x, uint64_t n, bool has_fill, uint64_t fill_bits, floe_range *range)
{
    const floe_int *v = x;
    for (uint64_t i = 0; i < n; i += BLOCK) {
        const size_t m = (size_t)floe_min64(BLOCK, n - i);
        const block_range b = block_of(v + i, m, has_fill, (floe_int)fill_bits);
        floe_range part;
        floe_range_init(&part);
        part.min = (double)b.min, part.max = (double)b.max;
        if (b.nvalid)
            part.least = b.min, part.most = b.max;
        part.nfinite = b.nvalid;
        part.nfill = m - b.nvalid;
        const bool varies = b.min < b.max; /* then there are such values; rounding may hide them */
        if (varies && (double)b.low > part.min)
            part.low = (double)b.low;
        if (varies && (double)b.high < part.max)
            part.high = (double)b.high;
        floe_range_merge(range, &part);
    }
}
