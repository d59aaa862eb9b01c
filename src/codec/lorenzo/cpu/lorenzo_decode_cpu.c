/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoding a tile: everything in the stream is checked before it is used; what is decoded goes step by step to the part of
 * the caller's array that the tile covers. */
#include "codec/lorenzo/format/lorenzo_rows.h"

#include "base/try.h"
#include "stage/quantizer/quantizer_math.h"

typedef FLOE_R(floe_tile_scratch) tile_scratch;

/* What a tile's words are made of. */
typedef struct tile_parts {
    uint32_t kind, mode;
    bool exceptions, signs;
    const uint32_t *body;
    uint32_t nbody;
} tile_parts;

static floe_uint read_base(const uint32_t *words)
{
#if FLOE_REAL_BITS == 32
    return words[0];
#else
    return words[0] | (floe_uint)words[1] << 32;
#endif
}

static floe_status bad_tile(floe_error *err, uint64_t tile, const char *what)
{
    return floe_fail(err, FLOE_ERR_FORMAT, "tile %llu: %s", (unsigned long long)tile, what);
}

/* ---- values out ---------------------------------------------------------------------------------------------------- */

static void apply_signs(const floe_tile_job *job, uint32_t s, tile_scratch *t, floe_real *values)
{
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++)
        for (uint32_t rest = t->signs[s][group]; rest; rest &= rest - 1) {
            floe_real *value = &values[floe_group_place(&job->view->geometry, group, (uint32_t)__builtin_ctz(rest))];
            floe_uint bits;
            memcpy(&bits, value, sizeof bits);
            bits |= (floe_uint)1 << (FLOE_REAL_BITS - 1);
            memcpy(value, &bits, sizeof bits);
        }
}

static void apply_exceptions(const floe_tile_job *job, uint32_t s, tile_scratch *t, uint32_t *next, floe_real *values)
{
    floe_uint bits[FLOE_GROUP_VALUES];
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        FLOE_V(floe_exceptions_get)(&t->exceptions, job->quantizer->palette, s, group, next, bits);
        for (uint32_t rest = t->exceptions.place[s][group]; rest; rest &= rest - 1) {
            uint32_t k = (uint32_t)__builtin_ctz(rest);
            memcpy(&values[floe_group_place(&job->view->geometry, group, k)], &bits[k], sizeof *bits);
        }
    }
}

/* Gaps and cells outside the field may hold any q: a place outside the table is an error only where a value comes of it. */
static bool check_places(const floe_tile_job *job, uint32_t s, const tile_parts *parts, tile_scratch *t)
{
    bool ok = true;
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++)
        for (uint32_t k = 0; k < FLOE_GROUP_VALUES; k++) {
            floe_int *q = &t->q[floe_group_place(&job->view->geometry, group, k)];
            if ((floe_uint)*q < job->quantizer->table_size)
                continue;
            bool gap = parts->exceptions && (t->exceptions.place[s][group] >> k & 1);
            ok &= gap || !(t->valid[s][group] >> k & 1);
            *q = 0;
        }
    return ok;
}

/* q of step s -> values in the caller's array. */
static bool emit_step(const floe_tile_job *job, const floe_tile_box *box, uint32_t s, const tile_parts *parts,
                      tile_scratch *t, uint32_t *next)
{
    floe_step_rows rows = floe_step_rows_of(job, box, &t->boxes[s], s);
    if (job->quantizer->kind == FLOE_QUANTIZER_TABLE && !check_places(job, s, parts, t))
        return false;
    FLOE_V(floe_quantizer_decode)(job->quantizer, t->q, FLOE_STEP_VALUES, t->x);
    if (parts->signs)
        apply_signs(job, s, t, t->x);
    if (parts->exceptions)
        apply_exceptions(job, s, t, next, t->x);
    floe_step_write(&rows, &job->view->geometry, t->x);
    return true;
}

static void emit_raw(const floe_tile_job *job, const floe_tile_box *box, tile_scratch *t)
{
    const floe_tile_geometry *g = &job->view->geometry;
    uint32_t n = 0;
    for (uint32_t s = 0; s < box->nsteps; s++) {
        for (uint32_t z = 0; z < t->boxes[s].nz; z++)
            for (uint32_t y = 0; y < t->boxes[s].ny; y++)
                for (uint32_t x = 0; x < t->boxes[s].nx; x++, n += FLOE_TILE_BASE_WORDS) {
                    floe_uint bits = read_base(t->words + n);
                    memcpy(&t->x[(z * g->step_y + y) * g->step_x + x], &bits, sizeof bits);
                }
        floe_step_rows rows = floe_step_rows_of(job, box, &t->boxes[s], s);
        floe_step_write(&rows, g, t->x);
    }
}

static void emit_special(const floe_tile_job *job, const floe_tile_box *box, uint32_t pattern, tile_scratch *t)
{
    floe_uint bits = (floe_uint)job->quantizer->palette[pattern];
    for (uint32_t i = 0; i < FLOE_STEP_VALUES; i++)
        memcpy(&t->x[i], &bits, sizeof bits);
    for (uint32_t s = 0; s < box->nsteps; s++) {
        floe_step_rows rows = floe_step_rows_of(job, box, &t->boxes[s], s);
        floe_step_write(&rows, &job->view->geometry, t->x);
    }
}

/* ---- the parts ----------------------------------------------------------------------------------------------------- */

static void set_boxes(const floe_tile_job *job, const floe_tile_box *box, tile_scratch *t)
{
    for (uint32_t s = 0; s < box->nsteps; s++) {
        t->boxes[s] = floe_tile_step(job->view, box, s);
        t->steps[s].present = floe_step_present(&job->view->geometry, &t->boxes[s]);
    }
}

/* Base, exceptions and signs; what is left is the body. */
static bool read_prefix(const floe_tile_job *job, const floe_tile_box *box, uint32_t nwords, tile_scratch *t,
                        tile_parts *parts, floe_int *base)
{
    uint32_t n = FLOE_TILE_BASE_WORDS, used;
    if (nwords < n)
        return false;
    *base = (floe_int)read_base(t->words);
    if (parts->exceptions || parts->signs || job->quantizer->kind == FLOE_QUANTIZER_TABLE)
        for (uint32_t s = 0; s < box->nsteps; s++)
            floe_step_valid(&job->view->geometry, &t->boxes[s], t->valid[s]);
    if (parts->exceptions) {
        if (!FLOE_V(floe_exceptions_decode)(t->words + n, nwords - n, t->valid, box->nsteps, &t->exceptions, &used))
            return false;
        n += used;
        for (uint32_t s = 0; s < box->nsteps; s++)
            for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
                t->valid[s][g] &= ~t->exceptions.place[s][g];
    }
    if (parts->signs) {
        if (!floe_mask_decode(t->words + n, nwords - n, t->valid, box->nsteps, t->signs, &used))
            return false;
        n += used;
    }
    parts->body = t->words + n;
    parts->nbody = nwords - n;
    return true;
}

static floe_status emit_constant(const floe_tile_job *job, const floe_tile_box *box, const tile_parts *parts,
                                 floe_int base, tile_scratch *t, uint64_t tile, floe_error *err)
{
    uint32_t next = 0;
    if (parts->nbody != 0)
        return bad_tile(err, tile, "a constant tile has a body");
    for (uint32_t s = 0; s < box->nsteps; s++) {
        for (uint32_t i = 0; i < FLOE_STEP_VALUES; i++)
            t->q[i] = base;
        if (!emit_step(job, box, s, parts, t, &next))
            return bad_tile(err, tile, "a value outside the table");
    }
    return FLOE_OK;
}

/* True when no row of this or a later step can lie in the region. */
static bool past_region(const floe_tile_job *job, const floe_tile_box *box, uint32_t s)
{
    uint64_t first = (uint64_t)s * job->view->geometry.step_z + box->lo[FLOE_VIEW_Z];
    if (job->view->rank == 1)
        return (uint64_t)s * FLOE_STEP_VALUES + box->lo[FLOE_VIEW_X] >= job->region_hi[FLOE_VIEW_X];
    return first >= job->region_hi[FLOE_VIEW_Z];
}

static floe_status emit_coded(const floe_tile_job *job, const floe_tile_box *box, const tile_parts *parts,
                              floe_int base, tile_scratch *t, uint64_t tile, floe_error *err)
{
    uint32_t next = 0, at = (box->nsteps + 1) / 2;
    if (job->decoder)
        FLOE_TRY(FLOE_V(floe_huffman_decode_tile)(job->decoder, parts->body, parts->nbody, t->steps, box->nsteps, err));
    else if (parts->nbody < at || (box->nsteps % 2 && parts->body[at - 1] >> 16))
        return bad_tile(err, tile, "step descriptors are missing or wrong");
    FLOE_V(floe_lorenzo_begin)(&t->walk, job->view->rank, parts->mode, base, false);
    for (uint32_t s = 0; s < box->nsteps && !past_region(job, box, s); s++) {
        uint32_t used;
        floe_step *step = &t->steps[job->decoder ? s : 0]; /* pack: one place serves all, and stays in cache */
        if (!job->decoder) {
            step->present = floe_step_present(&job->view->geometry, &t->boxes[s]);
            uint16_t descriptor = (uint16_t)(parts->body[s / 2] >> (s % 2 * 16));
            if (FLOE_V(floe_pack_decode_step)(descriptor, parts->body + at, parts->nbody - at, &used, step))
                return bad_tile(err, tile, "a step does not fit its words");
            at += used;
            if (s + 1 == box->nsteps && at != parts->nbody)
                return bad_tile(err, tile, "words are left over");
        }
        FLOE_V(floe_lorenzo_decode_step)(&t->walk, &t->boxes[s], step, t->q);
        if (!emit_step(job, box, s, parts, t, &next))
            return bad_tile(err, tile, "a value outside the table");
    }
    return FLOE_OK;
}

floe_status FLOE_V(floe_tile_decode)(const floe_tile_job *job, uint64_t tile, uint32_t entry, tile_scratch *t,
                                     floe_error *err)
{
    floe_tile_box box;
    floe_view_tile(job->view, tile, &box);
    uint32_t nwords = entry & FLOE_TILE_NWORDS_MASK;
    tile_parts parts = {.kind = floe_tile_kind(entry),
                        .mode = floe_tile_mode(entry),
                        .exceptions = (entry & FLOE_TILE_EXCEPTIONS) != 0,
                        .signs = (entry & FLOE_TILE_SIGNS) != 0};
    if (floe_tile_is_impossible(entry, job->view->rank, job->quantizer->kind))
        return bad_tile(err, tile, "impossible entry");
    set_boxes(job, &box, t);
    if (parts.kind == FLOE_TILE_SPECIAL) {
        if (nwords != 0)
            return bad_tile(err, tile, "a special tile has words");
        emit_special(job, &box, parts.mode, t);
        return FLOE_OK;
    }
    if (parts.kind == FLOE_TILE_RAW) {
        if (nwords != box.ncells * FLOE_TILE_BASE_WORDS)
            return bad_tile(err, tile, "a raw tile of the wrong size");
        emit_raw(job, &box, t);
        return FLOE_OK;
    }
    floe_int base;
    if (nwords >= box.ncells * FLOE_TILE_BASE_WORDS || !read_prefix(job, &box, nwords, t, &parts, &base))
        return bad_tile(err, tile, "base, exceptions or signs do not fit");
    if (parts.kind == FLOE_TILE_CONSTANT)
        return emit_constant(job, &box, &parts, base, t, tile, err);
    return emit_coded(job, &box, &parts, base, t, tile, err);
}
