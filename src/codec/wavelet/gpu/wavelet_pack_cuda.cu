/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a chunk: one block finds where each part goes, and whether all is better stored raw; then all blocks copy. */
#include "backend/device_scan.cuh"
#include "codec/codec_record.cuh"
#include "codec/wavelet/gpu/wavelet_dev.h"
#include "codec/wavelet/wavelet_records_math.h"

namespace
{

enum { PLACERS = 1024, THREADS = 256 };

typedef floe_wavelet_pack_job job;

/* ---- place ------------------------------------------------------------------------------------------------------------- */

/* What the chunks of a grid take, in words of 32 bits. */
struct grid_sizes {
    uint64_t nwords;
    bool wide;
};

/* places: where chunks begin, from the first of the grid on; sizes, as they are written. By a block. */
FLOE_DEV grid_sizes place_grid(const job &j, const floe_context_dev_grid &g, uint64_t *sums)
{
    grid_sizes s = {0, false};
    uint32_t longest = 0;
    for (uint32_t begin = 0; begin < g.nchunks; begin += PLACERS) {
        const uint32_t i = g.first + begin + threadIdx.x;
        const bool mine = begin + threadIdx.x < g.nchunks;
        const uint32_t size = mine ? j.context.sizes[i] : 0;
        uint64_t all;
        const uint64_t before = floe_block_sum_before((uint64_t)size, sums, PLACERS / FLOE_WARP, &all);
        if (mine)
            j.places[i] = s.nwords + before;
        longest = max(longest, size);
        s.nwords += all;
    }
    s.wide = __syncthreads_or(longest > UINT16_MAX) != 0;
    for (uint32_t i = threadIdx.x; i < g.nchunks; i += PLACERS) {
        const uint32_t size = j.context.sizes[g.first + i];
        if (s.wide)
            j.sizes[g.first + i] = size;
        else
            ((uint16_t *)(j.sizes + g.first))[i] = (uint16_t)size;
    }
    return s;
}

/* Where parts go, one behind the other; by a thread. */
struct placing {
    uint64_t at;
    uint32_t npieces;
};
FLOE_DEV void place_piece(const job &j, placing &p, const void *src, uint64_t nbytes)
{
    const floe_wavelet_dev_piece piece = {src, p.at, nbytes};
    if (nbytes)
        j.pieces[p.npieces++] = piece;
    p.at += nbytes;
}

FLOE_DEV void place_list(const job &j, placing &p, const floe_wavelet_dev_part &part)
{
    place_piece(j, p, part.head, part.list_head);
    place_piece(j, p, part.list, part.list_nbytes);
}

FLOE_DEV void place_chunks(const job &j, placing &p, floe_wavelet_dev_part &part, grid_sizes s)
{
    const floe_context_dev_bytes &tables = j.context.bytes[part.grid];
    const floe_context_dev_grid &g = j.context.grids[part.grid];
    part.head[0] =
        (uint8_t)((s.wide ? FLOE_WAVELET_RECORDS_WIDE : 0) | (tables.nbytes ? FLOE_WAVELET_RECORDS_TABLES : 0));
    place_piece(j, p, part.head, 1);
    place_piece(j, p, tables.bytes, tables.nbytes);
    place_piece(j, p, j.sizes + g.first, (uint64_t)g.nchunks * (s.wide ? 4 : 2));
    place_piece(j, p, j.zeros, -p.at & 3); /* words follow */
    j.chunks_at[part.grid] = p.at;
    p.at += 4 * s.nwords;
}

__global__ void __launch_bounds__(PLACERS) wavelet_place_kernel(const __grid_constant__ job j)
{
    __shared__ uint64_t sums[PLACERS / FLOE_WARP];
    const bool stops = *j.context.status != FLOE_OK;
    placing p = {0, 0};
    __syncthreads();
    if (stops)
        return;
    if (threadIdx.x == 0 && !j.raw) {
        place_piece(j, p, j.header, j.header_nbytes);
        place_piece(j, p, j.anchors, j.anchors_nbytes);
    }
    for (uint32_t i = 0; i < j.nparts && !j.raw; i++) {
        floe_wavelet_dev_part &part = j.parts[i];
        const bool list = part.list_head > 0;
        const grid_sizes s = list ? grid_sizes{0, false} : place_grid(j, j.context.grids[part.grid], sums);
        if (threadIdx.x == 0 && list)
            place_list(j, p, part);
        else if (threadIdx.x == 0)
            place_chunks(j, p, part, s);
    }
    if (threadIdx.x > 0)
        return;
    if (!j.raw)
        place_piece(j, p, j.literals, j.literals_nbytes);
    const bool raw = j.raw || p.at > j.most;
    uint64_t *ends = j.chunks_at + j.context.ngrids;
    ends[0] = p.npieces;
    ends[1] = p.at;
    ends[2] = raw;
    const floe_dev_chunk_stats none = {0, 0, 0, 0}, found = {j.nliterals, 0, j.found->max_error, j.found->max_pw_error};
    end_record(j.out, floe_max64(raw ? j.raw_nbytes : p.at, j.least), raw ? none : found, j.context.status);
}

/* ---- pack -------------------------------------------------------------------------------------------------------------- */

/* Chunks of a grid, each by a block. */
FLOE_DEV void copy_chunks(const job &j, uint8_t *payload, uint32_t grid)
{
    const floe_context_dev_grid &g = j.context.grids[grid];
    for (uint64_t i = g.first + blockIdx.x; i < g.first + g.nchunks; i += gridDim.x)
        if (j.context.sizes[i]) {
            const uint64_t nbytes = 4 * (uint64_t)j.context.sizes[i];
            floe_copy_bytes(payload + j.chunks_at[grid] + 4 * j.places[i],
                            (const uint8_t *)(j.context.slots + j.context.slot_ends[1 + i]) - nbytes, nbytes,
                            threadIdx.x, THREADS);
        }
}

__global__ void __launch_bounds__(THREADS) wavelet_pack_kernel(const __grid_constant__ job j)
{
    const uint64_t me = (uint64_t)blockIdx.x * THREADS + threadIdx.x, step = (uint64_t)gridDim.x * THREADS;
    if (*j.context.status != FLOE_OK) /* which nobody sets meanwhile */
        return;
    uint8_t *payload = record_payload(j.out);
    const uint64_t *ends = j.chunks_at + j.context.ngrids;
    const bool raw = ends[2] != 0;
    if (raw) {
        floe_copy_bytes(payload, j.raw_header, j.raw_header_nbytes, me, step);
        copy_values(j.values, j.shape, j.size, payload + j.raw_header_nbytes, me, step);
    } else {
        for (uint64_t i = 0; i < ends[0]; i++)
            floe_copy_bytes(payload + j.pieces[i].at, j.pieces[i].src, j.pieces[i].nbytes, me, step);
        for (uint32_t g = 0; g < j.context.ngrids; g++)
            copy_chunks(j, payload, g);
    }
    for (uint64_t i = (raw ? j.raw_nbytes : ends[1]) + me; i < j.out.record->nbytes; i += step)
        payload[i] = 0;
}

} // namespace

int floe_wavelet_place_cuda(const floe_wavelet_pack_job *job, void *stream)
{
    FLOE_LAUNCH(wavelet_place_kernel, 1, PLACERS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}

int floe_wavelet_pack_cuda(const floe_wavelet_pack_job *job, void *stream)
{
    FLOE_LAUNCH(wavelet_pack_kernel, 4 * floe_gpu_limits_cuda().processors, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
