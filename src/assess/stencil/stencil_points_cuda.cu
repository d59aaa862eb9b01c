/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derivatives on a GPU. A thread owns a group of points side by side in the row and marches along z with it: what lies along z
 * it keeps in registers, all else comes from L1, where the warps of a block, rows side by side, have put it for
 * one another; what it needs of the next plane is on its way meanwhile. So no warp waits for another one. How points are
 * divided: stencil_columns_cuda.cuh.
 */
#include "assess/stencil/stencil_tallies_cuda.cuh"

namespace
{

/* ---- a group and its neighbours ------------------------------------------------------------------------------------ */

/* What lies beside a group along w, y and x, as it lies in memory. */
template <typename T, int V> struct raw_sides {
    raw<T, V> minus[3], plus[3];
    T left[2], right[2]; /* of original and decoded */
};

/* has_left, has_right: the group's row goes on. */
template <bool FAST, typename T, int V>
FLOE_DEV raw_sides<T, V> sides_fetch(const floe_stencil_dev_job *j, const place<T> &p, bool has_left, bool has_right)
{
    const int64_t dx = FAST ? 1 : j->dx[3], dy = FAST ? 1 : j->dy[3];
    raw_sides<T, V> s;
#pragma unroll
    for (int a = FAST ? 2 : 0; a < 3; a += 2)
        if (FAST || (j->active >> a & 1)) {
            s.minus[a] = fetch<FAST, T, V>(j, beside(j, p, a, -1));
            s.plus[a] = fetch<FAST, T, V>(j, beside(j, p, a, 1));
        }
    s.left[0] = FAST || has_left ? p.x[-dx] : (T)0;
    s.left[1] = FAST || has_left ? p.y[-dy] : (T)0;
    s.right[0] = FAST || has_right ? p.x[V * dx] : (T)0;
    s.right[1] = FAST || has_right ? p.y[V * dy] : (T)0;
    return s;
}

/* Neighbours along the row are the group's own elements, one element on. */
template <bool FAST, typename T, typename R>
FLOE_DEV void sides_make(const floe_stencil_dev_job *j, const raw_sides<T, V_OF(R)> &s, around<R> *r)
{
    const int V = V_OF(R);
    floe_group<R> *m = &r->minus[3], *p = &r->plus[3];
#pragma unroll
    for (int a = FAST ? 2 : 0; a < 3; a += 2)
        if (FAST || (j->active >> a & 1)) {
            r->minus[a] = group_make<FAST, R>(j, s.minus[a]);
            r->plus[a] = group_make<FAST, R>(j, s.plus[a]);
        }
#pragma unroll
    for (int i = 1; i < V; i++) {
        m->f[i] = r->at.f[i - 1], m->e[i] = r->at.e[i - 1];
        p->f[i - 1] = r->at.f[i], p->e[i - 1] = r->at.e[i];
    }
    cell_make<FAST>(j, s.left[0], s.left[1], &m->f[0], &m->e[0]);
    cell_make<FAST>(j, s.right[0], s.right[1], &p->f[V - 1], &p->e[V - 1]);
}

/* Bits of points of which the whole stencil counts, of those in `points`. */
template <typename R> FLOE_DEV uint32_t points_that_count(const around<R> &r, uint32_t active, uint32_t points)
{
#pragma unroll
    for (int i = 0; i < V_OF(R); i++) {
        bool counts = r.at.f[i] == r.at.f[i];
#pragma unroll
        for (int a = 0; a < FLOE_STENCIL_AXES; a++)
            if (active >> a & 1)
                counts = counts && r.minus[a].f[i] == r.minus[a].f[i] && r.plus[a].f[i] == r.plus[a].f[i];
        points &= ~((uint32_t)!counts << i);
    }
    return points;
}

/* points: those of the group that have neighbours. */
template <bool FAST, bool EDGE, int FIRST, typename R>
FLOE_DEV void group_add(const floe_stencil_dev_job *j, const around<R> &r, uint32_t points, tallies<R> *t)
{
    const uint32_t all = (1u << V_OF(R)) - 1;
    if (FAST) {
        t->npoints += V_OF(R);
        order_add<1, FIRST, FAST, ALL_COUNT>(r, j->active, all, t);
        order_add<2, FIRST, FAST, ALL_COUNT>(r, j->active, all, t);
        return;
    }
    const uint32_t count = j->masked ? points_that_count(r, j->active, points) : points;
    t->npoints += (uint32_t)__popc(count);
    t->nskipped += (uint32_t)__popc(points & ~count);
    if (!EDGE && count == all) {
        order_add<1, FIRST, false, ALL_COUNT>(r, j->active, count, t);
        order_add<2, FIRST, false, ALL_COUNT>(r, j->active, count, t);
    } else if (count) {
        order_add<1, FIRST, false, SOME_COUNT>(r, j->active, count, t);
        order_add<2, FIRST, false, SOME_COUNT>(r, j->active, count, t);
    }
}

/* ---- the march ----------------------------------------------------------------------------------------------------- */

template <typename T, typename R, bool FAST, bool EDGE>
FLOE_DEV void column_add(const floe_stencil_dev_job *j, const column &c, tallies<R> *t)
{
    const int FIRST = FAST ? 1 : 0, V = V_OF(R);
    const uint32_t active = FAST ? ALL_AXES_OF_3D : j->active, points = FAST ? 0 : points_of<V>(j, c.x);
    const bool has_left = c.x > 0, has_right = c.x + V < j->shape[3];
    place<T> p = {(const T *)j->x + floe_stencil_offset(j->dx, c.w, c.lo, c.y, c.x),
                  (const T *)j->y + floe_stencil_offset(j->dy, c.w, c.lo, c.y, c.x),
                  (uint32_t)floe_min64(V, j->shape[3] - c.x)};
    around<R> r;
    if (active >> 1 & 1) {
        r.minus[1] = group_at<FAST, R>(j, beside(j, p, 1, -1));
        r.plus[1] = group_at<FAST, R>(j, beside(j, p, 1, 1));
    }
    r.at = group_at<FAST, R>(j, p);
    raw_sides<T, V> sides = sides_fetch<FAST, T, V>(j, p, has_left, has_right);
    for (uint64_t z = c.lo; z < c.hi; z++) {
        raw<T, V> next;
        sides_make<FAST>(j, sides, &r);
        if (z + 1 < c.hi) {
            next = fetch<FAST, T, V>(j, beside(j, p, 1, active >> 1 & 1 ? 2 : 1));
            sides = sides_fetch<FAST, T, V>(j, beside(j, p, 1, 1), has_left, has_right);
        }
        group_add<FAST, EDGE, FIRST>(j, r, points, t);
        p = beside(j, p, 1, 1);
        r.minus[1] = r.at;
        if (active >> 1 & 1)
            r.at = r.plus[1];
        if (z + 1 < c.hi)
            (active >> 1 & 1 ? r.plus[1] : r.at) = group_make<FAST, R>(j, next);
    }
}

/* What threads need of their next planes, of both sides. */
template <typename T, int V> struct stage {
    vector_of<T, V> ahead[2][THREADS], minus[2][THREADS], plus[2][THREADS]; /* its group one plane on, and along y */
    T left[2][THREADS], right[2][THREADS];
};

/* Beside groups at a row's end there is nothing: they take an element of their own. */
template <typename T, int V>
FLOE_DEV void stage_begin(const floe_stencil_dev_job *j, const place<T> &p, bool has_left, bool has_right,
                          stage<T, V> *s)
{
    const T *const at[2] = {p.x, p.y};
    const int64_t dy[2] = {j->dx[2], j->dy[2]}, dz[2] = {j->dx[1], j->dy[1]};
#pragma unroll
    for (int side = 0; side < 2; side++) {
        floe_copy16_async_near(&s->ahead[side][threadIdx.x], at[side] + dz[side]);
        floe_copy16_async_near(&s->minus[side][threadIdx.x], at[side] - dy[side]);
        floe_copy16_async_near(&s->plus[side][threadIdx.x], at[side] + dy[side]);
        element_copy(&s->left[side][threadIdx.x], at[side] - has_left);
        element_copy(&s->right[side][threadIdx.x], at[side] + V - 1 + has_right);
    }
    floe_copy_async_commit();
}

template <typename T, int V> FLOE_DEV raw<T, V> raw_of(const vector_of<T, V> (&sides)[2][THREADS])
{
    const raw<T, V> r = {sides[0][threadIdx.x], sides[1][threadIdx.x]};
    return r;
}

/* All axes but the first are there, and all pairs count. EDGE: not all points of the groups have neighbours. */
template <typename T, typename R, bool EDGE>
FLOE_DEV void column_march(const floe_stencil_dev_job *j, const column &c, stage<T, V_OF(R)> *stages, tallies<R> *t)
{
    place<T> p = {(const T *)j->x + floe_stencil_offset(j->dx, c.w, c.lo, c.y, c.x),
                  (const T *)j->y + floe_stencil_offset(j->dy, c.w, c.lo, c.y, c.x), V_OF(R)};
    const bool has_left = !EDGE || c.x > 0, has_right = !EDGE || c.x + V_OF(R) < j->shape[3];
    const uint32_t points = EDGE ? points_of<V_OF(R)>(j, c.x) : (1u << V_OF(R)) - 1;
    around<R> r;
    stage_begin(j, p, has_left, has_right, &stages[0]);
    r.minus[1] = group_at<true, R>(j, beside(j, p, 1, -1));
    r.at = group_at<true, R>(j, p);
    const uint32_t nplanes = (uint32_t)(c.hi - c.lo);
    for (uint32_t k = 0; k < nplanes; k++) {
        const stage<T, V_OF(R)> &s = stages[k % 2];
        raw_sides<T, V_OF(R)> sides;
        floe_copy_async_wait();
        r.plus[1] = group_make<true, R>(j, raw_of<T, V_OF(R)>(s.ahead));
        sides.minus[2] = raw_of<T, V_OF(R)>(s.minus), sides.plus[2] = raw_of<T, V_OF(R)>(s.plus);
#pragma unroll
        for (int side = 0; side < 2; side++)
            sides.left[side] = s.left[side][threadIdx.x], sides.right[side] = s.right[side][threadIdx.x];
        sides_make<true>(j, sides, &r);
        p = beside(j, p, 1, 1);
        if (k + 1 < nplanes)
            stage_begin(j, p, has_left, has_right, &stages[(k + 1) % 2]);
        t->npoints += EDGE ? (uint32_t)__popc(points) : V_OF(R);
        order_add<1, 1, true, EDGE ? SOME_COUNT : ALL_COUNT>(r, ALL_AXES_OF_3D, points, t);
        order_add<2, 1, true, EDGE ? SOME_COUNT : ALL_COUNT>(r, ALL_AXES_OF_3D, points, t);
        r.minus[1] = r.at;
        r.at = r.plus[1];
    }
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* nedge blocks have the ends of rows, the others all between. */
template <typename T, typename R, bool FAST>
__global__ void __launch_bounds__(THREADS, is_staged<T, R, FAST>::value ? BLOCKS_A_PROCESSOR : 2)
    stencil_points_kernel(const __grid_constant__ floe_stencil_dev_job job, uint32_t nedge)
{
    __shared__ double words[WARPS][FLOE_STENCIL_POINTS_WORDS];
    __shared__ __align__(16) stage<T, V_OF(R)> stages[is_staged<T, R, FAST>::value ? 2 : 1];
    __shared__ double2 shared[sums<R>::SHARED];
    tallies<R> t;
    tallies_init(shared, &t);
    const turn own = turn_of(blockIdx.x, nedge);
    if (own.is_edge)
        edges_visit<V_OF(R)>(&job, own.number, nedge, [&](const column &c) {
            if constexpr (is_staged<T, R, FAST>::value)
                column_march<T, R, true>(&job, c, stages, &t);
            else
                column_add<T, R, false, true>(&job, c, &t);
        });
    else
        boxes_visit<V_OF(R)>(&job, own.number, gridDim.x - nedge, [&](const column &c) {
            if constexpr (is_staged<T, R, FAST>::value)
                column_march<T, R, false>(&job, c, stages, &t);
            else
                column_add<T, R, FAST, false>(&job, c, &t);
        });
    block_write(t, words, job.parts + (uint64_t)blockIdx.x * FLOE_STENCIL_POINTS_WORDS);
}

template <typename T, typename R> int launch(const floe_stencil_dev_job *j, double *words, cudaStream_t stream)
{
    const uint32_t nedge = floe_stencil_blocks(floe_ceil_div(edge_tasks_of<V_OF(R)>(j), WARPS));
    const bool fast = is_fast<V_OF(R)>(j);
    const uint64_t most = fast && is_staged<T, R, true>::value ? FLOE_STENCIL_MAX_WIDE_BLOCKS : FLOE_STENCIL_MAX_BLOCKS;
    const uint32_t nblocks = nedge + (uint32_t)floe_min64(floe_stencil_blocks(tasks_of<V_OF(R)>(j)), most);
    if (fast)
        FLOE_LAUNCH((stencil_points_kernel<T, R, true>), nblocks, THREADS, 0, stream, *j, nedge);
    else
        FLOE_LAUNCH((stencil_points_kernel<T, R, false>), nblocks, THREADS, 0, stream, *j, nedge);
    const int error = (int)cudaGetLastError();
    return error ? error
                 : floe_stencil_join_parts(j->parts, nblocks, FLOE_STENCIL_POINTS_WORDS, FLOE_STENCIL_POINTS_WORDS - 2,
                                           words, stream);
}

} // namespace

int floe_stencil_points_cuda(const floe_stencil_dev_job *job, double *words, void *stream)
{
    if (!job->narrow)
        return launch<double, double>(job, words, (cudaStream_t)stream);
    return job->single ? launch<float, float>(job, words, (cudaStream_t)stream)
                       : launch<float, double>(job, words, (cudaStream_t)stream);
}
