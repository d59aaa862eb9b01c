/* SPDX-License-Identifier: BSD-3-Clause */
/* From what the user requested to what a codec can do: finds range and fill value, and turns rel and psnr into an
 * absolute bound. */
#ifndef FLOE_CALL_RESOLVE_H
#define FLOE_CALL_RESOLVE_H

#include "call/callbacks.h"
#include "call/chunk_source.h"
#include "call/lanes.h"
#include "codec/codec.h"
#include "field/field.h"

typedef struct floe_resolver {
    const floe_cpu *cpu;
    const floe_params *params; /* checked */
    floe_chunk_source *chunks;
    floe_progress *progress;
    const floe_lanes *lanes; /* with scratch of the codec */
    floe_error *err;
    /* psnr, where the values lie elsewhere: the sum of squared errors that coding with these params would leave */
    floe_status (*squared_error)(void *user, const floe_codec_params *params, double *sum);
    void *user;
} floe_resolver;

/* UNSUPPORTED: integers in device memory. */
floe_status floe_place_check(floe_dtype dtype, floe_place place, floe_error *err);

/* The header as far as layout and params alone decide: all but abs_bound, range and fill. */
floe_status floe_header_init(floe_header *header, const floe_field *layout, const floe_params *params, floe_error *err);
/* The same of what the caller of the library gives. */
floe_status floe_header_of_layout(const floe_field *layout, const floe_params *params, floe_params *checked,
                                  floe_header *header, floe_error *err);

/* Range, as scanned, and fill of the header that the chunk source uses. Reads all values zero, one or several times. */
floe_status floe_resolve_values(const floe_resolver *resolver, floe_header *header, floe_range *range);

/* The absolute bound of a header that has all else. Not RATIO of a field that varies (choice.h). */
floe_status floe_resolve_bound(const floe_resolver *resolver, floe_header *header, floe_range *range);

/* The bounds for which 20 log10(range / RMSE) is at least header->bound and not much more. range has finite values, and not
 * all the same. */
floe_status floe_psnr_resolve(const floe_resolver *resolver, floe_header *header, const floe_range *range);

#endif
