/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding by codec lorenzo on a GPU, and nothing else of the library: chunks are set up here by hand, with the records that
 * the CPU makes of them. For tests of the kernels that encode; the includer is a cmocka program. */
#ifndef FLOE_TESTS_GPU_LORENZO_ENCODE_GPU_KIT_H
#define FLOE_TESTS_GPU_LORENZO_ENCODE_GPU_KIT_H

#include "tests/gpu/lorenzo_sample_gpu_kit.h"

#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "codec/lorenzo/cpu/lorenzo_segment.h"
#include "container/container.h"

enum { MAX_CHUNKS = 16, FIRST_OFFSET = 24, DIRT = 0xEE };

/* ---- a field and its chunks ---------------------------------------------------------------------------------------- */

typedef struct field {
    floe_codec_params params;
    floe_dev_grid grid;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    int64_t stride[FLOE_MAX_RANK];
    uint64_t nbytes, first; /* of the memory; byte of cell 0 */
    uint8_t *memory;
} field;

static inline void lay_field(const sample *c, field *f, uint8_t *values, uint64_t n)
{
    const size_t size = floe_dtype_size(c->dtype);
    const int64_t step = c->layout == 1 ? 2 : 1, sign = c->layout == 2 ? -1 : 1;
    int64_t stride = step;
    for (uint32_t i = c->rank; i-- > 0; stride *= (int64_t)c->shape[i])
        f->stride[i] = sign * stride;
    f->nbytes = (n * (uint64_t)step + 8) * size;
    f->memory = malloc(f->nbytes);
    assert_non_null(f->memory);
    memset(f->memory, 0x11, f->nbytes);
    f->first = c->layout == 2 ? (n - 1) * size : c->layout >= 3 ? (uint64_t)(c->layout - 2) * size : 0;
    for (uint64_t i = 0; i < n; i++)
        memcpy(f->memory + f->first + (int64_t)i * step * sign * (int64_t)size, values + i * size, size);
    free(values);
}

static inline void make_field(const sample *c, field *f)
{
    *f = (field){.rank = c->rank, .grid = {.nchunks = 1}};
    lay_field(c, f, sample_make(c, 1, &f->params), kit_cells(c->rank, c->shape));
    f->params.preset = FLOE_PRESET_FAST; /* what the CPU codes it by; drafts are the same with either */
    for (uint32_t i = 0; i < c->rank; i++) {
        f->shape[i] = f->grid.shape[i] = c->shape[i];
        f->grid.chunk[i] = c->chunk[i] ? c->chunk[i] : c->shape[i];
        f->grid.nchunks *= floe_ceil_div(c->shape[i], f->grid.chunk[i]);
    }
    f->grid.slots = (uint32_t)floe_lorenzo_slots(c->rank, f->grid.chunk);
    assert_true(f->grid.nchunks <= MAX_CHUNKS);
}

/* Chunk number k as the CPU sees it. */
static inline floe_field chunk_of(const field *f, uint64_t k)
{
    floe_field chunk = {.dtype = f->params.dtype, .rank = f->rank};
    uint8_t *data = f->memory + f->first;
    for (uint32_t i = f->rank; i-- > 0;) {
        uint64_t n = floe_ceil_div(f->shape[i], f->grid.chunk[i]), lo = k % n * f->grid.chunk[i];
        k /= n;
        chunk.shape[i] = floe_min64(f->grid.chunk[i], f->shape[i] - lo);
        chunk.stride[i] = f->stride[i];
        data += (int64_t)lo * f->stride[i] * (int64_t)floe_dtype_size(f->params.dtype);
    }
    chunk.data = data;
    return chunk;
}

/* ---- device -------------------------------------------------------------------------------------------------------- */

static inline void *dev_take(uint64_t nbytes, int value)
{
    void *p = NULL;
    CU(cudaMalloc(&p, nbytes ? nbytes : 1));
    CU(cudaMemset(p, value, nbytes));
    return p;
}

static inline void *dev_copy(const void *from, uint64_t nbytes)
{
    void *p = dev_take(nbytes, 0);
    CU(cudaMemcpy(p, from, nbytes, cudaMemcpyHostToDevice));
    return p;
}

static inline void *host_copy(const void *from, uint64_t nbytes)
{
    void *p = malloc(nbytes ? nbytes : 1);
    assert_non_null(p);
    CU(cudaMemcpy(p, from, nbytes, cudaMemcpyDeviceToHost));
    return p;
}

/* What the CPU makes of each chunk, and the call that should make the same. */
typedef struct encoding {
    kit_coded coded[MAX_CHUNKS];
    floe_dev_chunk chunks[MAX_CHUNKS]; /* tables in host memory */
    floe_lorenzo_encode_call call;
    uint8_t *dev_field;
    void *dev_tables[2 * MAX_CHUNKS];
    uint64_t nbytes; /* of all records */
} encoding;

static inline void set_table(const field *f, const floe_lorenzo_chunk *head, const uint8_t *bytes, floe_quantizer *q)
{
    const size_t size = floe_dtype_size(f->params.dtype);
    floe_table_slot *slots = calloc(FLOE_TABLE_SLOTS, sizeof *slots);
    uint64_t *table = calloc(head->table_size, sizeof *table);
    uint32_t count = 0;
    assert_true(slots && table);
    for (uint32_t i = 0; i < head->table_size; i++) {
        int32_t narrow;
        int64_t wide;
        memcpy(&narrow, bytes + head->table_at + i * size, sizeof narrow);
        memcpy(&wide, bytes + head->table_at + i * size, size);
        floe_table_insert(slots, FLOE_TABLE_SLOTS - 1, (uint64_t)(size == 4 ? narrow : wide), &count, FLOE_TABLE_MAX);
    }
    floe_table_finish(slots, FLOE_TABLE_SLOTS - 1, table, count);
    assert_int_equal(count, head->table_size);
    q->kind = FLOE_QUANTIZER_TABLE;
    q->table_size = count;
    q->slots_mask = FLOE_TABLE_SLOTS - 1;
    q->table = table;
    q->slots = slots;
}

static inline void set_chunk(const field *f, uint64_t k, encoding *e)
{
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    const floe_field chunk = chunk_of(f, k);
    kit_coded *coded = &e->coded[k];
    floe_lorenzo_chunk head;
    floe_dev_chunk *d = &e->chunks[k];
    assert_int_equal(kit_encode(&cpu, &f->params, &chunk,
                                floe_codec_of(f->params.codec)->bound(&f->params, f->rank, chunk.shape), coded),
                     FLOE_OK);
    *d = (floe_dev_chunk){.ncells = kit_cells(f->rank, chunk.shape)};
    assert_int_equal(floe_lorenzo_chunk_read(coded->block.data, coded->nbytes, f->params.dtype, f->rank, chunk.shape,
                                             &head, &d->view, NULL),
                     FLOE_OK);
    d->swap = head.swap;
    d->origin = e->dev_field + ((uint8_t *)chunk.data - f->memory);
    for (int a = 0; a < FLOE_VIEW_AXES; a++) {
        d->region_hi[a] = d->view.extent[a];
        d->stride[a] = d->view.axis[a] < 0 ? (a == FLOE_VIEW_X) : chunk.stride[d->view.axis[a]];
    }
    const floe_codec_params *p = &f->params;
    const bool table = head.kind == FLOE_QUANTIZER_TABLE;
    floe_quantizer_init(&d->quantizer, table ? FLOE_QUANTIZER_BITS : head.kind, p->dtype, p->bound, p->max_abs,
                        p->has_fill, p->fill_bits);
    if (table)
        set_table(f, &head, coded->block.data, &d->quantizer);
}

static inline void begin_encoding(const field *f, encoding *e)
{
    const uint64_t nslots = f->grid.nchunks * f->grid.slots, size = floe_dtype_size(f->params.dtype);
    const uint64_t draft_words = nslots * FLOE_DRAFT_SLOT_WORDS * (size / 4);
    floe_dev_chunk chunks[MAX_CHUNKS];
    *e = (encoding){.nbytes = 0};
    e->dev_field = dev_copy(f->memory, f->nbytes);
    for (uint64_t k = 0; k < f->grid.nchunks; k++) {
        set_chunk(f, k, e);
        e->nbytes += floe_record_nbytes(e->coded[k].nbytes);
        chunks[k] = e->chunks[k];
        floe_quantizer *q = &chunks[k].quantizer;
        if (q->table) {
            q->table = e->dev_tables[2 * k] = dev_copy(q->table, q->table_size * sizeof *q->table);
            q->slots = e->dev_tables[2 * k + 1] = dev_copy(q->slots, FLOE_TABLE_SLOTS * sizeof *q->slots);
        }
    }
    floe_lorenzo_encode_call *c = &e->call;
    c->field.dtype = f->params.dtype;
    c->field.rank = f->rank;
    c->grid = f->grid;
    c->chunks = dev_copy(chunks, f->grid.nchunks * sizeof *chunks);
    c->first_offset = FIRST_OFFSET;
    c->capacity = FIRST_OFFSET + e->nbytes;
    c->stream = dev_take(c->capacity + 64, DIRT);
    c->records = dev_take(f->grid.nchunks * sizeof *c->records, 0);
    c->end = dev_take(sizeof *c->end, 0);
    c->status = dev_take(sizeof *c->status, 0);
    c->retry = dev_take(sizeof *c->retry, 0);
    c->place_nbytes = floe_lorenzo_place_nbytes(&c->grid);
    for (int i = 0; i < 2; i++)
        c->place_state[i] = dev_take(c->place_nbytes, 0);
    c->spill = dev_take(floe_lorenzo_spill_nbytes(c), DIRT);
    c->drafts = dev_take(4 * draft_words, DIRT);
    c->draft_entries = dev_take(4 * nslots, DIRT);
    c->draft_nwords = dev_take(4 * nslots, DIRT);
    c->hists = dev_take(f->grid.nchunks * sizeof *c->hists, 0);
}

static inline void end_encoding(const field *f, encoding *e)
{
    floe_lorenzo_encode_call *c = &e->call;
    void *all[] = {c->chunks,        c->stream,         c->records,        c->end,      c->status,
                   c->retry,         c->place_state[0], c->place_state[1], c->spill,    c->drafts,
                   c->draft_entries, c->draft_nwords,   c->hists,          e->dev_field};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU(cudaFree(all[i]));
    for (uint64_t k = 0; k < f->grid.nchunks; k++) {
        CU(cudaFree(e->dev_tables[2 * k]));
        CU(cudaFree(e->dev_tables[2 * k + 1]));
        free((void *)(uintptr_t)e->chunks[k].quantizer.table);
        free((void *)(uintptr_t)e->chunks[k].quantizer.slots);
        kit_block_free(&e->coded[k].block);
    }
    free(f->memory);
}

static inline void begin(const sample *c, field *f, encoding *e)
{
    make_field(c, f);
    begin_encoding(f, e);
}

/* ---- comparing ----------------------------------------------------------------------------------------------------- */

static inline void compare_stats(const field *f, const encoding *e, uint32_t attempt)
{
    floe_dev_chunk *chunks = host_copy(e->call.chunks, f->grid.nchunks * sizeof *chunks);
    for (uint64_t k = 0; k < f->grid.nchunks; k++) {
        const floe_dev_chunk_stats *g = &chunks[k].stats[attempt];
        const floe_chunk_stats *want = &e->coded[k].stats;
        assert_int_equal(g->nexceptions, want->nexceptions);
        assert_int_equal(g->max_error_bits, floe_bits_f64(want->max_error));
        assert_int_equal(g->max_pw_error_bits, floe_bits_f64(want->max_pw_error));
    }
    free(chunks);
}

static inline void compare_records(const sample *c, const field *f, const encoding *e)
{
    uint8_t *stream = host_copy(e->call.stream, e->call.capacity + 64);
    floe_dev_record *records = host_copy(e->call.records, f->grid.nchunks * sizeof *records);
    uint64_t *end = host_copy(e->call.end, sizeof *end), at = FIRST_OFFSET;
    for (uint64_t k = 0; k < f->grid.nchunks; k++) {
        const uint8_t *want = e->coded[k].block.data;
        const uint64_t n = e->coded[k].nbytes, payload = at + FLOE_RECORD_HEAD_NBYTES;
        assert_int_equal(records[k].offset, at);
        for (uint64_t i = at; i < payload; i++)
            assert_int_equal(stream[i], DIRT); /* the head is not ours */
        for (uint64_t i = 0; i < n; i++)
            if (stream[payload + i] != want[i])
                fail_msg("%s, %s: chunk %llu: byte %llu of %llu", c->kind, kit_describe(&f->params, &(floe_field){0}),
                         (unsigned long long)k, (unsigned long long)i, (unsigned long long)n);
        assert_int_equal(records[k].nbytes, n);
        at += floe_record_nbytes(n);
        for (uint64_t i = payload + n; i < at; i++)
            assert_int_equal(stream[i], 0);
    }
    assert_int_equal(*end, at);
    for (int i = 0; i < 64; i++)
        assert_int_equal(stream[at + (uint64_t)i], DIRT);
    free(stream);
    free(records);
    free(end);
}

/* The CPU's drafts of a chunk, tile by tile, against the slots; then the histogram. */
static inline void compare_drafts(const sample *c, const field *f, encoding *e, uint64_t k)
{
    const uint64_t slot_words = FLOE_DRAFT_SLOT_WORDS * (floe_dtype_size(f->params.dtype) / 4);
    const floe_segment_ops *ops = floe_segment_ops_of(f->params.dtype, FLOE_ISA_PLAIN);
    const floe_field chunk = chunk_of(f, k);
    floe_dev_chunk *d = &e->chunks[k];
    floe_tile_job job = {.view = &d->view, .quantizer = &d->quantizer, .field = &chunk};
    memcpy(job.region_hi, d->region_hi, sizeof job.region_hi);
    memcpy(job.stride, d->stride, sizeof job.stride);
    const uint64_t first = k * f->grid.slots;
    uint32_t *entries = host_copy(e->call.draft_entries + first, 4 * d->view.ntiles);
    uint32_t *nwords = host_copy(e->call.draft_nwords + first, 4 * d->view.ntiles);
    uint32_t *drafts = host_copy(e->call.drafts + first * slot_words, 4 * slot_words * d->view.ntiles);
    floe_huffman_hist *hist = host_copy(e->call.hists + k, sizeof *hist), want;
    uint32_t *words = malloc(4 * 80000), entry, size;
    void *scratch = malloc(ops->scratch_nbytes);
    assert_true(words && scratch);
    ops->begin(scratch);
    for (uint64_t i = 0; i < d->view.ntiles; i++) {
        floe_segment segment = {.first = i, .count = 1, .words = words, .entries = &entry, .sizes = &size};
        ops->encode(&job, true, &segment, scratch);
        const uint32_t *draft = drafts + i * slot_words, kind = entry >> FLOE_TILE_KIND_SHIFT & 3;
        if (kind == FLOE_TILE_CODED && entries[i] == entry && (draft[0] & FLOE_DRAFT_SYMBOLS)) {
            const uint32_t nprefix = draft[0] & ~FLOE_DRAFT_SYMBOLS; /* of symbols the histogram shows */
            if (nprefix != words[0] || memcmp(draft + 1, words + 1, 4 * nprefix) != 0)
                fail_msg("%s: draft %llu: prefix", c->kind, (unsigned long long)i);
            continue;
        }
        if (entries[i] != entry || nwords[i] != size)
            fail_msg("%s: draft %llu: entry %x, %u words instead of %x, %u", c->kind, (unsigned long long)i, entries[i],
                     nwords[i], entry, size);
        for (uint32_t w = 0; w < size && size <= slot_words; w++)
            if (draft[w] != words[w])
                fail_msg("%s: draft %llu of %u words: word %u", c->kind, (unsigned long long)i, size, w);
    }
    floe_segment_totals totals = {.nexceptions = 0};
    floe_huffman_hist_clear(&want);
    ops->totals(scratch, &totals, &want);
    for (int t = 0; t < FLOE_HUFFMAN_TABLES; t++)
        for (int s = 0; s < FLOE_HUFFMAN_SYMBOLS; s++)
            if (hist->count[t][s] != want.count[t][s])
                fail_msg("%s: table %d, symbol %d: %u instead of %u", c->kind, t, s, hist->count[t][s],
                         want.count[t][s]);
    free(entries), free(nwords), free(drafts), free(hist), free(words), free(scratch);
}

static inline uint32_t status_of(const encoding *e)
{
    uint32_t *status = host_copy(e->call.status, sizeof *status), s = *status;
    free(status);
    return s;
}

/* Nothing has been written to these bytes of the stream. */
static inline void compare_untouched(const encoding *e, uint64_t from, uint64_t to)
{
    uint8_t *stream = host_copy(e->call.stream, to);
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(stream[i], DIRT);
    free(stream);
}

/* Room for some bytes fewer than are needed: encode reports that it does not fit. */
static inline void check_room(const sample *c, void (*encode)(encoding *e))
{
    for (uint64_t less = 1; less < 40000; less += 9999) {
        field f;
        encoding e;
        begin(c, &f, &e);
        const uint64_t all = e.call.capacity;
        e.call.capacity -= less;
        encode(&e);
        assert_int_equal(status_of(&e), FLOE_ERR_CAPACITY);
        compare_untouched(&e, e.call.capacity, all);
        end_encoding(&f, &e);
    }
}

/* ---- samples ------------------------------------------------------------------------------------------------------- */

static const sample samples[] = {
    {"turbulence", F32, 3, {33, 50, 100}, {0}, ABS = 1e-2},
    {"turbulence", F64, 3, {33, 50, 100}, {0}, ABS = 1e-2},
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3},
    {"turbulence", F64, 3, {32, 32, 64}, {0}, ABS = 1e-5},
    {"turbulence", F32, 3, {48, 48, 96}, {32, 32, 64}, ABS = 1e-4},
    {"turbulence", F64, 3, {40, 40, 40}, {16, 32, 32}, ABS = 1e-4},
    {"turbulence", F32, 2, {130, 257}, {0}, ABS = 1e-3},
    {"turbulence", F64, 2, {130, 257}, {0}, ABS = 1e-3},
    {"turbulence", F32, 2, {128, 256}, {64, 128}, ABS = 1e-3},
    {"turbulence", F32, 1, {20000}, {0}, ABS = 1e-3},
    {"turbulence", F64, 1, {20000}, {9000}, ABS = 1e-3},
    {"turbulence", F32, 4, {5, 18, 20, 40}, {0}, ABS = 1e-3},
    {"turbulence", F64, 4, {3, 18, 20, 12}, {2, 9, 20, 12}, ABS = 1e-3},
    {"turbulence", F32, 4, {9, 10, 20, 3}, {0}, ABS = 1e-3},
    {"turbulence", F32, 3, {1, 1, 1}, {0}, ABS = 1e-3},
    {"turbulence", F64, 2, {7, 1}, {0}, ABS = 1e-3},
    {"turbulence", F32, 3, {7, 9, 129}, {0}, ABS = 1e-3},
    {"noise", F32, 3, {20, 17, 40}, {0}, ABS = 3e-7},
    {"noise", F64, 3, {20, 17, 40}, {0}, ABS = 3e-16},
    {"noise", F64, 3, {32, 16, 32}, {0}, ABS = 3e-14},
    {"noise", F32, 3, {2, 2, 9}, {0}, ABS = 3e-7},
    {"noise", F32, 3, {32, 16, 32}, {0}, ABS = 1e-6},
    {"noise", F32, 2, {64, 128}, {0}, ABS = 1e-6},
    {"noise", F32, 1, {8192}, {0}, ABS = 1e-6},
    {"constant", F32, 3, {17, 16, 33}, {0}, ABS = 1e-3},
    {"constant", F64, 3, {16, 16, 32}, {0}, ABS = 1e-3},
    {"mixing", F32, 3, {48, 32, 96}, {0}, ABS = 1e-4},
    {"steps", F32, 3, {31, 64, 65}, {0}, ABS = 1e-3},
    {"hostile", F32, 3, {17, 18, 40}, {0}, ABS = 1e-3},
    {"hostile", F64, 3, {17, 18, 40}, {9, 18, 40}, ABS = 1e-3},
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3, .dirty = 37},
    {"turbulence", F64, 3, {32, 33, 64}, {0}, ABS = 1e-3, .dirty = 3000},
    {"turbulence", F32, 2, {128, 200}, {0}, ABS = 1e-3, .dirty = 5},
    {"turbulence", F32, 1, {20000}, {0}, ABS = 1e-3, .dirty = 50},
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3, .fill = 700},
    {"turbulence", F64, 1, {20000}, {0}, ABS = 1e-3, .fill = 700, .dirty = 11},
    {"turbulence", F32, 2, {100, 300}, {0}, ABS = 1e-3, .fill = 700},
    {"turbulence", F32, 3, {20, 30, 40}, {0}, .mode = FLOE_BOUND_PWREL, .bound = 1e-3, .dirty = 101},
    {"turbulence", F64, 3, {20, 30, 40}, {0}, .mode = FLOE_BOUND_PWREL, .bound = 1e-3},
    {"turbulence",
     F32,
     3,
     {5, 5, 300},
     {4, 4, 300},
     .mode = FLOE_BOUND_PWREL,
     .bound = 1e-3}, /* at the border of rank 1 */
    {"turbulence", F64, 2, {5, 300}, {4, 300}, .mode = FLOE_BOUND_LOSSLESS},
    {"turbulence", F32, 3, {20, 30, 40}, {0}, .mode = FLOE_BOUND_LOSSLESS},
    {"turbulence", F64, 2, {60, 140}, {0}, .mode = FLOE_BOUND_LOSSLESS, .dirty = 90},
    {"turbulence", F32, 3, {20, 30, 40}, {0}, .mode = FLOE_BOUND_LOSSLESS, .coarse = true},
    {"turbulence", F64, 3, {20, 30, 40}, {10, 30, 40}, .mode = FLOE_BOUND_LOSSLESS, .coarse = true},
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3, .layout = 1},
    {"turbulence", F64, 3, {32, 32, 64}, {0}, ABS = 1e-3, .layout = 2},
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3, .layout = 3},
    {"turbulence", F32, 2, {64, 128}, {0}, ABS = 1e-3, .layout = 2},
    {"turbulence", F32, 1, {9000}, {0}, ABS = 1e-3, .layout = 2, .dirty = 100},
    {"turbulence", F32, 1, {40000}, {0}, ABS = 1e-3, .fill = 8192}, /* tiles of nothing else */
    {"turbulence", F64, 3, {32, 16, 40}, {0}, ABS = 1e-3, .fill = 10240},
    {"turbulence", F64, 1, {40000}, {0}, ABS = 1e-3, .fill = 2048}, /* steps of nothing else */
    {"constant", F64, 3, {20, 16, 33}, {0}, ABS = 1e-3, .dirty = 100},
    {"constant", F64, 3, {17, 17, 33}, {0}, ABS = 1e-3}, /* a tile of one value */
    /* whole tiles whose residuals are small up to some step, or the numbers large */
    {"turbulence", F32, 3, {64, 16, 32}, {0}, ABS = 1e-3, .spike = 3500},
    {"turbulence", F32, 2, {128, 128}, {0}, ABS = 1e-3, .spike = 5000},
    {"turbulence", F32, 1, {32768}, {0}, ABS = 1e-3, .spike = 3000},
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3, .spike = 9000, .dirty = 20000},
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3, .high = 2097000},
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3, .high = -4194000},
    {"turbulence", F32, 1, {16384}, {0}, ABS = 1e-3, .high = 4194000},
    /* rows that begin anywhere: tiles whole and cut off along each axis */
    {"turbulence", F32, 3, {33, 33, 67}, {0}, ABS = 1e-3},
    {"turbulence", F32, 3, {32, 34, 69}, {0}, ABS = 1e-3, .layout = 3},
    {"turbulence", F32, 3, {35, 32, 70}, {0}, ABS = 1e-3, .layout = 4},
    {"turbulence", F32, 3, {34, 47, 71}, {17, 47, 71}, ABS = 1e-3, .layout = 5},
    {"turbulence", F32, 3, {3, 5, 7}, {0}, ABS = 1e-3, .layout = 4},
    {"turbulence", F32, 4, {2, 17, 18, 35}, {0}, ABS = 1e-3},
    {"turbulence", F64, 3, {33, 33, 67}, {0}, ABS = 1e-3, .layout = 3},
    {"turbulence", F32, 2, {131, 261}, {0}, ABS = 1e-3, .layout = 3},
    {"turbulence", F32, 2, {5, 130}, {0}, ABS = 1e-3, .layout = 5},
    {"turbulence", F64, 2, {65, 131}, {0}, ABS = 1e-3},
    {"turbulence", F32, 1, {20001}, {0}, ABS = 1e-3, .layout = 4},
    {"turbulence", F64, 1, {20001}, {0}, ABS = 1e-3, .layout = 3},
    {"turbulence", F32, 3, {41, 18, 45}, {0}, ABS = 1e-3, .spike = 3500},
    {"turbulence", F32, 2, {70, 150}, {0}, ABS = 1e-3, .spike = 5000},
    {"turbulence", F32, 1, {30001}, {0}, ABS = 1e-3, .spike = 3000, .layout = 3},
    {"turbulence", F32, 3, {33, 33, 67}, {0}, ABS = 1e-3, .high = 2097000},
    {"turbulence", F32, 3, {33, 33, 67}, {0}, ABS = 1e-3, .high = -4194000},
    {"noise", F32, 3, {33, 17, 45}, {0}, ABS = 1e-6},
    /* holes: some in a row, whole rows, planes and tiles; beside others, or residuals too wide */
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3, .fill = 1},
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3, .fill = 11},
    {"turbulence", F32, 3, {33, 33, 67}, {0}, ABS = 1e-3, .fill = 37},
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3, .fill = 3000},
    {"turbulence", F32, 3, {33, 33, 67}, {0}, ABS = 1e-3, .fill = 3000, .layout = 3},
    {"turbulence", F32, 3, {33, 18, 67}, {0}, ABS = 1e-3, .fill = 20000},
    {"turbulence", F32, 3, {33, 33, 67}, {0}, ABS = 1e-3, .fill = 300, .nan = true},
    {"turbulence", F64, 3, {33, 33, 67}, {0}, ABS = 1e-3, .fill = 37},
    {"turbulence", F64, 3, {32, 32, 64}, {0}, ABS = 1e-3, .fill = 3000, .nan = true},
    {"turbulence", F32, 2, {131, 261}, {0}, ABS = 1e-3, .fill = 90},
    {"turbulence", F32, 2, {131, 261}, {0}, ABS = 1e-3, .fill = 1000, .layout = 3},
    {"turbulence", F64, 2, {65, 131}, {0}, ABS = 1e-3, .fill = 200},
    {"turbulence", F32, 1, {20001}, {0}, ABS = 1e-3, .fill = 50},
    {"turbulence", F32, 1, {40001}, {0}, ABS = 1e-3, .fill = 2500, .nan = true},
    {"turbulence", F64, 1, {20001}, {0}, ABS = 1e-3, .fill = 1100},
    {"turbulence", F32, 3, {32, 32, 64}, {0}, ABS = 1e-3, .fill = 700, .dirty = 9000},
    {"constant", F32, 3, {20, 16, 33}, {0}, ABS = 1e-3, .fill = 100},
    {"noise", F32, 3, {33, 17, 45}, {0}, ABS = 1e-6, .fill = 300},
    {"noise", F32, 3, {33, 17, 45}, {0}, ABS = 3e-7, .fill = 5},
    {"noise", F64, 3, {17, 17, 40}, {0}, ABS = 3e-13, .fill = 300},
    /* drafts of which nothing is left: few cells a group */
    {"noise", F32, 3, {17, 17, 40}, {0}, ABS = 3e-7, .layout = 1},
    {"noise", F32, 3, {17, 17, 40}, {0}, ABS = 3e-6},
    {"noise", F64, 3, {17, 17, 40}, {0}, ABS = 3e-16, .layout = 1},
    {"noise", F64, 3, {17, 17, 40}, {0}, ABS = 3e-13},
};
enum { NSAMPLES = sizeof samples / sizeof *samples };

#endif
