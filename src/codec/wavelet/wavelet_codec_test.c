/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec wavelet: what tests/lattice_kit.h tries; levels, and what boxes leave out. */
#define LATTICE_CODEC FLOE_CODEC_WAVELET
enum { LATTICE_SHAPES = 100, LATTICE_LARGE = 2 };
#include "tests/lattice_kit.h"

/* Of a level, from its own bytes alone: a box, or all. */
static void decode_level(const floe_codec_params *p, const kit_coded *coded, floe_chunk_decode *call, double *to)
{
    uint64_t n[FLOE_MAX_RANK] = {0};
    for (uint32_t a = 0; a < call->rank; a++)
        n[a] = call->hi[a] - call->lo[a];
    const floe_field out = kit_chunk(to, p->dtype, call->rank, n);
    const uint64_t nbytes = level_nbytes(p, call, coded);
    call->out = &out;
    KIT_MUST(decode_call(call, p, coded->block.data, nbytes) == FLOE_OK);
}

static double value_of(const floe_field *f, uint64_t i)
{
    return f->dtype == FLOE_F32 ? (double)((const float *)f->data)[i] : ((const double *)f->data)[i];
}

/* Values of a level are cut to limits, but those of a chunk that is raw or flat. */
static void check_limits(const floe_codec_params *p, const kit_coded *coded, floe_chunk_decode *call,
                         const floe_field *level)
{
    static double cut[40000];
    const bool cuts = ((const uint8_t *)coded->block.data)[1] == 0;
    const floe_field all = kit_chunk(cut, p->dtype, call->rank, level->shape);
    call->limits = (floe_limits){true, 99, 104.5};
    decode_level(p, coded, call, cut);
    call->limits.known = false;
    for (uint64_t i = 0; i < kit_cells(call->rank, level->shape); i++) {
        const double v = value_of(level, i);
        assert_true(value_of(&all, i) == (cuts ? fmin(fmax(v, 99), 104.5) : v));
    }
}

/* Means are near the values where these vary slowly, and a box of a level is a part of it. */
static void check_level(const floe_codec_params *p, const kit_coded *coded, const floe_field *whole, uint32_t k)
{
    static double level[40000], part[40000];
    const size_t size = floe_dtype_size(p->dtype);
    uint64_t lo[FLOE_MAX_RANK] = {0}, hi[FLOE_MAX_RANK], from[FLOE_MAX_RANK], to[FLOE_MAX_RANK], box[FLOE_MAX_RANK];
    for (uint32_t a = 0; a < whole->rank; a++) {
        hi[a] = ((whole->shape[a] - 1) >> k) + 1;
        from[a] = hi[a] / 4;
        to[a] = hi[a] - hi[a] / 3;
        box[a] = to[a] - from[a];
    }
    floe_chunk_decode call = {.rank = whole->rank, .extent = whole->shape, .lo = lo, .hi = hi, .level = k};
    const floe_field all = kit_chunk(level, p->dtype, whole->rank, hi);
    decode_level(p, coded, &call, level);
    check_limits(p, coded, &call, &all);
    call.lo = from;
    call.hi = to;
    decode_level(p, coded, &call, part);
    for (uint64_t i = 0; i < kit_cells(whole->rank, hi); i++) {
        uint64_t left = i, at = 0, unit = 1, in = 0, step = 1;
        bool is = true;
        for (uint32_t a = whole->rank; a-- > 0; unit *= whole->shape[a], left /= hi[a]) {
            const uint64_t x = left % hi[a];
            at += (x << k) * unit;
            is = is && x >= from[a] && x < to[a];
            in += (x - from[a]) * step;
            step *= box[a];
        }
        const uint8_t *v = (const uint8_t *)level + i * size;
        assert_true(!is || memcmp(v, (const uint8_t *)part + in * size, size) == 0);
        const double far = kit_cells(whole->rank, hi) > 1 ? 1.5 : 10; /* the only point is the mean of all waves */
        if (p->mode == FLOE_BOUND_ABS)
            assert_true(fabs(value_of(&all, i) - value_of(whole, at)) < far);
    }
}

static void levels(void **unused)
{
    static const uint64_t extents[][FLOE_MAX_RANK] = {{3000},         {41, 90},  {17, 33, 60}, {6, 9, 11, 40},
                                                      {1, 1, 500, 1}, {4, 4, 4}, {2, 300, 3},  {1}};
    static const uint32_t ranks[] = {1, 2, 3, 4, 4, 3, 3, 1};
    static double data[40000], back[40000];
    (void)unused;
    for (uint64_t i = 0; i < 4 * HOSTILE_COUNT(ranks); i += FLOE_TEST_STRIDE) {
        const uint64_t *extent = extents[i / 4], n = kit_cells(ranks[i / 4], extent);
        const floe_codec_params p = params_of(i & 1 ? FLOE_F64 : FLOE_F32, presets[i / 2 % 2], modes[1 + i % 2], false);
        const floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
        kit_coded coded;
        uint64_t before = UINT64_MAX;
        for (uint64_t x = 0; x < n; x++) { /* slow waves along all axes */
            uint64_t left = x;
            double v = 100;
            for (uint32_t a = ranks[i / 4]; a-- > 0; left /= extent[a])
                v += 10 * sin((double)(left % extent[a]) / (double)extent[a]);
            if (p.dtype == FLOE_F32)
                ((float *)(void *)data)[x] = (float)v;
            else
                data[x] = v;
        }
        floe_field chunk = kit_chunk(data, p.dtype, ranks[i / 4], extent),
                   whole = kit_chunk(back, p.dtype, ranks[i / 4], extent);
        kit_round_trip(&p, &chunk, 1, &coded);
        KIT_MUST(kit_decode(&cpu, &p, &whole, coded.block.data, coded.nbytes, NULL) == FLOE_OK);
        for (uint32_t k = 0; k < 8; k++) {
            floe_chunk_decode call = {.rank = chunk.rank, .extent = extent, .level = k};
            const uint64_t nbytes = level_nbytes(&p, &call, &coded);
            assert_true(nbytes <= before);
            before = nbytes;
            if (k)
                check_level(&p, &coded, &whole, k);
        }
        kit_block_free(&coded.block);
    }
}

/* Waves along an axis, another phase for each point along the other: about as small whichever axis that is. */
static void rough_axes(void **unused)
{
    static const uint64_t extents[][3] = {{400, 1, 350}, {90, 1, 1100}};
    static double phases[1100];
    static float data[140000], back[140000];
    uint64_t state = 7;
    (void)unused;
    for (int i = 0; i < 1100; i++)
        phases[i] = hostile_uniform(&state);
    for (uint64_t i = 0; i < HOSTILE_COUNT(extents); i++)
        for (uint64_t rough = 0, slowest = 0; rough < 3; rough++) {
            const floe_codec_params p = params_of(FLOE_F32, presets[0], modes[1], false);
            const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
            const uint64_t *n = extents[i], order[] = {n[(3 - rough) % 3], n[(4 - rough) % 3], n[(5 - rough) % 3]};
            floe_field chunk = kit_chunk(data, p.dtype, 3, order), whole = kit_chunk(back, p.dtype, 3, order);
            kit_coded coded;
            if (n[0] == 1 || order[rough] == 1)
                continue;
            for (uint64_t x = 0; x < kit_cells(3, order); x++) {
                const uint64_t at[] = {x / order[2] / order[1], x / order[2] % order[1], x % order[2]};
                double v = phases[at[rough]];
                for (uint64_t a = 0; a < 3; a++)
                    v +=
                        10 * sin((double)at[a] / (double)order[a] + phases[at[rough]] * (double)(a + 1)) * (a != rough);
                data[x] = (float)v;
            }
            kit_round_trip(&p, &chunk, 1, &coded);
            KIT_MUST(kit_decode(&cpu, &p, &whole, coded.block.data, coded.nbytes, NULL) == FLOE_OK);
            box_is_part(&p, &chunk, &coded, &state);
            if (rough) /* frozen */
                check_level(&p, &coded, &whole, 2);
            slowest = rough == 0 ? coded.nbytes : slowest;
            assert_true(2 * coded.nbytes < 3 * slowest);
            kit_block_free(&coded.block);
        }
}

/* Channels with offsets of their own, which change slowly: few bytes for each channel, wherever channels lie; preset fast tries the slowest
 * axis. */
static void many_channels(void **unused)
{
    enum { TIMES = 600, CHANNELS = 300 };
    float *data = malloc(TIMES * CHANNELS * sizeof *data);
    (void)unused;
    for (int i = 0; i < 3; i++) {
        const bool last = i == 1;
        const uint64_t extent[] = {last ? TIMES : CHANNELS, last ? CHANNELS : TIMES};
        const floe_codec_params p = {.dtype = FLOE_F32,
                                     .codec = FLOE_CODEC_WAVELET,
                                     .preset = i == 2 ? FLOE_PRESET_FAST : FLOE_PRESET_BALANCED,
                                     .mode = FLOE_BOUND_ABS,
                                     .bound = 2,
                                     .max_abs = NAN};
        uint64_t state = 3;
        kit_coded coded;
        for (uint64_t c = 0; c < CHANNELS; c++) {
            const double offset = (double)hostile_below(&state, 1000), wave = (double)hostile_below(&state, 60) / 10;
            for (uint64_t t = 0; t < TIMES; t++)
                data[last ? t * CHANNELS + c : c * TIMES + t] = (float)(offset + sin((double)t / 100 + wave));
        }
        floe_field chunk = kit_chunk(data, p.dtype, 2, extent);
        kit_round_trip(&p, &chunk, 1, &coded);
        assert_true(coded.nbytes < 4 * CHANNELS);
        kit_block_free(&coded.block);
    }
    free(data);
}

/* Planes of a stack differ: a hole is filled along each plane that has values. Between planes that takes twice as many bytes. */
static void holes_of_stack(void **unused)
{
    static const uint64_t extent[] = {16, 60, 70};
    static float data[16 * 60 * 70];
    const floe_codec_params p = {.dtype = FLOE_F32,
                                 .codec = FLOE_CODEC_WAVELET,
                                 .preset = FLOE_PRESET_BALANCED,
                                 .mode = FLOE_BOUND_ABS,
                                 .bound = 0.01,
                                 .max_abs = NAN};
    uint64_t nbytes[2];
    (void)unused;
    for (int holes = 0; holes < 2; holes++) {
        floe_field chunk = kit_chunk(data, p.dtype, 3, extent);
        uint64_t state = 5;
        kit_coded coded;
        double phase = 0;
        for (uint64_t i = 0; i < HOSTILE_COUNT(data); i++) {
            const double y = (double)(i / 70 % 60), x = (double)(i % 70);
            const bool hole = i / 4200 == 7 || (y - 25) * (y - 25) + (x - 40) * (x - 40) < 400;
            phase = i % 4200 ? phase : 20 * hostile_uniform(&state);
            data[i] = holes && hole ? NAN : (float)(10 * sin(0.1 * x + phase) * cos(0.07 * y + 3 * phase));
        }
        kit_round_trip(&p, &chunk, 1, &coded);
        nbytes[holes] = coded.nbytes;
        kit_block_free(&coded.block);
    }
    assert_true(nbytes[1] < 4 * nbytes[0]);
}

/* Of each step only entropy chunks that a box needs are decoded: most bytes may be damaged. */
static void boxes_leave_chunks_out(void **unused)
{
    enum { TRIES = 100 / FLOE_TEST_STRIDE };
    static const uint64_t extent[] = {40, 100, 160}, lo[] = {17, 43, 12}, hi[] = {21, 53, 22}, n[] = {4, 10, 10};
    static float box[2][4 * 10 * 10];
    float *data = malloc(kit_cells(3, extent) * sizeof *data);
    const floe_codec_params p = params_of(FLOE_F32, presets[0], modes[1], false);
    kit_coded coded;
    uint64_t nsame = 0;
    (void)unused;
    hostile_fill(p.dtype, HOSTILE_SMOOTH, kit_cells(3, extent), 1e-3, 0, 1, data);
    floe_field chunk = kit_chunk(data, p.dtype, 3, extent);
    kit_round_trip(&p, &chunk, 1, &coded);
    for (uint64_t i = 0; i < TRIES; i++) {
        uint8_t *byte = coded.block.data + i * coded.nbytes / TRIES, damage = i ? 0x5A : 0;
        const floe_field out = kit_chunk(box[i > 0], p.dtype, 3, n);
        floe_chunk_decode call = {.rank = 3, .extent = extent, .lo = lo, .hi = hi, .out = &out};
        *byte ^= damage;
        nsame += decode_call(&call, &p, coded.block.data, coded.nbytes) == FLOE_OK &&
                 memcmp(box[0], box[1], sizeof box[0]) == 0;
        *byte ^= damage;
    }
    assert_in_range(nsame, TRIES / 2, TRIES - 1);
    kit_block_free(&coded.block);
    free(data);
}

/* Smooth along the slowest axis alone: a level takes, of each step, few of the bands of a packet. All its bytes are checked. */
static void levels_of_packets(void **unused)
{
    static const uint64_t extent[] = {80, 30, 28}, zero[] = {0, 0, 0}, most[] = {0, 200, 45, 19};
    static float data[80 * 30 * 28], level[40 * 15 * 14];
    const floe_codec_params p = params_of(FLOE_F32, FLOE_PRESET_BALANCED, modes[1], false);
    const floe_field chunk = kit_chunk(data, p.dtype, 3, extent);
    kit_coded coded;
    (void)unused;
    for (uint64_t i = 0; i < HOSTILE_COUNT(data); i++) {
        const double size = 1 + (double)(i % 840 * 7919 % 101) * 0.003;
        data[i] = (float)(size * sin((double)(i / 840) * 0.3 + size) + (double)(i * 7919 % 13) * 0.002);
    }
    kit_round_trip(&p, &chunk, 1, &coded);
    assert_true(((const uint8_t *)coded.block.data)[5] >> 4 > 1);
    for (uint32_t k = 1; k < 4; k++) {
        const uint64_t n[] = {((80 - 1) >> k) + 1, ((30 - 1) >> k) + 1, ((28 - 1) >> k) + 1};
        const floe_field out = kit_chunk(level, p.dtype, 3, n);
        floe_chunk_decode call = {.rank = 3, .extent = extent, .lo = zero, .hi = n, .out = &out, .level = k};
        const uint64_t nbytes = level_nbytes(&p, &call, &coded);
        assert_true(1000 * nbytes < most[k] * coded.nbytes);
        assert_int_equal(decode_call(&call, &p, coded.block.data, nbytes), FLOE_OK);
        invert_bits(&p, &call, &coded, nbytes, 300 / FLOE_TEST_STRIDE);
    }
    kit_block_free(&coded.block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_of_every_rank),
                                       cmocka_unit_test(large_shapes),
                                       cmocka_unit_test(kinds_and_modes),
                                       cmocka_unit_test(squared_errors),
                                       cmocka_unit_test(squared_errors_of_no_bound),
                                       cmocka_unit_test(damaged_chunks),
                                       cmocka_unit_test(levels),
                                       cmocka_unit_test(damaged_levels),
                                       cmocka_unit_test(levels_of_packets),
                                       cmocka_unit_test(boxes_leave_chunks_out),
                                       cmocka_unit_test(rough_axes),
                                       cmocka_unit_test(many_channels),
                                       cmocka_unit_test(holes_of_stack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
