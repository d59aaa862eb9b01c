/* SPDX-License-Identifier: BSD-3-Clause */
/* Which side can reach memory that a caller hands in. */
#ifndef FLOE_BACKEND_CUDA_REACH_H
#define FLOE_BACKEND_CUDA_REACH_H

#include <stdbool.h>

/* False: p is device memory, not managed. Asking starts no GPU and takes a tenth of a microsecond in a process that has none at
 * work: there is no such memory then. */
bool floe_cuda_host_reaches(const void *p);

/* False: p is memory that the device cannot read, pageable memory of a host whose GPU has no way into it. Takes less than a
 * microsecond, waits for nothing, and may be asked while a stream is captured. */
bool floe_cuda_device_reaches(int device, const void *p);

#endif
