/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the kernels of the stencil pass on the stream, one after another, and makes sums of the words that they leave. */
#include "assess/stencil/stencil_device.h"

#include <string.h>

#include "assess/stencil/stencil_cuda.h"
#include "assess/stencil/stencil_finish.h"
#include "base/arena.h"
#include "base/try.h"

enum {
    GROUPS = (FLOE_STENCIL_MAX_LAGS + FLOE_STENCIL_GROUP - 1) / FLOE_STENCIL_GROUP,
    MARCHES = FLOE_STENCIL_AXES - 1,   /* axes that are not the row */
    LAGS_CALLS = GROUPS * MARCHES * 2, /* of the signal and of what counts */
    SOBOLEV_AT = FLOE_STENCIL_POINTS_WORDS,
    LAGS_AT = SOBOLEV_AT + FLOE_STENCIL_SOBOLEV_WORDS,
    MAX_WORDS = LAGS_AT + LAGS_CALLS * FLOE_STENCIL_LAGS_WORDS,
    ROW = FLOE_STENCIL_AXES - 1
};

typedef struct device_work {
    double *parts, *words; /* device memory */
} device_work;

static device_work work_take(floe_arena *arena)
{
    device_work w;
    w.parts = floe_arena_take(arena, 2 * (uint64_t)FLOE_STENCIL_MAX_BLOCKS * FLOE_STENCIL_POINTS_WORDS, sizeof(double));
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

/* Whether a side can be read 16 bytes at once: what floe_stencil_dev_job says of it. */
static uint32_t is_vectors(const void *side, const int64_t *stride, uint32_t narrow)
{
    const int64_t in_vector = narrow ? 4 : 2;
    const bool outer = stride[0] % in_vector == 0 && stride[1] % in_vector == 0 && stride[2] % in_vector == 0;
    return (uintptr_t)side % 16 == 0 && stride[ROW] == 1 && outer;
}

static floe_stencil_dev_job job_of(const floe_pair *pair, const floe_stencil_options *options, double *parts)
{
    floe_stencil_dev_job j = {.x = pair->original, .y = pair->decoded ? pair->decoded : pair->original, .parts = parts};
    j.alone = !pair->decoded;
    memcpy(j.dx, pair->original_stride, sizeof j.dx);
    memcpy(j.dy, j.alone ? pair->original_stride : pair->decoded_stride, sizeof j.dy);
    memcpy(j.shape, pair->shape, sizeof j.shape);
    j.fill_bits = pair->fill_bits;
    j.has_fill = pair->has_fill;
    j.narrow = pair->dtype == FLOE_F32;
    j.masked = !options->all_count;
    j.active = floe_stencil_active(pair->shape);
    j.mean = options->mean;
    const double scale = floe_stencil_scale(pair, options);
    j.single = scale > 0;
    j.scale = scale > 0 ? scale : 1;
    j.vectors = is_vectors(j.x, j.dx, j.narrow) && is_vectors(j.y, j.dy, j.narrow);
    return j;
}

/* The axis that is marched along when the row's products are found: the first that is there, or one of one element. */
static uint32_t row_march(const floe_pair *pair)
{
    for (uint32_t a = 0; a < ROW; a++)
        if (pair->shape[a] > 1)
            return a;
    return 0;
}

/* One call for products. */
typedef struct lags_call {
    uint32_t axis, first_lag;
    bool with_row, counts;
} lags_call;

static uint32_t calls_of(const floe_pair *pair, const floe_stencil_options *options, lags_call calls[LAGS_CALLS])
{
    uint32_t n = 0;
    for (uint32_t lag = 1; lag <= options->lags; lag += FLOE_STENCIL_GROUP)
        for (uint32_t a = 0; a < ROW; a++)
            for (uint32_t counts = 0; counts < (options->all_count ? 1u : 2u); counts++)
                if (pair->shape[a] > 1 || a == row_march(pair))
                    calls[n++] = (lags_call){a, lag, a == row_march(pair), counts};
    return n;
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

static void sobolev_from(const double *words, floe_stencil_sums *sums)
{
    sums->nsobolev = (uint64_t)words[0];
    memcpy(sums->sobolev, words + 1, sizeof sums->sobolev);
}

static void products_from(const double *words, const lags_call *call, const floe_stencil_options *options,
                          floe_stencil_sums *sums)
{
    for (uint32_t along_row = 0; along_row < (call->with_row ? 2u : 1u); along_row++)
        for (uint32_t k = 0; k < FLOE_STENCIL_GROUP && call->first_lag + k <= options->lags; k++) {
            const double *w = words + 2 * (along_row * FLOE_STENCIL_GROUP + k);
            floe_stencil_lag *l = &sums->lag[along_row ? ROW : call->axis][call->first_lag + k - 1];
            if (call->counts)
                l->nbox = (uint64_t)w[0], l->nrest = (uint64_t)w[1];
            else
                l->box = w[0], l->rest = w[1];
        }
    if (call->with_row && call->first_lag == 1 && call->counts)
        sums->nsignal = (uint64_t)words[4 * FLOE_STENCIL_GROUP];
    else if (call->with_row && call->first_lag == 1)
        sums->signal_squares = words[4 * FLOE_STENCIL_GROUP];
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
    enum { AT_ONCE = FLOE_CUDA_ANSWER_NBYTES / sizeof(double) };
    for (uint32_t i = 0; i < n; i += AT_ONCE)
        FLOE_TRY(floe_cuda_fetch(cuda, host + i, dev + i, floe_min64(AT_ONCE, n - i) * sizeof(double), err));
    return FLOE_OK;
}

static floe_status kernels_run(const floe_cuda *cuda, const floe_stencil_dev_job *job,
                               const floe_stencil_options *options, const device_work *w, const lags_call *calls,
                               uint32_t ncalls, double *words, floe_error *err)
{
    double *next = w->words;
    FLOE_TRY(floe_cuda_clear(cuda, w->words, LAGS_AT * sizeof(double), err));
    if (options->derivatives && job->active)
        FLOE_CUDA(err, floe_stencil_points_cuda(job, next, cuda->stream));
    next += FLOE_STENCIL_POINTS_WORDS;
    if (options->sobolev && job->active)
        FLOE_CUDA(err, floe_stencil_sobolev_cuda(job, next, cuda->stream));
    next += FLOE_STENCIL_SOBOLEV_WORDS;
    for (uint32_t k = 0; k < ncalls; k++, next += FLOE_STENCIL_LAGS_WORDS) {
        floe_stencil_dev_job products = *job;
        products.counts = calls[k].counts;
        FLOE_CUDA(err, floe_stencil_lags_cuda(&products, calls[k].axis, calls[k].with_row, calls[k].first_lag, next,
                                              cuda->stream));
    }
    return words_fetch(cuda, w->words, (uint32_t)(next - w->words), words, err);
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
    const floe_stencil_dev_job job = job_of(pair, options, w.parts);
    FLOE_TRY(kernels_run(cuda, &job, options, &w, calls, ncalls, words, err));
    floe_stencil_sums_init(&sums);
    if (options->derivatives && job.active)
        points_from(words, &job, &sums);
    if (options->sobolev && job.active)
        sobolev_from(words + SOBOLEV_AT, &sums);
    if (options->all_count)
        couples_count(pair, options->lags, &sums);
    for (uint32_t k = 0; k < ncalls; k++)
        products_from(words + LAGS_AT + k * FLOE_STENCIL_LAGS_WORDS, &calls[k], options, &sums);
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
