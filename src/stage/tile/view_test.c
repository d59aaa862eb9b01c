/* SPDX-License-Identifier: BSD-3-Clause */
/* Views and tiles: every cell of a chunk lies in exactly one place, whatever its extent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stage/tile/view.h"

static void geometries_fill_steps(void **unused)
{
    (void)unused;
    for (uint32_t rank = 1; rank <= 3; rank++) {
        floe_tile_geometry g = floe_tile_geometry_of(rank);
        assert_int_equal(g.step_z * g.step_y * g.step_x, FLOE_STEP_VALUES);
        assert_int_equal(g.group_z * g.group_y * g.group_x, FLOE_GROUP_VALUES);
        assert_int_equal(g.step_z, g.group_z); /* a group is as thick as its step */
        assert_int_equal((g.step_y / g.group_y) * (g.step_x / g.group_x), FLOE_STEP_GROUPS);
        assert_true(g.step_y % g.group_y == 0 && g.step_x % g.group_x == 0);
    }
}

/* ---- which axis is what ------------------------------------------------------------------------------------------ */

typedef struct expectation {
    uint32_t rank;
    uint64_t extent[4];
    bool swap;
    uint32_t view_rank;
    int axis[4]; /* batch, z, y, x */
} expectation;

static void axes_find_their_places(void **unused)
{
    static const expectation cases[] = {
        {1, {1}, false, 1, {-1, -1, -1, -1}},         {1, {5}, false, 1, {-1, -1, -1, 0}},
        {2, {1, 5}, false, 1, {-1, -1, -1, 1}},       {2, {5, 1}, false, 1, {-1, -1, -1, 0}},
        {2, {1, 1}, false, 1, {-1, -1, -1, -1}},      {2, {5, 9}, false, 2, {-1, 0, -1, 1}},
        {2, {5, 8}, false, 1, {1, -1, -1, 0}},  /* components */
        {2, {1, 8}, false, 1, {-1, -1, -1, 1}}, /* alone: no components */
        {3, {4, 5, 9}, false, 3, {-1, 0, 1, 2}},      {3, {4, 5, 8}, false, 2, {2, 0, -1, 1}},
        {3, {4, 1, 8}, false, 1, {2, -1, -1, 0}},     {3, {4, 1, 9}, false, 2, {-1, 0, -1, 2}},
        {3, {4, 9, 1}, false, 2, {-1, 0, -1, 1}},     {3, {4, 8, 1}, false, 1, {1, -1, -1, 0}},
        {4, {3, 4, 5, 9}, false, 3, {0, 1, 2, 3}},    {4, {3, 4, 5, 9}, true, 3, {1, 0, 2, 3}},
        {4, {3, 4, 5, 8}, false, 3, {3, 0, 1, 2}},    {4, {3, 1, 5, 9}, false, 3, {-1, 0, 2, 3}},
        {4, {1, 1, 1, 9}, false, 1, {-1, -1, -1, 3}}, {4, {2, 1, 1, 2}, false, 1, {3, -1, -1, 0}},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        floe_view v;
        assert_true(floe_view_of(cases[i].rank, cases[i].extent, cases[i].swap, &v));
        assert_int_equal(v.rank, cases[i].view_rank);
        for (int a = 0; a < 4; a++) {
            if (v.axis[a] != cases[i].axis[a])
                fail_msg("case %zu: axis %d of the view is %d of the chunk, not %d", i, a, v.axis[a], cases[i].axis[a]);
            assert_true(v.extent[a] == (v.axis[a] < 0 ? 1 : cases[i].extent[v.axis[a]]));
        }
    }
}

static void only_four_axes_can_be_swapped(void **unused)
{
    const uint64_t extents[][4] = {{3, 4, 5, 8}, {3, 4, 5, 1}, {1, 4, 5, 9}, {3, 4, 1, 9}, {3, 4, 5, 2}};
    floe_view v;
    (void)unused;
    for (size_t i = 0; i < 5; i++)
        assert_false(floe_view_of(4, extents[i], true, &v));
    for (uint32_t rank = 1; rank <= 3; rank++)
        assert_false(floe_view_of(rank, (const uint64_t[]){20, 20, 20}, true, &v));
    assert_true(floe_view_of(4, (const uint64_t[]){3, 4, 5, 9}, true, &v));
}

/* ---- every cell once ---------------------------------------------------------------------------------------------- */

static uint32_t popcount(uint32_t v)
{
    uint32_t n = 0;
    for (; v; v &= v - 1)
        n++;
    return n;
}

/* Marks the cells of one step as its masks have it, and checks that masks and extents agree. Returns how many. */
static uint64_t mark_step(const floe_view *v, const floe_tile_box *box, uint32_t s, uint8_t *seen)
{
    const floe_tile_geometry *g = &v->geometry;
    floe_step_box step = floe_tile_step(v, box, s);
    uint32_t valid[FLOE_STEP_GROUPS], present = floe_step_present(g, &step), across = g->step_x / g->group_x;
    uint64_t n = 0;
    assert_true(step.nz >= 1 && step.ny >= 1 && step.nx >= 1);
    floe_step_valid(g, &step, valid);
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        assert_int_equal(present >> group & 1, valid[group] != 0);
        n += popcount(valid[group]);
        for (uint32_t k = 0; k < FLOE_GROUP_VALUES; k++) {
            uint32_t x = group % across * g->group_x + k % g->group_x;
            uint32_t y = group / across * g->group_y + k / g->group_x % g->group_y;
            uint32_t z = k / (g->group_x * g->group_y);
            bool inside = x < step.nx && y < step.ny && z < step.nz;
            assert_int_equal(valid[group] >> k & 1, inside);
            if (!inside)
                continue;
            uint64_t at[4] = {box->lo[0], box->lo[1] + (uint64_t)s * g->step_z + z, box->lo[2] + y, box->lo[3] + x};
            if (v->rank == 1) {
                at[1] = 0;
                at[3] = box->lo[3] + (uint64_t)s * FLOE_STEP_VALUES + x;
            }
            for (int a = 0; a < 4; a++)
                assert_true(at[a] < v->extent[a]);
            uint64_t cell = ((at[0] * v->extent[1] + at[1]) * v->extent[2] + at[2]) * v->extent[3] + at[3];
            assert_int_equal(seen[cell]++, 0);
        }
    }
    assert_int_equal(step.full, n == FLOE_STEP_VALUES);
    assert_int_equal(n, (uint64_t)step.nz * step.ny * step.nx);
    return n;
}

static void check_cover(uint32_t rank, const uint64_t *extent, bool swap)
{
    floe_view v;
    uint64_t ncells = 1, total = 0, ntiles = 1;
    if (!floe_view_of(rank, extent, swap, &v))
        return;
    for (uint32_t a = 0; a < rank; a++)
        ncells *= extent[a];
    for (int a = 0; a < 4; a++)
        ntiles *= v.tiles[a];
    assert_int_equal(ntiles, v.ntiles);
    uint8_t *seen = calloc(ncells, 1);
    for (uint64_t tile = 0; tile < v.ntiles; tile++) {
        floe_tile_box box;
        floe_view_tile(&v, tile, &box);
        assert_true(box.nsteps >= 1 && box.nsteps <= FLOE_TILE_STEPS && box.ncells >= 1);
        assert_true(box.ncells <= FLOE_TILE_VALUES);
        uint64_t n = 0;
        for (uint32_t s = 0; s < box.nsteps; s++)
            n += mark_step(&v, &box, s, seen);
        assert_int_equal(n, box.ncells);
        total += n;
    }
    assert_int_equal(total, ncells);
    free(seen);
}

static void every_cell_is_in_one_place(void **unused)
{
    static const uint64_t lines[] = {1, 2, 31, 32, 33, 1023, 1024, 1025, 8191, 8192, 8193, 20000};
    static const uint64_t some[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129};
    (void)unused;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        check_cover(1, (const uint64_t[]){lines[i]}, false);
    for (size_t i = 0; i < 20; i++)
        for (size_t j = 0; j < 20; j++)
            check_cover(2, (const uint64_t[]){some[i], some[j]}, false);
    for (uint64_t z = 1; z <= 18; z++) /* every extent of a partial tile, along each axis */
        check_cover(3, (const uint64_t[]){z, 5, 9}, false);
    for (uint64_t y = 1; y <= 18; y++)
        check_cover(3, (const uint64_t[]){3, y, 33}, false);
    for (uint64_t x = 1; x <= 66; x++)
        check_cover(3, (const uint64_t[]){2, 3, x}, false);
    for (int swap = 0; swap < 2; swap++)
        for (uint64_t a = 1; a < 5; a++)
            for (uint64_t b = 1; b < 19; b += 5) {
                check_cover(4, (const uint64_t[]){a, b, 5, 9}, swap);
                check_cover(4, (const uint64_t[]){b, a, 17, 33}, swap);
                check_cover(4, (const uint64_t[]){a, 2, b, 8}, swap);
            }
}

static void large_extents_do_not_overflow(void **unused)
{
    const uint64_t huge[] = {(uint64_t)1 << 40, (uint64_t)1 << 18};
    floe_view v;
    floe_tile_box box;
    (void)unused;
    assert_true(floe_view_of(2, huge, false, &v));
    assert_int_equal(v.ntiles, ((uint64_t)1 << 34) << 11);
    floe_view_tile(&v, v.ntiles - 1, &box);
    assert_true(box.lo[FLOE_VIEW_Z] == huge[0] - 64 && box.lo[FLOE_VIEW_X] == huge[1] - 128);
    assert_int_equal(box.ncells, FLOE_TILE_VALUES);
    const uint64_t line[] = {((uint64_t)1 << 60) + 1};
    assert_true(floe_view_of(1, line, false, &v));
    floe_view_tile(&v, v.ntiles - 1, &box);
    assert_true(box.lo[FLOE_VIEW_X] == line[0] - 1 && box.ncells == 1 && box.nsteps == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometries_fill_steps),         cmocka_unit_test(axes_find_their_places),
        cmocka_unit_test(only_four_axes_can_be_swapped), cmocka_unit_test(every_cell_is_in_one_place),
        cmocka_unit_test(large_extents_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
