/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as lattices have them, and whether they come back as they must; by a thread. */
#ifndef FLOE_STAGE_INTERP_CHECK_CUH
#define FLOE_STAGE_INTERP_CHECK_CUH

#include "backend/device_scan.cuh"
#include "stage/interp/interp_cuda.h"
#include "stage/interp/interp_math.h"

/* The quicker way of a step of three axes in C order: whether it does such a step; check: NULL to decode. */
extern "C" bool FLOE_R(floe_interp_marches)(const floe_interp_dev_job *job, const floe_interp_dev_check *check);
extern "C" int FLOE_R(floe_interp_march)(const floe_interp_dev_job *job, const floe_interp_dev_check *check,
                                         void *stream);

namespace
{

/* ---- weights ----------------------------------------------------------------------------------------------------------- */

typedef FLOE_R(floe_interp_weights) weights;

enum { BEHIND = 2 /* cells behind its own at which a prediction looks */, WEIGHTS = 2 * (BEHIND + 1) };

/* Which weights a cell of n has: by how many there are before and behind it. */
FLOE_DEV uint32_t weights_for(int32_t cell, int32_t n)
{
    return (uint32_t)(max(min(n - 1 - cell, (int32_t)BEHIND), 0) * 2 + (cell > 0));
}
FLOE_HD weights weights_number(uint32_t i, uint32_t predictor)
{
    return FLOE_R(floe_interp_weights_at)(predictor, i % 2, i % 2 + 1 + i / 2);
}

/* ---- values ------------------------------------------------------------------------------------------------------------ */

struct found_here {
    double max_error, max_pw_error;
    unsigned long long squares;
};

FLOE_DEV floe_real value_at(const floe_lattice_view &v, const uint64_t *point)
{
    return ((const floe_real *)v.data)[floe_lattice_view_at(&v, point)];
}

FLOE_DEV floe_real take_in(const floe_interp_dev_check &c, floe_real x, uint64_t fill)
{
    return c.log ? FLOE_R(floe_lattice_log)(x, (floe_uint)fill) : FLOE_R(floe_lattice_clean)(x, (floe_uint)fill);
}
FLOE_DEV floe_real take_in(const floe_interp_dev_check &c, floe_real x) { return take_in(c, x, c.fill); }

FLOE_DEV uint32_t code_bits(floe_real q) { return (uint32_t)FLOE_R(floe_real_bits)(q + FLOE_INTERP_MAGIC); }

/* A bit of the field that is marked now, as number i. */
FLOE_DEV_COLD void keep_apart(const floe_interp_dev_check &c, uint64_t at, uint64_t i)
{
    const uint64_t *n = c.shape, row = floe_ceil_div(n[3], 64) * 64, line = at / row, x = at % row,
                   point[] = {line / n[2] / n[1], line / n[2] % n[1], line % n[2], x};
    const floe_uint pattern = ((const floe_uint *)c.values.data)[floe_lattice_view_at(&c.values, point)];
    c.found->few[i] = {line * n[3] + x, (uint64_t)pattern};
}

/* Adds 1, and returns what was there. Lanes that come together add once: a counter takes one addition after another. */
FLOE_DEV unsigned long long count_one(unsigned long long *counter)
{
#ifdef FLOE_EMULATED
    return atomicAdd(counter, 1ull);
#else
    const uint32_t lanes = __activemask(), first = (uint32_t)__ffs((int)lanes) - 1;
    unsigned long long before = 0;
    if (floe_lane() == first)
        before = atomicAdd(counter, (unsigned long long)__popc(lanes));
    return __shfl_sync(lanes, before, (int)first) + (uint32_t)__popc(lanes & floe_lanes_below());
#endif
}

/* It may have been marked before. */
FLOE_DEV void mark_bit(const floe_interp_dev_check &c, uint64_t at)
{
    const unsigned long long bit = 1ull << at % 64;
    if (atomicOr((unsigned long long *)c.apart + at / 64, bit) & bit)
        return;
    const unsigned long long i = count_one(&c.found->napart);
    if (i < FLOE_INTERP_DEV_FEW)
        keep_apart(c, at, i);
}

/* point: of its lattice. */
FLOE_DEV_COLD void mark_apart(const floe_interp_dev_check &c, const uint64_t *point, const uint64_t *unit)
{
    const uint64_t *n = c.shape;
    const uint64_t line = (point[0] * unit[0] * n[1] + point[1] * unit[1]) * n[2] + point[2] * unit[2];
    mark_bit(c, line * floe_ceil_div(n[3], 64) * 64 + point[3] * unit[3]);
}

FLOE_DEV_COLD bool check_relative(const floe_interp_dev_check &c, const uint64_t *point, floe_real f, floe_real r,
                                  found_here &found)
{
    const floe_real x = value_at(c.values, point);
    const double size = x < 0 ? -(double)x : (double)x, d = size - (double)FLOE_R(floe_lattice_exp)(r);
    const double error = d < 0 ? -d : d;
    if (f != f || !(error <= c.tolerance * size))
        return false;
    if (!(size < INFINITY)) /* it comes back, but as no number that has an error */
        return true;
    const double relative = error / size;
    found.max_error = error > found.max_error ? error : found.max_error;
    found.max_pw_error = relative > found.max_pw_error ? relative : found.max_pw_error;
    return true;
}

/* f comes back as r. point: of its lattice. */
FLOE_DEV void check_value(const floe_interp_dev_check &c, const uint64_t *point, const uint64_t *unit, floe_real f,
                          floe_real r, found_here &found)
{
    bool good;
    if (c.log) {
        uint64_t at[FLOE_LATTICE_RANK];
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            at[a] = point[a] * unit[a];
        good = check_relative(c, at, f, r, found);
    } else {
        const floe_real d = f - r, e = d < 0 ? -d : d, tolerance = (floe_real)c.tolerance;
        good = e <= tolerance;
        found.max_error = good && (double)e > found.max_error ? (double)e : found.max_error;
        if (c.squares)
            found.squares += FLOE_R(floe_interp_square)(e, tolerance);
    }
    if (!good)
        mark_apart(c, point, unit);
}

FLOE_DEV void leave_most(unsigned long long *to, double v)
{
    const unsigned long long bits = floe_warp_max((unsigned long long)floe_bits_f64(v));
    if (floe_lane() == 0 && bits > *(volatile unsigned long long *)to)
        atomicMax(to, bits);
}

/* By all lanes of a warp. */
FLOE_DEV void leave_found(const floe_interp_dev_check &c, const found_here &found)
{
    leave_most(&c.found->max_error, found.max_error);
    if (c.log)
        leave_most(&c.found->max_pw_error, found.max_pw_error);
    const unsigned long long squares = floe_warp_sum(found.squares);
    if (c.squares && floe_lane() == 0)
        atomicAdd(&c.found->squares, squares);
}

} // namespace

#endif
