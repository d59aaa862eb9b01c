/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage lattice: a turned chunk has each value once, in the order of its axes; boxes of levels reach their places and nothing else; a step
 * has a code for each new point, and its axes come back from a byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stage/lattice/lattice.h"
#define KIT_FAIL fail_msg
#include "tests/codec_kit.h"

/* ---- turned chunks ----------------------------------------------------------------------------------------------------- */

static void short_last_axes_are_turned(void **unused)
{
    static const struct {
        uint64_t extent[FLOE_MAX_RANK];
        uint32_t rank, turns;
    } cases[] = {
        {{100, 100, 100, 3}, 4, 1},
        {{1000, 3}, 2, 1},
        {{64, 64, 64}, 3, 0},
        {{100, 8}, 2, 1},
        {{10, 8}, 2, 0},
        {{16, 8}, 2, 1},
        {{100, 100, 48}, 3, 0},
        {{150, 150, 48}, 3, 1},
        {{150, 150, 49}, 3, 0},
        {{200, 48, 3}, 3, 2},
        {{100, 1, 3}, 3, 1},
        {{1, 1, 5}, 3, 0},
        {{5}, 1, 0},
        {{1, 1, 1, 1}, 4, 0},
        {{3, 100, 100}, 3, 0},
        {{100, 3, 3, 3}, 4, 3},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t rule = cases[i].turns;
        assert_int_equal(floe_lattice_turns_of(cases[i].rank, cases[i].extent), rule);
        for (uint32_t byte = 0; byte < 256; byte++) {
            const uint8_t chunk[] = {7, (uint8_t)byte};
            uint32_t turns;
            assert_int_equal(floe_lattice_turns_read(chunk, 2, 1, cases[i].rank, cases[i].extent, &turns),
                             byte == 0 || byte == rule);
            assert_int_equal(turns, byte);
        }
    }
}

typedef struct chunk {
    uint64_t extent[FLOE_MAX_RANK], ncells, shape[FLOE_LATTICE_RANK];
    uint32_t rank, turns, order[FLOE_MAX_RANK]; /* order: the extent's axes, as the shape has them; nleft of them */
    uint32_t nleft;
    uint32_t *values, *turned; /* numbers of values, in C order and in that of the shape */
} chunk;

/* As docs/format/lattice.md has it. */
static void set_order(chunk *c)
{
    uint32_t left[FLOE_MAX_RANK], n = 0, to = 0;
    for (uint32_t a = 0; a < c->rank; a++)
        if (c->extent[a] > 1)
            left[n++] = a;
    const uint32_t stay = n - c->turns, last = stay < 2 ? stay : 2;
    for (uint32_t i = 0; i < stay - last; i++)
        c->order[to++] = left[i];
    for (uint32_t i = stay; i < n; i++)
        c->order[to++] = left[i];
    for (uint32_t i = stay - last; i < stay; i++)
        c->order[to++] = left[i];
    c->nleft = n;
}

static uint64_t number_of(const chunk *c, const uint64_t *at)
{
    uint64_t number = 0;
    for (uint32_t a = 0; a < c->rank; a++)
        number = number * c->extent[a] + at[a];
    return number;
}

static chunk chunk_of(uint64_t *state)
{
    static const uint64_t extents[] = {1, 1, 2, 3, 5, 8, 9, 16, 17, 40};
    chunk c = {.rank = 1 + (uint32_t)hostile_below(state, 4), .ncells = 1};
    uint64_t at[FLOE_MAX_RANK] = {0};
    for (uint32_t a = 0; a < c.rank; a++)
        c.ncells *= c.extent[a] = extents[hostile_below(state, sizeof extents / sizeof *extents)];
    c.turns = hostile_below(state, 4) ? floe_lattice_turns_of(c.rank, c.extent) : 0;
    set_order(&c);
    c.values = malloc(c.ncells * sizeof *c.values);
    c.turned = malloc(c.ncells * sizeof *c.turned);
    for (uint64_t i = 0; i < c.ncells; i++) {
        c.values[i] = (uint32_t)i;
        c.turned[i] = (uint32_t)number_of(&c, at);
        for (uint32_t k = c.nleft; k-- > 0; at[c.order[k]] = 0)
            if (++at[c.order[k]] < c.extent[c.order[k]])
                break;
    }
    assert_true(floe_lattice_shape_of(c.rank, c.extent, c.turns, c.shape));
    return c;
}

static void chunk_free(chunk *c)
{
    free(c->values);
    free(c->turned);
}

static void turned_chunks_have_each_value(void **unused)
{
    uint64_t state = 11;
    (void)unused;
    for (int turn = 0; turn < 1000; turn++) {
        chunk c = chunk_of(&state);
        const uint64_t nbytes = c.ncells * sizeof *c.values;
        kit_block out = kit_block_of(nbytes);
        floe_field field = floe_field_of(c.values, FLOE_F32, c.rank, c.extent);
        floe_cursor to = floe_cursor_of(out.data, nbytes);
        for (uint32_t k = 0; k < FLOE_LATTICE_RANK; k++) {
            const uint32_t i = k + c.nleft - FLOE_LATTICE_RANK; /* wraps for axes of one point, which are in front */
            assert_int_equal(c.shape[k], i < c.nleft ? c.extent[c.order[i]] : 1);
        }
        int64_t stride = 1;
        for (uint32_t a = c.rank; a-- > 0; stride *= (int64_t)c.extent[a])
            field.stride[a] = stride;
        floe_lattice_values_write(&field, c.turns, &to);
        assert_false(to.bad);
        assert_memory_equal(out.data, c.turned, nbytes);
        kit_block_free(&out);
        chunk_free(&c);
    }
}

/* ---- boxes of levels --------------------------------------------------------------------------------------------------- */

/* Values of all points, one by one: those of no place change nothing. pattern: NULL, or what all are. filled: what the same at once gave. */
static void put_all(const chunk *c, const floe_lattice_output *o, const uint32_t *pattern, uint32_t *filled,
                    uint64_t room)
{
    uint32_t *copy = malloc(room * sizeof *copy);
    uint64_t point[FLOE_LATTICE_RANK] = {0}, i = 0;
    memcpy(copy, filled, room * sizeof *copy);
    memset(filled, 0xEE, room * sizeof *copy);
    do
        floe_lattice_output_put(o, point, pattern ? *pattern : c->turned[i++]);
    while (floe_lattice_next_point(c->shape, point));
    assert_memory_equal(filled, copy, room * sizeof *copy);
    free(copy);
}

static void boxes_reach_their_places(void **unused)
{
    uint64_t state = 12;
    (void)unused;
    for (int turn = 0; turn < 1000; turn++) {
        chunk c = chunk_of(&state);
        const uint32_t level = (uint32_t)hostile_below(&state, 4), pattern = 0x12345678;
        const bool flat = hostile_below(&state, 4) == 0;
        uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], n[FLOE_MAX_RANK], room = 1, at[FLOE_MAX_RANK] = {0};
        floe_field out = {.dtype = FLOE_F32, .rank = c.rank};
        for (uint32_t a = c.rank; a-- > 0;) {
            const uint64_t all = floe_ceil_div(c.extent[a], (uint64_t)1 << level);
            lo[a] = hostile_below(&state, all);
            hi[a] = lo[a] + 1 + hostile_below(&state, all - lo[a]);
            out.shape[a] = n[a] = hi[a] - lo[a];
            out.stride[a] = (int64_t)room;
            room *= n[a] + hostile_below(&state, 2); /* now and then a gap */
        }
        uint32_t *values = malloc(room * sizeof *values);
        memset(values, 0xEE, room * sizeof *values);
        out.data = values;
        const floe_lattice_output o = floe_lattice_output_of(c.rank, c.extent, c.turns, lo, hi, &out, level);
        floe_lattice_output_fill(&o, c.shape, flat ? NULL : (const uint8_t *)c.turned, pattern);
        uint64_t nset = 0, nexpected = 1;
        for (uint64_t i = 0; i < room; i++)
            nset += values[i] != 0xEEEEEEEE;
        for (bool more = true; more;) {
            uint64_t from[FLOE_MAX_RANK], place = 0;
            for (uint32_t a = 0; a < c.rank; a++) {
                from[a] = (lo[a] + at[a]) << level;
                place += at[a] * (uint64_t)out.stride[a];
            }
            assert_int_equal(values[place], flat ? pattern : number_of(&c, from));
            more = false;
            for (uint32_t a = c.rank; a-- > 0 && !more; at[a] = more ? at[a] : 0)
                more = ++at[a] < n[a];
        }
        for (uint32_t a = 0; a < c.rank; a++)
            nexpected *= n[a];
        assert_int_equal(nset, nexpected);
        put_all(&c, &o, flat ? &pattern : NULL, values, room);
        free(values);
        chunk_free(&c);
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------------- */

/* Points of the fine lattice that a cell of the coarse one has, besides the one that it is. */
static uint64_t new_points(const floe_lattice_step *s, const uint64_t *cell)
{
    uint64_t count = 0;
    for (uint32_t class = 1; class < 1u << s->naxes; class ++) {
        bool is = true;
        for (uint32_t i = 0; i < s->naxes; i++)
            is = is && 2 * cell[s->axis[i]] + (class >> i & 1) < s->fine[s->axis[i]];
        count += is;
    }
    return count;
}

static void steps_have_a_code_for_each_new_point(void **unused)
{
    uint64_t state = 13;
    (void)unused;
    for (uint32_t byte = 0; byte < 256; byte++) {
        floe_lattice_step s = {.naxes = 0};
        uint64_t cell[FLOE_LATTICE_RANK] = {0}, count = 0;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            s.fine[a] = 1 + hostile_below(&state, 7);
        uint32_t used = 0;
        bool good = (byte & 3) > 0 && byte >> (2 + 2 * (byte & 3)) == 0;
        for (uint32_t i = 0; i < (byte & 3); i++) {
            const uint32_t axis = byte >> (2 + 2 * i) & 3;
            good = good && !(used >> axis & 1) && s.fine[axis] > 1;
            used |= 1u << axis;
        }
        uint8_t bytes[] = {(uint8_t)byte};
        floe_reader from = floe_reader_of(bytes, 1);
        assert_int_equal(floe_lattice_axes_read(&s, s.fine, &from), good);
        if (!good)
            continue;
        floe_cursor to = floe_cursor_of(bytes, 1);
        floe_lattice_axes_write(&s, &to);
        assert_int_equal(bytes[0], byte);
        floe_lattice_coarsen(&s);
        do
            count += new_points(&s, cell);
        while (floe_lattice_next_point(s.coarse, cell));
        assert_int_equal(floe_lattice_codes(&s), count);
        assert_true(8 * floe_lattice_row_records(&s) >= s.coarse[3] << s.naxes);
        uint32_t left[] = {1, 1, 1, 1};
        assert_true(floe_lattice_level_take(&s, left));
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            assert_int_equal(left[a], !floe_lattice_is_active(&s, a));
        assert_false(floe_lattice_level_take(&s, left));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_last_axes_are_turned),
        cmocka_unit_test(turned_chunks_have_each_value),
        cmocka_unit_test(boxes_reach_their_places),
        cmocka_unit_test(steps_have_a_code_for_each_new_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
