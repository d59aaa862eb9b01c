/* SPDX-License-Identifier: BSD-3-Clause */
/* The spectrum pass over fields in device memory: the same result, in the same host memory, but for rounding. */
#ifndef FLOE_ASSESS_SPECTRUM_DEVICE_H
#define FLOE_ASSESS_SPECTRUM_DEVICE_H

#include "assess/spectrum/fourier_device.h"
#include "assess/spectrum/spectrum.h"
#include "assess/spectrum/spectrum_cuda.h"
#include "backend/cuda.h"

typedef struct floe_spectrum_device {
    const floe_cuda *cuda; /* open and current */
    floe_spectrum *host;   /* the same pass, as far as it lies in host memory */
    floe_fourier_device fourier;
    floe_spectrum_dev_job job;
    uint32_t axis[FLOE_MAX_RANK]; /* of the pair, for each of the job */
    /* taken; device memory */
    double *window[FLOE_MAX_RANK], *sums[3]; /* of both sides, and how many modes a shell has */
    void *work;
} floe_spectrum_device;

/* host: initialised with a pair in device memory; it must stay. Free it either way. */
floe_status floe_spectrum_device_init(floe_spectrum_device *d, const floe_cuda *cuda, floe_spectrum *host,
                                      floe_error *err);
void floe_spectrum_device_free(floe_spectrum_device *d);
/* 8 bytes for each element, what cuFFT needs, which may be as much again, and some more. The arena begins 256-byte aligned. The
 * host's pair must have its data by the last take. */
void floe_spectrum_device_take(floe_spectrum_device *d, floe_arena *arena);
floe_status floe_spectrum_device_run(floe_spectrum_device *d, const floe_spectrum_options *options,
                                     floe_spectrum_result *result, floe_error *err);

#endif
