/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on a GPU against the same calls on the CPU, over a table of cases: bytes, values, statistics, refusals and
 * their words. A test file has the table, and tests of its own. */
#ifndef TESTS_GPU_API_GPU_KIT_H
#define TESTS_GPU_API_GPU_KIT_H

#include <math.h>

#include "tests/gpu/case_gpu_kit.h"

/* Of the test file. */
static const gpu_case *the_cases;
static int nthe_cases;

typedef struct encoded {
    const gpu_case *c;
    floe_params params;
    floe_field field; /* host */
    uint64_t nbytes, capacity, stream_nbytes;
    void *values, *decoded; /* the CPU's */
    uint8_t *stream;
    floe_stats stats;
    uint8_t *dev_values, *dev_stream;
} encoded;

static encoded make(const gpu_case *c)
{
    encoded m = {.c = c, .stats = {.size = sizeof m.stats}};
    m.field = case_make(c, &m.params, &m.nbytes);
    m.values = m.field.data;
    m.decoded = take(m.nbytes);
    m.capacity = floe_compress_bound(&m.field, &m.params);
    m.stream = take(m.capacity);
    assert_int_equal(floe_compress(cpu, &m.field, &m.params, m.stream, m.capacity, &m.stream_nbytes), FLOE_OK);
    floe_ctx_stats(cpu, &m.stats);
    floe_field out = m.field;
    out.data = m.decoded;
    assert_int_equal(floe_decompress(cpu, m.stream, m.stream_nbytes, &out), FLOE_OK);
    CU(cudaMalloc((void **)&m.dev_values, m.nbytes + GUARD));
    CU(cudaMalloc((void **)&m.dev_stream, m.capacity + GUARD));
    CU(cudaMemcpy(m.dev_values, m.values, m.nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemset(m.dev_stream, 0xEE, m.capacity + GUARD));
    return m;
}

static void unmake(encoded *m)
{
    free(m->values);
    free(m->decoded);
    free(m->stream);
    CU(cudaFree(m->dev_values));
    CU(cudaFree(m->dev_stream));
}

/* Whether a sample decides which codec it is. */
static bool chooses(const encoded *m)
{
    return m->params.codec == FLOE_CODEC_AUTO && m->params.preset != FLOE_PRESET_FAST &&
           m->params.mode != FLOE_BOUND_LOSSLESS;
}

static floe_field dev_field(const encoded *m)
{
    return floe_field_of_device(m->dev_values, m->c->dtype, m->c->rank, m->c->shape);
}

static void say(const encoded *m, const char *what)
{
    print_message("%s of %s, %s, %llu x %llu x %llu x %llu: %s\n", floe_dtype_name(m->c->dtype), m->c->kind,
                  m->c->params, (unsigned long long)m->c->shape[0], (unsigned long long)m->c->shape[1],
                  (unsigned long long)m->c->shape[2], (unsigned long long)m->c->shape[3], what);
}

/* Device memory against what it should be, with the guard behind it. */
static void expect_bytes(const encoded *m, const void *dev, const void *expected, uint64_t nbytes, uint64_t room,
                         int guard, const char *what)
{
    uint8_t *got = take(room + GUARD);
    CU(cudaMemcpy(got, dev, room + GUARD, cudaMemcpyDeviceToHost));
    for (uint64_t i = 0; i < nbytes; i++)
        if (got[i] != ((const uint8_t *)expected)[i]) {
            say(m, what);
            fail_msg("byte %llu of %llu is %02x instead of %02x", (unsigned long long)i, (unsigned long long)nbytes,
                     got[i], ((const uint8_t *)expected)[i]);
        }
    for (uint64_t i = nbytes; i < room + GUARD; i++)
        if (got[i] != guard) {
            say(m, what);
            fail_msg("byte %llu behind %llu was written", (unsigned long long)i, (unsigned long long)nbytes);
        }
    free(got);
}

/* The stream in a destination of so many bytes, and the guard behind it. Longer ones may have been there, by codecs that were tried. */
static void expect_stream(const encoded *m, const uint8_t *dev, const uint8_t *expected, uint64_t nbytes,
                          uint64_t capacity)
{
    const bool tried = chooses(m) && m->params.preset == FLOE_PRESET_BEST;
    uint8_t *got = take(capacity);
    CU(cudaMemcpy(got, dev, capacity, cudaMemcpyDeviceToHost));
    assert_memory_equal(got, expected, nbytes);
    free(got);
    expect_bytes(m, dev + (tried ? capacity : nbytes), NULL, 0, 0, 0xEE, "guard behind the stream");
}

static int nturns; /* where few are tried they are others each time */
/* Where a GPU is emulated: what is left out does not change the choice, and named codecs are tried with all of it. */
static bool chooses_slowly(const encoded *m) { return chooses(m) && (is_small() || is_watched()); }
static int case_step(void) { return is_few() ? 7 : is_small() ? 3 : 1; }
#define FOR_EACH_CASE(m)                                                      \
    for (int i_ = nturns++ % case_step(); i_ < nthe_cases; i_ += case_step()) \
        for (encoded m = make(&the_cases[i_]); m.c; unmake(&m), m.c = NULL)

/* ---- device data ----------------------------------------------------------------------------------------------------- */

static int count_calls(void *user, uint64_t done, uint64_t total)
{
    uint64_t *seen = user;
    assert_true(done <= total);
    seen[0]++;
    seen[1] = done;
    return 0;
}

/* With options: the CPU's bytes wherever the field and the stream lie, and progress. */
static void check_options(const encoded *m)
{
    static const floe_attr attrs[] = {{"name", "ice"}, {"units", "kilograms of it, in every square metre of the sea"}};
    enum { MORE = 128 };
    uint64_t seen[2] = {0}, n = 0, capacity = m->capacity + MORE, wanted;
    floe_stream_options options = {
        .size = sizeof options, .attrs = attrs, .nattrs = 2, .progress = count_calls, .progress_user = seen};
    uint8_t *want = take(capacity), *got = take(capacity), *decoded = take(m->nbytes + 1), *dev;
    floe_field field = dev_field(m), out = m->field;
    CU(cudaMalloc((void **)&dev, capacity + GUARD));
    CU(cudaMemset(dev, 0xEE, capacity + GUARD));
    assert_int_equal(floe_compress_with(cpu, &m->field, &m->params, &options, want, capacity, &wanted), FLOE_OK);
    for (int k = 0; k < 3; k++) {
        floe_ctx *ctx = k == 2 ? through : gpu;
        memset(seen, 0, sizeof seen);
        assert_int_equal(
            floe_compress_with(ctx, k == 2 ? &m->field : &field, &m->params, &options, k ? got : dev, wanted, &n),
            FLOE_OK);
        assert_int_equal(n, wanted);
        if (k)
            assert_memory_equal(got, want, n);
        else
            expect_stream(m, dev, want, n, wanted);
        assert_true(seen[1] == m->nbytes && (k == 2 || seen[0] == 1));
    }
    assert_int_equal(floe_compress_with(gpu, &field, &m->params, &options, got, wanted - 1, &n), FLOE_ERR_CAPACITY);
    options.salvage = 1;
    out.data = decoded; /* a ratio is that of the whole stream, attributes too: they may change the bound */
    assert_int_equal(floe_decompress(cpu, want, wanted, &out), FLOE_OK);
    out.data = got = realloc(got, m->nbytes + 1);
    for (int k = 0; k < 4; k++) { /* k & 1: from device memory */
        memset(seen, 0, sizeof seen);
        memset(got, 0, m->nbytes);
        options.salvage = k < 2;
        assert_int_equal(floe_decompress_with(through, k & 1 ? dev : want, wanted, &options, &out), FLOE_OK);
        assert_memory_equal(got, decoded, m->nbytes);
        assert_int_equal(seen[1], m->nbytes);
    }
    free(want);
    free(got);
    free(decoded);
    CU(cudaFree(dev));
}

static void compress_waits(void **state)
{
    (void)state;
    FOR_EACH_CASE(m)
    {
        floe_field field = dev_field(&m);
        uint64_t n = 0;
        floe_stats stats = {.size = sizeof stats};
        floe_status status = floe_compress(gpu, &field, &m.params, m.dev_stream, m.capacity, &n);
        if (status != FLOE_OK) {
            say(&m, floe_ctx_message(gpu));
            fail_msg("status %d", (int)status);
        }
        floe_ctx_stats(gpu, &stats);
        if (n != m.stream_nbytes)
            say(&m, "size");
        assert_int_equal(n, m.stream_nbytes);
        expect_stream(&m, m.dev_stream, m.stream, n, m.capacity);
        assert_int_equal(stats.nexceptions, m.stats.nexceptions);
        assert_int_equal(stats.nchunks, m.stats.nchunks);
        if (stats.max_error != m.stats.max_error)
            say(&m, "max_error");
        assert_true(stats.max_error == m.stats.max_error);
        if (!chooses_slowly(&m))
            check_options(&m);
    }
}

static void decompress_waits(void **state)
{
    (void)state;
    FOR_EACH_CASE(m)
    {
        floe_field out = dev_field(&m);
        CU(cudaMemcpy(m.dev_stream, m.stream, m.stream_nbytes, cudaMemcpyHostToDevice));
        CU(cudaMemset(m.dev_values, 0xEE, m.nbytes + GUARD));
        floe_status status = floe_decompress(gpu, m.dev_stream, m.stream_nbytes, &out);
        if (status != FLOE_OK) {
            say(&m, floe_ctx_message(gpu));
            fail_msg("status %d", (int)status);
        }
        expect_bytes(&m, m.dev_values, m.decoded, m.nbytes, m.nbytes, 0xEE, "values");
    }
}

/* Both directions without waiting, in one graph, replayed; sizes stay on the device. */
static void calls_do_not_wait(void **state)
{
    (void)state;
    floe_device_report *reports, got[2];
    CU(cudaMalloc((void **)&reports, 2 * sizeof *reports));
    FOR_EACH_CASE(m)
    {
        floe_ctx *ctx = NULL;
        cudaStream_t q;
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        if (m.params.mode == FLOE_BOUND_PSNR || m.params.mode == FLOE_BOUND_RATIO || chooses(&m) ||
            (m.params.mode == FLOE_BOUND_RATE && m.params.codec != FLOE_CODEC_ZFP)) /* they are refused */
            continue;
        CU(cudaStreamCreateWithFlags(&q, cudaStreamNonBlocking));
        floe_ctx_options options = {.size = sizeof options, .stream = q};
        floe_field field = dev_field(&m), out = field;
        uint8_t *dev_out;
        CU(cudaMalloc((void **)&dev_out, m.nbytes + GUARD));
        out.data = dev_out;
        assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
        for (int warm = 1; warm >= 0; warm--) {
            if (!warm)
                CU(cudaStreamBeginCapture(q, cudaStreamCaptureModeThreadLocal));
            assert_int_equal(floe_compress_async(ctx, &field, &m.params, m.dev_stream, m.capacity, &reports[0]),
                             FLOE_OK);
            assert_int_equal(
                floe_decompress_async(ctx, m.dev_stream, m.capacity, &reports[0].nbytes, &m.params, &out, &reports[1]),
                FLOE_OK);
        }
        CU(cudaStreamEndCapture(q, &graph));
        CU(cudaGraphInstantiate(&exec, graph, 0));
        CU(cudaStreamSynchronize(q));
        CU(cudaMemset(m.dev_stream, 0xEE, m.capacity + GUARD));
        CU(cudaMemset(dev_out, 0xEE, m.nbytes + GUARD));
        CU(cudaDeviceSynchronize()); /* q does not wait for memsets */
        for (int replay = 0; replay < 2; replay++)
            CU(cudaGraphLaunch(exec, q));
        CU(cudaStreamSynchronize(q));
        CU(cudaMemcpy(got, reports, sizeof got, cudaMemcpyDeviceToHost));
        if (got[0].status || got[1].status)
            say(&m, "a report");
        assert_int_equal(got[0].status, FLOE_OK);
        assert_int_equal(got[1].status, FLOE_OK);
        assert_int_equal(got[0].nbytes, m.stream_nbytes);
        assert_int_equal(got[0].nexceptions, m.stats.nexceptions);
        expect_bytes(&m, m.dev_stream, m.stream, m.stream_nbytes, m.stream_nbytes, 0xEE, "stream of a graph");
        expect_bytes(&m, dev_out, m.decoded, m.nbytes, m.nbytes, 0xEE, "values of a graph");
        CU(cudaGraphExecDestroy(exec));
        CU(cudaGraphDestroy(graph));
        floe_ctx_free(&ctx);
        CU(cudaStreamDestroy(q));
        CU(cudaFree(dev_out));
    }
    CU(cudaFree(reports));
}

/* One byte too few is refused, and nothing is written behind what there is. */
static void capacity_is_respected(void **state)
{
    (void)state;
    FOR_EACH_CASE(m)
    {
        const uint64_t short_of[] = {1, m.stream_nbytes / 2, m.stream_nbytes - 8, m.stream_nbytes};
        floe_field field = dev_field(&m);
        for (int k = 0; k < 4; k += is_few() ? (chooses_slowly(&m) ? 4 : 3) : chooses_slowly(&m) ? 3 : 1) {
            uint64_t n = 0, room = m.stream_nbytes - short_of[k];
            CU(cudaMemset(m.dev_stream, 0xEE, m.capacity + GUARD));
            floe_status status = floe_compress(gpu, &field, &m.params, m.dev_stream, room, &n);
            if (status != FLOE_ERR_CAPACITY)
                say(&m, "capacity");
            assert_int_equal(status, FLOE_ERR_CAPACITY);
            uint8_t guard[GUARD];
            CU(cudaMemcpy(guard, m.dev_stream + room, GUARD, cudaMemcpyDeviceToHost));
            for (int i = 0; i < GUARD; i++)
                assert_int_equal(guard[i], 0xEE);
        }
        uint64_t n = 0;
        assert_int_equal(floe_compress(gpu, &field, &m.params, m.dev_stream, m.stream_nbytes, &n), FLOE_OK);
        assert_int_equal(n, m.stream_nbytes);
    }
}

static void regions(void **state)
{
    (void)state;
    FOR_EACH_CASE(m)
    {
        uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], extent[FLOE_MAX_RANK], nbytes = floe_dtype_size(m.c->dtype);
        for (uint32_t i = 0; i < m.c->rank; i++) {
            lo[i] = m.c->shape[i] / 3;
            hi[i] = m.c->shape[i] - m.c->shape[i] / 4;
            extent[i] = hi[i] - lo[i];
            nbytes *= extent[i];
        }
        void *expected = take(nbytes);
        floe_field host = floe_field_of(expected, m.c->dtype, m.c->rank, extent);
        floe_field out = floe_field_of_device(m.dev_values, m.c->dtype, m.c->rank, extent);
        assert_int_equal(floe_decompress_region(cpu, m.stream, m.stream_nbytes, lo, hi, &host), FLOE_OK);
        CU(cudaMemcpy(m.dev_stream, m.stream, m.stream_nbytes, cudaMemcpyHostToDevice));
        CU(cudaMemset(m.dev_values, 0xEE, m.nbytes + GUARD));
        assert_int_equal(floe_decompress_region(gpu, m.dev_stream, m.stream_nbytes, lo, hi, &out), FLOE_OK);
        expect_bytes(&m, m.dev_values, expected, nbytes, m.nbytes, 0xEE, "region");
        free(expected);
    }
}

/* Every second value of a larger array, its slowest axis turned round. */
static void check_strided_of(uint64_t planes, uint64_t rows, uint64_t lanes, const char *kind, const char *params)
{
    const gpu_case c = {kind, FLOE_F32, 3, {planes, rows, 2 * lanes}, params};
    encoded m = make(&c);
    const uint64_t shape[3] = {planes, rows, lanes}, last = (planes - 1) * rows * 2 * lanes;
    floe_field host = floe_field_of((float *)m.values + last, FLOE_F32, 3, shape), dev;
    host.stride[0] = -(int64_t)(rows * 2 * lanes), host.stride[1] = (int64_t)(2 * lanes), host.stride[2] = 2;
    dev = host;
    dev.data = (float *)m.dev_values + last;
    dev.place = FLOE_DEVICE;
    uint64_t expected = 0, n = 0;
    assert_int_equal(floe_compress(cpu, &host, &m.params, m.stream, m.capacity, &expected), FLOE_OK);
    assert_int_equal(floe_compress(gpu, &dev, &m.params, m.dev_stream, m.capacity, &n), FLOE_OK);
    assert_int_equal(n, expected);
    expect_bytes(&m, m.dev_stream, m.stream, n, n, 0xEE, "stream of a strided field");
    CU(cudaMemset(m.dev_values, 0xEE, m.nbytes + GUARD));
    memset(m.values, 0xEE, m.nbytes);
    assert_int_equal(floe_decompress(cpu, m.stream, n, &host), FLOE_OK);
    assert_int_equal(floe_decompress(gpu, m.dev_stream, n, &dev), FLOE_OK);
    expect_bytes(&m, m.dev_values, m.values, m.nbytes, m.nbytes, 0xEE, "values of a strided field");
    unmake(&m);
}

static inline void check_strided(const char *kind, const char *params) { check_strided_of(20, 33, 25, kind, params); }

/* ---- host data through the GPU --------------------------------------------------------------------------------------- */

static void host_data(void **state)
{
    (void)state;
    FOR_EACH_CASE(m)
    {
        for (int pinned = chooses_slowly(&m) || (is_few() && i_ % 2);
             pinned < (is_few() && i_ % 2 == 0 && !chooses_slowly(&m) ? 1 : 2); pinned++) {
            uint8_t *stream, *values, *decoded;
            uint64_t n = 0;
            if (pinned) {
                CU(cudaMallocHost((void **)&stream, m.capacity));
                CU(cudaMallocHost((void **)&values, m.nbytes));
                CU(cudaMallocHost((void **)&decoded, m.nbytes));
            } else {
                stream = take(m.capacity);
                values = take(m.nbytes);
                decoded = take(m.nbytes);
            }
            memcpy(values, m.values, m.nbytes);
            floe_field in = m.field, out = m.field;
            in.data = values;
            out.data = decoded;
            floe_status status = floe_compress(through, &in, &m.params, stream, m.capacity, &n);
            if (status != FLOE_OK)
                say(&m, floe_ctx_message(through));
            assert_int_equal(status, FLOE_OK);
            assert_int_equal(n, m.stream_nbytes);
            assert_memory_equal(stream, m.stream, n);
            floe_stats stats = {.size = sizeof stats};
            floe_ctx_stats(through, &stats);
            assert_int_equal(stats.nexceptions, m.stats.nexceptions);
            assert_true(stats.max_error == m.stats.max_error);
            memset(decoded, 0xEE, m.nbytes);
            status = floe_decompress(through, stream, n, &out);
            if (status != FLOE_OK)
                say(&m, floe_ctx_message(through));
            assert_int_equal(status, FLOE_OK);
            assert_memory_equal(decoded, m.decoded, m.nbytes);
            assert_int_equal(floe_verify(through, stream, n, &m.field), FLOE_OK);
            if (pinned) {
                CU(cudaFreeHost(stream));
                CU(cudaFreeHost(values));
                CU(cudaFreeHost(decoded));
            } else {
                free(stream);
                free(values);
                free(decoded);
            }
        }
    }
}

/* ---- hostile streams ------------------------------------------------------------------------------------------------- */

/* Damaged anywhere: the GPU accepts what the CPU accepts, with the same values, and refuses with the same words. */
static void damage(void **state)
{
    (void)state;
    const int rounds = is_small() ? 4 : 24;
    FOR_EACH_CASE(m)
    {
        uint8_t *damaged = take(m.stream_nbytes), *expected = take(m.nbytes);
        for (int r = 0; r < rounds; r++) {
            uint64_t n = m.stream_nbytes;
            char words[256];
            memcpy(damaged, m.stream, n);
            if (any(6) == 0)
                n = any(n);
            for (uint64_t k = any(3) + 1; k && n; k--)
                damaged[any(n)] ^= (uint8_t)(1u << any(8));
            floe_field host = m.field, out = dev_field(&m);
            host.data = expected;
            floe_status wanted = floe_decompress(cpu, damaged, n, &host);
            snprintf(words, sizeof words, "%s", floe_ctx_message(cpu));
            CU(cudaMemcpy(m.dev_stream, damaged, n, cudaMemcpyHostToDevice));
            CU(cudaMemset(m.dev_values, 0xEE, m.nbytes + GUARD));
            floe_status status = floe_decompress(gpu, m.dev_stream, n, &out);
            if (status != wanted || strcmp(words, floe_ctx_message(gpu)) != 0) {
                say(&m, words);
                say(&m, floe_ctx_message(gpu));
            }
            assert_int_equal(status, wanted);
            assert_string_equal(words, floe_ctx_message(gpu));
            if (status == FLOE_OK)
                expect_bytes(&m, m.dev_values, expected, m.nbytes, m.nbytes, 0xEE, "values of a damaged stream");
            uint8_t guard[GUARD];
            CU(cudaMemcpy(guard, m.dev_values + m.nbytes, GUARD, cudaMemcpyDeviceToHost));
            for (int i = 0; i < GUARD; i++)
                assert_int_equal(guard[i], 0xEE);
            out = m.field;
            out.data = expected;
            assert_int_equal(floe_decompress(through, damaged, n, &out), wanted);
            assert_string_equal(words, floe_ctx_message(through));
            floe_ctx *const either = any(2) ? through : gpu; /* and from the device to the host */
            assert_int_equal(floe_decompress(either, m.dev_stream, n, &out), wanted);
            assert_string_equal(words, floe_ctx_message(either));
        }
        free(damaged);
        free(expected);
    }
}

/* A workspace of the caller's: of the size that was requested it serves, one that is smaller is refused. */
static void workspace_of_the_caller(void **state)
{
    (void)state;
    FOR_EACH_CASE(m)
    {
        floe_field field = dev_field(&m);
        size_t nbytes = 0;
        uint64_t n = 0;
        void *workspace;
        assert_int_equal(floe_device_workspace_nbytes(gpu, &field, &m.params, &nbytes), FLOE_OK);
        CU(cudaMalloc(&workspace, nbytes));
        const int turns = chooses(&m) ? 1 : 2; /* the codec that is chosen may take less */
        for (int less = 0; less < turns; less++) {
            floe_ctx *ctx = NULL;
            floe_ctx_options options = {.size = sizeof options,
                                        .device_workspace = workspace,
                                        .device_workspace_nbytes = less ? nbytes / 2 : nbytes};
            assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
            floe_status status = floe_compress(ctx, &field, &m.params, m.dev_stream, m.capacity, &n);
            assert_int_equal(status, less ? FLOE_ERR_MEMORY : FLOE_OK);
            if (!less) {
                assert_int_equal(n, m.stream_nbytes);
                assert_int_equal(floe_decompress(ctx, m.dev_stream, n, &field), FLOE_OK);
                void *got = take(m.nbytes);
                CU(cudaMemcpy(got, m.dev_values, m.nbytes, cudaMemcpyDeviceToHost));
                assert_memory_equal(got, m.decoded, m.nbytes);
                free(got);
            }
            floe_ctx_free(&ctx);
        }
        CU(cudaFree(workspace));
    }
}

/* The tests of every table. */
#define API_GPU_TESTS                                                                                          \
    cmocka_unit_test(compress_waits), cmocka_unit_test(decompress_waits), cmocka_unit_test(calls_do_not_wait), \
        cmocka_unit_test(capacity_is_respected), cmocka_unit_test(regions), cmocka_unit_test(host_data),       \
        cmocka_unit_test(damage), cmocka_unit_test(workspace_of_the_caller)

#endif
