/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that are cut, changed or lie: a status and a message, limits kept, and salvage of what is left. */
#include "tests/api_kit.h"

#include "base/bytes.h"
#include "base/checksum.h"
#include "container/container.h"

static const uint64_t extent[] = {12, 10, 9};
enum { NCHUNKS = 12 };

static floe_field test_field(void) { return kit_field(FLOE_F32, 3, extent, KIT_SMOOTH, 7); }

static kit_bytes test_stream(floe_ctx *ctx, const floe_field *f, const char *text)
{
    floe_params p = kit_params(text);
    return kit_compress(ctx, f, &p);
}

static const char *const texts[] = {"abs=1e-2 chunk=4x5x5 preset=fast", "rel=1e-3 chunk=4x5x5", "lossless chunk=4x5x5"};

/* ---- what the readers do with arbitrary bytes ---------------------------------------------------------------------- */

typedef struct result {
    floe_status status;
    uint64_t ndamaged;
    kit_bytes raw;
} result;

static void damaged_chunk(void *user, uint64_t chunk, const uint64_t *lo, const uint64_t *hi, const char *why)
{
    uint64_t *n = user;
    assert_true(chunk < NCHUNKS);
    for (int i = 0; i < 3; i++)
        assert_true(lo[i] < hi[i] && hi[i] <= extent[i]);
    assert_true(why[0] != '\0');
    ++*n;
}

/* From memory to memory, with gaps between the values, the outcome is that of a source that can seek. */
static void salvage_in_memory(floe_ctx *ctx, const uint8_t *data, uint64_t nbytes, const result *want)
{
    floe_info info = {.size = sizeof info};
    uint64_t ndamaged = 0;
    floe_field out = floe_field_of(NULL, FLOE_F32, 3, extent);
    const uint64_t n = kit_nelems(&out);
    if (floe_stream_info(data, nbytes, &info, NULL) == FLOE_OK &&
        (info.rank != 3 || info.dtype != FLOE_F32 || memcmp(info.shape, extent, sizeof extent) != 0))
        return; /* a header that lies */
    float *values = malloc(2 * n * sizeof *values);
    out.data = values;
    out.stride[0] = 180, out.stride[1] = 18, out.stride[2] = 2;
    floe_stream_options options = {
        .size = sizeof options, .salvage = 1, .damaged = damaged_chunk, .damaged_user = &ndamaged};
    const floe_status status = floe_decompress_with(ctx, data, nbytes, &options, &out);
    assert_int_equal(status, want->status);
    if (status == FLOE_OK) {
        floe_stats stats = {.size = sizeof stats};
        floe_ctx_stats(ctx, &stats);
        assert_true(ndamaged == want->ndamaged && stats.nchunks_damaged == ndamaged);
        for (uint64_t i = 0; i < n; i++)
            assert_memory_equal(&values[2 * i], want->raw.data + 4 * i, 4);
    }
    free(values);
}

static result read_stream(floe_ctx *ctx, const uint8_t *data, uint64_t nbytes, bool seekable, bool salvage)
{
    result r = {.ndamaged = 0};
    kit_source from = {.data = data, .nbytes = nbytes};
    kit_sink to = {{NULL, 0, 0}, 0};
    floe_source source = kit_source_of(&from, seekable, seekable);
    floe_sink sink = kit_sink_of(&to);
    floe_stream_options options = {
        .size = sizeof options, .salvage = salvage, .damaged = damaged_chunk, .damaged_user = &r.ndamaged};
    r.status = floe_decompress_stream(ctx, &source, &sink, &options, NULL);
    r.raw = to.bytes;
    if (r.status == FLOE_OK) {
        floe_stats stats = {.size = sizeof stats};
        floe_ctx_stats(ctx, &stats);
        assert_int_equal(stats.nchunks_damaged, r.ndamaged);
    } else {
        assert_true(floe_ctx_message(ctx)[0] != '\0');
    }
    if (seekable && salvage)
        salvage_in_memory(ctx, data, nbytes, &r);
    return r;
}

/* Every reader; none may crash, and what is not an error must be right. */
static void read_all_ways(floe_ctx *ctx, const uint8_t *data, uint64_t nbytes, const floe_field *right, bool whole)
{
    floe_field out = kit_like(right);
    floe_status status = floe_decompress(ctx, data, nbytes, &out);
    if (whole)
        kit_ok(ctx, status);
    else
        assert_int_not_equal(status, FLOE_OK);
    floe_info info = {.size = sizeof info};
    floe_error err;
    (void)floe_stream_info(data, nbytes, &info, &err);
    for (int how = 0; how < 4; how++) {
        result r = read_stream(ctx, data, nbytes, how & 1, how & 2);
        if (r.status == FLOE_OK) {
            assert_true(whole || (how & 2));
            assert_int_equal(r.raw.nbytes, kit_nelems(right) * 4);
            for (uint64_t i = 0; i < kit_nelems(right); i++) {
                uint32_t bits = floe_load32(r.raw.data + 4 * i);
                if (bits != kit_bits(right, i))
                    assert_true(r.ndamaged > 0 && bits == 0x7FC00000);
            }
        }
        kit_bytes_free(&r.raw);
    }
    kit_free(&out);
}

static floe_field decoded(floe_ctx *ctx, const floe_field *f, const kit_bytes *b)
{
    floe_field out = kit_like(f);
    kit_ok(ctx, floe_decompress(ctx, b->data, b->nbytes, &out));
    return out;
}

/* Where few places are damaged: fuzz targets damage others. */
static uint64_t step_in(size_t stream) /* heads are alike in all */
{
    return FLOE_TEST_STRIDE > 1 ? 2 * FLOE_TEST_STRIDE - 1 : stream ? 3 : 1;
}

/* Buffers of the very size, so that sanitizers see each byte read too far. */
static void cut_anywhere(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = test_field();
    for (size_t t = 0; t < KIT_COUNT(texts); t++) {
        kit_bytes b = test_stream(ctx, &f, texts[t]);
        floe_field right = decoded(ctx, &f, &b);
        read_all_ways(ctx, b.data, b.nbytes, &right, true);
        for (uint64_t n = 0; n < b.nbytes; n += step_in(t)) {
            uint8_t *cut = malloc((size_t)n + !n);
            memcpy(cut, b.data, (size_t)n);
            read_all_ways(ctx, cut, n, &right, false);
            free(cut);
        }
        uint8_t *longer = malloc((size_t)b.nbytes + 9);
        memcpy(longer, b.data, (size_t)b.nbytes);
        memset(longer + b.nbytes, 0, 9);
        read_all_ways(ctx, longer, b.nbytes + 1, &right, false);
        read_all_ways(ctx, longer, b.nbytes + 9, &right, false);
        free(longer);
        kit_free(&right);
        kit_bytes_free(&b);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* Each byte of the stream changed: found by every reader that reads it. */
static void each_byte_changed(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = test_field();
    for (size_t t = 0; t < KIT_COUNT(texts); t++) {
        kit_bytes b = test_stream(ctx, &f, texts[t]);
        floe_field right = decoded(ctx, &f, &b), out = kit_like(&f);
        for (uint64_t i = 0; i < b.nbytes; i += step_in(t)) {
            uint8_t was = b.data[i];
            b.data[i] ^= (uint8_t)(1u << i % 8);
            floe_status status = floe_decompress(ctx, b.data, b.nbytes, &out);
            for (int how = 0; how < 4; how++) {
                result r = read_stream(ctx, b.data, b.nbytes, how & 1, how & 2);
                /* Padding between records is all that no checksum covers. */
                if (r.status == FLOE_OK && r.ndamaged == 0)
                    assert_memory_equal(r.raw.data, right.data, (size_t)r.raw.nbytes);
                if (how < 2)
                    assert_int_equal(r.status == FLOE_OK, status == FLOE_OK);
                kit_bytes_free(&r.raw);
            }
            b.data[i] = was;
        }
        kit_free(&right);
        kit_free(&out);
        kit_bytes_free(&b);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* Where records lie in a stream that is whole. */
static void records_find(const kit_bytes *b, uint64_t at[NCHUNKS + 1])
{
    size_t header;
    floe_record record;
    assert_int_equal(floe_header_peek(b->data, (size_t)b->nbytes, &header, NULL), FLOE_OK);
    at[0] = header;
    for (int i = 0; i < NCHUNKS; i++) {
        assert_int_equal(floe_record_head_read(b->data + at[i], (size_t)(b->nbytes - at[i]), &record, NULL), FLOE_OK);
        assert_int_equal(record.chunk, i);
        at[i + 1] = at[i] + floe_record_nbytes(record.nbytes);
    }
}

/* Damage within chunk k costs chunk k and no other, whether its head or its payload is hit, by index or forward. */
static void salvage_loses_one_chunk(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = test_field(), out = kit_like(&f);
    kit_bytes b = test_stream(ctx, &f, texts[1]);
    uint64_t at[NCHUNKS + 1];
    records_find(&b, at);
    for (int k = 0; k < NCHUNKS; k++)
        for (uint64_t place = 0; place < at[k + 1] - at[k] - 7; place += 5 * FLOE_TEST_STRIDE) {
            b.data[at[k] + place] ^= 0x10;
            char named[32];
            snprintf(named, sizeof named, "chunk %d (", k);
            assert_int_not_equal(floe_decompress(ctx, b.data, b.nbytes, &out), FLOE_OK);
            assert_non_null(strstr(floe_ctx_message(ctx), named));
            for (int how = 0; how < 2; how++) {
                result r = read_stream(ctx, b.data, b.nbytes, how, true);
                assert_int_equal(r.status, FLOE_OK);
                assert_int_equal(r.ndamaged, 1);
                uint64_t nlost = 0;
                for (uint64_t i = 0; i < kit_nelems(&f); i++)
                    nlost += floe_load32(r.raw.data + 4 * i) == 0x7FC00000;
                assert_true(nlost == 4 * 5 * 5 || nlost == 4 * 5 * 4);
                kit_bytes_free(&r.raw);
                r = read_stream(ctx, b.data, b.nbytes, how, false);
                assert_true(r.status == FLOE_ERR_CHECKSUM || r.status == FLOE_ERR_FORMAT);
                assert_non_null(strstr(floe_ctx_message(ctx), named));
                kit_bytes_free(&r.raw);
            }
            b.data[at[k] + place] ^= 0x10;
        }
    kit_bytes_free(&b);
    kit_free(&f);
    kit_free(&out);
    floe_ctx_free(&ctx);
}

/* A cut stream gives all chunks before the cut; bytes that went missing or came in between cost what they hit. */
static void salvage_of_cut_and_shifted_streams(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = test_field();
    kit_bytes b = test_stream(ctx, &f, texts[0]);
    uint64_t at[NCHUNKS + 1];
    records_find(&b, at);
    uint8_t *copy = malloc((size_t)b.nbytes + 64);
    for (int k = 0; k < NCHUNKS; k++)
        for (int how = 0; how < 2; how++) {
            result r = read_stream(ctx, b.data, at[k + 1] - 8, how, true);
            assert_int_equal(r.status, FLOE_OK);
            assert_int_equal(r.ndamaged, NCHUNKS - k);
            kit_bytes_free(&r.raw);

            uint64_t hit = at[k] + 50; /* 13 bytes too many within chunk k */
            memcpy(copy, b.data, (size_t)hit);
            memset(copy + hit, 0xF2, 13);
            memcpy(copy + hit + 13, b.data + hit, (size_t)(b.nbytes - hit));
            r = read_stream(ctx, copy, b.nbytes + 13, how, true);
            assert_int_equal(r.status, FLOE_OK);
            assert_int_equal(r.ndamaged, 1);
            kit_bytes_free(&r.raw);

            memcpy(copy, b.data, (size_t)hit); /* and 13 too few: without going back the next one is read over */
            memcpy(copy + hit, b.data + hit + 13, (size_t)(b.nbytes - hit - 13));
            r = read_stream(ctx, copy, b.nbytes - 13, how, true);
            assert_int_equal(r.status, FLOE_OK);
            assert_int_equal(r.ndamaged, how || k == NCHUNKS - 1 ? 1 : 2);
            kit_bytes_free(&r.raw);

            memcpy(copy, b.data, (size_t)at[k]); /* chunk k is gone */
            memcpy(copy + at[k], b.data + at[k + 1], (size_t)(b.nbytes - at[k + 1]));
            r = read_stream(ctx, copy, b.nbytes - (at[k + 1] - at[k]), how, true);
            assert_int_equal(r.status, FLOE_OK);
            assert_int_equal(r.ndamaged, 1);
            kit_bytes_free(&r.raw);
        }
    free(copy);
    kit_bytes_free(&b);
    kit_free(&f);
    floe_ctx_free(&ctx);
}

static void salvage_of_a_box(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = test_field(), part = floe_field_of(NULL, FLOE_F32, 3, (const uint64_t[]){3, 4, 5});
    kit_bytes b = test_stream(ctx, &f, texts[1]);
    const uint64_t lo[] = {5, 3, 3}, hi[] = {8, 7, 8};
    part.data = malloc(60 * 4);
    kit_ok(ctx, floe_decompress_region(ctx, b.data, b.nbytes, lo, hi, &part));
    uint64_t at[NCHUNKS + 1];
    records_find(&b, at);
    b.data[at[4] + 60] ^= 1;    /* the first of the four chunks that the box touches */
    b.data[b.nbytes - 30] ^= 1; /* and no index */
    uint64_t ndamaged = 0;
    kit_source from = {.data = b.data, .nbytes = b.nbytes};
    kit_sink to = {{NULL, 0, 0}, 0};
    floe_source source = kit_source_of(&from, true, true);
    floe_sink sink = kit_sink_of(&to);
    floe_stream_options options = {
        .size = sizeof options, .salvage = 1, .lo = lo, .hi = hi, .damaged = damaged_chunk, .damaged_user = &ndamaged};
    kit_ok(ctx, floe_decompress_stream(ctx, &source, &sink, &options, NULL));
    assert_int_equal(ndamaged, 1);
    for (uint64_t i = 0; i < 60; i++) {
        bool lost = i / 5 % 4 < 2 && i % 5 < 2; /* y < 5, x < 5 */
        assert_int_equal(floe_load32(to.bytes.data + 4 * i), lost ? 0x7FC00000 : kit_bits(&part, i));
    }
    floe_field in_memory = kit_like(&part);
    kit_ok(ctx, floe_decompress_with(ctx, b.data, b.nbytes, &options, &in_memory));
    assert_int_equal(ndamaged, 2);
    assert_memory_equal(in_memory.data, to.bytes.data, 60 * 4);
    options.salvage = 0;
    assert_int_equal(floe_decompress_with(ctx, b.data, b.nbytes, &options, &in_memory), FLOE_ERR_CHECKSUM);
    kit_free(&in_memory);
    kit_bytes_free(&to.bytes);
    kit_bytes_free(&b);
    kit_free(&part);
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* ---- lies with right checksums ----------------------------------------------------------------------------------- */

/* A header that is well formed but claims the world: refused by the limits, or for what is not there. */
static void headers_that_ask_for_too_much(void **state)
{
    (void)state;
    const struct {
        uint64_t shape, chunk;
    } lies[] = {
        {1ull << 60, 1ull << 60}, {1ull << 57, 1}, {1ull << 40, 1}, {1ull << 40, 1ull << 20}, {1ull << 33, 1ull << 33}};
    for (size_t i = 0; i < KIT_COUNT(lies); i++) {
        floe_header h = {.dtype = FLOE_F32,
                         .rank = 1,
                         .shape = {lies[i].shape},
                         .chunk = {lies[i].chunk},
                         .codec = FLOE_CODEC_LORENZO,
                         .mode = FLOE_BOUND_ABS,
                         .bound = 1,
                         .abs_bound = 1,
                         .value_min = NAN,
                         .value_max = NAN};
        uint8_t stream[400] = {0};
        size_t header_nbytes = floe_header_nbytes(&h);
        assert_int_equal(floe_header_write(&h, stream, sizeof stream, NULL), FLOE_OK);
        uint8_t one[4];
        floe_field out = floe_field_of(one, FLOE_F32, 1, (const uint64_t[]){1});
        const uint64_t lo[] = {0}, hi[] = {1};
        for (int limited = 0; limited < 3; limited++) {
            floe_ctx *ctx = NULL;
            floe_ctx_options o = {.size = sizeof o, .threads = 1};
            o.max_elems = limited == 1 ? 1 << 20 : 0;
            o.max_memory = 1 << 24;
            assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
            floe_status status = floe_decompress_region(ctx, stream, sizeof stream, lo, hi, &out);
            assert_true(limited == 1 ? status == FLOE_ERR_LIMIT : status != FLOE_OK);
            for (int how = 0; how < 4; how++) {
                const bool many = lies[i].chunk < 1 << 21, has_size = how & 1;
                if (limited != 1 && (how & 2) && many && !has_size)
                    continue; /* salvage would give as many NaN as the header claims: that is what max_elems is for */
                result r = read_stream(ctx, stream, header_nbytes + 100, how & 1, how & 2);
                assert_true(limited == 1 ? r.status == FLOE_ERR_LIMIT : r.status != FLOE_OK);
                if (limited != 1 && many && has_size && lies[i].shape < 1ull << 57) /* more are too many for a stream */
                    kit_fails(ctx, r.status, FLOE_ERR_FORMAT, how & 2 ? "cannot hold" : "bytes at least");
                kit_bytes_free(&r.raw);
            }
            floe_ctx_free(&ctx);
        }
    }
}

/* Nothing but a header of 300 chunks is left: salvaged as long as the stream has as many bytes. */
static void salvage_takes_no_more_chunks_than_bytes(void **state)
{
    (void)state;
    floe_header h = {.dtype = FLOE_F32,
                     .rank = 1,
                     .shape = {300},
                     .chunk = {1},
                     .codec = FLOE_CODEC_LORENZO,
                     .mode = FLOE_BOUND_ABS,
                     .bound = 1,
                     .abs_bound = 1,
                     .value_min = NAN,
                     .value_max = NAN};
    uint8_t stream[400] = {0};
    floe_ctx *ctx = NULL;
    assert_int_equal(floe_header_write(&h, stream, sizeof stream, NULL), FLOE_OK);
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    for (uint64_t nbytes = 299; nbytes <= 301; nbytes++) {
        kit_source from = {.data = stream, .nbytes = nbytes};
        const floe_source known = kit_source_of(&from, true, true);
        kit_sink to = {{NULL, 0, 0}, 0};
        const floe_sink sink = kit_sink_of(&to);
        const floe_stream_options options = {.size = sizeof options, .salvage = 1};
        const floe_status status = floe_decompress_stream(ctx, &known, &sink, &options, NULL);
        assert_int_equal(status, nbytes < 300 ? FLOE_ERR_FORMAT : FLOE_OK);
        assert_int_equal(to.bytes.nbytes, nbytes < 300 ? 0 : 1200);
        kit_bytes_free(&to.bytes);
    }
    floe_ctx_free(&ctx);
}

static void limit_on_elements_is_exact(void **state)
{
    (void)state;
    floe_ctx *plain = kit_ctx(1);
    floe_field f = test_field(), out = kit_like(&f);
    kit_bytes b = test_stream(plain, &f, texts[0]);
    for (uint64_t limit = 1079; limit <= 1081; limit++) {
        floe_ctx *ctx = NULL;
        floe_ctx_options o = {.size = sizeof o, .threads = 1, .max_elems = limit};
        assert_int_equal(floe_ctx_create(&ctx, &o), FLOE_OK);
        floe_status want = limit < 1080 ? FLOE_ERR_LIMIT : FLOE_OK;
        assert_int_equal(floe_decompress(ctx, b.data, b.nbytes, &out), want);
        assert_int_equal(floe_verify(ctx, b.data, b.nbytes, &f), want);
        for (int how = 0; how < 4; how++) {
            result r = read_stream(ctx, b.data, b.nbytes, how & 1, how & 2);
            assert_int_equal(r.status, want);
            kit_bytes_free(&r.raw);
        }
        floe_ctx_free(&ctx);
    }
    kit_bytes_free(&b);
    kit_free(&f);
    kit_free(&out);
    floe_ctx_free(&plain);
}

/* A chunk's payload changed and its checksum, head and index made right again: only the codec stands between. */
static void payloads_that_lie(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = test_field();
    uint64_t seed = 17;
    for (size_t t = 0; t < KIT_COUNT(texts); t++) {
        kit_bytes b = test_stream(ctx, &f, texts[t]);
        uint64_t at[NCHUNKS + 1];
        floe_index_entry entries[NCHUNKS];
        records_find(&b, at);
        for (int k = 0; k < NCHUNKS; k++) {
            entries[k].offset = at[k];
            assert_int_equal(floe_record_head_read(b.data + at[k], 40, &entries[k].record, NULL), FLOE_OK);
        }
        for (int i = 0; i < 3000; i += FLOE_TEST_STRIDE) {
            kit_bytes c = {malloc((size_t)b.nbytes), b.nbytes, b.nbytes};
            memcpy(c.data, b.data, (size_t)b.nbytes);
            floe_index_entry all[NCHUNKS];
            memcpy(all, entries, sizeof all);
            int k = (int)(kit_random(&seed) % NCHUNKS);
            uint8_t *payload = c.data + at[k] + FLOE_RECORD_HEAD_NBYTES;
            for (uint64_t flips = 1 + kit_random(&seed) % 4; flips--;) {
                uint64_t pick = kit_random(&seed);
                payload[(pick & 1 ? pick >> 8 : (pick >> 8) % 128) % all[k].record.nbytes] ^= (uint8_t)(1 + pick % 255);
            }
            all[k].record.checksum = floe_checksum(payload, all[k].record.nbytes);
            floe_record_head_write(&all[k].record, c.data + at[k]);
            floe_index_write(all, NCHUNKS, at[NCHUNKS], c.data + at[NCHUNKS]);
            floe_field out = kit_like(&f);
            floe_status status = floe_decompress(ctx, c.data, c.nbytes, &out);
            assert_true(status == FLOE_OK || status == FLOE_ERR_FORMAT || status == FLOE_ERR_CHECKSUM ||
                        status == FLOE_ERR_UNSUPPORTED);
            result r = read_stream(ctx, c.data, c.nbytes, i & 1, true);
            assert_true(r.status == FLOE_OK || r.status == FLOE_ERR_UNSUPPORTED);
            if (status == FLOE_OK) {
                floe_status verified = floe_verify(ctx, c.data, c.nbytes, &f);
                assert_true(verified == FLOE_OK || verified == FLOE_ERR_BOUND);
            }
            kit_bytes_free(&r.raw);
            kit_free(&out);
            kit_bytes_free(&c);
        }
        kit_bytes_free(&b);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* ---- verify ------------------------------------------------------------------------------------------------------ */

static void verify_names_the_value(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    const char *const modes[] = {"abs=1e-3 chunk=4x5x5", "rel=1e-4", "pwrel=1e-5 chunk=1x10x9", "lossless", "psnr=80"};
    for (size_t m = 0; m < KIT_COUNT(modes); m++) {
        floe_field f = test_field();
        kit_set(&f, 500, NAN);
        kit_set(&f, 501, -0.0);
        kit_bytes b = test_stream(ctx, &f, modes[m]);
        kit_ok(ctx, floe_verify(ctx, b.data, b.nbytes, &f));
        const struct {
            uint64_t at;
            double wrong;
            const char *place;
        } cases[] = {{777, 271.5, "[8,6,3]"}, {500, 260, "[5,5,5]"}, {501, 0.0, "[5,5,6]"},
                     {502, NAN, "[5,5,7]"},   {1079, 0, "[11,9,8]"}, {0, INFINITY, "[0,0,0]"}};
        for (size_t c = 0; c < KIT_COUNT(cases); c++) {
            double was = kit_get(&f, cases[c].at);
            if (m == 1 && isfinite(cases[c].wrong) && c != 0)
                continue; /* these change the range, which is found first or not at all */
            if (c == 2 && m != 3)
                continue; /* +0 came back as -0, which is within any bound */
            kit_set(&f, cases[c].at, cases[c].wrong);
            kit_fails(ctx, floe_verify(ctx, b.data, b.nbytes, &f), FLOE_ERR_BOUND, cases[c].place);
            kit_set(&f, cases[c].at, was);
        }
        kit_bytes_free(&b);
        kit_free(&f);
    }
    floe_ctx_free(&ctx);
}

/* The stream is right, but what its header holds of the bound is not what was requested. */
static void verify_checks_the_header(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = test_field(), half = test_field();
    for (uint64_t i = 0; i < kit_nelems(&f); i++)
        kit_set(&half, i, kit_get(&f, i) * 0.5);
    kit_bytes b = test_stream(ctx, &f, "rel=1e-2 chunk=4x5x5");
    kit_fails(ctx, floe_verify(ctx, b.data, b.nbytes, &half), FLOE_ERR_BOUND, "allows only");
    kit_bytes_free(&b);
    b = test_stream(ctx, &f, "psnr=60 chunk=4x5x5");
    floe_header h;
    assert_int_equal(floe_header_read(b.data, (size_t)b.nbytes, &h, NULL), FLOE_OK);
    h.bound = 75; /* requested more than the chunks hold */
    assert_int_equal(floe_header_write(&h, b.data, (size_t)b.nbytes, NULL), FLOE_OK);
    kit_fails(ctx, floe_verify(ctx, b.data, b.nbytes, &f), FLOE_ERR_BOUND, "75 dB were requested");
    kit_bytes_free(&b);
    b = test_stream(ctx, &f, "abs=0.01 chunk=4x5x5");
    assert_int_equal(floe_header_read(b.data, (size_t)b.nbytes, &h, NULL), FLOE_OK);
    h.bound = 0.001;
    assert_int_equal(floe_header_write(&h, b.data, (size_t)b.nbytes, NULL), FLOE_OK);
    kit_fails(ctx, floe_verify(ctx, b.data, b.nbytes, &f), FLOE_ERR_BOUND, "allows only 0.001");
    kit_bytes_free(&b);
    kit_free(&f);
    kit_free(&half);
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(each_byte_changed),
        cmocka_unit_test(salvage_loses_one_chunk),
        cmocka_unit_test(salvage_of_cut_and_shifted_streams),
        cmocka_unit_test(salvage_of_a_box),
        cmocka_unit_test(headers_that_ask_for_too_much),
        cmocka_unit_test(salvage_takes_no_more_chunks_than_bytes),
        cmocka_unit_test(limit_on_elements_is_exact),
        cmocka_unit_test(payloads_that_lie),
        cmocka_unit_test(verify_names_the_value),
        cmocka_unit_test(verify_checks_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
