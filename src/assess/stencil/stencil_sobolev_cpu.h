/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Sobolev norms of the original are made of, in the type `work`: blocks of a row with their neighbours and the corners of
 * each two axes.
 */
#ifndef FLOE_ASSESS_STENCIL_SOBOLEV_CPU_H
#define FLOE_ASSESS_STENCIL_SOBOLEV_CPU_H

#include "assess/stencil/stencil_lanes_cpu.h"
#include "assess/stencil/stencil_rows_cpu.h"

/* Squares at the points of a block. */
typedef struct norms {
    work values[BLOCK], steps[BLOCK], seconds[BLOCK], twists[BLOCK];
} norms;

/* Values at one corner of the points' stencils: element j + shift of a line is point j's. */
typedef struct corner {
    const line *line;
    uint32_t shift;
} corner;

/* Lines with the corners that are minus or plus along a and b; along b both, where it is the row's own axis. */
static void corners_fetch(const floe_stencil_job *job, const uint64_t *at, uint64_t n, int a, int b, line lines[4],
                          corner c[4])
{
    for (uint32_t k = 0; k < 4; k++) {
        uint64_t to[FLOE_MAX_RANK];
        memcpy(to, at, sizeof to);
        to[a] = k & 2 ? at[a] + 1 : at[a] - 1;
        if (b != ROW) {
            to[b] = k & 1 ? at[b] + 1 : at[b] - 1;
            line_fetch(job, to, n, 0, &lines[k]);
            c[k] = (corner){&lines[k], 0};
        } else if (k & 1) {
            c[k] = (corner){c[k - 1].line, 2};
        } else {
            own_fetch(job, to, n, &lines[k]);
            c[k] = (corner){&lines[k], 0};
        }
    }
}

static void corners_add(work *restrict twists, const corner c[4], uint64_t n)
{
    const work *mm = c[0].line->f + c[0].shift, *mp = c[1].line->f + c[1].shift;
    const work *pm = c[2].line->f + c[2].shift, *pp = c[3].line->f + c[3].shift;
    for (uint64_t j = 0; j < n; j++) {
        const work minus = WORK(floe_stencil_step)(mm[j], mp[j]), plus = WORK(floe_stencil_step)(pm[j], pp[j]);
        const work d = WORK(floe_stencil_twist)(minus, plus);
        twists[j] = WORK(floe_stencil_square_add)(twists[j], d);
    }
}

/* Points of which a corner does not count are left out. */
static void corners_judge(block *b, const corner c[4])
{
    for (uint64_t j = 0; j < b->n; j++)
        for (int k = 0; k < 4; k++)
            b->keep[j] &= c[k].line->count[j + c[k].shift];
}

static void axis_add(const work *minus, const work *at, const work *plus, norms *s, uint64_t n)
{
    work *restrict steps = s->steps, *restrict seconds = s->seconds;
    for (uint64_t j = 0; j < n; j++) {
        const work d = WORK(floe_stencil_step)(minus[j], plus[j]);
        const work dd = WORK(floe_stencil_second)(minus[j], at[j], plus[j]);
        steps[j] = WORK(floe_stencil_square_add)(steps[j], d);
        seconds[j] = WORK(floe_stencil_square_add)(seconds[j], dd);
    }
}

static void norms_add(const floe_stencil_job *job, block *b, const uint64_t *at, norms *s)
{
    line lines[4];
    corner c[4];
    for (uint64_t j = 0; j < b->padded; j++) {
        s->values[j] = b->at.f[j + 1];
        s->steps[j] = s->seconds[j] = WORK(floe_stencil_no_squares)();
        s->twists[j] = 0;
    }
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        if (!(job->active >> a & 1))
            continue;
        const work *minus = a == ROW ? b->at.f : b->minus[a].f, *plus = a == ROW ? b->at.f + 2 : b->plus[a].f;
        axis_add(minus, b->at.f + 1, plus, s, b->padded);
        for (int other = a + 1; other < FLOE_STENCIL_AXES; other++) {
            if (!(job->active >> other & 1))
                continue;
            corners_fetch(job, at, b->n, a, other, lines, c);
            corners_add(s->twists, c, b->padded);
            if (job->masked)
                corners_judge(b, c);
        }
    }
}

static void block_add(const floe_stencil_job *job, block *b, const uint64_t *at, uint64_t n, floe_stencil_sums *sums)
{
    norms s;
    block_fetch(job, at, n, b);
    points_keep(job, at, b);
    norms_add(job, b, at, &s);
    kept_count(b);
    sums->nsobolev += b->nkept;
    sums->values += WORK(floe_lanes_squares)(for_sums(b, s.values), b->padded);
    sums->steps += WORK(floe_lanes_sum)(for_sums(b, s.steps), b->padded);
    sums->seconds += WORK(floe_lanes_sum)(for_sums(b, s.seconds), b->padded);
    sums->twists += WORK(floe_lanes_sum)(for_sums(b, s.twists), b->padded);
}

#endif
