/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage huffman, the part that depends on the element type: one tile to words and back. See huffman.h.
 *
 * Contract of the steps handed in: width[g] is exact, width[g] and flat are 0 where group g is not present, width[g] is
 * at most FLOE_REAL_BITS. Counting and coding look at the same steps. A tile in which no group is live takes no words.
 */
#ifndef FLOE_STAGE_HUFFMAN_TILE_H
#define FLOE_STAGE_HUFFMAN_TILE_H

#include "base/real.h"
#include "stage/huffman/huffman.h"
#include "stage/tile/step.h"

enum {
    /* Words that encode_tile may touch for a full tile: 8192 values of a code and REAL_BITS - 3 raw bits, a code for each
     * group and each quad, 1024 bits of tile header, 256 bits for stores that run ahead. */
    FLOE_HUFFMAN_TILE_WORDS = (FLOE_TILE_VALUES * (FLOE_HUFFMAN_MAX_LENGTH + FLOE_REAL_BITS - 3) +
                               (FLOE_TILE_GROUPS + FLOE_TILE_GROUPS / 4) * FLOE_HUFFMAN_MAX_LENGTH + 1024 + 256 + 31) /
                              32
};

/* Adds the symbols of a tile to hist. nsteps: 1..8. */
void FLOE_V(floe_huffman_count_tile)(floe_huffman_hist *hist, const floe_step *steps, uint32_t nsteps);

/* Codes a tile with a book whose histogram counted it. words: room for FLOE_HUFFMAN_TILE_WORDS; what stands behind the
 * words returned is undefined. Returns the words of the tile, 0 for a tile without a live group. */
size_t FLOE_V(floe_huffman_encode_tile)(const floe_huffman_book *book, const floe_step *steps, uint32_t nsteps,
                                        uint32_t *words);

/* Decodes a tile of exactly nwords untrusted words. steps[0..nsteps).present must be set and is kept; flat, width and residual
 * are filled, whether or not it fails. Reads nothing outside words[0..nwords). */
floe_status FLOE_V(floe_huffman_decode_tile)(const floe_huffman_decoder *decoder, const uint32_t *words, size_t nwords,
                                             floe_step *steps, uint32_t nsteps, floe_error *err);

#endif
