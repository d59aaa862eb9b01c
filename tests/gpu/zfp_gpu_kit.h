/* SPDX-License-Identifier: BSD-3-Clause */
/* Bare zfp streams and their indexes as the CPU makes them, and memory of either side, for tests of the public calls on a
 * GPU. */
#ifndef FLOE_TESTS_GPU_ZFP_GPU_KIT_H
#define FLOE_TESTS_GPU_ZFP_GPU_KIT_H

#include <floe/zfp.h>

#include "tests/gpu/contexts_gpu_kit.h"
#include "tests/zfp_kit.h"

enum { GUARD = 64 };

#define OK(ctx, call)                                                                                  \
    do {                                                                                               \
        const floe_status status_ = (call);                                                            \
        if (status_ != FLOE_OK)                                                                        \
            fail_msg("%s:%d: status %d: %s", __FILE__, __LINE__, (int)status_, floe_ctx_message(ctx)); \
    } while (0)

/* ---- samples: what the CPU makes of a case --------------------------------------------------------------------------- */

typedef struct sample {
    zfp_case c;
    floe_field field; /* host */
    floe_zfp_stream stream;
    floe_zfp_index index;
    uint8_t *data;
    uint64_t nbytes, capacity;
    zfp_case decoded;
} sample;

static inline floe_field field_of(const zfp_case *c)
{
    static const floe_dtype dtypes[] = {FLOE_F64, FLOE_I32, FLOE_I64, FLOE_F32, FLOE_F64};
    floe_field f = floe_field_of(c->array.data, dtypes[c->array.type], c->array.rank, c->array.shape);
    memcpy(f.stride, c->array.stride, sizeof f.stride);
    return f;
}

static inline floe_index_spec spec_of(uint64_t n)
{
    static const floe_index_form forms[] = {FLOE_INDEX_HYBRID, FLOE_INDEX_PACKED, FLOE_INDEX_OFFSETS,
                                            FLOE_INDEX_LENGTHS};
    static const uint32_t chunks[] = {1, 3, 16, 1, 100000}, partitions[] = {32, 5, 1, 40, 65536};
    return (floe_index_spec){forms[n / 5 % 4], chunks[n / 4 % 5], partitions[n / 3 % 5]};
}

/* Every other one has a header. */
static inline void describe(uint64_t n, sample *s)
{
    const zfp_case *c = &s->c;
    uint8_t header[FLOE_ZFP_HEADER_NBYTES];
    s->field = field_of(c);
    s->stream = (floe_zfp_stream){.size = sizeof s->stream,
                                  .dtype = s->field.dtype,
                                  .rank = c->array.rank,
                                  .minbits = c->params.minbits,
                                  .maxbits = c->params.maxbits,
                                  .maxprec = c->params.maxprec,
                                  .minexp = c->params.minexp};
    memcpy(s->stream.shape, c->array.shape, sizeof s->stream.shape);
    if (n % 2)
        assert_int_equal(floe_zfp_header_write(&c->array, &c->params, header, &s->stream.header_nbits, NULL), FLOE_OK);
}

static inline void sample_make(uint64_t n, sample *s)
{
    *s = (sample){.index = {.size = sizeof s->index, .spec = spec_of(n)}};
    zfp_case_make(n, &s->c);
    describe(n, s);
    s->capacity = floe_zfp_compress_bound(&s->stream);
    s->index.capacity = floe_zfp_index_bound(&s->stream, &s->index.spec);
    s->data = malloc(s->capacity);
    s->index.data = malloc(s->index.capacity);
    OK(cpu, floe_zfp_compress(cpu, &s->field, &s->stream, s->data, s->capacity, &s->nbytes, &s->index));
    s->decoded = zfp_case_twin(&s->c);
    floe_field out = field_of(&s->decoded);
    OK(cpu, floe_zfp_decompress(cpu, s->data, s->nbytes, &s->stream, s->index.data, s->index.nbytes, &out));
}

static inline void sample_free(sample *s)
{
    zfp_case_free(&s->c);
    zfp_case_free(&s->decoded);
    free(s->data);
    free(s->index.data);
}

/* Small arrays of all kinds, types and modes. */
static inline void small_sample(uint64_t n, sample *s)
{
    for (;; n += 16 * ZFP_KINDS) {
        sample_make(n, s);
        if (s->c.nelems <= 2000)
            return;
        sample_free(s);
    }
}

/* ---- device memory --------------------------------------------------------------------------------------------------- */

static inline void *dev_alloc(uint64_t nbytes)
{
    void *p = NULL;
    CU(cudaMalloc(&p, nbytes + GUARD));
    CU(cudaMemset(p, 0xA5, nbytes + GUARD));
    return p;
}

static inline void *dev_copy(const void *from, uint64_t nbytes)
{
    void *p = dev_alloc(nbytes);
    CU(cudaMemcpy(p, from, nbytes, cudaMemcpyHostToDevice));
    return p;
}

/* What is there, which is to be `want`, and behind it an untouched guard. */
static inline void is_on_device(const void *dev, uint64_t capacity, const void *want, uint64_t nbytes, const char *what)
{
    uint8_t *got = malloc(capacity + GUARD);
    CU(cudaMemcpy(got, dev, capacity + GUARD, cudaMemcpyDeviceToHost));
    if (memcmp(got, want, nbytes) != 0)
        fail_msg("%s: the GPU makes something else (%d)", what, (int)nbytes);
    for (uint64_t i = capacity; i < capacity + GUARD; i++)
        assert_int_equal(got[i], 0xA5);
    free(got);
}

/* A case's field in device memory. */
static inline floe_field dev_field(const zfp_case *c, void **memory)
{
    floe_field f = field_of(c);
    *memory = dev_copy(c->memory, c->nbytes);
    f.data = (uint8_t *)*memory + ((const uint8_t *)c->array.data - c->memory);
    f.place = FLOE_DEVICE;
    return f;
}

static inline floe_zfp_report report_of(const floe_zfp_report *dev)
{
    floe_zfp_report r;
    CU(cudaDeviceSynchronize());
    CU(cudaMemcpy(&r, dev, sizeof r, cudaMemcpyDeviceToHost));
    return r;
}

/* ---- memory of either side --------------------------------------------------------------------------------------------- */

/* Memory of one side or the other, filled with 0xA5. */
typedef struct memory {
    bool device;
    uint8_t *p;
    uint64_t nbytes;
} memory;

static inline memory memory_of(bool device, uint64_t nbytes)
{
    memory m = {device, NULL, nbytes};
    m.p = device ? dev_alloc(nbytes) : malloc(nbytes + GUARD);
    if (!device)
        memset(m.p, 0xA5, nbytes + GUARD);
    return m;
}

static inline memory memory_with(bool device, const void *from, uint64_t nbytes)
{
    memory m = memory_of(device, nbytes);
    if (nbytes)
        CU(cudaMemcpy(m.p, from, nbytes, cudaMemcpyDefault));
    return m;
}

static inline void memory_free(memory *m)
{
    if (m->device)
        CU(cudaFree(m->p));
    else
        free(m->p);
}

/* It begins with these bytes, and ends with its guard. */
static inline void memory_is(const memory *m, const void *want, uint64_t nbytes, const char *what)
{
    uint8_t *got = malloc(m->nbytes + GUARD);
    CU(cudaMemcpy(got, m->p, m->nbytes + GUARD, cudaMemcpyDefault));
    if (memcmp(got, want, nbytes) != 0)
        fail_msg("%s: the GPU makes something else (%d)", what, (int)nbytes);
    for (uint64_t i = m->nbytes; i < m->nbytes + GUARD; i++)
        assert_int_equal(got[i], 0xA5);
    free(got);
}

/* A case's field in memory m. */
static inline floe_field field_in(const zfp_case *c, const memory *m)
{
    floe_field f = field_of(c);
    f.data = m->p + ((const uint8_t *)c->array.data - c->memory);
    f.place = m->device ? FLOE_DEVICE : FLOE_HOST;
    return f;
}

#endif
