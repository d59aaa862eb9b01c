/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec zfp on chunks: every value within its bound, or bit for bit, whatever the values and the bound; the same bytes from
 * plain C and vectors; boxes; and chunks that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KIT_FAIL fail_msg
#include "tests/codec_kit.h"

typedef struct shape {
    uint32_t rank;
    uint64_t extent[FLOE_MAX_RANK];
} shape;

static const shape shapes[] = {{1, {1}},          {1, {700}},          {1, {66000}},      {2, {3, 5}},
                               {2, {70, 140}},    {2, {2000, 3}},      {3, {18, 19, 40}}, {3, {5, 40, 8}},
                               {3, {21, 22, 23}}, {4, {3, 5, 17, 33}}, {4, {9, 9, 9, 9}}, {4, {1, 1, 1, 70}}};
static const double bounds[] = {0.25, 1e-3, 1e-7, 3e5, 1e-45, 1e300};

static floe_codec_params params_of(floe_dtype dtype, double bound, bool has_fill)
{
    return (floe_codec_params){.dtype = dtype,
                               .codec = FLOE_CODEC_ZFP,
                               .mode = bound > 0 ? FLOE_BOUND_ABS : FLOE_BOUND_LOSSLESS,
                               .bound = bound,
                               .max_abs = NAN,
                               .has_fill = has_fill,
                               .fill_bits = has_fill ? hostile_bits(dtype, -9999.0) : 0};
}

static floe_dtype dtype_of(uint64_t pick) { return pick & 1 ? FLOE_F64 : FLOE_F32; }

static void there_and_back(void **unused)
{
    (void)unused;
    uint64_t turn = 0;
    for (size_t s = 0; s < HOSTILE_COUNT(shapes); s++)
        for (int kind = (int)s % FLOE_TEST_STRIDE; kind < HOSTILE_KINDS; kind += FLOE_TEST_STRIDE, turn++) {
            const floe_dtype dtype = dtype_of(turn + s);
            const uint64_t n = kit_cells(shapes[s].rank, shapes[s].extent);
            void *data = malloc((size_t)n * 8);
            hostile_fill(dtype, (hostile_kind)kind, n, 0.25, hostile_bits(dtype, -9999.0), turn, data);
            floe_field chunk = kit_chunk(data, dtype, shapes[s].rank, shapes[s].extent);
            for (size_t b = turn % 3; b <= HOSTILE_COUNT(bounds); b += 3) {
                const double bound = b < HOSTILE_COUNT(bounds) ? bounds[b] : 0;
                const floe_codec_params p = params_of(dtype, bound, (turn + b) & 1);
                kit_round_trip(&p, &chunk, 1 + (uint32_t)(turn % 3), NULL);
            }
            free(data);
        }
}

/* Integers have no tolerance in zfp: planes, and what misses the bound is corrected. */
static void integers_there_and_back(void **unused)
{
    (void)unused;
    static const double wide[] = {1, 2.5, 60, 4097, 1e9, 1e300};
    for (uint64_t turn = 0; turn < HOSTILE_COUNT(shapes) * HOSTILE_KINDS; turn += FLOE_TEST_STRIDE) {
        const shape *s = &shapes[turn % HOSTILE_COUNT(shapes)];
        const floe_dtype dtype = turn / 5 & 1 ? FLOE_I64 : FLOE_I32;
        const uint64_t n = kit_cells(s->rank, s->extent);
        void *data = malloc((size_t)n * 8);
        floe_field chunk = kit_chunk(data, dtype, s->rank, s->extent);
        const size_t b = turn * 5 / HOSTILE_COUNT(shapes) % HOSTILE_COUNT(wide);
        const floe_codec_params p = params_of(dtype, wide[b], (turn + b) & 1);
        hostile_fill(dtype, (hostile_kind)(turn / HOSTILE_COUNT(shapes)), n, b < 5 ? wide[b] : 100,
                     hostile_bits(dtype, -9999.0), turn, data);
        kit_round_trip(&p, &chunk, 1 + (uint32_t)(turn % 3), NULL);
        free(data);
    }
}

/* On what zfp is good at, nothing is left beside the stream. */
static void nothing_to_correct(void **unused)
{
    (void)unused;
    const uint64_t extent[] = {40, 40, 40};
    for (int wide = 0; wide < 2; wide++) {
        const floe_codec_params p = params_of(dtype_of((uint64_t)wide), 1e-3, false);
        void *data = malloc(64000 * 8);
        for (uint64_t i = 0; i < 64000; i++) {
            const double x = 0.1 * (double)(i % 40), y = 0.1 * (double)(i / 40 % 40), z = 0.1 * (double)(i / 1600);
            hostile_put(p.dtype, data, (int64_t)i, hostile_bits(p.dtype, sin(x) * cos(y) + sin(z)));
        }
        floe_field chunk = kit_chunk(data, p.dtype, 3, extent);
        kit_coded coded;
        const uint64_t nbytes = kit_round_trip(&p, &chunk, 1, &coded);
        assert_true(nbytes * 3 < 64000 * floe_dtype_size(p.dtype));
        assert_true(coded.stats.nexceptions == 0 && coded.stats.max_error > 0 && coded.stats.max_error <= 1e-3);
        kit_block_free(&coded.block);
        free(data);
    }
}

static floe_codec_params sized_params_of(floe_dtype dtype, floe_bound_mode mode, double bound, bool has_fill)
{
    floe_codec_params p = params_of(dtype, bound, has_fill);
    p.mode = mode;
    return p;
}

/* Rate and precision: what is not finite, -0 and fill come back bit for bit even so, and finite values stay finite. */
static void sizes_there_and_back(void **unused)
{
    (void)unused;
    static const double rates[] = {0.3, 4, 11.5, 31, 700, 1e30}, planes[] = {1, 9, 30, 64};
    for (uint64_t turn = 0; turn < HOSTILE_COUNT(shapes) * HOSTILE_KINDS; turn += FLOE_TEST_STRIDE) {
        const shape *s = &shapes[turn % HOSTILE_COUNT(shapes)];
        const hostile_kind kind = (hostile_kind)(turn / HOSTILE_COUNT(shapes));
        const floe_dtype dtype = (floe_dtype)(FLOE_F32 + (turn + turn / HOSTILE_COUNT(shapes)) % 4);
        const uint64_t n = kit_cells(s->rank, s->extent);
        const uint64_t pick = turn + turn / HOSTILE_COUNT(shapes);
        const double rate = rates[pick % HOSTILE_COUNT(rates)], prec = planes[pick % HOSTILE_COUNT(planes)];
        const floe_codec_params all[] = {sized_params_of(dtype, FLOE_BOUND_RATE, rate, turn & 1),
                                         sized_params_of(dtype, FLOE_BOUND_PREC, prec, turn & 1)};
        void *data = malloc((size_t)n * 8);
        hostile_fill(dtype, kind, n, 0.25, hostile_bits(dtype, -9999.0), turn, data);
        floe_field chunk = kit_chunk(data, dtype, s->rank, s->extent);
        for (int i = 0; i < 2; i++)
            kit_round_trip(&all[i], &chunk, 1 + (uint32_t)(turn % 3), NULL);
        free(data);
    }
}

/* 40 x 40 x 40 values of which none is special. */
static void fill_smoothly(floe_dtype dtype, void *data)
{
    const double scale = hostile_is_integer(dtype) ? 1e6 : 1;
    for (uint64_t i = 0; i < 64000; i++) {
        const double x = 0.1 * (double)(i % 40), y = 0.1 * (double)(i / 40 % 40), z = 0.1 * (double)(i / 1600);
        hostile_put(dtype, data, (int64_t)i, hostile_bits(dtype, scale * (3 + sin(x) * cos(y) + sin(z))));
    }
}

/* The rate is kept to the byte, without an index; and the error that is reported is the largest. */
static void a_rate_is_a_size(void **unused)
{
    (void)unused;
    static uint64_t data[64000], back[64000];
    const uint64_t extent[] = {40, 40, 40};
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    for (floe_dtype dtype = FLOE_F32; dtype <= FLOE_I64; dtype++) {
        const floe_codec_params p = sized_params_of(dtype, FLOE_BOUND_RATE, 6, false);
        double worst = 0;
        kit_coded coded;
        fill_smoothly(dtype, data);
        floe_field chunk = kit_chunk(data, dtype, 3, extent), out = kit_chunk(back, dtype, 3, extent);
        assert_int_equal(kit_round_trip(&p, &chunk, 2, &coded), 64 + 64000 * 6 / 8);
        assert_int_equal(coded.stats.nexceptions, 0);
        assert_int_equal(kit_decode(&cpu, &p, &out, coded.block.data, coded.nbytes, NULL), FLOE_OK);
        for (int64_t i = 0; i < 64000; i++)
            worst = fmax(worst, fabs(hostile_value(dtype, hostile_get(dtype, data, i)) -
                                     hostile_value(dtype, hostile_get(dtype, back, i))));
        assert_true(worst > 0 && coded.stats.max_error == worst);
        kit_block_free(&coded.block);
    }
}

/* Smooth integers: a bound of a thousandth of the range takes a third of what they take without loss. */
static void a_bound_of_integers_pays(void **unused)
{
    (void)unused;
    static uint64_t data[64000];
    const uint64_t extent[] = {40, 40, 40};
    for (floe_dtype dtype = FLOE_I32; dtype <= FLOE_I64; dtype++) {
        fill_smoothly(dtype, data);
        floe_field chunk = kit_chunk(data, dtype, 3, extent);
        const floe_codec_params bounded = params_of(dtype, 4000, false), lossless = params_of(dtype, 0, false);
        kit_coded coded;
        const uint64_t nbytes = kit_round_trip(&bounded, &chunk, 1, &coded);
        assert_true(3 * nbytes < kit_round_trip(&lossless, &chunk, 1, NULL));
        assert_true(coded.stats.max_error > 0 && coded.stats.max_error <= 4000 && coded.stats.nexceptions < 640);
        kit_block_free(&coded.block);
    }
}

/* Half of the cells are missing: they cost about a bit each, and are counted. */
static void missing_cells_are_cheap(void **unused)
{
    (void)unused;
    const uint64_t extent[] = {64, 64, 64}, n = 64 * 64 * 64;
    float *data = malloc(n * sizeof *data);
    floe_codec_params p = params_of(FLOE_F32, 1e-3, true);
    kit_coded coded[2];
    for (int missing = 0; missing < 2; missing++) {
        for (uint64_t i = 0; i < n; i++)
            data[i] = missing && i % 64 < 32 ? -9999.0f : (float)sin(0.01 * (double)(i % 4096));
        floe_field chunk = kit_chunk(data, FLOE_F32, 3, extent);
        kit_round_trip(&p, &chunk, 1, &coded[missing]);
        assert_int_equal(coded[missing].stats.nexceptions, missing ? n / 2 : 0);
    }
    assert_true(coded[1].nbytes < coded[0].nbytes + n / 8 + n / 256);
    kit_block_free(&coded[0].block);
    kit_block_free(&coded[1].block);
    free(data);
}

static void boxes(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    const uint64_t step = FLOE_TEST_STRIDE > 7 ? FLOE_TEST_STRIDE : 1; /* where only threads are looked at */
    for (uint64_t turn = 0; turn < 12 * HOSTILE_COUNT(shapes); turn += step) {
        const shape *s = &shapes[turn % HOSTILE_COUNT(shapes)];
        floe_codec_params p = params_of(dtype_of(turn), turn % 5 ? 0.01 : 0, turn % 3 == 0);
        if (turn % 4 == 1)
            p = sized_params_of(dtype_of(turn), turn & 16 ? FLOE_BOUND_PREC : FLOE_BOUND_RATE, 7, turn % 3 == 0);
        const uint64_t n = kit_cells(s->rank, s->extent);
        const floe_cpu cpu = kit_cpu(1 + (uint32_t)(turn % 2), turn & 1 ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN);
        void *data = malloc((size_t)n * 8);
        hostile_fill(p.dtype, turn % 7 ? HOSTILE_CHECKERBOARD : HOSTILE_BITS, n, p.bound, p.fill_bits, turn, data);
        floe_field chunk = kit_chunk(data, p.dtype, s->rank, s->extent);
        kit_coded coded;
        kit_round_trip(&p, &chunk, 1, &coded);
        kit_block whole = kit_block_of(n * floe_dtype_size(p.dtype));
        floe_field all = kit_chunk(whole.data, p.dtype, s->rank, s->extent);
        assert_int_equal(kit_decode(&cpu, &p, &all, coded.block.data, coded.nbytes, NULL), FLOE_OK);
        uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], box[FLOE_MAX_RANK];
        for (uint32_t a = 0; a < s->rank; a++) {
            lo[a] = hostile_below(&state, s->extent[a]);
            hi[a] = lo[a] + 1 + hostile_below(&state, s->extent[a] - lo[a]);
            box[a] = hi[a] - lo[a];
        }
        const uint64_t cells = kit_cells(s->rank, box);
        kit_block part = kit_block_of(cells * floe_dtype_size(p.dtype));
        floe_field out = kit_chunk(part.data, p.dtype, s->rank, box);
        assert_int_equal(
            kit_decode_box(&cpu, &p, s->rank, s->extent, coded.block.data, coded.nbytes, lo, hi, &out, NULL), FLOE_OK);
        assert_true(kit_block_intact(&part));
        for (uint64_t i = 0; i < cells; i++) {
            uint64_t rest = i;
            int64_t at = 0;
            for (uint32_t a = s->rank; a-- > 0; rest /= box[a])
                at += (int64_t)(lo[a] + rest % box[a]) * all.stride[a];
            assert_true(hostile_get(p.dtype, part.data, (int64_t)i) == hostile_get(p.dtype, whole.data, at));
        }
        kit_block_free(&part);
        kit_block_free(&whole);
        kit_block_free(&coded.block);
        free(data);
    }
}

/* Cut short or changed anywhere: decoded by all alike, or refused by all. */
static void chunks_that_lie(void **unused)
{
    (void)unused;
    uint64_t state = 8, refused = 0;
    for (uint64_t turn = 0; turn < 2000 / FLOE_TEST_STRIDE; turn++) {
        const shape *s = &shapes[turn % 2 ? 4 : 9];
        floe_codec_params p = params_of(dtype_of(turn / 2), turn % 5 ? 0.01 : 0, turn % 3 == 0);
        if (turn % 7 == 2)
            p = sized_params_of((floe_dtype)(FLOE_F32 + turn / 7 % 4), FLOE_BOUND_RATE, 9, turn % 3 == 0);
        const uint64_t n = kit_cells(s->rank, s->extent);
        static double data[10000];
        floe_field chunk = kit_chunk(data, p.dtype, s->rank, s->extent);
        kit_coded fresh;
        hostile_fill(p.dtype, turn % 4 < 2 ? HOSTILE_CHECKERBOARD : HOSTILE_WALK, n, 0.01, p.fill_bits, turn, data);
        const floe_cpu cpus[] = {kit_cpu(1, FLOE_ISA_PLAIN), kit_cpu(2, FLOE_ISA_AVX2)};
        assert_int_equal(
            kit_encode(&cpus[0], &p, &chunk, floe_codec_of(p.codec)->bound(&p, s->rank, s->extent), &fresh), FLOE_OK);
        uint64_t nbytes = turn % 4 == 3 ? hostile_below(&state, fresh.nbytes) : fresh.nbytes;
        for (uint64_t k = turn % 4 == 3 ? 0 : 1 + hostile_below(&state, 3); k--;) {
            const uint64_t near = hostile_below(&state, 2) ? (nbytes < 200 ? nbytes : 200) : nbytes;
            fresh.block.data[hostile_below(&state, near)] ^= (uint8_t)(1u << hostile_below(&state, 8));
        }
        uint8_t *exact = malloc(nbytes ? nbytes : 1);
        memcpy(exact, fresh.block.data, nbytes);
        kit_block out[2];
        floe_status status[2];
        for (int i = 0; i < 2; i++) {
            floe_error err = {FLOE_OK, ""};
            out[i] = kit_block_of(n * floe_dtype_size(p.dtype));
            floe_field field = kit_chunk(out[i].data, p.dtype, s->rank, s->extent);
            status[i] = kit_decode(&cpus[i], &p, &field, exact, nbytes, &err);
            assert_true(status[i] == FLOE_OK || (status[i] == FLOE_ERR_FORMAT && err.message[0]));
            assert_true(kit_block_intact(&out[i]));
        }
        assert_int_equal(status[0], status[1]);
        refused += status[0] != FLOE_OK;
        if (status[0] == FLOE_OK)
            assert_memory_equal(out[0].data, out[1].data, out[0].nbytes);
        kit_block_free(&out[0]);
        kit_block_free(&out[1]);
        kit_block_free(&fresh.block);
        free(exact);
    }
    assert_true(refused > 500 / FLOE_TEST_STRIDE);
}

static void what_it_cannot(void **unused)
{
    (void)unused;
    static double data[100];
    const uint64_t extent[] = {100};
    floe_codec_params p = params_of(FLOE_F64, 0.01, false);
    floe_field chunk = kit_chunk(data, FLOE_F64, 1, extent);
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    kit_coded coded;
    p.mode = FLOE_BOUND_PWREL;
    assert_int_equal(kit_encode(&cpu, &p, &chunk, floe_codec_of(p.codec)->bound(&p, 1, extent), &coded),
                     FLOE_ERR_UNSUPPORTED);
    kit_block_free(&coded.block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),          cmocka_unit_test(nothing_to_correct),
        cmocka_unit_test(sizes_there_and_back),    cmocka_unit_test(a_rate_is_a_size),
        cmocka_unit_test(integers_there_and_back), cmocka_unit_test(a_bound_of_integers_pays),
        cmocka_unit_test(missing_cells_are_cheap), cmocka_unit_test(boxes),
        cmocka_unit_test(chunks_that_lie),         cmocka_unit_test(what_it_cannot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
