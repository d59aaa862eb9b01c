/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec zfp on a GPU: its row. */
#ifndef FLOE_CODEC_ZFP_GPU_ZFP_CODEC_GPU_H
#define FLOE_CODEC_ZFP_GPU_ZFP_CODEC_GPU_H

#include "codec/resolve/resolve_cuda.h"
#include "codec/zfp/gpu/zfp_grid.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const floe_codec_device floe_zfp_gpu;

/* resolve_cuda.h, with all that floe_zfp_grid_begin_cuda does, of a call that has been cleared. One launch; another one with very
 * many chunks. */
int floe_zfp_resolve_cuda(const floe_zfp_grid_encode *call, const floe_resolve_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
