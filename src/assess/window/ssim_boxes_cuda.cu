/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quick way to SSIM (ssim_tree.h) of f32 in windows of W * W * W. Axes are named z, y, x, slowest first.
 *
 *     block   X by Y windows of a cell, over its chunk of planes
 *     planes  come to shared memory by twos while those before are worked on. From strips of their rows come sums along x, which
 *             go to shared memory again, once for all rows; from these sums along y, and along z: those of the planes before
 *             are kept in registers. These are the sums over whole windows: losses are next
 *
 * Sums along x are made of two planes, and sums along y of the two before, at the same time, so that a block waits once for two.
 */
#define FLOE_REAL_BITS 32 /* other types have other ways */
#include "assess/window/ssim_tree_cuda.cuh"

namespace
{

enum {
    X = 32,       /* windows of a block: one for each lane */
    EACH = GROUP, /* along y, of a thread */
    WARPS = 6,
    Y = WARPS * EACH,
    THREADS = WARPS * FLOE_WARP,
    PLANES = 2, /* at once */
    STRIP = 16, /* windows of a strip; a warp takes a strip of each row of a plane */
    STRIPS = X / STRIP,
    WIDTH = X + FLOE_SSIM_TREE_WINDOW, /* values of a row that come, as chunks of 16 bytes */
    CHUNKS = WIDTH / 4,
    FIRST_BRINGER = PLANES * STRIPS * FLOE_WARP,        /* the first that has no strip */
    BRINGERS_ROWS = (THREADS - FIRST_BRINGER) / CHUNKS, /* that they bring at a time */
    PITCH = WIDTH + 4, /* of rows of values, and of sums: without bank conflicts, in chunks both are odd */
    SUMS_PITCH = X + 1,
    TURN = 8,   /* windows after which halves of sums change places: reading one meets no bank conflicts */
    PERIOD = 4, /* planes after which a chain of windows along z is as before */
    BLOCKS_AN_SM = 2
};
static_assert(FLOE_SSIM_TREE_X % X == 0 && FLOE_SSIM_TREE_Y % Y == 0 && Y % FLOE_SSIM_TREE_GROUP == 0, "of a cell");
static_assert(Y + FLOE_SSIM_TREE_WINDOW - 1 <= FLOE_WARP, "a warp takes a strip of each row");
static_assert(STRIP % (2 * TURN) == 0, "all strips have the same halves turned");
static_assert(BRINGERS_ROWS > 0, "some warps take no strip");

/* What a kernel is made for. */
template <int WINDOW, bool IS_CAREFUL, bool IN_TURN = false> struct variant {
    static constexpr int W = WINDOW;
    static constexpr bool CAREFUL = IS_CAREFUL; /* looks for fill, and reads rows that lie anyhow */
    static constexpr bool TURNS = IN_TURN;      /* sums are made when those before are done with: less shared memory */
    static constexpr int ROWS = Y + W - 1;
};

/* ---- where a block is -------------------------------------------------------------------------------------------- */

typedef struct place {
    uint64_t field, z, y, x; /* the first window */
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
    return p;
}

FLOE_DEV cell cell_of(const place &p, uint32_t window)
{
    const cell c = {{p.field, p.z, p.y - p.y % FLOE_SSIM_TREE_Y, p.x - p.x % FLOE_SSIM_TREE_X},
                    {window, window, window}};
    return c;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* What a thread brings of each plane: a chunk of both fields in every BRINGERS_ROWS'th row. Threads that have no strip do. */
typedef struct chunks {
    const float *x, *y;
    uint32_t to, nrows; /* where the first goes to: floats; 0 rows: there are none */
} chunks;

/* Of a plane in shared memory. */
template <class V> struct plane {
    float of[2][V::ROWS][PITCH];
};

/* Rows behind the last, and chunks behind the end of rows, stay as they are: no window that counts has them inside. */
template <class V> FLOE_DEV chunks chunks_of(const tree_job &job, const place &p)
{
    chunks c = {job.original, job.decoded, 0, 0};
    const uint32_t first = (threadIdx.x - FIRST_BRINGER) / CHUNKS, column = (threadIdx.x - FIRST_BRINGER) % CHUNKS * 4;
    if (first >= BRINGERS_ROWS || p.x + column >= job.shape[3])
        return c;
    c.x += (int64_t)p.field * job.original_stride[0] + (int64_t)p.z * job.original_stride[1] +
           (int64_t)(p.y + first) * job.original_stride[2] + (int64_t)p.x + column;
    c.y += (int64_t)p.field * job.decoded_stride[0] + (int64_t)p.z * job.decoded_stride[1] +
           (int64_t)(p.y + first) * job.decoded_stride[2] + (int64_t)p.x + column;
    c.to = first * PITCH + column;
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
            floe_copy16_async(to->of[0][i * BRINGERS_ROWS] + c.to, x);
            floe_copy16_async(to->of[1][i * BRINGERS_ROWS] + c.to, y);
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

/* Where the strip of a row that a thread takes lies in planes of values and of sums. A thread beyond the last strip has none.
 * (With two blocks on a multiprocessor each of its quarters has as many threads of the first ones.) */
typedef struct strip_place {
    uint32_t values, sums; /* floats; of four floats */
    uint32_t plane;        /* of PLANES */
} strip_place;
#define NO_STRIP UINT32_MAX

template <class V> FLOE_DEV strip_place strip_of()
{
    const uint32_t row = floe_lane(), strip = threadIdx.x / FLOE_WARP % STRIPS;
    strip_place p = {row * PITCH + strip * STRIP, row * SUMS_PITCH + strip * STRIP, threadIdx.x / FLOE_WARP / STRIPS};
    p.values = p.plane < PLANES && row < V::ROWS ? p.values : NO_STRIP;
    return p;
}

/* Sums along x of planes, the first nplanes of which are there. */
template <class V>
FLOE_DEV void planes_rows(const tree_job &job, const strip_place &strip, const floe_ssim_tree_units *shared,
                          uint32_t nplanes, const plane<V> *from, row_sums<V> *to)
{
    const floe_ssim_tree_units units = *shared;
    if (strip.values != NO_STRIP && strip.plane < nplanes)
        strip_sums<V, STRIP, TURN>(job, units, from[strip.plane].of[0][0] + strip.values,
                                   from[strip.plane].of[1][0] + strip.values, to[strip.plane].of[0] + strip.sums);
}

/* What a thread keeps from plane to plane. */
template <class V> struct running {
    chain<V::W, 2> along_z[SUMS / 2][EACH]; /* of two sums each */
    int nrows;                              /* of windows, from the thread's first on, that are there */
    lane_losses losses;
};

/* Of sums m and m + 1: along y, and along z, of plane number t modulo PERIOD. */
template <class V>
FLOE_DEV void pair_windows(const float2 *from, int t, int m, running<V> &r, float windows[EACH][SUMS])
{
    chain<V::W, 2> along_y;
#pragma unroll
    for (int i = 0; i < EACH + V::W - 1; i++) {
        const float2 v = from[i * 2 * SUMS_PITCH];
        const float now[2] = {v.x, v.y};
        float box[2];
        chain_push(along_y, i + 8, now, box);
        if (i >= V::W - 1)
            chain_push(r.along_z[m / 2][i - (V::W - 1)], t + 8, box, windows[i - (V::W - 1)] + m);
    }
}

/* Losses of plane number t modulo PERIOD. nrows: of windows that it completes. */
template <class V>
FLOE_DEV void plane_windows(const floe_ssim_tree_units *shared, const row_sums<V> *from, int t, int nrows,
                            running<V> &r)
{
    const uint32_t first = threadIdx.x / FLOE_WARP * EACH;
    const float2 *sums = (const float2 *)&from->of[first][floe_lane()];
    const uint32_t turned = floe_lane() / TURN % 2;
    float windows[EACH][SUMS];
    floe_ssim_tree_loss losses[EACH];
    pair_windows<V>(sums + turned, t, 0, r, windows);
    pair_windows<V>(sums + (turned ^ 1), t, 2, r, windows);
    const floe_ssim_tree_units units = *shared;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        losses[i] = floe_ssim_tree_loss_of(&units, windows[i][FLOE_SSIM_S], windows[i][FLOE_SSIM_SS],
                                           windows[i][FLOE_SSIM_D], windows[i][FLOE_SSIM_DD]);
    losses_add<V::W>(losses, nrows, &r.losses);
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

template <class V> struct shared_memory {
    plane<V> values[2][PLANES];
    row_sums<V> sums[V::TURNS ? 1 : 2][PLANES];
    chunks bringers[THREADS - FIRST_BRINGER]; /* each thread its own: registers are scarce */
    floe_ssim_part warps[WARPS];
    floe_ssim_tree_units units;
};

/* Has planes of the block brought, plane k first, as far as there are any. */
template <class V>
FLOE_DEV void planes_bring(const tree_job &job, chunks *of_thread, uint32_t k, uint32_t nplanes, plane<V> *to)
{
#pragma unroll
    for (uint32_t i = 0; i < PLANES; i++)
        if (k + i < nplanes) {
            if (V::CAREFUL)
                values_bring<V>(job, k + i, to + i);
            else
                chunks_bring<V>(job, of_thread, to + i);
        }
    floe_copy_async_commit();
}

/* Planes from k on, which is t modulo PERIOD, end their windows; sums along x of the next ones are made, and those after them
 * are brought. There may be no such planes: then no windows, but nothing is done otherwise, so that all that is kept stays
 * where it is. */
template <class V>
FLOE_DEV void planes_step(const tree_job &job, const strip_place &strip, uint32_t k, int t, uint32_t nplanes,
                          shared_memory<V> *shared, running<V> &r)
{
    const int here = t / PLANES % 2, next = here ^ 1;
    planes_bring<V>(job, shared->bringers, k + 2 * PLANES, nplanes, shared->values[here]);
    row_sums<V> *const now = shared->sums[V::TURNS ? 0 : here], *const to_come = shared->sums[V::TURNS ? 0 : next];
    if (!V::TURNS && k + PLANES < nplanes)
        planes_rows<V>(job, strip, &shared->units, nplanes - k - PLANES, shared->values[next], to_come);
#pragma unroll
    for (int i = 0; i < PLANES; i++)
        plane_windows<V>(&shared->units, &now[i], t + i, k + i + 1 >= V::W && k + i < nplanes ? r.nrows : 0, r);
    if (V::TURNS) {
        __syncthreads();
        if (k + PLANES < nplanes)
            planes_rows<V>(job, strip, &shared->units, nplanes - k - PLANES, shared->values[next], to_come);
    }
    floe_copy_async_wait();
    __syncthreads();
}

/* See the head of the file. */
template <class V>
__global__ void __launch_bounds__(THREADS, BLOCKS_AN_SM) ssim_tree_kernel(const __grid_constant__ tree_job job)
{
    FLOE_DYNAMIC_SHARED(shared_memory<V>, shared);
    const place p = place_of(job);
    const uint32_t nplanes = p.nz + V::W - 1;
    floe_dev_begin_early();
    running<V> r = {};
    r.nrows = p.x + floe_lane() < job.nwindows[3]
                  ? (int)floe_min64(job.nwindows[2] - p.y, Y) - (int)(threadIdx.x / FLOE_WARP * EACH)
                  : 0;
    r.losses.max = -1;
    if (threadIdx.x >= FIRST_BRINGER)
        shared->bringers[threadIdx.x - FIRST_BRINGER] = chunks_of<V>(job, p);
    planes_bring<V>(job, shared->bringers, 0, nplanes, shared->values[0]);
    planes_bring<V>(job, shared->bringers, PLANES, nplanes, shared->values[1]);
    units_of<V::CAREFUL>(job, cell_of(p, V::W), &shared->units);
    floe_copy_async_wait();
    __syncthreads();
    const strip_place strip = strip_of<V>();
    planes_rows<V>(job, strip, &shared->units, nplanes, shared->values[0], shared->sums[0]);
    __syncthreads();
    for (uint32_t k = 0; k < nplanes; k += PERIOD)
#pragma unroll
        for (int t = 0; t < PERIOD; t += PLANES)
            planes_step<V>(job, strip, k + t, t, nplanes, shared, r);
    part_put(job, r.losses, shared->warps, WARPS);
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

typedef struct kernel {
    kernel_fn run;
    size_t shared_nbytes;
} kernel;

template <class V> kernel kernel_of() { return {ssim_tree_kernel<V>, sizeof(shared_memory<V>)}; }

template <int W, bool CAREFUL> kernel kernel_that_fits()
{
    if constexpr (sizeof(shared_memory<variant<W, CAREFUL>>) > FLOE_GPU_LEAST_SHARED)
        if (floe_gpu_limits_cuda().shared_nbytes < sizeof(shared_memory<variant<W, CAREFUL>>))
            return kernel_of<variant<W, CAREFUL, true>>();
    return kernel_of<variant<W, CAREFUL>>();
}

template <int W> kernel kernel_of(bool careful)
{
    return careful ? kernel_that_fits<W, true>() : kernel_that_fits<W, false>();
}

kernel kernel_for(uint64_t window, bool careful)
{
    switch (window) {
    case 2: return kernel_of<2>(careful);
    case 3: return kernel_of<3>(careful);
    case 4: return kernel_of<4>(careful);
    case 5: return kernel_of<5>(careful);
    case 6: return kernel_of<6>(careful);
    case 7: return kernel_of<7>(careful);
    default: return kernel_of<8>(careful);
    }
}

} // namespace

uint64_t floe_ssim_boxes_nblocks(const floe_ssim_plan *plan)
{
    return floe_ceil_div(plan->nwindows[3], X) * floe_ceil_div(plan->nwindows[2], Y) * plan->ntiles[1] *
           plan->ntiles[0];
}

int floe_ssim_boxes_cuda(const floe_ssim_job *job, bool early, void *stream)
{
    const kernel k = kernel_for(job->plan.options.window[3], job->pair.has_fill || !has_chunks(&job->pair));
    return kernel_launch(k.run, floe_ssim_boxes_nblocks(&job->plan), THREADS, k.shared_nbytes,
                         tree_job_of(job, X, Y, BRINGERS_ROWS), early, stream);
}
