/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoder pack on the GPU against the CPU codec: bytes, values, largest error, mutated streams; then speed.
 *   lorenzo_pack_gpu_check          everything, a table of speeds last; 1 when anything differs
 *   lorenzo_pack_gpu_check small    small fields only and no speeds: for compute-sanitizer
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>
#include <floe/floe.h>

#define KIT_FAIL(...) (printf(__VA_ARGS__), printf("\n"), exit(1))
#include "tests/codec_kit.h"

#include "codec/lorenzo_layout.h"
#include "codec/lorenzo_pack_cuda.h"
#include "synth/synth.h"

#define CU(call)                                                                          \
    do {                                                                                  \
        cudaError_t e_ = (cudaError_t)(call);                                             \
        if (e_ != cudaSuccess)                                                            \
            KIT_FAIL("%s:%d: %s: %s", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
    } while (0)

enum { EXTRA = 64, RUNS = 20, WARM = 3 };

typedef struct check_case {
    const char *kind;
    uint64_t shape[3];
    double rel;
    bool small, timed;
} check_case;

static const check_case cases[] = {
    {"turbulence", {33, 50, 100}, 1e-2, true, false}, /* cut off along all axes */
    {"turbulence", {16, 32, 64}, 1e-3, true, false},  /* whole tiles */
    {"noise", {20, 17, 40}, 3e-7, true, false},       /* wide residuals: integers */
    {"noise", {2, 2, 9}, 3e-7, true, false},          /* a raw tile */
    {"constant", {17, 16, 33}, 1e-3, true, false},    /* constant tiles */
    {"mixing", {48, 32, 96}, 1e-4, true, false},      /* constant and coded */
    {"steps", {31, 64, 65}, 1e-3, true, false},
    {"hostile", {17, 18, 40}, 1e-3, true, false}, /* exceptions: to be refused */
    {"turbulence", {100, 90, 70}, 1e-4, false, false},
    {"noise", {64, 64, 64}, 3e-7, false, false},
    {"seismic", {96, 96, 96}, 1e-3, false, false},
    {"orbitals", {129, 127, 130}, 1e-4, false, false},
    {"turbulence", {128, 128, 128}, 1e-6, false, false},
    {"turbulence", {160, 160, 160}, 1e-3, false, true},
    {"turbulence", {256, 256, 256}, 1e-3, false, true},
    {"turbulence", {512, 512, 512}, 1e-2, false, true},
    {"turbulence", {512, 512, 512}, 1e-3, false, true},
    {"turbulence", {512, 512, 512}, 1e-4, false, true},
    {"turbulence", {512, 512, 512}, 1e-5, false, true},
};
enum { NCASES = sizeof cases / sizeof *cases };

static int failures;
static char table[4096]; /* of speeds, printed last */

static void fail(const char *what)
{
    printf("   DIFFERS: %s", what);
    failures++;
}

/* ---- the CPU's answer ---------------------------------------------------------------------------------------------- */

typedef struct expected {
    floe_codec_params params;
    floe_quantizer quantizer;
    uint64_t n, raw; /* values, bytes */
    float *x, *y;    /* field, decoded */
    kit_coded coded;
    floe_lorenzo_chunk chunk;
    floe_view view;
} expected;

static void fill_field(const check_case *c, expected *e)
{
    static float *last; /* 512^3 serves several bounds */
    static const check_case *of;
    e->n = c->shape[0] * c->shape[1] * c->shape[2];
    e->raw = 4 * e->n;
    if (!of || strcmp(of->kind, c->kind) != 0 || memcmp(of->shape, c->shape, sizeof c->shape) != 0) {
        free(last);
        last = malloc(e->raw);
        KIT_MUST(last && synth_fill(c->kind, FLOE_F32, 3, c->shape, 1, 0, e->n, last) == FLOE_OK);
    }
    of = c;
    e->x = last;
}

static void expect(const check_case *c, const floe_cpu *cpu, expected *e)
{
    memset(e, 0, sizeof *e);
    fill_field(c, e);
    double lo = INFINITY, hi = -INFINITY;
    for (uint64_t i = 0; i < e->n; i++)
        if (isfinite(e->x[i])) {
            lo = e->x[i] < lo ? e->x[i] : lo;
            hi = e->x[i] > hi ? e->x[i] : hi;
        }
    double bound = hi > lo ? c->rel * (hi - lo) : c->rel, most = fmax(fabs(lo), fabs(hi));
    e->params = (floe_codec_params){.dtype = FLOE_F32,
                                    .codec = FLOE_CODEC_LORENZO,
                                    .preset = FLOE_PRESET_FAST,
                                    .mode = FLOE_BOUND_ABS,
                                    .bound = bound,
                                    .max_abs = most};
    floe_field field = kit_chunk(e->x, FLOE_F32, 3, c->shape);
    KIT_MUST(kit_encode(cpu, &e->params, &field, floe_codec_bound(&e->params, 3, c->shape), &e->coded) == FLOE_OK);
    e->y = malloc(e->raw);
    KIT_MUST(e->y);
    field.data = e->y;
    KIT_MUST(kit_decode(cpu, &e->params, &field, e->coded.block.data, e->coded.nbytes, NULL) == FLOE_OK);
    KIT_MUST(floe_lorenzo_chunk_read(e->coded.block.data, e->coded.nbytes, FLOE_F32, 3, c->shape, &e->chunk, &e->view,
                                     NULL) == FLOE_OK);
    KIT_MUST(e->chunk.kind == FLOE_QUANTIZER_LINEAR && e->chunk.encoder == FLOE_LORENZO_PACK && e->view.rank == 3);
    floe_quantizer_init(&e->quantizer, FLOE_QUANTIZER_LINEAR, FLOE_F32, bound, most, false, 0);
}

/* ---- the GPU's ----------------------------------------------------------------------------------------------------- */

typedef struct device {
    float *x, *y;
    uint8_t *stream; /* a whole chunk; header and what lies between the parts stay as they are */
    uint64_t capacity;
    floe_pack_encode_job encode;
    floe_pack_decode_job decode;
} device;

static void device_open(const check_case *c, const expected *e, device *d)
{
    floe_pack_grid grid = {.ntiles = (uint32_t)e->view.ntiles};
    for (int i = 0; i < 3; i++) {
        grid.extent[i] = (uint32_t)c->shape[i];
        grid.tiles[i] = (uint32_t)e->view.tiles[i + 1];
    }
    d->capacity = e->coded.block.nbytes + EXTRA;
    CU(cudaMalloc((void **)&d->x, e->raw));
    CU(cudaMalloc((void **)&d->y, e->raw));
    CU(cudaMalloc((void **)&d->stream, d->capacity));
    CU(cudaMemcpy(d->x, e->x, e->raw, cudaMemcpyHostToDevice));
    uint32_t *entries = (uint32_t *)(d->stream + e->chunk.entries_at);
    uint32_t *payload = (uint32_t *)(d->stream + e->chunk.payload_at);
    d->encode = (floe_pack_encode_job){.grid = grid,
                                       .x = d->x,
                                       .entries = entries,
                                       .payload = payload,
                                       .inverse = (float)e->quantizer.inverse,
                                       .step = (float)e->quantizer.step,
                                       .tolerance = (float)e->quantizer.tolerance};
    d->decode = (floe_pack_decode_job){.grid = grid,
                                       .x = d->y,
                                       .entries = entries,
                                       .payload = payload,
                                       .payload_nwords = e->chunk.payload_nwords,
                                       .step = (float)e->chunk.step};
    CU(cudaMalloc(&d->encode.workspace, floe_pack_encode_workspace_cuda(&grid)));
    CU(cudaMalloc(&d->decode.workspace, floe_pack_decode_workspace_cuda(&grid)));
    CU(cudaMalloc((void **)&d->decode.report, sizeof *d->decode.report));
}

static void device_close(device *d)
{
    CU(cudaFree(d->x));
    CU(cudaFree(d->y));
    CU(cudaFree(d->stream));
    CU(cudaFree(d->encode.workspace));
    CU(cudaFree(d->decode.workspace));
    CU(cudaFree(d->decode.report));
}

/* Returns whether the chunk was one for this encoder. */
static bool check_encode(const expected *e, device *d)
{
    floe_pack_report report;
    uint64_t nbytes = e->coded.nbytes, differ = 0;
    uint8_t *host = malloc(d->capacity);
    KIT_MUST(host);
    CU(cudaMemset(d->stream, 0xEE, d->capacity));
    CU(floe_pack_encode_f32_cuda(&d->encode, NULL));
    CU(cudaMemcpy(&report, d->encode.workspace, sizeof report, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(host, d->stream, d->capacity, cudaMemcpyDeviceToHost));
    if ((report.nunfit != 0) != (e->coded.stats.nexceptions != 0))
        fail("whether there are exceptions");
    if (report.nunfit == 0) {
        float error;
        memcpy(&error, &report.max_error_bits, sizeof error);
        for (uint64_t k = e->chunk.entries_at; k < nbytes; k++)
            differ += host[k] != e->coded.block.data[k];
        for (uint64_t k = nbytes; k < nbytes + EXTRA; k++) /* nothing is written behind */
            differ += host[k] != 0xEE;
        if (differ)
            fail("bytes");
        if (report.payload_nwords != e->chunk.payload_nwords)
            fail("number of words");
        if ((double)error != e->coded.stats.max_error)
            fail("largest error");
    }
    printf("   unfit %u, with integers %u, spilled %u", report.nunfit, report.nwide, report.nspilled);
    free(host);
    return report.nunfit == 0;
}

static floe_pack_report decode_on_gpu(const device *d)
{
    floe_pack_report report;
    CU(cudaMemset(d->decode.report, 0, sizeof report));
    CU(floe_pack_decode_f32_cuda(&d->decode, NULL));
    CU(cudaMemcpy(&report, d->decode.report, sizeof report, cudaMemcpyDeviceToHost));
    return report;
}

static void check_decode(const expected *e, const device *d)
{
    float *z = malloc(e->raw);
    KIT_MUST(z);
    CU(cudaMemcpy(d->stream, e->coded.block.data, e->coded.nbytes, cudaMemcpyHostToDevice));
    CU(cudaMemset(d->y, 0xEE, e->raw));
    floe_pack_report report = decode_on_gpu(d);
    if (e->coded.stats.nexceptions) {
        if (report.nunfit == 0)
            fail("exceptions were not refused");
    } else {
        CU(cudaMemcpy(z, d->y, e->raw, cudaMemcpyDeviceToHost));
        if (report.nbad || report.nunfit)
            fail("a good stream was refused");
        if (memcmp(z, e->y, e->raw) != 0)
            fail("values");
    }
    free(z);
}

/* Words of entries and tiles are changed at random: both decoders must agree on whether the stream is corrupt. */
static void check_mutations(const check_case *c, const expected *e, const floe_cpu *cpu, const device *d, int count)
{
    uint64_t seed = 1, first = e->chunk.entries_at / 4, n = e->coded.nbytes / 4 - first;
    uint8_t *bytes = malloc(e->coded.nbytes);
    float *z = malloc(e->raw);
    KIT_MUST(bytes && z);
    floe_field out = kit_chunk(z, FLOE_F32, 3, c->shape);
    int corrupt = 0, wrong = 0;
    for (int i = 0; i < count; i++) {
        memcpy(bytes, e->coded.block.data, e->coded.nbytes);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t at = i % 2 ? seed >> 33 : (seed >> 33) % (2 * e->chunk.ntiles); /* half of them near the entries */
        ((uint32_t *)bytes)[first + at % n] ^= 1u << (seed >> 20) % 32;
        floe_error err;
        bool bad = kit_decode(cpu, &e->params, &out, bytes, e->coded.nbytes, &err) != FLOE_OK;
        CU(cudaMemcpy(d->stream, bytes, e->coded.nbytes, cudaMemcpyHostToDevice));
        floe_pack_report report = decode_on_gpu(d);
        corrupt += bad;
        wrong += bad ? report.nbad + report.nunfit == 0 : report.nbad != 0;
    }
    if (wrong)
        fail("mutated streams");
    printf("   %d mutations, %d corrupt", count, corrupt);
    free(bytes);
    free(z);
}

/* ---- speed --------------------------------------------------------------------------------------------------------- */

typedef enum timed { ENCODE, DECODE, COPY } timed;

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Median in ms, warm, by events around what is put on the stream. */
static double time_of(timed what, const device *d, uint64_t raw)
{
    cudaEvent_t a, b;
    float ms[RUNS];
    CU(cudaEventCreate(&a));
    CU(cudaEventCreate(&b));
    for (int i = -WARM; i < RUNS; i++) {
        CU(cudaEventRecord(a, 0));
        switch (what) {
        case ENCODE: CU(floe_pack_encode_f32_cuda(&d->encode, NULL)); break;
        case DECODE: CU(floe_pack_decode_f32_cuda(&d->decode, NULL)); break;
        case COPY: CU(cudaMemcpyAsync(d->y, d->x, raw, cudaMemcpyDeviceToDevice, 0)); break;
        }
        CU(cudaEventRecord(b, 0));
        CU(cudaEventSynchronize(b));
        if (i >= 0)
            CU(cudaEventElapsedTime(&ms[i], a, b));
    }
    qsort(ms, RUNS, sizeof *ms, by_value);
    CU(cudaEventDestroy(a));
    CU(cudaEventDestroy(b));
    return (ms[RUNS / 2 - 1] + ms[RUNS / 2]) / 2;
}

/* The floor: bytes that must move (values and stream) over the bandwidth of the copy, which moves each value twice. */
static void measure(const check_case *c, const expected *e, const device *d)
{
    double raw = (double)e->raw, nbytes = (double)e->coded.nbytes;
    double in = time_of(ENCODE, d, e->raw), out = time_of(DECODE, d, e->raw), copy = time_of(COPY, d, e->raw);
    double floor_ms = copy * (raw + nbytes) / (2 * raw);
    size_t at = strlen(table);
    snprintf(table + at, sizeof table - at, "| %s %llu^3 | %.0e | %.2f | %.0f | %.0f %% | %.0f | %.0f %% | %.0f |\n",
             c->kind, (unsigned long long)c->shape[0], c->rel, raw / nbytes, raw / in / 1e6, 100 * floor_ms / in,
             raw / out / 1e6, 100 * floor_ms / out, 2 * raw / copy / 1e6);
}

/* ---- all ----------------------------------------------------------------------------------------------------------- */

static void run(const check_case *c, const floe_cpu *cpu)
{
    expected e;
    device d;
    expect(c, cpu, &e);
    const uint32_t *entries = (const uint32_t *)(e.coded.block.data + e.chunk.entries_at);
    uint64_t kinds[4] = {0}, modes[4] = {0};
    for (uint64_t i = 0; i < e.chunk.ntiles; i++) {
        kinds[entries[i] >> FLOE_TILE_KIND_SHIFT & 3]++;
        modes[entries[i] >> FLOE_TILE_MODE_SHIFT & 3]++;
    }
    printf("%s %llux%llux%llu %.0e: ratio %.2f, coded %llu raw %llu constant %llu, modes %llu %llu %llu %llu", c->kind,
           (unsigned long long)c->shape[0], (unsigned long long)c->shape[1], (unsigned long long)c->shape[2], c->rel,
           (double)e.raw / (double)e.coded.nbytes, (unsigned long long)kinds[0], (unsigned long long)kinds[1],
           (unsigned long long)kinds[2], (unsigned long long)modes[0], (unsigned long long)modes[1],
           (unsigned long long)modes[2], (unsigned long long)modes[3]);
    device_open(c, &e, &d);
    bool fits = check_encode(&e, &d);
    check_decode(&e, &d);
    if (fits && c->small)
        check_mutations(c, &e, cpu, &d, 100);
    if (c->timed) {
        CU(cudaMemcpy(d.stream, e.coded.block.data, e.coded.nbytes, cudaMemcpyHostToDevice));
        measure(c, &e, &d);
    }
    printf("\n");
    device_close(&d);
    kit_block_free(&e.coded.block);
    free(e.y);
}

int main(int argc, char **argv)
{
    const bool small = argc > 1 && strcmp(argv[1], "small") == 0;
    struct cudaDeviceProp device_is;
    CU(cudaGetDeviceProperties(&device_is, 0));
    const floe_cpu cpu = kit_cpu(0, FLOE_ISA_AUTO);
    int ncases = 0;
    for (int i = 0; i < NCASES; i++)
        if (!small || cases[i].small) {
            run(&cases[i], &cpu);
            ncases++;
        }
    if (!small)
        printf("%s; GB/s of values, kernels only, median of %d; floor: bytes that must move at the copy's speed\n"
               "| field | rel | ratio | encode | of floor | decode | of floor | copy, bytes moved |\n"
               "|---|---|---:|---:|---:|---:|---:|---:|\n%s",
               device_is.name, RUNS, table);
    printf("%d differences in %d cases\n", failures, ncases);
    return failures != 0;
}
