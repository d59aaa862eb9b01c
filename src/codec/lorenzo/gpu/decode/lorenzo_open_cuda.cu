/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening chunks whose records somebody has checked already. A block owns a chunk. */
#include "codec/lorenzo/gpu/decode/lorenzo_open.cuh"

namespace
{

__global__
__launch_bounds__(MAX_THREADS) void lorenzo_open_kernel(const __grid_constant__ floe_lorenzo_decode_call call)
{
    floe_dev_begin();
    __shared__ opening o;
    const uint64_t chunk = blockIdx.x;
    const floe_lorenzo_guess none = {};
    uint32_t run[RUN];
    open_begin(call, none, chunk, &o);
    if (threadIdx.x == 0) {
        for (uint32_t i = 0; i < FLOE_MAX_RANK; i++) {
            o.shape[i] = i < call.field.rank ? call.layout[i] : 0;
            o.chunk[i] = i < call.field.rank ? call.layout[FLOE_MAX_RANK + i] : 0;
        }
        set_grid(call, none, &o);
    }
    __syncthreads();
    uint32_t status = o.nchunks ? (uint32_t)FLOE_OK : (uint32_t)FLOE_ERR_LIMIT;
    if (chunk < o.nchunks) {
        const floe_dev_record record = call.records[chunk];
        load_chunk(call, record, &o, run);
        __syncthreads();
        status = open_chunk(call, none, chunk, record, &o, run);
    }
    open_end(call, chunk, status, &o);
    if (status != FLOE_OK && threadIdx.x == 0)
        atomicCAS(call.status, (uint32_t)FLOE_OK, status);
}

} // namespace

int floe_lorenzo_books_cuda(const floe_lorenzo_decode_call *call, void *stream)
{
    if (call->max_chunks == 0 || !call->decoders)
        return cudaSuccess;
    return floe_huffman_books_read_cuda(call->stream, call->book_at, call->book_nwords, (uint32_t)call->max_chunks,
                                        call->decoders, call->book_bad, stream);
}

int floe_lorenzo_open_cuda(const floe_lorenzo_decode_call *call, void *stream)
{
    if (call->max_chunks == 0)
        return cudaSuccess;
    FLOE_LAUNCH_EARLY(lorenzo_open_kernel, (uint32_t)call->max_chunks, open_threads(call), 0, (cudaStream_t)stream,
                      *call);
    const cudaError_t e = cudaGetLastError();
    return e == cudaSuccess ? floe_lorenzo_books_cuda(call, stream) : (int)e;
}
