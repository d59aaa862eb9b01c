/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the parts of a chunk's record go. By a block, whose threads all have the place of the next part; the first one writes it down. */
#ifndef FLOE_CODEC_CHUNKS_CODEC_RECORD_CUH
#define FLOE_CODEC_CHUNKS_CODEC_RECORD_CUH

#include <floe/floe.h>

#include "backend/device_scan.cuh"
#include "codec/chunks/codec_record.h"

namespace
{

enum { PLACERS = 1024 /* threads of the block */ };

struct placing {
    const floe_codec_record_job &j;
    uint64_t at;
    uint32_t npieces, nchecks;
};

FLOE_DEV bool writes_places() { return threadIdx.x == 0; }

FLOE_DEV void place_piece(placing &p, const void *src, uint64_t nbytes)
{
    const floe_codec_piece piece = {src, p.at, nbytes};
    if (nbytes == 0)
        return;
    if (writes_places())
        p.j.pieces[p.npieces] = piece;
    p.npieces++;
    p.at += nbytes;
}

FLOE_DEV void place_check(placing &p, uint64_t begin, uint64_t end, uint64_t at)
{
    const floe_codec_check check = {begin, end, at};
    if (writes_places())
        p.j.checks[p.nchecks] = check;
    p.nchecks++;
}

FLOE_DEV void place_tables(placing &p, uint32_t grid)
{
    place_piece(p, p.j.context.bytes[grid].bytes, p.j.context.bytes[grid].nbytes);
}

/* Entropy chunks that follow one another, from number `first` on. */
struct run_of_chunks {
    uint32_t first, n;
    uint64_t nwords; /* of 32 bits */
    bool wide;       /* sizes take 4 bytes, not 2 */
};

/* Places of a run, and its sizes as they are written. */
FLOE_DEV run_of_chunks find_run(const floe_codec_record_job &j, uint32_t first, uint32_t n)
{
    __shared__ uint64_t sums[PLACERS / FLOE_WARP];
    run_of_chunks r = {first, n, 0, false};
    uint32_t longest = 0;
    for (uint32_t begin = 0; begin < n; begin += PLACERS) {
        const uint32_t i = begin + threadIdx.x, size = i < n ? j.context.sizes[first + i] : 0;
        uint64_t all;
        const uint64_t before = floe_block_sum_before((uint64_t)size, sums, PLACERS / FLOE_WARP, &all);
        if (i < n)
            j.places[first + i] = r.nwords + before;
        longest = max(longest, size);
        r.nwords += all;
    }
    r.wide = __syncthreads_or(longest > UINT16_MAX) != 0;
    for (uint32_t i = threadIdx.x; i < n; i += PLACERS) {
        const uint32_t size = j.context.sizes[first + i];
        if (r.wide)
            j.sizes[first + i] = size;
        else
            ((uint16_t *)(j.sizes + first))[i] = (uint16_t)size;
    }
    return r;
}

/* With checks, if there are any. Words follow. */
FLOE_DEV void place_sizes(placing &p, const run_of_chunks &r, const uint16_t *checks, uint32_t nchecks)
{
    place_piece(p, p.j.sizes + r.first, (uint64_t)r.n * (r.wide ? 4 : 2));
    place_piece(p, checks, 2 * (uint64_t)nchecks);
    place_piece(p, p.j.zeros, -p.at & 3);
}

/* A run of grids first .. end. */
FLOE_DEV void place_chunks(placing &p, uint32_t first, uint32_t end, const run_of_chunks &r)
{
    for (uint32_t g = first + threadIdx.x; g < end; g += PLACERS)
        p.j.chunks_at[g] = p.at;
    p.at += 4 * r.nwords;
}

FLOE_HD uint64_t raw_nbytes_of(const floe_codec_record_job &j)
{
    return j.raw_header_nbytes + floe_lattice_points(j.shape) * j.size;
}

/* All parts are placed. */
FLOE_DEV void end_record(const placing &p)
{
    const floe_codec_record_job &j = p.j;
    const bool raw = j.raw || p.at > j.most;
    const uint64_t payload = floe_max64(raw ? raw_nbytes_of(j) : p.at, j.least), begin = *j.out.end,
                   end = begin + FLOE_RECORD_HEAD_NBYTES + ((payload + 7) & ~(uint64_t)7);
    uint64_t *ends = j.chunks_at + j.context.ngrids;
    if (!writes_places())
        return;
    ends[0] = p.npieces;
    ends[1] = p.at;
    ends[2] = raw;
    ends[3] = p.nchecks;
    const floe_dev_record record = {begin, payload, 0};
    const floe_dev_chunk_stats none = {0, 0, 0, 0}, found = {j.nexceptions, 0, *j.max_error, *j.max_pw_error};
    *j.out.record = record;
    *j.out.stats = raw ? none : found;
    *j.out.end = end;
    if (end > j.out.capacity)
        *j.context.status = FLOE_ERR_CAPACITY;
}

FLOE_DEV uint8_t *record_payload(const floe_codec_record_job &j)
{
    return j.out.stream + j.out.record->offset + FLOE_RECORD_HEAD_NBYTES;
}

} // namespace

#endif
