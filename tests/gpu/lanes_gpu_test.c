/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of codecs interp and wavelet that are done side by side on a GPU: bytes and values are those of the CPU, with any number of threads,
 * with little memory, beside other contexts at work, and with damage. */
#include <pthread.h>

#include "tests/gpu/case_gpu_kit.h"

static const gpu_case cases[] = {
    {"turbulence", FLOE_F32, 3, {24, 20, 30}, "rel=1e-3 codec=interp chunk=8x20x16"},
    {"hostile", FLOE_F32, 2, {70, 130}, "abs=1e-2 codec=wavelet chunk=30x45"},
    {"fill", FLOE_F64, 3, {15, 24, 40}, "pwrel=1e-3 codec=interp chunk=5x24x25"},
    {"weather", FLOE_F64, 3, {12, 30, 25}, "rel=1e-3 codec=wavelet preset=best chunk=5x17x25"},
    {"mixing", FLOE_F32, 3, {23, 20, 20}, "psnr=60 codec=interp preset=best chunk=12x12x20"},
    {"fill", FLOE_F32, 3, {15, 24, 40}, "pwrel=1e-3 codec=wavelet chunk=5x24x25"},
    {"turbulence", FLOE_F64, 1, {9000}, "lossless codec=interp chunk=2500"},
    {"weather", FLOE_F32, 3, {12, 30, 25}, "psnr=55 codec=wavelet chunk=5x17x25"},
    {"hostile", FLOE_F32, 2, {70, 130}, "abs=1e-2 codec=interp chunk=30x45"},
};
enum { NCASES = sizeof cases / sizeof *cases };

/* For several contexts at work at once: the other codecs, too. */
static const gpu_case others[] = {
    {"turbulence", FLOE_F32, 3, {40, 36, 44}, "rel=1e-3 codec=lorenzo"},
    {"turbulence", FLOE_F64, 3, {40, 36, 44}, "abs=1e-2 fill=none codec=zfp"},
    {"mixing", FLOE_F32, 3, {70, 36, 44}, "rel=1e-3 preset=fast chunk=32x36x44"},
    {"turbulence", FLOE_F32, 3, {24, 20, 30}, "rel=1e-3 preset=best"},
    {"terrain", FLOE_F32, 2, {100, 120}, "lossless"},
};
enum { NOTHERS = sizeof others / sizeof *others, NALL = NCASES + NOTHERS };
static const gpu_case *case_of(int i) { return i < NCASES ? &cases[i] : &others[i - NCASES]; }

/* A case, and what the CPU makes of it. A box, and level 1. */
typedef struct known {
    floe_field field;
    floe_params params;
    uint64_t nbytes, capacity, stream_nbytes, lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    uint8_t *stream, *values, *boxed, *level;
    floe_field box, half; /* their shapes */
} known;

static uint64_t nbytes_of(const floe_field *f)
{
    uint64_t n = floe_dtype_size(f->dtype);
    for (uint32_t a = 0; a < f->rank; a++)
        n *= f->shape[a];
    return n;
}

static void know(const gpu_case *c, known *k)
{
    uint64_t box[FLOE_MAX_RANK], half[FLOE_MAX_RANK];
    memset(k, 0, sizeof *k);
    k->field = case_make(c, &k->params, &k->nbytes);
    k->capacity = floe_compress_bound(&k->field, &k->params);
    k->stream = take(k->capacity);
    for (uint32_t a = 0; a < c->rank; a++) {
        k->lo[a] = c->shape[a] / 3;
        k->hi[a] = c->shape[a] - a;
        box[a] = k->hi[a] - k->lo[a];
        half[a] = (c->shape[a] + 1) / 2;
    }
    k->box = floe_field_of(NULL, c->dtype, c->rank, box);
    k->half = floe_field_of(NULL, c->dtype, c->rank, half);
    assert_int_equal(floe_compress(cpu, &k->field, &k->params, k->stream, k->capacity, &k->stream_nbytes), FLOE_OK);
    floe_field out = k->field, part = k->box, level = k->half;
    out.data = k->values = take(k->nbytes);
    part.data = k->boxed = take(nbytes_of(&part));
    level.data = k->level = take(nbytes_of(&level));
    assert_int_equal(floe_decompress(cpu, k->stream, k->stream_nbytes, &out), FLOE_OK);
    assert_int_equal(floe_decompress_region(cpu, k->stream, k->stream_nbytes, k->lo, k->hi, &part), FLOE_OK);
    if (floe_decompress_level(cpu, k->stream, k->stream_nbytes, 1, &level) != FLOE_OK) {
        free(k->level); /* chunks of odd extents have none */
        k->level = NULL;
    }
}

static void forget(known *k)
{
    void *all[] = {k->field.data, k->stream, k->values, k->boxed, k->level};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* What is wrong, or NULL; any thread may ask. Device memory: of the field, of a stream, of what is decoded. */
typedef struct room {
    void *field, *stream, *out;
} room;

static const char *decode(floe_ctx *ctx, const known *k, const room *r)
{
    uint8_t *got = malloc(k->nbytes);
    const char *wrong = NULL;
    floe_field out = k->field, part = k->box, level = k->half;
    out.data = part.data = level.data = r->out;
    out.place = part.place = level.place = FLOE_DEVICE;
    if (floe_decompress(ctx, r->stream, k->stream_nbytes, &out) != FLOE_OK ||
        cudaMemcpy(got, r->out, k->nbytes, cudaMemcpyDeviceToHost) != cudaSuccess)
        wrong = floe_ctx_message(ctx);
    else if (memcmp(got, k->values, k->nbytes) != 0)
        wrong = "other values";
    else if (floe_decompress_region(ctx, r->stream, k->stream_nbytes, k->lo, k->hi, &part) != FLOE_OK ||
             cudaMemcpy(got, r->out, nbytes_of(&part), cudaMemcpyDeviceToHost) != cudaSuccess)
        wrong = floe_ctx_message(ctx);
    else if (memcmp(got, k->boxed, nbytes_of(&part)) != 0)
        wrong = "other values of a box";
    else if (k->level && (floe_decompress_level(ctx, r->stream, k->stream_nbytes, 1, &level) != FLOE_OK ||
                          cudaMemcpy(got, r->out, nbytes_of(&level), cudaMemcpyDeviceToHost) != cudaSuccess))
        wrong = floe_ctx_message(ctx);
    else if (k->level && memcmp(got, k->level, nbytes_of(&level)) != 0)
        wrong = "other values of a level";
    free(got);
    return wrong;
}

static const char *compare(floe_ctx *ctx, const known *k)
{
    room r = {NULL, NULL, NULL};
    const char *wrong = NULL;
    uint64_t n = 0;
    uint8_t *stream = malloc(k->capacity);
    floe_field field = k->field;
    if (cudaMalloc(&r.field, k->nbytes) + cudaMalloc(&r.stream, k->capacity) + cudaMalloc(&r.out, k->nbytes) +
            cudaMemcpy(r.field, k->field.data, k->nbytes, cudaMemcpyHostToDevice) !=
        0)
        wrong = "no device memory";
    field.data = r.field;
    field.place = FLOE_DEVICE;
    if (!wrong && (floe_compress(ctx, &field, &k->params, r.stream, k->capacity, &n) != FLOE_OK ||
                   cudaMemcpy(stream, r.stream, n, cudaMemcpyDeviceToHost) != cudaSuccess))
        wrong = floe_ctx_message(ctx);
    else if (!wrong && (n != k->stream_nbytes || memcmp(stream, k->stream, n) != 0))
        wrong = "another stream";
    if (!wrong)
        wrong = decode(ctx, k, &r);
    cudaFree(r.field), cudaFree(r.stream), cudaFree(r.out);
    free(stream);
    return wrong;
}

static floe_ctx *open_ctx(uint32_t threads, uint64_t max_memory)
{
    floe_ctx *ctx = NULL;
    const floe_ctx_options o = {.size = sizeof o, .threads = threads, .max_memory = max_memory};
    return floe_ctx_create(&ctx, &o) == FLOE_OK ? ctx : NULL;
}

/* ---- tests ------------------------------------------------------------------------------------------------------------- */

static void any_number_of_threads(void **state)
{
    static const uint32_t threads[] = {1, 2, 5, 20};
    (void)state;
    for (int i = 0; i < NCASES; i += few_in(3)) {
        known k;
        know(&cases[i], &k);
        for (int t = i % few_in(4); t < 4; t += few_in(4)) {
            floe_ctx *ctx = open_ctx(threads[t], 0);
            assert_non_null(ctx);
            const char *wrong = compare(ctx, &k);
            if (wrong)
                fail_msg("%s, %u threads: %s", cases[i].params, threads[t], wrong);
            floe_ctx_free(&ctx);
        }
        forget(&k);
    }
}

/* As much as one chunk after another takes is enough, and less than what is taken otherwise. */
static void little_memory(void **state)
{
    (void)state;
    for (int i = 0; i < NCASES; i += few_in(2) * 3) {
        known k;
        size_t usual;
        uint64_t least = 1, limit;
        floe_ctx *ctx = open_ctx(8, 0);
        know(&cases[i], &k);
        assert_int_equal(floe_device_workspace_nbytes(ctx, &k.field, &k.params, &usual), FLOE_OK);
        for (limit = usual; limit - least > usual / 16;) { /* bisection */
            const uint64_t middle = least + (limit - least) / 2;
            floe_ctx_free(&ctx);
            ctx = open_ctx(8, middle);
            const char *wrong = compare(ctx, &k);
            if (wrong && !strstr(wrong, "the limit is"))
                fail_msg("%s: %s", cases[i].params, wrong);
            *(wrong ? &least : &limit) = middle;
        }
        assert_true(limit < usual / 2);
        floe_ctx_free(&ctx);
        forget(&k);
    }
}

typedef struct worker {
    const known *known;
    int first;
    char wrong[256];
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    floe_ctx *ctx = open_ctx(3, 0);
    for (int i = 0; ctx && i < NALL && !w->wrong[0]; i += few_in(4)) {
        const int at = (i + w->first) % NALL;
        const char *wrong = compare(ctx, &w->known[at]);
        if (wrong)
            snprintf(w->wrong, sizeof w->wrong, "%s: %s", case_of(at)->params, wrong);
    }
    if (!ctx)
        snprintf(w->wrong, sizeof w->wrong, "no context");
    floe_ctx_free(&ctx);
    return NULL;
}

/* Kernels of all are the same ones, launched with other sizes. */
static void several_contexts_at_once(void **state)
{
    enum { WORKERS = 4 };
    known all[NALL];
    worker workers[WORKERS];
    pthread_t threads[WORKERS];
    (void)state;
    for (int i = 0; i < NALL; i++)
        know(case_of(i), &all[i]);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.known = all, .first = 3 * i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < WORKERS; i++)
        if (workers[i].wrong[0])
            fail_msg("%s", workers[i].wrong);
    for (int i = 0; i < NALL; i++)
        forget(&all[i]);
}

/* Threads begin with the first GPU as theirs. */
static void another_gpu(void **state)
{
    (void)state;
    int ndevices;
    CU(cudaGetDeviceCount(&ndevices));
    if (ndevices < 2)
        skip();
    CU(cudaSetDevice(1));
    for (int i = 0; i < NCASES; i++) {
        known k;
        floe_ctx *ctx = open_ctx(8, 0);
        know(&cases[i], &k);
        const char *wrong = compare(ctx, &k);
        if (wrong)
            fail_msg("%s: %s", cases[i].params, wrong);
        floe_ctx_free(&ctx);
        forget(&k);
    }
    CU(cudaSetDevice(0));
}

/* A byte of any chunk, or too little room for the last ones; then all is well again. */
static void damage_and_little_room(void **state)
{
    (void)state;
    floe_ctx *ctx = open_ctx(8, 0);
    for (int i = 0; i < NCASES; i += few_in(5)) {
        known k;
        room r;
        uint64_t n = 0;
        know(&cases[i], &k);
        CU(cudaMalloc(&r.field, k.nbytes));
        CU(cudaMalloc(&r.stream, k.capacity));
        CU(cudaMemcpy(r.field, k.field.data, k.nbytes, cudaMemcpyHostToDevice));
        floe_field field = k.field, out = k.field;
        field.data = r.field;
        field.place = FLOE_DEVICE;
        for (uint64_t part = 1; part < 8; part += (uint64_t)few_in(3)) /* so that lanes fail at any point of others */
            assert_int_equal(floe_compress(ctx, &field, &k.params, r.stream, k.stream_nbytes * part / 8, &n),
                             FLOE_ERR_CAPACITY);
        out.data = r.field;
        out.place = FLOE_DEVICE;
        for (uint64_t at = k.stream_nbytes / 8; at < k.stream_nbytes; at += k.stream_nbytes / 5) {
            k.stream[at] ^= 16;
            CU(cudaMemcpy(r.stream, k.stream, k.stream_nbytes, cudaMemcpyHostToDevice));
            floe_field host = k.field;
            host.data = take(k.nbytes);
            const floe_status expected = floe_decompress(cpu, k.stream, k.stream_nbytes, &host);
            assert_int_equal(floe_decompress(ctx, r.stream, k.stream_nbytes, &out), expected);
            free(host.data);
            k.stream[at] ^= 16;
        }
        const char *wrong = compare(ctx, &k);
        if (wrong)
            fail_msg("%s: %s", cases[i].params, wrong);
        CU(cudaFree(r.field));
        CU(cudaFree(r.stream));
        forget(&k);
    }
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_number_of_threads), cmocka_unit_test(little_memory),
                                       cmocka_unit_test(several_contexts_at_once), cmocka_unit_test(another_gpu),
                                       cmocka_unit_test(damage_and_little_room)};
    return cmocka_run_group_tests(tests, contexts_open, contexts_close);
}
