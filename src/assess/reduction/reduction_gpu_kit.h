/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction on a GPU beside the CPU's: the same counts, extremes and places, sums to a few 2^-53. */
#ifndef FLOE_ASSESS_REDUCTION_GPU_KIT_H
#define FLOE_ASSESS_REDUCTION_GPU_KIT_H

static const double tolerance = 1e-12;

/* Copies of both fields in device memory, `shift` elements behind where they would be aligned. */
typedef struct device_pair {
    void *memory[2];
    floe_field field[2];
} device_pair;

static device_pair device_pair_make(const kit_pair *p, uint32_t shift)
{
    device_pair d;
    for (int side = 0; side < 2; side++) {
        const size_t skip = shift * floe_dtype_size(p->field[side].dtype);
        CU(cudaMalloc(&d.memory[side], p->nbytes[side] + skip));
        CU(cudaMemcpy((uint8_t *)d.memory[side] + skip, p->memory[side], p->nbytes[side], cudaMemcpyHostToDevice));
        d.field[side] = p->field[side];
        d.field[side].place = FLOE_DEVICE;
        d.field[side].data =
            (uint8_t *)d.memory[side] + skip + ((uint8_t *)p->field[side].data - (uint8_t *)p->memory[side]);
    }
    return d;
}

static void device_pair_free(device_pair *d)
{
    cudaFree(d->memory[0]);
    cudaFree(d->memory[1]);
}

/* ---- comparing -------------------------------------------------------------------------------------------------------- */

/* Metrics of which each digit must be the same: found by comparing and counting. */
static bool is_exact(const floe_metric *m)
{
    static const char *const names[] = {"min",       "max",       "range",          "decoded_min",    "decoded_max",
                                        "max_error", "min_error", "min_difference", "max_difference", "linf"};
    for (size_t i = 0; i < KIT_COUNT(names); i++)
        if (strcmp(names[i], m->alias) == 0)
            return true;
    return m->kind == FLOE_METRIC_COUNT;
}

/* What small errors of sums are small beside. */
static double scale_of(const floe_metric *m, const floe_assess_report *r)
{
    const double of_x = r->original.std_dev, of_y = r->decoded.std_dev;
    if (m->offset == offsetof(floe_assess_report, original.mean))
        return of_x;
    if (m->offset == offsetof(floe_assess_report, decoded.mean))
        return of_y;
    if (m->offset == offsetof(floe_assess_report, error.mean) ||
        m->offset == offsetof(floe_assess_report, error.average_difference))
        return r->error.rmse;
    if (m->offset == offsetof(floe_assess_report, error.covariance))
        return of_x * of_y;
    if (m->offset == offsetof(floe_assess_report, error.value_error_correlation)) /* see metrics.md */
        return 1 + 10 * r->error.mean * r->error.mean / (r->error.mse - r->error.mean * r->error.mean);
    if (strcmp(m->alias, "kurtosis") == 0 || strcmp(m->alias, "decoded_kurtosis") == 0)
        return 10; /* sums of fourth powers about a pivot that is two deviations off are 40 times what is left of them */
    return m->unit[0] == '\0' || strcmp(m->unit, "dB") == 0 ? 1 : 0;
}

static void same_metrics(const floe_assess_report *got, const floe_assess_report *want)
{
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        const double g = floe_metric_value(got, i), w = floe_metric_value(want, i);
        const double limit = is_exact(m) ? 0 : tolerance * fmax(fabs(w), scale_of(m, want));
        assert_int_equal(floe_metric_set_has(&got->computed, i), floe_metric_set_has(&want->computed, i));
        if (!(g == w || (isnan(g) && isnan(w)) || fabs(g - w) <= limit))
            fail_msg("%s: %s is %.17g on the GPU, %.17g on the CPU", kit_case, m->alias, g, w);
    }
}

static void same_histogram(const floe_histogram *got, const floe_histogram *want)
{
    assert_int_equal(got->nbins, want->nbins);
    assert_int_equal(got->total, want->total);
    assert_true(got->low == want->low && got->width == want->width);
    assert_memory_equal(got->count, want->count, got->nbins * sizeof *got->count);
}

static void same_spots(const floe_spots *got, const floe_spots *want)
{
    assert_int_equal(got->count, want->count);
    for (uint64_t i = 0; i < got->count; i++)
        assert_memory_equal(got->spot[i].index, want->spot[i].index, sizeof got->spot[i].index);
}

static void same_report(const floe_assess_report *got, const floe_assess_report *want)
{
    same_metrics(got, want);
    assert_false(fabs(got->error.pearson) > 1 || fabs(got->error.value_error_correlation) > 1);
    same_histogram(&got->original.histogram, &want->original.histogram);
    same_histogram(&got->decoded.histogram, &want->decoded.histogram);
    same_histogram(&got->error.pdf, &want->error.pdf);
    same_histogram(&got->error.pw_pdf, &want->error.pw_pdf);
    same_spots(&got->error.worst, &want->error.worst);
    same_spots(&got->error.outside, &want->error.outside);
    same_spots(&got->mismatch, &want->mismatch);
}

/* ---- both ways --------------------------------------------------------------------------------------------------------- */

static void check(const kit_pair *p, const floe_assess_options *o, uint32_t shift, floe_ctx *cpu, floe_ctx *gpu)
{
    device_pair d = device_pair_make(p, shift);
    floe_assess_report want = {.size = sizeof want}, got = {.size = sizeof got};
    const floe_status status = floe_assess(cpu, &p->field[0], &p->field[1], o, &want);
    if (status != FLOE_OK) {
        kit_fails(gpu, floe_assess(gpu, &d.field[0], &d.field[1], o, &got), status, floe_ctx_message(cpu));
    } else {
        kit_ok(gpu, floe_assess(gpu, &d.field[0], &d.field[1], o, &got));
        same_report(&got, &want);
    }
    device_pair_free(&d);
}

#endif
