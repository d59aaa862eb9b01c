/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage exception: there and back for every mixture of kinds, plain C against AVX2, and words that lie. One program for
 * each element type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stage/exception/exception.h"
#include "tests/hostile_kit.h"

typedef FLOE_R(floe_exceptions) exceptions;

/* Both instruction sets, whichever this file is compiled for. */
#define VARIANT_NAME(name, isa) FLOE_PASTE(FLOE_R(name), isa)
#define VARIANT_DECLARE(isa)                                                                                          \
    void VARIANT_NAME(floe_exceptions_add, isa)(exceptions *, const uint64_t *, uint32_t, uint32_t, uint32_t,         \
                                                const floe_uint *);                                                   \
    uint32_t VARIANT_NAME(floe_exceptions_encode, isa)(const exceptions *, const floe_mask, uint32_t, uint32_t *);    \
    bool VARIANT_NAME(floe_exceptions_decode, isa)(const uint32_t *, uint64_t, const floe_mask, uint32_t,             \
                                                   exceptions *, uint32_t *);                                         \
    void VARIANT_NAME(floe_exceptions_get, isa)(const exceptions *, const uint64_t *, uint32_t, uint32_t, uint32_t *, \
                                                floe_uint *);
#define VARIANT(isa)                                                                          \
    {                                                                                         \
        VARIANT_NAME(floe_exceptions_add, isa), VARIANT_NAME(floe_exceptions_encode, isa),    \
            VARIANT_NAME(floe_exceptions_decode, isa), VARIANT_NAME(floe_exceptions_get, isa) \
    }
typedef struct variant {
    void (*add)(exceptions *, const uint64_t *, uint32_t, uint32_t, uint32_t, const floe_uint *);
    uint32_t (*encode)(const exceptions *, const floe_mask, uint32_t, uint32_t *);
    bool (*decode)(const uint32_t *, uint64_t, const floe_mask, uint32_t, exceptions *, uint32_t *);
    void (*get)(const exceptions *, const uint64_t *, uint32_t, uint32_t, uint32_t *, floe_uint *);
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

static const uint64_t palette[FLOE_PALETTE_SIZE] = {0x7FC00000, 0x80000000, 42};

/* A tile's worth: which cells there are, which are exceptions, and their patterns. */
typedef struct picture {
    uint32_t nsteps;
    floe_mask valid, place;
    floe_uint bits[FLOE_TILE_STEPS][FLOE_STEP_GROUPS][FLOE_GROUP_VALUES];
} picture;

/* kinds: bit k set: kind k occurs (0: literals). */
static void picture_make(picture *p, uint32_t nsteps, uint32_t kinds, uint32_t density, bool partial, uint64_t *state)
{
    memset(p, 0, sizeof *p);
    p->nsteps = nsteps;
    for (uint32_t s = 0; s < nsteps; s++)
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
            p->valid[s][g] = partial ? (uint32_t)(hostile_random(state) & hostile_random(state)) : UINT32_MAX;
            for (uint32_t k = 0; k < 32; k++) {
                uint32_t kind;
                do
                    kind = (uint32_t)hostile_below(state, 4);
                while (!(kinds >> kind & 1));
                p->place[s][g] |= (uint32_t)(hostile_below(state, 100) < density) << k;
                p->bits[s][g][k] = kind ? (floe_uint)palette[kind - 1] : (floe_uint)(hostile_random(state) | 1u << 20);
            }
            p->place[s][g] &= p->valid[s][g];
        }
}

static void add_all(const variant *v, const picture *p, exceptions *e)
{
    memset(e, 0, sizeof *e);
    for (uint32_t s = 0; s < p->nsteps; s++)
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
            if (p->place[s][g])
                v->add(e, palette, s, g, p->place[s][g], p->bits[s][g]);
}

static bool decode(const variant *v, const uint32_t *words, uint64_t n, const picture *p, exceptions *e, uint32_t *used)
{
    uint32_t *exact = malloc(n ? n * sizeof *exact : 1);
    memcpy(exact, words, n * sizeof *exact);
    bool ok = v->decode(exact, n, p->valid, p->nsteps, e, used);
    free(exact);
    return ok;
}

static void same_patterns(const variant *v, const picture *p, const exceptions *e)
{
    uint32_t next = 0;
    for (uint32_t s = 0; s < p->nsteps; s++)
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
            floe_uint bits[FLOE_GROUP_VALUES];
            memset(bits, 0x99, sizeof bits);
            assert_int_equal(e->place[s][g], p->place[s][g]);
            v->get(e, palette, s, g, &next, bits);
            for (uint32_t k = 0; k < 32; k++)
                if (p->place[s][g] >> k & 1)
                    assert_true(bits[k] == p->bits[s][g][k]);
                else
                    assert_int_equal(bits[k] & 0xFF, 0x99); /* left */
        }
    assert_int_equal(next, e->nliterals);
}

static uint32_t check_picture(const picture *p)
{
    static uint32_t words[2][FLOE_EXCEPTION_WORDS + 4];
    static exceptions e[2], back;
    uint32_t n[2], used;
    for (int isa = 0; isa < 2; isa++) {
        const variant *v = isa ? fast() : &plain;
        memset(words[isa], 0x66, sizeof words[isa]);
        add_all(v, p, &e[isa]);
        n[isa] = v->encode(&e[isa], p->valid, p->nsteps, words[isa]);
        assert_true(n[isa] <= FLOE_EXCEPTION_WORDS && words[isa][FLOE_EXCEPTION_WORDS] == 0x66666666);
    }
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(words[0], words[1], n[0] * sizeof **words);
    for (int isa = 0; isa < 2; isa++) {
        const variant *v = isa ? fast() : &plain;
        memset(&back, 0x88, sizeof back);
        assert_true(decode(v, words[0], n[0], p, &back, &used));
        assert_int_equal(used, n[0]);
        assert_int_equal(back.count, e[0].count);
        assert_int_equal(back.nliterals, e[0].nliterals);
        same_patterns(v, p, &back);
        for (uint32_t less = n[0]; less-- > 0; less -= less > 100 ? less / 5 : 0)
            assert_false(decode(v, words[0], less, p, &back, &used));
    }
    return n[0];
}

static void every_mixture_of_kinds(void **unused)
{
    static picture p;
    uint64_t state = 1;
    (void)unused;
    for (uint32_t kinds = 1; kinds < 16; kinds++)
        for (uint32_t density = 0; density <= 100; density += 20)
            for (uint32_t nsteps = 1; nsteps <= FLOE_TILE_STEPS; nsteps += 3) {
                picture_make(&p, nsteps, kinds, density, kinds & 1, &state);
                check_picture(&p);
                picture_make(&p, nsteps, kinds, density ? 1 : 0, !(kinds & 1), &state);
                check_picture(&p);
            }
}

/* The sizes that the contract states: nothing but the head and the mask for one kind; all literal is the most of masks. */
static void sizes(void **unused)
{
    static picture p;
    uint64_t state = 2;
    (void)unused;
    for (uint32_t kind = 1; kind <= 3; kind++) {
        picture_make(&p, 8, 1u << kind, 100, false, &state);
        assert_int_equal(check_picture(&p), 1 + 16);
    }
    picture_make(&p, 8, 1, 100, false, &state); /* literals: 8192 of them */
    assert_int_equal(check_picture(&p), 1 + 16 + 8192 * FLOE_EXCEPTION_LITERAL_WORDS);
    picture_make(&p, 8, 15, 50, false, &state);
    assert_true(check_picture(&p) <= FLOE_EXCEPTION_WORDS);
    picture_make(&p, 1, 1, 0, false, &state);
    p.place[0][31] = 1u << 31;
    assert_int_equal(check_picture(&p), 1 + 3 + FLOE_EXCEPTION_LITERAL_WORDS);
}

static void lies_are_found(void **unused)
{
    static picture p;
    static exceptions e;
    static uint32_t words[FLOE_EXCEPTION_WORDS], lie[FLOE_EXCEPTION_WORDS];
    uint64_t state = 3;
    uint32_t used;
    (void)unused;
    picture_make(&p, 2, 8, 30, false, &state);
    add_all(&plain, &p, &e);
    uint32_t n = plain.encode(&e, p.valid, 2, words);
    const uint32_t changes[] = {1, 2, 0x8000, 1u << 19,
                                1u << 31}; /* of the head: counts and bits that have no meaning */
    for (size_t i = 0; i < HOSTILE_COUNT(changes); i++) {
        memcpy(lie, words, sizeof lie);
        lie[0] ^= changes[i];
        assert_false(decode(&plain, lie, n, &p, &e, &used));
        assert_false(decode(fast(), lie, n, &p, &e, &used));
    }
    memcpy(lie, words, sizeof lie);
    lie[0] &= ~(1u << 16); /* kinds differ, but one is named */
    assert_false(decode(&plain, lie, n, &p, &e, &used));
    lie[0] &= 0xFFFF; /* kinds differ, but their masks are missing */
    assert_false(decode(&plain, lie, n, &p, &e, &used));
    lie[0] = words[0] & ~(3u << 17); /* literals, but there are none */
    assert_false(decode(&plain, lie, n, &p, &e, &used));
}

/* Flipped words: both decoders agree, and what they accept stays inside the tile. */
static void any_words(void **unused)
{
    static picture p;
    static exceptions e, a, b;
    static uint32_t words[FLOE_EXCEPTION_WORDS];
    uint64_t state = 4, accepted = 0;
    (void)unused;
    for (int round = 0; round < 4000; round++) {
        if (round % 20 == 0)
            picture_make(&p, 1 + round / 20 % 8, 1 + round / 20 % 15, round / 20 % 7 * 16, round & 4, &state);
        add_all(&plain, &p, &e);
        uint32_t n = plain.encode(&e, p.valid, p.nsteps, words), ua, ub;
        for (uint64_t k = hostile_below(&state, 4); k > 0; k--)
            words[hostile_below(&state, hostile_below(&state, n) + 1)] ^= 1u << hostile_below(&state, 32);
        bool ok = decode(&plain, words, n, &p, &a, &ua);
        assert_int_equal(decode(fast(), words, n, &p, &b, &ub), ok);
        if (!ok)
            continue;
        accepted++;
        uint32_t next_a = 0, next_b = 0;
        assert_true(ua == ub && ua <= n && a.nliterals <= FLOE_TILE_VALUES);
        for (uint32_t s = 0; s < p.nsteps; s++)
            for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++) {
                floe_uint x[32] = {0}, y[32] = {0};
                assert_int_equal(a.place[s][g] & ~p.valid[s][g], 0);
                plain.get(&a, palette, s, g, &next_a, x);
                fast()->get(&b, palette, s, g, &next_b, y);
                assert_memory_equal(x, y, sizeof x);
            }
        assert_int_equal(next_a, a.nliterals);
    }
    assert_true(accepted > 500 && accepted < 3900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mixture_of_kinds),
        cmocka_unit_test(sizes),
        cmocka_unit_test(lies_are_found),
        cmocka_unit_test(any_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
