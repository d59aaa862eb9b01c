/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare zfp streams: bit for bit those of libzfp, in every mode and type, both ways; the same from each instruction set and
 * any number of threads; and nothing bad from streams that are cut, damaged or made up.
 *
 *     ZFP_CASES=20000 zfp_stream_test
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "codec/zfp/stream/zfp_stream.h"
#include "tests/zfp_kit.h"

enum { SAMPLE = 400, GUARD = 64 };

static uint64_t cases(void)
{
    const char *text = getenv("ZFP_CASES");
    return text ? strtoull(text, NULL, 10) : SAMPLE;
}

static const floe_cpu plain = {.threads = 1, .isa = FLOE_ISA_PLAIN};

/* What this processor does best, on `threads` threads. */
static floe_cpu best(uint32_t threads)
{
    floe_cpu cpu;
    assert_int_equal(floe_cpu_init(&cpu, threads, FLOE_ISA_AUTO, NULL), FLOE_OK);
    return cpu;
}

/* ---- streams --------------------------------------------------------------------------------------------------------- */

typedef struct stream {
    uint8_t *data;
    uint32_t begin;         /* bits of the header */
    uint64_t nbits, nbytes; /* nbytes: in whole words */
    uint16_t *lengths;
} stream;

static void stream_free(stream *s)
{
    free(s->data);
    free(s->lengths);
}

static uint32_t header_of(const zfp_case *c, uint8_t head[FLOE_ZFP_HEADER_NBYTES])
{
    uint32_t nbits = 0;
    assert_int_equal(floe_zfp_header_write(&c->array, &c->params, head, &nbits, NULL), FLOE_OK);
    return nbits;
}

/* With a header, in a buffer of the size of the bound, followed by a guard. */
static stream compress(const floe_cpu *cpu, const zfp_case *c)
{
    uint8_t head[FLOE_ZFP_HEADER_NBYTES];
    const uint32_t begin = header_of(c, head);
    const uint64_t bound = floe_zfp_stream_bound(&c->array, &c->params, begin);
    const size_t room = floe_zfp_stream_workspace(cpu, &c->array, &c->params, 1);
    stream s = {.data = malloc(bound + GUARD), .begin = begin};
    void *scratch = aligned_alloc(FLOE_ARENA_ALIGN, room);
    floe_arena arena = floe_arena_of(scratch, room);
    floe_error err;
    s.lengths = malloc(floe_zfp_nblocks(c->array.rank, c->array.shape) * sizeof *s.lengths);
    memset(s.data, 0xA5, bound + GUARD);
    memcpy(s.data, head, sizeof head < bound ? sizeof head : bound);
    const floe_status status = floe_zfp_stream_compress(&(floe_zfp_coding){cpu, &c->array, &c->params, begin}, &arena,
                                                        s.data, bound, s.lengths, &s.nbits, &err);
    if (status != FLOE_OK)
        fail_msg("%s: %s", c->text, err.message);
    s.nbytes = (s.nbits + 63) / 64 * 8;
    for (uint64_t i = bound; i < bound + GUARD; i++)
        assert_int_equal(s.data[i], 0xA5);
    free(scratch);
    return s;
}

/* From a copy of just the bytes that there are, so that a sanitizer sees one too many. */
static floe_status decompress(const floe_cpu *cpu, const zfp_case *into, uint32_t begin, const void *src,
                              uint64_t nbytes, const uint64_t *places, uint32_t chunk, floe_error *err)
{
    const size_t room = floe_zfp_stream_workspace(cpu, &into->array, &into->params, chunk);
    void *scratch = aligned_alloc(FLOE_ARENA_ALIGN, room), *exact = malloc(nbytes ? nbytes : 1);
    floe_arena arena = floe_arena_of(scratch, room);
    memcpy(exact, src, nbytes);
    const floe_status status = floe_zfp_stream_decompress(&(floe_zfp_coding){cpu, &into->array, &into->params, begin},
                                                          exact, nbytes, places, chunk, &arena, err);
    free(scratch);
    free(exact);
    return status;
}

/* Where each chunk begins, and where the last one ends. */
static uint64_t *places_of(const zfp_case *c, const stream *s, uint32_t chunk, uint64_t *nchunks)
{
    const uint64_t n = floe_zfp_nblocks(c->array.rank, c->array.shape);
    uint64_t *places = malloc((floe_ceil_div(n, chunk) + 1) * sizeof *places);
    uint64_t at = s->nbits;
    for (uint64_t i = n; i-- > 0;) {
        at -= s->lengths[i];
        if (i % chunk == 0)
            places[i / chunk] = at;
    }
    *nchunks = floe_ceil_div(n, chunk);
    places[*nchunks] = s->nbits;
    return places;
}

static void same_memory(const zfp_case *a, const zfp_case *b, const char *who)
{
    if (memcmp(a->memory, b->memory, a->nbytes) != 0)
        fail_msg("%s: %s decodes otherwise", a->text, who);
}

/* ---- one case -------------------------------------------------------------------------------------------------------- */

/* All ways of ours to encode give the same bytes. */
static void check_encoders(const zfp_case *c, const stream *want)
{
    const floe_cpu cpus[] = {best(1), best(3)};
    for (int i = 0; i < 2; i++) {
        stream s = compress(&cpus[i], c);
        if (s.nbits != want->nbits || memcmp(s.data, want->data, want->nbytes) != 0)
            fail_msg("%s: encoder %d gives other bytes", c->text, i);
        assert_memory_equal(s.lengths, want->lengths,
                            floe_zfp_nblocks(c->array.rank, c->array.shape) * sizeof *s.lengths);
        stream_free(&s);
    }
}

/* Decodes in all of our ways; leaves the values in *first. */
static void check_decoders(const zfp_case *c, const stream *s, uint64_t n, zfp_case *first)
{
    const uint32_t chunk = 1 + (uint32_t)(n % 7) * 5;
    const floe_cpu cpus[] = {plain, best(1), best(3), best(2)};
    uint64_t nchunks, *places = places_of(c, s, chunk, &nchunks);
    floe_error err;
    *first = zfp_case_twin(c);
    for (int i = 0; i < 4; i++) {
        zfp_case out = zfp_case_twin(c);
        const bool indexed = i >= 2;
        if (decompress(&cpus[i], &out, s->begin, s->data, s->nbytes, indexed ? places : NULL, chunk, &err) != FLOE_OK)
            fail_msg("%s: decoder %d: %s", c->text, i, err.message);
        if (i == 0)
            memcpy(first->memory, out.memory, c->nbytes);
        else
            same_memory(first, &out, "another of our decoders");
        zfp_case_free(&out);
    }
    free(places);
}

static void check_measure(const zfp_case *c, const stream *s)
{
    const uint64_t n = floe_zfp_nblocks(c->array.rank, c->array.shape);
    uint16_t *lengths = malloc(n * sizeof *lengths);
    const floe_cpu cpu = best(1);
    uint64_t nbits;
    assert_int_equal(floe_zfp_stream_measure(&(floe_zfp_coding){&cpu, &c->array, &c->params, s->begin}, s->data,
                                             s->nbytes, lengths, &nbits, NULL),
                     FLOE_OK);
    assert_int_equal(nbits, s->nbits);
    assert_memory_equal(lengths, s->lengths, n * sizeof *lengths);
    free(lengths);
}

#ifdef HAVE_ZFP

/* Reversible blocks of zeros are not filled up to minbits by libzfp 1.0, but skipped as if they were: it does not decode
 * what it encodes, where both are requested. */
static bool oracle_is_lost(const zfp_case *c)
{
    return zfp_is_real(c->array.type) && c->params.minexp < FLOE_ZFP_MIN_EXP && c->params.minbits > 1;
}

/* libzfp with words of any width writes the same bits; ours have more zeros at the end. */
static void check_oracle(const zfp_case *c, const stream *s, const zfp_case *decoded)
{
    const size_t room = s->nbytes + 4096;
    uint8_t *theirs = calloc(1, room);
    const size_t nbytes = oracle_compress(c, true, theirs, room);
    zfp_case out = zfp_case_twin(c);
    if (nbytes == 0 || nbytes > s->nbytes || nbytes < (s->nbits + 7) / 8 || memcmp(theirs, s->data, s->nbytes) != 0) {
        uint64_t i = 0;
        while (i < s->nbytes && theirs[i] == s->data[i])
            i++;
        fail_msg("%s: libzfp has %zu bytes, we %llu; byte %llu is the first to differ", c->text, nbytes,
                 (unsigned long long)s->nbytes, (unsigned long long)i);
    }
    if (oracle_decompress(&out, true, s->data, s->nbytes) == 0)
        fail_msg("%s: libzfp does not decode our stream", c->text);
    if (!oracle_is_lost(c))
        same_memory(decoded, &out, "libzfp");
    zfp_case_free(&out);
    free(theirs);
}

#endif

/* ---- tests ----------------------------------------------------------------------------------------------------------- */

static void a_campaign(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < cases(); n++) {
        zfp_case c, decoded;
        zfp_case_make(n, &c);
        stream s = compress(&plain, &c);
        check_encoders(&c, &s);
        check_decoders(&c, &s, n, &decoded);
        check_measure(&c, &s);
#ifdef HAVE_ZFP
        check_oracle(&c, &s, &decoded);
#endif
        zfp_case_free(&decoded);
        zfp_case_free(&c);
        stream_free(&s);
    }
}

/* ---- input that hurts ------------------------------------------------------------------------------------------------ */

/* Whatever the bytes are: plain C and vectors report the same, and write the same, inside the array only. */
static void decode_anything(const zfp_case *c, uint32_t begin, const void *src, uint64_t nbytes, const uint64_t *places,
                            uint32_t chunk)
{
    const floe_cpu cpus[] = {plain, best(3)};
    zfp_case out[2];
    floe_status status[2];
    for (int i = 0; i < 2; i++) {
        floe_error err = {0};
        out[i] = zfp_case_twin(c);
        status[i] = decompress(&cpus[i], &out[i], begin, src, nbytes, places, chunk, &err);
        assert_true(status[i] == FLOE_OK || (status[i] == FLOE_ERR_FORMAT && err.message[0]));
    }
    assert_int_equal(status[0], status[1]);
    if (status[0] == FLOE_OK)
        same_memory(&out[0], &out[1], "another decoder");
    zfp_case_free(&out[0]);
    zfp_case_free(&out[1]);
}

static void cut_short(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < 16 * ZFP_KINDS; n += FLOE_TEST_STRIDE) {
        zfp_case c;
        zfp_case_make_small(n, &c);
        stream s = compress(&plain, &c);
        const uint64_t needed = (s.nbits + 7) / 8, step = 1 + needed / 20;
        uint64_t nchunks, *places = places_of(&c, &s, 3, &nchunks);
        const floe_cpu cpu = best(1);
        for (uint64_t nbytes = 0; nbytes < needed; nbytes += nbytes + step < needed ? step : 1) {
            zfp_case out = zfp_case_twin(&c);
            floe_error err = {0};
            for (int indexed = 0; indexed < 2; indexed++) {
                assert_int_equal(decompress(&cpu, &out, s.begin, s.data, nbytes, indexed ? places : NULL, 3, &err),
                                 FLOE_ERR_FORMAT);
                assert_true(err.message[0] != 0);
            }
            zfp_case_free(&out);
        }
        decode_anything(&c, s.begin, s.data, needed, NULL, 1); /* just what there must be */
        free(places);
        stream_free(&s);
        zfp_case_free(&c);
    }
}

static void places_that_lie(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    const floe_cpu cpus[] = {plain, best(3)};
    for (uint64_t n = 0; n < 16 * ZFP_KINDS; n++) {
        zfp_case c;
        zfp_case_make_small(n, &c);
        stream s = compress(&plain, &c);
        uint64_t nchunks, *places = places_of(&c, &s, 2, &nchunks);
        for (int turn = 0; turn < 12; turn++) {
            const uint64_t lies[] = {
                0, UINT64_MAX, s.nbits, s.nbits + 1, s.begin - 1, 8 * s.nbytes, hostile_random(&state)};
            uint64_t *place = &places[hostile_below(&state, nchunks + 1)], truth = *place;
            *place = turn < 7 ? lies[turn] : truth + (turn % 2 ? 1 : ~(uint64_t)0);
            for (int i = 0; i < 2; i++) {
                zfp_case out = zfp_case_twin(&c);
                floe_error err;
                assert_int_equal(decompress(&cpus[i], &out, s.begin, s.data, s.nbytes, places, 2, &err),
                                 *place == truth ? FLOE_OK : FLOE_ERR_FORMAT);
                zfp_case_free(&out);
            }
            *place = truth;
        }
        free(places);
        stream_free(&s);
        zfp_case_free(&c);
    }
}

/* Nothing but the place itself shows that it is wrong. */
static void the_first_place(void **unused)
{
    const floe_cpu cpus[] = {plain, best(3)};
    zfp_case c = zfp_case_of_two_ways();
    uint16_t lengths[4];
    uint64_t nbits;
    floe_error err;
    (void)unused;
    assert_int_equal(floe_zfp_stream_measure(&(floe_zfp_coding){&plain, &c.array, &c.params, 0}, zfp_read_two_ways,
                                             sizeof zfp_read_two_ways, lengths, &nbits, &err),
                     FLOE_OK);
    for (uint64_t first = 0; first < 64; first++) {
        const uint64_t places[] = {first, (uint64_t)lengths[0] + lengths[1] + lengths[2], nbits};
        for (int i = 0; i < 2; i++)
            assert_int_equal(decompress(&cpus[i], &c, 0, zfp_read_two_ways, sizeof zfp_read_two_ways, places, 3, &err),
                             first == 0 ? FLOE_OK : FLOE_ERR_FORMAT);
    }
    zfp_case_free(&c);
}

static void random_bytes(void **unused)
{
    (void)unused;
    uint64_t state = 9;
    for (uint64_t n = 0; n < 64 * ZFP_KINDS; n++) {
        uint8_t bytes[3000];
        zfp_case c;
        zfp_case_make_small(n, &c);
        const uint64_t nbytes = hostile_below(&state, sizeof bytes + 1), rare = hostile_below(&state, 3);
        for (uint64_t i = 0; i < nbytes; i++) /* with few ones the runs of zeros are long */
            bytes[i] =
                (uint8_t)(hostile_random(&state) & (rare ? hostile_random(&state) & hostile_random(&state) : 255));
        decode_anything(&c, (uint32_t)hostile_below(&state, 150), bytes, nbytes, NULL, 1);
        zfp_case_free(&c);
    }
}

/* Lengths of blocks by plain C and by vectors. */
static void measure_anything(const zfp_case *c, const void *src, uint64_t nbytes)
{
    const floe_cpu cpus[] = {plain, best(1)};
    const uint64_t n = floe_zfp_nblocks(c->array.rank, c->array.shape);
    uint16_t *lengths[2];
    uint64_t nbits[2];
    floe_status status[2];
    for (int i = 0; i < 2; i++) {
        lengths[i] = malloc(n * sizeof *lengths[i]);
        status[i] = floe_zfp_stream_measure(&(floe_zfp_coding){&cpus[i], &c->array, &c->params, 0}, src, nbytes,
                                            lengths[i], &nbits[i], NULL);
    }
    assert_int_equal(status[0], status[1]);
    if (status[0] == FLOE_OK) {
        assert_int_equal(nbits[0], nbits[1]);
        assert_memory_equal(lengths[0], lengths[1], n * sizeof *lengths[0]);
    }
    free(lengths[0]);
    free(lengths[1]);
}

/* Small blocks are read several planes at a time: of whatever bits, they end behind any bit and any plane. */
static void blocks_that_end_anywhere(void **unused)
{
    (void)unused;
    enum { VALUES = 400, MOST = 140 };
    uint8_t bytes[VALUES * MOST / 4 / 8];
    uint64_t state = 11, memory[VALUES];
    for (uint32_t maxbits = 1; maxbits <= MOST; maxbits++)
        for (uint32_t turn = 0; turn < 64; turn++) {
            const floe_zfp_params params = {.minbits = turn & 8 ? maxbits : 1,
                                            .maxbits = maxbits,
                                            .maxprec = turn & 16 ? 64 : 1 + (uint32_t)hostile_below(&state, 40),
                                            .minexp = turn & 32 ? FLOE_ZFP_MIN_EXP : FLOE_ZFP_MIN_EXP - 1};
            zfp_case c = {.array = {.type = (floe_zfp_type)(1 + turn % 4), .rank = 1 + turn / 4 % 2}, .params = params};
            c.nbytes = VALUES * floe_zfp_type_size(c.array.type);
            c.memory = (uint8_t *)memory;
            c.array.data = memory;
            c.array.shape[0] = c.array.rank == 1 ? VALUES : VALUES / 20;
            c.array.shape[1] = c.array.rank == 1 ? 0 : 20;
            c.array.stride[0] = c.array.rank == 1 ? 1 : 20;
            c.array.stride[1] = 1;
            snprintf(c.text, sizeof c.text, "maxbits %u, turn %u", maxbits, turn);
            const uint64_t rare = hostile_below(&state, 2);
            for (size_t i = 0; i < sizeof bytes; i++)
                bytes[i] = (uint8_t)(hostile_random(&state) & (rare ? hostile_random(&state) : 255));
            if (floe_zfp_params_check(&params, c.array.type, NULL) == FLOE_OK) {
                decode_anything(&c, 0, bytes, sizeof bytes, NULL, 1);
                measure_anything(&c, bytes, sizeof bytes);
            }
        }
}

/* A destination of one byte less than what it takes. */
static void too_little_room(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < 16 * ZFP_KINDS; n++) {
        zfp_case c;
        zfp_case_make_small(n, &c);
        stream s = compress(&plain, &c);
        for (int turn = 0; turn < 2; turn++) {
            const floe_cpu cpu = turn ? best(3) : plain;
            const size_t room = floe_zfp_stream_workspace(&cpu, &c.array, &c.params, 1);
            void *scratch = aligned_alloc(FLOE_ARENA_ALIGN, room);
            uint8_t *exact = malloc(s.nbytes - 1);
            floe_arena arena = floe_arena_of(scratch, room);
            uint64_t nbits;
            floe_error err;
            memcpy(exact, s.data, floe_min64(FLOE_ZFP_HEADER_NBYTES, s.nbytes - 1));
            assert_int_equal(floe_zfp_stream_compress(&(floe_zfp_coding){&cpu, &c.array, &c.params, s.begin}, &arena,
                                                      exact, s.nbytes - 1, NULL, &nbits, &err),
                             FLOE_ERR_CAPACITY);
            free(scratch);
            free(exact);
        }
        stream_free(&s);
        zfp_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_campaign),      cmocka_unit_test(cut_short),
                                       cmocka_unit_test(places_that_lie), cmocka_unit_test(the_first_place),
                                       cmocka_unit_test(random_bytes),    cmocka_unit_test(blocks_that_end_anywhere),
                                       cmocka_unit_test(too_little_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
