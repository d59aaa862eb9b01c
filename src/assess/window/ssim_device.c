/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "assess/window/ssim_cuda.h"
#include "assess/window/ssim_tree.h"
#include "base/try.h"

#ifdef FLOE_HAVE_CUDA_BUILD

enum {
    LAST = FLOE_MAX_RANK - 1,
    BOX_NELEMS = 8 << 20 /* values of a box: enough for a GPU, and 0.3 GB of sums in each buffer */
};

/* ---- plan -------------------------------------------------------------------------------------------------------- */

/* Boxes near cubes: what neighbours share is little. */
void floe_ssim_plan_device(const floe_pair *pair, const floe_ssim_options *options, floe_ssim_plan *plan)
{
    floe_ssim_plan_of(pair, options, plan);
    plan->is_tree &= pair->dtype == FLOE_F32;
    if (plan->is_tree)
        return;
    for (uint32_t a = 0; a < FLOE_MAX_RANK; a++)
        plan->tile[a] = plan->nwindows[a];
    for (;;) {
        double n = 1, most = 0;
        uint32_t longest = 0;
        for (uint32_t a = 0; a < FLOE_MAX_RANK; a++) {
            const double covered = (double)floe_ssim_plan_covered(plan, a, plan->tile[a]);
            const double share = plan->tile[a] > 1 ? covered / (double)options->window[a] : 0;
            n *= covered;
            longest = share > most ? a : longest;
            most = share > most ? share : most;
        }
        if (n <= BOX_NELEMS || most == 0)
            break;
        plan->tile[longest] = (plan->tile[longest] + 1) / 2;
    }
    for (uint32_t a = 0; a < FLOE_MAX_RANK; a++)
        plan->ntiles[a] = floe_ceil_div(plan->nwindows[a], plan->tile[a]);
}

/* After the pass over axis a, sums of windows along a and below are at hand for each value along the axes above. */
void floe_ssim_sums_nbytes(const floe_ssim_plan *plan, uint64_t nbytes[2])
{
    uint32_t to = 0;
    nbytes[0] = nbytes[1] = 0;
    for (uint32_t a = FLOE_MAX_RANK; a-- > 0; to ^= 1) {
        uint64_t n = FLOE_SSIM_SUMS * sizeof(double);
        for (uint32_t b = 0; b < FLOE_MAX_RANK; b++)
            n *= b < a ? floe_ssim_plan_covered(plan, b, plan->tile[b]) : plan->tile[b];
        nbytes[to] = floe_max64(nbytes[to], n);
    }
}

uint64_t floe_ssim_nparts(const floe_ssim_plan *plan)
{
    if (plan->is_tree)
        return plan->options.window[1] > 1 ? floe_ssim_boxes_nblocks(plan) : floe_ssim_plan_ntiles(plan);
    return floe_max64(floe_ssim_fast_grid_of(plan).nblocks, FLOE_SSIM_ANY_BLOCKS);
}

/* Of a launch's second and third axis. */
static bool grid_is_possible(const floe_ssim_plan *plan)
{
    const floe_ssim_fast_grid g = floe_ssim_fast_grid_of(plan);
    return g.nx <= INT32_MAX && g.ny <= UINT16_MAX && g.nz <= UINT16_MAX && plan->nwindows[0] <= UINT16_MAX &&
           g.nz * plan->nwindows[0] <= UINT16_MAX && plan->options.window[1] <= INT32_MAX;
}

/* The fast way reads rows as they lie, and sums of squares must stay far from the ends of the range of double. */
bool floe_ssim_is_fast(const floe_pair *pair, const floe_ssim_plan *plan)
{
    const floe_ssim_options *o = &plan->options;
    const double range = o->max - o->min, middle = o->min / 2 + o->max / 2;
    for (int a = 0; a < FLOE_MAX_RANK; a++)
        if (o->step[a] != 1)
            return false;
    if (o->weights == FLOE_SSIM_WEIGHTS_GAUSSIAN && o->window[1] > 1)
        return false; /* running sums have no weights */
    if (o->window[0] != 1 || o->window[2] != o->window[3] || o->window[3] > FLOE_SSIM_FAST_WINDOW ||
        pair->shape[LAST] < FLOE_SSIM_FAST_X || pair->original_stride[LAST] != 1 || pair->decoded_stride[LAST] != 1 ||
        !grid_is_possible(plan))
        return false;
    return range > (pair->dtype == FLOE_F32 ? 0 : 1e-60) && range < 1e60 && fabs(middle) < 1e60;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* What jobs need: parts of their own, as the quick way has them run one into another; the slow way's sums in turn. */
typedef struct needs {
    uint64_t nparts[FLOE_SSIM_AT_ONCE], sums_nbytes[2];
} needs;

static void needs_add(needs *n, uint32_t k, const floe_ssim_plan *plan)
{
    uint64_t nbytes[2] = {0, 0};
    if (!plan->is_tree)
        floe_ssim_sums_nbytes(plan, nbytes);
    n->nparts[k] = floe_max64(n->nparts[k], floe_ssim_nparts(plan));
    for (int i = 0; i < 2; i++)
        n->sums_nbytes[i] = floe_max64(n->sums_nbytes[i], nbytes[i]);
}

static void scratch_take(const needs *n, floe_arena *arena, floe_ssim_job jobs[FLOE_SSIM_AT_ONCE])
{
    floe_ssim_joined *joined = floe_arena_take(arena, FLOE_SSIM_AT_ONCE, sizeof *joined);
    double *sums[2];
    for (uint32_t k = 0; k < FLOE_SSIM_AT_ONCE; k++)
        jobs[k].parts = floe_arena_take(arena, n->nparts[k], sizeof *jobs[k].parts);
    for (int i = 0; i < 2; i++)
        sums[i] = floe_arena_take(arena, n->sums_nbytes[i], 1);
    for (uint32_t k = 0; k < FLOE_SSIM_AT_ONCE && joined; k++) {
        jobs[k].joined = joined + k;
        jobs[k].sums[0] = sums[0], jobs[k].sums[1] = sums[1];
    }
}

/* For each way: which it is may not be known yet. */
uint64_t floe_ssim_device_nbytes(const floe_pair *pair, const floe_ssim_options *options, uint32_t noptions)
{
    floe_ssim_job jobs[FLOE_SSIM_AT_ONCE];
    floe_ssim_plan plan;
    needs n = {{0}, {0}};
    for (uint32_t k = 0; k < noptions; k++) {
        floe_ssim_options careful = options[k];
        const floe_ssim_options quick = floe_ssim_tree_options(&options[k]);
        careful.high = INFINITY;
        floe_ssim_plan_device(pair, &careful, &plan);
        needs_add(&n, k, &plan);
        floe_ssim_plan_device(pair, &quick, &plan);
        needs_add(&n, k, &plan);
    }
    floe_arena arena = floe_arena_plan();
    scratch_take(&n, &arena, jobs);
    return arena.overflow ? UINT64_MAX : arena.used;
}

/* The other ways, from the fastest to the slowest. */
static floe_status careful_run(const floe_cuda *cuda, const floe_ssim_job *job, floe_ssim_joined *joined,
                               floe_error *err)
{
    const floe_pair *pair = &job->pair;
    const bool is_fast = floe_ssim_is_fast(pair, &job->plan);
    joined->wild = 1;
    for (int careful = pair->has_fill != 0; is_fast && careful < 2 && joined->wild; careful++) {
        int (*fast)(const floe_ssim_job *, bool, void *) = FLOE_BY_REAL(pair->dtype == FLOE_F32, floe_ssim_fast_cuda);
        FLOE_CUDA(err, fast(job, careful, cuda->stream));
        FLOE_TRY(floe_cuda_fetch(cuda, joined, job->joined, sizeof *joined, err));
    }
    if (joined->wild) {
        FLOE_CUDA(err, floe_ssim_any_cuda(job, cuda->stream));
        FLOE_TRY(floe_cuda_fetch(cuda, joined, job->joined, sizeof *joined, err));
    }
    return FLOE_OK;
}

/* All that go the quick way, each from when the one before leaves room, and then one wait for the joined, which come to host
 * memory by themselves. */
static floe_status quick_run(const floe_cuda *cuda, const floe_ssim_job *jobs, uint32_t njobs, floe_ssim_joined *joined,
                             floe_error *err)
{
    floe_ssim_joins joins = {.n = 0};
    for (uint32_t k = 0; k < njobs; k++)
        if (jobs[k].plan.is_tree) {
            const bool deep = jobs[k].plan.options.window[1] > 1, early = joins.n > 0;
            FLOE_CUDA(err, deep ? floe_ssim_boxes_cuda(&jobs[k], early, cuda->stream)
                                : floe_ssim_slices_cuda(&jobs[k], early, cuda->stream));
            joins.of[joins.n++] = floe_ssim_join_of(&jobs[k], (floe_ssim_joined *)cuda->fetched + k);
        }
    if (joins.n == 0)
        return FLOE_OK;
    FLOE_CUDA(err, floe_ssim_joins_cuda(&joins, cuda->stream));
    FLOE_TRY(floe_cuda_wait(cuda, err));
    memcpy(joined, cuda->fetched, njobs * sizeof *joined);
    return FLOE_OK;
}

static floe_status jobs_make(const floe_pair *pair, const floe_ssim_options *options, uint32_t noptions, void *scratch,
                             floe_ssim_job *jobs, floe_error *err)
{
    needs n = {{0}, {0}};
    for (uint32_t k = 0; k < noptions; k++) {
        FLOE_TRY(floe_ssim_check(pair, &options[k], err));
        jobs[k] = (floe_ssim_job){.pair = *pair};
        floe_ssim_plan_device(pair, &options[k], &jobs[k].plan);
        needs_add(&n, k, &jobs[k].plan);
    }
    floe_arena arena = floe_arena_of(scratch, SIZE_MAX);
    scratch_take(&n, &arena, jobs);
    return FLOE_OK;
}

floe_status floe_ssim_assess_device(const floe_cuda *cuda, const floe_pair *pair, const floe_ssim_options *options,
                                    uint32_t noptions, void *scratch, floe_ssim_result *results, floe_error *err)
{
    floe_ssim_job jobs[FLOE_SSIM_AT_ONCE];
    floe_ssim_joined joined[FLOE_SSIM_AT_ONCE];
    FLOE_TRY(jobs_make(pair, options, noptions, scratch, jobs, err));
    FLOE_TRY(quick_run(cuda, jobs, noptions, joined, err));
    for (uint32_t k = 0; k < noptions; k++) {
        if (!jobs[k].plan.is_tree)
            FLOE_TRY(careful_run(cuda, &jobs[k], &joined[k], err));
        results[k] = floe_ssim_join(&jobs[k].plan, &joined[k].part, 1);
    }
    return FLOE_OK;
}

floe_status floe_ssim_assume_device(const floe_cuda *cuda, const floe_pair *pair, const floe_ssim_options *options,
                                    uint32_t noptions, void *scratch, floe_ssim_result *results, bool *known,
                                    floe_error *err)
{
    floe_ssim_job jobs[FLOE_SSIM_AT_ONCE];
    floe_ssim_joined joined[FLOE_SSIM_AT_ONCE];
    FLOE_TRY(jobs_make(pair, options, noptions, scratch, jobs, err));
    *known = true;
    for (uint32_t k = 0; k < noptions; k++) {
        jobs[k].assumed = true;
        *known &= jobs[k].plan.is_tree;
    }
    if (!*known)
        return FLOE_OK;
    FLOE_TRY(quick_run(cuda, jobs, noptions, joined, err));
    for (uint32_t k = 0; k < noptions; k++) {
        results[k] = floe_ssim_join(&jobs[k].plan, &joined[k].part, 1);
        *known &= results[k].nleft_out == 0;
    }
    return FLOE_OK;
}

#else

uint64_t floe_ssim_device_nbytes(const floe_pair *pair, const floe_ssim_options *options, uint32_t noptions)
{
    (void)pair, (void)options, (void)noptions;
    return 0;
}

floe_status floe_ssim_assess_device(const floe_cuda *cuda, const floe_pair *pair, const floe_ssim_options *options,
                                    uint32_t noptions, void *scratch, floe_ssim_result *results, floe_error *err)
{
    (void)cuda, (void)pair, (void)options, (void)noptions, (void)scratch, (void)results;
    return floe_fail(err, FLOE_ERR_DEVICE, "this build of floe has no CUDA, it runs on the CPU only");
}
floe_status floe_ssim_assume_device(const floe_cuda *cuda, const floe_pair *pair, const floe_ssim_options *options,
                                    uint32_t noptions, void *scratch, floe_ssim_result *results, bool *known,
                                    floe_error *err)
{
    *known = false;
    return floe_ssim_assess_device(cuda, pair, options, noptions, scratch, results, err);
}

#endif
