/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public calls for bare zfp streams on a GPU against the same calls on the CPU: bytes, indexes, values, refusals and their
 * words, in every mode, type, rank and form of index; and nothing bad from what is cut, damaged or made up.
 *
 *     ZFP_CASES=20000 zfp_api_gpu_test
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <floe/zfp.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "codec/zfp_index_file.h"
#include "tests/zfp_kit.h"

#define CU(call) assert_int_equal((call), cudaSuccess)

enum { SAMPLE = 144, GUARD = 64, FEW = 48 };

static floe_ctx *cpu, *gpu, *through; /* the CPU; device data; host data, too, on the GPU */

static uint64_t cases(void)
{
    const char *text = getenv("ZFP_CASES");
    return text ? strtoull(text, NULL, 10) : SAMPLE;
}

#define OK(ctx, call)                                                                                  \
    do {                                                                                               \
        const floe_status status_ = (call);                                                            \
        if (status_ != FLOE_OK)                                                                        \
            fail_msg("%s:%d: status %d: %s", __FILE__, __LINE__, (int)status_, floe_ctx_message(ctx)); \
    } while (0)

/* ---- samples: what the CPU makes of a case --------------------------------------------------------------------------- */

typedef struct sample {
    zfp_case c;
    floe_field field; /* host */
    floe_zfp_stream stream;
    floe_zfp_index index;
    uint8_t *data;
    uint64_t nbytes, capacity;
    zfp_case decoded;
} sample;

static floe_field field_of(const zfp_case *c)
{
    static const floe_dtype dtypes[] = {FLOE_F64, FLOE_I32, FLOE_I64, FLOE_F32, FLOE_F64};
    floe_field f = floe_field_of(c->array.data, dtypes[c->array.type], c->array.rank, c->array.shape);
    memcpy(f.stride, c->array.stride, sizeof f.stride);
    return f;
}

static floe_index_spec spec_of(uint64_t n)
{
    static const floe_index_form forms[] = {FLOE_INDEX_HYBRID, FLOE_INDEX_PACKED, FLOE_INDEX_OFFSETS,
                                            FLOE_INDEX_LENGTHS};
    static const uint32_t chunks[] = {1, 3, 16, 1, 100000}, partitions[] = {32, 5, 1, 40, 65536};
    return (floe_index_spec){forms[n % 4], chunks[n / 4 % 5], partitions[n / 3 % 5]};
}

/* Every other one has a header. */
static void describe(uint64_t n, sample *s)
{
    const zfp_case *c = &s->c;
    uint8_t header[FLOE_ZFP_HEADER_NBYTES];
    s->field = field_of(c);
    s->stream = (floe_zfp_stream){.size = sizeof s->stream,
                                  .dtype = s->field.dtype,
                                  .rank = c->array.rank,
                                  .minbits = c->params.minbits,
                                  .maxbits = c->params.maxbits,
                                  .maxprec = c->params.maxprec,
                                  .minexp = c->params.minexp};
    memcpy(s->stream.shape, c->array.shape, sizeof s->stream.shape);
    if (n % 2)
        assert_int_equal(floe_zfp_header_write(&c->array, &c->params, header, &s->stream.header_nbits, NULL), FLOE_OK);
}

static void sample_make(uint64_t n, sample *s)
{
    *s = (sample){.index = {.size = sizeof s->index, .spec = spec_of(n)}};
    zfp_case_make(n, &s->c);
    describe(n, s);
    s->capacity = floe_zfp_compress_bound(&s->stream);
    s->index.capacity = floe_zfp_index_bound(&s->stream, &s->index.spec);
    s->data = malloc(s->capacity);
    s->index.data = malloc(s->index.capacity);
    OK(cpu, floe_zfp_compress(cpu, &s->field, &s->stream, s->data, s->capacity, &s->nbytes, &s->index));
    s->decoded = zfp_case_twin(&s->c);
    floe_field out = field_of(&s->decoded);
    OK(cpu, floe_zfp_decompress(cpu, s->data, s->nbytes, &s->stream, s->index.data, s->index.nbytes, &out));
}

static void sample_free(sample *s)
{
    zfp_case_free(&s->c);
    zfp_case_free(&s->decoded);
    free(s->data);
    free(s->index.data);
}

/* ---- device memory --------------------------------------------------------------------------------------------------- */

static void *dev_alloc(uint64_t nbytes)
{
    void *p = NULL;
    CU(cudaMalloc(&p, nbytes + GUARD));
    CU(cudaMemset(p, 0xA5, nbytes + GUARD));
    return p;
}

static void *dev_copy(const void *from, uint64_t nbytes)
{
    void *p = dev_alloc(nbytes);
    CU(cudaMemcpy(p, from, nbytes, cudaMemcpyHostToDevice));
    return p;
}

/* What is there, which is to be `want`, and behind it an untouched guard. */
static void is_on_device(const void *dev, uint64_t capacity, const void *want, uint64_t nbytes, const char *what)
{
    uint8_t *got = malloc(capacity + GUARD);
    CU(cudaMemcpy(got, dev, capacity + GUARD, cudaMemcpyDeviceToHost));
    if (memcmp(got, want, nbytes) != 0)
        fail_msg("%s: the GPU makes something else (%d)", what, (int)nbytes);
    for (uint64_t i = capacity; i < capacity + GUARD; i++)
        assert_int_equal(got[i], 0xA5);
    free(got);
}

/* A case's field in device memory. */
static floe_field dev_field(const zfp_case *c, void **memory)
{
    floe_field f = field_of(c);
    *memory = dev_copy(c->memory, c->nbytes);
    f.data = (uint8_t *)*memory + ((const uint8_t *)c->array.data - c->memory);
    f.place = FLOE_DEVICE;
    return f;
}

/* ---- calls that do not wait ------------------------------------------------------------------------------------------ */

static floe_zfp_report report_of(const floe_zfp_report *dev)
{
    floe_zfp_report r;
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&r, dev, sizeof r, cudaMemcpyDeviceToHost));
    return r;
}

typedef struct on_device {
    void *values, *data, *decoded;
    floe_field field, out;
    floe_zfp_index index;
    floe_zfp_report *made, *read;
} on_device;

static on_device on_device_make(const sample *s, const zfp_case *empty)
{
    on_device d = {.index = s->index};
    d.field = dev_field(&s->c, &d.values);
    d.out = dev_field(empty, &d.decoded);
    d.data = dev_alloc(s->capacity);
    d.index.data = dev_alloc(s->index.capacity);
    d.made = dev_alloc(2 * sizeof *d.made);
    d.read = d.made + 1;
    return d;
}

static void on_device_free(on_device *d)
{
    void *all[] = {d->values, d->data, d->decoded, d->index.data, d->made};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU(cudaFree(all[i]));
}

static void is_as_on_the_cpu(const sample *s, const on_device *d)
{
    const floe_zfp_report made = report_of(d->made), read = report_of(d->read);
    if (made.status || read.status)
        fail_msg("%s: statuses %u and %u", s->c.text, made.status, read.status);
    assert_int_equal(made.nbytes, s->nbytes);
    assert_int_equal(made.index_nbytes, s->index.nbytes);
    assert_int_equal(read.nbytes, s->nbytes);
    assert_int_equal(read.index_nbytes, s->index.nbytes);
    is_on_device(d->data, s->capacity, s->data, s->nbytes, s->c.text);
    is_on_device(d->index.data, s->index.capacity, s->index.data, s->index.nbytes, s->c.text);
    is_on_device(d->decoded, s->c.nbytes, s->decoded.memory, s->c.nbytes, s->c.text);
}

/* In and out again, the sizes never known to the host. */
static void calls_do_not_wait(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < cases(); n++) {
        sample s;
        sample_make(n, &s);
        zfp_case empty = zfp_case_twin(&s.c);
        on_device d = on_device_make(&s, &empty);
        OK(gpu, floe_zfp_compress_async(gpu, &d.field, &s.stream, d.data, s.capacity, &d.index, d.made));
        OK(gpu, floe_zfp_decompress_async(gpu, d.data, s.capacity, d.made, &s.stream, &d.index, &d.out, d.read));
        is_as_on_the_cpu(&s, &d);
        on_device_free(&d);
        zfp_case_free(&empty);
        sample_free(&s);
    }
}

/* Streams without an index. */
static void no_index(void **unused)
{
    (void)unused;
    for (uint64_t n = 1; n < cases(); n += 2) {
        sample s;
        sample_make(n, &s);
        zfp_case empty = zfp_case_twin(&s.c);
        on_device d = on_device_make(&s, &empty);
        OK(gpu, floe_zfp_compress_async(gpu, &d.field, &s.stream, d.data, s.capacity, NULL, d.made));
        OK(gpu, floe_zfp_decompress_async(gpu, d.data, s.capacity, d.made, &s.stream, NULL, &d.out, d.read));
        const floe_zfp_report made = report_of(d.made), read = report_of(d.read);
        if (made.status || read.status)
            fail_msg("%s: statuses %u and %u", s.c.text, made.status, read.status);
        assert_int_equal(made.nbytes, s.nbytes);
        assert_int_equal(made.index_nbytes + read.index_nbytes, 0);
        is_on_device(d.data, s.capacity, s.data, s.nbytes, s.c.text);
        is_on_device(d.decoded, s.c.nbytes, s.decoded.memory, s.c.nbytes, s.c.text);
        on_device_free(&d);
        zfp_case_free(&empty);
        sample_free(&s);
    }
}

/* In one graph, replayed: sizes stay on the device. */
static void graphs(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < FEW; n++) {
        sample s;
        cudaStream_t q;
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        floe_ctx *ctx = NULL;
        sample_make(n, &s);
        zfp_case empty = zfp_case_twin(&s.c);
        on_device d = on_device_make(&s, &empty);
        CU(cudaStreamCreateWithFlags(&q, cudaStreamNonBlocking));
        OK(ctx, floe_ctx_create(&ctx, &(floe_ctx_options){.size = sizeof(floe_ctx_options), .stream = q}));
        const floe_zfp_index *index = n % 3 ? &d.index : NULL;
        for (int warm = 1; warm >= 0; warm--) {
            if (!warm)
                CU(cudaStreamBeginCapture(q, cudaStreamCaptureModeThreadLocal));
            OK(ctx, floe_zfp_compress_async(ctx, &d.field, &s.stream, d.data, s.capacity, &d.index, d.made));
            OK(ctx, floe_zfp_decompress_async(ctx, d.data, s.capacity, d.made, &s.stream, index, &d.out, d.read));
        }
        CU(cudaStreamEndCapture(q, &graph));
        CU(cudaGraphInstantiate(&exec, graph, 0));
        CU(cudaStreamSynchronize(q));
        CU(cudaMemset(d.data, 0xA5, s.capacity));
        CU(cudaMemset(d.index.data, 0xA5, s.index.capacity));
        for (int replay = 0; replay < 2; replay++)
            CU(cudaGraphLaunch(exec, q));
        CU(cudaStreamSynchronize(q));
        s.index.nbytes = index ? s.index.nbytes : 0;
        const floe_zfp_report read = report_of(d.read);
        assert_int_equal(read.index_nbytes, s.index.nbytes);
        s.index.nbytes = report_of(d.made).index_nbytes;
        CU(cudaMemcpy(&d.read->index_nbytes, &s.index.nbytes, sizeof s.index.nbytes, cudaMemcpyHostToDevice));
        is_as_on_the_cpu(&s, &d);
        CU(cudaGraphExecDestroy(exec));
        CU(cudaGraphDestroy(graph));
        floe_ctx_free(&ctx);
        CU(cudaStreamDestroy(q));
        on_device_free(&d);
        zfp_case_free(&empty);
        sample_free(&s);
    }
}

/* ---- calls that wait ------------------------------------------------------------------------------------------------- */

/* Memory of one side or the other, filled with 0xA5. */
typedef struct memory {
    bool device;
    uint8_t *p;
    uint64_t nbytes;
} memory;

static memory memory_of(bool device, uint64_t nbytes)
{
    memory m = {device, NULL, nbytes};
    m.p = device ? dev_alloc(nbytes) : malloc(nbytes + GUARD);
    if (!device)
        memset(m.p, 0xA5, nbytes + GUARD);
    return m;
}

static memory memory_with(bool device, const void *from, uint64_t nbytes)
{
    memory m = memory_of(device, nbytes);
    if (nbytes)
        CU(cudaMemcpy(m.p, from, nbytes, cudaMemcpyDefault));
    return m;
}

static void memory_free(memory *m)
{
    if (m->device)
        CU(cudaFree(m->p));
    else
        free(m->p);
}

/* It begins with these bytes, and ends with its guard. */
static void memory_is(const memory *m, const void *want, uint64_t nbytes, const char *what)
{
    uint8_t *got = malloc(m->nbytes + GUARD);
    CU(cudaMemcpy(got, m->p, m->nbytes + GUARD, cudaMemcpyDefault));
    if (memcmp(got, want, nbytes) != 0)
        fail_msg("%s: the GPU makes something else (%d)", what, (int)nbytes);
    for (uint64_t i = m->nbytes; i < m->nbytes + GUARD; i++)
        assert_int_equal(got[i], 0xA5);
    free(got);
}

/* A case's field in memory m. */
static floe_field field_in(const zfp_case *c, const memory *m)
{
    floe_field f = field_of(c);
    f.data = m->p + ((const uint8_t *)c->array.data - c->memory);
    f.place = m->device ? FLOE_DEVICE : FLOE_HOST;
    return f;
}

/* Everything in either memory. */
static void calls_wait(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < cases(); n++) {
        sample s;
        sample_make(n, &s);
        memory values = memory_with(n % 2, s.c.memory, s.c.nbytes), data = memory_of(n / 2 % 2, s.capacity);
        memory index = memory_of(n / 4 % 2, s.index.capacity), out = memory_of(n / 8 % 2, s.c.nbytes);
        floe_field field = field_in(&s.c, &values), decoded = field_in(&s.c, &out);
        floe_zfp_index made = s.index;
        uint64_t nbytes;
        made.data = index.p;
        made.nbytes = 0;
        OK(through, floe_zfp_compress(through, &field, &s.stream, data.p, s.capacity, &nbytes, &made));
        assert_int_equal(nbytes, s.nbytes);
        assert_int_equal(made.nbytes, s.index.nbytes);
        memory_is(&data, s.data, s.nbytes, s.c.text);
        memory_is(&index, s.index.data, s.index.nbytes, s.c.text);
        zfp_case empty = zfp_case_twin(&s.c);
        CU(cudaMemcpy(out.p, empty.memory, s.c.nbytes, cudaMemcpyDefault));
        const floe_zfp_stream *told = n % 2 && n % 3 ? NULL : &s.stream; /* the header says it */
        const void *by = n / 16 % 3 ? index.p : NULL;
        OK(through, floe_zfp_decompress(through, data.p, nbytes, told, by, by ? made.nbytes : 0, &decoded));
        memory_is(&out, s.decoded.memory, s.c.nbytes, s.c.text);
        memory *all[] = {&values, &data, &index, &out};
        for (int i = 0; i < 4; i++)
            memory_free(all[i]);
        zfp_case_free(&empty);
        sample_free(&s);
    }
}

/* rel looks at the values, wherever they are. */
static void fields_are_described(void **unused)
{
    (void)unused;
    for (uint64_t n = 2; n < FEW; n += n % 4 == 2 ? 1 : 3) { /* f32 and f64 */
        sample s;
        floe_zfp_stream want, got;
        sample_make(n, &s);
        memory values = memory_with(true, s.c.memory, s.c.nbytes);
        const floe_field field = field_in(&s.c, &values);
        const floe_status status = floe_zfp_describe(cpu, &s.field, "rel=1e-3", 0, &want);
        assert_int_equal(floe_zfp_describe(gpu, &field, "rel=1e-3", 0, &got), status);
        if (status == FLOE_OK)
            assert_memory_equal(&got, &want, sizeof got);
        else
            assert_string_equal(floe_ctx_message(gpu), floe_ctx_message(cpu));
        memory_free(&values);
        sample_free(&s);
    }
}

/* Of streams in either memory, to either. */
static void indexes_are_made(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < FEW; n++) {
        sample s;
        sample_make(n, &s);
        memory data = memory_with(n % 2, s.data, s.nbytes), index = memory_of(n / 2 % 2, s.index.capacity);
        floe_zfp_index made = s.index;
        made.data = index.p;
        made.nbytes = 0;
        floe_ctx *ctx = n / 4 % 2 ? through : gpu;
        OK(ctx, floe_zfp_index_make(ctx, data.p, s.nbytes, &s.stream, &made));
        assert_int_equal(made.nbytes, s.index.nbytes);
        memory_is(&index, s.index.data, s.index.nbytes, s.c.text);
        memory_free(&data);
        memory_free(&index);
        sample_free(&s);
    }
}

/* ---- what is not sound ----------------------------------------------------------------------------------------------- */

/* A stream and its index, in host memory, as somebody may have left them. */
typedef struct files {
    uint8_t *data, *index; /* index may be NULL */
    uint64_t nbytes, index_nbytes;
} files;

static files files_of(const sample *s, bool with_index)
{
    files f = {malloc(s->nbytes + 1), NULL, s->nbytes, 0};
    memcpy(f.data, s->data, s->nbytes);
    if (with_index) {
        f.index = malloc(s->index.nbytes + 1);
        f.index_nbytes = s->index.nbytes;
        memcpy(f.index, s->index.data, s->index.nbytes);
    }
    return f;
}

static void files_free(files *f)
{
    free(f->data);
    free(f->index);
}

/* What the call that does not wait says of them. */
static floe_status async_status(const sample *s, const files *f)
{
    const uint64_t whole = floe_ceil_div(f->nbytes, 8) * 8;
    void *values, *data = dev_alloc(whole + 8), *index = dev_alloc(f->index_nbytes);
    const floe_zfp_report sizes = {.nbytes = f->nbytes, .index_nbytes = f->index_nbytes};
    floe_zfp_report *reports = dev_alloc(2 * sizeof *reports);
    floe_field out = dev_field(&s->c, &values);
    const floe_zfp_index x = {.size = sizeof x, .spec = s->index.spec, .data = index, .capacity = f->index_nbytes};
    CU(cudaMemcpy(data, f->data, f->nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(reports, &sizes, sizeof sizes, cudaMemcpyHostToDevice));
    if (f->index)
        CU(cudaMemcpy(index, f->index, f->index_nbytes, cudaMemcpyHostToDevice));
    OK(gpu,
       floe_zfp_decompress_async(gpu, data, whole + 8, reports, &s->stream, f->index ? &x : NULL, &out, reports + 1));
    const floe_zfp_report report = report_of(reports + 1);
    assert_int_equal(report.nbytes, report.status ? 0 : f->nbytes);
    assert_int_equal(report.index_nbytes, report.status ? 0 : f->index_nbytes);
    void *all[] = {values, data, index, reports};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU(cudaFree(all[i]));
    return (floe_status)report.status;
}

/* The same verdict, in the same words, on both sides; and the same values where it is well. */
static floe_status judge(const sample *s, const files *f, bool device)
{
    zfp_case want = zfp_case_twin(&s->c), got = zfp_case_twin(&s->c);
    floe_field out = field_of(&want), back = field_of(&got);
    memory data = memory_with(device, f->data, f->nbytes), index = memory_with(device, f->index, f->index_nbytes);
    const floe_status status =
        floe_zfp_decompress(cpu, f->data, f->nbytes, &s->stream, f->index, f->index_nbytes, &out);
    assert_int_equal(
        floe_zfp_decompress(through, data.p, f->nbytes, &s->stream, f->index ? index.p : NULL, f->index_nbytes, &back),
        status);
    assert_string_equal(floe_ctx_message(through), floe_ctx_message(cpu));
    if (status == FLOE_OK)
        assert_memory_equal(got.memory, want.memory, s->c.nbytes);
    memory_free(&data);
    memory_free(&index);
    zfp_case_free(&want);
    zfp_case_free(&got);
    return status;
}

/* Small arrays of all kinds, types and modes. */
static void small_sample(uint64_t n, sample *s)
{
    for (;; n += 16 * ZFP_KINDS) {
        sample_make(n, s);
        if (s->c.nelems <= 2000)
            return;
        sample_free(s);
    }
}

/* Makes the checksums of a file right, whatever it says: the work of somebody who means harm. */
static void forge(files *f)
{
    floe_store64(f->index + 80, floe_checksum(f->data, f->nbytes));
    floe_store64(f->index + 96,
                 floe_checksum(f->index + FLOE_ZFPX_HEADER_NBYTES, f->index_nbytes - FLOE_ZFPX_HEADER_NBYTES));
    floe_store64(f->index + 104, floe_xxh3(f->index, 104));
}

static void mutate(uint8_t *bytes, uint64_t first, uint64_t nbytes, uint64_t *state)
{
    const uint64_t at = first + hostile_below(state, nbytes - first);
    bytes[at] =
        (uint8_t)(hostile_below(state, 2) ? bytes[at] ^ (uint64_t)1 << hostile_below(state, 8) : hostile_random(state));
}

/* Of what can be in a file. */
static void damage(const sample *s, files *f, uint64_t *state)
{
    const uint64_t body =
        FLOE_ZFPX_HEADER_NBYTES + 16; /* behind the spec, with which calls that do not wait are told */
    switch (hostile_below(state, f->index ? 6 : 2)) {
    case 0: mutate(f->data, s->stream.header_nbits / 8 + 1, f->nbytes, state); break;
    case 1: f->nbytes = hostile_below(state, f->nbytes + 1); break;
    case 2: mutate(f->index, 0, f->index_nbytes, state); break;
    case 3: f->index_nbytes = hostile_below(state, f->index_nbytes + 1); break;
    case 4:
        mutate(f->index, body, f->index_nbytes, state);
        forge(f);
        break;
    default:
        mutate(f->index, hostile_below(state, 2) ? body : 16, body + 32, state);
        mutate(f->data, s->stream.header_nbits / 8 + 1, f->nbytes, state);
        memcpy(f->index + FLOE_ZFPX_HEADER_NBYTES, (const uint8_t *)s->index.data + FLOE_ZFPX_HEADER_NBYTES, 16);
        forge(f);
    }
}

static void nothing_bad_comes_of_damage(void **unused)
{
    const char *text = getenv("ZFP_MUTATIONS");
    const uint64_t turns = text ? strtoull(text, NULL, 10) : 3;
    uint64_t state = 11, fine = 0, bad = 0;
    (void)unused;
    for (uint64_t n = 0; n < 16 * ZFP_KINDS; n++) {
        sample s;
        small_sample(n, &s);
        for (uint64_t turn = 0; turn < turns; turn++) {
            files f = files_of(&s, hostile_below(&state, 4) > 0);
            damage(&s, &f, &state);
            const floe_status status = judge(&s, &f, turn % 2);
            fine += status == FLOE_OK;
            bad += status != FLOE_OK;
            if (f.nbytes >= s.stream.header_nbits / 8 + 1 && async_status(&s, &f) != status)
                fail_msg("%s: the CPU says %d, the GPU %d", s.c.text, (int)status, (int)async_status(&s, &f));
            files_free(&f);
        }
        sample_free(&s);
    }
    assert_in_range(bad, fine / 4, UINT64_MAX);
    assert_in_range(fine, 10, UINT64_MAX);
}

/* The index of another stream, of another shape, and of another spec than the call says. */
static void other_indexes(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < FEW; n++) {
        sample s, t;
        small_sample(n, &s);
        small_sample(n + 16, &t);
        files f = files_of(&s, false), other = files_of(&t, true);
        f.index = other.index, f.index_nbytes = other.index_nbytes;
        assert_int_equal(judge(&s, &f, n % 2), FLOE_ERR_FORMAT);
        assert_int_equal(async_status(&s, &f), FLOE_ERR_FORMAT);
        files_free(&f);
        free(other.data);
        f = files_of(&s, true);
        s.index.spec.chunk++;
        assert_int_equal(judge(&s, &f, n % 2), FLOE_OK); /* it says its spec itself */
        assert_int_equal(async_status(&s, &f), FLOE_ERR_FORMAT);
        files_free(&f);
        sample_free(&s);
        sample_free(&t);
    }
}

/* Capacities that are just not enough: that is said, and nothing is written behind them. */
static void too_little_room(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < FEW; n++) {
        sample s;
        small_sample(n, &s);
        zfp_case empty = zfp_case_twin(&s.c);
        for (int of_index = 0; of_index < 2; of_index++) {
            const uint64_t capacity = of_index ? s.nbytes : s.nbytes - 8;
            memory data = memory_of(true, capacity), index = memory_of(true, s.index.nbytes - of_index);
            on_device d = on_device_make(&s, &empty);
            floe_zfp_index made = s.index;
            uint64_t nbytes;
            made.data = index.p;
            made.capacity = index.nbytes;
            OK(gpu, floe_zfp_compress_async(gpu, &d.field, &s.stream, data.p, capacity, &made, d.made));
            const floe_zfp_report r = report_of(d.made);
            assert_int_equal(r.status, FLOE_ERR_CAPACITY);
            assert_int_equal(r.nbytes + r.index_nbytes, 0);
            assert_int_equal(floe_zfp_compress(gpu, &d.field, &s.stream, data.p, capacity, &nbytes, &made),
                             FLOE_ERR_CAPACITY);
            memory_is(&data, "", 0, s.c.text);
            memory_is(&index, "", 0, s.c.text);
            memory_free(&data);
            memory_free(&index);
            on_device_free(&d);
        }
        zfp_case_free(&empty);
        sample_free(&s);
    }
}

static void misuse(void **unused)
{
    sample s;
    uint64_t nbytes;
    size_t needed;
    (void)unused;
    small_sample(1, &s);
    zfp_case empty = zfp_case_twin(&s.c);
    on_device d = on_device_make(&s, &empty);
    uint8_t *data = d.data;
    floe_zfp_stream other = s.stream;
    floe_zfp_index odd = d.index;
    other.shape[0]++;
    odd.spec.chunk = 0;
#define REFUSED(ctx, status, call, words)              \
    do {                                               \
        assert_int_equal(call, status);                \
        if (!strstr(floe_ctx_message(ctx), words))     \
            fail_msg("\"%s\"", floe_ctx_message(ctx)); \
    } while (0)
    REFUSED(gpu, FLOE_ERR_ARGUMENT, floe_zfp_compress_async(gpu, &s.field, &s.stream, data, s.capacity, NULL, d.made),
            "host memory");
    REFUSED(gpu, FLOE_ERR_ARGUMENT,
            floe_zfp_compress_async(gpu, &d.field, &s.stream, data + 8, s.capacity, NULL, d.made), "aligned");
    REFUSED(gpu, FLOE_ERR_ARGUMENT, floe_zfp_compress_async(gpu, &d.field, &other, data, s.capacity, NULL, d.made),
            "the field is");
    REFUSED(gpu, FLOE_ERR_ARGUMENT, floe_zfp_compress_async(gpu, &d.field, &s.stream, data, s.capacity, NULL, NULL),
            "no report");
    REFUSED(gpu, FLOE_ERR_ARGUMENT, floe_zfp_compress_async(gpu, &d.field, &s.stream, data, s.capacity, &odd, d.made),
            "chunks of 0 blocks");
    REFUSED(gpu, FLOE_ERR_ARGUMENT, floe_zfp_decompress_async(gpu, data, 16, NULL, &s.stream, &odd, &d.out, d.read),
            "chunks of 0 blocks");
    REFUSED(gpu, FLOE_ERR_ARGUMENT, floe_zfp_decompress_async(gpu, data, 12, NULL, &s.stream, NULL, &d.out, d.read),
            "whole words");
    REFUSED(gpu, FLOE_ERR_ARGUMENT, floe_zfp_decompress(gpu, data + 4, s.nbytes, &s.stream, NULL, 0, &d.out),
            "aligned");
    REFUSED(cpu, FLOE_ERR_DEVICE, floe_zfp_compress(cpu, &d.field, &s.stream, data, s.capacity, &nbytes, NULL),
            "CPU only");
    REFUSED(cpu, FLOE_ERR_DEVICE, floe_zfp_decompress(cpu, s.data, s.nbytes, &s.stream, NULL, 0, &d.out), "CPU only");
    REFUSED(cpu, FLOE_ERR_DEVICE, floe_zfp_device_workspace_nbytes(cpu, &s.stream, NULL, &needed), "CPU only");
    on_device_free(&d);
    zfp_case_free(&empty);
    sample_free(&s);
}

/* Just as much as is said is enough, and less is refused. */
static void workspace_of_the_caller(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < FEW; n++) {
        sample s;
        size_t needed;
        sample_make(n, &s);
        zfp_case empty = zfp_case_twin(&s.c);
        on_device d = on_device_make(&s, &empty);
        const floe_index_spec *spec = n % 3 ? &s.index.spec : NULL;
        const floe_zfp_index *index = spec ? &d.index : NULL;
        OK(gpu, floe_zfp_device_workspace_nbytes(gpu, &s.stream, spec, &needed));
        void *space = dev_alloc(needed);
        for (int less = 0; less < 2; less++) {
            floe_ctx_options o = {
                .size = sizeof o, .device_workspace = space, .device_workspace_nbytes = less ? 64 : needed};
            floe_ctx *ctx = NULL;
            OK(ctx, floe_ctx_create(&ctx, &o));
            const floe_status in = floe_zfp_compress_async(ctx, &d.field, &s.stream, d.data, s.capacity, index, d.made);
            const floe_status out =
                floe_zfp_decompress_async(ctx, d.data, s.capacity, d.made, &s.stream, index, &d.out, d.read);
            assert_int_equal(in, less ? FLOE_ERR_MEMORY : FLOE_OK);
            assert_int_equal(out, less ? FLOE_ERR_MEMORY : FLOE_OK);
            assert_int_equal(report_of(d.read).status, FLOE_OK);
            floe_ctx_free(&ctx);
        }
        is_on_device(d.decoded, s.c.nbytes, s.decoded.memory, s.c.nbytes, s.c.text);
        is_on_device(space, needed, "", 0, s.c.text);
        CU(cudaFree(space));
        on_device_free(&d);
        zfp_case_free(&empty);
        sample_free(&s);
    }
}

static int setup(void **state)
{
    (void)state;
    return floe_ctx_create(&cpu, &(floe_ctx_options){.size = sizeof(floe_ctx_options), .backend = FLOE_BACKEND_CPU}) ||
           floe_ctx_create(&gpu, NULL) ||
           floe_ctx_create(&through,
                           &(floe_ctx_options){.size = sizeof(floe_ctx_options), .backend = FLOE_BACKEND_CUDA});
}

static int teardown(void **state)
{
    (void)state;
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
    floe_ctx_free(&through);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_do_not_wait),
        cmocka_unit_test(no_index),
        cmocka_unit_test(graphs),
        cmocka_unit_test(calls_wait),
        cmocka_unit_test(fields_are_described),
        cmocka_unit_test(indexes_are_made),
        cmocka_unit_test(nothing_bad_comes_of_damage),
        cmocka_unit_test(other_indexes),
        cmocka_unit_test(too_little_room),
        cmocka_unit_test(misuse),
        cmocka_unit_test(workspace_of_the_caller),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
