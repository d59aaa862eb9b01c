/* SPDX-License-Identifier: BSD-3-Clause */
/* Bits into memory and back, the first bit of a byte lowest. */
#ifndef FLOE_STAGE_ZFPBLOCK_BITS_H
#define FLOE_STAGE_ZFPBLOCK_BITS_H

#include "base/bytes.h"
#include "base/hd.h"

/* ---- writing --------------------------------------------------------------------------------------------------------- */

enum { FLOE_ZFP_PUT_MAX = 56 }; /* bits at a time: with 7 that are pending, fewer than 64 */

/* Memory always holds all that was put, and up to 7 bytes behind it have been written to. */
typedef struct floe_zfp_writer {
    uint8_t *base, *at;
    uint64_t pending; /* bits that do not yet fill a byte */
    uint32_t fill;    /* how many: 0 to 7 */
} floe_zfp_writer;

FLOE_HD uint64_t floe_zfp_written(const floe_zfp_writer *w) { return 8 * (uint64_t)(w->at - w->base) + w->fill; }

/* The low n bits of v, which has no others; n is at most FLOE_ZFP_PUT_MAX. */
FLOE_HD void floe_zfp_put(floe_zfp_writer *w, uint64_t v, uint32_t n)
{
    w->pending |= v << w->fill;
    floe_store64(w->at, w->pending);
    w->fill += n;
    w->at += w->fill >> 3;
    w->pending >>= w->fill & 56;
    w->fill &= 7;
}
/* The same for n up to 64. */
FLOE_HD void floe_zfp_put_long(floe_zfp_writer *w, uint64_t v, uint32_t n)
{
    if (n > FLOE_ZFP_PUT_MAX) {
        floe_zfp_put(w, v & 0xFFFFFFFFu, 32);
        v >>= 32;
        n -= 32;
    }
    floe_zfp_put(w, v, n);
}
FLOE_HD void floe_zfp_put_zeros(floe_zfp_writer *w, uint64_t n)
{
    for (; n > FLOE_ZFP_PUT_MAX; n -= FLOE_ZFP_PUT_MAX)
        floe_zfp_put(w, 0, FLOE_ZFP_PUT_MAX);
    floe_zfp_put(w, 0, (uint32_t)n);
}
/* Back to bit `at`, which has been written. */
FLOE_HD void floe_zfp_rewind(floe_zfp_writer *w, uint64_t at)
{
    w->at = w->base + at / 8;
    w->fill = (uint32_t)(at % 8);
    w->pending = *w->at & ((1u << w->fill) - 1);
}

/* ---- reading --------------------------------------------------------------------------------------------------------- */

/* The next 57 bits or more from bit `at`, lowest first; reads 8 bytes. */
FLOE_HD uint64_t floe_zfp_window(const uint8_t *src, uint64_t at) { return floe_load64(src + at / 8) >> at % 8; }
enum { FLOE_ZFP_WINDOW = 57 };

/* n bits (at most 64) from bit `at`; reads up to 9 bytes. */
FLOE_HD uint64_t floe_zfp_get(const uint8_t *src, uint64_t at, uint32_t n)
{
    uint64_t v = floe_zfp_window(src, at);
    if (n > FLOE_ZFP_WINDOW)
        v |= floe_zfp_window(src, at + 32) << 32;
    return n < 64 ? v & (((uint64_t)1 << n) - 1) : v;
}

#endif
