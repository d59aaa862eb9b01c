/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel loop: every body once, workers apart, IEEE arithmetic inside, the caller's settings kept; copies by threads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fenv.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "backend/backend.h"

static floe_cpu cpu_of(uint32_t threads)
{
    floe_cpu cpu;
    assert_int_equal(floe_cpu_init(&cpu, threads, FLOE_ISA_PLAIN, NULL), FLOE_OK);
    return cpu;
}

/* As a context has it: with threads that stay. */
static floe_cpu team_of(uint32_t threads)
{
    floe_cpu cpu = cpu_of(threads);
    cpu.team = floe_team_create(threads);
    assert_non_null(cpu.team);
    return cpu;
}

static void init_resolves_and_refuses(void **state)
{
    (void)state;
    floe_cpu cpu;
    floe_error err;
    assert_int_equal(floe_cpu_init(&cpu, 0, FLOE_ISA_AUTO, &err), FLOE_OK);
    assert_true(cpu.threads >= 1 && cpu.threads <= FLOE_CPU_MAX_THREADS);
    assert_true(cpu.isa == FLOE_ISA_PLAIN || cpu.isa == FLOE_ISA_AVX2);
    floe_isa best = cpu.isa;
#ifdef FLOE_HAVE_THREADS
    const char *before = getenv("OMP_NUM_THREADS");
    setenv("OMP_NUM_THREADS", "5,2", 1);
    assert_int_equal(floe_cpu_init(&cpu, 0, FLOE_ISA_AUTO, &err), FLOE_OK);
    assert_int_equal(cpu.threads, 5);
    setenv("OMP_NUM_THREADS", "many", 1);
    assert_int_equal(floe_cpu_init(&cpu, 0, FLOE_ISA_AUTO, &err), FLOE_OK);
    assert_true(cpu.threads >= 1);
    if (before)
        setenv("OMP_NUM_THREADS", before, 1);
    else
        unsetenv("OMP_NUM_THREADS");
#endif
    floe_status avx2 = floe_cpu_init(&cpu, 3, FLOE_ISA_AVX2, &err);
    assert_int_equal(avx2, best == FLOE_ISA_AVX2 ? FLOE_OK : FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_cpu_init(&cpu, 3, FLOE_ISA_PLAIN, &err), FLOE_OK);
    assert_true(cpu.threads == 3 && cpu.isa == FLOE_ISA_PLAIN);
    assert_int_equal(floe_cpu_init(&cpu, FLOE_CPU_MAX_THREADS, FLOE_ISA_PLAIN, &err), FLOE_OK);
    assert_int_equal(floe_cpu_init(&cpu, FLOE_CPU_MAX_THREADS + 1, FLOE_ISA_PLAIN, &err), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_cpu_init(&cpu, 1, (floe_isa)77, &err), FLOE_ERR_ARGUMENT);
}

enum { COUNT = 1000 };

typedef struct tally {
    atomic_int seen[COUNT], busy[8], clashes;
    uint32_t threads;
} tally;

static void count_body(void *arg, uint64_t i, uint32_t worker)
{
    tally *t = arg;
    atomic_fetch_add(&t->seen[i], 1);
    if (worker >= t->threads || atomic_fetch_add(&t->busy[worker], 1) != 0)
        atomic_fetch_add(&t->clashes, 1);
    for (volatile int spin = 0; spin < 100; spin++) {
    }
    if (worker < t->threads)
        atomic_fetch_sub(&t->busy[worker], 1);
}

static void every_body_runs_once_and_workers_stay_apart(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 8; threads++) {
        for (uint64_t count = 0; count <= COUNT; count += count < 10 ? 1 : 330) {
            tally *t = calloc(1, sizeof *t);
            t->threads = threads;
            floe_cpu cpu = count % 2 ? cpu_of(threads) : team_of(threads);
            for (int turn = 0; turn < 3; turn++) /* the same threads again */
                floe_cpu_parallel(&cpu, count, count_body, t);
            floe_team_free(&cpu.team);
            for (uint64_t i = 0; i < COUNT; i++)
                assert_int_equal(t->seen[i], i < count ? 3 : 0);
            assert_int_equal(t->clashes, 0);
            free(t);
        }
    }
}

typedef struct nested {
    floe_cpu cpu;
    tally *tallies;
} nested;

static void nested_body(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    const nested *n = arg;
    n->tallies[i].threads = 1;
    floe_cpu_parallel(&n->cpu, 100, count_body, &n->tallies[i]);
}

static void a_nested_call_is_serial(void **state)
{
    (void)state;
    tally *t = calloc(4, sizeof *t);
    nested n = {.cpu = team_of(2), .tallies = t};
    floe_cpu_parallel(&n.cpu, 4, nested_body, &n);
    floe_team_free(&n.cpu.team);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(t[k].clashes, 0);
        for (uint64_t i = 0; i < COUNT; i++)
            assert_int_equal(t[k].seen[i], i < 100);
    }
    free(t);
}

/* The child of a process that has threads has none of them, and does not wait for them. */
static void a_forked_child_works_alone(void **state)
{
    (void)state;
    tally *t = calloc(2, sizeof *t);
    floe_cpu cpu = team_of(2);
    t[0].threads = 2, t[1].threads = 1;
    floe_cpu_parallel(&cpu, 100, count_body, &t[0]);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int bad = 0;
        alarm(20); /* rather than forever */
        floe_cpu_parallel(&cpu, 100, count_body, &t[1]);
        for (uint64_t i = 0; i < COUNT; i++)
            bad += t[1].seen[i] != (i < 100);
        floe_team_free(&cpu.team);
        _exit(bad || t[1].clashes ? 1 : 0);
    }
    int status = -1;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    floe_team_free(&cpu.team);
    free(t);
}

typedef struct probe {
    volatile double third[64];
    volatile float tiny[64];
} probe;

/* 1/3 shows the rounding, half of the least normal float shows flushing. */
static void probe_body(void *arg, uint64_t i, uint32_t worker)
{
    (void)worker;
    probe *p = arg;
    volatile double one = 1, three = 3;
    volatile float least = 1.17549435e-38f;
    p->third[i] = one / three;
    p->tiny[i] = least * 0.5f;
#if defined(__SSE2__)
    _mm_setcsr(0xbfc0); /* a body that leaves a mess */
#endif
}

static void arithmetic_is_ieee_inside_and_kept_outside(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        floe_cpu cpu = cpu_of(threads);
        probe p = {{0}, {0}};
        assert_int_equal(fesetround(FE_UPWARD), 0);
#if defined(__SSE2__)
        unsigned flushing = _mm_getcsr() | 0x8040;
        _mm_setcsr(flushing);
#endif
        floe_cpu_parallel(&cpu, 1, probe_body, &p);
#if defined(__SSE2__)
        unsigned after = _mm_getcsr();
        _mm_setcsr(0x1f80);
        assert_int_equal(after, flushing);
#endif
        assert_int_equal(fegetround(), FE_UPWARD);
        fesetround(FE_TONEAREST);
        assert_true(p.third[0] == 0x1.5555555555555p-2);
        assert_true(p.tiny[0] == 0x1p-127f);
        floe_cpu_parallel(&cpu, 64, probe_body, &p);
        assert_int_equal(fegetround(), FE_TONEAREST);
        assert_true(p.third[0] == 0x1.5555555555555p-2);
    }
}

static void copies_are_whole(void **state)
{
    enum { MOST = 3 << 18 }; /* three tasks */
    static const uint64_t sizes[] = {0, 1, 7, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, MOST - 5};
    uint8_t *from = malloc(MOST), *to = malloc(MOST);
    (void)state;
    assert_true(from && to);
    for (uint32_t i = 0; i < MOST; i++)
        from[i] = (uint8_t)(i * 2654435761u >> 24 | 1);
    for (uint32_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
        const uint64_t n = sizes[k / 2];
        floe_cpu cpu = team_of(k % 2 ? 4 : 1);
        memset(to, 0xAA, MOST);
        floe_cpu_copy(&cpu, to + 3, from, n);
        assert_memory_equal(to + 3, from, n);
        assert_int_equal(to[2], 0xAA);
        assert_int_equal(to[3 + n], 0xAA);
        floe_cpu_clear(&cpu, to + 3, n);
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(to[3 + i], 0);
        assert_int_equal(to[2], 0xAA);
        assert_int_equal(to[3 + n], 0xAA);
        floe_team_free(&cpu.team);
    }
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_resolves_and_refuses),
        cmocka_unit_test(every_body_runs_once_and_workers_stay_apart),
        cmocka_unit_test(a_nested_call_is_serial),
        cmocka_unit_test(a_forked_child_works_alone),
        cmocka_unit_test(arithmetic_is_ieee_inside_and_kept_outside),
        cmocka_unit_test(copies_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
