/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tile_study_bench [--rel LIST] [--repeats N] FIELD...
 *
 * Why codec lorenzo has the tile, the groups and the modes that it has: ratio of either encoder and cost of predicting for
 * other shapes, on fields of the caller's choice. Ratios are geometric means over all fields and bounds; times are of one
 * thread, the least of N repeats. docs/studies.md has results. FIELD is FILE:SHAPE (raw little-endian f32, three axes,
 * slowest first) or synth:NAME:SHAPE. Cells that are not finite take the value before them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/tile_study.h"
#include "synth/synth.h"

enum { MAX_FIELDS = 64, MAX_BOUNDS = 8, MAX_REPEATS = 1000 };

typedef struct input {
    float *values;
    uint32_t n[3];
    size_t nvalues;
} input;

typedef struct study {
    input inputs[MAX_FIELDS];
    uint32_t ninputs, nbounds, repeats;
    double bounds[MAX_BOUNDS];
    uint32_t *q, *residuals, *back; /* room for the largest input */
} study;

/* Group 2x4x4 for all tiles, and tile 16x16x32 for all groups: what floe has stands in both lists. */
static const study_shape tiles[] = {
    {{4, 4, 8}, {2, 4, 4}},    {{8, 8, 8}, {2, 4, 4}},    {{8, 8, 16}, {2, 4, 4}},   {{8, 16, 16}, {2, 4, 4}},
    {{16, 16, 16}, {2, 4, 4}}, {{8, 32, 32}, {2, 4, 4}},  {{16, 16, 32}, {2, 4, 4}}, {{32, 16, 16}, {2, 4, 4}},
    {{16, 16, 64}, {2, 4, 4}}, {{16, 32, 32}, {2, 4, 4}}, {{32, 32, 32}, {2, 4, 4}}, {{64, 64, 64}, {2, 4, 4}},
};
static const study_shape groups[] = {
    {{16, 16, 32}, {2, 4, 4}}, {{16, 16, 32}, {4, 4, 2}}, {{16, 16, 32}, {2, 2, 8}},
    {{16, 16, 32}, {1, 4, 8}}, {{16, 16, 32}, {4, 2, 4}}, {{16, 16, 32}, {1, 1, 32}},
};
/* Modes by their bits: 1 xy, 2 x, 4 y, 8 none. */
static const study_choice choices[] = {
    {"from the first step", 15, STUDY_FIRST_STEP},
    {"always xy", 1, STUDY_FIRST_STEP},
    {"always x", 2, STUDY_FIRST_STEP},
    {"first step, xy or x", 3, STUDY_FIRST_STEP},
    {"first step, xy, x or y", 7, STUDY_FIRST_STEP},
    {"from the whole tile", 15, STUDY_WHOLE_TILE},
    {"anew for each step", 15, STUDY_EACH_STEP},
};
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static const study_shape floe_shape = {{16, 16, 32}, {2, 4, 4}};

/* ---- input --------------------------------------------------------------------------------------------------------- */

static bool fail(const char *what, const char *name)
{
    fprintf(stderr, "tile_study_bench: %s: %s\n", name, what);
    return false;
}

static bool parse_shape(const char *text, input *in)
{
    char end;
    if (sscanf(text, "%ux%ux%u%c", &in->n[0], &in->n[1], &in->n[2], &end) != 3)
        return false;
    in->nvalues = 1;
    for (int i = 0; i < 3; i++) {
        if (in->n[i] == 0 || in->n[i] > 1u << 15)
            return false;
        in->nvalues *= in->n[i];
    }
    return in->nvalues <= (size_t)1 << 32;
}

static bool read_file(const char *path, input *in)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail("cannot be opened", path);
    size_t got = fread(in->values, sizeof *in->values, in->nvalues, file);
    bool whole = got == in->nvalues && fgetc(file) == EOF;
    fclose(file);
    return whole || fail("its size does not match the shape", path);
}

static bool read_input(const char *argument, input *in)
{
    char name[1024];
    const char *colon = strrchr(argument, ':');
    if (!colon || (size_t)(colon - argument) >= sizeof name || !parse_shape(colon + 1, in))
        return fail("is no FILE:ZxYxX or synth:NAME:ZxYxX", argument);
    memcpy(name, argument, (size_t)(colon - argument));
    name[colon - argument] = 0;
    in->values = malloc(in->nvalues * sizeof *in->values);
    if (!in->values)
        return fail("out of memory", argument);
    if (strncmp(name, "synth:", 6) != 0)
        return read_file(name, in);
    const uint64_t shape[3] = {in->n[0], in->n[1], in->n[2]};
    floe_status status = synth_fill(name + 6, FLOE_F32, 3, shape, 0, 0, in->nvalues, in->values);
    return status == FLOE_OK || fail(floe_status_text(status), argument);
}

/* Whole numbers in units of twice the bound, which is rel of the range of finite values. */
static study_field quantize(const study *s, const input *in, double rel)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < in->nvalues; i++)
        if (isfinite(in->values[i])) {
            low = fmin(low, in->values[i]);
            high = fmax(high, in->values[i]);
        }
    double step = high > low ? 2 * rel * (high - low) * (1 - 0x1p-10) : 1;
    int32_t last = 0;
    for (size_t i = 0; i < in->nvalues; i++) {
        if (isfinite(in->values[i]))
            last = (int32_t)lrint(in->values[i] / step);
        s->q[i] = (uint32_t)last;
    }
    return (study_field){s->q, {in->n[0], in->n[1], in->n[2]}, in->nvalues};
}

/* ---- measuring ----------------------------------------------------------------------------------------------------- */

/* Adds the logarithms of the ratios with one field and bound. */
static bool add_ratio(const study_field *field, const study_shape *shape, const study_choice *choice, study_ratio *sum)
{
    study_ratio r;
    if (!study_measure_ratio(field, shape, choice, &r))
        return fail("out of memory", "ratio");
    sum->pack += log(r.pack);
    sum->huffman += log(r.huffman);
    return true;
}

typedef struct results {
    study_ratio tile[COUNT(tiles)], group[COUNT(groups)], choice[COUNT(choices)]; /* sums of logarithms */
    study_seconds seconds[COUNT(tiles)];
} results;

static bool measure_ratios(const study *s, results *r)
{
    bool ok = true;
    for (uint32_t i = 0; i < s->ninputs; i++)
        for (uint32_t b = 0; b < s->nbounds; b++) {
            study_field field = quantize(s, &s->inputs[i], s->bounds[b]);
            for (uint32_t k = 0; k < COUNT(tiles); k++)
                ok = ok && add_ratio(&field, &tiles[k], &choices[0], &r->tile[k]);
            for (uint32_t k = 0; k < COUNT(groups); k++)
                ok = ok && add_ratio(&field, &groups[k], &choices[0], &r->group[k]);
            for (uint32_t k = 0; k < COUNT(choices); k++)
                ok = ok && add_ratio(&field, &floe_shape, &choices[k], &r->choice[k]);
        }
    return ok;
}

/* The least time of each shape; one shape after another in each round, so that a busy moment does not hit one alone. */
static bool measure_speeds(const study *s, results *r)
{
    for (uint32_t i = 0; i < s->ninputs; i++) {
        study_field field = quantize(s, &s->inputs[i], s->bounds[0]);
        study_seconds least[COUNT(tiles)], now;
        for (uint32_t k = 0; k < COUNT(tiles); k++)
            least[k] = (study_seconds){INFINITY, INFINITY};
        for (uint32_t round = 0; round < s->repeats; round++)
            for (uint32_t k = 0; k < COUNT(tiles); k++) {
                if (!study_measure_speed(&field, &tiles[k], s->residuals, s->back, &now))
                    return fail("does not come back", "prediction");
                least[k].predict = fmin(least[k].predict, now.predict);
                least[k].undo = fmin(least[k].undo, now.undo);
            }
        for (uint32_t k = 0; k < COUNT(tiles); k++) {
            r->seconds[k].predict += least[k].predict;
            r->seconds[k].undo += least[k].undo;
        }
    }
    return true;
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

static const char *shape_text(const uint32_t *n, char text[40])
{
    snprintf(text, 40, "%ux%ux%u", n[0], n[1], n[2]);
    return text;
}

static study_ratio mean(study_ratio sum, uint32_t n) { return (study_ratio){exp(sum.pack / n), exp(sum.huffman / n)}; }

static void print_tiles(const study *s, const results *r, uint32_t n)
{
    char text[40];
    double nvalues = 0;
    for (uint32_t i = 0; i < s->ninputs; i++)
        nvalues += (double)s->inputs[i].nvalues;
    printf("%-10s %7s %9s %9s %8s %8s %11s %8s\n", "tile", "values", "tile KiB", "regs/lane", "pack", "huffman",
           "predict ns", "undo ns");
    for (uint32_t k = 0; k < COUNT(tiles); k++) {
        const study_shape *shape = &tiles[k];
        uint32_t area = shape->tile[1] * shape->tile[2], values = shape->tile[0] * area;
        study_ratio m = mean(r->tile[k], n);
        printf("%-10s %7u %9.1f %9u %8.2f %8.2f %11.3f %8.3f\n", shape_text(shape->tile, text), values,
               values * 4 / 1024.0, (shape->group[0] * area + 31) / 32, m.pack, m.huffman,
               1e9 * r->seconds[k].predict / nvalues, 1e9 * r->seconds[k].undo / nvalues);
    }
}

/* How often a value is predicted: for each candidate of a choice, and once more to be coded. Tiles have 8 steps. */
static double passes(const study_choice *choice)
{
    int n = 0;
    for (uint32_t m = choice->candidates; m; m &= m - 1)
        n++;
    return 1 + (n == 1 ? 0 : choice->scope == STUDY_FIRST_STEP ? n / 8.0 : n);
}

static void print_rest(const results *r, uint32_t n)
{
    char text[40];
    printf("\n%-24s %8s %8s\n", "group, tile 16x16x32", "pack", "huffman");
    for (uint32_t k = 0; k < COUNT(groups); k++) {
        study_ratio m = mean(r->group[k], n);
        printf("%-24s %8.2f %8.2f\n", shape_text(groups[k].group, text), m.pack, m.huffman);
    }
    printf("\n%-24s %8s %8s %8s\n", "mode, tile 16x16x32", "pack", "huffman", "passes");
    for (uint32_t k = 0; k < COUNT(choices); k++) {
        study_ratio m = mean(r->choice[k], n);
        printf("%-24s %8.2f %8.2f %8.3f\n", choices[k].name, m.pack, m.huffman, passes(&choices[k]));
    }
}

/* ---- the program --------------------------------------------------------------------------------------------------- */

static bool parse_bounds(const char *text, study *s)
{
    char *end;
    for (s->nbounds = 0; s->nbounds < MAX_BOUNDS; text = end + 1) {
        double rel = strtod(text, &end);
        if (end == text || !(rel >= 1e-6 && rel <= 1) || (*end && *end != ','))
            break;
        s->bounds[s->nbounds++] = rel;
        if (!*end)
            return true;
    }
    return fail("is no list of bounds from 1e-6 to 1, such as 1e-2,1e-3", "--rel");
}

static bool parse(int argc, char **argv, study *s)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (more && strcmp(argv[i], "--rel") == 0) {
            if (!parse_bounds(argv[++i], s))
                return false;
        } else if (more && strcmp(argv[i], "--repeats") == 0) {
            char *end;
            unsigned long n = strtoul(argv[++i], &end, 10);
            if (*end || n < 1 || n > MAX_REPEATS)
                return fail("is no number from 1 to 1000", "--repeats");
            s->repeats = (uint32_t)n;
        } else if (s->ninputs == MAX_FIELDS || !read_input(argv[i], &s->inputs[s->ninputs++])) {
            return false;
        }
    }
    if (s->ninputs == 0)
        return fail("tile_study_bench [--rel LIST] [--repeats N] FILE:SHAPE | synth:NAME:SHAPE ...", "usage");
    return true;
}

static bool take_memory(study *s)
{
    size_t most = 0;
    for (uint32_t i = 0; i < s->ninputs; i++)
        most = s->inputs[i].nvalues > most ? s->inputs[i].nvalues : most;
    s->q = malloc(most * sizeof *s->q);
    s->residuals = calloc(most, sizeof *s->residuals);
    s->back = calloc(most, sizeof *s->back);
    return (s->q && s->residuals && s->back) || fail("out of memory", "fields");
}

int main(int argc, char **argv)
{
    study s = {.repeats = 10, .nbounds = 1, .bounds = {1e-3}};
    results r = {.seconds = {{0, 0}}};
    bool ok = parse(argc, argv, &s) && take_memory(&s) && measure_ratios(&s, &r) && measure_speeds(&s, &r);
    if (ok) {
        print_tiles(&s, &r, s.ninputs * s.nbounds);
        print_rest(&r, s.ninputs * s.nbounds);
    }
    for (uint32_t i = 0; i < s.ninputs; i++)
        free(s.inputs[i].values);
    free(s.q);
    free(s.residuals);
    free(s.back);
    return ok ? 0 : 1;
}
