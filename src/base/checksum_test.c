/* SPDX-License-Identifier: BSD-3-Clause */
/* Our XXH3-64 against known values, against libxxhash where it is there, and the checksum made of it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/xxh3_math.h"

#ifdef HAVE_XXHASH
#include <xxhash.h>
#endif

enum { DATA_NBYTES = 50000 };

typedef struct known {
    size_t nbytes;
    uint64_t hash;
} known;

/* XXH3-64 of the first bytes of data_of(), made with libxxhash 0.8.1. */
static const known hashes[] = {
    {0, 0x2d06800538d394c2u},     {1, 0xc44bdff4074eecdbu},     {2, 0xb0a5d4f167a89d5eu},
    {3, 0xe14090f554a5ea90u},     {4, 0x2e8d078a566e9749u},     {5, 0x94b7bed600f8ce63u},
    {7, 0xe6f7770846c47df5u},     {8, 0xcd1c7f88482fcaefu},     {9, 0xbfe43def699fa9e3u},
    {12, 0x027242c0a3b593e8u},    {16, 0x81e9eb8634460bb9u},    {17, 0x9998430fd0a655beu},
    {31, 0x6427c268ccd55706u},    {32, 0x938c25dd24c9cf3bu},    {33, 0x0e399d30188e9c8eu},
    {64, 0x22a06b30c4c72936u},    {65, 0x7faff6eee7812d5cu},    {96, 0x324046d7ff9771f1u},
    {97, 0x00d61f9a16f8effdu},    {128, 0x75eca5c5d5594884u},   {129, 0xa05da42e7a4e4667u},
    {159, 0xdd2d3877b5c10791u},   {160, 0xd298ab4e6e7de4aau},   {176, 0xe141700f810f7d64u},
    {239, 0xa44c92feed3d48fau},   {240, 0x5eb2467c8c9e3969u},   {241, 0x2d431e984c441f15u},
    {255, 0x6cb5279bb1267b3bu},   {256, 0x1369aaf85f8b805au},   {257, 0x53d08d96173615deu},
    {511, 0xe77c8b51c884d077u},   {512, 0xdcfed6ee2883acd0u},   {1023, 0x4e30bb611faa8f67u},
    {1024, 0xe99def1145f12936u},  {1025, 0x83cba9b371e4e7f4u},  {1087, 0x7a31d7be13f5411bu},
    {1088, 0x8e7e69b3a7124813u},  {1089, 0xa958a59c9718acc1u},  {2048, 0x53275d58cfba68fdu},
    {2049, 0x3cd32460d504d215u},  {4096, 0x9bf67f8deff876aeu},  {16383, 0x9ad45ce837cd189au},
    {16384, 0x945601853bd214f5u}, {16385, 0x252a5d63712e5f51u},
};

/* floe_checksum of the same, made from the formula in checksum.h by another program. */
static const known checksums[] = {
    {0, 0xddc881c83d04e1fbu},     {1, 0x7c06a2cb1b479fe6u},     {100, 0x30e0e2c9075dab10u},
    {16383, 0x27bd3798550283bau}, {16384, 0xd3f8fa7882ee038fu}, {16385, 0x3c1530d98008424fu},
    {32768, 0xf89b2ab6438c75ceu}, {40000, 0x1ecca769c932ee60u}, {49152, 0x0393907b8949bb77u},
    {50000, 0xcf480ae1cdf3d918u},
};

static const uint8_t *data_of(void)
{
    static uint8_t data[DATA_NBYTES];
    for (uint32_t i = 0; i < DATA_NBYTES; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 24);
    return data;
}

static void own_hash_gives_known_values(void **state)
{
    (void)state;
    const uint8_t *data = data_of();
    for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++) {
        assert_int_equal(floe_xxh3_of(data, hashes[i].nbytes), hashes[i].hash);
        assert_int_equal(floe_xxh3(data, hashes[i].nbytes), hashes[i].hash);
    }
    uint64_t all = 0; /* every length up to 3000, at every alignment */
    for (size_t n = 0; n <= 3000; n++)
        all = all * 31 + floe_xxh3_of(data + n % 8, n);
    assert_int_equal(all, 0x226364f66613728du);
    assert_int_equal(floe_xxh3_of(NULL, 0), hashes[0].hash);
    assert_int_equal(floe_xxh3(NULL, 0), hashes[0].hash);
}

/* Each input stands at the end of its own block, so that a sanitizer sees a read past it. */
static void own_hash_takes_every_length(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (size_t n = 0; n <= 3000; n++) {
        uint8_t *p = malloc(n ? n : 1);
        for (size_t i = 0; i < n; i++)
            p[i] = (uint8_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 56);
        uint64_t own = floe_xxh3_of(p, n);
#ifdef HAVE_XXHASH
        assert_int_equal(own, XXH3_64bits(p, n));
#endif
        if (n) { /* and every bit counts */
            size_t bit = seed % (8 * n);
            p[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_not_equal(own, floe_xxh3_of(p, n));
        }
        free(p);
    }
}

static void checksum_gives_known_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof checksums / sizeof checksums[0]; i++)
        assert_int_equal(floe_checksum(data_of(), checksums[i].nbytes), checksums[i].hash);
    assert_int_equal(floe_checksum(NULL, 0), checksums[0].hash);
}

static void checksum_sees_pieces_that_change_places(void **state)
{
    (void)state;
    static uint8_t a[3 * FLOE_CHECKSUM_PIECE], b[sizeof a];
    memset(a, 1, FLOE_CHECKSUM_PIECE);
    memset(a + FLOE_CHECKSUM_PIECE, 2, FLOE_CHECKSUM_PIECE);
    memcpy(b, a + FLOE_CHECKSUM_PIECE, FLOE_CHECKSUM_PIECE);
    memcpy(b + FLOE_CHECKSUM_PIECE, a, FLOE_CHECKSUM_PIECE);
    assert_int_not_equal(floe_checksum(a, sizeof a), floe_checksum(b, sizeof b));
    /* the same bytes, but more or fewer of them */
    static const uint8_t zeros[4 * FLOE_CHECKSUM_PIECE];
    for (size_t n = 0; n < 4; n++)
        for (size_t m = 0; m < n; m++)
            assert_int_not_equal(floe_checksum(zeros, n * FLOE_CHECKSUM_PIECE),
                                 floe_checksum(zeros, m * FLOE_CHECKSUM_PIECE));
}

/* Pieces hashed last to first, as a parallel run may do. */
static void checksum_is_free_of_order(void **state)
{
    (void)state;
    const uint8_t *data = data_of();
    uint64_t sum = 0;
    for (uint64_t i = (DATA_NBYTES + FLOE_CHECKSUM_PIECE - 1) / FLOE_CHECKSUM_PIECE; i-- > 0;) {
        size_t left = DATA_NBYTES - i * FLOE_CHECKSUM_PIECE;
        sum += floe_checksum_term(
            floe_xxh3_of(data + i * FLOE_CHECKSUM_PIECE, left < FLOE_CHECKSUM_PIECE ? left : FLOE_CHECKSUM_PIECE), i);
    }
    assert_int_equal(floe_checksum_finish(sum, DATA_NBYTES), floe_checksum(data, DATA_NBYTES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_hash_gives_known_values), cmocka_unit_test(own_hash_takes_every_length),
        cmocka_unit_test(checksum_gives_known_values), cmocka_unit_test(checksum_sees_pieces_that_change_places),
        cmocka_unit_test(checksum_is_free_of_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
