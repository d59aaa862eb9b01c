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

enum {
    FLOE_INDEX_HEADER_NBYTES = 48,
    FLOE_INDEX_PARTITION = 32,         /* P where nothing is said: lanes of a warp */
    FLOE_INDEX_PARTITION_MOST = 65536, /* P at most */
    FLOE_INDEX_PLACE_BITS = 62,        /* a place is below 2^62 */
    FLOE_INDEX_AT_BITS = 56            /* so is a word's number in the body below 2^56 */
};
#define FLOE_INDEX_BLOCKS_MOST ((uint64_t)1 << 48) /* so that the bits of no index overflow */

/* An index whose header has been checked; its body is checked as it is decoded. All that a kernel needs, by value. */
typedef struct floe_side_index {
    floe_index_form form;
    uint32_t chunk, partition; /* partition is 0 but for HYBRID and PACKED */
    uint32_t length_nbits;     /* LENGTHS, HYBRID: of a length */
    uint32_t length_stride;    /* LENGTHS, HYBRID: from one to the next; an index that a header describes has no gaps */
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

/* Lengths that stand in a format of their own, at each `stride` bits of body, in the low nbits, as an index of one block a
 * chunk. body: nwords words. */
floe_side_index floe_side_index_of_lengths(const void *body, uint64_t nwords, uint64_t nblocks, uint32_t nbits,
                                           uint32_t stride, uint64_t end);

/* All places: places[i] of chunk i, and places[nchunks] = end; checks all of the index. FORMAT: it says what cannot be;
 * the message is that of the first bad partition, however many threads there are. */
floe_status floe_side_index_decode(const floe_cpu *cpu, const floe_side_index *index, uint64_t *places,
                                   floe_error *err);

#endif
