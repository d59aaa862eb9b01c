/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payloads of a stream in device memory, hashed by many blocks, a 16 KiB piece at a time.
 *
 * Every piece of every record has a slot, and slots are dealt out to blocks evenly, as runs. Record r begins at slot
 * (offset of r - offset of record 0) / 16 KiB + r: its pieces need no more slots than there are to the next record's, and
 * nobody has to add up sizes. A few slots stay empty.
 */
#ifndef FLOE_CONTAINER_PAYLOAD_HASH_CUH
#define FLOE_CONTAINER_PAYLOAD_HASH_CUH

#include "backend/device.cuh"
#include "container/checksum_cuda.cuh"
#include "container/container_cuda.h"
#include "container/layout_math.h"

namespace
{

enum {
    BATCH = 8, /* pieces that a block adds up before its warps do their chains: at most so many */
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
    uint64_t block;   /* this one, of nblocks or more */
};

/* A piece of a batch. */
struct piece {
    const uint8_t *p;
    uint64_t record, number, nbytes; /* number: in the record. Empty slots have no bytes and record UINT64_MAX */
};

/* Shared memory of a block. */
struct hash_shared {
    floe_piece_sums sums[BATCH];
    uint64_t stage[BATCH][FLOE_STAGE_WORDS];
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

/* For block `block` of nblocks. */
FLOE_DEV payloads payloads_of(const uint8_t *stream, uint64_t nbytes, const floe_dev_record *records, uint64_t nrecords,
                              uint64_t block, uint64_t nblocks)
{
    payloads w = {stream, nbytes, records, nrecords, 0, 0, 1, block};
    if (nrecords) {
        const uint64_t offset = records[nrecords - 1].offset, last_nbytes = records[nrecords - 1].nbytes;
        w.origin = records[0].offset;
        w.nslots = slot_of(w, nrecords - 1, offset) + floe_checksum_pieces(last_nbytes);
        w.nblocks = w.nslots <= SOLO_SLOTS ? 1 : floe_min64(w.nslots, nblocks);
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

/* Every warp's shares of every piece; those of the next piece are on their way meanwhile. */
template <int WARPS> FLOE_DEV void shares_add(const floe_lane_keys *keys, uint32_t count, hash_shared &s)
{
    enum { SHARES = FLOE_PIECE_WARPS / WARPS };
    static_assert(SHARES * WARPS == FLOE_PIECE_WARPS, "as many shares each");
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    floe_lane_share here[SHARES], next[SHARES] = {};
#pragma unroll
    for (int i = 0; i < SHARES; i++)
        floe_lane_share_load(&here[i], s.pieces[0].p, (uint32_t)s.pieces[0].nbytes, warp + i * WARPS);
    for (uint32_t j = 0; j < count; j++) {
        const piece &now = s.pieces[j], &then = s.pieces[j + 1 < count ? j + 1 : j];
#pragma unroll
        for (int i = 0; i < SHARES; i++)
            if (j + 1 < count)
                floe_lane_share_load(&next[i], then.p, (uint32_t)then.nbytes, warp + i * WARPS);
#pragma unroll
        for (int i = 0; i < SHARES; i++) {
            floe_lane_share_add(&here[i], keys, (uint32_t)now.nbytes, warp + i * WARPS, s.sums[j]);
            here[i] = next[i];
        }
    }
}

/* Terms of one record are added up by the lane of its first piece. By the first warp. */
FLOE_DEV void terms_add(uint32_t count, const hash_shared &s, tally *tallies)
{
    const uint32_t j = threadIdx.x;
    if (j >= count || s.pieces[j].record == UINT64_MAX || (j && s.pieces[j - 1].record == s.pieces[j].record))
        return;
    floe_dev_wait(); /* until tallies are clear: the hashes did not need that */
    uint64_t sum = 0;
    for (uint32_t k = j; k < count && s.pieces[k].record == s.pieces[j].record; k++)
        sum += s.terms[k];
    atomicAdd(tallies + s.pieces[j].record, (tally)sum);
}

/* The term of a piece, from its shares. By a warp. */
FLOE_DEV void term_make(const piece &p, uint64_t last, uint32_t j, hash_shared &s)
{
    const uint32_t n = (uint32_t)p.nbytes;
    const uint64_t hash = n > FLOE_XXH3_SHORT_MAX ? floe_warp_piece_end(s.sums[j], last, n)
                                                  : floe_warp_xxh3_short(p.p, n, s.stage[threadIdx.x / FLOE_WARP]);
    if (floe_lane() == 0)
        s.terms[j] = floe_checksum_term(hash, p.number);
}

/* Slots first .. first + count - 1, at most BATCH. The whole block, which gets the same result; false: a record that does not
 * fit. */
template <int WARPS>
FLOE_DEV bool batch_hash(const payloads &w, const floe_lane_keys *keys, uint64_t first, uint32_t count, tally *tallies,
                         hash_shared &s)
{
    enum { OF_WARP = BATCH / WARPS };
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    uint64_t last[OF_WARP];
#pragma unroll
    for (int i = 0; i < OF_WARP; i++) {
        const uint32_t j = warp + i * WARPS;
        if (j < count && !piece_find(w, first + j, &s.pieces[j]) && floe_lane() == 0)
            s.bad = 1;
    }
    __syncthreads();
    if (s.bad)
        return false;
#pragma unroll
    for (int i = 0; i < OF_WARP; i++) {
        const piece &p = s.pieces[warp + i * WARPS < count ? warp + i * WARPS : 0];
        last[i] = floe_lane_last_load(p.p, (uint32_t)p.nbytes);
    }
    shares_add<WARPS>(keys, count, s);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < OF_WARP; i++)
        if (warp + i * WARPS < count)
            term_make(s.pieces[warp + i * WARPS], last[i], warp + i * WARPS, s);
    __syncthreads();
    if (warp == 0)
        terms_add(count, s, tallies);
    __syncthreads();
    return true;
}

/* This block's share, added to the tallies, by all of its WARPS warps. False: some record does not fit. */
template <int WARPS> FLOE_DEV bool share_add(const payloads &w, tally *tallies, hash_shared &s)
{
    const floe_lane_keys keys = floe_lane_keys_load();
    const uint64_t share = w.nslots / w.nblocks, more = w.nslots % w.nblocks;
    const uint64_t begin = w.block * share + floe_min64(w.block, more), end = begin + share + (w.block < more);
    if (threadIdx.x < SOLO_SLOTS)
        s.solo[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        s.bad = !slots_fit(w);
    __syncthreads();
    if (!slots_fit(w))
        return false;
    for (uint64_t at = begin; at < end; at += BATCH)
        if (!batch_hash<WARPS>(w, &keys, at, (uint32_t)floe_min64(end - at, BATCH), tallies, s))
            return false;
    return true;
}

/* This block's share. True in the block that is done last, if all records fit: then tallies are complete. */
template <int WARPS> FLOE_DEV bool share_hash(const payloads &w, void *scratch, tally *tallies, hash_shared &s)
{
    if (!share_add<WARPS>(w, tallies, s))
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

/* By a thread. */
FLOE_DEV bool padding_is_zero(const uint8_t *stream, const floe_dev_record &record)
{
    const uint8_t *behind = stream + record.offset + FLOE_RECORD_HEAD_NBYTES + record.nbytes;
    const uint32_t pad = (uint32_t)(floe_round_up8(record.nbytes) - record.nbytes);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < pad; i++)
        bits |= behind[i];
    return bits == 0;
}

/* Checks this block's share of payloads against the records' checksums. By a block; each thread returns what it has found. */
template <int WARPS> FLOE_DEV uint32_t share_verify(const payloads &w, void *scratch, hash_shared &s)
{
    if (w.block >= w.nblocks)
        return FLOE_OK;
    tally *tallies = tallies_of(w, scratch, s);
    const bool last = share_hash<WARPS>(w, scratch, tallies, s);
    uint32_t status = s.bad && threadIdx.x == 0 ? FLOE_ERR_FORMAT : FLOE_OK;
    for (uint64_t r = threadIdx.x; last && r < w.nrecords; r += WARPS * FLOE_WARP) {
        const floe_dev_record record = w.records[r];
        if (tally_take(tallies + r, record.nbytes) != record.checksum || !record_fits(w, record) ||
            !padding_is_zero(w.stream, record))
            status = FLOE_ERR_CHECKSUM;
    }
    return status;
}

} // namespace

#endif
