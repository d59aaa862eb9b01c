/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of the assessment share: pairs of fields of many kinds, and what floe_assess should report about them, worked out
 * in the plainest way in long double. */
#ifndef FLOE_TESTS_ASSESS_KIT_H
#define FLOE_TESTS_ASSESS_KIT_H

#include "tests/api_kit.h"

#include "assess/reduction/reduction_math.h"

/* ---- pairs of fields ----------------------------------------------------------------------------------------------- */

typedef enum pair_kind {
    PAIR_SMOOTH,   /* around 0 */
    PAIR_OFFSET,   /* 1e6, with a variation of 1e-3 (f32: 1) */
    PAIR_NOISE,    /* of many magnitudes */
    PAIR_CONSTANT, /* both, by different values */
    PAIR_EQUAL,    /* y = x */
    PAIR_ZEROS,    /* many values are 0 */
    PAIR_SPECIAL,  /* NaN, infinities, -0; alike or not */
    PAIR_FILL,     /* a third is missing */
    PAIR_RARE,     /* few values are not NaN */
    PAIR_KINDS
} pair_kind;

enum { KIT_FILL_VALUE = -9999 };

/* Finite values of f64, among which there are pairs that lie further apart than any double shows. */
static inline void kit_fill_far_apart(uint64_t n, double *x, double *y)
{
    for (uint64_t i = 0; i < n; i++) {
        x[i] = 3 + sin((double)i * 0.01), y[i] = x[i] + 1e-3 * cos((double)i);
        if (i > n / 3 && i % 1009 == 5)
            x[i] = i % 2 ? 1.7e308 : -1.6e308, y[i] = -x[i];
    }
}

static inline double kit_special(uint64_t *seed, double v)
{
    static const double specials[] = {NAN, INFINITY, -INFINITY, 0, -0.0};
    return kit_random(seed) % 7 ? v : specials[kit_random(seed) % KIT_COUNT(specials)];
}

/* x and y of one place. */
static inline void kit_values(pair_kind kind, floe_dtype dtype, uint64_t i, uint64_t *seed, double v[2])
{
    const double u = kit_uniform(seed) - 0.5, smooth = sin((double)i * 0.013) + 0.1 * u, e = kit_uniform(seed) - 0.45;
    const double tiny = dtype == FLOE_F32 ? 1 : 1e-3;
    v[0] = smooth, v[1] = smooth + 1e-3 * e;
    switch (kind) {
    case PAIR_OFFSET: v[0] = 1e6 + tiny * smooth, v[1] = 1e6 + tiny * (smooth + 0.3 * e); break;
    case PAIR_NOISE: v[0] = u * pow(10, 8 * u), v[1] = v[0] * (1 + 0.01 * e); break;
    case PAIR_CONSTANT: v[0] = 2.5, v[1] = 2.625; break;
    case PAIR_EQUAL: v[1] = v[0]; break;
    case PAIR_ZEROS:
        v[0] = kit_random(seed) % 2 ? v[0] : 0;
        v[1] = kit_random(seed) % 2 ? v[0] : v[1];
        break;
    case PAIR_SPECIAL:
        v[0] = kit_special(seed, v[0]), v[1] = kit_special(seed, kit_random(seed) % 2 ? v[0] : v[1]);
        break;
    case PAIR_FILL:
        v[0] = kit_random(seed) % 3 ? v[0] : KIT_FILL_VALUE;
        v[1] = v[0] == KIT_FILL_VALUE || kit_random(seed) % 50 == 0 ? KIT_FILL_VALUE : v[1];
        break;
    case PAIR_RARE: v[0] = kit_random(seed) % 997 ? NAN : 1e4 + v[0]; break;
    default: break;
    }
}

/* Both fields, and their values once more, one after another in C order. */
typedef struct kit_pair {
    floe_field field[2];
    void *memory[2];
    uint64_t nbytes[2]; /* of memory */
    double *value[2];
    uint64_t nelems;
} kit_pair;

/* Every other element of a larger array, axes turned and swapped, where `strided`; each side in its own way. */
static inline floe_field kit_layout(void *memory, floe_dtype dtype, uint32_t rank, const uint64_t *shape, bool strided,
                                    int side)
{
    floe_field f = floe_field_of(memory, dtype, rank, shape);
    int64_t step = side ? 1 : 2, start = 0;
    if (!strided)
        return f;
    for (uint32_t i = rank; i-- > 0;) {
        const uint32_t axis = side ? rank - 1 - i : i;
        f.stride[axis] = step;
        step *= (int64_t)shape[axis] + 1;
        if ((axis + (uint32_t)side) % 2) {
            start += f.stride[axis] * ((int64_t)shape[axis] - 1);
            f.stride[axis] = -f.stride[axis];
        }
    }
    f.data = (uint8_t *)memory + start * (int64_t)floe_dtype_size(dtype);
    return f;
}

static inline kit_pair kit_pair_make(pair_kind kind, floe_dtype dtype, uint32_t rank, const uint64_t *shape,
                                     bool strided, uint64_t seed)
{
    kit_pair p = {.nelems = 1};
    uint64_t room = strided ? 2 : 1;
    for (uint32_t i = 0; i < rank; i++)
        p.nelems *= shape[i], room *= shape[i] + strided;
    for (int side = 0; side < 2; side++) {
        p.nbytes[side] = room * floe_dtype_size(dtype);
        p.memory[side] = calloc(room, floe_dtype_size(dtype));
        p.value[side] = calloc(p.nelems, sizeof(double));
        assert_true(p.memory[side] && p.value[side]);
        p.field[side] = kit_layout(p.memory[side], dtype, rank, shape, strided, side);
    }
    for (uint64_t i = 0; i < p.nelems; i++) {
        double v[2];
        kit_values(kind, dtype, i, &seed, v);
        for (int side = 0; side < 2; side++) {
            const floe_field *f = &p.field[side];
            int64_t at = 0;
            uint64_t rest = i;
            for (uint32_t k = rank; strided && k-- > 0; rest /= shape[k])
                at += (int64_t)(rest % shape[k]) * f->stride[k];
            at = strided ? at : (int64_t)i;
            if (dtype == FLOE_F32)
                p.value[side][i] = (double)(((float *)f->data)[at] = (float)v[side]);
            else
                p.value[side][i] = ((double *)f->data)[at] = v[side];
        }
    }
    return p;
}

static inline void kit_pair_free(kit_pair *p)
{
    for (int side = 0; side < 2; side++) {
        free(p->memory[side]);
        free(p->value[side]);
    }
}

/* ---- masks --------------------------------------------------------------------------------------------------------- */

/* Which places of a dense pair have no numbers of their own. */
typedef enum kit_mask {
    MASK_SAMPLES, /* all that the reduction samples */
    MASK_COLUMN,  /* the ninth of every sixteen, as all of these are in a field of 255 x 16 */
    MASK_TENTH,
    MASK_MOST,    /* six tenths */
    MASK_BUT_FEW, /* all but one of 997 */
    KIT_MASKS
} kit_mask;

static inline void kit_pair_set(kit_pair *p, uint64_t i, const double *v)
{
    for (int side = 0; side < 2; side++)
        if (p->field[side].dtype == FLOE_F32)
            p->value[side][i] = (double)(((float *)p->memory[side])[i] = (float)v[side]);
        else
            p->value[side][i] = ((double *)p->memory[side])[i] = v[side];
}

/* Puts what stands for a missing value on either side. */
static inline void kit_pair_mask(kit_pair *p, kit_mask mask, double x, double y)
{
    uint64_t seed = 11;
    for (uint64_t i = 0; i < p->nelems; i++) {
        const uint64_t random = kit_random(&seed) % 10;
        const bool is_masked[KIT_MASKS] = {false, i % 16 == 8, random == 0, random < 6, i % 997 != 3};
        if (is_masked[mask])
            kit_pair_set(p, i, (double[]){x, y});
    }
    for (uint32_t i = 0; mask == MASK_SAMPLES && i < FLOE_REDUCTION_SAMPLES; i++)
        kit_pair_set(p, floe_reduction_sample_place(p->nelems, i), (double[]){x, y});
}

/* ---- the plainest way ---------------------------------------------------------------------------------------------- */

typedef long double kit_real;

/* The pairs that count, and what was found of the others. */
typedef struct kit_sifted {
    double *x, *y;
    uint64_t *at;
    uint64_t n, nsame, nmismatch, first_mismatch;
} kit_sifted;

static inline int kit_class(double v, bool has_fill)
{
    return has_fill && v == KIT_FILL_VALUE ? 4 : isnan(v) ? 1 : isinf(v) ? (v > 0 ? 2 : 3) : 0;
}

static inline kit_sifted kit_sift(const kit_pair *p, bool has_fill)
{
    kit_sifted s = {malloc(p->nelems * sizeof(double)),
                    malloc(p->nelems * sizeof(double)),
                    malloc(p->nelems * sizeof(uint64_t)),
                    0,
                    0,
                    0,
                    0};
    for (uint64_t i = 0; i < p->nelems; i++) {
        const int cx = kit_class(p->value[0][i], has_fill), cy = kit_class(p->value[1][i], has_fill);
        if (!cx && !cy) {
            s.x[s.n] = p->value[0][i], s.y[s.n] = p->value[1][i];
            s.at[s.n++] = i;
        } else if (cx == cy) {
            s.nsame++;
        } else if (s.nmismatch++ == 0) {
            s.first_mismatch = i;
        }
    }
    return s;
}

static inline void kit_sifted_free(kit_sifted *s)
{
    free(s->x);
    free(s->y);
    free(s->at);
}

typedef struct kit_moments {
    kit_real min, max, mean, variance, skewness, kurtosis;
} kit_moments;

static inline kit_moments kit_moments_of(const double *v, uint64_t n)
{
    kit_moments m = {INFINITY, -INFINITY, 0, 0, 0, 0};
    kit_real m3 = 0, m4 = 0, from_first = 0; /* the mean, as its distance from v[0] */
    for (uint64_t i = 0; i < n; i++) {
        m.min = v[i] < m.min ? v[i] : m.min;
        m.max = v[i] > m.max ? v[i] : m.max;
        from_first += ((kit_real)v[i] - v[0]) / n;
    }
    m.mean = v[0] + from_first;
    for (uint64_t i = 0; i < n; i++) {
        const kit_real d = ((kit_real)v[i] - v[0]) - from_first;
        m.variance += d * d / (kit_real)n;
        m3 += d * d * d / (kit_real)n;
        m4 += d * d * d * d / (kit_real)n;
    }
    m.variance = m.max > m.min ? m.variance : 0;
    m.skewness = m.max > m.min ? m3 / powl(m.variance, 1.5L) : NAN;
    m.kurtosis = m.max > m.min ? m4 / (m.variance * m.variance) : NAN;
    return m;
}

/* ---- comparing ----------------------------------------------------------------------------------------------------- */

static char kit_case[128]; /* what is being compared, for messages */

/* The metric is `want`, to a relative error of `tolerance` of the larger of itself and `scale`. */
static inline void kit_metric(const floe_assess_report *r, const char *alias, kit_real want, kit_real scale,
                              kit_real tolerance)
{
    uint32_t number;
    assert_int_equal(floe_metric_find(alias, &number), FLOE_OK);
    const double got = floe_metric_value(r, number);
    const kit_real size = fabsl(want) > scale ? fabsl(want) : scale;
    if (isnan(want) ? !isnan(got) : isinf(want) ? got != (double)want : !(fabsl(got - want) <= tolerance * size))
        fail_msg("%s: %s is %.17g, not %.17Lg", kit_case, alias, got, want);
}

#endif
