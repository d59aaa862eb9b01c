/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that a float can hold and a compressor can trip over, as bit patterns of the dtype: a signalling NaN must
 * never pass through a conversion. The index is cut into stretches; each is of one class, or of several mixed. */
#include "synth_plan.h"

#define STRETCH 47 /* elements; odd, so that stretches straddle vectors, blocks and tiles in every way */

/* An IEEE format: the bits of the mantissa and of the exponent. */
typedef struct layout {
    uint32_t nmant;
    uint32_t nexp;
} layout;

static uint64_t mant_mask(layout l) { return (UINT64_C(1) << l.nmant) - 1; }
static uint64_t exp_max(layout l) { return (UINT64_C(1) << l.nexp) - 1; }

static uint64_t pattern(layout l, uint64_t sign, uint64_t exponent, uint64_t mant)
{
    return (sign & 1) << (l.nmant + l.nexp) | exponent << l.nmant | (mant & mant_mask(l));
}

enum {
    NAN_QUIET,
    NAN_SIGNALLING,
    INFINITE,
    ZERO,
    SUBNORMAL,
    HUGE_OR_TINY,
    EDGE,
    ANY_BITS,
    NSPECIALS,
    MIXED = NSPECIALS,
    SPECKED, /* smooth, with one special in eight */
    SUBNORMAL_RAMP,
    SMOOTH, /* and every number above */
    NCLASSES = SMOOTH + 5
};

/* The last value on this side of a border: the largest, the smallest normal, the largest and the smallest subnormal, 1,
 * its neighbours, and -1 beside them by sign. */
static uint64_t edge(layout l, uint64_t h)
{
    uint64_t one = exp_max(l) >> 1;
    uint64_t sign = h >> 63;
    switch (h % 7) {
    case 0: return pattern(l, sign, exp_max(l) - 1, mant_mask(l));
    case 1: return pattern(l, sign, 1, 0);
    case 2: return pattern(l, sign, 0, mant_mask(l));
    case 3: return pattern(l, sign, 0, 1);
    case 4: return pattern(l, sign, one, 0);
    case 5: return pattern(l, sign, one, 1);
    default: return pattern(l, sign, one - 1, mant_mask(l));
    }
}

/* One element of a special class. Bit 62 of the hash decides between huge and tiny; payloads are never 0, which would be infinity. */
static uint64_t special(layout l, uint32_t class, uint64_t h)
{
    uint64_t sign = h >> 63;
    uint64_t quiet = UINT64_C(1) << (l.nmant - 1);
    uint64_t near = h >> 56 & 3;
    switch (class) {
    case NAN_QUIET: return pattern(l, sign, exp_max(l), h | quiet);
    case NAN_SIGNALLING: return pattern(l, sign, exp_max(l), (h & (quiet - 1)) | 1);
    case INFINITE: return pattern(l, sign, exp_max(l), 0);
    case ZERO: return pattern(l, sign, 0, 0);
    case SUBNORMAL: return pattern(l, sign, 0, (h & mant_mask(l)) >> (h >> 57 & 15));
    case HUGE_OR_TINY: return pattern(l, sign, h >> 62 & 1 ? exp_max(l) - 1 - near : 1 + near, h);
    case EDGE: return edge(l, h);
    default: return h & (pattern(l, 1, exp_max(l), mant_mask(l)));
    }
}

/* 100 cos of an angle that turns once in about 300 elements. */
static uint64_t smooth(floe_dtype dtype, uint64_t index)
{
    double c, s;
    uint64_t bits;
    uint32_t word;
    synth_cos_sin(index * (UINT64_MAX / 300), &c, &s);
    double value = 100 * c;
    float rounded = (float)value;
    memcpy(&word, &rounded, sizeof word);
    memcpy(&bits, &value, sizeof bits);
    return floe_dtype_size(dtype) == 4 ? word : bits;
}

static uint64_t element(const synth_plan *plan, layout l, uint64_t index)
{
    uint64_t stretch = synth_hash(plan->key, index / STRETCH);
    uint64_t h = synth_hash(stretch, index % STRETCH);
    uint32_t class = (uint32_t)(stretch % NCLASSES);
    if (class < NSPECIALS)
        return special(l, class, h);
    if (class == MIXED || (class == SPECKED && (h >> 40 & 7) == 0))
        return special(l, (uint32_t)(synth_mix(h) % NSPECIALS), h);
    if (class == SUBNORMAL_RAMP)
        return pattern(l, stretch >> 63, 0, index % STRETCH);
    return smooth(plan->dtype, index);
}

void synth_hostile_bits(const synth_plan *plan, const synth_span *span, uint64_t *out)
{
    layout l = floe_dtype_size(plan->dtype) == 4 ? (layout){23, 8} : (layout){52, 11};
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = element(plan, l, span->index + i);
}
