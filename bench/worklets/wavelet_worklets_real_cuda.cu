/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worklets of a GPU: a tile whose stencils stay inside its line, but for images, is lifted in registers. A worklet a bank, way and kind of
 * axis: one for all would have its points in memory, and the registers of the widest bank.
 */
#include "prim/prim_map.cuh"
#include "bench/worklets/wavelet_worklets_math.h"
#include "stage/wavelet/wavelet_flow.cuh"

namespace
{

/* Which ends of its line a tile has, and whether the line has as many odds as evens. */
struct edges {
    bool left, right, even;
};

/* Index i of a parity counts from `reach` before the tile's first pair. Beyond an end stands what stands as far inside of it:
 * the place of that, or i where index i is inside. width: of the tile and what is before it. */
FLOE_DEV int32_t mirror(const edges &e, int odd, int32_t i, int32_t reach, int32_t width)
{
    if (e.left && i < reach)
        return 2 * reach - i - odd;
    if (e.right && e.even && i >= width)
        return 2 * width - 1 - i - odd;
    if (e.right && !e.even && i >= width - odd)
        return 2 * width - 2 - i - odd;
    return i;
}

/* Pairs on each side that a pair is made of, where no stencil is one-sided. */
constexpr int32_t reach_of(const flow &f)
{
    int32_t far = 0;
    for (int32_t k = 0; k < f.nlifts; k++) {
        const lifting &l = f.lift[k];
        const int32_t off = l.to_odd ? -1 : 1;
        far += most(-2 * l.first - off, 2 * (l.first + l.ntaps - 1) + off);
    }
    return (far + 1) / 2;
}

template <class W, int32_t PAIRS> struct tile {
    static constexpr int32_t REACH = reach_of(W::FLOW), WIDTH = PAIRS + REACH, N = WIDTH + REACH;
    floe_real x[2][N];
};

/* Lifting K and further; of the parities points LO .. N - HI are there. */
template <class W, int32_t PAIRS, int32_t K, int32_t LO0, int32_t LO1, int32_t HI0, int32_t HI1>
FLOE_DEV void lift(tile<W, PAIRS> &t, const edges &e)
{
    using T = tile<W, PAIRS>;
    constexpr lifting L = W::FLOW.lift[K];
    constexpr int32_t TO = L.to_odd, LO_TO = TO ? LO1 : LO0, LO_FROM = (TO ? LO0 : LO1) - L.first,
                      HI_TO = TO ? HI1 : HI0, HI_FROM = (TO ? HI0 : HI1) + L.first + L.ntaps - 1,
                      LO = LO_TO > LO_FROM ? LO_TO : LO_FROM, HI = HI_TO > HI_FROM ? HI_TO : HI_FROM;
#pragma unroll
    for (int32_t i = LO; i < T::N - HI; i++)
#pragma unroll
        for (int32_t tap = 0; tap < L.ntaps; tap++)
            t.x[TO][i] = FLOE_WAVELET_FMA(L.weight[tap], t.x[!TO][i + L.first + tap], t.x[TO][i]);
#pragma unroll
    for (int32_t i = 0; i < T::N; i++) { /* as mirror has it; each place is a constant */
        if (i < T::REACH && e.left)
            t.x[TO][i] = t.x[TO][2 * T::REACH - i - TO];
        if (i >= T::WIDTH && e.right && e.even)
            t.x[TO][i] = t.x[TO][2 * T::WIDTH - 1 - i - TO];
        if (i >= T::WIDTH - TO && e.right && !e.even)
            t.x[TO][i] = t.x[TO][2 * T::WIDTH - 2 - i - TO];
    }
    if constexpr (K + 1 < W::FLOW.nlifts)
        lift<W, PAIRS, K + 1, TO ? LO0 : LO, TO ? LO : LO1, TO ? HI0 : HI, TO ? HI : HI1>(t, e);
}

/* The tile has no other ends than these, and the right one, if at all, behind its last pair. */
template <class W, int32_t PAIRS>
FLOE_DEV void inner_tile(const floe_worklet_pass *j, const floe_worklet_tile *place, const edges &e)
{
    using T = tile<W, PAIRS>;
    T t;
    const int32_t begin = place->end - T::WIDTH;
#pragma unroll
    for (int32_t odd = 0; odd < 2; odd++)
#pragma unroll
        for (int32_t i = 0; i < T::N; i++) {
            const int32_t from = begin + mirror(e, odd, i, T::REACH, T::WIDTH);
            const floe_real v = j->from[place->place + floe_worklet_place(j, odd, from, !W::INVERSE)];
            t.x[odd][i] = W::INVERSE && !odd ? v * W::SCALE : v;
        }
    lift<W, PAIRS, 0, 0, 0, 0, 0>(t, e);
#pragma unroll
    for (int32_t odd = 0; odd < 2; odd++)
#pragma unroll
        for (int32_t i = T::REACH; i < T::WIDTH; i++) {
            const floe_real v = t.x[odd][i];
            if (i < T::WIDTH - odd || !e.right || e.even)
                j->to[place->place + floe_worklet_place(j, odd, begin + i, W::INVERSE)] =
                    FLOE_R(floe_wavelet_finite)(W::INVERSE || odd ? v : v * W::SCALE);
        }
}

/* False: the tile has an end that cannot stay in registers. */
FLOE_DEV bool edges_of(const floe_worklet_pass *j, const floe_worklet_tile *t, int32_t reach, edges *e)
{
    e->left = t->first < reach;
    e->right = t->end + reach > (int32_t)j->count[1];
    e->even = j->n % 2 == 0;
    const bool starts = t->first == 0 && !e->right && !j->one_sided,
               stops = t->end == (int32_t)j->count[0] && !e->left && !j->one_sided;
    return (!e->left || starts) && (!e->right || stops);
}

template <uint32_t BANK, bool INVERSE, int32_t PAIRS> FLOE_DEV void by_lane(const floe_worklet_pass *j, uint64_t index)
{
    using W = way<BANK, INVERSE>;
    floe_real room[2 * (PAIRS + FLOE_WAVELET_AROUND)];
    const floe_worklet_tile t = floe_worklet_tile_of(j, index, PAIRS, 1);
    edges e;
    if (edges_of(j, &t, tile<W, PAIRS>::REACH, &e))
        inner_tile<W, PAIRS>(j, &t, e);
    else
        floe_worklet_any_tile(j, &t, room, PAIRS);
}

template <uint32_t BANK, bool INVERSE> int launch(const floe_worklet_pass *j, uint64_t n, void *stream)
{
    return j->tiles == 0
               ? floe_prim_map_cuda<floe_worklet_pass, by_lane<BANK, INVERSE, FLOE_WORKLET_GPU_ALONG>>(j, n, stream)
               : floe_prim_map_cuda<floe_worklet_pass, by_lane<BANK, INVERSE, FLOE_WORKLET_GPU_ACROSS>>(j, n, stream);
}

template <uint32_t BANK> int launch_bank(const floe_worklet_pass *j, uint64_t n, void *stream)
{
    return j->inverse ? launch<BANK, true>(j, n, stream) : launch<BANK, false>(j, n, stream);
}

using launcher = int(const floe_worklet_pass *j, uint64_t n, void *stream);
launcher *const launchers[FLOE_WAVELET_BANKS] = {launch_bank<0>, launch_bank<1>, launch_bank<2>, launch_bank<3>,
                                                 launch_bank<4>, launch_bank<5>, launch_bank<6>, launch_bank<7>};

} // namespace

extern "C" int FLOE_PASTE(FLOE_R(floe_worklet_lanes), _cuda)(const floe_worklet_pass *job, uint64_t n, void *stream);
extern "C" int FLOE_PASTE(FLOE_R(floe_worklet_lanes), _cuda)(const floe_worklet_pass *job, uint64_t n, void *stream)
{
    return launchers[job->bank](job, n, stream);
}
