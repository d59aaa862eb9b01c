/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuner for values in device memory: kernels tally the structures that it tries, several at once. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "codec/interp/gpu/interp_tune_gpu.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda.h"
#include "field/dtype_math.h"
#include "field/look_cuda.h"

enum {
    MOST_CELLS = 524288, /* of all boxes of a trial */
    BESIDES = 8192,
    TRIALS_AT_ONCE = 13, /* for which there is room, of boxes whose records take as much as their values */
    MOST_STEPS = FLOE_INTERP_DEV_TRIALS * FLOE_INTERP_STEPS
};

void floe_interp_gpu_trials_take(floe_interp_trials_job *t, uint64_t ncells, size_t size, floe_arena *a)
{
    const uint64_t n = floe_min64(ncells, MOST_CELLS), levels = FLOE_INTERP_DEV_TRIALS * FLOE_INTERP_DEV_LEVELS;
    *t = (floe_interp_trials_job){.scratch_nbytes = TRIALS_AT_ONCE * (n * (size + 4) + BESIDES)};
    t->scratch = floe_arena_take(a, t->scratch_nbytes, 1);
    t->steps = floe_arena_take(a, MOST_STEPS, sizeof *t->steps);
    t->found = floe_arena_take(a, 1, sizeof *t->found);
    t->counts = floe_arena_take(a, levels * FLOE_CONTEXT_COUNTS, sizeof *t->counts);
}

/* ---- lattices, as for any field ------------------------------------------------------------------------------------------ */

/* One step for each of the plan; for a plan without steps, one that keeps all points. Returns how many there are. */
static uint32_t set_steps(floe_interp_gpu_thinning *t, const floe_interp_plan *p)
{
    const uint32_t n = p->nsteps ? p->nsteps : 1;
    floe_lattice_step none = {.naxes = 0};
    floe_interp_dev_thin next = {.from = t->check->values, .to = t->originals, .unit = {1, 1, 1, 1}, .last = true};
    memcpy(none.fine, p->shape, sizeof none.fine);
    memcpy(none.coarse, p->shape, sizeof none.coarse);
    for (uint32_t i = 0; i < n; i++) {
        next.step = p->nsteps ? p->steps[i].step : none;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            next.shift[a] = floe_lattice_is_active(&next.step, a);
        t->steps[i] = next;
        next.from = floe_lattice_view_lattice(next.to, next.step.coarse);
        next.to =
            (uint8_t *)next.to + floe_lattice_points(next.step.coarse) * (t->narrow ? sizeof(float) : sizeof(double));
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            next.unit[a] <<= next.shift[a];
        next.last = false;
    }
    return n;
}

static bool has_lattices_of(const floe_interp_plan *p, const floe_interp_plan *q)
{
    bool same = p->nsteps == q->nsteps && p->nsteps > 0;
    for (uint32_t i = 0; same && i < p->nsteps; i++)
        same = p->steps[i].step.naxes == q->steps[i].step.naxes &&
               memcmp(p->steps[i].step.axis, q->steps[i].step.axis, sizeof p->steps[i].step.axis) == 0;
    return same;
}

floe_status floe_interp_gpu_thin(floe_interp_gpu_thinning *t, const floe_interp_plan *plan, floe_error *err)
{
    if (has_lattices_of(&t->plan, plan))
        return FLOE_OK;
    t->plan = *plan;
    const uint32_t n = set_steps(t, plan);
    FLOE_CUDA(err, FLOE_BY_REAL(t->narrow, floe_interp_thin)(t->steps, n, t->check, t->anchors, t->stream));
    return FLOE_OK;
}

floe_status floe_interp_gpu_thin_early(floe_interp_gpu_thinning *t, const uint64_t *shape, floe_error *err)
{
    const floe_interp_structure first = floe_interp_structure_default();
    floe_interp_plan plan;
    if (!t->early)
        return FLOE_OK;
    floe_interp_plan_of(shape, &first, &plan);
    return floe_interp_gpu_thin(t, &plan, err);
}

/* ---- trials -------------------------------------------------------------------------------------------------------------- */

typedef struct trying {
    const floe_interp_gpu_tuning *t;
    floe_interp_encoder *e, *trial;
    floe_error *err;
    floe_status status; /* the first that failed */
    floe_interp_trials_job job;
    floe_interp_dev_trial_step *steps; /* MOST_STEPS */
} trying;

/* Adds the steps of s[n], behind those of s[0] to s[n - 1]. False where there is no room for one more. */
static bool add_trial(trying *run, const floe_interp_structure *s, uint32_t n)
{
    floe_interp_trials_job *job = &run->job;
    const floe_interp_plan *p = &run->trial->chunk.plan;
    uint64_t unit[FLOE_LATTICE_RANK] = {1, 1, 1, 1}, block_nbytes = job->values_nbytes;
    uint32_t at = job->begin[n], coding = 0;
    while (coding < job->ncodings && !floe_interp_has_codes_of(&s[job->coded[coding]], &s[n]))
        coding++;
    floe_interp_trial_plan(run->e, &s[n], run->trial);
    for (uint32_t i = 0; i < p->nsteps; i++)
        block_nbytes += floe_interp_records_nbytes(&p->steps[i]);
    block_nbytes = floe_max64(job->block_nbytes, block_nbytes);
    if (n == FLOE_INTERP_DEV_TRIALS ||
        block_nbytes * job->nboxes * floe_max64(job->ncodings, coding + 1) > job->scratch_nbytes)
        return false;
    job->coding[n] = coding;
    if (coding == job->ncodings)
        job->coded[job->ncodings++] = n;
    uint64_t records_at = job->values_nbytes;
    for (uint32_t i = 0; i < p->nsteps; i++, at++) {
        const floe_interp_coding *k = &p->steps[i];
        run->steps[at] =
            (floe_interp_dev_trial_step){.step = k->step, .rule = k->rule, .level = k->level, .records_at = records_at};
        run->steps[at].grid = floe_context_dev_grid_of(&k->spec, &k->grid, NULL);
        memcpy(run->steps[at].unit, unit, sizeof unit);
        for (uint32_t a = 0; a < k->step.naxes; a++)
            unit[k->step.axis[a]] *= 2;
        records_at += floe_interp_records_nbytes(k);
        job->warp_nbytes = (uint32_t)floe_max64(job->warp_nbytes, floe_context_warp_nbytes(&k->spec));
        job->nvalues = (uint32_t)floe_max64(job->nvalues, floe_context_values(&k->spec));
        job->nlevels = k->level >= job->nlevels ? k->level + 1 : job->nlevels;
    }
    job->block_nbytes = block_nbytes;
    job->begin[n + 1] = at;
    return true;
}

/* Tallies of the structures that have been added. */
static floe_status run_trials(trying *run, floe_context_tally *tallies)
{
    floe_interp_trials_job *job = &run->job;
    floe_interp_trials_found found;
    const uint32_t n = job->ntrials * job->nlevels;
    void *stream = run->t->stream;
    FLOE_CHECK(run->err, job->ntrials && job->nlevels <= FLOE_INTERP_DEV_LEVELS, FLOE_ERR_INTERNAL,
               "no room for a trial");
    FLOE_TRY(floe_codec_send(job->steps, run->steps, job->begin[job->ntrials] * sizeof *job->steps, stream, run->err));
    FLOE_CUDA(run->err, FLOE_BY_REAL(run->e->narrow, floe_interp_trials)(job, stream));
    if (run->t->thinning)
        FLOE_TRY(floe_interp_gpu_thin_early(run->t->thinning, run->e->chunk.plan.shape, run->err));
    const size_t tallies_at = offsetof(floe_interp_trials_found, tallies),
                 from = tallies_at - (job->looks ? floe_look_nplaces(&job->look) * sizeof *found.bits : 0);
    FLOE_TRY(floe_codec_fetch((uint8_t *)&found + from, (const uint8_t *)job->found + from,
                              tallies_at - from + n * sizeof *tallies, stream, run->err));
    for (uint32_t i = 0; i < job->ntrials; i++)
        memcpy(tallies + i * FLOE_INTERP_LEVELS, found.tallies + i * job->nlevels, job->nlevels * sizeof *tallies);
    if (job->looks) {
        run->e->share = floe_look_choose(&job->look, floe_interp_look_bits(&found, &job->look)).share;
        job->looks = false;
    }
    return FLOE_OK;
}

static floe_status look(const trying *run)
{
    const floe_interp_trials_job *job = &run->job;
    FLOE_CUDA(run->err,
              floe_look_cuda(&job->look, job->status, floe_interp_look_bits(job->found, &job->look), run->t->stream));
    return FLOE_OK;
}

/* The tuner may enlarge its boxes. */
static void set_part(trying *run)
{
    floe_interp_trials_job *job = &run->job;
    const uint64_t *part = run->trial->chunk.plan.shape;
    if (memcmp(job->part, part, sizeof job->part) == 0)
        return;
    memcpy(job->part, part, sizeof job->part);
    job->values_nbytes = (floe_lattice_points(part) * run->e->size + 15) & ~(uint64_t)15;
    job->by_bits = job->looks = floe_interp_trial_looks(run->e);
}

static void tally(void *user, uint64_t nboxes, const floe_interp_structure *s, uint32_t n, floe_context_tally *tallies)
{
    trying *run = user;
    set_part(run);
    run->job.nboxes = (uint32_t)nboxes;
    run->job.look = floe_interp_trial_look(run->e, run->job.part, nboxes);
    static_assert(sizeof run->job.at == sizeof run->e->box_at, "as many boxes");
    memcpy(run->job.at, run->e->box_at, sizeof run->job.at);
    if (run->job.looks && run->status == FLOE_OK) /* runs while the host plans trials */
        run->status = look(run);
    for (uint32_t done = 0; done < n && run->status == FLOE_OK; done += run->job.ntrials) {
        run->job.ntrials = run->job.ncodings = run->job.nlevels = run->job.nvalues = run->job.warp_nbytes = 0;
        run->job.block_nbytes = 0;
        while (done + run->job.ntrials < n && add_trial(run, s + done, run->job.ntrials))
            run->job.ntrials++;
        if (run->job.nlevels)
            run->status = run_trials(run, tallies + done * FLOE_INTERP_LEVELS);
    }
}

/* Makes e's trials run on the GPU. The caller frees run->steps. */
static floe_status begin_trying(trying *run, const floe_interp_gpu_tuning *t, floe_interp_encoder *e,
                                floe_interp_encoder *trial, floe_error *err)
{
    *run = (trying){.t = t, .e = e, .trial = trial, .err = err, .job = *t->trials};
    run->steps = malloc(MOST_STEPS * sizeof *run->steps);
    FLOE_CHECK(err, run->steps, FLOE_ERR_MEMORY, "out of memory");
    e->tally = tally;
    e->user = run;
    floe_interp_trials_job *job = &run->job;
    job->check = (floe_interp_dev_check){.values = e->values};
    job->check.log = t->params->mode == FLOE_BOUND_PWREL;
    job->check.fill = floe_codec_fill_bits(t->params);
    job->status = t->status;
    return FLOE_OK;
}

floe_status floe_interp_gpu_choose(const floe_interp_gpu_tuning *t, const floe_lattice_view *values,
                                   const uint64_t shape[FLOE_LATTICE_RANK], floe_interp_chunk *chunk, floe_error *err)
{
    floe_interp_encoder e, trial;
    floe_cpu cpu;
    uint64_t part[FLOE_LATTICE_RANK];
    trying run;
    FLOE_TRY(floe_cpu_init(&cpu, 1, FLOE_ISA_AUTO, err));
    floe_interp_encoder_begin(&e, &cpu, t->params, FLOE_LATTICE_RANK, shape, 0);
    floe_interp_trial_shape(&e, part);
    floe_interp_encoder_begin(&trial, &cpu, t->params, FLOE_LATTICE_RANK, part, 0);
    e.values = *values;
    e.chunk.turns = chunk->turns;
    e.attempt = t->attempt;
    FLOE_TRY(begin_trying(&run, t, &e, &trial, err));
    floe_interp_choose(&e, &trial);
    free(run.steps);
    *chunk = e.chunk;
    return run.status;
}

/* ---- boxes of a field ---------------------------------------------------------------------------------------------------- */

static void estimate_take(const floe_codec_boxes *boxes, floe_interp_trials_job *trials, uint32_t **status,
                          floe_arena *a)
{
    uint64_t ncells = boxes->n;
    for (uint32_t i = 0; i < boxes->rank; i++)
        ncells *= boxes->extent[i];
    floe_interp_gpu_trials_take(trials, ncells, floe_dtype_size(boxes->params->dtype), a);
    *status = floe_arena_take(a, 1, sizeof **status);
}

size_t floe_interp_gpu_estimate_workspace(const floe_codec_boxes *boxes)
{
    floe_arena plan = floe_arena_plan();
    floe_interp_trials_job trials;
    uint32_t *status;
    estimate_take(boxes, &trials, &status, &plan);
    return plan.used;
}

floe_status floe_interp_gpu_estimate(const floe_codec_boxes *boxes, floe_arena *scratch, double *bits, void *stream,
                                     floe_error *err)
{
    floe_interp_encoder e, trial;
    floe_cpu cpu;
    floe_interp_trials_job trials;
    const uint32_t ok = FLOE_OK;
    floe_interp_gpu_tuning t = {.params = boxes->params, .trials = &trials, .stream = stream};
    trying run;
    FLOE_TRY(floe_cpu_init(&cpu, 1, FLOE_ISA_AUTO, err));
    floe_interp_estimate_begin(&cpu, boxes, &e, &trial);
    estimate_take(boxes, &trials, &t.status, scratch);
    FLOE_TRY(floe_codec_send(t.status, &ok, sizeof ok, stream, err));
    FLOE_TRY(begin_trying(&run, &t, &e, &trial, err));
    *bits = floe_interp_price(&e, &trial);
    free(run.steps);
    return run.status;
}

#endif
