/* SPDX-License-Identifier: BSD-3-Clause */
#include "backend/cuda.h"

#include <string.h>

#include "backend/limits_cuda.h"
#include "base/try.h"

#ifdef FLOE_HAVE_CUDA_BUILD

#include <cuda_runtime_api.h>

floe_status floe_cuda_status(int error, const char *call, floe_error *err)
{
    if (error == cudaSuccess)
        return FLOE_OK;
    FLOE_TRY(floe_cuda_load(err));
    (void)cudaGetLastError(); /* what can be forgotten is forgotten */
    const char *bracket = strchr(call, '(');
    int length = bracket ? (int)(bracket - call) : (int)strlen(call);
    return floe_fail(err, error == cudaErrorMemoryAllocation ? FLOE_ERR_MEMORY : FLOE_ERR_DEVICE, "%.*s: %s", length,
                     call, cudaGetErrorString((cudaError_t)error));
}

static floe_status device_choose(floe_cuda *cuda, int device, floe_error *err)
{
    int count = 0;
    FLOE_TRY(floe_cuda_load(err));
    cudaError_t e = cudaGetDeviceCount(&count);
    (void)cudaGetLastError();
    FLOE_CHECK(err, e == cudaSuccess && count > 0, FLOE_ERR_DEVICE, "there is no usable GPU (%s)",
               e == cudaSuccess ? "none was found" : cudaGetErrorString(e));
    FLOE_CHECK(err, device < count, FLOE_ERR_DEVICE, "GPU %d requested, there are %d", device, count);
    cuda->device = device;
    if (device < 0)
        FLOE_CUDA(err, cudaGetDevice(&cuda->device));
    return FLOE_OK;
}

/* The kernels are compiled for certain GPUs; on others no launch succeeds. */
static floe_status device_fits(int device, floe_error *err)
{
    const floe_gpu_limits limits = floe_gpu_limits_cuda();
    const int error = floe_gpu_kernel_cuda();
    FLOE_CHECK(err, error == cudaSuccess, FLOE_ERR_DEVICE,
               "GPU %d has compute capability %u.%u: kernels of this build of floe do not run there (%s)", device,
               limits.major, limits.minor, cudaGetErrorString((cudaError_t)error));
    return FLOE_OK;
}

static floe_status beside_create(void **side, void **forked, void **joined, floe_error *err)
{
    int first;
    FLOE_CUDA(err, cudaDeviceGetStreamPriorityRange(NULL, &first));
    FLOE_CUDA(err, cudaStreamCreateWithPriority((cudaStream_t *)side, cudaStreamNonBlocking, first));
    FLOE_CUDA(err, cudaEventCreateWithFlags((cudaEvent_t *)joined, cudaEventDisableTiming));
    FLOE_CUDA(err, cudaEventCreateWithFlags((cudaEvent_t *)forked, cudaEventDisableTiming));
    return FLOE_OK;
}

static floe_status own_create(floe_cuda *cuda, floe_error *err)
{
    FLOE_CHECK(err, !cuda->workspace || floe_cuda_device_reaches(cuda->device, cuda->workspace), FLOE_ERR_ARGUMENT,
               "the device workspace lies in host memory, out of the GPU's reach");
    FLOE_CUDA(err, cudaMallocHost(&cuda->fetched, FLOE_CUDA_FETCHED_NBYTES));
    FLOE_CUDA(err, cudaMalloc(&cuda->state, FLOE_CUDA_STATE_NBYTES));
    FLOE_TRY(beside_create(&cuda->side, &cuda->forked, &cuda->joined, err));
    /* cudaMemset would wait for nothing, and the caller's stream perhaps not for it */
    FLOE_CUDA(err, cudaMemsetAsync(cuda->state, 0, FLOE_CUDA_STATE_NBYTES, (cudaStream_t)cuda->side));
    FLOE_CUDA(err, cudaStreamSynchronize((cudaStream_t)cuda->side));
    return FLOE_OK;
}

static void lane_free(const floe_cuda_lane *lane)
{
    if (lane->stream)
        cudaStreamDestroy((cudaStream_t)lane->stream);
    if (lane->side)
        cudaStreamDestroy((cudaStream_t)lane->side);
    if (lane->joined)
        cudaEventDestroy((cudaEvent_t)lane->joined);
    if (lane->forked)
        cudaEventDestroy((cudaEvent_t)lane->forked);
    if (lane->placed)
        cudaEventDestroy((cudaEvent_t)lane->placed);
    cudaFreeHost(lane->fetched);
}

static void own_free(floe_cuda *cuda)
{
    const floe_cuda_lane own = {NULL, cuda->side, cuda->forked, cuda->joined, NULL, cuda->fetched};
    cudaFree(cuda->state);
    lane_free(&own);
    for (int i = 0; i < FLOE_CUDA_LANES; i++)
        lane_free(&cuda->lanes[i]);
}

floe_status floe_cuda_open(floe_cuda *cuda, int device, void *stream, void *workspace, size_t workspace_nbytes,
                           floe_error *err)
{
    int before;
    *cuda = (floe_cuda){.stream = stream,
                        .workspace = workspace,
                        .workspace_nbytes = workspace_nbytes,
                        .caller_owns = workspace != NULL};
    FLOE_TRY(device_choose(cuda, device, err));
    FLOE_TRY(floe_cuda_enter(cuda, &before, err));
    floe_status status = device_fits(cuda->device, err);
    if (status == FLOE_OK)
        status = own_create(cuda, err);
    cuda->open = status == FLOE_OK;
    if (status != FLOE_OK)
        own_free(cuda);
    floe_cuda_leave(before);
    return status;
}

void floe_cuda_close(floe_cuda *cuda)
{
    int before;
    if (!cuda->open || floe_cuda_enter(cuda, &before, NULL) != FLOE_OK)
        return;
    if (!cuda->caller_owns)
        cudaFree(cuda->workspace);
    own_free(cuda);
    floe_cuda_leave(before);
    *cuda = (floe_cuda){.open = false};
}

floe_status floe_cuda_enter(const floe_cuda *cuda, int *before, floe_error *err)
{
    FLOE_CUDA(err, cudaGetDevice(before));
    if (*before != cuda->device)
        FLOE_CUDA(err, cudaSetDevice(cuda->device));
    return FLOE_OK;
}

void floe_cuda_leave(int before)
{
    int now;
    if (cudaGetDevice(&now) == cudaSuccess && now != before)
        cudaSetDevice(before);
}

floe_pointer_kind floe_cuda_pointer_kind(const void *p)
{
    struct cudaPointerAttributes a;
    if (!p || floe_cuda_load(NULL) != FLOE_OK || cudaPointerGetAttributes(&a, p) != cudaSuccess) {
        (void)cudaGetLastError();
        return FLOE_POINTER_PAGEABLE;
    }
    return a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged ? FLOE_POINTER_DEVICE
           : a.type == cudaMemoryTypeHost                                    ? FLOE_POINTER_PINNED
                                                                             : FLOE_POINTER_PAGEABLE;
}

static floe_status workspace_grow(floe_cuda *cuda, size_t needed, uint64_t max_nbytes, floe_error *err)
{
    FLOE_CHECK(err, !max_nbytes || needed <= max_nbytes, FLOE_ERR_LIMIT,
               "%zu bytes of device memory are needed, the limit is %llu", needed, (unsigned long long)max_nbytes);
    FLOE_TRY(floe_cuda_wait(cuda, err)); /* what is there may be in use */
    FLOE_CUDA(err, cudaFree(cuda->workspace));
    cuda->workspace = NULL;
    cuda->workspace_nbytes = 0;
    cudaError_t e = cudaMalloc(&cuda->workspace, needed);
    (void)cudaGetLastError();
    FLOE_CHECK(err, e == cudaSuccess, e == cudaErrorMemoryAllocation ? FLOE_ERR_MEMORY : FLOE_ERR_DEVICE,
               "cudaMalloc of %zu bytes of scratch: %s", needed, cudaGetErrorString(e));
    cuda->workspace_nbytes = needed;
    return FLOE_OK;
}

floe_status floe_cuda_workspace(floe_cuda *cuda, const floe_arena *plan, uint64_t max_nbytes, floe_arena *arena,
                                floe_error *err)
{
    FLOE_CHECK(err, !plan->overflow, FLOE_ERR_MEMORY, "more device memory is needed than can be addressed");
    if (plan->used > cuda->workspace_nbytes) {
        FLOE_CHECK(err, !cuda->caller_owns, FLOE_ERR_MEMORY, "the device workspace has %zu bytes, %zu are needed",
                   cuda->workspace_nbytes, plan->used);
        FLOE_TRY(workspace_grow(cuda, plan->used, max_nbytes, err));
    }
    *arena = floe_arena_of(cuda->workspace, cuda->workspace_nbytes);
    return FLOE_OK;
}

bool floe_cuda_is_short(void)
{
    size_t nfree = 0, ntotal;
    return cudaMemGetInfo(&nfree, &ntotal) != cudaSuccess || nfree < (size_t)64 << 20;
}

floe_status floe_cuda_clear(const floe_cuda *cuda, void *dev, size_t nbytes, floe_error *err)
{
    FLOE_CUDA(err, cudaMemsetAsync(dev, 0, nbytes, (cudaStream_t)cuda->stream));
    return FLOE_OK;
}

floe_status floe_cuda_copy(const floe_cuda *cuda, void *to, const void *from, size_t nbytes, floe_error *err)
{
    FLOE_CUDA(err, cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDefault, (cudaStream_t)cuda->stream));
    return FLOE_OK;
}

floe_status floe_cuda_copy_rows(const floe_cuda *cuda, const floe_cuda_rows *rows, floe_error *err)
{
    FLOE_CUDA(err, cudaMemcpy2DAsync(rows->to, rows->to_pitch, rows->from, rows->from_pitch, rows->nbytes, rows->count,
                                     cudaMemcpyDefault, (cudaStream_t)cuda->stream));
    return FLOE_OK;
}

floe_status floe_cuda_bring(const floe_cuda *cuda, size_t at, const void *dev, size_t nbytes, floe_error *err)
{
    FLOE_CUDA(err, cudaMemcpyAsync((uint8_t *)cuda->fetched + at, dev, nbytes, cudaMemcpyDeviceToHost,
                                   (cudaStream_t)cuda->stream));
    return FLOE_OK;
}

floe_status floe_cuda_fetch(const floe_cuda *cuda, void *host, const void *dev, size_t nbytes, floe_error *err)
{
    FLOE_TRY(floe_cuda_bring(cuda, 0, dev, nbytes, err));
    FLOE_TRY(floe_cuda_wait(cuda, err));
    memcpy(host, cuda->fetched, nbytes);
    return FLOE_OK;
}

floe_status floe_cuda_fork(const floe_cuda *cuda, void *stream, floe_error *err)
{
    FLOE_CUDA(err, cudaEventRecord((cudaEvent_t)cuda->forked, (cudaStream_t)stream));
    FLOE_CUDA(err, cudaStreamWaitEvent((cudaStream_t)cuda->side, (cudaEvent_t)cuda->forked, 0));
    return FLOE_OK;
}

/* `stream` waits for what is on `beside`; status and failures as floe_cuda_join has them. */
static floe_status join(void *beside, void *joined, void *stream, floe_status status, floe_error *err)
{
    floe_error *first = status == FLOE_OK ? err : NULL; /* the first failure's message */
    floe_status s =
        floe_cuda_status(cudaEventRecord((cudaEvent_t)joined, (cudaStream_t)beside), "cudaEventRecord", first);
    if (s == FLOE_OK)
        s = floe_cuda_status(cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)joined, 0), "cudaStreamWaitEvent",
                             first);
    if (s != FLOE_OK)
        cudaStreamSynchronize((cudaStream_t)beside);
    return status == FLOE_OK ? s : status;
}

floe_status floe_cuda_join(const floe_cuda *cuda, void *stream, floe_status status, floe_error *err)
{
    return join(cuda->side, cuda->joined, stream, status, err);
}

floe_status floe_cuda_wait(const floe_cuda *cuda, floe_error *err)
{
    FLOE_CUDA(err, cudaStreamSynchronize((cudaStream_t)cuda->stream));
    return FLOE_OK;
}

static floe_status lane_create(floe_cuda_lane *lane, floe_error *err)
{
    FLOE_TRY(beside_create(&lane->side, &lane->forked, &lane->joined, err));
    FLOE_CUDA(err, cudaStreamCreateWithFlags((cudaStream_t *)&lane->stream, cudaStreamNonBlocking));
    FLOE_CUDA(err, cudaEventCreateWithFlags((cudaEvent_t *)&lane->placed, cudaEventDisableTiming));
    FLOE_CUDA(err, cudaMallocHost(&lane->fetched, FLOE_CUDA_FETCHED_NBYTES));
    return FLOE_OK;
}

floe_status floe_cuda_lanes_open(floe_cuda *cuda, uint32_t n, floe_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        floe_cuda_lane *lane = &cuda->lanes[i];
        const floe_status status = lane->stream ? FLOE_OK : lane_create(lane, err);
        if (status != FLOE_OK) {
            lane_free(lane);
            *lane = (floe_cuda_lane){.stream = NULL};
            return status;
        }
    }
    return FLOE_OK;
}

floe_status floe_cuda_lanes_fork(const floe_cuda *cuda, uint32_t n, void *stream, floe_error *err)
{
    FLOE_CUDA(err, cudaEventRecord((cudaEvent_t)cuda->lanes[0].forked, (cudaStream_t)stream));
    for (uint32_t i = 0; i < n; i++)
        FLOE_CUDA(err, cudaStreamWaitEvent((cudaStream_t)cuda->lanes[i].stream, (cudaEvent_t)cuda->lanes[0].forked, 0));
    return FLOE_OK;
}

floe_status floe_cuda_lanes_join(const floe_cuda *cuda, uint32_t n, void *stream, floe_status status, floe_error *err)
{
    for (uint32_t i = 0; i < n; i++)
        status = join(cuda->lanes[i].stream, cuda->lanes[i].joined, stream, status, err);
    return status;
}

floe_cuda floe_cuda_on_lane(const floe_cuda *cuda, uint32_t i)
{
    const floe_cuda_lane *lane = &cuda->lanes[i];
    floe_cuda on = *cuda;
    on.stream = lane->stream;
    on.side = lane->side;
    on.forked = lane->forked;
    on.joined = lane->joined;
    on.fetched = lane->fetched;
    return on;
}

#else /* no CUDA in this build */

static floe_status absent(floe_error *err)
{
    return floe_fail(err, FLOE_ERR_DEVICE, "this build of floe has no CUDA, it runs on the CPU only");
}

floe_status floe_cuda_open(floe_cuda *cuda, int device, void *stream, void *workspace, size_t workspace_nbytes,
                           floe_error *err)
{
    (void)device, (void)stream, (void)workspace, (void)workspace_nbytes;
    *cuda = (floe_cuda){.open = false};
    return absent(err);
}
void floe_cuda_close(floe_cuda *cuda) { (void)cuda; }
floe_status floe_cuda_enter(const floe_cuda *cuda, int *before, floe_error *err)
{
    (void)cuda, (void)before;
    return absent(err);
}
void floe_cuda_leave(int before) { (void)before; }
bool floe_cuda_is_short(void) { return false; }
floe_pointer_kind floe_cuda_pointer_kind(const void *p)
{
    (void)p;
    return FLOE_POINTER_PAGEABLE;
}
floe_status floe_cuda_workspace(floe_cuda *cuda, const floe_arena *plan, uint64_t max_nbytes, floe_arena *arena,
                                floe_error *err)
{
    (void)cuda, (void)plan, (void)max_nbytes, (void)arena;
    return absent(err);
}
floe_status floe_cuda_copy(const floe_cuda *cuda, void *to, const void *from, size_t nbytes, floe_error *err)
{
    (void)cuda, (void)to, (void)from, (void)nbytes;
    return absent(err);
}
floe_status floe_cuda_copy_rows(const floe_cuda *cuda, const floe_cuda_rows *rows, floe_error *err)
{
    (void)cuda, (void)rows;
    return absent(err);
}
floe_status floe_cuda_wait(const floe_cuda *cuda, floe_error *err)
{
    (void)cuda;
    return absent(err);
}

#endif
