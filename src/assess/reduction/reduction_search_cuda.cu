/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples, and places that are looked for in pieces which must have them. */
#include "assess/reduction/reduction_cuda.cuh"
#include "backend/device_order.cuh"

namespace
{

enum {
    LOOK_THREADS = FLOE_REDUCTION_THREADS,
    LOOK_WARPS = LOOK_THREADS / FLOE_WARP,
    SAMPLES = 256,
    SAMPLE_THREADS = 2 * SAMPLES
};

/* A pair at a place. */
template <typename T> struct looked {
    uint64_t at;
    T x, y;
    floe_pair_class kind;
};
template <typename T> FLOE_DEV looked<T> looked_of(const floe_reduction_dev_job *job, uint64_t at, T x, T y)
{
    return looked<T>{at, x, y, floe_pair_class_of(floe_reduction_class(x, job), floe_reduction_class(y, job))};
}
template <typename T> FLOE_DEV looked<T> look(const floe_reduction_dev_job *job, uint64_t at)
{
    return looked_of(job, at, floe_reduction_value<T>(job, 0, at), floe_reduction_value<T>(job, 1, at));
}

/* Calls see for each pair of a piece; by a block, four groups a thread at a time. */
template <typename T, class See>
FLOE_DEV void piece_see(const floe_reduction_dev_job *job, uint64_t begin, uint64_t end, See see)
{
    enum { AT_ONCE = 4 };
    for (uint64_t at = begin; at < end; at += AT_ONCE * FLOE_REDUCTION_STEP) {
        floe_reduction_group<T> g[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            floe_reduction_fetch(job, at + k * FLOE_REDUCTION_STEP, end, &g[k]);
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const uint64_t first = at + k * FLOE_REDUCTION_STEP;
            const bool whole = floe_reduction_is_whole(job, first, end);
#pragma unroll
            for (uint32_t j = 0; j < FLOE_REDUCTION_GROUP; j++)
                if (g[k].there >> j & 1)
                    see(looked_of(job, floe_reduction_number<T>(whole, first, j), g[k].x[j], g[k].y[j]));
        }
    }
}

/* ---- samples ------------------------------------------------------------------------------------------------------- */

/* Puts SAMPLES numbers of each side in order, by comparing and changing places; by all threads, half of them a side. */
FLOE_DEV void samples_sort(double (*v)[SAMPLES])
{
    const uint32_t i = threadIdx.x % SAMPLES;
    double *side = v[threadIdx.x / SAMPLES];
    for (uint32_t run = 2; run <= SAMPLES; run *= 2)
        for (uint32_t apart = run / 2; apart > 0; apart /= 2) {
            const uint32_t other = i ^ apart;
            __syncthreads();
            if (other > i && (side[i] > side[other]) == ((i & run) == 0)) {
                const double t = side[i];
                side[i] = side[other], side[other] = t;
            }
        }
    __syncthreads();
}

/* The largest number of a block; by all threads. */
FLOE_DEV double sample_most(double v, double *words)
{
    for (int d = FLOE_WARP / 2; d > 0; d /= 2)
        v = max(v, __shfl_xor_sync(FLOE_ALL_LANES, v, d));
    __syncthreads();
    if (floe_lane() == 0)
        words[threadIdx.x / FLOE_WARP] = v;
    __syncthreads();
    v = words[0];
    for (int w = 1; w < SAMPLE_THREADS / FLOE_WARP; w++)
        v = max(v, words[w]);
    return v;
}

/* One block; its first threads have a sample each. */
template <typename T>
__global__ void __launch_bounds__(SAMPLE_THREADS) sample_kernel(const __grid_constant__ floe_reduction_dev_job job)
{
    __shared__ double sorted[2][SAMPLES], words[SAMPLE_THREADS / FLOE_WARP];
    floe_reduction_start *start = &job.answer->start;
    const uint32_t i = threadIdx.x;
    floe_dev_begin_then_launch();
    const double nan = floe_f64_of(0x7ff8000000000000u), infinity = floe_f64_of(0x7ff0000000000000u);
    const bool is = i < floe_min64(job.nelems, FLOE_REDUCTION_SAMPLES);
    const looked<T> p = look<T>(&job, is ? floe_reduction_sample_place(job.nelems, i) : 0);
    const bool counts = is && p.kind == FLOE_PAIR_COUNTS;
    const double x = counts ? (double)p.x : infinity, y = counts ? (double)p.y : infinity;
    const uint32_t n = (uint32_t)__syncthreads_count(counts);
    if (i < SAMPLES)
        sorted[0][i] = x, sorted[1][i] = y;
    samples_sort(sorted);
    if (i < FLOE_REDUCTION_SAMPLES)
        start->sample[i] = sorted[0][i];
    if (i < 2)
        start->pivot[i] = n ? sorted[i][n / 2] : 0;
    const double ends[4] = {
        sample_most(counts ? x - y : -infinity, words), sample_most(counts ? y - x : -infinity, words),
        sample_most(counts ? -min(x, y) : -infinity, words), sample_most(counts ? max(x, y) : -infinity, words)};
    const bool any = n > 0;
    if (i == 0) {
        start->nsamples = n;
        start->error_low = any ? -ends[0] : nan, start->error_high = any ? ends[1] : nan;
        start->value_low = any ? -ends[2] : nan, start->value_high = any ? ends[3] : nan;
    }
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

/* The best of a warp, known to all its lanes. */
FLOE_DEV candidate warp_best(candidate c)
{
    for (int d = FLOE_WARP / 2; d > 0; d /= 2) {
        candidate other;
        other.size = __shfl_xor_sync(FLOE_ALL_LANES, c.size, d);
        other.at = (uint64_t)__shfl_xor_sync(FLOE_ALL_LANES, (unsigned long long)c.at, d);
        c = better(other, c) ? other : c;
    }
    return c;
}

/* The best of a block, known to all its threads. words: LOOK_WARPS. */
FLOE_DEV candidate block_best(candidate c, candidate *words)
{
    c = warp_best(c);
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
    const bool any = c.size >= 0;
    to->at = any ? c.at : UINT64_MAX;
    to->x = any ? (double)floe_reduction_value<T>(job, 0, c.at) : 0;
    to->y = any ? (double)floe_reduction_value<T>(job, 1, c.at) : 0;
}

/* ---- the worst ----------------------------------------------------------------------------------------------------- */

/* A pair; of one that does not count size is -1. */
template <typename T> FLOE_DEV candidate candidate_of(const looked<T> &p)
{
    return candidate{p.kind == FLOE_PAIR_COUNTS ? fabs((double)p.y - (double)p.x) : -1, p.at};
}
template <typename T> FLOE_DEV candidate candidate_at(const floe_reduction_dev_job *job, uint64_t at)
{
    return candidate_of(look<T>(job, at));
}

/* What looks of at least `least` say, to the last digit. Blocks take pieces in turn. */
template <typename T>
__global__ void __launch_bounds__(LOOK_THREADS)
    look_again_kernel(const __grid_constant__ floe_reduction_dev_job job, double least)
{
    __shared__ candidate words[LOOK_WARPS];
    for (uint64_t piece = blockIdx.x; piece < job.npieces; piece += gridDim.x) {
        const uint64_t begin = piece * job.piece, end = floe_min64(begin + job.piece, job.nelems);
        candidate best = {-1, UINT64_MAX};
        if (!(job.looks[piece].worst >= least)) { /* the same for all threads, even behind the change */
            job.looks[piece].worst = -1;
            continue;
        }
        piece_see<T>(&job, begin, end, [&](const looked<T> &p) {
            const candidate c = candidate_of(p);
            best = better(c, best) ? c : best;
        });
        best = block_best(best, words);
        if (threadIdx.x == 0)
            job.looks[piece].worst = best.size;
    }
}

enum { WORST_LISTED = 1024 };

/* Of a block. */
struct worst_list {
    uint32_t n; /* more than there is room for: not all are listed */
    candidate entry[WORST_LISTED];
    candidate words[LOOK_WARPS];
};

template <typename T>
FLOE_DEV void worst_collect(const floe_reduction_dev_job *job, uint64_t begin, uint64_t end, double least,
                            worst_list *list)
{
    if (threadIdx.x == 0)
        list->n = 0;
    __syncthreads();
    piece_see<T>(job, begin, end, [&](const looked<T> &p) {
        const candidate c = candidate_of(p);
        const uint32_t i = c.size >= least ? atomicAdd(&list->n, 1u) : WORST_LISTED;
        if (i < WORST_LISTED)
            list->entry[i] = c;
    });
    __syncthreads();
}

/* A block for each piece: its n worst pairs of at least `least`. They are listed, as there are few; in each of n rounds the best
 * is found that comes behind the one before: by a warp of the list, or by all of all pairs if that does not have them all. */
template <typename T>
__global__ void __launch_bounds__(LOOK_THREADS)
    worst_kernel(const __grid_constant__ floe_reduction_dev_job job, const uint64_t *pieces, uint32_t n, double least,
                 floe_reduction_found *found)
{
    __shared__ worst_list list;
    const uint64_t begin = pieces[blockIdx.x] * job.piece, end = floe_min64(begin + job.piece, job.nelems);
    candidate before = {floe_f64_of(0x7ff0000000000000u), 0};
    worst_collect<T>(&job, begin, end, least, &list);
    const bool listed = list.n <= WORST_LISTED;
    const uint64_t size = listed ? list.n : end - begin;
    const uint32_t nthreads = listed ? (uint32_t)FLOE_WARP : (uint32_t)LOOK_THREADS;
    if (threadIdx.x >= nthreads)
        return;
    for (uint32_t round = 0; round < n; round++) {
        candidate best = {-1, UINT64_MAX};
        for (uint64_t i = threadIdx.x; i < size; i += nthreads) {
            const candidate c = listed ? list.entry[i] : candidate_at<T>(&job, begin + i);
            if (c.size >= least && better(before, c) && better(c, best))
                best = c;
        }
        best = listed ? warp_best(best) : block_best(best, list.words);
        if (threadIdx.x == 0)
            found_write<T>(&job, best, &found[(uint64_t)blockIdx.x * n + round]);
        before = best.size < 0 ? candidate{-1, 0} : best;
    }
}

/* ---- outside the bound --------------------------------------------------------------------------------------------- */

FLOE_DEV bool may_be_outside(const floe_reduction_look *l, double allowed, bool of_value)
{
    return of_value ? l->nundefined || l->ratio >= allowed * (1 - 1e-12) : l->worst > allowed;
}

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
        if (may_be_outside(&job.looks[piece], allowed, of_value)) {
            piece_see<T>(&job, begin, end, [&](const looked<T> &p) {
                const double may = of_value ? allowed * fabs((double)p.x) : allowed;
                const bool is = p.kind == FLOE_PAIR_COUNTS && fabs((double)p.y - (double)p.x) > may;
                n += is;
                if (is && better(candidate{0, p.at}, best))
                    best = candidate{0, p.at};
            });
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
    piece_see<T>(&job, begin, end, [&](const looked<T> &p) {
        if (p.kind == FLOE_PAIR_DIFFERS && better(candidate{0, p.at}, best))
            best = candidate{0, p.at};
    });
    best = block_best(best, words);
    if (threadIdx.x == 0)
        found_write<T>(&job, best, first);
}

} // namespace

/* ---- launches ------------------------------------------------------------------------------------------------------ */

int floe_reduction_sample_cuda(const floe_reduction_dev_job *job, void *stream)
{
    static_assert((int)FLOE_REDUCTION_SAMPLES < (int)SAMPLES, "a thread a sample");
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

int floe_reduction_look_again_cuda(const floe_reduction_dev_job *job, double least, void *stream)
{
    const uint32_t nblocks = (uint32_t)floe_min64(job->npieces, FLOE_REDUCTION_MAX_BLOCKS);
    if (job->dtype == FLOE_F32)
        FLOE_LAUNCH(look_again_kernel<float>, nblocks, LOOK_THREADS, 0, (cudaStream_t)stream, *job, least);
    else
        FLOE_LAUNCH(look_again_kernel<double>, nblocks, LOOK_THREADS, 0, (cudaStream_t)stream, *job, least);
    return (int)cudaGetLastError();
}

int floe_reduction_worst_cuda(const floe_reduction_dev_job *job, const uint64_t *pieces, uint32_t npieces, uint32_t n,
                              double least, floe_reduction_found *found, void *stream)
{
    if (job->dtype == FLOE_F32)
        FLOE_LAUNCH(worst_kernel<float>, npieces, LOOK_THREADS, 0, (cudaStream_t)stream, *job, pieces, n, least, found);
    else
        FLOE_LAUNCH(worst_kernel<double>, npieces, LOOK_THREADS, 0, (cudaStream_t)stream, *job, pieces, n, least,
                    found);
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
