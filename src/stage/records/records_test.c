/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage records: grids come back from their entropy chunks, by any number of threads, as a whole and in boxes; a damaged chunk is reported,
 * and spoils no other; a box of cells has all of its records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stage/records/records.h"
#define KIT_FAIL fail_msg
#include "tests/codec_kit.h"

typedef struct trial {
    floe_context_spec spec;
    floe_context_grid grid;
    bool sparse, wide, unchecked; /* unchecked: nobody looks at checks */
    uint32_t checked, each;       /* each: bytes of a record */
    uint64_t nbytes, nchunks, nsizes;
    uint8_t *data, *sizes, *checks, *stream, tables[2 + FLOE_CONTEXT_TABLES_NBYTES];
    uint64_t stream_nbytes, tables_nbytes;
} trial;

/* Most are 0, some stretches wholly. */
static void fill(trial *t, uint64_t *state)
{
    const uint64_t rare = 2 + hostile_below(state, 20);
    bool quiet = false;
    for (uint64_t i = 0; i < t->nbytes; i++) {
        const uint64_t r = hostile_random(state), place = i % t->each, size = t->spec.width ? t->spec.width : 1;
        quiet = i % 4096 ? quiet : r >> 40 & 1;
        const bool last = t->spec.width && place / size == FLOE_CONTEXT_CLASSES, high = place % size == 1;
        t->data[i] = quiet || last || high || r % rare ? 0 : (uint8_t)(r >> 32 & (t->spec.width ? 63 : 127));
    }
}

static trial trial_of(uint64_t *state)
{
    static const uint32_t windows[] = {1, 2, 4, 8};
    trial t = {.sparse = hostile_below(state, 2), .wide = hostile_below(state, 2)};
    t.spec = (floe_context_spec){(uint32_t)hostile_below(state, 3), windows[hostile_below(state, 4)],
                                 hostile_below(state, 2)};
    const uint32_t most = 8u << hostile_below(state, 5);
    t.grid = floe_records_grid_of(1 + hostile_below(state, 5), 1 + hostile_below(state, 90),
                                  1 + hostile_below(state, 90), most, t.spec.planes ? 1 + most / 8 : most);
    t.each = floe_context_record_nbytes(&t.spec);
    t.nbytes = floe_context_nrecords(&t.grid) * t.each;
    t.nchunks = floe_context_nchunks(&t.grid);
    t.checked = (uint32_t)hostile_below(state, 4);
    t.data = malloc(t.nbytes);
    t.nsizes = t.nchunks * (t.wide ? 4 : 2);
    t.sizes = malloc(t.nsizes);
    t.checks = malloc(2 * t.nchunks);
    t.stream = malloc(8 * t.nbytes + 200 * t.nchunks);
    fill(&t, state);
    return t;
}

static void trial_free(trial *t)
{
    free(t->data);
    free(t->sizes);
    free(t->checks);
    free(t->stream);
}

static floe_records_coder coder_of(const floe_cpu *cpu, bool encode, bool sparse)
{
    floe_arena plan = floe_arena_plan();
    floe_records_coder_take(cpu, encode, 0, &plan);
    floe_arena arena = floe_arena_of(kit_scratch(plan.used)->data, plan.used);
    floe_records_coder c = floe_records_coder_take(cpu, encode, 0, &arena);
    assert_false(arena.overflow);
    c.sparse = sparse;
    return c;
}

static void encode(trial *t, const floe_cpu *cpu)
{
    static uint32_t counts[FLOE_CONTEXT_COUNTS];
    floe_context_tables tables;
    const floe_records_coder coder = coder_of(cpu, true, t->sparse);
    const floe_records r = {&t->spec, &t->grid, t->data};
    floe_cursor head = floe_cursor_of(t->tables, sizeof t->tables),
                to = floe_cursor_of(t->stream, 8 * t->nbytes + 200 * t->nchunks);
    floe_records_sizes sizes = {.at = t->sizes, .checks = t->checks, .wide = t->wide, .checked = t->checked};
    floe_records_count(&coder, &r, 1, counts);
    floe_context_tables_build(cpu, &t->spec, counts, &tables);
    floe_records_tables_write(&t->spec, &tables, &head);
    floe_records_encode(&coder, &r, &tables, &sizes, &to);
    assert_false(head.bad || to.bad || sizes.too_long);
    t->tables_nbytes = (uint64_t)(head.at - t->tables);
    t->stream_nbytes = (uint64_t)(to.at - t->stream);
    assert_int_equal(floe_records_sizes_add(t->sizes, t->wide, t->nchunks), t->stream_nbytes);
}

/* ---- decoding ---------------------------------------------------------------------------------------------------------- */

typedef struct losses {
    const trial *t;
    bool *lost;
    uint64_t n;
} losses;

static void damaged(void *user, uint64_t index)
{
    losses *l = user;
    assert_true(index < l->t->nchunks && !l->lost[index]);
    l->lost[index] = true;
    l->n++;
}

/* Of `have` bytes of the stream. lost: NULL, or of each chunk. */
static bool decode(const trial *t, const floe_cpu *cpu, uint64_t have, const floe_context_box *box, losses *lost,
                   uint8_t *data)
{
    floe_context_tables tables;
    const floe_records_coder coder = coder_of(cpu, false, t->sparse);
    floe_reader head = floe_reader_of(t->tables, t->tables_nbytes), from = floe_reader_of(t->stream, have);
    const floe_records r = {&t->spec, &t->grid, data};
    floe_records_stream stream = {.sizes = t->sizes, .wide = t->wide, .checked = t->checked};
    stream.checks = t->unchecked ? NULL : t->checks;
    if (lost) {
        stream.damaged = damaged;
        stream.user = lost;
    }
    assert_true(floe_records_tables_read(&t->spec, &head, &tables));
    floe_context_decoder_of(&t->spec, &tables, FLOE_ANS_BEGIN, coder.decoder);
    return floe_records_stream_take(&stream, t->nchunks, &from) && floe_records_decode(&coder, &r, &stream, box);
}

/* The chunk's records are those of the trial, or all 0. */
static void assert_chunk(const trial *t, uint64_t index, bool lost, const uint8_t *data)
{
    static const uint8_t zeros[16 * FLOE_ANS_LANES];
    const floe_context_chunk c = floe_context_chunk_of(&t->grid, index);
    for (uint32_t row = 0; row < c.planes * c.rows; row++) {
        const uint64_t at = floe_context_row(&c, row) * t->each;
        assert_memory_equal(data + at, lost ? zeros : t->data + at, c.lanes * t->each);
    }
}

static void grids_come_back(void **unused)
{
    uint64_t state = 21;
    (void)unused;
    for (int turn = 0; turn < 300; turn++) {
        trial t = trial_of(&state), other = t;
        const floe_cpu one = kit_cpu(1, FLOE_ISA_PLAIN), some = kit_cpu(1 + turn % 4, FLOE_ISA_AVX2);
        kit_block out = kit_block_of(t.nbytes);
        encode(&t, &one);
        other.stream = malloc(8 * t.nbytes + 200 * t.nchunks);
        encode(&other, &some);
        assert_int_equal(other.stream_nbytes, t.stream_nbytes);
        assert_memory_equal(other.stream, t.stream, t.stream_nbytes);
        free(other.stream);
        assert_true(decode(&t, &some, t.stream_nbytes, NULL, NULL, out.data));
        assert_memory_equal(out.data, t.data, t.nbytes);
        floe_context_box box;
        for (int a = 0; a < 3; a++) {
            box.lo[a] = hostile_below(&state, t.grid.size[a]);
            box.hi[a] = box.lo[a] + 1 + hostile_below(&state, t.grid.size[a] - box.lo[a]);
        }
        memset(out.data, 0xEE, t.nbytes);
        assert_true(decode(&t, &some, t.stream_nbytes, &box, NULL, out.data));
        for (uint64_t p = box.lo[0]; p < box.hi[0]; p++)
            for (uint64_t y = box.lo[1]; y < box.hi[1]; y++) {
                const uint64_t at = ((p * t.grid.size[1] + y) * t.grid.size[2] + box.lo[2]) * t.each;
                assert_memory_equal(out.data + at, t.data + at, (box.hi[2] - box.lo[2]) * t.each);
            }
        kit_block_free(&out);
        trial_free(&t);
    }
}

static void damage_stays_where_it_is(void **unused)
{
    uint64_t state = 22;
    (void)unused;
    for (int turn = 0; turn < 300; turn++) {
        trial t = trial_of(&state);
        const floe_cpu cpu = kit_cpu(1 + turn % 3, FLOE_ISA_AVX2);
        kit_block out = kit_block_of(t.nbytes);
        losses lost = {.t = &t, .lost = calloc(t.nchunks, sizeof *lost.lost)};
        encode(&t, &cpu);
        const bool cut = t.stream_nbytes == 0 || turn % 2;
        const uint64_t place = t.stream_nbytes ? hostile_below(&state, t.stream_nbytes) : 0;
        t.unchecked = cut && turn % 4 == 1;
        if (!cut)
            t.stream[place] ^= (uint8_t)(1 << hostile_below(&state, 8));
        const uint64_t have = cut ? place : t.stream_nbytes;
        assert_true(decode(&t, &cpu, have, NULL, &lost, out.data));
        uint64_t begin = 0, reported = 0;
        for (uint64_t i = 0; i < t.nchunks; i++) {
            const uint64_t end = begin + floe_records_sizes_add(t.sizes + i * (t.wide ? 4 : 2), t.wide, 1);
            if (cut ? end > have : begin <= place && place < end)
                assert_true(lost.lost[i]);
            assert_chunk(&t, i, lost.lost[i], out.data);
            reported += lost.lost[i];
            begin = end;
        }
        assert_int_equal(reported, lost.n);
        assert_true(cut || lost.n <= 1u << t.checked);
        if (lost.n)
            assert_false(decode(&t, &cpu, have, NULL, NULL, out.data));
        free(lost.lost);
        kit_block_free(&out);
        trial_free(&t);
    }
}

/* ---- boxes of cells ---------------------------------------------------------------------------------------------------- */

static void assert_within(const floe_context_grid *g, const floe_context_box *b, uint64_t record)
{
    const uint64_t at[] = {record / g->size[2] / g->size[1], record / g->size[2] % g->size[1], record % g->size[2]};
    for (int a = 0; a < 3; a++)
        assert_true(at[a] >= b->lo[a] && at[a] < b->hi[a]);
}

static void boxes_of_cells_have_their_records(void **unused)
{
    uint64_t state = 23;
    (void)unused;
    for (int turn = 0; turn < 2000; turn++) {
        floe_lattice_step s = {.naxes = 1 + (uint32_t)hostile_below(&state, 3)};
        floe_lattice_box box;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            s.fine[a] = 1 + hostile_below(&state, a == 3 ? 200 : 12);
        for (uint32_t i = 0; i < s.naxes; i++)
            s.axis[i] = (uint32_t)(turn + i) % FLOE_LATTICE_RANK;
        floe_lattice_coarsen(&s);
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
            box.lo[a] = hostile_below(&state, s.coarse[a]);
            box.hi[a] = box.lo[a] + 1 + hostile_below(&state, s.coarse[a] - box.lo[a]);
        }
        const uint64_t row = floe_lattice_row_records(&s), *n = s.coarse;
        const floe_context_grid g = floe_records_grid_of(n[0] * n[1], n[2], row, 64, 64);
        const floe_context_box records = floe_records_cells_box(&g, &s, &box);
        uint64_t at[FLOE_LATTICE_RANK];
        for (at[0] = box.lo[0]; at[0] < box.hi[0]; at[0]++)
            for (at[1] = box.lo[1]; at[1] < box.hi[1]; at[1]++)
                for (at[2] = box.lo[2]; at[2] < box.hi[2]; at[2]++)
                    for (at[3] = box.lo[3]; at[3] < box.hi[3]; at[3]++) {
                        const uint64_t first = ((at[0] * n[1] + at[1]) * n[2] + at[2]) * row;
                        for (uint64_t code = at[3] << s.naxes; code < ((at[3] + 1) << s.naxes) - 1; code++)
                            assert_within(&g, &records, first + code / 8);
                    }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grids_come_back), cmocka_unit_test(damage_stays_where_it_is),
                                       cmocka_unit_test(boxes_of_cells_have_their_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
