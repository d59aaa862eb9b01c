/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/chunking.h"

#include <string.h>

#include "base/bytes.h"
#include "base/try.h"
#include "codec/codec.h"

/* A chunk of 64 MiB keeps every core busy and still streams in little memory. It may have up to 192 MiB rather than cut
 * tiles: a stream holds one chunk of values, one of output, and three of codec scratch, and has to stay below 1 GiB. Not so
 * codecs that take a field as a whole. */
enum { CHUNK_NBYTES = 64 << 20, CHUNK_NBYTES_MAX = 192 << 20 };

/* ---- the shape of a chunk ---------------------------------------------------------------------------------------- */

/* As many units as there may be, spread evenly over the axis, so that the last chunk is no sliver. */
static uint64_t cut_even(uint64_t extent, uint64_t unit, uint64_t most)
{
    uint64_t units = floe_ceil_div(extent, unit);
    uint64_t parts = floe_ceil_div(units, floe_max64(most, 1));
    return floe_min64(floe_ceil_div(units, parts) * unit, extent);
}

/* Cuts the outermost axis at which a whole number of tiles (or at least of groups) fits; axes above it get 1. */
static void choose(const floe_codec_ops *codec, const floe_field *f, uint64_t chunk[FLOE_MAX_RANK])
{
    uint64_t inner_nbytes = floe_dtype_size(f->dtype), tile, group;
    const bool empty = floe_extent_nelems(f->rank, f->shape) == 0;
    const uint32_t apart = codec->apart && !empty ? codec->apart(f->rank, f->shape) : 0;
    for (uint32_t i = 0; i < f->rank; i++) {
        inner_nbytes *= floe_max64(f->shape[i], 1);
        chunk[i] = f->shape[i] ? 1 : 0;
    }
    for (uint32_t i = 0; i < f->rank; i++) {
        if (f->shape[i] == 0)
            continue;
        inner_nbytes /= f->shape[i];
        if (i < apart)
            continue;
        codec->units(f->rank, f->rank - 1 - i, &tile, &group);
        bool last = i + 1 == f->rank;
        if (last || floe_min64(tile, f->shape[i]) <= CHUNK_NBYTES_MAX / inner_nbytes) {
            chunk[i] = cut_even(f->shape[i], tile, CHUNK_NBYTES / (tile * inner_nbytes));
        } else if (group <= CHUNK_NBYTES_MAX / inner_nbytes) {
            while (codec->whole && 2 * group * inner_nbytes <= CHUNK_NBYTES_MAX)
                group *= 2; /* each level of such a codec halves the extents of chunks */
            chunk[i] = cut_even(f->shape[i], group, CHUNK_NBYTES_MAX / (group * inner_nbytes));
        } else {
            continue;
        }
        memcpy(chunk + i + 1, f->shape + i + 1, (f->rank - 1 - i) * sizeof *chunk);
        return;
    }
}

floe_status floe_chunking_choose(const floe_field *layout, const floe_params *params, uint64_t chunk[FLOE_MAX_RANK],
                                 floe_error *err)
{
    memset(chunk, 0, FLOE_MAX_RANK * sizeof *chunk);
    if (params->chunk_rank == 0) {
        const floe_codec_ops *codec = floe_codec_chosen(params->codec);
        if (codec->whole && floe_extent_nelems(layout->rank, layout->shape) <= codec->whole)
            memcpy(chunk, layout->shape, layout->rank * sizeof *chunk);
        else
            choose(codec, layout, chunk);
        return FLOE_OK;
    }
    FLOE_CHECK(err, params->chunk_rank == layout->rank, FLOE_ERR_ARGUMENT, "the chunk has %u axes, the field has %u",
               params->chunk_rank, layout->rank);
    for (uint32_t i = 0; i < layout->rank; i++)
        chunk[i] = floe_min64(params->chunk[i], layout->shape[i]);
    return FLOE_OK;
}

/* ---- kinds of extents -------------------------------------------------------------------------------------------- */

uint32_t floe_chunking_kinds(const floe_header *h, floe_chunk_kind kinds[FLOE_CHUNKING_KINDS])
{
    uint32_t n = 0;
    for (uint32_t cut = 0; cut < 1u << h->rank; cut++) { /* bit i: cut short along axis i */
        floe_chunk_kind kind = {.count = 1};
        for (uint32_t i = 0; i < h->rank; i++) {
            uint64_t full = h->shape[i] ? h->shape[i] / h->chunk[i] : 0;
            uint64_t rest = h->shape[i] ? h->shape[i] % h->chunk[i] : 0;
            bool is_cut = cut >> i & 1;
            kind.extent[i] = is_cut ? rest : h->chunk[i];
            kind.count *= is_cut ? rest != 0 : full;
        }
        if (kind.count)
            kinds[n++] = kind;
    }
    return n;
}

/* ---- slabs ------------------------------------------------------------------------------------------------------- */

/* The outermost axis along which a chunk is longer than 1: below it a slab is as wide as the field. */
static uint32_t slab_axis(const floe_header *h)
{
    uint32_t axis = 0;
    while (axis + 1 < h->rank && h->chunk[axis] == 1)
        axis++;
    return axis;
}

void floe_slab_of(const floe_header *h, uint64_t chunk, floe_slab *slab)
{
    *slab = (floe_slab){.nchunks = 1};
    uint32_t axis = slab_axis(h);
    for (uint32_t i = axis + 1; i < h->rank; i++)
        slab->nchunks *= floe_ceil_div(h->shape[i], h->chunk[i]);
    slab->first = chunk - chunk % slab->nchunks;
    floe_grid_box(h, slab->first, slab->lo, slab->extent);
    for (uint32_t i = axis + 1; i < h->rank; i++)
        slab->extent[i] = h->shape[i];
}

bool floe_slab_holds(const floe_slab *slab, uint64_t chunk)
{
    return chunk >= slab->first && chunk - slab->first < slab->nchunks;
}

uint64_t floe_extent_nelems(uint32_t rank, const uint64_t *extent)
{
    uint64_t nelems = 1;
    for (uint32_t i = 0; i < rank; i++)
        nelems *= extent[i];
    return nelems;
}

uint64_t floe_extent_nbytes(floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    return floe_extent_nelems(rank, extent) * floe_dtype_size(dtype);
}

void floe_box_clip(uint32_t rank, uint64_t *lo, uint64_t *hi, const uint64_t *cut_lo, const uint64_t *cut_extent)
{
    for (uint32_t i = 0; i < rank; i++) {
        lo[i] = floe_max64(lo[i], cut_lo[i]);
        hi[i] = floe_min64(hi[i], cut_lo[i] + cut_extent[i]);
    }
}

void floe_chunk_clip(const floe_header *h, uint64_t chunk, const uint64_t *lo, const uint64_t *hi, uint64_t *from,
                     uint64_t *to)
{
    uint64_t at[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    memcpy(from, lo, h->rank * sizeof *from);
    memcpy(to, hi, h->rank * sizeof *to);
    floe_grid_box(h, chunk, at, extent);
    floe_box_clip(h->rank, from, to, at, extent);
}

/* ---- walks ------------------------------------------------------------------------------------------------------- */

floe_walk floe_walk_of(const floe_header *h, const uint64_t *lo, const uint64_t *hi)
{
    floe_walk w = {.header = h, .more = true};
    for (uint32_t i = 0; i < h->rank; i++) {
        if (lo[i] >= hi[i]) {
            w.more = false;
            return w;
        }
        w.grid[i] = floe_ceil_div(h->shape[i], h->chunk[i]);
        w.begin[i] = w.at[i] = lo[i] / h->chunk[i];
        w.end[i] = (hi[i] - 1) / h->chunk[i] + 1;
    }
    return w;
}

bool floe_walk_next(floe_walk *w, uint64_t *chunk)
{
    if (!w->more)
        return false;
    *chunk = 0;
    for (uint32_t i = 0; i < w->header->rank; i++)
        *chunk = *chunk * w->grid[i] + w->at[i];
    for (uint32_t i = w->header->rank; i-- > 0;) {
        if (++w->at[i] < w->end[i])
            return true;
        w->at[i] = w->begin[i];
    }
    w->more = false;
    return true;
}

uint64_t floe_walk_nchunks(const floe_walk *w)
{
    uint64_t n = w->more;
    for (uint32_t i = 0; i < w->header->rank && n; i++)
        n *= w->end[i] - w->begin[i];
    return n;
}
