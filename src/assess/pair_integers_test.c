/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of integers are those of the same numbers as doubles; what doubles cannot hold is found all the same. */
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
    floe_assess_report got = {.size = sizeof got}, want = {.size = sizeof want};
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
    floe_assess_report r = {.size = sizeof r};
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

static floe_assess_report of_bound(floe_ctx *ctx, const whole_pair *p, floe_bound_mode mode, double bound)
{
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options o;
    floe_assess_options_init(&o);
    kit_ok(ctx, floe_metric_set_parse(&o.metrics, "all outside first_outside", NULL));
    o.mode = mode, o.bound = bound, o.fill = FLOE_FILL_NONE;
    kit_ok(ctx, floe_assess(ctx, &p->field[0], &p->field[1], &o, &r));
    return r;
}

/* Errors that doubles do not show are in all that is reported of errors. */
static void verdicts_beyond_doubles(void **state)
{
    enum { N = 3000, FAR = 2777 };
    const uint64_t shape[] = {N}, most[] = {UINT64_C(1) << 53, UINT64_C(1) << 62};
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    for (int way = 0; way < 2; way++) {
        whole_pair p = make(FLOE_I64, 1, shape, false, 0, false);
        int64_t *x = p.field[0].data, *y = p.field[1].data;
        for (int i = 0; i < N; i++)
            x[i] = (int64_t)most[way] + i % 1000, y[i] = x[i] + (i % 2 ? -7 : 7);
        y[FAR] = x[FAR] - 8;
        floe_assess_report r = of_bound(ctx, &p, FLOE_BOUND_ABS, 6.5);
        assert_true(r.error.noutside == N && r.error.outside_percent == 100);
        assert_true(r.error.outside.spot->index[0] == 0);
        assert_true(r.error.abs_max == 8 && r.error.abs_min == 7 && r.error.min == -8 && r.error.max == 7);
        assert_true(r.original.range == 999 && r.error.rel_max == 8.0 / 999);
        assert_true(fabs(r.error.mse - (49.0 + 15.0 / N)) < 1e-12 && r.error.l1 == 7.0 * N + 1);
        assert_true(fabs(r.error.psnr - 20 * log10(999 / sqrt(r.error.mse))) < 1e-9);
        assert_true(fabs(r.error.pw_max * (double)most[way] - 8) < 1e-9);
        assert_true(r.error.worst.spot[0].index[0] == FAR && r.error.worst.spot[1].index[0] == 0);
        r = of_bound(ctx, &p, FLOE_BOUND_ABS, 7);
        assert_true(r.error.noutside == 1 && r.error.outside.spot->index[0] == FAR);
        assert_int_equal(of_bound(ctx, &p, FLOE_BOUND_ABS, 8).error.noutside, 0);
        assert_int_equal(of_bound(ctx, &p, FLOE_BOUND_REL, 7.5 / 999).error.noutside, 1);
        assert_int_equal(of_bound(ctx, &p, FLOE_BOUND_REL, 6.5 / 999).error.noutside, N);
        assert_int_equal(of_bound(ctx, &p, FLOE_BOUND_PWREL, 7.5 / (double)most[way]).error.noutside, 1);
        x[0] = INT64_MIN, y[0] = INT64_MAX; /* 2^64 - 1, which is less than 2^64 */
        assert_int_equal(of_bound(ctx, &p, FLOE_BOUND_ABS, 0x1p64).error.noutside, 0);
        assert_int_equal(of_bound(ctx, &p, FLOE_BOUND_ABS, 0x1.fffffffffffffp63).error.noutside, 1);
        whole_free(&p);
    }
    floe_ctx_free(&ctx);
}

/* 2^53 + 1 is no double: beyond a bound of 2^53 it lies all the same, though both values are doubles. */
static void a_distance_between_doubles(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    whole_pair p = make(FLOE_I64, 1, (uint64_t[]){9}, false, 0, false);
    ((int64_t *)p.field[0].data)[3] = -(INT64_C(1) << 52), ((int64_t *)p.field[1].data)[3] = (INT64_C(1) << 52) + 1;
    assert_int_equal(of_bound(ctx, &p, FLOE_BOUND_ABS, 0x1p53).error.noutside, 1);
    whole_free(&p);
    floe_ctx_free(&ctx);
}

/* Values that round to the fill value are none, whether it is named or found; and the one that is found is there. */
static void neighbours_of_fill(void **state)
{
    enum { N = 4000 };
    static const int64_t fills[] = {INT64_MAX, INT64_MIN, INT64_MIN + 1};
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    for (int way = 0; way < 9; way++) {
        static const floe_fill_mode modes[] = {FLOE_FILL_AUTO, FLOE_FILL_INTEGER, FLOE_FILL_VALUE};
        whole_pair p = make(FLOE_I64, 1, (uint64_t[]){N}, false, 0, false);
        int64_t *x = p.field[0].data, *y = p.field[1].data;
        const int64_t fill = fills[way / 3], beside = fill + (fill > 0 ? -1 : 1);
        for (int i = 0; i < N; i += 5)
            x[i] = y[i] = fill;
        y[5] = beside;
        floe_assess_report r = {.size = sizeof r};
        floe_assess_options o;
        floe_assess_options_init(&o);
        o.fill = modes[way % 3], o.fill_value = (double)fill, o.fill_integer = fill;
        kit_ok(ctx, floe_assess(ctx, &p.field[0], &p.field[1], &o, &r));
        if (way < 8)
            assert_true(r.has_fill && r.fill_integer == fill && r.original.nfill == N / 5 &&
                        r.decoded.nfill == N / 5 - 1 && r.nmismatch == 1 && r.error.abs_max == 3 &&
                        r.mismatch.spot->index[0] == 5);
        else
            assert_true(r.original.nfill == 0 && r.nmismatch == 0 && r.error.abs_max == 3 && r.has_fill);
        whole_free(&p);
    }
    floe_ctx_free(&ctx);
}

static void what_is_refused(void **state)
{
    const uint64_t shape[] = {40, 50};
    (void)state;
    floe_ctx *ctx = kit_ctx(1);
    whole_pair p = make(FLOE_I32, 2, shape, false, 0, false);
    floe_assess_report r = {.size = sizeof r};
    floe_assess_options o;
    floe_assess_options_init(&o);
    o.fill = FLOE_FILL_VALUE, o.fill_value = 0.5;
    kit_fails(ctx, floe_assess(ctx, &p.field[0], NULL, &o, &r), FLOE_ERR_ARGUMENT, "0.5 is no value of i32");
    o.fill = FLOE_FILL_INTEGER, o.fill_integer = INT64_C(1) << 31;
    kit_fails(ctx, floe_assess(ctx, &p.field[0], NULL, &o, &r), FLOE_ERR_ARGUMENT, "2147483648 is no value of i32");
    kit_fails(ctx, floe_assess(ctx, &p.real[0], NULL, &o, &r), FLOE_ERR_ARGUMENT, "2147483648 is no value of f64");
    kit_fails(ctx, floe_assess(ctx, &p.field[0], &p.real[1], NULL, &r), FLOE_ERR_ARGUMENT, "decoded field is f64");
    p.field[0].place = FLOE_DEVICE;
    kit_fails(ctx, floe_assess(ctx, &p.field[0], NULL, NULL, &r), FLOE_ERR_UNSUPPORTED,
              "i32 are the CPU's work: bring them to host memory");
    whole_free(&p);
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_doubles),
                                       cmocka_unit_test(beyond_doubles),
                                       cmocka_unit_test(verdicts_beyond_doubles),
                                       cmocka_unit_test(a_distance_between_doubles),
                                       cmocka_unit_test(neighbours_of_fill),
                                       cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
