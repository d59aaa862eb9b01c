/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening chunks: those whose records somebody has checked already, or those of a whole stream, without waiting for a verdict on its
 * header, index and checksums. A block owns a chunk. */
#include "codec/lorenzo/gpu/decode/lorenzo_open.cuh"

namespace
{

FLOE_DEV void open_recorded(const floe_lorenzo_decode_call &call, const floe_lorenzo_expected_grid &none,
                            uint64_t chunk, opening *o)
{
    uint32_t run[RUN];
    open_begin(call, none, chunk, o);
    if (threadIdx.x == 0) {
        for (uint32_t i = 0; i < FLOE_MAX_RANK; i++) {
            o->shape[i] = i < call.field.rank ? call.layout[i] : 0;
            o->chunk[i] = i < call.field.rank ? call.layout[FLOE_MAX_RANK + i] : 0;
        }
        set_grid(call, none, o);
    }
    __syncthreads();
    uint32_t status = o->nchunks ? (uint32_t)FLOE_OK : (uint32_t)FLOE_ERR_LIMIT;
    if (chunk < o->nchunks) {
        const floe_dev_record record = call.records[chunk];
        load_chunk(call, record, o, run);
        __syncthreads();
        status = open_chunk(call, none, chunk, record, o, run);
    }
    open_end(call, chunk, status, o);
    if (status != FLOE_OK && threadIdx.x == 0)
        atomicCAS(call.status, (uint32_t)FLOE_OK, status);
}

/* Of a whole stream the grid may turn out to have fewer chunks than there are blocks. */
__global__ __launch_bounds__(MAX_THREADS) void lorenzo_open_kernel(const __grid_constant__ floe_open_job job)
{
    floe_dev_begin();
    __shared__ opening o;
    __shared__ floe_peek peek;
    if (job.call.records) {
        open_recorded(job.call, job.expected, blockIdx.x, &o);
        return;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *job.call.status = FLOE_OK;
    open_by_block(job, job.dev_nbytes ? *job.dev_nbytes : job.nbytes, blockIdx.x, peek, &o);
}

} // namespace

int floe_lorenzo_books_cuda(const floe_lorenzo_decode_call *call, void *stream)
{
    if (call->max_chunks == 0 || !call->decoders)
        return cudaSuccess;
    return floe_huffman_books_read_cuda(call->stream, call->book_at, call->book_nwords, (uint32_t)call->max_chunks,
                                        call->decoders, call->book_bad, stream);
}

int floe_lorenzo_open_cuda(const floe_open_job *job, void *stream)
{
    const floe_lorenzo_decode_call *call = &job->call;
    if (call->max_chunks > 0)
        FLOE_LAUNCH_EARLY(lorenzo_open_kernel, (uint32_t)call->max_chunks, open_threads(call), 0, (cudaStream_t)stream,
                          *job);
    else if (!call->records)
        return (int)cudaMemsetAsync(call->status, 0, sizeof *call->status, (cudaStream_t)stream); /* FLOE_OK */
    return (int)cudaGetLastError();
}
