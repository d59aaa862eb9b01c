/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that the array does not give: patterns and literals, by kinds in records of 7. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "codec/wavelet/gpu/wavelet_decode_dev.h"
#include "stage/interp/interp_patterns.cuh"
#include "stage/wavelet/wavelet_values.h"

namespace
{

enum { THREADS = FLOE_WAVELET_DEV_BLOCK, BLOCKS = 6 /* of a processor, at least */ };

typedef floe_wavelet_put_job job;

/* ---- values ------------------------------------------------------------------------------------------------------------- */

enum { WORD = 4, LOW = 0x7F7F7F7F };

/* Kinds of four values, from plane to plane: each becomes the sum of those up to it. */
FLOE_DEV void sum_kinds(const job &j, uint64_t word)
{
    uint32_t *at = (uint32_t *)j.kinds + word, sum = *at;
#pragma unroll 8
    for (uint64_t k = 1; k < j.n; k++) {
        const uint32_t v = at[k * (j.apart / WORD)];
        sum = ((v & LOW) + (sum & LOW)) ^ ((v ^ sum) & ~(uint32_t)LOW);
        at[k * (j.apart / WORD)] = sum;
    }
}

/* ---- kinds -------------------------------------------------------------------------------------------------------------- */

/* Values of a record. */
FLOE_DEV uint32_t values_of(const job &j, uint64_t record)
{
    const uint64_t each = floe_ceil_div(j.shape[3], FLOE_WAVELET_MARKS),
                   left = j.shape[3] - record % each * FLOE_WAVELET_MARKS;
    return record >= j.nrecords ? 0 : (uint32_t)floe_min64(left, FLOE_WAVELET_MARKS);
}

FLOE_DEV uint64_t load_record(const job &j, uint64_t record)
{
    return record < j.nrecords ? ((const uint64_t *)j.kinds)[record] : 0;
}

FLOE_DEV uint32_t literals_of(uint64_t kinds, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t k = 0; kinds && k < n; k++, kinds >>= 8)
        count += (kinds & 0xFF) == FLOE_WAVELET_LITERAL;
    return count;
}

FLOE_DEV void put_record(const job &j, uint64_t record, uint64_t kinds, uint32_t n, uint64_t rank)
{
    const uint64_t each = floe_ceil_div(j.shape[3], FLOE_WAVELET_MARKS);
    uint64_t row = record / each, point[FLOE_INTERP_RANK];
    point[3] = record % each * FLOE_WAVELET_MARKS;
    point[2] = floe_last_digit(&row, j.shape[2]);
    point[1] = floe_last_digit(&row, j.shape[1]);
    point[0] = row;
    for (uint32_t k = 0; k < n && kinds; k++, kinds >>= 8, point[3]++) {
        const uint32_t kind = (uint32_t)(kinds & 0xFF), s = kind - FLOE_WAVELET_PATTERN;
        const uint64_t size = j.out.size, at = kind == FLOE_WAVELET_LITERAL ? *j.cursor + rank * size : 0;
        if (kind == FLOE_WAVELET_PLAIN || (kind == FLOE_WAVELET_NEGATIVE && j.log))
            continue;
        if (kind == FLOE_WAVELET_LITERAL && at + size <= j.nbytes)
            put_pattern(j.out, point, load_bytes(j.src + at, j.out.size));
        else if (s < j.npalette)
            put_pattern(j.out, point, j.palette[s]);
        else
            set_damaged(j.status);
        rank += kind == FLOE_WAVELET_LITERAL;
    }
}

/* By a block, a record a thread. */
FLOE_DEV void do_block(const job &j, uint64_t block)
{
    __shared__ uint32_t sums[THREADS / FLOE_WARP];
    const uint64_t record = block * THREADS + threadIdx.x, kinds = load_record(j, record);
    const uint32_t n = kinds ? values_of(j, record) : 0, count = literals_of(kinds, n);
    uint32_t all;
    if (!__syncthreads_or(kinds != 0)) {
        if (threadIdx.x == 0 && j.what == FLOE_WAVELET_PUT_TALLY)
            j.tallies[block] = 0;
        return;
    }
    const uint32_t before = floe_block_sum_before(count, sums, (uint32_t)(THREADS / FLOE_WARP), &all);
    if (j.what == FLOE_WAVELET_PUT_KINDS && n)
        put_record(j, record, kinds, n, j.ranks[block] + before);
    else if (threadIdx.x == 0 && j.what == FLOE_WAVELET_PUT_TALLY)
        j.tallies[block] = all;
}

__global__ void __launch_bounds__(THREADS, BLOCKS) wavelet_put_kernel(const __grid_constant__ job j, uint64_t nitems)
{
    __shared__ bool stops;
    if (threadIdx.x == 0)
        stops = *j.status != FLOE_OK; /* others may set it meanwhile */
    __syncthreads();
    if (stops)
        return;
    if (j.what != FLOE_WAVELET_PUT_SUM) {
        for (uint64_t block = blockIdx.x; block < nitems; block += gridDim.x)
            do_block(j, block);
        return;
    }
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < nitems; i += (uint64_t)gridDim.x * THREADS)
        sum_kinds(j, i);
}

} // namespace

int floe_wavelet_put_cuda(const floe_wavelet_put_job *job, void *stream)
{
    const bool sums = job->what == FLOE_WAVELET_PUT_SUM;
    const uint64_t n = sums ? job->apart / WORD : floe_ceil_div(job->nrecords, THREADS),
                   nblocks = sums ? floe_ceil_div(n, THREADS) : n,
                   most = 16 * (uint64_t)floe_gpu_limits_cuda().processors;
    FLOE_LAUNCH(wavelet_put_kernel, (uint32_t)floe_min64(nblocks, most), THREADS, 0, (cudaStream_t)stream, *job, n);
    return (int)cudaGetLastError();
}
