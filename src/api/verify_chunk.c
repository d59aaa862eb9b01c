/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/verify_chunk.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/exact_math.h"
#include "base/hd.h"
#include "call/chunking.h"
#include "field/dtype_math.h"
#include "field/field.h"

enum {
    PIECE = 1 << 16, /* values that one thread compares at a time */
    BLOCK = 256      /* values that are looked at together; 8 KiB on the stack */
};

typedef struct job {
    const floe_verify_rule *rule;
    const floe_field *original;
    const uint8_t *decoded;
    uint64_t nelems;
    floe_verify_sums *pieces;
} job;

floe_verify_sums *floe_verify_take(floe_arena *arena, uint64_t nelems)
{
    return floe_arena_take(arena, floe_ceil_div(nelems, PIECE), sizeof(floe_verify_sums));
}

static uint64_t bits_at(const void *data, int64_t element, size_t size)
{
    uint32_t narrow;
    uint64_t wide;
    const uint8_t *p = (const uint8_t *)data + element * (int64_t)size;
    if (size == 4) {
        memcpy(&narrow, p, 4);
        return narrow;
    }
    memcpy(&wide, p, 8);
    return wide;
}

static int64_t element_of(const floe_field *f, uint64_t at)
{
    int64_t element = 0;
    for (uint32_t i = f->rank; i-- > 0; at /= f->shape[i])
        element += (int64_t)(at % f->shape[i]) * f->stride[i];
    return element;
}

uint64_t floe_verify_bits(const floe_field *field, uint64_t at)
{
    return bits_at(field->data, element_of(field, at), floe_dtype_size(field->dtype));
}

/* ---- one value --------------------------------------------------------------------------------------------------- */

/* |x - y| <= bound of integers. Rounding is monotonic, so only where the rounded distance is the bound, which is then a
 * whole number, does the exact one count. */
static bool integers_hold(const floe_verify_rule *rule, floe_dtype dtype, uint64_t x_bits, uint64_t y_bits)
{
    const uint64_t distance = floe_integer_distance(floe_integer_of(dtype, x_bits), floe_integer_of(dtype, y_bits));
    const double rounded = (double)distance;
    if (rule->mode == FLOE_BOUND_LOSSLESS || (rule->has_fill && x_bits == rule->fill_bits))
        return false;
    return rounded != rule->bound ? rounded < rule->bound : rounded >= 0x1p64 || distance <= (uint64_t)rule->bound;
}

/* x and y differ in their bits. */
static bool differing_holds(const floe_verify_rule *rule, floe_dtype dtype, uint64_t x_bits, uint64_t y_bits)
{
    if (floe_dtype_is_integer(dtype))
        return integers_hold(rule, dtype, x_bits, y_bits);
    const double x = floe_value_of(dtype, x_bits), y = floe_value_of(dtype, y_bits);
    bool exact = rule->mode == FLOE_BOUND_LOSSLESS || !isfinite(x) || (x == 0 && signbit(x)) ||
                 (rule->has_fill && x_bits == rule->fill_bits);
    if (exact || !isfinite(y))
        return false;
    return rule->mode == FLOE_BOUND_PWREL ? floe_exact_within_pwrel(x, y, rule->bound)
                                          : floe_exact_within_abs(x, y, rule->bound);
}

static void errors_add(double x, double y, double error, floe_verify_sums *sums)
{
    if (!isfinite(x) || !isfinite(y))
        return;
    sums->max_error = fmax(sums->max_error, error);
    if (x != 0)
        sums->max_pw_error = fmax(sums->max_pw_error, error / fabs(x));
}

/* ---- blocks of values ---------------------------------------------------------------------------------------------- */

typedef struct block {
    uint64_t x_bits[BLOCK], y_bits[BLOCK];
    double x[BLOCK], error[BLOCK]; /* |x - y|, rounded once */
} block;

static void read_bits(size_t size, const uint8_t *data, int64_t step, uint64_t n, uint64_t *bits)
{
    for (uint64_t i = 0; i < n; i++) {
        uint32_t narrow;
        if (size == 4) {
            memcpy(&narrow, data + (int64_t)i * step * 4, 4);
            bits[i] = narrow;
        } else {
            memcpy(&bits[i], data + (int64_t)i * step * 8, 8);
        }
    }
}

/* Size and step of the usual cases are constants to the compiler. */
static void read_values(size_t size, const uint8_t *data, int64_t step, uint64_t n, uint64_t *bits)
{
    if (size == 4)
        step == 1 ? read_bits(4, data, 1, n, bits) : read_bits(4, data, step, n, bits);
    else
        step == 1 ? read_bits(8, data, 1, n, bits) : read_bits(8, data, step, n, bits);
}

static void find_errors(floe_dtype dtype, block *b, uint64_t n)
{
    for (uint64_t i = 0; dtype == FLOE_F32 && i < n; i++) {
        b->x[i] = (double)floe_f32_of((uint32_t)b->x_bits[i]);
        b->error[i] = fabs(b->x[i] - (double)floe_f32_of((uint32_t)b->y_bits[i]));
    }
    for (uint64_t i = 0; dtype == FLOE_F64 && i < n; i++) {
        b->x[i] = floe_f64_of(b->x_bits[i]);
        b->error[i] = fabs(b->x[i] - floe_f64_of(b->y_bits[i]));
    }
    for (uint64_t i = 0; floe_dtype_is_integer(dtype) && i < n; i++) {
        const int64_t x = floe_integer_of(dtype, b->x_bits[i]);
        b->x[i] = (double)x;
        b->error[i] = (double)floe_integer_distance(x, floe_integer_of(dtype, b->y_bits[i]));
    }
}

/* Clearly right: the same bits, or a rounded error below the rounded limit (rounding is monotonic, so then the exact ones
 * compare alike) of a value that need not be exact. Adds the errors only if all are clear. */
static bool block_is_clear(const floe_verify_rule *rule, const block *b, uint64_t n, uint64_t minus_zero,
                           floe_verify_sums *sums)
{
    const bool relative = rule->mode == FLOE_BOUND_PWREL;
    const uint64_t fill = rule->has_fill ? rule->fill_bits : minus_zero;
    const double limit = rule->mode == FLOE_BOUND_LOSSLESS ? 0 : rule->bound;
    double max_error = 0, max_pw_error = 0;
    uint64_t unclear = 0;
    for (uint64_t i = 0; i < n; i++) {
        double error = b->error[i], size = fabs(b->x[i]);
        double pw_error = size > 0 ? error / size : 0;
        bool below = error < (relative ? limit * size : limit);
        bool exact = (b->x_bits[i] == minus_zero) | (b->x_bits[i] == fill);
        unclear |= (uint64_t)((b->x_bits[i] != b->y_bits[i]) & (!below | exact));
        max_error = error > max_error ? error : max_error;
        max_pw_error = pw_error > max_pw_error ? pw_error : max_pw_error;
    }
    if (unclear || !isfinite(max_error) || !isfinite(max_pw_error))
        return false;
    sums->max_error = fmax(sums->max_error, max_error);
    sums->max_pw_error = fmax(sums->max_pw_error, max_pw_error);
    return true;
}

static void block_check(const floe_verify_rule *rule, floe_dtype dtype, const block *b, uint64_t at, uint64_t n,
                        floe_verify_sums *sums)
{
    if (rule->unit > 0)
        for (uint64_t i = 0; i < n; i++) {
            double error = b->error[i] / rule->unit;
            sums->squared_error += isfinite(error) ? error * error : 0;
        }
    if (block_is_clear(rule, b, n, floe_dtype_sign(dtype), sums))
        return;
    for (uint64_t i = 0; i < n; i++) {
        const bool same = b->x_bits[i] == b->y_bits[i];
        errors_add(b->x[i], floe_value_of(dtype, b->y_bits[i]), b->error[i], sums);
        if (!same && !sums->failed && !differing_holds(rule, dtype, b->x_bits[i], b->y_bits[i])) {
            sums->failed = true;
            sums->at = at + i;
        }
    }
}

/* Elements at..at+n-1, which lie in one row. */
static void row_check(const job *j, uint64_t at, uint64_t n, floe_verify_sums *sums)
{
    const floe_field *f = j->original;
    int64_t size = (int64_t)floe_dtype_size(f->dtype), step = f->stride[f->rank - 1];
    const uint8_t *x = (const uint8_t *)f->data + element_of(f, at) * size;
    block b;
    for (uint64_t i = 0, part; i < n; i += part) {
        part = floe_min64(n - i, BLOCK);
        read_values((size_t)size, x + (int64_t)i * step * size, step, part, b.x_bits);
        read_values((size_t)size, j->decoded + (int64_t)(at + i) * size, 1, part, b.y_bits);
        find_errors(f->dtype, &b, part);
        block_check(j->rule, f->dtype, &b, at + i, part, sums);
    }
}

/* ---- chunks -------------------------------------------------------------------------------------------------------- */

static void piece_check(void *arg, uint64_t i, uint32_t worker)
{
    const job *j = arg;
    floe_verify_sums sums = {.failed = false};
    uint64_t end = floe_min64((i + 1) * PIECE, j->nelems), length = j->original->shape[j->original->rank - 1];
    (void)worker;
    for (uint64_t at = i * PIECE, n; at < end; at += n) {
        n = floe_min64(end - at, length - at % length);
        row_check(j, at, n, &sums);
    }
    j->pieces[i] = sums;
}

floe_verify_sums floe_verify_chunk(const floe_cpu *cpu, const floe_verify_rule *rule, const floe_field *original,
                                   const void *decoded, floe_verify_sums *pieces)
{
    job j = {rule, original, decoded, floe_extent_nelems(original->rank, original->shape), pieces};
    uint64_t npieces = floe_ceil_div(j.nelems, PIECE);
    floe_verify_sums all = {.failed = false};
    floe_cpu_parallel(cpu, npieces, piece_check, &j);
    for (uint64_t i = 0; i < npieces; i++) { /* in order: sums do not depend on threads */
        if (pieces[i].failed && !all.failed) {
            all.failed = true;
            all.at = pieces[i].at;
        }
        all.max_error = fmax(all.max_error, pieces[i].max_error);
        all.max_pw_error = fmax(all.max_pw_error, pieces[i].max_pw_error);
        all.squared_error += pieces[i].squared_error;
    }
    return all;
}
