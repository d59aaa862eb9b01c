/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage context on a GPU: grids of records <-> entropy chunks, with the bytes of the CPU. One launch does all grids of a call.
 * Every function puts one kernel on a stream and returns a cudaError_t as a number. All pointers are device memory.
 *
 *     count    counts the symbols of each grid                       tables and sizes are read by context_open.cuh
 *     tally    finds the bits that each grid would take              decode
 *     tables   builds the tables of each grid, or shares them
 *     encode   writes each chunk to the end of its slot, and its size
 */
#ifndef FLOE_STAGE_CONTEXT_CUDA_H
#define FLOE_STAGE_CONTEXT_CUDA_H

#include <stdbool.h>

#include "stage/context/context_math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FLOE_CONTEXT_RUN = 12 /* tables are built for runs of up to so many grids, to find out whether sharing pays */
};

/* A grid of records. Chunks are numbered through all grids of a call, in this order; blocks claim them in this order, too. */
typedef struct floe_context_dev_grid {
    void *records;
    floe_context_grid grid;
    floe_context_spec spec;
    uint32_t first, nchunks; /* chunks: number of the first one, and how many there are */
    uint32_t tables;         /* number of its tables: floe_context_tables_cuda sets it, decoding needs it */
    /* encode */
    bool shares;           /* it may have the tables of the grid before it, where that costs no more */
    uint32_t counts;       /* its symbols are added to the counts of this grid */
    uint64_t first_window; /* number of its first window, among all for which tokens are kept */
    /* decode */
    bool boxed; /* only chunks that have records of the box are decoded */
    floe_context_box box;
} floe_context_dev_grid;

/* The tokens that count keeps of a window: n items from number `at` on (context_count.cuh), or FLOE_CONTEXT_NOT_KEPT. */
typedef struct floe_context_dev_window {
    uint32_t at, n;
} floe_context_dev_window;
#define FLOE_CONTEXT_NOT_KEPT UINT32_MAX
FLOE_HD uint32_t floe_context_chunk_windows(const floe_context_dev_grid *g)
{
    return (g->grid.piece[0] * g->grid.piece[1] + g->spec.window - 1) / g->spec.window;
}

/* The most words of 16 bits that a chunk takes; even. A mask takes up to 12 bits, a value 10 and 15 raw ones (7, if codes have 8 bits).
 * Rounding adds less than a quarter of a bit to a symbol. States are words, too. */
FLOE_HD uint32_t floe_context_slot_words(const floe_context_chunk *c, uint32_t width)
{
    return (c->planes * c->rows * (width == 0 ? 1 : width == 1 ? 9 : 12) + 4) * c->lanes + 2;
}

/* Shared memory of a warp: a record of each lane for the rows of the window and the row above it, for a window of one row also for the
 * row of the plane before; and the list of nonzero codes. */
FLOE_HD uint32_t floe_context_warp_nbytes(const floe_context_spec *s)
{
    const uint32_t nrows = s->window + 1 + (s->window == 1);
    return FLOE_ANS_LANES * (nrows * floe_context_record_nbytes(s) + 2 * FLOE_CONTEXT_CLASSES * s->window);
}

/* The tables of a grid, and what only building them makes. */
typedef struct floe_context_dev_tables {
    floe_context_tables tables;
    uint64_t cost[2];                      /* of each kind, in 1/4096 bits */
    uint8_t nused[2][FLOE_CONTEXT_TABLES]; /* symbols that occur in each table */
} floe_context_dev_tables;

/* The bytes of a grid's tables, with their size before them. A grid with the tables of another has none. */
typedef struct floe_context_dev_bytes {
    uint32_t nbytes;
    uint8_t bytes[FLOE_CONTEXT_TABLES_NBYTES + 4];
} floe_context_dev_bytes;

typedef struct floe_context_job {
    floe_context_dev_grid *grids;
    uint32_t ngrids, nchunks;
    uint32_t warp_nbytes, nmasks,
        nvalues;       /* the largest of any grid: floe_context_warp_nbytes, contexts of both kinds */
    uint32_t *tickets; /* a counter of each grid, 0 before each kernel that deals out chunks */
    floe_context_dev_tables
        *tables;      /* encode: FLOE_CONTEXT_RUN for each grid; number k is of it and the k grids before it */
    uint32_t *status; /* not 0: kernels do nothing. decode: becomes FLOE_ERR_FORMAT if a chunk is damaged */
    /* encode */
    uint32_t *counts; /* FLOE_CONTEXT_COUNTS of each grid */
    uint32_t every;   /* count: one in `every` chunks is counted; a grid's nchunks are those that are */
    uint64_t *done;   /* tables: blocks that are done, 0 at first */
    floe_context_dev_bytes *bytes;
    /* count keeps tokens for encode, as far as there is room. windows NULL: it keeps none. */
    floe_context_dev_window *windows;
    uint32_t *tokens;
    uint64_t ntokens, *tokens_taken; /* how many there is room for, less than 2^32; how many are taken, 0 at first */
    uint16_t *slots;
    uint64_t
        *slot_ends;  /* in words of 16 bits: how many are taken, 0 at first; then where the slot of each chunk ends */
    uint32_t *sizes; /* of each chunk, in words of 32 bits */
    uint32_t *sums;  /* of each chunk, for checks; NULL: none are made */
    /* Whether a chunk has a code that is not 0. Count sets it; all are 0 before. tally takes the other chunks out of the counts, and encode
     * gives them the size 0. NULL: all chunks are coded. */
    uint8_t *busy;
    /* decode */
    const uint8_t *src;
    const uint64_t *places; /* where each chunk begins in src, and where it ends */
    uint32_t ans_begin;     /* the state with which encoding began: FLOE_ANS_BEGIN; in older streams FLOE_ANS_LEAST */
    bool sparse;            /* a chunk of no bytes has zeros; the caller has set its records to 0 */
} floe_context_job;

FLOE_HD floe_context_dev_grid floe_context_dev_grid_of(const floe_context_spec *spec, const floe_context_grid *grid,
                                                       void *records)
{
    floe_context_dev_grid g;
    memset(&g, 0, sizeof g);
    g.records = records;
    g.grid = *grid;
    g.spec = *spec;
    g.nchunks = (uint32_t)floe_context_nchunks(grid);
    return g;
}

FLOE_HD void floe_context_job_add(floe_context_job *job, const floe_context_dev_grid *g)
{
    job->ngrids++;
    job->nchunks += g->nchunks;
    job->warp_nbytes = (uint32_t)floe_max64(job->warp_nbytes, floe_context_warp_nbytes(&g->spec));
    job->nmasks = (uint32_t)floe_max64(job->nmasks, floe_context_masks(&g->spec));
    job->nvalues = (uint32_t)floe_max64(job->nvalues, floe_context_values(&g->spec));
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
