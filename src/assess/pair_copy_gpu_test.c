/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of the host on the GPU: every value in its place, whatever the strides, over more than one stage. */
#include "tests/assess_kit.h"

#include <cuda_runtime_api.h>

#include "assess/pair_copy.h"
#include "assess/pair_read.h"

static floe_pair pair_of(const kit_pair *p, bool alone)
{
    const uint32_t skip = FLOE_MAX_RANK - p->field->rank;
    floe_pair pair = {.original = p->field[0].data, .dtype = p->field->dtype, .rank = p->field->rank};
    pair.decoded = alone ? NULL : p->field[1].data;
    for (uint32_t i = 0; i < FLOE_MAX_RANK; i++) {
        pair.shape[i] = i < skip ? 1 : p->field->shape[i - skip];
        pair.original_stride[i] = i < skip ? 0 : p->field[0].stride[i - skip];
        pair.decoded_stride[i] = i < skip ? 0 : p->field[1].stride[i - skip];
    }
    return pair;
}

static void check_side(const void *dev, const double *want, uint64_t n, floe_dtype dtype)
{
    const size_t size = floe_dtype_size(dtype);
    uint8_t *got = malloc(n * size);
    assert_non_null(got);
    assert_int_equal(cudaMemcpy(got, dev, n * size, cudaMemcpyDeviceToHost), cudaSuccess);
    for (uint64_t i = 0; i < n; i++) {
        const double v = dtype == FLOE_F32 ? (double)((float *)got)[i] : ((double *)got)[i];
        if (v != want[i])
            fail_msg("value %llu is %g, not %g", (unsigned long long)i, v, want[i]);
    }
    free(got);
}

static void check(floe_cuda *cuda, floe_dtype dtype, bool strided, bool alone, uint64_t rows)
{
    kit_pair p = kit_pair_make(PAIR_SMOOTH, dtype, 2, (uint64_t[]){rows, 1001}, strided, 7);
    floe_pair host = pair_of(&p, alone), copy;
    floe_arena plan = floe_arena_plan(), arena;
    if (!strided)
        host.original_stride[2] = host.decoded_stride[2] = 1001, host.original_stride[3] = host.decoded_stride[3] = 1;
    void *stage = malloc(floe_pair_stage_nbytes(&host) + 1);
    floe_pair_copy_of(&host, &copy);
    assert_true(floe_pair_is_dense(&copy) && copy.place == FLOE_DEVICE);
    assert_int_equal(floe_pair_stage_nbytes(&host) == 0, !strided);
    floe_pair_copy_take(&copy, &plan);
    assert_non_null(copy.original);
    assert_int_equal(floe_cuda_workspace(cuda, &plan, 0, &arena, NULL), FLOE_OK);
    floe_pair_copy_take(&copy, &arena);
    assert_int_equal(floe_pair_copy(cuda, &host, &copy, stage, NULL), FLOE_OK);
    assert_int_equal(floe_cuda_wait(cuda, NULL), FLOE_OK);
    check_side(copy.original, p.value[0], p.nelems, dtype);
    if (alone)
        assert_null(copy.decoded);
    else
        check_side(copy.decoded, p.value[1], p.nelems, dtype);
    free(stage);
    kit_pair_free(&p);
}

static void copies(void **state)
{
    (void)state;
    floe_cuda cuda;
    assert_int_equal(floe_cuda_open(&cuda, -1, NULL, NULL, 0, NULL), FLOE_OK);
    for (int kind = 0; kind < 8; kind++)
        check(&cuda, kind & 1 ? FLOE_F32 : FLOE_F64, kind & 2, kind & 4, 30);
    check(&cuda, FLOE_F32, true, false, 2100); /* 2 M values and some more */
    floe_cuda_close(&cuda);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
