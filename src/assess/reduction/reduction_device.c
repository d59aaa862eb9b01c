/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host does for the reduction pass on a GPU: samples first, then one reading of the fields, then places. */
#include "assess/reduction/reduction_device.h"

#include <string.h>

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
    while ((uint64_t)1 << j->piece_nbits < j->piece)
        j->piece_nbits++;
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
    if (has(d, FLOE_REDUCTION_BYTES))
        j->bins.nbytes = 256;
    j->bins.room = floe_reduction_room(j->dtype);
    j->bins.all = j->bins.nerrors + j->bins.nratios + 2 * (j->bins.nvalues + j->bins.nbytes);
}

static void search_make(floe_reduction_device *d)
{
    const floe_reduction_options *o = d->host->options;
    d->search = (floe_reduction_dev_search){.nworst = has(d, FLOE_REDUCTION_WORST) ? o->worst : 0,
                                            .outside = has(d, FLOE_REDUCTION_OUTSIDE),
                                            .bound = o->bound,
                                            .of_range = o->mode == FLOE_BOUND_REL,
                                            .of_value = o->mode == FLOE_BOUND_PWREL};
}

floe_status floe_reduction_device_init(floe_reduction_device *d, const floe_cuda *cuda, floe_reduction *host,
                                       floe_error *err)
{
    *d = (floe_reduction_device){.cuda = cuda, .host = host};
    FLOE_CHECK(err, host->nelems <= (uint64_t)1 << FLOE_REDUCTION_DEV_BITS, FLOE_ERR_UNSUPPORTED,
               "a GPU assesses fields of up to 2^%d values, these have %llu", FLOE_REDUCTION_DEV_BITS,
               (unsigned long long)host->nelems);
    job_make(d);
    FLOE_CHECK(err, d->job.bins.all <= d->job.bins.room, FLOE_ERR_MEMORY,
               "%u bins are too many for the shared memory of this GPU, which has room for %u", d->job.bins.all,
               d->job.bins.room);
    search_make(d);
    FLOE_CUDA(err, floe_reduction_blocks(&d->job, &d->nblocks));
    const floe_prim p = {.stream = cuda->stream};
    if (has(d, FLOE_REDUCTION_SORTED))
        FLOE_TRY(floe_prim_workspace(&p, FLOE_PRIM_SORT, prim_type(d), host->nelems, &d->sort_nbytes, err));
    return FLOE_OK;
}

/* In host memory that the GPU writes to. */
typedef struct host_found {
    floe_reduction_dev_results results;
    floe_reduction_places places;
} host_found;
_Static_assert(sizeof(host_found) <= FLOE_CUDA_FETCHED_NBYTES, "there is room for it");

static void search_take(floe_reduction_device *d, floe_arena *arena)
{
    floe_reduction_dev_search *s = &d->search;
    s->worst_pieces = floe_arena_take(arena, s->nworst ? d->job.npieces : 0, sizeof *s->worst_pieces);
    s->outside_pieces = floe_arena_take(arena, s->outside ? d->job.npieces : 0, sizeof *s->outside_pieces);
    s->best = floe_arena_take(arena, (uint64_t)FLOE_REDUCTION_SEARCH_BLOCKS * s->nworst, sizeof *s->best);
    s->state = floe_arena_take(arena, 1, sizeof *s->state);
    s->host_places = &((host_found *)d->cuda->fetched)->places;
}

void floe_reduction_device_take(floe_reduction_device *d, floe_arena *arena)
{
    floe_reduction_dev_bins *b = &d->job.bins;
    d->job.results = floe_arena_take(arena, 1, sizeof *d->job.results);
    d->job.looks = floe_arena_take(arena, d->job.npieces, sizeof *d->job.looks);
    d->job.parts = floe_arena_take(arena, d->nblocks, sizeof *d->job.parts);
    d->range_scratch = floe_arena_take(arena, floe_range_scratch_nbytes(), 1);
    if (b->all) {
        b->counts = floe_arena_take(arena, d->nblocks * (uint64_t)b->all, sizeof *b->counts);
        b->spare = floe_arena_take(arena, d->nblocks * (uint64_t)b->all, sizeof *b->spare);
        b->frames = floe_arena_take(arena, 2 * (uint64_t)d->nblocks, sizeof *b->frames);
        b->total = floe_arena_take(arena, b->all, sizeof *b->total);
    }
    search_take(d, arena);
    for (int side = 0; has(d, FLOE_REDUCTION_SORTED) && side < 2; side++)
        d->sorted[side] = floe_arena_take(arena, d->job.nelems, d->job.dtype == FLOE_F32 ? 4 : 8);
    d->sort_workspace = floe_arena_take(arena, d->sort_nbytes, 1);
    d->job.host_results = d->cuda->fetched, d->job.done = d->cuda->state;
}

/* ---- before the reading --------------------------------------------------------------------------------------------- */

static floe_status range_scan(floe_reduction_device *d, floe_range_job *job, floe_dev_range *found, floe_error *err)
{
    job->scratch = d->range_scratch, job->done = d->cuda->state;
    FLOE_CUDA(err, floe_range_scan_cuda(job, d->cuda->fetched, d->cuda->stream));
    FLOE_TRY(floe_cuda_wait(d->cuda, err));
    memcpy(found, d->cuda->fetched, sizeof *found);
    return FLOE_OK;
}

static floe_range_job range_job_of(const floe_reduction_device *d, int side)
{
    return floe_range_job_of(d->job.side[side], d->job.dtype, FLOE_MAX_RANK, d->job.shape, d->job.stride[side]);
}

floe_status floe_reduction_device_original(floe_reduction_device *d, bool detect, floe_dev_range *found,
                                           floe_error *err)
{
    const floe_pair *p = d->host->pair;
    floe_range_job job = range_job_of(d, 0);
    job.detect = detect, job.has_fill = p->has_fill, job.fill_bits = p->fill_bits;
    return range_scan(d, &job, found, err);
}

floe_status floe_reduction_device_range(floe_reduction_device *d, int side, bool has_fill, uint64_t fill_bits,
                                        floe_range *range, floe_error *err)
{
    floe_dev_range found;
    floe_range_job job = range_job_of(d, side);
    job.has_fill = has_fill, job.fill_bits = fill_bits;
    FLOE_TRY(range_scan(d, &job, &found, err));
    *range = found.range;
    return FLOE_OK;
}

/* ---- after it ------------------------------------------------------------------------------------------------------- */

/* Totals to the host's counts, which are as many in the same order. */
static floe_status counts_fetch(floe_reduction_device *d, floe_error *err)
{
    const uint64_t *from = d->job.bins.total;
    const uint32_t n = d->job.bins.all;
    return n ? floe_cuda_copy(d->cuda, d->host->error_count, from, n * sizeof *from, err) : FLOE_OK;
}

/* ---- places --------------------------------------------------------------------------------------------------------- */

static floe_spot spot_of(const floe_reduction_device *d, const floe_reduction_found *f)
{
    floe_spot spot = {.original = f->x, .decoded = f->y};
    floe_pair_index(d->host->pair, f->at, spot.index);
    return spot;
}

/* Whether places are requested. Those of special values that differ are, once some do. */
static bool searches(const floe_reduction_device *d)
{
    return (has(d, FLOE_REDUCTION_WORST) && d->host->options->worst) || has(d, FLOE_REDUCTION_OUTSIDE);
}

static floe_status search_start(floe_reduction_device *d, floe_error *err)
{
    FLOE_CUDA(err, floe_reduction_search_cuda(&d->job, &d->search, d->cuda->stream));
    return FLOE_OK;
}

static void places_copy(floe_reduction_device *d, const floe_reduction_places *places, floe_reduction_result *result)
{
    floe_reduction *r = d->host;
    uint64_t n = 0;
    if (result->total.count[FLOE_COUNT_MISMATCH]) {
        *r->mismatch = spot_of(d, &places->mismatch);
        result->mismatch = (floe_spots){1, r->mismatch};
    }
    if (!result->total.count[FLOE_COUNT_PAIRS])
        return;
    if (d->search.outside && places->noutside) {
        *r->outside = spot_of(d, &places->outside);
        result->noutside = places->noutside;
        result->outside = (floe_spots){1, r->outside};
    }
    for (; n < d->search.nworst && places->worst[n].at != UINT64_MAX; n++)
        r->worst[n] = spot_of(d, &places->worst[n]);
    if (d->search.nworst)
        result->worst = (floe_spots){n, r->worst};
}

/* ---- by sorting ------------------------------------------------------------------------------------------------------ */

/* Sorted on the GPU, compared on the host. */
static floe_status sort(floe_reduction_device *d, floe_reduction_result *result, floe_error *err)
{
    const floe_prim p = {.stream = d->cuda->stream, .workspace = d->sort_workspace, .workspace_nbytes = d->sort_nbytes};
    const uint64_t n = d->job.nelems, nbytes = n * (d->job.dtype == FLOE_F32 ? 4 : 8);
    FLOE_CUDA(err, floe_reduction_gather_cuda(&d->job, d->sorted[0], d->sorted[1], d->cuda->stream));
    for (int side = 0; side < 2; side++) {
        FLOE_TRY(floe_prim_sort(&p, (floe_prim_array){prim_type(d), d->sorted[side], n}, d->sorted[side], err));
        FLOE_TRY(floe_cuda_copy(d->cuda, d->host->sorted[side], d->sorted[side], nbytes, err));
    }
    FLOE_TRY(floe_cuda_wait(d->cuda, err));
    floe_reduction_sort_compare(d->host, result);
    return FLOE_OK;
}

/* ---- the pass -------------------------------------------------------------------------------------------------------- */

/* Starts the reading, and all that follows on it in any case. */
static floe_status start(floe_reduction_device *d, floe_error *err)
{
    FLOE_CUDA(err, floe_reduction_sample_cuda(&d->job, d->cuda->stream));
    FLOE_CUDA(err, floe_reduction_run_cuda(&d->job, d->nblocks, d->cuda->stream));
    if (searches(d))
        FLOE_TRY(search_start(d, err));
    FLOE_TRY(counts_fetch(d, err));
    return floe_cuda_wait(d->cuda, err);
}

/* Reads the fields again, for their sums, from the results' pivots. */
static floe_status read_again(floe_reduction_device *d, floe_reduction_dev_results *results, floe_error *err)
{
    double *pivot = d->job.results->start.pivot;
    uint32_t nblocks;
    FLOE_TRY(floe_cuda_copy(d->cuda, pivot, results->start.pivot, sizeof results->start.pivot, err));
    d->job.each = 1;
    FLOE_CUDA(err, floe_reduction_blocks(&d->job, &nblocks));
    FLOE_CUDA(err, floe_reduction_run_cuda(&d->job, nblocks < d->nblocks ? nblocks : d->nblocks, d->cuda->stream));
    FLOE_TRY(floe_cuda_wait(d->cuda, err));
    *results = *d->job.host_results;
    return FLOE_OK;
}

/* What y adds up to is worked out. True: that is no good, as errors are much larger than what y itself varies by, or pivots are
 * mended; the fields have to be read again. */
static bool sums_mislead(const floe_reduction_device *d, floe_reduction_dev_results *results)
{
    const bool complete = d->job.each || floe_reduction_part_complete(&results->total, results->start.pivot);
    return floe_reduction_pivots_mend(&results->total, results->start.pivot) || !complete;
}

static void results_copy(const floe_reduction_device *d, const floe_reduction_dev_results *results,
                         floe_reduction_result *result)
{
    result->total = results->total;
    memcpy(result->pivot, results->start.pivot, sizeof result->pivot);
    result->nsamples = results->start.nsamples;
    memcpy(result->sample, results->start.sample, result->nsamples * sizeof *result->sample);
    if (has(d, FLOE_REDUCTION_PDFS))
        result->error_frame = results->frames[0];
    if (has(d, FLOE_REDUCTION_VALUES))
        result->value_frame = results->frames[1];
}

floe_status floe_reduction_device_run(floe_reduction_device *d, floe_reduction_result *result, floe_error *err)
{
    host_found t;
    floe_reduction_result_init(d->host, result);
    d->job.each = 0;
    d->job.has_fill = d->host->pair->has_fill, d->job.fill_bits = d->host->pair->fill_bits;
    FLOE_TRY(start(d, err));
    memcpy(&t, d->cuda->fetched, sizeof t);
    if (t.results.total.count[FLOE_COUNT_MISMATCH] && !searches(d)) {
        FLOE_TRY(search_start(d, err));
        FLOE_TRY(floe_cuda_wait(d->cuda, err));
        t.places = *d->search.host_places;
    }
    for (int i = 0; i < FLOE_REDUCTION_MENDS && sums_mislead(d, &t.results); i++)
        FLOE_TRY(read_again(d, &t.results, err));
    results_copy(d, &t.results, result);
    places_copy(d, &t.places, result);
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
floe_status floe_reduction_device_original(floe_reduction_device *d, bool detect, floe_dev_range *found,
                                           floe_error *err)
{
    (void)detect, (void)found;
    return floe_reduction_device_init(d, d->cuda, d->host, err);
}

#endif
