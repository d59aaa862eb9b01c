/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes -> the part of a chunk that is wanted. Tiles are decoded in parallel, each on its own. */
#include "codec/lorenzo/cpu/lorenzo_chunk.h"

#include "base/bytes.h"
#include "base/try.h"
#include "codec/lorenzo/cpu/lorenzo_segment.h"
#include "codec/lorenzo/format/lorenzo_layout.h"

/* Tiles of one task: enough to be worth the dispatch, few enough to keep all workers busy. */
enum { TASK_TILES = 8 };

typedef struct decoder {
    const floe_segment_ops *ops;
    floe_tile_job job;
    floe_view view;
    floe_quantizer quantizer;
    floe_lorenzo_chunk chunk;
    const uint8_t *src;
    uint64_t *places; /* word of each tile in the payload */
    uint32_t *entries;
    floe_error *errors; /* of each worker: its failure of the first tile, if any */
    uint64_t *failed;   /* of each worker: that tile; UINT64_MAX: none */
    uint8_t *workers;
    size_t worker_nbytes;
    uint32_t nworkers;
    floe_huffman_book *book;
    floe_huffman_decoder *huffman;
    uint32_t *book_words;
    uint64_t *table;
} decoder;

static void take_scratch(decoder *d, uint64_t ntiles, floe_arena *arena)
{
    d->worker_nbytes = (d->ops->scratch_nbytes + 63) & ~(size_t)63;
    d->workers = floe_arena_take(arena, d->nworkers, d->worker_nbytes);
    d->errors = floe_arena_take(arena, d->nworkers, sizeof *d->errors);
    d->failed = floe_arena_take(arena, d->nworkers, sizeof *d->failed);
    d->places = floe_arena_take(arena, ntiles, sizeof *d->places);
    d->entries = floe_arena_take(arena, ntiles, sizeof *d->entries);
    d->book = floe_arena_take(arena, 1, sizeof *d->book);
    d->huffman = floe_arena_take(arena, 1, sizeof *d->huffman);
    d->book_words = floe_arena_take(arena, FLOE_HUFFMAN_BOOK_WORDS, sizeof *d->book_words);
    d->table = floe_arena_take(arena, FLOE_TABLE_MAX, sizeof *d->table);
}

/* By each of the views that a chunk may have. */
static void count_tiles(uint32_t rank, const uint64_t *extent, uint64_t *least, uint64_t *most)
{
    floe_view view, swapped;
    (void)floe_view_of(rank, extent, false, &view); /* fails with swap only */
    if (!floe_view_of(rank, extent, true, &swapped))
        swapped = view;
    *least = floe_min64(view.ntiles, swapped.ntiles);
    *most = floe_max64(view.ntiles, swapped.ntiles);
}

size_t floe_lorenzo_decode_workspace(const floe_cpu *cpu, floe_dtype dtype, uint32_t rank, const uint64_t *extent)
{
    floe_arena plan = floe_arena_plan();
    decoder d = {.ops = floe_segment_ops_of(dtype, cpu->isa), .nworkers = cpu->threads};
    uint64_t least, most;
    count_tiles(rank, extent, &least, &most);
    take_scratch(&d, most, &plan);
    return plan.overflow ? 0 : plan.used;
}

/* A tile has an entry, if nothing else. */
uint64_t floe_lorenzo_least(uint32_t rank, const uint64_t *extent)
{
    uint64_t least, most;
    count_tiles(rank, extent, &least, &most);
    return FLOE_LORENZO_HEADER_NBYTES + 4 * least;
}

/* ---- the parts before the tiles ------------------------------------------------------------------------------------ */

static floe_status read_table(decoder *d, floe_dtype dtype, floe_error *err)
{
    const uint8_t *at = d->src + d->chunk.table_at;
    for (uint32_t i = 0; i < d->chunk.table_size; i++) {
        d->table[i] = floe_dtype_is_narrow(dtype) ? (uint64_t)(int64_t)(int32_t)floe_load32(at + 4 * (size_t)i)
                                                  : floe_load64(at + 8 * (size_t)i);
        FLOE_CHECK(err, i == 0 || (int64_t)d->table[i - 1] < (int64_t)d->table[i], FLOE_ERR_FORMAT,
                   "table of values: entry %u is not above the one before", i);
    }
    return FLOE_OK;
}

static floe_status read_book(decoder *d, floe_error *err)
{
    size_t used;
    floe_words_load(d->book_words, d->src + d->chunk.book_at, d->chunk.book_nwords);
    FLOE_TRY(floe_huffman_book_read(d->book_words, d->chunk.book_nwords, d->book, &used, err));
    FLOE_CHECK(err, used == d->chunk.book_nwords, FLOE_ERR_FORMAT, "codebook of %u words takes %llu",
               d->chunk.book_nwords, (unsigned long long)used);
    floe_huffman_decoder_build(d->book, d->huffman);
    d->job.decoder = d->huffman;
    return FLOE_OK;
}

/* Where each tile's words begin is the sum of those before. */
static floe_status read_entries(decoder *d, floe_error *err)
{
    uint64_t nwords = 0;
    floe_words_load(d->entries, d->src + d->chunk.entries_at, d->chunk.ntiles);
    for (uint64_t i = 0; i < d->chunk.ntiles; i++) {
        d->places[i] = nwords;
        nwords += d->entries[i] & FLOE_TILE_NWORDS_MASK;
    }
    FLOE_CHECK(err, nwords == d->chunk.payload_nwords, FLOE_ERR_FORMAT,
               "the tiles do not add up to the chunk's %llu words", (unsigned long long)d->chunk.payload_nwords);
    return FLOE_OK;
}

/* ---- tiles --------------------------------------------------------------------------------------------------------- */

static bool touches_region(const decoder *d, uint64_t tile)
{
    floe_tile_box box;
    floe_view_tile(&d->view, tile, &box);
    uint64_t n[FLOE_VIEW_AXES] = {1, d->view.rank == 1 ? 1 : box.nz, box.ny, box.nx};
    for (int a = 0; a < FLOE_VIEW_AXES; a++)
        if (box.lo[a] >= d->job.region_hi[a] || box.lo[a] + n[a] <= d->job.region_lo[a])
            return false;
    return true;
}

static void decode_task(void *arg, uint64_t task, uint32_t worker)
{
    decoder *d = arg;
    uint64_t end = floe_min64((task + 1) * TASK_TILES, d->chunk.ntiles);
    for (uint64_t tile = task * TASK_TILES; tile < end && tile < d->failed[worker]; tile++) {
        floe_error error;
        if (!touches_region(d, tile))
            continue;
        if (d->ops->decode(&d->job, tile, d->entries[tile], d->src + d->chunk.payload_at + 4 * d->places[tile],
                           d->workers + worker * d->worker_nbytes, &error) != FLOE_OK) {
            d->failed[worker] = tile;
            d->errors[worker] = error;
        }
    }
}

/* The failure of the first bad tile, whichever worker found it: the same message every time. */
static floe_status first_failure(const decoder *d, floe_error *err)
{
    uint32_t first = 0;
    for (uint32_t w = 1; w < d->nworkers; w++)
        if (d->failed[w] < d->failed[first])
            first = w;
    if (d->failed[first] == UINT64_MAX)
        return FLOE_OK;
    return floe_fail(err, d->errors[first].status, "%s", d->errors[first].message);
}

static void set_region(decoder *d, const uint64_t *lo, const uint64_t *hi, const floe_field *out)
{
    for (int a = 0; a < FLOE_VIEW_AXES; a++) {
        int axis = d->view.axis[a];
        d->job.region_lo[a] = axis < 0 ? 0 : lo[axis];
        d->job.region_hi[a] = axis < 0 ? 1 : hi[axis];
        d->job.stride[a] = axis < 0 ? (a == FLOE_VIEW_X) : out->stride[axis];
    }
}

floe_status floe_lorenzo_decompress(const floe_chunk_decode *c, floe_error *err)
{
    decoder d = {.ops = floe_segment_ops_of(c->dtype, c->cpu->isa), .nworkers = c->cpu->threads, .src = c->src};
    FLOE_TRY(floe_lorenzo_chunk_read(c->src, c->nbytes, c->dtype, c->rank, c->extent, &d.chunk, &d.view, err));
    take_scratch(&d, d.chunk.ntiles, c->scratch);
    FLOE_CHECK(err, !c->scratch->overflow && c->scratch->base, FLOE_ERR_MEMORY,
               "the workspace is too small for a chunk of %llu tiles", (unsigned long long)d.chunk.ntiles);
    d.job = (floe_tile_job){.view = &d.view, .quantizer = &d.quantizer, .field = c->out};
    FLOE_TRY(read_table(&d, c->dtype, err));
    if (d.chunk.encoder == FLOE_LORENZO_HUFFMAN)
        FLOE_TRY(read_book(&d, err));
    FLOE_TRY(read_entries(&d, err));
    d.quantizer = (floe_quantizer){.kind = d.chunk.kind,
                                   .step = d.chunk.step,
                                   .table = d.table,
                                   .table_size = d.chunk.table_size,
                                   .integer = floe_dtype_is_integer(c->dtype)};
    memcpy(d.quantizer.palette, d.chunk.palette, sizeof d.chunk.palette);
    set_region(&d, c->lo, c->hi, c->out);
    for (uint32_t w = 0; w < d.nworkers; w++) {
        d.failed[w] = UINT64_MAX;
        d.ops->begin(d.workers + w * d.worker_nbytes);
    }
    floe_cpu_parallel(c->cpu, floe_ceil_div(d.chunk.ntiles, TASK_TILES), decode_task, &d);
    return first_failure(&d, err);
}
