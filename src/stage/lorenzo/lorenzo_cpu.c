/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a CPU walks a tile. Each function is written for a rank, with the three ranks as constants at the calls, so that all
 * extents are constants too and the loops unroll.
 */
#include "stage/lorenzo/lorenzo.h"

#if FLOE_AVX2
#include <immintrin.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */
#endif

/* ---- vectors ------------------------------------------------------------------------------------------------------- */

/* Vectors of the compiler (GCC and clang): one source for both element types and all instruction sets. */
enum { LANES = 32 / sizeof(floe_uint) };
typedef floe_uint vec __attribute__((vector_size(32)));
typedef floe_int ivec __attribute__((vector_size(32)));

FLOE_INLINE vec load(const floe_uint *p)
{
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}

FLOE_INLINE void store(floe_uint *p, vec v) { memcpy(p, &v, sizeof v); }

FLOE_INLINE vec zigzag(vec r) { return (r << 1) ^ (vec)((ivec)r >> (FLOE_REAL_BITS - 1)); }

/* min(u, FLOE_LORENZO_CAP) */
FLOE_INLINE vec capped(vec u)
{
#if FLOE_AVX2 && FLOE_REAL_BITS == 32
    return (vec)_mm256_min_epu32((__m256i)u, _mm256_set1_epi32((int)FLOE_LORENZO_CAP));
#else
    vec small = (vec)(u < FLOE_LORENZO_CAP);
    return (u & small) | (FLOE_LORENZO_CAP & ~small);
#endif
}

/* run with these arguments, and rank and mode as constants. Tiles of fewer axes than three have no other modes than two; the
 * codec refuses others. */
#define BY_MODE(run, rank, mode, ...)                                                    \
    ((rank) == 3 && (mode) == FLOE_LORENZO_XY  ? run(__VA_ARGS__, rank, FLOE_LORENZO_XY) \
     : (rank) == 3 && (mode) == FLOE_LORENZO_Y ? run(__VA_ARGS__, rank, FLOE_LORENZO_Y)  \
     : (mode) == FLOE_LORENZO_X                ? run(__VA_ARGS__, rank, FLOE_LORENZO_X)  \
                                               : run(__VA_ARGS__, rank, FLOE_LORENZO_NONE))

/* ---- candidates ---------------------------------------------------------------------------------------------------- */

enum { BLOCK_ROWS = 8 }; /* rows of a group, in all planes of a step: 1 or 8 */

/* A block is LANES columns of a row of groups. Of each value both candidates: p itself ("flat") and its difference along
 * z ("deep"), zigzag; and for each column what decides between them: the or of the candidates, the sum of each capped. */
typedef struct block {
    floe_uint candidate[2][BLOCK_ROWS][LANES]; /* deep, flat */
    floe_uint bits[2][LANES], sum[2][LANES];
} block;

/* p of LANES values of a row; `first` stands in for the first one of the row, which the formula does not fit. row[-1] is
 * read but not used. */
FLOE_INLINE vec differences(const floe_uint *row, const floe_uint *above, uint32_t mode, floe_uint base, uint32_t x,
                            floe_uint first)
{
    vec p;
    if (mode == FLOE_LORENZO_NONE)
        p = load(row + x) - base;
    else if (mode == FLOE_LORENZO_X)
        p = load(row + x) - load(row + x - 1);
    else if (mode == FLOE_LORENZO_Y)
        p = load(row + x) - load(above + x);
    else
        p = (load(row + x) - load(row + x - 1)) - (load(above + x) - load(above + x - 1));
    if (x == 0)
        p[0] = first;
    return p;
}

/* All ones in the lanes below `inside`. */
FLOE_INLINE vec lanes_below(uint32_t inside)
{
    vec lane;
    for (uint32_t i = 0; i < LANES; i++)
        lane[i] = i;
    return (vec)(lane < inside);
}

/* The rows of one row of groups, at column x. keep: candidates and bits; sums: sums. */
FLOE_INLINE void fill_block(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_uint *q,
                            const floe_int *corners, uint32_t rank, uint32_t mode, uint32_t band, uint32_t x, bool keep,
                            bool sums, block *b)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    const floe_uint base = (floe_uint)walk->base;
    const uint32_t area = g.step_y * g.step_x;
    vec bits[2] = {{0}, {0}}, sum[2] = {{0}, {0}}, outside = {0};
    if (!box->full)
        outside = ~lanes_below(box->nx > x ? box->nx - x : 0);
    for (uint32_t z = 0; z < g.group_z; z++)
        for (uint32_t dy = 0; dy < g.group_y; dy++) {
            const uint32_t y = band * g.group_y + dy, at = y * g.step_x, out = z * g.group_y + dy;
            if (!box->full && (z >= box->nz || y >= box->ny)) { /* residuals outside the field are 0 */
                store(b->candidate[0][out], (vec){0});
                store(b->candidate[1][out], (vec){0});
                continue;
            }
            const floe_uint *row = q + z * area + at, *above = row - g.step_x;
            floe_uint first = y == 0                      ? row[0] - (floe_uint)corners[z]
                              : mode == FLOE_LORENZO_NONE ? row[0] - base
                                                          : row[0] - above[0];
            uint32_t here = y == 0 && mode != FLOE_LORENZO_NONE ? FLOE_LORENZO_X : mode;
            vec p = differences(row, above, here, base, x, first) & ~outside;
            vec before = load(walk->before + at + x) & ~outside;
            if (y == 0 && x == 0)
                before[0] = 0; /* the first value of a plane is predicted along z already */
            store(walk->before + at + x, p);
            vec deep = zigzag((p - before) & ~outside), flat = zigzag(p); /* rank 1: before may reach further than p */
            if (keep) {
                store(b->candidate[0][out], deep);
                store(b->candidate[1][out], flat);
                bits[0] |= deep;
                bits[1] |= flat;
            }
            if (sums) {
                sum[0] += capped(deep);
                sum[1] += capped(flat);
            }
        }
    for (int i = 0; i < 2; i++) {
        store(b->bits[i], bits[i]);
        store(b->sum[i], sum[i]);
    }
}

/* What decides between the candidates of a group: deep, flat. */
typedef struct group_cost {
    floe_uint bits[2], sum[2];
} group_cost;

FLOE_INLINE void add_columns(group_cost *cost, const block *b, uint32_t from, uint32_t n)
{
    for (int i = 0; i < 2; i++)
        for (uint32_t x = from; x < from + n; x++) {
            cost->bits[i] |= b->bits[i][x];
            cost->sum[i] += b->sum[i][x];
        }
}

/* The costs of the groups of a block whose groups are 4 columns wide. */
FLOE_INLINE void costs_of_block(const block *b, group_cost *cost)
{
    for (uint32_t i = 0; i < LANES / 4; i++) {
        cost[i] = (group_cost){{0, 0}, {0, 0}};
        add_columns(&cost[i], b, 4 * i, 4);
    }
}

static uint32_t width_of(floe_uint bits)
{
#if FLOE_REAL_BITS == 32
    return floe_top_bit((uint64_t)bits << 1 | 1); /* no branch for 0 */
#else
    return bits ? 1 + floe_top_bit(bits) : 0;
#endif
}

/* ---- encode -------------------------------------------------------------------------------------------------------- */

/* Chooses for a group. Returns the candidate: 0 deep, 1 flat. */
FLOE_INLINE uint32_t choose_candidate(const group_cost *cost, uint32_t group, floe_step *step)
{
    uint32_t deep = width_of(cost->bits[0]), flat = width_of(cost->bits[1]);
    /* flat only where that is narrower, or as narrow and smaller in sum; sums that nobody requested are 0 */
    uint32_t choice = (flat < deep) | ((flat == deep) & (cost->sum[1] < cost->sum[0]));
    step->flat |= choice << group;
    step->width[group] = (uint8_t)(choice ? flat : deep);
    return choice;
}

/* The value that predicts the first one of each plane; leaves the one for the next step. */
FLOE_INLINE void find_corners(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_uint *q, uint32_t rank,
                              floe_int *corners)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    const uint32_t area = g.step_y * g.step_x;
    for (uint32_t z = 0; z < box->nz; z++) {
        corners[z] = walk->corner;
        walk->corner = (floe_int)q[z * area + (rank == 1 ? area - 1 : 0)];
    }
}

/* Groups of 4 columns: LANES / 4 of them in a block. */
FLOE_INLINE void encode_blocks(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_uint *q,
                               const floe_int *corners, uint32_t rank, uint32_t mode, bool by_sum, floe_step *step)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    uint32_t group = 0;
    for (uint32_t band = 0; band < g.step_y / g.group_y; band++)
        for (uint32_t x = 0; x < g.step_x; x += LANES) {
            block b;
            group_cost cost[LANES / 4];
            fill_block(walk, box, q, corners, rank, mode, band, x, true, by_sum, &b);
            costs_of_block(&b, cost);
            for (uint32_t i = 0; i < LANES / 4; i++, group++) {
                uint32_t choice = choose_candidate(&cost[i], group, step);
                for (uint32_t r = 0; r < BLOCK_ROWS; r++)
                    memcpy(&step->residual[group][4 * r], &b.candidate[choice][r][4 * i], 4 * sizeof(floe_uint));
            }
        }
}

/* Rank 1: a group is a row of several blocks. */
FLOE_INLINE void encode_line(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_uint *q,
                             const floe_int *corners, uint32_t mode, bool by_sum, floe_step *step)
{
    enum { BLOCKS = FLOE_GROUP_VALUES / LANES };
    for (uint32_t group = 0; group < FLOE_STEP_GROUPS; group++) {
        block b[BLOCKS];
        group_cost cost = {{0, 0}, {0, 0}};
        for (uint32_t i = 0; i < BLOCKS; i++) {
            fill_block(walk, box, q, corners, 1, mode, 0, group * FLOE_GROUP_VALUES + i * LANES, true, by_sum, &b[i]);
            add_columns(&cost, &b[i], 0, LANES);
        }
        uint32_t choice = choose_candidate(&cost, group, step);
        for (uint32_t i = 0; i < BLOCKS; i++)
            memcpy(&step->residual[group][i * LANES], b[i].candidate[choice][0], LANES * sizeof(floe_uint));
    }
}

FLOE_INLINE void encode_step(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_uint *q, bool by_sum,
                             floe_step *step, uint32_t rank, uint32_t mode)
{
    floe_int corners[BLOCK_ROWS];
    find_corners(walk, box, q, rank, corners);
    step->flat = 0;
    if (rank == 1)
        encode_line(walk, box, q, corners, mode, by_sum, step);
    else
        encode_blocks(walk, box, q, corners, rank, mode, by_sum, step);
}

/* A function for each rank and by_sum: in one, passes of the compiler that grow with its square take most of the time. */
#define ENCODE(name, rank, by_sum)                                                                    \
    static __attribute__((noinline)) void name(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, \
                                               const floe_uint *q, floe_step *step)                   \
    {                                                                                                 \
        BY_MODE(encode_step, rank, walk->mode, walk, box, q, by_sum, step);                           \
    }
ENCODE(encode_line_by_width, 1, false)
ENCODE(encode_line_by_sum, 1, true)
ENCODE(encode_plane_by_width, 2, false)
ENCODE(encode_plane_by_sum, 2, true)
ENCODE(encode_box_by_width, 3, false)
ENCODE(encode_box_by_sum, 3, true)

void FLOE_V(floe_lorenzo_begin)(FLOE_R(floe_lorenzo) * walk, uint32_t rank, uint32_t mode, floe_int base, bool by_sum)
{
    walk->rank = rank;
    walk->mode = mode;
    walk->base = base;
    walk->corner = base;
    walk->by_sum = by_sum;
    memset(walk->before, 0, sizeof walk->before);
}

void FLOE_V(floe_lorenzo_encode_step)(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_int *q,
                                      floe_step *step)
{
    const floe_tile_geometry g = floe_tile_geometry_of(walk->rank);
    step->present = floe_step_present(&g, box);
    const floe_uint *values = (const floe_uint *)q;
    switch (walk->rank) {
    case 1: (walk->by_sum ? encode_line_by_sum : encode_line_by_width)(walk, box, values, step); break;
    case 2: (walk->by_sum ? encode_plane_by_sum : encode_plane_by_width)(walk, box, values, step); break;
    default: (walk->by_sum ? encode_box_by_sum : encode_box_by_width)(walk, box, values, step); break;
    }
}

/* ---- choice of the mode -------------------------------------------------------------------------------------------- */

/* About 8 times the bits a value that a mode needs, summed over the groups of the step. */
FLOE_INLINE uint32_t mode_cost(const floe_step_box *box, const floe_uint *q, uint32_t rank, uint32_t mode)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    const uint32_t groups = rank == 1 ? 1 : LANES / 4, columns = rank == 1 ? g.group_x : LANES; /* at a time */
    FLOE_R(floe_lorenzo) walk;
    floe_int corners[BLOCK_ROWS];
    uint32_t total = 0;
    FLOE_V(floe_lorenzo_begin)(&walk, rank, mode, (floe_int)q[0], true);
    find_corners(&walk, box, q, rank, corners);
    for (uint32_t band = 0; band < g.step_y / g.group_y; band++)
        for (uint32_t x = 0; x < g.step_x; x += columns) {
            group_cost cost[LANES / 4] = {{{0, 0}, {0, 0}}};
            block b;
            for (uint32_t i = 0; i < columns; i += LANES) {
                fill_block(&walk, box, q, corners, rank, mode, band, x + i, false, true, &b);
                if (rank == 1)
                    add_columns(cost, &b, 0, LANES);
            }
            if (rank != 1)
                costs_of_block(&b, cost);
            for (uint32_t k = 0; k < groups; k++) {
                floe_uint least = cost[k].sum[0] < cost[k].sum[1] ? cost[k].sum[0] : cost[k].sum[1];
                total += floe_log2_eighths((uint64_t)least + FLOE_GROUP_VALUES);
            }
        }
    return total;
}

uint32_t FLOE_V(floe_lorenzo_choose)(uint32_t rank, const floe_step_box *box, const floe_int *q)
{
    /* With y = 1 throughout, XY is X and Y is X as well. */
    const floe_uint *values = (const floe_uint *)q;
    uint32_t best = rank == 3 ? FLOE_LORENZO_XY : FLOE_LORENZO_X, least = UINT32_MAX;
    for (uint32_t mode = best; mode < FLOE_LORENZO_MODES; mode += rank == 3 ? 1 : 2) {
        uint32_t cost = rank == 1   ? BY_MODE(mode_cost, 1, mode, box, values)
                        : rank == 2 ? BY_MODE(mode_cost, 2, mode, box, values)
                                    : BY_MODE(mode_cost, 3, mode, box, values);
        if (cost < least) {
            least = cost;
            best = mode;
        }
    }
    return best;
}

/* ---- decode -------------------------------------------------------------------------------------------------------- */

/* Running sums of the lanes, on top of *carry (the same in all lanes), which becomes the last sum. */
FLOE_INLINE vec running_sums(vec v, vec *carry)
{
#if FLOE_AVX2 && FLOE_REAL_BITS == 32
    __m256i sums = (__m256i)v;
    sums = _mm256_add_epi32(sums, _mm256_slli_si256(sums, 4));
    sums =
        _mm256_add_epi32(sums, _mm256_slli_si256(sums, 8)); /* in each half; then the low half's sum to the high one */
    __m256i low = _mm256_shuffle_epi32(_mm256_permute2x128_si256(sums, sums, 0x08), 0xFF);
    v = (vec)_mm256_add_epi32(sums, low) + *carry;
    *carry = (vec)_mm256_permutevar8x32_epi32((__m256i)v, _mm256_set1_epi32(7));
#elif FLOE_AVX2
    __m256i sums = (__m256i)v;
    sums = _mm256_add_epi64(sums, _mm256_slli_si256(sums, 8));
    __m256i low = _mm256_permute2x128_si256(sums, sums, 0x08);
    v = (vec)_mm256_add_epi64(sums, _mm256_unpackhi_epi64(low, low)) + *carry;
    *carry = (vec)_mm256_permute4x64_epi64((__m256i)v, 0xFF);
#else
    floe_uint sum = (*carry)[0];
    for (uint32_t i = 0; i < LANES; i++)
        v[i] = sum += v[i];
    *carry = (vec){0} + sum;
#endif
    return v;
}

FLOE_INLINE vec unzigzag(vec u) { return (u >> 1) ^ -(u & 1); }

/* Where a row of values lies inside its groups. */
typedef struct row_place {
    uint32_t group; /* of the row's first value */
    uint32_t at;    /* of that value in its group */
} row_place;

/* LANES residuals of a row from column x on, and which of them have no plane before them: all ones where flat. */
FLOE_INLINE vec row_residuals(const floe_step *step, row_place place, uint32_t rank, uint32_t x, vec *flat)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    vec r;
    if (rank == 1 || LANES == 4) { /* all of one group */
        uint32_t group = place.group + x / g.group_x;
        memcpy(&r, &step->residual[group][place.at + x % g.group_x], sizeof r);
        *flat = (vec){0} - (floe_uint)(step->flat >> group & 1);
        return unzigzag(r);
    }
    const uint32_t group = place.group + x / 4;
    const floe_uint *left = &step->residual[group][place.at], *right = &step->residual[group + 1][place.at];
    const floe_uint first = (floe_uint)0 - (step->flat >> group & 1),
                    last = (floe_uint)0 - (step->flat >> (group + 1) & 1);
#if FLOE_AVX2 && FLOE_REAL_BITS == 32 /* not through memory: a load of two stores waits for both */
    r = (vec)_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)left)),
                                     _mm_loadu_si128((const __m128i *)right), 1);
    *flat = (vec)_mm256_inserti128_si256(_mm256_set1_epi32((int)first), _mm_set1_epi32((int)last), 1);
#else
    for (uint32_t i = 0; i < LANES; i++) {
        r[i] = i < 4 ? left[i] : right[i - 4];
        (*flat)[i] = i < 4 ? first : last;
    }
#endif
    return unzigzag(r);
}

/* One row: residuals -> p (kept in before) -> q. column: the sums along y so far, where the mode has them. */
FLOE_INLINE void decode_row(const floe_step *step, row_place place, uint32_t rank, uint32_t mode, bool any_flat,
                            bool is_first, floe_uint first, floe_uint base, floe_uint *before, floe_uint *column,
                            floe_uint *q)
{
    const uint32_t nx = floe_tile_geometry_of(rank).step_x;
    const bool along_x = mode == FLOE_LORENZO_XY || mode == FLOE_LORENZO_X || (mode == FLOE_LORENZO_Y && is_first);
    vec carry = {0};
    for (uint32_t x = 0; x < nx; x += LANES) {
        vec flat, p = row_residuals(step, place, rank, x, &flat), last = load(before + x);
        p += any_flat ? last & ~flat : last;
        store(before + x, p);
        if (x == 0 && (is_first || mode == FLOE_LORENZO_X))
            p[0] += first;
        if (mode == FLOE_LORENZO_XY || (mode == FLOE_LORENZO_Y && !is_first)) {
            p += load(column + x);
            store(column + x, p);
        }
        if (along_x)
            p = running_sums(p, &carry);
        if (mode == FLOE_LORENZO_NONE) {
            p += base;
            if (x == 0 && is_first)
                p[0] -= base; /* the corner stands for itself */
        }
        if (mode == FLOE_LORENZO_Y && is_first)
            store(column + x, p);
        store(q + x, p);
    }
}

FLOE_INLINE void decode_step(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_step *step,
                             bool any_flat, floe_uint *q, uint32_t rank, uint32_t mode)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    const floe_uint base = (floe_uint)walk->base;
    floe_uint column[32];
    for (uint32_t z = 0; z < box->nz; z++) {
        floe_uint *plane = q + z * g.step_y * g.step_x;
        row_place place = {0, z * g.group_y * g.group_x};
        walk->before[0] = 0;
        if (mode == FLOE_LORENZO_XY)
            memset(column, 0, sizeof column);
        decode_row(step, place, rank, mode, any_flat, true, (floe_uint)walk->corner, base, walk->before, column, plane);
        for (uint32_t y = 1; y < g.step_y; y++) {
            uint32_t at = y * g.step_x;
            place.group = y / g.group_y * (g.step_x / g.group_x);
            place.at = (z * g.group_y + y % g.group_y) * g.group_x;
            decode_row(step, place, rank, mode, any_flat, false, plane[at - g.step_x], base, walk->before + at, column,
                       plane + at);
        }
        walk->corner = (floe_int)plane[rank == 1 ? g.step_x - 1 : 0];
    }
}

void FLOE_V(floe_lorenzo_decode_step)(FLOE_R(floe_lorenzo) * walk, const floe_step_box *box, const floe_step *step,
                                      floe_int *q)
{
    floe_uint *values = (floe_uint *)q;
    bool any_flat = step->flat != 0;
    switch (walk->rank) {
    case 1: BY_MODE(decode_step, 1, walk->mode, walk, box, step, any_flat, values); break;
    case 2: BY_MODE(decode_step, 2, walk->mode, walk, box, step, any_flat, values); break;
    default: BY_MODE(decode_step, 3, walk->mode, walk, box, step, any_flat, values); break;
    }
}
