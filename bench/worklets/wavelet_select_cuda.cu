/* SPDX-License-Identifier: BSD-3-Clause */
#include "prim/prim_map.cuh"
#include "bench/worklets/wavelet_select_math.h"

namespace
{

enum { BLOCKS_A_PROCESSOR = 6, AHEAD = 8 }; /* AHEAD: values that a thread loads before it counts them */

/* Digits are counted in shared memory. Word: of a value, without its sign in `magnitude`. */
template <class Word>
__global__ __launch_bounds__(FLOE_PRIM_BLOCK) void select_count_kernel(floe_select j, Word magnitude)
{
    __shared__ uint32_t counts[FLOE_SELECT_DIGITS], nkept;
    const bool keeps = j.round == 1, reads_kept = j.round > 1 && j.nkept[blockIdx.x] <= j.room;
    Word *kept = (Word *)j.kept + blockIdx.x * j.room;
    const Word *values = reads_kept ? kept : (const Word *)j.values;
    const Word prefix = (Word)j.from->prefix << j.before, above = magnitude & ~(Word)0 << j.before;
    const uint32_t digits = ((uint32_t)1 << (j.before - j.shift)) - 1;
    const uint64_t n = reads_kept ? j.nkept[blockIdx.x] : j.n,
                   step = reads_kept ? FLOE_PRIM_BLOCK : (uint64_t)gridDim.x * FLOE_PRIM_BLOCK;
    uint64_t i = threadIdx.x + (reads_kept ? 0 : (uint64_t)blockIdx.x * FLOE_PRIM_BLOCK);
    if (threadIdx.x == 0)
        nkept = 0;
    for (uint32_t d = threadIdx.x; d < FLOE_SELECT_DIGITS; d += FLOE_PRIM_BLOCK)
        counts[d] = 0;
    __syncthreads();
    const auto count = [&](Word v) {
        if ((v & above) != prefix)
            return;
        atomicAdd(&counts[(uint32_t)(v >> j.shift) & digits], 1u);
        const uint32_t to = keeps ? atomicAdd(&nkept, 1u) : 0;
        if (keeps && to < j.room)
            kept[to] = v;
    };
    for (; i + (AHEAD - 1) * step < n; i += AHEAD * step) {
        Word v[AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            v[k] = values[i + k * step];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++)
            count(v[k]);
    }
    for (; i < n; i += step)
        count(values[i]);
    __syncthreads();
    if (keeps && threadIdx.x == 0)
        j.nkept[blockIdx.x] = nkept;
    for (uint32_t d = threadIdx.x; d < FLOE_SELECT_DIGITS; d += FLOE_PRIM_BLOCK)
        if (counts[d] > 0)
            atomicAdd(&j.counts[d], counts[d]);
}

template <class Word> void count(const floe_select *job, cudaStream_t stream)
{
    const uint64_t at_once =
        floe_min64((uint64_t)BLOCKS_A_PROCESSOR * floe_gpu_limits_cuda().processors, FLOE_SELECT_BLOCKS);
    FLOE_LAUNCH(select_count_kernel<Word>, (uint32_t)floe_min64(floe_ceil_div(job->n, FLOE_PRIM_BLOCK), at_once),
                FLOE_PRIM_BLOCK, 0, stream, *job, (Word)(~(Word)0 >> 1));
}

} // namespace

extern "C" int floe_select_count_cuda(const floe_select *job, uint64_t n, void *stream)
{
    if (n == 0)
        return (int)cudaSuccess;
    if (job->wide)
        count<floe_any64>(job, (cudaStream_t)stream);
    else
        count<floe_any32>(job, (cudaStream_t)stream);
    return (int)cudaGetLastError();
}

FLOE_PRIM_MAP_CUDA(floe_select_digit_map, floe_select, floe_select_digit)
FLOE_PRIM_MAP_CUDA(floe_select_keep_map, floe_select, floe_select_keep)
FLOE_PRIM_MAP_CUDA(floe_select_start_map, floe_select, floe_select_start)
FLOE_PRIM_MAP_CUDA(floe_select_copy_map, floe_select_box, floe_select_copy)
