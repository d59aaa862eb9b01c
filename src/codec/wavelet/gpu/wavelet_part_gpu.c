/* SPDX-License-Identifier: BSD-3-Clause */
/* An array on a GPU, from values to records and back, and what its records would take. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include <cuda_runtime_api.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "backend/cuda.h"
#include "codec/wavelet/gpu/wavelet_codec_gpu.h"
#include "field/look_cuda.h"

typedef floe_wavelet_gpu_part part;
typedef floe_wavelet_gpu_work work;
typedef floe_wavelet_gpu_grids grids;

enum { BYTE_BITS = 5 /* of a value, below which codes of the finest step are likely to have a byte */ };

static floe_status clear(const work *w, void *dev, size_t nbytes)
{
    FLOE_CUDA(w->err, cudaMemsetAsync(dev, 0, nbytes, w->stream));
    return FLOE_OK;
}

floe_status floe_wavelet_gpu_clear_beside(const work *w, void *dev, size_t nbytes)
{
    FLOE_TRY(floe_cuda_fork(w->cuda, w->stream, w->err));
    FLOE_CUDA(w->err, cudaMemsetAsync(dev, 0, nbytes, w->cuda->side));
    return FLOE_OK;
}

/* ---- values ------------------------------------------------------------------------------------------------------------ */

static floe_wavelet_values_job values_of(const part *p)
{
    const floe_wavelet_encoder *e = &p->e;
    const floe_wavelet_plan *plan = &e->chunk.plan;
    floe_wavelet_values_job job = {.values = e->values, .row = e->row, .array = p->back ? p->back : p->array[0]};
    memcpy(job.shape, plan->shape, sizeof job.shape);
    job.kinds = e->marks[FLOE_WAVELET_VALUE_KINDS];
    job.corrections = e->marks[FLOE_WAVELET_CORRECTIONS];
    job.fill = floe_codec_fill_bits(e->params);
    job.center = plan->center;
    job.unit = plan->unit;
    job.tolerance = floe_codec_tolerance(e->params);
    job.log = e->chunk.log;
    job.squares = e->squares;
    job.some_kinds = e->has_kinds;
    job.trial = p->trial;
    job.found = &p->findings->found;
    job.status = p->w->status;
    return job;
}

static floe_status values_do(const part *p, const floe_wavelet_values_job *jobs, uint32_t n,
                             floe_wavelet_values_what what)
{
    FLOE_CUDA(p->w->err, FLOE_BY_REAL(p->e.narrow, floe_wavelet_values)(jobs, n, what, p->w->stream));
    return FLOE_OK;
}

static floe_status all_values(const part *p, floe_wavelet_values_what what)
{
    const floe_wavelet_values_job job = values_of(p);
    return values_do(p, &job, 1, what);
}

static floe_status find_values(part *p, floe_wavelet_values_what what)
{
    FLOE_TRY(clear(p->w, &p->findings->found, sizeof p->found));
    FLOE_TRY(all_values(p, what));
    return floe_codec_fetch(&p->found, &p->findings->found, sizeof p->found, p->w->stream, p->w->err);
}

/* Looks for holes only where they are few to fetch, and may spare a second filling. */
static floe_status fill_do(void *user, const floe_wavelet_fill_job *of, bool *holes)
{
    enum { FEW = 4096 };
    const part *p = user;
    floe_wavelet_fill_job job = *of;
    const uint64_t count = floe_lattice_points(job.level.n);
    uint8_t found[FEW];
    job.status = p->w->status;
    FLOE_CUDA(p->w->err, floe_wavelet_fill_cuda(&job, p->w->stream));
    if (job.what == FLOE_WAVELET_FILL_MARK && job.level.rough && count <= FEW) {
        FLOE_TRY(floe_codec_fetch(found, job.level.holes, count, p->w->stream, p->w->err));
        *holes = memchr(found, true, count);
    }
    return FLOE_OK;
}

floe_status floe_wavelet_gpu_look(void *of, const floe_look *look, uint64_t *bits)
{
    const part *p = of;
    uint64_t *found = p->w->c->results->look;
    FLOE_CUDA(p->w->err, floe_look_cuda(look, p->w->status, found, p->w->stream));
    return floe_codec_fetch(bits, found, floe_look_nplaces(look) * sizeof *bits, p->w->stream, p->w->err);
}

static floe_status fill(part *p)
{
    floe_wavelet_filling f = {.run = fill_do, .look = floe_wavelet_gpu_look, .user = p, .values = p->array[1]};
    f.array = (floe_wavelet_fill_level){.values = p->array[0], .holes = p->e.records};
    return floe_wavelet_fill(&p->e, &f);
}

/* Values that lie as the array would, and are all numbers. */
static bool are_array(const part *p)
{
    const floe_wavelet_encoder *e = &p->e;
    const floe_lattice_view v = floe_lattice_view_lattice(e->values.data, e->chunk.plan.shape);
    bool same = !e->chunk.log && p->found.nliterals == 0;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        same = same && (e->chunk.plan.shape[a] == 1 || e->values.stride[a] == v.stride[a]);
    return same;
}

floe_status floe_wavelet_gpu_array_take(part *p)
{
    if (!p->cleared)
        FLOE_TRY(clear(p->w, p->e.marks[FLOE_WAVELET_VALUE_KINDS], p->e.nmarks));
    p->cleared = false;
    FLOE_TRY(find_values(p, FLOE_WAVELET_VALUES_TAKE));
    const bool some = p->found.most > 0;
    floe_wavelet_center_set(&p->e, some ? floe_wavelet_dev_of_key(~p->found.least) : INFINITY,
                            some ? floe_wavelet_dev_of_key(p->found.most) : -INFINITY);
    p->e.has_kinds = p->found.nliterals + p->found.nmarks > 0;
    p->first = are_array(p) ? p->e.values.data : NULL;
    p->loaded = !p->first;
    if (p->first)
        return FLOE_OK;
    if (p->found.nliterals == 0)
        return all_values(p, FLOE_WAVELET_VALUES_LOAD);
    floe_wavelet_values_job whole = values_of(p);
    whole.center = 0;
    FLOE_TRY(values_do(p, &whole, 1, FLOE_WAVELET_VALUES_LOAD));
    FLOE_TRY(fill(p));
    return all_values(p, FLOE_WAVELET_VALUES_SHIFT);
}

floe_status floe_wavelet_gpu_array_check(part *p) { return find_values(p, FLOE_WAVELET_VALUES_CHECK); }

/* ---- steps ------------------------------------------------------------------------------------------------------------- */

static floe_wavelet_gpu_turns turns_of(const part *p)
{
    const work *w = p->w;
    return (floe_wavelet_gpu_turns){
        &p->e.chunk.plan, {p->array[0], p->array[1]}, p->e.size, w->status, w->stream, w->err, 0, NULL, NULL, 0};
}

/* The packet, and so many steps. */
static floe_status lift_steps(part *p, uint32_t nsteps)
{
    const floe_wavelet_plan *plan = &p->e.chunk.plan;
    floe_wavelet_gpu_turns t = turns_of(p);
    floe_lattice_step packet;
    t.first = p->first;
    if (p->first && nsteps == 0 && !floe_wavelet_packet_step(plan, 0, &packet))
        FLOE_TRY(all_values(p, FLOE_WAVELET_VALUES_LOAD)); /* no pass takes them */
    if (!p->first && !p->loaded)
        FLOE_TRY(floe_wavelet_gpu_array_take(p));
    p->loaded = false;
    FLOE_TRY(floe_wavelet_gpu_lift_packet(&t));
    for (uint32_t i = 0; i < nsteps; i++) {
        FLOE_TRY(floe_wavelet_gpu_lift(&t, &plan->steps[i].step, false));
        p->at[i] = t.at;
    }
    p->at[nsteps] = t.at;
    return FLOE_OK;
}

floe_status floe_wavelet_gpu_array_lift(part *p)
{
    p->lifted = true;
    return lift_steps(p, p->e.chunk.plan.nsteps);
}

/* How often each axis is halved by steps before step i. */
static void depths_of(const floe_wavelet_plan *plan, uint32_t i, uint8_t depth[FLOE_LATTICE_RANK])
{
    memset(depth, 0, FLOE_LATTICE_RANK);
    for (uint32_t k = 0; k < i; k++)
        for (uint32_t a = 0; a < plan->steps[k].step.naxes; a++)
            depth[plan->steps[k].step.axis[a]]++;
}

static floe_wavelet_dev_codes codes_of(const part *p, uint32_t i, uint8_t *const *array)
{
    floe_wavelet_dev_codes job = floe_wavelet_gpu_codes(&p->e.chunk.plan, i, array[p->at[i]], p->e.records_of[i]);
    job.in_place = p->in_place;
    depths_of(&p->e.chunk.plan, i, job.depth);
    job.largest = &p->findings->largest[i];
    job.means = &p->findings->means[i];
    job.status = p->w->status;
    return job;
}

typedef int codes_fn(const floe_wavelet_dev_codes *c, uint32_t n, void *stream);

/* Of steps first .. end. array: the buffers that have their details. */
static floe_status codes_do(const part *p, codes_fn *codes, uint8_t *const *array, uint32_t first, uint32_t end)
{
    floe_wavelet_dev_codes job[FLOE_WAVELET_STEPS];
    for (uint32_t i = first; i < end; i++)
        job[i - first] = codes_of(p, i, array);
    FLOE_CUDA(p->w->err, codes(job, end - first, p->w->stream));
    return FLOE_OK;
}

static floe_status encode(const part *p, uint8_t *const *array, uint32_t first, uint32_t end)
{
    return codes_do(p, FLOE_BY_REAL(p->e.narrow, floe_wavelet_encode_codes), array, first, end);
}

/* Codes of each step that are as large as they may be. */
static floe_status count_cuts(part *p, unsigned long long *counts)
{
    const size_t nbytes = sizeof p->findings->largest;
    floe_wavelet_records_place(&p->e);
    FLOE_TRY(clear(p->w, p->findings, sizeof *p->findings));
    FLOE_TRY(encode(p, p->array, 0, p->e.chunk.plan.nsteps));
    FLOE_TRY(floe_codec_fetch(counts, p->findings->largest, nbytes, p->w->stream, p->w->err));
    return clear(p->w, p->findings, sizeof *p->findings);
}

/* The largest detail of each step; corrections become 0 while the host waits. The finest step, which has most details, is coded at once where
 * its codes are likely to have a byte: if none is as large as it may be, its largest is known to be small enough. */
static floe_status find_largest(part *p, unsigned long long *largest, size_t nbytes)
{
    codes_fn *find = FLOE_BY_REAL(p->e.narrow, floe_wavelet_largest);
    floe_wavelet_plan *plan = &p->e.chunk.plan;
    p->ncoded = plan->nsteps && !p->trial && p->e.expected < BYTE_BITS;
    if (p->ncoded) {
        plan->steps[0].step.width = 1;
        floe_wavelet_coding_lay(&plan->steps[0]);
        floe_wavelet_records_place(&p->e);
        FLOE_TRY(encode(p, p->array, 0, 1));
    }
    FLOE_TRY(codes_do(p, find, p->array, p->ncoded, plan->nsteps));
    floe_status s = floe_wavelet_gpu_clear_beside(p->w, p->e.marks[FLOE_WAVELET_CORRECTIONS], p->e.nmarks);
    s = s == FLOE_OK ? floe_codec_fetch(largest, p->findings->largest, nbytes, p->w->stream, p->w->err) : s;
    FLOE_TRY(floe_cuda_join(p->w->cuda, p->w->stream, s, p->w->err));
    if (!p->ncoded || largest[0] == 0)
        return FLOE_OK;
    p->ncoded = 0;
    plan->steps[0].step.width = 2; /* count_cuts goes by it */
    floe_wavelet_coding_lay(&plan->steps[0]);
    FLOE_TRY(clear(p->w, p->findings, sizeof *p->findings));
    FLOE_TRY(codes_do(p, find, p->array, 0, 1));
    return floe_codec_fetch(largest, p->findings->largest, sizeof *largest, p->w->stream, p->w->err);
}

floe_status floe_wavelet_gpu_array_forward(part *p)
{
    floe_wavelet_plan *plan = &p->e.chunk.plan;
    unsigned long long largest[FLOE_WAVELET_STEPS], cuts[FLOE_WAVELET_STEPS] = {0};
    const uint32_t nsteps = plan->nsteps;
    bool fit = true;
    FLOE_TRY(clear(p->w, p->findings, sizeof *p->findings));
    if (!p->lifted)
        FLOE_TRY(floe_wavelet_gpu_array_lift(p));
    p->lifted = false;
    FLOE_TRY(find_largest(p, largest, sizeof largest));
    for (uint32_t i = 0; i < nsteps; i++)
        fit = fit && floe_f64_of(largest[i]) < FLOE_WAVELET_CODE_MOST;
    if (!fit) {
        p->ncoded = 0;
        FLOE_TRY(count_cuts(p, cuts));
    }
    for (uint32_t i = 0; i < nsteps; i++) {
        plan->steps[i].step.width = floe_f64_of(largest[i]) < 127 ? 1 : 2;
        floe_wavelet_coding_lay(&plan->steps[i]);
        if (floe_f64_of(largest[i]) < FLOE_WAVELET_CODE_MOST || cuts[i] <= floe_wavelet_cuts_most(&p->e, i))
            continue;
        FLOE_TRY(lift_steps(p, i + 1));
        floe_wavelet_gpu_turns t = turns_of(p);
        t.at = p->at[i + 1];
        FLOE_TRY(floe_wavelet_gpu_lift(&t, &plan->steps[i].step, true));
        p->at[i] = t.at;
        plan->nsteps = i;
        break;
    }
    return FLOE_OK;
}

/* ---- anchors ----------------------------------------------------------------------------------------------------------- */

static floe_wavelet_anchors_job anchors_of(const part *p)
{
    const floe_wavelet_plan *plan = &p->e.chunk.plan;
    const uint32_t at = p->at[plan->nsteps];
    floe_wavelet_anchors_job job = floe_wavelet_gpu_anchors(plan, p->from[at], p->array[at], p->e.narrow);
    job.in_place = p->in_place;
    depths_of(plan, plan->nsteps, job.depth);
    job.range = p->findings->range;
    job.status = p->w->status;
    return job;
}

static floe_status anchors_do(const part *p, const floe_wavelet_anchors_job *job, floe_wavelet_anchors_what what)
{
    FLOE_CUDA(p->w->err, floe_wavelet_anchors_cuda(job, 1, what, p->w->stream));
    return FLOE_OK;
}

bool floe_wavelet_gpu_anchors_set(part *p, const unsigned long long *range)
{
    const uint64_t sign = (uint64_t)1 << 63;
    floe_wavelet_anchors_code *c = &p->e.chunk.anchors;
    const int64_t largest = (int64_t)(range[0] ^ sign);
    c->least = (int64_t)(~range[1] ^ sign);
    c->nbits = largest > c->least ? floe_top_bit((uint64_t)(largest - c->least)) + 1 : 0;
    return c->nbits <= 8 * p->e.size;
}

static floe_status keep_anchors(const part *p)
{
    floe_wavelet_anchors_job job = anchors_of(p);
    job.least = p->e.chunk.anchors.least;
    job.nbits = p->e.chunk.anchors.nbits;
    job.bits = p->anchors;
    if (job.nbits && job.bits)
        FLOE_TRY(anchors_do(p, &job, FLOE_WAVELET_ANCHORS_BITS));
    return anchors_do(p, &job, FLOE_WAVELET_ANCHORS_ROUND); /* their range, which is known, stays */
}

/* ---- codes ------------------------------------------------------------------------------------------------------------- */

static floe_status undo_steps(part *p)
{
    const floe_wavelet_plan *plan = &p->e.chunk.plan;
    floe_wavelet_gpu_turns t = turns_of(p);
    t.at = p->at[plan->nsteps];
    for (uint32_t i = plan->nsteps; i-- > 0;)
        FLOE_TRY(floe_wavelet_gpu_lift(&t, &plan->steps[i].step, true));
    return floe_wavelet_gpu_undo_packet(&t, 0, &p->back);
}

floe_status floe_wavelet_gpu_array_code(part *p, bool *good)
{
    floe_wavelet_plan *plan = &p->e.chunk.plan;
    floe_wavelet_gpu_findings found;
    floe_wavelet_records_place(&p->e);
    FLOE_TRY(encode(p, p->from, p->ncoded, plan->nsteps));
    FLOE_TRY(codes_do(p, FLOE_BY_REAL(p->e.narrow, floe_wavelet_decode_codes), p->array, 0, plan->nsteps));
    floe_wavelet_anchors_job range = anchors_of(p);
    range.to = NULL;
    FLOE_TRY(anchors_do(p, &range, FLOE_WAVELET_ANCHORS_ROUND));
    FLOE_TRY(floe_codec_fetch(&found, p->findings, sizeof found, p->w->stream, p->w->err));
    for (uint32_t i = 0; i < plan->nsteps; i++) {
        floe_wavelet_coding *c = &plan->steps[i];
        for (int k = 0; k < FLOE_WAVELET_SHIFTS; k++) {
            c->shift[k] = (int8_t)floe_wavelet_shift_of(found.means[i].sum[k], found.means[i].count[k]);
            c->ncodes += found.means[i].count[k];
        }
    }
    *good = floe_wavelet_gpu_anchors_set(p, found.range);
    if (!*good)
        return FLOE_OK;
    FLOE_TRY(keep_anchors(p));
    return undo_steps(p);
}

/* ---- without a wait ---------------------------------------------------------------------------------------------------- */

floe_status floe_wavelet_gpu_places_add(const part *p, void *array, const void *from, floe_wavelet_dev_places *places)
{
    const floe_wavelet_plan *plan = &p->e.chunk.plan;
    floe_wavelet_dev_place *to = &places->at[places->n++];
    floe_lattice_step packet;
    *to = (floe_wavelet_dev_place){.array = array, .from = from, .bank = plan->bank, .one_sided = plan->one_sided};
    memcpy(places->shape, plan->shape, sizeof places->shape);
    places->status = p->w->status;
    /* passes, in the order in which they are done forward */
    for (uint32_t k = 0; floe_wavelet_packet_step(plan, k, &packet); k++) {
        to->pass[to->npasses].axis = (uint8_t)packet.axis[0];
        to->pass[to->npasses++].depth[packet.axis[0]] = (uint8_t)k;
    }
    for (uint32_t i = 0; i < plan->nsteps; i++)
        for (uint32_t k = plan->steps[i].step.naxes; k-- > 0; to->npasses++) {
            FLOE_CHECK(p->w->err, to->npasses < FLOE_WAVELET_DEV_PASSES, FLOE_ERR_INTERNAL,
                       "a trial has too many passes");
            to->pass[to->npasses].axis = (uint8_t)plan->steps[i].step.axis[k];
            depths_of(plan, i, to->pass[to->npasses].depth);
        }
    return FLOE_OK;
}

floe_status floe_wavelet_gpu_places_lift(const part *p, const floe_wavelet_dev_places *places)
{
    if (places->n)
        FLOE_CUDA(p->w->err, FLOE_BY_REAL(p->e.narrow, floe_wavelet_lift_places)(places, p->w->stream));
    return FLOE_OK;
}

/* Codes of two bytes take as many bits as those of one. How many are as large as they may be shows in findings. */
floe_status floe_wavelet_gpu_round_add(part *p, bool all, floe_wavelet_gpu_round *r)
{
    memset(p->at, 0, sizeof p->at);
    floe_wavelet_records_place(&p->e);
    for (uint32_t i = 0; i < p->e.chunk.plan.nsteps; i++, r->ncodes++) {
        r->codes[r->ncodes] = codes_of(p, i, p->from);
        r->decoded[r->ncodes] = all ? p->array[0] : NULL;
    }
    r->anchors[r->n++] = anchors_of(p);
    if (!all)
        return FLOE_OK;
    r->checks[r->nchecks++] = values_of(p);
    return floe_wavelet_gpu_places_add(p, p->array[0], NULL, &r->back);
}

floe_status floe_wavelet_gpu_round_do(const part *p, floe_wavelet_gpu_round *r)
{
    const work *w = p->w;
    const bool narrow = p->e.narrow;
    uint32_t ndecoded = 0;
    FLOE_CUDA(w->err, FLOE_BY_REAL(narrow, floe_wavelet_encode_codes)(r->codes, r->ncodes, w->stream));
    for (uint32_t i = 0; i < r->ncodes; i++)
        if (r->decoded[i]) {
            r->codes[ndecoded] = r->codes[i];
            r->codes[ndecoded++].array = r->decoded[i];
        }
    FLOE_CUDA(w->err, FLOE_BY_REAL(narrow, floe_wavelet_decode_codes)(r->codes, ndecoded, w->stream));
    FLOE_CUDA(w->err, floe_wavelet_anchors_cuda(r->anchors, r->n, FLOE_WAVELET_ANCHORS_ROUND, w->stream));
    r->back.inverse = true;
    FLOE_TRY(floe_wavelet_gpu_places_lift(p, &r->back));
    return r->nchecks ? values_do(p, r->checks, r->nchecks, FLOE_WAVELET_VALUES_CHECK) : FLOE_OK;
}

/* ---- what records take ------------------------------------------------------------------------------------------------- */

void floe_wavelet_gpu_grid_add(grids *g, const floe_context_spec *spec, const floe_context_grid *grid, void *records)
{
    floe_context_dev_grid *to = &g->grid[g->n];
    *to = floe_context_dev_grid_of(spec, grid, records);
    to->first = g->n ? to[-1].first + to[-1].nchunks : 0;
    to->first_window = g->nwindows;
    g->nwindows += (uint64_t)to->nchunks * floe_context_chunk_windows(to);
    to->counts = g->n++;
}

void floe_wavelet_gpu_steps_add(grids *g, const floe_wavelet_encoder *e)
{
    for (uint32_t i = e->chunk.plan.nsteps; i-- > 0;)
        floe_wavelet_gpu_grid_add(g, &e->chunk.plan.steps[i].spec, &e->chunk.plan.steps[i].grid, e->records_of[i]);
}

floe_context_job floe_wavelet_gpu_context(const work *w, const grids *g)
{
    const floe_wavelet_gpu_encode *c = w->c;
    floe_context_job job = c->pack.record.context;
    job.status = w->status;
    if (g->ntokens == 0 || g->nwindows > c->room.nwindows)
        job.windows = NULL;
    job.tokens = g->tokens;
    job.ntokens = g->ntokens;
    for (uint32_t i = 0; i < g->n; i++)
        floe_context_job_add(&job, &g->grid[i]);
    return job;
}

static floe_status count_start(const work *w, const grids *g)
{
    const floe_wavelet_gpu_encode *c = w->c;
    const floe_context_job job = floe_wavelet_gpu_context(w, g);
    floe_wavelet_lists_job lists = c->lists;
    lists.ngrids = g->n;
    lists.tallies = c->results->tallies;
    lists.nbits = c->results->nbits;
    lists.status = w->status;
    for (uint32_t i = 0; i < g->n; i++)
        lists.nbytes = floe_max64(lists.nbytes, 8 * g->grid[i].spec.width * floe_context_nrecords(&g->grid[i].grid));
    FLOE_CHECK(w->err, job.nchunks <= c->room.nchunks, FLOE_ERR_INTERNAL, "more entropy chunks than there is room for");
    FLOE_TRY(floe_codec_send(job.grids, g->grid, g->n * sizeof *g->grid, w->stream, w->err));
    FLOE_TRY(clear(w, job.tokens_taken, c->cleared_nbytes));
    FLOE_CUDA(w->err, floe_context_count_cuda(&job, w->stream));
    FLOE_CUDA(w->err, floe_context_tally_cuda(&job, c->results->tallies, w->stream));
    FLOE_CUDA(w->err, floe_wavelet_lists_cuda(&lists, w->stream));
    return FLOE_OK;
}

static void count_take(grids *g, const floe_wavelet_gpu_results *found)
{
    for (uint32_t i = 0; i < g->n; i++) {
        const floe_context_tally *t = &found->tallies[i];
        g->count[i] = t->ncodes;
        g->bits[i] = floe_wavelet_chunks_bits(t);
        g->list[i] = floe_wavelet_may_list(t->ncodes, g->bits[i]) && floe_wavelet_is_list(found->nbits[i], g->bits[i]);
        g->bits[i] = g->list[i] ? found->nbits[i] + FLOE_WAVELET_LIST_HEAD_BITS : g->bits[i];
    }
}

floe_status floe_wavelet_gpu_count(const work *w, grids *g, uint32_t nparts, floe_wavelet_gpu_results *found)
{
    const size_t nbytes = offsetof(floe_wavelet_gpu_results, part) + nparts * sizeof found->part[0];
    if (g->n) /* trials by codes alone, of a box without steps, have no grid */
        FLOE_TRY(count_start(w, g));
    if (g->n || nparts)
        FLOE_TRY(floe_codec_fetch(found, w->c->results, nbytes, w->stream, w->err));
    count_take(g, found);
    return FLOE_OK;
}

#endif
