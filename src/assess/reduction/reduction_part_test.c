/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of y that a GPU works out from others: right, or said not to be. */
#include "tests/api_kit.h"

#include "assess/reduction/reduction_math.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_y_follow_unless_they_cancel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
