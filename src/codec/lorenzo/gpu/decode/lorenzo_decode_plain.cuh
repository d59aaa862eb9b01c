/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding a tile on the plain path: quantizer LINEAR, coded, no exceptions. All numbers of a lane's group stay in registers.
 * f32 is summed up as floats, f64 as integers of 32 bits, as long as the bound on all sums lets them; a tile that it does
 * not let takes the general path (lorenzo_decode_general.cuh), as does everything else.
 */
#ifndef FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_PLAIN_CUH
#define FLOE_CODEC_LORENZO_GPU_DECODE_LORENZO_DECODE_PLAIN_CUH

#include "codec/lorenzo/gpu/decode/lorenzo_decode_tile.cuh"

/* Residuals of a step -> its integers, in the registers of a warp: what floe_lorenzo_decode_step does. Numbers are integers,
 * which wrap, or floats, as long as a bound on all sums shows that they stay exact. */
namespace FLOE_LORENZO_DECODING
{

/* ---- the walk ------------------------------------------------------------------------------------------------------ */

/* p of the plane before; lane 0: the value that predicts the first one of the next plane, 0 in other lanes. */
template <int RANK, class T> struct walk {
    T before[shape<RANK>::PLANE];
    T base, corner;
};

template <int RANK, class T> FLOE_DEV void walk_begin(walk<RANK, T> &w, T base)
{
#pragma unroll
    for (int k = 0; k < shape<RANK>::PLANE; k++)
        w.before[k] = 0;
    w.base = base;
    w.corner = floe_lane() == 0 ? base : (T)0;
}

/* a b + c for b 0 or 1: exact, and of integers modulo 2^n. */
FLOE_DEV float add_product(float a, float b, float c) { return fmaf(a, b, c); }
FLOE_DEV int32_t add_product(int32_t a, int32_t b, int32_t c)
{
    return (int32_t)((uint32_t)a * (uint32_t)b + (uint32_t)c);
}
FLOE_DEV int64_t add_product(int64_t a, int64_t b, int64_t c)
{
    return (int64_t)(((uint64_t)a & (0 - (uint64_t)b)) + (uint64_t)c);
}

/* Integers wrap. */
FLOE_DEV float add(float a, float b) { return a + b; }
FLOE_DEV int32_t add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
FLOE_DEV int64_t add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

FLOE_DEV float sub(float a, float b) { return a - b; }
FLOE_DEV int32_t sub(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }
FLOE_DEV int64_t sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }

/* v += the v of the lane DELTA before, in its run of WIDTH lanes. */
template <int DELTA, int WIDTH> FLOE_DEV void scan_step(float &v) { floe_scan_step<DELTA, WIDTH>(v); }
template <int DELTA, int WIDTH> FLOE_DEV void scan_step(int32_t &v)
{
    uint32_t u = (uint32_t)v;
    floe_scan_step<DELTA, WIDTH>(u);
    v = (int32_t)u;
}
template <int DELTA, int WIDTH> FLOE_DEV void scan_step(int64_t &v)
{
    uint64_t u = (uint64_t)v;
    floe_scan_step<DELTA, WIDTH>(u);
    v = (int64_t)u;
}

/* Sums over the lanes up to this one: of its run of 8; of those 8, 16 and 24 before; of all. */
template <class T> FLOE_DEV T sum_left(T v)
{
    scan_step<1, 8>(v);
    scan_step<2, 8>(v);
    scan_step<4, 8>(v);
    return v;
}
template <class T> FLOE_DEV T sum_above(T v)
{
    scan_step<8, 32>(v);
    scan_step<16, 32>(v);
    return v;
}
template <class T> FLOE_DEV T sum_all_left(T v)
{
    scan_step<1, 32>(v);
    scan_step<2, 32>(v);
    scan_step<4, 32>(v);
    scan_step<8, 32>(v);
    scan_step<16, 32>(v);
    return v;
}

/* ---- sums in a plane ----------------------------------------------------------------------------------------------- */

/* Four values of a row, in a row of 8 groups. */
template <class T> FLOE_DEV void sum_row(T v[4])
{
#pragma unroll
    for (int x = 1; x < 4; x++)
        v[x] = add(v[x], v[x - 1]);
    const T all = sum_left(v[3]), left = sub(all, v[3]);
#pragma unroll
    for (int x = 0; x < 3; x++)
        v[x] = add(v[x], left);
    v[3] = all;
}

/* Four values of a column, at v[0], v[4] .. */
template <class T> FLOE_DEV void sum_column(T *v)
{
#pragma unroll
    for (int y = 4; y < 16; y += 4)
        v[y] = add(v[y], v[y - 4]);
    const T all = sum_above(v[12]), above = sub(all, v[12]);
#pragma unroll
    for (int y = 0; y < 12; y += 4)
        v[y] = add(v[y], above);
    v[12] = all;
}

/* N values of a row, in a row of all 32 groups. */
template <int N, class T> FLOE_DEV void sum_line(T v[N])
{
#pragma unroll
    for (int x = 1; x < N; x++)
        v[x] = add(v[x], v[x - 1]);
    const T all = sum_all_left(v[N - 1]), left = sub(all, v[N - 1]);
#pragma unroll
    for (int x = 0; x < N - 1; x++)
        v[x] = add(v[x], left);
    v[N - 1] = all;
}

/* p of one plane, with the corner added to its first value -> q. Rank 3. */
template <class T> FLOE_DEV void plane_sums(uint32_t mode, T v[16])
{
    const bool first_x = floe_lane() % 8 == 0, first_y = floe_lane() < 8;
    if (mode == FLOE_LORENZO_X) { /* the first column first */
        T c[16];
#pragma unroll
        for (int k = 0; k < 16; k += 4)
            c[k] = first_x ? v[k] : (T)0;
        sum_column(c);
#pragma unroll
        for (int k = 0; k < 16; k += 4)
            v[k] = first_x ? c[k] : v[k];
    }
    if (mode == FLOE_LORENZO_Y) { /* the first row first */
        T c[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            c[k] = first_y ? v[k] : (T)0;
        sum_row(c);
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = first_y ? c[k] : v[k];
    }
    if (mode != FLOE_LORENZO_Y)
#pragma unroll
        for (int y = 0; y < 4; y++)
            sum_row(v + 4 * y);
    if (mode != FLOE_LORENZO_X)
#pragma unroll
        for (int x = 0; x < 4; x++)
            sum_column(v + x);
}

/* ---- a step -------------------------------------------------------------------------------------------------------- */

/* Residuals -> p, which the next step starts from. */
template <int RANK, class T> FLOE_DEV void sum_along_z(walk<RANK, T> &w, bool flat, T v[GROUP])
{
    enum { PLANE = shape<RANK>::PLANE };
    const T keep = flat ? (T)0 : (T)1, keep_first = floe_lane() == 0 ? (T)0 : keep;
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        const T was = k < PLANE ? w.before[k % PLANE] : v[(k + GROUP - PLANE) % GROUP];
        v[k] = add_product(was, k % PLANE ? keep : keep_first, v[k]);
    }
#pragma unroll
    for (int k = 0; k < PLANE; k++)
        w.before[k] = v[GROUP - PLANE + k];
}

/* p that was summed up from 0 on, as if there was no plane before -> p. */
template <int RANK, class T> FLOE_DEV void carry_along_z(const walk<RANK, T> &w, bool flat, T v[GROUP])
{
    enum { PLANE = shape<RANK>::PLANE };
    const T keep = flat ? (T)0 : (T)1, keep_first = floe_lane() == 0 ? (T)0 : keep;
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        v[k] = add_product(w.before[k % PLANE], k % PLANE ? keep : keep_first, v[k]);
}

/* p of a step -> q, in place. */
template <int RANK, class T> FLOE_DEV void sum_planes(walk<RANK, T> &w, uint32_t mode, T v[GROUP])
{
    enum { PLANE = shape<RANK>::PLANE };
    const bool first = floe_lane() == 0;
#pragma unroll
    for (int k = 0; k < GROUP; k += PLANE) { /* rank 1: of the one plane, whose last value comes next */
        v[k] = add(v[k], w.corner);
        w.corner = first ? v[k] : (T)0;
    }
    if (mode == FLOE_LORENZO_NONE) {
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            v[k] = add(v[k], k % PLANE == 0 && first ? (T)0 : w.base);
    } else {
#pragma unroll
        for (int k = 0; k < GROUP; k += PLANE) {
            if constexpr (RANK == 3)
                plane_sums(mode, v + k);
            else
                sum_line<PLANE>(v + k);
        }
    }
    if (RANK == 1) {
        const T last = __shfl_sync(FLOE_ALL_LANES, v[GROUP - 1], FLOE_WARP - 1);
        w.corner = first ? last : (T)0;
    }
}

/* Residuals -> q, in place. */
template <int RANK, class T> FLOE_DEV void sum_step(walk<RANK, T> &w, uint32_t mode, bool flat, T v[GROUP])
{
    sum_along_z<RANK>(w, flat, v);
    sum_planes<RANK>(w, mode, v);
}

/* ---- exactness ----------------------------------------------------------------------------------------------------- */

/* What no number of a step can pass, in magnitude: p of a plane, and corners. Both are sums of at most 2^(width - 1) a
 * residual. Computed in floats, rounded by far less than what FLOE_SUMS_LIMIT leaves. */
struct sums_bound {
    float p, corner, base;
};

/* Whole numbers below it keep all sums exact, and are what floe_linear_decode takes for floats. */
FLOE_DEV float sums_limit(float) { return 4190000.0f; }      /* of 2^22 */
FLOE_DEV float sums_limit(int32_t) { return 2145000000.0f; } /* of 2^31 */

FLOE_DEV void bound_begin(sums_bound &b, floe_int base)
{
    b.p = 0;
    b.base = b.corner = fabsf((float)base);
}

/* What residuals of `most` bits add to it in a step. */
template <int RANK> FLOE_DEV float bound_of_step(uint32_t most)
{
    return shape<RANK>::GZ * floe_f32_of((126 + most) << 23); /* 2^(most - 1), or 1/2 for 0 */
}

/* Whether the base and all sums stay below the limit. Each value of a plane is a sum of p's, each taken once, and the corner. */
template <int RANK, class T> FLOE_DEV bool bound_fits(const sums_bound &b, uint32_t mode)
{
    const float ps = mode == FLOE_LORENZO_NONE ? 1.0f
                     : RANK == 1               ? 1024.0f
                     : RANK == 2               ? 128.0f
                     : mode == FLOE_LORENZO_XY ? 512.0f
                                               : 48.0f; /* a row of 32 or a column of 16, and the first of those */
    const float from = mode == FLOE_LORENZO_NONE ? fmaxf(fabsf(b.corner), b.base) : fabsf(b.corner);
    return fmaxf(b.base, from + ps * b.p) < sums_limit((T)0);
}

/* The same for the next step. */
template <int RANK, class T>
FLOE_DEV bool bound_holds(sums_bound &b, uint32_t mode, uint32_t most, const walk<RANK, T> &w)
{
    const float add = bound_of_step<RANK>(most);
    b.p += add;
    if (RANK == 1) /* corners are known: they are the values before */
        b.corner = (float)__shfl_sync(FLOE_ALL_LANES, w.corner, 0);
    else
        b.corner += add;
    return bound_fits<RANK, T>(b, mode) && most <= number<T>::MOST;
}

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

#if FLOE_REAL_BITS == 32
template <int RANK> FLOE_DEV void store_row(floe_real *to, const floe_real v[4])
{
    __stcs((float4 *)to, make_float4(v[0], v[1], v[2], v[3]));
}
#else
/* Rows of two lanes side by side, in pieces of 32 bytes: first the even lane's row by both, then the odd one's. */
template <int RANK> FLOE_DEV void store_row(floe_real *to, const floe_real v[4])
{
    if (RANK == 1) { /* there they are not */
        __stcs((double2 *)to, make_double2(v[0], v[1]));
        __stcs((double2 *)to + 1, make_double2(v[2], v[3]));
        return;
    }
    const bool odd = floe_lane() % 2;
    double2 give = odd ? make_double2(v[0], v[1]) : make_double2(v[2], v[3]), got;
    got.x = __shfl_xor_sync(FLOE_ALL_LANES, give.x, 1);
    got.y = __shfl_xor_sync(FLOE_ALL_LANES, give.y, 1);
    const double2 own = odd ? make_double2(v[2], v[3]) : make_double2(v[0], v[1]);
    floe_real *even_row = to - (odd ? 4 : 0) + (odd ? 2 : 0); /* this lane's half of it */
    __stcs((double2 *)even_row, odd ? got : own);
    __stcs((double2 *)(even_row + 4), odd ? own : got);
}
#endif

/* A group of rank 1 is a run of memory, and a piece of each lane's run at a time would go to 32 places: they change lanes
 * in shared memory, 8 pieces of 16 bytes of each lane at once. */
enum { PIECE_VALUES = 16 / sizeof(floe_real), LINE_PIECES = 8, LINE_WORDS = FLOE_WARP * LINE_PIECES * 4 };

FLOE_DEV uint4 piece_of(const floe_real *v)
{
#if FLOE_REAL_BITS == 32
    return make_uint4(floe_bits_f32(v[0]), floe_bits_f32(v[1]), floe_bits_f32(v[2]), floe_bits_f32(v[3]));
#else
    const uint64_t a = floe_bits_f64(v[0]), b = floe_bits_f64(v[1]);
    return make_uint4((uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b, (uint32_t)(b >> 32));
#endif
}

/* to: of the step's first value. */
FLOE_DEV void store_line(floe_real *to, const floe_real v[GROUP], uint4 *line)
{
    const uint32_t lane = floe_lane();
#pragma unroll
    for (int first = 0; first < GROUP; first += LINE_PIECES * PIECE_VALUES) {
        __syncwarp();
#pragma unroll
        for (int q = 0; q < LINE_PIECES; q++) /* so turned that neither side meets in a bank */
            line[q * FLOE_WARP + (lane ^ q)] = piece_of(v + first + q * PIECE_VALUES);
        __syncwarp();
#pragma unroll
        for (int k = 0; k < LINE_PIECES; k++) {
            const uint32_t q = lane % LINE_PIECES, group = k * (FLOE_WARP / LINE_PIECES) + lane / LINE_PIECES;
            __stcs((uint4 *)(to + group * GROUP + first + q * PIECE_VALUES), line[q * FLOE_WARP + (group ^ q)]);
        }
    }
}

/* A step of ranks 2 and 3 as 32 runs of 32 cells along x, a lane's one each. Bit k: this lane's of run k is wanted. */
template <int RANK> FLOE_DEV uint32_t runs_wanted(const cells &out, uint32_t s)
{
    const uint32_t lane = floe_lane();
    if (RANK == 3) {
        const uint32_t rows = range_bits(out.y0, out.y1, 0, 16), planes = range_bits(out.z0, out.z1, 2 * s, 2);
        const uint32_t runs = (planes & 1 ? rows : 0) | (planes & 2 ? rows << 16 : 0);
        return lane >= out.x0 && lane < out.x1 ? runs : 0;
    }
    const uint32_t first = floe_cells_inside(out.z0, 8 * s, 8), end = floe_cells_inside(out.z1, 8 * s, 8);
    uint32_t across = 0;
#pragma unroll
    for (uint32_t j = 0; j < 4; j++)
        across |= 32 * j + lane >= out.x0 && 32 * j + lane < out.x1 ? 0x11111111u << j : 0;
    return across & floe_low_bits(4 * end) & ~floe_low_bits(4 * first);
}

/* Values of a step to rows that may begin anywhere, as far as they are wanted: they change lanes in shared memory, so that
 * those of a run go out side by side. line: of LINE_WORDS, which hold 32 runs of f32 or 16 of f64. */
template <int RANK> FLOE_DEV void store_runs(const target &t, uint32_t s, const floe_real v[GROUP], uint4 *line)
{
    enum { RUNS = LINE_PIECES * PIECE_VALUES, PARTS = 4 / PIECE_VALUES };
    const uint32_t lane = floe_lane(), wanted = RANK == 1 ? 0 : runs_wanted<RANK>(t.out, s);
    floe_real *to = t.origin + t.at + (RANK == 1 ? 0 : (int64_t)lane * t.x + (int64_t)((RANK == 2 ? 8 : 2) * s) * t.z);
#pragma unroll
    for (int first = 0; first < GROUP; first += RUNS) {
        __syncwarp();
#pragma unroll
        for (int q = 0; q < LINE_PIECES; q++) {
            const uint32_t at =
                RANK == 1 ? q * FLOE_WARP + (lane ^ q) : (q / PARTS * FLOE_WARP + lane) * PARTS + q % PARTS;
            line[at] = piece_of(v + first + q * PIECE_VALUES);
        }
        __syncwarp();
#pragma unroll
        for (int k = 0; k < RUNS; k++) {
            const int run = first + k, j = RANK == 3 ? run % 16 / 4 : run % 4; /* lanes 8 j and later have it */
            if (RANK == 1) {
                const uint32_t i = (k * FLOE_WARP + lane) % RUNS, g = (k * FLOE_WARP + lane) / RUNS;
                const uint32_t x = s * FLOE_STEP_VALUES + g * GROUP + first + i, q = i / PIECE_VALUES;
                const floe_real value = ((const floe_real *)(line + q * FLOE_WARP + (g ^ q)))[i % PIECE_VALUES];
                if (x >= t.out.x0 && x < t.out.x1)
                    __stcs(to + (int64_t)x * t.x, value);
                continue;
            }
            const int row = RANK == 3 ? run % 4 + run / 16 * 4 : run / 4;
            const floe_real value = ((const floe_real *)line)[((row - first / 4) * 32 + 8 * j) * 4 + lane];
            if (wanted >> run & 1)
                __stcs(to, value);
            if (RANK == 2)
                to += run % 4 < 3 ? 32 * t.x : t.z - 96 * t.x;
            else
                to += run % 16 < 15 ? t.y : t.z - 15 * t.y;
        }
    }
}

/* Values of a step to where they are wanted. WHOLE: everywhere. line: NULL, or for rank 1 shared memory of LINE_WORDS. */
template <int RANK, bool WHOLE>
FLOE_DEV void store_step(const target &t, uint32_t s, const floe_real v[GROUP], uint4 *line)
{
    const uint32_t wanted = WHOLE ? FLOE_ALL_LANES : group_cells<RANK>(t.out, s);
    if (RANK == 1 && WHOLE && line) {
        store_line(t.origin + t.at + s * FLOE_STEP_VALUES, v, line);
        return;
    }
#pragma unroll
    for (int r = 0; r < GROUP / 4; r++) {
        floe_real *to = t.origin + row_at<RANK, WHOLE>(t, s, r);
        if constexpr (WHOLE)
            store_row<RANK>(to, v + 4 * r);
        else
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (wanted >> (4 * r + i) & 1)
                    to[i * t.x] = v[4 * r + i];
    }
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

/* The steps of a coded tile. WHOLE: all cells are inside the field and wanted, and rows are aligned; line is as for store_step,
 * else as for store_runs. Of encoder pack the window has the words before it only. */
template <int RANK, bool WHOLE, class Source>
FLOE_DEV outcome decode_plain(const target &t, uint32_t mode, floe_int base, floe_real step, Source &source,
                              uint4 *line)
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
        if (WHOLE)
            store_step<RANK, true>(t, s, v, line);
        else
            store_runs<RANK>(t, s, v, line);
    }
    return t.steps_wanted < t.nsteps || source_at_end(source) ? TILE_DONE : TILE_BAD;
}

/* Whether an entry is that of a tile for the plain path, as far as it alone shows. */
FLOE_DEV bool entry_is_plain(uint32_t entry)
{
    const uint32_t others = ~((uint32_t)FLOE_TILE_NWORDS_MASK | 3u << FLOE_TILE_MODE_SHIFT);
    return (entry & others) == 0 && (entry & FLOE_TILE_NWORDS_MASK) >= BASE_WORDS;
}

/* Whether it is; all that is wrong with others is found on the general path. */
template <int RANK> FLOE_DEV bool entry_is_plain(uint32_t entry, floe_quantizer_kind kind, const target &t)
{
    const uint32_t mode = floe_tile_mode(entry), nwords = entry & FLOE_TILE_NWORDS_MASK;
    return entry_is_plain(entry) && kind == FLOE_QUANTIZER_LINEAR && nwords >= BASE_WORDS &&
           nwords < t.ncells * BASE_WORDS && (RANK == 3 || mode == FLOE_LORENZO_X || mode == FLOE_LORENZO_NONE);
}
static_assert(FLOE_TILE_CODED == 0, "no other bits in its entry");

} // namespace FLOE_LORENZO_DECODING

#endif
