/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting in place: qsort of the C library may allocate. */
#ifndef FLOE_BASE_SORT_H
#define FLOE_BASE_SORT_H

#include <stddef.h>

/* n numbers, all uint64_t or all double, rising. Equal ones come in any order. */
void floe_sort64(void *items, size_t n, int (*compare)(const void *a, const void *b));
int floe_by_number(const void *a, const void *b); /* of uint64_t */

#endif
