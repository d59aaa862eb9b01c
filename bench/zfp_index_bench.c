/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What side indexes of zfp streams give and take: speed of decoding, and the size of the index, by its form and its chunks.
 *
 *   zfp_index_bench cpu|gpu [LOG2_ELEMENTS [REPEATS [WORD...]]]   2^21 (2^25) elements, 15 repeats, fields whose name holds a word
 *
 * Averaged as in Figure 5.1 of Noordsij's thesis: each field at fixed precisions of 8 to 24 planes in steps of 4; mean of the
 * seconds, harmonic mean of the ratios; overhead: bytes of the index over those of the stream. Fields of floe's own stand for
 * the thesis' datasets, of the same rank and type. Prints a table in Markdown; speeds are of uncompressed values.
 *
 * cpu: MB/s on one thread / on two, whole calls, least of all repeats; beside it libzfp, serial, and floe without an index, which
 *      is one thread's work. On one thread seconds are those of the processor, so that other work on the machine matters
 *      little; on two they are by the clock, which wants an idle machine.
 * gpu: GB/s, floe_zfp_decompress_async between two events, all in device memory, medians
 *
 * What is decoded is compared with what is decoded without an index, on a GPU where C is 1.
 */
#include <math.h>

#include <floe/zfp.h>

#include "bench/bench_kit.h"
#include "synth/synth.h"

#ifdef HAVE_ZFP
#include <zfp.h>
#endif

enum { MAX_REPEATS = 1000, WARM = 2, THREADS = 2, NSIZES = 5, NFORMS = 4, PARTITION = 32 };
enum { LEAST_PLANES = 8, MOST_PLANES = 24, PLANES_STEP = 4, NPRECISIONS = 5 };

typedef struct bench_field {
    const char *name, *kind;
    floe_dtype dtype;
    uint32_t rank;
} bench_field;

/* For NYX, ISABEL, CESM-ATM, BRAIN, BROWN and PLASMA. */
static const bench_field fields[] = {
    {"3-D f32 lognormal", "lognormal", FLOE_F32, 3},   {"3-D f32 turbulence", "turbulence", FLOE_F32, 3},
    {"2-D f32 weather", "weather", FLOE_F32, 2},       {"2-D f64 seismic", "seismic", FLOE_F64, 2},
    {"1-D f64 turbulence", "turbulence", FLOE_F64, 1}, {"1-D f32 particles", "particles", FLOE_F32, 1},
};
enum { NFIELDS = sizeof fields / sizeof *fields };

static const char *const forms[NFORMS] = {"offsets", "lengths", "hybrid", "packed"};

typedef struct bench {
    bool gpu;
    int repeats;
    uint32_t sizes[NSIZES]; /* C; 0: no more */
    floe_ctx *ctx[THREADS]; /* on one thread, on two; the GPU's is the first */
    floe_field in, out;
    floe_zfp_stream known;
    floe_zfp_index index;
    floe_zfp_report *report; /* in device memory */
    uint64_t raw, capacity, nbytes;
    void *stream;
    void *want, *got; /* what is decoded without an index, and a copy from the device */
} bench;

/* Over all precisions. */
typedef struct sums {
    double part;                             /* of the stream in the values */
    double libzfp, alone;                    /* seconds */
    double seconds[NFORMS][NSIZES][THREADS]; /* the same */
    double nbytes[NFORMS][NSIZES];           /* of the index */
    double stream_nbytes;
} sums;

/* ---- either place ----------------------------------------------------------------------------------------------------- */

#ifdef FLOE_HAVE_CUDA_BUILD

static void dev_free(void *p) { CU(cudaFree(p)); }
static void dev_copy(void *dst, const void *src, uint64_t nbytes)
{
    CU(cudaMemcpy(dst, src, nbytes, cudaMemcpyDefault));
}
static void dev_wipe(void *p, uint64_t nbytes) { CU(cudaMemset(p, 0xA5, nbytes)); }

static void decode_async(void *arg)
{
    bench *b = arg;
    FL(b->ctx[0],
       floe_zfp_decompress_async(b->ctx[0], b->stream, b->nbytes, NULL, &b->known, &b->index, &b->out, b->report));
}

/* Median seconds. */
static double gpu_seconds(bench *b)
{
    static double seconds[MAX_REPEATS];
    floe_zfp_report report;
    const double median = bench_gpu_median(NULL, decode_async, b, WARM, b->repeats, seconds);
    dev_copy(&report, b->report, sizeof report);
    if (report.status)
        DIE("status %u", report.status);
    return median;
}

#else

/* None of these is called. */
static void *bench_dev_alloc(uint64_t nbytes) { return nbytes ? NULL : NULL; }
static void dev_free(void *p) { (void)p; }
static void dev_copy(void *dst, const void *src, uint64_t nbytes) { memcpy(dst, src, (size_t)nbytes); }
static void dev_wipe(void *p, uint64_t nbytes) { memset(p, 0xA5, (size_t)nbytes); }
static double gpu_seconds(bench *b) { return b->repeats; }

#endif

static void *memory(const bench *b, uint64_t nbytes) { return b->gpu ? bench_dev_alloc(nbytes) : bench_alloc(nbytes); }
static void memory_free(const bench *b, void *p) { (b->gpu ? dev_free : free)(p); }

/* ---- what is timed ---------------------------------------------------------------------------------------------------- */

/* Least seconds on `threads` threads. index_nbytes 0: without one. */
static double cpu_seconds(bench *b, int threads, uint64_t index_nbytes)
{
    const clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    floe_ctx *ctx = b->ctx[threads - 1];
    double least = INFINITY;
    for (int i = 0; i < b->repeats; i++) {
        const double begin = bench_seconds(clock);
        FL(ctx, floe_zfp_decompress(ctx, b->stream, b->nbytes, &b->known, index_nbytes ? b->index.data : NULL,
                                    index_nbytes, &b->out));
        least = fmin(least, bench_seconds(clock) - begin);
    }
    return least;
}

#ifdef HAVE_ZFP
static double libzfp_seconds(bench *b)
{
    const uint64_t *n = b->known.shape;
    const zfp_type type = b->known.dtype == FLOE_F32 ? zfp_type_float : zfp_type_double;
    double least = INFINITY;
    zfp_field *f = b->known.rank == 1   ? zfp_field_1d(b->out.data, type, n[0])
                   : b->known.rank == 2 ? zfp_field_2d(b->out.data, type, n[1], n[0])
                                        : zfp_field_3d(b->out.data, type, n[2], n[1], n[0]);
    for (int i = 0; i < b->repeats; i++) {
        const double begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
        bitstream *bits = stream_open(b->stream, (size_t)b->nbytes);
        zfp_stream *zfp = zfp_stream_open(bits);
        zfp_stream_set_params(zfp, b->known.minbits, b->known.maxbits, b->known.maxprec, b->known.minexp);
        if (zfp_decompress(zfp, f) == 0)
            DIE("libzfp failed");
        zfp_stream_close(zfp);
        stream_close(bits);
        least = fmin(least, bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin);
    }
    zfp_field_free(f);
    return least;
}
#else
static double libzfp_seconds(bench *b) { return b->gpu ? 0 : INFINITY; }
#endif

static void is_as_without(bench *b)
{
    const void *values = b->out.data;
    if (b->gpu) {
        dev_copy(b->got, b->out.data, b->raw);
        values = b->got;
    }
    if (memcmp(values, b->want, (size_t)b->raw) != 0)
        DIE("other values than without an index");
}

/* One form and size of chunks. */
static void decode(bench *b, int form, int size, sums *s)
{
    uint64_t nbytes;
    b->index.spec = (floe_index_spec){(floe_index_form)form, b->sizes[size], PARTITION};
    b->index.nbytes = 0;
    FL(b->ctx[0], floe_zfp_compress(b->ctx[0], &b->in, &b->known, b->stream, b->capacity, &nbytes, &b->index));
    s->nbytes[form][size] += (double)b->index.nbytes / NPRECISIONS;
    for (int t = 0; t < (b->gpu ? 1 : THREADS); t++) {
        b->gpu ? dev_wipe(b->out.data, b->raw) : (void)memset(b->out.data, 0xA5, (size_t)b->raw);
        const double seconds = b->gpu ? gpu_seconds(b) : cpu_seconds(b, t + 1, b->index.nbytes);
        s->seconds[form][size][t] += seconds / NPRECISIONS;
        if (!b->gpu || size == 0)
            is_as_without(b);
    }
}

static void precision(bench *b, uint32_t planes, sums *s)
{
    char mode[32];
    snprintf(mode, sizeof mode, "prec=%u", planes);
    FL(b->ctx[0], floe_zfp_describe(b->ctx[0], &b->in, mode, 0, &b->known));
    FL(b->ctx[0], floe_zfp_compress(b->ctx[0], &b->in, &b->known, b->stream, b->capacity, &b->nbytes, NULL));
    s->part += (double)b->nbytes / (double)b->raw / NPRECISIONS;
    s->stream_nbytes += (double)b->nbytes / NPRECISIONS;
    if (b->gpu) {
        FL(b->ctx[0], floe_zfp_decompress(b->ctx[0], b->stream, b->nbytes, &b->known, NULL, 0, &b->out));
        dev_copy(b->want, b->out.data, b->raw);
    } else {
        s->libzfp += libzfp_seconds(b) / NPRECISIONS;
        s->alone += cpu_seconds(b, 1, 0) / NPRECISIONS;
        memcpy(b->want, b->out.data, (size_t)b->raw);
    }
    for (int form = 0; form < NFORMS; form++)
        for (int size = 0; size < NSIZES && b->sizes[size]; size++)
            decode(b, form, size, s);
}

/* ---- a field ------------------------------------------------------------------------------------------------------------ */

/* 2^log2 elements, the axes as equal as they can be. */
static void field_make(bench *b, const bench_field *f, uint32_t log2)
{
    uint64_t shape[FLOE_MAX_RANK];
    const uint64_t nelems = (uint64_t)1 << log2;
    for (uint32_t i = 0; i < f->rank; i++)
        shape[i] = (uint64_t)1 << (log2 / f->rank + (i < log2 % f->rank));
    b->raw = nelems * (f->dtype == FLOE_F32 ? 4 : 8);
    b->want = bench_alloc(b->raw);
    b->got = bench_alloc(b->raw);
    if (synth_fill(f->kind, f->dtype, f->rank, shape, 1, 0, nelems, b->want) != FLOE_OK)
        DIE("cannot make %s", f->name);
    void *in = memory(b, b->raw), *out = memory(b, b->raw);
    if (b->gpu)
        dev_copy(in, b->want, b->raw);
    else
        memcpy(in, b->want, (size_t)b->raw);
    b->in = (b->gpu ? floe_field_of_device : floe_field_of)(in, f->dtype, f->rank, shape);
    b->out = (b->gpu ? floe_field_of_device : floe_field_of)(out, f->dtype, f->rank, shape);
    b->capacity = 2 * b->raw + 4096;
    b->index = (floe_zfp_index){.size = sizeof b->index, .capacity = 8 * nelems + 4096};
    b->stream = memory(b, b->capacity);
    b->index.data = memory(b, b->index.capacity);
}

static void field_free(bench *b)
{
    void *all[] = {b->in.data, b->out.data, b->stream, b->index.data};
    for (int i = 0; i < 4; i++)
        memory_free(b, all[i]);
    free(b->want);
    free(b->got);
}

static void cell(const bench *b, const sums *s, int form, int size)
{
    const double overhead = 100 * s->nbytes[form][size] / s->stream_nbytes, *t = s->seconds[form][size];
    if (b->gpu)
        printf(" %.0f, %.3g %% |", 1e-9 * (double)b->raw / t[0], overhead);
    else
        printf(" %.0f / %.0f, %.3g %% |", 1e-6 * (double)b->raw / t[0], 1e-6 * (double)b->raw / t[1], overhead);
}

static void rows(bench *b, const bench_field *f, uint32_t log2)
{
    sums s = {0};
    field_make(b, f, log2);
    for (uint32_t planes = LEAST_PLANES; planes <= MOST_PLANES; planes += PLANES_STEP)
        precision(b, planes, &s);
    for (int form = 0; form < NFORMS; form++) {
        printf("| %s | %.2f |", f->name, 1 / s.part);
        if (!b->gpu)
            printf(" %.0f | %.0f |", 1e-6 * (double)b->raw / s.libzfp, 1e-6 * (double)b->raw / s.alone);
        printf(" %s |", forms[form]);
        for (int size = 0; size < NSIZES && b->sizes[size]; size++)
            cell(b, &s, form, size);
        putchar('\n');
    }
    fflush(stdout);
    field_free(b);
}

static void heading(const bench *b)
{
    int columns = b->gpu ? 3 : 5;
    printf("| field | ratio |%s index |", b->gpu ? "" : " libzfp | no index |");
    for (int i = 0; i < NSIZES && b->sizes[i]; i++, columns++)
        printf(" C = %u |", b->sizes[i]);
    printf("\n|---|");
    for (int i = 1; i < columns; i++)
        printf("---:|");
    putchar('\n');
}

static void open_place(bench *b)
{
    for (int t = 0; t < (b->gpu ? 1 : THREADS); t++) {
        floe_ctx_options o = {.size = sizeof o, .threads = (uint32_t)t + 1};
        o.backend = b->gpu ? FLOE_BACKEND_CUDA : FLOE_BACKEND_CPU;
        FL(b->ctx[t], floe_ctx_create(&b->ctx[t], &o));
    }
    b->report = b->gpu ? bench_dev_alloc(sizeof *b->report) : NULL;
}

int main(int argc, char **argv)
{
    bench b = {.gpu = argc > 1 && strcmp(argv[1], "gpu") == 0, .repeats = argc > 3 ? atoi(argv[3]) : 15};
    const int log2 = argc > 2 ? atoi(argv[2]) : b.gpu ? 25 : 21;
    const uint32_t gpu_sizes[NSIZES] = {1, 2, 4, 8, 16}, cpu_sizes[NSIZES] = {1, 16, 256, 4096};
    if (argc < 2 || (!b.gpu && strcmp(argv[1], "cpu") != 0) || log2 < 12 || log2 > 30 || b.repeats < 1 ||
        b.repeats > MAX_REPEATS)
        DIE("zfp_index_bench cpu|gpu [LOG2_ELEMENTS [REPEATS [WORD...]]]");
    if (b.gpu && !bench_has_gpu())
        DIE("no GPU, or a build without CUDA");
    memcpy(b.sizes, b.gpu ? gpu_sizes : cpu_sizes, sizeof b.sizes);
    open_place(&b);
    heading(&b);
    for (int i = 0; i < NFIELDS; i++)
        if (bench_is_chosen(fields[i].name, argc, argv, 4))
            rows(&b, &fields[i], (uint32_t)log2);
    for (int t = 0; t < THREADS; t++)
        floe_ctx_free(&b.ctx[t]);
    if (b.gpu)
        dev_free(b.report);
    return 0;
}
