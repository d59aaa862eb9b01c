/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage quantizer: the bound holds exactly for every value, what must come back bit for bit is an exception, and plain C
 * and AVX2 agree. One program for each element type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stage/quantizer/quantizer_math.h"
#include "tests/hostile_kit.h"

/* Both instruction sets, whichever this file is compiled for. */
#define VARIANT_NAME(name, isa) FLOE_PASTE(FLOE_R(name), isa)
#define VARIANT_DECLARE(isa)                                                                                           \
    uint32_t VARIANT_NAME(floe_quantizer_encode, isa)(const floe_quantizer *, const floe_real *, uint32_t, floe_int *, \
                                                      uint8_t *, uint8_t *, floe_quantizer_stats *);                   \
    bool VARIANT_NAME(floe_quantizer_decode, isa)(const floe_quantizer *, const floe_int *, uint32_t, floe_real *);
typedef struct variant {
    uint32_t (*encode)(const floe_quantizer *, const floe_real *, uint32_t, floe_int *, uint8_t *, uint8_t *,
                       floe_quantizer_stats *);
    bool (*decode)(const floe_quantizer *, const floe_int *, uint32_t, floe_real *);
} variant;
VARIANT_DECLARE(_plain)
static const variant plain = {VARIANT_NAME(floe_quantizer_encode, _plain), VARIANT_NAME(floe_quantizer_decode, _plain)};
#ifdef FLOE_HAVE_AVX2_BUILD
VARIANT_DECLARE(_avx2)
static const variant avx2 = {VARIANT_NAME(floe_quantizer_encode, _avx2), VARIANT_NAME(floe_quantizer_decode, _avx2)};
static const variant *fast(void) { return __builtin_cpu_supports("avx2") ? &avx2 : &plain; }
#else
static const variant *fast(void) { return &plain; }
#endif

#define DTYPE (FLOE_REAL_BITS == 32 ? FLOE_F32 : FLOE_F64)
enum { MANTISSA = FLOE_REAL_BITS == 32 ? 23 : 52, BIAS = FLOE_REAL_BITS == 32 ? 127 : 1023, ROW = 1024 };
static const floe_int CODE_LIMIT = (floe_int)1 << (FLOE_REAL_BITS == 32 ? 22 : 51);

static floe_real real_of(uint64_t bits) { return FLOE_R(floe_real_of)((floe_uint)bits); }
static uint64_t bits_of(floe_real x) { return FLOE_R(floe_real_bits)(x); }

/* ---- a row by both, checked -------------------------------------------------------------------------------------- */

typedef struct coded_row {
    floe_int q[ROW];
    uint8_t bad[ROW], negative[ROW];
    floe_real y[ROW];
    uint32_t nbad;
    floe_quantizer_stats stats;
} coded_row;

static void code(const variant *v, const floe_quantizer *z, const floe_real *x, uint32_t n, coded_row *r)
{
    memset(r, 0, sizeof *r);
    memset(r->bad, 7, sizeof r->bad);
    r->nbad = v->encode(z, x, n, r->q, r->bad, r->negative, &r->stats);
    assert_true(r->bad[n] == 7 && r->q[n] == 0 && (z->kind != FLOE_QUANTIZER_LOG || r->negative[n] == 0));
    if (r->nbad == 0 && z->kind != FLOE_QUANTIZER_LOG)
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(r->bad[i], 7); /* left alone */
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        r->bad[i] = r->nbad ? r->bad[i] : 0;
        assert_true(r->bad[i] <= 1);
        count += r->bad[i];
        if (r->bad[i])
            r->q[i] = 0; /* unspecified */
        if (r->bad[i] || z->kind != FLOE_QUANTIZER_LOG)
            r->negative[i] = z->kind == FLOE_QUANTIZER_LOG ? r->negative[i] : 0;
        assert_true(!(r->bad[i] && r->negative[i]));
    }
    assert_int_equal(count, r->nbad);
    assert_true(v->decode(z, r->q, n, r->y));
    for (uint32_t i = 0; i < n; i++)
        if (r->negative[i])
            r->y[i] = real_of(bits_of(r->y[i]) | FLOE_REAL_SIGN);
}

/* Exceptions must be those that promises name; all others must be kept. Returns the exceptions. */
static uint32_t check_row(const floe_quantizer *z, const hostile_promise *p, const floe_real *x, uint32_t n)
{
    static coded_row a, b;
    static floe_real cross[ROW];
    code(&plain, z, x, n, &a);
    code(fast(), z, x, n, &b);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(fast()->decode(z, a.q, n, cross));
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t bits = bits_of(x[i]), back = bits_of(a.y[i]);
        if (a.bad[i])
            continue;
        if ((bits & FLOE_REAL_EXPONENT) == FLOE_REAL_EXPONENT || (p->has_fill && bits == p->fill) ||
            (p->mode != FLOE_BOUND_LOSSLESS && bits == FLOE_REAL_SIGN))
            fail_msg("%#llx is no exception", (unsigned long long)bits);
        if (!hostile_kept(p, bits, back))
            fail_msg("%.17g (%#llx) comes back as %.17g with bound %.17g of mode %d", (double)x[i],
                     (unsigned long long)bits, (double)a.y[i], p->bound, (int)p->mode);
        if (p->mode == FLOE_BOUND_ABS)
            assert_true(a.q[i] <= CODE_LIMIT && a.q[i] >= -CODE_LIMIT);
    }
    return a.nbad;
}

static uint32_t check_values(floe_quantizer_kind kind, double bound, double max_abs, bool has_fill, uint64_t fill,
                             const floe_real *x, uint64_t n)
{
    floe_quantizer z;
    const hostile_promise p = {DTYPE,
                               kind == FLOE_QUANTIZER_LINEAR ? FLOE_BOUND_ABS
                               : kind == FLOE_QUANTIZER_LOG  ? FLOE_BOUND_PWREL
                                                             : FLOE_BOUND_LOSSLESS,
                               bound, has_fill, fill};
    uint32_t nbad = 0;
    floe_quantizer_init(&z, kind, DTYPE, bound, max_abs, has_fill, fill);
    for (uint64_t at = 0; at < n; at += ROW - 1)
        nbad += check_row(&z, &p, x + at, (uint32_t)(n - at < ROW - 1 ? n - at : ROW - 1));
    return nbad;
}

/* ---- bounds of all sizes ------------------------------------------------------------------------------------------ */

#if FLOE_REAL_BITS == 32
static const double bounds[] = {1e-60, 1e-46, 1.4e-45, 1e-45, 2e-45, 3e-45, 1e-42, 1e-39, 1.1754944e-38,
                                1e-37, 1e-30, 1e-10,   1e-3,  0.5,   1,     3.14,  1e5,   1e10,
                                1e30,  8e37,  8.6e37,  1e38,  3e38,  1e39,  1e300};
#else
static const double bounds[] = {5e-324, 1e-323, 1e-320, 1e-310,  2.2250738585072014e-308,
                                1e-307, 1e-200, 1e-100, 1e-16,   1e-3,
                                0.5,    1,      3.14,   1e5,     1e16,
                                1e100,  1e300,  4e307,  4.5e307, 1e308,
                                1.7e308};
#endif
static const double relative_bounds[] = {5e-324, 1e-310, 1e-300, 1e-30, 1e-18, 1.1e-16,  1.2e-16,
                                         3e-16,  1e-15,  1e-13,  5e-8,  6e-8,  7e-8,     1e-7,
                                         1e-6,   1e-3,   0.1,    0.5,   0.9,   0.9999999};

static void bounds_hold_for_all_kinds_of_values(void **unused)
{
    static floe_real x[4000];
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(bounds); i++)
        for (int kind = 0; kind < HOSTILE_KINDS; kind++) {
            const uint64_t fill = hostile_bits(DTYPE, bounds[i] * 14.6);
            hostile_fill(DTYPE, (hostile_kind)kind, 4000, bounds[i], fill, i, x);
            const double max_abs[] = {NAN, 0, 1, bounds[i] * 1e3, bounds[i] * 0x1p22, 1e300};
            check_values(FLOE_QUANTIZER_LINEAR, bounds[i], max_abs[(i + (size_t)kind) % 6], kind & 1, fill, x, 4000);
        }
}

static void relative_bounds_hold_for_all_kinds_of_values(void **unused)
{
    static floe_real x[2000];
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(relative_bounds); i++)
        for (int kind = 0; kind < HOSTILE_KINDS; kind++) {
            const uint64_t fill = hostile_bits(DTYPE, 14.6);
            hostile_fill(DTYPE, (hostile_kind)kind, 2000, kind & 1 ? 1 : relative_bounds[i], fill, i, x);
            check_values(FLOE_QUANTIZER_LOG, relative_bounds[i], NAN, kind & 1, fill, x, 2000);
        }
}

/* Values a few patterns off every multiple and every odd multiple of half a step. */
static void half_steps(void **unused)
{
    static floe_real x[ROW];
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(bounds); i++) {
        floe_quantizer z;
        floe_quantizer_init(&z, FLOE_QUANTIZER_LINEAR, DTYPE, bounds[i], NAN, false, 0);
        const hostile_promise p = {DTYPE, FLOE_BOUND_ABS, bounds[i], false, 0};
        for (int64_t k = -300; k < 300; k += 3) {
            uint32_t n = 0;
            const double units[] = {z.step, z.step / 2, bounds[i], 2 * bounds[i], z.tolerance};
            for (size_t u = 0; u < 5; u++) {
                uint64_t bits = hostile_bits(DTYPE, (double)(k < 0 ? k : 1 + k * k * k) * units[u]);
                for (uint64_t d = 0; d < 9; d++)
                    x[n++] = real_of(bits + d - 4);
            }
            check_row(&z, &p, x, n);
        }
    }
}

/* Where the last place of the values is as coarse as the bound, or coarser. */
static void huge_offsets(void **unused)
{
    static floe_real x[ROW - 1];
    uint64_t state = 3;
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(bounds); i++)
        for (int e = -4; e < MANTISSA + 8; e++) {
            const double offset = ldexp(bounds[i], e);
            for (uint32_t k = 0; k < ROW - 1; k++) {
                double v = offset + bounds[i] * 16 * (hostile_uniform(&state) - 0.5);
                x[k] = real_of(hostile_bits(DTYPE, k & 1 ? -v : v));
            }
            check_values(FLOE_QUANTIZER_LINEAR, bounds[i], e & 1 ? offset : NAN, false, 0, x, ROW - 1);
        }
}

/* Not too many exceptions either: values within the range of codes are kept when the type can express the bound. */
static void ordinary_values_are_kept(void **unused)
{
    static floe_real x[ROW - 1];
    uint64_t state = 4;
    (void)unused;
    for (double bound = 1e-30; bound < 1e30; bound *= 17) {
        double most = bound * (FLOE_REAL_BITS == 32 ? 0x1p11 : 0x1p30);
        for (uint32_t k = 0; k < ROW - 1; k++)
            x[k] = (floe_real)(most * (2 * hostile_uniform(&state) - 1));
        assert_int_equal(check_values(FLOE_QUANTIZER_LINEAR, bound, NAN, false, 0, x, ROW - 1), 0);
        most = bound * (FLOE_REAL_BITS == 32 ? 0x1p18 : 0x1p47); /* here a step that allows for it is needed */
        for (uint32_t k = 0; k < ROW - 1; k++)
            x[k] = (floe_real)(most * (2 * hostile_uniform(&state) - 1));
        assert_true(check_values(FLOE_QUANTIZER_LINEAR, bound, most, false, 0, x, ROW - 1) < ROW / 64);
    }
    for (double bound = FLOE_REAL_BITS == 32 ? 1e-6 : 1e-10; bound < 1; bound *= 3) {
        for (uint32_t k = 0; k < ROW - 1; k++)
            x[k] = (floe_real)ldexp(hostile_uniform(&state) - 0.5, (int)(k % 200) - 100);
        assert_int_equal(check_values(FLOE_QUANTIZER_LOG, bound, NAN, false, 0, x, ROW - 1), 0);
    }
}

/* Codes end at 2^22 and 2^51: there, one below, one above. */
static void codes_end_at_their_limit(void **unused)
{
    const double bound = 0.5;
    floe_quantizer z;
    (void)unused;
    floe_quantizer_init(&z, FLOE_QUANTIZER_LINEAR, DTYPE, bound, NAN, false, 0);
    z.step = z.inverse = 1; /* multiples of 1 are numbers of the type up to there */
    for (int sign = -1; sign <= 1; sign += 2)
        for (floe_int d = -2; d <= 2; d++) {
            floe_real x[2] = {(floe_real)(sign * (CODE_LIMIT + d)), 1};
            static coded_row r;
            code(fast(), &z, x, 2, &r);
            assert_int_equal(r.bad[0], d > 0);
            if (d <= 0)
                assert_true(r.q[0] == sign * (CODE_LIMIT + d) && r.y[0] == x[0]);
            const hostile_promise p = {DTYPE, FLOE_BOUND_ABS, bound, false, 0};
            check_row(&z, &p, x, 2);
        }
}

/* ---- what comes back bit for bit ---------------------------------------------------------------------------------- */

static void special_values_are_exceptions(void **unused)
{
    static floe_real x[60];
    (void)unused;
    for (uint64_t i = 0; i < 60; i++)
        x[i] = real_of(hostile_special(DTYPE, i));
    for (int kind = 0; kind <= FLOE_QUANTIZER_BITS; kind++)
        for (int fill = 0; fill < 60; fill++) { /* any of them may be the fill value, too */
            check_values((floe_quantizer_kind)kind, 0.1, NAN, fill & 1, bits_of(x[fill]), x, 60);
            for (uint32_t i = 0; i < 60; i++) { /* and each alone, in the lanes of a vector */
                floe_real row[19];
                for (uint32_t k = 0; k < 19; k++)
                    row[k] = k == i % 19 ? x[i] : 1;
                check_values((floe_quantizer_kind)kind, 0.1, 1, fill & 1, bits_of(x[fill]), row, 19);
            }
        }
}

static void palettes_hold_what_exceptions_are_made_of(void **unused)
{
    const uint64_t nan = FLOE_REAL_EXPONENT | (uint64_t)1 << (MANTISSA - 1), fill = bits_of((floe_real)-999);
    floe_quantizer z;
    (void)unused;
    floe_quantizer_init(&z, FLOE_QUANTIZER_LINEAR, DTYPE, 1, NAN, false, 0);
    assert_true(z.palette[0] == nan && z.palette[1] == FLOE_REAL_SIGN && z.palette[2] == (nan | FLOE_REAL_SIGN));
    floe_quantizer_init(&z, FLOE_QUANTIZER_LINEAR, DTYPE, 1, NAN, true, fill);
    assert_true(z.palette[0] == fill && z.palette[1] == FLOE_REAL_SIGN && z.palette[2] == nan);
    floe_quantizer_init(&z, FLOE_QUANTIZER_LOG, DTYPE, 0.1, NAN, true, fill);
    assert_true(z.palette[0] == fill && z.palette[1] == FLOE_REAL_SIGN && z.palette[2] == 0);
    floe_quantizer_init(&z, FLOE_QUANTIZER_BITS, DTYPE, 1, NAN, false, 0);
    assert_true(z.palette[0] == nan && z.palette[1] == (nan | FLOE_REAL_SIGN) && z.palette[2] == FLOE_REAL_EXPONENT);
    assert_true(z.step == 0);
}

/* ---- log ---------------------------------------------------------------------------------------------------------- */

/* Every exponent, at its ends and inside, both signs. */
static void every_exponent_with_relative_bounds(void **unused)
{
    static floe_real x[ROW - 1];
    uint64_t state = 5;
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(relative_bounds); i++)
        for (uint64_t e = 0; e <= 2 * BIAS; e++) {
            uint32_t n = 0;
            for (uint64_t d = 0; d < 8; d++)
                x[n++] = real_of((e << MANTISSA) + d - 4);
            for (uint32_t k = 0; k < (FLOE_REAL_BITS == 32 ? 40 : 5); k++)
                x[n++] = real_of(((e + (k & 1 ? (uint64_t)BIAS + 1 : 0)) << MANTISSA) ^
                                 hostile_below(&state, (uint64_t)1 << MANTISSA));
            check_values(FLOE_QUANTIZER_LOG, relative_bounds[i], NAN, false, 0, x, n);
        }
}

/* A product of bound and a small value is rounded more coarsely than it is wide: 2^-52 (1 - 2^-30) of 2^-1000 (1 + 2^-52)
 * must not round up to the 2^-1052 by which the value next to it differs. */
static void relative_bound_holds_where_products_lose_bits(void **unused)
{
    static floe_real x[64];
    (void)unused;
    for (int e = -1074; e < -900; e++)
        for (int cut = 20; cut < 53; cut++)
            for (int k = 1; k <= 4; k++) {
                const double bound = k * 0x1p-52 * (1 - ldexp(1, -cut));
                for (uint32_t i = 0; i < 16; i++)
                    x[i] = real_of(hostile_bits(DTYPE, ldexp(1, e)) + i - 8);
                check_values(FLOE_QUANTIZER_LOG, bound, NAN, false, 0, x, 16);
            }
}

/* What quantizer_math.h claims, against long double. */
static void logarithm_and_power_are_accurate(void **unused)
{
    uint64_t state = 6;
    long double worst_log = 0, worst_exp = 0;
    (void)unused;
    for (int i = 0; i < 400000; i++) {
        double x = hostile_value(FLOE_F64, hostile_random(&state) & INT64_MAX);
        if (i % 4 == 0)
            x = 1 + (hostile_uniform(&state) - 0.5) * ldexp(1, -(int)hostile_below(&state, 50));
        if (i % 4 == 1)
            x = hostile_value(FLOE_F64, hostile_random(&state) >> 12 >> hostile_below(&state, 52)); /* subnormal */
        if (!(x > 0 && isfinite(x)))
            continue;
        long double want = log2l((long double)x), error = fabsl((long double)floe_log2(x) - want);
        long double allowed = 1.2e-14L * (long double)FLOE_INV_LN2 + 2 * fabsl(want) * 0x1p-53L;
        if (error > allowed)
            fail_msg("log2(%.17g) is %.17g, off by %Lg", x, floe_log2(x), error);
        worst_log = error > worst_log ? error : worst_log;
        double v = (hostile_uniform(&state) - 0.5) * 2 * (i & 1 ? 1020 : 3);
        long double power = exp2l((long double)v), relative = fabsl((long double)floe_exp2(v) - power) / power;
        worst_exp = relative > worst_exp ? relative : worst_exp;
    }
    assert_true(worst_exp < 4 * 0x1p-53L);
    assert_true(floe_log2(1) == 0 && floe_exp2(0) == 1 && floe_exp2(-1100) == 0 && isinf(floe_exp2(1100)));
    for (int e = -1074; e < 1024; e++)
        assert_true(floe_log2(ldexp(1, e)) == e && (e < -1022 || floe_exp2(e) == ldexp(1, e)));
}

/* ---- bits and table ------------------------------------------------------------------------------------------------ */

static int compare_reals(const void *a, const void *b)
{
    floe_real x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void order_of_patterns_is_that_of_values(void **unused)
{
    static floe_real x[ROW - 1];
    uint64_t state = 7;
    (void)unused;
    for (int round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < ROW - 1; i++)
            do
                x[i] = real_of(hostile_random(&state));
            while (!isfinite((double)x[i]));
        qsort(x, ROW - 1, sizeof *x, compare_reals);
        for (uint32_t i = 0; i < ROW - 1; i++) {
            floe_int o = FLOE_R(floe_bits_order)((floe_uint)bits_of(x[i]));
            assert_true((floe_uint)FLOE_R(floe_bits_order)((floe_uint)o) == bits_of(x[i])); /* its own inverse */
            assert_true(i == 0 || o >= FLOE_R(floe_bits_order)((floe_uint)bits_of(x[i - 1])));
        }
        check_values(FLOE_QUANTIZER_BITS, 0, NAN, false, 0, x, ROW - 1);
    }
    assert_true(FLOE_R(floe_bits_order)(0) == 0 && FLOE_R(floe_bits_order)(FLOE_REAL_SIGN) == -1);
}

enum { MASK = FLOE_TABLE_SLOTS - 1 };

/* A table of `count` patterns from a range that makes slots collide. */
static void check_table(uint32_t count, uint64_t stride, uint64_t start)
{
    floe_table_slot *slots = calloc(FLOE_TABLE_SLOTS, sizeof *slots);
    uint64_t *table = malloc(FLOE_TABLE_MAX * sizeof *table);
    floe_real *x = malloc((size_t)count * sizeof *x);
    uint32_t n = 0;
    assert_true(slots && table && x);
    for (int twice = 0; twice < 2; twice++)
        for (uint32_t i = 0; i < count; i++) {
            x[i] = real_of((start + i * stride) & ~FLOE_REAL_EXPONENT);
            uint64_t key = (uint64_t)(int64_t)FLOE_R(floe_bits_order)((floe_uint)bits_of(x[i]));
            assert_true(floe_table_insert(slots, MASK, key, &n, count));
        }
    assert_true(n <= count);
    assert_true(floe_table_insert(slots, MASK, 0x7FFFFFFF00000001u, &n, n) == false); /* a new one: no room is left */
    floe_table_finish(slots, MASK, table, n);
    for (uint32_t i = 1; i < n; i++)
        assert_true((int64_t)table[i - 1] < (int64_t)table[i]);
    floe_quantizer z;
    floe_quantizer_init(&z, FLOE_QUANTIZER_BITS, DTYPE, 0, NAN, false, 0);
    z.kind = FLOE_QUANTIZER_TABLE;
    z.table = table;
    z.table_size = n;
    z.slots = slots;
    z.slots_mask = MASK;
    const hostile_promise p = {DTYPE, FLOE_BOUND_LOSSLESS, 0, false, 0};
    for (uint32_t at = 0; at < count; at += ROW - 1)
        assert_int_equal(check_row(&z, &p, x + at, count - at < ROW - 1 ? count - at : ROW - 1), 0);
    floe_real y[9];
    const floe_int places[] = {0, (floe_int)(n - 1), (floe_int)n, (floe_int)(n + 1), -1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < HOSTILE_COUNT(places); i++) {
        const floe_int row[9] = {0, 0, 0, 0, 0, 0, 0, 0, places[i]};
        assert_int_equal(plain.decode(&z, row, 9, y), places[i] >= 0 && places[i] < (floe_int)n);
        assert_int_equal(fast()->decode(&z, row, 9, y), places[i] >= 0 && places[i] < (floe_int)n);
    }
    free(slots);
    free(table);
    free(x);
}

static void tables_of_every_size(void **unused)
{
    const uint32_t counts[] = {1, 2, 3, 255, 256, 257, 1000, FLOE_TABLE_MAX - 1, FLOE_TABLE_MAX};
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(counts); i++) {
        check_table(counts[i], 1, 0);
        check_table(counts[i], (uint64_t)1 << (FLOE_REAL_BITS - 17), FLOE_REAL_SIGN - 3);
        check_table(counts[i], 0x9E3779B9u, 12345);
    }
}

/* One pattern more than a table may have is refused, and so from then on. */
static void tables_end_at_their_limit(void **unused)
{
    (void)unused;
    for (uint32_t most = FLOE_TABLE_MAX - 1; most <= FLOE_TABLE_MAX; most++) {
        floe_table_slot *slots = calloc(FLOE_TABLE_SLOTS, sizeof *slots);
        uint32_t n = 0;
        for (uint64_t key = 0; key < most; key++)
            assert_true(floe_table_insert(slots, MASK, key << 17, &n, most));
        assert_int_equal(n, most);
        assert_true(floe_table_insert(slots, MASK, (uint64_t)5 << 17, &n, most)); /* known */
        assert_false(floe_table_insert(slots, MASK, (uint64_t)most << 17, &n, most));
        assert_false(floe_table_insert(slots, MASK, 1, &n, most));
        assert_int_equal(n, most);
        free(slots);
    }
}

/* ---- untrusted codes ------------------------------------------------------------------------------------------------ */

/* Any code with any step decodes, to the same bits by both; none of it is undefined. */
/* What code q stands for, by definition; true also for codes that no encoder writes, which may be any value. */
static bool is_value_of(const floe_quantizer *z, floe_int q, floe_real y)
{
    const double v = (double)q * z->step, power = exp2(v);
    switch (z->kind) {
    case FLOE_QUANTIZER_LINEAR: return q > CODE_LIMIT || q < -CODE_LIMIT || y == (floe_real)q * (floe_real)z->step;
    case FLOE_QUANTIZER_LOG:
        return fabs(v) > (FLOE_REAL_BITS == 32 ? 120 : 1000) ||
               fabs((double)y - power) <= (FLOE_REAL_BITS == 32 ? 1e-7 : 1e-13) * power;
    default: return FLOE_R(floe_bits_order)(FLOE_R(floe_real_bits)(y)) == q;
    }
}

static void any_code_decodes(void **unused)
{
    static floe_int q[ROW];
    static floe_real y[2][ROW];
    const double steps[] = {0, 5e-324, 1e-310, 1e-45, 1e-38, 1e-3, 1, 1e30, 3.4e38, 1e300, 1.7976931348623157e308};
    uint64_t state = 8;
    (void)unused;
    for (int kind = 0; kind <= FLOE_QUANTIZER_BITS; kind++)
        for (size_t s = 0; s < HOSTILE_COUNT(steps); s++) {
            if (FLOE_REAL_BITS == 32 && kind == FLOE_QUANTIZER_LINEAR && steps[s] > 3.4028e38)
                continue; /* not a step of a chunk */
            floe_quantizer z = {.kind = (floe_quantizer_kind)kind, .step = steps[s]};
            for (uint32_t i = 0; i < ROW; i++) {
                const floe_int odd[] = {
                    0, 1, -1, CODE_LIMIT, -CODE_LIMIT, (floe_int)(FLOE_REAL_SIGN - 1), (floe_int)FLOE_REAL_SIGN};
                q[i] = i % 3 ? (floe_int)hostile_random(&state) : odd[i / 3 % 7];
            }
            for (uint32_t n = ROW - 9; n <= ROW; n++) {
                assert_true(plain.decode(&z, q, n, y[0]) && fast()->decode(&z, q, n, y[1]));
                assert_memory_equal(y[0], y[1], n * sizeof(floe_real));
            }
            for (uint32_t i = 0; i < ROW; i++)
                if (!is_value_of(&z, q[i], y[0][i]))
                    fail_msg("kind %d, step %g: code %lld is not %.17g", kind, steps[s], (long long)q[i],
                             (double)y[0][i]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_for_all_kinds_of_values),
        cmocka_unit_test(relative_bounds_hold_for_all_kinds_of_values),
        cmocka_unit_test(half_steps),
        cmocka_unit_test(huge_offsets),
        cmocka_unit_test(ordinary_values_are_kept),
        cmocka_unit_test(codes_end_at_their_limit),
        cmocka_unit_test(special_values_are_exceptions),
        cmocka_unit_test(palettes_hold_what_exceptions_are_made_of),
        cmocka_unit_test(every_exponent_with_relative_bounds),
        cmocka_unit_test(relative_bound_holds_where_products_lose_bits),
        cmocka_unit_test(logarithm_and_power_are_accurate),
        cmocka_unit_test(order_of_patterns_is_that_of_values),
        cmocka_unit_test(tables_of_every_size),
        cmocka_unit_test(tables_end_at_their_limit),
        cmocka_unit_test(any_code_decodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
