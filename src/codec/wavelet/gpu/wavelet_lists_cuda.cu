/* SPDX-License-Identifier: BSD-3-Clause */
/* Records as lists: a block a grid. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "stage/lattice/lattice_patterns.cuh"

namespace
{

enum {
    THREADS = 256,
    LIST_WORDS = FLOE_WAVELET_LIST_BITS / 32,
    GATHERERS = 4 /* blocks of a processor, at most */
};

typedef floe_wavelet_lists_job job;

FLOE_DEV bool may_list(const job &j, uint32_t grid)
{
    const floe_context_tally &t = j.tallies[grid];
    return *j.status == FLOE_OK && t.ncodes > 0 && floe_wavelet_may_list(t.ncodes, floe_wavelet_chunks_bits(&t));
}

/* A code that is not 0: its number, and itself. */
FLOE_DEV uint64_t entry_of(uint64_t number, int32_t code) { return number << 16 | (uint16_t)code; }

/* Of each grid that may be a list: its codes, in any order. */
__global__ void __launch_bounds__(THREADS) wavelet_gather_kernel(const __grid_constant__ job j)
{
    const uint32_t grid = blockIdx.y;
    if (!may_list(j, grid))
        return;
    const floe_context_dev_grid &g = j.grids[grid];
    const uint64_t nwords = floe_context_nrecords(&g.grid) * g.spec.width; /* of 8 bytes */
#pragma unroll 4
    for (uint64_t i = first_item(); i < nwords; i += item_step()) {
        const uint64_t word = ((const uint64_t *)g.records)[i];
        for (uint32_t k = 0; word && k < 8 / g.spec.width; k++) {
            const int32_t code = g.spec.width == 1 ? (int8_t)(word >> 8 * k) : (int16_t)(word >> 16 * k);
            if (code)
                j.entries[grid * FLOE_WAVELET_LIST_CODES + atomicAdd(j.nentries + grid, 1u)] =
                    entry_of(i * (8 / g.spec.width) + k, code);
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
__global__ void __launch_bounds__(FLOE_WAVELET_LIST_CODES) wavelet_list_kernel(const __grid_constant__ job j)
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
