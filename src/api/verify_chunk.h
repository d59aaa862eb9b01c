/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the cells of a chunk with what was decoded, value by value, without rounding error. */
#ifndef FLOE_API_VERIFY_CHUNK_H
#define FLOE_API_VERIFY_CHUNK_H

#include <stdbool.h>

#include <floe/floe.h>

#include "backend/backend.h"
#include "base/arena.h"

/* NaN, Inf, -0 and fill must come back bit for bit; all other values within the bound. */
typedef struct floe_verify_rule {
    floe_bound_mode mode; /* ABS, PWREL or LOSSLESS */
    double bound;         /* may be infinite: finite values need only be finite again */
    bool has_fill;
    uint64_t fill_bits;
    double unit; /* squared errors are summed in units of this; 0: not summed */
} floe_verify_rule;

typedef struct floe_verify_sums {
    bool failed;
    uint64_t at; /* the first value that failed, counted in C order within the chunk */
    double max_error, max_pw_error, squared_error;
} floe_verify_sums;

/* Scratch for chunks of up to nelems elements. */
floe_verify_sums *floe_verify_take(floe_arena *arena, uint64_t nelems);

/* original: resolved; decoded: contiguous, of the same shape. pieces: what floe_verify_take gave. */
floe_verify_sums floe_verify_chunk(const floe_cpu *cpu, const floe_verify_rule *rule, const floe_field *original,
                                   const void *decoded, floe_verify_sums *pieces);

/* Element number at, in C order, of a resolved field: its bits. */
uint64_t floe_verify_bits(const floe_field *field, uint64_t at);

#endif
