/* SPDX-License-Identifier: BSD-3-Clause */
/* What a context may take for host data on a GPU: pinned buffers count for max_memory together with scratch on the host. And
 * that it is the context's GPU that works. */
#include "tests/gpu/case_gpu_kit.h"

static const gpu_case large = {"turbulence", FLOE_F32, 3, {64, 64, 64}, "abs=0.01 fill=none codec=zfp"};
static const gpu_case little = {"turbulence", FLOE_F32, 3, {8, 8, 8}, "abs=0.01 fill=none codec=zfp"};
static const gpu_case whole = {"turbulence", FLOE_I32, 3, {64, 64, 64}, "abs=3 fill=none"}; /* the CPU's work */

/* Compresses on the CPU, and by ctx: 0 where both make the same stream of it; decodes it, if ctx is to, to the same. */
static floe_status alike(floe_ctx *ctx, const gpu_case *c, bool decodes)
{
    floe_params params;
    uint64_t nbytes, expected = 0, n = 0;
    floe_field field = case_make(c, &params, &nbytes);
    const uint64_t capacity = floe_compress_bound(&field, &params);
    uint8_t *stream = take(capacity), *made = take(capacity);
    floe_field out = field, back = field;
    out.data = take(nbytes), back.data = take(nbytes);
    assert_int_equal(floe_compress(cpu, &field, &params, stream, capacity, &expected), FLOE_OK);
    assert_int_equal(floe_decompress(cpu, stream, expected, &out), FLOE_OK);
    floe_status status = floe_compress(ctx, &field, &params, made, capacity, &n);
    if (status == FLOE_OK) {
        assert_int_equal(n, expected);
        assert_memory_equal(made, stream, n);
    }
    if (decodes) {
        const floe_status other = floe_decompress(ctx, stream, expected, &back);
        if (other == FLOE_OK)
            assert_memory_equal(back.data, out.data, nbytes);
        assert_int_equal(status, other);
    }
    void *all[] = {field.data, stream, made, out.data, back.data};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return status;
}

static floe_status both(floe_ctx *ctx, const gpu_case *c) { return alike(ctx, c, true); }

static size_t scratch_of(floe_ctx *ctx, const gpu_case *c)
{
    floe_params params;
    uint64_t nbytes;
    size_t scratch = 0;
    floe_field field = case_make(c, &params, &nbytes);
    assert_int_equal(floe_workspace_nbytes(ctx, &field, &params, &scratch), FLOE_OK);
    free(field.data);
    return scratch;
}

/* Device memory is the caller's here, so that nothing else comes to the limit. */
static void pinned_memory_counts(void **state)
{
    (void)state;
    enum { MB = 1 << 20, DEVICE = 64 * MB };
    void *device;
    CU(cudaMalloc(&device, DEVICE));
    const size_t scratch = scratch_of(through, &large);
    const size_t limits[] = {1, scratch, scratch + MB / 2, scratch + 8 * MB};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        floe_ctx *ctx;
        const floe_ctx_options o = {.size = sizeof o,
                                    .backend = FLOE_BACKEND_CUDA,
                                    .max_memory = limits[i],
                                    .device_workspace = device,
                                    .device_workspace_nbytes = DEVICE};
        assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
        assert_int_equal(both(ctx, &large), i < 3 ? FLOE_ERR_LIMIT : FLOE_OK);
        if (i == 2)
            assert_non_null(strstr(floe_ctx_message(ctx), "pinned memory are needed, the limit is"));
        if (i == 2) /* and it is of use for less */
            assert_int_equal(both(ctx, &little), FLOE_OK);
        floe_ctx_free(&ctx);
    }
    CU(cudaFree(device));
}

/* What is kept for the GPU is no reason to refuse the CPU what it may have. */
static void pinned_memory_gives_way(void **state)
{
    (void)state;
    floe_ctx *ctx;
    const floe_ctx_options o = {
        .size = sizeof o, .backend = FLOE_BACKEND_CUDA, .max_memory = scratch_of(through, &whole)};
    assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
    assert_int_equal(both(ctx, &little), FLOE_OK);
    assert_int_equal(both(ctx, &whole), FLOE_OK);
    floe_ctx_free(&ctx);
}

/* Codecs are tried on the GPU, and on the CPU where it has no memory for one. The stream is the GPU's, or there is none. */
static void trials_fit_or_go_to_the_cpu(void **state)
{
    static const gpu_case each[] = {{"turbulence", FLOE_F32, 3, {24, 32, 40}, "rel=1e-3 preset=best"},
                                    {"turbulence", FLOE_F32, 3, {24, 32, 40}, "rel=1e-3 preset=best codec=interp"},
                                    {"turbulence", FLOE_F32, 3, {24, 32, 40}, "rel=1e-3 preset=best codec=wavelet"}};
    size_t need[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        floe_params params;
        uint64_t nbytes;
        floe_field field = case_make(&each[i], &params, &nbytes);
        assert_int_equal(floe_device_workspace_nbytes(through, &field, &params, &need[i]), FLOE_OK);
        free(field.data);
    }
    const size_t rooms[] = {need[0], need[1] < need[2] ? need[1] : need[2], 4096};
    assert_true(rooms[1] < rooms[0]);
    for (int i = 0; i < 3; i++) {
        floe_ctx *ctx;
        void *device;
        CU(cudaMalloc(&device, rooms[i]));
        const floe_ctx_options o = {.size = sizeof o,
                                    .backend = FLOE_BACKEND_CUDA,
                                    .device_workspace = device,
                                    .device_workspace_nbytes = rooms[i]};
        assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
        assert_int_equal(alike(ctx, &each[0], i == 0), i < 2 ? FLOE_OK : FLOE_ERR_MEMORY);
        floe_ctx_free(&ctx);
        CU(cudaFree(device));
    }
}

/* ---- a workspace that is pinned ----------------------------------------------------------------------------------------- */

typedef struct cursor {
    uint8_t *data;
    uint64_t at, nbytes;
} cursor;

static floe_status read_on(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    const cursor *c = user;
    *got = (size_t)(nbytes < c->nbytes - offset ? nbytes : c->nbytes - offset);
    memcpy(dst, c->data + offset, *got);
    return FLOE_OK;
}

static floe_status write_on(void *user, const void *src, size_t nbytes)
{
    cursor *c = user;
    if (nbytes > c->nbytes - c->at)
        return FLOE_ERR_CAPACITY;
    memcpy(c->data + c->at, src, nbytes);
    c->at += nbytes;
    return FLOE_OK;
}

/* What a source has handed over lies in that workspace, and the next slab goes there while a copy to the GPU may be under way. */
static void slabs_in_pinned_memory(void **state)
{
    static const gpu_case slabs = {
        "turbulence", FLOE_F32, 3, {64, 64, 64}, "abs=0.01 fill=none chunk=8x64x64 codec=lorenzo"};
    enum { MB = 1 << 20, WORKSPACE = 32 * MB };
    (void)state;
    void *workspace;
    floe_params params;
    uint64_t nbytes, expected = 0;
    floe_ctx *ctx;
    CU(cudaMallocHost(&workspace, WORKSPACE));
    const floe_ctx_options o = {
        .size = sizeof o, .backend = FLOE_BACKEND_CUDA, .workspace = workspace, .workspace_nbytes = WORKSPACE};
    assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
    const floe_field field = case_make(&slabs, &params, &nbytes);
    const uint64_t capacity = floe_compress_bound(&field, &params);
    uint8_t *stream = take(capacity);
    cursor in = {field.data, 0, nbytes}, out = {take(capacity), 0, capacity};
    const floe_source source = {&in, read_on, nbytes, 1};
    const floe_sink sink = {&out, write_on};
    assert_int_equal(floe_compress(cpu, &field, &params, stream, capacity, &expected), FLOE_OK);
    assert_int_equal(floe_compress_stream(ctx, &field, &params, &source, &sink, NULL), FLOE_OK);
    assert_int_equal(out.at, expected);
    assert_memory_equal(out.data, stream, expected);
    floe_ctx_free(&ctx);
    free(field.data), free(stream), free(out.data);
    CU(cudaFreeHost(workspace));
}

/* ---- several GPUs ------------------------------------------------------------------------------------------------------- */

/* Where there are several GPUs, and the current one is not the context's. */
static void another_gpu(void **state)
{
    (void)state;
    int ndevices, current = -1;
    floe_ctx *ctx;
    CU(cudaGetDeviceCount(&ndevices));
    if (ndevices < 2)
        skip();
    const floe_ctx_options o = {.size = sizeof o, .backend = FLOE_BACKEND_CUDA, .device = 2}; /* the second one */
    assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
    assert_int_equal(both(ctx, &large), FLOE_OK);
    assert_int_equal(both(ctx, &little), FLOE_OK);
    CU(cudaGetDevice(&current));
    assert_int_equal(current, 0);
    floe_ctx_free(&ctx);
}

/* ---- saying what is wrong --------------------------------------------------------------------------------------------- */

/* Of a stream in device memory, with a byte changed, by a context with so much host memory. */
static floe_status status_of_damaged(const gpu_case *c, uint64_t max_memory)
{
    enum { DEVICE = 64 << 20 };
    floe_params params;
    uint64_t nbytes, n = 0;
    void *device, *dev_stream, *dev_values;
    floe_ctx *ctx;
    floe_field field = case_make(c, &params, &nbytes);
    const uint64_t capacity = floe_compress_bound(&field, &params);
    uint8_t *stream = take(capacity);
    assert_int_equal(floe_compress(cpu, &field, &params, stream, capacity, &n), FLOE_OK);
    stream[n / 2] ^= 4;
    CU(cudaMalloc(&device, DEVICE));
    CU(cudaMalloc(&dev_stream, n));
    CU(cudaMalloc(&dev_values, nbytes));
    CU(cudaMemcpy(dev_stream, stream, n, cudaMemcpyHostToDevice));
    const floe_ctx_options o = {.size = sizeof o,
                                .threads = 1,
                                .max_memory = max_memory,
                                .device_workspace = device,
                                .device_workspace_nbytes = DEVICE};
    assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
    floe_field out = floe_field_of_device(dev_values, c->dtype, c->rank, c->shape);
    const floe_status status = floe_decompress(ctx, dev_stream, n, &out);
    if (status == FLOE_ERR_CHECKSUM)
        assert_non_null(strstr(floe_ctx_message(ctx), "chunk "));
    floe_ctx_free(&ctx);
    CU(cudaFree(device));
    CU(cudaFree(dev_stream));
    CU(cudaFree(dev_values));
    free(field.data), free(stream);
    return status;
}

/* It takes a chunk, and that counts. */
static void words_count(void **state)
{
    (void)state;
    static const gpu_case chunks = {
        "turbulence", FLOE_F32, 3, {512, 64, 64}, "abs=0.01 fill=none chunk=8x64x64 codec=lorenzo"};
    static const gpu_case one = {"turbulence", FLOE_F32, 3, {512, 64, 64}, "abs=100 fill=none"};
    assert_int_equal(status_of_damaged(&chunks, 0), FLOE_ERR_CHECKSUM);
    assert_int_equal(status_of_damaged(&chunks, 6 << 20), FLOE_ERR_CHECKSUM); /* less than the field */
    assert_int_equal(status_of_damaged(&one, 6 << 20), FLOE_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pinned_memory_counts, contexts_open, contexts_close),
        cmocka_unit_test_setup_teardown(pinned_memory_gives_way, contexts_open, contexts_close),
        cmocka_unit_test_setup_teardown(trials_fit_or_go_to_the_cpu, contexts_open, contexts_close),
        cmocka_unit_test_setup_teardown(slabs_in_pinned_memory, contexts_open, contexts_close),
        cmocka_unit_test_setup_teardown(words_count, contexts_open, contexts_close),
        cmocka_unit_test_setup_teardown(another_gpu, contexts_open, contexts_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
