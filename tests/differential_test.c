/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random fields through every bound, each checked outside the library in exact arithmetic; the same bytes from other threads,
 * another instruction set, strides and a stream; short and exact room; a region is the part of the whole.
 *
 *     FLOE_FIELDS=100000 FLOE_FIRST=0 differential_test
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/differential_kit.h"

enum { MOST = 30000, ROOM = 1 << 20 };

static floe_ctx *ctx[3];
static const random_case *now;
static uint64_t turn_now;

#define CHECK(c)                                   \
    do {                                           \
        if (!(c)) {                                \
            random_say(now, turn_now);             \
            fail_msg("%s, line %d", #c, __LINE__); \
        }                                          \
    } while (0)

static void *exactly(uint64_t nbytes)
{
    void *p = malloc(nbytes ? nbytes : 1);
    assert_non_null(p);
    return p;
}

/* With room for so many bytes and not one more. */
static floe_status compress_into(floe_ctx *c, const floe_field *f, uint64_t room, const uint8_t *expected, uint64_t *n)
{
    uint8_t *dst = exactly(room);
    const floe_status status = floe_compress(c, f, &now->params, dst, room, n);
    if (status == FLOE_OK && expected)
        CHECK(memcmp(dst, expected, *n) == 0);
    free(dst);
    return status;
}

/* The same values with gaps between them, the first axis backwards. */
static void check_strided(const uint8_t *stream, uint64_t nbytes)
{
    const random_case *c = now;
    const uint64_t size = floe_dtype_size(c->dtype), ngaps = 3 * c->nelems;
    uint8_t *spread = exactly(ngaps * size);
    floe_field f = random_field(c, spread);
    int64_t step = 3;
    for (uint32_t i = c->rank; i-- > 0; step *= (int64_t)c->shape[i])
        f.stride[i] = step;
    f.stride[0] = -f.stride[0];
    f.data = spread + (c->shape[0] - 1) * (uint64_t)-f.stride[0] * size;
    const uint64_t row = c->nelems / c->shape[0];
    for (uint64_t i = 0; i < c->nelems; i++)
        memcpy(spread + ((c->shape[0] - 1 - i / row) * row + i % row) * 3 * size, (uint8_t *)c->values + i * size,
               size);
    uint64_t n = 0;
    CHECK(compress_into(ctx[0], &f, nbytes, stream, &n) == FLOE_OK && n == nbytes);
    free(spread);
}

static void check_region(const uint8_t *stream, uint64_t nbytes, const uint8_t *decoded)
{
    const random_case *c = now;
    uint64_t state = turn_now, lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], extent[FLOE_MAX_RANK], n = 1;
    const uint64_t size = floe_dtype_size(c->dtype);
    for (uint32_t i = 0; i < c->rank; i++) {
        lo[i] = hostile_below(&state, c->shape[i]);
        hi[i] = lo[i] + 1 + hostile_below(&state, c->shape[i] - lo[i]);
        n *= extent[i] = hi[i] - lo[i];
    }
    uint8_t *got = exactly(n * size);
    floe_field out = floe_field_of(got, c->dtype, c->rank, extent);
    CHECK(floe_decompress_region(ctx[1], stream, nbytes, lo, hi, &out) == FLOE_OK);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t rest = i, at = 0, step = 1;
        for (uint32_t a = c->rank; a-- > 0; step *= c->shape[a], rest /= extent[a])
            at += (lo[a] + rest % extent[a]) * step;
        CHECK(memcmp(got + i * size, decoded + at * size, size) == 0);
    }
    free(got);
}

static void check_field(void)
{
    const random_case *c = now;
    floe_field f = random_field(c, NULL);
    uint64_t bound = floe_compress_bound(&f, &c->params), nbytes = 0, n = 0;
    uint8_t *stream = exactly(bound), *decoded = exactly(c->nbytes);
    floe_info info = {.size = sizeof info};
    CHECK(floe_compress(ctx[0], &f, &c->params, stream, bound, &nbytes) == FLOE_OK);
    CHECK(floe_stream_info(stream, nbytes, &info, NULL) == FLOE_OK);
    CHECK(compress_into(ctx[1 + turn_now % 2], &f, nbytes, stream, &n) == FLOE_OK && n == nbytes);
    CHECK(compress_into(ctx[turn_now % 3], &f, nbytes - 1, NULL, &n) == FLOE_ERR_CAPACITY);
    check_strided(stream, nbytes);
    floe_field out = random_field(c, decoded);
    for (int i = 0; i < 3; i++) {
        memset(decoded, 0xA5, c->nbytes);
        CHECK(floe_decompress(ctx[i], stream, nbytes, &out) == FLOE_OK);
        CHECK(random_broken(c, &info, decoded) == c->nelems);
    }
    CHECK(floe_verify(ctx[2], stream, nbytes, &f) == FLOE_OK);
    check_region(stream, nbytes, decoded);
    free(stream);
    free(decoded);
}

static void random_fields(void **state)
{
    (void)state;
    const uint64_t first = count_from("FLOE_FIRST", 0),
                   end = first + count_from("FLOE_FIELDS", 1000 / FLOE_TEST_STRIDE);
    for (int i = 0; i < 3; i++) {
        const floe_ctx_options o = {.size = sizeof o,
                                    .backend = FLOE_BACKEND_CPU,
                                    .threads = (uint32_t)i + 1,
                                    .isa = i == 1 ? FLOE_ISA_PLAIN : FLOE_ISA_AUTO};
        assert_int_equal(floe_ctx_create(&ctx[i], &o), FLOE_OK);
    }
    for (turn_now = first; turn_now < end; turn_now++) {
        random_case c = random_case_of(turn_now, MOST);
        now = &c;
        check_field();
        free(c.values);
    }
    for (int i = 0; i < 3; i++)
        floe_ctx_free(&ctx[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
