/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields that are quiet but for some places: seismic fronts and orbitals. With four axes the slowest one counts
 * snapshots in time (seismic) or orbitals; the others are space. */
#include "synth_plan.h"

#include <math.h>
#include <stdlib.h>

static uint32_t space_axis(const synth_plan *plan) { return SYNTH_AXES - (plan->rank < 3 ? plan->rank : 3); }

/* ---- seismic --------------------------------------------------------------------------------------------------- */

#define NSHOTS  2
#define NLAYERS 2
#define NFRONTS (NSHOTS * (1 + NLAYERS))
#define REACH   6.0 /* widths after which a wavelet has fallen below 1e-13 and is cut off to exact zero */

/* A spherical front around a centre: a shot, or its mirror image in a layer that reflects it. */
typedef struct front {
    double centre[SYNTH_AXES]; /* cells */
    double radius;             /* cells; at the last snapshot where there are several */
    double width;              /* cells; of the wavelet */
    double amp;
} front;

static floe_status fronts_new(synth_plan *plan, front **fronts)
{
    *fronts = calloc(NFRONTS, sizeof **fronts);
    plan->own = *fronts;
    return *fronts ? FLOE_OK : FLOE_ERR_MEMORY;
}

floe_status synth_seismic_prepare(synth_plan *plan)
{
    front *fronts;
    uint32_t depth = space_axis(plan);
    double n = (double)synth_longest(plan, 15u & ~((1u << depth) - 1));
    double width = n > 255 ? n / 170 : 1.5; /* at least 1.5 cells: seven cells from trough to trough */
    floe_status status = fronts_new(plan, &fronts);
    for (uint32_t f = 0; status == FLOE_OK && f < NFRONTS; f++) {
        uint32_t image = f % (1 + NLAYERS);
        uint64_t shot = synth_hash(plan->key, f / (1 + NLAYERS));
        uint64_t layer = synth_hash(plan->key, 100 + image);
        for (uint32_t a = depth; a < SYNTH_AXES; a++)
            fronts[f].centre[a] = (double)plan->n[a] * (0.2 + 0.6 * synth_unit(synth_hash(shot, a)));
        double mirror = (double)plan->n[depth] * (0.3 * image + 0.2 * synth_unit(layer));
        if (image)
            fronts[f].centre[depth] = 2 * mirror - fronts[f].centre[depth];
        fronts[f].radius = n * (0.2 + 0.5 * synth_unit(synth_hash(shot, 10)));
        fronts[f].width = width;
        fronts[f].amp = (image ? 300.0 : 1000.0) / (1 + fronts[f].radius / n * 4);
    }
    return status;
}

/* Adds a front where its shell meets the span. Elsewhere it is exactly 0, so leaving it out changes no bits. */
static void front_add(const front *f, double radius, double cross, double rise, double dx0, const synth_span *span,
                      double *out)
{
    double outer = radius + REACH * f->width;
    if (cross >= outer * outer)
        return;
    for (uint32_t i = span->from; i < span->to; i++) {
        double dx = dx0 + i;
        double r2 = cross + dx * dx;
        if (r2 >= outer * outer)
            continue;
        double r = sqrt(r2);
        double u = (r - radius) / f->width;
        if (u > -REACH && u < REACH) {
            double beam = 0.75 + 0.25 * rise / (r + 1); /* stronger to one side along the depth axis */
            out[i] += f->amp * beam * (1 - 2 * u * u) * synth_exp2(-1.4426950408889634 * u * u);
        }
    }
}

void synth_seismic_values(const synth_plan *plan, const synth_span *span, double *out)
{
    const front *fronts = plan->own;
    uint32_t depth = space_axis(plan);
    double time = plan->rank == 4 ? ((double)span->pos[0] + 1) / (double)plan->n[0] : 1;
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = 0;
    for (uint32_t f = 0; f < NFRONTS; f++) {
        double cross = 0, rise = 0;
        for (uint32_t a = depth; a < SYNTH_FAST; a++) {
            double d = (double)span->pos[a] - fronts[f].centre[a];
            cross += d * d;
            rise = a == depth ? d : rise;
        }
        double dx0 = (double)span->pos[SYNTH_FAST] - fronts[f].centre[SYNTH_FAST];
        front_add(&fronts[f], fronts[f].radius * time, cross, rise, dx0, span, out);
    }
}

/* ---- orbitals -------------------------------------------------------------------------------------------------- */

#define NCENTRES 12
#define NPACKETS (2 * NCENTRES) /* a tight and a wide packet at each centre */

/* A Gaussian times a plane wave: a product of functions of one axis each, so it sums like the waves do. Space repeats
 * as in a crystal, with cells of at most SYNTH_SEG elements along each axis; the plane wave does not. */
typedef struct packet {
    double centre[SYNTH_AXES]; /* within the crystal cell */
    double decay;              /* the envelope is 2^-(decay d^2) */
    double amp;
    uint64_t turn[SYNTH_AXES];
    uint64_t phase;
} packet;

static double period(const synth_plan *plan, uint32_t a)
{
    return plan->n[a] < SYNTH_SEG ? (double)plan->n[a] : (double)SYNTH_SEG;
}

/* decay * d^2 for the nearest image of the centre; at most 400, so that products stay normal. */
static double fade(const synth_plan *plan, const packet *p, uint32_t a, uint64_t pos)
{
    double size = period(plan, a);
    double d = (double)(pos % (uint64_t)size) - p->centre[a];
    d = d > 0.5 * size ? d - size : d;
    d = d < -0.5 * size ? d + size : d;
    double e = p->decay * d * d;
    return e < 400 ? e : 400;
}

static void packet_draw(const synth_plan *plan, packet *p, uint32_t i)
{
    uint64_t key = synth_hash(plan->key, i);
    uint64_t centre = synth_hash(plan->key, 1000 + i / 2);
    double size = 8;
    for (uint32_t a = space_axis(plan); a < SYNTH_AXES; a++)
        size = period(plan, a) > size ? period(plan, a) : size;
    double sigma = size * (i % 2 ? 0.09 : 0.035) * (0.7 + 0.6 * synth_unit(synth_hash(key, 0)));
    double k = 0.8 / sigma; /* turns a cell, at most: several zero crossings within the envelope */
    for (uint32_t a = space_axis(plan); a < SYNTH_AXES; a++) {
        double along = k * synth_signed(synth_hash(key, 1 + a));
        along = along < 0.4 && along > -0.4 ? along : 0.4;
        p->centre[a] = period(plan, a) * synth_unit(synth_hash(centre, a));
        p->turn[a] = (uint64_t)(int64_t)(along * 0x1p64);
    }
    p->decay = 0.72134752044448170 / (sigma * sigma); /* 1 / (2 ln 2 sigma^2) */
    p->amp = i % 2 ? 0.5 : 1.5;
    p->phase = synth_hash(key, 9);
}

floe_status synth_orbitals_prepare(synth_plan *plan)
{
    packet *packets = calloc(NPACKETS, sizeof *packets);
    double *table = malloc(sizeof(double) * 2 * SYNTH_SEG * NPACKETS);
    plan->own = packets;
    plan->waves[0].table = table;
    if (!packets || !table)
        return FLOE_ERR_MEMORY;
    for (uint32_t g = 0; g < NPACKETS; g++) {
        packet *p = &packets[g];
        packet_draw(plan, p, g);
        for (uint32_t i = 0; i < plan->seg; i++) {
            double c, s;
            double envelope = synth_exp2(-fade(plan, p, SYNTH_FAST, i));
            synth_cos_sin(i * p->turn[SYNTH_FAST], &c, &s);
            table[(size_t)(2 * g) * SYNTH_SEG + i] = envelope * c;
            table[(size_t)(2 * g + 1) * SYNTH_SEG + i] = envelope * s;
        }
    }
    return FLOE_OK;
}

/* Every orbital mixes the same packets with weights and phases of its own. */
void synth_orbitals_values(const synth_plan *plan, const synth_span *span, double *out)
{
    const packet *packets = plan->own;
    uint64_t orbital = synth_hash(plan->key, 5000 + (plan->rank == 4 ? span->pos[0] : 0));
    synth_coef coef;
    for (uint32_t g = 0; g < NPACKETS; g++) {
        const packet *p = &packets[g];
        double c, s, away = 0;
        uint64_t turn = p->phase + synth_hash(orbital, g) + p->turn[SYNTH_FAST] * span->pos[SYNTH_FAST];
        for (uint32_t a = space_axis(plan); a < SYNTH_FAST; a++) {
            away += fade(plan, p, a, span->pos[a]);
            turn += p->turn[a] * span->pos[a];
        }
        synth_cos_sin(turn, &c, &s);
        double amp = p->amp * synth_signed(synth_hash(orbital, 100 + g)) * synth_exp2(-away);
        coef.of[g][0] = amp * c;
        coef.of[g][1] = -amp * s;
    }
    for (uint32_t i = span->from; i < span->to; i++)
        out[i] = 0;
    synth_sum(plan->waves[0].table, &coef, 0, NPACKETS, span, out);
}
