/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids of records <-> bytes: entropy chunks, or a list of the codes that are not 0 where these are few. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_RECORDS_H
#define FLOE_CODEC_WAVELET_WAVELET_RECORDS_H

#include "codec/wavelet/wavelet_records_math.h"
#include "stage/lattice/lattice.h"
#include "stage/records/records.h"

/* The bits that the records would take, by whole numbers, so that all machines find the same. *list: a list is the shorter form.
 * counts: FLOE_CONTEXT_COUNTS counts of the chunks' symbols; 0 for a list. */
uint64_t floe_wavelet_records_bits(const floe_records_coder *e, const floe_records *r, uint32_t *counts, bool *list);

typedef struct floe_wavelet_records_way {
    bool list;
    const floe_context_tables *tables; /* for chunks */
    bool own;                          /* the tables are written, too; otherwise a reader has them already */
    const uint8_t *base;               /* chunks begin at multiples of 4 bytes from here */
} floe_wavelet_records_way;
/* A list, or what stands before the chunks: floe_records_encode writes these, and with *sizes their sizes. sizes->wide is the caller's. */
void floe_wavelet_records_begin(const floe_records *r, const floe_wavelet_records_way *way, floe_records_sizes *sizes,
                                floe_cursor *to);

typedef struct floe_wavelet_records_wanted {
    floe_context_tables *tables; /* those of the records before; replaced where these records have their own */
    const uint8_t *base;
    const floe_context_box *parts; /* boxes of the records that are requested; others are undefined */
    uint32_t nparts, ans_begin;    /* ans_begin: the state with which encoding began */
} floe_wavelet_records_wanted;
/* A list, or what stands before the chunks, for floe_records_decode; the bytes are untrusted. Returns false where they are damaged.
 * stream: sizes are set, NULL with a list. */
bool floe_wavelet_records_open(const floe_records_coder *e, const floe_records *r,
                               const floe_wavelet_records_wanted *wanted, floe_records_stream *stream,
                               floe_reader *from);

/* Where the list that begins at byte `at` of base ends, or where its chunks begin; stream as above. Where the first `have` bytes do not
 * show it, returns more than `have`: so many bytes are needed at least. */
uint64_t floe_wavelet_records_find(const floe_records *r, const uint8_t *base, uint64_t at, uint64_t have,
                                   floe_records_stream *stream);
/* The same, of the end of all chunks. */
uint64_t floe_wavelet_records_end(const floe_records *r, const uint8_t *base, uint64_t at, uint64_t have);

#endif
