/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials of the tuner on a CPU: boxes of the field, coded with a structure, and what they count by level. */
#include <string.h>

#include "codec/interp/interp_tuner.h"

typedef floe_interp_encoder encoder;

enum {
    BOXES = 16, /* at most */
    BOX_CELLS = 32768,
    FEW_CELLS = 1 << 23, /* fields of fewer cells have small boxes, so that there may be several, or one large box */
    BOX_CELLS_FEW = 16384,
    BOX_CELLS_LARGE = 262144,
    BOX_SHARE = 64,    /* values of the field for one of a box */
    BORDER_CELLS = 2,  /* cells along an axis of a box that are border */
    SPARED_CELLS = 128 /* a chunk with a literal for so many values is coded again, if that may spare them */
};

static bool is_large(const encoder *e) { return e->ncells < FEW_CELLS && (floe_interp_is_best(e) || e->large); }

/* A cube, or what is as near to one as the shape has. */
void floe_interp_trial_shape(const encoder *e, uint64_t part[FLOE_LATTICE_RANK])
{
    const uint64_t *shape = e->chunk.plan.shape;
    const uint64_t most = is_large(e) ? BOX_CELLS_LARGE : e->ncells >= FEW_CELLS ? BOX_CELLS : BOX_CELLS_FEW;
    uint64_t lo = 2, hi = most;
    while (lo < hi) {
        const uint64_t side = (lo + hi + 1) / 2;
        uint64_t cells = 1;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            cells *= floe_min64(shape[a], side);
        if (cells <= most)
            lo = side;
        else
            hi = side - 1;
    }
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        part[a] = floe_min64(shape[a], lo);
}

uint64_t floe_interp_trial_count(const encoder *e, const uint64_t part[FLOE_LATTICE_RANK])
{
    const uint64_t cells = floe_lattice_points(part);
    return floe_max64(floe_min64(e->ncells / BOX_SHARE / cells, BOXES), 1);
}

/* If a careful attempt would not be like this usual one: the box can be larger, or codes wider. */
static bool may_be_careful(const floe_codec_params *params, const floe_interp_plan *plan)
{
    const uint64_t ncells = floe_lattice_points(plan->shape);
    bool narrow = false;
    if (ncells < FEW_CELLS)
        return params->preset != FLOE_PRESET_BEST && ncells > BOX_CELLS_FEW;
    for (uint32_t i = 0; i < plan->nsteps; i++)
        narrow = narrow || plan->steps[i].spec.width == 1;
    return narrow;
}

uint64_t floe_interp_literals_most(const floe_codec_params *params, const floe_interp_plan *plan,
                                   floe_interp_attempt attempt)
{
    const bool once = params->mode == FLOE_BOUND_LOSSLESS || params->mean;
    const bool few = !once && attempt == FLOE_INTERP_USUAL && may_be_careful(params, plan);
    return floe_lattice_points(plan->shape) / (few ? SPARED_CELLS : FLOE_INTERP_LITERAL_CELLS);
}

floe_interp_attempt floe_interp_attempt_after(const floe_codec_params *params, const floe_interp_plan *plan,
                                              floe_interp_attempt attempt)
{
    return attempt == FLOE_INTERP_USUAL && may_be_careful(params, plan) ? FLOE_INTERP_CAREFUL : FLOE_INTERP_CAUTIOUS;
}

/* ---- where boxes lie ------------------------------------------------------------------------------------------------------ */

bool floe_interp_trial_looks(const encoder *e)
{
    uint64_t part[FLOE_LATTICE_RANK];
    floe_interp_trial_shape(e, part);
    return !e->boxes && floe_lattice_points(part) < e->ncells;
}

floe_look floe_interp_trial_look(const encoder *e, const uint64_t part[FLOE_LATTICE_RANK], uint64_t nboxes)
{
    floe_look l = {.data = e->values.data,
                   .narrow = e->narrow,
                   .log = e->chunk.log,
                   .nboxes = (uint32_t)nboxes,
                   .each = FLOE_LOOK_EACH,
                   .nprobes = FLOE_LOOK_PROBES};
    memcpy(l.shape, e->chunk.plan.shape, sizeof l.shape);
    memcpy(l.part, part, sizeof l.part);
    memcpy(l.stride, e->values.stride, sizeof l.stride);
    l.fill = floe_codec_fill_bits(e->params);
    l.inverse = 1 / e->bound;
    l.evenly = is_large(e);
    if (l.evenly) { /* one large box */
        l.each = FLOE_LOOK_ONE;
        l.nprobes = FLOE_LOOK_ONE_PROBES;
    }
    return l;
}

/* Without a look there is one box, in the middle. */
void floe_interp_trial_place(encoder *e, const uint64_t part[FLOE_LATTICE_RANK], uint64_t nboxes)
{
    const floe_look look = floe_interp_trial_look(e, part, nboxes);
    floe_look_boxes boxes = {.place = {FLOE_LOOK_EACH}, .share = 1};
    uint64_t bits[FLOE_LOOK_PLACES];
    if (floe_interp_trial_looks(e)) {
        floe_look_all(e->cpu, &look, bits);
        boxes = floe_look_choose(&look, bits);
    }
    for (uint32_t b = 0; b < nboxes; b++)
        e->box_at[b] = floe_look_at(&look, boxes.place[b]);
    e->share = boxes.share;
}

bool floe_interp_trial_enlarge(encoder *e, encoder *trial)
{
    uint64_t *part = trial->chunk.plan.shape, before = floe_lattice_points(part);
    e->large = true;
    floe_interp_trial_shape(e, part);
    if (floe_lattice_points(part) == before)
        return false;
    trial->nsharers = 1; /* the first one has room for it */
    trial->sharer_cpu.threads = e->cpu->threads;
    return true;
}

/* The largest extent of a box that one encoder may be given. */
static void first_shape(const encoder *e, const encoder *trial, uint64_t part[FLOE_LATTICE_RANK])
{
    encoder large = *e;
    large.large = true;
    if (e->boxes)
        memcpy(part, trial->chunk.plan.shape, sizeof trial->chunk.plan.shape);
    else
        floe_interp_trial_shape(&large, part);
}

void floe_interp_trials_take(encoder *e, encoder *trial, floe_arena *arena)
{
    const uint64_t nboxes = e->boxes ? e->boxes->n : floe_interp_trial_count(e, trial->chunk.plan.shape);
    e->entropy = floe_records_coder_take(e->cpu, true, FLOE_INTERP_TILE_REALS * e->size, arena);
    trial->nsharers = (uint32_t)floe_min64(nboxes, e->cpu->threads);
    trial->sharers = floe_arena_take(arena, trial->nsharers, sizeof *trial->sharers);
    trial->sharer_cpu = *e->cpu;
    if (trial->nsharers > 1)
        trial->sharer_cpu.threads = 1;
    for (uint32_t i = 0; i < trial->nsharers; i++) {
        encoder sharer = *trial;
        if (i == 0) { /* of a large box, with all threads */
            first_shape(e, trial, sharer.chunk.plan.shape);
            sharer.nbits = floe_interp_bits_room(sharer.chunk.plan.shape);
        }
        floe_interp_encoder_take(&sharer, arena);
        if (!trial->sharers)
            continue;
        sharer.cpu = &trial->sharer_cpu;
        sharer.entropy = e->entropy;
        sharer.entropy.cpu = sharer.cpu;
        sharer.entropy.workers = floe_records_worker(&e->entropy, i);
        trial->sharers[i] = sharer;
    }
}

static void add_counts(encoder *e)
{
    for (uint32_t i = 0; i < e->chunk.plan.nsteps; i++) {
        const floe_records r = floe_interp_records_of(e, i);
        uint32_t *sum = e->counts + (uint64_t)e->chunk.plan.steps[i].level * FLOE_CONTEXT_COUNTS;
        floe_records_count_more(&e->entropy, &r, 1, sum);
    }
}

void floe_interp_trial_plan(const encoder *e, const floe_interp_structure *s, encoder *trial)
{
    floe_interp_structure wide = *s;
    for (uint32_t l = 0; l < FLOE_INTERP_LEVELS; l++) {
        wide.wide[l] = true;
        wide.rows[l] = FLOE_CONTEXT_ROWS;
    }
    floe_interp_plan_of(trial->chunk.plan.shape, &wide, &trial->chunk.plan);
    floe_interp_plan_quantize(&trial->chunk.plan, &wide, e->narrow, e->bound, e->max_abs);
}

static void box_task(void *arg, uint64_t box, uint32_t worker)
{
    const encoder *trial = arg;
    encoder *e = &trial->sharers[worker];
    e->values.data = (uint8_t *)trial->values.data + trial->box_at[box] * (int64_t)e->size;
    floe_interp_lattices_code(e);
    add_counts(e);
}

/* Counts of all boxes become those of the first sharer. */
void floe_interp_trial_tally(const encoder *e, encoder *trial, uint64_t nboxes, const floe_interp_structure *s,
                             floe_context_tally *tallies)
{
    const floe_cpu cpu = {.threads = trial->nsharers, .isa = e->cpu->isa, .team = e->cpu->team};
    const floe_interp_plan *p = &trial->chunk.plan;
    uint32_t *counts = trial->sharers->counts;
    floe_interp_trial_plan(e, s, trial);
    trial->chunk.log = e->chunk.log;
    trial->values = e->values;
    memcpy(trial->box_at, e->box_at, sizeof trial->box_at);
    const uint64_t nlevels = p->nsteps ? p->steps[p->nsteps - 1].level + 1 : 0; /* of which one may have no step */
    const uint64_t ncounts = nlevels * FLOE_CONTEXT_COUNTS;
    for (uint32_t i = 0; i < trial->nsharers; i++) {
        encoder *sharer = &trial->sharers[i];
        sharer->chunk = trial->chunk;
        sharer->values = trial->values;
        sharer->apart = NULL;
        memset(sharer->counts, 0, ncounts * sizeof *counts);
    }
    floe_cpu_parallel(&cpu, nboxes, box_task, trial);
    for (uint32_t i = 1; i < trial->nsharers; i++)
        for (uint64_t k = 0; k < ncounts; k++)
            counts[k] += trial->sharers[i].counts[k];
    for (uint64_t l = 0; l < nlevels; l++)
        tallies[l] = floe_context_tally_of(&p->steps[0].spec, counts + l * FLOE_CONTEXT_COUNTS);
}

/* ---- levels of the boxes ------------------------------------------------------------------------------------------------ */

/* The share of a step's codes that is not of the boxes' borders, by its shortest axis. */
static double inner_share(const floe_lattice_step *s)
{
    uint64_t cells = UINT64_MAX;
    for (uint32_t k = 0; k < s->naxes; k++)
        cells = floe_min64(cells, s->fine[s->axis[k]] / 2);
    return cells > BORDER_CELLS ? 1 - BORDER_CELLS / (double)cells : 0;
}

void floe_interp_trial_sums(floe_interp_tuner *t)
{
    const floe_interp_plan *p = &t->trial->chunk.plan;
    t->nlevels = 0;
    memset(t->sums, 0, sizeof t->sums);
    for (uint32_t i = 0; i < p->nsteps; i++) {
        const floe_lattice_step *s = &p->steps[i].step;
        const uint64_t *size = p->steps[i].grid.size, ncodes = t->nboxes * floe_lattice_codes(s);
        floe_interp_level_sums *sums = &t->sums[p->steps[i].level];
        sums->nrecords += t->nboxes * size[0] * size[1] * size[2];
        sums->ncodes += ncodes;
        sums->inner += inner_share(s) * (double)ncodes;
        sums->naxes = s->naxes > sums->naxes ? s->naxes : sums->naxes;
        t->nlevels = p->steps[i].level + 1;
    }
}

/* ---- boxes of a field that AUTO looks at ------------------------------------------------------------------------------------- */

void floe_interp_estimate_begin(const floe_cpu *cpu, const floe_codec_boxes *boxes, encoder *e, encoder *trial)
{
    const floe_field box = floe_codec_box(boxes, 0);
    const uint32_t turns = floe_lattice_turns_of(boxes->rank, boxes->shape);
    floe_interp_encoder_begin(e, cpu, boxes->params, boxes->rank, boxes->extent, turns);
    floe_interp_encoder_begin(trial, cpu, boxes->params, boxes->rank, boxes->extent, turns);
    e->boxes = boxes;
    e->share = boxes->share;
    memcpy(e->box_at, boxes->at, sizeof e->box_at);
    e->values = floe_lattice_view_of(&box, turns);
    e->values.data = (void *)boxes->data;
    floe_interp_domain_set(e);
}
