/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and threads that cannot be had, one after another (faults_kit.h). The linker puts these functions in place of the C
 * library's (--wrap, tests/CMakeLists.txt). */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_ullong until; /* 0: nothing fails */
static atomic_ullong alive;

static bool is_to_fail(void) { return until && --until == 0; }
static void *counted(void *p)
{
    alive += p != NULL;
    return p;
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n) { return is_to_fail() ? NULL : counted(__real_malloc(n)); }
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size) { return is_to_fail() ? NULL : counted(__real_calloc(n, size)); }
void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return is_to_fail() ? NULL : counted(__real_aligned_alloc(align, n));
}
void __real_free(void *p);
void __wrap_free(void *p)
{
    alive -= p != NULL;
    __real_free(p);
}
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    return is_to_fail() ? EAGAIN : __real_pthread_create(thread, attr, run, arg);
}

enum { PLANES = 100 };
static void fault_arm(uint64_t n) { until = n; }
static bool fault_is_armed(void) { return until != 0; }
static uint64_t fault_alive(void) { return alive; }
static void *space_take(size_t nbytes) { return calloc(1, nbytes); }
static void space_free(void *p) { free(p); }
static void space_copy(void *to, const void *from, size_t nbytes) { memcpy(to, from, nbytes); }

#include "tests/faults_kit.h"

static void every_fault_is_an_error(void **state)
{
    (void)state;
    static const char *const params[] = {"rel=1e-3 chunk=30x33x40",
                                         "abs=1e-2 preset=fast",
                                         "pwrel=1e-3",
                                         "abs=1e-2 codec=zfp",
                                         "psnr=60",
                                         "ratio=5 preset=fast",
                                         "ratio=5",
                                         "rel=1e-2 preset=best"}; /* the last two take longest */
    for (size_t i = 0; i < KIT_COUNT(params) - (FLOE_TEST_STRIDE > 1 ? 2 : 0); i++) {
        world w = world_make(params[i], FLOE_BACKEND_CPU, false);
        FAULTS_EACH(&w, create);
        FAULTS_EACH(&w, compress);
        FAULTS_EACH(&w, decompress);
        FAULTS_EACH(&w, damaged);
        FAULTS_EACH(&w, region);
        FAULTS_EACH(&w, verify);
        FAULTS_EACH(&w, streams);
        FAULTS_EACH(&w, sizes);
        if (i == 0) { /* what the parameters do not change */
            FAULTS_EACH(&w, assess);
            FAULTS_EACH(&w, zfp_compress);
            FAULTS_EACH(&w, zfp_index);
            FAULTS_EACH(&w, zfp_decompress);
            FAULTS_EACH(&w, zfp_walk);
            FAULTS_EACH(&w, zfp_short);
        }
        world_free(&w);
    }
}

/* The first allocation would fail. A small field is coded whole by several codecs in preset best. */
static void nothing_is_allocated_beside_a_workspace(void **state)
{
    (void)state;
    static const char *const params[] = {"rel=1e-3 preset=best", "rel=1e-2", "abs=1e-2 codec=wavelet preset=fast"};
    floe_field f = kit_field(FLOE_F32, 3, (const uint64_t[]){40, 50, 60}, KIT_SMOOTH, 5);
    for (size_t i = 0; i < KIT_COUNT(params); i++) {
        floe_ctx *ctx = kit_ctx(1);
        const floe_params p = kit_params(params[i]);
        size_t nbytes;
        kit_ok(ctx, floe_workspace_nbytes(ctx, &f, &p, &nbytes));
        floe_ctx_free(&ctx);
        floe_ctx_options options = {.size = sizeof options, .threads = 1, .workspace_nbytes = nbytes};
        options.workspace = aligned_alloc(64, (nbytes + 63) / 64 * 64);
        assert_int_equal(floe_ctx_create(&ctx, &options), FLOE_OK);
        kit_bytes b = {.capacity = floe_compress_bound(&f, &p)};
        b.data = malloc((size_t)b.capacity);
        fault_arm(1);
        const floe_status status = floe_compress(ctx, &f, &p, b.data, b.capacity, &b.nbytes);
        assert_true(fault_is_armed());
        fault_arm(0);
        kit_ok(ctx, status);
        kit_bytes_free(&b);
        floe_ctx_free(&ctx);
        free(options.workspace);
    }
    kit_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_fault_is_an_error),
                                       cmocka_unit_test(nothing_is_allocated_beside_a_workspace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
