/* SPDX-License-Identifier: BSD-3-Clause */
/* What a sample decides: the codec of AUTO, and the bound of a ratio; the same in memory and from any source. */
#include <floe/assess.h>

#include "synth/synth.h"
#include "tests/api_kit.h"

static kit_bytes compress(const floe_field *f, const char *text, uint32_t threads)
{
    floe_ctx *ctx = kit_ctx(threads);
    floe_params p = kit_params(text);
    kit_bytes b = kit_compress(ctx, f, &p);
    floe_ctx_free(&ctx);
    return b;
}

static floe_info info_of(const kit_bytes *b)
{
    floe_info info = {.size = sizeof info};
    assert_int_equal(floe_stream_info(b->data, b->nbytes, &info, NULL), FLOE_OK);
    return info;
}

/* Choices are slow under sanitizers, and most take the same branches: few are made. */
enum { STEP = 2 * FLOE_TEST_STRIDE - 1 };

static void same_bytes(const kit_bytes *a, const kit_bytes *b)
{
    assert_int_equal(a->nbytes, b->nbytes);
    assert_memory_equal(a->data, b->data, (size_t)a->nbytes);
}

static void streamed(const floe_field *f, const char *text, bool seekable, const kit_bytes *want)
{
    floe_ctx *ctx = kit_ctx(2);
    kit_source from = {.data = f->data, .nbytes = kit_nelems(f) * floe_dtype_size(f->dtype)};
    kit_sink to = {{NULL, 0, 0}, 0};
    floe_source source = kit_source_of(&from, seekable, true);
    floe_sink sink = kit_sink_of(&to);
    floe_params p = kit_params(text);
    kit_ok(ctx, floe_compress_stream(ctx, f, &p, &source, &sink, NULL));
    assert_true(seekable || !from.went_back);
    same_bytes(&to.bytes, want);
    kit_bytes_free(&to.bytes);
    floe_ctx_free(&ctx);
}

static const struct {
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    kit_kind kind;
    const char *bound;
    floe_codec codec; /* AUTO: one that takes the fewest bytes, or 5 % more */
} choices[] = {
    {FLOE_F32, 3, {14, 20, 30}, KIT_SMOOTH, "rel=1e-3", FLOE_CODEC_AUTO},
    {FLOE_F64, 3, {20, 30, 40}, KIT_SMOOTH, "rel=1e-3 chunk=8x30x40", FLOE_CODEC_AUTO},
    {FLOE_F32, 2, {100, 90}, KIT_SMOOTH, "abs=1e-2 fill=none", FLOE_CODEC_AUTO},
    {FLOE_F32, 1, {9000}, KIT_STEPS, "abs=1e-2", FLOE_CODEC_AUTO},
    {FLOE_F32, 3, {30, 40, 50}, KIT_STEPS, "rel=1e-4", FLOE_CODEC_AUTO},
    {FLOE_F32, 3, {30, 40, 50}, KIT_STEPS, "rel=1e-6", FLOE_CODEC_LORENZO},
    {FLOE_F32, 4, {4, 9, 16, 16}, KIT_SMOOTH, "psnr=60", FLOE_CODEC_AUTO},
    {FLOE_F64, 3, {14, 20, 30}, KIT_SMOOTH, "pwrel=1e-3", FLOE_CODEC_AUTO},
    {FLOE_F32, 3, {14, 20, 30}, KIT_SMOOTH, "ratio=30", FLOE_CODEC_AUTO},
    {FLOE_F32, 3, {14, 20, 30}, KIT_SMOOTH, "lossless", FLOE_CODEC_LORENZO},
    {FLOE_I32, 3, {30, 40, 50}, KIT_SMOOTH, "lossless", FLOE_CODEC_AUTO},
    {FLOE_F32, 3, {14, 20, 30}, KIT_CONSTANT, "rel=1e-3", FLOE_CODEC_LORENZO},
    {FLOE_F32, 3, {14, 20, 30}, KIT_CONSTANT, "ratio=10", FLOE_CODEC_LORENZO},
    {FLOE_F32, 2, {1, 1}, KIT_SMOOTH, "abs=1", FLOE_CODEC_AUTO},
    {FLOE_F32, 2, {0, 7}, KIT_SMOOTH, "rel=1e-3", FLOE_CODEC_LORENZO},
};

static uint64_t fewest_bytes(const floe_field *f, const char *text)
{
    uint64_t fewest = UINT64_MAX;
    for (int codec = FLOE_CODEC_LORENZO; codec <= FLOE_CODEC_WAVELET; codec++) {
        char named[200];
        if (codec == FLOE_CODEC_ZFP)
            continue; /* AUTO does not try it */
        snprintf(named, sizeof named, "%s codec=%s", text, floe_codec_name((floe_codec)codec));
        kit_bytes b = compress(f, named, 2);
        fewest = b.nbytes < fewest ? b.nbytes : fewest;
        kit_bytes_free(&b);
    }
    return fewest;
}

static void codecs_are_chosen(void **state)
{
    (void)state;
    for (size_t i = 0; i < KIT_COUNT(choices); i += STEP) {
        const bool whole = choices[i].dtype == FLOE_I32;
        floe_field f =
            kit_field(whole ? FLOE_F32 : choices[i].dtype, choices[i].rank, choices[i].shape, choices[i].kind, 3);
        for (uint64_t k = 0; whole && k < kit_nelems(&f); k++)
            ((int32_t *)f.data)[k] = (int32_t)((float *)f.data)[k];
        f.dtype = choices[i].dtype;
        char text[100], named[200];
        snprintf(text, sizeof text, "%s preset=best", choices[i].bound);
        kit_bytes b = compress(&f, text, 1);
        const floe_codec codec = info_of(&b).codec;
        snprintf(named, sizeof named, "%s codec=%s", text, floe_codec_name(codec));
        if (choices[i].codec ? codec != choices[i].codec
                             : FLOE_TEST_STRIDE == 1 && b.nbytes > fewest_bytes(&f, text) * 21 / 20)
            fail_msg("%s of case %zu: codec %s", text, i, floe_codec_name(codec));
        if (FLOE_TEST_STRIDE == 1) {
            kit_bytes same = compress(&f, named, 3);
            same_bytes(&same, &b);
            kit_bytes_free(&same);
        }
        streamed(&f, text, true, &b);
        if (strstr(text, "chunk") == NULL)
            streamed(&f, text, false, &b);
        kit_bytes_free(&b);
        kit_free(&f);
    }
}

/* Preset balanced has lorenzo or interp: where one takes clearly less, that one. */
static void balanced_choices(void **state)
{
    (void)state;
    static const struct {
        uint32_t rank;
        uint64_t shape[FLOE_MAX_RANK];
        kit_kind kind;
        const char *bound;
        floe_codec codec;
    } cases[] = {
        {3, {40, 50, 60}, KIT_SMOOTH, "rel=1e-3", FLOE_CODEC_INTERP},
        {3, {40, 50, 60}, KIT_SMOOTH, "abs=1e-2 fill=none chunk=8x50x60", FLOE_CODEC_INTERP},
        {4, {5, 20, 30, 20}, KIT_SMOOTH, "psnr=60", FLOE_CODEC_INTERP},
        {3, {40, 50, 60}, KIT_SMOOTH, "pwrel=1e-3", FLOE_CODEC_INTERP},
        {3, {40, 50, 60}, KIT_SMOOTH, "ratio=30", FLOE_CODEC_INTERP},
        {3, {30, 40, 50}, KIT_STEPS, "rel=1e-4", FLOE_CODEC_LORENZO},
        {3, {40, 50, 60}, KIT_NOISE, "rel=1e-3", FLOE_CODEC_INTERP}, /* 2 % less */
        {1, {200000}, KIT_NOISE, "rel=1e-5", FLOE_CODEC_LORENZO},
        {3, {40, 50, 60}, KIT_NOISE, "rel=1e-7", FLOE_CODEC_LORENZO},   /* codes do not fit */
        {3, {40, 50, 60}, KIT_SMOOTH, "rel=1e-7", FLOE_CODEC_LORENZO},  /* steps of an ulp */
        {3, {40, 50, 60}, KIT_NOISE, "pwrel=1e-6", FLOE_CODEC_LORENZO}, /* both */
        {3, {40, 50, 60}, KIT_SMOOTH, "lossless", FLOE_CODEC_LORENZO},
        {3, {40, 50, 60}, KIT_SMOOTH, "rel=1e-3 preset=fast", FLOE_CODEC_LORENZO},
        {3, {40, 50, 60}, KIT_CONSTANT, "rel=1e-3", FLOE_CODEC_LORENZO},
        {3, {15, 16, 17}, KIT_SMOOTH, "rel=1e-3", FLOE_CODEC_LORENZO}, /* 4080 values */
        {3, {24, 24, 24}, KIT_SMOOTH, "rel=1e-3", FLOE_CODEC_INTERP},
    };
    for (size_t i = 0; i < KIT_COUNT(cases); i += STEP) {
        floe_field f = kit_field(FLOE_F32, cases[i].rank, cases[i].shape, cases[i].kind, 3);
        kit_bytes b = compress(&f, cases[i].bound, 1), again = compress(&f, cases[i].bound, 3);
        if (info_of(&b).codec != cases[i].codec)
            fail_msg("%s of case %zu: codec %s", cases[i].bound, i, floe_codec_name(info_of(&b).codec));
        same_bytes(&again, &b);
        streamed(&f, cases[i].bound, true, &b);
        kit_bytes_free(&b);
        kit_bytes_free(&again);
        kit_free(&f);
    }
}

/* What is chosen takes at most 3 % more than each of so many codecs. */
static void check_choice_of(const floe_field *f, const char *bound, int ncodecs)
{
    static const char *const codecs[] = {"auto", "interp", "lorenzo", "wavelet"};
    uint64_t chosen = 0;
    for (int c = 0; c <= ncodecs; c++) {
        char text[100];
        snprintf(text, sizeof text, "%s codec=%s", bound, codecs[c]);
        kit_bytes b = compress(f, text, 1);
        chosen = c ? chosen : b.nbytes;
        if (chosen * 100 > b.nbytes * 103)
            fail_msg("%s: auto takes %llu, %s %llu bytes", bound, (unsigned long long)chosen, codecs[c],
                     (unsigned long long)b.nbytes);
        kit_bytes_free(&b);
    }
}
static void check_choice(const floe_field *f, const char *bound) { check_choice_of(f, bound, 2); }

/* A walk by steps of any size: codes of a coarse level are larger by half a bit than those of the next finer one, and in 1-D there are as
 * many of coarse levels as of the finest. */
static void balanced_of_walks(void **state)
{
    static const uint64_t shape[] = {1200000};
    static const char *const bounds[] = {"rel=1e-2", "rel=1e-3", "rel=1e-4"};
    floe_field f = kit_field(FLOE_F32, 1, shape, KIT_NOISE, 3);
    double sum = 0;
    (void)state;
    for (uint64_t k = 0; k < shape[0]; k++)
        ((float *)f.data)[k] = (float)(sum += (double)((float *)f.data)[k]);
    for (size_t i = 0; i < KIT_COUNT(bounds); i++)
        check_choice(&f, bounds[i]);
    kit_free(&f);
}

/* Boxes of 4-D are short along the slowest axis, which may be left to the finest level alone; waves along the others are in the next one. */
static void balanced_of_four_axes(void **state)
{
    static const uint64_t shape[] = {10, 16, 20, 24};
    floe_field f = kit_field(FLOE_F32, 4, shape, KIT_NOISE, 3);
    (void)state;
    for (uint64_t k = 0; k < 10 * 16 * 20 * 24; k++) {
        double v = 0.005 * (double)((float *)f.data)[k];
        uint64_t rest = k;
        for (int a = 3; a >= 0; rest /= shape[a--])
            v += sin(6.283185307 * (1 + 3 * a) * (double)(rest % shape[a]) / (double)shape[a] + a);
        ((float *)f.data)[k] = (float)v;
    }
    check_choice(&f, "rel=1e-3");
    kit_free(&f);
}

/* Planes that have nothing in common, but are smooth: a box shows that one axis is better left alone, and nearly as well two, which would
 * leave the field far more anchors. */
static void balanced_of_stacks(void **state)
{
    static const uint64_t shape[] = {20, 150, 100};
    floe_field f = kit_field(FLOE_F32, 3, shape, KIT_NOISE, 3);
    float *const v = f.data;
    (void)state;
    for (uint64_t z = 0; z < shape[0]; z++) {
        const double up = 7 * (double)v[z * 15000], across = 7 * (double)v[z * 15000 + 1];
        for (uint64_t i = 0; i < 15000; i++)
            v[z * 15000 + i] = (float)(sin(0.02 * (double)(i / 100) + up) +
                                       (double)(1 + z % 3) * sin(0.01 * (double)(i % 100) + across));
    }
    check_choice(&f, "rel=1e-2");
    check_choice(&f, "rel=1e-3");
    kit_free(&f);
}

/* Fronts take all the bits, and boxes that lie evenly mostly miss them. */
static void balanced_of_quiet_fields(void **state)
{
    static const uint64_t shape[] = {40, 200, 150};
    floe_field f = kit_field(FLOE_F32, 3, shape, KIT_CONSTANT, 3);
    (void)state;
    assert_int_equal(synth_fill("seismic", f.dtype, 3, f.shape, 3, 0, kit_nelems(&f), f.data), FLOE_OK);
    check_choice(&f, "rel=1e-2");
    if (FLOE_TEST_STRIDE == 1)
        check_choice(&f, "rel=1e-3");
    kit_free(&f);
}

/* Fronts of a fan that are wider with each row, and blobs in zeros: boxes show little of the sets and tiles that the field pays for. */
static void fill_fan(const floe_field *f)
{
    const uint64_t n = f->shape[1];
    for (uint64_t k = 0; k < kit_nelems(f); k++) {
        const double s = ((double)(k % n) / (double)n - 0.5) / (0.001 + 0.2 * (double)(k / n) / (double)f->shape[0]);
        ((float *)f->data)[k] = s < -1.18   ? 1
                                : s < -0.07 ? (float)(1 - 0.574 * (s + 1.18) / 1.11)
                                : s < 0.927 ? 0.426f
                                : s < 1.752 ? 0.266f
                                            : 0.125f;
    }
}

static void fill_blobs(const floe_field *f)
{
    for (uint64_t k = 0; k < kit_nelems(f); k++) {
        const uint64_t x = k % 140, y = k / 140 % 130, z = k / 18200;
        const bool in = x % 46 < 12 && y % 43 < 12 && z % 40 < 12 && (x / 46 + y / 43 + z / 40) % 2 == 0;
        ((float *)f->data)[k] =
            in ? (float)(sin(0.3 * (double)(x % 46)) + cos(0.4 * (double)(y % 43) + 0.2 * (double)(z % 40))) : 0;
    }
}

static void balanced_of_quiet_fields_by_all(void **state)
{
    static const uint64_t few[] = {600, 801}, more[] = {1500, 2001}, zeros[] = {120, 130, 140};
    static const char *const bounds[] = {"rel=1e-2", "rel=1e-3", "psnr=60", "pwrel=1e-3"};
    (void)state;
    for (int i = 0; i < (FLOE_TEST_STRIDE == 1 ? 2 : 1); i++) {
        floe_field f = kit_field(FLOE_F32, 2, i ? more : few, KIT_CONSTANT, 1);
        fill_fan(&f);
        for (size_t b = 0; b < KIT_COUNT(bounds); b++)
            check_choice(&f, bounds[b]);
        kit_free(&f);
    }
    floe_field f = kit_field(FLOE_F32, 3, zeros, KIT_CONSTANT, 1);
    fill_blobs(&f);
    check_choice(&f, "pwrel=1e-3");
    kit_free(&f);
}

/* Rows of lorenzo's are chunks of their own, and best counts them as such. */
static void best_of_two_rows(void **state)
{
    static const uint64_t shape[] = {2, 60000};
    floe_field f = kit_field(FLOE_F32, 2, shape, KIT_NOISE, 1);
    (void)state;
    check_choice_of(&f, "rel=1e-3 preset=best", 3);
    kit_free(&f);
}

/* Steps below the least one of codec interp are not for it. */
static void balanced_of_tiny_values(void **state)
{
    static const uint64_t shape[] = {40, 50, 60};
    (void)state;
    for (int tiny = 0; tiny < 2; tiny++) {
        floe_field f = kit_field(FLOE_F32, 3, shape, KIT_SMOOTH, 3);
        for (uint64_t k = 0; k < kit_nelems(&f); k++)
            ((float *)f.data)[k] *= tiny ? 0x1p-125f : 0x1p-110f;
        kit_bytes b = compress(&f, "rel=1e-3", 1);
        assert_int_equal(info_of(&b).codec, tiny ? FLOE_CODEC_LORENZO : FLOE_CODEC_INTERP);
        kit_bytes_free(&b);
        kit_free(&f);
    }
}

/* Boxes of a source that is cut in slabs are read row by row; and one that cannot seek is refused. */
static void boxes_of_sources(void **state)
{
    (void)state;
    floe_field f = kit_field(FLOE_F64, 3, (const uint64_t[]){43, 52, 60}, KIT_FILL, 5);
    const char *const texts[] = {"rel=1e-3 preset=best chunk=10x52x60", "ratio=12 chunk=7x25x60",
                                 "abs=1e-3 fill=none preset=best chunk=50x9x60", "rel=1e-3 preset=best"};
    for (size_t i = 0; i < KIT_COUNT(texts); i += FLOE_TEST_STRIDE) {
        kit_bytes b = compress(&f, texts[i], 1);
        streamed(&f, texts[i], true, &b);
        kit_bytes_free(&b);
    }
    floe_ctx *ctx = kit_ctx(1);
    kit_source from = {.data = f.data, .nbytes = kit_nelems(&f) * 8};
    kit_sink to = {{NULL, 0, 0}, 0};
    floe_source source = kit_source_of(&from, false, true);
    floe_sink sink = kit_sink_of(&to);
    floe_params p = kit_params("abs=1e-3 fill=none preset=best chunk=10x52x60");
    kit_fails(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, NULL), FLOE_ERR_UNSUPPORTED, "name a codec");
    floe_ctx_free(&ctx);
    kit_free(&f);
}

/* A workspace of the size that is requested suffices. */
static void a_workspace_of_the_caller(void **state)
{
    (void)state;
    const char *const texts[] = {"rel=1e-3 preset=best", "rel=1e-3", "ratio=20", "ratio=20 preset=best chunk=20x50x60"};
    floe_field f = kit_field(FLOE_F32, 3, (const uint64_t[]){40, 50, 60}, KIT_SMOOTH, 5);
    for (size_t i = 0; i < KIT_COUNT(texts); i += FLOE_TEST_STRIDE) {
        floe_ctx *ctx = kit_ctx(2);
        floe_params p = kit_params(texts[i]);
        size_t nbytes;
        kit_ok(ctx, floe_workspace_nbytes(ctx, &f, &p, &nbytes));
        floe_ctx_free(&ctx);
        floe_ctx_options options = {.size = sizeof options, .threads = 2, .workspace_nbytes = nbytes};
        options.workspace = aligned_alloc(64, nbytes);
        assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
        kit_bytes b = kit_compress(ctx, &f, &p);
        kit_bytes_free(&b);
        floe_ctx_free(&ctx);
        free(options.workspace);
    }
    kit_free(&f);
}

static void ratios_are_reached(void **state)
{
    (void)state;
    const char *const codecs[] = {"lorenzo", "lorenzo preset=fast", "interp", "wavelet", "auto preset=best"};
    for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype += FLOE_TEST_STRIDE)
        for (size_t c = 0; c < KIT_COUNT(codecs); c += FLOE_TEST_STRIDE)
            for (double ratio = c == 3   ? 16
                                : c >= 2 ? 8
                                         : 4;
                 ratio <= 16; ratio *= 2) { /* interp: codes of 8 bits or 16, so not each ratio; wavelet takes long */
                floe_field f = kit_field((floe_dtype)dtype, 3, (const uint64_t[]){24, 32, 50}, KIT_NOISE, 9);
                for (uint64_t i = 0; i < kit_nelems(&f); i++) /* something to predict, and something not */
                    kit_set(&f, i, 0.02 * kit_get(&f, i) + sin((double)(i % 50) * 0.1 + (double)(i / 2400) * 0.05));
                char text[100];
                if (c % 2)
                    snprintf(text, sizeof text, "rate=%g codec=%s", (dtype == FLOE_F32 ? 32 : 64) / ratio, codecs[c]);
                else
                    snprintf(text, sizeof text, "ratio=%g codec=%s", ratio, codecs[c]);
                floe_ctx *ctx = kit_ctx(2);
                floe_params p = kit_params(text);
                kit_bytes b = kit_compress(ctx, &f, &p);
                const floe_info info = info_of(&b);
                const double got = (double)info.raw_nbytes / (double)b.nbytes;
                if (fabs(got / ratio - 1) > (strstr(text, "wavelet") ? 0.01 : 0.03))
                    fail_msg("%s: %g", text, got);
                assert_true(info.mode == FLOE_BOUND_RATIO && info.bound == ratio && info.format_version == 4);
                kit_ok(ctx, floe_verify(ctx, b.data, b.nbytes, &f));
                kit_bytes_free(&b);
                floe_ctx_free(&ctx);
                kit_free(&f);
            }
}

/* One value makes the range, 270 dB above all others: bounds between are as many. */
static void ratios_beside_an_outlier(void **state)
{
    (void)state;
    floe_field f = kit_field(FLOE_F32, 3, (const uint64_t[]){24, 32, 50}, KIT_NOISE, 9);
    kit_set(&f, 1234, 1e30);
    for (double ratio = 3; ratio < 16; ratio *= 2) {
        char text[64];
        snprintf(text, sizeof text, "ratio=%g codec=lorenzo", ratio);
        kit_bytes b = compress(&f, text, 2);
        const floe_info info = info_of(&b);
        if (fabs((double)info.raw_nbytes / (double)b.nbytes / ratio - 1) > 0.03)
            fail_msg("%s: %llu bytes", text, (unsigned long long)b.nbytes);
        kit_bytes_free(&b);
    }
    kit_free(&f);
}

/* Where it cannot be reached the nearest is taken: lossless, or a bound as wide as the range. */
static void ratios_out_of_reach(void **state)
{
    (void)state;
    floe_field noise = kit_field(FLOE_F32, 2, (const uint64_t[]){200, 300}, KIT_NOISE, 1);
    kit_bytes least = compress(&noise, "ratio=1", 1), most = compress(&noise, "ratio=1e9", 1);
    kit_bytes more = compress(&noise, "rate=33", 1); /* than there is: as ratio=1 */
    assert_true(info_of(&least).abs_bound < 1e-6);
    assert_true(info_of(&most).abs_bound > 1);
    assert_true(more.nbytes == least.nbytes && memcmp(more.data, least.data, more.nbytes) == 0);
    kit_bytes_free(&more);
    kit_bytes_free(&least);
    kit_bytes_free(&most);
    kit_free(&noise);
    floe_params p;
    floe_error err;
    assert_int_equal(floe_params_parse(&p, "ratio=0.9", &err), FLOE_ERR_ARGUMENT);
    assert_string_equal(err.message, "ratio must be at least 1, got ratio=0.9");
}

/* Codecs reach a PSNR at different bounds: of peaks with noise, interp takes less than wavelet at one bound, but not at its own. */
static void psnr_by_bounds_of_each(void **state)
{
    (void)state;
    static const uint64_t shape[FLOE_MAX_RANK] = {40, 40, 40};
    floe_field f = kit_field(FLOE_F32, 3, shape, KIT_CONSTANT, 1);
    uint64_t seed = 2;
    for (uint64_t i = 0; i < kit_nelems(&f); i++) {
        const double x = (double)(i % 40), y = (double)(i / 40 % 40), z = (double)(i / 1600);
        const double peaks = exp(6 * sin(z * 0.2 + 1) * sin(y * 0.17) * sin(x * 0.13 + 0.5));
        ((float *)f.data)[i] = (float)(peaks * (1 + 0.2 * (kit_uniform(&seed) - 0.5)));
    }
    kit_bytes b = compress(&f, "psnr=50 preset=best", 2);
    assert_true(b.nbytes <= fewest_bytes(&f, "psnr=50 preset=best") * 21 / 20);
    kit_bytes_free(&b);
    kit_free(&f);
}

/* Of clumps that lie far apart lorenzo reaches it at a bound so much wider that it takes less, which no single bound shows. */
static void balanced_psnr_by_bounds_of_each(void **state)
{
    (void)state;
    floe_field f = kit_field(FLOE_F32, 3, (const uint64_t[]){64, 64, 64}, KIT_CONSTANT, 1);
    assert_int_equal(synth_fill("lognormal", f.dtype, 3, f.shape, 0, 0, kit_nelems(&f), f.data), FLOE_OK);
    kit_bytes b = compress(&f, "psnr=45", 2), other = compress(&f, "psnr=45 codec=interp", 2);
    assert_true(b.nbytes < other.nbytes * 4 / 5);
    kit_bytes_free(&other);
    kit_bytes_free(&b);
    kit_free(&f);
}

/* What tuners choose leaps with the bound, and these targets lie in a leap. */
static void targets_in_leaps(void **state)
{
    static const struct {
        const char *kind, *text;
        uint64_t shape[3];
    } cases[] = {{"spikes", "psnr=80 codec=interp preset=best", {40, 48, 64}},
                 {"steps", "psnr=100 codec=wavelet preset=fast", {32, 64, 64}},
                 {"steps", "ratio=40 codec=wavelet", {32, 64, 64}},
                 {"steps", "ratio=42 codec=wavelet preset=best", {32, 64, 64}}};
    (void)state;
    for (size_t i = 0; i < KIT_COUNT(cases); i += FLOE_TEST_STRIDE) {
        floe_field f = kit_field(FLOE_F32, 3, cases[i].shape, KIT_CONSTANT, 1), out = kit_like(&f);
        assert_int_equal(synth_fill(cases[i].kind, f.dtype, 3, f.shape, 0, 0, kit_nelems(&f), f.data), FLOE_OK);
        kit_bytes b = compress(&f, cases[i].text, 2);
        const floe_info info = info_of(&b);
        floe_ctx *ctx = kit_ctx(2);
        floe_assess_report r = {.size = sizeof r};
        kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &out));
        kit_ok(ctx, floe_assess(ctx, &f, &out, NULL, &r));
        const double off = info.mode == FLOE_BOUND_RATIO ? (double)info.raw_nbytes / (double)b.nbytes / info.bound - 1
                                                         : r.error.psnr - info.bound;
        if (info.mode == FLOE_BOUND_RATIO ? fabs(off) > 0.01 : !(off >= 0 && off < 0.3))
            fail_msg("%s: off by %g", cases[i].text, off);
        kit_bytes_free(&b);
        floe_ctx_free(&ctx);
        kit_free(&out);
        kit_free(&f);
    }
}

/* Bounds below the least float leave no error: 0 is no multiple of them. So a bound is found that leaves one, or the least. */
static void psnr_of_subnormals(void **state)
{
    static const uint64_t shape[] = {20, 25};
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        floe_field f = kit_field(FLOE_F32, 2, shape, KIT_NOISE, seed);
        for (uint32_t i = 0; i < 500; i++)
            ((float *)f.data)[i] *= 0x1p-146f;
        kit_bytes b = compress(&f, "psnr=42 codec=interp", 1);
        assert_true(info_of(&b).abs_bound > 1e-46);
        kit_bytes_free(&b);
        kit_free(&f);
    }
}

/* One plane has no use for contexts of planes, whose entropy chunks are short: best takes no more than balanced. */
static void best_of_one_plane(void **state)
{
    static const uint64_t shapes[][2] = {{5000, 2}, {300, 200}, {1, 40000}};
    (void)state;
    for (size_t i = 0; i < KIT_COUNT(shapes); i++) {
        floe_field f = kit_field(FLOE_F32, 2, shapes[i], KIT_SMOOTH, 3);
        kit_bytes best = compress(&f, "rel=1e-3 codec=interp preset=best", 1),
                  balanced = compress(&f, "rel=1e-3 codec=interp preset=balanced", 1);
        if (best.nbytes > balanced.nbytes + balanced.nbytes / 100)
            fail_msg("case %zu: %llu bytes by best, %llu by balanced", i, (unsigned long long)best.nbytes,
                     (unsigned long long)balanced.nbytes);
        kit_bytes_free(&best);
        kit_bytes_free(&balanced);
        kit_free(&f);
    }
}

/* By a sample two codecs are near, and the field is not like it. */
static void best_of_near_codecs(void **state)
{
    static const uint64_t shape[] = {50, 60, 70};
    floe_field f = kit_field(FLOE_F32, 3, shape, KIT_CONSTANT, 3);
    (void)state;
    assert_int_equal(synth_fill("seismic", f.dtype, 3, f.shape, 0, 0, kit_nelems(&f), f.data), FLOE_OK);
    check_choice_of(&f, "rel=1e-4 preset=best", 3);
    kit_free(&f);
}

/* A field that is taken whole however large it is. Its sample takes fewer bytes by codec interp, the field half as many by wavelet. */
static void best_of_a_large_field(void **state)
{
    static const uint64_t shape[] = {2900, 2900};
    (void)state;
    if (FLOE_TEST_STRIDE > 1) /* sanitizers would take a minute */
        skip();
    floe_field f = kit_field(FLOE_F32, 2, shape, KIT_CONSTANT, 3);
    assert_int_equal(synth_fill("weather", f.dtype, 2, f.shape, 0, 0, kit_nelems(&f), f.data), FLOE_OK);
    kit_bytes chosen = compress(&f, "rel=1e-2 preset=best", 2),
              wavelet = compress(&f, "rel=1e-2 preset=best codec=wavelet", 2);
    assert_int_equal(chosen.nbytes, wavelet.nbytes); /* the trial's bytes, in one of them */
    assert_memory_equal(chosen.data, wavelet.data, wavelet.nbytes);
    kit_bytes_free(&chosen);
    kit_bytes_free(&wavelet);
    kit_free(&f);
}

/* Whole multiples of something, which a bound need not keep better than lossless does. */
static void bounds_of_whole_multiples(void **unused)
{
    static const char *const bounds[] = {"abs=0.1", "abs=0.3 preset=best", "rel=1e-4", "rel=1e-6"};
    static float data[400 * 500];
    const floe_field f = {.data = data, .dtype = FLOE_F32, .rank = 2, .shape = {400, 500}, .stride = {500, 1}};
    (void)unused;
    for (int unit = 0; unit < 2; unit++) {
        for (int i = 0; i < 400 * 500; i++) {
            const double v = round(300 * sin(i / 500 / 90.) * cos(i % 500 / 70.) + 3 * sin(i * 0.7));
            data[i] = (float)(unit ? 0.7 * v + 290 : v);
        }
        kit_bytes exact = compress(&f, "lossless", 2);
        for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
            kit_bytes bounded = compress(&f, bounds[b], 1 + (uint32_t)b % 2);
            assert_true(bounded.nbytes <= exact.nbytes);
            kit_bytes_free(&bounded);
        }
        kit_bytes_free(&exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(codecs_are_chosen),
                                       cmocka_unit_test(balanced_choices),
                                       cmocka_unit_test(boxes_of_sources),
                                       cmocka_unit_test(a_workspace_of_the_caller),
                                       cmocka_unit_test(ratios_are_reached),
                                       cmocka_unit_test(ratios_beside_an_outlier),
                                       cmocka_unit_test(ratios_out_of_reach),
                                       cmocka_unit_test(balanced_of_walks),
                                       cmocka_unit_test(balanced_of_four_axes),
                                       cmocka_unit_test(balanced_of_stacks),
                                       cmocka_unit_test(balanced_of_quiet_fields),
                                       cmocka_unit_test(balanced_of_quiet_fields_by_all),
                                       cmocka_unit_test(best_of_two_rows),
                                       cmocka_unit_test(balanced_of_tiny_values),
                                       cmocka_unit_test(best_of_one_plane),
                                       cmocka_unit_test(best_of_near_codecs),
                                       cmocka_unit_test(best_of_a_large_field),
                                       cmocka_unit_test(psnr_of_subnormals),
                                       cmocka_unit_test(psnr_by_bounds_of_each),
                                       cmocka_unit_test(targets_in_leaps),
                                       cmocka_unit_test(balanced_psnr_by_bounds_of_each),
                                       cmocka_unit_test(bounds_of_whole_multiples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
