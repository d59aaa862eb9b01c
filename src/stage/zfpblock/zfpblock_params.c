/* SPDX-License-Identifier: BSD-3-Clause */
/* Modes as the four parameters of a block, and what follows from them. */
#include <float.h>

#include "backend/backend.h"
#include "base/try.h"
#include "stage/zfpblock/zfpblock_params_math.h"

extern const floe_zfpblock_ops floe_zfpblock_ops_f32_plain, floe_zfpblock_ops_f64_plain;
extern const floe_zfpblock_ops floe_zfpblock_ops_f32_avx2, floe_zfpblock_ops_f64_avx2;

const floe_zfpblock_ops *floe_zfpblock_ops_of(floe_zfp_type type, floe_isa isa)
{
    return floe_zfp_type_is_narrow(type) ? FLOE_BY_ISA(isa, &floe_zfpblock_ops_f32)
                                         : FLOE_BY_ISA(isa, &floe_zfpblock_ops_f64);
}

uint64_t floe_zfp_nblocks(uint32_t rank, const uint64_t *shape)
{
    uint64_t n = 1;
    for (uint32_t a = 0; a < rank; a++)
        n *= floe_ceil_div(shape[a], FLOE_ZFP_SIDE);
    return n;
}

/* ---- modes ----------------------------------------------------------------------------------------------------------- */

floe_status floe_zfp_params_rate(double bits, floe_zfp_type type, uint32_t rank, floe_zfp_params *params,
                                 floe_error *err)
{
    const double size = (double)(1u << 2 * rank), most = (FLOE_ZFP_MAX_BITS - 63) / size;
    FLOE_CHECK(err, bits >= 0 && bits <= most, FLOE_ERR_ARGUMENT,
               "a rate of %g bits a value: zfp can do 0 to %.17g with %u axes", bits, most, rank);
    *params = floe_zfp_params_everything();
    params->minbits = params->maxbits = floe_zfp_rate_bits(bits, type, rank);
    return FLOE_OK;
}

floe_status floe_zfp_params_precision(uint32_t planes, floe_zfp_params *params, floe_error *err)
{
    FLOE_CHECK(err, planes >= 1 && planes <= FLOE_ZFP_MAX_PREC, FLOE_ERR_ARGUMENT, "%u bit planes: zfp can do 1 to %d",
               planes, (int)FLOE_ZFP_MAX_PREC);
    *params = floe_zfp_params_everything();
    params->maxprec = planes;
    return FLOE_OK;
}

floe_status floe_zfp_params_accuracy(double tolerance, floe_zfp_params *params, floe_error *err)
{
    const uint64_t bits = floe_bits_f64(tolerance);
    FLOE_CHECK(err, bits > 0 && bits >> 52 < 2047, FLOE_ERR_ARGUMENT,
               "a tolerance of %g: zfp can do %.3g to %.17g, and reversible (lossless)", tolerance, 0x1p-1074, DBL_MAX);
    *params = floe_zfp_params_everything();
    params->minexp = floe_zfp_minexp_of(tolerance);
    return FLOE_OK;
}

floe_zfp_params floe_zfp_params_reversible(void)
{
    floe_zfp_params p = floe_zfp_params_everything();
    p.minexp = FLOE_ZFP_MIN_EXP - 1;
    return p;
}

floe_status floe_zfp_params_check(const floe_zfp_params *params, floe_zfp_type type, floe_error *err)
{
    const floe_zfp_params_fault fault = floe_zfp_params_fault_of(params, type);
    const uint32_t head = floe_zfp_head_bits(type, floe_zfp_params_are_reversible(params));
    FLOE_CHECK(err, fault != FLOE_ZFP_PARAMS_MAXPREC, FLOE_ERR_ARGUMENT, "maxprec is %u, zfp can do 1 to %d",
               params->maxprec, (int)FLOE_ZFP_MAX_PREC);
    FLOE_CHECK(err, fault != FLOE_ZFP_PARAMS_MINBITS, FLOE_ERR_ARGUMENT, "minbits is %u, more than maxbits, %u",
               params->minbits, params->maxbits);
    FLOE_CHECK(err, fault != FLOE_ZFP_PARAMS_MAXBITS, FLOE_ERR_ARGUMENT, "maxbits is %u, zfp can do at most %d",
               params->maxbits, (int)FLOE_ZFP_FIELD_MAX);
    FLOE_CHECK(err, fault != FLOE_ZFP_PARAMS_HEAD, FLOE_ERR_ARGUMENT, "maxbits is %u, a block's head alone needs %u",
               params->maxbits, head ? head : 1);
    FLOE_CHECK(err, fault != FLOE_ZFP_PARAMS_MINEXP, FLOE_ERR_ARGUMENT, "minexp is %d, zfp can do %d to %d",
               params->minexp, (int)FLOE_ZFP_MIN_EXP_EVER, (int)FLOE_ZFP_MAX_EXP_EVER);
    return FLOE_OK;
}

/* All at their defaults is nobody's mode. */
floe_zfp_mode floe_zfp_mode_of(const floe_zfp_params *params)
{
    const floe_zfp_params all = floe_zfp_params_everything();
    const bool free_bits = params->minbits <= all.minbits && params->maxbits >= all.maxbits;
    const bool all_planes = params->maxprec >= all.maxprec, all_exponents = params->minexp == all.minexp;
    if (params->minbits == params->maxbits && params->maxbits <= all.maxbits && all_planes && all_exponents)
        return FLOE_ZFP_RATE;
    if (!free_bits || (all_planes && all_exponents && params->minbits == all.minbits && params->maxbits == all.maxbits))
        return FLOE_ZFP_EXPERT;
    if (all_exponents)
        return FLOE_ZFP_PRECISION;
    if (!all_planes)
        return FLOE_ZFP_EXPERT;
    return floe_zfp_params_are_reversible(params) ? FLOE_ZFP_REVERSIBLE : FLOE_ZFP_ACCURACY;
}
