/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of flows: turbulence, log-normal density, a mixing layer. */
#include "synth_plan.h"

/* ---- turbulence ------------------------------------------------------------------------------------------------ */

/* The first groups are the large scales, spread evenly; the others swell and fade from place to place. */
static uint32_t large_groups(const synth_waves *waves) { return waves->ngroups * 2 / 5; }

/* Energy k^-5/3, so k^-1/3 for the amplitude of an octave, down to where the Kolmogorov length ends it. As in a well
 * resolved simulation, k_max eta = 2, so eta is 4 when k is in turns a cell (k_max = 1/2). */
floe_status synth_turbulence_prepare(synth_plan *plan)
{
    uint64_t n = synth_longest(plan, SYNTH_ALL_AXES);
    synth_wave_spec flow = {plan->rank < 3 ? 48 : 32, 0.7, 4, 1.0 / 3, 4, SYNTH_ALL_AXES};
    synth_wave_spec patches = {6, 0.8, n > 48 ? (double)n / 6 : 8, 0, 0, SYNTH_ALL_AXES};
    floe_status status = synth_waves_build(&plan->waves[0], plan, synth_hash(plan->key, 0), &flow);
    if (status == FLOE_OK)
        status = synth_waves_build(&plan->waves[1], plan, synth_hash(plan->key, 1), &patches);
    return status;
}

void synth_turbulence_values(const synth_plan *plan, const synth_span *span, double *restrict out)
{
    double patch[SYNTH_SEG], small[SYNTH_SEG];
    synth_coef coef;
    const synth_waves *flow = &plan->waves[0];
    uint32_t large = large_groups(flow);
    synth_waves_sum(&plan->waves[1], span, 0, patch);
    synth_waves_coef(flow, span, 0, &coef);
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = small[i] = 0;
    synth_sum(flow->table, &coef, 0, large, span, out);
    synth_sum(flow->table, &coef, large, flow->ngroups, span, small);
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = out[i] + small[i] * (0.4 + 0.45 * patch[i] * patch[i]);
}

/* ---- log-normal density ---------------------------------------------------------------------------------------- */

floe_status synth_lognormal_prepare(synth_plan *plan)
{
    synth_wave_spec spec = {32, 0.4, 5, 0.6, 5, SYNTH_ALL_AXES};
    return synth_waves_build(&plan->waves[0], plan, plan->key, &spec);
}

/* Four octaves a standard deviation, so about ten orders of magnitude from the deepest void to the densest clump. */
void synth_lognormal_values(const synth_plan *plan, const synth_span *span, double *restrict out)
{
    synth_waves_sum(&plan->waves[0], span, 0, out);
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = synth_exp2(4 * out[i]);
}

/* ---- mixing layer ---------------------------------------------------------------------------------------------- */

floe_status synth_mixing_prepare(synth_plan *plan)
{
    synth_wave_spec spec = {32, 0.3, 5, 0.4, 3, SYNTH_ALL_AXES};
    return synth_waves_build(&plan->waves[0], plan, plan->key, &spec);
}

/* Height along the slowest axis, from -1 to 1, pushed about by the waves near the middle; a smooth step between the
 * densities 1 and 3, which both are reached exactly. */
void synth_mixing_values(const synth_plan *plan, const synth_span *span, double *restrict out)
{
    uint32_t axis = SYNTH_AXES - plan->rank;
    double scale = 2 / (double)plan->n[axis];
    double height = scale * ((double)span->pos[axis] + 0.5) - 1;
    double slope = axis == SYNTH_FAST ? scale : 0;
    synth_waves_sum(&plan->waves[0], span, 0, out);
    for (uint32_t i = span->from; i < span->to; i++) {
        double h = height + slope * i;
        double t = (h + 0.2 * out[i]) * 4;
        t = t < -1 ? -1 : t;
        t = t > 1 ? 1 : t;
        out[i] = 2 + t * (1.5 - 0.5 * t * t);
    }
}
