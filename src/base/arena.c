/* SPDX-License-Identifier: BSD-3-Clause */
#define _DEFAULT_SOURCE /* madvise */
#include "base/arena.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

enum { LARGE_PAGE = 1 << 21 /* bytes; where the system's are larger, they are multiples of it */ };

void *floe_arena_take_dense(floe_arena *a, uint64_t count, size_t size)
{
    uint8_t *block = floe_arena_take(a, count, size);
#ifdef MADV_HUGEPAGE
    const size_t before = (size_t)(-(uintptr_t)block % LARGE_PAGE), nbytes = (size_t)count * size;
    if (block && nbytes >= before + LARGE_PAGE)
        (void)madvise(block + before, (nbytes - before) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
#endif
    return block;
}
