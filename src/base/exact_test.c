/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact comparisons against whole-number arithmetic that is wide enough, and decibels against libm. */
#include "base/exact_math.h"

#include <float.h>

#include "base/decibel.h"
#include "tests/api_kit.h"

/* Doubles m 2^e with small m and e, so that all sides are whole numbers of 128 bits in units of 2^-60. */
static double small_double(uint64_t *seed, int bits)
{
    int64_t m = (int64_t)(kit_random(seed) % (1u << bits)) - (1 << (bits - 1));
    return ldexp((double)m, -(int)(kit_random(seed) % 12));
}

static __int128 units(double v, int shift) { return (__int128)ldexp(v, shift); }

static __int128 size_of(__int128 v) { return v < 0 ? -v : v; }

static void within_abs(void **state)
{
    (void)state;
    uint64_t seed = 1;
    int ties = 0;
    for (int i = 0; i < 200000; i++) {
        double x = small_double(&seed, 10), y = small_double(&seed, 10), bound = fabs(small_double(&seed, 8));
        __int128 gap = size_of(units(x, 20) - units(y, 20));
        assert_int_equal(floe_exact_within_abs(x, y, bound), gap <= units(bound, 20));
        ties += gap == units(bound, 20);
    }
    assert_true(ties > 20);
}

/* The rounded difference is the bound itself; only what was rounded off decides. */
static void within_abs_by_a_hair(void **state)
{
    (void)state;
    const double tiny = 0x1p-80;
    assert_true(floe_exact_within_abs(1, 0, 1));
    assert_false(floe_exact_within_abs(1, -tiny, 1));
    assert_true(floe_exact_within_abs(1, tiny, 1));
    assert_false(floe_exact_within_abs(-tiny, 1, 1));
    assert_true(floe_exact_within_abs(tiny, 1, 1));
    assert_false(floe_exact_within_abs(-1, tiny, 1));
    assert_false(floe_exact_within_abs(DBL_MAX, -DBL_MAX, DBL_MAX));
    assert_true(floe_exact_within_abs(DBL_MAX, 0, DBL_MAX));
    assert_false(floe_exact_within_abs(DBL_MAX, -DBL_TRUE_MIN, DBL_MAX));
    assert_true(floe_exact_within_abs(DBL_MAX, DBL_TRUE_MIN, DBL_MAX));
    assert_true(floe_exact_within_abs(DBL_TRUE_MIN, 0, DBL_TRUE_MIN));
    assert_false(floe_exact_within_abs(DBL_TRUE_MIN, -DBL_TRUE_MIN, DBL_TRUE_MIN));
    assert_true(floe_exact_within_abs(0, 0, 0));
    assert_false(floe_exact_within_abs(0, DBL_TRUE_MIN, 0));
}

static void within_pwrel(void **state)
{
    (void)state;
    uint64_t seed = 2;
    const int scales[] = {0, 0, 900, -1000, -1040};
    for (int i = 0; i < 200000; i++) {
        double x = small_double(&seed, 10), y = small_double(&seed, 10), bound = fabs(small_double(&seed, 8)) / 256;
        int scale = scales[i % 5];
        bool want =
            size_of(units(x, 20) - units(y, 20)) * ((__int128)1 << 20) <= units(bound, 20) * size_of(units(x, 20));
        if (bound < 1)
            assert_int_equal(floe_exact_within_pwrel(ldexp(x, scale), ldexp(y, scale), bound), want);
    }
}

static void within_pwrel_by_a_hair(void **state)
{
    (void)state;
    double x = 1 + 0x1p-52, bound = 0.5 + 0x1p-53; /* bound x = 0.5 + 2^-52 + 2^-105 + ... */
    double p = bound * x;
    assert_true(floe_exact_within_pwrel(x, x - p, bound) == (fma(bound, x, -p) >= 0));
    assert_true(floe_exact_within_pwrel(0, -0.0, 0.5));
    assert_false(floe_exact_within_pwrel(0, DBL_TRUE_MIN, 0.5));
    assert_false(floe_exact_within_pwrel(DBL_TRUE_MIN, 0, 0.999));
    assert_false(floe_exact_within_pwrel(DBL_TRUE_MIN, DBL_MAX, 0.999));
    assert_true(floe_exact_within_pwrel(2 * DBL_TRUE_MIN, DBL_TRUE_MIN, 0.5));
    assert_false(floe_exact_within_pwrel(2 * DBL_TRUE_MIN, DBL_TRUE_MIN, 0.49999));
    assert_true(floe_exact_within_pwrel(1, 1, 1e-320));
    assert_false(floe_exact_within_pwrel(1, 1 + DBL_EPSILON, 1e-320));
    assert_false(floe_exact_within_pwrel(1e-300, 0, 1e-300));
    assert_true(floe_exact_within_pwrel(DBL_MAX, DBL_MAX / 2, 0.5));
    assert_false(floe_exact_within_pwrel(DBL_MAX, -DBL_MAX, 0.999));
}

/* Never above factor * (max - min), and not far below. */
static void bound_of_range(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 100000; i++) {
        double a = ldexp(kit_uniform(&seed) - 0.5, (int)(kit_random(&seed) % 80) - 40);
        double b = ldexp(kit_uniform(&seed) - 0.5, (int)(kit_random(&seed) % 80) - 40);
        double min = fmin(a, b), max = fmax(a, b), factor = kit_uniform(&seed) + 1e-9;
        double got = floe_exact_bound_of_range(factor, min, max), width = floe_exact_range_width(min, max);
        assert_true(width <= (long double)max - min);
        assert_true(fma(factor, width, -got) >= 0);
        assert_true(got >= factor * (max - min) * (1 - 1e-15));
    }
    assert_true(floe_exact_bound_of_range(1, -DBL_MAX, DBL_MAX) == DBL_MAX);
    double half = floe_exact_bound_of_range(0.25, -DBL_MAX, DBL_MAX);
    assert_true(half <= DBL_MAX / 2 && half > DBL_MAX / 2 * (1 - 1e-15));
    assert_true(floe_exact_bound_of_range(1e300, 0, 1e300) == DBL_MAX);
    assert_true(floe_exact_bound_of_range(0.5, 0, DBL_TRUE_MIN) == 0);
    assert_true(floe_exact_bound_of_range(1e-200, 0, 1e-200) == 0);
    assert_true(floe_exact_bound_of_range(1, 1, 1) == 0);
    assert_true(floe_exact_range_width(1, 0x1p80) <= 0x1p80 &&
                floe_exact_range_width(1, 0x1p80) >= 0x1p80 * (1 - 1e-15));
    assert_true(floe_exact_range_width(1, 0x1p80) < 0x1p80); /* 2^80 - 1 rounds up */
}

static void decibels(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int i = 0; i < 20000; i++) {
        double db = (kit_uniform(&seed) - 0.5) * 600, amplitude = floe_amplitude_of_decibel(db);
        assert_true(fabs(amplitude / pow(10, db / 20) - 1) < 1e-12);
        assert_true(fabs(floe_decibel_of_amplitude(amplitude) - db) < 1e-10);
    }
    assert_true(floe_decibel_of_amplitude(1) == 0);
    assert_true(fabs(floe_decibel_of_amplitude(DBL_TRUE_MIN) - 20 * log10(DBL_TRUE_MIN)) < 1e-9);
    assert_true(fabs(floe_decibel_of_amplitude(DBL_MAX) - 20 * log10(DBL_MAX)) < 1e-9);
    assert_true(floe_amplitude_of_decibel(-1e300) == 0 && isinf(floe_amplitude_of_decibel(1e300)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_abs),     cmocka_unit_test(within_abs_by_a_hair),
        cmocka_unit_test(within_pwrel),   cmocka_unit_test(within_pwrel_by_a_hair),
        cmocka_unit_test(bound_of_range), cmocka_unit_test(decibels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
