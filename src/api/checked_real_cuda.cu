/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles to values, and all checks of their stream beside it. One block judges all of the stream but the payloads. Others check
 * pieces of the payloads, spread evenly among those that decode, whose words they bring near: both walk through the stream at
 * one pace. The last block waits for all others, and reports.
 */
#include "api/checked_cuda.h"

#include "base/dev_report_math.h"
#include "codec/lorenzo_decode_pack.cuh"
#include "container/container_judge.cuh"
#include "container/payload_hash.cuh"

namespace
{

enum {
    PIECES = BATCH,       /* of a block that checks, where there are blocks enough */
    HASH_BLOCKS = 8 * 132 /* at most: twice what an H100 or H200 runs at once */
};
static_assert((int)PACK_WARPS <= (int)JUDGE_WARPS_MAX, "blocks of one size");
static_assert(sizeof(judge_shared) <= PACK_SHARED_NBYTES && sizeof(hash_shared) <= PACK_SHARED_NBYTES,
              "in the place of the words");

enum { OF_CONTAINER, OF_PAYLOADS, OF_OPENING, OF_DECODING, STATUSES };
static_assert(STATUSES == sizeof((floe_checked_state *)0)->statuses / sizeof(uint32_t), "one each");

/* How blocks are dealt out: block 0 judges; of those behind it, as many as have gone by when number * hash_rate passes a whole
 * number check pieces, the others decode. */
struct shares {
    uint32_t nhash, ndecode;
    uint64_t hash_rate; /* in units of 2^-32, rounded up: exact for fewer than 2^32 blocks */
};

shares shares_of(const floe_checked_job &job)
{
    const uint64_t npieces = job.open.nbytes / FLOE_CHECKSUM_PIECE + 1 + job.decode.max_chunks;
    shares s;
    s.nhash = (uint32_t)floe_min64(floe_ceil_div(npieces, PIECES), HASH_BLOCKS);
    s.ndecode = (uint32_t)floe_ceil_div(job.decode.max_slots, PACK_WARPS);
    s.hash_rate = floe_ceil_div((uint64_t)s.nhash << 32, (uint64_t)s.nhash + s.ndecode);
    return s;
}

FLOE_DEV void tell(const floe_checked_job &job, uint32_t *told, int who, uint32_t status)
{
    if (status == FLOE_OK)
        return;
    atomicExch(told, 1u);
    atomicCAS(job.state->statuses + who, (uint32_t)FLOE_OK, status);
}

/* ---- checks -------------------------------------------------------------------------------------------------------- */

/* All but the payloads. A block. */
FLOE_DEV_SELDOM void judge(const floe_checked_job &job, uint32_t *told, judge_shared &s)
{
    uint64_t nrecords;
    const uint32_t status = container_judge(job.open, s, &nrecords);
    if (threadIdx.x == 0)
        tell(job, told, OF_CONTAINER, status);
}

/* This block's pieces of the payloads. Where nothing can be there, who judges the stream says so. */
FLOE_DEV_SELDOM void check_payloads(const floe_checked_job &job, uint64_t nbytes, uint32_t block, uint32_t nblocks,
                                    uint32_t *told, hash_shared &s)
{
    const floe_dev_record *records = job.decode.records;
    const uint64_t nrecords = job.decode.grid->nchunks;
    if (nrecords == 0)
        return;
    payloads w = payloads_of(job.decode.stream, nbytes, records, nrecords, block, nblocks);
    w.nblocks = floe_min64(w.nblocks, floe_ceil_div(w.nslots, PIECES));
    if (block >= w.nblocks)
        return;
    tally *tallies = tallies_of(w, job.tallies, s);
    const bool last = share_hash<PACK_WARPS>(w, job.tallies, tallies, s);
    if (s.bad && threadIdx.x == 0)
        tell(job, told, OF_PAYLOADS, FLOE_ERR_FORMAT);
    for (uint64_t r = threadIdx.x; last && r < nrecords; r += PACK_THREADS)
        if (tally_take(tallies + r, records[r].nbytes) != records[r].checksum ||
            !padding_is_zero(job.decode.stream, records[r]))
            tell(job, told, OF_PAYLOADS, FLOE_ERR_CHECKSUM);
}

/* ---- decoding ------------------------------------------------------------------------------------------------------ */

/* Four tiles, a warp each. */
FLOE_DEV void decode_tiles(const floe_checked_job &job, uint32_t block, uint32_t *told, uint32_t *stages)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, slot = block * PACK_WARPS + warp;
    if (slot < job.decode.max_slots && decode_slot(job.decode, slot, stages + warp * STAGE_WORDS) != TILE_DONE &&
        floe_lane() == 0)
        tell(job, told, OF_DECODING, FLOE_ERR_FORMAT);
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */

/* By the last block, whose number says that all others run or are done: so the wait ends. */
FLOE_DEV void report(const floe_checked_job &job, uint64_t nbytes, uint32_t *told)
{
    floe_checked_state *state = job.state;
    for (uint64_t c = threadIdx.x; c < job.decode.max_chunks; c += PACK_THREADS)
        tell(job, told, OF_OPENING, job.decode.chunks[c].opened);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    while (floe_load_shared_state(&state->ndone) + 1 != gridDim.x)
        floe_dev_pause();
    __threadfence();
    uint32_t status = FLOE_OK;
    for (int i = 0; i < STATUSES && status == FLOE_OK; i++)
        status = *(volatile uint32_t *)(state->statuses + i);
    floe_dev_report_write(job.report, status, nbytes, NULL, false);
}

/* What all other blocks end with. Most have nothing to tell, and need not wait for their values to be written. */
FLOE_DEV void finish(const floe_checked_job &job, const uint32_t *told)
{
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    if (*told)
        __threadfence();
    atomicAdd((unsigned long long *)&job.state->ndone, 1ull);
}

__global__ __launch_bounds__(PACK_THREADS, PACK_BLOCKS_A_PROCESSOR) void checked_decode_kernel(
    const __grid_constant__ floe_checked_job job, const shares all)
{
    floe_dev_begin();
    FLOE_DYNAMIC_SHARED(uint32_t, stages);
    __shared__ uint32_t told; /* the block has told a status */
    const uint64_t nbytes = job.open.dev_nbytes ? *job.open.dev_nbytes : job.open.nbytes;
    const uint32_t i = blockIdx.x - 1, before = (uint32_t)(i * all.hash_rate >> 32);
    if (threadIdx.x == 0)
        told = 0;
    __syncthreads();
    if (blockIdx.x == 0)
        judge(job, &told, *(judge_shared *)stages);
    else if ((uint32_t)((i + 1) * all.hash_rate >> 32) != before)
        check_payloads(job, nbytes, before, all.nhash, &told, *(hash_shared *)stages);
    else
        decode_tiles(job, i - before, &told, stages);
    if (blockIdx.x + 1 == gridDim.x)
        report(job, nbytes, &told);
    else
        finish(job, &told);
}

} // namespace

int FLOE_R(floe_checked_real_cuda)(const floe_checked_job *job, void *stream)
{
    const shares all = shares_of(*job);
    const cudaError_t e =
        cudaFuncSetAttribute(checked_decode_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, PACK_SHARED_NBYTES);
    if (e != cudaSuccess)
        return (int)e;
    FLOE_LAUNCH_EARLY(checked_decode_kernel, 1 + all.nhash + all.ndecode, PACK_THREADS, PACK_SHARED_NBYTES,
                      (cudaStream_t)stream, *job, all);
    return (int)cudaGetLastError();
}
