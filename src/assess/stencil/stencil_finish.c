/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/stencil/stencil_finish.h"

#include <math.h>

#include "assess/mean_square.h"
#include "base/try.h"

floe_status floe_stencil_options_check(const floe_stencil_options *options, floe_error *err)
{
    FLOE_CHECK(err, options->lags <= FLOE_STENCIL_MAX_LAGS, FLOE_ERR_ARGUMENT,
               "autocorrelation at %u lags was requested; at most %d are possible", options->lags,
               (int)FLOE_STENCIL_MAX_LAGS);
    FLOE_CHECK(err, !options->lags || isfinite(options->mean), FLOE_ERR_ARGUMENT,
               "the mean of the autocorrelated values is not a finite number");
    return FLOE_OK;
}

double floe_stencil_scale(const floe_pair *pair, const floe_stencil_options *options)
{
    return pair->dtype == FLOE_F32 ? floe_stencil_single_scale(options->peak, options->error_peak) : 0;
}

double floe_stencil_sobolev_scale(const floe_pair *pair, const floe_stencil_options *options)
{
    return pair->dtype == FLOE_F32 ? floe_stencil_norm_scale(options->peak) : 0;
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

static const floe_stencil_stats no_stats = {NAN, NAN, NAN, NAN, NAN, NAN};

static floe_stencil_stats stats_of(const floe_stencil_moments *m, int q, uint64_t n, bool alone)
{
    floe_stencil_stats s = no_stats;
    if (!n)
        return s;
    s.original_min = m->min;
    s.original_max = m->max;
    if (q == FLOE_STENCIL_FIRST_LENGTH || q == FLOE_STENCIL_LAPLACIAN)
        s.original_rms = sqrt(m->squares / (double)n);
    if (alone)
        return s;
    s.max_error = m->max_error;
    s.rmse = floe_root_mean_square(m->error_squares / (double)n, m->max_error, (double)n);
    s.psnr = s.rmse == 0 ? INFINITY : 20 * log10((s.original_max - s.original_min) / s.rmse); /* as that of values */
    return s;
}

static bool has_quantity(uint32_t active, int q)
{
    if (q >= FLOE_STENCIL_FIRST_SUM)
        return active != 0;
    return active >> (q % FLOE_STENCIL_AXES) & 1;
}

/* ---- autocorrelation --------------------------------------------------------------------------------------------- */

/* The mean of n products over the variance; a constant signal, of which only the rounding of its mean is left, has none. */
static double correlation(double sum, uint64_t n, const floe_stencil_result *r, double mean)
{
    const double least = 0x1p-50 * fabs(mean);
    return n && r->variance > least * least ? sum / (double)n / r->variance : NAN;
}

static void lag_finish(const floe_stencil_sums *sums, const floe_pair *pair, double mean, uint32_t t,
                       floe_stencil_result *r)
{
    double total = 0;
    uint32_t naxes = 0;
    for (int a = 0; a < FLOE_STENCIL_AXES; a++) {
        const floe_stencil_lag *l = &sums->lag[a][t];
        r->autocorr[a][t] = correlation(l->box + l->rest, l->nbox + l->nrest, r, mean);
        if (pair->shape[a] > 1) {
            total += correlation(l->box, l->nbox, r, mean);
            naxes++;
        }
    }
    r->combined[t] = naxes ? total / naxes : NAN;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

void floe_stencil_finish(const floe_stencil_sums *sums, const floe_pair *pair, const floe_stencil_options *options,
                         floe_stencil_result *r)
{
    const uint32_t active = floe_stencil_active(pair->shape);
    const double scale = floe_stencil_sobolev_scale(pair, options);
    double norms[3];
    *r = (floe_stencil_result){.npoints = sums->npoints, .nskipped = sums->nskipped, .nsobolev = sums->nsobolev};
    for (int q = 0; q < FLOE_STENCIL_QUANTITIES; q++) {
        r->of[q] = no_stats;
        if (options->derivatives && has_quantity(active, q))
            r->of[q] = stats_of(&sums->of[q], q, sums->npoints, !pair->decoded);
    }
    floe_stencil_norms_of(sums, scale > 0, scale > 0 ? scale : 1, norms);
    for (int k = 0; k < 3; k++)
        r->sobolev[k] = options->sobolev ? sqrt(norms[k] / (double)sums->nsobolev) : NAN;
    r->variance = options->lags && sums->nsignal ? sums->signal_squares / (double)sums->nsignal : NAN;
    for (uint32_t t = 0; t < FLOE_STENCIL_MAX_LAGS; t++)
        lag_finish(sums, pair, options->mean, t, r);
}
