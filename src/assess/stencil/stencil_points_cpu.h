/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derivatives in the type `work`. A block is a stretch of a row. Its own line and those of its neighbours are fetched; then,
 * axis after axis, each quantity is worked out at all points of the block and added up, while the quantities that join the axes
 * grow.
 */
#ifndef FLOE_ASSESS_STENCIL_POINTS_CPU_H
#define FLOE_ASSESS_STENCIL_POINTS_CPU_H

#include "assess/stencil/stencil_lanes_cpu.h"
#include "assess/stencil/stencil_rows_cpu.h"

/* A quantity at the points of a block: of the original, of the decoded, and the difference. */
typedef struct trio {
    work f[BLOCK], g[BLOCK], e[BLOCK];
} trio;

/* What joins the axes; [0] of first, [1] of second derivatives. */
typedef struct joined {
    trio sum[2], squares[2], trace[2];
} joined;

/* ---- adding up --------------------------------------------------------------------------------------------------- */

static const work *for_extremes(block *b, const work *x)
{
    if (b->nkept == b->padded)
        return x;
    blank(b->blanked, x, b, x[b->first]);
    return b->blanked;
}

static void extremes_add(floe_stencil_moments *m, block *b, const work *x)
{
    work min, max;
    WORK(floe_lanes_extremes)(for_extremes(b, x), b->padded, &min, &max);
    m->min = (double)min < m->min ? (double)min : m->min;
    m->max = (double)max > m->max ? (double)max : m->max;
}

static void errors_add(floe_stencil_moments *m, block *b, const work *x)
{
    work max;
    m->error_squares += WORK(floe_lanes_errors)(for_sums(b, x), b->padded, &max);
    m->max_error = (double)max > m->max_error ? (double)max : m->max_error;
}

static void write_out(const floe_stencil_job *job, const block *b, const uint64_t *at, double unit, const trio *t)
{
    uint64_t place = 0;
    for (int a = 0; a < FLOE_STENCIL_AXES; a++)
        place = place * job->pair.shape[a] + at[a];
    for (uint64_t j = 0; j < b->n; j++) {
        if (job->out[0] && b->keep[j])
            job->out[0][place + j] = unit * (double)t->f[j];
        if (job->out[1] && b->keep[j])
            job->out[1][place + j] = unit * (double)t->g[j];
    }
}

/* A quantity at the points from `at` on is done. */
static void take(const floe_stencil_job *job, block *b, const uint64_t *at, int quantity, const trio *t,
                 floe_stencil_sums *sums)
{
    floe_stencil_moments *m = &sums->of[quantity];
    if (job->out[0] || job->out[1]) {
        if (quantity == (int)job->wanted)
            write_out(job, b, at, floe_stencil_in_steps(quantity) ? 0.5 : 1, t);
        return;
    }
    extremes_add(m, b, t->f);
    if (quantity == FLOE_STENCIL_LAPLACIAN)
        m->squares += WORK(floe_lanes_squares)(for_sums(b, t->f), b->padded);
    if (!job->alone)
        errors_add(m, b, t->e);
}

/* ---- quantities -------------------------------------------------------------------------------------------------- */

/* Values of one side at the points of a block and at their neighbours along an axis. */
typedef struct around {
    const work *minus, *at, *plus;
} around;

static void first(work *restrict d, around r, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++)
        d[j] = WORK(floe_stencil_step)(r.minus[j], r.plus[j]);
}

static void second(work *restrict d, around r, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++)
        d[j] = WORK(floe_stencil_second)(r.minus[j], r.at[j], r.plus[j]);
}

static inline work size_of(work v) { return sizeof v == sizeof(float) ? (work)fabsf((float)v) : (work)fabs((double)v); }

static void joined_begin(joined *all, uint64_t n)
{
    memset(all, 0, sizeof *all);
    for (int order = 0; order < 2; order++)
        for (uint64_t j = 0; j < n; j++)
            all->squares[order].f[j] = all->squares[order].g[j] = WORK(floe_stencil_no_squares)();
}

/* Adds the derivatives along one axis to what joins the axes. */
static void join_axis(trio *restrict one, trio *restrict sum, trio *restrict squares, trio *restrict trace, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++) {
        const work f = one->f[j], e = one->e[j], g = f + e;
        one->g[j] = g;
        sum->f[j] += size_of(f);
        sum->g[j] += size_of(g);
        squares->f[j] = WORK(floe_stencil_square_add)(squares->f[j], f);
        squares->g[j] = WORK(floe_stencil_square_add)(squares->g[j], g);
        trace->f[j] += f;
        trace->e[j] += e;
    }
}

/* Squares become the length; differences and the decoded trace are worked out. */
static void finish_joined(trio *restrict sum, trio *restrict squares, trio *restrict trace, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++) {
        sum->e[j] = sum->g[j] - sum->f[j];
        trace->g[j] = trace->f[j] + trace->e[j];
    }
    for (uint64_t j = 0; j < n; j++)
        squares->f[j] = WORK(floe_stencil_length)(squares->f[j]);
    for (uint64_t j = 0; j < n; j++)
        squares->g[j] = WORK(floe_stencil_length)(squares->g[j]);
    for (uint64_t j = 0; j < n; j++)
        squares->e[j] = squares->g[j] - squares->f[j];
}

static around around_of(const block *b, int a, bool errors)
{
    const work *at = errors ? b->at.e : b->at.f;
    if (a == ROW)
        return (around){at, at + 1, at + 2};
    if (errors)
        return (around){b->minus[a].e, at + 1, b->plus[a].e};
    return (around){b->minus[a].f, at + 1, b->plus[a].f};
}

static void axes_add(const floe_stencil_job *job, block *b, const uint64_t *at, joined *all, floe_stencil_sums *sums)
{
    trio one;
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        if (!(job->active >> a & 1))
            continue;
        const around f = around_of(b, a, false), e = around_of(b, a, true);
        first(one.f, f, b->padded);
        first(one.e, e, b->padded);
        join_axis(&one, &all->sum[0], &all->squares[0], &all->trace[0], b->padded);
        take(job, b, at, FLOE_STENCIL_FIRST + a, &one, sums);
        second(one.f, f, b->padded);
        second(one.e, e, b->padded);
        join_axis(&one, &all->sum[1], &all->squares[1], &all->trace[1], b->padded);
        take(job, b, at, FLOE_STENCIL_SECOND + a, &one, sums);
    }
}

static void quantities_add(const floe_stencil_job *job, block *b, const uint64_t *at, floe_stencil_sums *sums)
{
    static const int quantities[2][3] = {{FLOE_STENCIL_FIRST_SUM, FLOE_STENCIL_FIRST_LENGTH, FLOE_STENCIL_DIVERGENCE},
                                         {FLOE_STENCIL_SECOND_SUM, FLOE_STENCIL_SECOND_LENGTH, FLOE_STENCIL_LAPLACIAN}};
    joined all;
    joined_begin(&all, b->padded);
    axes_add(job, b, at, &all, sums);
    floe_stencil_moments *lengths = &sums->of[FLOE_STENCIL_FIRST_LENGTH];
    lengths->squares += WORK(floe_lanes_sum)(for_sums(b, all.squares[0].f), b->padded);
    for (int order = 0; order < 2; order++) {
        finish_joined(&all.sum[order], &all.squares[order], &all.trace[order], b->padded);
        take(job, b, at, quantities[order][0], &all.sum[order], sums);
        take(job, b, at, quantities[order][1], &all.squares[order], sums);
        take(job, b, at, quantities[order][2], &all.trace[order], sums);
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void block_add(const floe_stencil_job *job, block *b, const uint64_t *at, uint64_t n, floe_stencil_sums *sums)
{
    block_fetch(job, at, n, b);
    points_keep(job, at, b);
    sums->npoints += b->nkept;
    sums->nskipped += b->npoints - b->nkept;
    if (b->nkept)
        quantities_add(job, b, at, sums);
}

#endif
