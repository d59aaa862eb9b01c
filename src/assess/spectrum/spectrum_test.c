/* SPDX-License-Identifier: BSD-3-Clause */
/* Spectra against the definition of the Fourier transform, for all ranks and odd shapes; waves and noise whose spectra are
 * known; gaps, strides, threads. With --bench: how fast it is. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "assess/spectrum/spectrum.h"
#include "assess/spectrum/spectrum_math.h"

static uint64_t seed = 23;
static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 34) / (double)(1u << 30);
}

static const double PI = 3.14159265358979323846;
enum { MOST = 1 << 14 };
static double xs[MOST], ys[MOST];

static floe_pair pair_of(uint32_t rank, const uint64_t *shape, const double *x, const double *y)
{
    floe_pair p = {.original = x, .decoded = y, .dtype = FLOE_F64, .rank = rank};
    int64_t step = 1;
    for (uint32_t a = 4; a-- > 0;) {
        const bool own = a >= 4 - rank;
        p.shape[a] = own ? shape[a - (4 - rank)] : 1;
        p.original_stride[a] = p.decoded_stride[a] = own ? step : 0;
        step *= (int64_t)p.shape[a];
    }
    return p;
}

static uint64_t size_of(const floe_pair *p) { return p->shape[0] * p->shape[1] * p->shape[2] * p->shape[3]; }

/* A run, whose results stay until the next. */
static floe_status run(const floe_pair *p, const floe_spectrum_options *o, uint32_t threads, floe_spectrum_result *r)
{
    static void *workspace;
    floe_cpu cpu;
    floe_spectrum s;
    floe_arena plan = floe_arena_plan(), arena;
    floe_error err = {.message = ""};
    free(workspace);
    assert_int_equal(floe_cpu_init(&cpu, threads, FLOE_ISA_AUTO, NULL), FLOE_OK);
    floe_spectrum_init(&s, &cpu, p);
    floe_spectrum_take(&s, &plan);
    workspace = aligned_alloc(FLOE_ARENA_ALIGN, plan.used);
    arena = floe_arena_of(workspace, plan.used);
    floe_spectrum_take(&s, &arena);
    assert_false(arena.overflow);
    const floe_status status = floe_spectrum_run(&s, o, r, &err);
    assert_true(status == FLOE_OK || err.message[0]);
    return status;
}

static double mean_of(const double *v, uint64_t n)
{
    double sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += v[i];
    return sum / (double)n;
}

static floe_spectrum_options options_for(const floe_pair *p, floe_spectrum_window window)
{
    return (floe_spectrum_options){window, {mean_of(p->original, size_of(p)), mean_of(p->decoded, size_of(p))}};
}

static void near(double got, double want, double scale, const char *what)
{
    if (isnan(got) && isnan(want))
        return;
    if (!(fabs(got - want) <= 1e-12 * scale))
        fail_msg("%s: %.17g, should be %.17g", what, got, want);
}

/* ---- by definition ------------------------------------------------------------------------------------------------- */

static void place_of(const floe_pair *p, uint64_t i, uint64_t at[4])
{
    for (int a = 3; a >= 0; i /= p->shape[a], a--)
        at[a] = i % p->shape[a];
}

static double window_at(const floe_pair *p, floe_spectrum_window window, const uint64_t at[4])
{
    double w = 1;
    for (int a = 0; a < 4 && window == FLOE_SPECTRUM_HANN; a++)
        if (p->shape[a] > 1)
            w *= 0.5 - 0.5 * cos(2 * PI * (double)at[a] / (double)p->shape[a]);
    return w;
}

/* Power of mode m of one side. */
static double mode_power(const floe_pair *p, const double *v, double mean, floe_spectrum_window window,
                         const uint64_t m[4])
{
    double re = 0, im = 0, squares = 0;
    for (uint64_t i = 0; i < size_of(p); i++) {
        uint64_t at[4];
        double angle = 0;
        place_of(p, i, at);
        for (int a = 0; a < 4; a++)
            angle += (double)(m[a] * at[a] % p->shape[a]) / (double)p->shape[a];
        const double w = window_at(p, window, at);
        re += w * (v[i] - mean) * cos(2 * PI * angle);
        im -= w * (v[i] - mean) * sin(2 * PI * angle);
        squares += w * w;
    }
    return (re * re + im * im) / squares;
}

static void compare(const floe_pair *p, floe_spectrum_window window)
{
    double power[2][64] = {{0}};
    uint64_t nmodes[64] = {0}, longest = 1;
    const floe_spectrum_options o = options_for(p, window);
    floe_spectrum_result r;
    for (int a = 0; a < 4; a++)
        longest = p->shape[a] > longest ? p->shape[a] : longest;
    for (uint64_t i = 0; i < size_of(p); i++) {
        uint64_t m[4];
        double squares = 0;
        place_of(p, i, m);
        for (int a = 0; a < 4; a++) {
            const double half = (double)p->shape[a] / 2,
                         k = (double)m[a] > half ? (double)m[a] - 2 * half : (double)m[a];
            squares += k / (double)p->shape[a] * (k / (double)p->shape[a]);
        }
        const uint64_t shell = (uint64_t)floor(sqrt(squares) * (double)longest + 0.5);
        if (shell > longest / 2)
            continue;
        power[0][shell] += mode_power(p, p->original, o.mean[0], window, m);
        power[1][shell] += mode_power(p, p->decoded, o.mean[1], window, m);
        nmodes[shell]++;
    }
    assert_int_equal(run(p, &o, 2, &r), FLOE_OK);
    assert_int_equal(r.nshells, longest / 2 + 1);
    assert_int_equal(r.nfilled, 0);
    for (uint32_t k = 0; k < r.nshells; k++) {
        assert_int_equal(r.nmodes[k], nmodes[k]);
        near(r.frequency[k], (double)k / (double)longest, 1, "frequency");
        for (int side = 0; side < 2; side++)
            near(r.power[side][k], nmodes[k] ? power[side][k] / (double)nmodes[k] : NAN, 10, "power");
        if (power[0][k] > 1e-9)
            near(r.ratio[k], power[1][k] / power[0][k], 100 * (1 + power[1][k]) / power[0][k], "ratio");
    }
}

static void all_shapes(void **state)
{
    (void)state;
    static const struct {
        uint32_t rank;
        uint64_t shape[4];
    } shapes[] = {{1, {1}},       {1, {2}},       {1, {17}},       {1, {100}},        {2, {8, 8}},      {2, {5, 18}},
                  {2, {21, 1}},   {2, {1, 20}},   {2, {3, 35}},    {3, {6, 7, 8}},    {3, {1, 9, 10}},  {3, {5, 1, 7}},
                  {3, {2, 3, 4}}, {3, {4, 3, 2}}, {3, {12, 5, 3}}, {4, {3, 4, 5, 6}}, {4, {4, 1, 3, 9}}};
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        const floe_pair p = pair_of(shapes[k].rank, shapes[k].shape, xs, ys);
        for (uint64_t i = 0; i < size_of(&p); i++) {
            xs[i] = uniform() + cos((double)i * 0.7) + 3;
            ys[i] = xs[i] + 0.1 * uniform();
        }
        compare(&p, FLOE_SPECTRUM_NO_WINDOW);
        compare(&p, FLOE_SPECTRUM_HANN);
    }
}

/* ---- known spectra ------------------------------------------------------------------------------------------------- */

/* A wave of amplitude 2 with 5 cycles along each row, halved in the decoded field: all of it is in shell 5. */
static void a_wave(void **state)
{
    (void)state;
    static const uint64_t shape[] = {10, 20, 40};
    const floe_pair p = pair_of(3, shape, xs, ys);
    floe_spectrum_result r;
    for (uint64_t i = 0; i < 8000; i++) {
        xs[i] = 7 + 2 * sin(2 * PI * 5 * (double)(i % 40) / 40);
        ys[i] = 7 + sin(2 * PI * 5 * (double)(i % 40) / 40);
    }
    const floe_spectrum_options o = {FLOE_SPECTRUM_NO_WINDOW, {7, 7}};
    assert_int_equal(run(&p, &o, 1, &r), FLOE_OK);
    for (uint32_t k = 0; k < r.nshells; k++) {
        near(r.power[0][k], k == 5 ? 2 * 8000 / (double)r.nmodes[5] : 0, 1000, "power");
        near(r.ratio[k], k == 5 ? 0.25 : NAN, 1, "ratio"); /* not that of what rounding left in other shells */
    }
}

/* A mean is rounded. What that leaves of mode 0 is no power, so that no ratio is made of it. */
static void no_power_in_the_mean(void **state)
{
    (void)state;
    static const uint64_t shape[] = {20, 30};
    const floe_pair p = pair_of(2, shape, xs, ys);
    floe_spectrum_result r;
    for (uint64_t i = 0; i < 600; i++) {
        xs[i] = 1000 + uniform();
        ys[i] = xs[i] + 1e-3 * uniform();
    }
    for (int window = 0; window < 2; window++) {
        const floe_spectrum_options o = options_for(&p, (floe_spectrum_window)window);
        assert_int_equal(run(&p, &o, 2, &r), FLOE_OK);
        for (int side = 0; side < 2; side++)
            assert_int_equal(r.power[side][0] == 0, window == FLOE_SPECTRUM_NO_WINDOW);
        assert_int_equal(isnan(r.ratio[0]), window == FLOE_SPECTRUM_NO_WINDOW);
        for (uint32_t k = 1; k < r.nshells; k++)
            assert_true(fabs(r.ratio[k] - 1) < 0.1);
    }
}

/* Variance 1 has power 1 everywhere, with and without a window. */
static void white_noise(void **state)
{
    (void)state;
    static const uint64_t shape[] = {100, 160};
    const floe_pair p = pair_of(2, shape, xs, ys);
    for (uint64_t i = 0; i < 16000; i++) {
        xs[i] = sqrt(12) * (uniform() - 0.5);
        ys[i] = xs[i] + 3;
    }
    for (int window = 0; window < 2; window++) {
        const floe_spectrum_options o = options_for(&p, (floe_spectrum_window)window);
        floe_spectrum_result r;
        assert_int_equal(run(&p, &o, 1, &r), FLOE_OK);
        double power[2] = {0}, nmodes[2] = {0};
        for (uint32_t k = 1; k < r.nshells; k++) {
            power[k > r.nshells / 2] += r.power[0][k] * (double)r.nmodes[k];
            nmodes[k > r.nshells / 2] += (double)r.nmodes[k];
            near(r.ratio[k], 1, 10, "ratio");
        }
        for (int half = 0; half < 2; half++)
            assert_true(fabs(power[half] / nmodes[half] - 1) < 0.1);
    }
}

/* Values of 1e6 with a variation of 1e-3, of which the mean is taken away before. */
static void a_large_offset(void **state)
{
    (void)state;
    static const uint64_t length = 1000;
    const floe_pair p = pair_of(1, &length, xs, ys);
    floe_spectrum_result r;
    for (uint64_t i = 0; i < length; i++) {
        xs[i] = 1e6 + 1e-3 * cos(2 * PI * (double)(3 * i % length) / (double)length);
        ys[i] = 1e6 + 2e-3 * cos(2 * PI * (double)(3 * i % length) / (double)length);
    }
    const floe_spectrum_options o = {FLOE_SPECTRUM_NO_WINDOW, {1e6, 1e6}};
    assert_int_equal(run(&p, &o, 1, &r), FLOE_OK);
    assert_true(fabs(r.power[0][3] - 1e-6 * 250) < 1e-10);
    assert_true(fabs(r.ratio[3] - 4) < 1e-6);
    assert_true(r.power[0][4] < 1e-15);
}

/* ---- the rest ------------------------------------------------------------------------------------------------------ */

static void gaps_are_filled_with_the_means(void **state)
{
    (void)state;
    static const uint64_t shape[] = {20, 30};
    static const double odd[] = {NAN, INFINITY, -INFINITY, -9999};
    double want[2][16];
    floe_pair p = pair_of(2, shape, xs, ys);
    floe_spectrum_result r;
    const floe_spectrum_options o = {FLOE_SPECTRUM_HANN, {2, 3}};
    p.has_fill = 1;
    p.fill_bits = floe_bits_f64(-9999);
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 600; i++) {
            const bool gap = i % 7 == 3;
            xs[i] = !gap ? sin((double)i) : round ? 2 : odd[i % 4];
            ys[i] = !gap ? cos((double)i) : round ? 3 : 1.5;
        }
        assert_int_equal(run(&p, &o, 2, &r), FLOE_OK);
        assert_int_equal(r.nfilled, round ? 0 : 86);
        for (int side = 0; side < 2; side++)
            if (round)
                assert_memory_equal(r.power[side], want[side], 16 * sizeof(double));
            else
                memcpy(want[side], r.power[side], 16 * sizeof(double));
    }
}

static void views_and_threads(void **state)
{
    (void)state;
    static const uint64_t shape[] = {12, 18, 33};
    enum { N = 12 * 18 * 33 };
    static float fx[N], turned[N];
    double want[17];
    floe_spectrum_result r;
    floe_pair p = pair_of(3, shape, NULL, NULL);
    for (int i = 0; i < N; i++) {
        fx[i] = (float)uniform();
        turned[N - 1 - i] = fx[i] * 0.5f;
    }
    p.dtype = FLOE_F32;
    p.original = fx;
    p.decoded = turned + N - 1;
    for (int a = 0; a < 4; a++)
        p.decoded_stride[a] = -p.original_stride[a];
    const floe_spectrum_options o = {FLOE_SPECTRUM_HANN, {0.5, 0.25}};
    for (uint32_t threads = 1; threads < 8; threads += 1 + 4 * (threads == 2)) {
        assert_int_equal(run(&p, &o, threads, &r), FLOE_OK);
        assert_int_equal(r.nshells, 17);
        for (uint32_t k = 0; k < 17; k++)
            near(r.ratio[k], 0.25, 1, "ratio");
        if (threads == 1)
            memcpy(want, r.power[1], sizeof want);
        assert_memory_equal(r.power[1], want, sizeof want);
    }
}

static void a_field_alone(void **state)
{
    (void)state;
    static const uint64_t length = 50;
    floe_pair p = pair_of(1, &length, xs, ys);
    floe_spectrum_result r;
    double want[26];
    for (uint64_t i = 0; i < length; i++)
        xs[i] = ys[i] = uniform();
    const floe_spectrum_options o = options_for(&p, FLOE_SPECTRUM_HANN);
    assert_int_equal(run(&p, &o, 1, &r), FLOE_OK);
    memcpy(want, r.power[0], sizeof want);
    p.decoded = NULL;
    assert_int_equal(run(&p, &o, 1, &r), FLOE_OK);
    assert_memory_equal(r.power[0], want, sizeof want);
    assert_true(isnan(r.power[1][3]) && isnan(r.ratio[3]));
}

/* Axes too long for a shell of each wavenumber share them. */
static void long_axes_share_shells(void **state)
{
    (void)state;
    const uint64_t n = 4 * FLOE_SPECTRUM_MAX_SHELL;
    assert_int_equal(n, MOST);
    const floe_pair p = pair_of(1, &n, xs, ys);
    const floe_spectrum_options o = {FLOE_SPECTRUM_NO_WINDOW, {0, 0}};
    floe_spectrum_result r;
    for (uint64_t i = 0; i < n; i++)
        ys[i] = xs[i] = cos(2 * PI * 100 * (double)i / (double)n);
    assert_int_equal(run(&p, &o, 1, &r), FLOE_OK);
    assert_int_equal(r.nshells, FLOE_SPECTRUM_MAX_SHELL + 1);
    assert_int_equal(r.nmodes[50], 4); /* 99, 100 and their mirrors */
    near(r.frequency[50], 100 / (double)n, 1, "frequency");
    near(r.power[0][50], (double)n / 2 / 4 * 1, (double)n, "power");
}

static void what_is_refused(void **state)
{
    (void)state;
    static const uint64_t length = 50;
    const floe_pair p = pair_of(1, &length, xs, ys);
    floe_spectrum_result r;
    floe_spectrum_options o = {FLOE_SPECTRUM_HANN, {0, NAN}};
    assert_int_equal(run(&p, &o, 1, &r), FLOE_ERR_ARGUMENT);
    o = (floe_spectrum_options){(floe_spectrum_window)2, {0, 0}};
    assert_int_equal(run(&p, &o, 1, &r), FLOE_ERR_ARGUMENT);
}

/* ---- bench --------------------------------------------------------------------------------------------------------- */

static void bench(void)
{
    static const uint64_t shape[] = {256, 256, 256};
    const size_t n = 256 * 256 * 256;
    double *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = uniform();
    const floe_pair p = pair_of(3, shape, x, x);
    const floe_spectrum_options o = {FLOE_SPECTRUM_HANN, {0.5, 0.5}};
    for (uint32_t threads = 1; threads < 3; threads++) {
        struct timespec from, to;
        floe_spectrum_result r;
        clock_gettime(CLOCK_MONOTONIC, &from);
        assert_int_equal(run(&p, &o, threads, &r), FLOE_OK);
        clock_gettime(CLOCK_MONOTONIC, &to);
        printf("spectra of two f64 256^3, threads %u: %.2f s\n", threads,
               (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec));
    }
    free(x);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes),
        cmocka_unit_test(a_wave),
        cmocka_unit_test(no_power_in_the_mean),
        cmocka_unit_test(white_noise),
        cmocka_unit_test(a_large_offset),
        cmocka_unit_test(gaps_are_filled_with_the_means),
        cmocka_unit_test(views_and_threads),
        cmocka_unit_test(a_field_alone),
        cmocka_unit_test(long_axes_share_shells),
        cmocka_unit_test(what_is_refused),
    };
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
