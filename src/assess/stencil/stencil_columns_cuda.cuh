/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How kernels of derivatives and Sobolev norms divide the points of a field on a GPU. A thread owns a group of points side by
 * side in the row and marches along z with it. Of groups all of whose points have neighbours a warp has 32 of a row; the first
 * and last groups of rows are left to blocks of their own, where a warp has 32 rows.
 */
#ifndef FLOE_ASSESS_STENCIL_COLUMNS_CUDA_CUH
#define FLOE_ASSESS_STENCIL_COLUMNS_CUDA_CUH

#include "assess/stencil/stencil_points_cuda.cuh"

namespace
{

enum {
    WARPS = 4,
    THREADS = WARPS * FLOE_WARP,
    CHUNK = 32,      /* planes of a task; two more are read */
    EDGE_CHUNK = 16, /* so that there are enough tasks */
    ALL_AXES_OF_3D = 0xe,
    BLOCKS_A_PROCESSOR = 3 /* of kernels that keep derivatives of f32 in registers */
};

#define V_OF(R) floe_group<R>::V

/* ---- fetching ------------------------------------------------------------------------------------------------------ */

/* Where a group's first element lies on both sides, and how many of its elements are in the field. */
template <typename T> struct place {
    const T *x, *y;
    uint32_t there;
};

template <typename T> FLOE_DEV place<T> beside(const floe_stencil_dev_job *j, place<T> p, int axis, int by)
{
    p.x += by * j->dx[axis];
    p.y += by * j->dy[axis];
    return p;
}

template <typename T, int V> struct __align__(V * sizeof(T)) vector_of { T v[V]; };

/* A group as it lies in memory. */
template <typename T, int V> struct raw {
    vector_of<T, V> x, y;
};

template <typename T, int V>
FLOE_DEV void elements_fetch(const floe_stencil_dev_job *j, const place<T> &p, raw<T, V> *r)
{
#pragma unroll
    for (uint32_t i = 0; i < V; i++) {
        const bool there = i < p.there;
        r->x.v[i] = there ? p.x[(int64_t)i * j->dx[3]] : (T)0;
        r->y.v[i] = there ? p.y[(int64_t)i * j->dy[3]] : (T)0;
    }
}

/* FAST: as a vector, whole. */
template <bool FAST, typename T, int V> FLOE_DEV raw<T, V> fetch(const floe_stencil_dev_job *j, const place<T> &p)
{
    raw<T, V> r;
    if (FAST || (j->vectors && p.there == V)) {
        r.x = *(const vector_of<T, V> *)p.x;
        r.y = *(const vector_of<T, V> *)p.y;
    } else {
        elements_fetch(j, p, &r);
    }
    return r;
}

template <bool FAST, typename T, typename R>
FLOE_DEV void cell_make(const floe_stencil_dev_job *j, T x, T y, R *f, R *e)
{
    if (FAST) {
        *f = (R)x;
        *e = (R)y - (R)x;
        return;
    }
    *f = (R)x * (R)j->scale;
    *e = (R)y * (R)j->scale - *f;
    if (j->masked && !(floe_stencil_is_finite(x, j) && floe_stencil_is_finite(y, j))) {
        *f = (R)floe_f32_of(FLOE_NAN32_BITS);
        *e = 0;
    }
}

template <bool FAST, typename R, typename T, int V>
FLOE_DEV floe_group<R> group_make(const floe_stencil_dev_job *j, const raw<T, V> &r)
{
    floe_group<R> g;
#pragma unroll
    for (int i = 0; i < V; i++)
        cell_make<FAST>(j, r.x.v[i], r.y.v[i], &g.f[i], &g.e[i]);
    return g;
}

template <bool FAST, typename R, typename T>
FLOE_DEV floe_group<R> group_at(const floe_stencil_dev_job *j, const place<T> &p)
{
    return group_make<FAST, R>(j, fetch<FAST, T, V_OF(R)>(j, p));
}

/* Whether a field is one for the quick ways: 3-D, or such in layers, of vectors that are worked on as they are, all of which
 * count. */
template <int V> FLOE_HD bool is_fast(const floe_stencil_dev_job *j)
{
    return j->active == ALL_AXES_OF_3D && !j->masked && j->scale == 1 && j->vectors && j->shape[3] % V == 0;
}

/* ---- on the way ------------------------------------------------------------------------------------------------------ */

/* Whether what a thread needs of its next plane comes by way of shared memory, while it works on the plane before: so it takes
 * no registers. Groups are of 16 bytes then. Threads look at nothing but what they have put there. */
template <typename T, typename R, bool FAST> struct is_staged {
    static constexpr bool value = FAST && sizeof(T) == sizeof(float) && sizeof(R) == sizeof(float);
};

template <typename T> FLOE_DEV void element_copy(T *to, const T *from)
{
#pragma unroll
    for (uint32_t i = 0; i < sizeof(T) / 4; i++)
        floe_copy4_async((uint32_t *)to + i, (const uint32_t *)from + i);
}

/* ---- columns -------------------------------------------------------------------------------------------------------- */

/* A thread's column of groups. */
struct column {
    uint64_t w, y, x, lo, hi; /* x: of the first element; points lie in planes lo to hi - 1 */
};

FLOE_HD uint64_t points_along(const floe_stencil_dev_job *j, int a) { return j->shape[a] - 2 * (j->active >> a & 1); }

/* Groups 1 to this are whole: all their points have neighbours along the row. */
template <int V> FLOE_HD uint64_t whole_groups(const floe_stencil_dev_job *j)
{
    const uint64_t n = j->shape[3];
    return j->active >> 3 & 1 && (n - 1) / V > 1 ? (n - 1) / V - 1 : 0;
}

/* Group 0, and the last one that has points, where it is neither that one nor whole. */
template <int V> FLOE_HD uint32_t edge_groups(const floe_stencil_dev_job *j)
{
    const uint64_t last = j->active >> 3 & 1 ? (j->shape[3] - 2) / V : 0;
    return last > whole_groups<V>(j) ? 2 : 1;
}

FLOE_DEV column column_of(const floe_stencil_dev_job *j, uint64_t w, uint64_t chunk, uint32_t planes, uint64_t y,
                          uint64_t x)
{
    const uint64_t along_z = j->active >> 1 & 1;
    column c;
    c.w = w + (j->active & 1);
    c.y = y + (j->active >> 2 & 1);
    c.x = x;
    c.lo = chunk * planes + along_z;
    c.hi = floe_min64(c.lo + planes, j->shape[1] - along_z);
    return c;
}

/* Which points of a group have neighbours along the row. */
template <int V> FLOE_DEV uint32_t points_of(const floe_stencil_dev_job *j, uint64_t x)
{
    const uint64_t edge = j->active >> 3 & 1;
    uint32_t points = 0;
    for (uint32_t i = 0; i < V; i++)
        points |= (uint32_t)(x + i >= edge && x + i + edge < j->shape[3]) << i;
    return points;
}

template <int V> FLOE_HD uint64_t tasks_of(const floe_stencil_dev_job *j)
{
    return points_along(j, 0) * floe_ceil_div(points_along(j, 1), CHUNK) * floe_ceil_div(points_along(j, 2), WARPS) *
           floe_ceil_div(whole_groups<V>(j), FLOE_WARP);
}

template <int V> FLOE_HD uint64_t edge_tasks_of(const floe_stencil_dev_job *j)
{
    return points_along(j, 0) * floe_ceil_div(points_along(j, 1), EDGE_CHUNK) *
           floe_ceil_div(points_along(j, 2), FLOE_WARP) * edge_groups<V>(j);
}

/* The part of a block: the last nedge blocks have the ends of rows. Their tasks are short, so that they fill what others leave
 * of the processors at the end. */
struct turn {
    bool is_edge;
    uint32_t number;
};

FLOE_DEV turn turn_of(uint32_t block, uint32_t nedge)
{
    const uint32_t nothers = gridDim.x - nedge;
    turn t;
    t.is_edge = block >= nothers;
    t.number = t.is_edge ? block - nothers : block;
    return t;
}

/* Boxes of 4 rows, 32 whole groups and 32 planes in turn: a thread has one group and its planes. */
template <int V, typename F>
FLOE_DEV void boxes_visit(const floe_stencil_dev_job *j, uint64_t block, uint64_t nblocks, const F &add)
{
    const uint64_t ngroups = whole_groups<V>(j), nx = floe_ceil_div(ngroups, FLOE_WARP), ntasks = tasks_of<V>(j);
    const uint64_t rows = points_along(j, 2), ny = floe_ceil_div(rows, WARPS);
    const uint64_t nz = floe_ceil_div(points_along(j, 1), CHUNK);
    for (uint64_t i = block; i < ntasks; i += nblocks) {
        const uint64_t group = i % nx * FLOE_WARP + floe_lane();
        const uint64_t row = i / nx % ny * WARPS + threadIdx.x / FLOE_WARP, chunk = i / nx / ny % nz;
        if (group < ngroups && row < rows)
            add(column_of(j, i / nx / ny / nz, chunk, CHUNK, row, (group + 1) * V));
    }
}

/* The first or last groups of 32 rows in 16 planes for each warp in turn: a thread has one row. */
template <int V, typename F>
FLOE_DEV void edges_visit(const floe_stencil_dev_job *j, uint64_t block, uint64_t nblocks, const F &add)
{
    const uint64_t nsides = edge_groups<V>(j), ntasks = edge_tasks_of<V>(j);
    const uint64_t rows = points_along(j, 2), ny = floe_ceil_div(rows, FLOE_WARP);
    const uint64_t nz = floe_ceil_div(points_along(j, 1), EDGE_CHUNK);
    for (uint64_t i = block * WARPS + threadIdx.x / FLOE_WARP; i < ntasks; i += nblocks * WARPS) {
        const uint64_t group = i % nsides ? (j->shape[3] - 2) / V : 0;
        const uint64_t row = i / nsides % ny * FLOE_WARP + floe_lane(), chunk = i / nsides / ny % nz;
        if (row < rows)
            add(column_of(j, i / nsides / ny / nz, chunk, EDGE_CHUNK, row, group * V));
    }
}

} // namespace

#endif
