/* SPDX-License-Identifier: BSD-3-Clause */
/* floe_assess as a caller meets it: what is refused, and with which words; names of metrics; sets of them. */
#include "tests/assess_kit.h"

static float some[64 * 64], more[64 * 64];

static floe_field field_of(float *data, uint32_t rank, const uint64_t *shape)
{
    for (size_t i = 0; i < KIT_COUNT(some); i++)
        data[i] = (float)(i % 97) + (data == more ? 0.25f : 0);
    return floe_field_of(data, FLOE_F32, rank, shape);
}

/* ---- what is refused --------------------------------------------------------------------------------------------------- */

static void refused_fields(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_assess_report r = {.size = sizeof r};
    const floe_field x = field_of(some, 2, (uint64_t[]){60, 64});
    floe_field y = field_of(more, 2, (uint64_t[]){64, 60});
    kit_fails(ctx, floe_assess(ctx, &x, &y, NULL, &r), FLOE_ERR_ARGUMENT, "60x64, the decoded one of 64x60");
    y = field_of(more, 1, (uint64_t[]){60 * 64});
    kit_fails(ctx, floe_assess(ctx, &x, &y, NULL, &r), FLOE_ERR_ARGUMENT, "60x64, the decoded one of 3840");
    y = floe_field_of(more, FLOE_F64, 2, (uint64_t[]){30, 64});
    const floe_field half = field_of(some, 2, (uint64_t[]){30, 64});
    kit_fails(ctx, floe_assess(ctx, &half, &y, NULL, &r), FLOE_ERR_ARGUMENT,
              "original is f32, the decoded field is f64");
    y = floe_field_of_device(more, FLOE_F32, 2, (uint64_t[]){60, 64});
    kit_fails(ctx, floe_assess(ctx, &x, &y, NULL, &r), FLOE_ERR_ARGUMENT, "one field lies in host memory");
    y = field_of(more, 2, (uint64_t[]){60, 0});
    kit_fails(ctx, floe_assess(ctx, &y, &y, NULL, &r), FLOE_ERR_ARGUMENT, "empty");
    kit_fails(ctx, floe_assess(ctx, NULL, &x, NULL, &r), FLOE_ERR_ARGUMENT, "no field");
    kit_fails(ctx, floe_assess(ctx, &x, &x, NULL, NULL), FLOE_ERR_ARGUMENT, "no report");
    y = field_of(more, 2, (uint64_t[]){60, 64});
    for (int i = 0; i < 60 * 64; i++)
        more[i] = i % 2 ? NAN : INFINITY;
    kit_fails(
        ctx, floe_assess(ctx, &y, &x, NULL, &r), FLOE_ERR_ARGUMENT,
        "of 3840 pairs, none has numbers on both sides (1920 NaN, 1920 infinite, 0 fill in the original; 0, 0, 0 in "
        "the decoded field)");
    kit_fails(ctx, floe_assess(ctx, &y, NULL, NULL, &r), FLOE_ERR_ARGUMENT, "of 3840 values, none");
    floe_ctx_free(&ctx);
}

typedef struct refusal {
    size_t offset;
    uint32_t value;
    const char *words;
} refusal;

static void refused_options(void **state)
{
    static const refusal refusals[] = {
        {offsetof(floe_assess_options, bins), 63, "bins is 63; it must be 64 to 4096"},
        {offsetof(floe_assess_options, bins), 4097, "bins is 4097"},
        {offsetof(floe_assess_options, value_bins), 16385, "value_bins is 16385; it must be 64 to 16384"},
        {offsetof(floe_assess_options, worst), 65, "worst is 65; it must be 0 to 64"},
        {offsetof(floe_assess_options, window), 1, "window is 1"},
        {offsetof(floe_assess_options, window), 65, "window is 65"},
        {offsetof(floe_assess_options, step), 0, "step is 0"},
        {offsetof(floe_assess_options, lags), 0, "lags is 0; it must be 1 to 64"},
        {offsetof(floe_assess_options, mode), FLOE_BOUND_PSNR,
         "values outside a bound are counted for abs, rel and pwrel"},
        {offsetof(floe_assess_options, fill), 4, "unknown fill mode 4"}};
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options o;
    const floe_field x = field_of(some, 2, (uint64_t[]){60, 64});
    for (size_t i = 0; i < KIT_COUNT(refusals); i++) {
        floe_assess_options_init(&o);
        memcpy((uint8_t *)&o + refusals[i].offset, &refusals[i].value, sizeof refusals[i].value);
        kit_fails(ctx, floe_assess(ctx, &x, &x, &o, &r), FLOE_ERR_ARGUMENT, refusals[i].words);
    }
    for (int i = 0; i < 3; i++) {
        floe_assess_options_init(&o);
        o.mode = FLOE_BOUND_REL;
        o.bound = (double[]){-1, NAN, INFINITY}[i];
        kit_fails(ctx, floe_assess(ctx, &x, &x, &o, &r), FLOE_ERR_ARGUMENT, "finite number");
    }
    o.size = 1;
    kit_fails(ctx, floe_assess(ctx, &x, &x, &o, &r), FLOE_ERR_ARGUMENT, "floe_assess_options.size is 1");
    floe_ctx_free(&ctx);
}

static void refused_metrics(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options o;
    const floe_field x = field_of(some, 2, (uint64_t[]){60, 64});
    floe_assess_options_init(&o);
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, "outside", NULL));
    kit_fails(ctx, floe_assess(ctx, &x, &x, &o, &r), FLOE_ERR_ARGUMENT, "metric 'outside' needs a bound");
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, "mean psnr", NULL));
    kit_fails(ctx, floe_assess(ctx, &x, NULL, &o, &r), FLOE_ERR_ARGUMENT, "metric 'psnr' compares two fields");
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, "mean", NULL));
    kit_ok(ctx, floe_assess(ctx, &x, NULL, &o, &r));
    floe_ctx_free(&ctx);
}

/* ---- names ------------------------------------------------------------------------------------------------------------- */

static uint32_t number_of(const char *name)
{
    uint32_t number = UINT32_MAX;
    assert_int_equal(floe_metric_find(name, &number), FLOE_OK);
    return number;
}

static void names_find_their_metric(void **state)
{
    (void)state;
    uint32_t n = 0, number;
    for (const floe_metric *m; (m = floe_metric_at(n)); n++) {
        assert_int_equal(number_of(m->name), n); /* so no name comes twice */
        assert_int_equal(number_of(m->alias), n);
        assert_true(m->formula[0] && m->offset < sizeof(floe_assess_report));
        assert_true(m->nfields == 1 || m->nfields == 2);
        assert_true(m->offset != 0); /* there stands the set of what was computed */
    }
    assert_in_range(n, 60, 64 * KIT_COUNT(((floe_metric_set *)0)->word));
    assert_int_equal(floe_metric_find("nothing", &number), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_metric_find(NULL, &number), FLOE_ERR_ARGUMENT);
    assert_null(floe_metric_at(UINT32_MAX));
}

/* What a newer floe may have is not passed over. */
static void sets_of_a_newer_floe(void **state)
{
    (void)state;
    enum { LAST = KIT_COUNT(((floe_metric_set *)0)->word) - 1 };
    floe_ctx *ctx = kit_ctx(1);
    const floe_field x = field_of(some, 2, (uint64_t[]){60, 64});
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options o;
    uint32_t n = 0;
    while (floe_metric_at(n))
        n++;
    floe_assess_options_init(&o);
    o.metrics.word[n / 64] = (uint64_t)1 << n % 64;
    kit_fails(ctx, floe_assess(ctx, &x, &x, &o, &r), FLOE_ERR_ARGUMENT, "this floe knows");
    o.metrics = (floe_metric_set){{[LAST] = UINT64_C(1) << 63}, 1, 0};
    kit_fails(ctx, floe_assess(ctx, &x, &x, &o, &r), FLOE_ERR_ARGUMENT, "metric number 255");
    o.metrics = (floe_metric_set){{1}, 2u << FLOE_PASSES, 0};
    kit_fails(ctx, floe_assess(ctx, &x, &x, &o, &r), FLOE_ERR_ARGUMENT, "groups 0x20");
    o.metrics = (floe_metric_set){{1}, 1u << FLOE_PASSES, 0};
    kit_ok(ctx, floe_assess(ctx, &x, &x, &o, &r));
    floe_ctx_free(&ctx);
}

static void sets_are_read(void **state)
{
    (void)state;
    floe_metric_set set;
    floe_error err;
    assert_int_equal(floe_metric_set_parse(&set, "psnr,error_stat:mse  ssim_nothing", &err), FLOE_ERR_ARGUMENT);
    assert_string_equal(err.message, "unknown metric 'ssim_nothing'");
    assert_int_equal(floe_metric_set_parse(&set, "psnr,error_stat:mse", &err), FLOE_OK);
    for (uint32_t i = 0; floe_metric_at(i); i++)
        assert_int_equal(floe_metric_set_has(&set, i), i == number_of("psnr") || i == number_of("mse"));
    assert_int_equal(set.groups, 0);
    assert_int_equal(floe_metric_set_parse(&set, " properties\nstencil,psnr", &err), FLOE_OK);
    assert_int_equal(set.groups, 1u << FLOE_PASSES | 1u << FLOE_PASS_STENCIL);
    assert_true(floe_metric_set_has(&set, number_of("psnr")) && !floe_metric_set_has(&set, number_of("mse")));
    assert_int_equal(floe_metric_set_parse(&set, "all", &err), FLOE_OK);
    assert_int_equal(set.groups, 31);
    assert_int_equal(floe_metric_set_parse(&set, "  ", &err), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_metric_set_parse(&set, NULL, &err), FLOE_ERR_ARGUMENT);
}

/* ---- what is computed ---------------------------------------------------------------------------------------------------- */

static void only_what_was_asked_for(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options o;
    const floe_field x = field_of(some, 2, (uint64_t[]){60, 64}), y = field_of(more, 2, (uint64_t[]){60, 64});
    floe_assess_options_init(&o);
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, "psnr", NULL));
    kit_ok(ctx, floe_assess(ctx, &x, &y, &o, &r));
    for (uint32_t i = 0; floe_metric_at(i); i++)
        assert_int_equal(!isnan(floe_metric_value(&r, i)), i == number_of("psnr"));
    assert_true(fabs(r.error.psnr - 20 * log10(96 / 0.25)) < 1e-12);
    assert_null(r.error.pdf.count);
    assert_int_equal(r.error.worst.count, 0);
    assert_true(isnan(r.distribution.ks) && isnan(r.original.entropy_bytes));
    kit_ok(ctx, floe_assess(ctx, &x, &y, NULL, &r)); /* all: but for those that need a bound */
    for (uint32_t i = 0; floe_metric_at(i); i++)
        if (floe_metric_at(i)->pass == FLOE_PASS_REDUCTION)
            assert_int_equal(floe_metric_set_has(&r.computed, i), i != number_of("outside") &&
                                                                      i != number_of("outside_percent") &&
                                                                      i != number_of("first_outside"));
    assert_non_null(r.error.pdf.count);
    for (uint32_t group = 0; group <= FLOE_PASSES; group++) {
        o.metrics = (floe_metric_set){{0}, 1u << group, 0};
        kit_ok(ctx, floe_assess(ctx, &x, group == FLOE_PASSES ? NULL : &y, &o, &r));
        for (uint32_t i = 0; floe_metric_at(i); i++) {
            const floe_metric *m = floe_metric_at(i);
            if (floe_metric_set_has(&r.computed, i))
                assert_true(group == FLOE_PASSES ? m->nfields == 1 : m->pass == group);
        }
    }
    floe_ctx_free(&ctx);
}

/* Of values whose squares overflow a variance is not known, and not 0. */
static void squares_that_overflow(void **state)
{
    (void)state;
    static const double value[4] = {1.7e308, -1.7e308, 1.6e308, -1.5e308};
    const floe_field x = floe_field_of(value, FLOE_F64, 1, (const uint64_t[]){4});
    floe_ctx *ctx = kit_ctx(1);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options_init(&o);
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, "variance std_dev min max", NULL));
    kit_ok(ctx, floe_assess(ctx, &x, NULL, &o, &r));
    assert_true(r.original.min == -1.7e308 && r.original.max == 1.7e308);
    assert_false(isfinite(r.original.variance) || isfinite(r.original.std_dev));
    /* nor are errors whose sum overflows a reason to find nothing */
    static const double other[4] = {-1.7e308, 1.7e308, 1.7e308, 1.7e308};
    const floe_field y = floe_field_of(other, FLOE_F64, 1, (const uint64_t[]){4});
    floe_assess_options_init(&o);
    o.fill = FLOE_FILL_NONE;
    kit_ok(ctx, floe_assess(ctx, &x, &y, &o, &r));
    assert_true(r.error.abs_max == INFINITY && r.decoded.max == 1.7e308);
    assert_true(r.autocorr.combined.count == o.lags && isnan(r.autocorr.combined.value[0]) &&
                isnan(r.autocorr.largest));
    kit_ok(ctx, floe_assess(ctx, &y, NULL, &o, &r));
    assert_true(r.original.max == 1.7e308 && r.original_autocorr.combined.count == o.lags);
    floe_ctx_free(&ctx);
}

/* Of errors whose squares underflow no mean square is known, and nobody may take them for none. */
static void squares_that_underflow(void **state)
{
    (void)state;
    enum { N = 4000 };
    static double x[N], y[N];
    const uint64_t shape[] = {40, 100};
    const floe_field of_x = floe_field_of(x, FLOE_F64, 2, shape), of_y = floe_field_of(y, FLOE_F64, 2, shape);
    floe_ctx *ctx = kit_ctx(1);
    floe_assess_report r = {.size = sizeof r};
    for (int way = 0; way < 3; way++) { /* nothing of squares, some of their digits, all */
        const double size = way == 0 ? 1e-200 : way == 1 ? 1e-155 : 1e-140, error = size * (way == 1 ? 1e-3 : 1e-4);
        for (int i = 0; i < N; i++)
            x[i] = size * (3 + sin(i * 0.1)), y[i] = x[i] + error * cos(i * 1.7);
        kit_ok(ctx, floe_assess(ctx, &of_x, &of_y, NULL, &r));
        const floe_error_stats *e = &r.error;
        assert_true(fabs(e->abs_max / error - 1) < 1e-3);
        if (way == 2) {
            assert_true(fabs(e->rmse / error - sqrt(0.5)) < 1e-2 && fabs(e->psnr - 20 * log10(2e4 * sqrt(2))) < 0.1);
            assert_true(fabs(r.original.std_dev / size - sqrt(0.5)) < 1e-2 && fabs(e->pearson - 1) < 1e-6);
        } else {
            assert_true(isnan(e->rmse) && isnan(e->nrmse) && isnan(e->psnr) && isnan(e->psnr_half) && isnan(e->snr));
            assert_true(isnan(e->l2) && isnan(e->value_error_correlation) && isnan(r.derivative.laplacian.psnr));
        }
        assert_int_equal(isnan(r.original.std_dev), way < 2);
        assert_int_equal(isnan(e->pearson), way < 2);
        assert_true(isnan(r.original.skewness) && isnan(r.original.kurtosis));
    }
    kit_ok(ctx, floe_assess(ctx, &of_x, &of_x, NULL, &r));
    assert_true(r.error.rmse == 0 && r.error.psnr == INFINITY && r.error.snr == INFINITY);
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_fields),          cmocka_unit_test(refused_options),
        cmocka_unit_test(refused_metrics),         cmocka_unit_test(sets_of_a_newer_floe),
        cmocka_unit_test(names_find_their_metric), cmocka_unit_test(sets_are_read),
        cmocka_unit_test(only_what_was_asked_for), cmocka_unit_test(squares_that_overflow),
        cmocka_unit_test(squares_that_underflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
