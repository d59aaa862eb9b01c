/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads at once, each with a context of its own: what one of them alone has found, all must find, whatever the others
 * do meanwhile. */
#include <pthread.h>

#include <floe/assess.h>

#include "tests/api_kit.h"

typedef struct test_case {
    kit_kind kind;
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    const char *params;
} test_case;

static const test_case cases[] = {
    {KIT_SMOOTH, FLOE_F32, 3, {20, 33, 70}, "rel=1e-3"},
    {KIT_SMOOTH, FLOE_F64, 3, {33, 20, 70}, "abs=1e-3 preset=fast chunk=16x20x70"},
    {KIT_NOISE, FLOE_F32, 2, {90, 130}, "psnr=50"},
    {KIT_HOSTILE, FLOE_F32, 1, {20000}, "pwrel=1e-3"},
    {KIT_FILL, FLOE_F64, 2, {100, 120}, "rel=1e-4 chunk=30x120"},
    {KIT_STEPS, FLOE_F32, 3, {40, 17, 40}, "lossless"},
    {KIT_SMOOTH, FLOE_F32, 3, {30, 31, 33}, "abs=1e-2 codec=zfp"},
};
enum { NCASES = KIT_COUNT(cases), MOST_METRICS = 256 };

/* What is known of a case. */
typedef struct known {
    floe_field field, decoded;
    floe_params params;
    kit_bytes stream, damaged;
    floe_status refused; /* of the damaged stream */
    char message[sizeof(((floe_error *)0)->message)];
    double metrics[MOST_METRICS];
} known;

/* For any thread; NULL: it could not be created. */
static floe_ctx *open_ctx(uint32_t threads)
{
    floe_ctx *ctx = NULL;
    floe_ctx_options options = {.size = sizeof options, .backend = FLOE_BACKEND_CPU, .threads = threads};
    return floe_ctx_create(&ctx, &options) == FLOE_OK ? ctx : NULL;
}

/* All metrics, as far as they are numbers. */
static floe_status assess(floe_ctx *ctx, const known *k, double metrics[MOST_METRICS])
{
    floe_assess_report report = {.size = sizeof report};
    const floe_status status = floe_assess(ctx, &k->field, &k->decoded, NULL, &report);
    for (uint32_t i = 0; status == FLOE_OK && floe_metric_at(i); i++)
        metrics[i] = floe_metric_value(&report, i);
    return status;
}

static void know(const test_case *c, known *k)
{
    floe_ctx *ctx = kit_ctx(1);
    memset(k, 0, sizeof *k);
    k->field = kit_field(c->dtype, c->rank, c->shape, c->kind, 3);
    k->params = kit_params(c->params);
    k->stream = kit_compress(ctx, &k->field, &k->params);
    k->decoded = kit_like(&k->field);
    kit_ok(ctx, floe_decompress(ctx, k->stream.data, k->stream.nbytes, &k->decoded));
    kit_ok(ctx, assess(ctx, k, k->metrics));
    k->damaged = kit_compress(ctx, &k->field, &k->params);
    k->damaged.data[k->damaged.nbytes / 2] ^= 4;
    floe_field out = kit_like(&k->field);
    k->refused = floe_decompress(ctx, k->damaged.data, k->damaged.nbytes, &out);
    assert_int_not_equal(k->refused, FLOE_OK);
    snprintf(k->message, sizeof k->message, "%s", floe_ctx_message(ctx));
    kit_free(&out);
    floe_ctx_free(&ctx);
}

static void forget(known *k)
{
    kit_free(&k->field);
    kit_free(&k->decoded);
    kit_bytes_free(&k->stream);
    kit_bytes_free(&k->damaged);
}

/* ---- a thread ---------------------------------------------------------------------------------------------------- */

typedef struct worker {
    const known *known; /* NCASES of them */
    uint32_t number, nrounds;
    char said[256]; /* what went wrong; assertions are for the first thread */
} worker;

/* What went wrong, or NULL. */
static const char *case_try(floe_ctx *ctx, const known *k)
{
    double metrics[MOST_METRICS] = {0};
    uint64_t n = 0;
    const char *wrong = NULL;
    uint8_t *stream = malloc(k->stream.capacity);
    floe_field out = kit_like(&k->field);
    if (floe_compress(ctx, &k->field, &k->params, stream, k->stream.capacity, &n) != FLOE_OK)
        wrong = floe_ctx_message(ctx);
    else if (n != k->stream.nbytes || memcmp(stream, k->stream.data, n) != 0)
        wrong = "another stream";
    else if (floe_decompress(ctx, k->damaged.data, k->damaged.nbytes, &out) != k->refused ||
             strcmp(floe_ctx_message(ctx), k->message) != 0)
        wrong = "damage is reported otherwise";
    else if (floe_decompress(ctx, stream, n, &out) != FLOE_OK)
        wrong = floe_ctx_message(ctx);
    else if (!kit_same(&out, &k->decoded))
        wrong = "other values";
    else if (floe_verify(ctx, stream, n, &k->field) != FLOE_OK)
        wrong = floe_ctx_message(ctx);
    else if (assess(ctx, k, metrics) != FLOE_OK)
        wrong = floe_ctx_message(ctx);
    else if (memcmp(metrics, k->metrics, sizeof metrics) != 0)
        wrong = "other metrics";
    kit_free(&out);
    free(stream);
    return wrong;
}

/* A context for each round. */
static void *work(void *arg)
{
    worker *w = arg;
    for (uint32_t r = 0; r < w->nrounds && !w->said[0]; r++) {
        floe_ctx *ctx = open_ctx(1 + (w->number + r) % 3);
        if (!ctx)
            snprintf(w->said, sizeof w->said, "no context");
        for (uint32_t i = 0; ctx && i < NCASES && !w->said[0]; i++) {
            const uint32_t c = (i + w->number) % NCASES;
            const char *wrong = case_try(ctx, &w->known[c]);
            if (wrong)
                snprintf(w->said, sizeof w->said, "%s: %s", cases[c].params, wrong);
        }
        floe_ctx_free(&ctx);
    }
    return NULL;
}

static void run(worker *workers, uint32_t nworkers, uint32_t nrounds)
{
    known all[NCASES];
    pthread_t threads[64];
    assert_true(nworkers <= KIT_COUNT(threads));
    for (uint32_t i = 0; i < NCASES; i++)
        know(&cases[i], &all[i]);
    for (uint32_t i = 0; i < nworkers; i++) {
        workers[i].known = all;
        workers[i].number = i;
        workers[i].nrounds = nrounds;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < nworkers; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (uint32_t i = 0; i < nworkers; i++)
        if (workers[i].said[0])
            fail_msg("thread %u: %s", i, workers[i].said);
    for (uint32_t i = 0; i < NCASES; i++)
        forget(&all[i]);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void contexts_are_independent(void **state)
{
    (void)state;
    worker workers[6];
    memset(workers, 0, sizeof workers);
    run(workers, KIT_COUNT(workers), FLOE_TEST_STRIDE > 1 ? 1 : 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contexts_are_independent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
