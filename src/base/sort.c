/* SPDX-License-Identifier: BSD-3-Clause */
/* Heapsort: an item is not less than the two below it. */
#include "base/sort.h"

#include <stdint.h>

typedef union item {
    uint64_t word;
    double value;
} item;
typedef int compare_fn(const void *a, const void *b);

/* Puts v where it belongs, at or below `at`. */
static void sift(item *items, size_t n, size_t at, item v, compare_fn *compare)
{
    for (size_t below; (below = 2 * at + 1) < n; at = below) {
        if (below + 1 < n && compare(&items[below], &items[below + 1]) < 0)
            below++;
        if (compare(&v, &items[below]) >= 0)
            break;
        items[at] = items[below];
    }
    items[at] = v;
}

void floe_sort64(void *given, size_t n, compare_fn *compare)
{
    item *items = given;
    for (size_t i = n / 2; i > 0; i--)
        sift(items, n, i - 1, items[i - 1], compare);
    for (size_t left = n; left > 1; left--) {
        const item last = items[left - 1];
        items[left - 1] = items[0];
        sift(items, left - 1, 0, last, compare);
    }
}

int floe_by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
