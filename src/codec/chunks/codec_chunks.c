/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/chunks/codec_chunks.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <string.h>

#include "backend/cuda.h"
#include "base/grid_math.h"
#include "base/try.h"
#include "codec/chunks/codec_gather.h"
#include "codec/chunks/codec_turn.h"
#include "codec/resolve/resolve_cuda.h"
#include "field/dtype_math.h"
#include "prim/prim.h"
#include "stage/interp/interp_cuda.h"

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

static void add_piece(floe_codec_gather *job, size_t at, const void *from, uint64_t nbytes)
{
    job->piece[job->npieces].from = from;
    job->piece[job->npieces].at = (uint32_t)at;
    job->piece[job->npieces++].nbytes = (uint32_t)nbytes;
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

floe_status floe_codec_take_params(const floe_codec_encode *e, floe_codec_params *params, uint32_t *status,
                                   void *stream, floe_error *err)
{
    const floe_resolved *found = e->cuda->fetched;
    FLOE_CUDA(err, cudaStreamSynchronize(stream));
    *params = found->params;
    *status = found->status;
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

void floe_codec_aim_nothing(floe_codec_decode *d) { d->opened = NULL; }

floe_status floe_codec_open_nothing(const floe_codec_decode *d, void *stream, floe_error *err)
{
    (void)d, (void)stream, (void)err;
    return FLOE_OK;
}

floe_status floe_codec_refuse(const floe_codec_chunk *c, floe_status why)
{
    const uint32_t status = why;
    return floe_codec_send(c->call->status, &status, sizeof status, c->stream, c->err);
}

enum { BEGIN_NBYTES = 2048 };

/* What has been found out so far; and how the stream begins, where the head of its first chunk is. */
typedef struct known {
    uint64_t layout[2 * FLOE_MAX_RANK], nrecords;
    floe_dev_record first;
    uint32_t status;
    uint8_t begin[BEGIN_NBYTES];
} known;
static_assert(sizeof(known) <= FLOE_CUDA_FETCHED_NBYTES, "there is room for it");

/* All by one wait. */
static floe_status fetch_known(const floe_codec_chunk *c, known *k)
{
    const floe_codec_decode *call = c->call;
    floe_codec_gather job = {.to = call->cuda->fetched};
    add_piece(&job, offsetof(known, layout), call->layout, sizeof k->layout);
    add_piece(&job, offsetof(known, nrecords), call->nrecords, sizeof k->nrecords);
    add_piece(&job, offsetof(known, first), call->records, sizeof k->first);
    add_piece(&job, offsetof(known, status), call->status, sizeof k->status);
    add_piece(&job, offsetof(known, begin), call->stream, floe_min64(call->nbytes, BEGIN_NBYTES));
    FLOE_CUDA(c->err, floe_codec_gather_cuda(&job, c->stream));
    FLOE_CUDA(c->err, cudaStreamSynchronize(c->stream));
    memcpy(k, job.to, sizeof *k);
    return FLOE_OK;
}

floe_status floe_codec_fetch_head(const floe_codec_chunk *c, uint8_t *head, uint64_t nbytes)
{
    if (nbytes > c->head_nbytes)
        return floe_codec_fetch(head, c->src, nbytes, c->stream, c->err);
    memcpy(head, c->head, nbytes);
    return FLOE_OK;
}

enum { NEAR = 32 /* bytes: what memory gives at once */ };

bool floe_codec_is_copied(const floe_interp_view *values, uint32_t size, const void *copy)
{
    const int64_t far = values->stride[FLOE_INTERP_RANK - 1];
    return copy && (uint64_t)(far < 0 ? -far : far) > NEAR / size;
}

static bool is_far(floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    floe_field f = floe_field_of(NULL, dtype, rank, extent);
    int64_t step = 1;
    for (uint32_t a = rank; a-- > 0; step *= (int64_t)extent[a])
        f.stride[a] = step;
    const floe_interp_view v = floe_interp_view_of(&f, floe_interp_turns_of(rank, extent));
    return floe_codec_is_copied(&v, (uint32_t)floe_dtype_size(dtype), &v);
}

void *floe_codec_turned_take(floe_arena *a, floe_dtype dtype, uint32_t rank, const uint64_t *shape,
                             const uint64_t *chunk, uint32_t level)
{
    bool turned = false;
    uint64_t n = 1;
    if (floe_codec_nchunks(rank, shape, chunk) == 0)
        return NULL;
    for (uint32_t ends = 0; ends < 1u << rank; ends++) { /* bit i: chunks at the end of axis i */
        uint64_t extent[FLOE_MAX_RANK];
        bool there = true;
        for (uint32_t i = 0; i < rank; i++) {
            extent[i] = ends >> i & 1 ? shape[i] % chunk[i] : floe_min64(chunk[i], shape[i]);
            there = there && extent[i];
        }
        turned = turned || (there && is_far(dtype, rank, extent));
    }
    for (uint32_t i = 0; i < rank; i++)
        n *= floe_ceil_div(floe_min64(chunk[i], shape[i]), (uint64_t)1 << level);
    return turned ? floe_arena_take(a, n, floe_dtype_size(dtype)) : NULL;
}

floe_status floe_codec_turn_in(floe_interp_view *values, void *copy, const uint64_t shape[FLOE_INTERP_RANK],
                               uint32_t size, void *stream, floe_error *err)
{
    floe_codec_turn_job job = {.from = *values, .to = floe_interp_view_lattice(copy, shape), .size = size};
    if (!floe_codec_is_copied(values, size, copy))
        return FLOE_OK;
    memcpy(job.n, shape, sizeof job.n);
    *values = job.to;
    FLOE_CUDA(err, floe_codec_turn_cuda(&job, stream));
    return FLOE_OK;
}

floe_interp_view floe_codec_turned_box(const floe_interp_output *out, void *copy)
{
    uint64_t n[FLOE_INTERP_RANK];
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        n[a] = out->box.hi[a] - out->box.lo[a];
    return floe_interp_view_lattice(copy, n);
}

floe_status floe_codec_turn_out(const floe_codec_chunk *c, const floe_interp_output *values, const floe_interp_view *to)
{
    floe_codec_turn_job job = {.from = values->view, .to = *to, .size = values->size, .status = c->call->status};
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        job.n[a] = values->box.hi[a] - values->box.lo[a];
    FLOE_CUDA(c->err, floe_codec_turn_cuda(&job, c->stream));
    return FLOE_OK;
}

floe_status floe_codec_fill(const floe_codec_chunk *c, const floe_interp_output *out,
                            const uint64_t shape[FLOE_INTERP_RANK], const uint8_t *values, uint64_t pattern)
{
    floe_interp_dev_fill f = {.out = *out, .pattern = pattern, .values = values, .status = c->call->status};
    memcpy(f.shape, shape, sizeof f.shape);
    FLOE_CUDA(c->err, floe_interp_fill_cuda(&f, c->stream));
    return FLOE_OK;
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

enum { LANE_CELLS = 1 << 25 /* of chunks that are done at once */ };

void floe_codec_lanes_take(floe_codec_decode *call, floe_codec_lane_take *take, floe_arena *a)
{
    floe_arena plan = floe_arena_plan();
    uint64_t n = LANE_CELLS;
    for (uint32_t i = 0; i < call->rank; i++)
        n /= floe_max64(call->chunk[i], 1);
    take(call, &plan);
    call->nlanes = (uint32_t)floe_max64(1, floe_min64(n, floe_min64(call->nchunks, call->most_lanes)));
    call->lane_nbytes = plan.used;
    call->lanes = floe_arena_take(a, call->nlanes, call->lane_nbytes);
    a->overflow = a->overflow || plan.overflow;
}

/* A call, and its chunks on their way to the lanes. */
typedef struct visiting {
    const floe_codec_decode *call;
    floe_codec_visit *visit;
    floe_codec_chunk chunk;
    floe_codec_decode lane[FLOE_CUDA_LANES]; /* the call, with a lane's scratch and streams */
    floe_cuda cuda[FLOE_CUDA_LANES];
    uint32_t turn;  /* of lanes: the next one */
    uint64_t nseen; /* chunks */
} visiting;

/* Whether some of the box is in chunk `index`, which becomes v->chunk then. */
static bool cut_chunk(visiting *v, uint64_t index)
{
    uint64_t place[FLOE_MAX_RANK];
    floe_grid_cut(v->call->rank, v->call->shape, v->call->chunk, index, place, v->chunk.extent);
    return set_box(&v->chunk, place);
}

/* head: as of floe_codec_chunk. */
static floe_status visit_chunk(visiting *v, uint64_t index, const floe_dev_record *record, const uint8_t *head,
                               uint64_t head_nbytes)
{
    floe_codec_chunk *c = &v->chunk;
    c->call = &v->lane[v->turn];
    c->stream = v->cuda[v->turn].stream;
    v->turn = (v->turn + 1) % v->call->nlanes;
    cut_chunk(v, index);
    c->src = v->call->stream + record->offset + FLOE_RECORD_HEAD_NBYTES;
    c->nbytes = record->nbytes;
    c->head = head;
    c->head_nbytes = floe_min64(head_nbytes, record->nbytes);
    return v->visit(c);
}

/* Chunks that have some of the box; the first one of the field is known, others are fetched together. */
static floe_status visit_some(visiting *v, const known *k, void *stream)
{
    floe_error *err = v->chunk.err;
    floe_codec_heads job = {.stream = v->call->stream, .records = v->call->records, .to = v->call->cuda->fetched};
    for (; v->nseen < v->call->nchunks && job.n < FLOE_CODEC_HEADS && (job.n == 0 || job.index[0] > 0); v->nseen++)
        if (cut_chunk(v, v->nseen))
            job.index[job.n++] = v->nseen;
    if (job.n && job.index[0] == 0) {
        const uint64_t at = k->first.offset + FLOE_RECORD_HEAD_NBYTES, upto = floe_min64(v->call->nbytes, BEGIN_NBYTES);
        return visit_chunk(v, 0, &k->first, at < upto ? k->begin + at : NULL, at < upto ? upto - at : 0);
    }
    if (job.n == 0)
        return FLOE_OK;
    FLOE_CUDA(err, floe_codec_heads_cuda(&job, stream));
    FLOE_CUDA(err, cudaStreamSynchronize(stream));
    for (uint32_t i = 0; i < job.n; i++)
        FLOE_TRY(visit_chunk(v, job.index[i], &job.to[i].record, job.to[i].bytes, FLOE_CODEC_HEAD_NBYTES));
    return FLOE_OK;
}

static floe_status visit_all(visiting *v, const known *k, void *stream)
{
    while (v->nseen < v->call->nchunks)
        FLOE_TRY(visit_some(v, k, stream));
    return FLOE_OK;
}

/* Lanes of their own, unless there is but one: that is the call's stream. */
static floe_status visit_in_lanes(visiting *v, floe_codec_lane_take *take, const known *k, void *stream)
{
    const floe_codec_decode *call = v->call;
    const uint32_t n = call->nlanes;
    if (n > 1)
        FLOE_TRY(floe_cuda_lanes_open(call->cuda, n, v->chunk.err));
    for (uint32_t i = 0; i < n; i++) {
        floe_arena scratch = floe_arena_of(call->lanes + i * call->lane_nbytes, call->lane_nbytes);
        v->cuda[i] = n > 1 ? floe_cuda_on_lane(call->cuda, i) : *call->cuda;
        v->lane[i] = *call;
        v->lane[i].cuda = &v->cuda[i];
        take(&v->lane[i], &scratch);
    }
    if (n == 1) {
        v->cuda[0].stream = stream;
        return visit_all(v, k, stream);
    }
    FLOE_TRY(floe_cuda_lanes_fork(call->cuda, n, stream, v->chunk.err));
    return floe_cuda_lanes_join(call->cuda, n, stream, visit_all(v, k, stream), v->chunk.err);
}

floe_status floe_codec_each_chunk(const floe_codec_decode *call, floe_codec_lane_take *take, floe_codec_visit *visit,
                                  void *stream, floe_error *err)
{
    visiting v = {.call = call, .visit = visit, .chunk = {.call = call, .stream = stream, .err = err}};
    known k;
    if (call->nchunks == 0)
        return FLOE_OK;
    FLOE_TRY(fetch_known(&v.chunk, &k));
    if (k.status != FLOE_OK || k.nrecords == 0)
        return FLOE_OK;
    if (k.nrecords != call->nchunks || memcmp(k.layout, call->shape, call->rank * sizeof *k.layout) != 0 ||
        memcmp(k.layout + FLOE_MAX_RANK, call->chunk, call->rank * sizeof *k.layout) != 0)
        return floe_codec_refuse(&v.chunk, FLOE_ERR_LIMIT);
    v.chunk.out = floe_field_of(NULL, call->dtype, call->rank, call->field.shape);
    memcpy(v.chunk.out.stride, call->field.stride, sizeof v.chunk.out.stride);
    return visit_in_lanes(&v, take, &k, stream);
}

#endif
