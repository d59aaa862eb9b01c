/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples before the reading, and after it places, in pieces which must have them. */
#include "assess/reduction/reduction_records.cuh"
#include "backend/device.cuh"

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

/* Calls see for each pair of a step, or of what a field has of it; by a block. */
template <typename T, class See> FLOE_DEV void step_see(const floe_reduction_dev_job *job, uint64_t first, See see)
{
    const bool whole = floe_reduction_is_whole(job, first, job->nelems);
    floe_reduction_group<T> g;
    floe_reduction_fetch(job, first, job->nelems, &g);
#pragma unroll
    for (uint32_t j = 0; j < FLOE_REDUCTION_GROUP; j++)
        if (g.there >> j & 1)
            see(looked_of(job, floe_reduction_number<T>(whole, first, j), g.x[j], g.y[j]));
}

/* ---- samples ------------------------------------------------------------------------------------------------------- */

/* Puts SAMPLES numbers of each side in order, by comparing and changing places, within warps without a barrier; by all threads,
 * half of them a side, which have a number each. */
FLOE_DEV double samples_sort(double v, double (*shared)[SAMPLES])
{
    const uint32_t i = threadIdx.x % SAMPLES;
    double *side = shared[threadIdx.x / SAMPLES];
#pragma unroll 1
    for (uint32_t run = 2; run <= SAMPLES; run *= 2)
#pragma unroll 1
        for (uint32_t apart = run / 2; apart > 0; apart /= 2) {
            double other = __shfl_xor_sync(FLOE_ALL_LANES, v, apart % FLOE_WARP);
            if (apart >= FLOE_WARP) {
                __syncthreads();
                side[i] = v;
                __syncthreads();
                other = side[i ^ apart];
            }
            const bool is_lesser = ((i & apart) == 0) == ((i & run) == 0);
            v = (is_lesser ? other < v : other > v) ? other : v;
        }
    return v;
}

enum { ENDS = 4 };

/* The largest of each of some numbers, of all threads: number k to lane 0 of warp k. */
FLOE_DEV double samples_most(const double *v, double (*shared)[SAMPLE_THREADS / FLOE_WARP])
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, lane = floe_lane();
#pragma unroll
    for (int k = 0; k < ENDS; k++) {
        const double most = floe_reduction_warp_most(v[k]);
        if (lane == 0)
            shared[k][warp] = most;
    }
    __syncthreads();
    return floe_reduction_warp_most(shared[warp % ENDS][lane % (SAMPLE_THREADS / FLOE_WARP)]);
}

/* One block, half of it a side, of which a thread has a sample; and others, which begin the looks of all pieces. */
template <typename T>
__global__ void __launch_bounds__(SAMPLE_THREADS) sample_kernel(const __grid_constant__ floe_reduction_dev_job job)
{
    __shared__ double sorted[2][SAMPLES], most[ENDS][SAMPLE_THREADS / FLOE_WARP];
    floe_reduction_start *start = &job.results->start;
    const uint32_t i = threadIdx.x % SAMPLES, side = threadIdx.x / SAMPLES;
    const uint64_t piece = (uint64_t)blockIdx.x * SAMPLE_THREADS + threadIdx.x;
    floe_dev_begin_then_launch();
    if (blockIdx.x < gridDim.x - 1) {
        if (piece < job.npieces)
            job.looks[piece] = floe_reduction_look{-1, -1, -1, 0, 0};
        return;
    }
    const double nan = floe_f64_of(FLOE_NAN64_BITS), infinity = floe_f64_of(0x7ff0000000000000u);
    const bool is = i < floe_min64(job.nelems, FLOE_REDUCTION_SAMPLES);
    const looked<T> p = look<T>(&job, is ? floe_reduction_sample_place(job.nelems, i) : 0);
    const bool counts = is && p.kind == FLOE_PAIR_COUNTS;
    const double x = (double)p.x, y = (double)p.y;
    const double sample = samples_sort(counts ? side ? y : x : infinity, sorted);
    const uint32_t n = (uint32_t)__syncthreads_count(counts && side == 0);
    if (threadIdx.x < FLOE_REDUCTION_SAMPLES)
        start->sample[i] = sample;
    if (threadIdx.x == 0)
        start->nsamples = n, start->reserved = 0;
    if (i == n / 2)
        start->pivot[side] = n ? sample : 0;
    const double ends[ENDS] = {counts ? x - y : -infinity, counts ? y - x : -infinity, counts ? -min(x, y) : -infinity,
                               counts ? max(x, y) : -infinity};
    const double end = samples_most(ends, most);
    double *to[ENDS] = {&start->error_low, &start->error_high, &start->value_low, &start->value_high};
    for (uint32_t k = 0; k < ENDS; k++)
        if (threadIdx.x == k * FLOE_WARP)
            *to[k] = !n ? nan : k % 2 ? end : -end;
}

/* ---- dense copies -------------------------------------------------------------------------------------------------- */

/* A thread a pair at a time. */
template <typename T>
__global__ void gather_kernel(const __grid_constant__ floe_reduction_dev_job job, T *original, T *decoded)
{
    const T nan = (T)floe_f64_of(FLOE_NAN64_BITS);
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t at = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; at < job.nelems; at += step) {
        const looked<T> p = look<T>(&job, at);
        original[at] = p.kind == FLOE_PAIR_COUNTS ? p.x : nan;
        decoded[at] = p.kind == FLOE_PAIR_COUNTS ? p.y : nan;
    }
}

/* ---- a block's best ------------------------------------------------------------------------------------------------ */

typedef floe_reduction_candidate candidate;

/* Of none. */
FLOE_DEV candidate nobody() { return candidate{-1, UINT64_MAX}; }
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
FLOE_DEV void found_write(const floe_reduction_dev_job *job, uint64_t at, floe_reduction_found *to)
{
    const bool any = at != UINT64_MAX;
    to->at = at;
    to->x = any ? (double)floe_reduction_value<T>(job, 0, at) : 0;
    to->y = any ? (double)floe_reduction_value<T>(job, 1, at) : 0;
}

/* ---- pieces that are searched -------------------------------------------------------------------------------------- */

/* What a piece's worst is at least: what is not exact is a last place of T too much, or infinite where T has no more room. */
FLOE_DEV double look_least(const floe_reduction_look *l)
{
    return l->worst < 0 || l->inexact < l->worst ? l->worst : min(l->worst, 0x1p128) * (1 - 0x1p-20);
}

enum { LOOKS_AT_ONCE = 4 }; /* of a thread */

/* Calls see for each look, with the number of its piece and of the call: LOOKS_AT_ONCE times, then turn; by all threads. */
template <class See, class Turn> FLOE_DEV void looks_see(const floe_reduction_dev_job *job, See see, Turn turn)
{
    for (uint64_t first = 0; first < job->npieces; first += LOOKS_AT_ONCE * LOOK_THREADS) {
        floe_reduction_look looks[LOOKS_AT_ONCE];
#pragma unroll
        for (int k = 0; k < LOOKS_AT_ONCE; k++) {
            const uint64_t piece = first + k * LOOK_THREADS + threadIdx.x;
            looks[k] = piece < job->npieces ? job->looks[piece] : floe_reduction_look{-1, -1, -1, 0, 0};
        }
#pragma unroll
        for (int k = 0; k < LOOKS_AT_ONCE; k++)
            see(&looks[k], first + k * LOOK_THREADS + threadIdx.x, k);
        turn();
    }
}

/* A piece that is no better than the n-th best, and not much worse: each thread reports the best of those it sees. Nobody, if there
 * are not so many. */
FLOE_DEV candidate looks_bar(const floe_reduction_dev_job *job, uint32_t n, candidate *words)
{
    candidate mine = nobody(), bar = nobody();
    looks_see(
        job,
        [&](const floe_reduction_look *l, uint64_t piece, int) {
            const candidate c = {look_least(l), piece};
            mine = c.size >= 0 && better(c, mine) ? c : mine;
        },
        [] {});
    for (uint32_t round = 0; round < n; round++) {
        bar = block_best(mine, words);
        mine = mine.at == bar.at ? nobody() : mine;
    }
    return bar;
}

/* A list of pieces that are wanted, in order. */
struct wanted_list {
    uint64_t *list, n;
    uint32_t votes[LOOKS_AT_ONCE];                  /* of the warp */
    uint32_t (*counts)[LOOKS_AT_ONCE * LOOK_WARPS]; /* of votes; of the block, on their way */
};

FLOE_DEV void wanted_vote(wanted_list *w, int k, bool is)
{
    w->votes[k] = __ballot_sync(FLOE_ALL_LANES, is);
    if (floe_lane() == 0)
        (*w->counts)[k * LOOK_WARPS + threadIdx.x / FLOE_WARP] = (uint32_t)__popc(w->votes[k]);
}

/* Between barriers. */
FLOE_DEV void wanted_put(wanted_list *w, uint64_t first)
{
    uint64_t before = w->n;
#pragma unroll
    for (uint32_t k = 0; k < LOOKS_AT_ONCE; k++)
#pragma unroll
        for (uint32_t v = 0; v < LOOK_WARPS; v++) {
            if (v == threadIdx.x / FLOE_WARP && w->votes[k] >> floe_lane() & 1)
                w->list[before + (uint32_t)__popc(w->votes[k] & floe_lanes_below())] =
                    first + k * LOOK_THREADS + threadIdx.x;
            before += (*w->counts)[k * LOOK_WARPS + v];
        }
    w->n = before;
}

FLOE_DEV bool may_be_outside(const floe_reduction_look *l, double allowed, bool of_value)
{
    const bool may = of_value ? l->nundefined || l->ratio >= allowed * (1 - 1e-12) : l->worst > allowed;
    return may && l->worst >= 0; /* without any pair nothing is allowed */
}

/* One block. The n worst errors lie in n pieces that are the best by what their worst is at least, or in others that are not
 * exact, and may be as good. */
__global__ void __launch_bounds__(LOOK_THREADS) choose_kernel(const __grid_constant__ floe_reduction_dev_job job,
                                                              const __grid_constant__ floe_reduction_dev_search search)
{
    __shared__ candidate words[LOOK_WARPS];
    __shared__ uint32_t counts[2][LOOKS_AT_ONCE * LOOK_WARPS];
    wanted_list worst = {search.worst_pieces, 0, {}, &counts[0]}, outside = {search.outside_pieces, 0, {}, &counts[1]};
    uint64_t first = 0;
    candidate mismatch = nobody();
    floe_dev_begin();
    const double allowed = floe_reduction_allowed(search.of_range, search.bound, &job.results->total);
    const candidate bar = looks_bar(&job, search.nworst, words);
    looks_see(
        &job,
        [&](const floe_reduction_look *l, uint64_t piece, int k) {
            wanted_vote(&worst, k,
                        search.nworst && l->worst >= 0 && (bar.size < 0 || !better(bar, candidate{l->worst, piece})));
            wanted_vote(&outside, k, search.outside && may_be_outside(l, allowed, search.of_value));
            if (l->nmismatch && mismatch.size < 0)
                mismatch = candidate{0, piece};
        },
        [&] {
            __syncthreads();
            wanted_put(&worst, first);
            wanted_put(&outside, first);
            __syncthreads();
            first += LOOKS_AT_ONCE * LOOK_THREADS;
        });
    mismatch = block_best(mismatch, words);
    if (threadIdx.x == 0)
        *search.state =
            floe_reduction_search_state{worst.n, outside.n, mismatch.at, max(bar.size, 0.0), allowed, 0, UINT64_MAX, 0};
}

/* ---- steps of such pieces ------------------------------------------------------------------------------------------ */

enum { STEP_BITS = 12 };
static_assert((int)FLOE_REDUCTION_STEP == 1 << STEP_BITS && (int)FLOE_REDUCTION_STEP <= (int)FLOE_REDUCTION_PIECE,
              "a piece has steps");

/* Calls find for the steps of some pieces, in order; blocks take them in turn. */
template <class Find>
FLOE_DEV void steps_find(const floe_reduction_dev_job *job, const uint64_t *pieces, uint64_t npieces, Find find)
{
    const uint32_t nbits = job->piece_nbits - STEP_BITS;
    for (uint64_t step = blockIdx.x; step < npieces << nbits; step += gridDim.x) {
        const uint64_t within = step & (((uint64_t)1 << nbits) - 1);
        const uint64_t first = (pieces[step >> nbits] << job->piece_nbits) + (within << STEP_BITS);
        if (first < job->nelems)
            find(first);
    }
}

/* ---- the worst ----------------------------------------------------------------------------------------------------- */

/* A pair; of one that does not count size is -1. */
template <typename T> FLOE_DEV candidate candidate_of(const looked<T> &p)
{
    return candidate{p.kind == FLOE_PAIR_COUNTS ? fabs((double)p.y - (double)p.x) : -1, p.at};
}

enum { LISTED = 1024 };

/* Of a block. */
struct worst_list {
    candidate best[FLOE_ASSESS_MAX_WORST]; /* so far, best first */
    uint32_t nbest;
    uint32_t n; /* that may come among them; more than there is room for: not all are listed */
    candidate entry[LISTED];
    candidate words[LOOK_WARPS];
};

/* Lists what is better than the bar, as far as there is room. Returns whether there was anything. */
template <typename T>
FLOE_DEV bool worst_collect(const floe_reduction_dev_job *job, uint64_t first, candidate bar, worst_list *list)
{
    bool any = false;
    step_see<T>(job, first, [&](const looked<T> &p) {
        const candidate c = candidate_of(p);
        if (!better(c, bar))
            return;
        const uint32_t i = atomicAdd(&list->n, 1u);
        if (i < LISTED)
            list->entry[i] = c;
        any = true;
    });
    return __syncthreads_or(any);
}

/* The same where there is no room for all: the best of them, one after another; by all threads. */
template <typename T>
FLOE_DEV_COLD void worst_single_out(const floe_reduction_dev_job *job, uint64_t first, candidate bar, uint32_t most,
                                    worst_list *list)
{
    candidate before = nobody();
    uint32_t n = 0;
    for (; n < most; n++) {
        candidate best = bar;
        step_see<T>(job, first, [&](const looked<T> &p) {
            const candidate c = candidate_of(p);
            if (better(c, best) && (n == 0 || better(before, c)))
                best = c;
        });
        before = block_best(best, list->words);
        if (!better(before, bar))
            break;
        if (threadIdx.x == 0)
            list->entry[n] = before;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        list->n = n;
    __syncthreads();
}

/* The best of those so far and what is listed; by a warp. */
FLOE_DEV void worst_merge(uint32_t most, worst_list *list)
{
    const uint32_t nbest = list->nbest, all = nbest + list->n;
    candidate mine[FLOE_ASSESS_MAX_WORST / FLOE_WARP], before = nobody();
    for (uint32_t round = 0; round < most && round < all; round++) {
        candidate best = nobody();
        for (uint32_t i = floe_lane(); i < all; i += FLOE_WARP) {
            const candidate c = i < nbest ? list->best[i] : list->entry[i - nbest];
            if (better(c, best) && (round == 0 || better(before, c)))
                best = c;
        }
        before = warp_best(best);
#pragma unroll
        for (uint32_t k = 0; k < FLOE_ASSESS_MAX_WORST / FLOE_WARP; k++)
            if (round == k * FLOE_WARP + floe_lane())
                mine[k] = before;
    }
    __syncwarp();
#pragma unroll
    for (uint32_t k = 0; k < FLOE_ASSESS_MAX_WORST / FLOE_WARP; k++)
        if (k * FLOE_WARP + floe_lane() < min(most, all))
            list->best[k * FLOE_WARP + floe_lane()] = mine[k];
    if (floe_lane() == 0)
        list->nbest = min(most, all), list->n = 0;
}

/* The worst of a block's steps, best first, to memory; where there are fewer, nobody. */
template <typename T>
FLOE_DEV void worst_find(const floe_reduction_dev_job *job, const floe_reduction_dev_search *search, worst_list *list)
{
    const floe_reduction_search_state *state = search->state;
    const uint32_t most = search->nworst;
    if (threadIdx.x == 0)
        list->nbest = list->n = 0;
    __syncthreads();
    steps_find(job, search->worst_pieces, state->nworst, [&](uint64_t first) {
        const candidate bar = list->nbest == most ? list->best[most - 1] : candidate{state->least, UINT64_MAX};
        if (!worst_collect<T>(job, first, bar, list))
            return;
        if (__syncthreads_or(list->n > LISTED))
            worst_single_out<T>(job, first, bar, most, list);
        if (threadIdx.x < FLOE_WARP)
            worst_merge(most, list);
        __syncthreads();
    });
    if (threadIdx.x < most)
        search->best[blockIdx.x * most + threadIdx.x] = threadIdx.x < list->nbest ? list->best[threadIdx.x] : nobody();
}

/* Of what other blocks have written. */
FLOE_DEV candidate candidate_load(const candidate *c)
{
    return candidate{floe_f64_of(floe_load_shared_state((const uint64_t *)&c->size)), floe_load_shared_state(&c->at)};
}

/* The worst of all blocks, with a thread for those of each. */
template <typename T>
FLOE_DEV void worst_join(const floe_reduction_dev_job *job, const floe_reduction_dev_search *search, worst_list *list)
{
    const uint32_t most = search->nworst;
    const candidate *rest = &search->best[threadIdx.x * most], *end = rest + most;
    const auto take = [&] { return threadIdx.x < gridDim.x && rest < end ? candidate_load(rest++) : nobody(); };
    candidate mine = take(), next = take();
    for (uint32_t round = 0; round < most; round++) {
        const candidate best = block_best(mine, list->words);
        if (threadIdx.x == 0)
            list->best[round] = best;
        if (mine.size >= 0 && mine.at == best.at)
            mine = next, next = take();
    }
    __syncthreads();
    if (threadIdx.x < most)
        found_write<T>(job, list->best[threadIdx.x].at, &search->host_places->worst[threadIdx.x]);
}

/* ---- outside the bound --------------------------------------------------------------------------------------------- */

template <typename T>
FLOE_DEV void outside_find(const floe_reduction_dev_job *job, const floe_reduction_dev_search *search, candidate *words)
{
    floe_reduction_search_state *state = search->state;
    const double allowed = state->allowed;
    candidate first = nobody();
    unsigned long long n = 0;
    steps_find(job, search->outside_pieces, state->noutside, [&](uint64_t at) {
        step_see<T>(job, at, [&](const looked<T> &p) {
            const double may = search->of_value ? allowed * fabs((double)p.x) : allowed;
            const bool is = p.kind == FLOE_PAIR_COUNTS && fabs((double)p.y - (double)p.x) > may;
            n += is;
            if (is && better(candidate{0, p.at}, first))
                first = candidate{0, p.at};
        });
    });
    first = block_best(first, words);
    for (int d = FLOE_WARP / 2; d > 0; d /= 2)
        n += __shfl_xor_sync(FLOE_ALL_LANES, n, d);
    if (floe_lane() == 0 && n)
        atomicAdd((unsigned long long *)&state->outside, n);
    if (threadIdx.x == 0)
        atomicMin((unsigned long long *)&state->first, (unsigned long long)first.at);
}

/* ---- special values that differ ------------------------------------------------------------------------------------ */

/* One block. */
template <typename T>
FLOE_DEV void mismatch_find(const floe_reduction_dev_job *job, const floe_reduction_dev_search *search,
                            candidate *words)
{
    const uint64_t begin = search->state->mismatch << job->piece_nbits;
    candidate best = nobody();
    for (uint64_t first = begin; first < floe_min64(begin + job->piece, job->nelems); first += FLOE_REDUCTION_STEP)
        step_see<T>(job, first, [&](const looked<T> &p) {
            if (p.kind == FLOE_PAIR_DIFFERS && better(candidate{0, p.at}, best))
                best = candidate{0, p.at};
        });
    best = block_best(best, words);
    if (threadIdx.x == 0)
        found_write<T>(job, best.at, &search->host_places->mismatch);
}

/* ---- the search ---------------------------------------------------------------------------------------------------- */

template <typename T>
__global__ void __launch_bounds__(LOOK_THREADS, 2)
    search_kernel(const __grid_constant__ floe_reduction_dev_job job,
                  const __grid_constant__ floe_reduction_dev_search search)
{
    __shared__ worst_list list;
    __shared__ uint32_t is_last;
    floe_reduction_search_state *state = search.state;
    floe_dev_begin();
    if (search.outside)
        outside_find<T>(&job, &search, list.words);
    if (search.nworst)
        worst_find<T>(&job, &search, &list);
    if (blockIdx.x == 0 && state->mismatch != UINT64_MAX)
        mismatch_find<T>(&job, &search, list.words);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        is_last = atomicAdd(&state->done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!is_last)
        return;
    __threadfence();
    if (search.nworst)
        worst_join<T>(&job, &search, &list);
    if (threadIdx.x == 0) {
        search.host_places->noutside = floe_load_shared_state(&state->outside);
        found_write<T>(&job, floe_load_shared_state(&state->first), &search.host_places->outside);
    }
}

} // namespace

/* ---- launches ------------------------------------------------------------------------------------------------------ */

int floe_reduction_sample_cuda(const floe_reduction_dev_job *job, void *stream)
{
    static_assert((int)FLOE_REDUCTION_SAMPLES < (int)SAMPLES, "a thread a sample");
    const uint32_t nblocks = (uint32_t)floe_ceil_div(job->npieces, SAMPLE_THREADS) + 1;
    if (job->dtype == FLOE_F32)
        FLOE_LAUNCH(sample_kernel<float>, nblocks, SAMPLE_THREADS, 0, (cudaStream_t)stream, *job);
    else
        FLOE_LAUNCH(sample_kernel<double>, nblocks, SAMPLE_THREADS, 0, (cudaStream_t)stream, *job);
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

int floe_reduction_search_cuda(const floe_reduction_dev_job *job, const floe_reduction_dev_search *search, void *stream)
{
    static_assert((int)FLOE_REDUCTION_SEARCH_BLOCKS <= (int)LOOK_THREADS, "a thread a block, in worst_join");
    const uint32_t nblocks =
        (uint32_t)floe_min64(floe_ceil_div(job->nelems, FLOE_REDUCTION_STEP), FLOE_REDUCTION_SEARCH_BLOCKS);
    cudaStream_t s = (cudaStream_t)stream;
    FLOE_LAUNCH_EARLY(choose_kernel, 1, LOOK_THREADS, 0, s, *job, *search);
    if (job->dtype == FLOE_F32)
        FLOE_LAUNCH_EARLY(search_kernel<float>, nblocks, LOOK_THREADS, 0, s, *job, *search);
    else
        FLOE_LAUNCH_EARLY(search_kernel<double>, nblocks, LOOK_THREADS, 0, s, *job, *search);
    return (int)cudaGetLastError();
}
