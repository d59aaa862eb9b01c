/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids of records as bytes: entropy chunks, or, where few codes are not 0, a list of them. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_RECORDS_H
#define FLOE_CODEC_WAVELET_WAVELET_RECORDS_H

#include "codec/wavelet/wavelet_records_math.h"
#include "stage/interp/interp.h"
#include "stage/interp/interp_entropy.h"

/* Bits that the records would take: in whole numbers, so that they are the same wherever they are found. list: whether that is as a
 * list. counts: FLOE_CONTEXT_COUNTS, of the symbols of chunks; of a list 0. */
uint64_t floe_wavelet_records_bits(const floe_interp_entropy *e, const floe_interp_records *r, uint32_t *counts,
                                   bool *list);

typedef struct floe_wavelet_records_way {
    bool list;
    const floe_context_tables *tables; /* of chunks */
    bool own;                          /* tables are written, too; else the reader has them */
    const uint8_t *base;               /* chunks begin at multiples of 4 from there */
} floe_wavelet_records_way;
void floe_wavelet_records_write(const floe_interp_entropy *e, const floe_interp_records *r,
                                const floe_wavelet_records_way *way, floe_cursor *to);

typedef struct floe_wavelet_records_wanted {
    floe_context_tables *tables; /* of the records before; become those of these, where they have some */
    const uint8_t *base;
    const floe_context_box *parts; /* what is wanted of the records; others are undefined */
    uint32_t nparts, ans_begin;    /* states with which encoding began */
} floe_wavelet_records_wanted;
/* Untrusted. */
bool floe_wavelet_records_read(const floe_interp_entropy *e, const floe_interp_records *r,
                               const floe_wavelet_records_wanted *wanted, floe_reader *from);

/* Where records end that begin at byte `at` of base, by its first `have` bytes: above that it takes so many at least. */
uint64_t floe_wavelet_records_end(const floe_interp_records *r, const uint8_t *base, uint64_t at, uint64_t have);

#endif
