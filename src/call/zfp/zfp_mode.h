/* SPDX-License-Identifier: BSD-3-Clause */
/* The modes of bare zfp streams as text. */
#ifndef FLOE_CALL_ZFP_ZFP_MODE_H
#define FLOE_CALL_ZFP_ZFP_MODE_H

#include <floe/floe.h>

#include "codec/zfp/stream/zfp_stream.h"

typedef enum floe_zfp_text_kind {
    FLOE_ZFP_TEXT_RATE,
    FLOE_ZFP_TEXT_PREC,
    FLOE_ZFP_TEXT_ABS,
    FLOE_ZFP_TEXT_REL,
    FLOE_ZFP_TEXT_LOSSLESS,
    FLOE_ZFP_TEXT_EXPERT
} floe_zfp_text_kind;

typedef struct floe_zfp_mode_text {
    floe_zfp_text_kind kind;
    double value;           /* of all but lossless and expert */
    floe_zfp_params expert; /* of expert */
} floe_zfp_mode_text;

/* "rate=8", "prec=16", "abs=1e-3", "rel=1e-3", "lossless", "expert=1:16658:64:-1074"; refuses what makes no sense for the
 * element type. */
floe_status floe_zfp_mode_parse(const char *text, floe_dtype dtype, floe_zfp_mode_text *mode, floe_error *err);

/* tolerance: of abs, and what rel comes to. */
floe_status floe_zfp_mode_params(const floe_zfp_mode_text *mode, double tolerance, floe_zfp_type type, uint32_t rank,
                                 floe_zfp_params *params, floe_error *err);

#endif
