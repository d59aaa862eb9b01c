/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extremes of all that a block has seen, in double and in shared memory. They are what the block's part holds of its
 * extremes, but for those of x and y in tame groups, which lanes keep.
 */
#ifndef FLOE_ASSESS_REDUCTION_RECORDS_CUH
#define FLOE_ASSESS_REDUCTION_RECORDS_CUH

#include "assess/reduction/reduction_cuda.cuh"

/* Words that are ordered as the numbers are, in the order of floe_reduction_top. Between barriers they are touched by
 * atomics only. */
typedef struct floe_reduction_records {
    unsigned long long key[FLOE_TOPS];
} floe_reduction_records;

enum { FLOE_REDUCTION_RECORDS = FLOE_TOPS - FLOE_TOP_E }; /* those of e and |e| / |x| */

/* Which pairs of a group count, and have an x that is not 0. */
typedef struct floe_reduction_marks {
    uint32_t counts, divides;
} floe_reduction_marks;

template <typename T> FLOE_DEV T floe_reduction_infinity() { return (T)floe_f64_of(0x7ff0000000000000u); }

/* By a whole warp. */
template <typename T> FLOE_DEV T floe_reduction_warp_most(T v)
{
#pragma unroll
    for (int d = FLOE_WARP / 2; d > 0; d /= 2)
        v = max(v, __shfl_xor_sync(FLOE_ALL_LANES, v, d));
    return v;
}

/* None is NaN. */
FLOE_DEV unsigned long long floe_reduction_key(double v)
{
    const uint64_t bits = floe_bits_f64(v);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}
FLOE_DEV double floe_reduction_of_key(unsigned long long key)
{
    return floe_f64_of(key >> 63 ? key & ~((uint64_t)1 << 63) : ~(uint64_t)key);
}

/* By all threads, before a barrier. */
FLOE_DEV void floe_reduction_records_init(floe_reduction_records *r)
{
    if (threadIdx.x < FLOE_TOPS)
        r->key[threadIdx.x] = floe_reduction_key(-floe_reduction_infinity<double>());
}

/* The largest v of a warp's lanes, by all of them. */
FLOE_DEV void floe_reduction_record_add(double v, int top, floe_reduction_records *r)
{
    const unsigned long long key = floe_reduction_key(floe_reduction_warp_most(v));
    if (floe_lane() == 0)
        atomicMax(&r->key[top], key);
}

/* Those of e, and of |e| / |x| where wanted, of the groups of a warp, by all its lanes. */
template <typename T>
FLOE_DEV_COLD void floe_reduction_records_add(floe_reduction_group<T> g, floe_reduction_marks marks, bool ratios,
                                              floe_reduction_records *r)
{
    double v[FLOE_REDUCTION_RECORDS];
#pragma unroll
    for (int i = 0; i < FLOE_REDUCTION_RECORDS; i++)
        v[i] = -floe_reduction_infinity<double>();
#pragma unroll
    for (int j = 0; j < FLOE_REDUCTION_GROUP; j++)
        if (marks.counts >> j & 1) {
            const double e = (double)g.y[j] - (double)g.x[j];
            v[0] = max(v[0], e), v[1] = max(v[1], -e), v[2] = max(v[2], -fabs(e));
            if (ratios && marks.divides >> j & 1) {
                const double ratio = fabs(e) / fabs((double)g.x[j]);
                v[3] = max(v[3], ratio), v[4] = max(v[4], -ratio);
            }
        }
#pragma unroll
    for (int i = 0; i < FLOE_REDUCTION_RECORDS; i++)
        floe_reduction_record_add(v[i], FLOE_TOP_E + i, r);
    __syncwarp();
}

#endif
