/* SPDX-License-Identifier: BSD-3-Clause */
/* How the lanes of a block become one part, and the blocks' parts one. */
#ifndef FLOE_ASSESS_REDUCTION_FOLD_CUH
#define FLOE_ASSESS_REDUCTION_FOLD_CUH

#include "assess/reduction/reduction_lane.cuh"

/* ---- the part of a block ------------------------------------------------------------------------------------------- */

/* By all threads, before a barrier. */
template <typename T> FLOE_DEV void floe_reduction_shared_init(floe_reduction_shared<T> *s)
{
    if (threadIdx.x < FLOE_COUNTS * FLOE_REDUCTION_WARPS)
        (&s->count[0][0])[threadIdx.x] = 0;
    floe_reduction_records_init(&s->records);
}

FLOE_DEV constexpr bool floe_reduction_adds(floe_reduction_kind kind, int sum)
{
    const bool power = sum == FLOE_SUM_X3 || sum == FLOE_SUM_X4 || sum == FLOE_SUM_Y3 || sum == FLOE_SUM_Y4;
    const bool follows = sum == FLOE_SUM_Y || sum == FLOE_SUM_Y2 || sum == FLOE_SUM_XY;
    return kind >= (follows              ? FLOE_REDUCTION_EACH
                    : power              ? FLOE_REDUCTION_POWERS
                    : sum == FLOE_SUM_PW ? FLOE_REDUCTION_RATIO
                                         : FLOE_REDUCTION_FEW);
}

/* By a whole warp. */
FLOE_DEV double floe_reduction_warp_sum(double v)
{
#pragma unroll
    for (int d = FLOE_WARP / 2; d > 0; d /= 2)
        v += __shfl_xor_sync(FLOE_ALL_LANES, v, d);
    return v;
}

/* By a whole warp: to words of the warp. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_warp_fold(const floe_reduction_lane<T> *l, const floe_reduction_records *r, double *words)
{
#pragma unroll
    for (int i = 0; i < FLOE_SUMS; i++) {
        const double v = floe_reduction_adds(KIND, i) ? floe_reduction_warp_sum(l->sum[i]) : 0;
        if (floe_lane() == 0)
            words[i] = v;
    }
#pragma unroll
    for (int side = 0; side < 2; side++) {
        const T most = floe_reduction_warp_most(l->values.most[side]),
                least = floe_reduction_warp_most(-l->values.least[side]);
        if (floe_lane() == 0) {
            words[FLOE_SUMS + FLOE_TOP_X + 2 * side] = (double)most;
            words[FLOE_SUMS + FLOE_TOP_X_LOW + 2 * side] = (double)least;
        }
    }
    __syncwarp();
    if (floe_lane() < FLOE_TOPS) {
        const double v = floe_reduction_of_key(r->key[floe_lane()]);
        double *word = &words[FLOE_SUMS + floe_lane()];
        *word = floe_lane() < FLOE_TOP_E ? max(*word, v) : v;
    }
}

template <typename T>
FLOE_DEV void floe_reduction_warp_count(const floe_reduction_lane<T> *l, const floe_reduction_shared<T> *s,
                                        uint64_t *counts)
{
    const uint64_t ntame = ((uint64_t)__reduce_add_sync(FLOE_ALL_LANES, l->ntame >> 16) << 16) +
                           __reduce_add_sync(FLOE_ALL_LANES, l->ntame & 0xffff);
    const uint32_t c = floe_lane();
    __syncwarp();
    if (c < FLOE_COUNTS)
        counts[c] = s->count[c][threadIdx.x / FLOE_WARP] + (c == FLOE_COUNT_PAIRS || c == FLOE_COUNT_PW ? ntame : 0);
}

/* By a whole block, behind a barrier. */
template <floe_reduction_kind KIND, typename T>
FLOE_DEV void floe_reduction_fold(const floe_reduction_lane<T> *l, floe_reduction_shared<T> *s,
                                  floe_reduction_part *part)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, i = threadIdx.x;
    floe_reduction_warp_fold<KIND>(l, &s->records, s->words[warp]);
    floe_reduction_warp_count(l, s, s->counts[warp]);
    __syncthreads();
    if (i < FLOE_SUMS) {
        double v = s->words[0][i];
        for (int w = 1; w < FLOE_REDUCTION_WARPS; w++)
            v += s->words[w][i];
        part->sum[i] = v;
    } else if (i < FLOE_SUMS + FLOE_TOPS) {
        double v = s->words[0][i];
        for (int w = 1; w < FLOE_REDUCTION_WARPS; w++)
            v = max(v, s->words[w][i]);
        part->top[i - FLOE_SUMS] = v;
    } else if (i < FLOE_SUMS + FLOE_TOPS + FLOE_COUNTS) {
        const int c = (int)i - FLOE_SUMS - FLOE_TOPS;
        uint64_t n = 0;
        for (int w = 0; w < FLOE_REDUCTION_WARPS; w++)
            n += s->counts[w][c];
        part->count[c] = n;
    }
}

/* ---- all parts ----------------------------------------------------------------------------------------------------- */

enum {
    FLOE_REDUCTION_PART_WORDS = FLOE_SUMS + FLOE_TOPS + FLOE_COUNTS,
    /* Of parts; in all of them the same word is joined by a thread of its own. */
    FLOE_REDUCTION_STRETCHES = (int)FLOE_REDUCTION_THREADS / (int)FLOE_REDUCTION_PART_WORDS,
    FLOE_REDUCTION_AT_ONCE = 16 /* words that a thread has requested */
};
static_assert(sizeof(floe_reduction_part) == FLOE_REDUCTION_PART_WORDS * sizeof(uint64_t), "words");

/* Of a block. */
typedef struct floe_reduction_joined {
    uint64_t words[FLOE_REDUCTION_STRETCHES][FLOE_REDUCTION_PART_WORDS];
    uint32_t is_last;
} floe_reduction_joined;

FLOE_DEV uint64_t floe_reduction_word_join(uint32_t word, uint64_t a, uint64_t b)
{
    if (word < FLOE_SUMS)
        return floe_bits_f64(floe_f64_of(a) + floe_f64_of(b));
    if (word < FLOE_SUMS + FLOE_TOPS)
        return floe_f64_of(b) > floe_f64_of(a) ? b : a;
    return a + b;
}

/* What joined with v is v. */
FLOE_DEV uint64_t floe_reduction_word_none(uint32_t word)
{
    return word >= FLOE_SUMS && word < FLOE_SUMS + FLOE_TOPS ? 0xfff0000000000000u : 0;
}

/* The word of some parts, which other blocks have written. */
FLOE_DEV uint64_t floe_reduction_words_join(const floe_reduction_part *parts, uint32_t word, uint32_t begin,
                                            uint32_t end)
{
    uint64_t v = floe_reduction_word_none(word), next[FLOE_REDUCTION_AT_ONCE];
    for (uint32_t k = begin; k < end; k += FLOE_REDUCTION_AT_ONCE) {
#pragma unroll
        for (uint32_t i = 0; i < FLOE_REDUCTION_AT_ONCE; i++)
            next[i] = k + i < end ? floe_load_shared_state((const uint64_t *)&parts[k + i] + word)
                                  : floe_reduction_word_none(word);
#pragma unroll
        for (uint32_t i = 0; i < FLOE_REDUCTION_AT_ONCE; i++)
            v = floe_reduction_word_join(word, v, next[i]);
    }
    return v;
}

/* Frames of all values; empty ones where there are no bins. */
FLOE_DEV void floe_reduction_frames_make(const floe_reduction_dev_job *job)
{
    const floe_reduction_part *total = &job->results->total;
    const double *top = total->top;
    const bool any = total->count[FLOE_COUNT_PAIRS] > 0;
    floe_bins_frame frames[2] = {};
    if (any && job->bins.nerrors)
        frames[0] = floe_bins_frame_of(-top[FLOE_TOP_E_LOW], top[FLOE_TOP_E], job->bins.nerrors);
    if (any && job->bins.nvalues)
        frames[1] = floe_bins_frame_of(min(-top[FLOE_TOP_X_LOW], -top[FLOE_TOP_Y_LOW]),
                                       max(top[FLOE_TOP_X], top[FLOE_TOP_Y]), job->bins.nvalues);
    job->results->frames[0] = frames[0], job->results->frames[1] = frames[1];
}

/* By all threads of the block that is done last. */
FLOE_DEV_COLD void floe_reduction_join(const floe_reduction_dev_job *job, floe_reduction_joined *joined)
{
    const uint32_t word = threadIdx.x % FLOE_REDUCTION_PART_WORDS, stretch = threadIdx.x / FLOE_REDUCTION_PART_WORDS;
    const uint32_t share = (gridDim.x + FLOE_REDUCTION_STRETCHES - 1) / FLOE_REDUCTION_STRETCHES;
    const uint32_t begin = min(stretch * share, gridDim.x), end = min(begin + share, gridDim.x);
    if (stretch < FLOE_REDUCTION_STRETCHES)
        joined->words[stretch][word] = floe_reduction_words_join(job->parts, word, begin, end);
    __syncthreads();
    if (stretch == 0) {
        uint64_t v = joined->words[0][word];
        for (uint32_t s = 1; s < FLOE_REDUCTION_STRETCHES; s++)
            v = floe_reduction_word_join(word, v, joined->words[s][word]);
        ((uint64_t *)&job->results->total)[word] = v;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        floe_reduction_frames_make(job);
        *job->done = 0;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < sizeof *job->host_results / sizeof(uint64_t); i += FLOE_REDUCTION_THREADS)
        ((uint64_t *)job->host_results)[i] = ((const uint64_t *)job->results)[i];
}

/* The block's part has been written; by all threads. */
FLOE_DEV void floe_reduction_done(const floe_reduction_dev_job *job, floe_reduction_joined *joined)
{
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        joined->is_last = atomicAdd(job->done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (joined->is_last) {
        __threadfence();
        floe_reduction_join(job, joined);
    }
}

#endif
