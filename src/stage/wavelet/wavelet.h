/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage wavelet: a box of an array <-> means and details along one axis, in place: the even points come first, the odd ones behind
 * them. What several passes make of a lattice, codes and back: classes of a lattice's steps. docs/format/wavelet.md.
 *
 * Lines, and rows of cells, are done each on its own, so that tasks run in any order and no bit depends on them.
 */
#ifndef FLOE_STAGE_WAVELET_H
#define FLOE_STAGE_WAVELET_H

#include "backend/backend.h"
#include "stage/wavelet/wavelet_shape.h"

/* Whether odd points are predicted from even ones first, so that ends can be one-sided. */
bool floe_wavelet_interpolates(floe_wavelet_bank bank);

enum { FLOE_WAVELET_SHORT = 1023 /* lines up to this lie side by side in tasks, as many as a cache holds */ };

/* A pass along an axis of the box 0 .. n of a contiguous array. */
typedef struct floe_wavelet_pass {
    void *data;
    const uint64_t *shape; /* of the array */
    uint64_t n[FLOE_LATTICE_RANK];
    uint32_t axis;
    floe_wavelet_bank bank;
    bool one_sided, inverse;
    uint64_t first, end; /* inverse: points of the axis that are wanted; end 0: all */
} floe_wavelet_pass;

/* How lines are dealt to tasks. */
enum {
    FLOE_WAVELET_COLUMNS = 64, /* a task's lines side by side, as long as they fit a cache of 256 KiB */
    FLOE_WAVELET_COLUMNS_LEAST = 16,
    FLOE_WAVELET_TASK_ROWS = 16, /* lines of a task along the last axis */
    FLOE_WAVELET_HALO = 4        /* points of a parity around a line that stencils reach */
};
static inline uint64_t floe_wavelet_columns(const floe_wavelet_pass *p)
{
    const uint64_t most = p->n[p->axis] <= FLOE_WAVELET_SHORT ? FLOE_WAVELET_COLUMNS : FLOE_WAVELET_COLUMNS_LEAST;
    return p->axis == 3 ? 1 : floe_min64(p->n[3], most);
}
uint64_t floe_wavelet_ntasks(const floe_wavelet_pass *p);
/* Reals of scratch that a task takes. */
uint64_t floe_wavelet_task_reals(const floe_wavelet_pass *p);

/* Details of a class along a row of cells <-> codes, `apart` from one to the next. */
typedef struct floe_wavelet_codes {
    void *values, *codes;
    uint32_t width, apart; /* bytes of a code */
    uint64_t count;
    double step;
    int32_t shift[FLOE_WAVELET_SHIFTS]; /* decode: of magnitudes 1, 2, 3 and more, in 1 / 64 */
} floe_wavelet_codes;

typedef struct floe_wavelet_ops {
    void (*lift)(const floe_wavelet_pass *p, uint64_t task, void *scratch);
    floe_wavelet_span (*needed)(const floe_wavelet_pass *p); /* inverse: what the wanted points are made of */
    double (*largest)(const void *values, uint64_t count);   /* magnitude */
    void (*encode)(const floe_wavelet_codes *c, floe_wavelet_means *means);
    void (*decode)(const floe_wavelet_codes *c);
} floe_wavelet_ops;

extern const floe_wavelet_ops floe_wavelet_ops_f32_plain, floe_wavelet_ops_f64_plain;
extern const floe_wavelet_ops floe_wavelet_ops_f32_avx2, floe_wavelet_ops_f64_avx2;
const floe_wavelet_ops *floe_wavelet_ops_of(floe_dtype dtype, floe_isa isa);

#endif
