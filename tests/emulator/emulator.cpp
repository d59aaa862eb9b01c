/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs kernels on the CPU, so that machines without a GPU can test them. Not fast, but exact and strict: memory that a kernel
 * must not read is filled with garbage or guarded by AddressSanitizer, a lane that is missing from a warp operation or a
 * barrier is an error, and so is reading another lane's shared memory without one.
 *
 * A thread of a block is a fiber with a stack of its own; it runs until a warp or block operation makes it wait for others.
 * The fibers of a block run on one thread of the machine; up to BLOCKS blocks, taken in order, run at once, each on its own.
 * Blocks may wait for blocks before them, in loops that call floe_dev_pause.
 */
#include <cuda_runtime.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#undef threadIdx
#undef blockIdx

thread_local emulated_thread *emulated_now;
thread_local dim3 emulated_bdim, emulated_gdim;

namespace
{

enum {
    BLOCKS = 8, /* at once */
    SNAPSHOTS = 64,
    STUCK = 20000000 /* turns of a lane that waits in vain */
};
const size_t STACK_NBYTES = 1 << 20;
const unsigned char GARBAGE_SHARED = 0xA5, GARBAGE_DEVICE = 0xC3;

void die(const char *what, uint32_t a = 0, uint32_t b = 0)
{
    fprintf(stderr, "emulator: %s (%08x %08x)\n", what, a, b);
    abort();
}

/* ---- fibers -------------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)

/* Keeps what a callee must keep, exchanges stacks, and goes on where the other fiber left. */
extern "C" void floe_emulated_switch(void **save, void *load);
asm(R"(
.text
.globl floe_emulated_switch
.hidden floe_emulated_switch
.type floe_emulated_switch,@function
floe_emulated_switch:
 pushq %rbp
 pushq %rbx
 pushq %r12
 pushq %r13
 pushq %r14
 pushq %r15
 movq %rsp,(%rdi)
 movq %rsi,%rsp
 popq %r15
 popq %r14
 popq %r13
 popq %r12
 popq %rbx
 popq %rbp
 ret
.size floe_emulated_switch,.-floe_emulated_switch
)");

struct context {
    void *sp;
};
void context_switch(context &from, context &to) { floe_emulated_switch(&from.sp, to.sp); }
void context_make(context &c, char *stack, void (*entry)())
{
    void **sp = (void **)(stack + STACK_NBYTES - 64);
    *--sp = nullptr; /* entry never returns; keeps the stack aligned as after a call */
    *--sp = (void *)entry;
    for (int i = 0; i < 6; i++)
        *--sp = nullptr;
    c.sp = sp;
}

#else

struct context {
    ucontext_t u;
};
void context_switch(context &from, context &to) { swapcontext(&from.u, &to.u); }
void context_make(context &c, char *stack, void (*entry)())
{
    getcontext(&c.u);
    c.u.uc_stack.ss_sp = stack;
    c.u.uc_stack.ss_size = STACK_NBYTES;
    c.u.uc_link = nullptr;
    makecontext(&c.u, entry, 0);
}

#endif

struct fiber {
    context c;
    emulated_thread thread;
    char *stack;
    bool done, at_barrier;
};

/* What the lanes of a warp have brought to an operation. A snapshot keeps the values until the slowest lane has read them. */
struct warp {
    uint32_t arrived = 0, alive = 0, released = 0;
    uint32_t mask[32] = {0}, took_part[32] = {0};
    uint32_t snapshot_of[32] = {0}, nsnapshots = 0;
    uint64_t value[32] = {0}, snapshot[SNAPSHOTS][32];
};

struct block {
    std::vector<fiber> fibers;
    std::vector<warp> warps;
    int current = 0, ndone = 0, nwaiting = 0;
    uint64_t barriers = 0;
    int any = 0, all = 1, count = 0, verdict[3] = {0, 0, 0};
    context home;
    const std::function<void()> *kernel;
    char *shared;
};

thread_local block *here;
thread_local const void *home_bottom;
thread_local size_t home_nbytes;

void before_switch(void **fake, const void *bottom, size_t nbytes)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(fake, bottom, nbytes);
#else
    (void)fake, (void)bottom, (void)nbytes;
#endif
}
void after_switch(void *fake, const void **bottom, size_t *nbytes)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, bottom, nbytes);
#else
    (void)fake, (void)bottom, (void)nbytes;
#endif
}

void run_fiber(int i)
{
    fiber &from = here->fibers[here->current], &to = here->fibers[i];
    const int me = here->current;
    void *fake = nullptr;
    here->current = i;
    emulated_now = &to.thread;
    before_switch(from.done ? nullptr : &fake, to.stack, STACK_NBYTES);
    context_switch(from.c, to.c);
    after_switch(fake, nullptr, nullptr);
    here->current = me;
    emulated_now = &from.thread;
}

/* Another fiber of the block that can run; false: there is none. */
bool run_next()
{
    const int n = (int)here->fibers.size();
    for (int k = 1; k <= n; k++) {
        int i = (here->current + k) % n;
        if (here->fibers[i].done || here->fibers[i].at_barrier)
            continue;
        if (i != here->current)
            run_fiber(i);
        return true;
    }
    return false;
}

/* ---- block operations ---------------------------------------------------------------------------------------------- */

void barrier_open()
{
    here->nwaiting = 0;
    here->barriers++;
    here->verdict[0] = here->any, here->verdict[1] = here->all, here->verdict[2] = here->count;
    here->any = here->count = 0, here->all = 1;
    for (fiber &f : here->fibers)
        f.at_barrier = false;
}

bool barrier_is_full() { return here->nwaiting + here->ndone == (int)here->fibers.size(); }

void fiber_main()
{
    after_switch(nullptr, here->current == 0 ? &home_bottom : nullptr, here->current == 0 ? &home_nbytes : nullptr);
    (*here->kernel)();
    fiber &me = here->fibers[here->current];
    me.done = true;
    here->ndone++;
    here->warps[me.thread.warp].alive &= ~(1u << me.thread.lane);
    if (here->ndone == (int)here->fibers.size()) {
        before_switch(nullptr, home_bottom, home_nbytes);
        context_switch(me.c, here->home);
    }
    if (here->nwaiting && barrier_is_full())
        barrier_open();
    if (!run_next())
        die("threads wait at a barrier that others have left out");
    die("a thread goes on behind its end");
}

} // namespace

int emulated_barrier_or(int p, int which)
{
    const uint64_t turn = here->barriers;
    here->any |= p != 0, here->all &= p != 0, here->count += p != 0;
    here->nwaiting++;
    if (barrier_is_full()) {
        barrier_open();
        return here->verdict[which];
    }
    here->fibers[here->current].at_barrier = true;
    while (here->barriers == turn)
        if (!run_next())
            die("threads wait at a barrier that others do not reach");
    return here->verdict[which];
}

void emulated_barrier() { emulated_barrier_or(0, 0); }

/* ---- warp operations ----------------------------------------------------------------------------------------------- */

static void complete(warp &w, uint32_t mask)
{
    const uint32_t s = w.nsnapshots++ % SNAPSHOTS, lanes = mask & w.alive;
    memcpy(w.snapshot[s], w.value, sizeof w.value);
    for (int i = 0; i < 32; i++) {
        if (!(lanes >> i & 1))
            continue;
        if (w.mask[i] != mask)
            die("lanes of one operation name different masks", mask, w.mask[i]);
        w.snapshot_of[i] = s;
        w.took_part[i] = lanes;
    }
    w.arrived &= ~lanes;
    w.released |= lanes;
}

uint64_t *emulated_collective(uint32_t mask, uint64_t value, uint32_t *took_part)
{
    const int lane = emulated_now->lane;
    const uint32_t bit = 1u << lane;
    warp &w = here->warps[emulated_now->warp];
    if (!(mask & bit))
        die("a lane is not in the mask that it names", mask, bit);
    w.value[lane] = value;
    w.mask[lane] = mask;
    w.arrived |= bit;
    w.released &= ~bit;
    for (long turn = 0; !(w.released & bit); turn++) {
        if ((w.arrived & mask & w.alive) == (mask & w.alive)) {
            complete(w, mask);
            break;
        }
        if (turn == STUCK || !run_next())
            die("lanes wait for others of their mask", mask, w.arrived);
    }
    w.released &= ~bit;
    *took_part = w.took_part[lane];
    return w.snapshot[w.snapshot_of[lane]];
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

extern "C" void *floe_emulated_shared() { return here->shared; }

extern "C" void floe_emulated_yield()
{
    sched_yield(); /* other blocks */
    run_next();
}

namespace
{

char *stack_create()
{
    void *p = mmap(nullptr, STACK_NBYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        die("no memory for stacks");
    return (char *)p;
}

void run_block(dim3 grid, dim3 threads, dim3 at, size_t shared_nbytes, const std::function<void()> &kernel,
               std::vector<char *> &stacks)
{
    block b;
    const uint32_t n = threads.x * threads.y * threads.z;
    here = &b;
    b.fibers.resize(n);
    b.warps.resize((n + 31) / 32);
    b.kernel = &kernel;
    b.shared = (char *)malloc(shared_nbytes + 1); /* to the byte, for AddressSanitizer */
    memset(b.shared, GARBAGE_SHARED, shared_nbytes);
    emulated_bdim = threads;
    emulated_gdim = grid;
    for (uint32_t i = 0; i < n; i++) {
        fiber &f = b.fibers[i];
        if (stacks.size() <= i)
            stacks.push_back(stack_create());
        f.stack = stacks[i];
        f.done = f.at_barrier = false;
        f.thread.t = dim3(i % threads.x, i / threads.x % threads.y, i / threads.x / threads.y);
        f.thread.b = at;
        f.thread.lane = (int)(i % 32);
        f.thread.warp = (int)(i / 32);
        b.warps[i / 32].alive |= 1u << i % 32;
        context_make(f.c, f.stack, fiber_main);
    }
    void *fake = nullptr;
    emulated_now = &b.fibers[0].thread;
    before_switch(&fake, b.fibers[0].stack, STACK_NBYTES);
    context_switch(b.home, b.fibers[0].c);
    after_switch(fake, nullptr, nullptr);
    free(b.shared);
    here = nullptr;
}

void run_grid(dim3 grid, dim3 threads, size_t shared_nbytes, const std::function<void()> &kernel)
{
    const uint64_t n = (uint64_t)grid.x * grid.y * grid.z;
    std::atomic<uint64_t> next{0};
    std::vector<std::thread> workers;
    auto work = [&] {
        std::vector<char *> stacks;
        for (uint64_t i; (i = next++) < n;)
            run_block(grid, threads, dim3(i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y), shared_nbytes, kernel,
                      stacks);
        for (char *s : stacks)
            munmap(s, STACK_NBYTES);
    };
    for (uint64_t i = 0; i < n && i < BLOCKS; i++)
        workers.emplace_back(work);
    for (std::thread &w : workers)
        w.join();
}

} // namespace

/* ---- streams, graphs ----------------------------------------------------------------------------------------------- */

struct emulated_graph {
    std::vector<std::function<void()>> operations;
};

static thread_local emulated_graph *captured;

static cudaError_t enqueue(std::function<void()> operation)
{
    if (captured)
        captured->operations.push_back(operation);
    else
        operation();
    return cudaSuccess;
}

void floe_emulate(dim3 grid, dim3 threads, size_t shared_nbytes, void *stream, std::function<void()> kernel)
{
    (void)stream;
    enqueue([=] { run_grid(grid, threads, shared_nbytes, kernel); });
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

static std::mutex memory_lock;
static std::map<uintptr_t, size_t> device_memory, pinned_memory;

static bool lies_in(std::map<uintptr_t, size_t> &memory, const void *p)
{
    std::lock_guard<std::mutex> lock(memory_lock);
    auto after = memory.upper_bound((uintptr_t)p);
    if (after == memory.begin())
        return false;
    --after;
    return (uintptr_t)p - after->first < after->second;
}

static cudaError_t memory_take(std::map<uintptr_t, size_t> &memory, void **p, size_t nbytes)
{
    *p = nullptr;
    if (posix_memalign(p, 256, nbytes ? nbytes : 1) != 0)
        return cudaErrorMemoryAllocation;
    memset(*p, GARBAGE_DEVICE, nbytes);
    std::lock_guard<std::mutex> lock(memory_lock);
    memory[(uintptr_t)*p] = nbytes ? nbytes : 1;
    return cudaSuccess;
}

static cudaError_t memory_give(std::map<uintptr_t, size_t> &memory, void *p)
{
    std::lock_guard<std::mutex> lock(memory_lock);
    if (p && !memory.erase((uintptr_t)p))
        return cudaErrorInvalidValue;
    free(p);
    return cudaSuccess;
}

/* FLOE_EMULATED_MEMORY: bytes of the device. */
static bool device_has(size_t nbytes)
{
    const char *limit = getenv("FLOE_EMULATED_MEMORY");
    size_t used = 0;
    std::lock_guard<std::mutex> lock(memory_lock);
    for (auto &m : device_memory)
        used += m.second;
    return !limit || used + nbytes <= strtoull(limit, nullptr, 10);
}

extern "C" {

cudaError_t cudaMalloc(void **p, size_t nbytes)
{
    *p = nullptr;
    return device_has(nbytes) ? memory_take(device_memory, p, nbytes) : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *p) { return memory_give(device_memory, p); }
cudaError_t cudaMallocHost(void **p, size_t nbytes) { return memory_take(pinned_memory, p, nbytes); }
cudaError_t cudaFreeHost(void *p) { return memory_give(pinned_memory, p); }

cudaError_t cudaMemcpy(void *to, const void *from, size_t nbytes, enum cudaMemcpyKind)
{
    memcpy(to, from, nbytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t nbytes, enum cudaMemcpyKind, cudaStream_t)
{
    return enqueue([=] { memcpy(to, from, nbytes); });
}
cudaError_t cudaMemset(void *to, int value, size_t nbytes)
{
    memset(to, value, nbytes);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t nbytes, cudaStream_t)
{
    return enqueue([=] { memset(to, value, nbytes); });
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    memset(a, 0, sizeof *a);
    a->type = lies_in(device_memory, p)   ? cudaMemoryTypeDevice
              : lies_in(pinned_memory, p) ? cudaMemoryTypeHost
                                          : cudaMemoryTypeUnregistered;
    return cudaSuccess;
}

/* ---- the rest of the runtime: all is done when a call returns ------------------------------------------------------ */

cudaError_t cudaStreamCreate(cudaStream_t *s)
{
    *s = (cudaStream_t)malloc(1);
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) { return cudaStreamCreate(s); }
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    free(s);
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize(void) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t *e)
{
    *e = (cudaEvent_t)malloc(1);
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return cudaEventCreate(e); }
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    free(e);
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t)
{
    *ms = 1;
    return cudaSuccess;
}

/* FLOE_EMULATED_DEVICES: how many there are; 1 unless set. */
cudaError_t cudaGetDeviceCount(int *count)
{
    const char *given = getenv("FLOE_EMULATED_DEVICES");
    *count = given ? atoi(given) : 1;
    return *count ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int)
{
    *value = which == cudaDevAttrMultiProcessorCount ? 4 : which == cudaDevAttrComputeCapabilityMajor ? 9 : 0;
    return cudaSuccess;
}
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
cudaError_t cudaPeekAtLastError(void) { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t e)
{
    switch (e) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    default: return "invalid argument";
    }
}
const char *cudaGetErrorName(cudaError_t e) { return cudaGetErrorString(e); }

cudaError_t cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode)
{
    captured = new emulated_graph;
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
    *graph = captured;
    captured = nullptr;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    *exec = new emulated_graph(*graph);
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t)
{
    for (auto &operation : exec->operations)
        operation();
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    delete exec;
    return cudaSuccess;
}
}
