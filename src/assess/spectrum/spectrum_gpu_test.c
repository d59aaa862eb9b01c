/* SPDX-License-Identifier: BSD-3-Clause */
/* Spectra on a GPU against those of the CPU: counts are the same, powers agree but for the rounding of two libraries. */
#include "tests/assess_kit.h"

#include <time.h>

#include "tests/gpu/gpu_kit.h"

#include "assess/spectrum/spectrum.h"

static floe_field on_device(const kit_pair *p, int side)
{
    floe_field f = p->field[side];
    CU(cudaMalloc(&f.data, p->nbytes[side]));
    CU(cudaMemcpy(f.data, p->memory[side], p->nbytes[side], cudaMemcpyHostToDevice));
    f.data = (uint8_t *)f.data + ((uint8_t *)p->field[side].data - (uint8_t *)p->memory[side]);
    f.place = FLOE_DEVICE;
    return f;
}

static void dev_free(const kit_pair *p, int side, const floe_field *f)
{
    cudaFree((uint8_t *)f->data - ((uint8_t *)p->field[side].data - (uint8_t *)p->memory[side]));
}

static double most_of(const floe_series *power)
{
    double most = 0;
    for (uint64_t i = 0; i < power->count; i++)
        most = fmax(most, power->value[i]);
    return most;
}

/* A transform is rounded relative to its largest coefficients: by some 1e-14 of those, in amplitude. */
static double rounding(double power, double most) { return 1e-11 * power + 2e-14 * sqrt(power * most) + 1e-25 * most; }

static void near(const char *what, const floe_series *got, const floe_series *want)
{
    const double most = most_of(want);
    assert_int_equal(got->count, want->count);
    for (uint64_t i = 0; i < want->count; i++) {
        const double g = got->value[i], w = want->value[i];
        if (isnan(w) ? !isnan(g) : !(fabs(g - w) <= rounding(w, most)))
            fail_msg("%s: %s of shell %llu is %.17g on the GPU, %.17g on the CPU", kit_case, what,
                     (unsigned long long)i, g, w);
    }
}

/* Ratios are as good as the powers that they are made of. */
static void ratios_near(const floe_power *got, const floe_power *want)
{
    const double most[2] = {most_of(&want->original), most_of(&want->decoded)};
    double loosest = 0;
    assert_int_equal(got->ratio.count, want->ratio.count);
    for (uint64_t i = 0; i < want->ratio.count; i++) {
        const double g = got->ratio.value[i], w = want->ratio.value[i];
        const double power[2] = {want->original.value[i], want->decoded.value[i]};
        const double tolerance = (rounding(power[1], most[1]) + w * rounding(power[0], most[0])) / power[0];
        if (isnan(w) ? !isnan(g) : !(fabs(g - w) <= tolerance))
            fail_msg("%s: ratio of shell %llu is %.17g on the GPU, %.17g on the CPU", kit_case, (unsigned long long)i,
                     g, w);
        loosest = isnan(w) ? loosest : fmax(loosest, tolerance);
    }
    if (isnan(want->deviation) ? !isnan(got->deviation) : !(fabs(got->deviation - want->deviation) <= loosest))
        fail_msg("%s: deviation is %.17g on the GPU, %.17g on the CPU", kit_case, got->deviation, want->deviation);
}

static void check(floe_ctx *cpu, floe_ctx *gpu, const kit_pair *p, bool alone, bool periodic)
{
    const floe_field x = on_device(p, 0), y = on_device(p, 1);
    floe_assess_options o;
    floe_assess_report want = {.size = sizeof want}, got = {.size = sizeof got};
    floe_assess_options_init(&o);
    o.periodic = periodic;
    kit_ok(cpu, floe_metric_set_parse(&o.metrics, alone ? "spectrum_power" : "spectrum", NULL));
    kit_ok(cpu, floe_assess(cpu, &p->field[0], alone ? NULL : &p->field[1], &o, &want));
    kit_ok(gpu, floe_assess(gpu, &x, alone ? NULL : &y, &o, &got));
    assert_int_equal(got.spectrum.nfilled, want.spectrum.nfilled);
    assert_int_equal(got.spectrum.frequency.count, want.spectrum.frequency.count);
    assert_memory_equal(got.spectrum.frequency.value, want.spectrum.frequency.value,
                        want.spectrum.frequency.count * sizeof(double));
    near("power of the original", &got.spectrum.original, &want.spectrum.original);
    assert_int_equal(got.spectrum.decoded.count, want.spectrum.decoded.count);
    if (!alone) {
        near("power of the decoded", &got.spectrum.decoded, &want.spectrum.decoded);
        ratios_near(&got.spectrum, &want.spectrum);
    }
    dev_free(p, 0, &x);
    dev_free(p, 1, &y);
}

static const struct {
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
} shapes[] = {{1, {301}},       {1, {1}},        {2, {20, 30}},      {3, {12, 20, 33}},  {3, {31, 1, 64}},
              {3, {20, 30, 1}}, {3, {1, 40, 1}}, {4, {5, 6, 7, 40}}, {4, {3, 1, 9, 20}}, {4, {6, 5, 1, 1}},
              {2, {1, 2}},      {2, {2, 1}},     {2, {2, 9000}}};

static void all_shapes(void **state)
{
    (void)state;
    floe_ctx *cpu = kit_ctx(2), *gpu = kit_ctx(2);
    static const pair_kind kinds[] = {PAIR_SMOOTH, PAIR_SPECIAL, PAIR_FILL};
    for (size_t i = 0; i < KIT_COUNT(shapes); i++)
        for (int kind = 0; kind < 6; kind++) {
            const bool strided = kind % 2,
                       tiny =
                           shapes[i].rank < 3 && shapes[i].shape[0] * (shapes[i].rank > 1 ? shapes[i].shape[1] : 1) < 3;
            if (shapes[i].shape[1] == 9000 && kind)
                continue; /* an emulator transforms by definition */
            kit_pair p = kit_pair_make(tiny ? PAIR_SMOOTH : kinds[kind / 2], strided ? FLOE_F64 : FLOE_F32,
                                       shapes[i].rank, shapes[i].shape, strided, 11 + i);
            snprintf(kit_case, sizeof kit_case, "shape %zu, kind %d", i, kind);
            check(cpu, gpu, &p, false, kind & 1);
            check(cpu, gpu, &p, true, !(kind & 1));
            kit_pair_free(&p);
        }
    floe_ctx_free(&cpu);
    floe_ctx_free(&gpu);
}

/* A wave along one axis, decoded at half its height: all power is in its shell, and a quarter of it is left. */
static void a_wave(void **state)
{
    enum { N = 64, WAVE = 8 };
    static const uint64_t wave_shapes[][3] = {{N}, {6, N}, {6, 5, N}, {N, 5, 6}};
    (void)state;
    floe_ctx *gpu = kit_ctx(1);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options_init(&o);
    o.periodic = 1;
    kit_ok(gpu, floe_metric_set_parse(&o.metrics, "spectrum", NULL));
    for (uint32_t i = 0; i < KIT_COUNT(wave_shapes); i++) {
        const uint32_t rank = i < 3 ? i + 1 : 3;
        kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F64, rank, wave_shapes[i], false, 3);
        const uint64_t inner = i < 3 ? 1 : 30; /* elements from one of the wave to the next */
        for (uint64_t k = 0; k < p.nelems; k++) {
            const double v = cos(2 * 3.14159265358979323846 * WAVE * (double)(k / inner % N) / N);
            ((double *)p.memory[0])[k] = 3 + v, ((double *)p.memory[1])[k] = 3 + v / 2;
        }
        const floe_field x = on_device(&p, 0), y = on_device(&p, 1);
        kit_ok(gpu, floe_assess(gpu, &x, &y, &o, &r));
        assert_true(r.spectrum.frequency.value[WAVE] == (double)WAVE / N);
        assert_true(fabs(r.spectrum.ratio.value[WAVE] - 0.25) < 1e-12);
        assert_true(r.spectrum.original.value[WAVE - 3] < 1e-24);
        if (i == 0) /* of two modes, which have all of N / 2 */
            assert_true(fabs(r.spectrum.original.value[WAVE] - N / 4) < 1e-9);
        dev_free(&p, 0, &x);
        dev_free(&p, 1, &y);
        kit_pair_free(&p);
    }
    floe_ctx_free(&gpu);
}

/* Two runs give the same bits. */
static void runs_repeat(void **state)
{
    (void)state;
    floe_ctx *gpu = kit_ctx(1);
    kit_pair p = kit_pair_make(PAIR_NOISE, FLOE_F32, 3, (uint64_t[]){24, 17, 40}, false, 3);
    const floe_field x = on_device(&p, 0), y = on_device(&p, 1);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    double power[2][64];
    floe_assess_options_init(&o);
    kit_ok(gpu, floe_metric_set_parse(&o.metrics, "spectrum", NULL));
    for (int run = 0; run < 2; run++) {
        kit_ok(gpu, floe_assess(gpu, &x, &y, &o, &r));
        assert_in_range(r.spectrum.decoded.count, 10, 64);
        memcpy(power[run], r.spectrum.decoded.value, r.spectrum.decoded.count * sizeof(double));
    }
    assert_memory_equal(power[0], power[1], r.spectrum.decoded.count * sizeof(double));
    dev_free(&p, 0, &x);
    dev_free(&p, 1, &y);
    kit_pair_free(&p);
    floe_ctx_free(&gpu);
}

/* cuFFT is found, not required: groups do without, of host fields the CPU's library does it, of device fields a name is
 * refused. */
static void without_a_library(void **state)
{
    (void)state;
    floe_ctx_options options = {.size = sizeof options, .backend = FLOE_BACKEND_CUDA};
    floe_ctx *gpu = NULL;
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F32, 2, (uint64_t[]){20, 30}, false, 3);
    const floe_field x = on_device(&p, 0);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    uint32_t number;
    floe_assess_options_init(&o);
    kit_ok(gpu, floe_ctx_create(&gpu, &options));
    assert_int_equal(floe_metric_find("spectrum_power", &number), FLOE_OK);
    kit_ok(gpu, floe_assess(gpu, &x, NULL, NULL, &r));
    assert_false(floe_metric_set_has(&r.computed, number));
    floe_metric_set_add(&o.metrics, number);
    kit_fails(gpu, floe_assess(gpu, &x, NULL, &o, &r), FLOE_ERR_UNSUPPORTED, "cuFFT");
    kit_ok(gpu, floe_assess(gpu, &p.field[0], NULL, &o, &r));
    assert_true(r.spectrum.original.count == 16);
    dev_free(&p, 0, &x);
    kit_pair_free(&p);
    floe_ctx_free(&gpu);
}

/* ---- bench ------------------------------------------------------------------------------------------------------------- */

static int bench(uint64_t edge)
{
    floe_ctx *gpu = kit_ctx(0);
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F32, 3, (uint64_t[]){edge, edge, edge}, false, 3);
    const floe_field x = on_device(&p, 0), y = on_device(&p, 1);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options_init(&o);
    kit_ok(gpu, floe_metric_set_parse(&o.metrics, "spectrum", NULL));
    for (int i = 0; i < 5; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        kit_ok(gpu, floe_assess(gpu, &x, &y, &o, &r));
        clock_gettime(CLOCK_MONOTONIC, &to);
        printf("spectra of two f32 %llu^3: %.2f ms\n", (unsigned long long)edge,
               1e3 * ((double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec)));
    }
    return 0;
}

/* All that there is, in ever smaller pieces; `taken` of them. */
static uint32_t memory_take(void **pieces, uint32_t most)
{
    uint32_t taken = 0;
    for (size_t nbytes = (size_t)1 << 40; nbytes >= 256 && taken < most;)
        if (cudaMalloc(&pieces[taken], nbytes) == cudaSuccess)
            taken++;
        else
            nbytes /= 2;
    (void)cudaGetLastError();
    return taken;
}

static void without_device_memory(void **state)
{
    void *pieces[4096];
    struct cudaDeviceProp properties;
    (void)state;
    CU(cudaGetDeviceProperties(&properties, 0));
    if (!strstr(properties.name, "emulated")) /* a real one has other users, and more than can be taken */
        skip();
    floe_ctx *gpu = kit_ctx(1);
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F32, 3, (uint64_t[]){40, 50, 60}, false, 3);
    const floe_field x = on_device(&p, 0);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options_init(&o);
    kit_ok(gpu, floe_metric_set_parse(&o.metrics, "spectrum_power", NULL));
    kit_ok(gpu, floe_assess(gpu, &x, NULL, &o, &r)); /* the context has what it keeps */
    setenv("FLOE_EMULATED_MEMORY", "4000000", 1);
    const uint32_t taken = memory_take(pieces, KIT_COUNT(pieces));
    kit_fails(gpu, floe_assess(gpu, &x, NULL, &o, &r), FLOE_ERR_MEMORY, "cuFFT");
    for (uint32_t i = 0; i < taken; i++)
        CU(cudaFree(pieces[i]));
    unsetenv("FLOE_EMULATED_MEMORY");
    kit_ok(gpu, floe_assess(gpu, &x, NULL, &o, &r));
    dev_free(&p, 0, &x);
    kit_pair_free(&p);
    floe_ctx_free(&gpu);
}

static bool library_is_there(void)
{
    floe_ctx *gpu = kit_ctx(1);
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F32, 1, (uint64_t[]){20}, false, 3);
    const floe_field x = on_device(&p, 0);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options_init(&o);
    kit_ok(gpu, floe_metric_set_parse(&o.metrics, "spectrum_power", NULL));
    const floe_status status = floe_assess(gpu, &x, NULL, &o, &r);
    if (status != FLOE_OK)
        printf("%s\n", floe_ctx_message(gpu));
    dev_free(&p, 0, &x);
    kit_pair_free(&p);
    floe_ctx_free(&gpu);
    return status != FLOE_ERR_UNSUPPORTED;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest missing[] = {cmocka_unit_test(without_a_library)};
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_shapes), cmocka_unit_test(a_wave),
                                       cmocka_unit_test(runs_repeat), cmocka_unit_test(without_device_memory)};
    if (!library_is_there())
        return cmocka_run_group_tests(missing, NULL, NULL);
    if (argc > 2 && strcmp(argv[1], "--bench") == 0)
        return bench(strtoull(argv[2], NULL, 10));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
