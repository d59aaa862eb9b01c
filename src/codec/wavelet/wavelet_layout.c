/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/wavelet/wavelet_layout.h"

#include <math.h>

#include "codec/chunks/codec_integers.h"
#include "field/dtype_math.h"
#include "stage/wavelet/wavelet_values.h"

enum { SHORTEN_LEAST = 1 << 16 /* values of a chunk that keeps a GPU waiting */ };

const floe_context_spec floe_wavelet_marks_spec = {.width = 1, .window = 1, .planes = true};

floe_context_grid floe_wavelet_marks_grid(const uint64_t shape[FLOE_LATTICE_RANK], uint32_t shorter)
{
    return floe_wavelet_grid_of(shape[0] * shape[1], shape[2], floe_wavelet_marks_row(shape) / 8, shorter);
}

floe_context_box floe_wavelet_marks_box(const floe_context_grid *g, const uint64_t shape[FLOE_LATTICE_RANK],
                                        const floe_lattice_box *box)
{
    const uint64_t columns[] = {box->lo[3] / FLOE_WAVELET_MARKS, floe_ceil_div(box->hi[3], FLOE_WAVELET_MARKS)};
    return floe_records_rows_box(g, shape, floe_wavelet_marks_row(shape) / 8, box, columns);
}

void floe_wavelet_chunk_shorten(floe_wavelet_chunk *c, floe_preset preset, uint64_t ncorrections)
{
    floe_wavelet_plan *p = &c->plan;
    if (floe_lattice_points(p->shape) < SHORTEN_LEAST)
        return;
    for (uint32_t i = 0; i < p->nsteps; i++) {
        floe_wavelet_coding *k = &p->steps[i];
        /* Steps of coarse levels have few bytes, and whoever reads such a level has no others to wait for. */
        const bool coarse = i > 1;
        k->shorter = floe_wavelet_shorter_for(preset, k->ncodes, floe_context_nrecords(&k->grid), coarse);
        floe_wavelet_coding_lay(k);
    }
    c->shorter[FLOE_WAVELET_CORRECTIONS] =
        floe_wavelet_shorter_for(preset, ncorrections, floe_wavelet_marks_nbytes(p->shape) / 8, false);
}

void floe_wavelet_kinds_restore(const uint64_t shape[FLOE_LATTICE_RANK], const floe_lattice_box *box, int8_t *kinds)
{
    const uint64_t apart = floe_wavelet_marks_apart(shape), row = floe_wavelet_marks_row(shape);
    for (uint64_t k = 0; k < floe_lattice_box_rows(box); k++) {
        uint64_t at[FLOE_LATTICE_RANK];
        floe_lattice_box_row(box, k, at);
        const uint64_t begin = floe_lattice_row(shape, at) * row,
                       end = begin + 8 * floe_ceil_div(box->hi[3], FLOE_WAVELET_MARKS);
        for (uint64_t i = begin + 8 * (at[3] / FLOE_WAVELET_MARKS); i < end && begin >= apart; i++)
            kinds[i] = (int8_t)(kinds[i] + kinds[i - apart]);
    }
}

/* ---- write ------------------------------------------------------------------------------------------------------------- */

static void write_step(const floe_wavelet_coding *c, floe_cursor *to)
{
    const floe_lattice_step *s = &c->step;
    floe_lattice_axes_write(s, to);
    floe_write8(to, (uint8_t)(s->width | c->shorter << 2));
    for (uint32_t class = 1; class < 1u << s->naxes; class ++)
        floe_write8(to, (uint8_t)c->exponent[class]);
    for (int k = 0; k < FLOE_WAVELET_SHIFTS; k++)
        floe_write8(to, (uint8_t)c->shift[k]);
}

static void write_plan(const floe_wavelet_chunk *c, bool narrow, floe_cursor *to)
{
    const floe_wavelet_plan *p = &c->plan;
    floe_lattice_real_write(to, narrow, p->base);
    floe_lattice_real_write(to, narrow, p->center);
    floe_lattice_real_write(to, narrow, p->unit);
    for (uint32_t b = 0; b <= p->packet; b++)
        floe_write8(to, (uint8_t)p->packet_exponent[b]);
    floe_write64(to, (uint64_t)c->anchors.least);
    for (uint32_t i = 0; i < p->nsteps; i++)
        write_step(&p->steps[i], to);
}

void floe_wavelet_header_write(const floe_wavelet_chunk *c, bool narrow, floe_cursor *to)
{
    const floe_wavelet_plan *p = &c->plan;
    const bool coded = c->kind == FLOE_LATTICE_CODED;
    const uint8_t head[FLOE_WAVELET_HEADER_NBYTES] = {
        FLOE_WAVELET_VERSION,
        (uint8_t)c->kind,
        (uint8_t)(coded ? p->nsteps : 0),
        c->log,
        (uint8_t)(coded ? p->bank : 0),
        (uint8_t)(coded ? p->one_sided | p->packet << 4 : 0),
        (uint8_t)((uint32_t)c->marked[0] | (uint32_t)c->marked[1] << 1 | (uint32_t)c->differ << 2),
        (uint8_t)c->npalette,
        (uint8_t)(coded ? c->anchors.nbits : 0),
        (uint8_t)(coded ? p->anchor_exponent : 0),
        (uint8_t)(c->shorter[0] | c->shorter[1] << 4),
        (uint8_t)c->turns,
    };
    for (uint32_t i = 0; i < sizeof head; i++)
        floe_write8(to, head[i]);
    if (c->kind == FLOE_LATTICE_FLAT)
        floe_write64(to, c->base);
    for (uint32_t s = 0; s < c->npalette; s++)
        floe_write64(to, c->palette[s]);
    if (coded)
        write_plan(c, narrow, to);
}

/* ---- read -------------------------------------------------------------------------------------------------------------- */

/* As it is stored. Returns whether it can be. */
static bool read_shorter(uint32_t *shorter, uint32_t version, uint32_t stored)
{
    const bool tall = version <= FLOE_WAVELET_TALL_CHUNKS;
    *shorter = stored | (tall ? FLOE_WAVELET_TALL : 0);
    return stored <= (version <= FLOE_WAVELET_LONG_CHUNKS ? 0 : (uint32_t)FLOE_WAVELET_SHORTER - tall);
}

/* A step of a lattice of extent n, which becomes that of the next one. */
static bool read_step(floe_wavelet_coding *c, uint32_t version, uint64_t n[FLOE_LATTICE_RANK], floe_reader *from)
{
    floe_lattice_step *s = &c->step;
    *c = (floe_wavelet_coding){.shorter = 0};
    const bool good = floe_lattice_axes_read(s, n, from);
    const uint32_t how = floe_read8(from);
    s->width = how & 3;
    if (!read_shorter(&c->shorter, version, how >> 2) || !good || from->bad || s->width < 1 || s->width > 2)
        return false;
    for (uint32_t class = 1; class < 1u << s->naxes; class ++)
        c->exponent[class] = (int8_t)floe_read8(from);
    for (int k = 0; k < FLOE_WAVELET_SHIFTS; k++)
        c->shift[k] = (int8_t)floe_read8(from);
    memcpy(s->fine, n, sizeof s->fine);
    floe_wavelet_coding_lay(c);
    memcpy(n, s->coarse, sizeof s->coarse);
    return true;
}

static floe_status read_plan(floe_wavelet_chunk *c, uint32_t version, bool narrow, floe_reader *from, floe_error *err)
{
    floe_wavelet_plan *p = &c->plan;
    floe_wavelet_needs needs;
    uint64_t n[FLOE_LATTICE_RANK];
    memcpy(n, p->shape, sizeof n);
    floe_wavelet_needs_of(n, &needs);
    p->base = floe_lattice_real_read(from, narrow);
    p->center = floe_lattice_real_read(from, narrow);
    p->unit = floe_lattice_real_read(from, narrow);
    for (uint32_t b = 0; b <= p->packet; b++)
        p->packet_exponent[b] = (int8_t)floe_read8(from);
    c->anchors.least = (int64_t)floe_read64(from);
    FLOE_CHECK(
        err, !from->bad && p->base > 0 && isfinite(p->base) && isfinite(p->center) && p->unit > 0 && isfinite(p->unit),
        FLOE_ERR_FORMAT, "wavelet chunk: its numbers cannot be");
    for (uint32_t i = 0; i < p->nsteps; i++) {
        floe_wavelet_coding *k = &p->steps[i];
        const bool good = read_step(k, version, n, from) && !from->bad;
        FLOE_CHECK(err, good && !(p->packet && floe_lattice_is_active(&k->step, floe_lattice_slowest(p->shape))),
                   FLOE_ERR_FORMAT, "wavelet chunk: step %u cannot be", i);
        FLOE_CHECK(err, floe_wavelet_records_nbytes(k) <= needs.step_records, FLOE_ERR_FORMAT,
                   "wavelet chunk: steps that no writer makes");
    }
    return FLOE_OK;
}

static bool is_known(const uint8_t *h, const uint64_t *shape)
{
    const bool coded = h[1] == FLOE_LATTICE_CODED, packet = h[5] >> 4;
    bool good = h[1] < FLOE_LATTICE_KINDS && h[2] <= FLOE_WAVELET_STEPS && h[3] < 2 && h[4] < FLOE_WAVELET_BANKS &&
                h[5] >> 4 <= FLOE_WAVELET_PACKET && h[6] < 8 && (h[6] >> 1) != 2 && h[7] <= FLOE_WAVELET_PALETTE &&
                h[8] <= FLOE_WAVELET_ANCHOR_BITS;
    good = good && (coded || (h[2] | h[3] | h[4] | h[5] | (h[6] & 1) | h[8] | h[9] | h[10]) == 0);
    good = good && (h[1] != FLOE_LATTICE_RAW || (h[6] | h[7]) == 0);
    good = good && (!(packet || h[6] >> 2) || floe_lattice_slowest(shape) < FLOE_LATTICE_RANK - 1);
    return good && ((h[5] & 15) == 0 || floe_wavelet_interpolates((floe_wavelet_bank)h[4]));
}

floe_status floe_wavelet_header_read(floe_wavelet_chunk *c, bool narrow, floe_reader *from, floe_error *err)
{
    const uint8_t *h = floe_read_bytes(from, FLOE_WAVELET_HEADER_NBYTES);
    FLOE_CHECK(err, h && h[0] >= 1 && h[0] <= FLOE_WAVELET_VERSION && h[0] != FLOE_WAVELET_NO_VERSION, FLOE_ERR_FORMAT,
               "wavelet chunk: of a version that is not known");
    const uint32_t nbits = h[0] <= FLOE_WAVELET_TALL_CHUNKS ? 2 : 4, kinds = h[10] >> nbits;
    const bool rows = read_shorter(&c->shorter[FLOE_WAVELET_CORRECTIONS], h[0], h[10] & ((1u << nbits) - 1)) &&
                      read_shorter(&c->shorter[FLOE_WAVELET_VALUE_KINDS], h[0], kinds);
    FLOE_CHECK(err, rows && is_known(h, c->plan.shape) && h[FLOE_WAVELET_TURNS_AT] == c->turns, FLOE_ERR_FORMAT,
               "wavelet chunk: its header cannot be");
    c->kind = (floe_lattice_kind)h[FLOE_LATTICE_KIND_AT];
    c->plan.nsteps = h[2];
    c->log = h[3];
    c->checks = h[0] > FLOE_WAVELET_UNCHECKED;
    c->ans_begin = h[0] > FLOE_WAVELET_UNLIFTED ? FLOE_ANS_BEGIN : FLOE_ANS_LEAST;
    c->plan.bank = (floe_wavelet_bank)h[4];
    c->plan.one_sided = h[5] & 15;
    c->plan.packet = h[5] >> 4;
    c->marked[0] = h[6] & 1;
    c->marked[1] = h[6] >> 1 & 1;
    c->differ = h[6] >> 2;
    c->npalette = h[7];
    c->anchors.nbits = h[8];
    c->plan.anchor_exponent = (int8_t)h[9];
    c->base = c->kind == FLOE_LATTICE_FLAT ? floe_read64(from) : 0;
    for (uint32_t s = 0; s < c->npalette; s++)
        c->palette[s] = floe_read64(from);
    FLOE_CHECK(err, !from->bad, FLOE_ERR_FORMAT, "wavelet chunk: it ends within its header");
    c->plan.apart = h[0] > FLOE_WAVELET_TOGETHER;
    return c->kind == FLOE_LATTICE_CODED ? read_plan(c, h[0], narrow, from, err) : FLOE_OK;
}

floe_status floe_wavelet_head_read(const floe_chunk_decode *c, uint64_t have, floe_wavelet_chunk *k, uint64_t *at,
                                   floe_error *err)
{
    floe_reader from = floe_reader_of(c->src, (size_t)have);
    FLOE_CHECK(err,
               floe_lattice_turns_read(c->src, have, FLOE_WAVELET_TURNS_AT, c->rank, c->extent, &k->turns) &&
                   floe_lattice_shape_of(c->rank, c->extent, k->turns, k->plan.shape),
               FLOE_ERR_FORMAT, "wavelet chunk: of what codec wavelet does not take");
    FLOE_TRY(floe_wavelet_header_read(k, floe_dtype_is_narrow(floe_codec_real(c->dtype)), &from, err));
    *at = (uint64_t)(from.at - (const uint8_t *)c->src);
    return FLOE_OK;
}

/* What group j has of step i, from byte `at` on; returns its end. */
static uint64_t find_run(const floe_wavelet_chunk *c, uint32_t i, uint32_t j, const uint8_t *src, uint64_t at,
                         uint64_t have, floe_wavelet_places *p)
{
    const floe_records r = {&c->plan.steps[i].spec, &c->plan.steps[i].grid, NULL};
    const floe_wavelet_run run = floe_wavelet_run_of(&c->plan, i, j);
    floe_records_stream *s = &p->streams[i];
    if (i == j) {
        p->head[i] = at;
        at = floe_wavelet_records_find(&r, src, at, have, s);
    }
    if (at > have || !s->sizes || run.chunk == run.end)
        return at;
    p->runs[i][run.kept] = at;
    return at + floe_records_sizes_add(s->sizes + run.chunk * (s->wide ? 4 : 2), s->wide, run.end - run.chunk);
}

uint64_t floe_wavelet_places_find(const floe_wavelet_chunk *c, uint32_t last, const uint8_t *src, uint64_t at,
                                  uint64_t have, floe_wavelet_places *p)
{
    for (uint32_t j = c->plan.nsteps; j-- > last && at <= have;) {
        for (uint32_t i = c->plan.nsteps; i-- > j && at <= have;)
            at = find_run(c, i, j, src, at, have, p);
        p->end[j] = at = floe_wavelet_check_end(c->checks, at);
    }
    return at;
}
