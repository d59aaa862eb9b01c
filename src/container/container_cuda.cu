/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payloads of a stream in device memory: hashed by all warps of the device, a 16 KiB piece at a time, to finish a stream
 * or to verify one. Reading all the rest is in container_open_cuda.cu.
 *
 * Every piece of every record has a slot, and slots are dealt out to warps evenly, as runs. Record r begins at slot
 * (offset of r - offset of record 0) / 16 KiB + r: its pieces need no more slots than there are to the next record's, and
 * nobody has to add up sizes. A few slots stay empty.
 */
#include "container/container_cuda.cuh"

#include "container/checksum_cuda.cuh"
#include "container/layout_math.h"

namespace
{

enum {
    WARPS = 8,
    THREADS = WARPS * FLOE_WARP,
    /* Two blocks fill the registers of a multiprocessor: 16 warps with 8 KiB on their way each. Of the 132 multiprocessors of
     * an H100 or H200; others are slower, not wrong. */
    BLOCKS = 132 * 2,
    /* So few slots are done by one block, two by a warp: it needs no atomics of the device, which cost more than the
     * second piece. */
    SOLO_SLOTS = 2 * WARPS
};

/* ---- records that several warps share ------------------------------------------------------------------------------ */

/* What has been hashed of a record so far. */
struct tally {
    unsigned long long sum, npieces;
};

/* Scratch: this, then a tally a record. */
struct scratch_head {
    unsigned long long nfinished; /* records */
    unsigned long long pad;
};

static_assert(sizeof(tally) == FLOE_TALLY_NBYTES && sizeof(scratch_head) == FLOE_TALLY_NBYTES,
              "what scratch is cleared as");

struct payloads {
    const uint8_t *stream;
    uint64_t nbytes; /* no record reaches past them */
    const floe_dev_record *records;
    uint64_t nrecords;
    uint64_t origin; /* offset of record 0 */
    uint64_t nslots;
    tally *tallies;       /* a record each; of all blocks */
    tally *block_tallies; /* SOLO_SLOTS of this block, in shared memory */
    bool solo;            /* one block does it all, with its own tallies */
};

/* A warp's slots, and how many those of its block have together. */
struct slot_run {
    uint64_t first, end, of_block;
};

FLOE_DEV uint64_t slot_of(const payloads &w, uint64_t r, uint64_t offset)
{
    return (offset - w.origin) / FLOE_CHECKSUM_PIECE + r;
}

FLOE_DEV payloads payloads_of(const uint8_t *stream, uint64_t nbytes, const floe_dev_record *records, uint64_t nrecords,
                              void *scratch, tally *block_tallies)
{
    tally *tallies = (tally *)((scratch_head *)scratch + 1);
    payloads w = {stream, nbytes, records, nrecords, records[0].offset, 0, tallies, block_tallies, false};
    const floe_dev_record *last = records + nrecords - 1;
    w.nslots = slot_of(w, nrecords - 1, last->offset) + floe_checksum_pieces(last->nbytes);
    w.solo = w.nslots <= SOLO_SLOTS; /* then there are no more records than that either */
    return w;
}

/* Neighbouring runs go to different blocks, so that few pieces keep many multiprocessors busy. */
FLOE_DEV slot_run slots_of_warp(const payloads &w)
{
    const uint64_t nblocks = w.solo ? 1 : gridDim.x, block = blockIdx.x;
    const uint64_t warp = threadIdx.x / FLOE_WARP * nblocks + block;
    const uint64_t share = w.nslots / (nblocks * WARPS), more = w.nslots % (nblocks * WARPS);
    slot_run run = {warp * share + floe_min64(warp, more), 0, WARPS * share};
    run.end = run.first + share + (warp < more);
    for (uint64_t k = block; k < more; k += nblocks) /* at most WARPS turns */
        run.of_block++;
    if (block >= nblocks)
        run.end = run.first;
    return run;
}

/* The last record that begins at or before a slot. By a warp. */
FLOE_DEV uint64_t record_of_slot(const payloads &w, uint64_t slot)
{
    uint64_t first = 0, count = w.nrecords;
    while (count > 1) {
        const uint64_t step = (count + FLOE_WARP - 1) / FLOE_WARP, at = floe_lane() * step;
        bool before = at < count && slot_of(w, first + at, w.records[first + at].offset) <= slot;
        const uint32_t hit = 31 - __clz((int)__ballot_sync(FLOE_ALL_LANES, before)); /* lane 0 is always before */
        first += hit * step;
        count = floe_min64(step, count - hit * step);
    }
    return first;
}

FLOE_DEV void tally_fence(bool of_block)
{
    if (of_block)
        __threadfence_block();
    else
        __threadfence();
}

/* Adds the terms of `count` of npieces pieces. True if these were the last; then *sum is that of all, and the tally is 0. */
FLOE_DEV bool tally_add(tally *t, bool of_block, uint64_t count, uint64_t npieces, uint64_t *sum)
{
    if (count == npieces)
        return true;
    bool complete = false;
    if (floe_lane() == 0) {
        atomicAdd(&t->sum, (unsigned long long)*sum);
        tally_fence(of_block);
        complete = atomicAdd(&t->npieces, (unsigned long long)count) + count == npieces;
        if (complete) {
            tally_fence(of_block);
            *sum = atomicAdd(&t->sum, 0ull);
            t->sum = t->npieces = 0;
        }
    }
    *sum = __shfl_sync(FLOE_ALL_LANES, *sum, 0);
    return __shfl_sync(FLOE_ALL_LANES, (int)complete, 0);
}

/* The same for record r. Where there is but one, a block adds up its own pieces first: thousands of warps that add to one
 * place take longer than a piece. */
FLOE_DEV bool record_add(const payloads &w, uint64_t r, uint64_t count, uint64_t of_block, uint64_t npieces,
                         uint64_t *sum)
{
    if (w.solo)
        return tally_add(w.block_tallies + r, true, count, npieces, sum);
    if (w.nrecords == 1) {
        if (!tally_add(w.block_tallies, true, count, of_block, sum))
            return false;
        count = of_block;
    }
    return tally_add(w.tallies + r, false, count, npieces, sum);
}

FLOE_DEV bool record_fits(const payloads &w, const floe_dev_record &record)
{
    uint64_t span = floe_record_span(record.nbytes);
    return record.offset % 8 == 0 && span && record.offset <= w.nbytes && span <= w.nbytes - record.offset;
}

/* This warp's share. each(r, record) is called by the warp for every record that is complete with it, with its checksum;
 * bad() for one that does not fit. */
template <class Each, class Bad> FLOE_DEV void share_hash(const payloads &w, uint64_t *stage, Each each, Bad bad)
{
    const slot_run run = slots_of_warp(w);
    if (run.first == run.end)
        return;
    for (uint64_t r = record_of_slot(w, run.first); r < w.nrecords; r++) {
        floe_dev_record record = {w.records[r].offset, w.records[r].nbytes, 0};
        const uint64_t begin = slot_of(w, r, record.offset), npieces = floe_checksum_pieces(record.nbytes);
        if (begin >= run.end)
            return;
        const uint64_t from = run.first > begin ? run.first - begin : 0, to = floe_min64(npieces, run.end - begin);
        if (!record_fits(w, record)) {
            bad();
        } else if (from < to) {
            const uint8_t *payload = w.stream + record.offset + FLOE_RECORD_HEAD_NBYTES;
            uint64_t sum = floe_warp_checksum_terms(payload, record.nbytes, from, 1, to, stage);
            if (record_add(w, r, to - from, run.of_block, npieces, &sum)) {
                record.checksum = floe_checksum_finish(sum, record.nbytes);
                each(r, record);
            }
        }
    }
}

/* How many blocks can have something to do. */
uint32_t blocks_for(uint64_t nbytes, uint64_t nrecords)
{
    uint64_t nslots = nbytes / FLOE_CHECKSUM_PIECE + 1 + nrecords;
    return nslots <= SOLO_SLOTS ? 1 : (uint32_t)floe_min64(nslots, BLOCKS);
}

uint64_t scratch_nbytes(uint64_t nrecords) { return FLOE_TALLY_NBYTES * (nrecords + 1); }

/* ---- header ---------------------------------------------------------------------------------------------------------- */

/* One thread. */
__global__ void header_write_kernel(const floe_dev_header *header, uint8_t *dst) { floe_header_write_dev(header, dst); }

/* ---- finishing a stream -------------------------------------------------------------------------------------------- */

struct finish_shared {
    uint64_t stage[WARPS][FLOE_STAGE_WORDS];
    tally tallies[SOLO_SLOTS];
    uint64_t sums[WARPS];
    bool last; /* this block has finished the last record of all */
};

/* Head, padding and index entry. By a warp. */
FLOE_DEV void record_write(const floe_container_finish &job, uint64_t index, uint64_t r, const floe_dev_record &record)
{
    const uint32_t lane = floe_lane();
    const floe_record head = {job.first_record + r, record.nbytes, record.checksum};
    uint8_t *at = job.stream + record.offset, *behind = at + FLOE_RECORD_HEAD_NBYTES + record.nbytes;
    uint64_t words[FLOE_RECORD_HEAD_WORDS];
    floe_record_pack(&head, words);
    words[4] = floe_record_check_word(floe_xxh3_17_128((const uint8_t *)words, FLOE_RECORD_CHECK_AT));
    if (lane < FLOE_RECORD_HEAD_WORDS)
        ((uint64_t *)at)[lane] = lane == 0   ? words[0]
                                 : lane == 1 ? words[1]
                                 : lane == 2 ? words[2]
                                 : lane == 3 ? words[3]
                                             : words[4];
    if (lane < floe_round_up8(record.nbytes) - record.nbytes)
        behind[lane] = 0;
    if (lane == 0)
        job.records[r].checksum = record.checksum;
    if (job.with_index && lane == 0)
        floe_index_entry_pack(record.offset, record.nbytes, record.checksum,
                              (uint64_t *)(job.stream + index) + FLOE_INDEX_ENTRY_WORDS * r);
}

/* By one thread: it depends on nothing that is hashed. */
FLOE_DEV void footer_write(const floe_container_finish &job, uint64_t index)
{
    uint64_t words[FLOE_FOOTER_WORDS],
        *to = (uint64_t *)(job.stream + index + floe_index_span(job.nrecords)) - FLOE_FOOTER_WORDS;
    floe_footer_pack(job.nrecords, index, words);
    words[4] = floe_xxh3_17_128((const uint8_t *)words, FLOE_FOOTER_CHECK_AT);
#pragma unroll
    for (int i = 0; i < FLOE_FOOTER_WORDS; i++)
        to[i] = words[i];
}

/* The sum of v over the warps of the block, for thread 0. */
FLOE_DEV uint64_t warps_sum(uint64_t v, uint64_t sums[WARPS])
{
    if (floe_lane() == 0)
        sums[threadIdx.x / FLOE_WARP] = v;
    __syncthreads();
    uint64_t sum = 0;
    for (int i = 0; threadIdx.x == 0 && i < WARPS; i++)
        sum += sums[i];
    return sum;
}

/* The checksum behind the entries. By a block. */
FLOE_DEV void index_check_write(const floe_container_finish &job, uint64_t index, finish_shared &s)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const uint64_t nbytes = job.nrecords * FLOE_INDEX_ENTRY_NBYTES;
    const uint8_t *entries = job.stream + index;
    uint64_t terms =
        floe_warp_checksum_terms(entries, nbytes, warp, WARPS, floe_checksum_pieces(nbytes), s.stage[warp]);
    uint64_t sum = warps_sum(terms, s.sums);
    if (threadIdx.x == 0)
        *(uint64_t *)(job.stream + index + nbytes) = floe_checksum_finish(sum, nbytes);
}

/* A warp has finished `count` records: tells whether that were the last of all. */
FLOE_DEV bool was_last(const floe_container_finish &job, uint64_t count)
{
    scratch_head *head = (scratch_head *)job.scratch;
    __syncwarp();
    if (count == 0 || floe_lane() != 0)
        return false;
    if (count == job.nrecords)
        return true;
    __threadfence();
    if (atomicAdd(&head->nfinished, (unsigned long long)count) + count != job.nrecords)
        return false;
    head->nfinished = 0;
    return true;
}

/* A block has its share of the pieces. */
__global__ __launch_bounds__(THREADS, 2) void container_finish_kernel(const floe_container_finish job)
{
    __shared__ finish_shared s;
    payloads w = {job.stream, 0, NULL, 0, 0, 0, NULL, NULL, true}; /* there may be no records */
    const uint64_t index = *job.end, more = job.with_index ? floe_index_span(job.nrecords) : 0;
    const bool notes = blockIdx.x == 0 && threadIdx.x == THREADS - 1; /* of the warp that has least to do */
    if (job.nrecords)
        w = payloads_of(job.stream, index, job.records, job.nrecords, job.scratch, s.tallies);
    if (*job.failed)
        return;
    if (index > job.capacity || more > job.capacity - index) {
        if (notes)
            *job.failed = FLOE_ERR_CAPACITY;
        return;
    }
    if (threadIdx.x < SOLO_SLOTS)
        s.tallies[threadIdx.x].sum = s.tallies[threadIdx.x].npieces = 0;
    s.last = false;
    __syncthreads();
    uint64_t nfinished = 0;
    share_hash(
        w, s.stage[threadIdx.x / FLOE_WARP],
        [&](uint64_t r, const floe_dev_record &record) {
            record_write(job, index, r, record);
            nfinished++;
        },
        [&]() { *job.failed = FLOE_ERR_INTERNAL; });
    if (notes && job.total)
        *job.total = index + more;
    if (notes && job.with_index)
        footer_write(job, index);
    if (w.solo ? blockIdx.x == 0 : job.with_index && was_last(job, nfinished))
        s.last = true;
    __syncthreads();
    if (!s.last || !job.with_index)
        return;
    __threadfence();
    index_check_write(job, index, s);
}

/* ---- verifying payloads -------------------------------------------------------------------------------------------- */

/* A block has its share of the pieces. */
__global__ __launch_bounds__(THREADS, 2) void container_verify_kernel(const floe_container_verify job)
{
    __shared__ uint64_t stage[WARPS][FLOE_STAGE_WORDS];
    __shared__ tally tallies[SOLO_SLOTS];
    const uint64_t nrecords = job.dev_nrecords ? floe_min64(*job.dev_nrecords, job.nrecords) : job.nrecords;
    if (*job.status || nrecords == 0)
        return;
    if (threadIdx.x < SOLO_SLOTS)
        tallies[threadIdx.x].sum = tallies[threadIdx.x].npieces = 0;
    __syncthreads();
    const payloads w = payloads_of(job.stream, job.nbytes, job.records, nrecords, job.scratch, tallies);
    share_hash(
        w, stage[threadIdx.x / FLOE_WARP],
        [&](uint64_t r, const floe_dev_record &record) {
            const uint8_t *behind = job.stream + record.offset + FLOE_RECORD_HEAD_NBYTES + record.nbytes;
            bool dirty = floe_lane() < floe_round_up8(record.nbytes) - record.nbytes && behind[floe_lane()] != 0;
            if (dirty || record.checksum != job.records[r].checksum)
                *job.status = FLOE_ERR_CHECKSUM;
        },
        [&]() { *job.status = FLOE_ERR_FORMAT; });
}

} // namespace

uint64_t floe_container_finish_nbytes(uint64_t nrecords) { return scratch_nbytes(nrecords); }
uint64_t floe_container_verify_nbytes(uint64_t nrecords) { return scratch_nbytes(nrecords); }

int floe_header_write_cuda(const floe_dev_header *header, void *dst, void *stream)
{
    uint8_t *to = (uint8_t *)dst;
    FLOE_LAUNCH(header_write_kernel, 1, 1, 0, (cudaStream_t)stream, header, to);
    return (int)cudaGetLastError();
}

int floe_container_finish_cuda(const floe_container_finish *job, void *stream)
{
    const floe_container_finish j = *job;
    FLOE_LAUNCH(container_finish_kernel, blocks_for(j.capacity, j.nrecords), THREADS, 0, (cudaStream_t)stream, j);
    return (int)cudaGetLastError();
}

int floe_container_verify_cuda(const floe_container_verify *job, void *stream)
{
    const floe_container_verify j = *job;
    FLOE_LAUNCH(container_verify_kernel, blocks_for(j.nbytes, j.nrecords), THREADS, 0, (cudaStream_t)stream, j);
    return (int)cudaGetLastError();
}
