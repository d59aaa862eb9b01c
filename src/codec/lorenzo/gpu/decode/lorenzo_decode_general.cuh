/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding a tile on the general path: any kind, quantizer, layout and part of it, exceptions and signs; what is damaged is found
 * out here. Numbers are integers of the element type's width. It accepts what floe_tile_decode accepts.
 */
#ifndef FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_GENERAL_CUH
#define FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_GENERAL_CUH

#include "codec/lorenzo/gpu/decode/lorenzo_decode_plain.cuh"

namespace FLOE_LORENZO_DECODING
{

/* Of a mask, this lane's group of each step. */
typedef uint32_t lane_mask[FLOE_TILE_STEPS];

/* What the words of a tile hold before the body. */
struct prefix {
    bool exceptions, signs;
    lane_mask valid; /* cells inside the field without an exception */
    lane_mask place, low, high, sign;
    const uint32_t *literal; /* in device memory */
    uint32_t next;           /* literals of the steps before */
};

FLOE_DEV floe_uint word_value(const uint32_t *words)
{
#if FLOE_REAL_BITS == 32
    return words[0];
#else
    return words[0] | (floe_uint)words[1] << 32;
#endif
}

/* ---- masks --------------------------------------------------------------------------------------------------------- */

/* As floe_mask_decode. The whole warp gets the same result and *used. */
FLOE_DEV_COLD bool read_mask(const uint32_t *words, uint32_t nwords, const lane_mask parent, uint32_t nsteps,
                             lane_mask mask, uint32_t *used)
{
    const uint32_t lane = floe_lane();
    uint32_t n = 2 * nsteps;
    bool ok = true;
    if (nwords < n)
        return false;
    for (uint32_t s = 0; s < nsteps; s++) {
        const uint32_t any = words[2 * s], all = words[2 * s + 1], listed = any & ~all;
        const uint32_t whole = parent[s], here = n + __popc(listed & floe_lanes_below());
        n += __popc(listed);
        if ((all & ~any) || n > nwords)
            return false;
        const bool has = any >> lane & 1, is_listed = listed >> lane & 1;
        const uint32_t bits = is_listed ? words[here] : has ? whole : 0;
        mask[s] = bits;
        ok &= !has || (bits != 0 && !(bits & ~whole) && !(is_listed && bits == whole));
    }
    *used = n;
    return __all_sync(FLOE_ALL_LANES, ok);
}

FLOE_DEV uint32_t count_bits(const lane_mask mask, uint32_t nsteps)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < nsteps; s++)
        n += __popc(mask[s]);
    return __reduce_add_sync(FLOE_ALL_LANES, n);
}

/* As floe_exceptions_decode; literals stay where they are. */
FLOE_DEV_COLD bool read_exceptions(const uint32_t *words, uint32_t nwords, uint32_t nsteps, prefix &p, uint32_t *used)
{
    uint32_t n, m, nliterals = 0;
    if (nwords < 1 || words[0] >> FLOE_EXCEPTIONS_USED_BITS ||
        !read_mask(words + 1, nwords - 1, p.valid, nsteps, p.place, &n))
        return false;
    n += 1;
    const uint32_t head = words[0], kind = head >> FLOE_EXCEPTIONS_KIND_SHIFT;
    if (count_bits(p.place, nsteps) != (head & 0xFFFF))
        return false;
    if (head >> FLOE_EXCEPTIONS_ONE_KIND_BIT & 1) {
        for (uint32_t s = 0; s < nsteps; s++) {
            p.low[s] = kind & 1 ? p.place[s] : 0;
            p.high[s] = kind >> 1 ? p.place[s] : 0;
        }
    } else {
        if (kind != 0 || !read_mask(words + n, nwords - n, p.place, nsteps, p.low, &m))
            return false;
        n += m;
        if (!read_mask(words + n, nwords - n, p.place, nsteps, p.high, &m))
            return false;
        n += m;
    }
    for (uint32_t s = 0; s < nsteps; s++)
        nliterals += __popc(p.place[s] & ~(p.low[s] | p.high[s]));
    nliterals = __reduce_add_sync(FLOE_ALL_LANES, nliterals);
    if (nwords - n < nliterals * FLOE_EXCEPTION_LITERAL_WORDS)
        return false;
    p.literal = words + n;
    *used = n + nliterals * FLOE_EXCEPTION_LITERAL_WORDS;
    return true;
}

/* Exceptions and signs, from word *at on, which moves to the body. */
template <int RANK>
FLOE_DEV bool read_prefix(const target &t, const uint32_t *words, uint32_t nwords, uint32_t *at, prefix &p)
{
    uint32_t used;
    p.next = 0;
    for (uint32_t s = 0; s < t.nsteps; s++)
        p.valid[s] = group_cells<RANK>(t.in, s);
    if (p.exceptions) {
        if (!read_exceptions(words + *at, nwords - *at, t.nsteps, p, &used))
            return false;
        *at += used;
        for (uint32_t s = 0; s < t.nsteps; s++)
            p.valid[s] &= ~p.place[s];
    }
    if (p.signs) {
        if (!read_mask(words + *at, nwords - *at, p.valid, t.nsteps, p.sign, &used))
            return false;
        *at += used;
    }
    return true;
}

/* ---- values -------------------------------------------------------------------------------------------------------- */

FLOE_DEV floe_real ordered_value(floe_uint q) { return FLOE_R(floe_real_of)((floe_uint)FLOE_R(floe_bits_order)(q)); }

/* The loop's arrays are in memory: out of line, those of others stay in registers. */
FLOE_DEV_COLD void log_values(double step, const floe_int *q, floe_real *v)
{
#pragma unroll 2
    for (int k = 0; k < GROUP; k++)
        v[k] = FLOE_R(floe_log_decode)(q[k], step);
}

/* As floe_quantizer_decode, but for TABLE. */
FLOE_DEV void quantizer_values(const floe_quantizer *z, const floe_int q[GROUP], floe_real v[GROUP])
{
    const floe_real step = (floe_real)z->step;
    if (z->kind == FLOE_QUANTIZER_LOG) {
        floe_int from[GROUP];
        floe_real to[GROUP];
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            from[k] = q[k];
        log_values(z->step, from, to);
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            v[k] = to[k];
    } else if (z->kind == FLOE_QUANTIZER_LINEAR) {
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            v[k] = value_of(q[k], step);
    } else {
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            v[k] = ordered_value((floe_uint)q[k]);
    }
}

/* False: a place outside the table where a value comes of it. The kernel may have written the table itself. */
FLOE_DEV bool table_values(const floe_quantizer *z, const floe_int q[GROUP], uint32_t needed, floe_real v[GROUP])
{
    const uint64_t *table = z->table;
    const uint32_t n = z->table_size;
    bool ok = true;
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        const bool inside = (floe_uint)q[k] < n;
        ok &= inside || !(needed >> k & 1);
        v[k] = ordered_value((floe_uint)table[inside ? (floe_uint)q[k] : 0]);
    }
    return ok;
}

/* Exceptions of step s over the values. */
FLOE_DEV void put_exceptions(const floe_quantizer *z, prefix &p, uint32_t s, floe_real v[GROUP])
{
    const uint32_t place = p.place[s], low = p.low[s], high = p.high[s], literals = place & ~(low | high);
    const uint32_t n = __popc(literals);
    uint32_t at = p.next + floe_warp_sum_before(n);
    p.next += __reduce_add_sync(FLOE_ALL_LANES, n);
    if (place == 0)
        return;
    const floe_uint a = (floe_uint)z->palette[0], b = (floe_uint)z->palette[1], c = (floe_uint)z->palette[2];
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        const bool is_low = low >> k & 1, is_high = high >> k & 1;
        if (place >> k & 1)
            v[k] = FLOE_R(floe_real_of)(is_low ? (is_high ? c : a) : b);
        if (literals >> k & 1)
            v[k] = FLOE_R(floe_real_of)(word_value(p.literal + FLOE_EXCEPTION_LITERAL_WORDS * at++));
    }
}

/* q of step s -> values in the output. False: a value outside the table. */
template <int RANK>
FLOE_DEV bool emit_step(const target &t, const floe_quantizer *z, prefix &p, uint32_t s, const floe_int q[GROUP])
{
    floe_real v[GROUP];
    if (z->kind == FLOE_QUANTIZER_TABLE) {
        if (!__all_sync(FLOE_ALL_LANES, table_values(z, q, p.valid[s], v)))
            return false;
    } else {
        quantizer_values(z, q, v);
    }
    if (p.signs) {
        const uint32_t sign = p.sign[s];
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            if (sign >> k & 1)
                v[k] = FLOE_R(floe_real_of)(FLOE_R(floe_real_bits)(v[k]) | FLOE_REAL_SIGN);
    }
    if (p.exceptions)
        put_exceptions(z, p, s, v);
    if (t.whole)
        store_step<RANK, true>(t, s, v, (uint4 *)NULL);
    else
        store_step<RANK, false>(t, s, v, (uint4 *)NULL);
    return true;
}

/* ---- kinds of tiles ------------------------------------------------------------------------------------------------ */

/* Values that stand in the words, x first, then y, then z; or one pattern for all (words NULL). */
template <int RANK> FLOE_DEV void emit_plain(const target &t, const uint32_t *words, floe_uint pattern)
{
    const uint32_t nx = t.in.x1, ny = t.in.y1;
    const cells &out = t.out;
    for (uint32_t i = floe_lane(); i < t.ncells; i += FLOE_WARP) {
        const uint32_t x = i % nx, y = i / nx % ny, z = i / nx / ny;
        if (x >= out.x0 && x < out.x1 && y >= out.y0 && y < out.y1 && z >= out.z0 && z < out.z1)
            t.origin[t.at + (int64_t)z * t.z + (int64_t)y * t.y + (int64_t)x * t.x] =
                FLOE_R(floe_real_of)(words ? word_value(words + i * BASE_WORDS) : pattern);
    }
}

/* A coded tile, or one of which all values are the base. */
template <int RANK, class Source>
FLOE_DEV bool emit_numbers(const target &t, const floe_quantizer *z, prefix &p, uint32_t entry, floe_int base,
                           Source &source)
{
    const bool coded = floe_tile_kind(entry) == FLOE_TILE_CODED;
    const uint32_t nsteps = coded ? t.steps_wanted : t.nsteps;
    walk<RANK, floe_int> w;
    walk_begin<RANK, floe_int>(w, base);
#pragma unroll 1
    for (uint32_t s = 0; s < nsteps; s++) {
        step_head h;
        floe_int q[GROUP];
        if (coded) {
            if (!source_step<false>(source, s, group_cells<RANK>(t.in, s) != 0, h))
                return false;
            source_residuals(source, s, h, q);
            sum_step<RANK>(w, floe_tile_mode(entry), h.flat, q);
        } else {
#pragma unroll
            for (int k = 0; k < GROUP; k++)
                q[k] = base;
        }
        if (!emit_step<RANK>(t, z, p, s, q))
            return false;
    }
    return nsteps < t.nsteps || !coded || source_at_end(source);
}

/* Makes a source of a tile's body, words from `from` on. */
struct pack_opener {
    uint32_t *stage;
    uint32_t room; /* words of it: a step and a WINDOW_MARGIN at least */
    typedef pack_source source;
    __device__ __forceinline__ bool open(const target &t, const uint32_t *words, uint32_t nwords, uint32_t from,
                                         pack_source &p) const
    {
        __syncwarp(); /* nobody reads what another try has left */
        window_open(p.w, words, nwords, from, stage, room);
        window_wait();
        return source_open(p, t.nsteps);
    }
};

/* words: of the tile, in device memory, as many as the entry has. */
template <int RANK, class Opener>
static __device__ __noinline__ outcome decode_general(const floe_dev_chunk *chunk, uint32_t tile, uint32_t entry,
                                                      const uint32_t *words, const Opener &opener)
{
    const target t = target_of<RANK>(chunk, tile);
    const uint32_t kind = floe_tile_kind(entry);
    const uint32_t nwords = entry & FLOE_TILE_NWORDS_MASK, raw = t.ncells * BASE_WORDS;
    const floe_quantizer *z = &chunk->quantizer;
    prefix p;
    if (floe_tile_is_impossible(entry, RANK, z->kind))
        return TILE_BAD;
    if (kind == FLOE_TILE_SPECIAL || kind == FLOE_TILE_RAW) {
        const bool special = kind == FLOE_TILE_SPECIAL;
        if (nwords != (special ? 0 : raw))
            return TILE_BAD;
        emit_plain<RANK>(t, special ? (const uint32_t *)NULL : words,
                         special ? (floe_uint)z->palette[floe_tile_mode(entry)] : 0);
        return TILE_DONE;
    }
    uint32_t at = BASE_WORDS;
    p.exceptions = entry & FLOE_TILE_EXCEPTIONS;
    p.signs = entry & FLOE_TILE_SIGNS;
    if (nwords >= raw || nwords < BASE_WORDS || !read_prefix<RANK>(t, words, nwords, &at, p))
        return TILE_BAD;
    const floe_int base = (floe_int)word_value(words);
    typename Opener::source source;
    const bool open = kind == FLOE_TILE_CONSTANT ? at == nwords : opener.open(t, words, nwords, at, source);
    return open && emit_numbers<RANK>(t, z, p, entry, base, source) ? TILE_DONE : TILE_BAD;
}

} // namespace FLOE_LORENZO_DECODING

#endif
