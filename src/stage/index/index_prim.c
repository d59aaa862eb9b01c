/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/index/index_prim.h"

#include "base/arena.h"
#include "base/try.h"
#include "prim/prim_map.h"
#include "stage/index/index_prim_math.h"

FLOE_PRIM_MAP(floe_index_length_map, floe_index_build, floe_index_build_length)
FLOE_PRIM_MAP(floe_index_need_map, floe_index_build, floe_index_build_need)
FLOE_PRIM_MAP(floe_index_header_map, floe_index_build, floe_index_build_header)
FLOE_PRIM_MAP(floe_index_word_map, floe_index_build, floe_index_build_word)
FLOE_PRIM_MAP(floe_index_slot_map, floe_index_build, floe_index_build_slot)
FLOE_PRIM_MAP(floe_index_read_length_map, floe_index_read, floe_index_read_length)
FLOE_PRIM_MAP(floe_index_read_place_map, floe_index_read, floe_index_read_place)
FLOE_PRIM_MAP(floe_index_read_part_map, floe_index_read, floe_index_read_part)
FLOE_PRIM_MAP(floe_index_read_end_map, floe_index_read, floe_index_read_end)

/* ---- workspace ----------------------------------------------------------------------------------------------------- */

/* What the primitives themselves need. */
static floe_status prim_nbytes(const floe_prim *p, uint64_t n, uint64_t *nbytes, floe_error *err)
{
    uint64_t max, scan;
    FLOE_TRY(floe_prim_workspace(p, FLOE_PRIM_MAX, FLOE_PRIM_U64, n, &max, err));
    FLOE_TRY(floe_prim_workspace(p, FLOE_PRIM_SCAN, FLOE_PRIM_U64, n, &scan, err));
    *nbytes = floe_max64(max, scan);
    return FLOE_OK;
}

static void take_build(floe_index_build *b, floe_arena *a)
{
    const uint64_t ngroups = floe_index_build_groups(&b->plan);
    b->offsets = floe_arena_take(a, b->plan.nchunks + 1, sizeof *b->offsets);
    for (int i = 0; i < FLOE_INDEX_MOSTS; i++)
        b->needs[i] = floe_arena_take(a, ngroups, sizeof **b->needs);
    b->most = floe_arena_take(a, FLOE_INDEX_MOSTS, sizeof *b->most);
    b->nwords = floe_arena_take(a, ngroups, sizeof *b->nwords);
    b->at = floe_arena_take(a, ngroups + 1, sizeof *b->at);
    b->index = floe_arena_take(a, 1, sizeof *b->index);
}

static void take_read(floe_index_read *r, floe_arena *a)
{
    r->wrong = floe_arena_take(a, r->plan.nchunks, sizeof *r->wrong); /* partitions are no more */
    r->worst = floe_arena_take(a, 1, sizeof *r->worst);
}

floe_status floe_index_prim_plan(const floe_index_spec *spec, uint64_t nblocks, uint64_t begin, floe_side_index *plan,
                                 floe_error *err)
{
    FLOE_CHECK(
        err, floe_index_spec_is_sane(spec) && nblocks <= FLOE_INDEX_BLOCKS_MOST && begin >> FLOE_INDEX_PLACE_BITS == 0,
        FLOE_ERR_ARGUMENT, "an index of form %d, of chunks of %u blocks and partitions of %u chunks, from %llu on",
        (int)spec->form, spec->chunk, spec->partition, (unsigned long long)begin);
    *plan = floe_index_plan(spec, nblocks, begin);
    return FLOE_OK;
}

floe_status floe_index_prim_workspace(const floe_prim *p, const floe_index_spec *spec, uint64_t nblocks,
                                      uint64_t *nbytes, floe_error *err)
{
    floe_arena build = floe_arena_plan(), read = floe_arena_plan();
    floe_index_build b = {.capacity = 0};
    floe_index_read r = {.places = NULL};
    uint64_t prims;
    FLOE_TRY(floe_index_prim_plan(spec, nblocks, 0, &b.plan, err));
    r.plan = b.plan;
    FLOE_TRY(prim_nbytes(p, b.plan.nchunks, &prims, err));
    take_build(&b, &build);
    take_read(&r, &read);
    floe_arena_take(&build, prims, 1);
    floe_arena_take(&read, prims, 1);
    FLOE_CHECK(err, !build.overflow && !read.overflow, FLOE_ERR_MEMORY,
               "an index needs more workspace than can be addressed");
    *nbytes = floe_max64(build.used, read.used);
    return FLOE_OK;
}

/* What is left of the arena, as the workspace of primitives. */
static floe_status rest_of(const floe_prim *p, const floe_arena *a, floe_prim *rest, floe_error *err)
{
    FLOE_CHECK(err, !a->overflow && a->base, FLOE_ERR_MEMORY, "the workspace is too small for an index");
    *rest = *p;
    rest->workspace = a->base + a->used;
    rest->workspace_nbytes = a->capacity - a->used;
    return FLOE_OK;
}

/* ---- encoding ------------------------------------------------------------------------------------------------------ */

static floe_status find_needs(const floe_prim *p, const floe_index_build *b, floe_error *err)
{
    const uint64_t nchunks = b->plan.nchunks, ngroups = floe_index_build_groups(&b->plan);
    FLOE_TRY(floe_index_length_map(p, b, nchunks, err));
    FLOE_TRY(floe_prim_scan(p, FLOE_PRIM_INCLUSIVE, (floe_prim_array){FLOE_PRIM_U64, b->offsets + 1, nchunks},
                            b->offsets + 1, err));
    FLOE_TRY(floe_index_need_map(p, b, ngroups, err));
    for (int i = 0; i < FLOE_INDEX_MOSTS; i++)
        FLOE_TRY(floe_prim_max(p, (floe_prim_array){FLOE_PRIM_U64, b->needs[i], ngroups}, &b->most[i], err));
    return floe_prim_scan(p, FLOE_PRIM_INCLUSIVE, (floe_prim_array){FLOE_PRIM_U64, b->nwords, ngroups}, b->at + 1, err);
}

floe_status floe_index_prim_encode(const floe_prim *p, const floe_index_spec *spec, const floe_index_blocks *blocks,
                                   uint32_t block_most, const floe_index_target *to, floe_error *err)
{
    floe_arena arena = floe_arena_of(p->workspace, p->workspace_nbytes);
    floe_index_build b = {.block_nbits = blocks->nbits, .dst = to->dst, .capacity = to->capacity, .report = to->report};
    floe_prim rest;
    FLOE_TRY(floe_index_prim_plan(spec, blocks->count, blocks->begin, &b.plan, err));
    take_build(&b, &arena);
    FLOE_TRY(rest_of(p, &arena, &rest, err));
    if (blocks->count > 0)
        FLOE_TRY(find_needs(&rest, &b, err));
    FLOE_TRY(floe_index_header_map(&rest, &b, 1, err));
    const uint64_t most = floe_side_index_bound(spec, blocks->count, block_most);
    floe_side_index heads = b.plan; /* of packed ones only the heads are made word by word */
    heads.offset_nbits = FLOE_INDEX_PLACE_BITS, heads.at_nbits = FLOE_INDEX_AT_BITS;
    heads.least_nbits = FLOE_INDEX_PLACE_BITS, heads.width_nbits = 7;
    const bool packed = spec->form == FLOE_INDEX_PACKED;
    const uint64_t nwords = packed ? floe_index_lengths_at(&heads) : (most - FLOE_INDEX_HEADER_NBYTES) / 4;
    FLOE_TRY(floe_index_word_map(&rest, &b, nwords, err));
    return packed ? floe_index_slot_map(&rest, &b, b.plan.nchunks, err) : FLOE_OK;
}

/* ---- decoding ------------------------------------------------------------------------------------------------------ */

static floe_status read_lengths(const floe_prim *p, const floe_index_read *r, floe_error *err)
{
    const uint64_t n = r->plan.nchunks;
    FLOE_TRY(floe_index_read_length_map(p, r, n, err));
    FLOE_TRY(
        floe_prim_scan(p, FLOE_PRIM_INCLUSIVE, (floe_prim_array){FLOE_PRIM_U64, r->places + 1, n}, r->places + 1, err));
    return floe_index_read_place_map(p, r, n, err);
}

static floe_status read_all(const floe_prim *p, floe_index_read *r, floe_error *err)
{
    floe_arena arena = floe_arena_of(p->workspace, p->workspace_nbytes);
    const floe_side_index *x = &r->plan;
    const bool lengths = x->form == FLOE_INDEX_LENGTHS;
    floe_prim rest;
    take_read(r, &arena);
    FLOE_TRY(rest_of(p, &arena, &rest, err));
    if (x->nchunks > 0) {
        FLOE_TRY(lengths ? read_lengths(&rest, r, err) : floe_index_read_part_map(&rest, r, x->npartitions, err));
        const uint64_t n = lengths ? x->nchunks : x->npartitions;
        FLOE_TRY(floe_prim_max(&rest, (floe_prim_array){FLOE_PRIM_U32, r->wrong, n}, r->worst, err));
    }
    return floe_index_read_end_map(&rest, r, 1, err);
}

floe_status floe_index_prim_decode_opened(const floe_prim *p, const floe_index_spec *spec, uint64_t nblocks,
                                          const floe_side_index *opened, uint64_t *places, floe_index_report *report,
                                          floe_error *err)
{
    floe_index_read r = {.opened = opened, .places = places, .report = report};
    FLOE_TRY(floe_index_prim_plan(spec, nblocks, 0, &r.plan, err));
    return read_all(p, &r, err);
}
