/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quantizer: values -> integers and back. docs/format/quantizer.md.
 *
 * A value that cannot be had back within the bound (or bit for bit, where that is promised) is an exception: the encoder
 * marks it, and the exceptions stage keeps its bits. The check is made on the very value that the decoder will compute.
 */
#ifndef FLOE_STAGE_QUANTIZER_H
#define FLOE_STAGE_QUANTIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <floe/floe.h>

#include "base/hd.h"

typedef enum floe_quantizer_kind {
    FLOE_QUANTIZER_LINEAR = 0, /* multiples of a step; of integers: a whole one */
    FLOE_QUANTIZER_LOG = 1,    /* multiples of a step in log2|x|; signs apart. Not for integers */
    FLOE_QUANTIZER_BITS = 2,   /* the bit pattern itself, in the order of the values; an integer as it is */
    FLOE_QUANTIZER_TABLE = 3   /* the place in a sorted table of all bit patterns that occur */
} floe_quantizer_kind;

enum {
    FLOE_PALETTE_SIZE = 3,
    FLOE_TABLE_MAX = 65536 /* entries of a table */
};

/* All that both directions need. `table` holds the ordered bit patterns (floe_bits_order), ascending, and belongs to the
 * caller; for encoding, slots maps a pattern to its place (see table.c). */
typedef struct floe_quantizer {
    floe_quantizer_kind kind;
    double step;      /* LINEAR, LOG */
    double inverse;   /* LINEAR encoder: 1 / step in the dtype */
    double tolerance; /* LINEAR: absolute, LOG: relative; below the bound by the rounding of the check. Encoder only */
    uint64_t fill; /* encoder: values with these bits are exceptions. Where there is none: 0x80..0, which is -0, or the
                       * least integer */
    /* Bit patterns that many exceptions may share; kind k in 1..3 of an exception stands for palette[k - 1]. */
    uint64_t palette[FLOE_PALETTE_SIZE];
    uint32_t table_size;
    const uint64_t *table;
    const struct floe_table_slot *slots;
    uint32_t slots_mask; /* slots - 1 */
    bool integer;        /* values are integers; never so on a GPU */
} floe_quantizer;

/* Chooses step and tolerance. bound: absolute for LINEAR, relative for LOG. max_abs (may be NaN): the largest magnitude of
 * the field: where its last place is coarse beside the bound the step is made smaller, which costs a fraction of a bit
 * where exceptions would cost a whole word. */
void floe_quantizer_init(floe_quantizer *quantizer, floe_quantizer_kind kind, floe_dtype dtype, double bound,
                         double max_abs, bool has_fill, uint64_t fill_bits);

/* What encoding found: the largest error of values that are not exceptions, as computed (not rounded up). */
typedef struct floe_quantizer_stats {
    double max_error;    /* absolute */
    double max_pw_error; /* relative; LOG only */
} floe_quantizer_stats;

/* ---- table -------------------------------------------------------------------------------------------------------- */

typedef struct floe_table_slot {
    uint64_t key;   /* ordered pattern */
    uint32_t place; /* 1 + place in the sorted table; 0: empty */
} floe_table_slot;

enum { FLOE_TABLE_SLOTS = 4 * FLOE_TABLE_MAX };

/* One less than the slots, a power of two, of a hash set of so many patterns. */
FLOE_HD uint32_t floe_table_mask(uint32_t most)
{
    uint32_t mask = 63;
    while (mask + 1 < FLOE_TABLE_SLOTS / FLOE_TABLE_MAX * most)
        mask = 2 * mask + 1;
    return mask;
}
/* Grows a hash set of patterns. slots: mask + 1 cleared entries. False as soon as there are more than `most`. */
bool floe_table_insert(floe_table_slot *slots, uint32_t mask, uint64_t key, uint32_t *count, uint32_t most);
/* Sorts what was inserted into table (count entries) and gives each slot its place. */
void floe_table_finish(floe_table_slot *slots, uint32_t mask, uint64_t *table, uint32_t count);

#endif
