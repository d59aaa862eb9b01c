/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/chunks/codec_integers.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/try.h"
#include "stage/lattice/lattice.h"

static const int64_t exact_most = (int64_t)1 << 53; /* doubles have all integers up to here */

/* ---- integers to reals and back ---------------------------------------------------------------------------------------- */

enum { CELLS = 16384 /* of a task */ };

typedef struct work {
    const floe_field *integers;
    double *reals; /* contiguous */
    uint64_t ncells, fill_bits;
    bool has_fill;
    bool *inexact; /* of each task */
    double *sums;  /* of each task: squared errors */
} work;

/* Cells of a chunk, or of a level of it. */
static uint64_t cells(uint32_t rank, const uint64_t *extent, uint32_t level)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < rank; a++)
        if (!floe_mul64(n, floe_ceil_div(extent[a], (uint64_t)1 << level), &n))
            return UINT64_MAX / 2;
    return n;
}

static work work_take(uint32_t rank, const uint64_t *extent, uint32_t level, floe_arena *arena)
{
    work w = {.ncells = cells(rank, extent, level)};
    w.reals = floe_arena_take_dense(arena, w.ncells, sizeof *w.reals);
    w.inexact = floe_arena_take(arena, floe_ceil_div(w.ncells, CELLS), sizeof *w.inexact);
    w.sums = floe_arena_take(arena, floe_ceil_div(w.ncells, CELLS), sizeof *w.sums);
    return w;
}

static uint8_t *row_of(const work *w, uint64_t row)
{
    const floe_field *f = w->integers;
    int64_t at = 0;
    for (uint32_t a = f->rank - 1; a-- > 0; row /= f->shape[a])
        at += (int64_t)(row % f->shape[a]) * f->stride[a];
    return (uint8_t *)f->data + at * (int64_t)floe_dtype_size(f->dtype);
}

/* Of the integer that a real stands for. */
static uint64_t bits_of(const work *w, double real)
{
    return real == real ? floe_integer_bits(w->integers->dtype, real) : w->fill_bits;
}

/* What a task does with each value. */
typedef enum todo { LOAD, STORE, SUM } todo;

static void cells_task(const work *w, uint64_t task, todo what)
{
    const floe_field *f = w->integers;
    const uint64_t n = f->shape[f->rank - 1], size = floe_dtype_size(f->dtype);
    const uint64_t end = floe_min64((task + 1) * CELLS, w->ncells);
    const int64_t step = f->stride[f->rank - 1] * (int64_t)size;
    bool exact = true;
    double sum = 0;
    for (uint64_t cell = task * CELLS, next; cell < end; cell = next) {
        const uint64_t column = cell % n;
        uint8_t *at = row_of(w, cell / n) + (int64_t)column * step;
        double *real = w->reals + cell;
        next = floe_min64(cell + n - column, end);
        for (uint64_t i = cell; i < next; i++, at += step, real++) {
            const uint64_t bits = what == STORE ? 0 : floe_lattice_pattern_load(at, size);
            const int64_t v = floe_integer_of(f->dtype, bits);
            if (what == LOAD) {
                const bool is_fill = w->has_fill && bits == w->fill_bits;
                *real = is_fill ? floe_f64_of(FLOE_NAN64_BITS) : (double)v;
                exact = exact && (is_fill || (v >= -exact_most && v <= exact_most));
            } else if (what == STORE) {
                floe_lattice_pattern_store(at, size, bits_of(w, *real));
            } else {
                const double off = (double)floe_integer_distance(v, floe_integer_of(f->dtype, bits_of(w, *real)));
                sum += off * off;
            }
        }
    }
    w->inexact[task] = !exact;
    w->sums[task] = sum;
}

static void load_task(void *arg, uint64_t task, uint32_t worker)
{
    (void)worker;
    cells_task(arg, task, LOAD);
}

static void store_task(void *arg, uint64_t task, uint32_t worker)
{
    (void)worker;
    cells_task(arg, task, STORE);
}

static void sum_task(void *arg, uint64_t task, uint32_t worker)
{
    (void)worker;
    cells_task(arg, task, SUM);
}

/* Returns how many tasks there were. */
static uint64_t run(const floe_cpu *cpu, work *w, floe_task_fn body)
{
    const uint64_t n = floe_ceil_div(w->ncells, CELLS);
    floe_cpu_parallel(cpu, n, body, w);
    return n;
}

static bool load(const floe_cpu *cpu, const floe_codec_params *params, const floe_field *integers, work *w)
{
    w->integers = integers;
    w->has_fill = params->has_fill;
    w->fill_bits = params->fill_bits;
    return !memchr(w->inexact, true, run(cpu, w, load_task));
}

static floe_field reals_of(const work *w, uint32_t rank, const uint64_t *shape)
{
    const floe_field layout = floe_field_of(NULL, FLOE_F64, rank, shape);
    return floe_field_contiguous(w->reals, &layout);
}

/* ---- what codecs' functions do ----------------------------------------------------------------------------------------- */

size_t floe_codec_integers_workspace(const floe_codec_params *params, uint32_t rank, const uint64_t *extent,
                                     size_t nbytes)
{
    floe_arena plan = floe_arena_plan();
    if (nbytes == 0 || !floe_dtype_is_integer(params->dtype))
        return nbytes;
    work_take(rank, extent, 0, &plan);
    if (params->mean)
        floe_arena_take(&plan, floe_codec_of(params->codec)->bound(params, rank, extent), 1);
    floe_arena_take(&plan, nbytes, 1);
    return plan.overflow ? 0 : plan.used;
}

size_t floe_codec_integers_decode_workspace(floe_dtype dtype, uint32_t rank, const uint64_t *extent, uint32_t level,
                                            size_t nbytes)
{
    floe_arena plan = floe_arena_plan();
    if (nbytes == 0 || !floe_dtype_is_integer(dtype))
        return nbytes;
    work_take(rank, extent, level, &plan);
    floe_arena_take(&plan, nbytes, 1);
    return plan.overflow ? 0 : plan.used;
}

static floe_status check_scratch(const floe_arena *scratch, const work *w, floe_error *err)
{
    FLOE_CHECK(err, !scratch->overflow && scratch->base, FLOE_ERR_MEMORY,
               "the workspace is too small for %llu integers", (unsigned long long)w->ncells);
    return FLOE_OK;
}

/* CAPACITY: the chunk is to be stored. */
static floe_status encode_reals(const floe_chunk_encode *c, work *w, floe_codec_encode_fn encode, floe_error *err)
{
    const uint64_t raw = floe_codec_of(c->params->codec)->bound(c->params, c->chunk->rank, c->chunk->shape);
    const floe_codec_params params = floe_codec_real_params(c->params);
    const floe_field reals = reals_of(w, c->chunk->rank, c->chunk->shape);
    floe_chunk_encode coded = *c;
    coded.params = &params;
    coded.chunk = &reals;
    coded.capacity = floe_min64(c->capacity, raw - 1);
    return load(c->cpu, c->params, c->chunk, w) ? encode(&coded, err) : FLOE_ERR_CAPACITY;
}

floe_status floe_codec_integers_encode(const floe_chunk_encode *c, floe_codec_encode_fn encode,
                                       floe_codec_encode_fn store, floe_error *err)
{
    work w = work_take(c->chunk->rank, c->chunk->shape, 0, c->scratch);
    FLOE_TRY(check_scratch(c->scratch, &w, err));
    const floe_status status = encode_reals(c, &w, encode, err);
    if (status == FLOE_OK) /* as errors are rounded */
        c->stats->max_error = floor(c->stats->max_error + 0.5);
    return status == FLOE_ERR_CAPACITY ? store(c, err) : status;
}

floe_status floe_codec_store(const floe_chunk_encode *c, const uint8_t *header, uint64_t nbytes, uint64_t least,
                             floe_error *err)
{
    const uint64_t raw = floe_codec_of(c->params->codec)->bound(c->params, c->chunk->rank, c->chunk->shape);
    floe_cursor to = floe_cursor_of(c->dst, (size_t)c->capacity);
    FLOE_CHECK(err, c->capacity >= raw, FLOE_ERR_CAPACITY, "the chunk needs up to %llu bytes, there are %llu",
               (unsigned long long)raw, (unsigned long long)c->capacity);
    memcpy(floe_write_space(&to, nbytes), header, nbytes);
    floe_lattice_values_write(c->chunk, floe_lattice_turns_of(c->chunk->rank, c->chunk->shape), &to);
    *c->nbytes = (uint64_t)(to.at - (uint8_t *)c->dst);
    *c->stats = (floe_chunk_stats){.nexceptions = 0};
    return floe_codec_pad(c, least, err);
}

/* Boxes that are lost: reported when the integers are there, since whoever gets the report puts others in their place. */
typedef struct losing {
    uint64_t lo[FLOE_CODEC_LOST][FLOE_MAX_RANK], hi[FLOE_CODEC_LOST][FLOE_MAX_RANK];
    uint32_t rank, n;
} losing;

static void note_lost(void *user, const uint64_t *lo, const uint64_t *hi)
{
    losing *l = user;
    memcpy(l->lo[l->n], lo, l->rank * sizeof *lo);
    memcpy(l->hi[l->n++], hi, l->rank * sizeof *hi);
}

floe_status floe_codec_integers_decode(const floe_chunk_decode *c, bool stored, floe_codec_decode_fn decode,
                                       floe_error *err)
{
    floe_chunk_decode coded = *c;
    losing lost = {.rank = c->rank};
    if (stored) {
        floe_field out = *c->out;
        coded.dtype = out.dtype = floe_dtype_is_narrow(c->dtype) ? FLOE_F32 : FLOE_F64;
        coded.out = &out;
        return decode(&coded, err);
    }
    work w = work_take(c->out->rank, c->out->shape, 0, c->scratch);
    FLOE_TRY(check_scratch(c->scratch, &w, err));
    const floe_field reals = reals_of(&w, c->out->rank, c->out->shape);
    coded.dtype = FLOE_F64;
    coded.out = &reals;
    coded.lost = c->lost ? note_lost : NULL;
    coded.user = &lost;
    FLOE_TRY(decode(&coded, err));
    w.integers = c->out;
    w.fill_bits = c->fill_bits;
    run(c->cpu, &w, store_task);
    for (uint32_t i = 0; i < lost.n; i++)
        c->lost(c->user, lost.lo[i], lost.hi[i]);
    return FLOE_OK;
}

floe_status floe_codec_integers_squared_error(const floe_chunk_encode *c, floe_codec_encode_fn encode,
                                              floe_codec_decode_fn decode, double *sum, floe_error *err)
{
    const uint64_t zero[FLOE_MAX_RANK] = {0};
    floe_chunk_encode coded = *c;
    floe_chunk_stats stats;
    uint64_t nbytes;
    *sum = 0;
    if (c->params->mode == FLOE_BOUND_LOSSLESS)
        return FLOE_OK;
    work w = work_take(c->chunk->rank, c->chunk->shape, 0, c->scratch);
    coded.capacity = floe_codec_of(c->params->codec)->bound(c->params, c->chunk->rank, c->chunk->shape);
    coded.dst = floe_arena_take(c->scratch, coded.capacity, 1);
    coded.nbytes = &nbytes;
    coded.stats = &stats;
    FLOE_TRY(check_scratch(c->scratch, &w, err));
    floe_arena scratch = *c->scratch;
    coded.scratch = &scratch;
    const floe_status status = encode_reals(&coded, &w, encode, err);
    if (status != FLOE_OK) /* the chunk would be stored: it has no errors */
        return status == FLOE_ERR_CAPACITY ? FLOE_OK : status;
    const floe_field reals = reals_of(&w, c->chunk->rank, c->chunk->shape);
    scratch = *c->scratch;
    const floe_chunk_decode back = {.cpu = c->cpu,
                                    .codec = c->params->codec,
                                    .dtype = FLOE_F64,
                                    .rank = c->chunk->rank,
                                    .extent = c->chunk->shape,
                                    .src = coded.dst,
                                    .nbytes = nbytes,
                                    .lo = zero,
                                    .hi = c->chunk->shape,
                                    .out = &reals,
                                    .scratch = &scratch};
    FLOE_TRY(decode(&back, err));
    const uint64_t n = run(c->cpu, &w, sum_task);
    for (uint64_t i = 0; i < n; i++)
        *sum += w.sums[i];
    return FLOE_OK;
}

bool floe_codec_real_boxes_of(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_arena *arena,
                              floe_codec_real_boxes *reals)
{
    bool exact = true;
    reals->params = floe_codec_real_params(boxes->params);
    reals->boxes = *boxes;
    reals->boxes.params = &reals->params;
    for (uint32_t i = 0; i < boxes->n; i++) {
        const floe_field box = floe_codec_box(boxes, i);
        work w = work_take(boxes->rank, boxes->extent, 0, arena);
        const floe_field to = reals_of(&w, boxes->rank, boxes->extent);
        if (i == 0) {
            reals->boxes.data = w.reals;
            memcpy(reals->boxes.stride, to.stride, sizeof to.stride);
        }
        if (arena->overflow || !arena->base)
            continue;
        reals->boxes.at[i] = w.reals - (const double *)reals->boxes.data;
        exact = load(cpu, boxes->params, &box, &w) && exact;
    }
    return exact;
}
