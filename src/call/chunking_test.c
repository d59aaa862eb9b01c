/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunk shapes that floe chooses, slabs, and walks. */
#include "call/chunking.h"

#include "call/resolve.h"
#include "tests/api_kit.h"

static floe_header header_of(floe_dtype dtype, uint32_t rank, const uint64_t *shape, const char *params)
{
    floe_header h;
    floe_field f = floe_field_of(NULL, dtype, rank, shape);
    floe_params p = kit_params(params);
    floe_error err;
    assert_int_equal(floe_header_init(&h, &f, &p, &err), FLOE_OK);
    return h;
}

static void chosen_shapes(void **state)
{
    (void)state;
    const struct {
        floe_dtype dtype;
        uint32_t rank;
        uint64_t shape[4], chunk[4];
    } cases[] = {
        {FLOE_F32, 1, {1000}, {1000}},
        {FLOE_F32, 1, {1ull << 32}, {16u << 20}},
        {FLOE_F64, 1, {1ull << 32}, {8u << 20}},
        {FLOE_F32, 1, {(16u << 20) + 1}, {(8u << 20) + 8192}}, /* two of one size, not one and a sliver */
        {FLOE_F32, 2, {100, 100}, {100, 100}},
        {FLOE_F32, 2, {100000, 10000}, {1664, 10000}},
        {FLOE_F32, 3, {512, 512, 512}, {64, 512, 512}},
        {FLOE_F64, 3, {512, 512, 512}, {32, 512, 512}},
        {FLOE_F32, 3, {160, 160, 160}, {160, 160, 160}},
        {FLOE_F32, 3, {1025, 2048, 2048}, {12, 2048, 2048}},
        {FLOE_F32, 4, {10, 64, 64, 64}, {10, 64, 64, 64}},
        {FLOE_F32, 4, {50, 512, 512, 512}, {1, 64, 512, 512}},
        {FLOE_F32, 2, {3, 100000}, {1, 100000}}, /* groups would be mostly padding */
        {FLOE_F32, 2, {2, 1000}, {2, 1000}},     /* chunks would be too small */
        {FLOE_F32, 2, {4, 100000}, {4, 100000}},
        {FLOE_F32, 3, {3, 3, 100000}, {1, 1, 100000}},
        {FLOE_F32, 4, {1, 3, 100000, 3}, {1, 1, 100000, 3}},
        {FLOE_F32, 3, {3, 4, 100000}, {3, 4, 100000}},
        {FLOE_F32, 3, {0, 4, 5}, {0, 4, 5}},
        {FLOE_F32, 3, {1ull << 30, 4, 0}, {4 << 20, 4, 0}},
    };
    for (size_t i = 0; i < KIT_COUNT(cases); i++) {
        floe_header h = header_of(cases[i].dtype, cases[i].rank, cases[i].shape, "abs=1");
        for (uint32_t a = 0; a < cases[i].rank; a++)
            if (h.chunk[a] != cases[i].chunk[a])
                fail_msg("case %zu: chunk[%u] is %llu", i, a, (unsigned long long)h.chunk[a]);
    }
}

/* Whatever the shape: a chunk is contiguous, at most 192 MiB, and fits the field. */
static void chosen_shapes_hold(void **state)
{
    (void)state;
    uint64_t seed = 8;
    for (int i = 0; i < 20000; i++) {
        uint32_t rank = 1 + (uint32_t)(kit_random(&seed) % 4);
        uint64_t shape[4];
        for (uint32_t a = 0; a < rank; a++)
            shape[a] = 1 + (kit_random(&seed) >> (64 - 60 / rank + kit_random(&seed) % (60 / rank)));
        floe_dtype dtype = i % 2 ? FLOE_F64 : FLOE_F32;
        floe_header h = header_of(dtype, rank, shape, "abs=1");
        uint64_t nbytes = floe_extent_nelems(rank, h.chunk) * floe_dtype_size(dtype);
        assert_true(nbytes > 0 && nbytes <= 192u << 20);
        bool cut = false;
        for (uint32_t a = 0; a < rank; a++) {
            assert_true(h.chunk[a] >= 1 && h.chunk[a] <= shape[a]);
            assert_true(cut ? h.chunk[a] == shape[a] : true);
            cut |= h.chunk[a] > 1;
        }
        floe_slab slab;
        floe_slab_of(&h, 0, &slab);
        assert_int_equal(slab.nchunks, 1);
    }
}

/* Codecs interp and wavelet: levels halve the planes of a chunk, which has no more than 192 MiB. */
static void chunks_with_levels(void **state)
{
    (void)state;
    static const uint64_t cases[][2][4] = {{{1, 1024, 1024, 1024}, {1, 1024, 1024, 1024}},
                                           {{1, 1280, 832, 1024}, {1, 32, 832, 1024}},
                                           {{1, 4096, 1024, 512}, {1, 64, 1024, 512}},
                                           {{1, 2048, 2048, 2048}, {1, 8, 2048, 2048}},
                                           {{1, 3, 20000, 20000}, {1, 1, 832, 20000}}};
    for (size_t i = 0; i < KIT_COUNT(cases); i++) {
        const floe_header h = header_of(FLOE_F32, 4, cases[i][0], i % 2 ? "abs=1 codec=wavelet" : "abs=1 codec=interp");
        for (uint32_t a = 0; a < 4; a++)
            if (h.chunk[a] != cases[i][1][a])
                fail_msg("case %zu: chunk[%u] is %llu", i, a, (unsigned long long)h.chunk[a]);
    }
}

/* Kinds count every chunk once. */
static void kinds(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (int i = 0; i < 2000; i++) {
        uint64_t shape[4];
        char text[64];
        for (int a = 0; a < 4; a++)
            shape[a] = kit_random(&seed) % 12;
        snprintf(text, sizeof text, "abs=1 chunk=%dx%dx%dx%d", 1 + (int)(kit_random(&seed) % 12), 1 + i % 5, 1 + i % 3,
                 1 + i % 7);
        floe_header h = header_of(FLOE_F32, 4, shape, text);
        floe_chunk_kind all[FLOE_CHUNKING_KINDS];
        uint32_t n = floe_chunking_kinds(&h, all);
        uint64_t chunks = 0, cells = 0;
        for (uint32_t k = 0; k < n; k++) {
            chunks += all[k].count;
            cells += all[k].count * floe_extent_nelems(4, all[k].extent);
        }
        assert_int_equal(chunks, floe_grid_nchunks(&h));
        assert_int_equal(cells, floe_extent_nelems(4, shape));
    }
}

/* Slabs follow one another in C order without gap or overlap, and hold their chunks. */
static void slabs(void **state)
{
    (void)state;
    const char *const chunks[] = {"5x3x4", "1x3x4", "1x1x4", "1x1x1", "1x9x11", "7x9x11", "2x9x11"};
    const uint64_t shape[] = {7, 9, 11};
    for (size_t c = 0; c < KIT_COUNT(chunks); c++) {
        char text[64];
        snprintf(text, sizeof text, "abs=1 chunk=%s", chunks[c]);
        floe_header h = header_of(FLOE_F32, 3, shape, text);
        uint64_t next = 0, offset = 0;
        for (uint64_t chunk = 0; chunk < floe_grid_nchunks(&h); chunk++) {
            floe_slab slab;
            uint64_t lo[4], extent[4];
            floe_slab_of(&h, chunk, &slab);
            assert_true(floe_slab_holds(&slab, chunk));
            floe_grid_box(&h, chunk, lo, extent);
            for (int a = 0; a < 3; a++)
                assert_true(lo[a] >= slab.lo[a] && lo[a] + extent[a] <= slab.lo[a] + slab.extent[a]);
            if (chunk != slab.first)
                continue;
            assert_int_equal(chunk, next);
            assert_int_equal((slab.lo[0] * 9 + slab.lo[1]) * 11 + slab.lo[2], offset);
            offset += floe_extent_nelems(3, slab.extent);
            next += slab.nchunks;
        }
        assert_int_equal(offset, 7 * 9 * 11);
    }
}

static void walks(void **state)
{
    (void)state;
    uint64_t seed = 10;
    const uint64_t shape[] = {13, 6, 20};
    floe_header h = header_of(FLOE_F32, 3, shape, "abs=1 chunk=4x6x7");
    for (int i = 0; i < 3000; i++) {
        uint64_t lo[3], hi[3], next = 0, chunk;
        bool empty = false;
        for (int a = 0; a < 3; a++) {
            lo[a] = kit_random(&seed) % (shape[a] + 1);
            hi[a] = lo[a] + kit_random(&seed) % (shape[a] - lo[a] + 1);
            empty |= lo[a] == hi[a];
        }
        floe_walk walk = floe_walk_of(&h, lo, hi);
        for (uint64_t c = 0; c < floe_grid_nchunks(&h); c++) {
            uint64_t at[4], extent[4];
            bool touches = !empty;
            floe_grid_box(&h, c, at, extent);
            for (int a = 0; a < 3; a++)
                touches &= at[a] < hi[a] && at[a] + extent[a] > lo[a];
            if (touches) {
                assert_true(floe_walk_next(&walk, &chunk));
                assert_int_equal(chunk, c);
                next++;
            }
        }
        assert_false(floe_walk_next(&walk, &chunk));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_shapes),
        cmocka_unit_test(chosen_shapes_hold),
        cmocka_unit_test(chunks_with_levels),
        cmocka_unit_test(kinds),
        cmocka_unit_test(slabs),
        cmocka_unit_test(walks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
