/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of a signal with itself at any lags, kept apart by whether the first point has its partner along every axis. A thread
 * marches along a column, eight elements a step, with those that they meet in registers. For fields whose totals matrix
 * products have found, only columns near the ends of other axes are looked at: it is there that points have no partner.
 */
#include "assess/stencil/stencil_signal_cuda.cuh"

namespace
{

enum {
    WARPS = 4,
    THREADS = WARPS * FLOE_WARP,
    LAGS = FLOE_STENCIL_GROUP,
    STEP = 8,   /* elements of a step */
    CHUNK = 64, /* of a task */
    ROW = FLOE_STENCIL_AXES - 1,
    AXIS_WORDS = 2 * LAGS
};

/* ---- columns ------------------------------------------------------------------------------------------------------- */

/* First points of columns, and behind their last ones; along the march's axis all of it. */
struct box {
    uint64_t lo[FLOE_STENCIL_AXES], hi[FLOE_STENCIL_AXES];
};

/* near_ends: columns less than LAGS from the end of axis k, but not of one before it; else all, as the last one's. */
FLOE_DEV box box_of(const floe_stencil_dev_job *j, int axis, bool near_ends, int k)
{
    const bool is_none = near_ends ? k == axis || j->shape[k] == 1 : k != ROW;
    box b;
#pragma unroll
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        const uint64_t n = j->shape[a], end = n > LAGS ? n - LAGS : 0;
        const bool judged = near_ends && a != axis && n > 1;
        b.lo[a] = judged && a == k ? end : 0;
        b.hi[a] = is_none ? 0 : judged && a < k ? end : n;
    }
    return b;
}

/* A chunk of a column. */
struct column {
    int64_t x, y, step_x, step_y; /* of element 0 of the axis */
    int64_t lo, hi;               /* along the axis */
    bool vectors;                 /* fours of elements lie as vectors */
    uint64_t reach;
};

FLOE_DEV uint64_t ntasks_of(const box &b, int axis)
{
    uint64_t n = 1;
#pragma unroll
    for (int a = 0; a < FLOE_STENCIL_AXES; a++)
        n *= a == axis ? floe_ceil_div(b.hi[a], CHUNK) : b.hi[a] - b.lo[a];
    return n;
}

FLOE_DEV column column_of(const floe_stencil_dev_job *j, const box &b, int axis, uint64_t task)
{
    uint64_t at[FLOE_STENCIL_AXES];
    column c;
#pragma unroll
    for (int a = ROW; a >= 0; a--) {
        const uint64_t n = a == axis ? floe_ceil_div(b.hi[a], CHUNK) : b.hi[a] - b.lo[a];
        at[a] = b.lo[a] + task % n;
        if (a == axis) {
            c.lo = (int64_t)(task % n * CHUNK);
            c.hi = (int64_t)floe_min64((uint64_t)c.lo + CHUNK, b.hi[a]);
            c.step_x = j->dx[a], c.step_y = j->dy[a];
            at[a] = 0;
        }
        task /= n;
    }
    c.x = floe_stencil_offset(j->dx, at[0], at[1], at[2], at[3]);
    c.y = floe_stencil_offset(j->dy, at[0], at[1], at[2], at[3]);
    c.vectors = axis == ROW && j->vectors;
    c.reach = floe_stencil_reach(j->shape, at, (uint32_t)axis);
    return c;
}

template <bool FAST, typename T> FLOE_DEV double signal_at(const floe_stencil_dev_job *j, const column &c, int64_t i)
{
    return floe_stencil_signal<FAST>(j, ((const T *)j->x)[c.x + i * c.step_x], ((const T *)j->y)[c.y + i * c.step_y]);
}

/* The elements of a step, all of which are there. */
template <bool FAST, typename T>
FLOE_DEV void step_fetch(const floe_stencil_dev_job *j, const column &c, int64_t at, double *signals)
{
#pragma unroll
    for (int k = 0; k < STEP; k += 4) {
        const floe_stencil_raw<T> raw = floe_stencil_raw_at<T>(j, c.x + at + k, c.y + at + k);
#pragma unroll
        for (int i = 0; i < 4; i++)
            signals[k + i] = floe_stencil_signal<FAST>(j, raw.x.v[i], raw.y.v[i]);
    }
}

/* N elements from `at` on; 0 where there is none. */
template <bool FAST, typename T, int N>
FLOE_DEV void signals_fetch(const floe_stencil_dev_job *j, const column &c, int64_t at, double *signals)
{
    if (at >= 0 && at + N <= c.hi) {
#pragma unroll
        for (int i = 0; i < N; i++)
            signals[i] = signal_at<FAST, T>(j, c, at + i);
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        signals[i] = at + i >= 0 && at + i < c.hi ? signal_at<FAST, T>(j, c, at + i) : 0;
}

/* ---- the march ----------------------------------------------------------------------------------------------------- */

/* A thread's sums along an axis: of points in the box, and of others. */
struct totals {
    double box[LAGS], rest[LAGS], squares;
};

FLOE_DEV void totals_add(totals *t, const double (&sum)[LAGS], uint32_t first_lag, uint64_t reach)
{
#pragma unroll
    for (int k = 0; k < LAGS; k++) {
        const bool in_box = first_lag + (uint32_t)k <= reach;
        t->box[k] += in_box ? sum[k] : 0;
        t->rest[k] += in_box ? 0 : sum[k];
    }
}

/* FAR: first_lag is not 1; else elements meet those of their own step, too. */
template <bool FAST, bool FAR, typename T>
FLOE_DEV void column_add(const floe_stencil_dev_job *j, const column &c, uint32_t first_lag, totals *t)
{
    double sum[LAGS], before[LAGS + STEP]; /* from element first_lag + LAGS - 1 before the step's first on */
#pragma unroll
    for (int k = 0; k < LAGS; k++)
        sum[k] = 0;
    signals_fetch<FAST, T, LAGS>(j, c, c.lo - (int64_t)first_lag - (LAGS - 1), before);
#pragma unroll 1
    for (int64_t at = c.lo; at < c.hi; at += STEP) {
        double now[STEP];
        if (c.vectors && at + STEP <= c.hi)
            step_fetch<FAST, T>(j, c, at, now);
        else
            signals_fetch<FAST, T, STEP>(j, c, at, now);
        if (FAR)
            signals_fetch<FAST, T, STEP>(j, c, at + 1 - (int64_t)first_lag, before + LAGS);
#pragma unroll
        for (int i = 0; i < STEP && !FAR; i++)
            before[LAGS + i] = now[i];
#pragma unroll
        for (int i = 0; i < STEP; i++) {
            t->squares = fma(now[i], now[i], t->squares);
#pragma unroll
            for (int k = 0; k < LAGS; k++)
                sum[k] = fma(now[i], before[i + LAGS - 1 - k], sum[k]);
        }
#pragma unroll
        for (int k = 0; k < LAGS; k++)
            before[k] = before[k + STEP];
    }
    totals_add(t, sum, first_lag, c.reach);
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* The block's words of its axis: those of its warps, in order; words of others are 0. */
FLOE_DEV void totals_write(const totals &t, int axis, double (*words)[AXIS_WORDS + 1], double *part)
{
    double *own = words[threadIdx.x / FLOE_WARP];
#pragma unroll
    for (int k = 0; k < LAGS; k++) {
        own[2 * k] = floe_stencil_warp_sum(t.box[k]);
        own[2 * k + 1] = floe_stencil_warp_sum(t.rest[k]);
    }
    own[AXIS_WORDS] = floe_stencil_warp_sum(t.squares);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < FLOE_STENCIL_LAGS_WORDS; i += THREADS) {
        const bool is_squares = i == FLOE_STENCIL_LAGS_WORDS - 1;
        double v = 0;
        for (int w = 0; w < WARPS && (is_squares ? axis == ROW : axis == i / AXIS_WORDS); w++)
            v += words[w][is_squares ? AXIS_WORDS : i % AXIS_WORDS];
        part[i] = v;
    }
}

/* A block has one axis, a thread a chunk of a column along it in turn. */
template <typename T, bool FAST, bool FAR>
__global__ void __launch_bounds__(THREADS, 3)
    stencil_lags_kernel(const __grid_constant__ floe_stencil_dev_job job, uint32_t first_lag, uint32_t near_ends)
{
    __shared__ double words[WARPS][AXIS_WORDS + 1];
    const int axis = (int)(blockIdx.x % FLOE_STENCIL_AXES);
    uint64_t task = (uint64_t)(blockIdx.x / FLOE_STENCIL_AXES) * THREADS + threadIdx.x;
    totals t;
    memset(&t, 0, sizeof t);
#pragma unroll 1
    for (int k = 0; k < FLOE_STENCIL_AXES && (job.shape[axis] > 1 || axis == ROW); k++) {
        const box b = box_of(&job, axis, near_ends, k);
        const uint64_t ntasks = ntasks_of(b, axis);
        for (; task < ntasks; task += (uint64_t)(gridDim.x / FLOE_STENCIL_AXES) * THREADS)
            column_add<FAST, FAR, T>(&job, column_of(&job, b, axis, task), first_lag, &t);
        task -= ntasks;
    }
    totals_write(t, axis, words, job.parts + (uint64_t)blockIdx.x * FLOE_STENCIL_LAGS_WORDS);
}

/* As many blocks for each axis as the one with most columns gives work. */
uint32_t nblocks_of(const floe_stencil_dev_job *j, bool near_ends)
{
    uint64_t nelems = 1, most = 1;
    for (int a = 0; a < FLOE_STENCIL_AXES; a++)
        nelems *= j->shape[a];
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        const uint64_t columns = nelems / j->shape[a] * floe_ceil_div(j->shape[a], CHUNK);
        most = floe_max64(most, near_ends ? columns / 8 : columns);
    }
    return floe_stencil_blocks(FLOE_STENCIL_AXES * floe_ceil_div(most, THREADS));
}

template <typename T>
void launch(const floe_stencil_dev_job *job, uint32_t nblocks, bool near_ends, uint32_t first_lag, cudaStream_t stream)
{
    if (first_lag > 1)
        FLOE_LAUNCH((stencil_lags_kernel<T, false, true>), nblocks, THREADS, 0, stream, *job, first_lag, near_ends);
    else if (job->masked || job->alone)
        FLOE_LAUNCH((stencil_lags_kernel<T, false, false>), nblocks, THREADS, 0, stream, *job, first_lag, near_ends);
    else
        FLOE_LAUNCH((stencil_lags_kernel<T, true, false>), nblocks, THREADS, 0, stream, *job, first_lag, near_ends);
}

} // namespace

int floe_stencil_lags_cuda(const floe_stencil_dev_job *job, bool near_ends, uint32_t first_lag, double *words,
                           void *stream)
{
    const cudaStream_t s = (cudaStream_t)stream;
    const uint32_t nblocks = nblocks_of(job, near_ends);
    if (job->narrow)
        launch<float>(job, nblocks, near_ends, first_lag, s);
    else
        launch<double>(job, nblocks, near_ends, first_lag, s);
    const int error = (int)cudaGetLastError();
    return error ? error : floe_stencil_join_parts(job->parts, nblocks, FLOE_STENCIL_LAGS_WORDS, 0, words, s);
}
