/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Codec lorenzo on a GPU: what its kernels share, and the steps of a call. All chunks of a field are coded by the same
 * kernels at once, straight to their places in the stream (or from them); the bytes are those of the CPU.
 *
 * Compression, each step puts kernels on a stream and returns a cudaError_t as a number; nothing allocates or waits:
 *
 *   resolve       params: range, fill value, bound, quantizer; and begin, unless there are very many chunks
 *                                                                                                  lorenzo_resolve_cuda.cu
 *   begin         a floe_dev_chunk for each chunk: geometry, which axis is slow, table of values   lorenzo_begin_cuda.cu
 *   encode        fast: tiles to their places.  balanced: drafts and histograms                    lorenzo_encode_*
 *   judge         chunks with too many literals are to be done again bit for bit; fast: encode finds out itself
 *                                                                                                  lorenzo_begin_cuda.cu
 *   encode        again, for nothing if there are none
 *   small         fast, f32, one chunk of few tiles: those three at once, and what finishes the stream   device/lorenzo/small_*
 *   books, code   balanced: codebooks, then drafts to final tiles at their places   stage/huffman, lorenzo_code_*.
 *                 Coding begins while the books' words are being made
 *   (the caller)  checksums, record heads, index                        container/container_cuda.h
 *
 * Decompression:
 *
 *   open          a floe_dev_chunk for each chunk: its own header checked, view, parts, where each tile's words are
 *                 lorenzo_open_cuda.cu, for records that have been checked, and for whole streams, whose header, index and
 *                 checksums are checked meanwhile (container/container_cuda.h); of preset fast by the kernel that decodes:
 *                                                                                           device/lorenzo/fused_decode_real_cuda.cu
 *   books         balanced: decoding tables                                                               stage/huffman
 *   decode        tiles to values                                                                         lorenzo_decode_*
 *
 * A call that fails anywhere sets *status (a floe_status; the first one stays) and later kernels do nothing.
 *
 * Slots: chunk c has the tile slots c * slots .. c * slots + slots - 1, of which its view.ntiles first ones are tiles.
 * slots is a multiple of FLOE_BATCH_TILES, so that the tiles of a block that decodes are of one chunk.
 */
#ifndef FLOE_CODEC_LORENZO_GPU_LORENZO_DEVICE_H
#define FLOE_CODEC_LORENZO_GPU_LORENZO_DEVICE_H

#include "codec/codec_device.h"
#include "codec/lorenzo/format/lorenzo_layout.h"
#include "stage/huffman/huffman_book_cuda.h"
#include "stage/quantizer/quantizer.h"
#include "stage/tile/view.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FLOE_BATCH_TILES = 4,
    /* Words of a draft's slot, for f32 (twice that for f64): a tile whose draft is larger is coded from the field itself. */
    FLOE_DRAFT_SLOT_WORDS = FLOE_TILE_VALUES
};

/* A draft of kind CODED begins with a word that holds how many words its prefix has, and what the body behind that is made
 * of: as stage pack has it or, with this bit, of symbols (stage/huffman/huffman_symbols_dev.cuh). */
#define FLOE_DRAFT_SYMBOLS 0x80000000u

/* What the values of the whole field have decided; device memory. */
typedef struct floe_dev_params {
    floe_codec_params codec;
    floe_quantizer quantizer; /* LINEAR, LOG or BITS */
    floe_quantizer bits;      /* for chunks in which that keeps too little */
} floe_dev_params;

/* A chunk; device memory. Written by begin or open, then by the kernels that are named. */
typedef struct floe_dev_chunk {
    floe_view view;
    uint64_t ncells;
    void *origin;                   /* the chunk's first cell in the field (decode: cell region_lo, in the output) */
    int64_t stride[FLOE_VIEW_AXES]; /* of the field, by view axis; elements */
    uint64_t region_lo[FLOE_VIEW_AXES];  /* the part that is wanted, in view axes; encode: all */
    uint64_t region_hi[FLOE_VIEW_AXES];  /* empty: nothing is wanted of this chunk */
    uint32_t swap, encoder, book_nwords; /* as in the chunk's header */
    floe_quantizer quantizer;            /* in force; table and slots are device memory */
    uint32_t attempt;                    /* encode: 0, or 1 where it is decided to retry. Indexes stats */
    floe_dev_chunk_stats stats[2];
    /* bytes from the start of the stream; set by open, or when tiles are placed */
    uint64_t entries_at, payload_at;
    uint64_t payload_nwords;
    uint32_t opened;   /* decode: what came of opening it, a floe_status. Without tiles unless that is FLOE_OK */
    uint32_t nchanged; /* encode: of a sample for a table, so many cells differ from a neighbour */
} floe_dev_chunk;

/* Tile slots that a chunk of this extent needs, whatever its view. */
uint64_t floe_lorenzo_slots(uint32_t rank, const uint64_t *extent);

/* ---- compression ---------------------------------------------------------------------------------------------------- */

typedef struct floe_lorenzo_encode_call {
    floe_dev_field field;
    floe_dev_grid grid; /* nchunks * slots below 2^31 */
    bool huffman;
    bool has_tables; /* params->codec may be LOSSLESS or allow tables: there is scratch for these */
    bool lossy;      /* it may be another: some chunks may need a second attempt */
    const floe_dev_params *params;
    floe_dev_chunk *chunks;
    uint8_t *stream; /* 16-byte aligned */
    uint64_t capacity;
    uint64_t first_offset; /* of the first record; a multiple of 8 */
    floe_dev_record *records;
    uint64_t *end; /* out: where the last record ends */
    uint32_t *status;
    uint32_t *retry; /* nonzero: some chunk has attempt 1. 0 at first */
    /* scratch */
    void *place_state[2]; /* of each attempt; cleared by begin, place_nbytes each */
    uint64_t place_nbytes;
    uint32_t *spill; /* of the blocks that encode */
    /* balanced only */
    uint32_t *drafts;                       /* a slot of FLOE_DRAFT_SLOT_WORDS (f32) or twice that a tile slot */
    uint32_t *draft_entries, *draft_nwords; /* a word each a tile slot */
    floe_huffman_hist *hists;               /* a chunk each; cleared by begin */
    floe_huffman_book *books;
    uint32_t *book_words;  /* FLOE_HUFFMAN_BOOK_WORDS a chunk */
    uint32_t *book_nwords; /* a chunk each */
    /* where it has tables */
    floe_table_slot *table_slots; /* sizes: floe_table_room_of in lorenzo_table.h */
    uint64_t *tables;
    void *table_scratch;
    double *error_tiles; /* psnr only: a tile slot each */
} floe_lorenzo_encode_call;

int floe_lorenzo_begin_cuda(const floe_lorenzo_encode_call *call, void *stream);
int floe_lorenzo_decide_retry_cuda(const floe_lorenzo_encode_call *call, void *stream);
/* attempt 0: all chunks; 1: does nothing unless *retry. Fast: all chunks again; balanced: the drafts of those chunks. */
int floe_lorenzo_encode_cuda(const floe_lorenzo_encode_call *call, uint32_t attempt, void *stream);
/* Where a call has but one chunk, and no value decides anything, the host can compute what begin would find out. By value. */
typedef struct floe_lorenzo_host_chunk {
    floe_dev_chunk chunk;
    floe_quantizer bits; /* as in floe_dev_params */
} floe_lorenzo_host_chunk;

/* The same where all chunks are full, so that each is like the first one but for where it begins. By value. */
typedef struct floe_lorenzo_uniform {
    floe_dev_chunk chunk;
    uint32_t along[FLOE_MAX_RANK]; /* chunks along each axis; 1 behind the last one */
    int64_t step[FLOE_MAX_RANK];   /* bytes of the field from one to the next */
} floe_lorenzo_uniform;

/* What begin would find out with this quantizer (NULL: it is not known yet); false: the host cannot compute it, or chunks differ. */
bool floe_lorenzo_uniform_of(const floe_lorenzo_encode_call *call, const floe_quantizer *quantizer,
                             floe_lorenzo_uniform *uniform);

/* Fast, f32, one chunk of so few tiles that all steps are done by one kernel: device/lorenzo/lorenzo_fused_cuda.h. */
/* Tiles: two for each block that runs at once, on the GPU's processors but no more than these (of an H100 or H200), by which
 * the kernels' tables are sized. */
enum { FLOE_SMALL_PROCESSORS = 132, FLOE_SMALL_MOST = 8 * FLOE_SMALL_PROCESSORS };
bool floe_lorenzo_is_small(const floe_lorenzo_encode_call *call);
uint64_t floe_lorenzo_small_spill_nbytes(const floe_dev_grid *grid);
/* Balanced: drafts -> tiles, with the books. */
int floe_lorenzo_code_cuda(const floe_lorenzo_encode_call *call, void *stream);
uint64_t floe_lorenzo_place_nbytes(const floe_dev_grid *grid);
/* Of such a field type, grid and encoder. */
uint64_t floe_lorenzo_spill_nbytes(const floe_lorenzo_encode_call *call);

/* ---- decompression -------------------------------------------------------------------------------------------------- */

/* A tile slot, opened: 16 bytes, so that one load brings all that fetching the tile's words takes. */
typedef struct floe_lorenzo_slot {
    uint64_t word;  /* of the stream: the tile's first one */
    uint32_t entry; /* as the chunk has it; 0, no words, where the slot has no tile, or its chunk is not right */
    uint32_t encoder;
} floe_lorenzo_slot;

typedef struct floe_lorenzo_decode_call {
    floe_dev_field field; /* the output: the box lo..hi of the stream's field */
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    /* device memory: the shape of the stream's field and, right behind it, that of a full chunk (floe_header has them so) */
    const uint64_t *layout;
    floe_dev_grid *grid; /* device memory; open fills it */
    const uint8_t *stream;
    const floe_dev_record *records;
    uint64_t max_chunks, max_slots; /* room in the scratch: chunks, tile slots in all. More is FLOE_ERR_LIMIT */
    floe_dev_chunk *chunks;
    floe_lorenzo_slot *slots;       /* of the grid's chunks */
    floe_huffman_decoder *decoders; /* a chunk each; NULL when max_chunks have encoder pack */
    uint64_t *book_at;              /* of each chunk; UINT64_MAX: it has none */
    uint32_t *book_nwords, *book_bad;
    uint64_t *tables; /* FLOE_TABLE_MAX a chunk, ordered patterns; NULL: a table is FLOE_ERR_LIMIT */
    uint32_t *spill;
    uint32_t *status;
} floe_lorenzo_decode_call;

/* A grid of chunks that a stream is likely to have. Where it has, less is left to be found out: by one thread of a block,
 * while all others wait. nchunks 0: nothing is expected. */
typedef struct floe_lorenzo_expected_grid {
    uint64_t nchunks, slots;
    uint64_t shape[FLOE_MAX_RANK], chunk[FLOE_MAX_RANK];
    uint32_t along[FLOE_MAX_RANK]; /* chunks along each axis */
    floe_dev_chunk full; /* the first one, without swap: view, cells, region, strides and origin, where all is wanted */
    bool all;            /* so it is */
} floe_lorenzo_expected_grid;

/* That of a grid that floe_lorenzo_grid made, for a call whose field, box and max_slots are set. */
void floe_lorenzo_expected_grid_of(const floe_dev_grid *grid, const floe_lorenzo_decode_call *call,
                                   floe_lorenzo_expected_grid *expected);

/* Chunks to be opened. */
typedef struct floe_open_job {
    /* records NULL: of a whole stream. Then layout is not looked at, *status becomes FLOE_OK, and what came of it is in each chunk's
     * `opened` alone. Else layout and records are right, *status is FLOE_OK before, and nothing else of the job matters */
    floe_lorenzo_decode_call call;
    floe_lorenzo_expected_grid expected;
    uint64_t shape[FLOE_MAX_RANK]; /* of the stream's field */
    uint64_t nbytes;               /* of the stream; or at most so many, where dev_nbytes points to the true number */
    const uint64_t *dev_nbytes;    /* or NULL */
} floe_open_job;

int floe_lorenzo_open_cuda(const floe_open_job *job, void *stream);
/* Books of opened chunks -> decoding tables, where chunks may have any. */
int floe_lorenzo_books_cuda(const floe_lorenzo_decode_call *call, void *stream);
int floe_lorenzo_decode_cuda(const floe_lorenzo_decode_call *call, void *stream);
uint64_t floe_lorenzo_decode_spill_nbytes(floe_dtype dtype, uint64_t max_slots);

#ifdef __cplusplus
}
#endif
#endif
