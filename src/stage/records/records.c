/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/records/records.h"

#include <string.h>

enum {
    FEW_ROWS = 64,
    SLOTS = 4 /* of each worker, for the largest chunks */
};

/* Of chunks of so many records: states, and the most words, of a mask and of 7 codes with raw bits. */
static size_t slot_nbytes(uint64_t nrecords)
{
    const size_t nbytes = 4 * FLOE_ANS_STATES_MOST + sizeof(uint16_t) * (nrecords * (1 + 2 * FLOE_CONTEXT_CLASSES) + 1);
    return (nbytes + 63) & ~(size_t)63;
}

/* Few rows of many columns would be few steps of many lanes: records in their order then make rows of a few columns. */
floe_context_grid floe_records_grid_of(uint64_t planes, uint64_t rows, uint64_t columns, uint32_t most,
                                       uint32_t of_plane)
{
    if (planes * rows >= FEW_ROWS || columns == 1)
        return floe_context_grid_of(planes, rows, columns, most, of_plane);
    const uint64_t n = planes * rows * columns, wide = floe_min64(floe_ceil_div(n, FEW_ROWS), FLOE_ANS_LANES);
    return floe_context_grid_of(1, floe_ceil_div(n, wide), wide, most, most);
}

floe_records_coder floe_records_coder_take(const floe_cpu *cpu, bool encode, size_t worker_nbytes, floe_arena *arena)
{
    floe_records_coder e = {.cpu = cpu, .ops = floe_context_ops_of(cpu->isa)};
    e.worker_nbytes = worker_nbytes;
    if (encode && sizeof(floe_context_scratch) > worker_nbytes)
        e.worker_nbytes = sizeof(floe_context_scratch);
    e.worker_nbytes = (e.worker_nbytes + 63) & ~(size_t)63;
    e.workers = floe_arena_take(arena, cpu->threads, e.worker_nbytes);
    if (encode) {
        e.counts = floe_arena_take(arena, (uint64_t)cpu->threads * FLOE_CONTEXT_COUNTS, sizeof *e.counts);
        e.slots = floe_arena_take(arena, (uint64_t)cpu->threads * SLOTS, slot_nbytes(FLOE_CONTEXT_CELLS));
        e.symbols = floe_arena_take(arena, FLOE_CONTEXT_COUNTS, sizeof *e.symbols);
    } else {
        e.decoder = floe_arena_take(arena, 1, sizeof *e.decoder);
    }
    return e;
}

/* ---- chunks of zeros --------------------------------------------------------------------------------------------------- */

static bool is_zero(const floe_records *r, const floe_context_chunk *c)
{
    const uint64_t each = floe_context_record_nbytes(r->spec), n = c->lanes * each;
    for (uint32_t t = 0; t < c->planes * c->rows; t++) {
        const uint8_t *row = (const uint8_t *)r->data + floe_context_row(c, t) * each;
        if (row[0] || memcmp(row, row + 1, n - 1) != 0)
            return false;
    }
    return true;
}

static void set_zero(const floe_records *r, const floe_context_chunk *c)
{
    const uint64_t each = floe_context_record_nbytes(r->spec);
    for (uint32_t t = 0; t < c->planes * c->rows; t++)
        memset((uint8_t *)r->data + floe_context_row(c, t) * each, 0, c->lanes * each);
}

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

typedef struct counting {
    const floe_records_coder *e;
    const floe_records *r;
    uint64_t every;
    uint32_t *counts;                      /* of each worker */
    uint64_t nlanes[FLOE_CPU_MAX_THREADS]; /* of the chunks that each worker has counted */
} counting;

static void count_task(void *arg, uint64_t i, uint32_t worker)
{
    counting *c = arg;
    const floe_context_chunk chunk = floe_context_chunk_of(c->r->grid, i * c->every);
    if (c->e->sparse && is_zero(c->r, &chunk))
        return;
    c->nlanes[worker] += chunk.lanes;
    c->e->ops->count(c->r->spec, &chunk, c->r->data, c->counts + (uint64_t)worker * FLOE_CONTEXT_COUNTS,
                     floe_records_worker(c->e, worker));
}

uint64_t floe_records_count_more(const floe_records_coder *e, const floe_records *r, uint64_t every, uint32_t *counts)
{
    const uint64_t n = floe_ceil_div(floe_context_nchunks(r->grid), every);
    const uint32_t workers = (uint32_t)floe_min64(n, e->cpu->threads);
    counting c = {.e = e, .r = r, .every = every, .counts = workers > 1 ? e->counts : counts};
    if (workers > 1)
        memset(e->counts, 0, sizeof *counts * FLOE_CONTEXT_COUNTS * workers);
    floe_cpu_parallel(e->cpu, n, count_task, &c);
    uint64_t nlanes = 0;
    for (uint32_t w = 0; w < workers; w++) {
        nlanes += c.nlanes[w];
        for (uint32_t i = 0; i < FLOE_CONTEXT_COUNTS && workers > 1; i++)
            counts[i] += e->counts[(uint64_t)w * FLOE_CONTEXT_COUNTS + i];
    }
    return nlanes;
}

uint64_t floe_records_count(const floe_records_coder *e, const floe_records *r, uint64_t every, uint32_t *counts)
{
    memset(counts, 0, sizeof *counts * FLOE_CONTEXT_COUNTS);
    return floe_records_count_more(e, r, every, counts);
}

typedef struct encoding {
    const floe_records_coder *e;
    const floe_records *r;
    uint64_t first; /* chunk of slot 0 */
    size_t slot;    /* bytes of one */
    uint32_t nbytes[FLOE_CPU_MAX_THREADS * SLOTS];
    uint32_t sum[FLOE_CPU_MAX_THREADS * SLOTS]; /* for checks */
} encoding;

static void encode_task(void *arg, uint64_t i, uint32_t worker)
{
    encoding *l = arg;
    floe_context_scratch *s = floe_records_worker(l->e, worker);
    const floe_context_chunk chunk = floe_context_chunk_of(l->r->grid, l->first + i);
    l->nbytes[i] = 0;
    l->sum[i] = 0;
    if (l->e->sparse && is_zero(l->r, &chunk))
        return;
    l->nbytes[i] = l->e->ops->encode(l->r->spec, &chunk, l->r->data, l->e->symbols, s);
    floe_ans_encoder_end(&s->encoder, chunk.lanes, l->e->slots + i * l->slot);
    l->sum[i] = floe_ans_check_sum(l->e->slots + i * l->slot, 0, l->nbytes[i] / 4);
}

static void put_size(floe_records_sizes *sizes, uint32_t nbytes)
{
    sizes->too_long |= !sizes->wide && nbytes / 4 > UINT16_MAX;
    if (sizes->wide)
        floe_store32(sizes->at, nbytes / 4);
    else
        floe_store16(sizes->at, (uint16_t)(nbytes / 4));
    sizes->at += sizes->wide ? 4 : 2;
}

/* Chunk number `index` of so many, of this sum. */
static void put_sum(floe_records_sizes *sizes, uint64_t index, uint64_t nchunks, uint32_t sum)
{
    const uint64_t last = ((uint64_t)1 << sizes->checked) - 1;
    if (!sizes->checks)
        return;
    sizes->sum += floe_ans_check_word(index & last, sum);
    if ((index & last) == last || index + 1 == nchunks) {
        floe_store16(sizes->checks, floe_ans_check_of(sizes->sum));
        sizes->checks += 2;
        sizes->sum = 0;
    }
}

void floe_records_encode(const floe_records_coder *e, const floe_records *r, const floe_context_tables *tables,
                         floe_records_sizes *sizes, floe_cursor *to)
{
    const uint32_t *piece = r->grid->piece;
    const uint64_t nchunks = floe_context_nchunks(r->grid), room = (uint64_t)e->cpu->threads * SLOTS;
    encoding l = {.e = e, .r = r, .slot = slot_nbytes((uint64_t)piece[0] * piece[1] * piece[2])};
    const uint64_t nslots =
        floe_min64(room * slot_nbytes(FLOE_CONTEXT_CELLS) / l.slot, sizeof l.nbytes / sizeof *l.nbytes);
    floe_context_symbols_of(r->spec, tables, e->symbols);
    for (; l.first < nchunks && !to->bad; l.first += nslots) {
        const uint64_t n = floe_min64(nslots, nchunks - l.first);
        floe_cpu_parallel(e->cpu, n, encode_task, &l);
        for (uint64_t i = 0; i < n; i++) {
            floe_write_bytes(to, e->slots + i * l.slot, l.nbytes[i]);
            put_size(sizes, l.nbytes[i]);
            put_sum(sizes, l.first + i, nchunks, l.sum[i]);
        }
    }
}

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

bool floe_records_stream_take(floe_records_stream *stream, uint64_t nchunks, floe_reader *from)
{
    const uint64_t nbytes = floe_records_sizes_add(stream->sizes, stream->wide, nchunks);
    stream->nbytes = stream->damaged ? floe_min64(nbytes, floe_reader_left(from)) : nbytes;
    stream->src = floe_read_bytes(from, stream->nbytes);
    return stream->src;
}

enum { RUN = 512 /* chunks whose places are found at once: whole groups of a check */ };

typedef struct decoding {
    const floe_records_coder *e;
    const floe_records *r;
    const floe_records_stream *stream;
    uint64_t first, n, place[RUN + 1];
    const floe_context_box *box;
    bool bad[RUN];
} decoding;

static bool is_there(const decoding *d, uint64_t i) { return d->place[i + 1] <= d->stream->nbytes; }

/* Of the chunks that have a check with chunk i of the run. */
static bool is_checked(const decoding *d, uint64_t i)
{
    const uint64_t check = (d->first + i) >> d->stream->checked, first = (check << d->stream->checked) - d->first;
    uint32_t sum = 0;
    for (uint64_t k = first; k < d->n && (d->first + k) >> d->stream->checked == check; k++) {
        if (!is_there(d, k))
            return false;
        sum += floe_ans_check_word(
            k - first, floe_ans_check_sum(d->stream->src + d->place[k], 0, (d->place[k + 1] - d->place[k]) / 4));
    }
    return floe_ans_check_of(sum) == floe_load16(d->stream->checks + 2 * check);
}

static void decode_task(void *arg, uint64_t i, uint32_t worker)
{
    decoding *d = arg;
    const uint64_t index = d->first + i;
    (void)worker;
    d->bad[i] = false;
    if (d->box && !floe_context_is_wanted(d->r->grid, index, d->box))
        return;
    const floe_context_chunk chunk = floe_context_chunk_of(d->r->grid, index);
    const uint8_t *src = d->stream->src + d->place[i];
    const uint64_t nbytes = d->place[i + 1] - d->place[i];
    const bool empty = d->e->sparse && nbytes == 0;
    d->bad[i] = !is_there(d, i) || (d->stream->checks && !is_checked(d, i)) ||
                (!empty && !d->e->ops->decode(d->r->spec, &chunk, d->e->decoder, src, nbytes, d->r->data));
    if (empty || d->bad[i])
        set_zero(d->r, &chunk);
}

bool floe_records_decode(const floe_records_coder *e, const floe_records *r, const floe_records_stream *stream,
                         const floe_context_box *box)
{
    const uint64_t nchunks = floe_context_nchunks(r->grid), each = stream->wide ? 4 : 2;
    decoding d = {.e = e, .r = r, .stream = stream, .box = box};
    for (; d.first < nchunks; d.first += RUN) {
        const uint64_t n = d.n = floe_min64(RUN, nchunks - d.first);
        for (uint64_t i = 0; i < n; i++)
            d.place[i + 1] = d.place[i] + floe_records_sizes_add(stream->sizes + (d.first + i) * each, stream->wide, 1);
        floe_cpu_parallel(e->cpu, n, decode_task, &d);
        for (uint64_t i = 0; i < n; i++)
            if (d.bad[i] && !stream->damaged)
                return false;
            else if (d.bad[i])
                stream->damaged(stream->user, d.first + i);
        d.place[0] = d.place[n];
    }
    return true;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------------- */

floe_context_box floe_records_rows_box(const floe_context_grid *g, const uint64_t n[FLOE_LATTICE_RANK], uint64_t row,
                                       const floe_lattice_box *b, const uint64_t columns[2])
{
    const uint64_t first = b->lo[0] * n[1] + b->lo[1], last = (b->hi[0] - 1) * n[1] + b->hi[1] - 1;
    if (floe_records_grid_has_rows(g, n))
        return (floe_context_box){{first, b->lo[2], columns[0]}, {last + 1, b->hi[2], columns[1]}};
    const uint64_t begin = (first * n[2] + b->lo[2]) * row + columns[0],
                   end = (last * n[2] + b->hi[2] - 1) * row + columns[1];
    return (floe_context_box){{0, begin / g->size[2], 0}, {1, floe_ceil_div(end, g->size[2]), g->size[2]}};
}

floe_context_box floe_records_cells_box(const floe_context_grid *g, const floe_lattice_step *s,
                                        const floe_lattice_box *cells)
{
    const uint64_t columns[] = {(cells->lo[3] << s->naxes) / 8, floe_ceil_div(cells->hi[3] << s->naxes, 8)};
    return floe_records_rows_box(g, s->coarse, floe_lattice_row_records(s), cells, columns);
}

/* ---- tables ------------------------------------------------------------------------------------------------------------ */

void floe_records_tables_write(const floe_context_spec *spec, const floe_context_tables *tables, floe_cursor *to)
{
    uint8_t *size = floe_write_space(to, 2);
    const uint8_t *begin = to->at;
    floe_context_tables_write(spec, tables, to);
    if (size)
        floe_store16(size, (uint16_t)(to->at - begin));
}

bool floe_records_tables_read(const floe_context_spec *spec, floe_reader *from, floe_context_tables *tables)
{
    const uint32_t nbytes = floe_read16(from);
    const uint8_t *at = floe_read_bytes(from, nbytes);
    floe_reader inner = floe_reader_of(at, at ? nbytes : 0);
    return at && floe_context_tables_read(spec, &inner, tables) && floe_reader_left(&inner) == 0;
}

bool floe_records_tables_share(floe_records_sharing *s, const floe_context_spec *spec, const uint32_t *own, uint32_t i)
{
    const bool some = s->root < s->ngrids;
    const uint64_t alone = floe_context_tables_build(s->cpu, spec, own, &s->tables[i]);
    for (uint32_t k = 0; k < FLOE_CONTEXT_COUNTS && some; k++)
        s->sum[k] += own[k];
    const uint64_t together =
        some ? floe_context_tables_build(s->cpu, spec, s->sum, &s->tables[s->ngrids]) : UINT64_MAX;
    if (together <= s->cost + alone) {
        s->tables[s->root] = s->tables[s->ngrids];
        s->cost = together;
        return true;
    }
    memcpy(s->sum, own, FLOE_CONTEXT_COUNTS * sizeof *own);
    s->cost = alone;
    s->root = i;
    return false;
}
