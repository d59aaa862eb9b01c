/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speed on a GPU, of whole public calls with the data on the device.
 *
 *   gpu_bench [REPEATS] [NAME...]      all cases of up to 2^29 values, or those whose name holds one of the words; 21 repeats unless given
 *
 * call:   floe_compress_async or floe_decompress_async between two events: all launches, sizes and checksums included
 * graph:  the same call captured once and replayed
 * wait:   floe_compress or floe_decompress by the clock on the wall, which waits and brings the size to the host
 * floor:  bytes that must move (the field and the stream, once each) over the bandwidth of a copy in the same run
 * All are medians. Each case is checked: the stream equals the CPU's, byte for byte, and so do the decoded values.
 * region: floe_decompress_region, a box in the middle of 1 % of the values, in milliseconds
 * levels: floe_decompress_level, every 2nd, 4th and 8th point of each axis, in milliseconds: of codecs that have levels
 * host:   floe_compress and floe_decompress of pinned host memory through the GPU, beside plain copies of the field
 */
#include <math.h>

#include <floe/floe.h>

#include "bench/bench_kit.h"
#include "synth/synth.h"

#ifndef FLOE_HAVE_CUDA_BUILD

int main(void)
{
    puts("gpu_bench: this build has no CUDA");
    return 0;
}

#else

enum { MAX_REPEATS = 1000, WARM = 3 };

typedef struct bench_case {
    const char *name, *kind;
    floe_dtype dtype;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    const char *params;
    bool host;
} bench_case;

/* Bounds as 1e-3 of the range of these fields, given as abs where ABS stands in them: it is replaced by that number. */
static const bench_case cases[] = {
    {"fast_512", "turbulence", FLOE_F32, 3, {512, 512, 512}, "ABS1e-3 fill=none preset=fast", false},
    {"fast_512_rel", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 preset=fast", false},
    {"fast_512_rel1e-4", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-4 preset=fast", false},
    {"balanced_512",
     "turbulence",
     FLOE_F32,
     3,
     {512, 512, 512},
     "ABS1e-3 fill=none preset=balanced codec=lorenzo",
     false},
    {"balanced_512_rel", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 preset=balanced codec=lorenzo", false},
    {"auto_512_rel", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 preset=balanced", false},
    {"auto_160_1e-4", "turbulence", FLOE_F32, 3, {160, 160, 160}, "rel=1e-4 preset=balanced", false},
    {"auto_512_best", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 preset=best", false},
    {"auto_160_best", "turbulence", FLOE_F32, 3, {160, 160, 160}, "rel=1e-3 preset=best", false},
    {"fast_160", "turbulence", FLOE_F32, 3, {160, 160, 160}, "ABS1e-3 fill=none preset=fast", false},
    {"fast_160_rel", "turbulence", FLOE_F32, 3, {160, 160, 160}, "rel=1e-3 preset=fast", false},
    {"balanced_2d", "turbulence", FLOE_F32, 2, {1800, 3600}, "ABS1e-3 fill=none preset=balanced codec=lorenzo", false},
    {"fast_2d", "turbulence", FLOE_F32, 2, {1800, 3600}, "ABS1e-3 fill=none preset=fast", false},
    {"fast_1d", "turbulence", FLOE_F32, 1, {1 << 26}, "ABS1e-3 fill=none preset=fast", false},
    {"fast_f64", "turbulence", FLOE_F64, 3, {256, 512, 512}, "ABS1e-3 fill=none preset=fast", false},
    {"balanced_f64",
     "turbulence",
     FLOE_F64,
     3,
     {256, 512, 512},
     "ABS1e-3 fill=none preset=balanced codec=lorenzo",
     false},
    {"fast_odd", "turbulence", FLOE_F32, 3, {449, 449, 235}, "ABS1e-3 fill=none preset=fast", false},
    {"fast_fill", "fill", FLOE_F32, 3, {128, 512, 512}, "rel=1e-3 preset=fast", false},
    {"quiet_512_fill", "seismic", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 preset=fast fill=0", false},
    {"fast_2d_rel", "turbulence", FLOE_F32, 2, {1800, 3600}, "rel=1e-3 preset=fast", false},
    {"balanced_512_1e-4", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-4 preset=balanced codec=lorenzo", false},
    {"particles_rel", "particles", FLOE_F32, 1, {1 << 27}, "rel=1e-3 preset=balanced codec=lorenzo", false},
    {"pwrel_256", "turbulence", FLOE_F32, 3, {256, 256, 256}, "pwrel=1e-3 preset=fast", false},
    {"lossless_256", "turbulence", FLOE_F32, 3, {256, 256, 256}, "lossless preset=fast", false},
    {"host_fast", "turbulence", FLOE_F32, 3, {1024, 512, 512}, "ABS1e-3 fill=none preset=fast", true},
    {"zfp_512", "turbulence", FLOE_F32, 3, {512, 512, 512}, "ABS1e-3 fill=none codec=zfp", false},
    {"zfp_512_rel", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 codec=zfp", false},
    {"zfp_512_rate", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rate=8 fill=none codec=zfp", false},
    {"zfp_512_fill", "fill", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 codec=zfp", false},
    {"zfp_512_lossless", "turbulence", FLOE_F32, 3, {512, 512, 512}, "lossless fill=none codec=zfp", false},
    {"zfp_f64", "turbulence", FLOE_F64, 3, {256, 512, 512}, "ABS1e-3 fill=none codec=zfp", false},
    {"zfp_2d", "turbulence", FLOE_F32, 2, {8192, 16384}, "ABS1e-3 fill=none codec=zfp", false},
    {"interp_512", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 codec=interp preset=balanced", false},
    /* whose last axis begins late: steps of two axes */
    {"interp_512_1e-2", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-2 codec=interp preset=balanced", false},
    {"interp_512_1e-4", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-4 codec=interp preset=balanced", false},
    {"interp_512_1e-6", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-6 codec=interp preset=balanced", false},
    {"interp_f64", "turbulence", FLOE_F64, 3, {256, 512, 512}, "rel=1e-3 codec=interp preset=balanced", false},
    {"interp_best", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 codec=interp preset=best", false},
    {"interp_160", "turbulence", FLOE_F32, 3, {160, 160, 160}, "rel=1e-3 codec=interp preset=balanced", false},
    {"interp_2d", "turbulence", FLOE_F32, 2, {1800, 3600}, "rel=1e-3 codec=interp preset=balanced", false},
    {"interp_1d", "turbulence", FLOE_F32, 1, {1 << 26}, "rel=1e-3 codec=interp preset=balanced", false},
    {"interp_last_26", "turbulence", FLOE_F32, 3, {1500, 1000, 26}, "rel=1e-3 codec=interp preset=balanced", false},
    {"wavelet_last_26", "turbulence", FLOE_F32, 3, {1500, 1000, 26}, "rel=1e-3 codec=wavelet preset=balanced", false},
    {"interp_last_3", "turbulence", FLOE_F32, 2, {1 << 24, 3}, "rel=1e-3 codec=interp preset=balanced", false},
    {"interp_fill", "fill", FLOE_F32, 3, {128, 512, 512}, "rel=1e-3 codec=interp preset=balanced", false},
    {"interp_pwrel", "turbulence", FLOE_F32, 3, {128, 512, 512}, "pwrel=1e-3 codec=interp preset=balanced", false},
    {"wavelet_512", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 codec=wavelet preset=balanced", false},
    {"wavelet_best", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 codec=wavelet preset=best", false},
    {"wavelet_160", "turbulence", FLOE_F32, 3, {160, 160, 160}, "rel=1e-3 codec=wavelet preset=balanced", false},
    {"wavelet_2d", "turbulence", FLOE_F32, 2, {1800, 3600}, "rel=1e-3 codec=wavelet preset=balanced", false},
    {"wavelet_1d", "turbulence", FLOE_F32, 1, {1 << 26}, "rel=1e-3 codec=wavelet preset=balanced", false},
    {"wavelet_fill", "fill", FLOE_F32, 3, {128, 512, 512}, "rel=1e-3 codec=wavelet preset=balanced", false},
    {"interp_chunks", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 codec=interp chunk=128x128x128", false},
    {"wavelet_chunks", "turbulence", FLOE_F32, 3, {512, 512, 512}, "rel=1e-3 codec=wavelet chunk=128x128x128", false},
    {"interp_chunks_psnr", "turbulence", FLOE_F32, 3, {512, 512, 512}, "psnr=60 codec=interp chunk=128x128x128", false},
    {"wavelet_chunks_psnr",
     "turbulence",
     FLOE_F32,
     3,
     {512, 512, 512},
     "psnr=60 codec=wavelet chunk=128x128x128",
     false},
    {"interp_1024", "turbulence", FLOE_F32, 3, {1024, 1024, 1024}, "rel=1e-3 codec=interp preset=balanced", false},
    {"wavelet_1024", "turbulence", FLOE_F32, 3, {1024, 1024, 1024}, "rel=1e-3 codec=wavelet preset=balanced", false},
    {"zfp_host_512", "turbulence", FLOE_F32, 3, {512, 512, 512}, "ABS1e-3 fill=none codec=zfp", true},
};
enum { NCASES = sizeof cases / sizeof *cases };

static int repeats = 21;
static double seconds[MAX_REPEATS];
static double copy_bandwidth; /* bytes read and written a second */

/* ---- the field ------------------------------------------------------------------------------------------------------- */

typedef struct bench_data {
    const bench_case *c;
    uint64_t nelems, raw, capacity, stream_nbytes;
    void *values, *decoded; /* host */
    uint8_t *stream;
    void *dev_values;
    uint8_t *dev_stream;
    floe_device_report *dev_report;
    floe_params params;
    floe_field field; /* on the device, or host */
    floe_ctx *gpu, *cpu;
    cudaStream_t q;
    double max_error;
    uint32_t level;
} bench_data;

static void field_make(bench_data *d)
{
    static void *last;
    static const bench_case *of;
    const bench_case *c = d->c;
    if (!of || strcmp(of->kind, c->kind) != 0 || of->dtype != c->dtype || of->rank != c->rank ||
        memcmp(of->shape, c->shape, sizeof c->shape) != 0 || of->host != c->host) {
        if (last)
            CU(cudaFreeHost(last));
        CU(cudaMallocHost(&last, d->raw));
        if (synth_fill(c->kind, c->dtype, c->rank, c->shape, 1, 0, d->nelems, last) != FLOE_OK)
            DIE("cannot make %s", c->kind);
        of = c;
    }
    d->values = last;
}

static double range_of(const bench_data *d)
{
    double lo = INFINITY, hi = -INFINITY;
    for (uint64_t i = 0; i < d->nelems; i++) {
        double v = d->c->dtype == FLOE_F32 ? (double)((float *)d->values)[i] : ((double *)d->values)[i];
        lo = isfinite(v) && v < lo ? v : lo;
        hi = isfinite(v) && v > hi ? v : hi;
    }
    return hi - lo;
}

static void params_make(bench_data *d)
{
    char text[256];
    floe_error err;
    const char *p = d->c->params;
    if (strncmp(p, "ABS", 3) == 0) {
        char *rest;
        double rel = strtod(p + 3, &rest);
        snprintf(text, sizeof text, "abs=%.17g%s", rel * range_of(d), rest);
        p = text;
    }
    if (floe_params_parse(&d->params, p, &err) != FLOE_OK)
        DIE("%s: %s", p, err.message);
}

static uint64_t nelems_of(const bench_case *c)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < c->rank; i++)
        n *= c->shape[i];
    return n;
}

static void data_open(const bench_case *c, bench_data *d)
{
    *d = (bench_data){.c = c, .nelems = nelems_of(c)};
    d->raw = d->nelems * floe_dtype_size(c->dtype);
    field_make(d);
    params_make(d);
    floe_field layout = floe_field_of(d->values, c->dtype, c->rank, c->shape);
    d->capacity = floe_compress_bound(&layout, &d->params);
    CU(cudaMallocHost(&d->decoded, d->raw));
    CU(cudaMallocHost((void **)&d->stream, d->capacity));
    CU(cudaStreamCreate(&d->q));
    floe_ctx_options options = {
        .size = sizeof options, .backend = c->host ? FLOE_BACKEND_CUDA : FLOE_BACKEND_AUTO, .stream = d->q};
    FL(d->gpu, floe_ctx_create(&d->gpu, &options));
    FL(d->cpu, floe_ctx_create(&d->cpu, &(floe_ctx_options){.size = sizeof options, .backend = FLOE_BACKEND_CPU}));
    d->field = layout;
    if (c->host)
        return;
    CU(cudaMalloc(&d->dev_values, d->raw));
    CU(cudaMalloc((void **)&d->dev_stream, d->capacity));
    CU(cudaMalloc((void **)&d->dev_report, sizeof *d->dev_report));
    CU(cudaMemcpy(d->dev_values, d->values, d->raw, cudaMemcpyHostToDevice));
    d->field = floe_field_of_device(d->dev_values, c->dtype, c->rank, c->shape);
}

static void data_close(bench_data *d)
{
    floe_ctx_free(&d->gpu);
    floe_ctx_free(&d->cpu);
    CU(cudaStreamDestroy(d->q));
    CU(cudaFree(d->dev_values));
    CU(cudaFree(d->dev_stream));
    CU(cudaFree(d->dev_report));
    CU(cudaFreeHost(d->decoded));
    CU(cudaFreeHost(d->stream));
}

/* ---- what is measured ------------------------------------------------------------------------------------------------ */

typedef void (*call_fn)(void *); /* of a bench_data */

static void compress_async(void *arg)
{
    bench_data *d = arg;
    FL(d->gpu, floe_compress_async(d->gpu, &d->field, &d->params, d->dev_stream, d->capacity, d->dev_report));
}
static void decompress_async(void *arg)
{
    bench_data *d = arg;
    FL(d->gpu,
       floe_decompress_async(d->gpu, d->dev_stream, d->stream_nbytes, NULL, &d->params, &d->field, d->dev_report));
}
static void compress_wait(void *arg)
{
    bench_data *d = arg;
    FL(d->gpu, floe_compress(d->gpu, &d->field, &d->params, d->c->host ? d->stream : d->dev_stream, d->capacity,
                             &d->stream_nbytes));
}
static void decompress_wait(void *arg)
{
    bench_data *d = arg;
    floe_field out = d->field;
    if (d->c->host)
        out.data = d->decoded;
    FL(d->gpu, floe_decompress(d->gpu, d->c->host ? d->stream : d->dev_stream, d->stream_nbytes, &out));
}

/* A part of the field: level d->level, or, if that is 0, a box in its middle of 1 % of its values. It goes to the front of the field's own memory. */
static floe_field part_of(const bench_data *d, void *data, floe_place place, uint64_t lo[FLOE_MAX_RANK],
                          uint64_t hi[FLOE_MAX_RANK])
{
    floe_field out = d->field;
    for (uint32_t i = 0; i < out.rank; i++) {
        const uint64_t n = out.shape[i], wide = (uint64_t)ceil((double)n * pow(0.01, 1.0 / out.rank));
        lo[i] = (n - wide) / 2;
        hi[i] = lo[i] + wide;
        out.shape[i] = d->level ? ((n - 1) >> d->level) + 1 : wide;
    }
    memset(out.stride, 0, sizeof out.stride);
    out.data = data;
    out.place = place;
    return out;
}
static void decompress_part(const bench_data *d, floe_ctx *ctx, const void *stream, void *data, floe_place place)
{
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    floe_field out = part_of(d, data, place, lo, hi);
    FL(ctx, d->level ? floe_decompress_level(ctx, stream, d->stream_nbytes, d->level, &out)
                     : floe_decompress_region(ctx, stream, d->stream_nbytes, lo, hi, &out));
}
static void part_wait(void *arg)
{
    const bench_data *d = arg;
    decompress_part(d, d->gpu, d->dev_stream, d->dev_values, FLOE_DEVICE);
}

static double time_events(bench_data *d, call_fn call)
{
    return bench_gpu_median(d->q, call, d, WARM, repeats, seconds);
}

static cudaGraphExec_t replayed;
static void replay(void *arg) { CU(cudaGraphLaunch(replayed, ((bench_data *)arg)->q)); }

static double time_graph(bench_data *d, call_fn call)
{
    cudaGraph_t graph;
    CU(cudaStreamBeginCapture(d->q, cudaStreamCaptureModeThreadLocal));
    call(d);
    CU(cudaStreamEndCapture(d->q, &graph));
    CU(cudaGraphInstantiate(&replayed, graph, 0));
    double t = time_events(d, replay);
    CU(cudaGraphExecDestroy(replayed));
    CU(cudaGraphDestroy(graph));
    return t;
}

static double time_wall(bench_data *d, call_fn call)
{
    for (int i = -WARM; i < repeats; i++) {
        const double started = bench_now();
        call(d);
        if (i >= 0)
            seconds[i] = bench_now() - started;
    }
    return bench_median(seconds, repeats);
}

static double time_host_copy(bench_data *d, bool in)
{
    void *dev;
    CU(cudaMalloc(&dev, d->raw));
    for (int i = -WARM; i < repeats; i++) {
        const double started = bench_now();
        CU(in ? cudaMemcpy(dev, d->values, d->raw, cudaMemcpyHostToDevice)
              : cudaMemcpy(d->decoded, dev, d->raw, cudaMemcpyDeviceToHost));
        if (i >= 0)
            seconds[i] = bench_now() - started;
    }
    CU(cudaFree(dev));
    return bench_median(seconds, repeats);
}

/* ---- a case ---------------------------------------------------------------------------------------------------------- */

/* The stream and the values against the CPU's. */
static const char *checked(bench_data *d)
{
    uint8_t *expected = malloc(d->capacity);
    floe_field host = floe_field_of(d->values, d->c->dtype, d->c->rank, d->c->shape), out = host;
    uint64_t n = 0;
    if (!expected)
        DIE("out of memory");
    FL(d->cpu, floe_compress(d->cpu, &host, &d->params, expected, d->capacity, &n));
    if (!d->c->host)
        CU(cudaMemcpy(d->stream, d->dev_stream, d->stream_nbytes, cudaMemcpyDeviceToHost));
    bool same = n == d->stream_nbytes && memcmp(expected, d->stream, n) == 0;
    if (!d->c->host)
        CU(cudaMemcpy(d->decoded, d->dev_values, d->raw, cudaMemcpyDeviceToHost)); /* decoded in place of the field */
    out.data = malloc(d->raw);
    if (!out.data)
        DIE("out of memory");
    FL(d->cpu, floe_decompress(d->cpu, expected, n, &out));
    bool right = memcmp(out.data, d->decoded, d->raw) == 0;
    free(out.data);
    free(expected);
    return same && right ? "" : same ? "  VALUES DIFFER" : "  STREAM DIFFERS";
}

/* After checked: the stream is the CPU's. Whether the values of a part are is added to failed. */
static void print_part(bench_data *d, void *expected, bool *failed)
{
    uint64_t lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK], n;
    const floe_field out = part_of(d, expected, FLOE_HOST, lo, hi);
    const double t = time_wall(d, part_wait);
    decompress_part(d, d->cpu, d->stream, expected, FLOE_HOST);
    if (floe_field_nelems(&out, &n) != FLOE_OK)
        DIE("no values in a part");
    n *= floe_dtype_size(out.dtype);
    CU(cudaMemcpy(d->decoded, d->dev_values, n, cudaMemcpyDeviceToHost));
    const bool same = memcmp(expected, d->decoded, n) == 0;
    printf(" %.2f%s", 1e3 * t, same ? "" : " VALUES DIFFER");
    *failed |= !same;
}

static void print_parts(bench_data *d, bool *failed)
{
    floe_info info = {.size = sizeof info};
    void *expected = malloc(d->raw);
    if (floe_stream_info(d->stream, d->stream_nbytes, &info, NULL) != FLOE_OK || !expected)
        DIE("no stream, or out of memory");
    printf("  region, ms");
    d->level = 0;
    print_part(d, expected, failed);
    printf("%s", info.levels ? "  levels, ms" : "");
    for (d->level = 1; d->level <= info.levels && d->level <= 3; d->level++)
        print_part(d, expected, failed);
    free(expected);
}

static double speed(const bench_data *d, double t) { return 1e-9 * (double)d->raw / t; }

/* By the three clocks: three digits at least. */
static void print_speeds(const bench_data *d, const double *t, double floor)
{
    printf(" |");
    for (int i = 0; i < 3; i++) {
        const double v = speed(d, t[i]);
        printf(" %5.*f", v < 10 ? 2 : v < 100, v);
    }
    printf("  %3.0f %%", 100 * floor / t[0]);
}

static bool run_host(bench_data *d)
{
    double in = time_host_copy(d, true), out = time_host_copy(d, false);
    compress_wait(d);
    double compress = time_wall(d, compress_wait), decompress = time_wall(d, decompress_wait);
    const char *verdict = checked(d);
    double slower = in > out ? in : out;
    printf("%-17s %6.2f  in %7.1f GB/s = %3.0f %% of the copy, out %7.1f = %3.0f %%   (copy in %.1f, out %.1f)%s\n",
           d->c->name, (double)d->raw / (double)d->stream_nbytes, speed(d, compress), 100 * slower / compress,
           speed(d, decompress), 100 * slower / decompress, speed(d, in), speed(d, out), verdict);
    return *verdict == 0;
}

/* By all three clocks; a codec that waits has one. */
static void time_all(bench_data *d, call_fn async, call_fn wait, double *t)
{
    wait(d);
    const bool waits = d->params.codec == FLOE_CODEC_INTERP || d->params.codec == FLOE_CODEC_WAVELET ||
                       (d->params.codec == FLOE_CODEC_AUTO && d->params.preset != FLOE_PRESET_FAST);
    t[2] = time_wall(d, wait);
    t[0] = waits ? t[2] : time_events(d, async);
    t[1] = waits ? t[2] : time_graph(d, async);
}

static bool run_device(bench_data *d)
{
    double t[2][3];
    time_all(d, compress_async, compress_wait, t[0]);
    time_all(d, decompress_async, decompress_wait, t[1]);
    const char *verdict = checked(d);
    bool failed = *verdict != 0;
    double floor = (double)(d->raw + d->stream_nbytes) / copy_bandwidth;
    printf("%-17s %6.2f", d->c->name, (double)d->raw / (double)d->stream_nbytes);
    for (int k = 0; k < 2; k++)
        print_speeds(d, t[k], floor);
    const double saved = (double)d->raw - (double)d->stream_nbytes; /* what a slower link than that gains from */
    printf(" | %5.0f%s", 1e-9 * (saved > 0 ? saved : 0) / (t[0][0] + t[1][0]), verdict);
    print_parts(d, &failed);
    puts("");
    return !failed;
}

int main(int argc, char **argv)
{
    int failures = 0, first = 1;
    if (argc > 1 && atoi(argv[1]) > 0) {
        repeats = atoi(argv[1]) < MAX_REPEATS ? atoi(argv[1]) : MAX_REPEATS;
        first = 2;
    }
    copy_bandwidth = bench_gpu_copy_speed(1 << 30, WARM, repeats, seconds);
    printf("device copy %.0f GB/s, %d repeats, medians, GB/s of uncompressed data\n", 1e-9 * copy_bandwidth, repeats);
    printf("%-17s %6s | compress: call, graph, wait, of floor | decompress: the same | link that breaks even, GB/s\n",
           "case", "ratio");
    for (int i = 0; i < NCASES; i++) {
        bench_data d;
        const bool is_large = nelems_of(&cases[i]) > 1 << 29; /* takes 20 GB of the host */
        if (!bench_is_chosen(cases[i].name, argc, argv, first) || (is_large && first >= argc))
            continue;
        data_open(&cases[i], &d);
        failures += !(cases[i].host ? run_host(&d) : run_device(&d));
        fflush(stdout);
        data_close(&d);
    }
    return failures != 0;
}

#endif
