/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benches share: a way out, the time, medians, memory, words that choose cases, and the same on a GPU. */
#ifndef FLOE_BENCH_KIT_H
#define FLOE_BENCH_KIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef FLOE_HAVE_CUDA_BUILD
#include <cuda_runtime_api.h>
#endif

#define DIE(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

/* A call of the library that must succeed. */
#define FL(ctx, call)                                                               \
    do {                                                                            \
        if ((call) != FLOE_OK)                                                      \
            DIE("%s:%d: %s: %s", __FILE__, __LINE__, #call, floe_ctx_message(ctx)); \
    } while (0)

static inline double bench_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double bench_now(void) { return bench_seconds(CLOCK_MONOTONIC); }

/* Of all threads together: other work on the machine matters little. */
static inline double bench_processor_now(void) { return bench_seconds(CLOCK_PROCESS_CPUTIME_ID); }

static inline int bench_by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static inline double bench_median(double *seconds, int n)
{
    qsort(seconds, (size_t)n, sizeof *seconds, bench_by_size);
    return seconds[n / 2];
}

/* Zeros, on a border that is good for scratch of the library, too. */
static inline void *bench_alloc(uint64_t nbytes)
{
    enum { ALIGN = 256 };
    void *p = aligned_alloc(ALIGN, (size_t)((nbytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1)));
    if (!p)
        DIE("no memory for %llu bytes", (unsigned long long)nbytes);
    return memset(p, 0, (size_t)nbytes);
}

/* Is a case of this name requested? The words from `first` on are parts of names; none: all cases. */
static inline bool bench_is_chosen(const char *name, int argc, char **argv, int first)
{
    bool chosen = first >= argc;
    for (int i = first; i < argc; i++)
        chosen |= strstr(name, argv[i]) != NULL;
    return chosen;
}

#ifdef FLOE_HAVE_CUDA_BUILD

#define CU(call)                                                                     \
    do {                                                                             \
        const cudaError_t e_ = (cudaError_t)(call);                                  \
        if (e_ != cudaSuccess)                                                       \
            DIE("%s:%d: %s: %s", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
    } while (0)

static inline bool bench_has_gpu(void)
{
    int ndevices = 0;
    return cudaGetDeviceCount(&ndevices) == cudaSuccess && ndevices > 0;
}

/* Zeros. */
static inline void *bench_dev_alloc(uint64_t nbytes)
{
    void *p;
    CU(cudaMalloc(&p, nbytes));
    CU(cudaMemset(p, 0, nbytes));
    return p;
}

/* Median seconds between two events of what a function puts on the stream; seconds: room for `repeats`. */
static inline double bench_gpu_median(cudaStream_t stream, void (*call)(void *), void *arg, int warm, int repeats,
                                      double *seconds)
{
    cudaEvent_t from, to;
    CU(cudaEventCreate(&from));
    CU(cudaEventCreate(&to));
    for (int i = -warm; i < repeats; i++) {
        float ms;
        CU(cudaEventRecord(from, stream));
        call(arg);
        CU(cudaEventRecord(to, stream));
        CU(cudaEventSynchronize(to));
        CU(cudaEventElapsedTime(&ms, from, to));
        if (i >= 0)
            seconds[i] = 1e-3 * (double)ms;
    }
    CU(cudaEventDestroy(from));
    CU(cudaEventDestroy(to));
    return bench_median(seconds, repeats);
}

typedef struct bench_gpu_copy {
    void *to, *from;
    uint64_t nbytes;
} bench_gpu_copy;

static inline void bench_gpu_copy_call(void *arg)
{
    const bench_gpu_copy *c = arg;
    CU(cudaMemcpyAsync(c->to, c->from, c->nbytes, cudaMemcpyDeviceToDevice, NULL));
}

/* The yardstick: bytes that a copy of `nbytes` reads and writes a second. */
static inline double bench_gpu_copy_speed(uint64_t nbytes, int warm, int repeats, double *seconds)
{
    bench_gpu_copy c = {.nbytes = nbytes};
    CU(cudaMalloc(&c.to, nbytes));
    CU(cudaMalloc(&c.from, nbytes));
    CU(cudaMemset(c.from, 0x5A, nbytes));
    const double speed = 2 * (double)nbytes / bench_gpu_median(NULL, bench_gpu_copy_call, &c, warm, repeats, seconds);
    CU(cudaFree(c.to));
    CU(cudaFree(c.from));
    return speed;
}

#else

static inline bool bench_has_gpu(void) { return false; }

#endif

#endif
