/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare zfp streams on a GPU: the bytes and the values of the CPU, in every mode, type and rank, and nothing bad from streams and
 * places that are cut, damaged or made up.
 *
 *     ZFP_CASES=20000 zfp_stream_gpu_test
 */
#include "tests/gpu/gpu_kit.h"

#include "base/hd.h"
#include "codec/zfp/gpu/zfp_kernels.h"
#include "codec/zfp/stream/zfp_stream.h"
#include "tests/zfp_kit.h"

enum { SAMPLE = 288 };

static const floe_zfp_kernels *kernels_of(const floe_zfp_array *array)
{
    return floe_zfp_kernels_of(floe_zfp_type_is_narrow(array->type));
}

static uint64_t cases(void)
{
    const char *text = getenv("ZFP_CASES");
    return text ? strtoull(text, NULL, 10) : SAMPLE;
}

static const floe_cpu plain = {.threads = 1, .isa = FLOE_ISA_PLAIN};

/* ---- device memory -------------------------------------------------------------------------------------------------- */

/* Just as large as it is given, so that an access outside faults. */
static void *dev_alloc(uint64_t nbytes)
{
    void *p = NULL;
    assert_int_equal(cudaMalloc(&p, nbytes ? nbytes : 1), cudaSuccess);
    return p;
}
static void *dev_copy(const void *from, uint64_t nbytes)
{
    void *p = dev_alloc(nbytes);
    assert_int_equal(cudaMemcpy(p, from, nbytes, cudaMemcpyHostToDevice), cudaSuccess);
    return p;
}
static void from_dev(void *to, const void *dev, uint64_t nbytes)
{
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaMemcpy(to, dev, nbytes, cudaMemcpyDeviceToHost), cudaSuccess);
}

/* ---- the CPU's side -------------------------------------------------------------------------------------------------- */

typedef struct stream {
    uint8_t *data;
    uint32_t begin;
    uint64_t nbits, nbytes, nblocks;
    uint16_t *lengths;
} stream;

static void stream_free(stream *s)
{
    free(s->data);
    free(s->lengths);
}

/* From a bit that no word begins with. */
static stream compress(const zfp_case *c, uint32_t begin)
{
    const uint64_t bound = floe_zfp_stream_bound(&c->array, &c->params, begin);
    const size_t room = floe_zfp_stream_workspace(&plain, &c->array, &c->params, 1);
    stream s = {.data = calloc(1, bound), .begin = begin};
    void *scratch = aligned_alloc(FLOE_ARENA_ALIGN, room);
    floe_arena arena = floe_arena_of(scratch, room);
    s.nblocks = floe_zfp_nblocks(c->array.rank, c->array.shape);
    s.lengths = malloc(s.nblocks * sizeof *s.lengths);
    assert_int_equal(floe_zfp_stream_compress(&(floe_zfp_coding){&plain, &c->array, &c->params, begin}, &arena, s.data,
                                              bound, s.lengths, &s.nbits, NULL),
                     FLOE_OK);
    s.nbytes = (s.nbits + 63) / 64 * 8;
    free(scratch);
    return s;
}

static floe_status decompress(const zfp_case *into, uint32_t begin, const void *src, uint64_t nbytes,
                              const uint64_t *places, uint32_t chunk)
{
    const size_t room = floe_zfp_stream_workspace(&plain, &into->array, &into->params, chunk);
    void *scratch = aligned_alloc(FLOE_ARENA_ALIGN, room);
    floe_arena arena = floe_arena_of(scratch, room);
    floe_error err;
    const floe_status status = floe_zfp_stream_decompress(
        &(floe_zfp_coding){&plain, &into->array, &into->params, begin}, src, nbytes, places, chunk, &arena, &err);
    free(scratch);
    return status;
}

static uint64_t nchunks_of(const stream *s, uint32_t chunk) { return floe_ceil_div(s->nblocks, chunk); }

static uint64_t *places_of(const stream *s, uint32_t chunk)
{
    uint64_t *places = malloc((nchunks_of(s, chunk) + 1) * sizeof *places), at = s->nbits;
    places[nchunks_of(s, chunk)] = at;
    for (uint64_t i = s->nblocks; i-- > 0;) {
        at -= s->lengths[i];
        if (i % chunk == 0)
            places[i / chunk] = at;
    }
    return places;
}

/* ---- the GPU's side -------------------------------------------------------------------------------------------------- */

/* An array of a case in device memory, to which `from` is copied. */
static floe_zfp_array dev_array(const zfp_case *c, void **memory)
{
    floe_zfp_array array = c->array;
    *memory = dev_copy(c->memory, c->nbytes);
    array.data = (uint8_t *)*memory + ((const uint8_t *)c->array.data - c->memory);
    return array;
}

/* The places of all chunks, by one lane. */
static floe_status measure(const zfp_case *c, uint32_t begin, const void *src, uint64_t nbytes, uint64_t *places,
                           uint32_t chunk)
{
    const uint64_t nblocks = floe_zfp_nblocks(c->array.rank, c->array.shape);
    const uint64_t places_nbytes = (floe_ceil_div(nblocks, chunk) + 1) * sizeof *places;
    uint32_t status = FLOE_OK;
    const floe_zfp_measure_call call = {.array = c->array,
                                        .params = c->params,
                                        .src = dev_alloc((nbytes + 3) & ~(uint64_t)3),
                                        .nbytes = nbytes,
                                        .begin = begin,
                                        .places = dev_alloc(places_nbytes),
                                        .chunk = chunk,
                                        .nbits = dev_alloc(sizeof(uint64_t)),
                                        .status = dev_copy(&status, sizeof status)};
    assert_int_equal(cudaMemset((void *)(uintptr_t)call.src, 0x77, (nbytes + 3) & ~(uint64_t)3), cudaSuccess);
    assert_int_equal(cudaMemcpy((void *)(uintptr_t)call.src, src, nbytes, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(kernels_of(&call.array)->measure(&call, NULL), cudaSuccess);
    from_dev(&status, call.status, sizeof status);
    from_dev(places, call.places, places_nbytes);
    void *all[] = {(void *)(uintptr_t)call.src, call.places, call.nbits, call.status};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cudaFree(all[i]);
    return (floe_status)status;
}

/* Into a twin's memory. */
static floe_status decode(zfp_case *into, uint32_t begin, const void *src, uint64_t nbytes, const uint64_t *places,
                          uint32_t chunk)
{
    const uint64_t nblocks = floe_zfp_nblocks(into->array.rank, into->array.shape);
    uint32_t status = FLOE_OK;
    void *memory, *dev_src = dev_alloc((nbytes + 3) & ~(uint64_t)3), *dev_status = dev_copy(&status, sizeof status);
    void *dev_places = dev_copy(places, (floe_ceil_div(nblocks, chunk) + 1) * sizeof *places);
    const floe_zfp_decode_call call = {.array = dev_array(into, &memory),
                                       .params = into->params,
                                       .src = dev_src,
                                       .nbytes = nbytes,
                                       .begin = begin,
                                       .chunk = chunk,
                                       .places = dev_places,
                                       .status = dev_status};
    assert_int_equal(cudaMemset(dev_src, 0x77, (nbytes + 3) & ~(uint64_t)3), cudaSuccess);
    assert_int_equal(cudaMemcpy(dev_src, src, nbytes, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(kernels_of(&call.array)->decode(&call, NULL), cudaSuccess);
    from_dev(&status, dev_status, sizeof status);
    from_dev(into->memory, memory, into->nbytes);
    cudaFree(memory);
    cudaFree(dev_src);
    cudaFree(dev_status);
    cudaFree(dev_places);
    return (floe_status)status;
}

static void same_memory(const zfp_case *a, const zfp_case *b)
{
    if (memcmp(a->memory, b->memory, a->nbytes) != 0)
        fail_msg("%s: the GPU decodes otherwise", a->text);
}

/* Whatever the bytes and the places are: both sides report the same, and write the same where it is well. */
static floe_status decode_both(const zfp_case *c, uint32_t begin, const void *src, uint64_t nbytes,
                               const uint64_t *places, uint32_t chunk)
{
    zfp_case want = zfp_case_twin(c), got = zfp_case_twin(c);
    const floe_status status = decompress(&want, begin, src, nbytes, places, chunk);
    const floe_status gpu = decode(&got, begin, src, nbytes, places, chunk);
    if (gpu != status)
        fail_msg("%s: the CPU says %d, the GPU %d", c->text, (int)status, (int)gpu);
    if (status == FLOE_OK)
        same_memory(&want, &got);
    zfp_case_free(&want);
    zfp_case_free(&got);
    return status;
}

/* ---- encoding -------------------------------------------------------------------------------------------------------- */

enum { GUARD = 64 };

/* What the GPU makes of a case, into memory of `capacity` bytes and a guard. */
typedef struct encoded {
    uint8_t *data;
    uint16_t *lengths;
    uint64_t nbits;
    uint32_t status;
} encoded;

static encoded encode(const zfp_case *c, const stream *like, uint64_t capacity)
{
    encoded e = {.data = malloc(capacity + GUARD), .lengths = malloc(like->nblocks * sizeof *e.lengths)};
    uint64_t nbytes;
    void *memory;
    memset(e.data, 0xA5, capacity + GUARD);
    memset(e.data, 0, floe_min64(capacity, floe_ceil_div(like->begin, 8))); /* a header */
    floe_zfp_encode_call call = {.array = dev_array(c, &memory),
                                 .params = c->params,
                                 .dst = dev_copy(e.data, capacity + GUARD),
                                 .capacity = capacity,
                                 .begin = like->begin,
                                 .lengths = dev_alloc(like->nblocks * sizeof *e.lengths),
                                 .nbits = dev_alloc(sizeof e.nbits),
                                 .status = dev_copy(&e.status, sizeof e.status)};
    assert_int_equal(kernels_of(&call.array)->encode_scratch(&call.array, &call.params, &nbytes), cudaSuccess);
    call.scratch = dev_alloc(nbytes);
    assert_int_equal(kernels_of(&call.array)->encode(&call, NULL), cudaSuccess);
    from_dev(e.data, call.dst, capacity + GUARD);
    from_dev(e.lengths, call.lengths, like->nblocks * sizeof *e.lengths);
    from_dev(&e.nbits, call.nbits, sizeof e.nbits);
    from_dev(&e.status, call.status, sizeof e.status);
    for (uint64_t i = capacity; i < capacity + GUARD; i++)
        assert_int_equal(e.data[i], 0xA5);
    void *all[] = {memory, call.dst, call.lengths, call.nbits, call.status, call.scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cudaFree(all[i]);
    return e;
}

static void encoded_free(encoded *e)
{
    free(e->data);
    free(e->lengths);
}

static void encodes_as_the_cpu_does(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < cases(); n += (uint64_t)one_in(7)) {
        zfp_case c;
        zfp_case_make(n, &c);
        stream s = compress(&c, (uint32_t)(n * 41 % 150));
        encoded e = encode(&c, &s, s.nbytes);
        if (e.status || e.nbits != s.nbits || memcmp(e.data, s.data, s.nbytes) != 0)
            fail_msg("%s: status %u, %llu bits, not %llu, or other bytes", c.text, e.status,
                     (unsigned long long)e.nbits, (unsigned long long)s.nbits);
        assert_memory_equal(e.lengths, s.lengths, s.nblocks * sizeof *s.lengths);
        encoded_free(&e);
        stream_free(&s);
        zfp_case_free(&c);
    }
}

/* Too small by a word, and by far: that is reported, and so is how much it would take. */
static void too_little_room(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < 16 * ZFP_KINDS; n += (uint64_t)one_in(7)) {
        zfp_case c;
        zfp_case_make(n, &c);
        stream s = compress(&c, 0);
        encoded e = encode(&c, &s, n % 2 ? s.nbytes - 8 : s.nbytes / 16 * 8);
        assert_int_equal(e.status, FLOE_ERR_CAPACITY);
        assert_int_equal(e.nbits, s.nbits);
        encoded_free(&e);
        stream_free(&s);
        zfp_case_free(&c);
    }
}

/* ---- decoding -------------------------------------------------------------------------------------------------------- */

static uint32_t chunk_of(uint64_t n)
{
    const uint32_t chunks[] = {1, 1, 2, 4, 7, 16, 1000000};
    return chunks[n % (sizeof chunks / sizeof *chunks)];
}

static void decodes_as_the_cpu_does(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < cases(); n += (uint64_t)one_in(7)) {
        zfp_case c;
        zfp_case_make(n, &c);
        stream s = compress(&c, (uint32_t)(n * 37 % 100));
        uint64_t *places = places_of(&s, chunk_of(n));
        assert_int_equal(decode_both(&c, s.begin, s.data, s.nbytes, places, chunk_of(n)), FLOE_OK);
        free(places);
        stream_free(&s);
        zfp_case_free(&c);
    }
}

static void measures_as_the_cpu_does(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < cases(); n += (uint64_t)one_in(7)) {
        zfp_case c;
        zfp_case_make(n, &c);
        stream s = compress(&c, (uint32_t)(n * 37 % 100));
        const uint32_t chunk = chunk_of(n);
        uint64_t *want = places_of(&s, chunk), *places = malloc((nchunks_of(&s, chunk) + 1) * sizeof *places);
        assert_int_equal(measure(&c, s.begin, s.data, s.nbytes, places, chunk), FLOE_OK);
        assert_memory_equal(places, want, (nchunks_of(&s, chunk) + 1) * sizeof *places);
        free(want);
        free(places);
        stream_free(&s);
        zfp_case_free(&c);
    }
}

static void cut_short(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < 16 * ZFP_KINDS; n += (uint64_t)one_in(7)) {
        zfp_case c;
        zfp_case_make_small(n, &c);
        stream s = compress(&c, 3);
        const uint64_t needed = (s.nbits + 7) / 8;
        uint64_t *places = places_of(&s, 3);
        assert_int_equal(decode_both(&c, s.begin, s.data, needed, places, 3), FLOE_OK); /* just what there must be */
        assert_int_equal(decode_both(&c, s.begin, s.data, needed - 1, places, 3), FLOE_ERR_FORMAT);
        assert_int_equal(decode_both(&c, s.begin, s.data, needed * (n % 7) / 7, places, 3), FLOE_ERR_FORMAT);
        free(places);
        stream_free(&s);
        zfp_case_free(&c);
    }
}

static void places_that_lie(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    for (uint64_t n = 0; n < 16 * ZFP_KINDS; n += (uint64_t)one_in(7)) {
        zfp_case c;
        zfp_case_make_small(n, &c);
        stream s = compress(&c, 64);
        uint64_t *places = places_of(&s, 2), nchunks = nchunks_of(&s, 2);
        const uint64_t lies[] = {0, UINT64_MAX, s.nbits + 1, s.begin - 1, 8 * s.nbytes + 1, hostile_random(&state)};
        for (int turn = 0; turn < 4; turn++) {
            uint64_t *place = &places[hostile_below(&state, nchunks + 1)], truth = *place;
            *place = turn < 2 ? lies[hostile_below(&state, 6)] : truth + (turn % 2 ? 1 : ~(uint64_t)0);
            assert_int_equal(decode_both(&c, s.begin, s.data, s.nbytes, places, 2),
                             *place == truth ? FLOE_OK : FLOE_ERR_FORMAT);
            *place = truth;
        }
        free(places);
        stream_free(&s);
        zfp_case_free(&c);
    }
}

static void the_first_place(void **unused)
{
    zfp_case c = zfp_case_of_two_ways();
    uint64_t places[3];
    (void)unused;
    assert_int_equal(measure(&c, 0, zfp_read_two_ways, sizeof zfp_read_two_ways, places, 3), FLOE_OK);
    for (places[0] = 0; places[0] < 64; places[0]++)
        assert_int_equal(decode_both(&c, 0, zfp_read_two_ways, sizeof zfp_read_two_ways, places, 3),
                         places[0] == 0 ? FLOE_OK : FLOE_ERR_FORMAT);
    zfp_case_free(&c);
}

/* The places of what the bytes happen to hold, as far as they go; then any. */
static uint64_t *places_of_bytes(const zfp_case *c, uint32_t begin, const uint8_t *bytes, uint64_t nbytes)
{
    const uint64_t nblocks = floe_zfp_nblocks(c->array.rank, c->array.shape);
    uint64_t *places = malloc((nblocks + 1) * sizeof *places), at = begin;
    uint16_t *lengths = calloc(nblocks, sizeof *lengths);
    uint64_t nbits;
    floe_error err;
    floe_zfp_stream_measure(&(floe_zfp_coding){&plain, &c->array, &c->params, begin}, bytes, nbytes, lengths, &nbits,
                            &err);
    for (uint64_t i = 0; i < nblocks; i++) {
        places[i] = at;
        at += lengths[i];
    }
    places[nblocks] = at;
    free(lengths);
    return places;
}

/* Both sides find the same blocks, or both none; and what is found does not lead decoding astray. */
static void measure_both(const zfp_case *c, uint32_t begin, const uint8_t *bytes, uint64_t nbytes)
{
    const uint64_t nblocks = floe_zfp_nblocks(c->array.rank, c->array.shape);
    uint16_t *want = calloc(nblocks, sizeof *want);
    uint64_t *places = malloc((nblocks + 1) * sizeof *places), nbits;
    floe_error err;
    const floe_status status = floe_zfp_stream_measure(&(floe_zfp_coding){&plain, &c->array, &c->params, begin}, bytes,
                                                       nbytes, want, &nbits, &err);
    assert_int_equal(measure(c, begin, bytes, nbytes, places, 1), status);
    for (uint64_t i = 0; i < nblocks && status == FLOE_OK; i++)
        assert_int_equal(places[i + 1] - places[i], want[i]);
    assert_int_equal(decode_both(c, begin, bytes, nbytes, places, 1), status);
    free(want);
    free(places);
}

static void random_bytes(void **unused)
{
    (void)unused;
    uint64_t state = 9, fine = 0;
    for (uint64_t n = 0; n < 16 * ZFP_KINDS; n++) {
        uint8_t bytes[3000];
        zfp_case c;
        zfp_case_make_small(n, &c);
        const uint64_t nbytes = hostile_below(&state, sizeof bytes + 1), rare = hostile_below(&state, 3);
        const uint32_t begin = (uint32_t)hostile_below(&state, 150);
        for (uint64_t i = 0; i < nbytes; i++) /* with few ones the runs of zeros are long */
            bytes[i] =
                (uint8_t)(hostile_random(&state) & (rare ? hostile_random(&state) & hostile_random(&state) : 255));
        uint64_t *places = places_of_bytes(&c, begin, bytes, nbytes);
        fine += decode_both(&c, begin, bytes, nbytes, places, 1) == FLOE_OK;
        measure_both(&c, begin, bytes, nbytes);
        free(places);
        zfp_case_free(&c);
    }
    assert_in_range(fine, 5, 16 * ZFP_KINDS - 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(encodes_as_the_cpu_does),
                                       cmocka_unit_test(too_little_room),
                                       cmocka_unit_test(decodes_as_the_cpu_does),
                                       cmocka_unit_test(measures_as_the_cpu_does),
                                       cmocka_unit_test(cut_short),
                                       cmocka_unit_test(places_that_lie),
                                       cmocka_unit_test(the_first_place),
                                       cmocka_unit_test(random_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
