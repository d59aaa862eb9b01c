/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding a tile of which some cells are holes: all of one pattern, the fill value or else NaN (the palette's first one), and
 * no other exception. Else as the plain path, by whose steps (lorenzo_encode_plain.cuh) the numbers are coded once the gaps are
 * closed; that is done in registers. The words are those of lorenzo_encode_general.cuh, which takes all other tiles.
 *
 * How many words stand before the body is known when all steps are done: it begins as far behind as they can reach, and
 * moves.
 */
#ifndef FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_FILL_CUH
#define FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_FILL_CUH

#include "codec/lorenzo/gpu/encode/lorenzo_encode_general.cuh"
#include "codec/lorenzo/gpu/encode/lorenzo_encode_plain.cuh"

namespace FLOE_LORENZO_ENCODING
{

/* ---- gaps ---------------------------------------------------------------------------------------------------------- */

/* The N values of a row that this lane has, the row being WIDTH lanes: one that is not good becomes what is before it in the
 * row, or the first good one. False: none is good, and all stay. */
template <int N, int WIDTH> FLOE_DEV bool close_row(floe_real v[N], uint32_t good)
{
    const uint32_t lane = floe_lane(), begin = lane / WIDTH * WIDTH;
    const uint32_t lanes = __ballot_sync(FLOE_ALL_LANES, good != 0) & floe_low_bits(WIDTH) << begin;
    const uint32_t before = lanes & floe_lanes_below();
    floe_real first = v[N - 1], last = v[0];
#pragma unroll
    for (int k = 1; k < N; k++) {
        first = good >> (N - 1 - k) & 1 ? v[N - 1 - k] : first;
        last = good >> k & 1 ? v[k] : last;
    }
    const floe_real left = __shfl_sync(FLOE_ALL_LANES, last, before ? (int)floe_top_bit(before) : 0);
    floe_real carry = __shfl_sync(FLOE_ALL_LANES, first, lanes ? __ffs((int)lanes) - 1 : 0);
    carry = before ? left : carry;
#pragma unroll
    for (int k = 0; k < N; k++) {
        carry = good >> k & 1 ? v[k] : carry;
        v[k] = lanes ? carry : v[k];
    }
    return lanes != 0;
}

/* This lane's part of the first row of the plane before; rank 1: of the last value before. */
template <int RANK> struct row_kept {
    enum { N = RANK == 1 ? 1 : 4 };
    floe_real v[N];
};

/* A plane of rank 3. Rows without any good value become like the row above, the first one like that of the plane before. */
FLOE_DEV void close_plane(floe_real q[16], uint32_t good, row_kept<3> &kept)
{
    const uint32_t lane = floe_lane();
    const bool top = lane < 8;
    uint32_t rows = 0;
#pragma unroll
    for (int r = 0; r < 4; r++)
        rows |= close_row<4, 8>(q + 4 * r, good >> 4 * r & 15) ? 1u << r : 0;
    if (!__all_sync(FLOE_ALL_LANES, rows == 15)) {
        const uint32_t column = 0x01010101u << lane % 8;
        const uint32_t above = __ballot_sync(FLOE_ALL_LANES, top || rows != 0) & column & floe_lanes_below();
#pragma unroll
        for (int x = 0; x < 4; x++) {
            floe_real last = kept.v[x];
#pragma unroll
            for (int r = 0; r < 4; r++)
                last = rows >> r & 1 ? q[4 * r + x] : last;
            floe_real carry = __shfl_sync(FLOE_ALL_LANES, last, above ? (int)floe_top_bit(above) : 0);
            carry = top ? kept.v[x] : carry;
#pragma unroll
            for (int r = 0; r < 4; r++)
                carry = q[4 * r + x] = rows >> r & 1 ? q[4 * r + x] : carry;
        }
    }
}

/* Numbers of a step whose good ones are given: all others become what is near them. */
template <int RANK> FLOE_DEV void close_gaps(floe_real q[GROUP], uint32_t good, row_kept<RANK> &kept)
{
    const bool some = __any_sync(FLOE_ALL_LANES, good != FLOE_ALL_LANES);
    if constexpr (RANK == 1) {
        const bool all_gaps = !close_row<GROUP, FLOE_WARP>(q, good);
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            q[k] = all_gaps ? kept.v[0] : q[k];
        kept.v[0] = __shfl_sync(FLOE_ALL_LANES, q[GROUP - 1], FLOE_WARP - 1);
    } else {
#pragma unroll
        for (int z = 0; z < shape<RANK>::GZ; z++) {
            floe_real *plane = q + z * shape<RANK>::PLANE;
            if constexpr (RANK == 3) {
                if (some)
                    close_plane(plane, good >> 16 * z & 0xFFFF, kept);
            } else if (some && !close_row<4, FLOE_WARP>(plane, good >> 4 * z & 15)) {
#pragma unroll
                for (int x = 0; x < 4; x++)
                    plane[x] = kept.v[x];
            }
#pragma unroll
            for (int x = 0; x < 4; x++)
                kept.v[x] = plane[x];
        }
    }
}

/* ---- what stands before the body ----------------------------------------------------------------------------------- */

/* Exceptions of one kind, of a tile of so many steps: a word that counts them, two a step, and one for each group of which some
 * cells are holes and some are not. */
struct fill_words {
    uint32_t at, nlisted; /* word of the tile */
    uint32_t count;       /* holes of this lane's groups */
};
enum { MOST_FILL_WORDS = 1 + 2 * FLOE_TILE_STEPS + FLOE_TILE_GROUPS };

FLOE_DEV void put_holes(const sink &out, fill_words &w, uint32_t s, uint32_t nsteps, uint32_t holes, uint32_t valid)
{
    const uint32_t any = __ballot_sync(FLOE_ALL_LANES, holes != 0);
    const uint32_t all = __ballot_sync(FLOE_ALL_LANES, holes != 0 && holes == valid), listed = any & ~all;
    if (listed >> floe_lane() & 1)
        put(out, w.at + 1 + 2 * nsteps + w.nlisted + __popc(listed & floe_lanes_below()), holes);
    if (floe_lane() == 0) {
        put(out, w.at + 1 + 2 * s, any);
        put(out, w.at + 2 + 2 * s, all);
    }
    w.nlisted += __popc(listed);
    w.count += __popc(holes);
}

FLOE_DEV uint32_t word_at(const sink &s, uint32_t at)
{
    return at < s.cap ? s.words[at] : at - s.cap < s.spill_cap ? s.spill[at - s.cap] : 0;
}

/* n words from `from` on to `to`, which is before that. */
FLOE_DEV void move_words(const sink &out, uint32_t to, uint32_t from, uint32_t n)
{
    enum { AT_ONCE = 4 };
    __syncwarp();
    for (uint32_t i = 0; i < n; i += AT_ONCE * FLOE_WARP) {
        uint32_t v[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const uint32_t at = i + k * FLOE_WARP + floe_lane();
            v[k] = at < n ? word_at(out, from + at) : 0;
        }
        __syncwarp();
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (i + k * FLOE_WARP + floe_lane() < n)
                put(out, to + i + k * FLOE_WARP + floe_lane(), v[k]);
        __syncwarp();
    }
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* The values of a step; holes become 0. Returns which they are. */
template <int RANK>
FLOE_DEV uint32_t take_holes(const plain_tile &t, uint32_t s, const uint32_t *buffer, floe_uint pattern,
                             floe_real x[GROUP])
{
    uint32_t holes = 0;
    take_next<RANK, false>(t, s, buffer, x);
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        const bool is_hole = FLOE_R(floe_real_bits)(x[k]) == pattern;
        holes |= is_hole ? 1u << k : 0;
        x[k] = is_hole ? (floe_real)0 : x[k];
    }
    return holes;
}

/* Body from word body_at on, holes as holes_out has it; the base is put before the body, and returned. The first step is on its
 * way to buffer. */
template <int RANK, bool BY_SUM>
FLOE_DEV plain_result encode_fill_steps(const plain_work &work, floe_uint pattern, const sink &out, uint32_t body_at,
                                        uint32_t *buffer, fill_words &holes_out, checks &c)
{
    const uint32_t nsteps = reload(work.tile.nsteps), lead = body_at - BASE_WORDS;
    plain_result r = {0, RANK == 3 ? FLOE_LORENZO_XY : FLOE_LORENZO_X, 0, false, false, false, nsteps};
    step_walk<RANK> w;
    row_kept<RANK> kept;
    bool empty = true; /* holes only, so far: then all numbers are 0 */
    walk_begin(w, body_at + (nsteps + 1) / 2);
    check_begin(c);
#pragma unroll
    for (int k = 0; k < row_kept<RANK>::N; k++)
        kept.v[k] = 0;
#pragma unroll 1
    for (uint32_t s = 0; s < nsteps; s++) {
        floe_real x[GROUP], q[GROUP];
        const uint32_t valid = plain_valid<RANK>(work.tile, s);
        const uint32_t holes = take_holes<RANK>(work.tile, s, buffer, pattern, x) & valid;
        if (s + 1 < nsteps) { /* the values are out of the buffer */
            __syncwarp();
            fetch_next<RANK, false, !BY_SUM>(work.tile, s + 1, buffer);
        }
        put_holes(out, holes_out, s, nsteps, holes, valid);
        empty = empty && __all_sync(FLOE_ALL_LANES, holes == valid);
        if (!empty) {
            const linear l = reload_linear(work.quantizer);
#pragma unroll
            for (int k = 0; k < GROUP; k += 2)
                quantize2<true>(x + k, l, q + k, c);
            close_gaps<RANK>(q, valid & ~holes, kept);
            if (s == 0)
                begin_tile<RANK, false>(q, valid, out, lead, w.b, w.inexact, r);
            if (!code_step<RANK, false, BY_SUM, no_draft>(work, out, {s, valid, r.mode}, q, w, c, r.unfit)) {
                r.inexact = !r.unfit;
                break;
            }
        }
        put_descriptors(out, lead, s, nsteps, w.descriptors);
    }
    r.coded = __any_sync(FLOE_ALL_LANES, w.any != 0);
    r.nbody = w.at - body_at;
    return r;
}

/* Encodes such a tile as encode_general does. False: it is none; nothing that it left counts. The first step is on its way to
 * buffer. By a warp. */
template <int RANK, bool DRAFT>
static __device__ __noinline__ bool encode_fill(const plain_work *work, floe_uint pattern, sink out, uint32_t *buffer,
                                                tallies &t, floe_tile_result &m)
{
    enum { KIND = 1 };
    const uint32_t lead = DRAFT ? 1 : 0, holes_at = lead + BASE_WORDS,
                   body_at = holes_at + MOST_FILL_WORDS + BASE_WORDS;
    const uint32_t ncells = reload(work->tile.ncells), nsteps = reload(work->tile.nsteps);
    fill_words w = {holes_at, 0, 0};
    checks c;
    const plain_result r = encode_fill_steps<RANK, DRAFT>(*work, pattern, out, body_at, buffer, w, c);
    t.count = __reduce_add_sync(FLOE_ALL_LANES, w.count);
    t.nliterals = 0;
    t.error = (double)c.error;
    t.pw_error = 0;
    if (r.unfit || r.inexact || t.count == 0 || body_at + r.nbody > out.cap + out.spill_cap) {
        floe_copy_async_wait(); /* of the buffer */
        __syncwarp();
        return false;
    }
    if (t.count == ncells) {
        m = floe_tile_special(KIND);
        return true;
    }
    const uint32_t nprefix = BASE_WORDS + 1 + 2 * nsteps + w.nlisted;
    const uint32_t flags = r.mode << FLOE_TILE_MODE_SHIFT | FLOE_TILE_EXCEPTIONS;
    if (floe_lane() == 0) {
        put_value(out, lead, r.base);
        put(out, holes_at, floe_exceptions_head(t.count, true, KIND));
        if (DRAFT)
            put(out, 0, nprefix);
    }
    m = floe_tile_result_of(ncells * BASE_WORDS, nprefix, r.nbody, r.coded, DRAFT, flags);
    if (m.raw)
        return true;
    if (r.coded)
        move_words(out, lead + nprefix, body_at, r.nbody);
    else if (DRAFT)
        move_words(out, 0, lead, nprefix);
    return true;
}

} // namespace FLOE_LORENZO_ENCODING

#endif
