/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speed of the assessment: floe_assess of two f32 fields of EDGE^3 turbulence, in device memory where there is a GPU, and on
 * the CPU.
 *
 *   assess_bench [EDGE [REPEATS [THREADS]]]      512 (256 on a CPU), 11 repeats, all processors unless given
 *   assess_bench cpu [EDGE [REPEATS [THREADS]]]  256, 11 repeats, up to 2 threads: what a CPU gains over the plain way
 *
 * fused:   each pass, and all metrics, by one call; warm, median by the clock on the wall, waits and results included
 * alone:   metric-oriented, as the cuZ-Checker paper has it for its baseline: a call for each metric, times added up
 * GB/s:    bytes of both fields, once, over the time; floor: that over what a copy reaches, bytes read and written
 * nested:  SSIM the plain way, all of a window's pairs for each window, one thread; on planes of the field, scaled to all of it
 *
 * `cpu` sets all metrics but the spectrum, by one call, against the same metrics with nested SSIM: all others by one call, too,
 * or metric by metric. Both in seconds of the processor, on one thread, so that other work on the machine matters little. For
 * more threads it gives seconds by the clock, least of all repeats, which wants an idle machine.
 */
#include <math.h>

#include <floe/floe.h>

#include "bench/bench_kit.h"
#include "synth/synth.h"

enum { MAX_REPEATS = 1000, WARM = 2, WINDOW = 8, IMAGE_WINDOW = 11 };

static int repeats = 11;

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
    floe_assess_report r = {.size = sizeof r};
    for (int i = -WARM; i < n; i++) {
        const double begin = bench_now();
        const floe_status status = floe_assess(b->ctx, &b->original, &b->decoded, &o, &r);
        if (status == FLOE_ERR_UNSUPPORTED)
            return -1;
        if (status != FLOE_OK)
            DIE("%s", floe_ctx_message(b->ctx));
        if (i >= 0)
            seconds[i] = bench_now() - begin;
    }
    return bench_median(seconds, n);
}

static void say(const bench *b, const char *name, double seconds)
{
    const double rate = 8e-9 * (double)b->nelems / seconds;
    printf("%-6s %-34s %10.3f ms %9.2f GB/s", b->place, name, 1e3 * seconds, rate);
    if (b->copy > 0)
        printf(" %6.1f %% of a copy", 100 * rate * 1e9 / b->copy);
    putchar('\n');
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

/* What a group does not hold, or the field does not have. */
static bool is_dear(const floe_metric *m)
{
    const size_t length = strlen(m->alias);
    return strcmp(m->alias, "original_autocorr") == 0 || m->pass == FLOE_PASS_SPECTRUM ||
           (m->pass == FLOE_PASS_STENCIL && strncmp(m->alias, "decoded_", 8) == 0) ||
           (m->pass == FLOE_PASS_STENCIL && length > 5 && strcmp(m->alias + length - 5, "_ssim") == 0) ||
           strcmp(m->alias, "autocorr_axis3") == 0;
}

/* Metrics of a pass one by one, those of all passes where pass is FLOE_PASSES. */
static void alone(const bench *b, floe_metric_pass pass, const char *name)
{
    double sum = 0;
    int n = 0;
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        floe_metric_set set = {{0}, 0, 0};
        if (is_dear(m) || (pass != FLOE_PASSES && m->pass != pass))
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

#define SCALARS                                                                                                     \
    "min max mean variance std_dev skewness kurtosis zeros nan inf decoded_mean decoded_variance decoded_skewness " \
    "max_error avg_error min_error mse rmse nrmse snr psnr bias pearson covariance l1 l2 value_error_correlation "  \
    "max_pw_rel_error avg_pw_rel_error"

static void calls(const bench *b)
{
    fused(b, "reduction: errors",
          "max_error avg_error min_error mse rmse nrmse snr psnr bias pearson covariance l1 l2");
    fused(b, "reduction: all scalars", SCALARS);
    fused(b, "reduction: scalars and PDFs", SCALARS " error_pdf rel_error_pdf pw_rel_error_pdf");
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

typedef struct nested_window {
    const char *name;
    uint64_t depth, edge; /* along z; along y and x */
    bool is_gaussian;
    double weight[IMAGE_WINDOW]; /* along y and x */
} nested_window;

/* Of one window: sums of weights, x, y, and of their products. */
typedef struct window_sums {
    double n, x, y, xx, yy, xy;
} window_sums;

static window_sums uniform_sums(const bench *b, const nested_window *w, const float *x, const float *y)
{
    window_sums s = {(double)(w->depth * w->edge * w->edge), 0, 0, 0, 0, 0};
    for (uint64_t k = 0; k < w->depth; k++)
        for (uint64_t j = 0; j < w->edge; j++)
            for (uint64_t i = 0; i < w->edge; i++) {
                const uint64_t at = (k * b->edge + j) * b->edge + i;
                const double p = (double)x[at], q = (double)y[at];
                s.x += p, s.y += q, s.xx += p * p, s.yy += q * q, s.xy += p * q;
            }
    return s;
}

static window_sums weighted_sums(const bench *b, const nested_window *w, const float *x, const float *y)
{
    window_sums s = {0, 0, 0, 0, 0, 0};
    for (uint64_t j = 0; j < w->edge; j++)
        for (uint64_t i = 0; i < w->edge; i++) {
            const uint64_t at = j * b->edge + i;
            const double g = w->weight[j] * w->weight[i], p = (double)x[at], q = (double)y[at];
            s.n += g, s.x += g * p, s.y += g * q, s.xx += g * p * p, s.yy += g * q * q, s.xy += g * p * q;
        }
    return s;
}

static double nested_one(const bench *b, const nested_window *w, const float *x, const float *y)
{
    const double c1 = 1e-4, c2 = 9e-4; /* of a range of 1; it does not matter here */
    const window_sums s = w->is_gaussian ? weighted_sums(b, w, x, y) : uniform_sums(b, w, x, y);
    const double mx = s.x / s.n, my = s.y / s.n;
    return (2 * mx * my + c1) * (2 * (s.xy / s.n - mx * my) + c2) /
           ((mx * mx + my * my + c1) * (s.xx / s.n - mx * mx + s.yy / s.n - my * my + c2));
}

/* Seconds of the processor for all windows of the field, from those that begin in some of its planes. */
static double nested_time(const bench *b, const nested_window *w)
{
    enum { PLANES = 3 };
    const uint64_t nplanes = b->edge - w->depth + 1;
    const float *x = b->original.data, *y = b->decoded.data;
    volatile double sum = 0; /* so that it is found */
    const double begin = bench_processor_now();
    for (uint64_t k = 0; k < PLANES; k++)
        for (uint64_t v = 0; v + w->edge <= b->edge; v++)
            for (uint64_t u = 0; u + w->edge <= b->edge; u++) {
                const uint64_t at = ((nplanes * (2 * k + 1) / (2 * PLANES)) * b->edge + v) * b->edge + u;
                sum = sum + nested_one(b, w, x + at, y + at);
            }
    const double seconds = (bench_processor_now() - begin) / PLANES * (double)nplanes;
    say(b, w->name, seconds);
    return seconds;
}

/* All kinds of SSIM that the window pass finds. */
static double nested(const bench *b)
{
    nested_window windows[] = {{"nested: SSIM 8^3", WINDOW, WINDOW, false, {0}},
                               {"nested: SSIM of slices, 7 x 7", 1, 7, false, {0}},
                               {"nested: SSIM of slices, Gaussian", 1, IMAGE_WINDOW, true, {0}}};
    double sum = 0;
    for (int i = 0; i < IMAGE_WINDOW; i++)
        windows[2].weight[i] = exp(-(i - 5) * (i - 5) / 4.5);
    for (int k = 0; k < 3; k++)
        sum += nested_time(b, &windows[k]);
    return sum;
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
        const double begin = bench_now();
        memcpy(copy, i % 2 ? x : y, b.nelems * sizeof *copy);
        best = fmin(best, bench_now() - begin);
        if (copy[b.nelems / 2] == 12345) /* so that it is made */
            puts("");
    }
    b.copy = 8 * (double)b.nelems / best;
    calls(&b);
    nested(&b);
    floe_ctx_free(&b.ctx);
    free(x), free(y), free(copy);
}

/* ---- what a CPU gains ------------------------------------------------------------------------------------------------------ */

static const char all_metrics[] = "reduction stencil window";

/* Least seconds of one call, of the processor or by the clock. */
static double least_time(const bench *b, const char *metrics, double (*clock_now)(void))
{
    floe_metric_set set;
    floe_assess_report r = {.size = sizeof r};
    double least = INFINITY;
    if (floe_metric_set_parse(&set, metrics, NULL) != FLOE_OK)
        DIE("no such metrics: %s", metrics);
    const floe_assess_options o = options_of(&set);
    for (int i = -1; i < repeats; i++) {
        const double begin = clock_now();
        if (floe_assess(b->ctx, &b->original, &b->decoded, &o, &r) != FLOE_OK)
            DIE("%s", floe_ctx_message(b->ctx));
        least = i < 0 ? least : fmin(least, clock_now() - begin);
    }
    return least;
}

static void threads_open(bench *b, uint32_t threads)
{
    floe_ctx_options o = {.size = sizeof o, .backend = FLOE_BACKEND_CPU, .threads = threads};
    floe_ctx_free(&b->ctx);
    if (floe_ctx_create(&b->ctx, &o) != FLOE_OK)
        DIE("%s", floe_ctx_message(b->ctx));
}

/* The metrics of two passes, each by a call of its own. */
static double one_by_one(const bench *b)
{
    double sum = 0;
    for (uint32_t i = 0; floe_metric_at(i); i++) {
        const floe_metric *m = floe_metric_at(i);
        if (!is_dear(m) && (m->pass == FLOE_PASS_REDUCTION || m->pass == FLOE_PASS_STENCIL))
            sum += least_time(b, m->alias, bench_processor_now);
    }
    return sum;
}

static void cpu_study(uint64_t edge, uint32_t most_threads)
{
    float *x, *y;
    const uint64_t shape[] = {edge, edge, edge};
    bench b = {.nelems = edge * edge * edge, .edge = edge, .place = "CPU"};
    fields_make(edge, &x, &y);
    b.original = floe_field_of(x, FLOE_F32, 3, shape), b.decoded = floe_field_of(y, FLOE_F32, 3, shape);
    threads_open(&b, 1);
    const double fused = least_time(&b, all_metrics, bench_processor_now);
    say(&b, "all but the spectrum, one call", fused);
    const double plain = nested(&b), rest = least_time(&b, "reduction stencil", bench_processor_now);
    say(&b, "reduction and stencil, one call", rest);
    printf("CPU    nested SSIM and the rest by one call: %.1f times as long\n", (plain + rest) / fused);
    const double alone = one_by_one(&b);
    say(&b, "reduction and stencil, one by one", alone);
    printf("CPU    nested SSIM and the rest one by one: %.1f times as long\n", (plain + alone) / fused);
    const double serial = least_time(&b, all_metrics, bench_now);
    for (uint32_t threads = 2; threads <= most_threads; threads++) {
        threads_open(&b, threads);
        const double seconds = least_time(&b, all_metrics, bench_now);
        printf("CPU    %u threads, by the clock: %.3f s instead of %.3f s, %.2f times as fast; over nested SSIM and "
               "the rest "
               "one by one, on one thread: %.1f times\n",
               threads, seconds, serial, serial / seconds, (plain + alone) / seconds);
    }
    floe_ctx_free(&b.ctx);
    free(x), free(y);
}

#ifdef FLOE_HAVE_CUDA_BUILD
static double copy_speed(void *to, const void *from, uint64_t nbytes)
{
    double best = INFINITY;
    for (int i = 0; i < 10; i++) {
        CU(cudaDeviceSynchronize());
        const double begin = bench_now();
        CU(cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDeviceToDevice, NULL));
        CU(cudaDeviceSynchronize());
        best = fmin(best, bench_now() - begin);
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
    const bool only_cpu = argc > 1 && strcmp(argv[1], "cpu") == 0;
    argc -= only_cpu, argv += only_cpu;
    const uint64_t edge = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    repeats = argc > 2 ? atoi(argv[2]) : repeats;
    if (repeats < 1 || repeats > MAX_REPEATS || (edge && edge < 16))
        DIE("assess_bench [cpu] [EDGE [REPEATS [THREADS]]]");
    if (only_cpu) {
        cpu_study(edge ? edge : 256, argc > 3 ? (uint32_t)atoi(argv[3]) : 2);
        return 0;
    }
#ifdef FLOE_HAVE_CUDA_BUILD
    if (bench_has_gpu())
        on_gpu(edge ? edge : 512);
#endif
    on_cpu(edge && edge < 256 ? edge : 256, argc > 3 ? (uint32_t)atoi(argv[3]) : 0);
    return 0;
}
