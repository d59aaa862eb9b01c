/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chunk -> bytes. Originals are thinned to the coarsest lattice; from there each step predicts and quantizes what lies between;
 * then all records are counted, tables are made, and entropy chunks written, the coarsest first. Values that the lattice does not
 * give are named in sets. Threads share tiles and entropy chunks; no byte depends on them.
 */
#include "codec/chunks/codec_integers.h"
#include "codec/interp/interp_encoder.h"
#include "field/dtype_math.h"

typedef floe_interp_encoder encoder;

/* ---- sizes ------------------------------------------------------------------------------------------------------------- */

uint64_t floe_interp_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    uint64_t shape[FLOE_LATTICE_RANK];
    if (!floe_lattice_shape_of(rank, extent, 0, shape))
        return 0;
    return floe_interp_raw_nbytes(floe_lattice_points(shape), floe_dtype_is_narrow(params->dtype));
}

/* That of the encoder, and of trials of a part. */
static void take_scratch(encoder *e, encoder *trial, floe_arena *arena)
{
    uint64_t part[FLOE_LATTICE_RANK];
    floe_interp_trial_shape(e, part);
    floe_interp_encoder_begin(trial, e->cpu, e->params, FLOE_LATTICE_RANK, part, 0);
    floe_interp_encoder_take(e, arena);
    floe_interp_trials_take(e, trial, arena);
}

size_t floe_interp_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank,
                             const uint64_t *extent)
{
    encoder e, trial;
    floe_arena plan = floe_arena_plan();
    const floe_cpu limited = floe_lattice_cpu(cpu, 1, rank, extent);
    const floe_codec_params reals = floe_codec_real_params(params);
    if (!floe_interp_encoder_begin(&e, &limited, &reals, rank, extent, floe_lattice_turns_of(rank, extent)))
        return 0;
    take_scratch(&e, &trial, &plan);
    const size_t decoding = floe_interp_decode_workspace(cpu, reals.dtype, rank, extent);
    const bool good = !plan.overflow && decoding > 0;
    return floe_codec_integers_workspace(params, rank, extent, good ? floe_max64(plan.used, decoding) : 0);
}

/* Of steps, the coarsest first. */
static void make_tables(encoder *e)
{
    floe_interp_plan *p = &e->chunk.plan;
    uint32_t *sum = e->counts + (uint64_t)p->nsteps * FLOE_CONTEXT_COUNTS;
    floe_records_sharing sharing = {
        .cpu = e->cpu, .tables = e->tables, .sum = sum, .ngrids = p->nsteps, .root = p->nsteps};
    for (uint32_t i = p->nsteps; i-- > 0;) {
        const floe_records r = floe_interp_records_of(e, i);
        uint32_t *own = e->counts + (uint64_t)i * FLOE_CONTEXT_COUNTS;
        floe_records_count(&e->entropy, &r, 1, own);
        p->steps[i].tables = !floe_records_tables_share(&sharing, r.spec, own, i);
        e->tables_of[i] = sharing.root;
    }
}

/* ---- the chunk --------------------------------------------------------------------------------------------------------- */

/* Tables, sizes, checks, which end the head, and entropy chunks. False where a size takes more than 2 bytes. */
static bool write_steps(encoder *e, const uint8_t *base, floe_cursor *to, uint64_t *head_nbytes)
{
    const floe_interp_plan *p = &e->chunk.plan;
    uint64_t nchunks = 0, nchecks = 0;
    for (uint32_t i = p->nsteps; i-- > 0;) {
        nchunks += p->steps[i].nchunks;
        nchecks += floe_interp_nchecks(&p->steps[i]);
        if (p->steps[i].tables)
            floe_records_tables_write(&p->steps[i].spec, &e->tables[i], to);
    }
    floe_records_sizes sizes = {.wide = e->chunk.wide_sizes};
    sizes.at = floe_write_space(to, nchunks * floe_interp_size_nbytes(&e->chunk));
    sizes.checks = floe_write_space(to, 2 * nchecks);
    floe_lattice_pad_write(to, base);
    *head_nbytes = (uint64_t)(to->at - base);
    for (uint32_t i = p->nsteps; i-- > 0 && !to->bad;) {
        const floe_records r = floe_interp_records_of(e, i);
        sizes.checked = p->steps[i].checked;
        floe_records_encode(&e->entropy, &r, &e->tables[e->tables_of[i]], &sizes, to);
    }
    return !sizes.too_long;
}

/* What is found while it is written stands in the header, too, so that is written again. */
static bool write_coded(encoder *e, uint64_t napart, uint8_t *dst, uint64_t capacity, floe_chunk_stats *stats,
                        uint64_t *nbytes)
{
    floe_cursor to = floe_cursor_of(dst, (size_t)capacity), header = to;
    uint64_t head_nbytes;
    floe_interp_header_write(&e->chunk, e->narrow, &to);
    if (e->chunk.kind == FLOE_LATTICE_CODED)
        floe_write_bytes(&to, e->anchors, floe_lattice_points(floe_interp_anchors_shape(&e->chunk.plan)) * e->size);
    const uint8_t *apart = to.at;
    floe_interp_apart_write(e, &to);
    e->chunk.apart_nbytes = (uint64_t)(to.at - apart);
    const floe_cursor steps = to;
    e->chunk.wide_sizes = !write_steps(e, dst, &to, &head_nbytes);
    if (e->chunk.wide_sizes && !to.bad) {
        to = steps;
        write_steps(e, dst, &to, &head_nbytes);
    }
    if (to.bad)
        return false;
    floe_interp_header_write(&e->chunk, e->narrow, &header);
    floe_store32(dst + 4 * FLOE_INTERP_CHECK_WORD, floe_interp_head_check(dst, head_nbytes));
    *nbytes = (uint64_t)(to.at - dst);
    floe_interp_found found;
    floe_interp_found_gather(e, &found);
    *stats = (floe_chunk_stats){napart, found.max_error, found.max_pw_error};
    return true;
}

static floe_status store(const floe_chunk_encode *c, floe_error *err)
{
    const floe_interp_chunk raw = {.kind = FLOE_LATTICE_RAW,
                                   .turns = floe_lattice_turns_of(c->chunk->rank, c->chunk->shape)};
    uint8_t header[FLOE_INTERP_HEADER_NBYTES];
    floe_cursor to = floe_cursor_of(header, sizeof header);
    floe_interp_header_write(&raw, floe_dtype_is_narrow(c->params->dtype), &to);
    return floe_codec_store(c, header, sizeof header, floe_interp_least(c->chunk->rank, c->chunk->shape), err);
}

static floe_status begin(encoder *e, encoder *trial, floe_cpu *cpu, const floe_chunk_encode *c, floe_error *err)
{
    const floe_codec_params *params = c->params;
    const uint32_t turns = floe_lattice_turns_of(c->chunk->rank, c->chunk->shape);
    *cpu = floe_lattice_cpu(c->cpu, 1, c->chunk->rank, c->chunk->shape);
    FLOE_CHECK(err, floe_interp_encoder_begin(e, cpu, params, c->chunk->rank, c->chunk->shape, turns),
               FLOE_ERR_ARGUMENT, "a chunk of no cells, or of more than codec interp takes");
    e->values = floe_lattice_view_of(c->chunk, turns);
    take_scratch(e, trial, c->scratch);
    FLOE_CHECK(err, !c->scratch->overflow && c->scratch->base, FLOE_ERR_MEMORY,
               "the workspace is too small for a chunk of %llu values", (unsigned long long)e->ncells);
    return FLOE_OK;
}

/* Codes the values, and again where too many are literals; but not for a PSNR, whose bound comes of the errors of the first time. Returns
 * whether few enough are. */
static bool code(encoder *e, encoder *trial, uint64_t *napart)
{
    for (;;) {
        floe_interp_choose(e, trial);
        floe_interp_lattices_code(e);
        if (floe_interp_apart_find(e, napart))
            return true;
        if (e->attempt == FLOE_INTERP_CAUTIOUS || e->params->mean)
            return false;
        e->attempt = floe_interp_attempt_after(e->params, &e->chunk.plan, e->attempt);
    }
}

floe_status floe_interp_compress(const floe_chunk_encode *c, floe_error *err)
{
    encoder e, trial;
    floe_cpu cpu;
    uint64_t napart;
    bool few = true;
    if (floe_dtype_is_integer(c->params->dtype))
        return floe_codec_integers_encode(c, floe_interp_compress, store, err);
    FLOE_TRY(begin(&e, &trial, &cpu, c, err));
    const uint64_t room = floe_min64(floe_interp_bound(c->params, c->chunk->rank, c->chunk->shape), c->capacity);
    if (c->params->mode == FLOE_BOUND_LOSSLESS) {
        floe_interp_flat_make(&e);
        few = floe_interp_apart_find(&e, &napart);
    } else if ((few = code(&e, &trial, &napart))) {
        make_tables(&e);
    }
    if (!few || !write_coded(&e, napart, c->dst, room, c->stats, c->nbytes))
        return store(c, err);
    return floe_codec_pad(c, floe_interp_least(c->chunk->rank, c->chunk->shape), err);
}

floe_status floe_interp_squared_error(const floe_chunk_encode *c, double *sum, floe_error *err)
{
    encoder e, trial;
    floe_cpu cpu;
    floe_interp_found found;
    *sum = 0;
    if (floe_dtype_is_integer(c->params->dtype))
        return floe_codec_integers_squared_error(c, floe_interp_compress, floe_interp_decompress, sum, err);
    if (c->params->mode == FLOE_BOUND_LOSSLESS)
        return FLOE_OK;
    FLOE_TRY(begin(&e, &trial, &cpu, c, err));
    e.squares = true;
    floe_interp_choose(&e, &trial);
    floe_interp_lattices_code(&e);
    floe_interp_found_gather(&e, &found);
    const double unit = e.params->bound / 1024;
    *sum = (double)found.squares * unit * unit;
    return FLOE_OK;
}

/* ---- a sample ---------------------------------------------------------------------------------------------------------- */

size_t floe_interp_estimate_workspace(const floe_cpu *cpu, const floe_codec_boxes *boxes)
{
    encoder e, trial;
    floe_codec_real_boxes reals;
    floe_arena plan = floe_arena_plan();
    if (floe_dtype_is_integer(boxes->params->dtype)) {
        floe_codec_real_boxes_of(cpu, boxes, &plan, &reals);
        boxes = &reals.boxes;
    }
    const floe_cpu limited = floe_lattice_cpu(cpu, boxes->n, boxes->rank, boxes->extent);
    floe_interp_estimate_begin(&limited, boxes, &e, &trial);
    floe_interp_trials_take(&e, &trial, &plan);
    return plan.used;
}

floe_status floe_interp_estimate(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_arena *scratch, double *bits,
                                 floe_error *err)
{
    const floe_cpu limited = floe_lattice_cpu(cpu, boxes->n, boxes->rank, boxes->extent);
    encoder e, trial;
    floe_codec_real_boxes reals;
    if (floe_dtype_is_integer(boxes->params->dtype)) {
        if (!floe_codec_real_boxes_of(cpu, boxes, scratch, &reals)) {
            *bits = 8 * sizeof(double); /* chunks are stored */
            return FLOE_OK;
        }
        boxes = &reals.boxes;
    }
    floe_interp_estimate_begin(&limited, boxes, &e, &trial);
    floe_interp_trials_take(&e, &trial, scratch);
    FLOE_CHECK(err, !scratch->overflow && scratch->base, FLOE_ERR_MEMORY, "the workspace is too small for a sample");
    *bits = floe_interp_price(&e, &trial);
    return FLOE_OK;
}
