/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worklets: a function of one index, written once in a _math.h, run for all indexes on either backend.
 *
 *     typedef struct scale_job { const float *in; float *out; float by; } scale_job;               scale_math.h
 *     FLOE_HD void scale_one(const scale_job *j, uint64_t i) { j->out[i] = j->by * j->in[i]; }
 *
 *     FLOE_PRIM_MAP(floe_scale, scale_job, scale_one)                                              scale.c
 *     FLOE_PRIM_MAP_CUDA(floe_scale, scale_job, scale_one)                                         scale_cuda.cu, prim_map.cuh
 *
 *     floe_status floe_scale(const floe_prim *p, const scale_job *job, uint64_t n, floe_error *err);
 *
 * Indexes run in no order and at once, so no worklet may write what another one reads or writes. Pointers in a job are of
 * the backend's memory; a job goes to the GPU as a kernel's argument: at most 4000 bytes.
 */
#ifndef FLOE_PRIM_MAP_H
#define FLOE_PRIM_MAP_H

#include "backend/cuda.h"
#include "base/hd.h"
#include "prim/prim.h"

#ifndef FLOE_PRIM_MAP_PIECE
#define FLOE_PRIM_MAP_PIECE \
    (1 << 15) /* indexes that a thread takes at once; a source whose worklets do much sets fewer */
#endif

typedef struct floe_prim_span {
    const void *job;
    uint64_t n;
} floe_prim_span;

/* static void name_host(const floe_cpu *cpu, const job_type *job, uint64_t n); the job is copied, so that loops need not
 * fear that a worklet's writes change it. */
#define FLOE_PRIM_MAP_HOST(name, job_type, worklet)                                         \
    static void name##_piece(void *arg, uint64_t piece, uint32_t worker)                    \
    {                                                                                       \
        const floe_prim_span *span = (const floe_prim_span *)arg;                           \
        const job_type job = *(const job_type *)span->job;                                  \
        uint64_t begin = piece * FLOE_PRIM_MAP_PIECE;                                       \
        uint64_t end = floe_min64(begin + FLOE_PRIM_MAP_PIECE, span->n);                    \
        (void)worker;                                                                       \
        for (uint64_t i = begin; i < end; i++)                                              \
            worklet(&job, i);                                                               \
    }                                                                                       \
    static void name##_host(const floe_cpu *cpu, const job_type *job, uint64_t n)           \
    {                                                                                       \
        floe_prim_span span = {job, n};                                                     \
        floe_cpu_parallel(cpu, floe_ceil_div(n, FLOE_PRIM_MAP_PIECE), name##_piece, &span); \
    }

#ifdef FLOE_HAVE_CUDA_BUILD
#define FLOE_PRIM_MAP_DEVICE(name, job_type)       int name##_cuda(const job_type *job, uint64_t n, void *stream);
#define FLOE_PRIM_MAP_LAUNCH(name, p, job, n, err) floe_cuda_status(name##_cuda((job), (n), (p)->stream), #name, (err))
#else
#define FLOE_PRIM_MAP_DEVICE(name, job_type)
#define FLOE_PRIM_MAP_LAUNCH(name, p, job, n, err) \
    floe_fail((err), FLOE_ERR_DEVICE, "this build of floe has no CUDA, it runs on the CPU only")
#endif

#define FLOE_PRIM_MAP(name, job_type, worklet)                                              \
    FLOE_PRIM_MAP_HOST(name, job_type, worklet)                                             \
    FLOE_PRIM_MAP_DEVICE(name, job_type)                                                    \
    floe_status name(const floe_prim *p, const job_type *job, uint64_t n, floe_error *err); \
    floe_status name(const floe_prim *p, const job_type *job, uint64_t n, floe_error *err)  \
    {                                                                                       \
        if (!p->cpu)                                                                        \
            return FLOE_PRIM_MAP_LAUNCH(name, p, job, n, err);                              \
        name##_host(p->cpu, job, n);                                                        \
        return FLOE_OK;                                                                     \
    }

#endif
