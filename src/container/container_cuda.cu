/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payloads of a stream in device memory: hashed by all blocks of the device, to finish a stream or to verify one. Reading
 * all the rest is in container_open_cuda.cu. The block that is done last does what needs the checksums of all.
 */
#include "container/container_cuda.h"

#include "backend/device_scan.cuh"
#include "container/payload_hash.cuh"
#include "container/record_dev.cuh"

namespace
{

enum {
    WARPS = FLOE_PIECE_WARPS,
    THREADS = WARPS * FLOE_WARP,
    BLOCKS_A_PROCESSOR = 4 /* of 64 registers a thread: 128 KiB on their way to a multiprocessor */
};

/* How many blocks can have something to do. */
uint32_t blocks_for(uint64_t nbytes, uint64_t nrecords)
{
    uint64_t nslots = nbytes / FLOE_CHECKSUM_PIECE + 1 + nrecords;
    const uint64_t most = (uint64_t)floe_gpu_limits_cuda().processors * BLOCKS_A_PROCESSOR;
    return nslots <= SOLO_SLOTS ? 1 : (uint32_t)floe_min64(nslots, most);
}

uint64_t scratch_nbytes(uint64_t nrecords) { return FLOE_TALLY_NBYTES * (nrecords + 1); }

/* ---- finishing a stream -------------------------------------------------------------------------------------------- */

/* Index entries that are kept at hand to be hashed, where sums were. */
enum { ENTRIES_AT_HAND = sizeof(floe_piece_sums) * BATCH / FLOE_INDEX_ENTRY_NBYTES };

/* Head, padding and index entry. By a thread. */
FLOE_DEV void record_write(const floe_container_finish &job, uint64_t index, uint64_t r, const floe_dev_record &record,
                           uint64_t *entries)
{
    uint8_t *at = job.stream + record.offset, *behind = at + FLOE_RECORD_HEAD_NBYTES + record.nbytes;
    const uint32_t pad = (uint32_t)(floe_round_up8(record.nbytes) - record.nbytes);
    floe_record_head_put({job.first_record + r, record.nbytes, record.checksum}, at);
    for (uint32_t i = 0; i < pad; i++)
        behind[i] = 0;
    job.records[r].checksum = record.checksum;
    if (!job.with_index)
        return;
    floe_index_entry_pack(record.offset, record.nbytes, record.checksum,
                          (uint64_t *)(job.stream + index) + FLOE_INDEX_ENTRY_WORDS * r);
    if (r < ENTRIES_AT_HAND)
        floe_index_entry_pack(record.offset, record.nbytes, record.checksum, entries + FLOE_INDEX_ENTRY_WORDS * r);
}

/* The checksum behind the entries. By a block. */
FLOE_DEV void index_check_write(const floe_container_finish &job, uint64_t index, const uint64_t *at_hand,
                                hash_shared &s)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const uint64_t nbytes = job.nrecords * FLOE_INDEX_ENTRY_NBYTES;
    const uint8_t *entries =
        job.nrecords <= ENTRIES_AT_HAND ? (const uint8_t *)at_hand : (const uint8_t *)job.stream + index;
    uint64_t terms =
        floe_warp_checksum_terms(entries, nbytes, warp, WARPS, floe_checksum_pieces(nbytes), s.stage[warp]);
    if (floe_lane() == 0)
        s.terms[warp] = terms;
    __syncthreads();
    uint64_t sum = 0;
    for (int i = 0; threadIdx.x == 0 && i < WARPS; i++)
        sum += s.terms[i];
    if (threadIdx.x == 0)
        *(uint64_t *)(job.stream + index + nbytes) = floe_checksum_finish(sum, nbytes);
}

/* Statistics of chunk r. */
FLOE_DEV floe_dev_chunk_stats stats_of(const floe_container_finish &job, uint64_t r)
{
    const uint64_t at = r * job.chunk_stats.stride;
    const uint32_t attempt =
        job.chunk_stats.attempt ? *(const uint32_t *)((const uint8_t *)job.chunk_stats.attempt + at) : 0;
    return ((const floe_dev_chunk_stats *)((const uint8_t *)job.chunk_stats.first + at))[attempt];
}

/* The report, if it is requested. By a warp. */
FLOE_DEV void finish_report(const floe_container_finish &job, uint32_t status, uint64_t nbytes)
{
    floe_dev_chunk_stats all = {0, 0, 0, 0};
    if (!job.report)
        return;
    for (uint64_t r = floe_lane(); r < job.nrecords; r += FLOE_WARP) {
        const floe_dev_chunk_stats stats = stats_of(job, r);
        all.nexceptions += stats.nexceptions;
        all.max_error_bits = max(all.max_error_bits, stats.max_error_bits);
        all.max_pw_error_bits = max(all.max_pw_error_bits, stats.max_pw_error_bits);
    }
    all.nexceptions = floe_warp_sum(all.nexceptions);
    all.max_error_bits = floe_warp_max(all.max_error_bits);
    all.max_pw_error_bits = floe_warp_max(all.max_pw_error_bits);
    if (floe_lane() == 0)
        floe_dev_report_write(job.report, status, nbytes, &all, job.pwrel);
}

/* By a warp. */
FLOE_DEV void finish_fail(const floe_container_finish &job, uint32_t status)
{
    if (floe_lane() == 0)
        *job.failed = status;
    finish_report(job, status, 0);
}

/* A block has its share of the pieces. */
FLOE_DEV void finish(const floe_container_finish &job, hash_shared &s)
{
    const payloads w = payloads_of(job.stream, *job.end, job.records, job.nrecords, blockIdx.x, gridDim.x);
    const uint64_t index = w.nbytes, more = job.with_index ? floe_index_span(job.nrecords) : 0;
    const uint32_t failed = *job.failed;
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const bool leads = blockIdx.x == 0 && warp == 0;
    if (failed && leads)
        finish_report(job, failed, 0);
    if (failed || blockIdx.x >= w.nblocks)
        return;
    if (index > job.capacity || more > job.capacity - index) {
        if (leads)
            finish_fail(job, FLOE_ERR_CAPACITY);
        return;
    }
    tally *tallies = tallies_of(w, job.scratch, s);
    const bool last = share_hash<WARPS>(w, job.scratch, tallies, s);
    if (s.bad && warp == 0)
        finish_fail(job, FLOE_ERR_INTERNAL);
    if (!last)
        return;
    uint64_t *entries = &s.sums[0][0][0];
    for (uint64_t r = threadIdx.x; r < job.nrecords; r += THREADS) {
        floe_dev_record record = {job.records[r].offset, job.records[r].nbytes, 0};
        record.checksum = tally_take(tallies + r, record.nbytes);
        record_write(job, index, r, record, entries);
    }
    if (threadIdx.x == THREADS - 1 && job.total)
        *job.total = index + more;
    if (threadIdx.x == THREADS - 1 && job.with_index)
        floe_footer_put(job.stream, index, job.nrecords); /* depends on nothing that is hashed */
    if (warp == WARPS / 2)
        finish_report(job, FLOE_OK, index + more);
    __syncthreads();
    if (job.with_index)
        index_check_write(job, index, entries, s);
}

__global__
__launch_bounds__(THREADS,
                  BLOCKS_A_PROCESSOR) void container_finish_kernel(const __grid_constant__ floe_container_finish job)
{
    floe_dev_begin_early();
    __shared__ hash_shared s;
    if (!job.again || *job.again)
        floe_dev_wait();
    finish(job, s);
    floe_dev_wait();
}

/* ---- verifying payloads -------------------------------------------------------------------------------------------- */

/* A block has its share of the pieces. */
__global__ __launch_bounds__(THREADS, BLOCKS_A_PROCESSOR) void container_verify_kernel(const floe_container_verify job)
{
    floe_dev_begin();
    __shared__ hash_shared s;
    const uint64_t nrecords = job.dev_nrecords ? floe_min64(*job.dev_nrecords, job.nrecords) : job.nrecords;
    if (*job.status || nrecords == 0)
        return;
    const payloads w = payloads_of(job.stream, job.nbytes, job.records, nrecords, blockIdx.x, gridDim.x);
    const uint32_t status = share_verify<WARPS>(w, job.scratch, s);
    if (status != FLOE_OK)
        *job.status = status;
}

} // namespace

uint64_t floe_container_finish_nbytes(uint64_t nrecords) { return scratch_nbytes(nrecords); }
uint64_t floe_container_verify_nbytes(uint64_t nrecords) { return scratch_nbytes(nrecords); }

int floe_container_finish_cuda(const floe_container_finish *job, void *stream)
{
    FLOE_LAUNCH_EARLY(container_finish_kernel, blocks_for(job->capacity, job->nrecords), THREADS, 0,
                      (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}

int floe_container_verify_cuda(const floe_container_verify *job, void *stream)
{
    FLOE_LAUNCH_EARLY(container_verify_kernel, blocks_for(job->nbytes, job->nrecords), THREADS, 0, (cudaStream_t)stream,
                      *job);
    return (int)cudaGetLastError();
}
