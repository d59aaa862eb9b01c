/* SPDX-License-Identifier: BSD-3-Clause */
/* Division by a number that is made for it: quotient and rest up to the limits of both. */
#include "base/grid_math.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static void divide(uint64_t n, uint32_t by)
{
    enum { LIMIT = INT32_MAX };
    if (n > LIMIT)
        return;
    const floe_divisor d = floe_divisor_of(by);
    uint32_t quotient = (uint32_t)n;
    const uint32_t rest = floe_divide(&quotient, &d);
    if (quotient != n / by || rest != n % by)
        fail_msg("%llu / %u: %u, rest %u", (unsigned long long)n, by, quotient, rest);
}

/* Around multiples, where a quotient changes. */
static void divisors(void **unused)
{
    enum { EACH = 3000, MULTIPLES = 16 };
    (void)unused;
    for (uint64_t by = 1; by <= UINT32_MAX; by += by < EACH ? 1 : by / 100) {
        const uint64_t most = INT32_MAX / by;
        for (uint64_t k = 0; k <= MULTIPLES; k++) {
            const uint64_t n = most * k / MULTIPLES * by;
            divide(n - (n > 0), (uint32_t)by);
            divide(n, (uint32_t)by);
            divide(n + 1, (uint32_t)by);
        }
        divide(INT32_MAX, (uint32_t)by);
    }
    for (int bit = 1; bit < 32; bit++)
        for (uint32_t off = 0; off < 3; off++)
            divide(INT32_MAX, (1u << bit) - 1 + off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(divisors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
