/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples, and places that are looked for in pieces which must have them. */
#include "assess/reduction/reduction_cuda.cuh"

namespace
{

enum { LOOK_THREADS = 512, LOOK_WARPS = LOOK_THREADS / FLOE_WARP, SAMPLE_THREADS = 256 };

/* A pair at a place. */
template <typename T> struct looked {
    T x, y;
    floe_pair_class kind;
};
template <typename T> FLOE_DEV looked<T> look(const floe_reduction_dev_job *job, uint64_t at)
{
    looked<T> p;
    p.x = floe_reduction_value<T>(job, 0, at);
    p.y = floe_reduction_value<T>(job, 1, at);
    p.kind = floe_pair_class_of(floe_reduction_class(p.x, job), floe_reduction_class(p.y, job));
    return p;
}

/* ---- samples ------------------------------------------------------------------------------------------------------- */

/* Puts the values of a block's threads that count in order; by all threads. Returns their number. */
FLOE_DEV uint32_t sample_sort(double v, bool counts, double *values, bool *flags, double *sorted)
{
    uint32_t rank = 0, n = 0;
    __syncthreads();
    values[threadIdx.x] = v, flags[threadIdx.x] = counts;
    __syncthreads();
    for (uint32_t i = 0; i < SAMPLE_THREADS; i++) {
        n += flags[i];
        rank += flags[i] && (values[i] < v || (values[i] == v && i < threadIdx.x));
    }
    if (counts)
        sorted[rank] = v;
    __syncthreads();
    return n;
}

/* One block, a thread a sample. */
template <typename T>
__global__ void __launch_bounds__(SAMPLE_THREADS) sample_kernel(const __grid_constant__ floe_reduction_dev_job job)
{
    __shared__ double values[SAMPLE_THREADS], sorted[SAMPLE_THREADS];
    __shared__ bool flags[SAMPLE_THREADS];
    floe_reduction_start *start = job.start;
    const uint32_t i = threadIdx.x;
    const double nan = floe_f64_of(0x7ff8000000000000u);
    const bool is = i < floe_min64(job.nelems, FLOE_REDUCTION_SAMPLES);
    const looked<T> p = look<T>(&job, is ? floe_reduction_sample_place(job.nelems, i) : 0);
    const double x = (double)p.x, y = (double)p.y;
    const bool x_counts = is && floe_reduction_class(p.x, &job) == FLOE_VALUE_FINITE;
    const bool y_counts = is && floe_reduction_class(p.y, &job) == FLOE_VALUE_FINITE;
    uint32_t n = sample_sort(x, x_counts, values, flags, sorted);
    if (i < n)
        start->sample[i] = sorted[i];
    if (i == 0)
        start->nsamples[0] = n, start->pivot[0] = n ? sorted[n / 2] : 0;
    n = sample_sort(y, y_counts, values, flags, sorted);
    if (i == 0)
        start->nsamples[1] = n, start->pivot[1] = n ? sorted[n / 2] : 0;
    n = sample_sort(y - x, x_counts && y_counts, values, flags, sorted);
    if (i == 0)
        start->error_low = n ? sorted[0] : nan, start->error_high = n ? sorted[n - 1] : nan;
    n = sample_sort(min(x, y), x_counts && y_counts, values, flags, sorted);
    if (i == 0)
        start->value_low = n ? sorted[0] : nan;
    n = sample_sort(max(x, y), x_counts && y_counts, values, flags, sorted);
    if (i == 0)
        start->value_high = n ? sorted[n - 1] : nan;
}

/* ---- dense copies -------------------------------------------------------------------------------------------------- */

/* A thread a pair at a time. */
template <typename T>
__global__ void gather_kernel(const __grid_constant__ floe_reduction_dev_job job, T *original, T *decoded)
{
    const T nan = (T)floe_f64_of(0x7ff8000000000000u);
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t at = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; at < job.nelems; at += step) {
        const looked<T> p = look<T>(&job, at);
        original[at] = p.kind == FLOE_PAIR_COUNTS ? p.x : nan;
        decoded[at] = p.kind == FLOE_PAIR_COUNTS ? p.y : nan;
    }
}

/* ---- a block's best ------------------------------------------------------------------------------------------------ */

/* Larger is better; of equals the first place. size -1: none. */
struct candidate {
    double size;
    uint64_t at;
};

FLOE_DEV bool better(candidate a, candidate b) { return a.size > b.size || (a.size == b.size && a.at < b.at); }

/* The best of a block, known to all its threads. words: LOOK_WARPS. */
FLOE_DEV candidate block_best(candidate c, candidate *words)
{
    for (int d = FLOE_WARP / 2; d > 0; d /= 2) {
        candidate other;
        other.size = __shfl_xor_sync(FLOE_ALL_LANES, c.size, d);
        other.at = (uint64_t)__shfl_xor_sync(FLOE_ALL_LANES, (unsigned long long)c.at, d);
        c = better(other, c) ? other : c;
    }
    __syncthreads();
    if (floe_lane() == 0)
        words[threadIdx.x / FLOE_WARP] = c;
    __syncthreads();
    c = words[0];
    for (int w = 1; w < LOOK_WARPS; w++)
        c = better(words[w], c) ? words[w] : c;
    return c;
}

template <typename T>
FLOE_DEV void found_write(const floe_reduction_dev_job *job, candidate c, floe_reduction_found *to)
{
    to->at = c.size < 0 ? UINT64_MAX : c.at;
    if (c.size >= 0) {
        to->x = (double)floe_reduction_value<T>(job, 0, c.at);
        to->y = (double)floe_reduction_value<T>(job, 1, c.at);
    }
}

/* ---- the worst ----------------------------------------------------------------------------------------------------- */

/* A block for each piece; in each of n rounds it finds the best that comes behind the one before. */
template <typename T>
__global__ void __launch_bounds__(LOOK_THREADS)
    worst_kernel(const __grid_constant__ floe_reduction_dev_job job, const uint64_t *pieces, uint32_t n,
                 floe_reduction_found *found)
{
    __shared__ candidate words[LOOK_WARPS];
    const uint64_t begin = pieces[blockIdx.x] * job.piece, end = floe_min64(begin + job.piece, job.nelems);
    candidate before = {floe_f64_of(0x7ff0000000000000u), 0};
    for (uint32_t round = 0; round < n; round++) {
        candidate best = {-1, UINT64_MAX};
        for (uint64_t at = begin + threadIdx.x; at < end; at += LOOK_THREADS) {
            const looked<T> p = look<T>(&job, at);
            const candidate c = {p.kind == FLOE_PAIR_COUNTS ? fabs((double)p.y - (double)p.x) : -1, at};
            if (c.size >= 0 && better(before, c) && better(c, best))
                best = c;
        }
        best = block_best(best, words);
        if (threadIdx.x == 0)
            found_write<T>(&job, best, &found[(uint64_t)blockIdx.x * n + round]);
        before = best.size < 0 ? candidate{-1, 0} : best;
    }
}

/* ---- outside the bound --------------------------------------------------------------------------------------------- */

/* Blocks take pieces in turn. */
template <typename T>
__global__ void __launch_bounds__(LOOK_THREADS)
    outside_kernel(const __grid_constant__ floe_reduction_dev_job job, double allowed, bool of_value, uint64_t *count,
                   floe_reduction_found *first)
{
    __shared__ candidate words[LOOK_WARPS];
    __shared__ unsigned long long total;
    for (uint64_t piece = blockIdx.x; piece < job.npieces; piece += gridDim.x) {
        const uint64_t begin = piece * job.piece, end = floe_min64(begin + job.piece, job.nelems);
        candidate best = {-1, UINT64_MAX};
        uint32_t n = 0;
        if (threadIdx.x == 0)
            total = 0;
        __syncthreads();
        if (floe_reduction_may_be_outside(&job.parts[piece], allowed, of_value)) {
            for (uint64_t at = begin + threadIdx.x; at < end; at += LOOK_THREADS) {
                const looked<T> p = look<T>(&job, at);
                const double may = of_value ? allowed * fabs((double)p.x) : allowed;
                const bool is = p.kind == FLOE_PAIR_COUNTS && fabs((double)p.y - (double)p.x) > may;
                n += is;
                if (is && better(candidate{0, at}, best))
                    best = candidate{0, at};
            }
            best = block_best(best, words);
            atomicAdd(&total, (unsigned long long)n);
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            count[piece] = total;
            found_write<T>(&job, best, &first[piece]);
        }
    }
}

/* ---- special values that differ ------------------------------------------------------------------------------------ */

/* One block. */
template <typename T>
__global__ void __launch_bounds__(LOOK_THREADS)
    mismatch_kernel(const __grid_constant__ floe_reduction_dev_job job, uint64_t piece, floe_reduction_found *first)
{
    __shared__ candidate words[LOOK_WARPS];
    const uint64_t begin = piece * job.piece, end = floe_min64(begin + job.piece, job.nelems);
    candidate best = {-1, UINT64_MAX};
    for (uint64_t at = begin + threadIdx.x; at < end; at += LOOK_THREADS)
        if (look<T>(&job, at).kind == FLOE_PAIR_DIFFERS && better(candidate{0, at}, best))
            best = candidate{0, at};
    best = block_best(best, words);
    if (threadIdx.x == 0)
        found_write<T>(&job, best, first);
}

} // namespace

/* ---- launches ------------------------------------------------------------------------------------------------------ */

int floe_reduction_sample_cuda(const floe_reduction_dev_job *job, void *stream)
{
    static_assert((int)FLOE_REDUCTION_SAMPLES < (int)SAMPLE_THREADS, "a thread a sample");
    if (job->dtype == FLOE_F32)
        FLOE_LAUNCH(sample_kernel<float>, 1, SAMPLE_THREADS, 0, (cudaStream_t)stream, *job);
    else
        FLOE_LAUNCH(sample_kernel<double>, 1, SAMPLE_THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}

int floe_reduction_gather_cuda(const floe_reduction_dev_job *job, void *original, void *decoded, void *stream)
{
    const uint32_t nblocks =
        (uint32_t)floe_min64(floe_ceil_div(job->nelems, SAMPLE_THREADS), FLOE_REDUCTION_MAX_BLOCKS);
    if (job->dtype == FLOE_F32)
        FLOE_LAUNCH(gather_kernel<float>, nblocks, SAMPLE_THREADS, 0, (cudaStream_t)stream, *job, (float *)original,
                    (float *)decoded);
    else
        FLOE_LAUNCH(gather_kernel<double>, nblocks, SAMPLE_THREADS, 0, (cudaStream_t)stream, *job, (double *)original,
                    (double *)decoded);
    return (int)cudaGetLastError();
}

int floe_reduction_worst_cuda(const floe_reduction_dev_job *job, const uint64_t *pieces, uint32_t npieces, uint32_t n,
                              floe_reduction_found *found, void *stream)
{
    if (job->dtype == FLOE_F32)
        FLOE_LAUNCH(worst_kernel<float>, npieces, LOOK_THREADS, 0, (cudaStream_t)stream, *job, pieces, n, found);
    else
        FLOE_LAUNCH(worst_kernel<double>, npieces, LOOK_THREADS, 0, (cudaStream_t)stream, *job, pieces, n, found);
    return (int)cudaGetLastError();
}

int floe_reduction_outside_cuda(const floe_reduction_dev_job *job, double allowed, bool of_value, uint64_t *count,
                                floe_reduction_found *first, void *stream)
{
    const uint32_t nblocks = (uint32_t)floe_min64(job->npieces, FLOE_REDUCTION_MAX_BLOCKS);
    if (job->dtype == FLOE_F32)
        FLOE_LAUNCH(outside_kernel<float>, nblocks, LOOK_THREADS, 0, (cudaStream_t)stream, *job, allowed, of_value,
                    count, first);
    else
        FLOE_LAUNCH(outside_kernel<double>, nblocks, LOOK_THREADS, 0, (cudaStream_t)stream, *job, allowed, of_value,
                    count, first);
    return (int)cudaGetLastError();
}

int floe_reduction_mismatch_cuda(const floe_reduction_dev_job *job, uint64_t piece, floe_reduction_found *first,
                                 void *stream)
{
    if (job->dtype == FLOE_F32)
        FLOE_LAUNCH(mismatch_kernel<float>, 1, LOOK_THREADS, 0, (cudaStream_t)stream, *job, piece, first);
    else
        FLOE_LAUNCH(mismatch_kernel<double>, 1, LOOK_THREADS, 0, (cudaStream_t)stream, *job, piece, first);
    return (int)cudaGetLastError();
}
