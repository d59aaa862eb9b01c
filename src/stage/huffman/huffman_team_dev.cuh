/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coding a tile of stage huffman on a GPU by a block: for fields of so few tiles that the latency of one warp that walks
 * through all steps would be all there is. A warp has a few steps, whose bits it puts into words of its own; where they belong
 * follows when all have. The words are those of huffman_code_dev.cuh, whose steps these are.
 *
 *     floe_huffman_team_make(...)        then, where that is not 0, and behind a barrier,
 *     floe_huffman_team_word(...)        for each word
 */
#ifndef FLOE_STAGE_HUFFMAN_TEAM_DEV_CUH
#define FLOE_STAGE_HUFFMAN_TEAM_DEV_CUH

#include "stage/huffman/huffman_code_dev.cuh"

enum {
    FLOE_HUFFMAN_TEAM_WARPS = 4,
    FLOE_HUFFMAN_TEAM_STEPS = FLOE_TILE_STEPS / FLOE_HUFFMAN_TEAM_WARPS,
    /* What a warp's part has at most, of values of so many bits: a symbol and the bits beside it for each, a quad and a
     * header for each group. */
    FLOE_HUFFMAN_TEAM_VALUES = FLOE_HUFFMAN_TEAM_STEPS * FLOE_STEP_VALUES
};
#define FLOE_HUFFMAN_TEAM_PART_WORDS(nbits) \
    (FLOE_HUFFMAN_TEAM_VALUES * (FLOE_HUFFMAN_MAX_LENGTH + (nbits) + 1) / 32 + 1)

/* Shared memory of a block. */
typedef struct floe_huffman_team {
    floe_huffman_coder coder;
    uint32_t part_nbits[FLOE_HUFFMAN_TEAM_WARPS];
    uint32_t header_nbits;
} floe_huffman_team;

FLOE_DEV uint32_t floe_huffman_team_warp() { return threadIdx.x / FLOE_WARP; }

/* Bits of the parts before that of warp w, the header not counted. */
FLOE_DEV uint32_t floe_huffman_team_before(const floe_huffman_team *team, uint32_t w)
{
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t i = 0; i < FLOE_HUFFMAN_TEAM_WARPS; i++)
        sum += i < w ? team->part_nbits[i] : 0;
    return sum;
}

/* The first lanes of the tile that begin in this thread's groups: which they are, or NO_LIVE, and at which bit of the part. */
typedef struct floe_huffman_team_lanes {
    uint32_t begins[FLOE_HUFFMAN_TEAM_STEPS], at[FLOE_HUFFMAN_TEAM_STEPS];
} floe_huffman_team_lanes;

/* Puts the bits of this warp's steps into its room. Returns how many there are. The whole warp. */
template <class Uint, int FORM>
FLOE_DEV uint32_t floe_huffman_team_part(floe_huffman_codes codes, const uint32_t *body, uint32_t nsteps, uint32_t log,
                                         const floe_huffman_coder *coder, const floe_huffman_room &room,
                                         floe_huffman_team_lanes &lanes)
{
    const uint32_t first = floe_huffman_team_warp() * FLOE_HUFFMAN_TEAM_STEPS;
    uint32_t at = 0, all;
#pragma unroll
    for (uint32_t k = 0; k < FLOE_HUFFMAN_TEAM_STEPS; k++)
        lanes.begins[k] = FLOE_HUFFMAN_NO_LIVE;
    floe_huffman_reserve(room, 0, 0);
#pragma unroll 1
    for (uint32_t k = 0; k < FLOE_HUFFMAN_TEAM_STEPS && first + k < nsteps; k++, at += all) {
        floe_huffman_group_codes group;
        uint32_t plane[8 * sizeof(Uint)];
        const uint32_t before =
            floe_huffman_step_codes<Uint, FORM>(codes, body, first + k, log, nsteps, coder, group, plane, &all);
        const uint32_t end = (at + all) / 32;
        floe_huffman_reserve(room, at / 32 + 1, end);
#pragma unroll
        for (uint32_t i = 0; i < FLOE_HUFFMAN_TEAM_STEPS; i++)
            if (i == k) { /* so that they stay in registers */
                lanes.begins[i] = group.begins;
                lanes.at[i] = at + before;
            }
        floe_huffman_step_add<Uint>(codes, room, end < room.room, group, plane, at + before);
    }
    return at;
}

/* The same of a body of stage pack. */
template <class Uint>
FLOE_DEV_SELDOM uint32_t floe_huffman_team_part_of_planes(floe_huffman_codes codes, const uint32_t *body,
                                                          uint32_t nsteps, uint32_t log,
                                                          const floe_huffman_coder *coder, floe_huffman_room room,
                                                          floe_huffman_team_lanes &lanes)
{
    return floe_huffman_team_part<Uint, FLOE_HUFFMAN_PLANES>(codes, body, nsteps, log, coder, room, lanes);
}

/* Makes the parts of all warps. heads.present is set, and the block synchronized. body: of that form. room: this warp's, which
 * begins in shared memory and has a place for all that a part may have. Returns the words of the tile, 0 without a live group.
 * The whole block. */
template <class Uint>
FLOE_DEV uint32_t floe_huffman_team_make(floe_huffman_codes codes, const uint32_t *body, uint32_t nsteps,
                                         floe_huffman_form form, floe_huffman_team *team, const floe_huffman_room &room)
{
    floe_huffman_coder *coder = &team->coder;
    floe_huffman_team_lanes lanes;
    uint32_t nbits, length;
    if (floe_huffman_team_warp() == 0) {
        if (form == FLOE_HUFFMAN_BYTES)
            floe_huffman_open_body<FLOE_HUFFMAN_BYTES>(body, nsteps, coder);
        else
            floe_huffman_open_body<FLOE_HUFFMAN_PLANES>(body, nsteps, coder);
    }
    __syncthreads();
    const uint32_t log = floe_huffman_heads_log(&coder->heads, nsteps);
    if (log == FLOE_HUFFMAN_NO_LIVE)
        return 0;
    if (form == FLOE_HUFFMAN_BYTES) {
        nbits = floe_huffman_team_part<Uint, FLOE_HUFFMAN_BYTES>(codes, body, nsteps, log, coder, room, lanes);
    } else { /* what a call refers to lies in memory: a copy does */
        floe_huffman_team_lanes of_call;
        nbits = floe_huffman_team_part_of_planes<Uint>(codes, body, nsteps, log, coder, room, of_call);
        lanes = of_call;
    }
    if (floe_lane() == 0)
        team->part_nbits[floe_huffman_team_warp()] = nbits;
    __syncthreads();
    const uint32_t before = floe_huffman_team_before(team, floe_huffman_team_warp());
    const uint32_t all = floe_huffman_team_before(team, FLOE_HUFFMAN_TEAM_WARPS);
#pragma unroll
    for (uint32_t k = 0; k < FLOE_HUFFMAN_TEAM_STEPS; k++)
        if (lanes.begins[k] != FLOE_HUFFMAN_NO_LIVE)
            coder->lane_at[lanes.begins[k]] = before + lanes.at[k];
    if (threadIdx.x == 0)
        coder->lane_at[1u << log] = all;
    __syncthreads();
    const uint32_t field = floe_huffman_field(coder, log, &length), header = floe_huffman_header_nbits(log, field);
    if (floe_huffman_team_warp() == 0) {
        floe_huffman_head(coder, log, field, length);
        if (floe_lane() == 0)
            team->header_nbits = header;
    }
    return (header + all + 31) / 32;
}

/* Word i of that tile. rooms: of warp 0; that of another one begins so many words behind it for each before: in shared memory
 * room.room, in device memory `spill`. */
FLOE_DEV uint32_t floe_huffman_team_word(const floe_huffman_team *team, const floe_huffman_room &rooms, uint32_t spill,
                                         uint32_t i)
{
    uint32_t word = i <= team->header_nbits / 32 ? team->coder.header[i] : 0, begin = team->header_nbits;
#pragma unroll
    for (uint32_t w = 0; w < FLOE_HUFFMAN_TEAM_WARPS; w++) {
        const uint32_t nbits = team->part_nbits[w], nwords = (nbits + 31) / 32;
        const floe_huffman_room room = {rooms.words + w * rooms.room, rooms.spill + w * spill, rooms.room, rooms.limit};
        if (32 * i + 32 > begin && 32 * i < begin + nbits) {
            const int32_t from = (int32_t)(32 * i - begin); /* above -32 */
            const uint32_t k = (uint32_t)(from >> 5);       /* all ones where the word begins before the part */
            const uint32_t low = k < nwords ? *floe_huffman_word(room, k) : 0;
            const uint32_t high = k + 1 < nwords ? *floe_huffman_word(room, k + 1) : 0;
            word |= __funnelshift_r(low, high, (uint32_t)from % 32);
        }
        begin += nbits;
    }
    return word;
}

#endif
