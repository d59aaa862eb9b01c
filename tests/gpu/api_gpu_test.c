/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on a GPU against the same calls on the CPU, by codec lorenzo; and what does not depend on the codec. */
#include "tests/gpu/api_gpu_kit.h"

static const gpu_case cases[] = {
    {"turbulence", FLOE_F32, 3, {33, 50, 100}, "rel=1e-3 preset=fast"},
    {"turbulence", FLOE_F32, 3, {32, 32, 64}, "abs=0.01 fill=none preset=fast"},
    {"turbulence", FLOE_F32, 3, {33, 50, 100}, "rel=1e-3"},
    {"turbulence", FLOE_F64, 3, {17, 30, 70}, "rel=1e-5 preset=fast"},
    {"turbulence", FLOE_F64, 3, {17, 30, 70}, "rel=1e-5"},
    {"turbulence", FLOE_F32, 2, {130, 260}, "rel=1e-3"},
    {"turbulence", FLOE_F32, 2, {130, 260}, "rel=1e-3 preset=fast"},
    {"turbulence", FLOE_F32, 1, {20000}, "rel=1e-4"},
    {"turbulence", FLOE_F64, 1, {20000}, "rel=1e-4 preset=fast"},
    {"turbulence", FLOE_F32, 4, {3, 9, 20, 40}, "rel=1e-3"},
    {"turbulence", FLOE_F32, 4, {9, 3, 20, 40}, "rel=1e-3 preset=fast"},
    {"turbulence", FLOE_F32, 3, {20, 40, 3}, "rel=1e-3"},
    {"noise", FLOE_F32, 3, {20, 17, 40}, "rel=3e-7"},
    {"noise", FLOE_F32, 3, {20, 17, 40}, "rel=3e-7 preset=fast"},
    {"noise", FLOE_F64, 2, {40, 140}, "rel=1e-12"},
    {"constant", FLOE_F32, 3, {17, 16, 33}, "rel=1e-3"},
    {"constant", FLOE_F32, 3, {17, 16, 33}, "abs=1e-3 preset=fast"},
    {"hostile", FLOE_F32, 3, {17, 18, 40}, "abs=1e-3"},
    {"hostile", FLOE_F32, 3, {17, 18, 40}, "abs=1e-3 preset=fast"},
    {"hostile", FLOE_F64, 2, {40, 140}, "rel=1e-3 preset=fast"},
    {"hostile", FLOE_F32, 1, {9000}, "pwrel=1e-3"},
    {"turbulence", FLOE_F32, 3, {20, 17, 40}, "pwrel=1e-3 preset=fast"},
    {"turbulence", FLOE_F64, 3, {20, 17, 40}, "pwrel=1e-3"},
    {"turbulence", FLOE_F32, 3, {20, 17, 40}, "lossless"},
    {"steps", FLOE_F32, 3, {20, 17, 40}, "lossless preset=fast"},
    {"hostile", FLOE_F64, 2, {40, 140}, "lossless"},
    {"turbulence", FLOE_F32, 3, {33, 50, 100}, "rel=1e-3 chunk=16x32x64"},
    {"turbulence", FLOE_F32, 3, {33, 50, 100}, "rel=1e-3 preset=fast chunk=7x50x33"},
    {"steps", FLOE_F32, 3, {31, 64, 65}, "rel=1e-3"},
    {"turbulence", FLOE_F32, 3, {1, 1, 1}, "rel=1e-3"},
    {"turbulence", FLOE_F32, 2, {1, 7}, "abs=1e-3"},
    {"turbulence", FLOE_F32, 3, {33, 20, 40}, "psnr=60"},
    {"turbulence", FLOE_F32, 1, {312}, "psnr=70 preset=fast"},
    {"mixing", FLOE_F32, 3, {17, 30, 40}, "psnr=40 preset=fast fill=none"},
    {"turbulence", FLOE_F64, 2, {50, 140}, "psnr=70 preset=fast"},
};
enum { NCASES = sizeof cases / sizeof *cases };

static void strides(void **state)
{
    (void)state;
    check_strided("turbulence", "rel=1e-3 preset=fast");
    check_strided("turbulence", "rel=1e-3 preset=balanced");
}

/* A field that ends where the device's memory for it does: memcheck sees a kernel that reads on. */
static void fields_that_end_anywhere(void **state)
{
    (void)state;
    static const gpu_case ends[] = {
        {"turbulence", FLOE_F32, 1, {173}, "abs=1e-3 preset=fast"},
        {"turbulence", FLOE_F32, 2, {15, 13}, "rel=1e-3"},
        {"turbulence", FLOE_F32, 3, {9, 157, 1}, "rel=1e-3 preset=fast fill=none"},
        {"turbulence", FLOE_F32, 3, {14, 33, 37}, "abs=1e-3"},
        {"fill", FLOE_F32, 2, {131, 133}, "rel=1e-3 preset=fast chunk=40x133"},
        {"turbulence", FLOE_F64, 2, {33, 37}, "rel=1e-3"},
        {"turbulence", FLOE_F64, 3, {5, 7, 9}, "abs=1e-3 preset=fast"},
        {"turbulence", FLOE_F32, 3, {5, 7, 9}, "codec=zfp abs=1e-3"},
        {"turbulence", FLOE_F32, 2, {5, 133}, "lossless"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        encoded m = make(&ends[i]);
        void *values;
        uint64_t n = 0;
        CU(cudaMalloc(&values, m.nbytes));
        CU(cudaMemcpy(values, m.values, m.nbytes, cudaMemcpyHostToDevice));
        floe_field field = floe_field_of_device(values, m.c->dtype, m.c->rank, m.c->shape);
        assert_int_equal(floe_compress(gpu, &field, &m.params, m.dev_stream, m.capacity, &n), FLOE_OK);
        assert_int_equal(n, m.stream_nbytes);
        expect_bytes(&m, m.dev_stream, m.stream, n, n, 0xEE, "stream");
        CU(cudaMemset(values, 0xEE, m.nbytes));
        assert_int_equal(floe_decompress(gpu, m.dev_stream, n, &field), FLOE_OK);
        CU(cudaMemcpy(m.values, values, m.nbytes, cudaMemcpyDeviceToHost));
        assert_memory_equal(m.values, m.decoded, m.nbytes);
        CU(cudaFree(values));
        unmake(&m);
    }
}

/* ---- field and stream in either memory ------------------------------------------------------------------------------- */

static floe_ctx *context_with(floe_backend backend, uint64_t max_memory)
{
    floe_ctx *ctx = NULL;
    const floe_ctx_options options = {
        .size = sizeof options, .backend = backend, .threads = 1, .max_memory = max_memory};
    assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
    return ctx;
}

/* What a pair of memories may give: only the CPU's own when it is to do the work. */
static floe_status expected_of(const encoded *m, floe_backend backend, bool field_on_device, bool stream_on_device)
{
    if (backend == FLOE_BACKEND_CPU)
        return field_on_device || stream_on_device ? FLOE_ERR_DEVICE : FLOE_OK;
    const bool is_integer = m->c->dtype == FLOE_I32 || m->c->dtype == FLOE_I64;
    return field_on_device && is_integer && m->params.codec != FLOE_CODEC_ZFP ? FLOE_ERR_UNSUPPORTED : FLOE_OK;
}

static void check_compress(encoded *m, floe_backend backend, bool field_on_device, bool stream_on_device)
{
    floe_ctx *ctx = context_with(backend, 0);
    floe_field field = field_on_device ? dev_field(m) : m->field;
    uint8_t *host = take(m->capacity), *dst = stream_on_device ? m->dev_stream : host;
    uint64_t n = 0;
    const floe_status wanted = expected_of(m, backend, field_on_device, stream_on_device);
    CU(cudaMemset(m->dev_stream, 0xEE, m->capacity + GUARD));
    assert_int_equal(floe_compress(ctx, &field, &m->params, dst, m->capacity, &n), wanted);
    if (wanted == FLOE_OK) {
        floe_stats stats = {.size = sizeof stats};
        floe_ctx_stats(ctx, &stats);
        assert_int_equal(n, m->stream_nbytes);
        assert_int_equal(stats.nexceptions, m->stats.nexceptions);
        assert_true(stats.max_error == m->stats.max_error);
        if (stream_on_device)
            expect_bytes(m, dst, m->stream, n, n, 0xEE, "stream of either memory");
        else
            assert_memory_equal(host, m->stream, n);
        CU(cudaMemset(m->dev_stream, 0xEE, m->capacity + GUARD));
        assert_int_equal(floe_compress(ctx, &field, &m->params, dst, n - 1, &n), FLOE_ERR_CAPACITY);
        assert_non_null(strstr(floe_ctx_message(ctx), "floe_compress_bound says"));
        expect_bytes(m, m->dev_stream + m->stream_nbytes - 1, NULL, 0, m->capacity - m->stream_nbytes + 1, 0xEE,
                     "what lies behind it");
    }
    floe_ctx_free(&ctx);
    free(host);
}

static void check_decompress(encoded *m, floe_backend backend, bool field_on_device, bool stream_on_device)
{
    floe_ctx *ctx = context_with(backend, 0);
    const uint8_t *src = stream_on_device ? m->dev_stream : m->stream;
    uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK], nbytes = floe_dtype_size(m->c->dtype);
    const floe_status wanted = expected_of(m, backend, field_on_device, stream_on_device);
    for (uint32_t i = 0; i < m->c->rank; i++) {
        lo[i] = m->c->shape[i] / 3;
        extent[i] = m->c->shape[i] - lo[i];
        nbytes *= extent[i];
    }
    uint8_t *got = take(m->nbytes), *region = take(nbytes);
    floe_field part = floe_field_of(region, m->c->dtype, m->c->rank, extent);
    assert_int_equal(floe_decompress_region(cpu, m->stream, m->stream_nbytes, lo, m->c->shape, &part), FLOE_OK);
    floe_field out = field_on_device ? dev_field(m) : floe_field_of(got, m->c->dtype, m->c->rank, m->c->shape);
    assert_int_equal(floe_decompress(ctx, src, m->stream_nbytes, &out), wanted);
    if (wanted == FLOE_OK) {
        if (field_on_device)
            CU(cudaMemcpy(got, m->dev_values, m->nbytes, cudaMemcpyDeviceToHost));
        assert_memory_equal(got, m->decoded, m->nbytes);
    }
    memcpy(out.shape, extent, sizeof extent);
    assert_int_equal(floe_decompress_region(ctx, src, m->stream_nbytes, lo, m->c->shape, &out), wanted);
    if (wanted == FLOE_OK) {
        if (field_on_device)
            CU(cudaMemcpy(got, m->dev_values, nbytes, cudaMemcpyDeviceToHost));
        assert_memory_equal(got, region, nbytes);
    }
    floe_ctx_free(&ctx);
    free(got);
    free(region);
}

static const gpu_case anywhere[] = {{"turbulence", FLOE_F32, 3, {20, 17, 40}, "rel=1e-3 preset=fast"},
                                    {"turbulence", FLOE_F32, 3, {20, 17, 40}, "rel=1e-3 chunk=7x17x40"},
                                    {"hostile", FLOE_F64, 2, {40, 70}, "lossless chunk=7x33"},
                                    {"turbulence", FLOE_I32, 3, {9, 17, 33}, "abs=3 chunk=4x17x33"},
                                    {"turbulence", FLOE_I64, 2, {30, 50}, "lossless codec=zfp"},
                                    {"turbulence", FLOE_F32, 3, {20, 17, 40}, "rate=8 codec=zfp chunk=8x17x40"},
                                    {"turbulence", FLOE_F32, 2, {0, 7}, "abs=1e-3"}};
enum { NANYWHERE = sizeof anywhere / sizeof *anywhere };

/* Each with a context that has not used its GPU yet. */
static void any_place(void **state)
{
    (void)state;
    const int step = is_few() ? 5 : 1;
    for (int i = 0; i < NANYWHERE; i++) {
        encoded m = make(&anywhere[i]);
        for (int k = i % step; k < 12; k += step)
            check_compress(&m, (floe_backend)(k / 4), k & 1, k & 2);
        CU(cudaMemcpy(m.dev_stream, m.stream, m.stream_nbytes, cudaMemcpyHostToDevice));
        for (int k = i % step; k < 12; k += step)
            check_decompress(&m, (floe_backend)(k / 4), k & 1, k & 2);
        for (int k = 0; k < 3; k++) {
            floe_ctx *ctx = context_with((floe_backend)k, 0);
            assert_int_equal(floe_verify(ctx, m.dev_stream, m.stream_nbytes, &m.field),
                             k == FLOE_BACKEND_CPU ? FLOE_ERR_DEVICE : FLOE_OK);
            floe_ctx_free(&ctx);
        }
        unmake(&m);
    }
}

/* A stream in device memory comes to the host record by record: the limit is of that, not of the stream. */
static void a_limit_on_the_way(void **state)
{
    (void)state;
    static const gpu_case slabs = {"noise", FLOE_F32, 3, {256, 64, 128}, "lossless chunk=1x64x128"};
    encoded m = make(&slabs);
    floe_field out = m.field;
    out.data = m.decoded;
    CU(cudaMemcpy(m.dev_stream, m.stream, m.stream_nbytes, cudaMemcpyHostToDevice));
    const uint64_t limits[] = {m.stream_nbytes - 1, 4096};
    for (int k = 0; k < 2; k++) {
        floe_ctx *ctx = context_with(FLOE_BACKEND_AUTO, limits[k]);
        memset(m.decoded, 0xEE, m.nbytes);
        assert_int_equal(floe_decompress(ctx, m.dev_stream, m.stream_nbytes, &out), k ? FLOE_ERR_LIMIT : FLOE_OK);
        if (!k)
            assert_memory_equal(m.decoded, m.values, m.nbytes);
        floe_ctx_free(&ctx);
    }
    unmake(&m);
}

/* Scratch is there for the blocks that a field's tiles keep busy, not for all that a GPU can have. */
static void small_fields_take_little(void **state)
{
    (void)state;
    static const char *const params[] = {"abs=1e-3 codec=lorenzo", "rel=1e-3 preset=fast", "pwrel=1e-3 codec=lorenzo",
                                         "lossless"};
    static const uint64_t edges[] = {1, 16, 64, 512};
    static const uint64_t most[] = {6 << 20, 10 << 20, 54 << 20, UINT64_MAX}; /* of three chunks under way */
    for (int i = 0; i < 16; i++) {
        floe_params p;
        size_t before = 0;
        assert_int_equal(floe_params_parse(&p, params[i / 4], NULL), FLOE_OK);
        for (int k = 0; k < 4; k++) {
            const uint64_t shape[] = {edges[k], edges[k], edges[k]};
            floe_field field = floe_field_of(NULL, i & 1 ? FLOE_F64 : FLOE_F32, 3, shape);
            size_t nbytes;
            field.place = i & 2 ? FLOE_DEVICE : FLOE_HOST;
            assert_int_equal(floe_device_workspace_nbytes(gpu, &field, &p, &nbytes), FLOE_OK);
            assert_in_range(nbytes, before, most[k] / (field.place == FLOE_HOST ? 1 : 3));
            before = nbytes;
        }
    }
}

/* A header and an index: kernels of the codec have nothing to do but to report it. */
static void empty_fields(void **state)
{
    (void)state;
    static const gpu_case empty[] = {{"turbulence", FLOE_F32, 2, {0, 7}, "abs=1e-3"},
                                     {"turbulence", FLOE_F64, 3, {5, 0, 7}, "rel=1e-3 preset=fast"},
                                     {"turbulence", FLOE_F32, 2, {0, 7}, "rel=1e-3"},
                                     {"turbulence", FLOE_F32, 1, {0}, "lossless"},
                                     {"turbulence", FLOE_F32, 3, {5, 0, 7}, "abs=1e-3 codec=zfp"}};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        encoded m = make(&empty[i]);
        floe_field field = dev_field(&m);
        uint64_t n = 0;
        assert_int_equal(floe_compress(gpu, &field, &m.params, m.dev_stream, m.capacity, &n), FLOE_OK);
        assert_int_equal(n, m.stream_nbytes);
        expect_bytes(&m, m.dev_stream, m.stream, n, n, 0xEE, "stream of an empty field");
        assert_int_equal(floe_decompress(gpu, m.dev_stream, n, &field), FLOE_OK);
        unmake(&m);
    }
}

/* Of a context whose stream waits for no other, the default one included. */
static void a_first_call(void **state)
{
    (void)state;
    encoded m = make(&cases[1]);
    floe_field out = dev_field(&m);
    floe_device_report *report, got;
    floe_ctx *ctx = NULL;
    cudaStream_t q;
    void *workspace;
    size_t nbytes;
    assert_int_equal(floe_device_workspace_nbytes(gpu, &out, &m.params, &nbytes), FLOE_OK);
    CU(cudaMalloc(&workspace, nbytes));
    CU(cudaMalloc((void **)&report, sizeof *report));
    CU(cudaMemcpy(m.dev_stream, m.stream, m.stream_nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemset(m.dev_values, 0xEE, m.nbytes + GUARD));
    CU(cudaStreamCreateWithFlags(&q, cudaStreamNonBlocking));
    CU(cudaDeviceSynchronize());
    const floe_ctx_options options = {
        .size = sizeof options, .stream = q, .device_workspace = workspace, .device_workspace_nbytes = nbytes};
    assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
    assert_int_equal(floe_decompress_async(ctx, m.dev_stream, m.stream_nbytes, NULL, &m.params, &out, report), FLOE_OK);
    CU(cudaStreamSynchronize(q));
    CU(cudaMemcpy(&got, report, sizeof got, cudaMemcpyDeviceToHost));
    assert_int_equal(got.status, FLOE_OK);
    assert_int_equal(got.nbytes, m.stream_nbytes);
    expect_bytes(&m, m.dev_values, m.decoded, m.nbytes, m.nbytes, 0xEE, "values of a first call");
    floe_ctx_free(&ctx);
    CU(cudaStreamDestroy(q));
    CU(cudaFree(report));
    CU(cudaFree(workspace));
    unmake(&m);
}

/* Chunks go to pinned memory while those behind them come in. When one of these is damaged the call ends, and with it all that
 * it has begun: the memory is the caller's again. */
static void a_failure_ends_all(void **state)
{
    (void)state;
    static const gpu_case slabs = {"turbulence", FLOE_F32, 3, {33, 50, 100}, "rel=1e-3 chunk=7x50x100"};
    encoded m = make(&slabs);
    uint8_t *values;
    CU(cudaMallocHost((void **)&values, m.nbytes));
    floe_field out = m.field;
    out.data = values;
    assert_int_equal(floe_decompress(through, m.stream, m.stream_nbytes, &out), FLOE_OK);
    assert_memory_equal(values, m.decoded, m.nbytes);
    m.stream[m.stream_nbytes / 2] ^= 1; /* of the third chunk */
    assert_int_equal(floe_decompress(through, m.stream, m.stream_nbytes, &out), FLOE_ERR_CHECKSUM);
    memset(values, 0x55, m.nbytes);
    CU(cudaDeviceSynchronize());
    for (uint64_t i = 0; i < m.nbytes; i++)
        assert_int_equal(values[i], 0x55);
    CU(cudaFreeHost(values));
    unmake(&m);
}

/* One byte of a stream in host memory, pinned or not: refused, in the words of the CPU, whoever has found it. */
static void damage_is_told_alike(void **state)
{
    (void)state;
    static const gpu_case slabs[] = {{"turbulence", FLOE_F32, 3, {33, 50, 103}, "rel=1e-3 chunk=7x50x103"},
                                     {"turbulence", FLOE_F64, 2, {90, 77}, "abs=1e-3 preset=fast chunk=40x77"},
                                     {"turbulence", FLOE_F32, 3, {33, 50, 103}, "rel=1e-3 codec=zfp chunk=7x50x103"}};
    const uint64_t nplaces = is_few() ? 3 : is_small() ? 7 : 40;
    for (size_t i = 0; i < sizeof slabs / sizeof *slabs; i++) {
        encoded m = make(&slabs[i]);
        floe_field out = m.field;
        uint8_t *pinned;
        out.data = m.decoded;
        CU(cudaMallocHost((void **)&pinned, m.stream_nbytes));
        for (uint64_t k = 0; k < nplaces; k++) {
            const uint64_t at = m.stream_nbytes * (2 * k + 1) / (2 * nplaces);
            char message[512];
            m.stream[at] ^= 0x10;
            const floe_status status = floe_decompress(cpu, m.stream, m.stream_nbytes, &out);
            snprintf(message, sizeof message, "%s", floe_ctx_message(cpu));
            assert_int_not_equal(status, FLOE_OK);
            memcpy(pinned, m.stream, m.stream_nbytes);
            assert_int_equal(floe_decompress(through, m.stream, m.stream_nbytes, &out), status);
            assert_string_equal(floe_ctx_message(through), message);
            assert_int_equal(floe_decompress(through, pinned, m.stream_nbytes, &out), status);
            assert_string_equal(floe_ctx_message(through), message);
            m.stream[at] ^= 0x10;
        }
        memcpy(pinned, m.stream, m.stream_nbytes);
        assert_int_equal(floe_decompress(through, pinned, m.stream_nbytes, &out), FLOE_OK);
        CU(cudaFreeHost(pinned));
        unmake(&m);
    }
}

/* ---- memory and types of other kinds ---------------------------------------------------------------------------------- */

/* Memory of other kinds that a GPU can reach, pinned or managed, is as good. */
static void device_memory_of_other_kinds(void **state)
{
    (void)state;
    for (int managed = 0; managed < 2; managed++) {
        encoded m = make(&cases[0]);
        const size_t report_at = (m.nbytes + 255) / 256 * 256, nbytes = report_at + sizeof(floe_device_report);
        uint8_t *memory;
        CU(managed ? cudaMallocManaged((void **)&memory, nbytes, 1) : cudaMallocHost((void **)&memory, nbytes));
        floe_field field = floe_field_of_device(memory, FLOE_F32, m.c->rank, m.c->shape);
        floe_device_report *report = (floe_device_report *)(memory + report_at);
        memcpy(memory, m.values, m.nbytes);
        assert_int_equal(floe_compress_async(gpu, &field, &m.params, m.dev_stream, m.capacity, report), FLOE_OK);
        assert_int_equal(
            floe_decompress_async(gpu, m.dev_stream, m.capacity, &report->nbytes, &m.params, &field, report), FLOE_OK);
        CU(cudaDeviceSynchronize());
        assert_int_equal(report->status, FLOE_OK);
        assert_int_equal(report->nbytes, m.stream_nbytes);
        expect_bytes(&m, m.dev_stream, m.stream, m.stream_nbytes, m.stream_nbytes, 0xEE, "stream of other memory");
        assert_memory_equal(memory, m.decoded, m.nbytes);
        CU(managed ? cudaFree(memory) : cudaFreeHost(memory));
        unmake(&m);
    }
}

/* Integers are the CPU's: refused in device memory, done in host memory whatever the backend. */
static void integers_are_refused(void **unused)
{
    static const gpu_case integers[] = {{"turbulence", FLOE_I32, 3, {9, 17, 33}, "lossless"},
                                        {"turbulence", FLOE_I64, 2, {30, 50}, "rel=1e-3"}};
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        encoded m = make(&integers[i]);
        floe_field dev = floe_field_of_device(m.dev_values, m.c->dtype, m.c->rank, m.c->shape), host = m.field;
        floe_device_report *report = (floe_device_report *)m.dev_stream;
        const uint64_t lo[FLOE_MAX_RANK] = {0};
        uint64_t n;
        host.data = m.decoded;
        floe_ctx *const all[] = {gpu, through};
        for (int k = 0; k < 2; k++) {
            floe_ctx *ctx = all[k];
            assert_int_equal(floe_compress(ctx, &dev, &m.params, m.dev_stream, m.capacity, &n), FLOE_ERR_UNSUPPORTED);
            assert_non_null(strstr(floe_ctx_message(ctx), "are the CPU's work"));
            assert_int_equal(floe_compress_async(ctx, &dev, &m.params, m.dev_stream, m.capacity, report),
                             FLOE_ERR_UNSUPPORTED);
            assert_int_equal(floe_decompress(ctx, m.stream, m.stream_nbytes, &dev), FLOE_ERR_UNSUPPORTED);
            assert_int_equal(floe_decompress_region(ctx, m.stream, m.stream_nbytes, lo, m.c->shape, &dev),
                             FLOE_ERR_UNSUPPORTED);
            assert_int_equal(floe_decompress_async(ctx, m.dev_stream, m.stream_nbytes, NULL, NULL, &dev, report),
                             FLOE_ERR_UNSUPPORTED);
        }
        for (int k = 0; k < 2; k++) {
            uint8_t *stream = take(m.capacity);
            assert_int_equal(floe_compress(all[k], &m.field, &m.params, stream, m.capacity, &n), FLOE_OK);
            assert_true(n == m.stream_nbytes && memcmp(stream, m.stream, n) == 0);
            assert_int_equal(floe_decompress(all[k], stream, n, &host), FLOE_OK);
            assert_int_equal(floe_verify(all[k], stream, n, &m.field), FLOE_OK);
            free(stream);
        }
        unmake(&m);
    }
    /* a stream of integers is no stream of reals */
    encoded m = make(&integers[0]);
    floe_field dev = floe_field_of_device(m.dev_values, FLOE_F32, m.c->rank, m.c->shape);
    assert_int_equal(floe_decompress(gpu, m.stream, m.stream_nbytes, &dev), FLOE_ERR_ARGUMENT);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {API_GPU_TESTS,
                                       cmocka_unit_test(strides),
                                       cmocka_unit_test(fields_that_end_anywhere),
                                       cmocka_unit_test(any_place),
                                       cmocka_unit_test(a_limit_on_the_way),
                                       cmocka_unit_test(small_fields_take_little),
                                       cmocka_unit_test(empty_fields),
                                       cmocka_unit_test(a_first_call),
                                       cmocka_unit_test(a_failure_ends_all),
                                       cmocka_unit_test(damage_is_told_alike),
                                       cmocka_unit_test(device_memory_of_other_kinds),
                                       cmocka_unit_test(integers_are_refused)};
    the_cases = cases;
    nthe_cases = NCASES;
    return cmocka_run_group_tests(tests, contexts_open, contexts_close);
}
