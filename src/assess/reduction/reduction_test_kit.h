/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of the reduction pass request: all of it, of a field of some kind; and fields under masks. */
#ifndef FLOE_ASSESS_REDUCTION_TEST_KIT_H
#define FLOE_ASSESS_REDUCTION_TEST_KIT_H

static inline floe_assess_options options_of(pair_kind kind)
{
    floe_assess_options o;
    floe_assess_options_init(&o);
    assert_int_equal(floe_metric_set_parse(&o.metrics, "reduction", NULL), FLOE_OK);
    o.fill = kind == PAIR_FILL ? FLOE_FILL_VALUE : FLOE_FILL_NONE;
    o.fill_value = KIT_FILL_VALUE;
    o.mode = FLOE_BOUND_ABS;
    o.bound = 3e-4;
    return o;
}

static inline floe_assess_report assessed(const kit_pair *p, const floe_assess_options *o, floe_ctx *ctx)
{
    floe_assess_report r = {.size = sizeof r};
    kit_ok(ctx, floe_assess(ctx, &p->field[0], &p->field[1], o, &r));
    return r;
}

/* Where one side has no number, what the other has there is in no sum, however far from all that is, and however much of the
 * field is so: fields for that, each with its name in kit_case. */
enum { MASKED_KINDS = 3, MASKED_WAYS = 9, MASKED_PAIRS = MASKED_KINDS * KIT_MASKS * MASKED_WAYS };

static inline kit_pair masked_pair(int c, const uint64_t *large)
{
    static const double missing[] = {NAN, KIT_FILL_VALUE, 1e20};
    static const pair_kind kinds[MASKED_KINDS] = {PAIR_OFFSET, PAIR_CONSTANT, PAIR_NOISE};
    static const uint64_t small[] = {255, 16};
    const kit_mask mask = (kit_mask)(c / MASKED_WAYS % KIT_MASKS);
    const floe_dtype dtype = c % 2 ? FLOE_F64 : FLOE_F32;
    const double x = missing[c % 3], y = missing[c / 3 % 3];
    const pair_kind kind = kinds[c / MASKED_WAYS / KIT_MASKS];
    kit_pair p = kit_pair_make(kind, dtype, 2, !large || mask == MASK_COLUMN ? small : large, false, 7);
    kit_pair_mask(&p, mask, x, y * (y > 0 ? 1 + 1e-3 : 1));
    snprintf(kit_case, sizeof kit_case, "kind %d, %s, mask %d, %g and %g", (int)kind, floe_dtype_name(dtype), (int)mask,
             x, y);
    return p;
}

#endif
