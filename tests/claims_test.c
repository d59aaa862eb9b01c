/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers that claim anything, with next to nothing behind: refused for what they are, and no memory is taken for what they claim.
 *
 *     FLOE_CLAIMS=100000 claims_test
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/api_kit.h"
#include "tests/claims_kit.h"

#ifndef __has_feature /* clang's way to state what gcc's macros do */
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
enum { HAS_SHADOWS = 1 }; /* which are memory, too */
#else
enum { HAS_SHADOWS = 0 };
#endif

enum { SOME = 1 << 26 };
static void *some, *nowhere; /* zeros; and where nothing is to be looked at */

static int memory_is_little(void **state)
{
    (void)state;
    const struct rlimit little = {(rlim_t)1 << 29, (rlim_t)1 << 29};
    some = mmap(NULL, SOME, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return some == MAP_FAILED || nowhere == MAP_FAILED || (!HAS_SHADOWS && setrlimit(RLIMIT_AS, &little) != 0);
}

static uint64_t nclaims(void)
{
    const char *wish = getenv("FLOE_CLAIMS");
    return wish ? strtoull(wish, NULL, 10) : 3000;
}

static void refused(floe_ctx *ctx, uint64_t number, const char *what, floe_status status)
{
    const bool said = floe_status_text(status) && floe_ctx_message(ctx)[0];
    if (!said || (status != FLOE_ERR_FORMAT && status != FLOE_ERR_CHECKSUM))
        fail_msg("claim %llu, %s: status %d, %s", (unsigned long long)number, what, (int)status, floe_ctx_message(ctx));
}

static floe_status by_stream(floe_ctx *ctx, const claim *c, bool seekable, bool size_known, bool salvage)
{
    kit_source from = {.data = c->bytes, .nbytes = c->nbytes};
    kit_sink to = {.fail_at = 1 << 20};
    floe_source source = kit_source_of(&from, seekable, size_known);
    floe_sink sink = kit_sink_of(&to);
    const floe_stream_options options = {.size = sizeof options, .salvage = salvage};
    const floe_status status = floe_decompress_stream(ctx, &source, &sink, &options, NULL);
    kit_bytes_free(&to.bytes);
    return status;
}

/* What has no end that is known is refused when it ends, unless a limit on memory reports it before. */
static void ends(floe_ctx *ctx, uint64_t number, const char *what, floe_status status)
{
    if (status != FLOE_ERR_LIMIT && status != FLOE_ERR_MEMORY)
        refused(ctx, number, what, status);
}

static void claims_are_refused(void **state)
{
    (void)state;
    const floe_ctx_options limited = {.size = sizeof limited, .threads = 1, .max_memory = 1 << 24};
    floe_ctx *ctx = kit_ctx(1), *little = NULL;
    assert_int_equal(floe_ctx_create(&little, &limited), FLOE_OK);
    static claim c;
    uint64_t one[1], lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], random = 1, nmade = 0;
    for (uint64_t i = 0; i < nclaims(); i++) {
        floe_info info = {.size = sizeof info};
        if (!claim_make(i, &c))
            continue;
        nmade++;
        floe_field all = claim_field(&c, claim_nbytes(&c) <= SOME ? some : nowhere),
                   box = claim_box(&c, one, lo, hi, &random);
        assert_int_equal(floe_stream_info(c.bytes, c.nbytes, &info, NULL), FLOE_OK);
        refused(ctx, i, "all", floe_decompress(ctx, c.bytes, c.nbytes, &all));
        refused(ctx, i, "a region", floe_decompress_region(ctx, c.bytes, c.nbytes, lo, hi, &box));
        const floe_status verified = floe_verify(ctx, c.bytes, c.nbytes, &all);
        if (verified != FLOE_ERR_BOUND) /* which is looked at before chunks are */
            refused(ctx, i, "verify", verified);
        refused(ctx, i, "a file", by_stream(ctx, &c, true, true, false));
        refused(ctx, i, "a pipe of known size", by_stream(ctx, &c, false, true, false));
        ends(little, i, "a pipe", by_stream(little, &c, false, false, false));
    }
    assert_true(nmade > nclaims() / 4);
    floe_ctx_free(&ctx);
    floe_ctx_free(&little);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims_are_refused)};
    return cmocka_run_group_tests(tests, memory_is_little, NULL);
}
