/* SPDX-License-Identifier: BSD-3-Clause */
/* The quantizers of a call from the codec's parameters, once, for both compilers. */
#ifndef FLOE_CODEC_LORENZO_FORMAT_LORENZO_PARAMS_MATH_H
#define FLOE_CODEC_LORENZO_FORMAT_LORENZO_PARAMS_MATH_H

#include "codec/lorenzo/format/lorenzo_begin_math.h"
#include "codec/lorenzo/gpu/lorenzo_device.h"
#include "stage/quantizer/quantizer_init_math.h"

/* Two parts, for two threads. */
FLOE_HD void floe_lorenzo_params_first(const floe_codec_params *p, floe_dev_params *params)
{
    params->codec = *p;
    floe_quantizer_make(&params->quantizer, floe_lorenzo_kind_of(p->mode), p->dtype, p->bound, p->max_abs, p->has_fill,
                        p->fill_bits);
}

FLOE_HD void floe_lorenzo_params_second(const floe_codec_params *p, floe_dev_params *params)
{
    floe_quantizer_make(&params->bits, FLOE_QUANTIZER_BITS, p->dtype, p->bound, p->max_abs, p->has_fill, p->fill_bits);
}

FLOE_HD void floe_lorenzo_params_make(const floe_codec_params *p, floe_dev_params *params)
{
    floe_lorenzo_params_first(p, params);
    floe_lorenzo_params_second(p, params);
}

#endif
