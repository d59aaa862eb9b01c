/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damaged streams by the thousand, a fixed sequence of them: no decoder may crash, write beside its buffers, take memory
 * beyond the limit, or take long; and plain C and AVX2 must agree on what each damaged stream means.
 *
 *     mutation_test            a few thousand streams a decoder
 *     FLOE_MUTATIONS=200000 mutation_test
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#define KIT_FAIL fail_msg
#include "call/ctx.h"
#include "tests/codec_kit.h"
#include "tests/mutation_kit.h"

enum { DEFAULT_COUNT = 8000 };

static uint64_t count_wanted(void)
{
    const char *text = getenv("FLOE_MUTATIONS");
    return text ? strtoull(text, NULL, 10) : DEFAULT_COUNT;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What became of the streams of one decoder. */
typedef struct tally {
    uint64_t ndecoded, nrefused;
    double slowest;
} tally;

static void tally_add(tally *t, bool decoded, double began)
{
    double took = seconds() - began;
    t->ndecoded += decoded;
    t->nrefused += !decoded;
    t->slowest = took > t->slowest ? took : t->slowest;
    if (took > 5)
        fail_msg("a damaged stream of a few kilobytes took %.1f s", took);
}

static void tally_say(const tally *t, const char *name)
{
    print_message("mutation: %-24s %8llu streams: %llu decoded, %llu refused, slowest %.2f ms\n", name,
                  (unsigned long long)(t->ndecoded + t->nrefused), (unsigned long long)t->ndecoded,
                  (unsigned long long)t->nrefused, 1e3 * t->slowest);
    assert_true(t->ndecoded > 0 && t->nrefused > 0); /* the damage is neither all in vain nor all met at the door */
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

typedef struct shape {
    uint32_t rank;
    uint64_t extent[FLOE_MAX_RANK];
} shape;

static const shape shapes[] = {{1, {2500}},      {1, {9000}},        {2, {40, 150}},
                               {3, {5, 20, 40}}, {4, {3, 4, 5, 33}}, {2, {800, 3}}};

/* A chunk that is whole: what it is of, and its bytes. */
typedef struct seed {
    shape shape;
    floe_quantizer_kind kind;
    mutant bytes;
} seed;

enum { NKINDS = 4, NSEEDS = NKINDS * HOSTILE_COUNT(shapes) };

static seed seed_of(floe_dtype dtype, floe_preset preset, uint64_t i)
{
    static const floe_bound_mode modes[] = {FLOE_BOUND_ABS, FLOE_BOUND_PWREL, FLOE_BOUND_LOSSLESS, FLOE_BOUND_LOSSLESS};
    static const hostile_kind fields[][2] = {{HOSTILE_SPIKES, HOSTILE_WALK},
                                             {HOSTILE_SIGNS, HOSTILE_SMOOTH},
                                             {HOSTILE_WALK, HOSTILE_NOISE},
                                             {HOSTILE_FEW, HOSTILE_FEW}};
    seed s = {.shape = shapes[i / NKINDS % HOSTILE_COUNT(shapes)], .kind = (floe_quantizer_kind)(i % NKINDS)};
    const bool integer = hostile_is_integer(dtype);
    if (integer && s.kind == FLOE_QUANTIZER_LOG) /* there is none */
        s.kind = FLOE_QUANTIZER_LINEAR;
    const double bound = integer ? 5 : 0.01;
    floe_codec_params p = {.dtype = dtype,
                           .codec = FLOE_CODEC_LORENZO,
                           .preset = preset,
                           .mode = modes[s.kind],
                           .bound = bound,
                           .max_abs = NAN,
                           .has_fill = i & 1,
                           .fill_bits = hostile_bits(dtype, 1e30)};
    const uint64_t n = kit_cells(s.shape.rank, s.shape.extent);
    void *data = malloc((size_t)n * 8);
    hostile_fill(dtype, fields[s.kind][i / NKINDS & 1], n, bound, p.fill_bits, i, data);
    for (uint64_t k = 0; k < n; k += 97) /* exceptions of all kinds */
        hostile_put(dtype, data, (int64_t)k, k % 2 ? p.fill_bits : hostile_special(dtype, k / 2));
    floe_field chunk = kit_chunk(data, dtype, s.shape.rank, s.shape.extent);
    kit_coded coded;
    kit_round_trip(&p, &chunk, 1, &coded);
    mutant_set(&s.bytes, coded.block.data, coded.nbytes);
    kit_block_free(&coded.block);
    free(data);
    return s;
}

/* The same bytes by both instruction sets, into exact buffers: the same status, and if it is OK the same values. */
static bool decode_both(floe_dtype dtype, const seed *s, const mutant *m, const uint64_t *lo, const uint64_t *hi)
{
    static double out[2][9000 + 16];
    floe_codec_params p = {.dtype = dtype, .codec = FLOE_CODEC_LORENZO}; /* for the workspace: balanced, not lossless */
    uint64_t box[FLOE_MAX_RANK] = {0};
    floe_status status[2];
    floe_error err;
    for (uint32_t a = 0; a < s->shape.rank; a++)
        box[a] = hi[a] - lo[a];
    const uint64_t nbytes = kit_cells(s->shape.rank, box) * floe_dtype_size(dtype);
    uint8_t *exact = malloc(m->nbytes ? (size_t)m->nbytes : 1);
    memcpy(exact, m->data, (size_t)m->nbytes);
    for (int isa = 0; isa < 2; isa++) {
        const floe_cpu cpu = kit_cpu(1, isa ? FLOE_ISA_AVX2 : FLOE_ISA_PLAIN);
        uint8_t *at = (uint8_t *)out[isa] + 64;
        memset(out[isa], 0x77, (size_t)nbytes + 128);
        floe_field field = kit_chunk(at, dtype, s->shape.rank, box);
        status[isa] = kit_decode_box(&cpu, &p, s->shape.rank, s->shape.extent, exact, m->nbytes, lo, hi, &field, &err);
        for (int i = 0; i < 64; i++)
            assert_true(at[-1 - i] == 0x77 && at[nbytes + (uint64_t)i] == 0x77);
        assert_true(status[isa] == FLOE_OK || (status[isa] == FLOE_ERR_FORMAT && err.status == FLOE_ERR_FORMAT));
    }
    free(exact);
    assert_int_equal(status[0], status[1]);
    if (status[0] == FLOE_OK && memcmp(out[0], out[1], (size_t)nbytes + 128) != 0)
        fail_msg("plain C and AVX2 read a damaged stream differently");
    return status[0] == FLOE_OK;
}

static void part_of(const shape *s, uint64_t *state, uint64_t *lo, uint64_t *hi)
{
    const bool all = hostile_below(state, 3) != 0;
    for (uint32_t a = 0; a < s->rank; a++) {
        lo[a] = all ? 0 : hostile_below(state, s->extent[a]);
        hi[a] = all ? s->extent[a] : lo[a] + 1 + hostile_below(state, s->extent[a] - lo[a]);
    }
}

static void chunks(floe_dtype dtype, floe_preset preset, const char *name)
{
    static const char *const kinds[] = {"linear", "log", "bits", "table"};
    const uint64_t count = count_wanted();
    uint64_t state = 100 * (uint64_t)dtype + (uint64_t)preset;
    tally tallies[NKINDS] = {{0, 0, 0}}, all = {0, 0, 0};
    mutant m = {NULL, 0, 0};
    seed seeds[NSEEDS];
    for (uint64_t i = 0; i < NSEEDS; i++) {
        seeds[i] = seed_of(dtype, preset, i);
        assert_int_equal(seeds[i].bytes.data[1], seeds[i].kind); /* all quantizers are there */
        assert_int_equal(seeds[i].bytes.data[0], preset == FLOE_PRESET_BALANCED);
    }
    for (uint64_t i = 0; i < count; i++) {
        const seed *s = &seeds[i % NSEEDS];
        uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
        mutant_set(&m, s->bytes.data, s->bytes.nbytes);
        chunk_damage(&m, &seeds[hostile_below(&state, NSEEDS)].bytes, dtype, &state);
        part_of(&s->shape, &state, lo, hi);
        double began = seconds();
        bool decoded = decode_both(dtype, s, &m, lo, hi);
        tally_add(&tallies[s->kind], decoded, began);
        tally_add(&all, decoded, began);
    }
    tally_say(&all, name);
    for (int k = 0; k < NKINDS; k++)
        if (k != FLOE_QUANTIZER_LOG || !hostile_is_integer(dtype))
            tally_say(&tallies[k], kinds[k]);
    for (uint64_t i = 0; i < NSEEDS; i++)
        free(seeds[i].bytes.data);
    free(m.data);
}

static void pack_f32(void **unused)
{
    (void)unused;
    chunks(FLOE_F32, FLOE_PRESET_FAST, "pack f32");
}
static void pack_f64(void **unused)
{
    (void)unused;
    chunks(FLOE_F64, FLOE_PRESET_FAST, "pack f64");
}
static void huffman_f32(void **unused)
{
    (void)unused;
    chunks(FLOE_F32, FLOE_PRESET_BALANCED, "huffman f32");
}
static void huffman_f64(void **unused)
{
    (void)unused;
    chunks(FLOE_F64, FLOE_PRESET_BALANCED, "huffman f64");
}

static void integers(void **unused)
{
    (void)unused;
    chunks(FLOE_I32, FLOE_PRESET_FAST, "pack i32");
    chunks(FLOE_I64, FLOE_PRESET_BALANCED, "huffman i64");
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

enum { STREAM_CELLS = 4000, MEMORY_LIMIT = 8 << 20, ELEMS_LIMIT = 1 << 20, NSTREAMS = 29 };

/* A stream in memory as a source, and what comes of it. */
typedef struct memory {
    const uint8_t *data;
    uint64_t nbytes, nwritten;
} memory;

static floe_status memory_read(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    const memory *m = user;
    uint64_t left = offset < m->nbytes ? m->nbytes - offset : 0;
    *got = left < nbytes ? (size_t)left : nbytes;
    if (*got)
        memcpy(dst, m->data + offset, *got);
    return FLOE_OK;
}

static floe_status memory_write(void *user, const void *src, size_t nbytes)
{
    memory *m = user;
    (void)src;
    m->nwritten += nbytes;
    return m->nwritten > ((uint64_t)ELEMS_LIMIT << 3) ? FLOE_ERR_IO : FLOE_OK; /* a lie about the shape ends here */
}

static mutant stream_of(floe_ctx *ctx, uint64_t i)
{
    static const char *const texts[] = {"abs=1e-2 chunk=7x9x11", "pwrel=1e-2 preset=fast chunk=10x20x20",
                                        "lossless chunk=5x20x20", "rel=1e-3 preset=fast",
                                        "psnr=60 fill=1e30 chunk=4x10x20"};
    static const char *const zfp_texts[] = {"abs=1e-2 codec=zfp chunk=7x9x11",  "rate=6 codec=zfp",
                                            "lossless codec=zfp chunk=5x20x20", "prec=12 codec=zfp",
                                            "rel=1e-3 codec=zfp chunk=4x10x20", "rate=9 codec=zfp chunk=3x9x8"};
    static const char *const lattice_texts[] = {"abs=1e-2 codec=interp",  "pwrel=1e-2 codec=interp chunk=5x20x20",
                                                "abs=1e-2 codec=wavelet", "pwrel=1e-2 codec=wavelet chunk=5x20x20",
                                                "abs=3 codec=interp",     "lossless codec=interp chunk=5x20x20",
                                                "abs=3 codec=wavelet",    "lossless codec=wavelet chunk=5x20x20"};
    static double data[STREAM_CELLS];
    const uint64_t extent[] = {10, 20, 20};
    const floe_dtype dtype = i >= 25   ? (floe_dtype)(FLOE_I32 + i % 2)
                             : i >= 21 ? (floe_dtype)(FLOE_F32 + i % 2)
                             : i >= 15 ? (floe_dtype)(FLOE_F32 + i % 4)
                             : i < 5   ? FLOE_F32
                             : i < 10  ? FLOE_F64
                             : i & 1   ? FLOE_I64
                                       : FLOE_I32;
    hostile_fill(dtype, i % 5 == 2 ? HOSTILE_FEW : HOSTILE_PATCHES, STREAM_CELLS, 0.01, hostile_bits(dtype, 1e30), i,
                 data);
    floe_field f = floe_field_of(data, dtype, 3, extent);
    floe_params p;
    mutant m = {NULL, 0, 0};
    assert_int_equal(floe_params_parse(&p,
                                       i >= 21   ? lattice_texts[i - 21]
                                       : i >= 15 ? zfp_texts[i - 15]
                                       : i == 11 ? "abs=3 preset=fast"
                                                 : texts[i % 5],
                                       NULL),
                     FLOE_OK);
    if (hostile_is_integer(dtype) && p.fill == FLOE_FILL_VALUE)
        p.fill_value = 77;
    mutant_resize(&m, floe_compress_bound(&f, &p));
    uint64_t nbytes;
    assert_int_equal(floe_compress(ctx, &f, &p, m.data, m.nbytes, &nbytes), FLOE_OK);
    mutant_resize(&m, nbytes);
    return m;
}

/* Every reader of the public API. True when the stream is read as a whole. */
static bool read_all_ways(floe_ctx *ctx, const uint8_t *exact, uint64_t nbytes, uint64_t turn)
{
    floe_info info = {.size = sizeof info};
    floe_error err;
    if (floe_stream_info(exact, nbytes, &info, &err) != FLOE_OK)
        return false;
    char key[8], value[8];
    for (uint32_t i = 0; i < info.nattrs && i < 4; i++)
        (void)floe_stream_attr(exact, nbytes, i, key, sizeof key, value, sizeof value);
    memory user = {exact, nbytes, 0};
    floe_source source = {&user, memory_read, turn & 1 ? nbytes : UINT64_MAX, turn & 1};
    floe_sink sink = {&user, memory_write};
    floe_stream_options options = {.size = sizeof options, .salvage = (int)(turn >> 1 & 1)};
    floe_status streamed = floe_decompress_stream(ctx, &source, &sink, &options, NULL);
    assert_int_not_equal(streamed, FLOE_ERR_INTERNAL);
    assert_true(ctx->workspace_nbytes <= MEMORY_LIMIT);
    if (info.raw_nbytes > (uint64_t)ELEMS_LIMIT * 8)
        return false;
    kit_block out = kit_block_of(info.raw_nbytes);
    floe_field field = floe_field_of(out.data, info.dtype, info.rank, info.shape);
    floe_status status = floe_decompress(ctx, exact, nbytes, &field);
    assert_int_not_equal(status, FLOE_ERR_INTERNAL);
    if (status == FLOE_OK) {
        assert_int_not_equal(floe_verify(ctx, exact, nbytes, &field), FLOE_ERR_INTERNAL);
        if (streamed == FLOE_OK)
            assert_true(user.nwritten == info.raw_nbytes);
    }
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    for (uint32_t a = 0; a < info.rank; a++) {
        lo[a] = info.shape[a] / 3;
        hi[a] = info.shape[a] - info.shape[a] / 4;
        field.shape[a] = hi[a] - lo[a];
    }
    assert_int_not_equal(floe_decompress_region(ctx, exact, nbytes, lo, hi, &field), FLOE_ERR_INTERNAL);
    assert_true(ctx->workspace_nbytes <= MEMORY_LIMIT);
    kit_block_free(&out);
    return status == FLOE_OK;
}

static void container(void **unused)
{
    const uint64_t count = count_wanted();
    uint64_t state = 9;
    tally t = {0, 0, 0};
    mutant m = {NULL, 0, 0}, streams[NSTREAMS];
    floe_ctx *ctx = NULL;
    floe_ctx_options o = {.size = sizeof o, .threads = 1};
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
    for (uint64_t i = 0; i < NSTREAMS; i++)
        streams[i] = stream_of(ctx, i);
    floe_ctx_free(&ctx);
    o.max_elems = ELEMS_LIMIT;
    o.max_memory = MEMORY_LIMIT;
    assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
    for (uint64_t i = 0; i < count; i++) {
        mutant_set(&m, streams[i % NSTREAMS].data, streams[i % NSTREAMS].nbytes);
        stream_damage(&m, &streams[hostile_below(&state, NSTREAMS)], &state);
        uint8_t *exact = malloc(m.nbytes ? (size_t)m.nbytes : 1);
        memcpy(exact, m.data, (size_t)m.nbytes);
        double began = seconds();
        bool decoded = read_all_ways(ctx, exact, m.nbytes, i);
        tally_add(&t, decoded, began);
        free(exact);
    }
    tally_say(&t, "container");
    floe_ctx_free(&ctx);
    for (uint64_t i = 0; i < NSTREAMS; i++)
        free(streams[i].data);
    free(m.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pack_f32),    cmocka_unit_test(pack_f64), cmocka_unit_test(huffman_f32),
        cmocka_unit_test(huffman_f64), cmocka_unit_test(integers), cmocka_unit_test(container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
