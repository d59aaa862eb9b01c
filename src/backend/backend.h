/* SPDX-License-Identifier: BSD-3-Clause */
/* Where work runs. On the CPU: how many threads, which instruction set, and a parallel loop. No algorithms here. */
#ifndef FLOE_BACKEND_BACKEND_H
#define FLOE_BACKEND_BACKEND_H

#include <stdint.h>

#include <floe/floe.h>

/* Threads that share one loop after another. They start when a loop first has work for them, and sleep between loops. Where
 * no more threads can be had, a loop goes on with those that there are. Used by one thread at a time. */
typedef struct floe_team floe_team;

/* For loops of at most `threads` threads, the caller among them. NULL: no memory. */
floe_team *floe_team_create(uint32_t threads);
void floe_team_free(floe_team **team);

/* share(arg, worker) on the caller, which is worker 0, and at once on others, which are 1..threads-1. A share returns when no
 * work is left; those that come later are not called. On the caller alone: from inside a share, and in a forked child. */
typedef void (*floe_share_fn)(void *arg, uint32_t worker);
void floe_team_run(floe_team *team, uint32_t threads, floe_share_fn share, void *arg);

/* Of what is compiled for each instruction set (base/real.h), that of isa: name_plain or name_avx2. */
#ifdef FLOE_HAVE_AVX2_BUILD
#define FLOE_BY_ISA(isa, name) ((isa) == FLOE_ISA_AVX2 ? name##_avx2 : name##_plain)
#else
#define FLOE_BY_ISA(isa, name) ((void)(isa), name##_plain)
#endif

/* Of what is compiled for each element type, that of f32 or of f64. */
#define FLOE_BY_REAL(narrow, name)              ((narrow) ? name##_f32 : name##_f64)
#define FLOE_BY_REAL_AND_ISA(narrow, isa, name) ((narrow) ? FLOE_BY_ISA(isa, name##_f32) : FLOE_BY_ISA(isa, name##_f64))

enum { FLOE_CPU_MAX_THREADS = 1024 };

typedef struct floe_cpu {
    uint32_t threads; /* 1 to FLOE_CPU_MAX_THREADS */
    floe_isa isa;     /* FLOE_ISA_PLAIN or FLOE_ISA_AVX2, resolved */
    floe_team *team;  /* of the context; NULL: a loop starts threads and ends them */
} floe_cpu;

/* threads 0: OMP_NUM_THREADS, or all processors that this process may use; no team yet. isa AUTO: the best one. ARGUMENT: more than FLOE_CPU_MAX_THREADS,
 * or AVX2 where the processor or the build lacks it. */
floe_status floe_cpu_init(floe_cpu *cpu, uint32_t threads, floe_isa isa, floe_error *err);

/* body(arg, i, worker) for each i in 0..count-1, dynamically scheduled, in no order; worker is in 0..threads-1, and no two
 * bodies of one call that run at once have the same. A call from inside a body of the same team runs serially, with worker 0;
 * and one from inside the program's own loops in OpenMP. Threads that cannot be had are done without.
 * Floating-point control (rounding, flush to zero) is at the IEEE defaults in each body, and restored after. */
typedef void (*floe_task_fn)(void *arg, uint64_t i, uint32_t worker);
void floe_cpu_parallel(const floe_cpu *cpu, uint64_t count, floe_task_fn body, void *arg);

/* memset to 0 and memcpy, by all threads. */
void floe_cpu_clear(const floe_cpu *cpu, void *to, uint64_t nbytes);
void floe_cpu_copy(const floe_cpu *cpu, void *to, const void *from, uint64_t nbytes);

#endif
