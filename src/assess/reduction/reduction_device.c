/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host does for the reduction pass on a GPU: samples first, then one reading of the fields, then places. */
#include "assess/reduction/reduction_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assess/reduction/reduction_search.h"
#include "assess/reduction/reduction_sort.h"
#include "base/try.h"
#include "prim/prim.h"

#ifdef FLOE_HAVE_CUDA_BUILD

static bool has(const floe_reduction_device *d, uint32_t part) { return d->host->options->parts & part; }

static const void *side_data(const floe_pair *p, int side) { return side && p->decoded ? p->decoded : p->original; }
static const int64_t *side_stride(const floe_pair *p, int side)
{
    return side && p->decoded ? p->decoded_stride : p->original_stride;
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

static floe_prim_type prim_type(const floe_reduction_device *d)
{
    return d->job.dtype == FLOE_F32 ? FLOE_PRIM_F32 : FLOE_PRIM_F64;
}

static void job_make(floe_reduction_device *d)
{
    const floe_reduction *r = d->host;
    const floe_reduction_options *o = r->options;
    floe_reduction_dev_job *j = &d->job;
    *j = (floe_reduction_dev_job){.dtype = r->pair->dtype, .flat = r->dense, .nelems = r->nelems, .piece = r->piece};
    j->npieces = r->npieces;
    j->ratios = has(d, FLOE_REDUCTION_RATIOS) || (has(d, FLOE_REDUCTION_OUTSIDE) && o->mode == FLOE_BOUND_PWREL);
    j->moments = has(d, FLOE_REDUCTION_MOMENTS);
    memcpy(j->shape, r->pair->shape, sizeof j->shape);
    for (int side = 0; side < 2; side++) {
        j->side[side] = side_data(r->pair, side);
        j->flat &= (uintptr_t)j->side[side] % 16 == 0;
        memcpy(j->stride[side], side_stride(r->pair, side), sizeof j->stride[side]);
    }
    if (has(d, FLOE_REDUCTION_PDFS)) {
        j->bins.nerrors = o->bins;
        j->bins.ratio_nbits = floe_log_bins_bits(o->bins);
        j->bins.nratios = floe_log_bins_count(j->bins.ratio_nbits);
    }
    if (has(d, FLOE_REDUCTION_VALUES))
        j->bins.nvalues = o->value_bins;
    d->nbins = j->bins.nerrors + j->bins.nratios + 2 * (uint64_t)j->bins.nvalues;
}

floe_status floe_reduction_device_init(floe_reduction_device *d, const floe_cuda *cuda, floe_reduction *host,
                                       floe_error *err)
{
    *d = (floe_reduction_device){.cuda = cuda, .host = host};
    FLOE_CHECK(err, host->nelems <= (uint64_t)1 << FLOE_REDUCTION_DEV_BITS, FLOE_ERR_UNSUPPORTED,
               "a GPU assesses fields of up to 2^%d values, these have %llu", FLOE_REDUCTION_DEV_BITS,
               (unsigned long long)host->nelems);
    job_make(d);
    FLOE_CUDA(err, floe_reduction_blocks(&d->job, &d->nblocks));
    const floe_prim p = {.stream = cuda->stream};
    if (has(d, FLOE_REDUCTION_SORTED))
        FLOE_TRY(floe_prim_workspace(&p, FLOE_PRIM_SORT, prim_type(d), host->nelems, 0, &d->sort_nbytes, err));
    return FLOE_OK;
}

void floe_reduction_device_take(floe_reduction_device *d, floe_arena *arena)
{
    floe_reduction_dev_bins *b = &d->job.bins;
    const uint64_t npieces = d->job.npieces;
    d->job.answer = floe_arena_take(arena, 1, sizeof *d->job.answer);
    d->job.looks = floe_arena_take(arena, npieces, sizeof *d->job.looks);
    d->job.parts = floe_arena_take(arena, d->nblocks, sizeof *d->job.parts);
    d->range_scratch = floe_arena_take(arena, floe_range_scratch_nbytes(), 1);
    if (d->nbins) {
        b->counts = floe_arena_take(arena, d->nblocks * d->nbins, sizeof *b->counts);
        b->spare = floe_arena_take(arena, d->nblocks * d->nbins, sizeof *b->spare);
        b->frames = floe_arena_take(arena, 2 * (uint64_t)d->nblocks, sizeof *b->frames);
        b->total = floe_arena_take(arena, d->nbins, sizeof *b->total);
    }
    if (has(d, FLOE_REDUCTION_BYTES))
        d->byte_counts = floe_arena_take(arena, 512, sizeof *d->byte_counts);
    d->pieces = floe_arena_take(arena, FLOE_REDUCTION_MAX_LOOKS, sizeof *d->pieces);
    d->found = floe_arena_take(arena, FLOE_REDUCTION_MAX_LOOKS * FLOE_REDUCTION_MAX_LOOKS, sizeof *d->found);
    if (has(d, FLOE_REDUCTION_OUTSIDE)) {
        d->outside_count = floe_arena_take(arena, npieces, sizeof *d->outside_count);
        d->outside_first = floe_arena_take(arena, npieces, sizeof *d->outside_first);
    }
    for (int side = 0; has(d, FLOE_REDUCTION_SORTED) && side < 2; side++)
        d->sorted[side] = floe_arena_take(arena, d->job.nelems, d->job.dtype == FLOE_F32 ? 4 : 8);
    d->sort_workspace = floe_arena_take(arena, d->sort_nbytes, 1);
    d->job.told = d->cuda->answer, d->job.done = d->cuda->state;
}

/* ---- before the reading --------------------------------------------------------------------------------------------- */

static floe_status range_scan(floe_reduction_device *d, floe_range_job *job, floe_dev_range *answer, floe_error *err)
{
    job->scratch = d->range_scratch, job->done = d->cuda->state;
    FLOE_CUDA(err, floe_range_scan_cuda(job, d->cuda->answer, d->cuda->stream));
    FLOE_TRY(floe_cuda_wait(d->cuda, err));
    memcpy(answer, d->cuda->answer, sizeof *answer);
    return FLOE_OK;
}

static floe_range_job range_job_of(const floe_reduction_device *d, int side)
{
    return floe_range_job_of(d->job.side[side], d->job.dtype, FLOE_MAX_RANK, d->job.shape, d->job.stride[side]);
}

floe_status floe_reduction_device_original(floe_reduction_device *d, bool detect, floe_dev_range *answer,
                                           floe_error *err)
{
    const floe_pair *p = d->host->pair;
    floe_range_job job = range_job_of(d, 0);
    job.detect = detect, job.has_fill = p->has_fill, job.fill_bits = p->fill_bits;
    return range_scan(d, &job, answer, err);
}

floe_status floe_reduction_device_range(floe_reduction_device *d, int side, bool has_fill, uint64_t fill_bits,
                                        floe_range *range, floe_error *err)
{
    floe_dev_range answer;
    floe_range_job job = range_job_of(d, side);
    job.has_fill = has_fill, job.fill_bits = fill_bits;
    FLOE_TRY(range_scan(d, &job, &answer, err));
    *range = answer.range;
    return FLOE_OK;
}

/* ---- after it ------------------------------------------------------------------------------------------------------- */

/* Totals to the host's counts, which are as many in the same order. */
static floe_status counts_fetch(floe_reduction_device *d, floe_error *err)
{
    const uint64_t *from = d->job.bins.total;
    return d->nbins ? floe_cuda_copy(d->cuda, d->host->error_count, from, d->nbins * sizeof *from, err) : FLOE_OK;
}

static floe_status bytes_run(floe_reduction_device *d, floe_error *err)
{
    FLOE_TRY(floe_cuda_clear(d->cuda, d->byte_counts, 512 * sizeof(uint64_t), err));
    FLOE_CUDA(err, floe_reduction_bytes_cuda(&d->job, d->byte_counts, d->cuda->stream));
    for (int side = 0; side < 2; side++)
        FLOE_TRY(floe_cuda_copy(d->cuda, d->host->byte_count[side], d->byte_counts + 256 * side, 256 * sizeof(uint64_t),
                                err));
    return FLOE_OK;
}

/* ---- places --------------------------------------------------------------------------------------------------------- */

static floe_spot spot_of(const floe_reduction_device *d, const floe_reduction_found *f)
{
    floe_spot spot = {.original = f->x, .decoded = f->y};
    floe_pair_index(d->host->pair, f->at, spot.index);
    return spot;
}

static floe_status looks_fetch(floe_reduction_device *d, floe_error *err)
{
    floe_reduction_look *looks = d->host->looks;
    FLOE_TRY(floe_cuda_copy(d->cuda, looks, d->job.looks, d->job.npieces * sizeof *looks, err));
    return floe_cuda_wait(d->cuda, err);
}

static floe_status mismatch_search(floe_reduction_device *d, floe_reduction_result *result, floe_error *err)
{
    floe_reduction_found found;
    uint64_t piece = 0;
    while (!d->host->looks[piece].nmismatch)
        piece++;
    FLOE_CUDA(err, floe_reduction_mismatch_cuda(&d->job, piece, d->found, d->cuda->stream));
    FLOE_TRY(floe_cuda_fetch(d->cuda, &found, d->found, sizeof found, err));
    *d->host->mismatch = spot_of(d, &found);
    result->mismatch = (floe_spots){1, d->host->mismatch};
    return FLOE_OK;
}

enum { FETCHED = FLOE_CUDA_ANSWER_NBYTES / sizeof(floe_reduction_found) }; /* at once */

static int by_size(const void *a, const void *b)
{
    const floe_reduction_found *p = a, *q = b;
    const double x = fabs(p->y - p->x), y = fabs(q->y - q->x);
    return x != y ? (x < y) - (x > y) : (p->at > q->at) - (p->at < q->at);
}

static double look_worst(const floe_reduction *r, uint64_t piece) { return r->looks[piece].worst; }

/* The least of the worst of some pieces. */
static double least_of(const floe_reduction *r, const uint64_t *pieces, uint32_t npieces)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < npieces; i++)
        least = fmin(least, look_worst(r, pieces[i]));
    return least;
}

/* Are there more pieces than these whose look says at least `least`, and of which some may say too much? */
static bool may_mislead(const floe_reduction *r, uint32_t npieces, double least)
{
    const floe_reduction_look *looks = r->looks;
    uint64_t nalike = 0;
    bool exact = true;
    for (uint64_t k = 0; k < r->npieces; k++)
        if (looks[k].worst >= least) {
            nalike++;
            exact &= looks[k].inexact < looks[k].worst;
        }
    return nalike > npieces && !exact;
}

/* The pieces in which the worst errors lie, one for each if there are so many, and a number below which none of these is. */
static floe_status worst_pieces(floe_reduction_device *d, uint64_t *pieces, uint32_t *npieces, double *least,
                                floe_error *err)
{
    const floe_reduction *r = d->host;
    *npieces = floe_reduction_worst_pieces(r, look_worst, pieces);
    *least = least_of(r, pieces, *npieces);
    if (may_mislead(r, *npieces, *least)) {
        FLOE_CUDA(err, floe_reduction_look_again_cuda(&d->job, *least, d->cuda->stream));
        FLOE_TRY(looks_fetch(d, err));
        *npieces = floe_reduction_worst_pieces(r, look_worst, pieces);
        *least = least_of(r, pieces, *npieces);
    }
    *least *= *npieces < r->options->worst ? 0 : 1 - 0x1p-20; /* what is not exact is a last place of an f32 too much */
    return FLOE_OK;
}

static floe_status worst_search(floe_reduction_device *d, floe_reduction_result *result, floe_error *err)
{
    const uint32_t most = d->host->options->worst;
    uint64_t pieces[FLOE_REDUCTION_MAX_LOOKS];
    floe_reduction_found found[FETCHED], best[FLOE_REDUCTION_MAX_LOOKS + FETCHED];
    uint32_t nbest = 0, npieces;
    double least;
    const uint32_t a_fetch = FETCHED / most; /* pieces */
    FLOE_TRY(worst_pieces(d, pieces, &npieces, &least, err));
    FLOE_TRY(floe_cuda_copy(d->cuda, d->pieces, pieces, npieces * sizeof *pieces, err));
    FLOE_CUDA(err, floe_reduction_worst_cuda(&d->job, d->pieces, npieces, most, least, d->found, d->cuda->stream));
    for (uint32_t i = 0; i < npieces; i += a_fetch) { /* the best so far, and those of some pieces more */
        const uint32_t n = (npieces - i < a_fetch ? npieces - i : a_fetch) * most;
        FLOE_TRY(floe_cuda_fetch(d->cuda, found, d->found + (uint64_t)i * most, n * sizeof *found, err));
        for (uint32_t k = 0; k < n; k++)
            if (found[k].at != UINT64_MAX)
                best[nbest++] = found[k];
        qsort(best, nbest, sizeof *best, by_size);
        nbest = nbest < most ? nbest : most;
    }
    for (uint32_t i = 0; i < nbest; i++)
        d->host->worst[i] = spot_of(d, &best[i]);
    result->worst = (floe_spots){nbest, d->host->worst};
    return FLOE_OK;
}

static floe_status outside_search(floe_reduction_device *d, floe_reduction_result *result, floe_error *err)
{
    const floe_reduction *r = d->host;
    const double allowed = floe_reduction_allowed(r->options, &result->total);
    floe_reduction_found first;
    uint64_t at = r->npieces;
    FLOE_CUDA(err, floe_reduction_outside_cuda(&d->job, allowed, r->options->mode == FLOE_BOUND_PWREL, d->outside_count,
                                               d->outside_first, d->cuda->stream));
    FLOE_TRY(floe_cuda_copy(d->cuda, r->outside_count, d->outside_count, r->npieces * sizeof(uint64_t), err));
    FLOE_TRY(floe_cuda_wait(d->cuda, err));
    for (uint64_t k = r->npieces; k-- > 0;) {
        result->noutside += r->outside_count[k];
        at = r->outside_count[k] ? k : at;
    }
    if (at == r->npieces)
        return FLOE_OK;
    FLOE_TRY(floe_cuda_fetch(d->cuda, &first, d->outside_first + at, sizeof first, err));
    *r->outside = spot_of(d, &first);
    result->outside = (floe_spots){1, r->outside};
    return FLOE_OK;
}

static floe_status search(floe_reduction_device *d, floe_reduction_result *result, floe_error *err)
{
    const uint64_t *count = result->total.count;
    const bool worst = has(d, FLOE_REDUCTION_WORST) && d->host->options->worst && count[FLOE_COUNT_PAIRS];
    if (worst || count[FLOE_COUNT_MISMATCH])
        FLOE_TRY(looks_fetch(d, err));
    if (count[FLOE_COUNT_MISMATCH])
        FLOE_TRY(mismatch_search(d, result, err));
    if (has(d, FLOE_REDUCTION_OUTSIDE) && count[FLOE_COUNT_PAIRS])
        FLOE_TRY(outside_search(d, result, err));
    if (worst)
        FLOE_TRY(worst_search(d, result, err));
    return FLOE_OK;
}

/* ---- by sorting ------------------------------------------------------------------------------------------------------ */

/* Sorted on the GPU, compared on the host. */
static floe_status sort(floe_reduction_device *d, floe_reduction_result *result, floe_error *err)
{
    const floe_prim p = {.stream = d->cuda->stream, .workspace = d->sort_workspace, .workspace_nbytes = d->sort_nbytes};
    const uint64_t n = d->job.nelems, nbytes = n * (d->job.dtype == FLOE_F32 ? 4 : 8);
    FLOE_CUDA(err, floe_reduction_gather_cuda(&d->job, d->sorted[0], d->sorted[1], d->cuda->stream));
    for (int side = 0; side < 2; side++) {
        FLOE_TRY(floe_prim_sort(&p, prim_type(d), d->sorted[side], d->sorted[side], n, 0, NULL, NULL, err));
        FLOE_TRY(floe_cuda_copy(d->cuda, d->host->sorted[side], d->sorted[side], nbytes, err));
    }
    FLOE_TRY(floe_cuda_wait(d->cuda, err));
    floe_reduction_sort_compare(d->host, result);
    return FLOE_OK;
}

/* ---- the pass -------------------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(floe_reduction_dev_answer) <= FLOE_CUDA_ANSWER_NBYTES, "there is room for it");

static floe_status read_once(floe_reduction_device *d, uint32_t nblocks, floe_reduction_dev_answer *answer,
                             floe_error *err)
{
    FLOE_CUDA(err, floe_reduction_run_cuda(&d->job, nblocks, d->cuda->stream));
    FLOE_TRY(floe_cuda_wait(d->cuda, err));
    *answer = *d->job.told;
    return FLOE_OK;
}

/* What y adds up to is worked out. True: that is no good, as errors are much larger than what y itself varies by, or pivots are
 * mended; the fields have to be read again. */
static bool sums_mislead(const floe_reduction_device *d, floe_reduction_dev_answer *answer)
{
    const bool complete = d->job.each || floe_reduction_part_complete(&answer->total, answer->start.pivot);
    return floe_reduction_pivots_mend(&answer->total, answer->start.pivot) || !complete;
}

static floe_status read_all(floe_reduction_device *d, floe_reduction_dev_answer *answer, floe_error *err)
{
    double *pivot = d->job.answer->start.pivot;
    uint32_t nblocks = d->nblocks;
    FLOE_TRY(read_once(d, nblocks, answer, err));
    for (int i = 0; i < FLOE_REDUCTION_MENDS && sums_mislead(d, answer); i++) {
        FLOE_TRY(floe_cuda_copy(d->cuda, pivot, answer->start.pivot, sizeof answer->start.pivot, err));
        d->job.each = 1;
        FLOE_CUDA(err, floe_reduction_blocks(&d->job, &nblocks));
        FLOE_TRY(read_once(d, nblocks < d->nblocks ? nblocks : d->nblocks, answer, err));
    }
    return FLOE_OK;
}

static void answer_copy(const floe_reduction_device *d, const floe_reduction_dev_answer *answer,
                        floe_reduction_result *result)
{
    result->total = answer->total;
    memcpy(result->pivot, answer->start.pivot, sizeof result->pivot);
    result->nsamples = answer->start.nsamples;
    memcpy(result->sample, answer->start.sample, result->nsamples * sizeof *result->sample);
    if (has(d, FLOE_REDUCTION_PDFS))
        result->error_frame = answer->frames[0];
    if (has(d, FLOE_REDUCTION_VALUES))
        result->value_frame = answer->frames[1];
}

floe_status floe_reduction_device_run(floe_reduction_device *d, floe_reduction_result *result, floe_error *err)
{
    floe_reduction_dev_answer answer;
    floe_reduction_result_init(d->host, result);
    d->job.each = 0;
    d->job.has_fill = d->host->pair->has_fill, d->job.fill_bits = d->host->pair->fill_bits;
    FLOE_CUDA(err, floe_reduction_sample_cuda(&d->job, d->cuda->stream));
    FLOE_TRY(read_all(d, &answer, err));
    answer_copy(d, &answer, result);
    FLOE_TRY(counts_fetch(d, err));
    if (has(d, FLOE_REDUCTION_BYTES))
        FLOE_TRY(bytes_run(d, err));
    FLOE_TRY(search(d, result, err));
    if (has(d, FLOE_REDUCTION_SORTED) && result->total.count[FLOE_COUNT_PAIRS])
        FLOE_TRY(sort(d, result, err));
    return floe_cuda_wait(d->cuda, err);
}

#else /* nobody comes here: there is no GPU to open */

floe_status floe_reduction_device_init(floe_reduction_device *d, const floe_cuda *cuda, floe_reduction *host,
                                       floe_error *err)
{
    *d = (floe_reduction_device){.cuda = cuda, .host = host};
    return floe_fail(err, FLOE_ERR_DEVICE, "this build of floe has no CUDA, it runs on the CPU only");
}
void floe_reduction_device_take(floe_reduction_device *d, floe_arena *arena) { (void)d, (void)arena; }
floe_status floe_reduction_device_run(floe_reduction_device *d, floe_reduction_result *result, floe_error *err)
{
    (void)result;
    return floe_reduction_device_init(d, d->cuda, d->host, err);
}
floe_status floe_reduction_device_range(floe_reduction_device *d, int side, bool has_fill, uint64_t fill_bits,
                                        floe_range *range, floe_error *err)
{
    (void)side, (void)has_fill, (void)fill_bits, (void)range;
    return floe_reduction_device_init(d, d->cuda, d->host, err);
}
floe_status floe_reduction_device_original(floe_reduction_device *d, bool detect, floe_dev_range *answer,
                                           floe_error *err)
{
    (void)detect, (void)answer;
    return floe_reduction_device_init(d, d->cuda, d->host, err);
}

#endif
