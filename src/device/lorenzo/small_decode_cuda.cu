/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream of one chunk, in one kernel, whose blocks do not wait for one another. One judges all of the stream but the payload,
 * one opens the chunk, some check the payload against what the index holds. Each of the others finds its tile and decodes
 * it, as of the chunk that is expected, whether it is that one or not. The block that is done last reports.
 */
#define FLOE_REAL_BITS 32 /* f64 takes the general path */
#include "device/lorenzo/lorenzo_fused_cuda.h"

#include "base/dev_record.h"
#include "base/real.h"
#include "codec/lorenzo/gpu/decode/lorenzo_decode_by_block.cuh"
#include "codec/lorenzo/gpu/decode/lorenzo_open.cuh"
#include "container/container_validate.cuh"
#include "container/payload_hash.cuh"

namespace
{

using namespace FLOE_LORENZO_DECODING;

enum {
    BLOCKS_A_PROCESSOR = 4, /* of 128 registers a thread: those of 16 MiB of f32 run all at once */
    EARLY = 4,              /* entries of a thread that are on their way with the chunk's header */
    SHARED_NBYTES = SPLIT_WORDS * 4
};
static_assert((int)SPLIT_WARPS <= (int)JUDGE_WARPS_MAX, "blocks of one size");
static_assert(sizeof(validate_shared) <= SHARED_NBYTES && sizeof(hash_shared) <= SHARED_NBYTES,
              "in the place of the words");

enum { OF_CONTAINER, OF_PAYLOAD, OF_OPENING, OF_DECODING, STATUSES };
static_assert(STATUSES == sizeof((floe_small_decode_state *)0)->statuses / sizeof(uint32_t), "one each");

/* Shared memory of a block. */
struct small_decode_shared {
    floe_peek peek;
    floe_dev_record record;
    opening o;
    target targets[SPLIT_WARPS];   /* of the block's tile; of those behind it where it looks at them */
    uint32_t sums[SPLIT_WARPS][2]; /* words of tiles: of those before the block's, and of all */
    uint32_t reported;             /* the block has set a status */
    uint32_t batch[SPLIT_WARPS];   /* entries of its tile and of those behind it */
};

FLOE_DEV void report_status(const floe_small_decode_job &job, small_decode_shared &sh, int who, uint32_t status)
{
    if (status == FLOE_OK)
        return;
    atomicExch(&sh.reported, 1u);
    atomicCAS(job.state->statuses + who, (uint32_t)FLOE_OK, status);
}

/* ---- the payload --------------------------------------------------------------------------------------------------- */

/* This block's share. Where nothing can be there, who judges the stream reports it. */
FLOE_DEV void check_payload(const floe_small_decode_job &job, uint64_t nbytes, uint32_t block, uint32_t nblocks,
                            small_decode_shared &sh, hash_shared &s)
{
    const uint8_t *stream = job.chunk.call.stream;
    floe_dev_record record;
    if (nbytes > job.chunk.nbytes || !floe_peek_load(stream, nbytes, 1, 0, &sh.peek) ||
        !floe_peek_record(&sh.peek, nbytes, 1, &record))
        return;
    if (threadIdx.x == 0)
        sh.record = record;
    __syncthreads();
    const payloads w = payloads_of(stream, nbytes, &sh.record, 1, block, nblocks);
    if (block >= w.nblocks)
        return;
    tally *tallies = tallies_of(w, job.state->tallies, s);
    if (share_hash<SPLIT_WARPS>(w, job.state->tallies, tallies, s) && threadIdx.x == 0 &&
        (tally_take(tallies, record.nbytes) != record.checksum || !padding_is_zero(stream, record)))
        report_status(job, sh, OF_PAYLOAD, FLOE_ERR_CHECKSUM);
}

/* ---- the chunk ----------------------------------------------------------------------------------------------------- */

/* As the kernels of larger fields open it; `words`: of all tiles. By the block. */
FLOE_DEV_COLD bool open_fully(const floe_small_decode_job &job, uint32_t words, small_decode_shared &sh)
{
    opening &o = sh.o;
    opening_begin(job.chunk.expected, &o);
    __syncthreads();
    if (threadIdx.x == 0) {
        find_grid(job.chunk, sh.peek, &o);
        if (o.nchunks)
            validate_chunk(job.chunk.call, job.chunk.expected, 0, sh.record, &o);
        if (!o.nchunks || (o.status == FLOE_OK && words != o.head.payload_nwords))
            o.status = FLOE_ERR_FORMAT;
    }
    __syncthreads();
    bool ok = o.status == FLOE_OK;
    if (ok && o.head.table_size)
        ok = read_table(job.chunk.call, 0, &o);
    return __syncthreads_and(ok);
}

/* ---- decoding ------------------------------------------------------------------------------------------------------ */

/* Whether the block of a tile decodes it together. */
template <int RANK> FLOE_DEV bool is_split(uint32_t entry, floe_quantizer_kind kind, const target &t)
{
    return t.wanted && entry_is_plain<RANK>(entry, kind, t) && split_has_room<RANK>(entry);
}

/* Blocks that look at tiles for the general path, a warp each: their own and those up to the next such block. */
FLOE_DEV bool is_leader(uint32_t tile) { return tile % SPLIT_WARPS == 0; }

/* A warp each; without tiles nothing is wanted. */
template <int RANK> FLOE_DEV void set_targets(const floe_dev_chunk *chunk, uint32_t tile, small_decode_shared &sh)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    if (warp != 0 && !is_leader(tile))
        return;
    target t = {};
    if (tile + warp < chunk->view.ntiles)
        t = target_of<RANK>(chunk, tile + warp);
    if (floe_lane() == 0)
        sh.targets[warp] = t;
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* Words of a chunk at a record's offset, of which nbytes of the stream are there. */
struct chunk_words {
    const uint32_t *words;
    uint64_t nwords;
};

FLOE_DEV chunk_words words_at(const floe_small_decode_job &job, uint64_t offset, uint64_t nbytes)
{
    const uint64_t at = offset + FLOE_RECORD_HEAD_NBYTES;
    const chunk_words c = {(const uint32_t *)(job.chunk.call.stream + at), nbytes > at ? (nbytes - at) / 4 : 0};
    return c;
}

/* The chunk's header, 0 beyond the end. The last warp: the first one has other things to load. */
FLOE_DEV void load_header(const chunk_words &c, small_decode_shared &sh)
{
    const uint32_t i = threadIdx.x - (SPLIT_THREADS - FLOE_WARP);
    if (i < FLOE_LORENZO_HEADER_WORDS)
        sh.o.words[i] = i < c.nwords ? c.words[i] : 0;
}

/* First entries of this thread, behind `skip` words of table and codebook. */
FLOE_DEV void load_early(const chunk_words &c, uint64_t skip, uint32_t run[EARLY])
{
#pragma unroll
    for (int k = 0; k < EARLY; k++) {
        const uint64_t at = FLOE_LORENZO_HEADER_WORDS + skip + k * SPLIT_THREADS + threadIdx.x;
        run[k] = at < c.nwords ? c.words[at] : 0;
    }
}

/* Footer, index, the chunk's header and its first entries, all at once if the stream is as it most likely is, while targets are
 * set as of the chunk that is expected. False: nothing can be there. */
template <int RANK>
FLOE_DEV bool load_chunk(const floe_small_decode_job &job, uint64_t nbytes, uint32_t tile, small_decode_shared &sh,
                         chunk_words *c, uint64_t *skip, uint32_t run[EARLY])
{
    const uint8_t *stream = job.chunk.call.stream;
    const uint64_t likely = floe_header_plain_nbytes(job.chunk.call.field.rank); /* there are no attributes */
    floe_dev_record record;
    if (nbytes > job.chunk.nbytes)
        return false;
    *c = words_at(job, likely, nbytes);
    load_header(*c, sh);
    load_early(*c, 0, run);
    set_targets<RANK>(&job.chunk.expected.full, tile, sh);
    if (!floe_peek_load(stream, nbytes, 1, 0, &sh.peek) || !floe_peek_record(&sh.peek, nbytes, 1, &record))
        return false;
    if (threadIdx.x == 0)
        sh.record = record;
    if (record.offset != likely) {
        __syncthreads();
        *c = words_at(job, record.offset, nbytes);
        load_header(*c, sh);
        __syncthreads();
    }
    *skip = (uint64_t)sh.o.words[1] + sh.o.words[2];
    if (record.offset != likely || *skip)
        load_early(*c, *skip, run);
    return true;
}

/* Words of the tiles before `tile`, and of all n of them; and the entries that the block is for. */
FLOE_DEV void sum_entries(const uint32_t *entries, uint32_t n, const uint32_t run[EARLY], uint32_t tile,
                          small_decode_shared &sh, uint32_t *before, uint32_t *all)
{
    uint32_t sums[2] = {0, 0};
#pragma unroll EARLY
    for (uint32_t k = 0; k < FLOE_SMALL_DECODE_SLOTS / SPLIT_THREADS; k++) {
        const uint32_t i = k * SPLIT_THREADS + threadIdx.x;
        if (i >= n)
            break;
        const uint32_t entry = k < EARLY ? run[k % EARLY] : entries[i], nwords = entry & FLOE_TILE_NWORDS_MASK;
        sums[1] += nwords;
        sums[0] += i < tile ? nwords : 0;
        if (i - tile < SPLIT_WARPS)
            sh.batch[i - tile] = entry;
    }
    floe_block_sums(sums, sh.sums, SPLIT_WARPS);
    *before = sums[0];
    *all = sums[1];
}

/* Of a chunk that is open. words: of the block's tile. */
template <int RANK>
FLOE_DEV_COLD void decode_long(const floe_small_decode_job &job, small_decode_shared &sh, uint32_t tile,
                               const uint32_t *words, uint32_t *stage)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const pack_opener opener = {stage + warp * LONG_WORDS, LONG_WORDS};
    for (uint32_t i = 0; i < warp; i++)
        words += sh.batch[i] & FLOE_TILE_NWORDS_MASK;
    if (decode_general<RANK>(&sh.o.c, tile + warp, sh.batch[warp], words, opener) != TILE_DONE && floe_lane() == 0)
        report_status(job, sh, OF_DECODING, FLOE_ERR_FORMAT);
}

/* What the chunk's header holds of its entries, which stand at word `entries`; n 0: they are not all inside the stream. */
struct entry_run {
    uint64_t entries;
    uint32_t n, before, all; /* words of the tiles before the block's, and of all */
};

FLOE_DEV entry_run run_of(const chunk_words &c, uint64_t skip, const uint32_t run[EARLY], uint32_t tile,
                          small_decode_shared &sh)
{
    const uint64_t said = floe_lorenzo_word64_of(sh.o.words + 12);
    entry_run r = {FLOE_LORENZO_HEADER_WORDS + skip, 0, 0, 0};
    if (said <= FLOE_SMALL_DECODE_SLOTS && r.entries + said <= c.nwords)
        r.n = (uint32_t)said;
    sum_entries(c.words + r.entries, r.n, run, tile, sh, &r.before, &r.all);
    return r;
}

/* Reports what comes of opening the chunk. A block. */
template <int RANK>
FLOE_DEV void judge_opening(const floe_small_decode_job &job, uint64_t nbytes, small_decode_shared &sh)
{
    uint32_t run[EARLY];
    uint64_t skip;
    chunk_words c;
    uint32_t status = FLOE_ERR_FORMAT;
    if (load_chunk<RANK>(job, nbytes, 0, sh, &c, &skip, run)) {
        const bool ok = open_fully(job, run_of(c, skip, run, 0, sh).all, sh);
        status = ok || sh.o.status != FLOE_OK ? sh.o.status : (uint32_t)FLOE_ERR_FORMAT;
    }
    if (threadIdx.x == 0)
        report_status(job, sh, OF_OPENING, status);
}

/* Where the block's tile is, and what was found out meanwhile. */
struct found_tile {
    const uint32_t *words;
    word_window window; /* which may be on its way */
    uint32_t all;       /* words of all tiles */
    bool usual, ok;
};

/* Puts the tile's words on their way, and opens the chunk where it is not as usual. */
template <int RANK>
FLOE_DEV found_tile find_tile(const floe_small_decode_job &job, uint32_t tile, const chunk_words &c, uint64_t skip,
                              const uint32_t run[EARLY], small_decode_shared &sh, uint32_t *stage)
{
    const entry_run r = run_of(c, skip, run, tile, sh);
    const uint64_t at = r.entries + r.n + r.before;
    const uint32_t entry = tile < r.n ? sh.batch[0] : 0, nwords = entry & FLOE_TILE_NWORDS_MASK;
    const bool inside = at + nwords <= c.nwords;
    found_tile f = {};
    f.words = c.words + at;
    f.all = r.all;
    f.usual = lorenzo_is_usual(sh.o.words);
    f.ok = inside && r.n == job.chunk.expected.full.view.ntiles;
    if (inside && entry_is_plain(entry) && split_has_room<RANK>(entry))
        window_open_whole(f.window, f.words, nwords, stage);
    if (!f.usual) {
        f.ok = open_fully(job, f.all, sh);
        if (f.ok)
            set_targets<RANK>(&sh.o.c, tile, sh);
    }
    return f;
}

/* A tile, its chunk's entries being on their way. The whole block. */
template <int RANK>
FLOE_DEV void decode_tile(const floe_small_decode_job &job, uint32_t tile, const chunk_words &c, uint64_t skip,
                          const uint32_t run[EARLY], small_decode_shared &sh, uint32_t *stage)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const found_tile f = find_tile<RANK>(job, tile, c, skip, run, sh, stage);
    window_wait();
    __syncthreads();
    if (!f.ok)
        return;
    const floe_quantizer_kind kind = f.usual ? FLOE_QUANTIZER_LINEAR : sh.o.c.quantizer.kind;
    const floe_real step = (floe_real)floe_f64_of(floe_lorenzo_word64_of(sh.o.words + 4));
    const target t = sh.targets[0];
    outcome result = TILE_DONE;
    if (is_split<RANK>(sh.batch[0], kind, t))
        result = decode_pack_split<RANK>(t, sh.batch[0], step, f.window, stage);
    if (result == TILE_BAD && threadIdx.x == 0)
        report_status(job, sh, OF_DECODING, FLOE_ERR_FORMAT);
    if (!is_leader(tile) && result != TILE_UNFIT)
        return;
    const bool left =
        is_leader(tile) && sh.targets[warp].wanted && !is_split<RANK>(sh.batch[warp], kind, sh.targets[warp]);
    const bool mine = left || (result == TILE_UNFIT && warp == 0);
    if (!__syncthreads_or(mine))
        return;
    const bool opened = !f.usual || open_fully(job, f.all, sh); /* by all threads */
    if (opened && mine)
        decode_long<RANK>(job, sh, tile, f.words, stage);
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */

/* What was reported first, in the order of those who report; all is 0 again. */
FLOE_DEV uint32_t take_statuses(floe_small_decode_state *state)
{
    uint32_t status = FLOE_OK;
    for (int i = 0; i < STATUSES; i++) {
        const uint32_t said = atomicExch(state->statuses + i, (uint32_t)FLOE_OK);
        status = status == FLOE_OK ? said : status;
    }
    return status;
}

/* The block that is done last reports. Most have nothing to report, and need not wait for their values to be written. One
 * thread. */
FLOE_DEV void finish(const floe_small_decode_job &job, uint64_t nbytes, bool reported)
{
    floe_small_decode_state *state = job.state;
    const unsigned long long mine = reported ? (1ull << 32) + 1 : 1;
    if (reported)
        __threadfence();
    const unsigned long long all = atomicAdd(&state->ndone, mine) + mine;
    if ((uint32_t)all != gridDim.x)
        return;
    state->ndone = 0;
    if (all >> 32)
        __threadfence();
    floe_dev_report_write(job.report, all >> 32 ? take_statuses(state) : (uint32_t)FLOE_OK, nbytes, NULL, false);
}

/* What the block with this number among others of its kind does. */
enum { BLOCK_THAT_JUDGES, BLOCK_THAT_OPENS, BLOCKS_THAT_HASH };

template <int RANK>
__global__ __launch_bounds__(SPLIT_THREADS, BLOCKS_A_PROCESSOR) void small_decode_kernel(
    const __grid_constant__ floe_small_decode_job job, uint32_t nhash)
{
    floe_dev_begin();
    FLOE_DYNAMIC_SHARED(uint32_t, stage);
    __shared__ small_decode_shared sh;
    const uint64_t nbytes = job.chunk.dev_nbytes ? *job.chunk.dev_nbytes : job.chunk.nbytes;
    const uint32_t block = blockIdx.x;
    if (threadIdx.x == 0)
        sh.reported = 0;
    if (block == BLOCK_THAT_JUDGES) {
        uint64_t nrecords;
        const uint32_t status = container_validate(job.open, *(validate_shared *)stage, &nrecords);
        if (threadIdx.x == 0)
            report_status(job, sh, OF_CONTAINER, status);
    } else if (block == BLOCK_THAT_OPENS) {
        judge_opening<RANK>(job, nbytes, sh);
    } else if (block < BLOCKS_THAT_HASH + nhash) {
        check_payload(job, nbytes, block - BLOCKS_THAT_HASH, nhash, sh, *(hash_shared *)stage);
    } else {
        uint32_t run[EARLY];
        uint64_t skip;
        chunk_words c;
        const uint32_t tile = block - BLOCKS_THAT_HASH - nhash;
        if (load_chunk<RANK>(job, nbytes, tile, sh, &c, &skip, run))
            decode_tile<RANK>(job, tile, c, skip, run, sh, stage);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        finish(job, nbytes, sh.reported);
}

template <int RANK> cudaError_t launch(const floe_small_decode_job &job, cudaStream_t stream)
{
    static_assert(SHARED_NBYTES + sizeof(small_decode_shared) <= 48 << 10, "what a block has unasked");
    const uint64_t npieces = job.chunk.nbytes / FLOE_CHECKSUM_PIECE + 1; /* a warp each, in the end */
    const uint32_t nhash = (uint32_t)floe_min64(floe_ceil_div(npieces, SPLIT_WARPS), floe_gpu_limits_cuda().processors);
    FLOE_LAUNCH_EARLY(small_decode_kernel<RANK>, BLOCKS_THAT_HASH + nhash + (uint32_t)job.chunk.expected.slots,
                      SPLIT_THREADS, SHARED_NBYTES, stream, job, nhash);
    return cudaGetLastError();
}

} // namespace

int floe_small_decode_cuda(const floe_small_decode_job *job, void *stream)
{
    return job->chunk.expected.full.view.rank == 3 ? (int)launch<3>(*job, (cudaStream_t)stream)
                                                   : (int)launch<2>(*job, (cudaStream_t)stream);
}
