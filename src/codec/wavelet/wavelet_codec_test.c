/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec wavelet: what tests/lattice_kit.h tries. */
#define LATTICE_CODEC FLOE_CODEC_WAVELET
enum { LATTICE_SHAPES = 200, LATTICE_LARGE = 2 };
#include "tests/lattice_kit.h"

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_of_every_rank), cmocka_unit_test(large_shapes),
                                       cmocka_unit_test(kinds_and_modes), cmocka_unit_test(squared_errors),
                                       cmocka_unit_test(damaged_chunks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
