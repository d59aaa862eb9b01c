/* SPDX-License-Identifier: BSD-3-Clause */
/* Test fields: the same bytes in pieces, with any number of threads, and on any machine (hard-coded hashes).
 * `synth_test --print` prints synth_golden.h's table. */
#include "synth/synth.h"
#include "synth/synth_math.h"
#include "tests/synth_golden.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

/* ---- helpers --------------------------------------------------------------------------------------------------- */

static uint64_t nelems_of(uint32_t rank, const uint64_t *shape)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < rank; a++)
        n *= shape[a];
    return n;
}

static size_t size_of(floe_dtype dtype) { return floe_dtype_size(dtype); }

/* FNV-1a. */
static uint64_t hash_of(const void *data, size_t nbytes)
{
    const unsigned char *p = data;
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < nbytes; i++)
        h = (h ^ p[i]) * UINT64_C(1099511628211);
    return h;
}

/* A whole field, to be freed. */
static void *field(const char *kind, floe_dtype dtype, uint32_t rank, const uint64_t *shape, uint64_t seed)
{
    uint64_t n = nelems_of(rank, shape);
    void *data = malloc(n * size_of(dtype) + 1);
    assert_non_null(data);
    assert_int_equal(synth_fill(kind, dtype, rank, shape, seed, 0, n, data), FLOE_OK);
    return data;
}

/* ---- golden hashes --------------------------------------------------------------------------------------------- */

static uint64_t piece_hash(const char *kind, floe_dtype dtype, const piece *p)
{
    void *data = malloc(p->count * size_of(dtype));
    assert_non_null(data);
    assert_int_equal(synth_fill(kind, dtype, p->rank, p->shape, 1, p->first, p->count, data), FLOE_OK);
    uint64_t h = hash_of(data, p->count * size_of(dtype));
    free(data);
    return h;
}

static void golden_print(void)
{
    for (uint32_t k = 0; k < 2 * synth_count(); k++) {
        const char *kind = synth_kind_at(k / 2)->name;
        floe_dtype dtype = k % 2 ? FLOE_F64 : FLOE_F32;
        printf("    {\"%s\", FLOE_F%d,\n     {", kind, k % 2 ? 64 : 32);
        for (int i = 0; i < NPIECES; i++)
            printf("%s0x%016llx",
                   i == 0   ? ""
                   : i == 3 ? ",\n      "
                            : ", ",
                   (unsigned long long)piece_hash(kind, dtype, &pieces[i]));
        printf("}},\n");
    }
}

static void golden_test(void **state)
{
    (void)state;
    size_t n = sizeof goldens / sizeof goldens[0];
    assert_int_equal(n, 2 * synth_count());
    for (size_t g = 0; g < n; g++) {
        for (int i = 0; i < NPIECES; i++) {
            uint64_t h = piece_hash(goldens[g].kind, goldens[g].dtype, &pieces[i]);
            if (h != goldens[g].hash[i])
                fail_msg("%s, %zu bytes an element, piece %d: other bytes than ever", goldens[g].kind,
                         size_of(goldens[g].dtype), i);
        }
    }
}

/* ---- pieces, threads, dtypes, seeds ---------------------------------------------------------------------------- */

/* Makes first .. first+count-1 in cuts of uneven length between guard bytes and compares with the whole. */
static void pieces_compare(const char *kind, floe_dtype dtype, const piece *p, const unsigned char *whole)
{
    size_t size = size_of(dtype);
    unsigned char *guarded = malloc((p->count + 2) * size);
    assert_non_null(guarded);
    uint64_t at = 0;
    for (uint64_t turn = 0; at < p->count; turn++) {
        uint64_t n = synth_hash(p->count, turn) % (turn % 3 ? 700 : 9);
        n = n < p->count - at ? n : p->count - at;
        memset(guarded, 0xA5, (p->count + 2) * size);
        assert_int_equal(synth_fill(kind, dtype, p->rank, p->shape, 1, p->first + at, n, guarded + size), FLOE_OK);
        if (memcmp(guarded + size, whole + at * size, n * size) != 0)
            fail_msg("%s: elements from %llu on differ", kind, (unsigned long long)(p->first + at));
        for (size_t i = 0; i < size; i++)
            assert_true(guarded[i] == 0xA5 && guarded[(n + 1) * size + i] == 0xA5);
        at += n;
    }
    free(guarded);
}

static void pieces_test(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 2 * synth_count(); k++) {
        const char *kind = synth_kind_at(k / 2)->name;
        floe_dtype dtype = k % 2 ? FLOE_F64 : FLOE_F32;
        for (int i = 0; i < NPIECES; i++) {
            const piece *p = &pieces[i];
            unsigned char *whole = malloc(p->count * size_of(dtype));
            assert_non_null(whole);
            assert_int_equal(synth_fill(kind, dtype, p->rank, p->shape, 1, p->first, p->count, whole), FLOE_OK);
            pieces_compare(kind, dtype, p, whole);
            free(whole);
        }
    }
}

static void threads_test(void **state)
{
    (void)state;
#ifdef FLOE_HAVE_THREADS
    const uint64_t shape[3] = {5, 40, 700};
    size_t nbytes = nelems_of(3, shape) * 4;
    for (uint32_t k = 0; k < synth_count(); k++) {
        const char *kind = synth_kind_at(k)->name;
        setenv("OMP_NUM_THREADS", "1", 1);
        void *one = field(kind, FLOE_F32, 3, shape, 3);
        for (char threads[] = "2"; threads[0] < '8'; threads[0] += 3) {
            setenv("OMP_NUM_THREADS", threads, 1);
            void *many = field(kind, FLOE_F32, 3, shape, 3);
            assert_memory_equal(one, many, nbytes);
            free(many);
        }
        free(one);
    }
    unsetenv("OMP_NUM_THREADS");
#else
    skip();
#endif
}

static void dtypes_test(void **state)
{
    (void)state;
    const uint64_t shape[3] = {9, 20, 530};
    uint64_t n = nelems_of(3, shape);
    for (uint32_t k = 0; k < synth_count(); k++) {
        const char *kind = synth_kind_at(k)->name;
        if (strcmp(kind, "hostile") == 0)
            continue;
        float *f32 = field(kind, FLOE_F32, 3, shape, 5);
        double *f64 = field(kind, FLOE_F64, 3, shape, 5);
        for (uint64_t i = 0; i < n; i++) {
            float rounded = (float)f64[i];
            assert_true(isfinite(f32[i]));
            assert_memory_equal(&rounded, &f32[i], sizeof rounded);
        }
        free(f32);
        free(f64);
    }
}

/* Integers are the nearest to 1000 or 1000000 times the reals, and cut to their type; hostile ones are the same patterns. */
static void integers_test(void **state)
{
    (void)state;
    const uint64_t shape[3] = {9, 11, 70}, n = nelems_of(3, shape);
    for (uint32_t k = 0; k < synth_count(); k++) {
        const char *kind = synth_kind_at(k)->name;
        double *f64 = field(kind, FLOE_F64, 3, shape, 3);
        float *f32 = field(kind, FLOE_F32, 3, shape, 3);
        int32_t *i32 = field(kind, FLOE_I32, 3, shape, 3);
        int64_t *i64 = field(kind, FLOE_I64, 3, shape, 3);
        const bool patterns = strcmp(kind, "hostile") == 0;
        if (patterns) {
            assert_memory_equal(i32, f32, n * 4);
            assert_memory_equal(i64, f64, n * 8);
        }
        for (uint64_t i = 0; !patterns && i < n; i++) {
            const double narrow = fmin(fmax(nearbyint(1e3 * f64[i]), -2147483648.0), 2147483647.0);
            const double wide = nearbyint(1e6 * f64[i]);
            assert_true((double)i32[i] == narrow);
            assert_true(wide >= 0x1p63 ? i64[i] == INT64_MAX : (double)i64[i] == wide);
        }
        free(f64), free(f32), free(i32), free(i64);
    }
}

static void seeds_test(void **state)
{
    (void)state;
    const uint64_t shape[2] = {60, 61};
    for (uint32_t k = 0; k < synth_count(); k++) {
        const char *kind = synth_kind_at(k)->name;
        void *a = field(kind, FLOE_F64, 2, shape, 0);
        void *b = field(kind, FLOE_F64, 2, shape, 1);
        void *c = field(kind, FLOE_F64, 2, shape, UINT64_MAX);
        assert_memory_not_equal(a, b, 60 * 61 * 8);
        assert_memory_not_equal(a, c, 60 * 61 * 8);
        free(a);
        free(b);
        free(c);
    }
}

/* ---- odd shapes and bad arguments ------------------------------------------------------------------------------ */

static void shapes_test(void **state)
{
    (void)state;
    const piece odd[] = {
        {1, {1}, 0, 1},
        {1, {0}, 0, 0},
        {3, {5, 0, 7}, 0, 0},
        {4, {1, 1, 1, 1}, 0, 1},
        {4, {0, 0, 0, 0}, 0, 0},
        {2, {1, 512}, 0, 512},
        {2, {1, 513}, 0, 513},
        {2, {1, 511}, 0, 511},
        {3, {2, 3, 1}, 0, 6},
        {4, {1, 1, 1, 97}, 0, 97},
        {4, {97, 1, 1, 1}, 0, 97},
        {2, {2, 2}, 4, 0},
        {1, {UINT64_C(1) << 59}, (UINT64_C(1) << 59) - 3, 3},
        {4, {UINT64_C(1) << 40, 3, 5, UINT64_C(1) << 15}, UINT64_C(1) << 58, 5},
        {2, {UINT64_C(1) << 59, 1}, (UINT64_C(1) << 59) - 2, 2},
    };
    double data[520];
    for (uint32_t k = 0; k < synth_count(); k++) {
        const char *kind = synth_kind_at(k)->name;
        for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
            const piece *p = &odd[i];
            data[p->count] = -77.5;
            assert_int_equal(synth_fill(kind, FLOE_F64, p->rank, p->shape, 2, p->first, p->count, data), FLOE_OK);
            assert_true(data[p->count] == -77.5);
        }
    }
}

static void arguments_test(void **state)
{
    (void)state;
    const uint64_t shape[5] = {4, 4, 4, 4, 4};
    const uint64_t huge[2] = {UINT64_C(1) << 31, UINT64_C(1) << 30}; /* 2^61 elements: 2^63 bytes in f32 */
    const uint64_t empty[3] = {0, UINT64_MAX, 1};                    /* an empty field must fit without its zeros */
    const uint64_t wraps[4] = {UINT64_C(1) << 32, UINT64_C(1) << 32, 2, 1};
    const uint64_t fits[2] = {(UINT64_C(1) << 31) - 1, UINT64_C(1) << 30};
    float data[80];
    memset(data, 0x5A, sizeof data);
    unsigned char *bytes = (unsigned char *)data;
    const floe_status bad = FLOE_ERR_ARGUMENT;
    assert_int_equal(synth_fill("no such kind", FLOE_F32, 2, shape, 0, 0, 1, data), bad);
    assert_int_equal(synth_fill("", FLOE_F32, 2, shape, 0, 0, 1, data), bad);
    assert_int_equal(synth_fill(NULL, FLOE_F32, 2, shape, 0, 0, 1, data), bad);
    assert_int_equal(synth_fill("noise", (floe_dtype)0, 2, shape, 0, 0, 1, data), bad);
    assert_int_equal(synth_fill("noise", (floe_dtype)5, 2, shape, 0, 0, 1, data), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 0, shape, 0, 0, 1, data), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 5, shape, 0, 0, 1, data), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 2, NULL, 0, 0, 1, data), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 2, shape, 0, 0, 1, NULL), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 2, shape, 0, 0, 1, bytes + 2), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 2, shape, 0, 0, 17, data), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 2, shape, 0, 16, 1, data), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 2, shape, 0, 17, 0, data), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 2, shape, 0, UINT64_MAX, 2, data), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 2, shape, 0, 2, UINT64_MAX, data), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 2, huge, 0, 0, 1, data), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 4, wraps, 0, 0, 1, data), bad);
    assert_int_equal(synth_fill("noise", FLOE_F32, 3, empty, 0, 0, 0, data), bad);
    for (size_t i = 0; i < sizeof data; i++)
        assert_int_equal(bytes[i], 0x5A);
    assert_int_equal(synth_fill("noise", FLOE_F32, 2, shape, 0, 16, 0, NULL), FLOE_OK);
    assert_int_equal(synth_fill("noise", FLOE_F32, 2, fits, 0, nelems_of(2, fits) - 1, 1, data), FLOE_OK);
    assert_int_equal(synth_fill("noise", FLOE_F64, 2, fits, 0, 0, 1, data), bad);
}

static void table_test(void **state)
{
    (void)state;
    assert_true(synth_count() >= 12);
    assert_null(synth_kind_at(synth_count()));
    assert_null(synth_kind_at(UINT32_MAX));
    assert_null(synth_find("nothing"));
    assert_null(synth_find(NULL));
    for (uint32_t i = 0; i < synth_count(); i++) {
        const synth_kind *kind = synth_kind_at(i);
        assert_ptr_equal(synth_find(kind->name), kind);
        assert_true(strlen(kind->about) > 10);
    }
}

/* ---- elementary functions -------------------------------------------------------------------------------------- */

static void functions_test(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t turn = i < 64 ? i << 58 : synth_hash(1, i);
        double c, s;
        synth_cos_sin(turn, &c, &s);
        double angle = 6.283185307179586 * ((double)turn * 0x1p-64);
        assert_true(fabs(c - cos(angle)) < 2e-15 && fabs(s - sin(angle)) < 2e-15);
        double x = 1000 * synth_signed(synth_hash(2, i));
        assert_true(fabs(synth_exp2(x) - exp2(x)) <= 4e-16 * exp2(x));
        double y = exp2(0.5 * x);
        assert_true(fabs(synth_log2(y) - log2(y)) <= 4e-16 * (1 + fabs(x)));
        assert_true(synth_round(x) == nearbyint(x));
    }
    double c, s;
    synth_cos_sin(0, &c, &s);
    assert_true(c == 1 && s == 0);
    assert_true(synth_exp2(0) == 1 && synth_exp2(10) == 1024 && synth_log2(8) == 3);
    assert_true(synth_exp2(-1e9) == 0x1p-1000 && synth_exp2(1e9) == 0x1p1000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_test),    cmocka_unit_test(functions_test), cmocka_unit_test(golden_test),
        cmocka_unit_test(pieces_test),   cmocka_unit_test(threads_test),   cmocka_unit_test(dtypes_test),
        cmocka_unit_test(seeds_test),    cmocka_unit_test(shapes_test),    cmocka_unit_test(arguments_test),
        cmocka_unit_test(integers_test),
    };
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        golden_print();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
