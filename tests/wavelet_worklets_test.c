/* SPDX-License-Identifier: BSD-3-Clause */
/* Lifting by worklets on threads has the bits of stage wavelet, and the largest coefficients are those that a sort has first. */
#include "tests/wavelet_worklets_kit.h"

static void *take(uint64_t nbytes) { return aligned_alloc(256, (nbytes + 255) / 256 * 256); }
static void copy(void *to, const void *from, uint64_t nbytes) { memcpy(to, from, nbytes); }

static void as_stage(void **unused)
{
    (void)unused;
    for (int isa = 0; isa < 2; isa++) {
        floe_cpu cpu;
        if (floe_cpu_init(&cpu, 2, isa ? FLOE_ISA_AUTO : FLOE_ISA_PLAIN, NULL) != FLOE_OK)
            fail();
        const kit_place w = {.prim = {.cpu = &cpu}, .take = take, .give = free, .copy = copy};
        kit_every_extent(&w, 1);
        kit_every_rank(&w);
        kit_selects(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_stage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
