/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of codecs. A new one is a folder and a row here, its number in floe.h, and its modes in container/header_math.h. */
#include "codec/codec.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/try.h"
#include "codec/interp/interp_chunk.h"
#include "codec/lorenzo/cpu/lorenzo_chunk.h"
#include "codec/wavelet/wavelet_chunk.h"
#include "codec/zfp/chunk/zfp_chunk.h"
#include "field/dtype_math.h"
#include "stage/quantizer/quantizer_init_math.h"
#include "stage/tile/tile.h"

#ifdef FLOE_TEST_CODEC /* emulated builds: tests/null_codec */
extern const floe_codec_ops FLOE_TEST_CODEC;
#endif

static const floe_codec_ops *const codecs[] = {
    &floe_lorenzo_codec,
    &floe_zfp_codec,
    &floe_interp_codec,
    &floe_wavelet_codec,
#ifdef FLOE_TEST_CODEC
    &FLOE_TEST_CODEC,
#endif
    NULL,
};

const floe_codec_ops *floe_codec_at(uint32_t i) { return i < sizeof codecs / sizeof *codecs ? codecs[i] : NULL; }

const floe_codec_ops *floe_codec_of(floe_codec codec)
{
    uint32_t i = 0;
    while (codecs[i] && codecs[i]->id != codec)
        i++;
    assert(codecs[i]);
    return codecs[i];
}

const floe_codec_ops *floe_codec_chosen(floe_codec codec)
{
    return codec == FLOE_CODEC_AUTO ? codecs[0] : floe_codec_of(codec);
}

bool floe_codec_on_gpu(const floe_codec_ops *codec, floe_dtype dtype)
{
    return codec->device && (codec->integers_on_gpu || !floe_dtype_is_integer(dtype));
}

floe_status floe_codec_pad(const floe_chunk_encode *c, uint64_t least, floe_error *err)
{
    if (*c->nbytes >= least)
        return FLOE_OK;
    FLOE_CHECK(err, least <= c->capacity, FLOE_ERR_CAPACITY, "the chunk needs %llu bytes, there are %llu",
               (unsigned long long)least, (unsigned long long)c->capacity);
    memset((uint8_t *)c->dst + *c->nbytes, 0, least - *c->nbytes);
    *c->nbytes = least;
    return FLOE_OK;
}

floe_field floe_codec_box(const floe_codec_boxes *b, uint32_t i)
{
    const uint64_t size = floe_dtype_size(b->params->dtype);
    uint8_t *const data =
        b->data ? (uint8_t *)b->data + b->at[i] * (int64_t)size : NULL; /* NULL: only layouts are known */
    floe_field f = floe_field_of(data, b->params->dtype, b->rank, b->extent);
    memcpy(f.stride, b->stride, sizeof f.stride);
    return f;
}

void floe_codec_tile_units(uint32_t rank, uint32_t inner, uint64_t *tile, uint64_t *group)
{
    const floe_tile_geometry g = floe_tile_geometry_of(rank);
    if (rank == 1) {
        *tile = FLOE_TILE_VALUES;
        *group = g.step_x;
    } else if (inner + 1 == (rank == 2 ? 2 : 3)) { /* z */
        *tile = g.step_z * FLOE_TILE_STEPS;
        *group = g.step_z;
    } else { /* the outer axis of rank 4, y, or x */
        *tile = inner >= 3 ? 1 : inner ? g.step_y : g.step_x;
        *group = *tile;
    }
}

void floe_codec_any_units(uint32_t rank, uint32_t inner, uint64_t *tile, uint64_t *group)
{
    (void)rank, (void)inner;
    *tile = 64;
    *group = 1;
}

floe_codec_params floe_codec_real_params(const floe_codec_params *params)
{
    floe_codec_params p = *params;
    if (!floe_dtype_is_integer(p.dtype))
        return p;
    const double whole = p.mode == FLOE_BOUND_LOSSLESS ? 0 : floor(p.bound);
    p.dtype = FLOE_F64;
    p.mode = FLOE_BOUND_ABS;
    p.bound = whole < 0x1p52 ? whole + 0.5 : whole;
    p.fill_bits = FLOE_NAN64_BITS;
    return p;
}

double floe_codec_domain_bound(const floe_codec_params *p)
{
    const double room = p->bound - floe_half_ulp(p->dtype);
    return p->mode == FLOE_BOUND_PWREL ? floe_log2(1 + (room > p->bound / 2 ? room : p->bound / 2)) : p->bound;
}

double floe_codec_tuner_bound(const floe_codec_params *p)
{
    const floe_codec_params reals = floe_codec_real_params(p);
    return p->tuner_bound > 0 ? p->tuner_bound : floe_codec_domain_bound(&reals);
}

double floe_codec_tolerance(const floe_codec_params *p)
{
    return p->mode == FLOE_BOUND_PWREL ? p->bound * (1 - 0x1p-50)
                                       : floe_round_down(p->dtype, p->bound * (1 - 4 * floe_half_ulp(p->dtype)));
}

uint64_t floe_codec_fill_bits(const floe_codec_params *p)
{
    return p->has_fill ? p->fill_bits : floe_dtype_sign(p->dtype);
}
