/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the test fields: what a kind is given, and the sums of separable functions that most kinds are made of. */
#ifndef SYNTH_PLAN_H
#define SYNTH_PLAN_H

#include "synth.h"
#include "synth_math.h"

#define SYNTH_AXES       4 /* shapes are padded with leading axes of 1, so the fast axis is always axis 3 */
#define SYNTH_FAST       3
#define SYNTH_SEG        512 /* rows are made in segments of so many elements, counted from the start of the row */
#define SYNTH_MAX_GROUPS 48
#define SYNTH_MAX_WAVES  96

/* A plane wave, amp * cos(2 pi (k . x + phase)), k in turns a cell. Wave numbers and phases are 64-bit fractions of a
 * turn, so a phase far from the origin is exact. Waves of one group share the wave number along the fast axis. */
typedef struct synth_wave {
    uint64_t turn[SYNTH_AXES];
    uint64_t phase;
    double amp;
    uint32_t group;
} synth_wave;

/* A random field of unit variance as a sum of waves, in groups of rising wave number. The cosine of a sum of angles
 * splits each wave into (function of the row) * (function of the place in the segment), so an element costs two
 * multiplications and additions a group, however many waves the group has. */
typedef struct synth_waves {
    uint32_t nwaves;
    uint32_t ngroups;
    synth_wave wave[SYNTH_MAX_WAVES];
    double *table; /* [ngroups][cos, sin][SYNTH_SEG] of the angle along a segment; owned */
} synth_waves;

typedef struct synth_wave_spec {
    uint32_t ngroups; /* at most SYNTH_MAX_GROUPS; with at most 2 waves each beyond 32 */
    double longest;   /* longest wave, in lengths of the longest axis */
    double shortest;  /* shortest wave, in cells */
    double slope;     /* the amplitude of an octave falls as k^-slope, */
    double eta;       /* and faster where eta * k, k in turns a cell, nears 1; 0: not */
    uint32_t axes;    /* bit a: varies along axis a */
} synth_wave_spec;

/* What remains of a wave sum, once the row and the segment are known. */
typedef struct synth_coef {
    double of[SYNTH_MAX_GROUPS][2];
} synth_coef;

typedef struct synth_plan {
    floe_dtype dtype;
    uint32_t rank;
    uint64_t n[SYNTH_AXES];
    uint64_t key; /* of this kind and seed */
    uint32_t seg; /* elements of a full segment: the smaller of SYNTH_SEG and the row */
    synth_waves waves[3];
    void *own; /* whatever else the kind prepared; freed with free() */
} synth_plan;

/* Elements from .. to-1 of one segment. */
typedef struct synth_span {
    uint64_t pos[SYNTH_AXES]; /* of the first element of the segment */
    uint64_t index;           /* of the same, in C order */
    uint32_t from, to;
} synth_span;

/* One kind. Exactly one of values and bits is there; both put element i of the segment into out[i], from <= i < to. */
typedef struct synth_entry {
    synth_kind kind;
    floe_status (*prepare)(synth_plan *plan); /* may be NULL */
    void (*values)(const synth_plan *plan, const synth_span *span, double *out);
    void (*bits)(const synth_plan *plan, const synth_span *span, uint64_t *out); /* f32: the low half */
} synth_entry;

#define SYNTH_ALL_AXES 15u
#define SYNTH_PLANE    12u /* the two fast axes */

/* The length of the longest of these axes. */
uint64_t synth_longest(const synth_plan *plan, uint32_t axes);
/* Draws the waves of a spec from key and fills the table. */
floe_status synth_waves_build(synth_waves *waves, const synth_plan *plan, uint64_t key, const synth_wave_spec *spec);
/* The coefficients for a segment. shuffle != 0 gives every wave another phase: an unrelated field of the same kind. */
void synth_waves_coef(const synth_waves *waves, const synth_span *span, uint64_t shuffle, synth_coef *coef);
/* out[i] += the groups g0 .. g1-1 of table weighted with coef. */
void synth_sum(const double *table, const synth_coef *coef, uint32_t g0, uint32_t g1, const synth_span *span,
               double *out);
/* out[i] = the whole wave sum. */
void synth_waves_sum(const synth_waves *waves, const synth_span *span, uint64_t shuffle, double *out);

/* Kinds by file; the table in synth.c names them. */
floe_status synth_turbulence_prepare(synth_plan *plan);
void synth_turbulence_values(const synth_plan *plan, const synth_span *span, double *out);
floe_status synth_lognormal_prepare(synth_plan *plan);
void synth_lognormal_values(const synth_plan *plan, const synth_span *span, double *out);
floe_status synth_mixing_prepare(synth_plan *plan);
void synth_mixing_values(const synth_plan *plan, const synth_span *span, double *out);
floe_status synth_weather_prepare(synth_plan *plan);
void synth_weather_values(const synth_plan *plan, const synth_span *span, double *out);
floe_status synth_terrain_prepare(synth_plan *plan);
void synth_terrain_values(const synth_plan *plan, const synth_span *span, double *out);
floe_status synth_fill_prepare(synth_plan *plan);
void synth_fill_values(const synth_plan *plan, const synth_span *span, double *out);
floe_status synth_smooth_prepare(synth_plan *plan);
void synth_packed_values(const synth_plan *plan, const synth_span *span, double *out);
void synth_spikes_values(const synth_plan *plan, const synth_span *span, double *out);
floe_status synth_seismic_prepare(synth_plan *plan);
void synth_seismic_values(const synth_plan *plan, const synth_span *span, double *out);
floe_status synth_orbitals_prepare(synth_plan *plan);
void synth_orbitals_values(const synth_plan *plan, const synth_span *span, double *out);
void synth_particles_values(const synth_plan *plan, const synth_span *span, double *out);
void synth_constant_values(const synth_plan *plan, const synth_span *span, double *out);
void synth_ramp_values(const synth_plan *plan, const synth_span *span, double *out);
void synth_steps_values(const synth_plan *plan, const synth_span *span, double *out);
void synth_noise_values(const synth_plan *plan, const synth_span *span, double *out);
void synth_hostile_bits(const synth_plan *plan, const synth_span *span, uint64_t *out);

#endif
