/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of integers are those of the same numbers as doubles; what doubles cannot hold is told all the same. */
#include "tests/assess_kit.h"

typedef struct whole_pair {
    floe_field field[2], real[2]; /* the same numbers as f64 */
} whole_pair;

static void set(const floe_field *f, int64_t at, int64_t v)
{
    if (f->dtype == FLOE_I32)
        ((int32_t *)f->data)[at] = (int32_t)v;
    else
        ((int64_t *)f->data)[at] = v;
}

/* x: a few hundred values around base, one in nine missing where there is fill; y: off by up to 3. */
static whole_pair make(floe_dtype dtype, uint32_t rank, const uint64_t *shape, bool strided, int64_t base, bool fill)
{
    whole_pair p;
    uint64_t n = 1, seed = 5;
    for (uint32_t i = 0; i < rank; i++)
        n *= shape[i];
    for (int side = 0; side < 2; side++) {
        p.field[side] = floe_field_of(calloc(2 * n, floe_dtype_size(dtype)), dtype, rank, shape);
        p.real[side] = floe_field_of(calloc(n, sizeof(double)), FLOE_F64, rank, shape);
        int64_t step = 2;
        for (uint32_t i = rank; strided && i-- > 0; step *= (int64_t)shape[i])
            p.field[side].stride[i] = step;
    }
    for (uint64_t i = 0; i < n; i++) {
        const int64_t x = base + (int64_t)(200 * sin((double)i * 0.01)) + (int64_t)(kit_random(&seed) % 50);
        const bool missing = fill && kit_random(&seed) % 9 == 0;
        const int64_t v[2] = {missing ? KIT_FILL_VALUE : x,
                              missing ? KIT_FILL_VALUE : x + (int64_t)(kit_random(&seed) % 7) - 3};
        for (int side = 0; side < 2; side++) {
            set(&p.field[side], (int64_t)(strided ? 2 * i : i), v[side]);
            ((double *)p.real[side].data)[i] = (double)v[side];
        }
    }
    return p;
}

static void whole_free(whole_pair *p)
{
    for (int side = 0; side < 2; side++)
        free(p->field[side].data), free(p->real[side].data);
}

/* Bit for bit, but for the entropy of bytes. */
static void same_report(const floe_assess_report *got, const floe_assess_report *want)
{
    assert_memory_equal(&got->computed, &want->computed, sizeof got->computed);
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        const double a = floe_metric_value(got, i), b = floe_metric_value(want, i);
        if (m->offset == offsetof(floe_assess_report, original.entropy_bytes) ||
            m->offset == offsetof(floe_assess_report, decoded.entropy_bytes))
            continue;
        if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b)))
            fail_msg("%s: %s is %.17g, not %.17g", kit_case, m->alias, a, b);
        if (m->kind == FLOE_METRIC_SERIES && floe_metric_set_has(&got->computed, i)) {
            const floe_series *g = (const void *)((const char *)got + m->offset);
            const floe_series *w = (const void *)((const char *)want + m->offset);
            assert_int_equal(g->count, w->count);
            assert_memory_equal(g->value, w->value, g->count * sizeof *g->value);
        }
    }
}

static double bytes_entropy(const floe_field *f, uint64_t n, bool strided)
{
    const size_t size = floe_dtype_size(f->dtype);
    uint64_t count[256] = {0};
    double sum = 0;
    for (uint64_t i = 0; i < n; i++)
        for (size_t b = 0; b < size; b++)
            count[((uint8_t *)f->data)[(strided ? 2 * i : i) * size + b]]++;
    for (int b = 0; b < 256; b++)
        sum -= count[b] ? (double)count[b] / (double)(n * size) * log2((double)count[b] / (double)(n * size)) : 0;
    return sum;
}

static void check(floe_ctx *ctx, floe_ctx *other, floe_dtype dtype, bool strided, bool fill, bool alone)
{
    const uint64_t shape[] = {12, 20, 33}, n = 12 * 20 * 33;
    whole_pair p = make(dtype, 3, shape, strided, 400, fill);
    floe_assess_report got, want;
    floe_assess_options o;
    floe_assess_options_init(&o);
    kit_ok(ctx,
           floe_metric_set_parse(&o.metrics, alone ? "properties" : "all laplacian_ssim outside first_outside", NULL));
    o.mode = FLOE_BOUND_ABS, o.bound = 2;
    snprintf(kit_case, sizeof kit_case, "%s, strided %d, fill %d, alone %d", floe_dtype_name(dtype), strided, fill,
             alone);
    kit_ok(ctx, floe_assess(ctx, &p.field[0], alone ? NULL : &p.field[1], &o, &got));
    kit_ok(other, floe_assess(other, &p.real[0], alone ? NULL : &p.real[1], &o, &want));
    same_report(&got, &want);
    assert_int_equal(got.dtype, dtype);
    assert_int_equal(got.has_fill, fill);
    assert_true(!fill || (got.fill_value == KIT_FILL_VALUE && got.original.nfill > 700));
    assert_true(fabs(got.original.entropy_bytes - bytes_entropy(&p.field[0], n, strided)) < 1e-12);
    assert_true(alone ? isnan(got.decoded.entropy_bytes)
                      : fabs(got.decoded.entropy_bytes - bytes_entropy(&p.field[1], n, strided)) < 1e-12);
    assert_true(alone || got.error.abs_max == 3);
    whole_free(&p);
}

static void as_doubles(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2), *other = kit_ctx(1);
    for (int kind = 0; kind < 16; kind++)
        check(ctx, other, kind & 1 ? FLOE_I32 : FLOE_I64, kind & 2, kind & 4, kind & 8);
    floe_ctx_free(&ctx);
    floe_ctx_free(&other);
}

/* Around 2^62 doubles are 1024 apart: the largest error is still the largest, and 0 of equal fields only. */
static void beyond_doubles(void **state)
{
    const uint64_t shape[] = {40, 50};
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    whole_pair p = make(FLOE_I64, 2, shape, false, INT64_C(1) << 62, false);
    int64_t *x = p.field[0].data, *y = p.field[1].data;
    floe_assess_report r;
    kit_ok(ctx, floe_assess(ctx, &p.field[0], &p.field[1], NULL, &r));
    assert_true(r.error.abs_max == 3 && r.error.linf == 3);
    memcpy(y, x, 2000 * sizeof *x);
    kit_ok(ctx, floe_assess(ctx, &p.field[0], &p.field[1], NULL, &r));
    assert_true(r.error.abs_max == 0 && r.error.rel_max == 0);
    y[1999]++;
    kit_ok(ctx, floe_assess(ctx, &p.field[0], &p.field[1], NULL, &r));
    assert_true(r.error.abs_max == 1 && r.error.rel_max > 0);
    x[7] = INT64_MAX, y[7] = INT64_MIN; /* a distance that no i64 holds */
    kit_ok(ctx, floe_assess(ctx, &p.field[0], &p.field[1], NULL, &r));
    assert_true(r.error.abs_max == 0x1p64 && r.error.worst.spot[0].index[1] == 7);
    floe_assess_options o;
    floe_assess_options_init(&o);
    o.fill = FLOE_FILL_VALUE, o.fill_value = -0x1p63; /* which is INT64_MIN: now that pair does not count */
    kit_ok(ctx, floe_assess(ctx, &p.field[0], &p.field[1], &o, &r));
    assert_true(r.error.abs_max == 1 && r.nmismatch == 1 && r.decoded.nfill == 1);
    whole_free(&p);
    floe_ctx_free(&ctx);
}

static void what_is_refused(void **state)
{
    const uint64_t shape[] = {40, 50};
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    whole_pair p = make(FLOE_I32, 2, shape, false, 0, false);
    floe_assess_report r;
    floe_assess_options o;
    floe_assess_options_init(&o);
    o.fill = FLOE_FILL_VALUE, o.fill_value = 0.5;
    kit_fails(ctx, floe_assess(ctx, &p.field[0], NULL, &o, &r), FLOE_ERR_ARGUMENT, "0.5 is no value of i32");
    kit_fails(ctx, floe_assess(ctx, &p.field[0], &p.real[1], NULL, &r), FLOE_ERR_ARGUMENT, "decoded field is f64");
    p.field[0].place = FLOE_DEVICE;
    kit_fails(ctx, floe_assess(ctx, &p.field[0], NULL, NULL, &r), FLOE_ERR_UNSUPPORTED,
              "i32 are the CPU's work: bring them to host memory");
    whole_free(&p);
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_doubles), cmocka_unit_test(beyond_doubles),
                                       cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
