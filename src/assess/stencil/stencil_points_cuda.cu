/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derivatives on a GPU. A block owns tiles of 256 columns and marches along z: three planes of a tile with its border lie in
 * shared memory as doubles, of which one is being fetched while another is worked on. Half of the block's threads find first
 * derivatives, the other half second ones of the same columns: so a thread's sums fit its registers.
 *
 * Extremes would cost more than all the rest, so a value is looked at closely only where it may be beyond the extremes of a
 * sample, some planes of some tiles that the kernel has gone through before. For that the upper half of a double is compared
 * as a whole number; where that cannot tell, the point is worked out once more.
 */
#include "assess/stencil/stencil_cuda.cuh"

namespace
{

enum {
    COLUMNS = 256,
    THREADS = 2 * COLUMNS,
    WARPS = THREADS / FLOE_WARP,
    CHUNK = 64,        /* planes of a task; two more are read */
    SAMPLE_TASKS = 64, /* each one out of that many tasks has a part in the sample, */
    SAMPLE_PLANES = 8, /* of this many planes; */
    FEW_TASKS = 128,   /* fewer than this are all looked at closely: the sample would cost more than it spares */
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

enum { SUM = FLOE_STENCIL_AXES, LENGTH, TRACE, SLOTS = FLOE_STENCIL_SLOTS }; /* slots; those before are of axes */

/* Sums of a quantity. First derivatives are steps, not halved yet; squares of lengths are those of the axes. */
struct squares {
    double f, g, e;
};

struct order_sums {
    squares of[SLOTS];
    uint32_t npoints, nskipped;
};

FLOE_DEV void squares_add(squares *s, double f, double g, double e)
{
    s->f = fma(f, f, s->f);
    s->g = fma(g, g, s->g);
    s->e = fma(e, e, s->e);
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

/* Hands all quantities of a point to visit(slot, original, decoded, difference). ALL: the axes FIRST to 3 all have
 * derivatives. */
template <int ORDER, int FIRST, bool ALL, class VISIT>
FLOE_DEV void quantities(const around &r, uint32_t active, const VISIT &visit)
{
    joined j = {0, 0, 0, 0, 0, 0};
#pragma unroll
    for (int a = FIRST; a < FLOE_STENCIL_AXES; a++) {
        if (!ALL && !(active >> a & 1))
            continue;
        const double f = derivative<ORDER>(r.minus[a].f, r.at.f, r.plus[a].f);
        const double e = derivative<ORDER>(r.minus[a].e, r.at.e, r.plus[a].e), g = f + e;
        const joined begun = {fabs(f), fabs(g), f * f, g * g, f, e};
        visit(a, f, g, e);
        j = ALL && a == FIRST ? begun : joined_with(j, f, g, e);
    }
    const double length_f = sqrt(j.squares_f), length_g = sqrt(j.squares_g);
    visit(SUM, j.sum_f, j.sum_g, j.sum_g - j.sum_f);
    visit(LENGTH, length_f, length_g, length_g - length_f);
    visit(TRACE, j.trace_f, j.trace_f + j.trace_e, j.trace_e);
}

/* ---- extremes ------------------------------------------------------------------------------------------------------ */

FLOE_DEV uint32_t upper(double v) { return (uint32_t)(floe_bits_f64(v) >> 32); }

/* What a quantity has to reach to be looked at closely: (upper ^ flip) >= least, as signed numbers, for maxima and minima of
 * original and decoded; the error itself. Magnitudes are never negative and often 0: their minima are compared as they are. */
struct __align__(16) limit
{
    int32_t flip[4], least[4];
    double error, low[2];
};

/* With flip the halves of numbers on one side of 0 grow towards the extreme, and all of the other side are below, or above,
 * as they should: upward from 0, downward from 0, down to 0, up to 0. */
FLOE_DEV int32_t flip_of(double extreme, bool is_max)
{
    const bool negative = upper(extreme) >> 31;
    return (int32_t)(is_max ? (negative ? 0x7fffffffu : 0u) : (negative ? 0x80000000u : 0xffffffffu));
}

/* Limits from the moments of a sample in units of `unit`; without one everything reaches them. */
FLOE_DEV limit limit_of(const double *moments, double unit)
{
    const double inf = floe_f64_of((uint64_t)0x7ff0 << 48);
    limit l = {{0, 0, 0, 0}, {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN}, -1, {inf, inf}};
    if (!moments)
        return l;
    for (int k = 0; k < 4; k++) {
        const bool is_max = k < 2;
        const double extreme = (is_max ? moments[2 + k] : moments[k - 2]) / unit;
        l.flip[k] = flip_of(extreme, is_max);
        l.least[k] = (int32_t)upper(extreme) ^ l.flip[k];
    }
    l.error = moments[6] / unit;
    l.low[0] = moments[0] / unit, l.low[1] = moments[1] / unit;
    return l;
}

/* All is compared, since branches would cost more. */
FLOE_DEV bool reaches(const limit &l, int slot, double f, double g, double e)
{
    const int32_t uf = (int32_t)upper(f), ug = (int32_t)upper(g);
    const bool high = ((uf ^ l.flip[0]) >= l.least[0]) | ((ug ^ l.flip[1]) >= l.least[1]) | (fabs(e) > l.error);
    if (slot == SUM || slot == LENGTH)
        return high | (f < l.low[0]) | (g < l.low[1]);
    return high | ((uf ^ l.flip[2]) >= l.least[2]) | ((ug ^ l.flip[3]) >= l.least[3]);
}

FLOE_DEV void extremes_note(floe_stencil_moments *m, double f, double g, double e)
{
    m->min[0] = f < m->min[0] ? f : m->min[0];
    m->max[0] = f > m->max[0] ? f : m->max[0];
    m->min[1] = g < m->min[1] ? g : m->min[1];
    m->max[1] = g > m->max[1] ? g : m->max[1];
    m->max_error = fabs(e) > m->max_error ? fabs(e) : m->max_error;
}

/* Adds up a point; true where some quantity may be an extreme. */
template <int ORDER, int FIRST, bool ALL>
FLOE_DEV bool point_add(const around &r, uint32_t active, const limit *limits, order_sums *s)
{
    bool any = false;
    quantities<ORDER, FIRST, ALL>(r, active, [&](int slot, double f, double g, double e) {
        if (slot == LENGTH)
            s->of[slot].e = fma(e, e, s->of[slot].e);
        else
            squares_add(&s->of[slot], f, g, e);
        any |= reaches(limits[slot], slot, f, g, e);
    });
    return any;
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

/* A point of a column: its plane, and along z what is before and after. */
struct spot {
    const cell *plane;
    uint64_t z;
    cell before, at, after;
};

template <typename T, int TX, int FIRST>
FLOE_DEV around around_of(const floe_stencil_dev_job *j, const column &c, const spot &p)
{
    around r;
    r.at = p.at;
    r.minus[1] = p.before, r.plus[1] = p.after;
    r.minus[2] = p.plane[c.own - tile<TX>::PX], r.plus[2] = p.plane[c.own + tile<TX>::PX];
    r.minus[3] = p.plane[c.own - 1], r.plus[3] = p.plane[c.own + 1];
    if (FIRST == 0 && (j->active & 1)) {
        const int64_t at_x = c.at_x + (int64_t)p.z * j->dx[1], at_y = c.at_y + (int64_t)p.z * j->dy[1];
        r.minus[0] = cell_at<T>(j, at_x - j->dx[0], at_y - j->dy[0]);
        r.plus[0] = cell_at<T>(j, at_x + j->dx[0], at_y + j->dy[0]);
    }
    return r;
}

/* Takes note of a point's quantities where they are extremes; these lie in local memory, since they hardly ever change. */
template <typename T, int TX, int FIRST>
FLOE_DEV_SELDOM void spot_note(const floe_stencil_dev_job *j, const column *c, const spot *p,
                               floe_stencil_moments *extremes)
{
    const around r = around_of<T, TX, FIRST>(j, *c, *p);
    const auto note = [&](int slot, double f, double g, double e) { extremes_note(&extremes[slot], f, g, e); };
    if (c->first_order)
        quantities<1, FIRST, false>(r, j->active, note);
    else
        quantities<2, FIRST, false>(r, j->active, note);
}

template <typename T, int TX, int FIRST, bool ALL>
FLOE_DEV void spot_add(const floe_stencil_dev_job *j, const column &c, const spot &p, const limit (*limits)[SLOTS],
                       floe_stencil_moments *extremes, order_sums *s)
{
    const around r = around_of<T, TX, FIRST>(j, c, p);
    if (j->masked && !point_counts<FIRST>(r, j->active)) {
        s->nskipped++;
        return;
    }
    s->npoints++;
    const bool any = c.first_order ? point_add<1, FIRST, ALL>(r, j->active, limits[0], s)
                                   : point_add<2, FIRST, ALL>(r, j->active, limits[1], s);
    if (any) {
        const column own = c; /* copies, so that only these are in memory */
        const spot point = p;
        spot_note<T, TX, FIRST>(j, &own, &point, extremes);
    }
}

template <typename T, int TX, int FIRST, bool ALL>
FLOE_DEV void task_add(const floe_stencil_dev_job *j, const task &t, cell (*planes)[tile<TX>::CELLS],
                       const limit (*limits)[SLOTS], floe_stencil_moments *extremes, order_sums *s)
{
    const uint32_t edge = j->active >> 1 & 1, along_w = j->active & 1;
    const uint64_t lo = floe_max64(t.z0, edge), hi = floe_min64(t.z1, j->shape[1] - edge), first = lo - edge;
    if (lo >= hi || t.w < along_w || t.w + along_w >= j->shape[0])
        return;
    const fetcher<TX> g = fetcher_of<TX>(j, t);
    const column c = column_of<TX>(j, t);
    cell fetched[tile<TX>::LOADS];
    spot p;
    __syncthreads(); /* the planes may still be read for the task before */
    for (uint32_t k = 0; k <= 2 * edge; k++) {
        plane_load<T, TX>(j, g, first + k, fetched);
        plane_store<TX>(planes[k], fetched);
    }
    __syncthreads();
    p.before = planes[0][c.own];
    __syncthreads(); /* the first plane makes room for the next one fetched */
    for (uint64_t z = lo; z < hi; z++) {
        const uint32_t now = (uint32_t)(z - first) % PLANES, next = (uint32_t)(z - first + 1) % PLANES;
        const bool more = z + 1 < hi;
        if (more)
            plane_load<T, TX>(j, g, z + edge + 1, fetched);
        p.plane = planes[now];
        p.z = z;
        p.at = planes[now][c.own];
        p.after = edge ? planes[next][c.own] : p.at;
        if (c.inside)
            spot_add<T, TX, FIRST, ALL>(j, c, p, limits, extremes, s);
        p.before = p.at;
        if (more)
            plane_store<TX>(planes[(uint32_t)(z - first + edge + 1) % PLANES], fetched);
        __syncthreads();
    }
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */

/* A warp's words of one slot go to shared memory, in units of `unit`. */
FLOE_DEV void slot_collect(const floe_stencil_moments &m, const squares &q, double unit, double *words)
{
    const double v[FLOE_STENCIL_MOMENTS] = {m.min[0], m.min[1], m.max[0], m.max[1], q.f, q.g, m.max_error, q.e};
#pragma unroll
    for (uint32_t k = 0; k < FLOE_STENCIL_MOMENTS; k++) {
        const bool is_square = floe_stencil_join_of(k) == FLOE_STENCIL_SUM;
        const double joined = floe_stencil_warp_join(floe_stencil_join_of(k), v[k]);
        if (floe_lane() == 0)
            words[k] = is_square ? joined * unit * unit : joined * unit;
    }
}

FLOE_DEV void lengths_square(order_sums *s)
{
#pragma unroll
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        s->of[LENGTH].f += s->of[a].f;
        s->of[LENGTH].g += s->of[a].g;
    }
}

/* The block's words: those of its warps, in order; the first half of them has the first order. */
FLOE_DEV void block_write(const order_sums &s, const floe_stencil_moments *extremes,
                          double (*words)[FLOE_STENCIL_ORDER_WORDS + 2], double *part)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const double unit = warp < WARPS / 2 ? 0.5 : 1; /* steps are halved; Eq. 1 has no half */
#pragma unroll
    for (int k = 0; k < SLOTS; k++)
        slot_collect(extremes[k], s.of[k], k == SUM ? 1 : unit, words[warp] + k * FLOE_STENCIL_MOMENTS);
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

/* Blocks take tiles in turn; a thread one order of a column. FIRST 0: the axis w has derivatives too. sample: words of a
 * sample; NULL: there is none, or this is the sample itself. */
template <typename T, int TX, int FIRST, bool ALL>
__global__ void __launch_bounds__(THREADS, 1)
    stencil_points_kernel(const __grid_constant__ floe_stencil_dev_job job, uint64_t ntasks, bool is_sample,
                          const double *sample)
{
    __shared__ cell planes[PLANES][tile<TX>::CELLS];
    __shared__ double words[WARPS][FLOE_STENCIL_ORDER_WORDS + 2];
    __shared__ limit limits[2][SLOTS];
    floe_stencil_moments extremes[SLOTS];
    order_sums s;
    memset(&s, 0, sizeof s);
    for (int k = 0; k < SLOTS; k++)
        floe_stencil_moments_init(&extremes[k]);
    if (threadIdx.x < 2 * SLOTS) {
        const uint32_t order = threadIdx.x / SLOTS, slot = threadIdx.x % SLOTS;
        limits[order][slot] =
            limit_of(sample ? sample + threadIdx.x * FLOE_STENCIL_MOMENTS : NULL, order == 0 && slot != SUM ? 0.5 : 1);
    }
    __syncthreads();
    const uint32_t step = is_sample ? SAMPLE_TASKS : 1;
    for (uint64_t i = (uint64_t)blockIdx.x * step; i < ntasks; i += (uint64_t)gridDim.x * step) {
        task t = task_of<TX>(&job, i);
        if (is_sample)
            t.z1 = floe_min64(t.z1, t.z0 + SAMPLE_PLANES);
        task_add<T, TX, FIRST, ALL>(&job, t, planes, limits, extremes, &s);
    }
    lengths_square(&s);
    block_write(s, extremes, words, job.parts + (uint64_t)blockIdx.x * FLOE_STENCIL_POINTS_WORDS);
}

template <typename T, int TX, int FIRST, bool ALL>
int run(const floe_stencil_dev_job *job, uint64_t ntasks, bool is_sample, const double *sample, double *words,
        cudaStream_t stream)
{
    const uint32_t nblocks = floe_stencil_blocks(is_sample ? ntasks / SAMPLE_TASKS : ntasks);
    FLOE_LAUNCH((stencil_points_kernel<T, TX, FIRST, ALL>), nblocks, THREADS, 0, stream, *job, ntasks, is_sample,
                sample);
    const int error = (int)cudaGetLastError();
    return error ? error
                 : floe_stencil_join_parts(job->parts, nblocks, FLOE_STENCIL_POINTS_WORDS, 2 * FLOE_STENCIL_ORDER_WORDS,
                                           words, stream);
}

template <typename T, int TX, int FIRST, bool ALL>
int launch(const floe_stencil_dev_job *job, double *words, cudaStream_t stream)
{
    const uint64_t ntasks = tasks_of<TX>(job);
    double *sample = words + FLOE_STENCIL_POINTS_WORDS;
    if (ntasks < FEW_TASKS)
        return run<T, TX, FIRST, ALL>(job, ntasks, false, NULL, words, stream);
    const int error = run<T, TX, FIRST, ALL>(job, ntasks, true, NULL, sample, stream);
    return error ? error : run<T, TX, FIRST, ALL>(job, ntasks, false, sample, words, stream);
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
