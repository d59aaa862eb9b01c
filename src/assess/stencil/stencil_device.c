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
    SOBOLEV_AT = 2 * FLOE_STENCIL_POINTS_WORDS,
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
    w.parts = floe_arena_take(arena, (uint64_t)FLOE_STENCIL_MAX_BLOCKS * FLOE_STENCIL_POINTS_WORDS, sizeof(double));
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
    return j;
}

/* Whether a pair is flat: then its axes change places for the kernel of derivatives. */
static bool is_flat(const floe_pair *pair) { return pair->shape[0] == 1 && pair->shape[1] == 1; }
static uint32_t turned(bool flat, uint32_t a) { return flat && (a == 1 || a == 2) ? 3 - a : a; }

static floe_stencil_dev_job turned_job(const floe_stencil_dev_job *job, bool flat)
{
    floe_stencil_dev_job t = *job;
    for (uint32_t a = 0; a < FLOE_STENCIL_AXES; a++) {
        t.shape[a] = job->shape[turned(flat, a)];
        t.dx[a] = job->dx[turned(flat, a)];
        t.dy[a] = job->dy[turned(flat, a)];
    }
    t.active = floe_stencil_active(t.shape);
    return t;
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

static void moments_from(const double *words, floe_stencil_moments *m)
{
    memcpy(m->min, words, sizeof m->min);
    memcpy(m->max, words + 2, sizeof m->max);
    memcpy(m->squares, words + 4, sizeof m->squares);
    m->max_error = words[6];
    m->error_squares = words[7];
}

/* Of a sample, whose squares have been counted already. */
static void extremes_from(const double *words, floe_stencil_moments *m)
{
    floe_stencil_moments sample;
    moments_from(words, &sample);
    memset(sample.squares, 0, sizeof sample.squares);
    sample.error_squares = 0;
    floe_stencil_moments_join(m, &sample);
}

static void points_from(const double *words, bool flat, floe_stencil_sums *sums)
{
    static const int joined[2][3] = {{FLOE_STENCIL_FIRST_SUM, FLOE_STENCIL_FIRST_LENGTH, FLOE_STENCIL_DIVERGENCE},
                                     {FLOE_STENCIL_SECOND_SUM, FLOE_STENCIL_SECOND_LENGTH, FLOE_STENCIL_LAPLACIAN}};
    const bool has_sample = words[FLOE_STENCIL_POINTS_WORDS + 2 * FLOE_STENCIL_ORDER_WORDS] > 0;
    for (uint32_t order = 0; order < 2; order++)
        for (uint32_t slot = 0; slot < FLOE_STENCIL_SLOTS; slot++) {
            const uint32_t axis = (order ? FLOE_STENCIL_SECOND : FLOE_STENCIL_FIRST) + turned(flat, slot);
            const uint32_t q = slot < FLOE_STENCIL_AXES ? axis : (uint32_t)joined[order][slot - FLOE_STENCIL_AXES];
            const double *all = words + order * FLOE_STENCIL_ORDER_WORDS + slot * FLOE_STENCIL_MOMENTS;
            moments_from(all, &sums->of[q]);
            if (has_sample)
                extremes_from(all + FLOE_STENCIL_POINTS_WORDS, &sums->of[q]);
        }
    sums->npoints = (uint64_t)words[2 * FLOE_STENCIL_ORDER_WORDS];
    sums->nskipped = (uint64_t)words[2 * FLOE_STENCIL_ORDER_WORDS + 1];
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

static floe_status kernels_run(const floe_cuda *cuda, const floe_pair *pair, const floe_stencil_options *options,
                               const device_work *w, const lags_call *calls, uint32_t ncalls, double *words,
                               floe_error *err)
{
    const floe_stencil_dev_job job = job_of(pair, options, w->parts), points = turned_job(&job, is_flat(pair));
    double *next = w->words;
    FLOE_TRY(floe_cuda_clear(cuda, w->words, 2 * FLOE_STENCIL_POINTS_WORDS * sizeof(double), err));
    if (options->derivatives && job.active)
        FLOE_CUDA(err, floe_stencil_points_cuda(&points, next, cuda->stream));
    next += 2 * FLOE_STENCIL_POINTS_WORDS;
    if (options->sobolev && job.active)
        FLOE_CUDA(err, floe_stencil_sobolev_cuda(&job, next, cuda->stream));
    next += FLOE_STENCIL_SOBOLEV_WORDS;
    for (uint32_t k = 0; k < ncalls; k++, next += FLOE_STENCIL_LAGS_WORDS) {
        floe_stencil_dev_job products = job;
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
    FLOE_TRY(kernels_run(cuda, pair, options, &w, calls, ncalls, words, err));
    floe_stencil_sums_init(&sums);
    if (options->derivatives && floe_stencil_active(pair->shape))
        points_from(words, is_flat(pair), &sums);
    if (options->sobolev && floe_stencil_active(pair->shape))
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
