/* SPDX-License-Identifier: BSD-3-Clause */
/* The streaming forms: the same bytes as in memory, sources and sinks of every temper, attributes, progress. */
#include "tests/api_kit.h"

static const uint64_t extent[] = {21, 34, 45};

/* Where FLOE_TEST_STRIDE makes it so: of four ways one, and of two texts one, each by some test. */
enum { TURNS = FLOE_TEST_STRIDE > 1 ? 4 : 1, TEXTS = FLOE_TEST_STRIDE > 1 ? 2 : 1 };

static floe_field test_field(floe_dtype dtype) { return kit_field(dtype, 3, extent, KIT_FILL, 7); }

static kit_source source_of(const floe_field *f)
{
    return (kit_source){.data = f->data, .nbytes = kit_nelems(f) * floe_dtype_size(f->dtype)};
}

static const char *const texts[] = {"abs=1e-2",
                                    "rel=1e-3 chunk=5x34x45",
                                    "pwrel=1e-3 chunk=7x9x11 preset=fast",
                                    "psnr=60 chunk=5x11x45",
                                    "lossless chunk=1x34x7",
                                    "rel=1e-2 fill=none chunk=21x34x10",
                                    "abs=1e-3 chunk=1x1x45 preset=fast",
                                    "rel=1e-3 preset=best",
                                    "ratio=5 chunk=5x34x45"};

/* Both ways, whatever way the bytes come: all at once, in gulps of a few, with a known size or not. */
static void same_as_in_memory(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++) {
        floe_field f = test_field((floe_dtype)dtype), layout = f;
        layout.data = NULL;
        for (size_t t = (size_t)dtype % TEXTS; t < KIT_COUNT(texts); t += TEXTS) {
            floe_params p = kit_params(texts[t]);
            kit_bytes want = kit_compress(ctx, &f, &p);
            floe_stats in_memory = {.size = sizeof in_memory}, streamed = {.size = sizeof streamed};
            floe_ctx_stats(ctx, &in_memory);
            for (int how = ((int)t + dtype) % TURNS; how < 4; how += TURNS) {
                kit_source from = source_of(&f);
                kit_sink to = {{NULL, 0, 0}, 0};
                from.gulp = how & 1 ? 1000 : 0;
                floe_source source = kit_source_of(&from, true, how & 2);
                floe_sink sink = kit_sink_of(&to);
                kit_ok(ctx, floe_compress_stream(ctx, &layout, &p, &source, &sink, NULL));
                assert_int_equal(to.bytes.nbytes, want.nbytes);
                assert_memory_equal(to.bytes.data, want.data, (size_t)want.nbytes);
                floe_ctx_stats(ctx, &streamed);
                assert_memory_equal(&streamed, &in_memory, sizeof streamed);
                kit_bytes_free(&to.bytes);
            }
            kit_bytes_free(&want);
        }
        kit_free(&f);
    }
    floe_ctx_free(&ctx);
}

static void decompress_same_as_in_memory(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    floe_field f = test_field(FLOE_F32), plain = kit_like(&f);
    for (size_t t = 0; t < KIT_COUNT(texts); t += TEXTS) {
        floe_params p = kit_params(texts[t]);
        kit_bytes b = kit_compress(ctx, &f, &p);
        kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &plain));
        for (int how = 0; how < 8; how++) {
            kit_source from = {.data = b.data, .nbytes = b.nbytes, .gulp = how & 4 ? 777 : 0};
            kit_sink to = {{NULL, 0, 0}, 0};
            floe_source source = kit_source_of(&from, how & 1, how & 2);
            floe_sink sink = kit_sink_of(&to);
            floe_info info = {.size = sizeof info};
            kit_ok(ctx, floe_decompress_stream(ctx, &source, &sink, NULL, &info));
            assert_int_equal(to.bytes.nbytes, kit_nelems(&f) * 4);
            assert_memory_equal(to.bytes.data, plain.data, (size_t)to.bytes.nbytes);
            assert_true(!from.went_back || from.seekable);
            assert_int_equal(info.stream_nbytes, how & 2 ? b.nbytes : 0);
            floe_stats stats = {.size = sizeof stats};
            floe_ctx_stats(ctx, &stats);
            assert_int_equal(stats.nelems, kit_nelems(&f));
            assert_int_equal(stats.stream_nbytes, b.nbytes);
            kit_bytes_free(&to.bytes);
        }
        kit_bytes_free(&b);
    }
    kit_free(&f);
    kit_free(&plain);
    floe_ctx_free(&ctx);
}

static void regions(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    floe_field f = test_field(FLOE_F64);
    uint64_t seed = 3;
    for (size_t t = TEXTS - 1; t < KIT_COUNT(texts); t += TEXTS) {
        floe_params p = kit_params(texts[t]);
        kit_bytes b = kit_compress(ctx, &f, &p);
        for (int k = 0; k < 20; k++) {
            uint64_t lo[3], hi[3], part[3];
            for (int i = 0; i < 3; i++) {
                lo[i] = kit_random(&seed) % (extent[i] + 1);
                hi[i] = lo[i] + kit_random(&seed) % (extent[i] - lo[i] + 1);
                part[i] = hi[i] - lo[i];
            }
            floe_field want = floe_field_of(NULL, FLOE_F64, 3, part);
            uint64_t nbytes = kit_nelems(&want) * 8;
            want.data = malloc((size_t)nbytes + 8);
            kit_ok(ctx, floe_decompress_region(ctx, b.data, b.nbytes, lo, hi, &want));
            kit_source from = {.data = b.data, .nbytes = b.nbytes};
            kit_sink to = {{NULL, 0, 0}, 0};
            floe_source source = kit_source_of(&from, true, k & 1);
            floe_sink sink = kit_sink_of(&to);
            floe_stream_options options = {.size = sizeof options, .lo = lo, .hi = hi};
            kit_ok(ctx, floe_decompress_stream(ctx, &source, &sink, &options, NULL));
            assert_int_equal(to.bytes.nbytes, nbytes);
            if (nbytes)
                assert_memory_equal(to.bytes.data, want.data, (size_t)nbytes);
            source = kit_source_of(&from, false, true);
            kit_fails(ctx, floe_decompress_stream(ctx, &source, &sink, &options, NULL), FLOE_ERR_UNSUPPORTED, "seek");
            kit_bytes_free(&to.bytes);
            kit_free(&want);
        }
        kit_bytes_free(&b);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* Boxes of a sample that cover trailing axes wholly are read at once, not value by value. */
static void few_reads_of_narrow_fields(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = kit_field(FLOE_F32, 3, (const uint64_t[]){40000, 2, 1}, KIT_SMOOTH, 7);
    const floe_params p = kit_params("rel=1e-3 preset=best chunk=1000x2x1");
    kit_bytes want = kit_compress(ctx, &f, &p);
    kit_source from = source_of(&f);
    kit_sink to = {{NULL, 0, 0}, 0};
    const floe_source source = kit_source_of(&from, true, true);
    const floe_sink sink = kit_sink_of(&to);
    kit_ok(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, NULL));
    assert_true(to.bytes.nbytes == want.nbytes && memcmp(to.bytes.data, want.data, want.nbytes) == 0);
    if (from.nreads > 500) /* 40 chunks, read twice, and the sample */
        fail_msg("%llu reads", (unsigned long long)from.nreads);
    kit_bytes_free(&to.bytes);
    kit_bytes_free(&want);
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* Pipes: what needs one pass works, as does everything whose field is a single slab; the rest reports why not. */
static void sources_that_cannot_seek(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    floe_field f = test_field(FLOE_F32);
    const struct {
        const char *text, *refused, *same_as;
    } cases[] = {
        {"abs=1e-2 codec=lorenzo chunk=5x34x45 fill=none", NULL, "abs=1e-2 codec=lorenzo chunk=5x34x45 fill=none"},
        {"abs=1e-2 codec=lorenzo chunk=5x34x45", NULL, "abs=1e-2 codec=lorenzo chunk=5x34x45 fill=none"},
        {"abs=1e-2 codec=lorenzo chunk=5x7x9 fill=9.96921e36", NULL,
         "abs=1e-2 codec=lorenzo chunk=5x7x9 fill=9.96921e36"},
        {"lossless chunk=5x34x45", NULL, "lossless chunk=5x34x45 fill=none"},
        {"rel=1e-2", NULL, "rel=1e-2"},
        {"psnr=50 chunk=21x10x45", NULL, "psnr=50 chunk=21x10x45"},
        {"ratio=5", NULL, "ratio=5"},
        {"abs=1e-2 chunk=5x34x45", "codec auto looks at a sample", NULL},
        {"ratio=5 chunk=5x34x45", "ratio needs the range of all values", NULL},
        {"rel=1e-2 chunk=5x34x45", "rel needs the range of all values", NULL},
        {"psnr=50 chunk=5x34x45 fill=none", "psnr needs the range of all values", NULL},
    };
    for (size_t c = 0; c < KIT_COUNT(cases); c++) {
        kit_source from = source_of(&f);
        kit_sink to = {{NULL, 0, 0}, 0};
        floe_source source = kit_source_of(&from, false, false);
        floe_sink sink = kit_sink_of(&to);
        floe_params p = kit_params(cases[c].text);
        if (cases[c].refused) {
            kit_fails(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, NULL), FLOE_ERR_UNSUPPORTED,
                      cases[c].refused);
            assert_int_equal(to.bytes.nbytes, 0);
            continue;
        }
        kit_ok(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, NULL));
        assert_false(from.went_back);
        floe_params same = kit_params(cases[c].same_as);
        kit_bytes want = kit_compress(ctx, &f, &same);
        assert_int_equal(to.bytes.nbytes, want.nbytes);
        assert_memory_equal(to.bytes.data, want.data, (size_t)want.nbytes);
        kit_bytes_free(&want);
        kit_bytes_free(&to.bytes);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

static void sources_of_wrong_size(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = kit_field(FLOE_F32, 2, (const uint64_t[]){10, 12}, KIT_SMOOTH, 1);
    const struct {
        uint64_t has;
        bool known;
        const char *message;
    } cases[] = {
        {476, true, "the source has 476 bytes, but 10x12 of f32 needs 480"},
        {484, true, "the source has 484 bytes, but 10x12 of f32 needs 480"},
        {476, false, "the source has only 476 bytes, but 10x12 of f32 needs 480"},
        {0, false, "the source has only 0 bytes, but 10x12 of f32 needs 480"},
        {481, false, "the source has at least 481 bytes, but 10x12 of f32 needs 480"},
    };
    uint8_t data[600] = {0};
    for (size_t c = 0; c < KIT_COUNT(cases); c++)
        for (int seekable = 0; seekable < 2; seekable++) {
            kit_source from = {.data = data, .nbytes = cases[c].has};
            kit_sink to = {{NULL, 0, 0}, 0};
            floe_source source = kit_source_of(&from, seekable, cases[c].known);
            floe_sink sink = kit_sink_of(&to);
            floe_params p = kit_params("abs=1e-2 chunk=4x12");
            kit_fails(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, NULL), FLOE_ERR_ARGUMENT,
                      cases[c].message);
            kit_bytes_free(&to.bytes);
        }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

static void empty_fields(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    const uint64_t shape[] = {3, 0};
    floe_field layout = floe_field_of(NULL, FLOE_F64, 2, shape);
    const char *const bounds[] = {"abs=1", "rel=1", "psnr=9", "lossless"};
    for (size_t i = 0; i < KIT_COUNT(bounds); i++) {
        kit_source none = {.data = (const uint8_t *)""}, packed;
        kit_sink stream = {{NULL, 0, 0}, 0}, raw = {{NULL, 0, 0}, 0};
        floe_source source = kit_source_of(&none, false, false);
        floe_sink to_stream = kit_sink_of(&stream), to_raw = kit_sink_of(&raw);
        floe_params p = kit_params(bounds[i]);
        kit_ok(ctx, floe_compress_stream(ctx, &layout, &p, &source, &to_stream, NULL));
        for (int seekable = 0; seekable < 2; seekable++) {
            packed = (kit_source){.data = stream.bytes.data, .nbytes = stream.bytes.nbytes};
            source = kit_source_of(&packed, seekable, seekable);
            kit_ok(ctx, floe_decompress_stream(ctx, &source, &to_raw, NULL, NULL));
            assert_int_equal(raw.bytes.nbytes, 0);
        }
        kit_bytes_free(&stream.bytes);
    }
    floe_ctx_free(&ctx);
}

/* A read or write that fails at any place ends the call with its status. */
static void failing_callbacks(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = kit_field(FLOE_F32, 2, (const uint64_t[]){40, 30}, KIT_SMOOTH, 1);
    floe_params p = kit_params("rel=1e-3 chunk=8x30");
    kit_bytes b = kit_compress(ctx, &f, &p);
    for (uint64_t at = 1; at < 4800; at += 101) {
        kit_source from = source_of(&f);
        kit_sink to = {{NULL, 0, 0}, 0};
        from.fail_at = at;
        floe_source source = kit_source_of(&from, true, true);
        floe_sink sink = kit_sink_of(&to);
        kit_fails(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, NULL), FLOE_ERR_IO, "reading at byte");
        to.fail_at = at;
        from.fail_at = 0;
        to.bytes.nbytes = 0;
        if (at < b.nbytes)
            kit_fails(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, NULL), FLOE_ERR_IO, "writing");
        kit_source packed = {.data = b.data, .nbytes = b.nbytes};
        floe_source stream = kit_source_of(&packed, at % 2, true);
        to.bytes.nbytes = 0;
        kit_fails(ctx, floe_decompress_stream(ctx, &stream, &sink, NULL, NULL), FLOE_ERR_IO, "writing");
        packed.fail_at = at;
        to.fail_at = 0;
        floe_stream_options salvage = {.size = sizeof salvage, .salvage = 1};
        if (at < b.nbytes)
            kit_fails(ctx, floe_decompress_stream(ctx, &stream, &sink, &salvage, NULL), FLOE_ERR_IO, "reading at byte");
        kit_bytes_free(&to.bytes);
    }
    kit_bytes_free(&b);
    kit_free(&f);
    floe_ctx_free(&ctx);
}

static floe_status liar_read(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    (void)user, (void)offset;
    memset(dst, 0, nbytes);
    *got = nbytes + 1;
    return FLOE_OK;
}

static void lying_source_and_missing_callbacks(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = floe_field_of(NULL, FLOE_F32, 1, (const uint64_t[]){100});
    floe_params p = kit_params("abs=1");
    kit_sink to = {{NULL, 0, 0}, 0};
    floe_source liar = {NULL, liar_read, 400, 1}, none = {NULL, NULL, 400, 1};
    floe_sink sink = kit_sink_of(&to), no_sink = {NULL, NULL};
    kit_fails(ctx, floe_compress_stream(ctx, &f, &p, &liar, &sink, NULL), FLOE_ERR_IO, "401 bytes where 400");
    kit_fails(ctx, floe_compress_stream(ctx, &f, &p, &none, &sink, NULL), FLOE_ERR_ARGUMENT, "no source");
    kit_fails(ctx, floe_compress_stream(ctx, &f, &p, NULL, &sink, NULL), FLOE_ERR_ARGUMENT, "no source");
    kit_fails(ctx, floe_compress_stream(ctx, &f, &p, &liar, &no_sink, NULL), FLOE_ERR_ARGUMENT, "no sink");
    kit_fails(ctx, floe_compress_stream(ctx, NULL, &p, &liar, &sink, NULL), FLOE_ERR_ARGUMENT, "not valid");
    kit_fails(ctx, floe_decompress_stream(ctx, &liar, &sink, NULL, NULL), FLOE_ERR_IO, "where 1024");
    kit_fails(ctx, floe_decompress_stream(ctx, &none, &sink, NULL, NULL), FLOE_ERR_ARGUMENT, "no source");
    kit_fails(ctx, floe_decompress_stream(ctx, &liar, NULL, NULL, NULL), FLOE_ERR_ARGUMENT, "no sink");
    floe_stream_options half = {.size = sizeof half, .lo = f.shape};
    kit_fails(ctx, floe_decompress_stream(ctx, &liar, &sink, &half, NULL), FLOE_ERR_ARGUMENT, "both lo and hi");
    kit_bytes_free(&to.bytes);
    floe_ctx_free(&ctx);
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

typedef struct seen {
    uint64_t calls, done, total, stop_at;
} seen;

static int watch(void *user, uint64_t done, uint64_t total)
{
    seen *s = user;
    assert_true(done >= s->done && done <= total);
    s->calls++;
    s->done = done;
    s->total = total;
    return s->stop_at && s->calls == s->stop_at;
}

static void progress_in_memory(void **state)
{
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = kit_field(FLOE_F32, 2, (const uint64_t[]){40, 30}, KIT_SMOOTH, 1), out = kit_like(&f);
    const floe_params p = kit_params("abs=1e-3 codec=lorenzo chunk=8x16");
    const uint64_t capacity = floe_compress_bound(&f, &p);
    uint8_t *stream = malloc(capacity);
    (void)state;
    for (int way = 0; way < 2; way++)
        for (uint64_t stop_at = 0; stop_at <= 10; stop_at++) {
            seen s = {.stop_at = stop_at};
            uint64_t nbytes = 0;
            floe_stream_options options = {.size = sizeof options, .progress = watch, .progress_user = &s};
            kit_ok(ctx, floe_compress_with(ctx, &f, &p, NULL, stream, capacity, &nbytes));
            const floe_status status = way ? floe_decompress_with(ctx, stream, nbytes, &options, &out)
                                           : floe_compress_with(ctx, &f, &p, &options, stream, capacity, &nbytes);
            assert_int_equal(status, stop_at ? FLOE_ERR_IO : FLOE_OK);
            assert_true(s.total == 4800 && (stop_at ? s.calls == stop_at : s.calls >= 10 && s.done == 4800));
        }
    free(stream);
    kit_free(&out);
    kit_free(&f);
    floe_ctx_free(&ctx);
}

static void progress(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = kit_field(FLOE_F32, 2, (const uint64_t[]){40, 30}, KIT_SMOOTH, 1);
    floe_params p = kit_params("rel=1e-3 chunk=8x16");
    for (uint64_t stop_at = 0; stop_at < 25; stop_at++) {
        kit_source from = source_of(&f);
        kit_sink to = {{NULL, 0, 0}, 0}, raw = {{NULL, 0, 0}, 0};
        floe_source source = kit_source_of(&from, true, true);
        floe_sink sink = kit_sink_of(&to), raw_sink = kit_sink_of(&raw);
        seen s = {.stop_at = stop_at};
        floe_stream_options options = {.size = sizeof options, .progress = watch, .progress_user = &s};
        floe_status status = floe_compress_stream(ctx, &f, &p, &source, &sink, &options);
        if (s.calls == stop_at && stop_at) {
            assert_int_equal(status, FLOE_ERR_IO);
            assert_non_null(strstr(floe_ctx_message(ctx), "progress"));
        } else {
            assert_int_equal(status, FLOE_OK);
            assert_int_equal(s.done, 4800);
            assert_int_equal(s.total, 4800);
            kit_source packed = {.data = to.bytes.data, .nbytes = to.bytes.nbytes};
            source = kit_source_of(&packed, false, false);
            s = (seen){.stop_at = 0};
            kit_ok(ctx, floe_decompress_stream(ctx, &source, &raw_sink, &options, NULL));
            assert_int_equal(s.done, 4800);
            assert_int_equal(s.calls, 10);
        }
        kit_bytes_free(&to.bytes);
        kit_bytes_free(&raw.bytes);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

typedef struct inner {
    floe_ctx *ctx;
    const floe_field *field;
    uint64_t nrefused;
} inner;

static int call_again(void *user, uint64_t done, uint64_t total)
{
    inner *i = user;
    const floe_params p = kit_params("abs=1");
    uint8_t stream[64];
    uint64_t nbytes;
    (void)done, (void)total;
    assert_int_equal(floe_compress(i->ctx, i->field, &p, stream, sizeof stream, &nbytes), FLOE_ERR_ARGUMENT);
    assert_non_null(strstr(floe_ctx_message(i->ctx), "the context is at work"));
    i->nrefused++;
    return 0;
}

/* The scratch of the call that is running would be another one's, or gone. */
static void callbacks_cannot_use_the_context(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = test_field(FLOE_F32);
    const floe_params p = kit_params("abs=1e-2 codec=lorenzo chunk=5x34x45");
    kit_bytes bytes = kit_compress(ctx, &f, &p);
    kit_source in = source_of(&f);
    kit_sink out = {{NULL, 0, 0}, 0};
    inner i = {ctx, &f, 0};
    const floe_source source = kit_source_of(&in, true, true);
    const floe_sink sink = kit_sink_of(&out);
    const floe_stream_options options = {.size = sizeof options, .progress = call_again, .progress_user = &i};
    assert_int_equal(floe_compress_stream(ctx, &f, &p, &source, &sink, &options), FLOE_OK);
    assert_string_equal(floe_ctx_message(ctx), "");
    assert_true(i.nrefused > 4);
    assert_true(out.bytes.nbytes == bytes.nbytes && memcmp(out.bytes.data, bytes.data, bytes.nbytes) == 0);
    kit_bytes_free(&out.bytes);
    kit_bytes_free(&bytes);
    kit_free(&f);
    floe_ctx_free(&ctx);
}

static void attributes(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = kit_field(FLOE_F32, 1, (const uint64_t[]){100}, KIT_SMOOTH, 1);
    floe_params p = kit_params("abs=1");
    const floe_attr attrs[] = {{"name", "temperature"},
                               {"units", "\xc2\xb0"
                                         "C"},
                               {"note", ""}};
    kit_source from = source_of(&f);
    kit_sink to = {{NULL, 0, 0}, 0};
    floe_source source = kit_source_of(&from, false, true);
    floe_sink sink = kit_sink_of(&to);
    floe_stream_options options = {.size = sizeof options, .attrs = attrs, .nattrs = 3};
    kit_ok(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, &options));
    floe_info info = {.size = sizeof info};
    char key[16], value[16];
    assert_int_equal(floe_stream_info(to.bytes.data, to.bytes.nbytes, &info, NULL), FLOE_OK);
    assert_int_equal(info.nattrs, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(floe_stream_attr(to.bytes.data, to.bytes.nbytes, i, key, sizeof key, value, sizeof value),
                         FLOE_OK);
        assert_string_equal(key, attrs[i].key);
        assert_string_equal(value, attrs[i].value);
        size_t key_nbytes = 99, value_nbytes = 99;
        assert_int_equal(floe_stream_attr_nbytes(to.bytes.data, to.bytes.nbytes, i, &key_nbytes, NULL), FLOE_OK);
        assert_int_equal(floe_stream_attr_nbytes(to.bytes.data, to.bytes.nbytes, i, NULL, &value_nbytes), FLOE_OK);
        assert_true(key_nbytes == strlen(attrs[i].key) && value_nbytes == strlen(attrs[i].value));
    }
    assert_int_equal(floe_stream_attr_nbytes(to.bytes.data, to.bytes.nbytes, 3, NULL, NULL), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_stream_attr_nbytes(NULL, 5, 0, NULL, NULL), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_stream_attr_nbytes(to.bytes.data, 60, 0, NULL, NULL), FLOE_ERR_FORMAT);
    uint64_t need = 0;
    for (uint64_t n = 0; n < 16; n++) { /* a reader that has nothing yet learns what to read first */
        assert_int_equal(floe_stream_header_nbytes(n ? to.bytes.data : NULL, n, &need, NULL), FLOE_OK);
        assert_int_equal(need, 16);
    }
    assert_int_equal(floe_stream_header_nbytes(to.bytes.data, need, &need, NULL), FLOE_OK);
    assert_int_equal(floe_stream_info(to.bytes.data, need - 1, &info, NULL), FLOE_ERR_FORMAT);
    assert_int_equal(floe_stream_info(to.bytes.data, need, &info, NULL), FLOE_OK);
    assert_int_equal(floe_stream_attr(to.bytes.data, need, 2, key, sizeof key, value, sizeof value), FLOE_OK);
    assert_int_equal(floe_stream_header_nbytes("no stream of floe", 16, &need, NULL), FLOE_ERR_FORMAT);
    assert_int_equal(floe_stream_header_nbytes(to.bytes.data, 16, NULL, NULL), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_stream_header_nbytes(NULL, 16, &need, NULL), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_stream_attr(to.bytes.data, to.bytes.nbytes, 0, key, 3, value, 1), FLOE_OK);
    assert_string_equal(key, "na");
    assert_string_equal(value, "");
    assert_int_equal(floe_stream_attr(to.bytes.data, to.bytes.nbytes, 1, NULL, 0, value, 2), FLOE_OK);
    assert_string_equal(value, ""); /* no half characters */
    assert_int_equal(floe_stream_attr(to.bytes.data, to.bytes.nbytes, 3, key, 16, value, 16), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_stream_attr(NULL, 5, 3, key, 16, value, 16), FLOE_ERR_ARGUMENT);
    uint64_t capacity = floe_compress_bound(&f, &p), nbytes; /* the same in memory, in the room that floe.h states */
    for (uint32_t i = 0; i < 3; i++)
        capacity += strlen(attrs[i].key) + strlen(attrs[i].value) + 16;
    uint8_t *stream = malloc(capacity);
    kit_ok(ctx, floe_compress_with(ctx, &f, &p, &options, stream, capacity, &nbytes));
    assert_int_equal(nbytes, to.bytes.nbytes);
    assert_memory_equal(stream, to.bytes.data, nbytes);
    assert_int_equal(floe_compress_with(ctx, &f, &p, &options, stream, nbytes - 1, &nbytes), FLOE_ERR_CAPACITY);
    floe_field out = kit_like(&f);
    kit_ok(ctx, floe_decompress(ctx, to.bytes.data, to.bytes.nbytes, &out));
    kit_ok(ctx, floe_verify(ctx, to.bytes.data, to.bytes.nbytes, &f));
    kit_free(&out);
    kit_bytes_free(&to.bytes);

    const floe_attr bad[] = {{"", "x"}, {NULL, "x"}, {"x", NULL}, {"x", "\xff"}, {"a\nb", "x"}};
    for (size_t i = 0; i < KIT_COUNT(bad); i++) {
        options.attrs = &bad[i];
        options.nattrs = 1;
        kit_fails(ctx, floe_compress_with(ctx, &f, &p, &options, stream, capacity, &nbytes), FLOE_ERR_ARGUMENT,
                  "attributes");
        kit_fails(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, &options), FLOE_ERR_ARGUMENT, "attributes");
    }
    free(stream);
    options.attrs = NULL;
    kit_fails(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, &options), FLOE_ERR_ARGUMENT, "attrs is NULL");
    kit_free(&f);
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_in_memory),
        cmocka_unit_test(decompress_same_as_in_memory),
        cmocka_unit_test(regions),
        cmocka_unit_test(few_reads_of_narrow_fields),
        cmocka_unit_test(sources_that_cannot_seek),
        cmocka_unit_test(sources_of_wrong_size),
        cmocka_unit_test(empty_fields),
        cmocka_unit_test(failing_callbacks),
        cmocka_unit_test(lying_source_and_missing_callbacks),
        cmocka_unit_test(progress),
        cmocka_unit_test(progress_in_memory),
        cmocka_unit_test(callbacks_cannot_use_the_context),
        cmocka_unit_test(attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
