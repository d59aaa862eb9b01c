/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a chunk: docs/format/wavelet.md. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_LAYOUT_H
#define FLOE_CODEC_WAVELET_WAVELET_LAYOUT_H

#include "base/try.h"
#include "codec/wavelet/wavelet_bands.h"
#include "codec/wavelet/wavelet_records.h"
#include "stage/lattice/lattice_bytes.h"

/* Sets of marks: what a decoder needs beside the array. */
enum { FLOE_WAVELET_CORRECTIONS = 0, FLOE_WAVELET_VALUE_KINDS = 1, FLOE_WAVELET_MARK_SETS = 2 };

enum {
    FLOE_WAVELET_VERSION = 7,     /* the version that is written; the older ones below are read */
    FLOE_WAVELET_NO_VERSION = 6,  /* none: no single bit turns 7 into a version without checks */
    FLOE_WAVELET_TOGETHER = 5,    /* entropy chunks of a step lie together, with a packet, too */
    FLOE_WAVELET_UNLIFTED = 4,    /* as 5, and encoding of entropy chunks began with FLOE_ANS_LEAST */
    FLOE_WAVELET_TALL_CHUNKS = 3, /* as 4, and entropy chunks have up to 64 rows of a plane */
    FLOE_WAVELET_UNCHECKED = 2,   /* as 3, and there are no checks behind anchors and steps */
    FLOE_WAVELET_LONG_CHUNKS = 1, /* as 2, and entropy chunks are never shorter */
    FLOE_WAVELET_HEADER_NBYTES = 12,
    FLOE_WAVELET_TURNS_AT = 11,
    FLOE_WAVELET_HEADER_MOST = 1024, /* bytes of header and plan, at most */
    FLOE_WAVELET_ANCHOR_BITS = 56,   /* the most bits of an anchor */
    FLOE_WAVELET_PALETTE = 3
};

typedef struct floe_wavelet_chunk {
    floe_lattice_kind kind;
    uint32_t turns;               /* of the axes, as floe_lattice_turns_of */
    bool log, checks;             /* checks: decoder: the chunk has checks */
    uint32_t npalette, ans_begin; /* ans_begin: decoder: the state with which encoding of entropy chunks began */
    bool marked[FLOE_WAVELET_MARK_SETS], differ;  /* differ: kinds are stored as differences along the slowest axis */
    uint32_t shorter[FLOE_WAVELET_MARK_SETS];     /* as in floe_wavelet_coding */
    uint64_t palette[FLOE_WAVELET_PALETTE], base; /* base: the value of a FLAT chunk */
    floe_wavelet_anchors_code anchors;
    floe_wavelet_plan plan;
} floe_wavelet_chunk;

static inline uint64_t floe_wavelet_anchors_nbytes(const floe_wavelet_chunk *c)
{
    return floe_ceil_div(floe_lattice_points(floe_wavelet_anchors(&c->plan)) * c->anchors.nbits, 8);
}
static inline uint64_t floe_wavelet_least(uint32_t rank, const uint64_t *extent)
{
    return floe_lattice_least_nbytes(FLOE_WAVELET_HEADER_NBYTES, rank, extent);
}
static inline uint64_t floe_wavelet_raw_nbytes(uint64_t ncells, bool narrow)
{
    return floe_lattice_values_nbytes(FLOE_WAVELET_HEADER_NBYTES, ncells, narrow);
}

/* The grid of a set of marks. A record has the marks of 7 values along the last axis. */
floe_context_grid floe_wavelet_marks_grid(const uint64_t shape[FLOE_LATTICE_RANK], uint32_t shorter);
/* The records that hold the marks of a box of points. */
floe_context_box floe_wavelet_marks_box(const floe_context_grid *g, const uint64_t shape[FLOE_LATTICE_RANK],
                                        const floe_lattice_box *box);
extern const floe_context_spec floe_wavelet_marks_spec;
static inline uint64_t floe_wavelet_marks_row(const uint64_t shape[FLOE_LATTICE_RANK])
{
    return 8 * floe_ceil_div(shape[3], 7);
}
static inline uint64_t floe_wavelet_marks_nbytes(const uint64_t shape[FLOE_LATTICE_RANK])
{
    const floe_context_grid g = floe_wavelet_marks_grid(shape, 0);
    return 8 * g.size[0] * g.size[1] * g.size[2];
}

/* Bytes of marks from a point to the next one along the slowest axis, which is not the last. */
static inline uint64_t floe_wavelet_marks_apart(const uint64_t shape[FLOE_LATTICE_RANK])
{
    uint64_t rows = 1;
    for (uint32_t a = floe_lattice_slowest(shape) + 1; a < 3; a++)
        rows *= shape[a];
    return rows * floe_wavelet_marks_row(shape);
}

/* Makes kinds of their differences, in place, for the rows of a box that begins with the first point of the slowest axis. */
void floe_wavelet_kinds_restore(const uint64_t shape[FLOE_LATTICE_RANK], const floe_lattice_box *box, int8_t *kinds);

/* Chooses how short the entropy chunks are, of each step by its ncodes, and of corrections. In preset best, and where there are few
 * values, they stay long. */
void floe_wavelet_chunk_shorten(floe_wavelet_chunk *c, floe_preset preset, uint64_t ncorrections);

/* Writes the head up to the anchors. */
void floe_wavelet_header_write(const floe_wavelet_chunk *c, bool narrow, floe_cursor *to);
/* The bytes are untrusted: a plan takes no more memory than the largest one that an encoder makes. The caller has set turns and
 * plan.shape. */
floe_status floe_wavelet_header_read(floe_wavelet_chunk *c, bool narrow, floe_reader *from, floe_error *err);
/* Sets these, too, of a chunk whose first `have` bytes are there. at: out, where anchors begin, or what a chunk of another kind has. */
floe_status floe_wavelet_head_read(const floe_chunk_decode *c, uint64_t have, floe_wavelet_chunk *k, uint64_t *at,
                                   floe_error *err);
/* Where in a chunk its steps are, as far as they have been looked for. sizes of streams are NULL where a step is a list. */
typedef struct floe_wavelet_places {
    uint64_t head[FLOE_WAVELET_STEPS], end[FLOE_WAVELET_STEPS]; /* of each step; of its group, behind the check */
    floe_records_stream streams[FLOE_WAVELET_STEPS];
    uint64_t runs[FLOE_WAVELET_STEPS][FLOE_WAVELET_PACKET + 1]; /* of each step, by floe_wavelet_run.kept */
} floe_wavelet_places;
/* Looks for groups up to that of step `last`, from byte `at` on, behind the anchors and their check; the bytes are untrusted. Returns the end
 * of that group; where the first `have` bytes do not show it, more than `have`: so many are needed at least. */
uint64_t floe_wavelet_places_find(const floe_wavelet_chunk *c, uint32_t last, const uint8_t *src, uint64_t at,
                                  uint64_t have, floe_wavelet_places *places);

#endif
