/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoding on a GPU against the CPU: values byte for byte, what is refused, and that nothing outside the output is written.
 * Records are laid out here by hand, so that nothing but the decoder is tested. */
#include "tests/gpu/lorenzo_sample_gpu_kit.h"

#include "base/grid_math.h"
#include "codec/lorenzo/gpu/lorenzo_device.h"

enum { MAX_CHUNKS = 64, MARGIN = 64, DIRT = 0xEE, ANY_SEED = 7 };

/* ---- a stream ------------------------------------------------------------------------------------------------------ */

typedef struct stream {
    floe_codec_params params;
    uint32_t rank;
    uint64_t layout[2 * FLOE_MAX_RANK]; /* shape, chunk */
    uint64_t nchunks, nbytes;
    uint8_t *bytes;
    floe_dev_record records[MAX_CHUNKS];
} stream;

/* A record for each chunk, between margins. */
static void make_stream(const sample *c, stream *s)
{
    const floe_cpu cpu = kit_cpu(2, FLOE_ISA_AVX2);
    const size_t size = floe_dtype_size(c->dtype);
    *s = (stream){.rank = c->rank, .nchunks = 1, .nbytes = MARGIN};
    void *values = sample_make(c, ANY_SEED, &s->params);
    const floe_field all = kit_chunk(values, c->dtype, c->rank, c->shape);
    for (uint32_t i = 0; i < c->rank; i++) {
        s->layout[i] = c->shape[i];
        s->layout[FLOE_MAX_RANK + i] = c->chunk[i] ? c->chunk[i] : c->shape[i];
        s->nchunks *= floe_ceil_div(c->shape[i], s->layout[FLOE_MAX_RANK + i]);
    }
    assert_true(s->nchunks <= MAX_CHUNKS);
    for (uint64_t k = 0; k < s->nchunks; k++) {
        uint64_t lo[FLOE_MAX_RANK];
        floe_field chunk = all;
        kit_coded coded;
        floe_grid_cut(c->rank, s->layout, s->layout + FLOE_MAX_RANK, k, lo, chunk.shape);
        for (uint32_t i = 0; i < c->rank; i++)
            chunk.data = (uint8_t *)chunk.data + lo[i] * (uint64_t)chunk.stride[i] * size;
        assert_int_equal(kit_encode(&cpu, &s->params, &chunk,
                                    floe_codec_of(s->params.codec)->bound(&s->params, c->rank, chunk.shape), &coded),
                         FLOE_OK);
        s->records[k] = (floe_dev_record){s->nbytes, coded.nbytes, 0};
        const uint64_t end = (s->nbytes + FLOE_RECORD_HEAD_NBYTES + coded.nbytes + 7) / 8 * 8;
        s->bytes = realloc(s->bytes, end + MARGIN);
        assert_non_null(s->bytes);
        memset(s->bytes + (k ? s->nbytes : 0), DIRT, end + MARGIN - (k ? s->nbytes : 0));
        memcpy(s->bytes + s->nbytes + FLOE_RECORD_HEAD_NBYTES, coded.block.data, coded.nbytes);
        s->nbytes = end;
        kit_block_free(&coded.block);
    }
    s->nbytes += MARGIN;
    free(values);
}

/* ---- output -------------------------------------------------------------------------------------------------------- */

/* A box of the field and memory for it. */
typedef struct output {
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    int64_t stride[FLOE_MAX_RANK];
    uint64_t nbytes, first; /* of the memory; byte of the box's first cell */
    uint8_t *memory;
} output;

/* layout: 0 contiguous, 1 every other value along x, 2 all axes backwards, 3 rows apart; 4 and later: not aligned. */
enum { NLAYOUTS = 7 };

static void lay_output(const stream *s, int layout, output *o)
{
    const size_t size = floe_dtype_size(s->params.dtype);
    const int64_t step = layout == 1 ? 2 : 1, sign = layout == 2 ? -1 : 1;
    int64_t stride = step;
    for (uint32_t i = s->rank; i-- > 0; stride *= (int64_t)(o->hi[i] - o->lo[i])) {
        if (layout == 3 && i + 2 == s->rank)
            stride += 12; /* keeps f32 rows at multiples of 16 where they were */
        o->stride[i] = sign * stride;
    }
    o->nbytes = ((uint64_t)stride + 64) * size;
    o->first = 32 * size + (layout == 2  ? ((uint64_t)stride - 1) * size
                            : layout > 3 ? (uint64_t)(layout - 3) * size
                                         : 0);
    o->memory = malloc(o->nbytes);
    assert_non_null(o->memory);
    memset(o->memory, DIRT, o->nbytes);
}

static void whole_box(const stream *s, output *o)
{
    *o = (output){.first = 0};
    memcpy(o->hi, s->layout, sizeof o->hi);
}

/* What the CPU makes of the box, chunk by chunk. */
static floe_status decode_on_cpu(const stream *s, output *o)
{
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_AVX2);
    const size_t size = floe_dtype_size(s->params.dtype);
    floe_status all = FLOE_OK;
    for (uint64_t k = 0; k < s->nchunks; k++) {
        uint64_t at[FLOE_MAX_RANK], extent[FLOE_MAX_RANK], lo[FLOE_MAX_RANK] = {0}, hi[FLOE_MAX_RANK] = {0};
        floe_field out = {.dtype = s->params.dtype, .rank = s->rank};
        uint8_t *data = o->memory + o->first;
        bool touched = true;
        floe_error err;
        floe_grid_cut(s->rank, s->layout, s->layout + FLOE_MAX_RANK, k, at, extent);
        for (uint32_t i = 0; i < s->rank; i++) {
            const uint64_t from = floe_max64(at[i], o->lo[i]), to = floe_min64(at[i] + extent[i], o->hi[i]);
            touched = touched && from < to;
            lo[i] = from - at[i];
            hi[i] = to - at[i];
            out.shape[i] = to - from;
            out.stride[i] = o->stride[i];
            data += (int64_t)(from - o->lo[i]) * o->stride[i] * (int64_t)size;
        }
        out.data = data;
        if (!touched)
            continue;
        floe_status status =
            kit_decode_box(&cpu, &s->params, s->rank, extent, s->bytes + s->records[k].offset + FLOE_RECORD_HEAD_NBYTES,
                           s->records[k].nbytes, lo, hi, &out, &err);
        all = status == FLOE_OK ? all : status;
    }
    return all;
}

/* ---- device -------------------------------------------------------------------------------------------------------- */

static void *dev_take(uint64_t nbytes)
{
    void *p = NULL;
    CU(cudaMalloc(&p, nbytes ? nbytes : 1));
    CU(cudaMemset(p, DIRT, nbytes));
    return p;
}

typedef struct device {
    floe_lorenzo_decode_call call;
    uint8_t *stream, *memory;
    uint64_t *layout;
    floe_dev_record *records;
    uint64_t nslots;
} device;

static void device_begin(const stream *s, device *d)
{
    const uint64_t slots = floe_lorenzo_slots(s->rank, s->layout + FLOE_MAX_RANK), n = s->nchunks;
    floe_lorenzo_decode_call *c = &d->call;
    *d = (device){.nslots = n * slots};
    c->field.dtype = s->params.dtype;
    c->field.rank = s->rank;
    c->stream = d->stream = dev_take(s->nbytes);
    c->layout = d->layout = dev_take(sizeof s->layout);
    c->records = d->records = dev_take(sizeof s->records);
    c->grid = dev_take(sizeof *c->grid);
    c->max_chunks = n;
    c->max_slots = d->nslots;
    c->chunks = dev_take(n * sizeof *c->chunks);
    c->slots = dev_take(d->nslots * sizeof *c->slots);
    c->decoders = dev_take(n * sizeof *c->decoders);
    c->book_at = dev_take(n * sizeof *c->book_at);
    c->book_nwords = dev_take(n * sizeof *c->book_nwords);
    c->book_bad = dev_take(n * sizeof *c->book_bad);
    c->tables = dev_take(n * FLOE_TABLE_MAX * sizeof *c->tables);
    c->spill = dev_take(floe_lorenzo_decode_spill_nbytes(s->params.dtype, d->nslots));
    c->status = dev_take(sizeof *c->status);
    CU(cudaMemcpy(d->layout, s->layout, sizeof s->layout, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(d->records, s->records, sizeof s->records, cudaMemcpyHostToDevice));
}

static void device_end(device *d, void *decoders, void *tables)
{
    floe_lorenzo_decode_call *c = &d->call;
    void *all[] = {d->stream,      d->layout,   d->records, c->grid,   c->chunks, c->slots, c->book_at,
                   c->book_nwords, c->book_bad, c->spill,   c->status, decoders,  tables};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU(cudaFree(all[i]));
}

/* Decodes the stream as it is now into memory laid out as o's, which the caller frees. */
static uint8_t *decode_on_gpu(const stream *s, const output *o, device *d, uint32_t status, floe_status *result)
{
    floe_lorenzo_decode_call *c = &d->call;
    uint8_t *memory = malloc(o->nbytes), *dev = dev_take(o->nbytes);
    assert_non_null(memory);
    c->field.data = dev + o->first;
    for (uint32_t i = 0; i < s->rank; i++) {
        c->lo[i] = o->lo[i];
        c->hi[i] = o->hi[i];
        c->field.shape[i] = o->hi[i] - o->lo[i];
        c->field.stride[i] = o->stride[i];
    }
    CU(cudaMemcpy(d->stream, s->bytes, s->nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(c->status, &status, sizeof status, cudaMemcpyHostToDevice));
    CU(floe_lorenzo_open_cuda(&(floe_open_job){.call = *c}, NULL));
    CU(floe_lorenzo_books_cuda(c, NULL));
    CU(floe_lorenzo_decode_cuda(c, NULL));
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&status, c->status, sizeof status, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(memory, dev, o->nbytes, cudaMemcpyDeviceToHost));
    CU(cudaFree(dev));
    *result = (floe_status)status;
    return memory;
}

/* ---- comparing ----------------------------------------------------------------------------------------------------- */

static void fail_at(const stream *s, const char *what, uint64_t at)
{
    const floe_field f = {.rank = s->rank, .shape = {s->layout[0], s->layout[1], s->layout[2], s->layout[3]}};
    fail_msg("%s at byte %llu: %s", what, (unsigned long long)at, kit_describe(&s->params, &f));
}

/* Bytes of the memory that belong to cells of the box are all that may have changed. */
static void check_outside(const stream *s, const output *o, const uint8_t *memory)
{
    const size_t size = floe_dtype_size(s->params.dtype);
    uint64_t shape[FLOE_MAX_RANK], n;
    uint8_t *mine = calloc(o->nbytes, 1);
    assert_non_null(mine);
    for (uint32_t i = 0; i < s->rank; i++)
        shape[i] = o->hi[i] - o->lo[i];
    n = kit_cells(s->rank, shape);
    for (uint64_t k = 0; k < n; k++) {
        int64_t at = (int64_t)o->first;
        uint64_t rest = k;
        for (uint32_t i = s->rank; i-- > 0; rest /= shape[i])
            at += (int64_t)(rest % shape[i]) * o->stride[i] * (int64_t)size;
        memset(mine + at, 1, size);
    }
    for (uint64_t i = 0; i < o->nbytes; i++)
        if (!mine[i] && memory[i] != DIRT)
            fail_at(s, "written outside", i);
    free(mine);
}

/* The CPU's status and values, or its refusal. Returns the CPU's status. */
static floe_status check_same(const stream *s, const output *box, int layout, device *d)
{
    output o = *box;
    floe_status have;
    lay_output(s, layout, &o);
    floe_huffman_decoder *decoders = d->call.decoders;
    if (s->params.preset ==
        FLOE_PRESET_FAST) /* codebooks are not awaited, and come all the same where damage claims so */
        d->call.decoders = NULL;
    uint8_t *memory = decode_on_gpu(s, &o, d, FLOE_OK, &have);
    d->call.decoders = decoders;
    if (have == FLOE_ERR_LIMIT) {
        free(memory);
        memory = decode_on_gpu(s, &o, d, FLOE_OK, &have);
    }
    const floe_status want = decode_on_cpu(s, &o);
    if (have != want)
        fail_at(s, have == FLOE_OK ? "accepted by the GPU only" : "refused by the GPU only", (uint64_t)have);
    if (want != FLOE_OK)
        check_outside(s, &o, memory);
    for (uint64_t i = 0; want == FLOE_OK && i < o.nbytes; i++)
        if (memory[i] != o.memory[i])
            fail_at(s, "another value", i);
    free(memory);
    free(o.memory);
    return want;
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

#define PWREL    .mode = FLOE_BOUND_PWREL, .bound
#define LOSSLESS .mode = FLOE_BOUND_LOSSLESS
#define CHUNKS   .chunk

static const sample samples[] = {
    {"turbulence", F32, 3, {16, 32, 64}, ABS = 1e-3},
    {"turbulence", F32, 3, {33, 50, 100}, ABS = 1e-2},
    {"turbulence", F32, 3, {33, 33, 67}, ABS = 1e-3}, /* rows that begin anywhere */
    {"turbulence", F64, 3, {33, 33, 67}, ABS = 1e-3},
    {"turbulence", F32, 2, {131, 261}, ABS = 1e-3},
    {"turbulence", F64, 3, {32, 32, 64}, ABS = 1e-3},
    {"turbulence", F64, 3, {17, 30, 70}, ABS = 1e-6},
    {"turbulence", F32, 3, {40, 40, 40}, CHUNKS = {16, 24, 40}, ABS = 1e-4},
    {"turbulence", F32, 2, {128, 256}, ABS = 1e-3},
    {"turbulence", F64, 2, {131, 260}, ABS = 1e-4},
    {"turbulence", F32, 1, {24576}, ABS = 1e-3},
    {"turbulence", F64, 1, {20001}, ABS = 1e-5},
    {"turbulence", F32, 1, {50000}, CHUNKS = {16384}, ABS = 1e-4},
    {"mixing", F32, 4, {5, 9, 17, 33}, ABS = 1e-3},
    {"mixing", F64, 4, {6, 20, 17, 40}, CHUNKS = {4, 16, 16, 40}, ABS = 1e-3},
    {"mixing", F32, 3, {30, 40, 3}, ABS = 1e-3}, /* components */
    {"mixing", F32, 3, {20, 20, 35}, CHUNKS = {20, 20, 32}, ABS = 1e-3},
    {"mixing", F32, 3, {1, 70, 140}, ABS = 1e-3}, /* seen with fewer axes */
    {"noise", F32, 3, {20, 17, 40}, ABS = 3e-7},  /* wide residuals */
    {"noise", F32, 3, {32, 32, 32}, ABS = 1e-5},  /* sums that floats do not hold */
    {"noise", F64, 3, {16, 32, 32}, ABS = 1e-9},
    {"noise", F64, 2, {64, 128}, ABS = 1e-14},
    {"noise", F32, 1, {8192}, ABS = 1e-4},
    {"noise", F32, 3, {2, 2, 9}, ABS = 3e-7}, /* a raw tile */
    {"noise", F32, 1, {1}, ABS = 1e-3},
    {"constant", F32, 3, {17, 16, 33}, ABS = 1e-3},
    {"constant", F64, 2, {64, 256}, ABS = 1e-3},
    {"steps", F32, 3, {31, 64, 65}, ABS = 1e-3},
    {"steps", F64, 3, {16, 16, 64}, ABS = 1e-3, .fill = 700},
    {"turbulence", F32, 3, {32, 32, 64}, ABS = 1e-3, .fill = 700},
    {"turbulence", F32, 3, {32, 32, 64}, ABS = 1e-3, .dirty = 50},
    {"turbulence", F64, 2, {100, 200}, ABS = 1e-3, .dirty = 7},
    {"turbulence", F32, 1, {9000}, ABS = 1e-3, .dirty = 100, .fill = 700},
    {"hostile", F32, 3, {17, 18, 40}, ABS = 1e-3},
    {"hostile", F64, 2, {70, 150}, ABS = 1e-3},
    {"turbulence", F32, 3, {17, 32, 64}, PWREL = 1e-3},
    {"turbulence", F64, 3, {16, 30, 64}, PWREL = 1e-2, .dirty = 40},
    {"noise", F32, 2, {65, 129}, PWREL = 1e-3, .fill = 700},
    {"hostile", F32, 1, {9000}, PWREL = 1e-2},
    {"turbulence", F32, 3, {16, 32, 64}, LOSSLESS},
    {"turbulence", F64, 3, {17, 20, 40}, LOSSLESS, .dirty = 30},
    {"turbulence", F32, 3, {16, 32, 64}, LOSSLESS, .coarse = true},
    {"turbulence", F64, 2, {70, 140}, LOSSLESS, .coarse = true, .dirty = 60},
    {"turbulence", F32, 1, {9000}, LOSSLESS, .coarse = true, .fill = 700},
    {"turbulence", F64, 1, {16384}, LOSSLESS},
    {"hostile", F32, 3, {17, 18, 40}, LOSSLESS},
    {"hostile", F64, 4, {3, 5, 20, 40}, LOSSLESS},
};
enum { NSAMPLES = sizeof samples / sizeof *samples };

static void set_box(const stream *s, uint64_t *random, output *o)
{
    whole_box(s, o);
    for (uint32_t i = 0; i < s->rank; i++) {
        const uint64_t n = s->layout[i], a = hostile_below(random, n), b = hostile_below(random, n);
        o->lo[i] = floe_min64(a, b);
        o->hi[i] = floe_max64(a, b) + 1;
    }
}

static void same_values(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (uint32_t i = 0; i < 2 * NSAMPLES; i += (uint32_t)one_in(5)) {
        sample c = samples[i / 2];
        stream s;
        device d;
        output o;
        c.preset = i % 2 ? FLOE_PRESET_BALANCED : FLOE_PRESET_FAST;
        make_stream(&c, &s);
        device_begin(&s, &d);
        whole_box(&s, &o);
        for (int layout = is_small() ? (int)i % NLAYOUTS : 0; layout < NLAYOUTS; layout += is_small() ? NLAYOUTS : 1)
            assert_int_equal(check_same(&s, &o, layout, &d), FLOE_OK);
        for (int k = is_few() ? 5 : is_small() ? 4 : 0; k < 6; k++) {
            set_box(&s, &random, &o);
            assert_int_equal(check_same(&s, &o, k % NLAYOUTS, &d), FLOE_OK);
        }
        device_end(&d, d.call.decoders, d.call.tables);
        free(s.bytes);
    }
}

/* A byte, a word or a bit of a chunk, its length or a part of it: most bytes are tried in small ones. */
static void mutate(stream *s, uint64_t *random)
{
    const floe_dev_record *r = &s->records[hostile_below(random, s->nchunks)];
    uint8_t *chunk = s->bytes + r->offset + FLOE_RECORD_HEAD_NBYTES;
    const uint64_t n = 1 + hostile_below(random, 3), how = hostile_below(random, 4);
    for (uint64_t k = 0; k < n; k++) {
        /* headers, entries and the first tiles are where most is checked */
        const uint64_t reach = hostile_below(random, 3) ? floe_min64(r->nbytes, 256) : r->nbytes;
        uint8_t *at = chunk + hostile_below(random, reach);
        if (how == 0)
            *at ^= (uint8_t)(1u << hostile_below(random, 8));
        else if (how == 1)
            *at = (uint8_t)hostile_random(random);
        else if (how == 2)
            *at = hostile_below(random, 2) ? 0 : 0xFF;
        else
            *at = chunk[hostile_below(random, r->nbytes)];
    }
}

/* Entry of a tile and its words are changed so that they still add up. */
static void mutate_entry(stream *s, uint64_t *random)
{
    const uint64_t k = hostile_below(random, s->nchunks);
    uint8_t *chunk = s->bytes + s->records[k].offset + FLOE_RECORD_HEAD_NBYTES;
    uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    floe_lorenzo_chunk head;
    floe_view view;
    floe_grid_cut(s->rank, s->layout, s->layout + FLOE_MAX_RANK, k, lo, extent);
    assert_int_equal(
        floe_lorenzo_chunk_read(chunk, s->records[k].nbytes, s->params.dtype, s->rank, extent, &head, &view, NULL),
        FLOE_OK);
    uint8_t *at = chunk + head.entries_at + 4 * hostile_below(random, head.ntiles);
    uint32_t entry;
    memcpy(&entry, at, sizeof entry);
    entry ^= 1u << (16 + hostile_below(random, 7));
    memcpy(at, &entry, sizeof entry);
    if (head.payload_nwords)
        for (int i = 0; i < 2; i++) {
            const uint64_t near = floe_min64(head.payload_nwords, 24);
            uint8_t *word = chunk + head.payload_at + 4 * hostile_below(random, i ? near : head.payload_nwords);
            word[hostile_below(random, 4)] ^= (uint8_t)(1u << hostile_below(random, 8));
        }
}

static void damaged_streams(void **state)
{
    (void)state;
    const int tries = is_watched() ? 1 : is_small() ? 4 : 24, step = is_few() && !is_watched() ? 3 : 1;
    uint64_t random = 2, refused = 0, tried = 0;
    for (uint32_t i = 0; i < 2 * NSAMPLES; i++) {
        sample c = samples[i / 2];
        stream s;
        device d;
        output o;
        c.preset = i % 2 ? FLOE_PRESET_BALANCED : FLOE_PRESET_FAST;
        make_stream(&c, &s);
        device_begin(&s, &d);
        uint8_t *good = malloc(s.nbytes);
        assert_non_null(good);
        memcpy(good, s.bytes, s.nbytes);
        for (int k = (int)i / 2 % step; k < tries; k += step) {
            memcpy(s.bytes, good, s.nbytes);
            if (k % 3 == 0)
                mutate_entry(&s, &random);
            else
                mutate(&s, &random);
            whole_box(&s, &o);
            if (k % 4 == 3)
                set_box(&s, &random, &o);
            refused += check_same(&s, &o, k % NLAYOUTS, &d) != FLOE_OK;
            tried++;
        }
        free(good);
        device_end(&d, d.call.decoders, d.call.tables);
        free(s.bytes);
    }
    assert_true(refused > tried / 8 && refused < tried);
}

/* Whole numbers and residuals that no encoder writes: sums that wrap, or that floats do not hold. */
static void crafted_sums(void **state)
{
    (void)state;
    const sample kinds[] = {
        {"noise", F32, 3, {32, 32, 64}, ABS = 1e-3}, {"turbulence", F32, 3, {16, 16, 32}, ABS = 1e-5},
        {"noise", F32, 2, {64, 128}, ABS = 1e-3},    {"noise", F32, 1, {8192}, ABS = 1e-2},
        {"noise", F64, 3, {16, 16, 32}, ABS = 1e-5}, {"noise", F64, 1, {8192}, ABS = 1e-7}};
    const uint32_t bases[] = {0,          0x3FFFFF,   0x400000,   0x400001,  0xFFC00000,
                              0xFFBFFFFF, 0x7FFFFFFF, 0x80000000, 0x1000000, 0x3F0000};
    for (uint32_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++) {
        sample c = kinds[i / 2];
        stream s;
        device d;
        output o;
        c.preset = i % 2 ? FLOE_PRESET_BALANCED : FLOE_PRESET_FAST;
        make_stream(&c, &s);
        device_begin(&s, &d);
        whole_box(&s, &o);
        uint8_t *chunk = s.bytes + s.records[0].offset + FLOE_RECORD_HEAD_NBYTES;
        floe_lorenzo_chunk head;
        floe_view view;
        assert_int_equal(
            floe_lorenzo_chunk_read(chunk, s.records[0].nbytes, c.dtype, c.rank, c.shape, &head, &view, NULL), FLOE_OK);
        for (uint32_t b = 0; b < sizeof bases / sizeof *bases; b++)
            for (uint32_t mode = is_small() ? b % 4 : 0; mode < 4; mode += is_small() ? 4 : 1) {
                uint32_t entry;
                const uint32_t words[2] = {bases[b], b % 3 - 1};                  /* 0, 1 and all ones above */
                memcpy(chunk + head.payload_at, words, floe_dtype_size(c.dtype)); /* the first tile's base */
                memcpy(&entry, chunk + head.entries_at, sizeof entry);
                entry = (entry & ~(3u << FLOE_TILE_MODE_SHIFT)) | mode << FLOE_TILE_MODE_SHIFT;
                memcpy(chunk + head.entries_at, &entry, sizeof entry);
                check_same(&s, &o, 0, &d);
            }
        device_end(&d, d.call.decoders, d.call.tables);
        free(s.bytes);
    }
}

static floe_status status_with(const stream *s, device *d, uint32_t before)
{
    output o;
    floe_status status;
    whole_box(s, &o);
    lay_output(s, 0, &o);
    uint8_t *memory = decode_on_gpu(s, &o, d, before, &status);
    if (status != FLOE_OK)
        for (uint64_t i = 0; i < o.nbytes; i++)
            assert_int_equal(memory[i], DIRT);
    free(memory);
    free(o.memory);
    return status;
}

static void limits(void **state)
{
    (void)state;
    const sample table = {"turbulence",
                          F32,
                          3,
                          {32, 32, 64},
                          CHUNKS = {16, 16, 64},
                          LOSSLESS,
                          .coarse = true,
                          .preset = FLOE_PRESET_BALANCED};
    stream s;
    device d;
    make_stream(&table, &s);
    device_begin(&s, &d);
    floe_huffman_decoder *decoders = d.call.decoders;
    uint64_t *tables = d.call.tables;
    assert_int_equal(status_with(&s, &d, FLOE_OK), FLOE_OK);
    assert_int_equal(status_with(&s, &d, FLOE_ERR_CHECKSUM), FLOE_ERR_CHECKSUM);
    d.call.decoders = NULL;
    assert_int_equal(status_with(&s, &d, FLOE_OK), FLOE_ERR_LIMIT);
    d.call.decoders = decoders;
    d.call.tables = NULL;
    assert_int_equal(status_with(&s, &d, FLOE_OK), FLOE_ERR_LIMIT);
    d.call.tables = tables;
    d.call.max_chunks = s.nchunks - 1;
    assert_int_equal(status_with(&s, &d, FLOE_OK), FLOE_ERR_LIMIT);
    d.call.max_chunks = s.nchunks;
    d.call.max_slots = s.nchunks * FLOE_BATCH_TILES - 1;
    assert_int_equal(status_with(&s, &d, FLOE_OK), FLOE_ERR_LIMIT);
    device_end(&d, decoders, tables);
    free(s.bytes);
}

/* What lies in a chunk outside the box does not matter, and more room than needed does not either. */
static void only_what_is_wanted(void **state)
{
    (void)state;
    const sample c = {"turbulence", F32, 3, {32, 32, 64}, CHUNKS = {16, 16, 64}, ABS = 1e-3};
    stream s;
    device d;
    output o;
    make_stream(&c, &s);
    device_begin(&s, &d);
    whole_box(&s, &o);
    o.hi[0] = 16;
    o.lo[1] = 16;
    memset(s.bytes + s.records[0].offset + FLOE_RECORD_HEAD_NBYTES, 0xFF, s.records[0].nbytes);
    assert_int_equal(check_same(&s, &o, 0, &d), FLOE_OK);
    d.call.max_chunks = 3;
    d.call.max_slots = 3;
    assert_int_equal(status_with(&s, &d, FLOE_OK), FLOE_ERR_LIMIT);
    device_end(&d, d.call.decoders, d.call.tables);
    free(s.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_values), cmocka_unit_test(damaged_streams),     cmocka_unit_test(crafted_sums),
        cmocka_unit_test(limits),      cmocka_unit_test(only_what_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
