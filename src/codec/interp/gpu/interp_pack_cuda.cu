/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a chunk: one block finds where each part goes, and whether all is better stored raw; then all blocks copy. */
#include "codec/codec_record.cuh"
#include "codec/interp/gpu/interp_dev.h"

namespace
{

enum { PLACERS = 1024, THREADS = 256 };

typedef floe_interp_pack_job job;

/* ---- place ------------------------------------------------------------------------------------------------------------- */

/* job.places: sums of the sizes of chunks. By a block. */
FLOE_DEV void add_sizes(const job &j, uint32_t *sums, uint64_t *carry)
{
    const uint32_t n = j.context.nchunks, warp = threadIdx.x / FLOE_WARP, lane = floe_lane();
    if (threadIdx.x == 0)
        *carry = 0;
    for (uint32_t begin = 0; begin < n; begin += PLACERS) {
        const uint32_t i = begin + threadIdx.x, size = i < n ? j.context.sizes[i] : 0;
        uint32_t upto = size, before = 0;
        for (uint32_t d = 1; d < FLOE_WARP; d *= 2) {
            const uint32_t below = __shfl_up_sync(FLOE_ALL_LANES, upto, d);
            upto += lane >= d ? below : 0;
        }
        if (lane == FLOE_WARP - 1)
            sums[warp] = upto;
        __syncthreads();
        for (uint32_t w = 0; w < warp; w++)
            before += sums[w];
        if (i < n)
            j.places[i] = *carry + before + upto - size;
        __syncthreads();
        if (threadIdx.x == PLACERS - 1)
            *carry += before + upto;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        j.places[n] = *carry;
    __syncthreads();
}

/* Where parts go, one behind the other; by a thread. */
struct placing {
    const job &j;
    uint64_t at;
    uint32_t npieces;
};
FLOE_DEV void place_piece(placing &p, const void *src, uint64_t nbytes)
{
    const floe_interp_dev_piece piece = {src, p.at, nbytes};
    if (nbytes)
        p.j.pieces[p.npieces++] = piece;
    p.at += nbytes;
}
FLOE_DEV void place_sizes(placing &p, const void *sizes, uint64_t nbytes)
{
    place_piece(p, sizes, nbytes);
    place_piece(p, p.j.zeros, -p.at & 3); /* words follow */
}
FLOE_DEV void place_tables(placing &p, uint32_t grid)
{
    place_piece(p, p.j.context.bytes[grid].bytes, p.j.context.bytes[grid].nbytes);
}
FLOE_DEV void place_chunks(placing &p, uint32_t grid)
{
    const floe_context_dev_grid &g = p.j.context.grids[grid];
    p.j.chunks_at[grid] = p.at;
    p.at += 4 * (p.j.places[g.first + g.nchunks] - p.j.places[g.first]);
}

/* Lists, masks, literals; and how long all that is into the header. */
FLOE_DEV void place_apart(placing &p)
{
    const job &j = p.j;
    const uint64_t begin = p.at;
    for (uint32_t s = 0; s < FLOE_INTERP_SETS; s++) {
        const floe_interp_dev_set &set = j.sets[s];
        if (set.list)
            place_piece(p, set.list, 4 + 4 * set.count);
        if (set.grid == 0)
            continue;
        place_tables(p, set.grid - 1);
        place_sizes(p, j.sizes + 4 * (uint64_t)j.context.grids[set.grid - 1].first,
                    2 * (uint64_t)j.context.grids[set.grid - 1].nchunks);
        place_chunks(p, set.grid - 1);
    }
    place_piece(p, j.literals, j.literals_nbytes);
    ((uint32_t *)j.header)[FLOE_INTERP_SIZE_AT / 4] = (uint32_t)((p.at - begin) / 4);
}

/* Returns where the head ends. */
FLOE_DEV uint64_t place_parts(placing &p, bool wide)
{
    const job &j = p.j;
    const uint32_t each = wide ? 4 : 2;
    if (wide)
        j.header[FLOE_INTERP_FLAGS_AT] |= FLOE_INTERP_FLAG_SIZES;
    for (uint32_t i = 0; i < j.nsteps; i++) /* the header has the finest one first */
        if (j.context.bytes[i].nbytes)
            j.header[j.steps_at + (j.nsteps - 1 - i) * j.step_nbytes + 1] |= FLOE_INTERP_OWN_TABLES;
    place_piece(p, j.header, j.header_nbytes);
    place_piece(p, j.anchors, j.anchors_nbytes);
    place_apart(p);
    for (uint32_t i = 0; i < j.nsteps; i++)
        place_tables(p, i);
    const uint32_t nchunks = j.nsteps ? j.context.grids[j.nsteps - 1].first + j.context.grids[j.nsteps - 1].nchunks : 0;
    place_sizes(p, j.sizes, (uint64_t)nchunks * each);
    const uint64_t head = p.at;
    for (uint32_t i = 0; i < j.nsteps; i++)
        place_chunks(p, i);
    return head;
}

__global__ void __launch_bounds__(PLACERS) interp_place_kernel(const __grid_constant__ job j)
{
    __shared__ uint32_t sums[PLACERS / FLOE_WARP];
    __shared__ uint64_t carry;
    const uint32_t nsteps_chunks =
        j.nsteps ? j.context.grids[j.nsteps - 1].first + j.context.grids[j.nsteps - 1].nchunks : 0;
    uint32_t longest = 0;
    const bool stops = *j.context.status != FLOE_OK;
    __syncthreads();
    if (stops)
        return;
    add_sizes(j, sums, &carry);
    for (uint32_t i = threadIdx.x; i < nsteps_chunks; i += PLACERS)
        longest = max(longest, j.context.sizes[i]);
    const bool wide = __syncthreads_or(longest > UINT16_MAX) != 0;
    for (uint32_t i = threadIdx.x; i < j.context.nchunks; i += PLACERS) {
        if (wide && i < nsteps_chunks) {
            ((uint32_t *)j.sizes)[i] = j.context.sizes[i];
        } else if (i < nsteps_chunks) {
            ((uint16_t *)j.sizes)[i] = (uint16_t)j.context.sizes[i];
        } else {
            uint32_t g = j.nsteps; /* each mask's begin where 4 bytes a chunk would */
            while (i >= j.context.grids[g].first + j.context.grids[g].nchunks)
                g++;
            const uint32_t first = j.context.grids[g].first;
            ((uint16_t *)(j.sizes + 4 * (uint64_t)first))[i - first] = (uint16_t)j.context.sizes[i];
        }
    }
    if (threadIdx.x > 0)
        return;
    placing p = {j, 0, 0};
    if (!j.raw)
        j.chunks_at[j.context.ngrids + 3] = place_parts(p, wide);
    const bool raw = j.raw || p.at > j.raw_nbytes;
    j.chunks_at[j.context.ngrids] = p.npieces;
    j.chunks_at[j.context.ngrids + 1] = p.at;
    j.chunks_at[j.context.ngrids + 2] = raw;
    const floe_dev_chunk_stats none = {0, 0, 0, 0}, found = {j.napart, 0, j.found->max_error, j.found->max_pw_error};
    end_record(j.out, floe_max64(raw ? j.raw_nbytes : p.at, j.least), raw ? none : found, j.context.status);
}

/* ---- pack -------------------------------------------------------------------------------------------------------------- */

/* Chunk i; by a warp. */
FLOE_DEV void copy_chunk(const job &j, uint8_t *payload, uint32_t i)
{
    uint32_t g = 0;
    while (i >= j.context.grids[g].first + j.context.grids[g].nchunks)
        g++;
    const floe_context_dev_grid &grid = j.context.grids[g];
    const uint64_t end = j.context.slot_ends[1 + i], nbytes = 4 * (uint64_t)j.context.sizes[i];
    floe_copy_bytes(payload + j.chunks_at[g] + 4 * (j.places[i] - j.places[grid.first]),
                    (const uint8_t *)(j.context.slots + end) - nbytes, nbytes, floe_lane(), FLOE_WARP);
}

__global__ void __launch_bounds__(THREADS) interp_pack_kernel(const __grid_constant__ job j)
{
    const uint64_t me = (uint64_t)blockIdx.x * THREADS + threadIdx.x, step = (uint64_t)gridDim.x * THREADS;
    if (*j.context.status != FLOE_OK) /* which nobody sets meanwhile */
        return;
    uint8_t *payload = record_payload(j.out);
    const uint64_t *ends = j.chunks_at + j.context.ngrids;
    const bool raw = ends[2] != 0;
    if (raw) {
        floe_copy_bytes(payload, j.raw_header, FLOE_INTERP_HEADER_NBYTES, me, step);
        copy_values(j.values, j.shape, j.size, payload + FLOE_INTERP_HEADER_NBYTES, me, step);
    } else {
        for (uint64_t i = 0; i < ends[0]; i++)
            floe_copy_bytes(payload + j.pieces[i].at, j.pieces[i].src, j.pieces[i].nbytes, me, step);
        for (uint64_t i = me / FLOE_WARP; i < j.context.nchunks; i += step / FLOE_WARP)
            copy_chunk(j, payload, (uint32_t)i);
    }
    for (uint64_t i = (raw ? j.raw_nbytes : ends[1]) + me; i < j.out.record->nbytes; i += step)
        payload[i] = 0;
}

/* ---- check ------------------------------------------------------------------------------------------------------------- */

__global__ void __launch_bounds__(THREADS) interp_check_kernel(const __grid_constant__ job j)
{
    const uint64_t *ends = j.chunks_at + j.context.ngrids;
    if (*j.context.status != FLOE_OK || ends[2])
        return;
    uint32_t *head = (uint32_t *)record_payload(j.out), sum = 0;
    for (uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x; i < ends[3] / 4; i += (uint64_t)gridDim.x * THREADS)
        sum += floe_interp_check_word(i, head[i]);
    for (uint32_t d = FLOE_WARP / 2; d > 0; d /= 2)
        sum += __shfl_xor_sync(FLOE_ALL_LANES, sum, d);
    if (floe_lane() == 0)
        atomicAdd(head + FLOE_INTERP_CHECK_WORD, sum);
}

} // namespace

int floe_interp_place_cuda(const floe_interp_pack_job *job, void *stream)
{
    FLOE_LAUNCH(interp_place_kernel, 1, PLACERS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}

int floe_interp_pack_cuda(const floe_interp_pack_job *job, void *stream)
{
    FLOE_LAUNCH(interp_pack_kernel, 4 * floe_gpu_limits_cuda().processors, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}

int floe_interp_check_cuda(const floe_interp_pack_job *job, void *stream)
{
    FLOE_LAUNCH(interp_check_kernel, floe_gpu_limits_cuda().processors, THREADS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
