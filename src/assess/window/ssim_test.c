/* SPDX-License-Identifier: BSD-3-Clause */
/* SSIM on the CPU against its definition. With --bench [EXTENT]: how fast it is instead. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <time.h>

#include "assess/window/ssim_test_kit.h"

#define NELEMS(array) (sizeof(array) / sizeof(array)[0])

static floe_ssim_result ssim_of(const floe_pair *pair, const floe_ssim_options *options, uint32_t threads, floe_isa isa)
{
    floe_cpu cpu;
    floe_ssim_result r;
    floe_error err;
    if (floe_cpu_init(&cpu, threads, isa, NULL) != FLOE_OK)
        assert_int_equal(floe_cpu_init(&cpu, threads, FLOE_ISA_PLAIN, NULL), FLOE_OK);
    const size_t nbytes = floe_ssim_scratch_nbytes(&cpu, pair, options);
    uint8_t *scratch = aligned_alloc(64, nbytes + 64);
    memset(scratch, 0xFF, nbytes + 64); /* NaN, and a guard */
    if (floe_ssim_assess(&cpu, pair, options, scratch, &r, &err) != FLOE_OK)
        fail_msg("%s", err.message);
    for (int i = 0; i < 64; i++)
        assert_int_equal(scratch[nbytes + (size_t)i], 0xFF);
    free(scratch);
    return r;
}

static const kit_tolerance in_double = {1e-11, 1e-11};

static void assert_same_bits(const floe_ssim_result *a, const floe_ssim_result *b)
{
    assert_int_equal(floe_bits_f64(a->mean_loss), floe_bits_f64(b->mean_loss));
    assert_int_equal(floe_bits_f64(a->max_loss), floe_bits_f64(b->max_loss));
    assert_int_equal(a->nwindows, b->nwindows);
}

/* Against the definition; and the same bits for any number of threads and instruction set. */
static floe_ssim_result check(const floe_pair *pair, const floe_ssim_options *options, kit_tolerance tolerance)
{
    const floe_ssim_result want = kit_ssim(pair, options), got = ssim_of(pair, options, 1, FLOE_ISA_PLAIN);
    kit_assert_ssim(&got, &want, tolerance);
    static const uint32_t threads[] = {1, 2, 7};
    for (size_t t = 0; t < NELEMS(threads); t++) {
        const floe_ssim_result other = ssim_of(pair, options, threads[t], t ? FLOE_ISA_AUTO : FLOE_ISA_AVX2);
        assert_same_bits(&got, &other);
    }
    return got;
}

/* ---- shapes, windows, steps -------------------------------------------------------------------------------------- */

typedef struct trial {
    uint32_t rank;
    uint64_t shape[4], window, step;
} trial;

static const trial trials[] = {
    {1, {8}, 8, 1},          {1, {100}, 8, 1},           {1, {20000}, 8, 1},       {1, {700}, 1, 1},
    {1, {9001}, 3, 5},       {1, {2500}, 900, 1},        {1, {777}, 777, 1},       {1, {1}, 1, 1},
    {2, {8, 8}, 8, 1},       {2, {40, 57}, 8, 1},        {2, {300, 23}, 7, 1},     {2, {17, 1100}, 5, 2},
    {2, {31, 33}, 1, 1},     {2, {30, 61}, 30, 1},       {2, {50, 60}, 4, 9},      {2, {25, 25}, 2, 1},
    {3, {8, 8, 8}, 8, 1},    {3, {20, 21, 150}, 8, 1},   {3, {90, 11, 9}, 8, 1},   {3, {13, 70, 15}, 5, 1},
    {3, {30, 30, 30}, 8, 8}, {3, {19, 23, 29}, 6, 4},    {3, {9, 10, 11}, 1, 2},   {3, {12, 13, 14}, 3, 5},
    {4, {8, 8, 8, 8}, 8, 1}, {4, {10, 9, 11, 13}, 4, 1}, {4, {5, 40, 6, 7}, 3, 2}, {4, {3, 3, 3, 80}, 2, 1},
};

/* Where round k of n cases begins, of which each FLOE_TEST_STRIDE-th is made: no round is without one. */
static int first_of(size_t k, size_t n) { return (int)(k % (n < FLOE_TEST_STRIDE ? n : FLOE_TEST_STRIDE)); }

static void equals_the_definition(void **state)
{
    (void)state;
    int nquick = 0;
    for (size_t k = 0; k<NELEMS(trials); k += FLOE_TEST_STRIDE> 7 ? 3 : 1) /* where only threads are looked at */
        for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++)
            for (int kind = first_of(k, KIT_KINDS); kind < KIT_KINDS; kind += FLOE_TEST_STRIDE) {
                kit_fields f = kit_fields_of((floe_dtype)dtype, trials[k].rank, trials[k].shape, (kit_kind)kind);
                double min, max;
                kit_range(&f, &min, &max);
                floe_ssim_options o = floe_ssim_options_of(&f.pair, trials[k].window, trials[k].step, min, max);
                o.sample = trials[k].window > 1 && kit_draw(2);
                const floe_ssim_result careful = check(&f.pair, &o, in_double);
                kit_know(&f, &o);
                const floe_ssim_result quick = check(&f.pair, &o, kit_tolerance_of(&f.pair, &o));
                nquick += floe_ssim_tree_takes(&f.pair, &o);
                assert_int_equal(quick.nwindows, careful.nwindows);
                kit_fields_free(&f);
            }
    assert_true(nquick > 0);
}

/* Another window and step along each axis; some axes without. */
static void axes_are_told_apart(void **state)
{
    (void)state;
    static const uint64_t shape[] = {7, 12, 20, 33};
    static const uint64_t windows[][4] = {{1, 1, 1, 5},  {1, 1, 4, 1},  {1, 6, 1, 3}, {2, 1, 1, 1},
                                          {3, 12, 1, 9}, {7, 2, 20, 4}, {1, 3, 4, 5}, {2, 1, 5, 1}};
    for (size_t k = 0; k < NELEMS(windows); k++)
        for (int turn = 0; turn < 3; turn++) {
            kit_fields f = kit_fields_of(turn ? FLOE_F32 : FLOE_F64, 4, shape, turn == 2 ? KIT_SPECIAL : KIT_NOISE);
            double min, max;
            kit_range(&f, &min, &max);
            floe_ssim_options o = floe_ssim_options_of(&f.pair, 1, 1, min, max);
            for (int a = 0; a < 4; a++)
                o.window[a] = windows[k][a], o.step[a] = 1 + kit_draw(4);
            check(&f.pair, &o, in_double);
            kit_fields_free(&f);
        }
}

static void image_ssim_equals_the_definition(void **state)
{
    (void)state;
    static const trial images[] = {{2, {11, 11}, 0, 0},
                                   {2, {40, 530}, 0, 0},
                                   {3, {5, 30, 21}, 0, 0},
                                   {3, {70, 11, 12}, 0, 0},
                                   {4, {2, 3, 150, 11}, 0, 0}};
    for (size_t k = 0; k < NELEMS(images); k++)
        for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++)
            for (int kind = first_of(k, KIT_KINDS); kind < KIT_KINDS; kind += FLOE_TEST_STRIDE)
                for (int weights = FLOE_SSIM_WEIGHTS_UNIFORM; weights <= FLOE_SSIM_WEIGHTS_GAUSSIAN; weights++) {
                    kit_fields f = kit_fields_of((floe_dtype)dtype, images[k].rank, images[k].shape, (kit_kind)kind);
                    double min, max;
                    kit_range(&f, &min, &max);
                    floe_ssim_options o = floe_ssim_options_image((floe_ssim_weights)weights, min, max);
                    check(&f.pair, &o, in_double);
                    kit_know(&f, &o);
                    check(&f.pair, &o, kit_tolerance_of(&f.pair, &o));
                    kit_fields_free(&f);
                }
}

/* Views with gaps, backwards, with axes exchanged. */
static void views_are_read_where_they_lie(void **state)
{
    (void)state;
    for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++) {
        kit_fields f = kit_fields_of((floe_dtype)dtype, 3, (const uint64_t[]){24, 30, 28}, KIT_SMOOTH);
        floe_pair view = f.pair;
        const size_t size = dtype == FLOE_F32 ? 4 : 8, last = 24 * 30 * 28 - 1;
        for (int a = 1; a < 4; a++)
            view.shape[a] = f.pair.shape[a] / 2, view.original_stride[a] = 2 * f.pair.original_stride[a];
        view.decoded_stride[1] = -30 * 28, view.decoded_stride[2] = -1, view.decoded_stride[3] = -28;
        view.decoded = (const uint8_t *)f.decoded + last * size;
        floe_ssim_options o = floe_ssim_options_of(&view, 5, 1, -1.5, 1.5);
        check(&view, &o, in_double);
        o.low = -2, o.high = 2;
        check(&view, &o, kit_tolerance_of(&view, &o));
        kit_fields_free(&f);
    }
}

/* ---- hard cases -------------------------------------------------------------------------------------------------- */

/* A bias far above the error around it, on data far from zero. */
static void a_bias_hides_nothing(void **state)
{
    (void)state;
    kit_fields f = kit_fields_of(FLOE_F64, 3, (const uint64_t[]){20, 30, 40}, KIT_OFFSET);
    for (uint64_t i = 0; i < f.nelems; i++)
        ((double *)f.decoded)[i] = ((double *)f.original)[i] + 1e-4 * (1 + 0.01 * kit_uniform());
    double min, max;
    kit_range(&f, &min, &max);
    const floe_ssim_options o = floe_ssim_options_of(&f.pair, 8, 1, min, max);
    check(&f.pair, &o, (kit_tolerance){1e-10, 1e-10});
    kit_fields_free(&f);
}

/* Windows that an outlier or a NaN is not in are what they are without it, to the last bit. */
static void outliers_leave_no_trace(void **state)
{
    (void)state;
    static const double values[] = {3e38, -1e30, NAN, INFINITY};
    for (size_t k = 0; k < NELEMS(values); k++) {
        kit_fields f = kit_fields_of(FLOE_F32, 3, (const uint64_t[]){40, 40, 40}, KIT_SMOOTH);
        floe_pair rest = f.pair;
        rest.shape[1] = 30; /* planes 10 to 39, which no window shares with plane 0 */
        rest.original = (float *)f.original + 10 * 1600, rest.decoded = (float *)f.decoded + 10 * 1600;
        const floe_ssim_options o = floe_ssim_options_of(&f.pair, 5, 5, -1.5, 1.5);
        const floe_ssim_result without = ssim_of(&f.pair, &o, 1, FLOE_ISA_AUTO),
                               tail = ssim_of(&rest, &o, 1, FLOE_ISA_AUTO);
        ((float *)f.decoded)[20] = (float)values[k];
        const floe_ssim_result with = ssim_of(&f.pair, &o, 1, FLOE_ISA_AUTO),
                               tail_after = ssim_of(&rest, &o, 1, FLOE_ISA_AUTO);
        assert_same_bits(&tail, &tail_after);
        assert_int_equal(with.nwindows, without.nwindows - !isfinite(values[k]));
        const double sum = without.mean_loss * (double)without.nwindows,
                     sum_with = with.mean_loss * (double)with.nwindows;
        if (isfinite(values[k])) /* one of 512 windows has nothing left */
            assert_true(fabs(sum_with - sum - 1) < 0.01 && with.max_loss > 0.99 && with.max_loss < 1.01);
        else
            assert_true(fabs(sum_with - sum) < 0.01);
        kit_fields_free(&f);
    }
}

/* Scaling both fields by a power of two changes nothing, to the ends of the range of f64. */
static void scale_does_not_matter(void **state)
{
    (void)state;
    kit_fields f = kit_fields_of(FLOE_F64, 2, (const uint64_t[]){30, 40}, KIT_NOISE);
    double min, max;
    kit_range(&f, &min, &max);
    floe_ssim_options o = floe_ssim_options_of(&f.pair, 8, 1, min, max);
    const floe_ssim_result want = check(&f.pair, &o, in_double);
    static const int steps[] = {1023, -2020, 60}; /* to 2^1023, 2^-997, 2^-937 */
    for (size_t k = 0; k < NELEMS(steps); k++) {
        for (uint64_t i = 0; i < f.nelems; i++) {
            ((double *)f.original)[i] = ldexp(((double *)f.original)[i], steps[k]);
            ((double *)f.decoded)[i] = ldexp(((double *)f.decoded)[i], k ? steps[k] : steps[k] - 1);
        }
        if (k == 0) /* so that they do not overflow */
            for (uint64_t i = 0; i < f.nelems; i++)
                ((double *)f.original)[i] *= 0.5;
        kit_range(&f, &o.min, &o.max);
        const floe_ssim_result got = ssim_of(&f.pair, &o, 1, FLOE_ISA_AUTO);
        assert_same_bits(&got, &want);
    }
    kit_fields_free(&f);
}

/* Values from one end of the range to the other: the range itself overflows. */
static void infinite_ranges_are_measured(void **state)
{
    (void)state;
    kit_fields f = kit_fields_of(FLOE_F64, 1, (const uint64_t[]){1000}, KIT_NOISE);
    for (uint64_t i = 0; i < f.nelems; i++) {
        ((double *)f.original)[i] = i == 3 ? DBL_MAX : i == 9 ? -DBL_MAX : ((double *)f.original)[i] * 1e308;
        ((double *)f.decoded)[i] = i % 17 ? ((double *)f.original)[i] : DBL_MAX;
    }
    const floe_ssim_options o = floe_ssim_options_of(&f.pair, 8, 1, -DBL_MAX, DBL_MAX);
    const floe_ssim_result got = check(&f.pair, &o, in_double);
    assert_true(got.mean > 0 && got.mean < 1 && got.nleft_out == 0);
    kit_fields_free(&f);
}

/* Fields on which sums in f32 about one pivot for all would be off by up to 3e-4. */
static double hard_value(int kind, uint64_t z, uint64_t y, uint64_t x, double *decoded)
{
    const double at = (double)x,
                 wave = sin(at * 0.05 + (double)z * 0.02) + 0.5 * cos((double)y * 0.07) * sin((double)z * 0.04);
    const double noise = kit_uniform(), kelvin = 273 + 0.1 * wave;
    const bool odd = (x / 16 ^ y / 16 ^ z / 16) & 1;
    switch (kind) {
    case 0: *decoded = kelvin + 2e-4 * noise - 1e-4; return kelvin;
    case 1: *decoded = kelvin + 1e-2 * (1 + 0.01 * noise); return kelvin; /* a bias far above what varies */
    case 2:
        *decoded = kelvin + 1e-2 * sin((double)z * 0.01 + at * 0.01);
        return kelvin; /* and one that is a field itself */
    case 3: *decoded = kelvin + (odd ? 1e-2 : -1e-2) * (1 + 0.01 * noise); return kelvin; /* or blocks */
    case 4: *decoded = fmax(wave, 0) + 1e-4 * noise; return fmax(wave, 0); /* half of it at an end of the range */
    case 5: *decoded = ((x + y + z) % 40 ? -1 : 1) + 1e-5 * noise; return (x + y + z) % 40 ? -1 : 1;
    case 6: *decoded = (x == 3 ? 1 : -1) + 1e-5 * noise; return x == 3 ? 1 : -1;
    case 7: *decoded = wave * (1 + 1e-6 * noise); return wave;
    case 8: *decoded = wave; return floor(20 * wave) / 20;
    case 9: *decoded = wave * exp(7 * sin(at * 0.05)) * (1 + 1e-3 * noise); return wave * exp(7 * sin(at * 0.05));
    default: *decoded = 1e6 + 16 * wave + 0.0625 * floor(3 * noise); return 1e6 + 16 * wave;
    }
}

static void single_precision_suffices(void **state)
{
    (void)state;
    for (int kind = 0; kind < 11; kind++)
        for (int windows = first_of((size_t)kind, 4); windows < 4; windows += FLOE_TEST_STRIDE) {
            kit_fields f = kit_fields_of(FLOE_F32, 3, (const uint64_t[]){40, 56, 80}, KIT_SAME);
            for (uint64_t i = 0; i < f.nelems; i++) {
                double y;
                const double x = hard_value(kind, i / 80 / 56, i / 80 % 56, i % 80, &y);
                kit_put(f.original, FLOE_F32, i, x), kit_put(f.decoded, FLOE_F32, i, y);
            }
            double min, max;
            kit_range(&f, &min, &max);
            const floe_ssim_weights weights = windows == 3 ? FLOE_SSIM_WEIGHTS_GAUSSIAN : FLOE_SSIM_WEIGHTS_UNIFORM;
            floe_ssim_options o = windows < 2 ? floe_ssim_options_of(&f.pair, windows ? 8 : 7, 1, min, max)
                                              : floe_ssim_options_image(weights, min, max);
            const floe_ssim_result want = ssim_of(&f.pair, &o, 1, FLOE_ISA_AUTO);
            kit_know(&f, &o);
            assert_true(floe_ssim_tree_takes(&f.pair, &o));
            const floe_ssim_result got = ssim_of(&f.pair, &o, 1, FLOE_ISA_AUTO);
            kit_assert_ssim(&got, &want, kit_tolerance_of(&f.pair, &o));
            kit_fields_free(&f);
        }
}

/* What may be requested of the quick way, to each limit and one beyond. */
static void quick_way_has_limits(void **state)
{
    (void)state;
    const floe_pair pair = {.dtype = FLOE_F32, .rank = 3, .shape = {1, 20, 20, 20}};
    const struct {
        uint64_t window, step;
        double max, high;
        bool quick;
    } cases[] = {{8, 1, 1, 1, true},
                 {9, 1, 1, 1, false},
                 {2, 1, 1, 1, true},
                 {1, 1, 1, 1, false},
                 {8, 2, 1, 1, false},
                 {8, 1, 1, 0x1p30, true},
                 {8, 1, 1, 0x1.1p30, false},
                 {8, 1, 1, INFINITY, false},
                 {8, 1, 0x1p90, 0x1p90, true},
                 {8, 1, 0x1.1p90, 0x1.1p90, false},
                 {8, 1, 0x1p-90, 0x1p-90, true},
                 {8, 1, 0x1p-91, 0x1p-91, false}};
    for (size_t k = 0; k < NELEMS(cases); k++) {
        floe_ssim_options o = floe_ssim_options_of(&pair, cases[k].window, cases[k].step, 0, cases[k].max);
        o.low = 0, o.high = cases[k].high;
        assert_int_equal(floe_ssim_tree_takes(&pair, &o), cases[k].quick);
    }
    floe_ssim_options o = floe_ssim_options_of(&pair, 8, 1, 0, 1);
    o.low = 0, o.high = 1, o.window[1] = 7;
    assert_false(floe_ssim_tree_takes(&pair, &o));
    o.window[1] = 1;
    assert_true(floe_ssim_tree_takes(&pair, &o));
}

/* At the ends of what it takes: the same loss, for powers of two do not matter, and values 2^30 ranges off. */
static void quick_way_works_at_its_limits(void **state)
{
    (void)state;
    kit_fields f = kit_fields_of(FLOE_F32, 3, (const uint64_t[]){20, 30, 40}, KIT_SMOOTH);
    floe_ssim_result at[3];
    for (int k = 0; k < 3; k++) {
        const int power = k == 0 ? 0 : k == 1 ? 88 : -88 - 89;
        for (uint64_t i = 0; i < f.nelems; i++) {
            ((float *)f.original)[i] = ldexpf(((float *)f.original)[i], power);
            ((float *)f.decoded)[i] = ldexpf(((float *)f.decoded)[i], power);
        }
        double min, max;
        kit_range(&f, &min, &max);
        floe_ssim_options o = floe_ssim_options_of(&f.pair, 8, 1, min, max);
        kit_know(&f, &o);
        assert_true(floe_ssim_tree_takes(&f.pair, &o));
        at[k] = ssim_of(&f.pair, &o, 2, FLOE_ISA_AUTO);
        assert_same_bits(&at[0], &at[k]);
    }
    kit_fields_free(&f);
    f = kit_fields_of(FLOE_F32, 3, (const uint64_t[]){20, 30, 40}, KIT_SMOOTH);
    ((float *)f.decoded)[5000] = 0x1p31f, ((float *)f.decoded)[15001] = -0x1p29f;
    double min, max;
    kit_range(&f, &min, &max);
    floe_ssim_options o = floe_ssim_options_of(&f.pair, 8, 1, min, max);
    kit_know(&f, &o);
    assert_true(floe_ssim_tree_takes(&f.pair, &o));
    check(&f.pair, &o, kit_tolerance_of(&f.pair, &o));
    kit_fields_free(&f);
}

static void constants_have_a_range(void **state)
{
    (void)state;
    static const double constants[] = {0, 7, -1e-30, 1e30};
    for (size_t k = 0; k < NELEMS(constants); k++)
        for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++) {
            kit_fields f = kit_fields_of((floe_dtype)dtype, 2, (const uint64_t[]){20, 20}, KIT_SMOOTH);
            for (uint64_t i = 0; i < f.nelems; i++)
                kit_put(f.original, f.pair.dtype, i, constants[k]), kit_put(f.decoded, f.pair.dtype, i, constants[k]);
            const double c = kit_get(f.original, f.pair.dtype, 0);
            const floe_ssim_options o = floe_ssim_options_of(&f.pair, 8, 1, c, c);
            const floe_ssim_result same = check(&f.pair, &o, in_double);
            assert_true(same.mean_loss == 0 && same.min == 1);
            kit_put(f.decoded, f.pair.dtype, 150, c * 1.5 + 0.1);
            assert_true(check(&f.pair, &o, in_double).mean_loss > 0);
            kit_fields_free(&f);
        }
}

static void nothing_but_nan_has_no_ssim(void **state)
{
    (void)state;
    kit_fields f = kit_fields_of(FLOE_F32, 1, (const uint64_t[]){100}, KIT_SMOOTH);
    for (uint64_t i = 0; i < 100; i += 8)
        kit_put(f.decoded, FLOE_F32, i, NAN);
    const floe_ssim_options o = floe_ssim_options_of(&f.pair, 8, 1, -1, 1);
    const floe_ssim_result r = check(&f.pair, &o, (kit_tolerance){0, 0});
    assert_true(isnan(r.mean) && isnan(r.min) && isnan(r.mean_loss) && isnan(r.max_loss));
    assert_true(r.nwindows == 0 && r.nleft_out == 93);
    kit_fields_free(&f);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static void refuses(const floe_pair *pair, floe_ssim_options o, const char *words)
{
    floe_error err;
    assert_int_equal(floe_ssim_check(pair, &o, &err), FLOE_ERR_ARGUMENT);
    if (!strstr(err.message, words))
        fail_msg("'%s' does not say '%s'", err.message, words);
}

static void options_are_checked(void **state)
{
    (void)state;
    const floe_pair pair = {.rank = 2, .shape = {1, 1, 10, 20}};
    floe_ssim_options o = floe_ssim_options_of(&pair, 10, 1, 0, 1);
    assert_int_equal(floe_ssim_check(&pair, &o, NULL), FLOE_OK);
    refuses(&pair, floe_ssim_options_of(&pair, 11, 1, 0, 1),
            "window of 11 is larger than the field, which has 10 values along axis 0");
    refuses(&pair, floe_ssim_options_of(&pair, 0, 1, 0, 1), "axis 0 has 0 and 1");
    refuses(&pair, floe_ssim_options_of(&pair, 1, 0, 0, 1), "axis 0 has 1 and 0");
    refuses(&pair, floe_ssim_options_of(&pair, 1, 1, 1, 0), "range");
    refuses(&pair, floe_ssim_options_of(&pair, 1, 1, NAN, NAN), "range");
    o = floe_ssim_options_of(&pair, 1, 1, 0, 1);
    o.sample = true;
    refuses(&pair, o, "more than one value");
    o.window[3] = 2;
    assert_int_equal(floe_ssim_check(&pair, &o, NULL), FLOE_OK);
    refuses(&pair, floe_ssim_options_image(FLOE_SSIM_WEIGHTS_GAUSSIAN, 0, 1), "window of 11 is larger");
    o.weights = FLOE_SSIM_WEIGHTS_GAUSSIAN;
    refuses(&pair, o, "has 11 values, not 2");
    o.window[3] = 20, o.weights = FLOE_SSIM_WEIGHTS_UNIFORM;
    assert_int_equal(floe_ssim_check(&pair, &o, NULL), FLOE_OK);
    o.window[3] = 21;
    refuses(&pair, o, "along axis 1");
}

/* ---- speed ------------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Mean SSIM of windows of 8 at step 1, one by one in double: what a first program for it looks like. Of some planes only. */
static double nested(const float *x, const float *y, uint64_t n, uint64_t nplanes)
{
    double total = 0;
    for (uint64_t k = 0; k < nplanes; k++)
        for (uint64_t j = 0; j + 8 <= n; j++)
            for (uint64_t i = 0; i + 8 <= n; i++) {
                double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
                for (uint64_t c = 0; c < 8; c++)
                    for (uint64_t b = 0; b < 8; b++)
                        for (uint64_t a = 0; a < 8; a++) {
                            const size_t at = (size_t)(((k + c) * n + j + b) * n + i + a);
                            const double u = x[at], v = y[at];
                            sx += u, sy += v, sxx += u * u, syy += v * v, sxy += u * v;
                        }
                const double mx = sx / 512, my = sy / 512, vx = sxx / 512 - mx * mx, vy = syy / 512 - my * my;
                total += (2 * mx * my + 4e-4) * (2 * (sxy / 512 - mx * my) + 36e-4) /
                         ((mx * mx + my * my + 4e-4) * (vx + vy + 36e-4));
            }
    return total;
}

static void bench(uint64_t extent)
{
    const uint64_t shape[] = {extent, extent, extent}, nplanes = 2;
    for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++) {
        kit_fields f = kit_fields_of((floe_dtype)dtype, 3, shape, KIT_SMOOTH);
        floe_ssim_options options[] = {floe_ssim_options_of(&f.pair, 8, 1, -1, 1),
                                       floe_ssim_options_of(&f.pair, 16, 1, -1, 1),
                                       floe_ssim_options_image(FLOE_SSIM_WEIGHTS_UNIFORM, -1, 1),
                                       floe_ssim_options_image(FLOE_SSIM_WEIGHTS_GAUSSIAN, -1, 1)};
        static const char *const names[] = {"8^3", "16^3", "image 7x7", "image Gaussian"};
        for (size_t k = 0; k < NELEMS(options); k++) {
            options[k].low = -2, options[k].high = 2;
            for (uint32_t threads = 1; threads <= 2; threads++) {
                double best = 1e9;
                for (int turn = 0; turn < 3; turn++) {
                    const double begin = now();
                    ssim_of(&f.pair, &options[k], threads, FLOE_ISA_AUTO);
                    best = fmin(best, now() - begin);
                }
                printf("%s %-14s %u threads: %7.1f ms, %6.1f million values/s\n", dtype == FLOE_F32 ? "f32" : "f64",
                       names[k], threads, best * 1e3, (double)f.nelems / best * 1e-6);
            }
        }
        if (dtype == FLOE_F32) {
            const double begin = now(), sum = nested(f.original, f.decoded, extent, nplanes);
            printf("window by window, one thread: %.0f ms for all (from %d planes; SSIM %.9f)\n",
                   (now() - begin) * 1e3 * (double)(extent - 7) / (double)nplanes, (int)nplanes,
                   sum / (double)((extent - 7) * (extent - 7) * nplanes));
        }
        kit_fields_free(&f);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench(argc > 2 ? strtoull(argv[2], NULL, 10) : 256);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_definition),
        cmocka_unit_test(axes_are_told_apart),
        cmocka_unit_test(image_ssim_equals_the_definition),
        cmocka_unit_test(views_are_read_where_they_lie),
        cmocka_unit_test(a_bias_hides_nothing),
        cmocka_unit_test(outliers_leave_no_trace),
        cmocka_unit_test(scale_does_not_matter),
        cmocka_unit_test(infinite_ranges_are_measured),
        cmocka_unit_test(single_precision_suffices),
        cmocka_unit_test(quick_way_has_limits),
        cmocka_unit_test(quick_way_works_at_its_limits),
        cmocka_unit_test(constants_have_a_range),
        cmocka_unit_test(nothing_but_nan_has_no_ssim),
        cmocka_unit_test(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
