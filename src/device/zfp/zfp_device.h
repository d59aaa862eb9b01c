/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare zfp streams on a GPU: what the calls that wait and those that do not put on the context's stream. All memory is that of
 * the device, all calls are made with the context's GPU current (floe_device_enter).
 */
#ifndef FLOE_DEVICE_ZFP_ZFP_DEVICE_H
#define FLOE_DEVICE_ZFP_ZFP_DEVICE_H

#include "call/ctx.h"
#include "call/zfp/zfp_checks.h"
#include "codec/zfp/stream/zfp_index_prim.h"
#include "codec/zfp/stream/zfp_stream_cuda.h"
#include "field/field.h"

/* Device memory for what a call that waits has in host memory, and for its report: 0 bytes and NULL for what does not lie there. */
typedef struct floe_zfp_own_memory {
    uint64_t field_nbytes, stream_nbytes, index_nbytes;
    void *field, *stream, *index;
    bool report;
} floe_zfp_own_memory;

/* ---- encoding -------------------------------------------------------------------------------------------------------- */

typedef struct floe_zfp_device_encode {
    floe_zfp_stream_desc desc; /* with the field */
    void *dst;
    uint64_t capacity;
    const floe_zfp_index *index; /* NULL: none */
    floe_zfp_report *report;
    floe_zfp_own_memory own;
    /* scratch */
    floe_zfp_encode_call blocks;
    floe_zfpx_found *found;
    void *prim_space;
    uint64_t encode_nbytes, prim_nbytes;
} floe_zfp_device_encode;

/* Takes scratch and own memory from the context: as desc and index have it. */
floe_status floe_zfp_device_encode_take(floe_ctx *ctx, floe_zfp_device_encode *e);
floe_status floe_zfp_device_encode_start(floe_ctx *ctx, floe_zfp_device_encode *e);

/* ---- decoding -------------------------------------------------------------------------------------------------------- */

typedef struct floe_zfp_device_decode {
    floe_zfp_stream_desc desc; /* with the field */
    const void *src;
    uint64_t nbytes; /* a multiple of 8 */
    const floe_zfp_report *sizes;
    const floe_zfp_index *index; /* NULL: none */
    floe_zfp_report *report;
    floe_zfp_own_memory own;
    /* scratch */
    floe_zfpx_found *found;
    uint64_t *places;
    void *prim_space;
    uint64_t nplaces, prim_nbytes;
    uint32_t chunk;      /* blocks */
    bool places_are_set; /* by the caller, before the start */
} floe_zfp_device_decode;

floe_status floe_zfp_device_decode_take(floe_ctx *ctx, floe_zfp_device_decode *d);
floe_status floe_zfp_device_decode_start(floe_ctx *ctx, floe_zfp_device_decode *d);

/* Has it neither an index nor a fixed rate? Then its blocks are found by reading them one after the other. */
bool floe_zfp_device_is_walked(const floe_zfp_device_decode *d);

/* ---- calls that wait ------------------------------------------------------------------------------------------------- */

/* Checked, and at least one side on the device, or all to be done there. */
typedef struct floe_zfp_compression {
    const floe_zfp_stream_desc *desc;
    const floe_field *field; /* resolved */
    void *dst;
    uint64_t capacity;
    const floe_zfp_index *index;   /* NULL: none */
    uint64_t nbytes, index_nbytes; /* out */
} floe_zfp_compression;

typedef struct floe_zfp_decompression {
    const void *src;
    uint64_t nbytes;
    const floe_zfp_stream *stream; /* as the caller gave it */
    const void *index;
    uint64_t index_nbytes;
    const floe_field *out; /* resolved, but where the call begins */
} floe_zfp_decompression;

/* Of a stream or an index in device memory: by the CPU, as what takes time is one lane's work. */
typedef struct floe_zfp_indexing {
    const void *src;
    uint64_t nbytes;
    const floe_zfp_stream *stream; /* as the caller gave it */
    floe_zfp_index *index;         /* checked, but where the call begins */
} floe_zfp_indexing;

/* The range of the values of a field in device memory, of f32 or f64. */
typedef struct floe_zfp_ranging {
    const floe_field *field; /* resolved */
    floe_range range;        /* out */
} floe_zfp_ranging;

/* Bodies of calls: floe_call_fn. */
floe_status floe_zfp_device_compress(floe_ctx *ctx, void *compression);
floe_status floe_zfp_device_decompress(floe_ctx *ctx, void *decompression);
floe_status floe_zfp_device_index(floe_ctx *ctx, void *indexing);
floe_status floe_zfp_device_range(floe_ctx *ctx, void *ranging);

/* floe_zfp_decompress and floe_zfp_index_make in host memory, as parts of a call. */
floe_status floe_zfp_decompress_here(floe_ctx *ctx, const floe_zfp_decompression *call);
floe_status floe_zfp_index_of_stream(floe_ctx *ctx, const void *src, uint64_t nbytes, const floe_zfp_stream *stream,
                                     floe_zfp_index *index);

#endif
