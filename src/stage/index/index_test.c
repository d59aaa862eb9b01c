/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage index: every form against sums added up one by one, widths around their limits, sizes against the formulas, and
 * indexes that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "stage/index/index.h"
#include "tests/hostile_kit.h"

enum { FORMS = 4, NBLOCKS = 40000 };

static const floe_index_form forms[FORMS] = {FLOE_INDEX_OFFSETS, FLOE_INDEX_LENGTHS, FLOE_INDEX_HYBRID,
                                             FLOE_INDEX_PACKED};

/* An index in a block of just its size, so that a sanitizer sees a read beyond it. */
typedef struct bytes {
    uint8_t *data;
    uint64_t nbytes;
} bytes;

static bytes encode(const floe_index_spec *spec, const uint16_t *blocks, uint64_t nblocks, uint64_t begin)
{
    uint32_t most = 0;
    for (uint64_t i = 0; i < nblocks; i++)
        most = blocks[i] > most ? blocks[i] : most;
    const uint64_t bound = floe_side_index_bound(spec, nblocks, most);
    bytes b = {malloc((size_t)bound), 0};
    floe_error err = {0};
    memset(b.data, 0xA5, (size_t)bound);
    if (floe_side_index_encode(spec, &(floe_index_blocks){blocks, nblocks, begin}, b.data, bound, &b.nbytes, &err) !=
        FLOE_OK)
        fail_msg("form %d: %s", (int)spec->form, err.message);
    if (spec->form == FLOE_INDEX_OFFSETS)
        assert_int_equal(b.nbytes, bound); /* nothing about these depends on the values */
    b.data = realloc(b.data, (size_t)b.nbytes);
    return b;
}

static floe_side_index open_index(const bytes *b, uint64_t stream_end)
{
    floe_side_index x;
    floe_error err = {0};
    uint64_t used = 0;
    if (floe_side_index_open(b->data, b->nbytes, stream_end, &x, &used, &err) != FLOE_OK)
        fail_msg("%s", err.message);
    assert_int_equal(used, b->nbytes);
    return x;
}

/* All places by one loop; returns the number of chunks. */
static uint64_t places_of(const uint16_t *blocks, uint64_t nblocks, uint32_t chunk, uint64_t begin, uint64_t *places)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < nblocks; i++) {
        if (i % chunk == 0)
            places[n++] = begin;
        begin += blocks[i];
    }
    places[n] = begin;
    return n;
}

static void round_trip(const floe_index_spec *spec, const uint16_t *blocks, uint64_t nblocks, uint64_t begin)
{
    static uint64_t want[NBLOCKS + 1], got[NBLOCKS + 1];
    const uint64_t n = places_of(blocks, nblocks, spec->chunk, begin, want);
    bytes b = encode(spec, blocks, nblocks, begin);
    const floe_side_index x = open_index(&b, want[n]);
    assert_true(x.nchunks == n && x.begin == begin && x.end == want[n] && x.nblocks == nblocks);
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        const floe_cpu cpu = {.threads = threads, .isa = FLOE_ISA_PLAIN};
        floe_error err = {0};
        memset(got, 0xA5, (n + 1) * sizeof *got);
        if (floe_side_index_decode(&cpu, &x, got, &err) != FLOE_OK)
            fail_msg("form %d: %s", (int)spec->form, err.message);
        assert_memory_equal(got, want, (n + 1) * sizeof *got);
    }
    free(b.data);
}

/* Lengths of many sizes, with stretches of the same and of 0. */
static void fill(uint16_t *blocks, uint64_t n, uint64_t *state)
{
    const uint32_t width = (uint32_t)hostile_below(state, 15), least = (uint32_t)hostile_below(state, 5) * 100;
    for (uint64_t i = 0; i < n; i++)
        blocks[i] = (uint16_t)(least + (i / 50 % 3 == 2 ? 0 : hostile_random(state) >> 49 >> (15 - width)));
}

static void indexes_come_back(void **unused)
{
    static const uint32_t chunks[] = {1, 2, 3, 16, 4096, UINT32_MAX},
                          partitions[] = {1, 2, 7, 32, 33, 1000, FLOE_INDEX_PARTITION_MOST};
    static const uint64_t counts[] = {0, 1, 2, 31, 32, 33, 64, 65, 1000, 8191, 8192, 8193, NBLOCKS};
    static uint16_t blocks[NBLOCKS];
    uint64_t state = 1;
    (void)unused;
    for (int f = 0; f < FORMS; f++)
        for (size_t c = 0; c < HOSTILE_COUNT(chunks); c++)
            for (size_t p = 0; p < HOSTILE_COUNT(partitions); p++)
                for (size_t n = 0; n < HOSTILE_COUNT(counts); n++) {
                    const floe_index_spec spec = {forms[f], chunks[c], partitions[p]};
                    fill(blocks, counts[n], &state);
                    round_trip(&spec, blocks, counts[n], hostile_below(&state, 3) * 96);
                }
}

/* Lengths at the limits of 16 and 32 bits, and packed ones of all widths: the field in the header, and what comes back. */
static void widths_are_found(void **unused)
{
    enum { MANY = 65538, N = 3 * MANY }; /* 65537 * 65535 is 2^32 - 1 */
    static const struct {
        uint32_t chunk;
        uint16_t last; /* of the second chunk; all blocks before it have 65535 */
        uint8_t nbits;
    } cases[] = {{2, 0, 16}, {2, 1, 32}, {65538, 0, 32}, {65538, 1, 64}};
    static uint16_t blocks[N];
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(cases); i++) {
        const uint32_t c = cases[i].chunk;
        memset(blocks, 0, sizeof blocks);
        memset(blocks + c, 0xFF, (c - 1) * sizeof *blocks);
        blocks[2 * c - 1] = cases[i].last;
        for (int f = 0; f < FORMS; f++) {
            const floe_index_spec spec = {forms[f], c, 8};
            bytes b = encode(&spec, blocks, 3 * c, 64);
            const bool lengths = forms[f] == FLOE_INDEX_LENGTHS || forms[f] == FLOE_INDEX_HYBRID;
            assert_int_equal(b.data[1], lengths ? cases[i].nbits : 0);
            free(b.data);
            round_trip(&spec, blocks, 3 * c, 64);
        }
    }
    for (uint32_t width = 0; width <= 16; width++) {
        for (uint32_t i = 0; i < 100; i++)
            blocks[i] = (uint16_t)((width < 14 ? 7 : 0) + (i % 2 ? (1u << width) - 1 : 0));
        const floe_index_spec spec = {FLOE_INDEX_PACKED, 1, 32};
        bytes b = encode(&spec, blocks, 100, 0);
        const floe_side_index x = open_index(&b, UINT64_MAX);
        assert_int_equal(x.least_nbits, width < 14 ? 3 : 0);
        assert_int_equal(floe_index_part_of(&x, 1).width, width);
        free(b.data);
        round_trip(&spec, blocks, 100, 0);
    }
}

static void sizes_are_those_of_the_forms(void **unused)
{
    enum { N = 32 * 1024 };
    static const double nbits[FORMS] = {64, 16, 17.5}; /* of a chunk */
    static uint16_t blocks[N];
    uint64_t state = 3, stream = 0;
    (void)unused;
    for (uint64_t i = 0; i < N; i++) {
        blocks[i] = (uint16_t)(100 + hostile_below(&state, 300));
        stream += blocks[i];
    }
    for (uint32_t chunk = 1; chunk <= 16; chunk *= 2) {
        double f[FORMS];
        for (int k = 0; k < FORMS; k++) {
            const floe_index_spec spec = {forms[k], chunk, FLOE_INDEX_PARTITION};
            bytes b = encode(&spec, blocks, N, 0);
            const double real = 8 * (double)(b.nbytes - FLOE_INDEX_HEADER_NBYTES), nchunks = (double)N / chunk;
            f[k] = real / (double)stream;
            if (forms[k] != FLOE_INDEX_PACKED) /* a place has 64 bits, a length 16 */
                assert_true(fabs(real - nbits[k] * nchunks) <= 32);
            free(b.data);
        }
        assert_true(f[0] > f[2] && f[2] > f[1] && f[3] < f[2] && f[3] < f[1]); /* packed is the smallest */
    }
}

/* Bytes that docs/format/index.md shows. */
static void the_example(void **unused)
{
    static const uint16_t blocks[] = {40, 43, 41, 47, 40, 1};
    static const uint8_t body[] = {0x00, 0xd0, 0xad, 0x0e, 0x0c, 0, 0, 0, 0x58, 0x0e, 0, 0, 0x27, 0, 0, 0};
    const floe_index_spec spec = {FLOE_INDEX_PACKED, 1, 4};
    bytes b = encode(&spec, blocks, 6, 96);
    (void)unused;
    if (b.nbytes != FLOE_INDEX_HEADER_NBYTES + sizeof body ||
        memcmp(b.data + FLOE_INDEX_HEADER_NBYTES, body, sizeof body) != 0) {
        for (uint64_t i = 0; i < b.nbytes; i++)
            print_message("%02x%s", b.data[i], i % 8 == 7 ? "\n" : " ");
        fail_msg("other bytes");
    }
    free(b.data);
}

/* Lengths alone, of more chunks than a task has: their sum must be the end. */
static void sums_of_lengths(void **unused)
{
    enum { N = 20000 };
    static uint16_t blocks[N];
    static uint64_t want[N + 1], got[N + 1];
    const floe_index_spec spec = {FLOE_INDEX_LENGTHS, 1, 0};
    uint64_t state = 5, used;
    floe_error err;
    (void)unused;
    for (uint64_t i = 0; i < N; i++) {
        blocks[i] = (uint16_t)hostile_random(&state);
        want[i + 1] = want[i] + blocks[i];
    }
    bytes b = encode(&spec, blocks, N, 0);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        const floe_cpu cpu = {.threads = threads, .isa = FLOE_ISA_PLAIN};
        floe_side_index x;
        assert_int_equal(floe_side_index_open(b.data, b.nbytes, UINT64_MAX, &x, &used, &err), FLOE_OK);
        assert_int_equal(floe_side_index_decode(&cpu, &x, got, &err), FLOE_OK);
        assert_memory_equal(got, want, sizeof want);
        x.end = want[N] - 1;
        assert_int_equal(floe_side_index_decode(&cpu, &x, got, &err), FLOE_ERR_FORMAT);
        x.end = want[N] + 1;
        assert_int_equal(floe_side_index_decode(&cpu, &x, got, &err), FLOE_ERR_FORMAT);
    }
    free(b.data);
}

static void what_cannot_be_asked(void **unused)
{
    static const floe_index_spec bad[] = {{(floe_index_form)4, 1, 32},
                                          {FLOE_INDEX_OFFSETS, 0, 32},
                                          {FLOE_INDEX_HYBRID, 1, 0},
                                          {FLOE_INDEX_PACKED, 1, 65537}};
    uint16_t blocks[40] = {1};
    uint8_t dst[1000];
    uint64_t nbytes;
    floe_error err;
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(bad); i++) {
        assert_int_equal(floe_side_index_bound(&bad[i], 40, 1), 0);
        assert_int_equal(
            floe_side_index_encode(&bad[i], &(floe_index_blocks){blocks, 40, 0}, dst, sizeof dst, &nbytes, &err),
            FLOE_ERR_ARGUMENT);
    }
    for (int f = 0; f < FORMS; f++) { /* one byte too few; places at 2^62 */
        const floe_index_spec spec = {forms[f], 1, 8};
        bytes b = encode(&spec, blocks, 40, 0);
        assert_int_equal(
            floe_side_index_encode(&spec, &(floe_index_blocks){blocks, 40, 0}, dst, b.nbytes - 1, &nbytes, &err),
            FLOE_ERR_CAPACITY);
        free(b.data);
        const uint64_t last = ((uint64_t)1 << FLOE_INDEX_PLACE_BITS) - 2;
        assert_int_equal(
            floe_side_index_encode(&spec, &(floe_index_blocks){blocks, 40, last}, dst, sizeof dst, &nbytes, &err),
            FLOE_OK);
        assert_int_equal(
            floe_side_index_encode(&spec, &(floe_index_blocks){blocks, 40, last + 1}, dst, sizeof dst, &nbytes, &err),
            FLOE_ERR_ARGUMENT);
    }
}

/* ---- lies -------------------------------------------------------------------------------------------------------- */

/* Opens and decodes untrusted bytes in all ways. Accepted: places go up, stay in the stream, and the ways agree. */
static bool accepted(const bytes *b, uint64_t stream_end, char *message)
{
    static uint64_t places[2][NBLOCKS + 1];
    floe_side_index x;
    floe_error err[2] = {{0}, {0}};
    uint64_t used;
    message[0] = 0;
    floe_status opened = floe_side_index_open(b->data, b->nbytes, stream_end, &x, &used, &err[0]);
    if (opened != FLOE_OK) {
        assert_int_equal(opened, FLOE_ERR_FORMAT);
        memcpy(message, err[0].message, sizeof err[0].message);
        return false;
    }
    assert_true(used <= b->nbytes && x.end <= stream_end);
    if (x.nchunks > NBLOCKS)
        return false;
    floe_status status[2];
    for (uint32_t i = 0; i < 2; i++)
        status[i] =
            floe_side_index_decode(&(floe_cpu){.threads = 1 + 2 * i, .isa = FLOE_ISA_PLAIN}, &x, places[i], &err[i]);
    assert_true(status[0] == status[1] && (status[0] == FLOE_OK || status[0] == FLOE_ERR_FORMAT));
    assert_string_equal(err[0].message, err[1].message);
    memcpy(message, err[0].message, sizeof err[0].message);
    if (status[0] != FLOE_OK)
        return false;
    assert_memory_equal(places[0], places[1], (x.nchunks + 1) * sizeof **places);
    assert_true(places[0][0] == x.begin && places[0][x.nchunks] == x.end);
    for (uint64_t i = 0; i < x.nchunks; i++)
        assert_true(places[0][i] <= places[0][i + 1]);
    return true;
}

/* One lie at a time, by form: where, what is added, and what the message must have of it. */
static void lies_are_found(void **unused)
{
    enum { HEAD = FLOE_INDEX_HEADER_NBYTES };
    static const struct {
        floe_index_form form;
        uint32_t at;
        int64_t add;
        const char *message;
    } lies[] = {
        {FLOE_INDEX_HYBRID, 0, 4, "form 6"},
        {FLOE_INDEX_HYBRID, 1, 1, "widths"},
        {FLOE_INDEX_HYBRID, 2, 1, "widths"},
        {FLOE_INDEX_HYBRID, 6, 1, "widths"},
        {FLOE_INDEX_PACKED, 2, 63, "widths"},
        {FLOE_INDEX_PACKED, 5, 5, "widths"},
        {FLOE_INDEX_PACKED, 1, 16, "widths"},
        {FLOE_INDEX_OFFSETS, 8, -1, "chunks of 0 blocks"},
        {FLOE_INDEX_OFFSETS, 12, 1, "partitions of 1"},
        {FLOE_INDEX_HYBRID, 12, -8, "partitions of 0"},
        {FLOE_INDEX_HYBRID, 16, 1, "body"},
        {FLOE_INDEX_HYBRID, 16, (int64_t)1 << 60, "blocks"},
        {FLOE_INDEX_HYBRID, 24, 1, "head does not follow"},
        {FLOE_INDEX_LENGTHS, 32, -1, "reach past"},
        {FLOE_INDEX_LENGTHS, 32, 1, "the stream ends"},
        {FLOE_INDEX_HYBRID, 32, -4000, "begins behind"},
        {FLOE_INDEX_PACKED, 40, 1, "body of"},
        {FLOE_INDEX_PACKED, 40, -1, "chunks 32 to 36: its head"},
        {FLOE_INDEX_OFFSETS, HEAD, 1, "head does not follow"},
        {FLOE_INDEX_OFFSETS, HEAD + 8, 1 << 20, "chunks 0 to 0: it begins"},
        {FLOE_INDEX_OFFSETS, HEAD + 8, -200, "chunks 0 to 0: it begins"},
        {FLOE_INDEX_OFFSETS, HEAD + 16, -200, "chunks 1 to 1: it begins"},
        {FLOE_INDEX_LENGTHS, HEAD, 1, "reach past"},
        {FLOE_INDEX_LENGTHS, HEAD, -1, "do not reach"},
        {FLOE_INDEX_LENGTHS, HEAD + 72, 1 << 16, "unused bits"},
        {FLOE_INDEX_HYBRID, HEAD + 8, -300, "chunks 0 to 7: its lengths"},
        {FLOE_INDEX_HYBRID, HEAD + 40, 4000, "chunks 0 to 7: its lengths"},
        {FLOE_INDEX_PACKED, HEAD, 1, "head does not follow"},
    };
    uint16_t blocks[37];
    uint64_t state = 6, end = 96;
    char message[256];
    (void)unused;
    for (int i = 0; i < 37; i++)
        end += blocks[i] = (uint16_t)(100 + hostile_below(&state, 100));
    for (size_t i = 0; i < HOSTILE_COUNT(lies); i++) {
        const floe_index_spec spec = {lies[i].form, 1, 8};
        bytes b = encode(&spec, blocks, 37, 96);
        assert_true(accepted(&b, end, message));
        uint8_t *at = b.data + lies[i].at;
        if (lies[i].at < 8)
            *at = (uint8_t)(*at + lies[i].add);
        else if (lies[i].at == 8 || lies[i].at == 12 || lies[i].at > 80)
            floe_store32(at, floe_load32(at) + (uint32_t)lies[i].add);
        else
            floe_store64(at, floe_load64(at) + (uint64_t)lies[i].add);
        if (accepted(&b, end, message) || !strstr(message, lies[i].message))
            fail_msg("lie %zu: '%s'", i, message);
        free(b.data);
    }
}

/* Cut short anywhere: refused, and nothing is read beyond the end. */
static void cut_short(void **unused)
{
    uint16_t blocks[100];
    char message[256];
    (void)unused;
    for (uint32_t i = 0; i < 100; i++)
        blocks[i] = (uint16_t)(i * i);
    for (int f = 0; f < FORMS; f++) {
        const floe_index_spec spec = {forms[f], 1, 8};
        bytes b = encode(&spec, blocks, 100, 0);
        for (uint64_t n = 0; n < b.nbytes; n++) {
            bytes cut = {malloc(n ? (size_t)n : 1), n};
            memcpy(cut.data, b.data, (size_t)n);
            assert_false(accepted(&cut, UINT64_MAX, message));
            free(cut.data);
        }
        free(b.data);
    }
}

static void any_bytes(void **unused)
{
    uint64_t state = 7, count[2] = {0, 0};
    uint16_t blocks[300];
    char message[256];
    (void)unused;
    for (int round = 0; round < 60000; round++) {
        const floe_index_spec spec = {forms[round % FORMS], 1 + (uint32_t)hostile_below(&state, 3),
                                      1 + (uint32_t)hostile_below(&state, 40)};
        const uint64_t n = 1 + hostile_below(&state, 300);
        fill(blocks, n, &state);
        bytes b = encode(&spec, blocks, n, 32);
        for (uint64_t k = 1 + hostile_below(&state, 2); k > 0; k--) {
            const uint64_t from = hostile_below(&state, 4) ? FLOE_INDEX_HEADER_NBYTES * 8 : 0;
            const uint64_t bit = (from + hostile_below(&state, 8 * b.nbytes)) % (8 * b.nbytes);
            b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        count[accepted(&b, 1 << 24, message)]++;
        free(b.data);
    }
    assert_true(count[0] > 30000 && count[1] > 1000); /* lies that keep all sums are no lies: two lengths, two places */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_come_back),
        cmocka_unit_test(widths_are_found),
        cmocka_unit_test(sizes_are_those_of_the_forms),
        cmocka_unit_test(the_example),
        cmocka_unit_test(sums_of_lengths),
        cmocka_unit_test(what_cannot_be_asked),
        cmocka_unit_test(lies_are_found),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
