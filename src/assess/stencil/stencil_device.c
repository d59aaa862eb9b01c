/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the kernels of the stencil pass on the stream, those for products beside the others, and makes sums of the words that
 * they leave. */
#include "assess/stencil/stencil_device.h"

#include <string.h>

#include "assess/stencil/stencil_cuda.h"
#include "assess/stencil/stencil_finish.h"
#include "base/arena.h"
#include "base/try.h"

enum {
    GROUPS = (FLOE_STENCIL_MAX_LAGS + FLOE_STENCIL_GROUP - 1) / FLOE_STENCIL_GROUP,
    LAGS_CALLS = (GROUPS + 1) * 2, /* of the signal and of what counts */
    SOBOLEV_AT = FLOE_STENCIL_POINTS_WORDS,
    LAGS_AT = SOBOLEV_AT + FLOE_STENCIL_SOBOLEV_WORDS,
    MAX_WORDS = LAGS_AT + LAGS_CALLS * FLOE_STENCIL_LAGS_WORDS,
    ROW = FLOE_STENCIL_AXES - 1
};

typedef struct device_work {
    double *parts[2], *words; /* device memory; parts: of what is on the stream, and of what goes on beside it */
} device_work;

static device_work work_take(floe_arena *arena)
{
    device_work w;
    for (int k = 0; k < 2; k++)
        w.parts[k] =
            floe_arena_take(arena, 2 * (uint64_t)FLOE_STENCIL_MAX_BLOCKS * FLOE_STENCIL_POINTS_WORDS, sizeof(double));
    w.words = floe_arena_take(arena, MAX_WORDS, sizeof(double));
    return w;
}

uint64_t floe_stencil_workspace_device(void)
{
    floe_arena plan = floe_arena_plan();
    (void)work_take(&plan);
    return plan.used;
}

#ifdef FLOE_HAVE_CUDA_BUILD

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* Whether a side can be read 16 bytes at once: what floe_stencil_dev_job has of it. */
static uint32_t is_vectors(const void *side, const int64_t *stride, uint32_t narrow)
{
    const int64_t in_vector = narrow ? 4 : 2;
    const bool outer = stride[0] % in_vector == 0 && stride[1] % in_vector == 0 && stride[2] % in_vector == 0;
    return (uintptr_t)side % 16 == 0 && stride[ROW] == 1 && outer;
}

static void single_set(floe_stencil_dev_job *job, double scale)
{
    job->single = scale > 0;
    job->scale = scale > 0 ? scale : 1;
}

static floe_stencil_dev_job job_of(const floe_pair *pair, const floe_stencil_options *options, double *parts)
{
    floe_stencil_dev_job j = {.x = pair->original, .y = pair->decoded ? pair->decoded : pair->original, .parts = parts};
    j.alone = !pair->decoded || options->of_original;
    memcpy(j.dx, pair->original_stride, sizeof j.dx);
    memcpy(j.dy, pair->decoded ? pair->decoded_stride : pair->original_stride, sizeof j.dy);
    memcpy(j.shape, pair->shape, sizeof j.shape);
    j.fill_bits = pair->fill_bits;
    j.has_fill = pair->has_fill;
    j.narrow = pair->dtype == FLOE_F32;
    j.masked = !options->all_count;
    j.active = floe_stencil_active(pair->shape);
    j.mean = options->mean;
    single_set(&j, floe_stencil_scale(pair, options));
    j.vectors = is_vectors(j.x, j.dx, j.narrow) && is_vectors(j.y, j.dy, j.narrow);
    return j;
}

/* ---- calls for products -------------------------------------------------------------------------------------------- */

typedef enum lags_kind { LAGS_ALL, LAGS_TOTALS, LAGS_NEAR_ENDS } lags_kind;

/* One call. Totals: along the row, too. */
typedef struct lags_call {
    lags_kind kind;
    uint32_t axes, first_lag;
    bool counts;
} lags_call;

/* Axes that are marched along when totals are found: those that are there but for the row, or one of one element. */
static uint32_t marches_of(const floe_pair *pair)
{
    uint32_t axes = 0;
    for (uint32_t a = 0; a < ROW; a++)
        axes |= (uint32_t)(pair->shape[a] > 1) << a;
    return axes ? axes : 1;
}

/* Whether at the first lags most points have partners along every axis: then the box is what the rest leaves of all, and
 * loses no digits by it. */
static bool is_mostly_box(const floe_pair *pair, uint32_t lags)
{
    const uint64_t most = lags < FLOE_STENCIL_GROUP ? lags : FLOE_STENCIL_GROUP;
    double share = 1;
    for (int a = 0; a < FLOE_STENCIL_AXES; a++)
        if (pair->shape[a] > 1)
            share *= pair->shape[a] > most ? (double)(pair->shape[a] - most) / (double)pair->shape[a] : 0;
    return share >= 0.25;
}

static uint32_t calls_of(const floe_pair *pair, const floe_stencil_options *options, lags_call calls[LAGS_CALLS])
{
    uint32_t n = 0;
    for (uint32_t lag = 1; lag <= options->lags; lag += FLOE_STENCIL_GROUP)
        for (uint32_t counts = 0; counts < (options->all_count ? 1u : 2u); counts++)
            if (lag == 1 && is_mostly_box(pair, options->lags)) {
                calls[n++] = (lags_call){LAGS_TOTALS, marches_of(pair), 1, counts};
                calls[n++] = (lags_call){LAGS_NEAR_ENDS, 0, 1, counts};
            } else {
                calls[n++] = (lags_call){LAGS_ALL, 0, lag, counts};
            }
    return n;
}

static uint32_t nwords_of(const lags_call *call)
{
    return call->kind == LAGS_TOTALS ? FLOE_STENCIL_TOTALS_WORDS : FLOE_STENCIL_LAGS_WORDS;
}

/* ---- words to sums ----------------------------------------------------------------------------------------------- */

static void points_from(const double *words, const floe_stencil_dev_job *job, floe_stencil_sums *sums)
{
    for (int q = 0; q < FLOE_STENCIL_QUANTITIES; q++, words += FLOE_STENCIL_MOMENTS)
        sums->of[q] = (floe_stencil_moments){words[0], words[1], words[2], words[3], words[4]};
    sums->npoints = (uint64_t)words[0];
    sums->nskipped = (uint64_t)words[1];
    floe_stencil_sums_unscale(sums, job->single, job->scale);
}

/* Whether derivatives and Sobolev norms come from one kernel: they are found of the same values. */
static bool are_together(const floe_stencil_dev_job *job, double sobolev_scale, const floe_stencil_options *options)
{
    return options->derivatives && options->sobolev && sobolev_scale == job->scale && floe_stencil_has_boxes(job);
}

static void sobolev_from(const double *words, floe_stencil_sums *sums)
{
    sums->nsobolev = (uint64_t)words[0];
    sums->values = words[1], sums->steps = words[2], sums->seconds = words[3], sums->twists = words[4];
}

/* Adds to box and rest of a lag, sums or counts of them. */
static void product_add(floe_stencil_lag *l, bool counts, double box, double rest)
{
    if (counts) {
        l->nbox = (uint64_t)((double)l->nbox + box);
        l->nrest = (uint64_t)((double)l->nrest + rest);
    } else {
        l->box += box;
        l->rest += rest;
    }
}

static void squares_from(double squares, bool counts, floe_stencil_sums *sums)
{
    if (counts)
        sums->nsignal = (uint64_t)squares;
    else
        sums->signal_squares = squares;
}

/* All go to the box; what of them is rest the call for columns near ends moves there. */
static void totals_from(const double *words, const lags_call *call, uint32_t lags, floe_stencil_sums *sums)
{
    for (uint32_t a = 0; a < FLOE_STENCIL_AXES; a++, words += FLOE_STENCIL_GROUP + 1)
        for (uint32_t t = 1; t <= lags && t <= FLOE_STENCIL_GROUP; t++)
            product_add(&sums->lag[a][t - 1], call->counts, words[t], 0);
    squares_from(words[-FLOE_STENCIL_GROUP - 1], call->counts, sums);
}

static void products_from(const double *words, const lags_call *call, uint32_t lags, floe_stencil_sums *sums)
{
    const bool is_move = call->kind == LAGS_NEAR_ENDS;
    for (uint32_t a = 0; a < FLOE_STENCIL_AXES; a++)
        for (uint32_t k = 0; k < FLOE_STENCIL_GROUP && call->first_lag + k <= lags; k++) {
            const double *w = words + 2 * (a * FLOE_STENCIL_GROUP + k);
            product_add(&sums->lag[a][call->first_lag + k - 1], call->counts, is_move ? -w[1] : w[0], w[1]);
        }
    if (call->kind == LAGS_ALL && call->first_lag == 1)
        squares_from(words[FLOE_STENCIL_LAGS_WORDS - 1], call->counts, sums);
}

/* How many couples there are where every pair counts. */
static void couples_count(const floe_pair *pair, uint32_t lags, floe_stencil_sums *sums)
{
    sums->nsignal = pair->shape[0] * pair->shape[1] * pair->shape[2] * pair->shape[3];
    for (uint32_t t = 1; t <= lags; t++) {
        uint64_t box = 1;
        for (int a = 0; a < FLOE_STENCIL_AXES; a++)
            if (pair->shape[a] > 1)
                box *= pair->shape[a] > t ? pair->shape[a] - t : 0;
        for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
            if (pair->shape[a] <= t)
                continue;
            sums->lag[a][t - 1].nbox = box;
            sums->lag[a][t - 1].nrest = sums->nsignal / pair->shape[a] * (pair->shape[a] - t) - box;
        }
    }
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static floe_status words_fetch(const floe_cuda *cuda, const double *dev, uint32_t n, double *host, floe_error *err)
{
    enum { AT_ONCE = FLOE_CUDA_FETCHED_NBYTES / sizeof(double) };
    for (uint32_t i = 0; i < n; i += AT_ONCE)
        FLOE_TRY(floe_cuda_fetch(cuda, host + i, dev + i, floe_min64(AT_ONCE, n - i) * sizeof(double), err));
    return FLOE_OK;
}

static int products_run(const floe_stencil_dev_job *job, const lags_call *call, double *words, void *stream)
{
    floe_stencil_dev_job own = *job;
    own.counts = call->counts;
    if (call->kind == LAGS_TOTALS)
        return floe_stencil_totals_cuda(&own, call->axes, words, stream);
    return floe_stencil_lags_cuda(&own, call->kind == LAGS_NEAR_ENDS, call->first_lag, words, stream);
}

static int sobolev_run(const floe_stencil_dev_job *job, double scale, double *words, void *stream)
{
    floe_stencil_dev_job own = *job;
    single_set(&own, scale);
    return floe_stencil_sobolev_cuda(&own, words, stream);
}

/* All calls for products, on a stream. */
static floe_status products_put(const floe_stencil_dev_job *job, const lags_call *calls, uint32_t ncalls, double *words,
                                void *stream, floe_error *err)
{
    for (uint32_t k = 0; k < ncalls; words += nwords_of(&calls[k++]))
        FLOE_CUDA(err, products_run(job, &calls[k], words, stream));
    return FLOE_OK;
}

static floe_status neighbours_put(const floe_cuda *cuda, const floe_stencil_dev_job *job, double sobolev_scale,
                                  const floe_stencil_options *options, double *words, floe_error *err)
{
    if (are_together(job, sobolev_scale, options)) {
        FLOE_CUDA(err, floe_stencil_boxes_cuda(job, words, cuda->stream));
        return FLOE_OK;
    }
    if (options->derivatives && job->active)
        FLOE_CUDA(err, floe_stencil_points_cuda(job, words, cuda->stream));
    if (options->sobolev && job->active)
        FLOE_CUDA(err, sobolev_run(job, sobolev_scale, words + SOBOLEV_AT, cuda->stream));
    return FLOE_OK;
}

/* Products are found beside the rest, so that blocks of one fill the processors that the last blocks of the other leave. What
 * has begun beside the stream is joined, whatever becomes of the rest. */
static floe_status kernels_run(const floe_cuda *cuda, const floe_stencil_dev_job *job, double sobolev_scale,
                               const floe_stencil_options *options, const device_work *w, const lags_call *calls,
                               uint32_t ncalls, floe_error *err)
{
    floe_stencil_dev_job beside = *job;
    beside.parts = w->parts[1];
    FLOE_TRY(floe_cuda_clear(cuda, w->words, LAGS_AT * sizeof(double), err));
    if (!ncalls || !job->active || !(options->derivatives || options->sobolev)) {
        FLOE_TRY(neighbours_put(cuda, job, sobolev_scale, options, w->words, err));
        return products_put(&beside, calls, ncalls, w->words + LAGS_AT, cuda->stream, err);
    }
    FLOE_TRY(floe_cuda_fork(cuda, cuda->stream, err));
    floe_status status = products_put(&beside, calls, ncalls, w->words + LAGS_AT, cuda->side, err);
    if (status == FLOE_OK)
        status = neighbours_put(cuda, job, sobolev_scale, options, w->words, err);
    return floe_cuda_join(cuda, cuda->stream, status, err);
}

static uint32_t nwords_of_all(const lags_call *calls, uint32_t ncalls)
{
    uint32_t n = LAGS_AT;
    for (uint32_t k = 0; k < ncalls; k++)
        n += nwords_of(&calls[k]);
    return n;
}

floe_status floe_stencil_assess_device(const floe_cuda *cuda, const floe_pair *pair,
                                       const floe_stencil_options *options, void *dev_workspace,
                                       size_t workspace_nbytes, floe_stencil_result *result, floe_error *err)
{
    double words[MAX_WORDS];
    lags_call calls[LAGS_CALLS];
    floe_stencil_sums sums;
    floe_arena arena = floe_arena_of(dev_workspace, workspace_nbytes);
    FLOE_TRY(floe_stencil_options_check(options, err));
    const device_work w = work_take(&arena);
    FLOE_CHECK(err, dev_workspace && !arena.overflow, FLOE_ERR_MEMORY,
               "the stencil pass needs %llu bytes of device memory",
               (unsigned long long)floe_stencil_workspace_device());
    const uint32_t ncalls = calls_of(pair, options, calls);
    const floe_stencil_dev_job job = job_of(pair, options, w.parts[0]);
    FLOE_TRY(kernels_run(cuda, &job, floe_stencil_sobolev_scale(pair, options), options, &w, calls, ncalls, err));
    FLOE_TRY(words_fetch(cuda, w.words, nwords_of_all(calls, ncalls), words, err));
    floe_stencil_sums_init(&sums);
    if (options->derivatives && job.active)
        points_from(words, &job, &sums);
    if (options->sobolev && job.active)
        sobolev_from(words + SOBOLEV_AT, &sums);
    if (options->all_count)
        couples_count(pair, options->lags, &sums);
    const double *next = words + LAGS_AT;
    for (uint32_t k = 0; k < ncalls; next += nwords_of(&calls[k++]))
        if (calls[k].kind == LAGS_TOTALS)
            totals_from(next, &calls[k], options->lags, &sums);
        else
            products_from(next, &calls[k], options->lags, &sums);
    floe_stencil_finish(&sums, pair, options, result);
    return FLOE_OK;
}

#else

floe_status floe_stencil_assess_device(const floe_cuda *cuda, const floe_pair *pair,
                                       const floe_stencil_options *options, void *dev_workspace,
                                       size_t workspace_nbytes, floe_stencil_result *result, floe_error *err)
{
    (void)cuda, (void)pair, (void)options, (void)dev_workspace, (void)workspace_nbytes, (void)result;
    return floe_fail(err, FLOE_ERR_DEVICE, "this build of floe has no CUDA, it runs on the CPU only");
}

#endif
