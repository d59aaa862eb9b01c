/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the points of a line flow through the liftings of a bank while they are read pair by pair: how many pairs each lifting is behind, and
 * how many points of each stream a kernel must keep in registers. The compiler computes all of it.
 */
#ifndef FLOE_STAGE_WAVELET_WAVELET_FLOW_CUH
#define FLOE_STAGE_WAVELET_WAVELET_FLOW_CUH

#include "stage/wavelet/wavelet_banks.h"

namespace
{

enum {
    STREAMS = 2 + FLOE_WAVELET_LIFTS,
    KEPT = FLOE_WAVELET_TAPS, /* points of a stream, at most */
    FAR_LEFT = -3             /* the first tap of a stencil, at least */
};

/* A stream is a sequence of points of one parity: 0 and 1 as they are read, 2 + k as lifting k of the pass makes them. */
struct lifting {
    bool to_odd, may_be_one_sided;
    int32_t first, ntaps;
    int32_t lo, hi;   /* the points that must be there, counted from a point's own number */
    int32_t from, to; /* streams */
    floe_real weight[FLOE_WAVELET_TAPS];
};

struct flow {
    lifting lift[FLOE_WAVELET_LIFTS];
    int32_t nlifts;
    int32_t behind[STREAMS],
        size[STREAMS];    /* how many pairs a stream is behind what is read; how many points it keeps */
    int32_t out[2], lag;  /* the streams of finished evens and odds; how many pairs they are behind */
    int32_t around;       /* pairs on each side that a finished pair depends on */
    int32_t lo[2], hi[2]; /* the farthest evens and odds that a lifting reads */
};

constexpr int32_t most(int32_t a, int32_t b) { return a > b ? a : b; }

constexpr lifting lifting_of(const floe_wavelet_lifting &bank, uint32_t number, bool inverse, const int32_t now[2])
{
    const floe_wavelet_lift &l = bank.lift[number];
    lifting s = {};
    s.to_odd = l.to_odd;
    s.may_be_one_sided = number == 0 && l.to_odd;
    s.first = l.first;
    s.ntaps = (int32_t)l.ntaps;
    s.lo = l.first;
    s.hi = l.first + s.ntaps - 1;
    if (s.may_be_one_sided) {
        s.lo = s.ntaps > 2 ? -most(2, -s.lo) : -1;
        s.hi = s.ntaps > 2 ? most(3, s.hi) : s.hi;
    }
    s.hi = most(s.hi, s.to_odd ? -s.first : -1 - s.first); /* those whose images lie before the line */
    for (uint32_t t = 0; t < l.ntaps; t++)
        s.weight[t] = (floe_real)(inverse ? -l.weight[t] : l.weight[t]);
    s.from = now[!s.to_odd];
    s.to = now[s.to_odd];
    return s;
}

constexpr flow flow_of(const floe_wavelet_lifting &bank, bool inverse)
{
    flow f = {};
    int32_t now[2] = {0, 1}, far = 0;
    f.nlifts = (int32_t)bank.nlifts;
    for (uint32_t k = 0; k < bank.nlifts; k++) {
        const lifting l = lifting_of(bank, inverse ? bank.nlifts - 1 - k : k, inverse, now);
        const int32_t behind = most(f.behind[l.to], f.behind[l.from] + l.hi), off = l.to_odd ? -1 : 1;
        f.size[l.from] = most(f.size[l.from], behind - f.behind[l.from] - l.lo + 1);
        f.size[l.from] = most(f.size[l.from], l.from < 2 ? 0 : 2 * (l.first + l.ntaps - l.to_odd)); /* images */
        f.size[l.to] = most(f.size[l.to], behind - f.behind[l.to] + 1);
        far += most(-2 * l.lo - off, 2 * l.hi + off);
        f.lo[!l.to_odd] = -most(-f.lo[!l.to_odd], -l.lo);
        f.hi[!l.to_odd] = most(f.hi[!l.to_odd], l.hi);
        f.lift[k] = l;
        f.behind[2 + k] = behind;
        f.size[2 + k] = 1;
        now[l.to_odd] = 2 + (int32_t)k;
    }
    f.around = (far + 1) / 2;
    f.lag = most(f.behind[now[0]], f.behind[now[1]]);
    for (int odd = 0; odd < 2; odd++) {
        f.out[odd] = now[odd];
        f.size[now[odd]] = most(f.size[now[odd]], f.lag - f.behind[now[odd]] + 1);
    }
    return f;
}

template <uint32_t BANK, bool UNDO> struct way {
    static constexpr bool INVERSE = UNDO;
    static constexpr flow FLOW = flow_of(floe_wavelet_banks[BANK], UNDO);
    static constexpr floe_real SCALE =
        (floe_real)(UNDO ? floe_wavelet_banks[BANK].unscale : floe_wavelet_banks[BANK].scale);
};

} // namespace

#endif
