/* SPDX-License-Identifier: BSD-3-Clause */
/* Codecs there and back: modes x presets x element types x ranks x odd shapes x hostile values. Every value is checked
 * exactly, and plain C on one thread against AVX2 on several, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KIT_FAIL fail_msg
#include "tests/codec_kit.h"

typedef struct mode {
    floe_bound_mode mode;
    double bound;
} mode;

static const mode modes[] = {{FLOE_BOUND_ABS, 0.25},   {FLOE_BOUND_ABS, 1e-3},   {FLOE_BOUND_PWREL, 1e-3},
                             {FLOE_BOUND_PWREL, 0.25}, {FLOE_BOUND_LOSSLESS, 1}, {FLOE_BOUND_ABS, 3e5}};
static const floe_preset presets[] = {FLOE_PRESET_FAST, FLOE_PRESET_BALANCED};
static const floe_dtype dtypes[] = {FLOE_F32, FLOE_F64};
static const double fill_value = -9999.0;

static floe_codec_params params_of(floe_dtype dtype, floe_preset preset, mode m, bool has_fill)
{
    return (floe_codec_params){.dtype = dtype,
                               .codec = FLOE_CODEC_LORENZO,
                               .preset = preset,
                               .mode = m.mode,
                               .bound = m.bound,
                               .max_abs = NAN,
                               .has_fill = has_fill,
                               .fill_bits = has_fill ? hostile_bits(dtype, fill_value) : 0};
}

typedef struct shape {
    uint32_t rank;
    uint64_t extent[FLOE_MAX_RANK];
} shape;

static uint64_t seed_next;

/* One field of this kind through every mode, with each preset in turn. */
static void every_mode(floe_dtype dtype, const shape *s, hostile_kind kind)
{
    const uint64_t n = kit_cells(s->rank, s->extent), fill = hostile_bits(dtype, fill_value);
    void *data = malloc((size_t)n * 8);
    const uint64_t seed = seed_next++;
    assert_non_null(data);
    hostile_fill(dtype, kind, n, 0.25, fill, seed, data);
    floe_field chunk = kit_chunk(data, dtype, s->rank, s->extent);
    for (size_t m = seed % FLOE_TEST_STRIDE; m < HOSTILE_COUNT(modes); m += FLOE_TEST_STRIDE) {
        floe_codec_params params = params_of(dtype, presets[(seed + m) / 2 % 2], modes[m], (seed + m) & 1);
        kit_round_trip(&params, &chunk, 1, NULL);
    }
    free(data);
}

/* Kinds take turns: every shape meets one or a few, every kind meets many shapes. */
static void every_dtype(const shape *s, int nkinds)
{
    static int turn;
    for (size_t t = 0; t < HOSTILE_COUNT(dtypes); t++)
        for (int k = 0; k < nkinds; k++)
            every_mode(dtypes[t], s, (hostile_kind)(turn++ % HOSTILE_KINDS));
}

static void lines(void **unused)
{
    static const uint64_t extents[] = {1,    2,    3,    4,    5,    7,    8,     9,    31,   32,
                                       33,   63,   64,   65,   127,  128,  129,   1023, 1024, 1025,
                                       2047, 2049, 8191, 8192, 8193, 9217, 16384, 16385};
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(extents); i++)
        every_dtype(&(shape){1, {extents[i]}}, extents[i] < 2000 ? 6 : 3);
}

static void planes(void **unused)
{
    static const uint64_t slow[] = {1, 2, 3, 7, 8, 9, 31, 64, 65, 129};
    static const uint64_t fast[] = {1, 2, 5, 8, 9, 31, 127, 128, 129, 257};
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(slow); i++)
        for (size_t j = 0; j < HOSTILE_COUNT(fast); j++)
            every_dtype(&(shape){2, {slow[i], fast[j]}}, 1);
}

static void bricks(void **unused)
{
    static const uint64_t slow[] = {1, 2, 3, 15, 17}, middle[] = {1, 3, 5, 16, 17}, fast[] = {4, 8, 9, 31, 33};
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(slow); i++)
        for (size_t j = 0; j < HOSTILE_COUNT(middle); j++)
            for (size_t k = 0; k < HOSTILE_COUNT(fast); k++)
                every_dtype(&(shape){3, {slow[i], middle[j], fast[k]}}, 1);
}

static void hyperbricks(void **unused)
{
    static const shape shapes[] = {{4, {1, 1, 1, 1}},   {4, {1, 1, 1, 9}},   {4, {2, 1, 3, 1}},   {4, {2, 2, 2, 2}},
                                   {4, {2, 2, 2, 9}},   {4, {3, 2, 1, 5}},   {4, {1, 3, 17, 33}}, {4, {5, 1, 17, 33}},
                                   {4, {2, 17, 5, 33}}, {4, {17, 2, 5, 33}}, {4, {3, 3, 5, 8}},   {4, {3, 3, 5, 9}},
                                   {4, {40, 2, 3, 9}},  {4, {2, 40, 3, 9}},  {4, {7, 16, 16, 1}}, {4, {2, 3, 129, 7}}};
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(shapes); i++)
        every_dtype(&shapes[i], 4);
}

/* Every kind in whole and in cut tiles of each rank. */
static void every_kind(void **unused)
{
    static const shape shapes[] = {{1, {9000}}, {2, {66, 130}}, {3, {17, 17, 33}}, {2, {1000, 3}}};
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(shapes); i++)
        for (size_t t = 0; t < HOSTILE_COUNT(dtypes); t++)
            for (int kind = 0; kind < HOSTILE_KINDS; kind++)
                every_mode(dtypes[t], &shapes[i], (hostile_kind)kind);
}

/* Every kind, as numbers and as patterns, with bounds from none to all of the type. */
static void integers(void **unused)
{
    static const shape shapes[] = {{1, {9000}}, {2, {66, 130}}, {3, {17, 17, 33}}, {4, {2, 17, 5, 33}}};
    static const mode integer_modes[] = {{FLOE_BOUND_LOSSLESS, 1}, {FLOE_BOUND_ABS, 0.5}, {FLOE_BOUND_ABS, 1},
                                         {FLOE_BOUND_ABS, 50.7},   {FLOE_BOUND_ABS, 2e9}, {FLOE_BOUND_ABS, 1e300}};
    (void)unused;
    for (int i = 0; i < (int)(2 * HOSTILE_COUNT(shapes) * HOSTILE_KINDS); i++) {
        const floe_dtype dtype = i & 1 ? FLOE_I32 : FLOE_I64;
        const hostile_kind kind = (hostile_kind)(i / 2 % HOSTILE_KINDS);
        const shape *s = &shapes[i / 2 / HOSTILE_KINDS];
        const uint64_t n = kit_cells(s->rank, s->extent);
        void *data = malloc((size_t)n * 8);
        hostile_fill(dtype, kind, n, 50, hostile_bits(dtype, fill_value), (uint64_t)i, data);
        floe_field chunk = kit_chunk(data, dtype, s->rank, s->extent);
        for (size_t m = (size_t)i % FLOE_TEST_STRIDE; m < HOSTILE_COUNT(integer_modes); m += FLOE_TEST_STRIDE) {
            floe_codec_params params = params_of(dtype, presets[m & 1], integer_modes[m], i / 4 & 1);
            kit_round_trip(&params, &chunk, 2, NULL);
        }
        free(data);
    }
}

/* Bounds from the least to the largest, on all kinds: whatever cannot be kept must be stored. */
static void bounds_of_any_size(void **unused)
{
    static const double abs_f32[] = {1e-60, 1e-45, 3e-45, 1e-40, 1e-38, 1e-20, 1e-7, 1, 1e7, 1e20, 1e38, 1e39, 1e300};
    static const double abs_f64[] = {5e-324, 1e-320, 1e-310, 1e-307, 1e-100, 1e-16, 1, 1e16, 1e100, 1e300, 1e308};
    static const double relative[] = {5e-324, 1e-300, 1e-17, 1.2e-16, 1e-14, 1e-8, 6e-8, 1e-6, 0.01, 0.5, 0.999};
    const struct {
        floe_dtype dtype;
        floe_bound_mode mode;
        const double *bound;
        size_t n;
    } sets[] = {{FLOE_F32, FLOE_BOUND_ABS, abs_f32, HOSTILE_COUNT(abs_f32)},
                {FLOE_F64, FLOE_BOUND_ABS, abs_f64, HOSTILE_COUNT(abs_f64)},
                {FLOE_F32, FLOE_BOUND_PWREL, relative, HOSTILE_COUNT(relative)},
                {FLOE_F64, FLOE_BOUND_PWREL, relative, HOSTILE_COUNT(relative)}};
    static double data[3000];
    (void)unused;
    for (size_t s = 0; s < HOSTILE_COUNT(sets); s++)
        for (size_t i = 0; i < sets[s].n; i++)
            for (int kind = (int)i % FLOE_TEST_STRIDE; kind < HOSTILE_KINDS; kind += FLOE_TEST_STRIDE) {
                const uint64_t extent[] = {10, 300};
                floe_codec_params p =
                    params_of(sets[s].dtype, presets[kind & 1], (mode){sets[s].mode, sets[s].bound[i]}, false);
                hostile_fill(p.dtype, (hostile_kind)kind, 3000, sets[s].bound[i], 0, 77 + i, data);
                floe_field chunk = kit_chunk(data, p.dtype, 2, extent);
                p.max_abs = i % 3 == 0 ? NAN : i % 3 == 1 ? 1e30 : 1;
                kit_round_trip(&p, &chunk, 1, NULL);
            }
}

/* The bytes do not depend on the workers: many small tiles, and fewer large ones. */
static void any_number_of_threads(void **unused)
{
    static const shape shapes[] = {{4, {90, 2, 3, 9}}, {3, {50, 40, 100}}, {1, {140000}}};
    static const uint32_t threads[] = {2, 3, 7};
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(shapes); i++) {
        const uint64_t n = kit_cells(shapes[i].rank, shapes[i].extent);
        void *data = malloc((size_t)n * 8);
        for (size_t k = i % FLOE_TEST_STRIDE; k < 4 * HOSTILE_COUNT(modes); k += FLOE_TEST_STRIDE) {
            floe_codec_params p =
                params_of(dtypes[k & 1], presets[k >> 1 & 1], modes[k / 4 % HOSTILE_COUNT(modes)], k & 1);
            hostile_fill(p.dtype, k / 4 % 2 ? HOSTILE_PATCHES : HOSTILE_WALK, n, 0.25, p.fill_bits, k, data);
            floe_field chunk = kit_chunk(data, p.dtype, shapes[i].rank, shapes[i].extent);
            kit_round_trip(&p, &chunk, threads[(k + i) % HOSTILE_COUNT(threads)], NULL);
        }
        free(data);
    }
}

/* What the codec reports that it did is what it did. */
static void statistics_are_true(void **unused)
{
    static double data[4000];
    static float back_f32[4000];
    static double back_f64[4000];
    const uint64_t extent[] = {4000};
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    (void)unused;
    for (size_t t = 0; t < 2; t++)
        for (size_t m = 0; m < HOSTILE_COUNT(modes); m++) {
            floe_codec_params p = params_of(dtypes[t], presets[m & 1], modes[m], false);
            hostile_fill(p.dtype, HOSTILE_NOISE, 4000, 0.25, 0, m, data);
            floe_field chunk = kit_chunk(data, p.dtype, 1, extent);
            kit_coded coded;
            kit_round_trip(&p, &chunk, 1, &coded);
            void *back = t ? (void *)back_f64 : (void *)back_f32;
            floe_field out = kit_chunk(back, p.dtype, 1, extent);
            assert_int_equal(kit_decode(&cpu, &p, &out, coded.block.data, coded.nbytes, NULL), FLOE_OK);
            double worst = 0, relative = 0;
            for (int i = 0; i < 4000; i++) {
                double x = hostile_value(p.dtype, hostile_get(p.dtype, data, i));
                double e = fabs(x - hostile_value(p.dtype, hostile_get(p.dtype, back, i)));
                worst = e > worst ? e : worst;
                relative = x != 0 && e / fabs(x) > relative ? e / fabs(x) : relative;
            }
            assert_true(fabs(coded.stats.max_error - worst) <= worst * 0x1p-23);
            if (p.mode == FLOE_BOUND_PWREL)
                assert_true(fabs(coded.stats.max_pw_error - relative) <= relative * 0x1p-40);
            kit_block_free(&coded.block);
        }
}

static uint64_t size_of(floe_dtype dtype, floe_preset preset, mode m, const shape *s, hostile_kind kind, void *data)
{
    const uint64_t n = kit_cells(s->rank, s->extent);
    floe_codec_params p = params_of(dtype, preset, m, true);
    hostile_fill(dtype, kind, n, 0.25, p.fill_bits, 3, data);
    floe_field chunk = kit_chunk(data, dtype, s->rank, s->extent);
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    const hostile_promise promise = kit_promise(&p);
    kit_coded coded;
    kit_block out = {NULL, 0};
    assert_int_equal(kit_encode(&cpu, &p, &chunk, 1 << 20, &coded), FLOE_OK);
    kit_decode_same(&cpu, &p, &chunk, &coded, &out);
    assert_true(hostile_broken(&promise, data, out.data, n) == n);
    kit_block_free(&coded.block);
    kit_block_free(&out);
    return coded.nbytes;
}

/* Fields that hold nothing take next to nothing in every mode: a word or two for 8192 values, and the header. */
static void nothing_costs_next_to_nothing(void **unused)
{
    static const hostile_kind kinds[] = {HOSTILE_CONSTANT, HOSTILE_ZERO, HOSTILE_NAN, HOSTILE_FILLED};
    static const shape shapes[] = {{1, {1 << 20}}, {3, {32, 128, 256}}, {2, {2048, 2048}}};
    static const size_t of_each_sort[] = {0, 2, 4}; /* abs, pwrel, lossless */
    void *data = malloc((size_t)8 << 22);
    (void)unused;
    for (size_t i = 0; i < 26; i += FLOE_TEST_STRIDE) {
        const shape *s = &shapes[i < 24 ? i & 1 : 2];
        const floe_dtype dtype = dtypes[i / 3 & 1];
        const mode m = modes[of_each_sort[i % 3]];
        const hostile_kind kind = kinds[i / 3 % 4];
        const floe_preset preset = presets[i < 24 ? i / 12 : i & 1];
        uint64_t nbytes = size_of(dtype, preset, m, s, kind, data);
        double ratio = (double)(floe_dtype_size(dtype) * kit_cells(s->rank, s->extent)) / (double)nbytes;
        /* pwrel has no word for NaN beside a fill value: then they are kept as in lossless, which has */
        if (!(ratio > 2000))
            fail_msg("kind %d, mode %d, preset %d: ratio %.1f", kind, m.mode, preset, ratio);
    }
    free(data);
}

/* A hole of NaN or fill beside data costs a bit a cell at most. */
static void holes_are_cheap(void **unused)
{
    const shape s = {2, {512, 512}};
    const uint64_t n = 512 * 512;
    float *data = malloc(n * sizeof *data);
    (void)unused;
    for (size_t p = 0; p < 2; p++) {
        floe_codec_params params = params_of(FLOE_F32, presets[p], modes[0], true);
        for (uint64_t i = 0; i < n; i++) {
            double x = (double)(i % 512) - 200, y = (double)(i / 512) - 300;
            data[i] = x * x + y * y < 20000 ? -9999.0f : (float)(50 * sin(x * 0.03) + 30 * cos(y * 0.02));
        }
        floe_field chunk = kit_chunk(data, FLOE_F32, 2, s.extent);
        uint64_t with = kit_round_trip(&params, &chunk, 1, NULL);
        for (uint64_t i = 0; i < n; i++) {
            double x = (double)(i % 512) - 200, y = (double)(i / 512) - 300;
            data[i] = (float)(50 * sin(x * 0.03) + 30 * cos(y * 0.02));
        }
        uint64_t without = kit_round_trip(&params, &chunk, 1, NULL);
        assert_true(with < without + 20000 / 8 * 4);
    }
    free(data);
}

/* Of four axes the one along which neighbours are closer becomes the slow one of the tiles; either way it is decoded. */
static void slow_axis_of_four_is_found(void **unused)
{
    enum { N = 12, CELLS = N * N * 20 * 24 };
    const uint64_t extent[] = {N, N, 20, 24};
    static double data[CELLS];
    (void)unused;
    for (size_t t = 0; t < 2; t++)
        for (int smooth = 0; smooth < 2; smooth++) { /* the axis along which nothing changes much */
            floe_codec_params p = params_of(dtypes[t], presets[smooth], modes[1], false);
            uint64_t state = 9, sizes[2];
            p.max_abs = 1000;
            for (int64_t i = 0; i < CELLS; i++) {
                int64_t a = i / (N * 480), b = i / 480 % N;
                uint64_t rough = (uint64_t)(smooth ? a : b) * 1000 + (uint64_t)(i % 480);
                double v = (double)(hostile_random(&rough) % 1000) + 0.001 * (double)(smooth ? b : a);
                hostile_put(p.dtype, data, i, hostile_bits(p.dtype, v));
            }
            floe_field chunk = kit_chunk(data, p.dtype, 4, extent);
            kit_coded coded;
            sizes[0] = kit_round_trip(&p, &chunk, 1, &coded);
            assert_int_equal(coded.block.data[2], smooth == 0); /* swap: axis 0 becomes the slow one */
            kit_block_free(&coded.block);
            for (int64_t i = 0; i < CELLS; i++) /* the same values with no such axis */
                hostile_put(p.dtype, data, i, hostile_bits(p.dtype, (double)(hostile_random(&state) % 1000)));
            sizes[1] = kit_round_trip(&p, &chunk, 1, NULL);
            assert_true(sizes[0] < sizes[1] / 3);
        }
}

/* Vectors: three smooth components far apart take what three fields would. */
static void components_are_told_apart(void **unused)
{
    enum { N = 20000 };
    static float mixed[3 * N], alone[N];
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        floe_codec_params p = params_of(FLOE_F32, presets[i], modes[1], false);
        uint64_t apart = 0;
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < N; k++)
                mixed[3 * k + c] = alone[k] = (float)(1000 * c + sin(k * 0.001 * (c + 1)));
            floe_field f = kit_chunk(alone, FLOE_F32, 1, (const uint64_t[]){N});
            apart += kit_round_trip(&p, &f, 1, NULL);
        }
        floe_field f = kit_chunk(mixed, FLOE_F32, 2, (const uint64_t[]){N, 3});
        assert_true(kit_round_trip(&p, &f, 1, NULL) < apart + apart / 20);
    }
}

static void any_pattern_can_be_the_fill_value(void **unused)
{
    static double data[5000];
    const uint64_t extent[] = {50, 100};
    (void)unused;
    for (size_t t = 0; t < 2; t++)
        for (uint64_t special = 0; special < 30; special++)
            for (size_t m = special % FLOE_TEST_STRIDE; m < HOSTILE_COUNT(modes); m += FLOE_TEST_STRIDE) {
                floe_codec_params p = params_of(dtypes[t], presets[special & 1], modes[m], true);
                p.fill_bits = hostile_special(p.dtype, special);
                hostile_fill(p.dtype, HOSTILE_PATCHES, 5000, 0.25, p.fill_bits, special, data);
                for (int64_t i = 0; i < 5000; i += 1 + i % 7)
                    hostile_put(p.dtype, data, i, p.fill_bits);
                floe_field f = kit_chunk(data, p.dtype, 2, extent);
                kit_round_trip(&p, &f, 1, NULL);
            }
}

/* ---- where one way of coding ends and another begins ------------------------------------------------------------- */

/* Byte 1 of a chunk: its quantizer. */
static int quantizer_of(const floe_codec_params *p, void *data, uint64_t n)
{
    floe_field f = kit_chunk(data, p->dtype, 1, &n);
    kit_coded coded;
    kit_round_trip(p, &f, 1, &coded);
    int kind = coded.block.data[1];
    kit_block_free(&coded.block);
    return kind;
}

/* At most 65536 values, and each of them 8 times on average, are put into a table. */
static void tables_end_at_their_limits(void **unused)
{
    enum { BITS = 2, TABLE = 3 };
    static const struct {
        uint64_t cells, values;
        int kind;
    } cases[] = {{1 << 19, 65535, TABLE},
                 {1 << 19, 65536, TABLE},
                 {(1 << 19) + 8, 65536, TABLE},
                 {1 << 20, 65537, BITS},
                 {(1 << 19) - 1, 65536, BITS},
                 {8000, 1000, TABLE},
                 {8000, 1001, BITS},
                 {7999, 1000, BITS},
                 {8, 1, TABLE},
                 {7, 1, BITS},
                 {16, 2, TABLE},
                 {16, 3, BITS}};
    double *data = malloc((1 << 20) * sizeof *data);
    (void)unused;
    /* where only threads are looked at, the small ones */
    for (size_t i = FLOE_TEST_STRIDE > 7 ? 5 : 0; i < HOSTILE_COUNT(cases); i++) {
        floe_codec_params p = params_of(dtypes[i & 1], presets[i / 2 & 1], modes[4], false);
        for (uint64_t k = 0; k < cases[i].cells; k++) /* both signs, and neither order nor nearness */
            hostile_put(p.dtype, data, (int64_t)k,
                        hostile_bits(p.dtype, (double)(k * 104729 % cases[i].values) * 1.25 - 1000));
        int kind = quantizer_of(&p, data, cases[i].cells);
        if (kind != cases[i].kind)
            fail_msg("%d cells of %d values: quantizer %d", (int)cases[i].cells, (int)cases[i].values, kind);
    }
    free(data);
}

/* With more than a quarter of literals a chunk is coded bit for bit. What the palette has does not count. */
static void literals_end_at_their_limit(void **unused)
{
    static double data[8000];
    (void)unused;
    for (int more = 0; more < 2; more++)
        for (size_t t = 0; t < 2; t++)
            for (size_t m = 1; m <= 2; m++) {
                floe_codec_params p = params_of(dtypes[t], presets[more], modes[m], true);
                hostile_fill(p.dtype, HOSTILE_WALK, 8000, 0.25, 0, 3, data);
                for (int64_t k = 0; k < 8000; k++)
                    if (k % 4 == 1 || (more && k == 2))
                        hostile_put(p.dtype, data, k, hostile_exponent(p.dtype) | 77); /* NaN with a payload */
                    else if (k % 4 == 3)
                        hostile_put(p.dtype, data, k, p.fill_bits);
                    else if (hostile_get(p.dtype, data, k) << 1 == 0)
                        hostile_put(p.dtype, data, k, hostile_bits(p.dtype, 1));
                assert_int_equal(quantizer_of(&p, data, 8000), more ? 2 : (int)m - 1);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(planes),
        cmocka_unit_test(bricks),
        cmocka_unit_test(hyperbricks),
        cmocka_unit_test(every_kind),
        cmocka_unit_test(integers),
        cmocka_unit_test(bounds_of_any_size),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(statistics_are_true),
        cmocka_unit_test(nothing_costs_next_to_nothing),
        cmocka_unit_test(holes_are_cheap),
        cmocka_unit_test(slow_axis_of_four_is_found),
        cmocka_unit_test(components_are_told_apart),
        cmocka_unit_test(any_pattern_can_be_the_fill_value),
        cmocka_unit_test(tables_end_at_their_limits),
        cmocka_unit_test(literals_end_at_their_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
