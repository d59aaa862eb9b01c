/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of every short length, and of long ones with large primes, against the sum that defines them. */
#include "assess/spectrum/fft.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double noise(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 - 0.5;
}

/* Coefficient at of element k of a lane, by definition. */
static void defined(const long double *root, const double *re, const double *im, uint64_t n, uint64_t at,
                    long double sum[2])
{
    sum[0] = sum[1] = 0;
    for (uint64_t k = 0; k < n; k++) {
        const long double c = root[2 * (k * at % n)], s = root[2 * (k * at % n) + 1];
        sum[0] += re[k] * c - im[k] * s;
        sum[1] += re[k] * s + im[k] * c;
    }
}

/* Every step-th coefficient of each lane differs from its definition by little beside the norm of all. */
static void check(uint64_t n, uint64_t lanes, uint64_t step)
{
    floe_fft f;
    floe_arena plan = floe_arena_plan();
    floe_fft_take(&f, n, &plan);
    (void)floe_arena_take(&plan, floe_fft_nwork(&f, lanes), sizeof(double));
    floe_arena arena = floe_arena_of(aligned_alloc(64, plan.used), plan.used);
    floe_fft_take(&f, n, &arena);
    double *work = floe_arena_take(&arena, floe_fft_nwork(&f, lanes), sizeof(double));
    assert_non_null(work);
    floe_fft_begin(&f, work);
    double *re = malloc(n * lanes * sizeof *re), *im = malloc(n * lanes * sizeof *im);
    long double *root = malloc(2 * n * sizeof *root);
    uint64_t seed = n;
    for (uint64_t k = 0; k < n; k++) {
        root[2 * k] = cosl(2 * acosl(-1) * k / n), root[2 * k + 1] = -sinl(2 * acosl(-1) * k / n);
        for (uint64_t lane = 0; lane < lanes; lane++) {
            work[k * lanes + lane] = re[lane * n + k] = noise(&seed);
            work[(f.length + k) * lanes + lane] = im[lane * n + k] = noise(&seed);
        }
    }
    const double *coded = floe_fft_run(&f, lanes, work);
    for (uint64_t lane = 0; lane < lanes; lane++)
        for (uint64_t k = 0; k < n; k += step) {
            long double want[2];
            defined(root, re + lane * n, im + lane * n, n, k, want);
            const double got_re = coded[k * lanes + lane], got_im = coded[(f.length + k) * lanes + lane];
            if (!(fabsl(got_re - want[0]) + fabsl(got_im - want[1]) < 2e-15 * sqrt((double)n)))
                fail_msg("%d elements, %d lanes: coefficient %d is off by %Lg, %Lg", (int)n, (int)lanes, (int)k,
                         got_re - want[0], got_im - want[1]);
        }
    free(root), free(re), free(im), free(arena.base);
}

static void short_lengths(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 150; n++) {
        check(n, 1, 1);
        check(n, 8, 7);
    }
}

static void long_lengths(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {512, 719, 720, 1009, 2 * 1009, 1024 * 3, 3125, 4099, 31 * 31 * 7, 8192};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        check(lengths[i], 3, 97);
}

/* The first and the last roots of long circles keep their digits. */
static void roots(void **state)
{
    (void)state;
    const uint64_t n = (uint64_t)1 << 40;
    for (uint64_t k = 1; k < n; k = 3 * k + 1) {
        double re, im, back_re, back_im;
        floe_fft_root(k, n, &re, &im);
        floe_fft_root(n - k, n, &back_re, &back_im);
        assert_true(fabsl(re - cosl(2 * acosl(-1) * k / n)) < 2e-16 && fabsl(im + sinl(2 * acosl(-1) * k / n)) < 2e-16);
        assert_true(re == back_re && im == -back_im);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_lengths), cmocka_unit_test(long_lengths),
                                       cmocka_unit_test(roots)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
