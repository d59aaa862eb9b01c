/* SPDX-License-Identifier: BSD-3-Clause */
#include "call/zfp/zfp_checks.h"

#include <string.h>

#include "backend/cuda.h"
#include "base/hd.h"
#include "base/try.h"
#include "call/struct_copy.h"
#include "call/text.h"
#include "codec/zfp/chunk/zfp_cells.h"

typedef unsigned long long ull;

/* ---- between the public structs and those of the stages ------------------------------------------------------------ */

static floe_dtype dtype_of(floe_zfp_type type)
{
    static const floe_dtype dtypes[] = {FLOE_F64, FLOE_I32, FLOE_I64, FLOE_F32, FLOE_F64};
    return dtypes[type];
}

floe_zfp_stream floe_zfp_stream_of(const floe_zfp_array *array, const floe_zfp_params *params, uint32_t header_nbits)
{
    floe_zfp_stream s = {.size = sizeof s,
                         .dtype = dtype_of(array->type),
                         .rank = array->rank,
                         .minbits = params->minbits,
                         .maxbits = params->maxbits,
                         .maxprec = params->maxprec,
                         .minexp = params->minexp,
                         .header_nbits = header_nbits};
    memcpy(s.shape, array->shape, array->rank * sizeof *s.shape);
    return s;
}

floe_zfp_array floe_zfp_array_of_field(const floe_field *f)
{
    return floe_zfp_array_of(f->dtype, f->rank, f->shape, f->stride, f->data);
}

static bool same_array(const floe_zfp_stream *s, floe_dtype dtype, uint32_t rank, const uint64_t *shape)
{
    return s->dtype == dtype && s->rank == rank && memcmp(s->shape, shape, rank * sizeof *shape) == 0;
}

/* ---- what callers give ------------------------------------------------------------------------------------------------ */

floe_status floe_zfp_desc_check(const floe_zfp_stream *given, floe_zfp_stream_desc *desc, floe_error *err)
{
    floe_zfp_stream *s = &desc->stream;
    uint64_t nelems;
    *desc = (floe_zfp_stream_desc){.stream = {.size = sizeof *s}};
    FLOE_TRY(floe_struct_copy(s, sizeof *s, given, "floe_zfp_stream", err));
    floe_field f = floe_field_of(NULL, s->dtype, s->rank, s->shape);
    FLOE_CHECK(err, floe_field_nelems(&f, &nelems) == FLOE_OK, FLOE_ERR_ARGUMENT,
               "the zfp stream's element type or shape is not valid");
    FLOE_CHECK(err, nelems, FLOE_ERR_ARGUMENT, "zfp has no empty arrays");
    floe_zfp_contiguous(f.rank, f.shape, f.stride);
    desc->array = floe_zfp_array_of_field(&f);
    desc->params = (floe_zfp_params){s->minbits, s->maxbits, s->maxprec, s->minexp};
    FLOE_TRY(floe_zfp_params_check(&desc->params, desc->array.type, err));
    FLOE_CHECK(err,
               s->header_nbits == 0 || s->header_nbits == FLOE_ZFP_HEADER_SHORT ||
                   s->header_nbits == FLOE_ZFP_HEADER_LONG,
               FLOE_ERR_ARGUMENT, "a zfp header has %d or %d bits, not %u", (int)FLOE_ZFP_HEADER_SHORT,
               (int)FLOE_ZFP_HEADER_LONG, s->header_nbits);
    return FLOE_OK;
}

floe_status floe_zfp_field_matches(const floe_field *f, const floe_zfp_stream_desc *desc, floe_error *err)
{
    const floe_zfp_stream *s = &desc->stream;
    char has[FLOE_SHAPE_TEXT], is[FLOE_SHAPE_TEXT];
    FLOE_CHECK(err, same_array(s, f->dtype, f->rank, f->shape), FLOE_ERR_ARGUMENT,
               "the zfp stream is of %s of %s, the field is %s of %s", floe_shape_format(s->rank, s->shape, is),
               floe_dtype_name(s->dtype), floe_shape_format(f->rank, f->shape, has), floe_dtype_name(f->dtype));
    return FLOE_OK;
}

floe_status floe_zfp_header_make(floe_zfp_stream_desc *desc, uint8_t header[FLOE_ZFP_HEADER_NBYTES], floe_error *err)
{
    uint32_t nbits;
    if (desc->stream.header_nbits == 0)
        return FLOE_OK;
    FLOE_TRY(floe_zfp_header_write(&desc->array, &desc->params, header, &nbits, err));
    FLOE_CHECK(err, nbits == desc->stream.header_nbits, FLOE_ERR_ARGUMENT,
               "the header of this stream has %u bits, not %u", nbits, desc->stream.header_nbits);
    return floe_zfp_header_read(header, FLOE_ZFP_HEADER_NBYTES, &desc->array, &desc->params, &nbits, err);
}

floe_status floe_zfp_index_check(const floe_zfp_index *given, floe_zfp_index *index, floe_error *err)
{
    *index = (floe_zfp_index){.size = sizeof *index};
    FLOE_TRY(floe_struct_copy(index, sizeof *index, given, "floe_zfp_index", err));
    FLOE_CHECK(err, index->data, FLOE_ERR_ARGUMENT, "the index has no memory");
    return FLOE_OK;
}

/* ---- what streams and indexes hold ------------------------------------------------------------------------------------ */

floe_status floe_zfp_blocks_fit(const floe_zfp_array *array, uint64_t nbytes, floe_error *err)
{
    FLOE_CHECK(err, floe_zfp_nblocks(array->rank, array->shape) <= 8 * floe_min64(nbytes, UINT64_MAX / 8),
               FLOE_ERR_FORMAT, "the zfp stream of %llu bytes is too short for its shape", (ull)nbytes);
    return FLOE_OK;
}

floe_status floe_zfp_recognize(const void *src, uint64_t nbytes, floe_zfp_stream *stream, floe_error *err)
{
    floe_zfp_array array;
    floe_zfp_params params;
    uint32_t header_nbits;
    FLOE_CHECK(err, stream && (src || nbytes == 0), FLOE_ERR_ARGUMENT, "no stream, or nowhere to put what it says");
    FLOE_CHECK(err, floe_cuda_host_reaches(src), FLOE_ERR_ARGUMENT,
               "the zfp stream lies in device memory: its header is read on the host, bring its first bytes there");
    FLOE_TRY(floe_zfp_header_read(src, nbytes, &array, &params, &header_nbits, err));
    FLOE_TRY(floe_zfp_blocks_fit(&array, nbytes, err));
    *stream = floe_zfp_stream_of(&array, &params, header_nbits);
    return FLOE_OK;
}

floe_status floe_zfp_desc_resolve(const void *head, uint64_t nbytes, const floe_zfp_stream *given,
                                  floe_zfp_stream_desc *desc, floe_error *err)
{
    const floe_zfp_stream *s = &desc->stream;
    floe_zfp_stream read;
    FLOE_CHECK(err, head || nbytes == 0, FLOE_ERR_ARGUMENT, "no zfp stream given");
    if (given)
        FLOE_TRY(floe_zfp_desc_check(given, desc, err));
    if (given && s->header_nbits == 0)
        return FLOE_OK;
    FLOE_TRY(floe_zfp_recognize(head, nbytes, &read, err));
    FLOE_CHECK(err, !given || same_array(s, read.dtype, read.rank, read.shape), FLOE_ERR_ARGUMENT,
               "the zfp stream's header says another element type or shape");
    return floe_zfp_desc_check(&read, desc, err);
}

floe_status floe_zfp_index_agrees(const floe_zfpx *file, const floe_zfp_stream *stream, floe_error *err)
{
    const floe_zfp_params *p = &file->params;
    const bool same_params = p->minbits == stream->minbits && p->maxbits == stream->maxbits &&
                             p->maxprec == stream->maxprec && p->minexp == stream->minexp;
    const floe_zfp_array *a = &file->array;
    FLOE_CHECK(err,
               same_params && same_array(stream, dtype_of(a->type), a->rank, a->shape) &&
                   file->index.begin == stream->header_nbits,
               FLOE_ERR_FORMAT, "the index is that of a stream of another element type, shape, mode or header");
    return FLOE_OK;
}

bool floe_zfp_has_fixed_rate(const floe_zfp_params *p)
{
    return p->minbits == p->maxbits && p->minexp >= FLOE_ZFP_MIN_EXP;
}
