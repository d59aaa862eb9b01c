/* SPDX-License-Identifier: BSD-3-Clause */
/* What chunks of the last few shapes need: a call takes that several times, and finding it takes as long as three launches. */
#ifndef FLOE_CODEC_CHUNKS_CODEC_KNOWN_NEEDS_H
#define FLOE_CODEC_CHUNKS_CODEC_KNOWN_NEEDS_H

#include <string.h>

#include "stage/lattice/lattice_math.h"

enum { FLOE_KNOWN_SHAPES = 4, FLOE_KNOWN_WORDS = 6 };

/* Of a thread. At first all are of a shape that no chunk has. */
typedef struct floe_known_needs {
    struct {
        uint64_t shape[FLOE_LATTICE_RANK], needs[FLOE_KNOWN_WORDS];
    } of[FLOE_KNOWN_SHAPES];
    uint32_t next; /* is the oldest */
} floe_known_needs;

/* The needs of a shape; found: they are there, otherwise the caller writes them. */
static inline void *floe_known_needs_of(floe_known_needs *k, const uint64_t shape[FLOE_LATTICE_RANK], bool *found)
{
    uint32_t i = 0;
    while (i < FLOE_KNOWN_SHAPES && memcmp(k->of[i].shape, shape, sizeof k->of[i].shape) != 0)
        i++;
    *found = i < FLOE_KNOWN_SHAPES;
    if (!*found) {
        i = k->next++ % FLOE_KNOWN_SHAPES;
        memcpy(k->of[i].shape, shape, sizeof k->of[i].shape);
    }
    return k->of[i].needs;
}

#endif
