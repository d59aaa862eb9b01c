/* SPDX-License-Identifier: BSD-3-Clause */
/* Random fields with a chosen spectrum, as sums of plane waves. */
#include "synth_plan.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

uint64_t synth_longest(const synth_plan *plan, uint32_t axes)
{
    uint64_t longest = 1;
    for (uint32_t a = 0; a < SYNTH_AXES; a++) {
        if ((axes >> a & 1) && plan->n[a] > longest)
            longest = plan->n[a];
    }
    return longest;
}

/* A random vector on the unit sphere of these axes (0 when there are none): points of the cube that lie in the ball. */
static void direction(uint64_t *key, uint32_t axes, double *e)
{
    double norm = 0;
    for (int tries = 0; tries < 64 && !(norm > 0.01 && norm <= 1); tries++) {
        norm = 0;
        *key = synth_hash(*key, 1);
        for (uint32_t a = 0; a < SYNTH_AXES; a++) {
            e[a] = axes >> a & 1 ? synth_signed(synth_hash(*key, a)) : 0;
            norm += e[a] * e[a];
        }
    }
    for (uint32_t a = 0; a < SYNTH_AXES; a++)
        e[a] = norm > 0 ? e[a] / sqrt(norm) : 0;
}

/* Turns a cell as a 64-bit fraction; |k| < 0.5. */
static uint64_t turn_of(double k)
{
    assert(k > -0.5 && k < 0.5);
    return (uint64_t)(int64_t)(k * 0x1p64);
}

/* Axes of a spec along which the field has more than one element. */
static uint32_t axes_used(const synth_plan *plan, uint32_t axes)
{
    uint32_t used = 0;
    for (uint32_t a = 0; a < SYNTH_AXES; a++)
        used |= plan->n[a] > 1 ? (axes & 1u << a) : 0;
    return used;
}

/* The amplitude of an octave: a power law, and near the grid the end that viscosity puts to a spectrum: energy
 * exp(-5.2 (((k eta)^4 + 0.4^4)^(1/4) - 0.4)), flat up to about k eta = 0.3. Half of 5.2 in powers of two is 3.75. */
static double amplitude(const synth_wave_spec *spec, double k)
{
    double x2 = spec->eta * k * spec->eta * k;
    double damping = 3.75 * (sqrt(sqrt(x2 * x2 + 0.0256)) - 0.4);
    return synth_exp2(-spec->slope * synth_log2(k) - damping);
}

/* The waves of group g: one wave number k0 along the fast axis, random directions across it, lengths within half an
 * octave of k, so that no two waves make a standing lattice. */
static void group_draw(synth_waves *waves, uint64_t key, const synth_wave_spec *spec, uint32_t axes, uint32_t nmembers,
                       uint32_t g, double k)
{
    double e[SYNTH_AXES];
    uint32_t across = axes & ~(1u << SYNTH_FAST);
    direction(&key, axes, e);
    double k0 = k * e[SYNTH_FAST];
    for (uint32_t m = 0; m < nmembers; m++) {
        synth_wave *wave = &waves->wave[waves->nwaves++];
        double length = k * synth_exp2(0.5 * synth_signed(synth_hash(key, 10)));
        double rest = length * length - k0 * k0;
        length = length < 0.45 && rest > 0 ? sqrt(rest) : 0;
        direction(&key, across, e);
        for (uint32_t a = 0; a < SYNTH_FAST; a++)
            wave->turn[a] = turn_of(length * e[a]);
        wave->turn[SYNTH_FAST] = turn_of(k0);
        wave->phase = synth_hash(key, 11);
        wave->amp = amplitude(spec, k);
        wave->group = g;
    }
}

/* cos and sin of the angle from the start of a segment, for each group. */
static floe_status table_build(synth_waves *waves, uint32_t seg)
{
    waves->table = malloc(sizeof(double) * 2 * SYNTH_SEG * waves->ngroups);
    if (!waves->table)
        return FLOE_ERR_MEMORY;
    for (uint32_t w = 0; w < waves->nwaves; w++) {
        const synth_wave *wave = &waves->wave[w];
        double *c = waves->table + (size_t)wave->group * 2 * SYNTH_SEG;
        double *s = c + SYNTH_SEG;
        if (w > 0 && wave[-1].group == wave->group)
            continue;
        for (uint32_t i = 0; i < seg; i++)
            synth_cos_sin(i * wave->turn[SYNTH_FAST], c + i, s + i);
    }
    return FLOE_OK;
}

floe_status synth_waves_build(synth_waves *waves, const synth_plan *plan, uint64_t key, const synth_wave_spec *spec)
{
    uint32_t axes = axes_used(plan, spec->axes);
    uint32_t across = axes & ~(1u << SYNTH_FAST);
    uint32_t nmembers = across == 0 ? 1 : (across & (across - 1)) == 0 ? 2 : 3;
    double kmax = 1 / spec->shortest;
    double kmin = 1 / (spec->longest * (double)synth_longest(plan, spec->axes));
    kmin = kmin < kmax / 2 ? kmin : kmax / 2;
    double octaves = synth_log2(kmax / kmin);
    assert(spec->ngroups <= SYNTH_MAX_GROUPS && spec->ngroups * nmembers <= SYNTH_MAX_WAVES);
    waves->nwaves = 0;
    waves->ngroups = spec->ngroups;
    for (uint32_t g = 0; g < spec->ngroups; g++) {
        uint64_t group_key = synth_hash(key, g);
        double at = (g + synth_unit(synth_hash(group_key, 0))) / spec->ngroups;
        group_draw(waves, group_key, spec, axes, nmembers, g, kmin * synth_exp2(octaves * at));
    }
    double energy = 0;
    for (uint32_t w = 0; w < waves->nwaves; w++)
        energy += 0.5 * waves->wave[w].amp * waves->wave[w].amp;
    for (uint32_t w = 0; w < waves->nwaves; w++)
        waves->wave[w].amp /= sqrt(energy);
    return table_build(waves, plan->seg);
}

void synth_waves_coef(const synth_waves *waves, const synth_span *span, uint64_t shuffle, synth_coef *coef)
{
    double c[SYNTH_MAX_WAVES], s[SYNTH_MAX_WAVES];
    uint64_t turn[SYNTH_MAX_WAVES];
    for (uint32_t w = 0; w < waves->nwaves; w++) {
        const synth_wave *wave = &waves->wave[w];
        turn[w] = wave->phase + (shuffle ? synth_hash(shuffle, w) : 0) + wave->turn[0] * span->pos[0] +
                  wave->turn[1] * span->pos[1] + wave->turn[2] * span->pos[2] + wave->turn[3] * span->pos[3];
    }
    for (uint32_t w = 0; w < waves->nwaves; w++)
        synth_cos_sin(turn[w], c + w, s + w);
    for (uint32_t g = 0; g < waves->ngroups; g++)
        coef->of[g][0] = coef->of[g][1] = 0;
    for (uint32_t w = 0; w < waves->nwaves; w++) {
        const synth_wave *wave = &waves->wave[w];
        coef->of[wave->group][0] += wave->amp * c[w];
        coef->of[wave->group][1] -= wave->amp * s[w];
    }
}

/* Two groups at a time, to load and store the sums half as often. The order of additions is part of the values. */
void synth_sum(const double *table, const synth_coef *coef, uint32_t g0, uint32_t g1, const synth_span *span,
               double *restrict out)
{
    size_t from = span->from, to = span->to;
    for (uint32_t g = g0; g < g1; g += 2) {
        const double *t0 = table + (size_t)g * 2 * SYNTH_SEG;
        const double *t1 = t0 + SYNTH_SEG, *t2 = t1 + SYNTH_SEG, *t3 = t2 + SYNTH_SEG;
        double a = coef->of[g][0], b = coef->of[g][1];
        if (g + 1 == g1) {
            for (size_t i = from; i < to; i++)
                out[i] = out[i] + (a * t0[i] + b * t1[i]);
            break;
        }
        double c = coef->of[g + 1][0], d = coef->of[g + 1][1];
        for (size_t i = from; i < to; i++)
            out[i] = out[i] + ((a * t0[i] + b * t1[i]) + (c * t2[i] + d * t3[i]));
    }
}

void synth_waves_sum(const synth_waves *waves, const synth_span *span, uint64_t shuffle, double *out)
{
    synth_coef coef;
    synth_waves_coef(waves, span, shuffle, &coef);
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = 0;
    synth_sum(waves->table, &coef, 0, waves->ngroups, span, out);
}
