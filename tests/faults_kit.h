/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Public calls in which the n-th thing that may fail does fail, for each n. Whatever a call then returns is an error with a
 * message, or what it returns without faults; the context serves the next call; and nothing stays allocated.
 *
 * A test file defines before what fails, and where its data lie: fault_arm, fault_is_armed, fault_alive, space_take, space_free,
 * space_copy, PLANES (of the field).
 */
#ifndef TESTS_FAULTS_KIT_H
#define TESTS_FAULTS_KIT_H

#include <floe/zfp.h>

#include "tests/api_kit.h"

enum { SHARE = PLANES * 33 * 40 * 6, CAPACITY = 4 * SHARE };

/* What calls read; and what they write, in shares of `out`. */
typedef struct world {
    const char *text;
    floe_field field, decoded, host;
    floe_params params;
    uint64_t nstream, nzfp, nindex;
    uint8_t *stream, *damaged, *zfp, *index, *out;
    floe_zfp_stream described;
    floe_backend backend;
} world;

typedef floe_status faults_fn(floe_ctx *ctx, world *w);

static floe_ctx_options faults_options(const world *w)
{
    return (floe_ctx_options){.size = sizeof(floe_ctx_options), .threads = 3, .backend = w->backend};
}

static floe_field faults_field_at(const world *w, void *data)
{
    floe_field f = w->field;
    f.data = data;
    return f;
}

/* ---- calls --------------------------------------------------------------------------------------------------------- */

static floe_status call_create(floe_ctx *ctx, world *w)
{
    floe_ctx *own = NULL;
    floe_ctx_options options = faults_options(w);
    (void)ctx;
    const floe_status status = floe_ctx_create(&own, &options);
    assert_true(status == FLOE_OK || !own || floe_ctx_message(own)[0]);
    floe_ctx_free(&own);
    return status;
}

static floe_status call_compress(floe_ctx *ctx, world *w)
{
    uint64_t n = 0;
    return floe_compress(ctx, &w->field, &w->params, w->out, CAPACITY, &n);
}

static floe_status call_decompress(floe_ctx *ctx, world *w)
{
    floe_field out = faults_field_at(w, w->out);
    return floe_decompress(ctx, w->stream, w->nstream, &out);
}

static floe_status call_damaged(floe_ctx *ctx, world *w)
{
    floe_field out = faults_field_at(w, w->out);
    const floe_status status = floe_decompress(ctx, w->damaged, w->nstream, &out);
    space_copy(w->out, w->stream, SHARE); /* what a failed call leaves there is not promised */
    return status;
}

static floe_status call_region(floe_ctx *ctx, world *w)
{
    const uint64_t lo[3] = {3, 2, 5}, hi[3] = {17, 21, 30}, shape[3] = {14, 19, 25};
    floe_field out = w->field;
    for (int i = 0; i < 3; i++)
        out.shape[i] = shape[i];
    memset(out.stride, 0, sizeof out.stride);
    out.data = w->out;
    return floe_decompress_region(ctx, w->stream, w->nstream, lo, hi, &out);
}

static floe_status call_verify(floe_ctx *ctx, world *w) { return floe_verify(ctx, w->stream, w->nstream, &w->host); }

static floe_status call_sizes(floe_ctx *ctx, world *w)
{
    size_t n = 0;
    const floe_status status = floe_workspace_nbytes(ctx, &w->field, &w->params, &n);
    return status == FLOE_OK && w->backend == FLOE_BACKEND_CUDA
               ? floe_device_workspace_nbytes(ctx, &w->field, &w->params, &n)
               : status;
}

static floe_status call_assess(floe_ctx *ctx, world *w)
{
    floe_assess_report report = {.size = sizeof report};
    const floe_status status = floe_assess(ctx, &w->field, &w->decoded, NULL, &report);
    double values[256] = {0};
    for (uint32_t i = 0; status == FLOE_OK && floe_metric_at(i) && i < KIT_COUNT(values); i++)
        values[i] = floe_metric_value(&report, i);
    if (status == FLOE_OK)
        space_copy(w->out, values, sizeof values);
    return status;
}

static floe_status sink_write(void *user, const void *src, size_t nbytes)
{
    uint8_t **at = user;
    memcpy(*at, src, nbytes);
    *at += nbytes;
    return FLOE_OK;
}

static floe_status call_streams(floe_ctx *ctx, world *w)
{
    static uint8_t space[2 * SHARE];
    uint8_t *at = space, *back = space + SHARE;
    const uint64_t nbytes = kit_nelems(&w->host) * floe_dtype_size(w->host.dtype);
    kit_source raw = {.data = w->host.data, .nbytes = nbytes}, coded = {.data = space};
    floe_source from = kit_source_of(&raw, true, true);
    const floe_sink to = {&at, sink_write}, to_back = {&back, sink_write};
    floe_status status = floe_compress_stream(ctx, &w->host, &w->params, &from, &to, NULL);
    coded.nbytes = (uint64_t)(at - space);
    from = kit_source_of(&coded, true, true);
    if (status == FLOE_OK)
        status = floe_decompress_stream(ctx, &from, &to_back, NULL, NULL);
    if (status == FLOE_OK)
        space_copy(w->out, space + SHARE, nbytes);
    return status;
}

static floe_zfp_index faults_index(const world *w, void *data)
{
    return (floe_zfp_index){.size = sizeof(floe_zfp_index),
                            .spec = {.form = FLOE_INDEX_OFFSETS, .chunk = 4},
                            .data = data,
                            .capacity = w->nindex ? w->nindex : SHARE};
}

static floe_status call_zfp_compress(floe_ctx *ctx, world *w)
{
    uint64_t n = 0;
    floe_zfp_index index = faults_index(w, w->out + 2 * SHARE);
    return floe_zfp_compress(ctx, &w->field, &w->described, w->out, 2 * SHARE, &n, &index);
}

static floe_status call_zfp_index(floe_ctx *ctx, world *w)
{
    floe_zfp_index index = faults_index(w, w->out);
    return floe_zfp_index_make(ctx, w->zfp, w->nzfp, &w->described, &index);
}

static floe_status call_zfp_decompress(floe_ctx *ctx, world *w)
{
    floe_field out = faults_field_at(w, w->out);
    return floe_zfp_decompress(ctx, w->zfp, w->nzfp, &w->described, w->index, w->nindex, &out);
}

static floe_status call_zfp_walk(floe_ctx *ctx, world *w)
{
    floe_field out = faults_field_at(w, w->out);
    return floe_zfp_decompress(ctx, w->zfp, w->nzfp, &w->described, NULL, 0, &out);
}

static floe_status call_zfp_short(floe_ctx *ctx, world *w)
{
    floe_field out = faults_field_at(w, w->out);
    const floe_status status = floe_zfp_decompress(ctx, w->zfp, w->nzfp / 16 * 8, &w->described, NULL, 0, &out);
    space_copy(w->out, w->zfp, SHARE);
    return status;
}

/* ---- a world --------------------------------------------------------------------------------------------------------- */

static uint8_t *faults_copy(const void *from, uint64_t nbytes)
{
    uint8_t *p = space_take(SHARE);
    space_copy(p, from, nbytes);
    return p;
}

static world world_make(const char *params, floe_backend backend, bool on_device)
{
    const uint64_t shape[3] = {PLANES, 33, 40};
    world w = {.text = params, .params = kit_params(params), .backend = backend};
    floe_ctx *ctx = kit_ctx(1);
    w.host = kit_field(FLOE_F32, 3, shape, KIT_SMOOTH, 3);
    const uint64_t nbytes = kit_nelems(&w.host) * sizeof(float);
    kit_bytes stream = kit_compress(ctx, &w.host, &w.params);
    floe_field out = kit_like(&w.host);
    kit_ok(ctx, floe_decompress(ctx, stream.data, stream.nbytes, &out));
    kit_ok(ctx, floe_zfp_describe(ctx, &w.host, "abs=1e-2", 0, &w.described));
    uint8_t *zfp = calloc(2, SHARE);
    floe_zfp_index index = faults_index(&w, zfp + SHARE);
    kit_ok(ctx, floe_zfp_compress(ctx, &w.host, &w.described, zfp, SHARE, &w.nzfp, &index));
    w.nstream = stream.nbytes;
    w.nindex = index.nbytes;
    w.field = w.host;
    w.field.place = on_device ? FLOE_DEVICE : FLOE_HOST;
    w.decoded = w.field;
    w.field.data = faults_copy(w.host.data, nbytes);
    w.decoded.data = faults_copy(out.data, nbytes);
    w.stream = faults_copy(stream.data, stream.nbytes);
    stream.data[stream.nbytes / 2] ^= 4;
    w.damaged = faults_copy(stream.data, stream.nbytes);
    w.zfp = faults_copy(zfp, w.nzfp);
    w.index = faults_copy(index.data, w.nindex);
    w.out = space_take(CAPACITY);
    free(zfp);
    kit_free(&out);
    kit_bytes_free(&stream);
    floe_ctx_free(&ctx);
    return w;
}

static void world_free(world *w)
{
    void *const all[] = {w->field.data, w->decoded.data, w->stream, w->damaged, w->zfp, w->index, w->out};
    for (size_t i = 0; i < KIT_COUNT(all); i++)
        space_free(all[i]);
    kit_free(&w->host);
}

/* ---- faults ---------------------------------------------------------------------------------------------------------- */

static uint8_t faults_expected[CAPACITY], faults_got[CAPACITY];
static const uint8_t faults_nothing[CAPACITY];

/* What a call returns, and its outputs into got. */
static floe_status faults_run(floe_ctx *ctx, world *w, faults_fn *call, uint64_t n, uint8_t *got, bool *failed)
{
    space_copy(w->out, faults_nothing, CAPACITY);
    fault_arm(n);
    const floe_status status = call(ctx, w);
    *failed = n && !fault_is_armed();
    fault_arm(0);
    space_copy(got, w->out, CAPACITY);
    return status;
}

/* Under sanitizers each third fault, from another one on from call to call. */
static void faults_each(world *w, const char *name, faults_fn *call)
{
    enum { STEP = FLOE_TEST_STRIDE > 1 ? 3 : 1 };
    static uint64_t turn;
    floe_status expected = FLOE_OK;
    bool failed = true;
    uint64_t absorbed = 0, n;
    for (n = 0; failed || n <= STEP; n = n ? n + STEP : 1 + turn++ % STEP) {
        const uint64_t before = fault_alive();
        floe_ctx *ctx = NULL;
        floe_ctx_options options = faults_options(w);
        assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
        const floe_status status = faults_run(ctx, w, call, n, n ? faults_got : faults_expected, &failed);
        if (n == 0)
            expected = status;
        if (n && status == expected && memcmp(faults_got, faults_expected, CAPACITY) != 0)
            fail_msg("%s, %s, fault %llu: %d with other bytes", name, w->text, (unsigned long long)n, status);
        if (n && status != expected && (!failed || status == FLOE_OK || status == FLOE_ERR_INTERNAL))
            fail_msg("%s, %s, fault %llu: %d", name, w->text, (unsigned long long)n, status);
        if (status != FLOE_OK && call != call_create && !floe_ctx_message(ctx)[0])
            fail_msg("%s, %s, fault %llu: no message", name, w->text, (unsigned long long)n);
        absorbed += failed && status == expected;
        bool no;
        const floe_status again = faults_run(ctx, w, call, 0, faults_got, &no);
        if (again != expected || memcmp(faults_got, faults_expected, CAPACITY) != 0)
            fail_msg("%s, %s, after fault %llu: %d %s", name, w->text, (unsigned long long)n, again,
                     floe_ctx_message(ctx));
        floe_ctx_free(&ctx);
        if (fault_alive() != before)
            fail_msg("%s, %s, fault %llu: %lld stay allocated", name, w->text, (unsigned long long)n,
                     (long long)(fault_alive() - before));
    }
    print_message("%-14s %-40s status %d, %llu faults, %llu done without\n", name, w->text, expected,
                  (unsigned long long)(n - 2), (unsigned long long)absorbed);
}

#define FAULTS_EACH(w, call) faults_each(w, #call, call_##call)

#endif
