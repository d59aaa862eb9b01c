/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a chunk: docs/format/interp.md. */
#ifndef FLOE_CODEC_INTERP_INTERP_LAYOUT_H
#define FLOE_CODEC_INTERP_INTERP_LAYOUT_H

#include "base/try.h"
#include "codec/interp/interp_head_math.h"
#include "codec/interp/interp_plan.h"
#include "stage/interp/interp_bytes.h"

typedef enum floe_interp_set_kind {
    FLOE_INTERP_SET_EMPTY = 0,
    FLOE_INTERP_SET_LIST = 1, /* positions */
    FLOE_INTERP_SET_MASK = 2, /* a bit for each value, coded by stage context */
    FLOE_INTERP_SET_KINDS = 3
} floe_interp_set_kind;

typedef struct floe_interp_set {
    floe_interp_set_kind kind;
    uint32_t axes; /* MASK: bit a: bits are differences along axis a of the shape */
} floe_interp_set;

enum {
    FLOE_INTERP_VERSION = 4,   /* that is written */
    FLOE_INTERP_UNLIFTED = 3,  /* states of entropy chunks are not lifted; read, too */
    FLOE_INTERP_UNCHECKED = 2, /* and chunks have no checks */
    FLOE_INTERP_MASK_ROWS = 1024
};

typedef struct floe_interp_chunk {
    floe_interp_kind kind;
    bool log, wide_sizes, checks; /* checks: of entropy chunks; writers make them */
    uint32_t ans_begin;           /* decoder: states with which encoding began */
    floe_interp_set sets[FLOE_INTERP_SETS];
    uint64_t palette[FLOE_INTERP_PALETTE], base; /* base: FLAT */
    floe_interp_plan plan;
    const uint8_t *anchors, *apart; /* decoder: where they stand, and sets with literals; tables follow */
    uint64_t apart_nbytes;
    uint32_t check;
} floe_interp_chunk;

/* In the head: the size of an entropy chunk, and all checks. */
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
    return floe_interp_least_nbytes(FLOE_INTERP_HEADER_NBYTES, rank, extent);
}
static inline uint64_t floe_interp_raw_nbytes(uint64_t ncells, bool narrow)
{
    return floe_interp_values_nbytes(FLOE_INTERP_HEADER_NBYTES, ncells, narrow);
}
static inline const uint64_t *floe_interp_anchors_shape(const floe_interp_plan *p)
{
    return p->nsteps ? p->steps[p->nsteps - 1].step.coarse : p->shape;
}

/* Grid and spec of the records of a set's mask: 7 values along the last axis each. */
floe_context_grid floe_interp_mask_grid(const uint64_t shape[FLOE_INTERP_RANK]);
extern const floe_context_spec floe_interp_mask_spec;

/* Up to the anchors; without the check. */
void floe_interp_header_write(const floe_interp_chunk *c, bool narrow, floe_cursor *to);
/* The check of a head: of all before the first entropy chunk of a step. */
uint32_t floe_interp_head_check(const uint8_t *head, uint64_t nbytes);
/* Untrusted. plan.shape must be there, with what it needs: nothing may take more. Leaves `from` behind what is apart. The check is not
 * looked at. */
floe_status floe_interp_header_read(floe_interp_chunk *c, const floe_interp_needs *needs, bool narrow,
                                    floe_reader *from, floe_error *err);

#endif
