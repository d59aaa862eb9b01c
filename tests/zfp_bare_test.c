/* SPDX-License-Identifier: BSD-3-Clause */
/* Bare zfp streams and their indexes through the public API; libzfp, where it was found, must make and read the same
 * streams. */
#include "tests/api_kit.h"

#include <floe/zfp.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "codec/zfp/stream/zfp_index_file.h"
#include "tests/zfp_kit.h"

enum { CASES = 800, THREADS = 3 };

static const floe_dtype dtypes[] = {FLOE_F64, FLOE_I32, FLOE_I64, FLOE_F32, FLOE_F64}; /* by floe_zfp_type */

/* A case of the kit as the API sees it. */
typedef struct bare {
    zfp_case c;
    floe_field field;
    floe_zfp_stream stream;
    uint8_t *data;
    uint64_t capacity, nbytes;
} bare;

static void bare_make(uint64_t n, bool with_header, bare *b)
{
    uint8_t header[FLOE_ZFP_HEADER_NBYTES];
    zfp_case_make(n, &b->c);
    const floe_zfp_array *a = &b->c.array;
    const floe_zfp_params *p = &b->c.params;
    b->field = floe_field_of(a->data, dtypes[a->type], a->rank, a->shape);
    memcpy(b->field.stride, a->stride, a->rank * sizeof *a->stride);
    b->stream = (floe_zfp_stream){.size = sizeof b->stream,
                                  .dtype = b->field.dtype,
                                  .rank = a->rank,
                                  .minbits = p->minbits,
                                  .maxbits = p->maxbits,
                                  .maxprec = p->maxprec,
                                  .minexp = p->minexp};
    memcpy(b->stream.shape, a->shape, sizeof b->stream.shape);
    if (with_header)
        assert_int_equal(floe_zfp_header_write(a, p, header, &b->stream.header_nbits, NULL), FLOE_OK);
    b->capacity = floe_zfp_compress_bound(&b->stream);
    assert_true(b->capacity > 0);
    b->data = malloc((size_t)b->capacity);
}

static void bare_free(bare *b)
{
    free(b->data);
    zfp_case_free(&b->c);
}

static floe_zfp_index index_for(const floe_zfp_stream *stream, uint64_t n)
{
    floe_zfp_index index = {.size = sizeof index,
                            .spec = {(floe_index_form)(n % 4), 1 + (uint32_t)(n / 4 % 5), 1 + (uint32_t)(n / 20 % 40)}};
    index.capacity = floe_zfp_index_bound(stream, &index.spec);
    assert_true(index.capacity > 0);
    index.data = malloc((size_t)index.capacity);
    return index;
}

/* Decodes into a twin with other bytes everywhere and compares all of its memory. */
static void decodes_to(floe_ctx *ctx, const bare *b, const floe_zfp_stream *given, const floe_zfp_index *index,
                       const zfp_case *want)
{
    zfp_case twin = zfp_case_twin(&b->c);
    floe_field out = b->field;
    out.data = twin.array.data;
    kit_ok(ctx, floe_zfp_decompress(ctx, b->data, b->nbytes, given, index ? index->data : NULL,
                                    index ? index->nbytes : 0, &out));
    if (memcmp(twin.memory, want->memory, (size_t)twin.nbytes) != 0)
        fail_msg("other values: %s", b->c.text);
    zfp_case_free(&twin);
}

static bool has_one_axis_twice(const bare *b)
{
    for (uint32_t i = 0; i < b->field.rank; i++) /* the kit also makes strides that no output may have */
        if (b->field.shape[i] > 1 && b->field.stride[i] == 0)
            return true;
    return false;
}

static void there_and_back(void **state)
{
    floe_ctx *ctx = kit_ctx(THREADS);
    (void)state;
    for (uint64_t n = 0; n < CASES; n++) {
        bare b;
        bare_make(n, n / 3 % 2, &b);
        floe_zfp_index index = index_for(&b.stream, n), again = index_for(&b.stream, n);
        kit_ok(ctx, floe_zfp_compress(ctx, &b.field, &b.stream, b.data, b.capacity, &b.nbytes, &index));
        kit_ok(ctx, floe_zfp_index_make(ctx, b.data, b.nbytes, &b.stream, &again));
        assert_true(index.nbytes == again.nbytes && memcmp(index.data, again.data, (size_t)index.nbytes) == 0);
        floe_zfp_stream given;
        floe_index_spec spec;
        assert_int_equal(floe_zfp_index_info(index.data, index.nbytes, &given, &spec, NULL), FLOE_OK);
        assert_true(given.dtype == b.stream.dtype && given.minexp == b.stream.minexp &&
                    given.header_nbits == b.stream.header_nbits && spec.chunk == index.spec.chunk);
        assert_false(has_one_axis_twice(&b));
        zfp_case want = zfp_case_twin(&b.c);
        floe_field out = b.field;
        out.data = want.array.data;
        kit_ok(ctx, floe_zfp_decompress(ctx, b.data, b.nbytes, &b.stream, NULL, 0, &out));
        decodes_to(ctx, &b, NULL, &index, &want);
        decodes_to(ctx, &b, &b.stream, &index, &want);
        if (b.stream.header_nbits)
            decodes_to(ctx, &b, NULL, NULL, &want);
#ifdef HAVE_ZFP
        uint8_t *theirs =
            calloc(1, (size_t)b.capacity + 64); /* it may use smaller words: then the last bytes are ours */
        const size_t ntheirs = oracle_compress(&b.c, b.stream.header_nbits != 0, theirs, (size_t)b.capacity + 64);
        if (ntheirs + 8 <= b.nbytes || ntheirs > b.nbytes || memcmp(theirs, b.data, (size_t)b.nbytes) != 0)
            fail_msg("libzfp makes another stream: %s", b.c.text);
        free(theirs);
#endif
        zfp_case_free(&want);
        free(index.data);
        free(again.data);
        bare_free(&b);
    }
    floe_ctx_free(&ctx);
}

/* Modes as text, what they become, and what is refused with what words. */
static void modes(void **state)
{
    static const struct {
        const char *text;
        floe_dtype dtype;
        floe_zfp_params want;
    } cases[] = {
        {"rate=8", FLOE_F32, {512, 512, 64, -1074}},   {"rate=0", FLOE_F64, {12, 12, 64, -1074}},
        {"prec=16", FLOE_I32, {1, 16658, 16, -1074}},  {"abs=0.05", FLOE_F32, {1, 16658, 64, -5}},
        {"abs=1e-3", FLOE_F64, {1, 16658, 64, -10}},   {"rel=0.01", FLOE_F32, {1, 16658, 64, -1}},
        {"lossless", FLOE_I64, {1, 16658, 64, -1075}}, {"expert=10:200:20:-30", FLOE_F64, {10, 200, 20, -30}},
    };
    static const struct {
        const char *text, *why;
        floe_dtype dtype;
    } refused[] = {
        {"rate=1000", "0 to 259", FLOE_F32},
        {"prec=65", "1 to 64", FLOE_F32},
        {"prec=0", "1 to 64", FLOE_F32},
        {"prec=2.5", "whole number", FLOE_F32},
        {"abs=0", "4.94e-324 to 1.797", FLOE_F32},
        {"abs=-1", "not negative", FLOE_F32},
        {"abs=x", "not negative", FLOE_F32},
        {"abs=1e-3", "rate, prec, lossless and expert", FLOE_I32},
        {"rel=1e-3", "rate, prec, lossless and expert", FLOE_I64},
        {"rel=0", "positive", FLOE_F32},
        {"pwrel=1", "there are rate=", FLOE_F32},
        {"lossless=1", "takes no value", FLOE_F32},
        {"rate", "needs a value", FLOE_F32},
        {"expert=1:2:3", "four whole numbers", FLOE_F32},
        {"expert=1:2:3:4:5", "four whole numbers", FLOE_F32},
        {"expert=-1:2:3:4", "four whole numbers", FLOE_F32},
        {"expert=1:5:64:-1074", "head alone", FLOE_F32},
        {"expert=9:16658:64:99999", "minexp", FLOE_F32},
        {"expert=20:10:64:-1074", "more than maxbits", FLOE_F32},
    };
    floe_ctx *ctx = kit_ctx(1);
    const uint64_t shape[] = {10, 20, 30};
    floe_zfp_stream s;
    (void)state;
    for (size_t i = 0; i < KIT_COUNT(cases); i++) {
        floe_field f = kit_field(FLOE_F64, 3, shape, KIT_CONSTANT, 1); /* large enough for all types */
        f.dtype = cases[i].dtype;
        ((float *)f.data)[7] = 0.25f, ((float *)f.data)[8] = 100.25f;
        if (f.dtype == FLOE_F32)
            for (int k = 9; k < 6000; k++)
                ((float *)f.data)[k] = 50;
        for (int header = 0; header < 2; header++) {
            kit_ok(ctx, floe_zfp_describe(ctx, &f, cases[i].text, header, &s));
            const floe_zfp_params got = {s.minbits, s.maxbits, s.maxprec, s.minexp};
            if (memcmp(&got, &cases[i].want, sizeof got) != 0 && strncmp(cases[i].text, "rel", 3) != 0)
                fail_msg("%s: %u %u %u %d", cases[i].text, s.minbits, s.maxbits, s.maxprec, s.minexp);
            assert_int_equal(s.header_nbits, !header ? 0 : strchr(cases[i].text, ':') ? 148 : 96);
        }
        kit_free(&f);
    }
    for (size_t i = 0; i < KIT_COUNT(refused); i++) {
        floe_field f = kit_field(FLOE_F64, 3, shape, KIT_SMOOTH, 1);
        f.dtype = refused[i].dtype;
        floe_status status = floe_zfp_describe(ctx, &f, refused[i].text, 1, &s);
        if ((status != FLOE_ERR_ARGUMENT && status != FLOE_ERR_UNSUPPORTED) ||
            !strstr(floe_ctx_message(ctx), refused[i].why))
            fail_msg("%s: %d %s", refused[i].text, status, floe_ctx_message(ctx));
        kit_free(&f);
    }
    floe_field same = kit_field(FLOE_F32, 3, shape, KIT_CONSTANT, 1), empty = same, long_one = same;
    kit_fails(ctx, floe_zfp_describe(ctx, &same, "rel=0.1", 1, &s), FLOE_ERR_ARGUMENT, "all the same");
    empty.shape[1] = 0;
    kit_fails(ctx, floe_zfp_describe(ctx, &empty, "rate=8", 1, &s), FLOE_ERR_ARGUMENT, "empty");
    long_one.data = NULL;
    long_one.shape[0] = 70000; /* 16 bits for each of three axes */
    kit_fails(ctx, floe_zfp_describe(ctx, &long_one, "rate=8", 1, &s), FLOE_ERR_ARGUMENT, "header");
    kit_ok(ctx, floe_zfp_describe(ctx, &long_one, "rate=8", 0, &s));
    kit_free(&same);
    floe_ctx_free(&ctx);
}

/* Makes the checksums of an index file right again. */
static void index_repair(uint8_t *p, uint64_t n)
{
    floe_store64(p + 96, floe_checksum(p + FLOE_ZFPX_HEADER_NBYTES, n - FLOE_ZFPX_HEADER_NBYTES));
    floe_store64(p + 104, floe_xxh3(p, 104));
}

static void indexes_that_do_not_belong(void **state)
{
    floe_ctx *ctx = kit_ctx(2);
    const uint64_t shape[] = {24, 30, 40};
    (void)state;
    floe_field f = kit_field(FLOE_F32, 3, shape, KIT_SMOOTH, 1), g = kit_field(FLOE_F32, 3, shape, KIT_SMOOTH, 2);
    floe_field out = kit_like(&f);
    floe_zfp_stream s;
    kit_ok(ctx, floe_zfp_describe(ctx, &f, "abs=1e-3", 1, &s));
    const uint64_t capacity = floe_zfp_compress_bound(&s);
    uint8_t *a = malloc((size_t)capacity), *b = malloc((size_t)capacity);
    uint64_t na, nb;
    floe_zfp_index index = index_for(&s, 22);
    kit_ok(ctx, floe_zfp_compress(ctx, &f, &s, a, capacity, &na, &index));
    kit_ok(ctx, floe_zfp_compress(ctx, &g, &s, b, capacity, &nb, NULL));
    uint8_t *x = index.data;
    const uint64_t nx = index.nbytes;
#define REFUSED(stream, n, index_nbytes, status, why) \
    kit_fails(ctx, floe_zfp_decompress(ctx, stream, n, NULL, x, index_nbytes, &out), status, why)
    REFUSED(b, nb, nx, FLOE_ERR_FORMAT, "the index is that of ");
    a[200] ^= 1;
    REFUSED(a, na, nx, FLOE_ERR_FORMAT, "another stream");
    a[200] ^= 1;
    REFUSED(a, na - 8, nx, FLOE_ERR_FORMAT, "bytes, this one has");
    REFUSED(a, na, nx - 1, FLOE_ERR_FORMAT, "behind its header");
    REFUSED(a, na, 50, FLOE_ERR_FORMAT, "no index file");
    floe_zfp_stream other = s;
    other.shape[0]++;
    kit_fails(ctx, floe_zfp_decompress(ctx, a, na, &other, x, nx, &out), FLOE_ERR_ARGUMENT, "another element type");
    other = s;
    other.header_nbits = 0; /* as if its header were a block */
    kit_fails(ctx, floe_zfp_decompress(ctx, a, na, &other, x, nx, &out), FLOE_ERR_FORMAT, "another element type");
    const uint64_t step = FLOE_TEST_STRIDE > 7 ? FLOE_TEST_STRIDE : 1; /* where only threads are looked at */
    for (uint64_t at = 0; at < nx; at += step) {                       /* damage anywhere is seen */
        x[at] ^= 0x10;
        floe_status status = floe_zfp_decompress(ctx, a, na, NULL, x, nx, &out);
        assert_true(status == FLOE_ERR_FORMAT || status == FLOE_ERR_CHECKSUM || status == FLOE_ERR_VERSION);
        x[at] ^= 0x10;
    }
    uint64_t naccepted = 0;
    /* and wrong numbers with right checksums, in the index or in its description of the stream */
    for (uint64_t at = 16; at < nx; at += step) {
        x[at] ^= 1;
        index_repair(x, nx);
        floe_status status = floe_zfp_decompress(ctx, a, na, NULL, x, nx, &out);
        naccepted += status == FLOE_OK;
        assert_true(status == FLOE_ERR_FORMAT || status == FLOE_OK);
        x[at] ^= 1;
    }
    assert_true(naccepted <= 24 + 8); /* the checks themselves, and unused numbers */
    index_repair(x, nx);
    kit_ok(ctx, floe_zfp_decompress(ctx, a, na, NULL, x, nx, &out));
    free(a), free(b), free(index.data);
    kit_free(&f), kit_free(&g), kit_free(&out);
    floe_ctx_free(&ctx);
}

static void bad_streams(void **state)
{
    floe_ctx *ctx = kit_ctx(2);
    const uint64_t shape[] = {13, 22};
    (void)state;
    floe_field f = kit_field(FLOE_F64, 2, shape, KIT_NOISE, 1), out = kit_like(&f), wrong = out;
    floe_zfp_stream s, given;
    floe_error err;
    kit_ok(ctx, floe_zfp_describe(ctx, &f, "prec=30", 1, &s));
    const uint64_t capacity = floe_zfp_compress_bound(&s);
    uint8_t *a = malloc((size_t)capacity);
    uint64_t n;
    kit_ok(ctx, floe_zfp_compress(ctx, &f, &s, a, capacity, &n, NULL));
    for (uint64_t cut = 0; cut + 8 < n; cut++) {
        uint8_t *exact = malloc(cut ? (size_t)cut : 1);
        floe_zfp_index index = index_for(&s, cut);
        memcpy(exact, a, (size_t)cut);
        assert_int_equal(floe_zfp_decompress(ctx, exact, cut, NULL, NULL, 0, &out), FLOE_ERR_FORMAT);
        assert_int_equal(floe_zfp_decompress(ctx, exact, cut, &s, NULL, 0, &out), FLOE_ERR_FORMAT);
        assert_int_equal(floe_zfp_index_make(ctx, exact, cut, NULL, &index), FLOE_ERR_FORMAT);
        free(index.data);
        free(exact);
    }
    assert_int_equal(floe_zfp_recognize(a, n, &given, &err), FLOE_OK);
    a[0] ^= 1;
    assert_int_equal(floe_zfp_recognize(a, n, &given, &err), FLOE_ERR_FORMAT);
    assert_int_equal(err.status, FLOE_ERR_FORMAT);
    kit_fails(ctx, floe_zfp_decompress(ctx, a, n, NULL, NULL, 0, &out), FLOE_ERR_FORMAT, "no zfp stream");
    a[0] ^= 1;
    wrong.shape[0]++;
    kit_fails(ctx, floe_zfp_decompress(ctx, a, n, NULL, NULL, 0, &wrong), FLOE_ERR_ARGUMENT, "13x22");
    kit_fails(ctx, floe_zfp_compress(ctx, &wrong, &s, a, capacity, &n, NULL), FLOE_ERR_ARGUMENT, "13x22");
    kit_fails(ctx, floe_zfp_compress(ctx, &f, &s, a, n - 8, &n, NULL), FLOE_ERR_CAPACITY, "needs more");
    s.header_nbits = 97;
    kit_fails(ctx, floe_zfp_compress(ctx, &f, &s, a, capacity, &n, NULL), FLOE_ERR_ARGUMENT, "96 or 148");
    s.header_nbits = 148;
    kit_fails(ctx, floe_zfp_compress(ctx, &f, &s, a, capacity, &n, NULL), FLOE_ERR_ARGUMENT, "has 96 bits");
    s.maxbits = 0;
    assert_int_equal(floe_zfp_compress_bound(&s), 0);
    free(a);
    kit_free(&f), kit_free(&out);
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(modes),
        cmocka_unit_test(indexes_that_do_not_belong),
        cmocka_unit_test(bad_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
