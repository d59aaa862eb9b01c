/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of codec zfp that lie, decoded by a GPU: it takes what the CPU takes, with the same values, and refuses the others;
 * nothing outside the output is written. No container stands in front: so it is the chunk's own checks that are tested. */
#include <math.h>

#include "tests/gpu/gpu_kit.h"

#define KIT_FAIL fail_msg
#include "tests/codec_kit.h"

#include "codec/zfp/gpu/zfp_grid.h"
#include "codec/zfp/gpu/zfp_kernels.h"

enum { MARGIN = 256, DIRT = 0xEE };

typedef struct sample {
    floe_dtype dtype;
    floe_bound_mode mode;
    double bound;
    hostile_kind kind;
    uint32_t rank;
    uint64_t extent[FLOE_MAX_RANK];
} sample;

static const sample samples[] = {
    {FLOE_F32, FLOE_BOUND_ABS, 0.01, HOSTILE_CHECKERBOARD, 2, {70, 140}},
    {FLOE_F64, FLOE_BOUND_ABS, 0.01, HOSTILE_WALK, 3, {18, 19, 40}},
    {FLOE_F32, FLOE_BOUND_RATE, 9, HOSTILE_WALK, 3, {17, 18, 19}},
    {FLOE_I32, FLOE_BOUND_LOSSLESS, 0, HOSTILE_WALK, 1, {9000}},
    {FLOE_F32, FLOE_BOUND_ABS, 1e-3, HOSTILE_WALK, 4, {3, 5, 17, 33}},
    {FLOE_F64, FLOE_BOUND_PREC, 20, HOSTILE_CHECKERBOARD, 1, {70000}},
    {FLOE_F32, FLOE_BOUND_LOSSLESS, 0, HOSTILE_BITS, 3, {9, 10, 11}},
};

/* A chunk in device memory, where a record would have it, and all that decoding it takes. */
typedef struct device {
    floe_zfp_grid_decode call;
    uint8_t *stream, *values;
    uint64_t values_nbytes;
    void *scratch;
    struct known {
        uint64_t layout[2 * FLOE_MAX_RANK], nrecords;
        floe_dev_record record;
        uint32_t status;
    } * known;
} device;

static device device_of(const sample *s, uint64_t most_nbytes)
{
    device d = {.values_nbytes = kit_cells(s->rank, s->extent) * floe_dtype_size(s->dtype)};
    floe_dev_grid grid;
    floe_arena plan = floe_arena_plan();
    d.call = (floe_zfp_grid_decode){.field = {.dtype = s->dtype, .rank = s->rank}, .max_chunks = 1};
    assert_int_equal(floe_zfp_grid_of(s->dtype, s->rank, s->extent, s->extent, &grid, &d.call.room, NULL), FLOE_OK);
    CU(cudaMalloc((void **)&d.stream, FLOE_RECORD_HEAD_NBYTES + most_nbytes));
    CU(cudaMalloc((void **)&d.values, d.values_nbytes + MARGIN));
    CU(cudaMalloc((void **)&d.known, sizeof *d.known));
    floe_zfp_grid_decode_take(&d.call, &plan);
    CU(cudaMalloc(&d.scratch, plan.used));
    floe_arena arena = floe_arena_of(d.scratch, plan.used);
    floe_zfp_grid_decode_take(&d.call, &arena);
    d.call.layout = d.known->layout;
    d.call.nrecords = &d.known->nrecords;
    d.call.records = &d.known->record;
    d.call.status = &d.known->status;
    d.call.stream = d.stream;
    return d;
}

static void device_free(device *d)
{
    CU(cudaFree(d->stream));
    CU(cudaFree(d->values));
    CU(cudaFree(d->known));
    CU(cudaFree(d->scratch));
}

/* The box lo..hi of a chunk, contiguous, to values; returns the status. */
static floe_status device_decode(device *d, const sample *s, const uint8_t *chunk, uint64_t nbytes, const uint64_t *lo,
                                 const uint64_t *hi)
{
    struct known t = {.nrecords = 1, .record = {0, nbytes, 0}};
    int64_t stride = 1;
    for (uint32_t a = s->rank; a-- > 0; stride *= (int64_t)(hi[a] - lo[a])) {
        t.layout[a] = t.layout[FLOE_MAX_RANK + a] = s->extent[a];
        d->call.field.shape[a] = hi[a] - lo[a];
        d->call.field.stride[a] = stride;
        d->call.lo[a] = lo[a];
        d->call.hi[a] = hi[a];
    }
    d->call.field.data = d->values;
    CU(cudaMemset(d->values, DIRT, d->values_nbytes + MARGIN));
    CU(cudaMemcpy(d->stream + FLOE_RECORD_HEAD_NBYTES, chunk, nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(d->known, &t, sizeof t, cudaMemcpyHostToDevice));
    CU(floe_zfp_grid_open_cuda(&d->call, NULL));
    assert_int_equal(floe_zfp_grid_decode_start(&d->call, NULL, NULL), FLOE_OK);
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&t, d->known, sizeof t, cudaMemcpyDeviceToHost));
    return (floe_status)t.status;
}

/* A byte here and there, mostly where the chunk shows what it is, or cut short; a multiple of 8 as records have them. */
static uint64_t damage(uint64_t *state, uint8_t *bytes, uint64_t nbytes)
{
    if (hostile_below(state, 4) == 0)
        return hostile_below(state, nbytes / 8) * 8;
    for (uint64_t k = 1 + hostile_below(state, 3); k--;) {
        const uint64_t near = hostile_below(state, 3) ? (nbytes < 200 ? nbytes : 200) : nbytes;
        bytes[hostile_below(state, near)] ^= (uint8_t)(1u << hostile_below(state, 8));
    }
    return nbytes;
}

static void compare(const sample *s, device *d, const floe_codec_params *p, const uint8_t *chunk, uint64_t nbytes,
                    const uint64_t *lo, const uint64_t *hi, uint64_t *refused)
{
    const floe_cpu cpu = kit_cpu(1, FLOE_ISA_PLAIN);
    uint64_t box[FLOE_MAX_RANK];
    for (uint32_t a = 0; a < s->rank; a++)
        box[a] = hi[a] - lo[a];
    const uint64_t n = kit_cells(s->rank, box) * floe_dtype_size(s->dtype);
    kit_block out = kit_block_of(n);
    floe_field field = kit_chunk(out.data, s->dtype, s->rank, box);
    const floe_status wanted = kit_decode_box(&cpu, p, s->rank, s->extent, chunk, nbytes, lo, hi, &field, NULL);
    const floe_status status = device_decode(d, s, chunk, nbytes, lo, hi);
    uint8_t *got = malloc(d->values_nbytes + MARGIN);
    CU(cudaMemcpy(got, d->values, d->values_nbytes + MARGIN, cudaMemcpyDeviceToHost));
    assert_int_equal(status, wanted);
    if (status == FLOE_OK)
        assert_memory_equal(got, out.data, n);
    for (uint64_t i = n; i < d->values_nbytes + MARGIN; i++)
        assert_int_equal(got[i], DIRT);
    *refused += status != FLOE_OK;
    free(got);
    kit_block_free(&out);
}

static void chunks_that_lie(void **unused)
{
    (void)unused;
    uint64_t state = 8, refused = 0, taken = 0;
    const uint64_t rounds = is_small() ? 20 : 150;
    for (size_t i = 0; i < HOSTILE_COUNT(samples); i++) {
        const sample *s = &samples[i];
        const floe_cpu cpu = kit_cpu(1, FLOE_ISA_PLAIN);
        const floe_codec_params p = {.dtype = s->dtype,
                                     .codec = FLOE_CODEC_ZFP,
                                     .mode = s->mode,
                                     .bound = s->bound,
                                     .max_abs = (double)NAN,
                                     .has_fill = i % 2 == 0,
                                     .fill_bits = i % 2 == 0 ? hostile_bits(s->dtype, -9999.0) : 0};
        const uint64_t n = kit_cells(s->rank, s->extent);
        void *data = malloc((size_t)n * 8);
        kit_coded fresh;
        hostile_fill(s->dtype, s->kind, n, 0.01, p.fill_bits, i, data);
        floe_field chunk = kit_chunk(data, s->dtype, s->rank, s->extent);
        assert_int_equal(kit_encode(&cpu, &p, &chunk, floe_codec_of(p.codec)->bound(&p, s->rank, s->extent), &fresh),
                         FLOE_OK);
        device d = device_of(s, fresh.nbytes);
        uint8_t *bytes = malloc(fresh.nbytes);
        for (uint64_t r = 0; r < rounds; r++, taken++) {
            uint64_t lo[FLOE_MAX_RANK] = {0}, hi[FLOE_MAX_RANK];
            for (uint32_t a = 0; a < s->rank; a++) {
                lo[a] = r % 3 ? 0 : hostile_below(&state, s->extent[a]);
                hi[a] = r % 3 ? s->extent[a] : lo[a] + 1 + hostile_below(&state, s->extent[a] - lo[a]);
            }
            memcpy(bytes, fresh.block.data, fresh.nbytes);
            const uint64_t nbytes = r < 3 ? fresh.nbytes : damage(&state, bytes, fresh.nbytes);
            compare(s, &d, &p, bytes, nbytes, lo, hi, &refused);
        }
        device_free(&d);
        kit_block_free(&fresh.block);
        free(bytes);
        free(data);
    }
    assert_true(refused > taken / 4 && refused < taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chunks_that_lie)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
