/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks on a GPU against the CPU: bits of all places of random fields. FLOE_GPU_TEST=small: fewer of them. */
#include "tests/gpu/gpu_kit.h"

#include "field/look.h"
#include "field/look_cuda.h"
#include "tests/look_kit.h"

enum { SAMPLES = 400, SAMPLES_FEW = 40 };

static void bits_are_the_cpus(void **unused)
{
    uint64_t state = 9, *values = malloc(LOOK_CELLS * sizeof *values);
    uint64_t *dev_bits, bits[FLOE_LOOK_PLACES], expected[FLOE_LOOK_PLACES];
    uint32_t *status;
    void *dev_values;
    floe_cpu cpu;
    (void)unused;
    assert_int_equal(floe_cpu_init(&cpu, 1, FLOE_ISA_AUTO, NULL), FLOE_OK);
    CU(cudaMalloc(&dev_values, LOOK_CELLS * sizeof *values));
    CU(cudaMalloc((void **)&dev_bits, sizeof bits));
    CU(cudaMalloc((void **)&status, sizeof *status));
    CU(cudaMemset(status, 0, sizeof *status));
    for (int i = 0; i < (is_few() ? SAMPLES_FEW : SAMPLES); i++) {
        floe_look l = look_random(&state, values);
        floe_look_all(&cpu, &l, expected);
        CU(cudaMemcpy(dev_values, values, LOOK_CELLS * sizeof *values, cudaMemcpyHostToDevice));
        l.data = dev_values;
        CU((cudaError_t)floe_look_cuda(&l, i % 2 ? status : NULL, dev_bits, NULL));
        CU(cudaMemcpy(bits, dev_bits, floe_look_nplaces(&l) * sizeof *bits, cudaMemcpyDeviceToHost));
        assert_memory_equal(bits, expected, floe_look_nplaces(&l) * sizeof *bits);
    }
    CU(cudaFree(dev_values));
    CU(cudaFree(dev_bits));
    CU(cudaFree(status));
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_are_the_cpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
