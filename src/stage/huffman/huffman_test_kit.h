/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers for the tests of stage huffman. */
#ifndef FLOE_STAGE_HUFFMAN_TEST_KIT_H
#define FLOE_STAGE_HUFFMAN_TEST_KIT_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 0 to n - 1; of none 0. */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((random_next(state) >> 32) * n >> 32);
}

#endif
