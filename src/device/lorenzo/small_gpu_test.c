/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding a chunk of few tiles on a GPU, by one kernel, against the CPU: records byte for byte, and statistics. */
#include "backend/limits_cuda.h"
#include "codec/lorenzo/gpu/lorenzo_cuda.h"
#include "device/lorenzo/lorenzo_fused_cuda.h"
#include "tests/gpu/lorenzo_encode_gpu_kit.h"

static void run_small(encoding *e)
{
    assert_true(floe_lorenzo_is_small(&e->call));
    assert_false(floe_lorenzo_ends_with_attempt(&e->call)); /* or what follows would begin before it has ended */
    const floe_small_job job = {.call = e->call};
    CU(floe_small_cuda(&job, NULL, NULL));
    CU(cudaDeviceSynchronize());
}

static uint32_t processors(void)
{
    const uint32_t n = floe_gpu_limits_cuda().processors;
    return n < FLOE_SMALL_PROCESSORS ? n : (uint32_t)FLOE_SMALL_PROCESSORS;
}

static void check_small(const sample *c)
{
    field f;
    encoding e;
    begin(c, &f, &e);
    if (c->dtype == FLOE_F32 && f.grid.nchunks == 1 && f.grid.slots <= 8 * processors()) {
        run_small(&e);
        assert_int_equal(status_of(&e), FLOE_OK);
        compare_records(c, &f, &e);
        compare_stats(&f, &e, 0);
    } else {
        assert_false(floe_lorenzo_is_small(&e.call));
    }
    end_encoding(&f, &e);
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

static void same_records_from_small_tiles(void **state)
{
    (void)state;
    for (int i = 0; i < NSAMPLES; i++)
        check_small(&samples[i]);
}

/* More tiles than blocks. */
static void few_tiles_in_two_rounds(void **state)
{
    (void)state;
    const sample c = {"turbulence", F32, 3, {2, 2, 32 * 540}, {0}, ABS = 1e-3, .dirty = 1000};
    check_small(&c);
}

/* So many literals that all is done again bit for bit, within the same kernel. */
static void few_tiles_again(void **state)
{
    (void)state;
    const sample again[] = {
        {"turbulence", F32, 3, {33, 50, 100}, {0}, ABS = 1e-9},
        {"turbulence", F32, 2, {130, 257}, {0}, ABS = 1e-9},
    };
    for (int i = 0; i < 2; i++) {
        const sample *c = &again[i];
        field f;
        encoding e;
        begin(c, &f, &e);
        floe_dev_params params = {.bits = e.chunks[0].quantizer};
        floe_dev_chunk first = e.chunks[0];
        assert_int_equal(params.bits.kind, FLOE_QUANTIZER_BITS);
        floe_quantizer_init(&first.quantizer, c->mode == FLOE_BOUND_PWREL ? FLOE_QUANTIZER_LOG : FLOE_QUANTIZER_LINEAR,
                            c->dtype, f.params.bound, f.params.max_abs, false, 0);
        CU(cudaMemcpy(e.call.chunks, &first, sizeof first, cudaMemcpyHostToDevice));
        e.call.params = dev_copy(&params, sizeof params);
        e.call.lossy = true;
        run_small(&e);
        assert_int_equal(status_of(&e), FLOE_OK);
        compare_records(c, &f, &e);
        compare_stats(&f, &e, 1);
        floe_dev_chunk *chunk = host_copy(e.call.chunks, sizeof *chunk);
        assert_int_equal(chunk->attempt, 1);
        free(chunk);
        CU(cudaFree((void *)(uintptr_t)e.call.params));
        end_encoding(&f, &e);
    }
}

/* As many tiles as are few, and some more. */
static void as_many_as_are_small(void **state)
{
    (void)state;
    floe_lorenzo_encode_call call = {.field.dtype = FLOE_F32, .grid = {.nchunks = 1, .slots = 8 * processors()}};
    assert_true(floe_lorenzo_is_small(&call));
    call.grid.slots += FLOE_BATCH_TILES;
    assert_false(floe_lorenzo_is_small(&call));
    call.grid.slots = FLOE_BATCH_TILES;
    call.field.dtype = FLOE_F64;
    assert_false(floe_lorenzo_is_small(&call));
    call.field.dtype = FLOE_F32;
    call.huffman = true;
    assert_false(floe_lorenzo_is_small(&call));
}

static void run_small_lossy(encoding *e)
{
    const floe_dev_params params = {.bits.kind = FLOE_QUANTIZER_BITS};
    e->call.lossy = true;
    e->call.params = dev_copy(&params, sizeof params);
    run_small(e);
    CU(cudaFree((void *)(uintptr_t)e->call.params));
}

static void one_byte_too_small(void **state)
{
    (void)state;
    const sample c = {"turbulence", F32, 3, {33, 50, 100}, {0}, ABS = 1e-3};
    check_room(&c, run_small_lossy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_records_from_small_tiles),
        cmocka_unit_test(few_tiles_in_two_rounds),
        cmocka_unit_test(few_tiles_again),
        cmocka_unit_test(as_many_as_are_small),
        cmocka_unit_test(one_byte_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
