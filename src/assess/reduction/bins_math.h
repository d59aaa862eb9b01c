/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bins for values whose range is not known yet.
 *
 * Linear bins have a width of 2^exponent, the least that fits all values into the bins there are, and begin at whole
 * multiples of it. So counts made with narrower bins can be brought to wider ones by adding neighbours up, and it does not
 * matter how often that happened: the result depends on the values only. No bin is narrower than 2^-50 times
 * the largest value.
 *
 * Logarithmic bins, for ratios, are found by the exponent and the first bits of the fraction.
 */
#ifndef FLOE_ASSESS_BINS_MATH_H
#define FLOE_ASSESS_BINS_MATH_H

#include <math.h>

#include "base/hd.h"

/* ---- linear ------------------------------------------------------------------------------------------------------- */

/* Bin i holds v with first + i <= v / 2^exponent < first + i + 1. */
typedef struct floe_bins_frame {
    int32_t exponent;
    uint32_t nbins; /* 0: no value yet */
    int64_t first;
} floe_bins_frame;

enum {
    FLOE_BINS_LEAST_EXPONENT = -1000, /* so that 2^-exponent is a double, too */
    FLOE_BINS_BITS = 50               /* of a value in widths of a bin: it can be rounded down by adding 1.5 * 2^52 */
};

/* 2^k for -1022 <= k <= 1023. */
FLOE_HD double floe_bins_power(int32_t k) { return floe_f64_of((uint64_t)(k + 1023) << 52); }

/* The k of 2^k <= |v| < 2^(k + 1); that of the least normal number for what is less. */
FLOE_HD int32_t floe_bins_exponent_of(double v)
{
    const int32_t k = (int32_t)(floe_bits_f64(v) >> 52 & 0x7ff);
    return (k ? k : 1) - 1023;
}

/* v in widths of a bin, rounded down. v * 2^-exponent is exact unless it falls below the normal numbers, where only its
 * sign counts; it may even become 0. */
FLOE_HD int64_t floe_bins_index(double v, double per_width)
{
    const double widths = v * per_width;
    return (int64_t)floor(widths) - (widths == 0 && v < 0);
}

/* The frame of the values low <= high, of at most `most` bins, and 64 or more. What is infinite has no bin: it is counted where
 * 0 is, so a frame that has to do with it holds 0, too. */
FLOE_HD floe_bins_frame floe_bins_frame_of(double low, double high, uint32_t most)
{
    const double finite = floe_f64_of(0x7fefffffffffffffu);
    floe_bins_frame f;
    if (fabs(low) > finite || fabs(high) > finite) {
        low = low < -finite ? -finite : low < 0 ? low : 0;
        high = high > finite ? finite : high > 0 ? high : 0;
    }
    const double largest = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    if (largest == 0) {
        f.exponent = 0, f.nbins = 1, f.first = 0;
        return f;
    }
    /* Where low and high differ, no width of less than a quarter of the fair one will do. */
    const double fair = high / most - low / most;
    int32_t k = floe_bins_exponent_of(largest) - FLOE_BINS_BITS;
    if (fair > 0 && floe_bins_exponent_of(fair) - 1 > k)
        k = floe_bins_exponent_of(fair) - 1;
    k = k > FLOE_BINS_LEAST_EXPONENT ? k : FLOE_BINS_LEAST_EXPONENT;
    for (;; k++) {
        const double per_width = floe_bins_power(-k);
        const int64_t first = floe_bins_index(low, per_width), last = floe_bins_index(high, per_width);
        if (last - first < (int64_t)most) {
            f.exponent = k, f.nbins = (uint32_t)(last - first + 1), f.first = first;
            return f;
        }
    }
}

/* The bin of `to` that bin i of `from` falls into; to is the frame of all that from has, and more. Only the frame of
 * nothing but zeros can be the wider one. */
FLOE_HD int64_t floe_bins_move(const floe_bins_frame *from, int64_t i, const floe_bins_frame *to)
{
    const int32_t wider = to->exponent - from->exponent;
    const int64_t at = wider < 0 ? 0 : from->first + i;
    return (wider > 62 ? (at < 0 ? -1 : 0) : wider > 0 ? at >> wider : at) - to->first; /* >> rounds down */
}

/* ---- logarithmic -------------------------------------------------------------------------------------------------- */

enum { FLOE_LOG_BINS_LEAST = -48, FLOE_LOG_BINS_OCTAVES = 64 }; /* from 2^-48 to 2^16 */

/* The bits of the fraction that make a bin, with at most `most` bins; most >= FLOE_LOG_BINS_OCTAVES. */
FLOE_HD uint32_t floe_log_bins_bits(uint32_t most) { return floe_top_bit(most / FLOE_LOG_BINS_OCTAVES); }

FLOE_HD uint32_t floe_log_bins_count(uint32_t nbits) { return (uint32_t)FLOE_LOG_BINS_OCTAVES << nbits; }

/* ratio >= 0; at the ends of the bins lies all that is beyond them. */
FLOE_HD uint32_t floe_log_bins_f32(float ratio, uint32_t nbits)
{
    const int32_t i = (int32_t)(floe_bits_f32(ratio) >> (23 - nbits)) - ((FLOE_LOG_BINS_LEAST + 127) << nbits);
    const int32_t last = (FLOE_LOG_BINS_OCTAVES << nbits) - 1;
    return (uint32_t)(i < 0 ? 0 : i > last ? last : i);
}
FLOE_HD uint32_t floe_log_bins_f64(double ratio, uint32_t nbits)
{
    const int32_t i = (int32_t)(floe_bits_f64(ratio) >> (52 - nbits)) - ((FLOE_LOG_BINS_LEAST + 1023) << nbits);
    const int32_t last = (FLOE_LOG_BINS_OCTAVES << nbits) - 1;
    return (uint32_t)(i < 0 ? 0 : i > last ? last : i);
}

#endif
