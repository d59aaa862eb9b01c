/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a chunk: docs/format/wavelet.md. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_LAYOUT_H
#define FLOE_CODEC_WAVELET_WAVELET_LAYOUT_H

#include "base/try.h"
#include "codec/wavelet/wavelet_bands.h"
#include "codec/wavelet/wavelet_records.h"
#include "stage/interp/interp_bytes.h"

/* Sets of marks: what the array does not give. */
enum { FLOE_WAVELET_CORRECTIONS = 0, FLOE_WAVELET_VALUE_KINDS = 1, FLOE_WAVELET_MARK_SETS = 2 };

enum {
    FLOE_WAVELET_VERSION = 5,     /* that is written */
    FLOE_WAVELET_UNLIFTED = 4,    /* states of entropy chunks are not lifted; read, too */
    FLOE_WAVELET_TALL_CHUNKS = 3, /* and chunks have 64 rows of a plane */
    FLOE_WAVELET_UNCHECKED = 2,   /* and without checks behind anchors and steps */
    FLOE_WAVELET_LONG_CHUNKS = 1, /* nor are entropy chunks shorter */
    FLOE_WAVELET_HEADER_NBYTES = 12,
    FLOE_WAVELET_ANCHOR_BITS = 56, /* at most */
    FLOE_WAVELET_PALETTE = 3
};

typedef struct floe_wavelet_chunk {
    floe_interp_kind kind;
    bool log, checks;             /* checks: writers make them */
    uint32_t npalette, ans_begin; /* ans_begin: decoder: states with which encoding of entropy chunks began */
    bool marked[FLOE_WAVELET_MARK_SETS], differ;  /* differ: kinds are differences along the slowest axis */
    uint32_t shorter[FLOE_WAVELET_MARK_SETS];     /* as that of floe_wavelet_coding */
    uint64_t palette[FLOE_WAVELET_PALETTE], base; /* base: FLAT */
    floe_wavelet_anchors_code anchors;
    floe_wavelet_plan plan;
} floe_wavelet_chunk;

static inline uint64_t floe_wavelet_least(uint32_t rank, const uint64_t *extent)
{
    return floe_interp_least_nbytes(FLOE_WAVELET_HEADER_NBYTES, rank, extent);
}
static inline uint64_t floe_wavelet_raw_nbytes(uint64_t ncells, bool narrow)
{
    return floe_interp_values_nbytes(FLOE_WAVELET_HEADER_NBYTES, ncells, narrow);
}

/* Grid of a set of marks, whose records have 7 values along the last axis each. */
floe_context_grid floe_wavelet_marks_grid(const uint64_t shape[FLOE_INTERP_RANK], uint32_t shorter);
/* Records of a box of points, 7 of a row each. */
floe_context_box floe_wavelet_marks_box(const floe_context_grid *g, const uint64_t shape[FLOE_INTERP_RANK],
                                        const floe_interp_box *box);
extern const floe_context_spec floe_wavelet_marks_spec;
static inline uint64_t floe_wavelet_marks_row(const uint64_t shape[FLOE_INTERP_RANK])
{
    return 8 * floe_ceil_div(shape[3], 7);
}
static inline uint64_t floe_wavelet_marks_nbytes(const uint64_t shape[FLOE_INTERP_RANK])
{
    const floe_context_grid g = floe_wavelet_marks_grid(shape, 0);
    return 8 * g.size[0] * g.size[1] * g.size[2];
}

/* Bytes of marks from a point to the next one along the slowest axis, which is not the last. */
static inline uint64_t floe_wavelet_marks_apart(const uint64_t shape[FLOE_INTERP_RANK])
{
    uint64_t rows = 1;
    for (uint32_t a = floe_interp_slowest(shape) + 1; a < 3; a++)
        rows *= shape[a];
    return rows * floe_wavelet_marks_row(shape);
}

/* Kinds of differences. */
void floe_wavelet_kinds_restore(const uint64_t shape[FLOE_INTERP_RANK], int8_t *kinds);

/* Except in preset best, and where there are few values: entropy chunks of steps, by ncodes of each, and of corrections become shorter. */
void floe_wavelet_chunk_shorten(floe_wavelet_chunk *c, floe_preset preset, uint64_t ncorrections);

/* Up to the anchors. */
void floe_wavelet_header_write(const floe_wavelet_chunk *c, bool narrow, floe_cursor *to);
/* Untrusted. plan.shape must be there. */
floe_status floe_wavelet_header_read(floe_wavelet_chunk *c, bool narrow, floe_reader *from, floe_error *err);
/* The plan is untrusted: nothing may take more than the largest that a writer chooses. */
bool floe_wavelet_is_within(const floe_wavelet_chunk *c, const floe_wavelet_needs *needs);

#endif
