/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels of a stream with data in device memory: they are those of host memory. Where stream and values are in device memory, a GPU decodes
 * chunks that are coded; others are the CPU's. */
#include "tests/gpu/gpu_kit.h"

#include <floe/floe.h>
#include <math.h>

#include "call/ctx.h"
#include "device/device.h"
#include "field/field.h"

enum { CELLS = 80 * 30 * 28 };

static struct {
    uint8_t data[8 * CELLS], level[8 * CELLS], back[8 * CELLS], stream[16 * CELLS];
} of;

typedef struct level_case {
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    const char *params;
    bool on_gpu; /* all of its levels */
    bool jumps;  /* beside which means overshoot, and are cut to the range */
    bool packet; /* smooth along the slowest axis alone */
} level_case;

typedef struct level_call {
    const void *stream;
    uint64_t nbytes;
    uint32_t level;
    floe_field *out;
    bool decided;
} level_call;

static floe_status decode_body(floe_ctx *ctx, void *arg)
{
    level_call *c = arg;
    floe_field out;
    assert_int_equal(floe_field_check(c->out, true, &out, NULL), FLOE_OK);
    return floe_device_decompress(ctx, c->stream, c->nbytes, c->level, NULL, NULL, &out, &c->decided);
}
static floe_status decode(floe_ctx *ctx, void *arg) { return floe_device_enter(ctx, decode_body, arg); }

/* Smooth, with noise, and here and there a value that is none. */
static void make_values(const level_case *c, uint64_t n)
{
    const uint64_t plane = n / c->shape[0];
    const bool holes = strstr(c->params, "fill=") != NULL;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t x = i % c->shape[c->rank - 1], y = i / c->shape[c->rank - 1];
        double v = sin((double)x * 0.2) * 3 + cos((double)y * 0.05) + (double)(i * 7919 % 11) * 0.004;
        v = c->jumps && i % 101 < 3 ? 1000 : v;
        v = c->packet ? sin((double)(i / plane) * 0.2) * (1 + (double)(i % plane * 7919 % 101) * 0.01) : v;
        v = holes && i % 97 < 3 ? -99 : holes && i % 501 == 7 ? NAN : v;
        if (c->dtype == FLOE_F32)
            ((float *)of.data)[i] = (float)v;
        else
            ((double *)of.data)[i] = v;
    }
}

/* A box of the level, into either memory. */
static void check_box(const level_case *c, floe_ctx *cpu, floe_ctx *gpu, uint64_t nbytes, uint32_t level,
                      void *const dev[2])
{
    uint64_t lo[FLOE_MAX_RANK], n[FLOE_MAX_RANK], size = floe_dtype_size(c->dtype);
    for (uint32_t a = 0; a < c->rank; a++) {
        lo[a] = c->shape[a] / 3;
        n[a] = ((c->shape[a] - 1) >> level) + 1 - ((lo[a] + ((uint64_t)1 << level) - 1) >> level);
        size *= n[a];
    }
    const floe_stream_options options = {.size = sizeof options, .lo = lo, .hi = c->shape, .level = level};
    floe_field out = floe_field_of(of.level, c->dtype, c->rank, n), host = floe_field_of(of.back, c->dtype, c->rank, n),
               there = floe_field_of_device(dev[1], c->dtype, c->rank, n);
    assert_int_equal(floe_decompress_with(cpu, of.stream, nbytes, &options, &out), FLOE_OK);
    for (int i = 0; i < 4; i++) { /* stream and values in either memory */
        memset(of.back, 0, size);
        assert_int_equal(
            floe_decompress_with(gpu, i & 1 ? dev[0] : of.stream, nbytes, &options, i & 2 ? &there : &host), FLOE_OK);
        if (i & 2)
            CU(cudaMemcpy(of.back, dev[1], size, cudaMemcpyDeviceToHost));
        assert_memory_equal(of.back, of.level, size);
    }
}

static void check_level(const level_case *c, floe_ctx *cpu, floe_ctx *gpu, uint64_t nbytes, uint32_t level,
                        void *const dev[2])
{
    uint64_t n[FLOE_MAX_RANK], size = floe_dtype_size(c->dtype);
    for (uint32_t a = 0; a < c->rank; a++) {
        n[a] = ((c->shape[a] - 1) >> level) + 1;
        size *= n[a];
    }
    floe_field out = floe_field_of(of.level, c->dtype, c->rank, n), host = floe_field_of(of.back, c->dtype, c->rank, n),
               there = floe_field_of_device(dev[1], c->dtype, c->rank, n);
    level_call call = {dev[0], nbytes, level, &there, false};
    assert_int_equal(floe_decompress_level(cpu, of.stream, nbytes, level, &out), FLOE_OK);
    for (int i = 0; i < 5; i++) { /* stream and values in either memory */
        memset(of.back, 0, size);
        CU(cudaMemset(dev[1], 0, size));
        if (i == 4)
            assert_int_equal(floe_ctx_run(gpu, decode, &call), FLOE_OK);
        else
            assert_int_equal(
                floe_decompress_level(gpu, i & 1 ? dev[0] : of.stream, nbytes, level, i & 2 ? &there : &host), FLOE_OK);
        if (i == 4)
            assert_int_equal(call.decided, c->on_gpu);
        if (i & 6)
            CU(cudaMemcpy(of.back, dev[1], size, cudaMemcpyDeviceToHost));
        if (i < 4 || c->on_gpu)
            assert_memory_equal(of.back, of.level, size);
    }
    check_box(c, cpu, gpu, nbytes, level, dev);
}

/* Of a stream that was cut short a GPU salvages what a CPU does. */
static void check_cut(const level_case *c, floe_ctx *cpu, floe_ctx *gpu, uint64_t nbytes, const void *dev_stream)
{
    const floe_stream_options options = {.size = sizeof options, .salvage = 1};
    const floe_field shape = floe_field_of(NULL, c->dtype, c->rank, c->shape);
    floe_field want = shape, got = shape;
    want.data = of.level, got.data = of.back;
    memset(of.level, 0, sizeof of.level);
    for (uint64_t there = nbytes; there > nbytes / 2; there -= 1 + nbytes / 9) {
        assert_int_equal(floe_decompress_with(cpu, of.stream, there, &options, &want), FLOE_OK);
        for (int k = 0; k < 2; k++) {
            memset(of.back, 0, sizeof of.back);
            assert_int_equal(floe_decompress_with(gpu, k ? dev_stream : of.stream, there, &options, &got), FLOE_OK);
            assert_memory_equal(of.back, of.level, sizeof of.back);
        }
    }
}

static void check_case(const level_case *c, floe_ctx *cpu, floe_ctx *gpu)
{
    floe_field field = floe_field_of(of.data, c->dtype, c->rank, c->shape);
    floe_params params;
    floe_info info = {.size = sizeof info};
    uint64_t nbytes, n;
    void *dev[2];
    assert_int_equal(floe_field_nelems(&field, &n), FLOE_OK);
    assert_true(n <= CELLS);
    make_values(c, n);
    assert_int_equal(floe_params_parse(&params, c->params, NULL), FLOE_OK);
    assert_int_equal(floe_compress(cpu, &field, &params, of.stream, sizeof of.stream, &nbytes), FLOE_OK);
    assert_int_equal(floe_stream_info(of.stream, nbytes, &info, NULL), FLOE_OK);
    assert_true(info.levels > 1);
    CU(cudaMalloc(&dev[0], nbytes));
    CU(cudaMalloc(&dev[1], sizeof of.data));
    CU(cudaMemcpy(dev[0], of.stream, nbytes, cudaMemcpyHostToDevice));
    for (uint32_t level = 1; level <= info.levels; level++)
        check_level(c, cpu, gpu, nbytes, level, dev);
    check_cut(c, cpu, gpu, nbytes, dev[0]);
    if (c->on_gpu) { /* damage is found, and cut streams are left to the CPU, which reports what is wrong */
        floe_field out = floe_field_of_device(dev[1], c->dtype, c->rank, c->shape);
        for (uint32_t a = 0; a < c->rank; a++)
            out.shape[a] = ((c->shape[a] - 1) >> 1) + 1;
        const level_call calls[] = {{dev[0], nbytes, 1, &out, true}, {dev[0], nbytes - 1, 1, &out, true}};
        of.stream[nbytes / 2] ^= 4;
        CU(cudaMemcpy(dev[0], of.stream, nbytes, cudaMemcpyHostToDevice));
        for (int i = 0; i < 2; i++) {
            level_call call = calls[i];
            assert_int_equal(floe_ctx_run(gpu, decode, &call), FLOE_OK);
            assert_false(call.decided);
        }
    }
    CU(cudaFree(dev[0]));
    CU(cudaFree(dev[1]));
}

static void levels_in_device_memory(void **unused)
{
    static const level_case cases[] = {
        {FLOE_F32, 3, {10, 24, 33}, "codec=interp abs=0.01 chunk=10x8x33", true, false, false},
        {FLOE_F32, 3, {20, 30, 40}, "codec=interp abs=0.01 preset=best", true, false, false},
        {FLOE_F64, 2, {101, 77}, "codec=interp rel=1e-3", true, false, false},
        {FLOE_F32, 3, {17, 23, 40}, "codec=interp pwrel=1e-2", true, false, false},
        {FLOE_F64, 3, {17, 23, 40}, "codec=interp rel=1e-6", true, false, false}, /* levels that end early */
        {FLOE_F32, 3, {20, 31, 35}, "codec=interp abs=0.01 fill=-99", true, false, false},
        {FLOE_F64, 4, {5, 9, 17, 20}, "codec=interp abs=0.01", true, false, false},
        {FLOE_F32, 3, {60, 33, 11}, "codec=interp abs=0.01 chunk=36x33x11", true, false, false}, /* turned */
        {FLOE_F32, 3, {60, 33, 11}, "codec=wavelet abs=0.01 chunk=36x33x11", true, false, false},
        {FLOE_F32, 3, {20, 30, 40}, "codec=wavelet abs=0.01", true, false, false},
        {FLOE_F32, 3, {16, 24, 33}, "codec=wavelet abs=0.01 chunk=16x8x33", true, false, false},
        {FLOE_F64, 2, {101, 77}, "codec=wavelet rel=1e-3 preset=best", true, false, false},
        {FLOE_F32, 3, {12, 40, 45}, "codec=wavelet abs=0.01 fill=-99", true, false, false},
        {FLOE_F64, 4, {5, 9, 17, 20}, "codec=wavelet abs=0.01", true, true, false},
        {FLOE_F32, 1, {9001}, "codec=wavelet pwrel=1e-2", true, true, false},
        {FLOE_F32, 3, {80, 30, 28}, "codec=wavelet abs=1e-3", true, false, true},
        {FLOE_F32, 3, {20, 30, 40}, "codec=wavelet rel=1e-4", true, true, false},
        {FLOE_F32, 2, {60, 70}, "codec=wavelet abs=100", true, false, false},   /* nothing but anchors */
        {FLOE_F32, 2, {60, 70}, "codec=wavelet abs=1e-9", false, false, false}, /* raw */
    };
    const floe_ctx_options options = {.size = sizeof options, .backend = FLOE_BACKEND_CUDA};
    floe_ctx *gpu = NULL, *cpu = NULL;
    (void)unused;
    assert_int_equal(floe_ctx_create(&cpu, NULL), FLOE_OK);
    assert_int_equal(floe_ctx_create(&gpu, &options), FLOE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += (size_t)one_in(3))
        check_case(&cases[i], cpu, gpu);
    floe_ctx_free(&gpu);
    floe_ctx_free(&cpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels_in_device_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
