/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime API: memory, streams, events, capture. All of it under one lock. Work is a list of steps; it is done at once,
 * or with FLOE_EMULATED_LATE when something waits for it, or it is recorded while its stream captures.
 */
#include "emulator.h"

#include <time.h>

namespace
{

/* ---- the lock, errors ---------------------------------------------------------------------------------------------- */

pthread_mutex_t api_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
struct lock {
    lock() { pthread_mutex_lock(&api_mutex); }
    ~lock() { pthread_mutex_unlock(&api_mutex); }
};

thread_local cudaError_t last_error;
cudaError_t done(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

bool setting_is(const char *name) { return floe_emulated_setting(name, 0) != 0; }
bool no_device() { return floe_emulated_setting("FLOE_EMULATED_DEVICES", 1) == 0; }

#define CHECK(condition, error) \
    do {                        \
        if (!(condition))       \
            return done(error); \
    } while (0)
#define TRY(call)                          \
    do {                                   \
        const cudaError_t error_ = (call); \
        if (error_ != cudaSuccess)         \
            return done(error_);           \
    } while (0)
#define ENTER    \
    lock locked; \
    CHECK(!no_device(), cudaErrorNoDevice)

/* ---- memory that CUDA knows ---------------------------------------------------------------------------------------- */

struct range {
    char *begin;
    size_t nbytes;
    cudaMemoryType type;
    bool registered; /* pinned later, not ours to free */
};
range *ranges;
size_t nranges, ranges_room, device_nbytes;

range *range_find(const void *p)
{
    for (size_t i = 0; i < nranges; i++)
        if ((const char *)p >= ranges[i].begin &&
            (const char *)p < ranges[i].begin + (ranges[i].nbytes ? ranges[i].nbytes : 1))
            return &ranges[i];
    return NULL;
}
void range_add(void *p, size_t nbytes, cudaMemoryType type, bool registered)
{
    if (nranges == ranges_room) {
        ranges_room = 2 * ranges_room + 64;
        ranges = (range *)realloc(ranges, ranges_room * sizeof *ranges);
        if (!ranges)
            floe_emulated_die("no memory for the list of allocations");
    }
    ranges[nranges++] = range{(char *)p, nbytes, type, registered};
}
void range_remove(range *r) { *r = ranges[--nranges]; }

cudaMemoryType type_of(const void *p)
{
    const range *r = range_find(p);
    return r ? r->type : cudaMemoryTypeUnregistered;
}
bool is_device(const void *p) { return type_of(p) >= cudaMemoryTypeDevice; }
bool is_pageable(const void *p) { return type_of(p) == cudaMemoryTypeUnregistered; }

/* Whether n bytes from p on are all device memory of one allocation, or all not. */
bool is_whole(const void *p, size_t n)
{
    const range *r = range_find(p);
    return !r || r->registered || n <= (size_t)(r->begin + r->nbytes - (const char *)p);
}

/* Device memory is within reach while one of these lives. */
uint32_t nreaching;
struct reach {
    reach() { change(nreaching++ == 0, true); }
    ~reach() { change(--nreaching == 0, false); }
    static void change(bool needed, bool within)
    {
        for (size_t i = 0; needed && i < nranges; i++)
            if (ranges[i].type == cudaMemoryTypeDevice)
                floe_pages_reach(ranges[i].begin, ranges[i].nbytes, within);
    }
};

cudaError_t alloc(void **p, size_t nbytes, cudaMemoryType type)
{
    CHECK(p, cudaErrorInvalidValue);
    *p = NULL;
    if (nbytes == 0)
        return cudaSuccess;
    const size_t limit = floe_emulated_setting("FLOE_EMULATED_MEMORY", (uint64_t)8 << 30);
    const bool device = type >= cudaMemoryTypeDevice;
    CHECK(!device || (nbytes <= limit && device_nbytes <= limit - nbytes), cudaErrorMemoryAllocation);
    *p = floe_pages_alloc(nbytes);
    CHECK(*p, cudaErrorMemoryAllocation);
    if (type == cudaMemoryTypeDevice && !nreaching)
        floe_pages_reach(*p, nbytes, false);
    range_add(*p, nbytes, type, false);
    device_nbytes += device ? nbytes : 0;
    return cudaSuccess;
}
cudaError_t release(void *p, bool device)
{
    if (!p)
        return cudaSuccess;
    range *r = range_find(p);
    CHECK(r && r->begin == p && !r->registered && (r->type >= cudaMemoryTypeDevice) == device, cudaErrorInvalidValue);
    device_nbytes -= device ? r->nbytes : 0;
    const size_t nbytes = r->nbytes;
    range_remove(r);
    if (device)
        floe_pages_reach(p, nbytes, true);
    floe_pages_free(p, nbytes, device ? "device memory" : "pinned memory");
    return cudaSuccess;
}

/* ---- steps --------------------------------------------------------------------------------------------------------- */

struct step {
    step *next;
    size_t nbytes; /* of the whole step */
    void (*run)(step *);
};
struct steps {
    step *first, *last;
};
void steps_add(steps *s, step *it)
{
    it->next = NULL;
    if (s->last)
        s->last->next = it;
    else
        s->first = it;
    s->last = it;
}
step *step_copy(const step *it)
{
    step *copy = (step *)malloc(it->nbytes);
    if (!copy)
        floe_emulated_die("no memory for a step");
    memcpy((void *)copy, (const void *)it, it->nbytes);
    return copy;
}
void steps_free(steps *s)
{
    while (step *it = s->first) {
        s->first = it->next;
        free(it);
    }
    s->last = NULL;
}

} // namespace

struct CUgraph_st {
    steps all;
    bool invalid;
};
struct CUgraphExec_st {
    steps all;
};
struct CUstream_st {
    steps waiting;
    CUgraph_st *capture; /* NULL: none */
    bool origin;         /* began the capture */
    bool blocking;       /* in order with the default stream */
    cudaStreamCaptureMode mode;
    pthread_t capturer;
    CUstream_st *next; /* of all streams */
};
struct CUevent_st {
    bool timing;
    uint64_t recorded, reached; /* how often; the last one's */
    CUstream_st *stream;
    CUgraph_st *capture; /* where it was last recorded */
    double seconds;
};

namespace
{

CUstream_st default_stream = {{NULL, NULL}, NULL, false, true, cudaStreamCaptureModeGlobal, pthread_t(), NULL};
CUstream_st *streams = &default_stream;
uint32_t ncaptures;
thread_local cudaStreamCaptureMode thread_mode;

CUstream_st *stream_of(cudaStream_t s)
{
    return !s || s == cudaStreamLegacy || s == cudaStreamPerThread ? &default_stream : s;
}
bool is_late()
{
    static const bool late = setting_is("FLOE_EMULATED_LATE");
    return late;
}

/* Does the first step of a stream. False when there is none. */
bool stream_advance(CUstream_st *s)
{
    step *it = s->waiting.first;
    if (!it)
        return false;
    s->waiting.first = it->next;
    if (!it->next)
        s->waiting.last = NULL;
    it->run(it);
    free(it);
    return true;
}
void stream_drain(CUstream_st *s)
{
    while (stream_advance(s)) {
    }
}
void all_drain(bool blocking_only)
{
    for (CUstream_st *s = streams; s; s = s->next)
        if (s->blocking || !blocking_only)
            stream_drain(s);
}
/* The default stream waits for all blocking ones, and they for it. */
void stream_join_default(CUstream_st *s)
{
    if (s == &default_stream)
        all_drain(true);
    else if (s->blocking)
        stream_drain(&default_stream);
}
/* Until record number `until`, which was put on this stream, is reached. */
void event_drain(CUevent_st *e, CUstream_st *stream, uint64_t until)
{
    while (e->reached < until && stream_advance(stream)) {
    }
}
void event_drain(CUevent_st *e) { event_drain(e, e->stream, e->recorded); }

/* A call that may wait for the device, or is on the default stream, spoils a capture. */
bool capture_forbids()
{
    if (ncaptures == 0)
        return false;
    for (CUstream_st *s = streams; s; s = s->next) {
        const bool own = s->capture && pthread_equal(s->capturer, pthread_self());
        if (s->capture && thread_mode != cudaStreamCaptureModeRelaxed &&
            (s->mode == cudaStreamCaptureModeGlobal || (s->mode == cudaStreamCaptureModeThreadLocal && own))) {
            s->capture->invalid = true;
            return true;
        }
    }
    return false;
}
#define NOT_IN_CAPTURE CHECK(!capture_forbids(), cudaErrorStreamCaptureUnsupported)

/* Puts f on a stream: a closure of plain values. */
template <class F> cudaError_t submit(cudaStream_t on, const F &f)
{
    struct closure : step {
        F f;
        closure(const F &given) : step(), f(given) {}
    };
    CUstream_st *s = stream_of(on);
    closure *it = (closure *)malloc(sizeof(closure));
    if (!it)
        floe_emulated_die("no memory for a step");
    new (it) closure(f);
    it->nbytes = sizeof *it;
    it->run = [](step *self) { static_cast<closure *>(self)->f(); };
    if (s->capture) {
        steps_add(&s->capture->all, it);
        return cudaSuccess;
    }
    stream_join_default(s);
    steps_add(&s->waiting, it);
    if (!is_late())
        stream_drain(s);
    return cudaSuccess;
}

double now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- copies -------------------------------------------------------------------------------------------------------- */

struct copy {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, height;
};
void copy_run(const copy &c)
{
    reach within;
    for (size_t y = 0; y < c.height && c.width; y++)
        memmove(c.to + y * c.to_pitch, c.from + y * c.from_pitch, c.width);
}
cudaError_t copy_check(const copy &c, cudaMemcpyKind kind)
{
    if (c.width == 0 || c.height == 0)
        return cudaSuccess;
    const size_t to_nbytes = (c.height - 1) * c.to_pitch + c.width,
                 from_nbytes = (c.height - 1) * c.from_pitch + c.width;
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (!c.to || !c.from || c.width > c.to_pitch || c.width > c.from_pitch || !is_whole(c.to, to_nbytes) ||
        !is_whole(c.from, from_nbytes))
        return cudaErrorInvalidValue;
    if (kind != cudaMemcpyDefault && (to_device != is_device(c.to) || from_device != is_device(c.from)))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}
/* On a stream. Pageable memory is read before the call returns, and written before it returns. */
cudaError_t copy_submit(const copy &c, cudaMemcpyKind kind, cudaStream_t stream)
{
    TRY(copy_check(c, kind));
    if (!stream_of(stream)->capture && c.width && c.height && (is_pageable(c.to) || is_pageable(c.from))) {
        stream_join_default(stream_of(stream));
        stream_drain(stream_of(stream));
        copy_run(c);
        return cudaSuccess;
    }
    return submit(stream, [c]() { copy_run(c); });
}
cudaError_t copy_now(const copy &c, cudaMemcpyKind kind)
{
    NOT_IN_CAPTURE;
    TRY(copy_check(c, kind));
    all_drain(true);
    copy_run(c);
    return cudaSuccess;
}
copy copy_of(void *to, const void *from, size_t nbytes)
{
    return copy{(char *)to, (const char *)from, nbytes, nbytes, nbytes, 1};
}
void set_run(void *p, int value, size_t nbytes)
{
    reach within;
    if (nbytes)
        memset(p, value, nbytes);
}
cudaError_t set_check(void *p, size_t nbytes)
{
    return nbytes == 0 || (is_device(p) && is_whole(p, nbytes)) ? cudaSuccess : cudaErrorInvalidValue;
}

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

cudaError_t device_attribute(int *value, cudaDeviceAttr attribute)
{
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = FLOE_EMULATED_MAX_THREADS; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = SHARED_WITHOUT_ASKING; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrClockRate: *value = 1000000; break;
    case cudaDevAttrMultiProcessorCount: *value = 4; break; /* times two blocks: as many as are alive at once */
    case cudaDevAttrMemoryClockRate: *value = 1000000; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = 5120; break;
    case cudaDevAttrL2CacheSize: *value = 32 << 20; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 228 << 10; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = FLOE_EMULATED_MAX_SHARED; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

} // namespace

uint64_t floe_emulated_setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

void floe_emulated_explain(const void *address)
{
    const char *at = (const char *)address;
    const range *nearest = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < nranges; i++) {
        const char *begin = ranges[i].begin, *end = begin + ranges[i].nbytes;
        const size_t far = at < begin ? (size_t)(begin - at) : at >= end ? (size_t)(at - end) : 0;
        if (far < least) {
            least = far;
            nearest = &ranges[i];
        }
    }
    if (nearest && least < (size_t)1 << 30)
        fprintf(stderr, "emulator: %p is %zu bytes %s an allocation of %zu bytes at %p\n", address, least,
                at < nearest->begin ? "before" : "behind", nearest->nbytes, (void *)nearest->begin);
    else
        fprintf(stderr, "emulator: %p is nowhere near memory that was allocated, or was freed\n", address);
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

void floe_emulated_launch(dim3 grid, dim3 block, size_t shared_nbytes, cudaStream_t stream, const void *kernel,
                          void (*body)(const void *args), const void *args, size_t nbytes)
{
    struct alignas(16) copied {
        unsigned char bytes[4096 + 64];
    } all;
    lock locked;
    if (no_device())
        return (void)done(cudaErrorNoDevice);
    if (nbytes > sizeof all.bytes)
        floe_emulated_die("a kernel's arguments are larger than 4 KiB");
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
    CHECK(attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value >= 0 && value <= FLOE_EMULATED_MAX_SHARED,
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
               : shared_nbytes > FLOE_EMULATED_MAX_SHARED / 2                                 ? 1
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
    ENTER;
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
    p->totalGlobalMem = floe_emulated_setting("FLOE_EMULATED_MEMORY", (uint64_t)8 << 30);
    p->sharedMemPerBlock = SHARED_WITHOUT_ASKING;
    p->sharedMemPerBlockOptin = FLOE_EMULATED_MAX_SHARED;
    p->sharedMemPerMultiprocessor = 228 << 10;
    p->major = 9;
    p->multiProcessorCount = 4;
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
    ENTER;
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
    ENTER;
    *total_nbytes = floe_emulated_setting("FLOE_EMULATED_MEMORY", (uint64_t)8 << 30);
    *free_nbytes = *total_nbytes > device_nbytes ? *total_nbytes - device_nbytes : 0;
    return cudaSuccess;
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

cudaError_t cudaMalloc(void **p, size_t nbytes)
{
    ENTER;
    NOT_IN_CAPTURE;
    return alloc(p, nbytes, cudaMemoryTypeDevice);
}
cudaError_t cudaMallocAsync(void **p, size_t nbytes, cudaStream_t stream)
{
    ENTER;
    CHECK(!stream_of(stream)->capture, cudaErrorStreamCaptureUnsupported);
    return alloc(p, nbytes, cudaMemoryTypeDevice);
}
cudaError_t cudaMallocManaged(void **p, size_t nbytes, unsigned)
{
    ENTER;
    NOT_IN_CAPTURE;
    return alloc(p, nbytes, cudaMemoryTypeManaged);
}
cudaError_t cudaFree(void *p)
{
    ENTER;
    NOT_IN_CAPTURE;
    all_drain(false);
    return release(p, true);
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    ENTER;
    CHECK(!stream_of(stream)->capture, cudaErrorStreamCaptureUnsupported);
    return submit(stream, [p]() { release(p, true); });
}
cudaError_t cudaMallocHost(void **p, size_t nbytes)
{
    ENTER;
    NOT_IN_CAPTURE;
    return alloc(p, nbytes, cudaMemoryTypeHost);
}
cudaError_t cudaHostAlloc(void **p, size_t nbytes, unsigned) { return cudaMallocHost(p, nbytes); }
cudaError_t cudaFreeHost(void *p)
{
    ENTER;
    NOT_IN_CAPTURE;
    all_drain(false);
    return release(p, false);
}
cudaError_t cudaHostRegister(void *p, size_t nbytes, unsigned)
{
    ENTER;
    NOT_IN_CAPTURE;
    CHECK(p && nbytes, cudaErrorInvalidValue);
    CHECK(!range_find(p), cudaErrorHostMemoryAlreadyRegistered);
    range_add(p, nbytes, cudaMemoryTypeHost, true);
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void *p)
{
    ENTER;
    NOT_IN_CAPTURE;
    all_drain(false);
    range *r = range_find(p);
    CHECK(r && r->registered && r->begin == p, cudaErrorHostMemoryNotRegistered);
    range_remove(r);
    return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void **dev, void *host, unsigned)
{
    ENTER;
    CHECK(type_of(host) == cudaMemoryTypeHost, cudaErrorInvalidValue);
    *dev = host;
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p)
{
    ENTER;
    CHECK(a, cudaErrorInvalidValue);
    const range *r = range_find(p);
    *a = cudaPointerAttributes();
    a->type = r ? r->type : cudaMemoryTypeUnregistered;
    a->device = r ? 0 : -2;
    a->devicePointer = r ? (void *)p : NULL;
    a->hostPointer = r && r->type != cudaMemoryTypeDevice ? (void *)p : NULL;
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind)
{
    ENTER;
    return copy_now(copy_of(to, from, nbytes), kind);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    ENTER;
    return copy_submit(copy_of(to, from, nbytes), kind, stream);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
    ENTER;
    return copy_now(copy{(char *)to, (const char *)from, to_pitch, from_pitch, width, height}, kind);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    ENTER;
    return copy_submit(copy{(char *)to, (const char *)from, to_pitch, from_pitch, width, height}, kind, stream);
}
cudaError_t cudaMemset(void *p, int value, size_t nbytes)
{
    ENTER;
    NOT_IN_CAPTURE;
    TRY(set_check(p, nbytes));
    all_drain(true);
    set_run(p, value, nbytes);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t nbytes, cudaStream_t stream)
{
    ENTER;
    TRY(set_check(p, nbytes));
    return submit(stream, [=]() { set_run(p, value, nbytes); });
}

/* ---- streams and events -------------------------------------------------------------------------------------------- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    ENTER;
    CHECK(stream, cudaErrorInvalidValue);
    CUstream_st *s = (CUstream_st *)calloc(1, sizeof *s);
    CHECK(s, cudaErrorMemoryAllocation);
    s->blocking = !(flags & cudaStreamNonBlocking);
    s->next = default_stream.next;
    default_stream.next = s;
    *stream = s;
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    ENTER;
    CHECK(stream_of(stream) != &default_stream, cudaErrorInvalidResourceHandle);
    stream_drain(stream);
    for (CUstream_st *s = streams; s; s = s->next)
        if (s->next == stream)
            s->next = stream->next;
    free(stream);
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    ENTER;
    CUstream_st *s = stream_of(stream);
    if (s->capture) {
        s->capture->invalid = true;
        return done(cudaErrorStreamCaptureUnsupported);
    }
    NOT_IN_CAPTURE;
    stream_join_default(s);
    stream_drain(s);
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    ENTER;
    NOT_IN_CAPTURE;
    stream_advance(stream_of(stream));
    return done(stream_of(stream)->waiting.first ? cudaErrorNotReady : cudaSuccess);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    ENTER;
    CHECK(event, cudaErrorInvalidResourceHandle);
    CUstream_st *s = stream_of(stream);
    if (event->capture) { /* joins the capture; steps are recorded in the order of the calls, which is a right order */
        CHECK(event->stream->capture == event->capture, cudaErrorInvalidValue); /* that capture is over */
        CHECK(!s->capture || s->capture == event->capture, cudaErrorStreamCaptureUnsupported);
        s->capture = event->capture;
        s->capturer = event->stream->capturer;
        s->mode = event->stream->mode;
        return cudaSuccess;
    }
    /* for the record that there is now, not for those to come */
    return submit(stream,
                  [event, from = event->stream, until = event->recorded]() { event_drain(event, from, until); });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *arg)
{
    ENTER;
    CHECK(function, cudaErrorInvalidValue);
    return submit(stream, [=]() { function(arg); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    ENTER;
    CHECK(event, cudaErrorInvalidValue);
    *event = (CUevent_st *)calloc(1, sizeof **event);
    CHECK(*event, cudaErrorMemoryAllocation);
    (*event)->timing = !(flags & cudaEventDisableTiming);
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    ENTER;
    CHECK(event, cudaErrorInvalidResourceHandle);
    event_drain(event);
    all_drain(false); /* steps may wait for it */
    free(event);
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER;
    CHECK(event, cudaErrorInvalidResourceHandle);
    CUstream_st *s = stream_of(stream);
    event->stream = s;
    event->capture = s->capture;
    if (s->capture)
        return cudaSuccess;
    event->recorded++;
    return submit(stream, [event]() {
        event->reached++;
        event->seconds = now();
    });
}
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    ENTER;
    CHECK(event, cudaErrorInvalidResourceHandle);
    CHECK(!event->capture, cudaErrorStreamCaptureUnsupported);
    if (event->reached < event->recorded)
        stream_advance(event->stream);
    return done(event->reached < event->recorded ? cudaErrorNotReady : cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER;
    CHECK(event, cudaErrorInvalidResourceHandle);
    if (event->capture) {
        event->capture->invalid = true;
        return done(cudaErrorStreamCaptureUnsupported);
    }
    event_drain(event);
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    ENTER;
    CHECK(ms && begin && end && begin->timing && end->timing && begin->recorded && end->recorded,
          cudaErrorInvalidResourceHandle);
    CHECK(begin->reached == begin->recorded && end->reached == end->recorded, cudaErrorNotReady);
    *ms = (float)((end->seconds - begin->seconds) * 1e3);
    return cudaSuccess;
}

/* ---- capture ------------------------------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    ENTER;
    CUstream_st *s = stream_of(stream);
    CHECK(s != &default_stream, cudaErrorStreamCaptureUnsupported);
    CHECK(!s->capture, cudaErrorInvalidValue);
    CUgraph_st *graph = (CUgraph_st *)calloc(1, sizeof *graph);
    CHECK(graph, cudaErrorMemoryAllocation);
    s->capture = graph;
    s->origin = true;
    s->mode = mode;
    s->capturer = pthread_self();
    ncaptures++;
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    ENTER;
    CUstream_st *origin = stream_of(stream);
    CHECK(graph && origin->capture && origin->origin, cudaErrorInvalidValue);
    CUgraph_st *all = origin->capture;
    for (CUstream_st *s = streams; s; s = s->next)
        if (s->capture == all) {
            s->capture = NULL;
            s->origin = false;
        }
    ncaptures--;
    *graph = NULL;
    if (all->invalid) {
        steps_free(&all->all);
        free(all);
        return done(cudaErrorStreamCaptureInvalidated);
    }
    *graph = all;
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    ENTER;
    const CUgraph_st *graph = stream_of(stream)->capture;
    *status = !graph           ? cudaStreamCaptureStatusNone
              : graph->invalid ? cudaStreamCaptureStatusInvalidated
                               : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode)
{
    const cudaStreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    ENTER;
    CHECK(exec && graph, cudaErrorInvalidValue);
    *exec = (CUgraphExec_st *)calloc(1, sizeof **exec);
    CHECK(*exec, cudaErrorMemoryAllocation);
    for (const step *it = graph->all.first; it; it = it->next)
        steps_add(&(*exec)->all, step_copy(it));
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    ENTER;
    CHECK(exec, cudaErrorInvalidResourceHandle);
    CHECK(!stream_of(stream)->capture, cudaErrorStreamCaptureUnsupported);
    for (const step *it = exec->all.first; it; it = it->next) {
        stream_join_default(stream_of(stream));
        steps_add(&stream_of(stream)->waiting, step_copy(it));
        if (!is_late())
            stream_drain(stream_of(stream));
    }
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    ENTER;
    CHECK(graph, cudaErrorInvalidValue);
    steps_free(&graph->all);
    free(graph);
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    ENTER;
    CHECK(exec, cudaErrorInvalidValue);
    steps_free(&exec->all);
    free(exec);
    return cudaSuccess;
}
