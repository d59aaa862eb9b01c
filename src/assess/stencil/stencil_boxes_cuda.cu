/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derivatives and Sobolev norms together, of 3-D f32 fields in single, on a GPU: most of what norms need is there already. A
 * block has a box of some rows, 32 groups of each, and marches along z with it. Four planes of the box and of what lies around
 * it take turns in shared memory, of both sides: the one that is worked on, those before and behind it, and one that is on its
 * way. A thread has one group of each plane.
 */
#include "assess/stencil/stencil_tallies_cuda.cuh"

namespace
{

enum {
    V = V_OF(float),
    PLANES = 4,
    TILE_ROWS = WARPS + 2,
    TILE_GROUPS = FLOE_WARP + 2,
    TILE = TILE_ROWS * TILE_GROUPS, /* groups of a side */
    SHARES = (TILE + THREADS - 1) / THREADS,
    WORDS = FLOE_STENCIL_POINTS_WORDS + FLOE_STENCIL_SOBOLEV_WORDS /* of a block */
};

typedef vector_of<float, V> vec;

/* Of a plane: rows from the one before the box's first to the one behind its last, each from the group before the box to the one
 * behind it. */
struct tile {
    vec of[2][TILE_ROWS][TILE_GROUPS];
};

/* ---- boxes --------------------------------------------------------------------------------------------------------- */

struct box {
    uint64_t w, y, group, lo, hi; /* first row and group; points lie in planes lo to hi - 1 */
};

FLOE_HD uint64_t groups_of(const floe_stencil_dev_job *j) { return j->shape[3] / V; }

FLOE_HD uint64_t boxes_of(const floe_stencil_dev_job *j)
{
    return points_along(j, 0) * floe_ceil_div(points_along(j, 1), CHUNK) * floe_ceil_div(points_along(j, 2), WARPS) *
           floe_ceil_div(groups_of(j), FLOE_WARP);
}

FLOE_DEV box box_of(const floe_stencil_dev_job *j, uint64_t i)
{
    const uint64_t nx = floe_ceil_div(groups_of(j), FLOE_WARP), ny = floe_ceil_div(points_along(j, 2), WARPS);
    const uint64_t nz = floe_ceil_div(points_along(j, 1), CHUNK);
    box b;
    b.group = i % nx * FLOE_WARP;
    b.y = i / nx % ny * WARPS + 1;
    b.lo = i / nx / ny % nz * CHUNK + 1;
    b.w = i / nx / ny / nz;
    b.hi = floe_min64(b.lo + CHUNK, j->shape[1] - 1);
    return b;
}

/* ---- planes on their way --------------------------------------------------------------------------------------------- */

/* What a thread fetches of each plane: the vectors of a tile in turn. */
struct feed {
    const float *from[2][SHARES];
    bool has[SHARES];
};

FLOE_DEV feed feed_of(const floe_stencil_dev_job *j, const box &b)
{
    feed f;
#pragma unroll
    for (uint32_t k = 0; k < SHARES; k++) {
        const uint32_t i = threadIdx.x + k * THREADS;
        const uint64_t row = b.y + i / TILE_GROUPS, group = b.group + i % TILE_GROUPS; /* both one too large */
        f.has[k] = i < TILE && row <= j->shape[2] && group > 0 && group <= groups_of(j);
        f.from[0][k] = (const float *)j->x + floe_stencil_offset(j->dx, b.w, b.lo - 1, row - 1, (group - 1) * V);
        f.from[1][k] = (const float *)j->y + floe_stencil_offset(j->dy, b.w, b.lo - 1, row - 1, (group - 1) * V);
    }
    return f;
}

FLOE_DEV void plane_begin(const floe_stencil_dev_job *j, feed *f, tile *t)
{
#pragma unroll
    for (uint32_t k = 0; k < SHARES; k++) {
        if (f->has[k]) {
            floe_copy16_async(&t->of[0][0][0] + threadIdx.x + k * THREADS, f->from[0][k]);
            floe_copy16_async(&t->of[1][0][0] + threadIdx.x + k * THREADS, f->from[1][k]);
        }
        f->from[0][k] += j->dx[1];
        f->from[1][k] += j->dy[1];
    }
    floe_copy_async_commit();
}

/* ---- stencils ------------------------------------------------------------------------------------------------------ */

/* A thread's own group in a tile, and the one some rows on. */
FLOE_DEV floe_group<float> group_of(const tile &t, int rows)
{
    const uint32_t row = threadIdx.x / FLOE_WARP + 1 + rows, at = floe_lane() + 1;
    const raw<float, V> r = {t.of[0][row][at], t.of[1][row][at]};
    return group_make<true, float>(NULL, r);
}

/* The elements before and behind it. */
FLOE_DEV float left_of(const tile &t, int side, int rows)
{
    return t.of[side][threadIdx.x / FLOE_WARP + 1 + rows][floe_lane()].v[V - 1];
}
FLOE_DEV float right_of(const tile &t, int side, int rows)
{
    return t.of[side][threadIdx.x / FLOE_WARP + 1 + rows][floe_lane() + 2].v[0];
}

/* The first and last points that have no neighbours become like the ones beside them, without errors. points: bits of those
 * that have some. */
FLOE_DEV void ends_patch(floe_group<float> *g, uint32_t points)
{
    const bool first = points & 1, last = points >> (V - 1);
    g->f[0] = first ? g->f[0] : g->f[1];
    g->e[0] = first ? g->e[0] : 0;
    g->f[V - 1] = last ? g->f[V - 1] : g->f[V - 2];
    g->e[V - 1] = last ? g->e[V - 1] : 0;
}

template <bool EDGE>
FLOE_DEV around<float> around_of(const tile &before, const tile &here, const tile &behind, uint32_t points)
{
    around<float> r;
    r.at = group_of(here, 0);
    r.minus[1] = group_of(before, 0), r.plus[1] = group_of(behind, 0);
    r.minus[2] = group_of(here, -1), r.plus[2] = group_of(here, 1);
#pragma unroll
    for (int i = 1; i < V; i++) {
        r.minus[3].f[i] = r.at.f[i - 1], r.minus[3].e[i] = r.at.e[i - 1];
        r.plus[3].f[i - 1] = r.at.f[i], r.plus[3].e[i - 1] = r.at.e[i];
    }
    cell_make<true>(NULL, left_of(here, 0, 0), left_of(here, 1, 0), &r.minus[3].f[0], &r.minus[3].e[0]);
    cell_make<true>(NULL, right_of(here, 0, 0), right_of(here, 1, 0), &r.plus[3].f[V - 1], &r.plus[3].e[V - 1]);
    if (EDGE) {
        ends_patch(&r.at, points);
#pragma unroll
        for (int a = 1; a < FLOE_STENCIL_AXES; a++) {
            ends_patch(&r.minus[a], points);
            ends_patch(&r.plus[a], points);
        }
    }
    return r;
}

/* ---- Sobolev norms --------------------------------------------------------------------------------------------------- */

/* Sums of squares; those of steps are kept with the derivatives. */
struct norms {
    double values, seconds, twists;
};

/* Steps along the row, some rows on. */
FLOE_DEV void steps_of(const tile &t, int rows, float (&steps)[V])
{
    const vec v = t.of[0][threadIdx.x / FLOE_WARP + 1 + rows][floe_lane() + 1];
    steps[0] = floe_step(left_of(t, 0, rows), v.v[1]);
    steps[V - 1] = floe_step(v.v[V - 2], right_of(t, 0, rows));
#pragma unroll
    for (int i = 1; i < V - 1; i++)
        steps[i] = floe_step(v.v[i - 1], v.v[i + 1]);
}

/* Steps along y. */
FLOE_DEV void climbs_of(const tile &t, float (&steps)[V])
{
    const uint32_t row = threadIdx.x / FLOE_WARP + 1, at = floe_lane() + 1;
    const vec minus = t.of[0][row - 1][at], plus = t.of[0][row + 1][at];
#pragma unroll
    for (int i = 0; i < V; i++)
        steps[i] = floe_step(minus.v[i], plus.v[i]);
}

/* Squares of twists are added up pair after pair: zy, zx, yx. */
template <bool EDGE>
FLOE_DEV void norms_add(const tile &before, const tile &here, const tile &behind, const floe_group<float> &at,
                        float seconds, uint32_t points, norms *n)
{
    float minus[V], plus[V], values[V], twists[V];
    climbs_of(before, minus);
    climbs_of(behind, plus);
#pragma unroll
    for (int i = 0; i < V; i++) {
        const float twist = floe_twist(minus[i], plus[i]);
        twists[i] = twist * twist;
    }
    steps_of(before, 0, minus);
    steps_of(behind, 0, plus);
#pragma unroll
    for (int i = 0; i < V; i++)
        twists[i] = floe_square_add(twists[i], floe_twist(minus[i], plus[i]));
    steps_of(here, -1, minus);
    steps_of(here, 1, plus);
#pragma unroll
    for (int i = 0; i < V; i++) {
        twists[i] = floe_square_add(twists[i], floe_twist(minus[i], plus[i]));
        values[i] = at.f[i];
    }
    blank<EDGE>(values, points);
    blank<EDGE>(twists, points);
    n->values += (double)floe_real_tools<float>::squares(values);
    n->seconds += (double)seconds;
    n->twists += (double)floe_real_tools<float>::sum(twists);
}

/* ---- the march ----------------------------------------------------------------------------------------------------- */

/* Of all threads of a block together. EDGE: the box may have the ends of rows. */
template <bool EDGE>
FLOE_DEV void box_march(const floe_stencil_dev_job *j, const box &b, tile *tiles, tallies<float> *t, norms *n)
{
    const uint64_t x = (b.group + floe_lane()) * V;
    const bool is_there = x < j->shape[3] && b.y + threadIdx.x / FLOE_WARP + 1 < j->shape[2];
    const uint32_t inner = (1u << (V - 1)) - 2; /* points that have neighbours in any group */
    const uint32_t points = EDGE ? inner | (x > 0) | (uint32_t)(x + V < j->shape[3]) << (V - 1) : (1u << V) - 1;
    const uint32_t nplanes = (uint32_t)(b.hi - b.lo);
    feed f = feed_of(j, b);
    __syncthreads(); /* tiles are free */
    for (uint32_t k = 0; k < PLANES - 1; k++)
        plane_begin(j, &f, &tiles[k]);
#pragma unroll 1
    for (uint32_t k = 0; k < nplanes; k++) {
        const tile &before = tiles[k % PLANES], &here = tiles[(k + 1) % PLANES], &behind = tiles[(k + 2) % PLANES];
        floe_copy_async_wait();
        __syncthreads();
        if (k + 1 < nplanes)
            plane_begin(j, &f, &tiles[(k + 3) % PLANES]);
        if (!is_there)
            continue;
        const points_kind kind = EDGE ? OTHERS_PATCHED : ALL_COUNT;
        const around<float> r = around_of<EDGE>(before, here, behind, points);
        order_add<1, 1, true, kind>(r, ALL_AXES_OF_3D, points, t);
        const float seconds = order_add<2, 1, true, kind>(r, ALL_AXES_OF_3D, points, t);
        norms_add<EDGE>(before, here, behind, r.at, seconds, points, n);
    }
    t->npoints += is_there ? nplanes * (uint32_t)__popc(points) : 0;
}

FLOE_DEV void box_add(const floe_stencil_dev_job *j, const box &b, tile *tiles, tallies<float> *t, norms *n)
{
    if (b.group == 0 || b.group + FLOE_WARP >= groups_of(j))
        box_march<true>(j, b, tiles, t, n);
    else
        box_march<false>(j, b, tiles, t, n);
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* A block's words of Sobolev norms. */
FLOE_DEV void norms_write(const tallies<float> &t, const norms &n, double *part)
{
    const double v[FLOE_STENCIL_SOBOLEV_WORDS] = {(double)t.npoints, n.values, sums_at(t.squares, 0, SQUARES),
                                                  n.seconds, n.twists};
    floe_stencil_block_sums<WARPS>(v, part);
}

__global__ void __launch_bounds__(THREADS, BLOCKS_A_PROCESSOR)
    stencil_boxes_kernel(const __grid_constant__ floe_stencil_dev_job job)
{
    __shared__ double words[WARPS][FLOE_STENCIL_POINTS_WORDS];
    __shared__ __align__(16) tile tiles[PLANES];
    tallies<float> t;
    norms n = {0, 0, 0};
    tallies_init(NULL, &t);
    const uint64_t nboxes = boxes_of(&job);
    for (uint64_t i = blockIdx.x; i < nboxes; i += gridDim.x)
        box_add(&job, box_of(&job, i), tiles, &t, &n);
    double *part = job.parts + (uint64_t)blockIdx.x * WORDS;
    block_write(t, words, part);
    norms_write(t, n, part + FLOE_STENCIL_POINTS_WORDS);
}

} // namespace

bool floe_stencil_has_boxes(const floe_stencil_dev_job *job) { return job->narrow && job->single && is_fast<V>(job); }

int floe_stencil_boxes_cuda(const floe_stencil_dev_job *job, double *words, void *stream)
{
    const uint32_t nblocks = (uint32_t)floe_min64(boxes_of(job), FLOE_STENCIL_MAX_WIDE_BLOCKS);
    FLOE_LAUNCH(stencil_boxes_kernel, nblocks, THREADS, 0, (cudaStream_t)stream, *job);
    const int error = (int)cudaGetLastError();
    return error ? error
                 : floe_stencil_join_parts(job->parts, nblocks, (uint32_t)WORDS, FLOE_STENCIL_POINTS_WORDS - 2, words,
                                           (cudaStream_t)stream);
}
