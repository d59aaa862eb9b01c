/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a GPU scans values, for kernels that go on with what the scan found.
 *
 * Values are compared as keys: bit patterns as integers that grow with the value. A block takes tiles of the field, from
 * its far end to its beginning, so that the beginning is still in cache when the next kernel starts there. A lane keeps
 * what it has seen; the blocks' results go to scratch, and the block that is done last merges them.
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

/* What some of the values are like. Keys are widened to 64 bits; FLOE_RANGE_NONE_LOW and _HIGH: there is none. */
typedef struct floe_range_part {
    int64_t low, low2, high, high2; /* least, next above it; greatest, next below it */
    uint64_t nlow, nhigh;           /* how many have the key low, high */
    uint64_t nodd, nfill;           /* not finite; fill */
} floe_range_part;

enum { FLOE_RANGE_PART_WORDS = sizeof(floe_range_part) / 8 };

/* ---- keys ---------------------------------------------------------------------------------------------------------- */

template <typename T> struct floe_range_keys;

template <> struct floe_range_keys<float> {
    typedef int32_t key;
    typedef uint32_t bits;
    enum { A_LOAD = 4 };
    static constexpr bool INTEGER = false;
    static constexpr key NONE_LOW = INT32_MAX, NONE_HIGH = INT32_MIN; /* patterns of NaN */
    static constexpr key GREATEST = 0x7F7FFFFF, LEAST = -GREATEST - 1;
    static __device__ __forceinline__ key of(bits b) { return (key)(b ^ ((uint32_t)((int32_t)b >> 31) & 0x7FFFFFFFu)); }
    static __device__ __forceinline__ double value(key k) { return (double)floe_f32_of((uint32_t)of((bits)k)); }
    static __device__ __forceinline__ void unpack(uint4 v, key *k)
    {
        k[0] = of(v.x), k[1] = of(v.y), k[2] = of(v.z), k[3] = of(v.w);
    }
};

template <> struct floe_range_keys<double> {
    typedef int64_t key;
    typedef uint64_t bits;
    enum { A_LOAD = 2 };
    static constexpr bool INTEGER = false;
    static constexpr key NONE_LOW = INT64_MAX, NONE_HIGH = INT64_MIN;
    static constexpr key GREATEST = 0x7FEFFFFFFFFFFFFF, LEAST = -GREATEST - 1;
    static __device__ __forceinline__ key of(bits b)
    {
        return (key)(b ^ ((uint64_t)((int64_t)b >> 63) & 0x7FFFFFFFFFFFFFFFu));
    }
    static __device__ __forceinline__ double value(key k) { return floe_f64_of((uint64_t)of((bits)k)); }
    static __device__ __forceinline__ void unpack(uint4 v, key *k)
    {
        k[0] = of((uint64_t)v.x | (uint64_t)v.y << 32), k[1] = of((uint64_t)v.z | (uint64_t)v.w << 32);
    }
};

/* Integers are their own keys. None is a value, too: what that hides is told by the other end. */
template <> struct floe_range_keys<int32_t> {
    typedef int32_t key;
    typedef uint32_t bits;
    enum { A_LOAD = 4 };
    static constexpr bool INTEGER = true;
    static constexpr key NONE_LOW = INT32_MAX, NONE_HIGH = INT32_MIN;
    static constexpr key GREATEST = INT32_MAX, LEAST = INT32_MIN;
    static __device__ __forceinline__ key of(bits b) { return (key)b; }
    static __device__ __forceinline__ double value(key k) { return (double)k; }
    static __device__ __forceinline__ void unpack(uint4 v, key *k)
    {
        k[0] = of(v.x), k[1] = of(v.y), k[2] = of(v.z), k[3] = of(v.w);
    }
};

template <> struct floe_range_keys<int64_t> {
    typedef int64_t key;
    typedef uint64_t bits;
    enum { A_LOAD = 2 };
    static constexpr bool INTEGER = true;
    static constexpr key NONE_LOW = INT64_MAX, NONE_HIGH = INT64_MIN;
    static constexpr key GREATEST = INT64_MAX, LEAST = INT64_MIN;
    static __device__ __forceinline__ key of(bits b) { return (key)b; }
    static __device__ __forceinline__ double value(key k) { return (double)k; }
    static __device__ __forceinline__ void unpack(uint4 v, key *k)
    {
        k[0] = of((uint64_t)v.x | (uint64_t)v.y << 32), k[1] = of((uint64_t)v.z | (uint64_t)v.w << 32);
    }
};

FLOE_DEV int32_t floe_range_shuffle(int32_t v, int lanes) { return __shfl_xor_sync(FLOE_ALL_LANES, v, lanes); }
FLOE_DEV int64_t floe_range_shuffle(int64_t v, int lanes)
{
    return (int64_t)__shfl_xor_sync(FLOE_ALL_LANES, (long long)v, lanes);
}

/* ---- what a lane has seen ------------------------------------------------------------------------------------------ */

/* A lane never meets 2^32 values: device memory has fewer for all its lanes. */
template <typename T> struct floe_range_lane {
    typedef typename floe_range_keys<T>::key key;
    key low, low2, high, high2;
    uint32_t nlow, nhigh, nodd, nfill;
    key limit_low, limit_high; /* of the warp: a group is of interest below, or above */
};

/* Of a block. */
typedef struct floe_range_shared {
    floe_range_part parts[FLOE_RANGE_WARPS];
    uint32_t is_last;
} floe_range_shared;

/* How a scan treats values: what fill is, and whether it is looked for. */
enum floe_range_mode { FLOE_RANGE_PLAIN, FLOE_RANGE_FILL, FLOE_RANGE_DETECT };

/* The warp's limits from what it has seen. */
template <typename T> FLOE_DEV void floe_range_limit(floe_range_lane<T> *l)
{
    typedef floe_range_keys<T> keys;
    typename keys::key low = l->low, low2 = l->low2, high = l->high, high2 = l->high2;
    for (int d = FLOE_WARP / 2; d > 0; d /= 2) {
        const typename keys::key a = floe_range_shuffle(low, d), a2 = floe_range_shuffle(low2, d);
        const typename keys::key b = floe_range_shuffle(high, d), b2 = floe_range_shuffle(high2, d);
        low2 = a == low ? min(low2, a2) : a < low ? min(low, a2) : min(low2, a);
        low = min(low, a);
        high2 = b == high ? max(high2, b2) : b > high ? max(high, b2) : max(high2, b);
        high = max(high, b);
    }
    const double least = keys::value(low), most = keys::value(high);
    const bool low_may = low2 == keys::NONE_LOW || floe_fill_min_possible(least, keys::value(low2), most);
    const bool high_may = high2 == keys::NONE_HIGH || floe_fill_max_possible(least, keys::value(high2), most);
    l->limit_low = low_may ? low2 : low;
    l->limit_high = high_may ? high2 : high;
}

/* Takes note of the least and greatest keys of a group exactly. Bit j of valid: key j is a value of the field. */
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

/* Adds a group of keys; all lanes of the warp come here together. WHOLE: all of them are there; else bit j of valid says
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
    const bool news = floe_range_note(l, k, valid, least, most);
    if (__any_sync(FLOE_ALL_LANES, news))
        floe_range_limit(l);
}

/* ---- merging ------------------------------------------------------------------------------------------------------- */

FLOE_DEV floe_range_part floe_range_part_none()
{
    floe_range_part p = {INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, 0, 0, 0, 0};
    return p;
}

FLOE_DEV void floe_range_part_add(floe_range_part *a, const floe_range_part *b)
{
    a->low2 = b->low == a->low ? min(a->low2, b->low2) : b->low < a->low ? min(a->low, b->low2) : min(a->low2, b->low);
    a->nlow = (a->low <= b->low ? a->nlow : 0) + (b->low <= a->low ? b->nlow : 0);
    a->low = min(a->low, b->low);
    a->high2 = b->high == a->high  ? max(a->high2, b->high2)
               : b->high > a->high ? max(a->high, b->high2)
                                   : max(a->high2, b->high);
    a->nhigh = (a->high >= b->high ? a->nhigh : 0) + (b->high >= a->high ? b->nhigh : 0);
    a->high = max(a->high, b->high);
    a->nodd += b->nodd;
    a->nfill += b->nfill;
}

template <typename T> FLOE_DEV floe_range_part floe_range_part_of(const floe_range_lane<T> *l)
{
    typedef floe_range_keys<T> keys;
    floe_range_part p;
    p.low = l->low == keys::NONE_LOW ? INT64_MAX : (int64_t)l->low;
    p.low2 = l->low2 == keys::NONE_LOW ? INT64_MAX : (int64_t)l->low2;
    p.high = l->high == keys::NONE_HIGH ? INT64_MIN : (int64_t)l->high;
    p.high2 = l->high2 == keys::NONE_HIGH ? INT64_MIN : (int64_t)l->high2;
    p.nlow = l->nlow, p.nhigh = l->nhigh, p.nodd = l->nodd, p.nfill = l->nfill;
    return p;
}

/* Merges over a block; the result is right in all threads. parts: of FLOE_RANGE_WARPS. */
FLOE_DEV_SELDOM floe_range_part floe_range_merge_block(floe_range_part p, floe_range_part *parts)
{
#pragma unroll 1 /* short code: it is run twice, and fetched from afar the first time */
    for (int d = FLOE_WARP / 2; d > 0; d /= 2) {
        floe_range_part other;
        other.low = floe_range_shuffle(p.low, d), other.low2 = floe_range_shuffle(p.low2, d);
        other.high = floe_range_shuffle(p.high, d), other.high2 = floe_range_shuffle(p.high2, d);
        other.nlow = (uint64_t)floe_range_shuffle((int64_t)p.nlow, d);
        other.nhigh = (uint64_t)floe_range_shuffle((int64_t)p.nhigh, d);
        other.nodd = (uint64_t)floe_range_shuffle((int64_t)p.nodd, d);
        other.nfill = (uint64_t)floe_range_shuffle((int64_t)p.nfill, d);
        floe_range_part_add(&p, &other);
    }
    __syncthreads(); /* parts may hold those of a merge before */
    if (floe_lane() == 0)
        parts[threadIdx.x / FLOE_WARP] = p;
    __syncthreads();
    p = parts[0];
#pragma unroll 1
    for (int w = 1; w < FLOE_RANGE_WARPS; w++)
        floe_range_part_add(&p, &parts[w]);
    return p;
}

/* Hands the block's part in. True in the block that is the last to do so; *p is then that of all blocks. */
FLOE_DEV_SELDOM bool floe_range_merge_grid(const floe_range_job *job, floe_range_part *p, floe_range_shared *s)
{
    uint64_t *parts = (uint64_t *)job->scratch, words[FLOE_RANGE_PART_WORDS];
    if (gridDim.x == 1)
        return true;
    if (threadIdx.x == 0) {
        memcpy(words, p, sizeof words);
        for (int i = 0; i < FLOE_RANGE_PART_WORDS; i++)
            floe_store_shared_state(parts + blockIdx.x * FLOE_RANGE_PART_WORDS + i, words[i]);
        __threadfence();
        s->is_last = atomicAdd(job->done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!s->is_last)
        return false;
    __threadfence();
    *p = floe_range_part_none();
#pragma unroll 1
    for (uint32_t b = threadIdx.x; b < gridDim.x; b += FLOE_RANGE_THREADS) {
        floe_range_part other;
        for (int i = 0; i < FLOE_RANGE_PART_WORDS; i++)
            words[i] = floe_load_shared_state(parts + b * FLOE_RANGE_PART_WORDS + i);
        memcpy(&other, words, sizeof other);
        floe_range_part_add(p, &other);
    }
    *p = floe_range_merge_block(*p, s->parts);
    return true;
}

/* ---- the walk ------------------------------------------------------------------------------------------------------ */

/* Where the values of a field lie: whole tiles of contiguous values from element `head` on, then the rest one by one. */
typedef struct floe_range_tiles {
    uint64_t nelems, head, nwhole, ntiles;
} floe_range_tiles;

FLOE_HD floe_range_tiles floe_range_tiles_of(const floe_range_job *job)
{
    floe_range_tiles t;
    const uint64_t size = floe_dtype_is_narrow(job->dtype) ? 4 : 8, a_tile = FLOE_RANGE_TILE_NBYTES / size;
    const uint64_t at = (uint64_t)job->data + (uint64_t)job->runs.origin * size;
    t.nelems = job->runs.count * job->runs.length;
    t.head = (16 - at % 16) % 16 / size;
    const bool flat = job->runs.count == 1 && job->runs.step == 1 && t.nelems > t.head;
    t.nwhole = flat ? (t.nelems - t.head) / a_tile : 0;
    t.ntiles = t.nwhole + floe_ceil_div(t.nelems - t.nwhole * a_tile, a_tile);
    return t;
}

/* from: the thread's first load. */
template <typename T, floe_range_mode MODE>
FLOE_DEV void floe_range_whole_tile(const uint8_t *from, typename floe_range_keys<T>::key fill, floe_range_lane<T> *l)
{
    typedef floe_range_keys<T> keys;
    uint4 v[FLOE_RANGE_LOADS];
    typename keys::key k[FLOE_RANGE_LOADS * keys::A_LOAD];
#pragma unroll
    for (int i = 0; i < FLOE_RANGE_LOADS; i++)
        v[i] = floe_load16_once(from + i * FLOE_RANGE_THREADS * 16);
#pragma unroll
    for (int i = 0; i < FLOE_RANGE_LOADS; i++)
        keys::unpack(v[i], k + i * keys::A_LOAD);
    floe_range_take<T, MODE, true>(l, k, UINT32_MAX, fill);
}

/* Elements that are strided, or too few for a whole tile. */
template <typename T, floe_range_mode MODE>
FLOE_DEV void floe_range_rest_tile(const floe_range_job *job, const floe_range_tiles *tiles, uint64_t tile,
                                   floe_range_lane<T> *l)
{
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

/* Scans the field by the first nscanners blocks of a grid of FLOE_RANGE_THREADS threads each; all blocks come here. True in
 * all threads of the one block that is the last to come out, which then has the answer in *p. */
template <typename T, floe_range_mode MODE>
FLOE_DEV bool floe_range_scan_grid(const floe_range_job *job, uint32_t nscanners, floe_range_shared *s,
                                   floe_range_part *p)
{
    typedef floe_range_keys<T> keys;
    const floe_range_tiles tiles = floe_range_tiles_of(job);
    floe_range_lane<T> l = {keys::NONE_LOW, keys::NONE_LOW, keys::NONE_HIGH, keys::NONE_HIGH, 0, 0, 0, 0,
                            keys::NONE_LOW, keys::NONE_HIGH};
    const uint64_t nrest = tiles.ntiles - tiles.nwhole;
    uint64_t i = blockIdx.x < nscanners ? blockIdx.x : tiles.ntiles;
    for (; i < nrest; i += nscanners)
        floe_range_rest_tile<T, MODE>(job, &tiles, nrest - 1 - i, &l);
    const uint8_t *first =
        (const uint8_t *)job->data + (job->runs.origin + (int64_t)tiles.head) * (int64_t)sizeof(T) + threadIdx.x * 16;
    const typename keys::key fill = keys::of((typename keys::bits)job->fill_bits);
    for (; i < tiles.ntiles; i += nscanners)
        floe_range_whole_tile<T, MODE>(first + (tiles.ntiles - 1 - i) * FLOE_RANGE_TILE_NBYTES, fill, &l);
    *p = floe_range_merge_block(floe_range_part_of(&l), s->parts);
    return floe_range_merge_grid(job, p, s);
}

/* ---- the answer ---------------------------------------------------------------------------------------------------- */

/* + 0.0 turns -0 into +0. */
template <typename T> FLOE_DEV double floe_range_value(int64_t k)
{
    return floe_range_keys<T>::value((typename floe_range_keys<T>::key)k) + 0.0;
}

/* Of integers: where one end has the number that stands for none, all values are alike, or the value next to the other end is
 * that one. */
template <typename T> FLOE_DEV floe_range_part floe_range_unhidden(floe_range_part p, uint64_t nvalues)
{
    if (!floe_range_keys<T>::INTEGER || nvalues == 0)
        return p;
    const int64_t low = p.low, high = p.high;
    p.low = low == INT64_MAX ? high : low;
    p.high = high == INT64_MIN ? low : high;
    p.low2 = p.low2 == INT64_MAX && p.low < p.high ? p.high : p.low2;
    p.high2 = p.high2 == INT64_MIN && p.low < p.high ? p.low : p.high2;
    return p;
}

/* How many have the pattern of such a key's value: that of +0 is not that of -0, and large integers may have none. */
template <typename T> FLOE_DEV uint64_t floe_range_count(const floe_range_job *job, int64_t key, uint64_t count)
{
    if (!floe_range_keys<T>::INTEGER)
        return key == -1 ? 0 : count; /* the key of -0 */
    const uint64_t bits = floe_fill_bits_of(job->dtype, floe_range_value<T>(key));
    return floe_integer_of(job->dtype, bits) == key ? count : 0;
}

template <typename T> FLOE_DEV floe_extremes floe_range_extremes(const floe_range_job *job, const floe_range_part *part)
{
    floe_extremes e;
    const double infinity = floe_f64_of(0x7FF0000000000000u), nan = floe_f64_of(0x7FF8000000000000u);
    e.all.nfinite = job->runs.count * job->runs.length - part->nfill - part->nodd;
    const floe_range_part unhidden = floe_range_unhidden<T>(*part, e.all.nfinite), *p = &unhidden;
    const bool any = floe_range_keys<T>::INTEGER ? e.all.nfinite > 0 : p->low != INT64_MAX;
    const bool varies = !floe_range_keys<T>::INTEGER || p->low < p->high;
    e.all.min = any ? floe_range_value<T>(p->low) : nan;
    e.all.max = any ? floe_range_value<T>(p->high) : nan;
    e.all.low =
        varies && (floe_range_keys<T>::INTEGER || p->low2 != INT64_MAX) ? floe_range_value<T>(p->low2) : infinity;
    e.all.high =
        varies && (floe_range_keys<T>::INTEGER || p->high2 != INT64_MIN) ? floe_range_value<T>(p->high2) : -infinity;
    e.all.nfill = p->nfill;
    e.all.nnonfinite = p->nodd;
    e.nmin = floe_range_count<T>(job, p->low, p->nlow);
    e.nmax = floe_range_count<T>(job, p->high, p->nhigh);
    return e;
}

/* For one thread. */
template <typename T, floe_range_mode MODE>
FLOE_DEV void floe_range_answer(const floe_range_job *job, const floe_range_part *p, floe_dev_range *out)
{
    const floe_extremes e = floe_range_extremes<T>(job, p);
    floe_dev_range answer = {e.all, job->fill_bits, MODE == FLOE_RANGE_FILL, 0};
    floe_range *r = &answer.range;
    if (MODE == FLOE_RANGE_DETECT)
        answer.has_fill = floe_fill_decide(&e, job->dtype, &answer.fill_bits, r);
    /* witnesses may be zeros of the other sign, or fill */
    r->low = r->low > r->min && r->low <= r->max ? r->low : floe_f64_of(0x7FF0000000000000u);
    r->high = r->high < r->max && r->high >= r->min ? r->high : -floe_f64_of(0x7FF0000000000000u);
    *out = answer;
}

/* Blocks that such a scan is worth on the current device. Returns a cudaError_t as a number. */
int floe_range_blocks(const floe_range_job *job, uint32_t *nblocks);

#endif
