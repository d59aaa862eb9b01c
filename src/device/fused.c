/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef FLOE_HAVE_CUDA_BUILD

#include "device/fused.h"

static const floe_fused *const rows[] = {&floe_lorenzo_fused};

static const floe_fused *row_of(const floe_codec_device *codec)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i]->codec == codec)
            return rows[i];
    return NULL;
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
