/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec interp: what tests/lattice_kit.h tries; levels, damage, and what boxes leave out. */
#define LATTICE_CODEC FLOE_CODEC_INTERP
enum { LATTICE_SHAPES = 160, LATTICE_LARGE = 4 };
#include "codec/interp/interp_layout.h"
#include "synth/synth.h"
#include "tests/lattice_kit.h"

enum { CELLS = 40 * 60 * 63 /* of a field that is damaged */ };

typedef struct losses {
    uint32_t rank;
    uint64_t extent[FLOE_MAX_RANK], n;
    uint8_t *lost; /* of each value */
} losses;

static void note_lost(void *user, const uint64_t *lo, const uint64_t *hi)
{
    losses *l = user;
    for (uint64_t i = 0; i < kit_cells(l->rank, l->extent); i++) {
        bool is = true;
        for (uint32_t a = l->rank, left = (uint32_t)i; a-- > 0; left /= (uint32_t)l->extent[a])
            is = is && left % l->extent[a] >= lo[a] && left % l->extent[a] < hi[a];
        l->n += is && !l->lost[i];
        l->lost[i] |= is;
    }
}

/* Each level is every so-manieth value, from its own bytes alone; and a box of it. */
static void check_levels(const floe_codec_params *p, const kit_coded *coded, const floe_field *whole)
{
    static double level[224000];
    const size_t size = floe_dtype_size(p->dtype);
    uint64_t before = UINT64_MAX;
    for (uint32_t k = 0; k < 8; k++) {
        uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], box[FLOE_MAX_RANK];
        for (uint32_t a = 0; a < whole->rank; a++) {
            const uint64_t n = (whole->shape[a] + (1u << k) - 1) >> k;
            lo[a] = k % 3 == 2 ? n / 4 : 0;
            hi[a] = k % 3 == 2 ? n - n / 3 : n;
            box[a] = hi[a] - lo[a];
        }
        const floe_field out = kit_chunk(level, p->dtype, whole->rank, box);
        floe_chunk_decode call = {
            .rank = whole->rank, .extent = whole->shape, .lo = lo, .hi = hi, .out = &out, .level = k};
        const uint64_t nbytes = level_nbytes(p, &call, coded);
        assert_true(nbytes <= before);
        before = nbytes;
        memset(level, 0xEE, kit_cells(whole->rank, box) * size);
        KIT_MUST(decode_call(&call, p, coded->block.data, k ? nbytes : coded->nbytes) == FLOE_OK);
        for (uint64_t i = 0; i < kit_cells(whole->rank, box); i++) {
            uint64_t left = i, at = 0, unit = 1;
            for (uint32_t a = whole->rank; a-- > 0; unit *= whole->shape[a], left /= box[a])
                at += ((left % box[a] + lo[a]) << k) * unit;
            assert_memory_equal((uint8_t *)level + i * size, (const uint8_t *)whole->data + at * size, size);
        }
    }
}

static void levels(void **unused)
{
    static const uint64_t extents[][FLOE_MAX_RANK] = {{3000},         {41, 90},      {17, 33, 60}, {6, 9, 11, 40},
                                                      {1, 1, 500, 1}, {4, 4, 4},     {2, 300, 3},  {1},
                                                      {200, 30, 9},   {60, 41, 5, 3}};
    static const uint32_t ranks[] = {1, 2, 3, 4, 4, 3, 3, 1, 3, 4};
    static double data[60000], back[60000];
    (void)unused;
    for (uint64_t i = 0; i < 6 * HOSTILE_COUNT(ranks); i += FLOE_TEST_STRIDE) {
        const uint32_t rank = ranks[i / 6];
        const uint64_t *extent = extents[i / 6];
        const floe_codec_params p = params_of(i & 1 ? FLOE_F64 : FLOE_F32, presets[i % 2], modes[i % 4], i % 3);
        const floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
        kit_coded coded;
        hostile_fill(p.dtype, i % 6 < 3 ? HOSTILE_SMOOTH : HOSTILE_PATCHES, kit_cells(rank, extent), 0.25, p.fill_bits,
                     i, data);
        floe_field chunk = kit_chunk(data, p.dtype, rank, extent), whole = kit_chunk(back, p.dtype, rank, extent);
        kit_round_trip(&p, &chunk, 1, &coded);
        KIT_MUST(kit_decode(&cpu, &p, &whole, coded.block.data, coded.nbytes, NULL) == FLOE_OK);
        check_levels(&p, &coded, &whole);
        kit_block_free(&coded.block);
    }
}

/* Signs take turns where probes see nothing, since they look at every other value: the tuner's box lies elsewhere, and entropy chunks are
 * longer than 2 bytes can hold. */
static void wide_sizes(void **unused)
{
    enum { ROWS = 4096, ROW = 127 };
    static const uint64_t extent[] = {ROWS, ROW}, zero[] = {0, 0}, shape[] = {ROWS / 2, 64};
    static float data[ROWS * ROW], level[ROWS / 2 * 64], whole[ROWS * ROW];
    const floe_codec_params p = params_of(FLOE_F32, FLOE_PRESET_BALANCED, (mode){FLOE_BOUND_ABS, 1}, false);
    const floe_field chunk = kit_chunk(data, p.dtype, 2, extent), all = kit_chunk(whole, p.dtype, 2, extent),
                     out = kit_chunk(level, p.dtype, 2, shape);
    const floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
    floe_chunk_decode call = {.rank = 2, .extent = extent, .lo = zero, .hi = shape, .out = &out, .level = 1};
    kit_coded coded;
    (void)unused;
    for (uint64_t i = 0; i < ROWS * ROW; i++) {
        const uint64_t y = i / ROW, x = i % ROW;
        data[i] =
            y < 1900 ? (x + y) % 2 ? 25000 : -25000 : (float)(3000 * sin((double)y * 0.05) * sin((double)x * 0.05));
    }
    kit_round_trip(&p, &chunk, 1, &coded);
    assert_true(coded.block.data[FLOE_INTERP_FLAGS_AT] & FLOE_INTERP_FLAG_SIZES);
    KIT_MUST(kit_decode(&cpu, &p, &all, coded.block.data, coded.nbytes, NULL) == FLOE_OK);
    const uint64_t nbytes = level_nbytes(&p, &call, &coded);
    assert_int_equal(decode_call(&call, &p, coded.block.data, nbytes), FLOE_OK);
    for (uint64_t i = 0; i < ROWS / 2 * 64; i++)
        assert_memory_equal(&level[i], &whole[i / 64 * 254 + i % 64 * 2], sizeof(float));
    invert_bits(&p, &call, &coded, nbytes, 20);
    kit_block_free(&coded.block);
}

/* Any byte that is damaged or missing is found, and no value changes that is not reported as lost: fewer than that on the mean. */
static void check_damage(uint32_t rank, const uint64_t *extent, uint64_t eighths)
{
    static const uint64_t zero[FLOE_MAX_RANK];
    static float data[CELLS], back[CELLS], other[CELLS];
    static uint8_t lost[CELLS];
    uint64_t state = 3, nlost = 0, nparts = 0;
    for (uint64_t turn = 0; turn < 4; turn++) {
        const floe_codec_params p = params_of(FLOE_F32, presets[turn % 2], modes[0], turn & 2);
        const floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
        kit_coded coded;
        hostile_fill(p.dtype, HOSTILE_SMOOTH, CELLS, 0.25, p.fill_bits, turn, data);
        floe_field chunk = kit_chunk(data, p.dtype, rank, extent), whole = kit_chunk(back, p.dtype, rank, extent);
        const floe_field out = kit_chunk(other, p.dtype, rank, extent);
        kit_round_trip(&p, &chunk, 1, &coded);
        KIT_MUST(kit_decode(&cpu, &p, &whole, coded.block.data, coded.nbytes, NULL) == FLOE_OK);
        for (int k = 0; k < 200; k += FLOE_TEST_STRIDE) {
            uint8_t *first = coded.block.data + hostile_below(&state, coded.nbytes),
                    *byte = coded.block.data + hostile_below(&state, coded.nbytes), was = *byte, first_was = *first;
            losses l = {.rank = rank, .lost = lost};
            floe_chunk_decode call = {
                .rank = rank, .extent = extent, .lo = zero, .hi = extent, .out = &out, .lost = note_lost};
            memcpy(l.extent, extent, rank * sizeof *extent);
            call.user = &l;
            const uint64_t missing = k & 2 ? hostile_below(&state, coded.nbytes / 4) : 0;
            if (k & 1) /* a second place, often of raw bits, which states do not show */
                *first ^= (uint8_t)(1 << hostile_below(&state, 8));
            *byte ^= (uint8_t)(1 + hostile_below(&state, 255));
            memset(lost, 0, sizeof lost);
            const floe_status status = decode_call(&call, &p, coded.block.data, coded.nbytes - missing);
            *byte = was;
            *first = first_was;
            assert_true(status == FLOE_OK || status == FLOE_ERR_CHECKSUM || status == FLOE_ERR_FORMAT);
            for (uint64_t i = 0; i < CELLS && status == FLOE_OK; i++)
                assert_true(lost[i] || memcmp(&other[i], &back[i], sizeof(float)) == 0);
            nlost += status == FLOE_OK ? l.n : 0;
            nparts += status == FLOE_OK;
        }
        kit_block_free(&coded.block);
    }
    assert_true(nparts > 200 / FLOE_TEST_STRIDE && nlost < nparts * CELLS * eighths / 8);
}

static void damage_is_bounded(void **unused)
{
    static const uint64_t cube[] = {40, 60, 63}, turned[] = {252, 60, 10};
    (void)unused;
    check_damage(3, cube, 6);
    check_damage(3, turned, 7);
}

/* Of the finest step only entropy chunks that a box touches are decoded: the last one may be damaged. Two thirds of all values
 * at most are lost with it. */
static void check_box(uint32_t rank, const uint64_t *extent, const uint64_t *hi)
{
    static const uint64_t lo[FLOE_MAX_RANK];
    static float data[1 << 20], box[2][4 * 70 * 10];
    static uint8_t lost[1 << 20];
    const floe_codec_params p = params_of(FLOE_F32, presets[0], modes[0], false);
    const uint64_t n = kit_cells(rank, extent);
    losses l = {.rank = rank, .lost = lost};
    kit_coded coded;
    assert_true(n <= HOSTILE_COUNT(data) && kit_cells(rank, hi) <= HOSTILE_COUNT(box[0]));
    hostile_fill(p.dtype, HOSTILE_SMOOTH, n, 0.25, 0, 1, data);
    floe_field chunk = kit_chunk(data, p.dtype, rank, extent);
    kit_round_trip(&p, &chunk, 1, &coded);
    for (int i = 0; i < 2; i++) {
        const floe_field out = kit_chunk(box[i], p.dtype, rank, hi);
        floe_chunk_decode call = {.rank = rank, .extent = extent, .lo = lo, .hi = hi, .out = &out};
        KIT_MUST(decode_call(&call, &p, coded.block.data, coded.nbytes) == FLOE_OK);
        memset(coded.block.data + coded.nbytes - 50, 0x5A, 50);
    }
    assert_memory_equal(box[0], box[1], sizeof(float) * kit_cells(rank, hi));
    floe_chunk_decode all = {.rank = rank, .extent = extent, .lo = lo, .hi = extent, .out = &chunk};
    KIT_MUST(decode_call(&all, &p, coded.block.data, coded.nbytes) == FLOE_ERR_FORMAT);
    memcpy(l.extent, extent, rank * sizeof *extent);
    memset(lost, 0, n);
    all.lost = note_lost;
    all.user = &l;
    KIT_MUST(decode_call(&all, &p, coded.block.data, coded.nbytes) == FLOE_OK);
    assert_true(l.n > 0 && l.n <= n * 2 / 3);
    kit_block_free(&coded.block);
}

static void boxes_leave_chunks_out(void **unused)
{
    static const uint64_t extent[] = {24, 70, 90}, hi[] = {4, 70, 10}, row[] = {1 << 20}, begin[] = {2800},
                          rows[] = {5, 1 << 17}, corner[] = {2, 1000}, turned[] = {252, 60, 10}, plane[] = {20, 14, 2};
    (void)unused;
    check_box(3, extent, hi);
    check_box(1, row, begin);
    check_box(2, rows, corner);
    check_box(3, turned, plane);
}

/* Threads share the boxes of an estimate; the number is the same, and so is that of the structure that is found on the way. */
static void threads_share_boxes(void **unused)
{
    static const double of_bound[] = {1e-2, 1e-4};
    static float data[5 * 17 * 17 * 33];
    (void)unused;
    for (uint64_t turn = 0; turn < 4; turn++) {
        const floe_codec_ops *interp = floe_codec_of(FLOE_CODEC_INTERP);
        const floe_codec_params p =
            params_of(FLOE_F32, FLOE_PRESET_BALANCED, (mode){FLOE_BOUND_ABS, of_bound[turn % 2]}, false);
        floe_codec_boxes boxes = {.params = &p,
                                  .rank = 3,
                                  .n = 5,
                                  .few = 3,
                                  .share = 1,
                                  .shape = {100, 200, 300},
                                  .extent = {17, 17, 33},
                                  .data = data,
                                  .stride = {17 * 33, 33, 1},
                                  .enough = turn / 2 ? INFINITY : 0};
        double bits[8];
        hostile_fill(FLOE_F32, HOSTILE_SMOOTH, sizeof data / sizeof *data, 0.25, 0, turn, data);
        for (uint32_t i = 0; i < boxes.n; i++)
            boxes.at[i] = i * 17 * 17 * 33;
        for (uint32_t threads = 1; threads < 8; threads += 2) {
            const floe_cpu cpu = kit_cpu(threads, FLOE_ISA_AVX2);
            const kit_block *scratch = kit_scratch(interp->estimate_workspace(&cpu, &boxes));
            floe_arena arena = floe_arena_of(scratch->data, interp->estimate_workspace(&cpu, &boxes));
            floe_error err;
            KIT_MUST(interp->estimate(&cpu, &boxes, &arena, &bits[threads], &err) == FLOE_OK);
            KIT_MUST(bits[threads] > 0 && memcmp(&bits[threads], &bits[1], sizeof *bits) == 0);
            KIT_MUST(kit_block_intact(scratch));
        }
    }
}

/* An axis ends with level 0, the others begin with level 2: the tuner tries level 1 without a step. Counts of later levels begin at 0. */
static void a_level_without_a_step(void **unused)
{
    static const uint64_t extent[] = {7, 18};
    static float data[7 * 18];
    (void)unused;
    for (uint32_t turn = 0; turn < 162; turn += FLOE_TEST_STRIDE) {
        const floe_codec_params p = params_of(FLOE_F32, presets[turn % 2], modes[turn % 4], false);
        for (uint32_t i = 0; i < 7 * 18; i++) {
            const double wave = sin((turn % 9 + 1) * 0.05 * (i / 18)) + sin((turn / 9 % 9 + 1) * 0.1 * (i % 18) + 1);
            data[i] = (float)(wave * wave * wave);
        }
        const floe_field chunk = kit_chunk(data, FLOE_F32, 2, extent);
        kit_round_trip(&p, &chunk, 1, NULL);
    }
}

/* Whatever begins late or never, and wherever levels end. */
static void room_for_anchors(void **unused)
{
    uint64_t state = 5;
    (void)unused;
    for (int turn = 0; turn < 20000; turn++) {
        const uint8_t late = (uint8_t)(1 + hostile_below(&state, FLOE_INTERP_NEVER));
        floe_interp_structure s = floe_interp_structure_default();
        floe_interp_needs needs;
        floe_interp_plan plan;
        uint64_t shape[FLOE_LATTICE_RANK];
        uint32_t nearly = 0; /* axes that begin early */
        s.levels = 2 + (uint32_t)hostile_below(&state, 9);
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
            shape[a] = 1 + hostile_below(&state, turn % 3 == 0 ? 10 : turn % 3 == 1 || a ? 60 : 5000);
            s.start[a] = hostile_below(&state, 2) ? late : 0;
            nearly += s.start[a] == 0 && shape[a] > FLOE_LATTICE_ENDS;
        }
        if (nearly == 0) /* of which there is one, at least */
            memset(s.start, 0, sizeof s.start);
        floe_interp_needs_of(shape, &needs);
        floe_interp_plan_of(shape, &s, &plan);
        assert_true(floe_lattice_points(floe_interp_anchors_shape(&plan)) <= needs.lattice[1]);
    }
}

/* Channels with offsets of their own, which change slowly: few bytes for each channel, wherever channels lie. */
static void many_channels(void **unused)
{
    enum { TIMES = 600, CHANNELS = 300 };
    float *data = malloc(TIMES * CHANNELS * sizeof *data);
    (void)unused;
    for (int turn = 0; turn < 4; turn++) {
        const bool last = turn & 1;
        const uint64_t extent[] = {last ? TIMES : CHANNELS, last ? CHANNELS : TIMES};
        const floe_codec_params p = {.dtype = FLOE_F32,
                                     .codec = FLOE_CODEC_INTERP,
                                     .preset = turn & 2 ? FLOE_PRESET_BEST : FLOE_PRESET_BALANCED,
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
        assert_true(coded.nbytes < (p.preset == FLOE_PRESET_BEST ? 6 : 7) * CHANNELS);
        kit_block_free(&coded.block);
    }
    free(data);
}

/* Smooth fields at bounds of a millionth of the range and less. Codes of coarse levels do not fit into 16 bits: their lattice is anchors. */
static void tight_bounds(void **unused)
{
    static const struct {
        floe_dtype dtype;
        double bound, most; /* bits of a value */
        uint32_t rank;
        uint64_t extent[FLOE_MAX_RANK];
    } cases[] = {{FLOE_F32, 1e-6, 5, 3, {50, 64, 70}},
                 {FLOE_F64, 1e-7, 9, 3, {50, 64, 70}},
                 {FLOE_F64, 1e-8, 16, 2, {400, 500}}};
    static double data[224000], back[224000];
    const uint32_t ncases = FLOE_TEST_STRIDE > 7 ? 1 : HOSTILE_COUNT(cases); /* to threads all are alike */
    (void)unused;
    for (uint32_t i = 0; i < ncases; i++) {
        const floe_codec_params p =
            params_of(cases[i].dtype, presets[i % 2], (mode){FLOE_BOUND_ABS, cases[i].bound}, false);
        const uint64_t *n = cases[i].extent, ncells = kit_cells(cases[i].rank, n);
        const floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
        kit_coded coded;
        for (uint64_t k = 0; k < ncells; k++) {
            double v = 1;
            uint64_t left = k;
            for (uint32_t a = cases[i].rank; a-- > 0; left /= n[a])
                v *= sin((double)(left % n[a]) * (0.05 + 0.02 * a) + 1);
            if (cases[i].dtype == FLOE_F32)
                ((float *)(void *)data)[k] = (float)v;
            else
                data[k] = v;
        }
        const floe_field chunk = kit_chunk(data, cases[i].dtype, cases[i].rank, n);
        kit_round_trip(&p, &chunk, 1, &coded);
        assert_true(8 * (double)coded.nbytes < cases[i].most * (double)ncells);
        floe_field whole = kit_chunk(back, p.dtype, cases[i].rank, n);
        KIT_MUST(kit_decode(&cpu, &p, &whole, coded.block.data, coded.nbytes, NULL) == FLOE_OK);
        check_levels(&p, &coded, &whole);
        kit_block_free(&coded.block);
    }
}

/* Where values have one sign, the range of their logarithms is known: steps lose less to rounding. */
static void logarithms_of_known_range(void **unused)
{
    static const uint64_t extent[] = {30, 40, 50};
    static float data[30 * 40 * 50];
    (void)unused;
    for (uint32_t turn = 0; turn < 2; turn++) {
        floe_codec_params p = params_of(FLOE_F32, presets[turn], (mode){FLOE_BOUND_PWREL, 2e-5}, false);
        p.max_abs = 3;
        for (uint32_t i = 0; i < HOSTILE_COUNT(data); i++)
            data[i] = (float)((turn ? -2 : 2) +
                              0.9 * sin(i % 50 * 0.11) * sin(i / 50 % 40 * 0.07) * sin(i / 2000 * 0.05 + 1));
        const floe_field chunk = kit_chunk(data, FLOE_F32, 3, extent);
        const uint64_t unknown = kit_round_trip(&p, &chunk, 1, NULL);
        p.least_abs = 1;
        assert_true(kit_round_trip(&p, &chunk, 1, NULL) < unknown * 4 / 5);
    }
}

/* Each channel has an offset of its own: along them nothing is predicted, so levels that would not do there may stay. */
static void rough_along_an_axis(void **unused)
{
    static const uint64_t extent[] = {400, 90};
    static float data[400 * 90];
    (void)unused;
    for (uint32_t turn = 0; turn < 2; turn++) {
        const floe_codec_params p = params_of(FLOE_F32, presets[turn], (mode){FLOE_BOUND_ABS, 1e-3}, false);
        for (uint32_t i = 0; i < HOSTILE_COUNT(data); i++)
            data[i] = (float)(sin(i / 90 * 0.01) + 50 * sin(1e4 * (i % 90) + 1));
        const floe_field chunk = kit_chunk(data, FLOE_F32, 2, extent);
        assert_true(kit_round_trip(&p, &chunk, 1, NULL) < sizeof data / 20);
    }
}

/* A block of values that no code reaches, so that the tuner's structure leaves more than a quarter apart: the chunk is coded again. */
static void too_many_apart(void **unused)
{
    static const uint64_t extent[] = {48, 48, 48};
    static float data[48 * 48 * 48];
    const floe_codec_params p = params_of(FLOE_F32, FLOE_PRESET_BALANCED, (mode){FLOE_BOUND_ABS, 3}, false);
    (void)unused;
    for (uint32_t i = 0; i < HOSTILE_COUNT(data); i++) {
        const uint32_t x = i % 48, y = i / 48 % 48, z = i / 48 / 48;
        const double v = 1000 * sin(z * 0.11) * cos(y * 0.07 + 1) * sin(x * 0.13 + 0.3);
        data[i] = 5 * z < 2 * 48 && 5 * y < 2 * 48 ? 1e30f : (float)v;
    }
    const floe_field chunk = kit_chunk(data, FLOE_F32, 3, extent);
    assert_true(kit_round_trip(&p, &chunk, 1, NULL) < sizeof data / 5);
}

/* Small boxes of such a field hold few bits, and show nothing: choosing by them takes more bytes than preset fast. */
static void boxes_of_few_bits(void **unused)
{
    static const uint64_t extent[] = {20, 120, 150};
    static float data[20 * 120 * 150];
    uint64_t nbytes[2];
    (void)unused;
    assert_int_equal(synth_fill("turbulence", FLOE_F32, 3, extent, 0, 0, HOSTILE_COUNT(data), data), FLOE_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const floe_preset preset = i ? FLOE_PRESET_BALANCED : FLOE_PRESET_FAST;
        const floe_codec_params p = params_of(FLOE_F32, preset, (mode){FLOE_BOUND_ABS, 0.7}, false);
        const floe_field chunk = kit_chunk(data, FLOE_F32, 3, extent);
        nbytes[i] = kit_round_trip(&p, &chunk, 3, NULL);
    }
    assert_true(nbytes[1] * 20 < nbytes[0] * 19);
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
                                       cmocka_unit_test(wide_sizes),
                                       cmocka_unit_test(damage_is_bounded),
                                       cmocka_unit_test(boxes_leave_chunks_out),
                                       cmocka_unit_test(threads_share_boxes),
                                       cmocka_unit_test(a_level_without_a_step),
                                       cmocka_unit_test(tight_bounds),
                                       cmocka_unit_test(rough_along_an_axis),
                                       cmocka_unit_test(too_many_apart),
                                       cmocka_unit_test(boxes_of_few_bits),
                                       cmocka_unit_test(logarithms_of_known_range),
                                       cmocka_unit_test(room_for_anchors),
                                       cmocka_unit_test(many_channels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
