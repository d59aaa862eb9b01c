/* SPDX-License-Identifier: BSD-3-Clause */
/* Encoding a tile: quantize a step, close the gaps that exceptions leave, predict, pack; then put the parts together. */
#include "codec/lorenzo/format/lorenzo_rows.h"

#include "stage/quantizer/quantizer_math.h"

typedef FLOE_R(floe_tile_scratch) tile_scratch;

/* ---- gaps ---------------------------------------------------------------------------------------------------------- */

/* An exception predicts like the value before it in its row; a row without any value like the row above it. The decoder
 * does not care: this only keeps the neighbours' residuals small. */
static void close_gaps(floe_int *q, const uint8_t *bad, uint32_t n, uint32_t nbad, const floe_int *above, bool line)
{
    if (nbad == n) {
        for (uint32_t x = 0; x < n; x++)
            q[x] = above[line ? 0 : x];
        return;
    }
    uint32_t first = 0;
    while (bad[first])
        first++;
    floe_int last = q[first];
    for (uint32_t x = 0; x < n; x++) {
        last = bad[x] ? last : q[x];
        q[x] = last;
    }
}

/* The row that stands in for row y of plane z when it has no value. */
static const floe_int *row_above(const tile_scratch *t, const floe_tile_geometry *g, uint32_t z, uint32_t y)
{
    if (y > 0)
        return t->q + (z * g->step_y + y - 1) * g->step_x;
    return z > 0 ? t->q + (z - 1) * g->step_y * g->step_x : t->row_before;
}

static void keep_row_before(tile_scratch *t, const floe_view *view, const floe_step_box *box)
{
    const floe_tile_geometry *g = &view->geometry;
    if (view->rank == 1)
        t->row_before[0] = t->q[box->nx - 1];
    else
        memcpy(t->row_before, t->q + (box->nz - 1) * g->step_y * g->step_x, box->nx * sizeof *t->q);
}

/* ---- quantize ------------------------------------------------------------------------------------------------------ */

/* Row by row where cells are missing, so that nothing is quantized that is not there. */
static uint32_t quantize_rows(const floe_tile_job *job, const floe_step_box *step, tile_scratch *t)
{
    const floe_tile_geometry *g = &job->view->geometry;
    uint32_t nbad = 0;
    for (uint32_t z = 0; z < step->nz; z++)
        for (uint32_t y = 0; y < step->ny; y++) {
            uint32_t at = (z * g->step_y + y) * g->step_x;
            nbad += FLOE_V(floe_quantizer_encode)(job->quantizer, t->x + at, step->nx, t->q + at, t->bad + at,
                                                  t->negative + at, &t->stats);
        }
    return nbad;
}

static void close_all_gaps(const floe_tile_job *job, const floe_step_box *step, tile_scratch *t)
{
    const floe_tile_geometry *g = &job->view->geometry;
    for (uint32_t z = 0; z < step->nz; z++)
        for (uint32_t y = 0; y < step->ny; y++) {
            uint32_t at = (z * g->step_y + y) * g->step_x, nbad = 0;
            for (uint32_t x = 0; x < step->nx; x++)
                nbad += t->bad[at + x];
            if (nbad)
                close_gaps(t->q + at, t->bad + at, step->nx, nbad, row_above(t, g, z, y), job->view->rank == 1);
        }
}

/* Fills x, q (gaps closed), bad and negative of step s. Returns the number of exceptions. */
static uint32_t quantize_step(const floe_tile_job *job, const floe_tile_box *box, uint32_t s, tile_scratch *t)
{
    const floe_step_box *step = &t->boxes[s];
    floe_step_rows rows = floe_step_rows_of(job, box, step, s);
    floe_step_read(&rows, &job->view->geometry, t->x);
    t->rows = rows;
    uint32_t nbad = step->full ? FLOE_V(floe_quantizer_encode)(job->quantizer, t->x, FLOE_STEP_VALUES, t->q, t->bad,
                                                               t->negative, &t->stats)
                               : quantize_rows(job, step, t);
    if (nbad)
        close_all_gaps(job, step, t);
    keep_row_before(t, job->view, step);
    return nbad;
}

/* One bit for each byte of a step, by groups; bytes outside the field do not count. */
static void mask_of_bytes(const floe_tile_geometry *g, const uint8_t *bytes, const uint32_t *valid, uint32_t *words)
{
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        uint32_t bits = 0;
        for (uint32_t k = 0; k < FLOE_GROUP_VALUES; k++)
            bits |= (uint32_t)(bytes[floe_group_place(g, group, k)] != 0) << k;
        words[group] = bits & valid[group];
    }
}

static void collect_exceptions(const floe_tile_job *job, uint32_t s, tile_scratch *t)
{
    const floe_tile_geometry *g = &job->view->geometry;
    floe_uint bits[FLOE_GROUP_VALUES];
    uint32_t places[FLOE_STEP_GROUPS];
    mask_of_bytes(g, t->bad, t->valid[s], places);
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        if (places[group] == 0)
            continue;
        for (uint32_t k = 0; k < FLOE_GROUP_VALUES; k++)
            memcpy(&bits[k], &t->x[floe_group_place(g, group, k)], sizeof *bits);
        FLOE_V(floe_exceptions_add)(&t->exceptions, job->quantizer->palette, s, group, places[group], bits);
    }
    memset(t->bad, 0, sizeof t->bad);
}

/* ---- a tile -------------------------------------------------------------------------------------------------------- */

static void begin_tile(const floe_tile_job *job, uint64_t tile, floe_tile_box *box, tile_scratch *t)
{
    floe_view_tile(job->view, tile, box);
    for (uint32_t s = 0; s < box->nsteps; s++) {
        t->boxes[s] = floe_tile_step(job->view, box, s);
        floe_step_valid(&job->view->geometry, &t->boxes[s], t->valid[s]);
    }
    if (t->exceptions.count) { /* of the tile before; begin cleared them for the first */
        memset(t->exceptions.place, 0, sizeof t->exceptions.place);
        memset(t->exceptions.kind_low, 0, sizeof t->exceptions.kind_low);
        memset(t->exceptions.kind_high, 0, sizeof t->exceptions.kind_high);
    }
    t->exceptions.count = t->exceptions.nliterals = 0;
    memset(t->row_before, 0, (box->nx < FLOE_STEP_VALUES ? box->nx : FLOE_STEP_VALUES) * sizeof *t->row_before);
    if (box->ncells < FLOE_TILE_VALUES)
        memset(t->q, 0, sizeof t->q);
}

/* What walking the steps of a tile found. */
typedef struct tile_walk {
    uint32_t mode, nbody;
    bool any_sign, any_residual;
} tile_walk;

static bool any_residual(const floe_step *step)
{
    uint32_t any = step->flat;
    for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
        any |= step->width[g];
    return any != 0;
}

static bool take_signs(const floe_tile_job *job, uint32_t s, tile_scratch *t)
{
    uint32_t any = 0;
    mask_of_bytes(&job->view->geometry, t->negative, t->valid[s], t->signs[s]);
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++)
        any |= t->signs[s][group];
    return any != 0;
}

/* Quantizes, predicts and packs all steps. A draft keeps each step for the histogram; else one place serves all of them. */
static tile_walk walk_tile(const floe_tile_job *job, const floe_tile_box *box, bool draft, tile_scratch *t)
{
    tile_walk w = {.nbody = (box->nsteps + 1) / 2};
    memset(t->body, 0, w.nbody * sizeof *t->body);
    for (uint32_t s = 0; s < box->nsteps; s++) {
        floe_step *step = &t->steps[draft ? s : 0];
        uint16_t descriptor;
        uint32_t nbad = quantize_step(job, box, s, t);
        if (nbad)
            collect_exceptions(job, s, t);
        if (job->quantizer->kind == FLOE_QUANTIZER_LOG)
            w.any_sign |= take_signs(job, s, t);
        if (s == 0) {
            w.mode = FLOE_V(floe_lorenzo_choose)(job->view->rank, &t->boxes[0], t->q);
            FLOE_V(floe_lorenzo_begin)(&t->walk, job->view->rank, w.mode, t->q[0], draft);
        }
        FLOE_V(floe_lorenzo_encode_step)(&t->walk, &t->boxes[s], t->q, step);
        w.any_residual |= any_residual(step);
        w.nbody += FLOE_V(floe_pack_encode_step)(step, t->body + w.nbody, &descriptor);
        t->body[s / 2] |= (uint32_t)descriptor << (s % 2 * 16);
    }
    return w;
}

/* Cells that can have a sign: inside the field and no exception. */
static void signed_cells(const tile_scratch *t, uint32_t nsteps, floe_mask cells)
{
    for (uint32_t s = 0; s < nsteps; s++)
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
            cells[s][g] = t->valid[s][g] & ~t->exceptions.place[s][g];
}

/* Exceptions, signs and base: what stands before the body. */
static uint32_t write_prefix(tile_scratch *t, uint32_t nsteps, bool any_sign, uint32_t *flags)
{
    uint32_t n = 0;
    t->prefix[n++] = (uint32_t)t->walk.base;
#if FLOE_REAL_BITS == 64
    t->prefix[n++] = (uint32_t)((uint64_t)t->walk.base >> 32);
#endif
    *flags = 0;
    if (t->exceptions.count) {
        n += FLOE_V(floe_exceptions_encode)(&t->exceptions, t->valid, nsteps, t->prefix + n);
        *flags |= FLOE_TILE_EXCEPTIONS;
    }
    if (any_sign) {
        floe_mask cells;
        signed_cells(t, nsteps, cells);
        n += floe_mask_encode(t->signs, cells, nsteps, t->prefix + n);
        *flags |= FLOE_TILE_SIGNS;
    }
    return n;
}

static uint32_t raw_nwords(const floe_tile_box *box) { return (uint32_t)box->ncells * (FLOE_REAL_BITS / 32); }

static uint32_t encode_raw(const floe_tile_job *job, const floe_tile_box *box, tile_scratch *t, uint32_t *nwords)
{
    const floe_tile_geometry *g = &job->view->geometry;
    uint32_t n = 0;
    for (uint32_t s = 0; s < box->nsteps; s++) {
        floe_step_rows rows = floe_step_rows_of(job, box, &t->boxes[s], s);
        floe_step_read(&rows, g, t->x);
        for (uint32_t z = 0; z < t->boxes[s].nz; z++)
            for (uint32_t y = 0; y < t->boxes[s].ny; y++)
                for (uint32_t x = 0; x < t->boxes[s].nx; x++) {
                    floe_uint bits;
                    memcpy(&bits, &t->x[(z * g->step_y + y) * g->step_x + x], sizeof bits);
                    t->words[n++] = (uint32_t)bits;
#if FLOE_REAL_BITS == 64
                    t->words[n++] = (uint32_t)(bits >> 32);
#endif
                }
    }
    *nwords = n;
    return floe_tile_raw(n).entry;
}

/* words = [size of prefix] prefix body. Returns how many. */
static uint32_t join(tile_scratch *t, bool with_size, const uint32_t *prefix, uint32_t nprefix, uint32_t nbody)
{
    uint32_t n = 0;
    if (with_size)
        t->words[n++] = nprefix;
    memcpy(t->words + n, prefix, nprefix * sizeof *prefix);
    memcpy(t->words + n + nprefix, t->body, nbody * sizeof *prefix);
    return n + nprefix + nbody;
}

/* The kind of exception that every cell of the tile is, all of one pattern of the palette; else 0. */
static uint32_t only_kind(const tile_scratch *t, const floe_tile_box *box)
{
    if (t->exceptions.count != box->ncells || t->exceptions.nliterals != 0)
        return 0;
    uint32_t low = floe_mask_count(t->exceptions.kind_low, box->nsteps);
    uint32_t high = floe_mask_count(t->exceptions.kind_high, box->nsteps);
    if ((low != 0 && low != box->ncells) || (high != 0 && high != box->ncells))
        return 0;
    return (uint32_t)(low != 0) | (uint32_t)(high != 0) << 1;
}

uint32_t FLOE_V(floe_tile_encode)(const floe_tile_job *job, uint64_t tile, bool draft, tile_scratch *t,
                                  uint32_t *nwords)
{
    floe_tile_box box;
    begin_tile(job, tile, &box, t);
    tile_walk walk = walk_tile(job, &box, draft, t);
    uint32_t raw = raw_nwords(&box), flags;
    t->nexceptions += t->exceptions.count;
    t->nliterals += t->exceptions.nliterals;
    uint32_t special = only_kind(t, &box);
    if (special) {
        *nwords = 0;
        return floe_tile_special(special).entry;
    }
    uint32_t nprefix = write_prefix(t, box.nsteps, walk.any_sign, &flags);
    flags |= walk.mode << FLOE_TILE_MODE_SHIFT;
    const bool has_body = walk.any_residual;
    const floe_tile_result r = floe_tile_result_of(raw, nprefix, walk.nbody, has_body, draft, flags);
    if (r.raw)
        return encode_raw(job, &box, t, nwords);
    if (has_body && draft)
        FLOE_V(floe_huffman_count_tile)(&t->hist, t->steps, box.nsteps);
    *nwords = join(t, has_body && draft, t->prefix, nprefix, has_body ? walk.nbody : 0);
    return r.entry;
}

/* The steps of a pack body of our own making. */
static void unpack_body(const floe_tile_job *job, const floe_tile_box *box, const uint32_t *body, uint32_t nbody,
                        tile_scratch *t)
{
    uint32_t at = (box->nsteps + 1) / 2;
    for (uint32_t s = 0; s < box->nsteps; s++) {
        uint32_t used = 0;
        t->boxes[s] = floe_tile_step(job->view, box, s);
        t->steps[s].present = floe_step_present(&job->view->geometry, &t->boxes[s]);
        FLOE_V(floe_pack_decode_step)
        ((uint16_t)(body[s / 2] >> (s % 2 * 16)), body + at, nbody - at, &used, &t->steps[s]);
        at += used;
    }
}

uint32_t FLOE_V(floe_tile_finish)(const floe_tile_job *job, uint64_t tile, uint32_t entry, const uint32_t *draft,
                                  uint32_t ndraft, tile_scratch *t, uint32_t *nwords)
{
    if (floe_tile_kind(entry) != FLOE_TILE_CODED) {
        memcpy(t->words, draft, ndraft * sizeof *draft);
        *nwords = ndraft;
        return entry;
    }
    floe_tile_box box;
    floe_view_tile(job->view, tile, &box);
    uint32_t nprefix = draft[0];
    unpack_body(job, &box, draft + 1 + nprefix, ndraft - 1 - nprefix, t);
    uint32_t nbody = (uint32_t)FLOE_V(floe_huffman_encode_tile)(job->book, t->steps, box.nsteps, t->body);
    const floe_tile_result r = floe_tile_result_of(raw_nwords(&box), nprefix, nbody, true, false, entry);
    if (r.raw)
        return encode_raw(job, &box, t, nwords);
    *nwords = join(t, false, draft + 1, nprefix, nbody);
    return r.entry;
}

/* ---- trial --------------------------------------------------------------------------------------------------------- */

double FLOE_V(floe_tile_squared_error)(const floe_tile_job *job, uint64_t tile, tile_scratch *t)
{
    const floe_tile_geometry *g = &job->view->geometry;
    floe_tile_box box;
    floe_real decoded[FLOE_STEP_VALUES];
    const bool magnitudes = job->quantizer->kind == FLOE_QUANTIZER_LOG; /* signs are kept apart */
    double sum = 0;
    begin_tile(job, tile, &box, t);
    for (uint32_t s = 0; s < box.nsteps; s++) {
        uint32_t nbad = quantize_step(job, &box, s, t);
        FLOE_V(floe_quantizer_decode)(job->quantizer, t->q, FLOE_STEP_VALUES, decoded);
        for (uint32_t z = 0; z < t->boxes[s].nz; z++)
            for (uint32_t y = 0; y < t->boxes[s].ny; y++)
                for (uint32_t x = 0; x < t->boxes[s].nx; x++) {
                    uint32_t at = (z * g->step_y + y) * g->step_x + x;
                    double value = (double)t->x[at];
                    double error = (magnitudes && value < 0 ? -value : value) - (double)decoded[at];
                    sum += nbad && t->bad[at] ? 0.0 : error * error;
                }
        if (nbad)
            memset(t->bad, 0, sizeof t->bad);
    }
    return sum;
}
