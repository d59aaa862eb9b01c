/* SPDX-License-Identifier: BSD-3-Clause */
/* A case made and compressed on the CPU, and put through the GPU with a report: for tests of whole streams. */
#ifndef FLOE_TESTS_GPU_WHOLE_GPU_KIT_H
#define FLOE_TESTS_GPU_WHOLE_GPU_KIT_H

#include "tests/gpu/case_gpu_kit.h"

typedef struct encoded {
    const gpu_case *c;
    floe_params params;
    floe_field field, dev_field;
    uint64_t nbytes, stream_nbytes, capacity;
    uint8_t *stream, *decoded, *got, *dev_stream;
} encoded;

static inline encoded make(const gpu_case *c)
{
    encoded m = {.c = c};
    m.field = case_make(c, &m.params, &m.nbytes);
    m.capacity = floe_compress_bound(&m.field, &m.params);
    m.stream = take(m.capacity);
    m.decoded = take(m.nbytes);
    m.got = take(m.capacity > m.nbytes + GUARD ? m.capacity : m.nbytes + GUARD);
    assert_int_equal(floe_compress(cpu, &m.field, &m.params, m.stream, m.capacity, &m.stream_nbytes), FLOE_OK);
    floe_field out = floe_field_of(m.decoded, c->dtype, c->rank, c->shape);
    assert_int_equal(floe_decompress(cpu, m.stream, m.stream_nbytes, &out), FLOE_OK);
    m.dev_field = floe_field_of_device(NULL, c->dtype, c->rank, c->shape);
    CU(cudaMalloc(&m.dev_field.data, m.nbytes + GUARD));
    CU(cudaMalloc((void **)&m.dev_stream, m.capacity));
    return m;
}

static inline void unmake(encoded *m)
{
    free(m->field.data);
    free(m->stream);
    free(m->decoded);
    free(m->got);
    CU(cudaFree(m->dev_field.data));
    CU(cudaFree(m->dev_stream));
}

/* With room for so many bytes; what comes behind them stays as it was. The report's status. */
static inline uint32_t encode(encoded *m, uint64_t capacity)
{
    floe_device_report report;
    CU(cudaMemcpy(m->dev_field.data, m->field.data, m->nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemset(m->dev_stream, 0xEE, m->capacity));
    assert_int_equal(floe_compress_async(gpu, &m->dev_field, &m->params, m->dev_stream, capacity, dev_report), FLOE_OK);
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&report, dev_report, sizeof report, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(m->got, m->dev_stream, m->capacity, cudaMemcpyDeviceToHost));
    for (uint64_t i = capacity; i < m->capacity; i++)
        assert_int_equal(m->got[i], 0xEE);
    assert_int_equal(report.nbytes, report.status == FLOE_OK ? m->stream_nbytes : 0);
    return report.status;
}

static inline void encode_right(encoded *m, uint64_t capacity)
{
    assert_int_equal(encode(m, capacity), FLOE_OK);
    assert_memory_equal(m->got, m->stream, m->stream_nbytes);
}

#endif
