/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials of the tuner on a CPU: a box of the array is coded with a structure, there and back. */
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"

typedef floe_wavelet_encoder encoder;

enum { LITERAL_BITS = 16 /* beside the value itself */ };

/* ---- the box ----------------------------------------------------------------------------------------------------------- */

static void copy_box(encoder *e, encoder *trial)
{
    const floe_look look = floe_wavelet_trial_look(e, trial, e->bands.array, 0);
    const uint64_t *shape = e->chunk.plan.shape, n = trial->chunk.plan.shape[3];
    uint64_t bits[FLOE_LOOK_PLACES], at[FLOE_LATTICE_RANK];
    int8_t *holes = trial->marks[FLOE_WAVELET_VALUE_KINDS];
    floe_lattice_box box;
    floe_look_all(e->cpu, &look, bits);
    floe_wavelet_trial_place(e, &look, bits, box.lo);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        box.hi[a] = box.lo[a] + trial->chunk.plan.shape[a];
    memset(holes, 0, trial->nmarks);
    for (uint64_t row = 0; row < floe_lattice_box_rows(&box); row++) {
        floe_lattice_box_row(&box, row, at);
        const int8_t *kinds = e->marks[FLOE_WAVELET_VALUE_KINDS] + floe_lattice_row(shape, at) * e->row;
        memcpy(trial->kept + row * n * e->size, e->bands.array + floe_lattice_index(shape, at) * e->size, n * e->size);
        for (uint64_t x = 0; x < n && e->has_kinds; x++)
            if (kinds[floe_wavelet_mark(at[3] + x)] == FLOE_WAVELET_LITERAL)
                holes[row * trial->row + floe_wavelet_mark(x)] = FLOE_WAVELET_LITERAL;
    }
}

/* ---- a trial ----------------------------------------------------------------------------------------------------------- */

uint64_t floe_wavelet_literals_bits(const encoder *e, uint64_t n) { return n * (8 * e->size + LITERAL_BITS); }

uint64_t floe_wavelet_anchors_bits(const encoder *e)
{
    return floe_lattice_points(floe_wavelet_anchors(&e->chunk.plan)) * e->chunk.anchors.nbits;
}

/* Details and anchors of a structure: those of the last trial, if it had the same transform. */
static void transform(encoder *e, const floe_wavelet_structure *s)
{
    floe_wavelet_plan_make(e, s);
    const uint32_t nsteps = e->chunk.plan.nsteps;
    if (e->transformed && floe_wavelet_is_same_transform(&e->structure, s) && floe_wavelet_array_again(e))
        return;
    floe_cpu_copy(e->cpu, e->bands.array, e->kept, e->ncells * e->size);
    floe_wavelet_array_forward(e);
    e->structure = *s;
    e->transformed = e->chunk.plan.nsteps == nsteps;
}

/* What a decoder would make of the codes, and how that differs from the values. */
static void check(encoder *e)
{
    uint8_t *details = e->bands.array;
    e->bands.array = e->back;
    floe_wavelet_array_back(e);
    floe_wavelet_array_check(e);
    e->bands.array = details;
}

static void try_structure(encoder *e, floe_wavelet_trial *t)
{
    transform(e, &t->structure);
    if (!floe_wavelet_array_code(e))
        return;
    t->codes = floe_wavelet_anchors_bits(e);
    for (uint32_t i = 0; i < e->chunk.plan.nsteps; i++) {
        const floe_records r = floe_wavelet_records_of(e, i);
        t->codes += floe_wavelet_records_bits(&e->entropy, &r, e->counts, &e->listed[i]);
    }
    if (!t->all)
        return;
    check(e);
    t->bits = t->codes + floe_wavelet_marks_bits(e, FLOE_WAVELET_CORRECTIONS) +
              floe_wavelet_literals_bits(e, e->found.nliterals);
}

/* Its values are those of the array, so that errors are absolute. */
void floe_wavelet_trial_begin(const encoder *e, bool large, encoder *trial, floe_codec_params *params, void *kept)
{
    uint64_t part[FLOE_LATTICE_RANK];
    floe_wavelet_trial_shape(e, large, part);
    floe_wavelet_encoder_shape(trial, FLOE_LATTICE_RANK, part, 0);
    *params = *e->params;
    params->mode = FLOE_BOUND_ABS;
    params->bound = floe_codec_tuner_bound(e->params);
    trial->params = params;
    trial->bound = params->bound;
    trial->max_abs = e->max_abs;
    trial->transformed = false;
    trial->values = floe_lattice_view_lattice(kept, trial->chunk.plan.shape);
}

typedef struct trying {
    encoder *e, *trial;
    floe_codec_params params;
} trying;

static void try_structures(void *user, floe_wavelet_trial *trials, uint32_t n)
{
    const trying *y = user;
    for (uint32_t i = 0; i < n; i++)
        try_structure(y->trial, &trials[i]);
}

static void begin(void *user, bool large)
{
    trying *y = user;
    floe_wavelet_trial_begin(y->e, large, y->trial, &y->params, y->trial->kept);
    copy_box(y->e, y->trial);
}

void floe_wavelet_tune(encoder *e, encoder *trial)
{
    trying y = {e, trial, {0}};
    const floe_wavelet_trials trials = {begin, try_structures, NULL, &y};
    floe_wavelet_search(e, &trials);
}
