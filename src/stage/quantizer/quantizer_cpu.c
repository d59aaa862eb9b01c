/* SPDX-License-Identifier: BSD-3-Clause */
/* How a CPU quantizes: loops that compilers turn into vector code, a second look only at rows with exceptions. */
#include "stage/quantizer/quantizer_math.h"

#include "stage/quantizer/quantizer_init_math.h"

/* Bits of a non-negative number grow with it, and integer maxima vectorize where floating-point ones do not. */
static floe_int max_bits(floe_int a, floe_int b) { return a > b ? a : b; }

static uint32_t encode_linear(const floe_quantizer *z, const floe_real *restrict x, uint32_t n, floe_int *restrict q,
                              uint8_t *bad, floe_quantizer_stats *stats)
{
    const floe_real step = (floe_real)z->step, inverse = (floe_real)z->inverse, tolerance = (floe_real)z->tolerance;
    const floe_uint fill = (floe_uint)z->fill;
    floe_int any = 0, largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        FLOE_R(floe_linear) r = FLOE_R(floe_linear_encode)(x[i], inverse, step, tolerance, fill);
        floe_int keep = -(floe_int)r.ok;
        q[i] = r.q;
        any |= ~keep;
        largest = max_bits(largest, (floe_int)FLOE_R(floe_real_bits)(r.error) & keep);
    }
    double error = (double)FLOE_R(floe_real_of)((floe_uint)largest);
    if (error > stats->max_error)
        stats->max_error = error;
    if (!any)
        return 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        bad[i] = !FLOE_R(floe_linear_encode)(x[i], inverse, step, tolerance, fill).ok;
        count += bad[i];
    }
    return count;
}

static uint32_t encode_log(const floe_quantizer *z, const floe_real *x, uint32_t n, floe_int *q, uint8_t *bad,
                           uint8_t *negative, floe_quantizer_stats *stats)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        FLOE_R(floe_log) r = FLOE_R(floe_log_encode)(x[i], z->step, z->tolerance, (floe_uint)z->fill);
        q[i] = r.q;
        bad[i] = !r.ok;
        negative[i] = r.ok && (FLOE_R(floe_real_bits)(x[i]) & FLOE_REAL_SIGN) != 0;
        count += bad[i];
        if (!r.ok)
            continue;
        double error = r.error * (double)FLOE_R(floe_real_abs)(x[i]);
        stats->max_pw_error = r.error > stats->max_pw_error ? r.error : stats->max_pw_error;
        stats->max_error = error > stats->max_error ? error : stats->max_error;
    }
    return count;
}

/* Only non-finite values and fill are exceptions: their patterns lie far from those of data. */
static uint32_t encode_bits(const floe_quantizer *z, const floe_real *restrict x, uint32_t n, floe_int *restrict q,
                            uint8_t *bad)
{
    floe_uint any = 0;
    for (uint32_t i = 0; i < n; i++) {
        floe_uint bits = FLOE_R(floe_real_bits)(x[i]);
        q[i] = FLOE_R(floe_bits_order)(bits);
        any |= (floe_uint)(((bits & FLOE_REAL_EXPONENT) == FLOE_REAL_EXPONENT) | (bits == (floe_uint)z->fill));
    }
    if (!any)
        return 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        floe_uint bits = FLOE_R(floe_real_bits)(x[i]);
        bad[i] = ((bits & FLOE_REAL_EXPONENT) == FLOE_REAL_EXPONENT) | (bits == (floe_uint)z->fill);
        count += bad[i];
    }
    return count;
}

/* q holds ordered patterns already, of which count are bad. */
static uint32_t encode_table(const floe_quantizer *z, uint32_t n, floe_int *q, const uint8_t *bad, uint32_t count)
{
    for (uint32_t i = 0; i < n; i++) {
        if (count && bad[i])
            continue;
        uint64_t key = (uint64_t)(int64_t)q[i];
        uint32_t slot = floe_table_slot_of(key) & z->slots_mask;
        while (z->slots[slot].key != key || z->slots[slot].place == 0)
            slot = (slot + 1) & z->slots_mask;
        q[i] = (floe_int)(z->slots[slot].place - 1);
    }
    return count;
}

uint32_t FLOE_V(floe_quantizer_encode)(const floe_quantizer *z, const floe_real *x, uint32_t n, floe_int *q,
                                       uint8_t *bad, uint8_t *negative, floe_quantizer_stats *stats)
{
    if (z->integer) {
        const uint32_t count = FLOE_V(floe_integers_encode)(z, x, n, q, bad, stats);
        return z->kind == FLOE_QUANTIZER_TABLE ? encode_table(z, n, q, bad, count) : count;
    }
    switch (z->kind) {
    case FLOE_QUANTIZER_LINEAR: return encode_linear(z, x, n, q, bad, stats);
    case FLOE_QUANTIZER_LOG: return encode_log(z, x, n, q, bad, negative, stats);
    case FLOE_QUANTIZER_TABLE: return encode_table(z, n, q, bad, encode_bits(z, x, n, q, bad));
    default: return encode_bits(z, x, n, q, bad);
    }
}

bool FLOE_V(floe_quantizer_decode)(const floe_quantizer *z, const floe_int *restrict q, uint32_t n,
                                   floe_real *restrict y)
{
    if (z->integer)
        return FLOE_V(floe_integers_decode)(z, q, n, y);
    switch (z->kind) {
    case FLOE_QUANTIZER_LINEAR: {
        const floe_real step = (floe_real)z->step; /* of LOG it may be more than a float can hold */
        for (uint32_t i = 0; i < n; i++)
            y[i] = FLOE_R(floe_linear_decode)(q[i], step);
        return true;
    }
    case FLOE_QUANTIZER_LOG:
        for (uint32_t i = 0; i < n; i++)
            y[i] = FLOE_R(floe_log_decode)(q[i], z->step);
        return true;
    case FLOE_QUANTIZER_TABLE: {
        floe_uint outside = 0;
        for (uint32_t i = 0; i < n; i++) {
            floe_uint place = (floe_uint)q[i];
            outside |= place >= z->table_size;
            floe_uint pattern = (floe_uint)z->table[place < z->table_size ? place : 0];
            y[i] = FLOE_R(floe_real_of)((floe_uint)FLOE_R(floe_bits_order)(pattern));
        }
        return !outside;
    }
    default:
        for (uint32_t i = 0; i < n; i++)
            y[i] = FLOE_R(floe_real_of)((floe_uint)FLOE_R(floe_bits_order)((floe_uint)q[i]));
        return true;
    }
}
