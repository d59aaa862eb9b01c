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

/* Records of a grid: its chunks, or a list. */
FLOE_DEV void place_part(placing &p, floe_wavelet_dev_part &part)
{
    if (part.list_head) {
        place_piece(p, part.head, part.list_head);
        place_piece(p, part.list, part.list_nbytes);
        return;
    }
    const floe_context_job &c = p.j.context;
    const run_of_chunks r = find_run(p.j, c.grids[part.grid].first, c.grids[part.grid].nchunks);
    if (writes_places())
        part.head[0] = (uint8_t)((r.wide ? FLOE_WAVELET_RECORDS_WIDE : 0) |
                                 (c.bytes[part.grid].nbytes ? FLOE_WAVELET_RECORDS_TABLES : 0));
    place_piece(p, part.head, 1);
    place_tables(p, part.grid);
    place_sizes(p, r, NULL, 0);
    place_chunks(p, part.grid, part.grid + 1, r);
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
            place_part(p, j.parts[i]);
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
