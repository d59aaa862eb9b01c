/* SPDX-License-Identifier: BSD-3-Clause */
/* A grid of records <-> its entropy chunks, on the CPU's threads. */
#ifndef FLOE_STAGE_RECORDS_H
#define FLOE_STAGE_RECORDS_H

#include "base/arena.h"
#include "stage/context/context.h"
#include "stage/lattice/lattice_math.h"

enum { FLOE_RECORDS_PLANE_ROWS = 64 /* of a plane of a chunk with contexts of planes, at most */ };

/* The grid for records that lie in rows of a lattice. Where there are too few rows to fill the lanes, it is cut in another way. */
floe_context_grid floe_records_grid_of(uint64_t planes, uint64_t rows, uint64_t columns, uint32_t most,
                                       uint32_t of_plane);

typedef struct floe_records_coder {
    const floe_cpu *cpu;
    const floe_context_ops *ops;
    uint8_t *workers; /* the scratch of each worker, for coding and for tiles */
    size_t worker_nbytes;
    bool sparse;                   /* a chunk of zeros alone takes 0 bytes; otherwise it is coded like others */
    uint32_t *counts;              /* encode: of each worker */
    uint8_t *slots;                /* encode: holds chunks until their places are known */
    floe_ans_symbol *symbols;      /* encode */
    floe_context_decoder *decoder; /* decode */
} floe_records_coder;

/* Takes the scratch. worker_nbytes: bytes that the caller needs for each worker. */
floe_records_coder floe_records_coder_take(const floe_cpu *cpu, bool encode, size_t worker_nbytes, floe_arena *arena);
static inline void *floe_records_worker(const floe_records_coder *e, uint32_t worker)
{
    return e->workers + worker * e->worker_nbytes;
}

typedef struct floe_records {
    const floe_context_spec *spec;
    const floe_context_grid *grid;
    void *data;
} floe_records;

/* Counts the symbols of every `every`-th chunk of a grid. Counts are set, not added to. Returns the lanes of the chunks that were counted,
 * which are not those of zeros alone if e->sparse. Each such lane takes a state. */
uint64_t floe_records_count(const floe_records_coder *e, const floe_records *r, uint64_t every, uint32_t *counts);

/* The same, but adds to counts. */
uint64_t floe_records_count_more(const floe_records_coder *e, const floe_records *r, uint64_t every, uint32_t *counts);

/* Where encoding writes sizes of chunks, 2 or 4 bytes each, and checks (NULL: none), 2 bytes for 2^checked chunks. A size that does not
 * fit sets too_long. The chunks themselves go to `to`. */
typedef struct floe_records_sizes {
    uint8_t *at, *checks;
    bool wide, too_long;
    uint32_t checked, sum; /* sum: of the chunks since the last check */
} floe_records_sizes;
void floe_records_encode(const floe_records_coder *e, const floe_records *r, const floe_context_tables *tables,
                         floe_records_sizes *sizes, floe_cursor *to);

/* Decodes the chunks that have records of the box (NULL: all). src: their nbytes bytes; checks: one for 2^checked chunks, or NULL. A damaged
 * chunk is reported to `damaged`, and its records become 0. Without `damaged` decoding returns false. */
typedef struct floe_records_stream {
    const uint8_t *sizes, *src, *checks;
    uint64_t nbytes; /* the sum of the sizes. With `damaged` it may be less: chunks that end behind it are damaged */
    bool wide;
    uint32_t checked;
    void (*damaged)(void *user, uint64_t index);
    void *user;
} floe_records_stream;
/* Takes src with nchunks chunks out of `from`. Returns false where bytes are missing; with `damaged` it takes what there is. */
bool floe_records_stream_take(floe_records_stream *stream, uint64_t nchunks, floe_reader *from);
bool floe_records_decode(const floe_records_coder *e, const floe_records *r, const floe_records_stream *stream,
                         const floe_context_box *box);

/* Whether a grid has the rows of lattice n, or was cut in another way. */
static inline bool floe_records_grid_has_rows(const floe_context_grid *g, const uint64_t n[FLOE_LATTICE_RANK])
{
    return g->size[0] == n[0] * n[1] && g->size[1] == n[2];
}
/* The records of the rows of a box of a lattice n, in a range of columns. row: records of a row. Where the grid has other rows: those from
 * the first of these records to the last. */
floe_context_box floe_records_rows_box(const floe_context_grid *g, const uint64_t n[FLOE_LATTICE_RANK], uint64_t row,
                                       const floe_lattice_box *b, const uint64_t columns[2]);
/* The records of a box of a step's cells. */
floe_context_box floe_records_cells_box(const floe_context_grid *g, const floe_lattice_step *s,
                                        const floe_lattice_box *cells);

static inline uint64_t floe_records_sizes_add(const uint8_t *sizes, bool wide, uint64_t n)
{
    uint64_t nbytes = 0;
    for (uint64_t i = 0; i < n; i++)
        nbytes += 4 * (uint64_t)(wide ? floe_load32(sizes + 4 * i) : floe_load16(sizes + 2 * i));
    return nbytes;
}

/* Tables <-> bytes, their size in front. */
void floe_records_tables_write(const floe_context_spec *spec, const floe_context_tables *tables, floe_cursor *to);
bool floe_records_tables_read(const floe_context_spec *spec, floe_reader *from, floe_context_tables *tables);

/* The tables of grids, one grid after another. A grid shares the tables of those before it where that takes no more bytes. */
typedef struct floe_records_sharing {
    const floe_cpu *cpu;
    floe_context_tables *tables; /* of each grid, and room for one more */
    uint32_t *sum;               /* counts of those that share */
    uint32_t ngrids, root;       /* root: the grid whose tables the last one uses; ngrids where there is none yet */
    uint64_t cost;
} floe_records_sharing;
/* Whether grid i shares the tables of grids before it. own: its counts. All grids have the same spec. */
bool floe_records_tables_share(floe_records_sharing *s, const floe_context_spec *spec, const uint32_t *own, uint32_t i);

#endif
