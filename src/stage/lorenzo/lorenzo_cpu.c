/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a CPU walks a tile. Everything is done a plane at a time in arrays of constant size, so that the compiler unrolls and
 * vectorizes: each function is written for a geometry, and the three geometries are constants at the calls.
 */
#include "stage/lorenzo/lorenzo.h"

#if FLOE_AVX2
#include <immintrin.h>
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* ---- encode -------------------------------------------------------------------------------------------------------- */

/* Both candidates of every value of a step, zigzag, in plane order: p itself and its difference along z. And, for each
 * column of a row of groups, what decides between them: the or of the candidates and the sum, each value capped. */
typedef struct candidates {
    floe_uint flat[FLOE_STEP_VALUES], deep[FLOE_STEP_VALUES];
    floe_uint flat_bits[FLOE_STEP_VALUES], deep_bits[FLOE_STEP_VALUES];
    floe_uint flat_sum[FLOE_STEP_VALUES], deep_sum[FLOE_STEP_VALUES];
} candidates;

/*
 * One row: p by the mode, both candidates, and what they add to their columns. `first` is p of the row's first value, which
 * the formula of the others does not fit. Everything in one loop without stores that the next load would have to wait for;
 * row[-1] is read but not used. Without `keep` only the sums are taken.
 */
ALWAYS_INLINE void row_candidates(const floe_uint *restrict row, const floe_uint *restrict above, uint32_t mode,
                                  floe_uint base, floe_uint first, uint32_t nx, uint32_t inside,
                                  floe_uint *restrict before, candidates *restrict c, uint32_t at, uint32_t column,
                                  bool keep)
{
    floe_uint *flat = c->flat + at, *flat_bits = c->flat_bits + column, *flat_sum = c->flat_sum + column;
    floe_uint *deep = c->deep + at, *deep_bits = c->deep_bits + column, *deep_sum = c->deep_sum + column;
    for (uint32_t x = 0; x < nx; x++) {
        floe_uint p = mode == FLOE_LORENZO_NONE ? row[x] - base
                      : mode == FLOE_LORENZO_X  ? row[x] - row[(int)x - 1]
                      : mode == FLOE_LORENZO_Y  ? row[x] - above[x]
                                                : (row[x] - row[(int)x - 1]) - (above[x] - above[(int)x - 1]);
        p = x == 0 ? first : p;
        p = x < inside ? p : 0;
        floe_uint f = FLOE_R(floe_zigzag)(p), d = FLOE_R(floe_zigzag)(p - before[x]);
        before[x] = p;
        if (keep) {
            flat[x] = f;
            deep[x] = d;
            flat_bits[x] |= f;
            deep_bits[x] |= d;
        }
        flat_sum[x] += f < FLOE_LORENZO_CAP ? f : FLOE_LORENZO_CAP;
        deep_sum[x] += d < FLOE_LORENZO_CAP ? d : FLOE_LORENZO_CAP;
    }
}

ALWAYS_INLINE void plane_candidates(FLOE_R(floe_lorenzo) * walk, uint32_t mode, const floe_step_box *box,
                                    const floe_uint *plane, uint32_t z, uint32_t rank, candidates *c, bool keep)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    const floe_uint base = (floe_uint)walk->base;
    const uint32_t nx = g.step_x, inside = box->full ? nx : box->nx;
    walk->before[0] = 0; /* the first value of a plane is predicted along z already */
    row_candidates(plane, plane, mode == FLOE_LORENZO_NONE ? mode : FLOE_LORENZO_X, base,
                   plane[0] - (floe_uint)walk->corner, nx, inside, walk->before, c, z * g.step_y * nx, 0, keep);
    for (uint32_t y = 1; y < box->ny; y++) {
        const floe_uint *row = plane + y * nx, *above = row - nx;
        floe_uint first = mode == FLOE_LORENZO_NONE ? row[0] - base : row[0] - above[0];
        row_candidates(row, above, mode, base, first, nx, inside, walk->before + y * nx, c, (z * g.step_y + y) * nx,
                       y / g.group_y * nx, keep);
    }
    walk->corner = (floe_int)(rank == 1 ? plane[nx - 1] : plane[0]);
}

ALWAYS_INLINE void step_candidates(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_uint *q,
                                   uint32_t rank, candidates *c, bool keep)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    const uint32_t area = g.step_y * g.step_x, columns = g.step_y / g.group_y * g.step_x;
    memset(c->flat_bits, 0, columns * sizeof *q);
    memset(c->deep_bits, 0, columns * sizeof *q);
    memset(c->flat_sum, 0, columns * sizeof *q);
    memset(c->deep_sum, 0, columns * sizeof *q);
    if (keep && !box->full) { /* residuals outside the field are 0 */
        memset(c->flat, 0, sizeof c->flat);
        memset(c->deep, 0, sizeof c->deep);
    }
    for (uint32_t z = 0; z < box->nz; z++, q += area)
        switch (walk->mode) {
        case FLOE_LORENZO_XY: plane_candidates(walk, FLOE_LORENZO_XY, box, q, z, rank, c, keep); break;
        case FLOE_LORENZO_X: plane_candidates(walk, FLOE_LORENZO_X, box, q, z, rank, c, keep); break;
        case FLOE_LORENZO_Y: plane_candidates(walk, FLOE_LORENZO_Y, box, q, z, rank, c, keep); break;
        default: plane_candidates(walk, FLOE_LORENZO_NONE, box, q, z, rank, c, keep); break;
        }
}

/* What decides between the candidates of a group. */
typedef struct group_cost {
    floe_uint flat_bits, deep_bits, flat_sum, deep_sum;
} group_cost;

ALWAYS_INLINE group_cost cost_of_group(const candidates *c, uint32_t rank, uint32_t group)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    group_cost cost = {0, 0, 0, 0};
    for (uint32_t x = group * g.group_x; x < (group + 1) * g.group_x; x++) {
        cost.flat_bits |= c->flat_bits[x];
        cost.deep_bits |= c->deep_bits[x];
        cost.flat_sum += c->flat_sum[x];
        cost.deep_sum += c->deep_sum[x];
    }
    return cost;
}

static uint8_t width_of(floe_uint bits) { return (uint8_t)(bits ? 1 + floe_top_bit(bits) : 0); }

ALWAYS_INLINE uint32_t group_offset(uint32_t rank, uint32_t group)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    uint32_t across = g.step_x / g.group_x;
    return group / across * g.group_y * g.step_x + group % across * g.group_x;
}

ALWAYS_INLINE void gather_group(const floe_uint *r, uint32_t rank, floe_uint *out)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    for (uint32_t z = 0; z < g.group_z; z++)
        for (uint32_t y = 0; y < g.group_y; y++)
            memcpy(out + (z * g.group_y + y) * g.group_x, r + (z * g.step_y + y) * g.step_x, g.group_x * sizeof *r);
}

ALWAYS_INLINE void encode_step(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_int *q, uint32_t rank,
                               floe_step *step)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    candidates c;
    step_candidates(walk, box, (const floe_uint *)q, rank, &c, true);
    step->present = floe_step_present(&g, box);
    step->flat = 0;
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        group_cost cost = cost_of_group(&c, rank, group);
        uint8_t flat = width_of(cost.flat_bits), deep = width_of(cost.deep_bits);
        /* flat only where that is narrower, or as narrow and smaller in sum */
        bool is_flat = flat < deep || (flat == deep && cost.flat_sum < cost.deep_sum);
        step->flat |= (uint32_t)is_flat << group;
        step->width[group] = is_flat ? flat : deep;
        gather_group((is_flat ? c.flat : c.deep) + group_offset(rank, group), rank, step->residual[group]);
    }
}

void FLOE_V(floe_lorenzo_begin)(FLOE_R(floe_lorenzo) * walk, uint32_t rank, uint32_t mode, floe_int base)
{
    walk->rank = rank;
    walk->mode = mode;
    walk->base = base;
    walk->corner = base;
    memset(walk->before, 0, sizeof walk->before);
}

void FLOE_V(floe_lorenzo_encode_step)(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_int *q,
                                      floe_step *step)
{
    switch (walk->rank) {
    case 1: encode_step(walk, box, q, 1, step); break;
    case 2: encode_step(walk, box, q, 2, step); break;
    default: encode_step(walk, box, q, 3, step); break;
    }
}

/* ---- choice of the mode -------------------------------------------------------------------------------------------- */

/* About 8 times the bits a value that a mode needs, summed over the groups of the step. */
ALWAYS_INLINE uint32_t mode_cost(uint32_t rank, uint32_t mode, const floe_step_box *box, const floe_int *q)
{
    FLOE_R(floe_lorenzo) walk;
    candidates c;
    FLOE_V(floe_lorenzo_begin)(&walk, rank, mode, q[0]);
    step_candidates(&walk, box, (const floe_uint *)q, rank, &c, false);
    uint32_t cost = 0;
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        group_cost sums = cost_of_group(&c, rank, group);
        floe_uint least = sums.flat_sum < sums.deep_sum ? sums.flat_sum : sums.deep_sum;
        cost += floe_log2_eighths((uint64_t)least + FLOE_GROUP_VALUES);
    }
    return cost;
}

uint32_t FLOE_V(floe_lorenzo_choose)(uint32_t rank, const floe_step_box *box, const floe_int *q)
{
    /* With y = 1 throughout, XY is X and Y is X as well. */
    uint32_t best = rank == 3 ? FLOE_LORENZO_XY : FLOE_LORENZO_X, least = UINT32_MAX;
    for (uint32_t mode = best; mode < FLOE_LORENZO_MODES; mode += rank == 3 ? 1 : 2) {
        uint32_t cost = rank == 1   ? mode_cost(1, mode, box, q)
                        : rank == 2 ? mode_cost(2, mode, box, q)
                                    : mode_cost(3, mode, box, q);
        if (cost < least) {
            least = cost;
            best = mode;
        }
    }
    return best;
}

/* ---- decode -------------------------------------------------------------------------------------------------------- */

/* Residuals of all groups, zigzag undone, in plane order. */
ALWAYS_INLINE void scatter_groups(const floe_step *step, uint32_t rank, floe_uint *r)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        const floe_uint *in = step->residual[group];
        floe_uint *out = r + group_offset(rank, group);
        for (uint32_t z = 0; z < g.group_z; z++)
            for (uint32_t y = 0; y < g.group_y; y++)
                for (uint32_t x = 0; x < g.group_x; x++)
                    out[(z * g.step_y + y) * g.step_x + x] =
                        FLOE_R(floe_unzigzag)(in[(z * g.group_y + y) * g.group_x + x]);
    }
}

/* The p of the plane before, where a group is not flat. */
ALWAYS_INLINE void add_before(floe_uint *p, const floe_uint *before, uint32_t flat, uint32_t rank)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    const uint32_t area = g.step_y * g.step_x;
    if (flat == 0) {
        for (uint32_t i = 0; i < area; i++)
            p[i] += before[i];
        return;
    }
    const uint32_t across = g.step_x / g.group_x;
    floe_uint keep[1024]; /* all ones where the group is not flat, along one row of groups */
    for (uint32_t gy = 0; gy < g.step_y / g.group_y; gy++) {
        uint32_t bits = flat >> (gy * across);
        for (uint32_t gx = 0; gx < across; gx++)
            for (uint32_t x = 0; x < g.group_x; x++)
                keep[gx * g.group_x + x] = (floe_uint)(bits >> gx & 1) - 1;
        for (uint32_t y = gy * g.group_y; y < (gy + 1) * g.group_y; y++)
            for (uint32_t x = 0; x < g.step_x; x++)
                p[y * g.step_x + x] += before[y * g.step_x + x] & keep[x];
    }
}

/* Running sums of a row, in place. */
ALWAYS_INLINE void scan_row(floe_uint *row, uint32_t n)
{
#if FLOE_AVX2 && FLOE_REAL_BITS == 32
    __m256i carry = _mm256_setzero_si256();
    for (uint32_t x = 0; x < n; x += 8) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(row + x));
        v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
        v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
        __m256i low = _mm256_shuffle_epi32(_mm256_permute2x128_si256(v, v, 0x08), 0xFF); /* low half's sum, high half */
        v = _mm256_add_epi32(_mm256_add_epi32(v, low), carry);
        carry = _mm256_permutevar8x32_epi32(v, _mm256_set1_epi32(7));
        _mm256_storeu_si256((__m256i *)(row + x), v);
    }
#elif FLOE_AVX2
    __m256i carry = _mm256_setzero_si256();
    for (uint32_t x = 0; x < n; x += 4) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(row + x));
        v = _mm256_add_epi64(v, _mm256_slli_si256(v, 8));
        __m256i low = _mm256_permute2x128_si256(v, v, 0x08);
        v = _mm256_add_epi64(_mm256_add_epi64(v, _mm256_unpackhi_epi64(low, low)), carry);
        carry = _mm256_permute4x64_epi64(v, 0xFF);
        _mm256_storeu_si256((__m256i *)(row + x), v);
    }
#else
    for (uint32_t x = 1; x < n; x++)
        row[x] += row[x - 1];
#endif
}

/* p, with the first value in p[0], -> q, in place. */
ALWAYS_INLINE void plane_sums(floe_uint *p, uint32_t mode, uint32_t ny, uint32_t nx, floe_uint base)
{
    if (mode == FLOE_LORENZO_NONE) {
        for (uint32_t i = 1; i < ny * nx; i++)
            p[i] += base;
        return;
    }
    if (mode == FLOE_LORENZO_Y)
        scan_row(p, nx);
    for (uint32_t y = 1; y < ny; y++) {
        floe_uint *row = p + y * nx, *above = row - nx;
        if (mode == FLOE_LORENZO_X)
            row[0] += above[0];
        else
            for (uint32_t x = 0; x < nx; x++)
                row[x] += above[x];
    }
    if (mode != FLOE_LORENZO_Y)
        for (uint32_t y = 0; y < ny; y++)
            scan_row(p + y * nx, nx);
}

ALWAYS_INLINE void decode_step(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_step *step,
                               uint32_t rank, floe_int *q)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    const uint32_t area = g.step_y * g.step_x;
    floe_uint *all = (floe_uint *)q;
    scatter_groups(step, rank, all);
    for (uint32_t z = 0; z < box->nz; z++) {
        floe_uint *p = all + z * area;
        walk->before[0] = 0;
        add_before(p, walk->before, step->flat, rank);
        memcpy(walk->before, p, area * sizeof *p);
        p[0] += (floe_uint)walk->corner;
        plane_sums(p, walk->mode, g.step_y, g.step_x, (floe_uint)walk->base);
        walk->corner = (floe_int)(walk->rank == 1 ? p[area - 1] : p[0]);
    }
}

void FLOE_V(floe_lorenzo_decode_step)(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_step *step,
                                      floe_int *q)
{
    switch (walk->rank) {
    case 1: decode_step(walk, box, step, 1, q); break;
    case 2: decode_step(walk, box, step, 2, q); break;
    default: decode_step(walk, box, step, 3, q); break;
    }
}
