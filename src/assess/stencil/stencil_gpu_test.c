/* SPDX-License-Identifier: BSD-3-Clause */
/* The stencil pass on a GPU against the CPU's: the same numbers but for the rounding of sums. FLOE_GPU_TEST=small: less of it.
 * With --bench: how fast it is instead. */
#include "tests/gpu/gpu_kit.h"

#include <stdio.h>

#include "assess/stencil/stencil_device.h"
#include "assess/stencil/stencil_test_kit.h"

static double xs[KIT_MAX], ys[KIT_MAX];
static floe_cuda cuda;

/* ---- both results -------------------------------------------------------------------------------------------------- */

static floe_stencil_result on_cpu(const floe_pair *p, const floe_stencil_options *o)
{
    floe_cpu cpu;
    floe_stencil_result r;
    assert_int_equal(floe_cpu_init(&cpu, 2, FLOE_ISA_AUTO, NULL), FLOE_OK);
    const size_t nbytes = floe_stencil_workspace(&cpu, p);
    void *workspace = malloc(nbytes);
    assert_int_equal(floe_stencil_assess(&cpu, p, o, workspace, nbytes, &r, NULL), FLOE_OK);
    free(workspace);
    return r;
}

/* The pair's values lie in xs and ys, n doubles' worth of each. */
static floe_stencil_result on_gpu(const floe_pair *p, const floe_stencil_options *o, size_t n)
{
    floe_pair dev = *p;
    floe_stencil_result r;
    floe_error err = {.message = ""};
    uint8_t *x, *y;
    void *workspace;
    const size_t nbytes = floe_stencil_workspace_device();
    CU(cudaMalloc((void **)&x, n * sizeof *xs));
    CU(cudaMalloc((void **)&y, n * sizeof *ys));
    CU(cudaMalloc(&workspace, nbytes));
    CU(cudaMemcpy(x, xs, n * sizeof *xs, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(y, ys, n * sizeof *ys, cudaMemcpyHostToDevice));
    dev.place = FLOE_DEVICE;
    dev.original = x + ((const uint8_t *)p->original - (const uint8_t *)xs);
    if (p->decoded)
        dev.decoded = y + ((const uint8_t *)p->decoded - (const uint8_t *)ys);
    if (floe_stencil_assess_device(&cuda, &dev, o, workspace, nbytes, &r, &err) != FLOE_OK)
        fail_msg("%s", err.message);
    cudaFree(x);
    cudaFree(y);
    cudaFree(workspace);
    return r;
}

/* ---- comparing ----------------------------------------------------------------------------------------------------- */

static void near(double got, double want, double scale, const char *what, int which)
{
    if ((isnan(got) && isnan(want)) || got == want)
        return;
    if (!(fabs(got - want) <= 1e-12 * scale))
        fail_msg("%s %d: %.17g, should be %.17g", what, which, got, want);
}

/* Extremes are of the very same values, whatever the order. */
static void compare_stats(const floe_stencil_stats *a, const floe_stencil_stats *b, int q)
{
    near(a->original_min, b->original_min, 0, "original_min", q);
    near(a->original_max, b->original_max, 0, "original_max", q);
    near(a->original_rms, b->original_rms, b->original_rms, "original_rms", q);
    near(a->max_error, b->max_error, 0, "max_error", q);
    near(a->rmse, b->rmse, b->rmse, "rmse", q);
    near(a->psnr, b->psnr, fabs(b->psnr) + 1, "psnr", q);
}

static void compare(const floe_pair *p, floe_stencil_options o, size_t n)
{
    const floe_stencil_result want = on_cpu(p, &o), got = on_gpu(p, &o, n);
    assert_int_equal(got.npoints, want.npoints);
    assert_int_equal(got.nskipped, want.nskipped);
    assert_int_equal(got.nsobolev, want.nsobolev);
    for (int q = 0; q < FLOE_STENCIL_QUANTITIES; q++)
        compare_stats(&got.of[q], &want.of[q], q);
    for (int k = 0; k < 3; k++)
        near(got.sobolev[k], want.sobolev[k], want.sobolev[k], "sobolev", k);
    near(got.variance, want.variance, want.variance, "variance", 0);
    for (uint32_t t = 0; t < o.lags; t++) {
        for (int a = 0; a < 4; a++)
            near(got.autocorr[a][t], want.autocorr[a][t], 1, "autocorr", a * 100 + (int)t + 1);
        near(got.combined[t], want.combined[t], 1, "combined", (int)t + 1);
    }
}

/* ---- fields -------------------------------------------------------------------------------------------------------- */

static const struct {
    uint32_t rank;
    uint64_t shape[4];
} shapes[] = {{1, {1}},          {1, {2}},           {1, {131}},        {1, {600}},      {2, {3, 3}},
              {2, {2, 50}},      {2, {37, 1}},       {2, {7, 261}},     {3, {4, 5, 6}},  {3, {1, 17, 19}},
              {3, {9, 1, 23}},   {3, {5, 2, 13}},    {3, {6, 9, 35}},   {3, {3, 3, 70}}, {4, {3, 4, 5, 6}},
              {4, {5, 1, 6, 7}}, {4, {2, 3, 5, 40}}, {4, {4, 5, 7, 4}}, {2, {60, 70}},   {3, {24, 17, 40}}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void all_kinds_and_shapes(void **state)
{
    (void)state;
    for (int kind = 0; kind < KIT_KINDS; kind++)
        for (int s = kind % 7; s < SHAPES; s += is_small() ? 7 : 1) {
            const floe_dtype dtype = (kind + s) % 3 ? FLOE_F32 : FLOE_F64;
            floe_pair p = kit_pair((kit_kind)kind, dtype, shapes[s].rank, shapes[s].shape, xs, ys);
            const uint64_t n = p.shape[0] * p.shape[1] * p.shape[2] * p.shape[3];
            floe_stencil_options o = kit_options(&p, s % 3 == 0 ? 10 : s % 3 == 1 ? 3 : 23);
            compare(&p, o, n);
            o.all_count = kind < KIT_SPECIAL;
            compare(&p, o, n);
            p.decoded = NULL;
            o = kit_options(&p, 10);
            if (kind % 3 == 1)
                compare(&p, o, n);
        }
}

/* More than a block's turn along every axis, and most lags. */
static void longer_than_a_chunk(void **state)
{
    (void)state;
    static const struct {
        uint32_t rank;
        uint64_t shape[4];
    } large[] = {{3, {70, 9, 7}}, {2, {280, 5}}, {3, {3, 290, 4}}, {4, {270, 2, 1, 2}}};
    for (size_t s = 0; s < sizeof large / sizeof large[0]; s++)
        for (int special = 0; special < 2; special++) {
            const kit_kind kind = special ? KIT_SPECIAL : KIT_NOISE;
            const floe_pair p = kit_pair(kind, FLOE_F32, large[s].rank, large[s].shape, xs, ys);
            floe_stencil_options o = kit_options(&p, s == 1 ? FLOE_STENCIL_MAX_LAGS : 3);
            o.all_count = !special;
            if (!is_small() || special == (s % 2 == 0))
                compare(&p, o, p.shape[0] * p.shape[1] * p.shape[2] * p.shape[3]);
        }
}

/* Rows that are read 16 bytes at once, with whole groups between their ends; more than a task's along an axis. */
static void rows_of_vectors(void **state)
{
    (void)state;
    static const struct {
        uint32_t rank;
        uint64_t shape[4];
    } aligned[] = {{3, {14, 13, 48}},   {2, {135, 20}},    {3, {3, 133, 16}}, {1, {1000}},
                   {4, {12, 3, 4, 32}}, {3, {32, 40, 48}}, {3, {30, 33, 64}}, {2, {264, 96}},
                   {4, {2, 4, 5, 32}},  {3, {5, 6, 4}},    {3, {4, 7, 8}},    {2, {16, 96}},
                   {3, {24, 64, 32}},   {3, {5, 7, 260}},  {3, {36, 6, 128}}, {4, {2, 3, 9, 132}}};
    for (size_t s = 0; s < sizeof aligned / sizeof aligned[0]; s++)
        for (int d = FLOE_F32; d <= FLOE_F64; d++) {
            const floe_pair p = kit_pair(KIT_NOISE, (floe_dtype)d, aligned[s].rank, aligned[s].shape, xs, ys);
            floe_stencil_options o = kit_options(&p, s == 1 ? 23 : 10);
            o.all_count = true;
            compare(&p, o, p.shape[0] * p.shape[1] * p.shape[2] * p.shape[3]);
        }
}

/* Products have a stream beside the rest, or the only one. */
static void parts_alone(void **state)
{
    (void)state;
    static const uint64_t shape[] = {14, 13, 48};
    for (int part = 0; part < 3; part++) {
        const floe_pair p = kit_pair(KIT_NOISE, FLOE_F32, 3, shape, xs, ys);
        floe_stencil_options o = kit_options(&p, part == 2 ? 10 : 0);
        o.all_count = true;
        o.derivatives = part == 0, o.sobolev = part == 1;
        compare(&p, o, 14 * 13 * 48);
        o.lags = 10;
        compare(&p, o, 14 * 13 * 48);
    }
}

/* A field without a slope has lengths of 0 in single, too, and no mean of their squares. */
static void lengths_of_a_plain(void **state)
{
    (void)state;
    static const uint64_t shape[] = {5, 6, 24};
    const floe_pair p = kit_pair(KIT_CONSTANT, FLOE_F32, 3, shape, xs, ys);
    floe_stencil_options o = kit_options(&p, 0);
    o.all_count = true;
    compare(&p, o, 5 * 6 * 24);
    const floe_stencil_result r = on_gpu(&p, &o, 5 * 6 * 24);
    assert_true(r.of[FLOE_STENCIL_FIRST_LENGTH].original_max == 0);
    assert_true(r.of[FLOE_STENCIL_FIRST_LENGTH].original_rms == 0);
}

/* Where no stencil finds anything but 0, so are Sobolev norms; no stencil has the corners of a field. */
static void norms_of_nothing(void **state)
{
    (void)state;
    static const uint64_t shape[] = {5, 6, 24};
    const floe_pair p = kit_pair(KIT_CONSTANT, FLOE_F32, 3, shape, xs, ys);
    memset(xs, 0, 5 * 6 * 24 * sizeof(float));
    kit_put(FLOE_F32, xs, 0, 1);
    floe_stencil_options o = kit_options(&p, 0);
    o.all_count = true;
    compare(&p, o, 5 * 6 * 24);
    assert_true(on_gpu(&p, &o, 5 * 6 * 24).sobolev[2] == 0);
}

/* Magnitudes that single does not hold as they are, or not at all. */
static void of_any_size(void **state)
{
    (void)state;
    static const uint64_t shape[] = {5, 9, 21};
    for (int u = 0; u < KIT_UNITS; u++)
        for (int tight = 0; tight < 2; tight++) {
            const floe_pair p = kit_pair_in_unit(kit_units[u], tight, shape, xs, ys);
            floe_stencil_options o = kit_options(&p, 0);
            o.all_count = true;
            compare(&p, o, 5 * 9 * 21);
        }
}

static void strided_views(void **state)
{
    (void)state;
    enum { N = 12 };
    for (int trial = 0; trial < (is_small() ? 4 : 30); trial++) {
        const floe_dtype dtype = trial % 2 ? FLOE_F32 : FLOE_F64;
        const size_t size = dtype == FLOE_F32 ? 4 : 8;
        floe_pair p = {.dtype = dtype, .rank = 4, .has_fill = 1};
        p.fill_bits = dtype == FLOE_F32 ? floe_bits_f32((float)kit_fill) : floe_bits_f64(kit_fill);
        for (int64_t i = 0; i < N * N * N * N; i++) {
            double x, y;
            kit_values(trial % 3 ? KIT_NOISE : KIT_SPECIAL, (uint64_t)i, &x, &y);
            kit_put(dtype, xs, i, x);
            kit_put(dtype, ys, i, y);
        }
        int64_t at_x = 0, at_y = 0;
        for (int a = 0; a < 4; a++) {
            static const int64_t steps[] = {N * N * N, N * N, N, 1};
            p.shape[a] = 1 + kit_draw(6);
            p.original_stride[a] = 2 * steps[3 - a];
            p.decoded_stride[a] = -steps[a];
            at_y += (int64_t)(p.shape[a] - 1) * steps[a];
        }
        p.original = (const uint8_t *)xs + at_x * (int64_t)size;
        p.decoded = (const uint8_t *)ys + at_y * (int64_t)size;
        compare(&p, kit_options(&p, 5), N * N * N * N);
    }
}

static void what_is_refused(void **state)
{
    (void)state;
    static const uint64_t shape[] = {5, 6};
    const floe_pair p = kit_pair(KIT_NOISE, FLOE_F32, 2, shape, xs, ys);
    floe_stencil_result r;
    floe_error err = {.message = ""};
    void *workspace;
    const size_t nbytes = floe_stencil_workspace_device();
    CU(cudaMalloc(&workspace, nbytes));
    floe_stencil_options o = {.lags = FLOE_STENCIL_MAX_LAGS + 1};
    assert_int_equal(floe_stencil_assess_device(&cuda, &p, &o, workspace, nbytes, &r, &err), FLOE_ERR_ARGUMENT);
    o.lags = 1;
    assert_int_equal(floe_stencil_assess_device(&cuda, &p, &o, workspace, nbytes - 1, &r, &err), FLOE_ERR_MEMORY);
    cudaFree(workspace);
}

/* ---- bench --------------------------------------------------------------------------------------------------------- */

enum { BENCH_RUNS = 11 };

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void bench_one(const floe_pair *p, floe_stencil_options o, void *workspace, const char *what)
{
    const double nbytes = 2.0 * 4 * (double)(p->shape[1] * p->shape[2] * p->shape[3]);
    floe_stencil_result r;
    float ms[BENCH_RUNS];
    cudaEvent_t begin, end;
    CU(cudaEventCreate(&begin));
    CU(cudaEventCreate(&end));
    for (int run = 0; run < BENCH_RUNS; run++) {
        CU(cudaEventRecord(begin, NULL));
        assert_int_equal(floe_stencil_assess_device(&cuda, p, &o, workspace, floe_stencil_workspace_device(), &r, NULL),
                         FLOE_OK);
        CU(cudaEventRecord(end, NULL));
        CU(cudaEventSynchronize(end));
        CU(cudaEventElapsedTime(&ms[run], begin, end));
    }
    qsort(ms, BENCH_RUNS, sizeof *ms, compare_floats);
    printf("stencil f32 512^3 %-30s %8.3f ms %8.1f GB/s\n", what, (double)ms[BENCH_RUNS / 2],
           nbytes / (double)ms[BENCH_RUNS / 2] / 1e6);
}

static void bench(void)
{
    enum { N = 512 };
    const uint64_t n = (uint64_t)N * N * N;
    double wave[N];
    floe_pair p = {.dtype = FLOE_F32,
                   .place = FLOE_DEVICE,
                   .rank = 3,
                   .shape = {1, N, N, N},
                   .original_stride = {0, N * N, N, 1},
                   .decoded_stride = {0, N * N, N, 1}};
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), *dev_x, *dev_y;
    void *workspace;
    for (int i = 0; i < N; i++)
        wave[i] = sin((double)i * 0.02);
    for (uint64_t i = 0; i < n; i += N) {
        const double row = cos((double)(i / N % N) * 0.03 + (double)(i / N / N) * 0.01);
        for (int k = 0; k < N; k++) {
            x[i + (uint64_t)k] = (float)(wave[k] + row);
            y[i + (uint64_t)k] = x[i + (uint64_t)k] + 1e-3f * (float)(kit_uniform() - 0.5);
        }
    }
    CU(cudaMalloc((void **)&dev_x, n * sizeof *x));
    CU(cudaMalloc((void **)&dev_y, n * sizeof *y));
    CU(cudaMalloc(&workspace, floe_stencil_workspace_device()));
    CU(cudaMemcpy(dev_x, x, n * sizeof *x, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(dev_y, y, n * sizeof *y, cudaMemcpyHostToDevice));
    p.original = dev_x;
    p.decoded = dev_y;
    bench_one(&p, (floe_stencil_options){.derivatives = true, .all_count = true, .peak = 2, .error_peak = 1e-3},
              workspace, "derivatives");
    bench_one(&p, (floe_stencil_options){.derivatives = true, .all_count = true}, workspace, "derivatives in double");
    bench_one(&p, (floe_stencil_options){.lags = 10, .all_count = true}, workspace, "10 lags");
    bench_one(&p,
              (floe_stencil_options){.derivatives = true, .lags = 10, .all_count = true, .peak = 2, .error_peak = 1e-3},
              workspace, "both");
    bench_one(&p, (floe_stencil_options){.derivatives = true, .lags = 10, .peak = 2, .error_peak = 1e-3}, workspace,
              "both, every pair judged");
    bench_one(&p, (floe_stencil_options){.sobolev = true, .all_count = true, .peak = 2}, workspace, "Sobolev norms");
    bench_one(
        &p,
        (floe_stencil_options){.derivatives = true, .sobolev = true, .all_count = true, .peak = 2, .error_peak = 1e-3},
        workspace, "derivatives and Sobolev norms");
    bench_one(&p,
              (floe_stencil_options){
                  .derivatives = true, .sobolev = true, .lags = 10, .all_count = true, .peak = 2, .error_peak = 1e-3},
              workspace, "all");
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    floe_error err = {.message = ""};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_and_shapes), cmocka_unit_test(longer_than_a_chunk),
        cmocka_unit_test(rows_of_vectors),      cmocka_unit_test(parts_alone),
        cmocka_unit_test(lengths_of_a_plain),   cmocka_unit_test(norms_of_nothing),
        cmocka_unit_test(of_any_size),          cmocka_unit_test(strided_views),
        cmocka_unit_test(what_is_refused),
    };
    if (floe_cuda_open(&cuda, -1, NULL, NULL, 0, &err) != FLOE_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    int failed = 0;
    if (argc > 1 && strcmp(argv[1], "--bench") == 0)
        bench();
    else
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    floe_cuda_close(&cuda);
    return failed;
}
