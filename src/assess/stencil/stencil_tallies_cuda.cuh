/* SPDX-License-Identifier: BSD-3-Clause */
/* Derivatives on a GPU: the quantities at the points of a group, what a thread keeps of them, and what a block makes of that. */
#ifndef FLOE_ASSESS_STENCIL_TALLIES_CUDA_CUH
#define FLOE_ASSESS_STENCIL_TALLIES_CUDA_CUH

#include "assess/stencil/stencil_columns_cuda.cuh"

namespace
{

enum {
    SUM = FLOE_STENCIL_AXES,
    LENGTH,
    TRACE,
    SLOTS,           /* quantities of an order: those before SUM are of axes */
    SQUARES = SLOTS, /* of the original, of one of them */
    SUMS             /* of an order */
};

/* Along w, z, y, x; what lies along axes without derivatives is not looked at. */
template <typename R> struct around {
    floe_group<R> at, minus[FLOE_STENCIL_AXES], plus[FLOE_STENCIL_AXES];
};

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
    sums<R> squares;            /* of errors, and of the original where they are requested */
    uint32_t npoints, nskipped;
};

/* The points of a group: all of them count; or those that do not are like others that do, but without errors; or they are like
 * nothing, so that what is found there must be taken out of everything. */
enum points_kind { ALL_COUNT, OTHERS_PATCHED, SOME_COUNT };

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
template <points_kind KIND, bool MAGNITUDE, typename R>
FLOE_DEV R tally_add(floe_tally<R> *t, R (&f)[V_OF(R)], R (&e)[V_OF(R)], uint32_t points)
{
    patch<KIND == SOME_COUNT>(f, points);
    blank<KIND == SOME_COUNT>(e, points);
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
template <int ORDER, points_kind KIND, typename R>
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
    return tally_add<KIND, false>(&t->of[ORDER - 1][a], f, e, points);
}

/* All quantities of an order. FIRST: the first axis that may have derivatives; ALL: it and those after it have. Returns the sum
 * of squares of the original's lengths. */
template <int ORDER, int FIRST, bool ALL, points_kind KIND, typename R>
FLOE_DEV R order_add(const around<R> &r, uint32_t active, uint32_t points, tallies<R> *t)
{
    joined<R> j;
    joined_begin(&j);
    R terms[SUMS], e[V_OF(R)];
#pragma unroll
    for (int a = 0; a < FLOE_STENCIL_AXES; a++)
        terms[a] = a >= FIRST && (ALL || (active >> a & 1))
                       ? axis_add<ORDER, KIND>(r, a, ALL && a == FIRST, points, &j, t)
                       : 0;
    floe_tally<R> *of = t->of[ORDER - 1];
#pragma unroll
    for (int i = 0; i < V_OF(R); i++)
        e[i] = j.sum_g[i] - j.sum_f[i];
    terms[SUM] = tally_add<KIND, true>(&of[SUM], j.sum_f, e, points);
    R squares[V_OF(R)];
    memcpy(squares, j.squares_f, sizeof squares);
    blank<KIND != ALL_COUNT>(squares, points);
    const R lengths = floe_real_tools<R>::sum(squares);
    if (ORDER == 1)
        terms[SQUARES] = lengths;
#pragma unroll
    for (int i = 0; i < V_OF(R); i++) {
        j.squares_f[i] = floe_length(j.squares_f[i]);
        e[i] = floe_length(j.squares_g[i]) - j.squares_f[i];
    }
    terms[LENGTH] = tally_add<KIND, true>(&of[LENGTH], j.squares_f, e, points);
    if (ORDER == 2) {
        R f[V_OF(R)];
        memcpy(f, j.trace_f, sizeof f);
        blank<KIND != ALL_COUNT>(f, points);
        terms[SQUARES] = floe_real_tools<R>::squares(f);
    }
    terms[TRACE] = tally_add<KIND, false>(&of[TRACE], j.trace_f, j.trace_e, points);
    sums_add<ORDER, FIRST>(&t->squares, terms);
    return lengths;
}

/* ---- blocks -------------------------------------------------------------------------------------------------------- */

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

} // namespace

#endif
