/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse of the public calls. A row takes the arguments of a sound call, makes one of them wrong, and names which statuses may come
 * back. After each row nothing may be written but what the call may write, and a sound call of the same context gives the right
 * bytes. The rows here hold for fields and streams in either memory, by the CPU and by a GPU. */
#ifndef FLOE_TESTS_MISUSE_KIT_H
#define FLOE_TESTS_MISUSE_KIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <floe/floe.h>
#include <floe/zfp.h>

/* Sets of statuses. */
enum {
    OK = 1 << FLOE_OK,
    ARG = 1 << FLOE_ERR_ARGUMENT,
    FORMAT = 1 << FLOE_ERR_FORMAT,
    BOUND = 1 << FLOE_ERR_BOUND,
    IO = 1 << FLOE_ERR_IO,
    DEVICE = 1 << FLOE_ERR_DEVICE,
    MEMORY = 1 << FLOE_ERR_MEMORY,
    CAPACITY = 1 << FLOE_ERR_CAPACITY,
    LIMIT = 1 << FLOE_ERR_LIMIT,
    CHECKSUM = 1 << FLOE_ERR_CHECKSUM,
    UNSUPPORTED = 1 << FLOE_ERR_UNSUPPORTED,
    CUT = FORMAT | CHECKSUM
};

/* Memory is an arena of blocks between guards, one in each place. */
enum { X, Y, NANS, STREAM, DAMAGED, ZFP, INDEX, DST, INDEX_OUT, REPORT, NBLOCKS };
enum {
    BLOCK = 8192,
    GUARD = 256,
    ROOM = BLOCK - 2 * GUARD,
    ARENA = NBLOCKS * BLOCK,
    NY = 12,
    NX = 20,
    NELEMS = NY * NX
};

static struct {
    floe_ctx *ctx, *broken, *few, *tiny, *narrow; /* create failed; max_elems, max_memory, workspace are too small */
    floe_place place;                             /* of fields and streams */
    uint8_t *arena[2];                            /* by place; the second where there is a GPU */
    uint64_t stream_nbytes, zfp_nbytes, index_nbytes;
    floe_zfp_stream zfp;
    int nrows, nfailed, nsound, turn; /* turn: the number of the value, where a row has several */
    int other; /* statuses for memory of the other place: with OK where a GPU reads the pageable memory of the host */
    void (*copy)(void *to, const void *from, size_t nbytes);
} the = {.other = ARG | DEVICE | UNSUPPORTED};
static _Alignas(256) uint8_t image[ARENA], back[ARENA], decoded[NELEMS * 4], sunk[ARENA];

static uint8_t *block(floe_place place, int i) { return the.arena[place] + i * BLOCK + GUARD; }
static uint8_t *mine(int i) { return block(the.place, i); }
static uint8_t *imaged(int i) { return image + i * BLOCK + GUARD; }

/* ---- sources and sinks ---------------------------------------------------------------------------------------------- */

typedef struct wire {
    const uint8_t *data;
    uint64_t nbytes, written;
    floe_status read, write; /* what they return */
    size_t more;             /* read: bytes that it reports to have had besides */
    bool empty;              /* read: it has none */
} wire;

static floe_status wire_read(void *user, uint64_t offset, void *dst, size_t nbytes, size_t *got)
{
    const wire *w = user;
    const uint64_t left = offset < w->nbytes && !w->empty ? w->nbytes - offset : 0, n = nbytes < left ? nbytes : left;
    memcpy(dst, w->data + (n ? offset : 0), (size_t)n);
    *got = w->more ? nbytes + w->more : (size_t)n;
    return w->read;
}

static floe_status wire_write(void *user, const void *src, size_t nbytes)
{
    wire *w = user;
    if (w->written + nbytes > sizeof sunk)
        return FLOE_ERR_IO;
    memcpy(sunk + w->written, src, nbytes);
    w->written += nbytes;
    return w->write;
}

static int stop(void *user, uint64_t done, uint64_t total)
{
    (void)user, (void)done, (void)total;
    return 1;
}

/* ---- arguments ------------------------------------------------------------------------------------------------------ */

/* Of all calls: structs, and the pointers to them that are handed over. `after` follows what may grow: a newer caller's. */
typedef struct args {
    floe_ctx *ctx;
    const char *says;      /* the message; NULL: there can be none */
    floe_field x, y, b, h; /* read; written; written, of the box; read, in host memory */
    floe_field *in, *out, *box, *original;
    floe_params p;
    uint64_t after_p;
    floe_params *params;
    const void *src, *head; /* head: in host memory */
    void *dst;
    uint64_t src_nbytes, capacity, n, *nbytes, from[4], to[4], *lo, *hi;
    size_t size, *needed;
    floe_dtype dtype, *dtype_out;
    uint32_t number, *number_out;
    char line[200], *text_out;
    const char *text;
    wire w;
    floe_source source_, *source;
    floe_sink sink_, *sink;
    floe_stream_options so;
    uint64_t after_so;
    floe_stream_options *stream_options;
    floe_attr attr;
    floe_info info_, *info;
    floe_error err_, *err;
    floe_ctx_options co;
    uint64_t after_co;
    floe_assess_options ao;
    uint64_t after_ao;
    floe_assess_options *assess_options;
    floe_assess_report found, *report;
    floe_metric_set set, *set_out;
    floe_zfp_stream z;
    uint64_t after_z;
    floe_zfp_stream *zfp;
    const char *mode;
    floe_zfp_index made; /* with spec and memory */
    uint64_t after_made;
    floe_zfp_index *index_out;
    floe_index_spec spec_, *spec;
    const void *zsrc, *zhead, *index, *index_head;
    uint64_t zsrc_nbytes, index_nbytes;
    floe_device_report *dev_report;
    const uint64_t *dev_nbytes;
    const void *dev_sizes;
} args;

static args now;

static args *fresh(void)
{
    args *a = &now;
    const uint64_t shape[] = {NY, NX}, box[] = {7, 14};
    memset(a, 0, sizeof *a);
    for (int k = 0; k < 2 && the.arena[k]; k++)
        the.copy(the.arena[k], image, ARENA);
    a->ctx = the.ctx;
    a->x = floe_field_of(mine(X), FLOE_F32, 2, shape);
    a->x.place = the.place;
    a->y = a->b = a->h = a->x;
    a->y.data = a->b.data = mine(Y);
    a->h.data = block(FLOE_HOST, X);
    a->h.place = FLOE_HOST;
    memcpy(a->b.shape, box, sizeof box);
    a->in = &a->x, a->out = &a->y, a->box = &a->b, a->original = &a->h;
    (void)floe_params_parse(&a->p, "abs=1e-2 preset=fast chunk=6x20", NULL);
    a->params = &a->p;
    a->src = mine(STREAM), a->head = block(FLOE_HOST, STREAM), a->src_nbytes = the.stream_nbytes;
    a->dst = mine(DST), a->capacity = ROOM, a->nbytes = &a->n;
    a->from[0] = 2, a->from[1] = 3, a->to[0] = 9, a->to[1] = 17;
    a->lo = a->from, a->hi = a->to, a->needed = &a->size;
    a->dtype_out = &a->dtype, a->number_out = &a->number, a->text_out = a->line;
    a->source_ = (floe_source){&a->w, wire_read, 0, 1}, a->sink_ = (floe_sink){&a->w, wire_write};
    a->source = &a->source_, a->sink = &a->sink_;
    a->so.size = sizeof a->so, a->stream_options = &a->so;
    a->info_.size = sizeof a->info_, a->found.size = sizeof a->found;
    a->info = &a->info_, a->err = &a->err_, a->co.size = sizeof a->co;
    floe_assess_options_init(&a->ao);
    a->assess_options = &a->ao, a->report = &a->found, a->set_out = &a->set;
    a->z = the.zfp, a->zfp = &a->z, a->mode = "rel=1e-3";
    a->made = (floe_zfp_index){sizeof a->made, {FLOE_INDEX_HYBRID, 1, 4}, mine(INDEX_OUT), ROOM, the.index_nbytes};
    a->index_out = &a->made, a->spec_ = a->made.spec, a->spec = &a->spec_;
    a->zsrc = mine(ZFP), a->zhead = block(FLOE_HOST, ZFP), a->zsrc_nbytes = the.zfp_nbytes;
    a->index = mine(INDEX), a->index_head = block(FLOE_HOST, INDEX), a->index_nbytes = the.index_nbytes;
    a->dev_report = (floe_device_report *)mine(REPORT);
    return a;
}

/* ---- calls ---------------------------------------------------------------------------------------------------------- */

static floe_status by_ctx(args *a, floe_status status)
{
    a->says = a->ctx ? floe_ctx_message(a->ctx) : NULL;
    return status;
}
static floe_status by_err(args *a, floe_status status)
{
    a->says = a->err ? a->err->message : NULL;
    return status;
}
static floe_status by_number(uint64_t n) { return n ? FLOE_OK : FLOE_ERR_ARGUMENT; }

#define CTX_CALL(name, ...) \
    static floe_status name(args *a) { return by_ctx(a, floe_##name(a->ctx, __VA_ARGS__)); }
#define ERR_CALL(name, ...) \
    static floe_status name(args *a) { return by_err(a, floe_##name(__VA_ARGS__, a->err)); }

CTX_CALL(workspace_nbytes, a->in, a->params, a->needed)
CTX_CALL(compress, a->in, a->params, a->dst, a->capacity, a->nbytes)
CTX_CALL(decompress, a->src, a->src_nbytes, a->out)
CTX_CALL(decompress_region, a->src, a->src_nbytes, a->lo, a->hi, a->box)
CTX_CALL(compress_with, a->in, a->params, a->stream_options, a->dst, a->capacity, a->nbytes)
CTX_CALL(decompress_with, a->src, a->src_nbytes, a->stream_options, a->out)
CTX_CALL(decompress_level, a->src, a->src_nbytes, a->number, a->out)
CTX_CALL(stream_level_nbytes, a->head, a->src_nbytes, a->number, a->nbytes)
CTX_CALL(stream_plan, a->head, a->src_nbytes, 0, a->line, sizeof a->line)
CTX_CALL(verify, a->src, a->src_nbytes, a->original)
CTX_CALL(assess, a->in, a->out, a->assess_options, a->report)
CTX_CALL(zfp_describe, a->in, a->mode, 1, a->zfp)
CTX_CALL(zfp_compress, a->in, a->zfp, a->dst, a->capacity, a->nbytes, a->index_out)
CTX_CALL(zfp_index_make, a->zsrc, a->zsrc_nbytes, a->zfp, a->index_out)
CTX_CALL(zfp_decompress, a->zsrc, a->zsrc_nbytes, a->zfp, a->index, a->index_nbytes, a->out)
ERR_CALL(params_parse, a->params, a->text)
ERR_CALL(stream_info, a->head, a->src_nbytes, a->info)
ERR_CALL(stream_header_nbytes, a->head, a->src_nbytes, a->nbytes)
ERR_CALL(metric_set_parse, a->set_out, a->text)
ERR_CALL(zfp_recognize, a->zhead, a->zsrc_nbytes, a->zfp)
ERR_CALL(zfp_index_info, a->index_head, a->index_nbytes, a->zfp, a->spec)

static void wire_to(args *a, const void *data, uint64_t nbytes)
{
    a->w.data = data, a->w.nbytes = nbytes - a->w.nbytes; /* which a row may have made shorter */
    a->source_.nbytes_total += a->source_.nbytes_total == UINT64_MAX ? 0 : nbytes;
}
static floe_status compress_stream(args *a)
{
    wire_to(a, imaged(X), NELEMS * 4);
    return by_ctx(a, floe_compress_stream(a->ctx, a->in, a->params, a->source, a->sink, a->stream_options));
}
static floe_status decompress_stream(args *a)
{
    wire_to(a, imaged(a->w.empty || a->so.salvage ? DAMAGED : STREAM), the.stream_nbytes);
    return by_ctx(a, floe_decompress_stream(a->ctx, a->source, a->sink, a->stream_options, a->info));
}
static floe_status ctx_create(args *a)
{
    floe_ctx *ctx = NULL;
    const floe_status status = floe_ctx_create(&ctx, &a->co);
    strncpy(a->line, floe_ctx_message(ctx), sizeof a->line - 1);
    floe_ctx_free(&ctx);
    a->says = a->line;
    return status;
}
static floe_status compress_bound(args *a) { return by_number(floe_compress_bound(a->in, a->params)); }
static floe_status params_format(args *a) { return floe_params_format(a->params, a->text_out, a->size); }
static floe_status stream_attr(args *a)
{
    return floe_stream_attr(a->head, a->src_nbytes, a->number, a->line, 9, NULL, 0);
}
static floe_status dtype_parse(args *a) { return floe_dtype_parse(a->text, a->dtype_out); }
static floe_status field_nelems(args *a) { return floe_field_nelems(a->in, a->nbytes); }
static floe_status metric_find(args *a) { return floe_metric_find(a->text, a->number_out); }
static floe_status metric_value(args *a) { return by_number(!isnan(floe_metric_value(a->report, a->number))); }
static floe_status metric_at(args *a) { return by_number(floe_metric_at(a->number) != NULL); }
static floe_status zfp_compress_bound(args *a) { return by_number(floe_zfp_compress_bound(a->zfp)); }
static floe_status zfp_index_bound(args *a) { return by_number(floe_zfp_index_bound(a->zfp, a->spec)); }

/* ---- judging -------------------------------------------------------------------------------------------------------- */

/* Nothing is written but y, what dst and index have room for, and the report. */
static bool untouched(const args *a)
{
    const uint64_t sizes[] = {NELEMS * 4, a->capacity, a->made.capacity, sizeof(floe_device_report)};
    static const int written[] = {Y, DST, INDEX_OUT, REPORT};
    bool same = true;
    for (int k = 0; k < 2 && the.arena[k]; k++) {
        the.copy(back, the.arena[k], ARENA);
        for (int i = 0; i < 4; i++)
            memcpy(back + written[i] * BLOCK + GUARD, imaged(written[i]), sizes[i] < ROOM ? sizes[i] : ROOM);
        same = same && memcmp(back, image, ARENA) == 0;
    }
    return same;
}

/* Both ways in turn. */
static bool sound(void)
{
    args *a = fresh();
    const bool packs = the.nsound++ % 2;
    if ((packs ? compress(a) : decompress(a)) != FLOE_OK || *a->says)
        return false;
    the.copy(back, packs ? a->dst : a->out->data, packs ? the.stream_nbytes : sizeof decoded);
    return packs ? a->n == the.stream_nbytes && memcmp(back, imaged(STREAM), (size_t)a->n) == 0
                 : memcmp(back, decoded, sizeof decoded) == 0;
}

static void judge(const char *call, const char *row, floe_status got, int allowed)
{
    char says[256] = "";
    const char *wrong = NULL;
    if (now.says)
        strncpy(says, now.says, sizeof says - 1);
    if ((unsigned)got > FLOE_ERR_UNSUPPORTED || !(allowed >> got & 1))
        wrong = "another status";
    else if (now.says && !*says != (got == FLOE_OK))
        wrong = "a message where there should be none, or none";
    else if (!untouched(&now))
        wrong = "wrote where it may not";
    else if (!sound())
        wrong = "a sound call fails afterwards";
    the.nrows++;
    the.nfailed += wrong != NULL;
    if (wrong)
        print_message("%s, %s (value %d): %s (status %d \"%s\")\n", call, row, the.turn, wrong, (int)got, says);
}

/* One wrong argument: a call, the statuses that are right, and what to do to the arguments `a` of a sound call. */
#define ROW(call, allowed, ...)                         \
    do {                                                \
        args *a = fresh();                              \
        __VA_ARGS__;                                    \
        judge(#call, #__VA_ARGS__, call(a), (allowed)); \
    } while (0)

/* The same for one of several calls. */
typedef struct call {
    const char *name;
    floe_status (*run)(args *a);
    size_t field; /* in args */
    int uses;
} call;
enum { MEMORY_OF = 1, OUTPUT = 2, MATCHES = 4, TEXT = 8 }; /* uses */
#define CALL(f, member, uses)               \
    {                                       \
#f, f, offsetof(args, member), uses \
    }
#define EACH(allowed, ...)                                       \
    do {                                                         \
        args *a = fresh();                                       \
        floe_field *f = (floe_field *)((uint8_t *)a + c->field); \
        (void)f;                                                 \
        __VA_ARGS__;                                             \
        judge(c->name, #__VA_ARGS__, c->run(a), (allowed));      \
    } while (0)

/* The same for several values of one argument. */
#define ROW_OF(call, allowed, member, type, ...)                                           \
    do {                                                                                   \
        type const values_[] = {__VA_ARGS__};                                              \
        for (the.turn = 0; the.turn < (int)(sizeof values_ / sizeof *values_); the.turn++) \
            ROW(call, allowed, member = values_[the.turn]);                                \
        the.turn = 0;                                                                      \
    } while (0)
#define EACH_OF(allowed, member, type, ...)                                                \
    do {                                                                                   \
        type const values_[] = {__VA_ARGS__};                                              \
        for (the.turn = 0; the.turn < (int)(sizeof values_ / sizeof *values_); the.turn++) \
            EACH(allowed, member = values_[the.turn]);                                     \
        the.turn = 0;                                                                      \
    } while (0)

/* ---- rows of every call with a ... ---------------------------------------------------------------------------------- */

static void context_rows(const call *c)
{
    EACH(ARG, a->ctx = NULL);
    EACH(ARG, a->ctx = the.broken);
}

static void field_rows(const call *c)
{
    EACH(ARG, a->in = a->out = a->box = a->original = NULL);
    EACH_OF(ARG, f->dtype, long long, 0, 9, -1);
    EACH_OF(ARG, f->rank, long long, 0, 5, UINT32_MAX);
    EACH(ARG, f->shape[0] = UINT64_MAX);
    EACH(ARG, f->shape[0] = 1ull << 61, f->shape[1] = 1);
    EACH(ARG, f->shape[0] = f->shape[1] = 1ull << 32);
    EACH(ARG, f->shape[0] = 0, f->shape[1] = UINT64_MAX);
    if (c->uses & MATCHES) {
        EACH(ARG, f->dtype = FLOE_F64);
        EACH(ARG | UNSUPPORTED, f->dtype = FLOE_I32);
        EACH(ARG, f->rank = 1);
        EACH(ARG, f->rank = 3, f->shape[2] = 1);
        EACH(ARG, f->shape[0]--);
        EACH(ARG, f->shape[1]--);
        EACH(ARG, f->shape[0] = 0);
    }
    if (!(c->uses & MEMORY_OF))
        return;
    EACH(ARG, f->data = NULL);
    EACH(ARG, f->data = (uint8_t *)f->data + 1);
    EACH(ARG, f->data = (uint8_t *)f->data + 2);
    EACH_OF(ARG, f->place, long long, 2, -1);
    EACH(the.other, f->place = !f->place);
    if (the.arena[FLOE_DEVICE])
        EACH(the.other, f->data = block(!f->place, Y));
    EACH_OF(ARG, f->stride[0], long long, INT64_MAX, INT64_MIN);
    EACH(ARG, f->stride[0] = INT64_MAX / 20, f->stride[1] = 1);
    EACH(ARG, f->stride[0] = -(1ll << 58), f->stride[1] = 1);
    if (!(c->uses & OUTPUT))
        return;
    EACH(ARG, f->stride[0] = 0, f->stride[1] = 1);
    EACH(ARG, f->stride[0] = 20, f->stride[1] = 0);
    EACH(ARG, f->stride[0] = 1, f->stride[1] = 1);
    EACH(ARG, f->stride[0] = -1, f->stride[1] = 1);
    EACH(ARG, f->stride[0] = f->shape[1] - 1, f->stride[1] = 1);
    EACH(ARG, f->stride[0] = 1, f->stride[1] = f->shape[0] - 1);
}

static void params_rows(const call *c)
{
    EACH_OF(ARG, a->p.size, long long, 0, 7);
    EACH(ARG | UNSUPPORTED, a->p.size += 8, a->after_p = 1);
    EACH_OF(ARG, a->p.mode, long long, 0, 9, -1);
    EACH_OF(ARG, a->p.bound, double, 0, -0.0, -1, NAN, INFINITY, -INFINITY);
    EACH(ARG, a->p.mode = FLOE_BOUND_REL, a->p.bound = NAN);
    EACH(ARG, a->p.mode = FLOE_BOUND_PWREL, a->p.bound = 1);
    EACH(ARG, a->p.mode = FLOE_BOUND_PWREL, a->p.bound = INFINITY);
    EACH(ARG, a->p.mode = FLOE_BOUND_PWREL, a->p.codec = FLOE_CODEC_ZFP);
    EACH(ARG, a->p.mode = FLOE_BOUND_PSNR, a->p.bound = -60);
    EACH(ARG, a->p.mode = FLOE_BOUND_PREC, a->p.bound = 8);
    EACH(ARG, a->p.mode = FLOE_BOUND_PREC, a->p.bound = 0, a->p.codec = FLOE_CODEC_ZFP);
    EACH(ARG, a->p.mode = FLOE_BOUND_PREC, a->p.bound = 65, a->p.codec = FLOE_CODEC_ZFP);
    EACH(ARG, a->p.mode = FLOE_BOUND_PREC, a->p.bound = 7.5, a->p.codec = FLOE_CODEC_ZFP);
    EACH(ARG, a->p.mode = FLOE_BOUND_RATE, a->p.bound = NAN, a->p.codec = FLOE_CODEC_ZFP);
    EACH_OF(ARG, a->p.codec, long long, 9, -1);
    EACH(ARG, a->p.mode = FLOE_BOUND_RATIO, a->p.bound = 0.5);
    EACH_OF(ARG, a->p.preset, long long, 3, -1);
    EACH_OF(ARG, a->p.fill, long long, 4, -1);
    EACH_OF(ARG, a->p.chunk_rank, long long, 5, UINT32_MAX, 0);
    EACH(ARG, a->p.chunk[1] = 0);
    if (!(c->uses & TEXT)) {
        EACH(ARG, a->params = NULL);
        EACH(ARG, a->p.chunk_rank = 1);
        EACH(ARG, a->p.chunk_rank = 3, a->p.chunk[2] = 1);
        EACH(ARG | UNSUPPORTED, a->x.dtype = FLOE_I32, a->p.mode = FLOE_BOUND_PWREL, a->p.bound = 0.1);
        EACH(ARG | UNSUPPORTED, a->x.dtype = FLOE_I32, a->p.fill = FLOE_FILL_VALUE, a->p.fill_value = 0.5);
        EACH(ARG | UNSUPPORTED, a->x.dtype = FLOE_I32, a->p.fill = FLOE_FILL_VALUE, a->p.fill_value = NAN);
        EACH(ARG | UNSUPPORTED, a->x.dtype = FLOE_I32, a->p.fill = FLOE_FILL_INTEGER, a->p.fill_integer = INT64_MIN);
        EACH(ARG, a->p.fill = FLOE_FILL_INTEGER);
        EACH(ARG, a->p.fill = FLOE_FILL_VALUE, a->p.fill_value = 1e39);
        EACH(ARG, a->p.fill = FLOE_FILL_VALUE, a->p.fill_value = -1e308);
        EACH(ARG, a->p.fill = FLOE_FILL_VALUE, a->p.fill_value = 1e-60);
    }
}

static void zfp_stream_rows(const call *c)
{
    EACH_OF(ARG, a->z.size, long long, 0, 7);
    EACH(ARG | UNSUPPORTED, a->z.size += 8, a->after_z = 1);
    EACH_OF(ARG, a->z.dtype, long long, 0, -1);
    EACH_OF(ARG, a->z.rank, long long, 0, 5);
    EACH_OF(ARG, a->z.shape[0], long long, 0, UINT64_MAX);
    EACH(ARG, a->z.shape[0] = a->z.shape[1] = 1ull << 32);
    EACH(ARG, a->z.maxbits = 0);
    EACH(ARG, a->z.minbits = a->z.maxbits + 1);
    EACH(ARG, a->z.minbits = a->z.maxbits = UINT32_MAX);
    EACH_OF(ARG, a->z.maxprec, long long, 0, 65);
    EACH_OF(ARG, a->z.minexp, long long, INT32_MIN, INT32_MAX);
    EACH_OF(ARG, a->z.header_nbits, long long, 1, UINT32_MAX);
    if (c->uses & MATCHES) {
        EACH(ARG, a->z.dtype = FLOE_F64);
        EACH(ARG, a->z.shape[1]--);
        EACH(ARG, a->z.rank = 1);
    }
}

#define RUN(rows, calls)                                          \
    do {                                                          \
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) \
            rows(&calls[i]);                                      \
    } while (0)

static void rows_of_structs(void)
{
    static const call fields[] = {CALL(compress_bound, x, 0),
                                  CALL(workspace_nbytes, x, 0),
                                  CALL(compress_stream, x, 0),
                                  CALL(compress, x, MEMORY_OF),
                                  CALL(decompress, y, MEMORY_OF | OUTPUT | MATCHES),
                                  CALL(decompress_region, b, MEMORY_OF | OUTPUT | MATCHES),
                                  CALL(verify, h, MEMORY_OF | MATCHES),
                                  CALL(assess, x, MEMORY_OF | MATCHES),
                                  CALL(zfp_describe, x, MEMORY_OF),
                                  CALL(zfp_compress, x, MEMORY_OF | MATCHES),
                                  CALL(zfp_decompress, y, MEMORY_OF | OUTPUT | MATCHES)};
    static const call params[] = {CALL(compress_bound, x, 0), CALL(workspace_nbytes, x, 0), CALL(compress, x, 0),
                                  CALL(compress_stream, x, 0), CALL(params_format, x, TEXT)};
    static const call streams[] = {CALL(zfp_compress_bound, x, 0), CALL(zfp_index_bound, x, 0),
                                   CALL(zfp_compress, x, MATCHES), CALL(zfp_decompress, x, MATCHES),
                                   CALL(zfp_index_make, x, 0)};
    static const call contexts[] = {CALL(workspace_nbytes, x, 0), CALL(compress, x, 0),
                                    CALL(decompress, x, 0),       CALL(decompress_region, x, 0),
                                    CALL(verify, x, 0),           CALL(assess, x, 0),
                                    CALL(compress_stream, x, 0),  CALL(decompress_stream, x, 0),
                                    CALL(zfp_describe, x, 0),     CALL(zfp_compress, x, 0),
                                    CALL(zfp_index_make, x, 0),   CALL(zfp_decompress, x, 0)};
    RUN(field_rows, fields);
    RUN(params_rows, params);
    RUN(zfp_stream_rows, streams);
    RUN(context_rows, contexts);
}

#endif
