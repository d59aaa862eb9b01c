/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernels of codec zfp share: where the scratch of a chunk is, and walks over all chunks at once. */
#ifndef FLOE_CODEC_ZFP_GPU_ZFP_GRID_DEV_CUH
#define FLOE_CODEC_ZFP_GPU_ZFP_GRID_DEV_CUH

#include "backend/device.cuh"
#include "backend/device_digit.cuh"
#include "codec/zfp/gpu/zfp_grid.h"
#include "codec/zfp/gpu/zfp_tiles.cuh"
#include "field/dtype_math.h"
#include "stage/zfpblock/zfpblock_params_math.h"

enum {
    FLOE_ZFP_SPAN_WORDS = FLOE_ZFP_SPAN_CELLS / FLOE_ZFP_WORD_CELLS,
    FLOE_ZFP_SPAN_TOPS = FLOE_ZFP_SPAN_WORDS / 64,
    FLOE_ZFP_SPAN_THREADS = 256,
    FLOE_ZFP_MOST_BLOCKS = 1 << 14 /* of a grid that strides */
};

/* Of partitions of the side index, for worklets of index_prim_math.h: least, width, words, and words in front. */
enum { FLOE_ZFP_PART_LEAST, FLOE_ZFP_PART_WIDTH, FLOE_ZFP_PART_NWORDS, FLOE_ZFP_PART_AT, FLOE_ZFP_PART_ARRAYS };

FLOE_DEV bool floe_zfp_wants(const floe_zfp_dev_chunk *c, uint32_t attempt) { return c->attempts >> attempt & 1; }

/* Whether an attempt does the chunk: to be cleaned is not decided before, but found out. */
FLOE_DEV bool floe_zfp_is_done(const floe_zfp_dev_chunk *c, uint32_t attempt)
{
    return attempt == FLOE_ZFP_CLEANED ? c->cleaned != 0 : floe_zfp_wants(c, attempt);
}

/* Whether the attempt has found out that it is void, so far. */
FLOE_DEV bool floe_zfp_is_void(const floe_zfp_dev_chunk *c, uint32_t attempt)
{
    return attempt == FLOE_ZFP_CLOSELY && *(const volatile uint32_t *)&c->cleaned != 0;
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

FLOE_DEV floe_zfp_type floe_zfp_type_of_dtype(floe_dtype dtype)
{
    return dtype == FLOE_F32   ? FLOE_ZFP_F32
           : dtype == FLOE_F64 ? FLOE_ZFP_F64
           : dtype == FLOE_I32 ? FLOE_ZFP_I32
                               : FLOE_ZFP_I64;
}

FLOE_DEV uint32_t floe_zfp_size_of(const floe_zfp_grid_encode &call)
{
    return floe_dtype_is_narrow(call.field.dtype) ? 4 : 8;
}

/* What follows from a chunk's shape. */
FLOE_DEV void floe_zfp_count(const floe_dev_field &field, floe_zfp_dev_chunk *c)
{
    c->array.type = floe_zfp_type_of_dtype(field.dtype);
    c->array.rank = field.rank;
    c->ncells = c->nblocks = 1;
    for (uint32_t i = 0; i < field.rank; i++) {
        c->array.stride[i] = field.stride[i];
        c->ncells *= c->array.shape[i];
        c->nblocks *= floe_ceil_div(c->array.shape[i], FLOE_ZFP_SIDE);
    }
    c->nwords = floe_ceil_div(c->ncells, FLOE_ZFP_WORD_CELLS);
    c->nspans = floe_ceil_div(c->ncells, FLOE_ZFP_SPAN_CELLS);
}

/* What an attempt asks of zfp. */
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
FLOE_DEV uint64_t *floe_zfp_set_of(const floe_zfp_grid_encode &call, uint64_t c, uint32_t set)
{
    return call.sets[set] + c * call.room.nwords;
}
FLOE_DEV floe_zfp_dev_span *floe_zfp_spans_of(const floe_zfp_grid_encode &call, uint64_t c)
{
    return call.spans + c * call.room.nspans;
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

/* ---- cells ------------------------------------------------------------------------------------------------------------- */

/* Offset of a cell, in elements. */
FLOE_DEV int64_t floe_zfp_cell_at(const floe_zfp_array &a, uint64_t cell)
{
    int64_t at = 0;
    for (uint32_t i = a.rank; i-- > 1;)
        at += (int64_t)floe_last_digit(cell, a.shape[i]) * a.stride[i];
    return at + (int64_t)cell * a.stride[0];
}

/* The cells of a word: mostly they lie in one row. */
struct floe_zfp_word {
    uint64_t cell; /* the first */
    int64_t at;    /* its offset */
    bool in_row;   /* so do all FLOE_ZFP_WORD_CELLS */
};

FLOE_DEV floe_zfp_word floe_zfp_word_of(const floe_zfp_array &a, uint64_t cell)
{
    uint64_t rows = cell;
    const uint64_t length = a.shape[a.rank - 1], x = floe_last_digit(rows, length);
    return {cell, floe_zfp_cell_at(a, cell), x + FLOE_ZFP_WORD_CELLS <= length};
}

/* Offset of the word's cell i, in elements. */
FLOE_DEV int64_t floe_zfp_in_word(const floe_zfp_array &a, const floe_zfp_word &w, uint32_t i)
{
    return w.in_row ? w.at + (int64_t)i * a.stride[a.rank - 1] : floe_zfp_cell_at(a, w.cell + i);
}

/* The pattern of a cell. */
FLOE_DEV uint64_t floe_zfp_bits_at(const floe_zfp_array &a, uint32_t size, uint64_t cell)
{
    const int64_t at = floe_zfp_cell_at(a, cell);
    return size == 4 ? ((const uint32_t *)a.data)[at] : ((const uint64_t *)a.data)[at];
}

/* The patterns that may be many: fill, -0, and the first that is not finite. */
FLOE_DEV void floe_zfp_palette_of(const floe_zfp_grid_encode &call, const floe_zfp_dev_chunk *c, uint64_t *palette)
{
    const uint64_t sign = floe_dtype_sign(call.field.dtype);
    palette[0] = call.params->has_fill ? call.params->fill_bits : sign;
    palette[1] = sign;
    palette[2] = c->first_odd < c->ncells ? floe_zfp_bits_at(c->array, floe_zfp_size_of(call), c->first_odd) : sign;
}

/* The sum over the threads before this one of a block of FLOE_ZFP_SPAN_THREADS; *all: of the whole block. */
FLOE_DEV uint64_t floe_zfp_sum_before(uint64_t v, uint64_t *sums, uint64_t *all)
{
    return floe_block_sum_before(v, sums, FLOE_ZFP_SPAN_THREADS / FLOE_WARP, all);
}

static inline uint32_t floe_zfp_blocks_for(uint64_t n)
{
    return (uint32_t)floe_min64(floe_max64(n, 1), FLOE_ZFP_MOST_BLOCKS);
}

#endif
