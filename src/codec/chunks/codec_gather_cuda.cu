/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/chunks/codec_gather.h"

#include "backend/device.cuh"

namespace
{

enum { THREADS = 512 };

/* A block a chunk; the last block has what is known of the stream. */
__global__ void __launch_bounds__(THREADS) codec_heads_kernel(const __grid_constant__ floe_codec_heads_job j)
{
    const uint32_t status = *j.status;
    const uint64_t nrecords = *j.nrecords;
    if (blockIdx.x == j.n) {
        if (threadIdx.x < 2 * FLOE_MAX_RANK)
            j.to->layout[threadIdx.x] = j.layout[threadIdx.x];
        j.to->status = status;
        j.to->nrecords = nrecords;
        return;
    }
    if (status != FLOE_OK || nrecords != j.nchunks)
        return;
    const floe_dev_record record = j.records[j.index[blockIdx.x]];
    const uint8_t *payload = j.stream + record.offset + FLOE_RECORD_HEAD_NBYTES;
    auto &to = j.to->of[blockIdx.x];
    if (threadIdx.x == 0)
        to.record = record;
    for (uint32_t i = threadIdx.x; i < FLOE_CODEC_HEAD_NBYTES && i < record.nbytes; i += THREADS)
        to.bytes[i] = payload[i];
}

__global__ void codec_join_statuses_kernel(const uint32_t *lanes, uint32_t n, uint32_t *status)
{
    uint32_t found = *status;
    for (uint32_t i = 0; i < n; i++)
        if (found == FLOE_OK || lanes[i] == FLOE_ERR_LIMIT)
            found = lanes[i];
    *status = found;
}

} // namespace

int floe_codec_join_statuses_cuda(const uint32_t *lanes, uint32_t n, uint32_t *status, void *stream)
{
    FLOE_LAUNCH(codec_join_statuses_kernel, 1, 1, 0, (cudaStream_t)stream, lanes, n, status);
    return (int)cudaGetLastError();
}

int floe_codec_heads_cuda(const floe_codec_heads_job *job, void *stream)
{
    FLOE_LAUNCH(codec_heads_kernel, job->n + 1, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
