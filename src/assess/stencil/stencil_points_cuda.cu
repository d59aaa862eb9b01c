/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derivatives on a GPU. A thread owns a group of points side by side in the row and marches along z with it: what lies along z it
 * keeps in registers, all else comes from the first cache, where the warps of a block, rows side by side, have put it for one
 * another; what it needs of the next plane is on its way meanwhile. So no warp waits for another one. How points are divided:
 * stencil_columns_cuda.cuh.
 */
#include "assess/stencil/stencil_columns_cuda.cuh"
#include "assess/stencil/stencil_points_cuda.cuh"

namespace
{

enum {
    SUM = FLOE_STENCIL_AXES,
    LENGTH,
    TRACE,
    SLOTS,           /* quantities of an order: those before SUM are of axes */
    SQUARES = SLOTS, /* of the original, of one of them */
    SUMS,            /* of an order */
    PROCESSORS = 132,
    BLOCKS_AT_ONCE = 3 /* of quick kernels on each, by the registers that it has */
};

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

/* A thread's sums of both orders, for which doubles leave no registers: then they lie in shared memory, two by two. */
template <typename R> struct sums;

template <> struct sums<float> {
    enum { SHARED = 1 }; /* none; but an array has one */
    double own[2][SUMS];
};

template <> struct sums<double> {
    enum { PAIRS = SUMS / 2, SHARED = 2 * PAIRS * THREADS };
    double2 *first;
};

FLOE_DEV double2 *sums_pair(const sums<double> &s, int order, int pair)
{
    return s.first + (order * sums<double>::PAIRS + pair) * THREADS;
}

/* shared: of the block. */
FLOE_DEV void sums_begin(double2 *, sums<float> *s) { memset(s->own, 0, sizeof s->own); }
FLOE_DEV void sums_begin(double2 *shared, sums<double> *s)
{
    s->first = shared + threadIdx.x;
#pragma unroll
    for (int pair = 0; pair < 2 * sums<double>::PAIRS; pair++)
        *sums_pair(*s, 0, pair) = make_double2(0, 0);
}

/* terms: of a group; FIRST: there are none before it. */
template <int ORDER, int FIRST> FLOE_DEV void sums_add(sums<float> *s, const float (&terms)[SUMS])
{
#pragma unroll
    for (int k = FIRST; k < SUMS; k++)
        s->own[ORDER - 1][k] += (double)terms[k];
}
template <int ORDER, int FIRST> FLOE_DEV void sums_add(sums<double> *s, const double (&terms)[SUMS])
{
#pragma unroll
    for (int pair = FIRST / 2; pair < sums<double>::PAIRS; pair++) {
        double2 *p = sums_pair(*s, ORDER - 1, pair);
        if (2 * pair < FIRST)
            p->y += terms[2 * pair + 1];
        else
            *p = make_double2(p->x + terms[2 * pair], p->y + terms[2 * pair + 1]);
    }
}

FLOE_DEV double sums_at(const sums<float> &s, int order, int k) { return s.own[order][k]; }
FLOE_DEV double sums_at(const sums<double> &s, int order, int k)
{
    const double2 *p = sums_pair(s, order, k / 2);
    return k % 2 ? p->y : p->x;
}

template <typename R> struct tallies {
    floe_tally<R> of[2][SLOTS]; /* of first and second derivatives */
    sums<R> squares;            /* of errors, and of the original where they are asked for */
    uint32_t npoints, nskipped;
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

/* Returns the sum of squares of errors. */
template <bool CAREFUL, bool MAGNITUDE, typename R>
FLOE_DEV R tally_add(floe_tally<R> *t, R (&f)[V_OF(R)], R (&e)[V_OF(R)], uint32_t points)
{
    patch<CAREFUL>(f, points);
    blank<CAREFUL>(e, points);
#pragma unroll
    for (int i = 0; i < V_OF(R); i += 2)
        if (MAGNITUDE)
            floe_extremes_add_magnitudes(&t->extremes, f[i], f[i + 1]);
        else
            floe_extremes_add(&t->extremes, f[i], f[i + 1]);
    return floe_real_tools<R>::errors(&t->error, e);
}

/* What joins the axes at the points of a group. */
template <typename R> struct joined {
    R sum_f[V_OF(R)], sum_g[V_OF(R)], squares_f[V_OF(R)], squares_g[V_OF(R)], trace_f[V_OF(R)], trace_e[V_OF(R)];
};

template <typename R> FLOE_DEV void joined_begin(joined<R> *j)
{
    memset(j, 0, sizeof *j);
#pragma unroll
    for (int i = 0; i < V_OF(R); i++) {
        floe_no_squares(&j->squares_f[i]);
        floe_no_squares(&j->squares_g[i]);
    }
}

/* Returns the sum of squares of errors. */
template <int ORDER, bool CAREFUL, typename R>
FLOE_DEV R axis_add(const around<R> &r, int a, bool is_first, uint32_t points, joined<R> *j, tallies<R> *t)
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
        j->squares_f[i] = floe_square_add(j->squares_f[i], f[i]);
        j->squares_g[i] = floe_square_add(j->squares_g[i], g);
        j->trace_f[i] = is_first ? f[i] : j->trace_f[i] + f[i];
        j->trace_e[i] = is_first ? e[i] : j->trace_e[i] + e[i];
    }
    return tally_add<CAREFUL, false>(&t->of[ORDER - 1][a], f, e, points);
}

/* All quantities of an order. FIRST: the first axis that may have derivatives; ALL: it and those after it have. */
template <int ORDER, int FIRST, bool ALL, bool CAREFUL, typename R>
FLOE_DEV void order_add(const around<R> &r, uint32_t active, uint32_t points, tallies<R> *t)
{
    joined<R> j;
    joined_begin(&j);
    R terms[SUMS], e[V_OF(R)];
#pragma unroll
    for (int a = 0; a < FLOE_STENCIL_AXES; a++)
        terms[a] = a >= FIRST && (ALL || (active >> a & 1))
                       ? axis_add<ORDER, CAREFUL>(r, a, ALL && a == FIRST, points, &j, t)
                       : 0;
    floe_tally<R> *of = t->of[ORDER - 1];
#pragma unroll
    for (int i = 0; i < V_OF(R); i++)
        e[i] = j.sum_g[i] - j.sum_f[i];
    terms[SUM] = tally_add<CAREFUL, true>(&of[SUM], j.sum_f, e, points);
    if (ORDER == 1) {
        R squares[V_OF(R)];
        memcpy(squares, j.squares_f, sizeof squares);
        blank<CAREFUL>(squares, points);
        terms[SQUARES] = floe_real_tools<R>::sum(squares);
    }
#pragma unroll
    for (int i = 0; i < V_OF(R); i++) {
        j.squares_f[i] = floe_length(j.squares_f[i]);
        e[i] = floe_length(j.squares_g[i]) - j.squares_f[i];
    }
    terms[LENGTH] = tally_add<CAREFUL, true>(&of[LENGTH], j.squares_f, e, points);
    if (ORDER == 2) {
        R f[V_OF(R)];
        memcpy(f, j.trace_f, sizeof f);
        blank<CAREFUL>(f, points);
        terms[SQUARES] = floe_real_tools<R>::squares(f);
    }
    terms[TRACE] = tally_add<CAREFUL, false>(&of[TRACE], j.trace_f, j.trace_e, points);
    sums_add<ORDER, FIRST>(&t->squares, terms);
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
        order_add<1, 1, true, EDGE>(r, ALL_AXES_OF_3D, points, t);
        order_add<2, 1, true, EDGE>(r, ALL_AXES_OF_3D, points, t);
        r.minus[1] = r.at;
        r.at = r.plus[1];
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
            const bool has_squares = slot == (order ? TRACE : LENGTH);
            const double v[FLOE_STENCIL_MOMENTS] = {
                floe_extremes_min(t.of[order][slot].extremes), floe_extremes_max(t.of[order][slot].extremes),
                has_squares ? sums_at(t.squares, order, SQUARES) : 0,
                floe_real_tools<R>::error_of(t.of[order][slot].error), sums_at(t.squares, order, slot)};
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

/* shared: of the block. */
template <typename R> FLOE_DEV void tallies_init(double2 *shared, tallies<R> *t)
{
#pragma unroll
    for (int order = 0; order < 2; order++)
#pragma unroll
        for (int k = 0; k < SLOTS; k++)
            floe_tally_init(&t->of[order][k]);
    sums_begin(shared, &t->squares);
    t->npoints = t->nskipped = 0;
}

/* nedge blocks have the ends of rows, the others all between. */
template <typename T, typename R, bool FAST>
__global__ void __launch_bounds__(THREADS, is_staged<T, R, FAST>::value ? BLOCKS_AT_ONCE : 2)
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
    const uint64_t most =
        fast && is_staged<T, R, true>::value ? (uint64_t)BLOCKS_AT_ONCE * PROCESSORS : FLOE_STENCIL_MAX_BLOCKS;
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
