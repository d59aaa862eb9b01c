/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/codec_chunks.h"

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "base/grid_math.h"
#include "base/try.h"
#include "field/dtype_math.h"

floe_status floe_codec_fetch(void *host, const void *dev, size_t nbytes, void *stream, floe_error *err)
{
    FLOE_CUDA(err, cudaMemcpyAsync(host, dev, nbytes, cudaMemcpyDeviceToHost, stream));
    FLOE_CUDA(err, cudaStreamSynchronize(stream));
    return FLOE_OK;
}

floe_status floe_codec_send(void *dev, const void *host, size_t nbytes, void *stream, floe_error *err)
{
    FLOE_CUDA(err, cudaMemcpyAsync(dev, host, nbytes, cudaMemcpyHostToDevice, stream));
    return FLOE_OK;
}

floe_status floe_codec_fetch_params(const floe_cuda *cuda, const floe_codec_encode *e, floe_codec_params *params,
                                    uint32_t *status, floe_error *err)
{
    FLOE_TRY(floe_cuda_ask(cuda, 0, e->params, sizeof *params, err));
    FLOE_TRY(floe_cuda_ask(cuda, sizeof *params, e->status, sizeof *status, err));
    FLOE_TRY(floe_cuda_wait(cuda, err));
    memcpy(params, cuda->answer, sizeof *params);
    memcpy(status, (const uint8_t *)cuda->answer + sizeof *params, sizeof *status);
    return FLOE_OK;
}

floe_status floe_codec_refuse(const floe_codec_chunk *c, floe_status why)
{
    const uint32_t status = why;
    return floe_codec_send(c->call->status, &status, sizeof status, c->stream, c->err);
}

/* What has been found out so far. */
typedef struct known {
    uint64_t layout[2 * FLOE_MAX_RANK], nrecords;
    uint32_t status;
} known;

static floe_status fetch_known(const floe_codec_chunk *c, known *k)
{
    const floe_codec_decode *call = c->call;
    FLOE_CUDA(c->err, cudaMemcpyAsync(k->layout, call->layout, sizeof k->layout, cudaMemcpyDeviceToHost, c->stream));
    FLOE_CUDA(c->err,
              cudaMemcpyAsync(&k->nrecords, call->nrecords, sizeof k->nrecords, cudaMemcpyDeviceToHost, c->stream));
    return floe_codec_fetch(&k->status, call->status, sizeof k->status, c->stream, c->err);
}

/* The part of the box that lies in the chunk at `at`, where a point of the level is; false: none. */
static bool set_box(floe_codec_chunk *c, const uint64_t *at)
{
    const floe_codec_decode *call = c->call;
    int64_t place = 0;
    for (uint32_t a = 0; a < call->rank; a++) {
        const uint64_t begin = at[a] >> call->level, n = floe_ceil_div(c->extent[a], (uint64_t)1 << call->level),
                       lo = floe_max64(call->lo[a], begin), hi = floe_min64(call->hi[a], begin + n);
        if (lo >= hi)
            return false;
        c->lo[a] = lo - begin;
        c->hi[a] = hi - begin;
        place += (int64_t)(lo - call->lo[a]) * call->field.stride[a];
    }
    c->out.data = (uint8_t *)call->field.data + place * (int64_t)floe_dtype_size(call->dtype);
    return true;
}

floe_status floe_codec_each_chunk(const floe_codec_chunk *none, floe_codec_visit *visit, void *user)
{
    const floe_codec_decode *call = none->call;
    floe_codec_chunk c = *none;
    floe_dev_record record;
    uint64_t at[FLOE_MAX_RANK];
    known k;
    FLOE_TRY(fetch_known(&c, &k));
    if (k.status != FLOE_OK || k.nrecords == 0)
        return FLOE_OK;
    if (k.nrecords != call->nchunks || memcmp(k.layout, call->shape, call->rank * sizeof *at) != 0 ||
        memcmp(k.layout + FLOE_MAX_RANK, call->chunk, call->rank * sizeof *at) != 0)
        return floe_codec_refuse(&c, FLOE_ERR_LIMIT);
    c.out = floe_field_of(NULL, call->dtype, call->rank, call->field.shape);
    memcpy(c.out.stride, call->field.stride, sizeof c.out.stride);
    for (uint64_t i = 0; i < k.nrecords; i++) {
        floe_grid_cut(call->rank, call->shape, call->chunk, i, at, c.extent);
        if (!set_box(&c, at))
            continue;
        FLOE_TRY(floe_codec_fetch(&record, call->records + i, sizeof record, c.stream, c.err));
        c.src = call->stream + record.offset + FLOE_RECORD_HEAD_NBYTES;
        c.nbytes = record.nbytes;
        FLOE_TRY(visit(&c, user));
    }
    return FLOE_OK;
}

#endif
