/* SPDX-License-Identifier: BSD-3-Clause */
/* Small chunks side by side (call/lanes.h): any number of threads gives the bytes, values and failures of one thread. */
#include "container/container.h"
#include "tests/api_kit.h"

/* Slabs of 20 chunks and more than 2^17 values, of which a source gives lanes enough to do. */
static const uint64_t extent[] = {20, 96, 100};
#define CHUNKS " chunk=16x24x24"
enum { NCHUNKS = 40, STEP = FLOE_TEST_STRIDE > 1 ? 3 : 1 /* sanitizers see a third of the texts */ };

static const char *const texts[] = {"abs=1e-2 codec=lorenzo" CHUNKS,        "abs=1e-2 codec=interp" CHUNKS,
                                    "rel=1e-4 codec=wavelet" CHUNKS,        "abs=1e-2 codec=zfp" CHUNKS,
                                    "psnr=60 codec=interp" CHUNKS,          "psnr=60 codec=lorenzo preset=best" CHUNKS,
                                    "abs=1e-2 codec=lorenzo chunk=20x96x10"};
static const uint32_t threads[] = {3, 8};

static floe_field test_field(void) { return kit_field(FLOE_F32, 3, extent, KIT_SMOOTH, 7); }

static floe_ctx *ctx_of(uint32_t nthreads, uint64_t max_memory)
{
    floe_ctx *ctx = NULL;
    const floe_ctx_options options = {.size = sizeof options, .threads = nthreads, .max_memory = max_memory};
    assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
    return ctx;
}

/* ---- the same bytes and values ------------------------------------------------------------------------------------ */

static void compresses_as_one_thread(void **state)
{
    (void)state;
    floe_field f = test_field();
    floe_ctx *one = kit_ctx(1);
    for (size_t t = 0; t < KIT_COUNT(texts); t += STEP) {
        const floe_params p = kit_params(texts[t]);
        kit_bytes want = kit_compress(one, &f, &p);
        floe_stats expected = {.size = sizeof expected}, stats = {.size = sizeof stats};
        floe_ctx_stats(one, &expected);
        for (size_t k = 0; k < KIT_COUNT(threads); k++) {
            floe_ctx *ctx = kit_ctx(threads[k]);
            kit_bytes b = kit_compress(ctx, &f, &p);
            floe_ctx_stats(ctx, &stats);
            assert_memory_equal(&stats, &expected, sizeof stats);
            assert_int_equal(b.nbytes, want.nbytes);
            assert_memory_equal(b.data, want.data, (size_t)want.nbytes);
            kit_fails(ctx, floe_compress(ctx, &f, &p, b.data, want.nbytes - 1, &b.nbytes), FLOE_ERR_CAPACITY, "longer");
            kit_source from = {.data = f.data, .nbytes = kit_nelems(&f) * 4};
            kit_sink to = {{NULL, 0, 0}, 0};
            const floe_source source = kit_source_of(&from, true, true);
            const floe_sink sink = kit_sink_of(&to);
            kit_ok(ctx, floe_compress_stream(ctx, &f, &p, &source, &sink, NULL));
            assert_int_equal(to.bytes.nbytes, want.nbytes);
            assert_memory_equal(to.bytes.data, want.data, (size_t)want.nbytes);
            kit_bytes_free(&to.bytes);
            kit_bytes_free(&b);
            floe_ctx_free(&ctx);
        }
        kit_bytes_free(&want);
    }
    kit_free(&f);
    floe_ctx_free(&one);
}

/* From memory, and from a source into a sink: status and message are those of one thread, and the values if there are any. */
static void decode(uint32_t nthreads, const kit_bytes *b, const floe_stream_options *o, floe_field *out, char *message)
{
    floe_ctx *ctx = kit_ctx(nthreads);
    const floe_status status = floe_decompress_with(ctx, b->data, b->nbytes, o, out);
    strcpy(message, floe_ctx_message(ctx));
    kit_source from = {.data = b->data, .nbytes = b->nbytes};
    kit_sink to = {{NULL, 0, 0}, 0};
    const floe_source source = kit_source_of(&from, true, true);
    const floe_sink sink = kit_sink_of(&to);
    assert_int_equal(floe_decompress_stream(ctx, &source, &sink, o, NULL), status);
    assert_string_equal(floe_ctx_message(ctx), message);
    if (status == FLOE_OK)
        assert_memory_equal(to.bytes.data, out->data, (size_t)to.bytes.nbytes);
    assert_true((status == FLOE_OK) == (to.bytes.nbytes == kit_nelems(out) * 4));
    kit_bytes_free(&to.bytes);
    floe_ctx_free(&ctx);
}

static void decodes_as_one_thread(const kit_bytes *b, const floe_stream_options *o, const uint64_t *shape)
{
    const floe_field layout = floe_field_of(NULL, FLOE_F32, 3, shape);
    char expected[1024], message[1024];
    floe_field want = kit_like(&layout);
    decode(1, b, o, &want, expected);
    for (size_t k = 0; k < KIT_COUNT(threads); k++) {
        floe_field got = kit_like(&layout);
        decode(threads[k], b, o, &got, message);
        assert_string_equal(message, expected);
        if (message[0] == 0)
            assert_true(kit_same(&got, &want));
        kit_free(&got);
    }
    kit_free(&want);
}

static void decompresses_as_one_thread(void **state)
{
    (void)state;
    floe_field f = test_field();
    floe_ctx *ctx = kit_ctx(1);
    static const uint64_t lo[] = {3, 5, 7}, hi[] = {19, 94, 99}, part[] = {16, 89, 92}, half[] = {10, 48, 50};
    for (size_t t = 0; t < KIT_COUNT(texts); t += STEP) {
        const floe_params p = kit_params(texts[t]);
        kit_bytes b = kit_compress(ctx, &f, &p);
        decodes_as_one_thread(&b, &(floe_stream_options){.size = sizeof(floe_stream_options)}, extent);
        decodes_as_one_thread(&b, &(floe_stream_options){.size = sizeof(floe_stream_options), .lo = lo, .hi = hi},
                              part);
        decodes_as_one_thread(&b, &(floe_stream_options){.size = sizeof(floe_stream_options), .level = 1}, half);
        kit_bytes_free(&b);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* ---- failures ------------------------------------------------------------------------------------------------------ */

static void payload_flip(const kit_bytes *b, uint64_t chunk)
{
    uint64_t at;
    floe_index_entry e;
    floe_error err;
    assert_int_equal(
        floe_footer_read(b->data + b->nbytes - FLOE_FOOTER_NBYTES, FLOE_FOOTER_NBYTES, b->nbytes, NCHUNKS, &at, &err),
        FLOE_OK);
    floe_index_entry_read(b->data + at, chunk, &e);
    b->data[e.offset + FLOE_RECORD_HEAD_NBYTES + e.record.nbytes / 2] ^= 1;
}

static void first_damage_is_reported(void **state)
{
    (void)state;
    floe_field f = test_field(), out = kit_like(&f);
    floe_ctx *ctx = kit_ctx(8);
    const floe_stream_options all = {.size = sizeof all};
    for (size_t t = 0; t < 4; t += STEP) {
        const floe_params p = kit_params(texts[t]);
        kit_bytes b = kit_compress(ctx, &f, &p);
        payload_flip(&b, 8);
        decodes_as_one_thread(&b, &all, extent);
        kit_fails(ctx, floe_decompress(ctx, b.data, b.nbytes, &out), FLOE_ERR_CHECKSUM, "chunk 8 ");
        payload_flip(&b, 2);
        decodes_as_one_thread(&b, &all, extent);
        kit_fails(ctx, floe_decompress(ctx, b.data, b.nbytes, &out), FLOE_ERR_CHECKSUM, "chunk 2 ");
        kit_bytes_free(&b);
    }
    kit_free(&f);
    kit_free(&out);
    floe_ctx_free(&ctx);
}

/* ---- limits -------------------------------------------------------------------------------------------------------- */

static bool both_ways_within(uint32_t nthreads, uint64_t max_memory, const floe_field *f, const char *text,
                             const kit_bytes *want)
{
    const floe_params p = kit_params(text);
    floe_ctx *ctx = ctx_of(nthreads, max_memory);
    floe_field out = kit_like(f);
    uint8_t *stream = malloc((size_t)want->nbytes);
    uint64_t nbytes = 0;
    floe_status status = floe_compress(ctx, f, &p, stream, want->nbytes, &nbytes);
    if (status == FLOE_OK) {
        assert_int_equal(nbytes, want->nbytes);
        assert_memory_equal(stream, want->data, (size_t)nbytes);
        status = floe_decompress(ctx, want->data, want->nbytes, &out);
    }
    assert_true(status == FLOE_OK || status == FLOE_ERR_LIMIT);
    kit_free(&out);
    free(stream);
    floe_ctx_free(&ctx);
    return status == FLOE_OK;
}

/* The least that one thread needs: eight then do one chunk after another. */
static void little_memory(void **state)
{
    (void)state;
    floe_field f = test_field();
    floe_ctx *one = kit_ctx(1);
    for (size_t t = 0; t < 4; t += STEP) {
        const floe_params p = kit_params(texts[t]);
        kit_bytes want = kit_compress(one, &f, &p);
        uint64_t least = 0, enough = 1 << 25;
        while (enough - least > 1 << 12) {
            const uint64_t mid = least + (enough - least) / 2;
            *(both_ways_within(1, mid, &f, texts[t], &want) ? &enough : &least) = mid;
        }
        assert_true(both_ways_within(8, enough, &f, texts[t], &want));
        kit_bytes_free(&want);
    }
    kit_free(&f);
    floe_ctx_free(&one);
}

/* Large chunks wait for each other in no more memory than that of a few for each thread. */
static void batches_of_large_chunks(void **state)
{
    (void)state;
    const floe_params p = kit_params("abs=1e-2 codec=interp chunk=128x128x128");
    const floe_field layout = floe_field_of(NULL, FLOE_F64, 3, (const uint64_t[]){1024, 1024, 1024});
    floe_ctx *one = kit_ctx(1), *many = kit_ctx(8);
    size_t of_one = 0, of_many = 0;
    kit_ok(one, floe_workspace_nbytes(one, &layout, &p, &of_one));
    kit_ok(many, floe_workspace_nbytes(many, &layout, &p, &of_many));
    if (of_many > 14 * of_one)
        fail_msg("%zu bytes for a thread, %zu for 8", of_one, of_many);
    floe_ctx_free(&one);
    floe_ctx_free(&many);
}

/* ---- progress ------------------------------------------------------------------------------------------------------ */

typedef struct watch {
    uint64_t ncalls, ends_at, done, total;
} watch;

static int watched(void *user, uint64_t done, uint64_t total)
{
    watch *w = user;
    assert_true(done >= w->done && done <= total);
    w->done = done;
    w->total = total;
    return ++w->ncalls == w->ends_at;
}

static void progress_counts_and_ends(void **state)
{
    (void)state;
    floe_field f = test_field(), out = kit_like(&f);
    const floe_params p = kit_params(texts[0]);
    const uint64_t raw_nbytes = kit_nelems(&f) * 4;
    uint64_t nbytes;
    floe_ctx *ctx = kit_ctx(8);
    kit_bytes b = kit_compress(ctx, &f, &p);
    uint8_t *again = malloc((size_t)b.capacity);
    for (uint64_t ends_at = 0; ends_at <= 5; ends_at += 5) {
        const floe_status want = ends_at ? FLOE_ERR_IO : FLOE_OK;
        watch coded = {.ends_at = ends_at}, decoded = coded;
        floe_stream_options o = {.size = sizeof o, .progress = watched, .progress_user = &coded};
        assert_int_equal(floe_compress_with(ctx, &f, &p, &o, again, b.capacity, &nbytes), want);
        assert_int_equal(coded.total, raw_nbytes);
        o.progress_user = &decoded;
        if (ends_at == 0)
            assert_int_equal(coded.done, raw_nbytes);
        else
            assert_int_equal(coded.ncalls, ends_at);
        assert_int_equal(floe_decompress_with(ctx, b.data, b.nbytes, &o, &out), want);
        assert_int_equal(decoded.ncalls, ends_at ? ends_at : NCHUNKS);
        assert_true(ends_at ? decoded.done < raw_nbytes : decoded.done == raw_nbytes);
    }
    free(again);
    kit_bytes_free(&b);
    kit_free(&f);
    kit_free(&out);
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compresses_as_one_thread), cmocka_unit_test(decompresses_as_one_thread),
        cmocka_unit_test(first_damage_is_reported), cmocka_unit_test(little_memory),
        cmocka_unit_test(batches_of_large_chunks),  cmocka_unit_test(progress_counts_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
