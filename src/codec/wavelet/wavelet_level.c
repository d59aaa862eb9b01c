/* SPDX-License-Identifier: BSD-3-Clause */
/* What a chunk consists of: how many of its first bytes a level takes, and all of it in words. */
#include "codec/wavelet/wavelet_chunk.h"
#include "codec/wavelet/wavelet_layout.h"
#include "codec/wavelet/wavelet_records.h"

static uint64_t anchors_end(const floe_wavelet_chunk *k, uint64_t at)
{
    return floe_wavelet_check_end(k->checks, at + floe_wavelet_anchors_nbytes(k));
}

floe_status floe_wavelet_level_nbytes(const floe_chunk_decode *c, uint64_t have, uint64_t *nbytes, floe_error *err)
{
    floe_wavelet_chunk k;
    floe_wavelet_places places;
    uint64_t at = 0;
    *nbytes = floe_min64(c->nbytes, FLOE_WAVELET_HEADER_MOST);
    const bool few = have < *nbytes;
    const floe_status status = floe_wavelet_head_read(c, few ? have : c->nbytes, &k, &at, few ? NULL : err);
    if (status != FLOE_OK)
        return few ? FLOE_OK : status; /* with more of it there may be a header */
    at = k.kind == FLOE_LATTICE_CODED ? anchors_end(&k, at) : c->nbytes;
    const floe_wavelet_level level = floe_wavelet_level_of(&k.plan, c->level);
    at = floe_wavelet_places_find(&k, level.step, c->src, at, have, &places);
    FLOE_CHECK(err, at <= c->nbytes, FLOE_ERR_FORMAT, "wavelet chunk: it ends within its parts");
    *nbytes = at;
    return FLOE_OK;
}

/* ---- in words ---------------------------------------------------------------------------------------------------------- */

static void add_structure(floe_text *to, const floe_wavelet_plan *p)
{
    static const char *const banks[FLOE_WAVELET_BANKS] = {"CDF 9/7",
                                                          "CDF 8/4",
                                                          "CDF 5/3",
                                                          "Haar",
                                                          "Deslauriers-Dubuc (4,4)",
                                                          "Deslauriers-Dubuc (6,4)",
                                                          "Deslauriers-Dubuc (6,6)",
                                                          "Deslauriers-Dubuc (8,4)"};
    const uint32_t slowest = floe_lattice_slowest(p->shape);
    const char *by = "; one-sided ends along axes";
    floe_text_add(to, "bank: %s", banks[p->bank]);
    for (uint32_t a = slowest; a < FLOE_LATTICE_RANK; a++)
        if (p->one_sided >> a & 1) {
            floe_text_add(to, "%s %u", by, a - slowest);
            by = ",";
        }
    if (p->packet)
        floe_text_add(to, "; packet of %u levels along axis 0", p->packet);
    floe_text_add(to, "\n");
}

/* How records that begin with a byte of flags are stored. */
static void add_records(floe_text *to, const floe_context_grid *grid, uint32_t flags, uint64_t nbytes)
{
    if (flags & FLOE_WAVELET_RECORDS_LIST)
        floe_text_add(to, "a list");
    else
        floe_text_add(to, "%s tables; %llu entropy chunks", flags & FLOE_WAVELET_RECORDS_TABLES ? "own" : "shared",
                      (unsigned long long)floe_context_nchunks(grid));
    floe_text_add(to, ", %llu bytes\n", (unsigned long long)nbytes);
}

static void add_step(floe_text *to, const floe_wavelet_plan *p, uint32_t i)
{
    const floe_wavelet_coding *c = &p->steps[i];
    int32_t least = INT8_MAX, most = INT8_MIN;
    for (uint32_t class = 1; class < 1u << c->step.naxes; class ++) {
        least = c->exponent[class] < least ? c->exponent[class] : least;
        most = c->exponent[class] > most ? c->exponent[class] : most;
    }
    floe_text_add(to, "step %u: ", i);
    floe_lattice_step_words(&c->step, p->shape, to);
    floe_text_add(to, "; quantizers %g to %g; codes of %u bits, up to %u rows; ", floe_wavelet_step_of(p->base, least),
                  floe_wavelet_step_of(p->base, most), 8 * c->step.width,
                  FLOE_CONTEXT_ROWS >> (c->shorter & ~(uint32_t)FLOE_WAVELET_TALL));
}

/* Bytes of step i: those of its group from its head on, the check, too, and its entropy chunks of groups behind. */
static uint64_t step_nbytes(const floe_wavelet_plan *p, uint32_t i, const floe_wavelet_places *places)
{
    const floe_records_stream *s = &places->streams[i];
    const uint64_t first = floe_wavelet_run_of(p, i, i).end, nbytes = places->end[i] - places->head[i];
    if (!s->sizes)
        return nbytes;
    return nbytes + floe_records_sizes_add(s->sizes + first * (s->wide ? 4 : 2), s->wide, p->steps[i].nchunks - first);
}

/* Bytes from *at to end have that name; then *at is there. */
static void add_part(floe_text *to, const char *name, uint64_t *at, uint64_t end)
{
    floe_text_add(to, "%s: %llu bytes\n", name, (unsigned long long)(end - *at));
    *at = end;
}

floe_status floe_wavelet_plan_words(const floe_chunk_decode *c, floe_text *to, floe_error *err)
{
    static const char *const marks[] = {"corrections: ", "kinds of values apart: "};
    const uint8_t *src = c->src;
    floe_wavelet_chunk k;
    floe_wavelet_places places;
    uint64_t at = 0, end = 0;
    FLOE_TRY(floe_wavelet_head_read(c, c->nbytes, &k, &end, err));
    floe_lattice_chunk_words(k.kind, k.log, k.turns, k.plan.shape, c->nbytes, to);
    add_part(to, "header", &at, end);
    if (k.kind == FLOE_LATTICE_CODED) {
        add_structure(to, &k.plan);
        add_part(to, "anchors", &at, floe_min64(anchors_end(&k, at), c->nbytes));
    }
    at = floe_wavelet_places_find(&k, 0, src, at, c->nbytes, &places);
    FLOE_CHECK(err, at <= c->nbytes, FLOE_ERR_FORMAT, "wavelet chunk: it ends within its parts");
    for (uint32_t i = k.plan.nsteps; i-- > 0;) {
        add_step(to, &k.plan, i);
        add_records(to, &k.plan.steps[i].grid, src[places.head[i]], step_nbytes(&k.plan, i, &places));
    }
    for (int s = 0; s < FLOE_WAVELET_MARK_SETS; s++) {
        const floe_context_grid grid = floe_wavelet_marks_grid(k.plan.shape, k.shorter[s]);
        const floe_records r = {&floe_wavelet_marks_spec, &grid, NULL};
        if (!k.marked[s])
            continue;
        end = floe_wavelet_records_end(&r, src, at, c->nbytes);
        FLOE_CHECK(err, end <= c->nbytes, FLOE_ERR_FORMAT, "wavelet chunk: it ends within its parts");
        floe_text_add(to, "%s", marks[s]);
        add_records(to, &grid, src[at], end - at);
        at = end;
    }
    if (at < c->nbytes)
        add_part(to, "values as they are", &at, c->nbytes);
    return FLOE_OK;
}
