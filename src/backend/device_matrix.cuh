/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic in double that CUDA C++ has no name for, with its plain twin for the emulator. */
#ifndef FLOE_BACKEND_DEVICE_MATRIX_CUH
#define FLOE_BACKEND_DEVICE_MATRIX_CUH

#include "backend/device.cuh"

/*
 * d = a * b + c in double, of 16 x 4, 4 x 8 and 16 x 8 numbers that the whole warp holds. With r = lane / 4 and q = lane % 4,
 * a lane has of a: rows r and r + 8 in column q; of b: row q in column r; of c and d: row r in columns 2 q and 2 q + 1, then
 * row r + 8 in the same.
 */
FLOE_DEV void floe_matrix_fma(double d[4], const double a[2], double b, double c0, double c1, double c2, double c3)
{
#ifdef FLOE_EMULATED
    double rows[2][FLOE_WARP], columns[FLOE_WARP];
    const double mine[3] = {a[0], a[1], b}, c[4] = {c0, c1, c2, c3};
    double *all[3] = {rows[0], rows[1], columns};
    for (int i = 0; i < 3; i++) {
        const floe_emulated_meeting *m =
            floe_emulated_meet(FLOE_ALL_LANES, FLOE_EMULATED_SHUFFLE, floe_emulated_bits(mine[i]));
        memcpy(all[i], m->value, sizeof rows[0]);
    }
    const uint32_t r = floe_lane() / 4, q = floe_lane() % 4;
    for (uint32_t i = 0; i < 4; i++) {
        d[i] = c[i];
        for (uint32_t k = 0; k < 4; k++)
            d[i] += rows[i / 2][4 * r + k] * columns[4 * (2 * q + i % 2) + k];
    }
#elif __CUDA_ARCH__ < 900 /* by halves: 8 rows each */
    d[0] = c0, d[1] = c1, d[2] = c2, d[3] = c3;
    for (int i = 0; i < 2; i++)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(d[2 * i]), "+d"(d[2 * i + 1])
            : "d"(a[i]), "d"(b));
#else
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(b), "d"(c0), "d"(c1), "d"(c2), "d"(c3));
#endif
}
FLOE_DEV void floe_matrix_add(double c[4], const double a[2], double b)
{
    floe_matrix_fma(c, a, b, c[0], c[1], c[2], c[3]);
}
FLOE_DEV void floe_matrix_multiply(double d[4], const double a[2], double b) { floe_matrix_fma(d, a, b, 0, 0, 0, 0); }

/* c += a * b of 8 x 4, 4 x 8 and 8 x 8 numbers: as above, without rows r + 8. */
FLOE_DEV void floe_matrix_add_8(double c[2], double a, double b)
{
#ifdef FLOE_EMULATED
    const double rows[2] = {a, 0};
    double d[4];
    floe_matrix_fma(d, rows, b, c[0], c[1], 0, 0);
    c[0] = d[0], c[1] = d[1];
#else
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a), "d"(b));
#endif
}

/* 1 / v for a v that is positive and far from the ends of the range; within a few units of the last place. */
FLOE_DEV double floe_reciprocal(double v)
{
#ifdef FLOE_EMULATED
    return 1 / v;
#else
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v)); /* 20 bits, of which a step of third order makes 60 */
    const double e = __fma_rn(-v, r, 1.0);
    return __fma_rn(r, __fma_rn(e, e, e), r);
#endif
}

#endif
