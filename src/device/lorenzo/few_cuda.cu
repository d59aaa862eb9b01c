/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/lorenzo/few_cuda.h"

int floe_few_cuda(const floe_few_job *job, uint32_t *asked, void *stream)
{
    floe_view view;
    const bool narrow = job->call.field.dtype == FLOE_F32;
    floe_view_of(job->call.field.rank, job->call.grid.chunk, false, &view); /* swap does not change the rank */
    const uint32_t kernel = 1u << (2 * view.rank + narrow);
    const bool ask = !asked || !(*asked & kernel);
    const int error = narrow ? floe_few_real_cuda_f32(job, view.rank, ask, stream)
                             : floe_few_real_cuda_f64(job, view.rank, ask, stream);
    if (asked && !error)
        *asked |= kernel;
    return error;
}
