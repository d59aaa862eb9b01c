/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speed of the assessment: floe_assess of two f32 fields of EDGE^3 turbulence, in device memory where there is a GPU, and on
 * the CPU.
 *
 *   assess_bench [EDGE [REPEATS [THREADS]]]      512 (256 on a CPU), 11 repeats, all processors unless given
 *
 * fused:   each pass, and all metrics, by one call; warm, median by the clock on the wall, waits and answers included
 * alone:   metric-oriented, as the cuZ-Checker paper has it for its baseline: a call for each metric, times added up
 * GB/s:    bytes of both fields, once, over the time; floor: that over what a copy reaches, bytes read and written
 * window:  SSIM with nested windows, the plain way, on a slab of the field; scaled to all of it
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <floe/floe.h>

#include "synth/synth.h"

#ifdef FLOE_HAVE_CUDA_BUILD
#include <cuda_runtime_api.h>
#endif

#define DIE(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))
enum { MAX_REPEATS = 1000, WARM = 2, WINDOW = 8 };

static int repeats = 11;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct bench {
    floe_ctx *ctx;
    floe_field original, decoded;
    uint64_t nelems, edge;
    const char *place;
    double copy; /* bytes a second, read and written */
} bench;

/* ---- the fields ------------------------------------------------------------------------------------------------------ */

/* Turbulence, and the same with an error that is spread evenly over a bound of 1e-3 of its range. */
static void fields_make(uint64_t edge, float **x, float **y)
{
    const uint64_t shape[] = {edge, edge, edge}, n = edge * edge * edge;
    uint64_t seed = 1;
    float low = INFINITY, high = -INFINITY;
    *x = malloc(n * sizeof(float)), *y = malloc(n * sizeof(float));
    if (!*x || !*y || synth_fill("turbulence", FLOE_F32, 3, shape, 1, 0, n, *x) != FLOE_OK)
        DIE("cannot make the field");
    for (uint64_t i = 0; i < n; i++)
        low = fminf(low, (*x)[i]), high = fmaxf(high, (*x)[i]);
    for (uint64_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        (*y)[i] = (*x)[i] + (high - low) * 1e-3f * ((float)(seed >> 40) * 0x1p-23f - 1);
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------------ */

static floe_assess_options options_of(const floe_metric_set *set)
{
    floe_assess_options o;
    floe_assess_options_init(&o);
    o.metrics = *set;
    o.mode = FLOE_BOUND_REL;
    o.bound = 1e-3;
    return o;
}

/* Median seconds of a call; negative: this build or place lacks the metric. */
static double call_time(const bench *b, const floe_metric_set *set, int n)
{
    const floe_assess_options o = options_of(set);
    double seconds[MAX_REPEATS];
    floe_assess_report r;
    for (int i = -WARM; i < n; i++) {
        const double begin = now();
        const floe_status status = floe_assess(b->ctx, &b->original, &b->decoded, &o, &r);
        if (status == FLOE_ERR_UNSUPPORTED)
            return -1;
        if (status != FLOE_OK)
            DIE("%s", floe_ctx_message(b->ctx));
        if (i >= 0)
            seconds[i] = now() - begin;
    }
    qsort(seconds, (size_t)n, sizeof *seconds, by_size);
    return seconds[n / 2];
}

static void say(const bench *b, const char *name, double seconds)
{
    const double rate = 8e-9 * (double)b->nelems / seconds;
    printf("%-6s %-34s %10.3f ms %9.2f GB/s %6.1f %% of a copy\n", b->place, name, 1e3 * seconds, rate,
           100 * rate * 1e9 / b->copy);
    fflush(stdout);
}

static void fused(const bench *b, const char *name, const char *metrics)
{
    floe_metric_set set;
    floe_error err;
    if (floe_metric_set_parse(&set, metrics, &err) != FLOE_OK)
        DIE("%s", err.message);
    const double seconds = call_time(b, &set, repeats);
    if (seconds > 0)
        say(b, name, seconds);
}

/* Metrics of a pass one by one, those of all passes where pass is FLOE_PASSES. */
static void alone(const bench *b, floe_metric_pass pass, const char *name)
{
    double sum = 0;
    int n = 0;
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        floe_metric_set set = {{0}, 0, 0};
        size_t length = strlen(m->alias);
        const bool dear = strcmp(m->alias, "original_autocorr") == 0 || m->pass == FLOE_PASS_SPECTRUM ||
                          (m->pass == FLOE_PASS_STENCIL && length > 5 && strcmp(m->alias + length - 5, "_ssim") == 0) ||
                          strcmp(m->alias, "autocorr_axis3") == 0;
        if (dear || (pass != FLOE_PASSES && m->pass != pass))
            continue; /* as in the group */
        floe_metric_set_add(&set, i);
        const double seconds = call_time(b, &set, 3);
        sum += seconds > 0 ? seconds : 0;
        n += seconds > 0;
    }
    char text[64];
    snprintf(text, sizeof text, "%s, %d metrics alone", name, n);
    say(b, text, sum);
}

static void calls(const bench *b)
{
    fused(b, "reduction: errors",
          "max_error avg_error min_error mse rmse nrmse snr psnr bias pearson covariance l1 l2");
    fused(
        b, "reduction: all scalars",
        "min max mean variance std_dev skewness kurtosis zeros nan inf decoded_mean decoded_variance decoded_skewness "
        "max_error avg_error min_error mse rmse nrmse snr psnr bias pearson covariance l1 l2 value_error_correlation "
        "max_pw_rel_error avg_pw_rel_error");
    fused(b, "reduction: scalars and histograms",
          "psnr skewness max_pw_rel_error error_pdf rel_error_pdf pw_rel_error_pdf ks kl wasserstein entropy");
    fused(b, "reduction: entropy of bytes", "entropy_bytes decoded_entropy_bytes");
    fused(b, "reduction: worst errors", "worst_errors");
    fused(b, "reduction: outside the bound", "outside first_outside");
    fused(b, "reduction", "reduction");
    fused(b, "stencil", "stencil");
    fused(b, "window: SSIM 8^3", "ssim ssim_min");
    fused(b, "window", "window");
    fused(b, "all but the spectrum", "reduction stencil window");
    fused(b, "spectrum", "spectrum_ratio"); /* by name: refused where the library for it is not found */
    alone(b, FLOE_PASS_REDUCTION, "reduction");
    alone(b, FLOE_PASSES, "all");
}

/* ---- a straightforward SSIM, on a few windows ---------------------------------------------------------------------------- */

static double plain_ssim(const float *x, const float *y, uint64_t edge, uint64_t nz, double range)
{
    const double c1 = 1e-4 * range * range, c2 = 9e-4 * range * range, n = WINDOW * WINDOW * WINDOW;
    double sum = 0;
    for (uint64_t z = 0; z < nz; z++)
        for (uint64_t v = 0; v + WINDOW <= edge; v++)
            for (uint64_t u = 0; u + WINDOW <= edge; u++) {
                double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
                for (uint64_t k = 0; k < WINDOW; k++)
                    for (uint64_t j = 0; j < WINDOW; j++)
                        for (uint64_t i = 0; i < WINDOW; i++) {
                            const uint64_t at = ((z + k) * edge + v + j) * edge + u + i;
                            const double a = (double)x[at], b = (double)y[at];
                            sx += a, sy += b, sxx += a * a, syy += b * b, sxy += a * b;
                        }
                const double mx = sx / n, my = sy / n;
                sum += (2 * mx * my + c1) * (2 * (sxy / n - mx * my) + c2) /
                       ((mx * mx + my * my + c1) * (sxx / n - mx * mx + syy / n - my * my + c2));
            }
    return sum;
}

static void plain(const bench *b)
{
    const uint64_t nz = 1, windows = b->edge - WINDOW + 1;
    const double begin = now();
    volatile double sum = plain_ssim(b->original.data, b->decoded.data, b->edge, nz, 1);
    (void)sum;
    say(b, "SSIM 8^3, nested loops, one thread", (now() - begin) / (double)nz * (double)windows);
}

/* ---- places -------------------------------------------------------------------------------------------------------------- */

static void on_cpu(uint64_t edge, uint32_t threads)
{
    float *x, *y;
    const uint64_t shape[] = {edge, edge, edge};
    floe_ctx_options o = {.size = sizeof o, .backend = FLOE_BACKEND_CPU, .threads = threads};
    bench b = {.nelems = edge * edge * edge, .edge = edge, .place = "CPU"};
    if (floe_ctx_create(&b.ctx, &o) != FLOE_OK)
        DIE("%s", floe_ctx_message(b.ctx));
    fields_make(edge, &x, &y);
    b.original = floe_field_of(x, FLOE_F32, 3, shape), b.decoded = floe_field_of(y, FLOE_F32, 3, shape);
    float *copy = malloc(b.nelems * sizeof *copy);
    double best = INFINITY;
    for (int i = 0; i < 5; i++) {
        const double begin = now();
        memcpy(copy, i % 2 ? x : y, b.nelems * sizeof *copy);
        best = fmin(best, now() - begin);
        if (copy[b.nelems / 2] == 12345) /* so that it is made */
            puts("");
    }
    b.copy = 8 * (double)b.nelems / best;
    calls(&b);
    plain(&b);
    floe_ctx_free(&b.ctx);
    free(x), free(y), free(copy);
}

#ifdef FLOE_HAVE_CUDA_BUILD
#define CU(call)                                                                     \
    do {                                                                             \
        cudaError_t e_ = (call);                                                     \
        if (e_ != cudaSuccess)                                                       \
            DIE("%s:%d: %s: %s", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
    } while (0)

static double copy_speed(void *to, const void *from, uint64_t nbytes)
{
    double best = INFINITY;
    for (int i = 0; i < 10; i++) {
        CU(cudaDeviceSynchronize());
        const double begin = now();
        CU(cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDeviceToDevice, NULL));
        CU(cudaDeviceSynchronize());
        best = fmin(best, now() - begin);
    }
    return 2 * (double)nbytes / best;
}

static void on_gpu(uint64_t edge)
{
    float *x, *y;
    void *dev[2];
    const uint64_t shape[] = {edge, edge, edge}, nbytes = edge * edge * edge * sizeof(float);
    bench b = {.nelems = edge * edge * edge, .edge = edge, .place = "GPU"};
    fields_make(edge, &x, &y);
    CU(cudaMalloc(&dev[0], nbytes));
    CU(cudaMalloc(&dev[1], nbytes));
    b.copy = copy_speed(dev[1], dev[0], nbytes);
    CU(cudaMemcpy(dev[0], x, nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemcpy(dev[1], y, nbytes, cudaMemcpyHostToDevice));
    if (floe_ctx_create(&b.ctx, NULL) != FLOE_OK)
        DIE("%s", floe_ctx_message(b.ctx));
    b.original = floe_field_of_device(dev[0], FLOE_F32, 3, shape);
    b.decoded = floe_field_of_device(dev[1], FLOE_F32, 3, shape);
    calls(&b);
    floe_ctx_free(&b.ctx);
    CU(cudaFree(dev[0]));
    CU(cudaFree(dev[1]));
    free(x), free(y);
}
#endif

int main(int argc, char **argv)
{
    const uint64_t edge = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    repeats = argc > 2 ? atoi(argv[2]) : repeats;
    if (repeats < 1 || repeats > MAX_REPEATS || (edge && edge < 16))
        DIE("assess_bench [EDGE [REPEATS [THREADS]]]");
#ifdef FLOE_HAVE_CUDA_BUILD
    int ndevices = 0;
    if (cudaGetDeviceCount(&ndevices) == cudaSuccess && ndevices)
        on_gpu(edge ? edge : 512);
#endif
    on_cpu(edge && edge < 256 ? edge : 256, argc > 3 ? (uint32_t)atoi(argv[3]) : 0);
    return 0;
}
