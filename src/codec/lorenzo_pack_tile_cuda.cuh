/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding a tile by a warp; a lane owns a group of each step.
 *
 * Numbers are floats as long as all integers stay exact in them, which the widths tell afterwards: additions of floats run
 * at twice the rate of those of integers. A tile where that fails is done again with integers (T = int32_t). Either way
 * the numbers are those of floe_linear_encode_f32, and the words those of pack.h.
 */
#ifndef FLOE_CODEC_LORENZO_PACK_TILE_CUDA_CUH
#define FLOE_CODEC_LORENZO_PACK_TILE_CUDA_CUH

#include "codec/lorenzo_pack_cuda.cuh"

namespace
{

/* ---- numbers ------------------------------------------------------------------------------------------------------- */

/* What the values of a tile tell about exceptions: all as one look at the end. */
struct checks {
    float error;   /* largest |x - y| */
    int32_t least; /* smallest x - y as a pattern: INT_MIN is -0, which only -0 gives */
    uint32_t far;  /* a bit from 23 on: out of range, or not a number */
};

FLOE_DEV void check_begin(checks &c)
{
    c.error = 0;
    c.least = 0;
    c.far = 0;
}

FLOE_DEV bool check_bad(const checks &c, float tolerance)
{
    return !(c.error <= tolerance) || c.least == INT32_MIN || c.far >> 23 != 0;
}

/* As floe_linear_encode_f32: shifted holds q in its low bits, whole is q. */
FLOE_DEV void quantize_parts(float x, const floe_pack_encode_job &job, float &shifted, float &whole, float &error)
{
    float scaled = x * job.inverse;
    shifted = scaled + FLOE_QUANTIZER_MAGIC;
    whole = shifted - FLOE_QUANTIZER_MAGIC;
    error = x - whole * job.step;
}

/* far: the magic number's binade is [2^23, 2^24), patterns 0x4B000000 and up. A NaN lies outside, as does +2^22, which the
 * CPU still takes: such a tile is called unfit though it need not be. Two values at once: the minimum of three is one
 * instruction. */
FLOE_DEV void quantize_check(const float s[2], const float e[2], checks &c)
{
    c.error = fmaxf(c.error, fmaxf(fabsf(e[0]), fabsf(e[1])));
    c.least = __vimin3_s32(c.least, (int32_t)floe_bits_f32(e[0]), (int32_t)floe_bits_f32(e[1]));
    c.far |= floe_bits_f32(s[0]) ^ 0x4B000000u;
    c.far |= floe_bits_f32(s[1]) ^ 0x4B000000u;
}

FLOE_DEV void quantize2(float x0, float x1, const floe_pack_encode_job &job, float q[2], checks &c)
{
    float s[2], e[2];
    quantize_parts(x0, job, s[0], q[0], e[0]);
    quantize_parts(x1, job, s[1], q[1], e[1]);
    quantize_check(s, e, c);
}

FLOE_DEV void quantize2(float x0, float x1, const floe_pack_encode_job &job, int32_t q[2], checks &c)
{
    float s[2], whole, e[2];
    quantize_parts(x0, job, s[0], whole, e[0]);
    q[0] = (int32_t)(floe_bits_f32(s[0]) - FLOE_QUANTIZER_MAGIC_BITS);
    quantize_parts(x1, job, s[1], whole, e[1]);
    q[1] = (int32_t)(floe_bits_f32(s[1]) - FLOE_QUANTIZER_MAGIC_BITS);
    quantize_check(s, e, c);
}

/* floe_zigzag_f32(d) in the low bits (18 of a float's), and a sum that compares like that of floe_lorenzo_choose. */
FLOE_DEV uint32_t zigzag(float d, float &sum)
{
    float t = fabsf(fmaf(d, 2.0f, 0.5f)); /* u + 1/2; both operations are exact */
    sum += t;
    return floe_bits_f32(t + 8388607.5f); /* 2^23 + u */
}
FLOE_DEV uint32_t zigzag(int32_t d, uint32_t &sum)
{
    uint32_t u = floe_zigzag_f32((uint32_t)d);
    sum += min(u, FLOE_LORENZO_CAP);
    return u;
}

/* eighths(sum) is floe_log2_eighths(sum of a group + 32). Floats: sums of 32 numbers carry 32 halves; 32 numbers below
 * 2^17 add up to less than 2^22, where halves are still exact. */
template <class T> struct number;
template <> struct number<float> {
    typedef float sum;
    FLOE_DEV uint32_t width(uint32_t bits) { return 32 - __clz(bits & 0xFFFFFFu); } /* 2^23 is in the exponent */
    FLOE_DEV bool inexact(uint32_t width) { return width > 17; }
    /* a float's exponent is 8 log2, and the 3 bits below it the eighths; 1016 = 8 * 127 */
    FLOE_DEV uint32_t eighths(float s) { return (floe_bits_f32(s + 16.0f) >> 20) - 1016; }
    FLOE_DEV bool inexact_sum(float s) { return s > 4194304.0f; }
};
template <> struct number<int32_t> {
    typedef uint32_t sum;
    FLOE_DEV uint32_t width(uint32_t bits) { return 32 - __clz(bits); }
    FLOE_DEV bool inexact(uint32_t) { return false; }
    FLOE_DEV uint32_t eighths(uint32_t s) { return floe_log2_eighths((uint64_t)s + 32); }
    FLOE_DEV bool inexact_sum(uint32_t) { return false; }
};

/* ---- loading ------------------------------------------------------------------------------------------------------- */

FLOE_DEV float4 load4(const float *p)
{
    float4 v;
    asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
        : "l"(p));
    return v;
}

/* The 32 values of this lane's group in step s; cells outside are 0. */
template <bool WHOLE>
FLOE_DEV void load_group(const floe_pack_encode_job &job, const tile_place &t, const lane_place &l, uint32_t s,
                         float x[VALUES])
{
    const uint64_t row = job.grid.extent[2], plane = row * job.grid.extent[1];
    const float *p = job.x + group_at(job.grid, t, l, s);
#pragma unroll
    for (int z = 0; z < 2; z++)
#pragma unroll
        for (int y = 0; y < 4; y++) {
            const float *at = p + z * plane + y * row;
            float *v = x + 16 * z + 4 * y;
            if (WHOLE) {
                float4 f = load4(at);
                v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w;
            } else {
                bool in = 2 * s + z < t.nz && 4 * l.gy + y < t.ny;
#pragma unroll
                for (int i = 0; i < 4; i++)
                    v[i] = in && 4 * l.gx + i < t.nx ? __ldg(at + i) : 0.0f;
            }
        }
}

/* Bit k: value k lies inside. */
FLOE_DEV uint32_t valid_mask(const tile_place &t, const lane_place &l, uint32_t s)
{
    int nx = min(max((int)t.nx - (int)(4 * l.gx), 0), 4), ny = min(max((int)t.ny - (int)(4 * l.gy), 0), 4);
    uint32_t row = (1u << nx) - 1, bits = 0;
    for (int y = 0; y < ny; y++)
        bits |= row << (4 * y);
    return bits | (2 * s + 1 < t.nz ? bits << 16 : 0);
}

/* The same group, copied to this lane's own places of shared memory (row k of the group at 16 bytes (32 k + lane)), so
 * that the next step is on its way while this one is coded, without registers; no other lane reads it. */
FLOE_DEV void fetch_group(const floe_pack_encode_job &job, const tile_place &t, const lane_place &l, uint32_t s,
                          uint32_t buffer)
{
    const uint64_t row = job.grid.extent[2], plane = row * job.grid.extent[1];
    const float *p = job.x + group_at(job.grid, t, l, s);
#pragma unroll
    for (int k = 0; k < 8; k++)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(buffer + 16 * (32 * k + l.lane)),
                     "l"(p + (k / 4) * plane + (k % 4) * row)
                     : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
}

FLOE_DEV void take_group(const lane_place &l, uint32_t buffer, float x[VALUES])
{
    asm volatile("cp.async.wait_group 0;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 8; k++)
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(x[4 * k]), "=f"(x[4 * k + 1]), "=f"(x[4 * k + 2]), "=f"(x[4 * k + 3])
                     : "r"(buffer + 16 * (32 * k + l.lane))
                     : "memory");
}

/* One row of the next step a lane. */
template <bool WHOLE>
FLOE_DEV void prefetch_step(const floe_pack_encode_job &job, const tile_place &t, const lane_place &l, uint32_t s)
{
    const uint64_t row = job.grid.extent[2], plane = row * job.grid.extent[1];
    uint32_t z = 2 * s + (l.lane >> 4), y = l.lane & 15;
    if (!WHOLE && (z >= t.nz || y >= t.ny))
        return;
    const float *p = job.x + (t.z + z) * plane + (t.y + y) * row + t.x;
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/* ---- differences --------------------------------------------------------------------------------------------------- */

/* p of one plane. corner: for lane 0 the value that predicts the first one, 0 for the others; moves on. */
template <int MODE, class T>
FLOE_DEV void differences(const T q[PLANE], T p[PLANE], T base, T &corner, const lane_place &l)
{
    T above[4], d[PLANE];
    if (MODE == FLOE_LORENZO_XY || MODE == FLOE_LORENZO_X)
#pragma unroll
        for (int y = 0; y < 4; y++) {
            T left = __shfl_up_sync(ALL, q[4 * y + 3], 1);
            d[4 * y] = q[4 * y] - (l.gx == 0 ? (T)0 : left);
#pragma unroll
            for (int x = 1; x < 4; x++)
                d[4 * y + x] = q[4 * y + x] - q[4 * y + x - 1];
        }
    if (MODE == FLOE_LORENZO_XY) {
#pragma unroll
        for (int x = 0; x < 4; x++) {
            T up = __shfl_up_sync(ALL, d[12 + x], 8);
            above[x] = l.gy == 0 ? (x == 0 ? corner : (T)0) : up;
        }
#pragma unroll
        for (int k = 0; k < PLANE; k++)
            p[k] = d[k] - (k < 4 ? above[k] : d[k - 4]);
    } else if (MODE == FLOE_LORENZO_X) { /* the column of the first lanes along y, where its d is the value itself */
        T up = __shfl_up_sync(ALL, d[12], 8);
        above[0] = l.gy == 0 ? corner : up;
#pragma unroll
        for (int k = 0; k < PLANE; k++)
            p[k] = d[k];
#pragma unroll
        for (int y = 0; y < 4; y++)
            p[4 * y] = d[4 * y] - (l.gx == 0 ? (y == 0 ? above[0] : d[4 * y - 4]) : (T)0);
    } else if (MODE == FLOE_LORENZO_Y) { /* the row of the first lanes along x */
        T left = __shfl_up_sync(ALL, q[3], 1);
#pragma unroll
        for (int x = 0; x < 4; x++) {
            T up = __shfl_up_sync(ALL, q[12 + x], 8);
            T beside = x > 0 ? q[x - 1] : l.gx == 0 ? corner : left;
            above[x] = l.gy == 0 ? beside : up;
        }
#pragma unroll
        for (int k = 0; k < PLANE; k++)
            p[k] = q[k] - (k < 4 ? above[k] : q[k - 4]);
    } else {
#pragma unroll
        for (int k = 0; k < PLANE; k++)
            p[k] = q[k] - (k == 0 && l.lane == 0 ? corner : base);
    }
    corner = l.lane == 0 ? q[0] : (T)0;
}

template <class T> FLOE_DEV void mask_out(T v[PLANE], uint32_t valid)
{
#pragma unroll
    for (int k = 0; k < PLANE; k++)
        v[k] = valid >> k & 1 ? v[k] : (T)0;
}

template <class T>
FLOE_DEV void differences_of(uint32_t mode, const T q[PLANE], T p[PLANE], T base, T &corner, const lane_place &l)
{
    switch (mode) {
    case FLOE_LORENZO_XY: differences<FLOE_LORENZO_XY>(q, p, base, corner, l); break;
    case FLOE_LORENZO_X: differences<FLOE_LORENZO_X>(q, p, base, corner, l); break;
    case FLOE_LORENZO_Y: differences<FLOE_LORENZO_Y>(q, p, base, corner, l); break;
    default: differences<FLOE_LORENZO_NONE>(q, p, base, corner, l); break;
    }
}

/* ---- choice of the mode -------------------------------------------------------------------------------------------- */

/* The first step: what is before its first plane is 0, so there both candidates are the same. */
template <int MODE, bool WHOLE, class T>
FLOE_DEV uint32_t mode_cost(const T q[VALUES], T base, uint32_t valid, const lane_place &l, bool &inexact)
{
    typename number<T>::sum first = 0, deep = 0, flat = 0;
    T corner = l.lane == 0 ? base : (T)0, p[VALUES];
    differences<MODE>(q, p, base, corner, l);
    differences<MODE>(q + PLANE, p + PLANE, base, corner, l);
    if (!WHOLE) {
        mask_out(p, valid);
        mask_out(p + PLANE, valid >> 16);
    }
#pragma unroll
    for (int k = 0; k < PLANE; k++) {
        T before = k == 0 && l.lane == 0 ? (T)0 : p[k];
        if (!WHOLE)
            before = valid >> (16 + k) & 1 ? before : (T)0;
        zigzag(p[k], first);
        zigzag(p[PLANE + k], flat);
        zigzag(p[PLANE + k] - before, deep);
    }
    typename number<T>::sum sum = first + min(deep, flat);
    inexact |= number<T>::inexact_sum(first + max(deep, flat));
    return __reduce_add_sync(ALL, number<T>::eighths(sum));
}

template <bool WHOLE, class T>
FLOE_DEV uint32_t choose_mode(const T q[VALUES], T base, uint32_t valid, const lane_place &l, bool &inexact)
{
    uint32_t best = FLOE_LORENZO_XY, least = mode_cost<FLOE_LORENZO_XY, WHOLE>(q, base, valid, l, inexact), cost;
    cost = mode_cost<FLOE_LORENZO_X, WHOLE>(q, base, valid, l, inexact);
    if (cost < least)
        least = cost, best = FLOE_LORENZO_X;
    cost = mode_cost<FLOE_LORENZO_Y, WHOLE>(q, base, valid, l, inexact);
    if (cost < least)
        least = cost, best = FLOE_LORENZO_Y;
    cost = mode_cost<FLOE_LORENZO_NONE, WHOLE>(q, base, valid, l, inexact);
    return cost < least ? FLOE_LORENZO_NONE : best;
}

/* ---- packing ------------------------------------------------------------------------------------------------------- */

/* Where the words of a tile go: the first cap of them to `words`, the others to `spill`. Behind what a tile can hold they
 * are dropped: it will be raw. */
struct sink {
    uint32_t *words, *spill;
    uint32_t at, cap;
};

FLOE_DEV void put(const sink &s, uint32_t at, uint32_t word)
{
    if (at < s.cap)
        s.words[at] = word;
    else if (at < FLOE_TILE_VALUES)
        s.spill[at - s.cap] = word;
}

FLOE_DEV void put_uniform(sink &s, uint32_t word, const lane_place &l)
{
    if (l.lane == 0)
        put(s, s.at, word);
    s.at++;
}

/* Planes 8 BYTE .. 8 BYTE + N - 1, N = 4 or 8. */
template <int BYTE, int N, bool FITS>
FLOE_DEV void put_planes(sink &s, const uint32_t u[VALUES], uint32_t width, uint32_t most, const lane_place &l)
{
    enum { PICK = BYTE | (4 + BYTE) << 4 };
    uint32_t a[8];
#pragma unroll
    for (int j = 0; j < 8; j++)
        a[j] = __byte_perm(__byte_perm(u[j], u[8 + j], PICK), __byte_perm(u[16 + j], u[24 + j], PICK), 0x5410);
    if (N == 4) {
#pragma unroll
        for (int j = 0; j < 4; j++)
            a[j] += a[j + 4] << 4;
        transpose4(a);
    } else {
        transpose8(a);
    }
#pragma unroll
    for (int b = 0; b < N; b++)
        if (8 * BYTE + b < most) {
            bool mine = width > 8 * BYTE + b;
            uint32_t who = __ballot_sync(ALL, mine), at = s.at + __popc(who & l.below);
            if (mine) {
                if (FITS)
                    s.words[at] = a[b];
                else
                    put(s, at, a[b]);
            }
            s.at += __popc(who);
        }
}

/* FITS: all of them go to the stage. */
template <class T, bool FITS>
FLOE_DEV void put_values(sink &s, const uint32_t u[VALUES], uint32_t width, uint32_t most, const lane_place &l)
{
    if (most <= 4) {
        if (most > 0)
            put_planes<0, 4, FITS>(s, u, width, most, l);
        return;
    }
    put_planes<0, 8, FITS>(s, u, width, most, l);
    if (most > 8)
        put_planes<1, 8, FITS>(s, u, width, most, l);
    if (most > 16)
        put_planes<2, 8, FITS>(s, u, width, most, l);
    if (!number<T>::inexact(32) && most > 24)
        put_planes<3, 8, FITS>(s, u, width, most, l);
}

/* A step as pack.h has it: flat word, width planes, value planes. Returns the descriptor. */
template <class T>
FLOE_DEV uint32_t put_step(sink &s, const uint32_t u[VALUES], uint32_t width, bool flat, bool present,
                           const lane_place &l)
{
    uint32_t most = __reduce_max_sync(ALL, width), least = __reduce_min_sync(ALL, present ? width : 64u);
    uint32_t planes = 32 - __clz(most - least);
    uint32_t flats = __ballot_sync(ALL, flat), presents = __ballot_sync(ALL, present);
    uint32_t kind = flats == 0 ? 0 : flats == presents ? 1 : 2;
    if (kind == 2)
        put_uniform(s, flats, l);
    uint32_t above = present ? width - least : 0;
    for (uint32_t b = 0; b < planes; b++)
        put_uniform(s, __ballot_sync(ALL, above >> b & 1), l);
    if (s.at + __reduce_add_sync(ALL, width) <= s.cap)
        put_values<T, true>(s, u, width, most, l);
    else
        put_values<T, false>(s, u, width, most, l);
    return least << FLOE_PACK_LEAST_SHIFT | planes << FLOE_PACK_PLANES_SHIFT | kind << FLOE_PACK_FLAT_SHIFT;
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

struct tile_result {
    uint32_t nwords; /* of base and body, whether written or not */
    uint32_t mode;
    bool coded;   /* some residual is not 0 */
    bool inexact; /* T is too narrow: nothing of this holds */
};

/* AHEAD: the steps come through buffer, where the caller has the first one already on its way. */
template <class T, bool WHOLE, bool AHEAD>
FLOE_DEV tile_result encode_tile(const floe_pack_encode_job &job, const tile_place &t, uint32_t *words, uint32_t cap,
                                 uint32_t *spill, uint32_t buffer, checks &c)
{
    const lane_place l = lane_here();
    sink out = {words, spill, 1 + (t.nsteps + 1) / 2, cap};
    tile_result r = {0, 0, false, false};
    T before[PLANE], base = 0, corner = 0;
    uint32_t descriptors = 0, any = 0;
    bool inexact = false;
#pragma unroll
    for (int k = 0; k < PLANE; k++)
        before[k] = 0;
    check_begin(c);
    for (uint32_t s = 0; s < t.nsteps; s++) {
        float x[VALUES];
        T q[VALUES], p[VALUES];
        const uint32_t valid = WHOLE ? ALL : valid_mask(t, l, s);
        if (AHEAD) {
            take_group(l, buffer, x);
        } else {
            load_group<WHOLE>(job, t, l, s, x);
            if (s + 1 < t.nsteps)
                prefetch_step<WHOLE>(job, t, l, s + 1);
        }
#pragma unroll
        for (int k = 0; k < VALUES; k += 2)
            quantize2(x[k], x[k + 1], job, q + k, c);
        if (AHEAD && s + 1 < t.nsteps) /* the values are out of the buffer */
            fetch_group(job, t, l, s + 1, buffer);
        if (s == 0) {
            base = __shfl_sync(ALL, q[0], 0);
            corner = l.lane == 0 ? base : (T)0;
            r.mode = choose_mode<WHOLE>(q, base, valid, l, inexact);
            if (l.lane == 0)
                words[0] = (uint32_t)(int32_t)base;
        }
        differences_of(r.mode, q, p, base, corner, l);
        differences_of(r.mode, q + PLANE, p + PLANE, base, corner, l);
        if (!WHOLE) {
            mask_out(p, valid);
            mask_out(p + PLANE, valid >> 16);
        }
        /* both candidates of each value */
        uint32_t deep[VALUES], flat[VALUES], deep_bits = 0, flat_bits = 0;
        typename number<T>::sum deep_sum[2] = {0, 0}, flat_sum[2] = {0, 0};
#pragma unroll
        for (int k = 0; k < VALUES; k++) {
            T was = k < PLANE ? before[k % PLANE] : p[k % PLANE];
            if (k % PLANE == 0)
                was = l.lane == 0 ? (T)0 : was;
            T d = p[k] - was;
            if (!WHOLE)
                d = valid >> k & 1 ? d : (T)0;
            deep[k] = zigzag(d, deep_sum[k & 1]);
            flat[k] = zigzag(p[k], flat_sum[k & 1]);
            deep_bits |= deep[k];
            flat_bits |= flat[k];
        }
#pragma unroll
        for (int k = 0; k < PLANE; k++)
            before[k] = p[PLANE + k];
        uint32_t deep_width = number<T>::width(deep_bits), flat_width = number<T>::width(flat_bits);
        inexact |= number<T>::inexact(max(deep_width, flat_width));
        bool choice = flat_width < deep_width ||
                      (flat_width == deep_width && flat_sum[0] + flat_sum[1] < deep_sum[0] + deep_sum[1]);
        uint32_t width = choice ? flat_width : deep_width;
#pragma unroll
        for (int k = 0; k < VALUES; k++)
            deep[k] = choice ? flat[k] : deep[k];
        any |= width | choice;
        uint32_t descriptor = put_step<T>(out, deep, width, choice, valid != 0, l);
        descriptors |= descriptor << (s % 2 * 16);
        if (s % 2 || s + 1 == t.nsteps) {
            if (l.lane == 0)
                words[1 + s / 2] = descriptors;
            descriptors = 0;
        }
    }
    r.inexact = __any_sync(ALL, inexact);
    r.coded = __any_sync(ALL, any != 0);
    r.nwords = r.coded ? out.at : 1;
    return r;
}

template <bool WHOLE>
static __device__ __noinline__ tile_result encode_tile_wide(const floe_pack_encode_job &job, const tile_place &t,
                                                            uint32_t *words, uint32_t cap, uint32_t *spill, checks &c)
{
    return encode_tile<int32_t, WHOLE, false>(job, t, words, cap, spill, 0, c);
}

static __device__ __noinline__ void write_raw(const floe_pack_encode_job &job, const tile_place &t, uint32_t *words)
{
    uint32_t cells = tile_cells(t);
    for (uint32_t i = threadIdx.x % LANES; i < cells; i += LANES)
        words[i] = floe_bits_f32(job.x[cell_at(job.grid, t, i)]);
}

} // namespace

#endif
