/* SPDX-License-Identifier: BSD-3-Clause */
/* rate and prec through the public API: what they promise (how much is stored; what is not finite, -0 and fill), that streams
 * report it, and that nothing claims more. */
#include "tests/api_kit.h"
#include "tests/hostile_kit.h"

static const struct {
    uint32_t rank;
    uint64_t extent[FLOE_MAX_RANK];
} shapes[] = {{1, {1}},          {1, {9001}},    {2, {65, 129}},      {3, {17, 17, 33}},
              {3, {32, 32, 32}}, {3, {3, 0, 7}}, {4, {2, 17, 8, 35}}, {4, {5, 4, 16, 32}}};
static const hostile_kind kinds[] = {HOSTILE_SMOOTH, HOSTILE_CHECKERBOARD, HOSTILE_SPECIAL, HOSTILE_BITS,
                                     HOSTILE_FILLED};

static floe_field field_of(floe_dtype dtype, size_t s, hostile_kind kind)
{
    floe_field f = floe_field_of(NULL, dtype, shapes[s].rank, shapes[s].extent);
    const uint64_t n = kit_nelems(&f);
    f.data = calloc(n + 1, floe_dtype_size(dtype));
    hostile_fill(dtype, kind, n, 0.01, hostile_bits(dtype, -9999), s, f.data);
    return f;
}

static double largest_error(const floe_field *x, const floe_field *y)
{
    double worst = 0;
    for (uint64_t i = 0; i < kit_nelems(x); i++) {
        const double a = hostile_value(x->dtype, hostile_get(x->dtype, x->data, (int64_t)i));
        const double b = hostile_value(x->dtype, hostile_get(x->dtype, y->data, (int64_t)i));
        if (isfinite(a) && isfinite(b))
            worst = fmax(worst, fabs(a - b));
    }
    return worst;
}

static void round_trip(floe_ctx *ctx, const floe_field *f, const char *text)
{
    const floe_params p = kit_params(text);
    kit_bytes b = kit_compress(ctx, f, &p);
    floe_field out = kit_like(f);
    floe_stats coded = {.size = sizeof coded}, verified = {.size = sizeof verified};
    floe_info info = {.size = sizeof info};
    floe_ctx_stats(ctx, &coded);
    assert_int_equal(floe_stream_info(b.data, b.nbytes, &info, NULL), FLOE_OK);
    assert_true(info.mode == p.mode && info.bound == p.bound && isnan(info.abs_bound) && info.format_version == 3);
    kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &out));
    const hostile_promise promise = {f->dtype, p.mode, p.bound, info.has_fill, hostile_bits(f->dtype, info.fill_value)};
    if (hostile_broken(&promise, f->data, out.data, kit_nelems(f)) < kit_nelems(f))
        fail_msg("%s %s of rank %u: a value that must come back did not", text, floe_dtype_name(f->dtype), f->rank);
    kit_ok(ctx, floe_verify(ctx, b.data, b.nbytes, f));
    floe_ctx_stats(ctx, &verified);
    assert_true(isnan(coded.max_pw_error));
    if (f->dtype != FLOE_I64) /* whose differences a double cannot hold */
        assert_true(verified.max_error == largest_error(f, &out));
    assert_true(coded.max_error == verified.max_error);
    kit_free(&out);
    kit_bytes_free(&b);
}

static void all_shapes(void **state)
{
    static const char *const modes[] = {"rate=4", "rate=0.01", "rate=63", "prec=1", "prec=13", "prec=64"};
    floe_ctx *ctx = kit_ctx(2);
    (void)state;
    for (floe_dtype dtype = FLOE_F32; dtype <= FLOE_I64; dtype++)
        for (size_t s = 0; s < KIT_COUNT(shapes); s++)
            for (size_t k = 0; k < KIT_COUNT(kinds); k++) {
                floe_field f = field_of(dtype, s, kinds[k]);
                for (size_t m = (s + k) % 2; m < KIT_COUNT(modes); m += 2) {
                    char text[128];
                    snprintf(text, sizeof text, "%s codec=zfp fill=%s chunk=%s", modes[m], k == 4 ? "-9999" : "auto",
                             s == 4 ? "9x17x20" : "auto");
                    round_trip(ctx, &f, text);
                }
                kit_free(&f);
            }
    floe_ctx_free(&ctx);
}

/* A rate is what a stream of smooth values takes, but for 64 bytes a chunk and the container; half of it takes half. */
static void a_rate_is_met(void **state)
{
    floe_ctx *ctx = kit_ctx(1);
    (void)state;
    for (floe_dtype dtype = FLOE_F32; dtype <= FLOE_I64; dtype++) {
        floe_field f = field_of(dtype, 4, HOSTILE_SMOOTH);
        for (int rate = 1; rate <= 16; rate *= 2) {
            char text[64];
            snprintf(text, sizeof text, "rate=%d codec=zfp fill=none", rate);
            const floe_params p = kit_params(text);
            kit_bytes b = kit_compress(ctx, &f, &p);
            const uint64_t stream = 32768 * (uint64_t)rate / 8;
            assert_true(b.nbytes >= stream + 64 && b.nbytes <= stream + 400);
            kit_bytes_free(&b);
        }
        kit_free(&f);
    }
    floe_ctx_free(&ctx);
}

static void regions(void **state)
{
    static const char *const modes[] = {"rate=5 codec=zfp chunk=16x16x16", "prec=11 codec=zfp"};
    floe_ctx *ctx = kit_ctx(1);
    const uint64_t lo[] = {3, 10, 7}, hi[] = {21, 11, 30}, extent[] = {18, 1, 23};
    (void)state;
    for (int m = 0; m < 2; m++) {
        floe_field f = field_of(FLOE_F32, 4, HOSTILE_CHECKERBOARD), all = kit_like(&f);
        floe_field like = floe_field_of(NULL, FLOE_F32, 3, extent), part = kit_like(&like);
        const floe_params p = kit_params(modes[m]);
        kit_bytes b = kit_compress(ctx, &f, &p);
        kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &all));
        kit_ok(ctx, floe_decompress_region(ctx, b.data, b.nbytes, lo, hi, &part));
        for (uint64_t z = 0; z < 18; z++)
            for (uint64_t x = 0; x < 23; x++)
                assert_true(kit_bits(&part, z * 23 + x) == kit_bits(&all, ((z + 3) * 32 + 10) * 32 + x + 7));
        kit_bytes_free(&b);
        kit_free(&f);
        kit_free(&all);
        kit_free(&part);
    }
    floe_ctx_free(&ctx);
}

/* The check of a stream without a bound still finds a NaN, a -0 or a fill value that did not come back. */
static void verify_knows_what_holds(void **state)
{
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = field_of(FLOE_F32, 3, HOSTILE_SMOOTH);
    float *v = f.data;
    (void)state;
    v[100] = NAN;
    v[200] = -0.0f;
    v[300] = -9999;
    const floe_params p = kit_params("rate=3 codec=zfp fill=-9999");
    kit_bytes b = kit_compress(ctx, &f, &p);
    kit_ok(ctx, floe_verify(ctx, b.data, b.nbytes, &f));
    v[50] += 1000; /* no bound was promised */
    kit_ok(ctx, floe_verify(ctx, b.data, b.nbytes, &f));
    const float exact[] = {-INFINITY, NAN, -0.0f, -9999};
    for (size_t i = 0; i < KIT_COUNT(exact); i++) {
        const float was = v[400];
        v[400] = exact[i];
        kit_fails(ctx, floe_verify(ctx, b.data, b.nbytes, &f), FLOE_ERR_BOUND, "must come back exactly");
        v[400] = was;
    }
    v[100] = 1; /* a number, for which NaN came back */
    kit_fails(ctx, floe_verify(ctx, b.data, b.nbytes, &f), FLOE_ERR_BOUND, "must come back exactly");
    kit_bytes_free(&b);
    kit_free(&f);
    floe_ctx_free(&ctx);
}

static void what_is_refused(void **state)
{
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = field_of(FLOE_F32, 3, HOSTILE_SMOOTH);
    static uint8_t dst[100000];
    static const struct {
        const char *text, *why;
    } cases[] = {{"prec=8", "--codec zfp"},
                 {"prec=8 codec=lorenzo", "--codec zfp"},
                 {"rate=300 codec=zfp", "zfp can do 0 to 259.29"},
                 {"rate=1e300 codec=zfp", "zfp can do 0 to 259.29"}};
    uint64_t n;
    (void)state;
    for (size_t i = 0; i < KIT_COUNT(cases); i++) {
        const floe_params p = kit_params(cases[i].text);
        kit_fails(ctx, floe_compress(ctx, &f, &p, dst, sizeof dst, &n), FLOE_ERR_ARGUMENT, cases[i].why);
        assert_int_equal(floe_compress_bound(&f, &p), 0);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* A pipe: nothing needs the range. */
static void streams(void **state)
{
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = field_of(FLOE_F64, 3, HOSTILE_SMOOTH), out = kit_like(&f);
    kit_source from = {.data = f.data, .nbytes = kit_nelems(&f) * 8, .gulp = 1000};
    kit_sink to = {.fail_at = 0};
    const floe_source source = kit_source_of(&from, false, false);
    const floe_sink sink = {&to, kit_write};
    const floe_params p = kit_params("prec=20 codec=zfp fill=none chunk=4x17x33");
    (void)state;
    kit_ok(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, NULL));
    kit_bytes whole = kit_compress(ctx, &f, &p);
    assert_int_equal(to.bytes.nbytes, whole.nbytes);
    assert_memory_equal(to.bytes.data, whole.data, whole.nbytes);
    kit_ok(ctx, floe_decompress(ctx, to.bytes.data, to.bytes.nbytes, &out));
    kit_bytes_free(&to.bytes);
    kit_bytes_free(&whole);
    kit_free(&f);
    kit_free(&out);
    floe_ctx_free(&ctx);
}

/* What a pipe is to be kept for. */
static void passes(void **state)
{
    static const struct {
        const char *text;
        uint32_t small, large; /* of 4095 and 4096 values */
    } cases[] = {{"abs=1 fill=none codec=lorenzo", 0, 0},
                 {"abs=1 fill=none preset=fast", 0, 0},
                 {"abs=1 fill=none", 0, FLOE_PASSES_CODEC},
                 {"abs=1 fill=none preset=best", FLOE_PASSES_CODEC, FLOE_PASSES_CODEC},
                 {"lossless fill=none", 0, 0},
                 {"abs=1 codec=lorenzo", FLOE_PASSES_FILL, FLOE_PASSES_FILL},
                 {"rel=1e-3 fill=none codec=interp", FLOE_PASSES_RANGE, FLOE_PASSES_RANGE},
                 {"rate=8 fill=none codec=zfp", 0, 0},
                 {"rate=8 fill=none codec=wavelet", FLOE_PASSES_RANGE, FLOE_PASSES_RANGE},
                 {"prec=8 fill=none codec=lorenzo", 0, 0}}; /* not valid */
    (void)state;
    for (size_t i = 0; i < KIT_COUNT(cases); i++) {
        const floe_params p = kit_params(cases[i].text);
        const floe_field small = floe_field_of(NULL, FLOE_F32, 1, (uint64_t[]){4095});
        const floe_field large = floe_field_of(NULL, FLOE_F32, 2, (uint64_t[]){64, 64});
        assert_int_equal(floe_compress_passes(&small, &p), cases[i].small);
        assert_int_equal(floe_compress_passes(&large, &p), cases[i].large);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes),      cmocka_unit_test(a_rate_is_met),
        cmocka_unit_test(regions),         cmocka_unit_test(verify_knows_what_holds),
        cmocka_unit_test(what_is_refused), cmocka_unit_test(streams),
        cmocka_unit_test(passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
