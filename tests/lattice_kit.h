/* SPDX-License-Identifier: BSD-3-Clause */
/* Codecs of lattices, interp and wavelet, there and back: shapes from one value on, of every rank, x modes x presets x hostile values;
 * every value is checked exactly, plain C on one thread against AVX2 on several byte for byte, boxes against the whole. LATTICE_CODEC
 * shows which; LATTICE_SHAPES and LATTICE_LARGE how many of the shapes are tried. */
#ifndef FLOE_TESTS_LATTICE_KIT_H
#define FLOE_TESTS_LATTICE_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KIT_FAIL fail_msg
#include "tests/codec_kit.h"
#include "tests/mutation_kit.h"

typedef struct mode {
    floe_bound_mode mode;
    double bound;
} mode;

static const mode modes[] = {{FLOE_BOUND_ABS, 0.25},  {FLOE_BOUND_ABS, 1e-3},    {FLOE_BOUND_PWREL, 1e-3},
                             {FLOE_BOUND_ABS, 0.03},  {FLOE_BOUND_PWREL, 0.25},  {FLOE_BOUND_ABS, 3e5},
                             {FLOE_BOUND_ABS, 1e-30}, {FLOE_BOUND_PWREL, 1e-14}, {FLOE_BOUND_LOSSLESS, 1},
                             {FLOE_BOUND_ABS, 1e-310}};
static const floe_preset presets[] = {FLOE_PRESET_BALANCED, FLOE_PRESET_BEST, FLOE_PRESET_FAST};
static const double fill_value = -9999.0;

static inline floe_codec_params params_of(floe_dtype dtype, floe_preset preset, mode m, bool has_fill)
{
    return (floe_codec_params){.dtype = dtype,
                               .codec = LATTICE_CODEC,
                               .preset = preset,
                               .mode = m.mode,
                               .bound = m.bound,
                               .max_abs = NAN,
                               .has_fill = has_fill,
                               .fill_bits = has_fill ? hostile_bits(dtype, fill_value) : 0};
}

/* A box of a chunk must be the same part of the whole. */
static inline void box_is_part(const floe_codec_params *p, const floe_field *chunk, const kit_coded *coded,
                               uint64_t *state)
{
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], box[FLOE_MAX_RANK], zero[FLOE_MAX_RANK] = {0};
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    const uint64_t n = kit_cells(chunk->rank, chunk->shape), size = floe_dtype_size(p->dtype);
    for (uint32_t a = 0; a < chunk->rank; a++) {
        lo[a] = hostile_below(state, chunk->shape[a]);
        hi[a] = lo[a] + 1 + hostile_below(state, chunk->shape[a] - lo[a]);
        box[a] = hi[a] - lo[a];
    }
    uint8_t *whole = malloc(n * size);
    kit_block part = kit_block_of(kit_cells(chunk->rank, box) * size);
    floe_field all = kit_chunk(whole, p->dtype, chunk->rank, chunk->shape);
    floe_field some = kit_chunk(part.data, p->dtype, chunk->rank, box);
    KIT_MUST(kit_decode_box(&cpu, p, chunk->rank, chunk->shape, coded->block.data, coded->nbytes, zero, chunk->shape,
                            &all, NULL) == FLOE_OK);
    KIT_MUST(kit_decode_box(&cpu, p, chunk->rank, chunk->shape, coded->block.data, coded->nbytes, lo, hi, &some,
                            NULL) == FLOE_OK);
    for (uint64_t i = 0; i < kit_cells(chunk->rank, box); i++) {
        uint64_t rest = i, at = 0, step = 1;
        for (uint32_t a = chunk->rank; a-- > 0; rest /= box[a], step *= chunk->shape[a])
            at += (lo[a] + rest % box[a]) * step;
        if (memcmp(part.data + i * size, whole + at * size, size) != 0)
            KIT_FAIL("value %llu of a box differs: %s", (unsigned long long)i, kit_describe(p, chunk));
    }
    kit_block_free(&part);
    free(whole);
}

static inline void one_field(floe_dtype dtype, uint32_t rank, const uint64_t *extent, uint64_t turn)
{
    const uint64_t n = kit_cells(rank, extent);
    const hostile_kind kind = turn % 3 ? (hostile_kind)(turn / 3 % HOSTILE_KINDS) : HOSTILE_SMOOTH;
    uint64_t state = turn;
    const mode m = modes[turn % HOSTILE_COUNT(modes)];
    const floe_codec_params p = params_of(dtype, presets[turn / 2 % 3], m, turn / 4 & 1);
    void *data = malloc((size_t)n * 8);
    kit_coded coded;
    hostile_fill(dtype, kind, n, 0.25, hostile_bits(dtype, fill_value), turn, data);
    floe_field chunk = kit_chunk(data, dtype, rank, extent);
    kit_round_trip(&p, &chunk, 1 + (uint32_t)(turn % 3), &coded);
    box_is_part(&p, &chunk, &coded, &state);
    kit_block_free(&coded.block);
    free(data);
}

static inline void shapes_of_every_rank(void **unused)
{
    uint64_t state = 9, turn = 0;
    (void)unused;
    for (uint64_t n = 1; n <= 70; n += FLOE_TEST_STRIDE > 7 ? 9 : 1) /* more: where only threads are looked at */
        for (int k = 0; k < (FLOE_TEST_STRIDE > 1 ? 2 : 4); k++)
            one_field(k & 1 ? FLOE_F64 : FLOE_F32, 1, &n, turn++);
    for (int k = 0; k < LATTICE_SHAPES; k += FLOE_TEST_STRIDE) {
        uint64_t extent[FLOE_MAX_RANK];
        const uint32_t rank = 2 + (uint32_t)(k % 3);
        for (uint32_t a = 0; a < rank; a++)
            extent[a] = 1 + hostile_below(&state, rank == 2 ? 70 : rank == 3 ? 40 : 14);
        one_field(k & 1 ? FLOE_F64 : FLOE_F32, rank, extent, turn++);
    }
}

/* Larger than a tile and an entropy chunk along each axis. */
static inline void large_shapes(void **unused)
{
    static const struct {
        uint32_t rank;
        uint64_t extent[FLOE_MAX_RANK];
    } shapes[] = {{1, {40000}},         {2, {130, 1500}}, {3, {24, 50, 90}},
                  {4, {9, 17, 18, 30}}, {2, {2000, 3}},   {3, {3, 1100, 5}}};
    (void)unused;
    for (uint64_t i = 0; i < LATTICE_LARGE * HOSTILE_COUNT(shapes); i += FLOE_TEST_STRIDE)
        one_field(i & 1 ? FLOE_F64 : FLOE_F32, shapes[i % HOSTILE_COUNT(shapes)].rank,
                  shapes[i % HOSTILE_COUNT(shapes)].extent, 3 * i + (i >= 3 * HOSTILE_COUNT(shapes)));
}

/* Every kind of values in a field that is cut in tiles, with each mode. */
static inline void kinds_and_modes(void **unused)
{
    (void)unused;
    for (uint64_t m = 0; m < HOSTILE_COUNT(modes); m++)
        for (int kind = (int)m % FLOE_TEST_STRIDE; kind < HOSTILE_KINDS; kind += FLOE_TEST_STRIDE) {
            static double data[5 * 18 * 34];
            const uint64_t extent[] = {5, 18, 34};
            const floe_dtype dtype = (m + (uint64_t)kind) & 1 ? FLOE_F64 : FLOE_F32;
            floe_codec_params p = params_of(dtype, presets[kind % 3], modes[m], kind & 2);
            hostile_fill(dtype, (hostile_kind)kind, 5 * 18 * 34, 0.25, hostile_bits(dtype, fill_value), m, data);
            floe_field chunk = kit_chunk(data, dtype, 3, extent);
            p.max_abs = kind & 4 ? NAN : 1e4;
            kit_round_trip(&p, &chunk, 2, NULL);
        }
}

/* The error that encoding would leave, never too small. */
static inline void squared_errors(void **unused)
{
    static float data[10 * 20 * 40], back[10 * 20 * 40];
    const uint64_t extent[] = {10, 20, 40};
    (void)unused;
    for (int kind = 0; kind < HOSTILE_KINDS; kind += FLOE_TEST_STRIDE) {
        const floe_codec_params p = params_of(FLOE_F32, FLOE_PRESET_BALANCED, modes[kind % 2], false);
        const floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
        double sum = 0, true_sum = 0;
        kit_coded coded;
        hostile_fill(FLOE_F32, (hostile_kind)kind, 10 * 20 * 40, 0.25, 0, 5, data);
        floe_field chunk = kit_chunk(data, FLOE_F32, 3, extent), out = kit_chunk(back, FLOE_F32, 3, extent);
        kit_round_trip(&p, &chunk, 1, &coded);
        KIT_MUST(kit_decode(&cpu, &p, &out, coded.block.data, coded.nbytes, NULL) == FLOE_OK);
        kit_block *scratch = kit_scratch(floe_codec_of(p.codec)->workspace(&cpu, &p, 3, extent));
        floe_arena arena = floe_arena_of(scratch->data, scratch->nbytes);
        const floe_chunk_encode call = {.cpu = &cpu, .params = &p, .chunk = &chunk, .scratch = &arena};
        KIT_MUST(floe_codec_of(p.codec)->squared_error(&call, &sum, NULL) == FLOE_OK);
        for (int i = 0; i < 10 * 20 * 40; i++)
            if (isfinite(data[i]))
                true_sum += ((double)data[i] - (double)back[i]) * ((double)data[i] - (double)back[i]);
        assert_true(sum >= true_sum * (1 - 1e-6));
        kit_block_free(&coded.block);
    }
}

/* A bound below the least f32 is 0 there: no value has an error, and none counts. */
static inline void squared_errors_of_no_bound(void **unused)
{
    const uint64_t extent[] = {15, 29, 27};
    const floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
    double sum = 1;
    static float data[15 * 29 * 27];
    (void)unused;
    for (int i = 0; i < 15 * 29 * 27; i++)
        data[i] = (float)(i / 783 + i / 27 % 29) * 0x1p-149F;
    const floe_codec_params p = params_of(FLOE_F32, FLOE_PRESET_BALANCED, (mode){FLOE_BOUND_ABS, 1e-50}, false);
    floe_field chunk = kit_chunk(data, FLOE_F32, 3, extent);
    kit_block *scratch = kit_scratch(floe_codec_of(p.codec)->workspace(&cpu, &p, 3, extent));
    floe_arena arena = floe_arena_of(scratch->data, scratch->nbytes);
    const floe_chunk_encode call = {.cpu = &cpu, .params = &p, .chunk = &chunk, .scratch = &arena};
    KIT_MUST(floe_codec_of(p.codec)->squared_error(&call, &sum, NULL) == FLOE_OK);
    assert_true(sum == 0);
}

/* By both instruction sets: the same status and values, and nothing beside the box. */
static inline bool decode_damaged(const floe_codec_params *p, const uint64_t *extent, const mutant *m)
{
    static const uint64_t lo[] = {1, 2, 3}, zero[] = {0, 0, 0};
    const uint64_t box[] = {extent[0] - 2, extent[1] - 3, extent[2] - 5};
    const bool part = m->nbytes % 3 == 0;
    const uint64_t hi[] = {lo[0] + box[0], lo[1] + box[1], lo[2] + box[2]};
    const uint64_t nbytes = kit_cells(3, part ? box : extent) * floe_dtype_size(p->dtype);
    uint8_t *exact = malloc(m->nbytes ? (size_t)m->nbytes : 1);
    kit_block out[2];
    floe_status status[2];
    memcpy(exact, m->data, (size_t)m->nbytes);
    for (int isa = 0; isa < 2; isa++) {
        const floe_cpu cpu = kit_cpu(1, isa ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN);
        out[isa] = kit_block_of(nbytes);
        floe_field field = kit_chunk(out[isa].data, p->dtype, 3, part ? box : extent);
        status[isa] =
            kit_decode_box(&cpu, p, 3, extent, exact, m->nbytes, part ? lo : zero, part ? hi : extent, &field, NULL);
        assert_true(status[isa] == FLOE_OK || status[isa] == FLOE_ERR_FORMAT);
    }
    assert_int_equal(status[0], status[1]);
    assert_true(status[0] != FLOE_OK || memcmp(out[0].data, out[1].data, (size_t)nbytes) == 0);
    for (int isa = 0; isa < 2; isa++)
        kit_block_free(&out[isa]);
    free(exact);
    return status[0] == FLOE_OK;
}

static inline void damaged_chunks(void **unused)
{
    static const uint64_t extent[] = {7, 14, 19};
    static double data[7 * 14 * 19];
    const uint64_t count = 3000 / FLOE_TEST_STRIDE;
    uint64_t state = 11, ngood = 0;
    mutant m = {NULL, 0, 0};
    (void)unused;
    for (uint64_t i = 0; i < 12; i++) {
        const floe_codec_params p = params_of(i & 1 ? FLOE_F64 : FLOE_F32, presets[i % 2], modes[i % 4], i & 4);
        kit_coded coded;
        hostile_fill(p.dtype, i < 6 ? HOSTILE_SMOOTH : HOSTILE_PATCHES, 7 * 14 * 19, 0.25, p.fill_bits, i, data);
        floe_field chunk = kit_chunk(data, p.dtype, 3, extent);
        kit_round_trip(&p, &chunk, 1, &coded);
        for (uint64_t k = 0; k < count / 12; k++) {
            mutant_set(&m, coded.block.data, coded.nbytes);
            for (uint64_t n = 1 + hostile_below(&state, 3); n > 0; n--)
                damage_blindly(&m, &state);
            if (m.nbytes > 60 && k % 2) /* the header, and what follows it */
                m.data[hostile_below(&state, 60)] ^= (uint8_t)(1u << hostile_below(&state, 8));
            ngood += decode_damaged(&p, extent, &m);
        }
        kit_block_free(&coded.block);
    }
    assert_in_range(ngood, 1, count - 1);
    free(m.data);
}

/* ---- levels and damage ---------------------------------------------------------------------------------------------------- */

/* out: of the box, or of the level. src has exactly nbytes. */
static inline floe_status decode_call(floe_chunk_decode *call, const floe_codec_params *p, const uint8_t *src,
                                      uint64_t nbytes)
{
    const floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
    uint8_t *exact = malloc(nbytes);
    memcpy(exact, src, nbytes);
    call->cpu = &cpu;
    call->codec = p->codec;
    call->dtype = p->dtype;
    call->src = exact;
    call->nbytes = nbytes;
    const size_t least = floe_codec_of(p->codec)->decode_scratch(call);
    kit_block *scratch = kit_scratch(least);
    floe_arena arena = floe_arena_of(scratch->data, scratch->nbytes);
    call->scratch = &arena;
    const floe_status status = floe_codec_of(p->codec)->decode(call, NULL);
    assert_true(kit_block_intact(scratch));
    assert_true(status != FLOE_OK ||
                least <= floe_codec_of(p->codec)->decode_workspace(&cpu, p->dtype, call->rank, call->extent));
    free(exact);
    return status;
}

/* Bytes that a level takes, found with no more than it reports to need. */
static inline uint64_t level_nbytes(const floe_codec_params *p, floe_chunk_decode *call, const kit_coded *coded)
{
    uint64_t have = 0, nbytes = 1;
    call->codec = p->codec;
    call->dtype = p->dtype;
    call->nbytes = coded->nbytes;
    while (nbytes > have) {
        uint8_t *part = malloc(nbytes);
        have = nbytes;
        memcpy(part, coded->block.data, have);
        call->src = part;
        KIT_MUST(floe_codec_of(p->codec)->level_nbytes(call, have, &nbytes, NULL) == FLOE_OK);
        free(part);
    }
    return nbytes;
}

/* One bit after another of the bytes that a level takes: each is found. */
static inline void invert_bits(const floe_codec_params *p, floe_chunk_decode *call, const kit_coded *coded,
                               uint64_t nbytes, uint32_t n)
{
    uint64_t state = 5;
    for (uint32_t k = 0; k < n; k++) {
        uint8_t *byte = coded->block.data + hostile_below(&state, nbytes);
        const uint8_t bit = (uint8_t)(1 << hostile_below(&state, 8));
        *byte ^= bit;
        const floe_status status = decode_call(call, p, coded->block.data, nbytes);
        assert_true(status == FLOE_ERR_CHECKSUM || status == FLOE_ERR_FORMAT);
        *byte ^= bit;
    }
}

static inline void damaged_levels(void **unused)
{
    static const uint64_t extent[] = {24, 70, 90}, zero[] = {0, 0, 0}, shape[] = {12, 35, 45};
    static float data[24 * 70 * 90], level[12 * 35 * 45];
    (void)unused;
    for (uint64_t turn = 0; turn < 2; turn++) {
        const floe_codec_params p = params_of(FLOE_F32, presets[turn], modes[1], false);
        const floe_field chunk = kit_chunk(data, p.dtype, 3, extent), out = kit_chunk(level, p.dtype, 3, shape);
        floe_chunk_decode call = {.rank = 3, .extent = extent, .lo = zero, .hi = shape, .out = &out, .level = 1};
        kit_coded coded;
        hostile_fill(p.dtype, HOSTILE_SMOOTH, 24 * 70 * 90, 0.25, p.fill_bits, turn, data);
        kit_round_trip(&p, &chunk, 1, &coded);
        const uint64_t nbytes = level_nbytes(&p, &call, &coded);
        invert_bits(&p, &call, &coded, nbytes, 300 / FLOE_TEST_STRIDE);
        assert_int_equal(decode_call(&call, &p, coded.block.data, nbytes), FLOE_OK);
        kit_block_free(&coded.block);
    }
}

#endif
