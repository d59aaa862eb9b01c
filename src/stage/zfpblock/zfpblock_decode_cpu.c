/* SPDX-License-Identifier: BSD-3-Clause */
/* Bits -> blocks. Nothing that the bits say is believed: a block ends with maxbits, and a stream's end is read from a copy
 * that goes on with zeros. */
#include "stage/zfpblock/zfpblock_bits.h"
#include "stage/zfpblock/zfpblock_cpu.h"
#include "stage/zfpblock/zfpblock_four.h"
#include "stage/zfpblock/zfpblock_planes.h"
#include "stage/zfpblock/zfpblock_walk.h"
#include "stage/zfpblock/zfpblock_whole.h"

/* Reads the bits of one block. */
typedef struct reader {
    const uint8_t *src;
    uint64_t at;   /* the next bit */
    uint32_t left; /* bits that the block may still have */
    const floe_zfp_shuffles *shuffles;
    const zfp_four_planes *fours; /* one axis */
} reader;

/* n bits, at most 64; fewer where the block ends, then zeros. */
ALWAYS_INLINE uint64_t get(reader *r, uint32_t n)
{
    n = n < r->left ? n : r->left;
    const uint64_t v = floe_zfp_get(r->src, r->at, n);
    r->at += n;
    r->left -= n;
    return v;
}

/* Zeros in front of the next one bit, at most `most` (below 256). */
static uint32_t count_zeros(const reader *r, uint32_t most)
{
    most = most < r->left ? most : r->left;
    for (uint32_t zeros = 0; zeros < most; zeros += 56) {
        const uint64_t w = floe_zfp_window(r->src, r->at + zeros) & (((uint64_t)1 << 56) - 1);
        if (w)
            return (uint32_t)floe_min64(zeros + (uint32_t)__builtin_ctzll(w), most);
    }
    return most;
}

/* ---- planes ---------------------------------------------------------------------------------------------------------- */

/* The rest of a group behind its 1, where at most `most` more coefficients are zero. Returns how many are. */
static uint32_t get_group(reader *r, uint32_t most)
{
    const uint32_t zeros = count_zeros(r, most);
    const uint32_t nbits = zeros + (zeros < most && zeros < r->left);
    r->at += nbits;
    r->left -= nbits;
    return zeros;
}

/* The groups of a plane of `size` (up to 64) coefficients, of which *n are known. */
static uint64_t get_groups_slowly(reader *r, uint32_t *n, uint32_t size)
{
    uint64_t x = 0;
    while (*n < size && get(r, 1)) {
        *n += get_group(r, size - 1 - *n);
        x |= (uint64_t)1 << (*n)++;
    }
    return x;
}

/* The same where the block does not end before the plane: group after group from one window. */
ALWAYS_INLINE uint64_t get_groups(reader *r, uint32_t *known, uint32_t size)
{
    uint64_t x = 0, w = floe_zfp_window(r->src, r->at);
    uint32_t n = *known, used = 0, total = 0;
    while (n < size) {
        if (used > FLOE_ZFP_WINDOW / 2) {
            total += used;
            w = floe_zfp_window(r->src, r->at + total);
            used = 0;
        }
        if (!(w & 1)) {
            used++;
            break;
        }
        const uint32_t most = size - 1 - n, zeros = (uint32_t)__builtin_ctzll(w >> 1 | (uint64_t)1 << most);
        const uint32_t nbits = 1 + zeros + (zeros < most);
        if (used + nbits > FLOE_ZFP_WINDOW) { /* a long run of zeros */
            r->at += total + used;
            r->left -= total + used;
            *known = n;
            return x | get_groups_slowly(r, known, size);
        }
        used += nbits;
        w >>= nbits;
        n += zeros;
        x |= (uint64_t)1 << n++;
    }
    r->at += total + used;
    r->left -= total + used;
    *known = n;
    return x;
}

ALWAYS_INLINE uint64_t get_plane(reader *r, uint32_t *n, uint32_t size)
{
    if (r->left <= 2 * size)
        return get(r, *n) | get_groups_slowly(r, n, size);
    const uint64_t x = get(r, *n);
    return x | get_groups(r, n, size);
}

/* The same for the 256 coefficients of four axes. */
static void get_wide_plane(reader *r, uint32_t *n, floe_zfp_planes *planes, uint32_t k)
{
    for (uint32_t i = 0; i < FLOE_ZFP_PLANE_WORDS; i++)
        planes->plane[i][k] = 64 * i < *n ? get(r, *n - 64 * i < 64 ? *n - 64 * i : 64) : 0;
    while (*n < FLOE_ZFP_BLOCK_VALUES && get(r, 1)) {
        *n += get_group(r, FLOE_ZFP_BLOCK_VALUES - 1 - *n);
        planes->plane[*n / 64][k] |= (uint64_t)1 << *n % 64;
        ++*n;
    }
}

/* Planes of zeros at the top are one bit each. Returns the highest other one's number, and 1. */
ALWAYS_INLINE uint32_t skip_zeros(reader *r, uint32_t low)
{
    const uint32_t zeros = count_zeros(r, FLOE_REAL_BITS - low);
    r->at += zeros;
    r->left -= zeros;
    return FLOE_REAL_BITS - zeros;
}

/* One axis. */
ALWAYS_INLINE void get_four_planes(reader *r, uint32_t low, floe_uint *block)
{
    const uint32_t high = skip_zeros(r, low);
    uint32_t n;
    zfp_row v;
    uint32_t k = zfp_get_fours(r->src, &r->at, &r->left, &n, r->fours, low, high, &v);
    if (k > low && r->left) {
        const uint64_t known = get(r, n);
        v = zfp_four_below(v, known | get_groups_slowly(r, &n, ZFP_FOUR));
        k--;
    }
    if (!block)
        return;
    if (k < FLOE_REAL_BITS)
        v <<= k;
    memcpy(block, &v, sizeof v);
}

/* Up to `precision` planes -> coefficients in base -2, or nothing where block is NULL. */
ALWAYS_INLINE void get_planes(reader *r, uint32_t rank, uint32_t precision, floe_uint *block)
{
    const uint32_t low = precision < FLOE_REAL_BITS ? FLOE_REAL_BITS - precision : 0;
    if (rank == 1) {
        get_four_planes(r, low, block);
        return;
    }
    floe_zfp_planes planes;
    const uint32_t high = skip_zeros(r, low);
    uint32_t n = 0, k = high;
    while (k > low && r->left) {
        k--;
        if (rank == 4)
            get_wide_plane(r, &n, &planes, k);
        else
            planes.plane[0][k] = get_plane(r, &n, 1u << 2 * rank);
    }
    if (!block)
        return;
    for (uint32_t i = 0; 64 * i < 1u << 2 * rank; i++) {
        memset(planes.plane[i] + (k & ~7u), 0, (k & 7) * sizeof(uint64_t));
        memset(planes.plane[i] + high, 0, (-high & 7) * sizeof(uint64_t));
    }
    FLOE_V(floe_zfp_planes_join)(r->shuffles, &planes, rank, k, high, block);
}

/* ---- blocks ---------------------------------------------------------------------------------------------------------- */

ALWAYS_INLINE void from_negabinary(floe_uint *block, uint32_t rank)
{
    for (uint32_t i = 0; i < 1u << 2 * rank; i++)
        block[i] = FLOE_R(floe_zfp_binary)(block[i]);
}

ALWAYS_INLINE void get_whole(reader *r, uint32_t rank, uint32_t precision, floe_uint *block)
{
    get_planes(r, rank, precision, block);
    if (!block)
        return;
    from_negabinary(block, rank);
    zfp_transform(ZFP_UNLIFT, block, rank);
}

ALWAYS_INLINE void get_whole_reversibly(reader *r, uint32_t rank, floe_uint *block)
{
    const uint32_t precision = (uint32_t)get(r, FLOE_ZFP_PREC_BITS) + 1;
    get_planes(r, rank, precision, block);
    if (!block)
        return;
    from_negabinary(block, rank);
    zfp_transform(ZFP_SUM, block, rank);
}

ALWAYS_INLINE void get_real(reader *r, const floe_zfp_params *params, uint32_t rank, floe_uint *block)
{
    if (!get(r, 1)) {
        if (block)
            memset(block, 0, sizeof *block << 2 * rank);
        return;
    }
    const int32_t e = (int32_t)get(r, FLOE_ZFP_EXP_BITS) - FLOE_ZFP_EXP_BIAS;
    get_whole(r, rank, floe_zfp_precision(e, params, rank), block);
    if (block)
        zfp_to_real(block, rank, e, block);
}

ALWAYS_INLINE void get_real_reversibly(reader *r, uint32_t rank, floe_uint *block)
{
    if (!get(r, 1)) {
        if (block)
            memset(block, 0, sizeof *block << 2 * rank);
        return;
    }
    const bool patterns = get(r, 1) != 0;
    const int32_t e = patterns ? 0 : (int32_t)get(r, FLOE_ZFP_EXP_BITS) - FLOE_ZFP_EXP_BIAS;
    get_whole_reversibly(r, rank, block);
    if (block && patterns) {
        for (uint32_t i = 0; i < 1u << 2 * rank; i++)
            block[i] = FLOE_R(floe_zfp_reinterpret)(block[i]);
    } else if (block) {
        zfp_to_real(block, rank, e, block);
    }
}

/* One block of any kind; block may be NULL. Returns its bits. */
ALWAYS_INLINE uint32_t get_block(reader *r, const floe_zfp_params *params, uint32_t rank, bool real, floe_uint *block)
{
    const bool reversible = params->minexp < FLOE_ZFP_MIN_EXP;
    r->left = params->maxbits;
    if (real && reversible)
        get_real_reversibly(r, rank, block);
    else if (real)
        get_real(r, params, rank, block);
    else if (reversible)
        get_whole_reversibly(r, rank, block);
    else
        get_whole(r, rank, params->maxprec, block);
    const uint32_t used = params->maxbits - r->left;
    if (real && reversible && used == 1) /* zeros are not filled up */
        return 1;
    return used > params->minbits ? used : params->minbits;
}

/* ---- runs ------------------------------------------------------------------------------------------------------------ */

/* What a run of blocks has in common: above all the last bytes of the source, which go on with zeros, so that a block in
 * which the bits run out can be read to its end. */
typedef struct decoder {
    uint64_t safe; /* a block that begins below this bit does not reach the end */
    uint8_t bytes[FLOE_ZFP_FIELD_MAX / 8 + 4 * sizeof(uint64_t)];
    floe_zfp_shuffles shuffles;
    zfp_four_planes fours;
} decoder;

static void decoder_init(decoder *d, const floe_zfp_source *s, uint32_t block_bits, uint32_t rank)
{
    const uint64_t nbytes = floe_ceil_div(s->nbits, 8), most = block_bits / 8 + 3 * sizeof(uint64_t);
    d->safe = nbytes > most ? 8 * (nbytes - most) : 0;
    FLOE_V(floe_zfp_shuffles_init)(&d->shuffles, rank);
    if (rank == 1)
        zfp_four_planes_init(&d->fours);
}

/* The next block. False: it does not end in the source. */
ALWAYS_INLINE bool next_block(floe_zfp_source *s, decoder *d, const floe_zfp_params *params, uint32_t rank, bool real,
                              floe_uint *block, uint32_t *nbits)
{
    reader r = {.src = s->src, .at = s->at, .shuffles = &d->shuffles, .fours = &d->fours};
    if (s->at > s->nbits)
        return false;
    if (s->at >= d->safe) {
        const uint64_t from = s->at / 8, left = floe_ceil_div(s->nbits, 8) - from;
        memset(d->bytes, 0, sizeof d->bytes);
        memcpy(d->bytes, s->src + from, (size_t)floe_min64(left, sizeof d->bytes));
        r.src = d->bytes;
        r.at = s->at % 8;
    }
    *nbits = get_block(&r, params, rank, real, block);
    if (*nbits > s->nbits - s->at)
        return false;
    s->at += *nbits;
    return true;
}

ALWAYS_INLINE bool decode(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t first, uint64_t count,
                          floe_zfp_source *s, uint32_t rank, bool real)
{
    decoder d;
    decoder_init(&d, s, floe_zfp_block_bits(params, array->type, rank), rank);
    zfp_walk walk = zfp_walk_of(array, first);
    for (uint64_t i = 0; i < count; i++, zfp_walk_next(&walk, rank)) {
        const zfp_place place = zfp_place_of(&walk, rank);
        floe_uint block[FLOE_ZFP_BLOCK_VALUES];
        uint32_t nbits;
        if (s->places && i % s->chunk == 0 && s->places[i / s->chunk] != s->at)
            return false;
        if (!next_block(s, &d, params, rank, real, block, &nbits))
            return false;
        zfp_store(&walk, &place, rank, block);
    }
    return true;
}

ALWAYS_INLINE bool measure(floe_zfp_type type, const floe_zfp_params *params, uint64_t count, floe_zfp_source *s,
                           uint16_t *lengths, uint32_t rank, bool real)
{
    decoder d;
    decoder_init(&d, s, floe_zfp_block_bits(params, type, rank), rank);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t nbits;
        if (!next_block(s, &d, params, rank, real, NULL, &nbits))
            return false;
        lengths[i] = (uint16_t)nbits;
    }
    return true;
}

/* ---- by rank and type, as constants, so that loops unroll ------------------------------------------------------------ */

static bool is_real(floe_zfp_type type) { return type == FLOE_ZFP_F32 || type == FLOE_ZFP_F64; }

static bool decode_any(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t first, uint64_t count,
                       floe_zfp_source *s)
{
    switch (array->rank + (is_real(array->type) ? 4 : 0)) {
    case 1: return decode(array, params, first, count, s, 1, false);
    case 2: return decode(array, params, first, count, s, 2, false);
    case 3: return decode(array, params, first, count, s, 3, false);
    case 4: return decode(array, params, first, count, s, 4, false);
    case 5: return decode(array, params, first, count, s, 1, true);
    case 6: return decode(array, params, first, count, s, 2, true);
    case 7: return decode(array, params, first, count, s, 3, true);
    default: return decode(array, params, first, count, s, 4, true);
    }
}

static bool measure_any(floe_zfp_type type, uint32_t rank, const floe_zfp_params *params, uint64_t count,
                        floe_zfp_source *s, uint16_t *lengths)
{
    const bool real = is_real(type);
    switch (rank) {
    case 1: return measure(type, params, count, s, lengths, 1, real);
    case 2: return measure(type, params, count, s, lengths, 2, real);
    case 3: return measure(type, params, count, s, lengths, 3, real);
    default: return measure(type, params, count, s, lengths, 4, real);
    }
}

const floe_zfpblock_ops FLOE_V(floe_zfpblock_ops) = {FLOE_V(floe_zfp_encode), decode_any, measure_any};
