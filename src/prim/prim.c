/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of prim.h: arguments are checked here, for both backends; then the job goes to one of them. */
#include "prim/prim.h"

#include "backend/cuda.h"
#include "prim/prim_job.h"
#include "prim/prim_map.h"

static bool is_type(floe_prim_type t) { return (unsigned)t <= FLOE_PRIM_F64; }

#define CHECK_TYPE(err, type) FLOE_CHECK(err, is_type(type), FLOE_ERR_ARGUMENT, "unknown element type %d", (int)(type))
/* An array of n elements of some bytes each: there, aligned, and no larger than memory. */
#define CHECK_ARRAY(err, p, n, nbytes) FLOE_TRY(memory_check((p), (n), (nbytes), #p, (err)))
static floe_status memory_check(const void *p, uint64_t n, uint32_t nbytes, const char *name, floe_error *err)
{
    FLOE_CHECK(err, n == 0 || p, FLOE_ERR_ARGUMENT, "%s is NULL", name);
    FLOE_CHECK(err, (uintptr_t)p % nbytes == 0, FLOE_ERR_ARGUMENT, "%s at %p is not %u-byte aligned", name, p, nbytes);
    FLOE_CHECK(err, n <= PTRDIFF_MAX / nbytes, FLOE_ERR_ARGUMENT, "%s: %llu elements", name, (unsigned long long)n);
    return FLOE_OK;
}

static floe_status array_check(floe_prim_array in, floe_error *err)
{
    CHECK_TYPE(err, in.type);
    CHECK_ARRAY(err, in.data, in.n, floe_prim_nbytes(in.type));
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

static floe_status run(const floe_prim *p, const floe_prim_job *job, floe_error *err)
{
    uint64_t needed = 0;
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
                                uint64_t extra, uint64_t *nbytes, floe_error *err)
{
    FLOE_CHECK(err, (unsigned)call < FLOE_PRIM_CALLS, FLOE_ERR_ARGUMENT, "unknown call %d", (int)call);
    floe_prim_job job = {.call = call, .n = n};
    if (call != FLOE_PRIM_HISTOGRAM) {
        CHECK_TYPE(err, type);
        job.type = type;
    }
    job.out_type = job.type;
    FLOE_CHECK(err, call != FLOE_PRIM_SORT || extra == 0 || extra == 4 || extra == 8, FLOE_ERR_ARGUMENT,
               "values of %llu bytes", (unsigned long long)extra);
    FLOE_CHECK(err, extra <= UINT32_MAX, FLOE_ERR_ARGUMENT, "%llu bins", (unsigned long long)extra);
    job.nbins = job.value_nbytes = (uint32_t)extra;
    FLOE_TRY(run_sizing(p, &job, nbytes, err));
    if (call == FLOE_PRIM_SCAN) { /* of both types that the sums may have */
        uint64_t narrow = *nbytes;
        job.out_type = floe_prim_widened(type);
        FLOE_TRY(run_sizing(p, &job, nbytes, err));
        *nbytes = floe_max64(*nbytes, narrow);
    }
    return FLOE_OK;
}

floe_status floe_prim_reduce(const floe_prim *p, floe_prim_op op, floe_prim_array in, void *out, floe_error *err)
{
    FLOE_TRY(array_check(in, err));
    FLOE_CHECK(err, (unsigned)op <= FLOE_PRIM_MAX, FLOE_ERR_ARGUMENT, "unknown operation %d", (int)op);
    CHECK_ARRAY(err, out, 1, op == FLOE_PRIM_SUM ? 8 : floe_prim_nbytes(in.type));
    floe_prim_job job = {.call = FLOE_PRIM_REDUCE, .type = in.type, .op = op, .in = in.data, .n = in.n, .out = out};
    return run(p, &job, err);
}

floe_status floe_prim_scan(const floe_prim *p, floe_prim_scan_kind kind, floe_prim_array in, floe_prim_type out_type,
                           void *out, floe_error *err)
{
    FLOE_TRY(array_check(in, err));
    FLOE_CHECK(err, kind == FLOE_PRIM_EXCLUSIVE || kind == FLOE_PRIM_INCLUSIVE, FLOE_ERR_ARGUMENT,
               "unknown kind of scan %d", (int)kind);
    FLOE_CHECK(err, out_type == in.type || out_type == floe_prim_widened(in.type), FLOE_ERR_ARGUMENT,
               "a scan of type %d gives no type %d", (int)in.type, (int)out_type);
    CHECK_ARRAY(err, out, in.n, floe_prim_nbytes(out_type));
    floe_prim_job job = {.call = FLOE_PRIM_SCAN,
                         .type = in.type,
                         .scan_kind = kind,
                         .in = in.data,
                         .n = in.n,
                         .out_type = out_type,
                         .out = out};
    return run(p, &job, err);
}

floe_status floe_prim_histogram(const floe_prim *p, const uint32_t *keys, uint64_t n, floe_prim_bins bins,
                                floe_error *err)
{
    FLOE_CHECK(err, bins.type == FLOE_PRIM_U32 || bins.type == FLOE_PRIM_U64, FLOE_ERR_ARGUMENT, "bins of type %d",
               (int)bins.type);
    CHECK_ARRAY(err, keys, n, 4);
    CHECK_ARRAY(err, bins.bins, bins.nbins, floe_prim_nbytes(bins.type));
    CHECK_ARRAY(err, bins.outside, 1, 8);
    floe_prim_job job = {.call = FLOE_PRIM_HISTOGRAM,
                         .in = keys,
                         .n = n,
                         .nbins = bins.nbins,
                         .out_type = bins.type,
                         .out = bins.bins,
                         .count = bins.outside};
    return run(p, &job, err);
}

static floe_status keep_check(floe_prim_array in, floe_prim_keep keep, floe_error *err)
{
    CHECK_TYPE(err, in.type);
    FLOE_CHECK(err, (unsigned)keep.kind <= FLOE_PRIM_KEEP_MAGNITUDE, FLOE_ERR_ARGUMENT, "unknown choice %d",
               (int)keep.kind);
    if (keep.kind == FLOE_PRIM_KEEP_BYTES || keep.kind == FLOE_PRIM_KEEP_BITS) {
        CHECK_ARRAY(err, keep.what, in.n, 1);
        return FLOE_OK;
    }
    FLOE_TRY(array_check(in, err));
    CHECK_ARRAY(err, keep.what, 1, floe_prim_nbytes(in.type));
    return FLOE_OK;
}

floe_status floe_prim_compact(const floe_prim *p, floe_prim_array in, floe_prim_keep keep, floe_prim_kept kept,
                              floe_error *err)
{
    FLOE_TRY(keep_check(in, keep, err));
    CHECK_ARRAY(err, in.data, kept.out ? in.n : 0, floe_prim_nbytes(in.type));
    CHECK_ARRAY(err, kept.out, 0, floe_prim_nbytes(in.type));
    CHECK_ARRAY(err, kept.index, 0, 8);
    CHECK_ARRAY(err, kept.count, 1, 8);
    floe_prim_job job = {.call = FLOE_PRIM_COMPACT,
                         .type = in.type,
                         .in = in.data,
                         .n = in.n,
                         .keep = keep,
                         .out = kept.out,
                         .index = kept.index,
                         .count = kept.count};
    return run(p, &job, err);
}

floe_status floe_prim_select(const floe_prim *p, floe_prim_array in, uint64_t k, bool magnitude, void *out,
                             floe_error *err)
{
    FLOE_TRY(array_check(in, err));
    FLOE_CHECK(err, k < in.n, FLOE_ERR_ARGUMENT, "element %llu of %llu", (unsigned long long)k,
               (unsigned long long)in.n);
    CHECK_ARRAY(err, out, 1, floe_prim_nbytes(in.type));
    floe_prim_job job = {.call = FLOE_PRIM_SELECT,
                         .type = in.type,
                         .in = in.data,
                         .n = in.n,
                         .k = k,
                         .magnitude = magnitude,
                         .out = out};
    return run(p, &job, err);
}

floe_status floe_prim_sort(const floe_prim *p, floe_prim_array in, void *out, const floe_prim_values *values,
                           floe_error *err)
{
    FLOE_TRY(array_check(in, err));
    CHECK_ARRAY(err, out, in.n, floe_prim_nbytes(in.type));
    floe_prim_job job = {.call = FLOE_PRIM_SORT, .type = in.type, .in = in.data, .out = out, .n = in.n};
    if (values) {
        FLOE_CHECK(err, values->nbytes == 4 || values->nbytes == 8, FLOE_ERR_ARGUMENT, "values of %u bytes",
                   values->nbytes);
        CHECK_ARRAY(err, values->in, in.n, values->nbytes);
        CHECK_ARRAY(err, values->out, in.n, values->nbytes);
        job.value_nbytes = values->nbytes, job.values = values->in, job.out_values = values->out;
    }
    return run(p, &job, err);
}

/* ---- worklets of our own ----------------------------------------------------------------------------------------- */

FLOE_PRIM_MAP(floe_prim_flag_map, floe_prim_flag_job, floe_prim_flag_one)
FLOE_PRIM_MAP(floe_prim_gather_map, floe_prim_move_job, floe_prim_gather_one)
FLOE_PRIM_MAP(floe_prim_scatter_map, floe_prim_move_job, floe_prim_scatter_one)

floe_status floe_prim_flag(const floe_prim *p, floe_prim_array in, floe_prim_keep keep, uint8_t *flags, floe_error *err)
{
    FLOE_TRY(keep_check(in, keep, err));
    CHECK_ARRAY(err, flags, in.n, 1);
    return floe_prim_flag_map(p, &(floe_prim_flag_job){in.data, flags, keep, in.type}, in.n, err);
}

static floe_status move_check(floe_prim_array in, floe_prim_array index, const void *out, uint64_t nout,
                              floe_error *err)
{
    FLOE_TRY(array_check(in, err));
    FLOE_CHECK(err, index.type == FLOE_PRIM_U32 || index.type == FLOE_PRIM_U64, FLOE_ERR_ARGUMENT, "indexes of type %d",
               (int)index.type);
    FLOE_TRY(array_check(index, err));
    CHECK_ARRAY(err, out, nout, floe_prim_nbytes(in.type));
    return FLOE_OK;
}

floe_status floe_prim_gather(const floe_prim *p, floe_prim_array in, floe_prim_array index, void *out, floe_error *err)
{
    FLOE_TRY(move_check(in, index, out, index.n, err));
    floe_prim_move_job job = {
        in.data, index.data, out, in.n, floe_prim_is_wide(in.type), floe_prim_is_wide(index.type)};
    return floe_prim_gather_map(p, &job, index.n, err);
}

floe_status floe_prim_scatter(const floe_prim *p, floe_prim_array in, floe_prim_array index, void *out, uint64_t nout,
                              floe_error *err)
{
    FLOE_TRY(move_check(in, index, out, nout, err));
    FLOE_CHECK(err, index.n == in.n, FLOE_ERR_ARGUMENT, "%llu indexes for %llu elements", (unsigned long long)index.n,
               (unsigned long long)in.n);
    floe_prim_move_job job = {
        in.data, index.data, out, nout, floe_prim_is_wide(in.type), floe_prim_is_wide(index.type)};
    return floe_prim_scatter_map(p, &job, in.n, err);
}
