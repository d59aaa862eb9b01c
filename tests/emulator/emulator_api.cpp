/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime API: errors, the device, kernels and their launches. All of the API is under one lock. */
#include "emulator_state.h"

namespace
{

pthread_mutex_t api_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
thread_local cudaError_t last_error;

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

struct allowance { /* dynamic shared memory that a kernel was allowed */
    const void *kernel;
    size_t nbytes;
};
allowance *allowances;
size_t nallowances;
enum { SHARED_WITHOUT_ASKING = 48 << 10 };

size_t shared_allowed(const void *kernel)
{
    for (size_t i = 0; i < nallowances; i++)
        if (allowances[i].kernel == kernel)
            return allowances[i].nbytes;
    return SHARED_WITHOUT_ASKING;
}

bool is_grid(const dim3 &g) { return g.x && g.y && g.z && g.x <= INT32_MAX && g.y <= 65535 && g.z <= 65535; }
bool is_block(const dim3 &b)
{
    return b.x && b.y && b.z && b.x <= 1024 && b.y <= 1024 && b.z <= 64 &&
           (uint64_t)b.x * b.y * b.z <= FLOE_EMULATED_MAX_THREADS;
}

/* As an H200, unless a smaller GPU is wanted. */
int processors() { return (int)floe_emulated_setting("FLOE_EMULATED_PROCESSORS", 132); }
size_t shared_most() { return floe_emulated_setting("FLOE_EMULATED_SHARED", FLOE_EMULATED_MAX_SHARED); }
int capability_major() { return shared_most() < FLOE_EMULATED_MAX_SHARED ? 8 : 9; }

cudaError_t device_attribute(int *value, cudaDeviceAttr attribute)
{
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = FLOE_EMULATED_MAX_THREADS; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = SHARED_WITHOUT_ASKING; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrClockRate: *value = 1000000; break;
    case cudaDevAttrMultiProcessorCount: *value = processors(); break;
    case cudaDevAttrMemoryClockRate: *value = 1000000; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = 5120; break;
    case cudaDevAttrL2CacheSize: *value = 32 << 20; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = capability_major(); break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)shared_most() + (1 << 10); break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)shared_most(); break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

} // namespace

namespace floe_emulator
{

lock::lock() { pthread_mutex_lock(&api_mutex); }
lock::~lock() { pthread_mutex_unlock(&api_mutex); }

cudaError_t done(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

bool setting_is(const char *name) { return floe_emulated_setting(name, 0) != 0; }
size_t nalive;
static uint64_t calls_until_failure; /* 0: none fails */
bool is_to_fail() { return calls_until_failure && --calls_until_failure == 0; }
bool no_device() { return floe_emulated_setting("FLOE_EMULATED_DEVICES", 1) == 0; }

} // namespace floe_emulator

void floe_emulated_fail(uint64_t n)
{
    lock locked;
    calls_until_failure = n;
}
uint64_t floe_emulated_failing(void) { return calls_until_failure; }
uint64_t floe_emulated_alive(void) { return nalive + ranges_alive(); }

uint64_t floe_emulated_setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

void floe_emulated_launch(dim3 grid, dim3 block, size_t shared_nbytes, cudaStream_t stream, const void *kernel,
                          void (*body)(const void *args), const void *args, size_t nbytes)
{
    struct alignas(16) copied {
        unsigned char bytes[32764 + 64];
    } all;
    lock locked;
    if (no_device())
        return (void)done(cudaErrorNoDevice);
    if (is_to_fail())
        return (void)done(cudaErrorInvalidConfiguration);
    if (nbytes > sizeof all.bytes)
        floe_emulated_die("a kernel's arguments are larger than 32764 bytes");
    if (!is_grid(grid) || !is_block(block))
        return (void)done(cudaErrorInvalidConfiguration);
    if (shared_nbytes > shared_allowed(kernel))
        return (void)done(cudaErrorInvalidValue);
    static const bool log = setting_is("FLOE_EMULATED_LOG");
    if (log)
        fprintf(stderr, "emulator: launch of (%u, %u, %u) blocks of (%u, %u, %u), %zu bytes shared\n", grid.x, grid.y,
                grid.z, block.x, block.y, block.z, shared_nbytes);
    memcpy(all.bytes, args, nbytes);
    submit(stream, [=]() {
        reach within;
        const floe_emulated_call call = {grid, block, shared_nbytes, body, all.bytes};
        floe_emulated_run(&call);
    });
}

cudaError_t floe_emulated_attribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    ENTER;
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return cudaSuccess;
    CHECK(attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value >= 0 && (size_t)value <= shared_most(),
          cudaErrorInvalidValue);
    for (size_t i = 0; i < nallowances; i++)
        if (allowances[i].kernel == kernel) {
            allowances[i].nbytes = (size_t)value;
            return cudaSuccess;
        }
    allowances = (allowance *)realloc(allowances, (nallowances + 1) * sizeof *allowances);
    if (!allowances)
        floe_emulated_die("no memory for the list of kernels");
    allowances[nallowances++] = allowance{kernel, (size_t)value};
    return cudaSuccess;
}

cudaError_t floe_emulated_occupancy(int *nblocks, const void *kernel, int nthreads, size_t shared_nbytes)
{
    ENTER;
    CHECK(nblocks && nthreads > 0, cudaErrorInvalidValue);
    *nblocks = nthreads > FLOE_EMULATED_MAX_THREADS || shared_nbytes > shared_allowed(kernel) ? 0
               : shared_nbytes > shared_most() / 2                                            ? 1
                                                                                              : 2;
    return cudaSuccess;
}

/* ---- errors and the device ----------------------------------------------------------------------------------------- */

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}
cudaError_t cudaPeekAtLastError(void) { return last_error; }

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
};
const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &e : errors)
        if (e.error == error)
            return e.name;
    return "cudaErrorUnknown";
}
const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &e : errors)
        if (e.error == error)
            return e.text;
    return "unknown error";
}

cudaError_t cudaGetDeviceCount(int *count)
{
    CHECK(count, cudaErrorInvalidValue);
    *count = no_device() ? 0 : 1;
    return done(*count ? cudaSuccess : cudaErrorNoDevice);
}
cudaError_t cudaSetDevice(int device)
{
    ENTER;
    return done(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaGetDevice(int *device)
{
    ENTER_SURE;
    CHECK(device, cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    ENTER;
    CHECK(value, cudaErrorInvalidValue);
    CHECK(device == 0, cudaErrorInvalidDevice);
    return done(device_attribute(value, attribute));
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    ENTER;
    CHECK(p, cudaErrorInvalidValue);
    CHECK(device == 0, cudaErrorInvalidDevice);
    *p = cudaDeviceProp();
    snprintf(p->name, sizeof p->name, "floe's emulator of CUDA");
    p->totalGlobalMem = device_nbytes_limit();
    p->sharedMemPerBlock = SHARED_WITHOUT_ASKING;
    p->sharedMemPerBlockOptin = shared_most();
    p->sharedMemPerMultiprocessor = shared_most() + (1 << 10);
    p->major = capability_major();
    p->multiProcessorCount = processors();
    p->warpSize = 32;
    p->maxThreadsPerBlock = FLOE_EMULATED_MAX_THREADS;
    p->maxThreadsPerMultiProcessor = 2048;
    p->regsPerBlock = 65536;
    p->l2CacheSize = 32 << 20;
    p->memoryBusWidth = 5120;
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void)
{
    ENTER_SURE;
    NOT_IN_CAPTURE;
    all_drain(false);
    return cudaSuccess;
}
cudaError_t cudaDeviceReset(void) { return cudaDeviceSynchronize(); }
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }
cudaError_t cudaMemGetInfo(size_t *free_nbytes, size_t *total_nbytes)
{
    ENTER_SURE;
    *total_nbytes = device_nbytes_limit();
    *free_nbytes = *total_nbytes > device_nbytes_taken() ? *total_nbytes - device_nbytes_taken() : 0;
    return cudaSuccess;
}
