/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call on a GPU believes of a stream and of its caller: no more than one on the CPU, and both come to the same. */
#include "base/checksum.h"
#include "base/bytes.h"
#include "container/layout.h"
#include "tests/gpu/case_gpu_kit.h"

enum { MOST = 1 << 16 };

/* A stream in both memories, and room for its values in both. */
typedef struct sample {
    floe_field field; /* host */
    uint64_t nbytes, stream_nbytes;
    uint8_t *stream, *dev_stream, *dev_values, *right, *got;
} sample;

static sample sample_of(const gpu_case *c)
{
    floe_params params;
    sample s = {.stream = take(1 << 20)};
    s.field = case_make(c, &params, &s.nbytes);
    s.right = take(s.nbytes);
    s.got = take(s.nbytes);
    assert_int_equal(floe_compress(cpu, &s.field, &params, s.stream, 1 << 20, &s.stream_nbytes), FLOE_OK);
    CU(cudaMalloc((void **)&s.dev_stream, s.stream_nbytes));
    CU(cudaMalloc((void **)&s.dev_values, s.nbytes));
    return s;
}

static void sample_free(sample *s)
{
    void *host[] = {s->field.data, s->stream, s->right, s->got};
    for (size_t i = 0; i < sizeof host / sizeof *host; i++)
        free(host[i]);
    CU(cudaFree(s->dev_stream));
    CU(cudaFree(s->dev_values));
}

static void sample_send(const sample *s)
{
    CU(cudaMemcpy(s->dev_stream, s->stream, s->stream_nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemset(s->dev_values, 0xEE, s->nbytes));
}

static floe_field host_field(const sample *s)
{
    return floe_field_of(s->right, s->field.dtype, s->field.rank, s->field.shape);
}
static floe_field dev_field(const sample *s)
{
    return floe_field_of_device(s->dev_values, s->field.dtype, s->field.rank, s->field.shape);
}

/* After somebody has written to it. */
static void header_mend(sample *s)
{
    const uint32_t nbytes = floe_load32(s->stream + 12);
    floe_store64(s->stream + nbytes - 8, floe_xxh3(s->stream, nbytes - 8));
}

/* All ways into device memory come to what the CPU comes to. */
static void judged_alike(const sample *s, const char *what)
{
    const void *from[] = {s->dev_stream, s->stream};
    floe_field host = host_field(s), dev = dev_field(s);
    const floe_status right = floe_decompress(cpu, s->stream, s->stream_nbytes, &host);
    for (int k = 0; k < 4; k++) {
        sample_send(s);
        const floe_status status = floe_decompress(k < 2 ? gpu : through, from[k % 2], s->stream_nbytes, &dev);
        CU(cudaMemcpy(s->got, s->dev_values, s->nbytes, cudaMemcpyDeviceToHost));
        if (status != right)
            fail_msg("%s, way %d: status %d, %s; the CPU says %d", what, k, (int)status, floe_ctx_message(gpu),
                     (int)right);
        if (right == FLOE_OK)
            assert_memory_equal(s->got, s->right, s->nbytes);
    }
}

/* ---- the caller ------------------------------------------------------------------------------------------------------ */

static void elements_are_limited(void **state)
{
    (void)state;
    static const gpu_case cases[] = {{"turbulence", FLOE_F32, 2, {30, 40}, "abs=0.01 preset=fast"},
                                     {"turbulence", FLOE_F32, 2, {30, 40}, "abs=0.01 codec=zfp"}};
    const uint64_t lo[] = {1, 1}, hi[] = {2, 3}, extent[] = {1, 2};
    for (int i = 0; i < 4; i++) {
        sample s = sample_of(&cases[i / 2]);
        floe_field dev = dev_field(&s), box = floe_field_of_device(s.dev_values, FLOE_F32, 2, extent);
        const floe_status right = i % 2 ? FLOE_OK : FLOE_ERR_LIMIT;
        const floe_ctx_options options = {.size = sizeof options, .max_elems = i % 2 ? 1200 : 1199};
        floe_params params;
        floe_ctx *ctx = NULL;
        assert_int_equal(floe_params_parse(&params, cases[i / 2].params, NULL), FLOE_OK);
        assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
        sample_send(&s);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(floe_decompress(ctx, s.dev_stream, s.stream_nbytes, &dev), right);
            assert_int_equal(floe_decompress(ctx, s.stream, s.stream_nbytes, &dev), right);
            assert_int_equal(floe_decompress_region(ctx, s.dev_stream, s.stream_nbytes, lo, hi, &box), right);
            assert_int_equal(floe_decompress_async(ctx, s.dev_stream, s.stream_nbytes, NULL, &params, &dev, dev_report),
                             right);
            CU(cudaDeviceSynchronize());
        }
        floe_ctx_free(&ctx);
        sample_free(&s);
    }
}

static void words_are_aligned(void **state)
{
    (void)state;
    static const gpu_case c = {"turbulence", FLOE_F32, 2, {30, 40}, "abs=0.01 preset=fast"};
    sample s = sample_of(&c);
    floe_field dev = dev_field(&s);
    floe_params params;
    uint8_t *words;
    CU(cudaMalloc((void **)&words, 256));
    CU(cudaMemset(words, 0, 256));
    sample_send(&s);
    assert_int_equal(floe_params_parse(&params, c.params, NULL), FLOE_OK);
    floe_device_report *crooked = (floe_device_report *)(words + 4);
    assert_int_equal(floe_compress_async(gpu, &dev, &params, s.dev_stream, s.stream_nbytes, crooked),
                     FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_decompress_async(gpu, s.dev_stream, s.stream_nbytes, NULL, &params, &dev, crooked),
                     FLOE_ERR_ARGUMENT);
    assert_int_equal(
        floe_decompress_async(gpu, s.dev_stream, s.stream_nbytes, (uint64_t *)(words + 4), &params, &dev, dev_report),
        FLOE_ERR_ARGUMENT);
    CU(cudaDeviceSynchronize());
    assert_int_equal(floe_decompress(gpu, NULL, 100, &dev), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_decompress(gpu, NULL, 0, &dev), FLOE_ERR_FORMAT);
    CU(cudaFree(words));
    sample_free(&s);
}

/* Memory that the GPU could reach once, and cannot any more. */
static void memory_goes_away(void **state)
{
    (void)state;
    static const gpu_case c = {"turbulence", FLOE_F32, 2, {30, 40}, "abs=0.01 preset=fast"};
    sample s = sample_of(&c);
    floe_params params;
    void *pinned;
    assert_int_equal(floe_params_parse(&params, c.params, NULL), FLOE_OK);
    CU(cudaMallocHost(&pinned, s.nbytes));
    memcpy(pinned, s.field.data, s.nbytes);
    floe_field field = floe_field_of_device(pinned, FLOE_F32, 2, c.shape);
    assert_int_equal(floe_compress_async(gpu, &field, &params, s.dev_stream, s.stream_nbytes, dev_report), FLOE_OK);
    CU(cudaDeviceSynchronize());
    CU(cudaFreeHost(pinned));
    assert_int_equal(floe_compress_async(gpu, &field, &params, s.dev_stream, s.stream_nbytes, dev_report),
                     FLOE_ERR_ARGUMENT);
    sample_free(&s);
}

static void a_workspace_of_the_host(void **state)
{
    (void)state;
    void *pageable = aligned_alloc(256, MOST);
    floe_ctx *ctx = NULL;
    const floe_ctx_options options = {.size = sizeof options,
                                      .backend = FLOE_BACKEND_CUDA,
                                      .device_workspace = pageable,
                                      .device_workspace_nbytes = MOST};
    assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_ERR_ARGUMENT);
    assert_non_null(strstr(floe_ctx_message(ctx), "out of the GPU's reach"));
    floe_ctx_free(&ctx);
    free(pageable);
}

/* ---- the stream ------------------------------------------------------------------------------------------------------ */

/* Only chunks that the box touches are looked at. */
static void damage_beside_the_box(void **state)
{
    (void)state;
    static const gpu_case cases[] = {{"turbulence", FLOE_F32, 1, {4000}, "abs=0.01 preset=fast chunk=2000"},
                                     {"turbulence", FLOE_F32, 1, {4000}, "abs=0.01 chunk=2000"},
                                     {"turbulence", FLOE_F32, 1, {4000}, "abs=0.01 codec=zfp chunk=2000"}};
    const uint64_t lo[] = {7}, hi[] = {107}, extent[] = {100};
    for (int i = 0; i < 3; i++) {
        sample s = sample_of(&cases[i]);
        floe_field box = floe_field_of_device(s.dev_values, FLOE_F32, 1, extent), host = host_field(&s);
        box.stride[0] = i == 1 ? -3 : 1;
        if (i == 1)
            box.data = s.dev_values + sizeof(float) * 3 * 99;
        s.stream[s.stream_nbytes - 200] ^= 1; /* of the second chunk */
        sample_send(&s);
        host.shape[0] = 100;
        assert_int_equal(floe_decompress_region(cpu, s.stream, s.stream_nbytes, lo, hi, &host), FLOE_OK);
        assert_int_equal(floe_decompress_region(gpu, s.dev_stream, s.stream_nbytes, lo, hi, &box), FLOE_OK);
        CU(cudaMemcpy(s.got, s.dev_values, s.nbytes, cudaMemcpyDeviceToHost));
        for (int k = 0; k < 100; k++)
            assert_memory_equal(s.got + sizeof(float) * (i == 1 ? 3 * (99 - k) : k), s.right + sizeof(float) * k,
                                sizeof(float));
        for (int k = 0; i == 1 && k < 99; k++)
            assert_int_equal(s.got[sizeof(float) * (3 * k + 1)], 0xEE);
        sample_free(&s);
    }
}

/* They are for information. */
static void preset_and_mode_decide_nothing(void **state)
{
    (void)state;
    enum { PRESET = 19, MODE = 20 };
    static const struct {
        gpu_case c;
        int at, value;
    } changes[] = {
        {{"turbulence", FLOE_F32, 1, {9000}, "abs=0.01 preset=balanced codec=lorenzo"}, PRESET, FLOE_PRESET_FAST},
        {{"turbulence", FLOE_F64, 2, {90, 100}, "rel=1e-3 preset=balanced codec=lorenzo"}, PRESET, FLOE_PRESET_FAST},
        {{"steps", FLOE_F32, 1, {9000}, "lossless preset=balanced codec=lorenzo"}, PRESET, FLOE_PRESET_FAST},
        {{"turbulence", FLOE_F32, 1, {9000}, "rel=1e-3 preset=fast"}, MODE, FLOE_BOUND_ABS},
        {{"turbulence", FLOE_F32, 1, {9000}, "pwrel=1e-3 preset=fast"}, PRESET, FLOE_PRESET_BALANCED},
        {{"turbulence", FLOE_F32, 1, {9000}, "abs=0.01 preset=fast"}, PRESET, FLOE_PRESET_BALANCED}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        sample s = sample_of(&changes[i].c);
        s.stream[changes[i].at] = (uint8_t)changes[i].value;
        header_mend(&s);
        floe_field host = host_field(&s);
        assert_int_equal(floe_decompress(cpu, s.stream, s.stream_nbytes, &host), FLOE_OK);
        judged_alike(&s, changes[i].c.params);
        sample_free(&s);
    }
}

/* Each could have a codebook and a table of its own: more than a thousand times what is there. */
static void many_small_chunks(void **state)
{
    (void)state;
    static const gpu_case c = {"turbulence", FLOE_F32, 1, {2000}, "lossless preset=balanced codec=lorenzo chunk=2"};
    sample s = sample_of(&c);
    const floe_ctx_options options = {.size = sizeof options, .max_memory = 1 << 25};
    floe_field host = host_field(&s), dev = dev_field(&s);
    floe_ctx *ctx = NULL;
    assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
    sample_send(&s);
    assert_int_equal(floe_decompress(cpu, s.stream, s.stream_nbytes, &host), FLOE_OK);
    for (int again = 0; again < 2; again++)
        assert_int_equal(floe_decompress(ctx, s.dev_stream, s.stream_nbytes, &dev), FLOE_OK);
    CU(cudaMemcpy(s.got, s.dev_values, s.nbytes, cudaMemcpyDeviceToHost));
    assert_memory_equal(s.got, s.right, s.nbytes);
    floe_ctx_free(&ctx);
    sample_free(&s);
}

/* What is wrong with a stream comes before what is wrong with the call. */
static void damage_comes_first(void **state)
{
    (void)state;
    static const gpu_case c = {"turbulence", FLOE_F32, 1, {4000}, "abs=0.01 preset=fast chunk=2000"};
    static const int behind[] = {1, 45, 60};
    sample s = sample_of(&c);
    for (int i = 0; i < 3; i++) {
        uint8_t *byte = s.stream + s.stream_nbytes - behind[i];
        *byte ^= 1;
        floe_field host = host_field(&s), dev = dev_field(&s), small = host;
        dev.shape[0] = small.shape[0] = 3999;
        sample_send(&s);
        const floe_status right = floe_decompress(cpu, s.stream, s.stream_nbytes, &small);
        assert_true(right == FLOE_ERR_CHECKSUM || right == FLOE_ERR_FORMAT);
        assert_int_equal(floe_decompress(gpu, s.dev_stream, s.stream_nbytes, &dev), right);
        assert_int_equal(floe_decompress(gpu, s.stream, s.stream_nbytes, &dev), right);
        assert_int_equal(floe_decompress(gpu, s.dev_stream, s.stream_nbytes, &small), right);
        *byte ^= 1;
    }
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_limited),  cmocka_unit_test(words_are_aligned),
        cmocka_unit_test(memory_goes_away),      cmocka_unit_test(a_workspace_of_the_host),
        cmocka_unit_test(damage_beside_the_box), cmocka_unit_test(preset_and_mode_decide_nothing),
        cmocka_unit_test(many_small_chunks),     cmocka_unit_test(damage_comes_first),
    };
    return cmocka_run_group_tests(tests, report_open, report_close);
}
