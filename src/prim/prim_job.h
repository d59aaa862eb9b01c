/* SPDX-License-Identifier: BSD-3-Clause */
/* What prim.c has checked and hands to a backend: one call that needs a workspace. */
#ifndef FLOE_PRIM_JOB_H
#define FLOE_PRIM_JOB_H

#include "base/arena.h"
#include "prim/prim_math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct floe_prim_job {
    floe_prim_call call;
    bool sizing; /* take scratch from the arena, which is a plan, and no more: pointers are NULL */
    floe_prim_type type;
    const void *in;
    void *out;
    uint64_t n;
    floe_prim_op op;               /* reduce */
    floe_prim_scan_kind scan_kind; /* scan */
    floe_prim_type out_type;       /* scan, histogram */
    uint32_t nbins;                /* histogram; outside in count */
    floe_prim_keep keep;           /* compact */
    uint64_t *index, *count;       /* compact */
    uint64_t k;                    /* select */
    bool magnitude;                /* select */
    uint32_t value_nbytes;         /* sort */
    const void *values;            /* sort */
    void *out_values;              /* sort */
} floe_prim_job;

/* They read n and what shapes a call, take from the arena, and unless sizing run. */
void floe_prim_run_host(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena);
void floe_prim_sort_host(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena);
/* Of a GPU: they return a cudaError_t. */
int floe_prim_run_cuda(const floe_prim_job *job, void *stream, floe_arena *arena);
int floe_prim_scan_cuda(const floe_prim_job *job, void *stream, floe_arena *arena);
int floe_prim_sort_cuda(const floe_prim_job *job, void *stream, floe_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
