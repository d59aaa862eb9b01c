/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derivatives on a GPU. A thread owns a group of points side by side in the row and marches along z with it: what lies along z it
 * keeps in registers, all else comes from the first cache, where the warps of a block, rows side by side, have put it for one
 * another. So no warp waits for another one.
 *
 * Of groups all of whose points have neighbours a warp has 32 of a row. The first and last groups of rows are left to blocks of
 * their own, where a warp has 32 rows.
 */
#include "assess/stencil/stencil_points_cuda.cuh"

namespace
{

enum {
    WARPS = 4,
    THREADS = WARPS * FLOE_WARP,
    CHUNK = 64,      /* planes of a task; two more are read */
    EDGE_CHUNK = 16, /* so that there are enough tasks */
    SUM = FLOE_STENCIL_AXES,
    LENGTH,
    TRACE,
    SLOTS, /* quantities of an order: those before SUM are of axes */
    ALL_AXES_OF_3D = 0xe
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
        *f = (R)floe_f32_of(0x7fc00000u);
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

/* ---- a group and its neighbours ------------------------------------------------------------------------------------ */

/* Along w, z, y, x; what lies along axes without derivatives is not looked at. */
template <typename R> struct around {
    floe_group<R> at, minus[FLOE_STENCIL_AXES], plus[FLOE_STENCIL_AXES];
};

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

/* ---- quantities ---------------------------------------------------------------------------------------------------- */

template <typename R> struct tallies {
    floe_tally<R> of[2][SLOTS]; /* of first and second derivatives */
    uint32_t npoints, nskipped;
};

/* A quantity at the points of a group that count, which are all unless CAREFUL. */
template <bool CAREFUL, typename R> struct quantity {
    R f[V_OF(R)], e[V_OF(R)];
};

/* For sums: others become 0. */
template <bool CAREFUL, typename R> FLOE_DEV void blank(R (&v)[V_OF(R)], uint32_t points)
{
#pragma unroll
    for (int i = 0; CAREFUL && i < V_OF(R); i++)
        v[i] = points >> i & 1 ? v[i] : 0;
}

/* For extremes: others become one that counts. */
template <bool CAREFUL, typename R> FLOE_DEV void patch(R (&v)[V_OF(R)], uint32_t points)
{
    if (!CAREFUL)
        return;
    R any = v[V_OF(R) - 1];
#pragma unroll
    for (int i = V_OF(R) - 2; i >= 0; i--)
        any = points >> i & 1 ? v[i] : any;
#pragma unroll
    for (int i = 0; i < V_OF(R); i++)
        v[i] = points >> i & 1 ? v[i] : any;
}

template <bool CAREFUL, bool MAGNITUDE, typename R>
FLOE_DEV void tally_add(floe_tally<R> *t, R (&f)[V_OF(R)], R (&e)[V_OF(R)], uint32_t points)
{
    patch<CAREFUL>(f, points);
    blank<CAREFUL>(e, points);
#pragma unroll
    for (int i = 0; i < V_OF(R); i += 2)
        if (MAGNITUDE)
            floe_extremes_add_magnitudes(&t->extremes, f[i], f[i + 1]);
        else
            floe_extremes_add(&t->extremes, f[i], f[i + 1]);
    floe_real_tools<R>::add_errors(&t->error_squares, &t->error, e);
}

/* What joins the axes at the points of a group. */
template <typename R> struct joined {
    R sum_f[V_OF(R)], sum_g[V_OF(R)], squares_f[V_OF(R)], squares_g[V_OF(R)], trace_f[V_OF(R)], trace_e[V_OF(R)];
};

template <int ORDER, bool CAREFUL, typename R>
FLOE_DEV void axis_add(const around<R> &r, int a, bool is_first, uint32_t points, joined<R> *j, tallies<R> *t)
{
    R f[V_OF(R)], e[V_OF(R)];
#pragma unroll
    for (int i = 0; i < V_OF(R); i++) {
        const floe_group<R> &m = r.minus[a], &p = r.plus[a];
        f[i] = ORDER == 1 ? floe_step(m.f[i], p.f[i]) : floe_second(m.f[i], r.at.f[i], p.f[i]);
        e[i] = ORDER == 1 ? floe_step(m.e[i], p.e[i]) : floe_second(m.e[i], r.at.e[i], p.e[i]);
        const R g = f[i] + e[i], size_f = floe_size(f[i]), size_g = floe_size(g);
        j->sum_f[i] = is_first ? size_f : j->sum_f[i] + size_f;
        j->sum_g[i] = is_first ? size_g : j->sum_g[i] + size_g;
        j->squares_f[i] = is_first ? f[i] * f[i] : j->squares_f[i] + f[i] * f[i];
        j->squares_g[i] = is_first ? g * g : j->squares_g[i] + g * g;
        j->trace_f[i] = is_first ? f[i] : j->trace_f[i] + f[i];
        j->trace_e[i] = is_first ? e[i] : j->trace_e[i] + e[i];
    }
    tally_add<CAREFUL, false>(&t->of[ORDER - 1][a], f, e, points);
}

/* All quantities of an order. FIRST: the first axis that may have derivatives; ALL: it and those after it have. */
template <int ORDER, int FIRST, bool ALL, bool CAREFUL, typename R>
FLOE_DEV void order_add(const around<R> &r, uint32_t active, uint32_t points, tallies<R> *t)
{
    joined<R> j;
    if (!ALL)
        memset(&j, 0, sizeof j);
#pragma unroll
    for (int a = FIRST; a < FLOE_STENCIL_AXES; a++)
        if (ALL || (active >> a & 1))
            axis_add<ORDER, CAREFUL>(r, a, ALL && a == FIRST, points, &j, t);
    floe_tally<R> *of = t->of[ORDER - 1];
    R e[V_OF(R)];
#pragma unroll
    for (int i = 0; i < V_OF(R); i++)
        e[i] = j.sum_g[i] - j.sum_f[i];
    tally_add<CAREFUL, true>(&of[SUM], j.sum_f, e, points);
    if (ORDER == 1) {
        blank<CAREFUL>(j.squares_f, points);
        floe_real_tools<R>::add(&of[LENGTH].squares, j.squares_f);
    }
#pragma unroll
    for (int i = 0; i < V_OF(R); i++) {
        j.squares_f[i] = floe_length(j.squares_f[i]);
        e[i] = floe_length(j.squares_g[i]) - j.squares_f[i];
    }
    tally_add<CAREFUL, true>(&of[LENGTH], j.squares_f, e, points);
    if (ORDER == 2) {
        R f[V_OF(R)];
#pragma unroll
        for (int i = 0; i < V_OF(R); i++)
            f[i] = j.trace_f[i];
        blank<CAREFUL>(f, points);
        floe_real_tools<R>::add_squares(&of[TRACE].squares, f);
    }
    tally_add<CAREFUL, false>(&of[TRACE], j.trace_f, j.trace_e, points);
}

/* points: those of the group that have neighbours. */
template <bool FAST, bool EDGE, int FIRST, typename R>
FLOE_DEV void group_add(const floe_stencil_dev_job *j, const around<R> &r, uint32_t points, tallies<R> *t)
{
    const uint32_t all = (1u << V_OF(R)) - 1;
    if (FAST) {
        t->npoints += V_OF(R);
        order_add<1, FIRST, FAST, false>(r, j->active, all, t);
        order_add<2, FIRST, FAST, false>(r, j->active, all, t);
        return;
    }
    const uint32_t count = j->masked ? points_that_count(r, j->active, points) : points;
    t->npoints += (uint32_t)__popc(count);
    t->nskipped += (uint32_t)__popc(points & ~count);
    if (!EDGE && count == all) {
        order_add<1, FIRST, false, false>(r, j->active, count, t);
        order_add<2, FIRST, false, false>(r, j->active, count, t);
    } else if (count) {
        order_add<1, FIRST, false, true>(r, j->active, count, t);
        order_add<2, FIRST, false, true>(r, j->active, count, t);
    }
}

/* ---- the march ----------------------------------------------------------------------------------------------------- */

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
    for (uint64_t z = c.lo; z < c.hi; z++) {
        raw<T, V> next;
        if (z + 1 < c.hi)
            next = fetch<FAST, T, V>(j, beside(j, p, 1, active >> 1 & 1 ? 2 : 1));
        sides_make<FAST>(j, sides_fetch<FAST, T, V>(j, p, has_left, has_right), &r);
        group_add<FAST, EDGE, FIRST>(j, r, points, t);
        p = beside(j, p, 1, 1);
        r.minus[1] = r.at;
        if (active >> 1 & 1)
            r.at = r.plus[1];
        if (z + 1 < c.hi)
            (active >> 1 & 1 ? r.plus[1] : r.at) = group_make<FAST, R>(j, next);
    }
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* The block's words: those of its warps, in order. */
template <typename R>
FLOE_DEV void block_write(const tallies<R> &t, double (*words)[FLOE_STENCIL_POINTS_WORDS], double *part)
{
    const int joined_at[2][3] = {{FLOE_STENCIL_FIRST_SUM, FLOE_STENCIL_FIRST_LENGTH, FLOE_STENCIL_DIVERGENCE},
                                 {FLOE_STENCIL_SECOND_SUM, FLOE_STENCIL_SECOND_LENGTH, FLOE_STENCIL_LAPLACIAN}};
    double *own = words[threadIdx.x / FLOE_WARP];
#pragma unroll
    for (int order = 0; order < 2; order++)
#pragma unroll
        for (int slot = 0; slot < SLOTS; slot++) {
            const int axis = (order ? FLOE_STENCIL_SECOND : FLOE_STENCIL_FIRST) + slot;
            const int q = slot < SUM ? axis : joined_at[order][slot - SUM];
            const floe_stencil_moments m = floe_tally_moments(t.of[order][slot]);
            const double v[FLOE_STENCIL_MOMENTS] = {m.min, m.max, m.squares, m.max_error, m.error_squares};
#pragma unroll
            for (uint32_t k = 0; k < FLOE_STENCIL_MOMENTS; k++) {
                const double joined = floe_stencil_warp_join(floe_stencil_join_of(k), v[k]);
                if (floe_lane() == 0)
                    own[q * FLOE_STENCIL_MOMENTS + k] = joined;
            }
        }
    const double npoints = floe_stencil_warp_sum(t.npoints), nskipped = floe_stencil_warp_sum(t.nskipped);
    if (floe_lane() == 0) {
        own[FLOE_STENCIL_POINTS_WORDS - 2] = npoints;
        own[FLOE_STENCIL_POINTS_WORDS - 1] = nskipped;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FLOE_STENCIL_POINTS_WORDS; i += THREADS) {
        const bool is_count = i >= FLOE_STENCIL_POINTS_WORDS - 2;
        const floe_stencil_join how = is_count ? FLOE_STENCIL_SUM : floe_stencil_join_of(i % FLOE_STENCIL_MOMENTS);
        double v = words[0][i];
        for (uint32_t w = 1; w < WARPS; w++)
            v = floe_stencil_joined(how, v, words[w][i]);
        part[i] = v;
    }
}

template <typename R> FLOE_DEV void tallies_init(tallies<R> *t)
{
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
        floe_tally_init(&t->of[0][k]);
        floe_tally_init(&t->of[1][k]);
    }
    t->npoints = t->nskipped = 0;
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

/* Boxes of 4 rows, 32 whole groups and 64 planes in turn: a thread has one group and its planes. */
template <typename T, typename R, bool FAST>
FLOE_DEV void boxes_add(const floe_stencil_dev_job *j, uint64_t block, uint64_t nblocks, tallies<R> *t)
{
    const uint64_t ngroups = whole_groups<V_OF(R)>(j), nx = floe_ceil_div(ngroups, FLOE_WARP),
                   ntasks = tasks_of<V_OF(R)>(j);
    const uint64_t rows = points_along(j, 2), ny = floe_ceil_div(rows, WARPS);
    const uint64_t nz = floe_ceil_div(points_along(j, 1), CHUNK);
    for (uint64_t i = block; i < ntasks; i += nblocks) {
        const uint64_t group = i % nx * FLOE_WARP + floe_lane();
        const uint64_t row = i / nx % ny * WARPS + threadIdx.x / FLOE_WARP, chunk = i / nx / ny % nz;
        if (group >= ngroups || row >= rows)
            continue;
        const column c = column_of(j, i / nx / ny / nz, chunk, CHUNK, row, (group + 1) * V_OF(R));
        column_add<T, R, FAST, false>(j, c, t);
    }
}

/* The first or last groups of 32 rows in 16 planes for each warp in turn: a thread has one row. */
template <typename T, typename R>
FLOE_DEV void edges_add(const floe_stencil_dev_job *j, uint64_t block, uint64_t nblocks, tallies<R> *t)
{
    const uint64_t nsides = edge_groups<V_OF(R)>(j), ntasks = edge_tasks_of<V_OF(R)>(j);
    const uint64_t rows = points_along(j, 2), ny = floe_ceil_div(rows, FLOE_WARP);
    const uint64_t nz = floe_ceil_div(points_along(j, 1), EDGE_CHUNK);
    for (uint64_t i = block * WARPS + threadIdx.x / FLOE_WARP; i < ntasks; i += nblocks * WARPS) {
        const uint64_t group = i % nsides ? (j->shape[3] - 2) / V_OF(R) : 0;
        const uint64_t row = i / nsides % ny * FLOE_WARP + floe_lane(), chunk = i / nsides / ny % nz;
        if (row >= rows)
            continue;
        const column c = column_of(j, i / nsides / ny / nz, chunk, EDGE_CHUNK, row, group * V_OF(R));
        column_add<T, R, false, true>(j, c, t);
    }
}

/* The first nedge blocks have the ends of rows, the others all between. */
template <typename T, typename R, bool FAST>
__global__ void __launch_bounds__(THREADS, 2)
    stencil_points_kernel(const __grid_constant__ floe_stencil_dev_job job, uint32_t nedge)
{
    __shared__ double words[WARPS][FLOE_STENCIL_POINTS_WORDS];
    tallies<R> t;
    tallies_init(&t);
    if (blockIdx.x < nedge)
        edges_add<T, R>(&job, blockIdx.x, nedge, &t);
    else
        boxes_add<T, R, FAST>(&job, blockIdx.x - nedge, gridDim.x - nedge, &t);
    block_write(t, words, job.parts + (uint64_t)blockIdx.x * FLOE_STENCIL_POINTS_WORDS);
}

template <typename T, typename R> int launch(const floe_stencil_dev_job *j, double *words, cudaStream_t stream)
{
    const uint32_t nedge = floe_stencil_blocks(floe_ceil_div(edge_tasks_of<V_OF(R)>(j), WARPS));
    const uint32_t nblocks = nedge + floe_stencil_blocks(tasks_of<V_OF(R)>(j));
    if (j->active == ALL_AXES_OF_3D && !j->masked && j->scale == 1 && j->vectors)
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
