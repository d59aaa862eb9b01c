/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How threads of a block go through a piece of pairs: eight pairs a thread at a time, as two (f64: four) loads of 16 bytes
 * a side where the fields are flat, else one by one.
 */
#ifndef FLOE_ASSESS_REDUCTION_CUDA_CUH
#define FLOE_ASSESS_REDUCTION_CUDA_CUH

#include "assess/pair_math.h"
#include "assess/reduction/reduction_cuda.h"
#include "backend/device.cuh"

enum {
    FLOE_REDUCTION_THREADS = 512, /* few long streams of reads go faster than many short ones */
    FLOE_REDUCTION_WARPS = FLOE_REDUCTION_THREADS / FLOE_WARP,
    FLOE_REDUCTION_GROUP = 8,                                           /* pairs of a thread */
    FLOE_REDUCTION_STEP = FLOE_REDUCTION_THREADS * FLOE_REDUCTION_GROUP /* pairs of a block */
};

/* A group: bit j of there shows that pair j exists; NaN where it does not. Flat: pairs of a load are neighbours; else they are a
 * block apart. */
template <typename T> struct floe_reduction_group {
    T x[FLOE_REDUCTION_GROUP], y[FLOE_REDUCTION_GROUP];
    uint32_t there;
};

FLOE_DEV floe_value_class floe_reduction_class(float v, const floe_reduction_dev_job *job)
{
    return floe_value_class_f32(floe_bits_f32(v), job->has_fill, (uint32_t)job->fill_bits);
}
FLOE_DEV floe_value_class floe_reduction_class(double v, const floe_reduction_dev_job *job)
{
    return floe_value_class_f64(floe_bits_f64(v), job->has_fill, job->fill_bits);
}

FLOE_DEV bool floe_reduction_is_fill(float v, const floe_reduction_dev_job *job)
{
    return floe_bits_f32(v) == (uint32_t)job->fill_bits;
}
FLOE_DEV bool floe_reduction_is_fill(double v, const floe_reduction_dev_job *job)
{
    return floe_bits_f64(v) == job->fill_bits;
}

FLOE_DEV void floe_reduction_unpack(uint4 v, float *to)
{
    to[0] = floe_f32_of(v.x), to[1] = floe_f32_of(v.y), to[2] = floe_f32_of(v.z), to[3] = floe_f32_of(v.w);
}
FLOE_DEV void floe_reduction_unpack(uint4 v, double *to)
{
    to[0] = floe_f64_of((uint64_t)v.x | (uint64_t)v.y << 32);
    to[1] = floe_f64_of((uint64_t)v.z | (uint64_t)v.w << 32);
}

/* Where pair `at` of a side lies, in elements. */
FLOE_DEV_COLD int64_t floe_reduction_offset(const floe_reduction_dev_job *job, int side, uint64_t at)
{
    int64_t offset = 0;
#pragma unroll
    for (int i = FLOE_MAX_RANK; i-- > 0;) {
        const uint64_t extent = job->shape[i];
        if (extent > 1) {
            const uint64_t up = at / extent;
            offset += (int64_t)(at - up * extent) * job->stride[side][i];
            at = up;
        }
    }
    return offset;
}

template <typename T> FLOE_DEV T floe_reduction_value(const floe_reduction_dev_job *job, int side, uint64_t at)
{
    return ((const T *)job->side[side])[job->flat ? (int64_t)at : floe_reduction_offset(job, side, at)];
}

/* The pair that a thread has as number j of a group; first: that of the block's step. */
template <typename T> FLOE_DEV uint64_t floe_reduction_number(bool flat, uint64_t first, uint32_t j)
{
    const uint32_t side_by_side = 16 / sizeof(T);
    if (!flat)
        return first + j * FLOE_REDUCTION_THREADS + threadIdx.x;
    return first + (j / side_by_side * FLOE_REDUCTION_THREADS + threadIdx.x) * side_by_side + j % side_by_side;
}

/* What a thread reads first of a side of flat fields, for the block's step that begins with pair `first`. */
template <typename T>
FLOE_DEV const uint4 *floe_reduction_flat(const floe_reduction_dev_job *job, int side, uint64_t first)
{
    return (const uint4 *)((const T *)job->side[side] + first) + threadIdx.x;
}

/* Pairs that a block reads, from a border of its steps on. */
struct floe_reduction_range {
    uint64_t begin, end;
};

/* A block takes a piece of each round in turn; of what is left for less than a round it takes a share, so that all blocks have as
 * much to do. turn: up to job->turns. */
FLOE_DEV floe_reduction_range floe_reduction_turn(const floe_reduction_dev_job *job, uint64_t turn)
{
    const bool is_piece = turn < job->turns;
    const uint64_t begin =
        is_piece ? (turn * gridDim.x + blockIdx.x) * job->piece : job->rest + blockIdx.x * job->share;
    const uint64_t n = is_piece ? job->piece : job->share;
    return floe_reduction_range{floe_min64(begin, job->nelems), floe_min64(begin + n, job->nelems)};
}

/* A step that is all there, of flat fields: see floe_reduction_flat. */
template <typename T> FLOE_DEV void floe_reduction_load(const uint4 *x, const uint4 *y, floe_reduction_group<T> *g)
{
    enum { SIDE_BY_SIDE = 16 / sizeof(T), LOADS = FLOE_REDUCTION_GROUP / SIDE_BY_SIDE };
    uint4 a[LOADS], b[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; i++)
        a[i] = floe_load16_once(x + i * FLOE_REDUCTION_THREADS),
        b[i] = floe_load16_once(y + i * FLOE_REDUCTION_THREADS);
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        floe_reduction_unpack(a[i], g->x + i * SIDE_BY_SIDE);
        floe_reduction_unpack(b[i], g->y + i * SIDE_BY_SIDE);
    }
    g->there = 255;
}

/* Any other. end: of the piece. */
template <typename T>
FLOE_DEV void floe_reduction_gather(const floe_reduction_dev_job *job, uint64_t first, uint64_t end,
                                    floe_reduction_group<T> *g)
{
    const T nan = (T)floe_f64_of(FLOE_NAN64_BITS);
    g->there = 0;
#pragma unroll
    for (uint32_t j = 0; j < FLOE_REDUCTION_GROUP; j++) {
        const uint64_t at = floe_reduction_number<T>(false, first, j);
        const bool is = at < end;
        g->x[j] = is ? floe_reduction_value<T>(job, 0, at) : nan;
        g->y[j] = is ? floe_reduction_value<T>(job, 1, at) : nan;
        g->there |= (uint32_t)is << j;
    }
}

/* Whether a step of the piece goes by whole loads. */
FLOE_DEV bool floe_reduction_is_whole(const floe_reduction_dev_job *job, uint64_t first, uint64_t end)
{
    return job->flat && first + FLOE_REDUCTION_STEP <= end;
}

template <typename T>
FLOE_DEV_COLD floe_reduction_group<T> floe_reduction_gathered(const floe_reduction_dev_job *job, uint64_t first,
                                                              uint64_t end)
{
    floe_reduction_group<T> g;
    floe_reduction_gather(job, first, end, &g);
    return g;
}

/* Of any step. */
template <typename T>
FLOE_DEV void floe_reduction_fetch(const floe_reduction_dev_job *job, uint64_t first, uint64_t end,
                                   floe_reduction_group<T> *g)
{
    if (floe_reduction_is_whole(job, first, end))
        floe_reduction_load(floe_reduction_flat<T>(job, 0, first), floe_reduction_flat<T>(job, 1, first), g);
    else
        *g = floe_reduction_gathered<T>(job, first, end);
}

#endif
