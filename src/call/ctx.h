/* SPDX-License-Identifier: BSD-3-Clause */
/* The context: machine, limits, scratch memory, and what the last call reported. */
#ifndef FLOE_CALL_CTX_H
#define FLOE_CALL_CTX_H

#include <stdbool.h>

#include <floe/floe.h>

#include "backend/backend.h"
#include "backend/cuda.h"
#include "base/arena.h"

/* What a call needs besides the workspace, as it shows only on the way. */
typedef enum floe_extra { FLOE_EXTRA_SCRATCH, FLOE_EXTRA_RECORD, FLOE_EXTRAS } floe_extra;

struct floe_ctx {
    floe_cpu cpu;
    floe_backend backend; /* as requested */
    floe_cuda cuda;       /* open at first need; from the start where the backend is CUDA */
    floe_ctx_options gpu; /* the options that matter then */
    floe_params
        dev_likely; /* what the next stream in device memory is likely to have: codec AUTO, or as the last one */
    struct floe_pipeline *pipeline; /* host data through a GPU: streams and pinned memory; NULL until first needed */
    void (*pipeline_free)(struct floe_ctx *ctx);
    uint64_t max_elems, max_memory; /* 0: no limit */
    bool caller_owns;               /* workspace is the caller's: never allocate */
    void *workspace;
    size_t workspace_nbytes, workspace_used; /* used: by the plan of this call */
    void *extra[FLOE_EXTRAS];
    uint64_t extra_nbytes[FLOE_EXTRAS]; /* parts of held_nbytes */
    uint64_t pinned_nbytes;             /* of the pipeline: host memory besides the workspace */
    uint64_t held_nbytes;               /* of calls, until they return (floe_ctx_hold) */
    bool at_work;                       /* a call is running, whose scratch no other one may take */
    floe_stats stats;
    floe_error err;
};

/* Runs the body of a public call: NULL context refused, and one that is at work; old message and stats cleared, floating-point control set to
 * IEEE defaults around it, and a message there for sure if it failed. */
typedef floe_status (*floe_call_fn)(floe_ctx *ctx, void *call);
floe_status floe_ctx_run(floe_ctx *ctx, floe_call_fn body, void *call);

/* Opens the GPU unless it is open. DEVICE, with the reason, when there is none or the backend is CPU. */
floe_status floe_ctx_cuda(floe_ctx *ctx);

/* Scratch of plan->used bytes as a fresh arena. What an earlier call got is lost. MEMORY, naming the need, when the
 * caller's workspace is too small; LIMIT when max_memory is. */
floe_status floe_ctx_workspace(floe_ctx *ctx, const floe_arena *plan, floe_arena *arena);
/* Scratch of so many bytes besides that, until the call returns or requests it again: what the workspace has left, or a block of its
 * own, which the workspace of a caller cannot have. Fails as floe_ctx_workspace; nothing may be under way on a GPU. */
floe_status floe_ctx_scratch(floe_ctx *ctx, size_t nbytes, floe_arena *arena);
bool floe_ctx_scratch_fits(const floe_ctx *ctx, size_t nbytes);
/* A block of so many bytes until the call returns or requests it again; its first `keep` bytes are those of *block, which it replaces. */
floe_status floe_ctx_record(floe_ctx *ctx, uint64_t nbytes, uint64_t keep, void **block);
/* Under a limit gives back what an earlier call has got beyond the plan, so that there is more for floe_ctx_scratch. */
void floe_ctx_trim(floe_ctx *ctx, const floe_arena *plan);
/* Whether that much can be had, as far as limits and the caller's workspace say. */
bool floe_ctx_fits(const floe_ctx *ctx, const floe_arena *plan);
/* Counts pinned memory that is to grow from old_nbytes to nbytes. LIMIT: max_memory does not allow that. */
floe_status floe_ctx_pinned(floe_ctx *ctx, uint64_t old_nbytes, uint64_t nbytes);
/* Host memory besides the workspace, for the time of a call: for copies of what lies in device memory. Counts for max_memory:
 * LIMIT. *block is NULL after a failure, which takes no release. */
floe_status floe_ctx_hold(floe_ctx *ctx, uint64_t nbytes, void **block);
void floe_ctx_release(floe_ctx *ctx, uint64_t nbytes, void **block);
/* What max_memory leaves for more; meaningless without a limit. */
uint64_t floe_ctx_left(const floe_ctx *ctx);
/* What a caller's workspace must have for plan; 0 on overflow. */
size_t floe_ctx_workspace_nbytes(const floe_arena *plan);

#endif
