/* SPDX-License-Identifier: BSD-3-Clause */
/* Codecs without the rest of the library: chunks coded into guarded memory by every instruction set, and checked. Whoever
 * includes this defines KIT_FAIL(format, ...), which does not return. */
#ifndef FLOE_TESTS_CODEC_KIT_H
#define FLOE_TESTS_CODEC_KIT_H

#include <stdio.h>
#include <stdlib.h>

#include "codec/codec.h"
#include "tests/hostile_kit.h"

#define KIT_MUST(cond)                                                \
    do {                                                              \
        if (!(cond))                                                  \
            KIT_FAIL("%s:%d: not so: %s", __FILE__, __LINE__, #cond); \
    } while (0)

/* ---- memory with guards on both sides ---------------------------------------------------------------------------- */

enum { KIT_GUARD = 64 };

typedef struct kit_block {
    uint8_t *data;
    uint64_t nbytes;
} kit_block;

static inline kit_block kit_block_of(uint64_t nbytes)
{
    size_t rounded = (size_t)(nbytes + 2 * KIT_GUARD + 63) / 64 * 64;
    uint8_t *base = aligned_alloc(64, rounded);
    KIT_MUST(base);
    memset(base, 0xC5, rounded);
    return (kit_block){base + KIT_GUARD, nbytes};
}

static inline bool kit_block_intact(const kit_block *b)
{
    for (int i = 0; i < KIT_GUARD; i++)
        if (b->data[-1 - i] != 0xC5 || b->data[b->nbytes + (uint64_t)i] != 0xC5)
            return false;
    return true;
}

static inline void kit_block_free(kit_block *b)
{
    if (b->data) {
        KIT_MUST(kit_block_intact(b));
        free(b->data - KIT_GUARD);
    }
    *b = (kit_block){NULL, 0};
}

/* One scratch for all calls of a program: of exactly the size requested, all ones and all zeros in turn. */
static inline kit_block *kit_scratch(size_t nbytes)
{
    static kit_block room;
    static uint64_t capacity;
    static uint8_t dirt;
    if (nbytes > capacity) {
        room.nbytes = capacity; /* the guard was moved: put it back where the block ends */
        if (room.data)
            free(room.data - KIT_GUARD);
        room = kit_block_of(nbytes);
        capacity = nbytes;
    }
    room.nbytes = nbytes;
    memset(room.data, dirt = (uint8_t)~dirt, nbytes);
    memset(room.data + nbytes, 0xC5, KIT_GUARD);
    return &room;
}

/* ---- a chunk ----------------------------------------------------------------------------------------------------- */

static inline floe_cpu kit_cpu(uint32_t threads, floe_isa isa)
{
    floe_cpu cpu;
    if (floe_cpu_init(&cpu, threads, isa, NULL) != FLOE_OK)
        KIT_MUST(floe_cpu_init(&cpu, threads, FLOE_ISA_PLAIN, NULL) == FLOE_OK); /* no AVX2 here */
    return cpu;
}

static inline uint64_t kit_cells(uint32_t rank, const uint64_t *extent)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < rank; i++)
        n *= extent[i];
    return n;
}

/* A contiguous field with its strides spelled out, as codecs want them. */
static inline floe_field kit_chunk(void *data, floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    floe_field f = floe_field_of(data, dtype, rank, extent);
    int64_t stride = 1;
    for (uint32_t i = rank; i-- > 0; stride *= (int64_t)extent[i])
        f.stride[i] = stride;
    return f;
}

typedef struct kit_coded {
    kit_block block; /* as large as the bound has it */
    uint64_t nbytes;
    floe_chunk_stats stats;
} kit_coded;

static inline floe_status kit_encode(const floe_cpu *cpu, const floe_codec_params *params, const floe_field *chunk,
                                     uint64_t capacity, kit_coded *coded)
{
    size_t nscratch = floe_codec_of(params->codec)->workspace(cpu, params, chunk->rank, chunk->shape);
    KIT_MUST(nscratch > 0);
    kit_block *scratch = kit_scratch(nscratch);
    floe_arena arena = floe_arena_of(scratch->data, nscratch);
    floe_error err = {FLOE_OK, ""};
    coded->block = kit_block_of(capacity);
    const floe_chunk_encode call = {cpu,      params,         chunk,        &arena, coded->block.data,
                                    capacity, &coded->nbytes, &coded->stats};
    floe_status status = floe_codec_of(params->codec)->encode(&call, &err);
    KIT_MUST(kit_block_intact(scratch) && kit_block_intact(&coded->block));
    KIT_MUST(status == FLOE_OK || err.status == status);
    return status;
}

static inline floe_status kit_decode_box(const floe_cpu *cpu, const floe_codec_params *params, uint32_t rank,
                                         const uint64_t *extent, const void *src, uint64_t nbytes, const uint64_t *lo,
                                         const uint64_t *hi, const floe_field *out, floe_error *err)
{
    size_t nscratch = floe_codec_of(params->codec)->decode_workspace(cpu, params->dtype, rank, extent);
    kit_block *scratch = kit_scratch(nscratch);
    floe_arena arena = floe_arena_of(scratch->data, nscratch);
    const floe_chunk_decode call = {.cpu = cpu,
                                    .codec = params->codec,
                                    .dtype = params->dtype,
                                    .rank = rank,
                                    .extent = extent,
                                    .src = src,
                                    .nbytes = nbytes,
                                    .lo = lo,
                                    .hi = hi,
                                    .out = out,
                                    .scratch = &arena};
    floe_status status = floe_codec_of(params->codec)->decode(&call, err);
    KIT_MUST(kit_block_intact(scratch));
    return status;
}

static inline floe_status kit_decode(const floe_cpu *cpu, const floe_codec_params *params, const floe_field *out,
                                     const void *src, uint64_t nbytes, floe_error *err)
{
    const uint64_t lo[FLOE_MAX_RANK] = {0};
    return kit_decode_box(cpu, params, out->rank, out->shape, src, nbytes, lo, out->shape, out, err);
}

/* ---- the whole way there and back -------------------------------------------------------------------------------- */

static inline hostile_promise kit_promise(const floe_codec_params *p)
{
    return (hostile_promise){p->dtype, p->mode, p->bound, p->has_fill, p->fill_bits};
}

static inline const char *kit_describe(const floe_codec_params *p, const floe_field *f)
{
    static char text[160];
    snprintf(text, sizeof text, "%s, preset %d, mode %d, bound %g, fill %d, %llux%llux%llux%llu of rank %u",
             floe_dtype_name(p->dtype), (int)p->preset, (int)p->mode, p->bound, p->has_fill,
             (unsigned long long)f->shape[0], (unsigned long long)f->shape[1], (unsigned long long)f->shape[2],
             (unsigned long long)f->shape[3], f->rank);
    return text;
}

static inline void kit_compare(const floe_codec_params *params, const floe_field *chunk, const kit_coded *a,
                               const kit_coded *b, const char *what)
{
    if (a->nbytes != b->nbytes || memcmp(a->block.data, b->block.data, (size_t)a->nbytes) != 0)
        KIT_FAIL("%s gives other bytes: %s", what, kit_describe(params, chunk));
    if (memcmp(&a->stats, &b->stats, sizeof a->stats) != 0)
        KIT_FAIL("%s gives other statistics: %s", what, kit_describe(params, chunk));
}

/* Decodes into guarded memory and compares with want, or, the first time, fills it. */
static inline void kit_decode_same(const floe_cpu *cpu, const floe_codec_params *params, const floe_field *chunk,
                                   const kit_coded *coded, kit_block *want)
{
    kit_block out = kit_block_of(kit_cells(chunk->rank, chunk->shape) * floe_dtype_size(params->dtype));
    floe_field field = kit_chunk(out.data, params->dtype, chunk->rank, chunk->shape);
    floe_error err = {FLOE_OK, ""};
    if (kit_decode(cpu, params, &field, coded->block.data, coded->nbytes, &err) != FLOE_OK)
        KIT_FAIL("does not decode: %s: %s", err.message, kit_describe(params, chunk));
    KIT_MUST(kit_block_intact(&out));
    if (!want->data) {
        *want = out;
        return;
    }
    if (memcmp(want->data, out.data, (size_t)out.nbytes) != 0)
        KIT_FAIL("another decoder gives other values: %s", kit_describe(params, chunk));
    kit_block_free(&out);
}

/* Codes a contiguous chunk on one thread in plain C and on `threads` with AVX2, decodes with both, checks every value.
 * Returns the bytes it took; *coded (may be NULL) is then the caller's. */
static inline uint64_t kit_round_trip(const floe_codec_params *params, const floe_field *chunk, uint32_t threads,
                                      kit_coded *coded)
{
    const floe_cpu plain = kit_cpu(1, FLOE_ISA_PLAIN), fast = kit_cpu(threads, FLOE_ISA_AVX2);
    const uint64_t bound = floe_codec_of(params->codec)->bound(params, chunk->rank, chunk->shape);
    const uint64_t n = kit_cells(chunk->rank, chunk->shape);
    kit_coded a = {.nbytes = 0}, b = {.nbytes = 0};
    kit_block out = {NULL, 0};
    if (kit_encode(&plain, params, chunk, bound, &a) != FLOE_OK ||
        kit_encode(&fast, params, chunk, bound, &b) != FLOE_OK)
        KIT_FAIL("does not encode: %s", kit_describe(params, chunk));
    KIT_MUST(a.nbytes <= bound);
    kit_compare(params, chunk, &a, &b, "AVX2");
    kit_decode_same(&plain, params, chunk, &a, &out);
    kit_decode_same(&fast, params, chunk, &a, &out);
    const hostile_promise promise = kit_promise(params);
    uint64_t bad = hostile_broken(&promise, chunk->data, out.data, n);
    if (bad < n)
        KIT_FAIL("element %llu: %#llx came back as %#llx: %s", (unsigned long long)bad,
                 (unsigned long long)hostile_get(params->dtype, chunk->data, (int64_t)bad),
                 (unsigned long long)hostile_get(params->dtype, out.data, (int64_t)bad), kit_describe(params, chunk));
    kit_block_free(&out);
    kit_block_free(&b.block);
    uint64_t nbytes = a.nbytes;
    if (coded)
        *coded = a;
    else
        kit_block_free(&a.block);
    return nbytes;
}

#endif
