/* SPDX-License-Identifier: BSD-3-Clause */
/* The codebook of stage huffman: optimal lengths, its own bits, what must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stage/huffman/huffman_book_math.h"
#include "stage/huffman/huffman_test_kit.h"

/* Bits of an optimal code of at most limit bits: package-merge on lists of (weight, symbols as counts). */
static uint64_t optimal_cost(const uint32_t *count, uint32_t nsymbols, uint32_t limit)
{
    uint64_t leaf[256], list[512], next[512], cost = 0;
    uint32_t n = 0, nlist = 0;
    for (uint32_t s = 0; s < nsymbols; s++)
        if (count[s]) {
            uint32_t i = n++;
            for (; i > 0 && leaf[i - 1] > count[s]; i--)
                leaf[i] = leaf[i - 1];
            leaf[i] = count[s];
        }
    for (uint32_t r = 0; r < limit; r++) {
        uint32_t a = 0, p = 0, i = 0;
        for (; i < 2 * n - 2 && (a < n || 2 * p + 1 < nlist); i++) {
            uint64_t pair = 2 * p + 1 < nlist ? list[2 * p] + list[2 * p + 1] : UINT64_MAX;
            if (a < n && leaf[a] <= pair) {
                next[i] = leaf[a++];
            } else {
                next[i] = pair;
                p++;
            }
        }
        nlist = i;
        memcpy(list, next, sizeof list);
    }
    for (uint32_t i = 0; i < nlist; i++)
        cost += list[i];
    return cost; /* each of the 2n - 2 items adds its symbols' weights once for each bit */
}

static void hist_random(floe_huffman_hist *hist, uint64_t *state)
{
    floe_huffman_hist_clear(hist);
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++) {
        uint32_t shape = random_below(state, 6), slope = 1 + random_below(state, 40), top = random_below(state, 30);
        for (uint32_t s = 0; s < floe_huffman_alphabet(t); s++) {
            uint32_t falling = (uint32_t)(((uint64_t)1 << top) >> (s / slope < 31 ? s / slope : 31));
            const uint32_t by_shape[] = {0,
                                         7,
                                         falling,
                                         falling / (1 + random_below(state, 9)),
                                         random_below(state, 50) ? 0 : 1u << top,
                                         (uint32_t)random_next(state) >> top};
            hist->count[t][s] = by_shape[shape];
        }
    }
}

static void test_book(void **unused)
{
    static floe_huffman_hist hist;
    static floe_huffman_book book, again;
    static uint32_t words[FLOE_HUFFMAN_BOOK_WORDS];
    uint64_t state = 5;
    size_t used;
    floe_error err;
    (void)unused;
    for (uint32_t i = 0; i < 300; i++) {
        hist_random(&hist, &state);
        floe_huffman_book_build(&hist, &book);
        size_t n = floe_huffman_book_write(&book, words, FLOE_HUFFMAN_BOOK_WORDS);
        assert_in_range(n, 2, FLOE_HUFFMAN_BOOK_WORDS);
        assert_int_equal(floe_huffman_book_write(&book, words, n - 1), 0);
        assert_int_equal(floe_huffman_book_write(&book, words, n), n);
        assert_int_equal(floe_huffman_book_read(words, n, &again, &used, &err), FLOE_OK);
        assert_int_equal(used, n);
        assert_memory_equal(&book, &again, sizeof book);
        assert_int_equal(floe_huffman_book_read(words, n - 1, &again, &used, &err), FLOE_ERR_FORMAT);
        for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++) {
            uint64_t cost = 0;
            for (uint32_t s = 0; s < FLOE_HUFFMAN_SYMBOLS; s++)
                cost += (uint64_t)hist.count[t][s] * book.length[t][s];
            if (book.mode[t] != FLOE_HUFFMAN_CODED)
                continue;
            uint64_t optimum = optimal_cost(hist.count[t], floe_huffman_alphabet(t), FLOE_HUFFMAN_MAX_LENGTH);
            assert_int_equal(cost, optimum);
        }
    }
}

static void test_book_limits(void **unused)
{
    static floe_huffman_hist hist;
    static floe_huffman_book book;
    (void)unused;
    floe_huffman_hist_clear(&hist);
    hist.count[FLOE_HUFFMAN_VALUE][7] = UINT32_MAX;                                      /* one symbol */
    hist.count[FLOE_HUFFMAN_VALUE + 1][0] = hist.count[FLOE_HUFFMAN_VALUE + 1][255] = 1; /* two */
    for (uint32_t s = 0; s < 256; s++) {
        hist.count[FLOE_HUFFMAN_VALUE + 3][s] = 5;                            /* a flat one */
        hist.count[FLOE_HUFFMAN_VALUE + 7][s] = s < 32 ? UINT32_MAX >> s : 1; /* a steep one */
    }
    floe_huffman_book_build(&hist, &book);
    assert_int_equal(book.mode[FLOE_HUFFMAN_QUAD], FLOE_HUFFMAN_UNUSED);
    assert_int_equal(book.mode[FLOE_HUFFMAN_VALUE], FLOE_HUFFMAN_SINGLE);
    assert_int_equal(book.single[FLOE_HUFFMAN_VALUE], 7);
    assert_int_equal(book.mode[FLOE_HUFFMAN_VALUE + 1], FLOE_HUFFMAN_FIXED);
    assert_int_equal(book.mode[FLOE_HUFFMAN_VALUE + 3], FLOE_HUFFMAN_FIXED);
    assert_int_equal(book.mode[FLOE_HUFFMAN_VALUE + 7], FLOE_HUFFMAN_CODED);
    assert_int_equal(book.length[FLOE_HUFFMAN_VALUE + 7][255], FLOE_HUFFMAN_MAX_LENGTH);
    assert_int_equal(book.length[FLOE_HUFFMAN_VALUE + 7][0], 1);
}

/* Words with nothing but modes in front: 2 bits for each table from 0 on, the rest UNUSED, then `bits`. */
static floe_status read_bits(uint64_t modes, const uint32_t *bits, size_t nbits, size_t nwords)
{
    static floe_huffman_book book;
    uint32_t words[64] = {(uint32_t)modes, (uint32_t)(modes >> 32) & 0xff};
    size_t used;
    floe_error err;
    for (size_t i = 0; i < nbits; i++)
        words[(40 + i) / 32] |= (bits[i / 32] >> i % 32 & 1) << (40 + i) % 32;
    return floe_huffman_book_read(words, nwords, &book, &used, &err);
}

static void test_book_refuses(void **unused)
{
    const uint64_t single = FLOE_HUFFMAN_SINGLE, coded = FLOE_HUFFMAN_CODED;
    const uint32_t last = 15, beyond = 16, none[3] = {0}, over[3] = {0x49249249}, loose[1] = {0x00000100};
    (void)unused;
    assert_int_equal(read_bits(0, none, 0, 2), FLOE_OK);
    assert_int_equal(read_bits(0, none, 0, 1), FLOE_ERR_FORMAT); /* cut short */
    assert_int_equal(read_bits(0, none, 0, 0), FLOE_ERR_FORMAT);
    assert_int_equal(read_bits(0, loose, 9, 2), FLOE_ERR_FORMAT); /* a bit behind the end */
    assert_int_equal(read_bits(single, &last, 8, 2), FLOE_OK);
    assert_int_equal(read_bits(single, &beyond, 8, 2), FLOE_ERR_FORMAT); /* no quad symbol */
    assert_int_equal(read_bits(single, &last, 8, 1), FLOE_ERR_FORMAT);
    assert_int_equal(read_bits(coded, none, 42, 8), FLOE_ERR_FORMAT); /* token code without codes */
    assert_int_equal(read_bits(coded, over, 42, 8), FLOE_ERR_FORMAT); /* eleven codes of one bit */
}

/* Tokens 0 (as predicted) and 12 (3 to 6 of it) of one bit each; all 16 lengths of a quad table are predicted as 3. */
static void test_book_checks_tables(void **unused)
{
    enum { TOKENS = 14 * 3 };
    uint32_t bits[3] = {1, 1u << (12 * 3 - 32), 0};
    (void)unused;
    assert_int_equal(read_bits(FLOE_HUFFMAN_CODED, bits, TOKENS + 16, 8), FLOE_ERR_FORMAT); /* 16 codes of 3 bits */
    assert_int_equal(read_bits(FLOE_HUFFMAN_CODED, bits, TOKENS, 2), FLOE_ERR_FORMAT);      /* cut short */
    bits[1] |= 0x1ffu << (TOKENS - 32);                                                     /* three runs of 6 */
    assert_int_equal(read_bits(FLOE_HUFFMAN_CODED, bits, TOKENS + 9, 8), FLOE_ERR_FORMAT);
}

/* A reader must come to an end on anything, and what it accepts must be complete. */
static void test_book_survives_noise(void **unused)
{
    static floe_huffman_book book;
    uint64_t state = 11;
    uint32_t words[100], accepted = 0;
    size_t used;
    floe_error err;
    (void)unused;
    for (uint32_t i = 0; i < 50000; i++) {
        size_t n = random_below(&state, 100);
        for (size_t k = 0; k < n; k++)
            words[k] = (uint32_t)(random_next(&state) & random_next(&state));
        if (n > 1 && i % 2) {
            words[0] &= 0x55555555; /* tables that take no lengths */
            words[1] &= 0x00000055;
        }
        if (floe_huffman_book_read(words, n, &book, &used, &err) != FLOE_OK)
            continue;
        accepted++;
        for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++) {
            uint32_t kraft = 0;
            for (uint32_t s = 0; s < FLOE_HUFFMAN_SYMBOLS; s++)
                kraft += book.length[t][s] ? 1u << (FLOE_HUFFMAN_MAX_LENGTH - book.length[t][s]) : 0;
            assert_int_equal(kraft, book.mode[t] < FLOE_HUFFMAN_FIXED ? 0 : 1u << FLOE_HUFFMAN_MAX_LENGTH);
        }
    }
    assert_true(accepted > 0);
}

static void test_hist_adds(void **unused)
{
    static floe_huffman_hist a, b, sum;
    uint64_t state = 12;
    (void)unused;
    hist_random(&a, &state);
    hist_random(&b, &state);
    sum = a;
    floe_huffman_hist_add(&sum, &b);
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        for (uint32_t s = 0; s < FLOE_HUFFMAN_SYMBOLS; s++)
            assert_int_equal(sum.count[t][s], a.count[t][s] + b.count[t][s]);
}

/* Every value has one symbol and comes back from it, at both ends of every bit length. */
static void test_wide_symbols(void **unused)
{
    (void)unused;
    for (uint32_t n = 0; n <= 64; n++)
        for (int32_t k = -9; k <= 9; k++) {
            uint64_t v = (n < 64 ? (uint64_t)1 << n : 0) + (uint64_t)(int64_t)k;
            uint32_t nraw = floe_huffman_wide_raw_of(v), symbol = floe_huffman_wide_symbol(v, nraw);
            assert_true(symbol < FLOE_HUFFMAN_SYMBOLS && nraw <= 61);
            assert_int_equal(floe_huffman_wide_raw(symbol), nraw);
            assert_true((floe_huffman_wide_base(symbol) | (v & (((uint64_t)1 << nraw) - 1))) == v);
            assert_true(symbol < floe_huffman_alphabet(
                                     floe_huffman_value_table(floe_bit_length(v) < 9 ? 9 : floe_bit_length(v))));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_book),
        cmocka_unit_test(test_book_limits),
        cmocka_unit_test(test_book_refuses),
        cmocka_unit_test(test_book_checks_tables),
        cmocka_unit_test(test_book_survives_noise),
        cmocka_unit_test(test_hist_adds),
        cmocka_unit_test(test_wide_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
