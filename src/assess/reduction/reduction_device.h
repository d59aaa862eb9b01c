/* SPDX-License-Identifier: BSD-3-Clause */
/* The reduction pass over fields in device memory: the same result, in the same host memory. */
#ifndef FLOE_ASSESS_REDUCTION_DEVICE_H
#define FLOE_ASSESS_REDUCTION_DEVICE_H

#include "assess/reduction/reduction.h"
#include "assess/reduction/reduction_cuda.h"
#include "backend/cuda.h"
#include "field/range_cuda.h"

typedef struct floe_reduction_device {
    const floe_cuda *cuda; /* open and current */
    floe_reduction *host;  /* the same pass, as far as it lies in host memory */
    floe_reduction_dev_job job;
    floe_reduction_dev_search search;
    uint32_t nblocks;
    uint64_t sort_nbytes;
    /* taken; device memory */
    void *range_scratch, *sorted[2], *sort_workspace;
} floe_reduction_device;

/* host: initialised with a pair in device memory; it must stay. */
floe_status floe_reduction_device_init(floe_reduction_device *d, const floe_cuda *cuda, floe_reduction *host,
                                       floe_error *err);
void floe_reduction_device_take(floe_reduction_device *d, floe_arena *arena);
floe_status floe_reduction_device_run(floe_reduction_device *d, floe_reduction_result *result, floe_error *err);

/* The range of the original, with the pair's fill value; detect: or with the one that is detected, if any. */
floe_status floe_reduction_device_original(floe_reduction_device *d, bool detect, floe_dev_range *found,
                                           floe_error *err);
/* The range of a side with a fill value, as floe_range_scan finds it. */
floe_status floe_reduction_device_range(floe_reduction_device *d, int side, bool has_fill, uint64_t fill_bits,
                                        floe_range *range, floe_error *err);

#endif
