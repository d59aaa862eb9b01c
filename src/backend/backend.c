/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* sched_getaffinity */
#include "backend/backend.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/try.h"

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

#ifdef FLOE_HAVE_THREADS
/* The processors that the process may run on. */
static long processors(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    return sysconf(_SC_NPROCESSORS_ONLN);
}

/* What the caller's own loops in OpenMP would get, too. */
static uint32_t threads_offered(void)
{
    const char *text = getenv("OMP_NUM_THREADS"); /* the first of a list is that of the outermost loop */
    long n = text ? strtol(text, NULL, 10) : 0;
    if (n < 1)
        n = processors();
    return n < 1 ? 1 : n > FLOE_CPU_MAX_THREADS ? FLOE_CPU_MAX_THREADS : (uint32_t)n;
}
#else
static uint32_t threads_offered(void) { return 1; }
#endif

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
    FLOE_CHECK(err, threads <= FLOE_CPU_MAX_THREADS, FLOE_ERR_ARGUMENT, "%u threads requested, at most %d are possible",
               threads, (int)FLOE_CPU_MAX_THREADS);
    bool avx2 = has_avx2();
    switch (isa) {
    case FLOE_ISA_AUTO: isa = avx2 ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN; break;
    case FLOE_ISA_PLAIN: break;
    case FLOE_ISA_AVX2:
        FLOE_CHECK(err, avx2, FLOE_ERR_ARGUMENT, "AVX2 requested, but this processor or this build of floe lacks it");
        break;
    default: return floe_fail(err, FLOE_ERR_ARGUMENT, "unknown instruction set %d", (int)isa);
    }
    cpu->threads = threads ? threads : threads_offered();
    cpu->isa = isa;
    cpu->team = NULL;
    return FLOE_OK;
}

/* ---- the parallel loop ------------------------------------------------------------------------------------------- */

typedef struct loop {
    floe_task_fn body;
    void *arg;
    uint64_t count;
    atomic_uint_fast64_t next;
} loop;

static void share(void *arg, uint32_t worker)
{
    loop *l = arg;
    fp_state saved = fp_enter();
    for (uint64_t i; (i = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed)) < l->count;)
        l->body(l->arg, i, worker);
    fp_leave(saved);
}

#if defined(FLOE_HAVE_THREADS) && defined(__GNUC__) && defined(__ELF__)
/* There where the program itself has loops in OpenMP: inside of them a processor has its thread already. */
extern int omp_in_parallel(void) __attribute__((weak));
static bool is_shared_already(void) { return omp_in_parallel && omp_in_parallel(); }
#else
static bool is_shared_already(void) { return false; }
#endif

void floe_cpu_parallel(const floe_cpu *cpu, uint64_t count, floe_task_fn body, void *arg)
{
    loop l = {.body = body, .arg = arg, .count = count};
    const uint32_t threads = count < cpu->threads ? (uint32_t)count : cpu->threads;
    floe_team *own = NULL, *team = cpu->team;
    if (threads > 1 && !team && !is_shared_already())
        team = own = floe_team_create(threads);
    if (threads > 1 && team && !is_shared_already())
        floe_team_run(team, threads, share, &l);
    else
        share(&l, 0);
    floe_team_free(&own);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

enum { COPIED = 1 << 18 /* bytes of a task */ };

typedef struct copying {
    uint8_t *to;
    const uint8_t *from; /* NULL: zeros */
    uint64_t nbytes;
} copying;

static void copy_task(void *arg, uint64_t i, uint32_t worker)
{
    const copying *c = arg;
    const uint64_t at = i * COPIED, left = c->nbytes - at, n = left < COPIED ? left : COPIED;
    (void)worker;
    if (c->from)
        memcpy(c->to + at, c->from + at, n);
    else
        memset(c->to + at, 0, n);
}

static void copy(const floe_cpu *cpu, copying c)
{
    floe_cpu_parallel(cpu, c.nbytes / COPIED + (c.nbytes % COPIED != 0), copy_task, &c);
}

void floe_cpu_clear(const floe_cpu *cpu, void *to, uint64_t nbytes) { copy(cpu, (copying){to, NULL, nbytes}); }

void floe_cpu_copy(const floe_cpu *cpu, void *to, const void *from, uint64_t nbytes)
{
    copy(cpu, (copying){to, from, nbytes});
}
