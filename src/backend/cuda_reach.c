/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dl_iterate_phdr */

#include "backend/cuda.h"

#include <stdint.h>
#include <string.h>

#if !defined(FLOE_HAVE_CUDA_BUILD)

bool floe_cuda_host_reaches(const void *p)
{
    (void)p;
    return true;
}
bool floe_cuda_device_reaches(int device, const void *p)
{
    (void)device, (void)p;
    return false;
}

#else

#include <cuda_runtime_api.h>

#ifdef FLOE_CUDA_EMULATED

static bool reads_pageable(int device)
{
    (void)device;
    return false;
}

bool floe_cuda_host_reaches(const void *p)
{
    struct cudaPointerAttributes a;
    return !p || cudaPointerGetAttributes(&a, p) != cudaSuccess || a.type != cudaMemoryTypeDevice;
}

#else

#include <cuda.h>
#include <dlfcn.h>
#include <link.h>

/* By address translation of the host's (ATS), or by migration (HMM). */
static bool reads_pageable(int device)
{
    int reads = 0;
    return cudaDeviceGetAttribute(&reads, cudaDevAttrPageableMemoryAccess, device) == cudaSuccess && reads;
}

typedef CUresult (*get_fn)(unsigned n, CUpointer_attribute *what, void **values, CUdeviceptr p);

static int is_driver(struct dl_phdr_info *object, size_t nbytes, void *arg)
{
    (void)nbytes, (void)arg;
    const char *name = strrchr(object->dlpi_name, '/');
    return name && strncmp(name, "/libcuda.so", 11) == 0;
}

/* Where several are requested at once the driver takes memory that it does not know for none of its own, which is no error. */
static bool is_device_memory(void *driver, const void *p)
{
    enum { TYPE, MANAGED, ATTRIBUTES };
    CUpointer_attribute what[ATTRIBUTES] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    uint32_t value[ATTRIBUTES] = {0, 0};
    void *values[ATTRIBUTES] = {&value[TYPE], &value[MANAGED]};
    void *const function = dlsym(driver, "cuPointerGetAttributes");
    get_fn get;
    if (!function)
        return false;
    memcpy(&get, &function, sizeof get);
    return get(ATTRIBUTES, what, values, (CUdeviceptr)(uintptr_t)p) == CUDA_SUCCESS &&
           value[TYPE] == CU_MEMORYTYPE_DEVICE && !value[MANAGED];
}

/* The runtime would make the current GPU ready, which takes a good part of a second and hundreds of megabytes: the driver is
 * queried, and only where somebody has loaded it. A look at what is loaded is quick, dlopen of what is not there is not. */
bool floe_cuda_host_reaches(const void *p)
{
    if (!p || !dl_iterate_phdr(is_driver, NULL))
        return true;
    void *const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    const bool reaches = !driver || !is_device_memory(driver, p);
    if (driver)
        dlclose(driver);
    return reaches;
}

#endif

bool floe_cuda_device_reaches(int device, const void *p)
{
    return floe_cuda_pointer_kind(p) != FLOE_POINTER_PAGEABLE || reads_pageable(device);
}

#endif
