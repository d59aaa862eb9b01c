/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of shapes and strides at their limits; boxes, rows and copies against the plain definition. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field/field.h"

static uint64_t seed = 7;
static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

static floe_status check(const floe_field *f, bool writable)
{
    floe_field out;
    floe_error err;
    return floe_field_check(f, writable, &out, &err);
}

/* ---- types, shapes ----------------------------------------------------------------------------------------------- */

static void dtypes_are_named(void **state)
{
    (void)state;
    static const char *const f32[] = {"f32", "float32", "float", "<f4"}, *const f64[] = {"f64", "float64", "double",
                                                                                         "<f8"};
    static const char *const bad[] = {"", "f16", "F32", "f32 ", ">f4", "int"};
    floe_dtype d;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(floe_dtype_parse(f32[i], &d), FLOE_OK);
        assert_int_equal(d, FLOE_F32);
        assert_int_equal(floe_dtype_parse(f64[i], &d), FLOE_OK);
        assert_int_equal(d, FLOE_F64);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(floe_dtype_parse(bad[i], &d), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_dtype_parse(NULL, &d), FLOE_ERR_ARGUMENT);
    assert_string_equal(floe_dtype_name(FLOE_F32), "f32");
    assert_string_equal(floe_dtype_name(FLOE_F64), "f64");
    assert_non_null(floe_dtype_name((floe_dtype)9));
    assert_int_equal(floe_dtype_size(FLOE_F32), 4);
    assert_int_equal(floe_dtype_size(FLOE_F64), 8);
    assert_int_equal(floe_dtype_size((floe_dtype)0), 0);
}

static void values_turn_into_bits_and_back(void **state)
{
    (void)state;
    assert_int_equal(floe_value_bits(FLOE_F32, -9999), 0xC61C3C00u);
    assert_int_equal(floe_value_bits(FLOE_F64, -9999), 0xC0C3878000000000u);
    assert_int_equal(floe_value_bits(FLOE_F32, -0.0), 0x80000000u);
    static const struct {
        double value;
        int64_t i32, i64;
    } integers[] = {{-9999, -9999, -9999},
                    {2.5, 2, 2},
                    {-3.5, -4, -4},
                    {2147483647, INT32_MAX, INT32_MAX},
                    {2147483646.5, 2147483646, 2147483646},
                    {-2147483648.0, INT32_MIN, INT32_MIN},
                    {1e30, INT32_MAX, INT64_MAX},
                    {-INFINITY, INT32_MIN, INT64_MIN},
                    {0x1p63, INT32_MAX, INT64_MAX},
                    {0x1p62, INT32_MAX, (int64_t)1 << 62},
                    {4503599627370495.5, INT32_MAX, 4503599627370496},
                    {-0x1p63, INT32_MIN, INT64_MIN},
                    {NAN, 0, 0}};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        assert_int_equal(floe_value_bits(FLOE_I32, integers[i].value), (uint32_t)integers[i].i32);
        assert_int_equal(floe_value_bits(FLOE_I64, integers[i].value), (uint64_t)integers[i].i64);
        assert_true(floe_value_of(FLOE_I32, (uint32_t)integers[i].i32) == (double)integers[i].i32);
        assert_true(floe_value_of(FLOE_I64, (uint64_t)integers[i].i64) == (double)integers[i].i64);
    }
    assert_true(floe_value_of(FLOE_F32, 0xC61C3C00u) == -9999 && floe_value_of(FLOE_F64, 0xC0C3878000000000u) == -9999);
    assert_true(floe_value_of(FLOE_F32, floe_value_bits(FLOE_F32, 1e20)) == (double)1e20f);
}

static floe_status count(floe_dtype dtype, uint32_t rank, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t *n)
{
    uint64_t shape[4] = {a, b, c, d};
    floe_field f = floe_field_of(NULL, dtype, rank, shape);
    return floe_field_nelems(&f, n);
}

static void shapes_end_below_2_to_the_63_bytes(void **state)
{
    (void)state;
    uint64_t n = 1, big = (uint64_t)1 << 61;
    assert_int_equal(count(FLOE_F32, 1, big - 1, 0, 0, 0, &n), FLOE_OK);
    assert_int_equal(n, big - 1);
    assert_int_equal(count(FLOE_F32, 1, big, 0, 0, 0, &n), FLOE_ERR_ARGUMENT);
    assert_int_equal(count(FLOE_F64, 1, big / 2, 0, 0, 0, &n), FLOE_ERR_ARGUMENT);
    assert_int_equal(count(FLOE_F64, 1, big / 2 - 1, 0, 0, 0, &n), FLOE_OK);
    assert_int_equal(count(FLOE_F32, 1, UINT64_MAX, 0, 0, 0, &n), FLOE_ERR_ARGUMENT);
    assert_int_equal(count(FLOE_F32, 4, 1 << 16, 1 << 16, 1 << 16, 1 << 16, &n),
                     FLOE_ERR_ARGUMENT); /* 2^64: wraps to 0 */
    assert_int_equal(count(FLOE_F32, 2, (uint64_t)1 << 32, (uint64_t)1 << 32, 0, 0, &n), FLOE_ERR_ARGUMENT);
    assert_int_equal(count(FLOE_F32, 3, 5, 0, 7, 0, &n), FLOE_OK);
    assert_int_equal(n, 0);
    assert_int_equal(count(FLOE_F32, 3, big, 0, big, 0, &n), FLOE_ERR_ARGUMENT);
    assert_int_equal(count(FLOE_F32, 0, 5, 5, 5, 5, &n), FLOE_ERR_ARGUMENT);
    assert_int_equal(count(FLOE_F32, 5, 5, 5, 5, 5, &n), FLOE_ERR_ARGUMENT);
    assert_int_equal(count(FLOE_F32, UINT32_MAX, 5, 5, 5, 5, &n), FLOE_ERR_ARGUMENT);
    assert_int_equal(count((floe_dtype)5, 1, 5, 0, 0, 0, &n), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_field_nelems(NULL, &n), FLOE_ERR_ARGUMENT);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static void check_resolves_strides(void **state)
{
    (void)state;
    static float data[24];
    const uint64_t shape[3] = {2, 3, 4};
    floe_field f = floe_field_of(data, FLOE_F32, 3, shape), out;
    assert_int_equal(floe_field_check(&f, true, &out, NULL), FLOE_OK);
    assert_true(out.stride[0] == 12 && out.stride[1] == 4 && out.stride[2] == 1);
    assert_ptr_equal(out.data, data);
    f.stride[0] = 4, f.stride[1] = 8, f.stride[2] = 1; /* any order is an order */
    assert_int_equal(floe_field_check(&f, true, &out, NULL), FLOE_OK);
    assert_true(out.stride[0] == 4 && out.stride[1] == 8 && out.stride[2] == 1);
}

/* Nothing goes along an axis of one element, so any number may be its stride; and it says that strides are given. */
static void strides_of_one_element(void **state)
{
    (void)state;
    static float data[24];
    const int64_t odd[] = {3061109696427220925, INT64_MIN, 0};
    for (int i = 0; i < 3; i++) {
        floe_field f = floe_field_of(data, FLOE_F32, 4, (const uint64_t[]){1, 4, 1, 6}), out;
        f.stride[0] = odd[i], f.stride[1] = 1, f.stride[2] = -odd[(i + 2) % 3 ? 0 : 2], f.stride[3] = 4;
        assert_int_equal(floe_field_check(&f, true, &out, NULL), FLOE_OK);
        assert_true(out.stride[0] == 24 && out.stride[1] == 1 && out.stride[2] == 6 && out.stride[3] == 4);
    }
    floe_field same = floe_field_of(data, FLOE_F32, 2, (const uint64_t[]){5, 1}), out, again;
    same.stride[1] = odd[0];
    assert_int_equal(floe_field_check(&same, false, &out, NULL), FLOE_OK);
    assert_int_equal(floe_field_check(&out, false, &again, NULL), FLOE_OK);
    assert_true(again.stride[0] == 0 && again.stride[1] == 1);
}

static void check_refuses_what_is_no_memory(void **state)
{
    (void)state;
    static double data[8];
    const uint64_t eight = 8, none = 0;
    floe_field f = floe_field_of(NULL, FLOE_F64, 1, &eight);
    assert_int_equal(check(&f, false), FLOE_ERR_ARGUMENT);
    f = floe_field_of(NULL, FLOE_F64, 1, &none);
    assert_int_equal(check(&f, true), FLOE_OK);
    f = floe_field_of((const char *)data + 4, FLOE_F64, 1, &eight);
    assert_int_equal(check(&f, false), FLOE_ERR_ARGUMENT);
    f.dtype = FLOE_F32;
    assert_int_equal(check(&f, false), FLOE_OK);
    f.place = (floe_place)5;
    assert_int_equal(check(&f, false), FLOE_ERR_ARGUMENT);
    f = floe_field_of((const void *)(UINTPTR_MAX & ~(uintptr_t)63), FLOE_F64, 1,
                      &eight); /* ends with the address space */
    assert_int_equal(check(&f, false), FLOE_ERR_ARGUMENT);
    f.shape[0] = 7;
    assert_int_equal(check(&f, false), FLOE_OK);
    f = floe_field_of((const void *)64, FLOE_F64, 1, &eight);
    f.stride[0] = -1;
    assert_int_equal(check(&f, false), FLOE_OK);
    f.stride[0] = -2;
    assert_int_equal(check(&f, false), FLOE_ERR_ARGUMENT);
    assert_int_equal(check(NULL, false), FLOE_ERR_ARGUMENT);
}

static void check_refuses_strides_that_overflow(void **state)
{
    (void)state;
    static float data[4];
    static const int64_t steps[] = {INT64_MAX,     INT64_MIN,        INT64_MIN + 1,
                                    INT64_MAX / 4, (int64_t)1 << 61, -((int64_t)1 << 61)};
    const uint64_t shape[2] = {2, 2};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        floe_field f = floe_field_of(data, FLOE_F32, 2, shape);
        f.stride[0] = steps[i], f.stride[1] = 1;
        assert_int_equal(check(&f, false), FLOE_ERR_ARGUMENT);
        f.shape[0] = 1; /* the stride of a single element is never taken */
        assert_int_equal(check(&f, true), FLOE_OK);
    }
}

/* The definition: mark each element's place. */
static bool shares_addresses(const floe_field *f)
{
    enum { SPAN = 4000 };
    static uint8_t taken[2 * SPAN];
    memset(taken, 0, sizeof taken);
    for (uint64_t k = 0, total = f->shape[0] * f->shape[1] * f->shape[2]; k < total; k++) {
        int64_t at = SPAN;
        at += (int64_t)(k % f->shape[2]) * f->stride[2] + (int64_t)(k / f->shape[2] % f->shape[1]) * f->stride[1];
        at += (int64_t)(k / f->shape[2] / f->shape[1]) * f->stride[0];
        if (taken[at]++)
            return true;
    }
    return false;
}

static void outputs_never_overlap(void **state)
{
    (void)state;
    static float data[9000];
    int accepted = 0, refused = 0;
    for (int trial = 0; trial < 20000; trial++) {
        const uint64_t shape[3] = {1 + draw(5), 1 + draw(5), 1 + draw(5)};
        floe_field f = floe_field_of(data + 4500, FLOE_F32, 3, shape);
        for (int i = 0; i < 3; i++)
            f.stride[i] = (int64_t)draw(61) - 30;
        if (f.stride[0] == 0 && f.stride[1] == 0 && f.stride[2] == 0)
            continue;
        assert_int_equal(check(&f, false), FLOE_OK);
        bool ok = check(&f, true) == FLOE_OK;
        if (ok)
            assert_false(shares_addresses(&f));
        accepted += ok, refused += !ok;
    }
    assert_true(accepted > 1000 && refused > 1000);
    floe_field f = floe_field_of(data, FLOE_F32, 2, (const uint64_t[]){4, 5});
    f.stride[0] = 5, f.stride[1] = 1;
    assert_int_equal(check(&f, true), FLOE_OK);
    f.stride[0] = 4;
    assert_int_equal(check(&f, true), FLOE_ERR_ARGUMENT);
    f.stride[0] = 0;
    assert_int_equal(check(&f, true), FLOE_ERR_ARGUMENT);
    f.shape[0] = 0;
    assert_int_equal(check(&f, true), FLOE_OK);
}

/* ---- boxes, rows, copies ----------------------------------------------------------------------------------------- */

enum { BUFFER = 1 << 14 };

/* A field of random shape whose axes lie in random order, with gaps, some of them backwards. */
static floe_field random_field(void *buffer, floe_dtype dtype, uint32_t rank, const uint64_t *shape)
{
    floe_field f = floe_field_of(buffer, dtype, rank, shape);
    uint32_t order[4] = {0, 1, 2, 3};
    for (uint32_t i = rank; i > 1; i--) {
        uint32_t j = (uint32_t)draw(i), t = order[i - 1];
        order[i - 1] = order[j], order[j] = t;
    }
    int64_t stride = 1 + (int64_t)draw(2);
    uint64_t offset = 0;
    for (uint32_t k = 0; k < rank; k++) {
        uint32_t i = order[k];
        bool backwards = draw(3) == 0;
        f.stride[i] = backwards ? -stride : stride;
        if (backwards)
            offset += (shape[i] - 1) * (uint64_t)stride;
        stride *= (int64_t)(shape[i] + draw(2));
    }
    assert_true(stride < BUFFER);
    f.data = (uint8_t *)buffer + offset * floe_dtype_size(dtype);
    return f;
}

static int64_t offset_of(const floe_field *f, const uint64_t *index)
{
    int64_t at = 0;
    for (uint32_t i = 0; i < f->rank; i++)
        at += (int64_t)index[i] * f->stride[i];
    return at;
}

static void *at(const floe_field *f, const uint64_t *index)
{
    return (uint8_t *)f->data + offset_of(f, index) * (int64_t)floe_dtype_size(f->dtype);
}

static bool next(uint32_t rank, const uint64_t *shape, uint64_t *index)
{
    for (uint32_t i = rank; i-- > 0; index[i] = 0)
        if (++index[i] < shape[i])
            return true;
    return false;
}

static void copies_equal_the_definition(void **state)
{
    (void)state;
    uint8_t *a = malloc(8 * BUFFER), *b = malloc(8 * BUFFER), *want = malloc(8 * BUFFER);
    for (int trial = 0; trial < 2000; trial++) {
        floe_dtype dtype = trial % 2 ? FLOE_F32 : FLOE_F64;
        uint32_t rank = 1 + (uint32_t)draw(4);
        uint64_t shape[4] = {1 + draw(7), 1 + draw(7), 1 + draw(7), 1 + draw(7)};
        floe_field from = random_field(a, dtype, rank, shape), to = random_field(b, dtype, rank, shape);
        for (size_t i = 0; i < 8 * BUFFER; i += 8) {
            uint64_t v = draw(UINT64_MAX);
            memcpy(a + i, &v, 8);
        }
        memset(b, 0xEE, 8 * BUFFER);
        memset(want, 0xEE, 8 * BUFFER);
        uint64_t index[4] = {0};
        do {
            uint8_t *p = at(&to, index);
            memcpy(want + (p - b), at(&from, index), floe_dtype_size(dtype));
        } while (next(rank, shape, index));
        floe_field_copy(&from, &to);
        assert_memory_equal(b, want, 8 * BUFFER);
    }
    free(a);
    free(b);
    free(want);
}

static void rows_visit_each_element_once(void **state)
{
    (void)state;
    static float buffer[BUFFER];
    static uint8_t seen[BUFFER];
    for (int trial = 0; trial < 1000; trial++) {
        uint32_t rank = 1 + (uint32_t)draw(4);
        uint64_t shape[4] = {1 + draw(7), 1 + draw(7), 1 + draw(7), 1 + draw(7)}, nelems, index[4] = {0};
        floe_field f = random_field(buffer, FLOE_F32, rank, shape);
        floe_rows rows = floe_rows_of(&f, NULL);
        assert_int_equal(floe_field_nelems(&f, &nelems), FLOE_OK);
        assert_int_equal(rows.count * rows.length, nelems);
        memset(seen, 0, sizeof seen);
        for (uint64_t r = 0; r < rows.count; r++)
            for (uint64_t i = 0; i < rows.length; i++)
                seen[(float *)f.data - buffer + floe_rows_offset(&rows, 0, r) + (int64_t)i * rows.step[0]]++;
        do {
            assert_int_equal(seen[(float *)at(&f, index) - buffer], 1);
        } while (next(rank, shape, index));
    }
}

static void rows_of_whole_arrays_are_one_row(void **state)
{
    (void)state;
    static float data[24];
    floe_field f = floe_field_of(data, FLOE_F32, 3, (const uint64_t[]){2, 3, 4}), c;
    assert_int_equal(floe_field_check(&f, false, &c, NULL), FLOE_OK);
    floe_rows rows = floe_rows_of(&c, NULL);
    assert_true(rows.count == 1 && rows.length == 24 && rows.step[0] == 1);
    f.stride[0] = 1, f.stride[1] = 2, f.stride[2] = 6; /* fastest axis first in memory */
    rows = floe_rows_of(&f, NULL);
    assert_true(rows.count == 1 && rows.length == 24 && rows.step[0] == 1);
    c.shape[1] = 0;
    rows = floe_rows_of(&c, NULL);
    assert_int_equal(rows.count, 0);
    floe_field_copy(&c, &c);
}

static void boxes_are_views(void **state)
{
    (void)state;
    static double buffer[BUFFER];
    for (int trial = 0; trial < 500; trial++) {
        uint64_t shape[4] = {1 + draw(6), 1 + draw(6), 1 + draw(6), 1 + draw(6)}, lo[4], extent[4], index[4] = {0},
                 whole[4];
        floe_field f = random_field(buffer, FLOE_F64, 4, shape);
        for (int i = 0; i < 4; i++) {
            lo[i] = draw(shape[i]);
            extent[i] = 1 + draw(shape[i] - lo[i]);
        }
        floe_field box = floe_field_box(&f, lo, extent);
        do {
            for (int i = 0; i < 4; i++)
                whole[i] = lo[i] + index[i];
            assert_ptr_equal(at(&box, index), at(&f, whole));
        } while (next(4, extent, index));
        lo[2] = shape[2], extent[2] = 0; /* an empty box at the very end */
        box = floe_field_box(&f, lo, extent);
        assert_ptr_equal(box.data, f.data);
        assert_int_equal(floe_rows_of(&box, NULL).count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes_are_named),
        cmocka_unit_test(values_turn_into_bits_and_back),
        cmocka_unit_test(shapes_end_below_2_to_the_63_bytes),
        cmocka_unit_test(check_resolves_strides),
        cmocka_unit_test(strides_of_one_element),
        cmocka_unit_test(check_refuses_what_is_no_memory),
        cmocka_unit_test(check_refuses_strides_that_overflow),
        cmocka_unit_test(outputs_never_overlap),
        cmocka_unit_test(copies_equal_the_definition),
        cmocka_unit_test(rows_visit_each_element_once),
        cmocka_unit_test(rows_of_whole_arrays_are_one_row),
        cmocka_unit_test(boxes_are_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
