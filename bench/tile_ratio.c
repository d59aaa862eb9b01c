/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ratio of any tile and group shape. Residuals come from one formula for each cell, slow and the same for all shapes;
 * the encoders' own code then counts what they take.
 */
#define FLOE_REAL_BITS 32
#include "bench/tile_study.h"

#include <stdlib.h>
#include <string.h>

#include "stage/huffman/huffman_math.h"
#include "stage/huffman/huffman_tile.h"
#include "stage/lorenzo/lorenzo.h"
#include "stage/pack/pack.h"

typedef struct tile_at {
    const uint32_t *first; /* the tile's first value */
    size_t row, plane;     /* strides */
    uint32_t n[3];         /* extents, cut at the end of the field */
} tile_at;

/* ---- counting what the encoders take ------------------------------------------------------------------------------- */

/* Steps of 32 groups, in the order of groups, as the encoders take them; 8 steps at a time. */
typedef struct counter {
    floe_step steps[FLOE_TILE_STEPS];
    uint32_t nsteps, ngroups; /* full steps; groups of the step behind them */
    uint64_t pack_nbits, huffman_nbits;
    floe_huffman_hist hist;
} counter;

static bool is_zero(const floe_step *step)
{
    uint32_t any = step->flat;
    for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
        any |= step->width[g];
    return any == 0;
}

static void count_pack(counter *c, const floe_step *step)
{
    uint32_t words[FLOE_PACK_STEP_WORDS];
    uint16_t descriptor;
    c->pack_nbits += 32 * (uint64_t)floe_pack_encode_step_f32_plain(step, words, &descriptor) + 16;
}

/* Symbols go to the histogram; here what stands in front of them: lanes' lengths (about 11 bits each), half a word unused. */
static void count_huffman(counter *c)
{
    uint32_t widths = 0;
    for (uint32_t s = 0; s < c->nsteps; s++)
        for (uint32_t g = 0; g < FLOE_STEP_GROUPS; g++)
            widths += c->steps[s].width[g];
    uint32_t nlanes = 1u << floe_huffman_lane_log(widths, c->nsteps);
    c->huffman_nbits += 8 + 11 * (nlanes - 1) + 16;
    floe_huffman_count_tile_f32_plain(&c->hist, c->steps, c->nsteps);
}

static void flush(counter *c)
{
    uint32_t nzero = 0;
    c->nsteps += c->ngroups > 0;
    for (uint32_t s = 0; s < c->nsteps; s++)
        nzero += is_zero(&c->steps[s]);
    if (nzero < c->nsteps) { /* else a constant tile */
        for (uint32_t s = 0; s < c->nsteps; s++)
            count_pack(c, &c->steps[s]);
        count_huffman(c);
    }
    c->nsteps = c->ngroups = 0;
    memset(c->steps, 0, sizeof c->steps);
}

/* The next group of the tile: the better of its residuals along z and in the plane. NULL: a group outside the field. */
static void add_group(counter *c, const uint32_t (*candidate)[FLOE_GROUP_VALUES])
{
    floe_step *step = &c->steps[c->nsteps];
    uint32_t g = c->ngroups++;
    if (candidate) {
        uint32_t bits[2] = {0, 0}, width[2];
        uint64_t sum[2] = {0, 0};
        for (int i = 0; i < 2; i++) {
            for (uint32_t k = 0; k < FLOE_GROUP_VALUES; k++) {
                bits[i] |= candidate[i][k];
                sum[i] += candidate[i][k];
            }
            width[i] = floe_bit_length(bits[i]);
        }
        int flat = width[1] < width[0] || (width[1] == width[0] && sum[1] < sum[0]);
        step->present |= 1u << g;
        step->flat |= (uint32_t)flat << g;
        step->width[g] = (uint8_t)width[flat];
        memcpy(step->residual[g], candidate[flat], sizeof step->residual[g]);
    }
    if (c->ngroups == FLOE_STEP_GROUPS) {
        c->ngroups = 0;
        if (++c->nsteps == FLOE_TILE_STEPS)
            flush(c);
    }
}

/* ---- residuals ----------------------------------------------------------------------------------------------------- */

/* The difference of a cell in its plane, as docs/format/lorenzo.md has it; 0 for the first one, which has its own rule. */
static uint32_t in_plane(const tile_at *t, uint32_t z, uint32_t y, uint32_t x, uint32_t mode)
{
    const uint32_t *c = t->first + z * t->plane + y * t->row + x;
    if (y == 0 && x == 0)
        return 0;
    if (mode == FLOE_LORENZO_NONE)
        return *c - *t->first;
    if (y == 0 || (x > 0 && mode == FLOE_LORENZO_X))
        return *c - c[-1];
    const uint32_t *above = c - t->row;
    if (x == 0 || mode == FLOE_LORENZO_Y)
        return *c - *above;
    return *c - c[-1] - *above + above[-1];
}

/* Both candidates of a cell: along z, and in the plane only. */
static void cell_residuals(const tile_at *t, uint32_t z, uint32_t y, uint32_t x, uint32_t mode, uint32_t *deep,
                           uint32_t *flat)
{
    if (y == 0 && x == 0) {
        const uint32_t *c = t->first + z * t->plane;
        *deep = *flat = floe_zigzag_f32(z > 0 ? *c - *(c - t->plane) : 0);
        return;
    }
    uint32_t p = in_plane(t, z, y, x, mode);
    *flat = floe_zigzag_f32(p);
    *deep = floe_zigzag_f32(p - (z > 0 ? in_plane(t, z - 1, y, x, mode) : 0));
}

/* The group at z, y, x. */
static void group_residuals(const tile_at *t, const uint32_t *group, uint32_t z0, uint32_t y0, uint32_t x0,
                            uint32_t mode, uint32_t (*candidate)[FLOE_GROUP_VALUES])
{
    uint32_t k = 0;
    for (uint32_t z = z0; z < z0 + group[0]; z++)
        for (uint32_t y = y0; y < y0 + group[1]; y++)
            for (uint32_t x = x0; x < x0 + group[2]; x++, k++) {
                candidate[0][k] = candidate[1][k] = 0;
                if (z < t->n[0] && y < t->n[1] && x < t->n[2])
                    cell_residuals(t, z, y, x, mode, &candidate[0][k], &candidate[1][k]);
            }
}

/* ---- modes --------------------------------------------------------------------------------------------------------- */

/* The estimate that the codec chooses by, for the planes of one row of groups along z. */
static uint64_t slab_cost(const tile_at *t, const study_shape *shape, uint32_t z, uint32_t mode)
{
    uint32_t candidate[2][FLOE_GROUP_VALUES];
    uint64_t cost = 0;
    for (uint32_t y = 0; y < t->n[1]; y += shape->group[1])
        for (uint32_t x = 0; x < t->n[2]; x += shape->group[2]) {
            uint64_t sum[2] = {0, 0};
            group_residuals(t, shape->group, z, y, x, mode, candidate);
            for (uint32_t k = 0; k < FLOE_GROUP_VALUES; k++) {
                sum[0] += candidate[0][k];
                sum[1] += candidate[1][k];
            }
            cost += floe_log2_eighths((sum[0] < sum[1] ? sum[0] : sum[1]) + FLOE_GROUP_VALUES);
        }
    return cost;
}

/* The candidate that costs least from plane z on, up to plane end. */
static uint32_t best_mode(const tile_at *t, const study_shape *shape, const study_choice *choice, uint32_t z,
                          uint32_t end)
{
    uint32_t best = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t mode = 0; mode < FLOE_LORENZO_MODES; mode++) {
        uint64_t cost = 0;
        if (!(choice->candidates >> mode & 1))
            continue;
        if (choice->candidates == 1u << mode)
            return mode;
        for (uint32_t at = z; at < end; at += shape->group[0])
            cost += slab_cost(t, shape, at, mode);
        if (cost < least) {
            least = cost;
            best = mode;
        }
    }
    return best;
}

/* ---- a tile, a field ----------------------------------------------------------------------------------------------- */

static void count_tile(counter *c, const tile_at *t, const study_shape *shape, const study_choice *choice)
{
    uint32_t candidate[2][FLOE_GROUP_VALUES];
    uint32_t mode = best_mode(t, shape, choice, 0, choice->scope == STUDY_WHOLE_TILE ? t->n[0] : 1);
    for (uint32_t z = 0; z < t->n[0]; z += shape->group[0]) {
        if (z > 0 && choice->scope == STUDY_EACH_STEP)
            mode = best_mode(t, shape, choice, z, z + 1);
        for (uint32_t y = 0; y < shape->tile[1]; y += shape->group[1])
            for (uint32_t x = 0; x < shape->tile[2]; x += shape->group[2]) {
                bool inside = y < t->n[1] && x < t->n[2];
                if (inside)
                    group_residuals(t, shape->group, z, y, x, mode, candidate);
                add_group(c, inside ? candidate : NULL);
            }
    }
    /* A tile of fewer groups than a step shares its step with the next one: or it would pay for the rest of the words. */
    if (shape->tile[0] * shape->tile[1] * shape->tile[2] >= FLOE_STEP_VALUES)
        flush(c);
    c->pack_nbits += 64; /* entry and base */
    c->huffman_nbits += 64;
}

static uint32_t clipped(uint32_t n, uint32_t from, uint32_t tile) { return n - from < tile ? n - from : tile; }

bool study_measure_ratio(const study_field *field, const study_shape *shape, const study_choice *choice,
                         study_ratio *ratio)
{
    const uint32_t *n = field->n, *tile = shape->tile;
    counter *c = calloc(1, sizeof *c);
    floe_huffman_book *book = malloc(sizeof *book);
    bool ok = c && book;
    for (uint32_t z = 0; ok && z < n[0]; z += tile[0])
        for (uint32_t y = 0; y < n[1]; y += tile[1])
            for (uint32_t x = 0; x < n[2]; x += tile[2]) {
                tile_at t = {.row = n[2], .plane = (size_t)n[1] * n[2]};
                t.first = field->q + z * t.plane + y * t.row + x;
                t.n[0] = clipped(n[0], z, tile[0]);
                t.n[1] = clipped(n[1], y, tile[1]);
                t.n[2] = clipped(n[2], x, tile[2]);
                count_tile(c, &t, shape, choice);
            }
    if (ok) {
        flush(c);
        floe_huffman_book_build(&c->hist, book);
        c->huffman_nbits += floe_huffman_book_cost(&c->hist, book);
        ratio->pack = 32.0 * (double)field->nvalues / (double)c->pack_nbits;
        ratio->huffman = 32.0 * (double)field->nvalues / (double)c->huffman_nbits;
    }
    free(c);
    free(book);
    return ok;
}
