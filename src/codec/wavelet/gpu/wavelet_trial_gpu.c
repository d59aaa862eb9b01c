/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuner's trials on a GPU: a round of several structures is done together, and the host waits once for all of them. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "codec/wavelet/gpu/wavelet_codec_gpu.h"

typedef floe_wavelet_gpu_part part;
typedef floe_wavelet_gpu_work work;
typedef floe_wavelet_gpu_grids grids;

/* A box that is transformed: structures of its bank and axes begin with it. */
typedef struct transformed {
    bool there, used; /* used: by this round */
    floe_wavelet_structure structure;
} transformed;

/* Trials of a box of the array. */
typedef struct trying {
    const work *call;
    part *of;
    const floe_wavelet_gpu_room *room; /* of the box */
    part trial;                        /* which one that is */
    floe_codec_params params;
    transformed transformed[FLOE_WAVELET_DEV_JOBS + 1];
    uint32_t begins[FLOE_WAVELET_DEV_JOBS]; /* of this round: number of what is transformed */
    floe_wavelet_gpu_round round;
    grids counted;
    work beside; /* settled: what calls are put on from then on, beside the passes of the chunk */
    bool settled;
    floe_status status; /* the first that failed */
} trying;

static uint8_t *array_of(const trying *y, uint64_t number)
{
    return y->call->c->trial_arrays + number * floe_wavelet_gpu_buffer_nbytes(y->trial.e.ncells, y->trial.e.size);
}

/* ---- transforms -------------------------------------------------------------------------------------------------------- */

/* Number of what begins with s; behind the last one, if there is nothing. */
static uint32_t find_transformed(const trying *y, const floe_wavelet_structure *s)
{
    uint32_t i = 0;
    while (i <= y->room->n &&
           !(y->transformed[i].there && floe_wavelet_is_same_transform(&y->transformed[i].structure, s)))
        i++;
    return i;
}

/* Chooses what trial number k begins with; a transform that is not there yet is added to those to be done. */
static floe_status begin_trial(trying *y, const floe_wavelet_structure *s, uint32_t k, floe_wavelet_dev_places *todo)
{
    uint32_t i = find_transformed(y, s);
    if (i > y->room->n) {
        do
            i--; /* a round has fewer trials than there are places */
        while (y->transformed[i].used);
        y->transformed[i] = (transformed){true, true, *s};
        floe_wavelet_plan_make(&y->trial.e, s);
        FLOE_TRY(floe_wavelet_gpu_places_add(&y->trial, array_of(y, y->room->n + i), y->call->c->box, todo));
    }
    y->begins[k] = i;
    return FLOE_OK;
}

static floe_status transform(trying *y, const floe_wavelet_trial *t, uint32_t n)
{
    floe_wavelet_dev_places todo = {.n = 0};
    for (uint32_t i = 0; i <= FLOE_WAVELET_DEV_JOBS; i++)
        y->transformed[i].used = false;
    for (uint32_t k = 0; k < n; k++) { /* what is there is not to be lost to what is not */
        const uint32_t i = find_transformed(y, &t[k].structure);
        if (i <= y->room->n)
            y->transformed[i].used = true;
    }
    for (uint32_t k = 0; k < n; k++)
        FLOE_TRY(begin_trial(y, &t[k].structure, k, &todo));
    return floe_wavelet_gpu_places_lift(&y->trial, &todo);
}

/* ---- a trial ----------------------------------------------------------------------------------------------------------- */

/* With its own memory. */
static void aim(trying *y, const floe_wavelet_structure *s, uint32_t number)
{
    const floe_wavelet_gpu_encode *c = y->call->c;
    part *p = &y->trial;
    floe_wavelet_plan_make(&p->e, s);
    p->findings = c->results->part + number;
    p->in_place = true;
    p->back = NULL;
    p->array[0] = array_of(y, number);
    p->from[0] = array_of(y, y->room->n + y->begins[number]);
    p->e.records = c->trial_records + number * y->room->records;
    p->e.marks[FLOE_WAVELET_CORRECTIONS] = c->trial_corrections + number * y->room->nmarks;
}

static void add_grids(trying *y, bool all)
{
    const floe_wavelet_encoder *e = &y->trial.e;
    const floe_context_grid marks = floe_wavelet_marks_grid(e->chunk.plan.shape, 0);
    floe_wavelet_gpu_steps_add(&y->counted, e);
    if (all)
        floe_wavelet_gpu_grid_add(&y->counted, &floe_wavelet_marks_spec, &marks, e->marks[FLOE_WAVELET_CORRECTIONS]);
}

/* Of a trial whose grids from `first` on are counted. */
static void set_bits(const trying *y, const floe_wavelet_dev_found *found, uint32_t first, floe_wavelet_trial *t)
{
    const floe_wavelet_encoder *e = &y->trial.e;
    const uint32_t nsteps = e->chunk.plan.nsteps;
    t->codes = floe_wavelet_anchors_bits(e);
    for (uint32_t i = 0; i < nsteps; i++)
        t->codes += y->counted.bits[first + i];
    if (t->all)
        t->bits = t->codes + y->counted.bits[first + nsteps] + floe_wavelet_literals_bits(e, found->nliterals);
}

/* Step by step, where some codes are too large. */
static floe_status try_again(trying *y, floe_wavelet_trial *t)
{
    floe_wavelet_gpu_results found;
    bool good;
    aim(y, &t->structure, 0);
    y->trial.in_place = false;
    floe_wavelet_gpu_arrays_of(&y->trial, array_of(y, 0));
    if (y->room->n == 1) /* the second array is the first one that is transformed */
        memset(y->transformed, 0, sizeof y->transformed);
    y->counted = (grids){.n = 0};
    FLOE_TRY(floe_wavelet_gpu_array_forward(&y->trial));
    FLOE_TRY(floe_wavelet_gpu_array_code(&y->trial, &good));
    if (!good)
        return FLOE_OK;
    FLOE_TRY(floe_wavelet_gpu_array_check(&y->trial));
    add_grids(y, t->all);
    FLOE_TRY(floe_wavelet_gpu_count(y->call, &y->counted, 1, &found));
    set_bits(y, &found.part[0].found, 0, t);
    return FLOE_OK;
}

/* Of some step too many codes are as large as they may be. */
static bool is_cut(const trying *y, const floe_wavelet_gpu_findings *found)
{
    bool some = false;
    for (uint32_t i = 0; i < y->trial.e.chunk.plan.nsteps; i++)
        some = some || found->largest[i] > floe_wavelet_cuts_most(&y->trial.e, i);
    return some;
}

static floe_status take_bits(trying *y, floe_wavelet_trial *t, uint32_t n, const floe_wavelet_gpu_results *found)
{
    bool again[FLOE_WAVELET_DEV_JOBS];
    for (uint32_t k = 0, first = 0; k < n; k++) {
        floe_wavelet_plan_make(&y->trial.e, &t[k].structure);
        again[k] = is_cut(y, &found->part[k]);
        if (!again[k] && floe_wavelet_gpu_anchors_set(&y->trial, found->part[k].range))
            set_bits(y, &found->part[k].found, first, &t[k]);
        first += y->trial.e.chunk.plan.nsteps + t[k].all;
    }
    for (uint32_t k = 0; k < n; k++)
        if (again[k])
            FLOE_TRY(try_again(y, &t[k]));
    return FLOE_OK;
}

static floe_status try_some(trying *y, floe_wavelet_trial *t, uint32_t n)
{
    const work *w = y->call;
    const floe_wavelet_gpu_encode *c = w->c;
    floe_wavelet_gpu_round *r = &y->round;
    floe_wavelet_gpu_results found;
    r->n = r->ncodes = r->nchecks = r->back.n = 0;
    y->counted = (grids){.n = 0};
    FLOE_TRY(transform(y, t, n)); /* what takes longest comes first */
    FLOE_CUDA(w->err, cudaMemsetAsync(c->results->part, 0, n * sizeof found.part[0], w->stream));
    FLOE_CUDA(w->err, cudaMemsetAsync(c->trial_corrections, 0, n * y->room->nmarks, w->stream));
    for (uint32_t k = 0; k < n; k++) {
        aim(y, &t[k].structure, k);
        FLOE_TRY(floe_wavelet_gpu_round_add(&y->trial, t[k].all, r));
        add_grids(y, t[k].all);
    }
    FLOE_TRY(floe_wavelet_gpu_round_do(&y->trial, r));
    if (y->settled && !y->of->lifted) /* the host has time for it now */
        FLOE_TRY(floe_wavelet_gpu_array_lift(y->of));
    FLOE_TRY(floe_wavelet_gpu_count(w, &y->counted, n, &found));
    return take_bits(y, t, n, &found);
}

/* As many at once as there is room for. */
static void try_structures(void *user, floe_wavelet_trial *t, uint32_t n)
{
    trying *y = user;
    const uint32_t most = y->room->n;
    for (uint32_t k = 0; k < n && y->status == FLOE_OK; k += most)
        y->status = try_some(y, t + k, n - k < most ? n - k : most);
}

/* ---- the tuner --------------------------------------------------------------------------------------------------------- */

static floe_status copy_box(part *p, const part *trial)
{
    const floe_wavelet_gpu_encode *c = p->w->c;
    floe_wavelet_box_job job = {
        .array = p->first ? p->first : p->array[0], .kinds = p->e.marks[FLOE_WAVELET_VALUE_KINDS], .row = p->e.row};
    job.center = p->first ? p->e.chunk.plan.center : 0;
    const floe_look look = floe_wavelet_trial_look(&p->e, &trial->e, job.array, job.center);
    uint64_t bits[FLOE_LOOK_PLACES] = {0};
    if (look.nprobes)
        FLOE_TRY(floe_wavelet_gpu_look(p, &look, bits));
    floe_wavelet_trial_place(&p->e, &look, bits, job.lo);
    memcpy(job.shape, p->e.chunk.plan.shape, sizeof job.shape);
    memcpy(job.n, trial->e.chunk.plan.shape, sizeof job.n);
    job.box_row = trial->e.row;
    job.box = c->box;
    job.box_kinds = c->holes;
    job.size = (uint32_t)p->e.size;
    job.status = p->w->status;
    if (p->e.has_kinds)
        FLOE_CUDA(p->w->err, cudaMemsetAsync(c->holes, 0, trial->e.nmarks, p->w->stream));
    FLOE_CUDA(p->w->err, floe_wavelet_box_cuda(&job, p->w->stream));
    return FLOE_OK;
}

static void begin(void *user, bool large)
{
    trying *y = user;
    y->room = &y->call->c->trials[large];
    floe_wavelet_trial_begin(&y->of->e, large, &y->trial.e, &y->params, y->call->c->box);
    memset(y->transformed, 0, sizeof y->transformed);
    if (y->status == FLOE_OK)
        y->status = copy_box(y->of, &y->trial);
}

/* The last rounds are small: passes of the chunk run beside them. What forks there forks from the side itself. */
static void settle(void *user, const floe_wavelet_structure *s)
{
    trying *y = user;
    const work *w = y->of->w;
    if (y->settled || y->status != FLOE_OK)
        return;
    y->settled = true;
    y->beside = *w;
    y->beside.stream = w->cuda->side;
    y->call = y->trial.w = &y->beside;
    y->status = floe_cuda_fork(w->cuda, w->stream, w->err);
    floe_wavelet_plan_make(&y->of->e, s);
}

floe_status floe_wavelet_gpu_tune(part *p)
{
    trying y = {.call = p->w, .of = p, .trial = {.w = p->w, .trial = true, .first = p->w->c->box}};
    const floe_wavelet_trials trials = {begin, try_structures, settle, &y};
    floe_wavelet_encoder *trial = &y.trial.e;
    floe_wavelet_encoder_begin(trial, p->e.cpu, p->e.params, FLOE_LATTICE_RANK, p->e.chunk.plan.shape, 0);
    trial->marks[FLOE_WAVELET_VALUE_KINDS] = p->w->c->holes;
    trial->has_kinds = p->e.has_kinds;
    floe_wavelet_search(&p->e, &trials);
    return y.settled ? floe_cuda_join(p->w->cuda, p->w->stream, y.status, p->w->err) : y.status;
}

#endif
