/* SPDX-License-Identifier: BSD-3-Clause */
/* Which cells of chunks must be replaced, and by which, a span of them at a time, by words of 64 cells. Compiled for each element type. */
#include "backend/device_scan.cuh"
#include "codec/zfp/chunk/zfp_exact_math.h"
#include "codec/zfp/gpu/zfp_grid_dev.cuh"
#include "codec/zfp/gpu/zfp_kernels.h"

namespace
{

enum { THREADS = FLOE_CELLS_THREADS, WARPS = FLOE_CELLS_WARPS, WORDS_A_THREAD = FLOE_CELLS_SPAN_WORDS / THREADS };

/* Of cell i of a word. */
FLOE_DEV floe_uint value_in(const floe_cells_array &a, const floe_cells_word &w, uint32_t i)
{
    return ((const floe_uint *)a.data)[floe_cells_in_word(a, w, i)];
}

struct replace_shared {
    uint64_t words[FLOE_CELLS_SPAN_WORDS]; /* cells that are good */
    uint64_t fills[FLOE_CELLS_SPAN_WORDS]; /* and that hold the fill value */
    uint32_t last[WARPS];
    unsigned long long first_good;
    uint32_t named;
};

/* Which cells are good: of 32 words, of which each lane keeps one. A warp. */
FLOE_DEV void find_good(const floe_zfp_grid_encode &call, const floe_cells_part &s, uint64_t first,
                        replace_shared *shared)
{
    enum { AHEAD = 4 }; /* words under way */
    const bool has_fill = call.params->has_fill, real = !floe_dtype_is_integer(call.field.dtype);
    const floe_uint fill = (floe_uint)call.params->fill_bits;
    const uint64_t w = first + floe_lane();
    const floe_cells_word mine = floe_cells_word_of(s.chunk->array, s.cell + w * FLOE_CELLS_WORD);
    uint64_t good = 0, fills = 0;
    for (uint32_t j0 = 0; j0 < FLOE_WARP; j0 += AHEAD) {
        floe_uint x[2 * AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < 2 * AHEAD; k++) {
            const uint32_t i = k % 2 * FLOE_WARP + floe_lane();
            const floe_cells_word word = floe_cells_word_from(mine, j0 + k / 2);
            x[k] = word.cell + i < s.cell + s.ncells ? value_in(s.chunk->array, word, i) : FLOE_REAL_EXPONENT;
        }
#pragma unroll
        for (uint32_t k = 0; k < 2 * AHEAD; k++) {
            const uint64_t cell = s.cell + (first + j0 + k / 2) * FLOE_CELLS_WORD + k % 2 * FLOE_WARP + floe_lane();
            const bool there = cell < s.cell + s.ncells,
                       unfit = FLOE_R(floe_zfp_needs_replacing)(real, x[k], has_fill, fill);
            const uint64_t goods = __ballot_sync(FLOE_ALL_LANES, there && !unfit),
                           filled = __ballot_sync(FLOE_ALL_LANES, there && has_fill && x[k] == fill);
            if (floe_lane() == j0 + k / 2) {
                good |= goods << k % 2 * FLOE_WARP;
                fills |= filled << k % 2 * FLOE_WARP;
            }
        }
    }
    shared->words[w] = good;
    shared->fills[w] = fills;
    if (fills)
        shared->named = 1;
    if (w < s.nwords)
        call.bad[s.number * call.room.nwords + s.first + w] = ~good;
    if (good)
        atomicMin(&shared->first_good,
                  (unsigned long long)(s.cell + w * FLOE_CELLS_WORD + (uint64_t)__ffsll((long long)good) - 1));
}

/* The last good cell in front of each word, and 1; 0 if there is none. Threads have words that lie side by side. */
FLOE_DEV void find_last(const floe_zfp_grid_encode &call, const floe_cells_part &s, replace_shared *shared)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP, first = threadIdx.x * WORDS_A_THREAD;
    uint32_t last = 0, before = 0;
    for (uint32_t w = first; w < first + WORDS_A_THREAD; w++)
        if (shared->words[w])
            last = w * FLOE_CELLS_WORD + floe_top_bit(shared->words[w]) + 1;
    last = floe_warp_max_to(last);
    if (floe_lane() == FLOE_WARP - 1)
        shared->last[warp] = last;
    before = __shfl_up_sync(FLOE_ALL_LANES, last, 1);
    before = floe_lane() > 0 ? before : 0;
    __syncthreads();
    for (uint32_t w = 0; w < warp; w++)
        before = max(before, shared->last[w]);
    for (uint32_t w = first; w < first + WORDS_A_THREAD; w++) {
        if (w < s.nwords)
            call.last_good[s.number * call.room.nwords + s.first + w] = before;
        if (shared->words[w])
            before = w * FLOE_CELLS_WORD + floe_top_bit(shared->words[w]) + 1;
    }
}

/* What the attempt before left of the chunk is void. Cells that hold the fill value are named, until zfp is found to have kept
 * one. */
FLOE_DEV void begin_again(const floe_zfp_grid_encode &call, const floe_cells_part &s, const replace_shared *shared)
{
    uint64_t *literals = call.cells.sets[FLOE_CELLS_LITERALS] + s.number * call.cells.nwords + s.first;
    for (uint64_t w = threadIdx.x; w < s.nwords; w += THREADS)
        literals[w] = shared->fills[w];
    if (threadIdx.x > 0)
        return;
    s.span->named = shared->named;
    if (s.cell == 0) {
        s.chunk->first_odd = ~0ull;
        call.stats[s.number].max_error_bits = 0;
    }
}

/* Blocks take spans in turn, of chunks whose values are replaced. */
__global__ void __launch_bounds__(THREADS) zfp_grid_replace_kernel(const __grid_constant__ floe_zfp_grid_encode call)
{
    __shared__ replace_shared shared;
    if (!floe_zfp_goes_on(call, FLOE_ZFP_REPLACED))
        return;
    for (uint64_t i = blockIdx.x; i < call.grid.nchunks * call.room.nspans; i += gridDim.x) {
        const floe_cells_part s = floe_cells_part_of(call.cells, i);
        if (s.ncells == 0 || !call.chunks[s.number].replaced)
            continue;
        __syncthreads(); /* the span before is done with what is shared */
        if (threadIdx.x == 0) {
            shared.first_good = ~0ull;
            shared.named = 0;
        }
        __syncthreads();
        for (uint64_t w = threadIdx.x / FLOE_WARP * FLOE_WARP; w < FLOE_CELLS_SPAN_WORDS; w += THREADS)
            find_good(call, s, w, &shared);
        __syncthreads();
        find_last(call, s, &shared);
        begin_again(call, s, &shared);
        if (threadIdx.x == 0 && shared.first_good != ~0ull)
            atomicMin(&call.chunks[s.number].first_good, shared.first_good);
    }
}

} // namespace

int FLOE_R(floe_zfp_grid_replace)(const floe_zfp_grid_encode *call, void *stream)
{
    FLOE_LAUNCH(zfp_grid_replace_kernel, floe_zfp_blocks_for(call->grid.nchunks * call->room.nspans), THREADS, 0,
                (cudaStream_t)stream, *call);
    return (int)cudaGetLastError();
}
