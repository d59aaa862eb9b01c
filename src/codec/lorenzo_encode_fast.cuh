/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding a tile the short way: quantizer LINEAR, no exception, contiguous along x. All numbers of a lane's group stay in
 * registers.
 *
 * Numbers are floats (doubles for f64) as long as all integers stay exact in them, which the widths tell afterwards:
 * additions of floats run at twice the rate of those of integers. Where that fails a tile is done again, of f32 with
 * integers (T = int32_t), of f64 the long way. Either way the numbers are those of floe_linear_encode, and the words those
 * of pack.h. Whatever else is unfit takes the long way, too (lorenzo_encode_any.cuh).
 */
#ifndef FLOE_CODEC_LORENZO_ENCODE_FAST_CUH
#define FLOE_CODEC_LORENZO_ENCODE_FAST_CUH

#include "codec/lorenzo_encode_tile.cuh"

namespace
{

/* ---- geometry ------------------------------------------------------------------------------------------------------ */

/* A group is 8 rows of 4 values. */
template <int RANK> struct shape {
    enum {
        GZ = RANK == 1   ? 1
             : RANK == 2 ? 8
                         : 2, /* planes of a step and of a group */
        PLANE = GROUP / GZ,   /* values of a group in one of them */
        ROWS = PLANE / 4
    };
};

/* A tile that takes the short way. By value. */
struct fast_tile {
    const floe_real *origin;
    int64_t z, y; /* strides, elements; x: 1 */
    uint32_t nz, ny, nx, nsteps, ncells;
    bool fit, whole; /* whole: all 8192 cells, rows at 16 aligned bytes */
};

/* floe_view_tile with 32 bits and a constant rank: a warp does this for each tile. */
template <int RANK> FLOE_DEV fast_tile fast_tile_of(const floe_dev_chunk *chunk, uint32_t tile)
{
    const floe_tile_geometry g = floe_tile_geometry_of(RANK);
    const floe_view *v = &chunk->view;
    fast_tile t;
    t.fit = v->rank == RANK && chunk->quantizer.kind == FLOE_QUANTIZER_LINEAR && chunk->stride[FLOE_VIEW_X] == 1;
    if (!t.fit)
        return t;
    const uint32_t tiles_x = (uint32_t)v->tiles[FLOE_VIEW_X], tiles_y = (uint32_t)v->tiles[FLOE_VIEW_Y];
    const uint32_t tiles_z = (uint32_t)v->tiles[FLOE_VIEW_Z];
    const uint32_t tx = tile % tiles_x, rest = tile / tiles_x;
    const uint32_t ty = RANK == 3 ? rest % tiles_y : 0, plane = RANK == 3 ? rest / tiles_y : rest;
    const uint32_t tz = RANK == 1 ? 0 : plane % tiles_z, batch = RANK == 1 ? plane : plane / tiles_z;
    const uint64_t x = (uint64_t)tx * (RANK == 1 ? (uint32_t)FLOE_TILE_VALUES : g.step_x);
    const uint64_t y = (uint64_t)ty * g.step_y, z = (uint64_t)tz * FLOE_TILE_STEPS * g.step_z;
    t.z = chunk->stride[FLOE_VIEW_Z];
    t.y = chunk->stride[FLOE_VIEW_Y];
    t.origin = (const floe_real *)chunk->origin + (int64_t)batch * chunk->stride[FLOE_VIEW_BATCH] + (int64_t)x +
               (int64_t)y * t.y + (int64_t)z * t.z;
    if (RANK == 1) {
        t.nx = floe_view_clip(v->extent[FLOE_VIEW_X], x, FLOE_TILE_VALUES);
        t.ny = t.nz = 1;
        t.nsteps = (t.nx + g.step_x - 1) / g.step_x;
    } else {
        t.nx = floe_view_clip(v->extent[FLOE_VIEW_X], x, g.step_x);
        t.ny = RANK == 2 ? 1 : floe_view_clip(v->extent[FLOE_VIEW_Y], y, g.step_y);
        t.nz = floe_view_clip(v->extent[FLOE_VIEW_Z], z, FLOE_TILE_STEPS * g.step_z);
        t.nsteps = (t.nz + g.step_z - 1) / g.step_z;
    }
    t.ncells = t.nz * t.ny * t.nx;
    const uint64_t uneven = (uint64_t)(uintptr_t)t.origin | (RANK > 1 ? (uint64_t)t.z * sizeof(floe_real) : 0) |
                            (RANK > 2 ? (uint64_t)t.y * sizeof(floe_real) : 0);
    t.whole = t.ncells == FLOE_TILE_VALUES && uneven % 16 == 0;
    return t;
}

/* Offset of row r of this lane's group in step s, of its first value. */
template <int RANK> FLOE_DEV int64_t row_at(const fast_tile &t, uint32_t s, uint32_t r)
{
    const uint32_t lane = floe_lane();
    if (RANK == 1)
        return s * FLOE_STEP_VALUES + lane * GROUP + 4 * r;
    if (RANK == 2)
        return (int64_t)(8 * s + r) * t.z + 4 * lane;
    return (int64_t)(2 * s + r / 4) * t.z + (int64_t)(4 * (lane / 8) + r % 4) * t.y + 4 * (lane % 8);
}

/* Bit k: value k of this lane's group lies inside. */
template <int RANK> FLOE_DEV uint32_t fast_valid(const fast_tile &t, uint32_t s)
{
    const floe_tile_geometry g = floe_tile_geometry_of(RANK);
    floe_step_box box;
    box.full = false;
    box.nx = RANK == 1 ? min(t.nx - s * g.step_x, g.step_x) : t.nx;
    box.ny = t.ny;
    box.nz = RANK == 1 ? 1 : min(t.nz - s * g.step_z, g.step_z);
    return floe_group_valid(&g, &box, floe_lane());
}

/* ---- loading ------------------------------------------------------------------------------------------------------- */

/* The step to come, in shared memory: 16-byte piece q of the group of lane g stands at piece(q, g), so that neither the
 * copies, which go along memory, nor the lanes that read their groups meet in a bank. */
enum {
    PIECES = GROUP * sizeof(floe_real) / 16,
    PIECE_VALUES = 16 / sizeof(floe_real),
    BUFFER_WORDS = 1024 * BASE_WORDS
};

template <int RANK> FLOE_DEV uint32_t piece(uint32_t q, uint32_t g)
{
    const uint32_t twist = RANK == 1 ? q % 8 : BASE_WORDS == 2 ? q % 2 * 4 : 0;
    return q * FLOE_WARP + (g ^ twist);
}

/* Starts copying step s of a whole tile. */
template <int RANK> FLOE_DEV void fetch_step(const fast_tile &t, uint32_t s, uint32_t *buffer)
{
    const uint32_t lane = floe_lane();
    uint4 *to = (uint4 *)buffer;
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        const uint32_t i = k * FLOE_WARP + lane; /* of the step's pieces along memory */
        if (RANK == 1) {
            floe_copy16_async(to + piece<1>(i % PIECES, i / PIECES),
                              t.origin + s * FLOE_STEP_VALUES + i * PIECE_VALUES);
        } else if (BASE_WORDS == 1) {
            floe_copy16_async(to + piece<RANK>(k, lane), t.origin + row_at<RANK>(t, s, k));
        } else {
            const uint32_t pieces = RANK == 2 ? 64 : 16; /* of a row */
            const uint32_t row = i / pieces, c = i % pieces, y = RANK == 2 ? 0 : row % 16,
                           z = RANK == 2 ? row : row / 16;
            const uint32_t g = y / 4 * 8 + c / 2, r = RANK == 2 ? z : z * 4 + y % 4;
            floe_copy16_async(to + piece<RANK>(2 * r + c % 2, g), t.origin +
                                                                      (int64_t)((RANK == 2 ? 8 : 2) * s + z) * t.z +
                                                                      (int64_t)y * t.y + c * PIECE_VALUES);
        }
    }
    floe_copy_async_commit();
}

template <int RANK> FLOE_DEV void take_step(const uint32_t *buffer, floe_real x[GROUP])
{
    const uint4 *from = (const uint4 *)buffer;
    floe_copy_async_wait();
    __syncwarp();
#pragma unroll
    for (int q = 0; q < PIECES; q++) {
        const uint4 v = from[piece<RANK>(q, floe_lane())];
#if FLOE_REAL_BITS == 32
        x[4 * q] = floe_f32_of(v.x);
        x[4 * q + 1] = floe_f32_of(v.y);
        x[4 * q + 2] = floe_f32_of(v.z);
        x[4 * q + 3] = floe_f32_of(v.w);
#else
        x[2 * q] = floe_f64_of(v.x | (uint64_t)v.y << 32);
        x[2 * q + 1] = floe_f64_of(v.z | (uint64_t)v.w << 32);
#endif
    }
}

/* Value by value, from any address; cells outside are 0. */
template <int RANK> FLOE_DEV void load_step(const fast_tile &t, uint32_t s, uint32_t valid, floe_real x[GROUP])
{
#pragma unroll
    for (int r = 0; r < 8; r++) {
        const floe_real *at = t.origin + row_at<RANK>(t, s, r);
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[4 * r + i] = valid >> (4 * r + i) & 1 ? __ldg(at + i) : (floe_real)0;
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------------------- */

/* What of the quantizer is needed. */
struct linear {
    floe_real inverse, step, tolerance;
    floe_uint fill;
    bool has_fill; /* another than -0, which the check sees anyway */
};

FLOE_DEV linear linear_of(const floe_dev_chunk *chunk)
{
    const floe_quantizer *z = &chunk->quantizer;
    linear l = {(floe_real)z->inverse, (floe_real)z->step, (floe_real)z->tolerance, (floe_uint)z->fill, false};
    l.has_fill = l.fill != FLOE_REAL_SIGN;
    return l;
}

/* What a tile is encoded from. That of a whole tile lies in shared memory and is read anew where it is needed: registers
 * for it would go to local memory, for which there is no cache left beside the stages. */
struct fast_work {
    fast_tile tile;
    linear quantizer;
};

template <class V> FLOE_DEV V read_anew(const V &v) { return *(const volatile V *)&v; }

/* What fetch_step needs. */
template <int RANK> FLOE_DEV fast_tile rows_anew(const fast_tile &t)
{
    fast_tile r;
    r.origin = read_anew(t.origin);
    r.z = RANK > 1 ? read_anew(t.z) : 0;
    r.y = RANK > 2 ? read_anew(t.y) : 0;
    return r;
}

FLOE_DEV linear linear_anew(const linear &z)
{
    linear l = {read_anew(z.inverse), read_anew(z.step), 0, 0, read_anew(z.has_fill)};
    return l;
}

/* What the values of a tile tell about exceptions: all as one look at the end. */
struct checks {
    floe_real error; /* largest |x - y| */
    int32_t least;   /* smallest x - y as the pattern of its high word: INT_MIN is -0, which only -0 gives */
    uint32_t far;    /* a bit from the exponent on: out of range, or not a number */
};

enum { HIGH_BITS = FLOE_REAL_BITS == 32 ? 23 : 20 }; /* of the mantissa in a pattern's high word */

FLOE_DEV void check_begin(checks &c)
{
    c.error = 0;
    c.least = 0;
    c.far = 0;
}

FLOE_DEV bool check_bad(const checks &c, floe_real tolerance)
{
    return !(c.error <= tolerance) || c.least == INT32_MIN || c.far >> HIGH_BITS != 0;
}

FLOE_DEV uint32_t high_word(float x) { return floe_bits_f32(x); }
FLOE_DEV uint32_t high_word(double x) { return (uint32_t)(floe_bits_f64(x) >> 32); }

FLOE_DEV int32_t least_of(int32_t a, int32_t b, int32_t c)
{
#ifdef FLOE_EMULATED
    return min(a, min(b, c));
#else
    return __vimin3_s32(a, b, c);
#endif
}

FLOE_DEV float largest_of(float a, float b, float c) { return fmaxf(a, fmaxf(fabsf(b), fabsf(c))); }
FLOE_DEV double largest_of(double a, double b, double c)
{
    b = fabs(b);
    c = fabs(c);
    b = c > b ? c : b; /* where a NaN gets lost, `far` knows of it */
    return b > a ? b : a;
}

/* far: the magic number's binade is [2^23, 2^24) (f64: [2^52, 2^53)). A NaN lies outside, as does its upper end, which the
 * CPU still takes: such a tile goes the long way though it need not. Two values at once: the minimum of three is one
 * instruction. */
FLOE_DEV void quantize_pair(const floe_real x[2], const linear &l, floe_real shifted[2], floe_real whole[2], checks &c)
{
    const uint32_t magic = FLOE_REAL_BITS == 32 ? 0x4B000000u : 0x43300000u;
    floe_real e[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        floe_real scaled = x[i] * l.inverse;
        shifted[i] = scaled + FLOE_QUANTIZER_MAGIC;
        whole[i] = shifted[i] - FLOE_QUANTIZER_MAGIC;
        e[i] = x[i] - whole[i] * l.step;
        c.far |= high_word(shifted[i]) ^ magic;
    }
    c.error = largest_of(c.error, e[0], e[1]);
    c.least = least_of(c.least, (int32_t)high_word(e[0]), (int32_t)high_word(e[1]));
}

FLOE_DEV void quantize2(const floe_real x[2], const linear &l, floe_real q[2], checks &c)
{
    floe_real shifted[2];
    quantize_pair(x, l, shifted, q, c);
}

FLOE_DEV void quantize2(const floe_real x[2], const linear &l, floe_int q[2], checks &c)
{
    floe_real shifted[2], whole[2];
    quantize_pair(x, l, shifted, whole, c);
    for (int i = 0; i < 2; i++)
        q[i] = (floe_int)(FLOE_R(floe_real_bits)(shifted[i]) - FLOE_QUANTIZER_MAGIC_BITS);
}

/* Zigzag numbers in the low bits, and a sum that compares like that of floe_lorenzo_choose. Floats: u + 1/2 is exact. */
FLOE_DEV uint32_t zigzag(float d, float &sum)
{
    float t = fabsf(fmaf(d, 2.0f, 0.5f));
    sum += t;
    return floe_bits_f32(t + 8388607.5f); /* 2^23 + u */
}
FLOE_DEV uint64_t zigzag(double d, double &sum)
{
    double t = fabs(fma(d, 2.0, 0.5));
    sum += t;
    return floe_bits_f64(t + 4503599627370495.5); /* 2^52 + u */
}
FLOE_DEV floe_uint zigzag(floe_int d, floe_uint &sum)
{
    floe_uint u = FLOE_R(floe_zigzag)((floe_uint)d);
    sum += u < FLOE_LORENZO_CAP ? u : FLOE_LORENZO_CAP;
    return u;
}

/* WIDEST: bits of a residual that a number holds with everything else exact. eighths(sum) is floe_log2_eighths(sum of a
 * group + 32). Floats: sums of 32 numbers carry 32 halves. A float's exponent is 8 log2, and the 3 bits below it the
 * eighths. */
template <class T> struct number;
template <> struct number<float> { /* 32 numbers below 2^17 add up to less than 2^22, where halves are still exact */
    typedef float sum;
    typedef uint32_t residual;
    enum { WIDEST = 17, KEPT_BITS = 24 };
    FLOE_DEV uint32_t bits(uint32_t u) { return u & 0x7FFFFFu; }
    FLOE_DEV uint32_t width(uint32_t u) { return 32 - __clz((int)(u & 0xFFFFFFu)); } /* 2^23 is in the exponent */
    FLOE_DEV uint32_t eighths(float s) { return (floe_bits_f32(s + 16.0f) >> 20) - 8 * 127; }
    FLOE_DEV bool inexact_sum(float s) { return !(s <= 4194304.0f); }
};
template <> struct number<double> { /* the same with 2^46 and 2^51 */
    typedef double sum;
    typedef uint64_t residual;
    enum { WIDEST = 46, KEPT_BITS = 48 };
    FLOE_DEV uint64_t bits(uint64_t u) { return u & 0xFFFFFFFFFFFFFu; }
    FLOE_DEV uint32_t width(uint64_t u)
    {
        const uint32_t above = 64 - __clzll((long long)(u & 0xFFFFFFFFFFFFFu));
        return u >> 52 == 0x433 ? above : 52u; /* else a residual has left the binade of 2^52 */
    }
    FLOE_DEV uint32_t eighths(double s) { return (uint32_t)(floe_bits_f64(s + 16.0) >> 49) - 8 * 1023; }
    FLOE_DEV bool inexact_sum(double s) { return !(s <= 2251799813685248.0); }
};
template <> struct number<int32_t> {
    typedef uint32_t sum;
    typedef uint32_t residual;
    enum { WIDEST = 32, KEPT_BITS = 32 };
    FLOE_DEV uint32_t bits(uint32_t u) { return u; }
    FLOE_DEV uint32_t width(uint32_t u) { return 32 - __clz((int)u); }
    FLOE_DEV uint32_t eighths(uint32_t s) { return floe_log2_eighths((uint64_t)s + 32); }
    FLOE_DEV bool inexact_sum(uint32_t) { return false; }
};

/* ---- differences --------------------------------------------------------------------------------------------------- */

/* p of one plane. corner: for lane 0 the value that predicts the first one, 0 for the others; moves on. */
template <int MODE, class T> FLOE_DEV void differences3(const T q[16], T p[16], T base, T &corner)
{
    const uint32_t gx = floe_lane() % 8, gy = floe_lane() / 8;
    T above[4], d[16];
    if (MODE == FLOE_LORENZO_XY || MODE == FLOE_LORENZO_X)
#pragma unroll
        for (int y = 0; y < 4; y++) {
            T left = __shfl_up_sync(FLOE_ALL_LANES, q[4 * y + 3], 1);
            d[4 * y] = q[4 * y] - (gx == 0 ? (T)0 : left);
#pragma unroll
            for (int x = 1; x < 4; x++)
                d[4 * y + x] = q[4 * y + x] - q[4 * y + x - 1];
        }
    if (MODE == FLOE_LORENZO_XY) {
#pragma unroll
        for (int x = 0; x < 4; x++) {
            T up = __shfl_up_sync(FLOE_ALL_LANES, d[12 + x], 8);
            above[x] = gy == 0 ? (x == 0 ? corner : (T)0) : up;
        }
#pragma unroll
        for (int k = 0; k < 16; k++)
            p[k] = d[k] - (k < 4 ? above[k % 4] : d[(k + 12) % 16]);
    } else if (MODE == FLOE_LORENZO_X) { /* the column of the first lanes along y, where its d is the value itself */
        T up = __shfl_up_sync(FLOE_ALL_LANES, d[12], 8);
        above[0] = gy == 0 ? corner : up;
#pragma unroll
        for (int k = 0; k < 16; k++)
            p[k] = d[k];
#pragma unroll
        for (int y = 0; y < 4; y++)
            p[4 * y] = d[4 * y] - (gx == 0 ? (y == 0 ? above[0] : d[(4 * y + 12) % 16]) : (T)0);
    } else if (MODE == FLOE_LORENZO_Y) { /* the row of the first lanes along x */
        T left = __shfl_up_sync(FLOE_ALL_LANES, q[3], 1);
#pragma unroll
        for (int x = 0; x < 4; x++) {
            T up = __shfl_up_sync(FLOE_ALL_LANES, q[12 + x], 8);
            T beside = x > 0 ? q[(x + 15) % 16] : gx == 0 ? corner : left;
            above[x] = gy == 0 ? beside : up;
        }
#pragma unroll
        for (int k = 0; k < 16; k++)
            p[k] = q[k] - (k < 4 ? above[k % 4] : q[(k + 12) % 16]);
    } else {
#pragma unroll
        for (int k = 0; k < 16; k++)
            p[k] = q[k] - (k == 0 && floe_lane() == 0 ? corner : base);
    }
    corner = floe_lane() == 0 ? q[0] : (T)0;
}

/* Ranks 1 and 2: a plane is a row. */
template <int RANK, int MODE, class T> FLOE_DEV void differences_line(const T *q, T *p, T base, T &corner)
{
    enum { N = shape<RANK>::PLANE };
    const uint32_t lane = floe_lane();
    T left = __shfl_up_sync(FLOE_ALL_LANES, q[N - 1], 1);
    T last = RANK == 1 ? __shfl_sync(FLOE_ALL_LANES, q[N - 1], 31) : q[0];
#pragma unroll
    for (int k = 0; k < N; k++) {
        if (MODE == FLOE_LORENZO_NONE)
            p[k] = q[k] - (k == 0 && lane == 0 ? corner : base);
        else
            p[k] = q[k] - (k > 0 ? q[(k + N - 1) % N] : lane == 0 ? corner : left);
    }
    corner = lane == 0 ? last : (T)0;
}

/* All planes of a step. */
template <int RANK, int MODE, class T> FLOE_DEV void differences(const T q[GROUP], T p[GROUP], T base, T &corner)
{
#pragma unroll
    for (int z = 0; z < shape<RANK>::GZ; z++) {
        if constexpr (RANK == 3)
            differences3<MODE>(q + z * 16, p + z * 16, base, corner);
        else
            differences_line<RANK, MODE>(q + z * shape<RANK>::PLANE, p + z * shape<RANK>::PLANE, base, corner);
    }
}

template <class T> FLOE_DEV void mask_out(T v[GROUP], uint32_t valid)
{
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        v[k] = valid >> k & 1 ? v[k] : (T)0;
}

template <int RANK, class T>
FLOE_DEV void differences_of(uint32_t mode, const T q[GROUP], T p[GROUP], T base, T &corner)
{
    if (mode == FLOE_LORENZO_X)
        differences<RANK, FLOE_LORENZO_X>(q, p, base, corner);
    else if (RANK == 3 && mode == FLOE_LORENZO_XY)
        differences<RANK, FLOE_LORENZO_XY>(q, p, base, corner);
    else if (RANK == 3 && mode == FLOE_LORENZO_Y)
        differences<RANK, FLOE_LORENZO_Y>(q, p, base, corner);
    else
        differences<RANK, FLOE_LORENZO_NONE>(q, p, base, corner);
}

/* ---- choice of the mode -------------------------------------------------------------------------------------------- */

/* The first step: what is before its first plane is 0, so there both candidates are the same. */
template <int RANK, int MODE, bool WHOLE, class T>
FLOE_DEV uint32_t mode_cost(const T q[GROUP], T base, uint32_t valid, bool &inexact)
{
    enum { PLANE = shape<RANK>::PLANE };
    typename number<T>::sum first = 0, deep = 0, flat = 0;
    T corner = floe_lane() == 0 ? base : (T)0, p[GROUP];
    differences<RANK, MODE>(q, p, base, corner);
    if (!WHOLE)
        mask_out(p, valid);
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        if (k < PLANE) {
            zigzag(p[k], first);
            continue;
        }
        T before = k % PLANE == 0 && floe_lane() == 0 ? (T)0 : p[(k + GROUP - PLANE) % GROUP];
        if (!WHOLE)
            before = valid >> k & 1 ? before : (T)0;
        zigzag(p[k], flat);
        zigzag(p[k] - before, deep);
    }
    inexact |= number<T>::inexact_sum(first + max(deep, flat));
    return __reduce_add_sync(FLOE_ALL_LANES, number<T>::eighths(first + min(deep, flat)));
}

template <int RANK, bool WHOLE, class T>
FLOE_DEV uint32_t choose_mode(const T q[GROUP], T base, uint32_t valid, bool &inexact)
{
    uint32_t best = FLOE_LORENZO_X, least = 0xFFFFFFFFu, cost;
    if (RANK == 3) {
        least = mode_cost<RANK, FLOE_LORENZO_XY, WHOLE>(q, base, valid, inexact);
        best = FLOE_LORENZO_XY;
    }
    cost = mode_cost<RANK, FLOE_LORENZO_X, WHOLE>(q, base, valid, inexact);
    if (cost < least)
        least = cost, best = FLOE_LORENZO_X;
    if constexpr (RANK == 3) {
        cost = mode_cost<RANK, FLOE_LORENZO_Y, WHOLE>(q, base, valid, inexact);
        if (cost < least)
            least = cost, best = FLOE_LORENZO_Y;
    }
    cost = mode_cost<RANK, FLOE_LORENZO_NONE, WHOLE>(q, base, valid, inexact);
    return cost < least ? (uint32_t)FLOE_LORENZO_NONE : best;
}

/* ---- a step -------------------------------------------------------------------------------------------------------- */

/* The candidate of each value that takes fewer bits. */
template <class T> struct chosen {
    typename number<T>::residual u[GROUP];
    uint32_t width;
    bool flat, inexact;
};

/* What value k would be taken from. before: p of the plane before the step. */
template <int RANK, class T> FLOE_DEV T value_before(const T p[GROUP], const T *before, int k)
{
    enum { PLANE = shape<RANK>::PLANE };
    T was = k < PLANE ? before[k % PLANE] : p[(k + GROUP - PLANE) % GROUP];
    return k % PLANE == 0 && floe_lane() == 0 ? (T)0 : was;
}

template <int RANK, bool WHOLE, class T>
FLOE_DEV chosen<T> choose_values(const T p[GROUP], const T *before, uint32_t valid)
{
    typedef typename number<T>::residual residual;
    /* Both candidates of all values fit a lane's registers for 32 bits; else the chosen one is made again. */
    const bool keep = sizeof(T) == 4;
    residual other[GROUP], deep_bits = 0, flat_bits = 0;
    typename number<T>::sum deep_sum[2] = {0, 0}, flat_sum[2] = {0, 0}, unused = 0;
    chosen<T> c;
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        T d = p[k] - value_before<RANK>(p, before, k);
        if (!WHOLE)
            d = valid >> k & 1 ? d : (T)0;
        const residual deep = zigzag(d, deep_sum[k & 1]), flat = zigzag(p[k], flat_sum[k & 1]);
        deep_bits |= deep;
        flat_bits |= flat;
        if (keep) {
            c.u[k] = deep;
            other[k] = flat;
        }
    }
    const uint32_t deep_width = number<T>::width(deep_bits), flat_width = number<T>::width(flat_bits);
    c.inexact = max(deep_width, flat_width) > number<T>::WIDEST;
    c.flat =
        flat_width < deep_width || (flat_width == deep_width && flat_sum[0] + flat_sum[1] < deep_sum[0] + deep_sum[1]);
    c.width = c.flat ? flat_width : deep_width;
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        if (keep) {
            c.u[k] = c.flat ? other[k] : c.u[k];
            continue;
        }
        T d = c.flat ? p[k] : p[k] - value_before<RANK>(p, before, k);
        if (!WHOLE)
            d = valid >> k & 1 ? d : (T)0;
        c.u[k] = zigzag(d, unused);
    }
    return c;
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

struct fast_result {
    uint32_t nbody; /* words of the body, whether written or not */
    uint32_t mode;
    uint64_t base;
    bool coded;    /* some residual is not 0 */
    bool unfit;    /* a value of this step may be an exception: the walk has ended before it */
    bool inexact;  /* so it has because T is too narrow */
    uint32_t done; /* steps before that */
};

FLOE_DEV uint64_t base_bits(float base) { return (uint32_t)(int32_t)base; }
FLOE_DEV uint64_t base_bits(double base) { return (uint64_t)(int64_t)base; }
FLOE_DEV uint64_t base_bits(int32_t base) { return (uint32_t)base; }

/* Base and body from word `lead` on. WHOLE: the steps come through buffer, where the caller has the first one already on
 * its way. */
template <class T, int RANK, bool WHOLE, class Count>
FLOE_DEV fast_result encode_fast(const fast_work &work, const sink &out, uint32_t lead, uint32_t *buffer, checks &c,
                                 Count &count)
{
    enum { PLANE = shape<RANK>::PLANE };
    const fast_tile &t = work.tile;
    const uint32_t begin = lead + BASE_WORDS, nsteps = WHOLE ? (uint32_t)FLOE_TILE_STEPS : t.nsteps;
    uint32_t at = begin + (nsteps + 1) / 2, descriptors = 0, any = 0;
    fast_result r = {0, 0, 0, false, false, false, nsteps};
    T before[PLANE], base = 0, corner = 0;
    bool inexact = false;
#pragma unroll
    for (int k = 0; k < PLANE; k++)
        before[k] = 0;
    check_begin(c);
#pragma unroll 1
    for (uint32_t s = 0; s < nsteps; s++) {
        T q[GROUP], p[GROUP];
        const uint32_t valid = WHOLE ? FLOE_ALL_LANES : fast_valid<RANK>(t, s);
        {
            const linear l = WHOLE ? linear_anew(work.quantizer) : work.quantizer;
            floe_real x[GROUP];
            if (WHOLE)
                take_step<RANK>(buffer, x);
            else
                load_step<RANK>(t, s, valid, x);
#pragma unroll
            for (int k = 0; k < GROUP; k += 2)
                quantize2(x + k, l, q + k, c);
            if (l.has_fill) {
                const floe_uint fill = read_anew(work.quantizer.fill);
                bool filled = false;
#pragma unroll
                for (int k = 0; k < GROUP; k++)
                    filled |= FLOE_R(floe_real_bits)(x[k]) == fill && (WHOLE || (valid >> k & 1));
                c.far |= filled ? 0x80000000u : 0;
            }
        }
        if (WHOLE && s + 1 < nsteps) { /* the values are out of the buffer */
            __syncwarp();
            fetch_step<RANK>(rows_anew<RANK>(t), s + 1, buffer);
        }
        if (s == 0) {
            base = __shfl_sync(FLOE_ALL_LANES, q[0], 0);
            corner = floe_lane() == 0 ? base : (T)0;
            r.mode = choose_mode<RANK, WHOLE>(q, base, valid, inexact);
            r.base = base_bits(base);
            if (floe_lane() == 0)
                put_value(out, lead, r.base);
        }
        differences_of<RANK>(r.mode, q, p, base, corner);
        if (!WHOLE)
            mask_out(p, valid);
        const chosen<T> v = choose_values<RANK, WHOLE>(p, before, valid);
#pragma unroll
        for (int k = 0; k < PLANE; k++)
            before[k] = p[GROUP - PLANE + k];
        inexact |= v.inexact;
        const bool bad = check_bad(c, read_anew(work.quantizer.tolerance));
        if (__any_sync(FLOE_ALL_LANES, bad || inexact)) {
            r.unfit = __any_sync(FLOE_ALL_LANES, bad);
            r.inexact = !r.unfit;
            r.done = s;
            break;
        }
        any |= v.width | (uint32_t)v.flat;
        uint32_t low[4];
        const uint32_t descriptor =
            put_step<number<T>::KEPT_BITS>(out, at, v.u, v.width, v.flat, WHOLE || valid != 0, low);
        if constexpr (Count::COUNTS) {
            typename number<T>::residual u[GROUP];
#pragma unroll
            for (int k = 0; k < GROUP; k++)
                u[k] = number<T>::bits(v.u[k]);
            count.step(s, u, low, v.width, v.flat, WHOLE || valid != 0);
        }
        descriptors |= descriptor << (s % 2 * 16);
        if (s % 2 || s + 1 == nsteps) {
            if (floe_lane() == 0)
                put(out, begin + s / 2, descriptors);
            descriptors = 0;
        }
    }
    r.coded = __any_sync(FLOE_ALL_LANES, any != 0);
    r.nbody = at - begin;
    return r;
}

/* The entry of a tile that the short way has done. */
FLOE_DEV made made_fast(const fast_result &r, uint32_t ncells, bool draft, const sink &out)
{
    const uint32_t raw = ncells * BASE_WORDS, flags = r.mode << FLOE_TILE_MODE_SHIFT;
    made m = {0, 0, false};
    if (!r.coded) {
        if (BASE_WORDS >= raw)
            return made_raw(raw);
        if (draft && floe_lane() == 0)
            put_value(out, 0, r.base);
        m.nwords = BASE_WORDS;
        m.entry = m.nwords | (uint32_t)FLOE_TILE_CONSTANT << FLOE_TILE_KIND_SHIFT | flags;
        return m;
    }
    if (BASE_WORDS + r.nbody >= (draft ? FLOE_TILE_DRAFT_WORDS(raw) - 1 : raw))
        return made_raw(raw);
    if (draft && floe_lane() == 0)
        put(out, 0, BASE_WORDS);
    m.nwords = (draft ? 1 : 0) + BASE_WORDS + r.nbody;
    m.entry = (draft ? 0 : m.nwords) | (uint32_t)FLOE_TILE_CODED << FLOE_TILE_KIND_SHIFT | flags;
    return m;
}

} // namespace

#endif
