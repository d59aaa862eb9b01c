/* SPDX-License-Identifier: BSD-3-Clause */
/* Codecs on arrays of any strides, on parts of chunks, in buffers that just suffice, and in buffers that do not. */
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

static const shape shapes[] = {{1, {9000}},         {2, {70, 140}},      {2, {500, 3}},       {3, {18, 19, 40}},
                               {3, {5, 40, 8}},     {4, {3, 5, 17, 33}}, {4, {17, 3, 5, 40}}, {4, {4, 6, 10, 5}},
                               {4, {2, 1, 20, 35}}, {3, {1, 33, 1}},     {4, {9, 9, 9, 9}},   {1, {1}}};

static floe_codec_params params_of(uint64_t pick)
{
    static const floe_bound_mode modes[] = {FLOE_BOUND_ABS, FLOE_BOUND_PWREL, FLOE_BOUND_LOSSLESS};
    return (floe_codec_params){.dtype = pick & 1 ? FLOE_F64 : FLOE_F32,
                               .codec = FLOE_CODEC_LORENZO,
                               .preset = pick & 2 ? FLOE_PRESET_FAST : FLOE_PRESET_BALANCED,
                               .mode = modes[pick / 4 % 3],
                               .bound = 0.01,
                               .max_abs = NAN};
}

/* ---- strides ----------------------------------------------------------------------------------------------------- */

/* The same values laid out otherwise: axes in any order, with gaps, forwards or backwards. */
typedef struct layout {
    floe_field field;
    uint64_t *memory; /* room for elements of either type */
    uint64_t nelems;  /* of memory */
} layout;

static layout layout_of(floe_dtype dtype, const shape *s, uint64_t *state)
{
    layout l = {.field = floe_field_of(NULL, dtype, s->rank, s->extent)};
    uint32_t order[FLOE_MAX_RANK] = {0, 1, 2, 3};
    int64_t stride = 1 + (int64_t)hostile_below(state, 3), origin = 0;
    for (uint32_t i = s->rank; i-- > 1;) {
        uint32_t j = (uint32_t)hostile_below(state, i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (uint32_t i = 0; i < s->rank; i++) {
        uint32_t axis = order[i];
        bool backwards = hostile_below(state, 3) == 0;
        l.field.stride[axis] = backwards ? -stride : stride;
        origin += backwards ? stride * ((int64_t)s->extent[axis] - 1) : 0;
        stride = stride * (int64_t)s->extent[axis] + (int64_t)hostile_below(state, 4);
    }
    l.nelems = (uint64_t)stride + 8;
    l.memory = malloc((size_t)l.nelems * 8);
    memset(l.memory, 0x6B, (size_t)l.nelems * 8);
    l.field.data = (char *)l.memory + origin * (int64_t)floe_dtype_size(dtype);
    return l;
}

/* Place of element i (C order) of a box in a field. */
static int64_t place_of(const floe_field *f, uint64_t i)
{
    int64_t at = 0;
    for (uint32_t a = f->rank; a-- > 0; i /= f->shape[a])
        at += (int64_t)(i % f->shape[a]) * f->stride[a];
    return at;
}

static void copy_in(const layout *l, const void *data)
{
    const uint64_t n = kit_cells(l->field.rank, l->field.shape);
    for (uint64_t i = 0; i < n; i++)
        hostile_put(l->field.dtype, l->field.data, place_of(&l->field, i),
                    hostile_get(l->field.dtype, data, (int64_t)i));
}

/* Holds exactly these values, and nothing but gaps beside. Destroys the values. */
static void holds(const layout *l, const void *data)
{
    const uint64_t n = kit_cells(l->field.rank, l->field.shape);
    const uint64_t gap = 0x6B6B6B6B6B6B6B6Bu;
    for (uint64_t i = 0; i < n; i++) {
        assert_true(hostile_get(l->field.dtype, l->field.data, place_of(&l->field, i)) ==
                    hostile_get(l->field.dtype, data, (int64_t)i));
        hostile_put(l->field.dtype, l->field.data, place_of(&l->field, i), gap);
    }
    for (uint64_t i = 0; i < l->nelems; i++)
        assert_true(l->memory[i] == gap);
}

static void strides_change_nothing(void **unused)
{
    uint64_t state = 5;
    (void)unused;
    for (uint64_t round = 0; round < 12 * HOSTILE_COUNT(shapes); round++) {
        const shape *s = &shapes[round % HOSTILE_COUNT(shapes)];
        const floe_codec_params p = params_of(round / HOSTILE_COUNT(shapes));
        const floe_cpu cpu = kit_cpu(1, round & 1 ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN);
        const uint64_t n = kit_cells(s->rank, s->extent), bound = floe_codec_of(p.codec)->bound(&p, s->rank, s->extent);
        void *data = malloc((size_t)n * 8);
        hostile_fill(p.dtype, round % 3 ? HOSTILE_WALK : HOSTILE_PATCHES, n, p.bound, 0, round, data);
        floe_field chunk = kit_chunk(data, p.dtype, s->rank, s->extent);
        kit_coded plain, strided;
        kit_block out = {NULL, 0};
        kit_round_trip(&p, &chunk, 1, &plain);
        kit_decode_same(&cpu, &p, &chunk, &plain, &out);
        layout from = layout_of(p.dtype, s, &state), to = layout_of(p.dtype, s, &state);
        copy_in(&from, data);
        assert_int_equal(kit_encode(&cpu, &p, &from.field, bound, &strided), FLOE_OK);
        kit_compare(&p, &from.field, &plain, &strided, "a strided chunk");
        holds(&from, data); /* encoding writes nothing */
        assert_int_equal(kit_decode(&cpu, &p, &to.field, plain.block.data, plain.nbytes, NULL), FLOE_OK);
        holds(&to, out.data);
        free(from.memory);
        free(to.memory);
        free(data);
        kit_block_free(&plain.block);
        kit_block_free(&strided.block);
        kit_block_free(&out);
    }
}

/* Walks backwards through the same memory: a mirror is another field with the same values. */
static void negative_strides_reach_every_axis(void **unused)
{
    const shape s = {3, {9, 21, 35}};
    const int64_t whole[] = {735, 35, 1};
    static float data[9 * 21 * 35], mirrored[9 * 21 * 35];
    (void)unused;
    hostile_fill(FLOE_F32, HOSTILE_NOISE, 9 * 21 * 35, 0.01, 0, 1, data);
    for (uint32_t flips = 1; flips < 8; flips++) {
        floe_field f = kit_chunk(data, FLOE_F32, 3, s.extent);
        int64_t origin = 0;
        for (uint32_t a = 0; a < 3; a++)
            if (flips >> a & 1) {
                f.stride[a] = -whole[a];
                origin += whole[a] * ((int64_t)s.extent[a] - 1);
            }
        f.data = data + origin;
        for (uint64_t i = 0; i < 9 * 21 * 35; i++)
            mirrored[i] = data[origin + place_of(&f, i)];
        floe_field g = kit_chunk(mirrored, FLOE_F32, 3, s.extent);
        floe_codec_params p = params_of(0);
        const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
        kit_coded a, b;
        kit_round_trip(&p, &g, 1, &a);
        assert_int_equal(kit_encode(&cpu, &p, &f, 1 << 20, &b), FLOE_OK);
        kit_compare(&p, &f, &a, &b, "a mirror");
        kit_block_free(&a.block);
        kit_block_free(&b.block);
    }
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

static void random_box(const shape *s, uint64_t *state, uint64_t *lo, uint64_t *hi)
{
    for (uint32_t a = 0; a < s->rank; a++) {
        uint64_t x = hostile_below(state, s->extent[a]), y = hostile_below(state, s->extent[a]);
        lo[a] = x < y ? x : y;
        hi[a] = (x < y ? y : x) + 1;
        if (hostile_below(state, 8) == 0) {
            lo[a] = 0;
            hi[a] = s->extent[a];
        }
    }
}

/* One box into a strided array, against the same cells of the whole. */
static void check_box(const floe_cpu *cpu, const floe_codec_params *p, const shape *s, const kit_coded *coded,
                      const floe_field *whole, uint64_t *state)
{
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    shape box = {s->rank, {0}};
    int64_t origin = 0;
    random_box(s, state, lo, hi);
    for (uint32_t a = 0; a < s->rank; a++) {
        box.extent[a] = hi[a] - lo[a];
        origin += (int64_t)lo[a] * whole->stride[a];
    }
    layout l = layout_of(p->dtype, &box, state);
    assert_int_equal(
        kit_decode_box(cpu, p, s->rank, s->extent, coded->block.data, coded->nbytes, lo, hi, &l.field, NULL), FLOE_OK);
    const uint64_t n = kit_cells(box.rank, box.extent);
    floe_field part = *whole;
    memcpy(part.shape, box.extent, sizeof box.extent);
    void *want = malloc((size_t)n * 8);
    for (uint64_t i = 0; i < n; i++)
        hostile_put(p->dtype, want, (int64_t)i, hostile_get(p->dtype, whole->data, origin + place_of(&part, i)));
    holds(&l, want);
    free(want);
    free(l.memory);
}

static void boxes_are_parts_of_the_whole(void **unused)
{
    uint64_t state = 6;
    (void)unused;
    for (uint64_t round = 0; round < 12 * HOSTILE_COUNT(shapes); round++) {
        const shape *s = &shapes[round % HOSTILE_COUNT(shapes)];
        floe_codec_params p = params_of(round / HOSTILE_COUNT(shapes));
        const floe_cpu cpu = kit_cpu(1, round & 1 ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN);
        const uint64_t n = kit_cells(s->rank, s->extent);
        void *data = malloc((size_t)n * 8);
        const hostile_kind kinds[] = {HOSTILE_PATCHES, HOSTILE_FEW, HOSTILE_BITS, HOSTILE_SIGNS};
        hostile_fill(p.dtype, kinds[round % 4], n, p.bound, 0, round, data);
        floe_field chunk = kit_chunk(data, p.dtype, s->rank, s->extent);
        kit_coded coded;
        kit_block out = {NULL, 0};
        kit_round_trip(&p, &chunk, 1, &coded);
        kit_decode_same(&cpu, &p, &chunk, &coded, &out);
        floe_field whole = kit_chunk(out.data, p.dtype, s->rank, s->extent);
        for (int k = 0; k < 12; k++)
            check_box(&cpu, &p, s, &coded, &whole, &state);
        free(data);
        kit_block_free(&coded.block);
        kit_block_free(&out);
    }
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

/* Exactly the bytes that it takes suffice; with one less nothing is written past the end, and the status reports it. */
static void capacity_is_kept_to_the_byte(void **unused)
{
    (void)unused;
    for (uint64_t round = 0; round < 12 * HOSTILE_COUNT(shapes); round++) {
        const shape *s = &shapes[round % HOSTILE_COUNT(shapes)];
        floe_codec_params p = params_of(round / HOSTILE_COUNT(shapes));
        const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
        const uint64_t n = kit_cells(s->rank, s->extent);
        void *data = malloc((size_t)n * 8);
        hostile_fill(p.dtype, (hostile_kind)(round % HOSTILE_KINDS), n, p.bound, 0, round, data);
        floe_field chunk = kit_chunk(data, p.dtype, s->rank, s->extent);
        kit_coded all, just, less;
        kit_round_trip(&p, &chunk, 1, &all);
        assert_int_equal(kit_encode(&cpu, &p, &chunk, all.nbytes, &just), FLOE_OK);
        kit_compare(&p, &chunk, &all, &just, "a tight buffer");
        const uint64_t capacities[] = {all.nbytes - 1, all.nbytes / 2, 63, 0};
        for (size_t k = 0; k < HOSTILE_COUNT(capacities); k++) {
            assert_int_equal(kit_encode(&cpu, &p, &chunk, capacities[k], &less), FLOE_ERR_CAPACITY);
            kit_block_free(&less.block);
        }
        free(data);
        kit_block_free(&all.block);
        kit_block_free(&just.block);
    }
}

/* What cannot be compressed is not blown up: noise in every bit stays below the bound, whatever the mode. */
static void noise_stays_below_the_bound(void **unused)
{
    static const shape worst[] = {{1, {1}},          {1, {2}},           {1, {8193}},
                                  {2, {65, 129}},    {2, {300, 2}},      {3, {17, 17, 33}},
                                  {4, {3, 3, 3, 9}}, {4, {33, 2, 2, 2}}, {1, {65536}}};
    static double data[65536];
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(worst); i++)
        for (uint64_t pick = 0; pick < 12; pick++)
            for (int kind = 0; kind < 3; kind++) {
                const hostile_kind kinds[] = {HOSTILE_BITS, HOSTILE_SPECIAL, HOSTILE_LIMITS};
                floe_codec_params p = params_of(pick);
                hostile_fill(p.dtype, kinds[kind], kit_cells(worst[i].rank, worst[i].extent), p.bound, 0, i, data);
                floe_field chunk = kit_chunk(data, p.dtype, worst[i].rank, worst[i].extent);
                kit_coded coded;
                kit_round_trip(&p, &chunk, 1, &coded); /* checks the bound */
                kit_block_free(&coded.block);
            }
}

static floe_status encode_with(const floe_codec_params *p, const floe_cpu *cpu, const floe_field *chunk,
                               floe_arena *scratch, kit_block *dst, uint64_t *nbytes)
{
    floe_chunk_stats stats;
    floe_error err;
    const floe_chunk_encode call = {cpu, p, chunk, scratch, dst->data, dst->nbytes, nbytes, &stats};
    return floe_codec_of(p->codec)->encode(&call, &err);
}

/* The whole chunk. */
static floe_status decode_with(const floe_codec_params *p, const floe_cpu *cpu, const floe_field *out,
                               floe_arena *scratch, const kit_block *src, uint64_t nbytes)
{
    const uint64_t lo[FLOE_MAX_RANK] = {0};
    floe_error err;
    const floe_chunk_decode call = {.cpu = cpu,
                                    .codec = p->codec,
                                    .dtype = p->dtype,
                                    .rank = out->rank,
                                    .extent = out->shape,
                                    .src = src->data,
                                    .nbytes = nbytes,
                                    .lo = lo,
                                    .hi = out->shape,
                                    .out = out,
                                    .scratch = scratch};
    return floe_codec_of(p->codec)->decode(&call, &err);
}

/* The workspace is as small as it claims: a line of the cache less is too little, and is found to be. */
static void workspace_is_needed_and_suffices(void **unused)
{
    static float data[20000], back[20000];
    (void)unused;
    for (uint64_t pick = 0; pick < 12; pick++)
        for (uint32_t threads = 1; threads <= 3; threads++) {
            floe_codec_params p = params_of(pick & ~(uint64_t)1);
            const uint64_t extent[] = {20, 25, 40};
            const floe_cpu cpu = kit_cpu(threads, FLOE_ISA_AVX2);
            hostile_fill(p.dtype, HOSTILE_WALK, 20000, p.bound, 0, pick, data);
            floe_field chunk = kit_chunk(data, p.dtype, 3, extent), out = kit_chunk(back, p.dtype, 3, extent);
            size_t nscratch = floe_codec_of(p.codec)->workspace(&cpu, &p, 3, extent);
            kit_block dst = kit_block_of(floe_codec_of(p.codec)->bound(&p, 3, extent));
            uint8_t *scratch = aligned_alloc(64, nscratch); /* nothing around it: for the sanitizer */
            uint64_t nbytes;
            floe_arena arena = floe_arena_of(scratch, nscratch), less = floe_arena_of(scratch, 64), none = {0};
            assert_int_equal(encode_with(&p, &cpu, &chunk, &arena, &dst, &nbytes), FLOE_OK);
            assert_int_equal(encode_with(&p, &cpu, &chunk, &less, &dst, &nbytes), FLOE_ERR_MEMORY);
            assert_int_equal(encode_with(&p, &cpu, &chunk, &none, &dst, &nbytes), FLOE_ERR_MEMORY);
            arena = floe_arena_of(scratch, nscratch);
            assert_int_equal(encode_with(&p, &cpu, &chunk, &arena, &dst, &nbytes), FLOE_OK);
            arena = floe_arena_of(scratch, nscratch);
            less = floe_arena_of(scratch, 64);
            assert_int_equal(decode_with(&p, &cpu, &out, &arena, &dst, nbytes), FLOE_OK);
            assert_int_equal(decode_with(&p, &cpu, &out, &less, &dst, nbytes), FLOE_ERR_MEMORY);
            free(scratch);
            kit_block_free(&dst);
        }
}

/* Every prefix of a chunk, and every chunk with more behind it, is refused. */
static void a_chunk_has_one_length(void **unused)
{
    static double data[3000], back[3000];
    const uint64_t extent[] = {30, 100};
    (void)unused;
    for (uint64_t pick = 0; pick < 12; pick++) {
        floe_codec_params p = params_of(pick);
        const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
        hostile_fill(p.dtype, pick & 1 ? HOSTILE_FEW : HOSTILE_WALK, 3000, p.bound, 0, pick, data);
        floe_field chunk = kit_chunk(data, p.dtype, 2, extent), out = kit_chunk(back, p.dtype, 2, extent);
        kit_coded coded;
        floe_error err;
        kit_round_trip(&p, &chunk, 1, &coded);
        for (uint64_t n = 0; n < coded.nbytes + 8; n += n + 100 < coded.nbytes && n > 200 ? 37 : 1)
            if (n != coded.nbytes) {
                uint8_t *copy = malloc(n ? (size_t)n : 1);
                memcpy(copy, coded.block.data, (size_t)(n < coded.nbytes ? n : coded.nbytes));
                assert_int_equal(kit_decode(&cpu, &p, &out, copy, n, &err), FLOE_ERR_FORMAT);
                free(copy);
            }
        kit_block_free(&coded.block);
    }
}

static void sizes_that_overflow_are_said(void **unused)
{
    const uint64_t huge[][4] = {{UINT64_MAX, 2, 1, 1}, {1ull << 32, 1ull << 32, 1, 1}, {1ull << 31, 1ull << 31, 9, 9}};
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_PLAIN);
    (void)unused;
    for (size_t i = 0; i < HOSTILE_COUNT(huge); i++)
        for (uint64_t pick = 0; pick < 12; pick++) {
            floe_codec_params p = params_of(pick);
            assert_int_equal(floe_codec_of(p.codec)->bound(&p, 4, huge[i]), 0);
            assert_int_equal(floe_codec_of(p.codec)->workspace(&cpu, &p, 4, huge[i]), 0);
        }
}

/* ---- what psnr requests ---------------------------------------------------------------------------------------------- */

/* The squared error that is foretold is that of the decoded values. */
static void squared_error_is_foretold(void **unused)
{
    static double data[9000], back[9000];
    (void)unused;
    for (uint64_t pick = 0; pick < 12; pick++)
        for (size_t i = 0; i < HOSTILE_COUNT(shapes); i++) {
            floe_codec_params p = params_of(pick);
            const shape *s = &shapes[i];
            const uint64_t n = kit_cells(s->rank, s->extent);
            if (n > 9000)
                continue;
            const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
            hostile_fill(p.dtype, HOSTILE_NOISE, n, p.bound, 0, i, data);
            floe_field chunk = kit_chunk(data, p.dtype, s->rank, s->extent),
                       out = kit_chunk(back, p.dtype, s->rank, s->extent);
            kit_coded coded;
            double foretold, sum = 0;
            kit_round_trip(&p, &chunk, 1, &coded);
            size_t nscratch = floe_codec_of(p.codec)->workspace(&cpu, &p, s->rank, s->extent);
            floe_arena arena = floe_arena_of(kit_scratch(nscratch)->data, nscratch);
            const floe_chunk_encode call = {.cpu = &cpu, .params = &p, .chunk = &chunk, .scratch = &arena};
            assert_int_equal(floe_codec_of(p.codec)->squared_error(&call, &foretold, NULL), FLOE_OK);
            assert_int_equal(kit_decode(&cpu, &p, &out, coded.block.data, coded.nbytes, NULL), FLOE_OK);
            for (uint64_t k = 0; k < n; k++) {
                double e = hostile_value(p.dtype, hostile_get(p.dtype, data, (int64_t)k)) -
                           hostile_value(p.dtype, hostile_get(p.dtype, back, (int64_t)k));
                sum += e * e;
            }
            /* tiles stored raw leave none: there may be less than foretold, never more */
            bool no_more = sum <= foretold * (1 + 1e-9);
            if (!no_more || (s->rank == 1 && n > 1 && p.mode != FLOE_BOUND_LOSSLESS && foretold > sum * (1 + 1e-9)))
                fail_msg("foretold %g, is %g: %s", foretold, sum, kit_describe(&p, &chunk));
            kit_block_free(&coded.block);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_change_nothing),       cmocka_unit_test(negative_strides_reach_every_axis),
        cmocka_unit_test(boxes_are_parts_of_the_whole), cmocka_unit_test(capacity_is_kept_to_the_byte),
        cmocka_unit_test(noise_stays_below_the_bound),  cmocka_unit_test(workspace_is_needed_and_suffices),
        cmocka_unit_test(a_chunk_has_one_length),       cmocka_unit_test(sizes_that_overflow_are_said),
        cmocka_unit_test(squared_error_is_foretold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
