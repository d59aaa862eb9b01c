/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of a signal with itself some steps on. Along an outer axis a tile is walked in strips of a block's width, with a
 * ring of the last rows in L1: each new row meets those before it. Along the row a line meets itself, shifted.
 */
#include "assess/stencil/stencil_fetch_cpu.h"
#include "assess/stencil/stencil_lanes_cpu.h"

enum {
    BLOCK = FLOE_STENCIL_BLOCK,
    LANES = FLOE_STENCIL_LANES,
    GROUP = 5, /* products that share the loads of one side; their sums fill registers */
    ROW = FLOE_STENCIL_ROW
};

typedef floe_stencil_scratch scratch;

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* Sums of a[i] b[g][i] for i from 0 to n - 1. */
static inline void products(const double *a, const double *const *b, int nb, uint64_t n, double *total)
{
    floe_vec sum[GROUP][FLOE_VECS];
    uint64_t i = 0;
    for (int g = 0; g < nb; g++)
        for (int v = 0; v < FLOE_VECS; v++)
            sum[g][v] = floe_vec_of(0);
    for (; i + LANES <= n; i += LANES)
        for (int v = 0; v < FLOE_VECS; v++) {
            const floe_vec x = floe_vec_load(a + i + v * FLOE_VEC);
            for (int g = 0; g < nb; g++)
                sum[g][v] += x * floe_vec_load(b[g] + i + v * FLOE_VEC);
        }
    for (int g = 0; g < nb; g++) {
        floe_lanes l = floe_lanes_of(sum[g]);
        for (uint64_t j = i; j < n; j++)
            l.lane[j - i] += a[j] * b[g][j];
        total[g] = floe_lanes_total(&l);
    }
}

static double product(const double *a, const double *b, uint64_t n)
{
    double total;
    products(a, &b, 1, n, &total);
    return total;
}

/* ---- one stretch of first points with its partners ----------------------------------------------------------------- */

/* A stretch of a row in the signal and in counts (NULL: all count). */
typedef struct stretch {
    const double *signal, *count;
} stretch;

static uint64_t couples(stretch a, stretch b, uint64_t n)
{
    return a.count ? (uint64_t)product(a.count, b.count, n) : n;
}

static stretch behind(stretch s, uint64_t by) { return (stretch){s.signal + by, s.count ? s.count + by : NULL}; }

/* The first nbox of n first points are in the box. */
static void couple_add(floe_stencil_lag *l, stretch a, stretch b, uint64_t nbox, uint64_t n)
{
    if (nbox) {
        l->box += product(a.signal, b.signal, nbox);
        l->nbox += couples(a, b, nbox);
    }
    if (nbox < n) {
        a = behind(a, nbox);
        b = behind(b, nbox);
        l->rest += product(a.signal, b.signal, n - nbox);
        l->nrest += couples(a, b, n - nbox);
    }
}

/* Lags t to t + GROUP - 1 of an array of lags, all points either in the box or not. */
static void group_add(floe_stencil_lag *l, stretch a, const stretch b[GROUP], const bool in_box[GROUP], uint64_t n)
{
    const double *signals[GROUP];
    double total[GROUP];
    for (int g = 0; g < GROUP; g++)
        signals[g] = b[g].signal;
    products(a.signal, signals, GROUP, n, total);
    for (int g = 0; g < GROUP; g++) {
        const uint64_t n_couples = couples(a, b[g], n);
        l[g].box += in_box[g] ? total[g] : 0;
        l[g].nbox += in_box[g] ? n_couples : 0;
        l[g].rest += in_box[g] ? 0 : total[g];
        l[g].nrest += in_box[g] ? 0 : n_couples;
    }
}

/* ---- along the row ----------------------------------------------------------------------------------------------- */

/* The line from `at` on, with its partners behind it, as the signal less its mean. Returns the elements that are there. */
static uint64_t line_fetch(const floe_stencil_job *job, const uint64_t *at, uint64_t n, floe_stencil_line *line)
{
    stencil_fetch(job, at, n, line);
    double *restrict signal = line->f;
    const double *restrict from = job->alone ? line->f : line->e;
    for (uint64_t i = 0; i < n; i++)
        signal[i] = from[i] - job->mean;
    if (job->masked)
        for (uint64_t i = 0; i < n; i++)
            signal[i] = line->count[i] != 0 ? signal[i] : 0;
    return n;
}

static void row_block_add(const floe_stencil_job *job, scratch *s, const uint64_t *at, uint64_t n,
                          floe_stencil_sums *sums)
{
    const uint64_t left = job->pair.shape[ROW] - at[ROW];
    const uint64_t there = line_fetch(job, at, floe_min64(left, n + job->lags), &s->row);
    const uint64_t reach = floe_stencil_reach(job->pair.shape, at, ROW);
    const stretch own = {s->row.f, job->masked ? s->row.count : NULL};
    uint64_t t = 1;
    sums->signal_squares += product(own.signal, own.signal, n);
    sums->nsignal += couples(own, own, n);
    for (; t + GROUP <= job->lags + 1 && n + t + GROUP - 1 <= there; t += GROUP) {
        stretch b[GROUP];
        bool in_box[GROUP];
        for (int g = 0; g < GROUP; g++) {
            b[g] = behind(own, t + (uint64_t)g);
            in_box[g] = t + (uint64_t)g <= reach;
        }
        group_add(&sums->lag[ROW][t - 1], own, b, in_box, n);
    }
    for (; t <= job->lags && t < there; t++) {
        const uint64_t m = floe_min64(n, there - t);
        couple_add(&sums->lag[ROW][t - 1], own, behind(own, t), t <= reach ? m : 0, m);
    }
}

static void row_add(const floe_stencil_job *job, const floe_stencil_box *tile, scratch *s, floe_stencil_sums *sums)
{
    uint64_t at[FLOE_MAX_RANK];
    for (at[0] = tile->lo[0]; at[0] < tile->hi[0]; at[0]++)
        for (at[1] = tile->lo[1]; at[1] < tile->hi[1]; at[1]++)
            for (at[2] = tile->lo[2]; at[2] < tile->hi[2]; at[2]++)
                for (at[3] = tile->lo[3]; at[3] < tile->hi[3]; at[3] += BLOCK)
                    row_block_add(job, s, at, floe_min64(BLOCK, tile->hi[3] - at[3]), sums);
}

/* ---- along an outer axis ------------------------------------------------------------------------------------------- */

static stretch ring_row(const floe_stencil_job *job, const scratch *s, uint64_t i)
{
    const uint64_t slot = i % (job->lags + 1);
    return (stretch){s->ring[slot], job->masked ? s->count[slot] : NULL};
}

static void ring_fetch(const floe_stencil_job *job, scratch *s, const uint64_t *at, uint64_t i, uint64_t n)
{
    const uint64_t slot = i % (job->lags + 1);
    line_fetch(job, at, n, &s->row);
    memcpy(s->ring[slot], s->row.f, n * sizeof(double));
    if (job->masked)
        memcpy(s->count[slot], s->row.count, n * sizeof(double));
}

/* n columns from at[ROW] on, with lags along axis a. */
typedef struct strip {
    const floe_stencil_job *job;
    scratch *s;
    uint64_t *at;
    int a;
    uint64_t n;
    floe_stencil_sums *sums;
} strip;

/* Lags t0 to t1 of the row at `at` with those before it, which are the first points. */
static void ring_add(const strip *p, uint64_t t0, uint64_t t1)
{
    const floe_stencil_job *job = p->job;
    const scratch *s = p->s;
    const uint64_t *at = p->at, n = p->n;
    const int a = p->a;
    floe_stencil_lag *lag = p->sums->lag[a];
    const uint64_t width = job->pair.shape[ROW], left = width - at[ROW];
    uint64_t outer[FLOE_MAX_RANK], t = t0;
    memcpy(outer, at, sizeof outer);
    outer[ROW] = 0; /* how far columns reach along the row is looked at below */
    const uint64_t reach = floe_stencil_reach(job->pair.shape, outer, (uint32_t)a);
    const stretch now = ring_row(job, s, at[a]);
    const bool whole = width == 1 || n + t1 <= left;
    for (; whole && t + GROUP <= t1 + 1; t += GROUP) {
        stretch b[GROUP];
        bool in_box[GROUP];
        for (int g = 0; g < GROUP; g++) {
            b[g] = ring_row(job, s, at[a] - t - (uint64_t)g);
            in_box[g] = t + (uint64_t)g <= reach;
        }
        group_add(&lag[t - 1], now, b, in_box, n);
    }
    for (; t <= t1; t++) {
        const uint64_t fit = width == 1 ? n : t < left ? floe_min64(left - t, n) : 0;
        couple_add(&lag[t - 1], now, ring_row(job, s, at[a] - t), t <= reach ? fit : 0, n);
    }
}

/* First points lo to hi - 1. */
static void strip_add(const strip *p, uint64_t lo, uint64_t hi)
{
    const uint64_t last = floe_min64(p->job->pair.shape[p->a] - 1, hi - 1 + p->job->lags);
    for (uint64_t i = lo; i <= last; i++) {
        p->at[p->a] = i;
        ring_fetch(p->job, p->s, p->at, i, p->n);
        const uint64_t t0 = i < hi ? 1 : i - hi + 1, t1 = floe_min64(p->job->lags, i - lo);
        if (t0 <= t1)
            ring_add(p, t0, t1);
    }
    p->at[p->a] = lo;
}

static void axis_add(const floe_stencil_job *job, const floe_stencil_box *tile, int a, scratch *s,
                     floe_stencil_sums *sums)
{
    uint64_t hi[FLOE_MAX_RANK], at[FLOE_MAX_RANK];
    memcpy(hi, tile->hi, sizeof hi);
    hi[a] = tile->lo[a] + 1;
    for (at[0] = tile->lo[0]; at[0] < hi[0]; at[0]++)
        for (at[1] = tile->lo[1]; at[1] < hi[1]; at[1]++)
            for (at[2] = tile->lo[2]; at[2] < hi[2]; at[2]++)
                for (at[3] = tile->lo[3]; at[3] < hi[3]; at[3] += BLOCK) {
                    const strip p = {job, s, at, a, floe_min64(BLOCK, hi[3] - at[3]), sums};
                    strip_add(&p, tile->lo[a], tile->hi[a]);
                }
}

void FLOE_V(floe_stencil_lags)(const floe_stencil_job *job, const floe_stencil_box *tile, scratch *s,
                               floe_stencil_sums *sums)
{
    row_add(job, tile, s, sums);
    for (int a = 0; a < FLOE_STENCIL_OUTER; a++)
        if (job->pair.shape[a] > 1)
            axis_add(job, tile, a, s, sums);
}
