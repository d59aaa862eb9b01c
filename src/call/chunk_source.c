/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/chunk_source.h"

#include "base/bytes.h"
#include "base/try.h"
#include "call/callbacks.h"
#include "call/text.h"
#include "field/field.h"

floe_chunk_source floe_chunk_source_of_field(const floe_header *header, const floe_field *field)
{
    return (floe_chunk_source){.header = header, .field = *field};
}

static uint64_t raw_nbytes(const floe_header *h) { return floe_extent_nbytes(h->dtype, h->rank, h->shape); }

static floe_status size_mismatch(const floe_header *h, const char *has, uint64_t nbytes, floe_error *err)
{
    char shape[FLOE_SHAPE_TEXT];
    return floe_fail(err, FLOE_ERR_ARGUMENT, "the source has %s%llu bytes, but %s of %s needs %llu", has,
                     (unsigned long long)nbytes, floe_shape_format(h->rank, h->shape, shape), floe_dtype_name(h->dtype),
                     (unsigned long long)raw_nbytes(h));
}

floe_status floe_chunk_source_of_source(const floe_header *header, const floe_source *source, floe_chunk_source *chunks,
                                        floe_error *err)
{
    *chunks = (floe_chunk_source){.header = header, .source = source};
    if (source->nbytes_total != UINT64_MAX && source->nbytes_total != raw_nbytes(header))
        return size_mismatch(header, "", source->nbytes_total, err);
    return FLOE_OK;
}

void floe_chunk_source_take(floe_chunk_source *s, floe_arena *arena)
{
    floe_slab slab;
    if (!s->source || floe_grid_nchunks(s->header) == 0)
        return;
    floe_slab_of(s->header, 0, &slab); /* none is larger than the first */
    s->field = floe_field_of(NULL, s->header->dtype, s->header->rank, slab.extent);
    s->field.data = floe_arena_take_dense(arena, floe_extent_nelems(s->header->rank, slab.extent),
                                          floe_dtype_size(s->header->dtype));
    s->slab = (floe_slab){.nchunks = 0};
}

bool floe_chunk_source_repeats(const floe_chunk_source *s)
{
    floe_slab slab;
    uint64_t nchunks = floe_grid_nchunks(s->header);
    if (!s->source || s->source->seekable || nchunks == 0)
        return true;
    floe_slab_of(s->header, 0, &slab);
    return slab.nchunks == nchunks; /* the only slab stays in the buffer */
}

static uint64_t slab_offset(const floe_header *h, const floe_slab *slab)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < h->rank; i++)
        offset = offset * h->shape[i] + slab->lo[i];
    return offset * floe_dtype_size(h->dtype);
}

static floe_status slab_load(floe_chunk_source *s, uint64_t chunk, floe_error *err)
{
    const floe_header *h = s->header;
    floe_slab slab;
    floe_slab_of(h, chunk, &slab);
    uint64_t nelems = floe_extent_nelems(h->rank, slab.extent), offset = slab_offset(h, &slab);
    size_t nbytes = (size_t)(nelems * floe_dtype_size(h->dtype)), got;
    s->slab.nchunks = 0;
    FLOE_TRY(floe_source_read(s->source, offset, s->field.data, nbytes, &got, err));
    if (got < nbytes)
        return size_mismatch(h, "only ", offset + got, err);
    floe_elements_swap(h->dtype, s->field.data, nelems);
    floe_field resolved = floe_field_of(s->field.data, h->dtype, h->rank, slab.extent);
    FLOE_TRY(floe_field_check(&resolved, false, &s->field, err));
    s->slab = slab;
    return FLOE_OK;
}

floe_status floe_chunk_source_view(floe_chunk_source *s, uint64_t chunk, floe_field *view, floe_error *err)
{
    uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    if (s->source && !floe_slab_holds(&s->slab, chunk))
        FLOE_TRY(slab_load(s, chunk, err));
    floe_grid_box(s->header, chunk, lo, extent);
    for (uint32_t i = 0; i < s->header->rank; i++)
        lo[i] -= s->source ? s->slab.lo[i] : 0;
    *view = floe_field_box(&s->field, lo, extent);
    return FLOE_OK;
}

uint64_t floe_chunk_source_together(const floe_chunk_source *s, uint64_t chunk, uint64_t most)
{
    floe_slab slab = {.nchunks = floe_grid_nchunks(s->header)};
    if (s->source)
        floe_slab_of(s->header, chunk, &slab);
    return floe_min64(slab.first + slab.nchunks - chunk, most);
}

floe_status floe_chunk_source_slab(floe_chunk_source *s, uint64_t chunk, floe_field *view, uint64_t *n, floe_error *err)
{
    floe_slab slab;
    floe_slab_of(s->header, chunk, &slab);
    *n = slab.nchunks;
    if (s->source && !floe_slab_holds(&s->slab, chunk))
        FLOE_TRY(slab_load(s, chunk, err));
    *view = s->source ? s->field : floe_field_box(&s->field, slab.lo, slab.extent);
    return FLOE_OK;
}

/* Of a source, run by run: a run ends with the first axis that the box does not cover wholly. */
static floe_status box_read(const floe_chunk_source *s, const uint64_t *lo, const floe_field *to, floe_error *err)
{
    const floe_header *h = s->header;
    uint32_t first = h->rank - 1;
    uint64_t run = to->shape[first];
    while (first > 0 && to->shape[first] == h->shape[first])
        run *= to->shape[--first];
    const uint64_t size = floe_dtype_size(h->dtype), nelems = floe_extent_nelems(h->rank, to->shape);
    for (uint64_t at = 0; at < nelems; at += run) {
        uint64_t offset = 0, step = 1, left = at;
        size_t nbytes = (size_t)(run * size), got;
        for (uint32_t i = h->rank; i-- > 0; step *= h->shape[i]) {
            offset += (lo[i] + left % to->shape[i]) * step;
            left /= to->shape[i];
        }
        FLOE_TRY(floe_source_read(s->source, offset * size, (uint8_t *)to->data + at * size, nbytes, &got, err));
        if (got < nbytes)
            return size_mismatch(h, "only ", offset * size + got, err);
    }
    floe_elements_swap(h->dtype, to->data, nelems);
    return FLOE_OK;
}

floe_status floe_chunk_source_box(floe_chunk_source *s, const uint64_t *lo, const floe_field *to, floe_error *err)
{
    floe_field from;
    floe_slab slab;
    floe_slab_of(s->header, 0, &slab);
    if (s->source && slab.nchunks < floe_grid_nchunks(s->header))
        return box_read(s, lo, to, err);
    if (s->source)
        FLOE_TRY(floe_chunk_source_view(s, 0, &from, err)); /* the only slab */
    from = floe_field_box(&s->field, lo, to->shape);
    floe_field_copy(&from, to);
    return FLOE_OK;
}

floe_status floe_chunk_source_end(floe_chunk_source *s, floe_error *err)
{
    uint8_t more;
    size_t got = 0;
    if (s->source)
        FLOE_TRY(floe_source_read(s->source, raw_nbytes(s->header), &more, 1, &got, err));
    if (got)
        return size_mismatch(s->header, "at least ", raw_nbytes(s->header) + 1, err);
    return FLOE_OK;
}

floe_status floe_chunk_source_hold(floe_chunk_source *s, floe_ctx *ctx, void **held, uint64_t *nbytes)
{
    floe_arena plan = floe_arena_plan();
    floe_field view;
    floe_chunk_source_take(s, &plan);
    FLOE_TRY(floe_ctx_hold(ctx, plan.used, held));
    *nbytes = plan.used;
    floe_arena arena = floe_arena_of(*held, plan.used);
    floe_chunk_source_take(s, &arena);
    FLOE_TRY(floe_chunk_source_view(s, 0, &view, &ctx->err));
    FLOE_TRY(floe_chunk_source_end(s, &ctx->err));
    const floe_field field = s->field;
    *s = floe_chunk_source_of_field(s->header, &field);
    return FLOE_OK;
}
