/* SPDX-License-Identifier: BSD-3-Clause */
/* What a chunk holds about itself without being decoded: how many of its first bytes a level takes, and how it is coded. */
#include "codec/chunks/codec_integers.h"
#include "codec/interp/interp_chunk.h"
#include "field/dtype_math.h"

/* Tables, sizes and checks, by the first `have` bytes. False where these are too few: *at is how many it takes to go on. */
static bool find_chunks(const floe_interp_chunk *k, const uint8_t *src, uint64_t have, uint64_t *at, uint64_t *sizes)
{
    const floe_interp_plan *p = &k->plan;
    uint64_t nchunks = 0;
    for (uint32_t i = p->nsteps; i-- > 0;) {
        nchunks += p->steps[i].nchunks;
        if (!p->steps[i].tables)
            continue;
        *at += 2;
        if (*at > have)
            return false;
        *at += floe_load16(src + *at - 2);
    }
    *sizes = *at;
    *at = (*at + nchunks * floe_interp_size_nbytes(k) + floe_interp_checks_nbytes(k) + 3) & ~(uint64_t)3;
    return *at <= have;
}

/* The head, by `have` bytes of src; or all that are claimed to be there, of which those behind the header are not looked at. */
static floe_status read_head(const floe_chunk_decode *c, uint64_t have, floe_interp_chunk *k, uint64_t *at,
                             floe_error *err)
{
    floe_reader from = floe_reader_of(c->src, (size_t)have);
    FLOE_TRY(floe_interp_head_read(k, c->rank, c->extent, floe_dtype_is_narrow(floe_codec_real(c->dtype)), &from, err));
    *at = (uint64_t)(from.at - (const uint8_t *)c->src);
    return FLOE_OK;
}

/* Bytes of the entropy chunks of the next step, whose sizes stand at *sizes. */
static uint64_t take_step(const floe_interp_chunk *k, const floe_interp_coding *step, const uint8_t **sizes)
{
    const uint8_t *at = *sizes;
    *sizes += step->nchunks * floe_interp_size_nbytes(k);
    return floe_records_sizes_add(at, k->wide_sizes, step->nchunks);
}

floe_status floe_interp_level_nbytes(const floe_chunk_decode *c, uint64_t have, uint64_t *nbytes, floe_error *err)
{
    floe_interp_chunk k;
    uint64_t sizes_at = 0, at;
    uint32_t shift[FLOE_LATTICE_RANK];
    *nbytes = floe_min64(c->nbytes, FLOE_INTERP_HEADER_MOST);
    const bool few = have < *nbytes;
    const floe_status status = read_head(c, few ? have : c->nbytes, &k, &at, few ? NULL : err);
    if (status != FLOE_OK)
        return few ? FLOE_OK : status; /* with more of it there may be a header */
    if (k.kind == FLOE_LATTICE_RAW) {
        at = c->nbytes;
    } else if (k.kind == FLOE_LATTICE_CODED && find_chunks(&k, c->src, have, &at, &sizes_at)) {
        const uint32_t last = floe_interp_level_step(&k.plan, c->level, shift);
        const uint8_t *sizes = (const uint8_t *)c->src + sizes_at;
        for (uint32_t i = k.plan.nsteps; i-- > last;)
            at += take_step(&k, &k.plan.steps[i], &sizes);
    }
    FLOE_CHECK(err, at <= c->nbytes, FLOE_ERR_FORMAT, "interp chunk: it ends within its parts");
    *nbytes = at;
    return FLOE_OK;
}

/* ---- in words ---------------------------------------------------------------------------------------------------------- */

static void add_step(floe_text *to, const floe_interp_chunk *k, uint32_t i, uint64_t nbytes)
{
    static const char *const predictors[] = {"natural cubic", "not-a-knot cubic", "linear"};
    const floe_interp_coding *c = &k->plan.steps[i];
    floe_text_add(to, "step %u: ", i);
    floe_lattice_step_words(&c->step, k->plan.shape, to);
    floe_text_add(to, "; %s%s; quantizer %g; codes of %u bits; contexts of %s, window %u, %u rows; %s tables; ",
                  predictors[c->rule.predictor], c->rule.mean ? ", mean of the axes" : "", c->rule.step,
                  8 * c->step.width, c->spec.planes ? "rows and planes" : "rows", c->spec.window, c->rows,
                  c->tables ? "own" : "shared");
    floe_text_add(to, "%llu entropy chunks, %llu bytes\n", (unsigned long long)c->nchunks, (unsigned long long)nbytes);
}

static void add_sets(floe_text *to, const floe_interp_chunk *k, bool narrow, bool integer)
{
    static const char *const kinds[] = {"none", "list", "mask"};
    for (int s = 0; s < FLOE_INTERP_SETS; s++) {
        if (k->sets[s].kind == FLOE_INTERP_SET_EMPTY)
            continue;
        floe_text_add(to, "set: ");
        if (s == FLOE_INTERP_NEGATIVE)
            floe_text_add(to, "signs");
        else if (s == FLOE_INTERP_LITERALS)
            floe_text_add(to, "literals");
        else if (integer && k->palette[s - FLOE_INTERP_PATTERNS] == FLOE_NAN64_BITS)
            floe_text_add(to, "fill value");
        else if (narrow)
            floe_text_add(to, "value %.9g", (double)floe_f32_of((uint32_t)k->palette[s - FLOE_INTERP_PATTERNS]));
        else
            floe_text_add(to, "value %.17g", floe_f64_of(k->palette[s - FLOE_INTERP_PATTERNS]));
        floe_text_add(to, ", as a %s\n", kinds[k->sets[s].kind]);
    }
}

floe_status floe_interp_plan_words(const floe_chunk_decode *c, floe_text *to, floe_error *err)
{
    const bool narrow = floe_dtype_is_narrow(floe_codec_real(c->dtype));
    floe_interp_chunk k;
    uint64_t sizes_at = 0, at;
    FLOE_TRY(read_head(c, c->nbytes, &k, &at, err));
    const uint64_t apart_at = at - k.apart_nbytes;
    FLOE_CHECK(err, k.kind != FLOE_LATTICE_CODED || find_chunks(&k, c->src, c->nbytes, &at, &sizes_at), FLOE_ERR_FORMAT,
               "interp chunk: it ends within its parts");
    floe_lattice_chunk_words(k.kind, k.log, k.turns, k.plan.shape, c->nbytes, to);
    add_sets(to, &k, narrow, floe_dtype_is_integer(c->dtype));
    if (k.apart_nbytes)
        floe_text_add(to, "sets: %llu bytes\n", (unsigned long long)k.apart_nbytes);
    if (k.kind != FLOE_LATTICE_CODED)
        return FLOE_OK;
    const uint64_t *anchors = floe_interp_anchors_shape(&k.plan), size = narrow ? 4 : 8;
    const uint64_t nanchors = floe_lattice_points(anchors) * size;
    floe_text_add(to, "header: %llu bytes\nanchors: ", (unsigned long long)(apart_at - nanchors));
    floe_lattice_shape_words(anchors, to);
    floe_text_add(to, ", %llu bytes\ntables: %llu bytes\nsizes and checks: %llu bytes\n", (unsigned long long)nanchors,
                  (unsigned long long)(sizes_at - apart_at - k.apart_nbytes), (unsigned long long)(at - sizes_at));
    const uint8_t *sizes = (const uint8_t *)c->src + sizes_at;
    for (uint32_t i = k.plan.nsteps; i-- > 0;)
        add_step(to, &k, i, take_step(&k, &k.plan.steps[i], &sizes));
    return FLOE_OK;
}
