/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/resolve/resolve_cuda.h"

#include "codec/resolve/resolve_math.h"

floe_status floe_resolve_prepare(floe_resolve_job *job, floe_error *err)
{
    floe_header h = job->header;
    job->scans = !job->complete && (job->detect || floe_resolve_needs_range(h.mode));
    if (!job->complete)
        h.abs_bound = floe_resolve_needs_range(h.mode) ? 0 : floe_resolve_abs_bound(h.mode, h.bound, NULL);
    if (job->scans) {
        h.has_fill = false;
        h.fill_bits = 0;
    } else {
        job->codec = floe_resolve_codec(&h);
    }
    job->header_nwords = (uint32_t)(floe_header_nbytes(&h) / 8);
    return floe_header_write(&h, job->header_words, sizeof job->header_words, err);
}

floe_resolve_job floe_resolve_known(const floe_codec_encode *e, const floe_codec_params *params, size_t cleared_nbytes)
{
    return (floe_resolve_job){.complete = true,
                              .codec = *params,
                              .field = e->field,
                              .params = e->params,
                              .status = e->status,
                              .cleared = e->status,
                              .cleared_nbytes = cleared_nbytes};
}

#endif
