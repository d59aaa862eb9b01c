/* SPDX-License-Identifier: BSD-3-Clause */
/* The reduction pass against the plainest way to work the same numbers out, for all kinds of fields. */
#include "tests/assess_kit.h"

#include "assess/reduction/reduction.h"
#include "assess/reduction/reduction_test_kit.h"
#include "assess/spectrum/spectrum.h"

static const double tolerance = 1e-12;

/* ---- sums ----------------------------------------------------------------------------------------------------------- */

static void check_values(const floe_assess_report *r, const char *prefix, const double *v, const kit_sifted *s)
{
    const kit_moments m = kit_moments_of(v, s->n);
    const kit_real deviation = sqrtl(m.variance);
    const struct {
        const char *alias;
        kit_real want, scale;
    } cases[] = {{"min", m.min, 0},           {"max", m.max, 0},           {"range", m.max - m.min, 0},
                 {"mean", m.mean, deviation}, {"variance", m.variance, 0}, {"std_dev", deviation, 0},
                 {"skewness", m.skewness, 1}, {"kurtosis", m.kurtosis, 1}};
    for (size_t i = 0; i < KIT_COUNT(cases); i++) {
        char alias[64];
        snprintf(alias, sizeof alias, "%s%s", prefix, cases[i].alias);
        kit_metric(r, alias, cases[i].want, cases[i].scale, tolerance);
    }
}

static void check_special(const floe_assess_report *r, const kit_pair *p, const char *prefix, int side, bool has_fill)
{
    static const char *const names[] = {"nan", "inf", "inf", "fill"};
    uint64_t count[5] = {0};
    char alias[64];
    for (uint64_t i = 0; i < p->nelems; i++)
        count[kit_class(p->value[side][i], has_fill)]++;
    count[2] = count[3] = count[2] + count[3];
    for (int c = 1; c < 5; c++) {
        snprintf(alias, sizeof alias, "%s%s", prefix, names[c - 1]);
        kit_metric(r, alias, count[c], 0, 0);
    }
}

typedef struct error_sums {
    kit_real min, max, sum, abs_min, abs_max, abs, squares, pw_min, pw_max, pw;
    uint64_t npw, undefined, nzero[2], noutside, first_outside;
} error_sums;

static error_sums error_sums_of(const kit_sifted *s, double bound)
{
    error_sums t = {.min = INFINITY, .max = -INFINITY, .abs_min = INFINITY, .pw_min = INFINITY, .pw_max = -INFINITY};
    for (uint64_t i = 0; i < s->n; i++) {
        const double e = s->y[i] - s->x[i];
        const kit_real a = fabs(e);
        t.min = e < t.min ? e : t.min, t.max = e > t.max ? e : t.max;
        t.abs_min = a < t.abs_min ? a : t.abs_min, t.abs_max = a > t.abs_max ? a : t.abs_max;
        t.sum += e, t.abs += a, t.squares += a * a;
        t.nzero[0] += s->x[i] == 0, t.nzero[1] += s->y[i] == 0;
        t.undefined += s->x[i] == 0 && a > 0;
        if (a > bound && t.noutside++ == 0)
            t.first_outside = s->at[i];
        if (s->x[i] != 0) {
            const kit_real q = a / fabs(s->x[i]);
            t.npw++, t.pw += q;
            t.pw_min = q < t.pw_min ? q : t.pw_min, t.pw_max = q > t.pw_max ? q : t.pw_max;
        }
    }
    return t;
}

static kit_real over(kit_real part, kit_real range) { return part == 0 ? 0 : part / range; }

static void check_errors(const floe_assess_report *r, const kit_sifted *s, const error_sums *t)
{
    const kit_moments x = kit_moments_of(s->x, s->n);
    const kit_real n = s->n, range = x.max - x.min, mse = t->squares / n, rmse = sqrtl(mse);
    const bool any = t->npw > 0;
    const struct {
        const char *alias;
        kit_real want, scale;
    } cases[] = {{"n", n, 0},
                 {"special_same", s->nsame, 0},
                 {"special_mismatch", s->nmismatch, 0},
                 {"zeros", t->nzero[0], 0},
                 {"decoded_zeros", t->nzero[1], 0},
                 {"min_difference", t->min, 0},
                 {"max_difference", t->max, 0},
                 {"difference_range", t->max - t->min, 0},
                 {"bias", t->sum / n, rmse},
                 {"average_difference", -t->sum / n, rmse},
                 {"min_error", t->abs_min, 0},
                 {"avg_error", t->abs / n, 0},
                 {"max_error", t->abs_max, 0},
                 {"linf", t->abs_max, 0},
                 {"error_range", t->abs_max - t->abs_min, 0},
                 {"min_rel_error", over(t->abs_min, range), 0},
                 {"avg_rel_error", over(t->abs / n, range), 0},
                 {"max_rel_error", over(t->abs_max, range), 0},
                 {"min_pw_rel_error", any ? t->pw_min : NAN, 0},
                 {"avg_pw_rel_error", any ? t->pw / t->npw : NAN, 0},
                 {"max_pw_rel_error", any ? t->pw_max : NAN, 0},
                 {"pw_undefined", t->undefined, 0},
                 {"mse", mse, 0},
                 {"rmse", rmse, 0},
                 {"nrmse", over(rmse, range), 0},
                 {"snr", mse > 0 ? 10 * log10l(x.variance / mse) : INFINITY, 1},
                 {"psnr", mse > 0 ? 20 * log10l(range / rmse) : INFINITY, 1},
                 {"psnr_half", mse > 0 ? 20 * log10l(range / (2 * rmse)) : INFINITY, 1},
                 {"l1", t->abs, 0},
                 {"l2", sqrtl(t->squares), 0},
                 {"outside", t->noutside, 0},
                 {"outside_percent", 100 * t->noutside / n, 0}};
    for (size_t i = 0; i < KIT_COUNT(cases); i++)
        kit_metric(r, cases[i].alias, cases[i].want, cases[i].scale, tolerance);
}

static void check_correlations(const floe_assess_report *r, const kit_sifted *s)
{
    const kit_moments x = kit_moments_of(s->x, s->n), y = kit_moments_of(s->y, s->n);
    kit_real covariance = 0, with_error = 0, of_error = 0, mx = 0, my = 0;
    for (uint64_t i = 0; i < s->n; i++)
        mx += ((kit_real)s->x[i] - s->x[0]) / s->n, my += ((kit_real)s->y[i] - s->x[0]) / s->n;
    for (uint64_t i = 0; i < s->n; i++) {
        const kit_real dx = ((kit_real)s->x[i] - s->x[0]) - mx, dy = ((kit_real)s->y[i] - s->x[0]) - my;
        const kit_real de = dy - dx;
        covariance += dx * dy / s->n;
        with_error += dx * de / s->n;
        of_error += de * de / s->n;
    }
    const bool vary = x.variance > 0 && y.variance > 0;
    const kit_real pearson = vary ? covariance / sqrtl(x.variance * y.variance) : NAN;
    kit_metric(r, "covariance", covariance, sqrtl(x.variance * y.variance), tolerance);
    kit_metric(r, "pearson", pearson, 1, tolerance);
    assert_false(fabs(r->error.pearson) > 1 || fabs(r->error.value_error_correlation) > 1);
    kit_metric(r, "pearson_squared", pearson * pearson, 1, tolerance);
    const kit_real bias = my - mx; /* of which the squares of errors hold that of the bias, too */
    const kit_real digits = 1 + bias * bias / of_error;
    if (r->error.difference_range > 0 && of_error > 1e-16L * x.variance)
        kit_metric(r, "value_error_correlation", vary ? with_error / sqrtl(x.variance * of_error) : NAN, 1,
                   tolerance * digits);
    else if (r->error.difference_range == 0)
        kit_metric(r, "value_error_correlation", NAN, 1, 0);
}

/* ---- histograms ----------------------------------------------------------------------------------------------------- */

/* The bins are as fine as a power of two may be, and each holds what lies between its edges. */
static void check_histogram(const floe_histogram *h, const double *v, uint64_t n, uint32_t most, double unit,
                            double low, double high)
{
    uint64_t *count = calloc(h->nbins, sizeof *count);
    const double width = h->width * unit, first = round(h->low / h->width);
    assert_int_equal(h->scale, FLOE_SCALE_LINEAR);
    assert_int_equal(h->total, n);
    assert_true(h->nbins >= 1 && h->nbins <= most);
    if (unit == 1)
        assert_true(frexp(width, &(int){0}) == 0.5);
    for (uint64_t i = 0; i < n; i++) {
        const double bin = floor(v[i] / width) - first;
        assert_true(bin >= 0 && bin < h->nbins);
        count[(uint32_t)bin]++;
    }
    assert_memory_equal(count, h->count, h->nbins * sizeof *count);
    assert_true(floor(low / width) == first && floor(high / width) == first + h->nbins - 1);
    if (high > low && width > 1e-300 && ldexp(fmax(fabs(low), fabs(high)), -49) < width)
        assert_true(floor(high / (width / 2)) - floor(low / (width / 2)) + 1 > most);
    free(count);
}

static void check_ratios(const floe_histogram *h, const kit_sifted *s, floe_dtype dtype, uint64_t npw)
{
    uint64_t *count = calloc(h->nbins, sizeof *count);
    assert_int_equal(h->scale, FLOE_SCALE_LOGARITHMIC);
    assert_int_equal(h->total, npw);
    for (uint64_t i = 0; i < s->n; i++) {
        const double e = fabs(s->y[i] - s->x[i]), x = fabs(s->x[i]);
        const double q = dtype == FLOE_F32 ? (double)((float)e / (float)x) : e / x;
        uint32_t b = 0, end = h->nbins;
        while (b + 1 < end) {
            const uint32_t middle = b + (end - b) / 2;
            if (floe_histogram_edge(h, middle) <= q)
                b = middle;
            else
                end = middle;
        }
        count[b] += x > 0;
    }
    assert_memory_equal(count, h->count, h->nbins * sizeof *count);
    free(count);
}

static kit_real entropy_of(const uint64_t *count, uint32_t nbins, uint64_t total)
{
    kit_real sum = 0;
    for (uint32_t i = 0; i < nbins; i++)
        if (count[i])
            sum -= (kit_real)count[i] / total * log2l((kit_real)count[i] / total);
    return sum;
}

static kit_real byte_entropy_of(const kit_pair *p, int side)
{
    uint64_t count[256] = {0};
    const size_t size = floe_dtype_size(p->field[0].dtype);
    for (uint64_t i = 0; i < p->nelems; i++) {
        const double v = p->value[side][i];
        const float f = (float)v;
        uint8_t bytes[8];
        memcpy(bytes, size == 4 ? (const void *)&f : (const void *)&v, size);
        for (size_t b = 0; b < size; b++)
            count[bytes[b]]++;
    }
    return entropy_of(count, 256, p->nelems * size);
}

static void check_distributions(const floe_assess_report *r, const kit_pair *p, const kit_sifted *s)
{
    const uint64_t *a = r->original.histogram.count, *b = r->decoded.histogram.count;
    const uint32_t nbins = r->original.histogram.nbins;
    kit_real kl = 0, reverse = 0, area = 0, ks = 0, below_a = 0, below_b = 0;
    for (uint32_t i = 0; i < nbins; i++) {
        const kit_real all = s->n + 0.5L * nbins, pa = (a[i] + 0.5L) / all, pb = (b[i] + 0.5L) / all;
        kl += pa * logl(pa / pb), reverse += pb * logl(pb / pa);
        below_a += a[i], below_b += b[i];
        area += fabsl(below_a - below_b) / s->n;
        ks = fmaxl(ks, fabsl(below_a - below_b) / s->n);
    }
    kit_metric(r, "kl", kl, 1e-3L, tolerance);
    kit_metric(r, "kl_reverse", reverse, 1e-3L, tolerance);
    kit_metric(r, "wasserstein", area * r->original.histogram.width, 0, tolerance);
    kit_metric(r, "wasserstein_resolution", r->original.histogram.width, 0, 0);
    kit_metric(r, "ks", ks, 0, tolerance);
    kit_metric(r, "entropy", entropy_of(a, nbins, s->n), 1e-3L, tolerance);
    kit_metric(r, "decoded_entropy", entropy_of(b, nbins, s->n), 1e-3L, tolerance);
    kit_metric(r, "entropy_bytes", byte_entropy_of(p, 0), 0, tolerance);
    kit_metric(r, "decoded_entropy_bytes", byte_entropy_of(p, 1), 0, tolerance);
}

static void check_histograms(const floe_assess_report *r, const kit_sifted *s, const floe_assess_options *o,
                             const error_sums *t, floe_dtype dtype)
{
    double *e = malloc(s->n * sizeof *e);
    for (uint64_t i = 0; i < s->n; i++)
        e[i] = s->y[i] - s->x[i];
    const kit_moments x = kit_moments_of(s->x, s->n), y = kit_moments_of(s->y, s->n);
    const double low = (double)fminl(x.min, y.min), high = (double)fmaxl(x.max, y.max);
    check_histogram(&r->original.histogram, s->x, s->n, o->value_bins, 1, low, high);
    check_histogram(&r->decoded.histogram, s->y, s->n, o->value_bins, 1, low, high);
    check_histogram(&r->error.pdf, e, s->n, o->bins, 1, (double)t->min, (double)t->max);
    if (r->original.range > 0) {
        assert_ptr_equal(r->error.rel_pdf.count, r->error.pdf.count);
        assert_true(r->error.rel_pdf.width == r->error.pdf.width / r->original.range);
        assert_true(r->error.rel_pdf.low == r->error.pdf.low / r->original.range);
    }
    check_ratios(&r->error.pw_pdf, s, dtype, t->npw);
    free(e);
}

/* ---- places --------------------------------------------------------------------------------------------------------- */

static void check_spot(const floe_spot *spot, const kit_pair *p, uint64_t at)
{
    const floe_field *f = &p->field[0];
    uint64_t number = 0;
    for (uint32_t i = 0; i < f->rank; i++)
        number = number * f->shape[i] + spot->index[i];
    assert_int_equal(number, at);
    for (int side = 0; side < 2; side++) {
        const double got = side ? spot->decoded : spot->original, want = p->value[side][at];
        assert_true(got == want || (isnan(got) && isnan(want)));
    }
}

static const kit_sifted *sorted_by; /* of qsort */
static int by_error(const void *a, const void *b)
{
    const uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
    const double ei = fabs(sorted_by->y[i] - sorted_by->x[i]), ej = fabs(sorted_by->y[j] - sorted_by->x[j]);
    return ei != ej ? (ei < ej) - (ei > ej) : (i > j) - (i < j);
}

static void check_places(const floe_assess_report *r, const kit_pair *p, const kit_sifted *s, const error_sums *t,
                         uint32_t worst)
{
    uint64_t *order = malloc(s->n * sizeof *order);
    for (uint64_t i = 0; i < s->n; i++)
        order[i] = i;
    sorted_by = s;
    qsort(order, s->n, sizeof *order, by_error);
    assert_int_equal(r->error.worst.count, s->n < worst ? s->n : worst);
    for (uint64_t i = 0; i < r->error.worst.count; i++)
        check_spot(&r->error.worst.spot[i], p, s->at[order[i]]);
    free(order);
    assert_int_equal(r->error.outside.count, t->noutside > 0);
    if (t->noutside)
        check_spot(r->error.outside.spot, p, t->first_outside);
    assert_int_equal(r->mismatch.count, s->nmismatch > 0);
    if (s->nmismatch)
        check_spot(r->mismatch.spot, p, s->first_mismatch);
}

/* ---- all of it ------------------------------------------------------------------------------------------------------ */

static void check_pair(const kit_pair *p, const floe_assess_options *o, floe_ctx *ctx)
{
    const bool has_fill = o->fill == FLOE_FILL_VALUE;
    const floe_dtype dtype = p->field[0].dtype;
    kit_sifted s = kit_sift(p, has_fill);
    floe_assess_report r = {.size = sizeof r};
    if (s.n == 0 && s.nmismatch == 0) { /* all alike */
        kit_ok(ctx, floe_assess(ctx, &p->field[0], &p->field[1], o, &r));
        assert_true(r.nsame == r.nelems && r.nmismatch == 0);
        check_special(&r, p, "", 0, has_fill);
        check_special(&r, p, "decoded_", 1, has_fill);
    } else if (s.n == 0) {
        kit_fails(ctx, floe_assess(ctx, &p->field[0], &p->field[1], o, &r), FLOE_ERR_ARGUMENT, "nothing to assess");
    } else {
        const error_sums t = error_sums_of(&s, o->bound);
        r = assessed(p, o, ctx);
        check_values(&r, "", s.x, &s);
        check_values(&r, "decoded_", s.y, &s);
        check_special(&r, p, "", 0, has_fill);
        check_special(&r, p, "decoded_", 1, has_fill);
        check_errors(&r, &s, &t);
        check_correlations(&r, &s);
        check_histograms(&r, &s, o, &t, dtype);
        check_distributions(&r, p, &s);
        check_places(&r, p, &s, &t, o->worst);
    }
    kit_sifted_free(&s);
}

static void check(pair_kind kind, floe_dtype dtype, uint32_t rank, const uint64_t *shape, bool strided, floe_ctx *ctx)
{
    kit_pair p = kit_pair_make(kind, dtype, rank, shape, strided, 7 + (uint64_t)kind);
    const floe_assess_options o = options_of(kind);
    snprintf(kit_case, sizeof kit_case, "kind %d, %s, %u axes, %llu elements, %s", (int)kind, floe_dtype_name(dtype),
             rank, (unsigned long long)p.nelems, strided ? "strided" : "dense");
    check_pair(&p, &o, ctx);
    kit_pair_free(&p);
}

static const struct {
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
} shapes[] = {{1, {1}},          {1, {3}},     {1, {1000}},    {2, {1, 7}},       {2, {37, 61}},    {3, {5, 7, 11}},
              {4, {2, 3, 5, 7}}, {1, {33333}}, {2, {70, 129}}, {3, {13, 40, 35}}, {3, {30, 90, 1}}, {4, {3, 7, 19, 50}},
              {3, {64, 65, 33}}};
enum { LARGE = KIT_COUNT(shapes) - 1 }; /* several pieces */

static void against_the_plainest_way(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    for (int kind = 0; kind < PAIR_KINDS; kind++)
        for (size_t i = 0; i < KIT_COUNT(shapes); i++)
            for (int c = 0; c < 4; c++)
                if ((i < LARGE && FLOE_TEST_STRIDE == 1) || c == (int)(i + (size_t)kind) % 4)
                    check((pair_kind)kind, c % 2 ? FLOE_F64 : FLOE_F32, shapes[i].rank, shapes[i].shape, c / 2, ctx);
    floe_ctx_free(&ctx);
}

/* ---- masks ----------------------------------------------------------------------------------------------------------- */

static void what_a_mask_hides(void **state)
{
    static const uint64_t large[] = {130, 151};
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    const floe_assess_options o = options_of(PAIR_FILL);
    for (int c = 0; c < MASKED_PAIRS; c += FLOE_TEST_STRIDE) {
        kit_pair p = masked_pair(c, large);
        check_pair(&p, &o, ctx);
        kit_pair_free(&p);
    }
    floe_ctx_free(&ctx);
}

/* ---- bounds ---------------------------------------------------------------------------------------------------------- */

static bool is_outside(floe_bound_mode mode, double bound, double range, double x, double y)
{
    return fabs(y - x) > (mode == FLOE_BOUND_PWREL ? bound * fabs(x) : mode == FLOE_BOUND_REL ? bound * range : bound);
}

static void values_outside_a_bound(void **state)
{
    static const double bounds[] = {0, 1e-5, 3e-4, 5e-4, 1};
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    kit_pair p = kit_pair_make(PAIR_ZEROS, FLOE_F32, 2, (uint64_t[]){300, 401}, false, 5);
    kit_sifted s = kit_sift(&p, false);
    floe_assess_options o = options_of(PAIR_ZEROS);
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, "outside first_outside outside_percent", NULL));
    for (int mode = FLOE_BOUND_ABS; mode <= FLOE_BOUND_PWREL; mode++)
        for (size_t b = 0; b < KIT_COUNT(bounds); b++) {
            uint64_t count = 0, first = 0;
            o.mode = (floe_bound_mode)mode, o.bound = bounds[b];
            const floe_assess_report r = assessed(&p, &o, ctx);
            for (uint64_t i = s.n; i-- > 0;)
                if (is_outside(o.mode, o.bound, r.original.range, s.x[i], s.y[i]))
                    count++, first = s.at[i];
            assert_int_equal(r.error.noutside, count);
            assert_int_equal(r.error.outside.count, count > 0);
            if (count)
                check_spot(r.error.outside.spot, &p, first);
        }
    kit_sifted_free(&s);
    kit_pair_free(&p);
    floe_ctx_free(&ctx);
}

/* ---- by sorting ------------------------------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void exact_distances(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    for (int kind = 0; kind < PAIR_KINDS; kind++)
        for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++) {
            kit_pair p = kit_pair_make((pair_kind)kind, (floe_dtype)dtype, 3, (uint64_t[]){30, 41, 43}, kind % 2, 3);
            kit_sifted s = kit_sift(&p, kind == PAIR_FILL);
            floe_assess_options o = options_of((pair_kind)kind);
            o.exact = 1;
            const floe_assess_report r = assessed(&p, &o, ctx);
            kit_real w = 0;
            double ks = 0;
            qsort(s.x, s.n, sizeof(double), by_size);
            qsort(s.y, s.n, sizeof(double), by_size);
            for (uint64_t i = 0, j = 0; i < s.n; i++) {
                w += fabsl((kit_real)s.x[i] - s.y[i]) / s.n;
                if (i + 1 < s.n && s.x[i + 1] == s.x[i])
                    continue;
                while (j < s.n && s.y[j] <= s.x[i]) /* just behind x[i] */
                    j++;
                ks = fmax(ks, fabs((double)(i + 1) - (double)j));
            }
            for (uint64_t i = 0, j = 0; j < s.n; j++) {
                if (j + 1 < s.n && s.y[j + 1] == s.y[j])
                    continue;
                while (i < s.n && s.x[i] <= s.y[j])
                    i++;
                ks = fmax(ks, fabs((double)(j + 1) - (double)i));
            }
            kit_metric(&r, "ks", ks / s.n, 0, tolerance);
            kit_metric(&r, "wasserstein", w, 0, tolerance);
            kit_metric(&r, "wasserstein_resolution", 0, 0, 0);
            o.exact = 0;
            const floe_assess_report coarse = assessed(&p, &o, ctx);
            assert_true(fabs(coarse.distribution.wasserstein - (double)w) <=
                        coarse.distribution.resolution * (1 + 1e-9));
            assert_true(coarse.distribution.ks <= ks / s.n + 1e-15);
            kit_sifted_free(&s);
            kit_pair_free(&p);
        }
    floe_ctx_free(&ctx);
}

/* ---- one field ------------------------------------------------------------------------------------------------------- */

static void one_field_alone(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2), *other = kit_ctx(2);
    kit_pair p = kit_pair_make(PAIR_SPECIAL, FLOE_F64, 2, (uint64_t[]){300, 201}, true, 3);
    floe_assess_options o = options_of(PAIR_SPECIAL);
    floe_assess_report alone = {.size = sizeof alone}, twice = {.size = sizeof twice};
    o.metrics = (floe_metric_set){.groups = 0};
    kit_ok(ctx, floe_assess(ctx, &p.field[0], NULL, &o, &alone));
    kit_ok(other, floe_assess(other, &p.field[0], &p.field[0], &o, &twice));
    assert_int_equal(alone.nfields, 1);
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const double a = floe_metric_value(&alone, i), b = floe_metric_value(&twice, i);
        const floe_metric *m = floe_metric_at(i);
        const bool applies = m->nfields == 1;
        assert_int_equal(floe_metric_set_has(&alone.computed, i), applies);
        if (applies)
            assert_memory_equal(&a, &b, sizeof a);
        else
            assert_true(isnan(a));
    }
    assert_true(isnan(alone.error.psnr) && isnan(alone.decoded.mean));
    kit_pair_free(&p);
    floe_ctx_free(&ctx);
    floe_ctx_free(&other);
}

/* Differences may be infinite where values are not: no PDF of them, and all else is counted. */
static void errors_that_overflow(void **state)
{
    (void)state;
    enum { N = 50000 };
    static double x[N], y[N];
    floe_ctx *ctx = kit_ctx(2);
    const floe_assess_options o = options_of(PAIR_SMOOTH);
    const floe_field fields[] = {floe_field_of(x, FLOE_F64, 1, (const uint64_t[]){N}),
                                 floe_field_of(y, FLOE_F64, 1, (const uint64_t[]){N})};
    kit_fill_far_apart(N, x, y);
    for (int way = 0; way < 2; way++) {
        floe_assess_report r = {.size = sizeof r};
        uint64_t sum = 0;
        kit_ok(ctx, floe_assess(ctx, &fields[way], &fields[!way], &o, &r));
        assert_true(r.error.min == -INFINITY && r.error.max == INFINITY && r.error.abs_max == INFINITY);
        assert_true(r.error.pdf.nbins == 0 && r.error.rel_pdf.nbins == 0);
        assert_int_equal(r.error.pw_pdf.total, N);
        for (uint32_t b = 0; b < r.original.histogram.nbins; b++)
            sum += r.original.histogram.count[b];
        assert_int_equal(sum, N);
    }
    floe_ctx_free(&ctx);
}

/* What overflows is counted where 0 is, though nothing shows it: all that frames move stays in them. On one side only, so that
 * frames have room on the other. */
static void bins_of_errors_that_overflow(void **state)
{
    enum { N = 5000, BINS = 65 };
    static double x[N], y[N];
    (void)state;
    const floe_reduction_options options = {.parts = FLOE_REDUCTION_PDFS, .bins = BINS};
    const floe_pair pair = {x, y, FLOE_F64, FLOE_HOST, 1, {1, 1, 1, N}, {0, 0, 0, 1}, {0, 0, 0, 1}, 0, 0};
    for (int way = 0; way < 4; way++) {
        const double sign = way < 2 ? -1 : 1;
        uint64_t want[BINS] = {0};
        floe_cpu cpu;
        floe_reduction r;
        floe_reduction_result result;
        floe_error err;
        for (int i = 0; i < N; i++)
            x[i] = 0, y[i] = sign * 1e-3 * (i % 7);
        x[N / 2] = -sign * 1e308, y[N / 2] = -x[N / 2];
        assert_int_equal(floe_cpu_init(&cpu, 1, way % 2 ? FLOE_ISA_PLAIN : FLOE_ISA_AUTO, &err), FLOE_OK);
        assert_int_equal(floe_reduction_init(&r, &cpu, &pair, &options, &err), FLOE_OK);
        floe_arena plan = floe_arena_plan();
        floe_reduction_take(&r, &plan);
        void *memory = calloc(plan.used, 1);
        floe_arena arena = floe_arena_of(memory, plan.used);
        floe_reduction_take(&r, &arena);
        assert_int_equal(floe_reduction_run(&r, &result, &err), FLOE_OK);
        const floe_bins_frame *f = &result.error_frame;
        for (int i = 0; i < N; i++) {
            const double e = y[i] - x[i];
            want[floe_bins_index(isinf(e) ? 0 : e, floe_bins_power(-f->exponent)) - f->first]++;
        }
        assert_memory_equal(result.error_count, want, f->nbins * sizeof *want);
        free(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_the_plainest_way),
                                       cmocka_unit_test(what_a_mask_hides),
                                       cmocka_unit_test(values_outside_a_bound),
                                       cmocka_unit_test(exact_distances),
                                       cmocka_unit_test(one_field_alone),
                                       cmocka_unit_test(errors_that_overflow),
                                       cmocka_unit_test(bins_of_errors_that_overflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
