/* SPDX-License-Identifier: BSD-3-Clause */
/* Anchors out of their bits; values that the array does not give: patterns and literals, by kinds in records of 7. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "base/grid_math.h"
#include "codec/wavelet/gpu/wavelet_decode_dev.h"
#include "codec/wavelet/wavelet_anchors_math.h"
#include "stage/wavelet/wavelet_values.h"

namespace
{

enum { THREADS = FLOE_WAVELET_DEV_BLOCK };

typedef floe_wavelet_put_job job;

FLOE_DEV void point_of(const uint64_t *n, uint64_t i, uint64_t *at)
{
#pragma unroll
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 1;)
        at[a] = floe_last_digit(&i, n[a]);
    at[0] = i;
}

/* ---- anchors ------------------------------------------------------------------------------------------------------------ */

__global__ void __launch_bounds__(THREADS) wavelet_unpack_kernel(const __grid_constant__ floe_wavelet_unpack_job j)
{
    const uint64_t n = *j.status == FLOE_OK ? floe_interp_points(j.n) : 0;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += (uint64_t)gridDim.x * THREADS) {
        uint64_t point[FLOE_INTERP_RANK], to;
        uint32_t band = 0;
        point_of(j.n, i, point);
        for (uint32_t b = 1; b < j.nbands; b++)
            band += point[j.axis] >= j.begin[b];
        to = floe_interp_index(j.shape, point);
        const int64_t whole = floe_wavelet_anchor_get(j.bits, j.nbits, j.least, i);
        const double v = floe_wavelet_anchor_real(whole, j.step[band], j.narrow);
        if (j.narrow)
            ((float *)j.array)[to] = (float)v;
        else
            ((double *)j.array)[to] = v;
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------------- */

FLOE_DEV void damaged(const job &j) { atomicCAS(j.status, (uint32_t)FLOE_OK, (uint32_t)FLOE_ERR_FORMAT); }

FLOE_DEV uint64_t load_bytes(const uint8_t *p, uint32_t n)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < n; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* If it lies in the box. */
FLOE_DEV void put_pattern(const job &j, const uint64_t *point, uint64_t pattern)
{
    int64_t at = 0;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        if (point[a] < j.out.lo[a] || point[a] >= j.out.hi[a])
            return;
        at += (int64_t)(point[a] - j.out.lo[a]) * j.out.view.stride[a];
    }
    if (j.size == 4)
        ((uint32_t *)j.out.view.data)[at] = (uint32_t)pattern;
    else
        ((uint64_t *)j.out.view.data)[at] = pattern;
}

/* Value i of the box. */
FLOE_DEV void put_value(const job &j, uint64_t i)
{
    uint64_t n[FLOE_INTERP_RANK], point[FLOE_INTERP_RANK];
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        n[a] = j.out.hi[a] - j.out.lo[a];
    point_of(n, i, point);
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        point[a] += j.out.lo[a];
    const uint64_t from = floe_interp_index(j.out.shape, point);
    put_pattern(j, point, j.what == FLOE_WAVELET_PUT_RAW ? load_bytes(j.src + from * j.size, j.size) : j.pattern);
}

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
    const uint64_t each = floe_ceil_div(j.out.shape[3], FLOE_WAVELET_MARKS),
                   left = j.out.shape[3] - record % each * FLOE_WAVELET_MARKS;
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
    const uint64_t each = floe_ceil_div(j.out.shape[3], FLOE_WAVELET_MARKS);
    uint64_t row = record / each, point[FLOE_INTERP_RANK];
    point[3] = record % each * FLOE_WAVELET_MARKS;
    point[2] = floe_last_digit(&row, j.out.shape[2]);
    point[1] = floe_last_digit(&row, j.out.shape[1]);
    point[0] = row;
    for (uint32_t k = 0; k < n && kinds; k++, kinds >>= 8, point[3]++) {
        const uint32_t kind = (uint32_t)(kinds & 0xFF), s = kind - FLOE_WAVELET_PATTERN;
        const uint64_t at = kind == FLOE_WAVELET_LITERAL ? *j.cursor + rank * j.size : 0;
        if (kind == FLOE_WAVELET_PLAIN || (kind == FLOE_WAVELET_NEGATIVE && j.log))
            continue;
        if (kind == FLOE_WAVELET_LITERAL && at + j.size <= j.nbytes)
            put_pattern(j, point, load_bytes(j.src + at, j.size));
        else if (s < j.npalette)
            put_pattern(j, point, j.palette[s]);
        else
            damaged(j);
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

__global__ void __launch_bounds__(THREADS) wavelet_put_kernel(const __grid_constant__ job j, uint64_t nitems)
{
    __shared__ bool stops;
    if (threadIdx.x == 0)
        stops = *j.status != FLOE_OK; /* others may set it meanwhile */
    __syncthreads();
    if (stops)
        return;
    if (j.what == FLOE_WAVELET_PUT_TALLY || j.what == FLOE_WAVELET_PUT_KINDS) {
        for (uint64_t block = blockIdx.x; block < nitems; block += gridDim.x)
            do_block(j, block);
        return;
    }
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < nitems; i += (uint64_t)gridDim.x * THREADS)
        if (j.what == FLOE_WAVELET_PUT_SUM)
            sum_kinds(j, i);
        else
            put_value(j, i);
}

uint32_t at_once(uint64_t nblocks)
{
    return (uint32_t)floe_min64(nblocks, 16 * (uint64_t)floe_gpu_limits_cuda().processors);
}

uint64_t nitems_of(const job &j)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        n *= j.out.hi[a] - j.out.lo[a];
    switch (j.what) {
    case FLOE_WAVELET_PUT_SUM: return j.apart / WORD;
    case FLOE_WAVELET_PUT_TALLY:
    case FLOE_WAVELET_PUT_KINDS: return floe_ceil_div(j.nrecords, THREADS);
    default: return n;
    }
}

} // namespace

int floe_wavelet_unpack_cuda(const floe_wavelet_unpack_job *job, void *stream)
{
    const uint64_t n = floe_interp_points(job->n);
    FLOE_LAUNCH(wavelet_unpack_kernel, at_once(floe_ceil_div(n, THREADS)), THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}

int floe_wavelet_put_cuda(const floe_wavelet_put_job *job, void *stream)
{
    const uint64_t n = nitems_of(*job);
    const bool blocks = job->what == FLOE_WAVELET_PUT_TALLY || job->what == FLOE_WAVELET_PUT_KINDS;
    FLOE_LAUNCH(wavelet_put_kernel, at_once(blocks ? n : floe_ceil_div(n, THREADS)), THREADS, 0, (cudaStream_t)stream,
                *job, n);
    return (int)cudaGetLastError();
}
