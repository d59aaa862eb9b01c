/* SPDX-License-Identifier: BSD-3-Clause */
/* The chunks of a stream that is written: by lanes of the CPU, or through a GPU. */
#include <math.h>
#include <string.h>

#include "api/compression.h"
#include "backend/cuda.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/try.h"
#include "device/pipeline.h"
#include "field/field.h"

/* ---- a batch ------------------------------------------------------------------------------------------------------ */

void floe_chunks_spread(floe_compression *c, const floe_sizing *sizing, floe_width width)
{
    floe_slab slab = {.nchunks = c->nchunks};
    if (c->chunks.source && c->nchunks)
        floe_slab_of(&c->header, 0, &slab); /* a source holds one, and none is larger than the first */
    if (floe_pipeline_wanted(c->ctx, &c->header) && width == FLOE_MANY_CHUNKS)
        width = FLOE_ONE_CHUNK;
    c->lanes = floe_lanes_of(&c->ctx->cpu, sizing, slab.nchunks, width);
    c->payload_nbytes = sizing->payload_nbytes;
}

void floe_chunks_take(floe_compression *c, floe_arena *arena)
{
    floe_lanes_take(&c->lanes, arena);
    c->batch = floe_arena_take(arena, c->lanes.batch, sizeof *c->batch);
    c->payloads = c->lanes.n > 1 ? floe_arena_take(arena, c->lanes.batch, c->payload_nbytes) : NULL;
}

/* Whether the field is one chunk, which a trial has coded: all else that params hold is of the field, and the same. */
static bool is_coded(const floe_compression *c)
{
    const floe_codec_params *p = &c->codec, *t = &c->trial.params;
    return c->coded && c->nchunks == 1 && p->codec == t->codec && p->mode == t->mode && p->bound == t->bound &&
           p->tuner_bound == t->tuner_bound && p->mean == t->mean;
}

/* n chunks from `first` on: views, and room for what they become. */
static floe_status batch_begin(floe_compression *c, uint64_t first, uint64_t n)
{
    uint8_t *space;
    uint64_t capacity;
    floe_error *err = &c->ctx->err;
    FLOE_TRY(floe_output_reserve(&c->output, FLOE_RECORD_HEAD_NBYTES, &space, err));
    floe_output_space(&c->output, &capacity);
    for (uint64_t i = 0; i < n; i++) {
        floe_lane_chunk *k = &c->batch[i];
        *k = (floe_lane_chunk){.record = {.chunk = first + i}};
        FLOE_TRY(floe_chunk_source_view(&c->chunks, first + i, &k->view, err));
        k->payload = c->payloads ? c->payloads + i * c->payload_nbytes : space + FLOE_RECORD_HEAD_NBYTES;
        k->capacity = c->payloads ? c->payload_nbytes : capacity - FLOE_RECORD_HEAD_NBYTES;
    }
    return FLOE_OK;
}

static void chunk_encode(void *arg, uint64_t i, const floe_cpu *cpu, floe_arena *scratch)
{
    const floe_compression *c = arg;
    floe_lane_chunk *k = &c->batch[i];
    const floe_chunk_encode call = {.cpu = cpu,
                                    .params = &c->codec,
                                    .chunk = &k->view,
                                    .scratch = scratch,
                                    .dst = k->payload,
                                    .capacity = k->capacity,
                                    .nbytes = &k->record.nbytes,
                                    .stats = &k->stats};
    if (is_coded(c)) {
        k->payload = c->coded;
        k->record.nbytes = c->trial.nbytes;
        k->stats = c->trial.stats;
    } else {
        k->err.status = floe_codec_of(c->codec.codec)->encode(&call, &k->err);
    }
    if (k->err.status == FLOE_OK)
        k->record.checksum = floe_checksum(k->payload, k->record.nbytes);
}

static void stats_add(floe_stats *all, const floe_chunk_stats *chunk)
{
    all->nexceptions += chunk->nexceptions;
    all->max_error = fmax(all->max_error, chunk->max_error);
    all->max_pw_error = fmax(all->max_pw_error, chunk->max_pw_error);
}

static floe_status chunk_put(floe_compression *c, const floe_lane_chunk *k)
{
    floe_ctx *ctx = c->ctx;
    floe_index_entry *entry = &c->index[k->record.chunk];
    uint8_t *space;
    if (k->err.status == FLOE_ERR_CAPACITY)
        return floe_output_full(&c->output, &ctx->err);
    if (k->err.status != FLOE_OK) {
        ctx->err = k->err;
        return k->err.status;
    }
    const uint64_t unpadded = FLOE_RECORD_HEAD_NBYTES + k->record.nbytes, nbytes = floe_record_nbytes(k->record.nbytes);
    FLOE_TRY(floe_output_reserve(&c->output, nbytes, &space, &ctx->err));
    *entry = (floe_index_entry){c->output.written, k->record};
    floe_record_head_write(&k->record, space);
    if (k->payload != space + FLOE_RECORD_HEAD_NBYTES)
        memcpy(space + FLOE_RECORD_HEAD_NBYTES, k->payload, (size_t)k->record.nbytes);
    memset(space + unpadded, 0, (size_t)(nbytes - unpadded));
    stats_add(&ctx->stats, &k->stats);
    return floe_output_commit(&c->output, nbytes, &ctx->err);
}

static floe_status chunk_done(floe_compression *c, uint64_t chunk)
{
    uint64_t lo[FLOE_MAX_RANK], extent[FLOE_MAX_RANK];
    floe_grid_box(&c->header, chunk, lo, extent);
    const uint64_t nbytes = floe_extent_nbytes(c->header.dtype, c->header.rank, extent);
    return floe_progress_add(&c->progress, c->tries ? 0 : nbytes, &c->ctx->err);
}

#ifdef FLOE_HAVE_CUDA_BUILD

/* The oldest chunk on the GPU: its record is the next in the stream. */
static floe_status record_put(floe_ctx *ctx, floe_compression *c, uint64_t chunk, uint64_t nbytes)
{
    floe_index_entry *entry = &c->index[chunk];
    floe_chunk_stats stats;
    uint8_t *space;
    FLOE_TRY(floe_output_reserve(&c->output, nbytes, &space, &ctx->err));
    FLOE_TRY(floe_pipeline_get_record(ctx, space, &entry->record, &stats));
    entry->offset = c->output.written;
    stats_add(&ctx->stats, &stats);
    return floe_output_commit(&c->output, nbytes, &ctx->err);
}

/* Chunk i goes in while the size of i - 1 is awaited and the record of i - 2 comes out. */
static floe_status chunks_pass_gpu(floe_ctx *ctx, floe_compression *c)
{
    uint64_t nbytes[FLOE_PIPELINE_DEPTH];
    for (uint64_t i = 0; i < c->nchunks + 2; i++) {
        if (i < c->nchunks) {
            floe_field view;
            FLOE_TRY(floe_chunk_source_view(&c->chunks, i, &view, &ctx->err));
            FLOE_TRY(floe_pipeline_put_values(ctx, i, &view, !c->chunks.source));
        }
        if (i >= 1 && i - 1 < c->nchunks)
            FLOE_TRY(floe_pipeline_fetch_record(ctx, &nbytes[(i - 1) % FLOE_PIPELINE_DEPTH]));
        if (i >= 2) {
            FLOE_TRY(record_put(ctx, c, i - 2, nbytes[(i - 2) % FLOE_PIPELINE_DEPTH]));
            FLOE_TRY(chunk_done(c, i - 2));
        }
    }
    return FLOE_OK;
}

static floe_status chunks_put_by_gpu(floe_ctx *ctx, floe_compression *c)
{
    const floe_status status = chunks_pass_gpu(ctx, c);
    if (status != FLOE_OK)
        floe_pipeline_drain(ctx);
    return status;
}

#endif

floe_status floe_chunks_begin(floe_compression *c)
{
#ifdef FLOE_HAVE_CUDA_BUILD
    if (floe_pipeline_wanted(c->ctx, &c->header) && !is_coded(c))
        return floe_pipeline_begin_encode(c->ctx, &c->header, &c->codec);
#endif
    (void)c;
    return FLOE_OK;
}

floe_status floe_chunks_put(floe_compression *c)
{
#ifdef FLOE_HAVE_CUDA_BUILD
    if (floe_pipeline_wanted(c->ctx, &c->header) && !is_coded(c))
        return chunks_put_by_gpu(c->ctx, c);
#endif
    for (uint64_t first = 0, n; first < c->nchunks; first += n) {
        n = floe_chunk_source_together(&c->chunks, first, c->lanes.batch);
        FLOE_TRY(batch_begin(c, first, n));
        floe_lanes_run(&c->lanes, n, chunk_encode, c);
        for (uint64_t i = 0; i < n; i++) {
            FLOE_TRY(chunk_put(c, &c->batch[i]));
            FLOE_TRY(chunk_done(c, first + i));
        }
    }
    return FLOE_OK;
}
