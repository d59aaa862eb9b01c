/* SPDX-License-Identifier: BSD-3-Clause */
/* Codebooks on a GPU against the CPU's: from made-up and real histograms, and from words, whole, mutated and made of noise.
 * FLOE_GPU_TEST=small: less of it. */
#include "tests/gpu/gpu_kit.h"

#define FLOE_REAL_BITS 32
#include "stage/huffman/huffman_book_cuda.h"
#include "stage/huffman/huffman_book_math.h"
#include "stage/huffman/huffman_test_kit.h"
#include "stage/huffman/huffman_tile.h"
#include "synth/synth.h"

enum { BATCH = 150 };

/* ---- device memory ------------------------------------------------------------------------------------------------- */

static void *dev_of(const void *host, size_t nbytes)
{
    void *dev;
    CU(cudaMalloc(&dev, nbytes + 4));
    CU(host ? cudaMemcpy(dev, host, nbytes, cudaMemcpyHostToDevice) : cudaMemset(dev, 0x5A, nbytes));
    return dev;
}
static void *host_of(void *dev, size_t nbytes)
{
    void *host = malloc(nbytes + 1);
    assert_non_null(host);
    CU(cudaMemcpy(host, dev, nbytes, cudaMemcpyDeviceToHost));
    CU(cudaFree(dev));
    return host;
}

/* ---- histograms ---------------------------------------------------------------------------------------------------- */

enum { SHAPES = 12 };

static uint32_t count_of(uint32_t shape, uint32_t s, uint32_t nsymbols, uint32_t param, uint64_t *state)
{
    static const uint32_t sparse[] = {2, 3, 10, 100};
    switch (shape) {
    case 0: return 0;
    case 1: return s == param % nsymbols ? 1 + param : 0;
    case 2: return s == param % nsymbols || s == param / 256 % nsymbols ? 1 + random_below(state, 9) : 0;
    case 3: return 1 + param % 7;
    case 4: return UINT32_MAX;
    case 5: return UINT32_MAX - random_below(state, 3);
    case 6: return s < 31 ? 1u << (s ^ (param & 15)) % 31 : 1; /* the limit binds */
    case 7: return random_below(state, sparse[param % 4]) ? 0 : 1 + random_below(state, 1000);
    case 8: return (uint32_t)random_next(state);
    case 9: return (uint32_t)random_next(state) >> random_below(state, 32);
    case 10: return (uint32_t)(1e6 / (1 + s * s % (1 + param % 500)));
    default: return (uint32_t)(((uint64_t)1 << 20 >> (s / (1 + param % 40) & 31)) + random_below(state, 2));
    }
}

static void table_random(uint32_t *count, uint32_t table, uint32_t shape, uint64_t *state)
{
    const uint32_t nsymbols = floe_huffman_alphabet(table), param = (uint32_t)random_next(state) >> 8;
    memset(count, 0, FLOE_HUFFMAN_SYMBOLS * sizeof *count);
    for (uint32_t s = 0; s < nsymbols; s++)
        count[s] = count_of(shape, s, nsymbols, param, state);
    for (uint32_t i = 0; shape == 6 && param & 64 && i < nsymbols; i++) { /* Fibonacci, in any order */
        uint32_t j = random_below(state, nsymbols), k = count[i];
        count[i] = i < 2 ? 1 : i < 46 ? count[i - 1] + count[i - 2] : k;
        k = count[i], count[i] = count[j], count[j] = k;
    }
    for (uint32_t s = nsymbols; s < FLOE_HUFFMAN_SYMBOLS; s++)
        count[s] = random_below(state, 5) ? 0 : 77; /* not the table's: nobody looks at these */
}

static void hist_random(floe_huffman_hist *hist, uint32_t shape, uint64_t *state)
{
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        table_random(hist->count[t], t, shape < SHAPES ? shape : random_below(state, SHAPES), state);
}

/* The residuals of differences along a line, in units of a bound, as a tile would have them. */
static void hist_real(floe_huffman_hist *hist, const char *kind, float bound)
{
    enum { STEPS = 8, N = STEPS * FLOE_STEP_VALUES, TILES = 12 };
    static float x[N * TILES];
    static floe_step steps[STEPS];
    const uint64_t shape[3] = {TILES, 64, 128};
    assert_int_equal(synth_fill(kind, FLOE_F32, 3, shape, 1, 0, N * TILES, x), FLOE_OK);
    floe_huffman_hist_clear(hist);
    int64_t before = 0;
    for (uint32_t tile = 0; tile < TILES; tile++) {
        memset(steps, 0, sizeof steps);
        for (uint32_t i = 0; i < N; i++) {
            floe_step *step = &steps[i / FLOE_STEP_VALUES];
            const uint32_t g = i / FLOE_GROUP_VALUES % FLOE_STEP_GROUPS;
            const float scaled = x[tile * N + i] / bound;
            const int64_t q = scaled > -1e8f && scaled < 1e8f ? (int64_t)scaled : 0, d = q - before;
            const floe_uint r = (floe_uint)(d * 2) ^ (d < 0 ? ~(floe_uint)0 : 0);
            const uint32_t width = floe_bit_length(r);
            before = q;
            step->present = ~0u;
            step->residual[g][i % FLOE_GROUP_VALUES] = r;
            step->width[g] = (uint8_t)(step->width[g] > width ? step->width[g] : width);
        }
        floe_huffman_count_tile_f32_plain(hist, steps, STEPS);
    }
}

/* ---- from histograms ----------------------------------------------------------------------------------------------- */

static void check_build(const floe_huffman_hist *hist, uint32_t n, const uint32_t *skip)
{
    const size_t words_nbytes = (size_t)n * FLOE_HUFFMAN_BOOK_WORDS * 4;
    floe_huffman_hist *dev_hist = dev_of(hist, n * sizeof *hist);
    floe_huffman_book *books = dev_of(NULL, n * sizeof *books);
    uint32_t *words = dev_of(NULL, words_nbytes), *nwords = dev_of(NULL, n * sizeof *nwords);
    uint32_t *dev_skip = skip ? dev_of(skip, n * sizeof *skip) : NULL;
    static floe_huffman_book book, untouched;
    static uint32_t book_words[FLOE_HUFFMAN_BOOK_WORDS];
    CU(floe_huffman_books_build_cuda(dev_hist, n, books, words, nwords, dev_skip, NULL));
    CU(cudaDeviceSynchronize());
    CU(cudaFree(dev_hist));
    CU(cudaFree(dev_skip));
    books = host_of(books, n * sizeof *books);
    words = host_of(words, words_nbytes);
    nwords = host_of(nwords, n * sizeof *nwords);
    memset(&untouched, 0x5A, sizeof untouched);
    for (uint32_t c = 0; c < n; c++) {
        const bool skipped = skip && skip[c];
        floe_huffman_book_build(&hist[c], &book);
        const size_t nbook = floe_huffman_book_write(&book, book_words, FLOE_HUFFMAN_BOOK_WORDS);
        assert_memory_equal(&books[c], skipped ? &untouched : &book, sizeof book);
        assert_int_equal(nwords[c], skipped ? 0x5A5A5A5A : nbook);
        assert_memory_equal(words + c * FLOE_HUFFMAN_BOOK_WORDS, skipped ? (void *)&untouched : book_words,
                            nbook * sizeof *words);
        assert_int_equal(words[c * FLOE_HUFFMAN_BOOK_WORDS + nbook], 0x5A5A5A5A);
    }
    free(books);
    free(words);
    free(nwords);
}

static void test_limits(void **unused)
{
    uint32_t symbols = 0, rows = 0;
    (void)unused;
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++) {
        symbols += floe_huffman_alphabet(t);
        rows += (floe_huffman_alphabet(t) + 31) / 32;
    }
    assert_int_equal(symbols, FLOE_HUFFMAN_ALL_SYMBOLS);
    assert_int_equal(rows, 84); /* FLOE_BOOK_ROWS of the kernels */
    assert_true(FLOE_HUFFMAN_BOOK_MOST_BITS <= FLOE_HUFFMAN_BOOK_WORDS * 32);
}

static void test_build_made_up(void **unused)
{
    static floe_huffman_hist hist[BATCH];
    static uint32_t skip[BATCH];
    uint64_t state = 3;
    (void)unused;
    for (uint32_t round = 0; round < (is_small() ? 1u : 6u); round++) {
        for (uint32_t c = 0; c < BATCH; c++) {
            hist_random(&hist[c], c < SHAPES ? c : SHAPES, &state);
            skip[c] = random_below(&state, 8) ? 0 : 1 + random_below(&state, 3);
        }
        check_build(hist, BATCH, NULL);
        check_build(hist + random_below(&state, BATCH - 12), 1 + random_below(&state, 12), skip);
    }
    CU(floe_huffman_books_build_cuda(NULL, 0, NULL, NULL, NULL, NULL, NULL));
}

static const char *const real_kinds[] = {"turbulence", "noise", "mixing", "steps", "seismic", "orbitals", "constant"};
enum { REAL_KINDS = sizeof real_kinds / sizeof *real_kinds, REAL_BOUNDS = 5, REALS = REAL_KINDS * REAL_BOUNDS };

static void hists_real(floe_huffman_hist *hist)
{
    for (uint32_t k = 0; k < REALS; k++) {
        float bound = 1;
        for (uint32_t i = 0; i < k % REAL_BOUNDS; i++)
            bound /= 30;
        hist_real(&hist[k], real_kinds[k / REAL_BOUNDS], bound);
    }
}

static void test_build_real(void **unused)
{
    static floe_huffman_hist hist[REALS];
    (void)unused;
    hists_real(hist);
    check_build(hist, REALS, NULL);
}

/* ---- from words ---------------------------------------------------------------------------------------------------- */

/* Books to be read, each anywhere. */
typedef struct book_batch {
    uint32_t n;
    uint64_t at[BATCH];
    uint32_t nwords[BATCH];
    uint32_t words[BATCH * (FLOE_HUFFMAN_BOOK_WORDS + 4)];
} book_batch;

static uint32_t *batch_add(book_batch *b, uint32_t nwords)
{
    const uint64_t end = b->n ? b->at[b->n - 1] / 4 + b->nwords[b->n - 1] + b->n % 3 : 1;
    b->at[b->n] = end * 4;
    b->nwords[b->n++] = nwords;
    return b->words + end;
}

/* Whether the CPU takes the book. */
static bool cpu_reads(const uint32_t *words, uint32_t nwords, floe_huffman_decoder *decoder)
{
    static floe_huffman_book book;
    size_t used;
    floe_error err;
    if (floe_huffman_book_read(words, nwords, &book, &used, &err) != FLOE_OK || used != nwords)
        return false;
    memset(decoder, 0, sizeof *decoder);
    floe_huffman_decoder_build(&book, decoder);
    return true;
}

static void check_decoder(const floe_huffman_decoder *got, const floe_huffman_decoder *expected)
{
    const uint32_t last = FLOE_HUFFMAN_TABLES - 1;
    assert_int_equal(got->unused, expected->unused);
    assert_memory_equal(got->start, expected->start, sizeof got->start);
    assert_memory_equal(got->mask, expected->mask, sizeof got->mask);
    assert_memory_equal(got->entry, expected->entry, (expected->start[last] + expected->mask[last] + 1u) * 2);
}

/* Reads all books but those that are left out; returns how many are good. */
static uint32_t check_read(const book_batch *b, bool leave_out)
{
    const uint32_t n = b->n;
    static floe_huffman_decoder expected;
    uint64_t at[BATCH];
    uint32_t bad_before[BATCH], good = 0;
    for (uint32_t c = 0; c < n; c++) {
        at[c] = leave_out && c % 5 == 3 ? UINT64_MAX : b->at[c];
        bad_before[c] = c % 7 == 2 ? 8 : 0;
    }
    uint8_t *dev_words = dev_of(b->words, sizeof b->words);
    uint64_t *dev_at = dev_of(at, n * sizeof *at);
    uint32_t *dev_nwords = dev_of(b->nwords, n * sizeof *dev_nwords), *bad = dev_of(bad_before, n * sizeof *bad);
    floe_huffman_decoder *decoders = dev_of(NULL, n * sizeof *decoders);
    CU(floe_huffman_books_read_cuda(dev_words, dev_at, dev_nwords, n, decoders, bad, NULL));
    CU(cudaDeviceSynchronize());
    CU(cudaFree(dev_words));
    CU(cudaFree(dev_at));
    CU(cudaFree(dev_nwords));
    decoders = host_of(decoders, n * sizeof *decoders);
    bad = host_of(bad, n * sizeof *bad);
    for (uint32_t c = 0; c < n; c++) {
        const bool left_out = at[c] == UINT64_MAX, ok = cpu_reads(b->words + b->at[c] / 4, b->nwords[c], &expected);
        assert_int_equal(bad[c], bad_before[c] | (!left_out && !ok));
        if (left_out)
            assert_int_equal(decoders[c].unused, 0x5A5A5A5A);
        else if (ok)
            check_decoder(&decoders[c], &expected);
        else
            assert_int_equal(decoders[c].unused, (1u << FLOE_HUFFMAN_TABLES) - 1);
        good += !left_out && ok;
    }
    free(decoders);
    free(bad);
    return good;
}

/* ---- books that no encoder of floe writes: any mode, any tokens ---- */

typedef struct bit_writer {
    uint32_t *words;
    uint32_t at;
} bit_writer;

static void put(bit_writer *w, uint32_t value, uint32_t nbits)
{
    for (uint32_t i = 0; i < nbits; i++, w->at++)
        w->words[w->at / 32] |= (value >> i & 1) << w->at % 32;
}

typedef struct wild_style {
    uint32_t runs;         /* of 4 chances to write a run as one */
    bool dear;             /* the tokens of single symbols have the longest codes */
    const uint8_t *tokens; /* lengths of the tokens' codes, or NULL */
    uint32_t shape;        /* of the histograms */
    uint32_t mode_coded;   /* of 8 tables */
} wild_style;

static void wild_tokens(const wild_style *style, uint8_t *length, uint16_t *code, uint64_t *state)
{
    uint32_t count[FLOE_HUFFMAN_TOKENS];
    for (uint32_t k = 0; k < FLOE_HUFFMAN_TOKENS; k++)
        count[k] = 1 + ((uint32_t)random_next(state) >> random_below(state, 32));
    if (style->dear) {
        for (uint32_t k = 0; k < FLOE_HUFFMAN_SHORT_RUN; k++)
            count[k] = k == 0 || random_below(state, 4) ? 1 : 1u << 20 >> k;
        count[FLOE_HUFFMAN_SHORT_RUN] = count[FLOE_HUFFMAN_LONG_RUN] = 1u << 20;
    }
    floe_huffman_lengths(count, FLOE_HUFFMAN_TOKENS, FLOE_HUFFMAN_TOKEN_LIMIT, length);
    if (style->tokens)
        memcpy(length, style->tokens, FLOE_HUFFMAN_TOKENS);
    assert_true(floe_huffman_codes(length, FLOE_HUFFMAN_TOKENS, code));
}

static void wild_lengths(bit_writer *w, const wild_style *style, uint32_t table, const uint16_t *code, uint64_t *state)
{
    const uint32_t nsymbols = floe_huffman_alphabet(table);
    uint32_t count[FLOE_HUFFMAN_SYMBOLS], extra, advance;
    uint8_t v[FLOE_HUFFMAN_SYMBOLS];
    table_random(count, table, style->shape < SHAPES ? style->shape : random_below(state, SHAPES), state);
    count[random_below(state, nsymbols / 2)]++;
    count[nsymbols / 2 + random_below(state, nsymbols / 2)]++;
    floe_huffman_lengths(count, nsymbols, FLOE_HUFFMAN_MAX_LENGTH, v);
    for (uint32_t s = 0; s < nsymbols; s++)
        v[s] = (uint8_t)floe_huffman_predicted_as(v[s]);
    for (uint32_t s = 0; s < nsymbols; s += advance) {
        const uint32_t most = 1 + random_below(state, FLOE_HUFFMAN_LONGEST_RUN);
        uint32_t run = 0;
        while (run < most && s + run < nsymbols && v[s + run] == floe_huffman_predict(table, v, s + run))
            run++;
        run = random_below(state, 4) < style->runs ? run : 0;
        const uint32_t token = floe_huffman_token_of(run, v[s], floe_huffman_predict(table, v, s), &extra, &advance);
        put(w, code[token] & FLOE_HUFFMAN_CODE_MASK, code[token] >> FLOE_HUFFMAN_MAX_LENGTH);
        put(w, extra, floe_huffman_token_extra(token));
    }
}

static void wild_add(book_batch *b, const wild_style *style, uint64_t *state)
{
    static uint32_t words[FLOE_HUFFMAN_BOOK_WORDS];
    uint32_t mode[FLOE_HUFFMAN_TABLES];
    bit_writer w = {words, 0};
    uint8_t token_length[FLOE_HUFFMAN_TOKENS];
    uint16_t code[FLOE_HUFFMAN_TOKENS];
    bool coded = false;
    memset(words, 0, sizeof words);
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++) {
        mode[t] = random_below(state, 8) < style->mode_coded ? FLOE_HUFFMAN_CODED : random_below(state, 3);
        coded = coded || mode[t] == FLOE_HUFFMAN_CODED;
        put(&w, mode[t], FLOE_HUFFMAN_MODE_BITS);
    }
    wild_tokens(style, token_length, code, state);
    for (uint32_t k = 0; coded && k < FLOE_HUFFMAN_TOKENS; k++)
        put(&w, token_length[k], FLOE_HUFFMAN_TOKEN_LENGTH_BITS);
    for (uint32_t t = 0; t < FLOE_HUFFMAN_TABLES; t++) {
        if (mode[t] == FLOE_HUFFMAN_SINGLE)
            put(&w, random_below(state, floe_huffman_alphabet(t)), FLOE_HUFFMAN_SINGLE_BITS);
        if (mode[t] == FLOE_HUFFMAN_CODED)
            wild_lengths(&w, style, t, code, state);
    }
    const uint32_t n = (w.at + 31) / 32;
    memcpy(batch_add(b, n), words, n * sizeof *words);
}

static wild_style style_random(uint64_t *state)
{
    return (wild_style){.runs = random_below(state, 5),
                        .dear = random_below(state, 3) == 0,
                        .shape = 1 + random_below(state, SHAPES),
                        .mode_coded = random_below(state, 9)};
}

static void test_read_real(void **unused)
{
    static floe_huffman_hist hist[REALS];
    static floe_huffman_book book;
    static book_batch b;
    uint32_t words[FLOE_HUFFMAN_BOOK_WORDS];
    (void)unused;
    hists_real(hist);
    for (uint32_t c = 0; c < REALS; c++) {
        floe_huffman_book_build(&hist[c], &book);
        const uint32_t n = (uint32_t)floe_huffman_book_write(&book, words, FLOE_HUFFMAN_BOOK_WORDS);
        memcpy(batch_add(&b, n), words, n * sizeof *words);
    }
    assert_int_equal(check_read(&b, false), REALS);
    b.n = 1; /* a chunk alone is shared by many blocks */
    assert_int_equal(check_read(&b, false), 1);
    CU(floe_huffman_books_read_cuda(NULL, NULL, NULL, 0, NULL, NULL, NULL));
}

static void test_read_wild(void **unused)
{
    static book_batch b;
    uint64_t state = 17;
    (void)unused;
    for (uint32_t round = 0; round < (is_small() ? 2u : 10u); round++) {
        b.n = 0;
        while (b.n < (round % 2 ? BATCH : 2 + round)) {
            const wild_style style = style_random(&state);
            wild_add(&b, &style, &state);
        }
        assert_int_equal(check_read(&b, false), b.n);
    }
}

/* Lengths that are flat where the alphabet lets them be need tokens 0 to 5 and 11. */
static const wild_style flat_style = {
    .tokens = (const uint8_t[]){7, 7, 7, 7, 7, 7, 2, 0, 0, 3, 4, 7, 1, 7}, .shape = 3, .mode_coded = 8};

/* The longest book that there is, and beyond. */
static void test_read_longest(void **unused)
{
    static book_batch b;
    enum { MOST = (FLOE_HUFFMAN_BOOK_MOST_BITS + 31) / 32 };
    uint64_t state = 23;
    (void)unused;
    b.n = 0;
    for (uint32_t i = 0; i < 5; i++) {
        wild_add(&b, &flat_style, &state);
        assert_int_equal(b.nwords[i], MOST);
    }
    assert_int_equal(check_read(&b, false), 5);
    for (uint32_t i = 0; i < 5; i++)
        b.nwords[i] = MOST - 1 + i;
    b.nwords[4] = FLOE_HUFFMAN_BOOK_WORDS + 1;
    assert_int_equal(check_read(&b, false), 1);
}

/* Codes of tokens that are not complete, though all tokens that occur have theirs; and a book that ends in the code. */
static void test_read_tokens(void **unused)
{
    static book_batch b;
    uint64_t state = 29;
    (void)unused;
    b.n = 0;
    for (uint32_t i = 0; i < 2; i++)
        wild_add(&b, &flat_style, &state);
    b.words[b.at[1] / 4 + 2] &= ~(7u << 15); /* token 13: the last code, which nobody needs */
    uint32_t *cut = batch_add(&b, 2);        /* UNUSED but for one table */
    cut[0] = FLOE_HUFFMAN_CODED;
    cut[1] = 0x6DB6DBu << 8; /* 8 tokens of 3 bits, complete if the other 6 were not missing */
    assert_int_equal(check_read(&b, false), 1);
}

static void mutate(uint32_t *words, uint32_t *nwords, uint64_t *state)
{
    const uint32_t n = *nwords;
    switch (random_below(state, 8)) {
    case 0: *nwords = random_below(state, n + 1); break;
    case 1: words[*nwords - 1] = 0, *nwords -= random_below(state, 2); break;
    case 2: words[random_below(state, n)] = (uint32_t)random_next(state); break;
    case 3:
        words[random_below(state, n < 3 ? n : 3)] ^= 1u << random_below(state, 32);
        break; /* modes and token code */
    case 4: words[n - 1] ^= 1u << random_below(state, 32); break;
    case 5: words[n - 1] |= 0x80000000; break;
    default:
        for (uint32_t i = 1 + random_below(state, 3); i > 0; i--)
            words[random_below(state, n)] ^= 1u << random_below(state, 32);
    }
}

static void test_read_mutated(void **unused)
{
    static book_batch b;
    uint64_t state = 31;
    uint32_t good = 0;
    (void)unused;
    for (uint32_t round = 0; round < (is_small() ? 2u : 32u); round++) {
        b.n = 0;
        while (b.n < BATCH) {
            const wild_style style = style_random(&state);
            wild_add(&b, &style, &state);
            mutate(b.words + b.at[b.n - 1] / 4, &b.nwords[b.n - 1], &state);
        }
        b.n = round % 4 == 3 ? 1 + random_below(&state, BATCH) : BATCH;
        good += check_read(&b, round % 2);
    }
    assert_true(good > 0);
}

static void test_read_noise(void **unused)
{
    static book_batch b;
    uint64_t state = 37;
    (void)unused;
    for (uint32_t round = 0; round < (is_small() ? 1u : 12u); round++) {
        b.n = 0;
        while (b.n < BATCH) {
            const uint32_t n = random_below(&state, random_below(&state, 3) ? 40 : 600), thin = random_below(&state, 2);
            uint32_t *words = batch_add(&b, n);
            for (uint32_t k = 0; k < n; k++)
                words[k] = (uint32_t)(random_next(&state) & (thin ? random_next(&state) : ~(uint64_t)0));
            if (n > 1 && random_below(&state, 3) == 0) { /* tables without lengths */
                words[0] &= 0x55555555;
                words[1] &= 0x00000055;
            } else if (n > 2 && random_below(&state, 2)) { /* tokens of 4 bits but for 12 and 13: 2 bits each */
                uint64_t lengths = (uint64_t)2 << 36 | (uint64_t)2 << 39;
                for (uint32_t t = 0; t < 8; t++)
                    lengths |= (uint64_t)4 << 3 * t;
                words[1] = (words[1] & 0xFF) | (uint32_t)(lengths << 8);
                words[2] = (words[2] & ~0x3FFFFu) | (uint32_t)(lengths >> 24);
            }
        }
        check_read(&b, round % 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_build_made_up), cmocka_unit_test(test_build_real),
        cmocka_unit_test(test_read_real),   cmocka_unit_test(test_read_wild),     cmocka_unit_test(test_read_longest),
        cmocka_unit_test(test_read_tokens), cmocka_unit_test(test_read_mutated),  cmocka_unit_test(test_read_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
