/* SPDX-License-Identifier: BSD-3-Clause */
/* What codec interp would take of a field, by boxes of it: the tuner's trials say so. */
#include "codec/interp/interp_encoder.h"

void floe_interp_estimate_begin(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_interp_encoder *e,
                                floe_interp_encoder *trial)
{
    const floe_field box = floe_codec_box(boxes, 0);
    floe_interp_encoder_begin(e, cpu, boxes->params, boxes->rank, boxes->extent);
    floe_interp_encoder_begin(trial, cpu, boxes->params, boxes->rank, boxes->extent);
    e->boxes = boxes;
    e->values = floe_interp_view_of(&box);
    e->values.data = (void *)boxes->data;
    floe_interp_set_domain(e, boxes->params->max_abs == boxes->params->max_abs ? boxes->params->max_abs : 0);
}

size_t floe_interp_estimate_workspace(const floe_cpu *cpu, const floe_codec_boxes *boxes)
{
    floe_interp_encoder e, trial;
    floe_arena plan = floe_arena_plan();
    floe_interp_estimate_begin(cpu, boxes, &e, &trial);
    floe_interp_trials_take(&e, &trial, &plan);
    return plan.used;
}

floe_status floe_interp_estimate(const floe_cpu *cpu, const floe_codec_boxes *boxes, floe_arena *scratch, double *bits,
                                 floe_error *err)
{
    floe_interp_encoder e, trial;
    floe_interp_estimate_begin(cpu, boxes, &e, &trial);
    floe_interp_trials_take(&e, &trial, scratch);
    FLOE_CHECK(err, !scratch->overflow && scratch->base, FLOE_ERR_MEMORY, "the workspace is too small for a sample");
    *bits = floe_interp_price(&e, &trial);
    return FLOE_OK;
}
