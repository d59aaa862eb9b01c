/* SPDX-License-Identifier: BSD-3-Clause */
/* The codec of null_codec.c through the public API, by its name alone: round trips, regions, damage. */
#include "tests/differential_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t shape[3] = {7, 9, 11}, lo[3] = {1, 2, 3}, hi[3] = {6, 9, 7};
enum { N = 7 * 9 * 11 };

static floe_ctx *ctx;

static void there_and_back(floe_dtype dtype, const char *text)
{
    static uint64_t values[N], back[N], box[N];
    static uint8_t stream[1 << 17];
    const uint64_t extent[3] = {hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]}, size = floe_dtype_size(dtype);
    floe_params p;
    floe_info info = {.size = sizeof info};
    uint64_t n = 0;
    assert_int_equal(floe_params_parse(&p, text, NULL), FLOE_OK);
    hostile_fill(dtype, HOSTILE_BITS, N, 1, 0, 3, values);
    const floe_field f = floe_field_of(values, dtype, 3, shape);
    floe_field out = floe_field_of(back, dtype, 3, shape), part = floe_field_of(box, dtype, 3, extent);
    assert_true(floe_compress_bound(&f, &p) <= sizeof stream);
    assert_int_equal(floe_compress(ctx, &f, &p, stream, sizeof stream, &n), FLOE_OK);
    assert_true(n > N * size);
    assert_int_equal(floe_stream_info(stream, n, &info, NULL), FLOE_OK);
    assert_string_equal(floe_codec_name(info.codec), "null");
    assert_int_equal(floe_decompress(ctx, stream, n, &out), FLOE_OK);
    assert_memory_equal(values, back, N * size);
    assert_int_equal(floe_verify(ctx, stream, n, &f), FLOE_OK);
    assert_int_equal(floe_decompress_region(ctx, stream, n, lo, hi, &part), FLOE_OK);
    for (uint64_t i = 0; i < extent[0] * extent[1] * extent[2]; i++) {
        const uint64_t x = lo[2] + i % extent[2], y = lo[1] + i / extent[2] % extent[1],
                       z = lo[0] + i / extent[2] / extent[1];
        assert_memory_equal((uint8_t *)box + i * size, (uint8_t *)values + ((z * 9 + y) * 11 + x) * size, size);
    }
    assert_int_equal(floe_compress(ctx, &f, &p, stream, n - 1, &n), FLOE_ERR_CAPACITY);
}

static void round_trips(void **state)
{
    (void)state;
    for (int d = FLOE_F32; d <= FLOE_I64; d++) {
        there_and_back((floe_dtype)d, "abs=1 codec=null");
        there_and_back((floe_dtype)d, "lossless codec=null preset=fast chunk=3x4x11");
        there_and_back((floe_dtype)d, "rel=1e-3 codec=null fill=none");
    }
}

static void what_it_has_not(void **state)
{
    (void)state;
    float value = 1;
    uint8_t stream[512];
    uint64_t n;
    const floe_field f = floe_field_of(&value, FLOE_F32, 1, (const uint64_t[]){1});
    floe_params p;
    assert_int_equal(floe_params_parse(&p, "prec=8 codec=null", NULL), FLOE_OK);
    assert_int_equal(floe_compress(ctx, &f, &p, stream, sizeof stream, &n), FLOE_ERR_ARGUMENT);
    assert_non_null(strstr(floe_ctx_message(ctx), "codec null has no prec, codec zfp has"));
}

static void damage(void **state)
{
    (void)state;
    static float values[N], back[N];
    static uint8_t stream[1 << 15];
    const floe_field f = floe_field_of(values, FLOE_F32, 3, shape);
    floe_field out = floe_field_of(back, FLOE_F32, 3, shape);
    floe_params p;
    uint64_t n = 0;
    assert_int_equal(floe_params_parse(&p, "abs=1 codec=null chunk=2x9x11", NULL), FLOE_OK);
    assert_int_equal(floe_compress(ctx, &f, &p, stream, sizeof stream, &n), FLOE_OK);
    for (uint64_t i = 0; i < n; i += 7) {
        stream[i] ^= 0x10;
        assert_int_not_equal(floe_decompress(ctx, stream, n, &out), FLOE_OK);
        stream[i] ^= 0x10;
        assert_int_not_equal(floe_decompress(ctx, stream, i, &out), FLOE_OK);
    }
    assert_int_equal(floe_decompress(ctx, stream, n, &out), FLOE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trips), cmocka_unit_test(what_it_has_not),
                                       cmocka_unit_test(damage)};
    if (floe_ctx_create(&ctx, NULL) != FLOE_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    floe_ctx_free(&ctx);
    return failed;
}
