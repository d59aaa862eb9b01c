/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec zfp: its row of the table. docs/format/zfp_chunk.md. */
#ifndef FLOE_CODEC_ZFP_ZFP_CODEC_H
#define FLOE_CODEC_ZFP_ZFP_CODEC_H

#include "codec/codec.h"

extern const floe_codec_ops floe_zfp_codec;

#endif
