/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels of a stream with data in device memory: the CPU decodes them, and they are those of host memory. */
#include "tests/gpu/gpu_kit.h"

#include <floe/floe.h>

enum { NZ = 10, NY = 24, NX = 33, CELLS = NZ * NY * NX };

static void levels_in_device_memory(void **unused)
{
    static const uint64_t shape[] = {NZ, NY, NX};
    static float data[CELLS], level[CELLS], back[CELLS];
    static uint8_t stream[8 * CELLS];
    const floe_ctx_options options = {.size = sizeof options, .backend = FLOE_BACKEND_CUDA};
    const floe_field field = floe_field_of(data, FLOE_F32, 3, shape);
    floe_ctx *ctx = NULL, *cpu = NULL;
    floe_params params;
    uint64_t nbytes;
    void *dev_stream, *dev_out;
    (void)unused;
    for (int i = 0; i < CELLS; i++)
        data[i] = (float)(i % NX * (i / NX % NY)) * 0.1f + (float)(i * 7919 % 11) * 0.01f;
    assert_int_equal(floe_params_parse(&params, "codec=interp abs=0.01 chunk=10x8x33", NULL), FLOE_OK);
    assert_int_equal(floe_ctx_create(&cpu, NULL), FLOE_OK);
    assert_int_equal(floe_compress(cpu, &field, &params, stream, sizeof stream, &nbytes), FLOE_OK);
    assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
    CU(cudaMalloc(&dev_stream, nbytes));
    CU(cudaMalloc(&dev_out, sizeof data));
    CU(cudaMemcpy(dev_stream, stream, nbytes, cudaMemcpyHostToDevice));
    for (uint32_t k = 1; k <= 3; k++) {
        const uint64_t n[] = {((NZ - 1) >> k) + 1, ((NY - 1) >> k) + 1, ((NX - 1) >> k) + 1};
        const size_t size = n[0] * n[1] * n[2] * sizeof(float);
        floe_field out = floe_field_of(level, FLOE_F32, 3, n), host = floe_field_of(back, FLOE_F32, 3, n);
        floe_field dev = floe_field_of_device(dev_out, FLOE_F32, 3, n);
        assert_int_equal(floe_decompress_level(cpu, stream, nbytes, k, &out), FLOE_OK);
        for (int i = 0; i < 4; i++) { /* stream and values in either memory */
            memset(back, 0, size);
            assert_int_equal(floe_decompress_level(ctx, i & 1 ? dev_stream : stream, nbytes, k, i & 2 ? &dev : &host),
                             FLOE_OK);
            if (i & 2)
                CU(cudaMemcpy(back, dev_out, size, cudaMemcpyDeviceToHost));
            assert_memory_equal(back, level, size);
        }
    }
    CU(cudaFree(dev_stream));
    CU(cudaFree(dev_out));
    floe_ctx_free(&ctx);
    floe_ctx_free(&cpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels_in_device_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
