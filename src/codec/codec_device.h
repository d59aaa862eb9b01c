/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a codec has to offer on a GPU: all chunks of a field at once, straight to their places in a stream or from them. A call is a
 * struct, of which the codec keeps its own part where nobody else looks. It is planned (sizes), takes its scratch, first of a plan
 * and then of device memory, is aimed at the stream, which a plan is not, and started. Every pointer is device memory, and what is started waits on a
 * stream. What goes wrong in the data is a floe_status in *status: the first one stands, and later kernels do nothing.
 * Plain types, for both compilers.
 */
#ifndef FLOE_CODEC_CODEC_DEVICE_H
#define FLOE_CODEC_CODEC_DEVICE_H

#include <assert.h>

#include "base/dev_record.h"
#include "base/hd.h"
#include "codec/codec.h"

/* The field as the caller has it. By value. */
typedef struct floe_dev_field {
    void *data; /* device memory */
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    int64_t stride[FLOE_MAX_RANK]; /* elements; may be negative */
} floe_dev_field;

/* The grid of chunks. Encode: known beforehand; decode: from the stream, device memory. */
typedef struct floe_dev_grid {
    uint64_t nchunks;
    uint32_t slots;                                      /* of work a chunk, as its codec has it */
    uint64_t shape[FLOE_MAX_RANK], chunk[FLOE_MAX_RANK]; /* of the field; of a full chunk */
} floe_dev_grid;
/* Slots are numbered by 32 bits, with room for the tickets of all blocks of threads behind the last. */
enum { FLOE_DEV_MOST_SLOTS = 1 << 30 };

/* 0 where chunks have no values. */
static inline uint64_t floe_codec_nchunks(uint32_t rank, const uint64_t *shape, const uint64_t *chunk)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < rank; i++)
        n *= chunk[i] ? floe_ceil_div(shape[i], chunk[i]) : 0;
    return n;
}

/* false: more slots than a device numbers. */
static inline bool floe_dev_grid_of(uint32_t rank, const uint64_t *shape, const uint64_t *chunk, uint64_t slots,
                                    floe_dev_grid *grid)
{
    const floe_dev_grid whole = {floe_codec_nchunks(rank, shape, chunk), (uint32_t)slots, {0}, {0}};
    *grid = whole;
    for (uint32_t i = 0; i < rank; i++) {
        grid->shape[i] = shape[i];
        grid->chunk[i] = chunk[i];
    }
    return slots <= FLOE_DEV_MOST_SLOTS && grid->nchunks <= FLOE_DEV_MOST_SLOTS / floe_max64(slots, 1);
}

/* A codec's own part of a call. */
typedef union floe_codec_own {
    uint8_t bytes[2560];
    uint64_t aligned;
} floe_codec_own;
#define FLOE_CODEC_OWN_FITS(type) static_assert(sizeof(type) <= sizeof(floe_codec_own), "room for a codec's own part")

/* Chunks that are done at once, each with so much scratch. statuses: what came of each lane's; what comes of a call is not to change while kernels
 * of another lane read it. */
typedef struct floe_codec_lanes {
    uint32_t n;
    size_t nbytes;
    uint8_t *scratch;
    uint32_t *statuses;
} floe_codec_lanes;

/* A field to be encoded. */
typedef struct floe_codec_encode {
    /* for encode_plan: the mode as the header has it */
    floe_dev_field field;
    uint64_t chunk[FLOE_MAX_RANK];
    floe_preset preset;
    floe_bound_mode mode;
    uint64_t first_offset;  /* of the first record; a multiple of 8 */
    uint64_t nchunks;       /* out */
    struct floe_cuda *cuda; /* of the call's context, for codecs that wait; the call's stream may be another */
    /* Of codecs that wait: chunks that are done at once, at most, and the threads that do so. 0 or NULL: one after another. */
    uint32_t most_lanes;
    const floe_cpu *cpu;
    /* out of encode_take */
    floe_dev_record *records; /* of the chunks, without checksums */
    uint64_t *end;            /* where the last record ends */
    floe_codec_lanes lanes;   /* of codecs that wait */
    /* for encode_aim */
    uint8_t *stream; /* 16-byte aligned */
    uint64_t capacity;
    uint32_t *status;
    void *params; /* of the row's params_nbytes: resolve fills it */
    /* out. again: NULL, or 0 where the last kernel has nothing to do; it lets what follows start early */
    floe_dev_stats_of_chunks chunk_stats;
    const uint32_t *again;
    floe_codec_own own;
} floe_codec_encode;

/* A stream to be decoded, as far as it is known or expected: a box of its field. */
typedef struct floe_codec_decode {
    /* for decode_plan */
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK], chunk[FLOE_MAX_RANK];
    floe_preset preset;
    floe_bound_mode mode;
    uint32_t level;      /* of codecs with levels: every 2^level-th point of each axis, as floe_decompress_level */
    floe_limits limits;  /* as of floe_chunk_decode */
    uint32_t most_lanes; /* of codecs that wait: chunks that are done at once, at most; 0: one */
    bool any; /* there is to be room for all that chunks may hold, whatever preset, mode and level are. Out: there is */
    uint64_t nchunks;       /* out. More is FLOE_ERR_LIMIT */
    struct floe_cuda *cuda; /* as of floe_codec_encode */
    floe_codec_lanes lanes; /* out of decode_take, of codecs that wait */
    /* for decode_aim */
    floe_dev_field field; /* the output: the box lo..hi, of the level's points */
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    const uint8_t *stream;
    uint64_t nbytes;            /* of the stream; or at most so many, where dev_nbytes points to the true number */
    const uint64_t *dev_nbytes; /* or NULL */
    /* Layout: shape and, right behind it, that of a full chunk (floe_header has them so). With opens_early, records may be NULL:
     * nothing of the stream has been checked, and layout and nrecords are not looked at; *status becomes FLOE_OK */
    const uint64_t *layout, *nrecords;
    const floe_dev_record *records;
    uint32_t *status;
    /* out: NULL, or what came of opening each chunk, a floe_status; that of the next lies opened_stride bytes behind */
    const uint32_t *opened;
    uint64_t opened_stride;
    floe_codec_own own;
} floe_codec_decode;

struct floe_resolve_job; /* codec/resolve/resolve_cuda.h */

typedef struct floe_codec_device {
    bool waits;           /* for the stream, to plan by what is there: nothing for calls that do not wait */
    size_t params_nbytes; /* what kernels take of floe_codec_params: a multiple of 8 */
    floe_status (*encode_plan)(floe_codec_encode *e, floe_error *err);
    /* state: for what a fused kernel (device/fused.h) wants to be 0 before the call; may be the same arena. */
    floe_status (*encode_take)(floe_codec_encode *e, floe_arena *state, floe_arena *arena, floe_error *err);
    void (*encode_aim)(floe_codec_encode *e);
    /* What comes first: params, and all that encoding begins with. */
    floe_status (*resolve)(const floe_codec_encode *e, const struct floe_resolve_job *job, void *stream,
                           floe_error *err);
    floe_status (*encode_start)(const floe_codec_encode *e, void *stream, floe_error *err);
    /* Mode PSNR, after resolve: the squared error that encoding with other params would leave, as squared_error of floe_codec_ops
     * has it. Changes e->params. */
    floe_status (*squared_error)(const floe_codec_encode *e, const floe_codec_params *params, double *sum, void *stream,
                                 floe_error *err);

    /* As estimate of floe_codec_ops, of boxes in device memory, with scratch there. NULL where that is. Waits. */
    size_t (*estimate_workspace)(const floe_codec_boxes *boxes);
    floe_status (*estimate)(const floe_codec_boxes *boxes, floe_arena *scratch, double *bits, void *stream,
                            floe_error *err);

    /* Chunks are opened by what the stream itself holds about them: header and index may be checked beside decoding. */
    bool opens_early;
    floe_status (*decode_plan)(floe_codec_decode *d, floe_error *err);
    void (*decode_take)(floe_codec_decode *d, floe_arena *arena);
    /* Both NULL: decode_start does all. */
    void (*decode_aim)(floe_codec_decode *d);
    floe_status (*decode_open)(const floe_codec_decode *d, void *stream, floe_error *err);
    floe_status (*decode_start)(const floe_codec_decode *d, void *stream, floe_error *err);
} floe_codec_device;

#endif
