/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sobolev norms on a GPU. Where all pairs of a 3-D field count, a thread keeps three planes of its column in registers: a
 * point's values, steps along y and x, and what is known of its own plane; so each value comes from L1 a few times
 * only. Elsewhere each point's stencil is read as it is.
 */
#include "assess/stencil/stencil_columns_cuda.cuh"

namespace
{

/* A thread's sums. */
struct norms {
    double values, steps, seconds, twists;
    uint32_t npoints;
};

/* At the points of a group: values, and squares of what is found there. */
template <typename R> struct squares {
    R values[V_OF(R)], steps[V_OF(R)], seconds[V_OF(R)], twists[V_OF(R)];
};

template <typename R> FLOE_DEV void squares_add(const squares<R> &s, norms *n)
{
    n->values += (double)floe_real_tools<R>::squares(s.values);
    n->steps += (double)floe_real_tools<R>::sum(s.steps);
    n->seconds += (double)floe_real_tools<R>::sum(s.seconds);
    n->twists += (double)floe_real_tools<R>::sum(s.twists);
}

/* ---- the march ----------------------------------------------------------------------------------------------------- */

/* Of a group's plane: rows y - 1, y and y + 1, and what lies beside the group in them, as they lie in memory. */
template <typename T, int V> struct raw_plane {
    vector_of<T, V> row[3];
    T left[3], right[3];
};

/* Beside groups at a row's end there is nothing: they take an element of their own. */
template <typename T, int V> FLOE_DEV raw_plane<T, V> plane_fetch(const T *x, int64_t dy, bool has_left, bool has_right)
{
    raw_plane<T, V> p;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const T *row = x + (k - 1) * dy;
        p.row[k] = *(const vector_of<T, V> *)row;
        p.left[k] = row[-(int)has_left], p.right[k] = row[V - 1 + has_right];
    }
    return p;
}

/* The same of all threads, on its way. */
template <typename T, int V> struct stage {
    vector_of<T, V> row[3][THREADS];
    T left[3][THREADS], right[3][THREADS];
};

template <typename T, int V>
FLOE_DEV void stage_begin(const T *x, int64_t dy, bool has_left, bool has_right, stage<T, V> *s)
{
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const T *row = x + (k - 1) * dy;
        floe_copy16_async_near(&s->row[k][threadIdx.x], row);
        element_copy(&s->left[k][threadIdx.x], row - has_left);
        element_copy(&s->right[k][threadIdx.x], row + V - 1 + has_right);
    }
    floe_copy_async_commit();
}

template <typename T, int V> FLOE_DEV raw_plane<T, V> raw_of(const stage<T, V> &s)
{
    raw_plane<T, V> p;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        p.row[k] = s.row[k][threadIdx.x];
        p.left[k] = s.left[k][threadIdx.x], p.right[k] = s.right[k][threadIdx.x];
    }
    return p;
}

template <typename R> struct plane {
    R at[V_OF(R)], step_x[V_OF(R)], step_y[V_OF(R)], second_x[V_OF(R)], second_y[V_OF(R)], twist[V_OF(R)];
};

template <typename R, typename T> FLOE_DEV void plane_make(const raw_plane<T, V_OF(R)> &raw, plane<R> *p)
{
    enum { V = V_OF(R) };
    R f[3][V + 2];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        f[k][0] = (R)raw.left[k], f[k][V + 1] = (R)raw.right[k];
#pragma unroll
        for (int i = 0; i < V; i++)
            f[k][i + 1] = (R)raw.row[k].v[i];
    }
#pragma unroll
    for (int i = 0; i < V; i++) {
        p->at[i] = f[1][i + 1];
        p->step_x[i] = floe_step(f[1][i], f[1][i + 2]);
        p->step_y[i] = floe_step(f[0][i + 1], f[2][i + 1]);
        p->second_x[i] = floe_second(f[1][i], f[1][i + 1], f[1][i + 2]);
        p->second_y[i] = floe_second(f[0][i + 1], f[1][i + 1], f[2][i + 1]);
        p->twist[i] = floe_twist(floe_step(f[0][i], f[0][i + 2]), floe_step(f[2][i], f[2][i + 2]));
    }
}

/* Squares of derivatives are added up axis after axis, those of twists pair after pair: zy, zx, yx. */
template <typename R>
FLOE_DEV void planes_add(const plane<R> &before, const plane<R> &p, const plane<R> &behind, uint32_t points, norms *n)
{
    squares<R> s;
#pragma unroll
    for (int i = 0; i < V_OF(R); i++) {
        const R step = floe_step(before.at[i], behind.at[i]), second = floe_second(before.at[i], p.at[i], behind.at[i]);
        const R zy = floe_twist(before.step_y[i], behind.step_y[i]),
                zx = floe_twist(before.step_x[i], behind.step_x[i]);
        s.values[i] = p.at[i];
        R none;
        floe_no_squares(&none);
        s.steps[i] = floe_square_add(floe_square_add(floe_square_add(none, step), p.step_y[i]), p.step_x[i]);
        s.seconds[i] = floe_square_add(floe_square_add(floe_square_add(none, second), p.second_y[i]), p.second_x[i]);
        s.twists[i] = floe_square_add(floe_square_add(zy * zy, zx), p.twist[i]);
        if (!(points >> i & 1))
            s.values[i] = s.steps[i] = s.seconds[i] = s.twists[i] = 0;
    }
    squares_add(s, n);
    n->npoints += (uint32_t)__popc(points);
}

/* EDGE: not all points of the groups have neighbours. */
template <typename T, typename R, bool STAGED, bool EDGE>
FLOE_DEV void column_march(const floe_stencil_dev_job *j, const column &c, stage<T, V_OF(R)> *stages, norms *n)
{
    const T *x = (const T *)j->x + floe_stencil_offset(j->dx, c.w, c.lo - 1, c.y, c.x);
    const int64_t dz = j->dx[1], dy = j->dx[2];
    const bool has_left = !EDGE || c.x > 0, has_right = !EDGE || c.x + V_OF(R) < j->shape[3];
    const uint32_t points = EDGE ? points_of<V_OF(R)>(j, c.x) : (1u << V_OF(R)) - 1;
    plane<R> a, b, d;
    plane_make(plane_fetch<T, V_OF(R)>(x, dy, has_left, has_right), &a);
    plane_make(plane_fetch<T, V_OF(R)>(x + dz, dy, has_left, has_right), &b);
    x += 2 * dz;
    raw_plane<T, V_OF(R)> next;
    if constexpr (STAGED)
        stage_begin(x, dy, has_left, has_right, &stages[0]);
    else
        next = plane_fetch<T, V_OF(R)>(x, dy, has_left, has_right);
    const int32_t nplanes = (int32_t)(c.hi - c.lo);
    const auto step = [&](const plane<R> &before, const plane<R> &here, plane<R> &behind, int32_t k) {
        if (k >= nplanes)
            return;
        if constexpr (STAGED) {
            floe_copy_async_wait();
            next = raw_of(stages[k % 2]);
        }
        plane_make(next, &behind);
        x += dz;
        if constexpr (STAGED) {
            if (k + 1 < nplanes)
                stage_begin(x, dy, has_left, has_right, &stages[k % 2 ^ 1]);
        } else if (k + 1 < nplanes) {
            next = plane_fetch<T, V_OF(R)>(x, dy, has_left, has_right);
        }
        planes_add(before, here, behind, points, n);
    };
#pragma unroll 1
    for (int32_t k = 0; k < nplanes; k += 3) {
        step(a, b, d, k);
        step(b, d, a, k + 1);
        step(d, a, b, k + 2);
    }
}

/* ---- point by point ------------------------------------------------------------------------------------------------ */

/* Where a point's element lies on both sides. */
struct spot {
    int64_t x, y;
};

/* The original's value some steps along two axes from a point; *counts becomes false where the pair does not count. */
template <typename T, typename R>
FLOE_DEV R value_at(const floe_stencil_dev_job *j, spot p, int a, int da, int b, int db, bool *counts)
{
    const int64_t at_x = p.x + da * j->dx[a] + db * j->dx[b], at_y = p.y + da * j->dy[a] + db * j->dy[b];
    const T x = ((const T *)j->x)[at_x];
    if (j->masked)
        *counts = *counts && floe_stencil_is_finite(x, j) && floe_stencil_is_finite(((const T *)j->y)[at_y], j);
    return (R)x * (R)j->scale;
}

/* Adds the squares of twists of axis a with those after it. */
template <typename T, typename R>
FLOE_DEV void twists_add(const floe_stencil_dev_job *j, spot p, int a, R *twists, bool *counts)
{
#pragma unroll 1
    for (int b = a + 1; b < FLOE_STENCIL_AXES; b++) {
        if (!(j->active >> b & 1))
            continue;
        const R mm = value_at<T, R>(j, p, a, -1, b, -1, counts), mp = value_at<T, R>(j, p, a, -1, b, 1, counts);
        const R pm = value_at<T, R>(j, p, a, 1, b, -1, counts), pp = value_at<T, R>(j, p, a, 1, b, 1, counts);
        const R twist = floe_twist(floe_step(mm, mp), floe_step(pm, pp));
        *twists = floe_square_add(*twists, twist);
    }
}

/* The value and squares at a point; false: it is left out. */
template <typename T, typename R> FLOE_DEV_COLD bool point_squares(const floe_stencil_dev_job *j, spot p, R (&s)[4])
{
    bool counts = true;
    const R at = value_at<T, R>(j, p, 0, 0, 0, 0, &counts);
    s[0] = at;
    floe_no_squares(&s[1]);
    floe_no_squares(&s[2]);
    s[3] = 0;
#pragma unroll 1
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        if (!(j->active >> a & 1))
            continue;
        const R lo = value_at<T, R>(j, p, a, -1, a, 0, &counts), hi = value_at<T, R>(j, p, a, 1, a, 0, &counts);
        const R step = floe_step(lo, hi), second = floe_second(lo, at, hi);
        s[1] = floe_square_add(s[1], step);
        s[2] = floe_square_add(s[2], second);
        twists_add<T, R>(j, p, a, &s[3], &counts);
    }
    return counts;
}

template <typename T, typename R>
FLOE_DEV void group_add(const floe_stencil_dev_job *j, const column &c, uint64_t z, uint32_t points, norms *n)
{
    squares<R> s;
    const spot first = {floe_stencil_offset(j->dx, c.w, z, c.y, c.x), floe_stencil_offset(j->dy, c.w, z, c.y, c.x)};
#pragma unroll
    for (int i = 0; i < V_OF(R); i++) {
        const spot p = {first.x + i * j->dx[3], first.y + i * j->dy[3]};
        R one[4] = {0, 0, 0, 0};
        const bool counts = (points >> i & 1) && point_squares<T, R>(j, p, one);
        s.values[i] = counts ? one[0] : 0, s.steps[i] = counts ? one[1] : 0;
        s.seconds[i] = counts ? one[2] : 0, s.twists[i] = counts ? one[3] : 0;
        n->npoints += counts;
    }
    squares_add(s, n);
}

template <typename T, typename R, bool FAST, bool EDGE>
FLOE_DEV void column_add(const floe_stencil_dev_job *j, const column &c, stage<T, V_OF(R)> *stages, norms *n)
{
    if (FAST) {
        column_march<T, R, is_staged<T, R, FAST>::value, EDGE>(j, c, stages, n);
        return;
    }
    const uint32_t points = points_of<V_OF(R)>(j, c.x);
    for (uint64_t z = c.lo; z < c.hi; z++)
        group_add<T, R>(j, c, z, points, n);
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* The block's words: those of its warps, in order. */
FLOE_DEV void block_write(const norms &n, double *part)
{
    const double v[FLOE_STENCIL_SOBOLEV_WORDS] = {(double)n.npoints, n.values, n.steps, n.seconds, n.twists};
    floe_stencil_block_sums<WARPS>(v, part);
}

/* nedge blocks have the ends of rows, the others all between. */
template <typename T, typename R, bool FAST>
__global__ void __launch_bounds__(THREADS, 4)
    stencil_sobolev_kernel(const __grid_constant__ floe_stencil_dev_job job, uint32_t nedge)
{
    __shared__ __align__(16) stage<T, V_OF(R)> stages[is_staged<T, R, FAST>::value ? 2 : 1];
    norms n = {0, 0, 0, 0, 0};
    const turn own = turn_of(blockIdx.x, nedge);
    if (own.is_edge)
        edges_visit<V_OF(R)>(&job, own.number, nedge,
                             [&](const column &c) { column_add<T, R, FAST, true>(&job, c, stages, &n); });
    else
        boxes_visit<V_OF(R)>(&job, own.number, gridDim.x - nedge,
                             [&](const column &c) { column_add<T, R, FAST, false>(&job, c, stages, &n); });
    block_write(n, job.parts + (uint64_t)blockIdx.x * FLOE_STENCIL_SOBOLEV_WORDS);
}

template <typename T, typename R> int launch(const floe_stencil_dev_job *j, double *words, cudaStream_t stream)
{
    const uint32_t nedge = floe_stencil_blocks(floe_ceil_div(edge_tasks_of<V_OF(R)>(j), WARPS));
    const uint32_t nblocks = nedge + floe_stencil_blocks(tasks_of<V_OF(R)>(j));
    if (is_fast<V_OF(R)>(j))
        FLOE_LAUNCH((stencil_sobolev_kernel<T, R, true>), nblocks, THREADS, 0, stream, *j, nedge);
    else
        FLOE_LAUNCH((stencil_sobolev_kernel<T, R, false>), nblocks, THREADS, 0, stream, *j, nedge);
    const int error = (int)cudaGetLastError();
    return error ? error : floe_stencil_join_parts(j->parts, nblocks, FLOE_STENCIL_SOBOLEV_WORDS, 0, words, stream);
}

} // namespace

int floe_stencil_sobolev_cuda(const floe_stencil_dev_job *job, double *words, void *stream)
{
    if (!job->narrow)
        return launch<double, double>(job, words, (cudaStream_t)stream);
    return job->single ? launch<float, float>(job, words, (cudaStream_t)stream)
                       : launch<float, double>(job, words, (cudaStream_t)stream);
}
