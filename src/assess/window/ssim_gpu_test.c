/* SPDX-License-Identifier: BSD-3-Clause */
/* SSIM on a GPU, both ways, against the CPU's. FLOE_GPU_TEST=small: less of it. With --bench [EXTENT]: how fast it is
 * instead. */
#include "tests/gpu/gpu_kit.h"

#include <stdio.h>

#include "assess/window/ssim_cuda.h"
#include "assess/window/ssim_test_kit.h"

#define NELEMS(array) (sizeof(array) / sizeof(array)[0])

/* ---- both results ------------------------------------------------------------------------------------------------ */

static floe_ssim_result on_cpu(const floe_pair *pair, const floe_ssim_options *options)
{
    floe_cpu cpu;
    floe_ssim_result r;
    assert_int_equal(floe_cpu_init(&cpu, 2, FLOE_ISA_AUTO, NULL), FLOE_OK);
    void *scratch = aligned_alloc(64, floe_ssim_scratch_nbytes(&cpu, pair, options));
    assert_int_equal(floe_ssim_assess(&cpu, pair, options, scratch, &r, NULL), FLOE_OK);
    free(scratch);
    return r;
}

/* The memory that the pair's sides lie in, on the device; guarded scratch. */
typedef struct device {
    uint8_t *original, *decoded, *scratch;
    floe_pair pair;
    uint64_t scratch_nbytes;
} device;

/* Views begin somewhere in the fields. */
static device opened(const kit_fields *f, const floe_pair *pair, const floe_ssim_options *options, uint32_t noptions)
{
    device d = {.pair = *pair};
    const size_t nbytes = f->nelems * (f->pair.dtype == FLOE_F32 ? 4 : 8);
    d.scratch_nbytes = floe_ssim_device_nbytes(pair, options, noptions);
    CU(cudaMalloc((void **)&d.original, nbytes));
    CU(cudaMalloc((void **)&d.decoded, nbytes));
    CU(cudaMalloc((void **)&d.scratch, d.scratch_nbytes + 64));
    CU(cudaMemset(d.scratch, 0xFF, d.scratch_nbytes + 64));
    CU(cudaMemcpy(d.original, f->original, nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(d.decoded, f->decoded, nbytes, cudaMemcpyHostToDevice));
    d.pair.place = FLOE_DEVICE;
    d.pair.original = d.original + ((const uint8_t *)pair->original - (const uint8_t *)f->original);
    d.pair.decoded = d.decoded + ((const uint8_t *)pair->decoded - (const uint8_t *)f->decoded);
    return d;
}

static void closed(device *d)
{
    uint8_t guard[64];
    CU(cudaMemcpy(guard, d->scratch + d->scratch_nbytes, 64, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        assert_int_equal(guard[i], 0xFF);
    cudaFree(d->original);
    cudaFree(d->decoded);
    cudaFree(d->scratch);
}

static void all_on_gpu(const device *d, const floe_ssim_options *options, uint32_t noptions, floe_ssim_result *r)
{
    floe_cuda cuda;
    floe_error err;
    assert_int_equal(floe_cuda_open(&cuda, -1, NULL, NULL, 0, NULL), FLOE_OK);
    if (floe_ssim_assess_device(&cuda, &d->pair, options, noptions, d->scratch, r, &err) != FLOE_OK)
        fail_msg("%s", err.message);
    floe_cuda_close(&cuda);
}

static floe_ssim_result on_gpu(const device *d, const floe_ssim_options *options)
{
    floe_ssim_result r;
    all_on_gpu(d, options, 1, &r);
    return r;
}

static const kit_tolerance as_the_cpu = {1e-12, 1e-12};
static int nfast, nquick; /* trials that the fast way, and the quick one, could take */

/* A view of fields, whole or in part. */
static void check_options(const kit_fields *f, const floe_pair *pair, const floe_ssim_options *options)
{
    floe_ssim_plan plan;
    floe_ssim_plan_device(pair, options, &plan);
    nfast += !plan.is_tree && floe_ssim_is_fast(pair, &plan);
    nquick += plan.is_tree;
    device d = opened(f, pair, options, 1);
    const floe_ssim_result want = on_cpu(pair, options), got = on_gpu(&d, options), again = on_gpu(&d, options);
    kit_assert_ssim(&got, &want, as_the_cpu);
    assert_int_equal(floe_bits_f64(got.mean_loss), floe_bits_f64(again.mean_loss));
    assert_int_equal(floe_bits_f64(got.max_loss), floe_bits_f64(again.max_loss));
    closed(&d);
}

/* With sums in double; and with trees, where they can be. */
static void check_view(const kit_fields *f, const floe_pair *pair, const floe_ssim_options *options)
{
    floe_ssim_options known = *options;
    check_options(f, pair, options);
    kit_know(f, &known);
    if (floe_ssim_tree_takes(pair, &known))
        check_options(f, pair, &known);
}

static void check(floe_dtype dtype, uint32_t rank, const uint64_t *shape, kit_kind kind, uint64_t window, uint64_t step)
{
    kit_fields f = kit_fields_of(dtype, rank, shape, kind);
    double min, max;
    kit_range(&f, &min, &max);
    const floe_ssim_options o = floe_ssim_options_of(&f.pair, window, step, min, max);
    check_view(&f, &f.pair, &o);
    kit_fields_free(&f);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

typedef struct trial {
    uint32_t rank;
    uint64_t shape[4], window, step;
} trial;

static const trial trials[] = {
    {1, {8}, 8, 1},          {1, {5000}, 8, 1},         {1, {3001}, 3, 5},        {1, {700}, 300, 1},
    {1, {100}, 1, 1},        {2, {8, 8}, 8, 1},         {2, {40, 57}, 8, 1},      {2, {33, 140}, 7, 1},
    {2, {50, 60}, 4, 9},     {2, {31, 33}, 1, 1},       {2, {30, 61}, 10, 1},     {3, {8, 8, 8}, 8, 1},
    {3, {20, 33, 74}, 8, 1}, {3, {20, 32, 75}, 8, 1},   {3, {13, 17, 15}, 5, 1},  {3, {30, 30, 30}, 8, 8},
    {3, {19, 23, 29}, 6, 4}, {3, {12, 40, 70}, 12, 1},  {3, {20, 25, 67}, 9, 1},  {3, {18, 40, 131}, 17, 1},
    {3, {9, 10, 11}, 1, 1},  {4, {9, 9, 11, 13}, 4, 1}, {4, {5, 12, 6, 7}, 3, 2}, {4, {3, 3, 3, 20}, 2, 1},
};

static void equals_the_cpu(void **state)
{
    (void)state;
    for (size_t k = 0; k < NELEMS(trials); k++)
        for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++)
            for (int kind = 0; kind < KIT_KINDS; kind++)
                if (!is_small() || kit_draw(is_few() ? 20 : 4) == 0)
                    check((floe_dtype)dtype, trials[k].rank, trials[k].shape, (kit_kind)kind, trials[k].window,
                          trials[k].step);
    assert_true(nfast > 0 && nquick > 0);
}

/* One cell and several, along each axis; so many slices that each is one cell. */
static void slices_equal_the_cpu(void **state)
{
    (void)state;
    static const uint64_t shapes[][4] = {{2, 3, 31, 66}, {1, 5, 145, 140}, {1, 1, 261, 20}, {2, 800, 83, 12}};
    for (size_t k = 0; k < NELEMS(shapes); k++)
        for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++)
            for (int kind = 0; kind < KIT_KINDS; kind++)
                for (int weights = FLOE_SSIM_WEIGHTS_UNIFORM; weights <= FLOE_SSIM_WEIGHTS_GAUSSIAN; weights++) {
                    if (k == 3 ? is_small() || kind != KIT_SMOOTH
                               : is_small() && kit_draw((k ? 8 : 3) * (uint64_t)few_in(2)))
                        continue;
                    kit_fields f = kit_fields_of((floe_dtype)dtype, 4, shapes[k], (kit_kind)kind);
                    double min, max;
                    kit_range(&f, &min, &max);
                    const floe_ssim_options o = floe_ssim_options_image((floe_ssim_weights)weights, min, max);
                    check_view(&f, &f.pair, &o);
                    kit_fields_free(&f);
                }
}

static void axes_are_told_apart(void **state)
{
    (void)state;
    static const uint64_t windows[][4] = {{1, 1, 1, 5}, {1, 1, 4, 1}, {1, 6, 1, 3}, {2, 1, 1, 1},
                                          {3, 9, 1, 9}, {1, 9, 4, 4}, {1, 1, 5, 5}, {1, 3, 9, 9}};
    for (size_t k = 0; k < NELEMS(windows); k++)
        for (int turn = is_few() && k % 2; turn < 2; turn += few_in(2)) {
            kit_fields f = kit_fields_of(turn ? FLOE_F32 : FLOE_F64, 4, (const uint64_t[]){4, 9, 15, 65}, KIT_NOISE);
            double min, max;
            kit_range(&f, &min, &max);
            floe_ssim_options o = floe_ssim_options_of(&f.pair, 1, 1, min, max);
            for (int a = 0; a < 4; a++)
                o.window[a] = windows[k][a], o.step[a] = turn ? 1 : 1 + kit_draw(3);
            check_view(&f, &f.pair, &o);
            kit_fields_free(&f);
        }
}

/* Parts of fields: rows that begin anywhere, gaps between them, axes exchanged, backwards. */
static void views_equal_the_cpu(void **state)
{
    (void)state;
    for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++)
        for (int turn = 0; turn < 4; turn++) {
            kit_fields f = kit_fields_of((floe_dtype)dtype, 3, (const uint64_t[]){16, 30, 91}, KIT_SMOOTH);
            const size_t size = dtype == FLOE_F32 ? 4 : 8;
            floe_pair view = f.pair;
            view.shape[1] = 12, view.shape[2] = 20, view.shape[3] = 80;
            view.original = (const uint8_t *)f.original + (91 + (size_t)turn) * size;
            view.decoded = (const uint8_t *)f.decoded + (3 * 91 + 5) * size;
            if (turn == 3) {
                view.shape[3] = 20;
                view.decoded = (const uint8_t *)f.decoded + (f.nelems - 1) * size;
                view.decoded_stride[1] = -30 * 91, view.decoded_stride[2] = -1, view.decoded_stride[3] = -91;
            }
            const floe_ssim_options o = floe_ssim_options_of(&view, 8, 1, -1.5, 1.5);
            check_view(&f, &view, &o);
            kit_fields_free(&f);
        }
}

/* Rows that begin where 16 bytes do, and end anywhere. */
static void ends_of_rows_equal_the_cpu(void **state)
{
    (void)state;
    for (uint64_t length = 80; length < 84; length += (uint64_t)few_in(3)) {
        kit_fields f = kit_fields_of(FLOE_F32, 3, (const uint64_t[]){9, 30, 92}, KIT_SMOOTH);
        floe_pair view = f.pair;
        view.shape[3] = length;
        view.original = (const float *)f.original + 4, view.decoded = (const float *)f.decoded + 8;
        const floe_ssim_options o[] = {floe_ssim_options_of(&view, 8, 1, -1.5, 1.5),
                                       floe_ssim_options_image(FLOE_SSIM_WEIGHTS_UNIFORM, -1.5, 1.5),
                                       floe_ssim_options_image(FLOE_SSIM_WEIGHTS_GAUSSIAN, -1.5, 1.5)};
        for (size_t k = 0; k < NELEMS(o); k++)
            check_view(&f, &view, &o[k]);
        kit_fields_free(&f);
    }
}

/* The fast way on its own: it takes what is tame, and reports it where one value is not. */
static void wild_values_are_found(void **state)
{
    (void)state;
    static const struct {
        double offset; /* from the middle, in ranges */
        bool wild, too_wild;
    } cases[] = {{0, false, false},   {7.99, false, false}, {-7.99, false, false},  {8.01, true, true},
                 {-8.01, true, true}, {NAN, true, false},   {INFINITY, true, false}};
    for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++)
        for (size_t k = 0; k < NELEMS(cases); k++) {
            kit_fields f = kit_fields_of((floe_dtype)dtype, 3, (const uint64_t[]){9, 10, 80}, KIT_SMOOTH);
            kit_put(f.decoded, f.pair.dtype, kit_draw(f.nelems), 0.5 + cases[k].offset);
            floe_ssim_options o = floe_ssim_options_of(&f.pair, 8, 1, 0, 1);
            device d = opened(&f, &f.pair, &o, 1);
            floe_ssim_job job = {.pair = d.pair};
            floe_ssim_joined joined;
            floe_ssim_plan_device(&d.pair, &o, &job.plan);
            assert_true(floe_ssim_is_fast(&d.pair, &job.plan));
            job.joined = (floe_ssim_joined *)d.scratch;
            job.parts = (floe_ssim_part *)(d.scratch + 64);
            const floe_ssim_result want = on_cpu(&f.pair, &o);
            for (int careful = 0; careful < 2; careful++) {
                CU((cudaError_t)(dtype == FLOE_F32 ? floe_ssim_fast_cuda_f32(&job, careful, NULL)
                                                   : floe_ssim_fast_cuda_f64(&job, careful, NULL)));
                CU(cudaMemcpy(&joined, job.joined, sizeof joined, cudaMemcpyDeviceToHost));
                const bool wild = careful ? cases[k].too_wild : cases[k].wild;
                assert_int_equal(joined.wild != 0, wild);
                const floe_ssim_result got = floe_ssim_join(&job.plan, &joined.part, 1);
                if (!wild)
                    kit_assert_ssim(&got, &want, as_the_cpu);
            }
            closed(&d);
            kit_fields_free(&f);
        }
}

/* Values that do not count come into windows and leave them again. */
static void few_specials_are_left_out(void **state)
{
    (void)state;
    for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++)
        for (int filled = is_few() && dtype == FLOE_F64; filled < 2; filled += few_in(2)) {
            kit_fields f = kit_fields_of((floe_dtype)dtype, 3, (const uint64_t[]){30, 40, 70}, KIT_SMOOTH);
            double min, max;
            kit_range(&f, &min, &max);
            const floe_ssim_options o = floe_ssim_options_of(&f.pair, 8, 1, min, max);
            if (filled)
                f.pair.has_fill = 1, f.pair.fill_bits = kit_bits(f.pair.dtype, 0.25); /* among the others */
            for (int i = 0; i < 15; i++)
                kit_put(i % 2 ? f.original : f.decoded, f.pair.dtype, kit_draw(f.nelems),
                        filled && i % 3 ? 0.25
                        : i % 5         ? NAN
                                        : -INFINITY);
            const floe_ssim_result want = on_cpu(&f.pair, &o);
            assert_true(want.nwindows > 10000 && want.nleft_out > 1000);
            check_view(&f, &f.pair, &o);
            kit_fields_free(&f);
        }
}

/* What may be requested of it, to each limit and one beyond. */
static void fast_way_has_limits(void **state)
{
    (void)state;
    const kit_fields f = kit_fields_of(FLOE_F32, 3, (const uint64_t[]){20, 20, FLOE_SSIM_FAST_X}, KIT_SMOOTH);
    const struct {
        uint64_t window, step, row;
        int64_t stride;
        bool fast;
    } cases[] = {{17, 1, 64, 1, true}, {18, 1, 64, 1, false}, {8, 2, 64, 1, false},
                 {8, 1, 63, 1, false}, {8, 1, 64, -1, false}, {1, 1, 64, 1, true}};
    for (size_t k = 0; k < NELEMS(cases); k++) {
        floe_pair pair = f.pair;
        floe_ssim_plan plan;
        pair.shape[3] = cases[k].row, pair.decoded_stride[3] = cases[k].stride;
        floe_ssim_options o = floe_ssim_options_of(&pair, cases[k].window, cases[k].step, 0, 1);
        o.window[1] = 9, o.step[1] = 1; /* along the slow axis any window will do */
        floe_ssim_plan_device(&pair, &o, &plan);
        assert_int_equal(floe_ssim_is_fast(&pair, &plan), cases[k].fast);
    }
    floe_ssim_options o = floe_ssim_options_image(FLOE_SSIM_WEIGHTS_GAUSSIAN, 0, 1);
    for (int deep = 0; deep < 2; deep++) {
        floe_ssim_plan plan;
        o.window[1] = deep ? FLOE_SSIM_TAPS : 1;
        floe_ssim_plan_device(&f.pair, &o, &plan);
        assert_int_equal(floe_ssim_is_fast(&f.pair, &plan), !deep);
    }
    kit_fields_free((kit_fields *)&f);
}

/* Kinds that are requested by one call, in all orders, the quick way and others: as each alone. */
static void many_at_once(void **state)
{
    (void)state;
    kit_fields f = kit_fields_of(FLOE_F32, 3, (const uint64_t[]){18, 40, 70}, KIT_SMOOTH);
    for (uint32_t careful = 0; careful < 8; careful += (uint32_t)few_in(3))
        for (uint32_t first = is_few() ? careful / 3 : 0; first < 3; first += (uint32_t)few_in(3)) {
            floe_ssim_options all[] = {floe_ssim_options_of(&f.pair, 8, 1, -1.5, 1.5),
                                       floe_ssim_options_image(FLOE_SSIM_WEIGHTS_UNIFORM, -1.5, 1.5),
                                       floe_ssim_options_image(FLOE_SSIM_WEIGHTS_GAUSSIAN, -1.5, 1.5)};
            floe_ssim_options o[3];
            floe_ssim_result r[3];
            for (uint32_t k = 0; k < 3; k++) {
                kit_know(&f, &all[k]);
                if (careful >> k & 1)
                    all[k].high = INFINITY;
                o[(k + first) % 3] = all[k];
            }
            device d = opened(&f, &f.pair, o, 3);
            all_on_gpu(&d, o, 3, r);
            for (uint32_t k = 0; k < 3; k++) {
                const floe_ssim_result alone = on_gpu(&d, &o[k]);
                assert_memory_equal(&r[k], &alone, sizeof alone);
            }
            closed(&d);
        }
    kit_fields_free(&f);
}

/* A field that has several tiles of the fast way along each axis, and several chunks of planes. */
static void large_fields_equal_the_cpu(void **state)
{
    (void)state;
    check(FLOE_F32, 3, (const uint64_t[]){205, 12, 66}, KIT_OFFSET, 8, 1); /* three chunks */
    if (is_small())
        return;
    check(FLOE_F32, 3, (const uint64_t[]){300, 70, 200}, KIT_SMOOTH, 8, 1);
    check(FLOE_F64, 3, (const uint64_t[]){40, 60, 131}, KIT_NOISE, 7, 1);
    check(FLOE_F32, 3, (const uint64_t[]){40, 60, 131}, KIT_OUTLIER, 8, 1);
}

/* ---- speed ------------------------------------------------------------------------------------------------------- */

static float median_ms(const device *d, const floe_ssim_options *o)
{
    enum { TURNS = 11 };
    float ms[TURNS];
    floe_cuda cuda;
    floe_ssim_result r;
    cudaEvent_t begin, end;
    CU(cudaEventCreate(&begin));
    CU(cudaEventCreate(&end));
    assert_int_equal(floe_cuda_open(&cuda, -1, NULL, NULL, 0, NULL), FLOE_OK);
    for (int t = 0; t < TURNS; t++) {
        CU(cudaEventRecord(begin, NULL));
        assert_int_equal(floe_ssim_assess_device(&cuda, &d->pair, o, 1, d->scratch, &r, NULL), FLOE_OK);
        CU(cudaEventRecord(end, NULL));
        CU(cudaEventSynchronize(end));
        CU(cudaEventElapsedTime(&ms[t], begin, end));
        for (int i = t; i > 0 && ms[i] < ms[i - 1]; i--) {
            const float swap = ms[i];
            ms[i] = ms[i - 1], ms[i - 1] = swap;
        }
    }
    floe_cuda_close(&cuda);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return ms[TURNS / 2];
}

/* A large field is one of 2^20 values again and again, which would else take most of the time. */
static kit_fields bench_fields(floe_dtype dtype, uint64_t extent)
{
    enum { KNOWN = 1 << 20 };
    kit_fields small = kit_fields_of(dtype, 1, (const uint64_t[]){KNOWN}, KIT_SMOOTH), f;
    const size_t size = dtype == FLOE_F32 ? 4 : 8;
    f.nelems = extent * extent * extent;
    f.pair = small.pair;
    f.pair.rank = 3;
    for (int a = 1; a < 4; a++) {
        f.pair.shape[a] = extent;
        f.pair.original_stride[a] = f.pair.decoded_stride[a] = (int64_t)(a == 3   ? 1
                                                                         : a == 2 ? extent
                                                                                  : extent * extent);
    }
    f.pair.original = f.original = malloc(f.nelems * size);
    f.pair.decoded = f.decoded = malloc(f.nelems * size);
    for (uint64_t i = 0; i < f.nelems; i += KNOWN) {
        const uint64_t n = floe_min64(KNOWN, f.nelems - i);
        memcpy((uint8_t *)f.original + i * size, small.original, n * size);
        memcpy((uint8_t *)f.decoded + i * size, small.decoded, n * size);
    }
    kit_fields_free(&small);
    return f;
}

static void bench(uint64_t extent)
{
    for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++) {
        kit_fields f = bench_fields((floe_dtype)dtype, extent);
        floe_ssim_options o[] = {
            floe_ssim_options_of(&f.pair, 8, 1, -1.5, 1.5),
            floe_ssim_options_of(&f.pair, 16, 1, -1.5, 1.5),
            floe_ssim_options_of(&f.pair, 8, 8, -1.5, 1.5),
            floe_ssim_options_image(FLOE_SSIM_WEIGHTS_UNIFORM, -1.5, 1.5),
            floe_ssim_options_image(FLOE_SSIM_WEIGHTS_GAUSSIAN, -1.5, 1.5),
        };
        static const char *const names[] = {"8^3", "16^3", "8^3 step 8", "image 7x7", "image Gaussian"};
        for (size_t k = 0; k < NELEMS(o); k++) {
            o[k].low = -2, o[k].high = 2;
            device d = opened(&f, &f.pair, &o[k], 1);
            const float ms = median_ms(&d, &o[k]);
            const double nbytes = 2.0 * (double)f.nelems * (dtype == FLOE_F32 ? 4 : 8);
            printf("%s %-14s %8.3f ms %8.1f GB/s of both fields\n", dtype == FLOE_F32 ? "f32" : "f64", names[k], ms,
                   nbytes / (double)ms * 1e-6);
            closed(&d);
        }
        kit_fields_free(&f);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench(argc > 2 ? strtoull(argv[2], NULL, 10) : 512);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_cpu),
        cmocka_unit_test(slices_equal_the_cpu),
        cmocka_unit_test(axes_are_told_apart),
        cmocka_unit_test(views_equal_the_cpu),
        cmocka_unit_test(ends_of_rows_equal_the_cpu),
        cmocka_unit_test(wild_values_are_found),
        cmocka_unit_test(few_specials_are_left_out),
        cmocka_unit_test(fast_way_has_limits),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(large_fields_equal_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
