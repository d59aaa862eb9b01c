/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of a signal with itself on a GPU. A block owns 256 columns side by side along the row and marches along another
 * axis: a thread keeps the last elements of its column in registers, and each new one meets them. For lags along the row two
 * rows at a time go to shared memory, where a thread takes two neighbours of one row with all that lies behind them.
 */
#include "assess/stencil/stencil_cuda.cuh"

namespace
{

enum {
    COLUMNS = 256,
    WARPS = COLUMNS / FLOE_WARP,
    LAGS = FLOE_STENCIL_GROUP,
    BATCH = 2,   /* rows that are in shared memory together: divides LAGS */
    CHUNK = 256, /* rows of a task; LAGS and more are read before them */
    LINE = COLUMNS + FLOE_STENCIL_MAX_LAGS + LAGS + 2,
    ROW = FLOE_STENCIL_AXES - 1
};

/* What a block adds up, each warp on its own: [along the axis, along the row][lag][box, rest], and squares. */
struct lag_totals {
    double product[WARPS][2][LAGS][2], squares[WARPS];
};

struct march {
    uint64_t at[FLOE_STENCIL_AXES]; /* of the thread's column; along the axis the first element of the task */
    uint64_t hi, extent;            /* behind the task's last element; of the field along the axis */
    int64_t x, y, step_x, step_y;   /* element 0 of the column, and from one to the next */
    bool there;                     /* the column is in the field */
};

/* ---- elements ------------------------------------------------------------------------------------------------------ */

template <typename T> FLOE_DEV double signal_at(const floe_stencil_dev_job *j, int64_t at_x, int64_t at_y)
{
    const T x = ((const T *)j->x)[at_x], y = ((const T *)j->y)[at_y];
    const bool counts = !j->masked || (floe_stencil_is_finite(x, j) && floe_stencil_is_finite(y, j));
    if (j->counts)
        return counts ? 1 : 0;
    return counts ? (j->alone ? (double)x : (double)y - (double)x) - j->mean : 0;
}

/* Element i of the thread's column; 0 outside of the field and from `end` on. i may have wrapped below 0. */
template <typename T> FLOE_DEV double element(const floe_stencil_dev_job *j, const march &m, uint64_t i, uint64_t end)
{
    return m.there && i < end ? signal_at<T>(j, m.x + (int64_t)i * m.step_x, m.y + (int64_t)i * m.step_y) : 0;
}

/* The same of the column `by` elements along the row. */
template <typename T>
FLOE_DEV double element_beside(const floe_stencil_dev_job *j, const march &m, uint64_t i, uint64_t end, uint32_t by)
{
    if (m.at[ROW] + by >= j->shape[ROW] || i >= end)
        return 0;
    return signal_at<T>(j, m.x + (int64_t)i * m.step_x + (int64_t)by * j->dx[ROW],
                        m.y + (int64_t)i * m.step_y + (int64_t)by * j->dy[ROW]);
}

FLOE_HD uint64_t tasks_of(const floe_stencil_dev_job *j, uint32_t axis)
{
    uint64_t n = floe_ceil_div(j->shape[ROW], COLUMNS);
    for (uint32_t a = 0; a < ROW; a++)
        n *= a == axis ? floe_ceil_div(j->shape[a], CHUNK) : j->shape[a];
    return n;
}

FLOE_DEV march march_of(const floe_stencil_dev_job *j, uint32_t axis, uint64_t task)
{
    march m;
    const uint64_t nx = floe_ceil_div(j->shape[ROW], COLUMNS);
    m.at[ROW] = task % nx * COLUMNS + threadIdx.x;
    task /= nx;
#pragma unroll
    for (int a = ROW - 1; a >= 0; a--) {
        const uint64_t n = a == (int)axis ? floe_ceil_div(j->shape[a], CHUNK) : j->shape[a];
        m.at[a] = task % n * (a == (int)axis ? CHUNK : 1);
        task /= n;
    }
    m.there = m.at[ROW] < j->shape[ROW];
    m.x = m.y = 0;
    m.extent = m.hi = 0;
    m.step_x = m.step_y = 0;
#pragma unroll
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        if (a == (int)axis) {
            m.extent = j->shape[a];
            m.hi = floe_min64(m.at[a] + CHUNK, m.extent);
            m.step_x = j->dx[a], m.step_y = j->dy[a];
        } else {
            m.x += (int64_t)m.at[a] * j->dx[a];
            m.y += (int64_t)m.at[a] * j->dy[a];
        }
    }
    return m;
}

/* ---- adding up ----------------------------------------------------------------------------------------------------- */

/* A thread's sums go to the warp's totals: to the box where the lag is at most `reach`. */
FLOE_DEV void flush(double (&sum)[LAGS], uint32_t first_lag, uint64_t reach, double (*total)[2])
{
#pragma unroll
    for (uint32_t k = 0; k < LAGS; k++) {
        const bool in_box = first_lag + k <= reach;
        const double box = floe_stencil_warp_sum(in_box ? sum[k] : 0);
        const double rest = floe_stencil_warp_sum(in_box ? 0 : sum[k]);
        sum[k] = 0;
        if (floe_lane() == 0)
            total[k][0] += box, total[k][1] += rest;
    }
}

/* The same where all lanes of a warp have one reach. */
FLOE_DEV void flush_alike(double (&sum)[LAGS], uint32_t first_lag, uint64_t reach, double (*total)[2])
{
#pragma unroll
    for (uint32_t k = 0; k < LAGS; k++) {
        const double all = floe_stencil_warp_sum(sum[k]);
        sum[k] = 0;
        if (floe_lane() == 0)
            total[k][first_lag + k <= reach ? 0 : 1] += all;
    }
}

/* Two elements side by side of one of the rows, with those from first_lag on behind each. */
FLOE_DEV void row_add(const double *line, uint32_t first_lag, double (&sum)[LAGS])
{
    const double a = line[0], b = line[1];
    double v = line[first_lag];
#pragma unroll
    for (int k = 0; k < LAGS; k++) {
        const double w = line[first_lag + (uint32_t)k + 1];
        sum[k] = fma(a, v, fma(b, w, sum[k]));
        v = w;
    }
}

/* Both rows of a batch to shared memory, with what lies behind the last column. */
template <typename T>
FLOE_DEV void rows_store(const floe_stencil_dev_job *j, const march &m, uint64_t i, const double (&now)[BATCH],
                         uint32_t nbehind, double (*lines)[LINE])
{
#pragma unroll
    for (int r = 0; r < BATCH; r++) {
        lines[r][threadIdx.x] = now[r];
        if (threadIdx.x < nbehind)
            lines[r][COLUMNS + threadIdx.x] = element_beside<T>(j, m, i + (uint64_t)r, m.hi, COLUMNS);
    }
}

/* ---- the march ----------------------------------------------------------------------------------------------------- */

template <typename T, bool WITH_ROW>
FLOE_DEV void task_add(const floe_stencil_dev_job *j, uint32_t axis, uint32_t first_lag, uint64_t task,
                       double (*lines)[BATCH][LINE], lag_totals *totals)
{
    const march m = march_of(j, axis, task);
    const uint32_t warp = threadIdx.x / FLOE_WARP, behind = first_lag - 1, my_row = threadIdx.x / (COLUMNS / BATCH);
    const uint32_t my_pair = threadIdx.x % (COLUMNS / BATCH) * 2;
    const uint64_t lo = m.at[axis], reach = floe_stencil_reach(j->shape, m.at, axis);
    uint64_t origin[FLOE_STENCIL_AXES] = {m.at[0], m.at[1], m.at[2], 0};
    origin[axis] = 0;
    const uint64_t row_reach = floe_stencil_reach(j->shape, origin, ROW); /* along `axis` too, from its first element */
    double ring[LAGS], along_axis[LAGS], along_row[LAGS], squares = 0, now[BATCH], next[BATCH];
    /* ring[(i - 1 - k) % LAGS] is element i - first_lag - k, counting i from the task's first */
#pragma unroll
    for (int k = 0; k < LAGS; k++) {
        ring[LAGS - 1 - k] = element<T>(j, m, lo - first_lag - (uint64_t)k, lo);
        along_axis[k] = along_row[k] = 0;
    }
#pragma unroll
    for (int r = 0; r < BATCH; r++)
        next[r] = element<T>(j, m, lo + (uint64_t)r, m.hi);
    uint32_t buffer = 0;
    bool was_near_end = false;
    __syncthreads(); /* lines may still be read for the task before */
    for (uint64_t base = lo; base < m.hi; base += LAGS) {
#pragma unroll
        for (int phase = 0; phase < LAGS; phase += BATCH) {
            const uint64_t i = base + (uint64_t)phase;
#pragma unroll
            for (int r = 0; r < BATCH; r++) {
                now[r] = next[r];
                next[r] = element<T>(j, m, i + BATCH + (uint64_t)r, m.hi);
            }
            if (WITH_ROW)
                rows_store<T>(j, m, i, now, behind + LAGS, lines[buffer]);
#pragma unroll
            for (int r = 0; r < BATCH; r++) {
#pragma unroll
                for (int k = 0; k < LAGS; k++)
                    along_axis[k] = fma(now[r], ring[(phase + r - 1 - k + 2 * LAGS) % LAGS], along_axis[k]);
                ring[phase + r] = behind ? element<T>(j, m, i + (uint64_t)r - behind, m.hi) : now[r];
                squares = fma(now[r], now[r], squares);
            }
            if (!WITH_ROW)
                continue;
            /* first points near the axis' end have no partners there at the longer lags */
            const bool near_end = m.extent > 1 && i + BATCH + behind + LAGS > m.extent && i < m.hi;
            const uint64_t own = i + my_row;
            if (near_end && !was_near_end)
                flush_alike(along_row, first_lag, row_reach, totals->product[warp][1]);
            was_near_end = near_end;
            __syncthreads();
            row_add(lines[buffer][my_row] + my_pair, first_lag, along_row);
            buffer ^= 1;
            if (near_end)
                flush_alike(along_row, first_lag, floe_min64(row_reach, own < m.extent ? m.extent - 1 - own : 0),
                            totals->product[warp][1]);
        }
    }
    flush(along_axis, first_lag, reach, totals->product[warp][0]);
    if (!WITH_ROW)
        return;
    flush_alike(along_row, first_lag, row_reach, totals->product[warp][1]);
    squares = floe_stencil_warp_sum(squares);
    if (floe_lane() == 0)
        totals->squares[warp] += squares;
}

/* Blocks take stretches of 256 columns in turn, a thread a column. */
template <typename T, bool WITH_ROW>
__global__ void __launch_bounds__(COLUMNS, 2) stencil_lags_kernel(const __grid_constant__ floe_stencil_dev_job job,
                                                                  uint32_t axis, uint32_t first_lag, uint64_t ntasks)
{
    __shared__ double lines[2][BATCH][LINE];
    __shared__ lag_totals totals;
    double *words = &totals.product[0][0][0][0];
    for (uint32_t i = threadIdx.x; i < sizeof totals / sizeof(double); i += COLUMNS)
        words[i] = 0;
    for (uint32_t i = threadIdx.x; i < 2 * BATCH * LINE; i += COLUMNS)
        lines[0][0][i] = 0;
    __syncthreads();
    for (uint64_t i = blockIdx.x; i < ntasks; i += gridDim.x)
        task_add<T, WITH_ROW>(&job, axis, first_lag, i, lines, &totals);
    __syncthreads();
    if (threadIdx.x >= FLOE_STENCIL_LAGS_WORDS)
        return;
    double v = 0;
    for (uint32_t w = 0; w < WARPS; w++)
        v += threadIdx.x < 4 * LAGS ? (&totals.product[w][0][0][0])[threadIdx.x] : totals.squares[w];
    job.parts[(uint64_t)blockIdx.x * FLOE_STENCIL_LAGS_WORDS + threadIdx.x] = v;
}

template <typename T>
void launch(const floe_stencil_dev_job *job, uint32_t axis, bool with_row, uint32_t first_lag, uint64_t ntasks,
            cudaStream_t stream)
{
    const uint32_t nblocks = floe_stencil_blocks(ntasks);
    if (with_row)
        FLOE_LAUNCH((stencil_lags_kernel<T, true>), nblocks, COLUMNS, 0, stream, *job, axis, first_lag, ntasks);
    else
        FLOE_LAUNCH((stencil_lags_kernel<T, false>), nblocks, COLUMNS, 0, stream, *job, axis, first_lag, ntasks);
}

} // namespace

int floe_stencil_lags_cuda(const floe_stencil_dev_job *job, uint32_t axis, bool with_row, uint32_t first_lag,
                           double *words, void *stream)
{
    const uint64_t ntasks = tasks_of(job, axis);
    if (job->narrow)
        launch<float>(job, axis, with_row, first_lag, ntasks, (cudaStream_t)stream);
    else
        launch<double>(job, axis, with_row, first_lag, ntasks, (cudaStream_t)stream);
    const int error = (int)cudaGetLastError();
    return error ? error
                 : floe_stencil_join_parts(job->parts, floe_stencil_blocks(ntasks), FLOE_STENCIL_LAGS_WORDS, 0, words,
                                           (cudaStream_t)stream);
}
