/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream of encoder pack: checked, opened and decoded by one kernel. The first block judges all of the stream but the
 * payloads, and reports when all others are done. Some open a chunk each. Others check pieces of the payloads, spread evenly
 * among those that decode, whose words they bring near: both walk through the stream at one pace.
 *
 * Where their tiles lie blocks find out themselves, if the stream is as most are; else of the opened chunk. Whoever comes first
 * opens it, so nobody waits for a block that may not run yet.
 */
#include "device/lorenzo/lorenzo_fused_cuda.h"

#include "backend/device.cuh"
#include "base/dev_record.h"
#include "codec/lorenzo/gpu/decode/lorenzo_decode_pack.cuh"
#include "codec/lorenzo/gpu/decode/lorenzo_open.cuh"
#include "container/container_validate.cuh"
#include "container/payload_hash.cuh"

namespace
{

using namespace FLOE_LORENZO_DECODING;

enum { PIECES = BATCH }; /* of a block that checks, where there are blocks enough */
static_assert((int)PACK_WARPS <= (int)JUDGE_WARPS_MAX, "blocks of one size");

enum { OF_CONTAINER, OF_PAYLOADS, OF_OPENING, OF_DECODING, STATUSES };
static_assert(STATUSES == sizeof((floe_fused_decode_state *)0)->statuses / sizeof(uint32_t), "one each");

/* Of a chunk: nobody has opened it; somebody is at it; it is open. */
enum { CHUNK_CLOSED, CHUNK_CLAIMED, CHUNK_OPEN };

/* What a block finds out of its chunk; shared memory. */
struct early_chunk {
    floe_peek peek;
    floe_dev_chunk c;
    uint32_t head[FLOE_LORENZO_HEADER_WORDS], sums[PACK_WARPS];
};

/* A chunk that the block opens. */
struct open_shared {
    opening o;
    floe_peek peek;
    bool claimed;
};
static_assert(sizeof(validate_shared) <= PACK_SHARED_NBYTES && sizeof(hash_shared) <= PACK_SHARED_NBYTES &&
                  sizeof(open_shared) <= PACK_SHARED_NBYTES,
              "in the place of the words");

/* How blocks are dealt out: behind those that judge and open, as many as have gone by when number * hash_rate passes a whole
 * number check pieces, the others decode. */
struct shares {
    uint32_t nopen, nhash, ndecode;
    uint64_t hash_rate; /* in units of 2^-32, rounded up: exact for fewer than 2^32 blocks */
};

shares shares_of(const floe_fused_decode_job &job)
{
    const uint64_t npieces = job.open.nbytes / FLOE_CHECKSUM_PIECE + 1 + job.chunk.call.max_chunks;
    shares s;
    const uint64_t most = (uint64_t)floe_gpu_limits_cuda().processors * 2 * PACK_BLOCKS_A_PROCESSOR; /* two rounds */
    s.nopen = (uint32_t)job.chunk.call.max_chunks;
    s.nhash = (uint32_t)floe_min64(floe_ceil_div(npieces, PIECES), most);
    s.ndecode = (uint32_t)floe_ceil_div(job.chunk.call.max_slots, PACK_WARPS);
    s.hash_rate = floe_ceil_div((uint64_t)s.nhash << 32, (uint64_t)s.nhash + s.ndecode);
    return s;
}

FLOE_DEV void set_status(const floe_fused_decode_job &job, uint32_t *reported, int who, uint32_t status)
{
    if (status == FLOE_OK)
        return;
    atomicExch(reported, 1u);
    atomicCAS(job.state->statuses + who, (uint32_t)FLOE_OK, status);
}

/* ---- checks -------------------------------------------------------------------------------------------------------- */

/* All but the payloads. A block. */
FLOE_DEV_COLD void judge(const floe_fused_decode_job &job, uint32_t *reported, validate_shared &s)
{
    uint64_t nrecords;
    const uint32_t status = container_validate(job.open, s, &nrecords);
    if (threadIdx.x == 0)
        set_status(job, reported, OF_CONTAINER, status);
}

/* The index of a stream as it stands there: nobody has judged it yet, but it lies inside. NULL: there is none, or none of so
 * few chunks as there is room for. */
FLOE_DEV const floe_dev_record *index_of(const floe_fused_decode_job &job, uint64_t nbytes, uint64_t *nrecords)
{
    static_assert(sizeof(floe_dev_record) == FLOE_INDEX_ENTRY_NBYTES, "entries are records");
    if (nbytes > job.open.nbytes || nbytes % 8 || nbytes < FLOE_HEADER_MIN_NBYTES + FLOE_FOOTER_NBYTES)
        return NULL;
    const uint64_t *footer = (const uint64_t *)(job.open.stream + nbytes) - FLOE_FOOTER_WORDS;
    const uint64_t n = footer[2], span = floe_index_span(n);
    if (n == 0 || n > job.open.max_records || span == 0 || span > nbytes)
        return NULL;
    *nrecords = n;
    return (const floe_dev_record *)(job.open.stream + nbytes - span);
}

/* This block's pieces of the payloads. Where nothing can be there, who judges the stream reports it. */
FLOE_DEV_COLD void check_payloads(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t block, uint32_t nblocks,
                                  uint32_t *reported, hash_shared &s)
{
    uint64_t nrecords;
    const floe_dev_record *records = index_of(job, nbytes, &nrecords);
    if (!records)
        return;
    payloads w = payloads_of(job.open.stream, nbytes, records, nrecords, block, nblocks);
    w.nblocks = floe_min64(w.nblocks, floe_ceil_div(w.nslots, PIECES));
    if (block >= w.nblocks)
        return;
    tally *tallies = tallies_of(w, job.tallies, s);
    const bool last = share_hash<PACK_WARPS>(w, job.tallies, tallies, s);
    if (s.bad && threadIdx.x == 0)
        set_status(job, reported, OF_PAYLOADS, FLOE_ERR_FORMAT);
    for (uint64_t r = threadIdx.x; last && r < nrecords; r += PACK_THREADS)
        if (tally_take(tallies + r, records[r].nbytes) != records[r].checksum || !record_fits(w, records[r]) ||
            !padding_is_zero(job.open.stream, records[r]))
            set_status(job, reported, OF_PAYLOADS, FLOE_ERR_CHECKSUM);
}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

/* Opens a chunk, unless somebody else does; `wait`: until it is open. By a block. */
FLOE_DEV_COLD void open_once(const floe_fused_decode_job &job, uint64_t nbytes, uint64_t chunk, bool wait,
                             uint32_t *reported, open_shared &s)
{
    uint64_t *opened = job.opened + chunk;
    __syncthreads();
    if (threadIdx.x == 0)
        s.claimed = atomicCAS((unsigned long long *)opened, (unsigned long long)CHUNK_CLOSED,
                              (unsigned long long)CHUNK_CLAIMED) == CHUNK_CLOSED;
    __syncthreads();
    if (s.claimed) {
        const uint32_t status = open_by_block(job.chunk, nbytes, chunk, s.peek, &s.o);
        __syncthreads();
        if (threadIdx.x == 0) {
            set_status(job, reported, OF_OPENING, status);
            *reported = 1;
            __threadfence();
            floe_store_shared_state(opened, CHUNK_OPEN);
            if (s.o.nchunks && s.o.as_expected && chunk < s.o.nchunks)
                atomicAdd((unsigned long long *)&job.state->nopen, 1ull);
        }
    } else if (wait && threadIdx.x == 0) {
        while (floe_load_acquire(opened) < CHUNK_OPEN)
            floe_dev_pause();
    }
    __syncthreads();
}

/* The chunk and the tile of a slot in the grid that the stream's header gives. False: there is none. By a block. */
FLOE_DEV_COLD bool find_in_grid(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t slot, open_shared &s,
                                uint32_t *chunk, uint32_t *tile)
{
    __syncthreads();
    if (threadIdx.x == 0)
        s.o.nchunks = s.o.slots = 0;
    if (nbytes > job.chunk.nbytes || !floe_peek_load(job.open.stream, nbytes, job.chunk.expected.nchunks, 0, &s.peek))
        return false;
    if (threadIdx.x == 0)
        find_grid(job.chunk, s.peek, &s.o);
    __syncthreads();
    const uint64_t nchunks = s.o.nchunks;
    const uint32_t slots = (uint32_t)s.o.slots;
    __syncthreads(); /* who goes on may use the place */
    if (nchunks == 0 || slots == 0)
        return false;
    *chunk = slot / slots;
    *tile = slot % slots;
    return *chunk < nchunks;
}

/* Tiles of a chunk whose words 32 bits count: blocks add those before theirs before anybody has opened the chunk. */
enum { EARLY_TILES = 65536 };
static_assert((uint64_t)EARLY_TILES * FLOE_TILE_NWORDS_MASK <= UINT32_MAX, "no sum wraps");

/* ---- decoding ------------------------------------------------------------------------------------------------------ */

/* The chunk as it is expected, if it is a whole one. By a block, which synchronizes before it looks at it. */
FLOE_DEV bool expect_chunk(const floe_fused_decode_job &job, uint32_t chunk, early_chunk &e)
{
    const floe_lorenzo_expected_grid &expected = job.chunk.expected;
    const floe_dev_field &field = job.chunk.call.field;
    int64_t at = 0;
    uint32_t index = chunk;
    for (uint32_t i = field.rank; i-- > 0; index /= expected.along[i]) {
        const uint64_t lo = index % expected.along[i] * expected.chunk[i];
        at += (int64_t)lo * field.stride[i];
        if (lo + expected.chunk[i] > expected.shape[i])
            return false;
    }
    static_assert(sizeof e.c % 8 == 0, "whole words");
    for (uint32_t k = threadIdx.x; k < sizeof e.c / 8; k += PACK_THREADS)
        ((uint64_t *)&e.c)[k] = ((const uint64_t *)&expected.full)[k];
    __syncthreads();
    if (threadIdx.x == 0)
        e.c.origin = (uint8_t *)field.data + at * (int64_t)sizeof(floe_real);
    return true;
}

/* Where the chunk's words are, of which so many are there. NULL: the stream is not as it is expected. By a block. */
FLOE_DEV const uint32_t *peek_chunk(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t chunk, early_chunk &e,
                                    uint64_t *nwords)
{
    const floe_lorenzo_expected_grid &expected = job.chunk.expected;
    const floe_dev_field &field = job.chunk.call.field;
    uint64_t cut[FLOE_MAX_RANK];
    floe_dev_record record;
    if (nbytes > job.open.nbytes || !floe_peek_load(job.open.stream, nbytes, expected.nchunks, chunk, &e.peek) ||
        !floe_peek_record(&e.peek, nbytes, expected.nchunks, &record) ||
        !floe_peek_layout(&e.peek, field.dtype, field.rank, expected.shape, cut))
        return NULL;
    for (uint32_t i = 0; i < field.rank; i++)
        if (cut[i] != expected.chunk[i])
            return NULL;
    *nwords = record.nbytes / 4;
    return (const uint32_t *)(job.open.stream + record.offset + FLOE_RECORD_HEAD_NBYTES);
}

/* Words of the tiles before `tile`, of at most EARLY_TILES. By a block. */
FLOE_DEV uint32_t words_before(const uint32_t *entries, uint32_t tile, early_chunk &e)
{
    uint32_t sum = 0;
#pragma unroll 8
    for (uint32_t i = threadIdx.x; i < tile; i += PACK_THREADS)
        sum += entries[i] & FLOE_TILE_NWORDS_MASK;
    return floe_block_sum(sum, e.sums, PACK_WARPS);
}

/* This warp's tile of those at `slot`, if the chunk is as most are and so is the tile: that is known before anybody has opened
 * the chunk, and what is not right is found by who does. By a block. */
FLOE_DEV_COLD bool find_early(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t slot, early_chunk &e,
                              tile_words *w)
{
    const uint32_t chunk = slot / (uint32_t)job.chunk.expected.slots, tile = slot % (uint32_t)job.chunk.expected.slots;
    const uint32_t warp = threadIdx.x / FLOE_WARP, ntiles = (uint32_t)job.chunk.expected.full.view.ntiles;
    uint64_t nwords;
    if (chunk >= job.chunk.expected.nchunks || tile >= ntiles || ntiles > EARLY_TILES || !expect_chunk(job, chunk, e))
        return false;
    const uint32_t *words = peek_chunk(job, nbytes, chunk, e, &nwords), *entries = words + FLOE_LORENZO_HEADER_WORDS;
    if (!words || FLOE_LORENZO_HEADER_WORDS + (uint64_t)ntiles > nwords)
        return false;
    if (threadIdx.x < FLOE_LORENZO_HEADER_WORDS)
        e.head[threadIdx.x] = words[threadIdx.x];
    uint32_t own[PACK_WARPS];
#pragma unroll
    for (uint32_t i = 0; i < PACK_WARPS; i++)
        own[i] = tile + i < ntiles ? entries[tile + i] : 0;
    uint64_t at = FLOE_LORENZO_HEADER_WORDS + (uint64_t)ntiles + words_before(entries, tile, e);
    w->entry = 0;
#pragma unroll
    for (uint32_t i = 0; i < PACK_WARPS; i++) {
        at += i < warp ? own[i] & FLOE_TILE_NWORDS_MASK : 0;
        w->entry = i == warp ? own[i] : w->entry;
    }
    w->encoder = FLOE_LORENZO_PACK;
    w->words = words + at;
    if (threadIdx.x == 0) {
        e.c.quantizer.kind = FLOE_QUANTIZER_LINEAR;
        e.c.quantizer.step = floe_f64_of(floe_lorenzo_word64_of(e.head + 4));
    }
    __syncthreads();
    return lorenzo_is_usual(e.head) && floe_lorenzo_word64_of(e.head + 12) == ntiles && entry_is_plain(w->entry) &&
           at + (w->entry & FLOE_TILE_NWORDS_MASK) <= nwords;
}

/* That of an opened chunk. */
FLOE_DEV found_slot find_open(const floe_fused_decode_job &job, uint32_t chunk, uint32_t tile, uint32_t slot)
{
    found_slot f = {job.chunk.call.chunks + chunk, words_of(job.chunk.call, slot), tile};
    if (f.words.encoder != FLOE_LORENZO_PACK)
        f.chunk = NULL;
    return f;
}

/* This warp's tile of those from slot `first` on. By a block. */
FLOE_DEV found_slot find_tile(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t first, early_chunk &e,
                              uint32_t *reported, open_shared &s)
{
    const floe_lorenzo_expected_grid &expected = job.chunk.expected;
    const uint32_t slot = first + threadIdx.x / FLOE_WARP, ahead = slot + AHEAD;
    const bool open = expected.nchunks && floe_load_acquire(&job.state->nopen) == expected.nchunks;
    found_slot f = {};
    uint32_t chunk, tile;
    if (__syncthreads_and(open)) { /* all chunks are, and the grid is as guessed */
        if (slot / (uint32_t)expected.slots < expected.nchunks)
            f = find_open(job, slot / (uint32_t)expected.slots, slot % (uint32_t)expected.slots, slot);
        if (f.chunk && ahead < expected.nchunks * expected.slots)
            prefetch_tile(job.chunk.call, ahead);
        return f;
    }
    const bool early = expected.nchunks && expected.all && find_early(job, nbytes, first, e, &f.words);
    if (early) {
        f.chunk = &e.c;
        f.tile = slot % (uint32_t)expected.slots;
    }
    if (__syncthreads_and(early) || !find_in_grid(job, nbytes, first, s, &chunk, &tile))
        return f;
    open_once(job, nbytes, chunk, true, reported, s);
    return early ? f : find_open(job, chunk, tile + threadIdx.x / FLOE_WARP, slot);
}

/* Four tiles, a warp each. */
FLOE_DEV void decode_tiles(const floe_fused_decode_job &job, uint64_t nbytes, uint32_t block, uint32_t *reported,
                           early_chunk &e, uint32_t *stages)
{
    uint32_t *stage = stages + threadIdx.x / FLOE_WARP * STAGE_WORDS;
    const found_slot f = find_tile(job, nbytes, block * PACK_WARPS, e, reported, *(open_shared *)stages);
    if (f.chunk && decode_found(f, stage) != TILE_DONE && floe_lane() == 0)
        set_status(job, reported, OF_DECODING, FLOE_ERR_FORMAT);
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */

/* By the first block, when it has judged: no other waits for it. What was not 0 is so again. */
FLOE_DEV void report(const floe_fused_decode_job &job, uint64_t nbytes)
{
    floe_fused_decode_state *state = job.state;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (floe_load_shared_state(&state->ndone) + 1 != gridDim.x)
            floe_dev_pause();
        __threadfence();
        uint32_t status = FLOE_OK;
        for (int i = 0; i < STATUSES; i++) {
            const uint32_t said = *(volatile uint32_t *)(state->statuses + i);
            status = status == FLOE_OK ? said : status;
        }
        floe_dev_report_write(job.report, status, nbytes, NULL, false);
        const floe_fused_decode_state none = {};
        *state = none;
    }
    __syncthreads();
    for (uint64_t i = threadIdx.x; i < FLOE_FUSED_DECODE_WORDS(job.chunk.call.max_chunks); i += PACK_THREADS)
        job.tallies[i] = 0;
}

/* What all other blocks end with. Most have nothing to report, and need not wait for their values to be written. */
FLOE_DEV void finish(const floe_fused_decode_job &job, const uint32_t *reported)
{
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    if (*reported)
        __threadfence();
    atomicAdd((unsigned long long *)&job.state->ndone, 1ull);
}

__global__ __launch_bounds__(PACK_THREADS, PACK_BLOCKS_A_PROCESSOR) void fused_decode_kernel(
    const __grid_constant__ floe_fused_decode_job job, const shares all)
{
    floe_dev_begin();
    FLOE_DYNAMIC_SHARED(uint32_t, stages);
    __shared__ early_chunk early;
    __shared__ uint32_t reported; /* the block has set a status that others look at */
    const uint64_t nbytes = job.open.dev_nbytes ? *job.open.dev_nbytes : job.open.nbytes;
    const uint32_t i = blockIdx.x - 1 - all.nopen, before = (uint32_t)(i * all.hash_rate >> 32);
    if (threadIdx.x == 0)
        reported = 0;
    __syncthreads();
    if (blockIdx.x == 0)
        judge(job, &reported, *(validate_shared *)stages);
    else if (blockIdx.x <= all.nopen)
        open_once(job, nbytes, blockIdx.x - 1, false, &reported, *(open_shared *)stages);
    else if ((uint32_t)((i + 1) * all.hash_rate >> 32) != before)
        check_payloads(job, nbytes, before, all.nhash, &reported, *(hash_shared *)stages);
    else
        decode_tiles(job, nbytes, i - before, &reported, early, stages);
    if (blockIdx.x == 0)
        report(job, nbytes);
    else
        finish(job, &reported);
}

} // namespace

int FLOE_R(floe_fused_decode_real_cuda)(const floe_fused_decode_job *job, void *stream)
{
    const shares all = shares_of(*job);
    const cudaError_t e =
        cudaFuncSetAttribute(fused_decode_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, PACK_SHARED_NBYTES);
    if (e != cudaSuccess)
        return (int)e;
    FLOE_LAUNCH_EARLY(fused_decode_kernel, 1 + all.nopen + all.nhash + all.ndecode, PACK_THREADS, PACK_SHARED_NBYTES,
                      (cudaStream_t)stream, *job, all);
    return (int)cudaGetLastError();
}
