/* SPDX-License-Identifier: BSD-3-Clause */
/* When codec lorenzo's fused kernels are used, and with what. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "device/fused.h"

#include <assert.h>
#include <string.h>

#include "base/try.h"
#include "codec/lorenzo/format/lorenzo_params_math.h"
#include "codec/lorenzo/gpu/lorenzo_cuda.h"
#include "device/lorenzo/lorenzo_fused_cuda.h"

/* ---- compression: few tiles ---------------------------------------------------------------------------------------- */

static bool encodes(const floe_codec_encode *e) { return floe_lorenzo_is_small(floe_lorenzo_encode_of(e)); }

static floe_status encode_start(const floe_codec_encode *e, void *stream, floe_error *err)
{
    const floe_small_job job = {.call = *floe_lorenzo_encode_of(e)};
    FLOE_CUDA(err, floe_small_cuda(&job, NULL, stream));
    return FLOE_OK;
}

/* One kernel, and one before it unless no value decides anything. */
static floe_status compress(const floe_fused_compress *f, floe_error *err)
{
    const floe_resolve_job *r = f->resolve;
    floe_dev_params params = {.codec = r->codec};
    floe_small_job job = {.call = *floe_lorenzo_encode_of(f->encode),
                          .finish = f->scratch,
                          .cleared = f->cleared,
                          .cleared_nbytes = f->cleared_nbytes,
                          .report = f->report,
                          .pwrel = f->pwrel};
    static_assert(sizeof job.header == sizeof r->header_words, "a header without attributes");
    if (!r->scans) {
        floe_lorenzo_params_make(&r->codec, &params);
        job.has_host_chunk = floe_lorenzo_host_chunk_of(&job.call, &params, &job.host_chunk);
    }
    if (job.has_host_chunk) {
        memcpy(job.header, r->header_words, sizeof job.header);
        job.header_nwords = r->header_nwords;
    } else {
        FLOE_CUDA(err, floe_lorenzo_resolve_cuda(&job.call, r, &params, f->cuda->stream));
    }
    FLOE_CUDA(err, floe_small_cuda(&job, &f->cuda->granted, f->cuda->stream));
    return FLOE_OK;
}

/* ---- decompression: encoder pack alone ----------------------------------------------------------------------------- */

/* Values that are not quantized go the general path, which leaves a block too little to share. */
static bool decodes(const floe_codec_decode *d)
{
    const bool quantized = d->mode != FLOE_BOUND_LOSSLESS && d->mode != FLOE_BOUND_PWREL;
    return d->nchunks > 0 && quantized && !floe_lorenzo_decode_of(d)->huffman;
}

/* What the blocks exchange. */
static size_t fused_decode_nbytes(const floe_codec_decode *d)
{
    const size_t nbytes =
        sizeof(floe_fused_decode_state) + (size_t)FLOE_FUSED_DECODE_WORDS(d->nchunks) * sizeof(uint64_t);
    return nbytes > FLOE_CUDA_STATE_NBYTES ? nbytes : 0;
}

static floe_status decompress(const floe_fused_decompress *f, floe_error *err)
{
    const uint64_t nchunks = f->decode->nchunks;
    floe_fused_decode_job job = {
        .chunk = floe_lorenzo_decode_of(f->decode)->job, .open = f->open, .state = f->cuda->state, .report = f->report};
    if (f->scratch) {
        job.state = f->scratch;
        FLOE_TRY(floe_cuda_clear(f->cuda, f->scratch, fused_decode_nbytes(f->decode), err));
    }
    job.open.records = NULL;
    job.tallies = (uint64_t *)(job.state + 1);
    job.opened = job.tallies + 1 + nchunks;
    FLOE_CUDA(err, f->open.dtype == FLOE_F32 ? floe_fused_decode_real_cuda_f32(&job, f->cuda->stream)
                                             : floe_fused_decode_real_cuda_f64(&job, f->cuda->stream));
    return FLOE_OK;
}

const floe_fused floe_lorenzo_fused = {
    .codec = &floe_lorenzo_gpu,
    .encodes = encodes,
    .encode_start = encode_start,
    .compress = compress,
    .compress_nbytes = sizeof(floe_small_finish),
    .decodes = decodes,
    .decompress = decompress,
    .decompress_nbytes = fused_decode_nbytes,
};

#endif
