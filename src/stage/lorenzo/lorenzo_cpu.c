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

enum { ACROSS_LINE = 32, ACROSS_PLANE = 32, ACROSS_VOLUME = 8 }; /* groups along x */

/* ---- in-plane differences ------------------------------------------------------------------------------------------ */

ALWAYS_INLINE void row_along_x(const floe_uint *q, uint32_t nx, floe_uint *p)
{
    for (uint32_t x = 1; x < nx; x++)
        p[x] = q[x] - q[x - 1];
}

/* p of one plane; p[0] is left to the caller. */
ALWAYS_INLINE void plane_differences(const floe_uint *restrict q, uint32_t mode, uint32_t ny, uint32_t nx,
                                     floe_uint base, floe_uint *restrict p)
{
    if (mode == FLOE_LORENZO_NONE) {
        for (uint32_t i = 0; i < ny * nx; i++)
            p[i] = q[i] - base;
        return;
    }
    row_along_x(q, nx, p);
    for (uint32_t y = 1; y < ny; y++) {
        const floe_uint *row = q + y * nx, *above = row - nx;
        floe_uint *out = p + y * nx;
        out[0] = row[0] - above[0];
        if (mode == FLOE_LORENZO_XY)
            for (uint32_t x = 1; x < nx; x++)
                out[x] = (row[x] - row[x - 1]) - (above[x] - above[x - 1]);
        else if (mode == FLOE_LORENZO_X)
            row_along_x(row, nx, out);
        else
            for (uint32_t x = 1; x < nx; x++)
                out[x] = row[x] - above[x];
    }
}

/* ---- encode -------------------------------------------------------------------------------------------------------- */

/* Both candidates of every value of a step: p itself, and its difference along z. Zigzag, in plane order. */
typedef struct candidates {
    floe_uint flat[FLOE_STEP_VALUES];
    floe_uint deep[FLOE_STEP_VALUES];
} candidates;

ALWAYS_INLINE void step_candidates(FLOE_R(floe_lorenzo) * walk, uint32_t nz, const floe_uint *q, floe_tile_geometry g,
                                   candidates *c)
{
    const uint32_t area = g.step_y * g.step_x;
    floe_uint p[FLOE_STEP_VALUES];
    for (uint32_t z = 0; z < nz; z++) {
        const floe_uint *plane = q + z * area;
        plane_differences(plane, walk->mode, g.step_y, g.step_x, (floe_uint)walk->base, p);
        p[0] = plane[0] - (floe_uint)walk->corner;
        walk->before[0] = 0; /* the first value is along z already */
        floe_uint *flat = c->flat + z * area, *deep = c->deep + z * area;
        for (uint32_t i = 0; i < area; i++) {
            flat[i] = FLOE_R(floe_zigzag)(p[i]);
            deep[i] = FLOE_R(floe_zigzag)(p[i] - walk->before[i]);
            walk->before[i] = p[i];
        }
        walk->corner = (floe_int)(walk->rank == 1 ? plane[area - 1] : plane[0]);
    }
}

/* Residuals outside the field are 0. */
static void clear_outside(const floe_step_box *box, floe_tile_geometry g, floe_uint *r)
{
    for (uint32_t z = 0; z < g.step_z; z++)
        for (uint32_t y = 0; y < g.step_y; y++) {
            uint32_t inside = z < box->nz && y < box->ny ? box->nx : 0;
            memset(r + (z * g.step_y + y) * g.step_x + inside, 0, (g.step_x - inside) * sizeof *r);
        }
}

/* What decides between the candidates of a group. */
typedef struct group_cost {
    floe_uint bits, sum; /* or of all residuals; sum of all, each capped */
} group_cost;

ALWAYS_INLINE group_cost cost_of(const floe_uint *r, floe_tile_geometry g)
{
    group_cost cost = {0, 0};
    for (uint32_t z = 0; z < g.group_z; z++)
        for (uint32_t y = 0; y < g.group_y; y++)
            for (uint32_t x = 0; x < g.group_x; x++) {
                floe_uint u = r[(z * g.step_y + y) * g.step_x + x];
                cost.bits |= u;
                cost.sum += u < FLOE_LORENZO_CAP ? u : FLOE_LORENZO_CAP;
            }
    return cost;
}

static uint8_t width_of(floe_uint bits)
{
    if (bits == 0)
        return 0;
#if FLOE_REAL_BITS == 32
    return (uint8_t)(32 - __builtin_clz(bits));
#else
    return (uint8_t)(64 - __builtin_clzll(bits));
#endif
}

/* Flat only where that is narrower, or as narrow and smaller in sum. */
static int prefers_flat(group_cost flat, group_cost deep)
{
    uint8_t f = width_of(flat.bits), d = width_of(deep.bits);
    return f < d || (f == d && flat.sum < deep.sum);
}

ALWAYS_INLINE const floe_uint *group_at(const floe_uint *r, floe_tile_geometry g, uint32_t group)
{
    uint32_t across = g.step_x / g.group_x;
    return r + (group / across) * g.group_y * g.step_x + (group % across) * g.group_x;
}

ALWAYS_INLINE void gather_group(const floe_uint *r, floe_tile_geometry g, floe_uint *out)
{
    for (uint32_t z = 0; z < g.group_z; z++)
        for (uint32_t y = 0; y < g.group_y; y++)
            memcpy(out + (z * g.group_y + y) * g.group_x, r + (z * g.step_y + y) * g.step_x, g.group_x * sizeof *r);
}

ALWAYS_INLINE void encode_step(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_int *q,
                               floe_tile_geometry g, floe_step *step)
{
    candidates c;
    step_candidates(walk, box->nz, (const floe_uint *)q, g, &c);
    if (!box->full) {
        clear_outside(box, g, c.flat);
        clear_outside(box, g, c.deep);
    }
    step->present = floe_step_present(&g, box);
    step->flat = 0;
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        const floe_uint *flat_at = group_at(c.flat, g, group), *deep_at = group_at(c.deep, g, group);
        group_cost flat = cost_of(flat_at, g), deep = cost_of(deep_at, g);
        int is_flat = prefers_flat(flat, deep);
        step->flat |= (uint32_t)is_flat << group;
        step->width[group] = width_of(is_flat ? flat.bits : deep.bits);
        gather_group(is_flat ? flat_at : deep_at, g, step->residual[group]);
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
    case 1: encode_step(walk, box, q, floe_tile_geometry_of(1), step); break;
    case 2: encode_step(walk, box, q, floe_tile_geometry_of(2), step); break;
    default: encode_step(walk, box, q, floe_tile_geometry_of(3), step); break;
    }
}

/* ---- choice of the mode -------------------------------------------------------------------------------------------- */

/* About 8 times the bits a value that a mode needs, summed over the groups of the step. */
ALWAYS_INLINE uint32_t mode_cost(uint32_t rank, uint32_t mode, const floe_step_box *box, const floe_int *q)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    FLOE_R(floe_lorenzo) walk;
    candidates c;
    FLOE_V(floe_lorenzo_begin)(&walk, rank, mode, q[0]);
    step_candidates(&walk, box->nz, (const floe_uint *)q, g, &c);
    if (!box->full) {
        clear_outside(box, g, c.flat);
        clear_outside(box, g, c.deep);
    }
    uint32_t cost = 0;
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        group_cost flat = cost_of(group_at(c.flat, g, group), g), deep = cost_of(group_at(c.deep, g, group), g);
        floe_uint least = flat.sum < deep.sum ? flat.sum : deep.sum;
        cost += floe_log2_eighths((uint64_t)least + FLOE_GROUP_VALUES);
    }
    return cost;
}

uint32_t FLOE_V(floe_lorenzo_choose)(uint32_t rank, const floe_step_box *box, const floe_int *q)
{
    /* With y = 1 throughout, XY and X are one mode, and so are Y and X. */
    static const uint32_t order[FLOE_LORENZO_MODES] = {FLOE_LORENZO_XY, FLOE_LORENZO_X, FLOE_LORENZO_Y,
                                                       FLOE_LORENZO_NONE};
    uint32_t best = rank == 3 ? FLOE_LORENZO_XY : FLOE_LORENZO_X, least = UINT32_MAX;
    for (uint32_t i = 0; i < FLOE_LORENZO_MODES; i++) {
        if (rank < 3 && (order[i] == FLOE_LORENZO_XY || order[i] == FLOE_LORENZO_Y))
            continue;
        uint32_t cost = rank == 1   ? mode_cost(1, order[i], box, q)
                        : rank == 2 ? mode_cost(2, order[i], box, q)
                                    : mode_cost(3, order[i], box, q);
        if (cost < least) {
            least = cost;
            best = order[i];
        }
    }
    return best;
}

/* ---- decode -------------------------------------------------------------------------------------------------------- */

/* Residuals of all groups, zigzag undone, in plane order. */
ALWAYS_INLINE void scatter_groups(const floe_step *step, floe_tile_geometry g, floe_uint *r)
{
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        const floe_uint *in = step->residual[group];
        floe_uint *out = r + (group_at(r, g, group) - r);
        for (uint32_t z = 0; z < g.group_z; z++)
            for (uint32_t y = 0; y < g.group_y; y++)
                for (uint32_t x = 0; x < g.group_x; x++)
                    out[(z * g.step_y + y) * g.step_x + x] =
                        FLOE_R(floe_unzigzag)(in[(z * g.group_y + y) * g.group_x + x]);
    }
}

/* The p of the plane before, where a group is not flat. */
ALWAYS_INLINE void add_before(floe_uint *p, const floe_uint *before, uint32_t flat, floe_tile_geometry g)
{
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
                               floe_tile_geometry g, floe_int *q)
{
    const uint32_t area = g.step_y * g.step_x;
    floe_uint *all = (floe_uint *)q;
    scatter_groups(step, g, all);
    for (uint32_t z = 0; z < box->nz; z++) {
        floe_uint *p = all + z * area;
        walk->before[0] = 0;
        add_before(p, walk->before, step->flat, g);
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
    case 1: decode_step(walk, box, step, floe_tile_geometry_of(1), q); break;
    case 2: decode_step(walk, box, step, floe_tile_geometry_of(2), q); break;
    default: decode_step(walk, box, step, floe_tile_geometry_of(3), q); break;
    }
}
