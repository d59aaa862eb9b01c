/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/ctx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "call/struct_copy.h"

const char *floe_version(void) { return FLOE_VERSION_STRING; }

/* ---- create and free --------------------------------------------------------------------------------------------- */

static floe_status workspace_check(const floe_ctx_options *o, floe_error *err)
{
    FLOE_CHECK(err, o->workspace || !o->workspace_nbytes, FLOE_ERR_ARGUMENT,
               "workspace is NULL, but workspace_nbytes is %zu", o->workspace_nbytes);
    FLOE_CHECK(err, (uintptr_t)o->workspace % FLOE_ARENA_ALIGN == 0, FLOE_ERR_ARGUMENT,
               "workspace is not aligned to %d bytes", FLOE_ARENA_ALIGN);
    FLOE_CHECK(err, floe_cuda_host_reaches(o->workspace), FLOE_ERR_ARGUMENT,
               "workspace lies in device memory: device_workspace is for that");
    FLOE_CHECK(err, o->device_workspace || !o->device_workspace_nbytes, FLOE_ERR_ARGUMENT,
               "device_workspace is NULL, but device_workspace_nbytes is %zu", o->device_workspace_nbytes);
    FLOE_CHECK(err, (uintptr_t)o->device_workspace % 256 == 0, FLOE_ERR_ARGUMENT,
               "device_workspace is not aligned to 256 bytes");
    return FLOE_OK;
}

static floe_status ctx_init(floe_ctx *ctx, const floe_ctx_options *given)
{
    floe_ctx_options o = {.size = sizeof o};
    if (given)
        FLOE_TRY(floe_struct_copy(&o, sizeof o, given, "floe_ctx_options", &ctx->err));
    FLOE_CHECK(&ctx->err, (int)o.backend >= FLOE_BACKEND_AUTO && o.backend <= FLOE_BACKEND_CUDA, FLOE_ERR_ARGUMENT,
               "unknown backend %d", (int)o.backend);
    FLOE_CHECK(&ctx->err, o.device >= 0, FLOE_ERR_ARGUMENT,
               "device is %d; it is the number of a GPU + 1, or 0 for the one that is current", o.device);
    FLOE_TRY(workspace_check(&o, &ctx->err));
    FLOE_TRY(floe_cpu_init(&ctx->cpu, o.threads, o.isa, &ctx->err));
    if (ctx->cpu.threads > 1)
        ctx->cpu.team = floe_team_create(ctx->cpu.threads);
    FLOE_CHECK(&ctx->err, ctx->cpu.threads == 1 || ctx->cpu.team, FLOE_ERR_MEMORY, "no memory for a team of threads");
    ctx->max_elems = o.max_elems;
    ctx->max_memory = o.max_memory;
    ctx->caller_owns = o.workspace != NULL;
    ctx->workspace = o.workspace;
    ctx->workspace_nbytes = o.workspace_nbytes;
    ctx->backend = o.backend;
    ctx->gpu = o;
    return o.backend == FLOE_BACKEND_CUDA ? floe_ctx_cuda(ctx) : FLOE_OK;
}

floe_status floe_ctx_cuda(floe_ctx *ctx)
{
    const floe_ctx_options *o = &ctx->gpu;
    FLOE_CHECK(&ctx->err, ctx->backend != FLOE_BACKEND_CPU, FLOE_ERR_DEVICE, "this context runs on the CPU only");
    if (ctx->cuda.open)
        return FLOE_OK;
    return floe_cuda_open(&ctx->cuda, o->device - 1, o->stream, o->device_workspace, o->device_workspace_nbytes,
                          &ctx->err);
}

floe_status floe_ctx_create(floe_ctx **ctx, const floe_ctx_options *options)
{
    if (!ctx)
        return FLOE_ERR_ARGUMENT;
    *ctx = calloc(1, sizeof **ctx);
    if (!*ctx)
        return FLOE_ERR_MEMORY;
    floe_status status = ctx_init(*ctx, options);
    if (status !=
        FLOE_OK) /* the context stays for its message; a call with it is refused, as it has no thread to run on */
        (*ctx)->cpu.threads = 0;
    return status;
}

static void pipeline_free(floe_ctx *ctx)
{
    if (ctx->pipeline)
        ctx->pipeline_free(ctx);
}

void floe_ctx_free(floe_ctx **ctx)
{
    if (!ctx || !*ctx)
        return;
    pipeline_free(*ctx);
    floe_cuda_close(&(*ctx)->cuda);
    floe_team_free(&(*ctx)->cpu.team);
    if (!(*ctx)->caller_owns)
        free((*ctx)->workspace);
    free(*ctx);
    *ctx = NULL;
}

const char *floe_ctx_message(const floe_ctx *ctx) { return ctx ? ctx->err.message : ""; }

floe_status floe_ctx_stats(const floe_ctx *ctx, floe_stats *stats)
{
    const floe_stats none = {.max_error = NAN, .max_pw_error = NAN};
    if (!stats)
        return FLOE_ERR_ARGUMENT;
    FLOE_TRY(floe_struct_check(stats, "floe_stats", NULL));
    floe_struct_fill(stats, ctx ? &ctx->stats : &none, sizeof *stats);
    return FLOE_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void extra_release(floe_ctx *ctx, floe_extra which)
{
    floe_ctx_release(ctx, ctx->extra_nbytes[which], &ctx->extra[which]);
    ctx->extra_nbytes[which] = 0;
}

typedef struct running {
    floe_ctx *ctx;
    floe_call_fn body;
    void *call;
    floe_status status;
} running;

static void run(void *arg, uint64_t i, uint32_t worker)
{
    running *r = arg;
    const bool by_gpu = r->ctx->backend == FLOE_BACKEND_CUDA; /* its own, also where another one is current */
    int before = 0;
    (void)i, (void)worker;
    r->status = by_gpu ? floe_cuda_enter(&r->ctx->cuda, &before, &r->ctx->err) : FLOE_OK;
    if (r->status != FLOE_OK)
        return;
    r->status = r->body(r->ctx, r->call);
    if (by_gpu)
        floe_cuda_leave(before);
}

floe_status floe_ctx_run(floe_ctx *ctx, floe_call_fn body, void *call)
{
    if (!ctx || ctx->cpu.threads == 0)
        return FLOE_ERR_ARGUMENT;
    FLOE_CHECK(&ctx->err, !ctx->at_work, FLOE_ERR_ARGUMENT,
               "the context is at work: a source, a sink or progress may not call with it");
    ctx->err = (floe_error){.status = FLOE_OK};
    ctx->at_work = true;
    ctx->stats = (floe_stats){.max_error = NAN, .max_pw_error = NAN};
    running r = {ctx, body, call, FLOE_OK};
    floe_cpu_parallel(&ctx->cpu, 1, run, &r);
    for (floe_extra e = 0; e < FLOE_EXTRAS; e++)
        extra_release(ctx, e);
    ctx->at_work = false;
    if (r.status != FLOE_OK && ctx->err.message[0] == '\0')
        floe_fail(&ctx->err, r.status, "%s", floe_status_text(r.status));
    if (r.status == FLOE_OK)
        ctx->err = (floe_error){.status = FLOE_OK};
    return r.status;
}

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

size_t floe_ctx_workspace_nbytes(const floe_arena *plan) { return plan->overflow ? 0 : plan->used; }

static floe_status workspace_grow(floe_ctx *ctx, size_t needed)
{
    const uint64_t least = needed + ctx->held_nbytes;
    if (ctx->max_memory && least > ctx->max_memory - ctx->pinned_nbytes) /* which is never more */
        pipeline_free(ctx); /* kept from earlier calls: nothing is under way when a call requests scratch */
    FLOE_CHECK(&ctx->err, !ctx->max_memory || least <= ctx->max_memory, FLOE_ERR_LIMIT,
               "%zu bytes of scratch memory are needed, the limit is %llu", needed,
               (unsigned long long)ctx->max_memory);
    free(ctx->workspace);
    ctx->workspace_nbytes = 0;
    ctx->workspace = aligned_alloc(FLOE_ARENA_ALIGN, needed); /* a plan's size is a multiple of the alignment */
    FLOE_CHECK(&ctx->err, ctx->workspace, FLOE_ERR_MEMORY, "%zu bytes of scratch memory could not be had", needed);
    ctx->workspace_nbytes = needed;
    return FLOE_OK;
}

static uint64_t host_nbytes(const floe_ctx *ctx)
{
    return (ctx->caller_owns ? 0 : ctx->workspace_nbytes) + ctx->pinned_nbytes + ctx->held_nbytes;
}

floe_status floe_ctx_pinned(floe_ctx *ctx, uint64_t old_nbytes, uint64_t nbytes)
{
    const uint64_t needed = host_nbytes(ctx) - old_nbytes + nbytes;
    FLOE_CHECK(&ctx->err, !ctx->max_memory || needed <= ctx->max_memory, FLOE_ERR_LIMIT,
               "%llu bytes of scratch and pinned memory are needed, the limit is %llu", (unsigned long long)needed,
               (unsigned long long)ctx->max_memory);
    ctx->pinned_nbytes = ctx->pinned_nbytes - old_nbytes + nbytes;
    return FLOE_OK;
}

floe_status floe_ctx_hold(floe_ctx *ctx, uint64_t nbytes, void **block)
{
    *block = NULL;
    FLOE_CHECK(&ctx->err, !ctx->max_memory || nbytes <= floe_ctx_left(ctx), FLOE_ERR_LIMIT,
               "%llu bytes of host memory are needed besides scratch, the limit is %llu for both",
               (unsigned long long)nbytes, (unsigned long long)ctx->max_memory);
    *block = malloc((size_t)nbytes + 1);
    FLOE_CHECK(&ctx->err, *block, FLOE_ERR_MEMORY, "%llu bytes of host memory could not be had",
               (unsigned long long)nbytes);
    ctx->held_nbytes += nbytes;
    return FLOE_OK;
}

void floe_ctx_release(floe_ctx *ctx, uint64_t nbytes, void **block)
{
    if (!*block)
        return;
    ctx->held_nbytes -= nbytes;
    free(*block);
    *block = NULL;
}

uint64_t floe_ctx_left(const floe_ctx *ctx) { return ctx->max_memory ? ctx->max_memory - host_nbytes(ctx) : 0; }

bool floe_ctx_fits(const floe_ctx *ctx, const floe_arena *plan)
{
    if (plan->overflow || plan->used <= ctx->workspace_nbytes)
        return !plan->overflow;
    return !ctx->caller_owns && (!ctx->max_memory || plan->used + ctx->held_nbytes <= ctx->max_memory);
}

floe_status floe_ctx_workspace(floe_ctx *ctx, const floe_arena *plan, floe_arena *arena)
{
    size_t needed = floe_ctx_workspace_nbytes(plan);
    FLOE_CHECK(&ctx->err, !plan->overflow, FLOE_ERR_MEMORY, "more scratch memory is needed than a machine can address");
    if (needed > ctx->workspace_nbytes) {
        FLOE_CHECK(&ctx->err, !ctx->caller_owns, FLOE_ERR_MEMORY, "the workspace has %zu bytes, %zu are needed",
                   ctx->workspace_nbytes, needed);
        FLOE_TRY(workspace_grow(ctx, needed));
    }
    *arena = floe_arena_of(ctx->workspace, ctx->workspace_nbytes);
    ctx->workspace_used = needed;
    return FLOE_OK;
}

void floe_ctx_trim(floe_ctx *ctx, const floe_arena *plan)
{
    if (!ctx->max_memory || ctx->caller_owns || plan->used >= ctx->workspace_nbytes)
        return;
    free(ctx->workspace);
    ctx->workspace = NULL;
    ctx->workspace_nbytes = ctx->workspace_used = 0;
}

/* ---- scratch on the way -------------------------------------------------------------------------------------------- */

static size_t workspace_left(const floe_ctx *ctx) { return ctx->workspace_nbytes - ctx->workspace_used; }

bool floe_ctx_scratch_fits(const floe_ctx *ctx, size_t nbytes)
{
    const uint64_t others = ctx->workspace_nbytes + ctx->held_nbytes - ctx->extra_nbytes[FLOE_EXTRA_SCRATCH];
    if (nbytes <= workspace_left(ctx))
        return true;
    return !ctx->caller_owns &&
           (!ctx->max_memory || (others < ctx->max_memory && nbytes + FLOE_ARENA_ALIGN <= ctx->max_memory - others));
}

floe_status floe_ctx_scratch(floe_ctx *ctx, size_t nbytes, floe_arena *arena)
{
    const floe_extra which = FLOE_EXTRA_SCRATCH;
    uint8_t *const begin = ctx->workspace;
    *arena = floe_arena_of(begin ? begin + ctx->workspace_used : NULL, workspace_left(ctx));
    if (nbytes <= workspace_left(ctx))
        return FLOE_OK;
    FLOE_CHECK(&ctx->err, !ctx->caller_owns, FLOE_ERR_MEMORY, "the workspace has %zu bytes, %zu are needed",
               ctx->workspace_nbytes, ctx->workspace_used + nbytes);
    if (nbytes + FLOE_ARENA_ALIGN > ctx->extra_nbytes[which]) {
        extra_release(ctx, which);
        if (ctx->max_memory && nbytes > floe_ctx_left(ctx))
            pipeline_free(ctx);
        FLOE_TRY(floe_ctx_hold(ctx, nbytes + FLOE_ARENA_ALIGN, &ctx->extra[which]));
        ctx->extra_nbytes[which] = nbytes + FLOE_ARENA_ALIGN;
    }
    const uintptr_t at = (uintptr_t)ctx->extra[which], end = at + ctx->extra_nbytes[which];
    const uintptr_t aligned = (at + FLOE_ARENA_ALIGN - 1) & ~(uintptr_t)(FLOE_ARENA_ALIGN - 1);
    *arena = floe_arena_of((void *)aligned, (size_t)(end - aligned));
    return FLOE_OK;
}

floe_status floe_ctx_record(floe_ctx *ctx, uint64_t nbytes, uint64_t keep, void **block)
{
    const floe_extra which = FLOE_EXTRA_RECORD;
    void *larger;
    FLOE_TRY(floe_ctx_hold(ctx, nbytes, &larger));
    memcpy(larger, *block, (size_t)keep);
    extra_release(ctx, which);
    ctx->extra_nbytes[which] = nbytes;
    *block = ctx->extra[which] = larger;
    return FLOE_OK;
}
