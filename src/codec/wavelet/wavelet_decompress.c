/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes -> the box of a chunk that is wanted. The whole array is decoded, step by step; what is wanted of it leaves it. */
#include <string.h>

#include "codec/wavelet/wavelet_chunk.h"
#include "codec/wavelet/wavelet_layout.h"
#include "codec/wavelet/wavelet_records.h"
#include "field/dtype_math.h"
#include "stage/wavelet/wavelet_values.h"

typedef struct decoder {
    const floe_chunk_decode *call;
    const floe_wavelet_value_ops *ops;
    floe_interp_entropy entropy;
    floe_wavelet_needs needs;
    floe_wavelet_chunk chunk;
    floe_wavelet_bands bands;
    floe_interp_view out;
    bool narrow;
    size_t size;
    uint64_t ncells, row, nmarks, lo[FLOE_INTERP_RANK], hi[FLOE_INTERP_RANK]; /* the box, by the plan's axes */
    uint8_t *records;
    int8_t *marks[FLOE_WAVELET_MARK_SETS];
    floe_context_tables *tables; /* of a step, then those of marks */
} decoder;

static bool begin_decoder(decoder *d, const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    *d = (decoder){.ops = floe_wavelet_value_ops_of(dtype, cpu->isa), .narrow = floe_dtype_is_narrow(dtype)};
    d->size = floe_dtype_size(dtype);
    if (!floe_interp_shape_of(rank, extent, d->chunk.plan.shape))
        return false;
    d->ncells = floe_interp_points(d->chunk.plan.shape);
    d->row = floe_wavelet_marks_row(d->chunk.plan.shape);
    d->nmarks = floe_wavelet_marks_nbytes(d->chunk.plan.shape);
    d->bands = (floe_wavelet_bands){.cpu = cpu, .ops = floe_wavelet_ops_of(dtype, cpu->isa), .size = d->size};
    floe_wavelet_needs_of(d->chunk.plan.shape, &d->needs);
    return true;
}

static void take_scratch(decoder *d, floe_arena *arena)
{
    d->entropy = floe_interp_entropy_take(d->bands.cpu, false, 0, arena);
    d->entropy.sparse = true;
    d->bands.plan = &d->chunk.plan;
    d->bands.array = floe_arena_take(arena, d->ncells, d->size);
    d->bands.lines = floe_arena_take(arena, floe_wavelet_line_reals(d->bands.cpu, d->chunk.plan.shape), d->size);
    d->records = floe_arena_take(arena, d->needs.step_records, 1);
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++)
        d->marks[s] = floe_arena_take(arena, d->nmarks, 1);
    d->tables = floe_arena_take(arena, 1, sizeof *d->tables);
}

size_t floe_wavelet_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    decoder d;
    floe_arena plan = floe_arena_plan();
    if (!begin_decoder(&d, cpu, dtype, rank, extent))
        return 0;
    take_scratch(&d, &plan);
    return plan.overflow ? 0 : plan.used;
}

/* ---- steps ------------------------------------------------------------------------------------------------------------- */

/* Means of the lattice below step `until`, at the front of the array; 0: the array. */
static floe_status decode_steps(decoder *d, uint32_t until, floe_reader *from, floe_error *err)
{
    const floe_wavelet_plan *p = &d->chunk.plan;
    const uint64_t nbits = floe_interp_points(floe_wavelet_anchors(p)) * d->chunk.anchors.nbits;
    d->chunk.anchors.bits = floe_read_bytes(from, floe_ceil_div(nbits, 8));
    FLOE_CHECK(err, d->chunk.anchors.bits, FLOE_ERR_FORMAT, "wavelet chunk: it ends within its anchors");
    floe_wavelet_anchors_decode(&d->bands, &d->chunk.anchors);
    *d->tables = (floe_context_tables){.nmasks = 0};
    for (uint32_t i = p->nsteps; i-- > until;) {
        const floe_interp_records r = {&p->steps[i].spec, &p->steps[i].grid, d->records};
        FLOE_CHECK(err, floe_wavelet_records_read(&d->entropy, &r, d->tables, d->call->src, from), FLOE_ERR_FORMAT,
                   "wavelet chunk: the codes of step %u are damaged", i);
        floe_wavelet_codes_do(&d->bands, i, d->records, NULL);
        floe_wavelet_step_do(&d->bands, i, true);
    }
    if (until == 0)
        floe_wavelet_packet_do(&d->bands, true);
    return FLOE_OK;
}

/* Beyond a row, and behind all rows, no mark counts. */
static floe_status read_marks(decoder *d, int set, floe_reader *from, floe_error *err)
{
    const floe_context_grid grid = floe_wavelet_marks_grid(d->chunk.plan.shape);
    const floe_interp_records r = {&floe_wavelet_marks_spec, &grid, d->marks[set]};
    *d->tables = (floe_context_tables){.nmasks = 0};
    FLOE_CHECK(err, !d->chunk.marked[set] || floe_wavelet_records_read(&d->entropy, &r, d->tables, d->call->src, from),
               FLOE_ERR_FORMAT, "wavelet chunk: marks %d are damaged", set);
    if (set == FLOE_WAVELET_VALUE_KINDS && d->chunk.differ)
        floe_wavelet_kinds_restore(d->chunk.plan.shape, d->marks[set]);
    return FLOE_OK;
}

/* ---- the field --------------------------------------------------------------------------------------------------------- */

/* Element of the output that a point of the box is; NULL outside of it. */
static uint8_t *place_of(const decoder *d, uint64_t position)
{
    const uint64_t *n = d->chunk.plan.shape;
    int64_t at = 0;
    for (uint32_t a = FLOE_INTERP_RANK; a-- > 0; position /= n[a]) {
        const uint64_t x = position % n[a];
        if (x < d->lo[a] || x >= d->hi[a])
            return NULL;
        at += (int64_t)(x - d->lo[a]) * d->out.stride[a];
    }
    return (uint8_t *)d->out.data + at * (int64_t)d->size;
}

static void put_pattern(const decoder *d, uint64_t position, uint64_t pattern)
{
    const uint32_t narrow = (uint32_t)pattern;
    uint8_t *to = place_of(d, position);
    if (to && d->narrow)
        memcpy(to, &narrow, sizeof narrow);
    else if (to)
        memcpy(to, &pattern, sizeof pattern);
}

static void give_task(void *arg, uint64_t i, uint32_t worker)
{
    const decoder *d = arg;
    const floe_wavelet_plan *p = &d->chunk.plan;
    const uint64_t rows = d->hi[2] - d->lo[2], planes = d->hi[1] - d->lo[1], *n = p->shape;
    const uint64_t at[] = {d->lo[0] + i / rows / planes, d->lo[1] + i / rows % planes, d->lo[2] + i % rows, d->lo[3]};
    const uint64_t row = (at[0] * n[1] + at[1]) * n[2] + at[2];
    floe_wavelet_row r = {.stride = d->out.stride[3], .x = at[3], .n = d->hi[3] - at[3], .log = d->chunk.log};
    (void)worker;
    r.field = place_of(d, row * n[3] + at[3]);
    r.array = d->bands.array + (row * n[3] + at[3]) * d->size;
    r.center = p->center;
    r.unit = p->unit;
    if (d->chunk.marked[FLOE_WAVELET_CORRECTIONS])
        r.corrections = d->marks[FLOE_WAVELET_CORRECTIONS] + row * d->row;
    if (d->chunk.marked[FLOE_WAVELET_VALUE_KINDS])
        r.kinds = d->marks[FLOE_WAVELET_VALUE_KINDS] + row * d->row;
    d->ops->give(&r);
}

/* Patterns and literals, over what the array gave. */
static floe_status place_kinds(const decoder *d, floe_reader *from, floe_error *err)
{
    const uint64_t *n = d->chunk.plan.shape, nrows = n[0] * n[1] * n[2];
    for (uint64_t row = 0; row < nrows; row++)
        for (uint64_t x = 0; x < n[3]; x++) {
            const int32_t kind = d->marks[FLOE_WAVELET_VALUE_KINDS][row * d->row + floe_wavelet_mark(x)];
            if (kind == FLOE_WAVELET_PLAIN || (kind == FLOE_WAVELET_NEGATIVE && d->chunk.log))
                continue;
            const uint32_t s = (uint32_t)kind - FLOE_WAVELET_PATTERN;
            FLOE_CHECK(err, kind == FLOE_WAVELET_LITERAL || s < d->chunk.npalette, FLOE_ERR_FORMAT,
                       "wavelet chunk: a value of no kind that there is");
            const uint64_t pattern = kind != FLOE_WAVELET_LITERAL ? d->chunk.palette[s]
                                     : d->narrow                  ? floe_read32(from)
                                                                  : floe_read64(from);
            FLOE_CHECK(err, !from->bad, FLOE_ERR_FORMAT, "wavelet chunk: it ends within its literals");
            put_pattern(d, row * n[3] + x, pattern);
        }
    return FLOE_OK;
}

/* All values of the box: as they stand in the chunk, or of one pattern. */
static void fill_box(const decoder *d)
{
    const uint8_t *at = (const uint8_t *)d->call->src + FLOE_WAVELET_HEADER_NBYTES;
    for (uint64_t i = 0; i < d->ncells; i++, at += d->size) {
        uint64_t pattern = d->chunk.base;
        if (d->chunk.kind == FLOE_WAVELET_RAW)
            pattern = d->narrow ? floe_load32(at) : floe_load64(at);
        put_pattern(d, i, pattern);
    }
}

static void set_box(decoder *d, const floe_chunk_decode *c)
{
    uint32_t axis[FLOE_MAX_RANK];
    floe_interp_axes_of(c->rank, c->extent, axis);
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        d->hi[a] = 1;
    d->out.data = c->out->data;
    for (uint32_t a = 0; a < c->rank; a++)
        if (axis[a] < FLOE_INTERP_RANK) {
            d->lo[axis[a]] = c->lo[a];
            d->hi[axis[a]] = c->hi[a];
            d->out.stride[axis[a]] = c->out->stride[a];
        }
}

static floe_status decode_chunk(decoder *d, floe_reader *from, floe_error *err)
{
    const uint64_t nrows = (d->hi[0] - d->lo[0]) * (d->hi[1] - d->lo[1]) * (d->hi[2] - d->lo[2]);
    if (d->chunk.kind == FLOE_WAVELET_CODED)
        FLOE_TRY(decode_steps(d, 0, from, err));
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++)
        FLOE_TRY(read_marks(d, s, from, err));
    if (d->chunk.kind == FLOE_WAVELET_CODED)
        floe_cpu_parallel(d->call->cpu, nrows, give_task, d);
    else
        fill_box(d);
    return d->chunk.marked[FLOE_WAVELET_VALUE_KINDS] ? place_kinds(d, from, err) : FLOE_OK;
}

floe_status floe_wavelet_decompress(const floe_chunk_decode *c, floe_error *err)
{
    decoder d;
    FLOE_CHECK(err, !floe_dtype_is_integer(c->dtype) && begin_decoder(&d, c->cpu, c->dtype, c->rank, c->extent),
               FLOE_ERR_FORMAT, "wavelet chunk: of what codec wavelet does not take");
    d.call = c;
    set_box(&d, c);
    take_scratch(&d, c->scratch);
    FLOE_CHECK(err, !c->scratch->overflow && c->scratch->base, FLOE_ERR_MEMORY,
               "the workspace is too small for a chunk of %llu values", (unsigned long long)d.ncells);
    floe_reader from = floe_reader_of(c->src, (size_t)c->nbytes);
    FLOE_CHECK(err, c->nbytes >= floe_wavelet_least(c->rank, c->extent), FLOE_ERR_FORMAT,
               "wavelet chunk: %llu bytes are too few", (unsigned long long)c->nbytes);
    FLOE_TRY(floe_wavelet_header_read(&d.chunk, d.narrow, &from, err));
    if (d.chunk.kind == FLOE_WAVELET_RAW) {
        FLOE_CHECK(err, c->nbytes >= floe_wavelet_raw_nbytes(d.ncells, d.narrow), FLOE_ERR_FORMAT,
                   "wavelet chunk: it ends within its values");
        fill_box(&d);
        return FLOE_OK;
    }
    FLOE_CHECK(err, floe_wavelet_is_within(&d.chunk, &d.needs), FLOE_ERR_FORMAT,
               "wavelet chunk: steps that no writer makes");
    return decode_chunk(&d, &from, err);
}
