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
        floe_reduction_load(floe_reduction_flat<T>(job, 0, first), floe_reduction_flat<T>(job, 1, first), g);
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

enum { STRETCH_STEPS = 32, STRETCH = STRETCH_STEPS * FLOE_REDUCTION_STEP }; /* pairs; a step is a bit */

/* Of a block's stretch; bits of steps are those of the warp. */
struct stretch {
    const uint4 *x, *y; /* of flat fields: floe_reduction_flat of the first step */
    uint64_t begin, end;
    uint32_t nsteps, nwhole; /* the first of them, which go by whole loads */
    uint32_t turn;           /* of the piece */
    uint32_t wild;           /* steps of which not all groups are tame */
    uint32_t waiting;        /* steps that are to be counted in wider frames */
};

template <typename T>
FLOE_DEV stretch stretch_of(const floe_reduction_dev_job *job, uint64_t begin, uint64_t end, uint32_t turn)
{
    const uint32_t n = (uint32_t)(end - begin);
    return stretch{floe_reduction_flat<T>(job, 0, begin),
                   floe_reduction_flat<T>(job, 1, begin),
                   begin,
                   end,
                   (n + FLOE_REDUCTION_STEP - 1) / FLOE_REDUCTION_STEP,
                   job->flat ? n / FLOE_REDUCTION_STEP : 0,
                   turn,
                   0,
                   0};
}

template <typename T>
FLOE_DEV void step_fetch(const floe_reduction_dev_job *job, const stretch *s, uint32_t step, floe_reduction_group<T> *g)
{
    enum { WORDS = FLOE_REDUCTION_STEP * sizeof(T) / sizeof(uint4) };
    if (step < s->nwhole)
        floe_reduction_load(s->x + step * WORDS, s->y + step * WORDS, g);
    else
        *g = gathered<T>(job, s->begin + (uint64_t)step * FLOE_REDUCTION_STEP, s->end);
}

/* Has what a step of whole loads reads brought to the second cache. */
template <typename T> FLOE_DEV void step_prefetch(const stretch *s, uint32_t step)
{
    enum { WORDS = FLOE_REDUCTION_STEP * sizeof(T) / sizeof(uint4), LINE = 8, LINES = WORDS / LINE };
    const uint4 *first = threadIdx.x < LINES ? s->x : s->y; /* of this thread: begin + threadIdx.x */
    if (step < s->nwhole && threadIdx.x < 2 * LINES)
        floe_prefetch_far(first + step * WORDS - threadIdx.x + threadIdx.x % LINES * LINE);
}

/* Counts groups that fit. */
FLOE_DEV_SELDOM void count_seldom(floe_reduction_counter<float> c, floe_reduction_group<float> g,
                                  floe_reduction_marks marks)
{
    floe_reduction_group_count(c, g, marks);
}
FLOE_DEV void count(const floe_reduction_counter<float> &c, const floe_reduction_group<float> &g,
                    floe_reduction_marks marks)
{
    count_seldom(c, g, marks);
}
FLOE_DEV void count(const floe_reduction_counter<double> &c, const floe_reduction_group<double> &g,
                    floe_reduction_marks marks)
{
    floe_reduction_group_count(c, g, marks);
}

/* Counts what had to wait for wider frames. */
template <typename T> FLOE_DEV_SELDOM void settle(worker<T> w, stretch s, floe_reduction_span<T> values)
{
    floe_reduction_widen(w.counter, w.frames, values, &w.shared->records);
    for (; s.waiting; s.waiting &= s.waiting - 1) {
        floe_reduction_group<T> g;
        step_fetch(w.job, &s, (uint32_t)__ffs((int)s.waiting) - 1, &g);
        count(w.counter, g, floe_reduction_group_marks(w.job, &g));
    }
}

/* Do tame groups fit the frames? */
FLOE_DEV bool tame_fits(const worker<float> *w, const floe_reduction_extent<float> *extent)
{
    return floe_reduction_aim_fits(&w->frames->aim, extent);
}
FLOE_DEV bool tame_fits(const worker<double> *w, const floe_reduction_extent<double> *extent)
{
    return floe_reduction_fits(&w->counter, extent);
}

FLOE_DEV_SELDOM bool tame_count_seldom(floe_reduction_counter<float> c, const floe_reduction_dev_job *job,
                                       floe_reduction_group<float> g)
{
    floe_reduction_extent<float> extent;
    float low[2];
    floe_reduction_group_lows(&g, low);
    floe_reduction_group_tame(job, &g, low, &extent);
    if (!__all_sync(FLOE_ALL_LANES, floe_reduction_fits(&c, &extent)))
        return false;
    floe_reduction_group_count(c, g, floe_reduction_marks{255, 255});
    return true;
}

/* A warp's tame groups; false, if they must wait for wider frames. */
FLOE_DEV bool tame_count(const worker<float> *w, const floe_reduction_group<float> *g, bool fits, const float *ratio)
{
    return floe_reduction_tame_count(&w->counter, g, fits, ratio) || tame_count_seldom(w->counter, w->job, *g);
}
FLOE_DEV bool tame_count(const worker<double> *w, const floe_reduction_group<double> *g, bool fits, const double *)
{
    if (!__all_sync(FLOE_ALL_LANES, fits))
        return false;
    floe_reduction_group_count(w->counter, *g, floe_reduction_marks{255, 255});
    return true;
}

/* Those that are not, read again. */
template <bool BINS, floe_reduction_kind KIND, typename T>
FLOE_DEV void wild_add(const worker<T> *w, stretch *s, floe_reduction_lane<T> *lane)
{
    floe_reduction_span<T> values = floe_reduction_span_none<T>();
    for (uint32_t wild = s->wild; wild; wild &= wild - 1) {
        const uint32_t step = (uint32_t)__ffs((int)wild) - 1;
        floe_reduction_group<T> g;
        floe_reduction_extent<T> extent;
        step_fetch(w->job, s, step, &g);
        const floe_reduction_marks marks =
            floe_reduction_pairs_add<KIND>(w->job, &g, s->turn, &extent, w->shared, lane);
        floe_reduction_span_join(&values, &extent.values);
        bool breaks = floe_reduction_errors_join(&extent, lane);
        if (KIND >= FLOE_REDUCTION_RATIO)
            breaks |= floe_reduction_ratios_join(&extent, lane);
        if (__any_sync(FLOE_ALL_LANES, breaks))
            floe_reduction_records_break<KIND>(&g, &marks, w->shared, lane);
        if (!BINS)
            continue;
        if (__all_sync(FLOE_ALL_LANES, floe_reduction_fits(&w->counter, &extent)))
            count(w->counter, g, marks);
        else
            s->waiting |= 1u << step;
    }
    floe_reduction_span_record(&values, &w->shared->records);
}

/* Adds a step up if all of the warp's groups are tame, else puts it off. Those of another step are fetched once all of this
 * one has come: the compiler waits for both alike. */
template <bool BINS, floe_reduction_kind KIND, typename T>
FLOE_DEV void step_take(const worker<T> *w, const floe_reduction_group<T> *g, uint32_t step, uint32_t next,
                        floe_reduction_group<T> *ahead, stretch *s, floe_reduction_lane<T> *lane)
{
    const floe_reduction_marks all = {255, 255};
    floe_reduction_extent<T> extent;
    T low[2];
    floe_reduction_group_lows(g, low);
    if (next < s->nsteps)
        step_fetch(w->job, s, next, ahead);
    const bool tame = __all_sync(FLOE_ALL_LANES, floe_reduction_group_tame(w->job, g, low, &extent));
    if (!tame) {
        s->wild |= 1u << step;
        return;
    }
    floe_reduction_span_join(&lane->values, &extent.values);
    bool breaks = floe_reduction_errors_join(&extent, lane);
    const bool fits = BINS && tame_fits(w, &extent);
    floe_reduction_tame_add<KIND>(g, &extent, lane);
    if (KIND >= FLOE_REDUCTION_RATIO)
        breaks |= floe_reduction_ratios_join(&extent, lane);
    else if (BINS && w->job->bins.nerrors)
        floe_reduction_ratios_of(g, extent.ratio);
    if (__any_sync(FLOE_ALL_LANES, breaks))
        floe_reduction_records_break<KIND>(g, &all, w->shared, lane);
    if (BINS && !tame_count(w, g, fits, extent.ratio))
        s->waiting |= 1u << step;
}

/* A thread takes eight pairs of every 2048. */
template <bool BINS, floe_reduction_kind KIND, typename T>
FLOE_DEV void steps_add(const worker<T> *w, stretch *s, floe_reduction_lane<T> *lane)
{
#pragma unroll 1
    for (uint32_t step = 0; step < s->nsteps; step++) {
        floe_reduction_group<T> g;
        step_fetch(w->job, s, step, &g);
        if (BINS && sizeof(T) == 4)
            step_prefetch<T>(s, step + 1);
        step_take<BINS, KIND>(w, &g, step, s->nsteps, &g, s, lane);
    }
}

/* Those of the next step are on their way meanwhile. */
template <bool BINS, floe_reduction_kind KIND, typename T>
FLOE_DEV void steps_add_ahead(const worker<T> *w, stretch *s, floe_reduction_lane<T> *lane)
{
    floe_reduction_group<T> a, b;
    step_fetch(w->job, s, 0, &a);
#pragma unroll 1
    for (uint32_t step = 0; step < s->nsteps; step += 2) {
        step_take<BINS, KIND>(w, &a, step, step + 1, &b, s, lane);
        if (step + 1 < s->nsteps)
            step_take<BINS, KIND>(w, &b, step + 1, step + 2, &a, s, lane);
    }
}

template <bool BINS, floe_reduction_kind KIND, typename T>
FLOE_DEV void stretch_add(const worker<T> *w, stretch *s, floe_reduction_lane<T> *lane)
{
    enum { AHEAD = sizeof(T) == 4 && !BINS }; /* there are the registers for it */
    lane->bars = floe_reduction_bars_learn<T>(&w->shared->records);
    if (AHEAD)
        steps_add_ahead<BINS, KIND>(w, s, lane);
    else
        steps_add<BINS, KIND>(w, s, lane);
    lane->ntame += FLOE_REDUCTION_GROUP * (s->nsteps - (uint32_t)__popc(s->wild));
    if (s->wild)
        wild_add<BINS, KIND>(w, s, lane);
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
        floe_reduction_aim_set(&w->counter, w->frames);
    }
}

template <bool BINS, floe_reduction_kind KIND, typename T>
FLOE_DEV void piece_add(const worker<T> *w, uint64_t piece, uint32_t turn, floe_reduction_lane<T> *lane)
{
    const floe_reduction_dev_job *job = w->job;
    const uint64_t begin = piece * job->piece, end = floe_min64(begin + job->piece, job->nelems);
    for (uint64_t at = begin; at < end; at += STRETCH) {
        const bool last = at + STRETCH >= end;
        stretch s = stretch_of<T>(job, at, floe_min64(at + STRETCH, end), turn);
        stretch_add<BINS, KIND>(w, &s, lane);
        if (last)
            floe_reduction_look_put<KIND>(lane, w->shared, turn);
        if (BINS ? __syncthreads_or(s.waiting != 0) : (last && (__syncthreads(), false)))
            settle(*w, s, lane->values);
    }
    if (threadIdx.x == 0)
        floe_reduction_look_join(w->shared, turn, &job->looks[piece]);
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
    for (uint64_t piece = blockIdx.x, turn = 0; piece < job.npieces; piece += gridDim.x, turn ^= 1)
        piece_add<BINS, KIND>(&w, piece, (uint32_t)turn, &lane);
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

/* Frames of all values, if there are bins. */
FLOE_DEV void total_frames_make(const floe_reduction_dev_job *job, const floe_reduction_part *total)
{
    const double *top = total->top;
    const bool any = total->count[FLOE_COUNT_PAIRS] > 0;
    floe_bins_frame frames[2] = {};
    if (any && job->bins.nerrors)
        frames[0] = floe_bins_frame_of(-top[FLOE_TOP_E_LOW], top[FLOE_TOP_E], job->bins.nerrors);
    if (any && job->bins.nvalues)
        frames[1] = floe_bins_frame_of(min(-top[FLOE_TOP_X_LOW], -top[FLOE_TOP_Y_LOW]),
                                       max(top[FLOE_TOP_X], top[FLOE_TOP_Y]), job->bins.nvalues);
    job->bins.total_frames[0] = frames[0], job->bins.total_frames[1] = frames[1];
}

/* One block; a thread one word of a stretch of the parts. */
__global__ void __launch_bounds__(JOIN_THREADS)
    join_kernel(const __grid_constant__ floe_reduction_dev_job job, uint32_t nparts)
{
    __shared__ uint64_t stretches[JOIN_STRETCHES][PART_WORDS];
    floe_dev_begin();
    static_assert(sizeof(floe_reduction_part) == PART_WORDS * sizeof(uint64_t), "words");
    const uint64_t *parts = (const uint64_t *)job.parts;
    const uint32_t word = threadIdx.x % PART_WORDS, stretch = threadIdx.x / PART_WORDS;
    const uint32_t share = (nparts + JOIN_STRETCHES - 1) / JOIN_STRETCHES;
    const uint32_t begin = min(stretch * share, nparts), end = min(begin + share, nparts);
    uint64_t v = word < FLOE_SUMS ? 0 : word < FLOE_SUMS + FLOE_TOPS ? 0xfff0000000000000u : 0;
#pragma unroll 16
    for (uint32_t k = begin; k < end; k++)
        v = word_join(word, v, parts[(uint64_t)k * PART_WORDS + word]);
    stretches[stretch][word] = v;
    __syncthreads();
    if (stretch == 0) {
        for (uint32_t s = 1; s < JOIN_STRETCHES; s++)
            v = word_join(word, v, stretches[s][word]);
        ((uint64_t *)job.total)[word] = v;
    }
    __syncthreads();
    if (threadIdx.x == 0 && (job.bins.nerrors || job.bins.nvalues))
        total_frames_make(&job, job.total);
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

FLOE_DEV bool same_frames(const floe_bins_frame a[2], const floe_bins_frame b[2])
{
    return a[0].exponent == b[0].exponent && a[0].first == b[0].first && a[1].exponent == b[1].exponent &&
           a[1].first == b[1].first;
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
    if (threadIdx.x < 2)
        to[threadIdx.x] = b->total_frames[threadIdx.x];
    __syncthreads();
    if (i >= all)
        return;
    unsigned long long waiting = 0;
    uint64_t place = 0;
    uint32_t last = 0;
    uint32_t count[MERGE_BLOCKS];
#pragma unroll
    for (uint32_t k = 0; k < MERGE_BLOCKS; k++)
        count[k] = k < n ? b->counts[(uint64_t)(begin + k) * all + i] : 0;
#pragma unroll
    for (uint32_t k = 0; k < MERGE_BLOCKS; k++)
        if (count[k]) {
            const uint64_t at = waiting && same_frames(from[k], from[last]) ? place : bin_place(b, from[k], to, i);
            if (at != place && waiting) {
                atomicAdd((unsigned long long *)&b->total[place], waiting);
                waiting = 0;
            }
            waiting += count[k], place = at, last = k;
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

/* As many as run at once, or more, so that no count of a block passes 32 bits: a block takes fewer pairs than
 * FLOE_REDUCTION_BLOCK_PAIRS and those of one piece, which are no more. */
cudaError_t blocks_of(const void *kernel, uint32_t nbytes, const floe_reduction_dev_job *job, uint32_t *nblocks)
{
    int device, nsms = 1, an_sm = 1;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&nsms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&an_sm, kernel, FLOE_REDUCTION_THREADS, nbytes);
    const uint64_t at_once = floe_min64((uint64_t)nsms * (uint64_t)max(an_sm, 1), FLOE_REDUCTION_MAX_BLOCKS);
    const uint64_t least = floe_ceil_div(job->nelems, FLOE_REDUCTION_BLOCK_PAIRS);
    *nblocks = (uint32_t)floe_max64(floe_min64(job->npieces, floe_max64(at_once, least)), 1);
    return error;
}

} // namespace

int floe_reduction_blocks(const floe_reduction_dev_job *job, uint32_t *nblocks)
{
    return (int)blocks_of((const void *)kernel_of(job), shared_nbytes(job), job, nblocks);
}

int floe_reduction_run_cuda(const floe_reduction_dev_job *job, uint32_t nblocks, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    FLOE_LAUNCH_EARLY(kernel_of(job), nblocks, FLOE_REDUCTION_THREADS, shared_nbytes(job), s, *job);
    FLOE_LAUNCH_EARLY(join_kernel, 1, JOIN_THREADS, 0, s, *job, nblocks);
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
                                        BYTES_NBYTES, job, &nblocks);
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
