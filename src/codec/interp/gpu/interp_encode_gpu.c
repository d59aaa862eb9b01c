/* SPDX-License-Identifier: BSD-3-Clause */
/* Values -> chunks: the host chooses the plan and waits for how many values are apart; kernels do all else. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "base/grid_math.h"
#include "base/sort.h"
#include "codec/interp/gpu/interp_codec_gpu.h"
#include "codec/interp/gpu/interp_tune_gpu.h"
#include "codec/interp/interp_encoder.h"
#include "field/dtype_math.h"

enum { MOST_GRIDS = FLOE_INTERP_STEPS + FLOE_INTERP_SETS };

typedef struct encoding {
    const floe_interp_gpu_encode *c;
    const floe_codec_encode *call;
    const floe_codec_params *params;
    floe_codec_known *known; /* may not be there yet; params is of it */
    floe_interp_attempt attempt;
    void *stream;
    floe_error *err;
    floe_cuda cuda; /* its stream is this one */
    floe_interp_gpu_thinning thinning;
    floe_interp_chunk chunk;
    floe_interp_dev_check check;
    uint64_t ncells, nrecords; /* nrecords: bytes of records so far */
    uint32_t size;
    bool narrow;
    floe_context_dev_grid grids[MOST_GRIDS];
    uint32_t nsent, ncoded; /* grids that kernels have, and are coding */
    uint64_t nlist, napart, nwindows;
    floe_interp_pack_job pack; /* as far as the chunk is made */
} encoding;

/* ---- the plan ---------------------------------------------------------------------------------------------------------- */

static floe_interp_bits_job bits_job(const encoding *e)
{
    const uint64_t *n = e->chunk.plan.shape;
    floe_interp_bits_job job = {.row = floe_ceil_div(n[3], 64),
                                .values = {.view = e->check.values, .size = e->size},
                                .status = e->call->status,
                                .out = e->c->s.out,
                                .from = e->c->apart};
    memcpy(job.shape, n, sizeof job.shape);
    job.nwords = floe_interp_bits_room(n);
    job.has_fill = e->params->has_fill;
    job.fill = e->params->fill_bits;
    job.flat = e->chunk.kind == FLOE_LATTICE_FLAT;
    job.base = e->chunk.base;
    memcpy(job.palette, e->chunk.palette, sizeof job.palette);
    return job;
}

/* Does it, and fetches n numbers of what it has found. */
static floe_status bits_find(const encoding *e, floe_interp_bits_job *job, floe_interp_bits_what what,
                             unsigned long long *found, uint32_t n)
{
    job->what = what;
    FLOE_CUDA(e->err, cudaMemsetAsync(e->c->s.out, 0, FLOE_INTERP_SETS * sizeof *e->c->s.out, e->stream));
    FLOE_CUDA(e->err, floe_interp_bits_cuda(job, e->stream));
    return n ? floe_codec_fetch(found, e->c->s.out, n * sizeof *found, e->stream, e->err) : FLOE_OK;
}

static floe_status fetch_pattern(const encoding *e, uint64_t position, uint64_t *pattern)
{
    const int64_t at = floe_lattice_view_number(&e->check.values, e->chunk.plan.shape, position) * (int64_t)e->size;
    *pattern = 0; /* little-endian wherever there is a GPU */
    return floe_codec_fetch(pattern, (const uint8_t *)e->check.values.data + at, e->size, e->stream, e->err);
}

static floe_status choose_plan(encoding *e)
{
    floe_codec_params known = *e->params;
    if (known.max_abs != known.max_abs && known.mode != FLOE_BOUND_PWREL) {
        floe_interp_bits_job job = bits_job(e);
        unsigned long long most;
        FLOE_TRY(bits_find(e, &job, FLOE_INTERP_BITS_MOST, &most, 1));
        known.max_abs = floe_f64_of(most);
    }
    e->check.log = known.mode == FLOE_BOUND_PWREL;
    e->check.tolerance = floe_codec_tolerance(e->params);
    e->check.fill = floe_codec_fill_bits(e->params);
    const floe_interp_gpu_tuning tuning = {&known,       &e->c->trials, e->call->status,
                                           e->cuda.side, e->attempt,    &e->thinning};
    return floe_interp_gpu_choose(&tuning, &e->check.values, e->check.shape, &e->chunk, e->err);
}

enum { LARGE_CELLS = 1 << 24 /* of a smaller field the host is what takes time: it thins beside the first trials */ };

/* Parameters, a plan and its lattices, as far as there are. What the host waits for is on the side, and thinning goes on beside it. */
static floe_status begin_values(encoding *e)
{
    FLOE_TRY(floe_cuda_fork(&e->cuda, e->stream, e->err));
    floe_status s =
        e->ncells < LARGE_CELLS ? FLOE_OK : floe_interp_gpu_thin_early(&e->thinning, e->check.shape, e->err);
    if (s == FLOE_OK && !e->known->there)
        s = floe_codec_take_params(e->call, e->known, e->cuda.side, e->err);
    const bool chooses = s == FLOE_OK && e->known->status == FLOE_OK && e->params->mode != FLOE_BOUND_LOSSLESS;
    if (chooses)
        s = choose_plan(e);
    FLOE_TRY(floe_cuda_join(&e->cuda, e->stream, s, e->err));
    return chooses ? floe_interp_gpu_thin(&e->thinning, &e->chunk.plan, e->err) : FLOE_OK;
}

/* ---- lattices ------------------------------------------------------------------------------------------------------------ */

static floe_status send_grids(encoding *e)
{
    e->nsent = e->pack.record.context.ngrids;
    return floe_codec_send(e->c->s.grids, e->grids, e->nsent * sizeof *e->grids, e->stream, e->err);
}

/* Grid i of the context job: records behind those before. */
static void add_grid(encoding *e, const floe_context_spec *spec, const floe_context_grid *grid, bool shares,
                     void *records)
{
    floe_context_job *job = &e->pack.record.context;
    floe_context_dev_grid *g = &e->grids[job->ngrids];
    *g = floe_context_dev_grid_of(spec, grid, records);
    g->shares = shares;
    g->counts = job->ngrids - e->ncoded;
    g->first = job->nchunks;
    g->first_window = e->nwindows;
    e->nwindows += (uint64_t)g->nchunks * floe_context_chunk_windows(g);
    floe_context_job_add(job, g);
}

static floe_status encode_level(encoding *e, uint32_t i)
{
    const floe_interp_plan *p = &e->chunk.plan;
    const floe_interp_coding *k = &p->steps[i];
    const floe_interp_gpu_scratch *s = &e->c->s;
    const floe_interp_dev_thin *thin = &e->thinning.steps[i];
    floe_interp_dev_job job = {.step = k->step,
                               .rule = k->rule,
                               .original = thin->from,
                               .last = thin->last,
                               .log = e->check.log,
                               .status = e->call->status,
                               .nrecords = floe_context_nrecords(&k->grid),
                               .records = s->records + e->nrecords};
    memcpy(job.box.hi, k->step.fine, sizeof job.box.hi);
    memcpy(job.unit, thin->unit, sizeof job.unit);
    e->nrecords += floe_interp_records_room(k);
    add_grid(e, &k->spec, &k->grid, i + 1 < p->nsteps, job.records);
    job.coarse = i + 1 == p->nsteps ? e->c->anchors : s->lattices[(i + 1) % 2 == 0];
    if (i)
        job.fine = floe_lattice_view_lattice(s->lattices[i % 2 == 0], k->step.fine);
    else /* while coarser ones are being done */
        FLOE_TRY(send_grids(e));
    FLOE_CUDA(e->err, FLOE_BY_REAL(e->narrow, floe_interp_encode)(&job, &e->check, e->stream));
    return FLOE_OK;
}

static floe_status encode_lattices(encoding *e)
{
    for (uint32_t i = e->chunk.plan.nsteps; i-- > 0;)
        FLOE_TRY(encode_level(e, i));
    return FLOE_OK;
}

/* ---- sets ---------------------------------------------------------------------------------------------------------------- */

/* Patterns that no lattice gives, as they come. */
static floe_status find_palette(encoding *e, uint32_t *npalette)
{
    *npalette = 0;
    if (e->params->has_fill)
        e->chunk.palette[(*npalette)++] = e->params->fill_bits;
    while (*npalette < FLOE_INTERP_PALETTE) {
        floe_interp_bits_job job = bits_job(e);
        unsigned long long first;
        job.npalette = *npalette;
        FLOE_TRY(bits_find(e, &job, FLOE_INTERP_BITS_PALETTE, &first, 1));
        if (first == 0)
            break;
        FLOE_TRY(fetch_pattern(e, ~first, &e->chunk.palette[(*npalette)++]));
    }
    return FLOE_OK;
}

/* Symbols of a mask, as floe_records_count has them of every n-th chunk. Its records are made. */
static floe_status mask_bits(encoding *e, const uint64_t *bits, const floe_context_dev_grid *grid, uint64_t *cost)
{
    const floe_interp_gpu_encode *c = e->c;
    const uint32_t every = (uint32_t)floe_ceil_div(grid->nchunks, FLOE_INTERP_MASK_SAMPLE);
    uint32_t *dev_counts = c->pack.record.context.counts, counts[FLOE_CONTEXT_COUNTS] = {0};
    floe_context_dev_grid sample = *grid;
    floe_interp_bits_job job = bits_job(e);
    const floe_context_job count = {.grids = c->s.grids,
                                    .ngrids = 1,
                                    .nchunks = (uint32_t)floe_ceil_div(grid->nchunks, every),
                                    .every = every,
                                    .warp_nbytes = floe_context_warp_nbytes(&floe_interp_mask_spec),
                                    .tickets = (uint32_t *)c->s.out,
                                    .status = e->call->status,
                                    .counts = dev_counts};
    sample.nchunks = count.nchunks;
    sample.counts = 0;
    job.from = bits;
    job.records = grid->records;
    job.nrecords = floe_context_nrecords(&grid->grid);
    FLOE_TRY(bits_find(e, &job, FLOE_INTERP_BITS_RECORDS, NULL, 0));
    FLOE_CUDA(e->err, cudaMemsetAsync(dev_counts, 0, sizeof counts, e->stream));
    FLOE_TRY(floe_codec_send(c->s.grids, &sample, sizeof sample, e->stream, e->err));
    FLOE_CUDA(e->err, floe_context_count_cuda(&count, e->stream));
    FLOE_TRY(floe_codec_fetch(counts, dev_counts, sizeof counts, e->stream, e->err));
    FLOE_CUDA(e->err, cudaMemsetAsync(dev_counts, 0, sizeof counts, e->stream));
    *cost = floe_context_tally_of(&floe_interp_mask_spec, counts).entropy;
    return FLOE_OK;
}

/* Differences along the axes where that is worth it. */
static floe_status differ_mask(encoding *e, const floe_context_dev_grid *grid, uint64_t **bits, uint32_t *axes)
{
    uint64_t *other = e->c->s.bits[1], least, cost;
    *axes = 0;
    FLOE_TRY(mask_bits(e, *bits, grid, &least));
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        if (e->chunk.plan.shape[a] == 1)
            continue;
        floe_interp_bits_job job = bits_job(e);
        job.from = *bits;
        job.to = other;
        job.axis = a;
        FLOE_TRY(bits_find(e, &job, FLOE_INTERP_BITS_DIFFER, NULL, 0));
        FLOE_TRY(mask_bits(e, other, grid, &cost));
        if (cost < least) {
            least = cost;
            *axes |= 1u << a;
            other = *bits;
            *bits = job.to;
        }
    }
    return FLOE_OK;
}

static floe_status make_mask(encoding *e, uint32_t set)
{
    const floe_context_grid grid = floe_interp_mask_grid(e->chunk.plan.shape);
    uint64_t *bits = e->c->s.bits[0];
    uint32_t axes;
    add_grid(e, &floe_interp_mask_spec, &grid, false, e->c->s.mask_records + set * e->c->room.mask_records);
    const floe_context_dev_grid *g = &e->grids[e->pack.record.context.ngrids - 1];
    FLOE_TRY(differ_mask(e, g, &bits, &axes));
    floe_interp_bits_job job = bits_job(e);
    job.from = bits;
    job.records = g->records;
    job.nrecords = floe_context_nrecords(&grid);
    e->chunk.sets[set] = (floe_interp_set){FLOE_INTERP_SET_MASK, axes};
    e->pack.sets[set].grid = e->pack.record.context.ngrids;
    return bits_find(e, &job, FLOE_INTERP_BITS_RECORDS, NULL, 0);
}

/* A set of n values becomes a list, which the caller writes there. */
static uint32_t *add_list(encoding *e, uint32_t set, uint64_t n)
{
    uint32_t *list = e->c->lists + e->nlist;
    e->pack.sets[set] = (floe_interp_dev_set){.list = list, .count = n};
    e->chunk.sets[set].kind = FLOE_INTERP_SET_LIST;
    e->nlist += 1 + n;
    return list;
}

/* Bits of a set stand in bits[0]: as a list or as a mask; and literals. */
static floe_status make_set(encoding *e, uint32_t set, uint64_t n)
{
    const bool lists = floe_interp_is_listed(e->ncells, n), literals = set == FLOE_INTERP_LITERALS;
    const uint32_t count = (uint32_t)n;
    floe_interp_bits_job job = bits_job(e);
    job.from = e->c->s.bits[0];
    job.list = lists ? add_list(e, set, n) : NULL;
    job.literals = literals ? e->c->literals : NULL;
    if (literals)
        e->pack.literals_nbytes = n * e->size;
    if (lists || literals) {
        FLOE_TRY(floe_interp_gpu_rank(&e->c->s, &job, e->stream, e->err));
        job.ranks = e->c->s.ranks.ranks;
        FLOE_TRY(bits_find(e, &job, FLOE_INTERP_BITS_LIST, NULL, 0));
    }
    return lists ? floe_codec_send(job.list, &count, sizeof count, e->stream, e->err) : make_mask(e, set);
}

/* make_sets of few values, which the host has: no kernel looks for them. */
static bool has_too_many(const encoding *e, uint64_t nliterals)
{
    return nliterals > floe_interp_literals_most(e->params, &e->chunk.plan, e->attempt);
}

static floe_status make_few_sets(encoding *e, const floe_interp_dev_found *found)
{
    uint64_t order[FLOE_INTERP_DEV_FEW];
    uint32_t list[FLOE_INTERP_SETS][1 + FLOE_INTERP_DEV_FEW] = {{0}}, npalette = 0;
    uint8_t values[FLOE_INTERP_DEV_FEW * sizeof(double)];
    for (uint32_t i = 0; i < e->napart; i++)
        order[i] = found->few[i].position << 32 | i;
    floe_sort64(order, e->napart, floe_by_number);
    if (e->params->has_fill)
        e->chunk.palette[npalette++] = e->params->fill_bits;
    for (uint32_t i = 0; i < e->napart; i++) {
        const floe_interp_dev_apart *v = &found->few[order[i] & UINT32_MAX];
        const uint32_t set = floe_interp_set_join(&e->chunk, e->params, v->pattern, &npalette);
        if (set == FLOE_INTERP_LITERALS)
            memcpy(values + list[set][0] * e->size, &v->pattern, e->size); /* little-endian wherever there is a GPU */
        list[set][++list[set][0]] = (uint32_t)v->position;
    }
    e->pack.record.raw = has_too_many(e, list[FLOE_INTERP_LITERALS][0]);
    if (e->pack.record.raw)
        return FLOE_OK;
    for (uint32_t s = 0; s < FLOE_INTERP_SETS; s++)
        if (list[s][0])
            FLOE_TRY(floe_codec_send(add_list(e, s, list[s][0]), list[s], (1 + list[s][0]) * sizeof *list[s], e->stream,
                                     e->err));
    e->pack.literals_nbytes = list[FLOE_INTERP_LITERALS][0] * e->size;
    return e->pack.literals_nbytes ? floe_codec_send(e->c->literals, values, e->pack.literals_nbytes, e->stream, e->err)
                                   : FLOE_OK;
}

static floe_status make_sets(encoding *e)
{
    unsigned long long counts[FLOE_INTERP_SETS] = {0};
    uint32_t npalette = 0;
    floe_interp_bits_job job;
    if (e->napart) {
        FLOE_TRY(find_palette(e, &npalette));
        job = bits_job(e);
        job.npalette = npalette;
        FLOE_TRY(bits_find(e, &job, FLOE_INTERP_BITS_COUNTS, counts, FLOE_INTERP_SETS));
    }
    e->pack.record.raw = has_too_many(e, counts[FLOE_INTERP_LITERALS]);
    for (uint32_t s = 0; s < FLOE_INTERP_SETS && !e->pack.record.raw; s++) {
        job = bits_job(e);
        job.npalette = npalette;
        job.set = s;
        job.to = e->c->s.bits[0];
        if (s == FLOE_INTERP_NEGATIVE && e->chunk.log)
            FLOE_TRY(bits_find(e, &job, FLOE_INTERP_BITS_NEGATIVE, &counts[s], 1));
        else if (counts[s])
            FLOE_TRY(bits_find(e, &job, FLOE_INTERP_BITS_PICK, NULL, 0));
        if (counts[s])
            FLOE_TRY(make_set(e, s, counts[s]));
    }
    return FLOE_OK;
}

/* ---- a chunk ------------------------------------------------------------------------------------------------------------- */

/* One pattern, the first, and sets of others. */
static floe_status make_flat(encoding *e)
{
    unsigned long long n;
    e->chunk.kind = FLOE_LATTICE_FLAT;
    FLOE_TRY(fetch_pattern(e, 0, &e->chunk.base));
    floe_interp_bits_job job = bits_job(e);
    job.to = e->c->apart;
    FLOE_TRY(bits_find(e, &job, FLOE_INTERP_BITS_FLAT, &n, 1));
    e->napart = n;
    return make_sets(e);
}

/* Entropy chunks of the grids that have been added since it was last called. */
static floe_status code_grids(encoding *e)
{
    const floe_interp_gpu_encode *c = e->c;
    const uint32_t first = e->ncoded, ngrids = e->pack.record.context.ngrids;
    floe_context_job job = e->pack.record.context;
    job.ngrids -= first;
    if (job.ngrids == 0 || e->pack.record.raw)
        return FLOE_OK;
    FLOE_CHECK(e->err, job.nchunks <= c->room.nchunks, FLOE_ERR_INTERNAL, "more entropy chunks than there is room for");
    if (e->nsent < ngrids)
        FLOE_TRY(send_grids(e));
    job.grids += first;
    job.tables += first * FLOE_CONTEXT_RUN;
    job.counts += first * FLOE_CONTEXT_COUNTS;
    job.bytes += first;
    job.done += first > 0;
    job.tickets += first;
    if (e->nwindows > c->room.windows)
        job.windows = NULL;
    FLOE_CUDA(e->err, floe_context_count_cuda(&job, e->stream));
    FLOE_CUDA(e->err, floe_context_tables_cuda(&job, e->stream));
    job.tickets += c->room.needs.nsteps + FLOE_INTERP_SETS;
    FLOE_CUDA(e->err, floe_context_encode_cuda(&job, e->stream));
    e->ncoded = ngrids;
    return FLOE_OK;
}

/* Codes of steps are coded while the host learns which values are apart. */
static floe_status code_values(encoding *e)
{
    floe_interp_dev_found found;
    static_assert(sizeof found <= FLOE_CUDA_FETCHED_NBYTES, "there is room for it");
    FLOE_TRY(encode_lattices(e));
    FLOE_TRY(floe_cuda_bring(&e->cuda, 0, e->c->found, sizeof found, e->err));
    FLOE_CUDA(e->err, cudaEventRecord(e->cuda.forked, e->stream));
    FLOE_TRY(code_grids(e));
    FLOE_CUDA(e->err, cudaEventSynchronize(e->cuda.forked));
    memcpy(&found, e->cuda.fetched, sizeof found);
    e->napart = found.napart;
    if (e->napart <= FLOE_INTERP_DEV_FEW && floe_interp_is_listed(e->ncells, e->napart) && !e->chunk.log)
        return make_few_sets(e, &found);
    return make_sets(e);
}

/* Header of the chunk, and of one that is stored raw. */
static floe_status send_headers(encoding *e, uint32_t *nbytes)
{
    uint8_t bytes[2 * FLOE_INTERP_HEADER_MOST] = {0};
    floe_cursor to = floe_cursor_of(bytes, FLOE_INTERP_HEADER_MOST),
                raw_to = floe_cursor_of(bytes + FLOE_INTERP_HEADER_MOST, FLOE_INTERP_HEADER_MOST);
    const floe_interp_chunk raw = {.kind = FLOE_LATTICE_RAW, .turns = e->chunk.turns};
    for (uint32_t i = 0; i < e->chunk.plan.nsteps; i++)
        e->chunk.plan.steps[i].tables = false; /* which kernels decide */
    floe_interp_header_write(&e->chunk, e->narrow, &to);
    floe_interp_header_write(&raw, e->narrow, &raw_to);
    *nbytes = (uint32_t)(to.at - bytes);
    return floe_codec_send(e->pack.header, bytes, sizeof bytes, e->stream, e->err);
}

static floe_status pack(encoding *e)
{
    const floe_interp_plan *p = &e->chunk.plan;
    floe_interp_pack_job *job = &e->pack;
    floe_codec_record_job *record = &job->record;
    FLOE_TRY(send_headers(e, &job->header_nbytes));
    job->nsteps = p->nsteps;
    job->step_nbytes = 3 + e->size;
    job->steps_at = job->header_nbytes - (job->nsteps * job->step_nbytes + 3) / 4 * 4; /* zeros follow them */
    for (uint32_t i = 0; i < p->nsteps; i++)
        job->checked[p->nsteps - 1 - i] = (uint8_t)p->steps[i].checked;
    if (e->chunk.kind == FLOE_LATTICE_CODED)
        job->anchors_nbytes = floe_lattice_points(floe_interp_anchors_shape(p)) * e->size;
    if (record->raw)
        record->context.ngrids = 0;
    record->most = floe_interp_raw_nbytes(e->ncells, e->narrow);
    record->least = floe_interp_least(FLOE_LATTICE_RANK, p->shape);
    record->raw_header = job->header + FLOE_INTERP_HEADER_MOST;
    record->raw_header_nbytes = FLOE_INTERP_HEADER_NBYTES;
    record->zeros = record->raw_header + FLOE_INTERP_HEADER_MOST / 2;
    record->size = e->size;
    record->values = e->check.values;
    memcpy(record->shape, p->shape, sizeof record->shape);
    record->nexceptions = e->napart;
    record->max_error = &e->c->found->max_error;
    record->max_pw_error = &e->c->found->max_pw_error;
    FLOE_CUDA(e->err, floe_interp_place_cuda(job, e->stream));
    FLOE_CUDA(e->err, floe_codec_record_cuda(record, e->stream));
    return FLOE_OK;
}

static floe_status begin_chunk(encoding *e, uint64_t index)
{
    const floe_field chunk = floe_codec_cut(e->call, index);
    const floe_interp_gpu_encode *c = e->c;
    e->cuda = *e->call->cuda;
    e->cuda.stream = e->stream;
    e->narrow = floe_dtype_is_narrow(chunk.dtype);
    e->size = (uint32_t)floe_dtype_size(chunk.dtype);
    e->chunk.turns = floe_lattice_turns_of(chunk.rank, chunk.shape);
    floe_lattice_shape_of(chunk.rank, chunk.shape, e->chunk.turns, e->chunk.plan.shape);
    e->check.values = floe_lattice_view_of(&chunk, e->chunk.turns);
    FLOE_TRY(floe_codec_turn_in(&e->check.values, c->turned, e->chunk.plan.shape, e->size, e->stream, e->err));
    memcpy(e->check.shape, e->chunk.plan.shape, sizeof e->check.shape);
    e->thinning = (floe_interp_gpu_thinning){&e->check, c->originals, c->anchors, e->stream, .narrow = e->narrow};
    e->thinning.early = e->call->mode != FLOE_BOUND_LOSSLESS && e->call->mode != FLOE_BOUND_PWREL;
    e->check.apart = c->apart;
    e->check.found = c->found;
    e->pack = c->pack;
    e->pack.record.context.status = e->call->status;
    e->pack.record.out = floe_codec_written_place(e->call, index);
    e->ncells = floe_lattice_points(e->chunk.plan.shape);
    FLOE_CUDA(e->err, cudaMemsetAsync(c->cleared, 0, c->cleared_nbytes, e->stream));
    return FLOE_OK;
}

static encoding encoding_of(const floe_codec_encode *call, floe_codec_known *known, void *stream, floe_error *err)
{
    const floe_interp_gpu_encode *c = (const void *)call->own.bytes;
    return (encoding){.c = c, .call = call, .params = &known->params, .known = known, .stream = stream, .err = err};
}

/* again: too many values are literals, so the chunk is to be coded once more. */
static floe_status try_chunk(const floe_codec_coding *c, floe_interp_attempt *attempt, bool *again)
{
    const floe_codec_params *found = c->call->params;
    encoding e = encoding_of(c->call, c->known, c->stream, c->err);
    e.attempt = *attempt;
    *again = false;
    e.check.has_fill = &found->has_fill;
    e.check.fill_at = &found->fill_bits;
    FLOE_TRY(begin_chunk(&e, c->index));
    FLOE_TRY(begin_values(&e));
    if (c->known->status != FLOE_OK)
        return FLOE_OK;
    if (e.params->mode == FLOE_BOUND_LOSSLESS) {
        FLOE_TRY(make_flat(&e));
    } else {
        FLOE_TRY(code_values(&e));
        *again = e.pack.record.raw && *attempt != FLOE_INTERP_CAUTIOUS && !e.params->mean;
        *attempt = floe_interp_attempt_after(e.params, &e.chunk.plan, *attempt);
    }
    if (*again)
        return FLOE_OK;
    FLOE_TRY(code_grids(&e));
    FLOE_TRY(floe_codec_turn(c));
    return pack(&e);
}

static floe_status encode_chunk(const floe_codec_coding *c)
{
    floe_interp_attempt attempt = FLOE_INTERP_USUAL;
    bool again = true;
    while (again)
        FLOE_TRY(try_chunk(c, &attempt, &again));
    return FLOE_OK;
}

floe_status floe_interp_gpu_encode_start(const floe_codec_encode *call, void *stream, floe_error *err)
{
    floe_codec_known known = {.there = false};
    const floe_codec_encoding each = {floe_interp_gpu_encoder_take, encode_chunk};
    return floe_codec_encode_all(call, &known, &each, NULL, stream, err);
}

static floe_status add_squares(const floe_codec_coding *c)
{
    encoding e = encoding_of(c->call, c->known, c->stream, c->err);
    floe_interp_dev_found found;
    e.check.squares = true;
    e.check.fill = floe_codec_fill_bits(e.params);
    FLOE_TRY(begin_chunk(&e, c->index));
    FLOE_TRY(begin_values(&e));
    FLOE_TRY(encode_lattices(&e));
    FLOE_TRY(floe_codec_fetch(&found, e.c->found, sizeof found, e.stream, e.err));
    return floe_codec_squares_add(c, found.squares);
}

floe_status floe_interp_gpu_squared_error(const floe_codec_encode *call, const floe_codec_params *params, double *sum,
                                          void *stream, floe_error *err)
{
    const floe_codec_encoding each = {floe_interp_gpu_encoder_take, add_squares};
    return floe_codec_squared_error(call, params, &each, sum, stream, err);
}

#endif
