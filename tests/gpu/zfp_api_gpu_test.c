/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public calls for bare zfp streams on a GPU against the same calls on the CPU: bytes, indexes, values, refusals and their
 * words, in every mode, type, rank and form of index.
 *
 *     ZFP_CASES=20000 zfp_api_gpu_test
 */
#include "tests/gpu/zfp_gpu_kit.h"

enum { SAMPLE = 144, FEW = 32 };

static uint64_t cases(void)
{
    const char *text = getenv("ZFP_CASES");
    return text ? strtoull(text, NULL, 10) : SAMPLE;
}

/* ---- calls that do not wait ------------------------------------------------------------------------------------------ */

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
    for (uint64_t n = 0; n < cases(); n += (uint64_t)one_in(5)) {
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
    for (uint64_t n = 1; n < cases(); n += 2 * (uint64_t)one_in(5)) {
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
    for (uint64_t n = 0; n < FEW; n += (uint64_t)one_in(5)) {
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
        CU(cudaDeviceSynchronize()); /* q does not wait for memsets */
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

/* Everything in either memory; where nothing is on the device, by the CPU. */
static void calls_wait(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < cases(); n += (uint64_t)one_in(5)) {
        sample s;
        sample_make(n, &s);
        memory values = memory_with(n % 2, s.c.memory, s.c.nbytes), data = memory_of(n / 2 % 2, s.capacity);
        memory index = memory_of(n / 4 % 2, s.index.capacity), out = memory_of(n / 8 % 2, s.c.nbytes);
        floe_field field = field_in(&s.c, &values), decoded = field_in(&s.c, &out);
        floe_zfp_index made = s.index;
        uint64_t nbytes;
        floe_ctx *ctx = n / 3 % 2 ? gpu : through;
        made.data = index.p;
        made.nbytes = 0;
        OK(ctx, floe_zfp_compress(ctx, &field, &s.stream, data.p, s.capacity, &nbytes, &made));
        assert_int_equal(nbytes, s.nbytes);
        assert_int_equal(made.nbytes, s.index.nbytes);
        memory_is(&data, s.data, s.nbytes, s.c.text);
        memory_is(&index, s.index.data, s.index.nbytes, s.c.text);
        zfp_case empty = zfp_case_twin(&s.c);
        CU(cudaMemcpy(out.p, empty.memory, s.c.nbytes, cudaMemcpyDefault));
        const floe_zfp_stream *given = n % 2 && n % 3 ? NULL : &s.stream; /* the header has it */
        const void *by = n / 16 % 3 ? index.p : NULL;
        OK(ctx, floe_zfp_decompress(ctx, data.p, nbytes, given, by, by ? made.nbytes : 0, &decoded));
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
    for (uint64_t n = 0; n < FEW; n += (uint64_t)one_in(5)) {
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

/* Capacities that are just not enough: that is reported, and nothing is written behind them. */
static void too_little_room(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < FEW; n += (uint64_t)one_in(5)) {
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
    floe_zfp_index odd = d.index, made = s.index;
    floe_field back = field_of(&s.decoded);
    floe_error err;
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
    REFUSED(cpu, FLOE_ERR_DEVICE, floe_zfp_compress(cpu, &s.field, &s.stream, data, s.capacity, &nbytes, NULL),
            "CPU only");
    REFUSED(cpu, FLOE_ERR_DEVICE, floe_zfp_decompress(cpu, data, s.nbytes, &s.stream, NULL, 0, &back), "CPU only");
    made.data = d.index.data;
    REFUSED(cpu, FLOE_ERR_DEVICE, floe_zfp_index_make(cpu, s.data, s.nbytes, &s.stream, &made), "CPU only");
    assert_int_equal(floe_zfp_recognize(data, s.nbytes, &other, &err), FLOE_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "device memory"));
    assert_int_equal(floe_zfp_index_info(made.data, made.capacity, &other, &made.spec, &err), FLOE_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "device memory"));
    REFUSED(cpu, FLOE_ERR_DEVICE, floe_zfp_device_workspace_nbytes(cpu, &s.stream, NULL, &needed), "CPU only");
    on_device_free(&d);
    zfp_case_free(&empty);
    sample_free(&s);
}

/* Just as much as is reported is enough, and less is refused. */
static void workspace_of_the_caller(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < FEW; n += (uint64_t)one_in(5)) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_do_not_wait),
        cmocka_unit_test(no_index),
        cmocka_unit_test(graphs),
        cmocka_unit_test(calls_wait),
        cmocka_unit_test(fields_are_described),
        cmocka_unit_test(indexes_are_made),
        cmocka_unit_test(too_little_room),
        cmocka_unit_test(misuse),
        cmocka_unit_test(workspace_of_the_caller),
    };
    return cmocka_run_group_tests(tests, contexts_open, contexts_close);
}
