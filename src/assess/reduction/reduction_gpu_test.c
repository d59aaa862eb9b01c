/* SPDX-License-Identifier: BSD-3-Clause */
/* The reduction pass on a GPU against the CPU's: the same counts, extremes and places, sums to a few 2^-53; and the same
 * bits each time. FLOE_GPU_TEST=small: less of it. */
#include "backend/limits_cuda.h"
#include "tests/assess_kit.h"
#include "tests/gpu/gpu_kit.h"

#include "assess/reduction/reduction_device.h"
#include "assess/reduction/reduction_gpu_kit.h"
#include "assess/reduction/reduction_test_kit.h"

/* ---- fields of all kinds ----------------------------------------------------------------------------------------------- */

static floe_assess_options options_in_turn(pair_kind kind)
{
    floe_assess_options o = options_of(kind);
    o.mode = kind % 2 ? FLOE_BOUND_ABS : FLOE_BOUND_PWREL;
    return o;
}

static const struct {
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
} shapes[] = {{1, {1}},     {1, {4096}},      {2, {37, 61}}, {3, {13, 40, 35}}, {4, {3, 7, 19, 50}},
              {1, {70001}}, {3, {48, 64, 65}}};

static void like_the_cpu(void **state)
{
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    for (int kind = 0; kind < PAIR_KINDS; kind++)
        for (size_t i = 0; i < KIT_COUNT(shapes); i++)
            for (int c = 0; c < 4; c++) {
                const bool strided = c / 2;
                if (is_small() && (kind + (int)i + c) % (4 * few_in(3)))
                    continue;
                kit_pair p = kit_pair_make((pair_kind)kind, c % 2 ? FLOE_F64 : FLOE_F32, shapes[i].rank,
                                           shapes[i].shape, strided, 9);
                const floe_assess_options o = options_in_turn((pair_kind)kind);
                snprintf(kit_case, sizeof kit_case, "kind %d, shape %zu, %s, %s", kind, i, c % 2 ? "f64" : "f32",
                         strided ? "strided" : "dense");
                check(&p, &o, c == 1 ? 1 : 0, cpu, gpu);
                kit_pair_free(&p);
            }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

/* ---- sums and extremes alone --------------------------------------------------------------------------------------------- */

static void turn_round(const kit_pair *p)
{
    for (uint64_t i = 0; i < p->nelems; i++)
        for (int side = 0; side < 2; side++)
            if (p->field[0].dtype == FLOE_F32)
                ((float *)p->memory[side])[i] = -((float *)p->memory[side])[i];
            else
                ((double *)p->memory[side])[i] = -((double *)p->memory[side])[i];
}

static void without_bins(void **state)
{
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    for (int kind = 0; kind < PAIR_KINDS; kind++)
        for (int way = 0; way < 4; way++) {
            const uint64_t n = is_small() ? 9000 : 150001;
            kit_pair p = kit_pair_make((pair_kind)kind, way % 2 ? FLOE_F64 : FLOE_F32, 1, &n, false, 9);
            floe_assess_options o = options_in_turn((pair_kind)kind);
            if (way / 2)
                turn_round(&p);
            snprintf(kit_case, sizeof kit_case, "kind %d, way %d", kind, way);
            kit_ok(cpu, floe_metric_set_parse(&o.metrics,
                                              "min max mean variance skewness kurtosis zeros nan inf decoded_min "
                                              "decoded_max decoded_variance max_error avg_error min_error psnr pearson "
                                              "max_pw_rel_error avg_pw_rel_error",
                                              NULL));
            check(&p, &o, 0, cpu, gpu);
            kit_ok(cpu, floe_metric_set_parse(&o.metrics, "min max decoded_min decoded_max max_error mse", NULL));
            check(&p, &o, 0, cpu, gpu);
            kit_pair_free(&p);
        }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

/* ---- masks ----------------------------------------------------------------------------------------------------------------- */

static void what_a_mask_hides(void **state)
{
    static const uint64_t large[] = {130, 1151};
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    const floe_assess_options o = options_in_turn(PAIR_FILL);
    for (int c = 0; c < MASKED_PAIRS; c += one_in(4)) {
        kit_pair p = masked_pair(c, is_small() ? NULL : large);
        check(&p, &o, 0, cpu, gpu);
        kit_pair_free(&p);
    }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

/* ---- bins that grow ------------------------------------------------------------------------------------------------------ */

/* Values whose range grows as they come, far beyond what samples show. */
static void growing_ranges(void **state)
{
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    for (int way = 0; way < 4; way++) {
        kit_pair p = kit_pair_make(PAIR_SMOOTH, way % 2 ? FLOE_F64 : FLOE_F32, 1, (uint64_t[]){20000}, false, 3);
        for (uint64_t i = 0; i < p.nelems; i++) {
            const double grown = way < 2    ? ldexp(1, (int)(i / 100) % 90 - 45) * (i % 3 == 0 ? -1 : 1)
                                 : i == 777 ? -1e30
                                            : 0;
            if (p.field[0].dtype == FLOE_F32)
                ((float *)p.memory[0])[i] = (float)grown, ((float *)p.memory[1])[i] = (float)(grown * 1.01);
            else
                ((double *)p.memory[0])[i] = grown, ((double *)p.memory[1])[i] = grown * 1.01;
        }
        floe_assess_options o = options_in_turn(PAIR_SMOOTH);
        snprintf(kit_case, sizeof kit_case, "way %d", way);
        const bool are_many = floe_gpu_limits_cuda().shared_nbytes >= 200 << 10;
        o.bins = way % 2 ? 64 : are_many ? FLOE_ASSESS_MAX_BINS : 1024;
        o.value_bins = way % 2 ? 64 : are_many ? FLOE_ASSESS_MAX_VALUE_BINS : 4096;
        check(&p, &o, 0, cpu, gpu);
        kit_pair_free(&p);
    }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

/* As many bins as there can be: where a block has little shared memory that is reported, and the call ends. */
static void more_bins_than_shared_memory(void **state)
{
    (void)state;
    floe_ctx *gpu = kit_ctx(2);
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F32, 1, (uint64_t[]){20000}, false, 3);
    device_pair d = device_pair_make(&p, 0);
    floe_assess_options o = options_in_turn(PAIR_SMOOTH);
    floe_assess_report got = {.size = sizeof got};
    o.bins = FLOE_ASSESS_MAX_BINS, o.value_bins = FLOE_ASSESS_MAX_VALUE_BINS;
    const floe_status status = floe_assess(gpu, &d.field[0], &d.field[1], &o, &got);
    if (floe_gpu_limits_cuda().shared_nbytes >= 200 << 10)
        kit_ok(gpu, status);
    else
        kit_fails(gpu, status, FLOE_ERR_MEMORY, "too many for the shared memory of this GPU");
    device_pair_free(&d);
    kit_pair_free(&p);
    floe_ctx_free(&gpu);
}

/* The reduction itself, of a pair in either place; on a GPU by so many blocks. */
typedef struct reduced {
    floe_pair pair;
    floe_reduction r;
    floe_reduction_result result;
    void *memory;
} reduced;

static void reduced_take(reduced *d, const kit_pair *p, void *const data[2], uint32_t bins, uint32_t value_bins)
{
    static floe_reduction_options options = {.parts = FLOE_REDUCTION_PDFS | FLOE_REDUCTION_VALUES};
    static const floe_cpu cpu = {.threads = 1};
    floe_error err;
    options.bins = bins, options.value_bins = value_bins;
    d->pair = (floe_pair){.original = data[0],
                          .decoded = data[1],
                          .dtype = p->field[0].dtype,
                          .place = data[0] == p->memory[0] ? FLOE_HOST : FLOE_DEVICE,
                          .rank = 1,
                          .shape = {1, 1, 1, p->nelems},
                          .original_stride = {0, 0, 0, 1},
                          .decoded_stride = {0, 0, 0, 1}};
    assert_int_equal(floe_reduction_init(&d->r, &cpu, &d->pair, &options, &err), FLOE_OK);
    floe_arena plan = floe_arena_plan();
    floe_reduction_take(&d->r, &plan);
    d->memory = calloc(plan.used, 1);
    floe_arena arena = floe_arena_of(d->memory, plan.used);
    floe_reduction_take(&d->r, &arena);
}

static void reduced_on_gpu(reduced *d, floe_cuda *cuda, uint32_t nblocks)
{
    floe_reduction_device device;
    floe_error err;
    void *memory;
    assert_int_equal(floe_reduction_device_init(&device, cuda, &d->r, &err), FLOE_OK);
    device.nblocks = nblocks;
    floe_arena plan = floe_arena_plan();
    floe_reduction_device_take(&device, &plan);
    CU(cudaMalloc(&memory, plan.used));
    floe_arena arena = floe_arena_of(memory, plan.used);
    floe_reduction_device_take(&device, &arena);
    assert_int_equal(floe_reduction_device_run(&device, &d->result, &err), FLOE_OK);
    CU(cudaFree(memory));
}

static void same_frame(const floe_bins_frame *a, const floe_bins_frame *b)
{
    assert_int_equal(a->nbins, b->nbins);
    assert_true(a->exponent == b->exponent && a->first == b->first);
}

static void same_counts(const floe_reduction_result *a, const floe_reduction_result *b)
{
    assert_memory_equal(a->total.count, b->total.count, sizeof a->total.count);
    assert_memory_equal(a->total.top, b->total.top, sizeof a->total.top - 2 * sizeof *a->total.top); /* but ratios' */
    same_frame(&a->error_frame, &b->error_frame);
    same_frame(&a->value_frame, &b->value_frame);
    assert_memory_equal(a->error_count, b->error_count, a->error_frame.nbins * sizeof(uint64_t));
    assert_memory_equal(a->ratio_count, b->ratio_count, floe_log_bins_count(a->ratio_nbits) * sizeof(uint64_t));
    for (int side = 0; side < 2; side++)
        assert_memory_equal(a->value_count[side], b->value_count[side], a->value_frame.nbins * sizeof(uint64_t));
}

/* Both places find the same; on the GPU by so many blocks. */
static void same_reduced(const kit_pair *p, uint32_t bins, uint32_t value_bins, floe_cuda *cuda, uint32_t nblocks)
{
    device_pair d = device_pair_make(p, 0);
    reduced want, got;
    floe_error err;
    reduced_take(&want, p, p->memory, bins, value_bins);
    assert_int_equal(floe_reduction_run(&want.r, &want.result, &err), FLOE_OK);
    reduced_take(&got, p, d.memory, bins, value_bins);
    reduced_on_gpu(&got, cuda, nblocks);
    same_counts(&got.result, &want.result);
    free(want.memory), free(got.memory);
    device_pair_free(&d);
}

/* Values that stand out more and more, so that much has to wait for wider frames while blocks go on; and few blocks, each with
 * pieces and a share of the rest. */
static void frames_that_widen_late(void **state)
{
    (void)state;
    enum { STEP = 4096, SMALL_PIECES = 8 };
    const uint64_t n = SMALL_PIECES * (uint64_t)FLOE_REDUCTION_PIECE + 3 * STEP + 777;
    floe_cuda cuda;
    floe_error err;
    assert_int_equal(floe_cuda_open(&cuda, -1, NULL, NULL, 0, &err), FLOE_OK);
    for (int way = 0; way < 6; way++) {
        const uint32_t nblocks = (const uint32_t[]){1, 3, 7}[way / 2];
        if (is_small() && way != 0 && way != 3)
            continue;
        kit_pair p = kit_pair_make(PAIR_SMOOTH, way % 2 ? FLOE_F64 : FLOE_F32, 1, &n, false, 3);
        for (uint64_t i = 11; i < n; i += 2099) {
            const double v = ldexp(1.5, (int)(i / (9 * STEP))) * (i % 2 ? 1 : -1);
            for (int side = 0; side < 2; side++)
                if (way % 2)
                    ((double *)p.memory[side])[i] = v * (1 + 0.1 * side);
                else
                    ((float *)p.memory[side])[i] = (float)(v * (1 + 0.1 * side));
        }
        same_reduced(&p, 200, 500, &cuda, nblocks);
        kit_pair_free(&p);
    }
    floe_cuda_close(&cuda);
}

/* Values of all magnitudes, and a pair or two whose difference overflows: frames as wide as can be, which 65 and 66 bins fill to the
 * last one, and values that are too small for a double in widths of a bin. */
static void frames_of_all_there_is(void **state)
{
    (void)state;
    enum { N = 1000 };
    floe_cuda cuda;
    floe_error err;
    uint64_t seed = 7;
    assert_int_equal(floe_cuda_open(&cuda, -1, NULL, NULL, 0, &err), FLOE_OK);
    for (uint32_t trial = 0; trial < (is_small() ? 24 : 240); trial++) {
        const uint32_t bins = trial < 16 ? 65 + trial % 2 : 64 + (uint32_t)(kit_random(&seed) % 200);
        const double big = (trial & 2 ? 1 : -1) * (trial & 4 ? 1.7e308 : 1e308);
        kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F64, 1, (uint64_t[]){N}, false, 3);
        for (uint64_t i = 0; i < N; i++) {
            const double normal = kit_uniform(&seed) + kit_uniform(&seed) + kit_uniform(&seed) - 1.5;
            const double x = exp(120 * normal) * (trial & 8 && kit_random(&seed) % 2 ? -1 : 1);
            kit_pair_set(&p, i, (double[]){x, x * (1 + 1e-5 * (kit_uniform(&seed) - 0.5))});
        }
        kit_pair_set(&p, N / 2, (double[]){big, trial % 5 ? -big : big});
        if (trial % 3 == 2)
            kit_pair_set(&p, N / 3, (double[]){-big, big});
        same_reduced(&p, bins, bins, &cuda, 1);
        kit_pair_free(&p);
    }
    floe_cuda_close(&cuda);
}

/* ---- what f32 must not round ----------------------------------------------------------------------------------------------- */

/* Pairs of which errors lie a little below where a bin begins, ratios at such places and beyond the last bin, values at the
 * ends of what goes quickly, offsets that leave a bin few digits. */
static void hard_pair(int way, uint64_t i, uint64_t *seed, float *x, float *y)
{
    const float u = (float)kit_uniform(seed), sign = kit_random(seed) % 2 ? -1 : 1;
    const int place = (int)(kit_random(seed) % 200);
    switch (way) {
    case 0: *x = sign * 0x1p-30f * (1 + u), *y = (float)(place - 100) * 0x1p-7f + 0x1p-8f; break;
    case 1:
        *x = ldexpf(sign, (int)(i % 5)), *y = *x + ldexpf(*x, place % 40 - 20) * (1 + (float)(i % 64) * 0x1p-6f);
        break;
    case 2: *x = sign * (1 + u) * (i % 900 ? 1 : 0x1p-25f), *y = *x + sign * 0.1f; break;
    case 3: *x = ldexpf(1 + u, i % 700 ? 99 : -99), *y = *x * (1 + 0x1p-10f * u); break;
    case 4: *x = 3e6f + 0.25f * (float)(place % 40), *y = *x + 0.25f * sign; break;
    default: *x = ldexpf(1 + u, -120), *y = *x * 1.5f; break;
    }
}

static void bins_and_ratios_to_the_last_place(void **state)
{
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    for (int way = 0; way < 6; way++) {
        const uint64_t n = is_small() ? 5 * 2048 + 8 : 200000;
        uint64_t seed = 7;
        kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F32, 1, &n, false, 3);
        for (uint64_t i = 0; i < n; i++)
            hard_pair(way, i, &seed, (float *)p.memory[0] + i, (float *)p.memory[1] + i);
        floe_assess_options o = options_in_turn(PAIR_SMOOTH);
        snprintf(kit_case, sizeof kit_case, "way %d", way);
        check(&p, &o, 0, cpu, gpu);
        kit_ok(cpu, floe_metric_set_parse(&o.metrics, "error_pdf pw_rel_error_pdf", NULL)); /* without sums of ratios */
        check(&p, &o, 0, cpu, gpu);
        kit_ok(cpu, floe_metric_set_parse(&o.metrics, "ks max_error", NULL));
        check(&p, &o, 0, cpu, gpu);
        kit_ok(cpu, floe_metric_set_parse(&o.metrics, "entropy_bytes decoded_entropy_bytes", NULL));
        check(&p, &o, 0, cpu, gpu);
        kit_pair_free(&p);
    }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

/* ---- limits ---------------------------------------------------------------------------------------------------------------- */

static floe_status begun(floe_cuda *cuda, uint64_t nelems, floe_reduction_device *d, floe_error *err)
{
    static const floe_reduction_options options = {.bins = 64, .value_bins = 64};
    static floe_cpu cpu;
    static floe_pair pair;
    static floe_reduction r;
    cpu.threads = 1;
    pair = (floe_pair){.dtype = FLOE_F32, .place = FLOE_DEVICE, .rank = 1, .shape = {1, 1, 1, nelems}};
    assert_int_equal(floe_reduction_init(&r, &cpu, &pair, &options, err), FLOE_OK);
    return floe_reduction_device_init(d, cuda, &r, err);
}

/* No block takes so many pairs that 32 bits would not hold a count. */
static void as_many_pairs_as_blocks_can_count(void **state)
{
    (void)state;
    const uint64_t most = (uint64_t)1 << FLOE_REDUCTION_DEV_BITS,
                   few[] = {1, 1 << 20, (uint64_t)1 << 40, most - 1, most};
    floe_reduction_device d;
    floe_error err;
    floe_cuda cuda;
    assert_int_equal(floe_cuda_open(&cuda, -1, NULL, NULL, 0, &err), FLOE_OK);
    for (size_t i = 0; i < KIT_COUNT(few); i++) {
        assert_int_equal(begun(&cuda, few[i], &d, &err), FLOE_OK);
        assert_true(floe_ceil_div(d.job.npieces, d.nblocks) * d.job.piece <= UINT32_MAX);
    }
    assert_int_equal(begun(&cuda, most + 1, &d, &err), FLOE_ERR_UNSUPPORTED);
    floe_cuda_close(&cuda);
}

/* ---- the rest of the call -------------------------------------------------------------------------------------------------- */

static void sorted_alone_and_filled(void **state)
{
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    for (int way = 0; way < 3; way++) {
        const pair_kind kind = way == 2 ? PAIR_FILL : PAIR_SPECIAL;
        kit_pair p = kit_pair_make(kind, FLOE_F32, 3, (uint64_t[]){11, 20, 30}, way == 0, 3);
        device_pair d = device_pair_make(&p, 0);
        floe_assess_options o = options_in_turn(kind);
        floe_assess_report want = {.size = sizeof want}, got = {.size = sizeof got};
        snprintf(kit_case, sizeof kit_case, "way %d", way);
        o.exact = way == 0;
        if (way == 1)
            kit_ok(cpu, floe_metric_set_parse(&o.metrics, "properties", NULL));
        if (way == 2)
            o.fill = FLOE_FILL_AUTO;
        kit_ok(cpu, floe_assess(cpu, &p.field[0], way == 1 ? NULL : &p.field[1], &o, &want));
        if (way == 1) /* properties of the stencil pass aside */
            kit_ok(cpu, floe_metric_set_parse(&o.metrics, "mean entropy entropy_bytes skewness nan", NULL));
        kit_ok(cpu, floe_assess(cpu, &p.field[0], way == 1 ? NULL : &p.field[1], &o, &want));
        kit_ok(gpu, floe_assess(gpu, &d.field[0], way == 1 ? NULL : &d.field[1], &o, &got));
        same_metrics(&got, &want);
        assert_int_equal(got.has_fill, way == 2);
        device_pair_free(&d);
        kit_pair_free(&p);
    }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

static void errors_that_overflow(void **state)
{
    (void)state;
    enum { N = 50000 };
    static double x[N], y[N];
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    const floe_assess_options o = options_in_turn(PAIR_SMOOTH);
    kit_pair p = {.field = {floe_field_of(x, FLOE_F64, 1, (const uint64_t[]){N}),
                            floe_field_of(y, FLOE_F64, 1, (const uint64_t[]){N})},
                  .memory = {x, y},
                  .nbytes = {sizeof x, sizeof y},
                  .nelems = N};
    floe_assess_report want = {.size = sizeof want}, got = {.size = sizeof got};
    kit_fill_far_apart(N, x, y);
    device_pair d = device_pair_make(&p, 0);
    kit_ok(cpu, floe_assess(cpu, &p.field[0], &p.field[1], &o, &want));
    kit_ok(gpu, floe_assess(gpu, &d.field[0], &d.field[1], &o, &got));
    assert_true(got.error.min == -INFINITY && got.error.max == INFINITY && got.error.abs_max == INFINITY);
    same_histogram(&got.original.histogram, &want.original.histogram);
    same_histogram(&got.decoded.histogram, &want.decoded.histogram);
    same_histogram(&got.error.pdf, &want.error.pdf);
    same_histogram(&got.error.pw_pdf, &want.error.pw_pdf);
    assert_int_equal(got.error.pdf.nbins, 0);
    device_pair_free(&d);
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

static void the_same_bits_each_time(void **state)
{
    (void)state;
    floe_ctx *gpu = kit_ctx(1), *other = kit_ctx(1);
    kit_pair p = kit_pair_make(PAIR_SPECIAL, FLOE_F32, 1, (uint64_t[]){is_small() ? 70000 : 3000000}, false, 3);
    device_pair d = device_pair_make(&p, 0);
    const floe_assess_options o = options_in_turn(PAIR_SPECIAL);
    floe_assess_report first = {.size = sizeof first}, again = {.size = sizeof again};
    kit_ok(gpu, floe_assess(gpu, &d.field[0], &d.field[1], &o, &first));
    for (int i = 0; i < 3; i++) {
        kit_ok(other, floe_assess(other, &d.field[0], &d.field[1], &o, &again));
        for (uint32_t k = 0; floe_metric_at(k); k++) {
            const double a = floe_metric_value(&first, k), b = floe_metric_value(&again, k);
            assert_memory_equal(&a, &b, sizeof a);
        }
    }
    device_pair_free(&d);
    kit_pair_free(&p);
    floe_ctx_free(&gpu);
    floe_ctx_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(like_the_cpu),
                                       cmocka_unit_test(without_bins),
                                       cmocka_unit_test(what_a_mask_hides),
                                       cmocka_unit_test(growing_ranges),
                                       cmocka_unit_test(more_bins_than_shared_memory),
                                       cmocka_unit_test(frames_that_widen_late),
                                       cmocka_unit_test(frames_of_all_there_is),
                                       cmocka_unit_test(bins_and_ratios_to_the_last_place),
                                       cmocka_unit_test(as_many_pairs_as_blocks_can_count),
                                       cmocka_unit_test(sorted_alone_and_filled),
                                       cmocka_unit_test(errors_that_overflow),
                                       cmocka_unit_test(the_same_bits_each_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
