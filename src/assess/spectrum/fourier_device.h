/* SPDX-License-Identifier: BSD-3-Clause */
/* The transform of fourier.h in device memory, by cuFFT. */
#ifndef FLOE_ASSESS_FOURIER_DEVICE_H
#define FLOE_ASSESS_FOURIER_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "assess/spectrum/cufft_load.h"

typedef struct floe_fourier_plan {
    bool is_there;
    int number;
    size_t work_nbytes;
} floe_fourier_plan;

/* Plans: of the last axes, at most three, and of a fourth before them. */
typedef struct floe_fourier_device {
    floe_cufft cufft;
    floe_fourier_plan inner, outer;
    uint64_t work_nbytes; /* of device memory: they run one after the other */
} floe_fourier_device;

/* shape: four axes, those of one element first. UNSUPPORTED: there is no cuFFT; MEMORY, DEVICE: as it reports. */
floe_status floe_fourier_device_open(floe_fourier_device *f, const uint64_t *shape, floe_error *err);
/* Puts the transform of dev_data (laid out as in fourier.h) on the stream. dev_work: 256-byte aligned. */
floe_status floe_fourier_device_run(const floe_fourier_device *f, double *dev_data, void *dev_work, void *stream,
                                    floe_error *err);
void floe_fourier_device_close(floe_fourier_device *f);

#endif
