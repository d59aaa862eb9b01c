/* SPDX-License-Identifier: BSD-3-Clause */
/* The range scan on a GPU against the CPU's: ranges and fill values of synthetic and hostile fields, whole and strided.
 * FLOE_GPU_TEST=small: less of it. With --bench: how fast it is instead. */
#include <math.h>
#include <stdio.h>

#include "tests/gpu/gpu_kit.h"

#include "base/hd.h"
#include "field/field.h"
#include "field/fill_math.h"
#include "field/range_cuda.h"
#include "synth/synth.h"

static uint64_t seed = 5;
static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}
static double uniform(void) { return (double)draw(1u << 30) / (double)(1u << 30); }

/* ---- both results -------------------------------------------------------------------------------------------------- */

static floe_dev_range on_cpu(const floe_field *field, bool has_fill, uint64_t fill_bits, bool detect)
{
    floe_cpu cpu;
    floe_dev_range r = {.has_fill = has_fill, .fill_bits = fill_bits};
    uint64_t candidates[2];
    uint32_t n = 0;
    assert_int_equal(floe_cpu_init(&cpu, 2, FLOE_ISA_AUTO, NULL), FLOE_OK);
    floe_range_init(&r.range);
    floe_range_scan(&cpu, field, has_fill, fill_bits, &r.range);
    if (detect)
        n = floe_fill_candidates(&r.range, field->dtype, candidates);
    for (uint32_t k = 0; k < n && !r.has_fill; k++) {
        floe_range rest;
        floe_range_init(&rest);
        floe_range_scan(&cpu, field, true, candidates[k], &rest);
        if (floe_fill_holds(&rest, floe_value_of(field->dtype, candidates[k])))
            r = (floe_dev_range){.range = rest, .has_fill = 1, .fill_bits = candidates[k]};
    }
    return r;
}

/* Memory of the device that holds what lies around a field in the host's. */
typedef struct device {
    uint8_t *values;
    uint8_t *scratch;
    uint64_t *done;
    floe_dev_range *range;
} device;

static device opened(const void *memory, size_t nbytes)
{
    device d;
    CU(cudaMalloc((void **)&d.values, nbytes + 64));
    CU(cudaMalloc((void **)&d.scratch, floe_range_scratch_nbytes()));
    CU(cudaMalloc((void **)&d.done, sizeof *d.done));
    CU(cudaMemset(d.done, 0, sizeof *d.done)); /* each scan leaves it so */
    CU(cudaMalloc((void **)&d.range, sizeof *d.range));
    if (nbytes)
        CU(cudaMemcpy(d.values, memory, nbytes, cudaMemcpyHostToDevice));
    return d;
}

static void closed(device *d)
{
    cudaFree(d->values);
    cudaFree(d->scratch);
    cudaFree(d->done);
    cudaFree(d->range);
}

static floe_dev_range on_gpu(const device *d, const floe_field *field, const void *memory, bool has_fill,
                             uint64_t fill_bits, bool detect)
{
    floe_dev_range r;
    size_t at = (size_t)((const uint8_t *)field->data - (const uint8_t *)memory);
    floe_range_job job = floe_range_job_of(d->values + at, field->dtype, field->rank, field->shape, field->stride);
    job.has_fill = has_fill;
    job.fill_bits = fill_bits;
    job.detect = detect;
    job.scratch = d->scratch;
    job.done = d->done;
    CU((cudaError_t)floe_range_scan_cuda(&job, d->range, NULL));
    CU(cudaMemcpy(&r, d->range, sizeof r, cudaMemcpyDeviceToHost));
    return r;
}

static void assert_same(const floe_dev_range *got, const floe_dev_range *want)
{
    assert_int_equal(got->range.nfinite, want->range.nfinite);
    assert_int_equal(got->range.nfill, want->range.nfill);
    assert_int_equal(got->range.nnonfinite, want->range.nnonfinite);
    assert_int_equal(got->has_fill, want->has_fill);
    assert_int_equal(got->fill_bits, want->fill_bits);
    if (!want->range.nfinite) {
        assert_true(isnan(got->range.min) && isnan(got->range.max));
        return;
    }
    assert_int_equal(floe_bits_f64(got->range.min), floe_bits_f64(want->range.min));
    assert_int_equal(floe_bits_f64(got->range.max), floe_bits_f64(want->range.max));
    const floe_range *r = &got->range;
    assert_true(r->low == INFINITY || (r->low > r->min && r->low <= r->max));
    assert_true(r->high == -INFINITY || (r->high < r->max && r->high >= r->min));
}

static int nfills; /* detected, so that the tests test something */

/* field lies in memory of nbytes; all three ways to scan it. */
static void check(const floe_field *field, const void *memory, size_t nbytes)
{
    floe_field f;
    assert_int_equal(floe_field_check(field, false, &f, NULL), FLOE_OK);
    device d = opened(memory, nbytes);
    uint64_t fills[] = {floe_value_bits(f.dtype, -9999), floe_value_bits(f.dtype, -0.0), floe_value_bits(f.dtype, NAN)};
    for (int k = -2; k < 3; k++) {
        const bool detect = k == -1, has_fill = k >= 0;
        const uint64_t bits = has_fill ? fills[k] : 0;
        floe_dev_range want = on_cpu(&f, has_fill, bits, detect);
        floe_dev_range got = on_gpu(&d, &f, memory, has_fill, bits, detect);
        assert_same(&got, &want);
        nfills += detect && want.has_fill;
    }
    closed(&d);
}

/* ---- fields -------------------------------------------------------------------------------------------------------- */

static void put(void *data, floe_dtype dtype, uint64_t i, double v)
{
    if (dtype == FLOE_F32)
        ((float *)data)[i] = (float)v;
    else
        ((double *)data)[i] = v;
}

static void synthetic_fields(void **state)
{
    (void)state;
    static const uint64_t shapes[][3] = {{1, 1, 1}, {2, 3, 5}, {17, 30, 21}, {40, 40, 64}};
    enum { N = 40 * 40 * 64 };
    double *data = malloc(N * sizeof *data);
    for (uint32_t k = 0; k < synth_count(); k++)
        for (int d = FLOE_F32; d <= FLOE_F64; d++)
            for (size_t s = is_small() ? 2 : 0; s < (is_small() ? 3 : 4); s++) {
                uint64_t n = shapes[s][0] * shapes[s][1] * shapes[s][2];
                size_t size = floe_dtype_size((floe_dtype)d);
                assert_int_equal(synth_fill(synth_kind_at(k)->name, (floe_dtype)d, 3, shapes[s], 1, 0, n, data),
                                 FLOE_OK);
                floe_field f = floe_field_of(data, (floe_dtype)d, 3, shapes[s]);
                check(&f, data, n * size);
                for (uint64_t i = 0; i < n; i++) /* the same with a fill value */
                    if (draw(3) == 0)
                        put(data, (floe_dtype)d, i, k % 2 ? 1e20 : -9999);
                check(&f, data, n * size);
            }
    free(data);
}

/* Few numbers, at the ends of the type and where doubles cannot distinguish them; some of them often enough to be fill. */
static void integers(void **state)
{
    (void)state;
    static const int64_t numbers[] = {INT64_MIN,
                                      INT64_MIN + 1,
                                      INT64_MAX,
                                      INT64_MAX - 1,
                                      INT64_MAX - 600,
                                      INT32_MIN,
                                      INT32_MAX,
                                      -9999,
                                      ((int64_t)1 << 53) + 1,
                                      (int64_t)1 << 53,
                                      0,
                                      1,
                                      -1,
                                      7,
                                      32767};
    enum { N = 20000, NNUMBERS = sizeof numbers / sizeof *numbers };
    int64_t *data = malloc(N * sizeof *data);
    for (int turn = 0; turn < (is_small() ? 60 : 400); turn++) {
        const floe_dtype dtype = turn % 2 ? FLOE_I32 : FLOE_I64;
        const uint64_t n = turn % 5 ? 1 + draw(60) : 1 + draw(N), kinds = 1 + draw(4);
        int64_t some[4];
        for (uint64_t k = 0; k < kinds; k++)
            some[k] = numbers[draw(NNUMBERS)];
        for (uint64_t i = 0; i < n; i++) {
            const int64_t v = draw(20) ? some[draw(kinds)] : (int64_t)draw(9);
            if (dtype == FLOE_I32)
                ((int32_t *)data)[i] = (int32_t)v;
            else
                data[i] = v;
        }
        floe_field f = floe_field_of(data, dtype, 1, &n);
        check(&f, data, n * floe_dtype_size(dtype));
    }
    free(data);
}

static double hostile(void)
{
    static const double values[] = {NAN,   INFINITY, -INFINITY, 0.0,    -0.0,   5e-324,  -5e-324,
                                    1e-45, -1e-40,   1e308,     -1e308, 3.4e38, -3.4e38, -9999};
    return draw(2) ? values[draw(sizeof values / sizeof values[0])] : uniform() - 0.5;
}

/* Values of which few are different, and some stand off: what fill detection has to distinguish. */
static double layered(int kind, uint64_t i, uint64_t n)
{
    static const double odd[] = {1e20, -9999, 1e6, -1e10, 0.0, -0.0, 3e38, 99999, 1.5};
    const double far = odd[kind % 9];
    switch (kind / 9 % 10) {
    case 0: return draw(100) < 3 ? far : uniform();
    case 1: return i == n / 2 || i == n - 1 ? far : uniform();
    case 2: return i > n / 2 ? far : 7;
    case 3: return draw(2) ? far : draw(2) ? -far : draw(3);
    case 4: return draw(4) ? far : draw(2) ? 0.0 : -0.0;
    case 5: return i < n / 3 ? far : i < n / 2 ? far * 0.999 : (double)i;
    case 6: return draw(5) ? (double)draw(3) : draw(50) ? far : NAN;
    case 7: return draw(3) ? far : 1e7 + uniform(); /* also a zero of one sign */
    case 8: return draw(3) ? far : -1e7 - uniform();
    default: return i % 97 == 3 ? far : -(double)i * 1e-6;
    }
}

static void hostile_fields(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {0, 1, 2, 3, 5, 31, 100, 1000, 4096, 4097, 5000, 8191, 16400, 70001};
    enum { N = 70001, KINDS = 2 + 9 * 10 };
    double *data = malloc((N + 8) * sizeof *data);
    nfills = 0;
    for (int d = FLOE_F32; d <= FLOE_F64; d++)
        for (int kind = 0; kind < KINDS; kind += is_small() ? 7 : 1)
            for (size_t k = kind % 5; k < sizeof lengths / sizeof lengths[0]; k += 5) {
                const uint64_t n = lengths[k], skip = draw(4); /* not always aligned to 16 bytes */
                uint8_t *values = (uint8_t *)data + skip * floe_dtype_size((floe_dtype)d);
                for (uint64_t i = 0; i < n; i++)
                    put(values, (floe_dtype)d, i, kind == 0 ? hostile() : kind == 1 ? NAN : layered(kind - 2, i, n));
                floe_field f = floe_field_of(values, (floe_dtype)d, 1, &n);
                check(&f, data, (N + 8) * floe_dtype_size((floe_dtype)d));
            }
    assert_true(is_small() || nfills > 30);
    free(data);
}

/* Small ones, very many: each time another mixture of an outlier and the rest. */
static void mixtures(void **state)
{
    (void)state;
    enum { N = 300 };
    float data[N];
    nfills = 0;
    for (int trial = 0; trial < (is_small() ? 20 : 500); trial++) {
        const uint64_t n = 2 + draw(N - 2), share = 1 + draw(99);
        const double far = (draw(2) ? 1 : -1) * pow(10, (double)draw(24) - 2), width = pow(10, (double)draw(8) - 4);
        for (uint64_t i = 0; i < n; i++)
            data[i] = (float)(draw(100) < share ? far : draw(20) ? width * uniform() : width * (double)draw(2));
        floe_field f = floe_field_of(data, FLOE_F32, 1, &n);
        check(&f, data, sizeof data);
    }
    assert_true(is_small() || nfills > 40);
}

/* Boxes of a larger array, axes in any order, turned, thinned out, or repeated. */
static void views(void **state)
{
    (void)state;
    enum { N = 20 };
    const size_t nvalues = (size_t)N * N * N * N;
    double *data = malloc(nvalues * sizeof *data);
    for (int trial = 0; trial < (is_small() ? 4 : 30); trial++) {
        const floe_dtype dtype = trial % 2 ? FLOE_F32 : FLOE_F64;
        for (size_t i = 0; i < nvalues; i++)
            put(data, dtype, i, draw(300) ? (draw(9) ? uniform() : -9999) : hostile());
        floe_field f = {.dtype = dtype, .place = FLOE_HOST, .rank = 1 + (uint32_t)draw(4)};
        int64_t at = 0, strides[] = {N * N * N, N * N, N, 1};
        for (uint32_t i = 0; i < f.rank; i++) {
            const uint64_t swap = i + draw(4 - i), step = 1 + draw(3), lo = draw(N);
            int64_t stride = strides[swap];
            strides[swap] = strides[i];
            f.shape[i] = 1 + draw(1 + (N - 1 - lo) / step);
            at += (int64_t)lo * stride;
            f.stride[i] = stride * (int64_t)step;
            if (draw(3) == 0) {
                at += (int64_t)(f.shape[i] - 1) * f.stride[i];
                f.stride[i] = -f.stride[i];
            }
        }
        if (f.rank > 1 && draw(4) == 0)
            f.stride[draw(f.rank - 1)] = 0;
        f.data = (uint8_t *)data + at * (int64_t)floe_dtype_size(dtype);
        if (f.rank == 1 && f.stride[0] == 0)
            f.stride[0] = 1;
        for (uint32_t i = 0; i < f.rank; i++)
            if (f.stride[i] == 0)
                f.shape[i] = 1 + draw(30);
        check(&f, data, nvalues * floe_dtype_size(dtype));
    }
    free(data);
}

/* ---- bench --------------------------------------------------------------------------------------------------------- */

enum { BENCH_RUNS = 11, BENCH_PERIOD = 1 << 20 };

static double bench_value(int kind, uint64_t i)
{
    const double smooth = sin((double)(i % BENCH_PERIOD) * 1e-3) + 1e-3 * uniform();
    return kind == 0                        ? smooth
           : kind == 1                      ? 1.5
           : kind == 2                      ? (double)i
           : kind == 3 && i / 100 % 10 < 3  ? 1e20
           : kind == 4 && i / 100 % 10 < 3  ? NAN
           : kind == 5 && i / 1000 % 10 < 5 ? 0.0
                                            : smooth;
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median of a few runs, in microseconds. */
static double bench_time(const floe_range_job *job, floe_dev_range *range)
{
    float ms[BENCH_RUNS];
    cudaEvent_t begin, end;
    CU(cudaEventCreate(&begin));
    CU(cudaEventCreate(&end));
    for (int r = 0; r < BENCH_RUNS; r++) {
        CU(cudaEventRecord(begin, NULL));
        CU((cudaError_t)floe_range_scan_cuda(job, range, NULL));
        CU(cudaEventRecord(end, NULL));
        CU(cudaEventSynchronize(end));
        CU(cudaEventElapsedTime(&ms[r], begin, end));
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    qsort(ms, BENCH_RUNS, sizeof *ms, compare_floats);
    return 1e3 * (double)ms[BENCH_RUNS / 2];
}

static void bench(void)
{
    static const char *kinds[] = {"smooth", "constant", "ramp", "30 % fill", "30 % NaN", "50 % zero"};
    static const char *modes[] = {"plain", "fill", "detect"};
    const uint64_t most = (uint64_t)1 << 27;
    const int64_t stride = 1;
    float *data = malloc(most * sizeof *data);
    device d = opened(NULL, 0);
    CU(cudaFree(d.values));
    CU(cudaMalloc((void **)&d.values, most * sizeof *data));
    for (int kind = 0; kind < 6; kind++) {
        for (uint64_t i = 0; i < most; i++)
            data[i] = (float)bench_value(kind, i);
        CU(cudaMemcpy(d.values, data, most * sizeof *data, cudaMemcpyHostToDevice));
        for (int mode = 0; mode < 3; mode++)
            for (uint64_t n = most; n > 1000; n /= 512) {
                floe_range_job job = floe_range_job_of(d.values, FLOE_F32, 1, &n, &stride);
                job.has_fill = mode == 1;
                job.fill_bits = mode == 1 ? floe_value_bits(FLOE_F32, 1e20) : 0;
                job.detect = mode == 2;
                job.scratch = d.scratch;
                job.done = d.done;
                double us = bench_time(&job, d.range);
                printf("range f32 %-10s %-7s %10llu values %9.1f us %8.1f GB/s\n", kinds[kind], modes[mode],
                       (unsigned long long)n, us, 4e-3 * (double)n / us);
            }
    }
    closed(&d);
    free(data);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(synthetic_fields), cmocka_unit_test(integers), cmocka_unit_test(hostile_fields),
        cmocka_unit_test(mixtures),         cmocka_unit_test(views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
