/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays and parameters by number, for tests of the zfp format; and libzfp, where it was found, as the oracle. */
#ifndef FLOE_TESTS_ZFP_KIT_H
#define FLOE_TESTS_ZFP_KIT_H

#include <stdio.h>
#include <stdlib.h>

#include "stage/zfpblock/zfpblock_params_math.h"
#include "tests/hostile_kit.h"

enum { ZFP_SHAPE_MOST = 70, ZFP_CELLS_MOST = 60000 };

typedef enum zfp_kind {
    ZFP_SMOOTH,
    ZFP_ROUGH,
    ZFP_ZERO,
    ZFP_CONSTANT,
    ZFP_SPARSE,    /* mostly zeros, of either sign */
    ZFP_EXPONENTS, /* any exponent next to any other; integers of any size */
    ZFP_TINY,      /* subnormals, and what is not much larger; integers of a few bits */
    ZFP_HUGE,      /* near the largest; integers at their limits */
    ZFP_BITS,      /* any pattern; of finite values */
    ZFP_KINDS
} zfp_kind;

typedef struct zfp_case {
    floe_zfp_array array;
    floe_zfp_params params;
    uint8_t *memory; /* holds all elements */
    uint64_t nbytes; /* of memory */
    uint64_t nelems;
    zfp_kind kind;
    char text[200];
} zfp_case;

static inline bool zfp_is_real(floe_zfp_type type) { return type == FLOE_ZFP_F32 || type == FLOE_ZFP_F64; }

/* ---- values ---------------------------------------------------------------------------------------------------------- */

static inline uint64_t zfp_bits_of(floe_zfp_type type, double v)
{
    if (zfp_is_real(type))
        return hostile_bits(type == FLOE_ZFP_F32 ? FLOE_F32 : FLOE_F64, v);
    return type == FLOE_ZFP_I32 ? (uint32_t)(int32_t)v : (uint64_t)(int64_t)v;
}

static inline bool zfp_is_finite(floe_zfp_type type, uint64_t bits)
{
    const uint64_t exponent = hostile_exponent(type == FLOE_ZFP_F32 ? FLOE_F32 : FLOE_F64);
    return !zfp_is_real(type) || (bits & exponent) != exponent;
}

static inline uint64_t zfp_special(floe_zfp_type type, zfp_kind kind, uint64_t *state)
{
    const uint32_t width = 8 * (uint32_t)floe_zfp_type_size(type), mantissa = type == FLOE_ZFP_F32 ? 23 : 52;
    const uint64_t any = hostile_random(state), sign = any >> 63 << (width - 1), all = ~(uint64_t)0 >> (64 - width);
    if (kind == ZFP_BITS)
        return any & all;
    if (!zfp_is_real(type)) {
        const uint32_t most = kind == ZFP_TINY ? 5 : width, least = kind == ZFP_HUGE ? width - 3 : 0;
        const uint64_t size = least + hostile_below(state, most - least + 1);
        const uint64_t magnitude = size ? any >> (64 - size) : 0;
        return (any & 1 ? magnitude : ~magnitude) & all;
    }
    const uint64_t exponents = ((uint64_t)1 << (width - 1 - mantissa)) - 1; /* the last one: not finite */
    const uint64_t least = kind == ZFP_HUGE ? exponents - 4 : 0, most = kind == ZFP_TINY ? 3 : exponents;
    return sign | (least + hostile_below(state, most - least)) << mantissa | (any & (((uint64_t)1 << mantissa) - 1));
}

static inline uint64_t zfp_value(floe_zfp_type type, zfp_kind kind, const uint64_t *at, uint32_t rank, double phase,
                                 uint64_t *state)
{
    const double scale = type == FLOE_ZFP_I32 ? 1e8 : type == FLOE_ZFP_I64 ? 1e17 : 1;
    double v = 0;
    uint64_t bits;
    switch (kind) {
    case ZFP_SMOOTH:
        for (uint32_t a = 0; a < rank; a++)
            v += sin(phase + 0.11 * (a + 1) * (double)at[a]);
        return zfp_bits_of(type, scale * (v + 1e-3 * hostile_uniform(state)));
    case ZFP_ROUGH: return zfp_bits_of(type, scale * (hostile_uniform(state) - 0.5));
    case ZFP_ZERO: return 0;
    case ZFP_CONSTANT: return zfp_bits_of(type, scale * phase);
    case ZFP_SPARSE:
        v = hostile_below(state, 40) ? 0 : hostile_uniform(state);
        return zfp_bits_of(type, scale * (hostile_below(state, 2) ? v : -v));
    default:
        do
            bits = zfp_special(type, kind, state);
        while (!zfp_is_finite(type, bits));
        return bits;
    }
}

static inline void zfp_put(const floe_zfp_array *a, const uint64_t *at, uint64_t bits)
{
    const int64_t size = (int64_t)floe_zfp_type_size(a->type);
    int64_t offset = 0;
    for (uint32_t i = 0; i < a->rank; i++)
        offset += (int64_t)at[i] * a->stride[i];
    memcpy((uint8_t *)a->data + offset * size, &bits,
           (size_t)size); /* little-endian, as all machines that run the tests */
}

static inline bool zfp_next(const floe_zfp_array *a, uint64_t *at)
{
    for (uint32_t i = a->rank; i-- > 0;) {
        if (++at[i] < a->shape[i])
            return true;
        at[i] = 0;
    }
    return false;
}

/* ---- cases ----------------------------------------------------------------------------------------------------------- */

static inline void zfp_random_shape(zfp_case *c, uint64_t *state)
{
    for (;;) {
        c->nelems = 1;
        for (uint32_t a = 0; a < c->array.rank; a++) {
            const uint64_t most = hostile_below(state, 3) ? ZFP_SHAPE_MOST : 9;
            c->nelems *= c->array.shape[a] = 1 + hostile_below(state, most);
        }
        if (c->nelems <= ZFP_CELLS_MOST)
            return;
    }
}

/* Axes in any order in memory, with gaps, forwards or backwards. */
static inline void zfp_random_layout(zfp_case *c, uint64_t *state)
{
    const uint32_t rank = c->array.rank, style = (uint32_t)hostile_below(state, 4);
    uint32_t axis[FLOE_MAX_RANK];
    int64_t stride = style == 2 ? 2 : 1, origin = 0;
    for (uint32_t a = 0; a < rank; a++)
        axis[a] = rank - 1 - a;
    if (style == 3)
        for (uint32_t a = rank; a-- > 1;) {
            const uint32_t b = (uint32_t)hostile_below(state, a + 1), t = axis[a];
            axis[a] = axis[b];
            axis[b] = t;
        }
    for (uint32_t i = 0; i < rank; i++) {
        const bool back = style == 3 && hostile_below(state, 3) == 0;
        const int64_t n = (int64_t)c->array.shape[axis[i]];
        c->array.stride[axis[i]] = back ? -stride : stride;
        origin += back ? (n - 1) * stride : 0;
        stride *= n + (style >= 2 ? (int64_t)hostile_below(state, 3) : 0);
    }
    const size_t size = floe_zfp_type_size(c->array.type);
    c->nbytes = (uint64_t)stride * size;
    c->memory = malloc((size_t)c->nbytes);
    memset(c->memory, 0x5A, (size_t)c->nbytes);
    c->array.data = c->memory + (uint64_t)origin * size;
}

static inline void zfp_random_params(zfp_case *c, uint64_t *state)
{
    floe_error err;
    floe_zfp_params *p = &c->params;
    const uint32_t width = 8 * (uint32_t)floe_zfp_type_size(c->array.type);
    double scale;
    switch (hostile_below(state, 6)) {
    case 0:
        floe_zfp_params_rate(hostile_uniform(state) * width * 1.01, c->array.type, c->array.rank, p, &err);
        if (hostile_below(state, 4) == 0) /* whole words */
            p->minbits = p->maxbits = (p->maxbits + 63) & ~63u;
        break;
    case 1: floe_zfp_params_precision(1 + (uint32_t)hostile_below(state, width), p, &err); break;
    case 2:
        scale = c->kind == ZFP_TINY   ? (width == 32 ? 1e-38 : 1e-307)
                : c->kind == ZFP_HUGE ? (width == 32 ? 1e38 : 1e307)
                                      : 1;
        floe_zfp_params_accuracy(scale * pow(10, -12 * hostile_uniform(state)), p, &err);
        break;
    case 3: *p = floe_zfp_params_reversible(); break;
    default:
        do {
            p->maxbits = 1 + (uint32_t)hostile_below(state, hostile_below(state, 2) ? 600 : 20000);
            p->minbits = (uint32_t)hostile_below(state, hostile_below(state, 2) ? 40 : p->maxbits + 1);
            p->maxprec = 1 + (uint32_t)hostile_below(state, 64);
            p->minexp = hostile_below(state, 5) ? (int32_t)hostile_below(state, 400) - 200
                                                : -1076 + (int32_t)hostile_below(state, 4);
        } while (floe_zfp_params_check(p, c->array.type, &err) != FLOE_OK);
    }
}

/* Case number n; the same one each time. The caller frees it. */
static inline void zfp_case_make(uint64_t n, zfp_case *c)
{
    uint64_t state = n * 0x2545F4914F6CDD1Du, at[FLOE_MAX_RANK] = {0};
    memset(c, 0, sizeof *c);
    c->array.type = (floe_zfp_type)(1 + n % 4);
    c->array.rank = 1 + (uint32_t)(n / 4 % 4);
    c->kind = (zfp_kind)(n / 16 % ZFP_KINDS);
    zfp_random_shape(c, &state);
    zfp_random_layout(c, &state);
    zfp_random_params(c, &state);
    const double phase = hostile_uniform(&state);
    do
        zfp_put(&c->array, at, zfp_value(c->array.type, c->kind, at, c->array.rank, phase, &state));
    while (zfp_next(&c->array, at));
    snprintf(
        c->text, sizeof c->text,
        "case %llu: type %d, rank %u, %llu x %llu x %llu x %llu, kind %d, minbits %u maxbits %u maxprec %u minexp %d",
        (unsigned long long)n, (int)c->array.type, c->array.rank, (unsigned long long)c->array.shape[0],
        (unsigned long long)c->array.shape[1], (unsigned long long)c->array.shape[2],
        (unsigned long long)c->array.shape[3], (int)c->kind, c->params.minbits, c->params.maxbits, c->params.maxprec,
        c->params.minexp);
}

static inline void zfp_case_free(zfp_case *c)
{
    free(c->memory);
    c->memory = NULL;
}

/* The next case from n on, of the same kind of numbers, rank and type, that has few elements. */
static inline void zfp_case_make_small(uint64_t n, zfp_case *c)
{
    do
        zfp_case_make(n, c), n += 16 * ZFP_KINDS;
    while (c->nelems > 3000 && (zfp_case_free(c), true));
}

/* The same case with memory of its own, filled with something else. */
static inline zfp_case zfp_case_twin(const zfp_case *c)
{
    zfp_case twin = *c;
    twin.memory = malloc((size_t)c->nbytes);
    memset(twin.memory, 0x5A, (size_t)c->nbytes);
    twin.array.data = twin.memory + ((const uint8_t *)c->array.data - c->memory);
    return twin;
}

/* 14 whole numbers, of whose 4 blocks the first 3 can be read from bit 12 on, too, and end at the same bit. */
static const uint8_t zfp_read_two_ways[] = {0x01, 0x00, 0x60, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x2d,
                                            0x00, 0x00, 0x00, 0x00, 0x51, 0x86, 0x00, 0x00, 0x73, 0x83,
                                            0xfd, 0x7f, 0xfb, 0x71, 0xe4, 0xf2, 0xe0, 0x3c};
static inline zfp_case zfp_case_of_two_ways(void)
{
    zfp_case c = {.nbytes = 14 * sizeof(int32_t), .nelems = 14, .text = "two ways"};
    c.array = (floe_zfp_array){.type = FLOE_ZFP_I32, .rank = 1, .shape = {14}, .stride = {1}};
    c.params = (floe_zfp_params){.maxbits = 3338, .maxprec = 4};
    c.memory = calloc(14, sizeof(int32_t));
    c.array.data = c.memory;
    return c;
}

/* ---- libzfp ---------------------------------------------------------------------------------------------------------- */

#ifdef HAVE_ZFP
#include <zfp.h>

static inline zfp_field *oracle_field(const floe_zfp_array *a)
{
    const uint64_t *n = a->shape; /* slowest first; zfp wants the fastest first */
    const int64_t *s = a->stride;
    const zfp_type type = (zfp_type)a->type;
    zfp_field *f;
    switch (a->rank) {
    case 1:
        f = zfp_field_1d(a->data, type, n[0]);
        zfp_field_set_stride_1d(f, s[0]);
        return f;
    case 2:
        f = zfp_field_2d(a->data, type, n[1], n[0]);
        zfp_field_set_stride_2d(f, s[1], s[0]);
        return f;
    case 3:
        f = zfp_field_3d(a->data, type, n[2], n[1], n[0]);
        zfp_field_set_stride_3d(f, s[2], s[1], s[0]);
        return f;
    default:
        f = zfp_field_4d(a->data, type, n[3], n[2], n[1], n[0]);
        zfp_field_set_stride_4d(f, s[3], s[2], s[1], s[0]);
        return f;
    }
}

/* Bytes that libzfp makes of the array, or 0; header: with a full one. */
static inline size_t oracle_compress(const zfp_case *c, bool header, void *dst, size_t capacity)
{
    zfp_field *field = oracle_field(&c->array);
    bitstream *bits = stream_open(dst, capacity);
    zfp_stream *zfp = zfp_stream_open(bits);
    const floe_zfp_params *p = &c->params;
    size_t n = 0;
    if (zfp_stream_set_params(zfp, p->minbits, p->maxbits, p->maxprec, p->minexp) &&
        (!header || zfp_write_header(zfp, field, ZFP_HEADER_FULL)))
        n = zfp_compress(zfp, field);
    zfp_stream_close(zfp);
    stream_close(bits);
    zfp_field_free(field);
    return n;
}

/* Bytes read, or 0. */
static inline size_t oracle_decompress(const zfp_case *c, bool header, const void *src, size_t nbytes)
{
    zfp_field *field = oracle_field(&c->array), *given = zfp_field_alloc();
    bitstream *bits = stream_open((void *)(uintptr_t)src, nbytes);
    zfp_stream *zfp = zfp_stream_open(bits);
    const floe_zfp_params *p = &c->params;
    size_t n = 0;
    bool ok = header ? zfp_read_header(zfp, given, ZFP_HEADER_FULL) != 0
                     : zfp_stream_set_params(zfp, p->minbits, p->maxbits, p->maxprec, p->minexp);
    if (ok)
        n = zfp_decompress(zfp, field);
    zfp_stream_close(zfp);
    stream_close(bits);
    zfp_field_free(field);
    zfp_field_free(given);
    return n;
}
#endif

#endif
