/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse of the public calls: the rows of single calls, and the whole table. */
#ifndef FLOE_TESTS_MISUSE_ROWS_KIT_H
#define FLOE_TESTS_MISUSE_ROWS_KIT_H

#include "tests/misuse_kit.h"

/* ---- rows of single calls ------------------------------------------------------------------------------------------- */

static void rows_in_memory(void)
{
    ROW(workspace_nbytes, ARG, a->needed = NULL);
    ROW(compress, OK, a->capacity = the.stream_nbytes);
    ROW_OF(compress, CAPACITY, a->capacity, long long, the.stream_nbytes - 1, 1, 0);
    ROW(compress, CAPACITY, a->capacity = 0, a->dst = NULL);
    ROW(compress, ARG, a->dst = NULL);
    ROW(compress, ARG, a->nbytes = NULL);
    ROW(compress, LIMIT, a->ctx = the.tiny);
    ROW(compress_bound, OK, a->p.size = offsetof(floe_params, chunk));
    ROW(decompress, ARG, a->src = NULL);
    ROW(decompress_region, ARG, a->src = NULL);
    ROW(decompress, LIMIT, a->ctx = the.few);
    ROW(decompress_region, LIMIT, a->ctx = the.few);
    ROW(decompress, FORMAT, a->src = NULL, a->src_nbytes = 0);
    ROW_OF(decompress, FORMAT, a->src_nbytes, long long, 0, 1);
    ROW(decompress, CUT, a->src_nbytes = 100);
    ROW(decompress, CUT, a->src_nbytes--);
    ROW(decompress, CUT, a->src_nbytes++);
    ROW(decompress, CUT, a->src = mine(X));
    ROW(decompress, CUT, a->src = mine(DAMAGED));
    ROW(decompress, LIMIT, a->ctx = the.tiny);
    ROW(decompress_region, ARG, a->lo = NULL);
    ROW(decompress_region, ARG, a->hi = NULL);
    ROW_OF(decompress_region, ARG, a->from[0], long long, 10, UINT64_MAX);
    ROW(decompress_region, ARG, a->to[0] = UINT64_MAX);
    ROW(decompress_region, ARG, a->from[0] = 6, a->to[0] = NY + 1);
    ROW(decompress_region, ARG, a->to[0]--);
    ROW(decompress_region, ARG, a->to[0] = a->from[0]);
    ROW(decompress_region, ARG, a->from[1] = a->to[1]);
    ROW(decompress_region, OK, a->to[0] = a->from[0], a->b.shape[0] = 0, a->b.data = NULL);
    ROW(decompress_region, CUT, a->src_nbytes = 100);
    ROW(decompress_level, ARG, a->src = NULL);
    ROW_OF(decompress_level, UNSUPPORTED, a->number, long long, 1, UINT32_MAX);
    ROW(decompress_level, CUT, a->src_nbytes = 100);
    ROW(stream_level_nbytes, ARG, a->nbytes = NULL);
    ROW_OF(stream_level_nbytes, UNSUPPORTED, a->number, long long, 1, UINT32_MAX);
    ROW(stream_level_nbytes, CUT, a->src_nbytes--);
    ROW(stream_plan, CUT, a->src_nbytes = 100);
    ROW(verify, OK, a->says = NULL);
    ROW(verify, ARG, a->src = NULL);
    ROW(verify, FORMAT, a->src_nbytes = 0);
    ROW(verify, CUT, a->src_nbytes--);
    ROW(verify, CUT, a->src = mine(DAMAGED));
    ROW(verify, BOUND, a->h.data = block(FLOE_HOST, NANS));
    ROW(verify, BOUND, a->h.stride[0] = 0, a->h.stride[1] = 1);
    ROW(verify, UNSUPPORTED | ARG, a->h.place = FLOE_DEVICE);
    ROW(verify, LIMIT, a->ctx = the.few);
    ROW(verify, LIMIT, a->ctx = the.tiny);
    ROW(verify, MEMORY, a->ctx = the.narrow);
}

static void rows_of_options(void)
{
    ROW(compress_with, OK, a->stream_options = NULL);
    ROW_OF(compress_with, ARG, a->so.size, long long, 0, 7, -1);
    ROW(compress_with, UNSUPPORTED, a->so.size += 8, a->after_so = 1);
    ROW(compress_with, ARG, a->so.nattrs = 1);
    ROW(compress_with, ARG, a->so.nattrs = 1, a->so.attrs = &a->attr);
    ROW(compress_with, OK, a->so.nattrs = 1, a->so.attrs = &a->attr, a->attr = (floe_attr){"a", "b"});
    ROW(compress_with, ARG, a->so.nattrs = 1, a->so.attrs = &a->attr, a->attr = (floe_attr){"a", "\xff"});
    ROW(compress_with, IO, a->so.progress = stop);
    ROW(compress_with, CAPACITY, a->capacity = 100);
    ROW(decompress_with, OK, a->stream_options = NULL);
    ROW_OF(decompress_with, ARG, a->so.size, long long, 0, 7, -1);
    ROW(decompress_with, UNSUPPORTED, a->so.size += 8, a->after_so = 1);
    ROW(decompress_with, ARG, a->so.lo = a->lo);
    ROW(decompress_with, ARG, a->so.lo = a->hi, a->so.hi = a->lo);
    ROW(decompress_with, ARG, a->so.lo = a->lo, a->so.hi = a->hi);
    ROW(decompress_with, OK, a->so.lo = a->lo, a->so.hi = a->hi, a->out = a->box);
    ROW(decompress_with, UNSUPPORTED, a->so.level = 1);
    ROW(decompress_with, IO, a->so.progress = stop);
    ROW(decompress_with, the.place == FLOE_HOST ? OK : UNSUPPORTED, a->so.salvage = 1);
    ROW(decompress_with, the.place == FLOE_HOST ? ARG : UNSUPPORTED, a->so.salvage = 1, a->src = NULL);
}

static void rows_of_sources(void)
{
    ROW(compress_stream, OK, a->stream_options = NULL);
    ROW(compress_stream, ARG, a->source = NULL);
    ROW(compress_stream, ARG, a->source_.read = NULL);
    ROW(compress_stream, ARG, a->sink = NULL);
    ROW(compress_stream, ARG, a->sink_.write = NULL);
    ROW(compress_stream, ARG, a->so.size = 0);
    ROW(compress_stream, UNSUPPORTED, a->so.size += 8, a->after_so = 1);
    ROW(compress_stream, ARG, a->so.nattrs = 1);
    ROW(compress_stream, ARG, a->so.nattrs = 1, a->so.attrs = &a->attr);
    ROW(compress_stream, ARG, a->so.nattrs = 1, a->so.attrs = &a->attr, a->attr = (floe_attr){"a", "\xff"});
    ROW(compress_stream, ARG, a->so.nattrs = 1, a->so.attrs = &a->attr, a->attr = (floe_attr){"a", NULL});
    ROW(compress_stream, ARG, a->so.lo = a->lo);
    ROW(compress_stream, IO, a->so.progress = stop);
    ROW(compress_stream, IO, a->w.read = FLOE_ERR_IO);
    ROW(compress_stream, LIMIT, a->w.read = FLOE_ERR_LIMIT);
    ROW(compress_stream, IO, a->w.more = 1);
    ROW(compress_stream, IO, a->w.more = SIZE_MAX / 2);
    ROW(compress_stream, ARG | FORMAT | IO, a->w.empty = true);
    ROW(compress_stream, ARG | FORMAT | IO, a->w.nbytes = 1);
    ROW(compress_stream, ARG | FORMAT | IO, a->w.nbytes = 4 * NX);
    ROW(compress_stream, ARG | FORMAT | IO, a->w.nbytes = 1, a->source_.nbytes_total = UINT64_MAX);
    ROW(compress_stream, OK, a->source_.nbytes_total = UINT64_MAX);
    ROW_OF(compress_stream, ARG | FORMAT | IO, a->source_.nbytes_total, long long, 1, 1ull << 62);
    ROW(compress_stream, UNSUPPORTED, a->source_.seekable = 0, a->p.mode = FLOE_BOUND_REL);
    ROW(compress_stream, UNSUPPORTED, a->source_.seekable = 0, a->p.mode = FLOE_BOUND_PSNR, a->p.bound = 60);
    ROW(compress_stream, IO, a->w.write = FLOE_ERR_IO);
    ROW(compress_stream, CAPACITY, a->w.write = FLOE_ERR_CAPACITY);
    ROW(compress_stream, LIMIT, a->ctx = the.tiny);
    ROW(compress_stream, MEMORY, a->ctx = the.narrow);
    ROW(decompress_stream, OK, a->stream_options = NULL, a->info = NULL);
    ROW(decompress_stream, ARG, a->source = NULL);
    ROW(decompress_stream, ARG, a->source_.read = NULL);
    ROW(decompress_stream, ARG, a->sink = NULL);
    ROW(decompress_stream, ARG, a->sink_.write = NULL);
    ROW(decompress_stream, ARG, a->so.size = 7);
    ROW(decompress_stream, UNSUPPORTED, a->so.size += 8, a->after_so = 1);
    ROW_OF(decompress_stream, ARG, a->info_.size, long long, 0, 7, -1);
    ROW(decompress_stream, OK, a->so.lo = a->lo, a->so.hi = a->hi);
    ROW(decompress_stream, ARG, a->so.lo = a->lo);
    ROW(decompress_stream, ARG, a->so.hi = a->hi);
    ROW(decompress_stream, ARG, a->so.lo = a->hi, a->so.hi = a->lo);
    ROW(decompress_stream, ARG, a->so.lo = a->lo, a->so.hi = a->hi, a->to[1] = NX + 1);
    ROW(decompress_stream, ARG, a->so.lo = a->lo, a->so.hi = a->hi, a->from[0] = UINT64_MAX);
    ROW(decompress_stream, UNSUPPORTED, a->so.lo = a->lo, a->so.hi = a->hi, a->source_.seekable = 0);
    ROW(decompress_stream, OK, a->so.salvage = 1);
    ROW(decompress_stream, OK, a->so.salvage = 1, a->source_.seekable = 0, a->source_.nbytes_total = UINT64_MAX);
    ROW(decompress_stream, CUT, a->so.salvage = 1, a->w.nbytes = the.stream_nbytes - 40);
    ROW(decompress_stream, IO, a->so.progress = stop);
    ROW(decompress_stream, IO, a->w.read = FLOE_ERR_IO);
    ROW(decompress_stream, LIMIT, a->so.salvage = 1, a->w.read = FLOE_ERR_LIMIT);
    ROW(decompress_stream, IO, a->w.more = 1);
    ROW(decompress_stream, CUT, a->w.empty = true);
    ROW(decompress_stream, CUT, a->w.nbytes = 1);
    ROW(decompress_stream, CUT, a->w.nbytes = 1, a->source_.seekable = 0);
    ROW_OF(decompress_stream, CUT | IO, a->source_.nbytes_total, long long, 1, 1ull << 62);
    ROW(decompress_stream, IO, a->w.write = FLOE_ERR_IO);
    ROW(decompress_stream, LIMIT, a->ctx = the.few);
    ROW(decompress_stream, LIMIT, a->ctx = the.tiny);
    ROW(decompress_stream, MEMORY, a->ctx = the.narrow);
}

static floe_metric_set named(const char *text)
{
    floe_metric_set set;
    assert_true(floe_metric_set_parse(&set, text, NULL) == FLOE_OK);
    return set;
}

static void rows_of_assess(void)
{
    ROW(assess, OK, a->assess_options = NULL);
    ROW(assess, OK, a->out = NULL);
    ROW(assess, ARG, a->in = NULL);
    ROW(assess, ARG, a->report = NULL);
    ROW_OF(assess, ARG, a->found.size, long long, 0, 7, -1);
    ROW(assess, ARG, a->y.place = !a->y.place);
    ROW(assess, ARG, a->y.data = NULL);
    ROW(assess, ARG, a->y.dtype = FLOE_F64);
    ROW(assess, ARG, a->y.shape[0]--);
    ROW(assess, ARG, a->y.rank = 5);
    ROW(assess, ARG, a->y.stride[0] = INT64_MAX);
    ROW(assess, ARG, a->x.shape[0] = a->y.shape[0] = 0);
    ROW(assess, ARG, a->x.data = mine(NANS));
    ROW(assess, ARG, a->ao.size = 0);
    ROW(assess, UNSUPPORTED, a->ao.size += 8, a->after_ao = 1);
    ROW_OF(assess, ARG, a->ao.bins, long long, FLOE_ASSESS_MIN_BINS - 1, FLOE_ASSESS_MAX_BINS + 1);
    ROW_OF(assess, ARG, a->ao.value_bins, long long, FLOE_ASSESS_MIN_BINS - 1, FLOE_ASSESS_MAX_VALUE_BINS + 1);
    ROW(assess, ARG, a->ao.worst = FLOE_ASSESS_MAX_WORST + 1);
    ROW_OF(assess, ARG, a->ao.window, long long, 1, FLOE_ASSESS_MAX_WINDOW + 1);
    ROW(assess, ARG, a->ao.window = NY + 1, a->ao.metrics = named("ssim"));
    ROW(assess, ARG, a->ao.step = 0);
    ROW_OF(assess, ARG, a->ao.lags, long long, 0, FLOE_ASSESS_MAX_LAGS + 1);
    ROW_OF(assess, ARG, a->ao.mode, long long, FLOE_BOUND_PSNR, -1);
    ROW(assess, ARG, a->ao.mode = FLOE_BOUND_ABS, a->ao.bound = NAN);
    ROW(assess, ARG, a->ao.mode = FLOE_BOUND_ABS, a->ao.bound = -1);
    ROW(assess, ARG, a->ao.mode = FLOE_BOUND_ABS, a->ao.bound = INFINITY);
    ROW_OF(assess, ARG, a->ao.fill, long long, 3, -1);
    ROW(assess, ARG, a->ao.fill = FLOE_FILL_VALUE, a->ao.fill_value = 1e39);
    ROW(assess, ARG, a->ao.metrics.word[3] = 1ull << 63);
    ROW(assess, ARG, a->ao.metrics.groups = 1u << (FLOE_PASSES + 1));
    ROW(assess, ARG, a->ao.metrics = named("psnr"), a->out = NULL);
    ROW(assess, ARG, a->ao.metrics = named("outside"));
    ROW(assess, LIMIT, a->ctx = the.tiny);
    ROW(assess, MEMORY, a->ctx = the.narrow);
    ROW_OF(metric_find, ARG, a->text, const char *, NULL, "", "psn");
    ROW(metric_find, ARG, a->text = "psnr", a->number_out = NULL);
    ROW_OF(metric_set_parse, ARG, a->text, const char *, NULL, " , ", "psnr nosuch");
    ROW(metric_set_parse, ARG, a->text = "psnr", a->set_out = NULL);
    ROW(metric_set_parse, ARG, a->text = "psnr nosuch", a->err = NULL);
    ROW_OF(metric_at, ARG, a->number, long long, UINT32_MAX, 256);
    ROW(metric_value, ARG, a->report = NULL);
    ROW(metric_value, ARG, memset(&a->found.computed, 0xff, sizeof a->found.computed), a->number = UINT32_MAX);
}

static void rows_of_zfp(void)
{
    ROW_OF(zfp_describe, ARG, a->mode, const char *, NULL, "", "rate", "rate=", "rate=x", "rate=-1", "rate=nan",
           "prec=0", "prec=65", "prec=1.5", "prec=1e9", "abs=-1", "abs=nan", "rel=0", "rel=inf", "rel=nan", "rel=-1",
           "nosuch=1", "lossless=1", "expert=1:2:3", "expert=2:1:9:0", "expert=::", "=", "expert=1:2:3:4:5",
           "expert=0:0:0:0", "expert=1:1e99:9:0");
    ROW(zfp_describe, ARG, a->zfp = NULL);
    ROW(zfp_describe, ARG, a->x.shape[1] = 0);
    ROW(zfp_describe, ARG, a->x.data = mine(NANS));
    ROW(zfp_describe, ARG, a->x.data = NULL, a->x.rank = 1, a->x.shape[0] = 1ull << 50, a->mode = "rate=8");
    ROW(zfp_describe, UNSUPPORTED, a->x.dtype = FLOE_I32);
    ROW(zfp_compress_bound, ARG, a->zfp = NULL);
    ROW(zfp_index_bound, ARG, a->zfp = NULL);
    ROW(zfp_index_bound, ARG, a->spec = NULL);
    ROW_OF(zfp_index_bound, ARG, a->spec_.form, long long, 4, -1);
    ROW(zfp_index_bound, ARG, a->spec_.chunk = 0);
    ROW_OF(zfp_index_bound, ARG, a->spec_.partition, long long, 0, 65537);
    ROW(zfp_compress, OK, a->capacity = the.zfp_nbytes, a->made.capacity = the.index_nbytes);
    ROW(zfp_compress, OK, a->index_out = NULL);
    ROW(zfp_compress, ARG, a->zfp = NULL);
    ROW(zfp_compress, ARG, a->dst = NULL);
    ROW(zfp_compress, ARG, a->nbytes = NULL);
    ROW_OF(zfp_compress, CAPACITY, a->capacity, long long, the.zfp_nbytes - 1, 8, 0);
    ROW(zfp_compress, ARG, a->z.header_nbits = a->z.header_nbits == 96 ? 148 : 96);
    ROW(zfp_compress, LIMIT, a->ctx = the.tiny);
    ROW(zfp_index_make, ARG, a->index_out = NULL);
    ROW(zfp_index_make, ARG, a->zsrc = NULL);
    ROW(zfp_index_make, FORMAT, a->zsrc = NULL, a->zsrc_nbytes = 0);
    ROW(zfp_index_make, FORMAT, a->zsrc_nbytes = 8);
    ROW(zfp_index_make, FORMAT, a->zsrc_nbytes -= 8);
    ROW(zfp_index_make, FORMAT, a->zsrc = mine(X));
    ROW(zfp_decompress, OK, a->index = NULL);
    ROW(zfp_decompress, OK, a->zfp = NULL, a->index = NULL);
    ROW(zfp_decompress, ARG, a->zsrc = NULL);
    ROW(zfp_decompress, FORMAT, a->zsrc_nbytes = 0);
    ROW(zfp_decompress, CUT, a->zsrc_nbytes -= 8);
    ROW(zfp_decompress, FORMAT, a->zsrc_nbytes -= 8, a->index = NULL);
    ROW(zfp_decompress, FORMAT, a->zsrc = mine(X), a->zfp = NULL, a->index = NULL);
    ROW(zfp_decompress, CUT, a->index_nbytes = 0);
    ROW(zfp_decompress, CUT, a->index_nbytes--);
    ROW(zfp_decompress, CUT, a->index = mine(STREAM));
    ROW(zfp_decompress, ARG, a->index = NULL, a->zfp = NULL, a->y.shape[0]--);
    ROW(zfp_recognize, ARG, a->zhead = NULL);
    ROW(zfp_recognize, ARG, a->zfp = NULL);
    ROW_OF(zfp_recognize, FORMAT, a->zsrc_nbytes, long long, 0, 7);
    ROW(zfp_recognize, FORMAT, a->zhead = imaged(X));
    ROW(zfp_recognize, FORMAT, a->zhead = imaged(X), a->err = NULL);
    ROW(zfp_index_info, ARG, a->index_head = NULL);
    ROW(zfp_index_info, ARG, a->zfp = NULL);
    ROW(zfp_index_info, ARG, a->spec = NULL);
    ROW(zfp_index_info, CUT, a->index_nbytes = 0);
    ROW(zfp_index_info, CUT, a->index_nbytes--);
    ROW(zfp_index_info, CUT, a->index_head = imaged(STREAM));
}

static void zfp_index_rows(const call *c)
{
    EACH_OF(ARG, a->made.size, long long, 0, 7);
    EACH(UNSUPPORTED, a->made.size += 8, a->after_made = 1);
    EACH(ARG, a->made.data = NULL);
    EACH_OF(ARG, a->made.spec.form, long long, 4, -1);
    EACH(ARG, a->made.spec.chunk = 0);
    EACH_OF(ARG, a->made.spec.partition, long long, 0, 65537);
    if (c->uses & OUTPUT) {
        EACH_OF(CAPACITY, a->made.capacity, long long, the.index_nbytes - 1, 8, 0);
    }
}

static void rows_without_context(void)
{
    ROW_OF(params_parse, ARG, a->text, const char *, NULL, "nosuch=1", "abs", "abs=", "abs=x", "abs=1 abs=1",
           "abs=1 rel=1", "abs=0", "abs=nan", "abs=-1", "rel=inf", "pwrel=1", "prec=0", "=", "codec=x",
           "preset=", "fill=1e999", "chunk=0", "chunk=1x1x1x1x1", "chunk=x", "chunk=-1", "codec=zfp codec=zfp",
           "lossless=1", "chunk=99999999999999999999");
    ROW_OF(dtype_parse, ARG, a->text, const char *, NULL, "", "f33", "f32 ", ">f4");
    ROW(dtype_parse, ARG, a->text = "f32", a->dtype_out = NULL);
    ROW(params_parse, ARG, a->text = "abs=1", a->params = NULL);
    ROW(params_parse, ARG, a->text = "abs", a->err = NULL);
    ROW(params_format, ARG, a->size = 100, a->params = NULL);
    ROW(params_format, ARG, a->size = 100, a->text_out = NULL);
    ROW(params_format, ARG, a->size = 0);
    ROW(params_format, CAPACITY, a->size = 1);
    ROW(params_format, CAPACITY, a->size = strlen("abs=0.01 codec=auto preset=fast fill=auto chunk=6x20"));
    ROW(params_format, OK, a->size = strlen("abs=0.01 codec=auto preset=fast fill=auto chunk=6x20") + 1);
    ROW(field_nelems, ARG, a->in = NULL);
    ROW(field_nelems, ARG, a->nbytes = NULL);
    ROW(field_nelems, ARG, a->x.rank = 0);
    ROW(stream_info, ARG, a->head = NULL);
    ROW(stream_info, ARG, a->info = NULL);
    ROW_OF(stream_info, ARG, a->info_.size, long long, 0, 7, -1);
    ROW(stream_header_nbytes, ARG, a->head = NULL);
    ROW(stream_header_nbytes, ARG, a->nbytes = NULL);
    ROW_OF(stream_header_nbytes, OK, a->src_nbytes, long long, 0, 15, 16);
    ROW(stream_header_nbytes, FORMAT, a->head = imaged(X));
    ROW_OF(stream_info, FORMAT, a->src_nbytes, long long, 0, 15);
    ROW(stream_info, CUT, a->src_nbytes = 100);
    ROW(stream_info, FORMAT, a->head = imaged(X));
    ROW(stream_info, FORMAT, a->head = imaged(X), a->err = NULL);
    ROW(stream_attr, ARG, a->head = NULL);
    ROW(stream_attr, FORMAT, a->src_nbytes = 15);
    ROW_OF(stream_attr, ARG, a->number, long long, 0, UINT32_MAX);
    ROW(ctx_create, OK, a->co.size = offsetof(floe_ctx_options, isa));
    ROW_OF(ctx_create, ARG, a->co.size, long long, 0, 7);
    ROW(ctx_create, UNSUPPORTED, a->co.size += 8, a->after_co = 1);
    ROW_OF(ctx_create, ARG, a->co.backend, long long, 3, -1);
    ROW(ctx_create, ARG, a->co.device = -1);
    ROW(ctx_create, ARG, a->co.threads = 1u << 20);
    ROW_OF(ctx_create, ARG, a->co.isa, long long, 9, -1);
    ROW(ctx_create, ARG, a->co.workspace_nbytes = 256);
    ROW(ctx_create, ARG, a->co.workspace = back + 8, a->co.workspace_nbytes = 256);
    ROW(ctx_create, ARG, a->co.device_workspace_nbytes = 256);
    ROW(ctx_create, ARG, a->co.device_workspace = back + 64, a->co.device_workspace_nbytes = 256);
    ROW(ctx_create, DEVICE, a->co.backend = FLOE_BACKEND_CUDA, a->co.device = 100);
}

/* ---- the whole ------------------------------------------------------------------------------------------------------ */

static floe_ctx *ctx_of(floe_backend backend, floe_ctx_options o, floe_status wanted)
{
    floe_ctx *ctx = NULL;
    o.size = sizeof o, o.backend = backend;
    assert_true(floe_ctx_create(&ctx, &o) == wanted);
    return ctx;
}

/* What a CPU makes of the field. arena: one for each place; copy: between any two. */
static void misuse_open(floe_backend backend, void (*copy)(void *, const void *, size_t))
{
    floe_ctx *cpu = ctx_of(FLOE_BACKEND_CPU, (floe_ctx_options){.threads = 1}, FLOE_OK);
    the.copy = copy;
    the.ctx = ctx_of(backend, (floe_ctx_options){.threads = 1}, FLOE_OK);
    the.broken = ctx_of(backend, (floe_ctx_options){.threads = 1u << 20}, FLOE_ERR_ARGUMENT);
    the.few = ctx_of(backend, (floe_ctx_options){.threads = 1, .max_elems = NELEMS - 1}, FLOE_OK);
    the.tiny = ctx_of(backend, (floe_ctx_options){.threads = 1, .max_memory = 64}, FLOE_OK);
    the.narrow = ctx_of(backend, (floe_ctx_options){.threads = 1, .workspace = back, .workspace_nbytes = 64}, FLOE_OK);
    memset(image, 0xEE, sizeof image);
    for (int i = 0; i < NELEMS; i++)
        ((float *)imaged(X))[i] = (float)(250 + 20 * sin(i * 0.11) + i % NX), ((float *)imaged(NANS))[i] = NAN;
    const floe_place place = the.place;
    the.place = FLOE_HOST;
    args *a = fresh();
    assert_true(floe_compress(cpu, a->in, a->params, imaged(STREAM), ROOM, &the.stream_nbytes) == FLOE_OK);
    a->y.data = decoded;
    assert_true(floe_decompress(cpu, imaged(STREAM), the.stream_nbytes, &a->y) == FLOE_OK);
    memcpy(imaged(DAMAGED), imaged(STREAM), the.stream_nbytes);
    imaged(DAMAGED)[the.stream_nbytes / 2] ^= 0x10;
    assert_true(floe_zfp_describe(cpu, a->in, "abs=1e-2", 1, &the.zfp) == FLOE_OK);
    a->made.data = imaged(INDEX);
    assert_true(floe_zfp_compress(cpu, a->in, &the.zfp, imaged(ZFP), ROOM, &the.zfp_nbytes, &a->made) == FLOE_OK);
    the.index_nbytes = a->made.nbytes;
    the.place = place;
    floe_ctx_free(&cpu);
}

static void misuse_rows(void)
{
    static const call makers[] = {CALL(zfp_compress, x, OUTPUT), CALL(zfp_index_make, x, OUTPUT)};
    rows_of_structs();
    rows_in_memory();
    rows_of_options();
    rows_of_sources();
    rows_of_assess();
    rows_of_zfp();
    RUN(zfp_index_rows, makers);
    rows_without_context();
}

static void misuse_close(void)
{
    floe_ctx **const all[] = {&the.ctx, &the.broken, &the.few, &the.tiny, &the.narrow};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        floe_ctx_free(all[i]);
    print_message("%d rows\n", the.nrows);
    assert_int_equal(the.nfailed, 0);
    the.nrows = 0;
}

#endif
