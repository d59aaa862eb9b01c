/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting the symbols of a tile of stage huffman on a GPU from its body, of our own making. A warp owns a tile, a lane a
 * group of each step.
 */
#ifndef FLOE_STAGE_HUFFMAN_COUNT_DEV_CUH
#define FLOE_STAGE_HUFFMAN_COUNT_DEV_CUH

#include "stage/huffman/huffman_code_dev.cuh"

/* A group of more than 8 bits. */
template <class Uint> FLOE_DEV_COLD void floe_huffman_wide_count(uint32_t *bins, uint32_t width, const uint32_t *plane)
{
    uint32_t *of_width = bins + floe_huffman_bin(floe_huffman_value_table(width));
    for (uint32_t k = 0; k < FLOE_GROUP_VALUES / 8; k++) {
        Uint value[8];
        floe_huffman_wide_values(plane, width, k, value);
#pragma unroll
        for (int i = 0; i < 8; i++)
            atomicAdd(&of_width[floe_huffman_wide_symbol(value[i], floe_huffman_wide_raw_of(value[i]))], 1u);
    }
}

/* One of 9..16 bits. */
FLOE_DEV void floe_huffman_medium_count(uint32_t *bins, uint32_t width, const uint32_t low[8], const uint32_t high[8])
{
    uint32_t *of_width = floe_in_shared(bins + floe_huffman_bin(floe_huffman_value_table(width)));
    floe_huffman_medium_values(low, high, [&](int, uint32_t value) {
        atomicAdd(&of_width[floe_huffman_wide_symbol(value, floe_huffman_wide_raw_of(value))], 1u);
    });
}

/* Adds the symbols of this lane's group in a step to bins, which the block shares. from: where the step begins in a body of
 * that form. The whole warp. */
template <class Uint, int FORM>
FLOE_DEV void floe_huffman_count_step(uint32_t *bins, const uint32_t *from, uint32_t width)
{
    const uint32_t most = __reduce_max_sync(FLOE_ALL_LANES, width);
    uint32_t symbols[8];
    from = floe_huffman_find_symbols<FORM>(from, width, most, symbols);
    if (most > FLOE_HUFFMAN_NARROW && most <= 16) {
        uint32_t high[8];
        floe_huffman_eight_planes<8>(from, width, most, high);
        if (width > FLOE_HUFFMAN_NARROW)
            floe_huffman_medium_count(bins, width, symbols, high);
    } else if (most > FLOE_HUFFMAN_NARROW) {
        uint32_t wide[8 * sizeof(Uint)];
        floe_huffman_all_planes(from, width, most, symbols, wide);
        if (width > FLOE_HUFFMAN_NARROW)
            floe_huffman_wide_count<Uint>(bins, width, wide);
    }
    if (width > 0 && width <= FLOE_HUFFMAN_NARROW)
        floe_symbols_count(bins, width, symbols);
}

/* The same of a tile. heads.present is set and synchronized; body: of that form. The whole warp. */
template <class Uint, int FORM>
FLOE_DEV void floe_huffman_count_tile(uint32_t *bins, const uint32_t *body, uint32_t nsteps, floe_huffman_coder *coder)
{
    floe_huffman_open_body<FORM>(body, nsteps, coder);
    if (!floe_huffman_count_heads(bins, &coder->heads, nsteps, floe_lane(), FLOE_WARP))
        return;
#pragma unroll 1
    for (uint32_t s = 0; s < nsteps; s++)
        floe_huffman_count_step<Uint, FORM>(bins, body + coder->planes_at[s],
                                            coder->heads.width[s * FLOE_STEP_GROUPS + floe_lane()]);
}

#endif
