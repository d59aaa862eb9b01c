/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of every mode, and headers: as libzfp has them, there and back, and what neither can hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/zfp_kit.h"

static floe_zfp_array array_of(floe_zfp_type type, uint32_t rank, const uint64_t *shape)
{
    floe_zfp_array a = {.type = type, .rank = rank};
    memcpy(a.shape, shape, rank * sizeof *shape);
    return a;
}

static void same_params(const floe_zfp_params *a, const floe_zfp_params *b)
{
    assert_int_equal(a->minbits, b->minbits);
    assert_int_equal(a->maxbits, b->maxbits);
    assert_int_equal(a->maxprec, b->maxprec);
    assert_int_equal(a->minexp, b->minexp);
}

/* Reads a header from exactly nbytes bytes. */
static floe_status read_exact(const uint8_t *head, uint64_t nbytes, floe_zfp_array *a, floe_zfp_params *p)
{
    uint8_t *exact = malloc(nbytes ? nbytes : 1);
    uint32_t nbits;
    floe_error err = {0};
    memcpy(exact, head, nbytes);
    const floe_status status = floe_zfp_header_read(exact, nbytes, a, p, &nbits, &err);
    assert_true(status == FLOE_OK || (status == FLOE_ERR_FORMAT && err.message[0]));
    free(exact);
    return status;
}

static void headers_come_back(void **unused)
{
    (void)unused;
    for (uint64_t n = 0; n < 2000; n++) {
        uint8_t head[FLOE_ZFP_HEADER_NBYTES];
        uint32_t nbits;
        zfp_case c;
        floe_zfp_array a;
        floe_zfp_params p;
        zfp_case_make(n, &c);
        zfp_case_free(&c);
        assert_int_equal(floe_zfp_header_write(&c.array, &c.params, head, &nbits, NULL), FLOE_OK);
        assert_int_equal(read_exact(head, (nbits + 7) / 8, &a, &p), FLOE_OK);
        assert_int_equal(a.type, c.array.type);
        assert_int_equal(a.rank, c.array.rank);
        assert_memory_equal(a.shape, c.array.shape, a.rank * sizeof *a.shape);
        c.params.minbits = c.params.minbits ? c.params.minbits : 1; /* 0 and 1 are the same */
        same_params(&p, &c.params);
        for (uint64_t nbytes = 0; nbytes < (nbits + 7) / 8; nbytes++)
            assert_int_equal(read_exact(head, nbytes, &a, &p), FLOE_ERR_FORMAT);
    }
}

/* 48 / rank bits for an axis, and not one value more. */
static void largest_shapes(void **unused)
{
    (void)unused;
    for (uint32_t rank = 1; rank <= FLOE_MAX_RANK; rank++) {
        const floe_zfp_params p = floe_zfp_params_reversible();
        uint64_t shape[FLOE_MAX_RANK] = {5, 5, 5, 5};
        uint8_t head[FLOE_ZFP_HEADER_NBYTES];
        uint32_t nbits;
        floe_error err;
        for (int64_t beyond = -1; beyond <= 1; beyond++) {
            floe_zfp_params q;
            shape[rank - 1] = ((uint64_t)1 << 48 / rank) + (uint64_t)beyond;
            floe_zfp_array a = array_of(FLOE_ZFP_F32, rank, shape), b;
            const floe_status want = beyond > 0 ? FLOE_ERR_ARGUMENT : FLOE_OK;
            assert_int_equal(floe_zfp_header_write(&a, &p, head, &nbits, &err), want);
            if (want == FLOE_OK) {
                assert_int_equal(read_exact(head, sizeof head, &b, &q), FLOE_OK);
                assert_memory_equal(b.shape, shape, rank * sizeof *shape);
            }
        }
    }
}

static void no_headers(void **unused)
{
    (void)unused;
    uint64_t state = 1, read = 0;
    zfp_case c;
    zfp_case_make(70, &c);
    zfp_case_free(&c);
    for (int turn = 0; turn < 20000; turn++) {
        uint8_t head[FLOE_ZFP_HEADER_NBYTES];
        uint32_t nbits;
        floe_zfp_array a;
        floe_zfp_params p;
        floe_zfp_header_write(&c.array, &c.params, head, &nbits, NULL);
        for (uint64_t k = hostile_below(&state, 3) + 1; k--;)
            head[hostile_below(&state, 19)] ^= (uint8_t)hostile_random(&state);
        if (read_exact(head, sizeof head, &a, &p) != FLOE_OK)
            continue;
        read++;
        assert_int_equal(floe_zfp_params_check(&p, a.type, NULL), FLOE_OK);
        assert_true(a.rank >= 1 && a.rank <= FLOE_MAX_RANK && a.type >= FLOE_ZFP_I32 && a.type <= FLOE_ZFP_F64);
        for (uint32_t i = 0; i < a.rank; i++)
            assert_true(a.shape[i] >= 1 && a.shape[i] <= (uint64_t)1 << 48 / a.rank);
    }
    assert_true(read > 1000);
}

static void what_cannot_be_said(void **unused)
{
    (void)unused;
    const floe_zfp_params good = {1, 100, 20, -30};
    const struct {
        floe_zfp_params params;
        bool ok;
    } cases[] = {{good, true},
                 {{0, 9, 1, -30}, true},
                 {{1, 8, 20, -30}, false}, /* the exponent alone takes 9 */
                 {{1, 100, 0, -30}, false},
                 {{1, 100, 64, -30}, true},
                 {{1, 100, 65, -30}, false},
                 {{100, 100, 20, -30}, true},
                 {{101, 100, 20, -30}, false},
                 {{32768, 32768, 20, -30}, true},
                 {{1, 32769, 20, -30}, false},
                 {{1, 100, 20, -16495}, true},
                 {{1, 100, 20, -16496}, false},
                 {{1, 100, 20, 16272}, true},
                 {{1, 100, 20, 16273}, false},
                 {{1, 14, 20, -1075}, false}, /* flags, exponent, precision */
                 {{1, 15, 20, -1075}, true}};
    for (size_t i = 0; i < HOSTILE_COUNT(cases); i++) {
        floe_error err = {0};
        const floe_status status = floe_zfp_params_check(&cases[i].params, FLOE_ZFP_F32, &err);
        assert_int_equal(status, cases[i].ok ? FLOE_OK : FLOE_ERR_ARGUMENT);
        assert_true(cases[i].ok || err.message[0]);
    }
    floe_zfp_params p;
    const double tolerances[] = {0, -1, -0.0, (double)INFINITY, (double)NAN}, rates[] = {-1, (double)NAN, 1e9};
    for (size_t i = 0; i < HOSTILE_COUNT(tolerances); i++) {
        floe_error err = {0};
        assert_int_equal(floe_zfp_params_accuracy(tolerances[i], &p, &err), FLOE_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "zfp can do 4.94e-324 to 1.797693"));
    }
    for (size_t i = 0; i < HOSTILE_COUNT(rates); i++)
        assert_int_equal(floe_zfp_params_rate(rates[i], FLOE_ZFP_F32, 3, &p, NULL), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_zfp_params_precision(0, &p, NULL), FLOE_ERR_ARGUMENT);
    assert_int_equal(floe_zfp_params_precision(65, &p, NULL), FLOE_ERR_ARGUMENT);
}

#ifdef HAVE_ZFP

static floe_zfp_params params_of(const zfp_stream *zfp)
{
    floe_zfp_params p;
    int minexp;
    zfp_stream_params(zfp, &p.minbits, &p.maxbits, &p.maxprec, &minexp);
    p.minexp = minexp;
    return p;
}

static void modes_are_those_of_libzfp(void **unused)
{
    (void)unused;
    zfp_stream *zfp = zfp_stream_open(NULL);
    uint64_t state = 3;
    for (int turn = 0; turn < 5000; turn++) {
        const floe_zfp_type type = (floe_zfp_type)(1 + turn % 4);
        const uint32_t rank = 1 + (uint32_t)turn / 4 % 4, planes = 1 + (uint32_t)turn % 64;
        const double rate = 64 * hostile_uniform(&state);
        const uint64_t tolerance_bits = hostile_random(&state) & 0x7FEFFFFFFFFFFFFFu;
        double tolerance;
        floe_zfp_params p, want;
        memcpy(&tolerance, &tolerance_bits, sizeof tolerance);
        tolerance = turn % 9 ? tolerance : 4.9e-324 * (1 + turn);
        const double got = zfp_stream_set_rate(zfp, rate, (zfp_type)type, rank, zfp_false);
        want = params_of(zfp);
        assert_int_equal(floe_zfp_params_rate(rate, type, rank, &p, NULL), FLOE_OK);
        same_params(&p, &want);
        assert_true((double)p.maxbits / (1u << 2 * rank) == got);
        zfp_stream_set_precision(zfp, planes);
        want = params_of(zfp);
        floe_zfp_params_precision(planes, &p, NULL);
        same_params(&p, &want);
        zfp_stream_set_accuracy(zfp, tolerance);
        want = params_of(zfp);
        assert_int_equal(floe_zfp_params_accuracy(tolerance, &p, NULL), FLOE_OK);
        same_params(&p, &want);
        zfp_stream_set_reversible(zfp);
        want = params_of(zfp);
        p = floe_zfp_params_reversible();
        same_params(&p, &want);
    }
    zfp_stream_close(zfp);
}

static void headers_are_those_of_libzfp(void **unused)
{
    (void)unused;
    uint64_t state = 11;
    for (int turn = 0; turn < 20000; turn++) {
        const floe_zfp_params all = {1, FLOE_ZFP_MAX_BITS, FLOE_ZFP_MAX_PREC, FLOE_ZFP_MIN_EXP};
        uint64_t theirs[4] = {0}, shape[FLOE_MAX_RANK];
        uint8_t ours[FLOE_ZFP_HEADER_NBYTES];
        floe_zfp_params p = all;
        uint32_t nbits;
        if (hostile_below(&state, 2)) /* around the corners of the modes */
            p.maxbits = FLOE_ZFP_MAX_BITS - 2 + (uint32_t)hostile_below(&state, 5);
        if (hostile_below(&state, 3) == 0)
            p.minbits = p.maxbits = hostile_below(&state, 2) ? 2046 + (uint32_t)hostile_below(&state, 5) : p.maxbits;
        if (hostile_below(&state, 3) == 0)
            p.maxprec = 62 + (uint32_t)hostile_below(&state, 3);
        if (hostile_below(&state, 2))
            p.minexp = hostile_below(&state, 2) ? 840 + (int32_t)hostile_below(&state, 8)
                                                : -1077 + (int32_t)hostile_below(&state, 6);
        for (uint32_t a = 0; a < FLOE_MAX_RANK; a++)
            shape[a] = 1 + hostile_below(&state, 4096);
        floe_zfp_array a = array_of((floe_zfp_type)(1 + turn % 4), 1 + (uint32_t)turn / 4 % 4, shape);
        zfp_field *field = oracle_field(&a);
        bitstream *bits = stream_open(theirs, sizeof theirs);
        zfp_stream *zfp = zfp_stream_open(bits);
        assert_true(zfp_stream_set_params(zfp, p.minbits, p.maxbits, p.maxprec, p.minexp));
        assert_int_equal(floe_zfp_mode_of(&p), zfp_stream_compression_mode(zfp));
        const size_t want = zfp_write_header(zfp, field, ZFP_HEADER_FULL);
        zfp_stream_flush(zfp);
        assert_int_equal(floe_zfp_header_write(&a, &p, ours, &nbits, NULL), FLOE_OK);
        assert_int_equal(nbits, want);
        assert_memory_equal(ours, theirs, sizeof ours);
        zfp_stream_close(zfp);
        stream_close(bits);
        zfp_field_free(field);
    }
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_come_back),
        cmocka_unit_test(largest_shapes),
        cmocka_unit_test(no_headers),
        cmocka_unit_test(what_cannot_be_said),
#ifdef HAVE_ZFP
        cmocka_unit_test(modes_are_those_of_libzfp),
        cmocka_unit_test(headers_are_those_of_libzfp),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
