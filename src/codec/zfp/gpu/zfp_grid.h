/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codec zfp on a GPU: all chunks of a field at once, straight to their places in the stream (or from them); the bytes are
 * those of the CPU (zfp_chunk.h). Each step puts kernels on a stream and returns a cudaError_t as a number; nothing allocates
 * or waits. All pointers are device memory.
 *
 * Compression. The bound may be known to the device only, and what a chunk needs shows only when it has been coded: so there
 * are attempts, each of which does the chunks that want it, and nothing if there are none.
 *
 *   resolve        params: range, fill value, bound; and begin, unless there are very many chunks  zfp_resolve_cuda.cu
 *   begin          a floe_zfp_dev_chunk for each chunk                                    zfp_grid_cuda.cu
 *   encode 0       within the bound; what needs a correction is found in the same pass      zfp_encode_real_cuda.cu
 *                  Not of a field with fill values: values of all its chunks are replaced
 *   replace        where values must be replaced: by what; and names cells that hold the fill value
 *                                                                                         zfp_replace_real_cuda.cu
 *   encode 1       such chunks, with that. A fill value that zfp keeps is named no more: here, or by check
 *   check          at a fixed rate, what needs a correction is found here                   zfp_grid_check_real_cuda.cu
 *   sort           what is corrected, into its sets                                       stage/cells/cells_cuda.cu
 *   plan           sizes of all parts; chunks with too many corrections are to be coded reversibly      zfp_grid_cuda.cu
 *   encode 2       those. plan again: what is smaller
 *   encode 3       chunks that are smaller within the bound, again. plan again
 *   place, write   records one behind the other, and all parts into them; sets and values by stage/cells/cells_cuda.cu
 *   (the caller)   checksums, record heads, index                                         container/container_cuda.h
 *
 * Decompression:
 *
 *   open           a floe_zfp_dev_chunk for each chunk of a stream whose header and records have been checked: its own header,
 *                  sets and side index checked, places of its blocks                      zfp_grid_open_cuda.cu
 *   decode         blocks to values                                                       zfp_decode_real_cuda.cu
 *   put            the cells that the sets name                                           stage/cells/cells_cuda.cu
 *
 * A call that fails anywhere sets *status (a floe_status; the first one stands) and later kernels do nothing.
 */
#ifndef FLOE_CODEC_ZFP_GPU_ZFP_GRID_H
#define FLOE_CODEC_ZFP_GPU_ZFP_GRID_H

#include "base/arena.h"
#include "codec/codec_device.h"
#include "codec/resolve/resolve_cuda.h"
#include "codec/zfp/chunk/zfp_chunk_math.h"
#include "stage/cells/cells_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const floe_codec_device floe_zfp_gpu;

/* Attempts at encoding. */
enum {
    FLOE_ZFP_CLOSELY,  /* within the bound */
    FLOE_ZFP_REPLACED, /* the same, with values replaced */
    FLOE_ZFP_REVERSIBLY,
    FLOE_ZFP_CLOSELY_AGAIN, /* after all; its corrections are known */
    FLOE_ZFP_ATTEMPTS
};

/* A chunk. */
typedef struct floe_zfp_dev_chunk {
    floe_zfp_array array; /* the chunk in the field; decode: data are those of the box that is wanted */
    floe_cells_chunk *cells;
    uint64_t nblocks;
    /* encode */
    floe_zfp_params close;         /* what the bound requires of zfp */
    uint32_t attempts;             /* bit a: attempt a is wanted */
    uint32_t replaced;             /* not 0: some values must be replaced */
    unsigned long long first_good; /* first cell that zfp may see; ~0: none */
    floe_zfp_chunk close_parts;    /* where reversible was tried, too */
    /* both */
    floe_zfp_chunk parts;  /* the header, and where the parts are, from the start of the payload */
    floe_side_index index; /* body: decode only */
    uint64_t payload_at;   /* from the start of the stream */
    uint64_t nplaces;      /* decode: chunks of blocks that are decoded one by one */
    uint32_t each;         /* blocks in such a chunk */
    uint32_t opened;       /* decode: what came of opening it, a floe_status */
} floe_zfp_dev_chunk;

/* How much of everything a full chunk has; no other chunk has more. */
typedef struct floe_zfp_dev_room {
    uint64_t nblocks, nwords, nspans, nindex, npartitions; /* nindex: chunks of the side index */
    uint64_t stream_words;                                 /* of 32 bits: a stream that needs more is of no use */
} floe_zfp_dev_room;

/* ---- tiles ---------------------------------------------------------------------------------------------------------- */

enum { FLOE_ZFP_TILE_WARPS = 4 };

/* Blocks of a tile: 32 a warp, but of four axes, where a block takes four lanes. */
FLOE_HD uint32_t floe_zfp_tile_blocks(uint32_t rank) { return FLOE_ZFP_TILE_WARPS * (rank > 3 ? 8 : 32); }

/* Of partitions of the side index, for worklets of index_prim_math.h: least, width, words, and words in front. */
enum { FLOE_ZFP_PART_LEAST, FLOE_ZFP_PART_WIDTH, FLOE_ZFP_PART_NWORDS, FLOE_ZFP_PART_AT, FLOE_ZFP_PART_ARRAYS };

/* ---- compression ---------------------------------------------------------------------------------------------------- */

/* By value. */
typedef struct floe_zfp_grid_encode {
    floe_dev_field field;
    floe_dev_grid grid; /* slots: tiles of blocks */
    bool lossy;         /* params may have any mode but LOSSLESS */
    bool cut;           /* params have mode RATE: blocks end in the middle of a plane */
    const floe_codec_params *params;
    uint8_t *stream; /* 16-byte aligned */
    uint64_t capacity;
    uint64_t first_offset; /* of the first record; a multiple of 8 */
    floe_dev_record *records;
    floe_dev_chunk_stats *stats; /* of each chunk */
    uint64_t *end;               /* out: where the last record ends */
    uint32_t *status;
    /* scratch */
    floe_zfp_dev_room room;
    floe_zfp_dev_chunk *chunks;
    uint32_t *cleared; /* FLOE_ZFP_GRID_WORDS, then states, stats, spans, literals, summed: all that is 0 at first */
    uint64_t cleared_nbytes;
    uint64_t *states;     /* of the tiles of each attempt */
    uint64_t *edges;      /* of each tile: words that it shares with its neighbours */
    uint32_t *spill;      /* of the blocks of threads that encode */
    uint64_t spill_words; /* of one */
    uint32_t *coded;      /* streams: room.stream_words a chunk */
    uint64_t *offsets;    /* of the side index's chunks: room.nindex + 1 a chunk */
    uint64_t *part_needs; /* of partitions: FLOE_ZFP_PART_ARRAYS a chunk, each room.npartitions + 1 */
    /* where values are replaced: a bit for each cell that must be; of each word of 64 cells, the last cell in front of
     * it, in its span, that need not: its number in the span, and 1 */
    uint64_t *bad;
    uint32_t *last_good;
    floe_cells_grid cells;             /* lossy: what is corrected */
    double *block_errors, *error_sums; /* psnr only: squared errors of each block, of each chunk; else NULL */
    uint64_t *summed;                  /* psnr only, 0 at first: chunks whose squared errors are added up */
} floe_zfp_grid_encode;

enum {
    FLOE_ZFP_GRID_TICKETS = 0,                /* words: the next tile of each attempt */
    FLOE_ZFP_GRID_WANTED = FLOE_ZFP_ATTEMPTS, /* words: not 0 where some chunk wants the attempt */
    FLOE_ZFP_GRID_WORDS = 2 * FLOE_ZFP_ATTEMPTS
};

/* Fills grid (slots too) and room from the shape of a field and of its chunks. */
floe_status floe_zfp_grid_of(floe_dtype dtype, uint32_t rank, const uint64_t *shape, const uint64_t *chunk,
                             floe_dev_grid *grid, floe_zfp_dev_room *room, floe_error *err);
/* resolve_cuda.h, with all that floe_zfp_grid_begin_cuda does, of a call whose `cleared` is 0. One launch; another one with very
 * many chunks. */
int floe_zfp_resolve_cuda(const floe_zfp_grid_encode *call, const floe_resolve_job *job, void *stream);

/* ---- decompression -------------------------------------------------------------------------------------------------- */

/* By value. */
typedef struct floe_zfp_grid_decode {
    floe_dev_field field; /* the output: the box lo..hi of the stream's field */
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    /* the shape of the stream's field and, right behind it, that of a full chunk (floe_header has them so) */
    const uint64_t *layout;
    const uint64_t *nrecords; /* chunks that there are; at most max_chunks */
    const floe_dev_record *records;
    const uint8_t *stream;
    uint64_t max_chunks;
    floe_zfp_dev_room room; /* of a chunk; more is FLOE_ERR_LIMIT */
    floe_zfp_dev_chunk *chunks;
    floe_cells_grid cells;
    uint64_t *places; /* room.nblocks + 1 a chunk */
    uint32_t *status; /* FLOE_OK before */
} floe_zfp_grid_decode;

/* max_chunks and room are set. records, layout, nrecords and status stay the caller's. */
void floe_zfp_grid_decode_take(floe_zfp_grid_decode *call, floe_arena *arena);
/* Behind floe_zfp_grid_open_cuda. */
floe_status floe_zfp_grid_decode_start(const floe_zfp_grid_decode *call, void *stream, floe_error *err);

#ifdef __cplusplus
}
#endif
#endif
