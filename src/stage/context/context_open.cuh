/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what stands before the entropy chunks of grids: their tables, the sizes of chunks in units of 4 bytes, and zeros up to a multiple
 * of 4 bytes. */
#ifndef FLOE_STAGE_CONTEXT_OPEN_CUH
#define FLOE_STAGE_CONTEXT_OPEN_CUH

#include "backend/device_scan.cuh"
#include "stage/context/context_cuda.h"

namespace
{

enum {
    FLOE_CONTEXT_OPENED = 66,        /* grids, at most */
    SLOTS = 2 * FLOE_CONTEXT_TABLES, /* tables of a grid, at most */
    NEAR_NBYTES = 8192
};

/* A table of a grid: where it begins in the bytes of these, and its number; those of values come behind all of masks. */
struct opened_table {
    uint16_t begin;
    uint8_t grid, slot;
};

/* Untrusted bytes, of which the first `at` have been read, and where the tables of each grid are. In shared memory of a block. */
struct floe_context_opening {
    const uint8_t *src;
    uint64_t nbytes, at;
    bool good;
    uint32_t tables_nbytes[FLOE_CONTEXT_OPENED]; /* 0: it has those of another grid */
    const uint8_t *tables_src[FLOE_CONTEXT_OPENED];
    uint64_t sums[FLOE_WARP];
    uint32_t ntables;
    opened_table table[FLOE_CONTEXT_OPENED * SLOTS];
    uint8_t near[NEAR_NBYTES]; /* a copy of tables */
};

/* By a block, whose threads then wait. */
FLOE_DEV void floe_context_open(floe_context_opening *s, const uint8_t *src, uint64_t nbytes, uint64_t at)
{
    for (uint32_t i = threadIdx.x; i < FLOE_CONTEXT_OPENED; i += blockDim.x)
        s->tables_nbytes[i] = 0;
    if (threadIdx.x == 0) {
        s->src = src;
        s->nbytes = nbytes;
        s->at = at;
        s->good = true;
        s->ntables = 0;
    }
    __syncthreads();
}

FLOE_DEV uint32_t load16(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8; }
FLOE_DEV uint32_t load32(const uint8_t *p) { return load16(p) | load16(p + 2) << 16; }

/* Moves s->at behind the sizes, checks behind them, and zeros. By one thread. */
FLOE_DEV void floe_context_skip_sizes(floe_context_opening *s, uint32_t nchunks, bool wide, uint64_t checks_nbytes)
{
    s->at += (uint64_t)nchunks * (wide ? 4 : 2) + checks_nbytes;
    for (; s->good && (s->at % 4 || s->at > s->nbytes); s->at++)
        s->good = s->at < s->nbytes && s->src[s->at] == 0;
}

/* Finds where chunks begin and end that lie one behind the other, from `at` on. Returns where the last one ends. By a block, which waits
 * first. */
FLOE_DEV uint64_t floe_context_sum_sizes(floe_context_opening *s, uint64_t at, const uint8_t *sizes, uint32_t nchunks,
                                         bool wide, uint64_t *places)
{
    const uint64_t most = s->nbytes + 1; /* sums beyond the end are cut to this, so that they do not overflow */
    __syncthreads();
    for (uint32_t begin = 0; begin < nchunks && s->good; begin += blockDim.x) {
        const uint32_t i = begin + threadIdx.x;
        const uint64_t units = i >= nchunks ? 0
                               : wide       ? load32(sizes + 4 * (uint64_t)i)
                                            : load16(sizes + 2 * (uint64_t)i);
        const uint64_t nbytes = floe_min64(4 * units, most);
        uint64_t all;
        const uint64_t before = floe_block_sum_before(nbytes, s->sums, blockDim.x / FLOE_WARP, &all);
        if (i < nchunks) {
            places[2 * (uint64_t)i] = at + before;
            places[2 * (uint64_t)i + 1] = at + before + nbytes;
        }
        at = floe_min64(at + all, most);
    }
    return at;
}

/* The same from s->at on, where sizes stand, and checks behind them; moves s->at behind the last chunk. By a block. */
FLOE_DEV void floe_context_find_chunks(floe_context_opening *s, uint32_t nchunks, bool wide, uint64_t checks_nbytes,
                                       uint64_t *places)
{
    const uint8_t *sizes = s->src + s->at;
    __syncthreads();
    if (threadIdx.x == 0)
        floe_context_skip_sizes(s, nchunks, wide, checks_nbytes);
    __syncthreads();
    const uint64_t end = floe_context_sum_sizes(s, s->at, sizes, nchunks, wide, places);
    __syncthreads();
    if (threadIdx.x == 0) {
        s->at = end;
        s->good = s->good && end <= s->nbytes;
    }
    __syncthreads();
}

/* ---- tables: refuses what floe_context_tables_read refuses; by a warp ----------------------------------------------------- */

/* Untrusted bytes; all lanes are at the same one. */
struct table_reader {
    const uint8_t *at;
    uint32_t left;
};

/* The next n bytes; NULL if there are fewer. */
FLOE_DEV const uint8_t *take_bytes(table_reader &from, uint32_t n)
{
    const uint8_t *p = from.left < n ? NULL : from.at;
    from.at += p ? n : 0;
    from.left -= p ? n : 0;
    return p;
}

/* Reads a table of n symbols, as floe_ans_table_read does. */
FLOE_DEV bool read_table(table_reader from, uint32_t n, uint32_t bits, uint16_t *freq)
{
    const uint8_t *used = take_bytes(from, (n + 7) / 8);
    uint32_t nused = 0, nrest = 0, sum = 0, rest = 0, before[FLOE_CONTEXT_MASK_SYMBOLS / FLOE_WARP], mine = 0;
    if (!used || (n % 8 && used[n / 8] >> n % 8))
        return false;
#pragma unroll
    for (uint32_t k = 0; k < FLOE_CONTEXT_MASK_SYMBOLS / FLOE_WARP; k++) {
        const uint32_t i = floe_lane() + FLOE_WARP * k;
        const bool is = i < n && (used[i / 8] >> i % 8 & 1);
        const uint32_t all = __ballot_sync(FLOE_ALL_LANES, is);
        before[k] = nused + __popc(all & floe_lanes_below());
        mine |= (uint32_t)is << k;
        nused += __popc(all);
    }
    const uint8_t *codes = take_bytes(from, (6 * nused + 7) / 8);
    if (!codes)
        return false;
    bool good = true;
#pragma unroll
    for (uint32_t k = 0; k < FLOE_CONTEXT_MASK_SYMBOLS / FLOE_WARP; k++) {
        const uint32_t i = floe_lane() + FLOE_WARP * k, at = 6 * before[k];
        uint32_t f = 0;
        if (mine >> k & 1) {
            const uint32_t code = (codes[at / 8] | (at % 8 > 2 ? (uint32_t)codes[at / 8 + 1] << 8 : 0)) >> at % 8 & 63;
            const bool is_rest = code == FLOE_ANS_REST;
            good = good && (is_rest || ((code & 15) <= bits && ((4 + (code >> 4)) << (code & 15)) % 4 == 0));
            nrest += is_rest;
            rest = is_rest ? i : rest;
            f = is_rest ? 0 : floe_ans_freq_of(code);
        }
        sum += good ? f : 0;
        if (i < n)
            freq[i] = (uint16_t)f;
    }
    good = __all_sync(FLOE_ALL_LANES, good);
    sum = __reduce_add_sync(FLOE_ALL_LANES, sum);
    const bool one = __reduce_add_sync(FLOE_ALL_LANES, nrest) == 1;
    if (nused == 0)
        return true;
    if (nrest && one && sum < 1u << bits)
        freq[rest] = (uint16_t)((1u << bits) - sum);
    return good && one && sum < 1u << bits;
}

/* The same without what it holds. */
FLOE_DEV bool skip_table(table_reader &from, uint32_t n)
{
    const uint32_t nbytes = (n + 7) / 8;
    const uint8_t *used = take_bytes(from, nbytes);
    if (!used)
        return false;
    const uint32_t mine = floe_lane() < nbytes ? used[floe_lane()] : 0;
    return take_bytes(from, (6 * __reduce_add_sync(FLOE_ALL_LANES, __popc(mine)) + 7) / 8);
}

FLOE_DEV table_reader reader_of(const floe_context_opening *s, uint32_t grid, uint32_t begin)
{
    return {s->tables_src[grid] + begin, s->tables_nbytes[grid] - begin};
}

/* Reads which table each context has, and finds where each table begins. False where the bytes are not the tables of a grid of this spec. */
FLOE_DEV bool find_tables(floe_context_opening *s, uint32_t grid, const floe_context_spec &spec,
                          floe_context_tables *to)
{
    table_reader from = reader_of(s, grid, 0);
    const uint32_t n = floe_context_all(&spec), nmasks = floe_context_masks(&spec);
    const uint8_t *heads = take_bytes(from, 2), *pairs = take_bytes(from, (n + 1) / 2);
    bool good = heads && pairs && heads[0] <= FLOE_CONTEXT_TABLES && heads[1] <= FLOE_CONTEXT_TABLES &&
                (n % 2 == 0 || pairs[n / 2] >> 4 == 0);
    if (!good)
        return false;
    const uint32_t ntables[] = {heads[0], heads[1]};
    for (uint32_t c = floe_lane(); c < n; c += FLOE_WARP) {
        const uint32_t table = pairs[c / 2] >> 4 * (c % 2) & 15, most = ntables[c >= nmasks];
        to->table[c] = (uint8_t)table;
        good = good && table < (most ? most : 1);
    }
    good = __all_sync(FLOE_ALL_LANES, good);
    for (uint32_t v = 0; v < 2; v++) {
        const floe_context_kind k = floe_context_kind_of(&spec, v);
        for (uint32_t i = floe_lane(); i < k.stride; i += FLOE_WARP)
            to->freq[k.freqs_at + i] = 0;
        if (floe_lane() == 0)
            to->ntables[v] = ntables[v];
        for (uint32_t t = 0; t < ntables[v] && good; t++) {
            const uint32_t begin = s->tables_nbytes[grid] - from.left, slot = v * FLOE_CONTEXT_TABLES + t;
            if (floe_lane() == 0)
                s->table[atomicAdd(&s->ntables, 1u)] = {(uint16_t)begin, (uint8_t)grid, (uint8_t)slot};
            good = skip_table(from, k.nsymbols);
        }
    }
    return good && from.left == 0;
}

/* Notes that the tables of a grid, with their size before them, are here, and moves s->at behind them. By one thread. */
FLOE_DEV void floe_context_skip_tables(floe_context_opening *s, uint32_t grid)
{
    const uint32_t nbytes = s->good && s->at + 2 <= s->nbytes ? load16(s->src + s->at) : 0;
    s->good = s->good && nbytes > 0 && s->at + 2 + nbytes <= s->nbytes;
    s->tables_nbytes[grid] = nbytes;
    s->tables_src[grid] = s->src + s->at + 2;
    s->at += 2 + nbytes;
}

/* Copies tables near, as far as there is room for them: their bytes are read one after another. By a block. */
FLOE_DEV void bring_tables(floe_context_opening *s, uint32_t ngrids)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < ngrids; i++) {
        const uint32_t nbytes = s->tables_nbytes[i];
        if (nbytes == 0 || nbytes > NEAR_NBYTES - used)
            continue;
        for (uint32_t k = threadIdx.x; k < nbytes; k += blockDim.x)
            s->near[used + k] = s->tables_src[i][k];
        __syncthreads();
        if (threadIdx.x == 0)
            s->tables_src[i] = s->near + used;
        used += nbytes;
    }
    __syncthreads();
}

/* Reads the tables of all grids that have their own: a warp a grid finds them, then a warp a table reads it. By a block, whose threads then
 * wait; false if some are damaged. */
FLOE_DEV bool floe_context_read_grids(floe_context_opening *s, const floe_context_dev_grid *grids, uint32_t ngrids,
                                      floe_context_dev_tables *tables)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, nwarps = blockDim.x / FLOE_WARP;
    bool good = true;
    bring_tables(s, ngrids);
    for (uint32_t i = warp; i < ngrids; i += nwarps)
        if (s->tables_nbytes[i])
            good = find_tables(s, i, grids[i].spec, &tables[i].tables) && good;
    if (__syncthreads_or(!good))
        return false;
    for (uint32_t i = warp; i < s->ntables; i += nwarps) {
        const opened_table t = s->table[i];
        const floe_context_kind k = floe_context_kind_of(&grids[t.grid].spec, t.slot / FLOE_CONTEXT_TABLES);
        uint16_t *to = tables[t.grid].tables.freq + k.freqs_at + t.slot % FLOE_CONTEXT_TABLES * k.stride;
        good = read_table(reader_of(s, t.grid, t.begin), k.nsymbols, k.bits, to) && good;
    }
    return !__syncthreads_or(!good);
}

} // namespace

#endif
