/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec lorenzo on a GPU: its row, its own part of a call, and what is known of chunks and tiles before a GPU looks at them. */
#ifndef FLOE_CODEC_LORENZO_GPU_LORENZO_CUDA_H
#define FLOE_CODEC_LORENZO_GPU_LORENZO_CUDA_H

#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "codec/resolve/resolve_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const floe_codec_device floe_lorenzo_gpu;

/* Of an encoding that is a floe_lorenzo_encode_call, of a decoding this. */
typedef struct floe_lorenzo_decoding {
    floe_open_job job;
    floe_dev_grid grid;   /* that the stream is likely to have: such is the room */
    bool huffman, tables; /* there is memory for them */
} floe_lorenzo_decoding;

static inline const floe_lorenzo_encode_call *floe_lorenzo_encode_of(const floe_codec_encode *e)
{
    return (const floe_lorenzo_encode_call *)(const void *)e->own.bytes;
}
static inline const floe_lorenzo_decoding *floe_lorenzo_decode_of(const floe_codec_decode *d)
{
    return (const floe_lorenzo_decoding *)(const void *)d->own.bytes;
}

/* Fills grid from the shape of a field and of its chunks. LIMIT when there are more tiles than a launch can number. */
floe_status floe_lorenzo_grid(uint32_t rank, const uint64_t *shape, const uint64_t *chunk, floe_dev_grid *grid,
                              floe_error *err);
/* Whether few tiles can be encoded without begin, and from what; params as begin would have them. */
bool floe_lorenzo_host_chunk_of(const floe_lorenzo_encode_call *call, const floe_dev_params *params,
                                floe_lorenzo_host_chunk *host_chunk);
/* Whether the last step of encoding is a second attempt: it does nothing unless *retry, and lets what follows start early. */
bool floe_lorenzo_ends_with_attempt(const floe_lorenzo_encode_call *call);
/* codec_device.h */
size_t floe_lorenzo_gpu_estimate_workspace(const floe_codec_boxes *boxes);
floe_status floe_lorenzo_gpu_estimate(const floe_codec_boxes *boxes, floe_arena *scratch, double *bits, void *stream,
                                      floe_error *err);
/* The squared error that coding a field would leave, on a GPU: what a codec's squared_error gives for its chunks, added up
 * in their order, to the last bit. For the search of psnr, before params are known. By value. Pointers are device memory. */
typedef struct floe_lorenzo_error_job {
    floe_codec_params params;
    floe_dev_grid grid;
    const floe_dev_chunk *chunks; /* as begin leaves them, whatever the params then were */
    double *tiles;                /* scratch: one for each tile slot, nchunks * slots */
    double *sum;                  /* out; 0 for LOSSLESS */
} floe_lorenzo_error_job;

int floe_lorenzo_squared_error_cuda(const floe_lorenzo_error_job *job, void *stream);
/* resolve_cuda.h, with all that floe_lorenzo_begin_cuda does. params: as host memory has them where the job does not scan; else they
 * are not looked at. One launch; another one with very many chunks, and one where the call may be lossless. */
int floe_lorenzo_resolve_cuda(const floe_lorenzo_encode_call *call, const floe_resolve_job *job,
                              const floe_dev_params *params, void *stream);

#ifdef __cplusplus
}
#endif
#endif
