/* SPDX-License-Identifier: BSD-3-Clause */
/* Scratch memory: one block, cut from the front, 64-byte aligned. A plan (base NULL) only adds up, so the code that takes
 * the scratch is the code that sizes it:
 *     floe_arena plan = floe_arena_plan();  take_all(&plan);  needed = plan.used;
 */
#ifndef FLOE_BASE_ARENA_H
#define FLOE_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLOE_ARENA_ALIGN = 64 };

typedef struct floe_arena {
    uint8_t *base; /* NULL: a plan */
    size_t capacity, used;
    bool overflow; /* a take did not fit, or a size overflowed */
} floe_arena;

static inline floe_arena floe_arena_of(void *base, size_t capacity)
{
    floe_arena a = {(uint8_t *)base, capacity < SIZE_MAX / 2 ? capacity : SIZE_MAX / 2, 0, false};
    return a;
}
static inline floe_arena floe_arena_plan(void) { return floe_arena_of(NULL, SIZE_MAX / 2); }

/* count * size bytes, or NULL (always NULL from a plan). Not cleared. */
static inline void *floe_arena_take(floe_arena *a, uint64_t count, size_t size)
{
    size_t left = a->capacity - a->used;
    size_t nbytes = SIZE_MAX;
    if (size == 0 || count <= left / size) /* then rounding up cannot overflow: left is at most SIZE_MAX / 2 */
        nbytes = ((size_t)count * size + FLOE_ARENA_ALIGN - 1) & ~(size_t)(FLOE_ARENA_ALIGN - 1);
    if (a->overflow || nbytes > left) {
        a->overflow = true;
        return NULL;
    }
    void *p = a->base ? a->base + a->used : NULL;
    a->used += nbytes;
    return p;
}

/* The same for what will be written without gaps: in large pages, where the system gives them on request. Page faults and translations
 * of addresses cost a first call up to a third of its time. */
void *floe_arena_take_dense(floe_arena *a, uint64_t count, size_t size);

#endif
