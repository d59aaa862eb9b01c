/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a chunk: one block finds where each part goes. */
#include "codec/chunks/codec_record.cuh"
#include "codec/wavelet/gpu/wavelet_dev.h"

namespace
{

/* Behind a part of a coded chunk; of the words behind the check before. */
FLOE_DEV void end_part(placing &p, uint64_t *checked)
{
    const uint64_t end = floe_wavelet_check_end(true, p.at), at = end / 4 - 1;
    place_piece(p, p.j.zeros, end - p.at);
    place_check(p, *checked, at, at);
    *checked = at + 1;
}

/* Records of a grid: a list, or what stands before its chunks. Chunks get places as if all lay right behind: place_run moves them. */
FLOE_DEV void place_part(placing &p, floe_wavelet_dev_part &part)
{
    if (part.list_head) {
        place_piece(p, part.head, part.list_head);
        place_piece(p, part.list, part.list_nbytes);
        return;
    }
    const floe_context_job &c = p.j.context;
    const run_of_chunks r = find_run(p.j, c.grids[part.grid].first, c.grids[part.grid].nchunks);
    if (writes_places()) {
        part.nwords = r.nwords;
        part.head[0] = (uint8_t)((r.wide ? FLOE_WAVELET_RECORDS_WIDE : 0) |
                                 (c.bytes[part.grid].nbytes ? FLOE_WAVELET_RECORDS_TABLES : 0));
    }
    place_piece(p, part.head, 1);
    place_tables(p, part.grid);
    place_sizes(p, r, NULL, 0);
    if (writes_places())
        p.j.chunks_at[part.grid] = p.at;
}

/* Its chunks number `first` to end - 1, by all threads. */
FLOE_DEV void place_run(placing &p, const floe_wavelet_dev_part &part, uint32_t first, uint32_t end)
{
    const floe_context_dev_grid &g = p.j.context.grids[part.grid];
    uint64_t *places = p.j.places + g.first;
    if (part.list_head || first == end)
        return;
    __syncthreads(); /* what was written of the part is there */
    const uint64_t begin = places[first], n = (end < g.nchunks ? places[end] : part.nwords) - begin,
                   at = (p.at - p.j.chunks_at[part.grid]) / 4;
    __syncthreads();
    for (uint32_t i = first + threadIdx.x; i < end; i += PLACERS)
        places[i] += at - begin;
    p.at += 4 * n;
}

/* Part number `group`, and, if it is a step, what its group has of steps before. */
FLOE_DEV void place_group(placing &p, const floe_wavelet_pack_job &j, uint32_t group)
{
    const uint32_t kept = j.parts[group].kept;
    for (uint32_t i = 0; i < group && group < j.nsteps; i++)
        place_run(p, j.parts[i], j.parts[i].ends[j.parts[group - 1].kept], j.parts[i].ends[kept]);
    place_part(p, j.parts[group]);
    place_run(p, j.parts[group], 0, j.parts[group].ends[kept]);
}

__global__ void __launch_bounds__(PLACERS) wavelet_place_kernel(const __grid_constant__ floe_wavelet_pack_job j)
{
    placing p = {j.record, 0, 0, 0};
    const bool stops = *j.record.context.status != FLOE_OK;
    __syncthreads();
    if (stops)
        return;
    if (!j.record.raw) {
        place_piece(p, j.header, j.header_nbytes);
        uint64_t checked = 0;
        place_piece(p, j.anchors, j.anchors_nbytes);
        if (j.coded)
            end_part(p, &checked);
        for (uint32_t i = 0; i < j.nparts; i++) {
            place_group(p, j, i);
            if (i < j.nsteps)
                end_part(p, &checked);
        }
        place_piece(p, j.literals, j.literals_nbytes);
    }
    end_record(p);
}

} // namespace

int floe_wavelet_place_cuda(const floe_wavelet_pack_job *job, void *stream)
{
    FLOE_LAUNCH(wavelet_place_kernel, 1, PLACERS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
