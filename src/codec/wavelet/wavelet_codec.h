/* SPDX-License-Identifier: BSD-3-Clause */
/* Codec wavelet: its row of the table. docs/format/wavelet.md. */
#ifndef FLOE_CODEC_WAVELET_WAVELET_CODEC_H
#define FLOE_CODEC_WAVELET_WAVELET_CODEC_H

#include "codec/codec.h"

extern const floe_codec_ops floe_wavelet_codec;

#endif
