/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of a signal with itself 0 to 10 steps on, summed over all points, by matrix products in double. Eight elements one
 * after another along the axis are the columns of one matrix and, with the eight before them, the rows of another one; what
 * these multiply to has all their products, each summed over four such stretches. Eight elements still further back are the
 * rows of one more. So sums stay where they are in registers, however many elements go by.
 *
 * A warp owns 32 columns side by side in the row and marches along another axis, eight rows a step, while the next three steps
 * are on their way. Where products along the row are wanted, too, the eight rows go through shared memory, to be read the other
 * way. No warp waits for another one. One kernel has all axes in turn.
 */
#include "assess/stencil/stencil_signal_cuda.cuh"
#include "backend/device_matrix.cuh"
#include "backend/device.cuh"

namespace
{

enum {
    WARPS = 4,
    THREADS = WARPS * FLOE_WARP,
    SLAB = 8, /* rows of a step */
    FOURS =
        2, /* of its columns that a lane has in each row: at 4 q and 16 more, where q = lane % 4; its row is lane / 4 */
    APART = 16, /* columns from one to the next */
    WIDTH = FOURS * APART,
    EACH = 4 * FOURS,              /* elements of a lane */
    BEHIND = APART,                /* columns before the warp's own, which these meet along the row */
    PITCH = BEHIND + WIDTH + 4,    /* of rows in shared memory: lanes that read at once use different banks */
    STAGES = 4,                    /* steps that are on their way or looked at */
    CHUNK = 256,                   /* rows of a task; two steps more are read before them */
    LAGS = FLOE_STENCIL_GROUP + 1, /* with 0 */
    BLOCKS_A_PROCESSOR = 3,        /* what registers there are allows */
    ROW = FLOE_STENCIL_AXES - 1
};

/* ---- products ------------------------------------------------------------------------------------------------------ */

/* A warp's sums along one axis. With r = lane / 4 and q = lane % 4 a lane has those of elements 2 q and 2 q + 1 of a stretch
 * with: near[0, 1]: element r of the stretch before; near[2, 3]: element r of the same; far[0, 1]: element r of the second
 * before; far[2, 3]: element r of the second behind. */
struct products {
    double near[4], far[4];
};

FLOE_DEV void products_init(products *p) { memset(p, 0, sizeof *p); }

FLOE_DEV void near_add(products *p, double before, double now)
{
    const double rows[2] = {before, now};
    floe_matrix_add(p->near, rows, now);
}
/* Two at once; without the second it is half as much work, but takes as long. */
FLOE_DEV void far_add(products *p, double before, double now, double behind)
{
    const double rows[2] = {before, behind};
    floe_matrix_add(p->far, rows, now);
}

/* A warp's sum of products at one lag. */
FLOE_DEV double products_at(const products &p, int lag)
{
    const int at = lag - 2 * (int)(floe_lane() % 4) + (int)(floe_lane() / 4);
    const int back = 2 * lag - at;
    double v = at == 8 ? p.near[0] : at == 9 ? p.near[1] : 0;
    v += at == 0 ? p.near[2] : at == 1 ? p.near[3] : 0;
    v += at == 16 ? p.far[0] : at == 17 ? p.far[1] : 0;
    v += back == 16 ? p.far[2] : back == 15 ? p.far[3] : 0;
    return floe_stencil_warp_sum(v);
}

/* ---- tasks --------------------------------------------------------------------------------------------------------- */

/* A warp's columns and rows, from the lane's first element in the first row of the first step on. */
struct tile {
    int64_t x, y, step_x, step_y; /* its place, and from a row to the next */
    int32_t rows;                 /* of the task */
    int32_t below, right;         /* rows and columns of the field from there on, of many some */
    bool is_whole;                /* all of the warp's are in the field; */
    bool is_first, has_behind;    /* there are no rows, there are columns before them */
};

FLOE_HD uint64_t ntasks_of(const floe_stencil_dev_job *j, uint32_t axis)
{
    uint64_t n = floe_ceil_div(j->shape[ROW], WIDTH);
    for (uint32_t a = 0; a < ROW; a++)
        n *= a == axis ? floe_ceil_div(j->shape[a], CHUNK) : j->shape[a];
    return n;
}

FLOE_DEV tile tile_of(const floe_stencil_dev_job *j, uint32_t axis, uint64_t task)
{
    const uint64_t nx = floe_ceil_div(j->shape[ROW], WIDTH), first = task % nx * WIDTH;
    const uint64_t lane_row = floe_lane() / 4;
    uint64_t at[FLOE_STENCIL_AXES], i = task / nx;
    tile t;
    t.has_behind = first > 0;
    at[ROW] = first + 4 * (floe_lane() % 4);
    t.right = at[ROW] < j->shape[ROW] ? (int32_t)floe_min64(WIDTH, j->shape[ROW] - at[ROW]) : 0;
#pragma unroll
    for (int a = ROW - 1; a >= 0; a--) {
        const bool is_axis = a == (int)axis;
        const uint64_t n = is_axis ? floe_ceil_div(j->shape[a], CHUNK) : j->shape[a];
        at[a] = i % n * (is_axis ? CHUNK : 1);
        i /= n;
        if (is_axis) {
            t.rows = (int32_t)floe_min64(CHUNK, j->shape[a] - at[a]);
            t.is_first = at[a] == 0;
            at[a] += lane_row;
            t.below = at[a] < j->shape[a] ? (int32_t)floe_min64(j->shape[a] - at[a], CHUNK) : 0;
            t.step_x = j->dx[a], t.step_y = j->dy[a];
        }
    }
    t.is_whole = first + WIDTH <= j->shape[ROW] && t.rows % SLAB == 0;
    t.x = floe_stencil_offset(j->dx, at[0], at[1], at[2], at[3]);
    t.y = floe_stencil_offset(j->dy, at[0], at[1], at[2], at[3]);
    return t;
}

/* ---- a step's elements --------------------------------------------------------------------------------------------- */

/* Of a lane: its own and those behind, as they lie in memory. */
template <typename T> struct slab {
    floe_stencil_raw<T> own[FOURS], behind;
};

/* Four elements, `down` rows and `right` columns from the lane's first. FAST: all are there, as one vector. */
template <bool FAST, typename T>
FLOE_DEV floe_stencil_raw<T> four_fetch(const floe_stencil_dev_job *j, const tile &t, int32_t down, int right)
{
    const int64_t x = t.x + down * t.step_x, y = t.y + down * t.step_y;
    if (FAST)
        return floe_stencil_raw_at<T>(j, x + right, y + right);
    return floe_stencil_raw_part<T>(j, x + right * j->dx[ROW], y + right * j->dy[ROW],
                                    down < t.below ? t.right - right : 0);
}

template <bool FAST, bool WITH_ROW, typename T>
FLOE_DEV slab<T> slab_fetch(const floe_stencil_dev_job *j, const tile &t, int32_t down)
{
    slab<T> s;
#pragma unroll
    for (int k = 0; k < FOURS; k++)
        s.own[k] = four_fetch<FAST, T>(j, t, down, k * APART);
    if (WITH_ROW && t.has_behind)
        s.behind = four_fetch<FAST, T>(j, t, down, -BEHIND);
    return s;
}

/* The same on its way through shared memory, so that it takes no registers; lanes look at nothing but their own. */
template <typename T, bool WITH_ROW> struct stage {
    enum { PARTS = (int)sizeof(floe_stencil_four<T>) / 16, FOUR = 2 * PARTS };
    uint4 part[(FOURS + WITH_ROW) * FOUR][THREADS];
};

template <typename T> FLOE_DEV void four_copy(uint4 (*to)[THREADS], const T *x, const T *y)
{
    enum { PARTS = stage<T, false>::PARTS, IN_PART = 16 / (int)sizeof(T) };
#pragma unroll
    for (int i = 0; i < PARTS; i++) {
        floe_copy16_async(&to[i][threadIdx.x], x + i * IN_PART);
        floe_copy16_async(&to[PARTS + i][threadIdx.x], y + i * IN_PART);
    }
}

template <typename T> FLOE_DEV floe_stencil_raw<T> four_of(const uint4 (*from)[THREADS])
{
    enum { PARTS = stage<T, false>::PARTS };
    uint4 part[2 * PARTS];
    floe_stencil_raw<T> r;
#pragma unroll
    for (int i = 0; i < 2 * PARTS; i++)
        part[i] = from[i][threadIdx.x];
    memcpy(&r, part, sizeof r);
    return r;
}

/* All are there, as vectors. Whoever calls commits. */
template <bool WITH_ROW, typename T>
FLOE_DEV void stage_begin(const floe_stencil_dev_job *j, const tile &t, int32_t down, stage<T, WITH_ROW> *s)
{
    enum { FOUR = stage<T, WITH_ROW>::FOUR };
    const T *x = (const T *)j->x + t.x + down * t.step_x, *y = (const T *)j->y + t.y + down * t.step_y;
#pragma unroll
    for (int k = 0; k < FOURS; k++)
        four_copy(s->part + k * FOUR, x + k * APART, y + k * APART);
    if (WITH_ROW && t.has_behind)
        four_copy(s->part + FOURS * FOUR, x - BEHIND, y - BEHIND);
}

template <bool WITH_ROW, typename T> FLOE_DEV slab<T> slab_of(const tile &t, const stage<T, WITH_ROW> &s)
{
    enum { FOUR = stage<T, WITH_ROW>::FOUR };
    slab<T> r;
#pragma unroll
    for (int k = 0; k < FOURS; k++)
        r.own[k] = four_of<T>(s.part + k * FOUR);
    if (WITH_ROW && t.has_behind)
        r.behind = four_of<T>(s.part + FOURS * FOUR);
    return r;
}

/* Elements that are not in the field become 0. */
template <bool FAST, typename T>
FLOE_DEV void four_make(const floe_stencil_dev_job *j, const tile &t, int32_t down, int right,
                        const floe_stencil_raw<T> &raw, double *signals)
{
    const int32_t there = down < t.below ? t.right - right : 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const double signal = floe_stencil_signal<FAST>(j, raw.x.v[i], raw.y.v[i]);
        signals[i] = FAST || i < there ? signal : 0;
    }
}

template <bool FAST, typename T>
FLOE_DEV void own_make(const floe_stencil_dev_job *j, const tile &t, int32_t down, const slab<T> &s,
                       double (&signals)[EACH])
{
#pragma unroll
    for (int k = 0; k < FOURS; k++)
        four_make<FAST, T>(j, t, down, k * APART, s.own[k], signals + 4 * k);
}

/* Elements before the task's first step, in fields that begin there 0. */
template <bool FAST, typename T>
FLOE_DEV void slab_begin(const floe_stencil_dev_job *j, const tile &t, int32_t down, double (&signals)[EACH])
{
#pragma unroll
    for (int i = 0; i < EACH; i++)
        signals[i] = 0;
    if (!t.is_first)
        own_make<FAST, T>(j, t, down, slab_fetch<FAST, false, T>(j, t, down), signals);
}

/* ---- the march ----------------------------------------------------------------------------------------------------- */

FLOE_DEV void four_store(double *to, const double *signals)
{
    double2 *pairs = (double2 *)to;
    pairs[0] = make_double2(signals[0], signals[1]);
    pairs[1] = make_double2(signals[2], signals[3]);
}

/* Elements of a slab meet those before them in their rows. */
template <bool FAST, typename T>
FLOE_DEV void row_add(const floe_stencil_dev_job *j, const tile &t, int32_t down, const slab<T> &s,
                      const double (&now)[EACH], double (*shared)[PITCH], products *p)
{
    const uint32_t r = floe_lane() / 4, q = floe_lane() % 4;
    double behind[4] = {0, 0, 0, 0};
    if (t.has_behind)
        four_make<FAST, T>(j, t, down, -BEHIND, s.behind, behind);
    __syncwarp();
    four_store(&shared[r][4 * q], behind);
#pragma unroll
    for (int k = 0; k < FOURS; k++)
        four_store(&shared[r][BEHIND + k * APART + 4 * q], now + 4 * k);
    __syncwarp();
#pragma unroll
    for (int half = 0; half < SLAB; half += 4) {
        double stretch[(BEHIND + WIDTH) / 8];
#pragma unroll
        for (int b = 0; b < (BEHIND + WIDTH) / 8; b++)
            stretch[b] = shared[q + half][8 * b + r];
#pragma unroll
        for (int b = BEHIND / 8; b < (BEHIND + WIDTH) / 8; b++)
            near_add(p, stretch[b - 1], stretch[b]);
#pragma unroll
        for (int b = BEHIND / 8; b < BEHIND / 8 + 2; b++)
            far_add(p, stretch[b - 2], stretch[b], stretch[b + 2]);
    }
}

template <typename T, bool FAST, bool WITH_ROW>
FLOE_DEV void tile_add(const floe_stencil_dev_job *j, const tile &t, double (*shared)[PITCH],
                       stage<T, WITH_ROW> *stages, products *along_axis, products *along_row)
{
    double a[EACH], b[EACH], c[EACH]; /* of this step and the two before, in turn */
    slab_begin<FAST, T>(j, t, -2 * SLAB, b);
    slab_begin<FAST, T>(j, t, -SLAB, c);
    enum { STAGED = FAST && sizeof(T) == sizeof(float) };
    uint32_t at = 0; /* the stage of the step */
#pragma unroll
    for (int k = 0; STAGED && k < STAGES - 1; k++) {
        if (k * SLAB < t.rows)
            stage_begin<WITH_ROW, T>(j, t, k * SLAB, &stages[k]);
        floe_copy_async_commit();
    }
    const auto step = [&](double(&now)[EACH], const double(&last)[EACH], const double(&before_last)[EACH],
                          int32_t down) {
        if (down >= t.rows)
            return;
        slab<T> raw;
        if (STAGED) {
            floe_copy_async_wait_but<STAGES - 2>();
            raw = slab_of<WITH_ROW, T>(t, stages[at]);
            if (down + (STAGES - 1) * SLAB < t.rows)
                stage_begin<WITH_ROW, T>(j, t, down + (STAGES - 1) * SLAB, &stages[(at + STAGES - 1) % STAGES]);
            floe_copy_async_commit();
            at = (at + 1) % STAGES;
        } else {
            raw = slab_fetch<FAST, WITH_ROW, T>(j, t, down);
        }
        own_make<FAST, T>(j, t, down, raw, now);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            near_add(along_axis, last[i], now[i]);
            floe_matrix_add_8(along_axis->far, before_last[i], now[i]);
        }
        if (WITH_ROW)
            row_add<FAST, T>(j, t, down, raw, now, shared, along_row);
    };
#pragma unroll 1
    for (int32_t down = 0; down < t.rows; down += 3 * SLAB) {
        step(a, c, b, down);
        step(b, a, c, down + SLAB);
        step(c, b, a, down + 2 * SLAB);
    }
}

/* ---- kernels ------------------------------------------------------------------------------------------------------- */

/* Adds a warp's tiles along an axis, one in turn, from tile *next on; *next: that of the next axis. */
template <typename T, bool FAST, bool WITH_ROW>
FLOE_DEV void tiles_add(const floe_stencil_dev_job *job, uint32_t axis, double (*shared)[PITCH],
                        stage<T, WITH_ROW> *stages, uint64_t *next, products *along_axis, products *along_row)
{
    const uint64_t ntasks = ntasks_of(job, axis);
    uint64_t i = *next;
    for (; i < ntasks; i += (uint64_t)gridDim.x * WARPS) {
        const tile t = tile_of(job, axis, i);
        if (FAST && t.is_whole)
            tile_add<T, true, WITH_ROW>(job, t, shared, stages, along_axis, along_row);
        else
            tile_add<T, false, WITH_ROW>(job, t, shared, stages, along_axis, along_row);
    }
    *next = i - ntasks;
}

FLOE_DEV void products_write(const products &p, double *words)
{
#pragma unroll 1
    for (int lag = 0; lag < LAGS; lag++)
        words[lag] = products_at(p, lag);
}

/* Axes: bit a for axis a; products along the row are found on the way along the first of them. Words: sums at lags 0 to 10
 * along each axis. */
template <typename T, bool FAST>
__global__ void __launch_bounds__(THREADS, BLOCKS_A_PROCESSOR)
    stencil_totals_kernel(const __grid_constant__ floe_stencil_dev_job job, uint32_t axes)
{
    __shared__ __align__(16) double shared[WARPS][SLAB][PITCH];
    __shared__ double words[WARPS][FLOE_STENCIL_TOTALS_WORDS];
    FLOE_DYNAMIC_SHARED(uint4, on_the_way);
    const uint32_t warp = threadIdx.x / FLOE_WARP, first = (uint32_t)__ffs((int)axes) - 1;
    uint64_t next = (uint64_t)blockIdx.x * WARPS + warp;
    for (uint32_t k = floe_lane(); k < FLOE_STENCIL_TOTALS_WORDS; k += FLOE_WARP)
        words[warp][k] = 0;
    __syncwarp();
    {
        products along_axis, along_row;
        products_init(&along_axis);
        products_init(&along_row);
        tiles_add<T, FAST, true>(&job, first, shared[warp], (stage<T, true> *)on_the_way, &next, &along_axis,
                                 &along_row);
        products_write(along_axis, words[warp] + first * LAGS);
        products_write(along_row, words[warp] + ROW * LAGS);
    }
#pragma unroll 1
    for (uint32_t axis = first + 1; axis < ROW; axis++) {
        if (!(axes >> axis & 1))
            continue;
        products along_axis;
        products_init(&along_axis);
        tiles_add<T, FAST, false>(&job, axis, shared[warp], (stage<T, false> *)on_the_way, &next, &along_axis,
                                  &along_axis);
        products_write(along_axis, words[warp] + axis * LAGS);
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < FLOE_STENCIL_TOTALS_WORDS; k += THREADS) {
        double v = 0;
        for (uint32_t w = 0; w < WARPS; w++)
            v += words[w][k];
        job.parts[(uint64_t)blockIdx.x * FLOE_STENCIL_TOTALS_WORDS + k] = v;
    }
}

template <typename T, bool FAST>
int launch(const floe_stencil_dev_job *job, uint32_t axes, double *words, cudaStream_t stream)
{
    uint64_t ntasks = 0;
    for (uint32_t a = 0; a < ROW; a++)
        ntasks += axes >> a & 1 ? ntasks_of(job, a) : 0;
    const uint32_t nblocks =
        (uint32_t)floe_max64(1, floe_min64(floe_ceil_div(ntasks, WARPS), FLOE_STENCIL_MAX_WIDE_BLOCKS));
    const size_t nbytes = FAST && sizeof(T) == sizeof(float) ? STAGES * sizeof(stage<T, true>) : 0;
    int error = (int)cudaFuncSetAttribute(stencil_totals_kernel<T, FAST>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          (int)nbytes);
    if (error)
        return error;
    FLOE_LAUNCH((stencil_totals_kernel<T, FAST>), nblocks, THREADS, nbytes, stream, *job, axes);
    error = (int)cudaGetLastError();
    return error ? error : floe_stencil_join_parts(job->parts, nblocks, FLOE_STENCIL_TOTALS_WORDS, 0, words, stream);
}

} // namespace

int floe_stencil_totals_cuda(const floe_stencil_dev_job *job, uint32_t axes, double *words, void *stream)
{
    const cudaStream_t s = (cudaStream_t)stream;
    const bool fast = job->vectors && !job->masked && !job->alone;
    if (job->narrow)
        return fast ? launch<float, true>(job, axes, words, s) : launch<float, false>(job, axes, words, s);
    return fast ? launch<double, true>(job, axes, words, s) : launch<double, false>(job, axes, words, s);
}
