/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of values on a GPU: the scratch of lorenzo_table_real_cuda.cu beside what the call names. */
#ifndef FLOE_CODEC_LORENZO_GPU_BEGIN_LORENZO_TABLE_H
#define FLOE_CODEC_LORENZO_GPU_BEGIN_LORENZO_TABLE_H

#include "base/hd.h"
#include "codec/lorenzo/format/lorenzo_begin_math.h"
#include "codec/lorenzo/gpu/lorenzo_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the tables of a call have room for, by the cells of a full chunk. */
typedef struct floe_table_room {
    uint32_t most;   /* patterns of a chunk; 0: no chunk can have a table */
    uint32_t nslots; /* of a chunk's hash table: a power of two, at most FLOE_TABLE_SLOTS */
} floe_table_room;

FLOE_HD floe_table_room floe_table_room_of(const floe_dev_grid *grid, uint32_t rank)
{
    floe_table_room room = {0, 0};
    uint64_t ncells = 1;
    for (uint32_t i = 0; i < rank; i++)
        ncells *= grid->chunk[i];
    const floe_codec_params any = {.mode = FLOE_BOUND_LOSSLESS};
    room.most = floe_lorenzo_table_most(&any, ncells);
    room.nslots = room.most ? floe_table_mask(room.most) + 1 : 0;
    return room;
}

/* table_scratch: the patterns of each chunk, in the order of their arrival and then sorted in pieces; behind them the
 * state, all 0 at first. */
enum { FLOE_TABLE_PHASES = 6 };
typedef struct floe_table_state {
    uint32_t ticket;
    uint32_t done[FLOE_TABLE_PHASES]; /* pieces of work */
    uint32_t nlive;                   /* chunks that may get a table */
    uint32_t count[1];                /* of each chunk: its patterns so far */
} floe_table_state;

/* Patterns before the state, which is aligned to 16 bytes. */
FLOE_HD uint64_t floe_table_patterns(uint64_t nchunks, floe_table_room room)
{
    return (nchunks * room.most + 1) / 2 * 2;
}
FLOE_HD floe_table_state *floe_table_state_of(const floe_lorenzo_encode_call *call, floe_table_room room)
{
    return (floe_table_state *)((uint64_t *)call->table_scratch + floe_table_patterns(call->grid.nchunks, room));
}
FLOE_HD uint64_t floe_table_state_nbytes(uint64_t nchunks) { return sizeof(floe_table_state) + 4 * nchunks; }
FLOE_HD uint64_t floe_table_scratch_nbytes(const floe_dev_grid *grid, floe_table_room room)
{
    return floe_table_patterns(grid->nchunks, room) * sizeof(uint64_t) + floe_table_state_nbytes(grid->nchunks);
}

/* Where params->codec allows tables: gives each chunk a table if it has few values, each of them often. Else does
 * nothing. The chunks and the state are as begin leaves them. One kernel. */
int floe_lorenzo_tables_f32(const floe_lorenzo_encode_call *call, void *stream);
int floe_lorenzo_tables_f64(const floe_lorenzo_encode_call *call, void *stream);

#ifdef __cplusplus
}
#endif
#endif
