/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deterministic test fields, shaped like the data that scientists keep. docs/fields.md describes each one.
 *
 * Every element is a pure function of (kind, seed, shape, index): any piece of a field has the same bytes as the whole
 * field at that place, on any machine, with any number of threads, built by any compiler that follows IEEE 754 (build
 * with -ffp-contract=off and without fast-math). So a field larger than memory can be made piece by piece. f32 values
 * are the f64 values rounded to nearest; i32 and i64 values are 1000 and 1000000 times these, rounded to nearest and cut to
 * the type; but for `hostile`, which is made of bit patterns, the same for integers and reals of one size.
 */
#ifndef SYNTH_H
#define SYNTH_H

#include <floe/floe.h>

typedef struct synth_kind {
    const char *name;  /* as given to synth_fill */
    const char *about; /* one line for a listing */
} synth_kind;

/* The kinds in a fixed order. synth_kind_at is NULL from synth_count on; synth_find is NULL for an unknown name. */
uint32_t synth_count(void);
const synth_kind *synth_kind_at(uint32_t i);
const synth_kind *synth_find(const char *name);

/*
 * Makes elements first .. first+count-1, in C order, of a field of this kind and shape, into dst, which is aligned to
 * the element and holds count elements. Uses several threads where built with them; at most a few MiB of scratch.
 * FLOE_ERR_ARGUMENT: unknown kind or dtype, rank not 1 to 4, a shape of 2^63 bytes or more, a piece that reaches past
 * the end, NULL or misaligned dst with count > 0. FLOE_ERR_MEMORY: no scratch. dst is untouched when a call fails.
 */
floe_status synth_fill(const char *kind, floe_dtype dtype, uint32_t rank, const uint64_t *shape, uint64_t seed,
                       uint64_t first, uint64_t count, void *dst);

#endif
