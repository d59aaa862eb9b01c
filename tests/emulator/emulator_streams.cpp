/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime API: streams, events, capture. Work is a list of steps; it is done at once, or with FLOE_EMULATED_LATE when
 * something waits for it, or it is recorded while its stream captures.
 */
#include "emulator_state.h"

#include <time.h>

namespace
{

/* ---- steps --------------------------------------------------------------------------------------------------------- */

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

CUstream_st default_stream = {{NULL, NULL}, NULL, false, false, 0, true, cudaStreamCaptureModeGlobal,
                              pthread_t(),  NULL};
CUstream_st *streams = &default_stream;
uint32_t ncaptures;
thread_local cudaStreamCaptureMode thread_mode;

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
/* Until record number `until`, which was put on this stream, is reached. */
void event_drain(CUevent_st *e, CUstream_st *stream, uint64_t until)
{
    while (e->reached < until && stream_advance(stream)) {
    }
}
void event_drain(CUevent_st *e) { event_drain(e, e->stream, e->recorded); }

double now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

} // namespace

namespace floe_emulator
{

CUstream_st *stream_of(cudaStream_t s)
{
    return !s || s == cudaStreamLegacy || s == cudaStreamPerThread ? &default_stream : s;
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
void stream_join_default(CUstream_st *s)
{
    if (s == &default_stream)
        all_drain(true);
    else if (s->blocking)
        stream_drain(&default_stream);
}

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

cudaError_t step_submit(cudaStream_t on, step *it)
{
    CUstream_st *s = stream_of(on);
    if (s->capture) {
        s->unjoined = !s->origin;
        s->nsteps++;
        steps_add(&s->capture->all, it);
        return cudaSuccess;
    }
    stream_join_default(s);
    steps_add(&s->waiting, it);
    if (!is_late())
        stream_drain(s);
    return cudaSuccess;
}

} // namespace floe_emulator

/* ---- streams and events -------------------------------------------------------------------------------------------- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    ENTER;
    CHECK(stream, cudaErrorInvalidValue);
    CUstream_st *s = (CUstream_st *)calloc(1, sizeof *s);
    CHECK(s, cudaErrorMemoryAllocation);
    s->blocking = !(flags & cudaStreamNonBlocking);
    nalive++;
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
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = 0;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    ENTER_SURE;
    CHECK(stream_of(stream) != &default_stream, cudaErrorInvalidResourceHandle);
    stream_drain(stream);
    for (CUstream_st *s = streams; s; s = s->next)
        if (s->next == stream)
            s->next = stream->next;
    nalive--;
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
    ENTER_SURE;
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
        s->unjoined = !s->origin; /* waits for the origin, which has to wait for it */
        if (s != event->stream && event->nsteps == event->stream->nsteps)
            event->stream->unjoined = false;
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
    nalive++;
    (*event)->timing = !(flags & cudaEventDisableTiming);
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    ENTER_SURE;
    CHECK(event, cudaErrorInvalidResourceHandle);
    event_drain(event);
    all_drain(false); /* steps may wait for it */
    nalive--;
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
    event->nsteps = s->nsteps;
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
    ENTER_SURE;
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
    ENTER_SURE;
    CUstream_st *origin = stream_of(stream);
    CHECK(graph && origin->capture && origin->origin, cudaErrorInvalidValue);
    CUgraph_st *all = origin->capture;
    bool unjoined = false;
    for (CUstream_st *s = streams; s; s = s->next)
        if (s->capture == all) {
            unjoined |= s->unjoined;
            s->capture = NULL;
            s->origin = s->unjoined = false;
        }
    ncaptures--;
    *graph = NULL;
    if (all->invalid || unjoined) {
        steps_free(&all->all);
        free(all);
        return done(unjoined ? cudaErrorStreamCaptureUnjoined : cudaErrorStreamCaptureInvalidated);
    }
    *graph = all;
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    ENTER_SURE;
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
    ENTER_SURE;
    CHECK(graph, cudaErrorInvalidValue);
    steps_free(&graph->all);
    free(graph);
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    ENTER_SURE;
    CHECK(exec, cudaErrorInvalidValue);
    steps_free(&exec->all);
    free(exec);
    return cudaSuccess;
}
