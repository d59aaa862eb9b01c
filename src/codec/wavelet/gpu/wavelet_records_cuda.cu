/* SPDX-License-Identifier: BSD-3-Clause */
/* Records as they are written: lists, and kinds of values. A segment of kinds is a thread's: literals before it are known by a scan. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "stage/interp/interp_patterns.cuh"
#include "stage/wavelet/wavelet_values.h"

namespace
{

enum {
    THREADS = 256,
    SEGMENT = FLOE_WAVELET_SEGMENT,
    LIST_WORDS = FLOE_WAVELET_LIST_BITS / 32,
    GATHERERS = 4 /* blocks of a processor, at most */
};

/* ---- lists ------------------------------------------------------------------------------------------------------------- */

typedef floe_wavelet_lists_job lists_job;

FLOE_DEV bool may_list(const lists_job &j, uint32_t grid)
{
    const floe_context_tally &t = j.tallies[grid];
    return *j.status == FLOE_OK && t.ncodes > 0 &&
           floe_wavelet_may_list(t.ncodes, floe_wavelet_chunks_bits(t.entropy, t.raw, t.used, t.lanes));
}

/* A code that is not 0: its number, and itself. */
FLOE_DEV uint64_t entry_of(uint64_t number, int32_t code) { return number << 16 | (uint16_t)code; }

/* Of each grid that may be a list: its codes, in any order. */
__global__ void __launch_bounds__(THREADS) wavelet_gather_kernel(const __grid_constant__ lists_job j)
{
    const uint32_t grid = blockIdx.y;
    if (!may_list(j, grid))
        return;
    const floe_context_dev_grid &g = j.grids[grid];
    const uint64_t nwords = floe_context_nrecords(&g.grid) * g.width; /* of 8 bytes */
#pragma unroll 4
    for (uint64_t i = first_item(); i < nwords; i += item_step()) {
        const uint64_t word = ((const uint64_t *)g.records)[i];
        for (uint32_t k = 0; word && k < 8 / g.width; k++) {
            const int32_t code = g.width == 1 ? (int8_t)(word >> 8 * k) : (int16_t)(word >> 16 * k);
            if (code)
                j.entries[grid * FLOE_WAVELET_LIST_CODES + atomicAdd(j.nentries + grid, 1u)] =
                    entry_of(i * (8 / g.width) + k, code);
        }
    }
}

/* By a block of as many threads as there are entries at most; what a thread has none for is behind all others. */
FLOE_DEV void sort_entries(uint64_t *entries)
{
    const uint32_t i = threadIdx.x;
    for (uint32_t run = 2; run <= FLOE_WAVELET_LIST_CODES; run *= 2)
        for (uint32_t apart = run / 2; apart; apart /= 2) {
            const uint32_t other = i ^ apart;
            __syncthreads();
            const uint64_t own = entries[i], its = entries[other];
            __syncthreads();
            if ((own > its) == ((i < other) == ((i & run) == 0)))
                entries[i] = its;
        }
    __syncthreads();
}

FLOE_DEV void or_bits(uint32_t *to, uint32_t at, uint32_t v, uint32_t n)
{
    const uint64_t both = ((uint64_t)v & (((uint64_t)1 << n) - 1)) << at % 32;
    if ((uint32_t)both)
        atomicOr(to + at / 32, (uint32_t)both);
    if (both >> 32)
        atomicOr(to + at / 32 + 1, (uint32_t)(both >> 32));
}

/* Low bits of the gap, the rest in unary, the sign, the magnitude less one in unary. */
FLOE_DEV void put_code(uint32_t *to, uint32_t at, uint64_t gap, uint32_t nlow, int32_t code, uint32_t size)
{
    or_bits(to, at, (uint32_t)gap, nlow);
    at += nlow + (uint32_t)(gap >> nlow);
    or_bits(to, at, 1 | (uint32_t)(code < 0) << 1, 2);
    or_bits(to, at + 1 + size, 1, 1);
}

/* A block a grid: its list, if it may be one. nbits: 0 of others. */
__global__ void __launch_bounds__(FLOE_WAVELET_LIST_CODES) wavelet_list_kernel(const __grid_constant__ lists_job j)
{
    __shared__ uint64_t entries[FLOE_WAVELET_LIST_CODES];
    __shared__ uint32_t words[LIST_WORDS], sums[FLOE_WAVELET_LIST_CODES / FLOE_WARP];
    const uint32_t grid = blockIdx.x, i = threadIdx.x;
    const bool may = may_list(j, grid);
    if (!may) {
        if (i == 0)
            j.nbits[grid] = 0;
        return;
    }
    const floe_context_dev_grid &g = j.grids[grid];
    const uint32_t n = j.nentries[grid], nlow = floe_wavelet_list_low(8 * floe_context_nrecords(&g.grid), n);
    entries[i] = i < n ? j.entries[grid * FLOE_WAVELET_LIST_CODES + i] : UINT64_MAX;
    for (uint32_t k = i; k < LIST_WORDS; k += blockDim.x)
        words[k] = 0;
    sort_entries(entries);
    const uint64_t gap = (entries[i] >> 16) - (i ? (entries[i - 1] >> 16) + 1 : 0);
    const int32_t code = (int16_t)entries[i];
    const uint32_t size = (uint32_t)(code < 0 ? -code : code);
    uint32_t nbits;
    const uint32_t at = floe_block_sum_before(i < n ? nlow + (uint32_t)(gap >> nlow) + size + 2 : 0, sums,
                                              (uint32_t)(FLOE_WAVELET_LIST_CODES / FLOE_WARP), &nbits);
    if (i == 0)
        j.nbits[grid] = nbits;
    if (nbits > FLOE_WAVELET_LIST_BITS)
        return;
    if (i < n)
        put_code(words, at, gap, nlow, code, size);
    __syncthreads();
    for (uint32_t k = i; k < (nbits + 31) / 32; k += blockDim.x)
        j.lists[grid * LIST_WORDS + k] = words[k];
}

/* ---- kinds ------------------------------------------------------------------------------------------------------------- */

typedef floe_wavelet_kinds_job kinds_job;

FLOE_DEV uint64_t pattern_at(const kinds_job &j, uint64_t position)
{
    return pattern_of(j.values, j.shape, j.size, position);
}

/* Calls what(position, mark) for the values of a record; those behind the last row have none. */
template <class WHAT> FLOE_DEV void each_mark(const kinds_job &j, uint64_t record, WHAT what)
{
    uint64_t row = record;
    const uint64_t x = floe_last_digit(&row, j.row / 8) * FLOE_WAVELET_MARKS;
    if (row < j.shape[0] * j.shape[1] * j.shape[2])
        for (uint64_t k = 0; k < FLOE_WAVELET_MARKS && x + k < j.shape[3]; k++)
            what(row * j.shape[3] + x + k, j.kinds + record * 8 + k);
}
template <class WHAT> FLOE_DEV void each_literal(const kinds_job &j, uint64_t record, WHAT what)
{
    if (((const uint64_t *)j.kinds)[record])
        each_mark(j, record, [&](uint64_t position, int8_t *mark) {
            if (*mark == FLOE_WAVELET_LITERAL)
                what(position, mark);
        });
}

FLOE_DEV bool is_special(const kinds_job &j, uint64_t pattern)
{
    return j.flat || floe_interp_is_special(j.size, pattern, j.has_fill, j.fill);
}

/* Which of the palette it is; npalette: none. */
FLOE_DEV uint32_t palette_place(const kinds_job &j, uint64_t pattern)
{
    return floe_interp_palette_place(j.palette, j.npalette, pattern);
}

FLOE_DEV void differ(const kinds_job &j, uint64_t record)
{
    const bool is_first = 8 * record < j.apart || record / (j.row / 8) >= j.shape[0] * j.shape[1] * j.shape[2];
    for (uint64_t i = 8 * record; i < 8 * record + 8; i++)
        j.to[i] = (int8_t)(j.kinds[i] - (is_first ? 0 : j.kinds[i - j.apart]));
}

template <floe_wavelet_kinds_what WHAT>
FLOE_DEV void do_record(const kinds_job &j, uint64_t i, unsigned long long &count)
{
    if constexpr (WHAT == FLOE_WAVELET_KINDS_FLAT)
        each_mark(j, i, [&](uint64_t position, int8_t *mark) {
            if (pattern_at(j, position) != j.base)
                *mark = FLOE_WAVELET_LITERAL;
        });
    else if constexpr (WHAT == FLOE_WAVELET_KINDS_SPECIAL)
        each_literal(j, i, [&](uint64_t position, int8_t *) {
            const uint64_t pattern = pattern_at(j, position);
            if (is_special(j, pattern) && palette_place(j, pattern) == j.npalette)
                atomicMin(j.out, (unsigned long long)position);
        });
    else if constexpr (WHAT == FLOE_WAVELET_KINDS_SORT)
        each_literal(j, i, [&](uint64_t position, int8_t *mark) {
            const uint32_t s = palette_place(j, pattern_at(j, position));
            if (s < j.npalette)
                *mark = (int8_t)(FLOE_WAVELET_PATTERN + s);
            else
                count++;
        });
    else
        differ(j, i);
}

template <bool WRITES> FLOE_DEV void do_segment(const kinds_job &j, uint64_t i)
{
    uint64_t rank = WRITES ? j.ranks[i] : 0;
    for (uint64_t r = i * SEGMENT; r < (i + 1) * SEGMENT && 8 * r < j.nmarks; r++)
        each_literal(j, r, [&](uint64_t position, int8_t *) {
            if (WRITES)
                store_pattern((uint8_t *)j.literals + rank * j.size, j.size, pattern_at(j, position));
            rank++;
        });
    if (!WRITES)
        j.tallies[i] = (uint32_t)rank;
}

template <floe_wavelet_kinds_what WHAT>
__global__ void __launch_bounds__(THREADS) wavelet_kinds_kernel(const __grid_constant__ kinds_job j)
{
    constexpr bool segments = WHAT == FLOE_WAVELET_KINDS_TALLY || WHAT == FLOE_WAVELET_KINDS_LITERALS;
    const uint64_t n = *j.status == FLOE_OK ? floe_ceil_div(j.nmarks / 8, segments ? SEGMENT : 1) : 0;
    unsigned long long count = 0;
    for (uint64_t i = first_item(); i < n; i += item_step())
        if constexpr (segments)
            do_segment<WHAT == FLOE_WAVELET_KINDS_LITERALS>(j, i);
        else
            do_record<WHAT>(j, i, count);
    if constexpr (WHAT == FLOE_WAVELET_KINDS_SORT) {
        count = floe_warp_sum(count);
        if (floe_lane() == 0 && count)
            atomicAdd(j.out, count);
    }
}

} // namespace

int floe_wavelet_lists_cuda(const floe_wavelet_lists_job *job, void *stream)
{
    const uint64_t each = floe_ceil_div(job->nbytes, 4 * sizeof(uint64_t) * THREADS),
                   most = GATHERERS * (uint64_t)floe_gpu_limits_cuda().processors;
    const dim3 nblocks((uint32_t)floe_max64(floe_min64(each, most), 1), job->ngrids);
    FLOE_LAUNCH(wavelet_gather_kernel, nblocks, THREADS, 0, (cudaStream_t)stream, *job);
    FLOE_LAUNCH(wavelet_list_kernel, job->ngrids, FLOE_WAVELET_LIST_CODES, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}

#define LAUNCH(kernel, n) FLOE_LAUNCH(kernel, nblocks_of(n, THREADS), THREADS, 0, q, *job)

int floe_wavelet_kinds_cuda(const floe_wavelet_kinds_job *job, floe_wavelet_kinds_what what, void *stream)
{
    const uint64_t n = job->nmarks / 8;
    const cudaStream_t q = (cudaStream_t)stream;
    switch (what) {
    case FLOE_WAVELET_KINDS_FLAT: LAUNCH(wavelet_kinds_kernel<FLOE_WAVELET_KINDS_FLAT>, n); break;
    case FLOE_WAVELET_KINDS_SPECIAL: LAUNCH(wavelet_kinds_kernel<FLOE_WAVELET_KINDS_SPECIAL>, n); break;
    case FLOE_WAVELET_KINDS_SORT: LAUNCH(wavelet_kinds_kernel<FLOE_WAVELET_KINDS_SORT>, n); break;
    case FLOE_WAVELET_KINDS_DIFFER: LAUNCH(wavelet_kinds_kernel<FLOE_WAVELET_KINDS_DIFFER>, n); break;
    case FLOE_WAVELET_KINDS_TALLY: LAUNCH(wavelet_kinds_kernel<FLOE_WAVELET_KINDS_TALLY>, n / SEGMENT + 1); break;
    case FLOE_WAVELET_KINDS_LITERALS: LAUNCH(wavelet_kinds_kernel<FLOE_WAVELET_KINDS_LITERALS>, n / SEGMENT + 1); break;
    }
    return (int)cudaGetLastError();
}
