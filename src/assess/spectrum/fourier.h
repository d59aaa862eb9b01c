/* SPDX-License-Identifier: BSD-3-Clause */
/* The Fourier transform of real data over up to four axes, in place, by a library that is found when floe is built. */
#ifndef FLOE_ASSESS_FOURIER_H
#define FLOE_ASSESS_FOURIER_H

#include <stdbool.h>

#include "backend/backend.h"

bool floe_fourier_available(void);

/* data: rows of shape[3] numbers, 2 (shape[3] / 2 + 1) doubles apart, 16-byte aligned. They become rows of shape[3] / 2 + 1
 * coefficients (real and imaginary part), unscaled; the other half of a row mirrors it. The same for any number of threads.
 * UNSUPPORTED, MEMORY. */
floe_status floe_fourier_transform(const floe_cpu *cpu, const uint64_t *shape, double *data, floe_error *err);

#endif
