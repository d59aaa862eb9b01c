/* SPDX-License-Identifier: BSD-3-Clause */
/* Indexes over primitives, by threads and by a GPU: the bytes and the places of the serial code, and lies that are found.
 * FLOE_GPU_TEST=small: less of it. */
#include <stdio.h>

#include "tests/gpu/gpu_kit.h"

#include "base/arena.h"
#include "base/bytes.h"
#include "stage/index/index_prim.h"
#include "tests/hostile_kit.h"

enum { MOST = 5000, BLOCK_MOST = 16658, GUARD = 64 };

/* Where a call works: its memory is its own kind. */
typedef struct side {
    floe_prim prim;
    bool gpu;
    uint16_t *lengths;
    uint8_t *index;
    floe_side_index *opened;
    uint64_t *places;
    floe_index_report *report;
} side;

static const floe_cpu cpu = {.threads = 2, .isa = FLOE_ISA_PLAIN};
static side sides[2];

static void *take(bool gpu, size_t nbytes)
{
    void *p = NULL;
    if (gpu)
        CU(cudaMalloc(&p, nbytes));
    else
        p = aligned_alloc(FLOE_ARENA_ALIGN, (nbytes + FLOE_ARENA_ALIGN - 1) / FLOE_ARENA_ALIGN * FLOE_ARENA_ALIGN);
    assert_non_null(p);
    return p;
}

static void copy(bool gpu, void *to, const void *from, size_t nbytes)
{
    if (gpu)
        CU(cudaMemcpy(to, from, nbytes, cudaMemcpyDefault));
    else
        memcpy(to, from, nbytes);
}

static int open_sides(void **state)
{
    (void)state;
    for (int g = 0; g < 2; g++) {
        side *s = &sides[g];
        s->gpu = g;
        s->prim.cpu = g ? NULL : &cpu;
        s->prim.workspace_nbytes = 1 << 20;
        s->prim.workspace = take(g, s->prim.workspace_nbytes);
        s->lengths = take(g, MOST * sizeof *s->lengths);
        s->index = take(g, 16 * MOST + 1024);
        s->opened = take(g, sizeof *s->opened);
        s->places = take(g, (MOST + 1) * sizeof *s->places);
        s->report = take(g, sizeof *s->report);
    }
    return 0;
}

static int close_sides(void **state)
{
    (void)state;
    for (int g = 0; g < 2; g++) {
        void *all[] = {sides[g].prim.workspace, sides[g].lengths, sides[g].index,
                       sides[g].opened,         sides[g].places,  sides[g].report};
        for (size_t i = 0; i < HOSTILE_COUNT(all); i++)
            if (g)
                CU(cudaFree(all[i]));
            else
                free(all[i]);
    }
    return 0;
}

static floe_index_report report_of(const side *s)
{
    floe_index_report r;
    if (s->gpu)
        CU(cudaDeviceSynchronize());
    copy(s->gpu, &r, s->report, sizeof r);
    return r;
}

static floe_status encode_on(const side *s, const floe_index_spec *spec, uint64_t nblocks, uint64_t begin,
                             uint64_t capacity, uint64_t *nbytes)
{
    floe_error err = {0};
    uint64_t needed;
    floe_prim exact = s->prim;
    assert_int_equal(floe_index_prim_workspace(&s->prim, spec, nblocks, &needed, &err), FLOE_OK);
    assert_true(needed <= exact.workspace_nbytes);
    exact.workspace_nbytes = (size_t)needed;
    if (floe_index_prim_encode(&exact, spec, &(floe_index_blocks){s->lengths, nblocks, begin}, BLOCK_MOST,
                               &(floe_index_target){s->index, capacity, s->report}, &err) != FLOE_OK)
        fail_msg("%s", err.message);
    const floe_index_report r = report_of(s);
    *nbytes = r.nbytes;
    return (floe_status)r.status;
}

static floe_status decode_on(const side *s, const uint8_t *index, uint64_t nbytes, uint64_t *places)
{
    floe_error err = {0};
    floe_side_index x;
    uint64_t used;
    if (floe_side_index_open(index, nbytes, UINT64_MAX, &x, &used, &err) != FLOE_OK)
        return FLOE_ERR_FORMAT;
    if (x.nchunks > MOST)
        return FLOE_ERR_LIMIT;
    copy(s->gpu, s->index, index, (size_t)nbytes);
    x.body = s->index + FLOE_INDEX_HEADER_NBYTES;
    copy(s->gpu, s->opened, &x, sizeof x);
    const floe_index_spec spec = {x.form, x.chunk, x.partition};
    if (floe_index_prim_decode_opened(&s->prim, &spec, x.nblocks, s->opened, s->places, s->report, &err) != FLOE_OK)
        fail_msg("%s", err.message);
    const floe_index_report r = report_of(s);
    copy(s->gpu, places, s->places, (size_t)(x.nchunks + 1) * sizeof *places);
    return (floe_status)r.status;
}

static void fill(uint16_t *blocks, uint64_t n, uint64_t *state)
{
    const uint32_t width = (uint32_t)hostile_below(state, 14), least = (uint32_t)hostile_below(state, 5) * 100;
    for (uint64_t i = 0; i < n; i++)
        blocks[i] = (uint16_t)(least + (i / 50 % 3 == 2 ? 0 : hostile_random(state) >> 50 >> (14 - width)));
}

static uint64_t encode_serially(const floe_index_spec *spec, const uint16_t *blocks, uint64_t n, uint64_t begin,
                                uint8_t *dst, uint64_t capacity)
{
    uint64_t nbytes = 0;
    floe_error err;
    assert_int_equal(floe_side_index_encode(spec, &(floe_index_blocks){blocks, n, begin}, dst, capacity, &nbytes, &err),
                     FLOE_OK);
    return nbytes;
}

static void same_bytes_and_places(void **state)
{
    static const uint64_t counts[] = {0, 1, 2, 31, 32, 33, 65, 1000, 1025, MOST};
    static const uint32_t chunks[] = {1, 3, 70000}, partitions[] = {1, 2, 31, 32, 33, 100, 2000};
    static uint16_t blocks[MOST];
    static uint8_t want[16 * MOST + 1024], got[16 * MOST + 1024];
    static uint64_t places[2][MOST + 1];
    const bool small = is_small();
    uint64_t random = 1, nbytes;
    (void)state;
    for (uint64_t n = 0; n < HOSTILE_COUNT(counts) * HOSTILE_COUNT(chunks) * HOSTILE_COUNT(partitions) * 4;
         n += (uint64_t)one_in(11)) {
        const uint64_t nblocks = counts[n % HOSTILE_COUNT(counts)], m = n / HOSTILE_COUNT(counts);
        const floe_index_spec spec = {(floe_index_form)(m % 4), chunks[m / 4 % HOSTILE_COUNT(chunks)],
                                      partitions[m / 12 % HOSTILE_COUNT(partitions)]};
        if (small && nblocks > 100 && n % 5)
            continue;
        fill(blocks, nblocks, &random);
        const uint64_t length = encode_serially(&spec, blocks, nblocks, 96, want, sizeof want);
        const uint64_t nchunks = floe_ceil_div(nblocks, spec.chunk);
        floe_side_index x;
        assert_int_equal(floe_side_index_open(want, length, UINT64_MAX, &x, &nbytes, NULL), FLOE_OK);
        assert_int_equal(floe_side_index_decode(&cpu, &x, places[0], NULL), FLOE_OK);
        for (int g = 0; g < 2; g++) {
            const side *s = &sides[g];
            memset(got, 0xEE, (size_t)length + GUARD);
            copy(g, s->index, got, (size_t)length + GUARD);
            copy(g, s->lengths, blocks, nblocks * sizeof *blocks);
            assert_int_equal(encode_on(s, &spec, nblocks, 96, length, &nbytes), FLOE_OK);
            copy(g, got, s->index, (size_t)length + GUARD);
            if (nbytes != length || memcmp(got, want, (size_t)length) != 0)
                fail_msg("%s: form %d, %llu blocks, C %u, P %u: other bytes", g ? "GPU" : "CPU", (int)spec.form,
                         (unsigned long long)nblocks, spec.chunk, spec.partition);
            for (int i = 0; i < GUARD; i++)
                assert_int_equal(got[length + (uint64_t)i], 0xEE);
            assert_int_equal(decode_on(s, want, length, places[1]), FLOE_OK);
            assert_memory_equal(places[1], places[0], (nchunks + 1) * sizeof **places);
            if (length > FLOE_INDEX_HEADER_NBYTES)
                assert_int_equal(encode_on(s, &spec, nblocks, 96, length - 1, &nbytes), FLOE_ERR_CAPACITY);
        }
    }
}

static void places_that_reach_too_far(void **state)
{
    static uint16_t blocks[40] = {1};
    uint64_t nbytes;
    (void)state;
    for (int g = 0; g < 2; g++)
        for (int f = 0; f < 4; f++) {
            const floe_index_spec spec = {(floe_index_form)f, 1, 8};
            const uint64_t last = ((uint64_t)1 << FLOE_INDEX_PLACE_BITS) - 2;
            copy(g, sides[g].lengths, blocks, sizeof blocks);
            assert_int_equal(encode_on(&sides[g], &spec, 40, last, 10000, &nbytes), FLOE_OK);
            assert_int_equal(encode_on(&sides[g], &spec, 40, last + 1, 10000, &nbytes), FLOE_ERR_ARGUMENT);
        }
}

/* Flipped bits: found, or not, as the serial decoder does, and then the same places. */
static void lies(void **state)
{
    static uint16_t blocks[300];
    static uint8_t index[16 * MOST];
    static uint64_t want[MOST + 1], got[MOST + 1];
    const int rounds = is_watched() ? 60 : is_small() ? 600 : 4000;
    uint64_t random = 5, naccepted = 0;
    (void)state;
    for (int round = 0; round < rounds; round++) {
        const floe_index_spec spec = {(floe_index_form)(round % 4), 1 + (uint32_t)hostile_below(&random, 3),
                                      1 + (uint32_t)hostile_below(&random, 50)};
        const uint64_t n = 1 + hostile_below(&random, 300);
        fill(blocks, n, &random);
        const uint64_t nbytes = encode_serially(&spec, blocks, n, 32, index, sizeof index);
        const uint64_t from =
            hostile_below(&random, 5) && nbytes > FLOE_INDEX_HEADER_NBYTES ? FLOE_INDEX_HEADER_NBYTES : 16;
        for (uint64_t k = 1 + hostile_below(&random, 2); k > 0; k--) {
            const uint64_t bit = 8 * from + hostile_below(&random, 8 * (nbytes - from));
            index[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        floe_side_index x;
        uint64_t used;
        floe_status status = floe_side_index_open(index, nbytes, UINT64_MAX, &x, &used, NULL);
        if (status == FLOE_OK && x.nchunks <= MOST)
            status = floe_side_index_decode(&cpu, &x, want, NULL);
        else
            continue;
        naccepted += status == FLOE_OK;
        for (int g = 0; g < 2; g++) {
            assert_int_equal(decode_on(&sides[g], index, nbytes, got), status);
            if (status == FLOE_OK)
                assert_memory_equal(got, want, (x.nchunks + 1) * sizeof *want);
        }
    }
    assert_true(naccepted > 0 && naccepted < (uint64_t)rounds / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_and_places),
        cmocka_unit_test(places_that_reach_too_far),
        cmocka_unit_test(lies),
    };
    return cmocka_run_group_tests(tests, open_sides, close_sides);
}
