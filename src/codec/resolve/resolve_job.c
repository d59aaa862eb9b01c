/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/resolve/resolve_cuda.h"

#include "base/try.h"
#include "codec/resolve/resolve_math.h"

bool floe_resolve_scans(const floe_resolve_job *job)
{
    return !job->complete && (job->detect || floe_resolve_needs_range(job->header.mode));
}

floe_status floe_resolve_prepare(floe_resolve_job *job, floe_error *err)
{
    const bool scans = floe_resolve_scans(job);
    floe_header h = job->header;
    if (!job->complete)
        h.abs_bound = floe_resolve_needs_range(h.mode) ? 0 : floe_resolve_abs_bound(h.mode, h.bound, NULL);
    if (scans) {
        h.has_fill = false;
        h.fill_bits = 0;
    } else {
        job->codec = floe_resolve_codec(&h);
    }
    job->header_nwords = (uint32_t)(floe_header_nbytes(&h) / 8);
    return floe_header_write(&h, job->header_words, sizeof job->header_words, err);
}

#endif
