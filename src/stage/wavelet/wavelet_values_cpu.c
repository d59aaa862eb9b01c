/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/wavelet/wavelet_values_math.h"

enum {
    RUN = 64, /* values that are done together, in vectors */
    MANY = 8  /* of these are outside the bound: then corrections of all take less time than those of each */
};

/* Elements of the field from i on. */
FLOE_INLINE void gather(const floe_wavelet_row *r, uint64_t i, uint64_t n, floe_real *restrict to)
{
    const floe_real *from = (const floe_real *)r->field + (int64_t)i * r->stride;
    if (r->stride == 1)
        memcpy(to, from, n * sizeof *to);
    else
        for (uint64_t k = 0; k < n; k++)
            to[k] = from[(int64_t)k * r->stride];
}

static void mark_kinds(const floe_wavelet_row *r, uint64_t i, uint64_t n, const floe_real *x, floe_wavelet_found *found)
{
    const floe_real *v = (const floe_real *)r->array + i;
    for (uint64_t k = 0; k < n; k++) {
        const bool is_apart = v[k] != v[k];
        found->nliterals += is_apart;
        if (is_apart || (r->log && x[k] < 0))
            r->kinds[floe_wavelet_mark(r->x + i + k)] = is_apart ? FLOE_WAVELET_LITERAL : FLOE_WAVELET_NEGATIVE;
    }
}

/* Puts n values into the array, from element i on. Returns whether some are of a kind. */
FLOE_INLINE bool take_run(const floe_wavelet_row *r, bool log, uint64_t i, uint64_t n, const floe_real *restrict x)
{
    const floe_uint fill = (floe_uint)r->fill;
    floe_real *restrict to = (floe_real *)r->array + i;
    floe_int marked = 0;
    for (uint64_t k = 0; k < n; k++)
        to[k] = FLOE_R(floe_wavelet_take)(x[k], fill, log);
    for (uint64_t k = 0; k < n; k++)
        marked |= (to[k] != to[k]) | (log & (x[k] < 0));
    return marked;
}

/* Extremes are found of the k-th elements of all runs at first, so that the loop over a run becomes vectors. */
static void take(const floe_wavelet_row *r, floe_wavelet_found *found)
{
    floe_real x[RUN], min[RUN], max[RUN];
    for (uint32_t k = 0; k < RUN; k++) {
        min[k] = (floe_real)found->min;
        max[k] = (floe_real)found->max;
    }
    for (uint64_t i = 0; i < r->n; i += RUN) {
        const uint64_t n = floe_min64(RUN, r->n - i);
        const floe_real *v = (const floe_real *)r->array + i;
        gather(r, i, n, x);
        if (r->log ? take_run(r, true, i, n, x) : take_run(r, false, i, n, x))
            mark_kinds(r, i, n, x, found);
        for (uint64_t k = 0; k < n; k++) {
            min[k] = v[k] < min[k] ? v[k] : min[k];
            max[k] = v[k] > max[k] ? v[k] : max[k];
        }
    }
    for (uint32_t k = 0; k < RUN; k++) {
        found->min = (double)min[k] < found->min ? (double)min[k] : found->min;
        found->max = (double)max[k] > found->max ? (double)max[k] : found->max;
    }
}

static void shift(const floe_wavelet_row *r, floe_wavelet_found *unused)
{
    (void)unused;
    floe_real *v = r->array;
    for (uint64_t i = 0; i < r->n; i++)
        v[i] = v[i] - (floe_real)r->center;
}

/* n values of the array as the field will have them, without the signs of logarithms' values. */
FLOE_INLINE void finish(const floe_wavelet_row *r, const floe_real *v, uint64_t n, floe_real *y)
{
    const floe_real center = (floe_real)r->center;
    for (uint64_t i = 0; i < n; i++)
        y[i] = FLOE_R(floe_wavelet_give)(v[i], center);
    for (uint64_t i = 0; i < n && r->log; i++)
        y[i] = FLOE_R(floe_lattice_exp)(y[i]);
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

static void add_literal(const floe_wavelet_row *r, uint64_t i, floe_wavelet_found *found)
{
    if (!r->trial)
        r->kinds[floe_wavelet_mark(r->x + i)] = FLOE_WAVELET_LITERAL;
    found->nliterals++;
}

/* Marks a value that is outside the bound: with a correction if that helps, else as a literal. */
static void correct(const floe_wavelet_row *r, uint64_t i, floe_wavelet_found *found)
{
    const floe_real x = ((const floe_real *)r->field)[(int64_t)i * r->stride], v = ((const floe_real *)r->array)[i];
    const floe_real f = r->log ? FLOE_R(floe_lattice_log)(x, (floe_uint)r->fill) : x;
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
    add_literal(r, i, found);
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

/* Does what correct does, for an absolute bound, of those values whose errors are outside it. Loops are over all values, without branches:
 * they become vectors. */
static void correct_plain(const floe_wavelet_row *r, uint64_t first, uint64_t n, const floe_real *x,
                          const floe_real *error, floe_wavelet_found *found)
{
    const floe_real *v = (const floe_real *)r->array + first, unit = (floe_real)r->unit,
                    tolerance = (floe_real)r->tolerance;
    floe_real y[RUN], worst = 0;
    int32_t code[RUN], literal = 0;
    for (uint64_t k = 0; k < n; k++)
        code[k] = FLOE_R(floe_wavelet_correction)(x[k], v[k], r->center, r->unit);
    for (uint64_t k = 0; k < n; k++)
        y[k] = code[k] ? FLOE_R(floe_wavelet_correct)(v[k], code[k], unit) : v[k];
    finish(r, y, n, y);
    for (uint64_t k = 0; k < n; k++) {
        const floe_real left = FLOE_R(floe_real_abs)(x[k] - y[k]);
        const int32_t bad = -!(error[k] <= tolerance), good = -((double)left <= r->tolerance);
        literal |= bad & ~(good & -(code[k] != 0));
        code[k] &= bad & good;
        worst = code[k] && left > worst ? left : worst;
    }
    for (uint64_t k = 0; k < n; k++) {
        r->corrections[floe_wavelet_mark(r->x + first + k)] = (int8_t)code[k];
        found->ncorrections += code[k] != 0;
    }
    found->max_error = (double)worst > found->max_error ? (double)worst : found->max_error;
    for (uint64_t k = 0; k < n && literal; k++)
        if (!(error[k] <= tolerance) && !code[k])
            add_literal(r, first + k, found);
}

/* The same for an absolute bound, if no value is of a kind. The largest error is found by bit patterns, which are ordered as the numbers are:
 * of whole numbers compilers make vectors. */
static void check_plain(const floe_wavelet_row *r, uint64_t first, uint64_t n, const floe_real *y,
                        floe_wavelet_found *found)
{
    const floe_real tolerance = (floe_real)r->tolerance;
    floe_real x[RUN], error[RUN];
    floe_int worst = 0, nbad = 0;
    gather(r, first, n, x);
    for (uint64_t k = 0; k < n; k++)
        error[k] = FLOE_R(floe_real_abs)(x[k] - y[k]);
    for (uint64_t k = 0; k < n; k++) {
        const floe_int good = -(floe_int)(error[k] <= tolerance), e = (floe_int)FLOE_R(floe_real_bits)(error[k]) & good;
        nbad -= ~good;
        worst = e > worst ? e : worst;
    }
    const double most = (double)FLOE_R(floe_real_of)((floe_uint)worst);
    found->max_error = most > found->max_error ? most : found->max_error;
    if (nbad >= MANY) {
        correct_plain(r, first, n, x, error, found);
        return;
    }
    for (uint64_t k = 0; k < n && nbad; k++)
        if (!(error[k] <= tolerance))
            correct(r, first + k, found);
}

static bool have_kinds(const floe_wavelet_row *r, uint64_t first, uint64_t n)
{
    uint8_t any = 0;
    for (uint64_t k = floe_wavelet_mark(r->x + first); k <= floe_wavelet_mark(r->x + first + n - 1); k++)
        any |= (uint8_t)r->kinds[k];
    return any;
}

static void check(const floe_wavelet_row *r, floe_wavelet_found *found)
{
    for (uint64_t i = 0; i < r->n; i += RUN) {
        const uint64_t n = floe_min64(RUN, r->n - i);
        floe_real y[RUN];
        finish(r, (const floe_real *)r->array + i, n, y);
        if (r->log || r->squares || have_kinds(r, i, n))
            check_values(r, i, n, y, found);
        else
            check_plain(r, i, n, y, found);
    }
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

typedef void mark_fn(const floe_wavelet_row *r, uint64_t i, int32_t mark);

/* Calls visit for each element of the row whose mark is not 0. */
FLOE_INLINE void visit_marks(const floe_wavelet_row *r, const int8_t *marks, mark_fn *visit)
{
    for (uint64_t x = r->x - r->x % FLOE_WAVELET_MARKS; marks && x < r->x + r->n; x += FLOE_WAVELET_MARKS) {
        const int8_t *record = marks + floe_wavelet_mark(x);
        uint64_t any;
        memcpy(&any, record, sizeof any);
        for (uint64_t k = 0; any && k < FLOE_WAVELET_MARKS; k++)
            if (record[k] && x + k >= r->x && x + k < r->x + r->n)
                visit(r, x + k - r->x, record[k]);
    }
}

static void correct_value(const floe_wavelet_row *r, uint64_t i, int32_t code)
{
    floe_real *v = (floe_real *)r->array + i;
    *v = FLOE_R(floe_wavelet_correct)(*v, code, (floe_real)r->unit);
}

static void negate_value(const floe_wavelet_row *r, uint64_t i, int32_t kind)
{
    floe_real *v = (floe_real *)r->field + (int64_t)i * r->stride;
    if (kind == FLOE_WAVELET_NEGATIVE)
        *v = -*v;
}

static void give(const floe_wavelet_row *r)
{
    floe_real *to = r->field;
    visit_marks(r, r->corrections, correct_value);
    for (uint64_t i = 0; i < r->n; i += RUN) {
        const uint64_t n = floe_min64(RUN, r->n - i);
        floe_real y[RUN];
        finish(r, (const floe_real *)r->array + i, n, y);
        for (uint64_t k = 0; k < n && r->limits.known; k++)
            y[k] = FLOE_R(floe_wavelet_cut)(y[k], (floe_real)r->limits.min, (floe_real)r->limits.max);
        if (r->stride == 1)
            memcpy(to + i, y, n * sizeof *y);
        for (uint64_t k = 0; k < n && r->stride != 1; k++)
            to[(int64_t)(i + k) * r->stride] = y[k];
    }
    visit_marks(r, r->kinds, negate_value);
}

const floe_wavelet_value_ops FLOE_V(floe_wavelet_value_ops) = {
    .take = take, .shift = shift, .check = check, .give = give};
