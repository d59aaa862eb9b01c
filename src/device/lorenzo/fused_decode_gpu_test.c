/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of encoder pack, decoded and checked by one kernel: values against the CPU's, for all that a stream of several chunks and of one
 * may hold, and what is refused when bytes are wrong, or missing. Payloads of a single chunk are damaged under checksums that fit
 * them: the CPU's verdict must be the GPU's. A call leaves its state as it found it, so refusals are followed by a stream that is right.
 */
#include "base/checksum.h"
#include "container/container.h"
#include "stage/quantizer/quantizer.h"
#include "tests/gpu/case_gpu_kit.h"

static uint64_t *dev_nbytes;

static const gpu_case cases[] = {
    {"turbulence", FLOE_F32, 3, {70, 50, 100}, "abs=0.01 fill=none preset=fast chunk=16x50x100"},
    {"turbulence", FLOE_F64, 3, {40, 32, 64}, "abs=1e-4 fill=none preset=fast chunk=40x16x64"},
    {"turbulence", FLOE_F32, 2, {300, 400}, "rel=1e-3 preset=fast chunk=64x128"},
    {"turbulence", FLOE_F32, 1, {90000}, "rel=1e-4 preset=fast chunk=8192"},
    {"turbulence", FLOE_F64, 4, {5, 12, 20, 40}, "rel=1e-3 preset=fast chunk=2x12x20x40"},
    {"noise", FLOE_F32, 3, {48, 48, 64}, "rel=3e-7 preset=fast chunk=16x48x64"}, /* more to check than to decode */
    {"hostile", FLOE_F32, 3, {34, 50, 70}, "abs=1e-3 preset=fast chunk=17x50x70"},
    {"fill", FLOE_F32, 3, {40, 48, 64}, "rel=1e-3 preset=fast chunk=20x48x64"},
    {"turbulence", FLOE_F32, 3, {40, 40, 40}, "pwrel=1e-3 preset=fast chunk=10x40x40"},
    {"steps", FLOE_F32, 3, {20, 40, 40}, "lossless preset=fast chunk=5x40x40"},
    {"turbulence",
     FLOE_F32,
     1,
     {100000},
     "abs=0.01 fill=none preset=fast chunk=64"}, /* more than a context's state holds */
    /* a single chunk; of f32 a tile is decoded by a block */
    {"turbulence", FLOE_F32, 3, {48, 48, 96}, "abs=0.01 fill=none preset=fast"}, /* whole tiles */
    {"turbulence", FLOE_F32, 3, {35, 50, 100}, "rel=1e-3 preset=fast"},          /* cut off along all axes */
    {"turbulence", FLOE_F64, 3, {32, 32, 64}, "abs=1e-4 fill=none preset=fast"},
    {"turbulence", FLOE_F64, 3, {19, 30, 70}, "rel=1e-6 preset=fast"},
    {"turbulence", FLOE_F32, 2, {192, 384}, "abs=0.01 fill=none preset=fast"},
    {"turbulence", FLOE_F64, 2, {130, 261}, "psnr=70 preset=fast"},
    {"turbulence", FLOE_F32, 4, {3, 20, 20, 40}, "rel=1e-3 preset=fast"},
    {"turbulence", FLOE_F32, 4, {20, 3, 20, 40}, "rel=1e-2 preset=fast"},
    {"turbulence", FLOE_F32, 3, {40, 140, 3}, "rel=1e-3 preset=fast"}, /* components */
    {"turbulence", FLOE_F32, 3, {40, 40, 40}, "rel=1e-6 preset=fast"}, /* sums too large for floats */
    {"noise", FLOE_F32, 3, {32, 33, 40}, "rel=3e-7 preset=fast"},      /* and residuals */
    {"noise", FLOE_F64, 3, {32, 16, 32}, "rel=1e-12 preset=fast"},     /* tiles of many words */
    {"constant", FLOE_F32, 3, {17, 16, 33}, "rel=1e-3 preset=fast"},
    {"hostile", FLOE_F32, 3, {17, 50, 70}, "abs=1e-3 preset=fast"}, /* exceptions */
    {"hostile", FLOE_F64, 2, {140, 140}, "rel=1e-3 preset=fast"},
    {"fill", FLOE_F32, 3, {40, 48, 64}, "rel=1e-3 preset=fast"},
    {"steps", FLOE_F32, 3, {20, 40, 40}, "rel=1e-9 preset=fast"},
    {"turbulence", FLOE_F32, 3, {1, 60, 200}, "rel=1e-3 preset=fast"},
    {"turbulence", FLOE_F32, 3, {160, 160, 200}, "abs=0.01 fill=none preset=fast"}, /* more entries than threads */
};
enum { NCASES = sizeof cases / sizeof *cases, LARGE = NCASES - 1 };

typedef struct encoded {
    const gpu_case *c;
    floe_params params;
    floe_field field; /* host */
    floe_header header;
    uint64_t nbytes, stream_nbytes, capacity;
    uint8_t *stream, *other /* stream, of capacity */, *dev_values, *dev_stream;
    void *decoded; /* the CPU's, of the last stream that it has decoded */
} encoded;

static encoded make(const gpu_case *c)
{
    enum { MORE = 4096 }; /* for attributes */
    encoded m = {.c = c};
    m.field = case_make(c, &m.params, &m.nbytes);
    m.capacity = floe_compress_bound(&m.field, &m.params) + MORE;
    m.stream = take(m.capacity);
    m.other = take(m.capacity);
    m.decoded = take(m.nbytes);
    assert_int_equal(floe_compress(cpu, &m.field, &m.params, m.stream, m.capacity, &m.stream_nbytes), FLOE_OK);
    assert_int_equal(floe_header_read(m.stream, m.stream_nbytes, &m.header, NULL), FLOE_OK);
    CU(cudaMalloc((void **)&m.dev_values, m.nbytes + GUARD));
    CU(cudaMalloc((void **)&m.dev_stream, m.capacity));
    return m;
}

static void unmake(encoded *m)
{
    free(m->field.data);
    free(m->stream);
    free(m->other);
    free(m->decoded);
    CU(cudaFree(m->dev_values));
    CU(cudaFree(m->dev_stream));
}

static void say(const encoded *m, const char *what, uint64_t at)
{
    print_message("%s of %s, %s: %s %llu\n", floe_dtype_name(m->c->dtype), m->c->kind, m->c->params, what,
                  (unsigned long long)at);
}

static floe_status decode_on_cpu(encoded *m, const uint8_t *stream, uint64_t n)
{
    floe_field out = m->field;
    out.data = m->decoded;
    return floe_decompress(cpu, stream, n, &out);
}

/* n bytes of a stream, whose number the device alone has where on_device. The report's status; if all is right, values are the CPU's. */
static uint32_t decode(const encoded *m, const uint8_t *stream, uint64_t n, bool on_device)
{
    floe_device_report report;
    floe_field out = floe_field_of_device(m->dev_values, m->c->dtype, m->c->rank, m->c->shape);
    uint8_t *got = take(m->nbytes + GUARD);
    uint8_t *dev_stream = m->dev_stream + (on_device ? 0 : (m->capacity - n) / 16 * 16); /* little is behind it */
    CU(cudaMemset(m->dev_stream, 0xEE, m->capacity));
    CU(cudaMemset(m->dev_values, 0xEE, m->nbytes + GUARD));
    CU(cudaMemcpy(dev_stream, stream, n, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(dev_nbytes, &n, sizeof n, cudaMemcpyHostToDevice));
    assert_int_equal(floe_decompress_async(gpu, dev_stream, on_device ? m->capacity : n, on_device ? dev_nbytes : NULL,
                                           &m->params, &out, dev_report),
                     FLOE_OK);
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&report, dev_report, sizeof report, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(got, m->dev_values, m->nbytes + GUARD, cudaMemcpyDeviceToHost));
    assert_int_equal(report.nbytes, report.status == FLOE_OK ? n : 0);
    for (uint64_t i = 0; report.status == FLOE_OK && i < m->nbytes; i++)
        if (got[i] != ((uint8_t *)m->decoded)[i]) {
            say(m, "byte", i);
            fail();
        }
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(got[m->nbytes + (uint64_t)i], 0xEE);
    free(got);
    return report.status;
}

static void decode_right_stream(encoded *m, const uint8_t *stream, uint64_t n, bool on_device)
{
    assert_int_equal(decode_on_cpu(m, stream, n), FLOE_OK);
    const uint32_t status = decode(m, stream, n, on_device);
    if (status != FLOE_OK)
        say(m, "status", status);
    assert_int_equal(status, FLOE_OK);
}

static void decode_right(encoded *m, bool on_device) { decode_right_stream(m, m->stream, m->stream_nbytes, on_device); }

/* By a call that waits. */
static void decode_waiting(floe_ctx *ctx, encoded *m)
{
    uint8_t *got = take(m->nbytes);
    floe_field out = floe_field_of_device(m->dev_values, m->c->dtype, m->c->rank, m->c->shape);
    CU(cudaMemcpy(m->dev_stream, m->stream, m->stream_nbytes, cudaMemcpyHostToDevice));
    assert_int_equal(floe_decompress(ctx, m->dev_stream, m->stream_nbytes, &out), FLOE_OK);
    assert_int_equal(decode_on_cpu(m, m->stream, m->stream_nbytes), FLOE_OK);
    CU(cudaMemcpy(got, m->dev_values, m->nbytes, cudaMemcpyDeviceToHost));
    assert_memory_equal(got, m->decoded, m->nbytes);
    free(got);
}

static void same_values(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        decode_right(&m, false);
        decode_right(&m, true);
        unmake(&m);
    }
}

/* One bit at a time all over the stream, often at its end, and streams that are cut short. */
static void damaged_streams(void **state)
{
    (void)state;
    enum { END = 120 };
    const int rounds = is_watched() ? 2 : is_few() ? 4 : is_small() ? 12 : 60;
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        const uint64_t n = m.stream_nbytes;
        assert_true(n > END);
        for (int r = 0; r < rounds && i != LARGE; r++) {
            const uint64_t at = any(3) ? any(n) : n - 1 - any(END);
            const bool cut = any(4) == 0;
            const uint8_t bit = cut ? 0 : (uint8_t)(1u << any(8));
            m.stream[at] ^= bit;
            assert_int_not_equal(decode(&m, m.stream, cut ? at : n, any(2) == 0), FLOE_OK);
            m.stream[at] ^= bit;
            if (any(8) == 0)
                decode_right(&m, any(2) == 0);
        }
        decode_right(&m, false);
        unmake(&m);
    }
}

/* ---- a single chunk -------------------------------------------------------------------------------------------------- */

/* A stream of the header and one payload. Its size. */
static uint64_t seal(const floe_header *header, const uint8_t *payload, uint64_t nbytes, uint8_t *stream)
{
    const uint64_t head = floe_header_nbytes(header), span = floe_record_nbytes(nbytes);
    const floe_index_entry entry = {head, {0, nbytes, floe_checksum(payload, nbytes)}};
    assert_int_equal(floe_header_write(header, stream, head, NULL), FLOE_OK);
    memset(stream + head, 0, span);
    floe_record_head_write(&entry.record, stream + head);
    memcpy(stream + head + FLOE_RECORD_HEAD_NBYTES, payload, nbytes);
    floe_index_write(&entry, 1, head + span, stream + head + span);
    return head + span + floe_index_nbytes(1);
}

/* That of a stream of one chunk; NULL: there are more. */
static const uint8_t *only_payload(const encoded *m, uint64_t *nbytes)
{
    floe_index_entry entry;
    if (floe_grid_nchunks(&m->header) != 1)
        return NULL;
    floe_index_entry_read(m->stream + m->stream_nbytes - floe_index_nbytes(1), 0, &entry);
    *nbytes = entry.record.nbytes;
    return m->stream + entry.offset + FLOE_RECORD_HEAD_NBYTES;
}

/* The chunk is not where it is looked for first. */
static void attributes(void **state)
{
    (void)state;
    const floe_attr attrs[] = {{"name", "pressure"}, {"units", "hPa"}};
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        uint64_t nbytes;
        const uint8_t *payload = only_payload(&m, &nbytes);
        m.header.attrs = attrs;
        m.header.nattrs = 2;
        if (payload)
            decode_right_stream(&m, m.other, seal(&m.header, payload, nbytes, m.other), false);
        unmake(&m);
    }
}

/* Whether a payload is for other kernels: no call that expects preset fast has room for it. */
static bool is_foreign(const uint8_t *payload) { return payload[0] == 1 || payload[1] == FLOE_QUANTIZER_TABLE; }

static void damage_one(encoded *m, const uint8_t *right, uint64_t n)
{
    const uint64_t at = any(2) ? any(n) : any(n < 400 ? n : 400);
    uint8_t *payload = take(n);
    memcpy(payload, right, n);
    for (uint64_t k = any(3) + 1; k; k--)
        payload[(at + any(8)) % n] ^= (uint8_t)(1u << any(8));
    const uint64_t size = seal(&m->header, payload, n - (any(8) == 0 ? any(n) : 0), m->other);
    const floe_status wanted = decode_on_cpu(m, m->other, size);
    const uint32_t status = decode(m, m->other, size, false);
    if (status != wanted && !(status == FLOE_ERR_LIMIT && is_foreign(payload))) {
        say(m, "damaged at", at);
        print_message("%s\n", floe_ctx_message(cpu));
        assert_int_equal(status, wanted);
    }
    if (status != FLOE_OK && any(4) == 0)
        decode_right(m, false);
    free(payload);
}

/* Damage that checksums do not find. */
static void damaged_payloads(void **state)
{
    (void)state;
    const int rounds = is_watched() ? 2 : is_small() ? 12 : 60;
    for (int i = 0; i < LARGE; i++) {
        encoded m = make(&cases[i]);
        uint64_t nbytes;
        const uint8_t *payload = only_payload(&m, &nbytes);
        for (int r = 0; payload && r < rounds; r++)
            damage_one(&m, payload, nbytes);
        decode_right(&m, false);
        unmake(&m);
    }
}

/* ---- several --------------------------------------------------------------------------------------------------------- */

/* A payload's checksum comes before whatever else its damage leads to. */
static void checksums_come_first(void **state)
{
    (void)state;
    encoded m = make(&cases[0]);
    uint8_t *chunk = m.stream + floe_header_nbytes(&m.header) + FLOE_RECORD_HEAD_NBYTES;
    for (int at = 0; at < 64; at += 3 * one_in(5)) { /* of the first chunk's header */
        chunk[at] ^= 0x5A;
        assert_int_equal(decode(&m, m.stream, m.stream_nbytes, false), FLOE_ERR_CHECKSUM);
        chunk[at] ^= 0x5A;
    }
    decode_right(&m, false);
    unmake(&m);
}

/* A context takes the next stream for one like the last. What was put on the way for that must not outlive it: one that is not
 * wants more memory, so that what there was is gone. */
static void another_kind_of_stream(void **state)
{
    (void)state;
    static const gpu_case kinds[] = {
        {"turbulence", FLOE_F32, 1, {90000}, "abs=0.01 fill=none preset=fast"},
        {"turbulence", FLOE_F32, 1, {90000}, "abs=0.01 fill=none preset=balanced codec=lorenzo chunk=8192"},
    };
    const floe_ctx_options any_gpu = {.size = sizeof any_gpu};
    floe_ctx *fresh = NULL;
    encoded before = make(&kinds[0]), after = make(&kinds[1]);
    assert_int_equal(floe_ctx_create(&fresh, &any_gpu), FLOE_OK);
    for (int i = 0; i < 3; i++)
        decode_waiting(fresh, i < 2 ? &before : &after);
    floe_ctx_free(&fresh);
    unmake(&before);
    unmake(&after);
}

/* Of device memory: what a context reports that may have next to none. */
static size_t need_of(const encoded *m)
{
    const floe_ctx_options nothing = {.size = sizeof nothing, .max_memory = 1};
    floe_ctx *ctx = NULL;
    floe_field out = floe_field_of_device(m->dev_values, m->c->dtype, m->c->rank, m->c->shape);
    size_t nbytes = 0;
    CU(cudaMemcpy(m->dev_stream, m->stream, m->stream_nbytes, cudaMemcpyHostToDevice));
    assert_int_equal(floe_ctx_create(&ctx, &nothing), FLOE_OK);
    assert_int_equal(floe_decompress(ctx, m->dev_stream, m->stream_nbytes, &out), FLOE_ERR_LIMIT);
    assert_int_equal(sscanf(floe_ctx_message(ctx), "%zu bytes", &nbytes), 1);
    floe_ctx_free(&ctx);
    return nbytes;
}

/* Nor must a stream that needs more than there may be keep a context from those that do not. */
static void another_size_of_stream(void **state)
{
    (void)state;
    static const gpu_case kinds[] = {
        {"turbulence", FLOE_F32, 1, {90000}, "abs=0.01 fill=none preset=fast"},
        {"turbulence", FLOE_F32, 1, {90000}, "abs=0.01 fill=none preset=balanced codec=lorenzo"},
    };
    floe_ctx *ctx = NULL;
    encoded small = make(&kinds[0]), large = make(&kinds[1]);
    floe_field out = floe_field_of_device(large.dev_values, FLOE_F32, 1, kinds[1].shape);
    const floe_ctx_options little = {.size = sizeof little, .max_memory = need_of(&small)};
    assert_true(need_of(&large) > little.max_memory);
    assert_int_equal(floe_ctx_create(&ctx, &little), FLOE_OK);
    decode_waiting(ctx, &small);
    assert_int_equal(floe_decompress(ctx, large.dev_stream, large.stream_nbytes, &out), FLOE_ERR_LIMIT);
    decode_waiting(ctx, &small);
    floe_ctx_free(&ctx);
    unmake(&small);
    unmake(&large);
}

static int open_all(void **state)
{
    CU(cudaMalloc((void **)&dev_nbytes, sizeof *dev_nbytes));
    return report_open(state);
}

static int close_all(void **state)
{
    CU(cudaFree(dev_nbytes));
    return report_close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_values),
        cmocka_unit_test(damaged_streams),
        cmocka_unit_test(attributes),
        cmocka_unit_test(damaged_payloads),
        cmocka_unit_test(checksums_come_first),
        cmocka_unit_test(another_kind_of_stream),
        cmocka_unit_test(another_size_of_stream),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
