/* SPDX-License-Identifier: BSD-3-Clause */
/* The entropy chunks of a grid of records, over threads. */
#ifndef FLOE_STAGE_INTERP_ENTROPY_H
#define FLOE_STAGE_INTERP_ENTROPY_H

#include "base/arena.h"
#include "stage/context/context.h"
#include "stage/interp/interp_shape.h"

enum { FLOE_INTERP_PLANE_ROWS = 64 /* of a plane of a chunk with contexts of planes, at most */ };

/* Records of width w in rows of a lattice: where there are few rows, they are laid again. */
floe_context_grid floe_interp_grid_of(uint64_t planes, uint64_t rows, uint64_t columns, uint32_t most,
                                      uint32_t of_plane);

typedef struct floe_interp_entropy {
    const floe_cpu *cpu;
    const floe_context_ops *ops;
    uint8_t *workers; /* scratch of each, for coding and for tiles */
    size_t worker_nbytes;
    bool sparse;                   /* chunks of zeros have size 0; else they are as others */
    uint32_t *counts;              /* encode: of each worker */
    uint8_t *slots;                /* encode: chunks that wait for their place */
    floe_ans_symbol *symbols;      /* encode */
    floe_context_decoder *decoder; /* decode */
} floe_interp_entropy;

/* Takes its scratch; worker_nbytes: what others need of a worker. */
floe_interp_entropy floe_interp_entropy_take(const floe_cpu *cpu, bool encode, size_t worker_nbytes, floe_arena *arena);
static inline void *floe_interp_worker(const floe_interp_entropy *e, uint32_t worker)
{
    return e->workers + worker * e->worker_nbytes;
}

typedef struct floe_interp_records {
    const floe_context_spec *spec;
    const floe_context_grid *grid;
    void *data;
} floe_interp_records;

/* Of every so-manieth chunk of a grid: counts are set, not added to. */
void floe_interp_count(const floe_interp_entropy *e, const floe_interp_records *r, uint64_t every, uint32_t *counts);

/* The same, added to counts. */
void floe_interp_count_more(const floe_interp_entropy *e, const floe_interp_records *r, uint64_t every,
                            uint32_t *counts);

/* Lanes of all chunks that are not of zeros alone: each takes a state. */
uint64_t floe_interp_busy(const floe_interp_entropy *e, const floe_interp_records *r);

/* Writes the chunks at `to`, their sizes, of 2 or 4 bytes, at sizes, and checks (NULL: none), of 2 bytes for 2^checked chunks. A size that
 * does not fit sets *too_long. */
typedef struct floe_interp_sizes {
    uint8_t *at, *checks;
    bool wide, too_long;
    uint32_t checked, sum; /* sum: of the check that is being made */
} floe_interp_sizes;
void floe_interp_encode(const floe_interp_entropy *e, const floe_interp_records *r, const floe_context_tables *tables,
                        floe_interp_sizes *sizes, floe_cursor *to);

/* Decodes the chunks that have records of the box (NULL: all). src: nbytes of the chunks; sizes: theirs; checks: of 2^checked of them each,
 * or NULL. False where a chunk is none, unless damaged (may be NULL) takes its number, whose records become 0. */
typedef struct floe_interp_stream {
    const uint8_t *sizes, *src, *checks;
    uint64_t nbytes; /* what the sizes add up to; with damaged perhaps fewer: chunks that end behind them are damaged */
    bool wide;
    uint32_t checked;
    void (*damaged)(void *user, uint64_t index);
    void *user;
} floe_interp_stream;
/* src, out of `from`: so many chunks; false where it lacks them, but with damaged what there is. */
bool floe_interp_stream_take(floe_interp_stream *stream, uint64_t nchunks, floe_reader *from);
bool floe_interp_decode(const floe_interp_entropy *e, const floe_interp_records *r, const floe_interp_stream *stream,
                        const floe_context_box *box);

/* Records of the rows of a box, of n points, and of columns; all where their grid was laid again, and has no rows. */
floe_context_box floe_interp_rows_box(const floe_context_grid *g, const uint64_t n[FLOE_INTERP_RANK],
                                      const floe_interp_box *b, const uint64_t columns[2]);
/* Those of a step's cells. */
floe_context_box floe_interp_cells_box(const floe_context_grid *g, const floe_interp_step *s,
                                       const floe_interp_box *cells);

static inline uint64_t floe_interp_sizes_add(const uint8_t *sizes, bool wide, uint64_t n)
{
    uint64_t nbytes = 0;
    for (uint64_t i = 0; i < n; i++)
        nbytes += 4 * (uint64_t)(wide ? floe_load32(sizes + 4 * i) : floe_load16(sizes + 2 * i));
    return nbytes;
}

/* Tables with their size in front. */
void floe_interp_tables_write(const floe_context_spec *spec, const floe_context_tables *tables, floe_cursor *to);
bool floe_interp_tables_read(const floe_context_spec *spec, floe_reader *from, floe_context_tables *tables);

/* Tables of grids in turn, each with those of the grids before it where that takes no more. */
typedef struct floe_interp_sharing {
    const floe_cpu *cpu;
    floe_context_tables *tables; /* of each grid, and room for one more */
    uint32_t *sum;               /* counts of those that share */
    uint32_t ngrids, root;       /* root: the grid whose tables the last one has; ngrids: there is none yet */
    uint64_t cost;
} floe_interp_sharing;
/* Whether grid i has those of others. own: its counts, by this spec as all. */
bool floe_interp_tables_share(floe_interp_sharing *s, const floe_context_spec *spec, const uint32_t *own, uint32_t i);

#endif
