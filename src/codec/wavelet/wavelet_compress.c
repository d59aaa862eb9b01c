/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A chunk -> bytes. The field becomes an array, that is transformed in place and quantized; then it is transformed back, as a decoder
 * will, and compared with the field: what misses the bound gets a correction, or is kept as it is. Threads share rows and entropy
 * chunks; no byte depends on them.
 */
#include <math.h>
#include <string.h>

#include "codec/chunks/codec_integers.h"
#include "codec/wavelet/wavelet_encoder.h"
#include "field/dtype_math.h"

typedef floe_wavelet_encoder encoder;

uint64_t floe_wavelet_bound(const floe_codec_params *params, uint32_t rank, const uint64_t *extent)
{
    uint64_t shape[FLOE_LATTICE_RANK];
    if (!floe_lattice_shape_of(rank, extent, 0, shape))
        return 0;
    return floe_wavelet_raw_nbytes(floe_lattice_points(shape), floe_dtype_is_narrow(params->dtype));
}

/* That of the encoder, and of trials of a part. */
static void take_scratch(encoder *e, encoder *trial, floe_arena *arena)
{
    uint64_t part[FLOE_LATTICE_RANK];
    floe_wavelet_trial_shape(e, true, part);
    floe_wavelet_encoder_begin(trial, e->cpu, e->params, FLOE_LATTICE_RANK, part, 0);
    e->entropy = floe_records_coder_take(e->cpu, true, 0, arena);
    e->entropy.sparse = true;
    floe_wavelet_encoder_take(e, false, arena);
    floe_wavelet_encoder_take(trial, true, arena);
    trial->entropy = e->entropy;
}

size_t floe_wavelet_workspace(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank,
                              const uint64_t *extent)
{
    encoder e, trial;
    floe_arena plan = floe_arena_plan();
    const floe_cpu limited = floe_lattice_cpu(cpu, 1, rank, extent);
    const floe_codec_params reals = floe_codec_real_params(params);
    if (!floe_wavelet_encoder_begin(&e, &limited, &reals, rank, extent, floe_lattice_turns_of(rank, extent)))
        return 0;
    take_scratch(&e, &trial, &plan);
    const uint64_t decoding = floe_wavelet_decode_workspace(cpu, reals.dtype, rank, extent),
                   most = plan.overflow || decoding == 0 ? 0 : floe_max64(plan.used, decoding);
    return floe_codec_integers_workspace(params, rank, extent, (size_t)most);
}

/* ---- tables ------------------------------------------------------------------------------------------------------------ */

/* Of steps, the coarsest first; those that are lists have none. */
static void make_tables(encoder *e)
{
    floe_wavelet_plan *p = &e->chunk.plan;
    const uint32_t n = (uint32_t)e->needs.nsteps;
    floe_records_sharing sharing = {
        .cpu = e->cpu, .tables = e->tables, .sum = e->counts + n * FLOE_CONTEXT_COUNTS, .ngrids = n, .root = n};
    for (uint32_t i = p->nsteps; i-- > 0;) {
        const floe_records r = floe_wavelet_records_of(e, i);
        uint32_t *own = e->counts + (uint64_t)i * FLOE_CONTEXT_COUNTS;
        floe_wavelet_records_bits(&e->entropy, &r, own, &e->listed[i]);
        p->steps[i].tables = !e->listed[i] && !floe_records_tables_share(&sharing, r.spec, own, i);
        e->tables_of[i] = sharing.root;
    }
}

/* ---- the chunk --------------------------------------------------------------------------------------------------------- */

/* Checks, of which one stands behind each part. */
typedef struct checks {
    uint8_t *at[FLOE_WAVELET_STEPS + 1];
    uint32_t n;
} checks;

static void leave_check(checks *c, const uint8_t *base, floe_cursor *to)
{
    floe_lattice_pad_write(to, base);
    c->at[c->n++] = floe_write_space(to, FLOE_WAVELET_CHECK_NBYTES);
}

/* All before them is written. */
static void make_checks(const checks *c, const uint8_t *base)
{
    uint64_t from = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const uint64_t at = (uint64_t)(c->at[i] - base);
        floe_store32(c->at[i], floe_ans_check_sum(base, from / 4, at / 4));
        from = at + FLOE_WAVELET_CHECK_NBYTES;
    }
}

/* What group j has of step i. */
static void write_run(const encoder *e, uint32_t i, uint32_t j, const uint8_t *base, floe_records_sizes *sizes,
                      floe_cursor *to)
{
    const floe_wavelet_plan *p = &e->chunk.plan;
    const floe_records all = floe_wavelet_records_of(e, i);
    const floe_wavelet_records_way way = {e->listed[i], &e->tables[e->tables_of[i]], p->steps[i].tables, base};
    const floe_wavelet_run run = floe_wavelet_run_of(p, i, j);
    const floe_records r = {all.spec, &run.grid,
                            (uint8_t *)all.data + run.record * floe_context_record_nbytes(all.spec)};
    if (i == j)
        floe_wavelet_records_begin(&all, &way, sizes, to);
    if (!e->listed[i] && floe_context_nchunks(&run.grid) && !to->bad)
        floe_records_encode(&e->entropy, &r, way.tables, sizes, to);
}

/* Groups of steps. False: sizes of some step are too long, which are wide then. */
static bool write_groups(const encoder *e, const uint8_t *base, floe_records_sizes *sizes, checks *c, floe_cursor *to)
{
    const uint32_t n = e->chunk.plan.nsteps;
    bool good = true;
    for (uint32_t j = n; j-- > 0;) {
        for (uint32_t i = n; i-- > j;)
            write_run(e, i, j, base, &sizes[i], to);
        leave_check(c, base, to);
    }
    for (uint32_t i = 0; i < n; i++) {
        good = good && !sizes[i].too_long;
        sizes[i] = (floe_records_sizes){.wide = sizes[i].wide || sizes[i].too_long};
    }
    return good;
}

static void write_steps(const encoder *e, const uint8_t *base, checks *c, floe_cursor *to)
{
    const uint64_t nbytes = floe_wavelet_anchors_nbytes(&e->chunk);
    floe_records_sizes sizes[FLOE_WAVELET_STEPS] = {{.wide = false}};
    uint8_t *anchors = floe_write_space(to, nbytes);
    if (anchors && nbytes)
        memcpy(anchors, e->chunk.anchors.bits, nbytes);
    leave_check(c, base, to);
    const floe_cursor begin = *to;
    while (!write_groups(e, base, sizes, c, to) && !to->bad) {
        *to = begin;
        c->n = 1;
    }
}

/* The header holds how marks are written, which is known behind them: it is written twice. */
static bool write_marked(encoder *e, uint8_t *dst, uint64_t capacity, uint64_t *nbytes)
{
    floe_cursor to = floe_cursor_of(dst, (size_t)capacity), front = to;
    checks c = {.n = 0};
    if (!floe_wavelet_marks_sort(e))
        return false;
    floe_wavelet_header_write(&e->chunk, e->narrow, &to);
    if (e->chunk.kind == FLOE_LATTICE_CODED)
        write_steps(e, dst, &c, &to);
    floe_wavelet_marks_write(e, dst, &to);
    if (to.bad)
        return false;
    floe_wavelet_header_write(&e->chunk, e->narrow, &front);
    make_checks(&c, dst);
    *nbytes = (uint64_t)(to.at - dst);
    return true;
}

static floe_status store(const floe_chunk_encode *c, floe_error *err)
{
    const floe_wavelet_chunk raw = {.kind = FLOE_LATTICE_RAW,
                                    .turns = floe_lattice_turns_of(c->chunk->rank, c->chunk->shape)};
    uint8_t header[FLOE_WAVELET_HEADER_NBYTES];
    floe_cursor to = floe_cursor_of(header, sizeof header);
    floe_wavelet_header_write(&raw, floe_dtype_is_narrow(c->params->dtype), &to);
    return floe_codec_store(c, header, sizeof header, floe_wavelet_least(c->chunk->rank, c->chunk->shape), err);
}

static floe_status begin(encoder *e, encoder *trial, floe_cpu *cpu, const floe_chunk_encode *c, floe_error *err)
{
    const floe_codec_params *params = c->params;
    const uint32_t turns = floe_lattice_turns_of(c->chunk->rank, c->chunk->shape);
    *cpu = floe_lattice_cpu(c->cpu, 1, c->chunk->rank, c->chunk->shape);
    FLOE_CHECK(err, floe_wavelet_encoder_begin(e, cpu, params, c->chunk->rank, c->chunk->shape, turns),
               FLOE_ERR_ARGUMENT, "a chunk of no cells, or of more than codec wavelet takes");
    e->values = floe_lattice_view_of(c->chunk, turns);
    take_scratch(e, trial, c->scratch);
    FLOE_CHECK(err, !c->scratch->overflow && c->scratch->base, FLOE_ERR_MEMORY,
               "the workspace is too small for a chunk of %llu values", (unsigned long long)e->ncells);
    return FLOE_OK;
}

/* All but the tables. False where the values are better kept as they are. */
static bool code(encoder *e, encoder *trial)
{
    e->chunk.log = e->params->mode == FLOE_BOUND_PWREL;
    e->bound = floe_codec_domain_bound(e->params);
    floe_wavelet_array_take(e);
    floe_wavelet_tune(e, trial);
    floe_wavelet_plan_make(e, &e->structure);
    floe_wavelet_array_forward(e);
    if (!floe_wavelet_array_code(e))
        return false;
    floe_wavelet_array_back(e);
    floe_wavelet_array_check(e);
    e->has_kinds = e->has_kinds || e->found.nliterals;
    floe_wavelet_chunk_shorten(&e->chunk, e->params->preset, e->found.ncorrections);
    return true;
}

/* One pattern, the first, and marks for others. */
static void make_flat(encoder *e)
{
    const uint64_t n = e->chunk.plan.shape[3];
    e->chunk.kind = FLOE_LATTICE_FLAT;
    e->has_kinds = true;
    e->chunk.base = floe_wavelet_pattern_at(e, 0);
    memset(e->marks[FLOE_WAVELET_CORRECTIONS], 0, e->nmarks);
    memset(e->marks[FLOE_WAVELET_VALUE_KINDS], 0, e->nmarks);
    for (uint64_t i = 0; i < e->ncells; i++)
        if (floe_wavelet_pattern_at(e, i) != e->chunk.base)
            e->marks[FLOE_WAVELET_VALUE_KINDS][i / n * e->row + floe_wavelet_mark(i % n)] = FLOE_WAVELET_LITERAL;
}

floe_status floe_wavelet_compress(const floe_chunk_encode *c, floe_error *err)
{
    encoder e, trial;
    floe_cpu cpu;
    if (floe_dtype_is_integer(c->params->dtype))
        return floe_codec_integers_encode(c, floe_wavelet_compress, store, err);
    const uint64_t raw = floe_wavelet_bound(c->params, c->chunk->rank, c->chunk->shape),
                   room = floe_min64(raw, c->capacity);
    FLOE_TRY(begin(&e, &trial, &cpu, c, err));
    bool good = true;
    if (c->params->mode == FLOE_BOUND_LOSSLESS)
        make_flat(&e);
    else if ((good = code(&e, &trial)))
        make_tables(&e);
    *c->stats = (floe_chunk_stats){e.found.nliterals, e.found.max_error, e.found.max_pw_error};
    if (!good || !write_marked(&e, c->dst, room, c->nbytes))
        return store(c, err);
    return floe_codec_pad(c, floe_wavelet_least(c->chunk->rank, c->chunk->shape), err);
}

floe_status floe_wavelet_squared_error(const floe_chunk_encode *c, double *sum, floe_error *err)
{
    encoder e, trial;
    floe_cpu cpu;
    *sum = 0;
    if (floe_dtype_is_integer(c->params->dtype))
        return floe_codec_integers_squared_error(c, floe_wavelet_compress, floe_wavelet_decompress, sum, err);
    if (c->params->mode == FLOE_BOUND_LOSSLESS)
        return FLOE_OK;
    FLOE_TRY(begin(&e, &trial, &cpu, c, err));
    e.squares = true;
    if (!code(&e, &trial))
        return FLOE_OK;
    const double unit = e.params->bound / 1024;
    *sum = (double)e.found.squares * unit * unit;
    return FLOE_OK;
}
