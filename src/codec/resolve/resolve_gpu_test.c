/* SPDX-License-Identifier: BSD-3-Clause */
/* The first step of a compression on a GPU against whole streams of the CPU: the header's bytes, the codec's parameters, the
 * quantizers, the chunks. FLOE_GPU_TEST=small: less of it. */
#include "tests/api_kit.h"
#include "tests/gpu/gpu_kit.h"

#include "base/hd.h"
#include "call/resolve.h"
#include "codec/lorenzo/format/lorenzo_params_math.h"
#include "codec/lorenzo/gpu/begin/lorenzo_table.h"
#include "codec/lorenzo/gpu/lorenzo_cuda.h"
#include "codec/resolve/resolve_math.h"
#include "synth/synth.h"

static void *device_memory(uint64_t nbytes)
{
    void *p = NULL;
    CU(cudaMalloc(&p, nbytes ? nbytes : 1));
    return p;
}

static void fetch(void *to, const void *from, uint64_t nbytes)
{
    CU(cudaMemcpy(to, from, nbytes, cudaMemcpyDeviceToHost));
}

/* ---- the GPU's result ---------------------------------------------------------------------------------------------- */

enum { CAPACITY = 256, PLACE_NBYTES = 4000, NCLEARED = 1001 };

typedef struct result {
    uint8_t stream[CAPACITY];
    floe_dev_params params;
    floe_dev_range range;
    uint32_t status;
    floe_dev_chunk *chunks;
    uint64_t nchunks;
} result;

/* One block of device memory for everything but tables. */
typedef struct device {
    void *values, *scratch, *place[2], *tables[3];
    result *result;
    floe_dev_chunk *chunks;
    floe_huffman_hist *hists;
    uint32_t *words; /* status and others that are cleared, NCLEARED; then retry */
    uint64_t *done;
} device;

static floe_lorenzo_encode_call call_of(const floe_header *h, const floe_field *f, device *d)
{
    floe_lorenzo_encode_call c;
    memset(&c, 0, sizeof c);
    c.grid.nchunks = floe_grid_nchunks(h);
    c.field.data = d->values;
    c.field.dtype = f->dtype;
    c.field.rank = f->rank;
    for (uint32_t i = 0; i < f->rank; i++) {
        c.field.shape[i] = c.grid.shape[i] = f->shape[i];
        c.field.stride[i] = f->stride[i];
        c.grid.chunk[i] = h->chunk[i];
    }
    c.grid.slots = (uint32_t)floe_lorenzo_slots(f->rank, h->chunk);
    c.huffman = h->preset != FLOE_PRESET_FAST;
    c.has_tables = h->mode == FLOE_BOUND_LOSSLESS || h->mode == FLOE_BOUND_REL || h->mode == FLOE_BOUND_PSNR;
    c.chunks = d->chunks = device_memory(c.grid.nchunks * sizeof *c.chunks);
    c.hists = d->hists = device_memory(c.grid.nchunks * sizeof *c.hists);
    c.place_nbytes = PLACE_NBYTES;
    for (int i = 0; i < 2; i++)
        c.place_state[i] = d->place[i] = device_memory(PLACE_NBYTES);
    if (c.has_tables) {
        const floe_table_room room = floe_table_room_of(&c.grid, c.field.rank);
        c.table_slots = d->tables[0] = device_memory(c.grid.nchunks * room.nslots * sizeof *c.table_slots);
        c.tables = d->tables[1] = device_memory(c.grid.nchunks * room.most * sizeof *c.tables);
        c.table_scratch = d->tables[2] = device_memory(floe_table_scratch_nbytes(&c.grid, room));
    }
    return c;
}

static void device_close(device *d)
{
    void *all[] = {d->values,    d->scratch, d->place[0], d->place[1], d->tables[0], d->tables[1],
                   d->tables[2], d->result,  d->chunks,   d->hists,    d->words,     d->done};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            CU(cudaFree(all[i]));
}

/* complete: a header that holds everything, or NULL. by_call: the call clears what is to be 0 at first. */
static result resolved(const floe_field *f, const floe_params *params, const floe_header *complete, uint64_t capacity,
                       bool by_call)
{
    device d = {.values = NULL};
    result a;
    uint64_t n = kit_nelems(f), nbytes = n * floe_dtype_size(f->dtype);
    floe_resolve_job job = {.detect = params->fill == FLOE_FILL_AUTO, .complete = complete != NULL};
    assert_int_equal(floe_header_init(&job.header, f, params, NULL), FLOE_OK);
    if (complete)
        job.header = *complete;
    else if (params->fill == FLOE_FILL_VALUE) {
        job.header.has_fill = true;
        job.header.fill_bits = floe_value_bits(f->dtype, params->fill_value);
    }
    d.values = device_memory(nbytes);
    d.scratch = device_memory(floe_range_scratch_nbytes());
    d.result = device_memory(sizeof *d.result);
    d.words = device_memory((NCLEARED + 1) * sizeof *d.words);
    d.done = device_memory(sizeof *d.done);
    CU(cudaMemset(d.done, 0, sizeof *d.done));
    CU(cudaMemcpy(d.values, f->data, nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemset(d.words, by_call ? 0xEE : 0, NCLEARED * sizeof *d.words));
    CU(cudaMemset(d.result, 0xEE, sizeof *d.result));
    floe_lorenzo_encode_call call = call_of(&job.header, f, &d);
    job.field = call.field;
    job.stream = d.result->stream;
    job.capacity = capacity;
    job.params = &d.result->params;
    call.params = &d.result->params;
    job.range = &d.result->range;
    job.scratch = d.scratch;
    job.done = d.done;
    call.status = job.status = d.words;
    call.retry = d.words + NCLEARED;
    job.cleared = by_call ? d.words : NULL;
    job.cleared_nbytes = by_call ? NCLEARED * sizeof *d.words : 0;
    assert_int_equal(floe_resolve_prepare(&job, NULL), FLOE_OK);
    floe_dev_params ready = {.codec = job.codec};
    if (!job.scans)
        floe_lorenzo_params_make(&job.codec, &ready);
    CU(floe_lorenzo_resolve_cuda(&call, &job, &ready, NULL));
    uint32_t words[NCLEARED];
    uint64_t done;
    fetch(&done, d.done, sizeof done);
    assert_int_equal(done, 0);
    fetch(words, d.words, sizeof words);
    for (int i = 1; i < NCLEARED; i++)
        assert_int_equal(words[i], 0);
    fetch(&a, d.result, sizeof a);
    fetch(&a.status, job.status, sizeof a.status);
    a.nchunks = call.grid.nchunks;
    a.chunks = malloc(a.nchunks * sizeof *a.chunks + 1);
    fetch(a.chunks, call.chunks, a.nchunks * sizeof *a.chunks);
    device_close(&d);
    return a;
}

/* ---- the CPU's ----------------------------------------------------------------------------------------------------- */

typedef struct expected {
    floe_header header;
    uint8_t *stream;
    size_t header_nbytes;
} expected;

static expected expect(const floe_field *f, const floe_params *params)
{
    expected e;
    floe_ctx *ctx = kit_ctx(2);
    uint64_t capacity = floe_compress_bound(f, params), nbytes;
    e.stream = malloc(capacity);
    kit_ok(ctx, floe_compress(ctx, f, params, e.stream, capacity, &nbytes));
    assert_int_equal(floe_header_peek(e.stream, nbytes, &e.header_nbytes, NULL), FLOE_OK);
    assert_int_equal(floe_header_read(e.stream, e.header_nbytes, &e.header, NULL), FLOE_OK);
    floe_ctx_free(&ctx);
    return e;
}

static void assert_real(double got, double want)
{
    assert_true(isnan(want) ? isnan(got) : floe_bits_f64(got) == floe_bits_f64(want));
}

static void assert_quantizer(const floe_quantizer *got, const floe_quantizer *want)
{
    assert_int_equal(got->kind, want->kind);
    assert_real(got->step, want->step);
    assert_real(got->inverse, want->inverse);
    assert_real(got->tolerance, want->tolerance);
    assert_int_equal(got->fill, want->fill);
    assert_memory_equal(got->palette, want->palette, sizeof want->palette);
}

static void assert_params(const floe_dev_params *got, const floe_header *h)
{
    floe_dev_params want;
    const floe_codec_params codec = floe_resolve_codec(h);
    floe_lorenzo_params_make(&codec, &want);
    assert_int_equal(got->codec.dtype, codec.dtype);
    assert_int_equal(got->codec.codec, codec.codec);
    assert_int_equal(got->codec.preset, codec.preset);
    assert_int_equal(got->codec.mode, codec.mode);
    assert_real(got->codec.bound, codec.bound);
    assert_int_equal(got->codec.tables, codec.tables);
    assert_real(got->codec.max_abs, codec.max_abs);
    assert_int_equal(got->codec.has_fill, codec.has_fill);
    assert_int_equal(got->codec.fill_bits, codec.fill_bits);
    assert_quantizer(&got->quantizer, &want.quantizer);
    assert_quantizer(&got->bits, &want.bits);
}

/* Of a contiguous field. */
static void strides_set(floe_field *f)
{
    int64_t stride = 1;
    for (uint32_t i = f->rank; i-- > 0; stride *= (int64_t)(f->shape[i] ? f->shape[i] : 1))
        f->stride[i] = stride;
}

static int nfills, nlossless;

static void check(const floe_field *field, const char *text)
{
    floe_params params = kit_params(text);
    params.codec = FLOE_CODEC_LORENZO; /* whose row this is */
    floe_field f = *field;
    strides_set(&f);
    expected e = expect(&f, &params);
    result a = resolved(&f, &params, params.mode == FLOE_BOUND_PSNR ? &e.header : NULL, CAPACITY, true);
    assert_int_equal(a.status, FLOE_OK);
    assert_memory_equal(a.stream, e.stream, e.header_nbytes);
    assert_int_equal(a.stream[e.header_nbytes], 0xEE);
    assert_params(&a.params, &e.header);
    nfills += e.header.has_fill;
    nlossless += params.mode == FLOE_BOUND_REL && e.header.abs_bound == 0;
    for (uint64_t c = 0; c < a.nchunks; c++) {
        if (a.chunks[c].quantizer.kind != FLOE_QUANTIZER_TABLE)
            assert_quantizer(&a.chunks[c].quantizer, &a.params.quantizer);
        else
            assert_true(floe_lorenzo_may_have_table(&a.params.codec));
        assert_true(a.chunks[c].ncells > 0 && a.chunks[c].view.ntiles > 0);
    }
    free(a.chunks);
    free(e.stream);
}

/* ---- fields -------------------------------------------------------------------------------------------------------- */

static const char *const bounds[] = {
    "abs=1e-3",           "abs=1e-3 fill=none",   "rel=1e-4",
    "rel=1e-3 fill=none", "rel=1e-2 fill=-9999",  "abs=5e-2 fill=-9999",
    "pwrel=1e-2",         "pwrel=1e-3 fill=none", "lossless",
    "lossless fill=none",
};

static void check_all(const floe_field *f, const char *extra)
{
    char text[128];
    for (size_t b = 0; b < KIT_COUNT(bounds); b += is_small() ? 3 : 1) {
        snprintf(text, sizeof text, "%s %s", bounds[b], extra);
        check(f, text);
    }
}

static void synthetic_fields(void **state)
{
    (void)state;
    static const uint64_t shape[3] = {10, 21, 33};
    enum { N = 10 * 21 * 33 };
    double data[N];
    nfills = nlossless = 0;
    for (uint32_t k = 0; k < synth_count(); k += is_small() ? 5 : 2)
        for (int d = FLOE_F32; d <= FLOE_F64; d++) {
            floe_field f = floe_field_of(data, (floe_dtype)d, 3, shape);
            assert_int_equal(synth_fill(synth_kind_at(k)->name, f.dtype, 3, shape, 1, 0, N, data), FLOE_OK);
            check_all(&f, k % 2 ? "preset=fast" : "");
            for (uint64_t i = 0; i < N; i += 5)
                kit_set(&f, i, k % 3 ? 1e20 : -9999);
            check_all(&f, k % 2 ? "" : "preset=fast");
        }
    assert_true(is_small() || (nfills > 20 && nlossless > 0));
}

/* From one value up; constant ones, ones without any ordinary value, of extreme ranges, of ranges that vanish. */
static void odd_fields(void **state)
{
    (void)state;
    static const double values[][4] = {
        {1, 1, 1, 1},
        {0.0, -0.0, 0.0, -0.0},
        {NAN, NAN, INFINITY, -INFINITY},
        {1.7e308, -1.7e308, 0, 1},
        {5e-324, 0, 0, 0},
        {1, NAN, 1, 1e-3},
        {-9999, 1, -9999, 2},
        {1e20, 1e20, 1e20, 7},
        {1e-310, 2e-310, 0, 0},
    };
    static const uint64_t lengths[] = {0, 1, 4, 9000};
    double data[9000];
    for (int d = FLOE_F32; d <= FLOE_F64; d++)
        for (size_t k = 0; k < KIT_COUNT(values); k++)
            for (size_t n = 0; n < KIT_COUNT(lengths); n += is_small() ? 2 : 1) {
                floe_field f = floe_field_of(data, (floe_dtype)d, 1, &lengths[n]);
                for (uint64_t i = 0; i < lengths[n]; i++)
                    kit_set(&f, i, values[k][i % 4]);
                check_all(&f, k % 2 ? "preset=fast" : "");
            }
}

/* Few chunks are begun by the block that resolves, many by a kernel of their own. */
static void chunks_of_all_numbers(void **state)
{
    (void)state;
    enum { N = 12 * 12 * 12 * 12 };
    static const uint64_t line[1] = {6500}, space[4] = {12, 12, 12, 12};
    float data[N] = {0};
    floe_field f = floe_field_of(data, FLOE_F32, 1, line), g = floe_field_of(data, FLOE_F32, 4, space);
    assert_int_equal(synth_fill("turbulence", FLOE_F32, 4, space, 1, 0, N, data), FLOE_OK);
    check(&f, "rel=1e-3 chunk=101 preset=fast");
    check(&f, "abs=1e-3 fill=none chunk=100");
    check(&g, "rel=1e-3");
    check(&g, "rel=1e-3 chunk=6x12x12x12 preset=fast");
    check(&g, "abs=1e-3 fill=none chunk=4x12x12x12");
    check(&g, "abs=1e-3 chunk=4x6x12x12");
}

static void psnr_is_handed_in(void **state)
{
    (void)state;
    static const uint64_t shape[2] = {50, 70};
    double data[3500] = {0};
    floe_field f = floe_field_of(data, FLOE_F64, 2, shape);
    assert_int_equal(synth_fill("mixing", FLOE_F64, 2, shape, 1, 0, 3500, data), FLOE_OK);
    check(&f, "psnr=60");
    for (int i = 0; i < 3500; i += 3)
        data[i] = 1e25;
    check(&f, "psnr=90 preset=fast");
}

static void capacity_at_its_limits(void **state)
{
    (void)state;
    static const uint64_t shape[4] = {2, 3, 4, 5};
    float data[120] = {1, 2, 3};
    for (uint32_t k = 0; k < 8; k++) {
        const uint32_t rank = 1 + k / 2;
        const bool by_call = k % 2;
        const floe_params params = kit_params("abs=1");
        floe_field f = floe_field_of(data, FLOE_F32, rank, shape);
        strides_set(&f);
        expected e = expect(&f, &params);
        result a = resolved(&f, &params, NULL, e.header_nbytes, by_call);
        assert_int_equal(a.status, FLOE_OK);
        free(a.chunks);
        a = resolved(&f, &params, NULL, e.header_nbytes - 1, by_call);
        assert_int_equal(a.status, FLOE_ERR_CAPACITY);
        assert_int_equal(a.stream[0], 0xEE);
        free(a.chunks);
        free(e.stream);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(synthetic_fields),       cmocka_unit_test(odd_fields),
        cmocka_unit_test(chunks_of_all_numbers),  cmocka_unit_test(psnr_is_handed_in),
        cmocka_unit_test(capacity_at_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
