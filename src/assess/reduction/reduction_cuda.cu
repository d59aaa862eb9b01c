/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/reduction/reduction_bins.cuh"

namespace
{

enum {
    PART_WORDS = FLOE_SUMS + FLOE_TOPS + FLOE_COUNTS,
    JOIN_STRETCHES = 28, /* of parts, in all of which the same word is joined by a thread of its own */
    JOIN_THREADS = PART_WORDS * JOIN_STRETCHES,
    BLOCKS_AN_SM = 2,
    MERGE_THREADS = 256
};
static_assert(JOIN_THREADS <= 1024, "one block");

/* ---- pieces -------------------------------------------------------------------------------------------------------- */

template <typename T>
FLOE_DEV void fetch(const floe_reduction_dev_job *job, uint64_t first, uint64_t end, floe_reduction_group<T> *g)
{
    if (floe_reduction_is_whole(job, first, end))
        floe_reduction_load(job, first, g);
    else
        floe_reduction_gather(job, first, end, g);
}

/* Blocks take pieces in turn; a thread eight pairs of every 2048. Where warps wait for one another to look after bins, the
 * next ones are on their way meanwhile; elsewhere other warps have enough to do. */
template <typename T, bool BINS>
__global__ void __launch_bounds__(FLOE_REDUCTION_THREADS, BLOCKS_AN_SM)
    reduction_kernel(const __grid_constant__ floe_reduction_dev_job job)
{
    FLOE_DYNAMIC_SHARED(uint32_t, tables);
    __shared__ floe_reduction_shared shared;
    __shared__ floe_reduction_frames frames;
    const floe_reduction_tables t = floe_reduction_tables_of(&job.bins);
    floe_reduction_slots_clear(&shared);
    if (BINS) {
        for (uint32_t i = threadIdx.x; i < t.end; i += FLOE_REDUCTION_THREADS)
            tables[i] = 0;
        if (threadIdx.x == 0) {
            const floe_reduction_start *s = job.start;
            floe_reduction_frame_init(&frames.errors, s->error_low, s->error_high, job.bins.nerrors);
            floe_reduction_frame_init(&frames.values, s->value_low, s->value_high, job.bins.nvalues);
        }
        __syncthreads();
    }
    for (uint64_t piece = blockIdx.x; piece < job.npieces; piece += gridDim.x) {
        const uint64_t begin = piece * job.piece, end = floe_min64(begin + job.piece, job.nelems);
        floe_reduction_group<T> now, next;
        floe_reduction_lane lane;
        floe_reduction_lane_init(&job, &lane);
        if (BINS)
            fetch(&job, begin, end, &next);
        for (uint64_t first = begin; first < end; first += FLOE_REDUCTION_STEP) {
            if (BINS)
                now = next;
            else
                fetch(&job, first, end, &now);
            if (BINS && first + FLOE_REDUCTION_STEP < end)
                fetch(&job, first + FLOE_REDUCTION_STEP, end, &next);
            const floe_reduction_marks marks = floe_reduction_group_add(&job, &now, &shared, &lane);
            if (BINS)
                floe_reduction_bins_add(&job, &now, &marks, &lane, &t, tables, &frames);
        }
        floe_reduction_fold(&lane, &shared, &job.parts[piece]);
        if (BINS && threadIdx.x == 0)
            floe_reduction_frames_met(&frames, &job.parts[piece]);
    }
    if (BINS)
        floe_reduction_bins_write(&job.bins, &t, tables, &frames);
}

/* ---- what the pieces come to --------------------------------------------------------------------------------------- */

FLOE_DEV uint64_t word_join(uint32_t word, uint64_t a, uint64_t b)
{
    if (word < FLOE_SUMS)
        return floe_bits_f64(floe_f64_of(a) + floe_f64_of(b));
    if (word < FLOE_SUMS + FLOE_TOPS)
        return floe_f64_of(b) > floe_f64_of(a) ? b : a;
    return a + b;
}

/* One block; a thread one word of the parts of a stretch of pieces. */
__global__ void __launch_bounds__(JOIN_THREADS) join_kernel(const uint64_t *parts, uint64_t npieces, uint64_t *total)
{
    __shared__ uint64_t stretches[JOIN_STRETCHES][PART_WORDS];
    static_assert(sizeof(floe_reduction_part) == PART_WORDS * sizeof(uint64_t), "words");
    const uint32_t word = threadIdx.x % PART_WORDS, stretch = threadIdx.x / PART_WORDS;
    const uint64_t share = floe_ceil_div(npieces, JOIN_STRETCHES);
    const uint64_t begin = floe_min64(stretch * share, npieces), end = floe_min64(begin + share, npieces);
    uint64_t v = word < FLOE_SUMS ? 0 : word < FLOE_SUMS + FLOE_TOPS ? 0xfff0000000000000u : 0;
#pragma unroll 4
    for (uint64_t k = begin; k < end; k++)
        v = word_join(word, v, parts[k * PART_WORDS + word]);
    stretches[stretch][word] = v;
    __syncthreads();
    if (stretch)
        return;
    for (uint32_t s = 1; s < JOIN_STRETCHES; s++)
        v = word_join(word, v, stretches[s][word]);
    total[word] = v;
}

FLOE_DEV void total_frames_make(const floe_reduction_dev_job *job, floe_bins_frame *frames)
{
    const double *top = job->total->top;
    const bool any = job->total->count[FLOE_COUNT_PAIRS] > 0;
    memset(frames, 0, 2 * sizeof *frames);
    if (any && job->bins.nerrors)
        frames[0] = floe_bins_frame_of(-top[FLOE_TOP_E_LOW], top[FLOE_TOP_E], job->bins.nerrors);
    if (any && job->bins.nvalues)
        frames[1] = floe_bins_frame_of(min(-top[FLOE_TOP_X_LOW], -top[FLOE_TOP_Y_LOW]),
                                       max(top[FLOE_TOP_X], top[FLOE_TOP_Y]), job->bins.nvalues);
}

/* A block of this grid for each of the other's: its counts are added to the total. */
__global__ void __launch_bounds__(MERGE_THREADS) merge_kernel(const __grid_constant__ floe_reduction_dev_job job)
{
    __shared__ floe_bins_frame to[2];
    const floe_reduction_dev_bins *b = &job.bins;
    const uint32_t all = b->nerrors + b->nratios + 2 * b->nvalues;
    const uint32_t *counts = b->counts + (uint64_t)blockIdx.x * all;
    const floe_bins_frame *from = b->frames + 2 * blockIdx.x;
    if (threadIdx.x == 0) {
        total_frames_make(&job, to);
        if (blockIdx.x == 0)
            b->total_frames[0] = to[0], b->total_frames[1] = to[1];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < all; i += MERGE_THREADS) {
        const uint32_t ratios = b->nerrors + b->nratios;
        uint64_t at = i;
        if (counts[i] == 0)
            continue;
        if (i < b->nerrors)
            at = (uint64_t)floe_bins_move(&from[0], i, &to[0]);
        else if (i >= ratios) {
            const uint32_t bin = (i - ratios) % b->nvalues;
            at = i - bin + (uint64_t)floe_bins_move(&from[1], bin, &to[1]);
        }
        atomicAdd((unsigned long long *)&b->total[at], (unsigned long long)counts[i]);
    }
}

/* ---- bytes --------------------------------------------------------------------------------------------------------- */

enum { BYTE_COPIES = FLOE_WARP, BYTES_NBYTES = 2 * 256 * BYTE_COPIES * 4 }; /* a column for each lane */

template <typename T> FLOE_DEV void bytes_add(T v, uint32_t *column)
{
    uint8_t bytes[sizeof(T)];
    memcpy(bytes, &v, sizeof v);
#pragma unroll
    for (uint32_t b = 0; b < sizeof(T); b++)
        atomicAdd(&column[bytes[b] * BYTE_COPIES], 1u);
}

/* Blocks take pieces in turn. */
template <typename T>
__global__ void __launch_bounds__(FLOE_REDUCTION_THREADS)
    bytes_kernel(const __grid_constant__ floe_reduction_dev_job job, uint64_t *counts)
{
    FLOE_DYNAMIC_SHARED(uint32_t, tables);
    for (uint32_t i = threadIdx.x; i < 2 * 256 * BYTE_COPIES; i += FLOE_REDUCTION_THREADS)
        tables[i] = 0;
    __syncthreads();
    uint32_t *column = tables + floe_lane();
    for (uint64_t piece = blockIdx.x; piece < job.npieces; piece += gridDim.x) {
        const uint64_t begin = piece * job.piece, end = floe_min64(begin + job.piece, job.nelems);
        for (uint64_t first = begin; first < end; first += FLOE_REDUCTION_STEP) {
            floe_reduction_group<T> g;
            fetch(&job, first, end, &g);
#pragma unroll
            for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
                if (g.there >> j & 1) {
                    bytes_add(g.x[j], column);
                    bytes_add(g.y[j], column + 256 * BYTE_COPIES);
                }
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < 2 * 256; i += FLOE_REDUCTION_THREADS) {
        uint64_t n = 0;
        for (uint32_t c = 0; c < BYTE_COPIES; c++)
            n += tables[i * BYTE_COPIES + c];
        atomicAdd((unsigned long long *)&counts[i], (unsigned long long)n);
    }
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

typedef void kernel_fn(floe_reduction_dev_job);

kernel_fn *kernel_of(const floe_reduction_dev_job *job)
{
    const bool bins = job->bins.nerrors || job->bins.nvalues;
    if (job->dtype == FLOE_F32)
        return bins ? reduction_kernel<float, true> : reduction_kernel<float, false>;
    return bins ? reduction_kernel<double, true> : reduction_kernel<double, false>;
}

uint32_t shared_nbytes(const floe_reduction_dev_job *job) { return 4 * floe_reduction_tables_of(&job->bins).end; }

cudaError_t blocks_of(const void *kernel, uint32_t nbytes, uint64_t npieces, uint32_t *nblocks)
{
    int device, nsms = 1, an_sm = 1;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&nsms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&an_sm, kernel, FLOE_REDUCTION_THREADS, nbytes);
    const uint64_t most = floe_min64((uint64_t)nsms * (uint64_t)max(an_sm, 1), FLOE_REDUCTION_MAX_BLOCKS);
    *nblocks = (uint32_t)floe_max64(floe_min64(npieces, most), 1);
    return error;
}

} // namespace

int floe_reduction_blocks(const floe_reduction_dev_job *job, uint32_t *nblocks)
{
    return (int)blocks_of((const void *)kernel_of(job), shared_nbytes(job), job->npieces, nblocks);
}

int floe_reduction_run_cuda(const floe_reduction_dev_job *job, uint32_t nblocks, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    FLOE_LAUNCH(kernel_of(job), nblocks, FLOE_REDUCTION_THREADS, shared_nbytes(job), s, *job);
    FLOE_LAUNCH(join_kernel, 1, JOIN_THREADS, 0, s, (const uint64_t *)job->parts, job->npieces, (uint64_t *)job->total);
    if (job->bins.nerrors || job->bins.nvalues)
        FLOE_LAUNCH(merge_kernel, nblocks, MERGE_THREADS, 0, s, *job);
    return (int)cudaGetLastError();
}

int floe_reduction_bytes_cuda(const floe_reduction_dev_job *job, uint64_t *counts, void *stream)
{
    uint32_t nblocks;
    const bool narrow = job->dtype == FLOE_F32;
    const cudaError_t error = blocks_of(narrow ? (const void *)bytes_kernel<float> : (const void *)bytes_kernel<double>,
                                        BYTES_NBYTES, job->npieces, &nblocks);
    if (error != cudaSuccess)
        return (int)error;
    if (narrow)
        FLOE_LAUNCH(bytes_kernel<float>, nblocks, FLOE_REDUCTION_THREADS, BYTES_NBYTES, (cudaStream_t)stream, *job,
                    counts);
    else
        FLOE_LAUNCH(bytes_kernel<double>, nblocks, FLOE_REDUCTION_THREADS, BYTES_NBYTES, (cudaStream_t)stream, *job,
                    counts);
    return (int)cudaGetLastError();
}
