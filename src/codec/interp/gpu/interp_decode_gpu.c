/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks -> values: the host reads the head of a chunk, whose steps decide what is launched. Kernels check all else. Of a level, steps that
 * are finer are opened, since their tables and sizes stand before all codes, but not decoded. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "codec/interp/gpu/interp_tune_gpu.h"
#include "field/dtype_math.h"

typedef struct decoding {
    const floe_interp_gpu_decode *c;
    const floe_codec_chunk *k;
    uint64_t nbytes;
    uint32_t last, shift[FLOE_LATTICE_RANK]; /* floe_interp_level_step */
    floe_lattice_output out;
    floe_lattice_box wanted[FLOE_INTERP_STEPS + 1]; /* floe_interp_plan_wanted */
    floe_interp_chunk chunk;
    uint32_t size;
    bool narrow;
} decoding;

static void decoder_take(floe_codec_decode *call, floe_arena *a)
{
    floe_interp_gpu_decode *c = (void *)call->own.bytes;
    floe_interp_gpu_scratch_take(&c->room, FLOE_INTERP_STEPS + 1, FLOE_INTERP_STEPS + 2, sizeof(double), &c->s, a);
    c->s.tickets = floe_arena_take(a, FLOE_INTERP_STEPS + 1, sizeof *c->s.tickets);
    c->turned =
        floe_codec_turned_take(a, call->dtype, call->rank, call->shape, call->chunk, call->any ? 0 : call->level);
    c->cursor = floe_arena_take(a, 3, sizeof *c->cursor);
}

void floe_interp_gpu_decode_take(floe_codec_decode *call, floe_arena *a)
{
    floe_codec_decoders_take(call, decoder_take, a);
}

/* ---- entropy chunks ----------------------------------------------------------------------------------------------------- */

/* Opens open's grids and decodes the chunks of the job's, which are the first of them. */
static floe_status decode_grids(const decoding *d, floe_interp_open_job *open, floe_context_job *job)
{
    const floe_interp_gpu_scratch *s = &d->c->s;
    open->src = job->src = d->k->src;
    open->nbytes = d->nbytes;
    open->grids = job->grids = s->grids;
    open->tables = job->tables = s->tables;
    open->places = s->places;
    job->places = s->places;
    open->cursor = d->c->cursor;
    open->status = job->status = d->k->call->status;
    job->tickets = s->tickets;
    job->ans_begin = d->chunk.ans_begin;
    FLOE_CUDA(d->k->err, cudaMemsetAsync(s->tickets, 0, job->ngrids * sizeof *s->tickets, d->k->stream));
    FLOE_CUDA(d->k->err, floe_interp_open_cuda(open, d->k->stream));
    if (job->ngrids)
        FLOE_CUDA(d->k->err, floe_context_decode_cuda(job, d->k->stream));
    return FLOE_OK;
}

/* Only the chunks of a step are decoded that its wanted points need. */
static void box_chunks(const decoding *d, uint32_t i, floe_context_dev_grid *g)
{
    const floe_interp_coding *c = &d->chunk.plan.steps[i];
    const floe_lattice_box cells = floe_interp_needed(&c->step, &d->wanted[i]);
    g->boxed = floe_lattice_box_points(&cells) < floe_lattice_points(c->step.coarse);
    g->box = floe_records_cells_box(&c->grid, &c->step, &cells);
}

enum { MANY_ANCHORS = 1 << 16 /* bytes: more than a block should copy */ };

/* ---- lattices ------------------------------------------------------------------------------------------------------------ */

static floe_status decode_level(const decoding *d, uint32_t i, uint8_t **records)
{
    const floe_interp_plan *p = &d->chunk.plan;
    const bool to_field = i == 0 && d->k->call->level == 0;
    floe_interp_dev_job job = {.last = to_field, .log = d->chunk.log, .status = d->k->call->status};
    job.step = p->steps[i].step;
    job.rule = p->steps[i].rule;
    job.records = records[i];
    job.coarse = d->c->s.lattices[(i + 1) % 2 == 0];
    job.box = d->wanted[i];
    job.fine = d->out.view;
    if (!to_field)
        job.fine = floe_lattice_view_lattice(
            d->c->s.lattices[i % 2 == 0] + floe_lattice_index(job.step.fine, job.box.lo) * d->size, job.step.fine);
    FLOE_CUDA(d->k->err, FLOE_BY_REAL(d->narrow, floe_interp_decode)(&job, d->k->stream));
    return FLOE_OK;
}

/* The points of the lattice that are of the level. */
static floe_status leave_lattice(const decoding *d)
{
    const floe_interp_plan *p = &d->chunk.plan;
    floe_interp_dev_leave l = {.lattice = d->c->s.lattices[d->last % 2 == 0],
                               .out = d->out,
                               .log = d->chunk.log,
                               .status = d->k->call->status};
    memcpy(l.shape, d->last < p->nsteps ? p->steps[d->last].step.fine : floe_interp_anchors_shape(p), sizeof l.shape);
    memcpy(l.shift, d->shift, sizeof l.shift);
    FLOE_CUDA(d->k->err, FLOE_BY_REAL(d->narrow, floe_interp_leave)(&l, d->k->stream));
    return FLOE_OK;
}

/* Grids of all steps, which are opened, and the first of them, which the level needs, as the job's. False where there is no room, or steps
 * share tables of other contexts: the CPU sees to it. */
static bool lay_records(const decoding *d, floe_interp_open_job *open, floe_context_dev_grid *grids,
                        floe_context_job *job, uint8_t **records)
{
    const floe_interp_plan *p = &d->chunk.plan;
    const floe_interp_gpu_room *room = &d->c->room;
    uint8_t *at = d->c->s.records;
    for (uint32_t i = p->nsteps, g = 0; i-- > 0; g++) {
        const floe_interp_coding *k = &p->steps[i];
        const uint64_t nbytes = i < d->last ? 0 : floe_interp_records_room(k);
        if (nbytes > room->needs.records - (uint64_t)(at - d->c->s.records) ||
            k->nchunks > room->nchunks - open->nchunks ||
            (i + 1 < p->nsteps && !k->tables && k->spec.planes != p->steps[i + 1].spec.planes))
            return false;
        records[i] = at;
        at += nbytes;
        grids[g] = floe_context_dev_grid_of(&k->spec, &k->grid, records[i]);
        grids[g].first = open->nchunks;
        open->nchunks += grids[g].nchunks;
        if (i >= d->last) {
            box_chunks(d, i, &grids[g]);
            floe_context_job_add(job, &grids[g]);
        }
        open->own |= (uint64_t)k->tables << g;
    }
    return true;
}

static floe_status decode_coded(decoding *d, uint64_t anchors_at, uint64_t tables_at)
{
    const floe_interp_plan *p = &d->chunk.plan;
    uint8_t *records[FLOE_INTERP_STEPS];
    floe_context_dev_grid grids[FLOE_INTERP_STEPS];
    floe_context_job job = {.ngrids = 0};
    floe_interp_open_job open = {.wide = d->chunk.wide_sizes,
                                 .checks_nbytes = floe_interp_checks_nbytes(&d->chunk),
                                 .ngrids = p->nsteps,
                                 .at = tables_at,
                                 .anchors_src = d->k->src + anchors_at};
    open.anchors_nbytes = floe_lattice_points(floe_interp_anchors_shape(p)) * d->size;
    open.anchors = d->c->s.lattices[p->nsteps % 2 == 0];
    d->last = floe_interp_level_step(p, d->k->call->level, d->shift);
    floe_interp_plan_wanted(p, d->last, d->shift, &d->out.box, d->wanted);
    const uint64_t *fine = d->last < p->nsteps ? p->steps[d->last].step.fine : floe_interp_anchors_shape(p);
    if ((d->k->call->level && floe_lattice_points(fine) > d->c->room.needs.lattice[d->last % 2 == 0]) ||
        !lay_records(d, &open, grids, &job, records))
        return floe_codec_refuse(d->k, FLOE_ERR_LIMIT);
    if (open.anchors_nbytes > MANY_ANCHORS) {
        FLOE_CUDA(d->k->err, cudaMemcpyAsync(open.anchors, open.anchors_src, open.anchors_nbytes,
                                             cudaMemcpyDeviceToDevice, d->k->stream));
        open.anchors_nbytes = 0;
    }
    if (p->nsteps) /* else nothing but anchors */
        FLOE_TRY(floe_codec_send(d->c->s.grids, grids, p->nsteps * sizeof *grids, d->k->stream, d->k->err));
    FLOE_TRY(decode_grids(d, &open, &job));
    for (uint32_t i = p->nsteps; i-- > d->last;)
        FLOE_TRY(decode_level(d, i, records));
    return d->k->call->level || p->nsteps == 0 ? leave_lattice(d) : FLOE_OK;
}

/* ---- sets ---------------------------------------------------------------------------------------------------------------- */

static floe_interp_bits_job bits_job(const decoding *d)
{
    const uint64_t *n = d->chunk.plan.shape;
    floe_interp_bits_job job = {.row = floe_ceil_div(n[3], 64),
                                .values = d->out,
                                .src = d->k->src,
                                .nbytes = d->nbytes,
                                .status = d->k->call->status,
                                .base = d->chunk.base};
    memcpy(job.shape, n, sizeof job.shape);
    job.nwords = n[0] * n[1] * n[2] * job.row;
    job.cursor = d->c->cursor;
    return job;
}

static floe_status bits_do(const decoding *d, floe_interp_bits_job *job, floe_interp_bits_what what)
{
    job->what = what;
    FLOE_CUDA(d->k->err, floe_interp_bits_cuda(job, d->k->stream));
    return FLOE_OK;
}

static floe_status place_list(const decoding *d, floe_interp_bits_job *job)
{
    const floe_interp_open_job open = {.src = d->k->src,
                                       .nbytes = d->nbytes,
                                       .further = true,
                                       .list = true,
                                       .literal_nbytes = job->with_literals ? d->size : 0,
                                       .cursor = d->c->cursor,
                                       .status = d->k->call->status};
    FLOE_CUDA(d->k->err, floe_interp_open_cuda(&open, d->k->stream));
    return bits_do(d, job, FLOE_INTERP_BITS_UNLIST);
}

static floe_status place_mask(const decoding *d, floe_interp_bits_job *job, uint32_t axes)
{
    const floe_interp_gpu_scratch *s = &d->c->s;
    const floe_context_grid grid = floe_interp_mask_grid(d->chunk.plan.shape);
    const floe_context_dev_grid dev = floe_context_dev_grid_of(&floe_interp_mask_spec, &grid, s->mask_records);
    floe_context_job context = {.ngrids = 0};
    floe_interp_open_job open = {.further = true, .own = 1, .ngrids = 1, .nchunks = dev.nchunks};
    floe_context_job_add(&context, &dev);
    FLOE_TRY(floe_codec_send(s->grids, &dev, sizeof dev, d->k->stream, d->k->err));
    FLOE_TRY(decode_grids(d, &open, &context));
    job->records = s->mask_records;
    job->from = job->to = s->bits[0];
    FLOE_TRY(bits_do(d, job, FLOE_INTERP_BITS_UNRECORD));
    for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;)
        if (axes >> a & 1) {
            job->axis = a;
            FLOE_TRY(bits_do(d, job, FLOE_INTERP_BITS_RESTORE));
        }
    job->ranks = s->ranks.ranks;
    if (job->with_literals)
        FLOE_TRY(floe_interp_gpu_rank(s, job, d->k->stream, d->k->err));
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
            FLOE_TRY(place_list(d, &job));
        else if (set->kind == FLOE_INTERP_SET_MASK)
            FLOE_TRY(place_mask(d, &job, set->axes));
    }
    return FLOE_OK;
}

/* ---- a chunk ------------------------------------------------------------------------------------------------------------- */

/* What the head describes, to d->out. */
static floe_status decode_values(decoding *d)
{
    const floe_codec_chunk *k = d->k;
    const uint8_t *head = k->head;
    const uint64_t apart_at = (uint64_t)(d->chunk.apart - head), tables_at = apart_at + d->chunk.apart_nbytes;
    if (d->chunk.kind == FLOE_LATTICE_RAW) {
        if (d->nbytes < floe_interp_raw_nbytes(floe_lattice_points(d->chunk.plan.shape), d->narrow))
            return floe_codec_refuse(d->k, FLOE_ERR_FORMAT);
        return floe_codec_fill(k, &d->out, d->chunk.plan.shape, k->src + FLOE_INTERP_HEADER_NBYTES, 0);
    }
    if (d->chunk.kind == FLOE_LATTICE_FLAT)
        FLOE_TRY(floe_codec_fill(k, &d->out, d->chunk.plan.shape, NULL, d->chunk.base));
    else
        FLOE_TRY(decode_coded(d, (uint64_t)(d->chunk.anchors - head), tables_at));
    FLOE_TRY(floe_codec_send(d->c->cursor, &apart_at, sizeof apart_at, d->k->stream, d->k->err));
    d->nbytes = tables_at; /* sets end there */
    return place_sets(d);
}

static floe_status decode_chunk(const floe_codec_chunk *k)
{
    const floe_dtype dtype = k->call->dtype;
    decoding chunk = {.c = (const void *)k->call->own.bytes, .k = k, .nbytes = k->nbytes}, *d = &chunk;
    d->size = (uint32_t)floe_dtype_size(dtype);
    d->narrow = floe_dtype_is_narrow(dtype);
    static_assert((int)FLOE_INTERP_HEADER_MOST <= FLOE_CODEC_HEAD_NBYTES, "behind that, the head is not looked at");
    floe_reader from = floe_reader_of(k->head, (size_t)d->nbytes);
    if (floe_interp_head_read(&d->chunk, k->call->rank, k->extent, d->narrow, &from, NULL) != FLOE_OK ||
        d->nbytes < floe_interp_least(k->call->rank, k->extent))
        return floe_codec_refuse(d->k, FLOE_ERR_FORMAT);
    d->out = floe_lattice_output_of(k->call->rank, k->extent, d->chunk.turns, k->lo, k->hi, &k->out, k->call->level);
    const floe_lattice_view field = d->out.view;
    d->out.view = floe_codec_turned_box(&d->out, d->c->turned);
    FLOE_TRY(decode_values(d));
    return floe_codec_turn_out(k, &d->out, &field);
}

floe_status floe_interp_gpu_decode_start(const floe_codec_decode *call, void *stream, floe_error *err)
{
    return floe_codec_decode_all(call, decoder_take, decode_chunk, stream, err);
}

#endif
