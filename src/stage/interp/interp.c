/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/interp/interp.h"

#include "field/dtype_math.h"

/* So that FLOE_INTERP_TILE_REALS suffice; where the slowest axis has neighbours too, a tile is thinner. */
enum { TILE_CELLS = 16384, TILE_ROW = 512, TILE_PLANES = 4, TILE_ROWS = 256, TILE_ROWS_LEAST = 8 };

const floe_interp_ops *floe_interp_ops_of(floe_dtype dtype, floe_isa isa)
{
    return FLOE_BY_REAL_AND_ISA(floe_dtype_is_narrow(dtype), isa, &floe_interp_ops);
}

/* Cells of wanted points. A row of 512 cells is a whole number of words of job->apart, so no two tiles share one. */
floe_interp_tiles floe_interp_tiles_of(const floe_interp_job *job)
{
    const floe_lattice_step *s = job->step;
    floe_interp_tiles t = {.count = 1};
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        const uint32_t shift = floe_lattice_is_active(s, a);
        t.first[a] = job->box.lo[a] >> shift;
        t.end[a] = ((job->box.hi[a] - 1) >> shift) + 1;
    }
    const bool slowest = floe_lattice_is_active(s, 0);
    t.size[0] = 1;
    t.size[3] = floe_min64(t.end[3] - t.first[3], TILE_ROW);
    t.size[1] = floe_min64(t.end[1] - t.first[1], slowest ? 1 : TILE_PLANES);
    const uint64_t most = (slowest ? TILE_CELLS / 4 : TILE_CELLS) / (t.size[3] * t.size[1]);
    const uint64_t rows = floe_max64(most, TILE_ROWS_LEAST);
    t.size[2] = floe_min64(t.end[2] - t.first[2], floe_min64(rows, TILE_ROWS));
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        t.count *= floe_ceil_div(t.end[a] - t.first[a], t.size[a]);
    return t;
}

floe_lattice_box floe_interp_tile(const floe_interp_tiles *t, uint64_t index)
{
    floe_lattice_box b;
    for (uint32_t a = FLOE_LATTICE_RANK; a-- > 0;) {
        const uint64_t count = floe_ceil_div(t->end[a] - t->first[a], t->size[a]);
        b.lo[a] = t->first[a] + index % count * t->size[a];
        b.hi[a] = floe_min64(b.lo[a] + t->size[a], t->end[a]);
        index /= count;
    }
    return b;
}

floe_lattice_box floe_interp_needed(const floe_lattice_step *s, const floe_lattice_box *wanted)
{
    floe_lattice_box b = *wanted;
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++)
        if (floe_lattice_is_active(s, a)) {
            b.lo[a] = floe_max64(wanted->lo[a] / 2, 1) - 1;
            b.hi[a] = floe_min64((wanted->hi[a] - 1) / 2 + 3, s->coarse[a]);
        }
    return b;
}
