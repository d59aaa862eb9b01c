/* SPDX-License-Identifier: BSD-3-Clause */
/* The range scan against the plain definition for every type, instruction set, thread count and stride; fill detection on
 * data that has a fill value and on data that must not be taken for it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hd.h"
#include "field/field.h"
#include "field/fill_math.h"

static uint64_t seed = 11;
static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}
static double uniform(void) { return (double)draw(1u << 30) / (double)(1u << 30); }

/* ---- the scan ---------------------------------------------------------------------------------------------------- */

static double value_at(const floe_field *f, uint64_t i)
{
    switch (f->dtype) {
    case FLOE_F32: return (double)((const float *)f->data)[i];
    case FLOE_I32: return (double)((const int32_t *)f->data)[i];
    case FLOE_I64: return (double)((const int64_t *)f->data)[i];
    default: return ((const double *)f->data)[i];
    }
}
static uint64_t bits_at(const floe_field *f, uint64_t i)
{
    return f->dtype == FLOE_F32 || f->dtype == FLOE_I32 ? ((const uint32_t *)f->data)[i]
                                                        : ((const uint64_t *)f->data)[i];
}

static floe_range defined_range(const floe_field *f, uint64_t n, bool has_fill, uint64_t fill)
{
    floe_range r;
    floe_range_init(&r);
    for (uint64_t i = 0; i < n; i++) {
        double v = value_at(f, i);
        if (has_fill && bits_at(f, i) == fill) {
            r.nfill++;
        } else if (!isfinite(v)) {
            r.nnonfinite++;
        } else {
            r.min = r.nfinite && r.min <= v ? r.min : v;
            r.max = r.nfinite && r.max >= v ? r.max : v;
            r.nfinite++;
        }
    }
    r.min = r.min == 0 ? 0 : r.min;
    r.max = r.max == 0 ? 0 : r.max;
    return r;
}

static void assert_same_range(const floe_range *a, const floe_range *b)
{
    assert_int_equal(a->nfinite, b->nfinite);
    assert_int_equal(a->nfill, b->nfill);
    assert_int_equal(a->nnonfinite, b->nnonfinite);
    if (a->nfinite) {
        assert_int_equal(floe_bits_f64(a->min), floe_bits_f64(b->min));
        assert_int_equal(floe_bits_f64(a->max), floe_bits_f64(b->max));
    } else {
        assert_true(isnan(a->min) && isnan(b->min) && isnan(a->max) && isnan(b->max));
    }
}

static void assert_witnesses(const floe_range *r)
{
    assert_true(r->low == INFINITY || (r->low > r->min && r->low <= r->max));
    assert_true(r->high == -INFINITY || (r->high < r->max && r->high >= r->min));
}

/* One scan for each way that this machine can run it. */
static void assert_scans(const floe_field *field, uint64_t n, bool has_fill, uint64_t fill)
{
    floe_field f;
    assert_int_equal(floe_field_check(field, false, &f, NULL), FLOE_OK);
    floe_range want = defined_range(&f, n, has_fill, fill);
    for (int isa = FLOE_ISA_PLAIN; isa <= FLOE_ISA_AVX2; isa++)
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            floe_cpu cpu;
            if (floe_cpu_init(&cpu, threads, (floe_isa)isa, NULL) != FLOE_OK)
                continue;
            floe_range got;
            floe_range_init(&got);
            floe_range_scan(&cpu, &f, has_fill, fill, &got);
            assert_same_range(&got, &want);
            assert_witnesses(&got);
        }
}

static double hostile_value(floe_dtype dtype)
{
    static const double values[] = {NAN,   INFINITY, -INFINITY, 0.0,    -0.0,   5e-324,  -5e-324,
                                    1e-45, -1e-40,   1e308,     -1e308, 3.4e38, -3.4e38, -9999};
    double v = draw(2) ? values[draw(sizeof values / sizeof values[0])] : uniform() - 0.5;
    return dtype == FLOE_F32 ? (double)(float)v : v;
}

static void put(floe_field *f, uint64_t i, double v)
{
    if (f->dtype == FLOE_F32)
        ((float *)f->data)[i] = (float)v;
    else
        ((double *)f->data)[i] = v;
}

static void scan_equals_the_definition(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {0,   1,    2,    7,    8,    31,   32,    33,    63,    65,
                                       127, 1000, 1023, 1024, 1025, 5000, 65536, 70001, 200000};
    double *data = malloc(200000 * sizeof *data);
    for (int d = FLOE_F32; d <= FLOE_F64; d++)
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
            for (int kind = 0; kind < 4; kind++) {
                uint64_t n = lengths[k];
                floe_field f = floe_field_of(data, (floe_dtype)d, 1, &n);
                for (uint64_t i = 0; i < n; i++)
                    put(&f, i,
                        kind == 0   ? hostile_value((floe_dtype)d)
                        : kind == 1 ? uniform()
                        : kind == 2 ? (draw(2) ? 0.0 : -0.0)
                                    : NAN);
                if (n > 10)
                    put(&f, n - 1, kind == 3 ? 2.5 : -9999); /* in the very last lane */
                assert_scans(&f, n, false, 0);
                assert_scans(&f, n, true, floe_value_bits((floe_dtype)d, -9999));
                assert_scans(&f, n, true, floe_value_bits((floe_dtype)d, -0.0));
                assert_scans(&f, n, true, floe_value_bits((floe_dtype)d, NAN));
                assert_scans(&f, n, true, floe_value_bits((floe_dtype)d, INFINITY));
            }
    free(data);
}

static void scan_of_views_sees_only_the_view(void **state)
{
    (void)state;
    enum { N = 60 };
    float *whole = malloc(N * N * N * sizeof *whole), *part = malloc(N * N * N * sizeof *part);
    for (int trial = 0; trial < 60; trial++) {
        for (size_t i = 0; i < N * N * N; i++)
            whole[i] = draw(50) ? (float)uniform() : (float)hostile_value(FLOE_F32);
        floe_field f = floe_field_of(whole, FLOE_F32, 3, (const uint64_t[]){N, N, N}), c;
        assert_int_equal(floe_field_check(&f, false, &c, NULL), FLOE_OK);
        uint64_t lo[3], extent[3], n = 1;
        for (int i = 0; i < 3; i++) {
            lo[i] = draw(N);
            extent[i] = 1 + draw(N - lo[i]);
            n *= extent[i];
        }
        floe_field box = floe_field_box(&c, lo, extent);
        if (trial % 3 == 0) /* every other element, backwards */
            box = (floe_field){whole + N * N * N - 1, FLOE_F32, FLOE_HOST, 1, {n = N * N * N / 2}, {-2}};
        floe_field copy = floe_field_of(part, FLOE_F32, box.rank, box.shape), flat;
        assert_int_equal(floe_field_check(&copy, true, &flat, NULL), FLOE_OK);
        floe_field_copy(&box, &flat);
        floe_range want = defined_range(&flat, n, true, 0), got;
        floe_cpu cpu;
        assert_int_equal(floe_cpu_init(&cpu, 1 + (uint32_t)draw(3), FLOE_ISA_AUTO, NULL), FLOE_OK);
        floe_range_init(&got);
        floe_range_scan(&cpu, &box, true, 0, &got);
        assert_same_range(&got, &want);
    }
    free(whole);
    free(part);
}

static void merge_is_free_of_order(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        floe_range part[3], ab, ba;
        for (int k = 0; k < 3; k++) {
            floe_range_init(&part[k]);
            if (draw(3)) {
                double a = hostile_value(FLOE_F64), b = hostile_value(FLOE_F64);
                if (isfinite(a) && isfinite(b))
                    part[k].min = fmin(a, b), part[k].max = fmax(a, b), part[k].nfinite = 2;
            }
            part[k].nfill = draw(4);
            part[k].nnonfinite = draw(4);
        }
        floe_range_init(&ab);
        floe_range_init(&ba);
        for (int k = 0; k < 3; k++) {
            floe_range_merge(&ab, &part[k]);
            floe_range_merge(&ba, &part[2 - k]);
        }
        assert_same_range(&ab, &ba);
    }
}

/* ---- fill detection ---------------------------------------------------------------------------------------------- */

/* The whole procedure, as field.h describes it. passes counts the second scans. */
static bool detect(const floe_field *f, uint64_t *bits, int *passes)
{
    floe_cpu cpu;
    assert_int_equal(floe_cpu_init(&cpu, 2, FLOE_ISA_AUTO, NULL), FLOE_OK);
    floe_field c;
    assert_int_equal(floe_field_check(f, false, &c, NULL), FLOE_OK);
    floe_range all;
    floe_range_init(&all);
    floe_range_scan(&cpu, &c, false, 0, &all);
    uint64_t candidates[2];
    *passes = 0;
    const uint32_t n = floe_fill_candidates(&all, f->dtype, candidates);
    assert_true(n <= 2);
    for (uint32_t k = 0; k < n; k++) {
        floe_range rest;
        floe_range_init(&rest);
        floe_range_scan(&cpu, &c, true, candidates[k], &rest);
        ++*passes;
        *bits = candidates[k];
        if (floe_fill_holds(&rest, floe_value_of(f->dtype, candidates[k])))
            return true;
    }
    return false;
}

enum { NVALUES = 40000 };
static float f32[NVALUES];
static double f64[NVALUES];

/* Of the same values in both types. */
static void expect(uint64_t n, bool found, double fill, int max_passes)
{
    for (uint64_t i = 0; i < n; i++)
        f32[i] = (float)f64[i];
    floe_field fields[2] = {floe_field_of(f32, FLOE_F32, 1, &n), floe_field_of(f64, FLOE_F64, 1, &n)};
    for (int k = 0; k < 2; k++) {
        uint64_t bits = 0;
        int passes;
        assert_int_equal(detect(&fields[k], &bits, &passes), found);
        if (found)
            assert_int_equal(bits, floe_value_bits(fields[k].dtype, fill));
        assert_true(passes <= max_passes);
    }
}

static void smooth(uint64_t n, double lo, double hi)
{
    for (uint64_t i = 0; i < n; i++)
        f64[i] = lo + (hi - lo) * (0.5 + 0.5 * sin((double)i * 0.003) * cos((double)i * 0.0007));
}

static void finds_the_usual_fill_values(void **state)
{
    (void)state;
    static const double fills[] = {9.96920996838687e36, 1e20, -1e30, 3e38, -9999, -999, -32768, 9999, 99999};
    for (size_t k = 0; k < sizeof fills / sizeof fills[0]; k++)
        for (uint64_t every = 2; every < 20000; every = every * 7 + 1) {
            smooth(NVALUES, -2, 30);
            for (uint64_t i = 5; i < NVALUES; i += every)
                f64[i] = fills[k];
            f64[NVALUES / 2] = NAN; /* does not disturb */
            f64[NVALUES / 3] = INFINITY;
            expect(NVALUES, true, fills[k], 2);
        }
}

static void finds_a_large_share_of_an_unusual_value(void **state)
{
    (void)state;
    smooth(NVALUES, -2, 30);
    for (uint64_t i = 0; i < NVALUES; i++)
        if (draw(100) < 44)
            f64[i] = -1e10;
    expect(NVALUES, true, -1e10, 2);
    for (uint64_t i = 0; i < NVALUES; i++) /* land in one piece: whole blocks of fill */
        f64[i] = i < NVALUES / 2 ? -1e10 : 5 + uniform();
    expect(NVALUES, true, -1e10, 2);
}

static void finds_fill_around_a_constant(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < NVALUES; i++)
        f64[i] = i % 3 ? 7 : -9999;
    expect(NVALUES, true, -9999, 2);
    for (uint64_t i = 0; i < NVALUES; i++)
        f64[i] = i == 77 ? 0 : 1e20;
    expect(NVALUES, true, 1e20, 2);
    for (uint64_t i = 0; i < NVALUES; i++) /* two that could be: the larger magnitude */
        f64[i] = i % 3 ? -9999 : 1e20;
    expect(NVALUES, true, 1e20, 2);
}

static void reads_an_infinite_range(void **state)
{
    (void)state;
    uint64_t n = 100, bits;
    int passes;
    floe_field f = floe_field_of(f64, FLOE_F64, 1, &n);
    for (uint64_t i = 0; i < n; i++)
        f64[i] = i % 2 ? 1.7e308 : -1.7e308 + 1e300 * (double)i;
    assert_true(detect(&f, &bits, &passes)); /* max - min overflows, and it is a fill value none the less */
    assert_int_equal(bits, floe_bits_f64(1.7e308));
    for (uint64_t i = 0; i < n; i++)
        f64[i] = (2 * uniform() - 1) * 1.7e308;
    assert_false(detect(&f, &bits, &passes));
    for (uint64_t i = 0; i < n; i++)
        f64[i] = uniform() * 1e-320;
    f64[3] = f64[9] = 1.7e308;
    assert_true(detect(&f, &bits, &passes));
    assert_int_equal(bits, floe_bits_f64(1.7e308));
}

static void takes_no_data_for_fill(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < NVALUES; i++) /* log-normal, 0.0007 to 5600 */
        f64[i] = exp(-7.2 + 15.8 * pow(uniform(), 3));
    f64[1] = f64[2] = 5600;
    expect(NVALUES, false, 0, 2);
    for (uint64_t i = 0; i < NVALUES; i++) /* white noise: not even suspected */
        f64[i] = uniform();
    expect(NVALUES, false, 0, 0);
    for (uint64_t i = 0; i < NVALUES; i++) /* zeros with some fives */
        f64[i] = i % 10000 == 3 ? 5 : 0;
    expect(NVALUES, false, 0, 2);
    for (uint64_t i = 0; i < NVALUES; i++) /* a plateau with noise below */
        f64[i] = i > NVALUES / 2 ? 1 : uniform() * 0.002;
    expect(NVALUES, false, 0, 2);
    for (uint64_t i = 0; i < NVALUES; i++) /* a step */
        f64[i] = i > NVALUES / 2 ? 1e6 : -1e6;
    expect(NVALUES, false, 0, 2);
    for (uint64_t i = 0; i < NVALUES; i++) /* mostly zero, a plume */
        f64[i] = i % 100 ? 0 : 1e-3 * uniform();
    expect(NVALUES, false, 0, 2);
}

static void takes_no_outlier_for_fill(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < NVALUES; i++)
        f64[i] = 100 + 50 * uniform();
    f64[123] = 1e30; /* a single hot cell, even one of a usual value */
    expect(NVALUES, false, 0, 2);
    f64[123] = -9999;
    expect(NVALUES, false, 0, 2);
    f64[123] = f64[124] = f64[4000] = 65535; /* a saturated detector */
    expect(NVALUES, false, 0, 2);
    f64[123] = 65535, f64[124] = 70000, f64[4000] = -1e9;
    expect(NVALUES, false, 0, 2);
}

static void takes_no_constant_for_fill(void **state)
{
    (void)state;
    static const double values[] = {0, -9999, 1e20, NAN, INFINITY};
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++)
        for (uint64_t n = 0; n < 5; n++) {
            for (uint64_t i = 0; i < n; i++)
                f64[i] = values[k];
            expect(n, false, 0, 0);
        }
    f64[0] = 1, f64[1] = -9999;
    expect(2, false, 0, 0);
}

/* +0 and -0 are one value but two patterns: the zero that would be fill must not hide the other. */
static void zeros_of_both_signs_are_data(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < NVALUES; i++)
        f64[i] = i % 4 ? 1e6 + uniform() : i % 8 ? 0.0 : -0.0;
    expect(NVALUES, false, 0, 2);
}

/* The counts on either side of each limit of the rule. */
static void confirm_at_its_limits(void **state)
{
    (void)state;
    floe_range r;
    floe_range_init(&r);
    r.min = 0, r.max = 1, r.nfinite = 9900, r.nfill = 100;
    assert_true(floe_fill_holds(&r, 1001.5));
    assert_false(floe_fill_holds(&r, 1001));
    assert_false(floe_fill_holds(&r, -1000));
    assert_true(floe_fill_holds(&r, -1000.5));
    r.nfill = 99, r.nfinite = 9901;
    assert_false(floe_fill_holds(&r, 5000));
    r.nfill = 2;
    assert_true(floe_fill_holds(&r, -99));
    assert_true(floe_fill_holds(&r, 1e20));
    assert_false(floe_fill_holds(&r, nextafter(1e20, 0)));
    r.nfill = 1;
    assert_false(floe_fill_holds(&r, 1e20));
    r.nfill = 2, r.max = 10;
    assert_false(floe_fill_holds(&r, -99)); /* 9.9 times the range */
    r.max = 9.9;
    assert_false(floe_fill_holds(&r, -99));
    r.max = 9.8;
    assert_true(floe_fill_holds(&r, -99));
    r.nfinite = 0;
    assert_false(floe_fill_holds(&r, -99));
}

/* Integers of any size, of which a double may not hold all digits; all alike but one; and the ends of the types. */
static void scan_of_integers(void **state)
{
    static uint64_t bits[5000];
    (void)state;
    for (int round = 0; round < 300; round++) {
        const floe_dtype dtype = round & 1 ? FLOE_I64 : FLOE_I32;
        const uint64_t n = 1 + draw(5000), keep = draw(round & 1 ? 64 : 32), start = draw(4);
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t r = draw(1u << 31) << 33 ^ draw(1u << 31) << 16 ^ draw(1u << 31);
            const uint64_t end = start == 0 ? 0 : (uint64_t)1 << (dtype == FLOE_I64 ? 63 : 31);
            const uint64_t v = (start == 3 && i % 700) ? 5 : end - (start == 2) - (r >> 1 >> keep) % 1000;
            if (dtype == FLOE_I64)
                bits[i] = draw(3) ? v : r;
            else
                ((uint32_t *)bits)[i] = (uint32_t)(draw(3) ? v : r);
        }
        floe_field f = floe_field_of(bits, dtype, 1, &n);
        assert_scans(&f, n, false, 0);
        assert_scans(&f, n, true, bits_at(&f, n / 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_equals_the_definition),
        cmocka_unit_test(scan_of_views_sees_only_the_view),
        cmocka_unit_test(merge_is_free_of_order),
        cmocka_unit_test(finds_the_usual_fill_values),
        cmocka_unit_test(finds_a_large_share_of_an_unusual_value),
        cmocka_unit_test(finds_fill_around_a_constant),
        cmocka_unit_test(reads_an_infinite_range),
        cmocka_unit_test(takes_no_data_for_fill),
        cmocka_unit_test(takes_no_outlier_for_fill),
        cmocka_unit_test(takes_no_constant_for_fill),
        cmocka_unit_test(zeros_of_both_signs_are_data),
        cmocka_unit_test(confirm_at_its_limits),
        cmocka_unit_test(scan_of_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
