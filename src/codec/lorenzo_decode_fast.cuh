/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding a tile the short way: quantizer LINEAR, coded, no exceptions. All numbers of a lane's group stay in registers.
 * f32 is summed up as floats, f64 as integers of 32 bits, as long as the bound on all sums lets them; a tile that it does
 * not let takes the long way (lorenzo_decode_any.cuh), as does everything else.
 */
#ifndef FLOE_CODEC_LORENZO_DECODE_FAST_CUH
#define FLOE_CODEC_LORENZO_DECODE_FAST_CUH

#include "codec/lorenzo_decode_sums.cuh"

namespace
{

#if FLOE_REAL_BITS == 32
typedef float narrow;
#else
typedef int32_t narrow;
#endif

/* ---- values out ---------------------------------------------------------------------------------------------------- */

/* All as FLOE_R(floe_linear_decode). */
FLOE_DEV float value_of(float q, float step) { return q * step; }
FLOE_DEV floe_real value_of(floe_int q, floe_real step) { return FLOE_R(floe_linear_decode)(q, step); }
#if FLOE_REAL_BITS == 64
FLOE_DEV double value_of(int32_t q, double step) { return FLOE_R(floe_linear_decode)((int64_t)q, step); }
#endif

FLOE_DEV void store_row(floe_real *to, const floe_real v[4])
{
#if FLOE_REAL_BITS == 32
    __stcs((float4 *)to, make_float4(v[0], v[1], v[2], v[3]));
#else
    __stcs((double2 *)to, make_double2(v[0], v[1]));
    __stcs((double2 *)to + 1, make_double2(v[2], v[3]));
#endif
}

/* Values of a step to where they are wanted. WHOLE: everywhere. */
template <int RANK, bool WHOLE> FLOE_DEV void store_step(const target &t, uint32_t s, const floe_real v[GROUP])
{
    const uint32_t wanted = WHOLE ? FLOE_ALL_LANES : group_cells<RANK>(t.out, s);
#pragma unroll
    for (int r = 0; r < GROUP / 4; r++) {
        floe_real *to = t.origin + row_at<RANK>(t, s, r);
        if constexpr (WHOLE)
            store_row(to, v + 4 * r);
        else
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (wanted >> (4 * r + i) & 1)
                    to[i * t.x] = v[4 * r + i];
    }
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* The steps of a coded tile. */
template <int RANK, bool WHOLE, class Source>
FLOE_DEV outcome decode_fast(const target &t, uint32_t mode, floe_int base, floe_real step, Source &source)
{
    walk<RANK, narrow> w;
    sums_bound bound;
    bound_begin(bound, base);
    walk_begin<RANK, narrow>(w, (narrow)base);
#pragma unroll 1
    for (uint32_t s = 0; s < t.steps_wanted; s++) {
        step_head h;
        narrow q[GROUP];
        floe_real v[GROUP];
        if (!source_step<WHOLE>(source, s, WHOLE || group_cells<RANK>(t.in, s) != 0, h))
            return TILE_BAD;
        if (!bound_holds<RANK>(bound, mode, h.most, w))
            return TILE_UNFIT;
        source_residuals(source, s, h, q);
        sum_step<RANK>(w, mode, h.flat, q);
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            v[k] = value_of(q[k], step);
        store_step<RANK, WHOLE>(t, s, v);
    }
    return t.steps_wanted < t.nsteps || source_at_end(source) ? TILE_DONE : TILE_BAD;
}

/* Whether an entry is that of a tile for the short way; all that is wrong with others is found on the long one. */
template <int RANK> FLOE_DEV bool entry_is_fast(uint32_t entry, const floe_dev_chunk *chunk, const target &t)
{
    const uint32_t mode = entry >> FLOE_TILE_MODE_SHIFT & 3, nwords = entry & FLOE_TILE_NWORDS_MASK;
    const uint32_t others = ~((uint32_t)FLOE_TILE_NWORDS_MASK | 3u << FLOE_TILE_MODE_SHIFT);
    return (entry & others) == 0 && chunk->quantizer.kind == FLOE_QUANTIZER_LINEAR && nwords >= BASE_WORDS &&
           nwords < t.ncells * BASE_WORDS && (RANK == 3 || mode == FLOE_LORENZO_X || mode == FLOE_LORENZO_NONE);
}
static_assert(FLOE_TILE_CODED == 0, "no other bits in its entry");

} // namespace

#endif
