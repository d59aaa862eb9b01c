/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuner's trials on a GPU. Those of several structures are put on streams side by side, and the host waits once for all of them. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include <assert.h>
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <string.h>

#include "backend/cuda.h"
#include "codec/wavelet/gpu/wavelet_encode_gpu.h"

typedef floe_wavelet_gpu_part part;
typedef floe_wavelet_gpu_work work;
typedef floe_wavelet_gpu_grids grids;

static_assert((int)FLOE_WAVELET_TRIALS <= (int)FLOE_CUDA_SIDES, "each has a stream");

/* Trials of a box of the array. */
typedef struct trying {
    const work *call;
    work side;  /* of the trial that is put on its stream */
    part trial; /* which that is */
    /* The transform that is kept, behind the arrays of all trials: trials of its banks and axes begin with it */
    bool keeps;
    floe_wavelet_structure kept;
    uint32_t kept_at[FLOE_WAVELET_STEPS + 1];
    grids counted;
    floe_status status; /* the first that failed */
} trying;

static floe_status load_box(part *p)
{
    FLOE_CUDA(p->w->err, cudaMemcpyAsync(p->array[0], p->w->c->box, p->e.ncells * p->e.size, cudaMemcpyDeviceToDevice,
                                         p->w->stream));
    return FLOE_OK;
}

static uint8_t *arrays_of(const trying *y, uint64_t number)
{
    return y->call->c->trial_arrays + number * 2 * floe_wavelet_gpu_buffer_nbytes(y->trial.e.ncells, y->trial.e.size);
}

/* ---- transforms -------------------------------------------------------------------------------------------------------- */

static bool is_same_transform(const floe_wavelet_structure *a, const floe_wavelet_structure *b)
{
    return a->bank == b->bank && a->one_sided == b->one_sided && a->frozen == b->frozen && a->packet == b->packet;
}

/* One that several trials begin with, or all trials there are; NULL: none, or it is kept. */
static const floe_wavelet_structure *worth_keeping(const trying *y, const floe_wavelet_structure *s, uint32_t n)
{
    const floe_wavelet_structure *best = y->call->c->room.ntrials == 1 ? s : NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (y->keeps && is_same_transform(&y->kept, &s[i]))
            return NULL;
        for (uint32_t k = 0; k < i && !best; k++)
            best = is_same_transform(&s[k], &s[i]) ? &s[i] : NULL;
    }
    return best;
}

static floe_status keep_transform(trying *y, const floe_wavelet_structure *s, const work *w)
{
    part *p = &y->trial;
    floe_wavelet_plan_make(&p->e, s);
    p->w = w;
    floe_wavelet_gpu_arrays_of(p, arrays_of(y, y->call->c->room.ntrials));
    FLOE_TRY(floe_wavelet_gpu_array_transform(p));
    memcpy(y->kept_at, p->at, sizeof y->kept_at);
    y->kept = *s;
    y->keeps = true;
    return FLOE_OK;
}

/* Its own, or the one that is kept. */
static floe_status transform(trying *y, const floe_wavelet_structure *s)
{
    part *p = &y->trial;
    uint8_t *const own[] = {p->array[0], p->array[1]};
    if (!y->keeps || !is_same_transform(&y->kept, s))
        return floe_wavelet_gpu_array_transform(p);
    floe_wavelet_gpu_arrays_of(p, arrays_of(y, y->call->c->room.ntrials));
    memcpy(p->array, own, sizeof own);
    memcpy(p->at, y->kept_at, sizeof p->at);
    return FLOE_OK;
}

/* ---- a trial ----------------------------------------------------------------------------------------------------------- */

/* With its own memory. */
static void aim(trying *y, const floe_wavelet_structure *s, uint32_t number)
{
    const floe_wavelet_gpu_encode *c = y->call->c;
    part *p = &y->trial;
    floe_wavelet_plan_make(&p->e, s);
    p->w = y->call;
    p->findings = c->answers->part + number;
    floe_wavelet_gpu_arrays_of(p, arrays_of(y, number));
    p->e.records = c->trial_records + number * c->room.trial_records;
    p->e.marks[FLOE_WAVELET_CORRECTIONS] = c->trial_corrections + number * c->room.trial_marks;
}

static void add_grids(trying *y)
{
    const floe_wavelet_encoder *e = &y->trial.e;
    const floe_context_grid marks = floe_wavelet_marks_grid(e->chunk.plan.shape, 0);
    floe_wavelet_gpu_steps_add(&y->counted, e);
    floe_wavelet_gpu_grid_add(&y->counted, &floe_wavelet_marks_spec, &marks, e->marks[FLOE_WAVELET_CORRECTIONS]);
}

static floe_status put_trial(trying *y, const floe_wavelet_structure *s, uint32_t number)
{
    y->side = *y->call;
    y->side.stream = y->call->cuda->side[number];
    if (!y->keeps) /* the first one's, which others may begin with later */
        FLOE_TRY(keep_transform(y, s, &y->side));
    aim(y, s, number);
    y->trial.w = &y->side;
    FLOE_TRY(transform(y, s));
    FLOE_TRY(floe_wavelet_gpu_array_try(&y->trial));
    add_grids(y);
    return FLOE_OK;
}

static floe_status count_grids(trying *y, floe_wavelet_gpu_answers *found, uint32_t n)
{
    FLOE_TRY(floe_wavelet_gpu_count_start(y->call, &y->counted));
    FLOE_TRY(floe_wavelet_gpu_fetch(y->call, found, y->call->c->answers,
                                    offsetof(floe_wavelet_gpu_answers, part) + n * sizeof found->part[0]));
    floe_wavelet_gpu_count_take(&y->counted, found);
    return FLOE_OK;
}

/* All of a structure's, once its grids from `first` on are counted. */
static uint64_t bits_of(const trying *y, const floe_wavelet_dev_found *found, uint32_t first)
{
    const floe_wavelet_encoder *e = &y->trial.e;
    uint64_t bits = floe_wavelet_trial_bits(e, found->nliterals);
    for (uint32_t i = 0; i <= e->chunk.plan.nsteps; i++)
        bits += y->counted.bits[first + i];
    return bits;
}

/* Step by step, where some codes are too large. */
static floe_status try_again(trying *y, const floe_wavelet_structure *s, uint64_t *bits)
{
    floe_wavelet_gpu_answers found;
    bool good;
    *bits = UINT64_MAX;
    aim(y, s, 0);
    y->counted = (grids){.n = 0};
    FLOE_TRY(floe_wavelet_gpu_array_forward(&y->trial));
    FLOE_TRY(floe_wavelet_gpu_array_code(&y->trial, &good));
    if (!good)
        return FLOE_OK;
    FLOE_TRY(floe_wavelet_gpu_array_check(&y->trial));
    add_grids(y);
    FLOE_TRY(count_grids(y, &found, 1));
    *bits = bits_of(y, &found.part[0].found, 0);
    return FLOE_OK;
}

/* Some of its codes are as large as codes may be. */
static bool is_clipped(const floe_wavelet_gpu_findings *found, uint32_t nsteps)
{
    bool some = false;
    for (uint32_t i = 0; i < nsteps; i++)
        some = some || found->largest[i];
    return some;
}

static floe_status take_bits(trying *y, const floe_wavelet_structure *s, uint32_t n,
                             const floe_wavelet_gpu_answers *found, uint64_t *bits)
{
    bool again[FLOE_WAVELET_TRIALS];
    for (uint32_t k = 0, first = 0; k < n; k++) {
        floe_wavelet_plan_make(&y->trial.e, &s[k]);
        again[k] = is_clipped(&found->part[k], y->trial.e.chunk.plan.nsteps);
        if (floe_wavelet_gpu_anchors_set(&y->trial, found->part[k].range))
            bits[k] = bits_of(y, &found->part[k].found, first);
        first += y->trial.e.chunk.plan.nsteps + 1;
    }
    for (uint32_t k = 0; k < n; k++)
        if (again[k])
            FLOE_TRY(try_again(y, &s[k], &bits[k]));
    return FLOE_OK;
}

static floe_status try_all(trying *y, const floe_wavelet_structure *s, uint32_t n, uint64_t *bits)
{
    const work *w = y->call;
    const floe_wavelet_gpu_encode *c = w->c;
    const floe_wavelet_structure *keep = worth_keeping(y, s, n);
    floe_wavelet_gpu_answers found;
    y->counted = (grids){.n = 0};
    if (keep)
        FLOE_TRY(keep_transform(y, keep, w));
    FLOE_CUDA(w->err, cudaMemsetAsync(c->answers->part, 0, n * sizeof found.part[0], w->stream));
    FLOE_CUDA(w->err, cudaMemsetAsync(c->trial_corrections, 0, n * c->room.trial_marks, w->stream));
    FLOE_TRY(floe_cuda_fork(w->cuda, w->stream, n, w->err));
    floe_status status = FLOE_OK;
    for (uint32_t k = 0; k < n && status == FLOE_OK; k++)
        status = put_trial(y, &s[k], k);
    FLOE_TRY(floe_cuda_join(w->cuda, w->stream, n, status, w->err));
    FLOE_TRY(count_grids(y, &found, n));
    return take_bits(y, s, n, &found, bits);
}

static void try_structures(void *user, const floe_wavelet_structure *s, uint32_t n, uint64_t *bits)
{
    trying *y = user;
    for (uint32_t k = 0; k < n; k++)
        bits[k] = UINT64_MAX;
    if (y->status == FLOE_OK)
        y->status = try_all(y, s, n, bits);
}

/* ---- the tuner --------------------------------------------------------------------------------------------------------- */

static floe_status copy_box(const part *p, const part *trial)
{
    const floe_wavelet_gpu_encode *c = p->w->c;
    floe_wavelet_box_job job = {.array = p->array[0], .kinds = p->e.marks[FLOE_WAVELET_VALUE_KINDS], .row = p->e.row};
    memcpy(job.shape, p->e.chunk.plan.shape, sizeof job.shape);
    memcpy(job.n, trial->e.chunk.plan.shape, sizeof job.n);
    floe_wavelet_trial_at(&p->e, &trial->e, job.lo);
    job.box_row = trial->e.row;
    job.box = c->box;
    job.box_kinds = c->holes;
    job.size = (uint32_t)p->e.size;
    job.status = p->w->status;
    FLOE_CUDA(p->w->err, cudaMemsetAsync(c->holes, 0, trial->e.nmarks, p->w->stream));
    FLOE_CUDA(p->w->err, floe_wavelet_box_cuda(&job, p->w->stream));
    return FLOE_OK;
}

floe_status floe_wavelet_gpu_tune(part *p)
{
    const floe_wavelet_gpu_encode *c = p->w->c;
    trying y = {.call = p->w, .trial = {.w = p->w, .trial = true, .load = load_box}};
    const floe_wavelet_trials trials = {try_structures, &y, c->room.ntrials};
    floe_wavelet_encoder *trial = &y.trial.e;
    floe_codec_params params;
    uint64_t shape[FLOE_INTERP_RANK];
    floe_wavelet_trial_shape(&p->e, shape);
    floe_wavelet_encoder_begin(trial, p->e.cpu, p->e.params, FLOE_INTERP_RANK, shape);
    floe_wavelet_trial_begin(&p->e, trial, &params, c->box);
    trial->marks[FLOE_WAVELET_VALUE_KINDS] = c->holes;
    FLOE_TRY(floe_cuda_sides(p->w->cuda, trials.at_once, p->w->err));
    FLOE_TRY(copy_box(p, &y.trial));
    floe_wavelet_search(&p->e, &trials);
    return y.status;
}

#endif
