/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slow way: for each box of windows, terms and sums along rows in one pass over the values, then a pass over the sums
 * for each further axis, and the losses of what the last one left.
 *
 * As on the CPU an axis is cut into stretches as long as the window, from the beginning of the field. A thread takes one
 * stretch. It walks back through it, and leaves the suffix sums in the places of the windows that begin there; then it
 * walks through the next stretch, and adds the prefix sums to them.
 */
#include "assess/window/ssim_losses_cuda.cuh"

namespace
{

enum {
    THREADS = 256,
    WARPS = THREADS / FLOE_WARP,
    JOINERS = 1024, /* the only block that joins: it has the more loads under way */
    LAST = FLOE_MAX_RANK - 1,
    MOST_BLOCKS = 1 << 16
};

/* Windows k = 0 .. nwindows - 1 of one axis of a box begin at (lo + k) * step. */
typedef struct axis_windows {
    uint64_t window, step, lo, nwindows;
    uint64_t begin, end; /* values that they cover */
    uint64_t first, nstretches;
} axis_windows;

axis_windows axis_of(const floe_ssim_plan *plan, const floe_ssim_box *box, uint32_t a)
{
    axis_windows w;
    w.window = plan->options.window[a];
    w.step = plan->options.step[a];
    w.lo = box->lo[a];
    w.nwindows = box->n[a];
    w.begin = w.lo * w.step;
    w.end = w.begin + floe_ssim_plan_covered(plan, a, w.nwindows);
    w.first = w.begin / w.window;
    w.nstretches = w.end / w.window - w.first; /* whole at the end; in others no window begins */
    return w;
}

uint32_t grid_of(uint64_t nthreads)
{
    return (uint32_t)floe_max64(1, floe_min64(floe_ceil_div(nthreads, THREADS), MOST_BLOCKS));
}

/* ---- sums along one axis ----------------------------------------------------------------------------------------- */

/* Whether a window begins at place; which. */
FLOE_DEV bool window_at(const axis_windows &w, uint64_t place, uint64_t *k)
{
    if (place % w.step)
        return false;
    *k = place / w.step - w.lo; /* wraps for those before the box */
    return *k < w.nwindows;
}

/* Stretch number `stretch`: read(place) gives N terms at a place of the axis, *at(k) are the sums of window k, `apart`
 * doubles from one another. */
template <int N, class READ, class AT>
FLOE_DEV void stretch_sums(const axis_windows &w, uint64_t stretch, uint64_t apart, READ read, AT at)
{
    const uint64_t from = stretch * w.window, until = from + w.window;
    double sum[N] = {}, term[N];
    uint64_t k;
    for (uint64_t place = until; place-- > floe_max64(from, w.begin);) {
        read(place, term);
        for (int m = 0; m < N; m++)
            sum[m] = place + 1 == until ? term[m] : term[m] + sum[m];
        if (window_at(w, place, &k))
            for (int m = 0; m < N; m++)
                at(k)[m * apart] = sum[m];
    }
    for (uint64_t place = until; place < w.end && place + 1 < until + w.window; place++) {
        read(place, term);
        for (int m = 0; m < N; m++)
            sum[m] = place == until ? term[m] : sum[m] + term[m];
        const uint64_t start = place + 1 - w.window;
        if (start >= w.begin && window_at(w, start, &k))
            for (int m = 0; m < N; m++)
                at(k)[m * apart] += sum[m];
    }
}

template <int N, class READ, class AT>
FLOE_DEV void weighted_sums(const axis_windows &w, uint64_t k, uint64_t apart, READ read, AT at)
{
    const double weights[FLOE_SSIM_TAPS] = FLOE_SSIM_GAUSSIAN;
    double sum[N] = {}, term[N];
    for (int i = 0; i < FLOE_SSIM_TAPS; i++) {
        read((w.lo + k) * w.step + (uint64_t)i, term);
        for (int m = 0; m < N; m++)
            sum[m] = i ? sum[m] + weights[i] * term[m] : weights[i] * term[m];
    }
    for (int m = 0; m < N; m++)
        at(k)[m * apart] = sum[m];
}

/* The smallest pieces of an axis that a thread takes: stretches, or single windows. */
__host__ __device__ inline uint64_t pieces_of(const axis_windows &w, bool weighted)
{
    return weighted ? w.nwindows : w.nstretches;
}

template <int N, class READ, class AT>
FLOE_DEV void piece_sums(const axis_windows &w, bool weighted, uint64_t piece, uint64_t apart, READ read, AT at)
{
    if (weighted)
        weighted_sums<N>(w, piece, apart, read, at);
    else
        stretch_sums<N>(w, w.first + piece, apart, read, at);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

FLOE_DEV uint64_t bits_of(float v) { return floe_bits_f32(v); }
FLOE_DEV uint64_t bits_of(double v) { return floe_bits_f64(v); }

/* A box, and what a kernel of it reads and writes. */
typedef struct rows_job {
    axis_windows axis[FLOE_MAX_RANK];
    uint64_t nrows; /* of values, in the box */
    bool weighted;
    double *to; /* [row][sum][window] */
} rows_job;

/* A thread takes a stretch of a row. */
template <class T>
__global__ void __launch_bounds__(THREADS)
    ssim_rows_kernel(const __grid_constant__ floe_ssim_job job, const __grid_constant__ rows_job rows)
{
    const axis_windows &w = rows.axis[LAST];
    const uint64_t npieces = pieces_of(w, rows.weighted), n = rows.nrows * npieces;
    const floe_pair &p = job.pair;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += (uint64_t)gridDim.x * THREADS) {
        const uint64_t row = i / npieces;
        const T *x = (const T *)p.original, *y = (const T *)p.decoded;
        uint64_t rest = row;
        for (int a = LAST; a-- > 0;) {
            const uint64_t extent = rows.axis[a].end - rows.axis[a].begin;
            const int64_t place = (int64_t)(rows.axis[a].begin + rest % extent);
            x += place * p.original_stride[a];
            y += place * p.decoded_stride[a];
            rest /= extent;
        }
        double *to = rows.to + row * FLOE_SSIM_SUMS * w.nwindows;
        piece_sums<FLOE_SSIM_SUMS>(
            w, rows.weighted, i % npieces, w.nwindows,
            [&](uint64_t place, double *term) {
                const T vx = x[(int64_t)place * p.original_stride[LAST]],
                        vy = y[(int64_t)place * p.decoded_stride[LAST]];
                const bool fill = p.has_fill && (bits_of(vx) == p.fill_bits || bits_of(vy) == p.fill_bits);
                const floe_ssim_pair v = floe_ssim_pair_of(&job.plan.constants, vx, vy, sizeof(T) == 8);
                term[FLOE_SSIM_S] = fill ? floe_f64_of(FLOE_NAN64_BITS) : v.s;
                term[FLOE_SSIM_SS] = v.s * v.s;
                term[FLOE_SSIM_D] = v.d;
                term[FLOE_SSIM_DD] = v.d * v.d;
            },
            [&](uint64_t k) { return to + k; });
    }
}

/* ---- other axes -------------------------------------------------------------------------------------------------- */

typedef struct axis_job {
    axis_windows axis;
    bool weighted;
    uint64_t nouter, ninner; /* places along slower axes; sums at one place of the axis */
    const double *from;      /* [outer][place][inner] */
    double *to;              /* [outer][window][inner] */
} axis_job;

/* A thread takes a stretch of the axis for one of the sums. */
__global__ void __launch_bounds__(THREADS) ssim_axis_kernel(const __grid_constant__ axis_job job)
{
    const axis_windows &w = job.axis;
    const uint64_t npieces = pieces_of(w, job.weighted), n = job.nouter * npieces * job.ninner;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += (uint64_t)gridDim.x * THREADS) {
        const uint64_t inner = i % job.ninner, piece = i / job.ninner % npieces, outer = i / job.ninner / npieces;
        const double *from = job.from + outer * (w.end - w.begin) * job.ninner + inner;
        double *to = job.to + outer * w.nwindows * job.ninner + inner;
        piece_sums<1>(
            w, job.weighted, piece, 0,
            [&](uint64_t place, double *term) { *term = from[(place - w.begin) * job.ninner]; },
            [&](uint64_t k) { return to + k * job.ninner; });
    }
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

/* A block adds to its own part. from: [row][sum][window]. */
__global__ void __launch_bounds__(THREADS)
    ssim_losses_kernel(const __grid_constant__ floe_ssim_constants constants, const double *from, uint64_t nrows,
                       uint64_t nwindows, floe_ssim_part *parts)
{
    __shared__ floe_ssim_part warps[WARPS];
    floe_ssim_part part = {0, 0, 0};
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < nrows * nwindows;
         i += (uint64_t)gridDim.x * THREADS) {
        const double *s = from + i / nwindows * FLOE_SSIM_SUMS * nwindows + i % nwindows;
        floe_ssim_part_add(&part, floe_ssim_loss(&constants, s[FLOE_SSIM_S * nwindows], s[FLOE_SSIM_SS * nwindows],
                                                 s[FLOE_SSIM_D * nwindows], s[FLOE_SSIM_DD * nwindows]));
    }
    part = floe_ssim_part_of_block(part, warps, WARPS);
    if (threadIdx.x == 0)
        floe_ssim_part_merge(&parts[blockIdx.x], &part);
}

/* A block for each join: a thread takes every JOINERS-th part. */
__global__ void __launch_bounds__(JOINERS) ssim_join_kernel(const __grid_constant__ floe_ssim_joins joins)
{
    __shared__ floe_ssim_part warps[JOINERS / FLOE_WARP];
    const floe_ssim_join_job &join = joins.of[blockIdx.x];
    floe_ssim_part part = {0, 0, 0};
    floe_dev_begin();
    for (uint64_t i = threadIdx.x; i < join.nparts; i += JOINERS)
        floe_ssim_part_merge(&part, &join.parts[i]);
    part = floe_ssim_part_of_block(part, warps, JOINERS / FLOE_WARP);
    if (threadIdx.x == 0)
        join.joined->part = part;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

int box_rows(const floe_ssim_job *job, rows_job *rows, cudaStream_t stream)
{
    rows->nrows = 1;
    for (int a = 0; a < LAST; a++)
        rows->nrows *= rows->axis[a].end - rows->axis[a].begin;
    const uint32_t grid = grid_of(rows->nrows * pieces_of(rows->axis[LAST], rows->weighted));
    if (job->pair.dtype == FLOE_F32)
        FLOE_LAUNCH(ssim_rows_kernel<float>, grid, THREADS, 0, stream, *job, *rows);
    else
        FLOE_LAUNCH(ssim_rows_kernel<double>, grid, THREADS, 0, stream, *job, *rows);
    return (int)cudaGetLastError();
}

int box_axis(const rows_job *box, uint32_t a, bool weighted, const double *from, double *to, cudaStream_t stream)
{
    axis_job axis = {box->axis[a], weighted, 1, FLOE_SSIM_SUMS, from, to};
    for (uint32_t b = 0; b < a; b++)
        axis.nouter *= box->axis[b].end - box->axis[b].begin;
    for (uint32_t b = a + 1; b < FLOE_MAX_RANK; b++)
        axis.ninner *= box->axis[b].nwindows;
    const uint64_t n = axis.nouter * axis.ninner * pieces_of(axis.axis, weighted);
    FLOE_LAUNCH(ssim_axis_kernel, grid_of(n), THREADS, 0, stream, axis);
    return (int)cudaGetLastError();
}

int box_run(const floe_ssim_job *job, uint64_t tile, cudaStream_t stream)
{
    const floe_ssim_plan *plan = &job->plan;
    const floe_ssim_box box = floe_ssim_plan_box(plan, tile);
    const bool gaussian = plan->options.weights == FLOE_SSIM_WEIGHTS_GAUSSIAN;
    rows_job rows = {};
    for (uint32_t a = 0; a < FLOE_MAX_RANK; a++)
        rows.axis[a] = axis_of(plan, &box, a);
    rows.weighted = gaussian && rows.axis[LAST].window > 1;
    rows.to = job->sums[0];
    int error = box_rows(job, &rows, stream);
    uint32_t at = 0;
    for (uint32_t a = LAST; a-- > 0;) {
        const axis_windows &w = rows.axis[a];
        if (w.window == 1 && w.step == 1)
            continue;
        error = error ? error : box_axis(&rows, a, gaussian && w.window > 1, job->sums[at], job->sums[at ^ 1], stream);
        at ^= 1;
    }
    const uint64_t nrows = box.n[0] * box.n[1] * box.n[2];
    FLOE_LAUNCH(ssim_losses_kernel, FLOE_SSIM_ANY_BLOCKS, THREADS, 0, stream, plan->constants, job->sums[at], nrows,
                box.n[LAST], job->parts);
    return error ? error : (int)cudaGetLastError();
}

} // namespace

int floe_ssim_joins_cuda(const floe_ssim_joins *joins, void *stream)
{
    FLOE_LAUNCH_EARLY(ssim_join_kernel, joins->n, JOINERS, 0, (cudaStream_t)stream, *joins);
    return (int)cudaGetLastError();
}

int floe_ssim_join_cuda(const floe_ssim_part *parts, uint64_t nparts, floe_ssim_joined *joined, void *stream)
{
    const floe_ssim_joins joins = {{{parts, nparts, joined}}, 1};
    return floe_ssim_joins_cuda(&joins, stream);
}

int floe_ssim_any_cuda(const floe_ssim_job *job, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    int error = (int)cudaMemsetAsync(job->parts, 0, FLOE_SSIM_ANY_BLOCKS * sizeof *job->parts, s);
    if (!error)
        error = (int)cudaMemsetAsync(job->joined, 0, sizeof *job->joined, s);
    for (uint64_t tile = 0; tile < floe_ssim_plan_ntiles(&job->plan) && !error; tile++)
        error = box_run(job, tile, s);
    return error ? error : floe_ssim_join_cuda(job->parts, FLOE_SSIM_ANY_BLOCKS, job->joined, s);
}
