/* SPDX-License-Identifier: BSD-3-Clause */
/* All metrics of fields in device memory against those of the same fields in host memory. */
#include "tests/assess_kit.h"
#include "tests/gpu/gpu_kit.h"

static floe_field on_device(const kit_pair *p, int side)
{
    floe_field f = p->field[side];
    CU(cudaMalloc(&f.data, p->nbytes[side]));
    CU(cudaMemcpy(f.data, p->memory[side], p->nbytes[side], cudaMemcpyHostToDevice));
    f.place = FLOE_DEVICE;
    return f;
}

static void close_to(const char *alias, double got, double want)
{
    if (!(got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= 1e-10 * fmax(fabs(want), 1e-3)))
        fail_msg("%s: %s is %.17g on the GPU, %.17g on the CPU", kit_case, alias, got, want);
}

static void same_report(const floe_assess_report *got, const floe_assess_report *want)
{
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        if (!floe_metric_set_has(&got->computed, i) || m->pass == FLOE_PASS_REDUCTION)
            continue;
        assert_true(floe_metric_set_has(&want->computed, i));
        close_to(m->alias, floe_metric_value(got, i), floe_metric_value(want, i));
        if (m->kind == FLOE_METRIC_SERIES) {
            const floe_series *g = (const void *)((const char *)got + m->offset);
            const floe_series *w = (const void *)((const char *)want + m->offset);
            assert_int_equal(g->count, w->count);
            for (uint64_t k = 0; k < g->count; k++)
                close_to(m->alias, g->value[k], w->value[k]);
        }
    }
}

static void all_passes(void **state)
{
    static const struct {
        uint32_t rank;
        uint64_t shape[FLOE_MAX_RANK];
    } shapes[] = {{1, {300}}, {2, {20, 30}}, {3, {12, 20, 33}}};
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    for (size_t i = 0; i < KIT_COUNT(shapes); i++)
        for (int kind = PAIR_SMOOTH; kind <= PAIR_OFFSET; kind += one_in(3)) {
            kit_pair p =
                kit_pair_make((pair_kind)kind, i % 2 ? FLOE_F64 : FLOE_F32, shapes[i].rank, shapes[i].shape, false, 3);
            const floe_field x = on_device(&p, 0), y = on_device(&p, 1);
            floe_assess_report want = {.size = sizeof want}, got = {.size = sizeof got};
            uint32_t ssim, autocorr;
            snprintf(kit_case, sizeof kit_case, "kind %d, shape %zu", kind, i);
            kit_ok(cpu, floe_assess(cpu, &p.field[0], &p.field[1], NULL, &want));
            kit_ok(gpu, floe_assess(gpu, &x, &y, NULL, &got));
            assert_int_equal(floe_metric_find("ssim", &ssim), FLOE_OK);
            assert_int_equal(floe_metric_find("autocorr", &autocorr), FLOE_OK);
            assert_true(floe_metric_set_has(&got.computed, ssim) && floe_metric_set_has(&got.computed, autocorr));
            same_report(&got, &want);
            cudaFree(x.data);
            cudaFree(y.data);
            kit_pair_free(&p);
        }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

/* Windows and nothing else: of most fields the reduction pass is left out, which shows in a mean that nobody has found. What it
 * would have found of the decoded field must show in the windows. */
static void windows_alone(void **state)
{
    enum { AS_IT_IS, FAR, FARTHER, WILD, NOT_A_NUMBER, FILL, WAYS };
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    for (int kind = PAIR_SMOOTH; kind < PAIR_KINDS; kind += few_in(3))
        for (int way = AS_IT_IS; way < WAYS; way++)
            for (int rank = 2; rank <= 3; rank++) {
                kit_pair p = kit_pair_make((pair_kind)kind, FLOE_F32, (uint32_t)rank,
                                           rank == 2 ? (uint64_t[]){20, 30} : (uint64_t[]){12, 20, 33}, false, 3);
                float *of_y = p.memory[1];
                floe_assess_options o;
                floe_assess_report want = {.size = sizeof want}, got = {.size = sizeof got};
                floe_assess_options_init(&o);
                snprintf(kit_case, sizeof kit_case, "windows, kind %d, way %d, rank %d", kind, way, rank);
                o.fill = way == FILL ? FLOE_FILL_VALUE : FLOE_FILL_AUTO;
                o.fill_value = way == FILL ? of_y[77] : 0;
                of_y[77] = way == FAR            ? 1e5f
                           : way == FARTHER      ? 1e7f
                           : way == WILD         ? 1e18f
                           : way == NOT_A_NUMBER ? NAN
                                                 : of_y[77];
                const floe_field x = on_device(&p, 0), y = on_device(&p, 1);
                kit_ok(cpu, floe_metric_set_parse(&o.metrics, "window", NULL));
                const floe_status status = floe_assess(cpu, &p.field[0], &p.field[1], &o, &want);
                assert_int_equal(floe_assess(gpu, &x, &y, &o, &got), status);
                if (status == FLOE_OK) {
                    same_report(&got, &want);
                    assert_int_equal(got.ncounted, want.ncounted);
                    assert_int_equal(got.has_fill, want.has_fill);
                    assert_true(got.original.min == want.original.min && got.original.max == want.original.max);
                }
                if (kind == PAIR_SMOOTH)
                    assert_int_equal(isnan(got.original.mean) != 0, way < FARTHER);
                cudaFree(x.data);
                cudaFree(y.data);
                kit_pair_free(&p);
            }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

/* Fields in host memory, in one piece or not: copied to the GPU, and what it does not do is found on the CPU. */
static void fields_of_the_host(void **state)
{
    static const char metrics[] = "properties reduction stencil window spectrum laplacian_ssim first_ssim "
                                  "original_autocorr decoded_gradient_max decoded_gradient_rms decoded_laplacian_min "
                                  "decoded_laplacian_max decoded_laplacian_rms decoded_sobolev_s0 decoded_sobolev_s2";
    (void)state;
    floe_ctx_options options = {.size = sizeof options, .backend = FLOE_BACKEND_CUDA, .threads = 2};
    floe_ctx *cpu = kit_ctx(2), *gpu = NULL;
    kit_ok(gpu, floe_ctx_create(&gpu, &options));
    for (int kind = PAIR_SMOOTH; kind < PAIR_KINDS; kind += PAIR_FILL - PAIR_SMOOTH)
        for (int strided = 0; strided < 2; strided++)
            for (int alone = 0; alone < 2; alone++) {
                const floe_dtype dtype = strided ? FLOE_F64 : FLOE_F32;
                kit_pair p = kit_pair_make((pair_kind)kind, dtype, 3, (uint64_t[]){12, 20, 33}, strided, 3);
                const floe_field *y = alone ? NULL : &p.field[1];
                floe_assess_options o;
                floe_assess_report want = {.size = sizeof want}, got = {.size = sizeof got};
                uint32_t n, mse;
                floe_assess_options_init(&o);
                snprintf(kit_case, sizeof kit_case, "of the host, kind %d, strided %d, alone %d", kind, strided, alone);
                kit_ok(cpu, floe_metric_set_parse(&o.metrics, alone ? "properties" : metrics, NULL));
                kit_ok(cpu, floe_assess(cpu, &p.field[0], y, &o, &want));
                kit_ok(gpu, floe_assess(gpu, &p.field[0], y, &o, &got));
                assert_memory_equal(&got.computed, &want.computed, sizeof got.computed);
                same_report(&got, &want);
                assert_int_equal(floe_metric_find("n", &n), FLOE_OK);
                assert_int_equal(floe_metric_find("mse", &mse), FLOE_OK);
                close_to("n", floe_metric_value(&got, n), floe_metric_value(&want, n));
                close_to("mse", floe_metric_value(&got, mse), floe_metric_value(&want, mse));
                kit_pair_free(&p);
            }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

/* Fill is looked for in the original, whatever the decoded field has in its place. */
static void fill_is_the_original_s(void **state)
{
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    for (int c = 0; c < 2 * KIT_MASKS; c += one_in(3)) {
        const floe_dtype dtype = c % 2 ? FLOE_F64 : FLOE_F32;
        kit_pair p = kit_pair_make(PAIR_SMOOTH, dtype, 2, (uint64_t[]){20, 100}, false, 5);
        kit_pair_mask(&p, (kit_mask)(c / 2), 1e20, c % 3 ? NAN : 0);
        const floe_field x = on_device(&p, 0), y = on_device(&p, 1);
        floe_assess_report want = {.size = sizeof want}, got = {.size = sizeof got};
        snprintf(kit_case, sizeof kit_case, "mask %d, %s", c / 2, floe_dtype_name(dtype));
        kit_ok(cpu, floe_assess(cpu, &p.field[0], &p.field[1], NULL, &want));
        kit_ok(gpu, floe_assess(gpu, &x, &y, NULL, &got));
        same_report(&got, &want);
        assert_true(got.has_fill && want.has_fill && got.fill_value == want.fill_value);
        assert_int_equal(got.original.nfill, want.original.nfill);
        assert_true(got.original.max < 2);
        cudaFree(x.data);
        cudaFree(y.data);
        kit_pair_free(&p);
    }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

/* Integers are made doubles on the host; in device memory they are refused. */
static void integers(void **state)
{
    enum { N = 12 * 20 * 33 };
    static int64_t x[N], y[N];
    const uint64_t shape[] = {12, 20, 33};
    uint64_t seed = 1;
    (void)state;
    floe_ctx_options options = {.size = sizeof options, .backend = FLOE_BACKEND_CUDA, .threads = 2};
    floe_ctx *cpu = kit_ctx(2), *gpu = NULL;
    kit_ok(gpu, floe_ctx_create(&gpu, &options));
    for (int i = 0; i < N; i++)
        x[i] = (INT64_C(1) << 60) + (int64_t)(kit_random(&seed) >> 8), y[i] = x[i] + (int64_t)(kit_random(&seed) % 99);
    floe_field of_x = floe_field_of(x, FLOE_I64, 3, shape), of_y = floe_field_of(y, FLOE_I64, 3, shape);
    floe_assess_report want = {.size = sizeof want}, got = {.size = sizeof got};
    snprintf(kit_case, sizeof kit_case, "integers");
    kit_ok(cpu, floe_assess(cpu, &of_x, &of_y, NULL, &want));
    kit_ok(gpu, floe_assess(gpu, &of_x, &of_y, NULL, &got));
    same_report(&got, &want);
    assert_int_equal(got.dtype, FLOE_I64);
    assert_true(got.error.abs_max == 98 && want.error.abs_max == 98);
    assert_true(got.original.entropy_bytes == want.original.entropy_bytes);
    of_x.place = FLOE_DEVICE;
    kit_fails(gpu, floe_assess(gpu, &of_x, NULL, NULL, &got), FLOE_ERR_UNSUPPORTED, "bring them to host memory");
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

static void what_a_gpu_does_not_do(void **state)
{
    (void)state;
    floe_ctx *gpu = kit_ctx(2);
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F32, 2, (uint64_t[]){20, 30}, false, 3);
    const floe_field x = on_device(&p, 0);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options_init(&o);
    kit_ok(gpu, floe_metric_set_parse(&o.metrics, "laplacian_ssim", NULL));
    kit_fails(gpu, floe_assess(gpu, &x, &x, &o, &r), FLOE_ERR_UNSUPPORTED,
              "'laplacian_ssim' is found in host memory only");
    kit_fails(gpu, floe_assess(gpu, &x, &p.field[1], NULL, &r), FLOE_ERR_ARGUMENT, "one field lies in host memory");
    cudaFree(x.data);
    kit_pair_free(&p);
    floe_ctx_free(&gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_passes),         cmocka_unit_test(windows_alone),
                                       cmocka_unit_test(fields_of_the_host), cmocka_unit_test(fill_is_the_original_s),
                                       cmocka_unit_test(integers),           cmocka_unit_test(what_a_gpu_does_not_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
