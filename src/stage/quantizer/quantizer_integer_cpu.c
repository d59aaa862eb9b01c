/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers of the width of FLOE_REAL_BITS. They travel in the place of reals, as patterns: nothing here makes a real of
 * them. The only exceptions are values with the bits of z->fill. */

#include "stage/quantizer/quantizer_math.h"

/* Exceptions of a row; bad is left alone where there are none. */
static uint32_t mark_fill(const floe_quantizer *z, const floe_int *v, uint32_t n, uint8_t *bad)
{
    const floe_int fill = (floe_int)(floe_uint)z->fill;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += v[i] == fill;
    for (uint32_t i = 0; count && i < n; i++)
        bad[i] = v[i] == fill;
    return count;
}

/* Exceptions too are within half a step: they need not be kept apart for the largest error. */
static void encode_steps(const floe_quantizer *z, floe_int *q, uint32_t n, floe_quantizer_stats *stats)
{
    const floe_int step = (floe_int)z->step;
    floe_uint largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        const floe_int v = q[i];
        q[i] = FLOE_R(floe_whole_encode)(v, step);
        const floe_int error = v - FLOE_R(floe_whole_decode)(q[i], step);
        const floe_uint size = (floe_uint)(error < 0 ? -error : error);
        largest = size > largest ? size : largest;
    }
    if ((double)largest > stats->max_error)
        stats->max_error = (double)largest;
}

uint32_t FLOE_V(floe_integers_encode)(const floe_quantizer *z, const floe_real *x, uint32_t n, floe_int *q,
                                      uint8_t *bad, floe_quantizer_stats *stats)
{
    memcpy(q, x, n * sizeof *q);
    const uint32_t count = mark_fill(z, q, n, bad);
    if (z->kind == FLOE_QUANTIZER_LINEAR)
        encode_steps(z, q, n, stats);
    return count;
}

bool FLOE_V(floe_integers_decode)(const floe_quantizer *z, const floe_int *q, uint32_t n, floe_real *y)
{
    floe_int v[FLOE_STEP_VALUES];
    floe_uint outside = 0;
    const floe_int step = (floe_int)z->step;
    for (uint32_t i = 0; i < n && z->kind == FLOE_QUANTIZER_LINEAR; i++)
        v[i] = FLOE_R(floe_whole_decode)(q[i], step);
    for (uint32_t i = 0; i < n && z->kind == FLOE_QUANTIZER_TABLE; i++) {
        const floe_uint place = (floe_uint)q[i];
        outside |= place >= z->table_size;
        v[i] = (floe_int)(floe_uint)z->table[place < z->table_size ? place : 0];
    }
    memcpy(y, z->kind == FLOE_QUANTIZER_BITS ? q : v, n * sizeof *y);
    return !outside;
}
