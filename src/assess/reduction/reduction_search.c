/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/reduction/reduction_search.h"

#include <math.h>

#include "base/sort.h"

/* ---- a piece, pair by pair ----------------------------------------------------------------------------------------- */

/* Calls look for each pair of a piece, in order, until it returns false. */
typedef bool look_fn(void *arg, const floe_found *pair);

static void piece_look(const floe_reduction *r, uint64_t piece, look_fn *look, void *arg)
{
    const uint64_t end = floe_min64((piece + 1) * r->piece, r->nelems);
    floe_pair_buffer buffer;
    for (uint64_t at = piece * r->piece; at < end; at += FLOE_PAIR_BLOCK) {
        const uint32_t n = (uint32_t)floe_min64(FLOE_PAIR_BLOCK, end - at);
        const void *x, *y;
        floe_pair_read(r->pair, r->dense, at, n, &buffer, &x, &y);
        for (uint32_t i = 0; i < n; i++) {
            const floe_found f = {at + i, floe_pair_value(r->pair, x, i), floe_pair_value(r->pair, y, i),
                                  floe_pair_class_at(r->pair, x, y, i)};
            if (!look(arg, &f))
                return;
        }
    }
}

floe_spot floe_reduction_place(const floe_reduction *r, const floe_found *f)
{
    floe_spot place = {.original = f->x, .decoded = f->y};
    floe_pair_index(r->pair, f->at, place.index);
    return place;
}

/* ---- special values that differ ------------------------------------------------------------------------------------ */

typedef struct first_search {
    const floe_reduction *r;
    floe_spot *place;
} first_search;

static bool look_mismatch(void *arg, const floe_found *f)
{
    first_search *s = arg;
    if (f->class != FLOE_PAIR_DIFFERS)
        return true;
    *s->place = floe_reduction_place(s->r, f);
    return false;
}

static void mismatch_search(floe_reduction *r, floe_reduction_result *result)
{
    first_search s = {r, r->mismatch};
    result->mismatch = (floe_spots){result->total.count[FLOE_COUNT_MISMATCH] > 0, r->mismatch};
    for (uint64_t k = 0; result->mismatch.count && k < r->npieces; k++)
        if (r->parts[k].count[FLOE_COUNT_MISMATCH]) {
            piece_look(r, k, look_mismatch, &s);
            return;
        }
}

/* ---- the worst ------------------------------------------------------------------------------------------------------ */

void floe_ranking_add(floe_ranking *k, double size, const floe_found *pair)
{
    uint32_t i = k->n;
    if (i == k->most && !(size > k->entry[i - 1].size))
        return;
    if (k->n < k->most)
        k->n++;
    else
        i--;
    for (; i > 0 && size > k->entry[i - 1].size; i--)
        k->entry[i] = k->entry[i - 1];
    k->entry[i].size = size;
    k->entry[i].pair = *pair;
}

static bool look_worst(void *arg, const floe_found *f)
{
    if (f->class == FLOE_PAIR_COUNTS)
        floe_ranking_add(arg, fabs(f->y - f->x), f);
    return true;
}

/* The n worst errors lie in n pieces: those that rank highest by their own worst. */
static uint32_t worst_pieces(const floe_reduction *r, uint64_t piece[FLOE_ASSESS_MAX_WORST])
{
    floe_ranking pieces = {.most = r->options->worst};
    for (uint64_t k = 0; k < r->npieces; k++) {
        const double size = floe_reduction_worst(&r->parts[k]);
        if (size >= 0)
            floe_ranking_add(&pieces, size, &(floe_found){.at = k});
    }
    for (uint32_t i = 0; i < pieces.n; i++)
        piece[i] = pieces.entry[i].pair.at;
    floe_sort64(piece, pieces.n, floe_by_number);
    return pieces.n;
}

static void worst_search(floe_reduction *r, floe_reduction_result *result)
{
    floe_ranking pairs = {.most = r->options->worst};
    uint64_t piece[FLOE_ASSESS_MAX_WORST];
    const uint32_t npieces = worst_pieces(r, piece);
    for (uint32_t i = 0; i < npieces; i++)
        piece_look(r, piece[i], look_worst, &pairs);
    for (uint32_t i = 0; i < pairs.n; i++)
        r->worst[i] = floe_reduction_place(r, &pairs.entry[i].pair);
    result->worst = (floe_spots){pairs.n, r->worst};
}

/* ---- outside the bound ---------------------------------------------------------------------------------------------- */

typedef struct outside_search {
    const floe_reduction *r;
    double allowed;
    bool of_value; /* allowed times |x| */
} outside_search;

typedef struct outside_piece {
    const outside_search *search;
    uint64_t n;
    floe_found first;
} outside_piece;

static bool look_outside(void *arg, const floe_found *f)
{
    outside_piece *p = arg;
    const double may = p->search->of_value ? p->search->allowed * fabs(f->x) : p->search->allowed;
    if (f->class == FLOE_PAIR_COUNTS && fabs(f->y - f->x) > may && p->n++ == 0)
        p->first = *f;
    return true;
}

/* Whether some pair of a part may have |e| > allowed (times |x| if of_value). A quotient is rounded, so what is close is
 * looked at. */
static bool may_be_outside(const floe_reduction_part *p, double allowed, bool of_value)
{
    if (!of_value)
        return floe_reduction_worst(p) > allowed;
    return p->count[FLOE_COUNT_PW_UNDEFINED] || p->top[FLOE_TOP_PW] >= allowed * (1 - 1e-12);
}

static void outside_run(void *arg, uint64_t k, uint32_t worker)
{
    const outside_search *s = arg;
    outside_piece p = {.search = s};
    (void)worker;
    if (may_be_outside(&s->r->parts[k], s->allowed, s->of_value))
        piece_look(s->r, k, look_outside, &p);
    s->r->outside_count[k] = p.n;
}

static void outside_find(floe_reduction *r, floe_reduction_result *result)
{
    const floe_reduction_options *o = r->options;
    const double allowed = floe_reduction_allowed(o->mode == FLOE_BOUND_REL, o->bound, &result->total);
    outside_search s = {r, allowed, o->mode == FLOE_BOUND_PWREL};
    floe_cpu_parallel(r->cpu, r->npieces, outside_run, &s);
    uint64_t first = r->npieces;
    for (uint64_t k = r->npieces; k-- > 0;) {
        result->noutside += r->outside_count[k];
        first = r->outside_count[k] ? k : first;
    }
    result->outside = (floe_spots){first < r->npieces, r->outside};
    if (first < r->npieces) {
        outside_piece p = {.search = &s};
        piece_look(r, first, look_outside, &p);
        *r->outside = floe_reduction_place(r, &p.first);
    }
}

void floe_reduction_search(floe_reduction *r, floe_reduction_result *result)
{
    mismatch_search(r, result);
    if (!result->total.count[FLOE_COUNT_PAIRS])
        return;
    if (r->options->parts & FLOE_REDUCTION_WORST && r->options->worst)
        worst_search(r, result);
    if (r->options->parts & FLOE_REDUCTION_OUTSIDE)
        outside_find(r, result);
}
