/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that hurt, and exact checks of what came back. Values are bit patterns (f32: the low 32 bits), so that a NaN stays
 * the NaN that it is. The checks share no formula with the library. */
#ifndef FLOE_TESTS_HOSTILE_KIT_H
#define FLOE_TESTS_HOSTILE_KIT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <floe/floe.h>

#define HOSTILE_COUNT(a) (sizeof(a) / sizeof((a)[0]))

static inline uint64_t hostile_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}
static inline uint64_t hostile_below(uint64_t *state, uint64_t n) { return hostile_random(state) % n; }
static inline double hostile_uniform(uint64_t *state) { return (double)(hostile_random(state) >> 11) * 0x1p-53; }

static inline bool hostile_is_integer(floe_dtype dtype) { return dtype == FLOE_I32 || dtype == FLOE_I64; }
static inline bool hostile_is_narrow(floe_dtype dtype) { return dtype == FLOE_F32 || dtype == FLOE_I32; }

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

static inline int64_t hostile_integer(floe_dtype dtype, uint64_t bits)
{
    return dtype == FLOE_I32 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits;
}

static inline double hostile_value(floe_dtype dtype, uint64_t bits)
{
    if (hostile_is_integer(dtype))
        return (double)hostile_integer(dtype, bits);
    if (dtype == FLOE_F32) {
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, sizeof f);
        return (double)f;
    }
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static inline uint64_t hostile_bits(floe_dtype dtype, double v)
{
    uint64_t bits = 0;
    if (hostile_is_integer(dtype)) {
        double most = dtype == FLOE_I32 ? 2147483647.0 : 0x1p62;
        int64_t i = (int64_t)(v > most ? most : v < -most ? -most : v);
        return dtype == FLOE_I32 ? (uint32_t)i : (uint64_t)i;
    }
    if (dtype == FLOE_F32) {
        float f = v > 3.4028234663852886e38 ? INFINITY : v < -3.4028234663852886e38 ? -INFINITY : (float)v;
        memcpy(&bits, &f, sizeof f); /* little-endian, as all machines that run the tests */
        return bits & 0xFFFFFFFFu;
    }
    memcpy(&bits, &v, sizeof v);
    return bits;
}

static inline uint64_t hostile_get(floe_dtype dtype, const void *data, int64_t i)
{
    uint64_t b = 0;
    uint32_t w;
    if (floe_dtype_size(dtype) == 8) {
        memcpy(&b, (const char *)data + 8 * i, 8);
        return b;
    }
    memcpy(&w, (const char *)data + 4 * i, 4);
    return w;
}

static inline void hostile_put(floe_dtype dtype, void *data, int64_t i, uint64_t bits)
{
    uint32_t w = (uint32_t)bits;
    if (floe_dtype_size(dtype) == 8)
        memcpy((char *)data + 8 * i, &bits, 8);
    else
        memcpy((char *)data + 4 * i, &w, 4);
}

static inline uint64_t hostile_sign(floe_dtype dtype) { return (uint64_t)1 << (hostile_is_narrow(dtype) ? 31 : 63); }
static inline uint64_t hostile_exponent(floe_dtype dtype)
{
    return hostile_is_narrow(dtype) ? 0x7F800000u : 0x7FF0000000000000u;
}

/* NaNs with payloads, both infinities, both zeros, both ends of the subnormals, the largest: the patterns that code forgets. */
static inline uint64_t hostile_special(floe_dtype dtype, uint64_t pick)
{
    uint64_t sign = pick & 1 ? hostile_sign(dtype) : 0, exponent = hostile_exponent(dtype);
    uint64_t one = hostile_is_narrow(dtype) ? 0x3F800000u : 0x3FF0000000000000u;
    uint64_t least = hostile_is_narrow(dtype) ? 0x00800000u : 0x0010000000000000u; /* least normal number */
    const uint64_t magnitude[] = {0,
                                  1,
                                  2,
                                  least - 1,
                                  least,
                                  least + 1,
                                  one - 1,
                                  one,
                                  one + 1,
                                  exponent,
                                  exponent + 1,
                                  exponent | (least >> 1),
                                  exponent | (least - 1),
                                  exponent - 1,
                                  exponent | 0x12345};
    return sign | magnitude[pick / 2 % HOSTILE_COUNT(magnitude)];
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

typedef enum hostile_kind {
    HOSTILE_SMOOTH,       /* what compressors like */
    HOSTILE_NOISE,        /* uniform in 1000 bounds either way */
    HOSTILE_CONSTANT,     /* one value */
    HOSTILE_ZERO,         /* +0 */
    HOSTILE_NAN,          /* one NaN throughout */
    HOSTILE_FILLED,       /* only fill */
    HOSTILE_CHECKERBOARD, /* every other value NaN */
    HOSTILE_HALF_STEPS,   /* odd multiples of the bound, a pattern up or down */
    HOSTILE_OFFSET,       /* noise of a few bounds on a value whose last place is as coarse as the bound, or coarser */
    HOSTILE_SUBNORMAL,    /* the least numbers, either sign */
    HOSTILE_SPECIAL,      /* patterns that code forgets, beside each other */
    HOSTILE_BITS,         /* any pattern */
    HOSTILE_WALK,         /* a random walk */
    HOSTILE_SPIKES,       /* quiet, with rare enormous values */
    HOSTILE_SIGNS,        /* equal magnitudes, random signs; and zeros of both signs */
    HOSTILE_FEW,          /* a handful of values */
    HOSTILE_RAMP,         /* exact multiples of the bound, rising */
    HOSTILE_LIMITS,       /* codes at 2^22 and 2^51, where they end */
    HOSTILE_PATCHES,      /* stretches of any of the above */
    HOSTILE_KINDS
} hostile_kind;

/* What a field is made for. */
typedef struct hostile_plan {
    floe_dtype dtype;
    double bound; /* absolute; values are chosen around it */
    uint64_t fill;
    uint64_t state;
    double walk;
} hostile_plan;

static inline uint64_t hostile_near(hostile_plan *p, double v)
{
    return hostile_bits(p->dtype, v) + hostile_below(&p->state, 5) - 2;
}

static inline double hostile_limit(hostile_plan *p)
{
    double top = p->dtype == FLOE_F32 ? 0x1p22 : 0x1p51;
    double v = (top + (double)hostile_below(&p->state, 9) - 4) * 2 * p->bound;
    return hostile_random(&p->state) & 1 ? -v : v;
}

static inline uint64_t hostile_one(hostile_plan *p, hostile_kind kind, uint64_t i)
{
    const floe_dtype t = p->dtype;
    const double b = p->bound;
    uint64_t *s = &p->state, r = hostile_random(s);
    switch (kind) {
    case HOSTILE_SMOOTH: return hostile_bits(t, b * (300 * sin((double)i * 0.013) + 200 * cos((double)(i % 97) * 0.1)));
    case HOSTILE_NOISE: return hostile_bits(t, b * 2000 * (hostile_uniform(s) - 0.5));
    case HOSTILE_CONSTANT: return hostile_bits(t, 42.5);
    case HOSTILE_ZERO: return 0;
    case HOSTILE_NAN: return hostile_special(t, 22);
    case HOSTILE_FILLED: return p->fill;
    case HOSTILE_CHECKERBOARD: return i & 1 ? hostile_special(t, 23) : hostile_bits(t, b * (double)(i % 1000));
    case HOSTILE_HALF_STEPS: return hostile_near(p, b * (double)((int64_t)(r % 20001) - 10000));
    case HOSTILE_OFFSET: {
        double place = b * (t == FLOE_F32 ? 0x1p23 : 0x1p52) * (double)(1u << r % 4) / 4;
        return hostile_bits(t, place + b * 20 * hostile_uniform(s));
    }
    case HOSTILE_SUBNORMAL: return (r & hostile_sign(t)) | (r >> 8) % ((uint64_t)1 << (r & 7) * 3);
    case HOSTILE_SPECIAL: return hostile_special(t, r);
    case HOSTILE_BITS: return hostile_is_narrow(t) ? r & 0xFFFFFFFFu : r;
    case HOSTILE_WALK: p->walk += b * 8 * (hostile_uniform(s) - 0.5); return hostile_bits(t, p->walk);
    case HOSTILE_SPIKES: return hostile_bits(t, r % 97 ? b * hostile_uniform(s) : b * 1e9 * hostile_uniform(s));
    case HOSTILE_SIGNS: return (r % 5 ? hostile_bits(t, 3 * b) : 0) | (r & hostile_sign(t));
    case HOSTILE_FEW: return hostile_bits(t, b * (double)(r % 5) * 7.3);
    case HOSTILE_RAMP: return hostile_bits(t, 2 * b * (double)i);
    case HOSTILE_LIMITS: return hostile_bits(t, hostile_limit(p));
    default: return r % 7 == 0 ? p->fill : hostile_one(p, (hostile_kind)((i >> 5) * 7 % HOSTILE_PATCHES), i);
    }
}

/* n elements at data, contiguous. */
static inline void hostile_fill(floe_dtype dtype, hostile_kind kind, uint64_t n, double bound, uint64_t fill,
                                uint64_t seed, void *data)
{
    hostile_plan p = {dtype, bound, fill, seed, 0};
    for (uint64_t i = 0; i < n; i++)
        hostile_put(dtype, data, (int64_t)i, hostile_one(&p, kind, i));
}

/* ---- exact checks ------------------------------------------------------------------------------------------------ */

/*
 * |x - y| <= bound, exactly, for finite x, y. s = x - y rounded; rounding is monotonic and bound is a number of the same
 * kind, so s < bound and s > bound say the same of the exact difference. Where s == bound the rest e of a two-sum decides.
 */
static inline bool hostile_within(double x, double y, double bound)
{
    double s = x - y, size = s < 0 ? -s : s;
    if (size != bound)
        return size < bound; /* false for NaN */
    double t = s - x, e = (x - (s - t)) + (-y - t);
    return s < 0 ? e >= 0 : e <= 0;
}

/*
 * |x - y| <= bound * |x|, exactly, for finite x, y. The same, with both sides rounded to long double, whose exponents
 * have room for every product; where they are equal their rests are compared.
 */
static inline bool hostile_within_relative(double x, double y, double bound)
{
    long double a = x < 0 ? -(long double)x : (long double)x, b = x < 0 ? -(long double)y : (long double)y;
    long double s = a - b, p = (long double)bound * a, size = s < 0 ? -s : s;
    if (size != p)
        return size < p;
    long double t = s - a, e = (a - (s - t)) + (-b - t), rest = fmal((long double)bound, a, -p);
    return (s < 0 ? -e : e) <= rest;
}

/* What a bound promises of a value. */
typedef struct hostile_promise {
    floe_dtype dtype;
    floe_bound_mode mode; /* ABS, PWREL, LOSSLESS; RATE and PREC, which promise of finite values that they stay so */
    double bound;
    bool has_fill;
    uint64_t fill;
} hostile_promise;

static inline bool hostile_kept_integer(const hostile_promise *p, uint64_t x, uint64_t y)
{
    int64_t a = hostile_integer(p->dtype, x), b = hostile_integer(p->dtype, y);
    uint64_t distance = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    if (p->mode == FLOE_BOUND_LOSSLESS || (p->has_fill && x == p->fill))
        return false;
    return p->mode != FLOE_BOUND_ABS || (long double)distance <= (long double)p->bound;
}

static inline bool hostile_kept(const hostile_promise *p, uint64_t x, uint64_t y)
{
    if (x == y)
        return true;
    if (hostile_is_integer(p->dtype))
        return hostile_kept_integer(p, x, y);
    if (p->mode == FLOE_BOUND_LOSSLESS || (x & hostile_exponent(p->dtype)) == hostile_exponent(p->dtype) ||
        x == hostile_sign(p->dtype) || (p->has_fill && x == p->fill))
        return false;
    double a = hostile_value(p->dtype, x), b = hostile_value(p->dtype, y);
    if (p->mode == FLOE_BOUND_RATE || p->mode == FLOE_BOUND_PREC)
        return isfinite(b);
    return p->mode == FLOE_BOUND_ABS ? hostile_within(a, b, p->bound)
                                     : a != 0 && hostile_within_relative(a, b, p->bound);
}

/* The first of n contiguous elements that breaks the promise, or n. */
static inline uint64_t hostile_broken(const hostile_promise *p, const void *x, const void *y, uint64_t n)
{
    uint64_t i = 0;
    while (i < n && hostile_kept(p, hostile_get(p->dtype, x, (int64_t)i), hostile_get(p->dtype, y, (int64_t)i)))
        i++;
    return i;
}

#endif
