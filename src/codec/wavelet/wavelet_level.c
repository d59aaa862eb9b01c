/* SPDX-License-Identifier: BSD-3-Clause */
/* How many of a chunk's first bytes a level takes. */
#include "codec/wavelet/wavelet_chunk.h"
#include "codec/wavelet/wavelet_layout.h"
#include "codec/wavelet/wavelet_records.h"
#include "field/dtype_math.h"

enum { HEADER_MOST = 1024 /* bytes that no header exceeds */ };

floe_status floe_wavelet_level_nbytes(const floe_chunk_decode *c, uint64_t have, uint64_t *nbytes, floe_error *err)
{
    const uint8_t *src = c->src;
    floe_wavelet_chunk k;
    *nbytes = floe_min64(c->nbytes, HEADER_MOST);
    const bool few = have < *nbytes;
    floe_reader from =
        floe_reader_of(src, (size_t)(few ? have : c->nbytes)); /* behind the header it is not looked at */
    FLOE_CHECK(err, !floe_dtype_is_integer(c->dtype) && floe_interp_shape_of(c->rank, c->extent, k.plan.shape),
               FLOE_ERR_FORMAT, "wavelet chunk: of what codec wavelet does not take");
    const floe_status status = floe_wavelet_header_read(&k, floe_dtype_is_narrow(c->dtype), &from, few ? NULL : err);
    if (status != FLOE_OK)
        return few ? FLOE_OK : status; /* with more of it there may be a header */
    const uint64_t nbits = floe_interp_points(floe_wavelet_anchors(&k.plan)) * k.anchors.nbits;
    uint64_t at = k.kind == FLOE_INTERP_CODED
                      ? floe_wavelet_check_end(k.checks, (uint64_t)(from.at - src) + floe_ceil_div(nbits, 8))
                      : c->nbytes;
    const floe_wavelet_level level = floe_wavelet_level_of(&k.plan, c->level);
    for (uint32_t i = k.plan.nsteps; i-- > level.step && at <= have;) {
        const floe_interp_records r = {&k.plan.steps[i].spec, &k.plan.steps[i].grid, NULL};
        at = floe_wavelet_check_end(k.checks, floe_wavelet_records_end(&r, src, at, have));
    }
    FLOE_CHECK(err, at <= c->nbytes, FLOE_ERR_FORMAT, "wavelet chunk: it ends within its parts");
    *nbytes = at;
    return FLOE_OK;
}
