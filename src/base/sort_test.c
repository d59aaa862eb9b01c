/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting against the C library's. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/sort.h"

static int rising(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sorts_as_the_library_does(void **state)
{
    (void)state;
    enum { MOST = 3000 };
    static uint64_t ours[MOST], theirs[MOST];
    uint64_t key = 1;
    for (size_t n = 0; n < MOST; n += n < 40 ? 1 : 379)
        for (uint64_t kinds = 1; kinds < 1u << 20; kinds *= 7) { /* from all equal to nearly all different */
            for (size_t i = 0; i < n; i++) {
                key = key * 6364136223846793005u + 1442695040888963407u;
                ours[i] = theirs[i] = (key >> 33) % kinds;
            }
            floe_sort64(ours, n, rising);
            qsort(theirs, n, sizeof *theirs, rising);
            assert_memory_equal(ours, theirs, n * sizeof *ours);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_as_the_library_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
