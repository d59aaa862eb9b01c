/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec wavelet by whole calls: the GPU's bytes are the CPU's, of data on the device, in rows that are longer, and on the host; and its
 * report. */
#include <math.h>
#include <stdio.h>

#include "tests/gpu/contexts_gpu_kit.h"
#include "tests/hostile_kit.h"

enum { GUARD = 512 };

typedef enum look {
    SMOOTH,
    ROUGH,
    FILLED,  /* a region */
    SPECIAL, /* NaN, infinities, -0 here and there */
    CONSTANT,
    SPIKES,
    PEAKS, /* whose codes take a byte here and there, and more than two bytes in few places */
    WIDE,
    LEAST,
    LARGEST,
    SIGNED, /* for logarithms: signs, zeros, magnitudes from small to large */
    ALL_NAN,
    STRIPES, /* rough along the last axis alone */
    COLUMNS  /* smooth along the slowest axis alone */
} look;

typedef struct sample {
    floe_dtype dtype;
    look look;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    const char *text;
    enum { OFTEN, MORE } how; /* MORE: reaches no branch that others do not */
} sample;

static const sample samples[] = {
    {FLOE_F32, SMOOTH, 3, {14, 21, 30}, "rel=1e-3", MORE},
    {FLOE_F32, SMOOTH, 3, {17, 18, 33}, "rel=1e-3 preset=fast", MORE},
    {FLOE_F64, SMOOTH, 3, {13, 14, 29}, "rel=1e-6 preset=fast", MORE},
    {FLOE_F32, ROUGH, 3, {13, 17, 29}, "abs=0.01", OFTEN},
    {FLOE_F32, SMOOTH, 2, {70, 131}, "abs=1e-3 fill=none preset=fast", MORE},
    {FLOE_F64, ROUGH, 1, {3001}, "abs=1e-3", MORE},
    {FLOE_F32, SMOOTH, 1, {9000}, "rel=1e-2 preset=fast", OFTEN},
    {FLOE_F32, SMOOTH, 4, {6, 7, 12, 13}, "rel=1e-3", OFTEN},
    {FLOE_F64, SMOOTH, 4, {9, 1, 22, 13}, "rel=1e-4 preset=fast", OFTEN},
    {FLOE_F32, FILLED, 3, {20, 23, 31}, "rel=1e-3 preset=fast", OFTEN},
    {FLOE_F32, FILLED, 3, {6, 40, 41}, "rel=1e-3", MORE},
    {FLOE_F32, FILLED, 2, {90, 77}, "abs=0.01 fill=-9999 preset=fast", MORE},
    {FLOE_F64, SPECIAL, 3, {13, 20, 22}, "abs=0.1 preset=fast", OFTEN},
    {FLOE_F32, SPECIAL, 2, {70, 65}, "rel=1e-2 fill=none", OFTEN},
    {FLOE_F32, SMOOTH, 3, {15, 22, 21}, "pwrel=1e-2 preset=fast", OFTEN},
    {FLOE_F64, SPECIAL, 2, {33, 95}, "pwrel=1e-3", OFTEN},
    {FLOE_F32, SIGNED, 3, {9, 20, 31}, "pwrel=1e-2", MORE},
    {FLOE_F64, SIGNED, 1, {2000}, "pwrel=1e-4 preset=fast", OFTEN},
    {FLOE_F32, CONSTANT, 3, {16, 17, 18}, "rel=1e-3", OFTEN},
    {FLOE_F32, CONSTANT, 3, {8, 9, 10}, "abs=1e-3 preset=fast", OFTEN},
    {FLOE_F32, SPIKES, 3, {12, 22, 25}, "abs=1e-4", OFTEN},
    {FLOE_F32, WIDE, 2, {64, 64}, "abs=1e-3 preset=fast", OFTEN},
    {FLOE_F64, WIDE, 2, {40, 44}, "abs=1e-3", OFTEN},
    {FLOE_F32, SMOOTH, 3, {20, 24, 30}, "psnr=60 preset=fast", OFTEN},
    {FLOE_F64, ROUGH, 2, {50, 60}, "psnr=40", OFTEN},
    {FLOE_F32, SMOOTH, 3, {33, 34, 30}, "rel=1e-3 chunk=16x20x30 preset=fast", OFTEN},
    {FLOE_F64, ROUGH, 4, {6, 14, 30, 3}, "rel=1e-3", OFTEN}, /* turned; then chunks that are turned in several ways */
    {FLOE_F32, SPECIAL, 3, {24, 42, 9}, "rel=1e-3 chunk=24x30x9 preset=fast", OFTEN},
    {FLOE_F32, SMOOTH, 3, {24, 24, 31}, "rel=1e-3 chunk=24x24x24 preset=fast", MORE},
    {FLOE_F32, ROUGH, 3, {13, 24, 30}, "rel=1e-3 preset=best", OFTEN},
    {FLOE_F64, SMOOTH, 4, {4, 11, 12, 13}, "rel=1e-4 preset=best", OFTEN},
    {FLOE_F32, SMOOTH, 1, {1}, "abs=1", MORE},
    {FLOE_F64, SMOOTH, 1, {1}, "rel=1e-3", MORE},
    {FLOE_F32, ROUGH, 1, {3}, "abs=1e-3", OFTEN},
    {FLOE_F64, SMOOTH, 2, {4, 4}, "abs=1e-3", OFTEN},
    {FLOE_F32, SMOOTH, 2, {1000, 2}, "abs=1e-3", OFTEN},
    {FLOE_F32, SMOOTH, 2, {2, 1000}, "abs=1e-3", MORE},
    {FLOE_F64, SMOOTH, 2, {1500, 4}, "rel=1e-10 chunk=1007x4 preset=fast", MORE},
    {FLOE_F32, SMOOTH, 3, {23, 29, 31}, "abs=1e-7 preset=fast", OFTEN},
    {FLOE_F32, LARGEST, 3, {11, 13, 24}, "psnr=60 preset=fast", OFTEN},
    {FLOE_F64, LARGEST, 3, {10, 14, 23}, "rel=1e-3", MORE},
    {FLOE_F32, ALL_NAN, 2, {30, 41}, "abs=1e-3", OFTEN},
    {FLOE_F64, ALL_NAN, 1, {1}, "pwrel=1e-3", OFTEN},
    {FLOE_F64, ROUGH, 3, {5, 6, 70}, "abs=1e-300", MORE},
    {FLOE_F32, ROUGH, 3, {30, 6, 70}, "abs=1e30 preset=fast", MORE},
    {FLOE_F32, SPIKES, 3, {17, 22, 25}, "rel=1e-6 preset=fast", MORE}, /* peaks are cut */
    {FLOE_F64, SPIKES, 3, {11, 20, 41}, "abs=1e-5", OFTEN},
    {FLOE_F32, ROUGH, 3, {19, 20, 26}, "rel=4e-6 preset=fast", OFTEN}, /* codes are cut */
    {FLOE_F32,
     SMOOTH,
     2,
     {729, 363},
     "abs=0.1 chunk=365x363 preset=fast",
     OFTEN},                                                         /* the box of the smaller chunk is larger */
    {FLOE_F32, PEAKS, 2, {330, 310}, "abs=0.01 preset=fast", OFTEN}, /* few values of the finest step are cut */
    {FLOE_F32, STRIPES, 2, {300, 250}, "rel=1e-3", OFTEN},           /* the last axis is frozen */
    {FLOE_F64, STRIPES, 3, {30, 6, 40}, "rel=1e-3", OFTEN},          /* one is too short to be looked along */
    {FLOE_F32, STRIPES, 3, {70, 71, 72}, "rel=1e-3 preset=best", MORE},
    {FLOE_F32, COLUMNS, 3, {80, 30, 28}, "abs=1e-3", OFTEN}, /* a packet, whose entropy chunks come in several groups */
    {FLOE_F32, LEAST, 1, {2746}, "abs=1e-40 fill=none", OFTEN}, /* steps whose inverse is infinite */
    {FLOE_F32, ROUGH, 3, {40, 58, 57}, "abs=1e-3", OFTEN}, /* an even field: few trials of a small box; many bits */
};

static double value_of(const sample *s, uint64_t i, uint64_t *state)
{
    double v = 0;
    uint64_t left = i;
    for (uint32_t a = s->rank; a-- > 0; left /= s->shape[a])
        v += sin((double)(left % s->shape[a]) * 0.3 / (a + 1) + a) * (3.0 - a);
    const uint64_t dice = hostile_below(state, 100);
    switch (s->look) {
    case ROUGH: return v + hostile_uniform(state);
    case FILLED: return v > 1.5 ? -9999 : v;
    case SPECIAL: return dice < 3 ? NAN : dice < 6 ? -INFINITY : dice < 8 ? -0.0 : v;
    case CONSTANT: return 7;
    case SPIKES: return dice == 0 ? v * 1e5 : v;
    case PEAKS: return dice == 0 && hostile_below(state, 3) == 0 ? v + (hostile_below(state, 25) ? 10 : 4000) : v;
    case LEAST: return 3e-41;
    case LARGEST: return (2 * hostile_uniform(state) - 1) * (s->dtype == FLOE_F32 ? 3.4e38 : 1.7e308);
    case WIDE: return dice < 50 ? 1e30 * v : v;
    case SIGNED: return dice < 3 ? 0 : (dice < 20 ? -1 : 1) * exp(5 * v);
    case ALL_NAN: return NAN;
    case COLUMNS: return sin((double)(i / 840) * 0.2) * (1 + (double)(i % 840 * 7919 % 101) * 0.01);
    case STRIPES: return v + (double)(i % s->shape[s->rank - 1] * 2654435761 % 97);
    default: return v;
    }
}

static uint64_t nelems_of(const sample *s)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < s->rank; a++)
        n *= s->shape[a];
    return n;
}

/* On the device; strided: each other element, backwards along the slowest axis. */
static floe_field device_of(const sample *s, const uint8_t *values, bool strided, void **data)
{
    const uint64_t size = floe_dtype_size(s->dtype), n = nelems_of(s), row = n / s->shape[0], step = strided ? 2 : 1;
    uint8_t *host = calloc(n * step, size);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t to = strided ? (s->shape[0] - 1 - i / row) * row + i % row : i;
        memcpy(host + to * step * size, values + i * size, size);
    }
    CU(cudaMalloc(data, n * step * size));
    CU(cudaMemcpy(*data, host, n * step * size, cudaMemcpyHostToDevice));
    free(host);
    floe_field f = floe_field_of(*data, s->dtype, s->rank, s->shape);
    f.place = FLOE_DEVICE;
    int64_t stride = (int64_t)step;
    for (uint32_t a = s->rank; strided && a-- > 0; stride *= (int64_t)s->shape[a])
        f.stride[a] = stride;
    if (strided) {
        f.stride[0] = -f.stride[0];
        f.data = (uint8_t *)*data + (s->shape[0] - 1) * row * step * size;
    }
    return f;
}

typedef enum way { PLAIN, STRIDED, FROM_HOST, TOO_SMALL, WAYS } way;

static void compress(const sample *s, const floe_params *p, const void *values, const uint8_t *stream, uint64_t nbytes,
                     way by)
{
    void *data;
    floe_field field = device_of(s, values, by == STRIDED, &data);
    const floe_field host = floe_field_of(values, s->dtype, s->rank, s->shape);
    const uint64_t room = nbytes - (by == TOO_SMALL);
    uint8_t *got = malloc(nbytes + GUARD), *dev_stream;
    uint64_t n = 0;
    CU(cudaMalloc((void **)&dev_stream, nbytes + GUARD));
    CU(cudaMemset(dev_stream, 0xEE, nbytes + GUARD));
    memset(got, 0xEE, nbytes + GUARD);
    const floe_status status = floe_compress(by == FROM_HOST ? through : gpu, by == FROM_HOST ? &host : &field, p,
                                             by == FROM_HOST ? got : dev_stream, room, &n);
    if (status != (by == TOO_SMALL ? FLOE_ERR_CAPACITY : FLOE_OK))
        fail_msg("way %d: status %d, %s", by, status, floe_ctx_message(by == FROM_HOST ? through : gpu));
    if (by != FROM_HOST)
        CU(cudaMemcpy(got, dev_stream, nbytes + GUARD, cudaMemcpyDeviceToHost));
    if (by != TOO_SMALL)
        assert_int_equal(n, nbytes);
    for (uint64_t i = 0; i < nbytes && by != TOO_SMALL; i++)
        if (got[i] != stream[i])
            fail_msg("way %d: byte %llu of %llu", by, (unsigned long long)i, (unsigned long long)nbytes);
    for (uint64_t i = room; i < nbytes + GUARD; i++)
        assert_int_equal(got[i], 0xEE);
    CU(cudaFree(dev_stream));
    CU(cudaFree(data));
    free(got);
}

static void compare(const sample *s, uint64_t seed, int way_given)
{
    const uint64_t n = nelems_of(s);
    uint8_t *values = malloc(n * floe_dtype_size(s->dtype));
    char text[128];
    uint64_t state = seed, nbytes;
    floe_params p;
    for (uint64_t i = 0; i < n; i++)
        hostile_put(s->dtype, values, (int64_t)i, hostile_bits(s->dtype, value_of(s, i, &state)));
    snprintf(text, sizeof text, "codec=wavelet %s", s->text);
    assert_int_equal(floe_params_parse(&p, text, NULL), FLOE_OK);
    const floe_field field = floe_field_of(values, s->dtype, s->rank, s->shape);
    const uint64_t room = floe_compress_bound(&field, &p);
    uint8_t *stream = malloc(room);
    assert_int_equal(floe_compress(cpu, &field, &p, stream, room, &nbytes), FLOE_OK);
    if (getenv("FLOE_SAY"))
        fprintf(stderr, "sample %llu: %s, %llu bytes\n", (unsigned long long)seed, text, (unsigned long long)nbytes);
    compress(s, &p, values, stream, nbytes, (way)way_given);
    free(stream);
    free(values);
}

/* Each sample by one way, and the first two by all. Where few are to be made a small one is tried by all. */
static void bytes(void **unused)
{
    (void)unused;
    const char *one = getenv("FLOE_SAMPLE");
    for (size_t k = 0; k < HOSTILE_COUNT(samples); k += (size_t)one_in(7))
        if (one ? k == (size_t)atoi(one) : !is_few() || is_watched() || samples[k].how == OFTEN)
            for (int by = 0; by < WAYS; by++)
                if (by == (int)(k % WAYS) || (!is_watched() && (is_few() ? k == 7 : k < 2)))
                    compare(&samples[k], k, by);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes)};
    return cmocka_run_group_tests(tests, contexts_open, contexts_close);
}
