/* SPDX-License-Identifier: BSD-3-Clause */
/* Lattices of originals, from the finest to the anchors; and lattices -> values of a level. Compiled for each element type. */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "stage/interp/interp_check.cuh"
#include "stage/lattice/lattice_patterns.cuh"

namespace
{

enum {
    THREADS = 256,
    THREADS_OF_ONE = 1024, /* of the one block that does all small lattices */
    SMALL = 8192,          /* points */
    CHAIN = 16,            /* lattices of a launch */
    AT_ONCE = 4,           /* values of a lane that are on their way together */
    PIECE = 1024           /* points of a row that a warp does at a time */
};

typedef floe_interp_dev_thin thin_step;

/* Lattices, one of the other, and then anchors of the last one. A grid does one, a block several. */
struct thinning {
    floe_interp_dev_check check;
    uint32_t nsteps;
    thin_step steps[CHAIN], coarsest;
    floe_real *anchors; /* NULL: not yet */
};

FLOE_DEV uint64_t fill_of(const floe_interp_dev_check &c)
{
    if (!c.has_fill)
        return c.fill;
    return *c.has_fill ? *c.fill_at : (uint64_t)1 << (FLOE_REAL_BITS - 1);
}

/* A value that is apart: the mean of its neighbours along the step's axes, as far as they are numbers. All are loaded before any is added. */
FLOE_DEV_COLD floe_real bridge(const thinning &t, const thin_step &s, uint64_t row, uint64_t x, uint64_t fill)
{
    uint64_t point[FLOE_LATTICE_RANK];
    floe_real near[2 * FLOE_LATTICE_AXES], sum = 0;
    bool there[2 * FLOE_LATTICE_AXES];
    int64_t at = 0;
    uint32_t count = 0;
    floe_lattice_point_of(s.step.coarse, row * s.step.coarse[3] + x, point);
#pragma unroll
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        point[a] <<= s.shift[a];
        at += (int64_t)point[a] * s.from.stride[a];
    }
#pragma unroll
    for (uint32_t i = 0; i < FLOE_LATTICE_AXES; i++) {
        const uint32_t a = i < s.step.naxes ? s.step.axis[i] : 0;
        there[2 * i] = i < s.step.naxes && point[a] > 0;
        there[2 * i + 1] = i < s.step.naxes && point[a] + 1 < s.step.fine[a];
#pragma unroll
        for (int side = 0; side < 2; side++) {
            const int64_t away = side ? s.from.stride[a] : -s.from.stride[a];
            near[2 * i + side] = ((const floe_real *)s.from.data)[at + (there[2 * i + side] ? away : 0)];
        }
    }
    if (s.last)
        mark_apart(t.check, point, s.unit);
#pragma unroll
    for (uint32_t k = 0; k < 2 * FLOE_LATTICE_AXES; k++) {
        if (!there[k])
            continue;
        const floe_real v = s.last ? take_in(t.check, near[k], fill) : near[k];
        sum = v == v ? sum + v : sum;
        count += v == v;
    }
    return count ? FLOE_R(floe_interp_finite)(sum / (floe_real)count) : (floe_real)NAN;
}

/* A warp does pieces of rows, or several short rows at once. */
FLOE_DEV void thin(const thinning &t, const thin_step &s)
{
    const uint64_t *n = s.step.coarse;
    floe_real *to = (floe_real *)s.to;
    const int64_t far = s.from.stride[3] << s.shift[3];
    const uint64_t fill = s.last ? fill_of(t.check) : 0;
    const uint32_t nrows = (uint32_t)(n[0] * n[1] * n[2]), nwarps = gridDim.x * (blockDim.x / FLOE_WARP),
                   length = (uint32_t)n[3];
    const uint32_t across = length <= FLOE_WARP ? nwarps : 0, along = across ? 0 : FLOE_WARP,
                   npieces = (length - 1) / PIECE + 1;
    for (uint32_t piece = (blockIdx.x * blockDim.x + threadIdx.x) / FLOE_WARP; piece < nrows * npieces;
         piece += across ? AT_ONCE * across : nwarps) {
        const uint32_t row = piece / npieces, first = piece % npieces * PIECE, end = min(first + PIECE, length);
        for (uint32_t x0 = first + floe_lane(); x0 < end; x0 += AT_ONCE * FLOE_WARP) {
            floe_real f[AT_ONCE];
            int64_t begin = 0; /* of a row */
#pragma unroll
            for (uint32_t k = 0; k < AT_ONCE; k++) {
                if (k == 0 || across) {
                    uint64_t left = min(row + k * across, nrows - 1);
                    begin = (int64_t)(floe_last_digit(&left, n[2]) << s.shift[2]) * s.from.stride[2];
                    begin += (int64_t)(floe_last_digit(&left, n[1]) << s.shift[1]) * s.from.stride[1];
                    begin += (int64_t)(left << s.shift[0]) * s.from.stride[0];
                }
                f[k] = ((const floe_real *)s.from.data)[begin + min(x0 + k * along, length - 1) * far];
            }
#pragma unroll
            for (uint32_t k = 0; k < AT_ONCE; k++) {
                const uint32_t x = x0 + k * along, at = row + k * across;
                const floe_real v = s.last ? take_in(t.check, f[k], fill) : f[k];
                if (x < end && at < nrows)
                    to[(uint64_t)at * length + x] = v == v ? v : bridge(t, s, at, x, fill);
            }
        }
    }
}

/* The place of the last number before `end`, from 1 on; 0: there is none. */
FLOE_DEV void find_before(const floe_real *f, uint64_t end, unsigned long long *place)
{
    for (bool found = false; end > 0 && !found; end -= min(end, (uint64_t)THREADS_OF_ONE)) {
        if (threadIdx.x < end && f[end - 1 - threadIdx.x] == f[end - 1 - threadIdx.x])
            atomicMax(place, (unsigned long long)(end - threadIdx.x));
        __syncthreads();
        found = *place > 0;
        __syncthreads();
    }
}

/* A number for each anchor; a block has as many as another. Places are found from that of the first number on. */
FLOE_DEV void place_anchors(const floe_interp_dev_check &c, const thin_step &s, floe_real *anchors)
{
    __shared__ unsigned long long last[THREADS_OF_ONE / FLOE_WARP], carry, first;
    const floe_real *f = (const floe_real *)s.to;
    const uint32_t warp = threadIdx.x / FLOE_WARP;
    const uint64_t count = floe_lattice_points(s.step.coarse), each = floe_ceil_div(count, gridDim.x),
                   lo = min(blockIdx.x * each, count), hi = min(lo + each, count);
    found_here found = {0, 0, 0};
    if (threadIdx.x == 0) {
        carry = 0;
        first = ~0ull;
    }
    __syncthreads();
    for (uint64_t i = threadIdx.x; i < count && i < first; i += THREADS_OF_ONE)
        if (f[i] == f[i]) {
            atomicMin(&first, (unsigned long long)i);
            break;
        }
    __syncthreads();
    find_before(f, lo, &carry);
    for (uint64_t begin = lo; begin < hi; begin += THREADS_OF_ONE) { /* places of numbers, from 1 on */
        const uint64_t i = begin + threadIdx.x;
        unsigned long long at = floe_warp_max_to<unsigned long long>(i < hi && f[i] == f[i] ? i + 1 : 0);
        if (floe_lane() == FLOE_WARP - 1)
            last[warp] = at;
        __syncthreads();
        for (uint32_t w = 0; w < warp; w++)
            at = last[w] > at ? last[w] : at;
        at = carry > at ? carry : at;
        __syncthreads();
        if (threadIdx.x == THREADS_OF_ONE - 1)
            carry = at;
        if (i < hi) {
            uint64_t point[FLOE_LATTICE_RANK];
            const floe_real r = at ? f[at - 1] : first != ~0ull ? f[first] : (floe_real)0;
            floe_lattice_point_of(s.step.coarse, i, point);
            anchors[i] = r;
            for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
                point[a] <<= s.shift[a];
            check_value(c, point, s.unit, f[i], r, found);
        }
        __syncthreads();
    }
    leave_found(c, found);
}

__global__ void __launch_bounds__(THREADS_OF_ONE) interp_thin_kernel(const __grid_constant__ thinning t)
{
    floe_dev_begin();
    for (uint32_t i = 0; i < t.nsteps; i++) {
        thin(t, t.steps[i]);
        if (gridDim.x == 1)
            __syncthreads();
    }
    if (t.anchors)
        place_anchors(t.check, t.coarsest, t.anchors);
}

__global__ void __launch_bounds__(THREADS) interp_leave_kernel(const __grid_constant__ floe_interp_dev_leave l)
{
    uint64_t n[FLOE_LATTICE_RANK];
#pragma unroll
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        n[a] = l.out.box.hi[a] - l.out.box.lo[a];
    const uint64_t count = *l.status == FLOE_OK ? floe_lattice_box_points(&l.out.box) : 0;
    for (uint64_t i = first_item(); i < count; i += item_step()) {
        uint64_t left = i, from = 0, stride = 1;
        int64_t to = 0;
#pragma unroll
        for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0; stride *= l.shape[a]) {
            const uint64_t at = a ? floe_last_digit(&left, n[a]) : left;
            from += ((at + l.out.box.lo[a]) << l.shift[a]) * stride;
            to += (int64_t)at * l.out.view.stride[a];
        }
        const floe_real v = ((const floe_real *)l.lattice)[from];
        ((floe_real *)l.out.view.data)[to] = l.log ? FLOE_R(floe_lattice_exp)(v) : v;
    }
}

} // namespace

int FLOE_R(floe_interp_thin)(const thin_step *steps, uint32_t n, const floe_interp_dev_check *check, void *anchors,
                             void *stream)
{
    thinning t = {*check, 0, {}, steps[n - 1], NULL};
    for (uint32_t i = 0; !t.anchors;) {
        const bool small = i == n || floe_lattice_points(steps[i].step.coarse) <= SMALL;
        for (t.nsteps = 0; i < n && t.nsteps < (small ? CHAIN : 1); i++)
            t.steps[t.nsteps++] = steps[i];
        t.anchors = small && i == n ? (floe_real *)anchors : NULL;
        const uint64_t *m = t.steps[0].step.coarse, nprocessors = (uint64_t)floe_gpu_limits_cuda().processors;
        uint64_t nblocks = 1;
        if (!small)
            nblocks = floe_min64(floe_ceil_div(m[0] * m[1] * m[2] * floe_ceil_div(m[3], PIECE), THREADS / FLOE_WARP),
                                 16 * nprocessors);
        else if (t.nsteps == 0) /* nothing but many anchors */
            nblocks = floe_min64(floe_ceil_div(floe_lattice_points(t.coarsest.step.coarse), SMALL), nprocessors);
        FLOE_LAUNCH_EARLY(interp_thin_kernel, (uint32_t)nblocks, small ? THREADS_OF_ONE : THREADS, 0,
                          (cudaStream_t)stream, t);
    }
    return (int)cudaGetLastError();
}

int FLOE_R(floe_interp_leave)(const floe_interp_dev_leave *leave, void *stream)
{
    const uint32_t nblocks = nblocks_of(floe_lattice_box_points(&leave->out.box), THREADS);
    FLOE_LAUNCH(interp_leave_kernel, nblocks, THREADS, 0, (cudaStream_t)stream, *leave);
    return (int)cudaGetLastError();
}
