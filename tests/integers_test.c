/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers through the public API: every shape, mode and preset, values at the ends of the types, and checks in exact
 * arithmetic that share nothing with the library. */
#include "tests/api_kit.h"

static const floe_dtype dtypes[] = {FLOE_I32, FLOE_I64};

typedef enum values { SMOOTH, WALK, NOISE, ENDS, LABELS, CONSTANT, FILL, KINDS } values;

static const struct {
    uint32_t rank;
    uint64_t extent[FLOE_MAX_RANK];
} shapes[] = {{1, {1}},          {1, {9001}},    {2, {65, 129}},       {3, {17, 17, 33}},
              {3, {32, 32, 32}}, {3, {3, 0, 7}}, {4, {2, 17, 18, 35}}, {4, {5, 4, 16, 32}}};

static int64_t ends_of(floe_dtype dtype, bool most)
{
    int64_t most_of = dtype == FLOE_I32 ? INT32_MAX : INT64_MAX;
    return most ? most_of : -most_of - 1;
}

static int64_t get(const floe_field *f, uint64_t i)
{
    return f->dtype == FLOE_I32 ? ((int32_t *)f->data)[i] : ((int64_t *)f->data)[i];
}

static void set(floe_field *f, uint64_t i, int64_t v)
{
    if (f->dtype == FLOE_I32)
        ((int32_t *)f->data)[i] = (int32_t)v;
    else
        ((int64_t *)f->data)[i] = v;
}

static int64_t value_of(floe_dtype dtype, values kind, uint64_t i, int64_t last, uint64_t *state)
{
    static const int64_t odd[] = {0, 1, -1, 127, -128, 65535, -65536};
    const uint64_t r = kit_random(state);
    switch (kind) {
    case SMOOTH: return (int64_t)(20000 * sin((double)(i % 61) * 0.11) * cos((double)i * 0.003));
    case WALK: return last + (int64_t)(r % 201) - 100;
    case NOISE: return dtype == FLOE_I32 ? (int64_t)(int32_t)(uint32_t)r : (int64_t)r;
    case ENDS: return r % 3 ? ends_of(dtype, r & 8) + (r & 8 ? -1 : 1) * (int64_t)(r >> 8 & 3) : odd[r % 7];
    case LABELS: return ends_of(dtype, true) / 7 * (int64_t)(r % 5);
    case FILL: return r % 5 == 0 ? -9999 : 100 + (int64_t)(i % 37);
    default: return 42;
    }
}

static floe_field field_of(floe_dtype dtype, uint32_t rank, const uint64_t *shape, values kind, uint64_t seed)
{
    floe_field f = floe_field_of(NULL, dtype, rank, shape);
    const uint64_t n = kit_nelems(&f);
    int64_t last = -5000;
    f.data = calloc(n + 1, floe_dtype_size(dtype));
    for (uint64_t i = 0; i < n; i++) {
        last = value_of(dtype, kind, i, last, &seed);
        set(&f, i, last);
    }
    return f;
}

static uint64_t distance(int64_t a, int64_t b) { return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a; }

/* Every value within bound, fill exactly. Returns the largest distance. A long double holds 64 bits. */
static uint64_t check_values(const floe_field *x, const floe_field *y, double bound, bool has_fill, double fill)
{
    uint64_t n = kit_nelems(x), largest = 0;
    for (uint64_t i = 0; i < n; i++) {
        const int64_t a = get(x, i), b = get(y, i);
        const bool exact = has_fill && (double)a == fill;
        if ((long double)distance(a, b) > (exact ? 0 : (long double)bound))
            fail_msg("element %llu: %lld came back as %lld, bound %.17g", (unsigned long long)i, (long long)a,
                     (long long)b, bound);
        largest = distance(a, b) > largest ? distance(a, b) : largest;
    }
    return largest;
}

static void round_trip(floe_ctx *ctx, const floe_field *f, const char *text)
{
    const floe_params p = kit_params(text);
    kit_bytes b = kit_compress(ctx, f, &p);
    floe_stats stats = {.size = sizeof stats};
    floe_info info = {.size = sizeof info};
    floe_ctx_stats(ctx, &stats);
    assert_int_equal(floe_stream_info(b.data, b.nbytes, &info, NULL), FLOE_OK);
    assert_int_equal(info.dtype, f->dtype);
    assert_int_equal(info.format_version, p.preset == FLOE_PRESET_BEST ? 4 : 2);
    floe_field out = kit_like(f);
    kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &out));
    const bool lossless = p.mode == FLOE_BOUND_LOSSLESS;
    const uint64_t largest = check_values(f, &out, lossless ? 0 : info.abs_bound, info.has_fill, info.fill_value);
    if (p.mode == FLOE_BOUND_ABS)
        assert_true(info.abs_bound == p.bound);
    if (!((double)largest <= stats.max_error))
        fail_msg("%s: compress says the largest error is %.17g, it is %llu", text, stats.max_error,
                 (unsigned long long)largest);
    kit_ok(ctx, floe_verify(ctx, b.data, b.nbytes, f));
    floe_ctx_stats(ctx, &stats);
    assert_true(stats.max_error == (double)largest);
    kit_free(&out);
    kit_bytes_free(&b);
}

static void all_shapes(void **state)
{
    static const char *const modes[] = {"lossless",  "abs=0.9",  "abs=1",   "abs=17.5", "abs=3e9",
                                        "abs=1e300", "rel=1e-3", "rel=0.3", "psnr=40"};
    static const char *const coders[] = {
        "preset=balanced",         "preset=fast", "preset=best", "codec=zfp", "codec=interp", "codec=wavelet",
        "codec=interp preset=best"};
    floe_ctx *ctx = kit_ctx(2);
    (void)state;
    for (size_t d = 0; d < KIT_COUNT(dtypes); d++)
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t s = 0; s < KIT_COUNT(shapes); s++) {
                floe_field f = field_of(dtypes[d], shapes[s].rank, shapes[s].extent, (values)kind, s);
                for (size_t m = (s + (size_t)kind) % FLOE_TEST_STRIDE; m < KIT_COUNT(modes); m += FLOE_TEST_STRIDE)
                    for (size_t c = ((size_t)kind + s + m) % 2; c < KIT_COUNT(coders); c += 2) {
                        char text[128];
                        snprintf(text, sizeof text, "%s %s chunk=%s", modes[m], coders[c], s == 3 ? "9x17x20" : "auto");
                        round_trip(ctx, &f, text);
                    }
                kit_free(&f);
            }
    floe_ctx_free(&ctx);
}

/* rel is of the exact range, however few of its digits a double holds; and no wider. */
static void ranges_are_not_too_wide(void **state)
{
    static const struct {
        int64_t least, most;
        double rel, allowed;
    } cases[] = {{-100, 100, 0.5, 100},
                 {INT64_MAX - 4000, INT64_MAX, 0.5, 2000},
                 {(INT64_C(1) << 62) + 1, (INT64_C(1) << 62) + 99999, 0.01, 999.98},
                 {INT64_MIN, INT64_MAX, 0.25, 0x1p62},
                 {INT64_MIN, INT64_MIN + 1, 0.9, 0.9}};
    floe_ctx *ctx = kit_ctx(1);
    (void)state;
    for (size_t i = 0; i < KIT_COUNT(cases); i++) {
        int64_t data[500];
        char text[64];
        floe_info info = {.size = sizeof info};
        for (int k = 0; k < 500; k++)
            data[k] = k % 2 ? cases[i].most : cases[i].least;
        data[7] = cases[i].least + (int64_t)(distance(cases[i].least, cases[i].most) / 2);
        floe_field f = floe_field_of(data, FLOE_I64, 1, (const uint64_t[]){500});
        snprintf(text, sizeof text, "rel=%g fill=none", cases[i].rel);
        const floe_params p = kit_params(text);
        kit_bytes b = kit_compress(ctx, &f, &p);
        assert_int_equal(floe_stream_info(b.data, b.nbytes, &info, NULL), FLOE_OK);
        if (!(info.abs_bound <= cases[i].allowed))
            fail_msg("case %zu: %.17g", i, info.abs_bound);
        assert_true(i == 0 ? info.abs_bound == cases[i].allowed : i == 4 || info.abs_bound > cases[i].allowed / 8);
        kit_bytes_free(&b);
        round_trip(ctx, &f, text);
    }
    floe_ctx_free(&ctx);
}

static void fill_values(void **state)
{
    floe_ctx *ctx = kit_ctx(1);
    floe_info info = {.size = sizeof info};
    (void)state;
    for (size_t d = 0; d < KIT_COUNT(dtypes); d++) {
        const double fills[] = {-9999, (double)ends_of(dtypes[d], false), 12345678};
        floe_field f = field_of(dtypes[d], 2, (const uint64_t[]){40, 70}, FILL, 3);
        for (size_t k = 0; k < KIT_COUNT(fills); k++) {
            char text[64];
            for (uint64_t i = 0; i < 2800; i += 9)
                set(&f, i, (int64_t)fills[k]);
            snprintf(text, sizeof text, "abs=25 fill=%.17g", fills[k]);
            const floe_params p = kit_params(text);
            kit_bytes b = kit_compress(ctx, &f, &p);
            assert_int_equal(floe_stream_info(b.data, b.nbytes, &info, NULL), FLOE_OK);
            assert_true(info.has_fill && info.fill_value == fills[k]);
            kit_bytes_free(&b);
            round_trip(ctx, &f, text);
        }
        kit_free(&f);
        f = field_of(dtypes[d], 2, (const uint64_t[]){40, 70}, FILL, 3); /* found by itself */
        const floe_params p = kit_params("rel=1e-2");
        kit_bytes b = kit_compress(ctx, &f, &p);
        assert_int_equal(floe_stream_info(b.data, b.nbytes, &info, NULL), FLOE_OK);
        assert_true(info.has_fill && info.fill_value == -9999 && info.value_min == 100 && info.value_max == 136);
        kit_bytes_free(&b);
        const floe_params odd[] = {kit_params("abs=1 fill=0.5"), kit_params("abs=1 fill=1e30"),
                                   kit_params("abs=1 fill=nan")};
        uint8_t dst[64];
        for (size_t k = 0; k < KIT_COUNT(odd); k++)
            kit_fails(ctx, floe_compress(ctx, &f, &odd[k], dst, sizeof dst, &b.nbytes), FLOE_ERR_ARGUMENT,
                      "is no value of i");
        kit_free(&f);
    }
    floe_ctx_free(&ctx);
}

/* Fill values that no double has: named, in text too, or found; bit for bit, beside cells that round to the same double. */
static void fill_values_between_doubles(void **state)
{
    static const int64_t fills[] = {INT64_MIN + 2, INT64_MAX - 1, (INT64_C(1) << 53) + 1};
    static const char *const bounds[] = {"abs=25",
                                         "abs=25 codec=zfp",
                                         "abs=25 chunk=7x70",
                                         "abs=25 codec=interp",
                                         "abs=25 codec=wavelet",
                                         "lossless codec=wavelet"};
    floe_ctx *ctx = kit_ctx(1);
    floe_info info = {.size = sizeof info};
    (void)state;
    for (size_t k = 0; k < KIT_COUNT(fills) * KIT_COUNT(bounds); k++) {
        const int64_t fill = fills[k / KIT_COUNT(bounds)];
        const char *bound = bounds[k % KIT_COUNT(bounds)];
        floe_field f = field_of(FLOE_I64, 2, (const uint64_t[]){40, 70}, SMOOTH, 3);
        char text[96];
        for (uint64_t i = 0; i < 2800; i += 9)
            set(&f, i, fill);
        for (int way = 0; way < 3; way++) { /* found; by text; and beside another one */
            snprintf(text, sizeof text, "%s fill=%lld", bound, (long long)fill);
            const floe_params p = kit_params(way ? text : bound);
            assert_int_equal(p.fill, way ? FLOE_FILL_INTEGER : FLOE_FILL_AUTO);
            if (way == 2)
                set(&f, 5, fill > 0 ? fill - 1 : fill + 1);
            kit_bytes b = kit_compress(ctx, &f, &p);
            assert_int_equal(floe_stream_info(b.data, b.nbytes, &info, NULL), FLOE_OK);
            assert_true(info.has_fill && info.fill_integer == fill && info.fill_value == (double)fill);
            floe_field out = kit_like(&f);
            kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &out));
            for (uint64_t i = 0; i < 2800; i += 9)
                assert_true(((const int64_t *)out.data)[i] == fill);
            kit_ok(ctx, floe_verify(ctx, b.data, b.nbytes, &f));
            kit_free(&out);
            kit_bytes_free(&b);
        }
        const floe_params found = kit_params(bound); /* where two round to one double neither is fill */
        kit_bytes b = kit_compress(ctx, &f, &found);
        assert_int_equal(floe_stream_info(b.data, b.nbytes, &info, NULL), FLOE_OK);
        assert_true(!info.has_fill && info.fill_integer == 0);
        kit_bytes_free(&b);
        kit_free(&f);
    }
    const struct {
        floe_dtype dtype;
        int64_t fill;
        const char *says;
    } wrong[] = {{FLOE_F32, (INT64_C(1) << 53) + 1, "9007199254740993 is no value of f32"},
                 {FLOE_F64, (INT64_C(1) << 53) + 1, "9007199254740993 is no value of f64"},
                 {FLOE_I32, INT64_C(-2147483649), "-2147483649 is no value of i32"}};
    for (size_t k = 0; k < KIT_COUNT(wrong); k++) {
        const double zeros[100] = {0};
        const floe_field f = floe_field_of(zeros, wrong[k].dtype, 1, (const uint64_t[]){100});
        floe_params p = kit_params("abs=1");
        uint8_t dst[64];
        uint64_t n;
        p.fill = FLOE_FILL_INTEGER, p.fill_integer = wrong[k].fill;
        assert_int_equal(floe_compress_bound(&f, &p), 0);
        kit_fails(ctx, floe_compress(ctx, &f, &p, dst, sizeof dst, &n), FLOE_ERR_ARGUMENT, wrong[k].says);
    }
    floe_ctx_free(&ctx);
}

static void what_is_refused(void **state)
{
    floe_ctx *ctx = kit_ctx(1);
    uint8_t dst[4000];
    uint64_t n;
    (void)state;
    for (size_t d = 0; d < KIT_COUNT(dtypes); d++) {
        floe_field f = field_of(dtypes[d], 1, (const uint64_t[]){100}, SMOOTH, 1), g = f;
        const floe_params pwrel = kit_params("pwrel=1e-2"), lossless = kit_params("lossless");
        kit_fails(ctx, floe_compress(ctx, &f, &pwrel, dst, sizeof dst, &n), FLOE_ERR_UNSUPPORTED,
                  "abs, rel, psnr and lossless work");
        assert_int_equal(floe_compress_bound(&f, &pwrel), 0);
        kit_ok(ctx, floe_compress(ctx, &f, &lossless, dst, sizeof dst, &n));
        g.dtype = d ? FLOE_F64 : FLOE_F32;
        kit_fails(ctx, floe_decompress(ctx, dst, n, &g), FLOE_ERR_ARGUMENT, d ? "i64" : "i32");
        kit_fails(ctx, floe_verify(ctx, dst, n, &g), FLOE_ERR_ARGUMENT, d ? "i64" : "i32");
        kit_free(&f);
    }
    floe_ctx_free(&ctx);
}

/* A decoder that is off by one more than the bound is found, at the right place, beyond what doubles can hold. */
static void verify_is_exact(void **state)
{
    floe_ctx *ctx = kit_ctx(1);
    (void)state;
    for (size_t d = 0; d < KIT_COUNT(dtypes); d++) {
        const int64_t base = d ? INT64_MAX / 2 : INT32_MAX / 2;
        floe_field f = field_of(dtypes[d], 1, (const uint64_t[]){1000}, CONSTANT, 1), out = kit_like(&f);
        for (uint64_t i = 0; i < 1000; i++)
            set(&f, i, base + (int64_t)i);
        const floe_params p = kit_params("abs=5 fill=none");
        kit_bytes b = kit_compress(ctx, &f, &p);
        kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &out));
        for (int64_t off = -6; off <= 6; off++) {
            set(&f, 700, get(&out, 700) + off);
            if (off == 6 || off == -6)
                kit_fails(ctx, floe_verify(ctx, b.data, b.nbytes, &f), FLOE_ERR_BOUND, "the value at [700]");
            else
                kit_ok(ctx, floe_verify(ctx, b.data, b.nbytes, &f));
        }
        kit_free(&f);
        kit_free(&out);
        kit_bytes_free(&b);
    }
    floe_ctx_free(&ctx);
}

static void strides_and_regions(void **state)
{
    static const char *const coders[] = {"lorenzo", "interp", "wavelet"};
    floe_ctx *ctx = kit_ctx(2);
    (void)state;
    for (size_t i = 0; i < KIT_COUNT(coders) * KIT_COUNT(dtypes); i++) {
        const size_t d = i % KIT_COUNT(dtypes);
        char text[64];
        snprintf(text, sizeof text, "lossless chunk=16x30x20 codec=%s", coders[i / KIT_COUNT(dtypes)]);
        floe_field whole = field_of(dtypes[d], 3, (const uint64_t[]){20, 30, 40}, WALK, 9);
        floe_field f = whole; /* transposed */
        f.shape[0] = 40, f.shape[2] = 20;
        f.stride[0] = 1, f.stride[1] = 40, f.stride[2] = 1200;
        const floe_params p = kit_params(text);
        kit_bytes b = kit_compress(ctx, &f, &p);
        const uint64_t lo[] = {3, 11, 5}, hi[] = {29, 12, 20};
        floe_field box = floe_field_of(NULL, dtypes[d], 3, (const uint64_t[]){26, 1, 15});
        box.data = calloc(400, 8);
        kit_ok(ctx, floe_decompress_region(ctx, b.data, b.nbytes, lo, hi, &box));
        for (uint64_t j = 0; j < 26; j++)
            for (uint64_t k = 0; k < 15; k++)
                assert_true(get(&box, 15 * j + k) == get(&whole, 3 + j + 40 * 11 + 1200 * (5 + k)));
        kit_free(&box);
        kit_free(&whole);
        kit_bytes_free(&b);
    }
    floe_ctx_free(&ctx);
}

static kit_bytes level_of(floe_ctx *ctx, const kit_bytes *b, uint32_t level, floe_field *out)
{
    kit_bytes got = {.data = NULL};
    floe_info info = {.size = sizeof info};
    assert_int_equal(floe_stream_info(b->data, b->nbytes, &info, NULL), FLOE_OK);
    uint64_t n = 1, shape[FLOE_MAX_RANK];
    for (uint32_t a = 0; a < info.rank; a++)
        n *= shape[a] = (info.shape[a] + ((uint64_t)1 << level) - 1) >> level;
    *out = floe_field_of(NULL, info.dtype, info.rank, shape);
    got.data = out->data = calloc(n, 8);
    kit_ok(ctx, floe_decompress_level(ctx, b->data, b->nbytes, level, out));
    return got;
}

/* Codecs of reals code integers as f64, with a bound that is wider by 1/2: so do levels come back, rounded. */
static void levels(void **state)
{
    static const char *const coders[] = {"codec=interp", "codec=wavelet", "codec=wavelet preset=best"};
    floe_ctx *ctx = kit_ctx(2);
    (void)state;
    for (size_t i = 0; i < KIT_COUNT(coders) * KIT_COUNT(dtypes); i++) {
        floe_field f = field_of(dtypes[i % 2], 3, (const uint64_t[]){30, 40, 50}, SMOOTH, 9),
                   real = floe_field_of(NULL, FLOE_F64, 3, f.shape);
        const uint64_t n = kit_nelems(&f);
        double *reals = calloc(n, sizeof *reals);
        char text[64];
        real.data = reals;
        for (uint64_t k = 0; k < n; k++)
            reals[k] = (double)get(&f, k);
        for (uint32_t level = 0; level < 4; level++) {
            floe_field a = f, b = real;
            snprintf(text, sizeof text, "abs=7 fill=none %s", coders[i / 2]);
            floe_params p = kit_params(text);
            kit_bytes whole = kit_compress(ctx, &f, &p), as_real;
            p.bound = 7.5;
            as_real = kit_compress(ctx, &real, &p);
            kit_bytes got = level_of(ctx, &whole, level, &a), want = level_of(ctx, &as_real, level, &b);
            for (uint64_t k = 0; k < kit_nelems(&a); k++)
                assert_true((double)get(&a, k) == rint(((const double *)b.data)[k]));
            kit_bytes_free(&whole);
            kit_bytes_free(&as_real);
            kit_bytes_free(&got);
            kit_bytes_free(&want);
        }
        kit_free(&f);
        kit_free(&real);
    }
    floe_ctx_free(&ctx);
}

static kit_bytes salvaged(floe_ctx *ctx, const kit_bytes *b)
{
    kit_source in = {.data = b->data, .nbytes = b->nbytes};
    kit_sink out = {.fail_at = 0};
    floe_source source = kit_source_of(&in, true, true);
    floe_sink sink = kit_sink_of(&out);
    floe_stream_options options = {.size = sizeof options, .salvage = 1};
    kit_ok(ctx, floe_decompress_stream(ctx, &source, &sink, &options, NULL));
    return out.bytes;
}

/* A chunk that is lost becomes the fill value, or the least number; the others come back. */
static void salvage(void **state)
{
    floe_ctx *ctx = kit_ctx(1);
    (void)state;
    for (int with_fill = 0; with_fill < 2; with_fill++) {
        floe_field f = field_of(FLOE_I32, 2, (const uint64_t[]){32, 64}, SMOOTH, 2);
        const floe_params p = kit_params(with_fill ? "lossless chunk=16x64 fill=-7" : "lossless chunk=16x64 fill=none");
        kit_bytes b = kit_compress(ctx, &f, &p);
        b.data[300] ^= 1;
        kit_bytes out = salvaged(ctx, &b);
        const int32_t *got = (const int32_t *)out.data, *want = f.data;
        for (int i = 0; i < 2048; i++)
            assert_int_equal(got[i], i >= 1024 ? want[i] : with_fill ? -7 : INT32_MIN);
        kit_free(&f);
        kit_bytes_free(&b);
        kit_bytes_free(&out);
    }
    floe_ctx_free(&ctx);
}

/* Of a chunk of codec interp a part is lost, and no more. */
static void salvage_of_a_part(void **state)
{
    floe_ctx *ctx = kit_ctx(2);
    (void)state;
    for (size_t i = 0; i < 2 * KIT_COUNT(dtypes); i++) {
        floe_field f = field_of(dtypes[i % 2], 3, (const uint64_t[]){60, 70, 80}, SMOOTH, 2), sound = kit_like(&f);
        const floe_params p = kit_params(i / 2 ? "abs=3 codec=interp fill=-7" : "abs=3 codec=interp fill=none");
        const int64_t lost = i / 2 ? -7 : ends_of(f.dtype, false);
        kit_bytes b = kit_compress(ctx, &f, &p);
        kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &sound));
        b.data[b.nbytes * 4 / 5] ^= 1;
        kit_bytes out = salvaged(ctx, &b);
        floe_field got = f;
        uint64_t nlost = 0;
        got.data = out.data;
        for (uint64_t k = 0; k < kit_nelems(&f); k++) {
            nlost += get(&got, k) == lost;
            assert_true(get(&got, k) == lost || get(&got, k) == get(&sound, k));
        }
        assert_true(nlost > 0 && nlost < kit_nelems(&f) / 2);
        kit_free(&f);
        kit_free(&sound);
        kit_bytes_free(&b);
        kit_bytes_free(&out);
    }
    floe_ctx_free(&ctx);
}

static void names(void **state)
{
    static const struct {
        const char *text;
        floe_dtype dtype;
    } all[] = {{"i32", FLOE_I32}, {"int32", FLOE_I32}, {"<i4", FLOE_I32},
               {"i64", FLOE_I64}, {"int64", FLOE_I64}, {"<i8", FLOE_I64}};
    floe_dtype dtype;
    (void)state;
    for (size_t i = 0; i < KIT_COUNT(all); i++) {
        assert_int_equal(floe_dtype_parse(all[i].text, &dtype), FLOE_OK);
        assert_int_equal(dtype, all[i].dtype);
        assert_int_equal(floe_dtype_size(dtype), dtype == FLOE_I32 ? 4 : 8);
        assert_string_equal(floe_dtype_name(dtype), dtype == FLOE_I32 ? "i32" : "i64");
    }
    assert_int_equal(floe_dtype_parse("u32", &dtype), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_dtype_size((floe_dtype)5), 0);
    assert_string_equal(floe_dtype_name((floe_dtype)5), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes),
        cmocka_unit_test(ranges_are_not_too_wide),
        cmocka_unit_test(fill_values_between_doubles),
        cmocka_unit_test(fill_values),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(verify_is_exact),
        cmocka_unit_test(strides_and_regions),
        cmocka_unit_test(levels),
        cmocka_unit_test(salvage),
        cmocka_unit_test(salvage_of_a_part),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
