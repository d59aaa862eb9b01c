/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs in host memory one after another, in C order, however they lie. */
#ifndef FLOE_ASSESS_PAIR_READ_H
#define FLOE_ASSESS_PAIR_READ_H

#include <stdbool.h>

#include "assess/pair.h"
#include "field/field.h"

enum { FLOE_PAIR_BLOCK = 512 }; /* pairs that a buffer holds */

typedef struct floe_pair_buffer {
    double original[FLOE_PAIR_BLOCK], decoded[FLOE_PAIR_BLOCK]; /* memory for either dtype */
} floe_pair_buffer;

/* A side as a field of four axes. 0: the original; 1: the decoded, or once more the original, where it is alone. */
floe_field floe_pair_field(const floe_pair *pair, int side);
uint64_t floe_pair_nelems(const floe_pair *pair);
/* Whether both sides are contiguous in C order. */
bool floe_pair_is_dense(const floe_pair *pair);
/* Pairs at .. at + n - 1, n <= FLOE_PAIR_BLOCK, as contiguous values of the pair's dtype: where they lie if dense, else
 * copied to the buffer. A field on its own is its own decoded side. */
void floe_pair_read(const floe_pair *pair, bool dense, uint64_t at, uint32_t n, floe_pair_buffer *buffer,
                    const void **original, const void **decoded);
/* Of value i, or pair i, of what was read. */
double floe_pair_value(const floe_pair *pair, const void *values, uint32_t i);
floe_pair_class floe_pair_class_at(const floe_pair *pair, const void *original, const void *decoded, uint32_t i);
/* The place of pair number `at` in the caller's field. */
void floe_pair_index(const floe_pair *pair, uint64_t at, uint64_t index[FLOE_MAX_RANK]);

#endif
