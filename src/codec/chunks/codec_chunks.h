/* SPDX-License-Identifier: BSD-3-Clause */
/* Of codecs that wait for the stream (codec_device.h): how the host reaches what is there, and chunks of a field. */
#ifndef FLOE_CODEC_CHUNKS_CODEC_CHUNKS_H
#define FLOE_CODEC_CHUNKS_CODEC_CHUNKS_H

#include "codec/chunks/codec_gather.h"
#include "codec/codec_device.h"
#include "stage/lattice/lattice.h"

/* Device memory to the host, and back; the former waits. */
floe_status floe_codec_fetch(void *host, const void *dev, size_t nbytes, void *stream, floe_error *err);
floe_status floe_codec_send(void *dev, const void *host, size_t nbytes, void *stream, floe_error *err);

/* Numbers of things, and how many there are before each. Device memory. */
typedef struct floe_codec_ranks {
    uint32_t *tallies;
    uint64_t *ranks, n;
    void *scan;
    size_t scan_nbytes;
} floe_codec_ranks;
floe_status floe_codec_ranks_plan(floe_codec_ranks *r, uint64_t n, floe_error *err); /* n: tallies, at most */
void floe_codec_ranks_take(floe_codec_ranks *r, floe_arena *a);
floe_status floe_codec_ranks_find(const floe_codec_ranks *r, uint64_t n, void *stream, floe_error *err);

/* The extent of chunks that lie at the ends of some axes (bit a: axis a), and are cut there; false: there are none. */
bool floe_codec_end_extent(uint32_t rank, const uint64_t *shape, const uint64_t *chunk, uint32_t ends,
                           uint64_t *extent);

/* ---- encode ------------------------------------------------------------------------------------------------------------ */

/* Where chunks leave their records, in device memory. A codec's own part of a call begins with it. */
typedef struct floe_codec_written {
    floe_dev_record *records;
    floe_dev_chunk_stats *stats;
    uint64_t *end; /* where the last record ends */
} floe_codec_written;
void floe_codec_written_take(floe_codec_encode *e, floe_arena *a);
void floe_codec_written_aim(floe_codec_encode *e);
floe_dev_record_place floe_codec_written_place(const floe_codec_encode *e, uint64_t index);

/* Nothing of a codec's own comes first. Params, and the call's status, are on their way to cuda->fetched then, which nothing
 * else may use until they are taken; that waits for the stream. */
floe_status floe_codec_resolve_alone(const floe_codec_encode *e, const struct floe_resolve_job *job, void *stream,
                                     floe_error *err);
typedef struct floe_codec_known {
    floe_codec_params params;
    uint32_t status;
    bool there;
} floe_codec_known;
floe_status floe_codec_take_params(const floe_codec_encode *e, floe_codec_known *known, void *stream, floe_error *err);

/* Chunk number `index` of the field. */
floe_field floe_codec_cut(const floe_codec_encode *e, uint64_t index);

/* ---- decode ------------------------------------------------------------------------------------------------------------ */

/* A chunk, and the part of the call's box that lies in it. */
typedef struct floe_codec_chunk {
    const floe_codec_decode *call;
    void *stream;
    floe_error *err;
    const uint8_t *src;  /* its payload, in device memory */
    const uint8_t *head; /* how that begins, up to FLOE_CODEC_HEAD_NBYTES: for the host, until it waits for something */
    uint64_t nbytes, extent[FLOE_MAX_RANK], lo[FLOE_MAX_RANK], hi[FLOE_MAX_RANK];
    floe_field out; /* data, of point lo, and strides; lo and hi are of the level's points */
} floe_codec_chunk;

/* What a chunk is found to be, as kernels would report it: LIMIT is for the CPU to see to. */
floe_status floe_codec_refuse(const floe_codec_chunk *c, floe_status why);

/* Whether a chunk of a field, all of which are within this extent, may have so many turns. Chunks at the ends of axes may be turned another
 * way; older chunks are not turned. */
static inline bool floe_codec_may_turn(uint32_t turns, uint32_t rank, const uint64_t *extent, uint64_t nchunks)
{
    const uint32_t own = floe_lattice_turns_of(rank, extent);
    return nchunks > 1 || own > 0 || turns == 0;
}

/* Kernels read and write values of a row that lie far apart slowly: a copy of such a turned chunk has them side by side. Takes room for that
 * of a chunk of the field, or of its level. NULL: the field has no such chunk. */
void *floe_codec_turned_take(floe_arena *a, floe_dtype dtype, uint32_t rank, const uint64_t *shape,
                             const uint64_t *chunk, uint32_t level);
/* Values of a chunk become those of the copy, if they are far apart and there is a copy. */
floe_status floe_codec_turn_in(floe_lattice_view *values, void *copy, const uint64_t shape[FLOE_LATTICE_RANK],
                               uint32_t size, void *stream, floe_error *err);
/* The copy for a box of values, or the box itself; and what was copied to its places, if *status is FLOE_OK. */
floe_lattice_view floe_codec_turned_box(const floe_lattice_output *out, void *copy);
floe_status floe_codec_turn_out(const floe_codec_chunk *c, const floe_lattice_output *values,
                                const floe_lattice_view *to);

/* To each place of its box a value out of those of the chunk, which has that shape, or (NULL) the pattern. */
floe_status floe_codec_fill(const floe_codec_chunk *c, const floe_lattice_output *out,
                            const uint64_t shape[FLOE_LATTICE_RANK], const uint8_t *values, uint64_t pattern);

#endif
