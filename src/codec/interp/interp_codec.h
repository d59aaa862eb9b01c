/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec interp: its row of the table. docs/format/interp.md. */
#ifndef FLOE_CODEC_INTERP_INTERP_CODEC_H
#define FLOE_CODEC_INTERP_INTERP_CODEC_H

#include "codec/codec.h"

extern const floe_codec_ops floe_interp_codec;

#endif
