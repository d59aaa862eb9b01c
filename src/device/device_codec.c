/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/device_codec.h"

#ifdef FLOE_HAVE_CUDA_BUILD

#include <cuda_runtime_api.h>

#include "device/lorenzo/few_cuda.h"
#include "backend/cuda.h"
#include "codec/lorenzo/gpu/error/lorenzo_error.h"
#include "codec/lorenzo/format/lorenzo_params_math.h"

static bool may_be_lossless(floe_bound_mode mode) { return mode != FLOE_BOUND_ABS && mode != FLOE_BOUND_PWREL; }

floe_status floe_device_encode_of(const floe_header *h, const floe_dev_field *field, floe_device_encode *e,
                                  floe_error *err)
{
    const bool lossy = h->mode != FLOE_BOUND_LOSSLESS;
    const uint64_t first_offset = floe_header_nbytes(h);
    *e = (floe_device_encode){.by_zfp = h->codec == FLOE_CODEC_ZFP};
    e->lorenzo = (floe_lorenzo_encode_call){.field = *field,
                                            .huffman = !e->by_zfp && h->preset != FLOE_PRESET_FAST,
                                            .lossless = !e->by_zfp && may_be_lossless(h->mode),
                                            .lossy = lossy,
                                            .first_offset = first_offset};
    e->zfp = (floe_zfp_grid_encode){
        .field = *field, .lossy = lossy, .cut = h->mode == FLOE_BOUND_RATE, .first_offset = first_offset};
    if (e->by_zfp)
        FLOE_TRY(floe_zfp_grid_of(h->dtype, h->rank, h->shape, h->chunk, &e->zfp.grid, &e->zfp.room, err));
    else
        FLOE_TRY(floe_lorenzo_grid(h->rank, h->shape, h->chunk, &e->lorenzo.grid, err));
    e->nchunks = e->by_zfp ? e->zfp.grid.nchunks : e->lorenzo.grid.nchunks;
    return FLOE_OK;
}

void floe_device_encode_state_take(floe_device_encode *e, floe_arena *a)
{
    if (!e->by_zfp)
        floe_lorenzo_state_take(&e->lorenzo, a);
}

floe_status floe_device_encode_take(floe_device_encode *e, floe_bound_mode mode, floe_arena *a, floe_error *err)
{
    const bool psnr = mode == FLOE_BOUND_PSNR;
    const uint64_t tiles_nbytes = e->by_zfp ? 0 : e->nchunks * e->lorenzo.grid.slots * sizeof *e->error_tiles;
    if (e->by_zfp) {
        FLOE_TRY(floe_zfp_grid_encode_take(&e->zfp, psnr, a, err));
        e->lorenzo.retry = floe_arena_take(a, 1, sizeof *e->lorenzo.retry);
    } else {
        floe_lorenzo_encode_take(&e->lorenzo, a);
    }
    e->records = e->by_zfp ? e->zfp.records : e->lorenzo.records;
    e->end = e->by_zfp ? e->zfp.end : e->lorenzo.end;
    if (!psnr)
        return FLOE_OK;
    e->error_sum = floe_arena_take(a, 1, sizeof *e->error_sum);
    e->error_tiles_nbytes = tiles_nbytes + 256; /* a header, too */
    e->error_tiles = floe_arena_take(a, e->error_tiles_nbytes, 1);
    return FLOE_OK;
}

void floe_device_encode_aim(floe_device_encode *e, void *dst, uint64_t capacity, uint32_t *status,
                            const floe_dev_params *params)
{
    e->lorenzo.stream = e->zfp.stream = dst;
    e->lorenzo.capacity = e->zfp.capacity = capacity;
    e->lorenzo.status = e->zfp.status = status;
    e->lorenzo.params = params;
    e->zfp.params = params ? &params->codec : NULL;
}

floe_status floe_device_encode_start(const floe_device_encode *e, void *stream, floe_error *err)
{
    if (e->by_zfp)
        return floe_zfp_grid_encode_start(&e->zfp, stream, err);
    if (!floe_lorenzo_is_few(&e->lorenzo))
        return floe_lorenzo_encode_start(&e->lorenzo, stream, err);
    const floe_few_job few = {.call = e->lorenzo};
    FLOE_CUDA(err, floe_few_cuda(&few, NULL, stream));
    return FLOE_OK;
}

void floe_device_encode_report(const floe_device_encode *e, floe_container_finish *finish)
{
    const floe_dev_chunk *chunks = e->lorenzo.chunks;
    finish->met = e->by_zfp ? e->zfp.gathered : chunks->gathered;
    finish->attempt = e->by_zfp ? NULL : &chunks->attempt;
    finish->met_stride = e->by_zfp ? sizeof *e->zfp.gathered : sizeof *chunks;
    finish->again = !e->by_zfp && floe_lorenzo_ends_with_attempt(&e->lorenzo) ? e->lorenzo.retry : NULL;
}

floe_status floe_device_encode_error(const floe_device_encode *e, const floe_codec_params *params,
                                     floe_dev_params *dev_params, void *stream, floe_error *err)
{
    floe_lorenzo_error_job job = {.params = *params,
                                  .grid = e->lorenzo.grid,
                                  .chunks = e->lorenzo.chunks,
                                  .tiles = e->error_tiles,
                                  .sum = e->error_sum};
    if (!e->by_zfp) {
        FLOE_CUDA(err, floe_lorenzo_squared_error_cuda(&job, stream));
        return FLOE_OK;
    }
    floe_dev_params made;
    floe_lorenzo_params_make(params, &made);
    FLOE_CUDA(err, cudaMemcpyAsync(dev_params, &made, sizeof made, cudaMemcpyHostToDevice, stream));
    FLOE_CUDA(err, cudaStreamSynchronize(stream)); /* made is on the stack */
    return floe_zfp_grid_squared_error(&e->zfp, e->error_sum, stream, err);
}

#endif
