/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the API share: fields of numbers, streams in memory that misbehave on request, and a check of the
 * bound that owes nothing to the library. */
#ifndef FLOE_TESTS_API_KIT_H
#define FLOE_TESTS_API_KIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <floe/floe.h>

#define KIT_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- contexts and parameters ------------------------------------------------------------------------------------- */

static inline floe_ctx *kit_ctx(uint32_t threads)
{
    floe_ctx *ctx = NULL;
    floe_ctx_options options = {.size = sizeof options, .threads = threads};
    assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
    return ctx;
}

static inline floe_params kit_params(const char *text)
{
    floe_params p;
    floe_error err = {FLOE_OK, ""};
    if (floe_params_parse(&p, text, &err) != FLOE_OK)
        fail_msg("%s: %s", text, err.message);
    return p;
}

#define kit_ok(ctx, call)                                                    \
    do {                                                                     \
        floe_status kit_status = (call);                                     \
        if (kit_status != FLOE_OK)                                           \
            fail_msg("%s: %d %s", #call, kit_status, floe_ctx_message(ctx)); \
    } while (0)

/* The call fails with this status, and its message holds this text. */
#define kit_fails(ctx, call, status, text)                                                               \
    do {                                                                                                 \
        floe_status kit_status = (call);                                                                 \
        if (kit_status != (status) || !strstr(floe_ctx_message(ctx), (text)))                            \
            fail_msg("%s: got %d '%s', not %d '%s'", #call, kit_status, floe_ctx_message(ctx), (status), \
                     (const char *)(text));                                                              \
    } while (0)

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static inline uint64_t kit_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline double kit_uniform(uint64_t *state) { return (double)(kit_random(state) >> 11) * 0x1p-53; }

static inline uint64_t kit_nelems(const floe_field *f)
{
    uint64_t n = 0;
    assert_int_equal(floe_field_nelems(f, &n), FLOE_OK);
    return n;
}

static inline void kit_set(floe_field *f, uint64_t i, double v)
{
    if (f->dtype == FLOE_F32)
        ((float *)f->data)[i] = (float)v;
    else
        ((double *)f->data)[i] = v;
}

static inline double kit_get(const floe_field *f, uint64_t i)
{
    return f->dtype == FLOE_F32 ? (double)((float *)f->data)[i] : ((double *)f->data)[i];
}

static inline uint64_t kit_bits(const floe_field *f, uint64_t i)
{
    return f->dtype == FLOE_F32 ? ((uint32_t *)f->data)[i] : ((uint64_t *)f->data)[i];
}

typedef enum kit_kind { KIT_SMOOTH, KIT_NOISE, KIT_CONSTANT, KIT_HOSTILE, KIT_FILL, KIT_STEPS, KIT_KINDS } kit_kind;

static inline double kit_hostile(uint64_t i, uint64_t *state)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e-310, 1e-42, 3e38, -3e38, 1e-30, 1.0, -1.0};
    uint64_t pick = kit_random(state) % 24;
    return pick < KIT_COUNT(odd) ? odd[pick] : ldexp(kit_uniform(state) - 0.5, (int)(i % 60) - 30);
}

/* A contiguous field with data of its own (kit_free). */
static inline floe_field kit_field(floe_dtype dtype, uint32_t rank, const uint64_t *shape, kit_kind kind, uint64_t seed)
{
    floe_field f = floe_field_of(NULL, dtype, rank, shape);
    uint64_t n = kit_nelems(&f), last = shape[rank - 1] ? shape[rank - 1] : 1;
    f.data = calloc(n + 1, floe_dtype_size(dtype)); /* no null pointer for empty fields */
    for (uint64_t i = 0; i < n; i++) {
        double x = (double)(i % last), y = (double)(i / last), v = 0;
        switch (kind) {
        case KIT_SMOOTH: v = 250 + 20 * sin(x * 0.11 + 0.3 * (double)seed) * cos(y * 0.07) + 0.01 * y; break;
        case KIT_NOISE: v = kit_uniform(&seed) * 2 - 1; break;
        case KIT_CONSTANT: v = 42.5; break;
        case KIT_HOSTILE: v = kit_hostile(i, &seed); break;
        case KIT_FILL: v = kit_random(&seed) % 5 == 0 ? 9.96921e36 : 10 + sin(x * 0.2 + y); break;
        default: v = floor(x / 7) - floor(y / 5) * 3; break;
        }
        kit_set(&f, i, v);
    }
    return f;
}

static inline floe_field kit_like(const floe_field *f)
{
    floe_field g = floe_field_of(NULL, f->dtype, f->rank, f->shape);
    size_t nbytes = (size_t)(kit_nelems(f) + 1) * floe_dtype_size(f->dtype);
    g.data = malloc(nbytes);
    memset(g.data, 0xA5, nbytes);
    return g;
}

static inline void kit_free(floe_field *f)
{
    free(f->data);
    f->data = NULL;
}

static inline bool kit_same(const floe_field *a, const floe_field *b)
{
    uint64_t n = kit_nelems(a);
    return n == 0 || memcmp(a->data, b->data, (size_t)n * floe_dtype_size(a->dtype)) == 0;
}

/* Contiguous x and y: NaN, Inf, -0 and fill (if not NaN) bit for bit; else |x - y| <= bound, or bound |x| if relative. */
static inline void kit_check_bound(const floe_field *x, const floe_field *y, double bound, bool relative, double fill)
{
    uint64_t n = kit_nelems(x);
    for (uint64_t i = 0; i < n; i++) {
        double a = kit_get(x, i), b = kit_get(y, i);
        if (kit_bits(x, i) == kit_bits(y, i))
            continue;
        long double error = fabsl((long double)a - (long double)b);
        long double allowed = (long double)bound * (relative ? fabsl((long double)a) : 1);
        if (!isfinite(a) || !isfinite(b) || (a == 0 && signbit(a)) || a == fill || error > allowed)
            fail_msg("element %llu: %.17g came back as %.17g, bound %.17g", (unsigned long long)i, a, b, bound);
    }
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

typedef struct kit_bytes {
    uint8_t *data;
    uint64_t nbytes, capacity;
} kit_bytes;

static inline void kit_bytes_free(kit_bytes *b)
{
    free(b->data);
    *b = (kit_bytes){NULL, 0, 0};
}

/* A buffer of exactly the bound, so that a sanitizer sees a byte too many. */
static inline kit_bytes kit_compress(floe_ctx *ctx, const floe_field *f, const floe_params *p)
{
    kit_bytes b = {NULL, 0, floe_compress_bound(f, p)};
    assert_true(b.capacity > 0);
    b.data = malloc((size_t)b.capacity);
    kit_ok(ctx, floe_compress(ctx, f, p, b.data, b.capacity, &b.nbytes));
    assert_true(b.nbytes <= b.capacity);
    return b;
}

/* A source over memory. Reads give at most `gulp` bytes at a time (0: all); reading at or past fail_at fails. */
typedef struct kit_source {
    const uint8_t *data;
    uint64_t nbytes, gulp, fail_at, position, nreads;
    bool seekable, went_back;
} kit_source;

static inline floe_status kit_read(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    kit_source *s = user;
    s->nreads++;
    s->went_back |= offset != s->position;
    if (s->fail_at && offset + nbytes > s->fail_at)
        return FLOE_ERR_IO;
    uint64_t left = offset < s->nbytes ? s->nbytes - offset : 0, n = nbytes < left ? nbytes : left;
    if (s->gulp && n > s->gulp)
        n = s->gulp;
    memcpy(dst, s->data + (n ? offset : 0), (size_t)n);
    s->position = offset + n;
    *got = (size_t)n;
    return FLOE_OK;
}

static inline floe_source kit_source_of(kit_source *s, bool seekable, bool size_known)
{
    s->seekable = seekable;
    return (floe_source){s, kit_read, size_known ? s->nbytes : UINT64_MAX, seekable};
}

/* A sink into growing memory, which fails beyond fail_at bytes (0: never). */
typedef struct kit_sink {
    kit_bytes bytes;
    uint64_t fail_at;
} kit_sink;

static inline floe_status kit_write(void *user, const void *src, size_t nbytes)
{
    kit_sink *s = user;
    if (s->fail_at && s->bytes.nbytes + nbytes > s->fail_at)
        return FLOE_ERR_IO;
    if (s->bytes.nbytes + nbytes > s->bytes.capacity) {
        s->bytes.capacity = 2 * (s->bytes.nbytes + nbytes);
        s->bytes.data = realloc(s->bytes.data, (size_t)s->bytes.capacity);
    }
    memcpy(s->bytes.data + s->bytes.nbytes, src, nbytes);
    s->bytes.nbytes += nbytes;
    return FLOE_OK;
}

static inline floe_sink kit_sink_of(kit_sink *s) { return (floe_sink){s, kit_write}; }

#endif
