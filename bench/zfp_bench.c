/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speed of our zfp streams against libzfp, in turns, so that whatever else the machine does befalls both.
 *
 *   zfp_bench [LOG2_ELEMENTS [REPEATS [THREADS [ROW...]]]]      2^21 elements, 9 repeats, all processors unless given
 *
 * MB/s of uncompressed values, from the least time: libzfp (serial) and ours on one thread, seconds of the processor; ours on
 * THREADS with the places of every 64th block, seconds of the clock; x: ours on one thread over libzfp. Both streams are
 * compared, and what each decodes. ROW: part of a row's name.
 */
#include "base/bytes.h"
#include "bench/bench_kit.h"
#include "codec/zfp/stream/zfp_stream.h"
#include "synth/synth.h"

#ifdef HAVE_ZFP
#include <zfp.h>

enum { CHUNK = 64 };

typedef struct bench {
    int repeats;
    floe_zfp_array in, out;
    floe_zfp_params params;
    uint64_t raw_nbytes, capacity;
    uint8_t *stream, *theirs;
    uint16_t *lengths;
    uint64_t *places;
    uint64_t nbits;
    floe_cpu one, many;
    void *room;
    size_t room_nbytes;
} bench;

/* ---- what is timed --------------------------------------------------------------------------------------------------- */

static void zfp_both(const bench *b, bool back)
{
    const uint64_t *n = b->in.shape;
    const zfp_type type = (zfp_type)b->in.type;
    void *data = back ? b->out.data : b->in.data;
    zfp_field *f = b->in.rank == 1   ? zfp_field_1d(data, type, n[0])
                   : b->in.rank == 2 ? zfp_field_2d(data, type, n[1], n[0])
                   : b->in.rank == 3 ? zfp_field_3d(data, type, n[2], n[1], n[0])
                                     : zfp_field_4d(data, type, n[3], n[2], n[1], n[0]);
    bitstream *bits = stream_open(b->theirs, (size_t)b->capacity);
    zfp_stream *zfp = zfp_stream_open(bits);
    zfp_stream_set_params(zfp, b->params.minbits, b->params.maxbits, b->params.maxprec, b->params.minexp);
    if ((back ? zfp_decompress(zfp, f) : zfp_compress(zfp, f)) == 0)
        DIE("libzfp failed");
    zfp_stream_close(zfp);
    stream_close(bits);
    zfp_field_free(f);
}
static void zfp_in(bench *b) { zfp_both(b, false); }
static void zfp_out(bench *b) { zfp_both(b, true); }

static void ours_in(bench *b, const floe_cpu *cpu)
{
    floe_arena arena = floe_arena_of(b->room, b->room_nbytes);
    floe_error err;
    if (floe_zfp_stream_compress(&(floe_zfp_coding){cpu, &b->in, &b->params, 0}, &arena, b->stream, b->capacity,
                                 b->lengths, &b->nbits, &err))
        DIE("%s", err.message);
}
static void ours_out(bench *b, const floe_cpu *cpu, const uint64_t *places)
{
    floe_arena arena = floe_arena_of(b->room, b->room_nbytes);
    floe_error err;
    if (floe_zfp_stream_decompress(&(floe_zfp_coding){cpu, &b->out, &b->params, 0}, b->stream, b->capacity, places,
                                   CHUNK, &arena, &err))
        DIE("%s", err.message);
}
static void one_in(bench *b) { ours_in(b, &b->one); }
static void one_out(bench *b) { ours_out(b, &b->one, NULL); }
static void many_in(bench *b) { ours_in(b, &b->many); }
static void many_out(bench *b) { ours_out(b, &b->many, b->places); }

enum { CALLS = 6 };
static const struct {
    void (*run)(bench *);
    double (*now)(void);
} calls[CALLS] = {{zfp_in, bench_processor_now},  {one_in, bench_processor_now},  {many_in, bench_now},
                  {zfp_out, bench_processor_now}, {one_out, bench_processor_now}, {many_out, bench_now}};

/* ---- a row ----------------------------------------------------------------------------------------------------------- */

static void find_places(bench *b)
{
    const uint64_t n = floe_zfp_nblocks(b->in.rank, b->in.shape);
    uint64_t at = 0;
    for (uint64_t i = 0; i < n; at += b->lengths[i++])
        if (i % CHUNK == 0)
            b->places[i / CHUNK] = at;
    b->places[(n + CHUNK - 1) / CHUNK] = at;
}

static void check(bench *b)
{
    uint8_t *want = bench_alloc(b->raw_nbytes);
    zfp_in(b);
    one_in(b);
    find_places(b);
    if (memcmp(b->stream, b->theirs, (size_t)((b->nbits + 7) / 8)) != 0)
        DIE("the streams differ");
    zfp_out(b);
    memcpy(want, b->out.data, (size_t)b->raw_nbytes);
    for (int i = 0; i < 2; i++) {
        memset(b->out.data, 0, (size_t)b->raw_nbytes);
        (i ? many_out : one_out)(b);
        if (memcmp(want, b->out.data, (size_t)b->raw_nbytes) != 0)
            DIE("the values differ");
    }
    free(want);
}

static void row(const char *name, bench *b)
{
    double least[CALLS], speed[CALLS];
    b->room_nbytes = floe_zfp_stream_workspace(&b->many, &b->in, &b->params, CHUNK);
    b->room = bench_alloc(b->room_nbytes);
    check(b);
    for (int i = 0; i < b->repeats; i++)
        for (int c = 0; c < CALLS; c++) {
            const double began = calls[c].now();
            calls[c].run(b);
            const double t = calls[c].now() - began;
            least[c] = i && least[c] < t ? least[c] : t;
        }
    for (int c = 0; c < CALLS; c++)
        speed[c] = (double)b->raw_nbytes / least[c] / 1e6;
    printf("%-31s %7.2f  %6.0f %6.0f %5.2f %6.0f   %6.0f %6.0f %5.2f %6.0f\n", name,
           8 * (double)b->raw_nbytes / (double)b->nbits, speed[0], speed[1], speed[1] / speed[0], speed[2], speed[3],
           speed[4], speed[4] / speed[3], speed[5]);
    fflush(stdout);
    free(b->room);
}

/* ---- arrays ---------------------------------------------------------------------------------------------------------- */

/* 2^log2 elements, the axes as equal as they can be. */
static void shape_of(uint32_t rank, uint32_t log2, floe_zfp_array *a)
{
    int64_t stride = 1;
    a->rank = rank;
    for (uint32_t i = rank; i-- > 0;) {
        a->shape[i] = (uint64_t)1 << (log2 / rank + (i < log2 % rank));
        a->stride[i] = stride;
        stride *= (int64_t)a->shape[i];
    }
}

static void to_integers(floe_zfp_type type, double *data, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        const double v = data[i] * (type == FLOE_ZFP_I32 ? 1e6 : 1e12);
        if (type == FLOE_ZFP_I32)
            ((int32_t *)(void *)data)[i] = (int32_t)v; /* never ahead of what is read */
        else
            ((int64_t *)(void *)data)[i] = (int64_t)v;
    }
}

/* Four rows of the table, a mode each. */
typedef struct rows {
    const char *field;
    floe_zfp_type type;
    uint32_t rank;
} rows;

static const rows table[] = {
    {"turbulence", FLOE_ZFP_F32, 3}, {"turbulence", FLOE_ZFP_F64, 3}, {"turbulence", FLOE_ZFP_F32, 2},
    {"turbulence", FLOE_ZFP_F64, 2}, {"weather", FLOE_ZFP_F32, 2},    {"weather", FLOE_ZFP_F64, 2},
    {"turbulence", FLOE_ZFP_F32, 1}, {"turbulence", FLOE_ZFP_F64, 1}, {"turbulence", FLOE_ZFP_F32, 4},
    {"turbulence", FLOE_ZFP_F64, 4}, {"turbulence", FLOE_ZFP_I32, 3}, {"turbulence", FLOE_ZFP_I64, 3},
};

static bool is_real(floe_zfp_type type) { return type == FLOE_ZFP_F32 || type == FLOE_ZFP_F64; }

static void fill(const rows *r, uint32_t log2, bench *b)
{
    const uint64_t n = (uint64_t)1 << log2;
    void *out = b->out.data;
    shape_of(r->rank, log2, &b->in);
    b->in.type = r->type;
    if (synth_fill(r->field, r->type == FLOE_ZFP_F32 ? FLOE_F32 : FLOE_F64, r->rank, b->in.shape, 1, 0, n, b->in.data))
        DIE("no field %s", r->field);
    if (!is_real(r->type))
        to_integers(r->type, b->in.data, n);
    b->out = b->in;
    b->out.data = out;
    b->raw_nbytes = n * floe_zfp_type_size(r->type);
}

enum { MODES = 4 };
static const char *mode_of(const rows *r, int mode, floe_zfp_params *params)
{
    const bool real = is_real(r->type);
    floe_error err;
    switch (mode) {
    case 0:
        if (real)
            floe_zfp_params_accuracy(1e-3, params, &err);
        else
            floe_zfp_params_precision(12, params, &err);
        return real ? "accuracy 1e-3" : "precision 12";
    case 1: floe_zfp_params_precision(16, params, &err); return "precision 16";
    case 2: floe_zfp_params_rate(8, r->type, r->rank, params, &err); return "rate 8";
    default: *params = floe_zfp_params_reversible(); return "reversible";
    }
}

int main(int argc, char **argv)
{
    static const char *const types[] = {"", "i32", "i64", "f32", "f64"};
    const uint32_t log2 = argc > 1 ? (uint32_t)atoi(argv[1]) : 21;
    const uint64_t n = (uint64_t)1 << log2;
    bench b = {.repeats = argc > 2 ? atoi(argv[2]) : 9, .capacity = 12 * n + 65536};
    if (log2 < 12 || log2 > 30 || b.repeats < 1)
        DIE("zfp_bench [LOG2_ELEMENTS [REPEATS [THREADS [ROW...]]]]");
    floe_cpu_init(&b.one, 1, FLOE_ISA_AUTO, NULL);
    floe_cpu_init(&b.many, argc > 3 ? (uint32_t)atoi(argv[3]) : 0, FLOE_ISA_AUTO, NULL);
    b.in.data = bench_alloc(8 * n);
    b.out.data = bench_alloc(8 * n);
    b.stream = bench_alloc(b.capacity);
    b.theirs = bench_alloc(b.capacity);
    b.lengths = bench_alloc(n);
    b.places = bench_alloc(8 * (n / CHUNK + 2));
    printf("%llu elements, %u threads, MB/s\n%-31s %7s  %28s   %28s\n%-31s %7s  %6s %6s %5s %6s   %6s %6s %5s %6s\n",
           (unsigned long long)n, b.many.threads, "", "", "compress", "decompress", "", "ratio", "libzfp", "floe", "x",
           "many", "libzfp", "floe", "x", "many");
    for (size_t i = 0; i < MODES * (sizeof table / sizeof *table); i++) {
        const rows *r = &table[i / MODES];
        char name[64];
        const char *mode = mode_of(r, i % MODES, &b.params);
        snprintf(name, sizeof name, "%s %u-D %s %s", types[r->type], r->rank, r->field, mode);
        if (bench_is_chosen(name, argc, argv, 4)) {
            fill(r, log2, &b);
            row(name, &b);
        }
    }
    return 0;
}

#else

int main(void) { DIE("zfp_bench: this build was made without libzfp"); }

#endif
