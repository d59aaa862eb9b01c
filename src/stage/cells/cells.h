/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Corrections: some cells of an array, and the bits of their values, which a codec stores where it did not keep them.
 * docs/format/cells.md. A codec that encodes marks such cells in the set of literals, a bit each; cells whose pattern is in the
 * palette leave it for a set that needs no values. A decoder puts the values in their places after all else, or those of a box.
 */
#ifndef FLOE_STAGE_CELLS_H
#define FLOE_STAGE_CELLS_H

#include "backend/backend.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "stage/cells/cells_math.h"

/* How many cells a part of each set has, and words that are not 0. */
typedef struct floe_cells_count {
    uint64_t ncells[FLOE_CELLS_SETS], nwords[FLOE_CELLS_SETS];
} floe_cells_count;

typedef struct floe_cells {
    floe_cells_array array;
    uint64_t ncells, nwords, nspans;
    uint64_t palette[FLOE_CELLS_PALETTE];
    uint32_t present;         /* bit s: set s has cells */
    uint64_t sets_nbytes;     /* of all that are present */
    uint64_t literals_nbytes; /* of the values behind them */
    floe_cells_count count;
    uint64_t *sets[FLOE_CELLS_SETS]; /* nwords each: a bit for each cell */
    floe_cells_count *spans;         /* encode: of each span of FLOE_CELLS_SPAN cells */
} floe_cells;

/* All cells of an array; its box is the whole of it. */
floe_cells floe_cells_of(floe_dtype dtype, uint32_t rank, const uint64_t *shape, const int64_t *stride, void *data);
/* Scratch: sets, and, to encode, spans. */
void floe_cells_take(floe_cells *c, bool encode, floe_arena *arena);

/* ---- encode ---------------------------------------------------------------------------------------------------------- */

/* sets[FLOE_CELLS_LITERALS] has all cells; data are the values that must come back. Fills in all else. */
void floe_cells_sort(floe_cells *c, const floe_cpu *cpu, bool has_fill, uint64_t fill);
/* Sets and values, which take sets_nbytes + literals_nbytes. */
void floe_cells_write(const floe_cells *c, uint8_t *dst);
/* All values in C order instead. */
void floe_cells_write_all(const floe_cells *c, uint8_t *dst);

/* ---- decode ---------------------------------------------------------------------------------------------------------- */

/* Untrusted. present and palette are set; fills in all else. FORMAT: more than nbytes, or a set names cells that the array has
 * not. */
floe_status floe_cells_read(floe_cells *c, const uint8_t *src, uint64_t nbytes, floe_error *err);
/* Values of the cells that were read, to the box; src: where they were read from. A cell of several sets is that of the last. */
void floe_cells_put(const floe_cells *c, const uint8_t *src);
/* src: all values, in C order. */
void floe_cells_put_all(const floe_cells *c, const uint8_t *src);

/* ---- values ---------------------------------------------------------------------------------------------------------- */

/* The pattern number i of data. */
static inline uint64_t floe_cells_get(const void *data, int64_t i, uint32_t size)
{
    const uint8_t *at = (const uint8_t *)data + i * (int64_t)size;
    return size == 4 ? floe_load32(at) : floe_load64(at);
}

static inline void floe_cells_set(void *data, int64_t i, uint32_t size, uint64_t bits)
{
    uint8_t *at = (uint8_t *)data + i * (int64_t)size;
    if (size == 4)
        floe_store32(at, (uint32_t)bits);
    else
        floe_store64(at, bits);
}

#endif
