/* SPDX-License-Identifier: BSD-3-Clause */
#include "backend/backend.h"

#include <stdbool.h>

#include "base/try.h"

#ifdef _OPENMP
#include <omp.h>
#include <stdatomic.h>
#include <unistd.h>
#endif

/* ---- floating-point environment: codes must not depend on what the caller has set ------------------------------- */

#if defined(__SSE2__)
#include <xmmintrin.h>
typedef unsigned fp_state;
enum { MXCSR_DEFAULT = 0x1f80 }; /* all exceptions masked, round to nearest, no flushing to zero */
static fp_state fp_enter(void)
{
    fp_state saved = _mm_getcsr();
    _mm_setcsr(MXCSR_DEFAULT);
    return saved;
}
static void fp_leave(fp_state saved) { _mm_setcsr(saved); }
#else
#include <fenv.h>
typedef fenv_t fp_state;
static fp_state fp_enter(void)
{
    fenv_t saved;
    fegetenv(&saved);
    fesetenv(FE_DFL_ENV);
    return saved;
}
static void fp_leave(fp_state saved) { fesetenv(&saved); }
#endif

/* ---- processors -------------------------------------------------------------------------------------------------- */

/* What the caller's own loops would get: OMP_NUM_THREADS, or the processors that the process may run on. */
static uint32_t threads_offered(void)
{
#ifdef _OPENMP
    int n = omp_get_max_threads();
    return n < 1 ? 1 : n > FLOE_CPU_MAX_THREADS ? FLOE_CPU_MAX_THREADS : (uint32_t)n;
#else
    return 1;
#endif
}

/* All that is compiled for: AVX2, and what came with it. */
static bool has_avx2(void)
{
#if defined(FLOE_HAVE_AVX2_BUILD) && defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

floe_status floe_cpu_init(floe_cpu *cpu, uint32_t threads, floe_isa isa, floe_error *err)
{
    FLOE_CHECK(err, threads <= FLOE_CPU_MAX_THREADS, FLOE_ERR_ARGUMENT, "%u threads asked for, at most %d are possible",
               threads, (int)FLOE_CPU_MAX_THREADS);
    bool avx2 = has_avx2();
    switch (isa) {
    case FLOE_ISA_AUTO: isa = avx2 ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN; break;
    case FLOE_ISA_PLAIN: break;
    case FLOE_ISA_AVX2:
        FLOE_CHECK(err, avx2, FLOE_ERR_ARGUMENT, "AVX2 asked for, but this processor or this build of floe lacks it");
        break;
    default: return floe_fail(err, FLOE_ERR_ARGUMENT, "unknown instruction set %d", (int)isa);
    }
    cpu->threads = threads ? threads : threads_offered();
    cpu->isa = isa;
    return FLOE_OK;
}

/* ---- the parallel loop ------------------------------------------------------------------------------------------- */

static void run_serial(uint64_t count, floe_task_fn body, void *arg)
{
    fp_state saved = fp_enter();
    for (uint64_t i = 0; i < count; i++)
        body(arg, i, 0);
    fp_leave(saved);
}

#ifdef _OPENMP
/* Threads stay with the process that started them. Where one forks after that, as Python's workers do, its child would wait for
 * them forever: it works on one thread. The library's only writable global (tools/check-symbols): no context of the child's own
 * would know. */
static atomic_long team_starter;

static bool may_start_team(void)
{
    const long self = (long)getpid();
    long none = 0;
    return atomic_compare_exchange_strong(&team_starter, &none, self) || none == self;
}

static void run_team(uint32_t threads, uint64_t count, floe_task_fn body, void *arg)
{
#pragma omp parallel num_threads((int)threads)
    {
        fp_state saved = fp_enter();
        uint32_t worker = (uint32_t)omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
        for (uint64_t i = 0; i < count; i++)
            body(arg, i, worker);
        fp_leave(saved);
    }
}
#endif

void floe_cpu_parallel(const floe_cpu *cpu, uint64_t count, floe_task_fn body, void *arg)
{
#ifdef _OPENMP
    uint32_t threads = count < cpu->threads ? (uint32_t)count : cpu->threads;
    if (threads > 1 && !omp_in_parallel() && may_start_team()) {
        run_team(threads, count, body, arg);
        return;
    }
#endif
    (void)cpu;
    run_serial(count, body, arg);
}
