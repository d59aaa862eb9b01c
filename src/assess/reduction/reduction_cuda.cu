/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/reduction/reduction_bins.cuh"

namespace
{

enum {
    PART_WORDS = FLOE_SUMS + FLOE_TOPS + FLOE_COUNTS,
    JOIN_STRETCHES = 28, /* of parts, in all of which the same word is joined by a thread of its own */
    JOIN_THREADS = PART_WORDS * JOIN_STRETCHES,
    BLOCKS_AN_SM = 2,
    MERGE_THREADS = 128,
    MERGE_BLOCKS = 16
};
static_assert(JOIN_THREADS <= 1024, "one block");

/* ---- pieces -------------------------------------------------------------------------------------------------------- */

template <typename T>
FLOE_DEV_SELDOM floe_reduction_group<T> gathered(const floe_reduction_dev_job *job, uint64_t first, uint64_t end)
{
    floe_reduction_group<T> g;
    floe_reduction_gather(job, first, end, &g);
    return g;
}

template <typename T>
FLOE_DEV void fetch(const floe_reduction_dev_job *job, uint64_t first, uint64_t end, floe_reduction_group<T> *g)
{
    if (floe_reduction_is_whole(job, first, end))
        floe_reduction_load(job, first, g);
    else
        *g = gathered<T>(job, first, end);
}

/* Of a kernel's block. */
template <typename T> struct worker {
    const floe_reduction_dev_job *job;
    floe_reduction_shared<T> *shared;
    floe_reduction_frames<T> *frames;
    floe_reduction_counter<T> counter;
};

enum { STRETCH = 32 * FLOE_REDUCTION_STEP }; /* pairs; a step is a bit */

/* Counts what had to wait for wider frames. waiting: bits of the warp's steps of a stretch. */
template <typename T>
FLOE_DEV_SELDOM void settle(worker<T> w, uint64_t begin, uint64_t end, uint32_t waiting, T least, T most)
{
    floe_reduction_widen(w.counter, w.frames, least, most, &w.shared->records);
    for (; waiting; waiting &= waiting - 1) {
        const uint64_t first = begin + (uint64_t)(__ffs((int)waiting) - 1) * FLOE_REDUCTION_STEP;
        floe_reduction_group<T> g;
        fetch(w.job, first, end, &g);
        const floe_reduction_marks marks = floe_reduction_group_marks(w.job, &g);
        floe_reduction_group_count(&w.counter, &g, &marks);
    }
}

/* A thread takes eight pairs of every 2048; of f32 the next ones are on their way meanwhile. */
template <typename T, bool BINS, floe_reduction_kind KIND>
FLOE_DEV void stretch_add(const worker<T> *w, uint64_t begin, uint64_t end, floe_reduction_lane<T> *lane)
{
    enum { AHEAD = sizeof(T) == 4 };
    floe_reduction_group<T> now, next;
    uint32_t waiting = 0, bit = 1;
    if (AHEAD)
        fetch(w->job, begin, end, &next);
    for (uint64_t first = begin; first < end; first += FLOE_REDUCTION_STEP, bit <<= 1) {
        floe_reduction_extent<T> extent;
        if (AHEAD)
            now = next;
        else
            fetch(w->job, first, end, &now);
        if (AHEAD && first + FLOE_REDUCTION_STEP < end)
            fetch(w->job, first + FLOE_REDUCTION_STEP, end, &next);
        if (bit & 0x01010101u)
            floe_reduction_records_learn(&w->shared->records, lane);
        const floe_reduction_marks marks = floe_reduction_group_add<KIND>(w->job, &now, &extent, w->shared, lane);
        if (!BINS)
            continue;
        if (__all_sync(FLOE_ALL_LANES, floe_reduction_fits(&w->counter, &extent)))
            floe_reduction_group_count(&w->counter, &now, &marks);
        else
            waiting |= bit;
    }
    if (BINS && __syncthreads_or(waiting != 0))
        settle(*w, begin, end, waiting, min(lane->least[0], lane->least[1]), max(lane->most[0], lane->most[1]));
}

/* The block's bins, empty, in the frames that samples suggest. By all threads, before a barrier. */
template <typename T> FLOE_DEV void bins_init(const worker<T> *w)
{
    const floe_reduction_start *s = w->job->start;
    const floe_reduction_dev_bins *b = &w->job->bins;
    for (uint32_t i = threadIdx.x; i < w->counter.at.end; i += FLOE_REDUCTION_THREADS)
        w->counter.tables[i] = 0;
    if (threadIdx.x == 0) {
        floe_reduction_frame_init(&w->frames->errors, s->error_low, s->error_high, b->nerrors, false);
        floe_reduction_frame_init(&w->frames->values, s->value_low, s->value_high, b->nvalues, true);
    }
}

/* Blocks take pieces in turn. */
template <typename T, bool BINS, floe_reduction_kind KIND>
__global__ void __launch_bounds__(FLOE_REDUCTION_THREADS, BLOCKS_AN_SM)
    reduction_kernel(const __grid_constant__ floe_reduction_dev_job job)
{
    FLOE_DYNAMIC_SHARED(uint32_t, tables);
    __shared__ floe_reduction_shared<T> shared;
    __shared__ floe_reduction_frames<T> frames;
    const worker<T> w = {&job, &shared, &frames, {&job.bins, &frames, floe_reduction_tables_of(&job.bins), tables}};
    floe_reduction_lane<T> lane;
    floe_reduction_shared_init(&shared);
    floe_dev_begin();
    if (BINS)
        bins_init(&w);
    __syncthreads();
    floe_reduction_lane_init(&job, &lane);
    for (uint64_t piece = blockIdx.x; piece < job.npieces; piece += gridDim.x) {
        const uint64_t begin = piece * job.piece, end = floe_min64(begin + job.piece, job.nelems);
        for (uint64_t at = begin; at < end; at += STRETCH)
            stretch_add<T, BINS, KIND>(&w, at, floe_min64(at + STRETCH, end), &lane);
        floe_reduction_look_write<KIND>(&lane, &shared, &job.looks[piece]);
    }
    floe_reduction_fold<KIND>(&lane, &shared, &job.parts[blockIdx.x]);
    if (BINS)
        floe_reduction_bins_write(&w.counter);
}

/* ---- what the blocks' parts come to --------------------------------------------------------------------------------------- */

FLOE_DEV uint64_t word_join(uint32_t word, uint64_t a, uint64_t b)
{
    if (word < FLOE_SUMS)
        return floe_bits_f64(floe_f64_of(a) + floe_f64_of(b));
    if (word < FLOE_SUMS + FLOE_TOPS)
        return floe_f64_of(b) > floe_f64_of(a) ? b : a;
    return a + b;
}

/* One block; a thread one word of a stretch of the parts. */
__global__ void __launch_bounds__(JOIN_THREADS) join_kernel(const uint64_t *parts, uint32_t nparts, uint64_t *total)
{
    __shared__ uint64_t stretches[JOIN_STRETCHES][PART_WORDS];
    floe_dev_begin();
    static_assert(sizeof(floe_reduction_part) == PART_WORDS * sizeof(uint64_t), "words");
    const uint32_t word = threadIdx.x % PART_WORDS, stretch = threadIdx.x / PART_WORDS;
    const uint32_t share = (nparts + JOIN_STRETCHES - 1) / JOIN_STRETCHES;
    const uint32_t begin = min(stretch * share, nparts), end = min(begin + share, nparts);
    uint64_t v = word < FLOE_SUMS ? 0 : word < FLOE_SUMS + FLOE_TOPS ? 0xfff0000000000000u : 0;
#pragma unroll 16
    for (uint32_t k = begin; k < end; k++)
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

/* Where bin i of a block's counts goes in the total. */
FLOE_DEV uint64_t bin_place(const floe_reduction_dev_bins *b, const floe_bins_frame from[2],
                            const floe_bins_frame to[2], uint32_t i)
{
    const uint32_t ratios = b->nerrors + b->nratios;
    if (i < b->nerrors)
        return (uint64_t)floe_bins_move(&from[0], i, &to[0]);
    if (i < ratios)
        return i;
    const uint32_t bin = (i - ratios) % b->nvalues;
    return i - bin + (uint64_t)floe_bins_move(&from[1], bin, &to[1]);
}

/* A thread adds one bin's counts of MERGE_BLOCKS blocks to the total: mostly they go to one place. */
__global__ void __launch_bounds__(MERGE_THREADS)
    merge_kernel(const __grid_constant__ floe_reduction_dev_job job, uint32_t nblocks)
{
    __shared__ floe_bins_frame to[2], from[MERGE_BLOCKS][2];
    const floe_reduction_dev_bins *b = &job.bins;
    const uint32_t all = b->nerrors + b->nratios + 2 * b->nvalues, i = blockIdx.x * MERGE_THREADS + threadIdx.x;
    const uint32_t begin = blockIdx.y * MERGE_BLOCKS, n = min(nblocks - begin, (uint32_t)MERGE_BLOCKS);
    if (threadIdx.x < 2 * n)
        from[threadIdx.x / 2][threadIdx.x % 2] = b->frames[2 * begin + threadIdx.x];
    if (threadIdx.x == 0) {
        total_frames_make(&job, to);
        if (blockIdx.x == 0 && blockIdx.y == 0)
            b->total_frames[0] = to[0], b->total_frames[1] = to[1];
    }
    __syncthreads();
    if (i >= all)
        return;
    unsigned long long waiting = 0;
    uint64_t place = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t count = b->counts[(uint64_t)(begin + k) * all + i];
        const uint64_t at = count ? bin_place(b, from[k], to, i) : place;
        if (at != place && waiting)
            atomicAdd((unsigned long long *)&b->total[place], waiting);
        waiting = (at == place ? waiting : 0) + count;
        place = at;
    }
    if (waiting)
        atomicAdd((unsigned long long *)&b->total[place], waiting);
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

template <typename T, bool BINS> kernel_fn *kernel_for(const floe_reduction_dev_job *job)
{
    return job->each      ? reduction_kernel<T, BINS, FLOE_REDUCTION_EACH>
           : job->moments ? reduction_kernel<T, BINS, FLOE_REDUCTION_POWERS>
           : job->ratios  ? reduction_kernel<T, BINS, FLOE_REDUCTION_RATIO>
                          : reduction_kernel<T, BINS, FLOE_REDUCTION_FEW>;
}

kernel_fn *kernel_of(const floe_reduction_dev_job *job)
{
    const bool bins = job->bins.nerrors || job->bins.nvalues;
    if (job->dtype == FLOE_F32)
        return bins ? kernel_for<float, true>(job) : kernel_for<float, false>(job);
    return bins ? kernel_for<double, true>(job) : kernel_for<double, false>(job);
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
    FLOE_LAUNCH_EARLY(kernel_of(job), nblocks, FLOE_REDUCTION_THREADS, shared_nbytes(job), s, *job);
    FLOE_LAUNCH_EARLY(join_kernel, 1, JOIN_THREADS, 0, s, (const uint64_t *)job->parts, nblocks,
                      (uint64_t *)job->total);
    if (job->bins.nerrors || job->bins.nvalues) {
        const uint32_t all = job->bins.nerrors + job->bins.nratios + 2 * job->bins.nvalues;
        const dim3 grid((all + MERGE_THREADS - 1) / MERGE_THREADS, (nblocks + MERGE_BLOCKS - 1) / MERGE_BLOCKS);
        FLOE_LAUNCH(merge_kernel, grid, MERGE_THREADS, 0, s, *job, nblocks);
    }
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
