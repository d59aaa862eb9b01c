/* SPDX-License-Identifier: BSD-3-Clause */
/* Bits -> blocks. Nothing that the bits hold is trusted: a block ends with maxbits, and a stream's end is read from a copy
 * that goes on with zeros. */
#include "stage/zfpblock/zfpblock_planes.h"
#include "stage/zfpblock/zfpblock_four.h"
#include "stage/zfpblock/zfpblock_params_math.h"
#include "stage/zfpblock/zfpblock_reader.h"
#include "stage/zfpblock/zfpblock_sixteen.h"
#include "stage/zfpblock/zfpblock_walk.h"
#include "stage/zfpblock/zfpblock_whole.h"

/* What the planes of a run's blocks are looked up in, by rank. */
typedef struct tables {
    floe_zfp_shuffles shuffles;
    union {
        zfp_four_planes fours;       /* one axis */
        zfp_sixteen_groups sixteens; /* two */
    };
} tables;

static void tables_init(tables *t, uint32_t rank)
{
    FLOE_V(floe_zfp_shuffles_init)(&t->shuffles, rank);
    if (rank == 1)
        zfp_four_planes_init(&t->fours);
    if (rank == 2)
        zfp_sixteen_groups_init(&t->sixteens);
}

/* ---- planes ---------------------------------------------------------------------------------------------------------- */

/* The same for the 256 coefficients of four axes. */
static void get_wide_plane(zfp_reader *r, uint32_t *n, floe_zfp_planes *planes, uint32_t k)
{
    for (uint32_t i = 0; i < FLOE_ZFP_PLANE_WORDS; i++)
        planes->plane[i][k] = 64 * i < *n ? zfp_get(r, *n - 64 * i < 64 ? *n - 64 * i : 64) : 0;
    while (*n < FLOE_ZFP_BLOCK_VALUES && zfp_get(r, 1)) {
        *n += zfp_get_group(r, FLOE_ZFP_BLOCK_VALUES - 1 - *n);
        planes->plane[*n / 64][k] |= (uint64_t)1 << *n % 64;
        ++*n;
    }
}

/* Up to `precision` planes -> coefficients in base -2, or nothing where block is NULL. False: all
 * are 0, and nothing was written. */
FLOE_INLINE bool get_planes(zfp_reader *r, const tables *t, uint32_t rank, uint32_t precision, floe_uint *block)
{
    const uint32_t low = precision < FLOE_REAL_BITS ? FLOE_REAL_BITS - precision : 0;
    if (rank == 1) {
        zfp_four_get(r, &t->fours, low, block);
        return true;
    }
    const uint32_t high = zfp_skip_zeros(r, low);
    uint32_t n = 0, k = high;
    floe_zfp_planes planes;
    if (rank == 2)
        return zfp_sixteen_get(r, &t->shuffles, &t->sixteens, low, high, block);
    while (k > low && r->left) {
        k--;
        if (rank == 4)
            get_wide_plane(r, &n, &planes, k);
        else
            planes.plane[0][k] = zfp_get_plane(r, &n, 1u << 2 * rank);
    }
    if (!block || k == high)
        return k < high;
    for (uint32_t i = 0; 64 * i < 1u << 2 * rank; i++) {
        memset(planes.plane[i] + (k & ~7u), 0, (k & 7) * sizeof(uint64_t));
        memset(planes.plane[i] + high, 0, (-high & 7) * sizeof(uint64_t));
    }
    FLOE_V(floe_zfp_planes_join)(&t->shuffles, &planes, rank, k, high, block);
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------------------------------- */

FLOE_INLINE void from_negabinary(floe_uint *block, uint32_t rank)
{
    for (uint32_t i = 0; i < 1u << 2 * rank; i += FLOE_ZFP_SIDE) {
        zfp_row v;
        memcpy(&v, block + i, sizeof v);
        v = (v ^ FLOE_ZFP_NEGABINARY) - FLOE_ZFP_NEGABINARY;
        memcpy(block + i, &v, sizeof v);
    }
}

/* Coefficients that are all 0 are values that are. */
FLOE_INLINE void get_whole(zfp_reader *r, const tables *t, zfp_step step, uint32_t rank, uint32_t precision,
                           floe_uint *block)
{
    const bool any = get_planes(r, t, rank, precision, block);
    if (block && any) {
        from_negabinary(block, rank);
        zfp_transform(step, block, rank);
    } else if (block) {
        memset(block, 0, sizeof *block << 2 * rank);
    }
}

/* A function for each rank and step, which all kinds of blocks call: inlined into each of them it would take most of the time
 * that this file takes to compile. */
#define WHOLE(step, rank)                                                                                 \
    static void get_##step##_##rank(zfp_reader *r, const tables *t, uint32_t precision, floe_uint *block) \
    {                                                                                                     \
        get_whole(r, t, step, rank, precision, block);                                                    \
    }
#define WHOLES(step) WHOLE(step, 1) WHOLE(step, 2) WHOLE(step, 3) WHOLE(step, 4)
WHOLES(ZFP_UNLIFT)
WHOLES(ZFP_SUM)

typedef void get_function(zfp_reader *r, const tables *t, uint32_t precision, floe_uint *block);
static get_function *const get_lifted[] = {get_ZFP_UNLIFT_1, get_ZFP_UNLIFT_2, get_ZFP_UNLIFT_3, get_ZFP_UNLIFT_4};
static get_function *const get_summed[] = {get_ZFP_SUM_1, get_ZFP_SUM_2, get_ZFP_SUM_3, get_ZFP_SUM_4};

FLOE_INLINE void get_whole_reversibly(zfp_reader *r, const tables *t, uint32_t rank, floe_uint *block)
{
    const uint32_t precision = (uint32_t)zfp_get(r, FLOE_ZFP_PREC_BITS) + 1;
    get_summed[rank - 1](r, t, precision, block);
}

FLOE_INLINE void get_real(zfp_reader *r, const tables *t, const floe_zfp_params *params, uint32_t rank,
                          floe_uint *block)
{
    const uint32_t head = (uint32_t)floe_zfp_window(r->src, r->at) & ((2u << FLOE_ZFP_EXP_BITS) - 1);
    zfp_skip(r, head & 1 ? 1 + FLOE_ZFP_EXP_BITS : 1); /* no block has less room than for its head */
    if (!(head & 1)) {
        if (block)
            memset(block, 0, sizeof *block << 2 * rank);
        return;
    }
    const int32_t e = (int32_t)(head >> 1) - FLOE_ZFP_EXP_BIAS;
    get_lifted[rank - 1](r, t, floe_zfp_precision(e, params, rank), block);
    if (block)
        zfp_to_real(block, rank, e, block);
}

FLOE_INLINE void get_real_reversibly(zfp_reader *r, const tables *t, uint32_t rank, floe_uint *block)
{
    if (!zfp_get(r, 1)) {
        if (block)
            memset(block, 0, sizeof *block << 2 * rank);
        return;
    }
    const bool patterns = zfp_get(r, 1) != 0;
    const int32_t e = patterns ? 0 : (int32_t)zfp_get(r, FLOE_ZFP_EXP_BITS) - FLOE_ZFP_EXP_BIAS;
    get_whole_reversibly(r, t, rank, block);
    if (block && patterns) {
        for (uint32_t i = 0; i < 1u << 2 * rank; i++)
            block[i] = FLOE_R(floe_zfp_reinterpret)(block[i]);
    } else if (block) {
        zfp_to_real(block, rank, e, block);
    }
}

/* One block of any kind; block may be NULL. Returns its bits. */
FLOE_INLINE uint32_t get_block(zfp_reader *r, const tables *t, const floe_zfp_params *params, uint32_t rank, bool real,
                               floe_uint *block)
{
    const bool reversible = params->minexp < FLOE_ZFP_MIN_EXP;
    r->left = params->maxbits;
    if (real && reversible)
        get_real_reversibly(r, t, rank, block);
    else if (real)
        get_real(r, t, params, rank, block);
    else if (reversible)
        get_whole_reversibly(r, t, rank, block);
    else
        get_lifted[rank - 1](r, t, params->maxprec, block);
    if (!reversible && params->minbits == params->maxbits) /* the next block need not wait for this one */
        return params->maxbits;
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
    tables tables;
} decoder;

static void decoder_init(decoder *d, const floe_zfp_source *s, uint32_t block_bits, uint32_t rank)
{
    const uint64_t nbytes = floe_ceil_div(s->nbits, 8), most = block_bits / 8 + 3 * sizeof(uint64_t);
    d->safe = nbytes > most ? 8 * (nbytes - most) : 0;
    tables_init(&d->tables, rank);
}

/* The next block. False: it does not end in the source. */
FLOE_INLINE bool next_block(floe_zfp_source *s, decoder *d, const floe_zfp_params *params, uint32_t rank, bool real,
                            floe_uint *block, uint32_t *nbits)
{
    zfp_reader r = {.src = s->src, .at = s->at};
    if (s->at > s->nbits)
        return false;
    if (s->at >= d->safe) {
        const uint64_t from = s->at / 8, left = floe_ceil_div(s->nbits, 8) - from;
        memset(d->bytes, 0, sizeof d->bytes);
        memcpy(d->bytes, s->src + from, (size_t)floe_min64(left, sizeof d->bytes));
        r.src = d->bytes;
        r.at = s->at % 8;
    }
    *nbits = get_block(&r, &d->tables, params, rank, real, block);
    if (*nbits > s->nbits - s->at)
        return false;
    s->at += *nbits;
    return true;
}

FLOE_INLINE bool decode(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t first, uint64_t count,
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

FLOE_INLINE bool measure(floe_zfp_type type, const floe_zfp_params *params, uint64_t count, floe_zfp_source *s,
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

static bool decode_any(const floe_zfp_array *array, const floe_zfp_params *params, uint64_t first, uint64_t count,
                       floe_zfp_source *s)
{
    FLOE_ZFP_BY_KIND(array->rank, array->type, decode, array, params, first, count, s)
}

static bool measure_any(floe_zfp_type type, uint32_t rank, const floe_zfp_params *params, uint64_t count,
                        floe_zfp_source *s, uint16_t *lengths)
{
    FLOE_ZFP_BY_KIND(rank, type, measure, type, params, count, s, lengths)
}

const floe_zfpblock_ops FLOE_V(floe_zfpblock_ops) = {FLOE_V(floe_zfp_encode), decode_any, measure_any};
