/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/lanes.h"

#include "base/hd.h"

enum {
    ROUNDS = 4,             /* chunks of a batch for each lane */
    LEAST_NELEMS = 1 << 17, /* of less in all, starting threads takes too long */
    BATCH_NELEMS = 1 << 25, /* of a batch of more than a chunk for each lane: it waits in memory as a whole */
    MOST_NELEMS = 1 << 21   /* of a chunk: a larger one has work for all threads */
};

floe_lanes floe_lanes_of(const floe_cpu *cpu, const floe_sizing *sizing, uint64_t nchunks, floe_width width)
{
    floe_lanes l = {.n = 1, .batch = 1, .cpu = *cpu, .nbytes = sizing->codec_nbytes};
    const uint64_t nelems = floe_max64(sizing->chunk_nelems, 1);
    const bool few = nchunks < 2 || nchunks < cpu->threads / 2 || nchunks <= LEAST_NELEMS / nelems;
    if (width == FLOE_ONE_THREAD) {
        l.cpu.threads = 1;
        l.nbytes = sizing->lane_nbytes;
    }
    if (width != FLOE_MANY_CHUNKS || few || nelems > MOST_NELEMS || cpu->threads < 2)
        return l;
    l.n = (uint32_t)floe_min64(cpu->threads, nchunks);
    const uint64_t batch = floe_min64((uint64_t)ROUNDS * l.n, BATCH_NELEMS / nelems);
    l.batch = (uint32_t)floe_max64(floe_min64(batch, nchunks), l.n);
    l.cpu.threads = l.n;
    l.nbytes = sizing->lane_nbytes;
    return l;
}

bool floe_lanes_narrow(const floe_ctx *ctx, const floe_arena *plan, floe_width *width)
{
    if (floe_ctx_fits(ctx, plan) || *width == (ctx->caller_owns ? FLOE_ONE_CHUNK : FLOE_ONE_THREAD))
        return false;
    *width = *width == FLOE_MANY_CHUNKS ? FLOE_ONE_CHUNK : FLOE_ONE_THREAD;
    return true;
}

void floe_lanes_take(floe_lanes *l, floe_arena *arena) { l->scratch = floe_arena_take(arena, l->n, l->nbytes); }

typedef struct lane_run {
    const floe_lanes *lanes;
    floe_cpu one;
    floe_lane_fn fn;
    void *arg;
} lane_run;

static void run_one(void *arg, uint64_t i, uint32_t worker)
{
    const lane_run *r = arg;
    floe_arena scratch = floe_arena_of(r->lanes->scratch + worker * r->lanes->nbytes, r->lanes->nbytes);
    r->fn(r->arg, i, &r->one, &scratch);
}

void floe_lanes_run(const floe_lanes *l, uint64_t n, floe_lane_fn fn, void *arg)
{
    lane_run r = {.lanes = l, .one = l->cpu, .fn = fn, .arg = arg};
    if (l->n == 1) {
        for (uint64_t i = 0; i < n; i++)
            run_one(&r, i, 0);
        return;
    }
    r.one.threads = 1;
    floe_cpu_parallel(&l->cpu, n, run_one, &r);
}
