/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of the reduction pass ask for: all of it, of a field of some kind. */
#ifndef FLOE_ASSESS_REDUCTION_TEST_KIT_H
#define FLOE_ASSESS_REDUCTION_TEST_KIT_H

static floe_assess_options options_of(pair_kind kind)
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

static floe_assess_report assessed(const kit_pair *p, const floe_assess_options *o, floe_ctx *ctx)
{
    floe_assess_report r;
    kit_ok(ctx, floe_assess(ctx, &p->field[0], &p->field[1], o, &r));
    return r;
}

#endif
