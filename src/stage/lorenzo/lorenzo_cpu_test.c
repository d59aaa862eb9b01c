/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage lorenzo: there and back for every partial box and mode, against a decoder that goes cell by cell as
 * docs/format/lorenzo.md has it, and plain C against AVX2. One program for each element type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stage/lorenzo/lorenzo.h"
#include "tests/hostile_kit.h"

typedef FLOE_R(floe_lorenzo) walk_state;

/* Both instruction sets, whichever this file is compiled for. */
#define VARIANT_NAME(name, isa) FLOE_PASTE(FLOE_R(name), isa)
#define VARIANT_DECLARE(isa)                                                                                 \
    uint32_t VARIANT_NAME(floe_lorenzo_choose, isa)(uint32_t, const floe_step_box *, const floe_int *);      \
    void VARIANT_NAME(floe_lorenzo_begin, isa)(walk_state *, uint32_t, uint32_t, floe_int, bool);            \
    void VARIANT_NAME(floe_lorenzo_encode_step, isa)(walk_state *, const floe_step_box *, const floe_int *,  \
                                                     floe_step *);                                           \
    void VARIANT_NAME(floe_lorenzo_decode_step, isa)(walk_state *, const floe_step_box *, const floe_step *, \
                                                     floe_int *);
#define VARIANT(isa)                                                                                 \
    {                                                                                                \
        VARIANT_NAME(floe_lorenzo_choose, isa), VARIANT_NAME(floe_lorenzo_begin, isa),               \
            VARIANT_NAME(floe_lorenzo_encode_step, isa), VARIANT_NAME(floe_lorenzo_decode_step, isa) \
    }
typedef struct variant {
    uint32_t (*choose)(uint32_t, const floe_step_box *, const floe_int *);
    void (*begin)(walk_state *, uint32_t, uint32_t, floe_int, bool);
    void (*encode)(walk_state *, const floe_step_box *, const floe_int *, floe_step *);
    void (*decode)(walk_state *, const floe_step_box *, const floe_step *, floe_int *);
} variant;
VARIANT_DECLARE(_plain)
static const variant plain = VARIANT(_plain);
#ifdef FLOE_HAVE_AVX2_BUILD
VARIANT_DECLARE(_avx2)
static const variant avx2 = VARIANT(_avx2);
static const variant *fast(void) { return __builtin_cpu_supports("avx2") ? &avx2 : &plain; }
#else
static const variant *fast(void) { return &plain; }
#endif

/* ---- a tile: its steps and what is in them ------------------------------------------------------------------------ */

/* The integers of a step with room before and behind, where anything may stand. */
typedef struct step_values {
    floe_int before[16], q[FLOE_STEP_VALUES], behind[16];
} step_values;

typedef struct tile {
    uint32_t rank, nsteps;
    floe_step_box boxes[FLOE_TILE_STEPS];
    step_values values[FLOE_TILE_STEPS];
} tile;

/* A tile of these extents: z in planes (rank 1: values in all, as x). */
static void tile_shape(tile *t, uint32_t rank, uint32_t nz, uint32_t ny, uint32_t nx)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    t->rank = rank;
    t->nsteps = rank == 1 ? (nx + 1023) / 1024 : (nz + g.step_z - 1) / g.step_z;
    for (uint32_t s = 0; s < t->nsteps; s++) {
        uint32_t z = rank == 1 ? 1 : nz - s * g.step_z, x = rank == 1 ? nx - s * 1024 : nx;
        floe_step_box b = {z < g.step_z ? z : g.step_z, ny, x < g.step_x ? x : g.step_x, false};
        b.full = b.nz == g.step_z && b.ny == g.step_y && b.nx == g.step_x;
        t->boxes[s] = b;
    }
}

enum { ZERO, CONSTANT, RAMP, SMALL, SLANTED, ANY, EXTREME, CAPS, FIRST_ONLY, NKINDS };

static floe_int value_of(int kind, uint32_t z, uint32_t y, uint32_t x, uint64_t *state)
{
    const uint64_t r = hostile_random(state);
    const floe_uint cap = FLOE_LORENZO_CAP;
    switch (kind) {
    case ZERO: return 0;
    case CONSTANT: return -77;
    case RAMP: return (floe_int)(5 * z + 3 * y + x);
    case SMALL: return (floe_int)(r % 9) - 4;
    case SLANTED: return (floe_int)((r % 5) + (uint64_t)x * x + 100 * (uint64_t)y * (r % 3));
    case EXTREME:
        return (floe_int)(r & 1 ? (floe_uint)1 << (FLOE_REAL_BITS - 1) : ~((floe_uint)1 << (FLOE_REAL_BITS - 1)));
    case CAPS: return (floe_int)(cap / 2 + (floe_uint)(r % 5) - 2) * (r & 64 ? 1 : -1); /* zigzag: near the cap */
    case FIRST_ONLY: return x + y + z == 0 ? (floe_int)r : 0;
    default: return (floe_int)r;
    }
}

/* Cells outside get rubbish, which must not matter. */
static void tile_fill(tile *t, int kind, uint64_t seed, uint64_t rubbish)
{
    const floe_tile_geometry g = floe_tile_geometry_of(t->rank);
    uint64_t state = seed;
    for (uint32_t s = 0; s < t->nsteps; s++) {
        floe_int *all = t->values[s].before;
        for (uint32_t i = 0; i < sizeof t->values[s] / sizeof *all; i++)
            all[i] = (floe_int)hostile_random(&rubbish);
        for (uint32_t z = 0; z < t->boxes[s].nz; z++)
            for (uint32_t y = 0; y < t->boxes[s].ny; y++)
                for (uint32_t x = 0; x < t->boxes[s].nx; x++)
                    t->values[s].q[(z * g.step_y + y) * g.step_x + x] = value_of(kind, s * g.step_z + z, y, x, &state);
    }
}

/* Place of value k of a group in the step's array. */
static uint32_t place_of(const floe_tile_geometry *g, uint32_t group, uint32_t k)
{
    const uint32_t across = g->step_x / g->group_x;
    const uint32_t x = group % across * g->group_x + k % g->group_x;
    const uint32_t y = group / across * g->group_y + k / g->group_x % g->group_y;
    return (k / (g->group_x * g->group_y) * g->step_y + y) * g->step_x + x;
}

/* ---- cell by cell ------------------------------------------------------------------------------------------------- */

typedef struct slow_walk {
    uint32_t mode;
    floe_uint base, corner, before[FLOE_STEP_VALUES];
} slow_walk;

static floe_uint slow_prediction(const slow_walk *w, const floe_uint *plane, uint32_t y, uint32_t x, uint32_t nx)
{
    const floe_uint *here = plane + y * nx + x;
    if (y == 0 && x == 0)
        return w->corner;
    switch (w->mode) {
    case FLOE_LORENZO_NONE: return w->base;
    case FLOE_LORENZO_X: return x ? here[-1] : *(here - nx);
    case FLOE_LORENZO_Y: return y ? *(here - nx) : here[-1];
    default: return y == 0 ? here[-1] : x == 0 ? *(here - nx) : here[-1] + *(here - nx) - *(here - nx - 1);
    }
}

static void slow_decode(slow_walk *w, uint32_t rank, const floe_step_box *box, const floe_step *step, floe_uint *q)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    const uint32_t area = g.step_y * g.step_x;
    floe_uint r[FLOE_STEP_VALUES];
    uint8_t flat[FLOE_STEP_VALUES];
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++)
        for (uint32_t k = 0; k < FLOE_GROUP_VALUES; k++) {
            floe_uint u = step->residual[group][k];
            r[place_of(&g, group, k)] = u & 1 ? ~(u >> 1) : u >> 1;
            flat[place_of(&g, group, k)] = step->flat >> group & 1;
        }
    for (uint32_t z = 0; z < box->nz; z++)
        for (uint32_t i = 0; i < area; i++) {
            floe_uint before = i == 0 || flat[z * area + i] ? 0 : w->before[i], p = r[z * area + i] + before;
            q[z * area + i] = p + slow_prediction(w, q + z * area, i / g.step_x, i % g.step_x, g.step_x);
            w->before[i] = p;
            if (i == area - 1)
                w->corner = rank == 1 ? q[z * area + i] : q[z * area];
        }
}

/* ---- checks ------------------------------------------------------------------------------------------------------- */

static uint32_t width_of(floe_uint bits) { return bits ? 1 + floe_top_bit(bits) : 0; }

/* What other stages rely on: exact widths, nothing where there is no cell, flat only among those present. */
static void check_step(const tile *t, uint32_t s, const floe_step *step)
{
    const floe_tile_geometry g = floe_tile_geometry_of(t->rank);
    uint32_t valid[FLOE_STEP_GROUPS];
    floe_step_valid(&g, &t->boxes[s], valid);
    assert_int_equal(step->present, floe_step_present(&g, &t->boxes[s]));
    assert_int_equal(step->flat & ~step->present, 0);
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        floe_uint all = 0;
        for (uint32_t k = 0; k < FLOE_GROUP_VALUES; k++) {
            all |= step->residual[group][k];
            assert_true((valid[group] >> k & 1) || step->residual[group][k] == 0);
        }
        assert_int_equal(step->width[group], width_of(all));
    }
}

static void same_cells(const tile *t, uint32_t s, const floe_int *q, const char *who)
{
    const floe_tile_geometry g = floe_tile_geometry_of(t->rank);
    const floe_step_box *b = &t->boxes[s];
    for (uint32_t z = 0; z < b->nz; z++)
        for (uint32_t y = 0; y < b->ny; y++) {
            uint32_t at = (z * g.step_y + y) * g.step_x;
            if (memcmp(q + at, t->values[s].q + at, b->nx * sizeof *q) != 0)
                fail_msg("%s: rank %u, step %u, row %u of plane %u", who, t->rank, s, y, z);
        }
}

static void check_tile(tile *t, uint32_t mode, bool by_sum)
{
    static floe_step a[FLOE_TILE_STEPS], b[FLOE_TILE_STEPS];
    static step_values back;
    static floe_uint slow[FLOE_STEP_VALUES];
    walk_state by_plain, by_fast;
    slow_walk w = {mode, (floe_uint)t->values[0].q[0], (floe_uint)t->values[0].q[0], {0}};
    plain.begin(&by_plain, t->rank, mode, t->values[0].q[0], by_sum);
    fast()->begin(&by_fast, t->rank, mode, t->values[0].q[0], by_sum);
    for (uint32_t s = 0; s < t->nsteps; s++) {
        memset(&a[s], 0x11, sizeof a[s]);
        memset(&b[s], 0x22, sizeof b[s]);
        plain.encode(&by_plain, &t->boxes[s], t->values[s].q, &a[s]);
        fast()->encode(&by_fast, &t->boxes[s], t->values[s].q, &b[s]);
        check_step(t, s, &a[s]);
        assert_int_equal(a[s].flat, b[s].flat);
        assert_memory_equal(a[s].width, b[s].width, sizeof a[s].width);
        assert_memory_equal(a[s].residual, b[s].residual, sizeof a[s].residual);
        slow_decode(&w, t->rank, &t->boxes[s], &a[s], slow);
        same_cells(t, s, (const floe_int *)slow, "cell by cell");
    }
    for (int isa = 0; isa < 2; isa++) {
        const variant *v = isa ? fast() : &plain;
        v->begin(&by_plain, t->rank, mode, t->values[0].q[0], by_sum);
        for (uint32_t s = 0; s < t->nsteps; s++) {
            memset(&back, 0x33, sizeof back);
            v->decode(&by_plain, &t->boxes[s], &a[s], back.q);
            same_cells(t, s, back.q, isa ? "avx2" : "plain");
            for (int i = 0; i < 16; i++)
                assert_true(back.before[i] == back.behind[i] && (back.behind[i] & 0xFF) == 0x33);
        }
    }
}

/* Mode: any valid one, the same by both, and whatever stands outside the box. */
static void check_choice(tile *t, int kind, uint64_t seed)
{
    uint32_t mode = plain.choose(t->rank, &t->boxes[0], t->values[0].q);
    assert_true(t->rank == 3 ? mode < FLOE_LORENZO_MODES : mode == FLOE_LORENZO_X || mode == FLOE_LORENZO_NONE);
    assert_int_equal(fast()->choose(t->rank, &t->boxes[0], t->values[0].q), mode);
    tile_fill(t, kind, seed, seed + 999);
    assert_int_equal(plain.choose(t->rank, &t->boxes[0], t->values[0].q), mode);
    assert_int_equal(fast()->choose(t->rank, &t->boxes[0], t->values[0].q), mode);
}

static void check_extents(uint32_t rank, uint32_t nz, uint32_t ny, uint32_t nx, int kind)
{
    static tile t;
    static uint64_t seed;
    tile_shape(&t, rank, nz, ny, nx);
    seed++;
    tile_fill(&t, kind, seed, seed);
    for (uint32_t mode = 0; mode < FLOE_LORENZO_MODES; mode++)
        if (rank == 3 || mode == FLOE_LORENZO_X || mode == FLOE_LORENZO_NONE)
            check_tile(&t, mode, (seed + mode) % 2);
    check_choice(&t, kind, seed);
}

static void every_kind_in_full_tiles(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < NKINDS; kind++) {
        check_extents(1, 1, 1, 8192, kind);
        check_extents(2, 64, 1, 128, kind);
        check_extents(3, 16, 16, 32, kind);
    }
}

static void every_partial_extent(void **unused)
{
    int kind = 0;
    (void)unused;
    for (uint32_t n = 1; n <= 1030; n++)
        check_extents(1, 1, 1, n, kind++ % NKINDS);
    for (uint32_t n = 1031; n <= 8192; n += 119)
        check_extents(1, 1, 1, n, kind++ % NKINDS);
    for (uint32_t nz = 1; nz <= 64; nz++)
        check_extents(2, nz, 1, 1 + nz * 37 % 128, kind++ % NKINDS);
    for (uint32_t nx = 1; nx <= 128; nx++)
        check_extents(2, 1 + nx * 7 % 20, 1, nx, kind++ % NKINDS);
    for (uint32_t nz = 1; nz <= 16; nz++)
        for (uint32_t ny = 1; ny <= 16; ny++)
            check_extents(3, nz, ny, 1 + (nz * 11 + ny * 5) % 32, kind++ % NKINDS);
    for (uint32_t nx = 1; nx <= 32; nx++)
        for (uint32_t ny = 1; ny <= 16; ny += 5)
            check_extents(3, 3, ny, nx, kind++ % NKINDS);
}

/* Of both candidates a group takes the narrower one; of two as narrow that of the smaller sum, where that is requested; else
 * the deep one. */
static void check_narrower(bool by_sum)
{
    static tile t;
    static floe_step steps[2];
    walk_state w;
    tile_shape(&t, 3, 4, 16, 32);
    for (int kind = 0; kind < NKINDS; kind++) {
        tile_fill(&t, kind, (uint64_t)kind, 5);
        fast()->begin(&w, 3, FLOE_LORENZO_NONE, t.values[0].q[0], by_sum);
        fast()->encode(&w, &t.boxes[0], t.values[0].q, &steps[0]);
        fast()->encode(&w, &t.boxes[1], t.values[1].q, &steps[1]);
        const floe_tile_geometry g = floe_tile_geometry_of(3);
        for (uint32_t group = 1; group < FLOE_STEP_GROUPS; group++) { /* group 0 has the corner */
            floe_uint flat = 0, deep = 0, flat_sum = 0, deep_sum = 0;
            for (uint32_t k = 0; k < FLOE_GROUP_VALUES; k++) {
                uint32_t at = place_of(&g, group, k);
                floe_uint here = (floe_uint)t.values[1].q[at] - (floe_uint)t.values[0].q[0];
                floe_uint before = (floe_uint)(at < 512 ? t.values[0].q[at + 512] : t.values[1].q[at - 512]) -
                                   (floe_uint)t.values[0].q[0];
                const floe_uint u[2] = {FLOE_R(floe_zigzag)(here), FLOE_R(floe_zigzag)(here - before)};
                flat |= u[0];
                deep |= u[1];
                flat_sum += u[0] < FLOE_LORENZO_CAP ? u[0] : FLOE_LORENZO_CAP;
                deep_sum += u[1] < FLOE_LORENZO_CAP ? u[1] : FLOE_LORENZO_CAP;
            }
            uint32_t least = width_of(flat) < width_of(deep) ? width_of(flat) : width_of(deep);
            assert_int_equal(steps[1].width[group], least);
            if (width_of(flat) != width_of(deep))
                assert_int_equal(steps[1].flat >> group & 1, width_of(flat) < width_of(deep));
            else
                assert_int_equal(steps[1].flat >> group & 1, by_sum && flat_sum < deep_sum);
        }
    }
}

static void groups_choose_the_narrower(void **unused)
{
    (void)unused;
    check_narrower(false);
    check_narrower(true);
}

/* 32 values at the cap do not overflow a group's sum; with the cap the larger of two sums is still seen as such. */
static void sums_stay_below_the_cap(void **unused)
{
    const floe_uint cap = FLOE_LORENZO_CAP;
    (void)unused;
    assert_true(32 * cap > cap && 32 * cap / 32 == cap);
    for (int d = -1; d <= 1; d++) {
        static tile t;
        tile_shape(&t, 1, 1, 1, 2048);
        memset(t.values, 0, sizeof t.values);
        for (uint32_t i = 0; i < FLOE_STEP_VALUES; i++) {
            t.values[0].q[i] = 0;
            t.values[1].q[i] = i & 1 ? (floe_int)(cap / 2) + d : 0; /* differences of cap + 2 d, zigzag */
        }
        for (uint32_t mode = FLOE_LORENZO_X; mode < FLOE_LORENZO_MODES; mode += 2)
            check_tile(&t, mode, true);
        assert_int_equal(plain.choose(1, &t.boxes[1], t.values[1].q), fast()->choose(1, &t.boxes[1], t.values[1].q));
    }
}

static void zigzag_is_undone(void **unused)
{
    uint64_t state = 4;
    (void)unused;
    for (int i = 0; i < 100000; i++) {
        floe_uint v = (floe_uint)(hostile_random(&state) >> hostile_below(&state, 64));
        assert_true(FLOE_R(floe_unzigzag)(FLOE_R(floe_zigzag)(v)) == v);
        assert_true(FLOE_R(floe_zigzag)(FLOE_R(floe_unzigzag)(v)) == v);
    }
    assert_true(FLOE_R(floe_zigzag)(0) == 0 && FLOE_R(floe_zigzag)((floe_uint)-1) == 1 && FLOE_R(floe_zigzag)(1) == 2);
    for (uint64_t v = 1; v < 100000; v++) { /* grows with v, and is near the logarithm */
        assert_true(floe_log2_eighths(v) <= floe_log2_eighths(v + 1));
        assert_true(fabs(floe_log2_eighths(v) / 8.0 - log2((double)v)) < 0.22);
    }
}

/* Any step decodes, to the same by all: sums wrap. */
static void any_step_decodes(void **unused)
{
    static floe_step step;
    static floe_int q[2][FLOE_STEP_VALUES + 32];
    static floe_uint slow[FLOE_STEP_VALUES];
    uint64_t state = 6;
    (void)unused;
    for (uint32_t round = 0; round < 600; round++) {
        const uint32_t rank = 1 + round % 3, mode = rank == 3   ? round / 3 % 4
                                                    : round & 4 ? FLOE_LORENZO_X
                                                                : FLOE_LORENZO_NONE;
        const floe_tile_geometry g = floe_tile_geometry_of(rank);
        const floe_step_box box = {g.step_z, g.step_y, g.step_x, true};
        const floe_int base = (floe_int)hostile_random(&state);
        walk_state w[2];
        slow_walk s = {mode, (floe_uint)base, (floe_uint)base, {0}};
        plain.begin(&w[0], rank, mode, base, false);
        fast()->begin(&w[1], rank, mode, base, false);
        for (int k = 0; k < 3; k++) {
            step.present = UINT32_MAX;
            step.flat = (uint32_t)hostile_random(&state);
            for (uint32_t i = 0; i < FLOE_STEP_VALUES; i++)
                step.residual[i / 32][i % 32] = (floe_uint)hostile_random(&state);
            plain.decode(&w[0], &box, &step, q[0] + 16);
            fast()->decode(&w[1], &box, &step, q[1] + 16);
            slow_decode(&s, rank, &box, &step, slow);
            assert_memory_equal(q[0] + 16, slow, sizeof slow);
            assert_memory_equal(q[1] + 16, slow, sizeof slow);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_in_full_tiles),   cmocka_unit_test(every_partial_extent),
        cmocka_unit_test(groups_choose_the_narrower), cmocka_unit_test(sums_stay_below_the_cap),
        cmocka_unit_test(zigzag_is_undone),           cmocka_unit_test(any_step_decodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
