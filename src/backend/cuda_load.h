/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU backend, where it is a library of its own: libfloe_cuda.so has all kernels and the CUDA runtime. libfloe's C calls both
 * through one jump a function (cmake/CudaEntries.cmake writes them); until the library is loaded these return
 * cudaErrorNoDevice.
 */
#ifndef FLOE_BACKEND_CUDA_LOAD_H
#define FLOE_BACKEND_CUDA_LOAD_H

#include <floe/floe.h>

/* Loads the library, unless it is. It is looked for where the environment's FLOE_CUDA_LIBRARY says; else beside libfloe.so, or the
 * program that libfloe.a is in, or from there in the folder for libraries; else where the loader looks. It stays loaded.
 * DEVICE, with the reason: it is not there, or is not of this version. Safe in several threads at once. */
floe_status floe_cuda_load(floe_error *err);

/* Its path, or "" where the backend is part of libfloe. */
const char *floe_cuda_loaded_from(void);

#endif
