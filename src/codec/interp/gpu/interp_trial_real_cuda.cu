/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tuner's trials: boxes of the field are coded by several structures in one launch. A block codes one box by one structure, in memory
 * that L2 holds, all steps one after another: a value gives way to what is decoded of it. A second launch counts the symbols, a block a
 * step of a box, and a third one adds up what the counts take.
 */
#include <floe/floe.h>

#include "backend/limits_cuda.h"
#include "codec/interp/gpu/interp_dev.h"
#include "stage/context/context_count.cuh"
#include "stage/interp/interp_check.cuh"

namespace
{

enum {
    THREADS = 1024,
    BESIDES_NBYTES = 4096, /* shared memory that is not dynamic, at most */
    COUNT_WARPS = 8,
    TALLY_WARPS = 16,
    SHARES = 4,  /* of the finest step, for counting */
    TOGETHER = 3 /* classes of as many odd coordinates, at most */
};

/* A step of a box, in shared memory. Its points lie so far apart in the box, its cells in the box and in codes. */
struct step_of_box {
    floe_lattice_step step;
    floe_interp_rule rule;
    uint32_t nrecords, stride[FLOE_LATTICE_RANK], fine[FLOE_LATTICE_RANK], coarse[FLOE_LATTICE_RANK],
        place[FLOE_LATTICE_RANK];
    uint32_t cell[FLOE_LATTICE_RANK], codes[FLOE_LATTICE_RANK];
    weights of[WEIGHTS]; /* by how many cells there are before and behind */
};

FLOE_DEV void set_step(const floe_interp_trials_job &job, uint32_t i, step_of_box *s)
{
    const floe_interp_dev_trial_step &t = job.steps[i];
    __syncthreads(); /* others may still look at the step before */
    if (threadIdx.x < WEIGHTS)
        s->of[threadIdx.x] = weights_number(threadIdx.x, t.rule.predictor);
    if (threadIdx.x == FLOE_WARP) { /* one look at memory, not one after another */
        s->step = t.step;
        s->rule = t.rule;
        s->nrecords = (uint32_t)floe_context_nrecords(&t.grid.grid);
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            s->stride[a] = (uint32_t)t.unit[a];
        uint32_t stride = 1, codes = 1u << s->step.naxes;
        for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;) {
            s->stride[a] *= stride;
            s->fine[a] = (uint32_t)s->step.fine[a];
            s->coarse[a] = (uint32_t)s->step.coarse[a];
            s->place[a] = floe_lattice_place(&s->step, a);
            s->cell[a] = s->stride[a] << (s->place[a] < s->step.naxes);
            s->codes[a] = codes;
            stride *= (uint32_t)job.part[a];
            codes = a == 3 ? 8 * (uint32_t)floe_lattice_row_records(&s->step) : codes * s->coarse[a];
        }
    }
    __syncthreads();
}

FLOE_DEV uint32_t index_of(const step_of_box &s, const uint32_t *point)
{
    uint32_t i = 0;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        i += point[a] * s.stride[a];
    return i;
}

/* ---- points of a box, dealt to the threads of a block: none of them divides more than once ------------------------------ */

/* This thread's point, and how far it is to its next one. */
struct walk_of_points {
    uint32_t n[FLOE_LATTICE_RANK], at[FLOE_LATTICE_RANK], by[FLOE_LATTICE_RANK], left;

    __device__ __forceinline__ void begin(const uint32_t *extent)
    {
        uint32_t count = 1, first = threadIdx.x, step = blockDim.x;
#pragma unroll
        for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;) {
            n[a] = extent[a] ? extent[a] : 1;
            count *= extent[a];
            at[a] = first % n[a];
            by[a] = step % n[a];
            first /= n[a];
            step /= n[a];
        }
        left = count > threadIdx.x ? (count - threadIdx.x + blockDim.x - 1) / blockDim.x : 0;
    }
    __device__ __forceinline__ bool there() const { return left > 0; }
    __device__ __forceinline__ void next()
    {
        uint32_t carry = 0;
        left--;
#pragma unroll
        for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;) {
            at[a] += by[a] + carry;
            carry = at[a] >= n[a];
            at[a] -= carry ? n[a] : 0;
        }
    }
};

/* ---- where boxes lie ---------------------------------------------------------------------------------------------------- */

/* By a block: the first value of a box. */
FLOE_DEV int64_t box_at(const floe_interp_trials_job &job, uint32_t box)
{
    __shared__ uint64_t bits[FLOE_LOOK_PLACES];
    __shared__ uint32_t place;
    if (!job.by_bits)
        return job.at[box];
    for (uint32_t i = threadIdx.x; i < floe_look_nplaces(&job.look); i += blockDim.x)
        bits[i] = floe_interp_look_bits(job.found, &job.look)[i];
    __syncthreads();
    if (threadIdx.x == 0)
        place = floe_look_choose(&job.look, bits).place[box];
    __syncthreads();
    return floe_look_at(&job.look, place);
}

/* ---- originals --------------------------------------------------------------------------------------------------------- */

/* Returns whether a value of the box is apart. */
FLOE_DEV bool load_box(const floe_interp_trials_job &job, uint32_t box, floe_real *values)
{
    enum { AT_ONCE = 4 }; /* values of a thread that are on their way together */
    uint32_t part[FLOE_LATTICE_RANK], i = threadIdx.x;
    const uint32_t n = (uint32_t)floe_lattice_points(job.part);
    const floe_real *from = (const floe_real *)job.check.values.data + box_at(job, box);
    walk_of_points w;
    bool apart = false;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
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
        uint32_t point[FLOE_LATTICE_RANK];
#pragma unroll
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
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
        uint32_t i = k < n ? n - 1 - k : k - n, point[FLOE_LATTICE_RANK];
        for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0; i /= s.coarse[a])
            point[a] = i % s.coarse[a];
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            point[a] <<= s.place[a] < s.step.naxes;
        floe_real *v = values + index_of(s, point);
        last = *v == *v ? *v : last;
        if (k >= n)
            *v = last;
    }
    __syncthreads();
}

/* ---- a step ------------------------------------------------------------------------------------------------------------ */

/* At a point of odd coordinate along the step's axis number `place`, which lies there. Missing neighbours have weight 0. No branch keeps
 * the loads of several points from being on their way together: where there is no such point, another one is looked at. */
FLOE_DEV floe_real predict_along(const step_of_box &s, const floe_real *at, bool there, const uint32_t *cell,
                                 uint32_t place)
{
    const uint32_t axis = s.step.axis[place];
    const int32_t far = there ? (int32_t)s.stride[axis] : 0;
    uint32_t g = 0;
#pragma unroll
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        g |= axis == a ? cell[a] : 0;
    const uint32_t behind = s.coarse[axis] - 1 - g;
    return FLOE_R(floe_interp_predict)(s.of[(behind < 2 ? behind : 2) * 2 + (g > 0)], at[g > 0 ? -3 * far : -far],
                                       at[-far], at[behind > 0 ? far : -far], at[behind > 1 ? 3 * far : -far]);
}

template <bool MEAN>
FLOE_DEV floe_real predict(const step_of_box &s, const floe_real *at, bool there, const uint32_t *cell, uint32_t c)
{
    const uint32_t top = floe_top_bit(c);
    floe_real p = predict_along(s, at, there, cell, top);
    if (!MEAN || c == 1u << top)
        return p;
    uint32_t count = 1;
    for (uint32_t place = 0; place < top; place++)
        if (c >> place & 1) {
            p = p + predict_along(s, at, there, cell, place);
            count++;
        }
    return p * ((floe_real)1 / (floe_real)count);
}

/* The classes of so many odd coordinates, of which there are up to N, of this thread's cells: all is loaded before anything is stored. Codes of two bytes. */
template <bool MEAN, uint32_t N>
FLOE_DEV void code_classes(const step_of_box &s, walk_of_points cells, uint32_t odd, floe_real *values, int16_t *codes)
{
    const floe_real step = (floe_real)s.rule.step, inverse = 1 / step;
    uint32_t stride[FLOE_LATTICE_AXES], class_of[N], offset[N];
    bool is[N];
#pragma unroll
    for (uint32_t i = 0; i < FLOE_LATTICE_AXES; i++)
        stride[i] = i < s.step.naxes ? s.stride[s.step.axis[i]] : 0;
#pragma unroll
    for (uint32_t k = 0; k < N; k++) {
        const uint32_t c = odd == 1 ? 1u << k : odd == 2 ? 7 ^ 4u >> k : 7;
        is[k] = c < 1u << s.step.naxes && (odd < FLOE_LATTICE_AXES || k == 0);
        class_of[k] = is[k] ? c : 1;
        offset[k] = 0;
#pragma unroll
        for (uint32_t i = 0; i < FLOE_LATTICE_AXES; i++)
            offset[k] += class_of[k] >> i & 1 ? stride[i] : 0;
    }
    for (; cells.there(); cells.next()) {
        uint32_t value_at = 0, code_at = 0, odds = 0; /* odds: along which axes there are odd points, too */
        floe_real f[N], p[N];
        bool there[N];
#pragma unroll
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
            value_at += cells.at[a] * s.cell[a];
            code_at += cells.at[a] * s.codes[a];
            odds |= (uint32_t)(2 * cells.at[a] + 1 < s.fine[a]) << s.place[a];
        }
#pragma unroll
        for (uint32_t k = 0; k < N; k++) {
            there[k] = is[k] && !(class_of[k] & ~odds);
            const floe_real *at = values + value_at + (there[k] ? offset[k] : 0);
            f[k] = *at;
            p[k] = predict<MEAN>(s, at, there[k], cells.at, class_of[k]);
        }
#pragma unroll
        for (uint32_t k = 0; k < N; k++)
            if (there[k]) {
                const floe_real q = FLOE_R(floe_interp_encode)(f[k], p[k], inverse, (floe_real)FLOE_CONTEXT_LARGEST);
                values[value_at + offset[k]] = FLOE_R(floe_interp_decode)(q, step, p[k]);
                codes[code_at + class_of[k] - 1] = (int16_t)(int32_t)q;
            }
    }
}

FLOE_DEV void code_step(const step_of_box &s, floe_real *values, uint4 *records)
{
    walk_of_points cells;
    cells.begin(s.coarse);
    for (uint32_t i = threadIdx.x; i < s.nrecords; i += THREADS)
        records[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    for (uint32_t odd = 1; odd <= s.step.naxes; odd++) {
        if (s.rule.mean)
            code_classes<true, TOGETHER>(s, cells, odd, values, (int16_t *)records);
        else if (odd == s.step.naxes)
            code_classes<false, 1>(s, cells, odd, values, (int16_t *)records);
        else
            code_classes<false, TOGETHER>(s, cells, odd, values, (int16_t *)records);
        __syncthreads();
    }
}

/* ---- counts ------------------------------------------------------------------------------------------------------------ */

FLOE_HD uint32_t ncounts_of(uint32_t nvalues) { return FLOE_CONTEXT_VALUES_AT + nvalues * FLOE_CONTEXT_STRIDE; }

/* A block a step of a box, or a share of the finest one. A part is a window: there are few records, and many warps. */
__global__ void __launch_bounds__(COUNT_WARPS *FLOE_WARP)
    interp_count_kernel(const __grid_constant__ floe_interp_trials_job job)
{
    FLOE_DYNAMIC_SHARED(uint32_t, here);
    const uint32_t box = blockIdx.x % job.nboxes, warp = threadIdx.x / FLOE_WARP, nwarps = blockDim.x / FLOE_WARP;
    uint32_t unit = blockIdx.x / job.nboxes, trial = 0;
    for (uint32_t n; n = job.begin[trial + 1] - job.begin[trial] + SHARES - 1, unit >= n; trial++)
        unit -= n;
    const uint32_t shares = unit < SHARES ? SHARES : 1, i = job.begin[trial] + (unit < SHARES ? 0 : unit - SHARES + 1);
    if (*job.status != FLOE_OK || i == job.begin[trial + 1]) /* no steps */
        return;
    const floe_interp_dev_trial_step &t = job.steps[i];
    floe_context_dev_grid g = t.grid;
    const uint32_t nparts = count_parts(g.grid, g.spec.window), ncounts = ncounts_of(floe_context_values(&g.spec));
    uint8_t *contexts = (uint8_t *)(here + ncounts_of(job.nvalues));
    uint8_t *space = contexts + CONTEXT_ACTIVITIES + warp * job.warp_nbytes;
    uint32_t *counts = job.counts + ((uint64_t)trial * job.nlevels + t.level) * FLOE_CONTEXT_COUNTS;
    counting to = {contexts, here, 0, {}};
    g.records = job.scratch + (job.coding[trial] * job.nboxes + box) * job.block_nbytes + t.records_at;
    for (uint32_t k = threadIdx.x; k < ncounts; k += blockDim.x)
        here[k] = 0;
    context_of_activity(contexts, [](uint32_t context) { return context; });
    for (uint32_t k = (shares > 1 ? unit * nwarps : 0) + warp; k < g.nchunks * nparts; k += shares * nwarps) {
        const auto count = [&](auto walk) {
            walk.begin(g, k / nparts, space);
            count_part(walk, g, k % nparts, g.spec.window, to);
        };
        if (g.spec.planes)
            count(context_walk<2, true>());
        else
            count(context_walk<2, false>());
    }
    to.end_block();
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < ncounts; k += blockDim.x)
        if (here[k])
            atomicAdd(counts + k, here[k]);
}

__global__ void __launch_bounds__(THREADS) interp_trial_kernel(const __grid_constant__ floe_interp_trials_job job)
{
    FLOE_DYNAMIC_SHARED(floe_real, box_shared);
    __shared__ step_of_box step;
    const uint32_t trial = job.coded[blockIdx.x / job.nboxes], begin = job.begin[trial], end = job.begin[trial + 1];
    uint8_t *block = job.scratch + blockIdx.x * job.block_nbytes;
    floe_real *values = job.shared_nbytes ? box_shared : (floe_real *)block;
    const uint32_t ncounts = job.ntrials * job.nlevels * FLOE_CONTEXT_COUNTS;
    if (*job.status != FLOE_OK) /* which nobody sets meanwhile */
        return;
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < ncounts; i += gridDim.x * THREADS)
        job.counts[i] = 0;
    const bool apart = load_box(job, blockIdx.x % job.nboxes, values);
    for (uint32_t i = begin; i < end && apart; i++) {
        set_step(job, i, &step);
        thin(step, values);
    }
    if (apart)
        bridge_anchors(step, values);
    for (uint32_t i = end; i-- > begin;) {
        set_step(job, i, &step);
        code_step(step, values, (uint4 *)(block + job.steps[i].records_at));
    }
}

/* A block a level of a structure. */
__global__ void __launch_bounds__(TALLY_WARPS *FLOE_WARP)
    interp_tally_kernel(const __grid_constant__ floe_interp_trials_job job)
{
    floe_dev_begin();
    context_tally<TALLY_WARPS>(job.counts + (uint64_t)blockIdx.x * FLOE_CONTEXT_COUNTS, job.nvalues, 0,
                               job.found->tallies + blockIdx.x);
}

} // namespace

int FLOE_R(floe_interp_trials)(const floe_interp_trials_job *job, void *stream)
{
    const uint32_t room = floe_gpu_limits_cuda().shared_nbytes - BESIDES_NBYTES,
                   fixed = ncounts_of(job->nvalues) * sizeof(uint32_t) + CONTEXT_ACTIVITIES, each = job->warp_nbytes,
                   most = (room - fixed) / each, nwarps = most < COUNT_WARPS ? most : COUNT_WARPS,
                   nbytes = fixed + nwarps * each;
    floe_interp_trials_job of = *job;
    of.shared_nbytes = job->values_nbytes <= room ? (uint32_t)job->values_nbytes : 0;
    cudaError_t e = floe_allow_shared(interp_count_kernel);
    if (e == cudaSuccess)
        e = floe_allow_shared(interp_trial_kernel);
    if (e != cudaSuccess)
        return (int)e;
    FLOE_LAUNCH(interp_trial_kernel, job->ncodings * job->nboxes, THREADS, of.shared_nbytes, (cudaStream_t)stream, of);
    FLOE_LAUNCH(interp_count_kernel, (job->begin[job->ntrials] + (SHARES - 1) * job->ntrials) * job->nboxes,
                nwarps * FLOE_WARP, nbytes, (cudaStream_t)stream, *job);
    FLOE_LAUNCH_EARLY(interp_tally_kernel, job->ntrials * job->nlevels, TALLY_WARPS * FLOE_WARP, 0,
                      (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
