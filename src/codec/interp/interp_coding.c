/* SPDX-License-Identifier: BSD-3-Clause */
/* How the codes of a structure are coded: widths, rows and checks of entropy chunks. */
#include <string.h>

#include "codec/interp/interp_tuner.h"

enum {
    WIDE_CELLS = 1 << 20,   /* of fewer, the boxes are too small to show that no code is wide */
    MANY_CELLS = 1 << 24,   /* fields with more get smaller chunks with contexts of planes: a GPU has more of them */
    LANE_BITS = 1100,       /* the bits that a state should carry besides its own, so that a GPU has enough chunks */
    LANE_BITS_COARSE = 650, /* the same for coarse levels, which have few chunks */
    LANE_BITS_BEST = 1650,  /* the same for preset best */
    LANE_BITS_MOST = 6000,  /* of coarse levels with contexts of planes */
    CHECKED_NBYTES = 1024,  /* bytes of entropy chunks that one check covers, about */
};

/* Rows of an entropy chunk whose lanes have so many bits a row, in 1/4096. Coarse levels have long rows and few chunks, so that these
 * would be what a GPU waits for. */
static uint32_t rows_of(const floe_interp_tuner *t, bool planes, uint32_t level, uint64_t each)
{
    const bool coarse = level > 1;
    const uint64_t least = (uint64_t)(floe_interp_is_best(t->e) ? LANE_BITS_BEST
                                      : coarse                  ? LANE_BITS_COARSE
                                                                : LANE_BITS)
                           << 12;
    uint32_t rows = coarse ? 32 : 64;
    if (planes)
        rows = t->e->ncells < MANY_CELLS ? FLOE_CONTEXT_ROWS : FLOE_CONTEXT_ROWS / 4;
    while (planes && coarse && rows > FLOE_RECORDS_PLANE_ROWS && rows * each > (uint64_t)LANE_BITS_MOST << 12)
        rows /= 2;
    while (rows < FLOE_CONTEXT_ROWS && rows * each < least)
        rows *= 2;
    return rows;
}

/* log2 of the entropy chunks, of so many rows, that have a check: together about CHECKED_NBYTES. */
static uint32_t checked_of(const floe_interp_tuner *t, uint32_t level, uint32_t rows, uint64_t each)
{
    const uint64_t cells = t->e->chunk.plan.shape[3] >> (level + 1),
                   lanes = floe_max64(floe_min64(cells, FLOE_ANS_LANES), 1),
                   nbytes = lanes * (rows * each / (8 << 12) + FLOE_INTERP_STATE_BITS / 8);
    uint32_t log = 0;
    while (log < FLOE_INTERP_CHECKED && nbytes << log < CHECKED_NBYTES)
        log++;
    return log;
}

void floe_interp_tune_coding(floe_interp_tuner *t, floe_interp_structure *best)
{
    const bool wide = t->e->ncells < WIDE_CELLS || t->e->attempt != FLOE_INTERP_USUAL;
    uint64_t each = 0; /* bits of a record; not fewer than of a finer level */
    for (uint32_t l = 0; l < FLOE_INTERP_LEVELS; l++) {
        const uint32_t of = l < t->nlevels ? l : t->nlevels - 1;
        const uint64_t n = t->sums[of].nrecords;
        each = floe_max64(each, n ? (uint64_t)((double)(t->bits[of] / n) * t->e->share) : 0);
        best->wide[l] = l > 1 || wide || t->tally[of].large > 0;
        best->rows[l] = rows_of(t, best->planes, l, each);
        best->checked[l] = checked_of(t, l, best->rows[l], each);
    }
}

void floe_interp_be_cautious(floe_interp_structure *s)
{
    if (s->levels > FLOE_INTERP_LEAST)
        s->levels = FLOE_INTERP_LEAST;
    memset(s->predictor, FLOE_INTERP_LINEAR, sizeof s->predictor);
    memset(s->wide, true, sizeof s->wide);
}
