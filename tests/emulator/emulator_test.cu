/* SPDX-License-Identifier: BSD-3-Clause */
/* The emulator keeps its promises: what kernels may rely on holds on it, too. */
#include "backend/device.cuh"

#include <sys/wait.h>
#include <unistd.h>

namespace
{

int nfailed;
#define EXPECT(condition)                                                  \
    do {                                                                   \
        if (!(condition)) {                                                \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            nfailed++;                                                     \
        }                                                                  \
    } while (0)

enum { BLOCK = 256, BLOCKS = 37 };

/* ---- warps --------------------------------------------------------------------------------------------------------- */

__global__ void warp_kernel(uint32_t *wrong)
{
    const uint32_t lane = floe_lane(), all = FLOE_ALL_LANES;
    uint32_t bad = 0;
    bad += __shfl_sync(all, lane, 5) != 5;
    bad += __shfl_sync(all, lane, 5, 8) != (lane & 24) + 5;
    bad += __shfl_up_sync(all, lane, 3) != (lane < 3 ? lane : lane - 3);
    bad += __shfl_up_sync(all, lane, 3, 8) != (lane % 8 < 3 ? lane : lane - 3);
    bad += __shfl_down_sync(all, lane, 3, 16) != (lane % 16 > 12 ? lane : lane + 3);
    bad += __shfl_xor_sync(all, lane, 17) != (lane ^ 17);
    bad += __shfl_sync(all, 1.5 * lane, 31) != 46.5;
    bad += __shfl_sync(all, (uint64_t)lane << 40, 2) != (uint64_t)2 << 40;
    bad += __ballot_sync(all, lane % 3 == 0) != 0x49249249u;
    bad += !__any_sync(all, lane == 30) + !__all_sync(all, lane < 32) + __any_sync(all, 0) + __all_sync(all, lane);
    bad += __match_any_sync(all, lane / 4) != 0xFu << lane / 4 * 4;
    bad += __reduce_add_sync(all, lane) != 496;
    bad += __reduce_max_sync(all, -(int)lane) != 0;
    bad += __reduce_min_sync(all, -(int)lane) != -31;
    bad += __reduce_or_sync(all, 1u << lane) != all;
    /* half a warp by itself, then all again */
    if (lane < 16)
        bad += __reduce_add_sync(0xFFFFu, lane) != 120;
    else
        bad += __shfl_sync(0xFFFF0000u, lane, 20) != 20;
    __syncwarp();
    /* lanes that have returned do not count */
    if (lane == 7 && threadIdx.x < 32) {
        atomicAdd(wrong, bad);
        return;
    }
    bad += __ballot_sync(all, 1) != (threadIdx.x < 32 ? ~(1u << 7) : all);
    __syncthreads();
    atomicAdd(wrong, bad);
}

/* ---- blocks -------------------------------------------------------------------------------------------------------- */

template <class T> __global__ void block_kernel(T *sums, uint32_t *wrong)
{
    __shared__ T partial[BLOCK / 32];
    FLOE_DYNAMIC_SHARED(T, all);
    uint32_t bad = 0;
    for (uint32_t round = 0; round < 5; round++) {
        all[threadIdx.x] = (T)(threadIdx.x + blockIdx.x + round);
        __syncthreads();
        T sum = all[(threadIdx.x + 1) % BLOCK];
        for (int by = 16; by; by /= 2)
            sum += __shfl_xor_sync(FLOE_ALL_LANES, sum, by);
        if (floe_lane() == 0)
            partial[threadIdx.x / 32] = sum;
        __syncthreads();
        T total = 0;
        for (uint32_t w = 0; w < BLOCK / 32; w++)
            total += partial[w];
        bad += total != (T)(BLOCK * (BLOCK - 1) / 2 + BLOCK * (blockIdx.x + round));
        if (threadIdx.x == 0)
            sums[blockIdx.x] = total;
        bad += __syncthreads_count(threadIdx.x < 77) != 77;
        bad += !__syncthreads_or(threadIdx.x == 200) + __syncthreads_and(threadIdx.x != 3);
    }
    atomicAdd(wrong, bad);
}

/* Each block waits for the one before it. */
__global__ void chain_kernel(uint64_t *state, uint32_t *ticket, uint64_t *out)
{
    __shared__ uint32_t mine;
    __shared__ uint64_t before;
    if (threadIdx.x == 0)
        mine = atomicAdd(ticket, 1u);
    __syncthreads();
    if (threadIdx.x == 0) {
        before = 0;
        while (mine > 0 && (before = floe_load_shared_state(&state[mine - 1])) == 0)
            floe_dev_pause();
        __threadfence();
        floe_store_shared_state(&state[mine], before + mine + 1);
    }
    __syncthreads();
    if (threadIdx.x == BLOCK - 1)
        out[mine] = before;
}

/* Eight blocks may wait for each other. */
__global__ void rendezvous_kernel(uint32_t *here, uint32_t *shared_wrong)
{
    __shared__ uint32_t id;
    if (threadIdx.x == 0)
        id = blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(here, 1u);
        while (*(volatile uint32_t *)here < gridDim.x)
            floe_dev_pause();
    }
    __syncthreads();
    if (id != blockIdx.x)
        atomicAdd(shared_wrong, 1u);
}

__global__ void atomics_kernel(uint32_t *u, unsigned long long *l, float *f)
{
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    atomicAdd(u, 1u);
    atomicMax(u + 1, i);
    atomicMin(u + 2, i);
    atomicOr(u + 3, 1u << i % 32);
    atomicAdd(l, 1ull << 33);
    atomicCAS(u + 4, 0u, i + 1);
    atomicAdd(f, 1.0f);
}

/* ---- what is not set ----------------------------------------------------------------------------------------------- */

__global__ void garbage_kernel(const uint32_t *dev, uint32_t *zeros)
{
    __shared__ uint32_t s[4];
    FLOE_DYNAMIC_SHARED(uint32_t, d);
    if (threadIdx.x < 4)
        atomicAdd(zeros, (uint32_t)(s[threadIdx.x] == 0) + (d[threadIdx.x] == 0) + (dev[threadIdx.x] == 0));
    __syncthreads();
    s[threadIdx.x % 4] = d[threadIdx.x % 4] = 0;
}

__global__ void add_kernel(uint32_t *p, uint32_t n, uint32_t by)
{
    for (uint32_t i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        p[i] += by;
}

/* ---- what is wrong ------------------------------------------------------------------------------------------------- */

__global__ void lane_missing_kernel()
{
    if (threadIdx.x != 5)
        __syncwarp();
    __syncthreads();
}
__global__ void not_in_mask_kernel() { __syncwarp(1u); }
__global__ void different_kernel()
{
    if (floe_lane() < 9)
        __any_sync(FLOE_ALL_LANES, 1);
    else
        __syncwarp();
}
__global__ void forever_kernel(const uint32_t *flag)
{
    while (*(const volatile uint32_t *)flag != 1)
        floe_dev_pause();
}
__global__ void write_kernel(uint32_t *p, uint32_t i) { p[i] = 7; }
__global__ void shared_kernel(uint32_t n)
{
    FLOE_DYNAMIC_SHARED(uint32_t, s);
    s[n] = 1;
}
/* Without the wait nothing has arrived; and by a wait for all but the last ones, not these. */
__global__ void copy_kernel(const uint4 *from, uint32_t *arrived)
{
    __shared__ uint4 s[FLOE_WARP];
    __shared__ uint32_t last[FLOE_WARP];
    const uint32_t lane = floe_lane();
    s[lane].x = 0;
    s[lane].w = 9;
    if (lane % 2)
        floe_copy16_async(&s[lane], from + lane);
    else
        floe_copy4_async(&s[lane].x, &from[lane].x); /* the others stay */
    floe_copy_async_commit();
    arrived[0] += s[lane].x == lane + 1;
    last[lane] = 0;
    floe_copy4_async(&last[lane], &from[lane].x);
    floe_copy_async_commit();
    floe_copy_async_wait_but<1>();
    arrived[0] += last[lane] != 0;
    arrived[2] += s[lane].x == lane + 1;
    floe_copy_async_wait();
    __syncwarp();
    arrived[2] += last[lane ^ 1] == (lane ^ 1) + 1;
    arrived[1] += s[lane ^ 1].x == (lane ^ 1) + 1 && s[lane ^ 1].w == (lane % 2 ? 9 : 0);
}

/* ---- the tests ----------------------------------------------------------------------------------------------------- */

template <class T> T fetch(const T *dev)
{
    T value;
    EXPECT(cudaMemcpy(&value, dev, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
    return value;
}
template <class T> T *zeroed(size_t n)
{
    T *p;
    EXPECT(cudaMalloc(&p, n * sizeof *p) == cudaSuccess);
    EXPECT(cudaMemset(p, 0, n * sizeof *p) + cudaDeviceSynchronize() == 0); /* for streams that do not wait */
    return p;
}

void test_kernels()
{
    uint32_t *u = zeroed<uint32_t>(8);
    uint64_t *chain = zeroed<uint64_t>(BLOCKS), *out = zeroed<uint64_t>(BLOCKS);
    float *f = zeroed<float>(BLOCKS);

    FLOE_LAUNCH(warp_kernel, 3, BLOCK, 0, NULL, u);
    EXPECT(fetch(u) == 0);
    FLOE_LAUNCH(block_kernel<float>, BLOCKS, BLOCK, BLOCK * sizeof(float), NULL, f, u);
    FLOE_LAUNCH(block_kernel<uint64_t>, BLOCKS, BLOCK, BLOCK * sizeof(uint64_t), NULL, out, u);
    EXPECT(fetch(u) == 0);
    EXPECT(fetch(out + 3) == BLOCK * (BLOCK - 1) / 2 + BLOCK * 7);
    FLOE_LAUNCH(chain_kernel, BLOCKS, BLOCK, 0, NULL, chain, u, out);
    EXPECT(fetch(out + BLOCKS - 1) == (BLOCKS - 1) * BLOCKS / 2);
    FLOE_LAUNCH(rendezvous_kernel, 8, 64, 0, NULL, u + 1, u + 2);
    EXPECT(fetch(u + 1) == 8 && fetch(u + 2) == 0);

    EXPECT(cudaMemset(u, 0, 32) == cudaSuccess && cudaMemset(u + 2, 0xFF, 4) == cudaSuccess);
    EXPECT(cudaMemset(f, 0, 4) == cudaSuccess && cudaMemset(chain, 0, 8) == cudaSuccess);
    FLOE_LAUNCH(atomics_kernel, BLOCKS, BLOCK, 0, NULL, u, (unsigned long long *)chain, f);
    EXPECT(fetch(u) == BLOCKS * BLOCK && fetch(u + 1) == BLOCKS * BLOCK - 1 && fetch(u + 2) == 0);
    EXPECT(fetch(u + 3) == FLOE_ALL_LANES && fetch(u + 4) != 0);
    EXPECT(fetch(chain) == (uint64_t)BLOCKS * BLOCK << 33 && fetch(f) == BLOCKS * BLOCK);

    uint32_t *fresh;
    EXPECT(cudaMalloc(&fresh, 64) == cudaSuccess && cudaMemset(u, 0, 4) == cudaSuccess);
    FLOE_LAUNCH(garbage_kernel, 9, 64, 16, NULL, fresh, u);
    EXPECT(fetch(u) == 0);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaFree(u) + cudaFree(chain) + cudaFree(out) + cudaFree(f) + cudaFree(fresh) == 0);
}

void test_capture()
{
    enum { N = 1000 };
    uint32_t *p = zeroed<uint32_t>(N), *q = zeroed<uint32_t>(N);
    cudaStream_t a, b;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    EXPECT(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking) +
               cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking) ==
           0);
    EXPECT(cudaEventCreate(&forked) + cudaEventCreate(&joined) == 0);

    EXPECT(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal) == cudaSuccess);
    uint32_t by = 3;
    FLOE_LAUNCH(add_kernel, 2, BLOCK, 0, a, p, N, by);
    by = 1000; /* the launch has its own copy */
    EXPECT(cudaEventRecord(forked, a) + cudaStreamWaitEvent(b, forked, 0) == 0);
    FLOE_LAUNCH(add_kernel, 2, BLOCK, 0, b, p, N, 4u);
    EXPECT(cudaEventRecord(joined, b) + cudaStreamWaitEvent(a, joined, 0) == 0);
    EXPECT(cudaMemcpyAsync(q, p, N * sizeof *p, cudaMemcpyDeviceToDevice, a) == cudaSuccess);
    EXPECT(cudaStreamEndCapture(a, &graph) == cudaSuccess);
    EXPECT(fetch(p) == 0); /* nothing ran */

    EXPECT(cudaGraphInstantiate(&exec, graph, 0) + cudaGraphDestroy(graph) == 0);
    for (int i = 0; i < 3; i++)
        EXPECT(cudaGraphLaunch(exec, a) == cudaSuccess);
    EXPECT(cudaStreamSynchronize(a) == cudaSuccess);
    EXPECT(fetch(q + N - 1) == 21);

    void *no;
    EXPECT(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    EXPECT(cudaMalloc(&no, 16) == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(a, &graph) == cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaGetLastError() != cudaSuccess && cudaGetLastError() == cudaSuccess);
    EXPECT(cudaGraphExecDestroy(exec) + cudaEventDestroy(forked) + cudaEventDestroy(joined) == 0);
    EXPECT(cudaStreamDestroy(a) + cudaStreamDestroy(b) + cudaFree(p) + cudaFree(q) == 0);
}

void test_api()
{
    void *dev, *pinned;
    char pageable[64];
    cudaPointerAttributes at;
    EXPECT(cudaMalloc(&dev, 100) + cudaMallocHost(&pinned, 64) == 0);
    EXPECT(cudaPointerGetAttributes(&at, (char *)dev + 99) == cudaSuccess && at.type == cudaMemoryTypeDevice);
    EXPECT(cudaPointerGetAttributes(&at, pinned) == cudaSuccess && at.type == cudaMemoryTypeHost);
    EXPECT(cudaPointerGetAttributes(&at, pageable) == cudaSuccess && at.type == cudaMemoryTypeUnregistered);
    /* what a GPU would refuse */
    EXPECT(cudaMemcpy(dev, pageable, 101, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(pageable, dev, 10, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaFree((char *)dev + 1) == cudaErrorInvalidValue);
    FLOE_LAUNCH(add_kernel, 0, BLOCK, 0, NULL, (uint32_t *)dev, 0u, 0u); /* not made: a failure is pending */
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    FLOE_LAUNCH(add_kernel, 0, BLOCK, 0, NULL, (uint32_t *)dev, 0u, 0u);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    FLOE_LAUNCH(add_kernel, 1, 1025, 0, NULL, (uint32_t *)dev, 0u, 0u);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    FLOE_LAUNCH(add_kernel, 1, BLOCK, 64 << 10, NULL, (uint32_t *)dev, 0u, 0u);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(add_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10) == cudaSuccess);
    FLOE_LAUNCH(add_kernel, 1, BLOCK, 64 << 10, NULL, (uint32_t *)dev, 0u, 0u);
    EXPECT(cudaGetLastError() == cudaSuccess);

    setenv("FLOE_EMULATED_MEMORY", "1000", 1);
    void *more;
    EXPECT(cudaMalloc(&more, 901) == cudaErrorMemoryAllocation && cudaGetLastError() == cudaErrorMemoryAllocation);
    unsetenv("FLOE_EMULATED_MEMORY");
    setenv("FLOE_EMULATED_DEVICES", "0", 1);
    int n;
    EXPECT(cudaGetDeviceCount(&n) == cudaErrorNoDevice && n == 0);
    unsetenv("FLOE_EMULATED_DEVICES");
    EXPECT(cudaFree(dev) + cudaFreeHost(pinned) == 0);
}

void test_copies()
{
    uint4 host[FLOE_WARP], *from = zeroed<uint4>(FLOE_WARP);
    uint32_t *arrived = zeroed<uint32_t>(3);
    for (uint32_t i = 0; i < FLOE_WARP; i++)
        host[i] = make_uint4(i + 1, 0, 0, 0);
    EXPECT(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice) == cudaSuccess);
    FLOE_LAUNCH(copy_kernel, 1, FLOE_WARP, 0, NULL, from, arrived);
    EXPECT(fetch(arrived) == 0 && fetch(arrived + 1) == FLOE_WARP && fetch(arrived + 2) == 2 * FLOE_WARP);
    EXPECT(cudaFree(from) + cudaFree(arrived) == 0);
}

/* What breaks in each way, in a process of its own. */
void breaks(int how)
{
    uint32_t *p = zeroed<uint32_t>(100);
    switch (how) {
    case 0: FLOE_LAUNCH(lane_missing_kernel, 1, 64, 0, NULL); break;
    case 1: FLOE_LAUNCH(not_in_mask_kernel, 1, 32, 0, NULL); break;
    case 2: FLOE_LAUNCH(different_kernel, 1, 32, 0, NULL); break;
    case 3:
        setenv("FLOE_EMULATED_PATIENCE", "1000", 1);
        FLOE_LAUNCH(forever_kernel, 3, 32, 0, NULL, p);
        break;
    case 4: FLOE_LAUNCH(write_kernel, 1, 1, 0, NULL, p, 5000u); break;
    case 5:
        FLOE_LAUNCH(write_kernel, 1, 1, 0, NULL, p, 100u);
        cudaFree(p);
        break;
    case 6: FLOE_LAUNCH(shared_kernel, 1, 32, 128, NULL, 32u); break;
    case 7:
        cudaFree(p);
        FLOE_LAUNCH(write_kernel, 1, 1, 0, NULL, p, 0u);
        break;
    case 8: p[0] = 1; break;
    }
    cudaDeviceSynchronize();
}
const struct {
    const char *says; /* NULL: the system does, or AddressSanitizer */
} broken[] = {{"lanes ffffffdf wait in __syncwarp of lanes ffffffff"},
              {"a lane is not in its own mask"},
              {"lanes of one mask do different things"},
              {"blocks wait for each other, or for one that never comes"},
              {NULL},
              {NULL},
              {NULL},
              {NULL},
              {NULL}};

/* Whether a process that does this ends badly, and reports why. */
bool ends_badly(int how, const char *says)
{
    static char text[1 << 16];
    int ends[2], status = 0;
    size_t n = 0;
    ssize_t got;
    if (pipe(ends) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        breaks(how);
        _exit(0);
    }
    close(ends[1]);
    while (n < sizeof text - 1 && (got = read(ends[0], text + n, sizeof text - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = 0;
    close(ends[0]);
    return waitpid(child, &status, 0) == child && status != 0 && (!says || strstr(text, says));
}

void test_breaking()
{
    for (int i = 0; i < (int)(sizeof broken / sizeof *broken); i++)
        if (!ends_badly(i, broken[i].says)) {
            printf("way %d to break passed, or did not say '%s'\n", i, broken[i].says ? broken[i].says : "");
            nfailed++;
        }
}

} // namespace

int main()
{
    test_breaking(); /* forks, so before there are threads */
    test_copies();
    test_kernels();
    test_capture();
    test_api();
    printf("%d failed\n", nfailed);
    return nfailed != 0;
}
