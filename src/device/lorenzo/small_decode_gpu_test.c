/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of one chunk, those of f32 decoded a tile by a block: values against the CPU's, for all that such a stream may hold. Payloads are
 * damaged under checksums that fit them: the CPU's verdict must be the GPU's. A call leaves its state as it found it, so each
 * refusal is followed by a stream that is right.
 */
#include "base/checksum.h"
#include "container/container.h"
#include "stage/quantizer/quantizer.h"
#include "tests/gpu/case_gpu_kit.h"

static const gpu_case samples[] = {
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
enum { NSAMPLES = sizeof samples / sizeof *samples, LARGE = NSAMPLES - 1 };

typedef struct encoded {
    const gpu_case *c;
    floe_params params;
    floe_field field; /* host */
    floe_header header;
    uint64_t nbytes, payload_nbytes, capacity;
    void *values, *decoded;
    uint8_t *payload, *stream, *dev_values, *dev_stream;
} encoded;

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

static encoded make(const gpu_case *c)
{
    enum { MORE = 4096 }; /* for attributes */
    encoded m = {.c = c};
    uint64_t n;
    floe_index_entry entry;
    m.field = case_make(c, &m.params, &m.nbytes);
    m.values = m.field.data;
    m.decoded = take(m.nbytes);
    m.capacity = floe_compress_bound(&m.field, &m.params) + MORE;
    m.stream = take(m.capacity);
    m.payload = take(m.capacity);
    assert_int_equal(floe_compress(cpu, &m.field, &m.params, m.stream, m.capacity, &n), FLOE_OK);
    assert_int_equal(floe_header_read(m.stream, n, &m.header, NULL), FLOE_OK);
    assert_int_equal(floe_grid_nchunks(&m.header), 1);
    floe_index_entry_read(m.stream + n - floe_index_nbytes(1), 0, &entry);
    m.payload_nbytes = entry.record.nbytes;
    memcpy(m.payload, m.stream + entry.offset + FLOE_RECORD_HEAD_NBYTES, m.payload_nbytes);
    assert_int_equal(seal(&m.header, m.payload, m.payload_nbytes, m.stream), n);
    CU(cudaMalloc((void **)&m.dev_values, m.nbytes + GUARD));
    CU(cudaMalloc((void **)&m.dev_stream, m.capacity));
    return m;
}

static void unmake(encoded *m)
{
    free(m->values);
    free(m->decoded);
    free(m->stream);
    free(m->payload);
    CU(cudaFree(m->dev_values));
    CU(cudaFree(m->dev_stream));
}

#define FOR_EACH_SAMPLE(m)                \
    for (int i_ = 0; i_ < NSAMPLES; i_++) \
        for (encoded m = make(&samples[i_]); m.c; unmake(&m), m.c = NULL)

static void say(const encoded *m, const char *what, uint64_t at)
{
    print_message("%s of %s, %s: %s %llu\n", floe_dtype_name(m->c->dtype), m->c->kind, m->c->params, what,
                  (unsigned long long)at);
}

/* Decodes n bytes of m->stream on the GPU and compares with m->decoded. The report's status. */
static uint32_t decode(encoded *m, uint64_t n)
{
    floe_device_report report;
    floe_field out = floe_field_of_device(m->dev_values, m->c->dtype, m->c->rank, m->c->shape);
    CU(cudaMemset(m->dev_stream, 0xEE, m->capacity));
    CU(cudaMemcpy(m->dev_stream, m->stream, n, cudaMemcpyHostToDevice));
    CU(cudaMemset(m->dev_values, 0xEE, m->nbytes + GUARD));
    assert_int_equal(floe_decompress_async(gpu, m->dev_stream, n, NULL, &m->params, &out, dev_report), FLOE_OK);
    CU(cudaMemcpy(&report, dev_report, sizeof report, cudaMemcpyDeviceToHost));
    uint8_t *got = take(m->nbytes + GUARD);
    CU(cudaMemcpy(got, m->dev_values, m->nbytes + GUARD, cudaMemcpyDeviceToHost));
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(got[m->nbytes + i], 0xEE);
    if (report.status == FLOE_OK) {
        for (uint64_t i = 0; i < m->nbytes; i++)
            if (got[i] != ((uint8_t *)m->decoded)[i]) {
                say(m, "byte", i);
                fail();
            }
        assert_int_equal(report.nbytes, n);
    } else {
        assert_int_equal(report.nbytes, 0);
    }
    free(got);
    return report.status;
}

static floe_status decode_on_cpu(encoded *m, uint64_t n)
{
    floe_field out = m->field;
    out.data = m->decoded;
    return floe_decompress(cpu, m->stream, n, &out);
}

static void decode_right(encoded *m)
{
    const uint64_t n = seal(&m->header, m->payload, m->payload_nbytes, m->stream);
    assert_int_equal(decode_on_cpu(m, n), FLOE_OK);
    const uint32_t status = decode(m, n);
    if (status != FLOE_OK)
        say(m, "status", status);
    assert_int_equal(status, FLOE_OK);
}

/* ---- tests ----------------------------------------------------------------------------------------------------------- */

static void same_values(void **state)
{
    (void)state;
    FOR_EACH_SAMPLE(m)
    decode_right(&m);
}

/* The chunk is not where it is looked for first. */
static void attributes(void **state)
{
    (void)state;
    const floe_attr attrs[] = {{"name", "pressure"}, {"units", "hPa"}};
    FOR_EACH_SAMPLE(m)
    {
        m.header.attrs = attrs;
        m.header.nattrs = 2;
        decode_right(&m);
    }
}

/* Whether a payload is for other kernels: no call that expects preset fast has room for it. */
static bool is_foreign(const encoded *m) { return m->payload[0] == 1 || m->payload[1] == FLOE_QUANTIZER_TABLE; }

static void damage_one(encoded *m, uint8_t *right)
{
    const uint64_t n = m->payload_nbytes, at = any(2) ? any(n) : any(n < 400 ? n : 400);
    memcpy(m->payload, right, n);
    for (uint64_t k = any(3) + 1; k; k--)
        m->payload[(at + any(8)) % n] ^= (uint8_t)(1u << any(8));
    const uint64_t size = seal(&m->header, m->payload, n - (any(8) == 0 ? any(n) : 0), m->stream);
    const floe_status wanted = decode_on_cpu(m, size);
    const uint32_t status = decode(m, size);
    if (status != wanted && !(status == FLOE_ERR_LIMIT && is_foreign(m))) {
        say(m, "damaged at", at);
        print_message("%s\n", floe_ctx_message(cpu));
        assert_int_equal(status, wanted);
    }
    memcpy(m->payload, right, n);
    if (status != FLOE_OK && any(4) == 0)
        decode_right(m);
}

/* Damage that checksums do not find. */
static void damaged_payloads(void **state)
{
    (void)state;
    const int rounds = is_watched() ? 2 : is_small() ? 12 : 60;
    FOR_EACH_SAMPLE(m)
    {
        if (i_ == LARGE)
            continue;
        uint8_t *right = take(m.payload_nbytes);
        memcpy(right, m.payload, m.payload_nbytes);
        for (int r = 0; r < rounds; r++)
            damage_one(&m, right);
        decode_right(&m);
        free(right);
    }
}

/* Damage that they do find, and streams that are cut short. */
static void damaged_streams(void **state)
{
    (void)state;
    const int rounds = is_few() ? 2 : is_small() ? 4 : 20;
    FOR_EACH_SAMPLE(m)
    {
        for (int r = 0; r < rounds && i_ != LARGE; r++) {
            uint64_t n = seal(&m.header, m.payload, m.payload_nbytes, m.stream);
            if (any(3) == 0)
                n = any(2) ? any(n) : n - 1 - any(100);
            else
                m.stream[any(2) ? any(n) : n - 1 - any(120)] ^= (uint8_t)(1u << any(8));
            const floe_status wanted = decode_on_cpu(&m, n);
            const uint32_t status = decode(&m, n);
            if ((status == FLOE_OK) != (wanted == FLOE_OK))
                say(&m, "cut or damaged, bytes", n);
            assert_int_equal(status == FLOE_OK, wanted == FLOE_OK);
        }
        decode_right(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_values),
        cmocka_unit_test(attributes),
        cmocka_unit_test(damaged_payloads),
        cmocka_unit_test(damaged_streams),
    };
    return cmocka_run_group_tests(tests, report_open, report_close);
}
