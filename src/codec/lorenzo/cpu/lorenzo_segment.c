/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/lorenzo/cpu/lorenzo_segment.h"

#include "backend/backend.h"
#include "field/dtype_math.h"

const floe_segment_ops *floe_segment_ops_of(floe_dtype dtype, floe_isa isa)
{
    return floe_dtype_is_narrow(dtype) ? FLOE_BY_ISA(isa, &floe_segment_ops_f32)
                                       : FLOE_BY_ISA(isa, &floe_segment_ops_f64);
}
