/* SPDX-License-Identifier: BSD-3-Clause */
/* rANS by a warp: a lane owns a state. docs/format/ans.md. All lanes call each function; `active`: this one has something to do. */
#ifndef FLOE_STAGE_ANS_LANES_CUH
#define FLOE_STAGE_ANS_LANES_CUH

#include "backend/device.cuh"
#include "backend/device_scan.cuh"
#include "stage/ans/ans_math.h"

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

/* A lane's state. Words go down from `at`; the caller gives enough room. */
struct floe_ans_writer {
    uint32_t state;
    uint16_t *at;
    bool lifted, failed; /* failed: a state was too large to be lifted: encoding has to begin with FLOE_ANS_LEAST */
};

/* begin: FLOE_ANS_BEGIN; after it has failed, FLOE_ANS_LEAST. */
FLOE_DEV floe_ans_writer floe_ans_writer_of(uint32_t begin, uint16_t *end)
{
    return {begin, end, begin == FLOE_ANS_LEAST, false};
}

/* Lifts all states if one has no room for what its lane writes now. full: whether this one has none. */
FLOE_DEV void floe_ans_lift(floe_ans_writer &w, bool full)
{
    if (w.lifted || !__any_sync(FLOE_ALL_LANES, full))
        return;
    w.failed = __any_sync(FLOE_ALL_LANES, w.state > FLOE_ANS_MOST - FLOE_ANS_LEAST);
    w.state += FLOE_ANS_LEAST;
    w.lifted = true;
}

/* Writes the low words of these lanes' states. */
FLOE_DEV void floe_ans_emit(floe_ans_writer &w, uint32_t lanes, uint32_t state)
{
    w.at -= __popc(lanes);
    if (lanes >> floe_lane() & 1)
        w.at[__popc(lanes & floe_lanes_below())] = (uint16_t)state;
}

FLOE_DEV void floe_ans_write(floe_ans_writer &w, bool active, floe_ans_symbol s, uint32_t bits)
{
    floe_ans_lift(w, active && floe_ans_is_full(w.state, s, bits));
    const bool full = active && floe_ans_is_full(w.state, s, bits);
    floe_ans_emit(w, __ballot_sync(FLOE_ALL_LANES, full), w.state);
    if (active)
        w.state = floe_ans_put(full ? w.state >> 16 : w.state, s, bits);
}

/* nbits: 0 if this lane has none. */
FLOE_DEV void floe_ans_write_raw(floe_ans_writer &w, uint32_t raw, uint32_t nbits)
{
    if (!__any_sync(FLOE_ALL_LANES, nbits != 0))
        return;
    floe_ans_lift(w, nbits && floe_ans_is_full_raw(w.state, nbits));
    const bool full = nbits && floe_ans_is_full_raw(w.state, nbits);
    floe_ans_emit(w, __ballot_sync(FLOE_ALL_LANES, full), w.state);
    if (nbits)
        w.state = (full ? w.state >> 16 : w.state) << nbits | raw;
}

/* What a field whose value begins at bit `at` puts into word i of 32 bits. */
FLOE_DEV uint32_t floe_ans_part(uint32_t i, uint32_t at, uint32_t value)
{
    const uint64_t field = (uint64_t)value << at % 32;
    return at / 32 == i ? (uint32_t)field : at / 32 + 1 == i ? (uint32_t)(field >> 32) : 0;
}

/* Writes flags and states before the words that end at `end`, which is aligned to 4 bytes. A lane makes words number lane and lane + 32 of
 * them. Returns how many bytes the chunk has; they begin at w.at. */
FLOE_DEV uint32_t floe_ans_end(floe_ans_writer &w, uint32_t begin, uint32_t lanes, const uint16_t *end)
{
    const bool words = w.at != end;
    const uint32_t lane = floe_lane(), pad = (uint32_t)(end - w.at) & 1, each = floe_ans_width_bits(words);
    const floe_ans_stored s = floe_ans_stored_of(lane < lanes ? w.state : FLOE_ANS_BEGIN, words && lane < lanes);
    const uint32_t nlow = lane < lanes ? floe_ans_low_bits(s.width) : 0, first = FLOE_ANS_FLAGS + each * lanes,
                   at = first + floe_warp_sum_before(nlow), nwords = (first + floe_warp_sum(nlow) + 31) / 32;
    const uint32_t width = s.width - floe_ans_width_least(words), low = floe_ans_low_of(s);
    uint32_t here = lane == 0 ? floe_ans_flags_of((uint32_t)(end - w.at), begin) : 0, behind = 0;
    for (uint32_t i = 0; i < lanes; i++) {
        const uint32_t its_width = __shfl_sync(FLOE_ALL_LANES, width, i), its_low = __shfl_sync(FLOE_ALL_LANES, low, i),
                       its_at = __shfl_sync(FLOE_ALL_LANES, at, i);
        here |= floe_ans_part(lane, FLOE_ANS_FLAGS + each * i, its_width) | floe_ans_part(lane, its_at, its_low);
        behind |= floe_ans_part(lane + FLOE_WARP, its_at, its_low);
    }
    if (pad && lane == 0)
        w.at[-1] = 0;
    w.at -= pad + 2 * nwords;
    if (lane < nwords)
        ((uint32_t *)w.at)[lane] = here;
    if (lane + FLOE_WARP < nwords)
        ((uint32_t *)w.at)[lane + FLOE_WARP] = behind;
    return 2 * (uint32_t)(end - w.at);
}

/* The sum of floe_ans_check_word over n words. */
FLOE_DEV uint32_t floe_ans_check_sum(const uint32_t *words, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = floe_lane(); i < n; i += FLOE_WARP)
        sum += floe_ans_check_word(i, words[i]);
    return floe_warp_sum(sum);
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

/* Words go through a ring in shared memory, a slab at a time. The slab of the next word and the one after it are there; one more is being
 * loaded. */
enum { FLOE_ANS_SLAB = 2 * FLOE_WARP, FLOE_ANS_RING = 4 * FLOE_ANS_SLAB, FLOE_ANS_RING_NBYTES = 2 * FLOE_ANS_RING };

struct floe_ans_words {
    const uint32_t *from; /* pairs of words */
    uint32_t npairs;
    uint32_t at;    /* the next word */
    uint32_t pause; /* floe_ans_go_on is due at this word: a slab begins, or words end */
    uint16_t *ring; /* aligned to 4 bytes; word i is at i % FLOE_ANS_RING */
};

struct floe_ans_reader {
    uint32_t state, begin, least; /* begin: states with which encoding began; below `least` a word is read */
    floe_ans_words words;
};

/* Begins to load a slab; zeros follow the last word. */
FLOE_DEV void floe_ans_request(const floe_ans_words &w, uint32_t slab)
{
    const uint32_t i = slab * FLOE_WARP + floe_lane();
    uint32_t *to = (uint32_t *)w.ring + i % (FLOE_ANS_RING / 2);
    if (i < w.npairs)
        floe_copy4_async(to, w.from + i);
    else
        *to = 0;
    floe_copy_async_commit();
}

/* Waits for all slabs but the one that was requested last. */
FLOE_DEV void floe_ans_wait()
{
    floe_copy_async_wait_but<1>();
    __syncwarp();
}

/* Of the first slabs. */
FLOE_DEV uint32_t floe_ans_field(const floe_ans_words &w, uint32_t at, uint32_t nbits)
{
    const uint32_t *from = (const uint32_t *)w.ring + at / 32;
    return (uint32_t)((from[0] | (uint64_t)from[1] << 32) >> at % 32) & (uint32_t)(((uint64_t)1 << nbits) - 1);
}

/* Widths, low bits, and zeros up to whole words of 32 bits, behind bit `at`; the next word is the one behind them. */
FLOE_DEV bool floe_ans_read_states(floe_ans_reader &r, uint32_t lanes, bool words, uint32_t at)
{
    floe_ans_words &w = r.words;
    const uint32_t lane = floe_lane(), each = floe_ans_width_bits(words), first = at + each * lanes;
    const uint32_t width = lane < lanes ? floe_ans_field(w, at + each * lane, each) + floe_ans_width_least(words) : 0,
                   nlow = floe_ans_low_bits(width), nbits = first + floe_warp_sum(nlow);
    r.state = floe_ans_state_of(width, floe_ans_field(w, first + floe_warp_sum_before(nlow), nlow), words);
    w.at = (nbits + 31) / 32 * 2;
    return w.at <= 2 * w.npairs && floe_ans_field(w, nbits, (0u - nbits) % 32) == 0;
}

/* Of older streams: as floe_ans_decoder_begin reads them. */
FLOE_DEV bool floe_ans_begin_unlifted(floe_ans_reader &r, uint32_t lanes)
{
    floe_ans_words &w = r.words;
    const uint32_t lane = floe_lane();
    if (w.npairs < lanes) {
        const bool good = floe_ans_read_states(r, lanes, false, 0);
        r.state = lane < lanes ? r.state + FLOE_ANS_LEAST - FLOE_ANS_BEGIN : FLOE_ANS_LEAST;
        return good && w.at == 2 * w.npairs;
    }
    r.state = lane < lanes ? floe_ans_field(w, 32 * lane, 32) : FLOE_ANS_LEAST;
    w.at = 2 * lanes + (__shfl_sync(FLOE_ALL_LANES, r.state, 0) >> 31);
    r.state &= lane == 0 ? ~(1u << 31) : ~0u; /* of others it is damage, which shows at the end */
    return true;
}

FLOE_DEV bool floe_ans_begin_lanes(floe_ans_reader &r, uint32_t lanes)
{
    floe_ans_words &w = r.words;
    const uint32_t flags = floe_ans_field(w, 0, FLOE_ANS_FLAGS), pad = flags / FLOE_ANS_PAD & 1;
    const bool words = flags & FLOE_ANS_WORDS, good = floe_ans_read_states(r, lanes, words, FLOE_ANS_FLAGS);
    const bool some = w.at < 2 * w.npairs;
    r.begin = flags & FLOE_ANS_UNLIFTED ? FLOE_ANS_LEAST : FLOE_ANS_BEGIN;
    if (floe_lane() >= lanes)
        r.state = r.begin + (words && r.begin == FLOE_ANS_BEGIN ? FLOE_ANS_LEAST : 0);
    r.least = words ? FLOE_ANS_LEAST : 0; /* without words no state was lifted */
    w.at += pad;
    return good && some == words && (words || !flags);
}

/* The next word at which floe_ans_go_on is due. */
FLOE_DEV uint32_t floe_ans_pause(const floe_ans_reader &r)
{
    const uint32_t slab = (r.words.at / FLOE_ANS_SLAB + 1) * FLOE_ANS_SLAB, n = 2 * r.words.npairs;
    return r.begin != FLOE_ANS_LEAST && r.words.at < n ? min(slab, n) : slab;
}

/* Begins to read a chunk; false if it does not begin with states. src is aligned to 4 bytes. ring: FLOE_ANS_RING_NBYTES of the warp, until it
 * has read all. begin: FLOE_ANS_BEGIN, or of older streams FLOE_ANS_LEAST. */
FLOE_DEV bool floe_ans_begin(floe_ans_reader &r, uint32_t begin, uint32_t lanes, const uint8_t *src, uint32_t nbytes,
                             void *ring)
{
    floe_ans_words &w = r.words;
    w.from = (const uint32_t *)src;
    w.npairs = nbytes / 4;
    w.ring = (uint16_t *)ring;
    r.begin = begin;
    r.least = FLOE_ANS_LEAST;
    floe_copy_async_wait(); /* a slab of the chunk before may be on its way, and others may still read */
    __syncwarp();
    for (uint32_t slab = 0; slab < 3; slab++)
        floe_ans_request(w, slab);
    floe_copy_async_wait();
    __syncwarp();
    const bool good = begin == FLOE_ANS_LEAST ? floe_ans_begin_unlifted(r, lanes) : floe_ans_begin_lanes(r, lanes);
    if (w.at >= FLOE_ANS_SLAB) /* states have the first one */
        floe_ans_request(w, 3);
    w.pause = floe_ans_pause(r);
    return good;
}

/* At a pause: requests the next slab, and takes back the lift of all states behind the last word. A step reads no more than a slab. */
FLOE_DEV void floe_ans_go_on(floe_ans_reader &r, uint32_t nread)
{
    floe_ans_words &w = r.words;
    const uint32_t slab = (w.at - nread) / FLOE_ANS_SLAB;
    if (w.at / FLOE_ANS_SLAB != slab) {
        floe_ans_request(w, slab + 3);
        floe_ans_wait();
    }
    if (w.at == 2 * w.npairs && r.begin != FLOE_ANS_LEAST) {
        r.state -= FLOE_ANS_LEAST;
        r.least = 0;
    }
    w.pause = floe_ans_pause(r);
}

FLOE_DEV void floe_ans_fill(floe_ans_reader &r, bool active)
{
    floe_ans_words &w = r.words;
    const bool wants = active && r.state < r.least;
    const uint32_t lanes = __ballot_sync(FLOE_ALL_LANES, wants);
    if (wants)
        r.state = r.state << 16 | w.ring[(w.at + __popc(lanes & floe_lanes_below())) % FLOE_ANS_RING];
    w.at += __popc(lanes);
    if (w.at >= w.pause)
        floe_ans_go_on(r, __popc(lanes));
}

/* span: freq | start << 16, found by the state's low bits. */
FLOE_DEV void floe_ans_read(floe_ans_reader &r, bool active, uint32_t span, uint32_t bits)
{
    const uint32_t taken = floe_ans_take(r.state, span & 0xFFFF, span >> 16, bits);
    r.state = active ? taken : r.state;
    floe_ans_fill(r, active);
}

/* nbits: 0 if this lane has none. */
FLOE_DEV uint32_t floe_ans_read_raw(floe_ans_reader &r, uint32_t nbits)
{
    const uint32_t raw = r.state & ((1u << nbits) - 1);
    r.state >>= nbits;
    floe_ans_fill(r, nbits != 0);
    return raw;
}

/* Whether all words have been read, and none beyond, and all states are those with which encoding began. */
FLOE_DEV bool floe_ans_ended(const floe_ans_reader &r)
{
    return __all_sync(FLOE_ALL_LANES, r.state == r.begin) && r.words.at == 2 * r.words.npairs;
}

#endif
