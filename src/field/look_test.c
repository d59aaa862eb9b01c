/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks: places and boxes stay in the field, boxes find the part that is not quiet, bits are those of a plain loop, whatever the
 * threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "field/look.h"
#include "tests/look_kit.h"

enum { SAMPLES = 300 };

static void check_places(const floe_look *l)
{
    for (uint32_t p = 0; p < floe_look_nplaces(l); p++)
        for (uint32_t a = 0; a < FLOE_LOOK_RANK; a++)
            assert_true(floe_look_lo(l, p, a) + l->part[a] <= l->shape[a]);
}

/* No two boxes have one place, and all places there are. */
static void check_boxes(const floe_look *l, const floe_look_boxes *boxes)
{
    for (uint32_t b = 0; b < l->nboxes; b++) {
        assert_true(boxes->place[b] < floe_look_nplaces(l));
        for (uint32_t c = 0; c < b; c++)
            assert_int_not_equal(boxes->place[b], boxes->place[c]);
    }
    assert_true(boxes->share > 0 && boxes->share <= FLOE_LOOK_QUIET + 1);
}

static void bits_and_boxes_of_random_fields(void **unused)
{
    uint64_t state = 1;
    uint64_t *values = malloc(LOOK_CELLS * sizeof *values);
    (void)unused;
    for (int i = 0; i < SAMPLES; i++) {
        const floe_look l = look_random(&state, values);
        uint64_t bits[2][FLOE_LOOK_PLACES];
        for (uint32_t threads = 1; threads <= 2; threads++) {
            floe_cpu cpu;
            assert_int_equal(floe_cpu_init(&cpu, (int)threads, FLOE_ISA_AUTO, NULL), FLOE_OK);
            floe_look_all(&cpu, &l, bits[threads - 1]);
        }
        assert_memory_equal(bits[0], bits[1], floe_look_nplaces(&l) * sizeof **bits);
        const floe_look_boxes boxes = floe_look_choose(&l, bits[0]);
        check_places(&l);
        check_boxes(&l, &boxes);
    }
    free(values);
}

/* No two of n have one place on any axis. */
static void places_are_apart(void **unused)
{
    (void)unused;
    for (uint64_t n = 1; n <= FLOE_LOOK_EACH * FLOE_LOOK_BOXES; n += n < FLOE_LOOK_BOXES ? 1 : FLOE_LOOK_EACH)
        for (uint32_t axis = 0; axis < FLOE_LOOK_RANK; axis++) {
            bool there[FLOE_LOOK_PLACES] = {false};
            for (uint64_t i = 0; i < n; i++) {
                const uint64_t at = floe_look_spread(axis, 2 * n, i, n) / 2;
                assert_true(at < n && !there[at]);
                there[at] = true;
            }
        }
}

/* The number of halves, doubled, that a size is above. */
static void bits_of_sizes(void **unused)
{
    (void)unused;
    assert_int_equal(floe_look_bits(0, 1), 0);
    assert_int_equal(floe_look_bits(NAN, 1), 0);
    assert_int_equal(floe_look_bits(INFINITY, 1), 0);
    assert_int_equal(floe_look_bits(0.4, 1), 0);
    for (uint32_t k = 0; k < 40; k++) {
        const double size = ldexp(0.75, (int)k);
        assert_int_equal(floe_look_bits(size, 1), k + 1 < FLOE_LOOK_BITS ? k + 1 : FLOE_LOOK_BITS);
        assert_int_equal(floe_look_bits(-size / 64, 64), floe_look_bits(size, 1));
    }
}

/* A cube of noise in a field of zeros, a 64th of it: most boxes touch it, and what they take is scaled down to the field. */
static void boxes_lie_where_bits_are(void **unused)
{
    enum { SIDE = 64, LOUD = 16, BOX = 13 };
    floe_look l = {.shape = {1, SIDE, SIDE, SIDE}, .part = {1, BOX, BOX, BOX}, .stride = {0, SIDE * SIDE, SIDE, 1}};
    float *values = calloc(SIDE * SIDE * SIDE, sizeof *values);
    uint64_t bits[FLOE_LOOK_PLACES];
    uint32_t loud = 0;
    uint64_t state = 5;
    (void)unused;
    for (int i = 0; i < LOUD * LOUD * LOUD; i++)
        values[(i / LOUD / LOUD * SIDE + i / LOUD % LOUD) * SIDE + i % LOUD] = (float)hostile_uniform(&state);
    l.data = values;
    l.narrow = true;
    l.fill = 0x80000000u;
    l.inverse = 1000;
    l.nboxes = 8;
    l.each = 32;
    l.nprobes = FLOE_LOOK_PROBES;
    for (uint32_t p = 0; p < floe_look_nplaces(&l); p++)
        bits[p] = floe_look_place(&l, floe_look_at(&l, p));
    const floe_look_boxes boxes = floe_look_choose(&l, bits);
    for (uint32_t b = 0; b < l.nboxes; b++) {
        const uint32_t p = boxes.place[b];
        loud += floe_look_lo(&l, p, 1) < LOUD && floe_look_lo(&l, p, 2) < LOUD && floe_look_lo(&l, p, 3) < LOUD;
    }
    assert_true(loud >= 5);
    assert_true(boxes.share < 0.2);
    l.evenly = true; /* but for even ones that are quiet */
    memset(bits + l.each * l.nboxes, 0, l.nboxes * sizeof *bits);
    assert_true(floe_look_choose(&l, bits).share < 0.2);
    free(values);
}

/* Where all places are alike, even ones do. */
static void even_boxes_of_noise(void **unused)
{
    floe_look l = {.shape = {1, 1, 300, 200}, .part = {1, 1, 40, 40}, .stride = {0, 0, 200, 1}};
    double *values = malloc(300 * 200 * sizeof *values);
    uint64_t bits[FLOE_LOOK_PLACES];
    uint64_t state = 5;
    (void)unused;
    for (int i = 0; i < 300 * 200; i++)
        values[i] = hostile_uniform(&state);
    l.data = values;
    l.inverse = 1e4;
    l.nboxes = 4;
    l.each = FLOE_LOOK_EACH;
    l.nprobes = FLOE_LOOK_PROBES;
    l.evenly = true;
    for (uint32_t p = 0; p < floe_look_nplaces(&l); p++)
        bits[p] = floe_look_place(&l, floe_look_at(&l, p));
    const floe_look_boxes boxes = floe_look_choose(&l, bits);
    assert_true(boxes.share == 1);
    for (uint32_t b = 0; b < l.nboxes; b++)
        assert_int_equal(boxes.place[b], l.each * l.nboxes + b);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_and_boxes_of_random_fields),
                                       cmocka_unit_test(places_are_apart), cmocka_unit_test(bits_of_sizes),
                                       cmocka_unit_test(boxes_lie_where_bits_are),
                                       cmocka_unit_test(even_boxes_of_noise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
