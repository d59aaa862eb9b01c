/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec lorenzo on a GPU, a field at a time: scratch and the order of the steps in lorenzo_device.h. */
#ifndef FLOE_CODEC_LORENZO_GPU_LORENZO_CUDA_H
#define FLOE_CODEC_LORENZO_GPU_LORENZO_CUDA_H

#include "base/arena.h"
#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "codec/resolve/resolve_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills grid from the shape of a field and of its chunks. LIMIT when there are more tiles than a launch can number. */
floe_status floe_lorenzo_grid(uint32_t rank, const uint64_t *shape, const uint64_t *chunk, floe_dev_grid *grid,
                              floe_error *err);

/* Takes all scratch of a call (its chunks, records and so on) from an arena of device memory, or from a plan. Field, grid,
 * huffman and lossless are set. status stays the caller's, state is taken already. */
void floe_lorenzo_encode_take(floe_lorenzo_encode_call *call, floe_arena *arena);
/* The part of it that few tiles want to be 0 where it is ready; taken before the rest. */
void floe_lorenzo_state_take(floe_lorenzo_encode_call *call, floe_arena *arena);
/* Whether few tiles can be encoded without begin, and from what; params as begin would have them. */
bool floe_lorenzo_ready_of(const floe_lorenzo_encode_call *call, const floe_dev_params *params,
                           floe_lorenzo_ready *ready);
/* Puts all steps behind begin on the stream. */
floe_status floe_lorenzo_encode_start(const floe_lorenzo_encode_call *call, void *stream, floe_error *err);
/* Whether the last of them is a second attempt: it does nothing unless *retry, and lets what follows start early. */
bool floe_lorenzo_ends_with_attempt(const floe_lorenzo_encode_call *call);

/* What a stream may turn out to hold; memory for what is not allowed is not taken. */
typedef struct floe_lorenzo_decode_room {
    uint64_t max_chunks, max_slots;
    bool huffman, tables;
} floe_lorenzo_decode_room;
/* grid, records and status stay the caller's. */
void floe_lorenzo_decode_take(floe_lorenzo_decode_call *call, const floe_lorenzo_decode_room *room, floe_arena *arena);

/* resolve_cuda.h, with all that floe_lorenzo_begin_cuda does. params: as host memory has them where the job does not scan; else they
 * are not looked at. One launch; another one with very many chunks, and one where the call may be lossless. */
int floe_lorenzo_resolve_cuda(const floe_lorenzo_encode_call *call, const floe_resolve_job *job,
                              const floe_dev_params *params, void *stream);

#ifdef __cplusplus
}
#endif
#endif
