/* SPDX-License-Identifier: BSD-3-Clause */
/* Records as they are written: chunks of zeros, lists, and kinds of values. A segment of records is a thread's: what comes before it is known
 * by a scan. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "base/grid_math.h"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "stage/wavelet/wavelet_values.h"

namespace
{

enum { THREADS = 256, SPREADERS = 1024, SEGMENT = FLOE_WAVELET_SEGMENT, ROWS_AT_ONCE = 8 };

FLOE_DEV uint64_t first_item() { return (uint64_t)blockIdx.x * THREADS + threadIdx.x; }
FLOE_DEV uint64_t item_step() { return (uint64_t)gridDim.x * THREADS; }

uint32_t nblocks_of(uint64_t n)
{
    return (uint32_t)floe_max64(floe_min64(floe_ceil_div(n, THREADS), 16 * floe_gpu_limits_cuda().processors), 1);
}

/* ---- chunks of zeros --------------------------------------------------------------------------------------------------- */

/* By a warp, a record a lane. */
FLOE_DEV bool is_busy(const floe_context_dev_grid &g, const floe_context_chunk &c)
{
    const uint32_t nwords = g.width, lane = floe_lane(); /* of 8 bytes */
    bool any = false;
    for (uint32_t t = 0; t < c.planes * c.rows && !any; t += ROWS_AT_ONCE) {
        uint64_t v = 0;
#pragma unroll
        for (uint32_t k = 0; k < ROWS_AT_ONCE; k++) {
            const uint64_t *record = (const uint64_t *)g.records + (floe_context_row(&c, t + k) + lane) * nwords;
            for (uint32_t w = 0; w < nwords && lane < c.lanes && t + k < c.planes * c.rows; w++)
                v |= record[w];
        }
        any = __any_sync(FLOE_ALL_LANES, v != 0);
    }
    return any;
}

__global__ void __launch_bounds__(THREADS)
    wavelet_busy_kernel(const __grid_constant__ floe_context_job job, uint8_t *busy, unsigned long long *nlanes)
{
    const uint32_t n = *job.status == FLOE_OK ? job.nchunks : 0;
    for (uint32_t i = (uint32_t)(first_item() / FLOE_WARP), g = 0; i < n; i += (uint32_t)(item_step() / FLOE_WARP)) {
        while (i >= job.grids[g].first + job.grids[g].nchunks)
            g++;
        const floe_context_dev_grid &grid = job.grids[g];
        const floe_context_chunk c = floe_context_chunk_of(&grid.grid, i - grid.first);
        const bool any = is_busy(grid, c);
        if (floe_lane() > 0)
            continue;
        busy[i] = any;
        if (any)
            atomicAdd(nlanes + g, (unsigned long long)c.lanes);
        else
            atomicSub(job.counts + (uint64_t)grid.counts * FLOE_CONTEXT_COUNTS, c.planes * c.rows * c.lanes);
    }
}

/* ---- lists ------------------------------------------------------------------------------------------------------------- */

/* Calls what(number, code) for the codes of a segment that are not 0. */
template <class WHAT> FLOE_DEV void each_code(const floe_wavelet_list_job &j, uint64_t segment, WHAT what)
{
    const uint64_t end = floe_min64((segment + 1) * SEGMENT, j.nrecords);
    for (uint64_t r = segment * SEGMENT; r < end; r++) {
        const uint64_t *record = (const uint64_t *)j.records + r * j.width;
        for (uint32_t w = 0; w < j.width; w++) {
            const uint64_t word = record[w];
            for (uint32_t k = 0; word && k < 8 / j.width; k++) {
                const int32_t code = j.width == 1 ? (int8_t)(word >> 8 * k) : (int16_t)(word >> 16 * k);
                if (code)
                    what(8 * r + 4 * w + k, code);
            }
        }
    }
}

FLOE_DEV uint32_t size_of(int32_t code) { return (uint32_t)(code < 0 ? -code : code); }

FLOE_DEV void or_bits(uint32_t *to, uint64_t at, uint32_t v, uint32_t n)
{
    const uint64_t both = ((uint64_t)v & (((uint64_t)1 << n) - 1)) << at % 32;
    if ((uint32_t)both)
        atomicOr(to + at / 32, (uint32_t)both);
    if (both >> 32)
        atomicOr(to + at / 32 + 1, (uint32_t)(both >> 32));
}

/* Low bits of the gap, the rest in unary, the sign, the magnitude less one in unary. Returns where it ends. */
FLOE_DEV uint64_t put_code(const floe_wavelet_list_job &j, uint64_t at, uint64_t gap, int32_t code)
{
    or_bits(j.to, at, (uint32_t)gap, j.nlow);
    at += j.nlow + (gap >> j.nlow);
    or_bits(j.to, at, 1 | (uint32_t)(code < 0) << 1, 2);
    at += 1 + size_of(code);
    or_bits(j.to, at, 1, 1);
    return at + 1;
}

template <floe_wavelet_list_what WHAT>
__global__ void __launch_bounds__(THREADS) wavelet_list_kernel(const __grid_constant__ floe_wavelet_list_job j)
{
    const uint64_t n = *j.status == FLOE_OK ? floe_ceil_div(j.nrecords, SEGMENT) : 0;
    unsigned long long sum = 0;
    for (uint64_t i = first_item(); i < n; i += item_step()) {
        uint64_t next = WHAT == FLOE_WAVELET_LIST_LAST ? 0 : j.last[i],
                 at = WHAT == FLOE_WAVELET_LIST_WRITE ? j.nbits[i] : 0;
        each_code(j, i, [&](uint64_t number, int32_t code) {
            if constexpr (WHAT == FLOE_WAVELET_LIST_BITS)
                at += j.nlow + ((number - next) >> j.nlow) + size_of(code) + 2;
            else if constexpr (WHAT == FLOE_WAVELET_LIST_WRITE)
                at = put_code(j, at, number - next, code);
            next = number + 1;
        });
        if constexpr (WHAT == FLOE_WAVELET_LIST_LAST)
            j.last[i] = next;
        else if constexpr (WHAT == FLOE_WAVELET_LIST_BITS)
            j.nbits[i] = at;
        sum += at;
    }
    if constexpr (WHAT == FLOE_WAVELET_LIST_BITS) {
        sum = floe_warp_sum(sum);
        if (floe_lane() == 0 && sum)
            atomicAdd(j.all, sum);
    }
}

/* last or nbits: the largest, or the sum, of all segments before. By one block: a thread has so many, one behind the other. */
template <bool SUM> FLOE_DEV unsigned long long joined(unsigned long long a, unsigned long long b)
{
    return SUM ? a + b : a > b ? a : b;
}

template <bool SUM>
__global__ void __launch_bounds__(SPREADERS) wavelet_spread_kernel(const __grid_constant__ floe_wavelet_list_job j)
{
    __shared__ unsigned long long of_warp[SPREADERS / FLOE_WARP];
    const uint64_t n = *j.status == FLOE_OK ? floe_ceil_div(j.nrecords, SEGMENT) : 0,
                   each = floe_ceil_div(n, blockDim.x), begin = threadIdx.x * each;
    uint64_t *v = SUM ? j.nbits : j.last;
    unsigned long long upto = 0;
    for (uint64_t i = begin; i < begin + each && i < n; i++)
        upto = joined<SUM>(upto, v[i]);
    for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
        const unsigned long long below = __shfl_up_sync(FLOE_ALL_LANES, upto, d);
        upto = joined<SUM>(upto, floe_lane() >= d ? below : 0);
    }
    if (floe_lane() == FLOE_WARP - 1)
        of_warp[threadIdx.x / FLOE_WARP] = upto;
    __syncthreads();
    unsigned long long before = __shfl_up_sync(FLOE_ALL_LANES, upto, 1);
    before = floe_lane() ? before : 0;
    for (uint32_t w = 0; w < threadIdx.x / FLOE_WARP; w++)
        before = joined<SUM>(before, of_warp[w]);
    for (uint64_t i = begin; i < begin + each && i < n; i++) {
        const uint64_t own = v[i];
        v[i] = before;
        before = joined<SUM>(before, own);
    }
}

/* ---- kinds ------------------------------------------------------------------------------------------------------------- */

typedef floe_wavelet_kinds_job kinds_job;

FLOE_DEV uint64_t pattern_at(const kinds_job &j, uint64_t position)
{
    int64_t at = 0;
#pragma unroll
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 1;)
        at += (int64_t)floe_last_digit(&position, j.shape[a]) * j.values.stride[a];
    at += (int64_t)position * j.values.stride[0];
    return j.size == 4 ? ((const uint32_t *)j.values.data)[at] : ((const uint64_t *)j.values.data)[at];
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
    const uint64_t sign = (uint64_t)1 << (8 * j.size - 1);
    const bool finite = j.size == 4 ? (pattern & 0x7F800000) != 0x7F800000 : (pattern >> 52 & 0x7FF) != 0x7FF;
    return j.flat || !finite || (pattern & ~sign) == 0 || (j.has_fill && pattern == j.fill);
}

/* Which of the palette it is; npalette: none. */
FLOE_DEV uint32_t palette_place(const kinds_job &j, uint64_t pattern)
{
    uint32_t s = 0;
    while (s < j.npalette && j.palette[s] != pattern)
        s++;
    return s;
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

FLOE_DEV void put_literal(const kinds_job &j, uint64_t rank, uint64_t pattern)
{
    if (j.size == 4)
        ((uint32_t *)j.literals)[rank] = (uint32_t)pattern;
    else
        ((uint64_t *)j.literals)[rank] = pattern;
}

template <bool WRITES> FLOE_DEV void do_segment(const kinds_job &j, uint64_t i)
{
    uint64_t rank = WRITES ? j.tallies[i] : 0;
    for (uint64_t r = i * SEGMENT; r < (i + 1) * SEGMENT && 8 * r < j.nmarks; r++)
        each_literal(j, r, [&](uint64_t position, int8_t *) {
            if (WRITES)
                put_literal(j, rank, pattern_at(j, position));
            rank++;
        });
    if (!WRITES)
        j.tallies[i] = rank;
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

int floe_wavelet_busy_cuda(const floe_context_job *job, uint8_t *busy, unsigned long long *nlanes, void *stream)
{
    FLOE_LAUNCH(wavelet_busy_kernel, nblocks_of((uint64_t)job->nchunks * FLOE_WARP), THREADS, 0, (cudaStream_t)stream,
                *job, busy, nlanes);
    return (int)cudaGetLastError();
}

#define LAUNCH(kernel, n) FLOE_LAUNCH(kernel, nblocks_of(n), THREADS, 0, q, *job)

int floe_wavelet_list_cuda(const floe_wavelet_list_job *job, floe_wavelet_list_what what, void *stream)
{
    const uint64_t n = floe_ceil_div(job->nrecords, SEGMENT);
    const uint32_t nspreaders = (uint32_t)floe_min64(floe_ceil_div(n, FLOE_WARP) * FLOE_WARP, SPREADERS);
    const cudaStream_t q = (cudaStream_t)stream;
    switch (what) {
    case FLOE_WAVELET_LIST_LAST: LAUNCH(wavelet_list_kernel<FLOE_WAVELET_LIST_LAST>, n); break;
    case FLOE_WAVELET_LIST_SPREAD: FLOE_LAUNCH(wavelet_spread_kernel<false>, 1, nspreaders, 0, q, *job); break;
    case FLOE_WAVELET_LIST_ADD: FLOE_LAUNCH(wavelet_spread_kernel<true>, 1, nspreaders, 0, q, *job); break;
    case FLOE_WAVELET_LIST_BITS: LAUNCH(wavelet_list_kernel<FLOE_WAVELET_LIST_BITS>, n); break;
    case FLOE_WAVELET_LIST_WRITE: LAUNCH(wavelet_list_kernel<FLOE_WAVELET_LIST_WRITE>, n); break;
    }
    return (int)cudaGetLastError();
}

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
