/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a GPU scans values, for kernels that go on with what the scan found.
 *
 * Values are compared as keys: bit patterns as integers that grow with the value. A block takes tiles of the field, from
 * its far end to its beginning, so that the beginning is still in cache when the next kernel starts there. A lane keeps
 * what it has seen; the blocks' results go to scratch. The last block of a grid does not scan, but waits for them, and has time
 * before that to bring the code near that the result takes.
 *
 * Fill detection needs to know how often the least key occurs and which comes next. Taking note of that costs more than the
 * comparison itself, so a warp looks closely only at groups of values where some key is below its limit: the second least
 * key that it has seen; or, where the least one cannot be fill whatever else may come, that one itself. What is beyond the
 * limit changes nothing: see floe_extremes. The same holds for the greatest.
 */
#ifndef FLOE_FIELD_RANGE_CUDA_CUH
#define FLOE_FIELD_RANGE_CUDA_CUH

#include "backend/device.cuh"
#include "field/fill_math.h"
#include "field/range_cuda.h"
#include "field/runs_cuda.cuh"

enum {
    FLOE_RANGE_THREADS = 256,
    FLOE_RANGE_WARPS = FLOE_RANGE_THREADS / FLOE_WARP,
    FLOE_RANGE_BLOCKS_AN_SM = 4,
    FLOE_RANGE_MAX_BLOCKS = 1024,
    FLOE_RANGE_LOADS = 4, /* of 16 bytes, that a thread has under way */
    FLOE_RANGE_TILE_NBYTES = FLOE_RANGE_THREADS * FLOE_RANGE_LOADS * 16
};

/* ---- keys ---------------------------------------------------------------------------------------------------------- */

template <size_t NBYTES> struct floe_range_words;
template <> struct floe_range_words<4> {
    typedef int32_t key;
    typedef uint32_t bits;
    static constexpr int32_t MOST = INT32_MAX, MOST_FINITE = 0x7F7FFFFF;
};
template <> struct floe_range_words<8> {
    typedef int64_t key;
    typedef uint64_t bits;
    static constexpr int64_t MOST = INT64_MAX, MOST_FINITE = 0x7FEFFFFFFFFFFFFF;
};

/* Integers are their own keys. None is a value, too: what that hides shows at the other end. */
template <typename T> struct floe_range_keys {
    typedef floe_range_words<sizeof(T)> words;
    typedef typename words::key key;
    typedef typename words::bits bits;
    enum { A_LOAD = 16 / sizeof(T) };
    static constexpr bool INTEGER = (T)0.5 == 0;
    static constexpr key NONE_LOW = words::MOST, NONE_HIGH = -words::MOST - 1; /* of floats: patterns of NaN */
    static constexpr key GREATEST = INTEGER ? words::MOST : words::MOST_FINITE, LEAST = -GREATEST - 1;
    static __device__ __forceinline__ key of(bits b)
    {
        return INTEGER ? (key)b : (key)(b ^ ((bits)((key)b >> (8 * sizeof(T) - 1)) & (bits)words::MOST));
    }
    static __device__ __forceinline__ double value(key k)
    {
        if constexpr (INTEGER)
            return (double)k;
        else if constexpr (sizeof(T) == 4)
            return (double)floe_f32_of(of((bits)k));
        else
            return floe_f64_of((uint64_t)of((bits)k));
    }
    static __device__ __forceinline__ void unpack(uint4 v, key *k)
    {
        if constexpr (sizeof(T) == 4)
            k[0] = of(v.x), k[1] = of(v.y), k[2] = of(v.z), k[3] = of(v.w);
        else
            k[0] = of((bits)v.x | (bits)v.y << 32), k[1] = of((bits)v.z | (bits)v.w << 32);
    }
};

/* ---- over a warp --------------------------------------------------------------------------------------------------- */

FLOE_DEV int32_t floe_range_least(int32_t v) { return __reduce_min_sync(FLOE_ALL_LANES, v); }
FLOE_DEV int32_t floe_range_most(int32_t v) { return __reduce_max_sync(FLOE_ALL_LANES, v); }
/* Halves: the greater ones decide, and of those lanes whose are the same the others. */
FLOE_DEV int64_t floe_range_least(int64_t v)
{
    const int32_t high = __reduce_min_sync(FLOE_ALL_LANES, (int32_t)(v >> 32));
    const uint32_t low = __reduce_min_sync(FLOE_ALL_LANES, (int32_t)(v >> 32) == high ? (uint32_t)v : UINT32_MAX);
    return (int64_t)((uint64_t)(uint32_t)high << 32 | low);
}
FLOE_DEV int64_t floe_range_most(int64_t v)
{
    const int32_t high = __reduce_max_sync(FLOE_ALL_LANES, (int32_t)(v >> 32));
    const uint32_t low = __reduce_max_sync(FLOE_ALL_LANES, (int32_t)(v >> 32) == high ? (uint32_t)v : 0u);
    return (int64_t)((uint64_t)(uint32_t)high << 32 | low);
}
/* Of counts whose sum is below 2^56. */
FLOE_DEV uint64_t floe_range_sum(uint64_t v)
{
    const uint64_t low = __reduce_add_sync(FLOE_ALL_LANES, (uint32_t)v & 0xFFFFFFu);
    return low + ((uint64_t)__reduce_add_sync(FLOE_ALL_LANES, (uint32_t)(v >> 24)) << 24);
}

/* ---- what values are like ------------------------------------------------------------------------------------------ */

/* Of some of the values. NONE_LOW and NONE_HIGH: there is none. */
template <typename T> struct floe_range_part {
    typedef typename floe_range_keys<T>::key key;
    key low, low2, high, high2; /* least, a next above it; greatest, a next below it */
    uint64_t nlow, nhigh;       /* how many have the key low, high */
    uint64_t nodd, nfill;       /* not finite; fill */
};

template <typename T> FLOE_DEV floe_range_part<T> floe_range_part_none()
{
    typedef floe_range_keys<T> keys;
    return {keys::NONE_LOW, keys::NONE_LOW, keys::NONE_HIGH, keys::NONE_HIGH, 0, 0, 0, 0};
}

/* One as most are, for who wants to have done something with one before. */
template <typename T> FLOE_DEV floe_range_part<T> floe_range_part_some()
{
    const typename floe_range_keys<T>::key most = floe_range_keys<T>::GREATEST / 2; /* of 1.5, if that */
    return {-most - 1, -most, most, most - 1, 1, 1, 0, 0};
}

template <typename T> FLOE_DEV void floe_range_part_add(floe_range_part<T> *a, const floe_range_part<T> &b)
{
    a->low2 = b.low == a->low ? min(a->low2, b.low2) : b.low < a->low ? min(a->low, b.low2) : min(a->low2, b.low);
    a->nlow = (a->low <= b.low ? a->nlow : 0) + (b.low <= a->low ? b.nlow : 0);
    a->low = min(a->low, b.low);
    a->high2 = b.high == a->high  ? max(a->high2, b.high2)
               : b.high > a->high ? max(a->high, b.high2)
                                  : max(a->high2, b.high);
    a->nhigh = (a->high >= b.high ? a->nhigh : 0) + (b.high >= a->high ? b.nhigh : 0);
    a->high = max(a->high, b.high);
    a->nodd += b.nodd;
    a->nfill += b.nfill;
}

/* Those of a warp's lanes together, for all of them. */
template <typename T> FLOE_DEV floe_range_part<T> floe_range_merge_warp(const floe_range_part<T> &p)
{
    floe_range_part<T> m;
    m.low = floe_range_least(p.low);
    m.low2 = floe_range_least(p.low == m.low ? p.low2 : p.low);
    m.nlow = floe_range_sum(p.low == m.low ? p.nlow : 0);
    m.high = floe_range_most(p.high);
    m.high2 = floe_range_most(p.high == m.high ? p.high2 : p.high);
    m.nhigh = floe_range_sum(p.high == m.high ? p.nhigh : 0);
    m.nodd = floe_range_sum(p.nodd);
    m.nfill = floe_range_sum(p.nfill);
    return m;
}

/* ---- what a lane has seen ------------------------------------------------------------------------------------------ */

/* A lane never meets 2^32 values: device memory has fewer for all its lanes. */
template <typename T> struct floe_range_lane {
    typedef typename floe_range_keys<T>::key key;
    key low, low2, high, high2;
    uint32_t nlow, nhigh, nodd, nfill;
    key limit_low, limit_high; /* of the warp: a group is of interest below, or above */
    bool glances;              /* of the warp: see floe_range_glance */
};

/* Of a block. */
template <typename T> struct floe_range_shared {
    floe_range_part<T> parts[FLOE_RANGE_WARPS];
};

/* How a scan treats values: what fill is, and whether it is looked for. */
enum floe_range_mode { FLOE_RANGE_PLAIN, FLOE_RANGE_FILL, FLOE_RANGE_DETECT };

template <typename T> FLOE_DEV floe_range_part<T> floe_range_part_of(const floe_range_lane<T> &l)
{
    return {l.low, l.low2, l.high, l.high2, l.nlow, l.nhigh, l.nodd, l.nfill};
}

/* The warp's limits from what it has seen: least, a next one above, greatest, a next one below. */
template <typename T>
FLOE_DEV void floe_range_limit(floe_range_lane<T> *l, typename floe_range_keys<T>::key low,
                               typename floe_range_keys<T>::key low2, typename floe_range_keys<T>::key high,
                               typename floe_range_keys<T>::key high2)
{
    typedef floe_range_keys<T> keys;
    const double least = keys::value(low), most = keys::value(high);
    const bool low_may = low2 == keys::NONE_LOW || floe_fill_min_possible(least, keys::value(low2), most);
    const bool high_may = high2 == keys::NONE_HIGH || floe_fill_max_possible(least, keys::value(high2), most);
    l->limit_low = low_may ? low2 : low;
    l->limit_high = high_may ? high2 : high;
}

/* Of most fields neither end can be fill, and to know that it is enough to have seen some value near each: this group's. False:
 * that does not show, and is to be noted. All lanes of the warp come here together. */
template <typename T>
FLOE_DEV bool floe_range_glance(floe_range_lane<T> *l, typename floe_range_keys<T>::key least,
                                typename floe_range_keys<T>::key most)
{
    typedef floe_range_keys<T> keys;
    typedef typename keys::key key;
    const key low = floe_range_least(min(l->low, least)), high = floe_range_most(max(l->high, most));
    const key low2 = floe_range_least(least > low ? least : keys::NONE_LOW);
    const key high2 = floe_range_most(most < high ? most : keys::NONE_HIGH);
    if (low2 == keys::NONE_LOW || high2 == keys::NONE_HIGH)
        return false;
    floe_range_lane<T> seen = *l;
    floe_range_limit(&seen, low, low2, high, high2);
    if (seen.limit_low != low || seen.limit_high != high)
        return false;
    seen.low2 = least < l->low ? l->low : least > l->low ? min(l->low2, least) : l->low2;
    seen.low = min(l->low, least);
    seen.high2 = most > l->high ? l->high : most < l->high ? max(l->high2, most) : l->high2;
    seen.high = max(l->high, most);
    *l = seen;
    return true;
}

/* Takes note of the least and greatest keys of a group exactly. Bit j of valid: key j is a value of the field. True: there
 * was news. */
template <typename T, int N>
FLOE_DEV bool floe_range_note(floe_range_lane<T> *l, const typename floe_range_keys<T>::key (&k)[N], uint32_t valid,
                              typename floe_range_keys<T>::key least, typename floe_range_keys<T>::key most)
{
    const floe_range_lane<T> before = *l;
    if (least < l->limit_low) {
        if (least < l->low)
            l->low2 = l->low, l->low = least, l->nlow = 0;
#pragma unroll
        for (int j = 0; j < N; j++) {
            const bool is = valid >> j & 1;
            l->nlow += is && k[j] == l->low;
            l->low2 = is && k[j] > l->low && k[j] < l->low2 ? k[j] : l->low2;
        }
    }
    if (most > l->limit_high) {
        if (most > l->high)
            l->high2 = l->high, l->high = most, l->nhigh = 0;
#pragma unroll
        for (int j = 0; j < N; j++) {
            const bool is = valid >> j & 1;
            l->nhigh += is && k[j] == l->high;
            l->high2 = is && k[j] < l->high && k[j] > l->high2 ? k[j] : l->high2;
        }
    }
    return l->low != before.low || l->low2 != before.low2 || l->high != before.high || l->high2 != before.high2;
}

/* Notes a group, and what is of interest from now on. All lanes of the warp come here together. */
template <typename T, int N>
FLOE_DEV void floe_range_look(floe_range_lane<T> *l, const typename floe_range_keys<T>::key (&k)[N], uint32_t valid,
                              typename floe_range_keys<T>::key least, typename floe_range_keys<T>::key most)
{
    if (l->glances && floe_range_glance(l, least, most))
        return;
    l->glances = false;
    const bool news = floe_range_note(l, k, valid, least, most);
    if (!__any_sync(FLOE_ALL_LANES, news))
        return;
    const floe_range_part<T> all = floe_range_merge_warp<T>(floe_range_part_of(*l));
    floe_range_limit(l, all.low, all.low2, all.high, all.high2);
}

/* Adds a group of keys; all lanes of the warp come here together. WHOLE: all of them are there; else bit j of valid shows
 * so for key j. */
template <typename T, floe_range_mode MODE, bool WHOLE, int N>
FLOE_DEV void floe_range_take(floe_range_lane<T> *l, const typename floe_range_keys<T>::key (&k)[N], uint32_t valid,
                              typename floe_range_keys<T>::key fill)
{
    typedef floe_range_keys<T> keys;
    typename keys::key least = keys::NONE_LOW, most = keys::NONE_HIGH;
    bool odd = !WHOLE;
    if (WHOLE) {
#pragma unroll
        for (int j = 0; j < N; j++) {
            least = min(least, k[j]);
            most = max(most, k[j]);
            odd |= MODE == FLOE_RANGE_FILL && k[j] == fill;
        }
        odd |= least < keys::LEAST || most > keys::GREATEST;
    }
    if (odd) {
        least = keys::NONE_LOW, most = keys::NONE_HIGH;
#pragma unroll
        for (int j = 0; j < N; j++) {
            const bool there = valid >> j & 1;
            const bool is_fill = MODE == FLOE_RANGE_FILL && k[j] == fill;
            const bool finite = k[j] >= keys::LEAST && k[j] <= keys::GREATEST;
            l->nfill += there && is_fill;
            l->nodd += there && !is_fill && !finite;
            if (there && !is_fill && finite)
                least = min(least, k[j]), most = max(most, k[j]);
            else
                valid &= ~(1u << j);
        }
    }
    if (MODE != FLOE_RANGE_DETECT) {
        l->low = min(l->low, least);
        l->high = max(l->high, most);
        return;
    }
    if (!__any_sync(FLOE_ALL_LANES, least < l->limit_low || most > l->limit_high))
        return;
    floe_range_look(l, k, valid, least, most);
}

/* ---- merging ------------------------------------------------------------------------------------------------------- */

/* Merges over a block; the result is right in its first warp. All threads come here. */
template <typename T>
FLOE_DEV floe_range_part<T> floe_range_merge_block(const floe_range_part<T> &own, floe_range_shared<T> *s)
{
    const floe_range_part<T> warp = floe_range_merge_warp(own);
    __syncthreads(); /* the shared memory may hold those of a merge before */
    if (floe_lane() == 0)
        s->parts[threadIdx.x / FLOE_WARP] = warp;
    __syncthreads();
    if (threadIdx.x >= FLOE_WARP)
        return own;
    return floe_range_merge_warp(threadIdx.x < FLOE_RANGE_WARPS ? s->parts[threadIdx.x] : floe_range_part_none<T>());
}

/* What nscanners blocks have handed in, when so many blocks are done; the result is right in the first warp. All threads of a
 * block come here. nscanners 0: nobody is waited for, it is to bring the code near. */
template <typename T>
FLOE_DEV floe_range_part<T> floe_range_gather(const floe_range_job *job, uint32_t nscanners, uint32_t ndone,
                                              floe_range_shared<T> *s)
{
    enum { EACH = FLOE_RANGE_MAX_BLOCKS / FLOE_RANGE_THREADS };
    floe_range_part<T> *own = (floe_range_part<T> *)job->scratch + blockIdx.x,
                       *parts = (floe_range_part<T> *)job->scratch;
    if (nscanners == 0) {
        *own = floe_range_part_some<T>();
        parts = own, nscanners = 1;
    }
    if (threadIdx.x == 0)
        floe_counter_wait(job->done, ndone);
    __syncthreads();
    floe_range_part<T> p[EACH];
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) /* all on their way at once */
        p[i] = parts[min(i * FLOE_RANGE_THREADS + threadIdx.x, nscanners - 1)];
    floe_range_part<T> all = floe_range_part_none<T>();
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++)
        if (i * FLOE_RANGE_THREADS + threadIdx.x < nscanners)
            floe_range_part_add(&all, p[i]);
    return floe_range_merge_block(all, s);
}

/* ---- the walk ------------------------------------------------------------------------------------------------------ */

/* Elements that are strided, or too few for a whole tile. */
template <typename T, floe_range_mode MODE>
FLOE_DEV void floe_range_rest_tile(const floe_range_job *job, uint64_t tile, floe_range_lane<T> *l)
{
    const floe_range_tiles *tiles = &job->tiles;
    typedef floe_range_keys<T> keys;
    enum { GROUP = 4, NGROUPS = FLOE_RANGE_LOADS * keys::A_LOAD / GROUP };
    const typename keys::bits *data = (const typename keys::bits *)job->data;
    const uint64_t whole = tiles->nwhole * (FLOE_RANGE_TILE_NBYTES / sizeof(T)), nrest = tiles->nelems - whole;
    uint64_t i = tile * (FLOE_RANGE_TILE_NBYTES / sizeof(T)) + threadIdx.x;
    floe_runs_place place = floe_runs_place_of(&job->runs, i);
#pragma unroll 1
    for (int g = 0; g < NGROUPS; g++) {
        typename keys::key k[GROUP];
        uint32_t valid = 0;
#pragma unroll
        for (int j = 0; j < GROUP; j++) {
            const uint64_t skip = i < tiles->head ? 0 : whole; /* not 0 only where steps are 1 */
            valid |= (uint32_t)(i < nrest) << j;
            k[j] = i < nrest ? keys::of(data[floe_runs_offset_of(&job->runs, &place) + (int64_t)skip]) : 0;
            i += FLOE_RANGE_THREADS;
            floe_runs_go(&job->runs, &place, FLOE_RANGE_THREADS);
        }
        floe_range_take<T, MODE, false>(l, k, valid, keys::of((typename keys::bits)job->fill_bits));
    }
}

/* Whole tiles, so far before one another; from: the thread's first load of the last one. Out of line: here registers are scarce,
 * and what is not at hand waits behind the values. */
template <typename T, floe_range_mode MODE>
static __device__ __noinline__ floe_range_lane<T>
floe_range_whole_tiles(const uint8_t *from, uint64_t ntiles, uint64_t distance, typename floe_range_keys<T>::key fill,
                       floe_range_lane<T> seen)
{
    typedef floe_range_keys<T> keys;
    floe_range_lane<T> l = seen;
    for (; ntiles; ntiles--, from -= distance) {
        uint4 v[FLOE_RANGE_LOADS];
        typename keys::key k[FLOE_RANGE_LOADS * keys::A_LOAD];
#pragma unroll
        for (int i = 0; i < FLOE_RANGE_LOADS; i++)
            v[i] = floe_load16_once(from + i * FLOE_RANGE_THREADS * 16);
#pragma unroll
        for (int i = 0; i < FLOE_RANGE_LOADS; i++)
            keys::unpack(v[i], k + i * keys::A_LOAD);
        floe_range_take<T, MODE, true>(&l, k, UINT32_MAX, fill);
    }
    return l;
}

/* This block's share of the field where so many scan it, each one once; hands in what it has found. */
template <typename T, floe_range_mode MODE>
FLOE_DEV void floe_range_scan_share(const floe_range_job *job, uint32_t nscanners, floe_range_shared<T> *s)
{
    typedef floe_range_keys<T> keys;
    const floe_range_tiles &tiles = job->tiles;
    const uint64_t nrest = tiles.ntiles - tiles.nwhole, last = tiles.ntiles - 1;
    const uint8_t *first = (const uint8_t *)job->data + (job->runs.origin + (int64_t)tiles.head) * (int64_t)sizeof(T);
    floe_range_lane<T> l = {keys::NONE_LOW,
                            keys::NONE_LOW,
                            keys::NONE_HIGH,
                            keys::NONE_HIGH,
                            0,
                            0,
                            0,
                            0,
                            keys::NONE_LOW,
                            keys::NONE_HIGH,
                            true};
    uint64_t i = blockIdx.x;
    for (; i < nrest; i += nscanners)
        floe_range_rest_tile<T, MODE>(job, nrest - 1 - i, &l);
    if (i < tiles.ntiles)
        l = floe_range_whole_tiles<T, MODE>(first + (last - i) * FLOE_RANGE_TILE_NBYTES + threadIdx.x * 16,
                                            (last - i) / nscanners + 1, (uint64_t)nscanners * FLOE_RANGE_TILE_NBYTES,
                                            keys::of((typename keys::bits)job->fill_bits), l);
    const floe_range_part<T> part = floe_range_merge_block(floe_range_part_of(l), s);
    if (threadIdx.x == 0) {
        ((floe_range_part<T> *)job->scratch)[blockIdx.x] = part;
        floe_counter_add(job->done, 1);
    }
}

/* ---- the result ---------------------------------------------------------------------------------------------------- */

/* + 0.0 turns -0 into +0. */
template <typename T> FLOE_DEV double floe_range_value(int64_t k)
{
    return floe_range_keys<T>::value((typename floe_range_keys<T>::key)k) + 0.0;
}

/* Of integers: where one end has the number that stands for none, all values are alike, or the value next to the other end is
 * that one. */
template <typename T> FLOE_DEV floe_range_part<T> floe_range_unhidden(floe_range_part<T> p, uint64_t nvalues)
{
    typedef floe_range_keys<T> keys;
    if (!keys::INTEGER || nvalues == 0)
        return p;
    const typename keys::key low = p.low, high = p.high;
    p.low = low == keys::NONE_LOW ? high : low;
    p.high = high == keys::NONE_HIGH ? low : high;
    p.low2 = p.low2 == keys::NONE_LOW && p.low < p.high ? p.high : p.low2;
    p.high2 = p.high2 == keys::NONE_HIGH && p.low < p.high ? p.low : p.high2;
    return p;
}

/* How many have the pattern of such a key's value: that of +0 is not that of -0. */
template <typename T> FLOE_DEV uint64_t floe_range_count(int64_t key, uint64_t count)
{
    return !floe_range_keys<T>::INTEGER && key == -1 ? 0 : count; /* the key of -0 */
}

template <typename T>
FLOE_DEV floe_extremes floe_range_extremes(const floe_range_job *job, const floe_range_part<T> *part)
{
    typedef floe_range_keys<T> keys;
    floe_extremes e;
    const double infinity = floe_f64_of(0x7FF0000000000000u), nan = floe_f64_of(FLOE_NAN64_BITS);
    e.all.nfinite = job->runs.count * job->runs.length - part->nfill - part->nodd;
    const floe_range_part<T> unhidden = floe_range_unhidden<T>(*part, e.all.nfinite), *p = &unhidden;
    const bool any = floe_range_keys<T>::INTEGER ? e.all.nfinite > 0 : p->low != keys::NONE_LOW;
    const bool varies = !floe_range_keys<T>::INTEGER || p->low < p->high;
    e.all.least = p->low;
    e.all.most = p->high;
    e.all.min = any ? floe_range_value<T>(p->low) : nan;
    e.all.max = any ? floe_range_value<T>(p->high) : nan;
    e.all.low =
        varies && (floe_range_keys<T>::INTEGER || p->low2 != keys::NONE_LOW) ? floe_range_value<T>(p->low2) : infinity;
    e.all.high = varies && (floe_range_keys<T>::INTEGER || p->high2 != keys::NONE_HIGH) ? floe_range_value<T>(p->high2)
                                                                                        : -infinity;
    e.all.nfill = p->nfill;
    e.all.nnonfinite = p->nodd;
    e.nmin = floe_range_count<T>(p->low, p->nlow);
    e.nmax = floe_range_count<T>(p->high, p->nhigh);
    return e;
}

/* For one thread. */
template <typename T, floe_range_mode MODE>
FLOE_DEV void floe_range_answer(const floe_range_job *job, const floe_range_part<T> *p, floe_dev_range *out)
{
    const floe_extremes e = floe_range_extremes<T>(job, p);
    floe_dev_range found = {e.all, job->fill_bits, MODE == FLOE_RANGE_FILL, 0};
    floe_range *r = &found.range;
    if (MODE == FLOE_RANGE_DETECT)
        found.has_fill = floe_fill_decide(&e, job->dtype, &found.fill_bits, r);
    /* witnesses may be zeros of the other sign, or fill */
    r->low = r->low > r->min && r->low <= r->max ? r->low : floe_f64_of(0x7FF0000000000000u);
    r->high = r->high < r->max && r->high >= r->min ? r->high : -floe_f64_of(0x7FF0000000000000u);
    *out = found;
}

/* Blocks that such a scan is worth on the current device, nothers of which do not scan. Returns a cudaError_t as a number. */
uint32_t floe_range_blocks(const floe_range_job *job, uint32_t nothers);

#endif
