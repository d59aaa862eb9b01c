/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * index: where the blocks of a stream are, so that many workers can start at once. docs/format/index.md.
 *
 * A stream of blocks of different lengths, one right behind the other, can only be read from its beginning. A side index
 * gives the place of each chunk of C blocks, in one of four forms:
 *
 *   offsets   each chunk's place
 *   lengths   each chunk's length; a place is the sum of the lengths before it
 *   hybrid    for each partition of P chunks the place of its first, and the lengths of the others
 *   packed    hybrid made small: for each partition its place, least length, and what each chunk has beyond that, in
 *             just the bits that the partition needs
 *
 * The first three are one thing: partitions of one chunk, of all, and of P. Partitions are decoded on their own. Places are
 * counted in units of the stream, bits for most; nothing here looks at the stream.
 */
#ifndef FLOE_STAGE_INDEX_H
#define FLOE_STAGE_INDEX_H

#include <stdbool.h>

#include <floe/side_index.h>

#include "backend/backend.h"
#include "base/hd.h"

enum {
    FLOE_INDEX_HEADER_NBYTES = 48,
    FLOE_INDEX_PARTITION = 32,         /* P where nothing is given: lanes of a warp */
    FLOE_INDEX_PARTITION_MOST = 65536, /* P at most */
    FLOE_INDEX_PLACE_BITS = 62,        /* a place is below 2^62 */
    FLOE_INDEX_AT_BITS = 56            /* so is a word's number in the body below 2^56 */
};
#define FLOE_INDEX_BLOCKS_MOST ((uint64_t)1 << 48) /* so that the bits of no index overflow */

/* An index whose header has been checked; its body is checked as it is decoded. All that a kernel needs, by value. */
typedef struct floe_side_index {
    floe_index_form form;
    uint32_t chunk, partition;                                 /* partition is 0 but for HYBRID and PACKED */
    uint32_t length_nbits;                                     /* LENGTHS, HYBRID: of a length */
    uint32_t offset_nbits, at_nbits, least_nbits, width_nbits; /* PACKED: fields of a head */
    uint64_t nblocks, nchunks, npartitions;
    uint64_t begin, end; /* place of the first block, and behind the last */
    const void *body;    /* words of 32 bits, little-endian; on a GPU aligned to 4 */
    uint64_t body_nwords;
} floe_side_index;

/* The most bytes that an index can take whose blocks have at most block_most units; 0: no such index. */
uint64_t floe_side_index_bound(const floe_index_spec *spec, uint64_t nblocks, uint32_t block_most);

/* The blocks of a stream. */
typedef struct floe_index_blocks {
    const uint16_t *nbits; /* units of each */
    uint64_t count, begin; /* begin: place of the first one */
} floe_index_blocks;

/* The index of a stream. Lengths take 16 bits where all of them fit, else 32, else 64. ARGUMENT: a spec that cannot be.
 * CAPACITY: dst is too small. */
floe_status floe_side_index_encode(const floe_index_spec *spec, const floe_index_blocks *blocks, void *dst,
                                   uint64_t capacity, uint64_t *nbytes, floe_error *err);

/* Reads an untrusted header; src stays where it is and is part of the index. stream_end: all places must be at most
 * this. *nbytes is what the index takes of the capacity bytes at src. FORMAT: it is none. */
floe_status floe_side_index_open(const void *src, uint64_t capacity, uint64_t stream_end, floe_side_index *index,
                                 uint64_t *nbytes, floe_error *err);

/* All places: places[i] of chunk i, and places[nchunks] = end; checks all of the index. FORMAT: it holds what cannot be;
 * the message is that of the first bad partition, however many threads there are. */
floe_status floe_side_index_decode(const floe_cpu *cpu, const floe_side_index *index, uint64_t *places,
                                   floe_error *err);

/*
 * Where things stand in an index, once, for both compilers. A body is
 *
 *   heads (one a partition; none with lengths), up to a whole word | lengths, up to a whole word
 *
 * both arrays of numbers of fixed numbers of bits; packed, the lengths of each partition begin at a word of their own and
 * have their own width.
 */
/* ---- numbers of any width ---------------------------------------------------------------------------------------- */

FLOE_HD uint32_t floe_index_word(const void *body, uint64_t i)
{
#if defined(__CUDA_ARCH__)
    return ((const uint32_t *)body)[i];
#else
    const uint8_t *b = (const uint8_t *)body + 4 * i;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
#endif
}

FLOE_HD uint64_t floe_index_mask(uint32_t nbits) { return nbits < 64 ? ((uint64_t)1 << nbits) - 1 : UINT64_MAX; }

/* The nbits bits (0 to 64) from bit `at` of body on; reads only the words that they touch. */
FLOE_HD uint64_t floe_index_field(const void *body, uint64_t at, uint32_t nbits)
{
    if (nbits == 0)
        return 0;
    const uint32_t shift = (uint32_t)(at % 32);
    uint32_t have = 32 - shift;
    uint64_t v = floe_index_word(body, at / 32) >> shift;
    if (nbits > have) {
        v |= (uint64_t)floe_index_word(body, at / 32 + 1) << have;
        have += 32;
    }
    if (nbits > have)
        v |= (uint64_t)floe_index_word(body, at / 32 + 2) << have;
    return v & floe_index_mask(nbits);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Lengths up to `most` take 16, 32 or 64 bits. */
FLOE_HD uint32_t floe_index_length_nbits(uint64_t most)
{
    return most <= UINT16_MAX ? 16 : most <= UINT32_MAX ? 32 : 64;
}

FLOE_HD uint64_t floe_index_chunks(uint64_t nblocks, uint32_t chunk) { return floe_ceil_div(nblocks, chunk); }

FLOE_HD uint64_t floe_index_partitions(floe_index_form form, uint32_t partition, uint64_t nchunks)
{
    if (form == FLOE_INDEX_OFFSETS)
        return nchunks;
    return form == FLOE_INDEX_LENGTHS ? nchunks > 0 : floe_ceil_div(nchunks, partition);
}

FLOE_HD uint32_t floe_index_head_nbits(const floe_side_index *x)
{
    if (x->form == FLOE_INDEX_PACKED)
        return x->offset_nbits + x->at_nbits + x->least_nbits + x->width_nbits;
    return x->form == FLOE_INDEX_LENGTHS ? 0 : 64;
}

/* First word of the lengths. */
FLOE_HD uint64_t floe_index_lengths_at(const floe_side_index *x)
{
    return floe_ceil_div(x->npartitions * floe_index_head_nbits(x), 32);
}

/* Lengths of the whole index, not packed: all but the first of each partition, whose place is known. */
FLOE_HD uint64_t floe_index_nlengths(const floe_side_index *x)
{
    return x->form == FLOE_INDEX_LENGTHS ? x->nchunks : x->form == FLOE_INDEX_HYBRID ? x->nchunks - x->npartitions : 0;
}

/* Words of a body that is not packed. */
FLOE_HD uint64_t floe_index_fixed_nwords(const floe_side_index *x)
{
    return floe_index_lengths_at(x) + floe_ceil_div(floe_index_nlengths(x) * x->length_nbits, 32);
}

/* Words of the lengths of a packed partition. */
FLOE_HD uint64_t floe_index_packed_nwords(uint64_t count, uint32_t width) { return floe_ceil_div(count * width, 32); }

/* ---- headers ------------------------------------------------------------------------------------------------------- */

FLOE_HD bool floe_index_has_partitions(floe_index_form form)
{
    return form == FLOE_INDEX_HYBRID || form == FLOE_INDEX_PACKED;
}

FLOE_HD bool floe_index_has_lengths(floe_index_form form)
{
    return form == FLOE_INDEX_LENGTHS || form == FLOE_INDEX_HYBRID;
}

FLOE_HD bool floe_index_spec_is_sane(const floe_index_spec *spec)
{
    return (uint32_t)spec->form <= FLOE_INDEX_PACKED && spec->chunk >= 1 &&
           (!floe_index_has_partitions(spec->form) ||
            (spec->partition >= 1 && spec->partition <= FLOE_INDEX_PARTITION_MOST));
}

/* An index of a sane spec; widths of fields are still 0. */
FLOE_HD floe_side_index floe_index_plan(const floe_index_spec *spec, uint64_t nblocks, uint64_t begin)
{
    floe_side_index x;
    memset(&x, 0, sizeof x);
    x.form = spec->form;
    x.chunk = spec->chunk;
    x.partition = floe_index_has_partitions(spec->form) ? spec->partition : 0;
    x.nblocks = nblocks;
    x.begin = x.end = begin;
    x.nchunks = floe_index_chunks(nblocks, x.chunk);
    x.npartitions = floe_index_partitions(x.form, x.partition, x.nchunks);
    return x;
}

FLOE_HD bool floe_index_widths_are_sane(const floe_side_index *x)
{
    const bool packed = x->form == FLOE_INDEX_PACKED;
    const uint32_t fields = x->offset_nbits | x->at_nbits | x->least_nbits | x->width_nbits, length = x->length_nbits;
    if (floe_index_has_lengths(x->form) ? length != 16 && length != 32 && length != 64 : length != 0)
        return false;
    return packed ? x->offset_nbits <= FLOE_INDEX_PLACE_BITS && x->at_nbits <= FLOE_INDEX_AT_BITS &&
                        x->least_nbits <= FLOE_INDEX_PLACE_BITS && x->width_nbits <= 7
                  : fields == 0;
}

/* The size of the body, as far as the header has it. */
FLOE_HD bool floe_index_body_is_sane(const floe_side_index *x)
{
    if (x->nblocks == 0)
        return x->body_nwords == 0 && x->begin == x->end;
    if (x->form == FLOE_INDEX_PACKED)
        return x->body_nwords >= floe_index_lengths_at(x);
    return x->body_nwords == floe_index_fixed_nwords(x);
}

/* What stands in a header's FLOE_INDEX_HEADER_NBYTES, beside spec and blocks: all the rest of an index of this plan. */
FLOE_HD void floe_index_header_read(const void *src, floe_side_index *x)
{
    const uint32_t widths = floe_index_word(src, 0), more = floe_index_word(src, 1);
    x->length_nbits = widths >> 8 & 255;
    x->offset_nbits = widths >> 16 & 255;
    x->at_nbits = widths >> 24;
    x->least_nbits = more & 255;
    x->width_nbits = more >> 8 & 255;
    x->end = floe_index_field(src, 8 * 32, 64);
    x->body_nwords = floe_index_field(src, 8 * 40, 64);
    x->body = (const uint8_t *)src + FLOE_INDEX_HEADER_NBYTES;
}

/* ---- partitions -------------------------------------------------------------------------------------------------- */

FLOE_HD uint64_t floe_index_partition_chunks(const floe_side_index *x)
{
    return x->form == FLOE_INDEX_OFFSETS ? 1 : x->form == FLOE_INDEX_LENGTHS ? x->nchunks : x->partition;
}

/* Partition p as its head has it: untrusted, but no sum or product here overflows. */
typedef struct floe_index_part {
    uint64_t first, count; /* chunks */
    uint64_t place;        /* of the first one */
    uint64_t stored;       /* lengths that stand in the index; the others are what is left */
    uint64_t at;           /* bit of the first of them */
    uint32_t width;
    uint64_t least; /* added to each */
} floe_index_part;

FLOE_HD void floe_index_packed_part(const floe_side_index *x, uint64_t p, floe_index_part *part)
{
    uint64_t at = p * floe_index_head_nbits(x);
    part->place = x->begin + floe_index_field(x->body, at, x->offset_nbits);
    at += x->offset_nbits;
    part->at = 32 * (floe_index_lengths_at(x) + floe_index_field(x->body, at, x->at_nbits));
    at += x->at_nbits;
    part->least = floe_index_field(x->body, at, x->least_nbits);
    at += x->least_nbits;
    part->width = (uint32_t)floe_index_field(x->body, at, x->width_nbits);
    part->stored = part->count;
}

FLOE_HD floe_index_part floe_index_part_of(const floe_side_index *x, uint64_t p)
{
    floe_index_part part;
    const uint64_t chunks = floe_index_partition_chunks(x);
    part.first = p * chunks;
    part.count = floe_min64(chunks, x->nchunks - part.first);
    if (x->form == FLOE_INDEX_PACKED) {
        floe_index_packed_part(x, p, &part);
        return part;
    }
    part.place = x->form == FLOE_INDEX_LENGTHS ? x->begin : floe_index_field(x->body, 64 * p, 64);
    part.stored = x->form == FLOE_INDEX_LENGTHS ? part.count : part.count - 1;
    part.at = 32 * floe_index_lengths_at(x) + (part.first - (x->form == FLOE_INDEX_LENGTHS ? 0 : p)) * x->length_nbits;
    part.width = x->length_nbits;
    part.least = 0;
    return part;
}

/* Where partition p ends: where the next one shows that it begins. */
FLOE_HD uint64_t floe_index_part_end(const floe_side_index *x, uint64_t p)
{
    return p + 1 < x->npartitions ? floe_index_part_of(x, p + 1).place : x->end;
}

/* Length k of a partition, k < stored, beyond part->least. */
FLOE_HD uint64_t floe_index_extra(const floe_side_index *x, const floe_index_part *part, uint64_t k)
{
    return floe_index_field(x->body, part->at + k * part->width, part->width);
}

/* The word behind the lengths of a packed partition. */
FLOE_HD uint64_t floe_index_packed_end(const floe_index_part *part)
{
    return part->at / 32 + floe_index_packed_nwords(part->count, part->width);
}

/* What must be so of a head before anything behind it is read. Lengths of packed partitions stand one behind the other:
 * each begins where the one before ends, and the last ends the body. */
FLOE_HD bool floe_index_part_is_sane(const floe_side_index *x, uint64_t p, const floe_index_part *part)
{
    if (part->place < x->begin || (p == 0 && part->place != x->begin))
        return false;
    if (x->form != FLOE_INDEX_PACKED)
        return true;
    uint64_t at = floe_index_lengths_at(x);
    if (p > 0) {
        const floe_index_part before = floe_index_part_of(x, p - 1);
        if (before.width > 64 || before.at / 32 > x->body_nwords)
            return false;
        at = floe_index_packed_end(&before);
    }
    if (part->width > 64 || part->at / 32 != at || at > x->body_nwords)
        return false;
    const uint64_t end = floe_index_packed_end(part);
    return p + 1 < x->npartitions ? end <= x->body_nwords : end == x->body_nwords;
}

/* Behind the last number of an array the rest of its word is 0. */
FLOE_HD bool floe_index_rest_is_zero(const floe_side_index *x, uint64_t at)
{
    return at % 32 == 0 || floe_index_word(x->body, at / 32) >> at % 32 == 0;
}

/* That of all arrays that end with partition p, which is sane. */
FLOE_HD bool floe_index_rests_are_zero(const floe_side_index *x, uint64_t p, const floe_index_part *part)
{
    if (p == 0 && !floe_index_rest_is_zero(x, x->npartitions * floe_index_head_nbits(x)))
        return false;
    if (x->form != FLOE_INDEX_PACKED && p + 1 < x->npartitions)
        return true;
    return floe_index_rest_is_zero(x, part->at + part->stored * part->width);
}

typedef enum floe_index_fault {
    FLOE_INDEX_GOOD,
    FLOE_INDEX_BAD_HEAD,
    FLOE_INDEX_BAD_END,
    FLOE_INDEX_BAD_REST,
    FLOE_INDEX_LONG,
    FLOE_INDEX_SHORT
} floe_index_fault;

/* The places of a partition's chunks, or what is wrong with it. */
FLOE_HD floe_index_fault floe_index_part_places(const floe_side_index *x, uint64_t p, const floe_index_part *part,
                                                uint64_t *places)
{
    if (!floe_index_part_is_sane(x, p, part))
        return FLOE_INDEX_BAD_HEAD;
    const uint64_t end = floe_index_part_end(x, p);
    if (part->place > end || end > x->end)
        return FLOE_INDEX_BAD_END;
    if (!floe_index_rests_are_zero(x, p, part))
        return FLOE_INDEX_BAD_REST;
    uint64_t left = end - part->place;
    for (uint64_t k = 0; k < part->stored; k++) {
        const uint64_t extra = floe_index_extra(x, part, k);
        places[k] = end - left;
        if (extra > left || part->least > left - extra)
            return FLOE_INDEX_LONG;
        left -= extra + part->least;
    }
    if (part->stored < part->count)
        places[part->count - 1] = end - left;
    return part->stored == part->count && left != 0 ? FLOE_INDEX_SHORT : FLOE_INDEX_GOOD;
}

#endif
