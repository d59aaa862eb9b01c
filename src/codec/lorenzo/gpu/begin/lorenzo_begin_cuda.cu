/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/lorenzo/gpu/begin/lorenzo_begin_cuda.cuh"
#include "codec/lorenzo/gpu/lorenzo_cuda.h"

namespace
{

enum { THREADS = 256, MAX_BLOCKS = 1024, CLEAR_NBYTES = 16384 };

/* A block takes each so many chunks, and its share of what is to be cleared. */
__global__ void __launch_bounds__(THREADS)
    lorenzo_begin_kernel(const __grid_constant__ floe_lorenzo_encode_call call, uint64_t chunks_a_block)
{
    __shared__ int votes;
    const floe_quantizer *quantizer = call.params ? &call.params->quantizer : NULL;
    floe_lorenzo_clear_share(floe_share_all(), &call);
    for (uint64_t c = blockIdx.x * chunks_a_block; c < call.grid.nchunks; c += gridDim.x * chunks_a_block)
        floe_lorenzo_begin_block(&call, c, floe_min64(chunks_a_block, call.grid.nchunks - c), quantizer, &votes);
}

FLOE_DEV bool has_too_many_literals(const floe_dev_chunk *c)
{
    return floe_lorenzo_may_retry(c->quantizer.kind) &&
           floe_lorenzo_too_many_literals(c->stats[0].nliterals, c->ncells);
}

/* A block looks at each so many chunks. */
__global__ void __launch_bounds__(THREADS)
    lorenzo_decide_retry_kernel(const __grid_constant__ floe_lorenzo_encode_call call)
{
    floe_dev_begin();
    if (*call.status != FLOE_OK)
        return;
    for (uint64_t i = blockIdx.x; i < call.grid.nchunks; i += gridDim.x) {
        floe_dev_chunk *c = &call.chunks[i];
        const bool again = has_too_many_literals(c);
        __syncthreads(); /* all have looked */
        if (!again)
            continue;
        if (threadIdx.x == 0) {
            c->quantizer = call.params->bits;
            c->attempt = 1;
            *call.retry = 1;
        }
        uint32_t *counts = (uint32_t *)(call.huffman ? &call.hists[i] : NULL);
        for (uint32_t k = threadIdx.x; counts && k < sizeof *call.hists / sizeof *counts; k += THREADS)
            counts[k] = 0;
    }
}

} // namespace

uint32_t floe_lorenzo_begin_blocks(const floe_lorenzo_encode_call *call)
{
    uint64_t nbytes = 2 * call->place_nbytes + (call->huffman ? call->grid.nchunks * sizeof *call->hists : 0);
    return (uint32_t)floe_min64(floe_max64(floe_ceil_div(nbytes, CLEAR_NBYTES), 1), MAX_BLOCKS);
}

int floe_lorenzo_tables_cuda(const floe_lorenzo_encode_call *call, void *stream)
{
    if (!call->has_tables || floe_table_room_of(&call->grid, call->field.rank).most == 0)
        return (int)cudaSuccess;
    return call->field.dtype == FLOE_F32 ? floe_lorenzo_tables_f32(call, stream)
                                         : floe_lorenzo_tables_f64(call, stream);
}

int floe_lorenzo_begin_cuda(const floe_lorenzo_encode_call *call, void *stream)
{
    const uint64_t each = call->field.rank == FLOE_SAMPLE_AXES ? 1 : THREADS;
    const uint64_t nblocks = floe_max64(floe_ceil_div(call->grid.nchunks, each), floe_lorenzo_begin_blocks(call));
    FLOE_LAUNCH(lorenzo_begin_kernel, (uint32_t)floe_min64(nblocks, MAX_BLOCKS), THREADS, 0, (cudaStream_t)stream,
                *call, each);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? floe_lorenzo_tables_cuda(call, stream) : (int)error;
}

int floe_lorenzo_decide_retry_cuda(const floe_lorenzo_encode_call *call, void *stream)
{
    const uint32_t nblocks = (uint32_t)floe_max64(floe_min64(call->grid.nchunks, MAX_BLOCKS), 1);
    FLOE_LAUNCH_EARLY(lorenzo_decide_retry_kernel, nblocks, THREADS, 0, (cudaStream_t)stream, *call);
    return (int)cudaGetLastError();
}
