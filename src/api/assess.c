/* SPDX-License-Identifier: BSD-3-Clause */
/* floe_assess: checks what the caller gave, and hands the two fields as a pair to the coordinator. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "assess/coordinator.h"
#include "assess/metric_table.h"
#include "base/try.h"
#include "call/ctx.h"
#include "call/arg_check.h"
#include "call/resolve.h"
#include "call/struct_copy.h"
#include "call/text.h"
#include "device/device.h"

/* ---- options -------------------------------------------------------------------------------------------------------- */

void floe_assess_options_init(floe_assess_options *options)
{
    *options = (floe_assess_options){
        .size = sizeof *options, .bins = 1024, .value_bins = 4096, .worst = 8, .window = 8, .step = 1, .lags = 10};
}

static floe_status within(uint32_t value, uint32_t least, uint32_t most, const char *what, floe_error *err)
{
    FLOE_CHECK(err, value >= least && value <= most, FLOE_ERR_ARGUMENT, "%s is %u; it must be %u to %u", what, value,
               least, most);
    return FLOE_OK;
}

static floe_status bound_check(const floe_assess_options *o, floe_error *err)
{
    FLOE_CHECK(err, (int)o->mode >= 0 && o->mode <= FLOE_BOUND_PWREL, FLOE_ERR_ARGUMENT,
               "values outside a bound are counted for abs, rel and pwrel");
    FLOE_CHECK(err, !o->mode || (o->bound >= 0 && isfinite(o->bound)), FLOE_ERR_ARGUMENT,
               "the bound must be a finite number, 0 or more");
    return FLOE_OK;
}

static floe_status options_check(const floe_assess_options *o, floe_error *err)
{
    FLOE_TRY(within(o->bins, FLOE_ASSESS_MIN_BINS, FLOE_ASSESS_MAX_BINS, "bins", err));
    FLOE_TRY(within(o->value_bins, FLOE_ASSESS_MIN_BINS, FLOE_ASSESS_MAX_VALUE_BINS, "value_bins", err));
    FLOE_TRY(within(o->worst, 0, FLOE_ASSESS_MAX_WORST, "worst", err));
    FLOE_TRY(within(o->window, 2, FLOE_ASSESS_MAX_WINDOW, "window", err));
    FLOE_TRY(within(o->step, 1, UINT32_MAX, "step", err));
    FLOE_TRY(within(o->lags, 1, FLOE_ASSESS_MAX_LAGS, "lags", err));
    FLOE_CHECK(err, (int)o->fill >= 0 && o->fill <= FLOE_FILL_INTEGER, FLOE_ERR_ARGUMENT, "unknown fill mode %d",
               (int)o->fill);
    FLOE_TRY(floe_metric_set_check(&o->metrics, err));
    return bound_check(o, err);
}

/* ---- fields --------------------------------------------------------------------------------------------------------- */

static floe_status fields_compare(const floe_field *x, const floe_field *y, floe_error *err)
{
    char has[FLOE_SHAPE_TEXT], other[FLOE_SHAPE_TEXT];
    FLOE_CHECK(err, x->rank == y->rank && memcmp(x->shape, y->shape, x->rank * sizeof *x->shape) == 0,
               FLOE_ERR_ARGUMENT, "the original is a field of %s, the decoded one of %s",
               floe_shape_format(x->rank, x->shape, has), floe_shape_format(y->rank, y->shape, other));
    FLOE_CHECK(err, x->dtype == y->dtype, FLOE_ERR_ARGUMENT, "the original is %s, the decoded field is %s",
               floe_dtype_name(x->dtype), floe_dtype_name(y->dtype));
    FLOE_CHECK(err, x->place == y->place, FLOE_ERR_ARGUMENT,
               "one field lies in host memory, the other in device memory; bring them together");
    return FLOE_OK;
}

static void axes_widen(const floe_field *f, int64_t stride[FLOE_MAX_RANK], uint64_t shape[FLOE_MAX_RANK])
{
    const uint32_t skip = FLOE_MAX_RANK - f->rank;
    for (uint32_t i = 0; i < FLOE_MAX_RANK; i++) {
        shape[i] = i < skip ? 1 : f->shape[i - skip];
        stride[i] = i < skip ? 0 : f->stride[i - skip];
    }
}

/* decoded may be NULL. */
static floe_status pair_make(const floe_field *original, const floe_field *decoded, floe_pair *pair, floe_error *err)
{
    floe_field x, y;
    uint64_t nelems;
    FLOE_TRY(floe_field_arg_check(original, false, &x, err));
    FLOE_TRY(floe_place_check(x.dtype, x.place, err));
    if (decoded) {
        FLOE_TRY(floe_field_arg_check(decoded, false, &y, err));
        FLOE_TRY(fields_compare(&x, &y, err));
    }
    FLOE_TRY(floe_field_nelems(&x, &nelems));
    FLOE_CHECK(err, nelems, FLOE_ERR_ARGUMENT, "the field is empty");
    *pair = (floe_pair){.original = x.data, .dtype = x.dtype, .place = x.place, .rank = x.rank};
    axes_widen(&x, pair->original_stride, pair->shape);
    if (decoded) {
        pair->decoded = y.data;
        axes_widen(&y, pair->decoded_stride, pair->shape);
    }
    return FLOE_OK;
}

/* ---- the call ------------------------------------------------------------------------------------------------------- */

typedef struct assess_call {
    const floe_field *original, *decoded;
    const floe_assess_options *given;
    floe_assess_report *report;
    /* checked */
    floe_assess_options options;
    floe_pair pair;
    bool on_gpu;
    floe_assess_report found;
} assess_call;

static floe_status memory_take(floe_ctx *ctx, floe_assessment *a)
{
    floe_arena plan = floe_arena_plan(), arena;
    floe_assessment_take(a, &plan);
    FLOE_TRY(floe_ctx_workspace(ctx, &plan, &arena));
    floe_assessment_take(a, &arena);
    assert(!arena.overflow);
    if (!a->cuda)
        return FLOE_OK;
    plan = floe_arena_plan();
    FLOE_TRY(floe_assessment_take_device(a, &plan, &ctx->err));
    FLOE_TRY(floe_cuda_workspace(&ctx->cuda, &plan, ctx->max_memory, &arena, &ctx->err));
    FLOE_TRY(floe_assessment_take_device(a, &arena, &ctx->err));
    assert(!arena.overflow);
    return FLOE_OK;
}

static floe_status pair_assess(floe_ctx *ctx, void *arg)
{
    assess_call *call = arg;
    const floe_cuda *cuda = call->on_gpu ? &ctx->cuda : NULL;
    floe_assessment a;
    if (call->pair.place == FLOE_DEVICE) {
        FLOE_TRY(floe_device_check(ctx, call->pair.original, "the original"));
        if (call->pair.decoded)
            FLOE_TRY(floe_device_check(ctx, call->pair.decoded, "the decoded field"));
    }
    floe_status status = floe_assessment_init(&a, &ctx->cpu, cuda, &call->pair, &call->options, &ctx->err);
    if (status == FLOE_OK)
        status = memory_take(ctx, &a);
    if (status == FLOE_OK)
        status = floe_assessment_run(&a, &call->found, &ctx->err);
    floe_assessment_free(&a);
    if (status == FLOE_OK)
        floe_struct_fill(call->report, &call->found, sizeof call->found);
    return status;
}

static floe_status assess_body(floe_ctx *ctx, void *arg)
{
    assess_call *call = arg;
    FLOE_CHECK(&ctx->err, call->report, FLOE_ERR_ARGUMENT, "no report given");
    FLOE_TRY(floe_struct_check(call->report, "floe_assess_report", &ctx->err));
    floe_assess_options_init(&call->options);
    if (call->given)
        FLOE_TRY(floe_struct_copy(&call->options, sizeof call->options, call->given, "floe_assess_options", &ctx->err));
    FLOE_TRY(options_check(&call->options, &ctx->err));
    FLOE_TRY(pair_make(call->original, call->decoded, &call->pair, &ctx->err));
    call->on_gpu = call->pair.place == FLOE_DEVICE || ctx->backend == FLOE_BACKEND_CUDA;
    return call->on_gpu ? floe_device_enter(ctx, pair_assess, call) : pair_assess(ctx, call);
}

floe_status floe_assess(floe_ctx *ctx, const floe_field *original, const floe_field *decoded,
                        const floe_assess_options *options, floe_assess_report *report)
{
    assess_call call = {.original = original, .decoded = decoded, .given = options, .report = report};
    return floe_ctx_run(ctx, assess_body, &call);
}
