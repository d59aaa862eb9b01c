/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare zfp streams on a GPU: what the calls that wait and those that do not put on the context's stream. All memory is that of
 * the device, all calls are made with the context's GPU current (floe_device_enter).
 */
#ifndef FLOE_API_ZFP_DEVICE_H
#define FLOE_API_ZFP_DEVICE_H

#include "api/ctx.h"
#include "api/zfp_told.h"
#include "codec/zfp_index_prim.h"
#include "codec/zfp_stream_cuda.h"

/* ---- encoding -------------------------------------------------------------------------------------------------------- */

typedef struct floe_zfp_device_encode {
    floe_zfp_told told; /* with the field */
    void *dst;
    uint64_t capacity;
    const floe_zfp_index *index; /* NULL: none */
    floe_zfp_report *report;
    /* scratch */
    floe_zfp_encode_call blocks;
    floe_zfpx_found *found;
    void *prim_space;
    uint64_t encode_nbytes, prim_nbytes;
} floe_zfp_device_encode;

/* How much scratch there must be: told and index say it. */
floe_status floe_zfp_device_encode_plan(floe_ctx *ctx, floe_zfp_device_encode *e);
void floe_zfp_device_encode_take(floe_zfp_device_encode *e, floe_arena *arena);
floe_status floe_zfp_device_encode_start(floe_ctx *ctx, floe_zfp_device_encode *e);

/* ---- decoding -------------------------------------------------------------------------------------------------------- */

typedef struct floe_zfp_device_decode {
    floe_zfp_told told; /* with the field */
    const void *src;
    uint64_t nbytes; /* a multiple of 8 */
    const floe_zfp_report *sizes;
    const floe_zfp_index *index; /* NULL: none */
    floe_zfp_report *report;
    /* scratch */
    floe_zfpx_found *found;
    uint64_t *places;
    void *prim_space;
    uint64_t nplaces, prim_nbytes;
    uint32_t chunk; /* blocks */
} floe_zfp_device_decode;

floe_status floe_zfp_device_decode_plan(floe_ctx *ctx, floe_zfp_device_decode *d);
void floe_zfp_device_decode_take(floe_zfp_device_decode *d, floe_arena *arena);
floe_status floe_zfp_device_decode_start(floe_ctx *ctx, floe_zfp_device_decode *d);

#endif
