/* SPDX-License-Identifier: BSD-3-Clause */
/* Preset balanced, one chunk of few tiles: drafts and histogram by one kernel, of f32. */
#ifndef FLOE_CODEC_LORENZO_GPU_HUFFMAN_LORENZO_DRAFT_FEW_H
#define FLOE_CODEC_LORENZO_GPU_HUFFMAN_LORENZO_DRAFT_FEW_H

#include "codec/lorenzo/gpu/lorenzo_device.h"

#ifdef __cplusplus
extern "C" {
#endif

bool floe_lorenzo_drafts_are_few(const floe_lorenzo_encode_call *call);
/* Such a call, after begin: what encode, judge and encode again do. */
int floe_lorenzo_draft_few_cuda(const floe_lorenzo_encode_call *call, void *stream);

/* What that, and the kernel for few tiles of encoder pack, need of floe_lorenzo_encode_call.spill. */
uint64_t floe_lorenzo_few_spill_nbytes(const floe_dev_grid *grid);

#ifdef __cplusplus
}
#endif
#endif
