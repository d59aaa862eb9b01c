/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/wavelet/wavelet_plan.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "codec/chunks/codec_known_needs.h"

enum { NORM_DEPTHS = 6, NORM_UNIT = 64 };

/* 64 log2 of norms, low and high band, of 1 to 6 levels. */
static const int16_t norms[FLOE_WAVELET_BANKS][2][NORM_DEPTHS] = {
    [FLOE_WAVELET_97] = {{31, 65, 98, 131, 163, 195}, {-11, 18, 53, 86, 119, 151}},
    [FLOE_WAVELET_84] = {{10, 38, 69, 100, 132, 164}, {-35, -35, -11, 19, 51, 83}},
    [FLOE_WAVELET_53] = {{19, 47, 78, 109, 141, 173}, {-15, -4, 21, 51, 83, 115}},
    [FLOE_WAVELET_HAAR] = {{32, 64, 96, 128, 160, 192}, {-32, 0, 32, 64, 96, 128}},
    [FLOE_WAVELET_DD44] = {{23, 54, 86, 118, 150, 182}, {-20, -3, 27, 59, 91, 123}},
    [FLOE_WAVELET_DD64] = {{25, 56, 88, 120, 152, 184}, {-21, -2, 30, 62, 94, 126}},
    [FLOE_WAVELET_DD66] = {{25, 56, 88, 120, 152, 184}, {-22, -2, 29, 61, 93, 125}},
    [FLOE_WAVELET_DD84] = {{26, 58, 90, 122, 154, 186}, {-22, -1, 31, 63, 95, 127}},
};

int32_t floe_wavelet_norm(floe_wavelet_bank bank, bool high, uint32_t depth)
{
    if (depth == 0)
        return 0;
    const uint32_t known = depth < NORM_DEPTHS ? depth : NORM_DEPTHS;
    return norms[bank][high][known - 1] + (int32_t)(depth - known) * NORM_UNIT / 2;
}

double floe_wavelet_step_of(double base, int32_t exponent)
{
    static const double roots[FLOE_WAVELET_OCTAVE] = {
        1,
        1.0905077326652577,
        1.189207115002721,
        1.2968395546510096,
        1.4142135623730951,
        1.5422108254079407,
        1.681792830507429,
        1.8340080864093424,
    };
    const uint32_t part = (uint32_t)exponent % FLOE_WAVELET_OCTAVE;
    const int32_t whole = (exponent - (int32_t)part) / FLOE_WAVELET_OCTAVE;
    return base * roots[part] * floe_f64_of((uint64_t)(1023 + whole) << 52);
}

uint32_t floe_wavelet_packet_band(const floe_wavelet_plan *p, uint64_t at)
{
    uint64_t n = p->shape[floe_lattice_slowest(p->shape)];
    for (uint32_t level = 0; level < p->packet; level++) {
        n = (n + 1) / 2;
        if (at >= n)
            return p->packet - level;
    }
    return 0;
}

/* ---- steps ------------------------------------------------------------------------------------------------------------- */

floe_context_grid floe_wavelet_grid_of(uint64_t planes, uint64_t rows, uint64_t columns, uint32_t shorter)
{
    const uint32_t most = FLOE_CONTEXT_ROWS >> shorter % FLOE_WAVELET_TALL;
    const bool tall = shorter & FLOE_WAVELET_TALL;
    return floe_records_grid_of(planes, rows, columns, most,
                                tall ? (uint32_t)FLOE_RECORDS_PLANE_ROWS : floe_context_even_rows(planes, rows, most));
}

void floe_wavelet_coding_lay(floe_wavelet_coding *c)
{
    floe_lattice_step *s = &c->step;
    floe_lattice_coarsen(s);
    c->spec = (floe_context_spec){.width = s->width, .window = 1, .planes = true};
    c->grid = floe_wavelet_grid_of(s->coarse[0] * s->coarse[1], s->coarse[2], floe_lattice_row_records(s), c->shorter);
    c->nchunks = floe_context_nchunks(&c->grid);
}

enum {
    CODE_BITS = 6,   /* that one takes, about */
    LANE_BITS = 450, /* at least, of a lane of a chunk, whose state takes 16 */
    LANE_BITS_BEST = 3600
};

uint32_t floe_wavelet_shorter_for(floe_preset preset, uint64_t ncodes, uint64_t nrecords, bool coarse)
{
    const uint64_t bits = CODE_BITS * ncodes,
                   least = (preset == FLOE_PRESET_BEST ? LANE_BITS_BEST : LANE_BITS) * nrecords;
    const uint32_t most = (uint32_t)FLOE_WAVELET_SHORTER - !coarse;
    uint32_t shorter = 0;
    while (shorter < most && (FLOE_CONTEXT_ROWS >> (shorter + 1)) * bits >= least)
        shorter++;
    return shorter;
}

/* norm: 64 log2 of it. */
static int8_t exponent_of(const floe_wavelet_structure *s, int32_t norm)
{
    const int32_t unit = 10 * NORM_UNIT / FLOE_WAVELET_OCTAVE, v = norm * (int32_t)s->theta;
    const int32_t e = (v < 0 ? -v + unit / 2 : v + unit / 2) / unit, most = e < INT8_MAX ? e : INT8_MAX;
    return (int8_t)(v < 0 ? most : -most);
}

/* Of the band that is the high one along the axes of a set. */
static int8_t band_exponent(const floe_wavelet_structure *s, uint32_t high, const uint32_t *depth)
{
    int32_t norm = 0;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        norm += floe_wavelet_norm(s->bank, high >> a & 1, depth[a]);
    return exponent_of(s, norm);
}

static void add_step(floe_wavelet_plan *plan, const floe_wavelet_structure *s, const uint32_t *axis, uint32_t naxes,
                     uint32_t *depth)
{
    floe_wavelet_coding *c = &plan->steps[plan->nsteps];
    *c = (floe_wavelet_coding){.tables = true, .step = {.naxes = naxes, .width = 2}};
    memcpy(c->step.axis, axis, naxes * sizeof *axis);
    memcpy(c->step.fine, floe_wavelet_anchors(plan), sizeof c->step.fine);
    floe_wavelet_coding_lay(c);
    for (uint32_t i = 0; i < naxes; i++)
        depth[axis[i]]++;
    for (uint32_t class = 1; class < 1u << naxes; class ++) {
        uint32_t high = 0;
        for (uint32_t i = 0; i < naxes; i++)
            high |= (class >> i & 1) << axis[i];
        c->exponent[class] = band_exponent(s, high, depth);
    }
    plan->nsteps++;
}

/* A level of four axes is two steps: the finer one has the last three. */
static void plan_make(const uint64_t shape[FLOE_LATTICE_RANK], const floe_wavelet_structure *s, uint32_t left,
                      uint64_t ends, floe_wavelet_plan *plan)
{
    uint32_t axis[FLOE_LATTICE_RANK], naxes, depth[FLOE_LATTICE_RANK] = {0};
    memcpy(plan->shape, shape, sizeof plan->shape);
    plan->bank = s->bank;
    plan->one_sided = s->one_sided;
    plan->packet = s->packet;
    plan->apart = true;
    plan->nsteps = 0;
    for (uint32_t b = 0; b <= s->packet; b++)
        plan->packet_exponent[b] = exponent_of(s, floe_wavelet_norm(s->bank, b > 0, b ? s->packet - b + 1 : s->packet));
    do {
        const uint64_t *n = floe_wavelet_anchors(plan);
        naxes = 0;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            if (n[a] > ends && shape[a] > FLOE_LATTICE_ENDS && !(left >> a & 1))
                axis[naxes++] = a;
        const uint32_t first = naxes > FLOE_LATTICE_AXES ? naxes - FLOE_LATTICE_AXES : 0;
        if (naxes)
            add_step(plan, s, axis + first, naxes - first, depth);
        if (first)
            add_step(plan, s, axis, first, depth);
    } while (naxes);
    plan->anchor_exponent = band_exponent(s, 0, depth);
}

void floe_wavelet_plan_of(const uint64_t shape[FLOE_LATTICE_RANK], const floe_wavelet_structure *s,
                          floe_wavelet_plan *plan)
{
    const uint32_t left = s->frozen | (s->packet ? 1u << floe_lattice_slowest(shape) : 0);
    plan_make(shape, s, left, floe_lattice_ends(shape, left), plan);
}

floe_wavelet_level floe_wavelet_level_of(const floe_wavelet_plan *plan, uint32_t level)
{
    floe_wavelet_level l = {.kept = level < plan->packet ? level : plan->packet};
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        l.shift[a] = level;
    l.shift[floe_lattice_slowest(plan->shape)] -= l.kept;
    while (l.step < plan->nsteps && floe_lattice_level_take(&plan->steps[l.step].step, l.shift))
        l.step++;
    return l;
}

/* Passes of the packet that stay undone by the coarsest level that takes step j. */
static uint32_t kept_by(const floe_wavelet_plan *p, uint32_t j)
{
    uint32_t level = 0;
    while (level < p->packet && floe_wavelet_level_of(p, level + 1).step <= j)
        level++;
    return level;
}

/* Of step i, as it is cut along that axis of its grid: pieces that levels need which leave so many passes undone. */
static uint64_t pieces_by(const floe_wavelet_plan *p, uint32_t i, uint32_t axis, uint32_t kept)
{
    const floe_wavelet_coding *c = &p->steps[i];
    const uint32_t slowest = floe_lattice_slowest(p->shape);
    floe_lattice_box cells = {.hi = {c->step.coarse[0], c->step.coarse[1], c->step.coarse[2], c->step.coarse[3]}};
    if (!p->apart || kept == 0)
        return c->grid.count[axis];
    cells.hi[slowest] = floe_ceil_div(cells.hi[slowest], (uint64_t)1 << kept);
    return floe_ceil_div(floe_records_cells_box(&c->grid, &c->step, &cells).hi[axis], c->grid.piece[axis]);
}

floe_wavelet_run floe_wavelet_run_of(const floe_wavelet_plan *p, uint32_t i, uint32_t j)
{
    const floe_context_grid *g = &p->steps[i].grid;
    const uint32_t a = g->size[0] == 1;
    const uint64_t chunks = (a ? 1 : g->count[1]) * g->count[2], records = (a ? 1 : g->size[1]) * g->size[2];
    floe_wavelet_run r = {.kept = kept_by(p, j), .axis = a, .grid = *g};
    const uint64_t begin = i == j ? 0 : pieces_by(p, i, a, kept_by(p, j + 1)), end = pieces_by(p, i, a, r.kept);
    r.at = floe_min64(begin * g->piece[a], g->size[a]);
    r.record = r.at * records;
    r.chunk = begin * chunks;
    r.end = end * chunks;
    r.grid.count[a] = end - begin;
    r.grid.size[a] = floe_min64(end * g->piece[a], g->size[a]) - r.at;
    return r;
}

floe_limits floe_wavelet_limits(const floe_limits *field, uint32_t level, bool log)
{
    floe_limits l = *field;
    l.known = l.known && level;
    if (l.known && log) {
        const double a = fabs(l.min), b = fabs(l.max);
        l.min = l.min > 0 || l.max < 0 ? fmin(a, b) : 0;
        l.max = fmax(a, b);
    }
    return l;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------------- */

static void add_needs(floe_wavelet_plan *plan, floe_wavelet_needs *needs)
{
    uint64_t records = 0, nchunks = 0, nwindows = 0;
    for (uint32_t i = 0; i < plan->nsteps; i++) {
        floe_wavelet_coding *c = &plan->steps[i];
        const uint64_t nbytes = floe_wavelet_records_nbytes(c);
        c->shorter = FLOE_WAVELET_SHORTER;
        floe_wavelet_coding_lay(c);
        records += (nbytes + 15) & ~(uint64_t)15;
        nchunks += c->nchunks;
        nwindows += c->nchunks * c->grid.piece[0] * c->grid.piece[1];
        needs->step_records = floe_max64(needs->step_records, nbytes);
    }
    needs->records = floe_max64(needs->records, records);
    needs->nchunks = floe_max64(needs->nchunks, nchunks);
    needs->nwindows = floe_max64(needs->nwindows, nwindows);
    needs->nsteps = floe_max64(needs->nsteps, plan->nsteps);
}

/* Some axes have no steps; the packet's has none but its own. Older writers thinned no axis to one point. */
static void find_needs(const uint64_t shape[FLOE_LATTICE_RANK], floe_wavelet_needs *needs)
{
    floe_wavelet_plan plan;
    uint32_t left = 0; /* axes that are not transformed anyway */
    memset(needs, 0, sizeof *needs);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        left |= (uint32_t)(shape[a] <= FLOE_LATTICE_ENDS) << a;
    for (uint32_t frozen = 0; frozen < (1u << FLOE_LATTICE_RANK) - 1; frozen++) {
        if (frozen & left) /* as without them */
            continue;
        const floe_wavelet_structure s = {.frozen = frozen};
        for (uint64_t ends = 1; ends <= FLOE_LATTICE_ENDS; ends += FLOE_LATTICE_ENDS - 1) {
            plan_make(shape, &s, frozen, ends, &plan);
            add_needs(&plan, needs);
        }
    }
}

void floe_wavelet_needs_of(const uint64_t shape[FLOE_LATTICE_RANK], floe_wavelet_needs *needs)
{
    static _Thread_local floe_known_needs known;
    static_assert(sizeof *needs <= sizeof known.of->needs, "there is room for them");
    bool found;
    floe_wavelet_needs *of = floe_known_needs_of(&known, shape, &found);
    if (!found)
        find_needs(shape, of);
    *needs = *of;
}
