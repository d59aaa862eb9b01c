/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data-parallel primitives on both backends, for all that is not hot. docs/prim.md shows them at work; prim_map.h runs
 * functions of one's own over all elements.
 *
 * Both backends and any number of threads give the same bits. On a GPU every call only puts work on the stream: nothing
 * waits, nothing is allocated, and all pointers are device memory.
 *
 * Pointers are aligned to their elements. Arrays must not overlap, but where a call states that it works in place.
 * Any n may be 0. Messages: ARGUMENT what cannot be meant, MEMORY a workspace that is too small, DEVICE what CUDA reports.
 */
#ifndef FLOE_PRIM_PRIM_H
#define FLOE_PRIM_PRIM_H

#include <stdbool.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/try.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum floe_prim_type { FLOE_PRIM_U32, FLOE_PRIM_F32, FLOE_PRIM_U64, FLOE_PRIM_F64 } floe_prim_type;

/* n elements that a call reads. */
typedef struct floe_prim_array {
    floe_prim_type type;
    const void *data;
    uint64_t n;
} floe_prim_array;

/* Where to run. One call at a time uses a workspace; on a GPU it may be handed to the next call on the same stream. */
typedef struct floe_prim {
    const floe_cpu *cpu; /* NULL: a GPU, which is the thread's current device */
    void *stream;        /* of the GPU: a cudaStream_t */
    void *workspace;     /* FLOE_ARENA_ALIGN-aligned; may be NULL where a call needs none */
    size_t workspace_nbytes;
} floe_prim;

typedef enum floe_prim_call { FLOE_PRIM_MAX, FLOE_PRIM_SCAN, FLOE_PRIM_SORT, FLOE_PRIM_CALLS } floe_prim_call;

/* Bytes of workspace that a call needs. p->workspace is not looked at. More elements may need less, so request each size. */
floe_status floe_prim_workspace(const floe_prim *p, floe_prim_call call, floe_prim_type type, uint64_t n,
                                uint64_t *nbytes, floe_error *err);

/* *out = the largest element of unsigned integers, 0 of none. */
floe_status floe_prim_max(const floe_prim *p, floe_prim_array in, void *out, floe_error *err);

/* out[i] = sum of all unsigned integers before i (EXCLUSIVE), or of these and i. Sums wrap; in place where the input
 * is U64. To have the total too, scan INCLUSIVE to out + 1 and set out[0] to 0. */
typedef enum floe_prim_scan_kind { FLOE_PRIM_EXCLUSIVE, FLOE_PRIM_INCLUSIVE } floe_prim_scan_kind;
floe_status floe_prim_scan(const floe_prim *p, floe_prim_scan_kind kind, floe_prim_array in, uint64_t *out,
                           floe_error *err);

/* Sorts upward: numbers by size, -0 below +0, NaN by their bits: below -Inf when negative, else above +Inf. In place where the
 * input is the output. */
floe_status floe_prim_sort(const floe_prim *p, floe_prim_array in, void *out, floe_error *err);

/* ---- backends ------------------------------------------------------------------------------------------------------ */

/* What has been checked and goes to a backend. */
typedef struct floe_prim_job {
    floe_prim_call call;
    bool sizing;    /* take scratch from the arena, which is a plan, and no more: pointers are NULL */
    bool inclusive; /* scan */
    floe_prim_type type;
    const void *in;
    void *out;
    uint64_t n;
} floe_prim_job;

/* They read call, type and n, take from the arena, and unless sizing run. Of a GPU: returns a cudaError_t. */
void floe_prim_run_host(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena);
int floe_prim_run_cuda(const floe_prim_job *job, void *stream, floe_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
