/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The primitives on threads, each of which takes pieces of the elements.
 *
 * Sort goes by digits of 8 bits from the lowest on, each pass stable. In a pass every thread counts the digits of a stretch of
 * the elements; a scan of the counts, digits first and stretches second, shows where each stretch puts its elements of each
 * digit. Passes where all elements have the same digit are left out.
 */
#include "prim/prim_math.h"

enum { PIECE = 1 << 16 };

/* ---- max and scan -------------------------------------------------------------------------------------------------- */

typedef struct pieces {
    const floe_prim_job *job;
    uint64_t *words; /* of each piece: its largest element; or its sum, then the sum before it */
} pieces;

/* Combines all elements of a piece. */
static void piece_task(void *arg, uint64_t piece, uint32_t worker)
{
    const floe_prim_job *job = ((const pieces *)arg)->job;
    const bool wide = floe_prim_is_wide(job->type), sums = job->call == FLOE_PRIM_SCAN;
    const uint64_t begin = piece * PIECE, end = floe_min64(begin + PIECE, job->n);
    uint64_t word = 0;
    (void)worker;
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t x = floe_prim_get(wide, job->in, i);
        word = sums ? word + x : floe_max64(word, x);
    }
    ((const pieces *)arg)->words[piece] = word;
}

static void scan_task(void *arg, uint64_t piece, uint32_t worker)
{
    const floe_prim_job *job = ((const pieces *)arg)->job;
    const bool wide = floe_prim_is_wide(job->type), inclusive = job->inclusive;
    const uint64_t begin = piece * PIECE, end = floe_min64(begin + PIECE, job->n);
    uint64_t sum = ((const pieces *)arg)->words[piece], *out = job->out;
    (void)worker;
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t before = sum;
        sum += floe_prim_get(wide, job->in, i);
        out[i] = inclusive ? sum : before;
    }
}

static void combine(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena)
{
    const uint64_t npieces = floe_ceil_div(job->n, PIECE);
    pieces p = {job, floe_arena_take(arena, npieces, sizeof *p.words)};
    uint64_t word = 0;
    if (job->sizing)
        return;
    floe_cpu_parallel(cpu, npieces, piece_task, &p);
    if (job->call == FLOE_PRIM_MAX) {
        for (uint64_t i = 0; i < npieces; i++)
            word = floe_max64(word, p.words[i]);
        floe_prim_set(floe_prim_is_wide(job->type), job->out, 0, word);
        return;
    }
    for (uint64_t i = 0; i < npieces; i++) {
        const uint64_t here = p.words[i];
        p.words[i] = word;
        word += here;
    }
    floe_cpu_parallel(cpu, npieces, scan_task, &p);
}

/* ---- sort ---------------------------------------------------------------------------------------------------------- */

enum { DIGITS = FLOE_PRIM_DIGITS, LEAST_STRETCH = 1 << 14 };

typedef struct sorting {
    bool wide, is_float, moves; /* moves: else counts */
    const void *from;
    void *to;
    uint64_t n, length; /* elements, and of a stretch */
    uint32_t shift;
    uint64_t *places; /* DIGITS for each stretch: counts, then the place of the next element */
} sorting;

FLOE_HD void stretch_count(bool wide, sorting s, uint64_t begin, uint64_t end, uint64_t *counts)
{
    memset(counts, 0, DIGITS * sizeof *counts);
    for (uint64_t i = begin; i < end; i++)
        counts[floe_prim_digit(wide, s.is_float, floe_prim_get(wide, s.from, i), s.shift)]++;
}

FLOE_HD void stretch_move(bool wide, sorting s, uint64_t begin, uint64_t end, uint64_t *places)
{
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t x = floe_prim_get(wide, s.from, i);
        floe_prim_set(wide, s.to, places[floe_prim_digit(wide, s.is_float, x, s.shift)]++, x);
    }
}

static void stretch_task(void *arg, uint64_t stretch, uint32_t worker)
{
    const sorting *s = arg;
    const uint64_t begin = stretch * s->length, end = floe_min64(begin + s->length, s->n);
    uint64_t *places = s->places + stretch * DIGITS;
    (void)worker;
    if (s->moves)
        s->wide ? stretch_move(true, *s, begin, end, places) : stretch_move(false, *s, begin, end, places);
    else
        s->wide ? stretch_count(true, *s, begin, end, places) : stretch_count(false, *s, begin, end, places);
}

/* Counts to places; false when one digit has all elements. */
static bool places_scan(uint64_t *places, uint64_t nstretches, uint64_t n)
{
    uint64_t at = 0;
    for (uint32_t d = 0; d < DIGITS; d++) {
        const uint64_t before = at;
        for (uint64_t i = 0; i < nstretches; i++) {
            const uint64_t here = places[i * DIGITS + d];
            places[i * DIGITS + d] = at;
            at += here;
        }
        if (at - before == n)
            return false;
    }
    return true;
}

static void sort(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena)
{
    const uint64_t n = job->n, nbytes = floe_prim_nbytes(job->type);
    const uint64_t nstretches = floe_max64(1, floe_min64(cpu->threads, n / LEAST_STRETCH));
    void *scratch = floe_arena_take(arena, n, nbytes);
    sorting s = {.wide = floe_prim_is_wide(job->type),
                 .is_float = floe_prim_is_float(job->type),
                 .from = job->in,
                 .to = scratch,
                 .n = n,
                 .length = floe_ceil_div(n, nstretches),
                 .places = floe_arena_take(arena, nstretches * DIGITS, sizeof(uint64_t))};
    if (job->sizing || n == 0)
        return;
    for (; s.shift < 8 * nbytes; s.shift += FLOE_PRIM_DIGIT_BITS) {
        s.moves = false;
        floe_cpu_parallel(cpu, nstretches, stretch_task, &s);
        if (!places_scan(s.places, nstretches, n))
            continue;
        s.moves = true;
        floe_cpu_parallel(cpu, nstretches, stretch_task, &s);
        s.from = s.to;
        s.to = s.from == scratch ? job->out : scratch;
    }
    if (s.from != job->out)
        memcpy(job->out, s.from, n * nbytes);
}

void floe_prim_run_host(const floe_prim_job *job, const floe_cpu *cpu, floe_arena *arena)
{
    if (job->call == FLOE_PRIM_SORT)
        sort(job, cpu, arena);
    else
        combine(job, cpu, arena);
}
