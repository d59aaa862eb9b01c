/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage lattice on a GPU: kernels on a stream. The call returns a cudaError_t as a number. All pointers are device memory. */
#ifndef FLOE_STAGE_LATTICE_CUDA_H
#define FLOE_STAGE_LATTICE_CUDA_H

#include "stage/lattice/lattice_output_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* To each place of a box its value out of those of a chunk of this shape, or (NULL) the pattern. */
typedef struct floe_lattice_dev_fill {
    floe_lattice_output out;
    uint64_t shape[FLOE_LATTICE_RANK], pattern;
    const uint8_t *values;
    const uint32_t *status;
} floe_lattice_dev_fill;
int floe_lattice_fill_cuda(const floe_lattice_dev_fill *fill, void *stream);

#ifdef __cplusplus
}
#endif
#endif
