/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speed of bare zfp streams on a GPU, data and index on the device, everything between two events.
 *
 *   zfp_gpu_bench [REPEATS] [NAME...]    all cases, or those whose name holds one of the words; 11 repeats unless given
 *
 * GB/s of uncompressed values, from medians. in: encoding, with the lengths that an index is made of; out C: decoding with a
 * hybrid index of chunks of C blocks, 32 of them a partition, from the index's bytes on; floor: that of the values and the
 * stream at the bandwidth of a copy in the same run, in percent of the time of in and of out 1. Each case is checked: the bytes
 * that the CPU encodes, and the values that it decodes.
 */
#include "base/hd.h"
#include "bench/bench_kit.h"
#include "codec/zfp/stream/zfp_stream.h"
#include "synth/synth.h"

#ifndef FLOE_HAVE_CUDA_BUILD

int main(void)
{
    puts("zfp_gpu_bench: this build has no CUDA");
    return 0;
}

#else

#include "backend/cuda.h"
#include "codec/zfp/gpu/zfp_kernels.h"
#include "stage/index/index_prim.h"

enum { MAX_REPEATS = 1000, WARM = 3, NCHUNKS = 5 };

typedef struct bench_case {
    const char *name;
    floe_zfp_type type;
    uint32_t rank;
    uint64_t shape[FLOE_MAX_RANK];
    double rel, rate; /* accuracy by the range of the values, or bits a value, or neither: reversible */
} bench_case;

static const bench_case cases[] = {
    {"accuracy_512", FLOE_ZFP_F32, 3, {512, 512, 512}, 1e-3, 0},
    {"rate8_512", FLOE_ZFP_F32, 3, {512, 512, 512}, 0, 8},
    {"accuracy_2d", FLOE_ZFP_F32, 2, {8192, 16384}, 1e-3, 0},
    {"coarse_2d", FLOE_ZFP_F32, 2, {8192, 16384}, 3e-2, 0},
    {"accuracy_1d", FLOE_ZFP_F32, 1, {1 << 27}, 1e-3, 0},
    {"accuracy_4d", FLOE_ZFP_F32, 4, {64, 64, 128, 128}, 1e-3, 0},
    {"accuracy_f64", FLOE_ZFP_F64, 3, {256, 512, 512}, 1e-3, 0},
    {"reversible_256", FLOE_ZFP_F32, 3, {256, 256, 256}, 0, 0},
    {"odd", FLOE_ZFP_F32, 3, {449, 449, 235}, 1e-3, 0},
    {"small", FLOE_ZFP_F32, 3, {64, 64, 64}, 1e-3, 0},
};
enum { NCASES = sizeof cases / sizeof *cases };
static const uint32_t chunks[NCHUNKS] = {1, 2, 4, 8, 16};

#define FL_ERR(err, call)                      \
    do {                                       \
        if ((call) != FLOE_OK)                 \
            DIE("%s: %s", #call, err.message); \
    } while (0)

static int repeats = 11;
static double seconds[MAX_REPEATS];
static double copy_bandwidth; /* bytes read and written a second */

/* Median seconds of what a function puts on the stream. */
static double timed(void (*call)(void *), void *arg)
{
    return bench_gpu_median(NULL, call, arg, WARM, repeats, seconds);
}

/* ---- a case ---------------------------------------------------------------------------------------------------------- */

typedef struct bench {
    const bench_case *c;
    floe_zfp_array in, out; /* host, device */
    floe_zfp_params params;
    uint64_t nelems, raw, nblocks, capacity, nbits;
    uint8_t *stream;
    uint16_t *lengths;
    void *decoded, *dev_stream, *dev_index, *dev_places;
    floe_side_index *dev_opened;
    uint32_t *dev_status;
    floe_side_index index;
    uint64_t index_nbytes;
    floe_index_report *dev_report;
    floe_prim prim;
    floe_zfp_encode_call encode;
    floe_cpu cpu;
} bench;

static double range_of(const bench *b)
{
    double low = 1e300, high = -1e300;
    for (uint64_t i = 0; i < b->nelems; i++) {
        const double v = b->c->type == FLOE_ZFP_F32 ? ((const float *)b->in.data)[i] : ((const double *)b->in.data)[i];
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    return high - low;
}

static void make_params(bench *b)
{
    floe_error err;
    if (b->c->rate > 0)
        FL_ERR(err, floe_zfp_params_rate(b->c->rate, b->c->type, b->c->rank, &b->params, &err));
    else if (b->c->rel > 0)
        FL_ERR(err, floe_zfp_params_accuracy(b->c->rel * range_of(b), &b->params, &err));
    else
        b->params = floe_zfp_params_reversible();
}

static void make_field(bench *b)
{
    const floe_dtype dtype = b->c->type == FLOE_ZFP_F32 ? FLOE_F32 : FLOE_F64;
    int64_t stride = 1;
    b->in = (floe_zfp_array){.type = b->c->type, .rank = b->c->rank};
    for (uint32_t a = b->c->rank; a-- > 0;) {
        b->in.shape[a] = b->c->shape[a];
        b->in.stride[a] = stride;
        stride *= (int64_t)b->c->shape[a];
    }
    b->nelems = (uint64_t)stride;
    b->raw = b->nelems * floe_dtype_size(dtype);
    b->nblocks = floe_zfp_nblocks(b->in.rank, b->in.shape);
    b->in.data = bench_alloc(b->raw);
    if (synth_fill("turbulence", dtype, b->c->rank, b->c->shape, 1, 0, b->nelems, b->in.data) != FLOE_OK)
        DIE("cannot make %s", b->c->name);
    b->out = b->in;
    b->out.data = bench_dev_alloc(b->raw);
}

/* By the CPU, which is what the GPU is compared with. */
static void make_stream(bench *b)
{
    floe_error err;
    const size_t room = floe_zfp_stream_workspace(&b->cpu, &b->in, &b->params, 1);
    void *scratch = bench_alloc(room);
    floe_arena arena = floe_arena_of(scratch, room);
    b->capacity = floe_zfp_stream_bound(&b->in, &b->params, 0);
    b->stream = bench_alloc(b->capacity);
    b->lengths = bench_alloc(b->nblocks * sizeof *b->lengths);
    FL_ERR(err, floe_zfp_stream_compress(&(floe_zfp_coding){&b->cpu, &b->in, &b->params, 0}, &arena, b->stream,
                                         b->capacity, b->lengths, &b->nbits, &err));
    arena = floe_arena_of(scratch, room);
    b->decoded = bench_alloc(b->raw);
    floe_zfp_array back = b->in;
    back.data = b->decoded;
    FL_ERR(err, floe_zfp_stream_decompress(&(floe_zfp_coding){&b->cpu, &back, &b->params, 0}, b->stream,
                                           (b->nbits + 63) / 64 * 8, NULL, 1, &arena, &err));
    free(scratch);
    b->dev_stream = bench_dev_alloc(b->capacity);
}

static void make_index(bench *b, uint32_t chunk)
{
    const floe_index_spec spec = {FLOE_INDEX_HYBRID, chunk, FLOE_INDEX_PARTITION};
    const uint64_t bound =
        floe_side_index_bound(&spec, b->nblocks, floe_zfp_block_bits(&b->params, b->c->type, b->c->rank));
    uint8_t *bytes = bench_alloc(bound);
    uint64_t opened;
    floe_error err;
    FL_ERR(err, floe_side_index_encode(&spec, &(floe_index_blocks){b->lengths, b->nblocks, 0}, bytes, bound,
                                       &b->index_nbytes, &err));
    FL_ERR(err, floe_side_index_open(bytes, b->index_nbytes, b->nbits, &b->index, &opened, &err));
    b->dev_index = bench_dev_alloc(b->index_nbytes);
    CU(cudaMemcpy(b->dev_index, bytes, b->index_nbytes, cudaMemcpyHostToDevice));
    b->index.body = (const uint8_t *)b->dev_index + FLOE_INDEX_HEADER_NBYTES;
    b->dev_opened = bench_dev_alloc(sizeof b->index);
    CU(cudaMemcpy(b->dev_opened, &b->index, sizeof b->index, cudaMemcpyHostToDevice));
    FL_ERR(err, floe_index_prim_workspace(&b->prim, &spec, b->nblocks, &opened, &err));
    b->prim.workspace = bench_dev_alloc(opened);
    b->prim.workspace_nbytes = opened;
    free(bytes);
}

/* ---- what is timed --------------------------------------------------------------------------------------------------- */

static const floe_zfp_kernels *kernels_of(const bench *b)
{
    return floe_zfp_kernels_of(floe_zfp_type_is_narrow(b->c->type));
}

static void decode(void *arg)
{
    const bench *b = arg;
    const floe_zfp_decode_call call = {.array = b->out,
                                       .params = b->params,
                                       .src = b->dev_stream,
                                       .nbytes = (b->nbits + 63) / 64 * 8,
                                       .chunk = b->index.chunk,
                                       .places = b->dev_places,
                                       .status = b->dev_status};
    floe_error err;
    const floe_index_spec spec = {b->index.form, b->index.chunk, b->index.partition};
    FL_ERR(err, floe_index_prim_decode_opened(&b->prim, &spec, b->nblocks, b->dev_opened, b->dev_places, b->dev_report,
                                              &err));
    CU(kernels_of(b)->decode(&call, NULL));
}

static void encode(void *arg)
{
    const bench *b = arg;
    CU(kernels_of(b)->encode(&b->encode, NULL));
}

/* Then the stream is taken for decoding. */
static double time_encoding(bench *b)
{
    uint64_t nbytes, nbits, end = (b->nbits + 63) / 64 * 8;
    uint32_t status;
    b->encode = (floe_zfp_encode_call){.array = b->out,
                                       .params = b->params,
                                       .dst = b->dev_stream,
                                       .capacity = b->capacity,
                                       .lengths = bench_dev_alloc(b->nblocks * sizeof *b->lengths),
                                       .nbits = bench_dev_alloc(sizeof nbits),
                                       .status = b->dev_status};
    CU(kernels_of(b)->encode_scratch(&b->out, &b->params, &nbytes));
    b->encode.scratch = bench_dev_alloc(nbytes);
    CU(cudaMemcpy(b->out.data, b->in.data, b->raw, cudaMemcpyHostToDevice));
    const double s = timed(encode, b);
    uint8_t *bytes = bench_alloc(end);
    CU(cudaMemcpy(&status, b->dev_status, sizeof status, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(&nbits, b->encode.nbits, sizeof nbits, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(bytes, b->dev_stream, end, cudaMemcpyDeviceToHost));
    if (status || nbits != b->nbits || memcmp(bytes, b->stream, end) != 0)
        DIE("%s: status %u, or other bytes than the CPU's", b->c->name, status);
    free(bytes);
    CU(cudaFree(b->encode.lengths));
    CU(cudaFree(b->encode.nbits));
    CU(cudaFree(b->encode.scratch));
    return s;
}

static void check_decoded(const bench *b)
{
    void *values = bench_alloc(b->raw);
    floe_index_report report;
    uint32_t status;
    CU(cudaMemcpy(&report, b->dev_report, sizeof report, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(&status, b->dev_status, sizeof status, cudaMemcpyDeviceToHost));
    CU(cudaMemcpy(values, b->out.data, b->raw, cudaMemcpyDeviceToHost));
    if (report.status || status || memcmp(values, b->decoded, b->raw) != 0)
        DIE("%s: status %u, or other values than the CPU's", b->c->name, status);
    CU(cudaMemset(b->out.data, 0xFF, b->raw));
    free(values);
}

static void bench_run(const bench_case *c)
{
    bench b = {.c = c};
    floe_error err;
    double first = 0;
    FL_ERR(err, floe_cpu_init(&b.cpu, 0, FLOE_ISA_AUTO, &err));
    make_field(&b);
    make_params(&b);
    make_stream(&b);
    b.dev_places = bench_dev_alloc((b.nblocks + 1) * sizeof(uint64_t));
    b.dev_status = bench_dev_alloc(sizeof *b.dev_status);
    b.dev_report = bench_dev_alloc(sizeof *b.dev_report);
    const double in = time_encoding(&b);
    printf("%-15s %5.2f %7.1f", c->name, (double)b.nbits / (double)b.nelems, 1e-9 * (double)b.raw / in);
    for (int i = 0; i < NCHUNKS; i++) {
        make_index(&b, chunks[i]);
        const double s = timed(decode, &b);
        first = i == 0 ? s : first;
        check_decoded(&b);
        CU(cudaFree(b.dev_index));
        CU(cudaFree(b.dev_opened));
        CU(cudaFree(b.prim.workspace));
        printf(" %7.1f", 1e-9 * (double)b.raw / s);
    }
    const double least = ((double)b.raw + (double)b.nbits / 8) / copy_bandwidth;
    printf("   %3.0f %% %3.0f %%\n", 100 * least / in, 100 * least / first);
    fflush(stdout);
    void *dev[] = {b.out.data, b.dev_stream, b.dev_places, b.dev_status, b.dev_report};
    void *host[] = {b.in.data, b.decoded, b.stream, b.lengths};
    for (int i = 0; i < 5; i++)
        CU(cudaFree(dev[i]));
    for (int i = 0; i < 4; i++)
        free(host[i]);
}

int main(int argc, char **argv)
{
    int first = 1;
    if (first < argc && atoi(argv[first]) > 0)
        repeats = atoi(argv[first++]);
    if (repeats > MAX_REPEATS)
        DIE("at most %d repeats", MAX_REPEATS);
    floe_error err;
    if (floe_cuda_load(&err) != FLOE_OK)
        DIE("%s", err.message);
    copy_bandwidth = bench_gpu_copy_speed(1 << 29, WARM, repeats, seconds);
    printf("copy: %.0f GB/s read and written\n", 1e-9 * copy_bandwidth);
    printf("%-15s %5s %7s", "", "bits", "in");
    for (int i = 0; i < NCHUNKS; i++)
        printf("  out %2u", chunks[i]);
    puts("   floor");
    for (int i = 0; i < NCASES; i++)
        if (bench_is_chosen(cases[i].name, argc, argv, first))
            bench_run(&cases[i]);
    return 0;
}

#endif
