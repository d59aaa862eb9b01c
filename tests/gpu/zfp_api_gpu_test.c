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

#include "tests/zfp_kit.h"

#define CU(call) assert_int_equal((call), cudaSuccess)

enum { SAMPLE = 144, GUARD = 64, ALIGN = 256 };

static floe_ctx *cpu, *gpu; /* device data */

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
        fail_msg("%s: the GPU makes something else", what);
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

static int setup(void **state)
{
    (void)state;
    return floe_ctx_create(&cpu, &(floe_ctx_options){.size = sizeof(floe_ctx_options), .backend = FLOE_BACKEND_CPU}) ||
           floe_ctx_create(&gpu, NULL);
}

static int teardown(void **state)
{
    (void)state;
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_do_not_wait), cmocka_unit_test(no_index)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
