/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks side by side on the CPU. A small chunk has too little work for all threads, so each thread does one of its own; the
 * bytes are the same. */
#ifndef FLOE_CALL_LANES_H
#define FLOE_CALL_LANES_H

#include "backend/backend.h"
#include "base/arena.h"
#include "call/chunking.h"
#include "call/ctx.h"

typedef struct floe_lanes {
    uint32_t n;     /* chunks that are done at once; 1: one after another, each by all threads */
    uint32_t batch; /* chunks that are handed out at once: more, as some take longer than others */
    floe_cpu cpu;   /* a thread for each lane; of the only lane all threads, or one */
    size_t nbytes;  /* scratch of each */
    uint8_t *scratch;
} floe_lanes;

/* How much is done at once; the first takes the most scratch. */
typedef enum floe_width { FLOE_MANY_CHUNKS, FLOE_ONE_CHUNK, FLOE_ONE_THREAD } floe_width;

/* For so many chunks, at most of this width; one by one where they are few, or large. */
floe_lanes floe_lanes_of(const floe_cpu *cpu, const floe_sizing *sizing, uint64_t nchunks, floe_width width);
/* The next width, where limits do not allow what is planned for this one. False where they do, or where this is the last: for a
 * workspace of the caller, which is for all threads, that is ONE_CHUNK. */
bool floe_lanes_narrow(const floe_ctx *ctx, const floe_arena *plan, floe_width *width);
void floe_lanes_take(floe_lanes *lanes, floe_arena *arena);

/* fn(arg, i, cpu, scratch) for each i below n, by lanes; cpu is that of one lane, scratch of the codec. */
typedef void (*floe_lane_fn)(void *arg, uint64_t i, const floe_cpu *cpu, floe_arena *scratch);
void floe_lanes_run(const floe_lanes *lanes, uint64_t n, floe_lane_fn fn, void *arg);

#endif
