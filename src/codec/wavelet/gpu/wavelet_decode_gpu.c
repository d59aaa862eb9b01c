/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks -> values: the host reads the header of a chunk, whose steps decide what is launched. Kernels check all else. A box is copied out of
 * the whole array. Of a level the array is as large as the lattice of the last step that is undone. */
#ifdef FLOE_HAVE_CUDA_BUILD

#include <cuda_runtime_api.h>
#include <string.h>

#include "backend/cuda.h"
#include "codec/wavelet/gpu/wavelet_codec_gpu.h"
#include "field/dtype_math.h"

enum {
    LEAST_CHUNK = 16,
    MANY_CHUNKS = 2048,
    CHUNKS_BESIDES = 64 /* a chunk has so many records, but for so many of a step's */
};

_Static_assert((int)FLOE_WAVELET_STEPS + (int)FLOE_WAVELET_MARK_SETS == (int)FLOE_WAVELET_DEV_GRIDS, "what is written");
_Static_assert((int)FLOE_WAVELET_PACKET < (int)FLOE_WAVELET_DEV_BANDS, "bands of a packet");

/* A chunk that is decoded. */
typedef struct decoding {
    const floe_wavelet_gpu_decode *c;
    const floe_codec_chunk *k;
    floe_lattice_output out;
    floe_wavelet_chunk chunk; /* its plan's shape: of the array */
    bool boxed; /* less than all is wanted: before each step these points, which need these of its cells */
    floe_lattice_box wanted[FLOE_WAVELET_STEPS + 1], cells[FLOE_WAVELET_STEPS];
    floe_wavelet_level level;
    uint32_t size, at; /* at: the buffer that has anchors */
    uint8_t *array;
    bool narrow;
    int8_t *marks[FLOE_WAVELET_MARK_SETS]; /* NULL: none are marked */
} decoding;

/* ---- sizes -------------------------------------------------------------------------------------------------------------- */

/* What a chunk of this shape, or its level, needs, if it is more. Returns its bytes of marks. */
static uint64_t room_widen(const floe_codec_decode *call, uint64_t *shape, floe_wavelet_gpu_decode *c)
{
    const uint64_t nsets = call->any ? FLOE_WAVELET_MARK_SETS : 0;
    floe_wavelet_needs needs;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK && !call->any; a++) /* the slowest axis may be the packet's, or frozen */
        shape[a] = floe_ceil_div(shape[a], (uint64_t)1 << (a == floe_lattice_slowest(shape) ? 0 : call->level));
    floe_wavelet_needs_of(shape, &needs);
    const floe_context_grid marks = floe_wavelet_marks_grid(shape, FLOE_WAVELET_SHORTER);
    const uint64_t nmarks = floe_wavelet_marks_nbytes(shape),
                   records = needs.records + 16 * (needs.nsteps + 1) + nsets * (nmarks + 16),
                   nchunks = needs.records / 16 / LEAST_CHUNK + (CHUNKS_BESIDES + 1) * (needs.nsteps + 1) +
                             nsets * (floe_context_nchunks(&marks) + 1);
    c->room.ncells = floe_max64(c->room.ncells, floe_lattice_points(shape));
    c->room.records = floe_max64(c->room.records, records);
    c->room.nchunks = floe_max64(c->room.nchunks, nchunks);
    return nmarks;
}

floe_status floe_wavelet_gpu_decode_plan(floe_codec_decode *call, floe_error *err)
{
    floe_wavelet_gpu_decode *c = (void *)call->own.bytes;
    uint64_t nmarks = 0;
    *c = (floe_wavelet_gpu_decode){.records = NULL};
    call->any = call->any || call->level == 0;
    call->nchunks = floe_codec_nchunks(call->rank, call->shape, call->chunk);
    if (call->nchunks == 0)
        return FLOE_OK;
    for (uint32_t turns = 0; turns < call->rank; turns++) {
        uint64_t shape[FLOE_LATTICE_RANK];
        if (!floe_codec_may_turn(turns, call->rank, call->chunk, call->nchunks))
            continue;
        FLOE_CHECK(err,
                   !floe_dtype_is_integer(call->dtype) && floe_lattice_shape_of(call->rank, call->chunk, turns, shape),
                   FLOE_ERR_LIMIT, "chunks of no cells, or of more than codec wavelet takes");
        nmarks = floe_max64(nmarks, room_widen(call, shape, c));
    }
    return floe_codec_ranks_plan(&c->ranks, floe_ceil_div(nmarks / 8, FLOE_WAVELET_DEV_BLOCK), err);
}

static void decoder_take(floe_codec_decode *call, floe_arena *a)
{
    floe_wavelet_gpu_decode *c = (void *)call->own.bytes;
    for (int i = 0; i < 2; i++)
        c->array[i] = floe_arena_take(a, c->room.ncells, floe_dtype_size(call->dtype));
    c->records = floe_arena_take(a, c->room.records, 1);
    c->open.grids = floe_arena_take(a, FLOE_WAVELET_DEV_GRIDS, sizeof *c->open.grids);
    c->open.runs = floe_arena_take(a, FLOE_WAVELET_DEV_RUNS, sizeof *c->open.runs);
    c->open.tables = floe_arena_take(a, FLOE_WAVELET_DEV_GRIDS + 1, sizeof *c->open.tables);
    c->tickets = floe_arena_take(a, FLOE_WAVELET_DEV_GRIDS, sizeof *c->tickets);
    c->open.places = floe_arena_take(a, 2 * c->room.nchunks, sizeof *c->open.places);
    c->turned =
        floe_codec_turned_take(a, call->dtype, call->rank, call->shape, call->chunk, call->any ? 0 : call->level);
    c->open.cursor = floe_arena_take(a, 1, sizeof *c->open.cursor);
    floe_codec_ranks_take(&c->ranks, a);
}

void floe_wavelet_gpu_decode_take(floe_codec_decode *call, floe_arena *a)
{
    floe_codec_decoders_take(call, decoder_take, a);
}

/* ---- records ------------------------------------------------------------------------------------------------------------ */

/* Grids of records: of steps, and behind them of marks. Those of either are decoded together: chunks are chains, which take as long side
 * by side. Those of marks, few codes in many rows, are the longest, and are not wanted before the array is there. */
typedef struct gathering {
    uint64_t nchunks, nbytes;
    floe_context_job steps, marks;
    floe_context_dev_grid grid[FLOE_WAVELET_DEV_GRIDS];
    uint32_t nruns;
    floe_wavelet_dev_run run[FLOE_WAVELET_DEV_RUNS];
} gathering;

/* box: what is wanted of it; NULL: all. False: more than there is room for. */
static bool add_grid(const decoding *d, gathering *g, floe_context_job *job, const floe_context_spec *spec,
                     const floe_context_grid *grid, const floe_context_box *box)
{
    floe_context_dev_grid *to = &g->grid[g->steps.ngrids + g->marks.ngrids];
    *to = floe_context_dev_grid_of(spec, grid, d->c->records + g->nbytes);
    to->first = (uint32_t)g->nchunks;
    to->boxed = box;
    to->box = box ? *box : to->box;
    g->nchunks += to->nchunks;
    g->nbytes += (floe_context_nrecords(grid) * floe_context_record_nbytes(spec) + 15) & ~(uint64_t)15;
    floe_context_job_add(job, to);
    return g->nchunks <= d->c->room.nchunks && g->nbytes <= d->c->room.records;
}

static bool add_run(gathering *g, const floe_wavelet_dev_run *run)
{
    if (g->nruns == FLOE_WAVELET_DEV_RUNS)
        return false;
    g->run[g->nruns++] = *run;
    return true;
}

static bool add_step(const decoding *d, gathering *g, uint32_t i)
{
    const floe_wavelet_coding *k = &d->chunk.plan.steps[i];
    floe_context_box box;
    if (d->boxed)
        box = floe_records_cells_box(&k->grid, &k->step, &d->cells[i]);
    return add_grid(d, g, &g->steps, &k->spec, &k->grid, d->boxed ? &box : NULL);
}

/* What group j has of step i. */
static bool add_step_run(const decoding *d, gathering *g, uint32_t i, uint32_t j)
{
    const floe_wavelet_plan *p = &d->chunk.plan;
    const floe_wavelet_run run = floe_wavelet_run_of(p, i, j), last = floe_wavelet_run_of(p, i, d->level.step);
    const floe_wavelet_dev_run dev = {
        p->nsteps - 1 - i,        (uint32_t)run.chunk, (uint32_t)run.end, (uint32_t)last.end, i == j,
        i == j && d->chunk.checks};
    return (i != j && run.chunk == run.end) || add_run(g, &dev);
}

/* What decodes grids number `first` on, which have been opened. */
static void set_job(const decoding *d, uint32_t first, floe_context_job *job)
{
    const floe_wavelet_gpu_decode *c = d->c;
    job->src = d->k->src;
    job->grids = c->open.grids + first;
    job->tables = c->open.tables;
    job->places = c->open.places;
    job->status = d->k->call->status;
    job->tickets = c->tickets + first;
    job->ans_begin = d->chunk.ans_begin;
    job->sparse = true;
}

/* They are at `at` of the payload. */
static floe_status open_grids(const decoding *d, gathering *g, uint64_t at)
{
    const floe_wavelet_gpu_decode *c = d->c;
    const uint32_t ngrids = g->steps.ngrids + g->marks.ngrids;
    floe_wavelet_open_job open = c->open;
    open.src = d->k->src;
    open.nbytes = d->k->nbytes;
    open.at = at;
    open.ngrids = ngrids;
    open.nsteps = g->steps.ngrids;
    open.nruns = g->nruns;
    open.status = d->k->call->status;
    set_job(d, 0, &g->steps);
    set_job(d, g->steps.ngrids, &g->marks);
    if (ngrids == 0)
        return FLOE_OK;
    FLOE_TRY(floe_codec_send(c->open.grids, g->grid, ngrids * sizeof *g->grid, d->k->stream, d->k->err));
    FLOE_TRY(floe_codec_send(c->open.runs, g->run, g->nruns * sizeof *g->run, d->k->stream, d->k->err));
    FLOE_CUDA(d->k->err, cudaMemsetAsync(c->records, 0, g->nbytes, d->k->stream));
    FLOE_CUDA(d->k->err, cudaMemsetAsync(c->tickets, 0, ngrids * sizeof *c->tickets, d->k->stream));
    FLOE_CUDA(d->k->err, cudaMemsetAsync(open.tables + ngrids, 0, sizeof *open.tables, d->k->stream));
    FLOE_CUDA(d->k->err, floe_wavelet_open_cuda(&open, d->k->stream));
    return FLOE_OK;
}

/* ---- the array ---------------------------------------------------------------------------------------------------------- */

/* Where the bands of a plan's packet begin along the slowest axis; returns how many. */
static uint32_t bands_of(const floe_wavelet_plan *plan, uint64_t begin[FLOE_WAVELET_DEV_BANDS])
{
    uint64_t n = plan->shape[floe_lattice_slowest(plan->shape)];
    begin[0] = 0;
    for (uint32_t level = 0; level < plan->packet; level++)
        begin[plan->packet - level] = n = (n + 1) / 2;
    return plan->packet + 1;
}

floe_wavelet_dev_codes floe_wavelet_gpu_codes(const floe_wavelet_plan *plan, uint32_t i, void *array, void *records)
{
    const floe_wavelet_coding *k = &plan->steps[i];
    floe_wavelet_dev_codes c = {.array = array, .step = k->step, .records = records};
    memcpy(c.shape, plan->shape, sizeof c.shape);
    c.nrecords = floe_context_nrecords(&k->grid);
    c.axis = floe_lattice_slowest(plan->shape);
    c.nbands = bands_of(plan, c.begin);
    for (uint32_t b = 0; b < c.nbands; b++)
        for (uint32_t class = 1; class < 1u << k->step.naxes; class ++)
            c.steps[b][class] =
                floe_wavelet_step_of(plan->base, (plan->packet ? plan->packet_exponent[b] : 0) + k->exponent[class]);
    for (int s = 0; s < FLOE_WAVELET_SHIFTS; s++)
        c.shift[s] = k->shift[s];
    return c;
}

floe_wavelet_anchors_job floe_wavelet_gpu_anchors(const floe_wavelet_plan *plan, void *array, void *to, bool narrow)
{
    floe_wavelet_anchors_job job = {.array = array, .to = to, .narrow = narrow};
    memcpy(job.shape, plan->shape, sizeof job.shape);
    memcpy(job.n, floe_wavelet_anchors(plan), sizeof job.n);
    job.axis = floe_lattice_slowest(plan->shape);
    job.nbands = bands_of(plan, job.begin);
    for (uint32_t b = 0; b < job.nbands; b++)
        job.step[b] =
            floe_wavelet_step_of(plan->base, (plan->packet ? plan->packet_exponent[b] : 0) + plan->anchor_exponent);
    return job;
}

/* They are at *at of the payload, which moves behind them. */
static floe_status unpack_anchors(const decoding *d, uint64_t *at)
{
    floe_wavelet_anchors_job job = floe_wavelet_gpu_anchors(&d->chunk.plan, NULL, d->c->array[d->at], d->narrow);
    job.src = d->k->src + *at;
    job.nbits = d->chunk.anchors.nbits;
    job.least = d->chunk.anchors.least;
    job.status = d->k->call->status;
    *at = floe_wavelet_check_end(d->chunk.checks, *at + floe_wavelet_anchors_nbytes(&d->chunk));
    if (*at > d->k->nbytes)
        return floe_codec_refuse(d->k, FLOE_ERR_FORMAT);
    FLOE_CUDA(d->k->err, floe_wavelet_anchors_cuda(&job, 1, FLOE_WAVELET_ANCHORS_UNPACK, d->k->stream));
    return FLOE_OK;
}

floe_status floe_wavelet_gpu_lift(floe_wavelet_gpu_turns *t, const floe_lattice_step *s, bool inverse)
{
    floe_wavelet_dev_lift l = {.array = {t->array[0], t->array[1]}, .step = *s, .bank = t->plan->bank};
    memcpy(l.shape, t->plan->shape, sizeof l.shape);
    l.one_sided = t->plan->one_sided;
    l.inverse = inverse;
    l.first = t->first;
    l.wanted = t->wanted;
    l.apart = t->apart;
    l.center = t->plan->center;
    l.status = t->status;
    t->first = NULL;
    FLOE_CUDA(t->err, FLOE_BY_REAL(t->size == sizeof(float), floe_wavelet_lift)(&l, &t->at, t->stream));
    return FLOE_OK;
}

/* Where k passes of a packet of n leave their means. Details, and all means in the end, lie in array[1], each in its place. What a pass
 * reads never overlaps with what it writes: of two passes and more the first reads half a buffer further on, across both, where array[1] is
 * not written yet. */
static uint8_t *packet_place(const floe_wavelet_gpu_turns *t, uint32_t k, uint32_t n)
{
    const uint64_t *shape = t->plan->shape, planes = shape[floe_lattice_slowest(shape)];
    const uint64_t nbytes = floe_lattice_points(shape) / planes * t->size;
    if (k == n)
        return t->array[n > 0];
    return t->array[0] + (n > 1 && k % 2 == 0 ? (planes + 1) / 2 * nbytes : 0);
}

static uint32_t count_passes(const floe_wavelet_plan *plan)
{
    floe_lattice_step s;
    uint32_t n = 0;
    while (floe_wavelet_packet_step(plan, n, &s))
        n++;
    return n;
}

static floe_status lift_pass(const floe_wavelet_gpu_turns *t, uint32_t k, uint32_t n, bool inverse)
{
    const uint32_t axis = floe_lattice_slowest(t->plan->shape);
    uint8_t *whole = packet_place(t, k, n), *means = packet_place(t, k + 1, n);
    floe_wavelet_gpu_turns pass = *t;
    floe_lattice_step s;
    floe_wavelet_packet_step(t->plan, k, &s);
    pass.at = 0;
    pass.array[inverse] = whole;
    pass.array[!inverse] = means;
    pass.apart =
        (uint64_t)(t->array[1] - means) / t->size + s.coarse[axis] * (floe_lattice_points(s.fine) / s.fine[axis]);
    return floe_wavelet_gpu_lift(&pass, &s, inverse);
}

floe_status floe_wavelet_gpu_lift_packet(floe_wavelet_gpu_turns *t)
{
    const uint32_t n = count_passes(t->plan);
    uint32_t k = 0;
    floe_lattice_step s;
    if (n > 1 && !t->first) { /* the array lies where the means are to be */
        floe_wavelet_packet_step(t->plan, k++, &s);
        FLOE_TRY(floe_wavelet_gpu_lift(t, &s, false));
        FLOE_CUDA(t->err, cudaMemcpyAsync(t->array[0], t->array[1], floe_lattice_points(s.coarse) * t->size,
                                          cudaMemcpyDeviceToDevice, t->stream));
    }
    for (; k < n; k++) {
        FLOE_TRY(lift_pass(t, k, n, false));
        t->first = NULL;
    }
    t->at = n > 0;
    return FLOE_OK;
}

floe_status floe_wavelet_gpu_undo_packet(const floe_wavelet_gpu_turns *t, uint32_t kept, uint8_t **array)
{
    const uint32_t n = count_passes(t->plan);
    FLOE_CHECK(t->err, n == 0 || t->at == 1, FLOE_ERR_INTERNAL, "the array is in the wrong buffer");
    for (uint32_t k = n; k-- > kept;)
        FLOE_TRY(lift_pass(t, k, n, true));
    *array = n ? packet_place(t, kept < n ? kept : n, n) : t->array[t->at];
    return FLOE_OK;
}

/* Of a level all is wanted. With a packet all of the slowest axis is: what a box needs of its bands lies apart. */
static void find_wanted(decoding *d)
{
    const floe_wavelet_plan *p = &d->chunk.plan;
    const floe_cpu cpu = {.threads = 1, .isa = FLOE_ISA_PLAIN};
    const floe_wavelet_bands b = floe_wavelet_bands_of(&cpu, d->k->call->dtype, p, d->c->array[0], NULL);
    const uint32_t slowest = floe_lattice_slowest(p->shape);
    d->boxed = d->k->call->level == 0 && floe_lattice_box_points(&d->out.box) < floe_lattice_points(p->shape);
    d->wanted[0] = d->out.box;
    if (p->packet) {
        d->wanted[0].lo[slowest] = 0;
        d->wanted[0].hi[slowest] = p->shape[slowest];
    }
    for (uint32_t i = 0; i < p->nsteps && d->boxed; i++)
        floe_wavelet_step_needed(&b, &p->steps[i].step, &d->wanted[i], &d->wanted[i + 1], &d->cells[i]);
}

/* Corrections of the box; all kinds, of which one may stand for those before it. */
static bool add_marks(decoding *d, gathering *g, int set)
{
    const uint64_t *n = d->chunk.plan.shape;
    const floe_context_grid grid = floe_wavelet_marks_grid(n, d->chunk.shorter[set]);
    const floe_context_box part = floe_wavelet_marks_box(&grid, n, &d->out.box);
    const uint32_t nchunks = (uint32_t)floe_context_nchunks(&grid);
    const floe_wavelet_dev_run all = {g->steps.ngrids + g->marks.ngrids, 0, nchunks, nchunks, true, false};
    d->marks[set] = d->chunk.marked[set] ? (int8_t *)d->c->records + g->nbytes : NULL;
    return !d->marks[set] || (add_grid(d, g, &g->marks, &floe_wavelet_marks_spec, &grid,
                                       set == FLOE_WAVELET_CORRECTIONS ? &part : NULL) &&
                              add_run(g, &all));
}

/* Steps from the coarsest one on, then marks. False: more than there is room for. */
static bool gather(decoding *d, gathering *g)
{
    const uint32_t n = d->chunk.kind == FLOE_LATTICE_CODED ? d->chunk.plan.nsteps : 0;
    bool good = true;
    for (uint32_t i = n; i-- > d->level.step && good;)
        good = add_step(d, g, i);
    for (uint32_t j = n; j-- > d->level.step;)
        for (uint32_t i = n; i-- > j && good;)
            good = add_step_run(d, g, i, j);
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS && good; s++)
        good = add_marks(d, g, s);
    return good;
}

static floe_status decode_steps(const decoding *d, const gathering *g)
{
    if (g->steps.ngrids)
        FLOE_CUDA(d->k->err, floe_context_decode_cuda(&g->steps, d->k->stream));
    return FLOE_OK;
}

/* Steps are decoded already. */
static floe_status lift_array(decoding *d, const gathering *g)
{
    const floe_wavelet_plan *p = &d->chunk.plan;
    floe_wavelet_gpu_turns turns = {
        p, {d->c->array[0], d->c->array[1]}, d->size, d->k->call->status, d->k->stream, d->k->err, d->at, NULL, NULL,
        0};
    for (uint32_t i = p->nsteps; i-- > d->level.step;) {
        floe_wavelet_dev_codes c =
            floe_wavelet_gpu_codes(p, i, d->c->array[turns.at], g->grid[p->nsteps - 1 - i].records);
        c.cells = d->boxed ? &d->cells[i] : NULL;
        turns.wanted = d->boxed ? &d->wanted[i] : NULL;
        c.status = d->k->call->status;
        FLOE_CUDA(d->k->err, FLOE_BY_REAL(d->narrow, floe_wavelet_decode_codes)(&c, 1, d->k->stream));
        FLOE_TRY(floe_wavelet_gpu_lift(&turns, &p->steps[i].step, true));
    }
    turns.wanted = d->boxed ? &d->wanted[0] : NULL;
    return floe_wavelet_gpu_undo_packet(&turns, d->level.kept, &d->array);
}

/* Marks beside steps, or, where these have enough entropy chunks for all processors, beside the passes behind them. */
static floe_status decode_both(decoding *d, const gathering *g)
{
    const floe_cuda *cuda = d->k->call->cuda;
    const uint64_t nchunks =
        d->boxed ? g->steps.nchunks * floe_lattice_box_points(&d->out.box) / floe_lattice_points(d->chunk.plan.shape)
                 : g->steps.nchunks;
    const bool coded = d->chunk.kind == FLOE_LATTICE_CODED, first = nchunks >= MANY_CHUNKS || !g->marks.ngrids;
    if (first)
        FLOE_TRY(decode_steps(d, g));
    if (g->marks.ngrids == 0)
        return coded ? lift_array(d, g) : FLOE_OK;
    FLOE_TRY(floe_cuda_fork(cuda, d->k->stream, d->k->err));
    floe_status status = first ? FLOE_OK : decode_steps(d, g);
    if (status == FLOE_OK)
        status =
            floe_cuda_status(floe_context_decode_cuda(&g->marks, cuda->side), "floe_context_decode_cuda", d->k->err);
    if (status == FLOE_OK && coded)
        status = lift_array(d, g);
    return floe_cuda_join(cuda, d->k->stream, status, d->k->err);
}

/* ---- values ------------------------------------------------------------------------------------------------------------- */

static floe_wavelet_kinds_job kinds_of(const decoding *d)
{
    const uint64_t *n = d->chunk.plan.shape;
    floe_wavelet_kinds_job job = {.values = d->out,
                                  .kinds = d->marks[FLOE_WAVELET_VALUE_KINDS],
                                  .nrecords = n[0] * n[1] * n[2] * floe_wavelet_marks_row(n) / 8,
                                  .apart = floe_wavelet_marks_apart(n),
                                  .nslowest = n[floe_lattice_slowest(n)],
                                  .log = d->chunk.log,
                                  .npalette = d->chunk.npalette,
                                  .tallies = d->c->ranks.tallies,
                                  .ranks = d->c->ranks.ranks,
                                  .src = d->k->src,
                                  .cursor = d->c->open.cursor,
                                  .nbytes = d->k->nbytes,
                                  .status = d->k->call->status};
    memcpy(job.shape, n, sizeof job.shape);
    memcpy(job.palette, d->chunk.palette, sizeof job.palette);
    return job;
}

static floe_status restore_kinds(const decoding *d)
{
    const floe_wavelet_kinds_job job = kinds_of(d);
    if (d->chunk.differ)
        FLOE_CUDA(d->k->err, floe_wavelet_kinds_cuda(&job, FLOE_WAVELET_KINDS_SUM, d->k->stream));
    return FLOE_OK;
}

static floe_status put_kinds(const decoding *d)
{
    const floe_wavelet_kinds_job job = kinds_of(d);
    const uint64_t nblocks = floe_ceil_div(job.nrecords, FLOE_WAVELET_DEV_BLOCK);
    if (!job.kinds)
        return FLOE_OK;
    FLOE_CUDA(d->k->err, floe_wavelet_kinds_cuda(&job, FLOE_WAVELET_KINDS_TALLY, d->k->stream));
    FLOE_TRY(floe_codec_ranks_find(&d->c->ranks, nblocks, d->k->stream, d->k->err));
    FLOE_CUDA(d->k->err, floe_wavelet_kinds_cuda(&job, FLOE_WAVELET_KINDS_PUT, d->k->stream));
    return FLOE_OK;
}

static floe_status give(const decoding *d)
{
    floe_wavelet_give_job job = {.array = d->array,
                                 .out = d->out,
                                 .kinds = d->marks[FLOE_WAVELET_VALUE_KINDS],
                                 .corrections = d->marks[FLOE_WAVELET_CORRECTIONS],
                                 .center = d->chunk.plan.center,
                                 .unit = d->chunk.plan.unit,
                                 .log = d->chunk.log,
                                 .limits = floe_wavelet_limits(&d->k->call->limits, d->k->call->level, d->chunk.log),
                                 .status = d->k->call->status};
    memcpy(job.array_shape, d->chunk.plan.shape, sizeof job.array_shape);
    memcpy(job.shift, d->level.shift, sizeof job.shift);
    FLOE_CUDA(d->k->err, FLOE_BY_REAL(d->narrow, floe_wavelet_give_box)(&job, d->k->stream));
    return FLOE_OK;
}

/* ---- a chunk ------------------------------------------------------------------------------------------------------------ */

/* The array of a level has the lattice of its last step. Marks stand behind all steps. False: more than there is room for. */
static bool cut_to_level(decoding *d)
{
    floe_wavelet_plan *p = &d->chunk.plan;
    uint64_t n[FLOE_LATTICE_RANK];
    d->level = floe_wavelet_level_of(p, d->k->call->level);
    if (d->k->call->level == 0)
        return true;
    memcpy(n, d->level.step < p->nsteps ? p->steps[d->level.step].step.fine : floe_wavelet_anchors(p), sizeof n);
    memcpy(p->shape, n, sizeof n);
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++)
        d->chunk.marked[s] = false;
    d->chunk.differ = false;
    return d->chunk.kind == FLOE_LATTICE_CODED && floe_lattice_points(n) <= d->c->room.ncells;
}

/* What the head, which ends at byte `at`, describes, to d->out. */
static floe_status decode_values(decoding *d, uint64_t at)
{
    const floe_codec_chunk *k = d->k;
    const uint64_t *shape = d->chunk.plan.shape;
    gathering g = {.nbytes = 0};
    if (d->chunk.kind == FLOE_LATTICE_RAW && k->call->level == 0) {
        if (k->nbytes < floe_wavelet_raw_nbytes(floe_lattice_points(shape), d->narrow))
            return floe_codec_refuse(k, FLOE_ERR_FORMAT);
        return floe_codec_fill(k, &d->out, shape, k->src + FLOE_WAVELET_HEADER_NBYTES, 0);
    }
    const bool coded = d->chunk.kind == FLOE_LATTICE_CODED;
    const bool fits = cut_to_level(d);
    d->at = d->chunk.plan.packet > 0; /* the buffer from which steps end where the packet begins */
    for (uint32_t i = d->level.step; i < d->chunk.plan.nsteps; i++)
        d->at ^= floe_wavelet_dev_passes(&d->chunk.plan.steps[i].step) % 2;
    find_wanted(d);
    if (!fits || !gather(d, &g))
        return floe_codec_refuse(k, FLOE_ERR_LIMIT); /* the CPU sees to it */
    if (coded)
        FLOE_TRY(unpack_anchors(d, &at));
    FLOE_TRY(open_grids(d, &g, at));
    FLOE_TRY(decode_both(d, &g));
    FLOE_TRY(restore_kinds(d));
    FLOE_TRY(coded ? give(d) : floe_codec_fill(k, &d->out, shape, NULL, d->chunk.base));
    return put_kinds(d);
}

static floe_status decode_chunk(const floe_codec_chunk *k)
{
    const floe_dtype dtype = k->call->dtype;
    decoding chunk = {.c = (const void *)k->call->own.bytes, .k = k}, *d = &chunk;
    static_assert((int)FLOE_WAVELET_HEADER_MOST <= (int)FLOE_CODEC_HEAD_NBYTES, "the host has the header");
    d->size = (uint32_t)floe_dtype_size(dtype);
    d->narrow = floe_dtype_is_narrow(dtype);
    if (!floe_lattice_turns_read(k->head, k->nbytes, FLOE_WAVELET_TURNS_AT, k->call->rank, k->extent,
                                 &d->chunk.turns) ||
        !floe_lattice_shape_of(k->call->rank, k->extent, d->chunk.turns, d->chunk.plan.shape) ||
        k->nbytes < floe_wavelet_least(k->call->rank, k->extent))
        return floe_codec_refuse(k, FLOE_ERR_FORMAT);
    d->out = floe_lattice_output_of(k->call->rank, k->extent, d->chunk.turns, k->lo, k->hi, &k->out, k->call->level);
    floe_reader from = floe_reader_of(k->head, (size_t)floe_min64(k->nbytes, FLOE_WAVELET_HEADER_MOST));
    if (floe_wavelet_header_read(&d->chunk, d->narrow, &from, NULL) != FLOE_OK)
        return floe_codec_refuse(k, FLOE_ERR_FORMAT);
    const floe_lattice_view field = d->out.view;
    d->out.view = floe_codec_turned_box(&d->out, d->c->turned);
    FLOE_TRY(decode_values(d, (uint64_t)(from.at - k->head)));
    return floe_codec_turn_out(k, &d->out, &field);
}

floe_status floe_wavelet_gpu_decode_start(const floe_codec_decode *call, void *stream, floe_error *err)
{
    return floe_codec_decode_all(call, decoder_take, decode_chunk, stream, err);
}

#endif
