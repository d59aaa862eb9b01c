/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_speed bench_speed_of(double *seconds, uint32_t n, uint64_t nbytes)
{
    double mb = (double)nbytes / 1e6;
    qsort(seconds, n, sizeof *seconds, ascending);
    double median = n % 2 ? seconds[n / 2] : 0.5 * (seconds[n / 2 - 1] + seconds[n / 2]);
    return (bench_speed){
        .min = mb / fmax(seconds[n - 1], 1e-9), .median = mb / fmax(median, 1e-9), .max = mb / fmax(seconds[0], 1e-9)};
}

bench_speed bench_copy(const bench_array *array, uint32_t repeats, double *seconds)
{
    memcpy(array->decoded.data, array->original.data, array->nbytes);
    for (uint32_t i = 0; i < repeats; i++) {
        double started = cli_seconds();
        memcpy(array->decoded.data, array->original.data, array->nbytes);
        seconds[i] = cli_seconds() - started;
    }
    return bench_speed_of(seconds, repeats, array->nbytes);
}

/* Is the error of one value within the bound? With psnr all values count together; rate and prec have none. */
static bool within(const floe_info *info, double x, double error)
{
    switch (info->mode) {
    case FLOE_BOUND_LOSSLESS: return false; /* the bits differ */
    case FLOE_BOUND_PWREL: return error <= info->bound * fabs(x);
    case FLOE_BOUND_RATE:
    case FLOE_BOUND_PREC:
    case FLOE_BOUND_PSNR: return true;
    default: return error <= info->abs_bound;
    }
}

bool bench_check(const bench_array *array, const floe_info *info, double *max_error)
{
    const floe_dtype dtype = array->original.dtype;
    size_t size = floe_dtype_size(dtype);
    uint64_t nelems = array->nbytes / size;
    const unsigned char *a = array->original.data, *b = array->decoded.data;
    double squares = 0, range = info->value_max - info->value_min;
    bool ok = true;
    *max_error = 0;
    for (uint64_t i = 0; i < nelems; i++) {
        if (memcmp(a + i * size, b + i * size, size) == 0)
            continue;
        double x = cli_number_at(dtype, a, i), y = cli_number_at(dtype, b, i), error = fabs(x - y);
        ok = ok && isfinite(x) && isfinite(y) && within(info, x, error);
        squares += error * error;
        *max_error = fmax(*max_error, error);
    }
    if (info->mode == FLOE_BOUND_PSNR && squares > 0)
        ok = ok && 20 * log10(range / sqrt(squares / (double)nelems)) > info->bound - 1e-6;
    return ok;
}
