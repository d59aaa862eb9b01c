/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/lorenzo/cpu/lorenzo_segment.h"

#include "codec/lorenzo/format/lorenzo_rows.h"
#include "stage/quantizer/quantizer_math.h"

typedef FLOE_R(floe_tile_scratch) tile_scratch;

static void begin(void *scratch)
{
    tile_scratch *t = scratch;
    memset(t->bad, 0, sizeof t->bad);
    memset(t->q, 0, sizeof t->q);
    memset(&t->exceptions, 0, sizeof t->exceptions);
    t->stats = (floe_quantizer_stats){0, 0};
    t->nexceptions = t->nliterals = 0;
    floe_huffman_hist_clear(&t->hist);
}

static void encode(const floe_tile_job *job, bool draft, floe_segment *segment, void *scratch)
{
    tile_scratch *t = scratch;
    segment->nwords = 0;
    for (uint32_t i = 0; i < segment->count; i++) {
        segment->entries[i] = FLOE_V(floe_tile_encode)(job, segment->first + i, draft, t, &segment->sizes[i]);
        memcpy(segment->words + segment->nwords, t->words, segment->sizes[i] * sizeof *t->words);
        segment->nwords += segment->sizes[i];
    }
}

static void totals(const void *scratch, floe_segment_totals *sum, floe_huffman_hist *hist)
{
    const tile_scratch *t = scratch;
    sum->nexceptions += t->nexceptions;
    sum->nliterals += t->nliterals;
    if (t->stats.max_error > sum->stats.max_error)
        sum->stats.max_error = t->stats.max_error;
    if (t->stats.max_pw_error > sum->stats.max_pw_error)
        sum->stats.max_pw_error = t->stats.max_pw_error;
    if (hist)
        floe_huffman_hist_add(hist, &t->hist);
}

static void finish(const floe_tile_job *job, floe_segment *segment, uint32_t *to, void *scratch)
{
    tile_scratch *t = scratch;
    const uint32_t *draft = segment->words;
    uint64_t n = 0;
    for (uint32_t i = 0; i < segment->count; i++) {
        uint32_t ndraft = segment->sizes[i];
        segment->entries[i] = FLOE_V(floe_tile_finish)(job, segment->first + i, segment->entries[i], draft, ndraft, t,
                                                       &segment->sizes[i]);
        memcpy(to + n, t->words, segment->sizes[i] * sizeof *to);
        n += segment->sizes[i];
        draft += ndraft;
    }
    segment->words = to;
    segment->nwords = n;
}

static floe_status decode(const floe_tile_job *job, uint64_t tile, uint32_t entry, const uint8_t *src, void *scratch,
                          floe_error *err)
{
    tile_scratch *t = scratch;
    uint32_t nwords = entry & FLOE_TILE_NWORDS_MASK;
    FLOE_CHECK(err, nwords <= FLOE_TILE_RAW_WORDS, FLOE_ERR_FORMAT, "tile %llu of %u words", (unsigned long long)tile,
               nwords);
    floe_words_load(t->words, src, nwords);
    return FLOE_V(floe_tile_decode)(job, tile, entry, t, err);
}

/* Hands the values of a segment to visit, row by row; false when it stops. */
typedef bool row_visitor(const floe_tile_job *job, const floe_real *x, uint32_t n, tile_scratch *t, void *arg);

static bool walk_rows(const floe_tile_job *job, const floe_segment *segment, tile_scratch *t, row_visitor *visit,
                      void *arg)
{
    const floe_tile_geometry *g = &job->view->geometry;
    for (uint32_t i = 0; i < segment->count; i++) {
        floe_tile_box box;
        floe_view_tile(job->view, segment->first + i, &box);
        for (uint32_t s = 0; s < box.nsteps; s++) {
            floe_step_box step = floe_tile_step(job->view, &box, s);
            floe_step_rows rows = floe_step_rows_of(job, &box, &step, s);
            floe_step_read(&rows, g, t->x);
            for (uint32_t z = 0; z < step.nz; z++)
                for (uint32_t y = 0; y < step.ny; y++)
                    if (!visit(job, t->x + (z * g->step_y + y) * g->step_x, step.nx, t, arg))
                        return false;
        }
    }
    return true;
}

/* Squared errors of integers: of all values, since those that are exceptions lose nothing and so count too much at most. */
static bool error_row(const floe_tile_job *job, const floe_real *x, uint32_t n, tile_scratch *t, void *arg)
{
    double *sum = arg;
    floe_int want[FLOE_STEP_VALUES], got[FLOE_STEP_VALUES];
    floe_real decoded[FLOE_STEP_VALUES];
    if (FLOE_V(floe_quantizer_encode)(job->quantizer, x, n, t->q, t->bad, t->negative, &t->stats))
        memset(t->bad, 0, n);
    FLOE_V(floe_quantizer_decode)(job->quantizer, t->q, n, decoded);
    memcpy(want, x, n * sizeof *want);
    memcpy(got, decoded, n * sizeof *got);
    for (uint32_t i = 0; i < n; i++) {
        const double error = (double)(floe_int)((floe_uint)got[i] - (floe_uint)want[i]);
        *sum += error * error;
    }
    return true;
}

static double squared_error(const floe_tile_job *job, const floe_segment *segment, void *scratch)
{
    double sum = 0;
    if (job->quantizer->integer) {
        walk_rows(job, segment, scratch, error_row, &sum);
        return sum;
    }
    for (uint32_t i = 0; i < segment->count; i++)
        sum += FLOE_V(floe_tile_squared_error)(job, segment->first + i, scratch);
    return sum;
}

/* The patterns of ordinary values, as they come. */
typedef struct collection {
    floe_table_slot *slots;
    uint32_t mask, *count, most;
} collection;

static bool collect_row(const floe_tile_job *job, const floe_real *x, uint32_t n, tile_scratch *t, void *arg)
{
    const collection *c = arg;
    uint32_t nbad = FLOE_V(floe_quantizer_encode)(job->quantizer, x, n, t->q, t->bad, t->negative, &t->stats);
    bool room = true;
    for (uint32_t i = 0; i < n && room; i++)
        if (!(nbad && t->bad[i]) && (i == 0 || t->q[i] != t->q[i - 1] || (nbad && t->bad[i - 1])))
            room = floe_table_insert(c->slots, c->mask, (uint64_t)(int64_t)t->q[i], c->count, c->most);
    if (nbad)
        memset(t->bad, 0, n);
    return room;
}

static bool collect(const floe_tile_job *job, const floe_segment *segment, floe_table_slot *slots, uint32_t *count,
                    uint32_t most, void *scratch)
{
    collection c = {slots, floe_table_mask(most), count, most};
    return walk_rows(job, segment, scratch, collect_row, &c);
}

const floe_segment_ops FLOE_V(floe_segment_ops) = {
    .scratch_nbytes = sizeof(tile_scratch),
    .begin = begin,
    .encode = encode,
    .totals = totals,
    .finish = finish,
    .decode = decode,
    .squared_error = squared_error,
    .collect = collect,
};
