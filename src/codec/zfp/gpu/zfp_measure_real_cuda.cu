/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the blocks of a bare zfp stream. Where a block ends shows only when it has been read, so one lane reads them all, one
 * after the other; the others of its warp have the stream brought near. Compiled for each element type.
 */
#include "codec/zfp/gpu/zfp_kernels.h"
#include "codec/zfp/gpu/zfp_launch.cuh"
#include "stage/zfpblock/zfpblock_cells_dev.cuh"
#include "stage/zfpblock/zfpblock_read_dev.cuh"

namespace
{

enum {
    LINE = 128,       /* bytes that come together */
    AHEAD = FLOE_WARP /* lines that are requested at a time, and so far ahead */
};

struct job {
    floe_zfp_measure_call call;
    floe_zfp_dev_stream stream;
    uint64_t nblocks;
};

/* All lanes: the lines behind byte `at`. */
FLOE_DEV void bring_near(const job &j, uint64_t at)
{
    const uint64_t mine = (at / LINE + floe_lane()) * LINE;
    if (mine < j.call.nbytes)
        floe_prefetch_far((const uint8_t *)j.stream.words + mine);
}

/* The next block and its bit; the next chunk, and how many blocks are in front of it. */
struct position {
    uint64_t block, at, chunk;
    uint32_t left;
};

/* One lane: blocks until they are behind bit `until`, or all are read. False: one of them reaches behind the stream. */
template <uint32_t RANK, bool REVERSIBLE>
FLOE_DEV bool walk(const job &j, const floe_zfp_dev_stream &stream, floe_shared_words steps, uint64_t end,
                   uint64_t until, position &p)
{
    for (; p.block < j.nblocks && p.at < until; p.block++) {
        if (p.at >= end)
            return false;
        if (p.left == 0) {
            j.call.places[p.chunk++] = p.at;
            p.left = j.call.chunk;
        }
        p.at += floe_zfp_read_block<RANK, REVERSIBLE, floe_zfp_no_sink>(stream, p.at, steps, NULL, 0).nbits;
        p.left--;
        if (p.at > end)
            return false;
    }
    return true;
}

/* Where the blocks end that were found; of places that are missing, 0. */
FLOE_DEV void finish(const job &j, const position &p, bool fine)
{
    const uint64_t nchunks = floe_ceil_div(j.nblocks, j.call.chunk);
    for (uint64_t i = p.chunk + floe_lane(); i <= nchunks; i += FLOE_WARP)
        j.call.places[i] = fine ? p.at : 0;
    if (floe_lane() > 0)
        return;
    *j.call.nbits = p.at;
    if (!fine)
        *j.call.status = FLOE_ERR_FORMAT;
}

/* One warp, whose first lane owns the stream. */
template <uint32_t RANK, bool REVERSIBLE>
__global__ void __launch_bounds__(FLOE_WARP) zfp_measure_kernel(const __grid_constant__ job j)
{
    __shared__ uint32_t table[FLOE_ZFP_STEP_TABLE];
    for (uint32_t i = threadIdx.x; i < FLOE_ZFP_STEP_TABLE; i += FLOE_WARP)
        table[i] = floe_zfp_step(i);
    __syncwarp();
    const uint64_t nbytes = j.call.dev_nbytes ? floe_min64(*j.call.dev_nbytes, j.call.nbytes) : j.call.nbytes,
                   end = 8 * nbytes;
    floe_zfp_dev_stream stream = j.stream;
    stream.nwords = floe_ceil_div(nbytes, 4);
    const floe_shared_words steps = floe_shared_words_of(table);
    position p = {0, j.call.begin, 0, 0};
    int fine = 1;
    bring_near(j, p.at / 8);
    while (fine && p.block < j.nblocks) {
        bring_near(j, p.at / 8 + AHEAD * LINE);
        if (floe_lane() == 0)
            fine = walk<RANK, REVERSIBLE>(j, stream, steps, end, p.at + 8 * AHEAD * LINE, p);
        fine = __shfl_sync(FLOE_ALL_LANES, fine, 0);
        p.block = __shfl_sync(FLOE_ALL_LANES, p.block, 0);
        p.at = __shfl_sync(FLOE_ALL_LANES, p.at, 0);
    }
    p.chunk = __shfl_sync(FLOE_ALL_LANES, p.chunk, 0);
    finish(j, p, fine != 0);
}

} // namespace

int FLOE_R(floe_zfp_measure)(const floe_zfp_measure_call *call, void *stream)
{
    const job j = {*call,
                   {(const uint32_t *)call->src, 0, call->params, floe_zfp_type_is_real(call->array.type)},
                   floe_zfp_cells_of(&call->array).nblocks};
    return (int)floe_zfp_by_case(call->array.rank, floe_zfp_params_are_reversible(&call->params), [&](auto c) {
        typedef decltype(c) is;
        return floe_zfp_launch(zfp_measure_kernel<is::RANK, is::REVERSIBLE>, dim3(1), FLOE_WARP, 0,
                               (cudaStream_t)stream, j);
    });
}
