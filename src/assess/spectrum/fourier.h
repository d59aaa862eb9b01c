/* SPDX-License-Identifier: BSD-3-Clause */
/* The Fourier transform of real data over up to four axes, in place. */
#ifndef FLOE_ASSESS_FOURIER_H
#define FLOE_ASSESS_FOURIER_H

#include "assess/spectrum/fft.h"
#include "backend/backend.h"

typedef struct floe_fourier {
    const floe_cpu *cpu;
    uint64_t shape[FLOE_MAX_RANK];
    floe_fft axis[FLOE_MAX_RANK];
    double *turn_re, *turn_im; /* exp(-2 pi i k / n), k <= n / 2, for rows of n */
    double *work;              /* of each worker in turn */
} floe_fourier;

/* Tables, and what workers need; cpu must stay. */
void floe_fourier_take(floe_fourier *f, const floe_cpu *cpu, const uint64_t *shape, floe_arena *arena);
void floe_fourier_begin(floe_fourier *f);

/* data: rows of shape[3] numbers, 2 (shape[3] / 2 + 1) doubles apart, 16-byte aligned. They become rows of shape[3] / 2 + 1
 * coefficients (real and imaginary part), unscaled; the other half of a row mirrors it. The same for any number of threads. */
void floe_fourier_transform(const floe_fourier *f, double *data);

#endif
