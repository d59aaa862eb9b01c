/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payloads of a stream in device memory: hashed by all blocks of the device, a 16 KiB piece at a time, to finish a stream
 * or to verify one. Reading all the rest is in container_open_cuda.cu.
 *
 * Every piece of every record has a slot, and slots are dealt out to blocks evenly, as runs. Record r begins at slot
 * (offset of r - offset of record 0) / 16 KiB + r: its pieces need no more slots than there are to the next record's, and
 * nobody has to add up sizes. A few slots stay empty.
 *
 * The block that is done last does what needs the checksums of all.
 */
#include "container/container_cuda.cuh"

#include "base/dev_report_math.h"
#include "container/checksum_cuda.cuh"
#include "container/layout_math.h"

namespace
{

enum {
    WARPS = FLOE_PIECE_WARPS,
    THREADS = WARPS * FLOE_WARP,
    BLOCKS_A_PROCESSOR = 4,            /* of 64 registers a thread: 128 KiB on their way to a multiprocessor */
    BLOCKS = 132 * BLOCKS_A_PROCESSOR, /* of an H100 or H200; others are slower, not wrong */
    BATCH = WARPS,                     /* pieces that a block adds up before a warp each does the chain of one */
    /* So few slots are done by one block: it needs no atomics of the device, which cost more than these pieces. */
    SOLO_SLOTS = 4
};

/* ---- pieces that blocks share -------------------------------------------------------------------------------------- */

/* Scratch: how many blocks are done, then a sum a record. */
typedef unsigned long long tally;
static_assert(sizeof(tally) == FLOE_TALLY_NBYTES, "what scratch is cleared as");

struct payloads {
    const uint8_t *stream;
    uint64_t nbytes; /* no record reaches past them */
    const floe_dev_record *records;
    uint64_t nrecords;
    uint64_t origin; /* offset of record 0 */
    uint64_t nslots;
    uint64_t nblocks; /* that have something to do */
};

/* A piece of a batch. */
struct piece {
    const uint8_t *p;
    uint64_t record, number, nbytes; /* number: in the record. Empty slots have no bytes and record UINT64_MAX */
};

/* Shared memory of a block. */
struct hash_shared {
    floe_piece_sums sums[BATCH];
    uint64_t stage[WARPS][FLOE_STAGE_WORDS];
    piece pieces[BATCH];
    uint64_t terms[BATCH];
    tally solo[SOLO_SLOTS];
    uint32_t bad;  /* some record does not fit */
    uint32_t last; /* this block is done last */
};

FLOE_DEV uint64_t slot_of(const payloads &w, uint64_t r, uint64_t offset)
{
    return (offset - w.origin) / FLOE_CHECKSUM_PIECE + r;
}

FLOE_DEV payloads payloads_of(const uint8_t *stream, uint64_t nbytes, const floe_dev_record *records, uint64_t nrecords)
{
    payloads w = {stream, nbytes, records, nrecords, 0, 0, 1};
    if (nrecords) {
        const uint64_t offset = records[nrecords - 1].offset, last_nbytes = records[nrecords - 1].nbytes;
        w.origin = records[0].offset;
        w.nslots = slot_of(w, nrecords - 1, offset) + floe_checksum_pieces(last_nbytes);
        w.nblocks = w.nslots <= SOLO_SLOTS ? 1 : floe_min64(w.nslots, gridDim.x);
    }
    return w;
}

FLOE_DEV tally *tallies_of(const payloads &w, void *scratch, hash_shared &s)
{
    return w.nblocks == 1 && w.nslots <= SOLO_SLOTS ? s.solo : (tally *)scratch + 1;
}

/* More slots than bytes: records are not in order. */
FLOE_DEV bool slots_fit(const payloads &w) { return w.nslots <= w.nbytes / FLOE_CHECKSUM_PIECE + 1 + w.nrecords; }

/* The last record that begins at or before a slot. By a warp. */
FLOE_DEV uint64_t record_of_slot(const payloads &w, uint64_t slot, floe_dev_record *record)
{
    uint64_t first = 0, count = w.nrecords, step;
    do {
        step = (count + FLOE_WARP - 1) / FLOE_WARP;
        const uint64_t at = floe_lane() * step;
        const uint64_t offset = at < count ? w.records[first + at].offset : 0;
        const uint64_t nbytes = at < count ? w.records[first + at].nbytes : 0;
        const bool before = at < count && slot_of(w, first + at, offset) <= slot;
        const uint32_t hit = 31 - __clz((int)__ballot_sync(FLOE_ALL_LANES, before)); /* lane 0 is always before */
        record->offset = __shfl_sync(FLOE_ALL_LANES, offset, hit);
        record->nbytes = __shfl_sync(FLOE_ALL_LANES, nbytes, hit);
        first += hit * step;
        count = floe_min64(step, count - hit * step);
    } while (step > 1);
    return first;
}

FLOE_DEV bool record_fits(const payloads &w, const floe_dev_record &record)
{
    uint64_t span = floe_record_span(record.nbytes);
    return record.offset % 8 == 0 && span && record.offset <= w.nbytes && span <= w.nbytes - record.offset;
}

/* What is in a slot. By a warp; false: a record that does not fit. */
FLOE_DEV bool piece_find(const payloads &w, uint64_t slot, piece *to)
{
    floe_dev_record record;
    const uint64_t r = record_of_slot(w, slot, &record), k = slot - slot_of(w, r, record.offset);
    if (!record_fits(w, record))
        return false;
    piece found = {w.stream, UINT64_MAX, 0, 0};
    if (k < floe_checksum_pieces(record.nbytes)) {
        const uint64_t at = k * FLOE_CHECKSUM_PIECE;
        found.p = w.stream + record.offset + FLOE_RECORD_HEAD_NBYTES + at;
        found.record = r;
        found.number = k;
        found.nbytes = floe_min64(record.nbytes - at, FLOE_CHECKSUM_PIECE);
    }
    if (floe_lane() == 0)
        *to = found;
    return true;
}

/* Every warp's share of every piece. */
FLOE_DEV void shares_add(const floe_lane_keys *keys, uint32_t count, hash_shared &s)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    floe_lane_share here, next = {};
    floe_lane_share_load(&here, s.pieces[0].p, (uint32_t)s.pieces[0].nbytes, warp);
    for (uint32_t j = 0; j < count; j++) {
        if (j + 1 < count)
            floe_lane_share_load(&next, s.pieces[j + 1].p, (uint32_t)s.pieces[j + 1].nbytes, warp);
        floe_lane_share_add(&here, keys, (uint32_t)s.pieces[j].nbytes, warp, s.sums[j]);
        here = next;
    }
}

/* Terms of one record are added up by the lane of its first piece. By the first warp. */
FLOE_DEV void terms_add(uint32_t count, const hash_shared &s, tally *tallies)
{
    const uint32_t j = threadIdx.x;
    if (j >= count || s.pieces[j].record == UINT64_MAX || (j && s.pieces[j - 1].record == s.pieces[j].record))
        return;
    uint64_t sum = 0;
    for (uint32_t k = j; k < count && s.pieces[k].record == s.pieces[j].record; k++)
        sum += s.terms[k];
    atomicAdd(tallies + s.pieces[j].record, (tally)sum);
}

/* Slots first .. first + count - 1, at most BATCH. The whole block, which gets the same answer; false: a record that does
 * not fit. */
FLOE_DEV bool batch_hash(const payloads &w, const floe_lane_keys *keys, uint64_t first, uint32_t count, tally *tallies,
                         hash_shared &s)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    if (warp < count && !piece_find(w, first + warp, &s.pieces[warp]) && floe_lane() == 0)
        s.bad = 1;
    __syncthreads();
    if (s.bad)
        return false;
    const piece mine = s.pieces[warp < count ? warp : 0];
    const uint32_t n = (uint32_t)mine.nbytes;
    const uint64_t last = floe_lane_last_load(mine.p, n);
    shares_add(keys, count, s);
    __syncthreads();
    if (warp < count) {
        const uint64_t hash = n > FLOE_XXH3_SHORT_MAX ? floe_warp_piece_end(s.sums[warp], last, n)
                                                      : floe_warp_xxh3_short(mine.p, n, s.stage[warp]);
        if (floe_lane() == 0)
            s.terms[warp] = floe_checksum_term(hash, mine.number);
    }
    __syncthreads();
    if (warp == 0)
        terms_add(count, s, tallies);
    __syncthreads();
    return true;
}

/* This block's share. True in the block that is done last, if all records fit: then tallies are complete. */
FLOE_DEV bool share_hash(const payloads &w, void *scratch, tally *tallies, hash_shared &s)
{
    const floe_lane_keys keys = floe_lane_keys_load();
    const uint64_t share = w.nslots / w.nblocks, more = w.nslots % w.nblocks, block = blockIdx.x;
    const uint64_t begin = block * share + floe_min64(block, more), end = begin + share + (block < more);
    if (threadIdx.x < SOLO_SLOTS)
        s.solo[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        s.bad = !slots_fit(w);
    __syncthreads();
    if (!slots_fit(w))
        return false;
    for (uint64_t at = begin; at < end; at += BATCH)
        if (!batch_hash(w, &keys, at, (uint32_t)floe_min64(end - at, BATCH), tallies, s))
            return false;
    if (w.nblocks == 1)
        return true;
    if (threadIdx.x == 0) {
        __threadfence();
        s.last = atomicAdd((tally *)scratch, (tally)1) + 1 == w.nblocks;
        __threadfence();
        if (s.last)
            *(tally *)scratch = 0;
    }
    __syncthreads();
    return s.last;
}

/* The checksum of a record of which everything is added up; its tally is 0 again. By a thread. */
FLOE_DEV uint64_t tally_take(tally *t, uint64_t nbytes)
{
    const uint64_t sum = *(volatile tally *)t;
    *t = 0;
    return floe_checksum_finish(sum, nbytes);
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

/* Index entries that are kept at hand to be hashed, where sums were. */
enum { ENTRIES_AT_HAND = sizeof(floe_piece_sums) * BATCH / FLOE_INDEX_ENTRY_NBYTES };

/* Head, padding and index entry. By a thread. */
FLOE_DEV void record_write(const floe_container_finish &job, uint64_t index, uint64_t r, const floe_dev_record &record,
                           uint64_t *entries)
{
    const floe_record head = {job.first_record + r, record.nbytes, record.checksum};
    uint8_t *at = job.stream + record.offset, *behind = at + FLOE_RECORD_HEAD_NBYTES + record.nbytes;
    const uint32_t pad = (uint32_t)(floe_round_up8(record.nbytes) - record.nbytes);
    uint64_t words[FLOE_RECORD_HEAD_WORDS];
    floe_record_pack(&head, words);
    words[4] = floe_record_check_word(floe_xxh3_17_128((const uint8_t *)words, FLOE_RECORD_CHECK_AT));
#pragma unroll
    for (int i = 0; i < FLOE_RECORD_HEAD_WORDS; i++)
        ((uint64_t *)at)[i] = words[i];
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
FLOE_DEV void index_check_write(const floe_container_finish &job, uint64_t index, const uint64_t *at_hand,
                                hash_shared &s)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const uint64_t nbytes = job.nrecords * FLOE_INDEX_ENTRY_NBYTES;
    const uint8_t *entries =
        job.nrecords <= ENTRIES_AT_HAND ? (const uint8_t *)at_hand : (const uint8_t *)job.stream + index;
    uint64_t terms =
        floe_warp_checksum_terms(entries, nbytes, warp, WARPS, floe_checksum_pieces(nbytes), s.stage[warp]);
    uint64_t sum = warps_sum(terms, s.terms);
    if (threadIdx.x == 0)
        *(uint64_t *)(job.stream + index + nbytes) = floe_checksum_finish(sum, nbytes);
}

/* The report, if somebody asks. By one thread. */
FLOE_DEV void finish_tell(const floe_container_finish &job, uint32_t status, uint64_t nbytes)
{
    if (job.report)
        floe_dev_report_write(job.report, status, nbytes, job.met + *job.attempt, job.pwrel);
}

/* By one thread. */
FLOE_DEV void finish_fail(const floe_container_finish &job, uint32_t status)
{
    *job.failed = status;
    finish_tell(job, status, 0);
}

/* A block has its share of the pieces. */
__global__
__launch_bounds__(THREADS,
                  BLOCKS_A_PROCESSOR) void container_finish_kernel(const __grid_constant__ floe_container_finish job)
{
    floe_dev_begin();
    __shared__ hash_shared s;
    const payloads w = payloads_of(job.stream, *job.end, job.records, job.nrecords);
    const uint64_t index = w.nbytes, more = job.with_index ? floe_index_span(job.nrecords) : 0;
    const uint32_t failed = *job.failed;
    const bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    if (failed && leads)
        finish_tell(job, failed, 0);
    if (failed || blockIdx.x >= w.nblocks)
        return;
    if (index > job.capacity || more > job.capacity - index) {
        if (leads)
            finish_fail(job, FLOE_ERR_CAPACITY);
        return;
    }
    if (blockIdx.x == 0 && threadIdx.x < job.header_nwords)
        ((uint64_t *)job.stream)[threadIdx.x] = job.header[threadIdx.x];
    tally *tallies = tallies_of(w, job.scratch, s);
    const bool last = share_hash(w, job.scratch, tallies, s);
    if (s.bad && threadIdx.x == 0)
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
        footer_write(job, index);
    if (threadIdx.x == THREADS / 2)
        finish_tell(job, FLOE_OK, index + more);
    __syncthreads();
    if (job.with_index)
        index_check_write(job, index, entries, s);
}

/* ---- verifying payloads -------------------------------------------------------------------------------------------- */

FLOE_DEV bool padding_is_zero(const uint8_t *stream, const floe_dev_record &record)
{
    const uint8_t *behind = stream + record.offset + FLOE_RECORD_HEAD_NBYTES + record.nbytes;
    const uint32_t pad = (uint32_t)(floe_round_up8(record.nbytes) - record.nbytes);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < pad; i++)
        bits |= behind[i];
    return bits == 0;
}

/* A block has its share of the pieces. */
__global__ __launch_bounds__(THREADS, BLOCKS_A_PROCESSOR) void container_verify_kernel(const floe_container_verify job)
{
    floe_dev_begin();
    __shared__ hash_shared s;
    const uint64_t nrecords = job.dev_nrecords ? floe_min64(*job.dev_nrecords, job.nrecords) : job.nrecords;
    if (*job.status || nrecords == 0)
        return;
    const payloads w = payloads_of(job.stream, job.nbytes, job.records, nrecords);
    if (blockIdx.x >= w.nblocks)
        return;
    tally *tallies = tallies_of(w, job.scratch, s);
    const bool last = share_hash(w, job.scratch, tallies, s);
    if (s.bad && threadIdx.x == 0)
        *job.status = FLOE_ERR_FORMAT;
    for (uint64_t r = threadIdx.x; last && r < nrecords; r += THREADS) {
        const floe_dev_record record = job.records[r];
        if (tally_take(tallies + r, record.nbytes) != record.checksum || !padding_is_zero(job.stream, record))
            *job.status = FLOE_ERR_CHECKSUM;
    }
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
    FLOE_LAUNCH_EARLY(container_finish_kernel, blocks_for(j.capacity, j.nrecords), THREADS, 0, (cudaStream_t)stream, j);
    return (int)cudaGetLastError();
}

int floe_container_verify_cuda(const floe_container_verify *job, void *stream)
{
    const floe_container_verify j = *job;
    FLOE_LAUNCH_EARLY(container_verify_kernel, blocks_for(j.nbytes, j.nrecords), THREADS, 0, (cudaStream_t)stream, j);
    return (int)cudaGetLastError();
}
