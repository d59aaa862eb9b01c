/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: options, messages, workspaces of the caller and their limits. */
#include "base/try.h"
#include "call/ctx.h"
#include "tests/api_kit.h"

#include <dirent.h>
#include <fenv.h>

static floe_status create(floe_ctx **ctx, floe_ctx_options o)
{
    *ctx = NULL;
    return floe_ctx_create(ctx, &o);
}

static void options(void **state)
{
    (void)state;
    floe_ctx *ctx;
    static _Alignas(64) uint8_t memory[256];
    const struct {
        floe_ctx_options o;
        floe_status status;
        const char *message;
    } cases[] = {
        {{.size = sizeof(floe_ctx_options)}, FLOE_OK, ""},
        {{.size = sizeof(floe_ctx_options), .backend = FLOE_BACKEND_CPU, .threads = 3}, FLOE_OK, ""},
        {{.size = sizeof(floe_ctx_options), .isa = FLOE_ISA_PLAIN}, FLOE_OK, ""},
        {{.size = sizeof(floe_ctx_options), .backend = FLOE_BACKEND_CUDA},
         FLOE_ERR_DEVICE,
         ""}, /* none can be seen, see main */
        {{.size = sizeof(floe_ctx_options), .backend = (floe_backend)9}, FLOE_ERR_ARGUMENT, "unknown backend 9"},
        {{.size = sizeof(floe_ctx_options), .device = -1}, FLOE_ERR_ARGUMENT, "device is -1"},
        {{.size = sizeof(floe_ctx_options), .threads = 1u << 20}, FLOE_ERR_ARGUMENT, "threads"},
        {{.size = sizeof(floe_ctx_options), .isa = (floe_isa)9}, FLOE_ERR_ARGUMENT, "instruction set 9"},
        {{.size = 0}, FLOE_ERR_ARGUMENT, "floe_ctx_options.size is 0"},
        {{.size = 7}, FLOE_ERR_ARGUMENT, "floe_ctx_options.size is 7"},
        {{.size = offsetof(floe_ctx_options, isa), .isa = (floe_isa)9}, FLOE_OK, ""}, /* an older caller */
        {{.size = sizeof(floe_ctx_options), .workspace = memory, .workspace_nbytes = 256}, FLOE_OK, ""},
        {{.size = sizeof(floe_ctx_options), .workspace = memory + 8, .workspace_nbytes = 248},
         FLOE_ERR_ARGUMENT,
         "not aligned to 64"},
        {{.size = sizeof(floe_ctx_options), .workspace_nbytes = 256}, FLOE_ERR_ARGUMENT, "workspace is NULL"},
    };
    for (size_t c = 0; c < KIT_COUNT(cases); c++) {
        assert_int_equal(create(&ctx, cases[c].o), cases[c].status);
        assert_non_null(strstr(floe_ctx_message(ctx), cases[c].message));
        if (cases[c].status != FLOE_OK) { /* there so that its message can be read, and for nothing else */
            floe_params p = kit_params("abs=1");
            size_t n;
            floe_field f = floe_field_of(NULL, FLOE_F32, 1, (const uint64_t[]){4});
            assert_int_equal(floe_workspace_nbytes(ctx, &f, &p, &n), FLOE_ERR_ARGUMENT);
        }
        floe_ctx_free(&ctx);
        assert_null(ctx);
    }
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    floe_ctx_free(&ctx);
    assert_int_equal(floe_ctx_create(NULL, NULL), FLOE_ERR_ARGUMENT);
    floe_ctx_free(NULL);
    floe_ctx_free(&ctx);
    floe_stats stats = {.size = sizeof stats};
    assert_int_equal(floe_ctx_stats(NULL, &stats), FLOE_OK);
    assert_int_equal(floe_ctx_stats(NULL, NULL), FLOE_ERR_ARGUMENT);
    assert_string_equal(floe_ctx_message(NULL), "");
    assert_string_equal(floe_version(), FLOE_VERSION_STRING);
}

/* ---- structs that are filled ------------------------------------------------------------------------------------------- */

typedef struct filling {
    floe_ctx *ctx; /* has compressed field to b */
    floe_field field;
    kit_bytes b;
} filling;

static floe_status fill_info(const filling *f, void *to) { return floe_stream_info(f->b.data, f->b.nbytes, to, NULL); }
static floe_status fill_stats(const filling *f, void *to) { return floe_ctx_stats(f->ctx, to); }
static floe_status fill_report(const filling *f, void *to) { return floe_assess(f->ctx, &f->field, NULL, NULL, to); }
static floe_status read_nothing(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    (void)user, (void)offset, (void)dst, (void)nbytes;
    *got = 0;
    return FLOE_OK;
}
static floe_status write_nothing(void *user, const void *src, size_t nbytes)
{
    (void)user, (void)src, (void)nbytes;
    return FLOE_OK;
}
static floe_status fill_info_of_source(const filling *f, void *to)
{
    const floe_source source = {.read = read_nothing};
    const floe_sink sink = {.write = write_nothing};
    return floe_decompress_stream(f->ctx, &source, &sink, NULL, to);
}

/* A caller of an older version has room for less, one of a newer version for more; one that forgot the size gets nothing. */
static void structs_that_are_filled(void **state)
{
    enum { ROOM = 1 << 14, NEWER = 24 };
    static const struct {
        floe_status (*fill)(const filling *, void *);
        size_t size;
    } cases[] = {
        {fill_info, sizeof(floe_info)}, {fill_stats, sizeof(floe_stats)}, {fill_report, sizeof(floe_assess_report)}};
    static const size_t wrong[] = {0, 7, (1 << 16) + 1, (size_t)0xAAAAAAAAAAAAAAAAu};
    static _Alignas(16) uint8_t whole[ROOM], other[ROOM], unset[ROOM];
    (void)state;
    filling f = {.ctx = kit_ctx(1)};
    const floe_params p = kit_params("abs=1");
    f.field = kit_field(FLOE_F32, 2, (uint64_t[]){40, 50}, KIT_SMOOTH, 3);
    f.b = kit_compress(f.ctx, &f.field, &p);
    memset(unset, 0xAA, ROOM);
    for (size_t c = 0; c < KIT_COUNT(cases); c++) {
        const size_t size = cases[c].size;
        memcpy(whole, &size, sizeof size);
        assert_int_equal(cases[c].fill(&f, whole), FLOE_OK);
        for (size_t n = sizeof n; n <= size + NEWER; n += n + 8 < size ? 8 : 1) {
            memset(other, 0xAA, ROOM);
            memcpy(other, &n, sizeof n);
            assert_int_equal(cases[c].fill(&f, other), FLOE_OK);
            assert_memory_equal(other, &n, sizeof n);
            if (cases[c].fill != fill_report) /* which points to what lies elsewhere at each call */
                assert_memory_equal(other + sizeof n, whole + sizeof n, (n < size ? n : size) - sizeof n);
            for (size_t i = size; i < n; i++)
                assert_int_equal(other[i], 0);
            assert_memory_equal(other + n, unset, ROOM - n);
        }
        for (size_t w = 0; w < KIT_COUNT(wrong); w++) {
            memset(other, 0xAA, ROOM);
            memcpy(other, &wrong[w], sizeof wrong[w]);
            assert_int_equal(cases[c].fill(&f, other), FLOE_ERR_ARGUMENT);
            assert_memory_equal(other + sizeof wrong[w], unset, ROOM - sizeof wrong[w]);
        }
    }
    floe_info info = {.size = 0};
    assert_int_equal(fill_info_of_source(&f, &info), FLOE_ERR_ARGUMENT);
    assert_non_null(strstr(floe_ctx_message(f.ctx), "floe_info.size is 0"));
    kit_bytes_free(&f.b);
    kit_free(&f.field);
    floe_ctx_free(&f.ctx);
}

/* What an older caller's report has no room for is not read there. */
static void metrics_past_a_shorter_report(void **state)
{
    floe_ctx *ctx = kit_ctx(1);
    floe_field f = kit_field(FLOE_F32, 2, (uint64_t[]){40, 50}, KIT_SMOOTH, 3);
    floe_assess_report r = {.size = sizeof r};
    uint32_t mean, range;
    (void)state;
    assert_int_equal(floe_metric_find("mean", &mean), FLOE_OK);
    assert_int_equal(floe_metric_find("range", &range), FLOE_OK);
    assert_true(floe_metric_at(range)->offset < floe_metric_at(mean)->offset);
    r.size = floe_metric_at(mean)->offset + sizeof(double) - 1;
    assert_int_equal(floe_assess(ctx, &f, NULL, NULL, &r), FLOE_OK);
    assert_true(isnan(floe_metric_value(&r, mean)) && !isnan(floe_metric_value(&r, range)));
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* 0 where the system does not report it. */
static int threads_of_process(void)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *d; tasks && (d = readdir(tasks)) != NULL;)
        n += d->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return n;
}

/* What one thread does sooner than another can be started. Where many processes share a machine, starting threads for each small
 * chunk took hundreds of times as long. The first of all tests: threads stay once they are there. */
static void small_chunks_start_no_threads(void **state)
{
    (void)state;
    static const char *const params[] = {
        "rel=1e-3 chunk=600",          "rel=1e-3 preset=fast chunk=600", "lossless chunk=600", "pwrel=1e-2", "psnr=60",
        "codec=zfp rel=1e-3 chunk=600"};
    floe_ctx *ctx = kit_ctx(8);
    floe_field f = kit_field(FLOE_F32, 1, (const uint64_t[]){9000}, KIT_SMOOTH, 1), out = kit_like(&f);
    const int before = threads_of_process();
    for (size_t i = 0; i < KIT_COUNT(params); i++) {
        const floe_params p = kit_params(params[i]);
        kit_bytes b = kit_compress(ctx, &f, &p);
        kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &out));
        kit_ok(ctx, floe_verify(ctx, b.data, b.nbytes, &f));
        if (threads_of_process() != before)
            fail_msg("%s: %d threads, there were %d", params[i], threads_of_process(), before);
        kit_bytes_free(&b);
    }
    kit_free(&f);
    kit_free(&out);
    floe_ctx_free(&ctx);
}

/* Just enough is enough; one byte less names what is needed; nothing beside it is touched. */
static void workspace_of_the_caller(void **state)
{
    (void)state;
    floe_ctx *plain = kit_ctx(2);
    const char *const texts[] = {"abs=1e-2 preset=fast", "rel=1e-3", "psnr=50 chunk=10x20x30", "pwrel=1e-2",
                                 "lossless"};
    for (size_t t = 0; t < KIT_COUNT(texts); t++) {
        floe_field f = kit_field(FLOE_F32, 3, (const uint64_t[]){25, 40, 33}, KIT_FILL, 1), out = kit_like(&f);
        floe_params p = kit_params(texts[t]);
        size_t needed = 0;
        uint64_t n;
        kit_ok(plain, floe_workspace_nbytes(plain, &f, &p, &needed));
        assert_int_equal(needed % 64, 0);
        kit_bytes want = kit_compress(plain, &f, &p);
        uint8_t *memory = aligned_alloc(64, needed + 64);
        for (int less = 0; less < 2; less++) {
            floe_ctx *ctx;
            memset(memory, 0x3C, needed + 64);
            size_t nbytes = needed - (size_t)less;
            floe_ctx_options o = {.size = sizeof o, .threads = 2, .workspace = memory, .workspace_nbytes = nbytes};
            assert_int_equal(create(&ctx, o), FLOE_OK);
            uint8_t *dst = malloc((size_t)want.nbytes);
            floe_status status = floe_compress(ctx, &f, &p, dst, want.nbytes, &n);
            if (less) {
                char message[64];
                snprintf(message, sizeof message, "%zu are needed", needed);
                assert_int_equal(status, FLOE_ERR_MEMORY);
                assert_non_null(strstr(floe_ctx_message(ctx), message));
            } else {
                kit_ok(ctx, status);
                assert_memory_equal(dst, want.data, (size_t)want.nbytes);
                kit_ok(ctx, floe_decompress(ctx, dst, n, &out));
            }
            for (size_t i = nbytes; i < needed + 64; i++)
                assert_int_equal(memory[i], 0x3C);
            free(dst);
            floe_ctx_free(&ctx);
        }
        free(memory);
        kit_bytes_free(&want);
        kit_free(&f);
        kit_free(&out);
    }
    floe_ctx_free(&plain);
}

/* A few values do not take the scratch of many threads. */
static void workspace_of_few_values(void **state)
{
    (void)state;
    const char *const texts[] = {"rel=1e-3", "rel=1e-3 preset=best", "rel=1e-3 codec=interp", "rel=1e-3 codec=wavelet"};
    floe_ctx *many = kit_ctx(64), *one = kit_ctx(1), *ctx;
    floe_field f = kit_field(FLOE_F32, 2, (const uint64_t[]){50, 100}, KIT_SMOOTH, 1), out = kit_like(&f);
    for (size_t t = 0; t < KIT_COUNT(texts); t++) {
        const floe_params p = kit_params(texts[t]);
        kit_bytes want = kit_compress(one, &f, &p);
        size_t needed = 0;
        uint64_t nbytes;
        kit_ok(many, floe_workspace_nbytes(many, &f, &p, &needed));
        if (needed >= (size_t)32 << 20)
            fail_msg("%s: %zu bytes", texts[t], needed);
        void *memory = aligned_alloc(64, needed), *stream = malloc((size_t)want.nbytes);
        floe_ctx_options o = {.size = sizeof o, .threads = 64, .workspace = memory, .workspace_nbytes = needed};
        assert_int_equal(create(&ctx, o), FLOE_OK);
        kit_ok(ctx, floe_compress(ctx, &f, &p, stream, want.nbytes, &nbytes));
        assert_memory_equal(stream, want.data, (size_t)want.nbytes);
        kit_ok(ctx, floe_decompress(ctx, stream, nbytes, &out));
        floe_ctx_free(&ctx);
        free(memory), free(stream);
        kit_bytes_free(&want);
    }
    kit_free(&f);
    kit_free(&out);
    floe_ctx_free(&many);
    floe_ctx_free(&one);
}

/* An infinity comes back exactly: it is no error. */
static void statistics_of_infinities(void **state)
{
    (void)state;
    const char *const texts[] = {"pwrel=1e-2 codec=interp", "pwrel=1e-2 codec=wavelet", "pwrel=1e-2 codec=lorenzo"};
    floe_ctx *ctx = kit_ctx(2);
    for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++) {
        floe_field f = kit_field((floe_dtype)dtype, 2, (const uint64_t[]){60, 50}, KIT_SMOOTH, 1), out = kit_like(&f);
        for (uint64_t i = 0, seed = 1; i < 3000; i += kit_random(&seed) % 9 + 1)
            kit_set(&f, i, i % 2 ? INFINITY : -INFINITY);
        for (size_t t = 0; t < KIT_COUNT(texts); t++) {
            const floe_params p = kit_params(texts[t]);
            floe_stats stats = {.size = sizeof stats};
            kit_bytes b = kit_compress(ctx, &f, &p);
            floe_ctx_stats(ctx, &stats);
            if (!(stats.max_error <= 3 && stats.max_error > 0 && stats.max_pw_error <= 1e-2))
                fail_msg("%s: %g, %g", texts[t], stats.max_error, stats.max_pw_error);
            kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &out));
            kit_check_bound(&f, &out, 1e-2, true, NAN);
            kit_bytes_free(&b);
        }
        kit_free(&f);
        kit_free(&out);
    }
    floe_ctx_free(&ctx);
}

/* Streams and verify need more; their message gives how much, and with that they work. */
static void workspace_by_asking(void **state)
{
    (void)state;
    floe_ctx *plain = kit_ctx(1);
    floe_field f = kit_field(FLOE_F32, 2, (const uint64_t[]){60, 50}, KIT_SMOOTH, 1);
    floe_params p = kit_params("rel=1e-3 chunk=16x50");
    kit_bytes want = kit_compress(plain, &f, &p);
    for (int what = 0; what < 4; what++) {
        size_t nbytes = 0;
        for (int tries = 0;; tries++) {
            assert_true(tries < 4);
            floe_ctx *ctx;
            uint8_t *memory = aligned_alloc(64, nbytes + 64);
            floe_ctx_options o = {.size = sizeof o, .threads = 1, .workspace = memory, .workspace_nbytes = nbytes};
            assert_int_equal(create(&ctx, o), FLOE_OK);
            kit_source raw = {.data = f.data, .nbytes = 12000}, packed = {.data = want.data, .nbytes = want.nbytes};
            kit_sink to = {{NULL, 0, 0}, 0};
            floe_source source = kit_source_of(what ? &packed : &raw, what != 2, true);
            floe_sink sink = kit_sink_of(&to);
            floe_status status = what == 0   ? floe_compress_stream(ctx, &f, &p, &source, &sink, NULL)
                                 : what == 3 ? floe_verify(ctx, want.data, want.nbytes, &f)
                                             : floe_decompress_stream(ctx, &source, &sink, NULL, NULL);
            const char *at = strstr(floe_ctx_message(ctx), "bytes, ");
            bool done = status == FLOE_OK;
            if (!done) {
                assert_int_equal(status, FLOE_ERR_MEMORY);
                assert_non_null(at);
                nbytes = (size_t)strtoull(at + 7, NULL, 10);
            }
            floe_ctx_free(&ctx);
            kit_bytes_free(&to.bytes);
            free(memory);
            if (done)
                break;
        }
    }
    kit_bytes_free(&want);
    kit_free(&f);
    floe_ctx_free(&plain);
}

static void limit_on_memory(void **state)
{
    (void)state;
    floe_ctx *plain = kit_ctx(1), *ctx;
    floe_field f = kit_field(FLOE_F64, 2, (const uint64_t[]){100, 100}, KIT_SMOOTH, 1), out = kit_like(&f);
    floe_params p = kit_params("rel=1e-3");
    size_t needed = 0;
    uint64_t n;
    kit_ok(plain, floe_workspace_nbytes(plain, &f, &p, &needed));
    kit_bytes b = kit_compress(plain, &f, &p);
    for (int less = 0; less < 2; less++) {
        floe_ctx_options o = {.size = sizeof o, .threads = 1, .max_memory = needed - (size_t)less};
        assert_int_equal(create(&ctx, o), FLOE_OK);
        floe_status want = less ? FLOE_ERR_LIMIT : FLOE_OK;
        assert_int_equal(floe_compress(ctx, &f, &p, b.data, b.capacity, &n), want);
        if (less)
            assert_non_null(strstr(floe_ctx_message(ctx), "the limit is"));
        floe_ctx_free(&ctx);
    }
    floe_ctx_options o = {.size = sizeof o, .threads = 1, .max_memory = 100};
    assert_int_equal(create(&ctx, o), FLOE_OK);
    assert_int_equal(floe_decompress(ctx, b.data, b.nbytes, &out), FLOE_ERR_LIMIT);
    floe_ctx_free(&ctx);
    kit_bytes_free(&b);
    kit_free(&f);
    kit_free(&out);
    floe_ctx_free(&plain);
}

/* A context is used again and again: failures leave it sound, and its memory grows and stays. */
static void use_after_failure(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    uint64_t seed = 6, n;
    for (int i = 0; i < 60; i++) {
        uint64_t shape[] = {1 + kit_random(&seed) % 60, 1 + kit_random(&seed) % 60};
        floe_field f = kit_field(i % 2 ? FLOE_F32 : FLOE_F64, 2, shape, (kit_kind)(i % KIT_KINDS), seed),
                   out = kit_like(&f);
        floe_params p = kit_params(i % 3 ? "rel=1e-3" : "lossless");
        uint8_t tiny[40];
        assert_int_equal(floe_compress(ctx, &f, &p, tiny, sizeof tiny, &n), FLOE_ERR_CAPACITY);
        kit_bytes b = kit_compress(ctx, &f, &p);
        b.data[b.nbytes / 2] ^= 0x55;
        (void)floe_decompress(ctx, b.data, b.nbytes, &out);
        b.data[b.nbytes / 2] ^= 0x55;
        kit_ok(ctx, floe_decompress(ctx, b.data, b.nbytes, &out));
        kit_ok(ctx, floe_verify(ctx, b.data, b.nbytes, &f));
        kit_bytes_free(&b);
        kit_free(&f);
        kit_free(&out);
    }
    floe_ctx_free(&ctx);
}

/* The caller may round upward and flush to zero as it likes: the bytes are the same, and its settings come back. */
static void rounding_of_the_caller(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    floe_field f = kit_field(FLOE_F64, 2, (const uint64_t[]){70, 80}, KIT_SMOOTH, 1);
    const char *const texts[] = {"rel=1e-3", "psnr=50", "pwrel=1e-3", "abs=0.1"};
    for (size_t t = 0; t < KIT_COUNT(texts); t++) {
        floe_params p = kit_params(texts[t]);
        kit_bytes want = kit_compress(ctx, &f, &p);
        const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
        for (size_t m = 0; m < KIT_COUNT(modes); m++) {
            assert_int_equal(fesetround(modes[m]), 0);
            kit_bytes b = kit_compress(ctx, &f, &p);
            floe_status verified = floe_verify(ctx, b.data, b.nbytes, &f);
            int after = fegetround();
            fesetround(FE_TONEAREST);
            assert_int_equal(after, modes[m]);
            assert_int_equal(verified, FLOE_OK);
            assert_int_equal(b.nbytes, want.nbytes);
            assert_memory_equal(b.data, want.data, (size_t)b.nbytes);
            kit_bytes_free(&b);
        }
        kit_bytes_free(&want);
    }
    kit_free(&f);
    floe_ctx_free(&ctx);
}

/* Scratch that grows by little has room for all that was requested, from its aligned beginning on. */
static floe_status scratch_grows(floe_ctx *ctx, void *unused)
{
    floe_arena plan = floe_arena_plan(), arena;
    (void)unused;
    floe_arena_take(&plan, 1000, 1);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    for (size_t nbytes = 0; nbytes < 100 * FLOE_ARENA_ALIGN; nbytes += FLOE_ARENA_ALIGN) {
        FLOE_TRY(floe_ctx_scratch(ctx, nbytes, &arena));
        assert_true(arena.capacity >= nbytes);
        assert_int_equal((uintptr_t)arena.base % FLOE_ARENA_ALIGN, 0);
        memset(arena.base, 0xA5, arena.capacity);
    }
    return FLOE_OK;
}

static void scratch_that_grows(void **unused)
{
    floe_ctx *ctx = NULL;
    (void)unused;
    assert_int_equal(floe_ctx_create(&ctx, NULL), FLOE_OK);
    assert_int_equal(floe_ctx_run(ctx, scratch_grows, NULL), FLOE_OK);
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_chunks_start_no_threads),
        cmocka_unit_test(options),
        cmocka_unit_test(structs_that_are_filled),
        cmocka_unit_test(metrics_past_a_shorter_report),
        cmocka_unit_test(workspace_of_the_caller),
        cmocka_unit_test(workspace_by_asking),
        cmocka_unit_test(workspace_of_few_values),
        cmocka_unit_test(statistics_of_infinities),
        cmocka_unit_test(limit_on_memory),
        cmocka_unit_test(use_after_failure),
        cmocka_unit_test(rounding_of_the_caller),
        cmocka_unit_test(scratch_that_grows),
    };
    setenv("CUDA_VISIBLE_DEVICES", "", 1); /* a machine without a GPU */
    setenv("FLOE_EMULATED_DEVICES", "0", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
