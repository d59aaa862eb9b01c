/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes -> the box of a chunk that is wanted, of all values or those of a level: of each step the entropy chunks and tiles that the
 * finer one needs; then the values that sets name. */
#include <string.h>

#include "codec/chunks/codec_integers.h"
#include "codec/interp/interp_chunk.h"
#include "field/dtype_math.h"
#include "stage/interp/interp.h"

#define DAMAGE_ANYWHERE "its checksum does not match: the bytes are damaged" /* and no part shows where */

typedef struct decoder {
    const floe_chunk_decode *call;
    const floe_interp_ops *ops;
    floe_records_coder entropy;
    floe_cpu workers; /* of tiles */
    floe_interp_chunk chunk;
    floe_lattice_output out;
    bool narrow;
    size_t size;
    uint32_t last, shift[FLOE_LATTICE_RANK]; /* floe_interp_level_step */
    uint8_t *lattices[2], *records, *mask_records;
    floe_context_tables *tables; /* of each step; then one of masks */
    uint64_t *part;
    /* what damaged entropy chunks leave out: points of the level */
    floe_lattice_box lost[FLOE_CODEC_LOST]; /* more are joined to the last one */
    uint32_t nlost, step;                   /* step: that is being decoded */
} decoder;

static void begin_decoder(decoder *d, const floe_cpu *cpu, floe_dtype dtype)
{
    *d = (decoder){.ops = floe_interp_ops_of(dtype, cpu->isa), .narrow = floe_dtype_is_narrow(dtype)};
    d->size = floe_dtype_size(dtype);
}

/* What the decoder takes of any chunk, or of one whose header is known. */
typedef struct room {
    uint64_t lattice[2], tile, step_records, tables, bits, mask_records; /* lattice, tile: reals; bits: words */
    uint32_t workers;
} room;

static void take_scratch(decoder *d, const floe_cpu *cpu, const room *s, floe_arena *arena)
{
    d->workers = *cpu;
    d->workers.threads = s->workers;
    d->entropy = floe_records_coder_take(&d->workers, false, s->tile * d->size, arena);
    d->entropy.cpu = cpu;
    for (int i = 0; i < 2; i++)
        d->lattices[i] = floe_arena_take_dense(arena, s->lattice[i], d->size);
    d->records = floe_arena_take_dense(arena, s->step_records, 1);
    d->tables = floe_arena_take(arena, s->tables, sizeof *d->tables);
    d->part = floe_arena_take(arena, s->bits, sizeof *d->part);
    d->mask_records = floe_arena_take(arena, s->mask_records, 1);
}

/* Sets stand for all values of a chunk. */
static room room_for_sets(const uint64_t *shape)
{
    const floe_context_grid mask = floe_interp_mask_grid(shape);
    return (room){.bits = floe_interp_bits_room(shape), .mask_records = floe_context_nrecords(&mask)};
}

static room most_room(const floe_cpu *cpu, const uint64_t *shape)
{
    floe_interp_needs needs;
    room s = room_for_sets(shape);
    floe_interp_needs_of(shape, &needs);
    memcpy(s.lattice, needs.lattice, sizeof s.lattice);
    s.step_records = needs.step_records;
    s.tables = FLOE_INTERP_STEPS + 1;
    s.tile = FLOE_INTERP_TILE_REALS;
    s.workers = cpu->threads;
    return s;
}

static void add_step(const floe_interp_coding *c, const floe_cpu *cpu, room *s)
{
    const floe_lattice_step *step = &c->step;
    const floe_interp_job job = {.step = step,
                                 .box = {.hi = {step->fine[0], step->fine[1], step->fine[2], step->fine[3]}}};
    const uint64_t *m = step->coarse, class = m[0] * m[1] * m[2] * ((m[3] + 7) & ~(uint64_t)7);
    const uint64_t count = floe_min64(floe_interp_tiles_of(&job).count, cpu->threads);
    s->step_records = floe_max64(s->step_records, floe_interp_records_nbytes(c));
    s->tile = floe_max64(s->tile, floe_min64(class << step->naxes, FLOE_INTERP_TILE_REALS));
    s->workers = count > s->workers ? (uint32_t)count : s->workers;
}

/* Those of a level, by the header: its lattice and all coarser ones. Sets d->last and d->shift. */
static room level_room(decoder *d, const floe_cpu *cpu, uint32_t level)
{
    const floe_interp_plan *p = &d->chunk.plan;
    const room sets = room_for_sets(p->shape);
    room s = {.tables = p->nsteps + 1, .workers = 1};
    d->last = floe_interp_level_step(p, level, d->shift);
    for (uint32_t i = d->last; d->chunk.kind == FLOE_LATTICE_CODED && i <= p->nsteps; i++) {
        const uint64_t n = floe_lattice_points(i ? p->steps[i - 1].step.coarse : p->shape);
        if (i || p->nsteps == 0) /* the field itself is the caller's */
            s.lattice[i % 2 == 0] = floe_max64(s.lattice[i % 2 == 0], n);
        if (i < p->nsteps)
            add_step(&p->steps[i], cpu, &s);
    }
    for (int k = 0; k < FLOE_INTERP_SETS; k++) {
        if (d->chunk.sets[k].kind != FLOE_INTERP_SET_EMPTY)
            s.bits = sets.bits;
        if (d->chunk.sets[k].kind == FLOE_INTERP_SET_MASK)
            s.mask_records = sets.mask_records;
    }
    return s;
}

size_t floe_interp_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    const uint32_t turns[] = {0, floe_lattice_turns_of(rank, extent)}; /* older chunks have none */
    const floe_cpu limited = floe_lattice_cpu(cpu, 1, rank, extent);
    size_t most = 0;
    for (int i = 0; i < 1 + (turns[1] > 0); i++) {
        decoder d;
        uint64_t shape[FLOE_LATTICE_RANK];
        floe_arena plan = floe_arena_plan();
        if (!floe_lattice_shape_of(rank, extent, turns[i], shape))
            return 0;
        begin_decoder(&d, &limited, floe_codec_real(dtype));
        const room s = most_room(&limited, shape);
        take_scratch(&d, &limited, &s, &plan);
        if (plan.overflow)
            return 0;
        most = plan.used > most ? plan.used : most;
    }
    return floe_codec_integers_decode_workspace(dtype, rank, extent, 0, most);
}

size_t floe_interp_decode_scratch(const floe_chunk_decode *c)
{
    decoder d;
    floe_arena plan = floe_arena_plan();
    floe_reader from = floe_reader_of(c->src, (size_t)c->nbytes);
    const floe_cpu cpu = floe_lattice_cpu(c->cpu, 1, c->rank, c->extent);
    begin_decoder(&d, &cpu, floe_codec_real(c->dtype));
    if (floe_interp_head_read(&d.chunk, c->rank, c->extent, d.narrow, &from, NULL) != FLOE_OK ||
        d.chunk.kind == FLOE_LATTICE_RAW)
        return 0;
    const room s = level_room(&d, &cpu, c->level);
    take_scratch(&d, &cpu, &s, &plan);
    return floe_codec_integers_decode_workspace(c->dtype, c->rank, c->extent, c->level, plan.overflow ? 0 : plan.used);
}

/* ---- sets -------------------------------------------------------------------------------------------------------------- */

/* Points whose bits of a mask the box needs: its own; of axes with differences those before, too. */
static floe_lattice_box mask_box(const decoder *d, uint32_t axes)
{
    const floe_lattice_output *o = &d->out;
    floe_lattice_box box;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        box.lo[a] = axes >> a & 1 ? 0 : o->box.lo[a] << o->level;
        box.hi[a] = ((o->box.hi[a] - 1) << o->level) + 1;
    }
    return box;
}

static bool read_mask(decoder *d, const floe_interp_bits *bits, uint32_t axes, const uint8_t *base, floe_reader *from)
{
    const uint64_t *n = d->chunk.plan.shape, cells = FLOE_INTERP_MASK_CELLS;
    const floe_context_grid grid = floe_interp_mask_grid(n);
    const floe_lattice_box *b = bits->box;
    const uint64_t columns[] = {0, floe_ceil_div(n[3], cells)};
    const floe_context_box box =
        b ? floe_records_rows_box(&grid, n, columns[1], b, columns) : (floe_context_box){.hi = {0}};
    const uint64_t nchunks = floe_context_nchunks(&grid);
    const floe_records r = {&floe_interp_mask_spec, &grid, d->mask_records};
    floe_context_tables *tables = &d->tables[d->chunk.plan.nsteps];
    floe_records_stream stream = {.wide = false};
    if (!floe_records_tables_read(r.spec, from, tables))
        return false;
    stream.sizes = floe_read_bytes(from, 2 * nchunks);
    if (!stream.sizes || !floe_lattice_pad_read(from, base) || !floe_records_stream_take(&stream, nchunks, from))
        return false;
    floe_context_decoder_of(r.spec, tables, d->chunk.ans_begin, d->entropy.decoder);
    if (!floe_records_decode(&d->entropy, &r, &stream, b ? &box : NULL) ||
        !floe_interp_bits_of_records(bits, d->mask_records))
        return false;
    for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;)
        if (axes >> a & 1)
            floe_interp_bits_differ(bits, a, true);
    return true;
}

static bool read_set(decoder *d, const floe_interp_set *set, const floe_interp_bits *bits, const uint8_t *base,
                     floe_reader *from)
{
    if (set->kind == FLOE_INTERP_SET_MASK)
        return read_mask(d, bits, set->axes, base, from);
    const uint64_t count = floe_read32(from);
    const uint8_t *list = floe_read_bytes(from, 4 * count);
    return list && floe_interp_bits_of_list(bits, list, count);
}

static void place_value(const decoder *d, int set, const uint8_t *literal, uint8_t *to)
{
    if (set == FLOE_INTERP_NEGATIVE)
        to[d->size - 1] |= 0x80; /* host order is little-endian wherever floe runs */
    else if (d->narrow)
        floe_store32(to, literal ? floe_load32(literal) : (uint32_t)d->chunk.palette[set - FLOE_INTERP_PATTERNS]);
    else
        floe_store64(to, literal ? floe_load64(literal) : d->chunk.palette[set - FLOE_INTERP_PATTERNS]);
}

/* Members of row r to their places, if they have some. literal: the first one's, or NULL. Returns that of the next row. */
static const uint8_t *place_row(const decoder *d, const floe_interp_bits *bits, uint64_t r, int set,
                                const uint8_t *literal)
{
    const floe_lattice_output *o = &d->out;
    const uint64_t lo = o->box.lo[3], hi = o->box.hi[3], *words = bits->words + r * bits->row;
    const int64_t step = o->view.stride[3] * (int64_t)d->size;
    uint64_t point[FLOE_LATTICE_RANK];
    floe_interp_bits_point(bits, r, point);
    point[3] = lo << o->level;
    uint8_t *to = floe_lattice_output_place(o, point);
    for (uint64_t w = 0; w < bits->row && (to || literal); w++)
        for (uint64_t left = words[w]; left; left &= left - 1) {
            const uint64_t x = 64 * w + (uint64_t)__builtin_ctzll(left), i = x >> o->level;
            if (to && i << o->level == x && i >= lo && i < hi)
                place_value(d, set, literal, to + (int64_t)(i - lo) * step);
            if (literal)
                literal += d->size;
        }
    return literal;
}

/* Signs first: what else is named is whole patterns. */
static floe_status place_sets(decoder *d, floe_reader *from, floe_error *err)
{
    floe_interp_bits bits = floe_interp_bits_of(d->chunk.plan.shape, d->part);
    const uint8_t *base = from->at;
    for (int s = 0; s < FLOE_INTERP_SETS; s++) {
        const floe_interp_set *set = &d->chunk.sets[s];
        const floe_lattice_box box = mask_box(d, set->axes);
        const bool part = set->kind == FLOE_INTERP_SET_MASK && s != FLOE_INTERP_LITERALS; /* literals are counted */
        bits.box = part ? &box : NULL;
        if (set->kind == FLOE_INTERP_SET_EMPTY)
            continue;
        FLOE_CHECK(err, read_set(d, set, &bits, base, from), FLOE_ERR_FORMAT,
                   "interp chunk: set %d is none of its values", s);
        const uint8_t *literal = NULL;
        if (s == FLOE_INTERP_LITERALS) {
            literal = floe_read_bytes(from, floe_interp_bits_count(&bits) * d->size);
            FLOE_CHECK(err, literal, FLOE_ERR_FORMAT, "interp chunk: it ends within its literals");
        }
        for (uint64_t r = 0; r < bits.nrows; r++)
            literal = place_row(d, &bits, r, s, literal);
    }
    return FLOE_OK;
}

/* ---- steps ------------------------------------------------------------------------------------------------------------- */

typedef struct work {
    const decoder *d;
    const floe_interp_job *job;
    floe_interp_tiles tiles;
} work;

static void tile_task(void *arg, uint64_t i, uint32_t worker)
{
    const work *w = arg;
    const floe_lattice_box box = floe_interp_tile(&w->tiles, i);
    w->d->ops->decode(w->job, &box, floe_records_worker(&w->d->entropy, worker));
}

/* Step i, for points of `wanted`. */
static floe_interp_job job_of(decoder *d, uint32_t i, const floe_lattice_box *wanted)
{
    const floe_interp_coding *c = &d->chunk.plan.steps[i];
    floe_interp_job job = {.last = i == 0, .records = d->records, .step = &c->step, .rule = &c->rule, .box = *wanted};
    job.log = d->chunk.log;
    job.coarse = d->lattices[(i + 1) % 2 == 0];
    job.fine = d->out.view;
    if (i)
        job.fine = floe_lattice_view_lattice(
            d->lattices[i % 2 == 0] + floe_lattice_index(job.step->fine, wanted->lo) * d->size, job.step->fine);
    return job;
}

/* The values of the box, which are every so-manieth point of the fine lattice of step d->last, or of the anchors. */
static void leave_lattice(const decoder *d)
{
    const floe_interp_plan *p = &d->chunk.plan;
    const uint64_t *n = d->last < p->nsteps ? p->steps[d->last].step.fine : floe_interp_anchors_shape(p);
    floe_interp_job job = {.last = true, .fine = d->out.view, .box = d->out.box, .log = d->chunk.log};
    floe_lattice_view from = floe_lattice_view_lattice(d->lattices[d->last % 2 == 0], n);
    uint64_t first[FLOE_LATTICE_RANK];
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        first[a] = d->out.box.lo[a] << d->shift[a];
        from.stride[a] *= (int64_t)1 << d->shift[a];
    }
    from.data = d->lattices[d->last % 2 == 0] + floe_lattice_index(n, first) * d->size;
    d->ops->leave(&job, &from);
}

/* ---- damage ------------------------------------------------------------------------------------------------------------ */

/* Cells of rows `begin` to `end` - 1 of a lattice m. Rows of several planes are all of their rows. */
static void set_rows(floe_lattice_box *box, const uint64_t *m, uint64_t begin, uint64_t end)
{
    const uint64_t plane = begin / m[2], last = (end - 1) / m[2];
    box->lo[0] = plane / m[1];
    box->hi[0] = last / m[1] + 1;
    if (box->hi[0] - box->lo[0] == 1) {
        box->lo[1] = plane % m[1];
        box->hi[1] = last % m[1] + 1;
    }
    if (plane == last) {
        box->lo[2] = begin % m[2];
        box->hi[2] = (end - 1) % m[2] + 1;
    }
}

/* Cells whose codes stand in an entropy chunk, and those between. */
static floe_lattice_box cells_of(const floe_interp_coding *c, uint64_t index)
{
    const floe_context_chunk k = floe_context_chunk_of(&c->grid, index);
    const uint64_t *m = c->step.coarse, nrows = m[0] * m[1] * m[2], codes = 8;
    floe_lattice_box box = {.hi = {m[0], m[1], m[2], m[3]}};
    uint64_t row = k.first / k.row, column = k.first % k.row, end = column + k.lanes;
    if (floe_records_grid_has_rows(&c->grid, m)) {
        set_rows(&box, m, row, row + (k.planes - 1) * (k.plane / k.row) + k.rows);
        box.lo[2] = row % m[2];
        box.hi[2] = row % m[2] + k.rows;
    } else {
        const uint64_t each = floe_lattice_row_records(&c->step), last = k.first + k.rows * k.row - 1;
        row = k.first / each;
        column = k.first % each;
        end = last % each + 1;
        set_rows(&box, m, row, floe_min64(last / each + 1, nrows));
        if (row != last / each)
            return box;
    }
    box.lo[3] = codes * column >> c->step.naxes;
    box.hi[3] = floe_min64(m[3], floe_ceil_div(codes * end, (uint64_t)1 << c->step.naxes));
    return box;
}

/* Boxes that touch become one. */
static void add_lost(decoder *d, floe_lattice_box box)
{
    for (uint32_t i = 0; i < d->nlost; i++) {
        floe_lattice_box *b = &d->lost[i];
        bool apart = false;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            apart |= box.lo[a] > b->hi[a] || b->lo[a] > box.hi[a];
        if (apart && i + 1 < FLOE_CODEC_LOST)
            continue;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
            box.lo[a] = floe_min64(box.lo[a], b->lo[a]);
            box.hi[a] = floe_max64(box.hi[a], b->hi[a]);
        }
        *b = d->lost[--d->nlost];
        i = UINT32_MAX; /* it may touch others now */
    }
    d->lost[d->nlost++] = box;
}

/* To points of the fine lattice that codes of these cells have a part in: an odd one looks at cells from one before to two behind. */
static void spread(const floe_lattice_step *s, floe_lattice_box *box)
{
    for (uint32_t k = 0; k < s->naxes; k++) {
        const uint32_t a = s->axis[k];
        box->lo[a] = 2 * (box->lo[a] - floe_min64(box->lo[a], 2));
        box->hi[a] = floe_min64(2 * (box->hi[a] + 1), s->fine[a]);
    }
}

static void chunk_damaged(void *user, uint64_t index)
{
    decoder *d = user;
    const floe_interp_plan *p = &d->chunk.plan;
    floe_lattice_box box = cells_of(&p->steps[d->step], index);
    for (uint32_t i = d->step + 1; i-- > d->last;)
        spread(&p->steps[i].step, &box);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        const uint64_t n = (uint64_t)1 << d->shift[a];
        box.lo[a] = floe_ceil_div(box.lo[a], n);
        box.hi[a] = floe_ceil_div(box.hi[a], n);
    }
    add_lost(d, box);
}

static floe_status report_lost(const decoder *d, floe_error *err)
{
    const floe_chunk_decode *c = d->call;
    uint32_t axis[FLOE_MAX_RANK];
    FLOE_CHECK(err, !c->lost || c->level || d->nlost, FLOE_ERR_CHECKSUM, DAMAGE_ANYWHERE);
    floe_lattice_axes_of(c->rank, c->extent, d->chunk.turns, axis);
    for (uint32_t i = 0; i < d->nlost; i++) {
        uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
        bool empty = false;
        for (uint32_t a = 0; a < c->rank; a++) {
            const bool has_axis = axis[a] < FLOE_LATTICE_RANK;
            lo[a] = has_axis ? floe_max64(c->lo[a], d->lost[i].lo[axis[a]]) : c->lo[a];
            hi[a] = has_axis ? floe_min64(c->hi[a], d->lost[i].hi[axis[a]]) : c->hi[a];
            empty |= lo[a] >= hi[a];
        }
        if (!empty)
            c->lost(c->user, lo, hi);
    }
    return FLOE_OK;
}

/* No check of the whole chunk holds. */
static bool is_partial(const decoder *d) { return d->call->level || d->call->lost; }

static floe_status check_head(const decoder *d, const uint8_t *end, floe_error *err)
{
    const uint8_t *src = d->call->src;
    FLOE_CHECK(err, !is_partial(d) || floe_interp_head_check(src, (uint64_t)(end - src)) == d->chunk.check,
               FLOE_ERR_CHECKSUM, "interp chunk: its head is damaged");
    return FLOE_OK;
}

/* ---- entropy chunks ---------------------------------------------------------------------------------------------------- */

static bool decode_records(decoder *d, uint32_t i, const floe_lattice_box *wanted, const floe_records_stream *stream)
{
    const floe_interp_coding *c = &d->chunk.plan.steps[i];
    const floe_records r = {&c->spec, &c->grid, d->records};
    const floe_lattice_box cells = floe_interp_needed(&c->step, wanted);
    const floe_context_box box = floe_records_cells_box(&c->grid, &c->step, &cells);
    const bool whole = d->call->lost && !d->call->level; /* all damage is looked for */
    floe_context_decoder_of(&c->spec, &d->tables[i], d->chunk.ans_begin, d->entropy.decoder);
    return floe_records_decode(&d->entropy, &r, stream, whole ? NULL : &box);
}

static floe_status read_tables(decoder *d, floe_reader *from, floe_error *err)
{
    const floe_interp_plan *p = &d->chunk.plan;
    for (uint32_t i = p->nsteps; i-- > 0;) {
        const floe_context_spec *spec = &p->steps[i].spec;
        if (p->steps[i].tables) {
            FLOE_CHECK(err, floe_records_tables_read(spec, from, &d->tables[i]), FLOE_ERR_FORMAT,
                       "interp chunk: the tables of step %u cannot be", i);
        } else {
            FLOE_CHECK(err, spec->planes == p->steps[i + 1].spec.planes, FLOE_ERR_FORMAT,
                       "interp chunk: step %u shares tables of other contexts", i);
            d->tables[i] = d->tables[i + 1];
        }
    }
    return FLOE_OK;
}

static floe_status decode_steps(decoder *d, floe_reader *from, floe_error *err)
{
    const floe_interp_plan *p = &d->chunk.plan;
    uint64_t nchunks = 0;
    floe_lattice_box wanted[FLOE_INTERP_STEPS + 1];
    FLOE_TRY(read_tables(d, from, err));
    for (uint32_t i = 0; i < p->nsteps; i++)
        nchunks += p->steps[i].nchunks;
    const uint32_t each = floe_interp_size_nbytes(&d->chunk);
    const uint8_t *sizes = floe_read_bytes(from, nchunks * each);
    const uint8_t *checks = floe_read_bytes(from, floe_interp_checks_nbytes(&d->chunk));
    FLOE_CHECK(err, sizes && checks && floe_lattice_pad_read(from, d->call->src), FLOE_ERR_FORMAT,
               "interp chunk: it ends within the sizes of its parts");
    FLOE_TRY(check_head(d, from->at, err));
    FLOE_CHECK(err, d->chunk.checks || d->call->level || !d->call->lost, FLOE_ERR_CHECKSUM, DAMAGE_ANYWHERE);
    checks = d->chunk.checks && is_partial(d) ? checks : NULL;
    memcpy(d->lattices[p->nsteps % 2 == 0], d->chunk.anchors,
           floe_lattice_points(floe_interp_anchors_shape(p)) * d->size);
    floe_interp_plan_wanted(p, d->last, d->shift, &d->out.box, wanted);
    for (uint32_t i = p->nsteps; i-- > d->last;) {
        floe_records_stream stream = {.sizes = sizes,
                                      .checks = checks,
                                      .checked = p->steps[i].checked,
                                      .wide = d->chunk.wide_sizes,
                                      .damaged = d->call->lost ? chunk_damaged : NULL,
                                      .user = d};
        const floe_interp_job job = job_of(d, i, &wanted[i]);
        d->step = i;
        FLOE_CHECK(err,
                   floe_records_stream_take(&stream, p->steps[i].nchunks, from) &&
                       decode_records(d, i, &wanted[i], &stream),
                   FLOE_ERR_FORMAT, "interp chunk: the codes of step %u are damaged", i);
        work w = {.d = d, .job = &job, .tiles = floe_interp_tiles_of(&job)};
        floe_cpu_parallel(&d->workers, w.tiles.count, tile_task, &w);
        sizes += each * p->steps[i].nchunks;
        if (checks)
            checks += 2 * floe_interp_nchecks(&p->steps[i]);
    }
    if (d->call->level || p->nsteps == 0)
        leave_lattice(d);
    return FLOE_OK;
}

/* ---- a chunk ----------------------------------------------------------------------------------------------------------- */

floe_status floe_interp_decompress(const floe_chunk_decode *c, floe_error *err)
{
    decoder d;
    const floe_cpu cpu = floe_lattice_cpu(c->cpu, 1, c->rank, c->extent);
    if (floe_dtype_is_integer(c->dtype))
        return floe_codec_integers_decode(c, floe_lattice_is_raw(c->src, c->nbytes), floe_interp_decompress, err);
    begin_decoder(&d, &cpu, c->dtype);
    d.call = c;
    FLOE_CHECK(err, is_partial(&d) || c->nbytes >= floe_interp_least(c->rank, c->extent), FLOE_ERR_FORMAT,
               "interp chunk: %llu bytes are too few", (unsigned long long)c->nbytes);
    floe_reader from = floe_reader_of(c->src, (size_t)c->nbytes);
    FLOE_TRY(floe_interp_head_read(&d.chunk, c->rank, c->extent, d.narrow, &from, err));
    const uint64_t ncells = floe_lattice_points(d.chunk.plan.shape);
    d.out = floe_lattice_output_of(c->rank, c->extent, d.chunk.turns, c->lo, c->hi, c->out, c->level);
    if (d.chunk.kind == FLOE_LATTICE_RAW) {
        FLOE_CHECK(err, c->nbytes >= floe_interp_raw_nbytes(ncells, d.narrow), FLOE_ERR_FORMAT,
                   "interp chunk: it ends within its values");
        FLOE_CHECK(err, !c->lost, FLOE_ERR_CHECKSUM, DAMAGE_ANYWHERE);
        floe_lattice_output_fill(&d.out, d.chunk.plan.shape, (const uint8_t *)c->src + FLOE_INTERP_HEADER_NBYTES, 0);
        return FLOE_OK;
    }
    const room s = level_room(&d, &cpu, c->level);
    take_scratch(&d, &cpu, &s, c->scratch);
    FLOE_CHECK(err, !c->scratch->overflow && c->scratch->base, FLOE_ERR_MEMORY,
               "the workspace is too small for a chunk of %llu values", (unsigned long long)ncells);
    if (d.chunk.kind == FLOE_LATTICE_FLAT) {
        FLOE_TRY(check_head(&d, from.at, err));
        floe_lattice_output_fill(&d.out, d.chunk.plan.shape, NULL, d.chunk.base);
    } else {
        FLOE_TRY(decode_steps(&d, &from, err));
    }
    floe_reader apart = floe_reader_of(d.chunk.apart, (size_t)d.chunk.apart_nbytes);
    FLOE_TRY(place_sets(&d, &apart, err));
    return report_lost(&d, err);
}
