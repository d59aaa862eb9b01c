/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worklets of index_prim.c. To encode, lengths become offsets by a scan; partitions show what they need; their largest needs
 * make the header; and then every word of the index is made by itself, from the numbers that have bits in it.
 */
#ifndef FLOE_STAGE_INDEX_PRIM_MATH_H
#define FLOE_STAGE_INDEX_PRIM_MATH_H

#include "stage/index/index.h"
#include "stage/index/index_prim.h"

/* What groups of chunks need at most: of a length, of a least one, of a width, each a number. Groups are the partitions, but
 * for lengths, which are one partition. */
enum { FLOE_INDEX_MOST_LENGTH, FLOE_INDEX_MOST_LEAST, FLOE_INDEX_MOST_WIDTH, FLOE_INDEX_MOSTS };

typedef struct floe_index_build {
    floe_side_index plan; /* without widths, end and body */
    const uint16_t *block_nbits;
    uint64_t capacity;
    uint32_t *dst;
    uint64_t *offsets;                 /* nchunks + 1: from the first chunk */
    uint64_t *needs[FLOE_INDEX_MOSTS]; /* of each group */
    uint64_t *most;                    /* FLOE_INDEX_MOSTS */
    uint64_t *nwords;                  /* of each group's lengths, packed */
    uint64_t *at;                      /* one more: sums of these */
    floe_side_index *index;            /* one, complete: in memory of the backend */
    floe_index_report *report;
} floe_index_build;

/* ---- sums, needs, header ------------------------------------------------------------------------------------------ */

FLOE_HD void floe_index_build_length(const floe_index_build *b, uint64_t i)
{
    const uint64_t end = floe_min64((i + 1) * b->plan.chunk, b->plan.nblocks);
    uint64_t sum = 0;
    for (uint64_t k = i * b->plan.chunk; k < end; k++)
        sum += b->block_nbits[k];
    b->offsets[i + 1] = sum;
    if (i == 0)
        b->offsets[0] = b->at[0] = 0;
}

FLOE_HD uint64_t floe_index_build_length_of(const floe_index_build *b, uint64_t i)
{
    return b->offsets[i + 1] - b->offsets[i];
}

enum { FLOE_INDEX_GROUP = 1024 }; /* chunks, where partitions do not show it */

FLOE_HD uint64_t floe_index_build_group_chunks(const floe_side_index *plan)
{
    return plan->form == FLOE_INDEX_LENGTHS ? FLOE_INDEX_GROUP : floe_index_partition_chunks(plan);
}

FLOE_HD uint64_t floe_index_build_groups(const floe_side_index *plan)
{
    return plan->nchunks ? floe_ceil_div(plan->nchunks, floe_index_build_group_chunks(plan)) : 0;
}

FLOE_HD void floe_index_build_need(const floe_index_build *b, uint64_t p)
{
    const uint64_t chunks = floe_index_build_group_chunks(&b->plan), first = p * chunks;
    const uint64_t end = floe_min64(first + chunks, b->plan.nchunks);
    uint64_t least = UINT64_MAX, most = 0;
    for (uint64_t i = first; i < end; i++) {
        const uint64_t length = floe_index_build_length_of(b, i);
        least = floe_min64(least, length);
        most = floe_max64(most, length);
    }
    const uint32_t width = floe_bit_length(most - least);
    b->needs[FLOE_INDEX_MOST_LENGTH][p] = most;
    b->needs[FLOE_INDEX_MOST_LEAST][p] = least;
    b->needs[FLOE_INDEX_MOST_WIDTH][p] = width;
    b->nwords[p] = floe_index_packed_nwords(end - first, width);
}

FLOE_HD void floe_index_build_store64(uint32_t *words, uint64_t v)
{
    words[0] = (uint32_t)v;
    words[1] = (uint32_t)(v >> 32);
}

/* The widths of all fields, as the serial encoder finds them. */
FLOE_HD void floe_index_build_widths(const floe_index_build *b, floe_side_index *x)
{
    const bool lengths = x->form == FLOE_INDEX_LENGTHS || x->form == FLOE_INDEX_HYBRID;
    if (x->form != FLOE_INDEX_PACKED) {
        x->length_nbits = lengths ? floe_index_length_nbits(x->nchunks ? b->most[FLOE_INDEX_MOST_LENGTH] : 0) : 0;
        x->body_nwords = floe_index_fixed_nwords(x);
        return;
    }
    if (x->npartitions == 0)
        return;
    const uint64_t last = x->npartitions - 1;
    x->offset_nbits = floe_bit_length(b->offsets[last * x->partition]);
    x->at_nbits = floe_bit_length(b->at[last]);
    x->least_nbits = floe_bit_length(b->most[FLOE_INDEX_MOST_LEAST]);
    x->width_nbits = floe_bit_length(b->most[FLOE_INDEX_MOST_WIDTH]);
    x->body_nwords = floe_index_lengths_at(x) + b->at[x->npartitions];
}

/* The header of an index that is complete. */
FLOE_HD void floe_index_build_store(const floe_side_index *x, uint32_t *w)
{
    w[0] = (uint32_t)x->form | x->length_nbits << 8 | x->offset_nbits << 16 | x->at_nbits << 24;
    w[1] = x->least_nbits | x->width_nbits << 8;
    w[2] = x->chunk;
    w[3] = x->partition;
    floe_index_build_store64(w + 4, x->nblocks);
    floe_index_build_store64(w + 6, x->begin);
    floe_index_build_store64(w + 8, x->end);
    floe_index_build_store64(w + 10, x->body_nwords);
}

FLOE_HD void floe_index_build_header(const floe_index_build *b, uint64_t i)
{
    floe_side_index x = b->plan;
    (void)i;
    x.end = x.begin + (x.nchunks ? b->offsets[x.nchunks] : 0);
    floe_index_build_widths(b, &x);
    b->report->nbytes = FLOE_INDEX_HEADER_NBYTES + 4 * x.body_nwords;
    b->report->reserved = 0;
    b->report->status = x.end >> FLOE_INDEX_PLACE_BITS    ? FLOE_ERR_ARGUMENT
                        : b->report->nbytes > b->capacity ? FLOE_ERR_CAPACITY
                                                          : FLOE_OK;
    *b->index = x;
    if (b->report->status == FLOE_OK)
        floe_index_build_store(&x, b->dst);
}

/* ---- words of the body ---------------------------------------------------------------------------------------------- */

/* A number of nbits bits (at most 64) at bit `from` of an array, as far as it lies in the word whose first bit is `at`. */
FLOE_HD uint32_t floe_index_build_bits(uint64_t v, uint64_t from, uint32_t nbits, uint64_t at)
{
    if (nbits == 0 || from + nbits <= at || from >= at + 32)
        return 0;
    return from >= at ? (uint32_t)(v << (from - at)) : (uint32_t)(v >> (at - from));
}

/* Word w of the heads. */
FLOE_HD uint32_t floe_index_build_heads(const floe_index_build *b, const floe_side_index *x, uint64_t w)
{
    const uint32_t nbits = floe_index_head_nbits(x);
    const uint64_t at = 32 * w, chunks = floe_index_partition_chunks(x);
    uint32_t word = 0;
    for (uint64_t p = at / nbits; p < x->npartitions && p * nbits < at + 32; p++) {
        uint64_t from = p * nbits;
        if (x->form != FLOE_INDEX_PACKED) {
            word |= floe_index_build_bits(x->begin + b->offsets[p * chunks], from, 64, at);
            continue;
        }
        word |= floe_index_build_bits(b->offsets[p * chunks], from, x->offset_nbits, at);
        from += x->offset_nbits;
        word |= floe_index_build_bits(b->at[p], from, x->at_nbits, at);
        from += x->at_nbits;
        word |= floe_index_build_bits(b->needs[FLOE_INDEX_MOST_LEAST][p], from, x->least_nbits, at);
        from += x->least_nbits;
        word |= floe_index_build_bits(b->needs[FLOE_INDEX_MOST_WIDTH][p], from, x->width_nbits, at);
    }
    return word;
}

/* Chunk of length number k of an index that is not packed: the last one of each partition is left out. */
FLOE_HD uint64_t floe_index_build_chunk_of(const floe_side_index *x, uint64_t k)
{
    return x->form == FLOE_INDEX_LENGTHS ? k : k + k / (x->partition - 1);
}

/* Word w of lengths that are not packed. */
FLOE_HD uint32_t floe_index_build_lengths(const floe_index_build *b, const floe_side_index *x, uint64_t w)
{
    const uint64_t at = 32 * w, n = floe_index_nlengths(x);
    uint32_t word = 0;
    for (uint64_t k = at / x->length_nbits; k < n && k * x->length_nbits < at + 32; k++) {
        const uint64_t length = floe_index_build_length_of(b, floe_index_build_chunk_of(x, k));
        word |= floe_index_build_bits(length, k * x->length_nbits, x->length_nbits, at);
    }
    return word;
}

/* Word w of the body: heads, and lengths that are not packed. */
FLOE_HD void floe_index_build_word(const floe_index_build *b, uint64_t w)
{
    const floe_side_index *x = b->index;
    const uint64_t lengths_at = floe_index_lengths_at(x);
    uint32_t *body = b->dst + FLOE_INDEX_HEADER_NBYTES / 4;
    if (b->report->status != FLOE_OK || w >= x->body_nwords)
        return;
    if (w < lengths_at)
        body[w] = floe_index_build_heads(b, x, w);
    else if (x->form != FLOE_INDEX_PACKED)
        body[w] = floe_index_build_lengths(b, x, w - lengths_at);
}

/* Packed lengths: slot j of partition p makes the partition's words j, j + P, and so on; slots are as many as chunks. */
FLOE_HD void floe_index_build_slot(const floe_index_build *b, uint64_t slot)
{
    const floe_side_index *x = b->index;
    const uint64_t p = slot / x->partition, first = p * x->partition;
    const uint64_t count = floe_min64(x->partition, x->nchunks - first);
    if (b->report->status != FLOE_OK)
        return;
    const uint32_t width = (uint32_t)b->needs[FLOE_INDEX_MOST_WIDTH][p];
    const uint64_t least = b->needs[FLOE_INDEX_MOST_LEAST][p];
    uint32_t *body = b->dst + FLOE_INDEX_HEADER_NBYTES / 4 + floe_index_lengths_at(x) + b->at[p];
    for (uint64_t j = slot - first; j < b->nwords[p]; j += count) {
        uint32_t word = 0;
        for (uint64_t k = 32 * j / width; k < count && k * width < 32 * (j + 1); k++)
            word |= floe_index_build_bits(floe_index_build_length_of(b, first + k) - least, k * width, width, 32 * j);
        body[j] = word;
    }
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* An index that must be of this plan, and the bytes that it is to have. No partitions: it is not that, or contradicts itself. */
FLOE_HD floe_side_index floe_index_open_as(const floe_side_index *plan, const void *src, uint64_t nbytes,
                                           uint64_t stream_end)
{
    floe_side_index x = *plan;
    const bool there = nbytes >= FLOE_INDEX_HEADER_NBYTES;
    bool good = there && (floe_index_word(src, 0) & 255) == (uint32_t)x.form && floe_index_word(src, 1) >> 16 == 0 &&
                floe_index_word(src, 2) == x.chunk && floe_index_word(src, 3) == x.partition &&
                floe_index_field(src, 8 * 16, 64) == x.nblocks && floe_index_field(src, 8 * 24, 64) == x.begin;
    if (good)
        floe_index_header_read(src, &x);
    good = good && x.begin <= x.end && x.end <= stream_end && x.end >> FLOE_INDEX_PLACE_BITS == 0 &&
           floe_index_widths_are_sane(&x) && floe_index_body_is_sane(&x) &&
           x.body_nwords == (nbytes - FLOE_INDEX_HEADER_NBYTES) / 4 && nbytes % 4 == 0;
    x.npartitions = good ? x.npartitions : 0;
    return x;
}

/* ---- decoding: lengths alone ------------------------------------------------------------------------------------- */

typedef struct floe_index_read {
    floe_side_index plan;
    const floe_side_index *opened; /* what floe_index_open_as made of it: in memory of the backend */
    uint64_t *places;
    uint32_t *wrong; /* flags, one an index of the map; what a reduction finds of them is in worst */
    uint32_t *worst;
    floe_index_report *report;
} floe_index_read;

FLOE_HD void floe_index_read_length(const floe_index_read *r, uint64_t i)
{
    const floe_side_index x = *r->opened;
    if (i == 0)
        r->places[0] = x.begin;
    r->places[i + 1] = 0;
    r->wrong[i] = 1;
    if (x.npartitions == 0)
        return;
    const floe_index_part part = floe_index_part_of(&x, 0);
    const uint64_t length = floe_index_extra(&x, &part, i);
    r->places[i + 1] = length;
    r->wrong[i] = length > x.end - x.begin || (i == 0 && !floe_index_rests_are_zero(&x, 0, &part));
}

/* Sums from the first length on. A step is below 2^62, as is the end: what wraps has been beyond the end before. */
FLOE_HD void floe_index_read_place(const floe_index_read *r, uint64_t i)
{
    const floe_side_index x = *r->opened;
    const uint64_t sum = r->places[i + 1], all = x.end - x.begin;
    r->wrong[i] |= i + 1 < x.nchunks ? sum > all : sum != all;
    r->places[i + 1] = x.begin + sum;
}

FLOE_HD void floe_index_read_end(const floe_index_read *r, uint64_t i)
{
    (void)i;
    r->report->nbytes = 0;
    r->report->reserved = 0;
    r->report->status = r->plan.nchunks && *r->worst ? FLOE_ERR_FORMAT : FLOE_OK;
    r->places[r->plan.nchunks] = r->opened->end;
}

/* One partition by one thread. */
FLOE_HD void floe_index_read_part(const floe_index_read *r, uint64_t p)
{
    const floe_side_index index = *r->opened, *x = &index;
    const uint64_t chunks = floe_index_partition_chunks(&r->plan), first = p * chunks;
    const uint64_t count = floe_min64(chunks, r->plan.nchunks - first);
    floe_index_part part;
    r->wrong[p] = x->npartitions == 0;
    if (!r->wrong[p]) {
        part = floe_index_part_of(x, p);
        r->wrong[p] = floe_index_part_places(x, p, &part, r->places + first) != FLOE_INDEX_GOOD;
    }
    for (uint64_t k = 0; r->wrong[p] && k < count; k++)
        r->places[first + k] = 0;
}

#endif
