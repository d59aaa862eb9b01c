/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage context: records of every width, window and shape of grid come back, the same bytes by each instruction set; tables
 * take no more than they claim; damage is refused or harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stage/context/context.h"
#define KIT_FAIL fail_msg
#include "tests/codec_kit.h"

static floe_context_scratch scratch;
static floe_context_decoder decoder;

typedef struct trial {
    floe_context_spec spec;
    floe_context_grid grid;
    uint64_t nrecords, nbytes;
    uint8_t *records;
    uint8_t tables[FLOE_CONTEXT_TABLES_NBYTES];
    uint64_t tables_nbytes;
    uint32_t *sizes;
    uint8_t *stream; /* the chunks, one after another */
} trial;

/* Codes that are mostly 0, in stretches of other density. */
static void random_records(trial *t, uint64_t *state)
{
    const uint32_t width = t->spec.width;
    const uint64_t rare = 1 + hostile_below(state, 30), large = hostile_below(state, 4);
    memset(t->records, 0, t->nbytes);
    for (uint64_t i = 0; i < t->nrecords; i++) {
        const uint64_t r = hostile_random(state);
        if (width == 0) {
            t->records[i] = r % rare ? 0 : r >> 32 & 127;
            continue;
        }
        for (uint32_t c = 0; c < FLOE_CONTEXT_CLASSES; c++) {
            const uint64_t q = hostile_random(state);
            const int32_t most = width == 1 ? 127 : large ? FLOE_CONTEXT_LARGEST : 40;
            int32_t v = q % (rare + i % 64 / 8) ? 0 : (int32_t)(q >> 8 & 0x7FFF) % (q >> 32 & 7 ? 5 : most + 1);
            const int16_t wide = (int16_t)(q >> 40 & 1 ? -v : v);
            if (width == 1)
                t->records[8 * i + c] = (uint8_t)wide;
            else
                memcpy(t->records + 16 * i + 2 * c, &wide, 2);
        }
    }
}

static trial trial_of(uint64_t *state)
{
    static const uint32_t windows[] = {1, 2, 4, 8};
    trial t;
    memset(&t, 0, sizeof t);
    t.spec = (floe_context_spec){(uint32_t)hostile_below(state, 3), windows[hostile_below(state, 4)],
                                 hostile_below(state, 2)};
    const uint32_t most = 1 + (uint32_t)hostile_below(state, 200);
    t.grid = floe_context_grid_of(1 + hostile_below(state, 5), 1 + hostile_below(state, 70),
                                  1 + hostile_below(state, 80), most, t.spec.planes ? 1 + most / 8 : most);
    t.nrecords = t.grid.size[0] * t.grid.size[1] * t.grid.size[2];
    t.nbytes = t.nrecords * floe_context_record_nbytes(&t.spec);
    t.records = malloc(t.nbytes);
    t.stream = malloc(64 * t.nbytes + 300 * floe_context_nchunks(&t.grid));
    t.sizes = malloc(sizeof *t.sizes * floe_context_nchunks(&t.grid));
    random_records(&t, state);
    return t;
}

static void trial_free(trial *t)
{
    free(t->records);
    free(t->stream);
    free(t->sizes);
}

/* Returns the bytes of all chunks. */
static uint64_t trial_encode(trial *t, const floe_context_ops *ops)
{
    static uint32_t counts[FLOE_CONTEXT_COUNTS];
    static floe_ans_symbol symbols[FLOE_CONTEXT_COUNTS];
    floe_context_tables tables;
    uint64_t n = 0;
    memset(counts, 0, sizeof counts);
    for (uint64_t i = 0; i < floe_context_nchunks(&t->grid); i++) {
        const floe_context_chunk chunk = floe_context_chunk_of(&t->grid, i);
        ops->count(&t->spec, &chunk, t->records, counts, &scratch);
    }
    const uint64_t cost = floe_context_tables_build(&(floe_cpu){.threads = 1}, &t->spec, counts, &tables);
    floe_cursor to = floe_cursor_of(t->tables, sizeof t->tables);
    floe_context_tables_write(&t->spec, &tables, &to);
    assert_false(to.bad);
    t->tables_nbytes = (uint64_t)(to.at - t->tables);
    floe_context_symbols_of(&t->spec, &tables, symbols);
    for (uint64_t i = 0; i < floe_context_nchunks(&t->grid); i++) {
        const floe_context_chunk chunk = floe_context_chunk_of(&t->grid, i);
        t->sizes[i] = ops->encode(&t->spec, &chunk, t->records, symbols, &scratch);
        floe_ans_encoder_end(&scratch.encoder, chunk.lanes, t->stream + n);
        n += t->sizes[i];
    }
    const double said = (double)(cost >> 12) / 8 + (double)floe_context_tally_of(&t->spec, counts).raw / 8,
                 states = 132.0 * (double)floe_context_nchunks(&t->grid);
    assert_true((double)(n + t->tables_nbytes) < 1.03 * said + states + 200);
    return n;
}

static bool trial_decode(const trial *t, const floe_context_ops *ops, uint8_t *records)
{
    floe_context_tables tables;
    floe_reader from = floe_reader_of(t->tables, t->tables_nbytes);
    uint64_t at = 0;
    bool good = floe_context_tables_read(&t->spec, &from, &tables);
    if (!good)
        return false;
    floe_context_decoder_of(&t->spec, &tables, FLOE_ANS_BEGIN, &decoder);
    for (uint64_t i = 0; i < floe_context_nchunks(&t->grid); at += t->sizes[i++]) {
        const floe_context_chunk chunk = floe_context_chunk_of(&t->grid, i);
        uint8_t *exact = malloc(t->sizes[i] ? t->sizes[i] : 1);
        memcpy(exact, t->stream + at, t->sizes[i]);
        good &= ops->decode(&t->spec, &chunk, &decoder, exact, t->sizes[i], records);
        free(exact);
    }
    return good;
}

static void records_come_back(void **unused)
{
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    const floe_context_ops *plain = floe_context_ops_of(FLOE_ISA_PLAIN), *fast = floe_context_ops_of(cpu.isa);
    uint64_t state = 1;
    (void)unused;
    for (int turn = 0; turn < 300; turn++) {
        trial t = trial_of(&state), other = t;
        kit_block out = kit_block_of(t.nbytes);
        const uint64_t n = trial_encode(&t, plain);
        assert_true(trial_decode(&t, fast, out.data));
        assert_memory_equal(out.data, t.records, t.nbytes);
        other.stream = malloc(n);
        assert_int_equal(trial_encode(&other, fast), n);
        assert_memory_equal(other.stream, t.stream, n);
        free(other.stream);
        for (int k = 0; k < 4; k++) { /* damage */
            uint8_t *byte =
                k == 0 ? &t.tables[hostile_below(&state, t.tables_nbytes)] : &t.stream[hostile_below(&state, n)];
            *byte ^= (uint8_t)(1 + hostile_below(&state, 255));
            const bool good = trial_decode(&t, plain, out.data);
            assert_int_equal(trial_decode(&t, fast, out.data), good);
            if (k > 0)
                assert_false(good && memcmp(out.data, t.records, t.nbytes) != 0);
        }
        kit_block_free(&out);
        trial_free(&t);
    }
}

/* Codes of 2 bytes, read as those of 1: a stream that no writer makes. Contexts are the same. */
static void codes_too_large_are_cut(void **unused)
{
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    uint64_t state = 7;
    (void)unused;
    for (int turn = 0; turn < 100; turn++) {
        trial t = trial_of(&state);
        uint8_t *out = malloc(t.nbytes);
        if (t.spec.width == 2) {
            trial_encode(&t, floe_context_ops_of(FLOE_ISA_PLAIN));
            t.spec.width = 1;
            assert_true(trial_decode(&t, floe_context_ops_of(turn & 1 ? FLOE_ISA_PLAIN : cpu.isa), out));
        }
        for (uint64_t i = 0; t.spec.width == 1 && t.nbytes == 16 * t.nrecords && i < 8 * t.nrecords; i++) {
            int16_t wide;
            memcpy(&wide, t.records + 2 * i, sizeof wide);
            assert_int_equal((int8_t)out[i], wide > 127 ? 127 : wide < -127 ? -127 : wide);
        }
        free(out);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(records_come_back), cmocka_unit_test(codes_too_large_are_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
