/* SPDX-License-Identifier: BSD-3-Clause */
/* The lattices of a chunk that is being encoded, from its coarsest points to the field. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "codec/interp/interp_encoder.h"
#include "field/dtype_math.h"
#include "stage/quantizer/quantizer_init_math.h"

typedef floe_interp_encoder encoder;

bool floe_interp_encoder_begin(encoder *e, const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank,
                               const uint64_t *extent, uint32_t turns)
{
    *e = (encoder){.cpu = cpu, .params = params, .ops = floe_interp_ops_of(params->dtype, cpu->isa)};
    e->share = 1;
    e->narrow = floe_dtype_is_narrow(params->dtype);
    e->size = floe_dtype_size(params->dtype);
    e->chunk.turns = turns;
    if (!floe_lattice_shape_of(rank, extent, turns, e->chunk.plan.shape))
        return false;
    e->ncells = floe_lattice_points(e->chunk.plan.shape);
    e->nbits = floe_interp_bits_room(e->chunk.plan.shape);
    return true;
}

void floe_interp_encoder_take(encoder *e, floe_arena *arena)
{
    const floe_context_grid mask = floe_interp_mask_grid(e->chunk.plan.shape);
    floe_interp_needs_of(e->chunk.plan.shape, &e->needs);
    e->originals = floe_arena_take_dense(arena, e->needs.coarse, e->size);
    for (int i = 0; i < 2; i++)
        e->lattices[i] = floe_arena_take_dense(arena, e->needs.lattice[i], e->size);
    e->records = floe_arena_take_dense(arena, e->needs.records, 1);
    e->anchors = floe_arena_take(arena, e->needs.lattice[1], e->size);
    e->counts = floe_arena_take(arena, (e->needs.nsteps + 1) * FLOE_CONTEXT_COUNTS, sizeof *e->counts);
    e->tables = floe_arena_take(arena, e->needs.nsteps + 1, sizeof *e->tables);
    e->apart = floe_arena_take(arena, e->nbits, sizeof *e->apart);
    e->part = floe_arena_take(arena, e->nbits, sizeof *e->part);
    e->mask_records = floe_arena_take(arena, floe_context_nrecords(&mask), 1);
    e->found = floe_arena_take(arena, e->cpu->threads, sizeof *e->found);
}

uint64_t floe_interp_pattern_at(const encoder *e, const uint64_t *point)
{
    const int64_t at = floe_lattice_view_at(&e->values, point) * (int64_t)e->size;
    return floe_lattice_pattern_load((const uint8_t *)e->values.data + at, e->size);
}

/* ---- the domain of lattices -------------------------------------------------------------------------------------------- */

/* The largest finite magnitude. */
static double max_abs_of(const encoder *e)
{
    double most = 0;
    uint64_t point[FLOE_LATTICE_RANK] = {0};
    if (e->params->max_abs == e->params->max_abs)
        return e->params->max_abs;
    if (e->boxes)
        return 0;
    do {
        const uint64_t pattern = floe_interp_pattern_at(e, point);
        const double size = fabs(e->narrow ? (double)floe_f32_of((uint32_t)pattern) : floe_f64_of(pattern));
        if (size > most && size <= 1.7976931348623157e308 && !(e->params->has_fill && pattern == e->params->fill_bits))
            most = size;
    } while (floe_lattice_next_point(e->chunk.plan.shape, point));
    return most;
}

/* The largest magnitude of logarithms; that of any value where the range of these is not known. */
static double max_log_of(const encoder *e)
{
    const double least = e->params->least_abs, most = e->params->max_abs;
    if (!(least > 0 && isfinite(most)))
        return e->narrow ? 150 : 1100;
    return fmax(fabs(floe_log2(least)), fabs(floe_log2(most)));
}

void floe_interp_domain_set(encoder *e)
{
    e->chunk.log = e->params->mode == FLOE_BOUND_PWREL;
    e->bound = floe_codec_domain_bound(e->params);
    e->max_abs = e->chunk.log ? max_log_of(e) : max_abs_of(e);
}

/* ---- the lattices ------------------------------------------------------------------------------------------------------ */

/* The job of step i; nsteps: of the anchors, with a step of no axes. */
static floe_interp_job job_of(encoder *e, uint32_t i, floe_lattice_step *anchors)
{
    const floe_interp_plan *p = &e->chunk.plan;
    floe_interp_job job = {
        .last = i == 0, .values = e->values, .fill = floe_codec_fill_bits(e->params), .apart = e->apart};
    if (i == p->nsteps) {
        *anchors = (floe_lattice_step){.naxes = 0};
        memcpy(anchors->fine, floe_interp_anchors_shape(p), sizeof anchors->fine);
        memcpy(anchors->coarse, anchors->fine, sizeof anchors->coarse);
    }
    job.step = i == p->nsteps ? anchors : &p->steps[i].step;
    job.rule = i == p->nsteps ? NULL : &p->steps[i].rule;
    job.log = e->chunk.log;
    job.squares = e->squares;
    job.tolerance = floe_codec_tolerance(e->params);
    job.original = i == 0 ? e->values : floe_lattice_view_lattice(e->original_of[i], job.step->fine);
    memcpy(job.box.hi, job.step->fine, sizeof job.box.hi);
    memcpy(job.field, p->shape, sizeof job.field);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        job.unit[a] = 1;
        for (uint32_t k = 0; k < i; k++)
            job.unit[a] *= floe_lattice_is_active(&p->steps[k].step, a) ? 2 : 1;
    }
    return job;
}

typedef struct work {
    encoder *e;
    const floe_interp_job *job;
    floe_interp_tiles tiles;
    void *to;
} work;

enum { THIN_ROWS = 16 /* of a task */ };

static void thin_task(void *arg, uint64_t i, uint32_t worker)
{
    const work *w = arg;
    const uint64_t *m = w->job->step->coarse, nrows = m[0] * m[1] * m[2];
    (void)worker;
    for (uint64_t r = i * THIN_ROWS; r < nrows && r < (i + 1) * THIN_ROWS; r++)
        w->e->ops->thin(w->job, r, w->to);
}

static void found_add(floe_interp_found *sum, const floe_interp_found *f)
{
    sum->squares += f->squares;
    sum->max_error = fmax(sum->max_error, f->max_error);
    sum->max_pw_error = fmax(sum->max_pw_error, f->max_pw_error);
}

static void tile_task(void *arg, uint64_t i, uint32_t worker)
{
    const work *w = arg;
    const floe_lattice_box box = floe_interp_tile(&w->tiles, i);
    floe_interp_found found = {.squares = 0}; /* that of another worker may be in the same line of cache */
    w->e->ops->encode(w->job, &box, floe_records_worker(&w->e->entropy, worker), &found);
    found_add(&w->e->found[worker], &found);
}

/* Originals of all lattices but the finest, which is the field; of a field without steps, of itself: they are in the domain of lattices. */
static void thin_originals(encoder *e)
{
    const floe_interp_plan *p = &e->chunk.plan;
    uint8_t *at = e->original_of[0] = e->originals;
    floe_lattice_step none;
    for (uint32_t i = 0; i < p->nsteps || i == 0; i++) {
        const floe_interp_job job = job_of(e, i, &none);
        const uint64_t *m = job.step->coarse;
        work w = {.e = e, .job = &job, .to = at};
        e->original_of[i + 1] = at;
        at += floe_lattice_points(m) * e->size;
        floe_cpu_parallel(e->cpu, floe_ceil_div(m[0] * m[1] * m[2], THIN_ROWS), thin_task, &w);
    }
}

static void set_anchors(encoder *e)
{
    floe_lattice_step step;
    const floe_interp_plan *p = &e->chunk.plan;
    const floe_interp_job job = job_of(e, p->nsteps, &step);
    memcpy(e->anchors, e->original_of[p->nsteps], floe_lattice_points(floe_interp_anchors_shape(p)) * e->size);
    e->ops->anchors(&job, e->anchors, &e->found[0]);
}

void floe_interp_lattices_code(encoder *e)
{
    floe_interp_plan *p = &e->chunk.plan;
    uint8_t *at = e->records;
    if (e->apart)
        floe_cpu_clear(e->cpu, e->apart, e->nbits * sizeof *e->apart);
    memset(e->found, 0, e->cpu->threads * sizeof *e->found);
    thin_originals(e);
    assert(p->nsteps <= e->needs.nsteps && floe_lattice_points(floe_interp_anchors_shape(p)) <= e->needs.lattice[1]);
    set_anchors(e);
    for (uint32_t i = p->nsteps; i-- > 0;) {
        const floe_interp_coding *c = &p->steps[i];
        floe_interp_job job = job_of(e, i, NULL);
        job.records = e->records_of[i] = at;
        at += floe_interp_records_room(c);
        floe_cpu_clear(e->cpu, job.records, floe_interp_records_nbytes(c));
        job.coarse = i + 1 == p->nsteps ? e->anchors : e->lattices[(i + 1) % 2 == 0];
        job.fine = i ? floe_lattice_view_lattice(e->lattices[i % 2 == 0], job.step->fine) : job.fine;
        work w = {.e = e, .job = &job, .tiles = floe_interp_tiles_of(&job)};
        floe_cpu_parallel(e->cpu, w.tiles.count, tile_task, &w);
    }
}

void floe_interp_found_gather(const encoder *e, floe_interp_found *sum)
{
    *sum = (floe_interp_found){.squares = 0};
    for (uint32_t w = 0; w < e->cpu->threads; w++)
        found_add(sum, &e->found[w]);
}
