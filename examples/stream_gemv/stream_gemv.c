/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * y = A x with a matrix that does not stay on the GPU: panels of its rows come from host memory, one after another, and the
 * link between host and GPU is what takes the time. Plain, and as zfp streams of variable rate, which are decoded there.
 *
 *   stream_gemv [--rows N] [--cols N] [--panel ROWS] [--tolerance E] [--passes N]
 *
 * Two of everything: while a panel is decoded and multiplied, the next one is on the link. A panel is a stream and its side
 * index (hybrid, 32 chunks to a partition), in one piece of pinned memory, so that it takes one copy.
 *
 *   R, R_e        plain bytes over those of the streams; over those of streams and indexes
 *   transfer, decode, product      of a panel, each on its own, in ms: T_transfer, T_decode, T_app of the equations
 *   latency       from the beginning of a panel's transfer to its part of y, nothing else running; Eq. 1.1 and 1.3:
 *                 T_transfer + T_app, plain;  T_transfer + T_decode + T_app
 *   period        time a panel when panels follow one another; Eq. 1.2 and 1.4:
 *                 max(T_transfer, T_app), plain;  max(T_transfer, T_decode + T_app)
 *   gain          plain period over this one, and how much of R_e that is
 *
 * where T_transfer is that of the compressed bytes. Fails where an element of y is further off than the tolerance allows.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <floe/floe.h>
#include <floe/zfp.h>

#define DIE(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))
#define CU(call)                                                                     \
    do {                                                                             \
        cudaError_t e_ = (call);                                                     \
        if (e_ != cudaSuccess)                                                       \
            DIE("%s:%d: %s: %s", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
    } while (0)
#define BLAS(call)                                              \
    do {                                                        \
        if ((call) != CUBLAS_STATUS_SUCCESS)                    \
            DIE("%s:%d: %s failed", __FILE__, __LINE__, #call); \
    } while (0)
#define FL(ctx, call)                                    \
    do {                                                 \
        if ((call) != FLOE_OK)                           \
            DIE("%s: %s", #call, floe_ctx_message(ctx)); \
    } while (0)

enum { SLOTS = 2, PARTITION = 32, ALIGNED = 16 };
static const uint32_t chunks[] = {1, 2, 4, 8, 16};
enum { NCHUNKS = sizeof chunks / sizeof *chunks };

typedef struct setup {
    uint64_t rows, cols, panel; /* panel: rows */
    double tolerance;
    int passes;
} setup;

/* A panel in pinned host memory: what crosses the link. */
typedef struct packed {
    void *bytes;
    uint64_t stream_nbytes, index_at, index_nbytes, nbytes; /* nbytes: of all */
} packed;

typedef struct slot {
    void *arrived;               /* device memory */
    cudaEvent_t filled, emptied; /* has arrived; may be overwritten */
} slot;

typedef struct machine {
    setup s;
    uint64_t npanels, panel_nbytes, slot_nbytes;
    float *matrix;          /* pinned host memory, rows one after another */
    float *decoded, *x, *y; /* device memory */
    slot slots[SLOTS];
    cudaStream_t link, work;
    cudaEvent_t begin, end;
    cublasHandle_t blas;
    floe_ctx *ctx;
    /* of the compressed matrix */
    floe_zfp_stream stream;
    floe_index_spec spec;
    packed *packed;           /* of each panel; NULL: plain */
    floe_zfp_report *reports; /* of each panel, device memory */
} machine;

/* ---- the matrix ------------------------------------------------------------------------------------------------------ */

/* Evenly spread over -1 to 1, the same on every machine. */
static float noise(uint64_t i)
{
    i = (i + 1) * 0x9E3779B97F4A7C15u;
    i = (i ^ i >> 29) * 0xBF58476D1CE4E5B9u;
    return (float)(i >> 40) * 0x1p-23f - 1;
}

/* What a source j does at a place i: a peak where they meet, waves, and measured, so with noise. */
static float influence(const setup *s, uint64_t i, uint64_t j)
{
    const float u = (float)i / (float)s->rows, v = (float)j / (float)s->cols, apart = u - v;
    return expf(-40 * apart * apart) * (1 + 0.3f * cosf(37 * u) * sinf(23 * v)) + 0.05f * sinf(211 * u + 97 * v) +
           8e-4f * noise(i * s->cols + j);
}

static void matrix_make(machine *m)
{
    const setup *s = &m->s;
    CU(cudaMallocHost((void **)&m->matrix, s->rows * s->cols * sizeof *m->matrix));
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < s->rows; i++)
        for (uint64_t j = 0; j < s->cols; j++)
            m->matrix[i * s->cols + j] = influence(s, i, j);
}

/* ---- memory, streams --------------------------------------------------------------------------------------------------- */

static floe_field panel_field(const machine *m, void *data)
{
    return floe_field_of_device(data, FLOE_F32, 2, (const uint64_t[]){m->s.panel, m->s.cols});
}

static uint64_t aligned(uint64_t n) { return (n + ALIGNED - 1) / ALIGNED * ALIGNED; }

static void machine_open(machine *m)
{
    floe_ctx_options o = {.size = sizeof o, .backend = FLOE_BACKEND_CUDA};
    CU(cudaStreamCreateWithFlags(&m->link, cudaStreamNonBlocking));
    CU(cudaStreamCreateWithFlags(&m->work, cudaStreamNonBlocking));
    CU(cudaEventCreate(&m->begin));
    CU(cudaEventCreate(&m->end));
    o.stream = m->work;
    if (floe_ctx_create(&m->ctx, &o) != FLOE_OK)
        DIE("%s", floe_ctx_message(m->ctx));
    BLAS(cublasCreate(&m->blas));
    BLAS(cublasSetStream(m->blas, m->work));
    CU(cudaMalloc((void **)&m->decoded, m->panel_nbytes));
    CU(cudaMalloc((void **)&m->x, m->s.cols * sizeof *m->x));
    CU(cudaMalloc((void **)&m->y, m->s.rows * sizeof *m->y));
    CU(cudaMalloc((void **)&m->reports, m->npanels * sizeof *m->reports));
    for (int i = 0; i < SLOTS; i++) {
        CU(cudaMalloc(&m->slots[i].arrived, m->slot_nbytes));
        CU(cudaEventCreateWithFlags(&m->slots[i].filled, cudaEventDisableTiming));
        CU(cudaEventCreateWithFlags(&m->slots[i].emptied, cudaEventDisableTiming));
    }
}

static void machine_close(machine *m)
{
    for (int i = 0; i < SLOTS; i++) {
        CU(cudaFree(m->slots[i].arrived));
        CU(cudaEventDestroy(m->slots[i].filled));
        CU(cudaEventDestroy(m->slots[i].emptied));
    }
    CU(cudaFree(m->decoded));
    CU(cudaFree(m->x));
    CU(cudaFree(m->y));
    CU(cudaFree(m->reports));
    CU(cudaFreeHost(m->matrix));
    BLAS(cublasDestroy(m->blas));
    floe_ctx_free(&m->ctx);
    CU(cudaEventDestroy(m->begin));
    CU(cudaEventDestroy(m->end));
    CU(cudaStreamDestroy(m->link));
    CU(cudaStreamDestroy(m->work));
}

/* ---- compressing, once -------------------------------------------------------------------------------------------------- */

/* What panels will be, and the most that one can take. */
static void stream_plan(machine *m)
{
    char mode[64];
    const uint64_t shape[] = {m->s.panel, m->s.cols};
    const floe_field panel = floe_field_of(m->matrix, FLOE_F32, 2, shape);
    floe_ctx *ctx;
    snprintf(mode, sizeof mode, "abs=%.17g", m->s.tolerance);
    if (floe_ctx_create(&ctx, NULL) != FLOE_OK)
        DIE("%s", floe_ctx_message(ctx));
    FL(ctx, floe_zfp_describe(ctx, &panel, mode, 0, &m->stream));
    floe_ctx_free(&ctx);
    const uint64_t most =
        aligned(floe_zfp_compress_bound(&m->stream)) +
        aligned(floe_zfp_index_bound(&m->stream, &(floe_index_spec){FLOE_INDEX_HYBRID, 1, PARTITION}));
    m->slot_nbytes = most > m->panel_nbytes ? most : m->panel_nbytes;
}

/* Panel k, to pinned memory; room: device memory for stream and index. */
static void panel_pack(machine *m, uint64_t k, uint8_t *room)
{
    const uint64_t capacity = floe_zfp_compress_bound(&m->stream), index_at = aligned(capacity);
    const floe_zfp_index index = {sizeof index, m->spec, room + index_at, m->slot_nbytes - index_at, 0};
    const floe_field panel = panel_field(m, m->decoded);
    packed *p = &m->packed[k];
    floe_zfp_report r;
    CU(cudaMemcpyAsync(m->decoded, m->matrix + k * m->s.panel * m->s.cols, m->panel_nbytes, cudaMemcpyHostToDevice,
                       m->work));
    FL(m->ctx, floe_zfp_compress_async(m->ctx, &panel, &m->stream, room, capacity, &index, &m->reports[k]));
    CU(cudaMemcpyAsync(&r, &m->reports[k], sizeof r, cudaMemcpyDeviceToHost, m->work));
    CU(cudaStreamSynchronize(m->work));
    if (r.status != FLOE_OK)
        DIE("panel %llu cannot be compressed: status %u", (unsigned long long)k, r.status);
    p->stream_nbytes = r.nbytes, p->index_at = aligned(r.nbytes), p->index_nbytes = r.index_nbytes;
    p->nbytes = p->index_at + p->index_nbytes;
    CU(cudaMallocHost(&p->bytes, p->nbytes));
    CU(cudaMemcpyAsync(p->bytes, room, p->stream_nbytes, cudaMemcpyDeviceToHost, m->work));
    CU(cudaMemcpyAsync((uint8_t *)p->bytes + p->index_at, index.data, p->index_nbytes, cudaMemcpyDeviceToHost,
                       m->work));
    CU(cudaStreamSynchronize(m->work));
}

static void pack(machine *m, uint32_t chunk)
{
    m->spec = (floe_index_spec){FLOE_INDEX_HYBRID, chunk, PARTITION};
    m->packed = calloc(m->npanels, sizeof *m->packed);
    if (!m->packed)
        DIE("out of memory");
    for (uint64_t k = 0; k < m->npanels; k++)
        panel_pack(m, k, m->slots[0].arrived);
}

static void unpack(machine *m)
{
    for (uint64_t k = 0; k < m->npanels; k++)
        CU(cudaFreeHost(m->packed[k].bytes));
    free(m->packed);
    m->packed = NULL;
}

/* ---- the steps of a panel ------------------------------------------------------------------------------------------------ */

static void transfer(machine *m, uint64_t k, slot *to)
{
    const void *from = m->packed ? m->packed[k].bytes : m->matrix + k * m->s.panel * m->s.cols;
    CU(cudaMemcpyAsync(to->arrived, from, m->packed ? m->packed[k].nbytes : m->panel_nbytes, cudaMemcpyHostToDevice,
                       m->link));
}

/* Of packed panels: only puts work on the stream. */
static void decode(machine *m, uint64_t k, const slot *from)
{
    const packed *p = &m->packed[k];
    const floe_zfp_index index = {sizeof index, m->spec, (uint8_t *)from->arrived + p->index_at, p->index_nbytes,
                                  p->index_nbytes};
    floe_field out = panel_field(m, m->decoded);
    FL(m->ctx, floe_zfp_decompress_async(m->ctx, from->arrived, p->stream_nbytes, NULL, &m->stream, &index, &out,
                                         &m->reports[k]));
}

/* Rows of C are columns of BLAS. */
static void product(machine *m, uint64_t k, const float *panel)
{
    const float one = 1, zero = 0;
    BLAS(cublasSgemv(m->blas, CUBLAS_OP_T, (int)m->s.cols, (int)m->s.panel, &one, panel, (int)m->s.cols, m->x, 1, &zero,
                     m->y + k * m->s.panel, 1));
}

static void consume(machine *m, uint64_t k, const slot *from)
{
    if (m->packed)
        decode(m, k, from);
    product(m, k, m->packed ? m->decoded : from->arrived);
}

/* ---- measuring ------------------------------------------------------------------------------------------------------------ */

/* Milliseconds between the two events, when all is done. */
static double elapsed(machine *m)
{
    float ms;
    CU(cudaEventSynchronize(m->end));
    CU(cudaEventElapsedTime(&ms, m->begin, m->end));
    return ms;
}

typedef struct times {
    double transfer, decode, product, latency, period; /* ms a panel */
} times;

/* Each step by itself, over all panels; what was transferred last is decoded. */
static void steps_time(machine *m, times *t)
{
    for (uint64_t k = 0; k < m->npanels; k++) {
        slot *s = &m->slots[k % SLOTS];
        CU(cudaEventRecord(m->begin, m->link));
        transfer(m, k, s);
        CU(cudaEventRecord(m->end, m->link));
        t->transfer += elapsed(m) / (double)m->npanels;
        if (m->packed) {
            CU(cudaEventRecord(m->begin, m->work));
            decode(m, k, s);
            CU(cudaEventRecord(m->end, m->work));
            t->decode += elapsed(m) / (double)m->npanels;
        }
        CU(cudaEventRecord(m->begin, m->work));
        product(m, k, m->packed ? m->decoded : s->arrived);
        CU(cudaEventRecord(m->end, m->work));
        t->product += elapsed(m) / (double)m->npanels;
    }
}

static void latency_time(machine *m, times *t)
{
    for (uint64_t k = 0; k < m->npanels; k++) {
        slot *s = &m->slots[k % SLOTS];
        CU(cudaEventRecord(m->begin, m->link));
        transfer(m, k, s);
        CU(cudaEventRecord(s->filled, m->link));
        CU(cudaStreamWaitEvent(m->work, s->filled, 0));
        consume(m, k, s);
        CU(cudaEventRecord(m->end, m->work));
        t->latency += elapsed(m) / (double)m->npanels;
    }
}

/* All panels, several times over, as an application would have them. */
static void pipeline_run(machine *m, int passes)
{
    uint64_t n = 0;
    for (int pass = 0; pass < passes; pass++)
        for (uint64_t k = 0; k < m->npanels; k++, n++) {
            slot *s = &m->slots[n % SLOTS];
            if (n >= SLOTS)
                CU(cudaStreamWaitEvent(m->link, s->emptied, 0));
            transfer(m, k, s);
            CU(cudaEventRecord(s->filled, m->link));
            CU(cudaStreamWaitEvent(m->work, s->filled, 0));
            consume(m, k, s);
            CU(cudaEventRecord(s->emptied, m->work));
        }
}

static void period_time(machine *m, times *t)
{
    CU(cudaEventRecord(m->begin, m->link));
    pipeline_run(m, m->s.passes);
    CU(cudaEventRecord(m->end, m->work));
    t->period = elapsed(m) / ((double)m->s.passes * (double)m->npanels);
}

/* A panel that could not be decoded has that in its report. */
static void reports_check(machine *m)
{
    for (uint64_t k = 0; k < m->npanels; k++) {
        floe_zfp_report r;
        CU(cudaMemcpy(&r, &m->reports[k], sizeof r, cudaMemcpyDeviceToHost));
        if (r.status != FLOE_OK)
            DIE("panel %llu cannot be decoded: status %u", (unsigned long long)k, r.status);
    }
}

/* Times, and y of the last pass. */
static times measure(machine *m, float *y)
{
    times t = {0, 0, 0, 0, 0};
    pipeline_run(m, 1); /* warm */
    CU(cudaDeviceSynchronize());
    steps_time(m, &t);
    latency_time(m, &t);
    CU(cudaMemsetAsync(m->y, 0xff, m->s.rows * sizeof *y, m->work)); /* NaN */
    period_time(m, &t);
    CU(cudaDeviceSynchronize());
    if (m->packed)
        reports_check(m);
    CU(cudaMemcpy(y, m->y, m->s.rows * sizeof *y, cudaMemcpyDeviceToHost));
    return t;
}

/* ---- what came of it ------------------------------------------------------------------------------------------------------ */

static void row_print(const char *name, const char *ratios, const times *t, const char *gain)
{
    const double latency = t->transfer + t->decode + t->product, busy = t->decode + t->product;
    printf("%-9s %s | %8.4f %8.4f %8.4f | %8.4f %8.4f | %8.4f %8.4f | %s\n", name, ratios, t->transfer, t->decode,
           t->product, t->latency, latency, t->period, t->transfer > busy ? t->transfer : busy, gain);
}

static void ratios_of(const machine *m, double *r, double *r_e)
{
    double streams = 0, all = 0;
    for (uint64_t k = 0; k < m->npanels; k++) {
        streams += (double)m->packed[k].stream_nbytes;
        all += (double)m->packed[k].nbytes;
    }
    *r = (double)m->npanels * (double)m->panel_nbytes / streams;
    *r_e = (double)m->npanels * (double)m->panel_nbytes / all;
}

/* The largest difference of two products; NaN counts as infinite. */
static double apart(const float *a, const float *b, uint64_t n)
{
    double most = 0;
    for (uint64_t i = 0; i < n; i++) {
        const double e = fabs((double)a[i] - (double)b[i]);
        most = e > most || isnan(e) ? (isnan(e) ? INFINITY : e) : most;
    }
    return most;
}

/* What the tolerance and the rounding of two products can come to, where all of x is 1 or -1. */
static double allowed(const setup *s) { return (double)s->cols * (s->tolerance + 0x1p-22 * (1.4 + s->tolerance)); }

static double compressed_run(machine *m, uint32_t chunk, const times *plain, const float *want, float *got)
{
    char name[32], ratios[32], gain[64];
    double r, r_e;
    pack(m, chunk);
    const times t = measure(m, got);
    const double error = apart(got, want, m->s.rows), times_less = plain->period / t.period;
    ratios_of(m, &r, &r_e);
    snprintf(name, sizeof name, "zfp C=%u", chunk);
    snprintf(ratios, sizeof ratios, "%6.2f %6.2f", r, r_e);
    snprintf(gain, sizeof gain, "%6.2f %5.2f R_e | %.2e", times_less, times_less / r_e, error);
    row_print(name, ratios, &t, gain);
    unpack(m);
    return error;
}

static int run(machine *m)
{
    float *want = malloc(m->s.rows * sizeof *want), *got = malloc(m->s.rows * sizeof *got);
    float *x = malloc(m->s.cols * sizeof *x);
    double error = 0;
    if (!want || !got || !x)
        DIE("out of memory");
    for (uint64_t j = 0; j < m->s.cols; j++)
        x[j] = noise(j) < 0 ? -1 : 1;
    CU(cudaMemcpy(m->x, x, m->s.cols * sizeof *x, cudaMemcpyHostToDevice));
    puts("ms a panel     R    R_e | transfer   decode  product |  latency   Eq 1.* |   period   Eq 1.* |   gain   of "
         "R_e | error");
    const times plain = measure(m, want);
    row_print("plain", "     -      -", &plain, "     -");
    for (int i = 0; i < NCHUNKS; i++)
        error = fmax(error, compressed_run(m, chunks[i], &plain, want, got));
    printf("largest error of y: %.3e; the tolerance allows %.3e\n", error, allowed(&m->s));
    free(want), free(got), free(x);
    return error <= allowed(&m->s) ? 0 : 1;
}

/* ---- the command line ------------------------------------------------------------------------------------------------------ */

static int option(setup *s, const char *name, const char *value)
{
    char *end;
    const double v = strtod(value, &end);
    if (*end || !(v > 0 && v <= INT32_MAX))
        return 0;
    if (strcmp(name, "--rows") == 0)
        s->rows = (uint64_t)v;
    else if (strcmp(name, "--cols") == 0)
        s->cols = (uint64_t)v;
    else if (strcmp(name, "--panel") == 0)
        s->panel = (uint64_t)v;
    else if (strcmp(name, "--tolerance") == 0)
        s->tolerance = v;
    else if (strcmp(name, "--passes") == 0)
        s->passes = (int)v;
    else
        return 0;
    return 1;
}

int main(int argc, char **argv)
{
    machine m = {.s = {.rows = 16384, .cols = 32768, .panel = 1024, .tolerance = 1e-2, .passes = 5}};
    struct cudaDeviceProp gpu;
    int ngpus = 0;
    for (int i = 1; i < argc; i += 2)
        if (i + 1 >= argc || !option(&m.s, argv[i], argv[i + 1]))
            DIE("stream_gemv [--rows N] [--cols N] [--panel ROWS] [--tolerance E] [--passes N]");
    if (m.s.panel == 0 || m.s.rows < m.s.panel || m.s.cols == 0 || m.s.passes < 1)
        DIE("stream_gemv: a panel is at least one row and at most the matrix, rows have at least one value");
    if (cudaGetDeviceCount(&ngpus) != cudaSuccess || ngpus == 0)
        DIE("stream_gemv: there is no GPU");
    m.s.rows -= m.s.rows % m.s.panel;
    m.npanels = m.s.rows / m.s.panel;
    m.panel_nbytes = m.s.panel * m.s.cols * sizeof(float);
    CU(cudaGetDeviceProperties(&gpu, 0));
    matrix_make(&m);
    stream_plan(&m);
    machine_open(&m);
    printf("%s; %llu x %llu f32, %.2f GB in host memory, in %llu panels of %.1f MB; each element within %g\n", gpu.name,
           (unsigned long long)m.s.rows, (unsigned long long)m.s.cols,
           1e-9 * (double)m.npanels * (double)m.panel_nbytes, (unsigned long long)m.npanels,
           1e-6 * (double)m.panel_nbytes, m.s.tolerance);
    const int status = run(&m);
    machine_close(&m);
    return status;
}
