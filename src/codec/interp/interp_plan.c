/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/interp/interp_plan.h"

#include <assert.h>
#include <string.h>

#include "codec/chunks/codec_known_needs.h"

floe_interp_structure floe_interp_structure_default(void)
{
    floe_interp_structure s = {.levels = FLOE_INTERP_LEVELS, .alpha = 1.25, .beta = 2};
    for (uint32_t l = 0; l < FLOE_INTERP_LEVELS; l++) {
        s.wide[l] = l > 1;
        s.rows[l] = l == 0 ? 256 : l == 1 ? 128 : 64;
        s.window[l] = l == 0 ? 4 : 1;
    }
    return s;
}

bool floe_interp_has_codes_of(const floe_interp_structure *a, const floe_interp_structure *b)
{
    return memcmp(a->start, b->start, sizeof a->start) == 0 &&
           memcmp(a->predictor, b->predictor, sizeof a->predictor) == 0 && a->mean == b->mean &&
           a->levels == b->levels && a->alpha == b->alpha && a->beta == b->beta;
}

void floe_interp_coding_lay(floe_interp_coding *c)
{
    floe_lattice_step *s = &c->step;
    floe_lattice_coarsen(s);
    c->spec.width = s->width;
    c->grid = floe_records_grid_of(s->coarse[0] * s->coarse[1], s->coarse[2], floe_lattice_row_records(s), c->rows,
                                   c->spec.planes ? (uint32_t)FLOE_RECORDS_PLANE_ROWS : c->rows);
    c->nchunks = floe_context_nchunks(&c->grid);
}

/* ---- steps ------------------------------------------------------------------------------------------------------------- */

static void add_step(floe_interp_plan *plan, const floe_interp_structure *s, uint32_t level, const uint32_t *axis,
                     uint32_t naxes, uint64_t n[FLOE_LATTICE_RANK])
{
    floe_interp_coding *c = &plan->steps[plan->nsteps++];
    *c = (floe_interp_coding){.level = level, .rows = s->rows[level], .checked = s->checked[level], .tables = true};
    c->spec = (floe_context_spec){.window = s->window[level], .planes = s->planes};
    c->step.naxes = naxes;
    memcpy(c->step.axis, axis, naxes * sizeof *axis);
    c->rule = (floe_interp_rule){.predictor = s->predictor[level], .mean = s->mean};
    c->step.width = s->wide[level] ? 2 : 1;
    memcpy(c->step.fine, n, sizeof c->step.fine);
    floe_interp_coding_lay(c);
    memcpy(n, c->step.coarse, sizeof c->step.coarse);
}

static uint32_t never_of(const floe_interp_structure *s)
{
    uint32_t never = 0;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        never |= (uint32_t)(s->start[a] == FLOE_INTERP_NEVER) << a;
    return never;
}

/* A level of four axes is two steps: the finer one has the last three. Where axes are thinned to one point, the lattice that is left is
 * thinned along those that never begin: codes of it take less than anchors. */
static void add_steps(const uint64_t shape[FLOE_LATTICE_RANK], const floe_interp_structure *s, uint64_t ends,
                      floe_interp_plan *plan)
{
    uint64_t n[FLOE_LATTICE_RANK];
    uint32_t never = never_of(s);
    memcpy(n, shape, sizeof n);
    memcpy(plan->shape, shape, sizeof plan->shape);
    plan->nsteps = 0;
    for (uint32_t level = 0; level < FLOE_INTERP_LEVELS; level++) {
        if (level >= s->levels && plan->nsteps >= FLOE_INTERP_LEAST)
            break;
        uint32_t axis[FLOE_LATTICE_RANK], naxes = 0;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            if (n[a] > ends && shape[a] > FLOE_LATTICE_ENDS && !(never >> a & 1) && s->start[a] <= level)
                axis[naxes++] = a;
        if (naxes == 0 && level >= FLOE_INTERP_NEVER) {
            if (ends == FLOE_LATTICE_ENDS)
                break;
            ends = FLOE_LATTICE_ENDS;
            never = 0;
            level--;
        }
        const uint32_t first = naxes > FLOE_LATTICE_AXES ? naxes - FLOE_LATTICE_AXES : 0;
        if (naxes)
            add_step(plan, s, level, axis + first, naxes - first, n);
        if (first)
            add_step(plan, s, level, axis, first, n);
    }
}

void floe_interp_plan_of(const uint64_t shape[FLOE_LATTICE_RANK], const floe_interp_structure *s,
                         floe_interp_plan *plan)
{
    add_steps(shape, s, floe_lattice_ends(shape, never_of(s)), plan);
}

uint32_t floe_interp_level_step(const floe_interp_plan *plan, uint32_t level, uint32_t shift[FLOE_LATTICE_RANK])
{
    uint32_t i = 0;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        shift[a] = level;
    while (i < plan->nsteps && floe_lattice_level_take(&plan->steps[i].step, shift))
        i++;
    return i;
}

void floe_interp_plan_quantize(floe_interp_plan *plan, const floe_interp_structure *s, bool narrow, double bound,
                               double max_abs)
{
    double divisor = 1;
    for (uint32_t l = 0, i = 0; i < plan->nsteps; l++) {
        const double e = bound / (divisor < s->beta ? divisor : s->beta),
                     step = floe_lattice_quantizer_step(e, max_abs, narrow);
        for (; i < plan->nsteps && plan->steps[i].level == l; i++)
            plan->steps[i].rule.step = step;
        divisor *= s->alpha;
    }
}

/* ---- sizes ------------------------------------------------------------------------------------------------------------- */

static void add_needs(const floe_interp_plan *plan, floe_interp_needs *needs)
{
    uint64_t coarse = 0, records = 0;
    for (uint32_t i = 0; i < plan->nsteps; i++) {
        const floe_interp_coding *c = &plan->steps[i];
        const uint64_t points = floe_lattice_points(c->step.coarse);
        coarse += points;
        records += floe_interp_records_room(c);
        needs->step_records = floe_max64(needs->step_records, floe_interp_records_nbytes(c));
        if (i < 2)
            needs->lattice[i] = floe_max64(needs->lattice[i], points);
    }
    needs->coarse = floe_max64(needs->coarse, coarse);
    needs->records = floe_max64(needs->records, records);
    needs->nsteps = floe_max64(needs->nsteps, plan->nsteps);
}

/* Of all structures: some axes begin later than the others, or never; older writers thinned none to one point. */
static void find_needs(const uint64_t shape[FLOE_LATTICE_RANK], floe_interp_needs *needs)
{
    floe_interp_plan plan;
    floe_interp_structure s = floe_interp_structure_default();
    for (uint32_t l = 0; l < FLOE_INTERP_LEVELS; l++)
        s.wide[l] = true;
    memset(needs, 0, sizeof *needs);
    for (uint32_t late = 0; late < (1u << FLOE_LATTICE_RANK) - 1; late++)
        for (uint8_t start = 1; start <= (late ? FLOE_INTERP_NEVER : 1); start++) {
            bool same = false; /* as with fewer late axes */
            for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
                s.start[a] = late >> a & 1 ? start : 0;
                same |= s.start[a] && shape[a] <= FLOE_LATTICE_ENDS;
            }
            if (same)
                continue;
            for (uint64_t ends = 1; ends <= FLOE_LATTICE_ENDS; ends += FLOE_LATTICE_ENDS - 1) {
                add_steps(shape, &s, ends, &plan);
                add_needs(&plan, needs);
            }
        }
    const uint64_t small =
        floe_min64(floe_lattice_points(shape), 256); /* a field without steps is a lattice of its own */
    needs->coarse += small;
    for (int i = 0; i < 2; i++)
        needs->lattice[i] = floe_max64(needs->lattice[i], small);
}

void floe_interp_needs_of(const uint64_t shape[FLOE_LATTICE_RANK], floe_interp_needs *needs)
{
    static _Thread_local floe_known_needs known;
    static_assert(sizeof *needs <= sizeof known.of->needs, "there is room for them");
    bool found;
    floe_interp_needs *of = floe_known_needs_of(&known, shape, &found);
    if (!found)
        find_needs(shape, of);
    *needs = *of;
}

void floe_interp_plan_wanted(const floe_interp_plan *plan, uint32_t last, const uint32_t shift[FLOE_LATTICE_RANK],
                             const floe_lattice_box *box, floe_lattice_box wanted[FLOE_INTERP_STEPS + 1])
{
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        wanted[last].lo[a] = box->lo[a] << shift[a];
        wanted[last].hi[a] = ((box->hi[a] - 1) << shift[a]) + 1;
    }
    for (uint32_t i = last; i < plan->nsteps; i++)
        wanted[i + 1] = floe_interp_needed(&plan->steps[i].step, &wanted[i]);
}
