/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/io.h"

/* Room is writable to its last byte, wherever it lies, and can be given back twice. */
static void holds_what_is_written(void **state)
{
    (void)state;
    const uint64_t sizes[] = {1, 4095, 4096, 4097, 3 << 20};
    for (int in_file = 0; in_file < 2; in_file++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            io_memory memory;
            floe_error err = {0};
            assert_int_equal(io_memory_take(&memory, sizes[i], in_file, &err), FLOE_OK);
            assert_int_equal((uintptr_t)memory.data % 8, 0);
            unsigned char *bytes = memory.data;
            for (uint64_t k = 0; k < sizes[i]; k++)
                bytes[k] = (unsigned char)(k * 7);
            for (uint64_t k = 0; k < sizes[i]; k++)
                assert_int_equal(bytes[k], (unsigned char)(k * 7));
            io_memory_free(&memory);
            assert_null(memory.data);
            io_memory_free(&memory);
        }
}

static void nothing_is_something(void **state)
{
    (void)state;
    for (int in_file = 0; in_file < 2; in_file++) {
        io_memory memory;
        assert_int_equal(io_memory_take(&memory, 0, in_file, NULL), FLOE_OK);
        assert_non_null(memory.data);
        io_memory_free(&memory);
    }
}

/* A size that no machine has, and a folder that is not there. */
static void fails_with_a_message(void **state)
{
    (void)state;
    for (int in_file = 0; in_file < 2; in_file++) {
        io_memory memory;
        floe_error err = {0};
        assert_int_equal(io_memory_take(&memory, UINT64_MAX, in_file, &err), FLOE_ERR_MEMORY);
        assert_non_null(strstr(err.message, "18446744073709551615 bytes"));
        io_memory_free(&memory);
    }
    io_memory memory;
    floe_error err = {0};
    assert_int_equal(setenv("TMPDIR", "/nonexistent", 1), 0);
    assert_int_equal(io_memory_take(&memory, 100, true, &err), FLOE_ERR_IO);
    assert_non_null(strstr(err.message, "/nonexistent"));
    io_memory_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_what_is_written),
        cmocka_unit_test(nothing_is_something),
        cmocka_unit_test(fails_with_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
