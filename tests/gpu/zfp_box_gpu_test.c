/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on a GPU against the same calls on the CPU, by codec zfp. */
#include "codec/zfp/chunk/zfp_chunk_math.h"
#include "tests/gpu/api_gpu_kit.h"

static const gpu_case cases[] = {
    {"turbulence", FLOE_F32, 3, {33, 50, 100}, "codec=zfp rel=1e-3"},
    {"turbulence", FLOE_F32, 3, {33, 50, 100}, "codec=zfp rel=1e-3 chunk=16x32x64"},
    {"turbulence", FLOE_F64, 3, {17, 30, 70}, "codec=zfp rel=1e-5"},
    {"hostile", FLOE_F32, 3, {17, 18, 40}, "codec=zfp abs=1e-3"},
    {"turbulence", FLOE_F32, 2, {130, 260}, "codec=zfp rel=1e-3"},
    {"fill", FLOE_F32, 3, {40, 50, 60}, "codec=zfp abs=1e-2"},
    {"turbulence", FLOE_F32, 1, {70000}, "codec=zfp rel=1e-4"},
    {"turbulence", FLOE_F32, 4, {3, 9, 20, 40}, "codec=zfp rel=1e-3"},
    {"noise", FLOE_F32, 3, {20, 17, 40}, "codec=zfp rel=3e-7"},
    {"turbulence", FLOE_I32, 3, {20, 17, 40}, "codec=zfp lossless"},
    {"hostile", FLOE_F64, 2, {40, 140}, "codec=zfp rel=1e-3"},
    {"fill", FLOE_F64, 4, {5, 6, 20, 30}, "codec=zfp rel=1e-3 chunk=2x6x9x30"},
    {"turbulence", FLOE_F32, 3, {20, 17, 40}, "codec=zfp lossless"},
    {"hostile", FLOE_F32, 1, {90000}, "codec=zfp rel=1e-2"},
    {"turbulence", FLOE_F64, 3, {20, 17, 40}, "codec=zfp psnr=60"},
    {"turbulence", FLOE_F64, 1, {20000}, "codec=zfp rel=1e-4 fill=none"},
    {"hostile", FLOE_F64, 2, {40, 140}, "codec=zfp lossless"},
    {"steps", FLOE_F32, 3, {31, 64, 65}, "codec=zfp rel=1e-3 chunk=7x64x33"},
    {"noise", FLOE_F64, 2, {40, 140}, "codec=zfp rel=1e-12"},
    {"hostile", FLOE_I64, 2, {30, 50}, "codec=zfp lossless"},
    {"constant", FLOE_F32, 3, {17, 16, 33}, "codec=zfp rel=1e-3"},
    {"turbulence", FLOE_F32, 4, {9, 3, 20, 40}, "codec=zfp psnr=70 chunk=4x3x20x23"},
    {"turbulence", FLOE_F32, 3, {33, 20, 40}, "codec=zfp psnr=50"},
    {"constant", FLOE_F64, 3, {17, 16, 33}, "codec=zfp abs=1e-3"},
    {"hostile", FLOE_F32, 3, {40, 50, 66}, "codec=zfp rel=1e-3 chunk=10x50x20"},
    {"turbulence", FLOE_F32, 3, {1, 1, 1}, "codec=zfp rel=1e-3"},
    {"turbulence", FLOE_F32, 2, {1, 7}, "codec=zfp abs=1e-3"},
    {"noise", FLOE_F32, 3, {30, 30, 30}, "codec=zfp abs=1e-30"},
    {"turbulence", FLOE_I64, 1, {5000}, "codec=zfp lossless chunk=900"},
    {"turbulence", FLOE_I32, 4, {3, 5, 7, 9}, "codec=zfp lossless"},
    {"turbulence", FLOE_F32, 3, {33, 50, 60}, "codec=zfp rate=6"},
    {"hostile", FLOE_F32, 3, {17, 18, 40}, "codec=zfp prec=12"},
    {"turbulence", FLOE_I32, 3, {33, 20, 40}, "codec=zfp abs=10"},
    {"fill", FLOE_F64, 3, {17, 38, 40}, "codec=zfp rate=9.3"},
    {"turbulence", FLOE_I64, 2, {50, 70}, "codec=zfp rel=1e-3 chunk=20x30"},
    {"hostile", FLOE_F32, 1, {9000}, "codec=zfp rate=11"},
    {"fill", FLOE_I32, 3, {20, 30, 40}, "codec=zfp rel=1e-2"},
    {"turbulence", FLOE_I32, 3, {20, 30, 40}, "codec=zfp psnr=60"},
    {"turbulence", FLOE_F64, 4, {5, 6, 17, 18}, "codec=zfp rate=20"},
    {"turbulence", FLOE_F32, 3, {9, 9, 9}, "codec=zfp rate=40"},
    {"hostile", FLOE_F64, 3, {9, 17, 33}, "codec=zfp prec=40 chunk=9x8x33"},
    {"hostile", FLOE_I64, 3, {9, 17, 33}, "codec=zfp rate=7"},
    {"fill", FLOE_I64, 4, {5, 6, 7, 30}, "codec=zfp abs=3"},
    {"turbulence", FLOE_F32, 3, {5, 0, 7}, "codec=zfp psnr=60"},
    {"turbulence", FLOE_F64, 2, {5, 0}, "codec=zfp rel=1e-3"},
    {"turbulence", FLOE_F64, 2, {1, 1}, "codec=zfp psnr=60"},
    {"turbulence", FLOE_F32, 1, {104729}, "codec=zfp psnr=60"},
    {"hostile", FLOE_F32, 2, {3, 1009}, "codec=zfp psnr=60"},
};
enum { NCASES = sizeof cases / sizeof *cases };

static void strides(void **state)
{
    (void)state;
    check_strided("fill", "codec=zfp rel=1e-3");
    check_strided("fill", "codec=zfp lossless");
    check_strided("fill", "codec=zfp abs=1e-3 chunk=8x33x11");
}

/* A stream in device memory shows itself which codec wrote it, whatever came before. */
static void codecs_in_turn(void **state)
{
    (void)state;
    static const char *const params[] = {"codec=zfp rel=1e-3", "rel=1e-3", "codec=zfp abs=0.1 chunk=9x9x9", "lossless"};
    for (int i = 0; i < 8; i++) {
        const gpu_case c = {"turbulence", FLOE_F32, 3, {20, 17, 40}, params[i % 4]};
        encoded m = make(&c);
        floe_field out = dev_field(&m);
        CU(cudaMemcpy(m.dev_stream, m.stream, m.stream_nbytes, cudaMemcpyHostToDevice));
        CU(cudaMemset(m.dev_values, 0xEE, m.nbytes + GUARD));
        assert_int_equal(floe_decompress(gpu, i & 1 ? m.stream : m.dev_stream, m.stream_nbytes, &out), FLOE_OK);
        expect_bytes(&m, m.dev_values, m.decoded, m.nbytes, m.nbytes, 0xEE, "values");
        unmake(&m);
    }
}

/* Of values that were changed on the host. */
static void same_stream(encoded *m, const char *what)
{
    floe_field dev = dev_field(m);
    uint64_t n = 0;
    assert_int_equal(floe_compress(cpu, &m->field, &m->params, m->stream, m->capacity, &m->stream_nbytes), FLOE_OK);
    CU(cudaMemcpy(m->dev_values, m->field.data, m->nbytes, cudaMemcpyHostToDevice));
    assert_int_equal(floe_compress(gpu, &dev, &m->params, m->dev_stream, m->capacity, &n), FLOE_OK);
    assert_int_equal(n, m->stream_nbytes);
    expect_bytes(m, m->dev_stream, m->stream, n, n, 0xEE, what);
}

/* Where all around is far below the bound, zfp keeps a fill value of 0 itself; elsewhere it does not. */
static void fill_values_that_zfp_keeps(void **state)
{
    (void)state;
    static const char *const params[] = {
        "codec=zfp abs=1e-3 fill=0",   "codec=zfp rate=9 fill=0",  "codec=zfp abs=1e-3 fill=0 chunk=8x33x11",
        "codec=zfp abs=1e-3 fill=nan", "codec=zfp psnr=60 fill=0", "codec=zfp rel=1e-2 fill=0"};
    for (int k = 0; k < 6; k++) { /* rows longer than a word of cells, and shorter */
        const gpu_case c = {"turbulence", FLOE_F32, 3, {17, k % 2 ? 70 : 35, k % 2 ? 35 : 70}, params[k]};
        encoded m = make(&c);
        float *values = m.field.data;
        for (uint64_t i = 0; i < m.nbytes / sizeof *values; i++) {
            values[i] *= i / 13000 % 2 ? 1e-7f : 1;
            values[i] = i % 7 < 3 ? 0 : i % 1013 == 5 ? NAN : values[i];
        }
        same_stream(&m, params[k]);
        unmake(&m);
    }
}

/* What stands in for a bad value is the good one in front of it, but not across the end of a span of cells, wherever in a row
 * that falls. Rows of these lengths have it at each place of a block's row. */
static void bad_values_where_spans_meet(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {66, 75, 67, 69};
    for (uint32_t place = 0; place < 4; place++)
        for (uint32_t from = 0; from < 6; from++) {
            const gpu_case c = {"turbulence", FLOE_F32, 3, {31, 36, lengths[place]}, "codec=zfp abs=1e-3"};
            assert_int_equal(FLOE_CELLS_SPAN % lengths[place] % 4, place);
            encoded m = make(&c);
            float *values = m.field.data;
            for (uint64_t i = FLOE_CELLS_SPAN - from; i < FLOE_CELLS_SPAN + 3; i++)
                values[i] = NAN;
            same_stream(&m, "stream");
            unmake(&m);
        }
}

/* Least and greatest value lie between doubles: the width of the range, rounded inward, decides the bound to the last bit. */
static void psnr_of_large_integers(void **state)
{
    (void)state;
    for (int db = 40; db < 70; db += 10) {
        char text[32];
        snprintf(text, sizeof text, "codec=zfp psnr=%d", db);
        const gpu_case c = {"turbulence", FLOE_I64, 2, {9, 11}, text};
        encoded m = make(&c);
        int64_t *values = m.field.data;
        for (uint64_t i = 0; i < 99; i++)
            values[i] = INT64_MAX / 2 + (int64_t)(i * 0x9E3779B97F4A7C15u >> 14);
        same_stream(&m, text);
        unmake(&m);
    }
}

static void what_zfp_cannot(void **state)
{
    (void)state;
    encoded m = make(&cases[0]);
    floe_field field = dev_field(&m);
    floe_device_report *report = (floe_device_report *)m.dev_values, got;
    floe_params pwrel, other;
    uint64_t n;
    assert_int_equal(floe_params_parse(&pwrel, "codec=zfp", NULL), FLOE_OK);
    pwrel.mode = FLOE_BOUND_PWREL;
    assert_int_equal(floe_compress(gpu, &field, &pwrel, m.dev_stream, m.capacity, &n), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_compress_async(gpu, &field, &pwrel, m.dev_stream, m.capacity, report), FLOE_ERR_ARGUMENT);
    /* params that name another codec than the stream's */
    assert_int_equal(floe_params_parse(&other, "rel=1e-3", NULL), FLOE_OK);
    CU(cudaMemcpy(m.dev_stream, m.stream, m.stream_nbytes, cudaMemcpyHostToDevice));
    CU(cudaMalloc((void **)&report, sizeof *report));
    assert_int_equal(floe_decompress_async(gpu, m.dev_stream, m.stream_nbytes, NULL, &other, &field, report), FLOE_OK);
    CU(cudaMemcpy(&got, report, sizeof got, cudaMemcpyDeviceToHost));
    assert_int_equal(got.status, FLOE_ERR_UNSUPPORTED);
    CU(cudaFree(report));
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {API_GPU_TESTS,
                                       cmocka_unit_test(strides),
                                       cmocka_unit_test(codecs_in_turn),
                                       cmocka_unit_test(fill_values_that_zfp_keeps),
                                       cmocka_unit_test(bad_values_where_spans_meet),
                                       cmocka_unit_test(psnr_of_large_integers),
                                       cmocka_unit_test(what_zfp_cannot)};
    the_cases = cases;
    nthe_cases = NCASES;
    return cmocka_run_group_tests(tests, contexts_open, contexts_close);
}
