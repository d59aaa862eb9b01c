/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/resolve/resolve_cuda.h"

#ifdef FLOE_HAVE_CUDA_BUILD

#include "call/resolve_math.h"
#include "base/try.h"
#include "codec/lorenzo/format/lorenzo_params_math.h"

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
        const floe_codec_params p = floe_resolve_codec(&h);
        floe_lorenzo_params_make(&p, &job->ready);
    }
    job->header_nwords = (uint32_t)(floe_header_nbytes(&h) / 8);
    return floe_header_write(&h, job->header_words, sizeof job->header_words, err);
}

#endif
