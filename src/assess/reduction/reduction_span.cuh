/* SPDX-License-Identifier: BSD-3-Clause */
/* The least and the greatest of some values of both sides. */
#ifndef FLOE_ASSESS_REDUCTION_SPAN_CUH
#define FLOE_ASSESS_REDUCTION_SPAN_CUH

#include "assess/reduction/reduction_records.cuh"

/* Least above most: there are none. */
template <typename T> struct floe_reduction_span {
    T least[2], most[2]; /* of x, of y */
};

/* A span of f32 of which none is 0 or NaN, by their bits, as the largest of three whole numbers is found at once. Of x, of y: with
 * a sign, the largest is the most if any number is above 0; without, it is the least if any is below. Where none is, that is the
 * one that is closest to 0. */
struct floe_reduction_bounds {
    int32_t most[2];
    uint32_t least[2];
    float closest[2]; /* its magnitude */
};

template <typename T> FLOE_DEV floe_reduction_span<T> floe_reduction_span_none()
{
    const T most = floe_reduction_infinity<T>();
    return floe_reduction_span<T>{{most, most}, {-most, -most}};
}

FLOE_DEV floe_reduction_bounds floe_reduction_bounds_none()
{
    const float most = floe_reduction_infinity<float>();
    return floe_reduction_bounds{{INT32_MIN, INT32_MIN}, {0, 0}, {most, most}};
}

template <typename T> FLOE_DEV void floe_reduction_span_add(floe_reduction_span<T> *s, T x, T y)
{
    s->least[0] = min(s->least[0], x), s->most[0] = max(s->most[0], x);
    s->least[1] = min(s->least[1], y), s->most[1] = max(s->most[1], y);
}

template <typename T> FLOE_DEV void floe_reduction_span_join(floe_reduction_span<T> *s, const floe_reduction_span<T> *t)
{
#pragma unroll
    for (int side = 0; side < 2; side++) {
        s->least[side] = min(s->least[side], t->least[side]);
        s->most[side] = max(s->most[side], t->most[side]);
    }
}

FLOE_DEV int32_t floe_reduction_top3(int32_t a, int32_t b, int32_t c)
{
#ifdef FLOE_EMULATED
    return max(max(a, b), c);
#else
    return __vimax3_s32(a, b, c);
#endif
}
FLOE_DEV uint32_t floe_reduction_top3(uint32_t a, uint32_t b, uint32_t c)
{
#ifdef FLOE_EMULATED
    return max(max(a, b), c);
#else
    return __vimax3_u32(a, b, c);
#endif
}

/* The bounds of a side. Returns a magnitude that none is above, unless one is NaN. */
FLOE_DEV float floe_reduction_side_bounds(const float *v, float low, int side, floe_reduction_bounds *b)
{
    uint32_t bits[FLOE_REDUCTION_GROUP];
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
        bits[j] = floe_bits_f32(v[j]);
    b->most[side] = max((int32_t)bits[0], (int32_t)bits[1]), b->least[side] = max(bits[0], bits[1]);
#pragma unroll
    for (int j = 2; j < FLOE_REDUCTION_GROUP; j += 2) {
        b->most[side] = floe_reduction_top3(b->most[side], (int32_t)bits[j], (int32_t)bits[j + 1]);
        b->least[side] = floe_reduction_top3(b->least[side], bits[j], bits[j + 1]);
    }
    b->closest[side] = low;
    return max(fabs(floe_f32_of((uint32_t)b->most[side])), fabs(floe_f32_of(b->least[side])));
}

#endif
