/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage interp against its definition, point by point on whole lattices: codes and lattices of every kind of step, in tiles of any
 * order, and boxes of them, by each instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KIT_FAIL fail_msg
#include "stage/interp/interp.h"
#include "stage/interp/interp_math.h"
#include "tests/codec_kit.h"

#define DTYPE (FLOE_REAL_BITS == 32 ? FLOE_F32 : FLOE_F64)

typedef struct trial {
    floe_lattice_step step;
    floe_interp_rule rule;
    floe_lattice_view original;
    uint64_t npoints, ncodes;
    floe_real *values, *coarse, *want; /* fine originals, coarse lattice, fine lattice by definition */
    int16_t *codes;                    /* as records of 16 bits */
} trial;

static uint64_t at_of(const uint64_t *n, const uint64_t *p)
{
    return ((p[0] * n[1] + p[1]) * n[2] + p[2]) * n[3] + p[3];
}

/* Prediction along the step's axis number `place`, from the lattice as it is. */
static floe_real along(const trial *t, const uint64_t *point, uint32_t place)
{
    const floe_lattice_step *s = &t->step;
    const uint32_t axis = s->axis[place];
    const uint64_t g = point[axis] / 2;
    const FLOE_R(floe_interp_weights) w = FLOE_R(floe_interp_weights_at)(t->rule.predictor, g, s->coarse[axis]);
    const floe_real weight[] = {w.before, w.here, w.after, w.beyond};
    floe_real e[4];
    for (int k = 0; k < 4; k++) {
        uint64_t p[FLOE_LATTICE_RANK];
        memcpy(p, point, sizeof p);
        p[axis] = weight[k] != 0 ? 2 * (g + (uint64_t)k - 1) : 2 * g;
        e[k] = t->want[at_of(s->fine, p)];
    }
    return FLOE_R(floe_interp_predict)(w, e[0], e[1], e[2], e[3]);
}

static void define_point(trial *t, const uint64_t *point, uint32_t class)
{
    const floe_lattice_step *s = &t->step;
    const floe_real step = (floe_real)t->rule.step, limit = s->width == 1 ? 127 : 32767;
    const uint64_t cell[] = {point[0] >> floe_lattice_is_active(s, 0), point[1] >> floe_lattice_is_active(s, 1),
                             point[2] >> floe_lattice_is_active(s, 2), point[3] >> floe_lattice_is_active(s, 3)};
    uint32_t top = floe_top_bit(class), count = 1;
    floe_real p = along(t, point, top);
    for (uint32_t place = 0; place < top && t->rule.mean; place++)
        if (class >> place & 1) {
            p = p + along(t, point, place);
            count++;
        }
    if (count > 1)
        p = p * ((floe_real)1 / (floe_real)count);
    const uint64_t at = at_of(s->fine, point), *m = s->coarse;
    const floe_real q = FLOE_R(floe_interp_encode)(t->values[at], p, 1 / step, limit);
    t->want[at] = FLOE_R(floe_interp_decode)(q, step, p);
    t->codes[((cell[0] * m[1] + cell[1]) * m[2] + cell[2]) * floe_lattice_row_records(s) * 8 + (cell[3] << s->naxes) +
             class - 1] = (int16_t)q;
}

static void define(trial *t)
{
    static const uint32_t classes[] = {0, 1, 2, 4, 3, 5, 6, 7};
    const uint64_t *n = t->step.fine;
    for (int k = 0; k < 8; k++)
        for (uint64_t i = 0; i < t->npoints; i++) {
            const uint64_t p[] = {i / n[3] / n[2] / n[1], i / n[3] / n[2] % n[1], i / n[3] % n[2], i % n[3]};
            uint64_t cell[FLOE_LATTICE_RANK];
            uint32_t class = 0;
            for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
                const uint32_t place = floe_lattice_place(&t->step, a);
                cell[a] = place < t->step.naxes ? p[a] / 2 : p[a];
                class |= place < t->step.naxes ? (uint32_t)(p[a] & 1) << place : 0;
            }
            if (class != classes[k])
                continue;
            if (class == 0)
                t->want[i] = t->coarse[at_of(t->step.coarse, cell)];
            else
                define_point(t, p, class);
        }
}

static trial trial_of(uint64_t *state)
{
    trial t = {.step = {.naxes = 1 + (uint32_t)hostile_below(state, 3), .axis = {0, 1, 2}}, .rule = {.step = 0.01}};
    floe_lattice_step *s = &t.step;
    const uint64_t large = hostile_below(state, 6); /* an axis longer than a tile, or none */
    t.rule.predictor = (uint32_t)hostile_below(state, FLOE_INTERP_PREDICTORS);
    t.rule.mean = hostile_below(state, 2);
    s->width = 1 + (uint32_t)hostile_below(state, 2);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        s->fine[a] = a == large ? (a == 3 ? 1100 : 40) : 2 + hostile_below(state, a == 0 ? 3 : 9);
    for (uint32_t i = 0; i < s->naxes; i++) {
        bool again = true;
        while (again) {
            s->axis[i] = (uint32_t)hostile_below(state, FLOE_LATTICE_RANK);
            again = false;
            for (uint32_t k = 0; k < i; k++)
                again |= s->axis[k] == s->axis[i];
        }
    }
    floe_lattice_coarsen(s);
    t.npoints = floe_lattice_points(s->fine);
    t.ncodes = 8 * floe_lattice_nrecords(s);
    t.values = malloc(t.npoints * sizeof *t.values);
    t.want = malloc(t.npoints * sizeof *t.want);
    t.coarse = malloc(floe_lattice_points(s->coarse) * sizeof *t.coarse);
    t.codes = calloc(t.ncodes, sizeof *t.codes);
    for (uint64_t i = 0; i < t.npoints; i++)
        t.values[i] = hostile_below(state, 50) ? (floe_real)(sin((double)i * 0.01) + 0.1 * hostile_uniform(state))
                                               : (floe_real)NAN;
    for (uint64_t i = 0; i < floe_lattice_points(s->coarse); i++)
        t.coarse[i] = (floe_real)(sin((double)i * 0.02) + 0.1 * hostile_uniform(state));
    t.original = floe_lattice_view_lattice(t.values, s->fine);
    define(&t);
    return t;
}

static floe_interp_job job_of(const trial *t, void *records, floe_real *fine)
{
    floe_interp_job job = {
        .step = &t->step, .rule = &t->rule, .coarse = t->coarse, .records = records, .original = t->original};
    job.fine = floe_lattice_view_lattice(fine, t->step.fine);
    job.tolerance = 1;
    memcpy(job.box.hi, t->step.fine, sizeof job.box.hi);
    memcpy(job.field, t->step.fine, sizeof job.field);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        job.unit[a] = 1;
    return job;
}

static void check_codes(const trial *t, const void *records)
{
    for (uint64_t i = 0; i < t->ncodes; i++)
        if ((t->step.width == 1 ? ((const int8_t *)records)[i] : ((const int16_t *)records)[i]) != t->codes[i])
            fail_msg("code %llu", (unsigned long long)i);
}

static void one_trial(const trial *t, const floe_interp_ops *ops, uint64_t *state)
{
    static floe_real scratch[FLOE_INTERP_TILE_REALS];
    const uint64_t *n = t->step.fine, nwords = n[0] * n[1] * n[2] * floe_ceil_div(n[3], 64);
    floe_real *fine = malloc(t->npoints * sizeof *fine);
    void *records = calloc(t->ncodes, t->step.width);
    uint64_t *apart = calloc(nwords, sizeof *apart);
    floe_interp_found found = {.squares = 0};
    floe_interp_job job = job_of(t, records, fine);
    job.apart = apart;
    floe_interp_tiles tiles = floe_interp_tiles_of(&job);
    for (uint64_t i = 0, from = hostile_below(state, tiles.count); i < tiles.count; i++) {
        const floe_lattice_box box = floe_interp_tile(&tiles, (i + from) % tiles.count);
        ops->encode(&job, &box, scratch, &found);
    }
    assert_memory_equal(fine, t->want, t->npoints * sizeof *fine);
    check_codes(t, records);
    for (int part = 0; part < 2; part++) { /* the whole, then a box */
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK && part; a++) {
            job.box.lo[a] = hostile_below(state, n[a]);
            job.box.hi[a] = job.box.lo[a] + 1 + hostile_below(state, n[a] - job.box.lo[a]);
        }
        memset(fine, 0x55, t->npoints * sizeof *fine);
        tiles = floe_interp_tiles_of(&job);
        for (uint64_t i = tiles.count; i-- > 0;) {
            const floe_lattice_box box = floe_interp_tile(&tiles, i);
            ops->decode(&job, &box, scratch);
        }
        for (uint64_t i = 0; i < t->npoints; i++) {
            const uint64_t p[] = {i / n[3] / n[2] / n[1], i / n[3] / n[2] % n[1], i / n[3] % n[2], i % n[3]};
            uint64_t q[FLOE_LATTICE_RANK];
            bool inside = true;
            for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
                inside = inside && p[a] >= job.box.lo[a] && p[a] < job.box.hi[a];
                q[a] = p[a] - job.box.lo[a];
            }
            if (inside)
                assert_memory_equal(&fine[at_of(n, q)], &t->want[i], sizeof *fine);
        }
    }
    free(fine);
    free(records);
    free(apart);
}

static void tiles_do_as_defined(void **unused)
{
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    uint64_t state = 5;
    (void)unused;
    for (int turn = 0; turn < 150; turn += FLOE_TEST_STRIDE) {
        trial t = trial_of(&state);
        one_trial(&t, floe_interp_ops_of(DTYPE, FLOE_ISA_PLAIN), &state);
        one_trial(&t, floe_interp_ops_of(DTYPE, cpu.isa), &state);
        free(t.values);
        free(t.want);
        free(t.coarse);
        free(t.codes);
    }
}

static void short_last_axes_are_turned(void **unused)
{
    static const struct {
        uint32_t rank, turns;
        uint64_t extent[FLOE_MAX_RANK], shape[FLOE_LATTICE_RANK];
    } cases[] = {{1, 0, {1000}, {1, 1, 1, 1000}},           {2, 0, {1000, 1}, {1, 1, 1, 1000}},
                 {2, 1, {1000, 2}, {1, 1, 2, 1000}},        {2, 0, {2, 1000}, {1, 1, 2, 1000}},
                 {3, 0, {48, 48, 48}, {1, 48, 48, 48}},     {3, 1, {10, 144, 48}, {1, 48, 10, 144}},
                 {3, 0, {900, 143, 48}, {1, 900, 143, 48}}, {3, 0, {500, 500, 49}, {1, 500, 500, 49}},
                 {3, 0, {8, 8, 8}, {1, 8, 8, 8}},           {3, 2, {16, 5, 8}, {1, 5, 8, 16}},
                 {3, 1, {15, 9, 7}, {1, 7, 15, 9}},         {4, 1, {500, 3, 1, 1}, {1, 1, 3, 500}},
                 {4, 1, {70, 1, 1, 20}, {1, 1, 20, 70}},    {4, 1, {20, 70, 60, 3}, {20, 3, 70, 60}},
                 {4, 1, {5, 70, 60, 20}, {5, 20, 70, 60}},  {4, 2, {20, 70, 2, 3}, {2, 3, 20, 70}},
                 {4, 0, {1, 1, 1, 1}, {1, 1, 1, 1}}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t shape[FLOE_LATTICE_RANK];
        const uint32_t turns = floe_lattice_turns_of(cases[i].rank, cases[i].extent);
        uint8_t byte = (uint8_t)turns;
        uint32_t read;
        assert_int_equal(turns, cases[i].turns);
        assert_true(floe_lattice_shape_of(cases[i].rank, cases[i].extent, turns, shape));
        assert_memory_equal(shape, cases[i].shape, sizeof shape);
        assert_true(floe_lattice_turns_read(&byte, 1, 0, cases[i].rank, cases[i].extent, &read) && read == turns);
        byte = (uint8_t)(turns + 1);
        assert_false(floe_lattice_turns_read(&byte, 1, 0, cases[i].rank, cases[i].extent, &read));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_do_as_defined),
                                       cmocka_unit_test(short_last_axes_are_turned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
