/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks -> values: the host reads the head of a chunk, whose steps say what is launched. Kernels check all else. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "base/grid_math.h"
#include "codec/interp/gpu/interp_tune_gpu.h"
#include "field/dtype_math.h"

enum { HEAD_NBYTES = 1024, NEXT = 0, LIST = 1, COUNT = 2 /* words of cursor */ };

/* A chunk that is decoded. */
typedef struct decoding {
    const floe_interp_gpu_decode *c;
    const floe_codec_decode *call;
    void *stream;
    floe_error *err;
    const uint8_t *src; /* device memory */
    uint64_t nbytes, extent[FLOE_MAX_RANK], lo[FLOE_INTERP_RANK],
        hi[FLOE_INTERP_RANK]; /* the box, by the plan's axes */
    floe_interp_view out;
    floe_interp_chunk chunk;
    uint32_t size;
    bool narrow;
} decoding;

void floe_interp_gpu_decode_take(floe_interp_gpu_decode *c, floe_arena *a)
{
    const size_t size = sizeof(double);
    floe_interp_gpu_scratch_take(&c->room, FLOE_INTERP_STEPS + 1, &c->s, a);
    for (int i = 0; i < 2; i++)
        c->s.lattices[i] = floe_arena_take(a, c->room.lattice[i], size);
    c->s.tickets = floe_arena_take(a, FLOE_INTERP_STEPS + 1, sizeof *c->s.tickets);
    c->cursor = floe_arena_take(a, 3, sizeof *c->cursor);
}

/* What a chunk is found to be, as kernels would say it. */
static floe_status refuse(const decoding *d, floe_status why)
{
    const uint32_t status = why;
    return floe_interp_gpu_send(d->call->status, &status, sizeof status, d->stream, d->err);
}

/* ---- entropy chunks ----------------------------------------------------------------------------------------------------- */

/* Opens grids and decodes their chunks. */
static floe_status decode_grids(const decoding *d, floe_interp_open_job *open, floe_context_job *job)
{
    const floe_interp_gpu_scratch *s = &d->c->s;
    open->src = job->src = d->src;
    open->nbytes = d->nbytes;
    open->grids = job->grids = s->grids;
    open->ngrids = job->ngrids;
    open->nchunks = job->nchunks;
    open->tables = job->tables = s->tables;
    open->places = s->places;
    job->places = s->places;
    open->cursor = d->c->cursor;
    open->status = job->status = d->call->status;
    job->tickets = s->tickets;
    FLOE_CUDA(d->err, cudaMemsetAsync(s->tickets, 0, job->ngrids * sizeof *s->tickets, d->stream));
    FLOE_CUDA(d->err, floe_interp_open_cuda(open, d->stream));
    FLOE_CUDA(d->err, floe_context_decode_cuda(job, d->stream));
    return FLOE_OK;
}

/* Cells whose codes the box needs, as chunks see them. A grid that was laid again knows no rows. */
static void box_chunks(const decoding *d, floe_context_job *job)
{
    const floe_interp_coding *c = &d->chunk.plan.steps[0];
    const uint64_t *m = c->step.coarse;
    uint64_t lo[FLOE_INTERP_RANK], hi[FLOE_INTERP_RANK];
    job->boxed = c->grid.size[0] == m[0] * m[1] && c->grid.size[1] == m[2];
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        const uint32_t active = floe_interp_is_active(&c->step, a);
        lo[a] = d->lo[a] >> active;
        hi[a] = ((d->hi[a] - 1) >> active) + 1;
        lo[a] -= active && lo[a] > 0;
        hi[a] = floe_min64(hi[a] + 2 * active, m[a]);
    }
    job->lo[0] = lo[0] * m[1] + lo[1];
    job->hi[0] = (hi[0] - 1) * m[1] + hi[1];
    job->lo[1] = lo[2];
    job->hi[1] = hi[2];
    job->lo[2] = (lo[3] << c->step.naxes) / 8;
    job->hi[2] = floe_ceil_div(hi[3] << c->step.naxes, 8);
}

static floe_status decode_steps(const decoding *d, uint64_t anchors_at, uint64_t tables_at, uint8_t **records)
{
    const floe_interp_plan *p = &d->chunk.plan;
    floe_context_dev_grid grids[FLOE_INTERP_STEPS];
    floe_context_job job = {.ngrids = p->nsteps};
    floe_interp_open_job open = {.wide = d->chunk.wide_sizes, .anchors_src = d->src + anchors_at};
    open.anchors_nbytes = floe_interp_points(floe_interp_anchors_shape(p)) * d->size;
    open.anchors = d->c->s.lattices[p->nsteps % 2 == 0];
    open.at = tables_at;
    for (uint32_t i = p->nsteps, at = 0; i-- > 0; at++) {
        const floe_interp_coding *k = &p->steps[i];
        grids[at] = floe_interp_gpu_grid(&k->spec, &k->grid, records[i]);
        grids[at].first = job.nchunks;
        job.nchunks += grids[at].nchunks;
        const uint32_t nbytes = floe_context_warp_nbytes(k->spec.window, k->step.width);
        job.warp_nbytes = nbytes > job.warp_nbytes ? nbytes : job.warp_nbytes;
        job.nmasks = grids[at].nmasks > job.nmasks ? grids[at].nmasks : job.nmasks;
        open.own |= (uint64_t)k->tables << at;
    }
    if (p->nsteps == 0) { /* nothing but anchors */
        open.src = d->src, open.nbytes = d->nbytes, open.places = d->c->s.places;
        open.cursor = d->c->cursor, open.status = d->call->status;
        FLOE_CUDA(d->err, floe_interp_open_cuda(&open, d->stream));
        return FLOE_OK;
    }
    FLOE_TRY(floe_interp_gpu_send(d->c->s.grids, grids, p->nsteps * sizeof *grids, d->stream, d->err));
    box_chunks(d, &job);
    return decode_grids(d, &open, &job);
}

/* ---- lattices ------------------------------------------------------------------------------------------------------------ */

static floe_status decode_level(const decoding *d, uint32_t i, uint8_t **records)
{
    const floe_interp_plan *p = &d->chunk.plan;
    floe_interp_dev_job job = {.last = i == 0, .log = d->chunk.log, .status = d->call->status};
    if (p->nsteps) {
        job.step = p->steps[i].step;
        job.records = records[i];
    } else {
        memcpy(job.step.fine, p->shape, sizeof job.step.fine);
        memcpy(job.step.coarse, p->shape, sizeof job.step.coarse);
    }
    job.coarse = d->c->s.lattices[(i + 1) % 2 == 0 || p->nsteps == 0];
    job.fine = i ? floe_interp_view_lattice(d->c->s.lattices[i % 2 == 0], job.step.fine) : d->out;
    memcpy(job.hi, job.step.fine, sizeof job.hi);
    if (i == 0) {
        memcpy(job.lo, d->lo, sizeof job.lo);
        memcpy(job.hi, d->hi, sizeof job.hi);
    }
    FLOE_CUDA(d->err, d->narrow ? floe_interp_decode_f32(&job, d->stream) : floe_interp_decode_f64(&job, d->stream));
    return FLOE_OK;
}

static floe_status decode_coded(const decoding *d, uint64_t anchors_at, uint64_t tables_at)
{
    const floe_interp_plan *p = &d->chunk.plan;
    uint8_t *records[FLOE_INTERP_STEPS], *at = d->c->s.records;
    uint64_t nchunks = 0;
    for (uint32_t i = p->nsteps; i-- > 0;) {
        const floe_interp_coding *k = &p->steps[i];
        const uint64_t nbytes = floe_context_nrecords(&k->grid) * floe_context_record_nbytes(&k->spec);
        nchunks += k->nchunks;
        records[i] = at;
        if (nbytes > d->c->room.records - (uint64_t)(at - d->c->s.records) || nchunks > d->c->room.nchunks ||
            (i + 1 < p->nsteps && !k->tables && k->spec.planes != p->steps[i + 1].spec.planes))
            return refuse(d, FLOE_ERR_LIMIT); /* the CPU sees to it */
        at += (nbytes + 15) & ~(uint64_t)15;
    }
    FLOE_TRY(decode_steps(d, anchors_at, tables_at, records));
    for (uint32_t i = p->nsteps; i-- > 0;)
        FLOE_TRY(decode_level(d, i, records));
    return p->nsteps ? FLOE_OK : decode_level(d, 0, records);
}

/* ---- sets ---------------------------------------------------------------------------------------------------------------- */

static floe_interp_bits_job bits_job(const decoding *d)
{
    const uint64_t *n = d->chunk.plan.shape;
    floe_interp_bits_job job = {.row = floe_ceil_div(n[3], 64),
                                .values = d->out,
                                .size = d->size,
                                .src = d->src,
                                .nbytes = d->nbytes,
                                .status = d->call->status,
                                .base = d->chunk.base};
    memcpy(job.shape, n, sizeof job.shape);
    memcpy(job.lo, d->lo, sizeof job.lo);
    memcpy(job.hi, d->hi, sizeof job.hi);
    job.nwords = n[0] * n[1] * n[2] * job.row;
    job.cursor = d->c->cursor;
    job.count = d->c->cursor + COUNT;
    return job;
}

static floe_status bits_do(const decoding *d, floe_interp_bits_job *job, floe_interp_bits_what what)
{
    job->what = what;
    FLOE_CUDA(d->err, floe_interp_bits_cuda(job, d->stream));
    return FLOE_OK;
}

static floe_status place_list(const decoding *d, floe_interp_bits_job *job, bool further)
{
    const floe_interp_open_job open = {.src = d->src,
                                       .nbytes = d->nbytes,
                                       .further = further,
                                       .list = true,
                                       .literal_nbytes = job->with_literals ? d->size : 0,
                                       .cursor = d->c->cursor,
                                       .count = d->c->cursor + COUNT,
                                       .status = d->call->status};
    FLOE_CUDA(d->err, floe_interp_open_cuda(&open, d->stream));
    return bits_do(d, job, FLOE_INTERP_BITS_UNLIST);
}

static floe_status place_mask(const decoding *d, floe_interp_bits_job *job, uint32_t axes)
{
    const floe_interp_gpu_scratch *s = &d->c->s;
    const floe_context_grid grid = floe_interp_mask_grid(d->chunk.plan.shape);
    const floe_context_dev_grid dev = floe_interp_gpu_grid(&floe_interp_mask_spec, &grid, s->mask_records);
    floe_context_job context = {
        .ngrids = 1, .nchunks = dev.nchunks, .warp_nbytes = floe_context_warp_nbytes(1, 0), .nmasks = dev.nmasks};
    floe_interp_open_job open = {.further = true, .own = 1};
    FLOE_TRY(floe_interp_gpu_send(s->grids, &dev, sizeof dev, d->stream, d->err));
    FLOE_TRY(decode_grids(d, &open, &context));
    job->records = s->mask_records;
    job->from = job->to = s->bits[0];
    FLOE_TRY(bits_do(d, job, FLOE_INTERP_BITS_UNRECORD));
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0;)
        if (axes >> a & 1) {
            job->axis = a;
            FLOE_TRY(bits_do(d, job, FLOE_INTERP_BITS_RESTORE));
        }
    job->ranks = s->ranks;
    if (job->with_literals)
        FLOE_TRY(floe_interp_gpu_rank(&d->c->room, s, job, d->stream, d->err));
    return bits_do(d, job, FLOE_INTERP_BITS_PLACE);
}

static floe_status place_sets(const decoding *d)
{
    for (uint32_t s = 0; s < FLOE_INTERP_SETS; s++) {
        const floe_interp_set *set = &d->chunk.sets[s];
        floe_interp_bits_job job = bits_job(d);
        job.negative = s == FLOE_INTERP_NEGATIVE;
        job.with_literals = s == FLOE_INTERP_LITERALS;
        if (!job.negative && !job.with_literals)
            job.base = d->chunk.palette[s - FLOE_INTERP_PATTERNS];
        if (set->kind == FLOE_INTERP_SET_LIST)
            FLOE_TRY(place_list(d, &job, true));
        else if (set->kind == FLOE_INTERP_SET_MASK)
            FLOE_TRY(place_mask(d, &job, set->axes));
    }
    return FLOE_OK;
}

/* ---- a chunk ------------------------------------------------------------------------------------------------------------- */

/* The part of the box that lies in the chunk at `at`; false: none. */
static bool set_box(decoding *d, const uint64_t *at)
{
    const floe_codec_decode *call = d->call;
    uint32_t axis[FLOE_MAX_RANK];
    int64_t place = 0;
    floe_interp_axes_of(call->rank, d->extent, axis);
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        d->lo[a] = 0;
        d->hi[a] = 1;
        d->out.stride[a] = 0;
    }
    for (uint32_t a = 0; a < call->rank; a++) {
        const uint64_t lo = floe_max64(call->lo[a], at[a]), hi = floe_min64(call->hi[a], at[a] + d->extent[a]);
        if (lo >= hi)
            return false;
        place += (int64_t)(lo - call->lo[a]) * call->field.stride[a];
        if (axis[a] < FLOE_INTERP_RANK) {
            d->lo[axis[a]] = lo - at[a];
            d->hi[axis[a]] = hi - at[a];
            d->out.stride[axis[a]] = call->field.stride[a];
        }
    }
    d->out.data = (uint8_t *)call->field.data + place * (int64_t)d->size;
    return true;
}

static floe_status decode_chunk(decoding *d)
{
    uint8_t head[HEAD_NBYTES];
    floe_interp_needs needs;
    if (!floe_interp_shape_of(d->call->rank, d->extent, d->chunk.plan.shape) ||
        d->nbytes < floe_interp_least(d->call->rank, d->extent))
        return refuse(d, FLOE_ERR_FORMAT);
    FLOE_TRY(floe_interp_gpu_fetch(head, d->src, floe_min64(d->nbytes, HEAD_NBYTES), d->stream, d->err));
    floe_reader from = floe_reader_of(head, (size_t)d->nbytes); /* behind the steps, which fit, it is not looked at */
    if (floe_interp_header_read(&d->chunk, d->narrow, &from, NULL) != FLOE_OK)
        return refuse(d, FLOE_ERR_FORMAT);
    const uint64_t apart_at = (uint64_t)(d->chunk.apart - head), tables_at = apart_at + d->chunk.apart_nbytes;
    floe_interp_bits_job job = bits_job(d);
    if (d->chunk.kind == FLOE_INTERP_RAW) {
        if (d->nbytes < floe_interp_raw_nbytes(floe_interp_points(d->chunk.plan.shape), d->narrow))
            return refuse(d, FLOE_ERR_FORMAT);
        job.src += FLOE_INTERP_HEADER_NBYTES;
        return bits_do(d, &job, FLOE_INTERP_BITS_RAW);
    }
    floe_interp_needs_of(d->chunk.plan.shape, &needs);
    if (!floe_interp_is_within(&d->chunk, &needs))
        return refuse(d, FLOE_ERR_FORMAT);
    if (d->chunk.kind == FLOE_INTERP_FLAT)
        FLOE_TRY(bits_do(d, &job, FLOE_INTERP_BITS_FILL));
    else
        FLOE_TRY(decode_coded(d, (uint64_t)(d->chunk.anchors - head), tables_at));
    FLOE_TRY(floe_interp_gpu_send(d->c->cursor, &apart_at, sizeof apart_at, d->stream, d->err));
    d->nbytes = tables_at; /* sets end there */
    return place_sets(d);
}

/* What has been found out so far. */
typedef struct known {
    uint64_t layout[2 * FLOE_MAX_RANK], nrecords;
    uint32_t status;
} known;

static floe_status fetch_known(const decoding *d, known *k)
{
    const floe_codec_decode *call = d->call;
    FLOE_CUDA(d->err, cudaMemcpyAsync(k->layout, call->layout, sizeof k->layout, cudaMemcpyDeviceToHost, d->stream));
    FLOE_CUDA(d->err,
              cudaMemcpyAsync(&k->nrecords, call->nrecords, sizeof k->nrecords, cudaMemcpyDeviceToHost, d->stream));
    return floe_interp_gpu_fetch(&k->status, call->status, sizeof k->status, d->stream, d->err);
}

floe_status floe_interp_gpu_decode_start(const floe_interp_gpu_decode *c, const floe_codec_decode *call, void *stream,
                                         floe_error *err)
{
    decoding d = {.c = c, .call = call, .stream = stream, .err = err, .narrow = floe_dtype_is_narrow(call->dtype)};
    known k;
    floe_dev_record record;
    uint64_t at[FLOE_MAX_RANK];
    d.size = (uint32_t)floe_dtype_size(call->dtype);
    FLOE_TRY(fetch_known(&d, &k));
    if (k.status != FLOE_OK || k.nrecords == 0)
        return FLOE_OK;
    if (k.nrecords != call->nchunks || memcmp(k.layout, call->shape, call->rank * sizeof *at) != 0 ||
        memcmp(k.layout + FLOE_MAX_RANK, call->chunk, call->rank * sizeof *at) != 0)
        return refuse(&d, FLOE_ERR_LIMIT);
    for (uint64_t i = 0; i < k.nrecords; i++) {
        floe_grid_cut(call->rank, call->shape, call->chunk, i, at, d.extent);
        if (!set_box(&d, at))
            continue;
        FLOE_TRY(floe_interp_gpu_fetch(&record, call->records + i, sizeof record, stream, err));
        d.src = call->stream + record.offset + FLOE_RECORD_HEAD_NBYTES;
        d.nbytes = record.nbytes;
        FLOE_TRY(decode_chunk(&d));
    }
    return FLOE_OK;
}

#endif
