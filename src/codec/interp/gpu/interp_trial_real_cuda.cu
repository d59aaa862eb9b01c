/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tuner's trials: boxes of the field are coded by several structures in one launch, and their symbols counted. A block codes one box
 * by one structure, in memory that L2 holds, all steps one after another: a value gives way to what is decoded of it. The last block of
 * a structure adds up what its counts take.
 */
#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "backend/limits_cuda.h"
#include "codec/interp/gpu/interp_dev.h"
#include "stage/context/context_count.cuh"
#include "stage/context/context_tally.cuh"
#include "stage/interp/interp_check.cuh"
#include "stage/interp/interp_walk.cuh"

namespace
{

enum { THREADS = 1024, WARPS = THREADS / FLOE_WARP };

/* A step of a box, in shared memory: points of its fine lattice lie so far apart in the box. */
struct step_of_box {
    floe_interp_step step;
    uint32_t stride[FLOE_INTERP_RANK], fine[FLOE_INTERP_RANK], coarse[FLOE_INTERP_RANK], place[FLOE_INTERP_RANK];
    FLOE_R(floe_interp_weights) inner; /* of points that are far from both ends of an axis */
};

FLOE_DEV void set_step(const floe_interp_trials_job &job, uint32_t i, step_of_box *s)
{
    __syncthreads(); /* others may still look at the step before */
    if (threadIdx.x == 0) {
        const floe_interp_dev_trial_step &t = job.steps[i];
        uint32_t stride = 1;
        s->step = t.step;
        s->inner = FLOE_R(floe_interp_weights_at)(t.step.predictor, 1, 4);
        for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;) {
            s->stride[a] = stride * (uint32_t)t.unit[a];
            s->fine[a] = (uint32_t)t.step.fine[a];
            s->coarse[a] = (uint32_t)t.step.coarse[a];
            s->place[a] = floe_interp_place(&t.step, a);
            stride *= (uint32_t)job.part[a];
        }
    }
    __syncthreads();
}

FLOE_DEV uint32_t index_of(const step_of_box &s, const uint32_t *point)
{
    uint32_t i = 0;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        i += point[a] * s.stride[a];
    return i;
}

/* ---- originals --------------------------------------------------------------------------------------------------------- */

/* Returns whether a value of the box is apart. */
FLOE_DEV bool load_box(const floe_interp_trials_job &job, uint32_t box, floe_real *values)
{
    enum { AT_ONCE = 4 }; /* values of a thread that are on their way together */
    uint32_t part[FLOE_INTERP_RANK], i = threadIdx.x;
    const uint32_t n = (uint32_t)floe_interp_points(job.part);
    const floe_real *from = (const floe_real *)job.check.values.data + job.at[box];
    walk_of_points w;
    bool apart = false;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        part[a] = (uint32_t)job.part[a];
    for (w.begin(part); i < n; i += AT_ONCE * THREADS) {
        floe_real v[AT_ONCE];
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            const int64_t *by = job.check.values.stride;
            const bool there = i + k * THREADS < n;
            v[k] = there ? from[w.at[0] * by[0] + w.at[1] * by[1] + w.at[2] * by[2] + w.at[3] * by[3]] : 0;
            w.next();
        }
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            const floe_real here = take_in(job.check, v[k]);
            if (i + k * THREADS >= n)
                continue;
            apart = apart || here != here;
            values[i + k * THREADS] = here;
        }
    }
    return __syncthreads_or(apart);
}

/* As the kernel that thins: the mean of the neighbours along the step's axes, as far as they are numbers. */
FLOE_DEV floe_real bridge(const step_of_box &s, const floe_real *values, const uint32_t *point)
{
    floe_real sum = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s.step.naxes; i++) {
        const uint32_t a = s.step.axis[i];
        for (int side = 0; side < 2; side++) {
            if (side ? point[a] + 1 >= s.fine[a] : point[a] == 0)
                continue;
            const uint32_t at = index_of(s, point);
            const floe_real v = values[side ? at + s.stride[a] : at - s.stride[a]];
            sum = v == v ? sum + v : sum;
            count += v == v;
        }
    }
    return count ? FLOE_R(floe_interp_finite)(sum / (floe_real)count) : (floe_real)NAN;
}

FLOE_DEV void thin(const step_of_box &s, floe_real *values)
{
    walk_of_points w;
    for (w.begin(s.coarse); w.there(); w.next()) {
        uint32_t point[FLOE_INTERP_RANK];
#pragma unroll
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
            point[a] = w.at[a] << (s.place[a] < s.step.naxes);
        const uint32_t at = index_of(s, point);
        if (values[at] != values[at])
            values[at] = bridge(s, values, point);
    }
    __syncthreads();
}

/* Anchors that are no number: the one before, or the first. By a thread, since each depends on the one before. */
FLOE_DEV void bridge_anchors(const step_of_box &s, floe_real *values)
{
    const uint32_t n = s.coarse[0] * s.coarse[1] * s.coarse[2] * s.coarse[3];
    floe_real last = 0;
    for (uint32_t k = 0; k < 2 * n && threadIdx.x == 0; k++) { /* first from the last one to the first */
        uint32_t i = k < n ? n - 1 - k : k - n, point[FLOE_INTERP_RANK];
        for (uint32_t a = FLOE_INTERP_RANK; a-- > 0; i /= s.coarse[a])
            point[a] = i % s.coarse[a];
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
            point[a] <<= s.place[a] < s.step.naxes;
        floe_real *v = values + index_of(s, point);
        last = *v == *v ? *v : last;
        if (k >= n)
            *v = last;
    }
    __syncthreads();
}

/* ---- a step ------------------------------------------------------------------------------------------------------------ */

/* At a point of odd coordinate along the step's axis number `place`. Most points are far from both ends. */
FLOE_DEV floe_real predict_along(const step_of_box &s, const floe_real *at, const uint32_t *cell, uint32_t place)
{
    const uint32_t axis = s.step.axis[place];
    const int32_t far = (int32_t)s.stride[axis];
    const uint32_t g = axis == 3 ? cell[3] : axis == 2 ? cell[2] : axis == 1 ? cell[1] : cell[0], n = s.coarse[axis];
    const floe_real here = at[-far];
    if (g > 0 && g + 2 < n)
        return FLOE_R(floe_interp_predict)(s.inner, at[-3 * far], here, at[far], at[3 * far]);
    const FLOE_R(floe_interp_weights) w = FLOE_R(floe_interp_weights_at)(s.step.predictor, g, n);
    return FLOE_R(floe_interp_predict)(w, w.before != 0 ? at[-3 * far] : here, here, w.after != 0 ? at[far] : here,
                                       w.beyond != 0 ? at[3 * far] : here);
}

FLOE_DEV floe_real predict(const step_of_box &s, const floe_real *at, const uint32_t *cell, uint32_t c)
{
    const uint32_t top = floe_top_bit(c);
    floe_real p = predict_along(s, at, cell, top);
    if (!s.step.mean || c == 1u << top)
        return p;
    uint32_t count = 1;
    for (uint32_t place = 0; place < top; place++)
        if (c >> place & 1) {
            p = p + predict_along(s, at, cell, place);
            count++;
        }
    return p * ((floe_real)1 / (floe_real)count);
}

/* Points of class c; codes of two bytes. Values and codes of a cell lie evenly along each axis. */
FLOE_DEV void code_class(const step_of_box &s, uint32_t c, floe_real *values, int16_t *codes)
{
    const floe_real step = (floe_real)s.step.step, inverse = 1 / step;
    const uint32_t naxes = s.step.naxes, row = 8 * (uint32_t)floe_interp_row_records(&s.step);
    uint32_t extent[FLOE_INTERP_RANK], by[FLOE_INTERP_RANK], first = 0;
    const uint32_t code_by[] = {s.coarse[1] * s.coarse[2] * row, s.coarse[2] * row, row, 1u << naxes};
    walk_of_points w;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        const bool active = s.place[a] < naxes, odd = active && c >> s.place[a] & 1;
        extent[a] = odd ? s.fine[a] / 2 : s.coarse[a];
        by[a] = s.stride[a] << active;
        first += odd ? s.stride[a] : 0;
    }
    for (w.begin(extent); w.there(); w.next()) {
        uint32_t value_at = first, code_at = c - 1;
#pragma unroll
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
            value_at += w.at[a] * by[a];
            code_at += w.at[a] * code_by[a];
        }
        floe_real *at = values + value_at;
        const floe_real f = *at, p = predict(s, at, w.at, c);
        const floe_real q = FLOE_R(floe_interp_encode)(f, p, inverse, (floe_real)FLOE_CONTEXT_LARGEST);
        *at = FLOE_R(floe_interp_decode)(q, step, p);
        codes[code_at] = (int16_t)(int32_t)q;
    }
}

/* Classes of one odd coordinate, of two, of three. */
FLOE_DEV void code_step(const step_of_box &s, const floe_context_grid &grid, floe_real *values, uint4 *records)
{
    const uint32_t n = (uint32_t)floe_context_nrecords(&grid);
    for (uint32_t i = threadIdx.x; i < n; i += THREADS)
        records[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    for (uint32_t odd = 1; odd <= s.step.naxes; odd++) {
        for (uint32_t c = 1; c < 1u << s.step.naxes; c++)
            if ((uint32_t)__popc(c) == odd)
                code_class(s, c, values, (int16_t *)records);
        __syncthreads();
    }
}

/* ---- counts ------------------------------------------------------------------------------------------------------------ */

/* Counts of a step's records, added to those of its level. */
FLOE_DEV void count_step(const floe_interp_trials_job &job, const floe_context_dev_grid &g, uint32_t *here,
                         uint32_t *counts)
{
    __shared__ uint8_t contexts[CONTEXT_ACTIVITIES];
    const uint32_t warp = threadIdx.x / FLOE_WARP, nparts = count_parts(g.grid, FLOE_CONTEXT_WINDOW);
    uint32_t nempty = 0;
    token_keeper keeper = {};
    for (uint32_t i = threadIdx.x; i < FLOE_CONTEXT_COUNTS; i += THREADS)
        here[i] = 0;
    context_of_activity(contexts, [](uint32_t context) { return context; });
    if (warp < job.nwarps) {
        uint8_t *space = (uint8_t *)(here + FLOE_CONTEXT_COUNTS) + warp * job.warp_nbytes;
        for (uint32_t i = warp; i < g.nchunks * nparts; i += job.nwarps) {
            const auto count = [&](auto walk) {
                walk.begin(g, i / nparts, space, g.window);
                count_part<FLOE_CONTEXT_WINDOW>(walk, g, i % nparts, contexts, here, nempty, keeper);
            };
            if (g.planes)
                count(context_walk<2, true>());
            else
                count(context_walk<2, false>());
        }
        nempty = __reduce_add_sync(FLOE_ALL_LANES, nempty);
        if (floe_lane() == 0)
            atomicAdd(here, nempty);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < FLOE_CONTEXT_COUNTS; i += THREADS)
        if (here[i])
            atomicAdd(counts + i, here[i]);
}

__global__ void __launch_bounds__(THREADS) interp_trial_kernel(const __grid_constant__ floe_interp_trials_job job)
{
    FLOE_DYNAMIC_SHARED(uint32_t, here);
    __shared__ bool is_last;
    __shared__ step_of_box step;
    const uint32_t trial = blockIdx.x / job.nboxes, begin = job.begin[trial], end = job.begin[trial + 1];
    floe_real *values = (floe_real *)(job.scratch + blockIdx.x * job.block_nbytes);
    uint4 *records = (uint4 *)((uint8_t *)values + job.values_nbytes);
    uint32_t *counts = job.counts + (uint64_t)trial * job.nlevels * FLOE_CONTEXT_COUNTS;
    if (*job.status != FLOE_OK) /* which nobody sets meanwhile */
        return;
    const bool apart = load_box(job, blockIdx.x % job.nboxes, values);
    for (uint32_t i = begin; i < end && apart; i++) {
        set_step(job, i, &step);
        thin(step, values);
    }
    if (apart)
        bridge_anchors(step, values);
    for (uint32_t i = end; i-- > begin;) {
        floe_context_dev_grid g = job.steps[i].grid;
        g.records = records;
        set_step(job, i, &step);
        code_step(step, g.grid, values, records);
        count_step(job, g, here, counts + (uint64_t)job.steps[i].level * FLOE_CONTEXT_COUNTS);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        is_last = atomicAdd(job.done + trial, 1u) == job.nboxes - 1;
    __syncthreads();
    for (uint32_t l = 0; l < job.nlevels && is_last; l++)
        context_tally<WARPS>(counts + (uint64_t)l * FLOE_CONTEXT_COUNTS, job.tallies + trial * job.nlevels + l);
}

} // namespace

int FLOE_R(floe_interp_trials)(const floe_interp_trials_job *job, void *stream)
{
    const uint32_t fixed = FLOE_CONTEXT_COUNTS * sizeof(uint32_t), most = floe_gpu_limits_cuda().shared_nbytes - 1024;
    floe_interp_trials_job j = *job;
    j.nwarps = (most - fixed) / j.warp_nbytes < WARPS ? (most - fixed) / j.warp_nbytes : WARPS;
    const uint32_t nbytes = fixed + j.nwarps * j.warp_nbytes;
    const cudaError_t e =
        cudaFuncSetAttribute(interp_trial_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes);
    if (e != cudaSuccess)
        return (int)e;
    FLOE_LAUNCH(interp_trial_kernel, j.ntrials * j.nboxes, THREADS, nbytes, (cudaStream_t)stream, j);
    return (int)cudaGetLastError();
}
