/* SPDX-License-Identifier: BSD-3-Clause */
/* The sample of a field in device memory (call/choice.h), which stays there: kernels of the codecs code it. */
#ifndef FLOE_DEVICE_DEVICE_SAMPLE_H
#define FLOE_DEVICE_DEVICE_SAMPLE_H

#include "call/choice.h"
#include "device/device.h"

typedef struct floe_device_sample {
    floe_ctx *ctx;
    const floe_field *field; /* resolved */
    void *room;              /* floe_device_sample_nbytes */
    size_t nbytes;
} floe_device_sample;

/* Device memory for the values and for whichever of the codecs takes most. 0: one of them has no kernels for such values, unless the
 * sample is one that estimates, which all of them can. */
size_t floe_device_sample_nbytes(floe_ctx *ctx, const floe_sample *sample, const floe_choice *choice);
/* Loads the sample, if it is coded; it reads d as long as it is used. */
floe_status floe_device_sample_load(floe_device_sample *d, floe_sample *sample);

#endif
