/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage ans: frequencies add up, tables and streams come back, exact division, and damage is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stage/ans/ans.h"
#include "tests/hostile_kit.h"

enum { STEPS = 300, WORDS = 4 * STEPS * FLOE_ANS_LANES };

static void random_counts(uint64_t *state, uint32_t n, uint32_t *count)
{
    const uint64_t shape = hostile_below(state, 5);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t r = (uint32_t)hostile_random(state);
        count[i] = shape == 0   ? r % 3
                   : shape == 1 ? r >> r % 32
                   : shape == 2 ? i == r % n
                   : shape == 3 ? UINT32_MAX
                                : 1;
    }
    if (shape == 0)
        count[hostile_below(state, n)] = 1u << 30;
}

static uint32_t sum_of(const uint16_t *freq, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += freq[i];
    return sum;
}

static void tables_come_back(void **unused)
{
    uint64_t state = 1;
    (void)unused;
    for (int turn = 0; turn < 20000; turn++) {
        uint32_t n = 1 + (uint32_t)hostile_below(&state, FLOE_ANS_SYMBOLS), count[FLOE_ANS_SYMBOLS];
        const uint32_t bits = 8 + (uint32_t)hostile_below(&state, 5);
        uint16_t freq[FLOE_ANS_SYMBOLS], back[FLOE_ANS_SYMBOLS];
        uint8_t code[FLOE_ANS_SYMBOLS], bytes[160];
        random_counts(&state, n, count);
        floe_ans_normalise(count, n, bits, freq, code);
        uint32_t sum = sum_of(freq, n);
        assert_true(sum == 0 || sum == 1u << bits);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(freq[i] > 0, sum && count[i] > 0);
        floe_cursor to = floe_cursor_of(bytes, sizeof bytes);
        floe_ans_table_write(freq, code, n, &to);
        assert_false(to.bad);
        floe_reader from = floe_reader_of(bytes, (size_t)(to.at - bytes));
        assert_true(floe_ans_table_read(&from, n, bits, back));
        assert_int_equal(floe_reader_left(&from), 0);
        assert_memory_equal(freq, back, n * sizeof *freq);
        from = floe_reader_of(bytes, (size_t)(to.at - bytes - 1));
        assert_false(floe_ans_table_read(&from, n, bits, back));
    }
}

/* Whatever a reader accepts adds up. */
static void damaged_tables(void **unused)
{
    uint64_t state = 2, good = 0;
    (void)unused;
    for (int turn = 0; turn < 200000; turn++) {
        uint16_t freq[FLOE_ANS_SYMBOLS];
        uint8_t bytes[16];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(hostile_random(&state) & hostile_random(&state));
        floe_reader from = floe_reader_of(bytes, sizeof bytes);
        if (floe_ans_table_read(&from, 8, 10, freq)) {
            const uint32_t sum = sum_of(freq, 8);
            assert_true(sum == 0 || sum == 1024);
            good++;
        }
    }
    assert_in_range(good, 100, 199999);
}

/* The reciprocal divides all states by all frequencies, at the ends and in between. */
static void exact_division(void **unused)
{
    uint64_t state = 3;
    (void)unused;
    for (uint32_t bits = 8; bits <= FLOE_ANS_BITS; bits += 4)
        for (uint32_t f = 1; f <= 1u << bits; f++) {
            const uint32_t start = (1u << bits) - f;
            const floe_ans_symbol s = floe_ans_symbol_of(f, start, bits);
            for (int k = 0; k < 40; k++) {
                const uint32_t most = f << (31 - bits); /* states above have given a word away */
                uint32_t x = k == 0 ? most - 1 : k == 1 ? 1 : (uint32_t)hostile_below(&state, most);
                assert_int_equal(floe_ans_is_full(x, s, bits), false);
                assert_int_equal(floe_ans_is_full(most, s, bits), true);
                const uint32_t y = floe_ans_put(x, s, bits);
                assert_int_equal(y, (x / f << bits) + x % f + start);
                assert_int_equal(floe_ans_take(y, f, start, bits), x);
            }
        }
}

typedef struct stream {
    uint32_t nlanes, bits, n, nsteps;
    uint16_t freq[FLOE_ANS_SYMBOLS];
    uint8_t symbol[STEPS][FLOE_ANS_LANES];
    uint16_t raw[STEPS][FLOE_ANS_LANES];
    uint8_t nraw[STEPS][FLOE_ANS_LANES];
    uint8_t bytes[2 * WORDS];
    uint32_t nbytes;
} stream;

static void random_stream(stream *s, uint64_t *state)
{
    static uint16_t words[WORDS];
    uint32_t count[FLOE_ANS_SYMBOLS];
    uint8_t code[FLOE_ANS_SYMBOLS], of_slot[1 << FLOE_ANS_BITS];
    uint32_t spans[FLOE_ANS_SYMBOLS];
    floe_ans_symbol symbols[FLOE_ANS_SYMBOLS];
    floe_ans_encoder e;
    s->nlanes = 1 + (uint32_t)hostile_below(state, FLOE_ANS_LANES);
    s->bits = hostile_below(state, 2) ? 12 : 10;
    s->nsteps = (uint32_t)hostile_below(state, hostile_below(state, 2) ? STEPS + 1 : 5); /* few: chunks are short */
    s->n = 2 + (uint32_t)hostile_below(state, FLOE_ANS_SYMBOLS - 1);
    random_counts(state, s->n, count);
    count[0] += count[0] == 0;
    floe_ans_normalise(count, s->n, s->bits, s->freq, code);
    floe_ans_symbols_of(s->freq, s->n, s->bits, symbols);
    floe_ans_slots_of(s->freq, s->n, s->bits, of_slot, spans);
    floe_ans_encoder_begin(&e, FLOE_ANS_BEGIN, words + WORDS);
    for (uint32_t t = s->nsteps; t-- > 0;) {
        bool full = false;
        for (uint32_t lane = s->nlanes; lane-- > 0;) {
            const uint32_t r = (uint32_t)hostile_random(state);
            s->symbol[t][lane] = of_slot[r & ((1u << s->bits) - 1)];
            s->nraw[t][lane] = r >> 31 ? 1 + (r >> 16) % FLOE_ANS_RAW_BITS : 0;
            s->raw[t][lane] = (uint16_t)(hostile_random(state) & ((1u << s->nraw[t][lane]) - 1));
            full |= s->nraw[t][lane] && floe_ans_is_full_raw(e.state[lane], s->nraw[t][lane]);
        }
        floe_ans_encoder_lift(&e, full);
        for (uint32_t lane = s->nlanes; lane-- > 0;)
            if (s->nraw[t][lane])
                floe_ans_encoder_put_raw(&e, lane, s->raw[t][lane], s->nraw[t][lane]);
        full = false;
        for (uint32_t lane = s->nlanes; lane-- > 0;)
            full |= floe_ans_is_full(e.state[lane], symbols[s->symbol[t][lane]], s->bits);
        floe_ans_encoder_lift(&e, full);
        for (uint32_t lane = s->nlanes; lane-- > 0;)
            floe_ans_encoder_put(&e, lane, symbols[s->symbol[t][lane]], s->bits);
    }
    s->nbytes = floe_ans_encoder_nbytes(&e, s->nlanes);
    floe_ans_encoder_end(&e, s->nlanes, s->bytes);
}

/* Whether all of it comes back. */
static bool reads_back(const stream *s, uint32_t nbytes)
{
    uint8_t of_slot[1 << FLOE_ANS_BITS];
    uint32_t spans[FLOE_ANS_SYMBOLS], wrong = 0;
    floe_ans_decoder d;
    floe_ans_slots_of(s->freq, s->n, s->bits, of_slot, spans);
    uint8_t *exact = malloc(nbytes ? nbytes : 1); /* sanitizers see a word too many */
    memcpy(exact, s->bytes, nbytes);
    bool good = floe_ans_decoder_begin(&d, FLOE_ANS_BEGIN, s->nlanes, exact, nbytes);
    for (uint32_t t = 0; t < s->nsteps && good; t++) {
        for (uint32_t lane = 0; lane < s->nlanes; lane++)
            wrong += floe_ans_decoder_get(&d, lane, of_slot, spans, s->bits) != s->symbol[t][lane];
        floe_ans_decoder_step(&d);
        for (uint32_t lane = 0; lane < s->nlanes; lane++)
            if (s->nraw[t][lane])
                wrong += floe_ans_decoder_get_raw(&d, lane, s->nraw[t][lane]) != s->raw[t][lane];
        floe_ans_decoder_step(&d);
    }
    good = good && floe_ans_decoder_ended(&d, s->nlanes) && wrong == 0;
    free(exact);
    return good;
}

static void streams_come_back(void **unused)
{
    static stream s;
    uint64_t state = 4;
    uint32_t nshort = 0;
    (void)unused;
    for (int turn = 0; turn < 600; turn++) {
        random_stream(&s, &state);
        nshort += s.nbytes < 4 * s.nlanes;
        assert_true(reads_back(&s, s.nbytes));
        assert_false(reads_back(&s, s.nbytes - 4));
        assert_false(reads_back(&s, s.nbytes - 1));
        s.bytes[hostile_below(&state, s.nbytes)] ^= (uint8_t)(1 + hostile_below(&state, 255));
        (void)reads_back(&s, s.nbytes); /* nothing is read beyond the end */
    }
    assert_in_range(nshort, 50, 300);
}

/* A state near the largest one cannot be lifted. */
static void states_too_large_to_be_lifted(void **unused)
{
    (void)unused;
    enum { RAW = FLOE_ANS_RAW_BITS, ONES = (1 << RAW) - 1, N = 4 };
    uint16_t words[8];
    uint8_t bytes[64];
    for (int turn = 0; turn < 2; turn++) {
        floe_ans_encoder e;
        floe_ans_decoder d;
        floe_ans_encoder_begin(&e, turn ? FLOE_ANS_LEAST : FLOE_ANS_BEGIN, words + 8);
        for (uint32_t t = 0; t < N; t++) { /* lane 0 stops at 2^31 - 1, lane 1 goes on */
            bool full = false;
            for (uint32_t i = t < 2 ? 0 : 1; i < 2; i++)
                full |= floe_ans_is_full_raw(e.state[i], RAW);
            floe_ans_encoder_lift(&e, full);
            for (uint32_t i = 2; i-- > (t < 2 ? 0 : 1);)
                floe_ans_encoder_put_raw(&e, i, ONES, RAW);
        }
        assert_int_equal(e.failed, turn == 0);
        if (e.failed)
            continue;
        const uint32_t nbytes = floe_ans_encoder_nbytes(&e, 2);
        floe_ans_encoder_end(&e, 2, bytes);
        assert_true(floe_ans_decoder_begin(&d, FLOE_ANS_BEGIN, 2, bytes, nbytes));
        for (uint32_t t = N; t-- > 0; floe_ans_decoder_step(&d))
            for (uint32_t i = t < 2 ? 0 : 1; i < 2; i++)
                assert_int_equal(floe_ans_decoder_get_raw(&d, i, RAW), ONES);
        assert_true(floe_ans_decoder_ended(&d, 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_come_back), cmocka_unit_test(damaged_tables),
                                       cmocka_unit_test(exact_division), cmocka_unit_test(streams_come_back),
                                       cmocka_unit_test(states_too_large_to_be_lifted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
