/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FLOE_FIELD_LOOK_CUDA_H
#define FLOE_FIELD_LOOK_CUDA_H

#include "field/look_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of all places of a field in device memory, unless *status (which may be NULL) is not FLOE_OK. Returns a cudaError_t as a number. */
int floe_look_cuda(const floe_look *look, const uint32_t *status, uint64_t *bits, void *stream);

#ifdef __cplusplus
}
#endif
#endif
