/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coding a tile of stage huffman on a GPU by a block: for fields of so few tiles that the latency of one warp that walks
 * through all steps would be all there is. A warp has a few steps. The words are those of huffman_code_dev.cuh, whose steps
 * these are; how many there are is known before any is written.
 *
 *     floe_huffman_team_measure(...)     then, where that is not 0,
 *     floe_huffman_team_write(...)
 */
#ifndef FLOE_STAGE_HUFFMAN_TEAM_DEV_CUH
#define FLOE_STAGE_HUFFMAN_TEAM_DEV_CUH

#include "stage/huffman/huffman_code_dev.cuh"

enum { FLOE_HUFFMAN_TEAM_WARPS = 4, FLOE_HUFFMAN_TEAM_STEPS = FLOE_TILE_STEPS / FLOE_HUFFMAN_TEAM_WARPS };

/* Shared memory of a block. */
typedef struct floe_huffman_team {
    floe_huffman_coder coder;
    uint32_t step_nbits[FLOE_TILE_STEPS];
} floe_huffman_team;

/* What a thread keeps of a tile between measuring and writing. */
template <class Uint> struct floe_huffman_part {
    floe_huffman_group_codes group[FLOE_HUFFMAN_TEAM_STEPS]; /* of the warp's steps */
    uint32_t plane[FLOE_HUFFMAN_TEAM_STEPS][8 * sizeof(Uint)];
    uint32_t at[FLOE_HUFFMAN_TEAM_STEPS]; /* first bits, the header not counted */
    uint32_t log, field, length, nbits;   /* field and length: see floe_huffman_field. nbits: of the tile */
};

FLOE_DEV uint32_t floe_huffman_team_step() { return threadIdx.x / FLOE_WARP * FLOE_HUFFMAN_TEAM_STEPS; }

/* Bits of the steps before s. */
FLOE_DEV uint32_t floe_huffman_team_before(const floe_huffman_team *team, uint32_t s)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < s; i++)
        sum += team->step_nbits[i];
    return sum;
}

/* Finds the codes. heads.present is set, and the block synchronized. body: of that form. Returns the words of the tile, 0
 * without a live group. The whole block, which is synchronized on return but for what threads keep. */
template <class Uint>
FLOE_DEV uint32_t floe_huffman_team_measure(floe_huffman_codes codes, const uint32_t *body, uint32_t nsteps,
                                            floe_huffman_form form, floe_huffman_team *team,
                                            floe_huffman_part<Uint> &part)
{
    floe_huffman_coder *coder = &team->coder;
    const uint32_t first = floe_huffman_team_step();
    if (threadIdx.x < FLOE_WARP) {
        if (form == FLOE_HUFFMAN_BYTES)
            floe_huffman_open_body<FLOE_HUFFMAN_BYTES>(body, nsteps, coder);
        else
            floe_huffman_open_body<FLOE_HUFFMAN_PLANES>(body, nsteps, coder);
    }
    __syncthreads();
    part.log = floe_huffman_heads_log(&coder->heads, nsteps);
    if (part.log == FLOE_HUFFMAN_NO_LIVE)
        return 0;
#pragma unroll 1
    for (uint32_t k = 0; k < FLOE_HUFFMAN_TEAM_STEPS && first + k < nsteps; k++) {
        uint32_t all;
        if (form == FLOE_HUFFMAN_BYTES)
            part.at[k] = floe_huffman_step_codes<Uint, FLOE_HUFFMAN_BYTES>(codes, body, first + k, part.log, nsteps,
                                                                           coder, part.group[k], part.plane[k], &all);
        else
            part.at[k] = floe_huffman_step_codes<Uint, FLOE_HUFFMAN_PLANES>(codes, body, first + k, part.log, nsteps,
                                                                            coder, part.group[k], part.plane[k], &all);
        if (floe_lane() == 0)
            team->step_nbits[first + k] = all;
    }
    __syncthreads();
    const uint32_t nbits = floe_huffman_team_before(team, nsteps);
#pragma unroll 1
    for (uint32_t k = 0; k < FLOE_HUFFMAN_TEAM_STEPS && first + k < nsteps; k++) {
        part.at[k] += floe_huffman_team_before(team, first + k);
        if (part.group[k].begins != FLOE_HUFFMAN_NO_LIVE)
            coder->lane_at[part.group[k].begins] = part.at[k];
    }
    if (threadIdx.x == 0)
        coder->lane_at[1u << part.log] = nbits;
    __syncthreads();
    part.field = floe_huffman_field(coder, part.log, &part.length);
    part.nbits = nbits + floe_huffman_header_nbits(part.log, part.field);
    return (part.nbits + 31) / 32;
}

/* Writes that tile; room has a place for each of its words. The whole block, which is synchronized on return. */
template <class Uint>
FLOE_DEV void floe_huffman_team_write(floe_huffman_codes codes, uint32_t nsteps, floe_huffman_coder *coder,
                                      const floe_huffman_room &room, const floe_huffman_part<Uint> &part)
{
    const uint32_t first = floe_huffman_team_step(), header = floe_huffman_header_nbits(part.log, part.field);
    const bool near = floe_is_shared(room.words) && part.nbits / 32 < room.room;
    for (uint32_t i = threadIdx.x; i < (part.nbits + 31) / 32; i += blockDim.x)
        *floe_huffman_word(room, i) = 0;
    __syncthreads();
#pragma unroll 1
    for (uint32_t k = 0; k < FLOE_HUFFMAN_TEAM_STEPS && first + k < nsteps; k++)
        floe_huffman_step_add<Uint>(codes, room, near, part.group[k], part.plane[k], header + part.at[k]);
    if (threadIdx.x < FLOE_WARP) {
        floe_huffman_head(coder, part.log, part.field, part.length);
        if (threadIdx.x <= header / 32)
            atomicOr(floe_huffman_word(room, threadIdx.x), coder->header[threadIdx.x]);
    }
    __syncthreads();
}

#endif
