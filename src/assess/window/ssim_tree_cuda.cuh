/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernels of the quick way to SSIM (ssim_tree.h) have in common: the job, sums over windows along an axis, pivots, and
 * losses. Axes are named z, y, x, slowest first. */
#ifndef FLOE_ASSESS_SSIM_TREE_CUDA_CUH
#define FLOE_ASSESS_SSIM_TREE_CUDA_CUH

#include "assess/window/ssim_losses_cuda.cuh"
#include "assess/window/ssim_tree.h"
#include "assess/window/ssim_tree_math.h"
#include "backend/device.cuh"
#include "backend/device_quotient.cuh"

namespace
{

enum { SUMS = FLOE_SSIM_SUMS, GROUP = FLOE_SSIM_TREE_GROUP };

/* By value, for the kernels. */
typedef struct tree_job {
    const float *original, *decoded;
    int64_t original_stride[FLOE_MAX_RANK], decoded_stride[FLOE_MAX_RANK];
    int64_t original_step, decoded_step; /* of rows that one thread brings */
    uint64_t shape[FLOE_MAX_RANK], nwindows[FLOE_MAX_RANK];
    uint64_t cell[FLOE_MAX_RANK], ncells[FLOE_MAX_RANK]; /* windows of a cell; cells of a field */
    uint64_t nx, ny;                                     /* blocks' tiles of a plane */
    floe_ssim_tree_units units;
    double min, max, middle; /* of the original; of them, in units */
    uint32_t has_fill, fill_bits;
    float near;            /* windows of lanes that have more than this of errors are left out; infinite: none */
    floe_ssim_part *parts; /* of each block */
} tree_job;

/* For blocks of x by y windows, of which a thread brings every nrows'th row. */
inline tree_job tree_job_of(const floe_ssim_job *job, uint64_t x, uint64_t y, int64_t nrows)
{
    const floe_ssim_tree *t = &job->plan.tree;
    tree_job j = {};
    j.original = (const float *)job->pair.original;
    j.decoded = (const float *)job->pair.decoded;
    for (int a = 0; a < FLOE_MAX_RANK; a++) {
        j.original_stride[a] = job->pair.original_stride[a];
        j.decoded_stride[a] = job->pair.decoded_stride[a];
        j.shape[a] = job->pair.shape[a];
        j.nwindows[a] = job->plan.nwindows[a];
        j.cell[a] = job->plan.tile[a];
        j.ncells[a] = job->plan.ntiles[a];
    }
    j.original_step = nrows * j.original_stride[2], j.decoded_step = nrows * j.decoded_stride[2];
    j.nx = floe_ceil_div(j.nwindows[3], x);
    j.ny = floe_ceil_div(j.nwindows[2], y);
    j.units.scale = (float)t->scale, j.units.n = (float)t->n;
    j.units.c1 = (float)t->c1, j.units.c2 = (float)t->c2;
    j.min = job->plan.options.min, j.max = job->plan.options.max, j.middle = t->middle;
    j.has_fill = job->pair.has_fill;
    j.fill_bits = (uint32_t)job->pair.fill_bits;
    j.near = job->assumed ? FLOE_SSIM_TREE_NEAR : INFINITY;
    j.parts = job->parts;
    return j;
}

/* Whether rows are in whole chunks of 16 bytes wherever they lie, and end with one: no copy touches what lies behind a field. */
inline bool has_chunks(const floe_pair *p)
{
    bool whole = p->shape[3] % 4 == 0 && (uintptr_t)p->original % 16 == 0 && (uintptr_t)p->decoded % 16 == 0 &&
                 p->original_stride[3] == 1 && p->decoded_stride[3] == 1;
    for (int a = 0; a < 3; a++)
        whole &= p->original_stride[a] % 4 == 0 && p->decoded_stride[a] % 4 == 0;
    return whole;
}

/* ---- chains ------------------------------------------------------------------------------------------------------ */

constexpr int top_of(int w) { return w < 2 ? 0 : 1 + top_of(w / 2); }
/* Steps of the longest sums of a chain that are kept, a power of two. */
constexpr int kept_of(int w) { return w == (1 << top_of(w)) ? 0 : w == 7 ? 4 : w - (1 << top_of(w)); }

/* Sums over the last W steps along an axis: what must be kept of earlier ones. Level b, sums of 2^b steps, from slot 2^b - 1. */
template <int W, int N = SUMS> struct chain {
    static constexpr int TOP = top_of(W), KEPT = kept_of(W), SLOTS = (1 << TOP) - 1 + KEPT;
    float slot[SLOTS ? SLOTS : 1][N];
};

/* The slot of level b for step t. */
template <int W> FLOE_DEV int slot_of(int b, int t)
{
    constexpr int TOP = chain<W>::TOP, KEPT = chain<W>::KEPT;
    return (1 << b) - 1 + t % (b < TOP ? 1 << b : KEPT ? KEPT : 1);
}

/* Step t, a constant from 8 on. What comes of the first W - 1 is of no use. */
template <int W, int N> FLOE_DEV void chain_push(chain<W, N> &c, int t, const float now[N], float whole[N])
{
    constexpr int TOP = chain<W>::TOP, LATE = W - (1 << TOP);
#pragma unroll
    for (int m = 0; m < N; m++) {
        float v[TOP + 1];
        v[0] = now[m];
#pragma unroll
        for (int b = 0; b < TOP; b++)
            v[b + 1] = c.slot[slot_of<W>(b, t)][m] + v[b];
        whole[m] = LATE ? c.slot[slot_of<W>(TOP, t - LATE)][m] : v[TOP];
#pragma unroll
        for (int b = TOP - 1; b >= 0; b--) {
            const int late = W % (1 << b);
            if (W >> b & 1)
                whole[m] += late ? c.slot[slot_of<W>(b, t - late)][m] : v[b];
        }
#pragma unroll
        for (int b = 0; b < TOP + (LATE > 0); b++)
            c.slot[slot_of<W>(b, t)][m] = v[b];
    }
}

/* With weights: the last steps themselves. */
template <> struct chain<FLOE_SSIM_TAPS> {
    float slot[FLOE_SSIM_TAPS][SUMS];
};

/* Sum m of the steps that are k before the last and k behind the first. */
FLOE_DEV float pair_at(const chain<FLOE_SSIM_TAPS> &c, int t, int k, int m)
{
    return c.slot[(t + 1 + k) % FLOE_SSIM_TAPS][m] + c.slot[(t + FLOE_SSIM_TAPS - k) % FLOE_SSIM_TAPS][m];
}

FLOE_DEV void chain_push(chain<FLOE_SSIM_TAPS> &c, int t, const float now[SUMS], float whole[SUMS])
{
    const float weights[] = FLOE_SSIM_TREE_GAUSSIAN;
    enum { SIDE = FLOE_SSIM_TREE_SIDE };
#pragma unroll
    for (int m = 0; m < SUMS; m++) {
        c.slot[t % FLOE_SSIM_TAPS][m] = now[m];
        whole[m] = weights[0] * pair_at(c, t, 0, m);
#pragma unroll
        for (int k = 1; k < SIDE; k++)
            whole[m] = floe_ssim_tree_fma(weights[k], pair_at(c, t, k, m), whole[m]);
        whole[m] = floe_ssim_tree_fma(weights[SIDE], c.slot[(t + 1 + SIDE) % FLOE_SSIM_TAPS][m], whole[m]);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

FLOE_DEV bool is_fill(const tree_job &job, float x, float y)
{
    return job.has_fill && (floe_bits_f32(x) == job.fill_bits || floe_bits_f32(y) == job.fill_bits);
}

/* The four terms of a pair. CAREFUL: looks for fill. */
template <bool CAREFUL>
FLOE_DEV void terms_of(const tree_job &job, const floe_ssim_tree_units &units, float x, float y, float terms[SUMS])
{
    floe_ssim_tree_pair v = floe_ssim_tree_pair_of(&units, x, y);
    if (CAREFUL && is_fill(job, x, y))
        v.s = floe_f32_of(FLOE_NAN32_BITS);
    terms[FLOE_SSIM_S] = v.s;
    terms[FLOE_SSIM_SS] = v.s * v.s;
    terms[FLOE_SSIM_D] = v.d;
    terms[FLOE_SSIM_DD] = v.d * v.d;
}

/* Sums along x of NWINDOWS windows of a row, by variant V of a kernel: of both fields' values from x and y on. The halves of
 * every second TURN windows change places. */
template <class V, int NWINDOWS, int TURN = NWINDOWS>
FLOE_DEV void strip_sums(const tree_job &job, const floe_ssim_tree_units &units, const float *x, const float *y,
                         float4 *to)
{
    chain<V::W> c;
#pragma unroll
    for (int k = 0; k < (NWINDOWS + V::W - 1 + 3) / 4; k++) {
        const float4 fx = ((const float4 *)x)[k], fy = ((const float4 *)y)[k];
        const float vx[4] = {fx.x, fx.y, fx.z, fx.w}, vy[4] = {fy.x, fy.y, fy.z, fy.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int t = 4 * k + j;
            float terms[SUMS], whole[SUMS];
            terms_of<V::CAREFUL>(job, units, vx[j], vy[j], terms);
            chain_push(c, t + 8, terms, whole);
            const int i = t - (V::W - 1), half = i / TURN % 2 * 2;
            if (i >= 0 && i < NWINDOWS)
                to[i] = make_float4(whole[half], whole[half + 1], whole[half ^ 2], whole[(half ^ 2) + 1]);
        }
    }
}

/* A cell: its first window, field z y x, and the size of the windows. */
typedef struct cell {
    uint64_t at[FLOE_MAX_RANK];
    uint32_t window[3];
} cell;

/* A warp's: each lane takes two samples. Lane 0 has the units then. */
template <bool CAREFUL> FLOE_DEV void pivots_find(const tree_job &job, const cell &c, floe_ssim_tree_units *units)
{
    double sum = 0, error = 0, n = 0;
    for (uint32_t k = floe_lane(); k < FLOE_SSIM_TREE_SAMPLES; k += FLOE_WARP) {
        int64_t original = (int64_t)c.at[0] * job.original_stride[0],
                decoded = (int64_t)c.at[0] * job.decoded_stride[0];
        for (uint32_t a = 1; a < FLOE_MAX_RANK; a++) {
            const uint64_t covered = floe_min64(job.cell[a], job.nwindows[a] - c.at[a]) + c.window[a - 1] - 1;
            const int64_t at = (int64_t)(c.at[a] + floe_ssim_tree_sample(k, a - 1, covered));
            original += at * job.original_stride[a], decoded += at * job.decoded_stride[a];
        }
        const float x = job.original[original], y = job.decoded[decoded];
        const bool counts = (x - x) + (y - y) == 0 && !(CAREFUL && is_fill(job, x, y));
        const double tame_x = floe_ssim_tree_tamed(x, job.min, job.max),
                     tame_y = floe_ssim_tree_tamed(y, job.min, job.max);
        sum += counts ? tame_x + tame_y : 0;
        error += counts ? tame_x - tame_y : 0;
        n += counts;
    }
    for (int d = FLOE_WARP / 2; d > 0; d /= 2) {
        sum += __shfl_down_sync(FLOE_ALL_LANES, sum, d);
        error += __shfl_down_sync(FLOE_ALL_LANES, error, d);
        n += __shfl_down_sync(FLOE_ALL_LANES, n, d);
    }
    floe_ssim_tree_pivot(units, sum, error, n, job.middle);
}

/* The units of the block's cell, found by one of its warps. */
template <bool CAREFUL>
FLOE_DEV floe_ssim_tree_units units_of(const tree_job &job, const cell &c, floe_ssim_tree_units *shared)
{
    floe_ssim_tree_units units = job.units;
    if (threadIdx.x < FLOE_WARP)
        pivots_find<CAREFUL>(job, c, &units);
    if (threadIdx.x == 0)
        *shared = units;
    __syncthreads();
    units.p = shared->p, units.q = shared->q;
    units.p_mean = shared->p_mean, units.q_mean = shared->q_mean;
    return units;
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

typedef struct lane_losses {
    double sum;
    float max;
    float far; /* the largest `square` or `variance` */
    uint32_t nwindows;
} lane_losses;

/* The greatest of numbers that are not negative: their bits are ordered as they are. */
FLOE_DEV float most_of(float a, float b, float c)
{
#ifdef FLOE_EMULATED
    return fmaxf(fmaxf(a, b), c);
#else
    return __int_as_float(__vimax3_s32(__float_as_int(a), __float_as_int(b), __float_as_int(c)));
#endif
}

#define LEAST_TAME \
    0x1p-70f /* of four quotients, none far below: as `under` is above 2^-21, what is divided is above 2^-100 */

/* Of windows of W rows above one another, the first n of which count; all, if n is more. */
template <int W> FLOE_DEV void losses_add(const floe_ssim_tree_loss l[GROUP], int n, lane_losses *to)
{
    float half[GROUP];
#pragma unroll
    for (int i = 0; i < GROUP; i++)
        half[i] = floe_quotient_tame(l[i].over, l[i].under);
    float sum = (half[0] + half[1]) + (half[2] + half[3]);
    if (sum >= LEAST_TAME && n >= GROUP) {
        to->nwindows += GROUP;
        constexpr int STEP =
            W < GROUP - 1 ? 1 : GROUP - 1; /* each value is in the first or the last, or in another group's */
#pragma unroll
        for (int i = 0; i < GROUP; i += STEP)
            to->far = most_of(to->far, l[i].square, l[i].variance);
    } else if (n > 0) { /* some are not there, NaN, or so small that the quotient must be another */
#pragma unroll
        for (int i = 0; i < GROUP; i++) {
            const bool is_small = l[i].over < 1;
            half[i] =
                floe_quotient_tame(is_small ? l[i].over * 0x1p64f : l[i].over, l[i].under) * (is_small ? 0x1p-64f : 1);
            const bool is_one = half[i] == half[i] && i < n;
            half[i] = is_one ? half[i] : 0;
            to->nwindows += is_one;
            to->max = is_one ? fmaxf(to->max, half[i]) : to->max;
            to->far = is_one ? most_of(to->far, l[i].square, l[i].variance) : to->far;
        }
        sum = (half[0] + half[1]) + (half[2] + half[3]);
    }
    to->sum += (double)(n > 0 ? sum : 0);
    if (n > 0)
        to->max = fmaxf(to->max, fmaxf(fmaxf(half[0], half[1]), fmaxf(half[2], half[3])));
}

/* Of a thread. */
FLOE_DEV floe_ssim_part part_of(const tree_job &job, const lane_losses &l)
{
    const floe_ssim_part part = {2 * l.sum, 2 * (double)l.max, l.far <= job.near ? l.nwindows : 0};
    return part;
}

/* The last thing in a kernel that begins early: a block's part, of all its threads', goes to device memory, and the kernel ends
 * behind the one before it. */
FLOE_DEV void part_put(const tree_job &job, const lane_losses &losses, floe_ssim_part *warps, uint32_t nwarps)
{
    const floe_ssim_part part = floe_ssim_part_of_block(part_of(job, losses), warps, nwarps);
    floe_dev_wait();
    if (threadIdx.x == 0)
        job.parts[blockIdx.x] = part;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

typedef void (*kernel_fn)(tree_job);

/* See floe_ssim_boxes_cuda. Returns a cudaError_t as a number. */
inline int kernel_launch(kernel_fn kernel, uint64_t nblocks, uint32_t nthreads, size_t shared_nbytes,
                         const tree_job &job, bool early, void *stream)
{
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_nbytes);
    if (error != cudaSuccess)
        return (int)error;
    if (early)
        FLOE_LAUNCH_EARLY(kernel, (uint32_t)nblocks, nthreads, shared_nbytes, (cudaStream_t)stream, job);
    else
        FLOE_LAUNCH(kernel, (uint32_t)nblocks, nthreads, shared_nbytes, (cudaStream_t)stream, job);
    return (int)cudaGetLastError();
}

} // namespace

#endif
