/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derivatives on a GPU. A block owns tiles of 256 columns and marches along z: three planes of a tile with its border lie in
 * shared memory as doubles, of which one is being fetched while another is worked on. Half of the block's threads find first
 * derivatives, the other half second ones of the same columns: so a thread's sums fit its registers.
 */
#include "assess/stencil/stencil_cuda.cuh"

namespace
{

enum {
    COLUMNS = 256,
    THREADS = 2 * COLUMNS,
    WARPS = THREADS / FLOE_WARP,
    CHUNK = 64, /* planes of a task; two more are read */
    PLANES = 3
};

struct __align__(16) cell { double f, e; /* a value, NaN where the pair does not count, and the error */ };

/* Tiles are TX columns wide; a plane has a border of one cell around. */
template <int TX> struct tile {
    enum { X = TX, Y = COLUMNS / TX, PX = X + 2, PY = Y + 2, CELLS = PX * PY, LOADS = (CELLS + THREADS - 1) / THREADS };
};

struct task {
    uint64_t w, z0, z1, y0, x0;
};

template <int TX> FLOE_HD uint64_t tasks_of(const floe_stencil_dev_job *j)
{
    return j->shape[0] * floe_ceil_div(j->shape[1], CHUNK) * floe_ceil_div(j->shape[2], tile<TX>::Y) *
           floe_ceil_div(j->shape[3], TX);
}

/* Tiles that lie side by side are at work together, so their borders come from the cache. */
template <int TX> FLOE_DEV task task_of(const floe_stencil_dev_job *j, uint64_t i)
{
    const uint64_t nx = floe_ceil_div(j->shape[3], TX), ny = floe_ceil_div(j->shape[2], tile<TX>::Y);
    const uint64_t nz = floe_ceil_div(j->shape[1], CHUNK);
    task t;
    t.x0 = i % nx * TX;
    t.y0 = i / nx % ny * tile<TX>::Y;
    t.z0 = i / nx / ny % nz * CHUNK;
    t.z1 = floe_min64(t.z0 + CHUNK, j->shape[1]);
    t.w = i / nx / ny / nz;
    return t;
}

/* ---- cells --------------------------------------------------------------------------------------------------------- */

template <typename T> FLOE_DEV cell cell_at(const floe_stencil_dev_job *j, int64_t at_x, int64_t at_y)
{
    const T x = ((const T *)j->x)[at_x], y = ((const T *)j->y)[at_y];
    cell c = {(double)x, (double)y - (double)x};
    if (j->masked && !(floe_stencil_is_finite(x, j) && floe_stencil_is_finite(y, j))) {
        c.f = floe_f64_of((uint64_t)0x7ff8 << 48);
        c.e = 0;
    }
    return c;
}

/* The cells of a plane that a thread fetches: where they lie in plane 0 of the field. */
template <int TX> struct fetcher {
    int64_t at_x[tile<TX>::LOADS], at_y[tile<TX>::LOADS];
    bool there[tile<TX>::LOADS];
};

template <int TX> FLOE_DEV fetcher<TX> fetcher_of(const floe_stencil_dev_job *j, const task &t)
{
    fetcher<TX> g;
#pragma unroll
    for (int k = 0; k < tile<TX>::LOADS; k++) {
        const uint32_t i = threadIdx.x + (uint32_t)k * THREADS;
        /* one before the tile wraps to a huge number outside of the field */
        const uint64_t x = t.x0 + i % tile<TX>::PX - 1, y = t.y0 + i / tile<TX>::PX - 1;
        g.there[k] = i < tile<TX>::CELLS && x < j->shape[3] && y < j->shape[2];
        g.at_x[k] = g.there[k] ? floe_stencil_offset(j->dx, t.w, 0, y, x) : 0;
        g.at_y[k] = g.there[k] ? floe_stencil_offset(j->dy, t.w, 0, y, x) : 0;
    }
    return g;
}

template <typename T, int TX>
FLOE_DEV void plane_load(const floe_stencil_dev_job *j, const fetcher<TX> &g, uint64_t z, cell (&c)[tile<TX>::LOADS])
{
#pragma unroll
    for (int k = 0; k < tile<TX>::LOADS; k++) {
        const cell none = {0, 0};
        c[k] = none;
        if (g.there[k])
            c[k] = cell_at<T>(j, g.at_x[k] + (int64_t)z * j->dx[1], g.at_y[k] + (int64_t)z * j->dy[1]);
    }
}

template <int TX> FLOE_DEV void plane_store(cell *plane, const cell (&c)[tile<TX>::LOADS])
{
#pragma unroll
    for (int k = 0; k < tile<TX>::LOADS; k++)
        if (threadIdx.x + (uint32_t)k * THREADS < tile<TX>::CELLS)
            plane[threadIdx.x + (uint32_t)k * THREADS] = c[k];
}

/* ---- a point ------------------------------------------------------------------------------------------------------- */

/* A point and its neighbours along w, z, y, x; what lies along axes without derivatives is not looked at. */
struct around {
    cell at, minus[FLOE_STENCIL_AXES], plus[FLOE_STENCIL_AXES];
};

/* Sums of an order: of axes FIRST to 3, and of what joins the axes. First derivatives are steps, not halved yet; squares of
 * lengths are those of the axes. */
template <int FIRST> struct order_sums {
    floe_stencil_moments axis[FLOE_STENCIL_AXES - FIRST], sum, length, trace;
    uint32_t npoints, nskipped;
};

FLOE_DEV void extremes_add(floe_stencil_moments *m, double f, double g, double e)
{
    m->min[0] = f < m->min[0] ? f : m->min[0];
    m->max[0] = f > m->max[0] ? f : m->max[0];
    m->min[1] = g < m->min[1] ? g : m->min[1];
    m->max[1] = g > m->max[1] ? g : m->max[1];
    m->max_error = fabs(e) > m->max_error ? fabs(e) : m->max_error;
    m->error_squares = fma(e, e, m->error_squares);
}

FLOE_DEV void moments_add(floe_stencil_moments *m, double f, double g, double e)
{
    extremes_add(m, f, g, e);
    m->squares[0] = fma(f, f, m->squares[0]);
    m->squares[1] = fma(g, g, m->squares[1]);
}

template <int FIRST> FLOE_DEV bool point_counts(const around &r, uint32_t active)
{
    bool counts = r.at.f == r.at.f;
#pragma unroll
    for (int a = FIRST; a < FLOE_STENCIL_AXES; a++)
        if (active >> a & 1)
            counts = counts && r.minus[a].f == r.minus[a].f && r.plus[a].f == r.plus[a].f;
    return counts;
}

/* What joins the axes at a point. */
struct joined {
    double sum_f, sum_g, squares_f, squares_g, trace_f, trace_e;
};

/* Squares are not fused: lengths are the CPU's to the last bit, and so are the differences that nearly cancel. */
FLOE_DEV joined joined_with(const joined &j, double f, double g, double e)
{
    const joined n = {j.sum_f + fabs(f),   j.sum_g + fabs(g), j.squares_f + f * f,
                      j.squares_g + g * g, j.trace_f + f,     j.trace_e + e};
    return n;
}

template <int ORDER> FLOE_DEV double derivative(double minus, double at, double plus)
{
    return ORDER == 1 ? floe_stencil_step(minus, plus) : floe_stencil_second(minus, at, plus);
}

/* ALL: the axes FIRST to 3 all have derivatives. */
template <int ORDER, int FIRST, bool ALL>
FLOE_DEV void point_add(const around &r, uint32_t active, order_sums<FIRST> *s)
{
    joined j = {0, 0, 0, 0, 0, 0};
#pragma unroll
    for (int a = FIRST; a < FLOE_STENCIL_AXES; a++) {
        if (!ALL && !(active >> a & 1))
            continue;
        const double f = derivative<ORDER>(r.minus[a].f, r.at.f, r.plus[a].f);
        const double e = derivative<ORDER>(r.minus[a].e, r.at.e, r.plus[a].e), g = f + e;
        const joined begun = {fabs(f), fabs(g), f * f, g * g, f, e};
        moments_add(&s->axis[a - FIRST], f, g, e);
        j = ALL && a == FIRST ? begun : joined_with(j, f, g, e);
    }
    const double length_f = sqrt(j.squares_f), length_g = sqrt(j.squares_g);
    moments_add(&s->sum, j.sum_f, j.sum_g, j.sum_g - j.sum_f);
    extremes_add(&s->length, length_f, length_g, length_g - length_f);
    moments_add(&s->trace, j.trace_f, j.trace_f + j.trace_e, j.trace_e);
}

/* ---- the march ----------------------------------------------------------------------------------------------------- */

/* Where a thread's column lies. */
struct column {
    uint32_t own; /* cell of a plane */
    bool first_order, inside;
    int64_t at_x, at_y; /* in plane 0 */
};

template <int TX> FLOE_DEV column column_of(const floe_stencil_dev_job *j, const task &t)
{
    const uint32_t i = threadIdx.x % COLUMNS, along_y = j->active >> 2 & 1, along_x = j->active >> 3 & 1;
    const uint64_t x = t.x0 + i % TX, y = t.y0 + i / TX;
    column c;
    c.own = (i / TX + 1) * tile<TX>::PX + i % TX + 1;
    c.first_order = threadIdx.x < COLUMNS;
    c.inside = x >= along_x && x + along_x < j->shape[3] && y >= along_y && y + along_y < j->shape[2];
    c.at_x = floe_stencil_offset(j->dx, t.w, 0, y, x);
    c.at_y = floe_stencil_offset(j->dy, t.w, 0, y, x);
    return c;
}

/* The point of a column in plane z, of which before and after are the neighbours along z. */
template <typename T, int TX, int FIRST, bool ALL>
FLOE_DEV void column_add(const floe_stencil_dev_job *j, const column &c, const cell *plane, uint64_t z, cell before,
                         cell at, cell after, order_sums<FIRST> *s)
{
    around r;
    r.at = at;
    r.minus[1] = before, r.plus[1] = after;
    r.minus[2] = plane[c.own - tile<TX>::PX], r.plus[2] = plane[c.own + tile<TX>::PX];
    r.minus[3] = plane[c.own - 1], r.plus[3] = plane[c.own + 1];
    if (FIRST == 0 && (j->active & 1)) {
        const int64_t at_x = c.at_x + (int64_t)z * j->dx[1], at_y = c.at_y + (int64_t)z * j->dy[1];
        r.minus[0] = cell_at<T>(j, at_x - j->dx[0], at_y - j->dy[0]);
        r.plus[0] = cell_at<T>(j, at_x + j->dx[0], at_y + j->dy[0]);
    }
    if (j->masked && !point_counts<FIRST>(r, j->active)) {
        s->nskipped++;
        return;
    }
    s->npoints++;
    if (c.first_order)
        point_add<1, FIRST, ALL>(r, j->active, s);
    else
        point_add<2, FIRST, ALL>(r, j->active, s);
}

template <typename T, int TX, int FIRST, bool ALL>
FLOE_DEV void task_add(const floe_stencil_dev_job *j, const task &t, cell (*planes)[tile<TX>::CELLS],
                       order_sums<FIRST> *s)
{
    const uint32_t edge = j->active >> 1 & 1, along_w = j->active & 1;
    const uint64_t lo = floe_max64(t.z0, edge), hi = floe_min64(t.z1, j->shape[1] - edge), first = lo - edge;
    if (lo >= hi || t.w < along_w || t.w + along_w >= j->shape[0])
        return;
    const fetcher<TX> g = fetcher_of<TX>(j, t);
    const column c = column_of<TX>(j, t);
    cell fetched[tile<TX>::LOADS], before, at, after;
    __syncthreads(); /* the planes may still be read for the task before */
    for (uint32_t k = 0; k <= 2 * edge; k++) {
        plane_load<T, TX>(j, g, first + k, fetched);
        plane_store<TX>(planes[k], fetched);
    }
    __syncthreads();
    before = planes[0][c.own];
    __syncthreads(); /* the first plane makes room for the next one fetched */
    for (uint64_t z = lo; z < hi; z++) {
        const uint32_t now = (uint32_t)(z - first) % PLANES, next = (uint32_t)(z - first + 1) % PLANES;
        const bool more = z + 1 < hi;
        if (more)
            plane_load<T, TX>(j, g, z + edge + 1, fetched);
        at = planes[now][c.own];
        after = edge ? planes[next][c.own] : at;
        if (c.inside)
            column_add<T, TX, FIRST, ALL>(j, c, planes[now], z, before, at, after, s);
        before = at;
        if (more)
            plane_store<TX>(planes[(uint32_t)(z - first + edge + 1) % PLANES], fetched);
        __syncthreads();
    }
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */

/* A warp's words of one slot go to shared memory, in units of `unit`. */
FLOE_DEV void slot_collect(const floe_stencil_moments &m, double unit, double *words)
{
    const double v[FLOE_STENCIL_MOMENTS] = {m.min[0],     m.min[1],     m.max[0],    m.max[1],
                                            m.squares[0], m.squares[1], m.max_error, m.error_squares};
#pragma unroll
    for (uint32_t k = 0; k < FLOE_STENCIL_MOMENTS; k++) {
        const bool is_square = floe_stencil_join_of(k) == FLOE_STENCIL_SUM;
        const double joined = floe_stencil_warp_join(floe_stencil_join_of(k), v[k]);
        if (floe_lane() == 0)
            words[k] = is_square ? joined * unit * unit : joined * unit;
    }
}

template <int FIRST> FLOE_DEV void lengths_square(order_sums<FIRST> *s)
{
#pragma unroll
    for (int a = FIRST; a < FLOE_STENCIL_AXES; a++)
        for (int side = 0; side < 2; side++)
            s->length.squares[side] += s->axis[a - FIRST].squares[side];
}

/* The block's words: those of its warps, in order; the first half of them has the first order. */
template <int FIRST>
FLOE_DEV void block_write(const order_sums<FIRST> &s, double (*words)[FLOE_STENCIL_ORDER_WORDS + 2], double *part)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const double unit = warp < WARPS / 2 ? 0.5 : 1; /* steps are halved; Eq. 1 has no half */
    floe_stencil_moments none;
    floe_stencil_moments_init(&none);
#pragma unroll
    for (int a = 0; a < FLOE_STENCIL_AXES; a++)
        slot_collect(a < FIRST ? none : s.axis[a < FIRST ? 0 : a - FIRST], unit,
                     words[warp] + a * FLOE_STENCIL_MOMENTS);
    slot_collect(s.sum, 1, words[warp] + FLOE_STENCIL_AXES * FLOE_STENCIL_MOMENTS);
    slot_collect(s.length, unit, words[warp] + (FLOE_STENCIL_AXES + 1) * FLOE_STENCIL_MOMENTS);
    slot_collect(s.trace, unit, words[warp] + (FLOE_STENCIL_AXES + 2) * FLOE_STENCIL_MOMENTS);
    const double npoints = floe_stencil_warp_sum(s.npoints), nskipped = floe_stencil_warp_sum(s.nskipped);
    if (floe_lane() == 0)
        words[warp][FLOE_STENCIL_ORDER_WORDS] = npoints, words[warp][FLOE_STENCIL_ORDER_WORDS + 1] = nskipped;
    __syncthreads();
    if (threadIdx.x >= FLOE_STENCIL_POINTS_WORDS)
        return;
    const uint32_t order = threadIdx.x / FLOE_STENCIL_ORDER_WORDS; /* 2: the counts, which both halves have */
    const uint32_t from = order == 1 ? WARPS / 2 : 0,
                   word = order < 2 ? threadIdx.x % FLOE_STENCIL_ORDER_WORDS : threadIdx.x - FLOE_STENCIL_ORDER_WORDS;
    const floe_stencil_join how = order < 2 ? floe_stencil_join_of(word % FLOE_STENCIL_MOMENTS) : FLOE_STENCIL_SUM;
    double v = words[from][word];
    for (uint32_t k = from + 1; k < from + WARPS / 2; k++)
        v = floe_stencil_joined(how, v, words[k][word]);
    part[threadIdx.x] = v;
}

/* Blocks take tiles in turn; a thread one order of a column. FIRST 0: the axis w has derivatives too. */
template <typename T, int TX, int FIRST, bool ALL>
__global__ void __launch_bounds__(THREADS, 1)
    stencil_points_kernel(const __grid_constant__ floe_stencil_dev_job job, uint64_t ntasks)
{
    __shared__ cell planes[PLANES][tile<TX>::CELLS];
    __shared__ double words[WARPS][FLOE_STENCIL_ORDER_WORDS + 2];
    order_sums<FIRST> s;
#pragma unroll
    for (int a = FIRST; a < FLOE_STENCIL_AXES; a++)
        floe_stencil_moments_init(&s.axis[a - FIRST]);
    floe_stencil_moments_init(&s.sum);
    floe_stencil_moments_init(&s.length);
    floe_stencil_moments_init(&s.trace);
    s.npoints = s.nskipped = 0;
    for (uint64_t i = blockIdx.x; i < ntasks; i += gridDim.x)
        task_add<T, TX, FIRST, ALL>(&job, task_of<TX>(&job, i), planes, &s);
    lengths_square(&s);
    block_write<FIRST>(s, words, job.parts + (uint64_t)blockIdx.x * FLOE_STENCIL_POINTS_WORDS);
}

template <typename T, int TX, int FIRST, bool ALL>
int launch(const floe_stencil_dev_job *job, double *words, cudaStream_t stream)
{
    const uint64_t ntasks = tasks_of<TX>(job);
    const uint32_t nblocks = floe_stencil_blocks(ntasks);
    FLOE_LAUNCH((stencil_points_kernel<T, TX, FIRST, ALL>), nblocks, THREADS, 0, stream, *job, ntasks);
    const int error = (int)cudaGetLastError();
    return error ? error
                 : floe_stencil_join_parts(job->parts, nblocks, FLOE_STENCIL_POINTS_WORDS, 2 * FLOE_STENCIL_ORDER_WORDS,
                                           words, stream);
}

template <typename T> int launch_real(const floe_stencil_dev_job *job, double *words, cudaStream_t stream)
{
    if (job->active & 1)
        return launch<T, 32, 0, false>(job, words, stream);
    if (job->active == 0xe)
        return launch<T, 32, 1, true>(job, words, stream);
    return job->shape[2] == 1 ? launch<T, 256, 1, false>(job, words, stream)
                              : launch<T, 32, 1, false>(job, words, stream);
}

} // namespace

int floe_stencil_points_cuda(const floe_stencil_dev_job *job, double *words, void *stream)
{
    return job->narrow ? launch_real<float>(job, words, (cudaStream_t)stream)
                       : launch_real<double>(job, words, (cudaStream_t)stream);
}
