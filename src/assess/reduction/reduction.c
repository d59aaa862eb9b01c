/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads take pieces in turn. A piece leaves its sums in its part; counts in bins are added up by each thread, for whole
 * numbers do not mind the order. */
#include "assess/reduction/reduction.h"

#include <math.h>
#include <string.h>

#include "assess/reduction/bins.h"
#include "assess/reduction/reduction_search.h"
#include "assess/reduction/reduction_sort.h"
#include "base/try.h"

enum { BYTE_TABLES = 4 }; /* neighbouring bytes count in different ones, so that none waits for the one before */

struct floe_reduction_worker {
    floe_pair_buffer buffer;
    floe_reduction_block block;
    floe_reduction_marks marks;
    floe_bins errors, values;
    uint64_t *ratio_count;
    uint64_t (*byte_count[2])[256];
};

static bool has(const floe_reduction *r, uint32_t part) { return r->options->parts & part; }

#define OPS(suffix)                                                                                           \
    (floe_reduction_ops)                                                                                      \
    {                                                                                                         \
        floe_reduction_add_##suffix, floe_reduction_mark_errors_##suffix, floe_reduction_mark_values_##suffix \
    }

static floe_reduction_ops ops_of(const floe_cpu *cpu, floe_dtype dtype)
{
#ifdef FLOE_HAVE_AVX2_BUILD
    if (cpu->isa == FLOE_ISA_AVX2)
        return dtype == FLOE_F32 ? OPS(f32_avx2) : OPS(f64_avx2);
#endif
    (void)cpu;
    return dtype == FLOE_F32 ? OPS(f32_plain) : OPS(f64_plain);
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

floe_status floe_reduction_init(floe_reduction *r, const floe_cpu *cpu, const floe_pair *pair,
                                const floe_reduction_options *options, floe_error *err)
{
    *r = (floe_reduction){.cpu = cpu, .pair = pair, .options = options, .dense = floe_pair_is_dense(pair)};
    r->nelems = floe_pair_nelems(pair);
    r->ops = ops_of(cpu, pair->dtype);
    r->piece = floe_reduction_piece_nelems(r->nelems);
    r->npieces = floe_ceil_div(r->nelems, r->piece);
    r->nworkers = pair->place == FLOE_HOST ? (uint32_t)floe_min64(cpu->threads, r->npieces) : 0;
    if (has(r, FLOE_REDUCTION_SORTED) && pair->place == FLOE_HOST)
        FLOE_TRY(floe_reduction_sort_nbytes(r, &r->sort_nbytes, err));
    return FLOE_OK;
}

static void bins_take(floe_bins *b, uint32_t capacity, uint32_t tables, floe_arena *arena)
{
    uint64_t *count = floe_arena_take(arena, (uint64_t)capacity * tables, sizeof *count);
    uint64_t *spare = floe_arena_take(arena, capacity, sizeof *spare);
    if (b)
        *b = (floe_bins){.capacity = capacity, .tables = tables, .count = count, .spare = spare};
}

static uint32_t ratio_nbins(const floe_reduction *r)
{
    return floe_log_bins_count(floe_log_bins_bits(r->options->bins));
}

/* w is NULL in a plan. */
static void worker_take(const floe_reduction *r, floe_reduction_worker *w, floe_arena *arena)
{
    if (has(r, FLOE_REDUCTION_PDFS)) {
        bins_take(w ? &w->errors : NULL, r->options->bins, 1, arena);
        uint64_t *count = floe_arena_take(arena, ratio_nbins(r) + 1, sizeof *count); /* the last: of no ratio */
        if (w)
            w->ratio_count = count;
    }
    if (has(r, FLOE_REDUCTION_VALUES))
        bins_take(w ? &w->values : NULL, r->options->value_bins, 2, arena);
    for (int side = 0; has(r, FLOE_REDUCTION_BYTES) && side < 2; side++) {
        void *count = floe_arena_take(arena, (uint64_t)BYTE_TABLES * 256, sizeof(uint64_t));
        if (w)
            w->byte_count[side] = count;
    }
}

/* Counts in bins lie one after another, as a GPU has them. */
static void counts_take(floe_reduction *r, floe_arena *arena)
{
    const uint64_t nerrors = has(r, FLOE_REDUCTION_PDFS) ? r->options->bins : 0, nratios = nerrors ? ratio_nbins(r) : 0;
    const uint64_t nvalues = has(r, FLOE_REDUCTION_VALUES) ? r->options->value_bins : 0;
    const uint64_t nbytes = has(r, FLOE_REDUCTION_BYTES) ? 256 : 0;
    uint64_t *count = floe_arena_take(arena, nerrors + nratios + 2 * nvalues + 2 * nbytes, sizeof *count);
    if (count) {
        r->error_count = count, r->ratio_count = count + nerrors;
        r->value_count[0] = r->ratio_count + nratios, r->value_count[1] = r->value_count[0] + nvalues;
        r->byte_count[0] = r->value_count[1] + nvalues, r->byte_count[1] = r->byte_count[0] + nbytes;
    }
}

void floe_reduction_take(floe_reduction *r, floe_arena *arena)
{
    if (r->pair->place == FLOE_HOST) {
        r->parts = floe_arena_take(arena, r->npieces, sizeof *r->parts);
        r->tree = floe_arena_take(arena, r->npieces, sizeof *r->tree);
        if (has(r, FLOE_REDUCTION_OUTSIDE))
            r->outside_count = floe_arena_take(arena, r->npieces, sizeof *r->outside_count);
    }
    r->workers = floe_arena_take(arena, r->nworkers, sizeof *r->workers);
    for (uint32_t i = 0; i < r->nworkers; i++)
        worker_take(r, r->workers ? &r->workers[i] : NULL, arena);
    counts_take(r, arena);
    r->worst = floe_arena_take(arena, FLOE_ASSESS_MAX_WORST, sizeof *r->worst);
    r->outside = floe_arena_take(arena, 1, sizeof *r->outside);
    r->mismatch = floe_arena_take(arena, 1, sizeof *r->mismatch);
    if (has(r, FLOE_REDUCTION_SORTED)) {
        for (int side = 0; side < 2; side++)
            r->sorted[side] = floe_arena_take(arena, r->nelems, r->pair->dtype == FLOE_F32 ? 4 : 8);
        r->sort_workspace = floe_arena_take(arena, r->sort_nbytes, 1);
    }
}

static void worker_clear(const floe_reduction *r, floe_reduction_worker *w)
{
    w->errors.frame.nbins = w->values.frame.nbins = 0;
    if (has(r, FLOE_REDUCTION_PDFS))
        memset(w->ratio_count, 0, (ratio_nbins(r) + 1) * sizeof(uint64_t));
    for (int side = 0; has(r, FLOE_REDUCTION_BYTES) && side < 2; side++)
        memset(w->byte_count[side], 0, BYTE_TABLES * sizeof *w->byte_count[side]);
}

/* ---- counts in bins ----------------------------------------------------------------------------------------------- */

/* The least and largest so far in this piece, of what the lanes keep as one top and another of the negative. */
static double top_of(const floe_reduction_lanes *l, int top)
{
    return fmax(fmax(l->top[top][0], l->top[top][1]), fmax(l->top[top][2], l->top[top][3]));
}

static void errors_count(const floe_reduction *r, floe_reduction_worker *w, const floe_reduction_lanes *l)
{
    const uint32_t nbits = floe_log_bins_bits(r->options->bins);
    floe_bins_cover(&w->errors, -top_of(l, FLOE_TOP_E_LOW), top_of(l, FLOE_TOP_E));
    r->ops.mark_errors(&w->block, &w->errors.frame, nbits, &w->marks);
    for (uint32_t i = 0; i < w->block.n; i++) {
        w->errors.count[w->marks.error[i]]++;
        w->ratio_count[w->marks.ratio[i]]++;
    }
}

static void values_count(const floe_reduction *r, floe_reduction_worker *w, const floe_reduction_lanes *l)
{
    const double low_x = -top_of(l, FLOE_TOP_X_LOW), low_y = -top_of(l, FLOE_TOP_Y_LOW);
    const double high_x = top_of(l, FLOE_TOP_X), high_y = top_of(l, FLOE_TOP_Y);
    uint64_t *x = w->values.count, *y = x + w->values.capacity;
    floe_bins_cover(&w->values, fmin(low_x, low_y), fmax(high_x, high_y));
    r->ops.mark_values(&w->block, &w->values.frame, &w->marks);
    for (uint32_t i = 0; i < w->block.n; i++) {
        x[w->marks.x[i]]++;
        y[w->marks.y[i]]++;
    }
}

static void bytes_count(const uint8_t *bytes, uint64_t nbytes, uint64_t (*count)[256])
{
    for (uint64_t i = 0; i < nbytes; i += BYTE_TABLES) /* a value has 4 or 8 */
        for (uint64_t t = 0; t < BYTE_TABLES; t++)
            count[t][bytes[i + t]]++;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------- */

static void lanes_init(floe_reduction_lanes *l)
{
    memset(l, 0, sizeof *l);
    for (int i = 0; i < FLOE_TOPS; i++)
        for (int k = 0; k < FLOE_REDUCTION_LANES; k++)
            l->top[i][k] = -INFINITY;
}

static void lanes_fold(const floe_reduction_lanes *l, floe_reduction_part *p)
{
    for (int i = 0; i < FLOE_SUMS; i++)
        p->sum[i] = (l->sum[i][0] + l->sum[i][1]) + (l->sum[i][2] + l->sum[i][3]);
    for (int i = 0; i < FLOE_TOPS; i++)
        p->top[i] = top_of(l, i);
    memcpy(p->count, l->count, sizeof p->count);
}

static void block_count(const floe_reduction *r, floe_reduction_worker *w, const floe_reduction_lanes *l, const void *x,
                        const void *y, uint32_t n)
{
    const uint64_t nbytes = (uint64_t)n * (r->pair->dtype == FLOE_F32 ? 4 : 8);
    if (has(r, FLOE_REDUCTION_BYTES)) {
        bytes_count(x, nbytes, w->byte_count[0]);
        bytes_count(y, nbytes, w->byte_count[1]);
    }
    if (w->block.n == 0)
        return;
    if (has(r, FLOE_REDUCTION_PDFS))
        errors_count(r, w, l);
    if (has(r, FLOE_REDUCTION_VALUES))
        values_count(r, w, l);
}

static void piece_run(void *arg, uint64_t k, uint32_t worker)
{
    const floe_reduction *r = arg;
    floe_reduction_worker *w = &r->workers[worker];
    const uint64_t end = floe_min64((k + 1) * r->piece, r->nelems);
    floe_reduction_lanes lanes;
    lanes_init(&lanes);
    for (uint64_t at = k * r->piece; at < end; at += FLOE_PAIR_BLOCK) {
        const uint32_t n = (uint32_t)floe_min64(FLOE_PAIR_BLOCK, end - at);
        const void *x, *y;
        floe_pair_read(r->pair, r->dense, at, n, &w->buffer, &x, &y);
        r->ops.add(x, y, n, &r->rule, &lanes, &w->block);
        block_count(r, w, &lanes, x, y, n);
    }
    lanes_fold(&lanes, &r->parts[k]);
}

/* ---- the pass ----------------------------------------------------------------------------------------------------- */

/* Neighbours first, then pairs of neighbours and so on. */
static void parts_join(const floe_reduction *r, floe_reduction_part *total)
{
    memcpy(r->tree, r->parts, r->npieces * sizeof *r->tree);
    for (uint64_t step = 1; step < r->npieces; step *= 2)
        for (uint64_t i = 0; i + step < r->npieces; i += 2 * step)
            floe_reduction_part_join(&r->tree[i], &r->tree[i + step]);
    *total = r->tree[0];
}

static void bins_collect(const floe_reduction *r, floe_reduction_result *result)
{
    const double *top = result->total.top;
    if (has(r, FLOE_REDUCTION_PDFS)) {
        result->error_frame = floe_bins_frame_of(-top[FLOE_TOP_E_LOW], top[FLOE_TOP_E], r->options->bins);
        memset(r->error_count, 0, r->options->bins * sizeof(uint64_t));
        memset(r->ratio_count, 0, ratio_nbins(r) * sizeof(uint64_t));
    }
    if (has(r, FLOE_REDUCTION_VALUES)) {
        result->value_frame = floe_bins_frame_of(fmin(-top[FLOE_TOP_X_LOW], -top[FLOE_TOP_Y_LOW]),
                                                 fmax(top[FLOE_TOP_X], top[FLOE_TOP_Y]), r->options->value_bins);
        for (int side = 0; side < 2; side++)
            memset(r->value_count[side], 0, r->options->value_bins * sizeof(uint64_t));
    }
    for (uint32_t i = 0; i < r->nworkers; i++) {
        const floe_reduction_worker *w = &r->workers[i];
        for (uint32_t b = 0; has(r, FLOE_REDUCTION_PDFS) && b < ratio_nbins(r); b++)
            r->ratio_count[b] += w->ratio_count[b];
        floe_bins_collect(&w->errors, 0, &result->error_frame, r->error_count);
        for (uint32_t side = 0; side < 2; side++)
            floe_bins_collect(&w->values, side, &result->value_frame, r->value_count[side]);
    }
}

static void bytes_collect(const floe_reduction *r)
{
    for (int side = 0; side < 2; side++)
        for (uint32_t b = 0; b < 256; b++) {
            uint64_t sum = 0;
            for (uint32_t i = 0; i < r->nworkers; i++)
                for (int t = 0; t < BYTE_TABLES; t++)
                    sum += r->workers[i].byte_count[side][t][b];
            r->byte_count[side][b] = sum;
        }
}

static void read_once(floe_reduction *r, floe_reduction_result *result)
{
    r->rule = (floe_reduction_rule){{result->pivot[0], result->pivot[1]}, r->pair->has_fill, r->pair->fill_bits};
    for (uint32_t i = 0; i < r->nworkers; i++)
        worker_clear(r, &r->workers[i]);
    floe_cpu_parallel(r->cpu, r->npieces, piece_run, r);
    parts_join(r, &result->total);
}

void floe_reduction_result_init(const floe_reduction *r, floe_reduction_result *result)
{
    *result = (floe_reduction_result){.ratio_nbits = floe_log_bins_bits(r->options->bins),
                                      .error_count = r->error_count,
                                      .ratio_count = r->ratio_count,
                                      .value_count = {r->value_count[0], r->value_count[1]},
                                      .byte_count = {r->byte_count[0], r->byte_count[1]}};
}

floe_status floe_reduction_run(floe_reduction *r, floe_reduction_result *result, floe_error *err)
{
    floe_reduction_result_init(r, result);
    floe_reduction_pivots(r->pair, result);
    read_once(r, result);
    for (int i = 0; i < FLOE_REDUCTION_MENDS && floe_reduction_pivots_mend(&result->total, result->pivot); i++)
        read_once(r, result);
    if (has(r, FLOE_REDUCTION_BYTES))
        bytes_collect(r);
    if (result->total.count[FLOE_COUNT_PAIRS])
        bins_collect(r, result);
    floe_reduction_search(r, result);
    return has(r, FLOE_REDUCTION_SORTED) ? floe_reduction_sort(r, result, err) : FLOE_OK;
}
