/* SPDX-License-Identifier: BSD-3-Clause */
/* All values of a block by the formulas of zfpblock_math.h: inside src/stage/zfpblock only. */
#ifndef FLOE_STAGE_ZFPBLOCK_WHOLE_H
#define FLOE_STAGE_ZFPBLOCK_WHOLE_H

#include "stage/zfpblock/zfpblock_math.h"

/* The transform of a block along all its axes, four lines at a time: a row of four values is one vector of the compiler. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */
#endif

typedef floe_uint zfp_row __attribute__((vector_size(FLOE_ZFP_SIDE * sizeof(floe_uint))));
typedef floe_int zfp_irow __attribute__((vector_size(FLOE_ZFP_SIDE * sizeof(floe_uint))));

/* What happens along an axis. */
typedef enum zfp_step { ZFP_LIFT, ZFP_UNLIFT, ZFP_DIFFER, ZFP_SUM } zfp_step;

/* U, I: as in FLOE_ZFP_LIFT. */
#define STEP(step, U, I, x, y, z, w)                           \
    switch (step) {                                            \
    case ZFP_LIFT: FLOE_ZFP_LIFT(U, I, x, y, z, w); break;     \
    case ZFP_UNLIFT: FLOE_ZFP_UNLIFT(U, I, x, y, z, w); break; \
    case ZFP_DIFFER: FLOE_ZFP_DIFFER(x, y, z, w); break;       \
    case ZFP_SUM: FLOE_ZFP_SUM(x, y, z, w); break;             \
    }

FLOE_INLINE void step_rows(zfp_step step, zfp_row *p, zfp_row *q, zfp_row *r, zfp_row *s)
{
    zfp_row x = *p, y = *q, z = *r, w = *s;
    STEP(step, zfp_row, zfp_irow, x, y, z, w)
    *p = x;
    *q = y;
    *r = z;
    *s = w;
}

FLOE_INLINE void step_one(zfp_step step, floe_uint *v)
{
    floe_uint x = v[0], y = v[1], z = v[2], w = v[3];
    STEP(step, floe_uint, floe_int, x, y, z, w)
    v[0] = x;
    v[1] = y;
    v[2] = z;
    v[3] = w;
}
#undef STEP

FLOE_INLINE void transpose_rows(zfp_row r[FLOE_ZFP_SIDE])
{
    zfp_row a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    zfp_row c = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

/* Along x, y or both of a plane of four rows, in the order of the step's direction. */
FLOE_INLINE void step_plane(zfp_step step, zfp_row *r)
{
    const bool back = step == ZFP_UNLIFT || step == ZFP_SUM;
    if (back)
        step_rows(step, &r[0], &r[1], &r[2], &r[3]);
    transpose_rows(r);
    step_rows(step, &r[0], &r[1], &r[2], &r[3]);
    transpose_rows(r);
    if (!back)
        step_rows(step, &r[0], &r[1], &r[2], &r[3]);
}

/* Along the axis whose neighbours are `apart` rows from one another, all `nrows` rows. */
FLOE_INLINE void step_axis(zfp_step step, zfp_row *r, uint32_t nrows, uint32_t apart)
{
    for (uint32_t i = 0; i < nrows; i += 4 * apart)
        for (uint32_t j = i; j < i + apart; j++)
            step_rows(step, &r[j], &r[j + apart], &r[j + 2 * apart], &r[j + 3 * apart]);
}

/* A whole block of 4^rank values, x fastest: axes from x on to lift and differ, and back to x to undo it. */
FLOE_INLINE void zfp_transform(zfp_step step, floe_uint *block, uint32_t rank)
{
    const uint32_t nrows = 1u << (2 * rank) >> 2;
    zfp_row r[FLOE_ZFP_BLOCK_VALUES / FLOE_ZFP_SIDE];
    if (rank == 1) {
        step_one(step, block);
        return;
    }
    memcpy(r, block, nrows * sizeof *r);
    const bool back = step == ZFP_UNLIFT || step == ZFP_SUM;
    if (back && rank == 4)
        step_axis(step, r, nrows, 16);
    if (back && rank >= 3)
        step_axis(step, r, nrows, 4);
    for (uint32_t i = 0; i < nrows; i += 4)
        step_plane(step, r + i);
    if (!back && rank >= 3)
        step_axis(step, r, nrows, 4);
    if (!back && rank == 4)
        step_axis(step, r, nrows, 16);
    memcpy(block, r, nrows * sizeof *r);
}

/* The exponent of a block of bit patterns; *finite: no infinity or NaN among them. */
FLOE_INLINE int32_t zfp_exponent_of(const floe_uint *block, uint32_t rank, bool *finite)
{
    floe_uint most = 0;
    for (uint32_t i = 0; i < 1u << 2 * rank; i++) {
        const floe_uint m = block[i] & (FLOE_ZFP_SIGN - 1);
        most = m > most ? m : most;
    }
    *finite = most < FLOE_ZFP_INFINITY;
    if (most <= FLOE_ZFP_INFINITY)
        return FLOE_R(floe_zfp_exponent)(most);
    most = 0;
    for (uint32_t i = 0; i < 1u << 2 * rank; i++)
        most = FLOE_R(floe_zfp_magnitude)(block[i]) > most ? FLOE_R(floe_zfp_magnitude)(block[i]) : most;
    return FLOE_R(floe_zfp_exponent)(most);
}

/* Bit patterns of numbers -> whole numbers. fits: all of them do. */
FLOE_INLINE void zfp_to_whole(const floe_uint *bits, uint32_t rank, int32_t e, bool fits, floe_uint *whole)
{
    const floe_real power = FLOE_R(floe_zfp_power)(FLOE_R(floe_zfp_scale)(e));
    floe_real x[FLOE_ZFP_BLOCK_VALUES];
    memcpy(x, bits, sizeof *x << 2 * rank);
    for (uint32_t i = 0; i < 1u << 2 * rank; i++)
        whole[i] = fits ? (floe_uint)(floe_int)(x[i] * power) : FLOE_R(floe_zfp_whole)(x[i], power);
}

/* The way back. */
FLOE_INLINE void zfp_to_real(const floe_uint *whole, uint32_t rank, int32_t e, floe_uint *bits)
{
    const floe_real power = FLOE_R(floe_zfp_power)(-FLOE_R(floe_zfp_scale)(e));
    floe_real y[FLOE_ZFP_BLOCK_VALUES];
    for (uint32_t i = 0; i < 1u << 2 * rank; i++)
        y[i] = FLOE_R(floe_zfp_real)(whole[i], power);
    memcpy(bits, y, sizeof *y << 2 * rank);
}

#endif
