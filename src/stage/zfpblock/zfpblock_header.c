/* SPDX-License-Identifier: BSD-3-Clause */
/* The header of a stream: 32 bits of magic, 52 of type and shape, 12 or 64 of mode. It is what a stream begins with, not in
 * whole bytes: the first block follows right behind its last bit. */
#include "base/try.h"
#include "stage/zfpblock/zfpblock_bits.h"
#include "stage/zfpblock/zfpblock_params_math.h"

enum {
    MAGIC = 'z' | 'f' << 8 | 'p' << 16,
    CODEC_VERSION = 5,
    SHAPE_BITS = 48,
    /* short modes: numbers from here on */
    SHORT_PRECISION = 2048,
    SHORT_REVERSIBLE = 2176,
    SHORT_ACCURACY = 2177,
    LONG_FOLLOWS = 4095
};

static uint64_t mode_short(const floe_zfp_params *p)
{
    uint64_t mode = LONG_FOLLOWS;
    switch (floe_zfp_mode_of(p)) {
    case FLOE_ZFP_RATE: mode = p->maxbits <= SHORT_PRECISION ? p->maxbits - 1 : LONG_FOLLOWS; break;
    case FLOE_ZFP_PRECISION: mode = SHORT_PRECISION + p->maxprec - 1; break;
    case FLOE_ZFP_REVERSIBLE: mode = SHORT_REVERSIBLE; break;
    case FLOE_ZFP_ACCURACY: mode = SHORT_ACCURACY + (uint64_t)(p->minexp - FLOE_ZFP_MIN_EXP); break;
    default: break;
    }
    return mode < LONG_FOLLOWS ? mode : LONG_FOLLOWS;
}

/* minbits, maxbits, maxprec and minexp, from the lowest bit up. */
static uint64_t mode_long(const floe_zfp_params *p)
{
    const uint64_t minbits = p->minbits ? p->minbits - 1 : 0;
    return minbits | (uint64_t)(p->maxbits - 1) << 15 | (uint64_t)(p->maxprec - 1) << 30 |
           (uint64_t)(p->minexp - FLOE_ZFP_MIN_EXP_EVER) << 37;
}

floe_status floe_zfp_header_write(const floe_zfp_array *array, const floe_zfp_params *params, uint8_t *dst,
                                  uint32_t *nbits, floe_error *err)
{
    const uint32_t axis_bits = SHAPE_BITS / array->rank;
    floe_zfp_writer w = {.base = dst, .at = dst};
    uint64_t shape = 0, mode = mode_short(params);
    FLOE_TRY(floe_zfp_params_check(params, array->type, err));
    memset(dst, 0, FLOE_ZFP_HEADER_NBYTES);
    for (uint32_t a = 0; a < array->rank; a++) {
        FLOE_CHECK(err, (array->shape[a] - 1) >> axis_bits == 0, FLOE_ERR_ARGUMENT,
                   "an axis of %llu values: a zfp header of %u axes can hold at most %llu; without a header any goes",
                   (unsigned long long)array->shape[a], array->rank, 1ull << axis_bits);
        shape = shape << axis_bits | (array->shape[a] - 1);
    }
    floe_zfp_put(&w, MAGIC | (uint64_t)CODEC_VERSION << 24, 32);
    floe_zfp_put(&w, (uint64_t)array->type - 1, 2);
    floe_zfp_put(&w, array->rank - 1, 2);
    floe_zfp_put(&w, shape, SHAPE_BITS);
    floe_zfp_put(&w, mode, 12);
    if (mode == LONG_FOLLOWS)
        floe_zfp_put(&w, mode_long(params), 52);
    *nbits = (uint32_t)floe_zfp_written(&w);
    return FLOE_OK;
}

/* False: a number that stands for nothing. */
static bool params_of_short(uint32_t mode, floe_zfp_params *p)
{
    *p = (floe_zfp_params){1, FLOE_ZFP_MAX_BITS, FLOE_ZFP_MAX_PREC, FLOE_ZFP_MIN_EXP};
    if (mode < SHORT_PRECISION)
        p->minbits = p->maxbits = mode + 1;
    else if (mode < SHORT_REVERSIBLE)
        p->maxprec = mode - SHORT_PRECISION + 1;
    else if (mode == SHORT_REVERSIBLE)
        p->minexp = FLOE_ZFP_MIN_EXP - 1;
    else
        p->minexp = (int32_t)(mode - SHORT_ACCURACY) + FLOE_ZFP_MIN_EXP;
    return p->maxprec <= FLOE_ZFP_MAX_PREC;
}

static floe_zfp_params params_of_long(uint64_t mode)
{
    return (floe_zfp_params){.minbits = (uint32_t)(mode & 0x7FFF) + 1,
                             .maxbits = (uint32_t)(mode >> 15 & 0x7FFF) + 1,
                             .maxprec = (uint32_t)(mode >> 30 & 0x7F) + 1,
                             .minexp = (int32_t)(mode >> 37) + FLOE_ZFP_MIN_EXP_EVER};
}

static void shape_of(uint64_t bits, floe_zfp_array *array)
{
    const uint32_t axis_bits = SHAPE_BITS / array->rank;
    for (uint32_t a = array->rank; a-- > 0; bits >>= axis_bits)
        array->shape[a] = (bits & (((uint64_t)1 << axis_bits) - 1)) + 1;
    floe_zfp_contiguous(array->rank, array->shape, array->stride); /* at most 2^48 */
}

floe_status floe_zfp_header_read(const void *src, uint64_t nbytes, floe_zfp_array *array, floe_zfp_params *params,
                                 uint32_t *nbits, floe_error *err)
{
    uint8_t head[FLOE_ZFP_HEADER_NBYTES + sizeof(uint64_t)] = {0}; /* room for floe_zfp_get */
    FLOE_CHECK(err, nbytes >= FLOE_ZFP_HEADER_SHORT / 8, FLOE_ERR_FORMAT,
               "no zfp stream: %llu bytes are less than its header", (unsigned long long)nbytes);
    memcpy(head, src, (size_t)floe_min64(nbytes, FLOE_ZFP_HEADER_NBYTES));
    FLOE_CHECK(err, (floe_load32(head) & 0xFFFFFF) == MAGIC, FLOE_ERR_FORMAT, "no zfp stream: it begins otherwise");
    FLOE_CHECK(err, head[3] == CODEC_VERSION, FLOE_ERR_FORMAT, "zfp stream of version %u, only %d is known", head[3],
               (int)CODEC_VERSION);
    *array = (floe_zfp_array){.type = (floe_zfp_type)(floe_zfp_get(head, 32, 2) + 1)};
    array->rank = (uint32_t)floe_zfp_get(head, 34, 2) + 1;
    shape_of(floe_zfp_get(head, 36, SHAPE_BITS), array);
    const uint32_t mode = (uint32_t)floe_zfp_get(head, 84, 12);
    *nbits = mode == LONG_FOLLOWS ? FLOE_ZFP_HEADER_LONG : FLOE_ZFP_HEADER_SHORT;
    FLOE_CHECK(err, nbytes * 8 >= *nbits, FLOE_ERR_FORMAT, "the zfp stream ends within its header");
    if (mode == LONG_FOLLOWS)
        *params = params_of_long(floe_zfp_get(head, 96, 52));
    else
        FLOE_CHECK(err, params_of_short(mode, params), FLOE_ERR_FORMAT, "the zfp header's mode, %u, is none", mode);
    FLOE_CHECK(err, floe_zfp_params_check(params, array->type, NULL) == FLOE_OK, FLOE_ERR_FORMAT,
               "the zfp header says minbits %u, maxbits %u, maxprec %u, minexp %d, which is impossible",
               params->minbits, params->maxbits, params->maxprec, params->minexp);
    return FLOE_OK;
}
