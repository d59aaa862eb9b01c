/* SPDX-License-Identifier: BSD-3-Clause */
/* The reduction pass: the same bits from any number of threads and every instruction set, however the fields lie in memory,
 * and whether a fill value is named or found. */
#include "tests/assess_kit.h"

#include "assess/reduction/reduction_test_kit.h"

static void same_histogram(const floe_histogram *a, const floe_histogram *b)
{
    assert_int_equal(a->nbins, b->nbins);
    assert_true(a->low == b->low && a->width == b->width);
    assert_memory_equal(a->count, b->count, a->nbins * sizeof *a->count);
}

static void same_report(const floe_assess_report *a, const floe_assess_report *b)
{
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const double va = floe_metric_value(a, i), vb = floe_metric_value(b, i);
        if (memcmp(&va, &vb, sizeof va) != 0)
            fail_msg("%s: %s is %.17g and %.17g", kit_case, floe_metric_at(i)->alias, va, vb);
    }
    same_histogram(&a->original.histogram, &b->original.histogram);
    same_histogram(&a->decoded.histogram, &b->decoded.histogram);
    same_histogram(&a->error.pdf, &b->error.pdf);
    same_histogram(&a->error.pw_pdf, &b->error.pw_pdf);
    assert_int_equal(a->error.worst.count, b->error.worst.count);
    if (a->error.worst.count)
        assert_memory_equal(a->error.worst.spot, b->error.worst.spot, a->error.worst.count * sizeof(floe_spot));
}

static void same_bits_from_any_machine(void **state)
{
    static const floe_ctx_options ways[] = {{.threads = 1, .isa = FLOE_ISA_PLAIN},
                                            {.threads = 1},
                                            {.threads = 2},
                                            {.threads = 7, .isa = FLOE_ISA_PLAIN},
                                            {.threads = 7}};
    (void)state;
    for (int kind = 0; kind < PAIR_KINDS; kind++)
        for (int dtype = FLOE_F32; dtype <= FLOE_F64; dtype++) {
            kit_pair dense = kit_pair_make((pair_kind)kind, (floe_dtype)dtype, 3, (uint64_t[]){30, 61, 53}, false, 3);
            kit_pair strided = kit_pair_make((pair_kind)kind, (floe_dtype)dtype, 3, (uint64_t[]){30, 61, 53}, true, 3);
            floe_assess_options o = options_of((pair_kind)kind);
            floe_ctx *first = kit_ctx(2);
            const floe_assess_report want = assessed(&dense, &o, first);
            snprintf(kit_case, sizeof kit_case, "kind %d, %s", kind, floe_dtype_name((floe_dtype)dtype));
            for (size_t w = 0; w < KIT_COUNT(ways); w++) {
                floe_ctx *ctx = NULL;
                floe_ctx_options options = ways[w];
                options.size = sizeof options;
                kit_ok(ctx, floe_ctx_create(&ctx, &options));
                const floe_assess_report got = assessed(w % 2 ? &strided : &dense, &o, ctx);
                same_report(&got, &want);
                floe_ctx_free(&ctx);
            }
            floe_ctx_free(&first);
            kit_pair_free(&dense);
            kit_pair_free(&strided);
        }
}

/* ---- fill, looked for ------------------------------------------------------------------------------------------------ */

static void fill_is_found(void **state)
{
    (void)state;
    floe_ctx *ctx = kit_ctx(2);
    for (int kind = 0; kind < PAIR_KINDS; kind++) {
        kit_pair p = kit_pair_make((pair_kind)kind, FLOE_F32, 3, (uint64_t[]){30, 41, 43}, kind % 2, 3);
        floe_assess_options o = options_of((pair_kind)kind);
        const floe_assess_report r = assessed(&p, &o, ctx);
        floe_ctx *other = kit_ctx(2);
        o.fill = FLOE_FILL_AUTO;
        const floe_assess_report found = assessed(&p, &o, other);
        assert_int_equal(found.has_fill, kind == PAIR_FILL);
        assert_true(found.fill_value == (kind == PAIR_FILL ? KIT_FILL_VALUE : 0));
        same_report(&r, &found);
        floe_ctx_free(&other);
        kit_pair_free(&p);
    }
    floe_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_from_any_machine), cmocka_unit_test(fill_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
