/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse of the public calls on the CPU. */
#include "tests/misuse_rows_kit.h"

static void copy(void *to, const void *from, size_t nbytes) { memcpy(to, from, nbytes); }

static void misuse(void **state)
{
    (void)state;
    the.arena[FLOE_HOST] = aligned_alloc(256, ARENA);
    misuse_open(FLOE_BACKEND_AUTO, copy);
    misuse_rows();
    free(the.arena[FLOE_HOST]);
    misuse_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(misuse)};
    setenv("CUDA_VISIBLE_DEVICES", "", 1); /* a machine without a GPU */
    setenv("FLOE_EMULATED_DEVICES", "0", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
