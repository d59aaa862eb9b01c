/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chunk of few tiles, from values to the end of the stream. When a block has no tile left and all tiles are where they belong,
 * it hashes its share of the payload; the block that is done last knows all checksums, and writes what needs them.
 */
#include "api/few_cuda.h"

#include "base/dev_report_math.h"
#include "base/real.h"
#include "codec/lorenzo_few.cuh"
#include "container/checksum_cuda.cuh"
#include "container/layout_math.h"

namespace
{

/* A share of a piece is a warp's work, so that each has two. */
enum { SHARES = FLOE_PIECE_WARPS / SPLIT_WARPS };
static_assert(SHARES * SPLIT_WARPS == FLOE_PIECE_WARPS, "as many shares each");

/* In the place of the tile's words. */
struct piece_shared {
    floe_piece_sums sums;
    uint64_t stage[FLOE_STAGE_WORDS];
};
static_assert(sizeof(piece_shared) <= SHARED_NBYTES, "in the place of the words");

FLOE_DEV uint64_t index_at(const floe_few_job &job, uint64_t nbytes)
{
    return job.call.first_offset + floe_record_span(nbytes);
}

FLOE_DEV bool stream_fits(const floe_few_job &job, uint64_t nbytes)
{
    return index_at(job, nbytes) + floe_index_span(1) <= job.call.capacity;
}

/* ---- the payload --------------------------------------------------------------------------------------------------- */

/* The hash of a piece of n bytes, for the first warp. By a block. */
FLOE_DEV uint64_t hash_piece(const uint8_t *p, uint32_t n, const floe_lane_keys &keys, piece_shared &s)
{
    const uint32_t warp = split_warp();
    const uint64_t last = floe_lane_last_load(p, n);
    floe_lane_share shares[SHARES];
#pragma unroll
    for (int i = 0; i < SHARES; i++)
        floe_lane_share_load(&shares[i], p, n, warp + i * SPLIT_WARPS);
#pragma unroll
    for (int i = 0; i < SHARES; i++)
        floe_lane_share_add(&shares[i], &keys, n, warp + i * SPLIT_WARPS, s.sums);
    __syncthreads();
    if (warp != 0)
        return 0;
    return n > FLOE_XXH3_SHORT_MAX ? floe_warp_piece_end(s.sums, last, n) : floe_warp_xxh3_short(p, n, s.stage);
}

/* This block's pieces of a payload of nbytes. */
FLOE_DEV_SELDOM void hash_payload(const floe_few_job &job, const block_shared &sh, uint64_t nbytes, piece_shared &s)
{
    const uint8_t *payload = job.call.stream + job.call.first_offset + FLOE_RECORD_HEAD_NBYTES;
    const uint64_t npieces = floe_checksum_pieces(nbytes);
    const floe_lane_keys keys = floe_lane_keys_load();
    if (blockIdx.x >= npieces)
        return;
    wait_for_copies(job.call, sh);
    for (uint64_t i = blockIdx.x; i < npieces; i += gridDim.x) {
        const uint64_t at = i * FLOE_CHECKSUM_PIECE;
        const uint64_t hash = hash_piece(payload + at, (uint32_t)floe_min64(nbytes - at, FLOE_CHECKSUM_PIECE), keys, s);
        if (threadIdx.x == 0)
            atomicAdd(&job.finish->terms, (unsigned long long)floe_checksum_term(hash, i));
        __syncthreads(); /* sums have been read */
    }
}

/* ---- what the last block writes ------------------------------------------------------------------------------------ */

/* A thread. */
FLOE_DEV void write_record_head(const floe_few_job &job, uint64_t nbytes, uint64_t checksum)
{
    const floe_record head = {0, nbytes, checksum};
    uint64_t words[FLOE_RECORD_HEAD_WORDS], *to = (uint64_t *)(job.call.stream + job.call.first_offset);
    floe_record_pack(&head, words);
    words[4] = floe_record_check_word(floe_xxh3_17_128((const uint8_t *)words, FLOE_RECORD_CHECK_AT));
#pragma unroll
    for (int i = 0; i < FLOE_RECORD_HEAD_WORDS; i++)
        to[i] = words[i];
    job.call.records[0].checksum = checksum;
}

/* The index of one entry. A thread. */
FLOE_DEV void write_index(const floe_few_job &job, uint64_t nbytes, uint64_t checksum)
{
    static_assert(FLOE_INDEX_ENTRY_NBYTES > 16 && FLOE_INDEX_ENTRY_NBYTES <= 128, "one piece, and that a short one");
    uint64_t words[FLOE_INDEX_ENTRY_WORDS], *to = (uint64_t *)(job.call.stream + index_at(job, nbytes));
    floe_index_entry_pack(job.call.first_offset, nbytes, checksum, words);
    const uint64_t hash = floe_xxh3_17_128((const uint8_t *)words, FLOE_INDEX_ENTRY_NBYTES);
#pragma unroll
    for (int i = 0; i < FLOE_INDEX_ENTRY_WORDS; i++)
        to[i] = words[i];
    to[FLOE_INDEX_ENTRY_WORDS] = floe_checksum_finish(floe_checksum_term(hash, 0), FLOE_INDEX_ENTRY_NBYTES);
}

/* A thread. */
FLOE_DEV void write_footer(const floe_few_job &job, uint64_t nbytes)
{
    const uint64_t index = index_at(job, nbytes);
    uint64_t words[FLOE_FOOTER_WORDS],
        *to = (uint64_t *)(job.call.stream + index + floe_index_span(1)) - FLOE_FOOTER_WORDS;
    floe_footer_pack(1, index, words);
    words[4] = floe_xxh3_17_128((const uint8_t *)words, FLOE_FOOTER_CHECK_AT);
#pragma unroll
    for (int i = 0; i < FLOE_FOOTER_WORDS; i++)
        to[i] = words[i];
}

/* A thread. */
FLOE_DEV void report(const floe_few_job &job, uint32_t attempt, uint32_t status, uint64_t nbytes)
{
    const floe_dev_gathered met = job.call.chunks->gathered[attempt];
    floe_dev_report_write(job.report, status, nbytes, &met, job.pwrel);
}

/* A thread of each warp does what does not wait for the others. Then all is as the next call wants it. By a block. */
FLOE_DEV_SELDOM void finish_stream(const floe_few_job &job, uint32_t attempt, uint64_t nbytes)
{
    uint32_t status = *job.call.status;
    if (status == FLOE_OK && !stream_fits(job, nbytes))
        status = FLOE_ERR_CAPACITY;
    const uint64_t checksum = floe_checksum_finish(job.finish->terms, nbytes);
    if (status == FLOE_OK && threadIdx.x == 0)
        write_record_head(job, nbytes, checksum);
    if (status == FLOE_OK && threadIdx.x == FLOE_WARP)
        write_index(job, nbytes, checksum);
    if (status == FLOE_OK && threadIdx.x == 2 * FLOE_WARP)
        write_footer(job, nbytes);
    if (threadIdx.x == 3 * FLOE_WARP)
        report(job, attempt, status, index_at(job, nbytes) + floe_index_span(1));
    __syncthreads();
    for (uint64_t i = threadIdx.x; i < job.cleared_nbytes / 16; i += THREADS)
        ((uint4 *)job.cleared)[i] = make_uint4(0, 0, 0, 0);
}

/* ---- the kernel ---------------------------------------------------------------------------------------------------- */

/* True in the block that is done last. By a block. */
FLOE_DEV bool is_last(const floe_few_job &job)
{
    bool last = false;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&job.finish->nleft, 1u) + 1 == gridDim.x;
        __threadfence();
    }
    return __syncthreads_or(last);
}

/* A block has tiles, then pieces. */
template <int RANK>
__global__ __launch_bounds__(THREADS, BLOCKS_A_PROCESSOR) void few_kernel(const __grid_constant__ floe_few_job job)
{
    floe_dev_begin();
    FLOE_DYNAMIC_SHARED(uint32_t, memory);
    __shared__ block_shared sh;
    if (blockIdx.x == 0 && threadIdx.x < job.header_nwords && 8 * (uint64_t)job.header_nwords <= job.call.capacity)
        ((uint64_t *)job.call.stream)[threadIdx.x] = job.header[threadIdx.x];
    uint64_t nbytes = 0;
    if (encode_few<RANK>(job.call, job.ready, job.is_ready, sh, memory))
        nbytes = nbytes_of(sh.verdict);
    if (!job.finish)
        return;
    if (nbytes && stream_fits(job, nbytes))
        hash_payload(job, sh, nbytes, *(piece_shared *)memory);
    if (is_last(job))
        finish_stream(job, sh.attempt, nbytes);
}

template <int RANK> cudaError_t launch(const floe_few_job &job, cudaStream_t stream)
{
    const cudaError_t e =
        cudaFuncSetAttribute(few_kernel<RANK>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_NBYTES);
    if (e != cudaSuccess)
        return e;
    FLOE_LAUNCH_EARLY(few_kernel<RANK>, min(job.call.grid.slots, (uint32_t)MOST_BLOCKS), THREADS, SHARED_NBYTES, stream,
                      job);
    return cudaGetLastError();
}

} // namespace

int FLOE_R(floe_few_real_cuda)(const floe_few_job *job, uint32_t rank, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    return (int)(rank == 1 ? launch<1>(*job, s) : rank == 2 ? launch<2>(*job, s) : launch<3>(*job, s));
}
