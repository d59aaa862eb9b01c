/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding on a GPU against the CPU: records, entries, tiles, drafts and histograms byte for byte, and statistics. */
#include "tests/gpu/lorenzo_encode_gpu_kit.h"

static void run(encoding *e, uint32_t attempt)
{
    CU(floe_lorenzo_encode_cuda(&e->call, attempt, NULL));
    CU(cudaDeviceSynchronize());
}

static void run_first(encoding *e) { run(e, 0); }

static void check_fast(const sample *c)
{
    field f;
    encoding e;
    begin(c, &f, &e);
    run_first(&e);
    assert_int_equal(status_of(&e), FLOE_OK);
    compare_records(c, &f, &e);
    compare_stats(&f, &e, 0);
    end_encoding(&f, &e);
}

static void check_drafts(const sample *c)
{
    field f;
    encoding e;
    begin(c, &f, &e);
    e.call.huffman = true;
    run_first(&e);
    assert_int_equal(status_of(&e), FLOE_OK);
    for (uint64_t k = 0; k < f.grid.nchunks; k++)
        compare_drafts(c, &f, &e, k);
    compare_stats(&f, &e, 0);
    end_encoding(&f, &e);
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

static void same_records_as_the_cpu(void **state)
{
    (void)state;
    for (int i = 0; i < NSAMPLES; i++)
        check_fast(&samples[i]);
}

static void same_drafts_as_the_cpu(void **state)
{
    (void)state;
    for (int i = 0; i < NSAMPLES; i++)
        check_drafts(&samples[i]);
}

static void one_byte_too_small(void **state)
{
    (void)state;
    const sample c = {"turbulence", F32, 3, {33, 50, 100}, {16, 50, 100}, ABS = 1e-3};
    check_room(&c, run_first);
}

/* A second attempt does nothing unless it is requested; then it does all again. */
static void second_attempt(void **state)
{
    (void)state;
    const sample c = {"turbulence", F32, 3, {33, 50, 100}, {16, 50, 100}, ABS = 1e-3, .dirty = 400};
    for (uint32_t retry = 0; retry < 2; retry++) {
        field f;
        encoding e;
        begin(&c, &f, &e);
        CU(cudaMemcpy(e.call.retry, &retry, sizeof retry, cudaMemcpyHostToDevice));
        run(&e, 1);
        if (retry) {
            compare_records(&c, &f, &e);
            compare_stats(&f, &e, 1);
        } else {
            compare_untouched(&e, 0, e.call.capacity);
        }
        end_encoding(&f, &e);
    }
}

/* Chunks that are begun to be quantized, of which too little will be kept. */
static void begin_badly(const sample *c, field *f, encoding *e)
{
    begin(c, f, e);
    const floe_dev_params params = {.bits = e->chunks[0].quantizer};
    assert_int_equal(params.bits.kind, FLOE_QUANTIZER_BITS);
    floe_dev_chunk *chunks = host_copy(e->call.chunks, f->grid.nchunks * sizeof *chunks);
    for (uint64_t k = 0; k < f->grid.nchunks; k++)
        floe_quantizer_init(&chunks[k].quantizer, FLOE_QUANTIZER_LINEAR, c->dtype, f->params.bound, f->params.max_abs,
                            false, 0);
    CU(cudaMemcpy(e->call.chunks, chunks, f->grid.nchunks * sizeof *chunks, cudaMemcpyHostToDevice));
    free(chunks);
    e->call.params = dev_copy(&params, sizeof params);
    e->call.lossy = true;
}

/* The first attempt finds out that there has to be a second one, and only that one whether there is room. */
static void first_attempt_decides(void **state)
{
    (void)state;
    const sample c = {"turbulence", F32, 3, {33, 50, 100}, {0}, ABS = 1e-9};
    for (int fits = 0; fits < 2; fits++) {
        field f;
        encoding e;
        uint32_t retry = 0;
        begin_badly(&c, &f, &e);
        e.call.capacity -= fits ? 0 : 8;
        run_first(&e);
        assert_int_equal(status_of(&e), FLOE_OK);
        CU(cudaMemcpy(&retry, e.call.retry, sizeof retry, cudaMemcpyDeviceToHost));
        assert_int_equal(retry, 1);
        run(&e, 1);
        assert_int_equal(status_of(&e), fits ? FLOE_OK : FLOE_ERR_CAPACITY);
        if (fits) {
            compare_records(&c, &f, &e);
            compare_stats(&f, &e, 1);
        }
        floe_dev_chunk *chunks = host_copy(e.call.chunks, f.grid.nchunks * sizeof *chunks);
        for (uint64_t k = 0; k < f.grid.nchunks; k++)
            assert_int_equal(chunks[k].attempt, 1);
        free(chunks);
        CU(cudaFree((void *)(uintptr_t)e.call.params));
        end_encoding(&f, &e);
    }
}

/* Where enough is kept the first attempt is all there is. */
static void first_attempt_suffices(void **state)
{
    (void)state;
    const sample c = {"turbulence", F32, 3, {33, 50, 100}, {16, 50, 100}, ABS = 1e-3, .dirty = 400};
    for (int fits = 0; fits < 2; fits++) {
        field f;
        encoding e;
        uint32_t retry = 0;
        begin(&c, &f, &e);
        e.call.lossy = true;
        e.call.capacity -= fits ? 0 : 8;
        run_first(&e);
        assert_int_equal(status_of(&e), fits ? FLOE_OK : FLOE_ERR_CAPACITY);
        CU(cudaMemcpy(&retry, e.call.retry, sizeof retry, cudaMemcpyDeviceToHost));
        assert_int_equal(retry, 0);
        end_encoding(&f, &e);
    }
}

static void nothing_after_an_error(void **state)
{
    (void)state;
    const sample c = {"turbulence", F32, 2, {60, 100}, {0}, ABS = 1e-3};
    const uint32_t failed = FLOE_ERR_FORMAT;
    field f;
    encoding e;
    begin(&c, &f, &e);
    CU(cudaMemcpy(e.call.status, &failed, sizeof failed, cudaMemcpyHostToDevice));
    run_first(&e);
    assert_int_equal(status_of(&e), failed);
    compare_untouched(&e, 0, e.call.capacity);
    end_encoding(&f, &e);
}

/* Short chunks at the border may need more tiles than full ones: components. */
static void slots_suffice(void **state)
{
    (void)state;
    const uint64_t full[3] = {16, 16, 64}, border[3] = {16, 16, 5};
    floe_view view;
    assert_true(floe_view_of(3, border, false, &view));
    assert_true(view.ntiles == 5 && floe_lorenzo_slots(3, full) >= 5);
    assert_int_equal(floe_lorenzo_slots(3, full) % FLOE_BATCH_TILES, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_records_as_the_cpu), cmocka_unit_test(same_drafts_as_the_cpu),
        cmocka_unit_test(one_byte_too_small),      cmocka_unit_test(second_attempt),
        cmocka_unit_test(first_attempt_decides),   cmocka_unit_test(first_attempt_suffices),
        cmocka_unit_test(nothing_after_an_error),  cmocka_unit_test(slots_suffice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
