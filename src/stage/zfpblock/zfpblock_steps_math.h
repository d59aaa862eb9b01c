/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups of a bit plane (zfpblock_math.h) several bits at a time: what a table says that is looked up by the next bits.
 *
 * Between two bits a reader is in front of a group, or in its run of zeros. In front: 0 ends the plane, 1 begins a run. In a
 * run: 0 is a coefficient's, 1 is one's too and ends the run.
 */
#ifndef FLOE_STAGE_ZFPBLOCK_STEPS_MATH_H
#define FLOE_STAGE_ZFPBLOCK_STEPS_MATH_H

#include "base/hd.h"

enum {
    FLOE_ZFP_STEP_BITS = 8,                         /* bits that are looked at, at most */
    FLOE_ZFP_STEP_KEYS = 2 << FLOE_ZFP_STEP_BITS,   /* up to 8 bits with a 1 above them, which says how many they are */
    FLOE_ZFP_STEP_TABLE = 2 * FLOE_ZFP_STEP_KEYS,   /* in front of a group; in a run */
    FLOE_ZFP_SPREAD_TABLE = 1 << FLOE_ZFP_STEP_BITS /* by bits of coefficients */
};

/* Fields of a step: the coefficients' bits, from bit 0 on; how many there are; how many bits were read; what comes next. */
#define FLOE_ZFP_STEP_NCOEFS(step) ((step) >> 8 & 15)
#define FLOE_ZFP_STEP_NBITS(step)  ((step) >> 12 & 15)
#define FLOE_ZFP_STEP_IN_RUN(step) ((step) >> 16 & 1)
#define FLOE_ZFP_STEP_ENDED(step)  ((step) >> 17) /* the plane */

/* The step for a key: FLOE_ZFP_STEP_KEYS if in a run, plus the next bits with a 1 above them. */
FLOE_HD uint32_t floe_zfp_step(uint32_t key)
{
    uint32_t in_run = key / FLOE_ZFP_STEP_KEYS, bits = key % FLOE_ZFP_STEP_KEYS;
    uint32_t coefs = 0, ncoefs = 0, nbits = 0, ended = 0;
    for (; bits > 1 && !ended; bits >>= 1, nbits++) {
        const uint32_t bit = bits & 1;
        if (in_run) {
            coefs |= bit << ncoefs++;
            in_run = !bit;
        } else {
            in_run = bit;
            ended = !bit;
        }
    }
    return coefs | ncoefs << 8 | nbits << 12 | in_run << 16 | ended << 17;
}

/* The way back, for 8 coefficients behind the first 1 of a plane: each as it is, and behind each one a 1, for there is more to
 * come. Bits: 8 and one more for each coefficient that is one. */
FLOE_HD uint32_t floe_zfp_spread(uint32_t coefs)
{
    uint32_t bits = 0, nbits = 0;
    for (uint32_t i = 0; i < FLOE_ZFP_STEP_BITS; i++) {
        const uint32_t one = coefs >> i & 1;
        bits |= (one ? 3u : 0u) << nbits;
        nbits += 1 + one;
    }
    return bits;
}

#endif
