/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime API: memory and copies. */
#include "emulator_state.h"

namespace
{

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

uint32_t nreaching; /* how many reach */
void reach_change(bool needed, bool within)
{
    for (size_t i = 0; needed && i < nranges; i++)
        if (ranges[i].type == cudaMemoryTypeDevice)
            floe_pages_reach(ranges[i].begin, ranges[i].nbytes, within);
}

cudaError_t alloc(void **p, size_t nbytes, cudaMemoryType type)
{
    CHECK(p, cudaErrorInvalidValue);
    *p = NULL;
    if (nbytes == 0)
        return cudaSuccess;
    const size_t limit = device_nbytes_limit();
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

} // namespace

namespace floe_emulator
{

reach::reach() { reach_change(nreaching++ == 0, true); }
reach::~reach() { reach_change(--nreaching == 0, false); }

uint64_t device_nbytes_limit() { return floe_emulated_setting("FLOE_EMULATED_MEMORY", (uint64_t)8 << 30); }
size_t device_nbytes_taken() { return device_nbytes; }
size_t ranges_alive() { return nranges; }

} // namespace floe_emulator

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

/* ---- memory -------------------------------------------------------------------------------------------------------- */

cudaError_t cudaMalloc(void **p, size_t nbytes)
{
    ENTER_OR(cudaErrorMemoryAllocation);
    NOT_IN_CAPTURE;
    return alloc(p, nbytes, cudaMemoryTypeDevice);
}
cudaError_t cudaMallocAsync(void **p, size_t nbytes, cudaStream_t stream)
{
    ENTER_OR(cudaErrorMemoryAllocation);
    CHECK(!stream_of(stream)->capture, cudaErrorStreamCaptureUnsupported);
    return alloc(p, nbytes, cudaMemoryTypeDevice);
}
cudaError_t cudaMallocManaged(void **p, size_t nbytes, unsigned)
{
    ENTER_OR(cudaErrorMemoryAllocation);
    NOT_IN_CAPTURE;
    return alloc(p, nbytes, cudaMemoryTypeManaged);
}
cudaError_t cudaFree(void *p)
{
    ENTER_SURE;
    NOT_IN_CAPTURE;
    if (p) /* nothing that runs can need NULL */
        all_drain(false);
    return release(p, true);
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    ENTER_SURE;
    CHECK(!stream_of(stream)->capture, cudaErrorStreamCaptureUnsupported);
    return submit(stream, [p]() { release(p, true); });
}
cudaError_t cudaMallocHost(void **p, size_t nbytes)
{
    ENTER_OR(cudaErrorMemoryAllocation);
    NOT_IN_CAPTURE;
    return alloc(p, nbytes, cudaMemoryTypeHost);
}
cudaError_t cudaHostAlloc(void **p, size_t nbytes, unsigned) { return cudaMallocHost(p, nbytes); }
cudaError_t cudaFreeHost(void *p)
{
    ENTER_SURE;
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
    ENTER_SURE;
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
    ENTER_SURE;
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
/* The host does not wait for it, nor do streams that are not blocking. */
cudaError_t cudaMemset(void *p, int value, size_t nbytes)
{
    ENTER;
    NOT_IN_CAPTURE;
    TRY(set_check(p, nbytes));
    return submit(NULL, [=]() { set_run(p, value, nbytes); });
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t nbytes, cudaStream_t stream)
{
    ENTER;
    TRY(set_check(p, nbytes));
    return submit(stream, [=]() { set_run(p, value, nbytes); });
}
