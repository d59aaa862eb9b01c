/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec lorenzo: its row of the table. docs/format/lorenzo_chunk.md. */
#ifndef FLOE_CODEC_LORENZO_LORENZO_CODEC_H
#define FLOE_CODEC_LORENZO_LORENZO_CODEC_H

#include "codec/codec.h"

extern const floe_codec_ops floe_lorenzo_codec;

#endif
