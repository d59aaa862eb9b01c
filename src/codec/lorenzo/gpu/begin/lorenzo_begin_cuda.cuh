/* SPDX-License-Identifier: BSD-3-Clause */
/* How the chunks of a call begin, for any kernel that has a block, or a whole grid, to spare for it. */
#ifndef FLOE_CODEC_LORENZO_GPU_BEGIN_LORENZO_BEGIN_CUDA_CUH
#define FLOE_CODEC_LORENZO_GPU_BEGIN_LORENZO_BEGIN_CUDA_CUH

#include <stddef.h>

#include "backend/device.cuh"
#include "base/grid_math.h"
#include "codec/lorenzo/format/lorenzo_begin_math.h"
#include "codec/lorenzo/gpu/begin/lorenzo_table.h"
#include "codec/lorenzo/gpu/lorenzo_device.h"

/* ---- clearing ------------------------------------------------------------------------------------------------------ */

FLOE_DEV void floe_lorenzo_clear_share(floe_share c, const floe_lorenzo_encode_call *call)
{
    for (int i = 0; i < 2; i++)
        if (call->place_state[i])
            floe_clear_share(c, call->place_state[i], call->place_nbytes);
    if (call->huffman)
        floe_clear_share(c, call->hists, call->grid.nchunks * sizeof *call->hists);
    const floe_table_room room = floe_table_room_of(&call->grid, call->field.rank);
    if (call->has_tables && room.most)
        floe_clear_share(c, floe_table_state_of(call, room), floe_table_state_nbytes(call->grid.nchunks));
    if (c.block == 0 && threadIdx.x == 0)
        *call->retry = 0;
}

/* ---- the vote on four axes ----------------------------------------------------------------------------------------- */

FLOE_DEV double floe_value_at(const floe_dev_field *field, int64_t offset)
{
    return field->dtype == FLOE_F32 ? (double)((const float *)field->data)[offset]
                                    : ((const double *)field->data)[offset];
}

/* This thread's share of the votes of a sample of the chunk at `origin`. */
FLOE_DEV int floe_sample_votes(const floe_dev_field *field, const floe_sample *sample, int64_t origin)
{
    int votes = 0;
    uint64_t state = floe_sample_skip(FLOE_SAMPLE_SEED, threadIdx.x);
    for (uint32_t i = threadIdx.x; i < FLOE_SAMPLE_CELLS; i += blockDim.x) {
        uint64_t here = state;
        const int64_t at = origin + floe_sample_next(sample, &here);
        votes += floe_sample_vote(floe_value_at(field, at), floe_value_at(field, at + sample->along_batch),
                                  floe_value_at(field, at + sample->along_slow));
        state = floe_sample_skip(state, blockDim.x);
    }
    return votes;
}

/* ---- chunks -------------------------------------------------------------------------------------------------------- */

typedef struct floe_chunk_box {
    uint64_t extent[FLOE_MAX_RANK];
    int64_t origin; /* elements from the field's first */
    floe_view view, swapped;
    bool may_swap;
} floe_chunk_box;

FLOE_DEV floe_chunk_box floe_chunk_box_of(const floe_lorenzo_encode_call *call, uint64_t chunk)
{
    floe_chunk_box b;
    uint64_t lo[FLOE_MAX_RANK];
    const floe_dev_field *f = &call->field;
    floe_grid_cut(f->rank, call->grid.shape, call->grid.chunk, chunk, lo, b.extent);
    b.origin = 0;
    for (uint32_t i = 0; i < f->rank; i++)
        b.origin += (int64_t)lo[i] * f->stride[i];
    floe_view_of(f->rank, b.extent, false, &b.view);
    b.may_swap = floe_view_of(f->rank, b.extent, true, &b.swapped);
    return b;
}

/* For one thread. */
FLOE_DEV void floe_chunk_write(const floe_lorenzo_encode_call *call, const floe_chunk_box *box, bool swap,
                               const floe_quantizer *quantizer, floe_dev_chunk *c)
{
    const floe_dev_field *f = &call->field;
    memset(c, 0, sizeof *c);
    c->view = swap ? box->swapped : box->view;
    c->ncells = 1;
    for (int a = 0; a < FLOE_VIEW_AXES; a++) {
        c->ncells *= c->view.extent[a];
        c->region_hi[a] = c->view.extent[a];
    }
    c->origin = (uint8_t *)f->data + box->origin * (f->dtype == FLOE_F32 ? 4 : 8);
    floe_lorenzo_strides(&c->view, f->stride, c->stride);
    c->swap = swap;
    c->encoder = call->huffman ? FLOE_LORENZO_HUFFMAN : FLOE_LORENZO_PACK;
    if (quantizer)
        c->quantizer = *quantizer;
}

/* One chunk that might be swapped, by a block. */
FLOE_DEV void floe_lorenzo_begin_voting(const floe_lorenzo_encode_call *call, uint64_t chunk,
                                        const floe_quantizer *quantizer, int *votes)
{
    const floe_chunk_box box = floe_chunk_box_of(call, chunk);
    if (threadIdx.x == 0)
        *votes = 0;
    __syncthreads();
    if (box.may_swap) {
        floe_sample sample;
        floe_sample_of(&box.view, box.extent, call->field.stride, &sample);
        atomicAdd(votes, floe_sample_votes(&call->field, &sample, box.origin));
    }
    __syncthreads();
    if (threadIdx.x == 0)
        floe_chunk_write(call, &box, *votes > 0, quantizer, &call->chunks[chunk]);
    __syncthreads();
}

/* By one block: gives the first `count` chunks, which another one may have begun without, their quantizer. */
FLOE_DEV void floe_lorenzo_begin_quantize(const floe_lorenzo_encode_call *call, uint64_t count,
                                          const floe_quantizer *quantizer)
{
    enum { NWORDS = sizeof *quantizer / sizeof(uint64_t) };
    static_assert(sizeof *quantizer % sizeof(uint64_t) == 0, "whole words");
    const uint64_t *from = (const uint64_t *)quantizer;
    for (uint64_t i = threadIdx.x; i < count * NWORDS; i += blockDim.x)
        ((uint64_t *)&call->chunks[i / NWORDS].quantizer)[i % NWORDS] = from[i % NWORDS];
}

/* Chunks first .. first + count - 1, by one block; all its threads come here. votes: a word of shared memory. The
 * quantizer (NULL: not known yet) may have been written by a thread of this block before a __syncthreads. */
FLOE_DEV void floe_lorenzo_begin_block(const floe_lorenzo_encode_call *call, uint64_t first, uint64_t count,
                                       const floe_quantizer *quantizer, int *votes)
{
    for (uint64_t i = 0; i < count && call->field.rank == FLOE_SAMPLE_AXES; i++)
        floe_lorenzo_begin_voting(call, first + i, quantizer, votes);
    for (uint64_t i = threadIdx.x; i < count && call->field.rank < FLOE_SAMPLE_AXES; i += blockDim.x) {
        const floe_chunk_box box = floe_chunk_box_of(call, first + i);
        floe_chunk_write(call, &box, false, quantizer, &call->chunks[first + i]);
    }
}

/* All chunks of such a call. */
FLOE_DEV void floe_lorenzo_begin_uniform(floe_share share, const floe_lorenzo_encode_call *call,
                                         const floe_lorenzo_uniform *uniform)
{
    static_assert(FLOE_MAX_RANK == 4 && sizeof(floe_dev_chunk) % 8 == 0 && offsetof(floe_dev_chunk, origin) % 8 == 0,
                  "words of 8 bytes");
    enum { WORDS = sizeof(floe_dev_chunk) / 8, ORIGIN = offsetof(floe_dev_chunk, origin) / 8 };
    const uint64_t nwords = call->grid.nchunks * WORDS, nthreads = (uint64_t)share.nblocks * blockDim.x;
    for (uint64_t i = (uint64_t)share.block * blockDim.x + threadIdx.x; i < nwords; i += nthreads) {
        uint64_t word = ((const uint64_t *)&uniform->chunk)[i % WORDS];
        if (i % WORDS == ORIGIN) {
            uint32_t rest = (uint32_t)(i / WORDS);
#pragma unroll
            for (int a = FLOE_MAX_RANK - 1; a >= 0; a--) {
                word += (uint64_t)(uniform->step[a] * (int64_t)(rest % uniform->along[a]));
                rest /= uniform->along[a];
            }
        }
        ((uint64_t *)call->chunks)[i] = word;
    }
}

/* Blocks that clearing is worth. */
uint32_t floe_lorenzo_begin_blocks(const floe_lorenzo_encode_call *call);
/* The tables of a call that may be lossless: what begin does after the chunks are there. */
int floe_lorenzo_tables_cuda(const floe_lorenzo_encode_call *call, void *stream);

#endif
