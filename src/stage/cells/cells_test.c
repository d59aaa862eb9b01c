/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage cells: cells of arrays of any size and type come back bit for bit, in whole and in boxes; sizes at the limits of words
 * and spans; bytes that lie are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stage/cells/cells.h"
#include "tests/hostile_kit.h"

static const floe_cpu cpu = {.threads = 1, .isa = FLOE_ISA_PLAIN};
static const floe_dtype dtypes[] = {FLOE_F32, FLOE_F64, FLOE_I32, FLOE_I64};

/* An array, some of whose cells are named, and what became of them. Every value is as in a stride of its own. */
typedef struct sample {
    floe_cells cells;
    uint64_t *named;
    uint8_t *values, *bytes;
    uint64_t nbytes;
    void *scratch;
} sample;

static void take(floe_cells *c, bool encode, void **scratch)
{
    floe_arena plan = floe_arena_plan();
    floe_cells_take(c, encode, &plan);
    *scratch = malloc(plan.used);
    floe_arena arena = floe_arena_of(*scratch, plan.used);
    floe_cells_take(c, encode, &arena);
}

/* Fill, the sign alone, a few that are not finite, or any bits. */
static uint64_t some_value(uint64_t *state)
{
    const uint64_t nan32 = 0x7FC00001u, nan64 = 0x7FF8000000000001u, r = hostile_random(state);
    switch (hostile_below(state, 6)) {
    case 0: return 77;
    case 1: return (uint64_t)1 << 31 | (uint64_t)1 << 63;
    case 2: return nan64 | nan32;
    case 3: return 0x7FF0000000000000u | 0x7F800000u;
    default: return r;
    }
}

/* one_in: how many cells for each that is named, about; 0: none are. */
static sample sample_of(floe_dtype dtype, uint32_t rank, const uint64_t *shape, uint64_t one_in, uint64_t *state)
{
    sample s = {.nbytes = 0};
    int64_t stride[FLOE_MAX_RANK], n = 2;
    for (uint32_t i = rank; i-- > 0; n *= (int64_t)shape[i])
        stride[i] = n;
    s.values = malloc((size_t)n * 8);
    for (int64_t i = 0; i < n; i++)
        floe_cells_set(s.values, i, floe_cells_size(dtype), some_value(state));
    s.cells = floe_cells_of(dtype, rank, shape, stride, s.values);
    take(&s.cells, true, &s.scratch);
    s.named = calloc(s.cells.nwords, sizeof *s.named);
    for (uint64_t i = 0; i < s.cells.ncells && one_in > 0; i++)
        s.named[i / 64] |= (uint64_t)(hostile_below(state, one_in) == 0) << i % 64;
    memcpy(s.cells.sets[FLOE_CELLS_LITERALS], s.named, s.cells.nwords * sizeof *s.named);
    floe_cells_sort(&s.cells, &cpu, true, 77);
    s.nbytes = s.cells.sets_nbytes + s.cells.literals_nbytes;
    s.bytes = malloc(s.nbytes + 1);
    floe_cells_write(&s.cells, s.bytes + 1); /* bytes may lie anywhere */
    return s;
}

static void sample_free(sample *s)
{
    free(s->named);
    free(s->values);
    free(s->bytes);
    free(s->scratch);
}

/* What a reader has: the array's shape, and what stands in the codec's header. data: of the box, contiguous. */
static floe_cells reader_of(const sample *s, const uint64_t *lo, const uint64_t *hi, void *data, void **scratch)
{
    const floe_cells_array *a = &s->cells.array;
    int64_t stride[FLOE_MAX_RANK], n = 1;
    for (uint32_t i = a->rank; i-- > 0; n *= (int64_t)(hi[i] - lo[i]))
        stride[i] = n;
    floe_cells c = floe_cells_of(a->dtype, a->rank, a->shape, stride, data);
    memcpy(c.array.lo, lo, sizeof c.array.lo);
    memcpy(c.array.hi, hi, sizeof c.array.hi);
    c.present = s->cells.present;
    memcpy(c.palette, s->cells.palette, sizeof c.palette);
    take(&c, false, scratch);
    return c;
}

/* Cells of the box: those that are named (all: each) have their value, the others are as before. */
static void check_box(const sample *s, const uint64_t *lo, const uint64_t *hi, bool all)
{
    const uint32_t size = floe_cells_size(s->cells.array.dtype);
    uint64_t n = 1;
    void *scratch;
    for (uint32_t i = 0; i < s->cells.array.rank; i++)
        n *= hi[i] - lo[i];
    uint8_t *data = malloc(n * size);
    memset(data, 0xEE, n * size);
    floe_cells c = reader_of(s, lo, hi, data, &scratch);
    uint8_t *raw = malloc(s->cells.ncells * 8 + 8);
    if (all) {
        floe_cells_write_all(&s->cells, raw);
        floe_cells_put_all(&c, raw);
    } else {
        assert_int_equal(floe_cells_read(&c, s->bytes + 1, s->nbytes, NULL), FLOE_OK);
        assert_int_equal(c.sets_nbytes, s->cells.sets_nbytes);
        assert_int_equal(c.literals_nbytes, s->cells.literals_nbytes);
        floe_cells_put(&c, s->bytes + 1);
    }
    for (uint64_t i = 0; i < s->cells.ncells; i++) {
        int64_t at;
        if (!floe_cells_in_box(&c.array, i, &at))
            continue;
        const bool named = all || (s->named[i / 64] >> i % 64 & 1);
        const uint64_t was = floe_cells_get(s->values, floe_cells_at(&s->cells.array, i), size);
        const uint64_t dirt = size == 4 ? 0xEEEEEEEEu : 0xEEEEEEEEEEEEEEEEu;
        assert_true(floe_cells_get(data, at, size) == (named ? was : dirt));
    }
    free(raw);
    free(data);
    free(scratch);
}

static void roundtrip(void **unused)
{
    (void)unused;
    static const uint64_t lengths[] = {
        1, 63, 64, 65, 4095, 4096, 4097, FLOE_CELLS_SPAN - 1, FLOE_CELLS_SPAN, FLOE_CELLS_SPAN + 1};
    uint64_t state = 1;
    const uint64_t lo[FLOE_MAX_RANK] = {0};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (uint64_t one_in = 0; one_in < 1000; one_in = 10 * one_in + 1) {
                const uint64_t shape[FLOE_MAX_RANK] = {lengths[i]};
                sample s = sample_of(dtypes[d], 1, shape, one_in, &state);
                assert_true(one_in > 0 || s.nbytes == 0);
                check_box(&s, lo, shape, false);
                check_box(&s, lo, shape, true);
                sample_free(&s);
            }
}

static void boxes(void **unused)
{
    (void)unused;
    const uint64_t shape[FLOE_MAX_RANK] = {3, 7, 11, 13};
    uint64_t state = 2;
    for (int i = 0; i < 200; i++) {
        const uint32_t rank = 1 + (uint32_t)hostile_below(&state, FLOE_MAX_RANK);
        sample s = sample_of(dtypes[i % 4], rank, shape, 1 + hostile_below(&state, 9), &state);
        uint64_t lo[FLOE_MAX_RANK] = {0}, hi[FLOE_MAX_RANK] = {0};
        for (uint32_t a = 0; a < rank; a++) {
            lo[a] = hostile_below(&state, shape[a]);
            hi[a] = lo[a] + 1 + hostile_below(&state, shape[a] - lo[a]);
        }
        check_box(&s, lo, hi, i % 3 == 0);
        sample_free(&s);
    }
}

/* Every length that is too short is refused; damage is refused, or names cells of the array. */
static void lies(void **unused)
{
    (void)unused;
    const uint64_t shape[FLOE_MAX_RANK] = {5000}, lo[FLOE_MAX_RANK] = {0};
    uint64_t state = 3;
    sample s = sample_of(FLOE_F32, 1, shape, 7, &state);
    uint32_t data[5000];
    void *scratch;
    floe_cells c = reader_of(&s, lo, shape, data, &scratch);
    assert_int_equal(c.present, 15);
    for (uint64_t n = 0; n < s.nbytes; n++)
        assert_int_equal(floe_cells_read(&c, s.bytes + 1, n, NULL), FLOE_ERR_FORMAT);
    s.bytes[1 + 8 + 7] |= 0x80; /* word 127 of 79 */
    assert_int_equal(floe_cells_read(&c, s.bytes + 1, s.nbytes, NULL), FLOE_ERR_FORMAT);
    for (int i = 0; i < 20000; i++) {
        uint8_t *bytes = malloc(s.nbytes);
        memcpy(bytes, s.bytes + 1, s.nbytes);
        bytes[hostile_below(&state, s.nbytes)] ^= (uint8_t)(1u << hostile_below(&state, 8));
        bytes[15] &= 0x7F;
        c.present = (uint32_t)hostile_below(&state, 16);
        if (floe_cells_read(&c, bytes, s.nbytes, NULL) == FLOE_OK)
            floe_cells_put(&c, bytes);
        free(bytes);
    }
    free(scratch);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(roundtrip), cmocka_unit_test(boxes), cmocka_unit_test(lies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
