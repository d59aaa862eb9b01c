/* SPDX-License-Identifier: BSD-3-Clause */
/* What callers give of bare zfp streams, and what streams and indexes hold about themselves, checked: for the calls of <floe/zfp.h>
 * that run on the CPU and for those that run on a GPU. */
#ifndef FLOE_CALL_ZFP_ZFP_CHECKS_H
#define FLOE_CALL_ZFP_ZFP_CHECKS_H

#include <stdbool.h>

#include <floe/zfp.h>

#include "codec/zfp/stream/zfp_index_file.h"

/* A stream as the stages see it. */
typedef struct floe_zfp_stream_desc {
    floe_zfp_stream stream;
    floe_zfp_array array; /* contiguous and without data, until a field is found that matches */
    floe_zfp_params params;
} floe_zfp_stream_desc;

/* ---- between the public structs and those of the stages ------------------------------------------------------------ */

floe_zfp_stream floe_zfp_stream_of(const floe_zfp_array *array, const floe_zfp_params *params, uint32_t header_nbits);
/* A resolved field. */
floe_zfp_array floe_zfp_array_of_field(const floe_field *f);

/* ---- checks ---------------------------------------------------------------------------------------------------------- */

/* Checks all that the caller gave of a stream. */
floe_status floe_zfp_desc_check(const floe_zfp_stream *given, floe_zfp_stream_desc *desc, floe_error *err);
/* Is the resolved field, in whatever memory, of that stream? */
floe_status floe_zfp_field_matches(const floe_field *f, const floe_zfp_stream_desc *desc, floe_error *err);
/* The stream's header, header_nbits of it; the parameters become those that a reader of it will have. */
floe_status floe_zfp_header_make(floe_zfp_stream_desc *desc, uint8_t header[FLOE_ZFP_HEADER_NBYTES], floe_error *err);
/* No block is shorter than a bit. Without this a short stream could claim any amount of memory. */
floe_status floe_zfp_blocks_fit(const floe_zfp_array *array, uint64_t nbytes, floe_error *err);
/* What is known of a stream of nbytes: what its header holds, if it has one, else what the caller reports (NULL: nothing). (A
 * header may have the same parameters in other numbers: all maxbits that no block reaches are one.) head: the stream's first
 * bytes, min(nbytes, FLOE_ZFP_HEADER_NBYTES) of them. */
floe_status floe_zfp_desc_resolve(const void *head, uint64_t nbytes, const floe_zfp_stream *given,
                                  floe_zfp_stream_desc *desc, floe_error *err);
floe_status floe_zfp_index_check(const floe_zfp_index *given, floe_zfp_index *index, floe_error *err);
/* FORMAT unless the index is of such a stream. */
floe_status floe_zfp_index_agrees(const floe_zfpx *file, const floe_zfp_stream *stream, floe_error *err);

/* Blocks of one length begin at multiples of it: places for free. (Reversible blocks may be shorter than minbits.) */
bool floe_zfp_has_fixed_rate(const floe_zfp_params *p);

#endif
