/* SPDX-License-Identifier: BSD-3-Clause */
/* The stencil pass over device memory. */
#ifndef FLOE_ASSESS_STENCIL_DEVICE_H
#define FLOE_ASSESS_STENCIL_DEVICE_H

#include "assess/stencil/stencil.h"
#include "backend/cuda.h"

/* Bytes of device memory that the pass needs, 256-byte aligned: 1 MiB, whatever the field. */
uint64_t floe_stencil_workspace_device(void);

/* floe_stencil_assess of a pair in the memory of this GPU, which is current. Waits for the result. Numbers differ from the
 * CPU's by the rounding of sums only. DEVICE: what CUDA reports, or there is none in this build. */
floe_status floe_stencil_assess_device(const floe_cuda *cuda, const floe_pair *pair,
                                       const floe_stencil_options *options, void *dev_workspace,
                                       size_t workspace_nbytes, floe_stencil_result *result, floe_error *err);

#endif
