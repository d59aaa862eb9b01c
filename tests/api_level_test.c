/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels by the public calls: values of a level are those of the whole, or means, from its own bytes, which are checked. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <floe/floe.h>

enum { NZ = 18, NY = 40, NX = 50, CELLS = NZ * NY * NX, PLANES = 80, PLANE = 30 * 28, MOST = PLANES * PLANE };

static uint64_t shape[] = {NZ, NY, NX};
static float data[MOST], whole[MOST], part[MOST];
static uint8_t stream[8 * MOST];

/* The data, compressed; and decompressed in whole. */
static uint64_t compressed(floe_ctx *ctx, const char *text)
{
    floe_params params;
    const floe_field field = floe_field_of(data, FLOE_F32, 3, shape);
    floe_field out = floe_field_of(whole, FLOE_F32, 3, shape);
    uint64_t nbytes;
    assert_int_equal(floe_params_parse(&params, text, NULL), FLOE_OK);
    assert_int_equal(floe_compress(ctx, &field, &params, stream, sizeof stream, &nbytes), FLOE_OK);
    assert_int_equal(floe_decompress(ctx, stream, nbytes, &out), FLOE_OK);
    return nbytes;
}

/* Of a field with fill and NaN. */
static uint64_t stream_of(floe_ctx *ctx, const char *text)
{
    memcpy(shape, (const uint64_t[]){NZ, NY, NX}, sizeof shape);
    for (int i = 0; i < CELLS; i++) {
        const int x = i % NX - 20, y = i / NX % NY - 30, z = i / NX / NY;
        data[i] = x * x + y * y < 90 ? 1e20f : (float)(x * y) * 0.01f + (float)(z * z) + (float)(i * 7919 % 13) * 0.01f;
    }
    data[CELLS / 2] = (float)NAN;
    return compressed(ctx, text);
}

/* Of a field that is smooth along the slowest axis alone, of which codec wavelet makes a packet. */
static uint64_t packet_of(floe_ctx *ctx, const char *text)
{
    static char words[16384];
    memcpy(shape, (const uint64_t[]){PLANES, 30, 28}, sizeof shape);
    for (int i = 0; i < MOST; i++) {
        const float size = 1 + (float)(i % PLANE * 7919 % 101) * 0.003f;
        data[i] = size * sinf(0.3f * (float)(i / PLANE) + size) + 0.002f * (float)(i * 7919 % 13);
    }
    const uint64_t nbytes = compressed(ctx, text);
    assert_int_equal(floe_stream_plan(ctx, stream, nbytes, 0, words, sizeof words), FLOE_OK);
    assert_non_null(strstr(words, "; packet of "));
    return nbytes;
}

static floe_field level_field(uint32_t level)
{
    uint64_t n[3];
    for (int a = 0; a < 3; a++)
        n[a] = ((shape[a] - 1) >> level) + 1;
    return floe_field_of(part, FLOE_F32, 3, n);
}

static bool is_level(uint32_t level)
{
    const floe_field f = level_field(level);
    for (uint64_t i = 0; i < f.shape[0] * f.shape[1] * f.shape[2]; i++) {
        const uint64_t x = i % f.shape[2], y = i / f.shape[2] % f.shape[1], z = i / f.shape[2] / f.shape[1];
        if (memcmp(&part[i], &whole[((z << level) * NY + (y << level)) * NX + (x << level)], sizeof *part) != 0)
            return false;
    }
    return true;
}

static void levels_are_parts_of_the_whole(void **unused)
{
    static const char *const texts[] = {"codec=interp abs=0.05 fill=1e20", "codec=interp abs=0.05 chunk=8x40x16",
                                        "codec=interp pwrel=0.01", "codec=interp lossless"};
    static const uint32_t levels[] = {5, 3, 5, 5};
    floe_ctx *ctx = NULL;
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    for (int t = 0; t < 4; t++) {
        uint64_t nbytes = stream_of(ctx, texts[t]), n, before = nbytes;
        floe_info info = {.size = sizeof info};
        assert_int_equal(floe_stream_info(stream, nbytes, &info, NULL), FLOE_OK);
        assert_int_equal(info.levels, levels[t]);
        for (uint32_t k = 0; k <= levels[t]; k++) {
            floe_field out = level_field(k);
            assert_int_equal(floe_decompress_level(ctx, stream, nbytes, k, &out), FLOE_OK);
            assert_true(is_level(k));
            assert_int_equal(floe_stream_level_nbytes(ctx, stream, nbytes, k, &n), FLOE_OK);
            assert_true(n <= before);
            before = n;
        }
        floe_field out = level_field(levels[t] + 1), wrong = level_field(0);
        assert_int_equal(floe_decompress_level(ctx, stream, nbytes, levels[t] + 1, &out), FLOE_ERR_UNSUPPORTED);
        assert_int_equal(floe_decompress_level(ctx, stream, nbytes, 1, &wrong), FLOE_ERR_ARGUMENT);
    }
    floe_field out = level_field(1);
    const uint64_t nbytes = stream_of(ctx, "codec=lorenzo abs=0.05");
    assert_int_equal(floe_decompress_level(ctx, stream, nbytes, 1, &out), FLOE_ERR_UNSUPPORTED);
    assert_non_null(strstr(floe_ctx_message(ctx), "interp"));
    floe_ctx_free(&ctx);
}

/* The box is of all values; of a level it is those points that lie within it. */
static void boxes_of_levels(void **unused)
{
    static const char *const texts[] = {"codec=interp abs=0.05 chunk=8x40x16", "codec=wavelet abs=0.05 chunk=8x40x16"};
    const uint64_t lo[] = {3, 0, 17}, hi[] = {18, 33, 20};
    static float box[CELLS];
    floe_ctx *ctx = NULL;
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    for (int t = 0; t < 2; t++) {
        const uint64_t nbytes = stream_of(ctx, texts[t]);
        for (uint32_t k = 0; k <= 3; k++) {
            uint64_t from[3], n[3];
            for (int a = 0; a < 3; a++) {
                from[a] = (lo[a] + (1u << k) - 1) >> k;
                n[a] = ((hi[a] + (1u << k) - 1) >> k) - from[a];
            }
            floe_stream_options options = {.size = sizeof options, .lo = lo, .hi = hi, .level = k};
            floe_field all = level_field(k), out = floe_field_of(box, FLOE_F32, 3, n);
            assert_int_equal(floe_decompress_level(ctx, stream, nbytes, k, &all), FLOE_OK);
            assert_int_equal(floe_decompress_with(ctx, stream, nbytes, &options, &out), FLOE_OK);
            for (uint64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
                const uint64_t x = from[2] + i % n[2], y = from[1] + i / n[2] % n[1], z = from[0] + i / n[2] / n[1];
                assert_memory_equal(&box[i], &part[(z * all.shape[1] + y) * all.shape[2] + x], sizeof *box);
            }
            out.shape[1]++;
            assert_int_equal(floe_decompress_with(ctx, stream, nbytes, &options, &out), FLOE_ERR_ARGUMENT);
        }
    }
    floe_ctx_free(&ctx);
}

/* Levels of codec wavelet are means: numbers, whatever is NaN; those of a constant field are the constant. */
static void means(void **unused)
{
    floe_ctx *ctx = NULL;
    floe_info info = {.size = sizeof info};
    uint64_t n;
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    uint64_t nbytes = stream_of(ctx, "codec=wavelet abs=0.05 chunk=8x40x16"), before = nbytes;
    assert_int_equal(floe_stream_info(stream, nbytes, &info, NULL), FLOE_OK);
    assert_int_equal(info.levels, 3);
    for (uint32_t k = 1; k <= info.levels; k++) {
        floe_field out = level_field(k);
        assert_int_equal(floe_decompress_level(ctx, stream, nbytes, k, &out), FLOE_OK);
        for (uint64_t i = 0; i < out.shape[0] * out.shape[1] * out.shape[2]; i++)
            assert_true(isfinite(part[i]));
        assert_int_equal(floe_stream_level_nbytes(ctx, stream, nbytes, k, &n), FLOE_OK);
        assert_true(n < before);
        before = n;
    }
    for (int i = 0; i < CELLS; i++)
        data[i] = 3;
    data[7] = (float)NAN; /* filled as what surrounds it is */
    const floe_field field = floe_field_of(data, FLOE_F32, 3, shape);
    floe_params params;
    assert_int_equal(floe_params_parse(&params, "codec=wavelet abs=0.01", NULL), FLOE_OK);
    assert_int_equal(floe_compress(ctx, &field, &params, stream, sizeof stream, &nbytes), FLOE_OK);
    for (uint32_t k = 1; k <= 5; k++) {
        floe_field out = level_field(k);
        assert_int_equal(floe_decompress_level(ctx, stream, nbytes, k, &out), FLOE_OK);
        for (uint64_t i = 0; i < out.shape[0] * out.shape[1] * out.shape[2]; i++)
            assert_true(fabsf(part[i] - 3) <= 0.01f);
    }
    floe_ctx_free(&ctx);
}

/* Means overshoot beside a jump, but do not leave the range of the data where the stream has that. */
static void means_are_within_the_range(void **unused)
{
    static const char *const texts[] = {"abs=0.01", "rel=1e-4", "pwrel=1e-3", "abs=0.01 fill=none"};
    floe_ctx *ctx = NULL;
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    for (int i = 0; i < CELLS; i++)
        data[i] = i * 7919 % 101 < 3 ? 1000 : 2 + (float)(i % 13) * 0.01f;
    for (int t = 0; t < 4; t++) {
        const floe_field field = floe_field_of(data, FLOE_F32, 3, shape);
        floe_params params;
        uint64_t nbytes, nbeyond = 0;
        assert_int_equal(floe_params_parse(&params, texts[t], NULL), FLOE_OK);
        params.codec = FLOE_CODEC_WAVELET;
        assert_int_equal(floe_compress(ctx, &field, &params, stream, sizeof stream, &nbytes), FLOE_OK);
        for (uint32_t k = 1; k <= 4; k++) {
            floe_field out = level_field(k);
            assert_int_equal(floe_decompress_level(ctx, stream, nbytes, k, &out), FLOE_OK);
            for (uint64_t i = 0; i < out.shape[0] * out.shape[1] * out.shape[2]; i++)
                nbeyond += part[i] < 2 || part[i] > 1000;
        }
        assert_true(t < 3 ? nbeyond == 0 : nbeyond > 0);
    }
    floe_ctx_free(&ctx);
}

/* Bytes behind a level may be anything; of its own each one counts. */
static void bytes_of_a_level_are_checked(void **unused)
{
    floe_ctx *ctx = NULL;
    uint64_t n, refused = 0;
    floe_info info = {.size = sizeof info};
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    const uint64_t nbytes = stream_of(ctx, "codec=interp abs=0.05 fill=1e20");
    assert_int_equal(floe_stream_info(stream, nbytes, &info, NULL), FLOE_OK);
    for (uint32_t k = 1; k <= 2; k++) {
        floe_field out = level_field(k);
        assert_int_equal(floe_stream_level_nbytes(ctx, stream, nbytes, k, &n), FLOE_OK);
        for (uint64_t i = 0; i < 200; i++) {
            const uint64_t at = n + i * 7919 % (nbytes - n - 100);
            stream[at] ^= 0x55;
            assert_int_equal(floe_decompress_level(ctx, stream, nbytes, k, &out), FLOE_OK);
            assert_true(is_level(k));
            stream[at] ^= 0x55;
        }
        for (uint64_t at = n / 200; at < n; at += 1 + n / 200) {
            stream[at] ^= 0x10;
            const bool good = floe_decompress_level(ctx, stream, nbytes, k, &out) == FLOE_OK;
            assert_true(!good || is_level(k));
            refused += !good;
            stream[at] ^= 0x10;
        }
    }
    assert_true(refused > 300);
    floe_ctx_free(&ctx);
}

enum { LARGE = 160 };

/* A source of a large stream, which no one reads beyond its end, and a sink. */
static floe_status read_large(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    memcpy(dst, (uint8_t *)user + offset, *got = nbytes);
    return FLOE_OK;
}

static floe_status write_nowhere(void *user, const void *src, size_t nbytes)
{
    (void)user, (void)src, (void)nbytes;
    return FLOE_OK;
}

/* A source, and a sink into `part`. */
static floe_status read_stream(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    const uint64_t there = *(uint64_t *)user, left = offset < there ? there - offset : 0;
    *got = left < nbytes ? (size_t)left : nbytes;
    memcpy(dst, stream + offset, *got);
    return FLOE_OK;
}

static floe_status write_part(void *user, const void *src, size_t nbytes)
{
    memcpy((uint8_t *)part + *(size_t *)user, src, nbytes);
    *(size_t *)user += nbytes;
    return FLOE_OK;
}

/* The least limit, within a few percent, with which a level is decoded, from memory or from a source. */
static uint64_t least_memory(const uint8_t *src, uint64_t nbytes, uint32_t level, bool by_source)
{
    const uint64_t side = ((LARGE - 1) >> level) + 1, n[] = {side, side, side};
    const floe_stream_options options = {.size = sizeof options, .level = level};
    const floe_source source = {(void *)src, read_large, nbytes, 1};
    const floe_sink sink = {NULL, write_nowhere};
    float *values = calloc(side * side * side, sizeof *values);
    floe_field out = floe_field_of(values, FLOE_F32, 3, n);
    floe_status status = FLOE_ERR_LIMIT;
    uint64_t limit = 1 << 16;
    for (; status == FLOE_ERR_LIMIT; limit += limit / 16) {
        floe_ctx *ctx = NULL;
        const floe_ctx_options o = {.size = sizeof o, .max_memory = limit, .threads = 1};
        assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
        status = by_source ? floe_decompress_stream(ctx, &source, &sink, &options, NULL)
                           : floe_decompress_with(ctx, src, nbytes, &options, &out);
        floe_ctx_free(&ctx);
    }
    assert_int_equal(status, FLOE_OK);
    free(values);
    return limit;
}

/* Scratch is in proportion to the values of a level; of a file, so are the bytes that are held. */
static void memory_of_a_level(void **unused)
{
    static const char *const texts[] = {"abs=1e-3 codec=interp", "abs=1e-3 codec=wavelet"};
    const uint64_t n[] = {LARGE, LARGE, LARGE}, ncells = n[0] * n[1] * n[2];
    float *values = calloc(ncells, sizeof *values);
    uint8_t *src = malloc(ncells * sizeof *values);
    const floe_field field = floe_field_of(values, FLOE_F32, 3, n);
    (void)unused;
    for (uint64_t i = 0; i < ncells; i++)
        values[i] = cosf(0.05f * (float)(i % LARGE)) * sinf(0.03f * (float)(i / LARGE % LARGE)) *
                        cosf(0.04f * (float)(i / LARGE / LARGE)) +
                    (float)(i * 7919 % 13) * 0.01f; /* which takes bytes, of the finest level most */
    for (int t = 0; t < 2; t++) {
        floe_ctx *ctx = NULL;
        floe_params params;
        uint64_t nbytes;
        assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
        assert_int_equal(floe_params_parse(&params, texts[t], NULL), FLOE_OK);
        assert_int_equal(floe_compress(ctx, &field, &params, src, ncells * sizeof *values, &nbytes), FLOE_OK);
        floe_ctx_free(&ctx);
        for (int by_source = 0; by_source < 2; by_source++)
            assert_true(10 * least_memory(src, nbytes, 3, by_source) < least_memory(src, nbytes, 0, by_source));
        assert_true(least_memory(src, nbytes, 3, true) < nbytes);
    }
    free(values);
    free(src);
}

/* A stream that is cut behind the bytes that a level is reported to take has that level, however few these are. */
static void cut_behind_a_level(void **unused)
{
    static const char *const texts[] = {"rel=0.5 codec=interp", "rel=0.5 codec=wavelet", "rel=1e-3 codec=interp",
                                        "abs=1e30 codec=wavelet", "abs=1e-3 codec=wavelet"};
    static float want[MOST];
    floe_ctx *ctx = NULL;
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    for (int i = 0; i < 5; i++) {
        const uint64_t nbytes = (i < 4 ? stream_of : packet_of)(ctx, texts[i]);
        for (uint32_t level = 1; level < 5; level++) {
            uint64_t there, n;
            size_t wrote = 0;
            floe_field out = level_field(level);
            assert_int_equal(floe_decompress_level(ctx, stream, nbytes, level, &out), FLOE_OK);
            memcpy(want, part, sizeof want);
            memset(part, 0xEE, sizeof part);
            assert_int_equal(floe_stream_level_nbytes(ctx, stream, nbytes, level, &there), FLOE_OK);
            const floe_source source = {&there, read_stream, there, 1};
            const floe_sink sink = {&wrote, write_part};
            const floe_stream_options options = {.size = sizeof options, .salvage = 1, .level = level};
            assert_true(there < nbytes);
            for (uint64_t missing = 0; missing < 9; missing++) { /* at most the padding of one chunk */
                const bool is_whole = floe_stream_level_nbytes(ctx, stream, there - missing, level, &n) == FLOE_OK;
                assert_true(is_whole ? n == there && missing < 8 : missing > 0);
            }
            assert_int_equal(floe_decompress_stream(ctx, &source, &sink, &options, NULL), FLOE_OK);
            assert_int_equal(wrote, out.shape[0] * out.shape[1] * out.shape[2] * sizeof *part);
            assert_memory_equal(part, want, wrote);
        }
    }
    floe_ctx_free(&ctx);
}

/* user: bytes of the stream, and those that were requested. */
static floe_status read_counted(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    ((uint64_t *)user)[1] += nbytes;
    return read_stream(user, offset, dst, nbytes, got);
}

/* Of a source a level reads its own bytes, and few besides: what may hold the header, the index, and a few of each chunk. */
static void few_other_bytes_are_read(void **unused)
{
    static const char *const texts[] = {"abs=1e-3 codec=interp", "abs=1e-3 codec=wavelet",
                                        "abs=1e-3 codec=interp chunk=8x40x16", "abs=1e-3 codec=wavelet chunk=8x40x16",
                                        "abs=1e-3 codec=wavelet"};
    floe_ctx *ctx = NULL;
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    for (int t = 0; t < 5; t++) {
        const uint64_t nbytes = (t < 4 ? stream_of : packet_of)(ctx, texts[t]);
        floe_info info = {.size = sizeof info};
        assert_int_equal(floe_stream_info(stream, nbytes, &info, NULL), FLOE_OK);
        for (uint32_t level = 1; level <= info.levels; level++) {
            uint64_t counts[] = {nbytes, 0}, n;
            size_t wrote = 0;
            const floe_source source = {counts, read_counted, nbytes, 1};
            const floe_sink sink = {&wrote, write_part};
            const floe_stream_options options = {.size = sizeof options, .level = level};
            assert_int_equal(floe_stream_level_nbytes(ctx, stream, nbytes, level, &n), FLOE_OK);
            assert_int_equal(floe_decompress_stream(ctx, &source, &sink, &options, NULL), FLOE_OK);
            assert_true(t < 4 || 5 * n < nbytes); /* of steps along other axes a part alone */
            if (counts[1] > n + n / 16 + 1024 + 4096 + info.nchunks * (24 + 512) + 48)
                fail_msg("%s, level %u takes %llu bytes of %llu, %llu were read", texts[t], level,
                         (unsigned long long)n, (unsigned long long)nbytes, (unsigned long long)counts[1]);
        }
    }
    floe_ctx_free(&ctx);
}

/* Of chunk 0 bytes are missing that level 1 does not need, or some that it does: the head of chunk 1 is not read over. */
static void missing_within_a_chunk(void **unused)
{
    static const char *const texts[] = {"abs=0.05 codec=interp chunk=8x40x50", "abs=0.05 codec=wavelet chunk=8x40x50"};
    enum { MISSING = 13 };
    floe_ctx *ctx = NULL;
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    for (int i = 0; i < 4; i++) {
        const uint64_t nbytes = stream_of(ctx, texts[i % 2]);
        uint64_t first, next, there = nbytes - MISSING;
        size_t wrote = 0;
        floe_stats stats = {.size = sizeof stats};
        assert_int_equal(floe_stream_header_nbytes(stream, nbytes, &first, NULL), FLOE_OK);
        for (next = first + 1; memcmp(stream + next, stream + first, 8) != 0;)
            next++;
        const uint64_t at = i < 2 ? next - 40 : first + 200;
        memmove(stream + at, stream + at + MISSING, nbytes - at - MISSING);
        const floe_source source = {&there, read_stream, there, 1};
        const floe_sink sink = {&wrote, write_part};
        const floe_stream_options options = {.size = sizeof options, .salvage = 1, .level = 1};
        assert_int_equal(floe_decompress_stream(ctx, &source, &sink, &options, NULL), FLOE_OK);
        assert_int_equal(floe_ctx_stats(ctx, &stats), FLOE_OK);
        assert_true(stats.nchunks == 3 && stats.nchunks_damaged == (i < 2 ? 0 : 1));
    }
    floe_ctx_free(&ctx);
}

typedef struct losses {
    uint64_t nbytes;
    bool lost[CELLS];
} losses;

static void note_lost(void *user, uint64_t chunk, const uint64_t *lo, const uint64_t *hi, const char *why)
{
    losses *l = user;
    (void)chunk, (void)why;
    for (uint64_t z = lo[0]; z < hi[0]; z++)
        for (uint64_t y = lo[1]; y < hi[1]; y++)
            for (uint64_t x = lo[2]; x < hi[2]; x++)
                l->lost[(z * NY + y) * NX + x] = true;
}

/* Values that a stream which is cut has lost are NaN, and each of them is reported; the others are those of the whole. */
static uint64_t nlost_of_cut(floe_ctx *ctx, uint64_t nbytes)
{
    static losses l;
    floe_field out = level_field(0);
    uint64_t n = 0;
    memset(&l, 0, sizeof l);
    const floe_stream_options options = {
        .size = sizeof options, .salvage = 1, .damaged = note_lost, .damaged_user = &l};
    assert_int_equal(floe_decompress_with(ctx, stream, nbytes, &options, &out), FLOE_OK);
    for (uint64_t i = 0; i < CELLS; n += l.lost[i++])
        assert_true(l.lost[i] ? isnan(part[i]) : memcmp(&part[i], &whole[i], sizeof *part) == 0);
    return n;
}

/* Of a chunk that lacks its last bytes only the values are lost that depend on them. */
static void cut_within_a_chunk(void **unused)
{
    static const char *const texts[] = {"abs=0.05 codec=interp", "abs=0.05 codec=interp chunk=9x40x50"};
    floe_ctx *ctx = NULL;
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    for (int i = 0; i < 2; i++) {
        const uint64_t all = stream_of(ctx, texts[i]), end = all - 48 - 24 * (uint64_t)(i + 1);
        uint64_t before = 0;
        for (uint64_t nbytes = end; nbytes > end - end / 3; nbytes -= 13) {
            const uint64_t n = nlost_of_cut(ctx, nbytes);
            assert_true(n >= before);
            before = n;
        }
        assert_int_equal(nlost_of_cut(ctx, end), 0);
        assert_true(nlost_of_cut(ctx, end - 8) > 0 && nlost_of_cut(ctx, end - 8) <= CELLS / 2);
    }
    floe_ctx_free(&ctx);
}

/* Bytes that lines of words give: the first one's are those of the chunk; the sum of the others, or 0 where there are none. */
static uint64_t nbytes_in(const char *words, uint64_t *chunk)
{
    uint64_t sum = 0;
    *chunk = 0;
    for (const char *line = words; *line; line = strchr(line, '\n') + 1) {
        const char *at = strstr(line, " bytes\n");
        if (strncmp(line, "bank: ", 6) == 0 || strncmp(line, "set: ", 5) == 0)
            continue;
        assert_true(at && at < strchr(line, '\n'));
        while (at > line && at[-1] != ' ')
            at--;
        const uint64_t n = strtoull(at, NULL, 10);
        if (line == words)
            *chunk = n;
        else
            sum += n;
    }
    return sum;
}

static void chunks_in_words(void **unused)
{
    static const char *const texts[] = {"abs=0.05 codec=interp", "abs=0.05 codec=wavelet",  "pwrel=0.01 codec=wavelet",
                                        "lossless codec=interp", "abs=1e-12 codec=wavelet", "abs=5e3 codec=wavelet"};
    static char words[16384];
    floe_ctx *ctx = NULL;
    uint64_t chunk;
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const uint64_t nbytes = stream_of(ctx, texts[i]);
        assert_int_equal(floe_stream_plan(ctx, stream, nbytes, 0, words, sizeof words), FLOE_OK);
        const uint64_t sum = nbytes_in(words, &chunk);
        if ((sum && sum != chunk) || chunk + 400 < nbytes || chunk > nbytes)
            fail_msg("%s, %llu of %llu bytes in a stream of %llu:\n%s", texts[i], (unsigned long long)sum,
                     (unsigned long long)chunk, (unsigned long long)nbytes, words);
        for (uint64_t k = 0; k < 600; k++) { /* a damaged one is described, or refused */
            stream[k * 7919 % nbytes] ^= (uint8_t)(1 + k % 255);
            const floe_status status = floe_stream_plan(ctx, stream, nbytes, 0, words, sizeof words);
            assert_true(status == FLOE_OK || status == FLOE_ERR_FORMAT || status == FLOE_ERR_CHECKSUM ||
                        status == FLOE_ERR_CAPACITY);
        }
    }
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels_are_parts_of_the_whole),
                                       cmocka_unit_test(boxes_of_levels),
                                       cmocka_unit_test(means),
                                       cmocka_unit_test(means_are_within_the_range),
                                       cmocka_unit_test(bytes_of_a_level_are_checked),
                                       cmocka_unit_test(memory_of_a_level),
                                       cmocka_unit_test(cut_behind_a_level),
                                       cmocka_unit_test(few_other_bytes_are_read),
                                       cmocka_unit_test(missing_within_a_chunk),
                                       cmocka_unit_test(cut_within_a_chunk),
                                       cmocka_unit_test(chunks_in_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
