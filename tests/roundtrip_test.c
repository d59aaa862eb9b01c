/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole round trips through the public API: shapes, element types, modes, presets, chunks, strides, regions. */
#include "tests/api_kit.h"

typedef struct shape {
    uint32_t rank;
    uint64_t extent[FLOE_MAX_RANK];
} shape;

static const shape shapes[] = {
    {1, {1}},
    {1, {31}},
    {1, {8193}},
    {1, {30000}},
    {2, {1, 1}},
    {2, {7, 1}},
    {2, {1, 300}},
    {2, {65, 129}},
    {2, {200, 150}},
    {3, {1, 1, 1}},
    {3, {5, 1, 40}},
    {3, {17, 17, 33}},
    {3, {3, 50, 70}},
    {3, {32, 32, 32}},
    {4, {1, 1, 1, 1}},
    {4, {3, 2, 1, 5}},
    {4, {2, 17, 18, 35}},
    {4, {5, 4, 16, 32}},
    {4, {1, 33, 1, 40}},
};

static const char *const modes[] = {"abs=0.01", "rel=1e-3", "pwrel=1e-3", "psnr=50", "lossless"};
static const char *const presets[] = {" preset=fast", " preset=balanced"};

static void params_of(floe_params *p, size_t mode, size_t preset, const char *more)
{
    char text[128];
    snprintf(text, sizeof text, "%s%s%s", modes[mode], presets[preset], more);
    *p = kit_params(text);
}

/* Compresses, reads info, decompresses, checks the bound two ways. */
static void round_trip(floe_ctx *ctx, const floe_field *f, const floe_params *p)
{
    kit_bytes b = kit_compress(ctx, f, p);
    floe_stats stats = {.size = sizeof stats};
    floe_ctx_stats(ctx, &stats);
    assert_int_equal(stats.nelems, kit_nelems(f));
    assert_int_equal(stats.stream_nbytes, b.nbytes);
    floe_info info = {.size = sizeof info};
    assert_int_equal(floe_stream_info(b.data, b.nbytes, &info, NULL), FLOE_OK);
    assert_int_equal(info.rank, f->rank);
    assert_int_equal(info.nchunks, stats.nchunks);
    floe_field out = kit_like(f);
    kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &out));
    double fill = info.has_fill ? info.fill_value : NAN;
    if (p->mode == FLOE_BOUND_PWREL)
        kit_check_bound(f, &out, p->bound, true, fill);
    else
        kit_check_bound(f, &out, info.abs_bound, false, fill);
    if (p->mode == FLOE_BOUND_LOSSLESS)
        assert_true(kit_same(f, &out));
    double claimed = stats.max_error;
    kit_ok(ctx, floe_verify(ctx, b.data, b.nbytes, f));
    floe_ctx_stats(ctx, &stats);
    if (!(stats.max_error <= claimed * (1 + 1e-12))) /* a tile that ends up raw may have been counted as coded */
        fail_msg("compress says the largest error is %.17g, verify %.17g", claimed, stats.max_error);
    kit_free(&out);
    kit_bytes_free(&b);
}

static void all_shapes(floe_dtype dtype, kit_kind kind)
{
    floe_ctx *ctx = kit_ctx(2);
    for (size_t s = 0; s < KIT_COUNT(shapes); s++) {
        floe_field f = kit_field(dtype, shapes[s].rank, shapes[s].extent, kind, s);
        for (size_t i = s % FLOE_TEST_STRIDE; i < KIT_COUNT(modes) * KIT_COUNT(presets); i += FLOE_TEST_STRIDE) {
            floe_params params;
            params_of(&params, i / KIT_COUNT(presets), i % KIT_COUNT(presets), "");
            round_trip(ctx, &f, &params);
        }
        kit_free(&f);
    }
    floe_ctx_free(&ctx);
}

static void shapes_f32(void **state)
{
    (void)state;
    for (int kind = 0; kind < KIT_KINDS; kind++)
        all_shapes(FLOE_F32, (kit_kind)kind);
}

static void shapes_f64(void **state)
{
    (void)state;
    for (int kind = 0; kind < KIT_KINDS; kind++)
        all_shapes(FLOE_F64, (kit_kind)kind);
}

static void chunks_of_any_shape(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    const shape field = {3, {21, 34, 45}};
    const char *const chunks[] = {" chunk=1x1x45",
                                  " chunk=16x16x32",
                                  " chunk=5x34x45",
                                  " chunk=7x9x11",
                                  " chunk=21x34x45",
                                  " chunk=1x34x7",
                                  " chunk=99999999999x5x18446744073709551615"};
    for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++) {
        floe_field f = kit_field((floe_dtype)dtype, field.rank, field.extent, KIT_FILL, 7);
        for (size_t c = 0; c < KIT_COUNT(chunks); c++)
            for (size_t m = c % FLOE_TEST_STRIDE; m < KIT_COUNT(modes); m += FLOE_TEST_STRIDE) {
                floe_params params;
                params_of(&params, m, c % 2, chunks[c]);
                round_trip(ctx, &f, &params);
            }
        kit_free(&f);
    }
    floe_ctx_free(&ctx);
}

static void chunk_of_wrong_rank(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = kit_field(FLOE_F32, 2, (const uint64_t[]){8, 8}, KIT_SMOOTH, 1);
    floe_params p = kit_params("abs=1 chunk=4x4x4");
    uint8_t dst[10];
    uint64_t n;
    kit_fails(ctx, floe_compress(ctx, &f, &p, dst, sizeof dst, &n), FLOE_ERR_ARGUMENT,
              "the chunk has 3 axes, the field has 2");
    assert_int_equal(floe_compress_bound(&f, &p), 0);
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* Whatever the strides, the stream is that of the same values laid out contiguously; and strided outputs get the values
 * of a contiguous one, and nothing beside. */
static void strides_with(floe_ctx *ctx, const char *how)
{
    const uint64_t extent[] = {9, 20, 33};
    floe_field f = kit_field(FLOE_F32, 3, extent, KIT_HOSTILE, 3);
    const int64_t layouts[][3] = {{660, 33, 1}, {1, 9, 180}, {2000, 70, 2}, {-660, 33, -1}, {33, -9 * 33, 1}};
    const int64_t origins[] = {0, 0, 0, 8 * 660 + 32, 19 * 9 * 33};
    floe_params p = kit_params(how);
    kit_bytes want = kit_compress(ctx, &f, &p);
    floe_field plain = kit_like(&f);
    kit_ok(ctx, floe_decompress(ctx, want.data, want.nbytes, &plain));
    for (size_t k = 0; k < KIT_COUNT(layouts); k++) {
        enum { ROOM = 20000 };
        float *memory = malloc(ROOM * sizeof *memory), *gaps = malloc(ROOM * sizeof *gaps);
        memset(memory, 0x5A, ROOM * sizeof *memory);
        floe_field g = floe_field_of(memory + origins[k], FLOE_F32, 3, extent);
        memcpy(g.stride, layouts[k], sizeof layouts[k]);
        for (uint64_t i = 0; i < kit_nelems(&f); i++) {
            int64_t at = (int64_t)(i / 660) * g.stride[0] + (int64_t)(i / 33 % 20) * g.stride[1] +
                         (int64_t)(i % 33) * g.stride[2];
            memcpy((float *)g.data + at, (float *)f.data + i, sizeof(float));
        }
        memcpy(gaps, memory, ROOM * sizeof *memory);
        kit_bytes b = kit_compress(ctx, &g, &p);
        assert_int_equal(b.nbytes, want.nbytes);
        assert_memory_equal(b.data, want.data, (size_t)b.nbytes);
        kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &g));
        for (uint64_t i = 0; i < kit_nelems(&f); i++) {
            int64_t at = (int64_t)(i / 660) * g.stride[0] + (int64_t)(i / 33 % 20) * g.stride[1] +
                         (int64_t)(i % 33) * g.stride[2];
            assert_memory_equal((float *)g.data + at, (float *)plain.data + i, sizeof(float));
            memcpy((float *)g.data + at, (float *)f.data + i, sizeof(float));
        }
        assert_memory_equal(memory, gaps, ROOM * sizeof *memory); /* nothing but the elements was touched */
        kit_bytes_free(&b);
        free(memory);
        free(gaps);
    }
    kit_bytes_free(&want);
    kit_free(&plain);
    kit_free(&f);
}

static void strides(void **state)
{
    static const char *const how[] = {"abs=1e-3 fill=none",
                                      "abs=1e-3 fill=none codec=zfp",
                                      "lossless codec=zfp",
                                      "rate=7 fill=none codec=zfp chunk=4x20x10",
                                      "abs=1e-3 fill=none codec=interp",
                                      "abs=1e-3 fill=none codec=wavelet"};
    floe_ctx *ctx = kit_ctx(2);
    (void)state;
    for (size_t i = 0; i < KIT_COUNT(how); i++)
        strides_with(ctx, how[i]);
    floe_ctx_free(&ctx);
}

/* Nothing is a stride away on an axis of one element: whatever its stride, of fields and of boxes that are one element thick. */
static void strides_of_one_element(void **state)
{
    static const int64_t far[] = {INT64_MAX, INT64_MIN, 0};
    static const uint64_t whole[] = {12, 40, 50}, lo[] = {7, 33, 41}, hi[] = {12, 40, 50};
    static const char *const how[] = {"abs=1e-3",         "abs=1e-3 preset=fast",  "abs=1e-3 codec=zfp",
                                      "rate=9 codec=zfp", "abs=1e-3 codec=interp", "abs=1e-3 codec=wavelet"};
    floe_ctx *ctx = kit_ctx(2);
    (void)state;
    for (size_t n = 0; n < KIT_COUNT(how) * 3 * KIT_COUNT(far); n += FLOE_TEST_STRIDE) {
        const floe_params p = kit_params(how[n % KIT_COUNT(how)]);
        const size_t thin = n / KIT_COUNT(how) % 3;
        uint64_t extent[] = {whole[0], whole[1], whole[2]}, end[] = {hi[0], hi[1], hi[2]};
        floe_field all = kit_field(FLOE_F32, 3, extent, KIT_SMOOTH, n), back = kit_like(&all);
        kit_bytes b = kit_compress(ctx, &all, &p);
        end[thin] = lo[thin] + 1;
        for (size_t a = 0; a < 3; a++)
            extent[a] = end[a] - lo[a];
        floe_field box = kit_field(FLOE_F32, 3, extent, KIT_SMOOTH, 0), layer = box, again = kit_like(&box);
        for (size_t a = 3, step = 1; a-- > 0; step *= extent[a])
            layer.stride[a] = a == thin ? far[n / KIT_COUNT(how) / 3 % KIT_COUNT(far)] : (int64_t)step;
        kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &back));
        kit_ok(ctx, floe_decompress_region(ctx, b.data, b.nbytes, lo, end, &layer));
        for (uint64_t i = 0; i < kit_nelems(&box); i++) {
            const uint64_t z = lo[0] + i / extent[2] / extent[1], y = lo[1] + i / extent[2] % extent[1];
            const uint64_t at = (z * whole[1] + y) * whole[2] + lo[2] + i % extent[2];
            assert_memory_equal((float *)box.data + i, (float *)back.data + at, sizeof(float));
        }
        kit_bytes want = kit_compress(ctx, &box, &p), got = kit_compress(ctx, &layer, &p);
        assert_int_equal(got.nbytes, want.nbytes);
        assert_memory_equal(got.data, want.data, (size_t)want.nbytes);
        kit_ok(ctx, floe_decompress(ctx, want.data, want.nbytes, &again));
        kit_ok(ctx, floe_decompress(ctx, got.data, got.nbytes, &layer));
        assert_memory_equal(box.data, again.data, (size_t)kit_nelems(&box) * sizeof(float));
        kit_bytes_free(&want);
        kit_bytes_free(&got);
        kit_bytes_free(&b);
        kit_free(&again);
        kit_free(&box);
        kit_free(&back);
        kit_free(&all);
    }
    floe_ctx_free(&ctx);
}

static void same_bytes_for_all_threads_and_isas(void **state)
{
    (void)state;
    floe_field f = kit_field(FLOE_F64, 3, (const uint64_t[]){40, 50, 60}, KIT_FILL, 5);
    uint64_t turn = 0;
    for (size_t m = 0; m < KIT_COUNT(modes); m++)
        for (size_t preset = 0; preset < KIT_COUNT(presets); preset++) {
            floe_params p;
            params_of(&p, m, preset, "");
            kit_bytes first = {NULL, 0, 0};
            for (uint32_t threads = 1; threads <= 5; threads += 2)
                for (int isa = FLOE_ISA_AUTO; isa <= FLOE_ISA_PLAIN; isa++) {
                    if (turn++ % FLOE_TEST_STRIDE && first.data)
                        continue;
                    floe_ctx *ctx = NULL;
                    floe_ctx_options o = {.size = sizeof o, .threads = threads, .isa = (floe_isa)isa};
                    assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
                    kit_bytes b = kit_compress(ctx, &f, &p);
                    if (!first.data) {
                        first = b;
                    } else {
                        assert_int_equal(b.nbytes, first.nbytes);
                        assert_memory_equal(b.data, first.data, (size_t)b.nbytes);
                        kit_bytes_free(&b);
                    }
                    floe_ctx_free(&ctx);
                }
            kit_bytes_free(&first);
        }
    kit_free(&f);
}

static void regions(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    const uint64_t extent[] = {3, 20, 21, 40};
    uint64_t seed = 11;
    floe_field f = kit_field(FLOE_F32, 4, extent, KIT_HOSTILE, 2);
    const char *const texts[] = {"abs=1e-2", "rel=1e-4 preset=fast chunk=2x7x8x9", "lossless chunk=1x1x21x40"};
    for (size_t t = 0; t < KIT_COUNT(texts); t++) {
        floe_params p = kit_params(texts[t]);
        kit_bytes b = kit_compress(ctx, &f, &p);
        floe_field all = kit_like(&f);
        kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &all));
        for (int k = 0; k < 60; k += FLOE_TEST_STRIDE) {
            uint64_t lo[4], hi[4], part[4];
            for (int i = 0; i < 4; i++) {
                lo[i] = kit_random(&seed) % (extent[i] + 1);
                hi[i] = lo[i] + kit_random(&seed) % (extent[i] - lo[i] + 1);
                part[i] = hi[i] - lo[i];
            }
            floe_field out = floe_field_of(NULL, FLOE_F32, 4, part);
            uint64_t n = kit_nelems(&out);
            out.data = malloc((size_t)(n + 1) * 4);
            kit_ok(ctx, floe_decompress_region(ctx, b.data, b.nbytes, lo, hi, &out));
            for (uint64_t i = 0; i < n; i++) {
                uint64_t at = (((lo[0] + i / (part[1] * part[2] * part[3])) * extent[1] + lo[1] +
                                i / (part[2] * part[3]) % part[1]) *
                                   extent[2] +
                               lo[2] + i / part[3] % part[2]) *
                                  extent[3] +
                              lo[3] + i % part[3];
                assert_int_equal(kit_bits(&out, i), kit_bits(&all, at));
            }
            kit_free(&out);
        }
        kit_free(&all);
        kit_bytes_free(&b);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

static void bad_regions(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = kit_field(FLOE_F32, 2, (const uint64_t[]){10, 12}, KIT_SMOOTH, 2), out = kit_like(&f);
    floe_params p = kit_params("abs=1");
    kit_bytes b = kit_compress(ctx, &f, &p);
    const uint64_t lo[] = {2, 3}, hi[] = {5, 13}, low[] = {1, 3}, good[] = {5, 12};
    kit_fails(ctx, floe_decompress_region(ctx, b.data, b.nbytes, lo, hi, &out), FLOE_ERR_ARGUMENT,
              "the box 2:5,3:13 does not lie within the field of 10x12");
    kit_fails(ctx, floe_decompress_region(ctx, b.data, b.nbytes, lo, low, &out), FLOE_ERR_ARGUMENT, "2:1,3:3");
    kit_fails(ctx, floe_decompress_region(ctx, b.data, b.nbytes, lo, good, &out), FLOE_ERR_ARGUMENT,
              "the stream gives 3x9 of f32, the field is 10x12 of f32");
    kit_fails(ctx, floe_decompress_region(ctx, b.data, b.nbytes, NULL, hi, &out), FLOE_ERR_ARGUMENT, "both lo and hi");
    floe_field wrong = floe_field_of(out.data, FLOE_F64, 1, (const uint64_t[]){10});
    kit_fails(ctx, floe_decompress(ctx, b.data, b.nbytes, &wrong), FLOE_ERR_ARGUMENT,
              "the stream gives 10x12 of f32, the field is 10 of f64");
    kit_bytes_free(&b);
    kit_free(&f);
    kit_free(&out);
    floe_ctx_free(&ctx);
}

/* A destination of exactly the size needed suffices; one byte less is refused and nothing is written past it. */
static void capacity(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    floe_field f = kit_field(FLOE_F32, 2, (const uint64_t[]){70, 90}, KIT_SMOOTH, 2);
    for (size_t m = 0; m < KIT_COUNT(modes); m++) {
        floe_params p;
        params_of(&p, m, m % 2, " chunk=32x90");
        kit_bytes b = kit_compress(ctx, &f, &p);
        uint8_t *exact = malloc((size_t)b.nbytes + 64);
        uint64_t n;
        memset(exact, 0x77, (size_t)b.nbytes + 64);
        kit_ok(ctx, floe_compress(ctx, &f, &p, exact, b.nbytes, &n));
        assert_int_equal(n, b.nbytes);
        assert_memory_equal(exact, b.data, (size_t)n);
        for (uint64_t less = 0; less < b.nbytes; less += FLOE_TEST_STRIDE * (less < 200 ? 1 : 97)) {
            memset(exact, 0x77, (size_t)b.nbytes + 64);
            uint64_t room = b.nbytes - 1 - less;
            assert_int_equal(floe_compress(ctx, &f, &p, exact, room, &n), FLOE_ERR_CAPACITY);
            assert_non_null(strstr(floe_ctx_message(ctx), "floe_compress_bound"));
            for (uint64_t i = room; i < b.nbytes + 64; i++)
                assert_int_equal(exact[i], 0x77);
        }
        free(exact);
        kit_bytes_free(&b);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

static void empty_fields(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    const shape empty[] = {{1, {0}}, {2, {0, 5}}, {2, {5, 0}}, {3, {4, 0, 6}}, {4, {0, 0, 0, 0}}, {4, {1, 2, 3, 0}}};
    for (size_t s = 0; s < KIT_COUNT(empty); s++)
        for (size_t m = 0; m < KIT_COUNT(modes); m++)
            for (int null = 0; null < 2; null++) {
                floe_field f = kit_field(FLOE_F64, empty[s].rank, empty[s].extent, KIT_SMOOTH, 1);
                void *data = f.data;
                f.data = null ? NULL : data;
                floe_params p;
                params_of(&p, m, 0, "");
                round_trip(ctx, &f, &p);
                f.data = data;
                kit_free(&f);
            }
    floe_ctx_free(&ctx);
}

/* rel of a field that is constant, or has no finite value at all, is exact. */
static void constants_are_exact(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    const double values[] = {0.0, -0.0, 42.5, NAN, INFINITY, 1e-310};
    const char *const texts[] = {"rel=0.1", "psnr=30", "rel=0.1 preset=fast fill=none"};
    for (size_t v = 0; v < KIT_COUNT(values); v++)
        for (size_t t = 0; t < KIT_COUNT(texts); t++) {
            floe_field f = kit_field(FLOE_F64, 2, (const uint64_t[]){20, 30}, KIT_CONSTANT, 1), out = kit_like(&f);
            for (uint64_t i = 0; i < 600; i++)
                kit_set(&f, i, values[v]);
            floe_params p = kit_params(texts[t]);
            kit_bytes b = kit_compress(ctx, &f, &p);
            floe_info info = {.size = sizeof info};
            assert_int_equal(floe_stream_info(b.data, b.nbytes, &info, NULL), FLOE_OK);
            assert_true(info.abs_bound == 0);
            kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &out));
            assert_true(kit_same(&f, &out));
            kit_bytes_free(&b);
            kit_free(&f);
            kit_free(&out);
        }
    floe_ctx_free(&ctx);
}

/* The range of the largest doubles overflows; that of the smallest squares to nothing. */
static void extreme_ranges(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    const double scales[] = {1.7e308, 1e300, 1e160, 1e-160, 1e-300, 1e-320, 4.9e-324};
    const char *const texts[] = {"rel=1e-3", "rel=3", "psnr=40", "pwrel=1e-2", "abs=1e-315", "abs=1e300"};
    for (size_t s = 0; s < KIT_COUNT(scales); s++)
        for (size_t t = 0; t < KIT_COUNT(texts); t++) {
            floe_field f = kit_field(FLOE_F64, 1, (const uint64_t[]){3000}, KIT_NOISE, s + 1);
            for (uint64_t i = 0; i < 3000; i++)
                kit_set(&f, i, kit_get(&f, i) * scales[s]);
            floe_params p = kit_params(texts[t]);
            round_trip(ctx, &f, &p);
            kit_free(&f);
        }
    floe_ctx_free(&ctx);
}

static double psnr_of(const floe_field *x, const floe_field *y)
{
    double min = INFINITY, max = -INFINITY, sum = 0;
    uint64_t n = kit_nelems(x);
    for (uint64_t i = 0; i < n; i++) {
        double a = kit_get(x, i), b = kit_get(y, i);
        min = fmin(min, a);
        max = fmax(max, a);
        sum += (a - b) * (a - b);
    }
    return 20 * log10((max - min) / sqrt(sum / (double)n));
}

static void psnr_is_reached_and_not_overshot(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    const double requested[] = {20, 35, 50, 64.5, 80, 100};
    const kit_kind kinds[] = {KIT_SMOOTH, KIT_NOISE};
    for (size_t k = 0; k < KIT_COUNT(kinds); k++)
        for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++) {
            floe_field f = kit_field((floe_dtype)dtype, 3, (const uint64_t[]){20, 40, 50}, kinds[k], 9);
            floe_field out = kit_like(&f);
            for (size_t a = 0; a < KIT_COUNT(requested); a++) {
                floe_params p = kit_params(a % 2 ? "psnr=1" : "psnr=1 preset=fast chunk=7x40x50");
                p.bound = requested[a];
                kit_bytes b = kit_compress(ctx, &f, &p);
                kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &out));
                double got = psnr_of(&f, &out);
                if (got < requested[a] || got > requested[a] + 1)
                    fail_msg("requested %g dB, got %g", requested[a], got);
                kit_bytes_free(&b);
            }
            kit_free(&f);
            kit_free(&out);
        }
    floe_ctx_free(&ctx);
}

static void fill_values(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    floe_field f = kit_field(FLOE_F32, 2, (const uint64_t[]){100, 120}, KIT_FILL, 9);
    floe_info info = {.size = sizeof info};
    const struct {
        const char *text;
        bool found;
    } cases[] = {{"rel=1e-3", true},
                 {"rel=1e-3 fill=9.96921e36", true},
                 {"rel=1e-3 fill=none", false},
                 {"abs=1e-3", true},
                 {"lossless", true}};
    for (size_t c = 0; c < KIT_COUNT(cases); c++) {
        floe_params p = kit_params(cases[c].text);
        kit_bytes b = kit_compress(ctx, &f, &p);
        assert_int_equal(floe_stream_info(b.data, b.nbytes, &info, NULL), FLOE_OK);
        assert_int_equal(info.has_fill, cases[c].found);
        if (cases[c].found) {
            assert_true((float)info.fill_value == 9.96921e36f);
            assert_true(info.value_max < 12 && info.value_min > 8);
        }
        kit_bytes_free(&b);
        round_trip(ctx, &f, &p);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_f32),
        cmocka_unit_test(shapes_f64),
        cmocka_unit_test(chunks_of_any_shape),
        cmocka_unit_test(chunk_of_wrong_rank),
        cmocka_unit_test(strides),
        cmocka_unit_test(strides_of_one_element),
        cmocka_unit_test(same_bytes_for_all_threads_and_isas),
        cmocka_unit_test(regions),
        cmocka_unit_test(bad_regions),
        cmocka_unit_test(capacity),
        cmocka_unit_test(empty_fields),
        cmocka_unit_test(constants_are_exact),
        cmocka_unit_test(extreme_ranges),
        cmocka_unit_test(psnr_is_reached_and_not_overshot),
        cmocka_unit_test(fill_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
