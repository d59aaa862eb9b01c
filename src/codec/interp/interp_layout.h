/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a chunk: docs/format/interp.md. */
#ifndef FLOE_CODEC_INTERP_INTERP_LAYOUT_H
#define FLOE_CODEC_INTERP_INTERP_LAYOUT_H

#include "base/try.h"
#include "codec/interp/interp_plan.h"
#include "stage/lattice/lattice_bytes.h"

typedef enum floe_interp_set_kind {
    FLOE_INTERP_SET_EMPTY = 0,
    FLOE_INTERP_SET_LIST = 1, /* a list of positions */
    FLOE_INTERP_SET_MASK = 2, /* a bit for each value, coded by stage context */
    FLOE_INTERP_SET_KINDS = 3
} floe_interp_set_kind;

typedef struct floe_interp_set {
    floe_interp_set_kind kind;
    uint32_t axes; /* MASK: where bit a is set, the bits are differences along axis a of the shape */
} floe_interp_set;

enum {
    FLOE_INTERP_VERSION = 4,   /* the version that is written; the older ones below are read */
    FLOE_INTERP_UNLIFTED = 3,  /* encoding of entropy chunks began with FLOE_ANS_LEAST */
    FLOE_INTERP_UNCHECKED = 2, /* as 3, and entropy chunks have no checks */
    FLOE_INTERP_MASK_ROWS = 1024,
    FLOE_INTERP_MASK_SAMPLE = 64, /* entropy chunks of a mask by which differences along axes are chosen */
    /* A set is a list where the chunk has fewer values than LIST_LEAST, or the set fewer than an n-th of them. */
    FLOE_INTERP_LIST_CELLS = 128,
    FLOE_INTERP_LIST_LEAST = 512,
    FLOE_INTERP_LITERAL_CELLS = 4 /* a chunk is raw if more than an n-th of its values are literals */
};

typedef struct floe_interp_chunk {
    floe_lattice_kind kind;
    uint32_t turns;               /* of the axes, as floe_lattice_turns_of */
    bool log, wide_sizes, checks; /* checks: entropy chunks have checks; always set by an encoder */
    uint32_t ans_begin;           /* decoder: the state with which encoding of entropy chunks began */
    floe_interp_set sets[FLOE_INTERP_SETS];
    uint64_t palette[FLOE_INTERP_PALETTE], base; /* base: the value of a FLAT chunk */
    floe_interp_plan plan;
    const uint8_t *anchors, *apart; /* decoder: where anchors and values apart begin in the stream; tables follow */
    uint64_t apart_nbytes;
    uint32_t check;
} floe_interp_chunk;

/* Bytes in the head: of the size of one entropy chunk, and of all checks. */
static inline uint32_t floe_interp_size_nbytes(const floe_interp_chunk *c) { return c->wide_sizes ? 4 : 2; }
static inline uint64_t floe_interp_checks_nbytes(const floe_interp_chunk *c)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->plan.nsteps && c->checks; i++)
        n += 2 * floe_interp_nchecks(&c->plan.steps[i]);
    return n;
}
static inline uint64_t floe_interp_least(uint32_t rank, const uint64_t *extent)
{
    return floe_lattice_least_nbytes(FLOE_INTERP_HEADER_NBYTES, rank, extent);
}
static inline uint64_t floe_interp_raw_nbytes(uint64_t ncells, bool narrow)
{
    return floe_lattice_values_nbytes(FLOE_INTERP_HEADER_NBYTES, ncells, narrow);
}
static inline bool floe_interp_is_listed(uint64_t ncells, uint64_t n)
{
    return n < ncells / FLOE_INTERP_LIST_CELLS || ncells < FLOE_INTERP_LIST_LEAST;
}
static inline const uint64_t *floe_interp_anchors_shape(const floe_interp_plan *p)
{
    return p->nsteps ? p->steps[p->nsteps - 1].step.coarse : p->shape;
}

/* Grid and spec of the records of a set's mask. A record has 7 values along the last axis. */
floe_context_grid floe_interp_mask_grid(const uint64_t shape[FLOE_LATTICE_RANK]);
extern const floe_context_spec floe_interp_mask_spec;

/* Writes the head up to the anchors, without its check. */
void floe_interp_header_write(const floe_interp_chunk *c, bool narrow, floe_cursor *to);
/* The check of a head, which covers all bytes before the first entropy chunk of a step. */
uint32_t floe_interp_head_check(const uint8_t *head, uint64_t nbytes);
/* The head of a chunk of a field's extent, up to the values apart, behind which it leaves `from`. The bytes are untrusted: a plan that takes
 * more than one that a writer makes is refused. Does not compare the check. */
floe_status floe_interp_head_read(floe_interp_chunk *c, uint32_t rank, const uint64_t *extent, bool narrow,
                                  floe_reader *from, floe_error *err);

#endif
