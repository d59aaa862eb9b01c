/* SPDX-License-Identifier: BSD-3-Clause */
/* Modes as the four parameters of a block, once, for both compilers. */
#ifndef FLOE_STAGE_ZFPBLOCK_PARAMS_MATH_H
#define FLOE_STAGE_ZFPBLOCK_PARAMS_MATH_H

#include "base/hd.h"
#include "stage/zfpblock/zfpblock.h"

FLOE_HD floe_zfp_type floe_zfp_type_of(floe_dtype dtype)
{
    return dtype == FLOE_F32   ? FLOE_ZFP_F32
           : dtype == FLOE_F64 ? FLOE_ZFP_F64
           : dtype == FLOE_I32 ? FLOE_ZFP_I32
                               : FLOE_ZFP_I64;
}

FLOE_HD bool floe_zfp_type_is_narrow(floe_zfp_type type) { return type == FLOE_ZFP_I32 || type == FLOE_ZFP_F32; }
FLOE_HD bool floe_zfp_type_is_real(floe_zfp_type type) { return type == FLOE_ZFP_F32 || type == FLOE_ZFP_F64; }
static inline size_t floe_zfp_type_size(floe_zfp_type type) { return floe_zfp_type_is_narrow(type) ? 4 : 8; }
FLOE_HD bool floe_zfp_params_are_reversible(const floe_zfp_params *params) { return params->minexp < FLOE_ZFP_MIN_EXP; }

/* What stands before the planes, at most: flags, exponent, number of planes. */
FLOE_HD uint32_t floe_zfp_head_bits(floe_zfp_type type, bool reversible)
{
    const bool narrow = floe_zfp_type_is_narrow(type), real = floe_zfp_type_is_real(type);
    const uint32_t exponent = real ? 1 + (narrow ? 8 : 11) : 0;
    return exponent + (reversible ? (uint32_t)real + (narrow ? 5 : 6) : 0);
}

/* The strides of an array without gaps. */
static inline void floe_zfp_contiguous(uint32_t rank, const uint64_t *shape, int64_t *stride)
{
    int64_t n = 1;
    for (uint32_t a = rank; a-- > 0; n *= (int64_t)shape[a])
        stride[a] = n;
}

/* The most bits that a block of this type can take with these parameters. Each coefficient costs at most a bit a plane, and once
 * a test that shows that it is not yet zero. */
static inline uint32_t floe_zfp_block_bits(const floe_zfp_params *params, floe_zfp_type type, uint32_t rank)
{
    const bool reversible = floe_zfp_params_are_reversible(params);
    const uint32_t size = 1u << 2 * rank, width = floe_zfp_type_is_narrow(type) ? 32 : 64;
    const uint32_t planes = params->maxprec < width && !reversible ? params->maxprec : width;
    const uint32_t most = floe_zfp_head_bits(type, reversible) + size - 1 + size * planes;
    const uint32_t cut = most < params->maxbits ? most : params->maxbits;
    return cut > params->minbits ? cut : params->minbits;
}

/* Nothing left out. */
FLOE_HD floe_zfp_params floe_zfp_params_everything(void)
{
    floe_zfp_params p;
    p.minbits = 1;
    p.maxbits = FLOE_ZFP_MAX_BITS;
    p.maxprec = FLOE_ZFP_MAX_PREC;
    p.minexp = FLOE_ZFP_MIN_EXP;
    return p;
}

/* Bits of a block at so many a value: at least as many as its head needs, and no more than any block can take, whatever number
 * a hostile header claims. */
FLOE_HD uint32_t floe_zfp_rate_bits(double bits, floe_zfp_type type, uint32_t rank)
{
    const double wanted = (double)(1u << 2 * rank) * bits + 0.5;
    const uint32_t head = floe_zfp_head_bits(type, false), most = FLOE_ZFP_MAX_BITS;
    const uint32_t nbits = wanted < (double)most ? (uint32_t)wanted : most;
    return nbits > head && nbits > 1 ? nbits : head > 1 ? head : 1;
}

/* Of a tolerance above 0 and finite. */
FLOE_HD int32_t floe_zfp_minexp_of(double tolerance)
{
    const uint64_t bits = floe_bits_f64(tolerance), mantissa = bits & (((uint64_t)1 << 52) - 1);
    return bits >> 52 ? (int32_t)(bits >> 52) - 1023 : FLOE_ZFP_MIN_EXP + (int32_t)floe_top_bit(mantissa);
}

/* What the format cannot hold, or blocks too small for their own head. */
typedef enum floe_zfp_params_fault {
    FLOE_ZFP_PARAMS_FINE,
    FLOE_ZFP_PARAMS_MAXPREC,
    FLOE_ZFP_PARAMS_MINBITS,
    FLOE_ZFP_PARAMS_MAXBITS,
    FLOE_ZFP_PARAMS_HEAD,
    FLOE_ZFP_PARAMS_MINEXP
} floe_zfp_params_fault;

FLOE_HD floe_zfp_params_fault floe_zfp_params_fault_of(const floe_zfp_params *p, floe_zfp_type type)
{
    const uint32_t head = floe_zfp_head_bits(type, floe_zfp_params_are_reversible(p));
    return p->maxprec < 1 || p->maxprec > FLOE_ZFP_MAX_PREC                         ? FLOE_ZFP_PARAMS_MAXPREC
           : p->minbits > p->maxbits                                                ? FLOE_ZFP_PARAMS_MINBITS
           : p->maxbits > FLOE_ZFP_FIELD_MAX                                        ? FLOE_ZFP_PARAMS_MAXBITS
           : p->maxbits < 1 || p->maxbits < head                                    ? FLOE_ZFP_PARAMS_HEAD
           : p->minexp < FLOE_ZFP_MIN_EXP_EVER || p->minexp > FLOE_ZFP_MAX_EXP_EVER ? FLOE_ZFP_PARAMS_MINEXP
                                                                                    : FLOE_ZFP_PARAMS_FINE;
}

#endif
