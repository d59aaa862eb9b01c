/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of CUDA that fail, one after another (faults_kit.h): memory, launches, events, copies; also while a graph is captured. */
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool in_device_memory; /* where the data lie */

enum { PLANES = 20 };
static void fault_arm(uint64_t n) { floe_emulated_fail(n); }
static bool fault_is_armed(void) { return floe_emulated_failing() != 0; }
static uint64_t fault_alive(void) { return floe_emulated_alive(); }
static void *space_take(size_t nbytes)
{
    void *p = NULL;
    if (in_device_memory && cudaMalloc(&p, nbytes) == cudaSuccess)
        return p;
    return in_device_memory ? NULL : calloc(1, nbytes);
}
static void space_free(void *p)
{
    if (in_device_memory)
        (void)cudaFree(p);
    else
        free(p);
}
static void space_copy(void *to, const void *from, size_t nbytes)
{
    const uint64_t left = floe_emulated_failing();
    floe_emulated_fail(0);
    if (cudaMemcpy(to, from, nbytes, cudaMemcpyDefault) != cudaSuccess)
        abort();
    floe_emulated_fail(left);
}

#include "tests/faults_kit.h"

static const char *const params[] = {"rel=1e-3", "abs=1e-2 preset=fast", "abs=1e-2 preset=fast chunk=8x33x40",
                                     "abs=1e-2 codec=zfp"};

static void device_data(void **state)
{
    (void)state;
    in_device_memory = true;
    for (size_t i = 0; i < KIT_COUNT(params); i++) {
        world w = world_make(params[i], FLOE_BACKEND_AUTO, true);
        FAULTS_EACH(&w, compress);
        FAULTS_EACH(&w, decompress);
        FAULTS_EACH(&w, damaged);
        FAULTS_EACH(&w, region);
        if (i == 0) {
            FAULTS_EACH(&w, assess);
            FAULTS_EACH(&w, zfp_compress);
            FAULTS_EACH(&w, zfp_index);
            FAULTS_EACH(&w, zfp_decompress);
            FAULTS_EACH(&w, zfp_walk);
            FAULTS_EACH(&w, zfp_short);
        }
        world_free(&w);
    }
}

/* Trials on streams beside each other: what fails among them leaves nothing under way. */
static void trials(void **state)
{
    (void)state;
    in_device_memory = true;
    world w = world_make("abs=1e-2 codec=wavelet preset=fast", FLOE_BACKEND_AUTO, true);
    w.field.shape[0] = w.field.shape[1] = 1;
    w.field.shape[2] = 8;
    FAULTS_EACH(&w, compress);
    world_free(&w);
}

static void host_data(void **state)
{
    (void)state;
    in_device_memory = false;
    for (size_t i = 0; i < KIT_COUNT(params); i += 2) {
        world w = world_make(params[i], FLOE_BACKEND_CUDA, false);
        FAULTS_EACH(&w, create);
        FAULTS_EACH(&w, compress);
        FAULTS_EACH(&w, decompress);
        FAULTS_EACH(&w, damaged);
        FAULTS_EACH(&w, region);
        FAULTS_EACH(&w, sizes);
        if (i == 0) {
            FAULTS_EACH(&w, verify);
            FAULTS_EACH(&w, streams);
            FAULTS_EACH(&w, assess);
            FAULTS_EACH(&w, zfp_compress);
            FAULTS_EACH(&w, zfp_decompress);
        }
        world_free(&w);
    }
}

/* ---- calls that do not wait, into a graph ------------------------------------------------------------------------------ */

static void *reports; /* 4 KiB of device memory */

static floe_status call_compress_async(floe_ctx *ctx, world *w)
{
    return floe_compress_async(ctx, &w->field, &w->params, w->out, CAPACITY, reports);
}

static floe_status call_decompress_async(floe_ctx *ctx, world *w)
{
    floe_field out = faults_field_at(w, w->out);
    return floe_decompress_async(ctx, w->stream, w->nstream, NULL, &w->params, &out, reports);
}

static floe_status call_zfp_compress_async(floe_ctx *ctx, world *w)
{
    const floe_zfp_index index = faults_index(w, w->out + 2 * SHARE);
    return floe_zfp_compress_async(ctx, &w->field, &w->described, w->out, 2 * SHARE, &index, reports);
}

static floe_status call_zfp_decompress_async(floe_ctx *ctx, world *w)
{
    floe_field out = faults_field_at(w, w->out);
    floe_zfp_index index = faults_index(w, w->index);
    index.nbytes = w->nindex;
    return floe_zfp_decompress_async(ctx, w->zfp, w->nzfp, NULL, &w->described, &index, &out, reports);
}

/* Ends the capture: what was put into it by a call that failed is a graph as any other. A wait that fails is none. */
static void capture_end(cudaStream_t q, floe_ctx *ctx, const char *name, uint64_t n)
{
    cudaGraph_t graph = NULL;
    const cudaError_t error = cudaStreamEndCapture(q, &graph);
    const bool order_failed =
        strstr(floe_ctx_message(ctx), "cudaEventRecord") || strstr(floe_ctx_message(ctx), "cudaStreamWaitEvent");
    if (error != cudaSuccess && !(error == cudaErrorStreamCaptureUnjoined && order_failed))
        fail_msg("%s, fault %llu ('%s'): the capture ends with %s", name, (unsigned long long)n, floe_ctx_message(ctx),
                 cudaGetErrorString(error));
    if (graph)
        assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    (void)cudaGetLastError();
}

static void capture_each(world *w, const char *name, faults_fn *call)
{
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
        const uint64_t before = fault_alive();
        cudaStream_t q;
        floe_ctx *ctx = NULL;
        bool no;
        assert_int_equal(cudaStreamCreateWithFlags(&q, cudaStreamNonBlocking), cudaSuccess);
        floe_ctx_options options = {.size = sizeof options, .stream = q};
        assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
        kit_ok(ctx, faults_run(ctx, w, call, 0, faults_got, &no)); /* the workspace grows */
        assert_int_equal(cudaStreamSynchronize(q), cudaSuccess);
        space_copy(faults_expected, w->out, CAPACITY);
        assert_int_equal(cudaStreamBeginCapture(q, cudaStreamCaptureModeThreadLocal), cudaSuccess);
        floe_emulated_fail(n);
        const floe_status status = call(ctx, w);
        failed = !fault_is_armed();
        floe_emulated_fail(0);
        if ((status == FLOE_OK) == failed)
            fail_msg("%s, fault %llu: status %d", name, (unsigned long long)n, status);
        capture_end(q, ctx, name, n);
        kit_ok(ctx, faults_run(ctx, w, call, 0, faults_got, &no));
        assert_int_equal(cudaStreamSynchronize(q), cudaSuccess);
        space_copy(faults_got, w->out, CAPACITY);
        assert_memory_equal(faults_got, faults_expected, CAPACITY);
        floe_ctx_free(&ctx);
        assert_int_equal(cudaStreamDestroy(q), cudaSuccess);
        assert_int_equal(fault_alive(), before);
    }
}

static void captures(void **state)
{
    (void)state;
    in_device_memory = true;
    assert_int_equal(cudaMalloc(&reports, 4096), cudaSuccess);
    for (size_t i = 0; i < KIT_COUNT(params); i++) {
        world w = world_make(params[i], FLOE_BACKEND_AUTO, true);
        capture_each(&w, "compress", call_compress_async);
        capture_each(&w, "decompress", call_decompress_async);
        capture_each(&w, "zfp_compress", call_zfp_compress_async);
        capture_each(&w, "zfp_decompress", call_zfp_decompress_async);
        world_free(&w);
    }
    assert_int_equal(cudaFree(reports), cudaSuccess);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(device_data), cmocka_unit_test(trials),
                                       cmocka_unit_test(host_data), cmocka_unit_test(captures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
