/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chunk of few tiles, from values to the end of the stream. When a block has no tile left and all are where they belong,
 * it hashes its share of the payload; the last block has all shares, and writes what needs them.
 */
#define FLOE_REAL_BITS 32 /* f64 takes the general path */
#include "device/lorenzo/lorenzo_fused_cuda.h"

#include "base/dev_record.h"
#include "container/checksum_cuda.cuh"
#include "container/record_dev.cuh"
#include "device/lorenzo/small_engine.cuh"

namespace
{

/* A share of a piece is a warp's work, so that each has two. */
enum { SHARES = FLOE_PIECE_WARPS / BY_BLOCK_WARPS };
static_assert(SHARES * BY_BLOCK_WARPS == FLOE_PIECE_WARPS, "as many shares each");

/* In the place of the tile's words. */
struct piece_shared {
    floe_piece_sums sums;
    uint64_t stage[FLOE_STAGE_WORDS];
};
static_assert(sizeof(piece_shared) <= SHARED_NBYTES, "in the place of the words");

FLOE_DEV uint64_t index_at(const floe_small_job &job, uint64_t nbytes)
{
    return job.call.first_offset + floe_record_span(nbytes);
}

FLOE_DEV bool stream_fits(const floe_small_job &job, uint64_t nbytes)
{
    return index_at(job, nbytes) + floe_index_span(1) <= job.call.capacity;
}

/* ---- the payload --------------------------------------------------------------------------------------------------- */

/* The hash of a piece of n bytes, for the first warp. By a block. */
FLOE_DEV uint64_t hash_piece(const uint8_t *p, uint32_t n, const floe_lane_keys &keys, piece_shared &s)
{
    const uint32_t warp = by_block_warp();
    const uint64_t last = floe_lane_last_load(p, n);
    floe_lane_share shares[SHARES];
#pragma unroll
    for (int i = 0; i < SHARES; i++)
        floe_lane_share_load(&shares[i], p, n, warp + i * BY_BLOCK_WARPS);
#pragma unroll
    for (int i = 0; i < SHARES; i++)
        floe_lane_share_add(&shares[i], &keys, n, warp + i * BY_BLOCK_WARPS, s.sums);
    __syncthreads();
    if (warp != 0)
        return 0;
    return n > FLOE_XXH3_SHORT_MAX ? floe_warp_piece_end(s.sums, last, n) : floe_warp_xxh3_short(p, n, s.stage);
}

/* The first blocks hash. */
FLOE_DEV uint32_t hashers_of(uint64_t nbytes)
{
    return (uint32_t)floe_min64(floe_checksum_pieces(nbytes), min(gridDim.x, (uint32_t)FLOE_SMALL_HASHERS));
}

/* This block's pieces of a payload of nbytes, of as many blocks that hash. */
FLOE_DEV_COLD void hash_payload(const floe_small_job &job, const block_shared &sh, uint64_t nbytes, uint32_t nhashers,
                                piece_shared &s)
{
    const uint8_t *payload = job.call.stream + job.call.first_offset + FLOE_RECORD_HEAD_NBYTES;
    const uint64_t npieces = floe_checksum_pieces(nbytes);
    const floe_lane_keys keys = floe_lane_keys_load();
    uint64_t terms = 0;
    wait_for_copies(job.call, sh);
    for (uint64_t i = blockIdx.x; i < npieces; i += nhashers) {
        const uint64_t at = i * FLOE_CHECKSUM_PIECE;
        const uint64_t hash = hash_piece(payload + at, (uint32_t)floe_min64(nbytes - at, FLOE_CHECKSUM_PIECE), keys, s);
        terms += floe_checksum_term(hash, i);
        __syncthreads(); /* sums have been read */
    }
    if (threadIdx.x < 2)
        floe_store_shared_state(&job.finish->terms[blockIdx.x][threadIdx.x],
                                FLOE_PLACE_IS_THERE | (uint32_t)(terms >> 32 * threadIdx.x));
}

/* The sum of what they report. By a block. */
FLOE_DEV uint64_t gather_terms(const floe_small_job &job, uint32_t nhashers, uint64_t sums[BY_BLOCK_WARPS])
{
    uint64_t terms = 0;
    for (uint32_t i = threadIdx.x; i < nhashers; i += THREADS) {
        const uint64_t *term = job.finish->terms[i];
        uint64_t low = floe_load_shared_state(term), high = floe_load_shared_state(term + 1);
        while (!(low & high & FLOE_PLACE_IS_THERE)) { /* both are loaded at once */
            floe_dev_pause();
            low = floe_load_shared_state(term);
            high = floe_load_shared_state(term + 1);
        }
        terms += (uint32_t)low | high << 32;
    }
    __syncthreads(); /* what was there has been read */
    return floe_block_sum(terms, sums, BY_BLOCK_WARPS);
}

/* ---- what the last block writes ------------------------------------------------------------------------------------ */

/* The index of one entry. A thread. */
FLOE_DEV void write_index(const floe_small_job &job, uint64_t nbytes, uint64_t checksum)
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
FLOE_DEV void report(const floe_small_job &job, uint32_t attempt, uint32_t status, uint64_t nbytes)
{
    const floe_dev_chunk_stats stats = job.call.chunks->stats[attempt];
    floe_dev_report_write(job.report, status, nbytes, &stats, job.pwrel);
}

/* What needs the checksum, which is right the second time: the first one brings the code near while others hash. By a block. */
FLOE_DEV void write_checksums(const floe_small_job &job, uint64_t nbytes, uint32_t nhashers,
                              uint64_t sums[BY_BLOCK_WARPS])
{
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        const uint64_t terms = round ? gather_terms(job, nhashers, sums) : 0;
        const uint64_t checksum = floe_checksum_finish(terms, nbytes);
        if (threadIdx.x == 0) {
            floe_record_head_put({0, nbytes, checksum}, job.call.stream + job.call.first_offset);
            job.call.records[0].checksum = checksum;
        }
        if (threadIdx.x == FLOE_WARP)
            write_index(job, nbytes, checksum);
    }
}

/* Until no other block that does not hash has anything more to do. */
FLOE_DEV void wait_for_others(const floe_small_job &job, uint32_t nhashers)
{
    if (nhashers + 1 < gridDim.x)
        floe_counter_wait(&job.finish->nleft, gridDim.x - 1 - nhashers);
}

/* All becomes as the next call wants it, when no other block looks at it any more. A warp. */
FLOE_DEV void clear_state(const floe_small_job &job, uint32_t attempt, uint32_t nhashers)
{
    uint8_t *const end = (uint8_t *)job.call.place_state[1]; /* which only a second attempt writes to */
    const uint64_t nbytes = attempt == 0 ? end - (uint8_t *)job.cleared : job.cleared_nbytes;
    if (floe_lane() == 0)
        wait_for_others(job, nhashers);
    __syncwarp();
    for (uint64_t i = floe_lane(); i < nbytes / 16; i += FLOE_WARP)
        ((uint4 *)job.cleared)[i] = make_uint4(0, 0, 0, 0);
}

/* A thread of each warp does what does not wait for the others. By the last block, all of whose threads come here. */
FLOE_DEV_COLD void finish_stream(const floe_small_job &job, const block_shared &sh, uint64_t nbytes, uint32_t nhashers,
                                 uint64_t sums[BY_BLOCK_WARPS])
{
    if (nhashers)
        wait_for_copies(job.call, sh);
    else
        wait_for_others(job, 0); /* either way all is there */
    uint32_t status = *(volatile uint32_t *)job.call.status;
    if (status == FLOE_OK && !nhashers)
        status = FLOE_ERR_CAPACITY;
    if (nhashers && threadIdx.x == 2 * FLOE_WARP)
        floe_footer_put(job.call.stream, index_at(job, nbytes), 1);
    if (threadIdx.x == 3 * FLOE_WARP)
        report(job, sh.attempt, status, index_at(job, nbytes) + floe_index_span(1));
    if (nhashers)
        write_checksums(job, nbytes, nhashers, sums);
    else
        __syncthreads(); /* what the report is made of has been read, and that all have come here */
    if (by_block_warp() == BY_BLOCK_WARPS - 1)
        clear_state(job, sh.attempt, nhashers);
}

/* ---- the kernel ---------------------------------------------------------------------------------------------------- */

/* A block has tiles, then pieces. */
template <int RANK>
__global__ __launch_bounds__(THREADS, BLOCKS_A_PROCESSOR) void small_kernel(const __grid_constant__ floe_small_job job)
{
    floe_dev_begin();
    FLOE_DYNAMIC_SHARED(uint32_t, memory);
    __shared__ block_shared sh;
    if (blockIdx.x == 0 && threadIdx.x < job.header_nwords && 8 * (uint64_t)job.header_nwords <= job.call.capacity)
        ((uint64_t *)job.call.stream)[threadIdx.x] = job.header[threadIdx.x];
    uint64_t nbytes = 0;
    if (encode_small<RANK>(job.call, job.host_chunk, job.has_host_chunk, sh, memory))
        nbytes = nbytes_of(sh.decision);
    if (!job.finish)
        return;
    piece_shared &s = *(piece_shared *)memory;
    const uint32_t nhashers = nbytes && stream_fits(job, nbytes) ? hashers_of(nbytes) : 0;
    if (blockIdx.x < nhashers)
        hash_payload(job, sh, nbytes, nhashers, s);
    if (blockIdx.x + 1 == gridDim.x)
        finish_stream(job, sh, nbytes, nhashers, s.stage);
    else if (blockIdx.x >= nhashers && threadIdx.x == 0)
        floe_counter_add(&job.finish->nleft, 1);
}

template <int RANK> cudaError_t launch(const floe_small_job &job, bool raises, cudaStream_t stream)
{
    cudaError_t e = cudaSuccess;
    if (raises)
        e = cudaFuncSetAttribute(small_kernel<RANK>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_NBYTES);
    if (e != cudaSuccess)
        return e;
    FLOE_LAUNCH_EARLY(small_kernel<RANK>, floe_small_blocks(&job.call.grid, BLOCKS_A_PROCESSOR), THREADS, SHARED_NBYTES,
                      stream, job);
    return cudaGetLastError();
}

} // namespace

int floe_small_cuda(const floe_small_job *job, uint32_t *granted, void *stream)
{
    floe_view view;
    floe_view_of(job->call.field.rank, job->call.grid.chunk, false, &view); /* swap does not change the rank */
    const bool raises = !granted || !(*granted >> view.rank & 1);
    cudaStream_t s = (cudaStream_t)stream;
    const cudaError_t error = view.rank == 1   ? launch<1>(*job, raises, s)
                              : view.rank == 2 ? launch<2>(*job, raises, s)
                                               : launch<3>(*job, raises, s);
    if (granted && error == cudaSuccess)
        *granted |= 1u << view.rank;
    return (int)error;
}

uint64_t floe_lorenzo_small_spill_nbytes(const floe_dev_grid *grid)
{
    return 4 * floe_min64(grid->slots, MOST_BLOCKS) * BY_BLOCK_SPILL_WORDS;
}
