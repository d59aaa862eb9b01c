/* SPDX-License-Identifier: BSD-3-Clause */
/* The stencil pass against its definition (stencil_test_kit.h), for every type, rank and instruction set, for values that
 * do not count, strided views and any number of threads. With --bench: how fast it is. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <time.h>

#include "assess/stencil/stencil_test_kit.h"

static double xs[KIT_MAX], ys[KIT_MAX];

static floe_stencil_result assess(const floe_pair *p, const floe_stencil_options *o, uint32_t threads, floe_isa isa)
{
    floe_cpu cpu;
    floe_stencil_result r;
    floe_error err = {.message = ""};
    assert_int_equal(floe_cpu_init(&cpu, threads, isa, NULL), FLOE_OK);
    const size_t nbytes = floe_stencil_workspace(&cpu, p);
    void *workspace = malloc(nbytes);
    memset(&r, 0, sizeof r);
    assert_int_equal(floe_stencil_assess(&cpu, p, o, workspace, nbytes, &r, &err), FLOE_OK);
    free(workspace);
    return r;
}

/* ---- comparing ----------------------------------------------------------------------------------------------------- */

/* Equal but for rounding, which is measured by scale. */
static void nearly(double got, long double want, long double scale, long double tolerance, const char *what)
{
    if (isnan(got) && isnan(want))
        return;
    if (!(fabsl(got - want) <= tolerance * scale + 1e-300L) && !(isinf(got) && (long double)got == want))
        fail_msg("%s: %.17g, should be %.17Lg", what, got, want);
}

static void near(double got, long double want, long double scale, const char *what)
{
    nearly(got, want, scale, 1e-12L, what);
}

/* Of a quantity's numbers: how the pass works on them, and the largest error, which is rounded to the type it works in. */
typedef struct kit_rule {
    bool single, alone;
    long double peak;
} kit_rule;

static kit_rule rule_of(const floe_pair *p, const floe_stencil_options *o)
{
    const bool single = p->dtype == FLOE_F32 && floe_stencil_single_scale(o->peak, o->error_peak) > 0;
    return (kit_rule){single, !p->decoded, o->error_peak};
}

static void compare_original(const floe_stencil_stats *s, int q, const kit_moments *m, uint64_t n, kit_rule rule)
{
    const long double scale = sqrtl(m->squares[0] / n) + fmaxl(fabsl(m->min[0]), fabsl(m->max[0]));
    const long double tolerance = rule.single ? 4e-7L : 1e-12L;
    const bool has_rms = q == FLOE_STENCIL_FIRST_LENGTH || q == FLOE_STENCIL_LAPLACIAN;
    nearly(s->original_min, n ? m->min[0] : NAN, scale, tolerance, "min");
    nearly(s->original_max, n ? m->max[0] : NAN, scale, tolerance, "max");
    nearly(s->original_rms, has_rms ? sqrtl(m->squares[0] / n) : NAN, scale, tolerance, "rms");
}

/* Differences of magnitudes have what rounding leaves of these; others what it leaves of the errors. */
static void compare_stats(const floe_stencil_stats *s, int q, const kit_moments *m, uint64_t n, kit_rule rule)
{
    compare_original(s, q, m, n, rule);
    if (rule.alone) {
        assert_true(isnan(s->rmse) && isnan(s->psnr) && isnan(s->max_error));
        return;
    }
    const bool is_magnitude = q >= FLOE_STENCIL_FIRST_SUM && q <= FLOE_STENCIL_SECOND_LENGTH;
    const long double rms = sqrtl(m->squares[0] / n), rmse = sqrtl(m->squares[2] / n);
    const long double tolerance = rule.single ? 4e-7L : 1e-12L;
    const long double scale =
        (is_magnitude ? m->max[0] : 0) + (rule.single ? rule.peak : 1e-3L * rms + 0.1L * rule.peak);
    nearly(s->max_error, n ? m->max_error : NAN, m->max_error + scale, tolerance, "max_error");
    nearly(s->rmse, rmse, rmse + (rule.single ? 0.02L + 1 / sqrtl(n) : 1) * scale, tolerance, "rmse");
    if (rmse > 1e-3L * scale && m->max[0] - m->min[0] > 1e-3L * rms) /* else it is one of rounding */
        nearly(s->psnr, 20 * log10l((m->max[0] - m->min[0]) / rmse), 100 * (1 + scale / rmse), tolerance, "psnr");
}

static void compare_derivatives(const floe_pair *p, const floe_stencil_result *r, const floe_stencil_options *o)
{
    const bool is_single = p->dtype == FLOE_F32 && floe_stencil_norm_scale(o->peak) > 0;
    kit_sums s;
    long double squares = 0;
    kit_derivatives(p, &s);
    assert_int_equal(r->npoints, s.npoints);
    assert_int_equal(r->nskipped, s.nskipped);
    assert_int_equal(r->nsobolev, s.nsobolev);
    for (int q = 0; q < FLOE_STENCIL_QUANTITIES; q++)
        if (q < FLOE_STENCIL_FIRST_SUM && p->shape[q % 4] < 3)
            assert_true(isnan(r->of[q].original_max) && isnan(r->of[q].rmse));
        else
            compare_stats(&r->of[q], q, &s.of[q], s.npoints, rule_of(p, o));
    for (int k = 0; k < 3; k++) {
        squares += s.sobolev[k];
        const long double norm = sqrtl(squares / s.nsobolev);
        nearly(r->sobolev[k], norm, norm, is_single ? 4e-7L : 1e-12L, "sobolev");
    }
}

static void compare_autocorr(const floe_pair *p, const floe_stencil_result *r, uint32_t lags)
{
    long double mean, variance;
    const bool any = kit_mean(p, &mean, &variance);
    if (!any || !(variance > 0)) {
        assert_true(isnan(r->combined[0]) && isnan(r->autocorr[3][0]));
        return;
    }
    const long double scale = 1 + 1e-2L * fabsl(mean) / sqrtl(variance); /* errors are rounded to doubles */
    near(r->variance, variance, variance * scale, "variance");
    for (uint32_t t = 1; t <= lags; t++) {
        for (int a = 0; a < 4; a++)
            near(r->autocorr[a][t - 1], kit_autocorr(p, a, t, mean, variance), scale, "autocorr");
        near(r->combined[t - 1], kit_autocorr(p, 4, t, mean, variance), scale, "combined");
    }
}

static void compare(const floe_pair *p, uint32_t lags)
{
    const floe_stencil_options o = kit_options(p, lags);
    const floe_stencil_result r = assess(p, &o, 2, FLOE_ISA_AUTO);
    compare_derivatives(p, &r, &o);
    compare_autocorr(p, &r, lags);
}

/* ---- by definition ------------------------------------------------------------------------------------------------- */

static const struct {
    uint32_t rank;
    uint64_t shape[4];
} shapes[] = {{1, {1}},         {1, {2}},          {1, {3}},          {1, {131}},        {1, {1000}},
              {2, {3, 3}},      {2, {2, 50}},      {2, {37, 1}},      {2, {45, 3}},      {2, {41, 261}},
              {3, {4, 5, 6}},   {3, {1, 17, 19}},  {3, {9, 1, 23}},   {3, {11, 2, 13}},  {3, {19, 18, 33}},
              {3, {3, 3, 300}}, {4, {3, 4, 5, 6}}, {4, {5, 1, 6, 7}}, {4, {2, 3, 5, 7}}, {4, {4, 8, 7, 9}}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void all_kinds_and_shapes(void **state)
{
    (void)state;
    for (int kind = 0; kind < KIT_KINDS; kind++)
        for (int d = FLOE_F32; d <= FLOE_F64; d++)
            for (int s = kind % FLOE_TEST_STRIDE; s < SHAPES; s += FLOE_TEST_STRIDE) {
                const floe_pair p = kit_pair((kit_kind)kind, (floe_dtype)d, shapes[s].rank, shapes[s].shape, xs, ys);
                compare(&p, s % 3 == 0 ? 10 : s % 3 == 1 ? 3 : 13);
            }
}

static void a_field_alone(void **state)
{
    (void)state;
    for (int kind = 0; kind < KIT_KINDS; kind++)
        for (int s = 0; s < SHAPES; s += 3) {
            floe_pair p = kit_pair((kit_kind)kind, FLOE_F32, shapes[s].rank, shapes[s].shape, xs, ys);
            p.decoded = NULL;
            if (kind != KIT_CONSTANT)
                compare(&p, 5);
        }
}

/* Where single is not requested: all digits of double, of f32 fields too. */
static void f32_in_double(void **state)
{
    (void)state;
    for (int kind = 0; kind < KIT_KINDS; kind++) {
        const floe_pair p = kit_pair((kit_kind)kind, FLOE_F32, shapes[14].rank, shapes[14].shape, xs, ys);
        floe_stencil_options o = kit_options(&p, 1);
        o.peak = o.error_peak = 0;
        const floe_stencil_result r = assess(&p, &o, 2, FLOE_ISA_AUTO);
        compare_derivatives(&p, &r, &o);
    }
}

static void when_single_will_do(void **state)
{
    (void)state;
    assert_true(floe_stencil_single_scale(0, 0) == 0 && floe_stencil_single_scale(NAN, 1) == 0);
    assert_true(floe_stencil_single_scale(1, 0) == 1);
    assert_true(floe_stencil_single_scale(1, 0x1p-17) == 1 && floe_stencil_single_scale(1, 0x1.ffffp-18) == 0);
    assert_true(floe_stencil_single_scale(0x1p-11, 0x1p-12) == 1);
    assert_true(floe_stencil_single_scale(0x1.ffffp-12, 0x1p-12) == 0x1p71);
    assert_true(floe_stencil_single_scale(0x1.ffffp59, 0x1p50) == 1);
    assert_true(floe_stencil_single_scale(0x1p60, 0x1p50) == 0x1p-1);
    assert_true(floe_stencil_single_scale(0x1.fffffep127, 0x1p120) == 0x1p-68);
    assert_true(floe_stencil_single_scale(0x1p-126, 0) == 0x1p127 && floe_stencil_single_scale(0x1p-127, 0) == 0);
}

/* Values in any unit, about as large as f32 holds and about as small, and errors that are tight. */
static void of_any_size(void **state)
{
    (void)state;
    static const uint64_t shape[] = {6, 9, 35};
    for (int u = 0; u < KIT_UNITS; u++)
        for (int tight = 0; tight < 2; tight++) {
            const floe_pair p = kit_pair_in_unit(kit_units[u], tight, shape, xs, ys);
            const floe_stencil_options o = kit_options(&p, 1);
            const floe_stencil_result r = assess(&p, &o, 2, FLOE_ISA_AUTO);
            assert_true((floe_stencil_single_scale(o.peak, o.error_peak) == 0) == tight);
            compare_derivatives(&p, &r, &o);
        }
}

/* Tiles of several pieces along every axis: their borders must not show. */
static void larger_than_a_tile(void **state)
{
    (void)state;
    static const struct {
        uint32_t rank;
        uint64_t shape[4];
    } large[] = {{1, {65600}}, {2, {3, 700}}, {2, {300, 7}}, {3, {20, 19, 150}}, {4, {9, 8, 7, 120}}};
    for (size_t s = 0; s < sizeof large / sizeof large[0]; s++)
        for (int kind = KIT_NOISE; kind <= KIT_SPECIAL; kind += KIT_SPECIAL - KIT_NOISE) {
            uint64_t n = 1;
            for (uint32_t i = 0; i < large[s].rank; i++)
                n *= large[s].shape[i];
            double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
            const floe_pair p = kit_pair((kit_kind)kind, FLOE_F32, large[s].rank, large[s].shape, x, y);
            compare(&p, 11);
            free(x);
            free(y);
        }
}

static void most_lags(void **state)
{
    (void)state;
    static const uint64_t line = 200, plane[] = {70, 66}, deep[] = {80, 1, 3};
    floe_pair p = kit_pair(KIT_SMOOTH, FLOE_F64, 1, &line, xs, ys);
    compare(&p, FLOE_STENCIL_MAX_LAGS);
    p = kit_pair(KIT_NOISE, FLOE_F32, 2, plane, xs, ys);
    compare(&p, FLOE_STENCIL_MAX_LAGS);
    p = kit_pair(KIT_SPECIAL, FLOE_F32, 3, deep, xs, ys);
    compare(&p, FLOE_STENCIL_MAX_LAGS);
}

/* Boxes of larger arrays, each side with its own strides; axes in any order, some turned. */
static void strided_views(void **state)
{
    (void)state;
    enum { N = 15 }; /* N^4 < KIT_MAX */
    for (int trial = 0; trial < 60; trial++) {
        const floe_dtype dtype = trial % 2 ? FLOE_F32 : FLOE_F64;
        floe_pair p = {.dtype = dtype, .rank = 4, .has_fill = 1};
        void *memory[2] = {xs, ys};
        p.fill_bits = dtype == FLOE_F32 ? floe_bits_f32((float)kit_fill) : floe_bits_f64(kit_fill);
        for (int64_t i = 0; i < N * N * N * N; i++) {
            double x, y;
            kit_values(trial % 3 ? KIT_NOISE : KIT_SPECIAL, (uint64_t)i, &x, &y);
            kit_put(dtype, xs, i, x);
            kit_put(dtype, ys, i, y);
        }
        for (int a = 0; a < 4; a++)
            p.shape[a] = 1 + kit_draw(7);
        for (int side = 0; side < 2; side++) {
            int64_t strides[] = {N * N * N, N * N, N, 1}, origin = 0;
            int64_t *stride = side ? p.decoded_stride : p.original_stride;
            for (int a = 0; a < 4; a++) {
                const uint64_t swap = (uint64_t)a + kit_draw(4 - (uint64_t)a);
                const int64_t step = 1 + (int64_t)kit_draw(2), s = strides[swap] * step;
                strides[swap] = strides[a];
                const bool turned = kit_draw(2);
                origin += turned ? (int64_t)(p.shape[a] - 1) * s : 0;
                stride[a] = turned ? -s : s;
            }
            const void *data = (const uint8_t *)memory[side] + origin * (dtype == FLOE_F32 ? 4 : 8);
            *(side ? &p.decoded : &p.original) = data;
        }
        compare(&p, 4);
    }
}

/* ---- by hand ------------------------------------------------------------------------------------------------------- */

/* f = 3 z + 2 y^2 + x y: derivatives in closed form. */
static void formulas_of_the_paper(void **state)
{
    (void)state;
    enum { N = 3 };
    float x[N * N * N], y[N * N * N];
    floe_pair p = {.original = x,
                   .decoded = y,
                   .dtype = FLOE_F32,
                   .rank = 3,
                   .shape = {1, N, N, N},
                   .original_stride = {0, N * N, N, 1},
                   .decoded_stride = {0, N * N, N, 1}};
    for (int i = 0; i < N * N * N; i++) {
        const int a = i / 9, b = i / 3 % 3, c = i % 3;
        x[i] = (float)(3 * a + 2 * b * b + c * b);
        y[i] = i == 13 ? x[i] + 1 : x[i];
    }
    const floe_stencil_options o = {.derivatives = true, .sobolev = true};
    const floe_stencil_result r = assess(&p, &o, 1, FLOE_ISA_AUTO);
    assert_int_equal(r.npoints, 1);
    assert_true(r.of[FLOE_STENCIL_FIRST + 1].original_max == 3);
    assert_true(r.of[FLOE_STENCIL_FIRST + 2].original_max == 4 + 1);
    assert_true(r.of[FLOE_STENCIL_FIRST + 3].original_max == 1);
    assert_true(r.of[FLOE_STENCIL_SECOND + 2].original_max == 4);
    assert_true(r.of[FLOE_STENCIL_FIRST_SUM].original_max == 2 * (3 + 5 + 1)); /* Eq. 1 */
    assert_true(r.of[FLOE_STENCIL_FIRST_LENGTH].original_max == sqrt(9 + 25 + 1));
    assert_true(r.of[FLOE_STENCIL_DIVERGENCE].original_max == 9);
    assert_true(r.of[FLOE_STENCIL_LAPLACIAN].original_max == 4);
    assert_true(r.of[FLOE_STENCIL_LAPLACIAN].original_rms == 4);
    assert_true(r.of[FLOE_STENCIL_LAPLACIAN].max_error == 6);
    assert_true(r.of[FLOE_STENCIL_SECOND_SUM].max_error == 2 + 2 + 2 - 4);
    assert_true(r.of[FLOE_STENCIL_DIVERGENCE].rmse == 0);
    assert_true(r.sobolev[0] == 6); /* 3 + 2 + 1 */
    assert_true(r.sobolev[1] == sqrt(36 + 35));
    assert_true(r.sobolev[2] == sqrt(36 + 35 + 16 + 1)); /* d^2 f / dy dx = 1 */
}

/* Eq. 2 for a checkerboard of +1 and -1: -1 at odd lags, 1 at even ones. */
static void correlation_of_a_checkerboard(void **state)
{
    (void)state;
    const uint64_t shape[] = {8, 10, 12};
    floe_pair p = kit_pair(KIT_CONSTANT, FLOE_F32, 3, shape, xs, ys);
    for (int64_t i = 0; i < 8 * 10 * 12; i++)
        kit_put(FLOE_F32, ys, i, kit_get(FLOE_F32, xs, i) + ((i / 120 + i / 12 % 10 + i % 12) % 2 ? 1 : -1));
    const floe_stencil_options o = {.lags = 9, .all_count = true};
    const floe_stencil_result r = assess(&p, &o, 1, FLOE_ISA_AUTO);
    for (int t = 1; t <= 9; t++) {
        const double want = t % 2 ? -1 : 1;
        assert_true(r.autocorr[3][t - 1] == want);
        assert_true(r.autocorr[2][t - 1] == want);
        assert_true(t < 8 ? r.autocorr[1][t - 1] == want : isnan(r.autocorr[1][t - 1]));
        assert_true(t < 8 ? r.combined[t - 1] == want : isnan(r.combined[t - 1]));
        assert_true(isnan(r.autocorr[0][t - 1]));
    }
    assert_true(isnan(r.of[FLOE_STENCIL_LAPLACIAN].rmse) && isnan(r.sobolev[0]));
}

/* ---- the same bits ------------------------------------------------------------------------------------------------- */

static void same_bits_on_any_threads(void **state)
{
    (void)state;
    static const uint64_t shape[] = {21, 33, 90};
    for (int i = 0; i < 2 * KIT_KINDS; i += FLOE_TEST_STRIDE) {
        const int kind = i / 2;
        const floe_pair p = kit_pair((kit_kind)kind, i % 2 ? FLOE_F64 : FLOE_F32, 3, shape, xs, ys);
        floe_stencil_options o = kit_options(&p, 10);
        const floe_stencil_result want = assess(&p, &o, 1, FLOE_ISA_PLAIN);
        for (uint32_t threads = 1; threads < 8; threads += 1 + 4 * (threads == 2)) {
            const floe_stencil_result got = assess(&p, &o, threads, FLOE_ISA_AUTO);
            assert_memory_equal(&got, &want, sizeof got);
        }
        if (kind < KIT_SPECIAL) {
            o.all_count = true;
            const floe_stencil_result got = assess(&p, &o, 2, FLOE_ISA_AUTO);
            assert_memory_equal(&got, &want, sizeof got);
        }
    }
}

/* ---- the rest of the contract -------------------------------------------------------------------------------------- */

static void derivatives_as_fields(void **state)
{
    (void)state;
    static const uint64_t shape[] = {5, 6, 140};
    enum { N = 5 * 6 * 140 };
    double f[N], g[N];
    floe_cpu cpu;
    assert_int_equal(floe_cpu_init(&cpu, 2, FLOE_ISA_AUTO, NULL), FLOE_OK);
    const floe_pair p = kit_pair(KIT_SPECIAL, FLOE_F32, 3, shape, xs, ys);
    const size_t nbytes = floe_stencil_workspace(&cpu, &p);
    void *workspace = malloc(nbytes);
    for (int k = 4; k < FLOE_STENCIL_QUANTITIES; k++) {
        int64_t at[4] = {0}, i = 0;
        uint64_t ndefined = 0;
        if (k == FLOE_STENCIL_SECOND)
            continue;
        assert_int_equal(floe_stencil_write(&cpu, &p, (floe_stencil_quantity)k, f, g, workspace, nbytes, NULL),
                         FLOE_OK);
        do {
            long double q[FLOE_STENCIL_QUANTITIES][2];
            if (kit_inside(&p, at) && kit_point(&p, at, q)) {
                near(f[i], q[k][0], 4, "original");
                near(g[i], q[k][1], 4, "decoded");
                ndefined++;
            } else {
                assert_true(isnan(f[i]) && isnan(g[i]));
            }
            i++;
        } while (kit_next(&p, at));
        assert_true(ndefined > 1000);
    }
    assert_int_equal(floe_stencil_write(&cpu, &p, FLOE_STENCIL_LAPLACIAN, NULL, f, workspace, nbytes, NULL), FLOE_OK);
    assert_memory_equal(f, g, sizeof f);
    free(workspace);
}

static void what_is_refused(void **state)
{
    (void)state;
    static const uint64_t shape[] = {5, 6};
    floe_cpu cpu;
    floe_stencil_result r;
    floe_error err = {.message = ""};
    assert_int_equal(floe_cpu_init(&cpu, 1, FLOE_ISA_AUTO, NULL), FLOE_OK);
    const floe_pair p = kit_pair(KIT_NOISE, FLOE_F32, 2, shape, xs, ys);
    const size_t nbytes = floe_stencil_workspace(&cpu, &p);
    void *workspace = malloc(nbytes);
    floe_stencil_options o = {.lags = FLOE_STENCIL_MAX_LAGS};
    assert_int_equal(floe_stencil_assess(&cpu, &p, &o, workspace, nbytes, &r, &err), FLOE_OK);
    assert_int_equal(floe_stencil_assess(&cpu, &p, &o, workspace, nbytes - 1, &r, &err), FLOE_ERR_MEMORY);
    assert_int_equal(floe_stencil_assess(&cpu, &p, &o, NULL, 0, &r, &err), FLOE_ERR_MEMORY);
    o.mean = NAN;
    assert_int_equal(floe_stencil_assess(&cpu, &p, &o, workspace, nbytes, &r, &err), FLOE_ERR_ARGUMENT);
    o = (floe_stencil_options){.lags = FLOE_STENCIL_MAX_LAGS + 1};
    assert_int_equal(floe_stencil_assess(&cpu, &p, &o, workspace, nbytes, &r, &err), FLOE_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "65"));
    free(workspace);
}

/* ---- bench --------------------------------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void bench_one(const floe_pair *p, floe_stencil_options o, uint32_t threads, const char *what)
{
    const double n = (double)(p->shape[1] * p->shape[2] * p->shape[3]);
    double best = 1e9;
    for (int run = 0; run < 3; run++) {
        const double begin = seconds();
        assess(p, &o, threads, FLOE_ISA_AUTO);
        best = fmin(best, seconds() - begin);
    }
    printf("%-24s threads %u: %8.2f ms %8.1f Mpoints/s\n", what, threads, best * 1e3, n / best / 1e6);
}

static void bench(void)
{
    static const uint64_t shape[] = {256, 256, 256};
    const size_t n = 256 * 256 * 256;
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    const floe_pair p = kit_pair(KIT_SMOOTH, FLOE_F32, 3, shape, x, y);
    for (uint32_t threads = 1; threads < 3; threads++) {
        bench_one(&p, (floe_stencil_options){.derivatives = true, .peak = 1, .error_peak = 1, .all_count = true},
                  threads, "derivatives");
        bench_one(&p, (floe_stencil_options){.lags = 10, .all_count = true}, threads, "10 lags");
        bench_one(
            &p, (floe_stencil_options){.derivatives = true, .lags = 10, .all_count = true, .peak = 1, .error_peak = 1},
            threads, "both");
        bench_one(&p, (floe_stencil_options){.derivatives = true, .lags = 10, .peak = 1, .error_peak = 1}, threads,
                  "both, every pair judged");
        bench_one(&p, (floe_stencil_options){.sobolev = true, .all_count = true, .peak = 1}, threads, "Sobolev norms");
    }
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_and_shapes),
        cmocka_unit_test(a_field_alone),
        cmocka_unit_test(f32_in_double),
        cmocka_unit_test(when_single_will_do),
        cmocka_unit_test(of_any_size),
        cmocka_unit_test(larger_than_a_tile),
        cmocka_unit_test(most_lags),
        cmocka_unit_test(strided_views),
        cmocka_unit_test(formulas_of_the_paper),
        cmocka_unit_test(correlation_of_a_checkerboard),
        cmocka_unit_test(same_bits_on_any_threads),
        cmocka_unit_test(derivatives_as_fields),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
