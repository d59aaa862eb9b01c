/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Corrections (cells.h) on a GPU, of all chunks of a field at once. Everything here is device memory, and the codec's kernels fill
 * in what comes before each step, by what cells_dev.cuh has for them:
 *
 *   encode    chunks, and the cells whose values must be stored: floe_cells_begin, floe_cells_palette,
 *             floe_cells_name
 *             floe_cells_sort_cuda: into sets
 *             how large everything is: floe_cells_plan; then where each chunk's sets and values go
 *             floe_cells_write_cuda
 *   decode    chunks, and their parts of the stream, which is untrusted: floe_cells_begin, floe_cells_open
 *             floe_cells_put_cuda: values to their places
 *
 * Each launch puts a kernel on the stream, which does nothing unless *status is FLOE_OK. It returns a cudaError_t as a number.
 */
#ifndef FLOE_STAGE_CELLS_CUDA_H
#define FLOE_STAGE_CELLS_CUDA_H

#include "stage/cells/cells_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Cells of a chunk that are taken at once: FLOE_CELLS_SPAN. */
typedef struct floe_cells_span {
    uint32_t named;                   /* encode, not 0: some cell of it was */
    uint32_t nwords[FLOE_CELLS_SETS]; /* that are not 0 */
    uint32_t ncells[FLOE_CELLS_SETS];
    uint32_t reserved;
    uint64_t words_at[FLOE_CELLS_SETS]; /* of the chunk's words of the set: how many are in front */
    uint64_t literals_at;               /* of its literals */
} floe_cells_span;

typedef struct floe_cells_chunk {
    floe_cells_array array;
    uint64_t ncells, nwords, nspans;
    uint64_t palette[FLOE_CELLS_PALETTE];
    unsigned long long first_odd; /* encode: the first named cell for the palette's third place; ~0: none */
    uint32_t present;             /* bit s: set s has cells */
    bool all;                     /* there are no sets: all values stand in the stream, in C order */
    bool wanted;                  /* decode; else nothing is put */
    uint64_t nnamed, nliterals;
    uint64_t set_at[FLOE_CELLS_SETS], sets_nbytes; /* from the first set on */
    uint64_t sets_at, literals_at;                 /* from the start of the stream */
} floe_cells_chunk;

/* By value. */
typedef struct floe_cells_grid {
    floe_cells_chunk *chunks;
    uint64_t nchunks, nwords, nspans; /* words and spans: of a full chunk */
    const uint64_t *dev_nchunks;      /* NULL, or how many there are, if that is less */
    floe_cells_span *spans;           /* nspans a chunk; encode: 0 at first */
    uint64_t *sets[FLOE_CELLS_SETS];  /* encode: nwords a chunk; literals: 0 at first */
    uint8_t *stream;                  /* 8-byte aligned, as all parts in it are */
    const uint32_t *status;
} floe_cells_grid;

int floe_cells_sort_cuda(const floe_cells_grid *grid, void *stream);
int floe_cells_write_cuda(const floe_cells_grid *grid, void *stream);
int floe_cells_put_cuda(const floe_cells_grid *grid, void *stream);

#ifdef __cplusplus
}
#endif
#endif
