/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/wavelet/wavelet_values_math.h"

enum { RUN = 64 };

static void take(const floe_wavelet_row *r, floe_wavelet_found *found)
{
    const floe_real *v = r->field;
    floe_real *to = r->array, min = (floe_real)found->min, max = (floe_real)found->max;
    for (uint64_t i = 0; i < r->n; i++) {
        const floe_real f = FLOE_R(floe_wavelet_take)(v[(int64_t)i * r->stride], r->fill, r->log);
        to[i] = f;
        min = f < min ? f : min;
        max = f > max ? f : max;
    }
    for (uint64_t i = 0; i < r->n; i++) {
        const bool negative = r->log && v[(int64_t)i * r->stride] < 0;
        if (to[i] != to[i] || negative)
            r->kinds[floe_wavelet_mark(r->x + i)] = to[i] != to[i] ? FLOE_WAVELET_LITERAL : FLOE_WAVELET_NEGATIVE;
    }
    found->min = (double)min;
    found->max = (double)max;
}

static void shift(const floe_wavelet_row *r, floe_wavelet_found *unused)
{
    (void)unused;
    floe_real *v = r->array;
    for (uint64_t i = 0; i < r->n; i++)
        v[i] = v[i] - (floe_real)r->center;
}

/* n values of the array from i on, as the field will have them, without signs. */
FLOE_INLINE void finish(const floe_wavelet_row *r, const floe_real *v, uint64_t n, floe_real *y)
{
    const floe_real center = (floe_real)r->center;
    for (uint64_t i = 0; i < n; i++)
        y[i] = FLOE_R(floe_wavelet_give)(v[i], center);
    for (uint64_t i = 0; i < n && r->log; i++)
        y[i] = FLOE_R(floe_interp_exp)(y[i]);
}

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

static void count_error(const floe_wavelet_row *r, double error, double size, floe_wavelet_found *found)
{
    found->max_error = error > found->max_error ? error : found->max_error;
    if (r->log && error / size > found->max_pw_error)
        found->max_pw_error = error / size;
    if (r->squares)
        found->squares += FLOE_R(floe_wavelet_square)(error, r->tolerance);
}

FLOE_INLINE bool is_within(const floe_wavelet_row *r, floe_real x, floe_real y, double *error, double *size)
{
    return FLOE_R(floe_wavelet_is_within)(x, y, r->log, r->tolerance, error, size);
}

/* A value that misses: by a correction, else as it is. */
static void correct(const floe_wavelet_row *r, uint64_t i, floe_wavelet_found *found)
{
    const floe_real x = ((const floe_real *)r->field)[(int64_t)i * r->stride], v = ((const floe_real *)r->array)[i];
    const floe_real f = r->log ? FLOE_R(floe_interp_log)(x, (floe_uint)r->fill) : x;
    const int32_t code = FLOE_R(floe_wavelet_correction)(f, v, r->center, r->unit);
    double error, magnitude;
    floe_real y;
    if (code) {
        const floe_real better = FLOE_R(floe_wavelet_correct)(v, code, (floe_real)r->unit);
        finish(r, &better, 1, &y);
        if (is_within(r, x, y, &error, &magnitude)) {
            r->corrections[floe_wavelet_mark(r->x + i)] = (int8_t)code;
            found->ncorrections++;
            count_error(r, error, magnitude, found);
            return;
        }
    }
    r->kinds[floe_wavelet_mark(r->x + i)] = FLOE_WAVELET_LITERAL;
    found->nliterals++;
}

static void check_values(const floe_wavelet_row *r, uint64_t first, uint64_t n, const floe_real *y,
                         floe_wavelet_found *found)
{
    const floe_real *x = (const floe_real *)r->field + (int64_t)first * r->stride;
    for (uint64_t k = 0; k < n; k++) {
        double error, size;
        if (r->kinds[floe_wavelet_mark(r->x + first + k)] == FLOE_WAVELET_LITERAL)
            continue;
        if (is_within(r, x[(int64_t)k * r->stride], y[k], &error, &size))
            count_error(r, error, size, found);
        else
            correct(r, first + k, found);
    }
}

/* Whether all values are within an absolute bound, and none is of a kind. */
static bool are_within(const floe_wavelet_row *r, uint64_t first, uint64_t n, const floe_real *y,
                       floe_wavelet_found *found)
{
    const floe_real *x = (const floe_real *)r->field + (int64_t)first * r->stride, tolerance = (floe_real)r->tolerance;
    floe_real worst = 0;
    int32_t bad = r->log || r->squares;
    for (uint64_t k = floe_wavelet_mark(r->x + first); k <= floe_wavelet_mark(r->x + first + n - 1); k++)
        bad |= r->kinds[k];
    for (uint64_t k = 0; k < n; k++) {
        const floe_real d = x[(int64_t)k * r->stride] - y[k], error = d < 0 ? -d : d;
        bad |= !(error <= tolerance);
        worst = error > worst ? error : worst;
    }
    if (!bad && (double)worst > found->max_error)
        found->max_error = (double)worst;
    return !bad;
}

static void check(const floe_wavelet_row *r, floe_wavelet_found *found)
{
    for (uint64_t i = 0; i < r->n; i += RUN) {
        const uint64_t n = floe_min64(RUN, r->n - i);
        floe_real y[RUN];
        finish(r, (const floe_real *)r->array + i, n, y);
        if (!are_within(r, i, n, y, found))
            check_values(r, i, n, y, found);
    }
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

static void give(const floe_wavelet_row *r)
{
    floe_real *to = r->field;
    const floe_real *v = r->array;
    for (uint64_t i = 0; i < r->n; i += RUN) {
        const uint64_t n = floe_min64(RUN, r->n - i);
        floe_real y[RUN];
        memcpy(y, v + i, n * sizeof *y);
        for (uint64_t k = 0; k < n && r->corrections; k++) {
            const int32_t code = r->corrections[floe_wavelet_mark(r->x + i + k)];
            y[k] = code ? FLOE_R(floe_wavelet_correct)(y[k], code, (floe_real)r->unit) : y[k];
        }
        finish(r, y, n, y);
        for (uint64_t k = 0; k < n; k++) {
            const bool negative = r->kinds && r->kinds[floe_wavelet_mark(r->x + i + k)] == FLOE_WAVELET_NEGATIVE;
            to[(int64_t)(i + k) * r->stride] = negative ? -y[k] : y[k];
        }
    }
}

const floe_wavelet_value_ops FLOE_V(floe_wavelet_value_ops) = {
    .take = take, .shift = shift, .check = check, .give = give};
