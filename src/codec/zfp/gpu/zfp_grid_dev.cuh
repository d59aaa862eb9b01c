/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernels of codec zfp share: where the scratch of a chunk is, and walks over all chunks at once. */
#ifndef FLOE_CODEC_ZFP_GPU_ZFP_GRID_DEV_CUH
#define FLOE_CODEC_ZFP_GPU_ZFP_GRID_DEV_CUH

#include "base/grid_math.h"
#include "codec/zfp/gpu/zfp_grid.h"
#include "codec/zfp/gpu/zfp_tiles.cuh"
#include "stage/cells/cells_dev.cuh"
#include "stage/zfpblock/zfpblock_params_math.h"

enum { FLOE_ZFP_MOST_BLOCKS = 1 << 14 /* of a grid that strides */ };

FLOE_DEV bool floe_zfp_wants(const floe_zfp_dev_chunk *c, uint32_t attempt) { return c->attempts >> attempt & 1; }

/* Whether an attempt does the chunk: attempt 0 finds out where values must be replaced, unless the field has fill values. */
FLOE_DEV bool floe_zfp_is_done(const floe_zfp_dev_chunk *c, uint32_t attempt)
{
    return attempt == FLOE_ZFP_REPLACED ? c->replaced != 0 : floe_zfp_wants(c, attempt);
}

/* Whether the attempt has found out that it is void, so far. */
FLOE_DEV bool floe_zfp_is_void(const floe_zfp_dev_chunk *c, uint32_t attempt)
{
    return attempt == FLOE_ZFP_CLOSELY && *(const volatile uint32_t *)&c->replaced != 0;
}

/* Blocks may be cut off in the middle of a plane: what becomes of their values shows when they are decoded. */
FLOE_DEV bool floe_zfp_is_cut(const floe_zfp_grid_encode &call) { return call.params->mode == FLOE_BOUND_RATE; }

/* Whether there is anything to do for an attempt at all. */
FLOE_DEV bool floe_zfp_goes_on(const floe_zfp_grid_encode &call, uint32_t attempt)
{
    return *call.status == FLOE_OK && call.cleared[FLOE_ZFP_GRID_WANTED + attempt] != 0;
}
FLOE_DEV void floe_zfp_want(const floe_zfp_grid_encode &call, floe_zfp_dev_chunk *c, uint32_t attempt)
{
    c->attempts |= 1u << attempt;
    call.cleared[FLOE_ZFP_GRID_WANTED + attempt] = 1;
}

/* Values of the chunk must be replaced: it is coded once more. */
FLOE_DEV void floe_zfp_want_replaced(const floe_zfp_grid_encode &call, floe_zfp_dev_chunk *c)
{
    c->replaced = 1;
    call.cleared[FLOE_ZFP_GRID_WANTED + FLOE_ZFP_REPLACED] = 1;
}

/* The rest of what follows from a chunk's array. */
FLOE_DEV void floe_zfp_begin_chunk(floe_zfp_dev_chunk *c, const floe_dev_field &field, floe_cells_chunk *cells)
{
    floe_cells_array a;
    a.data = c->array.data;
    a.dtype = field.dtype;
    a.rank = c->array.rank = field.rank;
    c->array.type = floe_zfp_type_of(field.dtype);
    c->cells = cells;
    c->nblocks = 1;
    for (uint32_t i = 0; i < field.rank; i++) {
        a.shape[i] = c->array.shape[i];
        a.stride[i] = c->array.stride[i] = field.stride[i];
        a.lo[i] = c->array.lo[i];
        a.hi[i] = c->array.hi[i];
        c->nblocks *= floe_ceil_div(c->array.shape[i], FLOE_ZFP_SIDE);
    }
    floe_cells_begin(cells, a);
}

/* A chunk that is to be encoded: what does not depend on params. */
FLOE_DEV void floe_zfp_begin_early(const floe_zfp_grid_encode &call, uint64_t number)
{
    const floe_dev_field &f = call.field;
    floe_zfp_dev_chunk *c = call.chunks + number;
    uint64_t lo[FLOE_MAX_RANK];
    int64_t at = 0;
    memset(c, 0, sizeof *c);
    floe_grid_cut(f.rank, call.grid.shape, call.grid.chunk, number, lo, c->array.shape);
    for (uint32_t i = 0; i < f.rank; i++)
        at += (int64_t)lo[i] * f.stride[i];
    c->array.data = (uint8_t *)f.data + at * (int64_t)floe_cells_size(f.dtype);
    c->first_good = ~0ull;
    floe_zfp_begin_chunk(c, f, call.cells.chunks + number);
}

FLOE_DEV void floe_zfp_begin_late(const floe_zfp_grid_encode &call, uint64_t number, const floe_codec_params *params)
{
    floe_zfp_dev_chunk *c = call.chunks + number;
    const bool close =
        floe_zfp_close_params(params, c->array.type, c->array.rank, c->cells->ncells, c->nblocks, &c->close);
    floe_cells_palette(c->cells->palette, call.field.dtype, params->has_fill, params->fill_bits);
    floe_zfp_want(call, c, close ? FLOE_ZFP_CLOSELY : FLOE_ZFP_REVERSIBLY);
    if (close && params->has_fill) /* which attempt 0 would only find out */
        floe_zfp_want_replaced(call, c);
}

/* What an attempt requires of zfp. */
FLOE_DEV floe_zfp_params floe_zfp_params_for(const floe_zfp_dev_chunk *c, uint32_t attempt)
{
    floe_zfp_params reversible = floe_zfp_params_everything();
    reversible.minexp = FLOE_ZFP_MIN_EXP - 1;
    return attempt == FLOE_ZFP_REVERSIBLY ? reversible : c->close;
}

/* ---- scratch of chunk c ------------------------------------------------------------------------------------------------ */

FLOE_DEV uint64_t *floe_zfp_offsets_of(const floe_zfp_grid_encode &call, uint64_t c)
{
    return call.offsets + c * (call.room.nindex + 1);
}
FLOE_DEV uint64_t *floe_zfp_parts_of(const floe_zfp_grid_encode &call, uint64_t c, uint32_t array)
{
    return call.part_needs + (c * FLOE_ZFP_PART_ARRAYS + array) * (call.room.npartitions + 1);
}
FLOE_DEV uint32_t *floe_zfp_coded_of(const floe_zfp_grid_encode &call, uint64_t c)
{
    return call.coded + c * call.room.stream_words;
}
FLOE_DEV floe_zfp_tiles floe_zfp_tiles_of(const floe_zfp_grid_encode &call, uint64_t c, uint32_t attempt)
{
    const uint64_t slots = call.grid.slots, nslots = call.grid.nchunks * slots;
    const floe_zfp_tiles tiles = {floe_zfp_coded_of(call, c), call.room.stream_words, 0,
                                  call.states + attempt * nslots + c * slots, (floe_zfp_edges *)call.edges + c * slots};
    return tiles;
}

static inline uint32_t floe_zfp_blocks_for(uint64_t n)
{
    return (uint32_t)floe_min64(floe_max64(n, 1), FLOE_ZFP_MOST_BLOCKS);
}

#endif
