/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tuner: boxes of the field are coded with one structure after another, and what takes the fewest bits is kept. Bits are
 * entropies of the contexts, in whole numbers, so that the choice is the same wherever it is made.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "codec/interp/interp_tuner.h"

typedef floe_interp_encoder encoder;
typedef floe_interp_tuner tuner;

enum {
    TRUSTED_CELLS = 8,   /* levels with fewer cells along the longest axis of a box are mostly border */
    TRUSTED_CODES = 512, /* a level with fewer codes shows nothing */
    FEW_BITS = 8192,     /* boxes that hold fewer show too little */
    USED_BITS = 4,       /* what each symbol that occurs in a context adds to the entropy of a small sample */
    /* A change of the structure must spare an n-th of the bits. */
    WORTH = 256,
    STARTS_WORTH = 64, /* an axis begins later, which makes the finest step slower; preset best takes WORTH */
    OTHERS_WORTH = 16, /* several axes begin later; boxes have few of the coarse cells that remain */
    LEVELS_WORTH = 4,  /* levels that were cut: boxes show too little of what these spoil */
    BOUNDS_WORTH = 60, /* other bounds of coarse levels, of which a box is a small sample */
    PLANES_WORTH = 64, /* contexts of planes may even take an n-th more: a box has few planes */
    SHORT_WORTH = 80,  /* short windows, which take longer */
    /* Levels end before one with codes of more raw bits, if also one in LONGEST of its codes is of the longest kind. */
    MOST_RAW = 10,       /* of a code */
    MOST_RAW_LEAST = 12, /* the same for the first level that can end: its anchors are a large part of the field */
    LONGEST = 64,
    ANCHORS_WORTH = 32, /* an n-th of the bits that more anchors may add: boxes have fewer levels that spoil others */
    TABLES_NBYTES = 64, /* tables of a step, about; a coarse step shares them, and counts an eighth */
};

static bool is_same(const floe_interp_structure *a, const floe_interp_structure *b)
{
    return floe_interp_has_codes_of(a, b) && a->planes == b->planes && a->window[0] == b->window[0];
}

/* Its number among those that are remembered. */
static uint32_t add_structure(tuner *t, const floe_interp_structure *s)
{
    uint32_t i = 0;
    while (i < t->nall && !is_same(&t->structures[i], s))
        i++;
    if (i == FLOE_INTERP_TRIALS)
        i = t->ndone = t->nall = 0;
    if (i == t->nall)
        t->structures[t->nall++] = *s;
    return i;
}

/* What level `level` of s is taken from. A level depends little on the predictors of others: but for preset best, levels of trials
 * with one predictor are put together. */
static floe_interp_structure part_of(const tuner *t, const floe_interp_structure *s, uint32_t level)
{
    floe_interp_structure part = *s;
    if (!floe_interp_is_best(t->e)) {
        memset(part.predictor, s->predictor[level], sizeof part.predictor);
        part.window[0] = level ? t->first.window[0] : s->window[0];
    }
    return part;
}

/* s is likely to be tried next. */
static void expect(tuner *t, const floe_interp_structure *s)
{
    for (uint32_t l = 0; l < 2 && t->e->tally && t->nall < FLOE_INTERP_TRIALS; l++) {
        const floe_interp_structure part = part_of(t, s, l);
        add_structure(t, &part);
    }
}

static const floe_context_tally *tally_of(tuner *t, const floe_interp_structure *s)
{
    const uint32_t i = add_structure(t, s);
    if (i >= t->ndone) {
        if (t->e->tally)
            t->e->tally(t->e->user, t->nboxes, &t->structures[t->ndone], t->nall - t->ndone, t->tallies[t->ndone]);
        else
            floe_interp_trial_tally(t->e, t->trial, t->nboxes, s, t->tallies[i]);
        t->ndone = t->nall;
    }
    return t->tallies[i];
}

/* The plan of the field that boxes are of. */
static void plan_field(const tuner *t, const floe_interp_structure *s, floe_interp_plan *whole)
{
    const floe_codec_boxes *boxes = t->e->boxes;
    uint64_t shape[FLOE_LATTICE_RANK];
    if (!boxes || !floe_lattice_shape_of(boxes->rank, boxes->shape, t->e->chunk.turns, shape))
        memcpy(shape, t->e->chunk.plan.shape, sizeof shape);
    floe_interp_plan_of(shape, s, whole);
}

/* The boxes' share of the field's anchors. */
static uint64_t count_anchors(const tuner *t, const floe_interp_structure *s)
{
    floe_interp_plan whole;
    plan_field(t, s, &whole);
    return floe_lattice_points(floe_interp_anchors_shape(&whole)) * t->nboxes *
           floe_lattice_points(t->trial->chunk.plan.shape) / floe_lattice_points(whole.shape);
}

/* Bits of all boxes, in 1/4096. Anchors of a box would mostly be codes of the field: all but the field's own count as one of the
 * coarsest step. A sample that is small beside the symbols that occur makes their entropy look too small. */
static uint64_t try_structure(tuner *t, const floe_interp_structure *s)
{
    uint64_t sum = 0;
    floe_interp_trial_plan(t->e, s, t->trial);
    floe_interp_trial_sums(t);
    const floe_interp_plan *p = &t->trial->chunk.plan;
    if (p->nsteps == 0)
        return 0;
    const floe_lattice_step top = p->steps[p->nsteps - 1].step; /* before the trial gets plans of other structures */
    for (uint32_t l = 0; l < t->nlevels; l++) {
        const floe_interp_structure part = part_of(t, s, l);
        const floe_context_tally *tally = &t->tally[l];
        t->tally[l] = tally_of(t, &part)[l];
        t->bits[l] = tally->entropy + ((tally->raw + tally->used * USED_BITS) << 12);
        sum += t->bits[l];
    }
    const uint64_t all = floe_lattice_points(top.coarse) * t->nboxes, raw = floe_min64(count_anchors(t, s), all);
    return sum + t->bits[t->nlevels - 1] / (floe_lattice_codes(&top) * t->nboxes) * (all - raw) +
           (uint64_t)((double)(raw * 8 * t->e->size << 12) / t->e->share);
}

/* Takes s in place of best where that spares an n-th of the bits. */
static bool keep_worth(tuner *t, const floe_interp_structure *s, floe_interp_structure *best, uint64_t *bits,
                       uint64_t nth)
{
    const uint64_t n = try_structure(t, s);
    if (n + *bits / nth >= *bits)
        return false;
    *bits = n;
    *best = *s;
    return true;
}

/* Of the last trial, as if one in two of the longest codes was cut. */
static uint64_t literal_bits(const tuner *t)
{
    uint64_t n = 0;
    for (uint32_t l = 0; l < t->nlevels; l++)
        n += t->tally[l].longest;
    return n * t->e->size * 4 << 12;
}

/* A code that is cut leaves a value of its lattice wrong, and spoils what is predicted from it. So levels end before the first one
 * with many such codes, in the last trial. */
static uint32_t good_levels(const tuner *t, uint32_t levels)
{
    for (uint32_t l = FLOE_INTERP_LEAST; l < t->nlevels && l < levels; l++) {
        const floe_context_tally *tally = &t->tally[l];
        if (tally->raw > (l == FLOE_INTERP_LEAST ? MOST_RAW_LEAST : MOST_RAW) * tally->ncodes &&
            tally->longest * LONGEST > tally->ncodes)
            return l;
    }
    return levels;
}

/* Returns bits as try_structure does. */
static uint64_t try_levels(tuner *t, floe_interp_structure *s)
{
    floe_interp_structure fewer = *s;
    uint64_t bits = try_structure(t, s);
    fewer.levels = good_levels(t, s->levels);
    if (fewer.levels < t->nlevels) {
        const uint64_t most = bits + bits / ANCHORS_WORTH + literal_bits(t), n = try_structure(t, &fewer);
        if (n + literal_bits(t) < most) {
            *s = fewer;
            bits = n;
        }
    }
    return bits;
}

static void expect_predictors(tuner *t, const floe_interp_structure *best)
{
    floe_interp_structure s = *best;
    for (uint8_t p = 0; p < FLOE_INTERP_PREDICTORS; p++) {
        memset(s.predictor, p, sizeof s.predictor);
        s.window[0] = t->first.window[0];
        expect(t, &s);
        s.window[0] = 1;
        expect(t, &s);
    }
}

/* That all axes begin with level 0 after all; or that this one begins later still. */
static void expect_starts(tuner *t, const floe_interp_structure *best, uint32_t axis, uint8_t start)
{
    for (uint32_t a = axis; a < FLOE_LATTICE_RANK; a++) {
        floe_interp_structure s = *best;
        s.start[a] = a == axis || start == 0 ? start + 1 : start;
        if (t->e->chunk.plan.shape[a] > FLOE_LATTICE_ENDS && s.start[a] <= FLOE_INTERP_NEVER)
            expect(t, &s);
    }
    expect_predictors(t, best);
}

/* Where prediction along one axis helps, and along each of the others it does nothing on the mean: those begin later together. Returns
 * whether they do. */
static bool tune_others(tuner *t, floe_interp_structure *best, uint64_t *bits)
{
    const uint64_t *n = t->e->chunk.plan.shape, before = *bits;
    uint64_t most = 0, sum = 0;
    uint32_t axis = 0, naxes = 0;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        floe_interp_structure s = *best;
        s.start[a] = 1;
        const uint64_t alone = n[a] > FLOE_LATTICE_ENDS ? try_structure(t, &s) : 0;
        naxes += alone > 0;
        sum += alone;
        axis = alone > most ? a : axis;
        most = floe_max64(most, alone);
    }
    bool better = naxes > 2 && sum - most <= (naxes - 1) * *bits;
    for (uint8_t start = 1; better && start <= FLOE_INTERP_NEVER; start++) {
        floe_interp_structure s = *best;
        for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
            s.start[a] = a != axis && n[a] > FLOE_LATTICE_ENDS ? start : 0;
        better = keep_worth(t, &s, best, bits, OTHERS_WORTH);
    }
    return *bits < before;
}

/* With which axis to begin: the slowest one; of four, whose boxes are short, the one that spares most where it alone begins later. */
static uint32_t first_axis(tuner *t, const floe_interp_structure *best)
{
    const uint64_t *n = t->e->chunk.plan.shape;
    uint64_t least = UINT64_MAX;
    uint32_t first = 0;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK && n[0] > FLOE_LATTICE_ENDS; a++) {
        floe_interp_structure s = *best;
        s.start[a] = s.start[a] ? s.start[a] : 1;
        const uint64_t bits = n[a] > FLOE_LATTICE_ENDS ? try_structure(t, &s) : UINT64_MAX;
        first = bits < least ? a : first;
        least = floe_min64(bits, least);
    }
    return first;
}

/* Axes along which prediction hurts begin later, or never; all those at the same level. */
static void tune_each(tuner *t, floe_interp_structure *best, uint64_t *bits)
{
    const uint64_t *n = t->e->chunk.plan.shape;
    uint8_t late = 0;
    const uint32_t first = first_axis(t, best);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        late = best->start[a] ? best->start[a] : late;
    for (uint32_t i = 0; i < FLOE_LATTICE_RANK; i++) {
        const uint32_t a = i == 0 ? first : i <= first ? i - 1 : i;
        uint32_t others = 0;
        for (uint32_t b = 0; b < FLOE_LATTICE_RANK; b++)
            others += b != a && n[b] > FLOE_LATTICE_ENDS && best->start[b] == 0;
        bool better = n[a] > FLOE_LATTICE_ENDS && others > 0;
        for (uint8_t start = late ? late : 1; better && start <= (late ? late : FLOE_INTERP_NEVER); start++) {
            floe_interp_structure s = *best;
            s.start[a] = start;
            better = keep_worth(t, &s, best, bits, floe_interp_is_best(t->e) ? WORTH : STARTS_WORTH);
            if (better && !late)
                expect_starts(t, best, a, start);
        }
        if (!late && best->start[a] && best->start[a] < FLOE_INTERP_NEVER) {
            floe_interp_structure s = *best; /* it may hurt at all levels, and more at later ones */
            s.start[a] = FLOE_INTERP_NEVER;
            keep_worth(t, &s, best, bits, WORTH);
        }
        late = best->start[a] ? best->start[a] : late;
    }
}

static void tune_starts(tuner *t, floe_interp_structure *best, uint64_t *bits)
{
    floe_interp_structure others = *best;
    uint64_t others_bits = *bits;
    if (tune_others(t, &others, &others_bits))
        tune_each(t, &others, &others_bits);
    tune_each(t, best, bits);
    if (others_bits < *bits) {
        *best = others;
        *bits = others_bits;
    }
}

/* Levels of a box that are not mostly border. */
static uint32_t trusted_levels(const tuner *t)
{
    uint64_t side = 0;
    uint32_t n = 1;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        side = floe_max64(side, t->trial->chunk.plan.shape[a]);
    while (n < t->nlevels && side >> (n + 1) >= TRUSTED_CELLS)
        n++;
    return n;
}

enum { WIDER, NARROWER, BOUNDS }; /* of coarse levels */
static const double bounds[BOUNDS][2] = {[WIDER] = {1.1, 2}, [NARROWER] = {1.5, 3}};

static floe_interp_structure with_bounds(const floe_interp_structure *of, uint32_t i)
{
    floe_interp_structure s = *of;
    s.alpha = bounds[i][0];
    s.beta = bounds[i][1];
    return s;
}

static void expect_more(tuner *t, const floe_interp_structure *best)
{
    for (uint32_t mean = 0; mean < 2; mean++) {
        floe_interp_structure s = *best;
        s.mean = mean;
        expect(t, &s);
        s.planes = true;
        expect(t, &s);
        s.planes = false;
        for (uint32_t i = 0; i < BOUNDS; i++) {
            const floe_interp_structure other = with_bounds(&s, i);
            expect(t, &other);
        }
    }
}

/* One predictor for all levels, or each level by the one that takes the fewest bits there; coarser ones than can be trusted, as the
 * coarsest of these. */
static void tune_predictors(tuner *t, floe_interp_structure *best, uint64_t *bits)
{
    uint64_t least[FLOE_INTERP_LEVELS];
    floe_interp_structure s = *best, mixed = *best;
    for (uint8_t p = 0; p < FLOE_INTERP_PREDICTORS; p++) {
        memset(s.predictor, p, sizeof s.predictor);
        keep_worth(t, &s, best, bits, WORTH);
        const uint32_t trusted = trusted_levels(t);
        for (uint32_t l = 0; l < FLOE_INTERP_LEVELS; l++) {
            const uint32_t of = l < trusted ? l : trusted - 1;
            if (p == 0 || t->bits[of] < least[l]) {
                least[l] = t->bits[of];
                mixed.predictor[l] = p;
            }
        }
    }
    if (floe_interp_is_best(t->e)) { /* what comes next is tried beside it, whichever of both is kept */
        expect(t, &mixed);
        expect_more(t, &mixed);
        expect_more(t, best);
    }
    keep_worth(t, &mixed, best, bits, WORTH);
}

/* What preset best has beyond the others. A field of one plane makes short entropy chunks with contexts of planes, whose states count. */
static void tune_more(tuner *t, floe_interp_structure *best, uint64_t *bits)
{
    const uint64_t nplanes = t->e->chunk.plan.shape[0] * t->e->chunk.plan.shape[1];
    floe_interp_structure s = *best;
    expect_more(t, best);
    s.mean = true;
    keep_worth(t, &s, best, bits, WORTH);
    s = with_bounds(best, WIDER);
    const uint64_t wider = try_structure(t, &s);
    if (!keep_worth(t, &s, best, bits, BOUNDS_WORTH) && wider >= *bits) { /* narrower ones do not pay where these do */
        s = with_bounds(best, NARROWER);
        keep_worth(t, &s, best, bits, BOUNDS_WORTH);
    }
    s = *best;
    s.planes = true;
    const uint64_t with = try_structure(t, &s);
    if (nplanes > 1 ? with < *bits + *bits / PLANES_WORTH /* a box has few planes: more is gained than it shows */
                    : with + t->sums[0].nrecords * (FLOE_INTERP_STATE_BITS << 12) / FLOE_RECORDS_PLANE_ROWS < *bits)
        *best = s;
}

static void begin(tuner *t, encoder *e, encoder *trial, uint64_t nboxes)
{
    memset(t, 0, offsetof(tuner, structures)); /* which are large */
    t->e = e;
    t->trial = trial;
    t->nboxes = nboxes;
    t->first = floe_interp_structure_default();
    t->first.window[0] = floe_interp_is_best(e) ? 1 : t->first.window[0];
}

/* Returns the bits of what it begins with, which becomes the best. */
static uint64_t tune_begin(tuner *t, floe_interp_structure *best)
{
    *best = t->first;
    expect(t, best);
    if (t->e->params->preset != FLOE_PRESET_FAST)
        expect_starts(t, best, 0, 0);
    return try_levels(t, best);
}

enum { WAYS = 2 + FLOE_LATTICE_RANK };

/* All levels, with axes that begin late as in best, or that never begin then, or with one axis alone that never begins. False where the
 * field has no such axis. */
static bool all_levels(const tuner *t, const floe_interp_structure *best, uint32_t way, floe_interp_structure *s)
{
    *s = way < 2 ? *best : t->first;
    s->levels = t->first.levels;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        if ((way == 1 && s->start[a]) || a + 2 == way)
            s->start[a] = FLOE_INTERP_NEVER;
    return way < 2 || t->e->chunk.plan.shape[way - 2] > FLOE_LATTICE_ENDS;
}

/* Levels that were cut while all axes began with level 0 may be worth having where axes begin later. */
static void tune_levels(tuner *t, floe_interp_structure *best, uint64_t *bits)
{
    const floe_interp_structure before = *best;
    floe_interp_structure s;
    uint32_t naxes = 0;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        naxes += t->e->chunk.plan.shape[a] > FLOE_LATTICE_ENDS;
    if (best->levels >= t->first.levels || naxes < 2)
        return;
    for (uint32_t way = 0; way < WAYS; way++)
        if (all_levels(t, &before, way, &s))
            expect(t, &s);
    uint64_t least = try_structure(t, best) + literal_bits(t);
    for (uint32_t way = 0; way < WAYS; way++) {
        if (!all_levels(t, &before, way, &s))
            continue;
        uint64_t some = try_structure(t, &s);
        s.levels = good_levels(t, s.levels);
        if (s.levels <= before.levels)
            continue;
        some = s.levels < t->nlevels ? try_structure(t, &s) : some;
        const bool clean = literal_bits(t) <= some / LONGEST; /* what is spoiled shows in a box only where it begins */
        if (clean && some + literal_bits(t) < least - least / LEVELS_WORTH) {
            least = some + literal_bits(t);
            *best = s;
            *bits = some;
        }
    }
}

/* What presets but fast do. */
static void tune_structure(tuner *t, floe_interp_structure *best, uint64_t bits)
{
    tune_starts(t, best, &bits);
    tune_levels(t, best, &bits);
    tune_predictors(t, best, &bits);
    floe_interp_structure s = *best;
    s.window[0] = 1;
    if (try_structure(t, &s) + bits / SHORT_WORTH < bits)
        *best = s;
    if (floe_interp_is_best(t->e))
        tune_more(t, best, &bits);
}

static uint64_t begin_field(tuner *t, encoder *e, encoder *trial)
{
    begin(t, e, trial, floe_interp_trial_count(e, trial->chunk.plan.shape));
    if (!e->tally || !floe_interp_trial_looks(e)) /* who tallies looks */
        floe_interp_trial_place(e, trial->chunk.plan.shape, t->nboxes);
    return tune_begin(t, &e->structure);
}

static void tune(encoder *e, encoder *trial)
{
    const bool fast = e->params->preset == FLOE_PRESET_FAST;
    tuner t;
    if (e->attempt != FLOE_INTERP_USUAL)
        floe_interp_trial_enlarge(e, trial);
    uint64_t bits = begin_field(&t, e, trial);
    if (t.nlevels == 0)
        return;
    if (!fast && bits < (uint64_t)FEW_BITS << 12 && floe_interp_trial_enlarge(e, trial))
        bits = begin_field(&t, e, trial);
    if (!fast)
        tune_structure(&t, &e->structure, bits);
    try_structure(&t, &e->structure);
    floe_interp_tune_coding(&t, &e->structure);
}

/* ---- of a field --------------------------------------------------------------------------------------------------------- */

void floe_interp_choose(encoder *e, encoder *trial)
{
    floe_interp_domain_set(e);
    e->bound = floe_codec_tuner_bound(e->params);
    tune(e, trial);
    if (e->attempt == FLOE_INTERP_CAUTIOUS)
        floe_interp_be_cautious(&e->structure);
    e->bound = floe_codec_domain_bound(e->params);
    floe_interp_plan_of(e->chunk.plan.shape, &e->structure, &e->chunk.plan);
    floe_interp_plan_quantize(&e->chunk.plan, &e->structure, e->narrow, e->bound, e->max_abs);
}

/* ---- boxes for all ----------------------------------------------------------------------------------------------------- */

/* used: bits for each symbol that occurs. */
static double price_of(const tuner *t, uint32_t level, uint32_t used)
{
    const uint64_t ncodes = t->sums[level].ncodes;
    const floe_context_tally *tally = &t->tally[level];
    return ncodes ? ((double)tally->entropy / 4096 + (double)(tally->raw + used * tally->used)) / (double)ncodes : 0;
}

/* Whether the last trial had codes that give most values: steps are no smaller than the type can distinguish, nor than the least one, and
 * codes fit. */
static bool can_be_coded(const tuner *t)
{
    const double ulp = t->e->narrow ? 0x1p-24 : 0x1p-53;
    double codes = 0, raw = 0;
    for (uint32_t l = 0; l < t->nlevels; l++) {
        codes += (double)t->sums[l].ncodes;
        raw += (double)t->tally[l].raw;
    }
    return t->e->max_abs * ulp < t->e->bound / 2 && t->e->bound >= 4 * floe_lattice_least_step(t->e->narrow) &&
           raw <= MOST_RAW * codes;
}

/* How much of what a code of a level takes beyond one of the next finer level is the field's, too: the rest comes of the boxes' borders.
 * Few codes show nothing. A finer level that predicts along fewer axes says little of this one. */
static double trust_of(const tuner *t, uint32_t level)
{
    const floe_interp_level_sums *sums = &t->sums[level];
    if (sums->naxes > t->sums[level - 1].naxes)
        return 1;
    return sums->ncodes >= TRUSTED_CODES ? sums->inner / (double)sums->ncodes : 0;
}

/* Bits of a code of each level, if the whole field was as the boxes are. */
static void price_levels(const tuner *t, double price[FLOE_INTERP_LEVELS])
{
    price[0] = price_of(t, 0, USED_BITS);
    for (uint32_t l = 1; l < FLOE_INTERP_LEVELS; l++) {
        const uint32_t used = l > 1 ? 1 : USED_BITS; /* coarse levels of a field share tables */
        const double trust = trust_of(t, l);
        price[l] = price[l - 1] + (trust > 0 ? trust * (price_of(t, l, used) - price_of(t, l - 1, used)) : 0);
    }
}

/* Bits of a value of the field, coded by s. */
static double price(tuner *t, const floe_interp_structure *s)
{
    floe_interp_plan field;
    double bits, each[FLOE_INTERP_LEVELS];
    plan_field(t, s, &field);
    try_structure(t, s);
    price_levels(t, each);
    bits =
        8 * (double)(FLOE_INTERP_HEADER_NBYTES + floe_lattice_points(floe_interp_anchors_shape(&field)) * t->e->size);
    for (const floe_interp_coding *c = field.steps; c < field.steps + field.nsteps; c++)
        bits += 8 * (double)((c->level > 1 ? TABLES_NBYTES / 8 : TABLES_NBYTES) + 4 * c->grid.piece[2]) +
                each[c->level] * t->e->share * (double)floe_lattice_codes(&c->step);
    return bits / (double)floe_lattice_points(field.shape);
}

/* INFINITY where its trial shows that it cannot be coded: by all boxes, as a few of them may be unlike the rest. */
static double price_if(tuner *t, const floe_interp_structure *s)
{
    const double bits = price(t, s);
    return can_be_coded(t) ? bits : INFINITY;
}

double floe_interp_price(encoder *e, encoder *trial)
{
    tuner t;
    begin(&t, e, trial, e->boxes->n);
    floe_interp_structure best = t.first;
    try_levels(&t, &best);
    const double first = price_if(&t, &best);
    if (t.nlevels == 0 || first < e->boxes->enough)
        return first;
    begin(&t, e, trial, e->boxes->few);
    uint64_t bits = tune_begin(&t, &best);
    const floe_interp_structure begun = best;
    tune_starts(&t, &best, &bits);
    tune_levels(&t, &best, &bits);
    tune_predictors(&t, &best, &bits);
    memset(best.predictor, best.predictor[0], sizeof best.predictor); /* so that one trial of all boxes will do */
    if (is_same(&best, &begun))
        return first;
    begin(&t, e, trial, e->boxes->n);
    return fmin(price_if(&t, &best), first); /* few boxes show which structure is best, but not by how much */
}
