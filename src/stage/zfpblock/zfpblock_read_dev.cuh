/* SPDX-License-Identifier: BSD-3-Clause */
/* Bits -> bit planes, or only how many bits there are: each lane reads a block of its own, as zfpblock_decode_cpu.c does.
 * Nothing that the bits hold is trusted. */
#ifndef FLOE_STAGE_ZFPBLOCK_READ_DEV_CUH
#define FLOE_STAGE_ZFPBLOCK_READ_DEV_CUH

#include "backend/device_words.cuh"
#include "stage/zfpblock/zfpblock_lanes_dev.cuh"
#include "stage/zfpblock/zfpblock_math.h"

/* A stream, in words: the last one is read as a whole, though its end may not belong to it. */
struct floe_zfp_dev_stream {
    const uint32_t *words;
    uint64_t nwords; /* at least 1 */
    floe_zfp_params params;
    bool real; /* of floating point: uniform, so that a branch on it costs less than kernels of both kinds */
};

/* Reads one block. Behind the stream's last word that one comes again: a block that needs it reaches too far, whatever it
 * reports. */
struct floe_zfp_reader {
    const uint32_t *words; /* the first one of the block */
    uint32_t last;         /* the stream's last word, from there */
    uint32_t next;         /* word behind w2 */
    uint32_t w0, w1, w2;   /* from the word of the next bit on */
    uint32_t shift;        /* of the next bit in w0 */
    uint32_t left;         /* bits that the block may still have */
};

FLOE_DEV uint32_t floe_zfp_next_word(floe_zfp_reader &r) { return __ldg(r.words + min(r.next++, r.last)); }

/* at: a bit of the stream. */
FLOE_DEV void floe_zfp_open(floe_zfp_reader &r, const floe_zfp_dev_stream &s, uint64_t at)
{
    r.words = s.words + at / 32;
    r.last = (uint32_t)floe_min64(s.nwords - 1 - at / 32, FLOE_ZFP_FIELD_MAX);
    r.next = 0;
    r.w0 = floe_zfp_next_word(r);
    r.w1 = floe_zfp_next_word(r);
    r.w2 = floe_zfp_next_word(r);
    r.shift = (uint32_t)(at % 32);
    r.left = s.params.maxbits;
}

/* The next 32 bits, of this block or not. */
FLOE_DEV uint32_t floe_zfp_peek(const floe_zfp_reader &r) { return __funnelshift_r(r.w0, r.w1, r.shift); }

/* Up to 32. */
FLOE_DEV void floe_zfp_skip(floe_zfp_reader &r, uint32_t n)
{
    r.shift += n;
    r.left -= n;
    const bool cross = r.shift >= 32;
    r.shift %= 32;
    r.w0 = cross ? r.w1 : r.w0;
    r.w1 = cross ? r.w2 : r.w1;
    floe_load_if(cross, r.words + min(r.next, r.last), r.w2);
    r.next += cross;
}

/* n bits, at most 32; fewer where the block ends, then zeros. */
FLOE_DEV uint32_t floe_zfp_take(floe_zfp_reader &r, uint32_t n)
{
    n = min(n, r.left);
    const uint32_t v = floe_zfp_peek(r) & (uint32_t)(((uint64_t)1 << n) - 1);
    floe_zfp_skip(r, n);
    return v;
}

/* Zeros in front of the next one bit, at most `most`; they are skipped. */
FLOE_DEV uint32_t floe_zfp_skip_zeros(floe_zfp_reader &r, uint32_t most)
{
    uint32_t total = 0, zeros = 32;
    while (zeros == 32 && total < most && r.left > 0) {
        const uint32_t ones = floe_zfp_peek(r);
        zeros = min(ones ? (uint32_t)__ffs((int)ones) - 1 : 32, min(most - total, r.left));
        total += zeros;
        floe_zfp_skip(r, zeros);
    }
    return total;
}

/* ---- planes -------------------------------------------------------------------------------------------------------------- */

#define INLINE __device__ __forceinline__

/* Where the bits of a plane go: two words of registers, or, of four axes, straight to memory. */
template <uint32_t RANK> struct floe_zfp_sink {
    uint32_t *plane; /* word 0 of this block's */
    uint64_t bits;
    INLINE void aim(uint32_t *planes, uint32_t at) { plane = planes + at; }
    INLINE void begin(floe_zfp_reader &r, uint32_t known)
    {
        bits = floe_zfp_take(r, min(known, 32u));
        if (RANK > 2 && known > 32)
            bits |= (uint64_t)floe_zfp_take(r, known - 32) << 32;
    }
    INLINE void put(uint32_t coefs, uint32_t at) { bits |= (uint64_t)coefs << at; }
    INLINE void end()
    {
        plane[0] = (uint32_t)bits;
        if (RANK > 2)
            plane[floe_zfp_lanes<RANK>::BLOCKS] = (uint32_t)(bits >> 32);
    }
};
template <> struct floe_zfp_sink<4> {
    uint32_t *plane;
    INLINE void aim(uint32_t *planes, uint32_t at) { plane = planes + at; }
    INLINE uint32_t &word(uint32_t w) { return plane[w * floe_zfp_lanes<4>::BLOCKS]; }
    INLINE void begin(floe_zfp_reader &r, uint32_t known)
    {
        for (uint32_t w = 0; w < floe_zfp_lanes<4>::WORDS; w++)
            word(w) = 32 * w < known ? floe_zfp_take(r, min(known - 32 * w, 32u)) : 0;
    }
    INLINE void put(uint32_t coefs, uint32_t at)
    {
        const uint64_t bits = (uint64_t)coefs << at % 32;
        word(at / 32) |= (uint32_t)bits;
        if (bits >> 32)
            word(at / 32 + 1) |= (uint32_t)(bits >> 32);
    }
    INLINE void end() {}
};

/* Nowhere: there are no planes. */
struct floe_zfp_no_sink {
    INLINE void aim(uint32_t *, uint32_t) {}
    INLINE void begin(floe_zfp_reader &r, uint32_t known)
    {
        uint32_t n = min(known, r.left);
        for (; n > 32; n -= 32)
            floe_zfp_skip(r, 32);
        floe_zfp_skip(r, n);
    }
    INLINE void put(uint32_t, uint32_t) {}
    INLINE void end() {}
};

#undef INLINE

/* The groups of a plane, of which `known` coefficients stand already. Returns how many are known behind it. */
template <uint32_t RANK, class SINK>
FLOE_DEV uint32_t floe_zfp_read_groups(floe_zfp_reader &r, floe_shared_words steps, uint32_t known, SINK &sink)
{
    enum { SIZE = floe_zfp_lanes<RANK>::SIZE };
    uint32_t n = known, in_run = 0;
    for (;;) {
        if (r.left == 0 || n + in_run == SIZE) { /* a run that must end here ends with a one that has no bit */
            if (!in_run)
                return n;
            sink.put(1, n);
            return n + 1;
        }
        /* so few bits that all coefficients are behind them, but for that one */
        const uint32_t nbits = min(min((uint32_t)FLOE_ZFP_STEP_BITS, r.left), SIZE - n - in_run);
        const uint32_t one = 1u << nbits, key = in_run * FLOE_ZFP_STEP_KEYS + one + (floe_zfp_peek(r) & (one - 1));
        const uint32_t step = floe_load_shared_word(steps, key);
        sink.put(step & 255, n);
        n += FLOE_ZFP_STEP_NCOEFS(step);
        in_run = FLOE_ZFP_STEP_IN_RUN(step);
        floe_zfp_skip(r, FLOE_ZFP_STEP_NBITS(step));
        if (FLOE_ZFP_STEP_ENDED(step))
            return n;
    }
}

/* Up to `most` planes behind those that are zero: the first of them to planes, its number k = 0. Returns how many were read. */
template <uint32_t RANK, class SINK>
FLOE_DEV uint32_t floe_zfp_read_planes(floe_zfp_reader &r, floe_shared_words steps, uint32_t *planes, uint32_t block,
                                       uint32_t most)
{
    uint32_t known = 0, k = 0;
    for (; k < most && r.left > 0; k++) {
        SINK sink;
        sink.aim(planes, floe_zfp_plane_at<RANK>(k, 0, block));
        sink.begin(r, known);
        known = floe_zfp_read_groups<RANK>(r, steps, known, sink);
        sink.end();
    }
    return k;
}

/* ---- blocks -------------------------------------------------------------------------------------------------------------- */

/* What a block's bits hold, beside its planes. */
struct floe_zfp_head {
    int32_t e;
    uint32_t zeros, nplanes; /* planes of zeros at the top, planes that follow */
    uint32_t patterns;       /* values are bit patterns (reversible) */
    uint32_t nbits;          /* that the block takes */
};

/* What comes before the planes. Returns how many of them there may be; 0: none, the block is 0. */
template <uint32_t RANK, bool REVERSIBLE>
FLOE_DEV uint32_t floe_zfp_read_front(floe_zfp_reader &r, const floe_zfp_dev_stream &s, floe_zfp_head &head)
{
    if (s.real) {
        if (!floe_zfp_take(r, 1))
            return 0;
        head.patterns = REVERSIBLE ? floe_zfp_take(r, 1) : 0;
        head.e = head.patterns ? 0 : (int32_t)floe_zfp_take(r, FLOE_ZFP_EXP_BITS) - FLOE_ZFP_EXP_BIAS;
    }
    const uint32_t planes = REVERSIBLE ? floe_zfp_take(r, FLOE_ZFP_PREC_BITS) + 1
                            : s.real   ? floe_zfp_precision(head.e, &s.params, RANK)
                                       : s.params.maxprec;
    return min(planes, (uint32_t)FLOE_REAL_BITS);
}

/* The bits of a block that has been read. */
template <bool REVERSIBLE> FLOE_DEV uint32_t floe_zfp_nbits_read(const floe_zfp_reader &r, const floe_zfp_dev_stream &s)
{
    const uint32_t used = s.params.maxbits - r.left;
    return REVERSIBLE && s.real && used == 1 ? 1 : max(used, s.params.minbits); /* zeros are not filled up */
}

/* One lane: the block that begins at bit `at`; its planes only where the sink keeps them. */
template <uint32_t RANK, bool REVERSIBLE, class SINK = floe_zfp_sink<RANK>>
FLOE_DEV floe_zfp_head floe_zfp_read_block(const floe_zfp_dev_stream &s, uint64_t at, floe_shared_words steps,
                                           uint32_t *planes, uint32_t block)
{
    floe_zfp_reader r;
    floe_zfp_head head = {0, 0, 0, 0, 0};
    floe_zfp_open(r, s, at);
    const uint32_t most = floe_zfp_read_front<RANK, REVERSIBLE>(r, s, head);
    head.zeros = floe_zfp_skip_zeros(r, most);
    head.nplanes = floe_zfp_read_planes<RANK, SINK>(r, steps, planes, block, most - head.zeros);
    head.nbits = floe_zfp_nbits_read<REVERSIBLE>(r, s);
    return head;
}

/* Coefficients, the highest plane in the highest bit -> the values' bit patterns. */
template <uint32_t RANK, bool REVERSIBLE>
FLOE_DEV void floe_zfp_finish(bool real, const floe_zfp_head &head, uint32_t *planes, uint32_t block, uint32_t share,
                              floe_uint *v)
{
    enum { N = floe_zfp_lanes<RANK>::VALUES };
    floe_uint coefs[N];
#pragma unroll
    for (uint32_t i = 0; i < N; i++)
        coefs[i] = FLOE_R(floe_zfp_binary)(v[i] >> min(head.zeros, (uint32_t)FLOE_REAL_BITS - 1));
    if (RANK > 3) {
        floe_zfp_exchange<true, REVERSIBLE>(planes, block, share, coefs);
#pragma unroll
        for (uint32_t i = 0; i < N; i++)
            v[i] = coefs[i];
    } else {
#pragma unroll
        for (uint32_t i = 0; i < N; i++)
            v[floe_zfp_order(RANK)[i]] = coefs[i];
    }
    floe_zfp_cube<RANK, true, REVERSIBLE>(v);
    if (!real)
        return;
    const floe_real power = FLOE_R(floe_zfp_power)(-FLOE_R(floe_zfp_scale)(head.e));
#pragma unroll
    for (uint32_t i = 0; i < N; i++) {
        const floe_real x = FLOE_R(floe_zfp_real)(v[i], power);
        floe_uint bits;
        memcpy(&bits, &x, sizeof bits);
        v[i] = REVERSIBLE && head.patterns ? FLOE_R(floe_zfp_reinterpret)(v[i]) : bits;
    }
}

/* A warp's way through as many chunks of blocks as it holds blocks: of each of them one block at a time. */
/* A lane's place in the stream. Lanes that share a block have the same. */
struct floe_zfp_position {
    uint64_t block, at, end; /* the next block and its bit; where the chunk ends */
    uint32_t count;          /* blocks that are left */
    bool fine;
};

/* What lane b has, in all lanes that share its block. */
FLOE_DEV floe_zfp_head floe_zfp_head_of_lane(const floe_zfp_head &head, uint32_t b)
{
    const floe_zfp_head of = {__shfl_sync(FLOE_ALL_LANES, head.e, b), __shfl_sync(FLOE_ALL_LANES, head.zeros, b),
                              __shfl_sync(FLOE_ALL_LANES, head.nplanes, b),
                              __shfl_sync(FLOE_ALL_LANES, head.patterns, b),
                              __shfl_sync(FLOE_ALL_LANES, head.nbits, b)};
    return of;
}

/* Planes are turned 8 at a time; those that no lane has are not. Clears what a lane's own block lacks of them. */
template <uint32_t RANK>
FLOE_DEV uint32_t floe_zfp_fill_turns(uint32_t *planes, uint32_t block, uint32_t share, uint32_t nplanes)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const uint32_t nturns = floe_zfp_turns(nplanes);
#pragma unroll 1
    for (uint32_t k = nplanes; k < FLOE_ZFP_TURN * nturns; k++)
#pragma unroll
        for (uint32_t w = 0; w < lanes::LANE_WORDS; w++)
            planes[floe_zfp_plane_at<RANK>(k, lanes::LANE_WORDS * share + w, block)] = 0;
    return nturns;
}

/* All lanes: the next block of each that has one, to v. True: it is block p.block, which the caller moves on. */
template <uint32_t RANK, bool REVERSIBLE>
FLOE_DEV bool floe_zfp_decode_next(const floe_zfp_dev_stream &stream, floe_shared_words steps, uint32_t *planes,
                                   floe_zfp_position &p, floe_uint *v)
{
    typedef floe_zfp_lanes<RANK> lanes;
    const uint32_t b = floe_lane() % lanes::BLOCKS, share = floe_lane() / lanes::BLOCKS;
    const bool mine = p.fine && p.count > 0;
    floe_zfp_head head = {0, 0, 0, 0, 0};
    if (mine && share == 0)
        head = floe_zfp_read_block<RANK, REVERSIBLE>(stream, p.at, steps, planes, b);
    __syncwarp();
    if (lanes::SHARE > 1)
        head = floe_zfp_head_of_lane(head, b);
    floe_zfp_join<RANK>(planes, b, share, floe_zfp_fill_turns<RANK>(planes, b, share, head.nplanes), v);
    floe_zfp_finish<RANK, REVERSIBLE>(stream.real, head, planes, b, share, v);
    if (!mine)
        return false;
    p.at += head.nbits;
    p.count--;
    p.fine = p.count > 0 ? p.at < p.end : p.at == p.end;
    return p.fine;
}

#endif
