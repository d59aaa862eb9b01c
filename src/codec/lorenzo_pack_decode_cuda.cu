/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding. A warp owns a tile: its words are copied to shared memory, then it marches along z; a lane owns a group.
 * Residuals of up to 16 bits are added up as floats, which is exact for what an encoder writes: there all sums of
 * differences are differences of numbers below 2^22. Wider ones are added up as integers (T = int32_t).
 */
#include "codec/lorenzo_pack_cuda.cuh"

namespace
{

/* ---- words --------------------------------------------------------------------------------------------------------- */

/* Planes of all groups -> residuals as biased bytes: byte k of a[j] is r + 128 of value 8 k + j, where r is given mod 256.
 * Plane 0 is the sign of the zigzag numbers; the others, where they differ from it, are the bits of r. */
template <int N> FLOE_DEV void bytes_of_planes(uint32_t a[8])
{
    const uint32_t sign = a[0];
#pragma unroll
    for (int b = 0; b + 1 < N; b++)
        a[b] = a[b + 1] ^ sign;
    a[N - 1] = ~sign;
    if (N == 4) {
        transpose4(a);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            a[4 + j] = a[j] >> 4 & 0x0F0F0F0Fu;
            a[j] &= 0x0F0F0F0Fu;
        }
    } else {
        transpose8(a);
    }
}

/* Words of planes FROM .. FROM + N - 1 of this lane's group; 0 beyond its width. at moves on. */
template <int FROM, int N>
FLOE_DEV void get_planes(const uint32_t *words, uint32_t &at, uint32_t width, uint32_t most, const lane_place &l,
                         uint32_t *a)
{
#pragma unroll
    for (int b = 0; b < N; b++) {
        a[b] = 0;
        if (FROM + b < most) {
            bool mine = width > FROM + b;
            uint32_t who = __ballot_sync(ALL, mine);
            if (mine)
                a[b] = words[at + __popc(who & l.below)];
            at += __popc(who);
        }
    }
}

/* Residuals as floats: exact, most <= 16. */
FLOE_DEV void residuals(const uint32_t *words, uint32_t at, uint32_t width, uint32_t most, const lane_place &l,
                        float r[VALUES])
{
    uint32_t a[8];
    if (most <= 4) {
        get_planes<0, 4>(words, at, width, most, l, a);
        bytes_of_planes<4>(a);
#pragma unroll
        for (int i = 0; i < VALUES; i++)
            r[i] = floe_f32_of(__byte_perm(a[i & 7], 0x4B000000u, 0x7440 | i >> 3)) - 8388616.0f /* 2^23 + 2^3 */;
    } else if (most <= 8) {
        get_planes<0, 8>(words, at, width, most, l, a);
        bytes_of_planes<8>(a);
#pragma unroll
        for (int i = 0; i < VALUES; i++)
            r[i] = floe_f32_of(__byte_perm(a[i & 7], 0x4B000000u, 0x7440 | i >> 3)) - 8388736.0f /* 2^23 + 2^7 */;
    } else {
        uint32_t b[16];
        get_planes<0, 16>(words, at, width, most, l, b);
        const uint32_t sign = b[0];
#pragma unroll
        for (int k = 0; k < 15; k++)
            b[k] = b[k + 1] ^ sign;
        b[15] = ~sign;
        transpose8(b);
        transpose8(b + 8);
#pragma unroll
        for (int i = 0; i < VALUES; i++) {
            uint32_t both = __byte_perm(b[i & 7], b[8 + (i & 7)], i >> 3 | (4 + (i >> 3)) << 4);
            r[i] = floe_f32_of(__byte_perm(both, 0x4B000000u, 0x7410)) - 8421376.0f; /* 2^23 + 2^15 */
        }
    }
}

/* Residuals as integers, any width. */
FLOE_DEV void residuals(const uint32_t *words, uint32_t at, uint32_t width, uint32_t most, const lane_place &l,
                        int32_t r[VALUES])
{
#pragma unroll
    for (int i = 0; i < VALUES; i++)
        r[i] = 0;
#pragma unroll
    for (int byte = 0; byte < 4; byte++) {
        uint32_t a[8];
        if (byte == 0)
            get_planes<0, 8>(words, at, width, most, l, a);
        else if (byte == 1)
            get_planes<8, 8>(words, at, width, most, l, a);
        else if (byte == 2)
            get_planes<16, 8>(words, at, width, most, l, a);
        else
            get_planes<24, 8>(words, at, width, most, l, a);
        transpose8(a);
#pragma unroll
        for (int i = 0; i < VALUES; i++)
            r[i] |= (int32_t)((a[i & 7] >> (8 * (i >> 3)) & 0xFF) << (8 * byte));
    }
#pragma unroll
    for (int i = 0; i < VALUES; i++)
        r[i] = (int32_t)floe_unzigzag_f32((uint32_t)r[i]);
}

/* ---- sums ---------------------------------------------------------------------------------------------------------- */

template <class T> FLOE_DEV void sum_row(T v[PLANE], int y)
{
#pragma unroll
    for (int x = 1; x < 4; x++)
        v[4 * y + x] += v[4 * y + x - 1];
    T left = left_of(v[4 * y + 3]);
#pragma unroll
    for (int x = 0; x < 4; x++)
        v[4 * y + x] += left;
}

template <class T> FLOE_DEV void sum_column(T v[PLANE], int x)
{
#pragma unroll
    for (int y = 1; y < 4; y++)
        v[4 * y + x] += v[4 * y - 4 + x];
    T above = above_of(v[12 + x]);
#pragma unroll
    for (int y = 0; y < 4; y++)
        v[4 * y + x] += above;
}

/* p of one plane, with the corner added to its first value -> q. */
template <class T> FLOE_DEV void plane_sums(uint32_t mode, T v[PLANE], T base, const lane_place &l)
{
    if (mode == FLOE_LORENZO_NONE) {
#pragma unroll
        for (int k = 0; k < PLANE; k++)
            v[k] += k == 0 && l.lane == 0 ? (T)0 : base;
        return;
    }
    if (mode == FLOE_LORENZO_X) { /* the first column first */
        T c[PLANE];
#pragma unroll
        for (int k = 0; k < PLANE; k += 4)
            c[k] = l.gx == 0 ? v[k] : (T)0;
        sum_column(c, 0);
#pragma unroll
        for (int k = 0; k < PLANE; k += 4)
            v[k] = l.gx == 0 ? c[k] : v[k];
    }
    if (mode == FLOE_LORENZO_Y) { /* the first row first */
        T c[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            c[k] = l.gy == 0 ? v[k] : (T)0;
        sum_row(c, 0);
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = l.gy == 0 ? c[k] : v[k];
    }
    if (mode != FLOE_LORENZO_Y)
#pragma unroll
        for (int y = 0; y < 4; y++)
            sum_row(v, y);
    if (mode != FLOE_LORENZO_X)
#pragma unroll
        for (int x = 0; x < 4; x++)
            sum_column(v, x);
}

/* ---- storing ------------------------------------------------------------------------------------------------------- */

/* Both as floe_linear_decode_f32. */
FLOE_DEV float value_of(float q, float step) { return q * step; }
FLOE_DEV float value_of(int32_t q, float step) { return floe_linear_decode_f32(q, step); }

template <bool WHOLE, class T>
FLOE_DEV void store_group(const floe_pack_decode_job &job, const tile_place &t, const lane_place &l, uint32_t s,
                          const T q[VALUES])
{
    const uint64_t row = job.grid.extent[2], plane = row * job.grid.extent[1];
    float *p = job.x + group_at(job.grid, t, l, s);
#pragma unroll
    for (int z = 0; z < 2; z++)
#pragma unroll
        for (int y = 0; y < 4; y++) {
            float *at = p + z * plane + y * row;
            const T *v = q + 16 * z + 4 * y;
            float4 f = make_float4(value_of(v[0], job.step), value_of(v[1], job.step), value_of(v[2], job.step),
                                   value_of(v[3], job.step));
            if (WHOLE) {
                __stcs((float4 *)at, f);
            } else if (2 * s + z < t.nz && 4 * l.gy + y < t.ny) {
                const float g[4] = {f.x, f.y, f.z, f.w};
#pragma unroll
                for (int i = 0; i < 4; i++)
                    if (4 * l.gx + i < t.nx)
                        at[i] = g[i];
            }
        }
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

enum { TILE_DONE, TILE_BAD, TILE_WIDE, TILE_UNFIT };
/* a b + c, exact: b is 0 or 1. */
FLOE_DEV float add_product(float a, float b, float c) { return fmaf(a, b, c); }
FLOE_DEV int32_t add_product(int32_t a, int32_t b, int32_t c) { return a * b + c; }

template <class T> struct widest;
template <> struct widest<float> {
    enum { WIDTH = 16 };
};
template <> struct widest<int32_t> {
    enum { WIDTH = 32 };
};

/* words: n of them, untrusted. */
template <class T, bool WHOLE>
FLOE_DEV int decode_tile(const floe_pack_decode_job &job, const tile_place &t, uint32_t mode, const uint32_t *words,
                         uint32_t n)
{
    const lane_place l = lane_here();
    uint32_t at = 1 + (t.nsteps + 1) / 2;
    if (n < at || n >= tile_cells(t) || (t.nsteps % 2 && words[at - 1] >> 16))
        return TILE_BAD;
    const T base = (T)(int32_t)words[0];
    T corner = l.lane == 0 ? base : (T)0, before[PLANE];
#pragma unroll
    for (int k = 0; k < PLANE; k++)
        before[k] = 0;
    for (uint32_t s = 0; s < t.nsteps; s++) {
        uint32_t descriptor = words[1 + s / 2] >> (s % 2 * 16) & 0xFFFF;
        const uint32_t least = descriptor & 127;
        uint32_t width = least, planes = descriptor >> FLOE_PACK_PLANES_SHIFT & 7,
                 kind = descriptor >> FLOE_PACK_FLAT_SHIFT;
        bool present = WHOLE || (4 * l.gx < t.nx && 4 * l.gy < t.ny);
        uint32_t presents = WHOLE ? ALL : __ballot_sync(ALL, present);
        if (kind > 2 || at + (kind == 2) + planes > n)
            return TILE_BAD;
        uint32_t flats = kind == 0 ? 0 : kind == 1 ? presents : words[at++];
        for (uint32_t b = 0; b < planes; b++)
            width += (words[at + b] >> l.lane & 1) << b;
        at += planes;
        bool bad = !WHOLE && !present && (width != least || (flats >> l.lane & 1));
        if (!WHOLE && !present)
            width = 0;
        uint32_t most = __reduce_max_sync(ALL, bad ? 128 : width), total = __reduce_add_sync(ALL, width);
        if (most > 32 || at + total > n)
            return TILE_BAD;
        if (most > widest<T>::WIDTH)
            return TILE_WIDE;
        T r[VALUES];
        residuals(words, at, width, most, l, r);
        at += total;
        const T keep = flats >> l.lane & 1 ? (T)0 : (T)1, keep_first = l.lane == 0 ? (T)0 : keep;
#pragma unroll
        for (int k = 0; k < VALUES; k++) {
            T was = k < PLANE ? before[k % PLANE] : r[k % PLANE];
            r[k] = add_product(was, k % PLANE ? keep : keep_first, r[k]);
        }
#pragma unroll
        for (int k = 0; k < PLANE; k++)
            before[k] = r[PLANE + k];
        r[0] += corner;
        corner = l.lane == 0 ? r[0] : (T)0;
        r[PLANE] += corner;
        corner = l.lane == 0 ? r[PLANE] : (T)0;
        plane_sums(mode, r, base, l);
        plane_sums(mode, r + PLANE, base, l);
        store_group<WHOLE>(job, t, l, s, r);
    }
    return at == n ? TILE_DONE : TILE_BAD;
}

template <bool WHOLE>
__device__ __noinline__ int decode_tile_wide(const floe_pack_decode_job &job, const tile_place &t, uint32_t mode,
                                             const uint32_t *words, uint32_t n)
{
    return decode_tile<int32_t, WHOLE>(job, t, mode, words, n);
}
template <bool WHOLE>
__device__ __noinline__ int decode_tile_global(const floe_pack_decode_job &job, const tile_place &t, uint32_t mode,
                                               const uint32_t *words, uint32_t n)
{
    return decode_tile<float, WHOLE>(job, t, mode, words, n);
}

/* Raw and constant tiles. */
__device__ __noinline__ int decode_simple(const floe_pack_decode_job &job, const tile_place &t, uint32_t entry,
                                          const uint32_t *words)
{
    const bool raw = (entry >> FLOE_TILE_KIND_SHIFT & 3) == FLOE_TILE_RAW;
    const uint32_t n = entry & FLOE_TILE_NWORDS_MASK, cells = tile_cells(t);
    if (raw ? n != cells || entry >> FLOE_TILE_MODE_SHIFT & 3 : n != 1 || n >= cells)
        return TILE_BAD;
    float value = raw ? 0 : value_of((int32_t)words[0], job.step);
    for (uint32_t i = threadIdx.x % LANES; i < cells; i += LANES)
        job.x[cell_at(job.grid, t, i)] = raw ? floe_f32_of(words[i]) : value;
    return TILE_DONE;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* Tiles whose sizes are added up beforehand: a place is then at most 8 loads a lane inside a unit, and the sums of the
 * units before. With FEW tiles in all, adding them up anew for each costs less than a kernel of its own: measured. */
enum { UNIT = 256, FEW = 2048 };

enum {
    WARPS = 4,
    BLOCKS_A_PROCESSOR = 4, /* 16 warps of 128 registers fill the 65536 of a multiprocessor */
    /* 16 warps share 228 KiB: 192 KiB for words, which is tiles at a ratio of 2.7, and the rest is L1. Larger tiles are
     * read from memory. */
    STAGE_WORDS = 3072,
    SHARED_NBYTES = WARPS * STAGE_WORDS * 4
};

FLOE_DEV uint64_t *unit_sums(const floe_pack_decode_job &job) { return (uint64_t *)job.workspace; }

/* Words of tiles UNIT i .. UNIT i + 255 that lie before tile `end`; the whole warp. */
FLOE_DEV uint32_t unit_words(const floe_pack_decode_job &job, uint32_t unit, uint32_t end)
{
    const uint32_t lane = threadIdx.x % LANES;
    uint32_t sum = 0;
#pragma unroll
    for (int k = 0; k < UNIT / 32; k++) {
        uint32_t i = unit * UNIT + 32 * k + lane;
        sum += i < end ? job.entries[i] & FLOE_TILE_NWORDS_MASK : 0;
    }
    return __reduce_add_sync(ALL, sum);
}

/* A warp owns a unit, a thread 8 of its entries. */
__global__
__launch_bounds__(LANES *WARPS) void lorenzo_pack_units_kernel(const __grid_constant__ floe_pack_decode_job job)
{
    uint32_t unit = blockIdx.x * WARPS + threadIdx.x / LANES;
    if (unit >= (job.grid.ntiles + UNIT - 1) / UNIT)
        return;
    uint32_t sum = unit_words(job, unit, job.grid.ntiles);
    if (threadIdx.x % LANES == 0)
        unit_sums(job)[unit] = sum;
}

/* Words before a tile, from the sums of units; the whole warp. */
FLOE_DEV uint64_t words_before(const floe_pack_decode_job &job, uint32_t tile)
{
    if (job.grid.ntiles <= FEW) {
        uint32_t few = 0;
        for (uint32_t i = 4 * (threadIdx.x % LANES); i < tile; i += 128) { /* entries are 16-byte aligned */
            uint4 v = *(const uint4 *)(job.entries + i);
            few += v.x & 0xFFFF;
            few += i + 1 < tile ? v.y & 0xFFFF : 0;
            few += i + 2 < tile ? v.z & 0xFFFF : 0;
            few += i + 3 < tile ? v.w & 0xFFFF : 0;
        }
        return __reduce_add_sync(ALL, few);
    }
    const uint32_t unit = tile / UNIT;
    uint32_t inside = unit_words(job, unit, tile);
    uint64_t sum = 0;
    for (uint32_t i = threadIdx.x % LANES; i < unit; i += 32)
        sum += unit_sums(job)[i];
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(ALL, sum, d);
    return sum + inside;
}

/* 16-byte pieces that hold words first .. first + n - 1 of src -> stage. Returns where the first word lies. */
FLOE_DEV const uint32_t *fetch_words(const uint32_t *src, uint32_t n, uint32_t *stage)
{
    const uint32_t lane = threadIdx.x % LANES, skip = (uint32_t)((uintptr_t)src >> 2 & 3);
    const uint32_t pieces = (skip + n + 3) / 4;
    const uint4 *from = (const uint4 *)(src - skip);
    uint32_t to = (uint32_t)__cvta_generic_to_shared(stage);
    for (uint32_t i = lane; i < pieces; i += 32)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 16 * i), "l"(from + i) : "memory");
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
    __syncwarp();
    return stage + skip;
}

/* The tile's own words, once they are known to lie inside the payload. */
template <bool WHOLE>
FLOE_DEV int decode_entry(const floe_pack_decode_job &job, uint32_t tile, uint32_t entry, const uint32_t *words,
                          uint32_t *stage)
{
    const uint32_t n = entry & FLOE_TILE_NWORDS_MASK, kind = entry >> FLOE_TILE_KIND_SHIFT & 3,
                   mode = entry >> FLOE_TILE_MODE_SHIFT & 3;
    const tile_place t = tile_here(job.grid, tile);
    if (kind != FLOE_TILE_CODED)
        return decode_simple(job, t, entry, words);
    int result;
    if (n + 6 > STAGE_WORDS) { /* up to 3 words before and after come along */
        result = decode_tile_global<WHOLE>(job, t, mode, words, n);
    } else {
        words = fetch_words(words, n, stage);
        result = decode_tile<float, WHOLE>(job, t, mode, words, n);
    }
    return result == TILE_WIDE ? decode_tile_wide<WHOLE>(job, t, mode, words, n) : result;
}

/* A warp owns a tile, a thread a group of each step. Blocks do not work together. */
template <bool WHOLE>
__global__ __launch_bounds__(LANES *WARPS, BLOCKS_A_PROCESSOR) void lorenzo_pack_decode_3d_kernel(
    const __grid_constant__ floe_pack_decode_job job)
{
    extern __shared__ __align__(16) uint32_t stages[];
    const uint32_t warp = threadIdx.x / LANES, tile = blockIdx.x * WARPS + warp;
    if (tile >= job.grid.ntiles)
        return;
    const uint32_t entry = job.entries[tile];
    const uint64_t at = words_before(job, tile), end = at + (entry & FLOE_TILE_NWORDS_MASK);
    int result;
    if (entry >> FLOE_TILE_USED_BITS || end > job.payload_nwords ||
        (tile == job.grid.ntiles - 1 && end != job.payload_nwords))
        result = TILE_BAD;
    else if (entry & (FLOE_TILE_EXCEPTIONS | FLOE_TILE_SIGNS) ||
             (entry >> FLOE_TILE_KIND_SHIFT & 3) == FLOE_TILE_SPECIAL)
        result = TILE_UNFIT;
    else
        result = decode_entry<WHOLE>(job, tile, entry, job.payload + at, stages + warp * STAGE_WORDS);
    if (result != TILE_DONE && threadIdx.x % LANES == 0)
        atomicAdd(result == TILE_UNFIT ? &job.report->nunfit : &job.report->nbad, 1);
}

/* ---- launch -------------------------------------------------------------------------------------------------------- */

uint32_t units_of(const floe_pack_grid &grid) { return (grid.ntiles + UNIT - 1) / UNIT; }

template <bool WHOLE> cudaError_t launch(const floe_pack_decode_job &job, cudaStream_t stream)
{
    cudaError_t e = cudaFuncSetAttribute(lorenzo_pack_decode_3d_kernel<WHOLE>,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_NBYTES);
    if (e != cudaSuccess)
        return e;
    if (job.grid.ntiles > FEW)
        lorenzo_pack_units_kernel<<<(units_of(job.grid) + WARPS - 1) / WARPS, LANES * WARPS, 0, stream>>>(job);
    e = cudaGetLastError();
    if (e != cudaSuccess)
        return e;
    lorenzo_pack_decode_3d_kernel<WHOLE>
        <<<(job.grid.ntiles + WARPS - 1) / WARPS, LANES * WARPS, SHARED_NBYTES, stream>>>(job);
    return cudaGetLastError();
}

} // namespace

uint64_t floe_pack_decode_workspace_cuda(const floe_pack_grid *grid) { return 8 * (uint64_t)units_of(*grid); }

int floe_pack_decode_f32_cuda(const floe_pack_decode_job *job, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    return (int)(grid_is_whole(job->grid) ? launch<true>(*job, s) : launch<false>(*job, s));
}
