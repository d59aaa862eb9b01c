/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of axes decides which elements are neighbours across rows and planes. For each order of the given axes, the
 * Lorenzo residual (the alternating sum over the corners of a small box) is taken at the same sampled places; a wrong row
 * length mixes unrelated values into it. Quantiles instead of means, so that fill values and fronts do not decide.
 */
#include "cli/axis_hint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NPLACES = 256, /* sampled places, evenly spread */
    RUN = 16,      /* residuals in a row at each */
    NSAMPLES = NPLACES * RUN,
    MIN_ELEMS = 4096 /* of a field: below, a sample shows little */
};
static const double STRONG = 3; /* so many times smaller residuals make a hint */
static const double WILD = 1e6; /* residuals so many times the usual ones are outliers */

typedef struct sample {
    floe_source source;
    floe_dtype dtype;
    uint64_t nelems;
} sample;

typedef struct order {
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    double quartile[3]; /* of |residual|: the 25 %, 50 % and 75 % quantiles */
} order;

static bool read_run(const sample *s, uint64_t first, double values[RUN])
{
    unsigned char bytes[RUN * 8];
    size_t nbytes = RUN * floe_dtype_size(s->dtype), got;
    if (s->source.read(s->source.user, first * floe_dtype_size(s->dtype), bytes, nbytes, &got) != FLOE_OK ||
        got != nbytes)
        return false;
    for (uint64_t i = 0; i < RUN; i++)
        values[i] = cli_number_at(s->dtype, bytes, i);
    return true;
}

/* Residuals of RUN elements from `last` on, which has all its neighbours before it. */
static bool residuals(const sample *s, const order *o, uint64_t last, double out[RUN])
{
    uint64_t stride[FLOE_MAX_RANK] = {0}, n = 1;
    for (uint32_t i = o->rank; i-- > 0; n *= o->shape[i])
        stride[i] = n;
    memset(out, 0, RUN * sizeof *out);
    for (uint32_t corner = 0; corner < 1U << o->rank; corner++) {
        double values[RUN], sign = 1;
        uint64_t at = last;
        for (uint32_t i = 0; i < o->rank; i++)
            if (corner >> i & 1) {
                at -= stride[i];
                sign = -sign;
            }
        if (!read_run(s, at, values))
            return false;
        for (int i = 0; i < RUN; i++)
            out[i] += sign * values[i];
    }
    return true;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool score(const sample *s, order *o, double *scratch)
{
    uint64_t margin = 0, n = 1, count = 0; /* the farthest neighbour's distance */
    for (uint32_t i = o->rank; i-- > 0; n *= o->shape[i])
        margin += n;
    if (s->nelems < margin + RUN)
        return false;
    uint64_t room = s->nelems - margin - RUN;
    for (uint64_t place = 0; place < NPLACES; place++) {
        double out[RUN];
        /* room / NPLACES first, so that nothing overflows */
        if (!residuals(s, o, margin + room / NPLACES * place + room % NPLACES * place / NPLACES, out))
            return false;
        for (int i = 0; i < RUN; i++)
            if (isfinite(out[i]))
                scratch[count++] = fabs(out[i]);
    }
    if (count < NSAMPLES / 8)
        return false;
    qsort(scratch, count, sizeof *scratch, ascending);
    for (uint64_t q = 0; q < 3; q++)
        o->quartile[q] = scratch[count / 4 * (q + 1)];
    return true;
}

/* The next order of shape in lexicographic sense; false after the last. */
static bool next_order(uint32_t rank, uint64_t *shape)
{
    uint32_t i = rank - 1, j = rank - 1;
    while (i > 0 && shape[i - 1] >= shape[i])
        i--;
    if (i == 0)
        return false;
    while (shape[j] <= shape[i - 1])
        j--;
    uint64_t swapped = shape[i - 1];
    shape[i - 1] = shape[j];
    shape[j] = swapped;
    for (j = rank - 1; i < j; i++, j--) {
        swapped = shape[i];
        shape[i] = shape[j];
        shape[j] = swapped;
    }
    return true;
}

static int ascending_axes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The order with the smallest residuals into best; false when that is not clear. */
static bool find_best(const sample *s, const order *given, order *best, double *scratch)
{
    order at = *given;
    *best = *given;
    qsort(at.shape, at.rank, sizeof at.shape[0], ascending_axes);
    do {
        if (!score(s, &at, scratch))
            return false;
        if (at.quartile[1] < best->quartile[1])
            *best = at;
    } while (next_order(at.rank, at.shape));
    return true;
}

static bool is_much_worse(const order *given, const order *best)
{
    const double *g = given->quartile, *b = best->quartile;
    if (b[2] > WILD * g[1]) /* outliers everywhere: how many corners they touch shows nothing about the axes */
        return false;
    return g[0] >= STRONG * b[0] && g[1] > STRONG * b[1] && g[2] > STRONG * b[2];
}

void cli_axis_hint(io_reader *reader, const floe_field *layout, char hint[2 * CLI_TEXT])
{
    order given = {.rank = layout->rank}, best;
    sample s = {.source = io_reader_source(reader), .dtype = layout->dtype};
    char text[CLI_TEXT];
    hint[0] = 0;
    if (!io_reader_is_seekable(reader) || layout->rank < 2 || floe_field_nelems(layout, &s.nelems) != FLOE_OK ||
        s.nelems < MIN_ELEMS)
        return;
    memcpy(given.shape, layout->shape, sizeof given.shape);
    double *scratch = malloc(NSAMPLES * sizeof *scratch);
    if (scratch && score(&s, &given, scratch) && find_best(&s, &given, &best, scratch) &&
        is_much_worse(&given, &best)) {
        cli_shape_text(best.rank, best.shape, text);
        snprintf(hint, 2 * CLI_TEXT, "the axes may be mixed up: %.100s would predict these values much better", text);
    }
    free(scratch);
}
