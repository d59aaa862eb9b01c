/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formulas of look.h, once for both compilers. Sums of whole numbers, so that no order matters.
 */
#ifndef FLOE_FIELD_LOOK_MATH_H
#define FLOE_FIELD_LOOK_MATH_H

#include <math.h>
#include <stdbool.h>

#include "base/hd.h"
#include "base/log_math.h"

enum {
    FLOE_LOOK_RANK = 4,
    FLOE_LOOK_BOXES = 32,                                      /* at most */
    FLOE_LOOK_EACH = 8,                                        /* places that are looked at for a box */
    FLOE_LOOK_PLACES = (FLOE_LOOK_EACH + 1) * FLOE_LOOK_BOXES, /* at most, with even ones */
    FLOE_LOOK_PROBES = 64,                                     /* points of a place */
    FLOE_LOOK_ONE = 64, /* places for one large box, or for a few, and their probes */
    FLOE_LOOK_ONE_PROBES = 256,
    FLOE_LOOK_BITS = 16,      /* of an axis of a probe, at most */
    FLOE_LOOK_AXIS_BITS = 16, /* the width of the sum of an axis, of up to 4095 probes */
    FLOE_LOOK_QUIET = 8       /* each place has an n-th of the mean weight beside its own */
};

typedef struct floe_look {
    uint64_t shape[FLOE_LOOK_RANK],
        part[FLOE_LOOK_RANK]; /* of the field and of a box, slowest axis first, ones in front */
    const void *data;
    int64_t stride[FLOE_LOOK_RANK]; /* in values */
    bool narrow, log, integer;      /* values of 4 bytes; whose logarithms are coded; that are integers */
    uint64_t fill;                  /* the pattern of what is stored apart */
    double center;                  /* is subtracted, as type of the values */
    double inverse;                 /* 1 / bound */
    uint32_t nboxes, each, nprobes; /* each: places for a box; nprobes: of a place, a multiple of FLOE_LOOK_PROBES */
    bool evenly;                    /* boxes lie evenly, unless that is where the field is quiet */
} floe_look;

/* ---- where places and probes lie ------------------------------------------------------------------------------------------ */

/* Number i of n, of `extent` along an axis: numbers of a lattice, each axis at another pace. That is no factor of n, as far as n is a
 * number of boxes, or FLOE_LOOK_EACH times that. */
FLOE_HD uint64_t floe_look_spread(uint32_t axis, uint64_t extent, uint64_t i, uint64_t n)
{
    uint64_t pace = axis == 0 ? 5 : axis == 1 ? 3 : axis == 2 ? 7 : 1;
    if (pace > 1 && n % pace == 0)
        pace = axis == 0 ? 11 : axis == 1 ? 13 : 17;
    return extent * ((2 * i * pace + 1) % (2 * n)) / (2 * n);
}

/* Even places are the last ones. */
FLOE_HD uint32_t floe_look_nplaces(const floe_look *l) { return (l->each + l->evenly) * l->nboxes; }
FLOE_HD uint64_t floe_look_lo(const floe_look *l, uint32_t place, uint32_t axis)
{
    const uint32_t n = l->each * l->nboxes;
    const uint64_t room = l->shape[axis] - l->part[axis];
    return place < n ? floe_look_spread(axis, room, place, n) : floe_look_spread(axis, room, place - n, l->nboxes);
}
FLOE_HD int64_t floe_look_at(const floe_look *l, uint32_t place)
{
    int64_t at = 0;
    for (uint32_t a = 0; a < FLOE_LOOK_RANK; a++)
        at += (int64_t)floe_look_lo(l, place, a) * l->stride[a];
    return at;
}

/* How far from a probe the values lie that predict it along an axis: so far, and three times. 0: too few. */
FLOE_HD uint64_t floe_look_reach(uint64_t extent) { return extent >= 13 ? 2 : extent >= 7 ? 1 : 0; }

/* ---- bits ----------------------------------------------------------------------------------------------------------------- */

FLOE_HD uint64_t floe_look_load(const floe_look *l, int64_t at)
{
#if defined(__CUDA_ARCH__)
    return l->narrow ? ((const uint32_t *)l->data)[at] : ((const uint64_t *)l->data)[at];
#else /* of any alignment */
    uint64_t wide = 0;
    uint32_t narrow = 0;
    if (l->narrow)
        memcpy(&narrow, (const uint8_t *)l->data + 4 * at, sizeof narrow);
    else
        memcpy(&wide, (const uint8_t *)l->data + 8 * at, sizeof wide);
    return l->narrow ? narrow : wide;
#endif
}
/* A value as codecs predict it, about; NaN of one that is apart. */
FLOE_HD double floe_look_value(const floe_look *l, int64_t at)
{
    const uint64_t bits = floe_look_load(l, at);
    const double v = l->integer  ? (double)(l->narrow ? (int32_t)(uint32_t)bits : (int64_t)bits)
                     : l->narrow ? (double)(floe_f32_of((uint32_t)bits) - (float)l->center)
                                 : floe_f64_of(bits) - l->center,
                 size = v < 0 ? -v : v;
    if (bits == l->fill)
        return NAN;
    return !l->log ? v : size >= 0x1p-960 && size <= 0x1p1000 ? floe_log2(size) : NAN;
}

/* Bits of a value that a cubic is off by so much, about. NaN takes none. */
FLOE_HD uint32_t floe_look_bits(double off, double inverse)
{
    enum { ZERO = 1021, LARGE = 2023 }; /* exponents: below 1/2, and what is no number one could code */
    const uint32_t exponent = (uint32_t)(floe_bits_f64(off * inverse) >> 52) & 2047;
    const uint32_t bits = exponent > ZERO && exponent < LARGE ? exponent - ZERO : 0;
    return bits < FLOE_LOOK_BITS ? bits : FLOE_LOOK_BITS;
}

/* Bits of all axes lie side by side in one number, so that sums of it are sums of each. */
FLOE_HD uint64_t floe_look_along(uint64_t bits, uint32_t axis)
{
    return bits >> (FLOE_LOOK_AXIS_BITS * axis) & (((uint64_t)1 << FLOE_LOOK_AXIS_BITS) - 1);
}
FLOE_HD uint64_t floe_look_total(uint64_t bits)
{
    return floe_look_along(bits, 0) + floe_look_along(bits, 1) + floe_look_along(bits, 2) + floe_look_along(bits, 3);
}

/* Of a probe of the place that begins with value `at`: along each axis, predicted by those before and after it. */
FLOE_HD uint64_t floe_look_probe(const floe_look *l, int64_t at, uint32_t probe)
{
    uint64_t bits = 0;
    for (uint32_t a = 0; a < FLOE_LOOK_RANK; a++) {
        const uint64_t reach = 3 * floe_look_reach(l->part[a]);
        at += (int64_t)(reach + floe_look_spread(a, l->part[a] - 2 * reach, probe, l->nprobes)) * l->stride[a];
    }
    const double v = floe_look_value(l, at);
    for (uint32_t a = 0; a < FLOE_LOOK_RANK; a++) {
        const int64_t far = (int64_t)floe_look_reach(l->part[a]) * l->stride[a];
        if (far) {
            const double near_two = floe_look_value(l, at - far) + floe_look_value(l, at + far),
                         far_two = floe_look_value(l, at - 3 * far) + floe_look_value(l, at + 3 * far);
            bits |= (uint64_t)floe_look_bits(v - (near_two * 0.5625 - far_two * 0.0625), l->inverse)
                    << (FLOE_LOOK_AXIS_BITS * a);
        }
    }
    return bits;
}

/* ---- boxes ---------------------------------------------------------------------------------------------------------------- */

typedef struct floe_look_boxes {
    uint16_t place[FLOE_LOOK_BOXES]; /* of each box */
    double share;                    /* what a value of the field takes to one of the boxes, about */
} floe_look_boxes;

/* bits: of each place. A place's share of boxes is its share of the weights; no two boxes have one place. Even places will do, unless they
 * have less than half of the mean. */
FLOE_HD floe_look_boxes floe_look_choose(const floe_look *l, const uint64_t *bits)
{
    const uint32_t n = l->each * l->nboxes;
    floe_look_boxes to;
    uint64_t sum = 0, even = 0, own = 0, taken[(FLOE_LOOK_PLACES + 63) / 64] = {0};
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += floe_look_total(bits[i]);
    for (uint32_t b = 0; b < l->nboxes && l->evenly; b++) {
        even += floe_look_total(bits[n + b]);
        to.place[b] = (uint16_t)(n + b);
    }
    to.share = 1;
    if (l->evenly && 2 * l->each * even >= sum)
        return to;
    const uint64_t quiet = sum / (FLOE_LOOK_QUIET * (uint64_t)n) + 1, all = sum + n * quiet;
    uint64_t upto = floe_look_total(bits[0]) + quiet;
    for (uint32_t b = 0; b < l->nboxes; b++) {
        while (upto * 2 * l->nboxes <= (2 * (uint64_t)b + 1) * all)
            upto += floe_look_total(bits[++at]) + quiet;
        uint32_t place = at;
        while (taken[place / 64] >> place % 64 & 1)
            place = place + 1 < n ? place + 1 : 0;
        taken[place / 64] |= (uint64_t)1 << place % 64;
        to.place[b] = (uint16_t)place;
        own += floe_look_total(bits[place]) + quiet;
    }
    to.share = (double)all / l->each / (double)own;
    return to;
}

#endif
