/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage huffman on a GPU against the CPU, tile by tile: counting, coding, decoding, damaged tiles. Per element type, in
 * huffman_tile_real_cuda.cu. */
#ifndef FLOE_TESTS_HUFFMAN_TILE_TRIAL_H
#define FLOE_TESTS_HUFFMAN_TILE_TRIAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both return NULL, or what differs. Tiles are made from the seed. */
const char *floe_huffman_trial_f32(uint64_t seed);
const char *floe_huffman_trial_f64(uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
