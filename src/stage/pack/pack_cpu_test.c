/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage pack: there and back for every width, against a decoder that goes bit by bit as docs/format/pack.md has it, plain C
 * against AVX2, and descriptors that lie. One program for each element type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stage/pack/pack.h"
#include "tests/hostile_kit.h"

/* Both instruction sets, whichever this file is compiled for. */
#define VARIANT_NAME(name, isa) FLOE_PASTE(FLOE_R(name), isa)
#define VARIANT_DECLARE(isa)                                                                               \
    uint32_t VARIANT_NAME(floe_pack_encode_step, isa)(const floe_step *, uint32_t *, uint16_t *);          \
    floe_status VARIANT_NAME(floe_pack_decode_step, isa)(uint16_t, const uint32_t *, uint64_t, uint32_t *, \
                                                         floe_step *);                                     \
    void VARIANT_NAME(floe_planes_of_values, isa)(const floe_uint *, uint32_t, uint32_t *);                \
    void VARIANT_NAME(floe_values_of_planes, isa)(const uint32_t *, uint32_t, floe_uint *);
#define VARIANT(isa)                                                                           \
    {                                                                                          \
        VARIANT_NAME(floe_pack_encode_step, isa), VARIANT_NAME(floe_pack_decode_step, isa),    \
            VARIANT_NAME(floe_planes_of_values, isa), VARIANT_NAME(floe_values_of_planes, isa) \
    }
typedef struct variant {
    uint32_t (*encode)(const floe_step *, uint32_t *, uint16_t *);
    floe_status (*decode)(uint16_t, const uint32_t *, uint64_t, uint32_t *, floe_step *);
    void (*planes)(const floe_uint *, uint32_t, uint32_t *);
    void (*values)(const uint32_t *, uint32_t, floe_uint *);
} variant;
VARIANT_DECLARE(_plain)
static const variant plain = VARIANT(_plain);
#ifdef FLOE_HAVE_AVX2_BUILD
VARIANT_DECLARE(_avx2)
static const variant avx2 = VARIANT(_avx2);
static const variant *fast(void) { return __builtin_cpu_supports("avx2") ? &avx2 : &plain; }
#else
static const variant *fast(void) { return &plain; }
#endif

/* ---- steps --------------------------------------------------------------------------------------------------------- */

static void group_fill(floe_step *step, uint32_t g, uint32_t width, uint64_t *state)
{
    step->width[g] = (uint8_t)width;
    for (uint32_t i = 0; i < FLOE_GROUP_VALUES; i++)
        step->residual[g][i] = width ? (floe_uint)(hostile_random(state) >> (64 - width)) : 0;
    if (width)
        step->residual[g][hostile_below(state, 32)] |= (floe_uint)1 << (width - 1);
}

/* Present groups get widths low..high, and are flat as `flat` has it. */
static void step_make(floe_step *step, uint32_t present, uint32_t flat, uint32_t low, uint32_t high, uint64_t *state)
{
    memset(step, 0, sizeof *step);
    step->present = present;
    step->flat = flat & present;
    for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
        if (present >> g & 1)
            group_fill(step, g, low + (uint32_t)hostile_below(state, high - low + 1), state);
}

/* ---- bit by bit ---------------------------------------------------------------------------------------------------- */

static uint32_t slow_decode(uint16_t descriptor, const uint32_t *words, floe_step *step)
{
    uint32_t least = descriptor & 127, nplanes = descriptor >> 7 & 7, flat = descriptor >> 10, n = 0;
    step->flat = flat == 0 ? 0 : flat == 1 ? step->present : words[n++];
    memset(step->residual, 0, sizeof step->residual);
    for (uint32_t g = 0; g < 32; g++) {
        uint32_t more = 0;
        for (uint32_t b = 0; b < nplanes; b++)
            more |= (words[n + b] >> g & 1) << b;
        step->width[g] = step->present >> g & 1 ? (uint8_t)(least + more) : 0;
    }
    n += nplanes;
    for (uint32_t b = 0; b < FLOE_REAL_BITS; b++)
        for (uint32_t g = 0; g < 32; g++)
            if (step->width[g] > b) {
                for (uint32_t i = 0; i < 32; i++)
                    step->residual[g][i] |= (floe_uint)(words[n] >> i & 1) << b;
                n++;
            }
    return n;
}

/* ---- checks --------------------------------------------------------------------------------------------------------- */

static void same_step(const floe_step *a, const floe_step *b)
{
    assert_int_equal(a->present, b->present);
    assert_int_equal(a->flat, b->flat);
    assert_memory_equal(a->width, b->width, sizeof a->width);
    assert_memory_equal(a->residual, b->residual, sizeof a->residual);
}

/* From exactly n words, so that a sanitizer sees one too many. */
static floe_status decode(const variant *v, uint16_t descriptor, const uint32_t *words, uint64_t n, uint32_t *used,
                          floe_step *step)
{
    uint32_t *exact = malloc(n ? n * sizeof *exact : 1);
    memcpy(exact, words, n * sizeof *exact);
    floe_status status = v->decode(descriptor, exact, n, used, step);
    free(exact);
    return status;
}

static uint32_t check_step(const floe_step *step)
{
    static uint32_t a[FLOE_PACK_STEP_WORDS + 8], b[FLOE_PACK_STEP_WORDS + 8];
    static floe_step back;
    uint16_t da, db;
    uint32_t used;
    memset(a, 0xAB, sizeof a);
    memset(b, 0xCD, sizeof b);
    uint32_t n = plain.encode(step, a, &da), m = fast()->encode(step, b, &db);
    assert_true(n == m && da == db && n <= FLOE_PACK_STEP_WORDS && da >> FLOE_PACK_USED_BITS == 0);
    assert_memory_equal(a, b, n * sizeof *a);
    for (int i = 0; i < 8; i++)
        assert_true(a[FLOE_PACK_STEP_WORDS + i] == 0xABABABABu && b[FLOE_PACK_STEP_WORDS + i] == 0xCDCDCDCDu);
    back.present = step->present;
    assert_int_equal(slow_decode(da, a, &back), n);
    same_step(step, &back);
    for (int isa = 0; isa < 2; isa++) {
        memset(&back, 0xEE, sizeof back);
        back.present = step->present;
        assert_int_equal(decode(isa ? fast() : &plain, da, a, n, &used, &back), FLOE_OK);
        assert_int_equal(used, n);
        same_step(step, &back);
        assert_int_equal(decode(isa ? fast() : &plain, da, a, n + 5, &used, &back),
                         FLOE_OK); /* what follows is not its */
        assert_int_equal(used, n);
        for (uint32_t less = n; less-- > 0; less -= less > 20 ? 13 : 0)
            assert_int_equal(decode(isa ? fast() : &plain, da, a, less, &used, &back), FLOE_ERR_FORMAT);
    }
    return n;
}

static void planes_of_every_width(void **unused)
{
    uint64_t state = 1;
    (void)unused;
    for (uint32_t width = 0; width <= FLOE_REAL_BITS; width++)
        for (int round = 0; round < 50; round++) {
            floe_uint values[32], back[33];
            uint32_t planes[2][FLOE_REAL_BITS + 1];
            for (uint32_t i = 0; i < 32; i++)
                values[i] = width ? (floe_uint)(hostile_random(&state) >> (64 - width)) : 0;
            planes[0][width] = planes[1][width] = 0xC0FFEE;
            plain.planes(values, width, planes[0]);
            fast()->planes(values, width, planes[1]);
            assert_memory_equal(planes[0], planes[1], (width + 1) * sizeof **planes);
            assert_int_equal(planes[0][width], 0xC0FFEE);
            for (uint32_t b = 0; b < width; b++)
                for (uint32_t i = 0; i < 32; i++)
                    assert_int_equal(planes[0][b] >> i & 1, values[i] >> b & 1);
            for (int isa = 0; isa < 2; isa++) {
                memset(back, 0x77, sizeof back);
                (isa ? fast() : &plain)->values(planes[0], width, back);
                assert_memory_equal(back, values, sizeof values);
                assert_int_equal(back[32] & 0xFF, 0x77);
            }
        }
}

static void every_width(void **unused)
{
    static floe_step step;
    const uint32_t presents[] = {UINT32_MAX, 1, 0x80000000, 0x0000FFFF, 0x11111111, 0x7FFFFFFF};
    uint64_t state = 2;
    (void)unused;
    for (uint32_t low = 0; low <= FLOE_REAL_BITS; low++)
        for (uint32_t high = low; high <= FLOE_REAL_BITS; high += high < low + 4 ? 1 : 5)
            for (uint32_t p = 0; p < HOSTILE_COUNT(presents); p++) {
                uint32_t flats[] = {0, UINT32_MAX, 1, presents[p] & 0xAAAAAAAA};
                step_make(&step, presents[p], flats[(low + high + p) % 4], low, high, &state);
                check_step(&step);
            }
}

/* One group alone is wide, wherever it stands; all others narrow. */
static void one_wide_group(void **unused)
{
    static floe_step step;
    uint64_t state = 3;
    (void)unused;
    for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
        for (uint32_t low = 0; low < 3; low++) {
            step_make(&step, UINT32_MAX, 0, low, low, &state);
            group_fill(&step, g, FLOE_REAL_BITS, &state);
            check_step(&step);
        }
}

static void the_fewest_and_the_most_words(void **unused)
{
    static floe_step step;
    uint64_t state = 4;
    (void)unused;
    step_make(&step, UINT32_MAX, 0, 0, 0, &state);
    assert_int_equal(check_step(&step), 0); /* zeros take nothing but the descriptor */
    step_make(&step, UINT32_MAX, UINT32_MAX, 0, 0, &state);
    assert_int_equal(check_step(&step), 0);
    step_make(&step, 0, 0, 0, 0, &state);
    assert_int_equal(check_step(&step), 0);
    step_make(&step, UINT32_MAX, 5, FLOE_REAL_BITS, FLOE_REAL_BITS, &state);
    assert_int_equal(check_step(&step), 1 + 32 * FLOE_REAL_BITS);
    group_fill(&step, 9, 0, &state);
    uint32_t planes = FLOE_REAL_BITS == 32 ? 6 : 7;
    assert_int_equal(check_step(&step), 1 + planes + 31 * FLOE_REAL_BITS);
}

static void lies_are_found(void **unused)
{
    static uint32_t words[FLOE_PACK_STEP_WORDS];
    static floe_step step;
    uint32_t used;
    (void)unused;
    enum { LEAST = 1 << FLOE_PACK_LEAST_SHIFT, PLANES = 1 << FLOE_PACK_PLANES_SHIFT, FLAT = 1 << FLOE_PACK_FLAT_SHIFT };
    const struct {
        uint32_t descriptor, present, word; /* the first word; others are 0 */
        bool ok;
    } cases[] = {
        {0, UINT32_MAX, 0, true},
        {FLOE_REAL_BITS * LEAST, UINT32_MAX, 0, true},
        {(FLOE_REAL_BITS + 1) * LEAST, UINT32_MAX, 0, false},
        {127 * LEAST, UINT32_MAX, 0, false},
        {FLOE_REAL_BITS * LEAST + PLANES, UINT32_MAX, 0, true},  /* wasteful, but no lie */
        {FLOE_REAL_BITS * LEAST + PLANES, UINT32_MAX, 1, false}, /* wider than the type */
        {3 * FLAT, UINT32_MAX, 0, false},
        {2 * FLAT, UINT32_MAX, 7, true},
        {2 * FLAT, 0xF, 0xF, true},
        {2 * FLAT, 0xF, 0x10, false}, /* flat, but not there */
        {PLANES, 0xF, 1, true},
        {PLANES, 0xF, 0x10, false}, /* wide, but not there */
        {1u << FLOE_PACK_USED_BITS, UINT32_MAX, 0, false},
        {0x8000, UINT32_MAX, 0, false},
    };
    for (size_t i = 0; i < HOSTILE_COUNT(cases); i++)
        for (int isa = 0; isa < 2; isa++) {
            words[0] = cases[i].word;
            step.present = cases[i].present;
            floe_status status =
                decode(isa ? fast() : &plain, (uint16_t)cases[i].descriptor, words, FLOE_PACK_STEP_WORDS, &used, &step);
            if ((status == FLOE_OK) != cases[i].ok)
                fail_msg("case %zu: %d", i, status);
        }
}

/* Any descriptor and words: both report the same, and what is accepted is a step like any other. */
static void any_words(void **unused)
{
    static uint32_t words[FLOE_PACK_STEP_WORDS];
    static floe_step a, b, slow;
    uint64_t state = 5, accepted = 0;
    (void)unused;
    for (int round = 0; round < 20000; round++) {
        const uint16_t descriptor = (uint16_t)(hostile_random(&state) & (round % 8 ? 0xBFF & ~0x60u : 0xFFFF));
        const uint64_t n = hostile_below(&state, FLOE_PACK_STEP_WORDS + 1);
        for (uint64_t i = 0; i < n; i++)
            words[i] = (uint32_t)hostile_random(&state) & (i < 8 ? (uint32_t)hostile_random(&state) : UINT32_MAX);
        a.present = b.present = slow.present = round & 1 ? UINT32_MAX : (uint32_t)hostile_random(&state);
        uint32_t used[2];
        floe_status status = decode(&plain, descriptor, words, n, &used[0], &a);
        assert_int_equal(decode(fast(), descriptor, words, n, &used[1], &b), status);
        if (status != FLOE_OK)
            continue;
        accepted++;
        assert_int_equal(used[0], used[1]);
        assert_int_equal(slow_decode(descriptor, words, &slow), used[0]);
        same_step(&a, &b);
        same_step(&a, &slow);
    }
    assert_true(accepted > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_of_every_width), cmocka_unit_test(every_width),
        cmocka_unit_test(one_wide_group),        cmocka_unit_test(the_fewest_and_the_most_words),
        cmocka_unit_test(lies_are_found),        cmocka_unit_test(any_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
