/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/reduction/reduction_bins.cuh"
#include "assess/reduction/reduction_feed.cuh"
#include "backend/device_order.cuh"

namespace
{

enum { BLOCKS_AN_SM = 1, STEPS_EXPECTED = 4, MERGE_THREADS = 128, MERGE_BLOCKS = 16 };

/* ---- pieces -------------------------------------------------------------------------------------------------------- */

/* Shared memory for what is on its way. */
FLOE_HD uint32_t fed_nbytes(floe_dtype dtype, bool bins)
{
    return bins && dtype == FLOE_F32 ? FLOE_REDUCTION_FEED_NBYTES : 0;
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
    uint64_t next;             /* where the block goes on */
    floe_reduction_look *look; /* of the piece */
    uint32_t nsteps, nwhole;   /* the first of them, which go by whole loads */
    uint32_t wild;             /* steps of which not all groups are tame */
    uint32_t waiting;          /* steps that are to be counted in wider frames */
};

template <typename T>
FLOE_DEV stretch stretch_of(const floe_reduction_dev_job *job, uint64_t piece, uint64_t begin, uint64_t end)
{
    const uint32_t n = (uint32_t)(end - begin);
    return stretch{floe_reduction_flat<T>(job, 0, begin),
                   floe_reduction_flat<T>(job, 1, begin),
                   begin,
                   end,
                   end < (piece + 1) * job->piece ? end : (piece + gridDim.x) * job->piece,
                   &job->looks[piece],
                   (n + FLOE_REDUCTION_STEP - 1) / FLOE_REDUCTION_STEP,
                   job->flat ? n / FLOE_REDUCTION_STEP : 0,
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
        *g = floe_reduction_gathered<T>(job, s->begin + (uint64_t)step * FLOE_REDUCTION_STEP, s->end);
}

/* Has what a step of whole loads reads brought to the second cache. */
template <typename T> FLOE_DEV void step_expect(const floe_reduction_dev_job *job, uint64_t first)
{
    enum { LINE = 128 / sizeof(T), LINES = FLOE_REDUCTION_STEP / LINE };
    const T *side = (const T *)(threadIdx.x < LINES ? job->side[0] : job->side[1]);
    if (job->flat && first + FLOE_REDUCTION_STEP <= job->nelems && threadIdx.x < 2 * LINES)
        floe_prefetch_far(side + first + threadIdx.x % LINES * LINE);
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
    floe_reduction_group_tame<true>(job, &g, low, &extent);
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
            floe_reduction_pairs_add<KIND>(w->job, &g, s->look, &extent, w->shared, lane);
        floe_reduction_span_join(&values, &extent.values);
        floe_reduction_errors_join(&extent, lane);
        if (KIND >= FLOE_REDUCTION_RATIO)
            lane->ratio_high = max(lane->ratio_high, extent.ratio_high);
        if (__any_sync(FLOE_ALL_LANES, floe_reduction_breaks<true, KIND>(&extent, lane)))
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

/* A warp's tame groups may break a record: of errors, without their sides, which are looked at now. */
template <bool BINS, floe_reduction_kind KIND, typename T>
FLOE_DEV void tame_break(const worker<T> *w, const floe_reduction_group<T> *g, floe_reduction_extent<T> *extent,
                         floe_reduction_lane<T> *lane)
{
    const floe_reduction_marks all = {255, 255};
    if (!BINS) {
        floe_reduction_errors_span(g, extent);
        if (!__any_sync(FLOE_ALL_LANES, floe_reduction_breaks<true, KIND>(extent, lane)))
            return;
    }
    floe_reduction_records_break<KIND>(g, &all, w->shared, lane);
}

/* Adds a step up if all of the warp's groups are tame, else puts it off. ask: called once all of the step has come; only then,
 * as the compiler waits for both alike, may others be asked for. */
template <bool BINS, floe_reduction_kind KIND, typename T, class Ask>
FLOE_DEV void step_take(const worker<T> *w, const floe_reduction_group<T> *g, uint32_t step, Ask ask, stretch *s,
                        floe_reduction_lane<T> *lane)
{
    floe_reduction_extent<T> extent;
    T low[2];
    floe_reduction_group_lows(g, low);
    ask();
    const bool tame = __all_sync(FLOE_ALL_LANES, floe_reduction_group_tame<BINS>(w->job, g, low, &extent));
    if (!tame) {
        s->wild |= 1u << step;
        return;
    }
    floe_reduction_span_join(&lane->values, &extent.values);
    floe_reduction_errors_join(&extent, lane);
    const bool fits = BINS && tame_fits(w, &extent);
    floe_reduction_tame_add<KIND>(g, &extent, lane);
    if (KIND >= FLOE_REDUCTION_RATIO)
        lane->ratio_high = max(lane->ratio_high, extent.ratio_high);
    else if (BINS && w->job->bins.nerrors)
        floe_reduction_ratios_of(g, extent.ratio);
    floe_reduction_lows_find<KIND>(g, lane, &extent);
    if (__any_sync(FLOE_ALL_LANES, floe_reduction_breaks<BINS, KIND>(&extent, lane)))
        tame_break<BINS, KIND>(w, g, &extent, lane);
    if (BINS && !tame_count(w, g, fits, extent.ratio))
        s->waiting |= 1u << step;
}

/* A thread takes eight pairs of every 4096. Those of the next step are on their way meanwhile: in shared memory where there are
 * bins, */
template <floe_reduction_kind KIND>
FLOE_DEV void steps_add_fed(const worker<float> *w, floe_reduction_feed *feed, stretch *s,
                            floe_reduction_lane<float> *lane)
{
#pragma unroll 1
    for (uint32_t step = 0; step < s->nsteps; step++) {
        const bool is_fed = step < s->nwhole;
        floe_reduction_group<float> g;
        if (is_fed)
            floe_reduction_feed_take(feed, &g);
        else
            step_fetch(w->job, s, step, &g);
        const auto ask = [&] {
            if (is_fed)
                floe_reduction_feed_next(feed);
        };
        step_take<true, KIND>(w, &g, step, ask, s, lane);
    }
}

/* else in registers, */
template <floe_reduction_kind KIND>
FLOE_DEV void steps_add_ahead(const worker<float> *w, stretch *s, floe_reduction_lane<float> *lane)
{
    floe_reduction_group<float> a, b;
    step_fetch(w->job, s, 0, &a);
#pragma unroll 1
    for (uint32_t step = 0; step < s->nsteps; step += 2) {
        const auto ask_odd = [&] {
            if (step + 1 < s->nsteps)
                step_fetch(w->job, s, step + 1, &b);
        };
        const auto ask_even = [&] {
            if (step + 2 < s->nsteps)
                step_fetch(w->job, s, step + 2, &a);
        };
        if (step + 4 == s->nsteps)
            step_expect<float>(w->job, s->next);
        step_take<false, KIND>(w, &a, step, ask_odd, s, lane);
        if (step + 1 < s->nsteps)
            step_take<false, KIND>(w, &b, step + 1, ask_even, s, lane);
    }
}

template <bool BINS, floe_reduction_kind KIND>
FLOE_DEV void steps_add(const worker<float> *w, floe_reduction_feed *feed, stretch *s, floe_reduction_lane<float> *lane)
{
    if (BINS)
        steps_add_fed<KIND>(w, feed, s, lane);
    else
        steps_add_ahead<KIND>(w, s, lane);
}
/* but not of f64, for which there is no room. */
template <bool BINS, floe_reduction_kind KIND>
FLOE_DEV void steps_add(const worker<double> *w, floe_reduction_feed *, stretch *s, floe_reduction_lane<double> *lane)
{
#pragma unroll 1
    for (uint32_t step = 0; step < s->nsteps; step++) {
        floe_reduction_group<double> g;
        step_fetch(w->job, s, step, &g);
        step_take<BINS, KIND>(
            w, &g, step, [] {}, s, lane);
    }
}

template <bool BINS, floe_reduction_kind KIND, typename T>
FLOE_DEV void stretch_add(const worker<T> *w, floe_reduction_feed *feed, stretch *s, floe_reduction_lane<T> *lane)
{
    lane->bars = floe_reduction_bars_learn<T>(&w->shared->records);
    steps_add<BINS, KIND>(w, feed, s, lane);
    lane->ntame += FLOE_REDUCTION_GROUP * (s->nsteps - (uint32_t)__popc(s->wild));
    if (s->wild)
        wild_add<BINS, KIND>(w, s, lane);
}

/* The block's bins, empty, in the frames that samples suggest. By all threads, before a barrier. */
template <typename T> FLOE_DEV void bins_init(const worker<T> *w)
{
    const floe_reduction_start *s = &w->job->answer->start;
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
FLOE_DEV void piece_add(const worker<T> *w, floe_reduction_feed *feed, uint64_t piece, floe_reduction_lane<T> *lane)
{
    const floe_reduction_dev_job *job = w->job;
    const uint64_t begin = piece * job->piece, end = floe_min64(begin + job->piece, job->nelems);
    for (uint64_t at = begin; at < end; at += STRETCH) {
        stretch s = stretch_of<T>(job, piece, at, floe_min64(at + STRETCH, end));
        stretch_add<BINS, KIND>(w, feed, &s, lane);
        if (BINS && __syncthreads_or(s.waiting != 0))
            settle(*w, s, lane->values);
    }
    floe_reduction_look_put<KIND>(lane, &job->looks[piece]);
}

/* The looks of the block's pieces. By all threads, before a barrier. */
FLOE_DEV void looks_begin(const floe_reduction_dev_job *job)
{
    const uint64_t step = (uint64_t)gridDim.x * FLOE_REDUCTION_THREADS;
    for (uint64_t piece = blockIdx.x + (uint64_t)threadIdx.x * gridDim.x; piece < job->npieces; piece += step)
        floe_reduction_look_begin(&job->looks[piece]);
}

/* The totals of bins, cleared by all blocks together. */
FLOE_DEV void totals_clear(const floe_reduction_dev_bins *b)
{
    const uint32_t all = b->nerrors + b->nratios + 2 * b->nvalues, step = gridDim.x * FLOE_REDUCTION_THREADS;
    for (uint32_t i = blockIdx.x * FLOE_REDUCTION_THREADS + threadIdx.x; i < all; i += step)
        b->total[i] = 0;
}

/* Blocks take pieces in turn. What they read first is on its way before the samples are known. */
template <typename T, bool BINS, floe_reduction_kind KIND>
__global__ void __launch_bounds__(FLOE_REDUCTION_THREADS, BLOCKS_AN_SM)
    reduction_kernel(const __grid_constant__ floe_reduction_dev_job job)
{
    FLOE_DYNAMIC_SHARED(uint32_t, dynamic);
    __shared__ floe_reduction_shared<T> shared;
    __shared__ floe_reduction_frames<T> frames;
    __shared__ floe_reduction_joined joined;
    uint32_t *tables = dynamic + fed_nbytes(job.dtype, BINS) / sizeof(uint32_t);
    const worker<T> w = {&job, &shared, &frames, {&job.bins, &frames, floe_reduction_tables_of(&job.bins), tables}};
    floe_reduction_feed feed;
    floe_reduction_lane<T> lane;
    floe_dev_begin_early();
    for (uint32_t step = 0; step < STEPS_EXPECTED; step++)
        step_expect<T>(&job, blockIdx.x * job.piece + step * FLOE_REDUCTION_STEP);
    if (fed_nbytes(job.dtype, BINS))
        floe_reduction_feed_start(&feed, &job, dynamic);
    floe_reduction_shared_init(&shared);
    floe_dev_wait();
    looks_begin(&job);
    if (BINS) {
        totals_clear(&job.bins);
        bins_init(&w);
    }
    __syncthreads();
    floe_reduction_lane_init(&job, &lane);
    for (uint64_t piece = blockIdx.x; piece < job.npieces; piece += gridDim.x)
        piece_add<BINS, KIND>(&w, &feed, piece, &lane);
    __syncthreads();
    floe_reduction_fold<KIND>(&lane, &shared, &job.parts[blockIdx.x]);
    if (BINS)
        floe_reduction_bins_write(&w.counter);
    floe_reduction_done(&job, &joined);
}

/* ---- what the blocks' parts come to --------------------------------------------------------------------------------------- */

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
    const uint32_t all = b->nerrors + b->nratios + 2 * b->nvalues, across = (all + MERGE_THREADS - 1) / MERGE_THREADS;
    const uint32_t i = blockIdx.x % across * MERGE_THREADS + threadIdx.x;
    const uint32_t begin = blockIdx.x / across * MERGE_BLOCKS, n = min(nblocks - begin, (uint32_t)MERGE_BLOCKS);
    floe_dev_begin();
    if (threadIdx.x < 2 * n)
        from[threadIdx.x / 2][threadIdx.x % 2] = b->frames[2 * begin + threadIdx.x];
    if (threadIdx.x < 2)
        to[threadIdx.x] = job.answer->frames[threadIdx.x];
    __syncthreads();
    const bool alike = __syncthreads_and(threadIdx.x >= n || same_frames(from[threadIdx.x], from[0]));
    if (i >= all)
        return;
    unsigned long long waiting = 0;
    uint64_t place = bin_place(b, from[0], to, i);
    uint32_t last = 0;
    uint32_t count[MERGE_BLOCKS];
#pragma unroll
    for (uint32_t k = 0; k < MERGE_BLOCKS; k++)
        count[k] = k < n ? b->counts[(uint64_t)(begin + k) * all + i] : 0;
#pragma unroll
    for (uint32_t k = 0; k < MERGE_BLOCKS; k++)
        if (count[k]) {
            const bool same = alike || (waiting && same_frames(from[k], from[last]));
            const uint64_t at = same ? place : bin_place(b, from[k], to, i);
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

FLOE_DEV void word_bytes_add(uint32_t word, uint32_t column)
{
#pragma unroll
    for (uint32_t b = 0; b < 4; b++)
        floe_reduction_shared_count(column + __byte_perm(word, 0, 0x4440 + b) * (4 * BYTE_COPIES));
}

/* column: of the lane, as floe_reduction_shared_at has it. */
FLOE_DEV void bytes_add(float v, uint32_t column) { word_bytes_add(floe_bits_f32(v), column); }
FLOE_DEV void bytes_add(double v, uint32_t column)
{
    const uint64_t bits = floe_bits_f64(v);
    word_bytes_add((uint32_t)bits, column);
    word_bytes_add((uint32_t)(bits >> 32), column);
}

template <typename T> FLOE_DEV void group_bytes_add(const floe_reduction_group<T> *g, uint32_t x, uint32_t y)
{
    const bool is_whole = g->there == 255;
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
        if (is_whole || g->there >> j & 1) {
            bytes_add(g->x[j], x);
            bytes_add(g->y[j], y);
        }
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
    const uint32_t x = floe_reduction_shared_at(tables + floe_lane()), y = x + BYTES_NBYTES / 2;
    for (uint64_t piece = blockIdx.x; piece < job.npieces; piece += gridDim.x) {
        const uint64_t begin = piece * job.piece, end = floe_min64(begin + job.piece, job.nelems);
        for (uint64_t first = begin; first < end; first += FLOE_REDUCTION_STEP) {
            floe_reduction_group<T> g;
            floe_reduction_fetch(&job, first, end, &g);
            group_bytes_add(&g, x, y);
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

uint32_t shared_nbytes(const floe_reduction_dev_job *job)
{
    const bool bins = job->bins.nerrors || job->bins.nvalues;
    return fed_nbytes(job->dtype, bins) + 4 * floe_reduction_tables_of(&job->bins).end;
}

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
    if (job->bins.nerrors || job->bins.nvalues) {
        const uint32_t all = job->bins.nerrors + job->bins.nratios + 2 * job->bins.nvalues;
        const uint32_t across = (all + MERGE_THREADS - 1) / MERGE_THREADS;
        FLOE_LAUNCH_EARLY(merge_kernel, across * ((nblocks + MERGE_BLOCKS - 1) / MERGE_BLOCKS), MERGE_THREADS, 0, s,
                          *job, nblocks);
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
