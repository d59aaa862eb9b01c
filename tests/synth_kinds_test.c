/* SPDX-License-Identifier: BSD-3-Clause */
/* Test fields: each kind is what docs/fields.md describes. */
#include "synth/synth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static uint64_t nelems_of(uint32_t rank, const uint64_t *shape)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < rank; a++)
        n *= shape[a];
    return n;
}

/* A whole field, to be freed. */
static void *field(const char *kind, floe_dtype dtype, uint32_t rank, const uint64_t *shape)
{
    uint64_t n = nelems_of(rank, shape);
    void *data = malloc(n * sizeof(double));
    assert_non_null(data);
    assert_int_equal(synth_fill(kind, dtype, rank, shape, 7, 0, n, data), FLOE_OK);
    return data;
}

static double *field_f64(const char *kind, uint32_t rank, const uint64_t *shape)
{
    return field(kind, FLOE_F64, rank, shape);
}

typedef struct stats {
    double min, max, mean, sd, zeros; /* zeros: the share of exact zeros */
} stats;

static stats stats_of(const double *x, uint64_t n)
{
    stats s = {x[0], x[0], 0, 0, 0};
    for (uint64_t i = 0; i < n; i++) {
        s.min = x[i] < s.min ? x[i] : s.min;
        s.max = x[i] > s.max ? x[i] : s.max;
        s.mean += x[i] / (double)n;
        s.zeros += (x[i] == 0) / (double)n;
    }
    for (uint64_t i = 0; i < n; i++)
        s.sd += (x[i] - s.mean) * (x[i] - s.mean) / (double)n;
    s.sd = sqrt(s.sd);
    return s;
}

/* The mean square of x(i + lag) - x(i) along rows. */
static double structure(const double *x, uint64_t nrows, uint64_t n, uint64_t lag)
{
    double sum = 0;
    for (uint64_t r = 0; r < nrows; r++) {
        for (uint64_t i = 0; i + lag < n; i++)
            sum += (x[r * n + i + lag] - x[r * n + i]) * (x[r * n + i + lag] - x[r * n + i]);
    }
    return sum / (double)(nrows * (n - lag));
}

/* A spectrum of k^-5/3 means that the structure function grows as lag^(2/3); near the grid the field is smooth, where
 * it grows as lag^2. */
static void turbulence_test(void **state)
{
    (void)state;
    const uint64_t shape[3] = {24, 64, 1024};
    uint64_t nrows = shape[0] * shape[1];
    double *x = field_f64("turbulence", 3, shape);
    double inertial = log2(structure(x, nrows, 1024, 128) / structure(x, nrows, 1024, 8)) / 4;
    double viscous = log2(structure(x, nrows, 1024, 2) / structure(x, nrows, 1024, 1));
    stats s = stats_of(x, nelems_of(3, shape));
    assert_true(inertial > 0.5 && inertial < 1.1);
    assert_true(viscous > 1.5 && viscous < 2);
    assert_true(s.sd > 0.6 && s.sd < 1.5 && s.zeros < 1e-4);
    free(x);
}

static void seismic_test(void **state)
{
    (void)state;
    const uint64_t shape[3] = {96, 96, 96};
    uint64_t n = nelems_of(3, shape);
    double *x = field_f64("seismic", 3, shape);
    stats s = stats_of(x, n);
    uint64_t quiet = 0;
    for (uint64_t i = 0; i < n; i++)
        quiet += fabs(x[i]) < 1e-3 * (s.max - s.min);
    assert_true(s.zeros > 0.25);
    assert_true((double)quiet > 0.5 * (double)n);
    assert_true(s.max > 50 && s.min < -20);
    free(x);
}

static void lognormal_test(void **state)
{
    (void)state;
    const uint64_t shape[3] = {64, 64, 64};
    double *x = field_f64("lognormal", 3, shape);
    stats s = stats_of(x, nelems_of(3, shape));
    assert_true(s.min > 0 && s.max / s.min > 1e6 && s.sd > 2 * s.mean);
    assert_true(structure(x, 4096, 64, 1) < 0.5 * s.sd * s.sd);
    free(x);
}

static void mixing_test(void **state)
{
    (void)state;
    const uint64_t shape[3] = {64, 48, 48};
    uint64_t n = nelems_of(3, shape);
    double *x = field_f64("mixing", 3, shape);
    uint64_t light = 0, heavy = 0;
    for (uint64_t i = 0; i < n; i++) {
        light += x[i] == 1;
        heavy += x[i] == 3;
        assert_true(x[i] >= 1 && x[i] <= 3);
    }
    assert_true((double)light > 0.2 * (double)n && (double)heavy > 0.2 * (double)n);
    assert_true(n - light - heavy > n / 20);
    free(x);
}

/* Within a level neighbours are close; from level to level they are strangers. */
static void weather_test(void **state)
{
    (void)state;
    const uint64_t shape[4] = {12, 3, 60, 70};
    for (uint32_t rank = 3; rank <= 4; rank++) {
        const uint64_t *from = shape + 4 - rank;
        uint64_t dims[4] = {12, from[1], from[2], rank == 4 ? from[3] : 0};
        double *x = field_f64("weather", rank, dims);
        uint64_t level = nelems_of(rank, dims) / 12;
        uint64_t nx = dims[rank - 1];
        double inside = structure(x, 12 * level / nx, nx, 1);
        double between = structure(x, 1, 12 * level, level);
        assert_true(between > 100 * inside);
        free(x);
    }
}

static void orbitals_test(void **state)
{
    (void)state;
    const uint64_t shape[3] = {72, 72, 72};
    uint64_t n = nelems_of(3, shape);
    double *x = field_f64("orbitals", 3, shape);
    stats s = stats_of(x, n);
    uint64_t quiet = 0, crossings = 0;
    for (uint64_t i = 1; i < n; i++) {
        quiet += fabs(x[i]) < 0.01 * s.max;
        crossings += (x[i] < 0) != (x[i - 1] < 0);
    }
    assert_true((double)quiet > 0.4 * (double)n);
    assert_true((double)crossings > 0.02 * (double)n);
    assert_true(s.min < -0.1 && s.max > 0.1);
    free(x);
}

static void particles_test(void **state)
{
    (void)state;
    const uint64_t shape[1] = {200000};
    double *x = field_f64("particles", 1, shape);
    stats s = stats_of(x, shape[0]);
    uint32_t histogram[2048] = {0};
    uint64_t ascents = 0, empty = 0, rich = 0;
    for (uint64_t i = 0; i < shape[0]; i++) {
        histogram[(int)(x[i] * 8)]++;
        ascents += i > 0 && x[i] > x[i - 1];
    }
    for (int b = 0; b < 2048; b++) {
        empty += histogram[b] == 0;
        rich += histogram[b] > 300;
    }
    assert_true(s.min >= 0 && s.max < 256);
    assert_true(ascents > 98000 && ascents < 102000); /* unsorted */
    assert_true(empty < 20 && rich > 5);              /* everywhere, and clustered */
    free(x);
}

static void terrain_test(void **state)
{
    (void)state;
    const uint64_t shape[2] = {300, 400};
    uint64_t n = nelems_of(2, shape);
    double *x = field_f64("terrain", 2, shape);
    stats s = stats_of(x, n);
    for (uint64_t i = 0; i < n; i++)
        assert_true(x[i] == floor(x[i]) && !signbit(x[i]));
    assert_true(s.zeros > 0.2 && s.zeros < 0.8 && s.max > 500 && s.max < 20000);
    free(x);
}

static void fill_test(void **state)
{
    (void)state;
    const uint64_t shape[3] = {6, 100, 120};
    const float expected = 9.96921e36f;
    uint64_t n = nelems_of(3, shape), level = n / 6;
    float *x = field("fill", FLOE_F32, 3, shape);
    uint64_t land[6] = {0};
    for (uint64_t i = 0; i < n; i++) {
        int is_land = x[i] > 1e30f;
        land[i / level] += (uint64_t)is_land;
        assert_true(is_land ? x[i] == 0x1.ep122f && fabsf(x[i] - expected) < 1e31f : x[i] > -20 && x[i] < 60);
        assert_true(i < level || !(x[i - level] > 1e30f) || is_land); /* land below land */
    }
    assert_true(land[0] > level / 20 && land[0] < level / 2);
    assert_true(land[5] > land[0] && land[5] < level);
    free(x);
}

static void decimals_test(void **state)
{
    (void)state;
    const uint64_t shape[2] = {70, 80};
    double *packed = field_f64("packed", 2, shape);
    double *constant = field_f64("constant", 2, shape);
    double *steps = field_f64("steps", 2, shape);
    uint64_t changes = 0;
    for (uint64_t i = 0; i < 5600; i++) {
        assert_true(packed[i] == nearbyint(packed[i] * 100) / 100 && packed[i] > 200 && packed[i] < 360);
        assert_true(constant[i] == constant[0]);
        assert_true(nearbyint(steps[i] / 1.1) * 1.1 == steps[i]);
        changes += i > 0 && steps[i] != steps[i - 1];
    }
    assert_true(stats_of(packed, 5600).sd > 5);
    assert_true(constant[0] >= 200 && constant[0] <= 300);
    assert_true(changes > 20 && changes < 5600 / 4);
    free(packed);
    free(constant);
    free(steps);
}

static void ramp_test(void **state)
{
    (void)state;
    const uint64_t shape[4] = {3, 4, 5, 600};
    double *x = field_f64("ramp", 4, shape);
    for (uint64_t i = 0; i < 36000; i++) {
        double at =
            (double)(i % 600) + (double)(i / 600 % 5) / 2 + (double)(i / 3000 % 4) / 4 + (double)(i / 12000) / 8;
        assert_true(x[i] - x[0] == at / 64);
    }
    free(x);
}

static void noise_test(void **state)
{
    (void)state;
    const uint64_t shape[1] = {100000};
    double *x = field_f64("noise", 1, shape);
    stats s = stats_of(x, shape[0]);
    assert_true(s.min >= -1 && s.min < -0.999 && s.max < 1 && s.max > 0.999);
    assert_true(fabs(s.mean) < 0.01 && fabs(s.sd - sqrt(1.0 / 3)) < 0.01);
    for (uint64_t lag = 1; lag < 20; lag++)
        assert_true(fabs(structure(x, 1, shape[0], lag) - 2.0 / 3) < 0.02);
    free(x);
}

static void spikes_test(void **state)
{
    (void)state;
    const uint64_t shape[2] = {400, 500};
    double *x = field_f64("spikes", 2, shape);
    uint64_t spikes = 0;
    for (uint64_t i = 0; i < 200000; i++)
        spikes += fabs(x[i]) >= 8;
    assert_true(spikes > 120 && spikes < 280);
    assert_true(stats_of(x, 200000).max > 1e5);
    free(x);
}

/* ---- hostile: every class is there ----------------------------------------------------------------------------- */

enum {
    Q_NAN,
    S_NAN,
    POS_INF,
    NEG_INF,
    POS_ZERO,
    NEG_ZERO,
    SUB,
    LEAST_SUB,
    LARGEST,
    LEAST_NORMAL,
    BIG,
    SMALL,
    PLAIN,
    NSEEN
};

static void class_count(uint64_t bits, uint32_t nmant, uint32_t nexp, uint64_t *seen)
{
    uint64_t max = (UINT64_C(1) << nexp) - 1, mask = (UINT64_C(1) << nmant) - 1;
    uint64_t mant = bits & mask, exponent = bits >> nmant & max, sign = bits >> (nmant + nexp);
    if (exponent == max && mant)
        seen[mant >> (nmant - 1) ? Q_NAN : S_NAN]++;
    else if (exponent == max)
        seen[sign ? NEG_INF : POS_INF]++;
    else if (exponent == 0)
        seen[mant ? SUB : sign ? NEG_ZERO : POS_ZERO]++;
    seen[LEAST_SUB] += exponent == 0 && mant == 1;
    seen[LARGEST] += exponent == max - 1 && mant == mask;
    seen[LEAST_NORMAL] += exponent == 1 && mant == 0;
    seen[BIG] += exponent < max && exponent > max - 6;
    seen[SMALL] += exponent > 0 && exponent < 6;
    seen[PLAIN] += exponent > max / 2 - 6 && exponent < max / 2 + 7;
}

static void hostile_test(void **state)
{
    (void)state;
    const uint64_t shape[1] = {30000};
    uint64_t *f64 = field("hostile", FLOE_F64, 1, shape);
    uint32_t *f32 = field("hostile", FLOE_F32, 1, shape);
    uint64_t seen32[NSEEN] = {0}, seen64[NSEEN] = {0};
    for (uint64_t i = 0; i < shape[0]; i++) {
        class_count(f32[i], 23, 8, seen32);
        class_count(f64[i], 52, 11, seen64);
    }
    for (int c = 0; c < NSEEN; c++)
        assert_true(seen32[c] > 20 && seen64[c] > 20);
    assert_true(seen32[PLAIN] > 6000 && seen64[PLAIN] > 6000);
    free(f64);
    free(f32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turbulence_test), cmocka_unit_test(seismic_test), cmocka_unit_test(lognormal_test),
        cmocka_unit_test(mixing_test),     cmocka_unit_test(weather_test), cmocka_unit_test(orbitals_test),
        cmocka_unit_test(particles_test),  cmocka_unit_test(terrain_test), cmocka_unit_test(fill_test),
        cmocka_unit_test(decimals_test),   cmocka_unit_test(ramp_test),    cmocka_unit_test(noise_test),
        cmocka_unit_test(spikes_test),     cmocka_unit_test(hostile_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
