/* SPDX-License-Identifier: BSD-3-Clause */
/* The codec of null_codec.c on a GPU, by its name alone: the CPU's streams from device fields, from host fields and by calls that do
 * not wait; all of them and regions back; damage. */
#include "tests/gpu/case_gpu_kit.h"

static const gpu_case cases[] = {
    {"turbulence", FLOE_F32, 3, {7, 9, 11}, "abs=1 codec=null"},
    {"turbulence", FLOE_F64, 3, {7, 9, 11}, "rel=1e-3 codec=null fill=none chunk=3x4x11"},
    {"turbulence", FLOE_F32, 2, {60, 70}, "lossless codec=null preset=fast chunk=16x32"},
    {"fill", FLOE_F32, 1, {5000}, "abs=1 codec=null chunk=512"},
    {"turbulence", FLOE_F64, 4, {3, 4, 5, 6}, "psnr=40 codec=null"},
    {"steps", FLOE_I32, 2, {30, 40}, "rel=1e-2 codec=null chunk=8x40"},
    {"steps", FLOE_I64, 3, {5, 6, 7}, "lossless codec=null"},
};
enum { NCASES = sizeof cases / sizeof *cases };

typedef struct encoded {
    const gpu_case *c;
    floe_params params;
    floe_field field, dev_field;
    uint64_t nbytes, stream_nbytes, capacity;
    uint8_t *stream, *other, *dev_stream;
} encoded;

static encoded make(const gpu_case *c)
{
    encoded m = {.c = c};
    void *values;
    m.field = case_make(c, &m.params, &m.nbytes);
    m.capacity = floe_compress_bound(&m.field, &m.params);
    m.stream = take(m.capacity);
    m.other = take(m.capacity);
    CU(cudaMalloc(&values, m.nbytes));
    CU(cudaMalloc((void **)&m.dev_stream, m.capacity));
    CU(cudaMemcpy(values, m.field.data, m.nbytes, cudaMemcpyHostToDevice));
    m.dev_field = floe_field_of_device(values, c->dtype, c->rank, c->shape);
    assert_int_equal(floe_compress(cpu, &m.field, &m.params, m.stream, m.capacity, &m.stream_nbytes), FLOE_OK);
    assert_true(m.stream_nbytes > m.nbytes);
    return m;
}

static void unmake(encoded *m)
{
    free(m->field.data);
    free(m->stream);
    free(m->other);
    CU(cudaFree(m->dev_field.data));
    CU(cudaFree(m->dev_stream));
}

/* The same stream as the CPU's, in m->dev_stream (on_device) or m->other; which is overwritten. */
static void assert_stream(encoded *m, uint64_t n, bool on_device)
{
    if (on_device)
        CU(cudaMemcpy(m->other, m->dev_stream, m->capacity, cudaMemcpyDeviceToHost));
    assert_int_equal(n, m->stream_nbytes);
    assert_memory_equal(m->other, m->stream, n);
    memset(m->other, 0xEE, m->capacity);
    CU(cudaMemset(m->dev_stream, 0xEE, m->capacity));
}

static floe_device_report report_fetch(void)
{
    floe_device_report report;
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&report, dev_report, sizeof report, cudaMemcpyDeviceToHost));
    return report;
}

static void same_streams(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        uint64_t n = 0;
        assert_int_equal(floe_compress(gpu, &m.dev_field, &m.params, m.dev_stream, m.capacity, &n), FLOE_OK);
        assert_stream(&m, n, true);
        assert_int_equal(floe_compress(gpu, &m.dev_field, &m.params, m.other, m.capacity, &n), FLOE_OK);
        assert_stream(&m, n, false);
        assert_int_equal(floe_compress(through, &m.field, &m.params, m.other, m.capacity, &n), FLOE_OK);
        assert_stream(&m, n, false);
        const floe_status status =
            floe_compress_async(gpu, &m.dev_field, &m.params, m.dev_stream, m.capacity, dev_report);
        assert_int_equal(status, m.params.mode == FLOE_BOUND_PSNR ? FLOE_ERR_UNSUPPORTED : FLOE_OK);
        if (status == FLOE_OK)
            assert_stream(&m, report_fetch().nbytes, true);
        assert_int_equal(floe_compress(gpu, &m.dev_field, &m.params, m.dev_stream, m.stream_nbytes - 1, &n),
                         FLOE_ERR_CAPACITY);
        unmake(&m);
    }
}

/* The values in device memory. */
static void assert_values(encoded *m)
{
    void *got = take(m->nbytes);
    CU(cudaMemcpy(got, m->dev_field.data, m->nbytes, cudaMemcpyDeviceToHost));
    assert_memory_equal(got, m->field.data, m->nbytes);
    CU(cudaMemset(m->dev_field.data, 0xEE, m->nbytes));
    free(got);
}

static void same_values(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        void *back = take(m.nbytes);
        floe_field out = floe_field_of(back, m.c->dtype, m.c->rank, m.c->shape);
        CU(cudaMemcpy(m.dev_stream, m.stream, m.stream_nbytes, cudaMemcpyHostToDevice));
        CU(cudaMemset(m.dev_field.data, 0xEE, m.nbytes));
        for (int round = 0; round < 2; round++) { /* the second has what is likely */
            assert_int_equal(floe_decompress(gpu, m.dev_stream, m.stream_nbytes, &m.dev_field), FLOE_OK);
            assert_values(&m);
        }
        assert_int_equal(floe_decompress(gpu, m.stream, m.stream_nbytes, &m.dev_field), FLOE_OK);
        assert_values(&m);
        assert_int_equal(
            floe_decompress_async(gpu, m.dev_stream, m.stream_nbytes, NULL, &m.params, &m.dev_field, dev_report),
            FLOE_OK);
        assert_int_equal(report_fetch().status, FLOE_OK);
        assert_values(&m);
        assert_int_equal(floe_decompress(through, m.stream, m.stream_nbytes, &out), FLOE_OK);
        assert_memory_equal(back, m.field.data, m.nbytes);
        assert_int_equal(floe_verify(through, m.stream, m.stream_nbytes, &m.field), FLOE_OK);
        free(back);
        unmake(&m);
    }
}

/* The far half along each axis, by the GPU as a whole and chunk by chunk, as the CPU has it. */
static void regions(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i++) {
        encoded m = make(&cases[i]);
        uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK], nbytes = floe_dtype_size(m.c->dtype);
        for (uint32_t a = 0; a < m.c->rank; a++) {
            lo[a] = m.c->shape[a] / 2;
            extent[a] = m.c->shape[a] - lo[a];
            nbytes *= extent[a];
        }
        void *want = take(nbytes), *got = take(nbytes);
        floe_field box = floe_field_of(want, m.c->dtype, m.c->rank, extent),
                   other = floe_field_of(got, m.c->dtype, m.c->rank, extent),
                   dev_box = floe_field_of_device(m.dev_field.data, m.c->dtype, m.c->rank, extent);
        assert_int_equal(floe_decompress_region(cpu, m.stream, m.stream_nbytes, lo, m.c->shape, &box), FLOE_OK);
        assert_int_equal(floe_decompress_region(through, m.stream, m.stream_nbytes, lo, m.c->shape, &other), FLOE_OK);
        assert_memory_equal(got, want, nbytes);
        assert_int_equal(floe_decompress_region(gpu, m.stream, m.stream_nbytes, lo, m.c->shape, &dev_box), FLOE_OK);
        CU(cudaMemcpy(got, dev_box.data, nbytes, cudaMemcpyDeviceToHost));
        assert_memory_equal(got, want, nbytes);
        free(want), free(got);
        unmake(&m);
    }
}

/* A bit, or all from a byte on. */
static void damage(void **state)
{
    (void)state;
    const gpu_case c = {"turbulence", FLOE_F32, 3, {7, 9, 11}, "abs=1 codec=null chunk=2x9x11"};
    encoded m = make(&c);
    void *back = take(m.nbytes);
    floe_field out = floe_field_of(back, c.dtype, c.rank, c.shape);
    for (uint64_t i = 0; i < m.stream_nbytes; i += 97) {
        m.stream[i] ^= 0x10;
        CU(cudaMemcpy(m.dev_stream, m.stream, m.stream_nbytes, cudaMemcpyHostToDevice));
        const floe_status want = floe_decompress(cpu, m.stream, m.stream_nbytes, &out);
        assert_int_not_equal(want, FLOE_OK);
        assert_int_equal(floe_decompress(gpu, m.dev_stream, m.stream_nbytes, &m.dev_field), want);
        assert_int_equal(floe_decompress(through, m.stream, m.stream_nbytes, &out), want);
        m.stream[i] ^= 0x10;
        assert_int_not_equal(floe_decompress(gpu, m.dev_stream, i, &m.dev_field), FLOE_OK);
    }
    CU(cudaMemcpy(m.dev_stream, m.stream, m.stream_nbytes, cudaMemcpyHostToDevice));
    assert_int_equal(floe_decompress(gpu, m.dev_stream, m.stream_nbytes, &m.dev_field), FLOE_OK);
    assert_values(&m);
    free(back);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_streams),
        cmocka_unit_test(same_values),
        cmocka_unit_test(regions),
        cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, report_open, report_close);
}
