/* SPDX-License-Identifier: BSD-3-Clause */
/* A warp's way through as many chunks of blocks as it holds blocks: of each of them one block at a time. */
#ifndef FLOE_STAGE_ZFPBLOCK_NEXT_DEV_CUH
#define FLOE_STAGE_ZFPBLOCK_NEXT_DEV_CUH

#include "stage/zfpblock/zfpblock_read_dev.cuh"

/* A lane's place in the stream. Lanes that share a block have the same. */
struct floe_zfp_position {
    uint64_t block, at, end; /* the next block and its bit; where the chunk ends */
    uint32_t count;          /* blocks that are left */
    bool fine;
};

/* What lane b knows, in all lanes that share its block. */
FLOE_DEV floe_zfp_head floe_zfp_head_of_lane(const floe_zfp_head &head, uint32_t b)
{
    const floe_zfp_head of = {__shfl_sync(FLOE_ALL_LANES, head.e, b), __shfl_sync(FLOE_ALL_LANES, head.zeros, b),
                              __shfl_sync(FLOE_ALL_LANES, head.nplanes, b),
                              __shfl_sync(FLOE_ALL_LANES, head.patterns, b),
                              __shfl_sync(FLOE_ALL_LANES, head.nbits, b)};
    return of;
}

/* Planes are turned 8 at a time; those that no lane has are not. Clears what a lane's own block lacks of them. */
template <uint32_t RANK>
FLOE_DEV uint32_t floe_zfp_fill_turns(uint32_t *planes, uint32_t block, uint32_t share, uint32_t nplanes)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const uint32_t nturns = floe_zfp_turns(nplanes);
#pragma unroll 1
    for (uint32_t k = nplanes; k < FLOE_ZFP_TURN * nturns; k++)
#pragma unroll
        for (uint32_t w = 0; w < lanes::LANE_WORDS; w++)
            planes[floe_zfp_plane_at<RANK>(k, lanes::LANE_WORDS * share + w, block)] = 0;
    return nturns;
}

/* All lanes: the next block of each that has one, to v. True: it is block p.block, which the caller moves on. */
template <uint32_t RANK, bool REVERSIBLE>
FLOE_DEV bool floe_zfp_decode_next(const floe_zfp_dev_stream &stream, floe_shared_words steps, uint32_t *planes,
                                   floe_zfp_position &p, floe_uint *v)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const uint32_t b = floe_lane() % lanes::BLOCKS, share = floe_lane() / lanes::BLOCKS;
    const bool mine = p.fine && p.count > 0;
    floe_zfp_head head = {0, 0, 0, 0, 0};
    if (mine && share == 0)
        head = floe_zfp_read_block<RANK, REVERSIBLE>(stream, p.at, steps, planes, b);
    __syncwarp();
    if (lanes::SHARE > 1)
        head = floe_zfp_head_of_lane(head, b);
    floe_zfp_join<RANK>(planes, b, share, floe_zfp_fill_turns<RANK>(planes, b, share, head.nplanes), v);
    floe_zfp_finish<RANK, REVERSIBLE>(stream.real, head, planes, b, share, v);
    if (!mine)
        return false;
    p.at += head.nbits;
    p.count--;
    p.fine = p.count > 0 ? p.at < p.end : p.at == p.end;
    return p.fine;
}

#endif
