/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/chunks/codec_chunks.h"

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "base/grid_math.h"
#include "base/try.h"
#include "codec/chunks/codec_turn.h"
#include "codec/resolve/resolve_cuda.h"
#include "field/dtype_math.h"
#include "prim/prim.h"
#include "stage/lattice/lattice_cuda.h"

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

floe_status floe_codec_ranks_plan(floe_codec_ranks *r, uint64_t n, floe_error *err)
{
    const floe_prim prim = {.cpu = NULL};
    uint64_t nbytes;
    FLOE_TRY(floe_prim_workspace(&prim, FLOE_PRIM_SCAN, FLOE_PRIM_U32, n, &nbytes, err));
    *r = (floe_codec_ranks){.n = n, .scan_nbytes = (size_t)nbytes};
    return FLOE_OK;
}

void floe_codec_ranks_take(floe_codec_ranks *r, floe_arena *a)
{
    r->tallies = floe_arena_take(a, r->n, sizeof *r->tallies);
    r->ranks = floe_arena_take(a, r->n, sizeof *r->ranks);
    r->scan = floe_arena_take(a, r->scan_nbytes, 1);
}

floe_status floe_codec_ranks_find(const floe_codec_ranks *r, uint64_t n, void *stream, floe_error *err)
{
    const floe_prim prim = {.stream = stream, .workspace = r->scan, .workspace_nbytes = r->scan_nbytes};
    const floe_prim_array tallies = {FLOE_PRIM_U32, r->tallies, n};
    return floe_prim_scan(&prim, FLOE_PRIM_EXCLUSIVE, tallies, r->ranks, err);
}

bool floe_codec_end_extent(uint32_t rank, const uint64_t *shape, const uint64_t *chunk, uint32_t ends, uint64_t *extent)
{
    bool there = true;
    for (uint32_t a = 0; a < rank; a++) {
        extent[a] = ends >> a & 1 ? shape[a] % chunk[a] : floe_min64(chunk[a], shape[a]);
        there = there && extent[a];
    }
    return there;
}

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

static floe_codec_written *written_own(floe_codec_encode *e) { return (void *)e->own.bytes; }
static const floe_codec_written *written_of(const floe_codec_encode *e) { return (const void *)e->own.bytes; }

void floe_codec_written_take(floe_codec_encode *e, floe_arena *a)
{
    floe_codec_written *w = written_own(e);
    e->records = w->records = floe_arena_take(a, e->nchunks, sizeof *w->records);
    w->stats = floe_arena_take(a, e->nchunks, sizeof *w->stats);
    e->end = w->end = floe_arena_take(a, 1, sizeof *w->end);
}

void floe_codec_written_aim(floe_codec_encode *e)
{
    e->chunk_stats = (floe_dev_stats_of_chunks){written_of(e)->stats, NULL, sizeof(floe_dev_chunk_stats)};
    e->again = NULL;
}

floe_dev_record_place floe_codec_written_place(const floe_codec_encode *e, uint64_t index)
{
    const floe_codec_written *w = written_of(e);
    return (floe_dev_record_place){e->stream, e->capacity, w->end, w->records + index, w->stats + index};
}

floe_status floe_codec_resolve_alone(const floe_codec_encode *e, const floe_resolve_job *job, void *stream,
                                     floe_error *err)
{
    static_assert(sizeof(floe_resolved) <= FLOE_CUDA_FETCHED_NBYTES, "there is room for it");
    const floe_resolve_host host = {e->cuda->fetched, e->status, written_of(e)->end, e->first_offset};
    FLOE_CUDA(err, floe_resolve_alone_cuda(job, &host, stream));
    return FLOE_OK;
}

floe_status floe_codec_take_params(const floe_codec_encode *e, floe_codec_known *known, void *stream, floe_error *err)
{
    const floe_resolved *found = e->cuda->fetched;
    FLOE_CUDA(err, cudaStreamSynchronize(stream));
    *known = (floe_codec_known){found->params, found->status, true};
    return FLOE_OK;
}

floe_field floe_codec_cut(const floe_codec_encode *e, uint64_t index)
{
    const floe_dev_field *f = &e->field;
    floe_field chunk = {.dtype = f->dtype, .rank = f->rank};
    uint64_t lo[FLOE_MAX_RANK];
    int64_t place = 0;
    floe_grid_cut(f->rank, f->shape, e->chunk, index, lo, chunk.shape);
    for (uint32_t a = 0; a < f->rank; a++) {
        place += (int64_t)lo[a] * f->stride[a];
        chunk.stride[a] = f->stride[a];
    }
    chunk.data = (uint8_t *)f->data + place * (int64_t)floe_dtype_size(f->dtype);
    return chunk;
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

floe_status floe_codec_refuse(const floe_codec_chunk *c, floe_status why)
{
    const uint32_t status = why;
    return floe_codec_send(c->call->status, &status, sizeof status, c->stream, c->err);
}

enum { NEAR = 32 /* bytes: what memory gives at once */ };

static bool is_copied(const floe_lattice_view *values, uint32_t size, const void *copy)
{
    const int64_t far = values->stride[FLOE_LATTICE_RANK - 1];
    return copy && (uint64_t)(far < 0 ? -far : far) > NEAR / size;
}

static bool is_far(floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    floe_field f = floe_field_of(NULL, dtype, rank, extent);
    int64_t step = 1;
    for (uint32_t a = rank; a-- > 0; step *= (int64_t)extent[a])
        f.stride[a] = step;
    const floe_lattice_view v = floe_lattice_view_of(&f, floe_lattice_turns_of(rank, extent));
    return is_copied(&v, (uint32_t)floe_dtype_size(dtype), &v);
}

void *floe_codec_turned_take(floe_arena *a, floe_dtype dtype, uint32_t rank, const uint64_t *shape,
                             const uint64_t *chunk, uint32_t level)
{
    bool turned = false;
    uint64_t n = 1;
    if (floe_codec_nchunks(rank, shape, chunk) == 0)
        return NULL;
    for (uint32_t ends = 0; ends < 1u << rank; ends++) {
        uint64_t extent[FLOE_MAX_RANK];
        turned = turned || (floe_codec_end_extent(rank, shape, chunk, ends, extent) && is_far(dtype, rank, extent));
    }
    for (uint32_t i = 0; i < rank; i++)
        n *= floe_ceil_div(floe_min64(chunk[i], shape[i]), (uint64_t)1 << level);
    return turned ? floe_arena_take(a, n, floe_dtype_size(dtype)) : NULL;
}

floe_status floe_codec_turn_in(floe_lattice_view *values, void *copy, const uint64_t shape[FLOE_LATTICE_RANK],
                               uint32_t size, void *stream, floe_error *err)
{
    floe_codec_turn_job job = {.from = *values, .to = floe_lattice_view_lattice(copy, shape), .size = size};
    if (!is_copied(values, size, copy))
        return FLOE_OK;
    memcpy(job.n, shape, sizeof job.n);
    *values = job.to;
    FLOE_CUDA(err, floe_codec_turn_cuda(&job, stream));
    return FLOE_OK;
}

floe_lattice_view floe_codec_turned_box(const floe_lattice_output *out, void *copy)
{
    uint64_t n[FLOE_LATTICE_RANK];
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        n[a] = out->box.hi[a] - out->box.lo[a];
    return is_copied(&out->view, out->size, copy) ? floe_lattice_view_lattice(copy, n) : out->view;
}

floe_status floe_codec_turn_out(const floe_codec_chunk *c, const floe_lattice_output *values,
                                const floe_lattice_view *to)
{
    floe_codec_turn_job job = {.from = values->view, .to = *to, .size = values->size, .status = c->call->status};
    if (to->data == values->view.data)
        return FLOE_OK;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        job.n[a] = values->box.hi[a] - values->box.lo[a];
    FLOE_CUDA(c->err, floe_codec_turn_cuda(&job, c->stream));
    return FLOE_OK;
}

floe_status floe_codec_fill(const floe_codec_chunk *c, const floe_lattice_output *out,
                            const uint64_t shape[FLOE_LATTICE_RANK], const uint8_t *values, uint64_t pattern)
{
    floe_lattice_dev_fill f = {.out = *out, .pattern = pattern, .values = values, .status = c->call->status};
    memcpy(f.shape, shape, sizeof f.shape);
    FLOE_CUDA(c->err, floe_lattice_fill_cuda(&f, c->stream));
    return FLOE_OK;
}

#endif
