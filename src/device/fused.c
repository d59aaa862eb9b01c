/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "device/fused.h"

/* A row a codec that has such kernels. */
static const floe_fused *row_of(const floe_codec_device *codec)
{
    return codec == floe_lorenzo_fused.codec ? &floe_lorenzo_fused : NULL;
}

const floe_fused *floe_fused_encode(const floe_codec_device *codec, const floe_codec_encode *e)
{
    const floe_fused *row = row_of(codec);
    return row && row->encodes(e) ? row : NULL;
}

const floe_fused *floe_fused_decode(const floe_codec_device *codec, const floe_codec_decode *d)
{
    const floe_fused *row = row_of(codec);
    return row && row->decodes(d) ? row : NULL;
}

floe_status floe_fused_encode_start(const floe_codec_device *codec, const floe_codec_encode *e, void *stream,
                                    floe_error *err)
{
    const floe_fused *row = floe_fused_encode(codec, e);
    return row ? row->encode_start(e, stream, err) : codec->encode_start(e, stream, err);
}

#endif
