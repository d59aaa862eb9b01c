/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/verify_chunk.h"

#include <math.h>
#include <string.h>

#include "api/chunking.h"
#include "api/exact.h"
#include "base/bytes.h"
#include "field/field.h"

enum { PIECE = 1 << 16 }; /* values that one thread compares at a time */

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

/* x and y differ in their bits. */
static bool differing_holds(const floe_verify_rule *rule, uint64_t x_bits, double x, double y)
{
    bool exact = rule->mode == FLOE_BOUND_LOSSLESS || !isfinite(x) || (x == 0 && signbit(x)) ||
                 (rule->has_fill && x_bits == rule->fill_bits);
    if (exact || !isfinite(y))
        return false;
    return rule->mode == FLOE_BOUND_PWREL ? floe_within_pwrel(x, y, rule->bound) : floe_within_abs(x, y, rule->bound);
}

static void errors_add(const floe_verify_rule *rule, double x, double y, floe_verify_sums *sums)
{
    double error = fabs(x - y);
    if (!isfinite(x) || !isfinite(y))
        return;
    sums->max_error = fmax(sums->max_error, error);
    if (x != 0)
        sums->max_pw_error = fmax(sums->max_pw_error, error / fabs(x));
    if (rule->unit > 0)
        sums->squared_error += error / rule->unit * (error / rule->unit);
}

/* Elements at..at+n-1, which lie in one row. */
static void row_check(const job *j, uint64_t at, uint64_t n, floe_verify_sums *sums)
{
    const floe_field *f = j->original;
    size_t size = floe_dtype_size(f->dtype);
    int64_t element = element_of(f, at), step = f->stride[f->rank - 1];
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x_bits = bits_at(f->data, element + (int64_t)i * step, size);
        uint64_t y_bits = bits_at(j->decoded, (int64_t)(at + i), size);
        if (x_bits == y_bits)
            continue;
        double x = floe_value_of(f->dtype, x_bits), y = floe_value_of(f->dtype, y_bits);
        if (!differing_holds(j->rule, x_bits, x, y) && !sums->failed) {
            sums->failed = true;
            sums->at = at + i;
        }
        errors_add(j->rule, x, y, sums);
    }
}

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
