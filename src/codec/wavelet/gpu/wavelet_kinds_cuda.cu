/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of values, in records of 7, and the patterns and literals that go with them. Literals before a block of records are known by a scan. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "stage/lattice/lattice_patterns.cuh"
#include "stage/wavelet/wavelet_values.h"

namespace
{

enum {
    THREADS = FLOE_WAVELET_DEV_BLOCK,
    BLOCKS = 6, /* of a processor, at least */
    WORD = 4,
    LOW = 0x7F7F7F7F
};

typedef floe_wavelet_kinds_job job;

FLOE_DEV uint64_t row_records(const job &j) { return floe_ceil_div(j.shape[3], FLOE_WAVELET_MARKS); }
FLOE_DEV uint64_t all_rows(const job &j) { return j.shape[0] * j.shape[1] * j.shape[2]; }

/* ---- a record ---------------------------------------------------------------------------------------------------------- */

FLOE_DEV uint64_t pattern_at(const job &j, uint64_t position)
{
    return pattern_of(j.values.view, j.shape, j.values.size, position);
}

/* Calls what(position, mark) for the values of a record; those behind the last row have none. */
template <class WHAT> FLOE_DEV void each_mark(const job &j, uint64_t record, WHAT what)
{
    uint64_t row = record;
    const uint64_t x = floe_last_digit(&row, row_records(j)) * FLOE_WAVELET_MARKS;
    if (row < all_rows(j))
        for (uint64_t k = 0; k < FLOE_WAVELET_MARKS && x + k < j.shape[3]; k++)
            what(row * j.shape[3] + x + k, j.kinds + record * 8 + k);
}
template <class WHAT> FLOE_DEV void each_literal(const job &j, uint64_t record, WHAT what)
{
    if (((const uint64_t *)j.kinds)[record])
        each_mark(j, record, [&](uint64_t position, int8_t *mark) {
            if (*mark == FLOE_WAVELET_LITERAL)
                what(position, mark);
        });
}

/* Which of the palette it is; npalette: none. */
FLOE_DEV uint32_t palette_place(const job &j, uint64_t pattern)
{
    return floe_lattice_palette_place(j.palette, j.npalette, pattern);
}

FLOE_DEV void differ(const job &j, uint64_t record)
{
    const bool is_first = 8 * record < j.apart || record / row_records(j) >= all_rows(j);
    for (uint64_t i = 8 * record; i < 8 * record + 8; i++)
        j.to[i] = (int8_t)(j.kinds[i] - (is_first ? 0 : j.kinds[i - j.apart]));
}

/* Kinds of four values, from plane to plane: each becomes the sum of those up to it. */
FLOE_DEV void sum_kinds(const job &j, uint64_t word)
{
    uint32_t *at = (uint32_t *)j.kinds + word, sum = *at;
#pragma unroll 8
    for (uint64_t k = 1; k < j.nslowest; k++) {
        const uint32_t v = at[k * (j.apart / WORD)];
        sum = ((v & LOW) + (sum & LOW)) ^ ((v ^ sum) & ~(uint32_t)LOW);
        at[k * (j.apart / WORD)] = sum;
    }
}

template <floe_wavelet_kinds_what WHAT> FLOE_DEV void do_item(const job &j, uint64_t i, unsigned long long &count)
{
    if constexpr (WHAT == FLOE_WAVELET_KINDS_FLAT)
        each_mark(j, i, [&](uint64_t position, int8_t *mark) {
            if (pattern_at(j, position) != j.base)
                *mark = FLOE_WAVELET_LITERAL;
        });
    else if constexpr (WHAT == FLOE_WAVELET_KINDS_SPECIAL)
        each_literal(j, i, [&](uint64_t position, int8_t *) {
            const uint64_t pattern = pattern_at(j, position);
            const bool special = j.flat || floe_lattice_is_special(j.values.size, pattern, j.has_fill, j.fill);
            if (special && palette_place(j, pattern) == j.npalette)
                count = floe_max64(count, ~position);
        });
    else if constexpr (WHAT == FLOE_WAVELET_KINDS_SORT)
        each_literal(j, i, [&](uint64_t position, int8_t *mark) {
            const uint32_t s = palette_place(j, pattern_at(j, position));
            if (s < j.npalette)
                *mark = (int8_t)(FLOE_WAVELET_PATTERN + s);
            else
                count++;
        });
    else if constexpr (WHAT == FLOE_WAVELET_KINDS_DIFFER)
        differ(j, i);
    else
        sum_kinds(j, i);
}

/* ---- literals ---------------------------------------------------------------------------------------------------------- */

/* Literals from number rank on. */
FLOE_DEV void take_literals(const job &j, uint64_t record, uint64_t rank)
{
    each_literal(j, record, [&](uint64_t position, int8_t *) {
        store_pattern((uint8_t *)j.literals + rank * j.values.size, j.values.size, pattern_at(j, position));
        rank++;
    });
}
FLOE_DEV void put_record(const job &j, uint64_t record, uint64_t rank)
{
    each_mark(j, record, [&](uint64_t position, int8_t *mark) {
        const uint32_t kind = (uint8_t)*mark, s = kind - FLOE_WAVELET_PATTERN;
        const bool literal = kind == FLOE_WAVELET_LITERAL;
        const uint64_t at = literal ? *j.cursor + rank * j.values.size : 0;
        uint64_t point[FLOE_LATTICE_RANK];
        if (kind == FLOE_WAVELET_PLAIN || (kind == FLOE_WAVELET_NEGATIVE && j.log))
            return;
        floe_lattice_point_of(j.shape, position, point);
        if (literal && at + j.values.size <= j.nbytes)
            put_pattern(j.values, point, load_bytes(j.src + at, j.values.size));
        else if (s < j.npalette)
            put_pattern(j.values, point, j.palette[s]);
        else
            set_damaged(j.status);
        rank += literal;
    });
}

/* By a block, a record a thread. */
template <floe_wavelet_kinds_what WHAT> FLOE_DEV void do_block(const job &j, uint64_t block)
{
    __shared__ uint32_t sums[THREADS / FLOE_WARP];
    const uint64_t record = block * THREADS + threadIdx.x;
    const bool some = record < j.nrecords && ((const uint64_t *)j.kinds)[record];
    uint32_t count = 0, all = 0;
    if (!__syncthreads_or(some)) {
        if (threadIdx.x == 0 && WHAT == FLOE_WAVELET_KINDS_TALLY)
            j.tallies[block] = 0;
        return;
    }
    if (some)
        each_literal(j, record, [&](uint64_t, int8_t *) { count++; });
    const uint32_t before = floe_block_sum_before(count, sums, (uint32_t)(THREADS / FLOE_WARP), &all);
    if (threadIdx.x == 0 && WHAT == FLOE_WAVELET_KINDS_TALLY)
        j.tallies[block] = all;
    if (some && WHAT == FLOE_WAVELET_KINDS_LITERALS)
        take_literals(j, record, j.ranks[block] + before);
    if (some && WHAT == FLOE_WAVELET_KINDS_PUT)
        put_record(j, record, j.ranks[block] + before);
}

/* ---- the kernel -------------------------------------------------------------------------------------------------------- */

template <floe_wavelet_kinds_what WHAT>
__global__ void __launch_bounds__(THREADS, BLOCKS) wavelet_kinds_kernel(const __grid_constant__ job j, uint64_t nitems)
{
    __shared__ bool stops;
    unsigned long long count = 0;
    if (threadIdx.x == 0)
        stops = *j.status != FLOE_OK; /* others may set it meanwhile */
    __syncthreads();
    if (stops)
        return;
    if constexpr (WHAT == FLOE_WAVELET_KINDS_TALLY || WHAT == FLOE_WAVELET_KINDS_LITERALS ||
                  WHAT == FLOE_WAVELET_KINDS_PUT)
        for (uint64_t block = blockIdx.x; block * THREADS < nitems; block += gridDim.x)
            do_block<WHAT>(j, block);
    else
        for (uint64_t i = first_item(); i < nitems; i += item_step())
            do_item<WHAT>(j, i, count);
    if constexpr (WHAT == FLOE_WAVELET_KINDS_SPECIAL) { /* the first one */
        count = floe_warp_max(count);
        if (floe_lane() == 0 && count)
            atomicMin(j.out, ~count);
    }
    if constexpr (WHAT == FLOE_WAVELET_KINDS_SORT) {
        count = floe_warp_sum(count);
        if (floe_lane() == 0 && count)
            atomicAdd(j.out, count);
    }
}

template <floe_wavelet_kinds_what WHAT> void launch(const job &j, void *stream)
{
    const uint64_t n = WHAT == FLOE_WAVELET_KINDS_SUM ? j.apart / WORD : j.nrecords;
    FLOE_LAUNCH(wavelet_kinds_kernel<WHAT>, nblocks_of(n, THREADS), THREADS, 0, (cudaStream_t)stream, j, n);
}

} // namespace

int floe_wavelet_kinds_cuda(const floe_wavelet_kinds_job *job, floe_wavelet_kinds_what what, void *stream)
{
    switch (what) {
    case FLOE_WAVELET_KINDS_FLAT: launch<FLOE_WAVELET_KINDS_FLAT>(*job, stream); break;
    case FLOE_WAVELET_KINDS_SPECIAL: launch<FLOE_WAVELET_KINDS_SPECIAL>(*job, stream); break;
    case FLOE_WAVELET_KINDS_SORT: launch<FLOE_WAVELET_KINDS_SORT>(*job, stream); break;
    case FLOE_WAVELET_KINDS_DIFFER: launch<FLOE_WAVELET_KINDS_DIFFER>(*job, stream); break;
    case FLOE_WAVELET_KINDS_LITERALS: launch<FLOE_WAVELET_KINDS_LITERALS>(*job, stream); break;
    case FLOE_WAVELET_KINDS_TALLY: launch<FLOE_WAVELET_KINDS_TALLY>(*job, stream); break;
    case FLOE_WAVELET_KINDS_SUM: launch<FLOE_WAVELET_KINDS_SUM>(*job, stream); break;
    case FLOE_WAVELET_KINDS_PUT: launch<FLOE_WAVELET_KINDS_PUT>(*job, stream); break;
    }
    return (int)cudaGetLastError();
}
