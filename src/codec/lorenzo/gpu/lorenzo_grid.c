/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host computes of chunks and tiles before a GPU looks at them: for plans, and for kernels' arguments. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include <string.h>

#include "base/try.h"
#include "codec/lorenzo/format/lorenzo_begin_math.h"
#include "codec/lorenzo/gpu/lorenzo_cuda.h"

floe_status floe_lorenzo_grid(uint32_t rank, const uint64_t *shape, const uint64_t *chunk, floe_dev_grid *grid,
                              floe_error *err)
{
    const uint64_t slots = floe_lorenzo_slots(rank, chunk); /* of a full chunk: no other has more */
    FLOE_CHECK(err, floe_dev_grid_of(rank, shape, chunk, slots, grid), FLOE_ERR_LIMIT,
               "a field of more than 2^30 tiles, too many for a GPU at once: choose larger chunks, or the CPU");
    return FLOE_OK;
}

/* The first one, as it is opened without swap. */
static void full_chunk(const floe_dev_grid *grid, const floe_dev_field *field, floe_dev_chunk *full)
{
    (void)floe_view_of(field->rank, grid->chunk, false, &full->view); /* fails with swap only */
    full->ncells = 1;
    for (int a = 0; a < FLOE_VIEW_AXES; a++) {
        full->region_hi[a] = full->view.extent[a];
        full->ncells *= full->view.extent[a];
    }
    floe_lorenzo_strides(&full->view, field->stride, full->stride);
    full->origin = field->data;
}

void floe_lorenzo_expected_grid_of(const floe_dev_grid *grid, const floe_lorenzo_decode_call *call,
                                   floe_lorenzo_expected_grid *expected)
{
    *expected = (floe_lorenzo_expected_grid){.all = true};
    if (grid->nchunks == 0 || grid->nchunks > UINT32_MAX)
        return;
    expected->nchunks = grid->nchunks;
    expected->slots =
        floe_min64(call->max_slots / grid->nchunks, FLOE_DEV_MOST_SLOTS) / FLOE_BATCH_TILES * FLOE_BATCH_TILES;
    for (uint32_t i = 0; i < call->field.rank; i++) {
        expected->shape[i] = grid->shape[i];
        expected->chunk[i] = grid->chunk[i];
        expected->along[i] = (uint32_t)floe_ceil_div(grid->shape[i], grid->chunk[i]);
        expected->all &= call->lo[i] == 0 && call->hi[i] == grid->shape[i];
    }
    full_chunk(grid, &call->field, &expected->full);
}

bool floe_lorenzo_host_chunk_of(const floe_lorenzo_encode_call *c, const floe_dev_params *params,
                                floe_lorenzo_host_chunk *host_chunk)
{
    if (!floe_lorenzo_is_small(c) || c->has_tables || c->field.rank == FLOE_SAMPLE_AXES ||
        memcmp(c->grid.chunk, c->grid.shape, sizeof c->grid.shape) != 0)
        return false;
    *host_chunk = (floe_lorenzo_host_chunk){.bits = params->bits};
    full_chunk(&c->grid, &c->field, &host_chunk->chunk);
    host_chunk->chunk.encoder = FLOE_LORENZO_PACK;
    host_chunk->chunk.quantizer = params->quantizer;
    return true;
}

bool floe_lorenzo_uniform_of(const floe_lorenzo_encode_call *c, const floe_quantizer *quantizer,
                             floe_lorenzo_uniform *uniform)
{
    const floe_dev_grid *g = &c->grid;
    if (g->nchunks == 0 || c->field.rank == FLOE_SAMPLE_AXES)
        return false;
    *uniform = (floe_lorenzo_uniform){.along = {1, 1, 1, 1}};
    for (uint32_t i = 0; i < c->field.rank; i++) {
        if (g->shape[i] % g->chunk[i] != 0)
            return false;
        uniform->along[i] = (uint32_t)(g->shape[i] / g->chunk[i]); /* floe_lorenzo_grid allows no more */
        uniform->step[i] = (int64_t)(g->chunk[i] * floe_dtype_size(c->field.dtype)) * c->field.stride[i];
    }
    full_chunk(g, &c->field, &uniform->chunk);
    uniform->chunk.encoder = c->huffman ? FLOE_LORENZO_HUFFMAN : FLOE_LORENZO_PACK;
    if (quantizer)
        uniform->chunk.quantizer = *quantizer;
    return true;
}

/*
 * A field's last chunks along an axis are shorter, and a short chunk may be seen in another way: without an axis, or with
 * components (view.h). For each way the tiles grow with the extents, so the ways at their largest extents bound them all.
 */
uint64_t floe_lorenzo_slots(uint32_t rank, const uint64_t *extent)
{
    uint64_t most = 1;
    for (uint32_t way = 0; way < 4u << rank; way++) {
        const bool components = way & 1, swap = way >> 1 & 1;
        uint64_t e[FLOE_MAX_RANK] = {1, 1, 1, 1};
        uint32_t last = 0;
        for (uint32_t i = 0; i < rank; i++) {
            e[i] = way >> (2 + i) & 1 ? extent[i] : 1;
            last = e[i] != 1 ? i : last;
        }
        floe_view view;
        if (components)
            e[last] = floe_min64(e[last], FLOE_VIEW_COMPONENTS_MAX);
        if (floe_view_of(rank, e, swap, &view))
            most = floe_max64(most, view.ntiles);
    }
    return (most + FLOE_BATCH_TILES - 1) / FLOE_BATCH_TILES * FLOE_BATCH_TILES;
}

#endif
