/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the runtime API share: the lock, allocations, and work on streams. Everything is called with the lock
 * held. */
#ifndef FLOE_EMULATOR_STATE_H
#define FLOE_EMULATOR_STATE_H

#include "emulator.h"

/* ---- streams and events (emulator_streams.cpp) --------------------------------------------------------------------- */

/* What is to be done: a closure. */
struct step {
    step *next;
    size_t nbytes; /* of the whole step */
    void (*run)(step *);
};
struct steps {
    step *first, *last;
};
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
    bool unjoined;       /* has work in the capture that the origin does not wait for */
    uint64_t nsteps;     /* that it has put there */
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
    uint64_t nsteps;     /* of the stream by then */
    double seconds;
};

namespace floe_emulator
{

CUstream_st *stream_of(cudaStream_t s);
void stream_drain(CUstream_st *s);
void all_drain(bool blocking_only);
/* The default stream waits for all blocking ones, and they for it. */
void stream_join_default(CUstream_st *s);
/* A call that may wait for the device, or is on the default stream, spoils a capture. */
bool capture_forbids();

/* Puts a step, from malloc, on a stream. */
cudaError_t step_submit(cudaStream_t on, step *it);
/* Puts f on a stream: a closure of plain values. */
template <class F> cudaError_t submit(cudaStream_t on, const F &f)
{
    struct closure : step {
        F f;
        closure(const F &given) : step(), f(given) {}
    };
    closure *it = (closure *)malloc(sizeof(closure));
    if (!it)
        floe_emulated_die("no memory for a step");
    new (it) closure(f);
    it->nbytes = sizeof *it;
    it->run = [](step *self) { static_cast<closure *>(self)->f(); };
    return step_submit(on, it);
}

/* ---- the lock, errors (emulator_api.cpp) --------------------------------------------------------------------------- */

struct lock {
    lock();
    ~lock();
};

/* Keeps an error as the last one. */
cudaError_t done(cudaError_t error);
bool setting_is(const char *name);
bool no_device();
/* Whether this is the call that floe_emulated_fail has named. */
bool is_to_fail();
extern size_t nalive; /* streams and events */

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
/* ENTER_OR: of a call that may be made to fail, with this error; ENTER_SURE: of one that may not. */
#define ENTER_SURE \
    lock locked;   \
    CHECK(!no_device(), cudaErrorNoDevice)
#define ENTER_OR(error) \
    ENTER_SURE;         \
    CHECK(!is_to_fail(), error)
#define ENTER          ENTER_OR(cudaErrorInvalidResourceHandle)
#define NOT_IN_CAPTURE CHECK(!capture_forbids(), cudaErrorStreamCaptureUnsupported)

/* ---- memory of CUDA's own (emulator_ranges.cpp) ------------------------------------------------------------------ */

/* Device memory is within reach while one of these lives. */
struct reach {
    reach();
    ~reach();
};

uint64_t device_nbytes_limit();
size_t device_nbytes_taken();
size_t ranges_alive();

} // namespace floe_emulator

using namespace floe_emulator;

#endif
