/* SPDX-License-Identifier: BSD-3-Clause */
/* Which pass runs for which metrics, and what the coordinator adds to what they find. */
#include "tests/assess_kit.h"

enum { LAGS = 5, EDGE = 5, STEP = 2 };

static floe_assess_report assessed(floe_ctx *ctx, const floe_field *x, const floe_field *y, const char *metrics)
{
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options o;
    floe_assess_options_init(&o);
    o.fill = FLOE_FILL_NONE;
    o.lags = LAGS, o.window = EDGE, o.step = STEP;
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, metrics, NULL));
    kit_ok(ctx, floe_assess(ctx, x, y, &o, &r));
    return r;
}

static const struct {
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
} shapes[] = {{1, {50}}, {2, {20, 30}}, {3, {13, 20, 17}}, {3, {5, 40, 30}}, {4, {6, 7, 11, 12}}};

static void same(double got, double want)
{
    if (!(got == want || (isnan(got) && isnan(want))))
        fail_msg("%s: %.17g, not %.17g", kit_case, got, want);
}

/* ---- which pass runs ---------------------------------------------------------------------------------------------------- */

/* Of a metric of one pass, the results of the others are not there. (Which number is where: tests/crosscheck.) */
static void passes_run_when_requested(void **state)
{
    (void)state;
    static const struct {
        const char *metrics;
        bool derivatives, lags, window, spectrum;
    } cases[] = {{"psnr", false, false, false, false},
                 {"laplacian_psnr", true, false, false, false},
                 {"autocorr", false, true, false, false},
                 {"ssim", false, false, true, false},
                 {"spectrum_ratio", false, false, false, true},
                 {"laplacian_psnr autocorr ssim spectrum_ratio", true, true, true, true}};
    floe_ctx *ctx = kit_ctx(2);
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F64, 3, (uint64_t[]){13, 20, 17}, false, 5);
    for (size_t i = 0; i < KIT_COUNT(cases); i++) {
        const floe_assess_report r = assessed(ctx, &p.field[0], &p.field[1], cases[i].metrics);
        assert_int_equal(r.derivative.npoints > 0, cases[i].derivatives);
        assert_int_equal(r.autocorr.combined.count, cases[i].lags ? LAGS : 0);
        assert_int_equal(r.ssim.nwindows > 0, cases[i].window);
        assert_int_equal(r.spectrum.ratio.count > 0, cases[i].spectrum);
    }
    kit_pair_free(&p);
    floe_ctx_free(&ctx);
}

/* ---- spectra -------------------------------------------------------------------------------------------------------------- */

/* A wave of one frequency, decoded at half its height: all power is in its shell, and a quarter of it is left. */
static void spectra(void **state)
{
    enum { N = 64, WAVE = 8 };
    static double wave[2][N];
    const uint64_t shape[] = {N};
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options_init(&o);
    o.periodic = 1;
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, "spectrum_ratio", NULL));
    for (int i = 0; i < N; i++)
        wave[0][i] = 3 + cos(2 * 3.14159265358979323846 * WAVE * i / N), wave[1][i] = 3 + (wave[0][i] - 3) / 2;
    const floe_field x = floe_field_of(wave[0], FLOE_F64, 1, shape), y = floe_field_of(wave[1], FLOE_F64, 1, shape);
    kit_ok(ctx, floe_assess(ctx, &x, &y, &o, &r));
    assert_true(r.spectrum.ratio.count > WAVE && r.spectrum.frequency.value[WAVE] == (double)WAVE / N);
    assert_true(fabs(r.spectrum.ratio.value[WAVE] - 0.25) < 1e-12);
    assert_true(fabs(r.spectrum.original.value[WAVE] - N / 4) < 1e-9);
    assert_true(r.spectrum.deviation >= 0.75 - 1e-12);
    floe_ctx_free(&ctx);
}

/* Special values, the same in both: counts are all that is known. One that differs, and there is nothing to assess. */
static void nothing_but_special(void **state)
{
    enum { N = 60 };
    static const char *const known[] = {"n", "special_same", "special_mismatch", "decoded_nan", "outside"};
    static float x[N], y[N];
    static int32_t gaps[N];
    const uint64_t shape[] = {12, 5};
    const floe_field original = floe_field_of(x, FLOE_F32, 2, shape), decoded = floe_field_of(y, FLOE_F32, 2, shape),
                     integers = floe_field_of(gaps, FLOE_I32, 2, shape);
    floe_ctx *ctx = kit_ctx(1);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    uint32_t number;
    (void)state;
    floe_assess_options_init(&o);
    o.mode = FLOE_BOUND_ABS, o.bound = 1;
    o.fill = FLOE_FILL_VALUE, o.fill_value = -1;
    for (int i = 0; i < N; i++)
        x[i] = y[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? -INFINITY : -1, gaps[i] = -1;
    kit_ok(ctx, floe_assess(ctx, &original, &decoded, &o, &r));
    assert_true(r.nsame == N && r.original.nnan == N / 3 && r.decoded.ninf == N / 3 && r.decoded.nfill == N / 3);
    for (uint32_t i = 0; floe_metric_at(i); i++)
        assert_true(floe_metric_at(i)->kind == FLOE_METRIC_COUNT || isnan(floe_metric_value(&r, i)));
    for (size_t i = 0; i < KIT_COUNT(known); i++)
        assert_true(floe_metric_find(known[i], &number) == FLOE_OK && !isnan(floe_metric_value(&r, number)));
    kit_fails(ctx, floe_assess(ctx, &original, NULL, &o, &r), FLOE_ERR_ARGUMENT, "nothing to assess");
    kit_ok(ctx, floe_assess(ctx, &integers, &integers, &o, &r));
    assert_true(r.nsame == N && r.decoded.nfill == N);
    y[N - 1] = 7;
    kit_fails(ctx, floe_assess(ctx, &original, &decoded, &o, &r), FLOE_ERR_ARGUMENT, "nothing to assess");
    floe_ctx_free(&ctx);
}

/* ---- fields that are too small -------------------------------------------------------------------------------------------- */

static void small_fields(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F32, 2, (uint64_t[]){6, 20}, false, 5);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    uint32_t ssim;
    floe_assess_options_init(&o);
    assert_int_equal(floe_metric_find("ssim", &ssim), FLOE_OK);
    kit_ok(ctx, floe_assess(ctx, &p.field[0], &p.field[1], &o, &r)); /* all that apply */
    assert_false(floe_metric_set_has(&r.computed, ssim));
    assert_true(isnan(floe_metric_value(&r, ssim)));
    static const struct {
        const char *metrics, *words;
    } refusals[] = {{"ssim", "a window of 8 is larger than the field, which has 6 values along axis 0"},
                    {"ssim_image", "a window of 7 is larger than the field"},
                    {"ssim_gaussian", "a window of 11 is larger than the field"},
                    {"laplacian_ssim", "a window of 8 is larger than the field"},
                    {"autocorr_axis2", "the field has 2 axes"}};
    for (size_t i = 0; i < KIT_COUNT(refusals); i++) {
        kit_ok(ctx, floe_metric_set_parse(&o.metrics, refusals[i].metrics, NULL));
        kit_fails(ctx, floe_assess(ctx, &p.field[0], &p.field[1], &o, &r), FLOE_ERR_ARGUMENT, refusals[i].words);
    }
    kit_pair_free(&p);
    floe_ctx_free(&ctx);
}

/* Axes of one value change nothing but the places: a map is a map, whether its time axis is kept or not. */
static void axes_of_one_value(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F64, 2, (uint64_t[]){20, 30}, false, 5);
    static const uint64_t layouts[][3] = {{1, 20, 30}, {20, 1, 30}, {20, 30, 1}};
    const floe_assess_report flat = assessed(ctx, &p.field[0], &p.field[1], "ssim");
    assert_int_equal(flat.ssim.nwindows, ((20 - EDGE) / STEP + 1) * ((30 - EDGE) / STEP + 1));
    for (size_t k = 0; k < KIT_COUNT(layouts); k++) {
        const floe_field x = floe_field_of(p.field[0].data, FLOE_F64, 3, layouts[k]),
                         y = floe_field_of(p.field[1].data, FLOE_F64, 3, layouts[k]);
        const floe_assess_report r = assessed(ctx, &x, &y, "ssim");
        assert_int_equal(r.ssim.nwindows, flat.ssim.nwindows);
        assert_true(fabs(r.ssim.loss - flat.ssim.loss) <= 1e-11 * flat.ssim.loss);
    }
    const floe_field one = floe_field_of(p.field[0].data, FLOE_F64, 2, (uint64_t[]){1, 1});
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options_init(&o);
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, "ssim", NULL));
    kit_fails(ctx, floe_assess(ctx, &one, &one, &o, &r), FLOE_ERR_ARGUMENT, "larger than the field");
    kit_pair_free(&p);
    floe_ctx_free(&ctx);
}

/* A field without slopes of which nothing was lost: PSNR is that of any exact copy. */
static void constants_are_exact(void **state)
{
    (void)state;
    static const double value[2][27] = {{0}, {0}};
    const uint64_t shape[] = {3, 3, 3};
    floe_ctx *ctx = kit_ctx(1);
    const floe_field x = floe_field_of(value[0], FLOE_F64, 3, shape), y = floe_field_of(value[1], FLOE_F64, 3, shape);
    const floe_assess_report r = assessed(ctx, &x, &y, "reduction stencil");
    assert_true(r.error.psnr == INFINITY && r.derivative.gradient.psnr == INFINITY);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(r.derivative.axis_psnr[0].value[i] == INFINITY && r.derivative.axis_psnr[1].value[i] == INFINITY);
    assert_true(r.derivative.sobolev_error == 0);
    floe_ctx_free(&ctx);
}

/* The original's autocorrelation is of values that count: one that has lost its partner is as good as none. */
static void lost_partners(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    for (size_t k = 0; k < KIT_COUNT(shapes); k++) {
        kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F64, shapes[k].rank, shapes[k].shape, false, 5);
        double *x = p.field[0].data, *y = p.field[1].data;
        for (uint64_t i = 7; i < p.nelems; i += 7)
            x[i] = 1e6, y[i] = NAN;
        const floe_assess_report r = assessed(ctx, &p.field[0], &p.field[1], "original_autocorr");
        double got[LAGS];
        assert_int_equal(r.original_autocorr.combined.count, LAGS);
        memcpy(got, r.original_autocorr.combined.value, sizeof got);
        for (uint64_t i = 7; i < p.nelems; i += 7)
            x[i] = NAN;
        const floe_assess_report alone = assessed(ctx, &p.field[0], NULL, "original_autocorr");
        for (int t = 0; t < LAGS; t++) {
            const double want = alone.original_autocorr.combined.value[t];
            assert_true(isnan(want) ? isnan(got[t]) : fabs(got[t] - want) < 1e-12);
        }
        kit_pair_free(&p);
    }
    floe_ctx_free(&ctx);
}

/* ---- the decoded field by itself -------------------------------------------------------------------------------------------- */

static double number_of(const floe_assess_report *r, const char *alias)
{
    uint32_t number;
    assert_int_equal(floe_metric_find(alias, &number), FLOE_OK);
    assert_true(floe_metric_set_has(&r->computed, number));
    return floe_metric_value(r, number);
}

static const char decoded_metrics[] = "decoded_gradient_max decoded_gradient_rms decoded_laplacian_min "
                                      "decoded_laplacian_max decoded_laplacian_rms decoded_sobolev_s0 "
                                      "decoded_sobolev_s1 decoded_sobolev_s2";

/* Numbers are those of the original of the pair with its sides swapped, of which the same pairs count; nothing is compared. */
static void check_decoded(const floe_assess_report *r, const floe_assess_report *swapped)
{
    const floe_derivatives *d = &r->decoded_derivative, *s = &swapped->derivative;
    char text[sizeof decoded_metrics];
    memcpy(text, decoded_metrics, sizeof text);
    for (const char *alias = strtok(text, " "); alias; alias = strtok(NULL, " "))
        same(number_of(r, alias), number_of(swapped, alias + strlen("decoded_")));
    assert_int_equal(d->npoints, s->npoints);
    assert_int_equal(d->nskipped, s->nskipped);
    same(d->divergence.original_min, s->divergence.original_min);
    same(d->first[0].original_max, s->first[0].original_max);
    same(d->second_sum.original_max, s->second_sum.original_max);
    assert_true(isnan(d->gradient.max_error) && isnan(d->gradient.rmse) && isnan(d->gradient.psnr));
    assert_true(isnan(d->sobolev_error));
    assert_int_equal(d->axis_rmse[0].count, 0);
}

static void decoded_by_itself(void **state)
{
    static const pair_kind kinds[] = {PAIR_SMOOTH, PAIR_OFFSET, PAIR_EQUAL, PAIR_SPECIAL, PAIR_FILL};
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    for (size_t c = 0; c < KIT_COUNT(shapes) * KIT_COUNT(kinds) * 4; c++) {
        const size_t k = c / 4 / KIT_COUNT(kinds);
        const pair_kind kind = kinds[c / 4 % KIT_COUNT(kinds)];
        kit_pair p = kit_pair_make(kind, c % 2 ? FLOE_F64 : FLOE_F32, shapes[k].rank, shapes[k].shape, c / 2 % 2, 5);
        const floe_field *x = &p.field[0], *y = &p.field[1];
        snprintf(kit_case, sizeof kit_case, "decoded, shape %zu, kind %d, case %zu", k, kind, c % 4);
        const floe_assess_report swapped = assessed(ctx, y, x, "stencil"), alone = assessed(ctx, x, y, decoded_metrics),
                                 r = assessed(ctx, x, y, "stencil decoded_sobolev_s1 decoded_laplacian_rms");
        check_decoded(&alone, &swapped);
        assert_int_equal(alone.derivative.npoints, 0);
        same(number_of(&r, "decoded_sobolev_s1"), alone.decoded_derivative.sobolev[1]);
        same(number_of(&r, "decoded_laplacian_rms"), alone.decoded_derivative.laplacian.original_rms);
        if (kind == PAIR_EQUAL)
            same(r.decoded_derivative.laplacian.original_rms, r.derivative.laplacian.original_rms);
        kit_pair_free(&p);
    }
    floe_ctx_free(&ctx);
}

/* A group, or all of them, does not pay for it. */
static void decoded_must_be_named(void **state)
{
    static const char *const groups[] = {"all", "stencil", "properties reduction stencil window"};
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    uint32_t number;
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F32, 2, (uint64_t[]){20, 30}, false, 5);
    for (size_t i = 0; i <= KIT_COUNT(groups); i++) {
        floe_assess_options_init(&o);
        if (i < KIT_COUNT(groups))
            kit_ok(ctx, floe_metric_set_parse(&o.metrics, groups[i], NULL));
        kit_ok(ctx, floe_assess(ctx, &p.field[0], &p.field[1], &o, &r));
        assert_true(r.derivative.npoints > 0 && r.decoded_derivative.npoints == 0);
        assert_int_equal(floe_metric_find("decoded_gradient_max", &number), FLOE_OK);
        assert_false(floe_metric_set_has(&r.computed, number));
    }
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, "decoded_gradient_max", NULL));
    kit_fails(ctx, floe_assess(ctx, &p.field[0], NULL, &o, &r), FLOE_ERR_ARGUMENT, "compares two fields");
    kit_pair_free(&p);
    floe_ctx_free(&ctx);
}

/* ---- fill ----------------------------------------------------------------------------------------------------------------- */

/* Fill is looked for in the original, whatever the decoded field has in its place. */
static void fill_is_the_original_s(void **state)
{
    static const double places[] = {NAN, INFINITY, 0, 9.96921e36, 9.96919e36};
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    floe_assess_options o;
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options_init(&o);
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, "reduction", NULL));
    for (int c = 0; c < KIT_MASKS * (int)KIT_COUNT(places); c++) {
        kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F32, 2, (uint64_t[]){20, 100}, false, 5);
        uint64_t nfill = 0;
        kit_pair_mask(&p, (kit_mask)(c % KIT_MASKS), 9.96921e36, places[c / KIT_MASKS]);
        for (uint64_t i = 0; i < p.nelems; i++)
            nfill += p.value[0][i] > 1e36;
        kit_ok(ctx, floe_assess(ctx, &p.field[0], &p.field[1], &o, &r));
        assert_true(r.has_fill && r.fill_value == (double)9.96921e36f);
        assert_int_equal(r.original.nfill, nfill);
        assert_int_equal(r.ncounted, p.nelems - nfill);
        assert_int_equal(r.nmismatch, places[c / KIT_MASKS] == 9.96921e36 ? 0 : nfill);
        assert_true(r.original.max < 2);
        kit_pair_free(&p);
    }
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_run_when_requested),
                                       cmocka_unit_test(nothing_but_special),
                                       cmocka_unit_test(spectra),
                                       cmocka_unit_test(small_fields),
                                       cmocka_unit_test(axes_of_one_value),
                                       cmocka_unit_test(constants_are_exact),
                                       cmocka_unit_test(lost_partners),
                                       cmocka_unit_test(decoded_by_itself),
                                       cmocka_unit_test(decoded_must_be_named),
                                       cmocka_unit_test(fill_is_the_original_s)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
