/* SPDX-License-Identifier: BSD-3-Clause */
#include "assess/spectrum/spectrum_device.h"

#include <math.h>
#include <string.h>

#include "base/try.h"

#ifdef FLOE_HAVE_CUDA_BUILD

enum { COUNTS = 2 }; /* of sums */

/* Axes of one element first, the others in their order. */
static void axes_order(const floe_pair *pair, uint32_t axis[FLOE_MAX_RANK])
{
    uint32_t n = 0;
    for (int longer = 0; longer < 2; longer++)
        for (uint32_t a = 0; a < FLOE_MAX_RANK; a++)
            if ((pair->shape[a] > 1) == longer)
                axis[n++] = a;
}

static void job_make(floe_spectrum_device *d)
{
    const floe_pair *p = d->host->pair;
    floe_spectrum_dev_job *j = &d->job;
    *j = (floe_spectrum_dev_job){.x = p->original, .y = p->decoded ? p->decoded : p->original};
    axes_order(p, d->axis);
    for (uint32_t a = 0; a < FLOE_MAX_RANK; a++) {
        j->shape[a] = p->shape[d->axis[a]];
        j->dx[a] = p->original_stride[d->axis[a]];
        j->dy[a] = p->decoded ? p->decoded_stride[d->axis[a]] : j->dx[a];
    }
    j->nrows = j->shape[0] * j->shape[1] * j->shape[2];
    j->pitch = j->shape[3] / 2 + 1;
    j->narrow = p->dtype == FLOE_F32;
    j->nshells = d->host->nshells;
}

floe_status floe_spectrum_device_init(floe_spectrum_device *d, const floe_cuda *cuda, floe_spectrum *host,
                                      floe_error *err)
{
    *d = (floe_spectrum_device){.cuda = cuda, .host = host};
    job_make(d);
    return floe_fourier_device_open(&d->fourier, d->job.shape, err);
}

void floe_spectrum_device_free(floe_spectrum_device *d) { floe_fourier_device_close(&d->fourier); }

void floe_spectrum_device_take(floe_spectrum_device *d, floe_arena *arena)
{
    floe_spectrum_dev_job *j = &d->job;
    j->x = d->host->pair->original;
    j->y = d->host->pair->decoded ? d->host->pair->decoded : j->x;
    d->work = floe_arena_take(arena, d->fourier.work_nbytes, 1); /* first, for it is aligned most */
    j->data = floe_arena_take(arena, j->nrows * j->pitch, 2 * sizeof(double));
    j->parts = floe_arena_take(arena, (uint64_t)FLOE_SPECTRUM_BLOCKS * j->nshells, sizeof(double));
    j->nfilled = floe_arena_take(arena, 1, sizeof *j->nfilled);
    for (int a = 0; a < FLOE_MAX_RANK; a++)
        j->window[a] = d->window[a] = floe_arena_take(arena, j->shape[a], sizeof(double));
    for (int k = 0; k < 3; k++)
        d->sums[k] = floe_arena_take(arena, j->nshells, sizeof(double));
}

/* ---- the pass -------------------------------------------------------------------------------------------------------- */

static floe_status windows_copy(const floe_spectrum_device *d, floe_error *err)
{
    for (uint32_t a = 0; a < FLOE_MAX_RANK; a++)
        FLOE_TRY(
            floe_cuda_copy(d->cuda, d->window[a], d->host->window[d->axis[a]], d->job.shape[a] * sizeof(double), err));
    return FLOE_OK;
}

static floe_status side_run(const floe_spectrum_device *d, int side, const floe_spectrum_options *options,
                            floe_error *err)
{
    const floe_spectrum_dev_job *j = &d->job;
    FLOE_TRY(floe_cuda_clear(d->cuda, j->nfilled, sizeof *j->nfilled, err));
    FLOE_CUDA(err, floe_spectrum_fill_cuda(j, side, options->mean[side], d->cuda->stream));
    FLOE_TRY(floe_fourier_device_run(&d->fourier, j->data, d->work, d->cuda->stream, err));
    if (options->window == FLOE_SPECTRUM_NO_WINDOW)
        FLOE_TRY(floe_cuda_clear(d->cuda, j->data, 2 * sizeof *j->data, err));
    FLOE_CUDA(err, floe_spectrum_shells_cuda(j, false, d->sums[side], d->cuda->stream));
    return floe_cuda_copy(d->cuda, d->host->power[side], d->sums[side], j->nshells * sizeof(double), err);
}

/* How many modes a shell has; whole numbers, which doubles hold. */
static floe_status modes_count(const floe_spectrum_device *d, floe_error *err)
{
    double *counts = d->host->ratio; /* which comes last */
    FLOE_CUDA(err, floe_spectrum_shells_cuda(&d->job, true, d->sums[COUNTS], d->cuda->stream));
    FLOE_TRY(floe_cuda_copy(d->cuda, counts, d->sums[COUNTS], d->job.nshells * sizeof(double), err));
    FLOE_TRY(floe_cuda_wait(d->cuda, err));
    for (uint32_t s = 0; s < d->job.nshells; s++)
        d->host->nmodes[s] = (uint64_t)counts[s];
    return FLOE_OK;
}

floe_status floe_spectrum_device_run(floe_spectrum_device *d, const floe_spectrum_options *options,
                                     floe_spectrum_result *result, floe_error *err)
{
    unsigned long long nfilled;
    double window_squares;
    FLOE_TRY(floe_spectrum_begin(d->host, options, &window_squares, err));
    d->job.has_fill = d->host->pair->has_fill, d->job.fill_bits = d->host->pair->fill_bits;
    FLOE_TRY(windows_copy(d, err));
    for (int side = 0; side < (d->host->pair->decoded ? 2 : 1); side++)
        FLOE_TRY(side_run(d, side, options, err));
    FLOE_TRY(modes_count(d, err));
    FLOE_TRY(floe_cuda_fetch(d->cuda, &nfilled, d->job.nfilled, sizeof nfilled, err));
    floe_spectrum_finish(d->host, window_squares, nfilled, result);
    return FLOE_OK;
}

#else /* nobody comes here: there is no GPU to open */

floe_status floe_spectrum_device_init(floe_spectrum_device *d, const floe_cuda *cuda, floe_spectrum *host,
                                      floe_error *err)
{
    *d = (floe_spectrum_device){.cuda = cuda, .host = host};
    return floe_fail(err, FLOE_ERR_DEVICE, "this build of floe has no CUDA, it runs on the CPU only");
}
void floe_spectrum_device_free(floe_spectrum_device *d) { (void)d; }
void floe_spectrum_device_take(floe_spectrum_device *d, floe_arena *arena) { (void)d, (void)arena; }
floe_status floe_spectrum_device_run(floe_spectrum_device *d, const floe_spectrum_options *options,
                                     floe_spectrum_result *result, floe_error *err)
{
    (void)options, (void)result;
    return floe_spectrum_device_init(d, d->cuda, d->host, err);
}

#endif
