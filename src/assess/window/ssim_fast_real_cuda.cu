/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast way to SSIM. Axes are named z, y, x, slowest first; windows are wz * w * w.
 *
 * Sums over windows along x and y are products with a band of weights, which the matrix units of a GPU do in double, so that
 * no shuffles are needed and one code serves all windows: 8 windows in a row need w + 7 values. These and the band are cut
 * into strips of 8 (two up to w = 9, three up to w = 17), each of which is two products of inner length 4.
 *
 *     block   X by Y windows, over a chunk of planes; its warps wait for one another only, so several blocks on a
 *             multiprocessor keep all its units busy
 *     plane   what comes into the windows along z less what leaves them: four terms a value. From rows of them each warp
 *             makes sums along x, which go to shared memory; then sums along y, which add up in the accumulators.
 *             These are the sums over whole windows: losses are next
 *
 * Running sums lose digits to what is much larger than they are, and never see a NaN off again. So the values must be tame
 * (ssim_cuda.h). If one is not, that is marked, and the result is not to be used. A careful kernel counts pairs that do not count
 * as a fifth sum instead, and leaves out windows where it is not 0.
 */
#include "assess/window/ssim_losses_cuda.cuh"
#include "backend/device_matrix.cuh"
#include "base/real.h"

namespace
{

typedef floe_real real;

enum {
    X = FLOE_SSIM_FAST_X,
    ROWS = FLOE_SSIM_FAST_ROWS,
    STRIP = FLOE_SSIM_FAST_STRIP, /* windows of a product, and values that meet one strip of the band */
    PITCH = X + 4,                /* of rows in shared memory: loads and stores both without bank conflicts */
    MOMENT = ROWS * PITCH,        /* doubles */
    WARPS = 4,                    /* X / 16 columns each along y; along x 16 rows and SPAN columns each */
    THREADS = WARPS * FLOE_WARP,
    SPAN = 32,
    SEGMENTS = SPAN / STRIP,
    SUMS = FLOE_SSIM_SUMS,
    CAREFUL = SUMS + 1, /* the number of sums of a careful kernel */
    BLOCKS_AN_SM = 2    /* three would do with 168 registers, and spill */
};
static_assert(X == 16 * WARPS && X == 2 * SPAN && ROWS == 32, "each warp has its share of a tile");

/* What a kernel is made for. */
template <bool IN_PAIRS, int NSUMS, int NSTRIPS> struct variant {
    static constexpr bool PAIRS = IN_PAIRS;                   /* neighbours in a row are read in pairs */
    static constexpr int N = NSUMS;                           /* SUMS or CAREFUL */
    static constexpr int STRIPS = NSTRIPS;                    /* of the band */
    static constexpr int TILES = ROWS / STRIP - (STRIPS - 1); /* rows of windows, in strips */
};

/* By value, for the kernel. */
typedef struct fast_job {
    const real *original, *decoded;
    int64_t original_stride[FLOE_MAX_RANK], decoded_stride[FLOE_MAX_RANK];
    uint64_t shape[FLOE_MAX_RANK], nwindows[FLOE_MAX_RANK];
    uint32_t window, window_z;
    double weights[FLOE_SSIM_FAST_WINDOW];
    floe_ssim_fast_grid grid;
    real middle, bound; /* values within bound of the middle are tame */
    uint32_t has_fill;
    floe_uint fill_bits;
    double pivot;
    double n, pivot_n, c1, c2; /* values in a window, or 1; 2 p n; 2 C1 n^2, 2 C2 n^2 */
    double zero;               /* 0, see sums_clear */
    floe_ssim_part *parts;
    uint32_t *wild;
} fast_job;

/* Two neighbours in a row. */
struct alignas(2 * sizeof(real)) two {
    real at[2];
};

/* Of a lane: 2 rows by 2 columns of both fields. */
typedef struct values {
    two x[2], y[2];
} values;

/* Where a block is. */
typedef struct place {
    uint32_t x, y;      /* its first window */
    uint32_t x_counts;  /* the first that counts: at the end of rows blocks overlap, so that none reads beyond it */
    uint32_t nz;        /* windows along z */
    uint64_t field, z;  /* along the slowest axis; the first window along z */
    uint32_t row, quad; /* of the lane: lane / 4, lane % 4 */
} place;

/* What a lane reads of a plane: from here on in two rows of each field. Segments behind its span may reach beyond the row's
 * end: their values are at `last`, or the row's last ones, which no window that counts has inside. */
typedef struct lane_rows {
    const real *x[2], *y[2];
    uint32_t last[2][2];
} lane_rows;

/* Windows 0, 4, 1, 5, ... : so that what a lane has of a product goes to shared memory without bank conflicts. */
FLOE_DEV uint32_t window_of(uint32_t n) { return n / 2 + n % 2 * 4; }
/* Row 2 q + t of eight is number 4 t + q: a lane has neighbours at t = 0 and 1, in rows and in columns. */
FLOE_DEV uint32_t row_of(uint32_t number) { return 2 * (number % 4) + number / 4; }

template <class V> FLOE_DEV place place_of(const fast_job &job)
{
    place p;
    p.x_counts = blockIdx.x * X;
    p.x = (uint32_t)floe_min64(p.x_counts, job.shape[3] - X);
    p.y = blockIdx.y * (V::TILES * STRIP);
    p.field = blockIdx.z / (uint32_t)job.grid.nz;
    p.z = blockIdx.z % (uint32_t)job.grid.nz * job.grid.nchunk;
    p.nz = (uint32_t)floe_min64(job.grid.nchunk, job.nwindows[1] - p.z);
    p.row = floe_lane() / 4, p.quad = floe_lane() % 4;
    return p;
}

/* In the first plane. Rows beyond the last one are the last one. */
template <class V> FLOE_DEV lane_rows rows_of(const fast_job &job, const place &p)
{
    lane_rows rows;
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const int64_t column = p.x + warp % 2 * SPAN + 2 * p.quad;
    for (uint32_t r = 0; r < 2; r++) {
        const int64_t y = (int64_t)floe_min64(p.y + warp / 2 * 16 + r * STRIP + row_of(p.row), job.shape[2] - 1);
        rows.x[r] = job.original + (int64_t)p.field * job.original_stride[0] + (int64_t)p.z * job.original_stride[1] +
                    y * job.original_stride[2] + column;
        rows.y[r] = job.decoded + (int64_t)p.field * job.decoded_stride[0] + (int64_t)p.z * job.decoded_stride[1] +
                    y * job.decoded_stride[2] + column;
    }
    const uint64_t left = job.shape[3] - 1 - (uint64_t)column; /* values behind the first */
    for (uint32_t i = 0; i + 1 < V::STRIPS; i++) {
        rows.last[i][0] = (uint32_t)floe_min64(SPAN + i * STRIP, V::PAIRS ? left - 1 : left);
        rows.last[i][1] = (uint32_t)floe_min64(SPAN + i * STRIP + 1, left);
    }
    return rows;
}

FLOE_DEV lane_rows rows_moved(const lane_rows &rows, int64_t x, int64_t y)
{
    lane_rows moved = rows;
    for (int r = 0; r < 2; r++)
        moved.x[r] = rows.x[r] + x, moved.y[r] = rows.y[r] + y;
    return moved;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

template <bool PAIRS> FLOE_DEV two two_at(const real *row, uint32_t first, uint32_t second)
{
    if (PAIRS)
        return *(const two *)(row + first);
    two v;
    v.at[0] = row[first], v.at[1] = row[second];
    return v;
}

template <class V> FLOE_DEV values values_at(const lane_rows &rows, uint32_t segment)
{
    values v;
    const bool is_behind = segment >= SEGMENTS;
    const uint32_t first = is_behind ? rows.last[segment - SEGMENTS][0] : segment * STRIP;
    const uint32_t second = is_behind ? rows.last[segment - SEGMENTS][1] : first + 1;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        v.x[r] = two_at<V::PAIRS>(rows.x[r], first, second);
        v.y[r] = two_at<V::PAIRS>(rows.y[r], first, second);
    }
    return v;
}

FLOE_DEV bool is_tame(const fast_job &job, real v) { return fabs(v - job.middle) <= job.bound; }

FLOE_DEV bool are_tame(const fast_job &job, const values &v)
{
    bool tame = true;
#pragma unroll
    for (int i = 0; i < 4; i++)
        tame &= is_tame(job, v.x[i / 2].at[i % 2]) & is_tame(job, v.y[i / 2].at[i % 2]);
    return tame;
}

FLOE_DEV floe_uint bits_of(float v) { return (floe_uint)floe_bits_f32(v); }
FLOE_DEV floe_uint bits_of(double v) { return (floe_uint)floe_bits_f64(v); }

FLOE_DEV bool is_special(const fast_job &job, real v)
{
    return !(v - v == 0) || (job.has_fill && bits_of(v) == job.fill_bits);
}

/* Puts the middle where a pair does not count, and shows where: bit 2 r + t. */
FLOE_DEV uint32_t specials_taken(const fast_job &job, values &v)
{
    uint32_t specials = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (is_special(job, v.x[i / 2].at[i % 2]) || is_special(job, v.y[i / 2].at[i % 2])) {
            v.x[i / 2].at[i % 2] = v.y[i / 2].at[i % 2] = job.middle;
            specials |= 1u << i;
        }
    return specials;
}

/* s of f32: the sum of two floats is as good as exact. */
FLOE_DEV double s_of(const fast_job &job, real x, real y)
{
    return sizeof(real) == 4 ? ((double)x + (double)y) - 2 * job.pivot : (x - job.pivot) + (y - job.pivot);
}

/* The terms of what comes into the windows less, with LEAVES, those of what leaves them. */
template <bool LEAVES>
FLOE_DEV void terms_of(const fast_job &job, const values &in, const values &out, double terms[][2][2])
{
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int t = 0; t < 2; t++) {
            double s = s_of(job, in.x[r].at[t], in.y[r].at[t]), sum_s = s;
            double d = (double)in.x[r].at[t] - (double)in.y[r].at[t], sum_d = d;
            if (LEAVES) {
                const double old_s = s_of(job, out.x[r].at[t], out.y[r].at[t]);
                const double old_d = (double)out.x[r].at[t] - (double)out.y[r].at[t];
                s -= old_s, sum_s += old_s;
                d -= old_d, sum_d += old_d;
            }
            terms[FLOE_SSIM_S][t][r] = s;
            terms[FLOE_SSIM_SS][t][r] = s * sum_s;
            terms[FLOE_SSIM_D][t][r] = d;
            terms[FLOE_SSIM_DD][t][r] = d * sum_d;
        }
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* The lane's part of the band: in strip h, the weight of the value that it has at t in the window that it is for. */
template <class V> FLOE_DEV void band_of(const fast_job &job, const place &p, double band[V::STRIPS][2])
{
    const uint32_t window = window_of(p.row);
    for (uint32_t h = 0; h < V::STRIPS; h++)
        for (uint32_t t = 0; t < 2; t++) {
            const uint32_t value = h * STRIP + 2 * p.quad + t;
            band[h][t] = value >= window && value < window + job.window ? job.weights[value - window] : 0;
        }
}

/* 8 windows of one moment, in 16 rows, from the values at t = 0 and 1 of a strip. */
FLOE_DEV void strip_add(double sums[4], const double strip[2][2], const double band[2])
{
    floe_matrix_add(sums, strip[0], band[0]);
    floe_matrix_add(sums, strip[1], band[1]);
}

/* The first of them. */
FLOE_DEV void strip_of(double sums[4], const double strip[2][2], const double band[2])
{
    floe_matrix_multiply(sums, strip[0], band[0]);
    floe_matrix_add(sums, strip[1], band[1]);
}

/* How many pairs that do not count come in, less those that leave. */
FLOE_DEV void missing_of(uint32_t in, uint32_t out, double terms[2][2])
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        terms[i % 2][i / 2] = (double)(int)(in >> i & 1) - (double)(int)(out >> i & 1);
}

/* What the terms of a segment are to sums along x: each strip of the band makes them part of the windows of another
 * segment, of which the one that is then complete goes to shared memory. */
template <class V>
FLOE_DEV void segment_add(int segment, const double terms[2][2], const double band[V::STRIPS][2],
                          double sums[V::STRIPS][4], double *to)
{
#pragma unroll
    for (int h = 0; h < V::STRIPS; h++) {
        const int windows = segment - h;
        if (windows < 0 || windows >= SEGMENTS)
            continue;
        double *of = sums[windows % V::STRIPS];
        if (h == 0)
            strip_of(of, terms, band[h]);
        else
            strip_add(of, terms, band[h]);
        if (h == V::STRIPS - 1)
#pragma unroll
            for (int i = 0; i < 4; i++)
                to[i / 2 * STRIP * PITCH + windows * STRIP + i % 2 * 4] = of[i];
    }
}

/* Sums along x in 16 rows of a plane, to shared memory. Returns whether the plane's values are tame. */
template <class V, bool LEAVES>
FLOE_DEV bool rows_sum(const fast_job &job, const place &p, const lane_rows &comes, const lane_rows &leaves,
                       const double band[V::STRIPS][2], double *shared)
{
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    double *to = shared + (warp / 2 * 16 + p.row) * PITCH + warp % 2 * SPAN + p.quad;
    double sums[V::N][V::STRIPS][4], terms[V::N][2][2];
    bool tame = true;
#pragma unroll
    for (int segment = 0; segment < SEGMENTS + V::STRIPS - 1; segment++) {
        values in = values_at<V>(comes, segment), out = in;
        if (LEAVES)
            out = values_at<V>(leaves, segment);
        if (V::N == CAREFUL) {
            const uint32_t comes_missing = specials_taken(job, in);
            missing_of(comes_missing, LEAVES ? specials_taken(job, out) : 0, terms[V::N - 1]);
        }
        tame &= are_tame(job, in);
        terms_of<LEAVES>(job, in, out, terms);
#pragma unroll
        for (int m = 0; m < V::N; m++)
            segment_add<V>(segment, terms[m], band, sums[m], to + m * MOMENT);
    }
    return tame;
}

/* Adds sums along y of 16 columns to those of 8 windows: a strip of the rows that the windows need. */
template <int N> FLOE_DEV void columns_add(const double *shared, uint32_t rows, const double band[2], double sums[N][4])
{
#pragma unroll
    for (int m = 0; m < N; m++)
#pragma unroll
        for (uint32_t t = 0; t < 2; t++) {
            const double *at = shared + m * MOMENT + (rows + 4 * t) * PITCH;
            const double a[2] = {at[0], at[STRIP]};
            floe_matrix_add(sums[m], a, band[t]);
        }
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

/* Half of floe_ssim_loss, from sums that are n times the means. */
FLOE_DEV double half_loss(const fast_job &job, double s, double ss, double d, double dd)
{
    const double square_d = d * d, square_s = s * s, m = s + job.pivot_n;
    const double vs = __fma_rn(job.n, ss, -square_s), vd = __fma_rn(job.n, dd, -square_d);
    const double a = __fma_rn(m, m, square_d + job.c1), b = (vs + vd) + job.c2;
    return __fma_rn(square_d, __fma_rn(-2.0, vd, b), vd * a) * floe_reciprocal(a * b);
}

typedef struct lane_losses {
    double sum, max;
    uint32_t nwindows; /* careful only */
} lane_losses;

/* Of 8 rows of windows; counts: bit i for number i of the lane's four windows. */
template <int N> FLOE_DEV void losses_add(const fast_job &job, const double sums[N][4], uint32_t counts, lane_losses *l)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const double half =
            half_loss(job, sums[FLOE_SSIM_S][i], sums[FLOE_SSIM_SS][i], sums[FLOE_SSIM_D][i], sums[FLOE_SSIM_DD][i]);
        const bool one_counts = (counts >> i & 1) && (N == SUMS || sums[N - 1][i] == 0);
        const double loss = one_counts ? half : 0;
        l->sum += loss;
        l->max = loss > l->max ? loss : l->max;
        if (N == CAREFUL)
            l->nwindows += one_counts;
    }
}

/* Which of the lane's windows are there: four bits for each 8 rows of windows. */
template <class V> FLOE_DEV uint32_t counts_of(const fast_job &job, const place &p)
{
    uint32_t counts = 0;
    for (uint32_t i = 0; i < 4 * V::TILES; i++) {
        const uint32_t x = p.x + threadIdx.x / FLOE_WARP * 16 + p.row + i % 4 / 2 * STRIP;
        const uint32_t y = p.y + i / 4 * STRIP + p.quad + i % 2 * 4;
        counts |= (uint32_t)(x >= p.x_counts && x < job.nwindows[3] && y < job.nwindows[2]) << i;
    }
    return counts;
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

/* What a thread keeps from plane to plane. */
template <class V> struct running {
    lane_rows rows;
    double band[V::STRIPS][2];
    double sums[V::TILES][V::N][4]; /* of its windows, four in each strip */
    uint32_t counts;
    bool tame;
    lane_losses losses;
};

/* By a zero that the compiler (CUDA 13.0) does not know: where it knows that a matrix product begins from 0 in some turns of
 * a loop only, it makes one of a kind that comes to other sums. */
template <class V> FLOE_DEV void sums_clear(running<V> &r, double zero)
{
#pragma unroll
    for (int i = 0; i < V::TILES * V::N * 4; i++)
        r.sums[i / (4 * V::N)][i / 4 % V::N][i % 4] = zero;
}

/* One plane. complete: with it windows along z are. */
template <class V, bool LEAVES>
FLOE_DEV void plane_add(const fast_job &job, const place &p, bool complete, running<V> &r, double *shared)
{
    const double *columns = shared + p.quad * PITCH + threadIdx.x / FLOE_WARP * 16 + p.row;
    const int64_t window = job.window_z;
    const lane_rows leaves =
        LEAVES ? rows_moved(r.rows, -window * job.original_stride[1], -window * job.decoded_stride[1]) : r.rows;
    r.tame &= rows_sum<V, LEAVES>(job, p, r.rows, leaves, r.band, shared);
    r.rows = rows_moved(r.rows, job.original_stride[1], job.decoded_stride[1]);
    __syncthreads();
#pragma unroll
    for (int strip = 0; strip < ROWS / STRIP; strip++) {
#pragma unroll
        for (int h = 0; h < V::STRIPS; h++)
            if (strip >= h && strip - h < V::TILES)
                columns_add<V::N>(columns, strip * STRIP, r.band[h], r.sums[strip - h]);
        const int done = strip - (V::STRIPS - 1);
        if (done >= 0 && complete)
            losses_add<V::N>(job, r.sums[done], r.counts >> 4 * done & 15, &r.losses);
    }
    __syncthreads();
}

/* See the head of the file. */
template <class V>
__global__ void __launch_bounds__(THREADS, BLOCKS_AN_SM) ssim_fast_kernel(const __grid_constant__ fast_job job)
{
    FLOE_DYNAMIC_SHARED(double, shared);
    __shared__ floe_ssim_part warps[WARPS];
    const place p = place_of<V>(job);
    const bool runs = job.window_z > 1, in_vain = __syncthreads_or(*(volatile uint32_t *)job.wild != 0);
    const uint32_t nplanes = in_vain ? 0 : p.nz + job.window_z - 1;
    running<V> r;
    r.rows = rows_of<V>(job, p);
    r.counts = counts_of<V>(job, p);
    r.tame = true;
    r.losses = {0, 0, 0};
    band_of<V>(job, p, r.band);
    sums_clear(r, job.zero);
    uint32_t plane = 0;
    for (; plane < nplanes && !(runs && plane >= job.window_z); plane++) {
        if (!runs)
            sums_clear(r, job.zero);
        plane_add<V, false>(job, p, plane + 1 >= job.window_z, r, shared);
    }
    for (; plane < nplanes; plane++)
        plane_add<V, true>(job, p, true, r, shared);
    const uint64_t nwindows = V::N == CAREFUL ? r.losses.nwindows : (uint64_t)__popc(r.counts) * p.nz;
    floe_ssim_part part = {2 * r.losses.sum, 2 * r.losses.max, nwindows};
    part = floe_ssim_part_of_block(part, warps, WARPS);
    if (threadIdx.x == 0)
        job.parts[(uint64_t)(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = part;
    if (!r.tame)
        *job.wild = 1;
}

/* ---- the launch -------------------------------------------------------------------------------------------------- */

fast_job fast_job_of(const floe_ssim_job *job)
{
    const floe_ssim_options *o = &job->plan.options;
    const floe_ssim_constants *c = &job->plan.constants;
    fast_job f = {};
    f.original = (const real *)job->pair.original;
    f.decoded = (const real *)job->pair.decoded;
    for (int a = 0; a < FLOE_MAX_RANK; a++) {
        f.original_stride[a] = job->pair.original_stride[a];
        f.decoded_stride[a] = job->pair.decoded_stride[a];
        f.shape[a] = job->pair.shape[a];
        f.nwindows[a] = job->plan.nwindows[a];
    }
    f.window = (uint32_t)o->window[3];
    f.window_z = (uint32_t)o->window[1];
    f.grid = floe_ssim_fast_grid_of(&job->plan);
    f.pivot = c->pivot / c->scale;
    f.middle = (real)f.pivot;
    const double bound = 8 * (o->max - o->min);
    f.bound = (real)(sizeof(real) == 4 && bound > 3e38 ? 3e38 : bound);
    const bool weighted = o->weights == FLOE_SSIM_WEIGHTS_GAUSSIAN && f.window > 1;
    const double gaussian[FLOE_SSIM_TAPS] = FLOE_SSIM_GAUSSIAN;
    for (uint32_t i = 0; i < f.window; i++)
        f.weights[i] = weighted ? gaussian[i] : 1;
    f.n = weighted ? 1 : (double)(o->window[1] * o->window[2] * o->window[3]);
    f.pivot_n = 2 * f.pivot * f.n;
    f.c1 = c->c1 / c->scale / c->scale * f.n * f.n;
    f.c2 = c->c2 / 2 / c->scale / c->scale * f.n * f.n;
    f.has_fill = job->pair.has_fill;
    f.fill_bits = (floe_uint)job->pair.fill_bits;
    f.parts = job->parts;
    f.wild = &job->joined->wild;
    return f;
}

/* Whether pairs of neighbours in a row are aligned wherever the row lies. */
bool has_pairs(const fast_job *f)
{
    bool even =
        f->shape[3] % 2 == 0 && (uintptr_t)f->original % sizeof(two) == 0 && (uintptr_t)f->decoded % sizeof(two) == 0;
    for (int a = 0; a < 3; a++)
        even &= f->original_stride[a] % 2 == 0 && f->decoded_stride[a] % 2 == 0;
    return even;
}

typedef void (*kernel_fn)(fast_job);

template <int N, int STRIPS> kernel_fn kernel_of(bool pairs)
{
    return pairs ? ssim_fast_kernel<variant<true, N, STRIPS>> : ssim_fast_kernel<variant<false, N, STRIPS>>;
}

} // namespace

int FLOE_R(floe_ssim_fast_cuda)(const floe_ssim_job *job, bool careful, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    const fast_job f = fast_job_of(job);
    const bool wide = floe_ssim_fast_strips(f.window) == 3, pairs = has_pairs(&f);
    const kernel_fn kernel = wide ? (careful ? kernel_of<CAREFUL, 3>(pairs) : kernel_of<SUMS, 3>(pairs))
                                  : (careful ? kernel_of<CAREFUL, 2>(pairs) : kernel_of<SUMS, 2>(pairs));
    const int shared_nbytes = (careful ? CAREFUL : SUMS) * MOMENT * (int)sizeof(double);
    cudaError_t error = cudaMemsetAsync(job->joined, 0, sizeof *job->joined, s);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_nbytes);
    if (error != cudaSuccess)
        return (int)error;
    const dim3 grid((uint32_t)f.grid.nx, (uint32_t)f.grid.ny, (uint32_t)(f.grid.nz * f.nwindows[0]));
    FLOE_LAUNCH(kernel, grid, THREADS, (size_t)shared_nbytes, s, f);
    error = cudaGetLastError();
    return error != cudaSuccess ? (int)error : floe_ssim_join_cuda(f.parts, f.grid.nblocks, job->joined, stream);
}
