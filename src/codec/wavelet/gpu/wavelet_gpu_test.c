/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec wavelet's decoder on a GPU: of a chunk that the CPU made, all of it and a box, it gives the CPU's values; what is damaged it
 * finds damaged as the CPU does. Whole calls decode streams of many chunks. */
#define LATTICE_CODEC FLOE_CODEC_WAVELET
enum { LATTICE_SHAPES = 1, LATTICE_LARGE = 1 };
#include "tests/lattice_kit.h"

#include "backend/cuda.h"
#include "codec/wavelet/gpu/wavelet_codec_gpu.h"
#include "codec/wavelet/wavelet_records_math.h"
#include "field/dtype_math.h"
#include "tests/gpu/contexts_gpu_kit.h"

enum { AHEAD = 64 /* bytes of a stream before the payload's record */ };

/* A chunk's payload in a stream, and the box of it that is wanted. Outputs lie backwards, two apart. */
typedef struct part {
    const floe_codec_params *p;
    const uint8_t *src;
    uint64_t nbytes, lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    const uint64_t *extent;
    uint32_t rank;
} part;

static void *device_copy(const void *host, uint64_t nbytes)
{
    void *dev;
    CU(cudaMalloc(&dev, nbytes));
    CU(cudaMemcpy(dev, host, nbytes, cudaMemcpyHostToDevice));
    return dev;
}

/* Before the stream, what the container's kernels would have found. */
typedef struct found {
    uint64_t layout[2 * FLOE_MAX_RANK], nrecords;
    floe_dev_record record;
    uint32_t status;
} found;

static found *found_of(const part *t)
{
    found f = {.nrecords = 1, .record = {.offset = AHEAD - FLOE_RECORD_HEAD_NBYTES, .nbytes = t->nbytes}};
    memcpy(f.layout, t->extent, t->rank * sizeof *t->extent);
    memcpy(f.layout + FLOE_MAX_RANK, t->extent, t->rank * sizeof *t->extent);
    return device_copy(&f, sizeof f);
}

static floe_status decode_by_gpu(const part *t, floe_dev_field field)
{
    static floe_cuda cuda;
    floe_codec_decode d = {.dtype = t->p->dtype, .rank = t->rank, .field = field, .cuda = &cuda};
    floe_arena plan = floe_arena_plan();
    floe_error err = {FLOE_OK, ""};
    found *dev = found_of(t), got;
    void *scratch, *stream;
    uint8_t *host = calloc(1, AHEAD + t->nbytes);
    if (!cuda.fetched && floe_cuda_open(&cuda, -1, NULL, NULL, 0, &err) != FLOE_OK)
        fail_msg("%s", err.message);
    memcpy(host + AHEAD, t->src, t->nbytes);
    stream = device_copy(host, AHEAD + t->nbytes);
    memcpy(d.shape, t->extent, t->rank * sizeof *d.shape);
    memcpy(d.chunk, t->extent, t->rank * sizeof *d.chunk);
    memcpy(d.lo, t->lo, sizeof d.lo);
    memcpy(d.hi, t->hi, sizeof d.hi);
    d.stream = stream;
    d.layout = dev->layout;
    d.nrecords = &dev->nrecords;
    d.records = &dev->record;
    d.status = &dev->status;
    assert_int_equal(floe_wavelet_gpu.decode_plan(&d, &err), FLOE_OK);
    floe_wavelet_gpu.decode_take(&d, &plan);
    CU(cudaMalloc(&scratch, plan.used));
    CU(cudaMemset(scratch, 0xFF, plan.used)); /* of NaN, which no value that is right depends on */
    floe_arena arena = floe_arena_of(scratch, plan.used);
    floe_wavelet_gpu.decode_take(&d, &arena);
    if (floe_wavelet_gpu.decode_start(&d, NULL, &err) != FLOE_OK)
        fail_msg("%s", err.message);
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&got, dev, sizeof got, cudaMemcpyDeviceToHost));
    CU(cudaFree(scratch));
    CU(cudaFree(stream));
    CU(cudaFree(dev));
    free(host);
    return (floe_status)got.status;
}

/* The same status and values as the CPU's, and nothing beside them. Returns the status. */
static floe_status compare(const part *t)
{
    const floe_cpu host = kit_cpu(1, FLOE_ISA_AVX2);
    const uint64_t size = floe_dtype_size(t->p->dtype);
    uint64_t n[FLOE_MAX_RANK], count = 1;
    floe_dev_field field = {.dtype = t->p->dtype, .rank = t->rank};
    for (uint32_t a = t->rank; a-- > 0; count *= n[a]) {
        n[a] = t->hi[a] - t->lo[a];
        field.shape[a] = n[a];
        field.stride[a] = -2 * (int64_t)count;
    }
    uint8_t *wanted = malloc(count * size), *got = malloc(2 * count * size), *dev;
    const floe_field out = kit_chunk(wanted, t->p->dtype, t->rank, n);
    memset(got, 0xEE, 2 * count * size);
    dev = device_copy(got, 2 * count * size);
    field.data = dev + 2 * (count - 1) * size;
    const floe_status status =
        kit_decode_box(&host, t->p, t->rank, t->extent, t->src, t->nbytes, t->lo, t->hi, &out, NULL);
    const floe_status by_gpu = decode_by_gpu(t, field);
    CU(cudaMemcpy(got, dev, 2 * count * size, cudaMemcpyDeviceToHost));
    for (uint64_t i = 0; i < count * size; i++) {
        const uint64_t at = 2 * (count - 1 - i / size) * size + i % size;
        assert_true(status != FLOE_OK || by_gpu != FLOE_OK || got[at] == wanted[i]);
        assert_int_equal(got[at + size], 0xEE);
    }
    CU(cudaFree(dev));
    free(wanted);
    free(got);
    if (by_gpu != status && by_gpu != FLOE_ERR_LIMIT)
        fail_msg("status %d instead of %d", (int)by_gpu, (int)status);
    return by_gpu;
}

static part part_of(const floe_codec_params *p, const floe_field *chunk, const uint8_t *src, uint64_t nbytes)
{
    part t = {.p = p, .src = src, .nbytes = nbytes, .extent = chunk->shape, .rank = chunk->rank};
    memcpy(t.hi, chunk->shape, sizeof t.hi);
    return t;
}

/* So many boxes, the first of all values, the others ever smaller. */
static void compare_boxes(part *t, uint64_t count, uint64_t *state, const floe_field *chunk)
{
    for (uint64_t k = 0; k < count; k++) {
        for (uint32_t a = 0; a < t->rank && k; a++) {
            t->lo[a] = hostile_below(state, t->extent[a]);
            t->hi[a] = t->lo[a] + 1 + hostile_below(state, (t->extent[a] - t->lo[a] - 1) / k + 1);
        }
        if (compare(t) != FLOE_OK)
            fail_msg("box %llu: %s", (unsigned long long)k, kit_describe(t->p, chunk));
    }
}

static void one_chunk(floe_dtype dtype, uint32_t rank, const uint64_t *extent, uint64_t turn)
{
    const uint64_t n = kit_cells(rank, extent);
    const hostile_kind kind = turn % 3 ? (hostile_kind)(turn / 3 % HOSTILE_KINDS) : HOSTILE_SMOOTH;
    const floe_codec_params p =
        params_of(dtype, presets[turn / 2 % 3], modes[turn % HOSTILE_COUNT(modes)], turn / 4 & 1);
    const floe_cpu host = kit_cpu(1, FLOE_ISA_AVX2);
    void *data = malloc((size_t)n * 8);
    uint64_t state = turn;
    kit_coded coded;
    hostile_fill(dtype, kind, n, 0.25, hostile_bits(dtype, fill_value), turn, data);
    floe_field chunk = kit_chunk(data, dtype, rank, extent);
    KIT_MUST(kit_encode(&host, &p, &chunk, floe_codec_of(p.codec)->bound(&p, rank, extent), &coded) == FLOE_OK);
    part t = part_of(&p, &chunk, coded.block.data, coded.nbytes);
    compare_boxes(&t, 4, &state, &chunk);
    kit_block_free(&coded.block);
    free(data);
}

static void shapes_modes_and_kinds(void **unused)
{
    static const struct {
        uint32_t rank;
        uint64_t extent[FLOE_MAX_RANK];
    } large[] = {{1, {40000}},        {2, {130, 700}}, {3, {24, 50, 60}},
                 {4, {9, 7, 18, 30}}, {2, {2000, 3}},  {3, {3, 400, 7}}};
    uint64_t state = 9, turn = 0;
    (void)unused;
    for (uint64_t n = 1; n <= 40; n += (uint64_t)(is_watched() ? 7 : few_in(3)))
        one_chunk(turn & 1 ? FLOE_F64 : FLOE_F32, 1, &n, turn), turn++;
    for (int k = 0; k < (is_watched() ? 10 : is_few() ? 24 : is_small() ? 60 : 400); k++, turn++) {
        uint64_t extent[FLOE_MAX_RANK];
        const uint32_t rank = 2 + (uint32_t)(k % 3);
        for (uint32_t a = 0; a < rank; a++)
            extent[a] = 1 + hostile_below(&state, rank == 2 ? 70 : rank == 3 ? 30 : 12);
        one_chunk(k / 3 & 1 ? FLOE_F64 : FLOE_F32, rank, extent, turn);
    }
    for (uint64_t i = 0; i < HOSTILE_COUNT(large); i += (uint64_t)one_in(6), turn++)
        one_chunk(i & 1 ? FLOE_F64 : FLOE_F32, large[i].rank, large[i].extent, 3 * turn);
}

/* Smooth along the slowest axis alone: a packet is made of it. Where columns are more apart, the other axes may be frozen instead. */
static void fill_columns(floe_dtype dtype, const uint64_t *extent, uint64_t n, double apart, void *data)
{
    const uint64_t slowest = extent[0], ncolumns = n / slowest;
    uint64_t state = n;
    for (uint64_t x = 0; x < ncolumns; x++) {
        const double size = 1 + apart * hostile_uniform(&state), phase = apart * hostile_uniform(&state);
        for (uint64_t z = 0; z < slowest; z++)
            hostile_put(dtype, data, (int64_t)(z * ncolumns + x),
                        hostile_bits(dtype, size * sin((double)z * 0.2 + phase)));
    }
}

static void boxes_of_packets(void **unused)
{
    static const struct {
        uint32_t rank;
        uint64_t extent[FLOE_MAX_RANK];
    } shapes[] = {{3, {40, 20, 31}}, {3, {33, 18, 150}}, {2, {60, 301}}, {4, {50, 9, 7, 11}}, {3, {80, 30, 28}}};
    uint64_t state = 5;
    (void)unused;
    for (size_t i = 0; i < 2 * HOSTILE_COUNT(shapes); i += (size_t)few_in(2)) {
        const size_t k = i % HOSTILE_COUNT(shapes);
        const double apart = i < HOSTILE_COUNT(shapes) ? 0.3 : 1.5;
        const uint64_t *extent = shapes[k].extent, n = kit_cells(shapes[k].rank, extent);
        const floe_codec_params p =
            params_of(k % 2 ? FLOE_F64 : FLOE_F32, FLOE_PRESET_BALANCED, modes[k % 2 ? 1 : 3], false);
        const floe_cpu host = kit_cpu(1, FLOE_ISA_AVX2);
        void *data = malloc(n * 8);
        floe_wavelet_chunk read = {.turns = 0};
        kit_coded coded;
        fill_columns(p.dtype, extent, n, apart, data);
        floe_field chunk = kit_chunk(data, p.dtype, shapes[k].rank, extent);
        KIT_MUST(kit_encode(&host, &p, &chunk, floe_codec_of(p.codec)->bound(&p, chunk.rank, extent), &coded) ==
                 FLOE_OK);
        floe_reader from = floe_reader_of(coded.block.data, (size_t)coded.nbytes);
        KIT_MUST(floe_lattice_shape_of(chunk.rank, extent, 0, read.plan.shape));
        KIT_MUST(floe_wavelet_header_read(&read, p.dtype == FLOE_F32, &from, NULL) == FLOE_OK);
        KIT_MUST(apart > 1 || read.plan.packet > 0);
        part t = part_of(&p, &chunk, coded.block.data, coded.nbytes);
        compare_boxes(&t, is_watched() ? 4 : 12, &state, &chunk);
        kit_block_free(&coded.block);
        free(data);
    }
}

/* No mutant decodes to other values, or where the CPU finds damage; a few decode nonetheless. */
static void damaged_chunks_by_gpu(void **unused)
{
    static const uint64_t extent[] = {9, 20, 31};
    static double data[9 * 20 * 31];
    const uint64_t count = is_watched() ? 4 : is_few() ? 10 : is_small() ? 30 : 300;
    uint64_t state = 11, ngood = 0, nbad = 0;
    mutant m = {NULL, 0, 0};
    (void)unused;
    for (uint64_t i = 0; i < 8; i++) {
        const floe_codec_params p = params_of(i & 1 ? FLOE_F64 : FLOE_F32, presets[i % 2], modes[i % 4], i & 4);
        const floe_cpu host = kit_cpu(1, FLOE_ISA_AVX2);
        kit_coded coded;
        hostile_fill(p.dtype, i % 4 < 2 ? HOSTILE_SMOOTH : HOSTILE_PATCHES, 9 * 20 * 31, 0.25, p.fill_bits, i, data);
        floe_field chunk = kit_chunk(data, p.dtype, 3, extent);
        KIT_MUST(kit_encode(&host, &p, &chunk, floe_codec_of(p.codec)->bound(&p, 3, extent), &coded) == FLOE_OK);
        for (uint64_t k = 0; k < count; k++) {
            mutant_set(&m, coded.block.data, coded.nbytes);
            for (uint64_t n = 1 + hostile_below(&state, 3); n > 0; n--)
                damage_blindly(&m, &state);
            if (m.nbytes > 60 && k % 2) /* the header, and what follows it */
                m.data[hostile_below(&state, 60)] ^= (uint8_t)(1u << hostile_below(&state, 8));
            const part t = part_of(&p, &chunk, m.data, m.nbytes);
            const floe_status status = compare(&t);
            ngood += status == FLOE_OK;
            nbad += status != FLOE_OK;
            if (status != FLOE_OK && status != FLOE_ERR_FORMAT && status != FLOE_ERR_LIMIT)
                fail_msg("status %d", (int)status);
        }
        kit_block_free(&coded.block);
    }
    free(m.data);
    assert_true(ngood > 0 && nbad > 0);
}

/* A list of more codes than a thread is to read is left to the CPU; of as many it is read, and here is too long. */
static void long_lists(void **unused)
{
    static const uint64_t extent[] = {9, 20, 31};
    static double data[9 * 20 * 31];
    const floe_codec_params p = params_of(FLOE_F32, FLOE_PRESET_FAST, modes[0], false);
    const floe_cpu host = kit_cpu(1, FLOE_ISA_AVX2);
    floe_field chunk = kit_chunk(data, FLOE_F32, 3, extent);
    floe_wavelet_chunk read = {.turns = 0};
    kit_coded coded;
    (void)unused;
    hostile_fill(FLOE_F32, HOSTILE_SMOOTH, HOSTILE_COUNT(data), 0.25, 0, 1, data);
    KIT_MUST(kit_encode(&host, &p, &chunk, floe_codec_of(p.codec)->bound(&p, 3, extent), &coded) == FLOE_OK);
    uint8_t *src = coded.block.data;
    floe_reader from = floe_reader_of(src, (size_t)coded.nbytes);
    KIT_MUST(floe_lattice_shape_of(3, extent, 0, read.plan.shape));
    KIT_MUST(floe_wavelet_header_read(&read, true, &from, NULL) == FLOE_OK && read.plan.nsteps > 0);
    const uint64_t nbits = floe_lattice_points(floe_wavelet_anchors(&read.plan)) * read.anchors.nbits;
    uint8_t *records = src + floe_wavelet_check_end(read.checks, (uint64_t)(from.at - src) + floe_ceil_div(nbits, 8));
    for (uint32_t more = 0; more < 2; more++) {
        const part t = part_of(&p, &chunk, src, coded.nbytes);
        records[0] = FLOE_WAVELET_RECORDS_LIST;
        floe_store32(records + 1, FLOE_WAVELET_DEV_LISTED + more);
        records[5] = 0;
        assert_int_equal(compare(&t), more ? FLOE_ERR_LIMIT : FLOE_ERR_FORMAT);
    }
    kit_block_free(&coded.block);
}

/* To device memory, and by way of the GPU to host memory: all of a stream of several chunks, and a region. */
static void whole_calls(void **unused)
{
    static const uint64_t shape[] = {33, 34, 30}, lo[] = {5, 0, 7}, hi[] = {29, 21, 30};
    static const char *const texts[] = {"rel=1e-3 chunk=16x20x30", "psnr=60", "pwrel=1e-2 chunk=33x34x13",
                                        "abs=1e-3 preset=best"};
    static float values[33 * 34 * 30], wanted[33 * 34 * 30], got[33 * 34 * 30];
    (void)unused;
    hostile_fill(FLOE_F32, HOSTILE_SMOOTH, HOSTILE_COUNT(values), 0.25, 0, 1, values);
    for (size_t k = 0; k < 2 * HOSTILE_COUNT(texts); k += (size_t)few_in(3)) {
        const bool boxed = k % 2;
        const uint64_t box[] = {hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]}, *n = boxed ? box : shape;
        const floe_field field = floe_field_of(values, FLOE_F32, 3, shape);
        floe_field out = floe_field_of(wanted, FLOE_F32, 3, n);
        floe_params p;
        char text[80];
        uint64_t nbytes;
        snprintf(text, sizeof text, "codec=wavelet %s", texts[k / 2]);
        assert_int_equal(floe_params_parse(&p, text, NULL), FLOE_OK);
        const uint64_t room = floe_compress_bound(&field, &p);
        uint8_t *stream = malloc(room);
        void *dev_stream, *dev;
        assert_int_equal(floe_compress(cpu, &field, &p, stream, room, &nbytes), FLOE_OK);
        dev_stream = device_copy(stream, nbytes);
        CU(cudaMalloc(&dev, sizeof got));
        assert_int_equal(boxed ? floe_decompress_region(cpu, stream, nbytes, lo, hi, &out)
                               : floe_decompress(cpu, stream, nbytes, &out),
                         FLOE_OK);
        for (int on_device = 0; on_device < 2; on_device++) {
            floe_ctx *ctx = on_device ? gpu : through;
            const void *from = on_device ? dev_stream : stream;
            out = floe_field_of(on_device ? dev : got, FLOE_F32, 3, n);
            out.place = on_device ? FLOE_DEVICE : FLOE_HOST;
            assert_int_equal(boxed ? floe_decompress_region(ctx, from, nbytes, lo, hi, &out)
                                   : floe_decompress(ctx, from, nbytes, &out),
                             FLOE_OK);
            if (on_device)
                CU(cudaMemcpy(got, dev, n[0] * n[1] * n[2] * sizeof *got, cudaMemcpyDeviceToHost));
            assert_true(memcmp(got, wanted, n[0] * n[1] * n[2] * sizeof *got) == 0);
            memset(got, 0xEE, sizeof got);
        }
        CU(cudaFree(dev_stream));
        CU(cudaFree(dev));
        free(stream);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_modes_and_kinds), cmocka_unit_test(boxes_of_packets),
                                       cmocka_unit_test(damaged_chunks_by_gpu), cmocka_unit_test(long_lists),
                                       cmocka_unit_test(whole_calls)};
    return cmocka_run_group_tests(tests, contexts_open, contexts_close);
}
