/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/interp/interp_layout.h"

#include <math.h>
#include <string.h>

const floe_context_spec floe_interp_mask_spec = {.width = 0, .window = 1, .planes = false};

floe_context_grid floe_interp_mask_grid(const uint64_t shape[FLOE_LATTICE_RANK])
{
    return floe_records_grid_of(shape[0] * shape[1], shape[2], floe_ceil_div(shape[3], FLOE_INTERP_MASK_CELLS),
                                FLOE_INTERP_MASK_ROWS, FLOE_INTERP_MASK_ROWS);
}

/* ---- write ------------------------------------------------------------------------------------------------------------- */

static void write_step(const floe_interp_coding *c, bool narrow, floe_cursor *to)
{
    const floe_lattice_step *s = &c->step;
    floe_lattice_axes_write(s, to);
    floe_write8(to, (uint8_t)(c->rule.predictor | (uint32_t)c->rule.mean << 2 | (s->width == 2 ? 8u : 0) |
                              (uint32_t)c->spec.planes << 4 | (c->tables ? (uint32_t)FLOE_INTERP_OWN_TABLES : 0) |
                              floe_top_bit(c->spec.window) << 6));
    floe_write8(to, (uint8_t)(floe_top_bit(c->rows) | c->checked << 4));
    floe_lattice_real_write(to, narrow, c->rule.step);
}

void floe_interp_header_write(const floe_interp_chunk *c, bool narrow, floe_cursor *to)
{
    const uint8_t *begin = to->at;
    floe_write8(to, FLOE_INTERP_VERSION);
    floe_write8(to, (uint8_t)c->kind);
    floe_write8(to, (uint8_t)c->plan.nsteps);
    floe_write8(to, (uint8_t)((c->log ? FLOE_INTERP_FLAG_LOG : 0) | (c->wide_sizes ? FLOE_INTERP_FLAG_SIZES : 0)));
    for (int s = 0; s < FLOE_INTERP_SETS; s++)
        floe_write8(to, (uint8_t)(c->sets[s].kind | c->sets[s].axes << 4));
    floe_write8(to, (uint8_t)c->turns);
    for (int i = FLOE_INTERP_TURNS_AT + 1; i < FLOE_INTERP_SIZE_AT; i++)
        floe_write8(to, 0);
    floe_write32(to, (uint32_t)(c->apart_nbytes / 4));
    floe_write32(to, 0);
    if (c->kind == FLOE_LATTICE_FLAT)
        floe_write64(to, c->base);
    for (int s = 0; s < FLOE_INTERP_PALETTE; s++)
        if (c->sets[FLOE_INTERP_PATTERNS + s].kind != FLOE_INTERP_SET_EMPTY)
            floe_write64(to, c->palette[s]);
    for (uint32_t i = 0; i < c->plan.nsteps; i++)
        write_step(&c->plan.steps[i], narrow, to);
    floe_lattice_pad_write(to, begin);
}

uint32_t floe_interp_head_check(const uint8_t *head, uint64_t nbytes)
{
    return floe_ans_check_sum(head, 0, FLOE_INTERP_CHECK_WORD) +
           floe_ans_check_sum(head, FLOE_INTERP_CHECK_WORD + 1, nbytes / 4);
}

/* ---- read -------------------------------------------------------------------------------------------------------------- */

/* A step of a lattice of extent n, which becomes that of the next one. */
static bool read_step(floe_interp_coding *c, bool narrow, bool checks, uint64_t n[FLOE_LATTICE_RANK], floe_reader *from)
{
    floe_lattice_step *s = &c->step;
    *c = (floe_interp_coding){.tables = false};
    const bool good = floe_lattice_axes_read(s, n, from);
    const uint32_t how = floe_read8(from), chunks = floe_read8(from), rows = chunks & 15;
    c->tables = how & FLOE_INTERP_OWN_TABLES;
    c->spec = (floe_context_spec){.window = 1u << (how >> 6), .planes = how >> 4 & 1};
    c->rule.predictor = how & 3;
    c->rule.mean = how >> 2 & 1;
    s->width = how >> 3 & 1 ? 2 : 1;
    c->rule.step = floe_lattice_real_read(from, narrow);
    c->checked = chunks >> 4;
    if (!good || from->bad || c->rule.predictor >= FLOE_INTERP_PREDICTORS || rows < 5 || rows > 10 ||
        c->checked > (checks ? FLOE_INTERP_CHECKED : 0))
        return false;
    c->rows = 1u << rows;
    memcpy(s->fine, n, sizeof s->fine);
    floe_interp_coding_lay(c);
    memcpy(n, s->coarse, sizeof s->coarse);
    return c->rule.step > 0 && isfinite(c->rule.step);
}

static floe_status read_steps(floe_interp_chunk *c, bool narrow, const uint8_t *begin, floe_reader *from,
                              floe_error *err)
{
    floe_interp_plan *p = &c->plan;
    uint64_t n[FLOE_LATTICE_RANK];
    memcpy(n, p->shape, sizeof n);
    for (uint32_t i = 0; i < p->nsteps; i++)
        FLOE_CHECK(err, read_step(&p->steps[i], narrow, c->checks, n, from), FLOE_ERR_FORMAT,
                   "interp chunk: step %u cannot be", i);
    FLOE_CHECK(err, p->nsteps == 0 || p->steps[p->nsteps - 1].tables, FLOE_ERR_FORMAT,
               "interp chunk: the coarsest step has no tables");
    FLOE_CHECK(err, floe_lattice_pad_read(from, begin), FLOE_ERR_FORMAT,
               "interp chunk: its header does not end in zeros");
    c->anchors = floe_read_bytes(from, floe_lattice_points(n) * (narrow ? 4 : 8));
    FLOE_CHECK(err, c->anchors, FLOE_ERR_FORMAT, "interp chunk: it ends within its anchors");
    return FLOE_OK;
}

/* The structure is untrusted: nothing may take more than the largest that a writer chooses. */
static bool is_within(const floe_interp_chunk *c, const floe_interp_needs *needs)
{
    const floe_interp_plan *p = &c->plan;
    bool good =
        floe_lattice_points(floe_interp_anchors_shape(p)) <= needs->lattice[p->nsteps % 2 == 0] || p->nsteps == 0;
    for (uint32_t i = 0; i < p->nsteps; i++) {
        const floe_interp_coding *k = &p->steps[i];
        good = good && floe_lattice_points(k->step.coarse) <= needs->lattice[i % 2] &&
               floe_interp_records_nbytes(k) <= needs->step_records;
    }
    return good && (p->nsteps || c->kind != FLOE_LATTICE_CODED || floe_lattice_points(p->shape) <= needs->lattice[1]);
}

static floe_status read_header(floe_interp_chunk *c, bool narrow, floe_reader *from, floe_error *err)
{
    const uint8_t *begin = from->at, *h = floe_read_bytes(from, FLOE_INTERP_HEADER_NBYTES);
    FLOE_CHECK(err, h, FLOE_ERR_FORMAT, "interp chunk: it ends within its header");
    FLOE_CHECK(err, h[0] >= FLOE_INTERP_UNCHECKED && h[0] <= FLOE_INTERP_VERSION, FLOE_ERR_FORMAT,
               "interp chunk: of a version that is not known");
    c->kind = h[FLOE_LATTICE_KIND_AT];
    c->plan.nsteps = h[2];
    c->log = h[FLOE_INTERP_FLAGS_AT] & FLOE_INTERP_FLAG_LOG;
    c->wide_sizes = h[FLOE_INTERP_FLAGS_AT] & FLOE_INTERP_FLAG_SIZES;
    c->checks = h[0] > FLOE_INTERP_UNCHECKED;
    c->ans_begin = h[0] > FLOE_INTERP_UNLIFTED ? FLOE_ANS_BEGIN : FLOE_ANS_LEAST;
    bool good = h[1] < FLOE_LATTICE_KINDS && h[2] <= FLOE_INTERP_STEPS && h[3] < 4 &&
                (h[1] == FLOE_LATTICE_CODED || (h[2] == 0 && !c->log));
    for (int i = FLOE_INTERP_TURNS_AT + 1; i < FLOE_INTERP_SIZE_AT; i++)
        good = good && h[i] == 0;
    c->apart_nbytes = 4 * (uint64_t)floe_load32(h + FLOE_INTERP_SIZE_AT);
    c->check = floe_load32(h + 4 * FLOE_INTERP_CHECK_WORD);
    for (int s = 0; s < FLOE_INTERP_SETS; s++) {
        const uint32_t v = h[4 + s];
        c->sets[s] = (floe_interp_set){(floe_interp_set_kind)(v & 15), v >> 4};
        good = good && (v & 15) < FLOE_INTERP_SET_KINDS && ((v & 15) == FLOE_INTERP_SET_MASK || v >> 4 == 0) &&
               (v == 0 || h[1] != FLOE_LATTICE_RAW);
    }
    good = good && (c->apart_nbytes == 0 || h[1] != FLOE_LATTICE_RAW);
    FLOE_CHECK(err, good, FLOE_ERR_FORMAT, "interp chunk: its header cannot be");
    c->base = c->kind == FLOE_LATTICE_FLAT ? floe_read64(from) : 0;
    for (int s = 0; s < FLOE_INTERP_PALETTE; s++)
        c->palette[s] = c->sets[FLOE_INTERP_PATTERNS + s].kind != FLOE_INTERP_SET_EMPTY ? floe_read64(from) : 0;
    FLOE_CHECK(err, !from->bad, FLOE_ERR_FORMAT, "interp chunk: it ends within its header");
    if (c->kind == FLOE_LATTICE_CODED)
        FLOE_TRY(read_steps(c, narrow, begin, from, err));
    c->apart = floe_read_bytes(from, c->apart_nbytes);
    FLOE_CHECK(err, c->apart, FLOE_ERR_FORMAT, "interp chunk: it ends within its sets");
    return FLOE_OK;
}

floe_status floe_interp_head_read(floe_interp_chunk *c, uint32_t rank, const uint64_t *extent, bool narrow,
                                  floe_reader *from, floe_error *err)
{
    floe_interp_needs needs;
    FLOE_CHECK(err,
               floe_lattice_turns_read(from->at, floe_reader_left(from), FLOE_INTERP_TURNS_AT, rank, extent, &c->turns),
               FLOE_ERR_FORMAT, "interp chunk: its axes are in an order that no writer makes");
    FLOE_CHECK(err, floe_lattice_shape_of(rank, extent, c->turns, c->plan.shape), FLOE_ERR_FORMAT,
               "interp chunk: of what codec interp does not take");
    FLOE_TRY(read_header(c, narrow, from, err));
    floe_interp_needs_of(c->plan.shape, &needs);
    FLOE_CHECK(err, is_within(c, &needs), FLOE_ERR_FORMAT, "interp chunk: steps that no writer makes");
    return FLOE_OK;
}
