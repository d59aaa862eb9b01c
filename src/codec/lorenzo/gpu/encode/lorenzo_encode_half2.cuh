/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding a tile of f32 whose residuals are small, a step at a time, with two of them in a register: numbers of 16
 * bits (halves) hold all integers that are needed as long as no residual has more than SMALL_BITS of them, and take half the
 * additions and registers. A step that has a wider one is done again by lorenzo_encode_plain.cuh, as are those that follow in
 * its tile: the words are the same.
 */
#ifndef FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_HALF2_CUH
#define FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_HALF2_CUH

#include <cuda_fp16.h>

#include "codec/lorenzo/gpu/encode/lorenzo_encode_plain.cuh"

namespace FLOE_LORENZO_ENCODING
{

/* ---- residuals in pairs -------------------------------------------------------------------------------------------- */

enum {
    SMALL_BITS = 10, /* of a half's mantissa, with 1024 added */
    PAIRS = GROUP / 2
};

/* Numbers of a group, twice what they are as number has it. Pair i has those of values first and first + 8, so that
 * byte k of a pair and of the one 8 behind are neighbours in floe_bytes_of_lane. */
FLOE_DEV constexpr int first_of_pair(int i) { return i < 8 ? i : i + 8; }

FLOE_DEV uint32_t bits_of(__half2 v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
FLOE_DEV __half2 pair_of(uint32_t bits)
{
    __half2 v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Residuals of a group: 1024 + u is a half whose low SMALL_BITS bits are u. */
struct small_values {
    uint32_t v[PAIRS];
};

template <int BYTE> FLOE_DEV void floe_bytes_of_lane(const small_values &u, uint32_t bytes[8])
{
#pragma unroll
    for (int j = 0; j < 8; j++)
        bytes[j] = __byte_perm(u.v[j], u.v[j + 8], BYTE == 0 ? 0x6420 : 0x7531);
}

/* 1024 + zigzag of a lifted number. */
FLOE_DEV uint32_t small_zigzag(__half2 v) { return bits_of(__hadd2(__habs2(v), __float2half2_rn(1023.5f))); }
/* Bits of the widest of some, from all of them joined. */
FLOE_DEV uint32_t small_width(uint32_t joined)
{
    return floe_bits_of((joined | joined >> 16) & ((1u << SMALL_BITS) - 1));
}
/* The sum of all of them, from the sum of the words modulo 2^32. */
FLOE_DEV uint32_t small_sum(uint32_t words)
{
    static_assert(PAIRS << SMALL_BITS <= 1 << 16, "nothing goes from the lower half to the upper one");
    const uint32_t sums = words - PAIRS * 0x64006400u;
    return (sums & 0xFFFFu) + (sums >> 16);
}
/* Some is not in [1024, 2048): the residual is wider, or not a number. */
FLOE_DEV bool small_fails(uint32_t joined) { return (joined & 0xFC00FC00u) != 0x64006400u; }

/* Bits k and k + 8 of valid, each as a half's worth of bits, for k = first_of_pair(i). */
FLOE_DEV uint32_t pair_valid(uint32_t valid, int i)
{
    const uint32_t tops = valid << (7 - i % 8); /* the two are the highest ones of their bytes */
#ifdef FLOE_EMULATED
    const uint32_t two = tops >> (i < 8 ? 7 : 23);
    return (two & 1) * 0xFFFFu | (two >> 8 & 1) * 0xFFFF0000u;
#else
    uint32_t r;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(r) : "r"(tops), "r"(i < 8 ? 0x9988 : 0xBBAA));
    return r;
#endif
}

/* ---- a step -------------------------------------------------------------------------------------------------------- */

/* The last pairs of a group, which its last plane is in. */
template <int RANK> struct last_pairs {
    enum { COUNT = RANK == 1 ? 16 : RANK == 2 ? 4 : 8, FIRST = PAIRS - COUNT };
};

/* What goes from one step of a tile to the next, as in step_walk. */
template <int RANK> struct small_walk {
    __half2 before[last_pairs<RANK>::COUNT];
    border b;
    uint32_t at, descriptors, any;
};

/* What pair i would be taken from: p of the plane before each, as value_before has it. first: lane 0 has neither. */
template <int RANK> FLOE_DEV __half2 pair_before(const __half2 p[PAIRS], const __half2 *before, int i, uint32_t first)
{
    __half2 was;
    if (RANK == 1)
        was = before[i];
    else if (RANK == 3)
        was = i < 8 ? before[i] : p[i - 8];
    else if (i % 8 <
             4) /* rows of 4 values: the pair's are in the upper half of one pair and the lower one of another */
        was = pair_of(__byte_perm(bits_of(i < 4 ? before[i] : p[i - 4]), bits_of(p[i + 4]), 0x5432));
    else
        was = p[i - 4];
    const int k = first_of_pair(i), plane = shape<RANK>::PLANE;
    if (k % plane == 0 && (k + 8) % plane == 0)
        was = pair_of(bits_of(was) & (first ? 0u : 0xFFFFFFFFu));
    else if (k % plane == 0)
        was = pair_of(bits_of(was) & (first ? 0xFFFF0000u : 0xFFFFFFFFu));
    return was;
}

struct small_chosen {
    small_values u;
    uint32_t width;
    bool flat, fails;
};

/* The candidate of each value that takes fewer bits, as choose_values has it. p of cells outside is 0. */
template <int RANK, bool WHOLE, bool BY_SUM>
FLOE_DEV small_chosen choose_half2(const __half2 p[PAIRS], const __half2 *before, uint32_t valid)
{
    uint32_t other[PAIRS], deep_bits = 0, flat_bits = 0, deep_words = 0, flat_words = 0;
    const bool first = floe_lane() == 0;
    small_chosen c;
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        const __half2 f = __hadd2(p[i], __float2half2_rn(0.5f)), was = pair_before<RANK>(p, before, i, first);
        const __half2 d = __hsub2(f, WHOLE ? was : pair_of(bits_of(was) & pair_valid(valid, i)));
        c.u.v[i] = small_zigzag(d);
        other[i] = small_zigzag(f);
        deep_bits |= c.u.v[i];
        flat_bits |= other[i];
        if (BY_SUM) {
            deep_words += c.u.v[i];
            flat_words += other[i];
        }
    }
    const uint32_t deep_width = small_width(deep_bits), flat_width = small_width(flat_bits);
    c.fails = small_fails(deep_bits | flat_bits);
    c.flat = flat_width < deep_width ||
             (BY_SUM && flat_width == deep_width && small_sum(flat_words) < small_sum(deep_words));
    c.width = c.flat ? flat_width : deep_width;
#pragma unroll
    for (int i = 0; i < PAIRS; i++)
        c.u.v[i] = c.flat ? other[i] : c.u.v[i];
    return c;
}

/*
 * Numbers need not be looked at one by one to know that all are in range: where no flat residual has more than SMALL_BITS
 * bits, those of a plane differ from its first one by less than 512 * 2^SMALL_BITS, which differs from that of the plane
 * before by less than 2^SMALL_BITS; in rank 1 those of a lane differ from its first one by 32 times that. So the first of
 * each lane in each step will do, with a margin.
 */
FLOE_DEV bool is_near(float twice) { return fabsf(twice) <= 4194304.0f; } /* of 2^23 */

/* From the numbers of a step to its words; false where it has to be done again, or cannot be. */
template <int RANK, bool WHOLE, bool BY_SUM, class Draft>
FLOE_DEV bool code_half2(const plain_work &work, const sink &out, step_in in, const float q[GROUP], small_walk<RANK> &w,
                         const checks &c)
{
    float p[GROUP];
    __half2 pairs[PAIRS];
    border b = w.b;
    differences_of<RANK, 0>(in.mode, q, p, b);
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        pairs[i] = __floats2half2_rn(p[first_of_pair(i)], p[first_of_pair(i) + 8]);
        if (!WHOLE)
            pairs[i] = pair_of(bits_of(pairs[i]) & pair_valid(in.valid, i));
    }
    const small_chosen v = choose_half2<RANK, WHOLE, BY_SUM>(pairs, w.before, in.valid);
    if (__any_sync(FLOE_ALL_LANES, v.fails || !is_near(q[0]) || check_bad(c, reload(work.quantizer.tolerance))))
        return false;
#pragma unroll
    for (int i = 0; i < last_pairs<RANK>::COUNT; i++)
        w.before[i] = pairs[last_pairs<RANK>::FIRST + i];
    w.b.corner = b.corner;
    w.any |= v.width | (uint32_t)v.flat;
    if constexpr (Draft::DRAFTS) {
        Draft::template step<SMALL_BITS>(out, in.s, w.at, v.u, v.width, v.flat);
        return true;
    }
    const uint32_t descriptor = put_step<SMALL_BITS, WHOLE>(out, w.at, v.u, v.width, v.flat, WHOLE || in.valid != 0);
    w.descriptors |= descriptor << (in.s % 2 * 16);
    return true;
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* The same walk for lorenzo_encode_plain.cuh. */
template <int RANK> FLOE_DEV void walk_widen(const small_walk<RANK> &w, step_walk<RANK> &wide)
{
    enum { PLANE = shape<RANK>::PLANE };
    walk_begin(wide, w.at);
    wide.b = w.b;
    wide.descriptors = w.descriptors;
    wide.any = w.any;
#pragma unroll
    for (int k = 0; k < PLANE; k++) {
        const int value = GROUP - PLANE + k, i = value < 16 ? value % 8 : 8 + value % 8;
        const __half2 pair = w.before[i - last_pairs<RANK>::FIRST];
        wide.before[k] = value / 8 % 2 ? __high2float(pair) : __low2float(pair);
    }
}

/* The way back; false where halves do not hold it. */
template <int RANK> FLOE_DEV bool walk_narrow(const step_walk<RANK> &wide, small_walk<RANK> &w)
{
    enum { FROM = last_pairs<RANK>::FIRST, PLANE_FROM = GROUP - shape<RANK>::PLANE };
    uint32_t joined = 0;
#pragma unroll
    for (int i = FROM; i < PAIRS; i++) {
        const int k = first_of_pair(i); /* of rank 2 no more than the second one is of the plane */
        float low = k < PLANE_FROM ? 0 : wide.before[k < PLANE_FROM ? 0 : k - PLANE_FROM];
        float high = wide.before[k + 8 - PLANE_FROM];
        if (k == PLANE_FROM) /* which nothing is taken from in lane 0, and may not be right */
            low = floe_lane() == 0 ? 0 : low;
        if (k + 8 == PLANE_FROM)
            high = floe_lane() == 0 ? 0 : high;
        const __half2 pair = __floats2half2_rn(low, high);
        joined |= small_zigzag(__hadd2(pair, __float2half2_rn(0.5f)));
        w.before[i - FROM] = pair;
    }
    w.b = wide.b;
    w.at = wide.at;
    w.descriptors = wide.descriptors;
    w.any = wide.any;
    return !__any_sync(FLOE_ALL_LANES, wide.inexact || small_fails(joined));
}

/* The rest of a tile, from step r.done on. The step after it is on its way to buffer. */
template <int RANK, bool WHOLE, bool BY_SUM, class Draft>
FLOE_DEV_COLD checked_result encode_rest(const plain_work &work, sink out, uint32_t lead, uint32_t *buffer,
                                         small_walk<RANK> w, checked_result t)
{
    step_walk<RANK> wide;
    walk_widen<RANK>(w, wide);
    floe_copy_async_wait();
    __syncwarp();
    fetch_next<RANK, WHOLE, !BY_SUM>(work.tile, t.r.done, buffer);
    encode_steps<RANK, WHOLE, BY_SUM, Draft>(work, out, lead, buffer, wide, t.c, t.r);
    return t;
}

/* A tile, base and body, as encode_plain has it. Its first step is on its way to buffer. */
template <int RANK, bool WHOLE, bool BY_SUM, class Draft>
FLOE_DEV plain_result encode_half2(const plain_work &work, const sink &out, uint32_t lead, uint32_t *buffer, checks &c)
{
    const uint32_t nsteps = steps_of<WHOLE>(work);
    plain_result r = {0, 0, 0, false, false, false, nsteps};
    small_walk<RANK> w;
    bool inexact = false;
#pragma unroll
    for (int i = 0; i < last_pairs<RANK>::COUNT; i++)
        w.before[i] = pair_of(0);
    w.at = descriptors_at(lead) + (Draft::DRAFTS ? (uint32_t)FLOE_SYMBOLS_HEAD_WORDS : (nsteps + 1) / 2);
    w.descriptors = w.any = 0;
    check_begin(c);
#pragma unroll 1
    for (uint32_t s = 0; s < nsteps; s++) {
        float q[GROUP];
        const uint32_t valid = step_valid<RANK, WHOLE>(work, s);
        quantize_step<RANK, WHOLE, false>(work, s, valid, buffer, q, c);
        if (s == 0 && is_unfit(work, c)) { /* before more is made of it */
            r.done = 0;
            break;
        }
        if (s + 1 < nsteps) { /* the values are out of the buffer */
            __syncwarp();
            fetch_next<RANK, WHOLE, !BY_SUM>(work.tile, s + 1, buffer); /* drafts: of fields of any size */
        }
        if (s == 0)
            begin_tile<RANK, WHOLE>(q, valid, out, lead, w.b, inexact, r);
        if (__any_sync(FLOE_ALL_LANES, inexact) ||
            !code_half2<RANK, WHOLE, BY_SUM, Draft>(work, out, {s, valid, r.mode}, q, w, c)) {
            r.done = s;
            break;
        }
        if (!Draft::DRAFTS)
            put_descriptors(out, lead, s, nsteps, w.descriptors);
    }
    if (r.done < nsteps) {
        r.unfit = is_unfit(work, c);
        if (r.unfit)
            return r;
        const checked_result t = encode_rest<RANK, WHOLE, BY_SUM, Draft>(work, out, lead, buffer, w, {r, c});
        c = t.c;
        return t.r;
    }
    r.coded = __any_sync(FLOE_ALL_LANES, w.any != 0);
    r.nbody = w.at - descriptors_at(lead);
    return r;
}

} // namespace FLOE_LORENZO_ENCODING

#endif
