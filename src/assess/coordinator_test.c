/* SPDX-License-Identifier: BSD-3-Clause */
/* What the passes find arrives in the report, each number in its place; and a pass runs only where it is asked for. */
#include "tests/assess_kit.h"

#include "assess/pair.h"
#include "assess/spectrum/spectrum.h"
#include "assess/stencil/stencil.h"
#include "assess/window/ssim.h"

enum { LAGS = 5, EDGE = 5, STEP = 2 };

static floe_assess_report assessed(floe_ctx *ctx, const floe_field *x, const floe_field *y, const char *metrics)
{
    floe_assess_report r;
    floe_assess_options o;
    floe_assess_options_init(&o);
    o.fill = FLOE_FILL_NONE;
    o.lags = LAGS, o.window = EDGE, o.step = STEP;
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, metrics, NULL));
    kit_ok(ctx, floe_assess(ctx, x, y, &o, &r));
    return r;
}

static floe_pair pair_of(const kit_pair *p)
{
    const floe_field *f = p->field;
    const uint32_t skip = FLOE_MAX_RANK - f->rank;
    floe_pair pair = {.original = f[0].data, .decoded = f[1].data, .dtype = f[0].dtype, .rank = f[0].rank};
    int64_t step = 1;
    for (uint32_t i = FLOE_MAX_RANK; i-- > 0;) {
        pair.shape[i] = i < skip ? 1 : f->shape[i - skip];
        pair.original_stride[i] = pair.decoded_stride[i] = i < skip ? 0 : step;
        step *= (int64_t)pair.shape[i];
    }
    return pair;
}

static void same(double got, double want)
{
    if (!(got == want || (isnan(got) && isnan(want))))
        fail_msg("%s: %.17g, not %.17g", kit_case, got, want);
}

/* ---- stencil ------------------------------------------------------------------------------------------------------------ */

static floe_stencil_result stencil_of(const floe_pair *pair, double mean)
{
    const floe_stencil_options options = {.derivatives = true, .sobolev = true, .lags = LAGS, .mean = mean};
    floe_stencil_result r;
    floe_cpu cpu;
    assert_int_equal(floe_cpu_init(&cpu, 1, FLOE_ISA_AUTO, NULL), FLOE_OK);
    const uint64_t nbytes = floe_stencil_workspace(&cpu, pair);
    void *workspace = aligned_alloc(64, nbytes);
    assert_int_equal(floe_stencil_assess(&cpu, pair, &options, workspace, nbytes, &r, NULL), FLOE_OK);
    free(workspace);
    return r;
}

static void same_derivative(const floe_derivative *got, const floe_stencil_stats *want)
{
    same(got->original_min, want->original_min), same(got->original_max, want->original_max);
    same(got->original_rms, want->original_rms);
    same(got->max_error, want->max_error), same(got->rmse, want->rmse), same(got->psnr, want->psnr);
}

static void check_derivatives(const floe_derivatives *d, const floe_stencil_result *s, uint32_t rank)
{
    const uint32_t skip = FLOE_MAX_RANK - rank;
    assert_int_equal(d->npoints, s->npoints);
    assert_int_equal(d->nskipped, s->nskipped);
    for (uint32_t i = 0; i < rank; i++) {
        same_derivative(&d->first[i], &s->of[FLOE_STENCIL_FIRST + skip + i]);
        same_derivative(&d->second[i], &s->of[FLOE_STENCIL_SECOND + skip + i]);
        for (int order = 0; order < 2; order++) {
            const floe_stencil_stats *of = &s->of[(order ? FLOE_STENCIL_SECOND : FLOE_STENCIL_FIRST) + skip + i];
            assert_int_equal(d->axis_rmse[order].count, rank);
            same(d->axis_max_error[order].value[i], of->max_error);
            same(d->axis_rmse[order].value[i], of->rmse);
            same(d->axis_psnr[order].value[i], of->psnr);
        }
    }
    same_derivative(&d->first_sum, &s->of[FLOE_STENCIL_FIRST_SUM]);
    same_derivative(&d->gradient, &s->of[FLOE_STENCIL_FIRST_LENGTH]);
    same_derivative(&d->second_sum, &s->of[FLOE_STENCIL_SECOND_SUM]);
    same_derivative(&d->second_length, &s->of[FLOE_STENCIL_SECOND_LENGTH]);
    same_derivative(&d->divergence, &s->of[FLOE_STENCIL_DIVERGENCE]);
    same_derivative(&d->laplacian, &s->of[FLOE_STENCIL_LAPLACIAN]);
    for (int i = 0; i < 3; i++)
        same(d->sobolev[i], s->sobolev[i]);
}

static void check_sobolev_of_error(const floe_assess_report *r)
{
    double squares = r->error.mse;
    for (uint32_t i = 0; i < r->rank; i++)
        squares += r->shape[i] < 3 ? 0 : r->derivative.first[i].rmse * r->derivative.first[i].rmse;
    assert_true(fabs(r->derivative.sobolev_error - sqrt(squares)) <= 1e-14 * sqrt(squares));
    assert_true(r->derivative.sobolev_error > r->error.rmse);
}

static void check_lags(const floe_autocorrelation *a, const floe_stencil_result *s, uint32_t rank)
{
    double largest = 0;
    assert_int_equal(a->combined.count, LAGS);
    for (uint32_t t = 0; t < LAGS; t++) {
        same(a->combined.value[t], s->combined[t]);
        largest = fmax(largest, fabs(s->combined[t]));
        for (uint32_t i = 0; i < FLOE_MAX_RANK; i++)
            if (i < rank)
                same(a->axis[i].value[t], s->autocorr[FLOE_MAX_RANK - rank + i][t]);
            else
                assert_int_equal(a->axis[i].count, 0);
    }
    if (!isnan(s->combined[0]))
        same(a->largest, largest);
}

/* ---- SSIM --------------------------------------------------------------------------------------------------------------- */

static void values_known(floe_ssim_options *options, const floe_assess_report *r)
{
    options->low = fmin(r->original.min, r->decoded.min);
    options->high = fmax(r->original.max, r->decoded.max);
}

static void check_ssim(const floe_similarity *got, const floe_pair *pair, const floe_ssim_options *options)
{
    floe_ssim_result r;
    floe_cpu cpu;
    assert_int_equal(floe_cpu_init(&cpu, 1, FLOE_ISA_AUTO, NULL), FLOE_OK);
    void *scratch = aligned_alloc(64, floe_ssim_scratch_nbytes(&cpu, pair, options));
    assert_int_equal(floe_ssim_assess(&cpu, pair, options, scratch, &r, NULL), FLOE_OK);
    free(scratch);
    same(got->ssim, r.mean), same(got->min, r.min), same(got->loss, r.mean_loss), same(got->max_loss, r.max_loss);
    assert_int_equal(got->nwindows, r.nwindows);
    assert_int_equal(got->nleft_out, r.nleft_out);
}

/* The Laplacian as fields that are compared on their own. */
static void check_similar(floe_ctx *ctx, const floe_pair *pair, const floe_field *like, double got)
{
    floe_cpu cpu;
    floe_assess_report r;
    uint64_t n = pair->shape[0] * pair->shape[1] * pair->shape[2] * pair->shape[3];
    assert_int_equal(floe_cpu_init(&cpu, 1, FLOE_ISA_AUTO, NULL), FLOE_OK);
    const uint64_t nbytes = floe_stencil_workspace(&cpu, pair);
    void *workspace = aligned_alloc(64, nbytes);
    double *side[2] = {malloc(n * sizeof(double)), malloc(n * sizeof(double))};
    assert_int_equal(floe_stencil_write(&cpu, pair, FLOE_STENCIL_LAPLACIAN, side[0], side[1], workspace, nbytes, NULL),
                     FLOE_OK);
    const floe_field x = floe_field_of(side[0], FLOE_F64, like->rank, like->shape);
    const floe_field y = floe_field_of(side[1], FLOE_F64, like->rank, like->shape);
    r = assessed(ctx, &x, &y, "ssim");
    same(got, r.ssim.ssim);
    free(side[0]), free(side[1]), free(workspace);
}

/* ---- all of it ---------------------------------------------------------------------------------------------------------- */

static const struct {
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
} shapes[] = {{1, {50}}, {2, {20, 30}}, {3, {13, 20, 17}}, {3, {5, 40, 30}}, {4, {6, 7, 11, 12}}};

/* The metrics of the stencil pass that such a field has, by their names. */
static const char *stencil_metrics(uint32_t rank, char text[2048])
{
    size_t n = 0;
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        uint32_t axis = 0;
        if (m->pass == FLOE_PASS_STENCIL && (sscanf(m->alias, "autocorr_axis%u", &axis) < 1 || axis < rank))
            n += (size_t)snprintf(text + n, 2048 - n, "%s ", m->alias);
    }
    assert_true(n < 2048);
    return text;
}

static void check(size_t shape, bool special, floe_ctx *ctx, floe_ctx *other)
{
    const uint32_t rank = shapes[shape].rank;
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F64, rank, shapes[shape].shape, false, 5);
    const floe_field *x = &p.field[0], *y = &p.field[1];
    const floe_pair pair = pair_of(&p);
    floe_pair alone = pair;
    char metrics[2048];
    alone.decoded = NULL;
    if (special)
        ((double *)x->data)[3] = NAN;
    snprintf(kit_case, sizeof kit_case, "shape %zu", shape);
    floe_assess_report r = assessed(ctx, x, y, stencil_metrics(rank, metrics));
    floe_stencil_result s = stencil_of(&pair, r.error.mean);
    check_derivatives(&r.derivative, &s, rank);
    check_sobolev_of_error(&r);
    check_lags(&r.autocorr, &s, rank);
    check_similar(other, &pair, x, r.derivative.laplacian.ssim);
    assert_int_equal(r.ssim.nwindows, 0); /* not asked for */
    s = stencil_of(&alone, r.original.mean);
    check_lags(&r.original_autocorr, &s, rank);
    r = assessed(ctx, x, NULL, "properties");
    check_derivatives(&r.derivative, &s, rank);
    check_lags(&r.original_autocorr, &s, rank);
    r = assessed(ctx, x, y, rank > 1 ? "window" : "ssim ssim_min ssim_loss");
    floe_ssim_options boxes = floe_ssim_options_of(&pair, EDGE, STEP, r.original.min, r.original.max);
    values_known(&boxes, &r);
    check_ssim(&r.ssim, &pair, &boxes);
    for (int weights = 0; rank > 1 && weights < 2; weights++) {
        floe_ssim_options image = floe_ssim_options_image((floe_ssim_weights)weights, r.original.min, r.original.max);
        values_known(&image, &r);
        check_ssim(weights ? &r.ssim_gaussian : &r.ssim_image, &pair, &image);
    }
    assert_null(r.autocorr.combined.value);
    kit_pair_free(&p);
}

static void passes_reach_the_report(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2), *other = kit_ctx(1);
    for (size_t i = 0; i < KIT_COUNT(shapes); i++)
        for (int special = 0; special < 2; special++)
            check(i, special, ctx, other);
    floe_ctx_free(&ctx);
    floe_ctx_free(&other);
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
    floe_assess_report r;
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

/* ---- fields that are too small -------------------------------------------------------------------------------------------- */

static void small_fields(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    kit_pair p = kit_pair_make(PAIR_SMOOTH, FLOE_F32, 2, (uint64_t[]){6, 20}, false, 5);
    floe_assess_options o;
    floe_assess_report r;
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
    floe_assess_report r;
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
    floe_assess_report r;
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
    floe_assess_report r;
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_reach_the_report),
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
