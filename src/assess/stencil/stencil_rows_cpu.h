/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of a row with their neighbours, in the type that they are worked on in: FLOE_WORK_BITS is 32 or 64. */
#ifndef FLOE_ASSESS_STENCIL_ROWS_CPU_H
#define FLOE_ASSESS_STENCIL_ROWS_CPU_H

#include <string.h>

#include "assess/stencil/stencil_fetch_cpu.h"

#if FLOE_WORK_BITS == 32
typedef float work;
typedef uint32_t work_bits;
#define WORK(name) name##_f32
#else
typedef double work;
typedef uint64_t work_bits;
#define WORK(name) name##_f64
#endif

enum {
    BLOCK = FLOE_STENCIL_BLOCK,
    OUTER = FLOE_STENCIL_OUTER,
    ROW = FLOE_STENCIL_ROW,
    STEP = FLOE_STENCIL_QUAD * FLOE_STENCIL_LANES, /* points are worked on that many together */
    LINE = BLOCK + 2
};

/* Values times the job's scale, errors, and all bits where the pair counts, else 0 (masked jobs only). */
typedef struct line {
    work f[LINE], e[LINE];
    work_bits count[LINE];
} line;

/* Points x to x + n - 1 of a row: the points' own line, which begins one element before them, and those around it. Elements
 * that are not in the field are 0. */
typedef struct block {
    line at, minus[OUTER], plus[OUTER];
    uint64_t n, padded;    /* padded: n rounded up to whole steps */
    work_bits keep[BLOCK]; /* all bits for points that are not left out */
    work blanked[BLOCK];   /* a quantity without those that are */
    uint32_t npoints;      /* which have neighbours; */
    uint32_t nkept, first; /* of these, points that are not left out, and one of them */
} block;

/* ---- fetching ---------------------------------------------------------------------------------------------------- */

/* Steps are constants where this is inlined for dense rows. */
static inline void steps_fetch(const floe_stencil_job *job, const floe_real *x, int64_t dx, const floe_real *y,
                               int64_t dy, uint64_t n, uint64_t to, line *l)
{
    const work scale = FLOE_WORK_BITS == 32 ? (work)job->scale : 1;
    work *restrict f = l->f + to, *restrict e = l->e + to;
    work_bits *restrict count = l->count + to;
    for (uint64_t i = 0; i < n; i++) {
        const work v = (work)x[(int64_t)i * dx] * scale;
        f[i] = v;
        e[i] = (work)y[(int64_t)i * dy] * scale - v;
    }
    if (!job->masked)
        return;
    for (uint64_t i = 0; i < n; i++) {
        const floe_uint fill = (floe_uint)job->pair.fill_bits;
        const bool counts = stencil_counts(x[(int64_t)i * dx], y[(int64_t)i * dy], job->pair.has_fill, fill) != 0;
        count[i] = (work_bits)0 - (work_bits)counts;
    }
}

static void line_blank(line *l, uint64_t lo, uint64_t hi, bool masked)
{
    memset(l->f + lo, 0, (hi - lo) * sizeof *l->f);
    memset(l->e + lo, 0, (hi - lo) * sizeof *l->e);
    if (masked)
        memset(l->count + lo, 0, (hi - lo) * sizeof *l->count);
}

/* n elements of the row through `at`, from there on, become the line's from `to` on; the line's others are 0. */
static void line_fetch(const floe_stencil_job *job, const uint64_t *at, uint64_t n, uint64_t to, line *l)
{
    const stencil_row r = stencil_row_at(&job->pair, at);
    line_blank(l, 0, to, job->masked);
    line_blank(l, to + n, LINE, job->masked);
    if (r.dx == 1 && r.dy == 1)
        steps_fetch(job, r.x, 1, r.y, 1, n, to, l);
    else
        steps_fetch(job, r.x, r.dx, r.y, r.dy, n, to, l);
}

/* The points' own line: with the elements before and after them, where they are there. */
static void own_fetch(const floe_stencil_job *job, const uint64_t *at, uint64_t n, line *l)
{
    uint64_t from[FLOE_MAX_RANK];
    const uint64_t before = at[ROW] > 0, after = at[ROW] + n < job->pair.shape[ROW];
    memcpy(from, at, sizeof from);
    from[ROW] -= before;
    line_fetch(job, from, n + before + after, 1 - before, l);
}

static void block_fetch(const floe_stencil_job *job, const uint64_t *at, uint64_t n, block *b)
{
    uint64_t to[FLOE_MAX_RANK];
    memcpy(to, at, sizeof to);
    b->n = n;
    b->padded = floe_ceil_div(n, STEP) * STEP;
    own_fetch(job, at, n, &b->at);
    for (int a = 0; a < OUTER; a++) {
        if (!(job->active >> a & 1))
            continue;
        to[a] = at[a] - 1;
        line_fetch(job, to, n, 0, &b->minus[a]);
        to[a] = at[a] + 1;
        line_fetch(job, to, n, 0, &b->plus[a]);
        to[a] = at[a];
    }
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* Points some value of whose stencil does not count are left out. */
static void stencils_judge(const floe_stencil_job *job, block *b)
{
    for (uint64_t j = 0; j < b->n; j++)
        b->keep[j] &= b->at.count[j + 1];
    for (uint64_t j = 0; job->active >> ROW & 1 && j < b->n; j++)
        b->keep[j] &= b->at.count[j] & b->at.count[j + 2];
    for (int a = 0; a < OUTER; a++)
        for (uint64_t j = 0; job->active >> a & 1 && j < b->n; j++)
            b->keep[j] &= b->minus[a].count[j] & b->plus[a].count[j];
}

static void kept_count(block *b)
{
    b->nkept = b->first = 0;
    for (uint32_t j = (uint32_t)b->n; j-- > 0;) {
        b->first = b->keep[j] ? j : b->first;
        b->nkept += b->keep[j] != 0;
    }
}

/* Which points of the block have neighbours, and which of them are not left out. */
static void points_keep(const floe_stencil_job *job, const uint64_t *at, block *b)
{
    const uint64_t edge = job->active >> ROW & 1, behind = job->pair.shape[ROW] - edge;
    const uint64_t lo = at[ROW]<edge, hi = at[ROW] + b->n> behind ? behind - floe_min64(behind, at[ROW]) : b->n;
    memset(b->keep, 0, sizeof b->keep);
    for (uint64_t j = lo; j < hi; j++)
        b->keep[j] = ~(work_bits)0;
    b->npoints = (uint32_t)(hi > lo ? hi - lo : 0);
    if (job->masked)
        stencils_judge(job, b);
    kept_count(b);
}

/* Points that are left out become 0 for sums, and one that is not for extremes. */
static inline void blank(work *restrict to, const work *restrict from, const block *b, work other)
{
    work_bits instead;
    memcpy(&instead, &other, sizeof instead);
    for (uint64_t j = 0; j < b->padded; j++) {
        work_bits bits;
        memcpy(&bits, from + j, sizeof bits);
        bits = (bits & b->keep[j]) | (instead & ~b->keep[j]);
        memcpy(to + j, &bits, sizeof bits);
    }
}

static const work *for_sums(block *b, const work *x)
{
    if (b->nkept == b->padded)
        return x;
    blank(b->blanked, x, b, 0);
    return b->blanked;
}

/* ---- blocks of a tile -------------------------------------------------------------------------------------------- */

typedef void block_fn(const floe_stencil_job *job, block *b, const uint64_t *at, uint64_t n, floe_stencil_sums *sums);

/* Blocks begin where tiles do, so at multiples of FLOE_STENCIL_QUAD; the row's ends are in them. */
static void tile_walk(const floe_stencil_job *job, const floe_stencil_box *tile, block_fn *add, floe_stencil_sums *sums)
{
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], at[FLOE_MAX_RANK];
    block b;
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        const uint64_t edge = a != ROW && job->active >> a & 1;
        lo[a] = floe_max64(tile->lo[a], edge);
        hi[a] = floe_min64(tile->hi[a], job->pair.shape[a] - edge);
    }
    for (at[0] = lo[0]; at[0] < hi[0]; at[0]++)
        for (at[1] = lo[1]; at[1] < hi[1]; at[1]++)
            for (at[2] = lo[2]; at[2] < hi[2]; at[2]++)
                for (at[ROW] = lo[ROW]; at[ROW] < hi[ROW]; at[ROW] += BLOCK)
                    add(job, &b, at, floe_min64(BLOCK, hi[ROW] - at[ROW]), sums);
}

#endif
