/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of values before and after zfp, by element type and instruction set: what zfp must not see, and what it missed. */
#ifndef FLOE_CODEC_ZFP_CHUNK_ZFP_EXACT_H
#define FLOE_CODEC_ZFP_CHUNK_ZFP_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include <floe/floe.h>

#include "codec/codec.h"

/* Values that must come back bit for bit besides NaN, infinities and -0, of which integers have none. */
typedef struct floe_zfp_promise {
    double tolerance; /* a difference of doubles, rounded, that is not above this is within the bound */
    bool has_fill;
    uint64_t fill_bits;
} floe_zfp_promise;

typedef struct floe_zfp_exact_ops {
    /* n values, `step` elements apart -> dst, without gaps. Where zfp would suffer from one (not finite, or fill), the last
     * good one stands in its place; *good: its bits, before and after. Returns how many that are. */
    uint64_t (*clean)(const floe_zfp_promise *promise, const void *src, int64_t step, uint64_t n, void *dst,
                      uint64_t *good);
    /* Bit i of the result: value i of n (at most 64) did not come back as it must. src: the original values, `step` elements
     * apart; back: contiguous. *worst: raised to the largest |x - y| of the others, if finite. */
    uint64_t (*misses)(const floe_zfp_promise *promise, const void *src, int64_t step, uint64_t n, const void *back,
                       double *worst);
} floe_zfp_exact_ops;

const floe_zfp_exact_ops *floe_zfp_exact_ops_of(floe_dtype dtype, floe_isa isa);

/* What these parameters promise, with the tolerance that is safe for their bound. Where they have none (rate, prec) all errors
 * are right as long as finite values stay finite. */
floe_zfp_promise floe_zfp_promise_of(const floe_codec_params *params);

#endif
