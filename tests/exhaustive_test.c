/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All 2^32 patterns of f32 through each mode, in two orders: rising, where neighbours are alike, and with their bits
 * reversed, where neighbours have nothing in common. Each value is checked exactly, by formulas that are not the library's.
 *
 *     exhaustive_test                        a sample: every 4099th pattern, and those around all that is special
 *     FLOE_EXHAUSTIVE=1 exhaustive_test      all of them (make exhaustive), about 45 minutes on two cores
 *     FLOE_EXHAUSTIVE=1 FLOE_PASS=3 ...      all of them through one row of the table below, the first being 0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>
#include <stdatomic.h>

#include "backend/backend.h"
#include "tests/hostile_kit.h"

enum { PIECE = 1 << 21, NPIECES = 1 << 11, SAMPLE_PIECE = 1 << 16 };

typedef struct pass {
    const char *params;
    uint32_t rank; /* of the field that a piece is taken for */
    bool reversed;
} pass;

static const pass passes[] = {
    {"abs=1e-3 preset=fast fill=none", 1, false},
    {"abs=1e-3 preset=balanced fill=none", 3, true},
    {"abs=0.5 preset=balanced fill=auto", 2, false},
    {"abs=1e30 preset=fast fill=none", 3, false},
    {"abs=1e30 preset=balanced fill=none", 1, true},
    {"abs=3e-42 preset=fast fill=none", 1, false},
    {"rel=1e-3 preset=fast fill=none", 2, false},
    {"rel=1e-4 preset=balanced fill=none", 3, true},
    {"pwrel=1e-3 preset=fast fill=none", 1, false},
    {"pwrel=1e-3 preset=balanced fill=none", 3, true},
    {"pwrel=2e-7 preset=balanced fill=none", 2, false},
    {"lossless preset=fast", 1, true},
    {"lossless preset=balanced", 2, false},
    {"abs=0.5 codec=interp", 3, false},
    {"abs=1e30 fill=none codec=interp", 3, true},
    {"pwrel=1e-3 preset=fast codec=interp", 2, false},
    {"abs=1e30 preset=fast codec=wavelet", 3, true},
    {"pwrel=1e-3 preset=fast codec=wavelet", 2, false},
};

static uint32_t reverse(uint32_t v)
{
    v = (v >> 16) | (v << 16);
    v = (v & 0xFF00FF00u) >> 8 | (v & 0x00FF00FFu) << 8;
    v = (v & 0xF0F0F0F0u) >> 4 | (v & 0x0F0F0F0Fu) << 4;
    v = (v & 0xCCCCCCCCu) >> 2 | (v & 0x33333333u) << 2;
    return (v & 0xAAAAAAAAu) >> 1 | (v & 0x55555555u) << 1;
}

/* ---- one piece ---------------------------------------------------------------------------------------------------- */

/* What one thread has, and what it has found. */
typedef struct worker {
    floe_ctx *ctx;
    floe_params params;
    uint32_t rank;
    uint32_t *x, *y;
    uint8_t *stream;
    uint64_t capacity, nchecked, nexceptions, nbytes;
    char failure[256]; /* the first one, or "" */
} worker;

#define FAIL_UNLESS(w, cond, ...)                                    \
    do {                                                             \
        if (!(cond)) {                                               \
            snprintf((w)->failure, sizeof(w)->failure, __VA_ARGS__); \
            return;                                                  \
        }                                                            \
    } while (0)

static floe_field field_of(const worker *w, uint32_t *data, uint64_t n)
{
    const uint64_t line[] = {n}, plane[] = {n / 2048, 2048}, brick[] = {n / 16384, 128, 128};
    return floe_field_of(data, FLOE_F32, w->rank, w->rank == 1 ? line : w->rank == 2 ? plane : brick);
}

/* The bound that a relative one became must not be larger than requested. */
static bool range_is_kept(const worker *w, uint64_t n, double abs_bound)
{
    float least = INFINITY, most = -INFINITY;
    for (uint64_t i = 0; i < n; i++) {
        float v = (float)hostile_value(FLOE_F32, w->x[i]);
        least = v < least && v > -INFINITY ? v : least;
        most = v > most && v < INFINITY ? v : most;
    }
    if (!(most > least))
        return abs_bound >= 0;
    long double width = (long double)most - (long double)least, allowed = (long double)w->params.bound * width;
    return (long double)abs_bound <= allowed;
}

static void check_values(worker *w, uint64_t n, const floe_info *info)
{
    const bool relative = w->params.mode == FLOE_BOUND_REL;
    const hostile_promise p = {FLOE_F32, relative ? FLOE_BOUND_ABS : w->params.mode,
                               relative ? info->abs_bound : w->params.bound, info->has_fill,
                               info->has_fill ? hostile_bits(FLOE_F32, info->fill_value) : 0};
    for (uint64_t i = 0; i < n; i++)
        FAIL_UNLESS(w, hostile_kept(&p, w->x[i], w->y[i]), "%08x came back as %08x, bound %.17g of mode %d", w->x[i],
                    w->y[i], p.bound, (int)p.mode);
}

static void check_piece(worker *w, uint64_t n)
{
    floe_field in = field_of(w, w->x, n), out = field_of(w, w->y, n);
    floe_info info = {.size = sizeof info};
    floe_stats stats = {.size = sizeof stats};
    uint64_t nbytes = 0;
    FAIL_UNLESS(w, floe_compress(w->ctx, &in, &w->params, w->stream, w->capacity, &nbytes) == FLOE_OK,
                "does not compress: %s", floe_ctx_message(w->ctx));
    floe_ctx_stats(w->ctx, &stats);
    memset(w->y, 0xEE, (size_t)n * sizeof *w->y);
    FAIL_UNLESS(w, floe_decompress(w->ctx, w->stream, nbytes, &out) == FLOE_OK, "does not decompress: %s",
                floe_ctx_message(w->ctx));
    FAIL_UNLESS(w, floe_stream_info(w->stream, nbytes, &info, NULL) == FLOE_OK, "has no header");
    if (w->params.mode == FLOE_BOUND_REL)
        FAIL_UNLESS(w, range_is_kept(w, n, info.abs_bound), "bound %.17g is more than requested", info.abs_bound);
    check_values(w, n, &info);
    w->nchecked += n;
    w->nexceptions += stats.nexceptions;
    w->nbytes += nbytes;
}

static worker worker_of(const pass *p)
{
    worker w = {.rank = p->rank};
    floe_ctx_options options = {.size = sizeof options, .threads = 1};
    w.x = malloc(PIECE * sizeof *w.x);
    w.y = malloc(PIECE * sizeof *w.y);
    if (floe_params_parse(&w.params, p->params, NULL) != FLOE_OK || floe_ctx_create(&w.ctx, &options) != FLOE_OK ||
        !w.x || !w.y)
        abort();
    floe_field whole = field_of(&w, w.x, PIECE);
    w.capacity = floe_compress_bound(&whole, &w.params);
    w.stream = malloc(w.capacity);
    if (!w.stream)
        abort();
    return w;
}

/* Adds what one thread has found to the sum. */
static void worker_end(worker *w, worker *sum)
{
    sum->nchecked += w->nchecked;
    sum->nexceptions += w->nexceptions;
    sum->nbytes += w->nbytes;
    if (w->failure[0])
        memcpy(sum->failure, w->failure, sizeof sum->failure);
    floe_ctx_free(&w->ctx);
    free(w->x);
    free(w->y);
    free(w->stream);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say(const pass *p, const worker *w, double began)
{
    if (w->failure[0])
        fail_msg("%s: %s", p->params, w->failure);
    print_message("exhaustive: %-36s %s %10llu patterns, all within; %5.2f %% stored, ratio %.3f, %.1f s\n", p->params,
                  p->reversed ? "reversed" : "rising  ", (unsigned long long)w->nchecked,
                  100 * (double)w->nexceptions / (double)w->nchecked, 4 * (double)w->nchecked / (double)w->nbytes,
                  seconds() - began);
}

/* ---- all, or a sample ---------------------------------------------------------------------------------------------- */

enum { MOST_WORKERS = 64 };

typedef struct run {
    const pass *pass;
    worker *workers; /* of whom those have a context that have found work */
    atomic_int ndone;
    double said; /* written by worker 0 */
} run;

static void piece_run(void *arg, uint64_t piece, uint32_t number)
{
    run *r = arg;
    worker *w = &r->workers[number];
    if (!w->ctx)
        *w = worker_of(r->pass);
    for (uint32_t i = 0; i < PIECE; i++) {
        uint32_t v = (uint32_t)piece * PIECE + i;
        w->x[i] = r->pass->reversed ? reverse(v) : v;
    }
    if (!w->failure[0])
        check_piece(w, PIECE);
    const int ndone = ++r->ndone;
    if (number == 0 && seconds() - r->said > 20) {
        r->said = seconds();
        print_message("exhaustive: %-36s %5.1f %%\n", r->pass->params, 100.0 * ndone / NPIECES);
    }
}

static void all_of_them(const pass *p)
{
    floe_cpu cpu;
    worker sum = {.rank = p->rank};
    run r = {.pass = p, .workers = calloc(MOST_WORKERS, sizeof *r.workers), .said = seconds()};
    const double began = seconds();
    assert_non_null(r.workers);
    assert_int_equal(floe_cpu_init(&cpu, 0, FLOE_ISA_AUTO, NULL), FLOE_OK);
    cpu.threads = cpu.threads < MOST_WORKERS ? cpu.threads : MOST_WORKERS;
    floe_cpu_parallel(&cpu, NPIECES, piece_run, &r);
    for (uint32_t i = 0; i < cpu.threads; i++)
        if (r.workers[i].ctx)
            worker_end(&r.workers[i], &sum);
    free(r.workers);
    say(p, &sum, began);
}

static int compare_patterns(const void *a, const void *b)
{
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Every 4099th pattern, and those on both sides of each power of two, of zero, infinity and the ends of the NaN; rising. */
static uint64_t sample(uint32_t *x)
{
    uint64_t n = 0;
    for (uint64_t v = 0; v < (uint64_t)1 << 32; v += 4099)
        x[n++] = (uint32_t)v;
    for (uint32_t e = 0; e < 512; e++)
        for (uint32_t d = 0; d < 64; d++)
            x[n++] = (e << 23) + d - 32;
    for (uint32_t special = 0; special < 30; special++)
        for (uint32_t d = 0; d < 1024; d++)
            x[n++] = (uint32_t)hostile_special(FLOE_F32, special) + d - 512;
    for (; n % SAMPLE_PIECE; n++)
        x[n] = x[n - 1];
    qsort(x, n, sizeof *x, compare_patterns);
    return n;
}

static void a_sample(const pass *p, const uint32_t *patterns, uint64_t n)
{
    worker w = worker_of(p), sum = {.rank = p->rank};
    const double began = seconds();
    for (uint64_t at = 0; at < n; at += SAMPLE_PIECE) {
        for (uint64_t i = 0; i < SAMPLE_PIECE; i++) /* far apart, or side by side */
            w.x[i] = p->reversed ? patterns[(at / SAMPLE_PIECE + i * (n / SAMPLE_PIECE)) % n] : patterns[at + i];
        for (uint64_t i = SAMPLE_PIECE - 1; p->reversed && i > 0; i--) {
            uint64_t j = reverse((uint32_t)i) % (i + 1);
            uint32_t swap = w.x[i];
            w.x[i] = w.x[j];
            w.x[j] = swap;
        }
        if (!w.failure[0])
            check_piece(&w, SAMPLE_PIECE);
    }
    worker_end(&w, &sum);
    say(p, &sum, began);
}

static void every_pattern(void **unused)
{
    const char *wanted = getenv("FLOE_EXHAUSTIVE"), *one = getenv("FLOE_PASS");
    const bool all = wanted && strcmp(wanted, "1") == 0;
    uint32_t *patterns = malloc(PIECE * sizeof *patterns);
    uint64_t n = sample(patterns);
    (void)unused;
    assert_true(n <= PIECE);
    for (size_t i = 0; i < HOSTILE_COUNT(passes); i++)
        if (one && strtoul(one, NULL, 10) != i)
            continue;
        else if (all)
            all_of_them(&passes[i]);
        else
            a_sample(&passes[i], patterns, n);
    free(patterns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pattern)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
