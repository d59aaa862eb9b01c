/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of several chunks of encoder pack, decoded and checked by one kernel: values against the CPU's, and what is refused
 * when bytes are wrong, or missing. Each refusal is followed by a stream that is right.
 */
#include "container/container.h"
#include "tests/gpu/case_gpu_kit.h"

static uint64_t *dev_nbytes;

static const gpu_case cases[] = {
    {"turbulence", FLOE_F32, 3, {70, 50, 100}, "abs=0.01 fill=none preset=fast chunk=16x50x100"},
    {"turbulence", FLOE_F64, 3, {40, 32, 64}, "abs=1e-4 fill=none preset=fast chunk=40x16x64"},
    {"turbulence", FLOE_F32, 2, {300, 400}, "rel=1e-3 preset=fast chunk=64x128"},
    {"turbulence", FLOE_F32, 1, {90000}, "rel=1e-4 preset=fast chunk=8192"},
    {"turbulence", FLOE_F64, 4, {5, 12, 20, 40}, "rel=1e-3 preset=fast chunk=2x12x20x40"},
    {"noise", FLOE_F32, 3, {48, 48, 64}, "rel=3e-7 preset=fast chunk=16x48x64"}, /* more to check than to decode */
    {"hostile", FLOE_F32, 3, {34, 50, 70}, "abs=1e-3 preset=fast chunk=17x50x70"},
    {"fill", FLOE_F32, 3, {40, 48, 64}, "rel=1e-3 preset=fast chunk=20x48x64"},
    {"turbulence", FLOE_F32, 3, {40, 40, 40}, "pwrel=1e-3 preset=fast chunk=10x40x40"},
    {"steps", FLOE_F32, 3, {20, 40, 40}, "lossless preset=fast chunk=5x40x40"},
    {"turbulence",
     FLOE_F32,
     1,
     {100000},
     "abs=0.01 fill=none preset=fast chunk=64"}, /* more than a context's state holds */
};
enum { NCASES = sizeof cases / sizeof *cases };

typedef struct encoded {
    const gpu_case *c;
    floe_params params;
    floe_field field; /* host */
    uint64_t nbytes, stream_nbytes, capacity;
    uint8_t *stream, *dev_values, *dev_stream;
    void *decoded; /* the CPU's */
} encoded;

static encoded make(const gpu_case *c)
{
    encoded m = {.c = c};
    m.field = case_make(c, &m.params, &m.nbytes);
    m.capacity = floe_compress_bound(&m.field, &m.params);
    m.stream = take(m.capacity);
    m.decoded = take(m.nbytes);
    assert_int_equal(floe_compress(cpu, &m.field, &m.params, m.stream, m.capacity, &m.stream_nbytes), FLOE_OK);
    floe_field out = m.field;
    out.data = m.decoded;
    assert_int_equal(floe_decompress(cpu, m.stream, m.stream_nbytes, &out), FLOE_OK);
    CU(cudaMalloc((void **)&m.dev_values, m.nbytes + GUARD));
    CU(cudaMalloc((void **)&m.dev_stream, m.capacity));
    return m;
}

static void unmake(encoded *m)
{
    free(m->field.data);
    free(m->stream);
    free(m->decoded);
    CU(cudaFree(m->dev_values));
    CU(cudaFree(m->dev_stream));
}

/* n bytes of m->stream, whose number the device alone has where on_device. The report's status. */
static uint32_t decode(const encoded *m, uint64_t n, bool on_device)
{
    floe_device_report report;
    floe_field out = floe_field_of_device(m->dev_values, m->c->dtype, m->c->rank, m->c->shape);
    CU(cudaMemset(m->dev_values, 0xEE, m->nbytes + GUARD));
    CU(cudaMemcpy(m->dev_stream, m->stream, n, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(dev_nbytes, &n, sizeof n, cudaMemcpyHostToDevice));
    assert_int_equal(floe_decompress_async(gpu, m->dev_stream, on_device ? m->capacity : n,
                                           on_device ? dev_nbytes : NULL, &m->params, &out, dev_report),
                     FLOE_OK);
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&report, dev_report, sizeof report, cudaMemcpyDeviceToHost));
    assert_int_equal(report.nbytes, report.status == FLOE_OK ? n : 0);
    return report.status;
}

static void decode_right(const encoded *m, bool on_device)
{
    uint8_t *got = take(m->nbytes + GUARD);
    assert_int_equal(decode(m, m->stream_nbytes, on_device), FLOE_OK);
    CU(cudaMemcpy(got, m->dev_values, m->nbytes + GUARD, cudaMemcpyDeviceToHost));
    assert_memory_equal(got, m->decoded, m->nbytes);
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(got[m->nbytes + (uint64_t)i], 0xEE);
    free(got);
}

/* By a call that waits. */
static void decode_waiting(floe_ctx *ctx, const encoded *m)
{
    uint8_t *got = take(m->nbytes);
    floe_field out = floe_field_of_device(m->dev_values, m->c->dtype, m->c->rank, m->c->shape);
    CU(cudaMemcpy(m->dev_stream, m->stream, m->stream_nbytes, cudaMemcpyHostToDevice));
    assert_int_equal(floe_decompress(ctx, m->dev_stream, m->stream_nbytes, &out), FLOE_OK);
    CU(cudaMemcpy(got, m->dev_values, m->nbytes, cudaMemcpyDeviceToHost));
    assert_memory_equal(got, m->decoded, m->nbytes);
    free(got);
}

static void same_values(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        decode_right(&m, false);
        decode_right(&m, true);
        unmake(&m);
    }
}

/* One bit at a time all over the stream, and streams that are cut short. */
static void damaged_streams(void **state)
{
    (void)state;
    const int rounds = is_watched() ? 1 : is_few() ? 4 : is_small() ? 12 : 60;
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        for (int r = 0; r < rounds; r++) {
            const uint64_t at = any(m.stream_nbytes);
            const bool cut = any(4) == 0;
            const uint8_t bit = cut ? 0 : (uint8_t)(1u << any(8));
            m.stream[at] ^= bit;
            assert_int_not_equal(decode(&m, cut ? at : m.stream_nbytes, any(2) == 0), FLOE_OK);
            m.stream[at] ^= bit;
            if (any(8) == 0)
                decode_right(&m, any(2) == 0);
        }
        decode_right(&m, false);
        unmake(&m);
    }
}

/* A payload's checksum comes before whatever else its damage leads to. */
static void checksums_come_first(void **state)
{
    (void)state;
    floe_header header;
    encoded m = make(&cases[0]);
    assert_int_equal(floe_header_read(m.stream, m.stream_nbytes, &header, NULL), FLOE_OK);
    uint8_t *chunk = m.stream + floe_header_nbytes(&header) + FLOE_RECORD_HEAD_NBYTES;
    for (int at = 0; at < 64; at += 3 * one_in(5)) { /* of the first chunk's header */
        chunk[at] ^= 0x5A;
        assert_int_equal(decode(&m, m.stream_nbytes, false), FLOE_ERR_CHECKSUM);
        chunk[at] ^= 0x5A;
    }
    decode_right(&m, false);
    unmake(&m);
}

/* A context takes the next stream for one like the last. What was put on the way for that must not outlive it: one that is not
 * wants more memory, so that what there was is gone. */
static void another_kind_of_stream(void **state)
{
    (void)state;
    static const gpu_case kinds[] = {
        {"turbulence", FLOE_F32, 1, {90000}, "abs=0.01 fill=none preset=fast"},
        {"turbulence", FLOE_F32, 1, {90000}, "abs=0.01 fill=none preset=balanced codec=lorenzo chunk=8192"},
    };
    const floe_ctx_options any_gpu = {.size = sizeof any_gpu};
    floe_ctx *fresh = NULL;
    encoded before = make(&kinds[0]), after = make(&kinds[1]);
    assert_int_equal(floe_ctx_create(&fresh, &any_gpu), FLOE_OK);
    for (int i = 0; i < 3; i++)
        decode_waiting(fresh, i < 2 ? &before : &after);
    floe_ctx_free(&fresh);
    unmake(&before);
    unmake(&after);
}

/* Of device memory: what a context reports that may have next to none. */
static size_t need_of(const encoded *m)
{
    const floe_ctx_options nothing = {.size = sizeof nothing, .max_memory = 1};
    floe_ctx *ctx = NULL;
    floe_field out = floe_field_of_device(m->dev_values, m->c->dtype, m->c->rank, m->c->shape);
    size_t nbytes = 0;
    CU(cudaMemcpy(m->dev_stream, m->stream, m->stream_nbytes, cudaMemcpyHostToDevice));
    assert_int_equal(floe_ctx_create(&ctx, &nothing), FLOE_OK);
    assert_int_equal(floe_decompress(ctx, m->dev_stream, m->stream_nbytes, &out), FLOE_ERR_LIMIT);
    assert_int_equal(sscanf(floe_ctx_message(ctx), "%zu bytes", &nbytes), 1);
    floe_ctx_free(&ctx);
    return nbytes;
}

/* Nor must a stream that needs more than there may be keep a context from those that do not. */
static void another_size_of_stream(void **state)
{
    (void)state;
    static const gpu_case kinds[] = {
        {"turbulence", FLOE_F32, 1, {90000}, "abs=0.01 fill=none preset=fast"},
        {"turbulence", FLOE_F32, 1, {90000}, "abs=0.01 fill=none preset=balanced codec=lorenzo"},
    };
    floe_ctx *ctx = NULL;
    encoded small = make(&kinds[0]), large = make(&kinds[1]);
    floe_field out = floe_field_of_device(large.dev_values, FLOE_F32, 1, kinds[1].shape);
    const floe_ctx_options little = {.size = sizeof little, .max_memory = need_of(&small)};
    assert_true(need_of(&large) > little.max_memory);
    assert_int_equal(floe_ctx_create(&ctx, &little), FLOE_OK);
    decode_waiting(ctx, &small);
    assert_int_equal(floe_decompress(ctx, large.dev_stream, large.stream_nbytes, &out), FLOE_ERR_LIMIT);
    decode_waiting(ctx, &small);
    floe_ctx_free(&ctx);
    unmake(&small);
    unmake(&large);
}

static int open_all(void **state)
{
    CU(cudaMalloc((void **)&dev_nbytes, sizeof *dev_nbytes));
    return report_open(state);
}

static int close_all(void **state)
{
    CU(cudaFree(dev_nbytes));
    return report_close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_values),
        cmocka_unit_test(damaged_streams),
        cmocka_unit_test(checksums_come_first),
        cmocka_unit_test(another_kind_of_stream),
        cmocka_unit_test(another_size_of_stream),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
