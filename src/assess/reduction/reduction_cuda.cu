/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/reduction/reduction_bins.cuh"
#include "assess/reduction/reduction_feed.cuh"
#include "backend/device.cuh"

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
    floe_reduction_look *look; /* of the piece that it lies in */
    uint32_t nsteps, nwhole;   /* the first of them, which go by whole loads */
    uint32_t wild;             /* steps of which not all groups are tame */
    uint32_t waiting;          /* steps that are to be counted in wider frames */
};

enum { LEG = 4, LEGS_ALONE = 2 }; /* stretches; of the first legs, as frames are new, each is a stretch */

/* The block's last stretches. */
struct leg {
    uint32_t n, nbefore; /* stretches; legs before it */
    uint64_t begin[LEG], end[LEG];
    uint32_t waiting[LEG]; /* steps of the warp, as in stretch */
};

template <typename T>
FLOE_DEV stretch stretch_of(const floe_reduction_dev_job *job, uint64_t begin, uint64_t end, uint64_t next)
{
    const uint32_t n = (uint32_t)(end - begin);
    return stretch{floe_reduction_flat<T>(job, 0, begin),
                   floe_reduction_flat<T>(job, 1, begin),
                   begin,
                   end,
                   next,
                   &job->looks[begin >> job->piece_nbits],
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

/* Has what a step of whole loads reads brought to L2. */
template <typename T> FLOE_DEV void step_expect(const floe_reduction_dev_job *job, uint64_t first)
{
    enum { LINE = 128 / sizeof(T), LINES = FLOE_REDUCTION_STEP / LINE };
    const T *side = (const T *)(threadIdx.x < LINES ? job->side[0] : job->side[1]);
    if (job->flat && first + FLOE_REDUCTION_STEP <= job->nelems && threadIdx.x < 2 * LINES)
        floe_prefetch_far(side + first + threadIdx.x % LINES * LINE);
}

/* Counts groups that fit. */
FLOE_DEV_COLD void count_seldom(floe_reduction_counter<float> c, floe_reduction_group<float> g,
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
template <typename T> FLOE_DEV_COLD void settle(worker<T> w, const leg *l, floe_reduction_span<T> values)
{
    floe_reduction_widen(w.counter, w.frames, values, &w.shared->records);
    for (uint32_t i = 0; i < l->n; i++) {
        const stretch s = stretch_of<T>(w.job, l->begin[i], l->end[i], 0);
        for (uint32_t waiting = l->waiting[i]; waiting; waiting &= waiting - 1) {
            floe_reduction_group<T> g;
            step_fetch(w.job, &s, (uint32_t)__ffs((int)waiting) - 1, &g);
            count(w.counter, g, floe_reduction_group_marks(w.job, &g));
        }
    }
}

/* By all threads. */
template <typename T> FLOE_DEV void leg_end(const worker<T> *w, leg *l, const floe_reduction_span<T> *values)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < l->n; i++)
        waiting |= l->waiting[i];
    if (__syncthreads_or(waiting != 0))
        settle(*w, l, *values);
    l->n = 0, l->nbefore++;
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

FLOE_DEV_COLD bool tame_count_seldom(floe_reduction_counter<float> c, const floe_reduction_dev_job *job,
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
 * as the compiler waits for both alike, may others be requested. */
template <bool BINS, floe_reduction_kind KIND, typename T, class Ask>
FLOE_DEV void step_take(const worker<T> *w, const floe_reduction_group<T> *g, uint32_t step, Ask ask, stretch *s,
                        floe_reduction_lane<T> *lane)
{
    floe_reduction_extent<T> extent;
    T low[2];
    floe_reduction_group_lows(g, low);
    ask();
    if (BINS && w->job->bins.nbytes)
        floe_reduction_group_bytes(w->frames, g);
    const bool tame = __all_sync(FLOE_ALL_LANES, floe_reduction_group_tame<BINS>(w->job, g, low, &extent));
    if (!tame) {
        s->wild |= 1u << step;
        return;
    }
    floe_reduction_values_join<BINS>(&extent, lane);
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
    const floe_reduction_start *s = &w->job->results->start;
    const floe_reduction_dev_bins *b = &w->job->bins;
    for (uint32_t i = threadIdx.x; i < w->counter.at.end; i += FLOE_REDUCTION_THREADS)
        w->counter.tables[i] = 0;
    if (threadIdx.x == 0) {
        floe_reduction_frame_init(&w->frames->errors, s->error_low, s->error_high, b->nerrors, false);
        floe_reduction_frame_init(&w->frames->values, s->value_low, s->value_high, b->nvalues, true);
        floe_reduction_aim_set(&w->counter, w->frames);
        floe_reduction_byte_aim_set(&w->counter, w->frames);
    }
}

template <bool BINS, floe_reduction_kind KIND, typename T>
FLOE_DEV void turn_add(const worker<T> *w, floe_reduction_feed *feed, uint64_t turn, leg *l,
                       floe_reduction_lane<T> *lane)
{
    const floe_reduction_dev_job *job = w->job;
    const floe_reduction_range range = floe_reduction_turn(job, turn);
    const uint64_t next = floe_reduction_turn(job, turn + 1).begin;
    for (uint64_t at = range.begin; at < range.end;) {
        const uint64_t piece_end = ((at >> job->piece_nbits) + 1) << job->piece_nbits;
        const uint64_t end = floe_min64(floe_min64(at + STRETCH, piece_end), range.end);
        stretch s = stretch_of<T>(job, at, end, end < range.end ? end : next);
        stretch_add<BINS, KIND>(w, feed, &s, lane);
        floe_reduction_look_put<KIND>(lane, s.look);
        if (BINS) {
            l->begin[l->n] = at, l->end[l->n] = end, l->waiting[l->n] = s.waiting;
            if (++l->n == LEG || l->nbefore < LEGS_ALONE)
                leg_end(w, l, &lane->values);
        }
        at = end;
    }
}

/* The totals of bins, cleared by all blocks together. */
FLOE_DEV void totals_clear(const floe_reduction_dev_bins *b)
{
    const uint32_t step = gridDim.x * FLOE_REDUCTION_THREADS;
    for (uint32_t i = blockIdx.x * FLOE_REDUCTION_THREADS + threadIdx.x; i < b->all; i += step)
        b->total[i] = 0;
}

/* What blocks read first is on its way before the samples are known. */
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
        step_expect<T>(&job, floe_reduction_turn(&job, 0).begin + step * FLOE_REDUCTION_STEP);
    if (fed_nbytes(job.dtype, BINS))
        floe_reduction_feed_start(&feed, &job, dynamic);
    floe_reduction_shared_init(&shared);
    floe_dev_wait();
    if (BINS) {
        totals_clear(&job.bins);
        bins_init(&w);
    }
    __syncthreads();
    leg l;
    l.n = l.nbefore = 0;
    floe_reduction_lane_init(&job, &lane);
    for (uint64_t turn = 0; turn <= job.turns; turn++)
        turn_add<BINS, KIND>(&w, &feed, turn, &l, &lane);
    if (BINS && l.n)
        leg_end(&w, &l, &lane.values);
    floe_reduction_bounds_end(&lane);
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
    if (i < ratios || i >= ratios + 2 * b->nvalues) /* ratios, bytes */
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
    const uint32_t all = b->all, across = (all + MERGE_THREADS - 1) / MERGE_THREADS;
    const uint32_t i = blockIdx.x % across * MERGE_THREADS + threadIdx.x;
    const uint32_t begin = blockIdx.x / across * MERGE_BLOCKS, n = min(nblocks - begin, (uint32_t)MERGE_BLOCKS);
    floe_dev_begin();
    if (threadIdx.x < 2 * n)
        from[threadIdx.x / 2][threadIdx.x % 2] = b->frames[2 * begin + threadIdx.x];
    if (threadIdx.x < 2)
        to[threadIdx.x] = job.results->frames[threadIdx.x];
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
    const bool bins = job->bins.all > 0;
    if (job->dtype == FLOE_F32)
        return bins ? kernel_for<float, true>(job) : kernel_for<float, false>(job);
    return bins ? kernel_for<double, true>(job) : kernel_for<double, false>(job);
}

uint32_t shared_nbytes(const floe_reduction_dev_job *job)
{
    return fed_nbytes(job->dtype, job->bins.all > 0) + 4 * floe_reduction_tables_of(&job->bins).end;
}

/* As many as run at once, or more, so that no count of a block passes 32 bits: a block takes fewer pairs than
 * FLOE_REDUCTION_BLOCK_PAIRS and those of one piece, which are no more. None goes without a step. */
cudaError_t blocks_of(const void *kernel, uint32_t nbytes, const floe_reduction_dev_job *job, uint32_t *nblocks)
{
    int an_sm = 1;
    cudaError_t error = floe_allow_shared(kernel);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&an_sm, kernel, FLOE_REDUCTION_THREADS, nbytes);
    const uint64_t all = (uint64_t)floe_gpu_limits_cuda().processors * (uint64_t)max(an_sm, 1);
    const uint64_t at_once = floe_min64(all, FLOE_REDUCTION_MAX_BLOCKS);
    const uint64_t least = floe_ceil_div(job->nelems, FLOE_REDUCTION_BLOCK_PAIRS);
    *nblocks = (uint32_t)floe_min64(floe_ceil_div(job->nelems, FLOE_REDUCTION_STEP), floe_max64(at_once, least));
    return error;
}

/* How so many blocks take turns. */
floe_reduction_dev_job shared_out(const floe_reduction_dev_job *job, uint32_t nblocks)
{
    floe_reduction_dev_job j = *job;
    j.turns = j.npieces / nblocks;
    j.rest = floe_min64(j.turns * nblocks * j.piece, j.nelems);
    j.share = floe_ceil_div(floe_ceil_div(j.nelems - j.rest, nblocks), FLOE_REDUCTION_STEP) * FLOE_REDUCTION_STEP;
    return j;
}

} // namespace

uint32_t floe_reduction_room(floe_dtype dtype)
{
    enum { MOST_NBYTES = 176 << 10, OWN_NBYTES = 12 << 10 }; /* a block fits on a processor; its own variables */
    const uint32_t most = floe_gpu_limits_cuda().shared_nbytes - OWN_NBYTES - fed_nbytes(dtype, true);
    return (uint32_t)floe_min64(most, MOST_NBYTES) / sizeof(uint32_t);
}

int floe_reduction_blocks(const floe_reduction_dev_job *job, uint32_t *nblocks)
{
    return (int)blocks_of((const void *)kernel_of(job), shared_nbytes(job), job, nblocks);
}

int floe_reduction_run_cuda(const floe_reduction_dev_job *job, uint32_t nblocks, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    FLOE_LAUNCH_EARLY(kernel_of(job), nblocks, FLOE_REDUCTION_THREADS, shared_nbytes(job), s, shared_out(job, nblocks));
    if (job->bins.all) {
        const uint32_t across = (job->bins.all + MERGE_THREADS - 1) / MERGE_THREADS;
        FLOE_LAUNCH_EARLY(merge_kernel, across * ((nblocks + MERGE_BLOCKS - 1) / MERGE_BLOCKS), MERGE_THREADS, 0, s,
                          *job, nblocks);
    }
    return (int)cudaGetLastError();
}
