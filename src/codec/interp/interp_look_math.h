/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the tuner's boxes lie: of many places those where values are hard to predict, once for both compilers. Fields are often quiet but
 * for a small part, which then takes most of the bits. Sums of whole numbers, so that no order matters.
 */
#ifndef FLOE_CODEC_INTERP_LOOK_MATH_H
#define FLOE_CODEC_INTERP_LOOK_MATH_H

#include <math.h>

#include "base/hd.h"
#include "stage/interp/interp_shape.h"
#include "stage/quantizer/log_math.h"

enum {
    FLOE_INTERP_BOXES = 16,                                                 /* at most */
    FLOE_INTERP_PLACES = 8,                                                 /* that are looked at for each box */
    FLOE_INTERP_PLACES_MOST = (1 + FLOE_INTERP_PLACES) * FLOE_INTERP_BOXES, /* with even ones */
    FLOE_INTERP_PROBES = 64,                                                /* points of a place */
    FLOE_INTERP_PROBE_BITS = 16,                                            /* of an axis of a probe, at most */
    FLOE_INTERP_QUIET = 8 /* each place has an n-th of the mean weight beside its own */
};

/* Number i of n, of `extent` along an axis: numbers of a lattice, each axis at another pace. */
FLOE_HD uint64_t floe_interp_spread(uint32_t axis, uint64_t extent, uint64_t i, uint64_t n)
{
    const uint64_t pace = axis == 0 ? 5 : axis == 1 ? 3 : axis == 2 ? 7 : 1;
    return extent * ((2 * i * pace + 1) % (2 * n)) / (2 * n);
}

/* Where a place begins in a field of these strides. Places: first one for each box, evenly, then those that are looked at. */
FLOE_HD uint32_t floe_interp_nplaces(uint32_t nboxes) { return (1 + FLOE_INTERP_PLACES) * nboxes; }
FLOE_HD int64_t floe_interp_place_at(const uint64_t *field, const uint64_t *part, const int64_t *stride,
                                     uint32_t nboxes, uint32_t place)
{
    const bool even = place < nboxes;
    const uint64_t i = even ? place : place - nboxes, n = even ? nboxes : FLOE_INTERP_PLACES * (uint64_t)nboxes;
    int64_t at = 0;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        at += (int64_t)floe_interp_spread(a, field[a] - part[a], i, n) * stride[a];
    return at;
}

/* How far from a probe the values lie that predict it along an axis: so far, and three times. 0: too few. */
FLOE_HD uint64_t floe_interp_probe_reach(uint64_t extent) { return extent >= 13 ? 2 : extent >= 7 ? 1 : 0; }
/* A probe, from where its place begins on. */
FLOE_HD int64_t floe_interp_probe_at(const uint64_t *part, const int64_t *stride, uint32_t probe)
{
    int64_t at = 0;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        const uint64_t reach = 3 * floe_interp_probe_reach(part[a]);
        at += (int64_t)(reach + floe_interp_spread(a, part[a] - 2 * reach, probe, FLOE_INTERP_PROBES)) * stride[a];
    }
    return at;
}

/* A value as lattices have it, about; NaN of one that is apart. */
FLOE_HD double floe_interp_probe_value(double v, bool is_fill, bool log)
{
    const double size = v < 0 ? -v : v;
    if (is_fill)
        return NAN;
    return !log ? v : size >= 0x1p-960 && size <= 0x1p1000 ? floe_log2(size) : NAN;
}

/* Bits of a value that is predicted by those before and after it, about; inverse: 1 / bound. NaN takes none. */
FLOE_HD uint32_t floe_interp_probe_bits(double v, double before, double after, double far_before, double far_after,
                                        double inverse)
{
    const double off = v - ((before + after) * 0.5625 - (far_before + far_after) * 0.0625),
                 size = (off < 0 ? -off : off) * inverse;
    uint32_t bits = 0;
    for (double q = 0.5; bits < FLOE_INTERP_PROBE_BITS && size > q && size < 0x1p1000; q *= 2)
        bits++;
    return bits;
}

typedef struct floe_interp_places {
    uint8_t place[FLOE_INTERP_BOXES]; /* of each box */
    double share;                     /* what a value of the field takes to one of the boxes, about */
} floe_interp_places;

/* bits: of each place. A place's share of boxes is its share of the weights; no two boxes have one place. evenly: even places will do,
 * unless they have less than half of the mean. */
FLOE_HD floe_interp_places floe_interp_places_of(const uint32_t *bits, uint32_t nboxes, bool evenly)
{
    const uint32_t n = FLOE_INTERP_PLACES * nboxes;
    floe_interp_places p;
    uint64_t sum = 0, even = 0, own = 0, taken[] = {0, 0};
    uint32_t at = 0;
    for (uint32_t b = 0; b < nboxes; b++) {
        even += bits[b];
        p.place[b] = (uint8_t)b;
    }
    bits += nboxes;
    for (uint32_t i = 0; i < n; i++)
        sum += bits[i];
    p.share = 1;
    if (evenly && 2 * FLOE_INTERP_PLACES * even >= sum)
        return p;
    const uint64_t quiet = sum / (FLOE_INTERP_QUIET * (uint64_t)n) + 1, all = sum + n * quiet;
    uint64_t upto = bits[0] + quiet;
    for (uint32_t b = 0; b < nboxes; b++) {
        while (upto * 2 * nboxes <= (2 * (uint64_t)b + 1) * all)
            upto += bits[++at] + quiet;
        uint32_t place = at;
        while ((place < 64 ? taken[0] : taken[1]) >> place % 64 & 1)
            place = place + 1 < n ? place + 1 : 0;
        taken[0] |= place < 64 ? (uint64_t)1 << place : 0;
        taken[1] |= place < 64 ? 0 : (uint64_t)1 << place % 64;
        p.place[b] = (uint8_t)(nboxes + place);
        own += bits[place] + quiet;
    }
    p.share = (double)all / FLOE_INTERP_PLACES / (double)own;
    return p;
}

#endif
