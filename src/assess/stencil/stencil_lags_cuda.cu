/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of a signal with itself on a GPU. A thread owns four columns side by side along the row and marches along another
 * axis: it keeps the last elements of its columns in registers, and each new one meets them. For lags along the row an element
 * meets those behind it, which come from the first cache. No warp waits for another one.
 *
 * Columns at the row's end, behind which there are fewer elements than the longest lag, are left to threads that own one.
 */
#include "assess/stencil/stencil_cuda.cuh"

namespace
{

enum {
    WARPS = 4,
    THREADS = WARPS * FLOE_WARP,
    LAGS = FLOE_STENCIL_GROUP,
    CHUNK = 128, /* rows of a task; LAGS and more are read before them */
    BEHIND = 12, /* elements that are read behind a group of four columns: for all lags, as groups */
    ROW = FLOE_STENCIL_AXES - 1
};

/* What the threads of a block add up, each on its own: [along the axis, along the row][lag][box, rest], and squares. */
struct lag_totals {
    double product[2][LAGS][2][THREADS], squares[THREADS];
};

/* A number that the compiler knows. */
template <int N> struct phase_of {
    static constexpr int value = N;
};

/* By what products are found. */
struct rule {
    uint32_t axis, first_lag;
};

/* A thread's columns. */
struct march {
    uint64_t at[FLOE_STENCIL_AXES]; /* of the first column; along the axis the first element of the task */
    uint64_t extent;                /* of the field along the axis */
    int32_t rows;                   /* of the task: elements of a column */
    int64_t x, y, step_x, step_y;   /* the first of them, and from one to the next */
};

/* ---- elements ------------------------------------------------------------------------------------------------------ */

/* FAST: of two fields, all pairs of which count. */
template <bool FAST, typename T> FLOE_DEV double signal_of(const floe_stencil_dev_job *j, T x, T y)
{
    if (FAST)
        return ((double)y - (double)x) - j->mean;
    const double signal = (j->alone ? (double)x : (double)y - (double)x) - j->mean;
    if (!j->masked)
        return signal;
    const bool counts = floe_stencil_is_finite(x, j) && floe_stencil_is_finite(y, j);
    return !counts ? 0 : j->counts ? 1 : signal;
}

template <typename T, int N> struct __align__(sizeof(T) * N < 16 ? sizeof(T) * N : 16) elements { T v[N]; };

/* N elements of a row of both sides as they lie in memory. */
template <typename T, int N> struct raw {
    elements<T, N> x, y;
};

template <typename T, int N>
FLOE_DEV void elements_fetch(const T *from, int64_t step, uint32_t there, elements<T, N> *to)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        to->v[i] = (uint32_t)i < there ? from[i * step] : (T)0;
}

/* Four as vectors where they can be. Elements from `there` on are not in the field. */
template <bool FAST, typename T, int N>
FLOE_DEV raw<T, N> fetch(const floe_stencil_dev_job *j, int64_t at_x, int64_t at_y, uint32_t there)
{
    raw<T, N> r;
    const T *x = (const T *)j->x + at_x, *y = (const T *)j->y + at_y;
    if (FAST || (N == 4 && there == 4 && j->vectors)) {
        r.x = *(const elements<T, N> *)x;
        r.y = *(const elements<T, N> *)y;
    } else {
        elements_fetch(x, j->dx[ROW], there, &r.x);
        elements_fetch(y, j->dy[ROW], there, &r.y);
    }
    return r;
}

template <bool FAST, typename T, int N>
FLOE_DEV void signals_make(const floe_stencil_dev_job *j, const raw<T, N> &r, uint32_t there, double *signals)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        signals[i] = FAST || (uint32_t)i < there ? signal_of<FAST>(j, r.x.v[i], r.y.v[i]) : 0;
}

/* Element `row` of the thread's columns; rows count from the task's first. */
template <bool FAST, typename T, int V>
FLOE_DEV void row_signals(const floe_stencil_dev_job *j, const march &m, int32_t row, double (&signals)[V])
{
    signals_make<FAST, T, V>(j, fetch<FAST, T, V>(j, m.x + row * m.step_x, m.y + row * m.step_y, V), V, signals);
}

/* ---- tasks --------------------------------------------------------------------------------------------------------- */

/* Groups of four columns behind which there are elements at all lags. */
FLOE_HD uint64_t whole_groups(const floe_stencil_dev_job *j, uint32_t first_lag)
{
    const uint64_t behind = floe_max64(first_lag + LAGS - 1, BEHIND);
    return j->shape[ROW] > behind ? (j->shape[ROW] - behind) / 4 : 0;
}

/* Stretches of rows: all axes but the row, along `axis` in chunks. */
FLOE_HD uint64_t stretches_of(const floe_stencil_dev_job *j, uint32_t axis)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < ROW; a++)
        n *= a == axis ? floe_ceil_div(j->shape[a], CHUNK) : j->shape[a];
    return n;
}

FLOE_DEV march march_of(const floe_stencil_dev_job *j, uint32_t axis, uint64_t stretch, uint64_t x)
{
    march m;
    m.at[ROW] = x;
    m.extent = 1;
    m.rows = 1;
    m.step_x = m.step_y = 0;
#pragma unroll
    for (int a = ROW - 1; a >= 0; a--) {
        const bool is_axis = a == (int)axis;
        const uint64_t n = is_axis ? floe_ceil_div(j->shape[a], CHUNK) : j->shape[a];
        m.at[a] = stretch % n * (is_axis ? CHUNK : 1);
        stretch /= n;
        if (is_axis) {
            m.extent = j->shape[a];
            m.rows = (int32_t)floe_min64(CHUNK, m.extent - m.at[a]);
            m.step_x = j->dx[a], m.step_y = j->dy[a];
        }
    }
    m.x = floe_stencil_offset(j->dx, m.at[0], m.at[1], m.at[2], x);
    m.y = floe_stencil_offset(j->dy, m.at[0], m.at[1], m.at[2], x);
    return m;
}

/* ---- adding up ----------------------------------------------------------------------------------------------------- */

/* A thread's sums go to its totals: to the box where the lag is at most `reach`. Seldom, and large when inlined. */
FLOE_DEV_SELDOM void flush_out(const double *sum, uint32_t first_lag, uint64_t reach, double (*total)[2][THREADS])
{
#pragma unroll 1
    for (uint32_t k = 0; k < LAGS; k++)
        total[k][first_lag + k <= reach ? 0 : 1][threadIdx.x] += sum[k];
}
FLOE_DEV void flush(double (&sum)[LAGS], uint32_t first_lag, uint64_t reach, double (*total)[2][THREADS])
{
    double out[LAGS]; /* so that only the copy is in memory */
#pragma unroll
    for (int k = 0; k < LAGS; k++)
        out[k] = sum[k], sum[k] = 0;
    flush_out(out, first_lag, reach, total);
}

/* ---- the march ----------------------------------------------------------------------------------------------------- */

/* A thread's sums, and the elements that its next ones meet: ring[(row - 1 - k) % LAGS] is element row - first_lag - k. */
template <int V> struct lag_sums {
    double ring[LAGS][V], along_axis[LAGS], along_row[LAGS], squares;
};

/* FAR: first_lag is not 1. */
template <bool FAST, bool FAR, typename T, int V>
FLOE_DEV void sums_begin(const floe_stencil_dev_job *j, const march &m, const rule &r, lag_sums<V> *s)
{
#pragma unroll
    for (int k = 0; k < LAGS; k++) {
        const uint32_t back = FAR ? r.first_lag + (uint32_t)k : (uint32_t)k + 1;
#pragma unroll
        for (int i = 0; i < V; i++)
            s->ring[LAGS - 1 - k][i] = 0;
        if (back <= m.at[r.axis])
            row_signals<FAST, T, V>(j, m, -(int32_t)back, s->ring[LAGS - 1 - k]);
        s->along_axis[k] = s->along_row[k] = 0;
    }
    s->squares = 0;
}

/* Elements of a row meet those before them along the axis. */
template <bool FAST, bool FAR, int PHASE, typename T, int V>
FLOE_DEV void axis_add(const floe_stencil_dev_job *j, const march &m, const rule &r, int32_t row,
                       const double (&now)[V], lag_sums<V> *s)
{
#pragma unroll
    for (int k = 0; k < LAGS; k++)
#pragma unroll
        for (int i = 0; i < V; i++)
            s->along_axis[k] = fma(now[i], s->ring[(PHASE - 1 - k + LAGS) % LAGS][i], s->along_axis[k]);
    const int32_t back = row - (int32_t)r.first_lag + 1;
    const bool there = back < m.rows && (back >= 0 || (uint64_t)-back <= m.at[r.axis]);
#pragma unroll
    for (int i = 0; i < V; i++)
        s->ring[PHASE][i] = FAR ? 0 : now[i];
    if (FAR && there)
        row_signals<FAST, T, V>(j, m, back, s->ring[PHASE]);
}

/* Elements of a row meet those behind them along the row. */
template <bool FAST, bool FAR, typename T, int V>
FLOE_DEV void row_add(const floe_stencil_dev_job *j, const march &m, const rule &r, int32_t row, const double (&now)[V],
                      lag_sums<V> *s)
{
    enum { ALL = LAGS + V - 1 }; /* elements from first_lag on */
    const uint32_t lag = FAR ? r.first_lag : 1;
    const uint64_t from = m.at[ROW] + lag, left = from < j->shape[ROW] ? j->shape[ROW] - from : 0;
    const int64_t x = m.x + row * m.step_x, y = m.y + row * m.step_y;
    double behind[BEHIND + V];
    if (V == 4 && !FAR) {
        const int64_t dx = FAST ? 1 : j->dx[ROW], dy = FAST ? 1 : j->dy[ROW];
#pragma unroll
        for (int i = 1; i < V; i++)
            behind[i - 1] = now[i];
#pragma unroll
        for (int k = V; k < V + BEHIND; k += V)
            signals_make<FAST, T, V>(j, fetch<FAST, T, V>(j, x + k * dx, y + k * dy, V), V, behind + k - 1);
    } else {
        const uint32_t there = (uint32_t)floe_min64(left, ALL);
        const raw<T, ALL> raws = fetch<false, T, ALL>(j, x + lag * j->dx[ROW], y + lag * j->dy[ROW], there);
        signals_make<false, T, ALL>(j, raws, there, behind);
    }
#pragma unroll
    for (int i = 0; i < V; i++)
#pragma unroll
        for (int k = 0; k < LAGS; k++)
            s->along_row[k] = fma(now[i], behind[k + i], s->along_row[k]);
#pragma unroll
    for (int i = 0; i < V; i++)
        s->squares = fma(now[i], now[i], s->squares);
}

/* The same where rows near the axis' end are told apart: their points have no partners along it at the longer lags. */
template <bool FAST, bool FAR, typename T, int V>
FLOE_DEV void row_add_judged(const floe_stencil_dev_job *j, const march &m, const rule &r, int32_t row, uint64_t reach,
                             const double (&now)[V], double (*total)[2][THREADS], lag_sums<V> *s)
{
    const uint64_t own = m.extent - 1 - m.at[r.axis] - (uint64_t)row;
    const bool ending = m.extent > 1 && own < r.first_lag + LAGS - 1;
    if (ending)
        flush(s->along_row, r.first_lag, m.extent > 1 ? floe_min64(reach, own + 1) : reach, total);
    row_add<FAST, FAR, T, V>(j, m, r, row, now, s);
}

template <typename T, int V, bool FAST, bool WITH_ROW, bool FAR>
FLOE_DEV void columns_add(const floe_stencil_dev_job *j, const rule &r, const march &m, lag_totals *totals)
{
    lag_sums<V> sums, *const s = &sums;
    uint64_t origin[FLOE_STENCIL_AXES] = {m.at[0], m.at[1], m.at[2], m.at[ROW] + V - 1};
    const uint64_t reach_axis = floe_stencil_reach(j->shape, origin, r.axis);
    origin[r.axis] = 0;
    const uint64_t reach_row = floe_stencil_reach(j->shape, origin, ROW);
    raw<T, V> next;
    sums_begin<FAST, FAR, T, V>(j, m, r, s);
    next = fetch<FAST, T, V>(j, m.x, m.y, V);
    const auto step = [&](auto phase, int32_t base) {
        const int32_t row = base + phase.value;
        double now[V];
        if (row >= m.rows)
            return;
        signals_make<FAST, T, V>(j, next, V, now);
        if (row + 1 < m.rows)
            next = fetch<FAST, T, V>(j, m.x + (row + 1) * m.step_x, m.y + (row + 1) * m.step_y, V);
        axis_add<FAST, FAR, phase.value, T, V>(j, m, r, row, now, s);
        if (WITH_ROW)
            row_add_judged<FAST, FAR, T, V>(j, m, r, row, reach_row, now, totals->product[1], s);
    };
#pragma unroll 1
    for (int32_t base = 0; base < m.rows; base += LAGS) {
        step(phase_of<0>(), base), step(phase_of<1>(), base), step(phase_of<2>(), base), step(phase_of<3>(), base);
        step(phase_of<4>(), base), step(phase_of<5>(), base), step(phase_of<6>(), base), step(phase_of<7>(), base);
        step(phase_of<8>(), base), step(phase_of<9>(), base);
    }
    const uint64_t last = m.extent - 1 - m.at[r.axis] - (uint64_t)(m.rows - 1);
    flush(s->along_axis, r.first_lag, reach_axis, totals->product[0]);
    if (WITH_ROW)
        flush(s->along_row, r.first_lag, m.extent > 1 ? floe_min64(reach_row, last) : reach_row, totals->product[1]);
    totals->squares[threadIdx.x] += s->squares;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* Words of the block: those of its threads, in order. */
FLOE_DEV void block_write(const lag_totals *totals, double *part)
{
    const double *words = &totals->product[0][0][0][0];
    __syncthreads();
    for (uint32_t i = threadIdx.x / FLOE_WARP; i < FLOE_STENCIL_LAGS_WORDS; i += WARPS) {
        double v = 0;
        for (uint32_t k = floe_lane(); k < THREADS; k += FLOE_WARP)
            v += words[i * THREADS + k];
        v = floe_stencil_warp_sum(v);
        if (floe_lane() == 0)
            part[i] = v;
    }
}

/* The first nedge blocks have the columns at the row's end, a thread one; in the others a thread has four columns in turn. */
template <typename T, bool FAST, bool WITH_ROW, bool FAR>
__global__ void __launch_bounds__(THREADS, 2)
    stencil_lags_kernel(const __grid_constant__ floe_stencil_dev_job job, rule r, uint32_t nedge)
{
    __shared__ lag_totals totals;
    const uint64_t ngroups = whole_groups(&job, r.first_lag), nx = floe_ceil_div(ngroups, FLOE_WARP);
    const uint64_t ncolumns = job.shape[ROW] - 4 * ngroups, stretches = stretches_of(&job, r.axis);
    double *words = &totals.product[0][0][0][0];
    for (uint32_t i = 0; i < FLOE_STENCIL_LAGS_WORDS; i++)
        words[i * THREADS + threadIdx.x] = 0;
    if (blockIdx.x < nedge) {
        for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < ncolumns * stretches;
             i += nedge * THREADS) {
            const march m = march_of(&job, r.axis, i / ncolumns, 4 * ngroups + i % ncolumns);
            columns_add<T, 1, false, WITH_ROW, FAR>(&job, r, m, &totals);
        }
    } else {
        const uint64_t first = (uint64_t)(blockIdx.x - nedge) * WARPS + threadIdx.x / FLOE_WARP;
        for (uint64_t i = first; i < nx * stretches; i += (uint64_t)(gridDim.x - nedge) * WARPS) {
            const uint64_t group = i % nx * FLOE_WARP + floe_lane();
            if (group >= ngroups)
                continue;
            const march m = march_of(&job, r.axis, i / nx, 4 * group);
            columns_add<T, 4, FAST, WITH_ROW, FAR>(&job, r, m, &totals);
        }
    }
    block_write(&totals, job.parts + (uint64_t)blockIdx.x * FLOE_STENCIL_LAGS_WORDS);
}

/* Blocks of the ends of rows, and of all. */
struct grid {
    uint32_t nedge, nblocks;
};

grid grid_of(const floe_stencil_dev_job *j, const rule &r)
{
    const uint64_t ngroups = whole_groups(j, r.first_lag), stretches = stretches_of(j, r.axis);
    const uint64_t nedge = floe_ceil_div((j->shape[ROW] - 4 * ngroups) * stretches, THREADS);
    const uint64_t nmain = floe_ceil_div(floe_ceil_div(ngroups, FLOE_WARP) * stretches, WARPS);
    grid g;
    g.nedge = floe_stencil_blocks(nedge);
    g.nblocks = g.nedge + (nmain ? floe_stencil_blocks(nmain) : 0);
    return g;
}

template <typename T, bool FAST, bool FAR>
void launch(const floe_stencil_dev_job *job, const rule &r, bool with_row, const grid &g, cudaStream_t stream)
{
    if (with_row)
        FLOE_LAUNCH((stencil_lags_kernel<T, FAST, true, FAR>), g.nblocks, THREADS, 0, stream, *job, r, g.nedge);
    else
        FLOE_LAUNCH((stencil_lags_kernel<T, FAST, false, FAR>), g.nblocks, THREADS, 0, stream, *job, r, g.nedge);
}

template <typename T>
void launch_real(const floe_stencil_dev_job *job, const rule &r, bool with_row, const grid &g, cudaStream_t stream)
{
    if (r.first_lag > 1)
        launch<T, false, true>(job, r, with_row, g, stream);
    else if (job->vectors && !job->masked && !job->alone)
        launch<T, true, false>(job, r, with_row, g, stream);
    else
        launch<T, false, false>(job, r, with_row, g, stream);
}

} // namespace

int floe_stencil_lags_cuda(const floe_stencil_dev_job *job, uint32_t axis, bool with_row, uint32_t first_lag,
                           double *words, void *stream)
{
    const rule r = {axis, first_lag};
    const grid g = grid_of(job, r);
    if (job->narrow)
        launch_real<float>(job, r, with_row, g, (cudaStream_t)stream);
    else
        launch_real<double>(job, r, with_row, g, (cudaStream_t)stream);
    const int error = (int)cudaGetLastError();
    return error ? error
                 : floe_stencil_join_parts(job->parts, g.nblocks, FLOE_STENCIL_LAGS_WORDS, 0, words,
                                           (cudaStream_t)stream);
}
