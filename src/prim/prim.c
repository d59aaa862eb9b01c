/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of prim.h: arguments are checked here, for both backends; then the job goes to one of them. */
#include "prim/prim.h"

#include "backend/cuda.h"
#include "prim/prim_math.h"

static floe_status type_check(floe_prim_call call, floe_prim_type type, floe_error *err)
{
    FLOE_CHECK(err, (unsigned)type <= FLOE_PRIM_F64, FLOE_ERR_ARGUMENT, "unknown element type %d", (int)type);
    FLOE_CHECK(err, call == FLOE_PRIM_SORT || !floe_prim_is_float(type), FLOE_ERR_ARGUMENT, "elements of type %d",
               (int)type);
    return FLOE_OK;
}

/* An array of n elements of some bytes each: there, aligned, and no larger than memory. */
static floe_status array_check(const void *p, uint64_t n, uint32_t nbytes, const char *name, floe_error *err)
{
    FLOE_CHECK(err, n == 0 || p, FLOE_ERR_ARGUMENT, "%s is NULL", name);
    FLOE_CHECK(err, (uintptr_t)p % nbytes == 0, FLOE_ERR_ARGUMENT, "%s at %p is not %u-byte aligned", name, p, nbytes);
    FLOE_CHECK(err, n <= PTRDIFF_MAX / nbytes, FLOE_ERR_ARGUMENT, "%s: %llu elements", name, (unsigned long long)n);
    return FLOE_OK;
}

static floe_status run_backend(const floe_prim *p, const floe_prim_job *job, floe_arena *arena, floe_error *err)
{
    if (p->cpu) {
        floe_prim_run_host(job, p->cpu, arena);
        return FLOE_OK;
    }
#ifdef FLOE_HAVE_CUDA_BUILD
    return floe_cuda_status(floe_prim_run_cuda(job, p->stream, arena), "a primitive", err);
#else
    return floe_fail(err, FLOE_ERR_DEVICE, "this build of floe has no CUDA, it runs on the CPU only");
#endif
}

static floe_status run_sizing(const floe_prim *p, const floe_prim_job *job, uint64_t *nbytes, floe_error *err)
{
    floe_prim_job sizing = *job;
    floe_arena plan = floe_arena_plan();
    sizing.sizing = true;
    FLOE_TRY(run_backend(p, &sizing, &plan, err));
    FLOE_CHECK(err, !plan.overflow, FLOE_ERR_MEMORY, "more workspace is needed than can be addressed");
    *nbytes = plan.used;
    return FLOE_OK;
}

/* out: of nout elements of some bytes each. */
static floe_status run(const floe_prim *p, const floe_prim_job *job, uint64_t nout, uint32_t nbytes, floe_error *err)
{
    uint64_t needed = 0;
    FLOE_TRY(type_check(job->call, job->type, err));
    FLOE_TRY(array_check(job->in, job->n, floe_prim_nbytes(job->type), "in", err));
    FLOE_TRY(array_check(job->out, nout, nbytes, "out", err));
    FLOE_TRY(run_sizing(p, job, &needed, err));
    FLOE_CHECK(err, (uintptr_t)p->workspace % FLOE_ARENA_ALIGN == 0, FLOE_ERR_ARGUMENT,
               "the workspace at %p is not %d-byte aligned", p->workspace, (int)FLOE_ARENA_ALIGN);
    FLOE_CHECK(err, needed == 0 || (p->workspace && p->workspace_nbytes >= needed), FLOE_ERR_MEMORY,
               "the workspace has %zu bytes, %llu are needed", p->workspace ? p->workspace_nbytes : 0,
               (unsigned long long)needed);
    floe_arena arena = floe_arena_of(p->workspace, (size_t)needed);
    return run_backend(p, job, &arena, err);
}

floe_status floe_prim_workspace(const floe_prim *p, floe_prim_call call, floe_prim_type type, uint64_t n,
                                uint64_t *nbytes, floe_error *err)
{
    const floe_prim_job job = {.call = call, .type = type, .n = n};
    FLOE_CHECK(err, (unsigned)call < FLOE_PRIM_CALLS, FLOE_ERR_ARGUMENT, "unknown call %d", (int)call);
    FLOE_TRY(type_check(call, type, err));
    return run_sizing(p, &job, nbytes, err);
}

floe_status floe_prim_max(const floe_prim *p, floe_prim_array in, void *out, floe_error *err)
{
    const floe_prim_job job = {.call = FLOE_PRIM_MAX, .type = in.type, .in = in.data, .n = in.n, .out = out};
    return run(p, &job, 1, floe_prim_nbytes(in.type), err);
}

floe_status floe_prim_scan(const floe_prim *p, floe_prim_scan_kind kind, floe_prim_array in, uint64_t *out,
                           floe_error *err)
{
    FLOE_CHECK(err, kind == FLOE_PRIM_EXCLUSIVE || kind == FLOE_PRIM_INCLUSIVE, FLOE_ERR_ARGUMENT,
               "unknown kind of scan %d", (int)kind);
    const floe_prim_job job = {.call = FLOE_PRIM_SCAN,
                               .type = in.type,
                               .inclusive = kind == FLOE_PRIM_INCLUSIVE,
                               .in = in.data,
                               .n = in.n,
                               .out = out};
    return run(p, &job, in.n, sizeof *out, err);
}

floe_status floe_prim_sort(const floe_prim *p, floe_prim_array in, void *out, floe_error *err)
{
    const floe_prim_job job = {.call = FLOE_PRIM_SORT, .type = in.type, .in = in.data, .n = in.n, .out = out};
    return run(p, &job, in.n, floe_prim_nbytes(in.type), err);
}
