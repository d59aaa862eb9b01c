/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a pair in double: what both halves of the CPU's stencil pass read. */
#ifndef FLOE_ASSESS_STENCIL_FETCH_CPU_H
#define FLOE_ASSESS_STENCIL_FETCH_CPU_H

#include "assess/stencil/stencil_cpu.h"
#include "base/real.h"

#if FLOE_REAL_BITS == 32
#define FLOE_STENCIL_BITS floe_bits_f32
#else
#define FLOE_STENCIL_BITS floe_bits_f64
#endif

static inline double stencil_counts(floe_real x, floe_real y, uint32_t has_fill, floe_uint fill)
{
    const floe_value_class a = FLOE_R(floe_value_class)(FLOE_STENCIL_BITS(x), has_fill, fill);
    const floe_value_class b = FLOE_R(floe_value_class)(FLOE_STENCIL_BITS(y), has_fill, fill);
    return (double)((a == FLOE_VALUE_FINITE) & (b == FLOE_VALUE_FINITE));
}

/* Steps are constants where this is inlined for dense rows. */
static inline void stencil_fetch_steps(const floe_stencil_job *job, const floe_real *x, int64_t dx, const floe_real *y,
                                       int64_t dy, uint64_t n, floe_stencil_line *line)
{
    double *restrict f = line->f, *restrict e = line->e, *restrict count = line->count;
    for (uint64_t i = 0; i < n; i++) {
        const double v = (double)x[(int64_t)i * dx];
        f[i] = v;
        e[i] = (double)y[(int64_t)i * dy] - v;
    }
    if (!job->masked)
        return;
    for (uint64_t i = 0; i < n; i++)
        count[i] =
            stencil_counts(x[(int64_t)i * dx], y[(int64_t)i * dy], job->pair.has_fill, (floe_uint)job->pair.fill_bits);
}

/* Where a row goes on from `at`, on both sides, and its steps. */
typedef struct stencil_row {
    const floe_real *x, *y;
    int64_t dx, dy;
} stencil_row;

static inline stencil_row stencil_row_at(const floe_pair *p, const uint64_t *at)
{
    stencil_row r = {p->original, p->decoded, p->original_stride[FLOE_STENCIL_ROW],
                     p->decoded_stride[FLOE_STENCIL_ROW]};
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        r.x += (int64_t)at[a] * p->original_stride[a];
        r.y += (int64_t)at[a] * p->decoded_stride[a];
    }
    return r;
}

/* n elements of the row through `at`, from there on. */
static inline void stencil_fetch(const floe_stencil_job *job, const uint64_t *at, uint64_t n, floe_stencil_line *line)
{
    const stencil_row r = stencil_row_at(&job->pair, at);
    if (r.dx == 1 && r.dy == 1)
        stencil_fetch_steps(job, r.x, 1, r.y, 1, n, line);
    else
        stencil_fetch_steps(job, r.x, r.dx, r.y, r.dy, n, line);
}

#endif
