/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/spectrum/spectrum.h"

#include <math.h>
#include <string.h>

#include "assess/pair_read.h"
#include "assess/spectrum/spectrum_math.h"
#include "base/try.h"

enum { MAX_PIECES = 64 }; /* stretches of rows, each with shells of its own: the same for any number of threads */

void floe_spectrum_init(floe_spectrum *s, const floe_cpu *cpu, const floe_pair *pair)
{
    *s = (floe_spectrum){.cpu = cpu, .pair = pair, .dense = floe_pair_is_dense(pair)};
    s->nrows = pair->shape[0] * pair->shape[1] * pair->shape[2];
    s->pitch = pair->shape[3] / 2 + 1;
    s->nshells = floe_spectrum_shells(pair->shape);
    s->npieces = (uint32_t)floe_min64(s->nrows, MAX_PIECES);
}

void floe_spectrum_take(floe_spectrum *s, floe_arena *arena)
{
    const uint64_t nshells = s->nshells;
    for (int a = 0; a < FLOE_MAX_RANK; a++)
        s->window[a] = floe_arena_take(arena, s->pair->shape[a], sizeof(double));
    for (int side = 0; side < 2; side++)
        s->power[side] = floe_arena_take(arena, nshells, sizeof(double));
    s->frequency = floe_arena_take(arena, nshells, sizeof(double));
    s->ratio = floe_arena_take(arena, nshells, sizeof(double));
    s->nmodes = floe_arena_take(arena, nshells, sizeof(uint64_t));
    if (s->pair->place == FLOE_DEVICE)
        return;
    floe_fourier_take(&s->fourier, s->cpu, s->pair->shape, arena);
    s->data = floe_arena_take(arena, s->nrows * s->pitch, 2 * sizeof(double));
    s->piece_power = floe_arena_take(arena, nshells * s->npieces, sizeof(double));
    s->piece_nmodes = floe_arena_take(arena, nshells * s->npieces, sizeof(uint64_t));
    s->piece_filled = floe_arena_take(arena, s->npieces, sizeof(uint64_t));
}

typedef struct side_job {
    const floe_spectrum *s;
    double mean;
    int side;
    bool has_window;
} side_job;

/* Rows of piece k. */
static void piece_rows(const floe_spectrum *s, uint64_t k, uint64_t *from, uint64_t *to)
{
    const uint64_t share = s->nrows / s->npieces, rest = s->nrows % s->npieces;
    *from = k * share + floe_min64(k, rest);
    *to = *from + share + (k < rest);
}

static void row_index(const floe_pair *pair, uint64_t row, uint64_t at[FLOE_MAX_RANK - 1])
{
    for (int a = FLOE_MAX_RANK - 2; a >= 0; row /= pair->shape[a], a--)
        at[a] = row % pair->shape[a];
}

/* ---- before the transform ------------------------------------------------------------------------------------------ */

/* Fills the windows; returns the sum of squares of their product. */
static double windows_make(const floe_spectrum *s, floe_spectrum_window kind)
{
    const double pi = 3.14159265358979323846;
    double product = 1;
    for (int a = 0; a < FLOE_MAX_RANK; a++) {
        const uint64_t n = s->pair->shape[a];
        double squares = 0;
        for (uint64_t i = 0; i < n; i++) {
            const double root = kind == FLOE_SPECTRUM_HANN && n > 1 ? sin(pi * ((double)i / (double)n)) : 1;
            s->window[a][i] = root * root;
            squares += s->window[a][i] * s->window[a][i];
        }
        product *= squares;
    }
    return product;
}

/* A stretch of a row, less its mean, 0 where the pair does not count; returns how many those are. */
static uint64_t stretch_read(const side_job *j, uint64_t at, uint32_t n, double *to)
{
    const floe_pair *pair = j->s->pair;
    floe_pair_buffer buffer;
    const void *x, *y;
    uint64_t nfilled = 0;
    floe_pair_read(pair, j->s->dense, at, n, &buffer, &x, &y);
    for (uint32_t i = 0; i < n; i++) {
        const bool counts = floe_pair_class_at(pair, x, y, i) == FLOE_PAIR_COUNTS;
        to[i] = counts ? floe_pair_value(pair, j->side ? y : x, i) - j->mean : 0;
        nfilled += !counts;
    }
    return nfilled;
}

static void rows_read(void *arg, uint64_t k, uint32_t worker)
{
    const side_job *j = arg;
    const floe_spectrum *s = j->s;
    const uint64_t n = s->pair->shape[FLOE_MAX_RANK - 1];
    uint64_t row, to, at[FLOE_MAX_RANK - 1];
    (void)worker;
    s->piece_filled[k] = 0;
    for (piece_rows(s, k, &row, &to); row < to; row++) {
        double *values = s->data + 2 * row * s->pitch;
        for (uint64_t i = 0; i < n; i += FLOE_PAIR_BLOCK)
            s->piece_filled[k] +=
                stretch_read(j, row * n + i, (uint32_t)floe_min64(FLOE_PAIR_BLOCK, n - i), values + i);
        if (!j->has_window)
            continue;
        row_index(s->pair, row, at);
        const double outer = s->window[0][at[0]] * s->window[1][at[1]] * s->window[2][at[2]];
        for (uint64_t i = 0; i < n; i++)
            values[i] *= outer * s->window[3][i];
    }
}

/* ---- after the transform ------------------------------------------------------------------------------------------- */

/* Squares of the waves of a row's outer axes. */
static double row_squares(const floe_spectrum *s, uint64_t row, uint64_t scale)
{
    uint64_t at[FLOE_MAX_RANK - 1];
    double squares = 0;
    row_index(s->pair, row, at);
    for (int a = 0; a < FLOE_MAX_RANK - 1; a++) {
        const double wave = floe_spectrum_wave(at[a], s->pair->shape[a], scale);
        squares += wave * wave;
    }
    return squares;
}

static void shells_add(void *arg, uint64_t k, uint32_t worker)
{
    const floe_spectrum *s = ((const side_job *)arg)->s;
    const uint64_t n = s->pair->shape[FLOE_MAX_RANK - 1], scale = floe_spectrum_scale(s->pair->shape);
    double *power = s->piece_power + k * s->nshells;
    uint64_t *nmodes = s->piece_nmodes + k * s->nshells, row, to;
    (void)worker;
    memset(power, 0, s->nshells * sizeof *power);
    memset(nmodes, 0, s->nshells * sizeof *nmodes);
    for (piece_rows(s, k, &row, &to); row < to; row++) {
        const double *c = s->data + 2 * row * s->pitch, outer = row_squares(s, row, scale);
        for (uint64_t i = 0; i < s->pitch; i++) {
            const double wave = floe_spectrum_wave(i, n, scale);
            const uint64_t shell = floe_spectrum_shell(outer + wave * wave);
            const uint32_t weight = floe_spectrum_weight(i, n);
            if (shell >= s->nshells)
                continue;
            power[shell] += weight * (c[2 * i] * c[2 * i] + c[2 * i + 1] * c[2 * i + 1]);
            nmodes[shell] += weight;
        }
    }
}

/* ---- all of it ----------------------------------------------------------------------------------------------------- */

static void side_run(side_job *j, uint64_t *nfilled)
{
    const floe_spectrum *s = j->s;
    double *power = s->power[j->side];
    floe_cpu_parallel(s->cpu, s->npieces, rows_read, j);
    floe_fourier_transform(&s->fourier, s->data);
    if (!j->has_window)
        s->data[0] = s->data[1] = 0;
    floe_cpu_parallel(s->cpu, s->npieces, shells_add, j);
    *nfilled = 0;
    memset(power, 0, s->nshells * sizeof *power);
    memset(s->nmodes, 0, s->nshells * sizeof *s->nmodes);
    for (uint32_t k = 0; k < s->npieces; k++) {
        *nfilled += s->piece_filled[k];
        for (uint64_t shell = 0; shell < s->nshells; shell++) {
            power[shell] += s->piece_power[k * (uint64_t)s->nshells + shell];
            s->nmodes[shell] += s->piece_nmodes[k * (uint64_t)s->nshells + shell];
        }
    }
}

floe_status floe_spectrum_begin(floe_spectrum *s, const floe_spectrum_options *options, double *window_squares,
                                floe_error *err)
{
    FLOE_CHECK(err, options->window == FLOE_SPECTRUM_NO_WINDOW || options->window == FLOE_SPECTRUM_HANN,
               FLOE_ERR_ARGUMENT, "unknown window %d", (int)options->window);
    for (int side = 0; side < (s->pair->decoded ? 2 : 1); side++)
        FLOE_CHECK(err, isfinite(options->mean[side]), FLOE_ERR_ARGUMENT, "the mean of a field is not a finite number");
    *window_squares = windows_make(s, options->window);
    return FLOE_OK;
}

/* The least power of a shell that is more than rounding: 1e-12 of the strongest one's in amplitude, where a transform of the
 * largest fields is good to 1e-14. */
static double least_power(const floe_spectrum *s)
{
    double most = 0;
    for (uint32_t k = 0; k < s->nshells; k++)
        most = fmax(most, s->power[0][k]); /* fmax passes over NaN */
    return 1e-24 * most;
}

void floe_spectrum_finish(floe_spectrum *s, double window_squares, uint64_t nfilled, floe_spectrum_result *result)
{
    const double scale = (double)floe_spectrum_scale(s->pair->shape);
    for (uint32_t k = 0; k < s->nshells; k++) {
        const double nmodes = (double)s->nmodes[k];
        s->frequency[k] = k / scale;
        s->power[0][k] = s->nmodes[k] ? s->power[0][k] / nmodes / window_squares : NAN;
        s->power[1][k] = s->nmodes[k] && s->pair->decoded ? s->power[1][k] / nmodes / window_squares : NAN;
    }
    const double least = least_power(s);
    for (uint32_t k = 0; k < s->nshells; k++)
        s->ratio[k] = s->power[0][k] > least ? s->power[1][k] / s->power[0][k] : NAN;
    *result = (floe_spectrum_result){.nfilled = nfilled,
                                     .nshells = s->nshells,
                                     .nmodes = s->nmodes,
                                     .frequency = s->frequency,
                                     .power = {s->power[0], s->power[1]},
                                     .ratio = s->ratio};
}

floe_status floe_spectrum_run(floe_spectrum *s, const floe_spectrum_options *options, floe_spectrum_result *result,
                              floe_error *err)
{
    uint64_t nfilled = 0;
    double window_squares;
    FLOE_TRY(floe_spectrum_begin(s, options, &window_squares, err));
    floe_fourier_begin(&s->fourier);
    for (int side = 0; side < (s->pair->decoded ? 2 : 1); side++) {
        side_job j = {s, options->mean[side], side, options->window != FLOE_SPECTRUM_NO_WINDOW};
        side_run(&j, &nfilled);
    }
    floe_spectrum_finish(s, window_squares, nfilled, result);
    return FLOE_OK;
}
