/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage huffman: round trips, plain against AVX2, an independent decoder, damaged streams. One program for each element
 * type. With --bench it times counting, coding and decoding instead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "stage/huffman/huffman_book_math.h"
#include "stage/huffman/huffman_test_kit.h"
#include "stage/huffman/huffman_tile.h"

/* Both instruction sets, whichever this file is compiled for. */
typedef struct stage_variant {
    const char *name;
    void (*count)(floe_huffman_hist *, const floe_step *, uint32_t);
    size_t (*encode)(const floe_huffman_book *, const floe_step *, uint32_t, uint32_t *);
    floe_status (*decode)(const floe_huffman_decoder *, const uint32_t *, size_t, floe_step *, uint32_t, floe_error *);
} stage_variant;

#define VARIANT_NAME(name, isa) FLOE_PASTE(FLOE_R(name), isa)
#define VARIANT_DECLARE(isa)                                                                                        \
    void VARIANT_NAME(floe_huffman_count_tile, isa)(floe_huffman_hist *, const floe_step *, uint32_t);              \
    size_t VARIANT_NAME(floe_huffman_encode_tile, isa)(const floe_huffman_book *, const floe_step *, uint32_t,      \
                                                       uint32_t *);                                                 \
    floe_status VARIANT_NAME(floe_huffman_decode_tile, isa)(const floe_huffman_decoder *, const uint32_t *, size_t, \
                                                            floe_step *, uint32_t, floe_error *);
#define VARIANT(isa)                                                                                   \
    {                                                                                                  \
#isa, VARIANT_NAME(floe_huffman_count_tile, isa), VARIANT_NAME(floe_huffman_encode_tile, isa), \
            VARIANT_NAME(floe_huffman_decode_tile, isa)                                                \
    }
VARIANT_DECLARE(_plain)
static const stage_variant plain = VARIANT(_plain);
#ifdef FLOE_HAVE_AVX2_BUILD
VARIANT_DECLARE(_avx2)
static const stage_variant avx2 = VARIANT(_avx2);
static const stage_variant *fast(void) { return __builtin_cpu_supports("avx2") ? &avx2 : &plain; }
#else
static const stage_variant *fast(void) { return &plain; }
#endif

/* ---- made-up tiles ---- */

/* One group of exactly this width; the values' bit lengths fall off, as residuals' do. */
static void group_fill(floe_step *step, uint32_t g, uint32_t width, uint64_t *state)
{
    step->width[g] = (uint8_t)width;
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++) {
        uint32_t cut = random_below(state, 4) ? random_below(state, width + 1) : 0;
        step->residual[g][i] = width > cut ? (floe_uint)(random_next(state) >> (64 - (width - cut))) : 0;
    }
    if (width)
        step->residual[g][random_below(state, FLOE_GROUP_VALUES)] |= (floe_uint)1 << (width - 1);
}

typedef struct tile_recipe {
    uint32_t nsteps, present; /* present: groups of each step */
    uint32_t low, high;       /* widths */
    uint32_t live;            /* of 100 groups */
} tile_recipe;

static void tile_make(const tile_recipe *recipe, floe_step *steps, uint64_t *state)
{
    memset(steps, 0, recipe->nsteps * sizeof *steps);
    for (uint32_t s = 0; s < recipe->nsteps; s++) {
        steps[s].present = recipe->present;
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
            if (!(recipe->present >> g & 1) || random_below(state, 100) >= recipe->live)
                continue;
            group_fill(&steps[s], g, recipe->low + random_below(state, recipe->high - recipe->low + 1), state);
            steps[s].flat |= random_below(state, 2) << g;
        }
    }
}

/* A tile coded with a book of its own. */
typedef struct coded_tile {
    floe_huffman_hist hist;
    floe_huffman_book book;
    floe_huffman_decoder decoder;
    uint32_t book_words[FLOE_HUFFMAN_BOOK_WORDS], words[FLOE_HUFFMAN_TILE_WORDS];
    size_t nbook, nwords;
} coded_tile;

static coded_tile *tile_code(const stage_variant *v, const floe_step *steps, uint32_t nsteps)
{
    coded_tile *c = calloc(1, sizeof *c);
    size_t used;
    floe_error err;
    assert_non_null(c);
    v->count(&c->hist, steps, nsteps);
    floe_huffman_book_build(&c->hist, &c->book);
    c->nbook = floe_huffman_book_write(&c->book, c->book_words, FLOE_HUFFMAN_BOOK_WORDS);
    c->nwords = v->encode(&c->book, steps, nsteps, c->words);
    floe_huffman_book read;
    assert_int_equal(floe_huffman_book_read(c->book_words, c->nbook, &read, &used, &err), FLOE_OK);
    assert_int_equal(used, c->nbook);
    assert_memory_equal(&read, &c->book, sizeof read);
    floe_huffman_decoder_build(&read, &c->decoder);
    return c;
}

/* ---- an independent decoder, bit by bit as docs/format/huffman.md has it ---- */

typedef struct slow_reader {
    const coded_tile *tile;
    size_t at;
} slow_reader;

static uint64_t slow_bits(slow_reader *r, uint32_t n)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < n; i++, r->at++)
        value |= (uint64_t)(r->tile->words[r->at / 32] >> r->at % 32 & 1) << i;
    return value;
}

static uint32_t slow_symbol(slow_reader *r, uint32_t table)
{
    const floe_huffman_book *book = &r->tile->book;
    const uint8_t fixed_bits[] = {4, 4, 8, 8, 8, 8, 8, 8, 6, 8, 5, 6, 7, 8, 6, 6, 6, 7, 7, 8};
    uint32_t code = 0, first = 0;
    assert_int_not_equal(book->mode[table], FLOE_HUFFMAN_UNUSED);
    if (book->mode[table] == FLOE_HUFFMAN_SINGLE)
        return book->single[table];
    if (book->mode[table] == FLOE_HUFFMAN_FIXED)
        return (uint32_t)slow_bits(r, fixed_bits[table]);
    for (uint32_t n = 1; n <= 11; n++) {
        code = code << 1 | (uint32_t)slow_bits(r, 1);
        first <<= 1;
        for (uint32_t s = 0; s < 256; s++)
            if (book->length[table][s] == n && code == first++)
                return s;
    }
    fail_msg("no code");
    return 0;
}

static void slow_group(slow_reader *r, uint32_t width, floe_uint *value)
{
    const uint8_t nvalues[] = {0, 8, 4, 2, 2, 1, 1, 1, 1};
    const uint8_t limits[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64};
    uint32_t table = 0;
    while (limits[table] < width)
        table++;
    for (uint32_t i = 0; i < 32;) {
        uint32_t s = slow_symbol(r, 6 + table), n = width <= 8 ? nvalues[width] : 1, length = (s - 16) / 4 + 5;
        for (uint32_t k = 0; k < n; k++, i++) {
            value[i] = width > 8 ? s : 0;
            for (uint32_t j = 0; width <= 8 && j < width; j++)
                value[i] |= (floe_uint)(s >> (j * n + k) & 1) << j;
            if (width > 8 && s >= 16)
                value[i] = (floe_uint)((uint64_t)(4 + (s - 16) % 4) << (length - 3) | slow_bits(r, length - 3));
        }
    }
}

static void slow_decode(const coded_tile *tile, floe_step *steps, uint32_t nsteps)
{
    slow_reader r = {tile, 0};
    uint32_t log = (uint32_t)slow_bits(&r, 3), field = (uint32_t)slow_bits(&r, 5), nlanes = 1u << log;
    size_t end[32], at = 8 + (nlanes - 1) * field;
    for (uint32_t i = 0; i + 1 < nlanes; i++)
        end[i] = at += slow_bits(&r, field);
    for (uint32_t i = 0; i < nlanes; i++) {
        uint32_t before = 1, previous = 0, context = 0;
        for (uint32_t q = i * nsteps * 8 / nlanes; q < (i + 1) * nsteps * 8 / nlanes; q++) {
            floe_step *step = &steps[q / 8];
            if (!(step->present >> q % 8 * 4 & 15))
                continue;
            before = slow_symbol(&r, before == 0);
            for (uint32_t g = q % 8 * 4; g < q % 8 * 4 + 4; g++) {
                if (!(before >> g % 4 & 1))
                    continue;
                context = context ? previous <= 2 ? 1 : previous <= 4 ? 2 : 3 : 0;
                uint32_t header = slow_symbol(&r, 2 + context);
                previous = header / 2;
                context = 1;
                step->width[g] = (uint8_t)previous;
                step->flat |= (header & 1) << g;
                if (previous)
                    slow_group(&r, previous, step->residual[g]);
            }
        }
        if (i + 1 < nlanes)
            assert_int_equal(r.at, end[i]);
    }
    assert_int_equal((r.at + 31) / 32, tile->nwords);
}

/* ---- round trips ---- */

static void steps_equal(const floe_step *a, const floe_step *b, uint32_t nsteps)
{
    for (uint32_t s = 0; s < nsteps; s++) {
        assert_int_equal(a[s].flat, b[s].flat);
        assert_memory_equal(a[s].width, b[s].width, sizeof a[s].width);
        assert_memory_equal(a[s].residual, b[s].residual, sizeof a[s].residual);
    }
}

static void steps_forget(floe_step *steps, const floe_step *from, uint32_t nsteps, int with)
{
    memset(steps, with, nsteps * sizeof *steps);
    for (uint32_t s = 0; s < nsteps; s++)
        steps[s].present = from[s].present;
}

/* Decodes from a block of exactly nwords words, so that a sanitizer sees a read past them. */
static floe_status decode_exactly(const stage_variant *v, const floe_huffman_decoder *decoder, const uint32_t *words,
                                  size_t nwords, floe_step *steps, uint32_t nsteps)
{
    floe_error err;
    uint32_t *copy = malloc(nwords ? nwords * sizeof *words : 1);
    assert_non_null(copy);
    memcpy(copy, words, nwords * sizeof *words);
    floe_status status = v->decode(decoder, copy, nwords, steps, nsteps, &err);
    free(copy);
    return status;
}

static void check_tile(const floe_step *steps, uint32_t nsteps)
{
    static floe_step back[FLOE_TILE_STEPS];
    coded_tile *a = tile_code(&plain, steps, nsteps), *b = tile_code(fast(), steps, nsteps);
    assert_memory_equal(&a->hist, &b->hist, sizeof a->hist);
    assert_int_equal(a->nwords, b->nwords);
    assert_memory_equal(a->words, b->words, a->nwords * sizeof *a->words);
    assert_true(a->nwords * 32 >= floe_huffman_book_cost(&a->hist, &a->book));
    for (uint32_t variant = 0; variant < 2; variant++) {
        steps_forget(back, steps, nsteps, 0xa5);
        assert_int_equal(decode_exactly(variant ? fast() : &plain, &a->decoder, a->words, a->nwords, back, nsteps),
                         FLOE_OK);
        steps_equal(steps, back, nsteps);
    }
    if (a->nwords) {
        steps_forget(back, steps, nsteps, 0);
        slow_decode(a, back, nsteps);
        steps_equal(steps, back, nsteps);
        steps_forget(back, steps, nsteps, 0);
        assert_int_equal(decode_exactly(fast(), &a->decoder, a->words, a->nwords - 1, back, nsteps),
                         a->nwords > 1 ? FLOE_ERR_FORMAT : FLOE_OK);
        assert_int_equal(decode_exactly(fast(), &a->decoder, a->words, a->nwords + 1, back, nsteps), FLOE_ERR_FORMAT);
    }
    free(a);
    free(b);
}

static void test_every_width(void **unused)
{
    static floe_step steps[FLOE_TILE_STEPS];
    uint64_t state = 1;
    (void)unused;
    for (uint32_t w = 0; w <= FLOE_REAL_BITS; w++) {
        tile_recipe whole = {8, ~0u, w, w, 100}, mixed = {8, ~0u, 0, w, 70}, piece = {1, 0x0f0f0301, w, w, 60};
        tile_make(&whole, steps, &state);
        check_tile(steps, 8);
        tile_make(&mixed, steps, &state);
        check_tile(steps, 8);
        tile_make(&piece, steps, &state);
        check_tile(steps, 1);
    }
}

static void test_edges(void **unused)
{
    static floe_step steps[FLOE_TILE_STEPS];
    const uint32_t masks[] = {~0u, 1, 0x80000000, 0x11111111, 0x000000ff, 0xff000000, 0x00ff00ff, 0};
    const uint32_t live[] = {0, 1, 10, 50, 100};
    uint64_t state = 2;
    (void)unused;
    for (uint32_t nsteps = 1; nsteps <= FLOE_TILE_STEPS; nsteps++)
        for (uint32_t m = 0; m < 8; m++)
            for (uint32_t k = 0; k < 5; k++) {
                tile_recipe recipe = {nsteps, masks[m], 0, 6, live[k]};
                tile_make(&recipe, steps, &state);
                check_tile(steps, nsteps);
            }
}

static void test_dead_tile_takes_no_words(void **unused)
{
    static floe_step steps[FLOE_TILE_STEPS], back[FLOE_TILE_STEPS];
    uint64_t state = 3;
    (void)unused;
    tile_recipe recipe = {8, ~0u, 0, 0, 0};
    tile_make(&recipe, steps, &state);
    coded_tile *c = tile_code(fast(), steps, 8);
    assert_int_equal(c->nwords, 0);
    assert_int_equal(c->nbook, 2); /* 20 times 2 bits */
    steps_forget(back, steps, 8, 0xff);
    assert_int_equal(fast()->decode(&c->decoder, NULL, 0, back, 8, NULL), FLOE_OK);
    steps_equal(steps, back, 8);
    free(c);
}

/* The widest values under the longest codes: nothing behind TILE_WORDS may be touched. */
static void test_tile_words_suffice(void **unused)
{
    static floe_step steps[FLOE_TILE_STEPS];
    static floe_huffman_hist hist;
    static floe_huffman_book book;
    uint64_t state = 4;
    (void)unused;
    tile_recipe recipe = {8, ~0u, FLOE_REAL_BITS, FLOE_REAL_BITS, 100};
    tile_make(&recipe, steps, &state);
    for (uint32_t s = 0; s < 8; s++)
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
            memset(steps[s].residual[g], 0xff, sizeof steps[s].residual[g]);
    floe_huffman_hist_clear(&hist);
    fast()->count(&hist, steps, 8);
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        for (uint32_t s = 0, n = 0; s < FLOE_HUFFMAN_SYMBOLS; s++)
            if (s < floe_huffman_alphabet(t))
                hist.count[t][s] = hist.count[t][s] ? 1 : 1u << (n++ % 13 + 2);
    floe_huffman_book_build(&hist, &book);
    uint32_t *words = malloc(FLOE_HUFFMAN_TILE_WORDS * sizeof *words);
    size_t n = fast()->encode(&book, steps, 8, words);
    assert_true(n <= FLOE_HUFFMAN_TILE_WORDS - 8);
    assert_true(n > FLOE_TILE_VALUES * (10 + FLOE_REAL_BITS - 3) / 32);
    free(words);
}

/* ---- the book; huffman_book_test.c has more ---- */

/* A field of 2.7 MB at ratio 30 is 90 KB: 1 % of it. */
static void test_book_is_compact(void **unused)
{
    static floe_step steps[FLOE_TILE_STEPS];
    static floe_huffman_hist hist;
    static floe_huffman_book book;
    static uint32_t words[FLOE_HUFFMAN_BOOK_WORDS];
    uint64_t state = 6;
    (void)unused;
    floe_huffman_hist_clear(&hist);
    for (uint32_t i = 0; i < 80; i++) {
        tile_recipe recipe = {8, ~0u, 0, 1 + i % 5, 90};
        tile_make(&recipe, steps, &state);
        fast()->count(&hist, steps, 8);
    }
    floe_huffman_book_build(&hist, &book);
    assert_true(4 * floe_huffman_book_write(&book, words, FLOE_HUFFMAN_BOOK_WORDS) < 900);
}

/* ---- damage ---- */

enum { TILE_MUTATIONS = 200000, BOOK_MUTATIONS = 100000 };

static void damage(uint32_t *words, size_t *nwords, uint64_t *state)
{
    uint32_t kind = random_below(state, 8);
    if (kind == 0 && *nwords > 1)
        *nwords -= 1 + random_below(state, (uint32_t)(*nwords < 9 ? *nwords - 1 : 8));
    for (uint32_t i = 0; i <= kind && kind < 6; i++)
        words[random_below(state, (uint32_t)*nwords)] ^= 1u << random_below(state, 32);
    if (kind >= 6)
        words[random_below(state, kind == 6 ? 3 : (uint32_t)*nwords) % *nwords] = (uint32_t)random_next(state);
}

/* What a decoder may leave in a tile, whatever it read. */
static void check_sane(const floe_step *steps, uint32_t nsteps)
{
    for (uint32_t g = 0; g < nsteps * FLOE_STEP_GROUPS; g++) {
        const floe_step *s = &steps[g / FLOE_STEP_GROUPS];
        uint32_t in_step = g % FLOE_STEP_GROUPS, width = s->width[in_step];
        bool live = width || (s->flat >> in_step & 1);
        floe_uint all = 0;
        for (uint32_t v = 0; v < FLOE_GROUP_VALUES; v++)
            all |= s->residual[in_step][v];
        assert_true(floe_bit_length(all) <= width && width <= FLOE_REAL_BITS);
        assert_true(!live || (s->present >> in_step & 1));
    }
}

static void test_damaged_tiles(void **unused)
{
    static floe_step steps[FLOE_TILE_STEPS], back[FLOE_TILE_STEPS], slow[FLOE_TILE_STEPS];
    static uint32_t words[FLOE_HUFFMAN_TILE_WORDS];
    const tile_recipe recipes[] = {{8, ~0u, 0, 5, 80},
                                   {8, ~0u, 0, 2, 10},
                                   {3, 0x0333fff0, 0, 8, 70},
                                   {1, ~0u, 9, 32, 30},
                                   {8, ~0u, 1, FLOE_REAL_BITS, 9},
                                   {8, ~0u, 0, 0, 40}};
    uint64_t state = 7;
    (void)unused;
    for (uint32_t k = 0; k < 6; k++) {
        uint32_t nsteps = recipes[k].nsteps, refused = 0;
        tile_make(&recipes[k], steps, &state);
        coded_tile *c = tile_code(fast(), steps, nsteps);
        for (uint32_t i = 0; i < TILE_MUTATIONS / 6; i++) {
            size_t n = c->nwords;
            memcpy(words, c->words, n * sizeof *words);
            damage(words, &n, &state);
            steps_forget(back, steps, nsteps, 0xff);
            floe_status status = decode_exactly(fast(), &c->decoder, words, n, back, nsteps);
            assert_true(status == FLOE_OK || status == FLOE_ERR_FORMAT);
            refused += status != FLOE_OK;
            if (status == FLOE_OK || i % 16 == 0)
                check_sane(back, nsteps);
            if (i % 16 == 0) {
                steps_forget(slow, steps, nsteps, 0xff);
                assert_int_equal(decode_exactly(&plain, &c->decoder, words, n, slow, nsteps), status);
                steps_equal(back, slow, nsteps);
            }
        }
        assert_true(refused > TILE_MUTATIONS / 6 / 4);
        free(c);
    }
}

/* A damaged book that still reads must give a decoder that is safe, whatever tile it meets. */
static void test_damaged_books(void **unused)
{
    static floe_step steps[FLOE_TILE_STEPS], back[FLOE_TILE_STEPS];
    static floe_huffman_book book;
    static floe_huffman_decoder decoder;
    static uint32_t words[FLOE_HUFFMAN_BOOK_WORDS];
    uint64_t state = 8;
    uint32_t read = 0;
    (void)unused;
    for (uint32_t k = 0; k < 4; k++) {
        tile_recipe recipe = {8, ~0u, 0, k == 3 ? FLOE_REAL_BITS : 3 * k, 80};
        tile_make(&recipe, steps, &state);
        coded_tile *c = tile_code(fast(), steps, 8);
        for (uint32_t i = 0; i < BOOK_MUTATIONS / 4; i++) {
            size_t n = c->nbook, used = 0;
            floe_error err;
            memcpy(words, c->book_words, n * sizeof *words);
            damage(words, &n, &state);
            if (i % 4 == 0) /* the modes alone */
                words[0] = c->book_words[0] ^ 1u << random_below(&state, 32);
            if (floe_huffman_book_read(words, n, &book, &used, &err) != FLOE_OK)
                continue;
            assert_true(used <= n);
            read++;
            floe_huffman_decoder_build(&book, &decoder);
            steps_forget(back, steps, 8, 0xff);
            decode_exactly(fast(), &decoder, c->words, c->nwords, back, 8);
        }
        free(c);
    }
    assert_true(read > 0);
}

/* ---- the format stays ---- */

static uint64_t words_hash(uint64_t hash, const uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ words[i]) * 0x100000001b3u;
    return hash;
}

static void test_bytes_stay(void **unused)
{
    static floe_step steps[FLOE_TILE_STEPS];
    uint64_t state = 9, hash = 0xcbf29ce484222325u;
    (void)unused;
    for (uint32_t k = 0; k < 12; k++) {
        tile_recipe recipe = {1 + k % 8, k % 3 ? ~0u : 0x3fff7731, 0,
                              k < 6    ? k
                              : k < 11 ? 4 * k - 20
                                       : FLOE_REAL_BITS,
                              90};
        tile_make(&recipe, steps, &state);
        coded_tile *c = tile_code(k % 2 ? fast() : &plain, steps, recipe.nsteps);
        hash = words_hash(words_hash(hash, c->book_words, c->nbook), c->words, c->nwords);
        free(c);
    }
    assert_int_equal(hash, FLOE_REAL_BITS == 32 ? 0xe82288aa06d419a8u : 0x0cff375a96e381a2u);
}

/* ---- bench ---- */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { BENCH_TILES = 64, BENCH_REPEATS = 15 };

/* Best of BENCH_REPEATS, in GB of uncompressed values a second. */
static void bench_tiles(const stage_variant *v, const tile_recipe *recipe)
{
    floe_step *steps = malloc(BENCH_TILES * FLOE_TILE_STEPS * sizeof *steps), back[FLOE_TILE_STEPS];
    uint32_t *words = malloc((size_t)BENCH_TILES * FLOE_HUFFMAN_TILE_WORDS * sizeof *words);
    coded_tile *c = calloc(1, sizeof *c);
    size_t nwords[BENCH_TILES], total = 0;
    double best[3] = {1e9, 1e9, 1e9}, gb = 1e-9 * BENCH_TILES * FLOE_TILE_VALUES * sizeof(floe_uint);
    uint64_t state = 10;
    for (uint32_t t = 0; t < BENCH_TILES; t++)
        tile_make(recipe, steps + t * FLOE_TILE_STEPS, &state);
    steps_forget(back, steps, FLOE_TILE_STEPS, 0);
    for (uint32_t i = 0; i < BENCH_REPEATS; i++) {
        double at[4] = {seconds_now(), 0, 0, 0};
        floe_huffman_hist_clear(&c->hist);
        for (uint32_t t = 0; t < BENCH_TILES; t++)
            v->count(&c->hist, steps + t * FLOE_TILE_STEPS, FLOE_TILE_STEPS);
        at[1] = seconds_now();
        floe_huffman_book_build(&c->hist, &c->book);
        floe_huffman_decoder_build(&c->book, &c->decoder);
        at[2] = seconds_now();
        for (uint32_t t = 0; t < BENCH_TILES; t++)
            nwords[t] = v->encode(&c->book, steps + t * FLOE_TILE_STEPS, FLOE_TILE_STEPS,
                                  words + (size_t)t * FLOE_HUFFMAN_TILE_WORDS);
        at[3] = seconds_now();
        bool good = true;
        for (uint32_t t = 0; t < BENCH_TILES; t++)
            good &= v->decode(&c->decoder, words + (size_t)t * FLOE_HUFFMAN_TILE_WORDS, nwords[t], back,
                              FLOE_TILE_STEPS, NULL) == FLOE_OK;
        double spent[3] = {at[1] - at[0], at[3] - at[2], seconds_now() - at[3]};
        for (uint32_t k = 0; k < 3; k++)
            best[k] = spent[k] < best[k] ? spent[k] : best[k];
        steps_equal(steps + (BENCH_TILES - 1) * FLOE_TILE_STEPS, back, FLOE_TILE_STEPS);
        assert_true(good);
    }
    for (uint32_t t = 0; t < BENCH_TILES; t++)
        total += nwords[t] * 4;
    printf("f%d%-6s widths %u-%u, %3u %% live: ratio %6.2f  count %5.2f  encode %5.2f  decode %5.2f GB/s\n",
           FLOE_REAL_BITS, v->name, recipe->low, recipe->high, recipe->live, 1e9 * gb / (double)total, gb / best[0],
           gb / best[1], gb / best[2]);
    free(steps);
    free(words);
    free(c);
}

static int bench(void)
{
    const tile_recipe recipes[] = {{8, ~0u, 1, 1, 10},  {8, ~0u, 1, 1, 100}, {8, ~0u, 2, 2, 100}, {8, ~0u, 2, 4, 100},
                                   {8, ~0u, 4, 4, 100}, {8, ~0u, 4, 7, 100}, {8, ~0u, 9, 16, 100}};
    for (uint32_t k = 0; k < sizeof recipes / sizeof recipes[0]; k++) {
        bench_tiles(&plain, &recipes[k]);
        if (fast() != &plain)
            bench_tiles(fast(), &recipes[k]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_width),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_dead_tile_takes_no_words),
        cmocka_unit_test(test_tile_words_suffice),
        cmocka_unit_test(test_book_is_compact),
        cmocka_unit_test(test_damaged_tiles),
        cmocka_unit_test(test_damaged_books),
        cmocka_unit_test(test_bytes_stay),
    };
    if (argc > 1 && strcmp(argv[1], "--bench") == 0)
        return bench();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
