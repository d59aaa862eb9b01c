/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage context on a GPU: grids of records -> entropy chunks and back, all grids of a call in one launch; the bytes are the CPU's.
 * Every function puts one kernel on a stream and returns a cudaError_t as a number. All pointers are device memory.
 *
 *     count    counts of each grid (0 at first)                      (whoever reads tables: context_open.cuh)
 *     tally    what each grid takes
 *     tables   tables of each grid, of its own or shared             decode
 *     encode   chunks, each at the end of its slot; their sizes
 */
#ifndef FLOE_STAGE_CONTEXT_CUDA_H
#define FLOE_STAGE_CONTEXT_CUDA_H

#include <stdbool.h>

#include "stage/context/context_math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { FLOE_CONTEXT_RUN = 12 /* grids that share tables: of so many, those of each sum are made at once */ };

/* A grid of records. Those of a call stand in the order in which their chunks are numbered: what takes longest to begin with first. */
typedef struct floe_context_dev_grid {
    void *records;
    floe_context_grid grid;
    uint32_t width, window;
    bool planes;
    bool shares;              /* encode: has the tables of the grid before it, where that costs no more */
    uint32_t nmasks, nvalues; /* contexts */
    uint32_t first, nchunks;
    uint32_t counts;       /* count: where the symbols go, as for grid number .. */
    uint64_t first_window; /* encode: of its windows, where tokens are kept */
    uint32_t tables;       /* out of tables, decode: in: number of the tables it has */
    bool boxed;            /* decode: only chunks that have something of the box */
    floe_context_box box;
} floe_context_dev_grid;

/* What count keeps of a window: items from number `at` on (context_count.cuh). */
typedef struct floe_context_dev_window {
    uint32_t at, n;
} floe_context_dev_window;
#define FLOE_CONTEXT_NOT_KEPT UINT32_MAX
FLOE_HD uint32_t floe_context_chunk_windows(const floe_context_dev_grid *g)
{
    return (g->grid.piece[0] * g->grid.piece[1] + g->window - 1) / g->window;
}

/* Words of 16 bits that a chunk takes at most: a mask takes up to 12 bits, a value 10 and 15 or, of 8 bits, 7 raw ones; what rounding
 * adds is less than a quarter of a bit a symbol, and states are words, too. Even. */
FLOE_HD uint32_t floe_context_slot_words(const floe_context_chunk *c, uint32_t width)
{
    return (c->planes * c->rows * (width == 0 ? 1 : width == 1 ? 9 : 12) + 4) * c->lanes + 2;
}

/* Shared memory of a warp: a row above the window, then its rows, a record a lane; the list of what is not 0; and, of windows of a row,
 * that of the plane before. */
FLOE_HD uint32_t floe_context_warp_nbytes(uint32_t window, uint32_t width)
{
    const uint32_t nrows = window + 1 + (window == 1);
    return FLOE_ANS_LANES * (nrows * (width ? 8 * width : 1) + 2 * FLOE_CONTEXT_CLASSES * window);
}

/* As floe_context_tables. */
typedef struct floe_context_dev_tables {
    uint64_t cost[2]; /* of masks and of values, where built: in 1/4096 bits */
    uint32_t nmasks, nvalues;
    uint8_t table[FLOE_CONTEXT_ALL]; /* of each context, those of values from nmasks of the grid on */
    uint16_t mask_freq[FLOE_CONTEXT_TABLES][FLOE_CONTEXT_MASK_SYMBOLS];
    uint16_t value_freq[FLOE_CONTEXT_TABLES][FLOE_CONTEXT_STRIDE];
    uint8_t mask_code[FLOE_CONTEXT_TABLES][FLOE_CONTEXT_MASK_SYMBOLS]; /* where built */
    uint8_t value_code[FLOE_CONTEXT_TABLES][FLOE_CONTEXT_STRIDE];
    uint8_t nused[2 * FLOE_CONTEXT_TABLES]; /* symbols that occur, of masks, then of values */
} floe_context_dev_tables;

/* Serialised; 0 bytes of a grid that has another's. */
typedef struct floe_context_dev_bytes {
    uint32_t nbytes;
    uint8_t bytes[FLOE_CONTEXT_TABLES_NBYTES + 4];
} floe_context_dev_bytes;

typedef struct floe_context_job {
    floe_context_dev_grid *grids;
    uint32_t ngrids, nchunks;
    uint32_t warp_nbytes, nmasks, nvalues; /* the largest of all grids */
    uint32_t *tickets;                     /* of each grid, 0 at first: those of one kernel */
    floe_context_dev_tables *tables;       /* encode: FLOE_CONTEXT_RUN of each grid, for it and so many before it */
    uint32_t *status; /* not 0: nothing is done. decode: FLOE_ERR_FORMAT where a chunk is damaged */
    /* encode */
    uint32_t *counts; /* FLOE_CONTEXT_COUNTS of each grid */
    uint32_t every;   /* count: of each so many chunks one; a grid's nchunks are those that are counted */
    uint64_t *done;   /* tables: a word that is 0 at first */
    floe_context_dev_bytes *bytes;
    /* count leaves tokens for encode, as far as there is room; windows NULL: none */
    floe_context_dev_window *windows;
    uint32_t *tokens;
    uint64_t ntokens, *tokens_taken; /* how many there is room for, less than 2^32; 0 at first */
    uint16_t *slots;
    uint64_t *slot_ends; /* in words: how many are taken, 0 at first; then of each chunk */
    uint32_t *sizes;     /* of all chunks, in words of 32 bits */
    uint32_t *sums;      /* of the words of all chunks, for checks; NULL: none are made */
    /* Chunks that have something but zeros; NULL: all are coded. count sets what is 0 at first, tally takes what others add to counts
     * from them, encode gives others the size 0. */
    uint8_t *busy;
    /* decode */
    const uint8_t *src;
    const uint64_t *places; /* of all chunks in src, then of the end */
    uint32_t ans_begin;     /* states with which encoding began: FLOE_ANS_BEGIN, or of older streams FLOE_ANS_LEAST */
    bool sparse;            /* chunks of no bytes are zeros, which their records are already */
} floe_context_job;

FLOE_HD floe_context_dev_grid floe_context_dev_grid_of(const floe_context_spec *spec, const floe_context_grid *grid,
                                                       void *records)
{
    floe_context_dev_grid g;
    memset(&g, 0, sizeof g);
    g.records = records;
    g.grid = *grid;
    g.width = spec->width;
    g.window = spec->window;
    g.planes = spec->planes;
    g.nmasks = floe_context_masks(spec);
    g.nvalues = floe_context_values(spec);
    g.nchunks = (uint32_t)floe_context_nchunks(grid);
    return g;
}

FLOE_HD void floe_context_job_add(floe_context_job *job, const floe_context_dev_grid *g)
{
    job->ngrids++;
    job->nchunks += g->nchunks;
    job->warp_nbytes = (uint32_t)floe_max64(job->warp_nbytes, floe_context_warp_nbytes(g->window, g->width));
    job->nmasks = (uint32_t)floe_max64(job->nmasks, g->nmasks);
    job->nvalues = (uint32_t)floe_max64(job->nvalues, g->nvalues);
}

int floe_context_count_cuda(const floe_context_job *job, void *stream);
int floe_context_tally_cuda(const floe_context_job *job, floe_context_tally *tallies, void *stream);
int floe_context_tables_cuda(const floe_context_job *job, void *stream);
int floe_context_encode_cuda(const floe_context_job *job, void *stream);
int floe_context_decode_cuda(const floe_context_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
