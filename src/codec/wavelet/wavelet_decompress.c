/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes -> the box of a chunk that is wanted, of all values or those of a level: of each step the entropy chunks and points that the
 * finer one needs. The array is that of the level; what nothing needs of it is not touched. */
#include <string.h>

#include "codec/chunks/codec_integers.h"
#include "codec/wavelet/wavelet_chunk.h"
#include "codec/wavelet/wavelet_layout.h"
#include "codec/wavelet/wavelet_records.h"
#include "field/dtype_math.h"
#include "stage/lattice/lattice.h"
#include "stage/wavelet/wavelet_values.h"

typedef struct decoder {
    const floe_chunk_decode *call;
    const floe_wavelet_value_ops *ops;
    floe_records_coder entropy;
    floe_wavelet_chunk chunk;
    floe_wavelet_bands bands;
    floe_lattice_output out;
    bool narrow;
    size_t size;
    uint64_t ncells, row, nmarks;
    floe_wavelet_level level;
    uint64_t array[FLOE_LATTICE_RANK]; /* shape */
    uint8_t *records;
    floe_lattice_box marks_of[FLOE_WAVELET_MARK_SETS];
    int8_t *marks[FLOE_WAVELET_MARK_SETS]; /* in the place of the records, once the array is there */
    floe_context_tables *tables;           /* of a step, then those of marks */
    floe_wavelet_places places;
} decoder;

/* The chunk's shape is known. */
static void begin_decoder(decoder *d, const floe_cpu *cpu, floe_dtype dtype)
{
    d->ops = floe_wavelet_value_ops_of(dtype, cpu->isa);
    d->narrow = floe_dtype_is_narrow(dtype);
    d->size = floe_dtype_size(dtype);
    d->ncells = floe_lattice_points(d->chunk.plan.shape);
    d->row = floe_wavelet_marks_row(d->chunk.plan.shape);
    d->nmarks = floe_wavelet_marks_nbytes(d->chunk.plan.shape);
    d->bands = floe_wavelet_bands_of(cpu, dtype, &d->chunk.plan, NULL, NULL);
    d->bands.shape = d->array;
    memcpy(d->array, d->chunk.plan.shape, sizeof d->array);
}

/* records: bytes of those of a step, or of marks. */
static void take_scratch(decoder *d, uint64_t records, floe_arena *arena)
{
    d->entropy = floe_records_coder_take(d->bands.cpu, false, 0, arena);
    d->entropy.sparse = true;
    d->bands.array = floe_arena_take_dense(arena, floe_lattice_points(d->array), d->size);
    d->bands.lines = floe_arena_take(arena, floe_wavelet_line_reals(d->bands.cpu, d->array), d->size);
    d->records = floe_arena_take_dense(arena, records, 1);
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS && d->records; s++)
        d->marks[s] = (int8_t *)d->records + (uint64_t)s * d->nmarks;
    d->tables = floe_arena_take(arena, 1, sizeof *d->tables);
}

size_t floe_wavelet_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    const uint32_t turns[] = {0, floe_lattice_turns_of(rank, extent)}; /* older chunks have none */
    const floe_cpu limited = floe_lattice_cpu(cpu, 1, rank, extent);
    size_t most = 0;
    for (int i = 0; i < 1 + (turns[1] > 0); i++) {
        decoder d = {.call = NULL};
        floe_wavelet_needs needs;
        floe_arena plan = floe_arena_plan();
        if (!floe_lattice_shape_of(rank, extent, turns[i], d.chunk.plan.shape))
            return 0;
        begin_decoder(&d, &limited, floe_codec_real(dtype));
        floe_wavelet_needs_of(d.chunk.plan.shape, &needs);
        take_scratch(&d, floe_max64(needs.step_records, FLOE_WAVELET_MARK_SETS * d.nmarks), &plan);
        if (plan.overflow)
            return 0;
        most = plan.used > most ? plan.used : most;
    }
    return floe_codec_integers_decode_workspace(dtype, rank, extent, 0, most);
}

/* Marks stand behind all steps, and for all values. Returns the bytes of the records that the level takes. */
static uint64_t set_level(decoder *d, uint32_t level)
{
    const floe_wavelet_plan *p = &d->chunk.plan;
    const bool coded = d->chunk.kind == FLOE_LATTICE_CODED;
    uint64_t records = 0;
    floe_lattice_step packet;
    d->level = floe_wavelet_level_of(p, level);
    for (uint32_t i = d->level.step; i < p->nsteps; i++)
        records = floe_max64(records, floe_wavelet_records_nbytes(&p->steps[i]));
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++) {
        d->chunk.marked[s] = d->chunk.marked[s] && !(coded && level);
        if (d->chunk.marked[s])
            records = floe_max64(records, FLOE_WAVELET_MARK_SETS * d->nmarks);
    }
    if (d->level.step)
        memcpy(d->array, p->steps[d->level.step - 1].step.coarse, sizeof d->array);
    if (d->level.kept && floe_wavelet_packet_step(p, d->level.kept - 1, &packet))
        d->array[packet.axis[0]] = packet.coarse[packet.axis[0]];
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK && !coded; a++)
        d->array[a] = 1;
    return records;
}

size_t floe_wavelet_decode_scratch(const floe_chunk_decode *c)
{
    decoder d = {.call = c};
    uint64_t at;
    floe_arena plan = floe_arena_plan();
    const floe_cpu cpu = floe_lattice_cpu(c->cpu, 1, c->rank, c->extent);
    if (floe_wavelet_head_read(c, c->nbytes, &d.chunk, &at, NULL) != FLOE_OK || d.chunk.kind == FLOE_LATTICE_RAW)
        return 0;
    begin_decoder(&d, &cpu, floe_codec_real(c->dtype));
    take_scratch(&d, set_level(&d, c->level), &plan);
    return floe_codec_integers_decode_workspace(c->dtype, c->rank, c->extent, c->level, plan.overflow ? 0 : plan.used);
}

/* ---- steps ------------------------------------------------------------------------------------------------------------- */

/* Ranges along the slowest axis, which fall: with a packet its bands lie apart. */
typedef struct rows {
    uint32_t count;
    uint64_t lo[FLOE_WAVELET_PACKET + 1], hi[FLOE_WAVELET_PACKET + 1];
} rows;

static void add_rows(rows *r, uint64_t lo, uint64_t hi)
{
    const bool touches = r->count && r->lo[r->count - 1] == hi;
    r->count += !touches;
    r->lo[r->count - 1] = lo;
    r->hi[r->count - 1] = touches ? r->hi[r->count - 1] : hi;
}

/* What group j has of the records r of step i, of these boxes. */
static bool decode_run(const decoder *d, uint32_t i, uint32_t j, const floe_records *r, const floe_context_box *parts,
                       uint32_t nparts)
{
    const floe_wavelet_run run = floe_wavelet_run_of(&d->chunk.plan, i, j);
    floe_records_stream stream = d->places.streams[i];
    const floe_records some = {r->spec, &run.grid,
                               (uint8_t *)r->data + run.record * floe_context_record_nbytes(r->spec)};
    bool good = true;
    if (!stream.sizes || run.chunk == run.end)
        return true;
    stream.sizes += run.chunk * (stream.wide ? 4 : 2);
    stream.src = (const uint8_t *)d->call->src + d->places.runs[i][run.kept];
    stream.nbytes = floe_records_sizes_add(stream.sizes, stream.wide, run.end - run.chunk);
    for (uint32_t k = 0; k < nparts && good; k++) {
        const floe_context_box box = floe_wavelet_run_box(&run, &parts[k]);
        good = floe_records_decode(&d->entropy, &some, &stream, &box);
    }
    return good;
}

/* Step i, for a box of what is wanted of it in each of the ranges. */
static bool decode_step(decoder *d, uint32_t i, const floe_lattice_box *wanted, const rows *ranges)
{
    const floe_wavelet_coding *c = &d->chunk.plan.steps[i];
    const floe_records r = {&c->spec, &c->grid, d->records};
    const uint32_t axis = floe_lattice_slowest(d->chunk.plan.shape);
    const uint64_t head = d->places.head[i];
    floe_reader from = floe_reader_of((const uint8_t *)d->call->src + head, (size_t)(d->call->nbytes - head));
    floe_lattice_box means, box[FLOE_WAVELET_PACKET + 1], cells[FLOE_WAVELET_PACKET + 1];
    floe_context_box parts[FLOE_WAVELET_PACKET + 1];
    for (uint32_t k = 0; k < ranges->count; k++) {
        box[k] = *wanted;
        if (d->chunk.plan.packet) {
            box[k].lo[axis] = ranges->lo[k];
            box[k].hi[axis] = ranges->hi[k];
        }
        floe_wavelet_step_needed(&d->bands, &c->step, &box[k], &means, &cells[k]);
        parts[k] = floe_records_cells_box(&c->grid, &c->step, &cells[k]);
    }
    const floe_wavelet_records_wanted records = {d->tables, d->call->src, parts, ranges->count, d->chunk.ans_begin};
    bool good = floe_wavelet_records_open(&d->entropy, &r, &records, &d->places.streams[i], &from);
    for (uint32_t j = i + 1; j-- > d->level.step && good;)
        good = decode_run(d, i, j, &r, parts, ranges->count);
    for (uint32_t k = 0; k < ranges->count && good; k++) {
        floe_wavelet_codes_do(&d->bands, i, d->records, &cells[k], NULL);
        floe_wavelet_step_undo(&d->bands, &c->step, &box[k]);
    }
    return good;
}

/* Of bytes from `begin` to `end`, where a check ends. Of a whole chunk another check has held. */
static floe_status check(const decoder *d, uint64_t begin, uint64_t end, floe_error *err)
{
    const uint8_t *src = d->call->src;
    const uint64_t at = end - FLOE_WAVELET_CHECK_NBYTES;
    FLOE_CHECK(
        err, !d->chunk.checks || !d->call->level || floe_ans_check_sum(src, begin / 4, at / 4) == floe_load32(src + at),
        FLOE_ERR_CHECKSUM, "wavelet chunk: a part of it is damaged");
    return FLOE_OK;
}

/* Anchors, and where steps are. */
static floe_status open_parts(decoder *d, floe_reader *from, floe_error *err)
{
    const uint8_t *src = d->call->src;
    d->chunk.anchors.bits = floe_read_bytes(from, floe_wavelet_anchors_nbytes(&d->chunk));
    FLOE_CHECK(err, d->chunk.anchors.bits, FLOE_ERR_FORMAT, "wavelet chunk: it ends within its anchors");
    const uint64_t at = (uint64_t)(from->at - src);
    uint64_t begin = floe_wavelet_check_end(d->chunk.checks, at);
    const uint64_t end = floe_wavelet_places_find(&d->chunk, d->level.step, src, begin, d->call->nbytes, &d->places);
    FLOE_CHECK(err, floe_read_bytes(from, end - at), FLOE_ERR_FORMAT, "wavelet chunk: it ends within its parts");
    FLOE_TRY(check(d, 0, begin, err));
    for (uint32_t j = d->chunk.plan.nsteps; j-- > d->level.step; begin = d->places.end[j])
        FLOE_TRY(check(d, begin, d->places.end[j], err));
    floe_wavelet_anchors_decode(&d->bands, &d->chunk.anchors);
    return FLOE_OK;
}

/* Of the level's lattice the points between the first and the last one of the box. */
static floe_status decode_steps(decoder *d, floe_reader *from, floe_error *err)
{
    const floe_wavelet_plan *p = &d->chunk.plan;
    const floe_wavelet_level *level = &d->level;
    floe_lattice_box wanted[FLOE_WAVELET_STEPS + 1], packet[FLOE_WAVELET_PACKET + 1], cells;
    floe_lattice_box *last = &wanted[level->step];
    floe_lattice_step s;
    rows ranges = {.count = 0};
    uint32_t k = level->kept;
    FLOE_TRY(open_parts(d, from, err));
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        last->lo[a] = d->out.box.lo[a] << level->shift[a];
        last->hi[a] = ((d->out.box.hi[a] - 1) << level->shift[a]) + 1;
    }
    packet[k] = *last;
    for (; floe_wavelet_packet_step(p, k, &s); k++) {
        const uint32_t a = s.axis[0];
        floe_wavelet_step_needed(&d->bands, &s, &packet[k], &packet[k + 1], &cells);
        add_rows(&ranges, s.coarse[a] + cells.lo[a], floe_min64(s.coarse[a] + cells.hi[a], s.fine[a]));
    }
    add_rows(&ranges, packet[k].lo[floe_lattice_slowest(p->shape)], packet[k].hi[floe_lattice_slowest(p->shape)]);
    for (uint32_t i = level->step; i < p->nsteps; i++)
        floe_wavelet_step_needed(&d->bands, &p->steps[i].step, &wanted[i], &wanted[i + 1], &cells);
    *d->tables = (floe_context_tables){.ntables = {0}};
    for (uint32_t i = p->nsteps; i-- > level->step;)
        FLOE_CHECK(err, decode_step(d, i, &wanted[i], &ranges), FLOE_ERR_FORMAT,
                   "wavelet chunk: the codes of step %u are damaged", i);
    while (k-- > level->kept && floe_wavelet_packet_step(p, k, &s))
        floe_wavelet_step_undo(&d->bands, &s, &packet[k]);
    return FLOE_OK;
}

/* Points whose marks the box needs: its own; of kinds that are differences those before, too; of kinds with literals, which are counted,
 * all. Behind the records r of kinds there is nothing else. */
static floe_lattice_box marks_box(const decoder *d, int set, const floe_records *r, const floe_reader *from)
{
    const uint64_t *n = d->chunk.plan.shape, at = (uint64_t)(from->at - (const uint8_t *)d->call->src);
    const bool kinds = set == FLOE_WAVELET_VALUE_KINDS;
    floe_lattice_box box = floe_wavelet_whole(n);
    if (kinds && floe_wavelet_records_end(r, d->call->src, at, d->call->nbytes) + d->size <= d->call->nbytes)
        return box;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        box.lo[a] = kinds && d->chunk.differ && a == floe_lattice_slowest(n) ? 0 : d->out.box.lo[a] << d->call->level;
        box.hi[a] = ((d->out.box.hi[a] - 1) << d->call->level) + 1;
    }
    return box;
}

/* Beyond a row, and behind all rows, no mark counts. */
static floe_status read_marks(decoder *d, int set, floe_reader *from, floe_error *err)
{
    const uint64_t *n = d->chunk.plan.shape;
    const floe_context_grid grid = floe_wavelet_marks_grid(n, d->chunk.shorter[set]);
    const floe_records r = {&floe_wavelet_marks_spec, &grid, d->marks[set]};
    if (!d->chunk.marked[set])
        return FLOE_OK;
    const floe_lattice_box *box = &d->marks_of[set];
    d->marks_of[set] = marks_box(d, set, &r, from);
    const floe_context_box part = floe_wavelet_marks_box(&grid, n, box);
    const floe_wavelet_records_wanted wanted = {d->tables, d->call->src, &part, 1, d->chunk.ans_begin};
    floe_records_stream stream;
    *d->tables = (floe_context_tables){.ntables = {0}};
    bool good = floe_wavelet_records_open(&d->entropy, &r, &wanted, &stream, from);
    if (good && stream.sizes)
        good = floe_records_stream_take(&stream, floe_context_nchunks(&grid), from) &&
               floe_records_decode(&d->entropy, &r, &stream, &part);
    FLOE_CHECK(err, good, FLOE_ERR_FORMAT, "wavelet chunk: marks %d are damaged", set);
    if (set == FLOE_WAVELET_VALUE_KINDS && d->chunk.differ)
        floe_wavelet_kinds_restore(n, box, d->marks[set]);
    return FLOE_OK;
}

/* ---- the field --------------------------------------------------------------------------------------------------------- */

/* A row of the box out of the array, where from one point of the level to the next there may be others. */
static void give_task(void *arg, uint64_t i, uint32_t worker)
{
    const decoder *d = arg;
    const floe_wavelet_plan *p = &d->chunk.plan;
    const uint32_t *shift = d->level.shift;
    uint64_t at[FLOE_LATTICE_RANK], point[FLOE_LATTICE_RANK], from[FLOE_LATTICE_RANK];
    (void)worker;
    floe_lattice_box_row(&d->out.box, i, at);
    const uint64_t row = floe_lattice_row(p->shape, at), n = d->out.box.hi[3] - at[3];
    floe_wavelet_row r = {.stride = d->out.view.stride[3], .x = at[3], .n = shift[3] ? 1 : n, .log = d->chunk.log};
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        point[a] = at[a] << d->call->level;
        from[a] = at[a] << shift[a];
    }
    r.center = p->center;
    r.unit = p->unit;
    r.limits = floe_wavelet_limits(&d->call->limits, d->call->level, d->chunk.log);
    if (d->chunk.marked[FLOE_WAVELET_CORRECTIONS])
        r.corrections = d->marks[FLOE_WAVELET_CORRECTIONS] + row * d->row;
    if (d->chunk.marked[FLOE_WAVELET_VALUE_KINDS])
        r.kinds = d->marks[FLOE_WAVELET_VALUE_KINDS] + row * d->row;
    for (uint64_t x = 0; x < n; x += r.n) {
        r.field = floe_lattice_output_place(&d->out, point);
        r.array = d->bands.array + floe_lattice_index(d->array, from) * d->size;
        d->ops->give(&r);
        point[3] += r.n << d->call->level;
        from[3] += r.n << shift[3];
    }
}

/* Pattern or literal of a value that has one. */
static floe_status place_kind(const decoder *d, const uint64_t *point, int32_t kind, floe_reader *from, floe_error *err)
{
    const uint32_t s = (uint32_t)kind - FLOE_WAVELET_PATTERN;
    if (kind == FLOE_WAVELET_PLAIN || (kind == FLOE_WAVELET_NEGATIVE && d->chunk.log))
        return FLOE_OK;
    FLOE_CHECK(err, kind == FLOE_WAVELET_LITERAL || s < d->chunk.npalette, FLOE_ERR_FORMAT,
               "wavelet chunk: a value of no kind that there is");
    const uint64_t pattern = kind != FLOE_WAVELET_LITERAL ? d->chunk.palette[s]
                             : d->narrow                  ? floe_read32(from)
                                                          : floe_read64(from);
    FLOE_CHECK(err, !from->bad, FLOE_ERR_FORMAT, "wavelet chunk: it ends within its literals");
    floe_lattice_output_put(&d->out, point, pattern);
    return FLOE_OK;
}

/* Over what the array gave. */
static floe_status place_kinds(const decoder *d, floe_reader *from, floe_error *err)
{
    const uint64_t *n = d->chunk.plan.shape;
    const floe_lattice_box *b = &d->marks_of[FLOE_WAVELET_VALUE_KINDS];
    const int8_t none[FLOE_WAVELET_MARKS + 1] = {0};
    for (uint64_t r = 0; r < floe_lattice_box_rows(b); r++) {
        uint64_t at[FLOE_LATTICE_RANK];
        floe_lattice_box_row(b, r, at);
        const int8_t *row = d->marks[FLOE_WAVELET_VALUE_KINDS] + floe_lattice_row(n, at) * d->row;
        for (uint64_t i = b->lo[3] / FLOE_WAVELET_MARKS; i * FLOE_WAVELET_MARKS < b->hi[3]; i++) {
            const int8_t *kinds = row + i * sizeof none;
            at[3] = i * FLOE_WAVELET_MARKS;
            for (uint64_t k = 0; memcmp(kinds, none, sizeof none) && k < FLOE_WAVELET_MARKS && at[3] < n[3];
                 k++, at[3]++)
                FLOE_TRY(place_kind(d, at, kinds[k], from, err));
        }
    }
    return FLOE_OK;
}

static floe_status decode_chunk(decoder *d, floe_reader *from, floe_error *err)
{
    const bool coded = d->chunk.kind == FLOE_LATTICE_CODED;
    if (coded)
        FLOE_TRY(decode_steps(d, from, err));
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++)
        FLOE_TRY(read_marks(d, s, from, err));
    if (coded)
        floe_cpu_parallel(d->bands.cpu, floe_lattice_box_rows(&d->out.box), give_task, d);
    else
        floe_lattice_output_fill(&d->out, d->chunk.plan.shape, NULL, d->chunk.base);
    return d->chunk.marked[FLOE_WAVELET_VALUE_KINDS] ? place_kinds(d, from, err) : FLOE_OK;
}

floe_status floe_wavelet_decompress(const floe_chunk_decode *c, floe_error *err)
{
    const floe_cpu cpu = floe_lattice_cpu(c->cpu, 1, c->rank, c->extent);
    if (floe_dtype_is_integer(c->dtype))
        return floe_codec_integers_decode(c, floe_lattice_is_raw(c->src, c->nbytes), floe_wavelet_decompress, err);
    decoder d = {.call = c};
    uint64_t at;
    FLOE_CHECK(err, c->level || c->nbytes >= floe_wavelet_least(c->rank, c->extent), FLOE_ERR_FORMAT,
               "wavelet chunk: %llu bytes are too few", (unsigned long long)c->nbytes);
    FLOE_TRY(floe_wavelet_head_read(c, c->nbytes, &d.chunk, &at, err));
    begin_decoder(&d, &cpu, c->dtype);
    d.out = floe_lattice_output_of(c->rank, c->extent, d.chunk.turns, c->lo, c->hi, c->out, c->level);
    if (d.chunk.kind == FLOE_LATTICE_RAW) {
        FLOE_CHECK(err, c->nbytes >= floe_wavelet_raw_nbytes(d.ncells, d.narrow), FLOE_ERR_FORMAT,
                   "wavelet chunk: it ends within its values");
        floe_lattice_output_fill(&d.out, d.chunk.plan.shape, (const uint8_t *)c->src + FLOE_WAVELET_HEADER_NBYTES, 0);
        return FLOE_OK;
    }
    take_scratch(&d, set_level(&d, c->level), c->scratch);
    FLOE_CHECK(err, !c->scratch->overflow && c->scratch->base, FLOE_ERR_MEMORY,
               "the workspace is too small for a chunk of %llu values", (unsigned long long)d.ncells);
    floe_reader from = floe_reader_of((const uint8_t *)c->src + at, (size_t)(c->nbytes - at));
    return decode_chunk(&d, &from, err);
}
