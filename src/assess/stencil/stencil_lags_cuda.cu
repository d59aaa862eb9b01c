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
    BATCH = 2,   /* rows that are in shared memory together; task_add names the batches of LAGS rows */
    CHUNK = 256, /* rows of a task; LAGS and more are read before them */
    LINE = COLUMNS + FLOE_STENCIL_MAX_LAGS + LAGS + 2,
    ROW = FLOE_STENCIL_AXES - 1
};

/* What a block adds up, each warp on its own: [along the axis, along the row][lag][box, rest], and squares. */
struct lag_totals {
    double product[WARPS][2][LAGS][2], squares[WARPS];
};

/* A number that the compiler knows. */
template <int N> struct phase_of {
    static constexpr int value = N;
};

struct march {
    uint64_t at[FLOE_STENCIL_AXES]; /* of the thread's column; along the axis the first element of the task */
    uint64_t extent;                /* of the field along the axis */
    int32_t rows;                   /* of the task: elements of a column */
    int64_t x, y, step_x, step_y;   /* the first of them, and from one to the next */
    bool there;                     /* the column is in the field */
};

/* ---- elements ------------------------------------------------------------------------------------------------------ */

template <typename T> FLOE_DEV double signal_at(const floe_stencil_dev_job *j, int64_t at_x, int64_t at_y)
{
    const T x = ((const T *)j->x)[at_x], y = ((const T *)j->y)[at_y];
    const double signal = (j->alone ? (double)x : (double)y - (double)x) - j->mean;
    if (!j->masked)
        return signal;
    const bool counts = floe_stencil_is_finite(x, j) && floe_stencil_is_finite(y, j);
    return !counts ? 0 : j->counts ? 1 : signal;
}

/* Element `row` of the thread's column; rows count from the task's first. */
template <typename T> FLOE_DEV double element(const floe_stencil_dev_job *j, const march &m, int32_t row)
{
    return signal_at<T>(j, m.x + row * m.step_x, m.y + row * m.step_y);
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
    m.x = floe_stencil_offset(j->dx, m.at[0], m.at[1], m.at[2], m.at[3]);
    m.y = floe_stencil_offset(j->dy, m.at[0], m.at[1], m.at[2], m.at[3]);
    m.extent = 1;
    m.rows = 1;
    m.step_x = m.step_y = 0;
#pragma unroll
    for (int a = 0; a < ROW; a++)
        if (a == (int)axis) {
            m.extent = j->shape[a];
            m.rows = (int32_t)floe_min64(CHUNK, m.extent - m.at[a]);
            m.step_x = j->dx[a], m.step_y = j->dy[a];
        }
    return m;
}

/* ---- adding up ----------------------------------------------------------------------------------------------------- */

/* A thread's sums go to the warp's totals: to the box where the lag is at most `reach`. Seldom, and large when inlined. */
FLOE_DEV_SELDOM void flush_out(const double *sum, uint32_t first_lag, uint64_t reach, double (*total)[2])
{
#pragma unroll 1
    for (uint32_t k = 0; k < LAGS; k++) {
        const bool in_box = first_lag + k <= reach;
        const double box = floe_stencil_warp_sum(in_box ? sum[k] : 0);
        const double rest = floe_stencil_warp_sum(in_box ? 0 : sum[k]);
        if (floe_lane() == 0)
            total[k][0] += box, total[k][1] += rest;
    }
}
FLOE_DEV void flush(double (&sum)[LAGS], uint32_t first_lag, uint64_t reach, double (*total)[2])
{
    double out[LAGS]; /* so that only the copy is in memory */
#pragma unroll
    for (int k = 0; k < LAGS; k++)
        out[k] = sum[k], sum[k] = 0;
    flush_out(out, first_lag, reach, total);
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

/* Where elements of a column are read, one after another: an address is added to, not multiplied out. */
struct cursor {
    int64_t x, y;
    int32_t row;
    bool there; /* the column is in the field */
};

FLOE_DEV cursor cursor_of(const floe_stencil_dev_job *j, const march &m, uint32_t by)
{
    const cursor c = {m.x + (int64_t)by * j->dx[ROW], m.y + (int64_t)by * j->dy[ROW], 0,
                      m.at[ROW] + by < j->shape[ROW]};
    return c;
}

/* The next element; 0 behind the task's last one. */
template <typename T> FLOE_DEV double take(const floe_stencil_dev_job *j, const march &m, cursor *c)
{
    const double v = c->there && c->row < m.rows ? signal_at<T>(j, c->x, c->y) : 0;
    c->x += m.step_x;
    c->y += m.step_y;
    c->row++;
    return v;
}

/* Both rows of a batch to shared memory, with what lies behind the last column. */
template <typename T>
FLOE_DEV void rows_store(const floe_stencil_dev_job *j, const march &m, const double (&now)[BATCH], uint32_t nbehind,
                         cursor *beside, double (*lines)[LINE])
{
#pragma unroll
    for (int r = 0; r < BATCH; r++)
        lines[r][threadIdx.x] = now[r];
    if (threadIdx.x >= nbehind)
        return;
#pragma unroll
    for (int r = 0; r < BATCH; r++)
        lines[r][COLUMNS + threadIdx.x] = take<T>(j, m, beside);
}

/* ---- the march ----------------------------------------------------------------------------------------------------- */

/* A thread's sums, and the elements that its next one meets: ring[(row - 1 - k) % LAGS] is element row - first_lag - k. */
struct lag_sums {
    double ring[LAGS], along_axis[LAGS], along_row[LAGS], squares;
};

/* FAR: first_lag is not 1. */
template <typename T, bool FAR>
FLOE_DEV void sums_begin(const floe_stencil_dev_job *j, const march &m, uint32_t first_lag, uint64_t before,
                         lag_sums *s)
{
#pragma unroll
    for (int k = 0; k < LAGS; k++) {
        const uint32_t back = FAR ? first_lag + (uint32_t)k : (uint32_t)k + 1;
        s->ring[LAGS - 1 - k] = m.there && back <= before ? element<T>(j, m, -(int32_t)back) : 0;
        s->along_axis[k] = s->along_row[k] = 0;
    }
    s->squares = 0;
}

/* A batch of rows meets the elements before it. */
template <typename T, bool FAR, int PHASE>
FLOE_DEV void batch_add(const floe_stencil_dev_job *j, const march &m, int32_t row, uint32_t behind, uint64_t before,
                        const double (&now)[BATCH], lag_sums *s)
{
#pragma unroll
    for (int r = 0; r < BATCH; r++) {
#pragma unroll
        for (int k = 0; k < LAGS; k++)
            s->along_axis[k] = fma(now[r], s->ring[(PHASE + r - 1 - k + 2 * LAGS) % LAGS], s->along_axis[k]);
        s->ring[PHASE + r] = now[r];
        if (FAR) {
            const int32_t back = row + r - (int32_t)behind;
            const bool there = m.there && back < m.rows && (back >= 0 || (uint64_t)-back <= before);
            s->ring[PHASE + r] = there ? element<T>(j, m, back) : 0;
        }
    }
}

/* What of a task the products along the row go by. */
struct row_rule {
    uint32_t first_lag;
    uint64_t reach;   /* of the other axes; of `axis` from its first element on */
    int32_t near_end; /* from this row on first points have no partners along the axis at the longer lags */
};

FLOE_DEV row_rule row_rule_of(const floe_stencil_dev_job *j, const march &m, uint32_t axis, uint32_t first_lag)
{
    uint64_t origin[FLOE_STENCIL_AXES] = {m.at[0], m.at[1], m.at[2], 0};
    origin[axis] = 0;
    const uint64_t last_lag = first_lag + LAGS - 1;
    row_rule rule;
    rule.first_lag = first_lag;
    rule.reach = floe_stencil_reach(j->shape, origin, ROW);
    rule.near_end = CHUNK;
    if (m.extent > 1)
        rule.near_end = (int32_t)floe_min64(m.extent - floe_min64(m.extent, m.at[axis] + last_lag), CHUNK);
    return rule;
}

/* A batch of rows, in which each thread has its column's elements, meets itself. */
template <typename T>
FLOE_DEV void rows_add(const floe_stencil_dev_job *j, const march &m, const row_rule &rule, int32_t row,
                       uint64_t before, const double (&now)[BATCH], cursor *beside, double (*lines)[LINE],
                       double (*total)[2], lag_sums *s)
{
    const uint32_t my_row = threadIdx.x / (COLUMNS / BATCH), my_pair = threadIdx.x % (COLUMNS / BATCH) * 2;
    const bool ending = row + BATCH > rule.near_end && row < m.rows;
    const uint64_t own = before + (uint64_t)row + my_row;
#pragma unroll
    for (int r = 0; r < BATCH; r++)
        s->squares = fma(now[r], now[r], s->squares);
    rows_store<T>(j, m, now, rule.first_lag - 1 + LAGS, beside, lines);
    if (ending && row <= rule.near_end)
        flush(s->along_row, rule.first_lag, rule.reach, total);
    __syncthreads();
    row_add(lines[my_row] + my_pair, rule.first_lag, s->along_row);
    if (ending)
        flush(s->along_row, rule.first_lag, floe_min64(rule.reach, own < m.extent ? m.extent - 1 - own : 0), total);
}

template <typename T, bool WITH_ROW, bool FAR>
FLOE_DEV void task_add(const floe_stencil_dev_job *j, uint32_t axis, uint32_t first_lag, uint64_t task,
                       double (*lines)[BATCH][LINE], lag_totals *totals)
{
    const march m = march_of(j, axis, task);
    const row_rule rule = row_rule_of(j, m, axis, first_lag);
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const uint64_t before = m.at[axis];
    cursor own = cursor_of(j, m, 0), beside = cursor_of(j, m, COLUMNS);
    lag_sums s;
    double now[BATCH], next[BATCH];
    uint32_t buffer = 0;
    sums_begin<T, FAR>(j, m, first_lag, before, &s);
#pragma unroll
    for (int r = 0; r < BATCH; r++)
        next[r] = take<T>(j, m, &own);
    __syncthreads(); /* lines may still be read for the task before */
    const auto batch = [&](auto phase, int32_t base) {
        const int32_t row = base + phase.value;
#pragma unroll
        for (int r = 0; r < BATCH; r++) {
            now[r] = next[r];
            next[r] = take<T>(j, m, &own);
        }
        batch_add<T, FAR, phase.value>(j, m, row, first_lag - 1, before, now, &s);
        if (WITH_ROW)
            rows_add<T>(j, m, rule, row, before, now, &beside, lines[buffer], totals->product[warp][1], &s);
        buffer ^= 1;
    };
#pragma unroll 1
    for (int32_t base = 0; base < m.rows; base += LAGS) {
        batch(phase_of<0>(), base);
        batch(phase_of<2>(), base);
        batch(phase_of<4>(), base);
        batch(phase_of<6>(), base);
        batch(phase_of<8>(), base);
    }
    flush(s.along_axis, first_lag, floe_stencil_reach(j->shape, m.at, axis), totals->product[warp][0]);
    if (WITH_ROW)
        flush(s.along_row, first_lag, rule.reach, totals->product[warp][1]);
    s.squares = floe_stencil_warp_sum(s.squares);
    if (floe_lane() == 0)
        totals->squares[warp] += s.squares;
}

/* Blocks take stretches of 256 columns in turn, a thread a column. */
template <typename T, bool WITH_ROW, bool FAR>
__global__ void __launch_bounds__(COLUMNS, 2) stencil_lags_kernel(const __grid_constant__ floe_stencil_dev_job job,
                                                                  uint32_t axis, uint32_t first_lag, uint64_t ntasks)
{
    __shared__ double lines[2][BATCH][LINE];
    __shared__ lag_totals totals;
    double *words = &totals.product[0][0][0][0], *elements = &lines[0][0][0];
    for (uint32_t i = threadIdx.x; i < sizeof totals / sizeof(double); i += COLUMNS)
        words[i] = 0;
    for (uint32_t i = threadIdx.x; i < 2 * BATCH * LINE; i += COLUMNS)
        elements[i] = 0;
    __syncthreads();
    for (uint64_t i = blockIdx.x; i < ntasks; i += gridDim.x)
        task_add<T, WITH_ROW, FAR>(&job, axis, first_lag, i, lines, &totals);
    __syncthreads();
    if (threadIdx.x >= FLOE_STENCIL_LAGS_WORDS)
        return;
    double v = 0;
    for (uint32_t w = 0; w < WARPS; w++)
        v += threadIdx.x < 4 * LAGS ? (&totals.product[w][0][0][0])[threadIdx.x] : totals.squares[w];
    job.parts[(uint64_t)blockIdx.x * FLOE_STENCIL_LAGS_WORDS + threadIdx.x] = v;
}

template <typename T, bool FAR>
void launch(const floe_stencil_dev_job *job, uint32_t axis, bool with_row, uint32_t first_lag, uint64_t ntasks,
            cudaStream_t stream)
{
    const uint32_t nblocks = floe_stencil_blocks(ntasks);
    if (with_row)
        FLOE_LAUNCH((stencil_lags_kernel<T, true, FAR>), nblocks, COLUMNS, 0, stream, *job, axis, first_lag, ntasks);
    else
        FLOE_LAUNCH((stencil_lags_kernel<T, false, FAR>), nblocks, COLUMNS, 0, stream, *job, axis, first_lag, ntasks);
}

template <typename T>
void launch_real(const floe_stencil_dev_job *job, uint32_t axis, bool with_row, uint32_t first_lag, uint64_t ntasks,
                 cudaStream_t stream)
{
    if (first_lag == 1)
        launch<T, false>(job, axis, with_row, first_lag, ntasks, stream);
    else
        launch<T, true>(job, axis, with_row, first_lag, ntasks, stream);
}

} // namespace

int floe_stencil_lags_cuda(const floe_stencil_dev_job *job, uint32_t axis, bool with_row, uint32_t first_lag,
                           double *words, void *stream)
{
    const uint64_t ntasks = tasks_of(job, axis);
    if (job->narrow)
        launch_real<float>(job, axis, with_row, first_lag, ntasks, (cudaStream_t)stream);
    else
        launch_real<double>(job, axis, with_row, first_lag, ntasks, (cudaStream_t)stream);
    const int error = (int)cudaGetLastError();
    return error ? error
                 : floe_stencil_join_parts(job->parts, floe_stencil_blocks(ntasks), FLOE_STENCIL_LAGS_WORDS, 0, words,
                                           (cudaStream_t)stream);
}
