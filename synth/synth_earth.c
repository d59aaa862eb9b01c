/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of the earth: weather, terrain, ocean with fill values, packed decimals, and smooth data with spikes. */
#include "synth_plan.h"

/* The place along an axis as -1 .. 1, middle of the first to middle of the last cell. */
static double place(const synth_plan *plan, const synth_span *span, uint32_t axis)
{
    return (2 * (double)span->pos[axis] + 1) / (double)plan->n[axis] - 1;
}

/* ---- weather --------------------------------------------------------------------------------------------------- */

/* The slowest axis counts levels when there are three axes or more. */
static uint32_t level_axis(const synth_plan *plan) { return plan->rank >= 3 ? SYNTH_AXES - plan->rank : 0; }

floe_status synth_weather_prepare(synth_plan *plan)
{
    uint32_t axes = plan->rank >= 3 ? SYNTH_ALL_AXES & ~(1u << level_axis(plan)) : SYNTH_ALL_AXES;
    synth_wave_spec spec = {32, 0.6, 6, 1.2, 0, axes};
    return synth_waves_build(&plan->waves[0], plan, plan->key, &spec);
}

void synth_weather_values(const synth_plan *plan, const synth_span *span, double *restrict out)
{
    uint64_t level = synth_hash(plan->key, span->pos[level_axis(plan)]) | 1;
    double u = synth_unit(synth_hash(level, 0));
    double swing = 2 + 10 * u * u;
    double lat = place(plan, span, 2);
    double base =
        200 + 100 * synth_unit(synth_hash(level, 1)) + 30 * synth_signed(synth_hash(level, 2)) * (1 - lat * lat);
    synth_waves_sum(&plan->waves[0], span, level, out);
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = base + swing * out[i];
}

/* ---- terrain --------------------------------------------------------------------------------------------------- */

floe_status synth_terrain_prepare(synth_plan *plan)
{
    synth_wave_spec lands = {32, 0.7, 6, 1, 0, SYNTH_ALL_AXES};
    synth_wave_spec rough = {32, 0.12, 3, 0.8, 0, SYNTH_ALL_AXES};
    floe_status status = synth_waves_build(&plan->waves[0], plan, synth_hash(plan->key, 0), &lands);
    if (status == FLOE_OK)
        status = synth_waves_build(&plan->waves[1], plan, synth_hash(plan->key, 1), &rough);
    return status;
}

/* Metres above the sea. Mountains are rough, plains by the sea are flat. */
void synth_terrain_values(const synth_plan *plan, const synth_span *span, double *restrict out)
{
    double rough[SYNTH_SEG];
    synth_waves_sum(&plan->waves[0], span, 0, out);
    synth_waves_sum(&plan->waves[1], span, 0, rough);
    for (uint32_t i = span->from; i < span->to; i++) {
        double above = out[i] - 0.1;
        double h = synth_round(above * (900 + 500 * above + 400 * rough[i]));
        out[i] = above > 0 && h > 0 ? h : 0;
    }
}

/* ---- ocean with continents of fill ----------------------------------------------------------------------------- */

#define FILL_VALUE 0x1.ep122 /* 9.96921e36, the default fill of NetCDF; exact in both dtypes */

floe_status synth_fill_prepare(synth_plan *plan)
{
    synth_wave_spec water = {32, 0.4, 5, 0.6, 4, SYNTH_ALL_AXES};
    synth_wave_spec lands = {32, 0.7, 4, 1, 0, SYNTH_PLANE};
    floe_status status = synth_waves_build(&plan->waves[0], plan, synth_hash(plan->key, 0), &water);
    if (status == FLOE_OK)
        status = synth_waves_build(&plan->waves[1], plan, synth_hash(plan->key, 1), &lands);
    return status;
}

/* Warm between the poles and cold below. The third axis from the fast end is depth, and land widens with it. */
void synth_fill_values(const synth_plan *plan, const synth_span *span, double *restrict out)
{
    double land[SYNTH_SEG];
    double lat = place(plan, span, 2);
    double depth = plan->rank >= 3 ? 0.5 * (place(plan, span, 1) + 1) : 0;
    double warm = 24 * (1 - lat * lat) * synth_exp2(-3 * depth);
    double swing = 1.5 * synth_exp2(-2 * depth);
    double shore = 0.6 - 1.2 * depth;
    synth_waves_sum(&plan->waves[0], span, 0, out);
    synth_waves_sum(&plan->waves[1], span, 0, land);
    for (uint32_t i = span->from; i < span->to; i++) {
        double water = 2 + warm + swing * out[i];
        out[i] = land[i] > shore ? FILL_VALUE : water;
    }
}

/* ---- smooth fields, packed or with spikes ---------------------------------------------------------------------- */

floe_status synth_smooth_prepare(synth_plan *plan)
{
    synth_wave_spec spec = {24, 0.8, 8, 1, 2, SYNTH_ALL_AXES};
    return synth_waves_build(&plan->waves[0], plan, plan->key, &spec);
}

/* Each value is the nearest double to a whole number of hundredths. */
void synth_packed_values(const synth_plan *plan, const synth_span *span, double *restrict out)
{
    synth_waves_sum(&plan->waves[0], span, 0, out);
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = synth_round(100 * (280 + 12 * out[i])) / 100;
}

/* One element in 1024 is replaced by 2^3 to 2^23, of either sign. */
void synth_spikes_values(const synth_plan *plan, const synth_span *span, double *restrict out)
{
    synth_waves_sum(&plan->waves[0], span, 0, out);
    for (uint32_t i = span->from; i < span->to; i++) {
        uint64_t h = synth_hash(plan->key, span->index + i);
        if ((h & 1023) != 0)
            continue;
        double size = synth_exp2(3 + 20 * synth_unit(h));
        out[i] = h & 1024 ? size : -size;
    }
}
