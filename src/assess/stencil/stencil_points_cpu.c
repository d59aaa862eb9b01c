/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block is a stretch of a row. Its own line and those of its neighbours are fetched in double; then, axis after axis, each
 * quantity is worked out at all points of the block and added up, while the quantities that join the axes grow.
 */
#include "assess/stencil/stencil_fetch_cpu.h"
#include "assess/stencil/stencil_lanes_cpu.h"

enum { BLOCK = FLOE_STENCIL_BLOCK, LANES = FLOE_STENCIL_LANES, OUTER = FLOE_STENCIL_OUTER, ROW = FLOE_STENCIL_ROW };

typedef floe_stencil_scratch scratch;

/* ---- adding up --------------------------------------------------------------------------------------------------- */

static void side_add(floe_stencil_moments *m, int side, const double *restrict x, size_t n)
{
    floe_vec min[FLOE_VECS], max[FLOE_VECS], squares[FLOE_VECS];
    size_t i = 0;
    for (int v = 0; v < FLOE_VECS; v++)
        min[v] = floe_vec_of(m->min[side]), max[v] = floe_vec_of(m->max[side]), squares[v] = floe_vec_of(0);
    for (; i + LANES <= n; i += LANES)
        for (int v = 0; v < FLOE_VECS; v++) {
            const floe_vec w = floe_vec_load(x + i + v * FLOE_VEC);
            min[v] = floe_vec_min(min[v], w);
            max[v] = floe_vec_max(max[v], w);
            squares[v] += w * w;
        }
    floe_lanes low = floe_lanes_of(min), high = floe_lanes_of(max), total = floe_lanes_of(squares);
    for (size_t j = i; j < n; j++) {
        low.lane[j - i] = x[j] < low.lane[j - i] ? x[j] : low.lane[j - i];
        high.lane[j - i] = x[j] > high.lane[j - i] ? x[j] : high.lane[j - i];
        total.lane[j - i] += x[j] * x[j];
    }
    for (size_t j = 0; j < LANES; j++) {
        m->min[side] = low.lane[j] < m->min[side] ? low.lane[j] : m->min[side];
        m->max[side] = high.lane[j] > m->max[side] ? high.lane[j] : m->max[side];
    }
    m->squares[side] += floe_lanes_total(&total);
}

static void error_add(floe_stencil_moments *m, const double *restrict x, size_t n)
{
    floe_vec max[FLOE_VECS], squares[FLOE_VECS];
    size_t i = 0;
    for (int v = 0; v < FLOE_VECS; v++)
        max[v] = squares[v] = floe_vec_of(0);
    for (; i + LANES <= n; i += LANES)
        for (int v = 0; v < FLOE_VECS; v++) {
            const floe_vec w = floe_vec_load(x + i + v * FLOE_VEC);
            max[v] = floe_vec_max(max[v], floe_vec_abs(w));
            squares[v] += w * w;
        }
    floe_lanes high = floe_lanes_of(max), total = floe_lanes_of(squares);
    for (size_t j = i; j < n; j++) {
        high.lane[j - i] = fabs(x[j]) > high.lane[j - i] ? fabs(x[j]) : high.lane[j - i];
        total.lane[j - i] += x[j] * x[j];
    }
    for (size_t j = 0; j < LANES; j++)
        m->max_error = high.lane[j] > m->max_error ? high.lane[j] : m->max_error;
    m->error_squares += floe_lanes_total(&total);
}

static void pack(const scratch *s, double *restrict to, const double *restrict from)
{
    for (uint32_t k = 0; k < s->nkept; k++)
        to[k] = from[s->keep[k]];
}

static void write_out(const floe_stencil_job *job, const scratch *s, const uint64_t *at, const floe_stencil_trio *t)
{
    uint64_t place = 0;
    for (int a = 0; a < FLOE_STENCIL_AXES; a++)
        place = place * job->pair.shape[a] + at[a];
    for (uint32_t k = 0; k < s->nkept; k++) {
        if (job->out[0])
            job->out[0][place + s->keep[k]] = t->f[s->keep[k]];
        if (job->out[1])
            job->out[1][place + s->keep[k]] = t->g[s->keep[k]];
    }
}

/* A quantity at the n points from `at` on is done. */
static void take(const floe_stencil_job *job, scratch *s, const uint64_t *at, uint64_t n, int quantity,
                 const floe_stencil_trio *t, floe_stencil_sums *sums)
{
    floe_stencil_moments *m = &sums->of[quantity];
    if (job->out[0] || job->out[1]) {
        if (quantity == (int)job->wanted)
            write_out(job, s, at, t);
        return;
    }
    if (s->nkept < n) {
        pack(s, s->kept.f, t->f);
        pack(s, s->kept.g, t->g);
        pack(s, s->kept.e, t->e);
        t = &s->kept;
    }
    side_add(m, 0, t->f, s->nkept);
    if (job->alone)
        return;
    side_add(m, 1, t->g, s->nkept);
    error_add(m, t->e, s->nkept);
}

/* ---- quantities -------------------------------------------------------------------------------------------------- */

/* Values of one side at the points of a block and at their neighbours along an axis. */
typedef struct around {
    const double *minus, *at, *plus;
} around;

static void first(double *restrict d, around r, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++)
        d[j] = floe_stencil_first(r.minus[j], r.plus[j]);
}

static void second(double *restrict d, around r, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++)
        d[j] = floe_stencil_second(r.minus[j], r.at[j], r.plus[j]);
}

/* Adds the derivatives along one axis to what joins the axes; `scale` makes Eq. 1 of a first derivative. */
static void join_axis(floe_stencil_trio *restrict one, floe_stencil_trio *restrict sum,
                      floe_stencil_trio *restrict squares, floe_stencil_trio *restrict trace, double scale, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++) {
        const double f = one->f[j], e = one->e[j], g = f + e;
        one->g[j] = g;
        sum->f[j] += scale * fabs(f);
        sum->g[j] += scale * fabs(g);
        squares->f[j] += f * f;
        squares->g[j] += g * g;
        trace->f[j] += f;
        trace->e[j] += e;
    }
}

static void clear_joined(scratch *s, uint64_t n)
{
    for (int order = 0; order < 2; order++) {
        memset(s->sum[order].f, 0, n * sizeof(double));
        memset(s->sum[order].g, 0, n * sizeof(double));
        memset(s->squares[order].f, 0, n * sizeof(double));
        memset(s->squares[order].g, 0, n * sizeof(double));
        memset(s->trace[order].f, 0, n * sizeof(double));
        memset(s->trace[order].e, 0, n * sizeof(double));
    }
}

/* Squares become the length; differences and the decoded trace are worked out. */
static void finish_joined(floe_stencil_trio *restrict sum, floe_stencil_trio *restrict squares,
                          floe_stencil_trio *restrict trace, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++) {
        sum->e[j] = sum->g[j] - sum->f[j];
        trace->g[j] = trace->f[j] + trace->e[j];
    }
    for (uint64_t j = 0; j < n; j++)
        squares->f[j] = sqrt(squares->f[j]);
    for (uint64_t j = 0; j < n; j++)
        squares->g[j] = sqrt(squares->g[j]);
    for (uint64_t j = 0; j < n; j++)
        squares->e[j] = squares->g[j] - squares->f[j];
}

static around around_of(const scratch *s, int a, bool errors)
{
    if (a == ROW) {
        const double *v = errors ? s->at.e : s->at.f;
        return (around){v, v + 1, v + 2};
    }
    if (errors)
        return (around){s->minus[a].e, s->at.e + 1, s->plus[a].e};
    return (around){s->minus[a].f, s->at.f + 1, s->plus[a].f};
}

static void quantities_add(const floe_stencil_job *job, scratch *s, const uint64_t *at, uint64_t n,
                           floe_stencil_sums *sums)
{
    static const int joined[2][3] = {{FLOE_STENCIL_FIRST_SUM, FLOE_STENCIL_FIRST_LENGTH, FLOE_STENCIL_DIVERGENCE},
                                     {FLOE_STENCIL_SECOND_SUM, FLOE_STENCIL_SECOND_LENGTH, FLOE_STENCIL_LAPLACIAN}};
    clear_joined(s, n);
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        if (!(job->active >> a & 1))
            continue;
        const around f = around_of(s, a, false), e = around_of(s, a, true);
        first(s->one.f, f, n);
        first(s->one.e, e, n);
        join_axis(&s->one, &s->sum[0], &s->squares[0], &s->trace[0], 2, n);
        take(job, s, at, n, FLOE_STENCIL_FIRST + a, &s->one, sums);
        second(s->one.f, f, n);
        second(s->one.e, e, n);
        join_axis(&s->one, &s->sum[1], &s->squares[1], &s->trace[1], 1, n);
        take(job, s, at, n, FLOE_STENCIL_SECOND + a, &s->one, sums);
    }
    for (int order = 0; order < 2; order++) {
        finish_joined(&s->sum[order], &s->squares[order], &s->trace[order], n);
        take(job, s, at, n, joined[order][0], &s->sum[order], sums);
        take(job, s, at, n, joined[order][1], &s->squares[order], sums);
        take(job, s, at, n, joined[order][2], &s->trace[order], sums);
    }
}

/* ---- Sobolev norms ----------------------------------------------------------------------------------------------- */

/* Values at one corner of the points' stencils: element j + shift of a line is point j's. */
typedef struct corner {
    const floe_stencil_line *line;
    uint32_t shift;
} corner;

static const floe_stencil_line *corner_fetch(const floe_stencil_job *job, scratch *s, int k, const uint64_t *at, int a,
                                             int b, uint64_t n)
{
    uint64_t to[FLOE_MAX_RANK];
    memcpy(to, at, sizeof to);
    to[a] = k & 2 ? at[a] + 1 : at[a] - 1;
    to[b] = k & 1 ? at[b] + 1 : at[b] - 1;
    stencil_fetch(job, to, n, &s->corner[k]);
    return &s->corner[k];
}

/* The four corners of axes a < b, minus and plus along a, then b. Where b is the row's own two lines have them all. */
static void corners_fetch(const floe_stencil_job *job, scratch *s, const uint64_t *at, uint64_t n, int a, int b,
                          corner c[4])
{
    for (int k = 0; k < 4; k++)
        if (b != ROW)
            c[k] = (corner){corner_fetch(job, s, k, at, a, b, n), 0};
        else if (k & 1)
            c[k] = (corner){c[k - 1].line, 2};
        else
            c[k] = (corner){corner_fetch(job, s, k, at, a, b, n + 2), 0};
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
static void corners_keep(scratch *s, const corner c[4])
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < s->nkept; k++) {
        const uint32_t j = s->keep[k];
        bool counts = true;
        for (int i = 0; i < 4; i++)
            counts = counts && c[i].line->count[j + c[i].shift] != 0;
        s->keep[kept] = j;
        kept += counts;
    }
    s->nkept = kept;
}

static double sum_of(const scratch *s, const double *v)
{
    floe_lanes total = {{0}};
    for (uint32_t k = 0; k < s->nkept; k++)
        total.lane[k % LANES] += v[s->keep[k]];
    return floe_lanes_total(&total);
}

static void axis_squares_add(around r, double *restrict firsts, double *restrict seconds, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++) {
        const double d = floe_stencil_first(r.minus[j], r.plus[j]);
        const double dd = floe_stencil_second(r.minus[j], r.at[j], r.plus[j]);
        firsts[j] += d * d;
        seconds[j] += dd * dd;
    }
}

/* The last that is done with a block: it may leave out more points. */
static void sobolev_add(const floe_stencil_job *job, scratch *s, const uint64_t *at, uint64_t n,
                        floe_stencil_sums *sums)
{
    double *restrict values = s->one.f, *restrict firsts = s->one.g, *restrict seconds = s->one.e;
    corner c[4];
    for (uint64_t j = 0; j < n; j++) {
        values[j] = s->at.f[j + 1] * s->at.f[j + 1];
        firsts[j] = seconds[j] = 0;
    }
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        if (!(job->active >> a & 1))
            continue;
        axis_squares_add(around_of(s, a, false), firsts, seconds, n);
        for (int b = a + 1; b < FLOE_STENCIL_AXES; b++) {
            if (!(job->active >> b & 1))
                continue;
            corners_fetch(job, s, at, n, a, b, c);
            corners_add(seconds, c, n);
            if (job->masked)
                corners_keep(s, c);
        }
    }
    sums->nsobolev += s->nkept;
    sums->sobolev[0] += sum_of(s, values);
    sums->sobolev[1] += sum_of(s, firsts);
    sums->sobolev[2] += sum_of(s, seconds);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void lines_fetch(const floe_stencil_job *job, scratch *s, const uint64_t *at, uint64_t n)
{
    const uint32_t in_row = job->active >> ROW & 1;
    uint64_t to[FLOE_MAX_RANK];
    memcpy(to, at, sizeof to);
    to[ROW] -= in_row;
    /* Without neighbours in the row its line begins at the first point: it is moved to where it would else lie. */
    stencil_fetch(job, to, n + 2 * in_row, &s->at);
    if (!in_row) {
        memmove(s->at.f + 1, s->at.f, n * sizeof(double));
        memmove(s->at.e + 1, s->at.e, n * sizeof(double));
        memmove(s->at.count + 1, s->at.count, n * sizeof(double));
    }
    for (int a = 0; a < OUTER; a++) {
        if (!(job->active >> a & 1))
            continue;
        memcpy(to, at, sizeof to);
        to[a] = at[a] - 1;
        stencil_fetch(job, to, n, &s->minus[a]);
        to[a] = at[a] + 1;
        stencil_fetch(job, to, n, &s->plus[a]);
    }
}

static bool point_counts(const floe_stencil_job *job, const scratch *s, uint32_t j)
{
    bool counts = s->at.count[j + 1] != 0;
    if (job->active >> ROW & 1)
        counts = counts && s->at.count[j] != 0 && s->at.count[j + 2] != 0;
    for (int a = 0; a < OUTER; a++)
        if (job->active >> a & 1)
            counts = counts && s->minus[a].count[j] != 0 && s->plus[a].count[j] != 0;
    return counts;
}

/* Which points of the block have a whole stencil. */
static void points_keep(const floe_stencil_job *job, scratch *s, uint64_t n)
{
    s->nkept = (uint32_t)n;
    for (uint32_t j = 0; j < n; j++)
        s->keep[j] = j;
    if (!job->masked)
        return;
    s->nkept = 0;
    for (uint32_t j = 0; j < n; j++) {
        s->keep[s->nkept] = j;
        s->nkept += point_counts(job, s, j);
    }
}

static void block_add(const floe_stencil_job *job, scratch *s, const uint64_t *at, uint64_t n, floe_stencil_sums *sums)
{
    lines_fetch(job, s, at, n);
    points_keep(job, s, n);
    if (job->derivatives) {
        sums->npoints += s->nkept;
        sums->nskipped += n - s->nkept;
        quantities_add(job, s, at, n, sums);
    }
    if (job->sobolev)
        sobolev_add(job, s, at, n, sums);
}

void FLOE_V(floe_stencil_points)(const floe_stencil_job *job, const floe_stencil_box *tile, scratch *s,
                                 floe_stencil_sums *sums)
{
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], at[FLOE_MAX_RANK];
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        const uint64_t edge = job->active >> a & 1;
        lo[a] = floe_max64(tile->lo[a], edge);
        hi[a] = floe_min64(tile->hi[a], job->pair.shape[a] - edge);
    }
    for (at[0] = lo[0]; at[0] < hi[0]; at[0]++)
        for (at[1] = lo[1]; at[1] < hi[1]; at[1]++)
            for (at[2] = lo[2]; at[2] < hi[2]; at[2]++)
                for (at[3] = lo[3]; at[3] < hi[3]; at[3] += BLOCK)
                    block_add(job, s, at, floe_min64(BLOCK, hi[3] - at[3]), sums);
}
