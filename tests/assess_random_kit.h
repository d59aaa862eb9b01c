/* SPDX-License-Identifier: BSD-3-Clause */
/* Random assessments: hostile fields, options of all kinds. FLOE_FUZZ_CASES: how many; FLOE_FUZZ_SEED: of the first, the next
 * ones follow it. A failure prints its seed: FLOE_FUZZ_SEED=seed FLOE_FUZZ_CASES=1 repeats it. */
#ifndef FLOE_TESTS_ASSESS_RANDOM_KIT_H
#define FLOE_TESTS_ASSESS_RANDOM_KIT_H

#include "tests/api_kit.h"
#include "tests/hostile_kit.h"

typedef struct random_case {
    uint64_t seed, state, nelems;
    floe_field field[2];
    floe_assess_options options;
} random_case;

static inline uint64_t random_setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static inline uint32_t random_between(random_case *c, uint32_t low, uint32_t high)
{
    return low + (uint32_t)hostile_below(&c->state, high - low + 1);
}

/* Some fills: those that look like none, and for integers the ends. */
static inline double random_fill(random_case *c)
{
    static const double reals[] = {-9999, 1e20f, 0, 42.5}, integers[] = {-9999, -0x1p31, 0x1p62, 42};
    const bool is_integer = hostile_is_integer(c->field[0].dtype);
    return (is_integer ? integers : reals)[hostile_below(&c->state, c->field[0].dtype == FLOE_I32 ? 2 : 4)];
}

static inline void random_options(random_case *c)
{
    static const char *const metrics[] = {"all",
                                          "reduction",
                                          "all outside first_outside laplacian_ssim",
                                          "stencil",
                                          "window",
                                          "error_pdf",
                                          "entropy_bytes max_error",
                                          "properties"};
    static const floe_bound_mode modes[] = {FLOE_BOUND_ABS, FLOE_BOUND_REL, FLOE_BOUND_PWREL};
    floe_assess_options *o = &c->options;
    floe_assess_options_init(o);
    assert_int_equal(floe_metric_set_parse(&o->metrics, metrics[hostile_below(&c->state, 8)], NULL), FLOE_OK);
    o->bins = random_between(c, 64, hostile_below(&c->state, 3) ? 70 : FLOE_ASSESS_MAX_BINS);
    o->value_bins = random_between(c, 64, hostile_below(&c->state, 3) ? 70 : FLOE_ASSESS_MAX_VALUE_BINS);
    o->worst = random_between(c, 0, FLOE_ASSESS_MAX_WORST);
    o->window = random_between(c, 2, 9), o->step = random_between(c, 1, 4);
    o->lags = random_between(c, 1, 12);
    o->periodic = (int)hostile_below(&c->state, 2), o->exact = hostile_below(&c->state, 4) == 0;
    o->mode = modes[hostile_below(&c->state, 3)];
    o->bound = ldexp(hostile_uniform(&c->state), (int)random_between(c, 0, 40) - 30);
    o->fill = (floe_fill_mode)hostile_below(&c->state, 3), o->fill_value = random_fill(c);
}

static inline void random_shape(random_case *c, floe_field *f)
{
    static const uint32_t most[] = {3000, 60, 17, 9};
    f->rank = random_between(c, 1, 4);
    c->nelems = 1;
    for (uint32_t a = 0; a < f->rank; a++) {
        f->shape[a] = random_between(c, 1, most[f->rank - 1]);
        c->nelems *= f->shape[a];
    }
}

/* The decoded value of x: close by, far off, its negative, or something else. */
static inline uint64_t random_decoded(random_case *c, floe_dtype dtype, uint64_t x, uint64_t way)
{
    const uint64_t r = hostile_random(&c->state);
    if (way == 0 || (way < 4 && r % 4 == 0))
        return x;
    if (r % 61 == 7)
        return hostile_special(dtype, r >> 8);
    if (way == 4 && !hostile_is_integer(dtype)) /* what overflows, and hardly anything else */
        return fabs(hostile_value(dtype, x)) > 1e308 ? x ^ hostile_sign(dtype) : x + r % 3;
    return way == 5 ? hostile_random(&c->state) : x + (r >> 8) % 15 - 7;
}

/* Contiguous, in memory of exactly its size. */
static inline void random_fields(random_case *c)
{
    static const floe_dtype dtypes[] = {FLOE_F32, FLOE_F64, FLOE_F64, FLOE_I32, FLOE_I64, FLOE_I64};
    const floe_dtype dtype = dtypes[hostile_below(&c->state, 6)];
    const uint64_t way = hostile_below(&c->state, 6);
    for (int side = 0; side < 2; side++)
        c->field[side] = (floe_field){.dtype = dtype, .place = FLOE_HOST};
    random_shape(c, &c->field[0]);
    c->field[1] = c->field[0];
    for (int side = 0; side < 2; side++)
        c->field[side].data = malloc(c->nelems * floe_dtype_size(dtype));
    hostile_fill(dtype, (hostile_kind)hostile_below(&c->state, HOSTILE_KINDS), c->nelems,
                 ldexp(1, (int)random_between(c, 0, 8) - 4), hostile_bits(dtype, -9999), c->state, c->field[0].data);
    const int64_t far = hostile_below(&c->state, 2) ? (int64_t)1 << random_between(c, 52, 62) : 0;
    for (uint64_t i = 0; i < c->nelems; i++) {
        uint64_t x = hostile_get(dtype, c->field[0].data, (int64_t)i);
        if (dtype == FLOE_I64)
            x += (uint64_t)far;
        if (way == 4 && dtype == FLOE_F64 && hostile_below(&c->state, 1 + c->nelems / 2) == 0)
            x = hostile_bits(dtype, c->seed % 3 || hostile_below(&c->state, 2) ? 1.7e308 : -1.7e308);
        hostile_put(dtype, c->field[0].data, (int64_t)i, x);
        hostile_put(dtype, c->field[1].data, (int64_t)i, random_decoded(c, dtype, x, way));
    }
}

static inline random_case random_case_make(uint64_t seed)
{
    random_case c = {.seed = seed, .state = seed * 977 + 5};
    random_fields(&c);
    random_options(&c);
    return c;
}

static inline void random_case_free(random_case *c) { free(c->field[0].data), free(c->field[1].data); }

/* The same values with an axis turned and a gap behind each row, in memory that ends with the last one. */
static inline floe_field random_strided(const floe_field *f, uint64_t nelems, void **memory)
{
    const size_t size = floe_dtype_size(f->dtype);
    const uint64_t row = f->shape[f->rank - 1], nrows = nelems / row;
    floe_field s = *f;
    *memory = malloc(((nrows - 1) * (row + 3) + row) * size);
    for (uint64_t i = 0; i < nelems; i++)
        memcpy((char *)*memory + (i / row * (row + 3) + (row - 1 - i % row)) * size, (char *)f->data + i * size, size);
    int64_t step = (int64_t)row + 3;
    for (uint32_t a = f->rank - 1; a-- > 0; step *= (int64_t)f->shape[a])
        s.stride[a] = step;
    s.stride[f->rank - 1] = -1;
    s.data = (char *)*memory + (row - 1) * size;
    return s;
}

/* ---- comparing ----------------------------------------------------------------------------------------------------- */

static inline void random_same(const random_case *c, bool same, const char *what)
{
    if (!same)
        fail_msg("seed %llu, %s: %s: not the same", (unsigned long long)c->seed, floe_dtype_name(c->field->dtype),
                 what);
}

static inline bool random_same_doubles(const double *a, const double *b, uint64_t n)
{
    uint64_t i = 0;
    while (i < n && (memcmp(&a[i], &b[i], sizeof *a) == 0 || (isnan(a[i]) && isnan(b[i]))))
        i++;
    return i == n;
}

static inline bool random_same_histogram(const floe_histogram *a, const floe_histogram *b)
{
    return a->nbins == b->nbins && a->total == b->total && (!a->nbins || (a->low == b->low && a->width == b->width)) &&
           (!a->nbins || memcmp(a->count, b->count, a->nbins * sizeof *a->count) == 0);
}

static inline bool random_same_spots(const floe_spots *a, const floe_spots *b)
{
    return a->count == b->count && (!a->count || memcmp(a->spot, b->spot, a->count * sizeof *a->spot) == 0);
}

/* What is counted and where: the same from any number of threads and a GPU. */
static inline void random_same_counts(const random_case *c, const floe_assess_report *a, const floe_assess_report *b)
{
    random_same(c, random_same_histogram(&a->original.histogram, &b->original.histogram), "histogram");
    random_same(c, random_same_histogram(&a->decoded.histogram, &b->decoded.histogram), "decoded histogram");
    random_same(c, random_same_histogram(&a->error.pdf, &b->error.pdf), "error_pdf");
    random_same(c, random_same_histogram(&a->error.pw_pdf, &b->error.pw_pdf), "pw_rel_error_pdf");
    random_same(c, random_same_spots(&a->error.worst, &b->error.worst), "worst_errors");
    random_same(c, random_same_spots(&a->error.outside, &b->error.outside), "first_outside");
    random_same(c, random_same_spots(&a->mismatch, &b->mismatch), "first_mismatch");
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const double va = floe_metric_value(a, i), vb = floe_metric_value(b, i);
        if (floe_metric_at(i)->kind == FLOE_METRIC_COUNT &&
            floe_metric_at(i)->pass != FLOE_PASS_SPECTRUM) /* no mean, no spectrum */
            random_same(c, random_same_doubles(&va, &vb, 1), floe_metric_at(i)->alias);
    }
}

#endif
