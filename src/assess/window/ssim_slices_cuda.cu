/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The quick way to SSIM (ssim_tree.h) of f32 on slices: windows of W * W, Gaussian ones too. Axes are named z, y, x, slowest
 * first.
 *
 *     block   a cell, which is part of a slice
 *     round   two slabs of SLAB rows of values come to shared memory while the ones before are worked on. From strips of their
 *             rows come sums along x, which go to shared memory again, where those of the slab before still are; from these
 *             sums along y of two slabs of windows, each of which begins a slab before those of values: losses are next
 */
#define FLOE_REAL_BITS 32 /* other types have other ways */
#include "assess/window/ssim_tree_cuda.cuh"

namespace
{

enum {
    X = FLOE_SSIM_TREE_X,
    SLAB =
        FLOE_SSIM_SLICES_SLAB, /* rows of values, and of windows; a thread takes a column of one, or a strip of a row */
    STRIP = 16,                /* windows */
    STRIPS = X / STRIP,
    AT_ONCE = 2, /* slabs of a round */
    ROWS = AT_ONCE * SLAB,
    WARPS = AT_ONCE * X / FLOE_WARP,
    THREADS = WARPS * FLOE_WARP,
    WARPS_A_SLAB = WARPS / AT_ONCE,
    WIDTH = X + 12, /* values of a row that come, as chunks of 16 bytes; in chunks that is odd: no bank conflicts */
    CHUNKS = WIDTH / 4,
    SUMS_PITCH = X + 1,
    BRINGERS_ROWS = THREADS / CHUNKS, /* that threads bring at a time */
    RING = AT_ONCE + 1,               /* slabs of sums along x */
    BLOCKS_AN_SM = 3
};
static_assert(SLAB * STRIPS == WARPS_A_SLAB * FLOE_WARP && WARPS_A_SLAB * FLOE_WARP == X,
              "a slab has its share of threads");
static_assert((int)FLOE_SSIM_TAPS - 1 <= WIDTH - X && (int)FLOE_SSIM_TAPS - 1 <= SLAB && SLAB % GROUP == 0,
              "windows reach so far");
static_assert(CHUNKS % 2 == 1 && CHUNKS <= (int)FLOE_WARP, "a warp brings a row");

/* What a kernel is made for. */
template <int WINDOW, bool IS_CAREFUL> struct variant {
    static constexpr int W = WINDOW;
    static constexpr bool CAREFUL = IS_CAREFUL; /* looks for fill, and reads rows that lie anyhow */
};

typedef struct shared_memory {
    float values[2][ROWS][WIDTH];
    float4 sums[RING][SLAB][SUMS_PITCH]; /* along x */
    floe_ssim_part warps[WARPS];
    floe_ssim_tree_units units;
} shared_memory;

/* ---- where a block is -------------------------------------------------------------------------------------------- */

typedef struct place {
    cell first;      /* window */
    uint32_t ny;     /* windows */
    uint32_t nslabs; /* of windows */
    uint32_t nrounds;
    bool counts; /* whether there are windows in the thread's column */
} place;

template <class V> FLOE_DEV place place_of(const tree_job &job)
{
    place p;
    uint64_t rest = blockIdx.x, *at = p.first.at;
    at[3] = rest % job.nx * X, rest /= job.nx;
    at[2] = rest % job.ny * job.cell[2], rest /= job.ny;
    at[1] = rest % job.ncells[1], at[0] = rest / job.ncells[1];
    p.first.window[0] = 1, p.first.window[1] = p.first.window[2] = V::W;
    p.ny = (uint32_t)floe_min64(job.cell[2], job.nwindows[2] - at[2]);
    p.nslabs = (p.ny + SLAB - 1) / SLAB;
    p.nrounds = p.nslabs / AT_ONCE + 1;
    p.counts = at[3] + threadIdx.x % X < job.nwindows[3];
    return p;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* What a thread brings: a chunk of 16 bytes of both fields, in every BRINGERS_ROWS'th row. Rows behind the last, and
 * chunks behind the end of rows, are not brought, and what is in their place stays: no window that counts has them inside. */
typedef struct chunks {
    const float *x, *y; /* of the next round */
    uint32_t nvalues;   /* of a chunk, that are in the row; 0: the thread brings none */
} chunks;

FLOE_DEV chunks chunks_of(const tree_job &job, const place &p)
{
    const uint32_t row = threadIdx.x / CHUNKS, column = threadIdx.x % CHUNKS * 4;
    const uint64_t *of = p.first.at, at[FLOE_MAX_RANK] = {of[0], of[1], of[2] + row, of[3] + column};
    chunks c = {job.original, job.decoded, 0};
    for (int a = 0; a < FLOE_MAX_RANK; a++) {
        c.x += (int64_t)at[a] * job.original_stride[a];
        c.y += (int64_t)at[a] * job.decoded_stride[a];
    }
    if (row < BRINGERS_ROWS && at[3] < job.shape[3])
        c.nvalues = (uint32_t)floe_min64(4, job.shape[3] - at[3]);
    return c;
}

/* A chunk of n rows, to x and y of rows in shared memory. */
FLOE_DEV void whole_bring(const tree_job &job, const chunks &c, uint32_t n, float *to_x, float *to_y)
{
    const float *x = c.x, *y = c.y;
#pragma unroll
    for (uint32_t i = 0; i < (ROWS + BRINGERS_ROWS - 1) / BRINGERS_ROWS; i++) {
        if (i < n) {
            floe_copy16_async(to_x + i * BRINGERS_ROWS * WIDTH, x);
            floe_copy16_async(to_y + i * BRINGERS_ROWS * WIDTH, y);
        }
        x += job.original_step, y += job.decoded_step;
    }
}

/* The same where rows end within the chunk. */
FLOE_DEV_COLD void ends_bring(const tree_job &job, chunks c, uint32_t n, float *to_x, float *to_y)
{
    for (; n > 0; n--, to_x += BRINGERS_ROWS * WIDTH, to_y += BRINGERS_ROWS * WIDTH) {
        for (uint32_t i = 0; i < c.nvalues; i++) {
            floe_copy4_async(to_x + i, c.x + i);
            floe_copy4_async(to_y + i, c.y + i);
        }
        c.x += job.original_step, c.y += job.decoded_step;
    }
}

/* The rows of a round; goes on to the next one. */
template <class V>
FLOE_DEV void chunks_bring(const tree_job &job, const place &p, uint32_t round, chunks &c, shared_memory *shared)
{
    const uint32_t first = threadIdx.x / CHUNKS, column = threadIdx.x % CHUNKS * 4, all = p.ny + V::W - 1;
    const uint32_t end = all < (round + 1) * ROWS ? all : (round + 1) * ROWS, row = round * ROWS + first;
    const uint32_t n = row < end ? (end - row + BRINGERS_ROWS - 1) / BRINGERS_ROWS : 0;
    if (c.nvalues == 4)
        whole_bring(job, c, n, &shared->values[0][first][column], &shared->values[1][first][column]);
    else if (c.nvalues)
        ends_bring(job, c, n, &shared->values[0][first][column], &shared->values[1][first][column]);
    c.x += ROWS * job.original_stride[2], c.y += ROWS * job.decoded_stride[2];
}

/* Of rows that lie anyhow, value by value. */
template <class V> FLOE_DEV void values_bring(const tree_job &job, const place &p, uint32_t row, shared_memory *shared)
{
    const uint64_t *at = p.first.at;
    for (uint32_t r = threadIdx.x / FLOE_WARP; r < ROWS; r += WARPS)
        for (uint32_t i = floe_lane(); i < X + V::W - 1; i += FLOE_WARP) {
            const int64_t y = (int64_t)floe_min64(at[2] + row + r, job.shape[2] - 1),
                          x = (int64_t)floe_min64(at[3] + i, job.shape[3] - 1);
            floe_copy4_async(&shared->values[0][r][i], job.original + (int64_t)at[0] * job.original_stride[0] +
                                                           (int64_t)at[1] * job.original_stride[1] +
                                                           y * job.original_stride[2] + x * job.original_stride[3]);
            floe_copy4_async(&shared->values[1][r][i], job.decoded + (int64_t)at[0] * job.decoded_stride[0] +
                                                           (int64_t)at[1] * job.decoded_stride[1] +
                                                           y * job.decoded_stride[2] + x * job.decoded_stride[3]);
        }
}

/* Has the rows of a round brought, if there is one. */
template <class V>
FLOE_DEV void round_bring(const tree_job &job, const place &p, uint32_t round, chunks &c, shared_memory *shared)
{
    if (round == p.nrounds)
        return;
    if (V::CAREFUL)
        values_bring<V>(job, p, round * ROWS, shared);
    else
        chunks_bring<V>(job, p, round, c, shared);
    floe_copy_async_commit();
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Along x, of the slab of values with that number. */
template <class V>
FLOE_DEV void slab_rows(const tree_job &job, const floe_ssim_tree_units &units, uint32_t slab, shared_memory *shared)
{
    const uint32_t k = threadIdx.x % X, row = k % SLAB, strip = k / SLAB * STRIP;
    const uint32_t from = slab % AT_ONCE * SLAB + row;
    strip_sums<V, STRIP>(job, units, &shared->values[0][from][strip], &shared->values[1][from][strip],
                         &shared->sums[slab % RING][row][strip]);
}

/* Along y, and losses, of the thread's column in the slab of windows with that number. */
template <class V>
FLOE_DEV void slab_windows(const floe_ssim_tree_units &units, const place &p, uint32_t slab,
                           const shared_memory *shared, lane_losses *losses)
{
    const float4 *from = &shared->sums[slab % RING][0][threadIdx.x % X],
                 *next = &shared->sums[(slab + 1) % RING][0][threadIdx.x % X];
    const int nrows = p.counts ? (int)(p.ny - slab * SLAB) : 0;
    chain<V::W> c;
    floe_ssim_tree_loss group[GROUP];
#pragma unroll
    for (int i = 0; i < SLAB + V::W - 1; i++) {
        const float4 v = i < SLAB ? from[i * SUMS_PITCH] : next[(i - SLAB) * SUMS_PITCH];
        const float now[SUMS] = {v.x, v.y, v.z, v.w};
        const int row = i - (V::W - 1);
        float window[SUMS];
        chain_push(c, i + 8, now, window);
        if (row < 0)
            continue;
        group[row % GROUP] = floe_ssim_tree_loss_of(&units, window[FLOE_SSIM_S], window[FLOE_SSIM_SS],
                                                    window[FLOE_SSIM_D], window[FLOE_SSIM_DD]);
        if (row % GROUP == GROUP - 1)
            losses_add<V::W>(group, nrows - (row + 1 - GROUP), losses);
    }
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

/* See the head of the file. */
template <class V>
__global__ void __launch_bounds__(THREADS, BLOCKS_AN_SM) ssim_slices_kernel(const __grid_constant__ tree_job job)
{
    FLOE_DYNAMIC_SHARED(shared_memory, shared);
    const place p = place_of<V>(job);
    const uint32_t half = threadIdx.x / X;
    lane_losses losses = {0, -1, 0, 0};
    floe_dev_begin_early();
    chunks c = chunks_of(job, p);
    round_bring<V>(job, p, 0, c, shared);
    const floe_ssim_tree_units units = units_of<V::CAREFUL>(job, p.first, &shared->units);
    for (uint32_t round = 0; round < p.nrounds; round++) {
        const uint32_t slab = AT_ONCE * round + half;
        floe_copy_async_wait();
        __syncthreads();
        if (slab * SLAB < p.ny + V::W - 1)
            slab_rows<V>(job, units, slab, shared);
        __syncthreads();
        round_bring<V>(job, p, round + 1, c, shared);
        if (slab >= 1 && slab - 1 < p.nslabs)
            slab_windows<V>(units, p, slab - 1, shared, &losses);
    }
    part_put(job, losses, shared->warps, WARPS);
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

template <int W> kernel_fn kernel_of(bool careful)
{
    return careful ? ssim_slices_kernel<variant<W, true>> : ssim_slices_kernel<variant<W, false>>;
}

kernel_fn kernel_for(uint64_t window, bool careful)
{
    switch (window) {
    case 2: return kernel_of<2>(careful);
    case 3: return kernel_of<3>(careful);
    case 4: return kernel_of<4>(careful);
    case 5: return kernel_of<5>(careful);
    case 6: return kernel_of<6>(careful);
    case 7: return kernel_of<7>(careful);
    case 8: return kernel_of<8>(careful);
    default: return kernel_of<FLOE_SSIM_TAPS>(careful);
    }
}

} // namespace

int floe_ssim_slices_cuda(const floe_ssim_job *job, bool early, void *stream)
{
    const kernel_fn kernel = kernel_for(job->plan.options.window[3], job->pair.has_fill || !has_chunks(&job->pair));
    return kernel_launch(kernel, floe_ssim_plan_ntiles(&job->plan), THREADS, sizeof(shared_memory),
                         tree_job_of(job, X, job->plan.tile[2], BRINGERS_ROWS), early, stream);
}
