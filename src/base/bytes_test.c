/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads and stores, checked sizes and cursors at their limits; the arena. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/try.h"

static void loads_and_stores_are_little_endian(void **state)
{
    (void)state;
    uint8_t b[8];
    floe_store64(b, 0x0807060504030201u);
    for (uint8_t i = 0; i < 8; i++)
        assert_int_equal(b[i], i + 1);
    assert_int_equal(floe_load64(b), 0x0807060504030201u);
    assert_int_equal(floe_load32(b + 1), 0x05040302u);
    assert_int_equal(floe_load16(b + 6), 0x0807u);
}

static void sizes_are_checked_at_the_limit(void **state)
{
    (void)state;
    uint64_t v = 7;
    assert_true(floe_mul64(UINT64_MAX, 1, &v) && v == UINT64_MAX);
    assert_true(floe_mul64(0, UINT64_MAX, &v) && v == 0);
    assert_true(floe_mul64((uint64_t)1 << 32, ((uint64_t)1 << 32) - 1, &v));
    assert_false(floe_mul64((uint64_t)1 << 32, (uint64_t)1 << 32, &v));
    assert_false(floe_mul64(UINT64_MAX, 2, &v));
    assert_true(floe_add64(UINT64_MAX - 1, 1, &v) && v == UINT64_MAX);
    assert_false(floe_add64(UINT64_MAX, 1, &v));
    assert_int_equal(floe_ceil_div(UINT64_MAX, 2), (uint64_t)1 << 63);
    assert_int_equal(floe_ceil_div(0, 5), 0);
}

static void reader_stops_at_the_end_and_stays_bad(void **state)
{
    (void)state;
    uint8_t b[7] = {1, 2, 3, 4, 5, 6, 7};
    floe_reader r = floe_reader_of(b, sizeof b);
    assert_int_equal(floe_read32(&r), 0x04030201u);
    assert_int_equal(floe_read32(&r), 0);
    assert_true(r.bad);
    assert_int_equal(floe_read8(&r), 0); /* bytes are left, but a bad reader gives none */
    floe_reader whole = floe_reader_of(b, sizeof b);
    assert_null(floe_read_bytes(&whole, UINT64_MAX));
    floe_reader exact = floe_reader_of(b, sizeof b);
    assert_ptr_equal(floe_read_bytes(&exact, sizeof b), b);
    assert_int_equal(floe_reader_left(&exact), 0);
    assert_false(exact.bad);
    floe_reader none = floe_reader_of(NULL, 0);
    assert_int_equal(floe_read8(&none), 0);
    assert_true(none.bad);
}

static void cursor_never_writes_past_the_end(void **state)
{
    (void)state;
    uint8_t b[8] = {0};
    floe_cursor c = floe_cursor_of(b, 6);
    floe_write32(&c, 0xFFFFFFFFu);
    floe_write32(&c, 0xFFFFFFFFu);
    assert_true(c.bad);
    floe_write8(&c, 0xFF);
    assert_int_equal(floe_load64(b), 0xFFFFFFFFu);
}

static void arena_plans_what_it_takes(void **state)
{
    (void)state;
    floe_arena plan = floe_arena_plan();
    assert_null(floe_arena_take(&plan, 3, 7));
    assert_null(floe_arena_take(&plan, 65, 1));
    assert_int_equal(plan.used, 64 + 128);
    uint8_t *base = aligned_alloc(64, plan.used);
    floe_arena a = floe_arena_of(base, plan.used);
    assert_ptr_equal(floe_arena_take(&a, 3, 7), base);
    assert_ptr_equal(floe_arena_take(&a, 65, 1), base + 64);
    assert_false(a.overflow);
    assert_null(floe_arena_take(&a, 1, 1));
    assert_true(a.overflow);
    free(base);
    floe_arena big = floe_arena_plan();
    floe_arena_take(&big, UINT64_MAX, 8);
    assert_true(big.overflow);
}

static void statuses_have_texts_and_exit_codes(void **state)
{
    (void)state;
    floe_error err = {0};
    assert_int_equal(floe_fail(&err, FLOE_ERR_LIMIT, "%d of %s", 3, "4"), FLOE_ERR_LIMIT);
    assert_int_equal(err.status, FLOE_ERR_LIMIT);
    assert_string_equal(err.message, "3 of 4");
    assert_int_equal(floe_fail(NULL, FLOE_ERR_IO, "%d", 1), FLOE_ERR_IO);
    static const int codes[][2] = {{FLOE_OK, 0},           {FLOE_ERR_ARGUMENT, 2},
                                   {FLOE_ERR_FORMAT, 3},   {FLOE_ERR_BOUND, 4},
                                   {FLOE_ERR_IO, 5},       {FLOE_ERR_DEVICE, 6},
                                   {FLOE_ERR_MEMORY, 6},   {FLOE_ERR_CAPACITY, 2},
                                   {FLOE_ERR_LIMIT, 3},    {FLOE_ERR_VERSION, 3},
                                   {FLOE_ERR_CHECKSUM, 3}, {FLOE_ERR_UNSUPPORTED, 2},
                                   {FLOE_ERR_INTERNAL, 6}, {-1, 2}};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        assert_int_equal(floe_status_exit_code((floe_status)codes[i][0]), codes[i][1]);
        assert_non_null(floe_status_text((floe_status)codes[i][0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores_are_little_endian),
        cmocka_unit_test(sizes_are_checked_at_the_limit),
        cmocka_unit_test(reader_stops_at_the_end_and_stays_bad),
        cmocka_unit_test(cursor_never_writes_past_the_end),
        cmocka_unit_test(arena_plans_what_it_takes),
        cmocka_unit_test(statuses_have_texts_and_exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
