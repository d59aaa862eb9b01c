/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/wavelet/wavelet.h"

#include "field/dtype_math.h"
#include "stage/wavelet/wavelet_values.h"

const floe_wavelet_ops *floe_wavelet_ops_of(floe_dtype dtype, floe_isa isa)
{
    return FLOE_BY_REAL_AND_ISA(floe_dtype_is_narrow(dtype), isa, &floe_wavelet_ops);
}

const floe_wavelet_value_ops *floe_wavelet_value_ops_of(floe_dtype dtype, floe_isa isa)
{
    return FLOE_BY_REAL_AND_ISA(floe_dtype_is_narrow(dtype), isa, &floe_wavelet_value_ops);
}

uint64_t floe_wavelet_ntasks(const floe_wavelet_pass *p)
{
    uint64_t lines = 1;
    for (uint32_t a = 0; a < 3; a++)
        lines *= a == p->axis ? 1 : p->n[a];
    return p->axis == 3 ? floe_ceil_div(lines, FLOE_WAVELET_TASK_ROWS)
                        : lines * floe_ceil_div(p->n[3], floe_wavelet_columns(p));
}

uint64_t floe_wavelet_task_reals(const floe_wavelet_pass *p)
{
    return (p->n[p->axis] + 4 * FLOE_WAVELET_HALO) * floe_wavelet_columns(p);
}

/* Of those that do, the first step is the prediction. */
bool floe_wavelet_interpolates(floe_wavelet_bank bank) { return bank == FLOE_WAVELET_53 || bank >= FLOE_WAVELET_DD44; }
