/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage mask: there and back, words that run out, and what an encoder never writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stage/mask/mask.h"
#include "tests/hostile_kit.h"

static uint32_t some_bits(uint64_t *state)
{
    uint32_t r = (uint32_t)hostile_random(state);
    switch (hostile_below(state, 5)) {
    case 0: return 0;
    case 1: return UINT32_MAX;
    case 2: return 1u << r % 32;
    case 3: return r & (uint32_t)hostile_random(state);
    default: return r;
    }
}

static void random_masks(floe_mask mask, floe_mask parent, uint64_t *state)
{
    for (uint32_t s = 0; s < FLOE_TILE_STEPS; s++)
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
            parent[s][g] = some_bits(state);
            mask[s][g] = parent[s][g] & some_bits(state);
        }
}

/* Decodes from exactly n words, so that a sanitizer sees one too many. */
static bool decode(const uint32_t *words, uint64_t n, const floe_mask parent, uint32_t nsteps, floe_mask mask,
                   uint32_t *used)
{
    uint32_t *exact = malloc(n ? n * sizeof *exact : 1);
    memcpy(exact, words, n * sizeof *exact);
    bool ok = floe_mask_decode(exact, n, parent, nsteps, mask, used);
    free(exact);
    return ok;
}

static void masks_come_back(void **unused)
{
    static floe_mask mask, parent, back;
    uint32_t words[FLOE_MASK_WORDS + 1], used;
    uint64_t state = 1;
    (void)unused;
    for (int round = 0; round < 3000; round++) {
        const uint32_t nsteps = 1 + (uint32_t)hostile_below(&state, FLOE_TILE_STEPS);
        random_masks(mask, parent, &state);
        words[FLOE_MASK_WORDS] = 0xC0FFEE;
        uint32_t n = floe_mask_encode(mask, parent, nsteps, words), count = 0;
        assert_true(n >= 2 * nsteps && n <= 2 * nsteps + nsteps * FLOE_STEP_GROUPS);
        assert_int_equal(words[FLOE_MASK_WORDS], 0xC0FFEE);
        memset(back, 0x5A, sizeof back);
        assert_true(decode(words, n, parent, nsteps, back, &used));
        assert_int_equal(used, n);
        assert_memory_equal(back, mask, nsteps * sizeof *mask);
        for (uint32_t s = nsteps; s < FLOE_TILE_STEPS; s++)
            for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
                assert_int_equal(back[s][g], 0x5A5A5A5A); /* left */
        for (uint32_t s = 0; s < nsteps; s++)
            for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
                for (uint32_t b = 0; b < 32; b++)
                    count += mask[s][g] >> b & 1;
        assert_int_equal(floe_mask_count(mask, nsteps), count);
        for (uint32_t less = 0; less < n; less += less + 20 < n ? 7 : 1)
            assert_false(decode(words, less, parent, nsteps, back, &used));
    }
}

static void the_most_words(void **unused)
{
    static floe_mask mask, parent, back;
    uint32_t words[FLOE_MASK_WORDS], used;
    (void)unused;
    memset(parent, 0xFF, sizeof parent);
    memset(mask, 0x11, sizeof mask);
    assert_int_equal(floe_mask_encode(mask, parent, FLOE_TILE_STEPS, words), FLOE_MASK_WORDS);
    assert_true(decode(words, FLOE_MASK_WORDS, parent, FLOE_TILE_STEPS, back, &used));
    assert_int_equal(floe_mask_encode(parent, parent, FLOE_TILE_STEPS, words), 2 * FLOE_TILE_STEPS); /* all alike */
    memset(mask, 0, sizeof mask);
    assert_int_equal(floe_mask_encode(mask, parent, FLOE_TILE_STEPS, words), 2 * FLOE_TILE_STEPS);
}

/* Lies, one at a time: a group that is all but not any; one that is any but empty; one whose word has all; bits outside
 * the parent; bits where the parent has none. */
static void lies_are_found(void **unused)
{
    static floe_mask parent, back;
    uint32_t used;
    (void)unused;
    parent[0][3] = 0x0F0F;
    parent[0][4] = 0xFFFFFFFF;
    const struct {
        uint32_t words[4];
        bool ok;
    } cases[] = {
        {{1u << 3, 1u << 3}, true},        {{0, 1u << 3}, false},
        {{1u << 3, 0, 0x0F00}, true},      {{1u << 3, 0, 0x0F0F}, false},
        {{1u << 3, 0, 0}, false},          {{1u << 3, 0, 0x1000}, false},
        {{1u << 3, 0, 0xFFFFFFFF}, false}, {{1u << 4, 0, 0x80000000}, true},
        {{1u << 4, 0, 0xFFFFFFFF}, false}, {{1u << 5, 1u << 5}, false},
        {{1u << 5, 0, 1}, false},          {{3u << 3, 1u << 4, 0x0100}, true},
        {{3u << 3, 1u << 4, 0}, false},
    };
    for (size_t i = 0; i < HOSTILE_COUNT(cases); i++)
        if (decode(cases[i].words, 3, parent, 1, back, &used) != cases[i].ok)
            fail_msg("case %zu", i);
}

/* Whatever is accepted is a mask inside its parent, and coding it again gives the same words. */
static void any_words(void **unused)
{
    static floe_mask mask, parent, back;
    uint32_t words[FLOE_MASK_WORDS], again[FLOE_MASK_WORDS], used;
    uint64_t state = 2, accepted = 0;
    (void)unused;
    for (int round = 0; round < 20000; round++) {
        const uint32_t nsteps = 1 + (uint32_t)hostile_below(&state, FLOE_TILE_STEPS);
        random_masks(mask, parent, &state);
        uint32_t n = floe_mask_encode(mask, parent, nsteps, words);
        for (uint64_t k = hostile_below(&state, 3); k > 0; k--)
            words[hostile_below(&state, n)] ^= 1u << hostile_below(&state, 32);
        if (!decode(words, n, parent, nsteps, back, &used))
            continue;
        accepted++;
        for (uint32_t s = 0; s < nsteps; s++)
            for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
                assert_int_equal(back[s][g] & ~parent[s][g], 0);
        assert_int_equal(floe_mask_encode(back, parent, nsteps, again), used);
        assert_memory_equal(words, again, used * sizeof *words);
    }
    assert_true(accepted > 5000 && accepted < 19000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_come_back),
        cmocka_unit_test(the_most_words),
        cmocka_unit_test(lies_are_found),
        cmocka_unit_test(any_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
