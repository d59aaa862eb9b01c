/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Speed of our zfp streams against libzfp, in turns, so that whatever else the machine does befalls both.
 *
 *   zfp_bench [LOG2_ELEMENTS [REPEATS [THREADS]]]      2^21 elements, 9 repeats, all processors unless given
 *
 * MB/s of uncompressed values, from the median time: libzfp (serial), ours on one thread, and on THREADS with the places of
 * every 64th block; x: ours on one thread over libzfp. Both streams are compared, and what each decodes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "codec/zfp_stream.h"
#include "synth/synth.h"

#define DIE(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

#ifdef HAVE_ZFP
#include <zfp.h>

enum { MAX_REPEATS = 1000, CHUNK = 64 };

typedef struct bench {
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

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *room_of(uint64_t nbytes)
{
    void *p = aligned_alloc(64, (size_t)((nbytes + 63) & ~(uint64_t)63));
    if (!p)
        DIE("no memory for %llu bytes", (unsigned long long)nbytes);
    memset(p, 0, (size_t)nbytes);
    return p;
}

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
    if (floe_zfp_stream_compress(cpu, &b->in, &b->params, 0, &arena, b->stream, b->capacity, b->lengths, &b->nbits,
                                 &err))
        DIE("%s", err.message);
}
static void ours_out(bench *b, const floe_cpu *cpu, const uint64_t *places)
{
    floe_arena arena = floe_arena_of(b->room, b->room_nbytes);
    floe_error err;
    if (floe_zfp_stream_decompress(cpu, &b->out, &b->params, 0, b->stream, b->capacity, places, CHUNK, &arena, &err))
        DIE("%s", err.message);
}
static void one_in(bench *b) { ours_in(b, &b->one); }
static void one_out(bench *b) { ours_out(b, &b->one, NULL); }
static void many_in(bench *b) { ours_in(b, &b->many); }
static void many_out(bench *b) { ours_out(b, &b->many, b->places); }

enum { CALLS = 6 };
static void (*const calls[CALLS])(bench *) = {zfp_in, one_in, many_in, zfp_out, one_out, many_out};

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
    uint8_t *want = room_of(b->raw_nbytes);
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

static void row(const char *name, bench *b, int repeats)
{
    static double t[CALLS][MAX_REPEATS];
    double speed[CALLS];
    b->room_nbytes = floe_zfp_stream_workspace(&b->many, &b->in, &b->params, CHUNK);
    b->room = room_of(b->room_nbytes);
    check(b);
    for (int i = 0; i < repeats; i++)
        for (int c = 0; c < CALLS; c++) {
            const double began = seconds();
            calls[c](b);
            t[c][i] = seconds() - began;
        }
    for (int c = 0; c < CALLS; c++) {
        qsort(t[c], (size_t)repeats, sizeof(double), by_value);
        speed[c] = (double)b->raw_nbytes / t[c][repeats / 2] / 1e6;
    }
    printf("%-26s %7.2f  %6.0f %6.0f %5.2f %6.0f   %6.0f %6.0f %5.2f %6.0f\n", name,
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

static void rows_of(floe_zfp_type type, uint32_t rank, uint32_t log2, int repeats, bench *b)
{
    static const char *const types[] = {"", "i32", "i64", "f32", "f64"};
    const bool real = type == FLOE_ZFP_F32 || type == FLOE_ZFP_F64;
    const uint64_t n = (uint64_t)1 << log2;
    char name[64];
    floe_error err;
    shape_of(rank, log2, &b->in);
    b->in.type = type;
    b->out.data = b->out.data ? b->out.data : room_of(8 * n);
    if (synth_fill("turbulence", type == FLOE_ZFP_F32 ? FLOE_F32 : FLOE_F64, rank, b->in.shape, 1, 0, n, b->in.data))
        DIE("no field");
    if (!real)
        to_integers(type, b->in.data, n);
    void *out = b->out.data;
    b->out = b->in;
    b->out.data = out;
    b->raw_nbytes = n * floe_zfp_type_size(type);
    for (int mode = 0; mode < 4; mode++) {
        const char *const modes[] = {real ? "accuracy 1e-3" : "precision 12", "precision 16", "rate 8", "reversible"};
        if (mode == 0 && real)
            floe_zfp_params_accuracy(1e-3, &b->params, &err);
        else if (mode < 2)
            floe_zfp_params_precision(mode ? 16 : 12, &b->params, &err);
        else if (mode == 2)
            floe_zfp_params_rate(8, type, rank, false, &b->params, NULL, &err);
        else
            b->params = floe_zfp_params_reversible();
        snprintf(name, sizeof name, "%s %u-D %s", types[type], rank, modes[mode]);
        row(name, b, repeats);
    }
}

int main(int argc, char **argv)
{
    const uint32_t log2 = argc > 1 ? (uint32_t)atoi(argv[1]) : 21;
    const int repeats = argc > 2 ? atoi(argv[2]) : 9;
    const uint64_t n = (uint64_t)1 << log2;
    bench b = {.capacity = 12 * n + 65536};
    if (log2 < 12 || log2 > 30 || repeats < 1 || repeats > MAX_REPEATS)
        DIE("zfp_bench [LOG2_ELEMENTS [REPEATS [THREADS]]]");
    floe_cpu_init(&b.one, 1, FLOE_ISA_AUTO, NULL);
    floe_cpu_init(&b.many, argc > 3 ? (uint32_t)atoi(argv[3]) : 0, FLOE_ISA_AUTO, NULL);
    b.in.data = room_of(8 * n);
    b.stream = room_of(b.capacity);
    b.theirs = room_of(b.capacity);
    b.lengths = room_of(n);
    b.places = room_of(8 * (n / CHUNK + 2));
    printf("%llu elements, %u threads, MB/s\n%-26s %7s  %28s   %28s\n%-26s %7s  %6s %6s %5s %6s   %6s %6s %5s %6s\n",
           (unsigned long long)n, b.many.threads, "", "", "compress", "decompress", "", "ratio", "libzfp", "floe", "x",
           "many", "libzfp", "floe", "x", "many");
    const uint32_t ranks[] = {3, 2, 1, 4};
    for (int r = 0; r < 4; r++)
        for (int type = FLOE_ZFP_F32; type <= FLOE_ZFP_F64; type++)
            rows_of((floe_zfp_type)type, ranks[r], log2, repeats, &b);
    rows_of(FLOE_ZFP_I32, 3, log2, repeats, &b);
    rows_of(FLOE_ZFP_I64, 3, log2, repeats, &b);
    return 0;
}

#else

int main(void) { DIE("zfp_bench: this build was made without libzfp"); }

#endif
