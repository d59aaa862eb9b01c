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
#include "stage/lorenzo/lorenzo_math.h"

static const uint64_t sizes[] = {0, 1, 31, 32, 33, 1023, 1024, 1025, 2048, 2049, 20011};
enum { NSIZES = sizeof sizes / sizeof *sizes, LARGE = 300007 };

/* ---- plain loops ------------------------------------------------------------------------------------------------- */

/* Elements as long double, which holds all of every type exactly. */
static long double number(floe_prim_type t, const void *p, uint64_t i)
{
    switch (t) {
    case FLOE_PRIM_U32: return ((const uint32_t *)p)[i];
    case FLOE_PRIM_I32: return ((const int32_t *)p)[i];
    case FLOE_PRIM_F32: return ((const float *)p)[i];
    case FLOE_PRIM_U64: return ((const uint64_t *)p)[i];
    case FLOE_PRIM_I64: return ((const int64_t *)p)[i];
    default: return ((const double *)p)[i];
    }
}
static uint64_t bits_of(floe_prim_type t, const void *p, uint64_t i)
{
    return floe_prim_get(floe_prim_is_wide(t), p, i);
}

/* The sum of prim_math.h, as it is said there. */
static double sum_in_order(const double *x, uint64_t n)
{
    uint64_t ntiles = (n + 2047) / 2048;
    double *results = calloc(ntiles + 1, sizeof *results), lane[32];
    for (uint64_t tile = 0; tile < ntiles; tile++) {
        memset(lane, 0, sizeof lane);
        for (uint64_t i = 0; i < 2048 && tile * 2048 + i < n; i++)
            lane[i % 32] += x[tile * 2048 + i];
        for (int d = 16; d > 0; d /= 2)
            for (int l = 0; l < d; l++)
                lane[l] += lane[l + d];
        results[tile] = lane[0];
    }
    double sum = ntiles > 1 ? sum_in_order(results, ntiles) : results[0];
    free(results);
    return sum;
}

static uint64_t sum_of(floe_prim_type t, const void *in, uint64_t n)
{
    uint64_t sum = 0;
    if (floe_prim_is_float(t)) {
        double *x = malloc((n + 1) * sizeof *x);
        for (uint64_t i = 0; i < n; i++)
            x[i] = (double)number(t, in, i);
        double s = sum_in_order(x, n);
        free(x);
        return isnan(s) ? 0x7FF8000000000000u : floe_bits_f64(s);
    }
    for (uint64_t i = 0; i < n; i++)
        sum += t == FLOE_PRIM_I32 ? (uint64_t)(int64_t)((const int32_t *)in)[i] : bits_of(t, in, i);
    return sum;
}

static void check_reduce(int v, floe_prim_type t, const kit_arrays *a, uint64_t n)
{
    if (v == FLOE_PRIM_SUM) {
        assert_int_equal(((uint64_t *)a->out)[0], sum_of(t, a->in, n));
        return;
    }
    uint64_t best = n;
    for (uint64_t i = 0; i < n; i++) {
        long double x = number(t, a->in, i), y = best < n ? number(t, a->in, best) : 0;
        bool below = x < y || (x == y && signbit(x) && !signbit(y)),
             above = x > y || (x == y && !signbit(x) && signbit(y));
        if (!isnan(x) && (best == n || (v == FLOE_PRIM_MIN ? below : above)))
            best = i;
    }
    if (best < n)
        assert_int_equal(bits_of(t, a->out, 0), bits_of(t, a->in, best));
    else if (floe_prim_is_float(t))
        assert_int_equal(bits_of(t, a->out, 0), floe_prim_nan(floe_prim_is_wide(t)));
}

/* Integers exactly; floats to what rounding may do. */
static void check_scan(int v, floe_prim_type t, const kit_arrays *a, uint64_t n)
{
    const floe_prim_type to = v < 2 || v > 3 ? t : floe_prim_widened(t);
    const void *in = a->in;
    long double sum = 0, size = 0;
    uint64_t word = 0;
    if (v > 3)
        return; /* in place; compared with other numbers of threads */
    for (uint64_t i = 0; i < n; i++) {
        uint64_t before = word;
        long double sum_before = sum;
        word += floe_prim_is_float(t) ? 0 : floe_prim_word(t, FLOE_PRIM_SUM, bits_of(t, in, i));
        sum += floe_prim_is_float(t) ? number(t, in, i) : 0;
        size += fabsl(number(t, in, i));
        if (!floe_prim_is_float(t)) {
            assert_int_equal(bits_of(to, a->out, i), (v % 2 ? word : before) & floe_prim_ones(floe_prim_is_wide(to)));
        } else {
            long double want = v % 2 ? sum : sum_before, got = number(to, a->out, i);
            long double room = size * (to == FLOE_PRIM_F32 ? 0x1p-23L : 0x1p-45L);
            assert_true(isfinite(size) && size < 1e38L ? fabsl(got - want) <= room : 1);
        }
    }
}

static void check_histogram(int v, const kit_arrays *a, uint64_t n)
{
    static const uint32_t nbins[4] = {KIT_BINS, KIT_MANY_BINS, 1, 0};
    uint64_t *want = calloc(KIT_MANY_BINS, sizeof *want), outside = 0;
    for (uint64_t i = 0; i < n; i++)
        *(a->keys[i] < nbins[v / 2] ? &want[a->keys[i]] : &outside) += 1;
    for (uint32_t b = 0; b < nbins[v / 2]; b++)
        assert_int_equal(floe_prim_get(v % 2, a->out, b), want[b]);
    assert_int_equal(*a->count, outside);
    free(want);
}

static bool kept(int v, floe_prim_type t, const kit_arrays *a, uint64_t i)
{
    long double x = number(t, a->in, i), y = number(t, a->threshold, 0);
    if (v < 2)
        return v == 0 ? a->flags[i] : a->flags[i / 8] >> i % 8 & 1;
    return v == 2 ? x >= y : fabsl(x) >= fabsl(y);
}

static void check_compact(int v, floe_prim_type t, const kit_arrays *a, uint64_t n)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!kept(v % 4, t, a, i))
            continue;
        if (v != 4)
            assert_int_equal(bits_of(t, a->out, count), bits_of(t, a->in, i));
        if (v != 5)
            assert_int_equal(((uint64_t *)a->out2)[count], i);
        count++;
    }
    assert_int_equal(*a->count, count);
}

static void check_flag(int v, floe_prim_type t, const kit_arrays *a, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(((uint8_t *)a->out)[i], kept(v, t, a, i));
}

static void check_select(int v, floe_prim_type t, const kit_arrays *a, uint64_t n)
{
    uint64_t below = 0, equal = 0, k = v / 2 * (n - 1) / 2, found = floe_prim_key(t, v % 2, bits_of(t, a->out, 0));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t key = floe_prim_key(t, v % 2, bits_of(t, a->in, i));
        below += key < found;
        equal += key == found;
    }
    assert_true(n == 0 || (below <= k && k < below + equal));
}

typedef struct place {
    uint64_t key, i;
} place;
static int by_key_and_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->i > y->i) - (x->i < y->i);
}

/* Where the elements were. That keys are in the order of their elements: order_is_total. */
static place *sorted_places(floe_prim_type t, const kit_arrays *a, uint64_t n)
{
    place *p = malloc((n + 1) * sizeof *p);
    for (uint64_t i = 0; i < n; i++)
        p[i] = (place){floe_prim_key(t, false, bits_of(t, a->in, i)), i};
    qsort(p, n, sizeof *p, by_key_and_place);
    return p;
}

static void check_sort(int v, floe_prim_type t, const kit_arrays *a, uint64_t n)
{
    if (n == LARGE && v != 1)
        return; /* that takes long */
    place *p = sorted_places(t, a, n);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(bits_of(t, a->out, i), bits_of(t, a->in, p[i].i));
        if (v == 2)
            assert_int_equal(((uint64_t *)a->out2)[i], a->index64[p[i].i]);
        else if (v > 0)
            assert_int_equal(((uint32_t *)a->out2)[i], a->index32[p[i].i]);
    }
    free(p);
}

static void check_move(int v, floe_prim_type t, const kit_arrays *a, uint64_t n)
{
    const uint64_t limit = n > KIT_LIMIT ? n - KIT_LIMIT : n;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = v % 2 ? a->index64[i] : a->index32[i];
        if (v < 2)
            assert_int_equal(bits_of(t, a->out, i), at < limit ? bits_of(t, a->in, at) : 0);
        else if (at < limit)
            assert_int_equal(bits_of(t, a->out, at), bits_of(t, a->in, i));
    }
}

static void check(int call, floe_prim_type t, const kit_arrays *a, uint64_t n)
{
    if (call < KIT_SCAN)
        check_reduce(call - KIT_REDUCE, t, a, n);
    else if (call < KIT_HISTOGRAM)
        check_scan(call - KIT_SCAN, t, a, n);
    else if (call < KIT_COMPACT)
        check_histogram(call - KIT_HISTOGRAM, a, n);
    else if (call < KIT_FLAG)
        check_compact(call - KIT_COMPACT, t, a, n);
    else if (call < KIT_SELECT)
        check_flag(call - KIT_FLAG, t, a, n);
    else if (call < KIT_SORT)
        check_select(call - KIT_SELECT, t, a, n);
    else if (call < KIT_MOVE)
        check_sort(call - KIT_SORT, t, a, n);
    else
        check_move(call - KIT_MOVE, t, a, n);
}

/* ---- every call -------------------------------------------------------------------------------------------------- */

static kit_side side_open(const floe_cpu *cpu, uint64_t n)
{
    kit_side s = {.prim = {.cpu = cpu}, .host = true};
    for (int i = 0; i < KIT_NARRAYS; i++) {
        *kit_array(&s.a, i) = aligned_alloc(64, (kit_array_nbytes(i, n) + 63) / 64 * 64);
        memset(*kit_array(&s.a, i), 0, kit_array_nbytes(i, n));
    }
    return s;
}
static void side_close(kit_side *s)
{
    for (int i = 0; i < KIT_NARRAYS; i++)
        free(*kit_array(&s->a, i));
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
    for (int i = 0; i < 2; i++)
        kit_fill(&sides[i].a, t, pattern, n);
    for (int call = 0; call < KIT_CALLS; call++) {
        for (int i = 0; i < 2; i++) {
            floe_error err = {0};
            for (int o = KIT_NINPUTS; o < KIT_NARRAYS; o++)
                memset(*kit_array(&sides[i].a, o), 0xA5, kit_array_nbytes(o, n));
            if (kit_run(&sides[i], call, t, n, &err) != FLOE_OK)
                fail_msg("call %d, type %d, n %llu: %s", call, t, (unsigned long long)n, err.message);
        }
        for (int o = call + 1 < KIT_CALLS ? KIT_NINPUTS : 0; o < KIT_NARRAYS; o++) /* inputs in the end */
            if (memcmp(*kit_array(&sides[0].a, o), *kit_array(&sides[1].a, o), kit_array_nbytes(o, n)))
                fail_msg("call %d, type %d, pattern %d, n %llu: threads differ", call, t, pattern,
                         (unsigned long long)n);
        check(call, t, &sides[1].a, n);
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

/* More than 2048 tiles: the totals of tiles have totals too. */
static void sums_of_many_tiles(void **state)
{
    enum { N = 2048 * 2048 + 5 };
    floe_cpu many = cpu_of(3);
    kit_side s = side_open(&many, N);
    (void)state;
    for (int t = FLOE_PRIM_U32; t <= FLOE_PRIM_F64; t++) {
        kit_fill(&s.a, (floe_prim_type)t, KIT_NUMBERS, N);
        for (int call = KIT_REDUCE; call < KIT_SCAN + 4;
             call += call == KIT_REDUCE ? 4 : 2) { /* sum, inclusive scans */
            assert_int_equal(kit_run(&s, call, (floe_prim_type)t, N, NULL), FLOE_OK);
            check(call, (floe_prim_type)t, &s.a, N);
        }
    }
    side_close(&s);
}

/* ---- the order, worklets, what is refused ------------------------------------------------------------------------ */

static void order_is_total(void **state)
{
    (void)state;
    const float upward[] = {-INFINITY, -2.0f, -1e-45f, -0.0f, 0.0f, 1e-45f, 2.0f, INFINITY};
    const int64_t integers[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t b = bits_of(FLOE_PRIM_F32, upward, i), key = floe_prim_key(FLOE_PRIM_F32, false, b);
        assert_int_equal(floe_prim_unkey(FLOE_PRIM_F32, false, key), b);
        assert_true(i == 0 || key > floe_prim_key(FLOE_PRIM_F32, false, bits_of(FLOE_PRIM_F32, upward, i - 1)));
        assert_true(key > floe_prim_key(FLOE_PRIM_F32, false, 0xFFC00000u));
        assert_true(key < floe_prim_key(FLOE_PRIM_F32, false, 0x7FC00000u));
    }
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t b = bits_of(FLOE_PRIM_I64, integers, i), key = floe_prim_key(FLOE_PRIM_I64, false, b);
        assert_int_equal(floe_prim_unkey(FLOE_PRIM_I64, false, key), b);
        assert_true(i == 0 || key > floe_prim_key(FLOE_PRIM_I64, false, bits_of(FLOE_PRIM_I64, integers, i - 1)));
    }
    assert_int_equal(floe_prim_magnitude(FLOE_PRIM_I32, 0x80000000u), 0x80000000u);
    assert_int_equal(floe_prim_magnitude(FLOE_PRIM_I32, 0xFFFFFFFFu), 1);
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
    static uint64_t in[N], out[N], one;
    static _Alignas(64) uint8_t room[1 << 17];
    floe_cpu cpu = cpu_of(3);
    floe_prim p = {&cpu, NULL, room, sizeof room};
    floe_prim_keep keep = {FLOE_PRIM_KEEP_BYTES, in};
    const floe_prim_array narrow = {FLOE_PRIM_U32, in, N}, wide = {FLOE_PRIM_U64, in, N},
                          floats = {FLOE_PRIM_F32, in, N};
    const floe_prim_values values = {8, in, out};
    uint64_t nbytes;
    assert_int_equal(floe_prim_workspace(&p, FLOE_PRIM_SORT, FLOE_PRIM_U64, N, 8, &nbytes, NULL), FLOE_OK);
    assert_true(nbytes > 0 && nbytes <= sizeof room);
    for (int short_by = 0; short_by < 2; short_by++) {
        p.workspace_nbytes = nbytes - (size_t)short_by;
        assert_int_equal(floe_prim_sort(&p, wide, out, &values, NULL), short_by ? FLOE_ERR_MEMORY : FLOE_OK);
    }
    p.workspace = NULL;
    assert_int_equal(floe_prim_sort(&p, wide, out, &values, NULL), FLOE_ERR_MEMORY);
    p.workspace = room + 8, p.workspace_nbytes = sizeof room - 8;
    assert_int_equal(floe_prim_scan(&p, FLOE_PRIM_EXCLUSIVE, wide, FLOE_PRIM_U64, out, NULL), FLOE_ERR_ARGUMENT);
    p.workspace = room;
#define REFUSED(call) assert_int_equal(call, FLOE_ERR_ARGUMENT)
    REFUSED(floe_prim_reduce(&p, FLOE_PRIM_SUM, (floe_prim_array){(floe_prim_type)6, in, N}, out, NULL));
    REFUSED(floe_prim_reduce(&p, (floe_prim_op)3, narrow, out, NULL));
    REFUSED(floe_prim_reduce(&p, FLOE_PRIM_SUM, (floe_prim_array){FLOE_PRIM_U32, NULL, N}, out, NULL));
    REFUSED(floe_prim_reduce(&p, FLOE_PRIM_SUM, (floe_prim_array){FLOE_PRIM_U32, (uint8_t *)in + 2, N}, out, NULL));
    REFUSED(floe_prim_reduce(&p, FLOE_PRIM_SUM, narrow, (uint32_t *)out + 1, NULL)); /* a sum has 8 bytes */
    REFUSED(floe_prim_reduce(&p, FLOE_PRIM_SUM, (floe_prim_array){FLOE_PRIM_U32, in, UINT64_MAX / 4}, out, NULL));
    REFUSED(floe_prim_scan(&p, FLOE_PRIM_EXCLUSIVE, wide, FLOE_PRIM_U32, out, NULL));
    REFUSED(floe_prim_scan(&p, FLOE_PRIM_EXCLUSIVE, narrow, FLOE_PRIM_I64, out, NULL));
    REFUSED(floe_prim_scan(&p, (floe_prim_scan_kind)2, narrow, FLOE_PRIM_U32, out, NULL));
    REFUSED(floe_prim_histogram(&p, (uint32_t *)in, N, (floe_prim_bins){FLOE_PRIM_I32, 4, out, &one}, NULL));
    REFUSED(floe_prim_histogram(&p, (uint32_t *)in, N, (floe_prim_bins){FLOE_PRIM_U32, 4, out, NULL}, NULL));
    REFUSED(floe_prim_compact(&p, narrow, keep, (floe_prim_kept){out, NULL, NULL}, NULL));
    REFUSED(floe_prim_compact(&p, (floe_prim_array){FLOE_PRIM_U32, NULL, N}, keep, (floe_prim_kept){out, NULL, &one},
                              NULL));
    keep.what = NULL;
    REFUSED(floe_prim_flag(&p, narrow, keep, (uint8_t *)out, NULL));
    REFUSED(floe_prim_select(&p, narrow, N, false, out, NULL));
    REFUSED(floe_prim_select(&p, (floe_prim_array){FLOE_PRIM_U32, in, 0}, 0, false, out, NULL));
    REFUSED(floe_prim_sort(&p, narrow, out, &(floe_prim_values){2, in, out}, NULL));
    REFUSED(floe_prim_sort(&p, narrow, out, &(floe_prim_values){4, in, NULL}, NULL));
    REFUSED(floe_prim_gather(&p, narrow, floats, out, NULL));
    REFUSED(floe_prim_scatter(&p, narrow, (floe_prim_array){FLOE_PRIM_U64, (uint32_t *)in + 1, N}, out, N, NULL));
    REFUSED(floe_prim_workspace(&p, FLOE_PRIM_CALLS, FLOE_PRIM_U32, N, 0, &nbytes, NULL));
    REFUSED(floe_prim_workspace(&p, FLOE_PRIM_SORT, FLOE_PRIM_U32, N, 3, &nbytes, NULL));
    assert_int_equal(floe_prim_workspace(&p, FLOE_PRIM_SORT, FLOE_PRIM_U64, UINT64_MAX / 2, 8, &nbytes, NULL),
                     FLOE_ERR_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_agree_with_plain_loops),
        cmocka_unit_test(large_arrays_too),
        cmocka_unit_test(sums_of_many_tiles),
        cmocka_unit_test(order_is_total),
        cmocka_unit_test(worklets_see_every_index_once),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
