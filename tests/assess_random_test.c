/* SPDX-License-Identifier: BSD-3-Clause */
/* Random assessments on the CPU: the same bits from any threads and instruction set, however fields lie; counts, places and extremes
 * as a plain loop has them; and every pair in some bin, seen or not. */
#include "tests/assess_random_kit.h"

#include "assess/reduction/reduction.h"

static floe_ctx *ctx_of(uint32_t threads, floe_isa isa)
{
    floe_ctx *ctx = NULL;
    const floe_ctx_options options = {.size = sizeof options, .threads = threads, .isa = isa};
    assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
    return ctx;
}

static void same_report(const random_case *c, const floe_assess_report *got, const floe_assess_report *want)
{
    random_same_counts(c, got, want);
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        const double g = floe_metric_value(got, i), w = floe_metric_value(want, i);
        random_same(c, random_same_doubles(&g, &w, 1), m->alias);
        if (m->kind == FLOE_METRIC_SERIES && floe_metric_set_has(&got->computed, i)) {
            const floe_series *s = (const void *)((const char *)got + m->offset);
            const floe_series *t = (const void *)((const char *)want + m->offset);
            random_same(c, s->count == t->count && random_same_doubles(s->value, t->value, s->count), m->alias);
        }
    }
}

/* ---- a plain loop -------------------------------------------------------------------------------------------------- */

typedef struct plain {
    uint64_t n, nmismatch, noutside;
    long double worst, least, most;
} plain;

static int64_t integer_of(double v) { return v < 0x1p63 ? (int64_t)v : INT64_MAX; }

static int class_of(floe_dtype dtype, uint64_t bits, const floe_assess_report *r)
{
    const double v = hostile_value(dtype, bits);
    if (r->has_fill && (hostile_is_integer(dtype) ? hostile_integer(dtype, bits) == integer_of(r->fill_value)
                                                  : bits == hostile_bits(dtype, r->fill_value)))
        return 4;
    return isnan(v) ? 1 : isinf(v) ? (v > 0 ? 2 : 3) : 0;
}

/* Exact; of reals a difference is that of doubles. */
static long double number_of(floe_dtype dtype, uint64_t bits)
{
    return hostile_is_integer(dtype) ? (long double)hostile_integer(dtype, bits)
                                     : (long double)hostile_value(dtype, bits);
}

static plain plain_of(const random_case *c, const floe_assess_report *r)
{
    const floe_dtype t = c->field[0].dtype;
    plain p = {0, 0, 0, -1, INFINITY, -INFINITY};
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < c->nelems; i++) {
            const uint64_t a = hostile_get(t, c->field[0].data, (int64_t)i), b = hostile_get(t, c->field[1].data, i);
            const int of_a = class_of(t, a, r), of_b = class_of(t, b, r);
            const long double x = number_of(t, a), y = number_of(t, b);
            const long double e = hostile_is_integer(t) ? fabsl(y - x) : fabs((double)y - (double)x);
            const double range = hostile_is_integer(t) ? p.most - p.least : (double)p.most - (double)p.least;
            if (of_a || of_b) {
                p.nmismatch += pass && of_a != of_b;
                continue;
            }
            p.worst = fmaxl(p.worst, e), p.least = fminl(p.least, x), p.most = fmaxl(p.most, x);
            p.n += pass;
            p.noutside += pass && e > (c->options.mode == FLOE_BOUND_REL ? c->options.bound * range : c->options.bound);
        }
    return p;
}

static void plainly(const random_case *c, const floe_assess_report *r)
{
    uint32_t max_error, outside;
    const plain p = plain_of(c, r);
    assert_int_equal(floe_metric_find("max_error", &max_error) + floe_metric_find("outside", &outside), FLOE_OK);
    random_same(c, r->ncounted == p.n && r->nmismatch == p.nmismatch, "pairs that count, mismatches");
    if (floe_metric_set_has(&r->computed, max_error))
        random_same(c, r->error.abs_max == (double)p.worst, "max_error");
    if (floe_metric_set_has(&r->computed, outside) && c->options.mode != FLOE_BOUND_PWREL)
        random_same(c, r->error.noutside == p.noutside, "outside");
    if (!p.n) /* all alike */
        random_same(c, r->nsame == r->nelems && isnan(r->original.min) && isnan(r->decoded.max), "special alone");
    else if (!hostile_is_integer(c->field[0].dtype) ||
             !r->has_fill) /* large neighbours of fill are not to round to it */
        random_same(c, r->original.min == (double)p.least && r->original.max == (double)p.most, "min, max");
}

/* ---- bins ---------------------------------------------------------------------------------------------------------- */

static uint64_t sum_of(const uint64_t *count, uint32_t n)
{
    uint64_t sum = 0;
    while (n-- > 0)
        sum += count[n];
    return sum;
}

/* No report shows bins of errors where one overflows: the pass itself does. */
static void all_in_bins(const random_case *c)
{
    const floe_field *f = c->field;
    const floe_reduction_options o = {.parts = FLOE_REDUCTION_PDFS | FLOE_REDUCTION_VALUES,
                                      .bins = c->options.bins,
                                      .value_bins = c->options.value_bins};
    const floe_pair pair = {f[0].data,    f[1].data,    f->dtype, FLOE_HOST, 1, {1, 1, 1, c->nelems},
                            {0, 0, 0, 1}, {0, 0, 0, 1}, 0,        0};
    floe_reduction r;
    floe_reduction_result result;
    floe_error err;
    floe_cpu cpu;
    assert_int_equal(floe_cpu_init(&cpu, 1, c->seed % 2 ? FLOE_ISA_PLAIN : FLOE_ISA_AUTO, &err), FLOE_OK);
    assert_int_equal(floe_reduction_init(&r, &cpu, &pair, &o, &err), FLOE_OK);
    floe_arena plan = floe_arena_plan();
    floe_reduction_take(&r, &plan);
    void *memory = calloc(plan.used, 1);
    floe_arena arena = floe_arena_of(memory, plan.used);
    floe_reduction_take(&r, &arena);
    assert_int_equal(floe_reduction_run(&r, &result, &err), FLOE_OK);
    const uint64_t *count = result.total.count, n = count[FLOE_COUNT_PAIRS];
    random_same(c, !n || sum_of(result.error_count, result.error_frame.nbins) == n, "bins of errors");
    random_same(c, !n || sum_of(result.ratio_count, floe_log_bins_count(result.ratio_nbits)) == count[FLOE_COUNT_PW],
                "bins of ratios");
    for (int side = 0; side < 2; side++)
        random_same(c, !n || sum_of(result.value_count[side], result.value_frame.nbins) == n, "bins of values");
    free(memory);
}

static void random_assessments(void **state)
{
    const uint64_t first = random_setting("FLOE_FUZZ_SEED", 1), ncases = random_setting("FLOE_FUZZ_CASES", 150);
    (void)state;
    floe_ctx *ctx[] = {ctx_of(1, FLOE_ISA_PLAIN), ctx_of(2, FLOE_ISA_AUTO), ctx_of(3, FLOE_ISA_PLAIN)};
    printf("FLOE_FUZZ_SEED=%llu FLOE_FUZZ_CASES=%llu\n", (unsigned long long)first, (unsigned long long)ncases);
    for (uint64_t seed = first; seed - first < ncases; seed++) {
        random_case c = random_case_make(seed);
        floe_assess_report want = {.size = sizeof want}, got = {.size = sizeof got};
        const floe_status status = floe_assess(ctx[0], &c.field[0], &c.field[1], &c.options, &want);
        for (int i = 1; i < 3; i++) {
            void *memory[2];
            const floe_field x = random_strided(&c.field[0], c.nelems, &memory[0]);
            const floe_field y = random_strided(&c.field[1], c.nelems, &memory[1]);
            const floe_field *a = i == 2 ? &x : &c.field[0], *b = seed % 2 ? &y : &c.field[1];
            random_same(&c, floe_assess(ctx[i], a, b, &c.options, &got) == status, "status");
            if (status == FLOE_OK)
                same_report(&c, &got, &want);
            free(memory[0]), free(memory[1]);
        }
        if (status == FLOE_OK)
            plainly(&c, &want);
        if (!hostile_is_integer(c.field[0].dtype))
            all_in_bins(&c);
        random_case_free(&c);
    }
    for (int i = 0; i < 3; i++)
        floe_ctx_free(&ctx[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_assessments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
