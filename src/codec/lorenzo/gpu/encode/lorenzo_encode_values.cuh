/* SPDX-License-Identifier: BSD-3-Clause */
/* What the plain path of encoding a tile starts from: where its values lie, how they are loaded, and how they become whole
 * numbers, with what the check for exceptions needs. See lorenzo_encode_plain.cuh. */
#ifndef FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_VALUES_CUH
#define FLOE_CODEC_LORENZO_GPU_ENCODE_LORENZO_ENCODE_VALUES_CUH

#include "codec/lorenzo/gpu/encode/lorenzo_encode_tile.cuh"

namespace FLOE_LORENZO_ENCODING
{

/* ---- geometry ------------------------------------------------------------------------------------------------------ */

template <int RANK> using shape = floe_group_shape<RANK>;

/* A tile that takes the plain path. By value. */
struct plain_tile {
    const floe_real *origin;
    int64_t z, y; /* strides, elements; x: 1 */
    uint32_t nz, ny, nx, nsteps, ncells;
    bool fit, whole; /* whole: all 8192 cells, rows at 16 aligned bytes */
};

/* Half the step, which numbers are made with, is a normal number. (An inverse that overflows when doubled makes all values
 * ones that are out of range.) */
FLOE_DEV bool is_halved(const floe_quantizer *z) { return z->step >= (FLOE_REAL_BITS == 32 ? 0x1p-125 : 0x1p-1021); }

template <class V> FLOE_DEV V reload(const V &v) { return *(const volatile V *)&v; }

template <int RANK> FLOE_DEV plain_tile plain_tile_of(const floe_dev_chunk *chunk, uint32_t tile)
{
    const floe_view *v = &chunk->view;
    plain_tile t;
    t.fit = v->rank == RANK && chunk->quantizer.kind == FLOE_QUANTIZER_LINEAR && is_halved(&chunk->quantizer) &&
            chunk->stride[FLOE_VIEW_X] == 1;
    if (!t.fit)
        return t;
    const floe_tile_place p = floe_tile_place_of<RANK>(v, tile);
    t.z = chunk->stride[FLOE_VIEW_Z];
    t.y = chunk->stride[FLOE_VIEW_Y];
    t.origin = (const floe_real *)chunk->origin + (int64_t)p.batch * chunk->stride[FLOE_VIEW_BATCH] + (int64_t)p.x +
               (int64_t)p.y * t.y + (int64_t)p.z * t.z;
    t.nz = p.nz;
    t.ny = p.ny;
    t.nx = p.nx;
    t.nsteps = p.nsteps;
    t.ncells = p.ncells;
    const uint64_t uneven = (uint64_t)(uintptr_t)t.origin | (RANK > 1 ? (uint64_t)t.z * sizeof(floe_real) : 0) |
                            (RANK > 2 ? (uint64_t)t.y * sizeof(floe_real) : 0);
    t.whole = t.ncells == FLOE_TILE_VALUES && uneven % 16 == 0;
    return t;
}

/* Offset of row r of this lane's group in step s, of its first value. */
template <int RANK> FLOE_DEV int64_t row_at(const plain_tile &t, uint32_t s, uint32_t r)
{
    const uint32_t lane = floe_lane();
    if (RANK == 1)
        return s * FLOE_STEP_VALUES + lane * GROUP + 4 * r;
    if (RANK == 2)
        return (int64_t)(8 * s + r) * t.z + 4 * lane;
    return (int64_t)(2 * s + r / 4) * t.z + (int64_t)(4 * (lane / 8) + r % 4) * t.y + 4 * (lane % 8);
}

/* Bit k: value k of this lane's group lies inside. */
template <int RANK> FLOE_DEV uint32_t plain_valid(const plain_tile &t, uint32_t s)
{
    const uint32_t lane = floe_lane();
    if (RANK == 1)
        return floe_low_bits(floe_cells_inside(reload(t.nx), s * FLOE_STEP_VALUES + lane * GROUP, GROUP));
    const uint32_t row =
        floe_low_bits(floe_cells_inside(reload(t.nx), 4 * (RANK == 2 ? lane : lane % 8), 4)) * 0x11111111u;
    if (RANK == 2)
        return row & floe_low_bits(4 * floe_cells_inside(reload(t.nz), 8 * s, 8));
    const uint32_t plane = row & floe_low_bits(4 * floe_cells_inside(reload(t.ny), 4 * (lane / 8), 4));
    return plane | (floe_cells_inside(reload(t.nz), 2 * s, 2) == 2 ? plane << 16 : 0);
}

/* ---- loading ------------------------------------------------------------------------------------------------------- */

/* Where the rows of a tile are. */
template <int RANK> FLOE_DEV plain_tile reload_rows(const plain_tile &t)
{
    plain_tile r;
    r.origin = reload(t.origin);
    r.z = RANK > 1 ? reload(t.z) : 0;
    r.y = RANK > 2 ? reload(t.y) : 0;
    return r;
}

/* The step to come, in shared memory: 16-byte piece q of the group of lane g stands at piece(q, g), so that neither the
 * copies, which go along memory, nor the lanes that read their groups meet in a bank. */
enum { PIECES = GROUP * sizeof(floe_real) / 16, PIECE_VALUES = 16 / sizeof(floe_real) };

template <int RANK> FLOE_DEV uint32_t piece(uint32_t q, uint32_t g)
{
    const uint32_t twist = RANK == 1 ? q % 8 : BASE_WORDS == 2 ? q % 2 * 4 : 0;
    return q * FLOE_WARP + (g ^ twist);
}

template <bool ONCE> FLOE_DEV void fetch16(void *to, const void *from)
{
    if (ONCE)
        floe_copy16_async_once(to, from);
    else
        floe_copy16_async(to, from);
}

/* Starts copying step s of a whole tile: COUNT pieces a lane, from piece `first` on. ONCE: of a field that L2
 * cannot hold, which had better hold what is written. */
template <int RANK, int COUNT, bool ONCE>
FLOE_DEV void fetch_pieces(const plain_tile &t, uint32_t s, uint32_t first, uint32_t *buffer)
{
    const uint32_t lane = floe_lane();
    const floe_real *row = t.origin + row_at<RANK>(t, s, first); /* ranks 2 and 3 of f32: that of the piece */
    uint4 *to = (uint4 *)buffer;
#pragma unroll
    for (uint32_t k = first; k < first + COUNT; k++) {
        const uint32_t i = k * FLOE_WARP + lane; /* of the step's pieces along memory */
        if (RANK == 1) {
            fetch16<ONCE>(to + piece<1>(i % PIECES, i / PIECES), t.origin + s * FLOE_STEP_VALUES + i * PIECE_VALUES);
        } else if (BASE_WORDS == 1) {
            fetch16<ONCE>(to + piece<RANK>(k, lane), row);
            row += RANK == 2 ? t.z : k % 4 < 3 ? t.y : t.z - 3 * t.y;
        } else {
            const uint32_t pieces = RANK == 2 ? 64 : 16; /* of a row */
            const uint32_t row = i / pieces, c = i % pieces, y = RANK == 2 ? 0 : row % 16,
                           z = RANK == 2 ? row : row / 16;
            const uint32_t g = y / 4 * 8 + c / 2, r = RANK == 2 ? z : z * 4 + y % 4;
            fetch16<ONCE>(to + piece<RANK>(2 * r + c % 2, g), t.origin + (int64_t)((RANK == 2 ? 8 : 2) * s + z) * t.z +
                                                                  (int64_t)y * t.y + c * PIECE_VALUES);
        }
    }
    floe_copy_async_commit();
}

/* All of it by one warp. */
template <int RANK, bool ONCE> FLOE_DEV void fetch_step(const plain_tile &t, uint32_t s, uint32_t *buffer)
{
    fetch_pieces<RANK, PIECES, ONCE>(t, s, 0, buffer);
}

/* Rows that begin anywhere are copied from the 16 aligned bytes on that they begin in, one piece more than they have: they
 * follow one another in the buffer, and lanes find their values a few behind where pieces begin. */
template <int RANK> struct unaligned_rows {
    enum {
        ROW = RANK == 1   ? FLOE_STEP_VALUES
              : RANK == 2 ? 128
                          : 32,        /* values */
        ROWS = FLOE_STEP_VALUES / ROW, /* of a step */
        EVEN_PIECES = ROW / PIECE_VALUES,
        ROW_PIECES = EVEN_PIECES + 1
    };
};
enum {
    UNALIGNED_WORDS = 4 * unaligned_rows<3>::ROWS * unaligned_rows<3>::ROW_PIECES
}; /* those of ranks 1 and 2 are fewer */

/* Where row r of step s begins. */
template <int RANK> FLOE_DEV const floe_real *unaligned_row(const plain_tile &t, uint32_t s, uint32_t r)
{
    if (RANK == 1)
        return t.origin + s * FLOE_STEP_VALUES;
    return RANK == 2 ? t.origin + (int64_t)(8 * s + r) * t.z
                     : t.origin + (int64_t)(2 * s + r / 16) * t.z + (int64_t)(r % 16) * t.y;
}

/* Values between 16 aligned bytes and what they are followed by. */
FLOE_DEV uint32_t unaligned_skip(const floe_real *row)
{
    return (uint32_t)(uintptr_t)row / (uint32_t)sizeof(floe_real) % PIECE_VALUES;
}

/* Piece p of row r, unless the row ends in it; ncells: of the row, those inside. A piece behind them becomes 0. */
template <int RANK>
FLOE_DEV void fetch_unaligned_piece(const floe_real *row, uint32_t r, uint32_t p, uint32_t ncells, uint32_t *buffer)
{
    const uint32_t skip = unaligned_skip(row), end = ncells ? skip + ncells : 0, at = p * PIECE_VALUES;
    if (end <= at || end >= at + PIECE_VALUES)
        floe_copy16_async_part((uint4 *)buffer + r * unaligned_rows<RANK>::ROW_PIECES + p, row - skip + at,
                               end > at ? 16 : 0);
}

/* The piece in which row r ends, value by value: a copy of 16 bytes would touch what lies behind the field. And the last piece,
 * where that is another one. */
template <int RANK>
FLOE_DEV void fetch_unaligned_end(const floe_real *row, uint32_t r, uint32_t ncells, uint32_t *buffer)
{
    enum { LAST = unaligned_rows<RANK>::EVEN_PIECES, WORDS = sizeof(floe_real) / 4 };
    const uint32_t skip = unaligned_skip(row), end = ncells ? skip + ncells : 0, p = end / PIECE_VALUES;
    uint4 *to = (uint4 *)buffer + r * unaligned_rows<RANK>::ROW_PIECES;
    if (end % PIECE_VALUES == 0 || p < LAST)
        to[LAST] = make_uint4(0, 0, 0, 0);
    if (end % PIECE_VALUES)
        floe_copy16_async_words(to + p, row - skip + p * PIECE_VALUES, end % PIECE_VALUES * WORDS);
}

/* Starts copying step s of a tile whose rows begin anywhere, or that is cut off. */
template <int RANK> FLOE_DEV void fetch_unaligned(const plain_tile &t, uint32_t s, uint32_t *buffer)
{
    enum { EVEN = unaligned_rows<RANK>::EVEN_PIECES };
    const uint32_t lane = floe_lane(), ny = reload(t.ny), nz = reload(t.nz);
    const uint32_t nx =
        RANK == 1 ? floe_cells_inside(reload(t.nx), s * FLOE_STEP_VALUES, FLOE_STEP_VALUES) : reload(t.nx);
    const auto cells_of = [=](uint32_t r) -> uint32_t {
        if constexpr (RANK == 1)
            return nx;
        else if constexpr (RANK == 2)
            return 8 * s + r < nz ? nx : 0;
        else
            return r % 16 < ny && 2 * s + r / 16 < nz ? nx : 0;
    };
    const plain_tile rows = reload_rows<RANK>(t);
    const floe_real *row = unaligned_row<RANK>(rows, s, lane / EVEN); /* more lanes than pieces: of several rows */
#pragma unroll
    for (uint32_t k = 0; k < PIECES; k++) {
        const uint32_t i = k * FLOE_WARP + lane, r = i / EVEN, p = i % EVEN;
        fetch_unaligned_piece<RANK>(row, r, p, cells_of(r), buffer);
        if (RANK == 2 && (k + 1) * FLOE_WARP % EVEN == 0)
            row += rows.z;
        else if (RANK == 3)
            row +=
                (k + 1) * FLOE_WARP / EVEN % 16 ? FLOE_WARP / EVEN * rows.y : rows.z - (16 - FLOE_WARP / EVEN) * rows.y;
    }
    if (lane < unaligned_rows<RANK>::ROWS)
        fetch_unaligned_end<RANK>(unaligned_row<RANK>(rows, s, lane), lane, cells_of(lane), buffer);
    floe_copy_async_commit();
}

/* Starts copying step s of a tile that lies in shared memory, the way it needs. */
template <int RANK, bool WHOLE, bool ONCE> FLOE_DEV void fetch_next(const plain_tile &t, uint32_t s, uint32_t *buffer)
{
    if constexpr (WHOLE)
        fetch_step<RANK, ONCE>(reload_rows<RANK>(t), s, buffer);
    else
        fetch_unaligned<RANK>(t, s, buffer);
}

/* Has step s of a whole tile brought from device memory to L2: a line a lane, of which f64 has two. */
template <int RANK> FLOE_DEV void prefetch_step(const plain_tile &t, uint32_t s)
{
    const uint32_t lane = floe_lane();
    const int64_t at = RANK == 1   ? s * FLOE_STEP_VALUES + (int64_t)lane * GROUP
                       : RANK == 2 ? (int64_t)(8 * s + lane / 4) * t.z + 32 * (lane % 4)
                                   : (int64_t)(2 * s + lane / 16) * t.z + (int64_t)(lane % 16) * t.y;
#pragma unroll
    for (int k = 0; k < BASE_WORDS; k++)
        floe_prefetch_far(t.origin + at + k * GROUP / BASE_WORDS);
}

FLOE_DEV void take_piece(const uint4 &v, floe_real *x)
{
#if FLOE_REAL_BITS == 32
    x[0] = floe_f32_of(v.x);
    x[1] = floe_f32_of(v.y);
    x[2] = floe_f32_of(v.z);
    x[3] = floe_f32_of(v.w);
#else
    x[0] = floe_f64_of(v.x | (uint64_t)v.y << 32);
    x[1] = floe_f64_of(v.z | (uint64_t)v.w << 32);
#endif
}

template <int RANK> FLOE_DEV void take_step(const uint32_t *buffer, floe_real x[GROUP])
{
    const uint4 *from = (const uint4 *)buffer;
    floe_copy_async_wait();
    __syncwarp();
#pragma unroll
    for (int q = 0; q < PIECES; q++)
        take_piece(from[piece<RANK>(q, floe_lane())], x + q * PIECE_VALUES);
}

/* What fetch_unaligned has copied. All lanes skip as many values of the rows that they take at once. */
template <int RANK>
FLOE_DEV void take_unaligned(const plain_tile &t, uint32_t s, const uint32_t *buffer, floe_real x[GROUP])
{
    enum { PARTS = 4 / PIECE_VALUES };
    const uint32_t lane = floe_lane();
    floe_copy_async_wait();
    __syncwarp();
#pragma unroll
    for (uint32_t q = 0; q < GROUP / 4; q++) {
        const uint32_t r = RANK == 1 ? 0 : RANK == 2 ? q : q / 4 * 16 + q % 4;
        const uint32_t p = RANK == 1 ? (lane * 8 + q) * PARTS : (RANK == 2 ? lane : lane % 8) * PARTS;
        const uint4 *from =
            (const uint4 *)buffer + (r + (RANK == 3 ? 4 * (lane / 8) : 0)) * unaligned_rows<RANK>::ROW_PIECES + p;
        const uint32_t skip = unaligned_skip(unaligned_row<RANK>(t, s, r));
        floe_real v[4 + PIECE_VALUES];
#pragma unroll
        for (int i = 0; i <= PARTS; i++)
            take_piece(from[i], v + i * PIECE_VALUES);
#pragma unroll
        for (int i = 0; PIECE_VALUES == 4 && i < 5; i++)
            v[i] = skip & 2 ? v[i + 2] : v[i];
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[4 * q + i] = skip & 1 ? v[i + 1] : v[i];
    }
}

/* Step s of a tile whose fetch_next was for that. */
template <int RANK, bool WHOLE>
FLOE_DEV void take_next(const plain_tile &t, uint32_t s, const uint32_t *buffer, floe_real x[GROUP])
{
    if constexpr (WHOLE)
        take_step<RANK>(buffer, x);
    else
        take_unaligned<RANK>(reload_rows<RANK>(t), s, buffer, x);
}

/* ---- numbers ------------------------------------------------------------------------------------------------------- */

/* What of the quantizer is needed. Floating-point numbers stand for half of what they are, see number: so the inverse is
 * twice that of the quantizer and the step is half of it, both exactly (is_halved). */
struct linear {
    floe_real inverse, step, tolerance;
    floe_uint fill;
    bool has_fill; /* another than -0, which the check sees anyway */
};

FLOE_DEV linear linear_of(const floe_dev_chunk *chunk)
{
    const floe_quantizer *z = &chunk->quantizer;
    linear l = {(floe_real)z->inverse * 2, (floe_real)z->step / 2, (floe_real)z->tolerance, (floe_uint)z->fill, false};
    l.has_fill = l.fill != FLOE_REAL_SIGN;
    return l;
}

/* What a tile is encoded from. It lies in shared memory and is read anew where it is needed: registers for it would go to
 * local memory, for which there is no cache left beside the stages. */
struct plain_work {
    plain_tile tile;
    linear quantizer;
};

/* Makes a tile that a warp is going to encode its work. True when it takes the plain path. */
template <int RANK> FLOE_DEV bool begin_work(const floe_dev_chunk *chunk, uint32_t tile, plain_work *work)
{
    const plain_tile t = plain_tile_of<RANK>(chunk, tile);
    __syncwarp(); /* what was there has been read */
    if (floe_lane() == 0) {
        work->tile = t;
        if (t.fit)
            work->quantizer = linear_of(chunk);
    }
    __syncwarp();
    return t.fit;
}

FLOE_DEV linear reload_linear(const linear &z)
{
    linear l = {reload(z.inverse), reload(z.step), 0, 0, reload(z.has_fill)};
    return l;
}

/* What the values of a tile show about exceptions: all as one look at the end. */
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
    b = c > b ? c : b; /* where a NaN gets lost, `far` has it */
    return b > a ? b : a;
}

/* The largest of all lanes, none of them negative. */
FLOE_DEV double largest_of_warp(float v)
{
    return (double)floe_f32_of(__reduce_max_sync(FLOE_ALL_LANES, floe_bits_f32(v)));
}
FLOE_DEV double largest_of_warp(double v) { return floe_f64_of(floe_warp_max(floe_bits_f64(v))); }

/* Rounds to even numbers as FLOE_QUANTIZER_MAGIC does to whole ones. */
#define MAGIC_OF_TWICE (2 * FLOE_QUANTIZER_MAGIC)

/* FAR: c.far notes whether the sum's binade is [2^24, 2^25) (f64: [2^53, 2^54)). A NaN lies outside, as does its upper end,
 * which the CPU still takes: such a tile takes the general path though it need not. Two values at once: the minimum of three is one
 * instruction. */
template <bool FAR> FLOE_DEV void quantize2(const floe_real x[2], const linear &l, floe_real q[2], checks &c)
{
    const uint32_t binade = FLOE_REAL_BITS == 32 ? 0x4B800000u : 0x43400000u;
    floe_real e[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const floe_real scaled = x[i] * l.inverse, shifted = scaled + MAGIC_OF_TWICE;
        q[i] = shifted - MAGIC_OF_TWICE;
        e[i] = x[i] - q[i] * l.step;
        if (FAR)
            c.far |= high_word(shifted) ^ binade;
    }
    c.error = largest_of(c.error, e[0], e[1]);
    c.least = least_of(c.least, (int32_t)high_word(e[0]), (int32_t)high_word(e[1]));
}

/*
 * What numbers are like: floats, of f64 doubles. They stand for half of what they are, so that one addition, of lifted(),
 * prepares for zigzag: 2 d + 1/2, whose magnitude is zigzag(d) + 1/2. A difference of a lifted number and another is lifted.
 *
 * residual: zigzag of a lifted number, in the low bits. weight: what it adds to a sum that compares like that of
 * floe_lorenzo_choose. WIDEST: bits of a residual that a number holds with everything else exact. eighths(sum) is
 * floe_log2_eighths(sum of a group + 32): sums of 32 weights of floats carry 32 halves; a float's exponent is 8 log2, and the
 * 3 bits below it the eighths.
 */
#if FLOE_REAL_BITS == 32
struct number { /* 32 numbers below 2^17 add up to less than 2^22, where halves are still exact */
    typedef uint32_t residual;
    enum { WIDEST = 17, KEPT_BITS = 24 };
    FLOE_DEV float lifted(float twice) { return twice + 0.5f; }
    FLOE_DEV uint32_t zigzag(float v) { return floe_bits_f32(fabsf(v) + 8388607.5f); } /* 2^23 + u */
    FLOE_DEV float weight(float v) { return fabsf(v); }
    FLOE_DEV uint32_t bits(uint32_t u) { return u & 0x7FFFFFu; }
    FLOE_DEV uint32_t width(uint32_t u) { return floe_bits_of(u & 0xFFFFFFu); } /* 2^23 is in the exponent */
    FLOE_DEV uint32_t eighths(float s) { return (floe_bits_f32(s + 16.0f) >> 20) - 8 * 127; }
    FLOE_DEV bool inexact_sum(float s) { return !(s <= 4194304.0f); }
    FLOE_DEV uint64_t base(float twice) { return (uint32_t)(int32_t)(0.5f * twice); }
};
#else
struct number { /* the same with 2^46 and 2^51 */
    typedef uint64_t residual;
    enum { WIDEST = 46, KEPT_BITS = 48 };
    FLOE_DEV double lifted(double twice) { return twice + 0.5; }
    FLOE_DEV uint64_t zigzag(double v) { return floe_bits_f64(fabs(v) + 4503599627370495.5); } /* 2^52 + u */
    FLOE_DEV double weight(double v) { return fabs(v); }
    FLOE_DEV uint64_t bits(uint64_t u) { return u & 0xFFFFFFFFFFFFFu; }
    FLOE_DEV uint32_t width(uint64_t u)
    {
        const uint32_t above = 64 - __clzll((long long)(u & 0xFFFFFFFFFFFFFu));
        return u >> 52 == 0x433 ? above : 52u; /* else a residual has left the binade of 2^52 */
    }
    FLOE_DEV uint32_t eighths(double s) { return (uint32_t)(floe_bits_f64(s + 16.0) >> 49) - 8 * 1023; }
    FLOE_DEV bool inexact_sum(double s) { return !(s <= 2251799813685248.0); }
    FLOE_DEV uint64_t base(double twice) { return (uint64_t)(int64_t)(0.5 * twice); }
};
#endif

} // namespace FLOE_LORENZO_ENCODING

#endif
