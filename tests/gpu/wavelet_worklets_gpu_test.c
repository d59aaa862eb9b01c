/* SPDX-License-Identifier: BSD-3-Clause */
/* Lifting by worklets on a GPU has the bits of stage wavelet, and the largest coefficients are those that a sort has first. */
#include "tests/gpu/gpu_kit.h"
#include "tests/wavelet_worklets_kit.h"

static void *take(uint64_t nbytes)
{
    void *p;
    CU(cudaMalloc(&p, nbytes));
    return p;
}
static void give(void *p) { CU(cudaFree(p)); }
static void copy(void *to, const void *from, uint64_t nbytes) { CU(cudaMemcpy(to, from, nbytes, cudaMemcpyDefault)); }

static const kit_place gpu = {.take = take, .give = give, .copy = copy};

static void every_extent(void **unused)
{
    (void)unused;
    kit_every_extent(&gpu, (uint64_t)one_in(11));
}

static void every_rank(void **unused)
{
    (void)unused;
    kit_every_rank(&gpu);
}

static void selects(void **unused)
{
    (void)unused;
    kit_selects(&gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_extent), cmocka_unit_test(every_rank),
                                       cmocka_unit_test(selects)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
