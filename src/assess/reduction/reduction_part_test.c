/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of y that a GPU works out from others: right, or reported not to be; and pivots that by the sums are too far off. */
#include "tests/api_kit.h"

#include "assess/reduction/reduction.h"

/* Sums of n pairs: x varies by 1 around its pivot, y by `varies` around its own, `apart` from that of x. */
static bool completed(double apart, double varies)
{
    enum { PAIRS = 1000 };
    const double pivot[2] = {100, 100 + apart};
    floe_reduction_part p;
    long double y = 0, y2 = 0, xy = 0;
    floe_reduction_part_init(&p);
    for (int i = 0; i < PAIRS; i++) {
        const double dx = sin(0.1 * i), dy = varies * cos(0.3 * i), e = dy + apart - dx;
        p.count[FLOE_COUNT_PAIRS]++;
        p.sum[FLOE_SUM_X] += dx, p.sum[FLOE_SUM_X2] += dx * dx;
        p.sum[FLOE_SUM_E] += e, p.sum[FLOE_SUM_E2] += e * e, p.sum[FLOE_SUM_XE] += dx * e;
        y += dy, y2 += (long double)dy * dy, xy += (long double)dx * dy;
    }
    if (!floe_reduction_part_complete(&p, pivot))
        return false;
    const long double got[] = {p.sum[FLOE_SUM_Y], p.sum[FLOE_SUM_Y2], p.sum[FLOE_SUM_XY]}, want[] = {y, y2, xy};
    for (int i = 0; i < 3; i++)
        assert_true(fabsl(got[i] - want[i]) <= 1e-12L * PAIRS * fmax(1, varies * varies));
    return true;
}

static void sums_of_y_follow_unless_they_cancel(void **state)
{
    (void)state;
    const double nan = NAN, none[2] = {0, 0}, endless[2] = {0, nan};
    floe_reduction_part p;
    assert_true(completed(0, 1));
    assert_true(completed(0.5, 1));
    assert_true(completed(-0.5, 3));
    assert_false(completed(0, 1e-3)); /* y hardly varies, and all that is left of x is rounding */
    assert_false(completed(100, 1));  /* the error is many times what y varies by */
    floe_reduction_part_init(&p);
    assert_true(floe_reduction_part_complete(&p, none)); /* nothing of nothing */
    assert_false(floe_reduction_part_complete(&p, endless));
}

/* Of values of which one of so many is more than `center`; both sides alike but for their pivots. */
static floe_reduction_part summed(double center, double more, uint32_t rare, const double *pivot)
{
    enum { PAIRS = 100000 };
    floe_reduction_part p;
    floe_reduction_part_init(&p);
    for (uint32_t i = 0; i < PAIRS; i++) {
        const double v = center + (i % rare == 1 ? more : 0);
        for (int side = 0; side < 2; side++) {
            double *sum = &p.sum[side ? FLOE_SUM_Y : FLOE_SUM_X], *top = &p.top[side ? FLOE_TOP_Y : FLOE_TOP_X];
            const double d = v - pivot[side];
            sum[0] += d, sum[1] += d * d;
            top[0] = fmax(top[0], v), top[1] = fmax(top[1], -v);
        }
        p.count[FLOE_COUNT_PAIRS]++;
    }
    return p;
}

static void pivots_come_to_the_mean(void **state)
{
    static const struct {
        double center, more;
        uint32_t rare;
    } cases[] = {{290, 0, 2},  {290.1, 0, 2},        {290, 1, 2},       {290, 1e6, 99991}, {0.1, 0x1p-56, 9999},
                 {1e20, 0, 2}, {1e20, 16384, 99991}, {1e160, 1e146, 3}, {1e308, 0, 2},     {-1e308, 1e300, 3}};
    (void)state;
    for (size_t c = 0; c < KIT_COUNT(cases); c++) {
        const double center = cases[c].center, more = cases[c].more;
        double pivot[2] = {0, center + more};
        floe_reduction_part p = summed(center, more, cases[c].rare, pivot);
        for (int i = 0; i < FLOE_REDUCTION_MENDS && floe_reduction_pivots_mend(&p, pivot); i++)
            p = summed(center, more, cases[c].rare, pivot);
        for (int side = 0; side < 2; side++) {
            const double *sum = &p.sum[side ? FLOE_SUM_Y : FLOE_SUM_X], n = (double)p.count[FLOE_COUNT_PAIRS];
            const double d = sum[0] / n, variance = sum[1] / n - d * d;
            assert_true(more == 0 ? d == 0 : !(variance < INFINITY) || (variance > 0 && d * d <= 4 * variance));
        }
    }
}

static void pivots_that_are_near_stay(void **state)
{
    (void)state;
    double pivot[2] = {290.5, 289.75};
    const floe_reduction_part p = summed(290, 1, 2, pivot);
    assert_false(floe_reduction_pivots_mend(&p, pivot)); /* by 0 and by 1.5 deviations */
    assert_true(pivot[0] == 290.5 && pivot[1] == 289.75);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_y_follow_unless_they_cancel),
                                       cmocka_unit_test(pivots_come_to_the_mean),
                                       cmocka_unit_test(pivots_that_are_near_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
