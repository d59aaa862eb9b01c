/* SPDX-License-Identifier: BSD-3-Clause */
/* Drafts and histogram of a chunk of few tiles, made by one kernel, against the CPU's, and what was met. */
#include "backend/limits_cuda.h"
#include "codec/lorenzo/gpu/huffman/lorenzo_draft_few.h"
#include "tests/gpu/lorenzo_encode_gpu_kit.h"

static void run_drafts(encoding *e)
{
    CU(floe_lorenzo_draft_few_cuda(&e->call, NULL));
    CU(cudaDeviceSynchronize());
}

/* The call as begin leaves it. lossy: a second attempt may follow, which is coded bit for bit. */
static void check_few(const sample *c, bool lossy)
{
    const floe_dev_params params = {.bits.kind = FLOE_QUANTIZER_BITS};
    field f;
    encoding e;
    begin(c, &f, &e);
    e.call.huffman = true;
    e.call.lossy = lossy;
    e.call.params = lossy ? dev_copy(&params, sizeof params) : NULL;
    if (c->dtype == FLOE_F32 && f.grid.nchunks == 1) {
        run_drafts(&e);
        assert_int_equal(status_of(&e), FLOE_OK);
        compare_drafts(c, &f, &e, 0);
        compare_met(&f, &e, 0);
    } else {
        assert_false(floe_lorenzo_drafts_are_few(&e.call));
    }
    CU(cudaFree((void *)(uintptr_t)e.call.params));
    end_encoding(&f, &e);
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

static void same_drafts_of_few_tiles(void **state)
{
    (void)state;
    for (int i = 0; i < NSAMPLES; i++)
        check_few(&samples[i], i % 2);
}

/* More tiles than blocks. */
static void few_tiles_in_two_rounds(void **state)
{
    (void)state;
    const sample c = {"turbulence", F32, 3, {2, 2, 32 * 540}, {0}, ABS = 1e-3, .dirty = 1000};
    check_few(&c, true);
}

/* So many literals that all is drafted again bit for bit, and only that is counted. */
static void few_tiles_again(void **state)
{
    (void)state;
    const sample again[] = {
        {"turbulence", F32, 3, {33, 50, 100}, {0}, ABS = 1e-9},
        {"turbulence", F32, 2, {130, 257}, {0}, ABS = 1e-9},
        {"turbulence", F32, 3, {2, 2, 32 * 540}, {0}, ABS = 1e-9},
    };
    for (int i = 0; i < 3; i++) {
        const sample *c = &again[i];
        field f;
        encoding e;
        begin(c, &f, &e);
        const floe_dev_params params = {.bits = e.chunks[0].quantizer};
        floe_dev_chunk first = e.chunks[0];
        assert_int_equal(params.bits.kind, FLOE_QUANTIZER_BITS);
        floe_quantizer_init(&first.quantizer, FLOE_QUANTIZER_LINEAR, c->dtype, f.params.bound, f.params.max_abs, false,
                            0);
        CU(cudaMemcpy(e.call.chunks, &first, sizeof first, cudaMemcpyHostToDevice));
        e.call.params = dev_copy(&params, sizeof params);
        e.call.huffman = e.call.lossy = true;
        run_drafts(&e);
        assert_int_equal(status_of(&e), FLOE_OK);
        compare_drafts(c, &f, &e, 0);
        compare_met(&f, &e, 1);
        floe_dev_chunk *chunk = host_copy(e.call.chunks, sizeof *chunk);
        assert_int_equal(chunk->attempt, 1);
        assert_int_equal(chunk->quantizer.kind, FLOE_QUANTIZER_BITS);
        free(chunk);
        CU(cudaFree((void *)(uintptr_t)e.call.params));
        end_encoding(&f, &e);
    }
}

/* As many tiles as are few, and some more. */
static void as_many_as_are_few(void **state)
{
    (void)state;
    const uint32_t have = floe_gpu_limits_cuda().processors,
                   most = have < FLOE_FEW_PROCESSORS ? have : FLOE_FEW_PROCESSORS;
    floe_lorenzo_encode_call call = {
        .field.dtype = FLOE_F32, .grid = {.nchunks = 1, .slots = 8 * most}, .huffman = true};
    assert_true(floe_lorenzo_drafts_are_few(&call));
    call.grid.slots += FLOE_BATCH_TILES;
    assert_false(floe_lorenzo_drafts_are_few(&call));
    call.grid.slots = FLOE_BATCH_TILES;
    call.field.dtype = FLOE_F64;
    assert_false(floe_lorenzo_drafts_are_few(&call));
    call.field.dtype = FLOE_F32;
    call.grid.nchunks = 2;
    assert_false(floe_lorenzo_drafts_are_few(&call));
}

static void nothing_after_an_error(void **state)
{
    (void)state;
    const sample c = {"turbulence", F32, 2, {60, 100}, {0}, ABS = 1e-3};
    const uint32_t failed = FLOE_ERR_FORMAT;
    field f;
    encoding e;
    begin(&c, &f, &e);
    e.call.huffman = true;
    CU(cudaMemcpy(e.call.status, &failed, sizeof failed, cudaMemcpyHostToDevice));
    run_drafts(&e);
    assert_int_equal(status_of(&e), failed);
    uint32_t *nwords = host_copy(e.call.draft_nwords, sizeof *nwords);
    assert_int_equal(*nwords, 0x01010101u * DIRT);
    free(nwords);
    end_encoding(&f, &e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_drafts_of_few_tiles), cmocka_unit_test(few_tiles_in_two_rounds),
        cmocka_unit_test(few_tiles_again),          cmocka_unit_test(as_many_as_are_few),
        cmocka_unit_test(nothing_after_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
