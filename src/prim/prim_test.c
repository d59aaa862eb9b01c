/* SPDX-License-Identifier: BSD-3-Clause */
/* The primitives on the CPU: against plain loops, the same bytes by any number of threads, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "prim/prim_map.h"
#include "prim/prim_test_kit.h"
#define FLOE_REAL_BITS 32
#include "stage/lorenzo/lorenzo.h"

static const uint64_t sizes[] = {0, 1, 31, 32, 33, 1023, 2049, 20011, 65536, 65537};
enum { NSIZES = sizeof sizes / sizeof *sizes, LARGE = 300007 };

/* ---- plain loops ------------------------------------------------------------------------------------------------- */

static uint64_t bits_of(floe_prim_type t, const void *p, uint64_t i)
{
    return floe_prim_get(floe_prim_is_wide(t), p, i);
}

static uint64_t key_of(floe_prim_type t, const void *p, uint64_t i)
{
    return floe_prim_key(floe_prim_is_wide(t), floe_prim_is_float(t), bits_of(t, p, i));
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* That keys are in the order of their elements: order_is_total. */
static void check_sort(floe_prim_type t, const kit_side *s, uint64_t n)
{
    uint64_t *keys = malloc((n + 1) * sizeof *keys);
    for (uint64_t i = 0; i < n; i++)
        keys[i] = key_of(t, s->in, i);
    qsort(keys, n, sizeof *keys, by_size);
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(key_of(t, s->out, i), keys[i]);
    free(keys);
}

static void check(int call, floe_prim_type t, const kit_side *s, uint64_t n)
{
    uint64_t sum = 0, most = 0;
    if (call < KIT_MAX)
        check_sort(t, s, n);
    if (call < KIT_MAX || call == KIT_IN_PLACE) /* that is compared with other numbers of threads */
        return;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t before = sum, x = bits_of(t, s->in, i);
        sum += x;
        most = floe_max64(most, x);
        if (call != KIT_MAX)
            assert_int_equal(bits_of(FLOE_PRIM_U64, s->out, i), call == KIT_INCLUSIVE ? sum : before);
    }
    if (call == KIT_MAX)
        assert_int_equal(bits_of(t, s->out, 0), most);
}

/* ---- every call -------------------------------------------------------------------------------------------------- */

static kit_side side_open(const floe_cpu *cpu, uint64_t n)
{
    const size_t nbytes = (kit_nbytes(n) + 63) / 64 * 64;
    return (kit_side){
        .prim = {.cpu = cpu}, .host = true, .in = aligned_alloc(64, nbytes), .out = aligned_alloc(64, nbytes)};
}
static void side_close(kit_side *s)
{
    free(s->in);
    free(s->out);
    free(s->prim.workspace);
}

static floe_cpu cpu_of(uint32_t threads)
{
    floe_cpu cpu;
    assert_int_equal(floe_cpu_init(&cpu, threads, FLOE_ISA_PLAIN, NULL), FLOE_OK);
    return cpu;
}

static void run_case(kit_side sides[2], floe_prim_type t, kit_pattern pattern, uint64_t n)
{
    for (int call = 0; call < kit_calls(t); call++) {
        for (int i = 0; i < 2; i++) {
            floe_error err = {0};
            kit_fill(memset(sides[i].in, 0, kit_nbytes(n)), t, pattern, n);
            if (!kit_goes_on(call))
                memset(sides[i].out, 0xA5, kit_nbytes(n));
            if (kit_run(&sides[i], call, t, n, &err) != FLOE_OK)
                fail_msg("call %d, type %d, n %llu: %s", call, t, (unsigned long long)n, err.message);
        }
        if (memcmp(sides[0].out, sides[1].out, kit_nbytes(n)) || memcmp(sides[0].in, sides[1].in, kit_nbytes(n)))
            fail_msg("call %d, type %d, pattern %d, n %llu: threads differ", call, t, pattern, (unsigned long long)n);
        check(call, t, &sides[1], n);
    }
}

static void run_size(uint64_t n, int patterns)
{
    floe_cpu one = cpu_of(1), many = cpu_of(5);
    kit_side sides[2] = {side_open(&one, n), side_open(&many, n)};
    for (int t = FLOE_PRIM_U32; t <= FLOE_PRIM_F64; t++)
        for (int pattern = (int)((n + (uint64_t)t) % FLOE_TEST_STRIDE); pattern < patterns; pattern += FLOE_TEST_STRIDE)
            run_case(sides, (floe_prim_type)t, (kit_pattern)pattern, n);
    side_close(&sides[0]);
    side_close(&sides[1]);
}

static void calls_agree_with_plain_loops(void **state)
{
    (void)state;
    for (int i = 0; i < NSIZES; i++)
        run_size(sizes[i], KIT_PATTERNS);
}

static void large_arrays_too(void **state)
{
    (void)state;
    run_size(LARGE, 1);
}

/* ---- the order, worklets, what is refused ------------------------------------------------------------------------ */

static void order_is_total(void **state)
{
    (void)state;
    const float upward[] = {-NAN, -INFINITY, -2.0f, -1e-45f, -0.0f, 0.0f, 1e-45f, 2.0f, INFINITY, NAN};
    const double doubles[] = {-(double)NAN, -(double)INFINITY, -2.0,       -1e-320, -0.0, 0.0, 1e-320,
                              2.0,          (double)INFINITY,  (double)NAN};
    const uint64_t integers[] = {0, 1, INT64_MAX, UINT64_MAX};
    for (uint64_t i = 1; i < 10; i++) {
        assert_true(key_of(FLOE_PRIM_F32, upward, i - 1) < key_of(FLOE_PRIM_F32, upward, i));
        assert_true(key_of(FLOE_PRIM_F64, doubles, i - 1) < key_of(FLOE_PRIM_F64, doubles, i));
        assert_true(key_of(FLOE_PRIM_F32, upward, i) <= UINT32_MAX);
    }
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(key_of(FLOE_PRIM_U64, integers, i), integers[i]);
}

/* A worklet of the stages' formulas. */
typedef struct zigzag_job {
    const uint32_t *in;
    uint32_t *out;
} zigzag_job;
FLOE_HD void zigzag_one(const zigzag_job *j, uint64_t i) { j->out[i] = floe_zigzag_f32(j->in[i]); }
FLOE_PRIM_MAP_HOST(zigzag, zigzag_job, zigzag_one)

static void worklets_see_every_index_once(void **state)
{
    (void)state;
    enum { N = 100003 };
    uint32_t *in = malloc(N * sizeof *in), *out = calloc(N + 1, sizeof *out);
    for (uint32_t i = 0; i < N; i++)
        in[i] = i - N / 2;
    for (uint32_t threads = 1; threads < 5; threads++) {
        floe_cpu cpu = cpu_of(threads);
        zigzag_job job = {in, out};
        zigzag_host(&cpu, &job, N);
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(out[i], i < N / 2 ? 2 * (N / 2 - i) - 1 : 2 * (i - N / 2));
        assert_int_equal(out[N], 0);
    }
    free(in);
    free(out);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    enum { N = 5000 };
    static uint64_t in[N], out[N];
    static _Alignas(64) uint8_t room[1 << 17];
    floe_cpu cpu = cpu_of(3);
    floe_prim p = {&cpu, NULL, room, sizeof room};
    const floe_prim_array wide = {FLOE_PRIM_U64, in, N};
    uint64_t nbytes;
    assert_int_equal(floe_prim_workspace(&p, FLOE_PRIM_SORT, FLOE_PRIM_U64, N, &nbytes, NULL), FLOE_OK);
    assert_true(nbytes > 0 && nbytes <= sizeof room);
    for (int short_by = 0; short_by < 2; short_by++) {
        p.workspace_nbytes = nbytes - (size_t)short_by;
        assert_int_equal(floe_prim_sort(&p, wide, out, NULL), short_by ? FLOE_ERR_MEMORY : FLOE_OK);
    }
    p.workspace = NULL;
    assert_int_equal(floe_prim_sort(&p, wide, out, NULL), FLOE_ERR_MEMORY);
#define REFUSED(call) assert_int_equal(call, FLOE_ERR_ARGUMENT)
    p.workspace = room + 8, p.workspace_nbytes = sizeof room - 8;
    REFUSED(floe_prim_scan(&p, FLOE_PRIM_EXCLUSIVE, wide, out, NULL));
    p.workspace = room;
    REFUSED(floe_prim_sort(&p, (floe_prim_array){(floe_prim_type)4, in, N}, out, NULL));
    REFUSED(floe_prim_sort(&p, wide, NULL, NULL));
    REFUSED(floe_prim_max(&p, (floe_prim_array){FLOE_PRIM_F32, in, N}, out, NULL));
    REFUSED(floe_prim_max(&p, (floe_prim_array){FLOE_PRIM_U32, NULL, N}, out, NULL));
    REFUSED(floe_prim_max(&p, (floe_prim_array){FLOE_PRIM_U32, (uint8_t *)in + 2, N}, out, NULL));
    REFUSED(floe_prim_max(&p, wide, (uint32_t *)out + 1, NULL));
    REFUSED(floe_prim_max(&p, (floe_prim_array){FLOE_PRIM_U32, in, UINT64_MAX / 4}, out, NULL));
    REFUSED(floe_prim_scan(&p, FLOE_PRIM_EXCLUSIVE, (floe_prim_array){FLOE_PRIM_F64, in, N}, out, NULL));
    REFUSED(floe_prim_scan(&p, (floe_prim_scan_kind)2, wide, out, NULL));
    REFUSED(floe_prim_workspace(&p, FLOE_PRIM_CALLS, FLOE_PRIM_U32, N, &nbytes, NULL));
    assert_int_equal(floe_prim_workspace(&p, FLOE_PRIM_SORT, FLOE_PRIM_U64, UINT64_MAX / 2, &nbytes, NULL),
                     FLOE_ERR_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_agree_with_plain_loops),
        cmocka_unit_test(large_arrays_too),
        cmocka_unit_test(order_is_total),
        cmocka_unit_test(worklets_see_every_index_once),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
