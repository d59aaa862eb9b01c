/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tuner: a box of the array is coded with some structures at a time, there and back, and what takes the fewest bits is kept,
 * corrections among them. Ends and banks are chosen by codes alone, since they change how many values miss the bound but little. Bits are
 * entropies of the contexts, in whole numbers, so that the choice is the same wherever it is made.
 */
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"

typedef floe_wavelet_encoder encoder;

enum {
    FEW_BITS = 2, /* a small box shows too little if its codes have less than a bit for so many values */
    FEW_BITS_BEST = 16,
    FIRST_COARSE = 12, /* steps of 2.8 bounds; _COARSE are eighths of octaves */
    MEAN_COARSE = 0,   /* where the mean error counts: then few values miss the bound */
    LEAST_COARSE = 4,
    MOST_COARSE = 44,
    COARSE_APART = 4, /* from one trial of steps to the next */
    COARSE_NEAR = 6,  /* a parabola through trials counts so far from the best one */
    COARSE_LEAP = 28, /* tried first where codes have so many bits a value: corrections may then spare most of them */
    LEAP_BITS = 5,
    LEAST_THETA = 8,
    LEAST_THETA_BEST = 7,
    PACKETS = 3, /* levels of a packet that are tried first */
    PACKETS_FAST = 1,
    BORDER_WORTH = 8, /* an axis that the box cuts is frozen for one of so many bits */
    ROUND = 12        /* trials, at most */
};

typedef struct tuner {
    const encoder *e;
    const floe_wavelet_trials *trials;
    floe_wavelet_trial best;
    uint32_t cut;    /* bit a: the box is shorter than the field along axis a, which is not the slowest */
    uint64_t ncells; /* of the box */
    uint32_t n;      /* trials of the round */
    floe_wavelet_trial round[ROUND];
} tuner;

/* ---- rounds ------------------------------------------------------------------------------------------------------------ */

static void add(tuner *t, const floe_wavelet_structure *s, bool all)
{
    t->round[t->n++] = (floe_wavelet_trial){*s, all, UINT64_MAX, UINT64_MAX};
}

static void try_round(tuner *t)
{
    if (t->n)
        t->trials->try(t->trials->user, t->round, t->n);
}

/* The bits that a trial must stay below to be better than the best one. A box has more border than the field, which a frozen axis spares. */
static uint64_t limit_of(const tuner *t, const floe_wavelet_structure *s)
{
    const bool spares = s->frozen & t->cut & ~t->best.structure.frozen;
    return t->best.bits - (spares ? t->best.bits / BORDER_WORTH : 0);
}

/* Of all that was tried with its corrections what is best, if it is better. */
static bool keep_better(tuner *t)
{
    const uint64_t before = t->best.bits;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->round[i].all && t->round[i].bits < limit_of(t, &t->round[i].structure))
            t->best = t->round[i];
    t->n = 0;
    return t->best.bits < before;
}

/* ---- axes frozen, and packets -------------------------------------------------------------------------------------------------- */

/* The packet has so many levels; none: the slowest axis is frozen. */
static void add_slowest(tuner *t, uint32_t levels)
{
    const uint64_t *shape = t->e->chunk.plan.shape;
    const uint32_t slowest = floe_lattice_slowest(shape);
    floe_wavelet_structure s = t->best.structure;
    s.frozen = levels ? 0 : 1u << slowest;
    s.packet = levels;
    if (slowest < FLOE_LATTICE_RANK - 1 && levels <= PACKETS && (shape[slowest] >> levels) > (levels > 0))
        add(t, &s, true);
}

/* Rough axes are frozen: others than the slowest one alone, then all together. */
static void add_rough(tuner *t)
{
    const uint32_t rough = t->e->rough, slowest = floe_lattice_slowest(t->e->chunk.plan.shape);
    floe_wavelet_structure s = t->best.structure;
    for (uint32_t a = slowest + 1; a < FLOE_LATTICE_RANK; a++) {
        s.frozen = rough & 1u << a;
        if (s.frozen)
            add(t, &s, true);
    }
    s.frozen = rough;
    if (rough & (rough - 1))
        add(t, &s, true);
}

/* ---- steps ------------------------------------------------------------------------------------------------------------- */

/* Of steps so many eighths of an octave larger. */
static void add_coarse(tuner *t, int32_t by)
{
    floe_wavelet_structure s = t->best.structure;
    s.coarse += by;
    if (s.coarse <= MOST_COARSE && s.coarse >= LEAST_COARSE)
        add(t, &s, true);
}

/* The round's trial of them. */
static floe_wavelet_trial find_coarse(const tuner *t, int32_t by)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->round[i].all && t->round[i].structure.coarse == t->best.structure.coarse + by)
            return t->round[i];
    return (floe_wavelet_trial){.bits = UINT64_MAX};
}

/* Where a parabola through the best trial and those beside it has its least, from the best one on; false where it has none near by. */
static bool find_vertex(const tuner *t, const floe_wavelet_trial *below, const floe_wavelet_trial *above, int32_t *by)
{
    const int64_t left = (int64_t)(below->bits - t->best.bits), right = (int64_t)(above->bits - t->best.bits),
                  sum = left + right, twice = COARSE_APART * (left - right),
                  near = floe_wavelet_is_best(t->e) ? COARSE_APART / 2 : COARSE_NEAR;
    *by = 0;
    if (below->bits == UINT64_MAX || above->bits == UINT64_MAX || sum <= 0 || twice > 2 * near * sum ||
        twice < -2 * near * sum)
        return false;
    *by = (int32_t)((twice + (twice < 0 ? -sum : sum)) / (2 * sum));
    return true;
}

/* Goes on by COARSE_APART until such a parabola shows more. Returns what it shows, from the best one on. */
static int32_t tune_coarse(tuner *t)
{
    floe_wavelet_trial below = find_coarse(t, -COARSE_APART), above = find_coarse(t, COARSE_APART);
    const floe_wavelet_trial leap = find_coarse(t, COARSE_LEAP);
    int32_t by;
    if (leap.bits < t->best.bits && leap.bits < below.bits && leap.bits < above.bits) {
        t->best = leap;
        t->n = 0;
        add_coarse(t, -COARSE_APART);
        add_coarse(t, COARSE_APART);
        try_round(t);
        below = find_coarse(t, -COARSE_APART);
        above = find_coarse(t, COARSE_APART);
    }
    while (!find_vertex(t, &below, &above, &by) && (below.bits < t->best.bits || above.bits < t->best.bits)) {
        const bool up = above.bits < t->best.bits;
        const floe_wavelet_trial before = t->best;
        t->best = up ? above : below;
        t->n = 0;
        add_coarse(t, up ? COARSE_APART : -COARSE_APART);
        try_round(t);
        below = up ? before : find_coarse(t, -COARSE_APART);
        above = up ? find_coarse(t, COARSE_APART) : before;
    }
    const int32_t begun = t->best.structure.coarse;
    const floe_wavelet_trial *least = below.bits < above.bits ? &below : &above;
    if (least->bits < t->best.bits)
        t->best = *least;
    t->n = 0;
    return begun + by - t->best.structure.coarse;
}

/* ---- ends and banks ---------------------------------------------------------------------------------------------------- */

/* Short banks are for peaks. */
static void add_ends(tuner *t)
{
    static const floe_wavelet_bank banks[] = {FLOE_WAVELET_53, FLOE_WAVELET_DD84, FLOE_WAVELET_DD44, FLOE_WAVELET_97};
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        floe_wavelet_structure s = t->best.structure;
        s.one_sided ^= 1u << a;
        if (t->e->chunk.plan.shape[a] > 1 && !(s.frozen >> a & 1) && floe_wavelet_interpolates(s.bank))
            add(t, &s, false);
    }
    for (uint32_t i = 0; i < (floe_wavelet_is_best(t->e) ? sizeof banks / sizeof *banks : 1); i++) {
        floe_wavelet_structure s = t->best.structure;
        s.bank = banks[i];
        s.one_sided = floe_wavelet_interpolates(s.bank) ? s.one_sided : 0;
        if (s.bank != t->best.structure.bank)
            add(t, &s, false);
    }
}

/* Of those the bank that takes the fewest bits of codes; else all ends that spare some, as each seems to do alone. */
static floe_wavelet_structure choose_ends(const tuner *t)
{
    floe_wavelet_structure s = t->best.structure;
    uint64_t codes = t->best.codes;
    for (uint32_t i = 0; i < t->n; i++) {
        const floe_wavelet_trial *r = &t->round[i];
        if (!r->all && r->structure.bank == s.bank && r->codes < t->best.codes) {
            s.one_sided ^= r->structure.one_sided ^ t->best.structure.one_sided;
            codes -= floe_min64(codes, t->best.codes - r->codes);
        }
    }
    for (uint32_t i = 0; i < t->n; i++) {
        const floe_wavelet_trial *r = &t->round[i];
        if (!r->all && r->structure.bank != t->best.structure.bank && r->codes < codes) {
            s = r->structure;
            codes = r->codes;
        }
    }
    return s;
}

/* ---- all of it --------------------------------------------------------------------------------------------------------- */

static void add_theta(tuner *t, const floe_wavelet_structure *of)
{
    floe_wavelet_structure s = *of;
    if (s.theta <= (floe_wavelet_is_best(t->e) ? LEAST_THETA_BEST : LEAST_THETA))
        return;
    s.theta--;
    add(t, &s, true);
    s.coarse -= 2;
    add(t, &s, true);
}

/* If all that is tried from now on has the transform of the best one. */
static void settle(const tuner *t)
{
    bool same = t->n > 0 && t->trials->settle && !floe_wavelet_is_best(t->e);
    for (uint32_t i = 0; i < t->n; i++)
        same = same && floe_wavelet_is_same_transform(&t->round[i].structure, &t->best.structure);
    if (same)
        t->trials->settle(t->trials->user, &t->best.structure);
}

/* What it begins with, and what the slowest axis and rough ones require. Returns whether codes have so many bits that a small box will do. */
static bool tune_begin(tuner *t)
{
    const floe_codec_params *params = t->e->params;
    const bool fast = params->preset == FLOE_PRESET_FAST;
    t->best = (floe_wavelet_trial){.all = true, .bits = UINT64_MAX};
    t->best.structure = (floe_wavelet_structure){.bank = FLOE_WAVELET_DD66, .theta = 10, .coarse = FIRST_COARSE};
    if (params->mean)
        t->best.structure.coarse = MEAN_COARSE;
    add(t, &t->best.structure, true);
    for (uint32_t levels = 0; levels <= (fast ? PACKETS_FAST : PACKETS); levels++)
        add_slowest(t, levels);
    if (!fast)
        add_rough(t);
    try_round(t);
    keep_better(t);
    return t->best.codes >= t->ncells / (floe_wavelet_is_best(t->e) ? FEW_BITS_BEST : FEW_BITS);
}

/* Steps, ends and banks together; then what comes of them, and what steps change. */
static void tune_rest(tuner *t)
{
    const bool mean = t->e->params->mean; /* which other steps would change */
    const bool more = t->e->params->preset != FLOE_PRESET_FAST && t->e->ncells >= FLOE_WAVELET_FEW_CELLS;
    const int32_t begun = t->best.structure.coarse;
    if (!mean) {
        add_coarse(t, -COARSE_APART);
        add_coarse(t, COARSE_APART);
        if (t->best.codes > LEAP_BITS * t->ncells)
            add_coarse(t, COARSE_LEAP);
    }
    if (more)
        add_ends(t);
    try_round(t);
    floe_wavelet_structure next = choose_ends(t);
    const int32_t by = tune_coarse(t), now = t->best.structure.coarse;
    next.coarse = now + by;
    if (memcmp(&next, &t->best.structure, sizeof next) != 0)
        add(t, &next, true);
    if (now != begun && next.packet)
        add_slowest(t, next.packet + 1);
    for (bool again = true; again;) {
        const uint32_t theta = next.theta;
        if (more && !mean)
            add_theta(t, &next);
        settle(t);
        try_round(t);
        again = keep_better(t) && t->best.structure.theta < theta && !t->e->even;
        next = t->best.structure;
    }
}

static void take_box(tuner *t, bool large)
{
    uint64_t part[FLOE_LATTICE_RANK];
    t->trials->begin(t->trials->user, large);
    floe_wavelet_trial_shape(t->e, large, part);
    t->ncells = floe_lattice_points(part);
    t->cut = 0;
    for (uint32_t a = floe_lattice_slowest(part) + 1; a < FLOE_LATTICE_RANK; a++)
        t->cut |= (uint32_t)(part[a] < t->e->chunk.plan.shape[a]) << a;
}

/* What a small box has shown, tuned by the large one. */
static void tune_large(tuner *t)
{
    const floe_wavelet_structure s = t->best.structure;
    take_box(t, true);
    t->best.bits = UINT64_MAX;
    add(t, &s, true);
    try_round(t);
    keep_better(t);
    tune_rest(t);
}

void floe_wavelet_search(encoder *e, const floe_wavelet_trials *trials)
{
    tuner t = {.e = e, .trials = trials};
    const bool is_small = floe_wavelet_is_small(e);
    bool large = !floe_wavelet_has_small(e);
    e->even = false;
    take_box(&t, large);
    e->even = is_small && !large && !e->uneven;
    if (!large && ((is_small && !e->even) || !tune_begin(&t))) {
        large = true;
        take_box(&t, large);
    }
    if (large)
        tune_begin(&t);
    tune_rest(&t);
    e->expected = (uint64_t)((double)t.best.codes * e->share) / t.ncells;
    if (floe_wavelet_is_best(e) && !large)
        tune_large(&t);
    e->structure = t.best.structure;
}
