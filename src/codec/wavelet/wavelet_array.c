/* SPDX-License-Identifier: BSD-3-Clause */
/* The array of a chunk that is being encoded: from the field to codes, and to what a decoder will make of them. */
#include <math.h>
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"
#include "field/dtype_math.h"

typedef floe_wavelet_encoder encoder;

bool floe_wavelet_encoder_shape(encoder *e, uint32_t rank, const uint64_t *extent, uint32_t turns)
{
    uint64_t *shape = e->chunk.plan.shape;
    e->chunk.turns = turns;
    if (!floe_lattice_shape_of(rank, extent, turns, shape))
        return false;
    e->ncells = floe_lattice_points(shape);
    e->row = floe_wavelet_marks_row(shape);
    e->nmarks = floe_wavelet_marks_nbytes(shape);
    floe_wavelet_needs_of(shape, &e->needs);
    return true;
}

bool floe_wavelet_encoder_begin(encoder *e, const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank,
                                const uint64_t *extent, uint32_t turns)
{
    *e = (encoder){.cpu = cpu, .params = params, .ops = floe_wavelet_value_ops_of(params->dtype, cpu->isa)};
    e->narrow = floe_dtype_is_narrow(params->dtype);
    e->size = floe_dtype_size(params->dtype);
    return floe_wavelet_encoder_shape(e, rank, extent, turns);
}

void floe_wavelet_encoder_take(encoder *e, bool trial, floe_arena *arena)
{
    void *array = floe_arena_take_dense(arena, e->ncells, e->size);
    void *lines = floe_arena_take(arena, floe_wavelet_line_reals(e->cpu, e->chunk.plan.shape), e->size);
    e->bands = floe_wavelet_bands_of(e->cpu, e->params->dtype, &e->chunk.plan, array, lines);
    e->kept = floe_arena_take_dense(arena, e->ncells + 64, e->size);
    e->records = floe_arena_take_dense(arena, floe_max64(e->needs.records, 2 * e->ncells + 64), 1);
    e->anchors = trial ? floe_arena_take(arena, e->ncells + 64, e->size) : e->kept;
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++)
        e->marks[s] = floe_arena_take(arena, e->nmarks, 1);
    e->back = trial ? floe_arena_take_dense(arena, e->ncells, e->size) : NULL;
    e->counts = floe_arena_take(arena, (e->needs.nsteps + 2) * FLOE_CONTEXT_COUNTS, sizeof *e->counts);
    e->tables = floe_arena_take(arena, e->needs.nsteps + 2, sizeof *e->tables);
    e->found_by = floe_arena_take(arena, e->cpu->threads, sizeof *e->found_by);
    e->means = floe_arena_take(arena, e->cpu->threads, sizeof *e->means);
}

/* ---- rows of the field ------------------------------------------------------------------------------------------------- */

void floe_wavelet_center_set(encoder *e, double min, double max)
{
    const double center = min <= max ? min / 2 + max / 2 : 0;
    e->chunk.plan.center = e->narrow ? (double)(float)center : center;
    e->max_abs = min <= max ? fmax(fabs(min), fabs(max)) : 0;
}

typedef void row_fn(const floe_wavelet_row *r, floe_wavelet_found *found);

typedef struct rows {
    encoder *e;
    row_fn *visit;
} rows;

static floe_wavelet_row row_of(const encoder *e, uint64_t row)
{
    const uint64_t *n = e->chunk.plan.shape;
    const int64_t first = floe_lattice_view_number(&e->values, n, row * n[3]);
    return (floe_wavelet_row){
        .field = (uint8_t *)e->values.data + first * (int64_t)e->size,
        .stride = e->values.stride[3],
        .array = e->bands.array + row * n[3] * e->size,
        .kinds = e->marks[FLOE_WAVELET_VALUE_KINDS] + row * e->row,
        .corrections = e->marks[FLOE_WAVELET_CORRECTIONS] + row * e->row,
        .n = n[3],
        .fill = floe_codec_fill_bits(e->params),
        .center = e->chunk.plan.center,
        .unit = e->chunk.plan.unit,
        .tolerance = floe_codec_tolerance(e->params),
        .log = e->chunk.log,
        .squares = e->squares,
        .trial = e->back,
    };
}

static const floe_wavelet_found found_nothing = {.min = INFINITY, .max = -INFINITY};

static void found_add(floe_wavelet_found *sum, const floe_wavelet_found *f)
{
    sum->min = fmin(sum->min, f->min);
    sum->max = fmax(sum->max, f->max);
    sum->max_error = fmax(sum->max_error, f->max_error);
    sum->max_pw_error = fmax(sum->max_pw_error, f->max_pw_error);
    sum->squares += f->squares;
    sum->ncorrections += f->ncorrections;
    sum->nliterals += f->nliterals;
}

enum { TASK_CELLS = 4096 };

static void rows_task(void *arg, uint64_t i, uint32_t worker)
{
    const rows *w = arg;
    const uint64_t *n = w->e->chunk.plan.shape, each = floe_ceil_div(TASK_CELLS, n[3]), nrows = n[0] * n[1] * n[2];
    floe_wavelet_found found = found_nothing; /* that of another worker may be in the same line of cache */
    for (uint64_t r = i * each; r < nrows && r < (i + 1) * each; r++) {
        const floe_wavelet_row row = row_of(w->e, r);
        w->visit(&row, &found);
    }
    found_add(&w->e->found_by[worker], &found);
}

static void visit_rows(encoder *e, row_fn *visit)
{
    const uint64_t *n = e->chunk.plan.shape;
    rows w = {e, visit};
    for (uint32_t k = 0; k < e->cpu->threads; k++)
        e->found_by[k] = found_nothing;
    floe_cpu_parallel(e->cpu, floe_ceil_div(n[0] * n[1] * n[2], floe_ceil_div(TASK_CELLS, n[3])), rows_task, &w);
    e->found = found_nothing;
    for (uint32_t k = 0; k < e->cpu->threads; k++)
        found_add(&e->found, &e->found_by[k]);
}

void floe_wavelet_array_take(encoder *e)
{
    floe_cpu_clear(e->cpu, e->marks[FLOE_WAVELET_VALUE_KINDS], e->nmarks);
    visit_rows(e, e->ops->take);
    floe_wavelet_center_set(e, e->found.min, e->found.max);
    e->has_kinds = e->chunk.log || e->found.nliterals;
    if (e->found.nliterals)
        floe_wavelet_array_fill(e);
    visit_rows(e, e->ops->shift);
}

void floe_wavelet_array_check(encoder *e)
{
    floe_cpu_clear(e->cpu, e->marks[FLOE_WAVELET_CORRECTIONS], e->nmarks);
    visit_rows(e, e->ops->check);
}

/* ---- codes ------------------------------------------------------------------------------------------------------------- */

/* What a code that is cut spoils grows with the step's lattice; what is won by the step shrinks with its points. */
uint64_t floe_wavelet_cuts_most(const encoder *e, uint32_t i)
{
    enum { POINTS = 512 /* of a step, for one */ };
    const uint64_t points = floe_lattice_points(e->chunk.plan.steps[i].step.fine);
    return points / POINTS / floe_ceil_div(e->ncells, points);
}

/* Whether too many codes are as large as they may be. */
static bool are_cut(const encoder *e, uint32_t i)
{
    const uint64_t n = floe_wavelet_records_nbytes(&e->chunk.plan.steps[i]) / sizeof(int16_t);
    const int16_t *codes = (const void *)e->records;
    uint64_t count = 0;
    floe_cpu_clear(e->cpu, e->records, n * sizeof *codes);
    memset(e->means, 0, e->cpu->threads * sizeof *e->means);
    floe_wavelet_codes_do(&e->bands, i, e->records, NULL, e->means);
    for (uint64_t k = 0; k < n; k++)
        count += codes[k] == FLOE_WAVELET_CODE_MOST || codes[k] == -FLOE_WAVELET_CODE_MOST;
    return count > floe_wavelet_cuts_most(e, i);
}

/* Lays the codes of step i, whose details are there. False where it must be left out. */
static bool lay_codes(encoder *e, uint32_t i)
{
    floe_wavelet_coding *c = &e->chunk.plan.steps[i];
    const double largest = floe_wavelet_largest(&e->bands, i);
    c->step.width = largest < 127 ? 1 : 2;
    floe_wavelet_coding_lay(c);
    return largest < FLOE_WAVELET_CODE_MOST || !are_cut(e, i);
}

void floe_wavelet_array_forward(encoder *e)
{
    floe_wavelet_plan *p = &e->chunk.plan;
    const uint32_t nsteps = p->nsteps;
    floe_lattice_step packet;
    for (uint32_t k = 0; floe_wavelet_packet_step(p, k, &packet); k++)
        floe_wavelet_step_do(&e->bands, &packet);
    for (uint32_t i = 0; i < nsteps; i++) {
        floe_wavelet_step_do(&e->bands, &p->steps[i].step);
        if (!lay_codes(e, i)) {
            floe_wavelet_step_undo(&e->bands, &p->steps[i].step, NULL);
            p->nsteps = i;
            break;
        }
    }
}

bool floe_wavelet_array_again(encoder *e)
{
    bool good = true;
    for (uint32_t i = 0; i < e->chunk.plan.nsteps && good; i++)
        good = lay_codes(e, i);
    return good;
}

static void set_shifts(encoder *e, floe_wavelet_coding *c)
{
    c->ncodes = 0;
    for (int k = 0; k < FLOE_WAVELET_SHIFTS; k++) {
        int64_t sum = 0;
        uint64_t count = 0;
        for (uint32_t w = 0; w < e->cpu->threads; w++) {
            sum += e->means[w].sum[k];
            count += e->means[w].count[k];
        }
        c->shift[k] = (int8_t)floe_wavelet_shift_of(sum, count);
        c->ncodes += count;
    }
}

void floe_wavelet_records_place(encoder *e)
{
    const floe_wavelet_plan *p = &e->chunk.plan;
    uint8_t *at = e->records;
    for (uint32_t i = 0; i < p->nsteps; i++) {
        e->records_of[i] = at;
        at += (floe_wavelet_records_nbytes(&p->steps[i]) + 15) & ~(uint64_t)15;
    }
}

bool floe_wavelet_array_code(encoder *e)
{
    floe_wavelet_plan *p = &e->chunk.plan;
    floe_wavelet_records_place(e);
    for (uint32_t i = 0; i < p->nsteps; i++) {
        floe_cpu_clear(e->cpu, e->records_of[i], floe_wavelet_records_nbytes(&p->steps[i]));
        memset(e->means, 0, e->cpu->threads * sizeof *e->means);
        floe_wavelet_codes_do(&e->bands, i, e->records_of[i], NULL, e->means);
        set_shifts(e, &p->steps[i]);
    }
    return floe_wavelet_anchors_encode(&e->bands, e->anchors, &e->chunk.anchors);
}

void floe_wavelet_array_back(encoder *e)
{
    const floe_wavelet_plan *p = &e->chunk.plan;
    for (uint32_t i = 0; i < p->nsteps; i++)
        floe_wavelet_codes_do(&e->bands, i, e->records_of[i], NULL, NULL);
    floe_wavelet_anchors_decode(&e->bands, &e->chunk.anchors);
    for (uint32_t i = p->nsteps; i-- > 0;)
        floe_wavelet_step_undo(&e->bands, &p->steps[i].step, NULL);
    floe_lattice_step packet;
    for (uint32_t k = p->packet; k-- > 0;)
        if (floe_wavelet_packet_step(p, k, &packet))
            floe_wavelet_step_undo(&e->bands, &packet, NULL);
}

/* ---- the plan ---------------------------------------------------------------------------------------------------------- */

void floe_wavelet_plan_make(encoder *e, const floe_wavelet_structure *s)
{
    const double most = e->narrow ? 0x1p126 : 0x1p1022, least = floe_lattice_least_step(e->narrow);
    double base = floe_wavelet_step_of(e->bound < most / 64 ? e->bound : most / 64, s->coarse);
    base = base > least ? base : least;
    floe_wavelet_plan_of(e->chunk.plan.shape, s, &e->chunk.plan);
    e->chunk.plan.unit = floe_lattice_quantizer_step(e->bound, e->max_abs, e->narrow);
    e->chunk.plan.base = e->narrow ? (double)(float)base : base;
}
