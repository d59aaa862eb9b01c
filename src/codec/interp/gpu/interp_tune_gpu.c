/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials of the tuner. Boxes of up to three axes are one field, whose slowest axis nothing is predicted along; others come one by one. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/interp/gpu/interp_tune_gpu.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda.h"
#include "field/dtype_math.h"

enum {
    MOST_CELLS = 8 * 262144, /* of all boxes */
    MOST_BOXES = 8,
    MOST_GRIDS = MOST_BOXES * FLOE_INTERP_STEPS,
    BESIDES = 4096,
    RECORDS_OF_CELL =
        24 /* bytes of a cell's records of all steps, wide, at most; a plan that needs more is left to the CPU */
};

void floe_interp_gpu_trials_take(floe_interp_gpu_trials *t, uint64_t ncells, size_t size, floe_arena *a)
{
    const uint64_t n = floe_min64(ncells, MOST_CELLS);
    t->ncells = n;
    t->boxes = floe_arena_take(a, n, size);
    t->originals = floe_arena_take(a, 2 * n, size);
    t->lattices[0] = floe_arena_take(a, n, size);
    t->lattices[1] = floe_arena_take(a, n, size);
    t->anchors = floe_arena_take(a, n, size);
    t->records = floe_arena_take(a, n * RECORDS_OF_CELL + BESIDES, 1);
    t->apart = floe_arena_take(a, n, sizeof *t->apart); /* rows may be short */
    t->found = floe_arena_take(a, 1, sizeof *t->found);
    t->grids = floe_arena_take(a, MOST_GRIDS, sizeof *t->grids);
    t->tickets = floe_arena_take(a, MOST_GRIDS, sizeof *t->tickets);
    t->counts = floe_arena_take(a, (uint64_t)FLOE_INTERP_LEVELS * FLOE_CONTEXT_COUNTS, sizeof *t->counts);
}

/* ---- lattices, as for any field ------------------------------------------------------------------------------------------ */

floe_context_dev_grid floe_interp_gpu_grid(const floe_context_spec *spec, const floe_context_grid *grid, void *records)
{
    floe_context_dev_grid g = {.records = records, .grid = *grid, .width = spec->width, .window = spec->window};
    g.planes = spec->planes;
    g.nmasks = floe_context_masks(spec);
    g.nvalues = floe_context_values(spec);
    g.nchunks = (uint32_t)floe_context_nchunks(grid);
    return g;
}

uint32_t floe_interp_gpu_lattices(const floe_interp_plan *p, uint8_t *at, uint32_t size, floe_interp_dev_lattice *l)
{
    uint64_t unit[FLOE_INTERP_RANK] = {1, 1, 1, 1};
    for (uint32_t i = 0; i < (p->nsteps ? p->nsteps : 1); i++) {
        const uint64_t *shape = p->nsteps ? p->steps[i].step.coarse : p->shape;
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
            unit[a] *= p->nsteps && floe_interp_is_active(&p->steps[i].step, a) ? 2 : 1;
        l[i].data = at;
        memcpy(l[i].shape, shape, sizeof l[i].shape);
        memcpy(l[i].unit, unit, sizeof unit);
        l[i].count = floe_interp_points(shape);
        at += l[i].count * size;
    }
    return p->nsteps ? p->nsteps : 1;
}

floe_interp_dev_job floe_interp_gpu_job(const floe_interp_plan *p, const floe_interp_dev_check *check,
                                        const floe_interp_dev_lattice *lattices, uint32_t i)
{
    floe_interp_dev_job job = {.last = i == 0, .log = check->log};
    if (p->nsteps) {
        job.step = p->steps[i].step;
    } else {
        memcpy(job.step.fine, p->shape, sizeof job.step.fine);
        memcpy(job.step.coarse, p->shape, sizeof job.step.coarse);
    }
    job.original = i ? floe_interp_view_lattice(lattices[i - 1].data, job.step.fine) : check->values;
    memcpy(job.hi, job.step.fine, sizeof job.hi);
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        job.unit[a] = i ? lattices[i - 1].unit[a] : 1;
    return job;
}

floe_status floe_interp_gpu_thin(const floe_interp_plan *p, const floe_interp_dev_check *check, uint32_t *status,
                                 uint8_t *originals, void *anchors, floe_interp_dev_lattice *lattices, bool narrow,
                                 void *stream, floe_error *err)
{
    const uint32_t n = floe_interp_gpu_lattices(p, originals, narrow ? sizeof(float) : sizeof(double), lattices);
    for (uint32_t i = 0; i < n; i++) {
        floe_interp_dev_job job = floe_interp_gpu_job(p, check, lattices, i);
        job.status = status;
        FLOE_CUDA(err, narrow ? floe_interp_thin_f32(&job, check, lattices[i].data, stream)
                              : floe_interp_thin_f64(&job, check, lattices[i].data, stream));
    }
    FLOE_CUDA(err, narrow ? floe_interp_anchors_f32(check, &lattices[n - 1], anchors, stream)
                          : floe_interp_anchors_f64(check, &lattices[n - 1], anchors, stream));
    return FLOE_OK;
}

/* ---- trials -------------------------------------------------------------------------------------------------------------- */

typedef struct trying {
    const floe_interp_gpu_tuning *t;
    const floe_interp_encoder *e;
    floe_error *err;
    floe_status status; /* the first that failed */
    uint64_t nboxes;
    floe_context_dev_grid grids[MOST_GRIDS];
    uint32_t ngrids;
    uint64_t nrecords; /* bytes so far */
} trying;

/* Plan of `several` boxes side by side. */
static floe_interp_plan stacked(const floe_interp_plan *p, uint64_t several)
{
    floe_interp_plan s = *p;
    if (several == 1)
        return s;
    s.shape[0] = several;
    for (uint32_t i = 0; i < s.nsteps; i++)
        s.steps[i].step.fine[0] = s.steps[i].step.coarse[0] = several;
    return s;
}

static void add_grids(trying *y, const floe_interp_coding *k, uint64_t several, uint8_t *records, uint64_t pitch)
{
    for (uint64_t b = 0; b < several; b++) {
        floe_context_dev_grid *g = &y->grids[y->ngrids++];
        *g = floe_interp_gpu_grid(&k->spec, &k->grid, records + b * pitch);
        g->counts = k->level;
    }
}

/* Bytes of the records of a step of `several` boxes. */
static uint64_t step_nbytes(const floe_interp_coding *k, uint64_t several)
{
    const uint64_t *n = k->grid.size;
    return (several * n[0] * n[1] * n[2] * floe_context_record_nbytes(&k->spec) + 15) & ~(uint64_t)15;
}

/* Codes `several` boxes from number `first` on, side by side. */
static floe_status code_some(trying *y, const floe_interp_encoder *trial, uint64_t first, uint64_t several)
{
    const floe_interp_gpu_tuning *t = y->t;
    const floe_interp_gpu_trials *m = t->trials;
    const floe_interp_plan *one = &trial->chunk.plan, p = stacked(one, several);
    const uint64_t cells = floe_interp_points(one->shape);
    floe_interp_dev_lattice lattices[FLOE_INTERP_STEPS];
    floe_interp_dev_check check = {.log = trial->chunk.log, .apart = m->apart, .found = m->found};
    check.values = floe_interp_view_lattice(m->boxes + first * cells * trial->size, p.shape);
    memcpy(check.shape, p.shape, sizeof check.shape);
    check.tolerance = floe_interp_tolerance(t->params, check.log);
    check.fill = t->params->has_fill ? t->params->fill_bits : floe_dtype_sign(t->params->dtype);
    FLOE_TRY(floe_interp_gpu_thin(&p, &check, t->status, m->originals, m->anchors, lattices, trial->narrow, t->stream,
                                  y->err));
    for (uint32_t i = p.nsteps; i-- > 0;) {
        const floe_interp_coding *k = &one->steps[i];
        floe_interp_dev_job job = floe_interp_gpu_job(&p, &check, lattices, i);
        const uint64_t nrecords = floe_context_nrecords(&k->grid);
        const uint64_t pitch = nrecords * floe_context_record_nbytes(&k->spec);
        job.status = t->status;
        job.records = m->records + y->nrecords;
        job.gap = nrecords - floe_interp_nrecords(&k->step); /* which stay 0 */
        job.coarse = i + 1 == p.nsteps ? m->anchors : m->lattices[(i + 1) % 2 == 0];
        if (i)
            job.fine = floe_interp_view_lattice(m->lattices[i % 2 == 0], job.step.fine);
        add_grids(y, k, several, job.records, pitch);
        y->nrecords += step_nbytes(k, several);
        FLOE_CUDA(y->err, trial->narrow ? floe_interp_encode_f32(&job, &check, t->stream)
                                        : floe_interp_encode_f64(&job, &check, t->stream));
    }
    return FLOE_OK;
}

static floe_status code_all(trying *y, floe_interp_encoder *trial)
{
    const floe_interp_gpu_trials *m = y->t->trials;
    const floe_interp_plan *p = &trial->chunk.plan;
    const uint64_t several = p->shape[0] == 1 ? y->nboxes : 1;
    const size_t counts_nbytes =
        (p->nsteps ? p->steps[p->nsteps - 1].level + 1 : 0) * FLOE_CONTEXT_COUNTS * sizeof *m->counts;
    floe_context_job job = {.grids = m->grids, .every = 1, .tickets = m->tickets, .status = y->t->status};
    if (p->nsteps == 0)
        return FLOE_OK;
    uint64_t records_nbytes = 0;
    for (uint32_t i = 0; i < p->nsteps; i++)
        records_nbytes += y->nboxes / several * step_nbytes(&p->steps[i], several);
    y->ngrids = 0;
    y->nrecords = 0;
    FLOE_CUDA(y->err, cudaMemsetAsync(m->records, 0, records_nbytes, y->t->stream));
    FLOE_CUDA(y->err, cudaMemsetAsync(m->counts, 0, counts_nbytes, y->t->stream));
    for (uint64_t b = 0; b < y->nboxes; b += several)
        FLOE_TRY(code_some(y, trial, b, several));
    for (uint32_t i = 0; i < y->ngrids; i++) {
        y->grids[i].first = job.nchunks;
        job.nchunks += y->grids[i].nchunks;
        const uint32_t nbytes = floe_context_warp_nbytes(y->grids[i].window, y->grids[i].width);
        job.warp_nbytes = nbytes > job.warp_nbytes ? nbytes : job.warp_nbytes;
    }
    job.ngrids = y->ngrids;
    job.counts = m->counts;
    FLOE_CUDA(y->err, cudaMemsetAsync(m->tickets, 0, y->ngrids * sizeof *m->tickets, y->t->stream));
    FLOE_TRY(floe_interp_gpu_send(m->grids, y->grids, y->ngrids * sizeof *y->grids, y->t->stream, y->err));
    FLOE_CUDA(y->err, floe_context_count_cuda(&job, y->t->stream));
    return floe_interp_gpu_fetch(trial->counts, m->counts, counts_nbytes, y->t->stream, y->err);
}

static void code_boxes(void *user, floe_interp_encoder *trial)
{
    trying *y = user;
    if (y->status == FLOE_OK)
        y->status = code_all(y, trial);
}

/* The boxes, one behind the other. */
static floe_status gather_boxes(trying *y, const uint64_t *part)
{
    const floe_interp_gpu_tuning *t = y->t;
    const uint64_t *n = y->e->chunk.plan.shape, cells = floe_interp_points(part);
    for (uint64_t b = 0; b < y->nboxes; b++) {
        floe_interp_bits_job job = {.what = FLOE_INTERP_BITS_GATHER, .row = 1, .nwords = floe_ceil_div(cells, 64)};
        int64_t at = 0;
        memcpy(job.shape, n, sizeof job.shape);
        floe_interp_trial_box(n, part, y->nboxes, b, job.lo);
        for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
            job.hi[a] = job.lo[a] + part[a];
            at += (int64_t)job.lo[a] * t->values->stride[a];
        }
        job.values = *t->values;
        job.values.data = (uint8_t *)t->values->data + at * (int64_t)y->e->size;
        job.size = (uint32_t)y->e->size;
        job.status = t->status;
        job.literals = t->trials->boxes + b * cells * y->e->size;
        FLOE_CUDA(y->err, floe_interp_bits_cuda(&job, t->stream));
    }
    return FLOE_OK;
}

/* What a trial takes on the host: on a GPU its counts alone, else all, and the boxes. */
static uint8_t *take_scratch(floe_interp_encoder *e, floe_interp_encoder *trial, bool on_gpu, size_t boxes_nbytes,
                             floe_arena *a)
{
    if (on_gpu) {
        trial->counts = floe_arena_take(a, (trial->needs.nsteps + 1) * FLOE_CONTEXT_COUNTS, sizeof *trial->counts);
        return NULL;
    }
    e->entropy = floe_interp_entropy_take(e->cpu, true, FLOE_INTERP_TILE_REALS * e->size, a);
    floe_interp_encoder_take(trial, a);
    trial->entropy = e->entropy;
    return floe_arena_take(a, boxes_nbytes, 1);
}

static floe_status choose(trying *y, floe_interp_encoder *e, floe_interp_encoder *trial)
{
    const uint64_t *part = trial->chunk.plan.shape, cells = y->nboxes * floe_interp_points(part);
    const floe_interp_needs *n = &trial->needs;
    const bool on_gpu = cells <= y->t->trials->ncells && y->nboxes <= MOST_BOXES &&
                        n->coarse * y->nboxes <= 2 * cells && n->lattice[0] * y->nboxes <= cells &&
                        n->lattice[1] * y->nboxes <= cells &&
                        (n->records + 16 * n->nsteps) * y->nboxes <= cells * RECORDS_OF_CELL + BESIDES;
    floe_arena plan = floe_arena_plan();
    take_scratch(e, trial, on_gpu, (size_t)cells * e->size, &plan);
    void *memory = malloc(plan.used + FLOE_ARENA_ALIGN);
    FLOE_CHECK(y->err, memory, FLOE_ERR_MEMORY, "out of memory");
    uint8_t *base = (uint8_t *)memory + (FLOE_ARENA_ALIGN - (uintptr_t)memory % FLOE_ARENA_ALIGN);
    floe_arena arena = floe_arena_of(base, plan.used);
    uint8_t *boxes = take_scratch(e, trial, on_gpu, (size_t)cells * e->size, &arena);
    y->status = gather_boxes(y, part);
    if (y->status == FLOE_OK && boxes)
        y->status = floe_interp_gpu_fetch(boxes, y->t->trials->boxes, (size_t)cells * e->size, y->t->stream, y->err);
    e->boxes = boxes;
    e->code_boxes = on_gpu ? code_boxes : NULL;
    e->user = y;
    if (y->status == FLOE_OK)
        floe_interp_choose(e, trial);
    free(memory);
    return y->status;
}

floe_status floe_interp_gpu_choose(const floe_interp_gpu_tuning *t, const uint64_t shape[FLOE_INTERP_RANK],
                                   floe_interp_chunk *chunk, floe_error *err)
{
    floe_interp_encoder e, trial;
    floe_cpu cpu;
    uint64_t part[FLOE_INTERP_RANK];
    trying y = {.t = t, .e = &e, .err = err};
    FLOE_TRY(floe_cpu_init(&cpu, 1, FLOE_ISA_AUTO, err));
    floe_interp_encoder_begin(&e, &cpu, t->params, FLOE_INTERP_RANK, shape);
    floe_interp_trial_shape(&e, part);
    floe_interp_encoder_begin(&trial, &cpu, t->params, FLOE_INTERP_RANK, part);
    y.nboxes = floe_interp_trial_count(e.ncells, part);
    FLOE_TRY(choose(&y, &e, &trial));
    *chunk = e.chunk;
    return FLOE_OK;
}

#endif
