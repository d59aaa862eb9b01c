/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The step that comes next, on its way through shared memory. Each thread brings what it will read itself, so that threads need
 * not wait for one another, and from one turn to the next there is no gap.
 *
 *     floe_reduction_feed_start -> floe_reduction_feed_take and _next, for each whole step of the block, in order
 */
#ifndef FLOE_ASSESS_REDUCTION_FEED_CUH
#define FLOE_ASSESS_REDUCTION_FEED_CUH

#include "assess/reduction/reduction_cuda.cuh"

enum { FLOE_REDUCTION_FEED_NBYTES = 2 * FLOE_REDUCTION_STEP * sizeof(float) };

struct floe_reduction_feed {
    const floe_reduction_dev_job *job;
    uint4 *slot;        /* of this thread; words of a side are a block apart, the original's first */
    const uint4 *x, *y; /* of this thread, in the step that is requested next */
    uint32_t turn;      /* of that step */
    uint32_t left;      /* steps of the turn from there on */
};

enum { FLOE_REDUCTION_FEED_WORDS = FLOE_REDUCTION_STEP * sizeof(float) / sizeof(uint4) }; /* of a side */

FLOE_DEV void floe_reduction_feed_turn(floe_reduction_feed *f)
{
    const floe_reduction_dev_job *job = f->job;
    f->left = 0;
    if (f->turn <= job->turns && job->flat) {
        const floe_reduction_range r = floe_reduction_turn(job, f->turn);
        f->x = floe_reduction_flat<float>(job, 0, r.begin), f->y = floe_reduction_flat<float>(job, 1, r.begin);
        f->left = (uint32_t)((r.end - r.begin) / FLOE_REDUCTION_STEP);
    }
}

/* Asks for the next step, if there is one. All of the one before has been read. */
FLOE_DEV void floe_reduction_feed_next(floe_reduction_feed *f)
{
    if (f->left == 0)
        return;
#pragma unroll
    for (int i = 0; i < FLOE_REDUCTION_FEED_WORDS; i += FLOE_REDUCTION_THREADS) {
        floe_copy16_async(f->slot + i, f->x + i);
        floe_copy16_async(f->slot + FLOE_REDUCTION_FEED_WORDS + i, f->y + i);
    }
    floe_copy_async_commit();
    f->x += FLOE_REDUCTION_FEED_WORDS, f->y += FLOE_REDUCTION_FEED_WORDS;
    if (--f->left == 0) {
        f->turn++;
        floe_reduction_feed_turn(f);
    }
}

/* slot: FLOE_REDUCTION_FEED_NBYTES of shared memory. */
FLOE_DEV void floe_reduction_feed_start(floe_reduction_feed *f, const floe_reduction_dev_job *job, void *slot)
{
    f->job = job, f->slot = (uint4 *)slot + threadIdx.x;
    f->turn = 0;
    floe_reduction_feed_turn(f);
    floe_reduction_feed_next(f);
}

FLOE_DEV void floe_reduction_feed_take(const floe_reduction_feed *f, floe_reduction_group<float> *g)
{
    floe_copy_async_wait();
#pragma unroll
    for (int i = 0; i < FLOE_REDUCTION_FEED_WORDS / FLOE_REDUCTION_THREADS; i++) {
        const uint4 *from = f->slot + i * FLOE_REDUCTION_THREADS;
        floe_reduction_unpack(from[0], g->x + 4 * i);
        floe_reduction_unpack(from[FLOE_REDUCTION_FEED_WORDS], g->y + 4 * i);
    }
    g->there = 255;
}

#endif
