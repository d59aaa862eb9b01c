/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of stage huffman on a GPU: the same counts, words, values and verdicts as on the CPU. */
#include "tests/gpu/gpu_kit.h"
#include "tests/gpu/huffman_tile_trial.h"

static void try_all(const char *(*trial)(uint64_t seed), uint64_t count)
{
    for (uint64_t seed = 1; seed <= count; seed += (uint64_t)one_in(6)) {
        const char *what = trial(seed);
        if (what)
            fail_msg("seed %u: %s", (unsigned)seed, what);
    }
}

static void tiles_of_f32_are_as_on_the_cpu(void **state)
{
    (void)state;
    try_all(floe_huffman_trial_f32, 40);
}

static void tiles_of_f64_are_as_on_the_cpu(void **state)
{
    (void)state;
    try_all(floe_huffman_trial_f64, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_of_f32_are_as_on_the_cpu),
        cmocka_unit_test(tiles_of_f64_are_as_on_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
