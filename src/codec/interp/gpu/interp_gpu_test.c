/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec interp by whole calls: the GPU's bytes are the CPU's, and what it decodes, too, all of it and a box; of damaged streams
 * neither is true alone. */
#include <math.h>
#include <stdio.h>

#include "call/ctx.h"
#include "codec/chunks/codec_chunks.h"
#include "device/device.h"
#include "tests/gpu/contexts_gpu_kit.h"
#include "tests/hostile_kit.h"

enum { GUARD = 512 };

typedef enum look {
    SMOOTH,
    ROUGH,
    FILLED,
    SPECIAL,
    CONSTANT,
    PATTERNS,
    SPIKES,
    WIDE,
    LARGEST,
    SPARSE,
    GAP,
    CORNER,
    CHANNELS,
    BLOCK,
    PRODUCT,
    LOOKS
} look;

typedef struct sample {
    floe_dtype dtype;
    look look;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    const char *text;
} sample;

static const sample samples[] = {
    {FLOE_F32, SMOOTH, 3, {21, 34, 40}, "rel=1e-3"},
    {FLOE_F64, SMOOTH, 3, {21, 34, 40}, "rel=1e-6"},
    {FLOE_F32, ROUGH, 3, {17, 18, 33}, "abs=0.01"},
    {FLOE_F32, SMOOTH, 2, {70, 131}, "abs=1e-3 fill=none"},
    {FLOE_F64, ROUGH, 1, {3001}, "abs=1e-3"},
    {FLOE_F32, SMOOTH, 1, {9000}, "rel=1e-2 preset=fast"},
    {FLOE_F32, SMOOTH, 4, {6, 7, 12, 13}, "rel=1e-3"},
    {FLOE_F64, SMOOTH, 4, {9, 1, 22, 13}, "rel=1e-4"},
    {FLOE_F32, FILLED, 3, {20, 30, 41}, "rel=1e-3"},
    {FLOE_F32, FILLED, 2, {90, 77}, "abs=0.01 fill=-9999"},
    {FLOE_F64, SPECIAL, 3, {13, 20, 22}, "abs=0.1"},
    {FLOE_F32, SPECIAL, 2, {70, 65}, "rel=1e-2 fill=none"},
    {FLOE_F32, SMOOTH, 3, {15, 22, 31}, "pwrel=1e-2"},
    {FLOE_F64, SPECIAL, 2, {33, 95}, "pwrel=1e-3"},
    {FLOE_F32, CONSTANT, 3, {16, 17, 18}, "rel=1e-3"},
    {FLOE_F32, PATTERNS, 2, {100, 90}, "lossless"},
    {FLOE_F64, ROUGH, 2, {20, 30}, "lossless"},
    {FLOE_F32, SPIKES, 3, {20, 22, 25}, "abs=1e-4"},
    {FLOE_F32, WIDE, 2, {64, 64}, "abs=1e-3"},
    {FLOE_F32, SMOOTH, 3, {20, 34, 40}, "psnr=60"},
    {FLOE_F32, SMOOTH, 3, {33, 34, 40}, "rel=1e-3 chunk=16x20x40"},
    {FLOE_F32, ROUGH, 3, {33, 34, 40}, "rel=1e-3 preset=best"},
    {FLOE_F64, SMOOTH, 4, {4, 17, 22, 23}, "rel=1e-4 preset=best"},
    {FLOE_F32, SMOOTH, 1, {1}, "abs=1"},
    {FLOE_F32, ROUGH, 1, {3}, "abs=1e-3"},
    {FLOE_F64, SMOOTH, 2, {4, 4}, "abs=1e-3"},
    {FLOE_F32, SMOOTH, 2, {1000, 2}, "abs=1e-3"},
    {FLOE_F64, SMOOTH, 3, {40, 60, 70}, "rel=1e-7"}, /* coarse codes would not fit: many anchors */
    {FLOE_F32, SMOOTH, 2, {2, 1000}, "abs=1e-3"},
    {FLOE_F32, ROUGH, 3, {40, 60, 70}, "rel=1e-4"},
    {FLOE_F32, LARGEST, 3, {11, 13, 24}, "psnr=60 preset=fast"},
    {FLOE_F64, LARGEST, 3, {10, 14, 23}, "rel=1e-3"},
    {FLOE_F32, SPARSE, 3, {20, 30, 41}, "abs=1e-3 fill=none"},
    {FLOE_F64, SPARSE, 2, {150, 170}, "rel=1e-3 fill=4"},
    {FLOE_F32, SMOOTH, 2, {200, 310}, "rel=1e-6 preset=best"},
    {FLOE_F64, GAP, 3, {70, 90, 100}, "rel=1e-6 preset=best"}, /* a gap that is longer than a block's anchors */
    {FLOE_F32, CONSTANT, 1, {1}, "abs=1 fill=7"},              /* raw, and shorter than any payload */
    {FLOE_F32, CORNER, 3, {50, 80, 90}, "rel=1e-3"},           /* so large that the tuner looks where the bits are */
    {FLOE_F32, CORNER, 3, {50, 80, 90}, "rel=0.1"},            /* boxes hold few bits: the tuner takes a large one */
    {FLOE_F64, CORNER, 3, {27, 100, 110}, "rel=0.1"},
    {FLOE_F32, PRODUCT, 3, {50, 64, 70}, "abs=1e-6"}, /* a small box does not show that codes do not fit: coded again */
    {FLOE_F64, CORNER, 2, {600, 501}, "pwrel=1e-2 preset=best"},
    {FLOE_F32, GAP, 4, {9, 40, 31, 30}, "abs=1e-2"},
    {FLOE_F32, SPECIAL, 1, {40000}, "rel=1e-3"}, /* long rows */
    {FLOE_F64, SPARSE, 2, {3, 30001}, "rel=1e-3 preset=best"},
    {FLOE_F64, SMOOTH, 1, {70000}, "pwrel=1e-2"},
    {FLOE_F32, SMOOTH, 2, {5000, 40}, "pwrel=1e-2"},
    {FLOE_F32, FILLED, 3, {300, 20, 9}, "pwrel=1e-2"},
    {FLOE_F64,
     ROUGH,
     4,
     {6, 20, 30, 3},
     "rel=1e-3 preset=best"}, /* turned; then chunks that are turned in several ways */
    {FLOE_F32, SPECIAL, 3, {36, 42, 9}, "rel=1e-3 chunk=36x30x9"},
    {FLOE_F32, SMOOTH, 3, {34, 34, 44}, "rel=1e-3 chunk=34x34x34"},
    {FLOE_F32, CHANNELS, 2, {400, 90}, "abs=1e-3"}, /* rough along an axis: cut levels come back */
    {FLOE_F64, CHANNELS, 3, {40, 20, 30}, "abs=1e-5 preset=best"},
    {FLOE_F32, BLOCK, 3, {48, 48, 48}, "abs=3 fill=none"}, /* too many values are apart: coded again */
};

static uint64_t nelems_of(const sample *s)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < s->rank; a++)
        n *= s->shape[a];
    return n;
}

static double value_of(const sample *s, uint64_t i, uint64_t *state)
{
    double v = 0, product = 1;
    uint64_t left = i;
    for (uint32_t a = s->rank; a-- > 0; left /= s->shape[a]) {
        v += sin((double)(left % s->shape[a]) * 0.3 / (a + 1) + a) * (3.0 - a);
        product *= sin((double)(left % s->shape[a]) * (0.05 + 0.02 * a) + 1);
    }
    const uint64_t dice = hostile_below(state, 100);
    switch (s->look) {
    case ROUGH: return v + hostile_uniform(state);
    case FILLED: return v > 1.5 ? -9999 : v;
    case SPECIAL: return dice < 3 ? NAN : dice < 6 ? -INFINITY : dice < 8 ? -0.0 : v;
    case CONSTANT: return 7;
    case PATTERNS: return (double)(dice < 60 ? 1 : dice < 80 ? 2 : dice < 98 ? 3 : dice);
    case SPIKES: return dice == 0 ? v * 1e5 : v;
    case LARGEST:
        return (2 * hostile_uniform(state) - 1) * (s->dtype == FLOE_F32 ? 3.4e38 : 1.7e308); /* predictions overflow */
    case SPARSE: {
        static const double rare[] = {NAN, -0.0, INFINITY, 1e30, 4, 0, -INFINITY, 123};
        return hostile_below(state, 400) ? v : rare[hostile_below(state, HOSTILE_COUNT(rare))];
    }
    case GAP: return i > nelems_of(s) / 5 && i < nelems_of(s) * 7 / 10 ? NAN : v;
    case CORNER: return i % 1024 < 200 && i > nelems_of(s) * 3 / 4 ? v + hostile_uniform(state) : v / 1024;
    case CHANNELS:
        return sin(floor((double)i / (double)s->shape[s->rank - 1]) * 0.01) +
               50 * sin(1e4 * (double)(i % s->shape[s->rank - 1]) + 1);
    case BLOCK: {
        const uint64_t n = s->shape[0], x = i % n, y = i / n % n, z = i / n / n;
        const bool apart = 5 * z < 2 * n && 5 * y < 2 * n;
        return apart ? 1e30 : 1000 * sin((double)z * 0.11) * cos((double)y * 0.07 + 1) * sin((double)x * 0.13 + 0.3);
    }
    case PRODUCT: return product;
    case WIDE: return dice < 50 ? 1e30 * v : v;
    default: return v;
    }
}

/* Each other element of rows that are longer, on the device. */
typedef struct device_field {
    uint8_t *data;
    floe_field field;
    uint64_t nbytes;
} device_field;

static device_field device_of(const sample *s, const void *values, bool strided)
{
    const uint64_t size = floe_dtype_size(s->dtype), n = nelems_of(s), step = strided ? 2 : 1;
    device_field d = {.nbytes = n * size * step};
    uint8_t *host = malloc(d.nbytes);
    memset(host, 0xEE, d.nbytes);
    for (uint64_t i = 0; values && i < n; i++)
        memcpy(host + i * step * size, (const uint8_t *)values + i * size, size);
    CU(cudaMalloc((void **)&d.data, d.nbytes + GUARD));
    CU(cudaMemset(d.data, 0xEE, d.nbytes + GUARD));
    CU(cudaMemcpy(d.data, host, d.nbytes, cudaMemcpyHostToDevice));
    free(host);
    d.field = floe_field_of(d.data, s->dtype, s->rank, s->shape);
    d.field.place = FLOE_DEVICE;
    int64_t stride = (int64_t)step;
    for (uint32_t a = s->rank; strided && a-- > 0; stride *= (int64_t)s->shape[a])
        d.field.stride[a] = stride;
    return d;
}

/* By all ways, or where few are to be made by one. */
static void compare_compressed(const sample *s, const floe_params *p, const void *values, const uint8_t *stream,
                               uint64_t nbytes, size_t turn)
{
    for (int way = is_few() ? (int)(turn % 3) : 0; way < 3; way += few_in(3)) {
        device_field d = device_of(s, values, way == 1);
        const floe_field host = floe_field_of(values, s->dtype, s->rank, s->shape);
        uint8_t *got = malloc(nbytes + GUARD), *dev_stream;
        uint64_t n = 0;
        CU(cudaMalloc((void **)&dev_stream, nbytes + GUARD));
        CU(cudaMemset(dev_stream, 0xEE, nbytes + GUARD));
        memset(got, 0xEE, nbytes + GUARD);
        const floe_status status = floe_compress(way == 2 ? through : gpu, way == 2 ? &host : &d.field, p,
                                                 way == 2 ? got : dev_stream, nbytes, &n);
        if (status != FLOE_OK)
            fail_msg("way %d: %s", way, floe_ctx_message(way == 2 ? through : gpu));
        if (way < 2)
            CU(cudaMemcpy(got, dev_stream, nbytes + GUARD, cudaMemcpyDeviceToHost));
        assert_int_equal(n, nbytes);
        for (uint64_t i = 0; i < nbytes; i++)
            if (got[i] != stream[i])
                fail_msg("way %d: byte %llu of %llu", way, (unsigned long long)i, (unsigned long long)nbytes);
        for (uint64_t i = nbytes; i < nbytes + GUARD; i++)
            assert_int_equal(got[i], 0xEE);
        CU(cudaFree(dev_stream));
        CU(cudaFree(d.data));
        free(got);
    }
}

typedef struct decode_call {
    const uint8_t *stream;
    uint64_t nbytes;
    const uint64_t *lo, *hi;
    floe_field out;
    bool decided;
} decode_call;

static floe_status decode_body(floe_ctx *ctx, void *arg)
{
    decode_call *c = arg;
    return floe_device_decompress(ctx, c->stream, c->nbytes, 0, c->lo, c->hi, &c->out, &c->decided);
}
static floe_status decode_alone(floe_ctx *ctx, void *arg) { return floe_device_enter(ctx, decode_body, arg); }

/* All, or a box, to the device: as the CPU decodes it, which does nothing for the GPU. Returns the CPU's status. */
static floe_status compare_decoded(const sample *s, const uint8_t *stream, uint64_t nbytes, bool boxed)
{
    sample part = *s;
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    for (uint32_t a = 0; a < s->rank; a++) {
        lo[a] = boxed ? s->shape[a] / 3 : 0;
        hi[a] = boxed ? s->shape[a] - s->shape[a] / 4 : s->shape[a];
        part.shape[a] = hi[a] - lo[a];
    }
    const uint64_t size = floe_dtype_size(s->dtype) * nelems_of(&part);
    uint8_t *wanted = malloc(size), *got = malloc(size + GUARD), *dev_stream;
    device_field d = device_of(&part, NULL, false);
    floe_field out = floe_field_of(wanted, s->dtype, part.rank, part.shape);
    CU(cudaMalloc((void **)&dev_stream, nbytes));
    CU(cudaMemcpy(dev_stream, stream, nbytes, cudaMemcpyHostToDevice));
    const floe_status status =
        boxed ? floe_decompress_region(cpu, stream, nbytes, lo, hi, &out) : floe_decompress(cpu, stream, nbytes, &out);
    const floe_status by_gpu = boxed ? floe_decompress_region(gpu, dev_stream, nbytes, lo, hi, &d.field)
                                     : floe_decompress(gpu, dev_stream, nbytes, &d.field);
    if (by_gpu != status)
        fail_msg("%d instead of %d: %s", by_gpu, status, floe_ctx_message(gpu));
    CU(cudaMemcpy(got, d.data, size + GUARD, cudaMemcpyDeviceToHost));
    decode_call alone = {dev_stream, nbytes, boxed ? lo : NULL, boxed ? hi : NULL, d.field, false};
    assert_int_equal(floe_ctx_run(gpu, decode_alone, &alone), FLOE_OK);
    assert_int_equal(alone.decided, status == FLOE_OK);
    for (uint64_t i = 0; i < size && status == FLOE_OK; i++)
        if (got[i] != wanted[i])
            fail_msg("%s: byte %llu of %llu", boxed ? "box" : "all", (unsigned long long)i, (unsigned long long)size);
    for (uint64_t i = size; i < size + GUARD; i++)
        assert_int_equal(got[i], 0xEE);
    CU(cudaFree(dev_stream));
    CU(cudaFree(d.data));
    free(wanted);
    free(got);
    return status;
}

static void bytes_and_values(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < HOSTILE_COUNT(samples); k += (size_t)one_in(9)) {
        const sample *s = &samples[k];
        const uint64_t n = nelems_of(s);
        void *values = malloc(n * floe_dtype_size(s->dtype));
        char text[128];
        uint64_t state = k, nbytes;
        floe_params p;
        for (uint64_t i = 0; i < n; i++)
            hostile_put(s->dtype, values, (int64_t)i, hostile_bits(s->dtype, value_of(s, i, &state)));
        snprintf(text, sizeof text, "codec=interp %s", s->text);
        if (getenv("FLOE_SAY"))
            fprintf(stderr, "sample %zu: %s\n", k, text);
        assert_int_equal(floe_params_parse(&p, text, NULL), FLOE_OK);
        const floe_field field = floe_field_of(values, s->dtype, s->rank, s->shape);
        const uint64_t room = floe_compress_bound(&field, &p);
        uint8_t *stream = malloc(room);
        assert_int_equal(floe_compress(cpu, &field, &p, stream, room, &nbytes), FLOE_OK);
        compare_compressed(s, &p, values, stream, nbytes, k / 9);
        assert_int_equal(compare_decoded(s, stream, nbytes, false), FLOE_OK);
        assert_int_equal(compare_decoded(s, stream, nbytes, true), FLOE_OK);
        free(stream);
        free(values);
    }
}

/* There is a copy of a chunk that is turned, if values of its rows lie further apart than memory gives at once. */
static void copies_of_turned_chunks(void **unused)
{
    static const struct {
        floe_dtype dtype;
        uint64_t shape[3], chunk[3], values;
        uint32_t level;
    } cases[] = {{FLOE_F32, {100, 90, 20}, {100, 90, 20}, 100 * 90 * 20, 0},
                 {FLOE_F32, {100, 90, 20}, {100, 90, 20}, 50 * 45 * 10, 1},
                 {FLOE_F32, {100, 90, 60}, {100, 90, 60}, 0, 0},
                 {FLOE_F32, {100, 90, 70}, {100, 90, 60}, 100 * 90 * 60, 0},
                 {FLOE_F32, {100, 90, 8}, {100, 90, 8}, 0, 0},
                 {FLOE_F64, {100, 90, 8}, {100, 90, 8}, 100 * 90 * 8, 0},
                 {FLOE_F32, {100, 90, 20}, {0, 0, 0}, 0, 0}};
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(cases); i++) {
        floe_arena plan = floe_arena_plan();
        floe_codec_turned_take(&plan, cases[i].dtype, 3, cases[i].shape, cases[i].chunk, cases[i].level);
        const uint64_t nbytes = cases[i].values * floe_dtype_size(cases[i].dtype);
        assert_true(plan.used >= nbytes && plan.used < nbytes + 64); /* which it is aligned to */
    }
}

/* The sum of a wave along each axis. */
static float *waves_of(const sample *s)
{
    const uint64_t n = s->shape[0];
    float *wave = malloc(n * sizeof *wave), *values = malloc(nelems_of(s) * sizeof *values);
    for (uint64_t i = 0; i < n; i++)
        wave[i] = (float)sin((double)i * 0.11);
    for (uint64_t i = 0; i < nelems_of(s); i++)
        values[i] = wave[i / n / n] + wave[i / n % n] + wave[i % n];
    free(wave);
    return values;
}

/* However small the stream and a box of its field are: the GPU decodes that box, which takes memory for the whole field. */
static void box_of_a_large_field(void **unused)
{
    (void)unused;
    static const char *const codecs[] = {"codec=interp rel=1e-2", "codec=wavelet rel=1e-2"};
    const sample s = {FLOE_F32, SMOOTH, 3, {448, 448, 448}, ""};
    const uint64_t lo[] = {200, 0, 320}, hi[] = {230, 25, 360}, extent[] = {30, 25, 40};
    static float got[30 * 25 * 40], wanted[30 * 25 * 40];
    if (is_small())
        skip(); /* emulated, it would take hours */
    float *values = waves_of(&s);
    device_field d = device_of(&s, values, false);
    for (size_t k = 0; k < HOSTILE_COUNT(codecs); k++) {
        decode_call alone = {.lo = lo, .hi = hi, .out = floe_field_of(d.data, s.dtype, s.rank, extent)};
        floe_field out = floe_field_of(wanted, s.dtype, s.rank, extent);
        floe_params p;
        uint8_t *stream, *host;
        CU(cudaMemcpy(d.data, values, d.nbytes, cudaMemcpyHostToDevice));
        assert_int_equal(floe_params_parse(&p, codecs[k], NULL), FLOE_OK);
        CU(cudaMalloc((void **)&stream, d.nbytes));
        assert_int_equal(floe_compress(gpu, &d.field, &p, stream, d.nbytes, &alone.nbytes), FLOE_OK);
        host = malloc(alone.nbytes);
        CU(cudaMemcpy(host, stream, alone.nbytes, cudaMemcpyDeviceToHost));
        assert_int_equal(floe_decompress_region(cpu, host, alone.nbytes, lo, hi, &out), FLOE_OK);
        alone.stream = stream;
        alone.out.place = FLOE_DEVICE;
        assert_int_equal(floe_decompress_region(gpu, stream, alone.nbytes, lo, hi, &alone.out), FLOE_OK);
        CU(cudaMemcpy(got, d.data, sizeof got, cudaMemcpyDeviceToHost));
        assert_int_equal(floe_ctx_run(gpu, decode_alone, &alone), FLOE_OK);
        assert_true(alone.decided);
        assert_memory_equal(got, wanted, sizeof got);
        CU(cudaFree(stream));
        free(host);
    }
    CU(cudaFree(d.data));
    free(values);
}

/* Calls that do not wait report it. */
static void waits(void **unused)
{
    (void)unused;
    const sample s = {FLOE_F32, SMOOTH, 1, {64}, ""};
    device_field d = device_of(&s, NULL, false);
    floe_params p;
    assert_int_equal(floe_params_parse(&p, "codec=interp abs=1", NULL), FLOE_OK);
    assert_int_equal(floe_compress_async(gpu, &d.field, &p, d.data, d.nbytes, dev_report), FLOE_ERR_UNSUPPORTED);
    assert_non_null(strstr(floe_ctx_message(gpu), "floe_compress does that"));
    assert_int_equal(floe_decompress_async(gpu, d.data, d.nbytes, NULL, &p, &d.field, dev_report),
                     FLOE_ERR_UNSUPPORTED);
    CU(cudaFree(d.data));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_and_values), cmocka_unit_test(copies_of_turned_chunks),
                                       cmocka_unit_test(box_of_a_large_field), cmocka_unit_test(waits)};
    return cmocka_run_group_tests(tests, report_open, report_close);
}
