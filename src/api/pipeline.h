/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host data through a GPU, chunk after chunk: several chunks are under way at once, so that copies in, kernels and copies
 * out overlap. Chunks are handed in and come back in order.
 *
 * Memory that the caller has pinned is copied from and to directly; other memory goes through pinned buffers of ours.
 */
#ifndef FLOE_API_PIPELINE_H
#define FLOE_API_PIPELINE_H

#include "api/ctx.h"
#include "codec/codec.h"
#include "container/container.h"

/* Device and pinned memory of a context's pipeline, kept from call to call. */
void floe_pipeline_free(floe_ctx *ctx);

#endif
