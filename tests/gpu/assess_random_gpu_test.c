/* SPDX-License-Identifier: BSD-3-Clause */
/* Random assessments on a GPU: counts, places and extremes are those of the CPU. */
#include "tests/assess_random_kit.h"
#include "tests/gpu/gpu_kit.h"

static void like_the_cpu(void **state)
{
    static const char *const extremes[] = {"min",         "max",       "range",    "decoded_min",
                                           "decoded_max", "max_error", "min_error"};
    const uint64_t first = random_setting("FLOE_FUZZ_SEED", 1);
    const uint64_t ncases = random_setting("FLOE_FUZZ_CASES", is_small() ? 30 : 100);
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = NULL;
    const floe_ctx_options options = {.size = sizeof options, .backend = FLOE_BACKEND_CUDA};
    assert_int_equal(floe_ctx_create(&gpu, &options), FLOE_OK);
    printf("FLOE_FUZZ_SEED=%llu FLOE_FUZZ_CASES=%llu\n", (unsigned long long)first, (unsigned long long)ncases);
    for (uint64_t seed = first; seed - first < ncases; seed++) {
        random_case c = random_case_make(seed);
        floe_assess_report want = {.size = sizeof want}, got = {.size = sizeof got};
        const floe_status status = floe_assess(cpu, &c.field[0], &c.field[1], &c.options, &want);
        random_same(&c, floe_assess(gpu, &c.field[0], &c.field[1], &c.options, &got) == status, "status");
        if (status == FLOE_OK)
            random_same_counts(&c, &got, &want);
        for (size_t i = 0; status == FLOE_OK && i < KIT_COUNT(extremes); i++) {
            uint32_t number;
            assert_int_equal(floe_metric_find(extremes[i], &number), FLOE_OK);
            const double g = floe_metric_value(&got, number), w = floe_metric_value(&want, number);
            random_same(&c, random_same_doubles(&g, &w, 1), extremes[i]);
        }
        random_case_free(&c);
    }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(like_the_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
