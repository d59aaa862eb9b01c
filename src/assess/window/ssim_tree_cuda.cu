/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quick way to SSIM (ssim_tree.h) of f32. Axes are named z, y, x, slowest first; windows are WZ * W * W.
 *
 *     block   X by Y windows of a cell, over its chunk of planes
 *     plane   comes to shared memory while the one before is worked on. From strips of its rows come sums along x, which go to
 *             shared memory again, once for all rows; from these sums along y, and along z: those of the planes before are kept
 *             in registers. These are the sums over whole windows: losses are next
 *
 * Sums along x and y are made of one plane and the one before at the same time, so that a block waits once a plane.
 */
#define FLOE_REAL_BITS 32 /* other types have other ways */
#include "assess/window/ssim_losses_cuda.cuh"
#include "assess/window/ssim_tree.h"
#include "assess/window/ssim_tree_math.h"
#include "backend/device_quotient.cuh"

namespace
{

enum {
    X = 32,                      /* windows of a block: one for each lane */
    EACH = FLOE_SSIM_TREE_GROUP, /* along y, of a thread */
    WARPS = 6,
    Y = WARPS * EACH,
    THREADS = WARPS * FLOE_WARP,
    STRIP = 8, /* windows of a strip; a warp takes a strip of each row */
    STRIPS = X / STRIP,
    SUMS = FLOE_SSIM_SUMS,
    WIDTH = X + FLOE_SSIM_TREE_WINDOW, /* values of a row that come, as chunks of 16 bytes */
    CHUNKS = WIDTH / 4,
    FIRST_BRINGER = STRIPS * FLOE_WARP,                 /* the first that has no strip */
    BRINGERS_ROWS = (THREADS - FIRST_BRINGER) / CHUNKS, /* that they bring at a time */
    PITCH = WIDTH + 4, /* of rows of values, and of sums: without bank conflicts, in chunks both are odd */
    SUMS_PITCH = X + 1,
    PERIOD = 4, /* planes after which a chain of windows along z is as before */
    BLOCKS_AN_SM = 2
};
static_assert(FLOE_SSIM_TREE_X % X == 0 && FLOE_SSIM_TREE_Y % Y == 0 && Y % FLOE_SSIM_TREE_GROUP == 0, "of a cell");
static_assert(Y + FLOE_SSIM_TREE_WINDOW - 1 <= FLOE_WARP, "a warp takes a strip of each row");
static_assert(BRINGERS_ROWS > 0, "some warps take no strip");

/* What a kernel is made for. */
template <int WINDOW, bool IS_DEEP, bool IS_CAREFUL> struct variant {
    static constexpr int W = WINDOW, WZ = IS_DEEP ? WINDOW : 1;
    static constexpr bool CAREFUL = IS_CAREFUL; /* looks for fill, and reads rows that lie anyhow */
    static constexpr int ROWS = Y + W - 1;
};

typedef struct tree_job {
    const float *original, *decoded;
    int64_t original_stride[FLOE_MAX_RANK], decoded_stride[FLOE_MAX_RANK];
    int64_t original_step, decoded_step; /* of BRINGERS_ROWS rows */
    uint64_t shape[FLOE_MAX_RANK], nwindows[FLOE_MAX_RANK];
    uint64_t cell[FLOE_MAX_RANK], ncells[FLOE_MAX_RANK]; /* windows of a cell; cells of a field */
    uint64_t nx, ny;                                     /* tiles of a plane */
    floe_ssim_tree_units units;
    double min, max, middle; /* of the original; of them, in units */
    uint32_t has_fill, fill_bits;
    floe_ssim_part *parts;
} tree_job;

/* ---- chains ------------------------------------------------------------------------------------------------------ */

constexpr int top_of(int w) { return w < 2 ? 0 : 1 + top_of(w / 2); }
/* Steps of the longest sums of a chain that are kept, a power of two. */
constexpr int kept_of(int w) { return w == (1 << top_of(w)) ? 0 : w == 7 ? 4 : w - (1 << top_of(w)); }

/* Sums over the last W steps along an axis: what must be kept of earlier ones. Level b, sums of 2^b steps, from slot 2^b - 1. */
template <int W> struct chain {
    static constexpr int TOP = top_of(W), KEPT = kept_of(W), SLOTS = (1 << TOP) - 1 + KEPT;
    float slot[SLOTS ? SLOTS : 1][SUMS];
};

/* The slot of level b for step t. */
template <int W> FLOE_DEV int slot_of(int b, int t)
{
    constexpr int TOP = chain<W>::TOP, KEPT = chain<W>::KEPT;
    return (1 << b) - 1 + t % (b < TOP ? 1 << b : KEPT ? KEPT : 1);
}

/* Step t, a constant from 8 on. What comes of the first W - 1 is of no use. */
template <int W> FLOE_DEV void chain_push(chain<W> &c, int t, const float now[SUMS], float whole[SUMS])
{
    constexpr int TOP = chain<W>::TOP, LATE = W - (1 << TOP);
#pragma unroll
    for (int m = 0; m < SUMS; m++) {
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

/* ---- where a block is -------------------------------------------------------------------------------------------- */

typedef struct place {
    uint64_t field, z, y, x; /* the first window */
    uint64_t cell[3];        /* the first window of its cell, z y x */
    uint32_t nz;             /* windows along z */
} place;

FLOE_DEV place place_of(const tree_job &job)
{
    place p;
    uint64_t rest = blockIdx.x;
    p.x = rest % job.nx * X, rest /= job.nx;
    p.y = rest % job.ny * Y, rest /= job.ny;
    p.z = rest % job.ncells[1] * job.cell[1], p.field = rest / job.ncells[1];
    p.nz = (uint32_t)floe_min64(job.cell[1], job.nwindows[1] - p.z);
    p.cell[0] = p.z, p.cell[1] = p.y - p.y % FLOE_SSIM_TREE_Y, p.cell[2] = p.x - p.x % FLOE_SSIM_TREE_X;
    return p;
}

FLOE_DEV bool is_fill(const tree_job &job, float x, float y)
{
    return job.has_fill && (floe_bits_f32(x) == job.fill_bits || floe_bits_f32(y) == job.fill_bits);
}

/* A warp's: each lane takes two samples. */
template <class V> FLOE_DEV void pivots_find(const tree_job &job, const place &p, floe_ssim_tree_units *units)
{
    double sum = 0, error = 0, n = 0;
    for (uint32_t k = floe_lane(); k < FLOE_SSIM_TREE_SAMPLES; k += FLOE_WARP) {
        int64_t original = (int64_t)p.field * job.original_stride[0],
                decoded = (int64_t)p.field * job.decoded_stride[0];
        for (uint32_t a = 0; a < 3; a++) {
            const uint64_t covered =
                floe_min64(job.cell[a + 1], job.nwindows[a + 1] - p.cell[a]) + (a ? V::W : V::WZ) - 1;
            const int64_t at = (int64_t)(p.cell[a] + floe_ssim_tree_sample(k, a, covered));
            original += at * job.original_stride[a + 1], decoded += at * job.decoded_stride[a + 1];
        }
        const float x = job.original[original], y = job.decoded[decoded];
        const bool counts = (x - x) + (y - y) == 0 && !(V::CAREFUL && is_fill(job, x, y));
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
    if (floe_lane() == 0)
        floe_ssim_tree_pivot(units, sum, error, n, job.middle);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* What a thread brings of each plane: a chunk of both fields in every BRINGERS_ROWS'th row. Threads that have no strip do. */
typedef struct chunks {
    const float *x, *y;
    uint32_t to;            /* where the first goes to: floats */
    uint32_t nbytes, nrows; /* of a chunk, that are in the row; nrows: 0 where there are none */
} chunks;

/* Of a plane in shared memory. */
template <class V> struct plane {
    float of[2][V::ROWS][PITCH];
};

/* Rows behind the last, and chunks behind the end of rows, stay as they are: no window that counts has them inside. */
template <class V> FLOE_DEV chunks chunks_of(const tree_job &job, const place &p)
{
    chunks c = {job.original, job.decoded, 0, 0, 0};
    const uint32_t first = (threadIdx.x - FIRST_BRINGER) / CHUNKS, column = (threadIdx.x - FIRST_BRINGER) % CHUNKS * 4;
    if (first >= BRINGERS_ROWS || p.x + column >= job.shape[3])
        return c;
    c.x += (int64_t)p.field * job.original_stride[0] + (int64_t)p.z * job.original_stride[1] +
           (int64_t)(p.y + first) * job.original_stride[2] + (int64_t)p.x + column;
    c.y += (int64_t)p.field * job.decoded_stride[0] + (int64_t)p.z * job.decoded_stride[1] +
           (int64_t)(p.y + first) * job.decoded_stride[2] + (int64_t)p.x + column;
    c.to = first * PITCH + column;
    c.nbytes = (uint32_t)floe_min64(16, 4 * (job.shape[3] - p.x - column));
    for (uint32_t r = first; r < V::ROWS && p.y + r < job.shape[2]; r += BRINGERS_ROWS)
        c.nrows++;
    return c;
}

/* Goes on to the next plane. */
template <class V> FLOE_DEV void chunks_bring(const tree_job &job, chunks *of_thread, plane<V> *to)
{
    if (threadIdx.x < FIRST_BRINGER)
        return;
    const chunks c = of_thread[threadIdx.x - FIRST_BRINGER];
    const float *x = c.x, *y = c.y;
#pragma unroll
    for (uint32_t i = 0; i * BRINGERS_ROWS < V::ROWS; i++) {
        if (i < c.nrows) {
            floe_copy16_async_part(to->of[0][i * BRINGERS_ROWS] + c.to, x, c.nbytes);
            floe_copy16_async_part(to->of[1][i * BRINGERS_ROWS] + c.to, y, c.nbytes);
        }
        x += job.original_step, y += job.decoded_step;
    }
    of_thread[threadIdx.x - FIRST_BRINGER].x = c.x + job.original_stride[1];
    of_thread[threadIdx.x - FIRST_BRINGER].y = c.y + job.decoded_stride[1];
}

/* Of rows that lie anyhow, value by value: plane k of the block. */
template <class V> FLOE_DEV void values_bring(const tree_job &job, uint32_t k, plane<V> *to)
{
    const place p = place_of(job); /* found again: registers are scarce */
    const uint64_t z = p.z + k;
    for (uint32_t row = threadIdx.x / FLOE_WARP; row < V::ROWS; row += WARPS)
        for (uint32_t i = floe_lane(); i < X + V::W - 1; i += FLOE_WARP) {
            const int64_t y = (int64_t)floe_min64(p.y + row, job.shape[2] - 1),
                          x = (int64_t)floe_min64(p.x + i, job.shape[3] - 1);
            floe_copy4_async(&to->of[0][row][i], job.original + (int64_t)p.field * job.original_stride[0] +
                                                     (int64_t)z * job.original_stride[1] + y * job.original_stride[2] +
                                                     x * job.original_stride[3]);
            floe_copy4_async(&to->of[1][row][i], job.decoded + (int64_t)p.field * job.decoded_stride[0] +
                                                     (int64_t)z * job.decoded_stride[1] + y * job.decoded_stride[2] +
                                                     x * job.decoded_stride[3]);
        }
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Of a plane, in shared memory: over windows along x. */
template <class V> struct row_sums {
    float4 of[V::ROWS][SUMS_PITCH];
};

/* A strip of a row. */
template <class V>
FLOE_DEV void strip_sums(const tree_job &job, const floe_ssim_tree_units &units, const float *x, const float *y,
                         float4 *to)
{
    chain<V::W> c;
#pragma unroll
    for (int i = 0; i < (STRIP + V::W - 1 + 3) / 4; i++) {
        const float4 fx = ((const float4 *)x)[i], fy = ((const float4 *)y)[i];
        const float vx[4] = {fx.x, fx.y, fx.z, fx.w}, vy[4] = {fy.x, fy.y, fy.z, fy.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int t = 4 * i + j;
            floe_ssim_tree_pair v = floe_ssim_tree_pair_of(&units, vx[j], vy[j]);
            if (V::CAREFUL && is_fill(job, vx[j], vy[j]))
                v.s = floe_f32_of(0x7FC00000u);
            const float terms[SUMS] = {v.s, v.s * v.s, v.d, v.d * v.d};
            float whole[SUMS];
            chain_push<V::W>(c, t + 8, terms, whole);
            if (t >= V::W - 1 && t < STRIP + V::W - 1)
                to[t - (V::W - 1)] = make_float4(whole[0], whole[1], whole[2], whole[3]);
        }
    }
}

/* Where the strip of a row that a thread takes lies in planes of values and of sums. A thread beyond the last strip has none.
 * (With two blocks on a multiprocessor each of its quarters has as many threads of the first ones.) */
typedef struct strip_place {
    uint32_t values, sums; /* floats; of four floats */
} strip_place;
#define NO_STRIP UINT32_MAX

template <class V> FLOE_DEV strip_place strip_of()
{
    const uint32_t row = floe_lane(), strip = threadIdx.x / FLOE_WARP;
    strip_place p = {row * PITCH + strip * STRIP, row * SUMS_PITCH + strip * STRIP};
    p.values = strip < STRIPS && row < V::ROWS ? p.values : NO_STRIP;
    return p;
}

/* Sums along x of a plane. */
template <class V>
FLOE_DEV void plane_rows(const tree_job &job, const floe_ssim_tree_units &units, const strip_place &strip,
                         const plane<V> *from, row_sums<V> *to)
{
    if (strip.values != NO_STRIP)
        strip_sums<V>(job, units, from->of[0][0] + strip.values, from->of[1][0] + strip.values, to->of[0] + strip.sums);
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

typedef struct lane_losses {
    double sum;
    float max;
    uint32_t nwindows;
} lane_losses;

#define LEAST_TAME \
    0x1p-70f /* of four quotients, none far below: as `under` is above 2^-21, what is divided is above 2^-100 */

/* Of four windows above one another, those of which the bit is set in counts. */
FLOE_DEV void losses_add(const floe_ssim_tree_loss l[EACH], uint32_t counts, lane_losses *to)
{
    float half[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++)
        half[i] = floe_quotient_tame(l[i].over, l[i].under);
    float sum = (half[0] + half[1]) + (half[2] + half[3]);
    if (sum >= LEAST_TAME && counts == (1u << EACH) - 1) {
        to->nwindows += EACH;
    } else { /* some are not there, NaN, or so small that the quotient must be another */
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const bool is_small = l[i].over < 1;
            half[i] =
                floe_quotient_tame(is_small ? l[i].over * 0x1p64f : l[i].over, l[i].under) * (is_small ? 0x1p-64f : 1);
            const bool is_one = half[i] == half[i] && (counts >> i & 1);
            half[i] = is_one ? half[i] : 0;
            to->nwindows += is_one;
            to->max = is_one ? fmaxf(to->max, half[i]) : to->max;
        }
        sum = (half[0] + half[1]) + (half[2] + half[3]);
    }
    to->sum += (double)sum;
    if (counts)
        to->max = fmaxf(to->max, fmaxf(fmaxf(half[0], half[1]), fmaxf(half[2], half[3])));
}

/* What a thread keeps from plane to plane. */
template <class V> struct running {
    chain<V::WZ> along_z[EACH];
    uint32_t counts; /* bits of the windows that are there */
    lane_losses losses;
};

/* Sums along y, and along z, of plane number t modulo PERIOD. counts: bits of the windows that it completes. */
template <class V>
FLOE_DEV void plane_windows(const floe_ssim_tree_units &units, const row_sums<V> *from, int t, uint32_t counts,
                            running<V> &r)
{
    const uint32_t first = threadIdx.x / FLOE_WARP * EACH;
    chain<V::W> along_y;
    floe_ssim_tree_loss losses[EACH];
#pragma unroll
    for (int i = 0; i < EACH + V::W - 1; i++) {
        const float4 v = from->of[first + i][floe_lane()];
        const float now[SUMS] = {v.x, v.y, v.z, v.w};
        float box[SUMS], window[SUMS];
        chain_push<V::W>(along_y, i + 8, now, box);
        if (i < V::W - 1)
            continue;
        chain_push<V::WZ>(r.along_z[i - (V::W - 1)], t + 8, box, window);
        losses[i - (V::W - 1)] = floe_ssim_tree_loss_of(&units, window[FLOE_SSIM_S], window[FLOE_SSIM_SS],
                                                        window[FLOE_SSIM_D], window[FLOE_SSIM_DD]);
    }
    losses_add(losses, counts, &r.losses);
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

template <class V> FLOE_DEV uint32_t counts_of(const tree_job &job, const place &p)
{
    uint32_t counts = 0;
    for (uint32_t i = 0; i < EACH; i++)
        counts |= (uint32_t)(p.x + floe_lane() < job.nwindows[3] &&
                             p.y + threadIdx.x / FLOE_WARP * EACH + i < job.nwindows[2])
                  << i;
    return counts;
}

template <class V> struct shared_memory {
    plane<V> values[2];
    row_sums<V> sums[2];
    chunks bringers[THREADS - FIRST_BRINGER]; /* each thread its own: registers are scarce */
    floe_ssim_part warps[WARPS];
    floe_ssim_tree_units units;
};

/* Has plane k of the block brought, if there is one. */
template <class V>
FLOE_DEV void plane_bring(const tree_job &job, chunks *of_thread, uint32_t k, uint32_t nplanes, plane<V> *to)
{
    if (k < nplanes) {
        if (V::CAREFUL)
            values_bring<V>(job, k, to);
        else
            chunks_bring<V>(job, of_thread, to);
        floe_copy_async_commit();
    }
}

/* Plane k, which is t modulo PERIOD, ends the windows; the next one's sums along x are made, and the one after that is brought.
 * There may be no plane k: then no windows, but nothing is done otherwise, so that all that is kept stays where it is. */
template <class V>
FLOE_DEV void plane_step(const tree_job &job, const floe_ssim_tree_units &units, const strip_place &strip, uint32_t k,
                         int t, uint32_t nplanes, shared_memory<V> *shared, running<V> &r)
{
    plane_bring<V>(job, shared->bringers, k + 2, nplanes, &shared->values[t % 2]);
    if (k + 1 < nplanes)
        plane_rows<V>(job, units, strip, &shared->values[(t + 1) % 2], &shared->sums[(t + 1) % 2]);
    plane_windows<V>(units, &shared->sums[t % 2], t, k + 1 >= V::WZ && k < nplanes ? r.counts : 0, r);
    floe_copy_async_wait();
    __syncthreads();
}

/* The units of the block's cell, found by one of its warps. */
template <class V>
FLOE_DEV floe_ssim_tree_units units_of(const tree_job &job, const place &p, floe_ssim_tree_units *shared)
{
    floe_ssim_tree_units units = job.units;
    if (threadIdx.x < FLOE_WARP)
        pivots_find<V>(job, p, &units);
    if (threadIdx.x == 0)
        *shared = units;
    __syncthreads();
    units.p = shared->p, units.q = shared->q;
    units.p_mean = shared->p_mean, units.q_mean = shared->q_mean;
    return units;
}

/* See the head of the file. */
template <class V>
__global__ void __launch_bounds__(THREADS, BLOCKS_AN_SM) ssim_tree_kernel(const __grid_constant__ tree_job job)
{
    FLOE_DYNAMIC_SHARED(shared_memory<V>, shared);
    const place p = place_of(job);
    const uint32_t nplanes = p.nz + V::WZ - 1;
    running<V> r = {};
    r.counts = counts_of<V>(job, p);
    r.losses.max = -1;
    if (threadIdx.x >= FIRST_BRINGER)
        shared->bringers[threadIdx.x - FIRST_BRINGER] = chunks_of<V>(job, p);
    plane_bring<V>(job, shared->bringers, 0, nplanes, &shared->values[0]);
    plane_bring<V>(job, shared->bringers, 1, nplanes, &shared->values[1]);
    const floe_ssim_tree_units units = units_of<V>(job, p, &shared->units);
    floe_copy_async_wait();
    __syncthreads();
    const strip_place strip = strip_of<V>();
    plane_rows<V>(job, units, strip, &shared->values[0], &shared->sums[0]);
    __syncthreads();
    for (uint32_t k = 0; k < nplanes; k += PERIOD)
#pragma unroll
        for (int t = 0; t < PERIOD; t++)
            plane_step<V>(job, units, strip, k + t, t, nplanes, shared, r);
    floe_ssim_part part = {2 * r.losses.sum, 2 * (double)r.losses.max, r.losses.nwindows};
    part = floe_ssim_part_of_block(part, shared->warps, WARPS);
    if (threadIdx.x == 0)
        job.parts[blockIdx.x] = part;
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

/* Whether rows are in whole chunks wherever they lie. */
bool has_chunks(const floe_pair *p)
{
    bool whole = (uintptr_t)p->original % 16 == 0 && (uintptr_t)p->decoded % 16 == 0 && p->original_stride[3] == 1 &&
                 p->decoded_stride[3] == 1;
    for (int a = 0; a < 3; a++)
        whole &= p->original_stride[a] % 4 == 0 && p->decoded_stride[a] % 4 == 0;
    return whole;
}

tree_job tree_job_of(const floe_ssim_job *job)
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
    j.original_step = BRINGERS_ROWS * j.original_stride[2], j.decoded_step = BRINGERS_ROWS * j.decoded_stride[2];
    j.nx = floe_ceil_div(j.nwindows[3], X);
    j.ny = floe_ceil_div(j.nwindows[2], Y);
    j.units.scale = (float)t->scale, j.units.n = (float)t->n;
    j.units.c1 = (float)t->c1, j.units.c2 = (float)t->c2;
    j.min = job->plan.options.min, j.max = job->plan.options.max, j.middle = t->middle;
    j.has_fill = job->pair.has_fill;
    j.fill_bits = (uint32_t)job->pair.fill_bits;
    j.parts = job->parts;
    return j;
}

typedef void (*kernel_fn)(tree_job);
typedef struct kernel {
    kernel_fn run;
    size_t shared_nbytes;
} kernel;

template <class V> kernel kernel_of() { return {ssim_tree_kernel<V>, sizeof(shared_memory<V>)}; }

template <int W> kernel kernel_of(bool deep, bool careful)
{
    if (deep)
        return careful ? kernel_of<variant<W, true, true>>() : kernel_of<variant<W, true, false>>();
    return careful ? kernel_of<variant<W, false, true>>() : kernel_of<variant<W, false, false>>();
}

kernel kernel_for(uint64_t window, bool deep, bool careful)
{
    switch (window) {
    case 2: return kernel_of<2>(deep, careful);
    case 3: return kernel_of<3>(deep, careful);
    case 4: return kernel_of<4>(deep, careful);
    case 5: return kernel_of<5>(deep, careful);
    case 6: return kernel_of<6>(deep, careful);
    case 7: return kernel_of<7>(deep, careful);
    default: return kernel_of<8>(deep, careful);
    }
}

} // namespace

uint64_t floe_ssim_tree_nblocks(const floe_ssim_plan *plan)
{
    return floe_ceil_div(plan->nwindows[3], X) * floe_ceil_div(plan->nwindows[2], Y) * plan->ntiles[1] *
           plan->ntiles[0];
}

int floe_ssim_tree_cuda(const floe_ssim_job *job, void *stream)
{
    const tree_job j = tree_job_of(job);
    const kernel k = kernel_for(job->plan.options.window[3], job->plan.options.window[1] > 1,
                                job->pair.has_fill || !has_chunks(&job->pair));
    const uint64_t nblocks = floe_ssim_tree_nblocks(&job->plan);
    cudaError_t error = cudaFuncSetAttribute(k.run, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)k.shared_nbytes);
    if (error != cudaSuccess)
        return (int)error;
    FLOE_LAUNCH(k.run, dim3((uint32_t)nblocks), THREADS, k.shared_nbytes, (cudaStream_t)stream, j);
    error = cudaGetLastError();
    return error != cudaSuccess ? (int)error : floe_ssim_join_cuda(job->parts, nblocks, job->answer, stream);
}
