/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/few_cuda.h"

int floe_few_cuda(const floe_few_job *job, void *stream)
{
    floe_view view;
    floe_view_of(job->call.field.rank, job->call.grid.chunk, false, &view); /* swap does not change the rank */
    return job->call.field.dtype == FLOE_F32 ? floe_few_real_cuda_f32(job, view.rank, stream)
                                             : floe_few_real_cuda_f64(job, view.rank, stream);
}
