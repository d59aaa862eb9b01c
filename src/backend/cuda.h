/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A GPU as a context sees it: one device, the caller's stream, one arena of device memory and a few bytes of pinned host
 * memory for what is fetched. In a build without CUDA every function but floe_cuda_close reports it.
 *
 * All work is put on `stream` in order. Nothing here waits for the device except floe_cuda_wait, floe_cuda_fetch and
 * what allocates: growing the arena, opening and closing.
 */
#ifndef FLOE_BACKEND_CUDA_H
#define FLOE_BACKEND_CUDA_H

#include <stdbool.h>

#include <floe/floe.h>

#include "base/arena.h"

enum { FLOE_CUDA_FETCHED_NBYTES = 16384, FLOE_CUDA_STATE_NBYTES = 24576, FLOE_CUDA_LANES = 8 };

/* A stream of our own, beside others, with what a context has for its stream: see there. placed: a cudaEvent_t. */
typedef struct floe_cuda_lane {
    void *stream, *side, *forked, *joined, *placed, *fetched;
} floe_cuda_lane;

typedef struct floe_cuda {
    bool open;
    int device;
    void *stream; /* cudaStream_t of the caller; NULL: the default stream */
    /* device memory for everything that a call needs */
    void *workspace;
    size_t workspace_nbytes;
    bool caller_owns;
    void *fetched; /* pinned host memory, FLOE_CUDA_FETCHED_NBYTES; kernels may write there, too */
    void *state;   /* device memory, FLOE_CUDA_STATE_NBYTES, all 0: a kernel that writes to it leaves it so */
    /* cudaStream_t of our own, between floe_cuda_fork and floe_cuda_join, whose kernels come first; cudaEvent_t */
    void *side, *forked, *joined;
    floe_cuda_lane lanes[FLOE_CUDA_LANES]; /* those that floe_cuda_lanes_open has opened; NULL behind them */
    uint32_t granted; /* bits of kernels that have been given the shared memory they need, see floe_small_cuda */
} floe_cuda;

/* DEVICE, with the reason: no such device, no driver, or no CUDA in this build. device -1: the one that is current.
 * workspace: device memory of the caller, 256-byte aligned, or NULL. */
floe_status floe_cuda_open(floe_cuda *cuda, int device, void *stream, void *workspace, size_t workspace_nbytes,
                           floe_error *err);
void floe_cuda_close(floe_cuda *cuda);

/* Makes the device current for this call; *before goes to floe_cuda_leave, which makes that one current again. */
floe_status floe_cuda_enter(const floe_cuda *cuda, int *before, floe_error *err);
void floe_cuda_leave(int before);

/* Whether p is device memory (of the context's device). Host memory may be pageable or pinned. */
typedef enum floe_pointer_kind { FLOE_POINTER_PAGEABLE, FLOE_POINTER_PINNED, FLOE_POINTER_DEVICE } floe_pointer_kind;
floe_pointer_kind floe_cuda_pointer_kind(const void *p);

/* Scratch of plan->used bytes of device memory. max_nbytes 0: no limit. MEMORY, and everything stays usable, when it
 * cannot be had. */
floe_status floe_cuda_workspace(floe_cuda *cuda, const floe_arena *plan, uint64_t max_nbytes, floe_arena *arena,
                                floe_error *err);

/* Hardly any device memory is free: libraries that allocate some fail for reasons that they do not name. */
bool floe_cuda_is_short(void);

/* Turns what a CUDA call returned (a cudaError_t as a number) into a status, with the call's name in the message. */
floe_status floe_cuda_status(int error, const char *call, floe_error *err);
#define FLOE_CUDA(err, call) FLOE_TRY(floe_cuda_status((int)(call), #call, (err)))

floe_status floe_cuda_clear(const floe_cuda *cuda, void *dev, size_t nbytes, floe_error *err);
/* Host memory must stay as it is until the stream has come this far, unless it is pageable. */
floe_status floe_cuda_copy(const floe_cuda *cuda, void *to, const void *from, size_t nbytes, floe_error *err);
/* The same of rows that lie so far apart. */
typedef struct floe_cuda_rows {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, nbytes, count;
} floe_cuda_rows;
floe_status floe_cuda_copy_rows(const floe_cuda *cuda, const floe_cuda_rows *rows, floe_error *err);
/* Copies from the device to cuda->fetched + at; they are there after a wait. */
floe_status floe_cuda_bring(const floe_cuda *cuda, size_t at, const void *dev, size_t nbytes, floe_error *err);
/* Copies at most FLOE_CUDA_FETCHED_NBYTES from the device and waits for them and all before them. */
floe_status floe_cuda_fetch(const floe_cuda *cuda, void *host, const void *dev, size_t nbytes, floe_error *err);
/* What is put on the side after fork waits for what is on the stream so far; what is put on the stream after join waits for what is
 * on the side. Each fork has its join, whatever comes between: `status` shows what, and a failure is returned. */
floe_status floe_cuda_fork(const floe_cuda *cuda, void *stream, floe_error *err);
floe_status floe_cuda_join(const floe_cuda *cuda, void *stream, floe_status status, floe_error *err);
floe_status floe_cuda_wait(const floe_cuda *cuda, floe_error *err);

/* Opens those of the first n lanes that are not there. */
floe_status floe_cuda_lanes_open(floe_cuda *cuda, uint32_t n, floe_error *err);
/* As fork and join, of n lanes that are there. */
floe_status floe_cuda_lanes_fork(const floe_cuda *cuda, uint32_t n, void *stream, floe_error *err);
floe_status floe_cuda_lanes_join(const floe_cuda *cuda, uint32_t n, void *stream, floe_status status, floe_error *err);
/* The same GPU, with what lane i has instead of the context's. */
floe_cuda floe_cuda_on_lane(const floe_cuda *cuda, uint32_t i);

/*
 * The GPU backend, where it is a library of its own: libfloe_cuda.so has all kernels and the CUDA runtime. libfloe's C calls both
 * through one jump a function (cmake/CudaEntries.cmake writes them); until the library is loaded these return
 * cudaErrorNoDevice.
 */

/* Loads the library, unless it is. It is looked for where the environment's FLOE_CUDA_LIBRARY points; else beside libfloe.so, or the
 * program that libfloe.a is in, or from there in the folder for libraries; else where the loader looks. It stays loaded.
 * DEVICE, with the reason: it is not there, or is not of this version. Safe in several threads at once. */
floe_status floe_cuda_load(floe_error *err);

/* Its path, or "" where the backend is part of libfloe. */
const char *floe_cuda_loaded_from(void);

/* False: p is device memory, not managed. Asking starts no GPU and takes a tenth of a microsecond in a process that has none at
 * work: there is no such memory then. */
bool floe_cuda_host_reaches(const void *p);

/* False: p is memory that the device cannot read, pageable memory of a host whose GPU has no way into it. Takes less than a
 * microsecond, waits for nothing, and may be called while a stream is captured. */
bool floe_cuda_device_reaches(int device, const void *p);

#endif
