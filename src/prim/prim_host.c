/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The primitives on threads. Work is cut by the number of elements where the order counts (tiles, prim_math.h), else into a
 * piece for each thread. Loops are compiled for each element type: a constant that is handed to a FLOE_HD function reaches
 * its loop, and tables choose at run time.
 */
#include "prim/prim_job.h"

#define FOR_TYPES(X) X(U32) X(I32) X(F32) X(U64) X(I64) X(F64) /* in the order of floe_prim_type */

enum { TILES_A_TASK = 32 };

/* ---- reduce ------------------------------------------------------------------------------------------------------ */

FLOE_HD uint64_t tile_reduce(floe_prim_type t, floe_prim_op op, const void *in, uint64_t begin, uint64_t n)
{
    const bool wide = floe_prim_is_wide(t);
    uint64_t lane[FLOE_PRIM_LANES] = {0}, i = 0;
    for (; i + FLOE_PRIM_LANES <= n; i += FLOE_PRIM_LANES)
        for (uint32_t l = 0; l < FLOE_PRIM_LANES; l++)
            lane[l] = floe_prim_join(t, op, lane[l], floe_prim_word(t, op, floe_prim_get(wide, in, begin + i + l)));
    for (uint32_t l = 0; i + l < n; l++)
        lane[l] = floe_prim_join(t, op, lane[l], floe_prim_word(t, op, floe_prim_get(wide, in, begin + i + l)));
    for (uint32_t d = FLOE_PRIM_LANES / 2; d > 0; d /= 2)
        for (uint32_t l = 0; l < d; l++)
            lane[l] = floe_prim_join(t, op, lane[l], lane[l + d]);
    return lane[0];
}

typedef uint64_t (*tile_reduce_fn)(const void *in, uint64_t begin, uint64_t n);
#define TILE_REDUCE(T, OP)                                                      \
    static uint64_t tile_##OP##_##T(const void *in, uint64_t begin, uint64_t n) \
    {                                                                           \
        return tile_reduce(FLOE_PRIM_##T, FLOE_PRIM_##OP, in, begin, n);        \
    }
#define TILE_REDUCES(T) TILE_REDUCE(T, SUM) TILE_REDUCE(T, MIN) TILE_REDUCE(T, MAX)
FOR_TYPES(TILE_REDUCES)
#define TILE_REDUCE_ROW(T) {tile_SUM_##T, tile_MIN_##T, tile_MAX_##T},
static const tile_reduce_fn tile_reduces[6][3] = {FOR_TYPES(TILE_REDUCE_ROW)};

typedef struct tiles {
    tile_reduce_fn reduce;
    const void *in;
    uint64_t n, *words; /* of all tiles */
} tiles;

static void reduce_task(void *arg, uint64_t task, uint32_t worker)
{
    const tiles *t = arg;
    uint64_t end = floe_min64((task + 1) * TILES_A_TASK, floe_ceil_div(t->n, FLOE_PRIM_TILE));
    (void)worker;
    for (uint64_t i = task * TILES_A_TASK; i < end; i++)
        t->words[i] = t->reduce(t->in, i * FLOE_PRIM_TILE, floe_min64(t->n - i * FLOE_PRIM_TILE, FLOE_PRIM_TILE));
}

static void tiles_reduce(const floe_cpu *cpu, floe_prim_type t, floe_prim_op op, const void *in, uint64_t n,
                         uint64_t *words)
{
    tiles arg = {tile_reduces[t][op], in, n, words};
    floe_cpu_parallel(cpu, floe_ceil_div(n, (uint64_t)TILES_A_TASK * FLOE_PRIM_TILE), reduce_task, &arg);
}

/* Rounds, until one word is left. Words are elements too: sums of the wide type, keys of U64. */
static void reduce(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena)
{
    const floe_prim_op op = job->op == FLOE_PRIM_SUM ? FLOE_PRIM_SUM : FLOE_PRIM_MAX;
    const floe_prim_type word_type = op == FLOE_PRIM_SUM ? floe_prim_widened(job->type) : FLOE_PRIM_U64;
    uint64_t n = floe_ceil_div(job->n, FLOE_PRIM_TILE), none = 0;
    uint64_t *words = floe_arena_take(arena, n, sizeof *words);
    uint64_t *next = floe_arena_take(arena, floe_ceil_div(n, FLOE_PRIM_TILE), sizeof *words);
    if (job->sizing)
        return;
    tiles_reduce(cpu, job->type, job->op, job->in, job->n, words);
    while (n > 1) {
        uint64_t *from = words;
        tiles_reduce(cpu, word_type, op, from, n, next);
        n = floe_ceil_div(n, FLOE_PRIM_TILE);
        words = next;
        next = from;
    }
    floe_prim_store_result(job->type, job->op, *(n ? words : &none), job->out);
}

/* ---- scan -------------------------------------------------------------------------------------------------------- */

/* A tile, whose sums begin with word: P, or the bits of a double. */
typedef struct tile {
    const void *in;
    void *out;
    uint64_t begin, n, word;
} tile;

FLOE_HD void tile_scan_integers(floe_prim_type t, floe_prim_type to, bool inclusive, tile s)
{
    for (uint64_t i = s.begin; i < s.begin + s.n; i++) {
        uint64_t before = s.word;
        s.word += floe_prim_word(t, FLOE_PRIM_SUM, floe_prim_get(floe_prim_is_wide(t), s.in, i));
        floe_prim_set(floe_prim_is_wide(to), s.out, i, inclusive ? s.word : before);
    }
}

FLOE_HD double float_at(floe_prim_type t, const void *in, uint64_t i)
{
    return floe_f64_of(floe_prim_word(t, FLOE_PRIM_SUM, floe_prim_get(floe_prim_is_wide(t), in, i)));
}

/* Where the lines of a row start, relative to it: end[0] = 0, end[l + 1] the sum up to line l; all by the order of
 * prim_math.h. */
FLOE_HD void row_lines(floe_prim_type t, const void *in, uint64_t begin, uint64_t n, double end[FLOE_PRIM_LANES + 1])
{
    double *s = end + 1;
    end[0] = 0;
    for (uint32_t l = 0; l < FLOE_PRIM_LANES; l++) {
        s[l] = 0;
        for (uint64_t i = l * FLOE_PRIM_LINE; i < floe_min64(n, (l + 1) * FLOE_PRIM_LINE); i++)
            s[l] += float_at(t, in, begin + i);
    }
    for (uint32_t d = 1; d < FLOE_PRIM_LANES; d *= 2)
        for (uint32_t l = FLOE_PRIM_LANES - 1; l >= d; l--) /* downward: s[l - d] is still the old one */
            s[l] = s[l] + s[l - d];
}

FLOE_HD void tile_scan_floats(floe_prim_type t, floe_prim_type to, bool inclusive, tile s)
{
    const double start = floe_f64_of(s.word);
    double end[FLOE_PRIM_LANES + 1], rows = 0;
    for (uint64_t row = 0; row < s.n; row += FLOE_PRIM_ROW) {
        row_lines(t, s.in, s.begin + row, floe_min64(s.n - row, FLOE_PRIM_ROW), end);
        for (uint64_t i = row; i < floe_min64(s.n, row + FLOE_PRIM_ROW); i += FLOE_PRIM_LINE) {
            double sum = start + (rows + end[(i - row) / FLOE_PRIM_LINE]);
            for (uint64_t k = i; k < floe_min64(s.n, i + FLOE_PRIM_LINE); k++) {
                double before = sum;
                sum += float_at(t, s.in, s.begin + k);
                floe_prim_set(floe_prim_is_wide(to), s.out, s.begin + k,
                              floe_prim_sum_bits(to, floe_bits_f64(inclusive ? sum : before)));
            }
        }
        rows += end[FLOE_PRIM_LANES];
    }
}

typedef void (*tile_scan_fn)(bool inclusive, tile s);
#define TILE_SCAN(T, TO)                                                   \
    static void scan_##T##_##TO(bool inclusive, tile s)                    \
    {                                                                      \
        if (floe_prim_is_float(FLOE_PRIM_##T))                             \
            tile_scan_floats(FLOE_PRIM_##T, FLOE_PRIM_##TO, inclusive, s); \
        else if (inclusive)                                                \
            tile_scan_integers(FLOE_PRIM_##T, FLOE_PRIM_##TO, true, s);    \
        else                                                               \
            tile_scan_integers(FLOE_PRIM_##T, FLOE_PRIM_##TO, false, s);   \
    }
TILE_SCAN(U32, U32)
TILE_SCAN(U32, U64)
TILE_SCAN(I32, I64)
TILE_SCAN(F32, F32)
TILE_SCAN(F32, F64)
TILE_SCAN(U64, U64)
TILE_SCAN(F64, F64)
/* To the narrow and to the wide type. Signed and unsigned are the same where nothing is widened. */
static const tile_scan_fn tile_scans[6][2] = {{scan_U32_U32, scan_U32_U64}, {scan_U32_U32, scan_I32_I64},
                                              {scan_F32_F32, scan_F32_F64}, {NULL, scan_U64_U64},
                                              {NULL, scan_U64_U64},         {NULL, scan_F64_F64}};

typedef struct scan {
    tile_scan_fn run;
    bool inclusive;
    const void *in;
    void *out;
    uint64_t n;
    const uint64_t *starts; /* P of all tiles; NULL: there is one */
} scan;

static void scan_task(void *arg, uint64_t task, uint32_t worker)
{
    const scan *s = arg;
    uint64_t end = floe_min64((task + 1) * TILES_A_TASK, floe_ceil_div(s->n, FLOE_PRIM_TILE));
    (void)worker;
    for (uint64_t i = task * TILES_A_TASK; i < end; i++) {
        uint64_t begin = i * FLOE_PRIM_TILE;
        s->run(s->inclusive,
               (tile){s->in, s->out, begin, floe_min64(s->n - begin, FLOE_PRIM_TILE), s->starts ? s->starts[i] : 0});
    }
}

static void scan_run(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena)
{
    const uint64_t ntiles = floe_ceil_div(job->n, FLOE_PRIM_TILE);
    uint64_t *starts = NULL;
    if (ntiles > 1) {
        starts = floe_arena_take(arena, ntiles, sizeof *starts);
        floe_prim_type wide = floe_prim_widened(job->type);
        floe_prim_job totals = {.sizing = job->sizing,
                                .type = wide,
                                .scan_kind = FLOE_PRIM_EXCLUSIVE,
                                .in = starts,
                                .n = ntiles,
                                .out_type = wide,
                                .out = starts};
        if (!job->sizing)
            tiles_reduce(cpu, job->type, FLOE_PRIM_SUM, job->in, job->n, starts);
        scan_run(&totals, cpu, arena);
    }
    if (job->sizing)
        return;
    scan arg = {.run = tile_scans[job->type][floe_prim_is_wide(job->out_type)],
                .inclusive = job->scan_kind == FLOE_PRIM_INCLUSIVE,
                .in = job->in,
                .out = job->out,
                .n = job->n,
                .starts = starts};
    floe_cpu_parallel(cpu, floe_ceil_div(job->n, (uint64_t)TILES_A_TASK * FLOE_PRIM_TILE), scan_task, &arg);
}

/* ---- counting: histogram, and the digits of select --------------------------------------------------------------- */

/* Each slot counts a stretch of the elements in bins of its own, which are then added. */
typedef struct slots {
    uint64_t count, length; /* slots, elements of each */
    uint64_t nbins;
    uint32_t *bins; /* slot after slot */
} slots;

static slots slots_take(floe_arena *arena, const floe_cpu *cpu, uint64_t n, uint64_t nbins)
{
    const uint64_t most = UINT64_C(1) << 31; /* elements of a slot: its bins have 32 bits */
    slots s = {.nbins = nbins};
    /* No more slots than make adding their bins cheap beside counting. */
    s.count = floe_max64(floe_min64(cpu->threads, 1 + n / (4 * nbins)), floe_ceil_div(n, most));
    s.length = floe_ceil_div(n, s.count);
    s.bins = floe_arena_take(arena, s.count * nbins, sizeof *s.bins);
    return s;
}

static uint32_t *slot_clear(const slots *s, uint64_t slot)
{
    uint32_t *bins = s->bins + slot * s->nbins;
    memset(bins, 0, s->nbins * sizeof *bins);
    return bins;
}

static uint64_t slots_sum(const slots *s, uint64_t bin)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < s->count; i++)
        sum += s->bins[i * s->nbins + bin];
    return sum;
}

typedef struct histogram {
    slots slots; /* the last bin is for keys outside */
    const uint32_t *keys;
    const floe_prim_job *job;
} histogram;

static void histogram_count_task(void *arg, uint64_t slot, uint32_t worker)
{
    const histogram *h = arg;
    uint32_t *bins = slot_clear(&h->slots, slot), nbins = h->job->nbins;
    uint64_t begin = slot * h->slots.length, end = floe_min64(begin + h->slots.length, h->job->n);
    (void)worker;
    for (uint64_t i = begin; i < end; i++)
        bins[h->keys[i] < nbins ? h->keys[i] : nbins]++;
}

enum { BINS_A_TASK = 4096 };
static void histogram_sum_task(void *arg, uint64_t task, uint32_t worker)
{
    const histogram *h = arg;
    uint64_t end = floe_min64((task + 1) * BINS_A_TASK, h->job->nbins);
    (void)worker;
    for (uint64_t b = task * BINS_A_TASK; b < end; b++)
        floe_prim_set(floe_prim_is_wide(h->job->out_type), h->job->out, b, slots_sum(&h->slots, b));
}

static void histogram_run(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena)
{
    histogram h = {slots_take(arena, cpu, job->n, (uint64_t)job->nbins + 1), job->in, job};
    if (job->sizing)
        return;
    floe_cpu_parallel(cpu, h.slots.count, histogram_count_task, &h);
    floe_cpu_parallel(cpu, floe_ceil_div(job->nbins, BINS_A_TASK), histogram_sum_task, &h);
    *job->count = slots_sum(&h.slots, job->nbins);
}

/* ---- select ------------------------------------------------------------------------------------------------------ */

typedef struct digits {
    slots slots;
    const void *in;
    uint64_t n;
    uint64_t known;       /* of the key wanted: its bits from `shift + bits` on */
    uint32_t shift, bits; /* of the digit that is counted */
    void (*count)(const struct digits *d, uint64_t begin, uint64_t end, uint32_t *bins);
} digits;

FLOE_HD void digits_count(floe_prim_type t, bool magnitude, const digits *d, uint64_t begin, uint64_t end,
                          uint32_t *bins)
{
    const uint64_t known = d->known;
    const uint32_t shift = d->shift, bits = d->bits, mask = (1u << bits) - 1;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t key = floe_prim_key(t, magnitude, floe_prim_get(floe_prim_is_wide(t), d->in, i)) >> shift;
        if (key >> bits == known)
            bins[key & mask]++;
    }
}
#define DIGITS_COUNT(T)                                                                            \
    static void count_##T(const digits *d, uint64_t begin, uint64_t end, uint32_t *bins)           \
    {                                                                                              \
        digits_count(FLOE_PRIM_##T, false, d, begin, end, bins);                                   \
    }                                                                                              \
    static void count_magnitude_##T(const digits *d, uint64_t begin, uint64_t end, uint32_t *bins) \
    {                                                                                              \
        digits_count(FLOE_PRIM_##T, true, d, begin, end, bins);                                    \
    }
FOR_TYPES(DIGITS_COUNT)
#define DIGITS_COUNT_ROW(T) {count_##T, count_magnitude_##T},
static void (*const digits_counts[6][2])(const digits *, uint64_t, uint64_t,
                                         uint32_t *) = {FOR_TYPES(DIGITS_COUNT_ROW)};

static void digits_task(void *arg, uint64_t slot, uint32_t worker)
{
    const digits *d = arg;
    uint64_t begin = slot * d->slots.length;
    (void)worker;
    d->count(d, begin, floe_min64(begin + d->slots.length, d->n), slot_clear(&d->slots, slot));
}

static void select_run(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena)
{
    digits d = {.slots = slots_take(arena, cpu, job->n, FLOE_PRIM_SELECT_DIGITS),
                .in = job->in,
                .n = job->n,
                .shift = 8 * floe_prim_nbytes(job->type),
                .count = digits_counts[job->type][job->magnitude]};
    uint64_t k = job->k;
    if (job->sizing)
        return;
    while (d.shift > 0) {
        d.bits = d.shift < FLOE_PRIM_SELECT_BITS ? d.shift : FLOE_PRIM_SELECT_BITS;
        d.shift -= d.bits;
        floe_cpu_parallel(cpu, d.slots.count, digits_task, &d);
        uint64_t digit = 0, here;
        for (; k >= (here = slots_sum(&d.slots, digit)); digit++)
            k -= here;
        d.known = d.known << d.bits | digit;
    }
    floe_prim_set(floe_prim_is_wide(job->type), job->out, 0, floe_prim_unkey(job->type, job->magnitude, d.known));
}

/* ---- compact ----------------------------------------------------------------------------------------------------- */

enum { COMPACT_PIECE = 1 << 16 };

typedef struct compaction {
    const floe_prim_job *job;
    uint64_t *places; /* counts of all pieces, then where they start, and where the last one ends */
    void (*place)(const floe_prim_job *job, uint64_t begin, uint64_t at, uint64_t end);
    uint64_t (*count)(const floe_prim_job *job, uint64_t begin, uint64_t end);
} compaction;

FLOE_HD uint64_t kept_count(floe_prim_type t, const floe_prim_job *job, uint64_t begin, uint64_t end)
{
    const floe_prim_keep keep = job->keep;
    uint64_t count = 0;
    for (uint64_t i = begin; i < end; i++)
        count += floe_prim_keeps(t, job->in, keep, i);
    return count;
}
/* Writes each element, and goes on only past one that is kept; stops at the last, since beyond it lie the next piece's. */
FLOE_HD void kept_place(floe_prim_type t, const floe_prim_job *job, uint64_t i, uint64_t at, uint64_t end)
{
    const bool wide = floe_prim_is_wide(t);
    const floe_prim_job j = *job;
    for (; at < end; i++) {
        if (j.out)
            floe_prim_set(wide, j.out, at, floe_prim_get(wide, j.in, i));
        if (j.index)
            j.index[at] = i;
        at += floe_prim_keeps(t, j.in, j.keep, i);
    }
}
#define KEPT(T)                                                                                     \
    static uint64_t kept_count_##T(const floe_prim_job *job, uint64_t begin, uint64_t end)          \
    {                                                                                               \
        return kept_count(FLOE_PRIM_##T, job, begin, end);                                          \
    }                                                                                               \
    static void kept_place_##T(const floe_prim_job *job, uint64_t begin, uint64_t at, uint64_t end) \
    {                                                                                               \
        kept_place(FLOE_PRIM_##T, job, begin, at, end);                                             \
    }
FOR_TYPES(KEPT)
#define KEPT_COUNT(T) kept_count_##T,
#define KEPT_PLACE(T) kept_place_##T,
static uint64_t (*const kept_counts[6])(const floe_prim_job *, uint64_t, uint64_t) = {FOR_TYPES(KEPT_COUNT)};
static void (*const kept_places[6])(const floe_prim_job *, uint64_t, uint64_t, uint64_t) = {FOR_TYPES(KEPT_PLACE)};

static void count_task(void *arg, uint64_t piece, uint32_t worker)
{
    const compaction *c = arg;
    uint64_t begin = piece * COMPACT_PIECE;
    (void)worker;
    c->places[piece] = c->count(c->job, begin, floe_min64(begin + COMPACT_PIECE, c->job->n));
}

static void place_task(void *arg, uint64_t piece, uint32_t worker)
{
    const compaction *c = arg;
    (void)worker;
    c->place(c->job, piece * COMPACT_PIECE, c->places[piece], c->places[piece + 1]);
}

static void compact_run(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena)
{
    uint64_t npieces = floe_ceil_div(job->n, COMPACT_PIECE), at = 0;
    compaction c = {job, floe_arena_take(arena, npieces + 1, sizeof(uint64_t)), kept_places[job->type],
                    kept_counts[job->type]};
    if (job->sizing)
        return;
    floe_cpu_parallel(cpu, npieces, count_task, &c);
    for (uint64_t i = 0; i <= npieces; i++) {
        uint64_t here = i < npieces ? c.places[i] : 0;
        c.places[i] = at;
        at += here;
    }
    floe_cpu_parallel(cpu, npieces, place_task, &c);
    *job->count = at;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

void floe_prim_run_host(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena)
{
    static void (*const runs[FLOE_PRIM_CALLS])(const floe_prim_job *, const floe_cpu *, floe_arena *) = {
        [FLOE_PRIM_REDUCE] = reduce,       [FLOE_PRIM_SCAN] = scan_run,     [FLOE_PRIM_HISTOGRAM] = histogram_run,
        [FLOE_PRIM_COMPACT] = compact_run, [FLOE_PRIM_SELECT] = select_run, [FLOE_PRIM_SORT] = floe_prim_sort_host};
    runs[job->call](job, cpu, arena);
}
