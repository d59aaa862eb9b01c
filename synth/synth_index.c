/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields whose elements come straight from their index: particles, constant, ramp, steps, noise. */
#include "synth_plan.h"

/* ---- particles ------------------------------------------------------------------------------------------------- */

#define BOX       256.0 /* coordinates lie in [0, BOX) */
#define NCLUSTERS 1024

/* A fifth of the particles lies anywhere, the others in clusters, of which some are much richer than others (the
 * square of a uniform number picks the cluster). Within a cluster the distance is a sum of uniforms, drawn towards the
 * middle. The box is periodic. */
static double particle(uint64_t key, uint64_t index)
{
    uint64_t h = synth_hash(key, index);
    double pick = synth_unit(h);
    if (pick < 0.2)
        return BOX * synth_unit(synth_hash(h, 0));
    double rich = synth_unit(synth_hash(h, 1));
    uint64_t cluster = synth_hash(key, ~(uint64_t)(NCLUSTERS * rich * rich));
    double radius = 0.2 + 3 * synth_unit(synth_hash(cluster, 0));
    double pull = synth_unit(synth_hash(h, 2));
    double away = synth_signed(synth_hash(h, 3)) + synth_signed(synth_hash(h, 4)) + synth_signed(synth_hash(h, 5));
    double x = BOX * synth_unit(cluster) + radius * pull * away;
    x = x < 0 ? x + BOX : x;
    return x >= BOX ? x - BOX : x;
}

void synth_particles_values(const synth_plan *plan, const synth_span *span, double *out)
{
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = particle(plan->key, span->index + i);
}

/* ---- constant, ramp, steps, noise ------------------------------------------------------------------------------ */

/* 200.00 to 300.00: a decimal, so not exact in f32. */
void synth_constant_values(const synth_plan *plan, const synth_span *span, double *out)
{
    double value = synth_round(20000 + 10000 * synth_unit(plan->key)) / 100;
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = value;
}

/* Slopes of 1/8, 1/4, 1/2 and 1 a cell, the fast axis last, all divided by 64: exact in f64. */
void synth_ramp_values(const synth_plan *plan, const synth_span *span, double *out)
{
    double row = 100 * synth_signed(plan->key);
    row = synth_round(row) +
          (0.125 * (double)span->pos[0] + 0.25 * (double)span->pos[1] + 0.5 * (double)span->pos[2]) / 64;
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = row + ((double)span->pos[SYNTH_FAST] + i) / 64;
}

/* Blocks of 5 to 40 cells along each axis, with one of 16 values from -8 to 7 times 1.1. */
void synth_steps_values(const synth_plan *plan, const synth_span *span, double *out)
{
    uint64_t row = plan->key;
    for (uint32_t a = 0; a < SYNTH_FAST; a++)
        row = synth_hash(row, span->pos[a] / (5 + synth_hash(plan->key, a) % 36));
    uint64_t size = 5 + synth_hash(plan->key, SYNTH_FAST) % 36;
    for (uint32_t i = span->from; i < span->to; i++) {
        uint64_t h = synth_hash(row, (span->pos[SYNTH_FAST] + i) / size);
        out[i] = 1.1 * ((double)(int64_t)(h >> 60) - 8);
    }
}

void synth_noise_values(const synth_plan *plan, const synth_span *span, double *out)
{
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = synth_signed(synth_hash(plan->key, span->index + i));
}
