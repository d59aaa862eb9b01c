/* SPDX-License-Identifier: BSD-3-Clause */
/* Where work runs. On the CPU: how many threads, which instruction set, and a parallel loop. No algorithms here. */
#ifndef FLOE_BACKEND_BACKEND_H
#define FLOE_BACKEND_BACKEND_H

#include <stdint.h>

#include <floe/floe.h>

#include "backend/team.h"

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

#endif
