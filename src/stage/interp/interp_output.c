/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/interp/interp_output.h"

#include <string.h>

#include "field/dtype_math.h"

floe_interp_output floe_interp_output_of(uint32_t rank, const uint64_t *extent, const uint64_t *lo, const uint64_t *hi,
                                         const floe_field *out, uint32_t level)
{
    floe_interp_output o = {.box.hi = {1, 1, 1, 1}, .level = level, .size = (uint32_t)floe_dtype_size(out->dtype)};
    uint32_t axis[FLOE_MAX_RANK];
    floe_interp_axes_of(rank, extent, axis);
    o.view.data = out->data;
    for (uint32_t a = 0; a < rank; a++)
        if (axis[a] < FLOE_INTERP_RANK) {
            o.box.lo[axis[a]] = lo[a];
            o.box.hi[axis[a]] = hi[a];
            o.view.stride[axis[a]] = out->stride[a];
        }
    return o;
}

void floe_interp_output_put(const floe_interp_output *o, const uint64_t *point, uint64_t pattern)
{
    const uint32_t narrow = (uint32_t)pattern;
    uint8_t *to = floe_interp_output_place(o, point);
    if (to && o->size == sizeof narrow)
        memcpy(to, &narrow, sizeof narrow);
    else if (to)
        memcpy(to, &pattern, sizeof pattern);
}

void floe_interp_output_fill(const floe_interp_output *o, const uint64_t *shape, const uint8_t *values,
                             uint64_t pattern)
{
    const uint64_t step = (uint64_t)1 << o->level, *lo = o->box.lo, *hi = o->box.hi;
    uint64_t at[FLOE_INTERP_RANK];
    for (at[0] = lo[0] * step; at[0] < hi[0] * step; at[0] += step)
        for (at[1] = lo[1] * step; at[1] < hi[1] * step; at[1] += step)
            for (at[2] = lo[2] * step; at[2] < hi[2] * step; at[2] += step)
                for (at[3] = lo[3] * step; at[3] < hi[3] * step; at[3] += step) {
                    if (values)
                        pattern = floe_interp_pattern_load(values + floe_interp_index(shape, at) * o->size, o->size);
                    floe_interp_output_put(o, at, pattern);
                }
}
