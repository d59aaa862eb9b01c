/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of random payloads, made by the CPU, and device memory, for tests of the container on a GPU. The includer is a cmocka
 * program. FLOE_GPU_TEST=small: less of it. */
#ifndef FLOE_TESTS_GPU_CONTAINER_GPU_KIT_H
#define FLOE_TESTS_GPU_CONTAINER_GPU_KIT_H

#include "tests/gpu/gpu_kit.h"

#include "base/checksum.h"
#include "container/container_cuda.h"
#include "container/header_math.h"
#include "container/layout.h"

/* ---- random numbers, device memory --------------------------------------------------------------------------------- */

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline uint64_t random_below(uint64_t *state, uint64_t n) { return (random_next(state) >> 32) * n >> 32; }

/* Allocated to the byte, so that a checker sees a read past the end. */
static inline void *dev_alloc(size_t nbytes)
{
    void *dev;
    CU(cudaMalloc(&dev, nbytes ? nbytes : 1));
    return dev;
}
static inline void *dev_of(const void *host, size_t nbytes)
{
    void *dev = dev_alloc(nbytes);
    if (nbytes)
        CU(cudaMemcpy(dev, host, nbytes, cudaMemcpyHostToDevice));
    return dev;
}
static inline void *dev_filled(int byte, size_t nbytes)
{
    void *dev = dev_alloc(nbytes);
    CU(cudaMemset(dev, byte, nbytes));
    return dev;
}
static inline void fetch(void *host, const void *dev, size_t nbytes)
{
    CU(cudaMemcpy(host, dev, nbytes, cudaMemcpyDeviceToHost));
}
static inline void drop(void *dev) { CU(cudaFree(dev)); }
static inline uint64_t fetch64(const void *dev)
{
    uint64_t v;
    fetch(&v, dev, sizeof v);
    return v;
}
static inline uint32_t fetch32(const void *dev)
{
    uint32_t v;
    fetch(&v, dev, sizeof v);
    return v;
}
static inline void assert_zero(const void *dev, size_t nbytes)
{
    uint8_t *host = malloc(nbytes);
    fetch(host, dev, nbytes);
    for (size_t i = 0; i < nbytes; i++)
        assert_int_equal(host[i], 0);
    free(host);
}

/* ---- streams ------------------------------------------------------------------------------------------------------- */

typedef struct sample {
    uint8_t *bytes;
    size_t nbytes;
    floe_header header;
    size_t header_nbytes;
    floe_dev_record *records;
    uint64_t nrecords, end; /* where the index begins */
} sample;

/* A 1-D field of a chunk each. */
static inline floe_header header_of(uint64_t nrecords)
{
    floe_header h = {.dtype = FLOE_F32,
                     .rank = 1,
                     .shape = {7 * nrecords},
                     .chunk = {nrecords ? 7 : 0},
                     .codec = FLOE_CODEC_LORENZO,
                     .preset = FLOE_PRESET_FAST,
                     .mode = FLOE_BOUND_ABS,
                     .bound = 0.5,
                     .abs_bound = 0.5,
                     .value_min = -1,
                     .value_max = 1};
    return h;
}

/* Payloads of random bytes, laid out and finished by the CPU. */
static inline sample sample_of(const floe_header *header, const uint64_t *payloads, uint64_t n, uint64_t seed)
{
    sample s = {.header = *header, .header_nbytes = floe_header_nbytes(header), .nrecords = n};
    uint64_t at = s.header_nbytes;
    s.records = malloc((n + 1) * sizeof *s.records);
    for (uint64_t i = 0; i < n; i++) {
        s.records[i] = (floe_dev_record){at, payloads[i], 0};
        at += floe_record_nbytes(payloads[i]);
    }
    s.end = at;
    s.nbytes = (size_t)(at + floe_index_nbytes(n));
    s.bytes = calloc(s.nbytes, 1);
    assert_int_equal(floe_header_write(header, s.bytes, s.nbytes, NULL), FLOE_OK);
    floe_index_entry *entries = calloc(n + 1, sizeof *entries);
    for (uint64_t i = 0; i < n; i++) {
        floe_dev_record *r = &s.records[i];
        uint8_t *payload = s.bytes + r->offset + FLOE_RECORD_HEAD_NBYTES;
        for (uint64_t k = 0; k < r->nbytes; k++)
            payload[k] = (uint8_t)(k % 8 ? seed >> 8 * (k % 8) : random_next(&seed));
        r->checksum = floe_checksum(payload, r->nbytes);
        entries[i] = (floe_index_entry){r->offset, {i, r->nbytes, r->checksum}};
        floe_record_head_write(&entries[i].record, s.bytes + r->offset);
    }
    floe_index_write(entries, n, at, s.bytes + at);
    free(entries);
    return s;
}
static inline void sample_free(sample *s)
{
    free(s->bytes);
    free(s->records);
}

#endif
