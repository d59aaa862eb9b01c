/* SPDX-License-Identifier: BSD-3-Clause */
/* Sobolev norms of the original: blocks of a row with their neighbours and the corners of each two axes. */
#define FLOE_WORK_BITS 64
#include "assess/stencil/stencil_rows_cpu.h"

#include "assess/stencil/stencil_lanes_cpu.h"

/* What is added up at the points of a block: squares of values, of first and of second derivatives. */
typedef struct norms {
    double values[BLOCK], firsts[BLOCK], seconds[BLOCK];
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

static void corners_add(double *restrict seconds, const corner c[4], uint64_t n)
{
    const double *mm = c[0].line->f + c[0].shift, *mp = c[1].line->f + c[1].shift;
    const double *pm = c[2].line->f + c[2].shift, *pp = c[3].line->f + c[3].shift;
    for (uint64_t j = 0; j < n; j++) {
        const double d = floe_stencil_mixed(mm[j], mp[j], pm[j], pp[j]);
        seconds[j] += d * d;
    }
}

/* Points of which a corner does not count are left out. */
static void corners_judge(block *b, const corner c[4])
{
    for (uint64_t j = 0; j < b->n; j++)
        for (int k = 0; k < 4; k++)
            b->keep[j] &= c[k].line->count[j + c[k].shift];
}

static void axis_add(const double *minus, const double *at, const double *plus, double *restrict firsts,
                     double *restrict seconds, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++) {
        const double d = floe_stencil_first(minus[j], plus[j]);
        const double dd = floe_stencil_second_f64(minus[j], at[j], plus[j]);
        firsts[j] += d * d;
        seconds[j] += dd * dd;
    }
}

static double sum_of(const block *b, const double *v)
{
    floe_lanes total = {{0}};
    for (uint32_t j = 0; j < b->n; j++)
        total.lane[j % FLOE_STENCIL_LANES] += b->keep[j] ? v[j] : 0;
    return floe_lanes_total(&total);
}

static void norms_add(const floe_stencil_job *job, block *b, const uint64_t *at, norms *s)
{
    line lines[4];
    corner c[4];
    for (uint64_t j = 0; j < b->n; j++) {
        s->values[j] = b->at.f[j + 1] * b->at.f[j + 1];
        s->firsts[j] = s->seconds[j] = 0;
    }
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        if (!(job->active >> a & 1))
            continue;
        const double *minus = a == ROW ? b->at.f : b->minus[a].f, *plus = a == ROW ? b->at.f + 2 : b->plus[a].f;
        axis_add(minus, b->at.f + 1, plus, s->firsts, s->seconds, b->n);
        for (int other = a + 1; other < FLOE_STENCIL_AXES; other++) {
            if (!(job->active >> other & 1))
                continue;
            corners_fetch(job, at, b->n, a, other, lines, c);
            corners_add(s->seconds, c, b->n);
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
    sums->sobolev[0] += sum_of(b, s.values);
    sums->sobolev[1] += sum_of(b, s.firsts);
    sums->sobolev[2] += sum_of(b, s.seconds);
}

void FLOE_V(floe_stencil_sobolev)(const floe_stencil_job *job, const floe_stencil_box *tile, floe_stencil_sums *sums)
{
    tile_walk(job, tile, block_add, sums);
}
