/* SPDX-License-Identifier: BSD-3-Clause */
/* rANS by a warp: a state a lane. docs/format/ans.md. All lanes call everything; `active` shows which of them have something to do. */
#ifndef FLOE_STAGE_ANS_LANES_CUH
#define FLOE_STAGE_ANS_LANES_CUH

#include "backend/device.cuh"
#include "backend/device_scan.cuh"
#include "stage/ans/ans_math.h"

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

/* Words go down from where `at` is: whoever gives the room gives enough. */
struct floe_ans_writer {
    uint32_t state;
    uint16_t *at;
    bool lifted;
};

/* full: of this lane, if it writes something now. */
FLOE_DEV void floe_ans_lift(floe_ans_writer &w, bool full)
{
    if (w.lifted || !__any_sync(FLOE_ALL_LANES, full))
        return;
    w.state += FLOE_ANS_LEAST;
    w.lifted = true;
}

/* The low words of the states of these lanes. */
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

/* nbits: 0 of lanes that have none. */
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

/* The part of word i that a field of so many bits from bit `at` on has. */
FLOE_DEV uint32_t floe_ans_part(uint32_t i, uint32_t at, uint32_t value)
{
    const uint64_t field = (uint64_t)value << at % 32;
    return at / 32 == i ? (uint32_t)field : at / 32 + 1 == i ? (uint32_t)(field >> 32) : 0;
}

/* Where nothing but states is to be written, and shorter so: does it, and returns the bytes; else 0. */
FLOE_DEV uint32_t floe_ans_end_short(floe_ans_writer &w, uint32_t lanes, const uint16_t *end)
{
    if (w.at != end)
        return 0;
    const uint32_t lane = floe_lane(), distance = lane < lanes ? w.state - FLOE_ANS_BEGIN : 0,
                   width = floe_ans_width(distance), stored = floe_ans_width_stored(width),
                   low = floe_ans_distance_low(distance, width),
                   at = FLOE_ANS_WIDTH_BITS * lanes + floe_warp_sum_before(stored),
                   nwords = (FLOE_ANS_WIDTH_BITS * lanes + floe_warp_sum(stored) + 31) / 32;
    if (nwords >= lanes)
        return 0;
    w.at -= 2 * nwords;
    for (uint32_t i = 0; i < nwords; i++) {
        const uint32_t word =
            floe_warp_sum(floe_ans_part(i, FLOE_ANS_WIDTH_BITS * lane, width) + floe_ans_part(i, at, low));
        if (lane == 0)
            ((uint32_t *)w.at)[i] = word;
    }
    return 4 * nwords;
}

/* States and padding before the words that end at `end`, which is aligned to 4 bytes. Returns all bytes; they begin at w.at. */
FLOE_DEV uint32_t floe_ans_end(floe_ans_writer &w, uint32_t lanes, const uint16_t *end)
{
    const uint32_t lane = floe_lane(), pad = (uint32_t)(end - w.at) & 1, nbytes = floe_ans_end_short(w, lanes, end);
    if (nbytes)
        return nbytes;
    w.at -= pad;
    if (pad && lane == 0)
        *w.at = 0;
    w.at -= 2 * lanes;
    if (lane < lanes)
        ((uint32_t *)w.at)[lane] = w.state | (lane == 0 ? pad << 31 : 0);
    return 2 * (uint32_t)(end - w.at);
}

/* Of n words: what their check is made of. */
FLOE_DEV uint32_t floe_ans_check_sum(const uint32_t *words, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = floe_lane(); i < n; i += FLOE_WARP)
        sum += floe_ans_check_word(i, words[i]);
    return floe_warp_sum(sum);
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

/* Words go through a ring in shared memory, a slab at a time: that of the next word and the one behind it are there, and one is on its
 * way. */
enum { FLOE_ANS_SLAB = 2 * FLOE_WARP, FLOE_ANS_RING = 4 * FLOE_ANS_SLAB, FLOE_ANS_RING_NBYTES = 2 * FLOE_ANS_RING };

struct floe_ans_words {
    const uint32_t *from; /* two words each */
    uint32_t npairs;
    uint32_t at;    /* word that comes next */
    uint32_t pause; /* where something else is to be done: a slab begins, or words end */
    uint16_t *ring; /* aligned to 4 bytes; word i is at i % FLOE_ANS_RING */
};

struct floe_ans_reader {
    uint32_t state, begin, least; /* begin: states with which encoding began; below `least` a word is read */
    floe_ans_words words;
};

/* Zeros follow the last word. */
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

/* All slabs but the one that was requested last are there. */
FLOE_DEV void floe_ans_wait()
{
    floe_copy_async_wait_but<1>();
    __syncwarp();
}

FLOE_DEV uint32_t floe_ans_field(const floe_ans_words &w, uint32_t at, uint32_t nbits)
{
    const uint32_t i = at / 32, low = i < w.npairs ? w.from[i] : 0, high = i + 1 < w.npairs ? w.from[i + 1] : 0;
    const uint64_t pair = low | (uint64_t)high << 32;
    return (uint32_t)(pair >> at % 32) & (uint32_t)(((uint64_t)1 << nbits) - 1);
}

FLOE_DEV bool floe_ans_begin_short(floe_ans_reader &r, uint32_t lanes)
{
    const floe_ans_words &w = r.words;
    const uint32_t lane = floe_lane();
    const uint32_t width = lane < lanes ? floe_ans_field(w, FLOE_ANS_WIDTH_BITS * lane, FLOE_ANS_WIDTH_BITS) : 0;
    const uint32_t stored = floe_ans_width_stored(width);
    const uint32_t at = FLOE_ANS_WIDTH_BITS * lanes + floe_warp_sum_before(stored);
    const uint32_t nbits = FLOE_ANS_WIDTH_BITS * lanes + floe_warp_sum(stored);
    r.state = r.begin + floe_ans_distance_of(width, floe_ans_field(w, at, stored));
    return (nbits + 31) / 32 == w.npairs && floe_ans_field(w, nbits, (0u - nbits) % 32) == 0;
}

/* Where reading pauses next. */
FLOE_DEV uint32_t floe_ans_pause(const floe_ans_reader &r)
{
    const uint32_t slab = (r.words.at / FLOE_ANS_SLAB + 1) * FLOE_ANS_SLAB, n = 2 * r.words.npairs;
    return r.begin != FLOE_ANS_LEAST && r.words.at < n ? min(slab, n) : slab;
}

/* False where these bytes, whole words of 32 bits, are no states. ring: the warp's, until it has read all. begin: FLOE_ANS_BEGIN, or of
 * older streams FLOE_ANS_LEAST. */
FLOE_DEV bool floe_ans_begin(floe_ans_reader &r, uint32_t begin, uint32_t lanes, const uint8_t *src, uint32_t nbytes,
                             void *ring)
{
    const uint32_t lane = floe_lane();
    floe_ans_words &w = r.words;
    bool good = true;
    w.from = (const uint32_t *)src;
    w.npairs = nbytes / 4;
    w.at = 0;
    w.ring = (uint16_t *)ring;
    r.begin = begin;
    if (w.npairs < lanes) {
        good = floe_ans_begin_short(r, lanes);
        w.npairs = 0;
    } else {
        r.state =
            lane < lanes ? w.from[lane] : begin + (w.npairs > lanes && begin != FLOE_ANS_LEAST ? FLOE_ANS_LEAST : 0);
        w.at = __shfl_sync(FLOE_ALL_LANES, r.state, 0) >> 31;
        r.state &= lane == 0 ? ~(1u << 31) : ~0u; /* of others it is damage, which shows at the end */
        w.from += lanes;
        w.npairs -= lanes;
    }
    r.least = begin == FLOE_ANS_LEAST || w.npairs ? FLOE_ANS_LEAST : 0; /* without words no state was lifted */
    w.pause = floe_ans_pause(r);
    floe_copy_async_wait(); /* a slab of the chunk before may be on its way, and others may still read */
    __syncwarp();
    for (uint32_t slab = 0; slab < 3; slab++)
        floe_ans_request(w, slab);
    floe_ans_wait();
    return good;
}

/* A step reads no more than a slab. With the last word, encoding had lifted the states. */
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

/* nbits: 0 of lanes that have none. */
FLOE_DEV uint32_t floe_ans_read_raw(floe_ans_reader &r, uint32_t nbits)
{
    const uint32_t raw = r.state & ((1u << nbits) - 1);
    r.state >>= nbits;
    floe_ans_fill(r, nbits != 0);
    return raw;
}

/* All words read, none beyond, and all states as encoding began with them. */
FLOE_DEV bool floe_ans_ended(const floe_ans_reader &r)
{
    return __all_sync(FLOE_ALL_LANES, r.state == r.begin) && r.words.at == 2 * r.words.npairs;
}

#endif
