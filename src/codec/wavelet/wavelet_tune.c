/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tuner: a box of the array is coded with one structure after another, there and back, and what takes the fewest bits is kept,
 * corrections among them. Bits are entropies of the contexts, in whole numbers, so that the choice is the same wherever it is made.
 */
#include <string.h>

#include "codec/wavelet/wavelet_encoder.h"

typedef floe_wavelet_encoder encoder;

enum {
    BOX_CELLS = 1 << 19,
    BOX_CELLS_BEST = 1 << 22,
    BOX_SHARE = 2,     /* values of the field for one of the box */
    SHORT_AXIS = 128,  /* the slowest axis is cut last, if it has no more points */
    LITERAL_BITS = 16, /* beside the value itself */
    FIRST_COARSE = 12, /* in eighths of octaves, 2.8 bounds; up to 22 */
    MEAN_COARSE = 0,   /* where the mean counts: few values miss the bound then */
    LEAST_COARSE = 4,
    MOST_COARSE = 44,
    PACKETS = 3,
    FEW_CELLS = 4096 /* of a field that is not worth more trials */,
    TRIED = 128 /* that are remembered */
};

typedef struct tried {
    floe_wavelet_structure structure;
    uint64_t bits;
} tried;

/* guesses: what will be tried next, as far as that is known, if nothing better is found meanwhile. */
typedef struct tuner {
    encoder *e;
    const floe_wavelet_trials *trials;
    uint64_t bits; /* of the best one */
    uint32_t ntried, nguesses;
    tried tried[TRIED];
    floe_wavelet_structure guesses[FLOE_WAVELET_TRIALS];
} tuner;

static bool is_best(const encoder *e) { return e->params->preset == FLOE_PRESET_BEST; }

/* The longest axis is halved, but for the slowest one, until the box is small enough. */
void floe_wavelet_trial_shape(const encoder *e, uint64_t part[FLOE_INTERP_RANK])
{
    const uint64_t *shape = e->chunk.plan.shape;
    const uint64_t share = is_best(e) ? 1 : BOX_SHARE, limit = is_best(e) ? BOX_CELLS_BEST : BOX_CELLS;
    const uint64_t most = floe_max64(floe_min64(e->ncells / share, limit), BOX_CELLS / 8);
    const uint32_t slowest = floe_wavelet_slowest(shape);
    memcpy(part, shape, FLOE_INTERP_RANK * sizeof *part);
    while (floe_interp_points(part) > most) {
        uint32_t longest = FLOE_INTERP_RANK - 1;
        for (uint32_t a = FLOE_INTERP_RANK - 1; a-- > 0;)
            if (part[a] > part[longest] && (a != slowest || part[a] > SHORT_AXIS))
                longest = a;
        part[longest] = (part[longest] + 1) / 2;
    }
}

/* A row of the box from element `at` of a row of the array on. */
static void copy_row(const encoder *e, encoder *trial, uint64_t row, uint64_t from, uint64_t at)
{
    const uint64_t n = trial->chunk.plan.shape[3], wide = e->chunk.plan.shape[3];
    const int8_t *kinds = e->marks[FLOE_WAVELET_VALUE_KINDS] + from * e->row;
    memcpy(trial->kept + row * n * e->size, e->bands.array + (from * wide + at) * e->size, n * e->size);
    for (uint64_t x = 0; x < n; x++)
        if (kinds[floe_wavelet_mark(at + x)] == FLOE_WAVELET_LITERAL)
            trial->holes[row * trial->row + floe_wavelet_mark(x)] = FLOE_WAVELET_LITERAL;
}

/* From the middle of the array. */
void floe_wavelet_trial_at(const encoder *e, const encoder *trial, uint64_t lo[FLOE_INTERP_RANK])
{
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++)
        lo[a] = (e->chunk.plan.shape[a] - trial->chunk.plan.shape[a]) / 2;
}

static void copy_box(const encoder *e, encoder *trial)
{
    const uint64_t *shape = e->chunk.plan.shape, *n = trial->chunk.plan.shape;
    uint64_t lo[FLOE_INTERP_RANK], at[FLOE_INTERP_RANK] = {0}, row = 0;
    floe_wavelet_trial_at(e, trial, lo);
    memset(trial->holes, 0, trial->nmarks);
    for (at[0] = lo[0]; at[0] < lo[0] + n[0]; at[0]++)
        for (at[1] = lo[1]; at[1] < lo[1] + n[1]; at[1]++)
            for (at[2] = lo[2]; at[2] < lo[2] + n[2]; at[2]++, row++)
                copy_row(e, trial, row, (at[0] * shape[1] + at[1]) * shape[2] + at[2], lo[3]);
}

/* ---- a trial ----------------------------------------------------------------------------------------------------------- */

uint64_t floe_wavelet_trial_bits(const encoder *e, uint64_t nliterals)
{
    const uint64_t nanchors = floe_interp_points(floe_wavelet_anchors(&e->chunk.plan));
    return nliterals * (8 * e->size + LITERAL_BITS) + nanchors * e->chunk.anchors.nbits;
}

static void try_structures(void *trial, const floe_wavelet_structure *s, uint32_t n, uint64_t *all)
{
    encoder *e = trial;
    (void)n; /* 1 */
    *all = UINT64_MAX;
    floe_wavelet_plan_make(e, s);
    memcpy(e->bands.array, e->kept, e->ncells * e->size);
    floe_wavelet_array_forward(e);
    if (!floe_wavelet_array_code(e))
        return;
    memcpy(e->marks[FLOE_WAVELET_VALUE_KINDS], e->holes, e->nmarks);
    floe_wavelet_array_check(e);
    uint64_t bits = floe_wavelet_trial_bits(e, floe_wavelet_found_gather(e)->nliterals) +
                    floe_wavelet_marks_bits(e, FLOE_WAVELET_CORRECTIONS);
    for (uint32_t i = 0; i < e->chunk.plan.nsteps; i++) {
        const floe_interp_records r = floe_wavelet_records_of(e, i);
        bits += floe_wavelet_records_bits(&e->entropy, &r, e->counts, &e->listed[i]);
    }
    *all = bits;
}

static bool is_same(const floe_wavelet_structure *a, const floe_wavelet_structure *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static const tried *tried_of(const tuner *t, const floe_wavelet_structure *s)
{
    for (uint32_t i = 0; i < t->ntried; i++)
        if (is_same(&t->tried[i].structure, s))
            return &t->tried[i];
    return NULL;
}

/* Unless as many are guessed as are tried at once. */
static void guess(tuner *t, const floe_wavelet_structure *s)
{
    if (t->nguesses == t->trials->at_once || tried_of(t, s))
        return;
    for (uint32_t i = 0; i < t->nguesses; i++)
        if (is_same(&t->guesses[i], s))
            return;
    t->guesses[t->nguesses++] = *s;
}

/* In the first place, whatever is left out for it. */
static void guess_first(tuner *t, const floe_wavelet_structure *s)
{
    uint32_t at = 0;
    while (at < t->nguesses && !is_same(&t->guesses[at], s))
        at++;
    if (at == t->nguesses && t->nguesses < t->trials->at_once)
        t->nguesses++;
    at = at < t->nguesses ? at : t->nguesses - 1;
    t->guesses[at] = t->guesses[0];
    t->guesses[0] = *s;
}

/* Tries the guesses, too, where it has not been tried. */
static uint64_t bits_of(tuner *t, const floe_wavelet_structure *s)
{
    const tried *known = tried_of(t, s);
    uint64_t bits[FLOE_WAVELET_TRIALS];
    if (known)
        return known->bits;
    guess_first(t, s);
    t->trials->try(t->trials->user, t->guesses, t->nguesses, bits);
    for (uint32_t i = 0; i < t->nguesses && t->ntried < TRIED; i++)
        t->tried[t->ntried++] = (tried){t->guesses[i], bits[i]};
    t->nguesses = 0;
    return bits[0];
}

static bool keep_better(tuner *t, const floe_wavelet_structure *s)
{
    const uint64_t bits = bits_of(t, s);
    if (bits >= t->bits)
        return false;
    t->bits = bits;
    t->e->structure = *s;
    t->nguesses = 0;
    return true;
}

/* ---- what is tried ----------------------------------------------------------------------------------------------------- */

/* The structure but for one of its parts, of which there are no more than VARIANTS. False where there is no such structure. */
typedef bool variant_fn(const tuner *t, uint32_t number, floe_wavelet_structure *s);
enum { VARIANTS = 4 };

/* From this one on. */
static void guess_variants(tuner *t, variant_fn *variant, uint32_t number)
{
    floe_wavelet_structure s;
    for (; number < VARIANTS; number++)
        if (variant(t, number, &s))
            guess(t, &s);
}

/* The packet has so many levels; none: the slowest axis is frozen. */
static bool slowest_of(const tuner *t, uint32_t levels, floe_wavelet_structure *s)
{
    const uint64_t *shape = t->e->chunk.plan.shape;
    const uint32_t slowest = floe_wavelet_slowest(shape);
    *s = t->e->structure;
    s->frozen = levels ? 0 : 1u << slowest;
    s->packet = levels;
    return slowest < FLOE_INTERP_RANK - 1 && levels <= PACKETS && (shape[slowest] >> levels) > (levels > 0);
}

static void tune_slowest(tuner *t)
{
    floe_wavelet_structure s;
    guess_variants(t, slowest_of, 0);
    for (uint32_t levels = 0; slowest_of(t, levels, &s); levels++)
        keep_better(t, &s);
}

/* By so many eighths of an octave. */
static bool coarse_of(const tuner *t, int32_t by, floe_wavelet_structure *s)
{
    *s = t->e->structure;
    s->coarse += by;
    return s->coarse <= MOST_COARSE && s->coarse >= LEAST_COARSE;
}

/* By that, and by up to so many times as much. */
static void guess_coarse(tuner *t, int32_t by, int32_t times)
{
    floe_wavelet_structure s;
    for (int32_t k = 1; k <= times; k++)
        if (coarse_of(t, k * by, &s))
            guess(t, &s);
}

/* Up and down. */
static void guess_around(tuner *t, int32_t by)
{
    guess_coarse(t, by, 2);
    guess_coarse(t, -by, 2);
}

/* Up or down. */
static void tune_coarse(tuner *t, int32_t by)
{
    guess_around(t, by);
    for (int32_t sign = 1; sign >= -1; sign -= 2) {
        bool better = false, again = true;
        while (again) {
            floe_wavelet_structure s;
            if (better) /* it may go on */
                guess_coarse(t, sign * by, FLOE_WAVELET_TRIALS);
            again = coarse_of(t, sign * by, &s) && keep_better(t, &s);
            better = better || again;
        }
        if (better)
            return;
    }
}

static bool ends_of(const tuner *t, uint32_t axis, floe_wavelet_structure *s)
{
    *s = t->e->structure;
    s->one_sided ^= 1u << axis;
    return t->e->chunk.plan.shape[axis] > 1;
}

static bool bank_of(const tuner *t, uint32_t i, floe_wavelet_structure *s)
{
    /* short ones are for peaks */
    static const floe_wavelet_bank banks[] = {FLOE_WAVELET_53, FLOE_WAVELET_DD84, FLOE_WAVELET_DD44, FLOE_WAVELET_97};
    if (i >= (is_best(t->e) ? sizeof banks / sizeof *banks : 1))
        return false;
    *s = t->e->structure;
    s->bank = banks[i];
    s->one_sided = floe_wavelet_interpolates(s->bank) ? s->one_sided : 0;
    return true;
}

static void guess_theta(tuner *t, uint32_t least)
{
    floe_wavelet_structure s = t->e->structure;
    if (s.theta <= least)
        return;
    s.theta--;
    guess(t, &s);
    s.coarse -= 2;
    guess(t, &s);
}

/* Finer steps may come along each time. */
static void tune_theta(tuner *t, uint32_t least)
{
    bool better = true;
    while (better && t->e->structure.theta > least) {
        floe_wavelet_structure s = t->e->structure;
        guess_theta(t, least);
        guess_variants(t, ends_of, 0);
        guess_variants(t, bank_of, 0);
        s.theta--;
        better = keep_better(t, &s);
        s.coarse -= 2;
        better = keep_better(t, &s) || better;
    }
}

static void tune_ends(tuner *t)
{
    floe_wavelet_structure s;
    for (uint32_t a = 0; a < FLOE_INTERP_RANK; a++) {
        guess_variants(t, ends_of, a);
        guess_variants(t, bank_of, 0);
        guess_around(t, 2);
        if (ends_of(t, a, &s))
            keep_better(t, &s);
    }
}

static void tune_banks(tuner *t)
{
    floe_wavelet_structure s;
    for (uint32_t i = 0; bank_of(t, i, &s); i++) {
        guess_variants(t, bank_of, 0);
        guess_around(t, 2);
        keep_better(t, &s);
    }
}

void floe_wavelet_search(encoder *e, const floe_wavelet_trials *trials)
{
    tuner t = {.e = e, .trials = trials, .bits = UINT64_MAX};
    const bool mean = e->params->mean; /* which other steps would change */
    const bool fast = e->params->preset == FLOE_PRESET_FAST, ends = fast || e->ncells < FEW_CELLS;
    const uint32_t least = is_best(e) ? 7 : 8;
    e->structure =
        (floe_wavelet_structure){.bank = FLOE_WAVELET_DD66, .theta = 10, .coarse = mean ? MEAN_COARSE : FIRST_COARSE};
    if (!fast)
        guess_variants(&t, slowest_of, 0);
    else
        guess_around(&t, 4);
    keep_better(&t, &e->structure);
    if (!fast)
        tune_slowest(&t);
    if (!mean) {
        guess_around(&t, 4);
        if (!ends)
            guess_around(&t, 2);
        tune_coarse(&t, 4);
    }
    if (ends)
        return;
    if (!mean) {
        guess_around(&t, 2);
        guess_theta(&t, least);
        guess_variants(&t, ends_of, 0);
        tune_coarse(&t, 2);
        tune_theta(&t, least);
    }
    tune_ends(&t);
    tune_banks(&t);
    if (is_best(e))
        tune_slowest(&t);
    if (!mean)
        tune_coarse(&t, 2);
}

/* Its values are those of the array, so that errors are absolute. */
void floe_wavelet_trial_begin(const encoder *e, encoder *trial, floe_codec_params *params, void *kept)
{
    *params = *e->params;
    params->mode = FLOE_BOUND_ABS;
    params->bound = e->bound;
    trial->params = params;
    trial->bound = e->bound;
    trial->max_abs = e->max_abs;
    trial->values = floe_interp_view_lattice(kept, trial->chunk.plan.shape);
}

void floe_wavelet_tune(encoder *e, encoder *trial)
{
    floe_codec_params params;
    floe_wavelet_trial_begin(e, trial, &params, trial->kept);
    copy_box(e, trial);
    const floe_wavelet_trials trials = {try_structures, trial, 1};
    floe_wavelet_search(e, &trials);
}
