/* SPDX-License-Identifier: BSD-3-Clause */
/* Dense arrays: placed as others, with a request for the large pages that lie within them and for no more. */
#define _DEFAULT_SOURCE /* mmap */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

enum { LARGE_PAGE = 1 << 21, ROOM = 4 * LARGE_PAGE };

static void dense_is_placed_as_plain(void **state)
{
    (void)state;
    const uint64_t counts[] = {0, 1, 63, LARGE_PAGE - 64, LARGE_PAGE, LARGE_PAGE + 1, 2 * LARGE_PAGE, ROOM, ROOM + 1};
    uint8_t *block = aligned_alloc(FLOE_ARENA_ALIGN, ROOM);
    assert_non_null(block);
    for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint32_t first = 0; first < 3; first++) {
            floe_arena a = floe_arena_of(block, ROOM), b = a, plan = floe_arena_plan();
            floe_arena_take(&a, first, 100);
            floe_arena_take(&b, first, 100);
            uint8_t *dense = floe_arena_take_dense(&a, counts[i], 1);
            assert_ptr_equal(dense, floe_arena_take(&b, counts[i], 1));
            assert_int_equal(a.used, b.used);
            assert_int_equal(a.overflow, b.overflow);
            if (dense)
                memset(dense, 1, counts[i]);
            assert_null(floe_arena_take_dense(&plan, counts[i], 1));
            assert_false(plan.overflow);
        }
    floe_arena full = floe_arena_of(block, ROOM);
    assert_null(floe_arena_take_dense(&full, UINT64_MAX, 8));
    assert_true(full.overflow);
    free(block);
}

#ifdef __linux__
/* Whether the kernel keeps the request for large pages ("hg") for the mapping that has this byte. */
static bool are_requested(const void *at)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[4096];
    bool here = false, found = false;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long long lo, hi;
        if (sscanf(line, "%llx-%llx ", &lo, &hi) == 2)
            here = (uintptr_t)at >= lo && (uintptr_t)at < hi;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            found = strstr(line, " hg") != NULL;
    }
    if (maps)
        fclose(maps);
    return found;
}

static void large_pages_lie_within(void **state)
{
    (void)state;
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0)
        skip();
    uint8_t *map = mmap(NULL, ROOM + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    uint8_t *block = map + (size_t)(-(uintptr_t)map % LARGE_PAGE);
    floe_arena a = floe_arena_of(block, ROOM);
    floe_arena_take(&a, 64, 1);
    assert_non_null(floe_arena_take_dense(&a, 2 * LARGE_PAGE, 1)); /* which has one large page wholly: the second */
    assert_false(are_requested(block + LARGE_PAGE - 1));
    assert_true(are_requested(block + LARGE_PAGE));
    assert_true(are_requested(block + 2 * LARGE_PAGE - 1));
    assert_false(are_requested(block + 2 * LARGE_PAGE));
    munmap(map, ROOM + LARGE_PAGE);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_is_placed_as_plain),
#ifdef __linux__
        cmocka_unit_test(large_pages_lie_within),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
