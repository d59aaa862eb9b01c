/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/resolve_cuda.h"

#ifdef FLOE_HAVE_CUDA_BUILD

#include "api/resolve_math.h"
#include "base/try.h"
#include "codec/lorenzo_params_math.h"

floe_status floe_resolve_prepare(floe_resolve_job *job, floe_error *err)
{
    floe_header h = job->header;
    size_t nbytes = floe_header_nbytes(&h);
    if (floe_resolve_scans(job))
        return FLOE_OK;
    if (!job->complete)
        h.abs_bound = floe_resolve_abs_bound(h.mode, h.bound, NULL);
    const floe_codec_params p = floe_resolve_codec(&h);
    floe_lorenzo_params_make(&p, &job->ready);
    FLOE_TRY(floe_header_write(&h, job->ready_header, sizeof job->ready_header, err));
    job->ready_nwords = (uint32_t)(nbytes / 8);
    return FLOE_OK;
}

#endif
