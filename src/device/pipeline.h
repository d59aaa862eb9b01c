/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host data through a GPU, chunk after chunk: several chunks are under way at once, so that copies in, kernels and copies
 * out overlap. Chunks are handed in with _put and come back in the same order with _get; between them _fetch starts the
 * copy of a chunk's result. At most FLOE_PIPELINE_DEPTH chunks may be under way.
 *
 *     for i in 0 .. n + 1:   put(i) if i < n;   fetch(i - 1) if it exists;   get(i - 2) if it exists
 *
 * Memory that the caller has pinned is copied from and to directly; other memory goes through pinned buffers of ours.
 */
#ifndef FLOE_DEVICE_PIPELINE_H
#define FLOE_DEVICE_PIPELINE_H

#include "call/choice.h"
#include "call/chunking.h"
#include "call/ctx.h"
#include "codec/codec.h"
#include "container/container.h"

enum { FLOE_PIPELINE_DEPTH = 3 };

/* Whether a context codes host data on its GPU: where the codec has kernels for such values. */
bool floe_pipeline_wanted(const floe_ctx *ctx, const floe_header *header);

/* Waits until no chunk is under way any more: for calls that end before they have got them all. Copies from and to the caller's
 * memory would outlive the call otherwise, and the next one would take memory that is in use. */
void floe_pipeline_drain(floe_ctx *ctx);

/* The device memory that both directions take for chunks of such streams. */
floe_status floe_pipeline_workspace_nbytes(floe_ctx *ctx, const floe_header *header, size_t *nbytes);

/* ---- compression: a chunk's values -> its whole record --------------------------------------------------------------- */

floe_status floe_pipeline_begin_encode(floe_ctx *ctx, const floe_header *header, const floe_codec_params *params);
/* stays: the view's memory stays as it is until the chunk has been got, so that pinned memory need not be copied; else only until
 * this returns. */
floe_status floe_pipeline_put_values(floe_ctx *ctx, uint64_t chunk, const floe_field *view, bool stays);
/* Waits until the size of the oldest chunk that was not requested yet is known. */
floe_status floe_pipeline_fetch_record(floe_ctx *ctx, uint64_t *record_nbytes);
/* The oldest chunk: its record of record_nbytes to dst. */
floe_status floe_pipeline_get_record(floe_ctx *ctx, uint8_t *dst, floe_record *record, floe_chunk_stats *stats);

/* All that for a sample whose values are on the host (call/choice.h): its read is floe_sample_read_from, whose source is user. */
floe_status floe_pipeline_code_sample(void *user, const floe_sample *sample, floe_trial *trial, const uint8_t **bytes,
                                      double *squares);

/* ---- decompression: a chunk's payload -> its values ------------------------------------------------------------------- */

floe_status floe_pipeline_begin_decode(floe_ctx *ctx, const floe_header *header, const floe_sizing *sizing);
/* The cells of the record's chunk from lo (of the field) on, as many as out has, go to out, a resolved field. The payload,
 * which the GPU checks, comes with its padding. stays: it is as it is until the chunk has been got; else it may be reused when
 * this returns. */
floe_status floe_pipeline_put_payload(floe_ctx *ctx, const floe_record *record, const uint8_t *payload, bool stays,
                                      const uint64_t *lo, const floe_field *out);
/* The oldest chunk: when this returns its values are in out. FORMAT or CHECKSUM, without a reason,
 * when the payload is damaged. */
floe_status floe_pipeline_get_values(floe_ctx *ctx, uint64_t *chunk);

#endif
