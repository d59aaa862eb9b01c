/* SPDX-License-Identifier: BSD-3-Clause */
/* Drafts made by the CPU become tiles on a GPU: the words and entries that the CPU makes of them. */
#include "tests/gpu/gpu_kit.h"

#include "base/bytes.h"
#include "codec/lorenzo/cpu/lorenzo_segment.h"
#include "codec/lorenzo/gpu/lorenzo_device.h"

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 32) * n >> 32);
}

/* ---- fields -------------------------------------------------------------------------------------------------------- */

enum { MAX_CHUNKS = 3 };

typedef struct test_field {
    floe_dtype dtype;
    uint32_t rank;
    uint64_t extent[FLOE_MAX_RANK]; /* of a chunk; chunks stand behind one another along axis 0 */
    int64_t stride[FLOE_MAX_RANK];
    uint64_t nchunks, nelems; /* nelems: with gaps */
    void *data;
} test_field;

enum { CALM, NOISY, STEEP, CONSTANT, SPIKY, WILD, KINDS };

/* Spiky and wild fields have values of any pattern, some or only: their drafts are larger than the values. */
static void field_set(test_field *f, uint64_t i, uint32_t kind, double height, bool odd)
{
    double v = kind == CONSTANT ? 5 : (double)(i % 1000) * 0.02 + height * random_below(1u << 24) / (1u << 24);
    uint64_t bits;
    float single = (float)v;
    memcpy(&bits, &v, sizeof bits);
    if (f->dtype == FLOE_F32)
        memcpy(&bits, &single, sizeof single);
    if (odd && random_below(50) == 0)
        bits = f->dtype == FLOE_F32 ? 0x7FC00123u : 0x7FF8000000000123u;
    if (kind == WILD || (kind == SPIKY && random_below(10) == 0))
        bits = (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);
    memcpy((uint8_t *)f->data + i * floe_dtype_size(f->dtype), &bits, floe_dtype_size(f->dtype));
}

/* A slow wave with noise of any height, sometimes odd patterns; some axes have gaps. */
static void field_make(test_field *f)
{
    static const uint64_t extents[][FLOE_MAX_RANK] = {
        {20000}, {1}, {130, 140}, {70, 3}, {20, 33, 70}, {16, 16, 32}, {5, 9, 8}, {3, 17, 20, 33}, {17, 1, 40, 3}};
    static const uint32_t ranks[] = {1, 1, 2, 2, 3, 3, 3, 4, 4};
    const uint32_t pick = random_below(sizeof ranks / sizeof *ranks), kind = random_below(KINDS);
    const double height = kind == CALM ? 0 : kind == STEEP ? 1e30 : 0.01 * (1u << random_below(12));
    const bool odd = random_below(3) == 0;
    f->dtype = random_below(2) ? FLOE_F32 : FLOE_F64;
    f->rank = ranks[pick];
    f->nchunks = 1 + random_below(MAX_CHUNKS);
    f->nelems = 1 + random_below(3);
    for (uint32_t i = f->rank; i-- > 0;) {
        f->extent[i] = extents[pick][i];
        f->stride[i] = (int64_t)f->nelems;
        f->nelems = f->nelems * f->extent[i] + random_below(2);
    }
    f->nelems = f->nchunks * (f->extent[0] * (uint64_t)f->stride[0]);
    f->data = calloc(f->nelems, 8);
    assert_non_null(f->data);
    for (uint64_t i = 0; i < f->nelems; i++)
        field_set(f, i, kind, height, odd);
}

/* ---- the CPU's drafts and tiles ------------------------------------------------------------------------------------- */

typedef struct test_chunk {
    floe_view view;
    floe_quantizer quantizer;
    floe_field field;
    floe_tile_job job;
    floe_huffman_hist hist;
    floe_huffman_book book;
    uint32_t *drafts, *tiles; /* one tile behind another */
    uint32_t *draft_entries, *draft_nwords, *entries, *nwords;
    uint64_t tiles_nwords;
} test_chunk;

static uint32_t *words_alloc(uint64_t n)
{
    uint32_t *words = calloc(n + 1, sizeof *words);
    assert_non_null(words);
    return words;
}

static void chunk_make(test_chunk *c, const test_field *f, uint64_t number, double bound)
{
    const size_t size = floe_dtype_size(f->dtype);
    memset(c, 0, sizeof *c);
    assert_true(floe_view_of(f->rank, f->extent, false, &c->view));
    floe_quantizer_init(&c->quantizer, bound > 0 ? FLOE_QUANTIZER_LINEAR : FLOE_QUANTIZER_BITS, f->dtype, bound, 1e3,
                        false, 0);
    c->field = floe_field_of((uint8_t *)f->data + number * f->extent[0] * (uint64_t)f->stride[0] * size, f->dtype,
                             f->rank, f->extent);
    memcpy(c->field.stride, f->stride, sizeof f->stride);
    c->job = (floe_tile_job){.view = &c->view, .quantizer = &c->quantizer, .field = &c->field, .book = &c->book};
    for (int a = 0; a < FLOE_VIEW_AXES; a++) {
        c->job.region_hi[a] = c->view.extent[a];
        c->job.stride[a] = c->view.axis[a] < 0 ? 0 : f->stride[c->view.axis[a]];
    }
    const uint64_t n = c->view.ntiles, raw = FLOE_TILE_VALUES * size / 4;
    const floe_segment_ops *ops = floe_segment_ops_of(f->dtype, FLOE_ISA_PLAIN);
    void *scratch = calloc(1, ops->scratch_nbytes);
    floe_segment_totals totals = {0};
    assert_non_null(scratch);
    c->drafts = words_alloc(n * (2 * raw + 64));
    c->tiles = words_alloc(n * raw);
    c->draft_entries = words_alloc(n);
    c->draft_nwords = words_alloc(n);
    c->entries = words_alloc(n);
    c->nwords = words_alloc(n);
    floe_segment segment = {.count = (uint32_t)n, .words = c->drafts, .entries = c->entries, .sizes = c->nwords};
    ops->begin(scratch);
    ops->encode(&c->job, true, &segment, scratch);
    ops->totals(scratch, &totals, &c->hist);
    memcpy(c->draft_entries, c->entries, n * sizeof *c->entries);
    memcpy(c->draft_nwords, c->nwords, n * sizeof *c->nwords);
    floe_huffman_book_build(&c->hist, &c->book);
    ops->finish(&c->job, &segment, c->tiles, scratch);
    c->tiles_nwords = segment.nwords;
    free(scratch);
}

static void chunk_free(test_chunk *c)
{
    free(c->drafts);
    free(c->tiles);
    free(c->draft_entries);
    free(c->draft_nwords);
    free(c->entries);
    free(c->nwords);
}

/* ---- the GPU -------------------------------------------------------------------------------------------------------- */

static void *dev_alloc(uint64_t nbytes)
{
    void *p = NULL;
    assert_int_equal(cudaMalloc(&p, nbytes), cudaSuccess);
    assert_int_equal(cudaMemset(p, 0, nbytes), cudaSuccess);
    return p;
}
static void to_dev(void *dev, const void *from, uint64_t nbytes)
{
    assert_int_equal(cudaMemcpy(dev, from, nbytes, cudaMemcpyHostToDevice), cudaSuccess);
}
static void from_dev(void *to, const void *dev, uint64_t nbytes)
{
    assert_int_equal(cudaMemcpy(to, dev, nbytes, cudaMemcpyDeviceToHost), cudaSuccess);
}

static void call_make(floe_lorenzo_encode_call *call, const test_field *f)
{
    const size_t size = floe_dtype_size(f->dtype);
    memset(call, 0, sizeof *call);
    call->field.dtype = f->dtype;
    call->field.data = dev_alloc(f->nelems * size);
    call->huffman = true;
    call->grid.nchunks = f->nchunks;
    floe_view view;
    assert_true(floe_view_of(f->rank, f->extent, false, &view));
    call->grid.slots = (uint32_t)(floe_ceil_div(view.ntiles, FLOE_BATCH_TILES) + 1) * FLOE_BATCH_TILES;
    const uint64_t nslots = f->nchunks * call->grid.slots;
    call->capacity = (nslots * FLOE_TILE_VALUES * size + f->nchunks * 16384) / 16 * 16;
    call->stream = dev_alloc(call->capacity);
    call->chunks = dev_alloc(f->nchunks * sizeof *call->chunks);
    call->records = dev_alloc(f->nchunks * sizeof *call->records);
    call->end = dev_alloc(8);
    call->status = dev_alloc(8);
    call->place_nbytes = floe_lorenzo_place_nbytes(&call->grid);
    call->place_state[0] = dev_alloc(call->place_nbytes);
    call->spill = dev_alloc(floe_lorenzo_spill_nbytes(call));
    call->drafts = dev_alloc(nslots * FLOE_DRAFT_SLOT_WORDS * size);
    call->draft_entries = dev_alloc(nslots * 4);
    call->draft_nwords = dev_alloc(nslots * 4);
    call->books = dev_alloc(f->nchunks * sizeof *call->books);
    call->book_words = dev_alloc(f->nchunks * FLOE_HUFFMAN_BOOK_WORDS * 4);
    call->book_nwords = dev_alloc(f->nchunks * 4);
}

static void call_free(const floe_lorenzo_encode_call *c)
{
    void *all[] = {c->field.data, c->stream,         c->chunks,      c->records,       c->end,
                   c->status,     c->place_state[0], c->drafts,      c->draft_entries, c->draft_nwords,
                   c->books,      c->book_words,     c->book_nwords, c->spill};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cudaFree(all[i]);
}

/* A draft that is larger than its slot is not there. */
static void send_drafts(const floe_lorenzo_encode_call *call, const test_field *f, uint64_t number, const test_chunk *c)
{
    const size_t slot_nbytes = FLOE_DRAFT_SLOT_WORDS * floe_dtype_size(f->dtype);
    const uint64_t first = number * call->grid.slots, n = c->view.ntiles;
    const uint32_t *draft = c->drafts;
    for (uint64_t t = 0; t < n; draft += c->draft_nwords[t++])
        if (c->draft_nwords[t] * sizeof *draft <= slot_nbytes)
            to_dev((uint8_t *)call->drafts + (first + t) * slot_nbytes, draft, c->draft_nwords[t] * sizeof *draft);
    to_dev(call->draft_entries + first, c->draft_entries, n * sizeof *c->draft_entries);
    to_dev(call->draft_nwords + first, c->draft_nwords, n * sizeof *c->draft_nwords);
}

static void send_chunk(const floe_lorenzo_encode_call *call, const test_field *f, uint64_t number, const test_chunk *c)
{
    uint32_t words[FLOE_HUFFMAN_BOOK_WORDS], nwords;
    const size_t size = floe_dtype_size(f->dtype);
    floe_dev_chunk chunk = {.view = c->view, .encoder = FLOE_LORENZO_HUFFMAN, .quantizer = c->quantizer};
    chunk.ncells = 1;
    for (uint32_t i = 0; i < f->rank; i++)
        chunk.ncells *= f->extent[i];
    chunk.origin = (uint8_t *)call->field.data + number * f->extent[0] * (uint64_t)f->stride[0] * size;
    memcpy(chunk.stride, c->job.stride, sizeof chunk.stride);
    memcpy(chunk.region_hi, c->job.region_hi, sizeof chunk.region_hi);
    to_dev(call->chunks + number, &chunk, sizeof chunk);
    nwords = (uint32_t)floe_huffman_book_write(&c->book, words, FLOE_HUFFMAN_BOOK_WORDS);
    to_dev(call->books + number, &c->book, sizeof c->book);
    to_dev(call->book_words + number * FLOE_HUFFMAN_BOOK_WORDS, words, sizeof words);
    to_dev(call->book_nwords + number, &nwords, sizeof nwords);
    send_drafts(call, f, number, c);
}

static void check_chunk(const floe_lorenzo_encode_call *call, uint64_t number, const test_chunk *c)
{
    floe_dev_chunk chunk;
    from_dev(&chunk, call->chunks + number, sizeof chunk);
    assert_int_equal(chunk.payload_nwords, c->tiles_nwords);
    uint32_t *entries = words_alloc(c->view.ntiles), *words = words_alloc(c->tiles_nwords);
    from_dev(entries, call->stream + chunk.entries_at, c->view.ntiles * sizeof *entries);
    from_dev(words, call->stream + chunk.payload_at, c->tiles_nwords * sizeof *words);
    assert_memory_equal(entries, c->entries, c->view.ntiles * sizeof *entries);
    assert_memory_equal(words, c->tiles, c->tiles_nwords * sizeof *words);
    free(entries);
    free(words);
}

static void try_field(uint64_t seed)
{
    test_field f;
    static test_chunk chunks[MAX_CHUNKS];
    floe_lorenzo_encode_call call;
    uint32_t status;
    random_state = seed;
    field_make(&f);
    const double bound = random_below(4) ? 0.001 * (1u << (2 * random_below(6))) : 0;
    call_make(&call, &f);
    to_dev(call.field.data, f.data, f.nelems * floe_dtype_size(f.dtype));
    for (uint64_t i = 0; i < f.nchunks; i++) {
        chunk_make(&chunks[i], &f, i, bound);
        send_chunk(&call, &f, i, &chunks[i]);
    }
    assert_int_equal(floe_lorenzo_code_cuda(&call, NULL), 0);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    from_dev(&status, call.status, sizeof status);
    assert_int_equal(status, 0);
    for (uint64_t i = 0; i < f.nchunks; i++) {
        check_chunk(&call, i, &chunks[i]);
        chunk_free(&chunks[i]);
    }
    call_free(&call);
    free(f.data);
}

static void drafts_become_the_tiles_of_the_cpu(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++)
        try_field(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drafts_become_the_tiles_of_the_cpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
