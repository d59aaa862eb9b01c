/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks side by side on the CPU. A small chunk has too little work for all threads, so each thread does one of its own; the
 * bytes are the same. */
#ifndef FLOE_CALL_LANES_H
#define FLOE_CALL_LANES_H

#include "backend/backend.h"
#include "base/arena.h"
#include "call/chunking.h"

typedef struct floe_lanes {
    uint32_t n;     /* chunks that are done at once; 1: one after another, each by all threads */
    uint32_t batch; /* chunks that are handed out at once: more, as some take longer than others */
    floe_cpu cpu;   /* a thread for each lane; of the only lane all threads, or one */
    size_t nbytes;  /* scratch of each */
    uint8_t *scratch;
} floe_lanes;

/* For so many chunks; those of sizing. Of 1 there is a single lane; of 0 it has one thread, which takes the least scratch. */
floe_lanes floe_lanes_of(const floe_cpu *cpu, const floe_sizing *sizing, uint64_t nchunks);
void floe_lanes_take(floe_lanes *lanes, floe_arena *arena);

/* fn(arg, i, cpu, scratch) for each i below n, by lanes; cpu is that of one lane, scratch of the codec. */
typedef void (*floe_lane_fn)(void *arg, uint64_t i, const floe_cpu *cpu, floe_arena *scratch);
void floe_lanes_run(const floe_lanes *lanes, uint64_t n, floe_lane_fn fn, void *arg);

#endif
