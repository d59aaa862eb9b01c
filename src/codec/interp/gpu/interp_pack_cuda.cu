/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a chunk: one block finds where each part goes. */
#include "codec/chunks/codec_record.cuh"
#include "codec/interp/gpu/interp_dev.h"

namespace
{

typedef floe_interp_pack_job job;

/* Chunks of grids first .. end. */
FLOE_DEV run_of_chunks run_of_grids(const job &j, uint32_t first, uint32_t end)
{
    const floe_context_dev_grid *g = j.record.context.grids;
    return end > first ? find_run(j.record, g[first].first, g[end - 1].first + g[end - 1].nchunks - g[first].first)
                       : run_of_chunks{0, 0, 0, false};
}

/* Lists, masks, whose sizes are never wide, and literals; and how long all that is into the header. */
FLOE_DEV void place_apart(const job &j, placing &p)
{
    const uint64_t begin = p.at;
    for (uint32_t s = 0; s < FLOE_INTERP_SETS; s++) {
        const floe_interp_dev_set &set = j.sets[s];
        if (set.list)
            place_piece(p, set.list, 4 + 4 * set.count);
        if (set.grid == 0)
            continue;
        const run_of_chunks r = run_of_grids(j, set.grid - 1, set.grid);
        place_tables(p, set.grid - 1);
        place_sizes(p, r, NULL, 0);
        place_chunks(p, set.grid - 1, set.grid, r);
    }
    place_piece(p, j.literals, j.literals_nbytes);
    if (writes_places())
        ((uint32_t *)j.header)[FLOE_INTERP_SIZE_AT / 4] = (uint32_t)((p.at - begin) / 4);
}

/* The header has the finest step first. */
FLOE_DEV void set_flags(const job &j, bool wide)
{
    if (wide)
        j.header[FLOE_INTERP_FLAGS_AT] |= FLOE_INTERP_FLAG_SIZES;
    for (uint32_t i = 0; i < j.nsteps; i++)
        if (j.record.context.bytes[i].nbytes)
            j.header[j.steps_at + (j.nsteps - 1 - i) * j.step_nbytes + 1] |= FLOE_INTERP_OWN_TABLES;
}

/* Of the steps' entropy chunks; how many there are. */
FLOE_DEV uint32_t make_checks(const job &j)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j.nsteps; i++) {
        const floe_context_dev_grid &g = j.record.context.grids[i];
        const uint32_t each = 1u << j.checked[i], nchecks = (uint32_t)floe_ans_nchecks(g.nchunks, j.checked[i]);
        for (uint32_t c = threadIdx.x; c < nchecks; c += PLACERS) {
            const uint32_t *sums = j.record.context.sums + g.first + c * each, left = g.nchunks - c * each;
            uint32_t sum = 0;
            for (uint32_t k = 0; k < each && k < left; k++)
                sum += floe_ans_check_word(k, sums[k]);
            j.checks[n + c] = floe_ans_check_of(sum);
        }
        n += nchecks;
    }
    return n;
}

__global__ void __launch_bounds__(PLACERS) interp_place_kernel(const __grid_constant__ job j)
{
    placing p = {j.record, 0, 0, 0};
    const bool stops = *j.record.context.status != FLOE_OK;
    __syncthreads();
    if (stops)
        return;
    if (!j.record.raw) {
        const run_of_chunks r = run_of_grids(j, 0, j.nsteps);
        if (writes_places())
            set_flags(j, r.wide);
        place_piece(p, j.header, j.header_nbytes);
        place_piece(p, j.anchors, j.anchors_nbytes);
        place_apart(j, p);
        for (uint32_t i = 0; i < j.nsteps; i++)
            place_tables(p, i);
        place_sizes(p, r, j.checks, make_checks(j));
        place_check(p, 0, p.at / 4, FLOE_INTERP_CHECK_WORD);
        place_chunks(p, 0, j.nsteps, r);
    }
    end_record(p);
}

} // namespace

int floe_interp_place_cuda(const floe_interp_pack_job *job, void *stream)
{
    FLOE_LAUNCH(interp_place_kernel, 1, PLACERS, 0, (cudaStream_t)stream, *job);
    return (int)cudaGetLastError();
}
