/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that the lattices do not give: which they are, and their bytes. */
#include <string.h>

#include "codec/interp/interp_encoder.h"
#include "field/dtype_math.h"

typedef floe_interp_encoder encoder;

/* ---- sets -------------------------------------------------------------------------------------------------------------- */

uint32_t floe_interp_set_join(floe_interp_chunk *chunk, const floe_codec_params *params, uint64_t pattern,
                              uint32_t *npalette)
{
    const uint32_t size = (uint32_t)floe_dtype_size(params->dtype);
    const bool special =
        chunk->kind == FLOE_LATTICE_FLAT || floe_lattice_is_special(size, pattern, params->has_fill, params->fill_bits);
    const uint32_t set = floe_interp_set_of(chunk->palette, *npalette, pattern);
    if (set != FLOE_INTERP_LITERALS || !special || *npalette == FLOE_INTERP_PALETTE)
        return set;
    chunk->palette[*npalette] = pattern;
    return FLOE_INTERP_PATTERNS + (*npalette)++;
}

static void put_bit(const encoder *e, uint64_t *bits, const uint64_t *point)
{
    const uint64_t *n = e->chunk.plan.shape;
    bits[((point[0] * n[1] + point[1]) * n[2] + point[2]) * floe_ceil_div(n[3], 64) + point[3] / 64] |=
        (uint64_t)1 << point[3] % 64;
}

/* Signs of row r. */
static void signs_task(void *arg, uint64_t r, uint32_t worker)
{
    const encoder *e = arg;
    const floe_interp_bits bits = floe_interp_bits_of(e->chunk.plan.shape, e->part);
    const int64_t step = e->values.stride[3] * (int64_t)e->size;
    uint64_t point[FLOE_LATTICE_RANK];
    (void)worker;
    floe_interp_bits_point(&bits, r, point);
    const uint8_t *from =
        (const uint8_t *)e->values.data + floe_lattice_view_at(&e->values, point) * (int64_t)e->size + e->size - 1;
    for (uint64_t x = 0; x < bits.shape[3]; x++)
        bits.words[r * bits.row + x / 64] |= (uint64_t)(from[(int64_t)x * step] >> 7) << x % 64;
}

/* Bits of those values apart that are of a set; of the set of negative ones all that are. */
static floe_interp_bits pick(encoder *e, uint32_t set)
{
    const floe_interp_bits apart = floe_interp_bits_of(e->chunk.plan.shape, e->apart);
    uint32_t nsets = 0;
    for (int s = FLOE_INTERP_PATTERNS; s < FLOE_INTERP_SETS; s++)
        nsets += e->chunk.sets[s].kind != FLOE_INTERP_SET_EMPTY;
    memset(e->part, 0, e->nbits * sizeof *e->part);
    if (set == FLOE_INTERP_NEGATIVE)
        floe_cpu_parallel(e->cpu, apart.nrows, signs_task, e);
    else if (nsets == 1)
        memcpy(e->part, e->apart, e->nbits * sizeof *e->part);
    else
        for (floe_interp_member m = {.next = 0}; floe_interp_bits_next(&apart, &m);)
            if (floe_interp_set_of(e->chunk.palette, e->npalette, floe_interp_pattern_at(e, m.point)) == set)
                put_bit(e, e->part, m.point);
    return floe_interp_bits_of(e->chunk.plan.shape, e->part);
}

/* Symbols of a mask as it stands. */
static uint64_t mask_bits(encoder *e, const floe_interp_bits *bits, const floe_records *r, uint32_t *counts)
{
    const uint64_t nchunks = floe_context_nchunks(r->grid);
    floe_interp_bits_to_records(bits, e->mask_records, floe_context_nrecords(r->grid));
    floe_records_count(&e->entropy, r, floe_ceil_div(nchunks, FLOE_INTERP_MASK_SAMPLE), counts);
    return floe_context_tally_of(r->spec, counts).entropy;
}

/* Makes differences along the axes where that is worth it, and returns those. */
static uint32_t differ_mask(encoder *e, const floe_interp_bits *bits, const floe_records *r, uint32_t *counts)
{
    uint32_t axes = 0;
    uint64_t least = mask_bits(e, bits, r, counts);
    for (uint32_t a = 0; a < FLOE_LATTICE_RANK; a++) {
        if (bits->shape[a] == 1)
            continue;
        floe_interp_bits_differ(bits, a, false);
        const uint64_t n = mask_bits(e, bits, r, counts);
        if (n < least) {
            least = n;
            axes |= 1u << a;
        } else {
            floe_interp_bits_differ(bits, a, true);
        }
    }
    return axes;
}

/* A set as a list, or as a mask. bits are spoiled. */
static void write_set(encoder *e, const floe_interp_bits *bits, floe_interp_set *set, const uint8_t *base,
                      floe_cursor *to)
{
    const uint64_t n = floe_interp_bits_count(bits);
    if (floe_interp_is_listed(e->ncells, n)) {
        set->kind = FLOE_INTERP_SET_LIST;
        floe_write32(to, (uint32_t)n);
        for (floe_interp_member m = {.next = 0}; floe_interp_bits_next(bits, &m);)
            floe_write32(to, (uint32_t)floe_lattice_index(bits->shape, m.point));
        return;
    }
    const floe_context_grid grid = floe_interp_mask_grid(e->chunk.plan.shape);
    const floe_records r = {&floe_interp_mask_spec, &grid, e->mask_records};
    set->kind = FLOE_INTERP_SET_MASK;
    uint32_t *counts = e->counts + (uint64_t)e->chunk.plan.nsteps * FLOE_CONTEXT_COUNTS;
    floe_context_tables *tables = &e->tables[e->chunk.plan.nsteps];
    set->axes = differ_mask(e, bits, &r, counts);
    floe_interp_bits_to_records(bits, e->mask_records, floe_context_nrecords(&grid));
    floe_records_count(&e->entropy, &r, 1, counts);
    floe_context_tables_build(e->cpu, r.spec, counts, tables);
    floe_records_tables_write(r.spec, tables, to);
    floe_records_sizes sizes = {.at = floe_write_space(to, 2 * floe_context_nchunks(&grid))};
    floe_lattice_pad_write(to, base);
    if (!to->bad)
        floe_records_encode(&e->entropy, &r, tables, &sizes, to);
}

bool floe_interp_apart_find(encoder *e, uint64_t *napart)
{
    const floe_interp_bits apart = floe_interp_bits_of(e->chunk.plan.shape, e->apart);
    uint64_t nliterals = 0;
    memset(e->chunk.sets, 0, sizeof e->chunk.sets);
    *napart = floe_interp_bits_count(&apart);
    e->npalette = 0;
    if (*napart && e->params->has_fill)
        e->chunk.palette[e->npalette++] = e->params->fill_bits;
    for (floe_interp_member m = {.next = 0}; *napart && floe_interp_bits_next(&apart, &m);) {
        const uint64_t pattern = floe_interp_pattern_at(e, m.point);
        const uint32_t set = floe_interp_set_join(&e->chunk, e->params, pattern, &e->npalette);
        nliterals += set == FLOE_INTERP_LITERALS;
        e->chunk.sets[set].kind = FLOE_INTERP_SET_LIST; /* or a mask, as it turns out */
    }
    return nliterals <= floe_interp_literals_most(e->params, &e->chunk.plan, e->attempt);
}

void floe_interp_apart_write(encoder *e, floe_cursor *to)
{
    const uint8_t *base = to->at;
    for (uint32_t set = 0; set < FLOE_INTERP_SETS; set++) {
        if (set == FLOE_INTERP_NEGATIVE ? !e->chunk.log : e->chunk.sets[set].kind == FLOE_INTERP_SET_EMPTY)
            continue;
        const floe_interp_bits bits = pick(e, set);
        if (floe_interp_bits_count(&bits))
            write_set(e, &bits, &e->chunk.sets[set], base, to);
    }
    if (e->chunk.sets[FLOE_INTERP_LITERALS].kind == FLOE_INTERP_SET_EMPTY)
        return;
    const floe_interp_bits bits = pick(e, FLOE_INTERP_LITERALS); /* which were spoiled */
    for (floe_interp_member m = {.next = 0}; floe_interp_bits_next(&bits, &m);)
        floe_lattice_pattern_write(to, e->narrow, floe_interp_pattern_at(e, m.point));
}

void floe_interp_flat_make(encoder *e)
{
    uint64_t point[FLOE_LATTICE_RANK] = {0};
    e->chunk.kind = FLOE_LATTICE_FLAT;
    e->chunk.base = floe_interp_pattern_at(e, point);
    e->chunk.plan.nsteps = 0;
    memset(e->apart, 0, e->nbits * sizeof *e->apart);
    memset(e->found, 0, e->cpu->threads * sizeof *e->found);
    do {
        if (floe_interp_pattern_at(e, point) != e->chunk.base)
            put_bit(e, e->apart, point);
    } while (floe_lattice_next_point(e->chunk.plan.shape, point));
}
