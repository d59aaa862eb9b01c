/* SPDX-License-Identifier: BSD-3-Clause */
/* How records of a grid begin, for both compilers. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_RECORDS_MATH_H
#define FLOE_CODEC_WAVELET_WAVELET_RECORDS_MATH_H

#include "base/hd.h"

enum {
    FLOE_WAVELET_RECORDS_WIDE = 1 /* sizes take 4 bytes, not 2 */,
    FLOE_WAVELET_RECORDS_TABLES = 2,
    FLOE_WAVELET_RECORDS_LIST = 4,
    FLOE_WAVELET_LIST_HEAD_BITS = 48
};

/* Low bits of a gap of a list. */
FLOE_HD uint32_t floe_wavelet_list_low(uint64_t ncodes, uint64_t count)
{
    return count ? floe_top_bit(ncodes / count) : 0;
}

#endif
