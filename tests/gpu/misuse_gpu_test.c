/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse of the public calls on a GPU: the rows that hold anywhere, with host and with device memory; and those of a GPU alone. */
#include "tests/gpu/gpu_kit.h"
#include "tests/misuse_rows_kit.h"

static floe_ctx *cpu, *thin; /* of another backend; whose device workspace is too small */
static cudaStream_t queue;

static void copy(void *to, const void *from, size_t nbytes)
{
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(to, from, nbytes, cudaMemcpyDefault));
}

/* Whether the GPU reads pageable memory of the host: then that may be called device memory. */
static bool reads_pageable(void)
{
    enum { PAGEABLE_ACCESS = 88 }; /* cudaDevAttrPageableMemoryAccess, of which the emulator does not know */
    int reads = 0;
    if (cudaDeviceGetAttribute(&reads, (enum cudaDeviceAttr)PAGEABLE_ACCESS, 0) != cudaSuccess)
        (void)cudaGetLastError();
    return reads;
}
#define UNREACHED(...)         \
    do {                       \
        if (!reads_pageable()) \
            ROW(__VA_ARGS__);  \
    } while (0)

/* ---- calls that do not wait ------------------------------------------------------------------------------------------ */

/* What a call that does not wait reports, or else its report. */
static floe_status by_report(args *a, floe_status status, size_t offset)
{
    uint32_t reported;
    by_ctx(a, status);
    if (status != FLOE_OK)
        return status;
    copy(&reported, (uint8_t *)a->dev_report + offset, sizeof reported);
    a->says = reported ? NULL : a->says;
    return (floe_status)reported;
}
#define ASYNC_CALL(name, report, ...)                                                                             \
    static floe_status name(args *a)                                                                              \
    {                                                                                                             \
        return by_report(a, floe_##name(a->ctx, __VA_ARGS__, (report *)a->dev_report), offsetof(report, status)); \
    }

ASYNC_CALL(compress_async, floe_device_report, a->in, a->params, a->dst, a->capacity)
ASYNC_CALL(decompress_async, floe_device_report, a->src, a->src_nbytes, a->dev_nbytes, a->params, a->out)
ASYNC_CALL(zfp_compress_async, floe_zfp_report, a->in, a->zfp, a->dst, a->capacity, a->index_out)
ASYNC_CALL(zfp_decompress_async, floe_zfp_report, a->zsrc, a->zsrc_nbytes, a->dev_sizes, a->zfp, a->index_out, a->out)
CTX_CALL(device_workspace_nbytes, a->in, a->params, a->needed)
CTX_CALL(zfp_device_workspace_nbytes, a->zfp, a->spec, a->needed)

/* Decoding takes the index that is there. */
static floe_status zfp_unpack_async(args *a)
{
    a->made.data = a->made.data == mine(INDEX_OUT) ? (void *)(uintptr_t)a->index : a->made.data;
    return zfp_decompress_async(a);
}

static void rows_of_structs_async(void)
{
    static const call fields[] = {CALL(device_workspace_nbytes, x, 0), CALL(compress_async, x, MEMORY_OF),
                                  CALL(decompress_async, y, MEMORY_OF | OUTPUT | MATCHES),
                                  CALL(zfp_compress_async, x, MEMORY_OF | MATCHES),
                                  CALL(zfp_unpack_async, y, MEMORY_OF | OUTPUT | MATCHES)};
    static const call params[] = {CALL(device_workspace_nbytes, x, 0), CALL(compress_async, x, 0),
                                  CALL(decompress_async, x, TEXT)};
    static const call streams[] = {CALL(zfp_device_workspace_nbytes, x, 0), CALL(zfp_compress_async, x, MATCHES),
                                   CALL(zfp_unpack_async, x, MATCHES)};
    static const call indexes[] = {CALL(zfp_compress_async, x, OUTPUT), CALL(zfp_unpack_async, x, 0)};
    static const call contexts[] = {CALL(device_workspace_nbytes, x, 0), CALL(compress_async, x, 0),
                                    CALL(decompress_async, x, 0),        CALL(zfp_compress_async, x, 0),
                                    CALL(zfp_unpack_async, x, 0),        CALL(zfp_device_workspace_nbytes, x, 0)};
    RUN(field_rows, fields);
    RUN(params_rows, params);
    RUN(zfp_stream_rows, streams);
    RUN(zfp_index_rows, indexes);
    RUN(context_rows, contexts);
}

static void rows_async(void)
{
    uint8_t *const host = block(FLOE_HOST, DST), *const at = mine(X);
    ROW(device_workspace_nbytes, ARG, a->needed = NULL);
    ROW(compress_async, OK, a->capacity = the.stream_nbytes);
    ROW_OF(compress_async, CAPACITY, a->capacity, long long, the.stream_nbytes - 1, 0);
    ROW(compress_async, ARG, a->dst = NULL);
    UNREACHED(compress_async, ARG, a->dst = host);
    ROW(compress_async, ARG, a->dst = mine(DST) + 8);
    ROW(compress_async, ARG, a->dev_report = NULL);
    UNREACHED(compress_async, ARG, a->dev_report = (void *)host);
    ROW(compress_async, ARG, a->dev_report = (void *)(mine(REPORT) + 4));
    ROW(compress_async, UNSUPPORTED, a->p.mode = FLOE_BOUND_PSNR, a->p.bound = 60);
    ROW(compress_async, UNSUPPORTED, a->x.dtype = FLOE_I32, a->p.bound = 1);
    ROW(compress_async, LIMIT, a->ctx = the.tiny);
    ROW(compress_async, MEMORY, a->ctx = thin);
    ROW(decompress_async, LIMIT, a->params = NULL);
    ROW(decompress_async, LIMIT, a->ctx = the.few);
    ROW(decompress_async, ARG, a->src = NULL);
    UNREACHED(decompress_async, ARG, a->src = host);
    ROW(decompress_async, ARG, a->src = mine(STREAM) + 8);
    ROW_OF(decompress_async, CUT, a->src_nbytes, long long, 0, 100);
    ROW(decompress_async, CUT, a->src_nbytes--);
    ROW(decompress_async, CUT, a->src = at);
    ROW(decompress_async, CUT, a->src = mine(DAMAGED));
    UNREACHED(decompress_async, ARG, a->dev_nbytes = &a->src_nbytes);
    ROW(decompress_async, CUT, a->dev_nbytes = (void *)at);
    ROW(decompress_async, ARG, a->dev_nbytes = (void *)(at + 4));
    ROW(decompress_async, ARG, a->dev_report = NULL);
    UNREACHED(decompress_async, ARG, a->dev_report = (void *)host);
    ROW(decompress_async, ARG, a->dev_report = (void *)(mine(REPORT) + 4));
    ROW(decompress_async, UNSUPPORTED, a->p.codec = FLOE_CODEC_ZFP);
    ROW(decompress_async, UNSUPPORTED, a->y.dtype = FLOE_I32, a->p.bound = 1);
    ROW(decompress_async, LIMIT, a->ctx = the.tiny);
    ROW(decompress_async, MEMORY, a->ctx = thin);
    ROW(zfp_device_workspace_nbytes, ARG, a->zfp = NULL);
    ROW(zfp_device_workspace_nbytes, ARG, a->needed = NULL);
    ROW(zfp_device_workspace_nbytes, ARG, a->spec_.form = 4);
    ROW(zfp_device_workspace_nbytes, ARG, a->spec_.chunk = 0);
    ROW(zfp_device_workspace_nbytes, ARG, a->spec_.partition = 65537);
    ROW(zfp_compress_async, OK, a->capacity = the.zfp_nbytes, a->made.capacity = the.index_nbytes);
    ROW_OF(zfp_compress_async, CAPACITY, a->capacity, long long, the.zfp_nbytes - 1, 0);
    ROW(zfp_compress_async, ARG, a->zfp = NULL);
    ROW(zfp_compress_async, ARG, a->dst = NULL);
    UNREACHED(zfp_compress_async, ARG, a->dst = host);
    ROW(zfp_compress_async, ARG, a->dst = mine(DST) + 8);
    UNREACHED(zfp_compress_async, ARG, a->made.data = block(FLOE_HOST, INDEX_OUT));
    ROW(zfp_compress_async, ARG, a->made.data = mine(INDEX_OUT) + 8);
    ROW(zfp_compress_async, ARG, a->dev_report = NULL);
    UNREACHED(zfp_compress_async, ARG, a->dev_report = (void *)host);
    ROW(zfp_compress_async, ARG, a->dev_report = (void *)(mine(REPORT) + 4));
    ROW(zfp_compress_async, LIMIT, a->ctx = the.tiny);
    ROW(zfp_compress_async, MEMORY, a->ctx = thin);
    ROW(zfp_unpack_async, OK, a->index_out = NULL);
    ROW(zfp_unpack_async, ARG, a->zfp = NULL);
    ROW(zfp_unpack_async, ARG, a->zsrc = NULL);
    UNREACHED(zfp_unpack_async, ARG, a->zsrc = host);
    ROW(zfp_unpack_async, ARG, a->zsrc = mine(ZFP) + 8);
    ROW(zfp_unpack_async, ARG, a->zsrc_nbytes = 0);
    ROW(zfp_unpack_async, ARG, a->zsrc_nbytes -= 4);
    ROW(zfp_unpack_async, CUT, a->zsrc_nbytes -= 8);
    ROW(zfp_unpack_async, FORMAT, a->zsrc_nbytes -= 8, a->index_out = NULL);
    ROW(zfp_unpack_async, CUT, a->made.nbytes--);
    ROW(zfp_unpack_async, CUT, a->made.nbytes = 0);
    ROW(zfp_unpack_async, CUT, a->made.spec.form = FLOE_INDEX_OFFSETS);
    ROW(zfp_unpack_async, CUT, a->made.spec.chunk++);
    ROW(zfp_unpack_async, CUT, a->made.data = mine(STREAM));
    UNREACHED(zfp_unpack_async, ARG, a->made.data = block(FLOE_HOST, INDEX));
    ROW(zfp_unpack_async, ARG, a->made.data = mine(INDEX) + 8);
    UNREACHED(zfp_unpack_async, ARG, a->dev_sizes = host);
    ROW(zfp_unpack_async, ARG, a->dev_sizes = at + 4);
    ROW(zfp_unpack_async, ARG, a->dev_report = NULL);
    UNREACHED(zfp_unpack_async, ARG, a->dev_report = (void *)host);
    ROW(zfp_unpack_async, ARG, a->dev_report = (void *)(mine(REPORT) + 4));
    ROW(zfp_unpack_async, MEMORY, a->ctx = thin);
}

/* ---- memory of the other place, other backends ----------------------------------------------------------------------- */

/* Pinned memory that a call took for the device's, and that is no longer pinned. */
static void *pinned_once(args *a)
{
    void *const p = block(FLOE_HOST, X);
    CU(cudaHostRegister(the.arena[FLOE_HOST], ARENA, 0));
    a->x.data = p;
    assert_true(compress(a) == FLOE_OK);
    CU(cudaHostUnregister(the.arena[FLOE_HOST]));
    fresh();
    return p;
}

static void rows_of_places(void)
{
    ROW(compress, ARG, a->dst = mine(DST) + 8);
    ROW(compress, ARG, a->in = &a->h, a->dst = mine(DST) + 8);
    ROW(compress, MEMORY, a->ctx = thin);
    if (!reads_pageable())
        ROW(compress, ARG, a->x.data = pinned_once(a));
    ROW(decompress, ARG, a->src = mine(STREAM) + 8);
    ROW(decompress, MEMORY, a->ctx = thin);
    ROW(decompress, ARG, a->y.dtype = FLOE_I32);
    ROW(decompress_region, ARG, a->src = mine(STREAM) + 8);
    ROW(verify, UNSUPPORTED, a->h = a->x);
    ROW(assess, MEMORY, a->ctx = thin);
    ROW(assess, UNSUPPORTED, a->x.dtype = a->y.dtype = FLOE_I32);
    ROW(assess, ARG, a->x = a->h);
    ROW(zfp_compress, ARG, a->dst = mine(DST) + 8);
    ROW(zfp_compress, ARG, a->made.data = mine(INDEX_OUT) + 8);
    ROW(zfp_compress, MEMORY, a->ctx = thin);
    ROW(zfp_decompress, ARG, a->zsrc = mine(ZFP) + 8);
    ROW(zfp_decompress, ARG, a->index = mine(INDEX) + 8);
    ROW(zfp_decompress, MEMORY, a->ctx = thin);
    ROW(zfp_describe, MEMORY, a->ctx = thin);
    ROW(stream_info, ARG, a->head = a->src);
    ROW(stream_header_nbytes, ARG, a->head = a->src);
    ROW(stream_attr, ARG, a->head = a->src);
    ROW(zfp_recognize, ARG, a->zhead = a->zsrc);
    ROW(zfp_index_info, ARG, a->index_head = a->index);
    ROW(ctx_create, ARG, a->co.workspace = mine(DST), a->co.workspace_nbytes = 256);
    if (!reads_pageable())
        ROW(ctx_create, ARG, a->co.backend = FLOE_BACKEND_CUDA, a->co.device_workspace = block(FLOE_HOST, DST),
            a->co.device_workspace_nbytes = 256);
}

static void other_backend_rows(const call *c) { EACH(DEVICE, a->ctx = cpu); }

/* While a stream is captured no call may wait. the.ctx is that of the stream. */
static const call *captive;
static floe_status captured(args *a)
{
    cudaGraph_t graph = NULL;
    CU(cudaStreamBeginCapture(queue, cudaStreamCaptureModeThreadLocal));
    const floe_status status = captive->run(a);
    (void)cudaStreamEndCapture(queue, &graph);
    (void)cudaGetLastError();
    if (graph)
        CU(cudaGraphDestroy(graph));
    return status;
}
static void captured_rows(const call *c)
{
    const call by_capture = {c->name, captured, c->field, c->uses};
    captive = c;
    c = &by_capture;
    EACH(DEVICE | MEMORY, a->n = 0);
}

static void rows_of_backends(void)
{
    static const call waiting[] = {CALL(compress, x, 0),     CALL(decompress, x, 0),     CALL(decompress_region, x, 0),
                                   CALL(verify, x, 0),       CALL(assess, x, 0),         CALL(zfp_describe, x, 0),
                                   CALL(zfp_compress, x, 0), CALL(zfp_decompress, x, 0), CALL(zfp_index_make, x, 0)};
    static const call others[] = {CALL(compress_async, x, 0),          CALL(decompress_async, x, 0),
                                  CALL(zfp_compress_async, x, 0),      CALL(zfp_unpack_async, x, 0),
                                  CALL(device_workspace_nbytes, x, 0), CALL(zfp_device_workspace_nbytes, x, 0)};
    floe_ctx *const before = the.ctx;
    RUN(other_backend_rows, waiting);
    RUN(other_backend_rows, others);
    the.ctx = ctx_of(FLOE_BACKEND_AUTO, (floe_ctx_options){.threads = 1, .stream = queue}, FLOE_OK);
    for (int again = 0; again < 2; again++) /* the first call of a context, and those of one that is ready */
        RUN(captured_rows, waiting);
    floe_ctx_free(&the.ctx);
    the.ctx = before;
}

/* ---- tests ---------------------------------------------------------------------------------------------------------- */

static void misuse(floe_place place, floe_backend backend)
{
    void *workspace;
    the.place = place;
    the.other |= reads_pageable() ? OK : 0;
    the.arena[FLOE_HOST] = aligned_alloc(4096, ARENA);
    CU(cudaMalloc((void **)&the.arena[FLOE_DEVICE], ARENA));
    CU(cudaMalloc(&workspace, 256));
    CU(cudaStreamCreateWithFlags(&queue, cudaStreamNonBlocking));
    misuse_open(backend, copy);
    cpu = ctx_of(FLOE_BACKEND_CPU, (floe_ctx_options){.threads = 1}, FLOE_OK);
    thin = ctx_of(backend, (floe_ctx_options){.device_workspace = workspace, .device_workspace_nbytes = 256}, FLOE_OK);
    misuse_rows();
    if (place == FLOE_DEVICE) {
        rows_of_structs_async();
        rows_async();
        rows_of_places();
        rows_of_backends();
    }
    floe_ctx_free(&cpu);
    floe_ctx_free(&thin);
    CU(cudaStreamDestroy(queue));
    CU(cudaFree(workspace));
    CU(cudaFree(the.arena[FLOE_DEVICE]));
    free(the.arena[FLOE_HOST]);
    misuse_close();
}

static void device_memory(void **state)
{
    (void)state;
    misuse(FLOE_DEVICE, FLOE_BACKEND_AUTO);
}

static void host_memory(void **state)
{
    (void)state;
    misuse(FLOE_HOST, FLOE_BACKEND_CUDA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(device_memory), cmocka_unit_test(host_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
